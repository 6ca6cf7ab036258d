// SPDX-License-Identifier: GPL-2.0
/*
 * quell doctor: references to the modules of algorithms.  Each network namespace whose default an
 * algorithm is holds its module, and so does each socket, listening ones too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attr.h"
#include "sock_diag.h"
#include "doctor.h"

#define NETNS_DIR	"/run/netns"

struct seen {
	ino_t	*list;
	size_t	n;
};

static bool is_new(struct seen *seen, ino_t ino)
{
	ino_t *slot;
	size_t i;

	for (i = 0; i < seen->n; i++)
		if (seen->list[i] == ino)
			return false;
	slot = list_grow(&seen->list, &seen->n, sizeof(*slot));
	if (slot)
		*slot = ino;
	return slot;
}

static uint32_t count_sockets(const struct diag_list *sockets, const char *cc)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < sockets->n; i++)
		n += !strcmp(sockets->list[i].cc, cc);
	return n;
}

/* References by the namespace that this process is in. */
static int examine(struct doctor_host *host, const char *name, bool own)
{
	char line[DOCTOR_NAME_LEN];
	struct diag_list sockets;
	size_t i;
	int ret;

	ret = diag_fetch(&sockets, true);
	doctor_read_line("", "/proc/sys/net/ipv4/tcp_congestion_control", line, sizeof(line));
	for (i = 0; i < host->ccs.n && ret != -ENOMEM; i++) {
		const char *cc = host->ccs.list[i].name;
		bool is_default = !strcmp(cc, line);
		uint32_t n = count_sockets(&sockets, cc);
		struct doctor_holder *h;

		if (!is_default && !n)
			continue;
		h = list_grow(&host->holders, &host->n_holders, sizeof(*h));
		if (!h)
			break;
		snprintf(h->cc, sizeof(h->cc), "%s", cc);
		snprintf(h->netns, sizeof(h->netns), "%s", name);
		h->own = own;
		h->is_default = is_default;
		h->sockets = n;
	}
	diag_list_free(&sockets);
	return ret == -ENOMEM ? ret : 0;
}

/* Not of a file that is no namespace, nor of a process that has ended meanwhile. */
static bool is_forbidden(int code)
{
	return code == EACCES || code == EPERM;
}

/* Examine the namespace of a file, if it is not one of those seen, and come back. */
static int visit(struct doctor_host *host, struct seen *seen, int home, const char *path,
		 const char *name)
{
	struct stat st;
	int fd, ret = 0;

	if (stat(path, &st)) {
		host->other_netns |= is_forbidden(errno);
		return 0;
	}
	if (!is_new(seen, st.st_ino))
		return 0;
	/* O_NONBLOCK: open() of a FIFO would block until it has a writer. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		host->other_netns |= is_forbidden(errno);
	} else {
		ret = examine(host, name, false);
		if (setns(home, CLONE_NEWNET))
			ret = -errno;
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The namespaces of a directory: those with a name, or those of processes. */
static int visit_all(struct doctor_host *host, struct seen *seen, int home, bool named)
{
	DIR *dir = opendir(named ? NETNS_DIR : "/proc");
	struct dirent *entry;
	char path[PATH_MAX];
	int ret = 0;

	while (dir && !ret && (entry = readdir(dir))) {
		if (named ? *entry->d_name == '.' :
		    strspn(entry->d_name, "0123456789") != strlen(entry->d_name))
			continue;
		snprintf(path, sizeof(path), named ? NETNS_DIR "/%s" : "/proc/%s/ns/net",
			 entry->d_name);
		ret = visit(host, seen, home, path, named ? entry->d_name : path);
	}
	if (dir)
		closedir(dir);
	return ret;
}

/*
 * Collect references to the modules of the algorithms in @host; returns 0 or a negative errno
 * value.
 */
int doctor_read_holders(struct doctor_host *host)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct seen seen = {};
	struct stat st;
	int ret;

	if (home < 0 || fstat(home, &st))
		return -errno;
	is_new(&seen, st.st_ino);
	ret = examine(host, "", true) ?:
	      visit_all(host, &seen, home, true) ?:
	      visit_all(host, &seen, home, false);
	free(seen.list);
	close(home);
	return ret;
}
