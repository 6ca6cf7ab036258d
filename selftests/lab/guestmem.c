// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into user-mode Linux: where the memory of the kernel inside is.
 *
 * That kernel keeps its memory in an unnamed file of a temporary directory.  On a disk
 * each first touch of a page is a file system's business, and dirty pages are written
 * back; a tmpfs may be small (64 MB in many containers) or forbid programs.  This library
 * hands it shared memory without a directory instead, which has neither limit, and asks
 * for large pages in it: a run touches hundreds of megabytes at random, so most of its
 * misses are of translations.  The host decides whether there are any.
 *
 * One line of the log says what became of it: "quell-memory large|small|file REASON".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SHMEM_ENABLED	"/sys/kernel/mm/transparent_hugepage/shmem_enabled"
#define LARGE_BYTES	(2ul << 20)

typedef int (*open64_t)(const char *path, int flags, ...);
typedef void *(*mmap64_t)(void *where, size_t bytes, int protection, int flags, int fd,
			  off64_t offset);

static int memory_fd = -1;
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

/* What the host does with shared memory that asks for large pages: "never", "advise", ... */
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
	memory_fd = memfd_create("quell-lab", MFD_CLOEXEC);
	if (memory_fd >= 0)
		return memory_fd;
	tell("file", strerror(errno));
	return host_open64()(path, flags, mode);
}

static void ask_for_large(void *where, size_t bytes)
{
	char text[128];
	const char *rule = shmem_rule(text, sizeof(text));

	if (!strcmp(rule, "never") || !strcmp(rule, "deny") || !strcmp(rule, "absent"))
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
