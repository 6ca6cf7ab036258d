// SPDX-License-Identifier: GPL-2.0
/*
 * The same events through the fit to the path and a core, in user space and in its BPF object:
 * after each, variables, counters, decision, record of reductions, state of the fit and the
 * fields of observers must be equal, bit by bit.
 *
 *	replay DIR ALGORITHM...		DIR/ebpf/ALGORITHM.bpf.o, DIR/bpf/ALGORITHM_replay.bpf.o
 *
 * Parameters are the defaults in the first flow of an algorithm, then anything within the ranges;
 * "adapt" is off in every fourth.  In half of the flows samples are anything: magnitudes from 0 to
 * the largest value of each field; in the others they are like those of a path, so that the search
 * ends, the algorithm fits and gives up.  A flow begins with a start; the seed is fixed.  Then the product's own object is loaded, registered nowhere, and
 * the number of instructions that the verifier processed is printed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <quell/core/cores.h>

#include "object.h"
#include "random.h"
#include "replay.h"

#define EVENTS		40000
#define FLOW_EVENTS	200		/* before a new flow with other parameters starts */
#define SEED		0x7175656c6cULL
#define LOG_BYTES	(1 << 16)
#define LOG_STATISTICS	4		/* the kernel's BPF_LOG_STATS */

static const char * const event_names[] = {
	"start", "ACK", "loss", "timeout", "idle restart", "undo", "episode", "reduction",
};

/* How often each kind comes, of 64; in a flow like those of a path, of 256. */
static const u8 event_weights[2][REPLAY_EVENTS] = {
	{ 1, 39, 5, 4, 5, 4, 3, 3 },
	{ 0, 240, 3, 1, 2, 2, 6, 2 },
};

static int number;
static int failed;

static void result(bool ok, const char *algo, const char *what)
{
	failed |= !ok;
	printf("%sok %d - %s: %s\n", ok ? "" : "not ", ++number, algo, what);
	fflush(stdout);
}

static void draw_params(struct random_state *random, const struct quell_core *core, void *params)
{
	u32 i;

	memset(params, 0, core->params_bytes);
	for (i = 0; i < core->params_nr; i++)
		*quell_core_param(params, &core->params[i]) =
			random_magnitude(random, core->params[i].min, core->params[i].max);
	if (core->params_derive)
		core->params_derive(params);
}

/* A value like a network's, or any at all. */
static u64 draw(struct random_state *random, u64 usual_low, u64 usual_high, u64 most)
{
	switch (random_between(random, 0, 15)) {
	case 0:
		return 0;
	case 1:
		return most;
	case 2:
	case 3:
		return random_magnitude(random, 0, most);
	default:
		return random_magnitude(random, usual_low, usual_high);
	}
}

static void draw_sample(struct random_state *random, u64 *now_ns, struct quell_sample *s)
{
	memset(s, 0, sizeof(*s));
	*now_ns += draw(random, 100, 1000000, 1ULL << 50);
	s->now_ns = random_between(random, 0, 99) ? *now_ns : random_u64(random);
	s->rtt_ns = draw(random, 1000, 10000000, QUELL_U64_MAX);
	s->min_rtt_ns = draw(random, 1000, 1000000, QUELL_U64_MAX);
	s->remote_ns = draw(random, 0, 1000000, QUELL_U64_MAX);
	s->link_bytes_ps = draw(random, 1000000, 50000000000ULL, QUELL_U64_MAX);
	s->peer_link_bytes_ps = draw(random, 1000000, 50000000000ULL, QUELL_U64_MAX);
	s->acked_bytes = draw(random, 1, 65536, QUELL_U32_MAX);
	s->acked_pkts = draw(random, 1, 45, QUELL_U32_MAX);
	s->marked_bytes = random_between(random, 0, 1) ? 0 :
			  draw(random, 1, s->acked_bytes | 1, QUELL_U32_MAX);
	s->trimmed_bytes = random_between(random, 0, 7) ? 0 : draw(random, 1, 65536, QUELL_U32_MAX);
	s->lost_bytes = draw(random, 0, 65536, QUELL_U32_MAX);
	s->inflight_bytes = draw(random, 1448, 10000000, QUELL_U32_MAX);
	s->mss_bytes = draw(random, 536, 9000, 65535);
	s->mss_bytes += !s->mss_bytes;
	s->senders_q8 = draw(random, 256, 65536, QUELL_U32_MAX);
	s->hops = draw(random, 0, 6, 255);
	s->flags = random_u64(random);
	s->header_bytes = draw(random, 78, 118, 65535);
	s->telemetry.link_bytes_ps = draw(random, 1000000, 50000000000ULL, QUELL_U64_MAX);
	s->telemetry.queue_bytes = draw(random, 0, 1000000, QUELL_U32_MAX);
	s->telemetry.tx_units = random_u64(random) & QUELL_TELEMETRY_TX_MASK;
	s->telemetry.time_ns = random_u64(random) & QUELL_TELEMETRY_TIME_MASK;
	s->telemetry.hop = random_between(random, 0, 2);
	s->idle_ns = draw(random, 1000, 100000000, QUELL_U64_MAX);
	s->other_flows = draw(random, 0, 100, QUELL_U32_MAX);
}

/* TCP's state beside a sample of anything. */
static void draw_tcp(struct random_state *random, struct fit_tcp *tcp)
{
	memset(tcp, 0, sizeof(*tcp));
	tcp->first_rtt_ns = draw(random, 1000, 10000000, 1ULL << 43);
	tcp->rto_ns = draw(random, 1000000, 1000000000, 1ULL << 43);
	tcp->delivered_bytes = draw(random, 1448, 1000000, 1ULL << 48);
	tcp->interval_us = draw(random, 10, 10000, QUELL_U32_MAX);
	tcp->snd_una = random_u64(random);
	tcp->snd_nxt = tcp->snd_una + draw(random, 1448, 1000000, QUELL_U32_MAX >> 1);
	tcp->cwnd_pkts = draw(random, 1, 1000, QUELL_U32_MAX);
	tcp->ssthresh_pkts = random_between(random, 0, 3) ? 0 :
			     draw(random, 2, 1000, QUELL_U32_MAX);
	tcp->is_full = random_between(random, 0, 3);
}

/*
 * A path: a round trip of 20 us to 1 ms, a bottleneck with a queue that grows with the
 * window, marks above a threshold, noise.  @at is the place in the sequence space.
 */
static void draw_path(struct random_state *random, const struct model *m, u32 flow, u64 *now_ns,
		      u32 *at, struct quell_sample *s, struct fit_tcp *tcp)
{
	u64 base_ns = flow % 3 ? 20000 + 5000 * (flow % 7) : 1000000;
	u64 path_bytes = flow % 2 ? 12500 * (flow % 11 + 2) : 1250000;
	u64 window_bytes = quell_min_u64(m->view.window_bytes, 1 << 24) | 1;
	u64 queue_bytes = quell_sub_sat_u64(window_bytes, path_bytes);

	*now_ns += base_ns / random_between(random, 2, 16);
	s->now_ns = *now_ns;
	s->mss_bytes = 1448;
	s->header_bytes = 90;
	s->acked_pkts = random_between(random, 1, 4);
	s->acked_bytes = s->acked_pkts * s->mss_bytes;
	s->rtt_ns = base_ns + quell_mul_div_u64(base_ns, queue_bytes, path_bytes) +
		    random_between(random, 0, flow % 4 ? 2000 : 200000);
	s->min_rtt_ns = base_ns;
	s->remote_ns = random_between(random, 0, 2000);
	s->marked_bytes = queue_bytes > path_bytes / 2 ? s->acked_bytes : 0;
	s->inflight_bytes = window_bytes;
	s->flags = random_between(random, 0, 7) ? QUELL_S_ADVANCED : QUELL_S_APP_LIMITED;
	s->idle_ns = random_between(random, 0, 2) * base_ns * 150;
	s->telemetry.hop = random_between(random, 0, 15) ? 0 : 1;
	*at += s->acked_bytes;
	tcp->first_rtt_ns = s->rtt_ns;
	tcp->rto_ns = 200 * base_ns;
	tcp->delivered_bytes = window_bytes;
	tcp->interval_us = s->rtt_ns / 1000;
	tcp->snd_una = *at;
	tcp->snd_nxt = *at + window_bytes;
	tcp->cwnd_pkts = 10;
	tcp->is_full = random_between(random, 0, 15);
}

static enum replay_event draw_event(struct random_state *random, bool path)
{
	u32 at = random_between(random, 0, path ? 255 : 63), event;

	for (event = 0; at >= event_weights[path][event]; event++)
		at -= event_weights[path][event];
	return event;
}

/* The first difference, or NULL. */
static const char *difference(const struct replay *r, const struct model *m)
{
	const struct quell_decision *d = &m->ev.decision;

	if (memcmp(r->vars, m->vars, r->core->vars_bytes))
		return "variables";
	if (r->decision->window_q16 != d->window_q16)
		return "window";
	if (r->decision->pacing_bytes_ps != d->pacing_bytes_ps)
		return "pacing rate";
	if (r->decision->target_ns != d->target_ns || r->decision->change_path != d->change_path)
		return "target or path";
	if (memcmp(r->stats, m->stats, r->core->counters_bytes))
		return "counters";
	if (memcmp(r->undo, &m->undo, sizeof(m->undo)))
		return "record of reductions";
	if (memcmp(r->adapt, &m->adapt, sizeof(m->adapt)))
		return "state of the fit";
	return memcmp(r->view, &m->view, sizeof(m->view)) ? "what observers read" : NULL;
}

/* A new flow, with other parameters; before its start both have the same state of it. */
static void begin_flow(struct replay *r, struct model *m, struct random_state *random, u32 nth)
{
	/* Flows of paths with the defaults fit, and give up, more often. */
	if (!nth || nth % 8 == 1)
		quell_core_params_default(r->core, m->params);
	else
		draw_params(random, r->core, m->params);
	*(u64 *)m->params = nth % 4 != 3;
	memset(m->vars, 0, r->core->vars_bytes);
	m->undo = (struct quell_undo) {};
	memset(&m->adapt, 0, sizeof(m->adapt));
	memset(&m->view, 0, sizeof(m->view));
	memcpy(r->params, m->params, r->core->params_bytes);
	memset(r->vars, 0, r->core->vars_bytes);
	memset(r->undo, 0, sizeof(m->undo));
	memset(r->adapt, 0, sizeof(m->adapt));
	memset(r->view, 0, sizeof(m->view));
}

/* One event in both; false when they differ, or the program did not run. */
static bool step(struct replay *r, struct model *m, enum replay_event event, u32 nth)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	const char *what;

	if (!model_takes(m, event))
		return true;
	*r->event = event;
	*r->sample = m->ev.sample;
	*r->tcp = m->tcp;
	if (bpf_prog_test_run_opts(r->program_fd, &run) || run.retval != 1) {
		printf("# event %u did not run: %s\n", nth, strerror(errno));
		return false;
	}
	model_event(m, event);
	what = difference(r, m);
	if (what)
		printf("# event %u, %s: %s differ; window %llu in user space, %llu in BPF, Q16\n",
		       nth, event_names[event], what, m->ev.decision.window_q16,
		       r->decision->window_q16);
	return !what;
}

/* Counts of each: all kinds of events, and all phases. */
struct counts {
	u32	events[REPLAY_EVENTS];
	u32	phases[QUELL_ADAPT_FALLBACK + 1];
	u32	begun;			/* times that the algorithm took over */
};

static bool counts_are_complete(const struct counts *c, const char *name, u32 events)
{
	bool complete = c->begun;
	u32 i;

	printf("# %s: %u events: %u starts, %u ACKs, %u losses, %u timeouts,", name, events,
	       c->events[0], c->events[1], c->events[2], c->events[3]);
	printf(" %u restarts, %u undone, %u episodes, %u reductions\n",
	       c->events[4], c->events[5], c->events[6], c->events[7]);
	printf("# %s: after %u the fit was off, %u the search, %u the algorithm, %u CUBIC;", name,
	       c->phases[0], c->phases[1], c->phases[2], c->phases[3]);
	printf(" the algorithm took over %u times\n", c->begun);
	for (i = 0; i < REPLAY_EVENTS; i++)
		complete = complete && c->events[i];
	for (i = 0; i <= QUELL_ADAPT_FALLBACK; i++)
		complete = complete && c->phases[i];
	return complete;
}

/* The input of the next event, of flow @flow. */
static void draw_input(struct random_state *random, struct model *m, u32 flow, u64 *now_ns, u32 *at)
{
	if (flow % 2) {
		memset(&m->ev.sample, 0, sizeof(m->ev.sample));
		memset(&m->tcp, 0, sizeof(m->tcp));
		draw_path(random, m, flow, now_ns, at, &m->ev.sample, &m->tcp);
	} else {
		draw_sample(random, now_ns, &m->ev.sample);
		draw_tcp(random, &m->tcp);
	}
	/* A round trip ends behind this, not with it. */
	if (!random_between(random, 0, 15))
		m->tcp.snd_una = m->adapt.round_seq;
}

static bool run_events(struct replay *r, struct model *m)
{
	struct random_state random = { .state = SEED };
	struct counts counts = {};
	u32 i, at = 0;
	u64 now_ns = 0;
	bool same = true;
	u8 phase;

	for (i = 0; i < EVENTS && same; i++) {
		u32 flow = i / FLOW_EVENTS;
		enum replay_event event = draw_event(&random, flow % 2);

		if (i % FLOW_EVENTS == 0) {
			begin_flow(r, m, &random, flow);
			event = REPLAY_INIT;
		}
		draw_input(&random, m, flow, &now_ns, &at);
		counts.events[event] += model_takes(m, event);
		phase = m->adapt.phase;
		same = step(r, m, event, i);
		counts.phases[m->adapt.phase]++;
		counts.begun += phase != m->adapt.phase && m->adapt.phase == QUELL_ADAPT_FIT;
	}
	return counts_are_complete(&counts, r->core->name, i) && same;
}

static void test_replay(const struct quell_core *core, const char *dir)
{
	struct replay r = { .core = core };
	struct model m = {
		.core = core,
		.vars = calloc(1, core->vars_bytes), .before = calloc(1, core->vars_bytes),
		.stats = calloc(1, core->counters_bytes), .params = calloc(1, core->params_bytes),
	};
	char path[4096];
	bool opened;

	snprintf(path, sizeof(path), "%s/bpf/%s_replay.bpf.o", dir, core->name);
	opened = m.vars && m.before && m.stats && m.params && replay_open(&r, path);
	result(opened && run_events(&r, &m), core->name,
	       "random events leave the same in user space and in BPF");
	replay_close(&r);
	free(m.vars);
	free(m.before);
	free(m.stats);
	free(m.params);
}

/* Instructions that the verifier went through; 0 if the log has no number. */
static unsigned long verified_insns(const struct bpf_program *program)
{
	size_t bytes;
	const char *log = bpf_program__log_buf(program, &bytes);
	const char *line = log ? strstr(log, "processed ") : NULL;

	return line ? strtoul(line + strlen("processed "), NULL, 10) : 0;
}

static void test_load(const struct quell_core *core, const char *dir)
{
	struct bpf_program *program;
	struct bpf_object *object;
	char path[4096];
	bool loaded;

	snprintf(path, sizeof(path), "%s/ebpf/%s.bpf.o", dir, core->name);
	object = bpf_object__open(path);
	if (object)
		bpf_object__for_each_program(program, object) {
			bpf_program__set_log_buf(program, calloc(1, LOG_BYTES), LOG_BYTES);
			bpf_program__set_log_level(program, LOG_STATISTICS);
		}
	loaded = object && !bpf_object__load(object);
	result(loaded, core->name, "the verifier accepts the object");
	if (object)
		bpf_object__for_each_program(program, object) {
			size_t bytes;

			printf("# %s: %s: %lu instructions verified\n", core->name,
			       bpf_program__name(program), verified_insns(program));
			free((void *)bpf_program__log_buf(program, &bytes));
		}
	bpf_object__close(object);
}

int main(int argc, char **argv)
{
	const char *reason = excuse();
	const struct quell_core *core;
	int i;

	libbpf_set_print(print_nothing);
	printf("TAP version 13\n");
	if (reason) {
		printf("1..0 # SKIP %s\nok 1 - bpf # SKIP %s\n", reason, reason);
		return 0;
	}
	printf("1..%d\n", 2 * (argc - 2));
	for (i = 2; i < argc; i++) {
		core = quell_core_find(argv[i]);
		if (!core) {
			fprintf(stderr, "replay: no algorithm %s\n", argv[i]);
			return 2;
		}
		test_replay(core, argv[1]);
		test_load(core, argv[1]);
	}
	return failed;
}
