// SPDX-License-Identifier: GPL-2.0
/*
 * Process 1 of a laboratory run: mounts file systems, executes the plan, powers off.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <time.h>

#include "init.h"

#define PLAN_VERSION	1

/* end */
static void cmd_end(void)
{
	need_words(0, 0);
	write_text(OUT_DIR "done.out", "ok\n");
	power_off();
}

/* cc-allowed NAME... */
static void cmd_cc_allowed(void)
{
	char names[512] = "";
	int i;

	need_words(1, PLAN_WORDS_MAX);
	for (i = 1; i < line.n; i++) {
		size_t used = strlen(names);

		snprintf(names + used, sizeof(names) - used, "%s%s",
			 used ? " " : "", line.word[i]);
	}
	net_enter(0);
	write_text("/proc/sys/net/ipv4/tcp_allowed_congestion_control", names);
}

static const struct {
	const char *name;
	void (*handler)(void);
} commands[] = {
	{ "module",	cmd_module },
	{ "bpf",	cmd_bpf },
	{ "bpf-option",	cmd_bpf_option },
	{ "cc-allowed",	cmd_cc_allowed },
	{ "node",	cmd_node },
	{ "link",	cmd_link },
	{ "addr",	cmd_addr },
	{ "route",	cmd_route },
	{ "sysctl",	cmd_sysctl },
	{ "qdisc",	cmd_qdisc },
	{ "param",	cmd_param },
	{ "lookahead",	cmd_lookahead },
	{ "probe",	cmd_probe },
	{ "stamps",	cmd_stamps },
	{ "step",	cmd_step },
	{ "truth",	cmd_truth },
	{ "flow",	cmd_flow },
	{ "watch",	cmd_watch },
	{ "sample",	cmd_sample },
	{ "until",	cmd_until },
	{ "syscall",	cmd_syscall },
	{ "hostname",	cmd_hostname },
	{ "directory",	cmd_directory },
	{ "program",	cmd_program },
	{ "capture",	cmd_capture },
	{ "symbols",	cmd_symbols },
	{ "run",	cmd_run },
	{ "end",	cmd_end },
};

static void execute(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, line.word[0]))
			continue;
		commands[i].handler();
		return;
	}
	fail("unknown command '%s'", line.word[0]);
}

/* Cut the next non-empty line into words; false at the end of the plan. */
static bool next_line(FILE *plan)
{
	static char words[LINE_MAX_BYTES];
	char *word;

	do {
		if (!fgets(words, sizeof(words), plan))
			return false;
		line.number++;
		if (!strchr(words, '\n') && !feof(plan))
			fail("longer than %d bytes", LINE_MAX_BYTES - 2);
		words[strcspn(words, "#\n")] = '\0';
		snprintf(line.text, sizeof(line.text), "%s", words);
		line.n = 0;
		for (word = strtok(words, " \t"); word; word = strtok(NULL, " \t")) {
			if (line.n == PLAN_WORDS_MAX)
				fail("more than %d words", PLAN_WORDS_MAX);
			line.word[line.n++] = word;
		}
	} while (!line.n);
	return true;
}

static void mount_one(const char *type, const char *where)
{
	if (mount(type, where, type, 0, NULL))
		fail("mounting %s: %s", type, strerror(errno));
}

static void boot(void)
{
	struct rlimit files = { .rlim_cur = 262144, .rlim_max = 262144 };
	/* Timers have ns resolution only after the first jiffies. */
	struct timespec settle = { .tv_nsec = 5000000 };

	mount_one("devtmpfs", "/dev");
	mount_one("proc", "/proc");
	mount_one("sysfs", "/sys");
	mount_one("debugfs", "/sys/kernel/debug");
	if (setrlimit(RLIMIT_NOFILE, &files))
		fail("raising the limit of open files: %s", strerror(errno));
	nanosleep(&settle, NULL);
	net_defaults();
}

int main(void)
{
	FILE *plan;

	boot();
	plan = fopen("/plan", "re");
	if (!plan)
		fail("opening the plan: %s", strerror(errno));
	if (!next_line(plan) || strcmp(line.word[0], "quell-plan") ||
	    line.n != 2 || number(line.word[1], 0, UINT32_MAX) != PLAN_VERSION)
		fail("the first line must be 'quell-plan %d'", PLAN_VERSION);
	while (next_line(plan))
		execute();
	power_off();
}
