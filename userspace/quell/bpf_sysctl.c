// SPDX-License-Identifier: GPL-2.0
/*
 * The network's sysctls about a congestion control, and how to keep them when the code behind the
 * name is replaced.
 *
 * The kernel keeps both by the old code, not by the name: a namespace with it as the default goes
 * on with the old code, and the permission to choose it goes with the old code.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf_parts.h"
#include "quell.h"

#define SYSCTL		"/proc/sys/net/ipv4/"
#define ALLOWED		SYSCTL "tcp_allowed_congestion_control"
#define AVAILABLE	SYSCTL "tcp_available_congestion_control"
#define CHOSEN		SYSCTL "tcp_congestion_control"

/* The kernel's own limit, and the terminator. */
#define LIST_LEN	2049
/* The kernel drops the last reference to a link from a work queue. */
#define GONE_WAIT_US	1000
#define GONE_WAITS_MAX	10000

/* The words of a file, truncated to LIST_LEN; empty if it cannot be read. */
static void read_list(const char *path, char *list)
{
	FILE *file = fopen(path, "re");
	size_t len = 0;

	if (file) {
		len = fread(list, 1, LIST_LEN - 1, file);
		fclose(file);
	}
	list[len] = '\0';
}

bool bpf_list_has(const char *list, const char *name)
{
	size_t len;

	for (list += strspn(list, " \n"); *list; list += len + strspn(list + len, " \n")) {
		len = strcspn(list, " \n");
		if (len == strlen(name) && !memcmp(list, name, len))
			return true;
	}
	return false;
}

static bool file_has(const char *path, const char *name)
{
	char list[LIST_LEN];

	read_list(path, list);
	return bpf_list_has(list, name);
}

bool bpf_is_default(const char *name)
{
	return file_has(CHOSEN, name);
}

/* Those without privilege may choose it. */
bool bpf_is_allowed(const char *name)
{
	return file_has(ALLOWED, name);
}

static int check_writable(const char *path, const char *name)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0) {
		complain("%s is in %s, which must be written again with new code, and cannot be "
			 "from here: %s (try outside of network namespaces)",
			 name, path, strerror(errno));
		return STATUS_KERNEL;
	}
	close(fd);
	return STATUS_OK;
}

/* Complain where choice and permission could not be renewed. */
int bpf_check_renewal(const char *name)
{
	int status = STATUS_OK;

	if (bpf_is_allowed(name))
		status = check_writable(ALLOWED, name);
	if (!status && bpf_is_default(name))
		status = check_writable(CHOSEN, name);
	return status;
}

/* Poll until it cannot be chosen any more. */
int bpf_wait_until_gone(const char *name)
{
	int i;

	for (i = 0; file_has(AVAILABLE, name); i++) {
		if (i == GONE_WAITS_MAX)
			return complain_fault("%s is still registered: another process holds its"
					      " link", name);
		usleep(GONE_WAIT_US);
	}
	return STATUS_OK;
}

static int write_sysctl(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	int err = file ? 0 : errno;

	if (file) {
		fputs(text, file);
		if (fclose(file))
			err = errno;
	}
	if (!err)
		return STATUS_OK;
	return complain_fault("cannot set %s to '%s': %s", path, text, strerror(err));
}

/* Let those without privilege choose it, as they may choose others. */
int bpf_allow(const char *name)
{
	char list[LIST_LEN + BPF_CC_NAME_LEN + 1];

	read_list(ALLOWED, list);
	list[strcspn(list, "\n")] = '\0';
	snprintf(list + strlen(list), BPF_CC_NAME_LEN + 1, " %s", name);
	return write_sysctl(ALLOWED, list);
}

int bpf_make_default(const char *name)
{
	return write_sysctl(CHOSEN, name);
}
