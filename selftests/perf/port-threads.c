// SPDX-License-Identifier: GPL-2.0
/*
 * Packets per second of swport's ports on several processors: threads that each enqueue and dequeue
 * in their own port, pinned to a processor each.  Linked with sch_swport.o and
 * modules/portthreads.o of a kernel's build, for which the functions of the kernel are below.
 *
 *	port-threads THREADS	prints "ROW RATE RATE": kpackets/s of all threads, where each packet
 *				finds its queue empty and where it finds others
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "modules/portthreads.h"

#define THREADS_MAX	16
#define ROUNDS		300
#define ROUND_NS	2000000
#define STANDING	32	/* packets queued all the time */
#define STEPS		64	/* between two checks of the clock */
#define LINE_BYTES	128	/* with the line that is fetched beside it */

static const struct Qdisc_ops *swport_ops;
static unsigned int threads_nr;
static pthread_barrier_t barrier;
static int64_t end_ns;
static struct thread {
	void		*port;
	unsigned int	cpu;
	double		kpkts_ps[ROUNDS];
	pthread_t	id;
} threads[THREADS_MAX];

/* The kernel's functions; any other that is called is at address 0. */

void *kmalloc_caches[4096];
unsigned long __this_module[512];

void *portthreads_alloc(unsigned long bytes)
{
	void *memory = aligned_alloc(LINE_BYTES, (bytes + LINE_BYTES - 1) & -LINE_BYTES);

	return memory ? memset(memory, 0, bytes) : NULL;
}

void *__kmalloc_cache_noprof(void *cache, unsigned int flags, unsigned long bytes)
{
	return portthreads_alloc(bytes);
}

int register_qdisc(const struct Qdisc_ops *ops)
{
	swport_ops = ops;
	return 0;
}

int register_netdevice_notifier(void *notifier)
{
	return 0;
}

void get_random_bytes(void *to, unsigned long bytes)
{
	memset(to, 1, bytes);
}

int rtnl_is_locked(void)
{
	return 1;
}

uint32_t get_random_u32(void)
{
	return 1;
}

int64_t ktime_get(void)
{
	return __rdtsc() / 2;
}

void _raw_spin_lock(atomic_int *lock)
{
	int free = 0;

	while (!atomic_compare_exchange_weak_explicit(lock, &free, 1, memory_order_acquire,
						      memory_order_relaxed)) {
		while (atomic_load_explicit(lock, memory_order_relaxed))
			_mm_pause();
		free = 0;
	}
}

void _raw_spin_unlock(atomic_int *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

void _raw_spin_lock_bh(atomic_int *lock)
{
	_raw_spin_lock(lock);
}

void _raw_spin_unlock_bh(atomic_int *lock)
{
	_raw_spin_unlock(lock);
}

bool __list_add_valid_or_report(void *entry, void *before, void *after)
{
	return 1;
}

/* As the kernel starts, it patches calls of these away. */
asm("	.globl __fentry__, __x86_return_thunk\n"
	"__fentry__: __x86_return_thunk: ret\n"
	"	.irp reg, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15\n"
	"	.globl __x86_indirect_thunk_\\reg\n"
	"__x86_indirect_thunk_\\reg: jmp *%\\reg\n"
	"	.endr\n");

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void steps(struct thread *me)
{
	int i;

	for (i = 0; i < STEPS; i++) {
		if (portthreads_step(swport_ops, me->port, 1, 1))
			abort();
	}
}

/* The kernel finds its stack's canary by GS, and the preemption count. */
static void make_percpu(void)
{
	static _Thread_local uint64_t percpu[64];

	syscall(SYS_arch_prctl, ARCH_SET_GS, percpu);
}

static void *run(void *data)
{
	struct thread *me = data;
	cpu_set_t cpus;
	int round;

	CPU_ZERO(&cpus);
	CPU_SET(me->cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	make_percpu();
	for (round = 0; round < ROUNDS; round++) {
		uint64_t done = 0;

		/* All in the same time: one that does not run meanwhile sends no packet. */
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			end_ns = now_ns() + ROUND_NS;
		pthread_barrier_wait(&barrier);
		for (; now_ns() < end_ns; done += STEPS)
			steps(me);
		me->kpkts_ps[round] = 1e6 * done / ROUND_NS;
	}
	return NULL;
}

/* The round in which all threads together did most: others had to share their processors. */
static void measure(const struct portthreads_row *row, unsigned int queued)
{
	double most = 0, sum;
	unsigned int i;
	int round;

	for (i = 0; i < threads_nr; i++) {
		threads[i].cpu = i;
		threads[i].port = portthreads_make(swport_ops, row);
	}
	for (i = 0; i < threads_nr; i++)
		portthreads_step(swport_ops, threads[i].port, queued, 0);
	for (i = 0; i < threads_nr; i++)
		pthread_create(&threads[i].id, NULL, run, &threads[i]);
	for (i = 0; i < threads_nr; i++)
		pthread_join(threads[i].id, NULL);
	for (round = 0; round < ROUNDS; round++) {
		for (sum = 0, i = 0; i < threads_nr; i++)
			sum += threads[i].kpkts_ps[round];
		most = sum > most ? sum : most;
	}
	printf(" %.0f", most);
}

/* Joint ports and buffers end with the process. */
static void in_child(const struct portthreads_row *row, unsigned int queued)
{
	int status;

	fflush(stdout);
	if (!fork()) {
		make_percpu();
		init_module();
		measure(row, queued);
		exit(0);
	}
	if (wait(&status) < 0 || status) {
		fprintf(stderr, "port-threads: %s failed\n", row->name);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	const struct portthreads_row *row;
	unsigned int i;

	threads_nr = argc > 1 ? atoi(argv[1]) : 0;
	if (!threads_nr || threads_nr > THREADS_MAX) {
		fprintf(stderr, "usage: port-threads THREADS\n");
		return 1;
	}
	pthread_barrier_init(&barrier, NULL, threads_nr);
	for (i = 0; (row = portthreads_row(i)); i++) {
		printf("%s", row->name);
		in_child(row, 0);
		in_child(row, STANDING);
		printf("\n");
	}
	return 0;
}
