// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel modules.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init.h"

char (*modules)[64];
int n_modules;

/* module NAME.ko [param=value ...] */
void cmd_module(void)
{
	char path[128], params[512] = "";
	size_t length;
	int fd, i;

	need_words(1, PLAN_WORDS_MAX);
	length = strlen(line.word[1]) - strlen(".ko");
	if (strchr(line.word[1], '/') || strlen(line.word[1]) <= strlen(".ko") ||
	    length >= sizeof(*modules) || strcmp(line.word[1] + length, ".ko"))
		fail("'%s' is not a file name like quell.ko", line.word[1]);
	snprintf(path, sizeof(path), "/modules/%s", line.word[1]);
	for (i = 2; i < line.n; i++) {
		size_t used = strlen(params);

		if (snprintf(params + used, sizeof(params) - used, "%s%s",
			     used ? " " : "", line.word[i]) >=
		    (int)(sizeof(params) - used))
			fail("parameters longer than %zu", sizeof(params));
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail("opening %s: %s", path, strerror(errno));
	if (syscall(SYS_finit_module, fd, params, 0))
		fail("loading: %s", strerror(errno));
	close(fd);
	modules = grow(modules, n_modules, sizeof(*modules));
	snprintf(modules[n_modules++], sizeof(*modules), "%.*s", (int)length,
		 line.word[1]);
}
