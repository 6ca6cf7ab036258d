// SPDX-License-Identifier: GPL-2.0
/*
 * Values of the counters at the last "quell stat", in the manner of nstat(8): a file per user and
 * network namespace, in a directory that is the user's alone.  Its first line names the boot and
 * the namespace; a file of another is no history.  Then the time, and a line per counter: group,
 * counter, value.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attr.h"
#include "stat.h"

#define HISTORY_MAGIC	"quell-stat 2"
#define LINE_LEN	256

/* Of the kernel since 5.14, later than some headers. */
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE	71
#endif

void history_free(struct history *h)
{
	free(h->list);
	*h = (struct history){};
}

/*
 * Read a history; it must be freed also on failure. Returns 0, also if it is of another boot or
 * namespace, or no history at all, or -ENOMEM.
 */
int history_read(struct history *h, FILE *file, const char *id)
{
	char line[LINE_LEN], want[LINE_LEN];
	struct past one, *p;

	*h = (struct history){};
	snprintf(want, sizeof(want), HISTORY_MAGIC " %s\n", id);
	if (!fgets(line, sizeof(line), file) || strcmp(line, want) ||
	    fscanf(file, "%" SCNu64, &h->time_ns) != 1)
		return 0;
	while (fscanf(file, "%31s %63s %" SCNu64, one.group, one.name, &one.value) == 3) {
		p = list_grow(&h->list, &h->n, sizeof(*p));
		if (!p)
			return -ENOMEM;
		*p = one;
	}
	return 0;
}

/* Write all counters as a history; returns 0 or a negative errno value. */
int history_write(const struct stat_list *stats, uint64_t now_ns, FILE *file, const char *id)
{
	const struct counters *counters;
	size_t i, j;

	fprintf(file, HISTORY_MAGIC " %s\n%" PRIu64 "\n", id, now_ns);
	for (i = 0; i < stats->n; i++) {
		counters = &stats->list[i].counters;
		for (j = 0; j < counters->n; j++)
			fprintf(file, "%s %s %" PRIu64 "\n", stats->list[i].name,
				counters->list[j].name, counters->list[j].value);
	}
	return fflush(file) || ferror(file) ? -EIO : 0;
}

/* The entry of a counter, or NULL. */
const struct past *history_find(const struct history *h, const char *group, const char *name)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (!strcmp(h->list[i].name, name) && !strcmp(h->list[i].group, group))
			return &h->list[i];
	return NULL;
}

/*
 * Increment of a counter, @past may be NULL. A counter that is less than it was began anew: its
 * module was loaded again.
 */
uint64_t history_count(const struct past *past, uint64_t value)
{
	return past && past->value <= value ? value - past->value : value;
}

/*
 * Read the history in a file; it must be freed also on failure. Returns 0 or a negative errno
 * value.
 */
int history_load(struct history *h, const char *path, const char *id)
{
	FILE *file = fopen(path, "re");
	int ret;

	*h = (struct history){};
	if (!file)
		return errno == ENOENT ? 0 : -errno;
	ret = history_read(h, file, id);
	fclose(file);
	return ret;
}

/* Replace the history in a file. Returns 0, or a negative errno value if the file is as before. */
int history_store(const struct stat_list *stats, uint64_t now_ns, const char *path, const char *id)
{
	char new_path[PATH_MAX];
	FILE *file;
	int fd, ret;

	if (snprintf(new_path, sizeof(new_path), "%s.XXXXXX", path) >= (int)sizeof(new_path))
		return -ENAMETOOLONG;
	fd = mkostemp(new_path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	file = fdopen(fd, "w");
	ret = file ? history_write(stats, now_ns, file, id) : -errno;
	if (file)
		fclose(file);
	else
		close(fd);
	if (!ret && rename(new_path, path))
		ret = -errno;
	if (ret)
		unlink(new_path);
	return ret;
}

/* A directory that other users cannot write to, or NULL. */
static const char *history_dir(void)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (dir && *dir == '/' && !stat(dir, &st) && S_ISDIR(st.st_mode) &&
	    st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return dir;
	return geteuid() ? NULL : "/run";
}

/* The cookie of the namespace, never reused as its inode may be; 0 if the kernel has no cookies. */
static uint64_t netns_cookie(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(uint64_t);
	uint64_t cookie = 0;

	if (fd < 0)
		return 0;
	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len))
		cookie = 0;
	close(fd);
	return cookie;
}

/*
 * The file for the user and the namespace, empty without a directory for it, and the id of boot and
 * namespace that it must have. Returns 0 or a negative errno value.
 */
int history_path(char *path, size_t path_len, char *id, size_t id_len)
{
	const char *dir = history_dir();
	char boot[64] = "";
	struct stat st;
	FILE *file;

	if (stat("/proc/self/ns/net", &st))
		return -errno;
	file = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (file) {
		if (fscanf(file, "%63s", boot) != 1)
			*boot = '\0';
		fclose(file);
	}
	snprintf(id, id_len, "%s %ju %" PRIu64, boot, (uintmax_t)st.st_ino, netns_cookie());
	*path = '\0';
	if (dir)
		snprintf(path, path_len, "%s/quell-stat.%ju", dir, (uintmax_t)st.st_ino);
	return 0;
}
