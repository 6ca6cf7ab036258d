// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into user-mode Linux: the processor time of a run so far.
 *
 * Inside, computing takes no time, so a run cannot measure the host's time.
 * Before each line of progress that the kernel inside prints, this library prints
 * "quell-cpu CPU_NS": the processor time of the kernel's process until now.
 * The first such line is at T0, the last when all flows are complete.  At its end it
 * prints "quell-cost CPU_NS PEAK_KB": the whole, and the most memory that was resident.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "syscost.h"

typedef ssize_t (*write_t)(int fd, const void *bytes, size_t length);

static const char progress[] = "quell-progress ";
static int shown;

static long long cpu_ns(void)
{
	struct timespec used = { 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000000000ll + used.tv_nsec;
}

__attribute__((destructor))
static void tell_cost(void)
{
	struct rusage usage;
	char text[96];

	if (!shown || getrusage(RUSAGE_SELF, &usage))
		return;
	snprintf(text, sizeof(text), "quell-cost %lld %ld\n", cpu_ns(), usage.ru_maxrss);
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		return;
}

ssize_t write(int fd, const void *bytes, size_t length)
{
	static write_t host;
	char text[64];

	if (!host)
		host = (write_t)dlsym(RTLD_NEXT, "write");
	syscost_see_line(bytes, length);
	if (length < sizeof(progress) || memcmp(bytes, progress, sizeof(progress) - 1))
		return host(fd, bytes, length);
	shown = 1;
	snprintf(text, sizeof(text), "quell-cpu %lld\n", cpu_ns());
	if (host(fd, text, strlen(text)) < 0)
		return -1;
	return host(fd, bytes, length);
}
