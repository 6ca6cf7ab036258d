// SPDX-License-Identifier: GPL-2.0
/*
 * quell trace: each decision of congestion control, as a table.
 *
 * Attachments and maps belong to this process alone, so the kernel frees them however it ends.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
	uint64_t			records;
	uint64_t			end_ns;	/* 0: no limit */
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	interrupted = 1;
}

/*
 * A second signal ends the program at once, should it hang. nohup lets it ignore SIGHUP; SIGINT is
 * ignored in each job that a shell started with "&".
 */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESETHAND }, old;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN)
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

static int complain_output(const char *path)
{
	return complain_fault("trace: cannot write %s: %s", path, strerror(errno));
}

/* A file is truncated once the tracer is attached: an earlier trace outlives a mistake. */
static int open_output(struct session *s)
{
	s->file = s->words->output ? fopen(s->words->output, "we") : stdout;
	return s->file ? STATUS_OK : complain_output(s->words->output);
}

/* The header is printed when the tracer is attached: a reader can rely on it. */
static int trace_flows(struct session *s)
{
	struct trace_code code;
	uint64_t now;
	int status;

	status = trace_code_open(&code, s->words) ?: trace_code_attach(&code, take_record, s) ?:
		 open_output(s);
	if (!status) {
		trace_csv_header(s->file);
		fflush(s->file);
		now = now_ns();
		if (s->words->for_ns)
			s->end_ns = s->words->for_ns < UINT64_MAX - now ?
				    now + s->words->for_ns : UINT64_MAX;
		catch_signals();
		status = follow(&code, s);
		trace_code_detach(&code);
		ring_buffer__consume(code.ring);
		print_summary(&code, s);
	}
	trace_code_close(&code);
	return status;
}

int trace_decisions(struct app *app, int argc, char **argv)
{
	struct trace_args words;
	struct session s = { .words = &words };
	int status;

	if (app->out.json)
		return complain("trace: prints comma-separated values only, not JSON");
	status = trace_args_parse(&words, argc, argv) ?: bpf_check_privilege("trace");
	if (status)
		return status;
	status = trace_flows(&s);
	/* A failed write to standard output is reported by main(). */
	if (!status && words.output && (fflush(s.file) || ferror(s.file)))
		status = complain_output(words.output);
	if (words.output && s.file)
		fclose(s.file);
	return status;
}
