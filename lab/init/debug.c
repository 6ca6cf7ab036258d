// SPDX-License-Identifier: GPL-2.0
/*
 * With a kernel that has kmemleak: take the network apart, unload every module
 * and look for unreferenced memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

#define KMEMLEAK	"/sys/kernel/debug/kmemleak"
/* kmemleak only reports objects older than 5 s. */
#define AGE_S		6
/* A worker destroys namespaces; retry until it has released the modules. */
#define RETRY_NS	100000000
#define RETRIES		50

/* Print the report and return the number of objects in it. */
static int show_leaks(void)
{
	FILE *report = fopen(KMEMLEAK, "r");
	char text[256];
	int leaks = 0;

	if (!report)
		fail("opening " KMEMLEAK ": %s", strerror(errno));
	while (fgets(text, sizeof(text), report)) {
		text[strcspn(text, "\n")] = '\0';
		if (!strncmp(text, "unreferenced object", 19))
			leaks++;
		say("quell-leak %s", text);
	}
	fclose(report);
	return leaks;
}

/* Unload a module, waiting for its last users, which are released in the background. */
static void unload(const char *name)
{
	struct timespec pause = { .tv_nsec = RETRY_NS };
	int i;

	for (i = 0; i < RETRIES; i++) {
		if (!syscall(SYS_delete_module, name, O_NONBLOCK))
			return;
		if (errno != EWOULDBLOCK)
			break;
		nanosleep(&pause, NULL);
	}
	fail("unloading %s: %s", name, strerror(errno));
}

void debug_leak_check(void)
{
	struct timespec age = { .tv_sec = AGE_S };
	int i;

	if (access(KMEMLEAK, F_OK))
		return;
	net_close();
	for (i = n_modules - 1; i >= 0; i--)
		unload(modules[i]);
	nanosleep(&age, NULL);
	/* The first scan may see pointers in registers and stale stacks. */
	write_text(KMEMLEAK, "scan");
	write_text(KMEMLEAK, "scan");
	say("quell-kmemleak %d", show_leaks());
}
