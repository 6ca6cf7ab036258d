// SPDX-License-Identifier: GPL-2.0
/*
 * Flows, samplers and the run itself, through quell_labflow's debugfs files.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "init.h"
#include "program.h"

#define LABFLOW			"/sys/kernel/debug/quell_labflow/"
/* Parts of the network, of which this is one; 0: it is whole. */
#define PARTS			"/sys/module/quell_labnic/parameters/parts"
#define LABSPOOF		"/sys/kernel/debug/quell_labspoof"
/* Shortest virtual time between polls of the run; they get rarer as time passes. */
#define POLL_NS			50000
/* The same where packets are written: packets received in it must fit into their sockets. */
#define CAPTURE_POLL_NS		100000
/* Virtual time for packets in flight and FINs after the run ends. */
#define SETTLE_NS		50000000

static int control_fd = -1;
static int children_fd = -1;	/* signals of children that have ended */
static bool ran;

/* Copy labflow's error message, the second line of the state file. */
static void labflow_reason(char *reason, size_t size)
{
	char state[512];
	char *text = strchr(read_text(LABFLOW "state", state, sizeof(state)), '\n');

	snprintf(reason, size, "%s", text ? text + 1 : "");
	reason[strcspn(reason, "\n")] = '\0';
}

__attribute__((format(printf, 1, 2)))
static void control(const char *fmt, ...)
{
	char command[256], reason[256];
	va_list args;
	int length, error;

	va_start(args, fmt);
	length = vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	if (length >= (int)sizeof(command))
		fail("command longer than %zu", sizeof(command));
	if (control_fd < 0)
		control_fd = open(LABFLOW "control", O_WRONLY | O_CLOEXEC);
	if (control_fd < 0)
		fail("quell_labflow is not loaded");
	if (write(control_fd, command, length) == length)
		return;
	error = errno;
	labflow_reason(reason, sizeof(reason));
	fail("%s%s%s", reason, *reason ? ": " : "", strerror(error));
}

/*
 * flow ID SRC DST DADDR DPORT BYTES START_NS warm|cold [stop=NS] [dscp=N] [after=ID] [on=ID]
 *	[queued=BYTES] [wake=NS]
 */
void cmd_flow(void)
{
	static const char *const keys[] = { "stop", "dscp", "after", "on", "queued", "wake", NULL };
	const char *stop, *dscp, *after, *on, *queued, *wake;

	need_words(8, 14);
	only_options(9, keys);
	stop = option(9, "stop");
	dscp = option(9, "dscp");
	after = option(9, "after");
	on = option(9, "on");
	queued = option(9, "queued");
	wake = option(9, "wake");
	number(line.word[1], 0, UINT32_MAX);
	number(line.word[5], 1, 16383);
	number(line.word[6], 1, UINT64_MAX / 2);
	number(line.word[7], 0, UINT64_MAX / 4);
	address(line.word[4]);
	if (strcmp(line.word[8], "warm") && strcmp(line.word[8], "cold"))
		fail("'%s' is neither warm nor cold", line.word[8]);
	control("flow %s %d %d %s %s %s %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" %" PRIu64 " %" PRIu64,
		line.word[1],
		nodes[node_index(line.word[2])].ns_fd,
		nodes[node_index(line.word[3])].ns_fd,
		line.word[4], line.word[5], line.word[6], line.word[7],
		line.word[8], stop ? number(stop, 1, UINT64_MAX / 4) : 0,
		dscp ? number(dscp, 0, 63) : 0,
		after ? number(after, 1, UINT32_MAX) : 0,
		on ? number(on, 1, UINT32_MAX) : 0,
		queued ? number(queued, 1, INT32_MAX) : 0,
		wake ? number(wake, 1, 1000000000) : 0);
}

/* watch NODE DEV */
void cmd_watch(void)
{
	struct port *port;

	need_words(2, 2);
	port = port_find(line.word[1], line.word[2]);
	control("watch %d %s %s", nodes[port->node].ns_fd, line.word[1],
		port->name);
}

static uint64_t interval(const char *key)
{
	const char *value = option(1, key);

	return value ? number(value, 0, 1000000000) : 0;
}

/* sample [queue=NS] [flow=NS] [delivered=NS] */
void cmd_sample(void)
{
	static const char *const keys[] = { "queue", "flow", "delivered", NULL };

	only_options(1, keys);
	control("sample %" PRIu64 " %" PRIu64 " %" PRIu64, interval("queue"),
		interval("flow"), interval("delivered"));
}

/* truth */
void cmd_truth(void)
{
	need_words(0, 0);
	control("truth");
}

/* step NODE DEV AT_NS STEP_NS */
void cmd_step(void)
{
	struct port *port;

	need_words(4, 4);
	port = port_find(line.word[1], line.word[2]);
	control("step %d %s %" PRIu64 " %" PRId64, nodes[port->node].ns_fd, port->name,
		number(line.word[3], 0, UINT64_MAX / 4),
		signed_number(line.word[4], INT64_MIN / 4, INT64_MAX / 4));
}

/* until NS */
void cmd_until(void)
{
	need_words(1, 1);
	control("until %" PRIu64, number(line.word[1], 1, UINT64_MAX / 4));
}

uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

void sleep_ns(uint64_t ns)
{
	struct timespec ts = {
		.tv_sec = ns / 1000000000,
		.tv_nsec = ns % 1000000000,
	};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

struct run_state {
	char		name[16];
	uint64_t	t0_ns;
	uint64_t	now_ns;
	uint64_t	end_ns;
	uint32_t	done;
	uint32_t	total;
};

static void read_state(struct run_state *state)
{
	char text[512];

	read_text(LABFLOW "state", text, sizeof(text));
	if (sscanf(text, "%15s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu32
		   " %" SCNu32, state->name, &state->t0_ns, &state->now_ns,
		   &state->end_ns, &state->done, &state->total) != 6)
		fail("cannot understand quell_labflow's state");
}

static void say_progress(const struct run_state *state, uint64_t passed_ns)
{
	say("quell-progress %" PRIu64 " %" PRIu32 " %" PRIu32, passed_ns, state->done,
	    state->total);
}

/*
 * Sleep until a time, or until a program ends.  No call may fail on the way: a failed system
 * call takes this kernel a microsecond, in which packets are late.
 */
static void sleep_or_child(uint64_t now_ns, uint64_t until_ns)
{
	struct pollfd children = { .fd = children_fd, .events = POLLIN };
	struct signalfd_siginfo ended;
	struct timespec ts = { 0 };

	if (until_ns <= now_ns)
		return;
	ts.tv_sec = (until_ns - now_ns) / 1000000000;
	ts.tv_nsec = (until_ns - now_ns) % 1000000000;
	if (ppoll(&children, has_programs(), &ts, NULL) > 0 &&
	    read(children_fd, &ended, sizeof(ended)) < 0)
		fail("waiting for programs: %s", strerror(errno));
}

static uint64_t earlier(uint64_t one_ns, uint64_t other_ns)
{
	return one_ns < other_ns ? one_ns : other_ns;
}

/*
 * The same with programs or captures: until those in the foreground have ended, or the flows'
 * own end where there are no programs.
 */
static void attend(struct run_state *state)
{
	uint64_t say_ns = state->t0_ns, next_ns, now_ns;

	for (;;) {
		now_ns = monotonic_ns();
		programs_reap(now_ns);
		captures_read();
		next_ns = programs_start_due(state->t0_ns, now_ns);
		read_state(state);
		if (has_programs() && is_foreground_done()) {
			control("finish");
			read_state(state);
		}
		if (now_ns >= say_ns || strcmp(state->name, "running")) {
			say_progress(state, now_ns - state->t0_ns);
			say_ns = now_ns + POLL_NS + (now_ns - state->t0_ns) / 20;
		}
		if (strcmp(state->name, "running"))
			return;
		next_ns = earlier(next_ns, say_ns);
		if (has_captures())
			next_ns = earlier(next_ns, now_ns + CAPTURE_POLL_NS);
		sleep_or_child(now_ns, next_ns);
	}
}

bool is_part(void)
{
	char text[32];

	return !access(PARTS, F_OK) &&
	       number(strtok(read_text(PARTS, text, sizeof(text)), "\n"), 0, UINT32_MAX);
}

/* Wait for the end; progress lines get rarer as virtual time passes. */
static void wait_for_end(struct run_state *state)
{
	uint64_t passed_ns = 0;

	read_state(state);
	if (has_captures())
		captures_start(state->t0_ns);
	if (is_part()) {
		control("wait");
		read_state(state);
		return;
	}
	if (state->now_ns < state->t0_ns)
		sleep_ns(state->t0_ns - state->now_ns);
	if (has_programs() || has_captures()) {
		attend(state);
		return;
	}
	for (;;) {
		read_state(state);
		if (state->now_ns > state->t0_ns)
			passed_ns = state->now_ns - state->t0_ns;
		say_progress(state, passed_ns);
		if (strcmp(state->name, "running"))
			return;
		sleep_ns(passed_ns / 20 > POLL_NS ? passed_ns / 20 : POLL_NS);
	}
}

static void copy_table(const char *from, const char *to)
{
	static char buffer[1 << 16];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ssize_t size;

	if (in < 0 || out < 0)
		fail("opening %s or %s: %s", from, to, strerror(errno));
	while ((size = read(in, buffer, sizeof(buffer))) > 0)
		if (write(out, buffer, size) != size)
			fail("writing %s: %s", to, strerror(errno));
	if (size < 0)
		fail("reading %s: %s", from, strerror(errno));
	close(in);
	close(out);
}

/* symbols */
void cmd_symbols(void)
{
	need_words(0, 0);
	copy_table("/proc/kallsyms", OUT_DIR "symbols.out");
}

/* Children that end are waited for by their signal; the run does not end with its flows. */
static void prepare_programs(void)
{
	sigset_t children;

	if (!has_programs())
		return;
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, NULL);
	children_fd = signalfd(-1, &children, SFD_CLOEXEC);
	if (children_fd < 0)
		fail("a descriptor of signals: %s", strerror(errno));
	programs_start_background();
}

/* run */
void cmd_run(void)
{
	struct run_state state;
	char reason[256], text[64];

	need_words(0, 0);
	if (ran)
		fail("a plan runs once");
	ran = true;
	prepare_programs();
	control(has_programs() ? "run open" : "run");
	wait_for_end(&state);
	labflow_reason(reason, sizeof(reason));
	sleep_ns(SETTLE_NS);
	if (has_captures())
		captures_end();
	if (has_programs()) {
		programs_stop();
		programs_collect(state.t0_ns);
	}
	copy_table(LABFLOW "flows", OUT_DIR "flows.out");
	copy_table(LABFLOW "marks", OUT_DIR "marks.out");
	copy_table(LABFLOW "governed", OUT_DIR "governed.out");
	copy_table(LABFLOW "queues", OUT_DIR "queues.out");
	copy_table(LABFLOW "cwnd", OUT_DIR "cwnd.out");
	copy_table(LABFLOW "delivered", OUT_DIR "delivered.out");
	copy_table(LABFLOW "dart", OUT_DIR "dart.out");
	copy_table(LABFLOW "pauses", OUT_DIR "pauses.out");
	copy_table(LABFLOW "truth", OUT_DIR "truth.out");
	stats_collect();
	if (!access(LABSPOOF, F_OK))
		copy_table(LABSPOOF, OUT_DIR "spoof.out");
	counters_collect();
	control("clear");
	/* An open file keeps the module loaded. */
	close(control_fd);
	control_fd = -1;
	if (*reason)
		fail("%s", reason);
	/* Let the FINs be acknowledged before the network may go away. */
	sleep_ns(SETTLE_NS);
	debug_leak_check();
	snprintf(text, sizeof(text), "ok virtual_ns=%" PRIu64 "\n",
		 state.end_ns - state.t0_ns);
	write_text(OUT_DIR "done.out", text);
}
