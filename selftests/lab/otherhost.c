// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into user-mode Linux by checks/machines: imitates another machine.
 *
 * The kernel inside sees a processor with AMX: its flags and cache line in
 * /proc/cpuinfo, and an extended register set of 11008 bytes that
 * PTRACE_SETREGSET takes whole or not at all (EFAULT), as the host's kernel does.
 * A caller that sets it must pass the bytes beyond this machine's own set
 * unchanged.  Host name and kernel release are also different.
 *
 * Without detrand.so this library also answers uml-start in its place, to show
 * the failure without it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#define AMX_STATE_BYTES	11008
#define AMX_PATTERN	0xa5

typedef long (*ptrace_t)(enum __ptrace_request request, ...);
typedef FILE *(*fopen_t)(const char *path, const char *mode);
typedef int (*uname_t)(struct utsname *name);

static const char cpuinfo[] =
	"processor\t: 0\nvendor_id\t: GenuineIntel\n"
	"model name\t: Intel(R) Xeon(R) Platinum 8481C\n"
	"flags\t\t: fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov "
	"pat pse36 clflush mmx fxsr sse sse2 ss ht syscall nx rdtscp lm rdrand "
	"rdseed la57 amx_bf16 amx_tile amx_int8\n"
	"cache_alignment\t: 128\n";

static unsigned char state[65536];

__attribute__((constructor))
static void answer(void)
{
	static const char text[] = "quell-detrand\n";

	if (getenv("QUELL_LAB_PROBE") && !strchr(getenv("LD_PRELOAD"), ':') &&
	    write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
}

FILE *fopen64(const char *path, const char *mode)
{
	fopen_t host = (fopen_t)dlsym(RTLD_NEXT, "fopen64");

	if (!strcmp(path, "/proc/cpuinfo"))
		return fmemopen((void *)cpuinfo, sizeof(cpuinfo) - 1, "r");
	return host(path, mode);
}

int uname(struct utsname *name)
{
	uname_t host = (uname_t)dlsym(RTLD_NEXT, "uname");
	int status = host(name);

	strcpy(name->nodename, "another-host");
	strcpy(name->release, "7.3.4-other");
	return status;
}

static long get_state(ptrace_t host, pid_t pid, struct iovec *set)
{
	struct iovec own = { .iov_base = state, .iov_len = sizeof(state) };

	memset(state, AMX_PATTERN, sizeof(state));
	if (host(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &own) < 0)
		return -1;
	if (set->iov_len > AMX_STATE_BYTES)
		set->iov_len = AMX_STATE_BYTES;
	memcpy(set->iov_base, state, set->iov_len);
	return 0;
}

static long set_state(ptrace_t host, pid_t pid, const struct iovec *set)
{
	struct iovec own = { .iov_base = state, .iov_len = sizeof(state) };
	const unsigned char *bytes = set->iov_base;
	size_t i;

	errno = EFAULT;
	if (set->iov_len < AMX_STATE_BYTES)
		return -1;
	if (host(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &own) < 0)
		return -1;
	errno = EINVAL;
	for (i = own.iov_len; i < AMX_STATE_BYTES; i++)
		if (bytes[i] != AMX_PATTERN)
			return -1;
	memcpy(state, bytes, own.iov_len);
	errno = 0;
	return host(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &own);
}

long ptrace(enum __ptrace_request request, ...)
{
	ptrace_t host = (ptrace_t)dlsym(RTLD_NEXT, "ptrace");
	uintptr_t address;
	va_list args;
	void *data;
	pid_t pid;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	address = va_arg(args, uintptr_t);
	data = va_arg(args, void *);
	va_end(args);
	if (address == NT_X86_XSTATE && request == PTRACE_GETREGSET)
		return get_state(host, pid, data);
	if (address == NT_X86_XSTATE && request == PTRACE_SETREGSET)
		return set_state(host, pid, data);
	return host(request, pid, address, data);
}
