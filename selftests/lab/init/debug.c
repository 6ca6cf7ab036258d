// SPDX-License-Identifier: GPL-2.0
/*
 * With a kernel that has kmemleak: unload the flow generator and look for
 * memory nobody refers to any more.
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
/* kmemleak reports objects older than 5 s only. */
#define AGE_S		6

/* Print the report; the number of objects in it. */
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

void debug_leak_check(void)
{
	struct timespec age = { .tv_sec = AGE_S };

	if (access(KMEMLEAK, F_OK))
		return;
	if (syscall(SYS_delete_module, "quell_labflow", 0))
		fail("unloading quell_labflow: %s", strerror(errno));
	nanosleep(&age, NULL);
	/* The first scan may see pointers in registers and stale stacks. */
	write_text(KMEMLEAK, "scan");
	write_text(KMEMLEAK, "scan");
	say("quell-kmemleak %d", show_leaks());
}
