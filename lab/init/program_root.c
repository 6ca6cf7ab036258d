// SPDX-License-Identifier: GPL-2.0
/*
 * The file system of a node's programs.
 *
 *	/			the machine's, read-only
 *	/tmp /run /var/tmp	empty, in memory, of the node alone
 *	/var/log		the same, with the machine's directories
 *	/run/work		working directory; what is written there is kept
 *	/run/scenario		the scenario's directory, read-only
 *	/etc/hosts		names and addresses of all hosts
 *	/proc /dev /sys		of the laboratory's kernel, /sys/class/net of the node
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init.h"
#include "program.h"

#define MACHINE		"/machine"
#define ROOTS		"/roots"
#define HOSTS		"/hosts"
#define FILES_DIR	OUT_DIR "files/"
#define WORK		"/run/work"
#define SCENARIO	"/run/scenario"
#define PATH_BYTES	512
#define ROOT_BYTES	128	/* of ROOTS and the name of a node */

static const char *scenario_directory;
static bool *is_made;		/* by node */
static FILE *host_names;

/* The plan's directory: programs see it as SCENARIO. */
void root_show_directory(const char *path)
{
	scenario_directory = path;
}

/* hostname NAME ADDRESS */
void cmd_hostname(void)
{
	need_words(2, 2);
	address(line.word[2]);
	if (!host_names)
		host_names = fopen(HOSTS, "we");
	if (!host_names)
		fail("opening " HOSTS ": %s", strerror(errno));
	fprintf(host_names, "%s\t%s\n", line.word[2], line.word[1]);
}

static void make_directory(const char *path)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		fail("making %s: %s", path, strerror(errno));
}

__attribute__((format(printf, 5, 6)))
static void mount_at(const char *source, const char *type, unsigned long flags, const char *data,
		     const char *where, ...)
{
	char path[PATH_BYTES];
	va_list args;

	va_start(args, where);
	vsnprintf(path, sizeof(path), where, args);
	va_end(args);
	if (mount(source, path, type, flags, data))
		fail("mounting %s: %s", path, strerror(errno));
}

/* Over the directory of a name below @root, the "/" of programs: it may be a link. */
static void mount_memory(const char *root, const char *name)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int top = open(root, O_PATH | O_CLOEXEC);
	int fd = syscall(SYS_openat2, top, name, &how, sizeof(how));

	if (fd >= 0)
		mount_at("tmpfs", "tmpfs", 0, "mode=1777", "/proc/self/fd/%d", fd);
	else if (errno != ENOENT)
		fail("opening %s%s: %s", root, name, strerror(errno));
	if (fd >= 0)
		close(fd);
	close(top);
}

/* Whether the machine has a directory, or file, of that name. */
static bool has_machine(const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), MACHINE "%s", name);
	return !access(path, F_OK);
}

/* Shared by all nodes: the machine's files, devices, the names of hosts. */
static void make_shared(void)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "/dev/fd" }, { "fd/0", "/dev/stdin" },
		{ "fd/1", "/dev/stdout" }, { "fd/2", "/dev/stderr" },
	};
	size_t i;

	make_directory(MACHINE);
	mount_at("none", "hostfs", MS_RDONLY, "/", MACHINE);
	make_directory(ROOTS);
	make_directory(FILES_DIR);
	for (i = 0; i < ARRAY_SIZE(links); i++)
		if (symlink(links[i][0], links[i][1]) && errno != EEXIST)
			fail("making %s: %s", links[i][1], strerror(errno));
	make_directory("/dev/shm");
	mount_at("tmpfs", "tmpfs", 0, NULL, "/dev/shm");
	if (host_names) {
		fputs("127.0.0.1\tlocalhost\n::1\tlocalhost\n", host_names);
		if (fclose(host_names))
			fail("writing " HOSTS ": %s", strerror(errno));
	}
	is_made = calloc(n_nodes, sizeof(*is_made));
	if (!is_made)
		fail("out of memory");
}

/* Directories of /var/log, empty: services write into their own. */
static void make_log(const char *root)
{
	char path[PATH_BYTES];
	struct dirent *entry;
	DIR *logs;

	if (!has_machine("/var/log"))
		return;
	mount_at("tmpfs", "tmpfs", 0, NULL, "%s/var/log", root);
	logs = opendir(MACHINE "/var/log");
	while (logs && (entry = readdir(logs))) {
		if (entry->d_name[0] == '.' || entry->d_type != DT_DIR)
			continue;
		snprintf(path, sizeof(path), "%s/var/log/%s", root, entry->d_name);
		make_directory(path);
	}
	if (logs)
		closedir(logs);
}

static void make_work(const char *root, const char *name)
{
	char path[PATH_BYTES], kept[PATH_BYTES];

	snprintf(kept, sizeof(kept), FILES_DIR "%s", name);
	make_directory(kept);
	snprintf(path, sizeof(path), "%s" WORK, root);
	make_directory(path);
	mount_at(kept, NULL, MS_BIND, NULL, "%s", path);
	if (!scenario_directory)
		return;
	snprintf(path, sizeof(path), "%s" SCENARIO, root);
	make_directory(path);
	mount_at("none", "hostfs", MS_RDONLY, scenario_directory, "%s", path);
}

/* Mount all that a node's programs see, once. */
void root_make(int node)
{
	static const char *const in_memory[] = { "/tmp", "/run", "/var/tmp" };
	const char *name = nodes[node].name;
	char root[ROOT_BYTES];
	size_t i;

	if (!is_made)
		make_shared();
	if (is_made[node])
		return;
	is_made[node] = true;
	snprintf(root, sizeof(root), ROOTS "/%s", name);
	make_directory(root);
	mount_at(MACHINE, NULL, MS_BIND, NULL, "%s", root);
	mount_at("/proc", NULL, MS_BIND, NULL, "%s/proc", root);
	mount_at("/dev", NULL, MS_BIND | MS_REC, NULL, "%s/dev", root);
	net_enter(node);	/* /sys/class/net is that of whoever mounts it */
	mount_at("sysfs", "sysfs", 0, NULL, "%s/sys", root);
	for (i = 0; i < ARRAY_SIZE(in_memory); i++)
		mount_memory(root, in_memory[i]);
	make_log(root);
	if (host_names && has_machine("/etc/hosts"))
		mount_at(HOSTS, NULL, MS_BIND, NULL, "%s/etc/hosts", root);
	make_work(root, name);
}

/* In a child: 0, or -1 with errno. */
int root_enter(int node)
{
	char root[ROOT_BYTES];

	snprintf(root, sizeof(root), ROOTS "/%s", nodes[node].name);
	if (chroot(root))
		return -1;
	return chdir(WORK);
}
