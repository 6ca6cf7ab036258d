// SPDX-License-Identifier: GPL-2.0
/*
 * Process 1 of a laboratory run: mounts file systems, executes the plan, powers off.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

#define PLAN_VERSION	1
#define LINE_MAX_BYTES	16384

struct line line;
char (*modules)[64];
int n_modules;

static char line_text[LINE_MAX_BYTES];

/* Print a line on the host's terminal; priority <1> passes any console log level. */
void say(const char *fmt, ...)
{
	static int fd = -1;
	char text[512];
	va_list args;
	int length;

	if (fd < 0)
		fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	length = snprintf(text, sizeof(text), "<1>");
	va_start(args, fmt);
	vsnprintf(text + length, sizeof(text) - length, fmt, args);
	va_end(args);
	if (write(fd, text, strlen(text)) < 0)
		return;
}

__attribute__((noreturn))
static void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

void fail(const char *fmt, ...)
{
	char reason[768];
	va_list args;
	FILE *out;

	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	out = fopen(OUT_DIR "errors.out", "w");
	if (out) {
		fprintf(out, "plan line %d: %s: %s\n", line.number, line_text,
			reason);
		fclose(out);
	}
	say("quell-error plan line %d: %s: %s", line.number, line_text, reason);
	power_off();
}

/* Make room for one more element than @count; capacity doubles. */
void *grow(void *array, int count, size_t size)
{
	if (count & (count - 1))
		return array;
	array = realloc(array, (count ? 2 * count : 1) * size);
	if (!array)
		fail("out of memory");
	return array;
}

void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		fail("opening %s: %s", path, strerror(errno));
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fail("writing '%s' to %s: %s", text, path, strerror(errno));
	close(fd);
}

char *read_text(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		fail("opening %s: %s", path, strerror(errno));
	length = read(fd, buffer, size - 1);
	if (length < 0)
		fail("reading %s: %s", path, strerror(errno));
	buffer[length] = '\0';
	close(fd);
	return buffer;
}

/* module NAME.ko [param=value ...] */
static void cmd_module(void)
{
	char path[128], params[512] = "";
	size_t length;
	int fd, i;

	need_words(1, PLAN_WORDS_MAX);
	length = strlen(line.word[1]) - strlen(".ko");
	if (strchr(line.word[1], '/') || strlen(line.word[1]) <= strlen(".ko") ||
	    length >= sizeof(*modules) || strcmp(line.word[1] + length, ".ko"))
		fail("'%s' is not a file name like quell.ko", line.word[1]);
	snprintf(path, sizeof(path), "/modules/%s", line.word[1]);
	for (i = 2; i < line.n; i++) {
		size_t used = strlen(params);

		if (snprintf(params + used, sizeof(params) - used, "%s%s",
			     used ? " " : "", line.word[i]) >=
		    (int)(sizeof(params) - used))
			fail("parameters longer than %zu", sizeof(params));
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail("opening %s: %s", path, strerror(errno));
	if (syscall(SYS_finit_module, fd, params, 0))
		fail("loading: %s", strerror(errno));
	close(fd);
	modules = grow(modules, n_modules, sizeof(*modules));
	snprintf(modules[n_modules++], sizeof(*modules), "%.*s", (int)length,
		 line.word[1]);
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
	{ "cc-allowed",	cmd_cc_allowed },
	{ "node",	cmd_node },
	{ "link",	cmd_link },
	{ "addr",	cmd_addr },
	{ "route",	cmd_route },
	{ "sysctl",	cmd_sysctl },
	{ "qdisc",	cmd_qdisc },
	{ "param",	cmd_param },
	{ "probe",	cmd_probe },
	{ "stamps",	cmd_stamps },
	{ "step",	cmd_step },
	{ "truth",	cmd_truth },
	{ "flow",	cmd_flow },
	{ "watch",	cmd_watch },
	{ "sample",	cmd_sample },
	{ "until",	cmd_until },
	{ "run",	cmd_run },
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
		snprintf(line_text, sizeof(line_text), "%s", words);
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
