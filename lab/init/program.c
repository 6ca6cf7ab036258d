// SPDX-License-Identifier: GPL-2.0
/*
 * Programs of the machine on nodes of the laboratory: their table, start and end.
 *
 * A program sees the machine's file system read-only (program_root.c) and the network of its
 * node.  Those in the background start before T0, one after the other, each when the one before
 * it listens; those in the foreground at their time, and when the last of them has ended the
 * run has.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "init.h"
#include "program.h"

#define PROGRAMS_DIR		OUT_DIR "programs/"
#define DATE_S			1735689600	/* 2025-01-01 00:00:00 UTC */
#define FILES_MAX		65536	/* some programs look at each file they may have */
/* Virtual time between polls for a listening socket, and until a program without one has failed. */
#define LISTEN_POLL_NS		100000
#define LISTEN_GIVE_UP_NS	60000000000ull
/* How long a program in the background may take to end after SIGTERM. */
#define STOP_NS			1000000000
#define STOP_POLL_NS		1000000
#define NO_PID			0

static struct program *programs;
static int n_programs;

/* A word as the front end wrote it: %XX for bytes that a plan cannot have, % for the empty word. */
static char *decoded(const char *word)
{
	char *text = malloc(strlen(word) + 1), *end = text;
	unsigned int byte;

	if (!text)
		fail("out of memory");
	if (!strcmp(word, "%"))
		word++;
	for (; *word; word++) {
		*end = *word;
		if (*word == '%') {
			if (sscanf(word + 1, "%2x", &byte) != 1 || !word[1] || !word[2])
				fail("'%s' is not %%XX", word);
			*end = byte;
			word += 2;
		}
		end++;
	}
	*end = '\0';
	return text;
}

/* Words from @from on, up to the first that begins with @until if that is given. */
static char **decoded_words(int *from, char until)
{
	char **words = calloc(line.n - *from + 1, sizeof(*words));
	int n = 0;

	if (!words)
		fail("out of memory");
	while (*from < line.n && line.word[*from][0] != until)
		words[n++] = decoded(line.word[(*from)++]);
	return words;
}

/* program NUMBER NODE background|foreground START_NS LISTEN [NAME=VALUE]... PATH ARGUMENT... */
void cmd_program(void)
{
	struct program *program;
	const char *kind, *listen;
	int word = 6;

	need_words(7, PLAN_WORDS_MAX);
	programs = grow(programs, n_programs, sizeof(*programs));
	program = &programs[n_programs];
	*program = (struct program) {
		.number = number(line.word[1], 0, UINT32_MAX),
		.node = node_index(line.word[2]),
		.start_ns = number(line.word[4], 0, UINT64_MAX / 4),
	};
	kind = line.word[3];
	if (strcmp(kind, "background") && strcmp(kind, "foreground"))
		fail("'%s' is neither background nor foreground", kind);
	program->is_foreground = !strcmp(kind, "foreground");
	listen = line.word[5];
	program->listen = PROGRAM_LISTENS_NOT;
	if (!strcmp(listen, "any"))
		program->listen = PROGRAM_LISTENS_ANY;
	else if (strcmp(listen, "-"))
		program->listen = number(listen, 1, 65535);
	program->environment = decoded_words(&word, '/');
	if (word + 1 >= line.n)
		fail("no path of a program, or no name");
	program->path = decoded(line.word[word++]);
	program->arguments = decoded_words(&word, '\0');
	n_programs++;
}

/* directory PATH */
void cmd_directory(void)
{
	need_words(1, 1);
	root_show_directory(decoded(line.word[1]));
}

/* syscall NS: read by the library that is preloaded into the kernel (syscost.c) */
void cmd_syscall(void)
{
	need_words(1, 1);
	say("quell-syscall %" PRIu64, number(line.word[1], 0, 1000000));
}

bool has_programs(void)
{
	return n_programs;
}

static int output(const struct program *program, const char *kind)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), PROGRAMS_DIR "%" PRIu32 "-%s.%s", program->number,
		 nodes[program->node].name, kind);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		fail("opening %s: %s", path, strerror(errno));
	return fd;
}

/* In the child: never returns; reports a failure through @report. */
__attribute__((noreturn))
static void become(const struct program *program, int in, int out, int err, int report)
{
	struct rlimit files = { .rlim_cur = FILES_MAX, .rlim_max = FILES_MAX };
	sigset_t none;
	int error;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(err, STDERR_FILENO) < 0 || setrlimit(RLIMIT_NOFILE, &files) ||
	    root_enter(program->node))
		goto failed;
	execve(program->path, program->arguments, program->environment);
failed:
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static void start(struct program *program, uint64_t now_ns)
{
	int report[2], in, out, err, error;

	root_make(program->node);
	net_enter(program->node);
	in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	out = output(program, "stdout");
	err = output(program, "stderr");
	if (in < 0 || pipe2(report, O_CLOEXEC))
		fail("starting %s: %s", program->path, strerror(errno));
	program->started_ns = now_ns;
	program->pid = fork();
	if (program->pid < 0)
		fail("starting %s: %s", program->path, strerror(errno));
	if (program->pid == 0)
		become(program, in, out, err, report[1]);
	close(in);
	close(out);
	close(err);
	close(report[1]);
	if (read(report[0], &error, sizeof(error)) == sizeof(error))
		fail("starting %s on %s: %s", program->path, nodes[program->node].name,
		     strerror(error));
	close(report[0]);
}

/* Whether one of a kind that was started has not ended. */
static bool is_one_running(bool is_foreground)
{
	int i;

	for (i = 0; i < n_programs; i++)
		if (programs[i].is_foreground == is_foreground && programs[i].pid != NO_PID &&
		    !programs[i].has_ended)
			return true;
	return false;
}

/* Take note of all children that have ended; grandchildren without a parent are among them. */
void programs_reap(uint64_t now_ns)
{
	int status, i;
	pid_t pid;

	/* Without a child the call fails, see sleep_or_child(). */
	if (!is_one_running(true) && !is_one_running(false))
		return;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (i = 0; i < n_programs; i++) {
			if (programs[i].pid != pid || programs[i].has_ended)
				continue;
			programs[i].has_ended = true;
			programs[i].ended_ns = now_ns;
			programs[i].status = WIFEXITED(status) ? WEXITSTATUS(status) :
								 -WTERMSIG(status);
		}
}

/* Listening TCP sockets of a table of the node this process is in, of one port or of any. */
static int count_listening_of(const char *table, int port)
{
	unsigned int local_port, state;
	char text[512];
	int count = 0;
	FILE *file;

	file = fopen(table, "re");
	if (!file)
		return 0;
	while (fgets(text, sizeof(text), file))
		if (sscanf(text, " %*u: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x", &local_port,
			   &state) == 2 && state == 0x0a &&
		    (port == PROGRAM_LISTENS_ANY || (int)local_port == port))
			count++;
	fclose(file);
	return count;
}

static int count_listening(const struct program *program)
{
	net_enter(program->node);
	return count_listening_of("/proc/self/net/tcp", program->listen) +
	       count_listening_of("/proc/self/net/tcp6", program->listen);
}

static void start_and_await(struct program *program)
{
	uint64_t begin_ns = monotonic_ns();
	int before = 0;

	if (program->listen != PROGRAM_LISTENS_NOT)
		before = count_listening(program);
	start(program, monotonic_ns());
	if (program->listen == PROGRAM_LISTENS_NOT)
		return;
	while (count_listening(program) <= before) {
		programs_reap(monotonic_ns());
		if (program->has_ended)
			fail("program %" PRIu32 " (%s on %s) ended with status %d before it listened",
			     program->number, program->path, nodes[program->node].name,
			     program->status);
		if (monotonic_ns() - begin_ns > LISTEN_GIVE_UP_NS)
			fail("program %" PRIu32 " (%s on %s) listens on no %s after %llu s",
			     program->number, program->path, nodes[program->node].name,
			     program->listen == PROGRAM_LISTENS_ANY ? "TCP port" :
			     "such TCP port", LISTEN_GIVE_UP_NS / 1000000000);
		sleep_ns(LISTEN_POLL_NS + (monotonic_ns() - begin_ns) / 20);
	}
}

/*
 * A date that can be one.  In the first second of 1970 nginx takes its texts of the date for up to
 * date, which it has not written yet, and dies of that at the first request.  Beside programs, only
 * the packets of --pcap have this clock, and count from T0.
 */
static void set_date(void)
{
	const struct timespec date = { .tv_sec = DATE_S };

	if (clock_settime(CLOCK_REALTIME, &date))
		fail("setting the date: %s", strerror(errno));
}

/* Start those in the background, in order. */
void programs_start_background(void)
{
	int i;

	set_date();
	if (mkdir(PROGRAMS_DIR, 0755) && errno != EEXIST)
		fail("making " PROGRAMS_DIR ": %s", strerror(errno));
	for (i = 0; i < n_programs; i++)
		if (!programs[i].is_foreground)
			start_and_await(&programs[i]);
}

/* Start the due ones in the foreground; the time of the next one, UINT64_MAX: never. */
uint64_t programs_start_due(uint64_t t0_ns, uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;
	int i;

	for (i = 0; i < n_programs; i++) {
		if (!programs[i].is_foreground || programs[i].pid != NO_PID)
			continue;
		if (t0_ns + programs[i].start_ns <= now_ns)
			start(&programs[i], now_ns);
		else if (t0_ns + programs[i].start_ns < next_ns)
			next_ns = t0_ns + programs[i].start_ns;
	}
	return next_ns;
}

bool is_foreground_done(void)
{
	int i;

	for (i = 0; i < n_programs; i++)
		if (programs[i].is_foreground && !programs[i].has_ended)
			return false;
	return true;
}

/* End all that still run: those in the background as a shell's user would, and at last by force. */
void programs_stop(void)
{
	uint64_t give_up_ns = monotonic_ns() + STOP_NS;
	int i;

	for (i = 0; i < n_programs; i++) {
		if (programs[i].pid == NO_PID || programs[i].has_ended)
			continue;
		programs[i].is_stopped = true;
		kill(-programs[i].pid, programs[i].is_foreground ? SIGKILL : SIGTERM);
	}
	while (is_one_running(false) && monotonic_ns() < give_up_ns) {
		sleep_ns(STOP_POLL_NS);
		programs_reap(monotonic_ns());
	}
	/* All processes but this one, those left by programs, too. */
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

/* programs.out */
void programs_collect(uint64_t t0_ns)
{
	FILE *file = fopen(OUT_DIR "programs.out", "we");
	int i;

	if (!file)
		fail("opening programs.out: %s", strerror(errno));
	for (i = 0; i < n_programs; i++) {
		const struct program *program = &programs[i];

		fprintf(file, "%" PRIu32 " %s %s %" PRId64 " %" PRId64 " %s %d\n", program->number,
			nodes[program->node].name,
			program->is_foreground ? "foreground" : "background",
			(int64_t)(program->started_ns - t0_ns),
			program->has_ended && !program->is_stopped ?
			(int64_t)(program->ended_ns - t0_ns) : -1,
			program->pid == NO_PID ? "unstarted" :
			program->is_stopped ? "stopped" :
			program->status < 0 ? "signal" : "exit",
			program->is_stopped ? 0 : abs(program->status));
	}
	if (fclose(file))
		fail("writing programs.out: %s", strerror(errno));
}
