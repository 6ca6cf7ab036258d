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

#define IPV4	"/proc/sys/net/ipv4/"
#define CLOCK	"/sys/devices/system/clocksource/clocksource0/"

const char * const doctor_options[DOCTOR_OPTIONS] = {
	[DOCTOR_NETFILTER] = "CONFIG_NETFILTER",
	[DOCTOR_NET_SCHED] = "CONFIG_NET_SCHED",
	[DOCTOR_HIGH_RES_TIMERS] = "CONFIG_HIGH_RES_TIMERS",
	[DOCTOR_TCP_DIAG] = "CONFIG_INET_TCP_DIAG",
	[DOCTOR_BTF] = "CONFIG_DEBUG_INFO_BTF",
};

/* The first line of a file that has a text, DOCTOR_TEXT_LEN bytes; empty without such a line. */
static bool find_line(const char *root, const char *path, const char *text, char *line)
{
	char full[PATH_MAX];
	bool found = false;
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	file = fopen(full, "re");
	while (file && !found && fgets(line, DOCTOR_TEXT_LEN, file))
		found = strstr(line, text);
	if (!found)
		*line = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
	return found;
}

/*
 * Read the first line of a file without the line's end, cut to @len; empty if the file cannot be
 * read.
 */
bool doctor_read_line(const char *root, const char *path, char *text, size_t len)
{
	char line[DOCTOR_TEXT_LEN];
	bool found = find_line(root, path, "", line);

	snprintf(text, len, "%.*s", (int)len - 1, line);
	return found;
}

static int read_int(const char *root, const char *path)
{
	char line[DOCTOR_NAME_LEN];
	int value;

	doctor_read_line(root, path, line, sizeof(line));
	return sscanf(line, "%d", &value) == 1 ? value : DOCTOR_UNKNOWN;
}

/* Three numbers, or three times 0. */
static void read_three(const char *root, const char *path, uint64_t *value)
{
	char line[DOCTOR_NAME_LEN];

	doctor_read_line(root, path, line, sizeof(line));
	if (sscanf(line, "%" SCNu64 "%" SCNu64 "%" SCNu64, &value[0], &value[1], &value[2]) != 3)
		memset(value, 0, 3 * sizeof(*value));
}

/* The configuration, where distributions and "make install" put it. */
static void read_config(struct doctor_host *host, const char *root)
{
	static const char * const paths[] = { "/boot/config-%s", "/lib/modules/%s/config" };
	char path[PATH_MAX], line[DOCTOR_TEXT_LEN], text[DOCTOR_NAME_LEN];
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(paths) && !host->has_config; i++) {
		snprintf(path, sizeof(path), paths[i], host->release);
		host->has_config = find_line(root, path, "", line);
	}
	for (i = 0; host->has_config && i < DOCTOR_OPTIONS; i++) {
		for (j = 0; j < 2; j++) {
			snprintf(text, sizeof(text), "%s=%c\n", doctor_options[i], "ym"[j]);
			host->option[i] |= find_line(root, path, text, line);
		}
	}
}

/* Whether the modules are there, compressed or not, and their source for dkms. */
static void read_installed(struct doctor_host *host, const char *root)
{
	static const char * const lists[] = { "modules.dep", "modules.builtin" };
	char path[PATH_MAX], line[DOCTOR_TEXT_LEN];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		snprintf(path, sizeof(path), "/lib/modules/%s/%s", host->release, lists[i]);
		host->has_modules |= find_line(root, path, "/tcp_swift.ko", line);
	}
	snprintf(path, sizeof(path), "%s/var/lib/dkms/quell", root);
	host->has_dkms = !access(path, F_OK);
}

/* Modules' names do not begin with bpf_, those of "quell bpf load" do. */
static void read_bpf_cc(struct doctor_host *host, const char *root)
{
	char line[DOCTOR_TEXT_LEN], *name, *rest = line;

	doctor_read_line(root, IPV4 "tcp_available_congestion_control", line, sizeof(line));
	while ((name = strsep(&rest, " ")) && strncmp(name, "bpf_", strlen("bpf_")))
		;
	if (name)
		snprintf(host->bpf_cc, sizeof(host->bpf_cc), "%.*s", DOCTOR_CC_LEN - 1, name);
}

/* Collect facts from files below @root as far as there are any; @host is zeroed. */
void doctor_read_files(struct doctor_host *host, const char *root)
{
	char line[DOCTOR_TEXT_LEN];

	doctor_read_line(root, "/proc/sys/kernel/osrelease", host->release, sizeof(host->release));
	read_config(host, root);
	if (find_line(root, "/sys/kernel/security/lockdown", "", line))
		host->locked = !strstr(line, "[none]");
	host->has_quell = find_line(root, "/sys/module/quell/refcnt", "", line);
	read_installed(host, root);
	read_bpf_cc(host, root);
	doctor_read_line(root, IPV4 "tcp_congestion_control", host->default_cc,
			 sizeof(host->default_cc));
	doctor_read_line(root, CLOCK "current_clocksource", host->clocksource,
			 sizeof(host->clocksource));
	doctor_read_line(root, CLOCK "available_clocksource", host->clocksources,
			 sizeof(host->clocksources));
	host->tcp_ecn = read_int(root, IPV4 "tcp_ecn");
	host->tcp_sack = read_int(root, IPV4 "tcp_sack");
	read_three(root, IPV4 "tcp_mem", host->tcp_mem);
	read_three(root, IPV4 "tcp_wmem", host->tcp_wmem);
	/* "TCP: inuse 5 orphan 0 tw 0 alloc 7 mem 3", in pages. */
	if (find_line(root, "/proc/net/sockstat", "TCP:", line) && strstr(line, " mem "))
		host->tcp_pages = strtoull(strstr(line, " mem ") + strlen(" mem "), NULL, 10);
}
