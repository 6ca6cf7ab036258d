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
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
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

/* Not on the stack, which is the inner kernel's and only 16 KB. */
static unsigned char xstate[65536];

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

/* Set the registers given; state beyond them keeps the process's values. */
static long set_xstate(ptrace_t host, pid_t pid, struct iovec *set)
{
	struct iovec whole = { .iov_base = xstate, .iov_len = sizeof(xstate) };

	if (host(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &whole) < 0)
		return -1;
	if (set->iov_len >= whole.iov_len)
		return host(PTRACE_SETREGSET, pid, NT_X86_XSTATE, set);
	memcpy(xstate, set->iov_base, set->iov_len);
	return host(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &whole);
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
	if (request == PTRACE_SETREGSET && address == NT_X86_XSTATE)
		return set_xstate(host, pid, data);
	if (request == PTRACE_SYSEMU)
		syscost_enter_user(pid);
	return host(request, pid, address, data);
}
