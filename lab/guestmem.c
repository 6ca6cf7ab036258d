// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into user-mode Linux: where the memory of the kernel inside is.
 *
 * That kernel keeps its memory in an unnamed file of a temporary directory.  On a disk
 * each first touch of a page is a file system's business, and dirty pages are written
 * back; a tmpfs may be small (64 MB in many containers) or forbid programs.  This library
 * hands it shared memory without a directory instead, which has neither limit, and asks
 * for large pages in it: a run touches hundreds of megabytes at random, so most of its
 * misses are of translations.  Where the host gives them to no shared memory that asks,
 * its default, the memory is a file of a tmpfs that has them, mounted nowhere.  Whom
 * the host does not let do that, even in a user namespace, has small pages.
 *
 * One line of the log has the result: "quell-memory large|small|file REASON".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHMEM_ENABLED	"/sys/kernel/mm/transparent_hugepage/shmem_enabled"
#define LARGE_BYTES	(2ul << 20)

typedef int (*open64_t)(const char *path, int flags, ...);
typedef void *(*mmap64_t)(void *where, size_t bytes, int protection, int flags, int fd,
			  off64_t offset);

static int memory_fd = -1;
static bool is_in_tmpfs;
static int told;

static open64_t host_open64(void)
{
	static open64_t host;

	if (!host)
		host = (open64_t)dlsym(RTLD_NEXT, "open64");
	return host;
}

static void tell(const char *pages, const char *reason)
{
	char text[256];

	if (told++)
		return;
	snprintf(text, sizeof(text), "quell-memory %s %s\n", pages, reason);
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		return;
}

/* The host's setting for large pages of shared memory: "never", "advise", ... */
static const char *shmem_rule(char *text, int size)
{
	int fd = host_open64()(SHMEM_ENABLED, O_RDONLY | O_CLOEXEC);
	int length = fd < 0 ? 0 : read(fd, text, size - 1);
	char *rule;

	if (fd >= 0)
		close(fd);
	text[length < 0 ? 0 : length] = '\0';
	rule = strchr(text, '[');
	if (!rule)
		return "absent";
	rule[strcspn(rule, "]")] = '\0';
	return rule + 1;
}

/* A file of a tmpfs of its own with large pages, or -1. */
static int open_in_tmpfs(void)
{
	int tmpfs = fsopen("tmpfs", FSOPEN_CLOEXEC), mounted = -1, file = -1;

	if (tmpfs < 0)
		return -1;
	if (!fsconfig(tmpfs, FSCONFIG_SET_STRING, "huge", "always", 0) &&
	    !fsconfig(tmpfs, FSCONFIG_SET_STRING, "size", "0", 0) &&
	    !fsconfig(tmpfs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mounted = fsmount(tmpfs, FSMOUNT_CLOEXEC, 0);
	if (mounted >= 0) {
		file = openat(mounted, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		close(mounted);
	}
	close(tmpfs);
	return file;
}

static void write_once(const char *path, const char *text)
{
	int fd = host_open64()(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		_exit(1);
	close(fd);
}

/* As the root of a user namespace: other users may mount there alone. */
static int open_as_root_of_namespace(void)
{
	char user[32];

	snprintf(user, sizeof(user), "0 %u 1", geteuid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return -1;
	write_once("/proc/self/uid_map", user);
	write_once("/proc/self/setgroups", "deny");
	snprintf(user, sizeof(user), "0 %u 1", getegid());
	write_once("/proc/self/gid_map", user);
	return open_in_tmpfs();
}

/* In a child that shares the table of files, and a word of memory to say which file it is. */
static int open_in_user_namespace(void)
{
	int *file = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long child;
	int found;

	if (file == MAP_FAILED)
		return -1;
	*file = -1;
	/* It sends no signal at its end. */
	child = syscall(SYS_clone, CLONE_FILES, 0, 0, 0, 0);
	if (!child) {
		*file = open_as_root_of_namespace();
		_exit(0);
	}
	while (child > 0 && waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
		;
	found = *file;
	munmap(file, sizeof(*file));
	return found;
}

/* Does a mapping of shared memory that asks for large pages get them? */
static bool has_large_for_all(const char *rule)
{
	return strcmp(rule, "never") && strcmp(rule, "deny") && strcmp(rule, "absent");
}

static int open_memory(void)
{
	char text[128];

	if (!strcmp(shmem_rule(text, sizeof(text)), "never")) {
		memory_fd = open_in_tmpfs();
		if (memory_fd < 0)
			memory_fd = open_in_user_namespace();
		is_in_tmpfs = memory_fd >= 0;
	}
	if (memory_fd < 0)
		memory_fd = memfd_create("quell-lab", MFD_CLOEXEC);
	return memory_fd;
}

/* The kernel inside opens one unnamed file: its memory. */
int open64(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, int) : 0;
	va_end(args);
	if ((flags & O_TMPFILE) != O_TMPFILE)
		return host_open64()(path, flags, mode);
	if (open_memory() >= 0)
		return memory_fd;
	tell("file", strerror(errno));
	return host_open64()(path, flags, mode);
}

static void ask_for_large(void *where, size_t bytes)
{
	char text[128];
	const char *rule = shmem_rule(text, sizeof(text));

	if (is_in_tmpfs)
		tell("large", "tmpfs");
	else if (!has_large_for_all(rule))
		tell("small", rule);
	else if (madvise(where, bytes, MADV_HUGEPAGE))
		tell("small", strerror(errno));
	else
		tell("large", rule);
}

void *mmap64(void *where, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
	static mmap64_t host;
	void *mapped;

	if (!host)
		host = (mmap64_t)dlsym(RTLD_NEXT, "mmap64");
	mapped = host(where, bytes, protection, flags, fd, offset);
	if (fd >= 0 && fd == memory_fd && mapped != MAP_FAILED && bytes >= LARGE_BYTES)
		ask_for_large(mapped, bytes);
	return mapped;
}
