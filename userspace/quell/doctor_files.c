// SPDX-License-Identifier: GPL-2.0
/*
 * quell doctor: facts from files of the kernel.  They are read below a directory, which is the root
 * but for tests.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "util.h"

static FILE *open_below(const char *root, const char *path)
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return NULL;
	return fopen(full, "re");
}

/**
 * doctor_read_line() - read the first line of a file
 * @root: directory it is below
 * @path: the file
 * @line: filled in without the line's end; empty if the file cannot be read
 * @len: size of @line
 *
 * Return: whether it could be read.
 */
bool doctor_read_line(const char *root, const char *path, char *line, size_t len)
{
	FILE *file = open_below(root, path);
	bool has_line = file && fgets(line, len, file);

	if (!has_line)
		*line = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
	return has_line;
}

static int read_int(const char *root, const char *path)
{
	char line[DOCTOR_NAME_LEN];
	int value;

	if (!doctor_read_line(root, path, line, sizeof(line)) || sscanf(line, "%d", &value) != 1)
		return DOCTOR_UNKNOWN;
	return value;
}

/* Three numbers, or three times 0. */
static void read_three(const char *root, const char *path, uint64_t *value)
{
	char line[DOCTOR_TEXT_LEN];

	if (!doctor_read_line(root, path, line, sizeof(line)) ||
	    sscanf(line, "%" SCNu64 "%" SCNu64 "%" SCNu64, &value[0], &value[1], &value[2]) != 3)
		memset(value, 0, 3 * sizeof(*value));
}

/* A name of at most 15 bytes. */
static void read_cc(const char *root, const char *path, char *cc)
{
	char line[DOCTOR_NAME_LEN];

	doctor_read_line(root, path, line, sizeof(line));
	snprintf(cc, DOCTOR_CC_LEN, "%.*s", DOCTOR_CC_LEN - 1, line);
}

static void take_option(struct doctor_host *host, const char *line)
{
	static const char * const names[DOCTOR_OPTIONS] = {
		[DOCTOR_NETFILTER] = "CONFIG_NETFILTER",
		[DOCTOR_NET_SCHED] = "CONFIG_NET_SCHED",
		[DOCTOR_HIGH_RES_TIMERS] = "CONFIG_HIGH_RES_TIMERS",
		[DOCTOR_TCP_DIAG] = "CONFIG_INET_TCP_DIAG",
		[DOCTOR_BTF] = "CONFIG_DEBUG_INFO_BTF",
	};
	size_t i, len;

	for (i = 0; i < DOCTOR_OPTIONS; i++) {
		len = strlen(names[i]);
		if (!strncmp(line, names[i], len) && line[len] == '=' &&
		    (line[len + 1] == 'y' || line[len + 1] == 'm'))
			host->option[i] = true;
	}
}

/* Where distributions and "make install" put the configuration. */
static FILE *open_config(const char *root, const char *release)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "/boot/config-%s", release);
	file = open_below(root, path);
	if (file)
		return file;
	snprintf(path, sizeof(path), "/lib/modules/%s/config", release);
	return open_below(root, path);
}

static void read_config(struct doctor_host *host, const char *root)
{
	char line[DOCTOR_TEXT_LEN];
	FILE *file = open_config(root, host->release);

	if (!file)
		return;
	host->has_config = true;
	while (fgets(line, sizeof(line), file))
		take_option(host, line);
	fclose(file);
}

/* Whether a list of modules has that of the algorithm to begin with, compressed or not. */
static bool lists_module(const char *root, const char *path)
{
	char line[DOCTOR_TEXT_LEN];
	FILE *file = open_below(root, path);
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, "/tcp_swift.ko");
	if (file)
		fclose(file);
	return found;
}

static void read_installed(struct doctor_host *host, const char *root)
{
	static const char * const lists[] = { "modules.dep", "modules.builtin" };
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		snprintf(path, sizeof(path), "/lib/modules/%s/%s", host->release, lists[i]);
		host->has_modules |= lists_module(root, path);
	}
	snprintf(path, sizeof(path), "%s/var/lib/dkms/quell", root);
	host->has_dkms = !access(path, F_OK);
}

/* Modules' names do not begin with bpf_, those of "quell bpf load" do. */
static void read_bpf_cc(struct doctor_host *host, const char *root)
{
	char line[DOCTOR_TEXT_LEN], *name, *rest = line;

	doctor_read_line(root, "/proc/sys/net/ipv4/tcp_available_congestion_control", line,
			 sizeof(line));
	while ((name = strsep(&rest, " ")) && strncmp(name, "bpf_", strlen("bpf_")))
		;
	if (name)
		snprintf(host->bpf_cc, sizeof(host->bpf_cc), "%.*s", DOCTOR_CC_LEN - 1, name);
}

/* "TCP: inuse 5 orphan 0 tw 0 alloc 7 mem 3", in pages. */
static void read_tcp_pages(struct doctor_host *host, const char *root)
{
	char line[DOCTOR_TEXT_LEN], *mem;
	FILE *file = open_below(root, "/proc/net/sockstat");

	while (file && fgets(line, sizeof(line), file)) {
		mem = strncmp(line, "TCP:", 4) ? NULL : strstr(line, " mem ");
		if (mem)
			host->tcp_pages = strtoull(mem + strlen(" mem "), NULL, 10);
	}
	if (file)
		fclose(file);
}

/**
 * doctor_read_files() - collect facts from files
 * @host: zeroed; filled in as far as there are files
 * @root: directory they are below, empty for the root
 */
void doctor_read_files(struct doctor_host *host, const char *root)
{
	static const char clock[] = "/sys/devices/system/clocksource/clocksource0/";
	char path[DOCTOR_TEXT_LEN], line[DOCTOR_TEXT_LEN];

	doctor_read_line(root, "/proc/sys/kernel/osrelease", host->release,
			 sizeof(host->release));
	read_config(host, root);
	if (doctor_read_line(root, "/sys/kernel/security/lockdown", line, sizeof(line)))
		host->locked = !strstr(line, "[none]");
	host->has_quell = doctor_read_line(root, "/sys/module/quell/refcnt", line, sizeof(line));
	read_installed(host, root);
	read_bpf_cc(host, root);
	read_cc(root, "/proc/sys/net/ipv4/tcp_congestion_control", host->default_cc);
	snprintf(path, sizeof(path), "%scurrent_clocksource", clock);
	doctor_read_line(root, path, host->clocksource, sizeof(host->clocksource));
	snprintf(path, sizeof(path), "%savailable_clocksource", clock);
	doctor_read_line(root, path, host->clocksources, sizeof(host->clocksources));
	host->tcp_ecn = read_int(root, "/proc/sys/net/ipv4/tcp_ecn");
	host->tcp_sack = read_int(root, "/proc/sys/net/ipv4/tcp_sack");
	read_three(root, "/proc/sys/net/ipv4/tcp_mem", host->tcp_mem);
	read_three(root, "/proc/sys/net/ipv4/tcp_wmem", host->tcp_wmem);
	read_tcp_pages(host, root);
}
