// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the instructions of a running process, address by address, without hardware
 * counters: bursts of single steps with pauses between them.
 *
 * usage: step PID BURSTS STEPS PAUSE_US
 *
 * Prints a line "ADDRESS COUNT" for every address executed, in hexadecimal and decimal,
 * when the bursts are over or the process has ended.  The process runs on as it was; a
 * process in virtual time does not detect it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS	(1u << 20)	/* of addresses: more than a kernel executes */

static struct {
	unsigned long	address;
	unsigned long	count;
} slots[SLOTS];

static void die(const char *what)
{
	fprintf(stderr, "step: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void count(unsigned long address)
{
	unsigned long slot = address * 0x9e3779b97f4a7c15ul >> 44;

	while (slots[slot].count && slots[slot].address != address)
		slot = (slot + 1) % SLOTS;
	slots[slot].address = address;
	slots[slot].count++;
}

/* Wait for a stop: 0 and the signal to pass on, -1 when the process has ended. */
static int await_stop(pid_t pid, int *pass)
{
	int status;

	if (waitpid(pid, &status, __WALL) < 0)
		die("waitpid");
	if (!WIFSTOPPED(status))
		return -1;
	*pass = WSTOPSIG(status);
	if (*pass == SIGTRAP || status >> 16)
		*pass = 0;
	return 0;
}

/* One burst; -1 when the process has ended. */
static int burst(pid_t pid, long steps)
{
	struct user_regs_struct regs;
	int pass;

	if (ptrace(PTRACE_INTERRUPT, pid, 0, 0))
		return -1;
	if (await_stop(pid, &pass))
		return -1;
	while (steps--) {
		if (ptrace(PTRACE_GETREGS, pid, 0, &regs))
			return -1;
		count(regs.rip);
		if (ptrace(PTRACE_SINGLESTEP, pid, 0, pass) || await_stop(pid, &pass))
			return -1;
	}
	return ptrace(PTRACE_CONT, pid, 0, pass);
}

int main(int argc, char **argv)
{
	long bursts, steps, pause_us;
	unsigned int slot;
	pid_t pid;

	if (argc != 5) {
		fprintf(stderr, "usage: step PID BURSTS STEPS PAUSE_US\n");
		return 2;
	}
	pid = atoi(argv[1]);
	bursts = atol(argv[2]);
	steps = atol(argv[3]);
	pause_us = atol(argv[4]);
	if (ptrace(PTRACE_SEIZE, pid, 0, 0))
		die("PTRACE_SEIZE");
	while (bursts-- && !burst(pid, steps))
		usleep(pause_us);
	for (slot = 0; slot < SLOTS; slot++)
		if (slots[slot].count)
			printf("%lx %lu\n", slots[slot].address, slots[slot].count);
	return 0;
}
