// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into user-mode Linux: random numbers from a seed.
 *
 * The kernel inside takes all its randomness from getrandom() of the host
 * (through getrandom(2)'s libc wrapper); this library makes it a function
 * of QUELL_LAB_SEED, so that a run can be repeated bit by bit.
 *
 * It also completes register sets on processors with AMX.  The kernel inside
 * (up to 6.12) keeps 2696 bytes of extended state per process; a host with more
 * state accepts only the complete set, so PTRACE_SETREGSET would fail and init
 * would die.  The missing part is taken from the process's current state.
 *
 * And it remembers the extended state that it saw last, for the kernel inside
 * reads it twice and writes it twice for every page fault of a process, and reads
 * and writes it for every system call, mostly as it is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "syscost.h"

typedef long (*ptrace_t)(enum __ptrace_request request, ...);

/*
 * Extended state that a stopped process is known to have; of process 0: unknown.  Not on the
 * stack, which is the inner kernel's and only 16 KB.
 */
static struct {
	pid_t		pid;
	size_t		bytes;
	unsigned char	state[65536];
} known;

static uint64_t state;

/* splitmix64: one multiplication chain per 8 bytes, any seed is good. */
static uint64_t next(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

__attribute__((constructor))
static void seed(void)
{
	const char *text = getenv("QUELL_LAB_SEED");
	static const char answer[] = "quell-detrand\n";

	/* uml-start checks by this answer that the kernel loads this library. */
	if (getenv("QUELL_LAB_PROBE") &&
	    write(STDOUT_FILENO, answer, sizeof(answer) - 1) < 0)
		_exit(1);
	state = text ? strtoull(text, NULL, 0) : 1;
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	unsigned char *bytes = buffer;
	uint64_t word = 0;
	size_t i;

	(void)flags;
	for (i = 0; i < length; i++) {
		if (i % 8 == 0)
			word = next();
		bytes[i] = word >> (8 * (i % 8));
	}
	return length;
}

/* Read the whole state of a process, if it is not known. */
static long learn_xstate(ptrace_t host, pid_t pid)
{
	struct iovec whole = { .iov_base = known.state, .iov_len = sizeof(known.state) };

	if (known.pid == pid)
		return 0;
	known.pid = 0;
	if (host(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &whole) < 0)
		return -1;
	known.bytes = whole.iov_len;
	known.pid = pid;
	return 0;
}

static long get_xstate(ptrace_t host, pid_t pid, struct iovec *get)
{
	if (learn_xstate(host, pid) < 0)
		return -1;
	if (get->iov_len > known.bytes)
		get->iov_len = known.bytes;
	memcpy(get->iov_base, known.state, get->iov_len);
	return 0;
}

/* Set the registers given; state beyond them keeps the process's values. */
static long set_xstate(ptrace_t host, pid_t pid, struct iovec *set)
{
	struct iovec whole = { .iov_base = known.state };

	if (learn_xstate(host, pid) < 0)
		return -1;
	if (set->iov_len > known.bytes)
		set->iov_len = known.bytes;
	if (!memcmp(known.state, set->iov_base, set->iov_len))
		return 0;
	memcpy(known.state, set->iov_base, set->iov_len);
	whole.iov_len = known.bytes;
	if (host(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &whole) == 0)
		return 0;
	known.pid = 0;
	return -1;
}

/*
 * Whether a process has the same extended state after this.  Code that the kernel lets a process
 * run between two stops (PTRACE_CONT without a signal) has no such registers:
 * only the processor's note of which of them are as at reset may be another then.  A signal's handler
 * begins with others.
 */
static bool keeps_xstate(enum __ptrace_request request, const void *data)
{
	return request == PTRACE_GETREGS || request == PTRACE_SETREGS ||
	       request == PTRACE_GETSIGINFO || (request == PTRACE_CONT && !data);
}

long ptrace(enum __ptrace_request request, ...)
{
	static ptrace_t host;
	uintptr_t address;
	va_list args;
	void *data;
	pid_t pid;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	address = va_arg(args, uintptr_t);
	data = va_arg(args, void *);
	va_end(args);
	if (!host)
		host = (ptrace_t)dlsym(RTLD_NEXT, "ptrace");
	if (request == PTRACE_GETREGSET && address == NT_X86_XSTATE)
		return get_xstate(host, pid, data);
	if (request == PTRACE_SETREGSET && address == NT_X86_XSTATE)
		return set_xstate(host, pid, data);
	if (!keeps_xstate(request, data))
		known.pid = 0;
	if (request == PTRACE_SYSEMU)
		syscost_enter_user(pid);
	return host(request, pid, address, data);
}
