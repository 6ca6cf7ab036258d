// SPDX-License-Identifier: GPL-2.0
/*
 * Entering a named network namespace, as ip -n and tc -n do.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "quell.h"

#define NETNS_DIR	"/run/netns"

/*
 * Move this process into a network namespace: a name of "ip netns add", or a path if it has a
 * slash.
 */
int netns_enter(const char *name)
{
	char path[PATH_MAX];
	int status = STATUS_OK;
	int fd;

	if (!*name || !strcmp(name, ".") || !strcmp(name, "..") ||
	    strlen(name) >= sizeof(path) - sizeof(NETNS_DIR)) {
		complain("invalid network namespace name '%s'", name);
		return STATUS_INPUT;
	}
	if (strchr(name, '/'))
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), NETNS_DIR "/%s", name);

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		complain("cannot open network namespace '%s': %s", name, strerror(errno));
		return STATUS_INPUT;
	}
	if (setns(fd, CLONE_NEWNET)) {
		complain("cannot enter network namespace '%s': %s", name, strerror(errno));
		status = STATUS_KERNEL;
	}
	close(fd);
	return status;
}
