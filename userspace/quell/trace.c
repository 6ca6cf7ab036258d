// SPDX-License-Identifier: GPL-2.0
/*
 * quell trace: each decision of congestion control, as a table.
 *
 * Attachments and maps belong to this process alone, so the kernel frees them however it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bpf_parts.h"
#include "quell.h"
#include "trace_parts.h"

/* The kernel wakes us when the ring is a quarter full; records of quiet flows wait so long. */
#define LOOK_MS			100
#define NS_PER_MS		1000000ULL
#define NS_PER_SEC		1000000000ULL

struct session {
	const struct trace_args		*words;
	FILE				*file;
	const char			*path;	/* of @file; NULL: standard output */
	uint64_t			records;
	uint64_t			end_ns;	/* 0: no limit */
	char				plotter[PATH_MAX];
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	interrupted = 1;
}

/* A second signal ends the program at once, should it hang. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

static bool is_full(const struct session *s)
{
	return s->words->count && s->records >= s->words->count;
}

static bool is_over(const struct session *s)
{
	return interrupted || is_full(s) || ferror(s->file) ||
	       (s->end_ns && now_ns() >= s->end_ns);
}

static int take_record(void *data, void *record, size_t bytes)
{
	struct session *s = data;

	if (bytes < sizeof(struct quell_trace_record))
		return 0;
	if (is_full(s))
		return -ECANCELED;
	trace_csv_row(s->file, record);
	s->records++;
	return ferror(s->file) ? -ECANCELED : 0;
}

static int wait_ms(const struct session *s)
{
	uint64_t now = now_ns();

	if (!s->end_ns || s->end_ns >= now + LOOK_MS * NS_PER_MS)
		return LOOK_MS;
	return s->end_ns > now ? (s->end_ns - now + NS_PER_MS - 1) / NS_PER_MS : 0;
}

/* Records below the mark at which the kernel wakes us are taken, too, after each wait. */
static int follow(struct trace_code *code, struct session *s)
{
	int n;

	while (!is_over(s)) {
		n = ring_buffer__poll(code->ring, wait_ms(s));
		if (n >= 0)
			n = ring_buffer__consume(code->ring);
		if (n < 0 && n != -EINTR && n != -ECANCELED)
			return complain_bpf("trace: cannot read the records", -n);
		if (fflush(s->file))
			break;
	}
	return STATUS_OK;
}

static void print_summary(const struct trace_code *code, const struct session *s)
{
	uint64_t misses = trace_code_misses(code);

	fprintf(stderr, "quell: %llu records, %llu dropped\n", (unsigned long long)s->records,
		(unsigned long long)trace_code_drops(code));
	if (misses)
		fprintf(stderr, "quell: %llu events, of any flow, came while another was recorded "
			"on that processor, and were not seen\n", (unsigned long long)misses);
}

/* The header is printed when the tracer is attached: a reader can rely on it. */
static int trace_flows(struct session *s)
{
	struct trace_code code;
	int status;

	status = trace_code_open(&code, s->words);
	if (!status)
		status = trace_code_attach(&code, take_record, s);
	if (!status) {
		trace_csv_header(s->file);
		fflush(s->file);
		if (s->words->for_ns)
			s->end_ns = now_ns() + s->words->for_ns;
		catch_signals();
		status = follow(&code, s);
		trace_code_detach(&code);
		ring_buffer__consume(code.ring);
		print_summary(&code, s);
	}
	trace_code_close(&code);
	return status;
}

/* Draw a table; "--check" in its place: whether that will be possible. */
static int draw(const struct session *s, const char *table)
{
	int ended = -1;
	pid_t pid = fork();

	if (!pid) {
		run_helper((char *[]){ (char *)s->plotter, (char *)table,
				       (char *)s->words->plot, NULL });
		_exit(STATUS_KERNEL);
	}
	if (pid > 0 && waitpid(pid, &ended, 0) == pid && WIFEXITED(ended) && !WEXITSTATUS(ended))
		return STATUS_OK;
	complain("trace: %s cannot be drawn", s->words->plot);
	return STATUS_KERNEL;
}

static int complain_output(const char *path)
{
	complain("trace: cannot write %s: %s", path, strerror(errno));
	return STATUS_KERNEL;
}

/* With a plot alone the table goes to a temporary file, @path, which is changed to its name. */
static int open_output(struct session *s, char *path)
{
	int fd;

	s->path = s->words->output;
	if (s->path) {
		s->file = fopen(s->path, "we");
	} else if (s->words->plot) {
		s->path = path;
		fd = mkostemp(path, O_CLOEXEC);
		s->file = fd < 0 ? NULL : fdopen(fd, "w");
	} else {
		s->file = stdout;
	}
	return s->file ? STATUS_OK : complain_output(s->path);
}

/* A failed write to standard output is reported by main(). */
static int close_output(struct session *s)
{
	if (s->file == stdout)
		return STATUS_OK;
	if (fflush(s->file) || ferror(s->file))
		return complain_output(s->path);
	return STATUS_OK;
}

/* A trace may have taken hours: its rows remain where they were not drawn. */
static void drop_table(const struct session *s, int status)
{
	if (status && s->records)
		complain("trace: the table is in %s", s->path);
	else
		unlink(s->path);
}

int trace_decisions(struct app *app, int argc, char **argv)
{
	struct trace_args words;
	struct session s = { .words = &words };
	char path[] = P_tmpdir "/quell-trace.XXXXXX";
	int status;

	if (app->out.json) {
		complain("trace: prints comma-separated values only, not JSON");
		return STATUS_INPUT;
	}
	status = trace_args_parse(&words, argc, argv);
	/* Before the trace, which may take hours. */
	if (!status && words.plot)
		status = find_helper(s.plotter, "trace-plot", "QUELL_TRACE_PLOT");
	if (!status && words.plot)
		status = draw(&s, "--check");
	if (!status)
		status = bpf_check_privilege("trace");
	if (!status)
		status = open_output(&s, path);
	if (!status)
		status = trace_flows(&s);
	if (!status)
		status = close_output(&s);
	if (!status && words.plot)
		status = draw(&s, s.path);
	if (s.file && s.path == path)
		drop_table(&s, status);
	if (s.file && s.file != stdout)
		fclose(s.file);
	return status;
}
