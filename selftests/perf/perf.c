// SPDX-License-Identifier: GPL-2.0
/*
 * The program under measurement.
 *
 *	perf list			cores, state bytes and function; traffics
 *	perf run CORE TRAFFIC ACKS	feed ACKS ACKs, for a tool that counts instructions
 *	perf time TRAFFIC ACKS ROUNDS	nanoseconds per ACK of every core
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "traffic.h"

struct step {
	struct quell_sample s;
	bool lost;
};

static void list(void)
{
	const struct perf_core *core;
	const struct traffic *t;

	for (core = perf_cores(); core->core; core++)
		printf("core %s %u quell_%s_core_on_ack\n", core->name, core->core->vars_bytes,
		       core->core->name);
	for (t = traffics; t->name; t++)
		printf("traffic %s %s\n", t->name, t->what);
}

/* @steps: where to record samples and losses, or NULL */
static void run(const struct perf_core *core, const struct traffic *t, unsigned long acks,
		struct step *steps, struct traffic_state *state)
{
	struct perf_flow f;
	unsigned long i;

	traffic_start(state, t);
	perf_flow_start(&f, core);
	for (i = 0; i < acks; i++) {
		bool lost = traffic_next(state, &f);

		f.ev.sample.remote_ns = core->remote_ns;
		if (steps) {
			steps[i].s = f.ev.sample;
			steps[i].lost = lost;
		}
		if (lost)
			core->core->on_loss(&f.ev);
		core->core->on_ack(&f.ev);
	}
}

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Replay the recorded steps; return the time per ACK. */
static double replay_ns(const struct perf_core *core, const struct step *steps,
			unsigned long acks)
{
	unsigned long long start_ns;
	struct perf_flow f;
	unsigned long i;

	perf_flow_start(&f, core);
	start_ns = now_ns();
	for (i = 0; i < acks; i++) {
		f.ev.sample = steps[i].s;
		if (steps[i].lost)
			core->core->on_loss(&f.ev);
		core->core->on_ack(&f.ev);
	}
	return (double)(now_ns() - start_ns) / acks;
}

/* Cores take turns in each round, and the best round of each counts: noise only adds. */
static int time_all(const struct traffic *t, unsigned long acks, unsigned int rounds)
{
	struct { struct step *steps; double best_ns; } result[64];
	const struct perf_core *core, *all = perf_cores();
	struct traffic_state state;
	unsigned int round;

	for (core = all; core->core; core++) {
		result[core - all].best_ns = 1e9;
		result[core - all].steps = calloc(acks, sizeof(struct step));
		if (!result[core - all].steps)
			return 1;
		run(core, t, acks, result[core - all].steps, &state);
	}
	for (round = 0; round < rounds; round++)
		for (core = all; core->core; core++) {
			double ns = replay_ns(core, result[core - all].steps, acks);

			if (ns < result[core - all].best_ns)
				result[core - all].best_ns = ns;
		}
	for (core = all; core->core; core++) {
		printf("time %s %s %.2f\n", core->name, t->name,
		       result[core - all].best_ns);
		free(result[core - all].steps);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct perf_core *core = argc == 5 ? perf_core_find(argv[2]) : NULL;
	const struct traffic *t = argc == 5 ? traffic_find(argv[3]) : NULL;
	struct traffic_state state;
	unsigned long acks;

	if (argc == 2 && !strcmp(argv[1], "list")) {
		list();
		return 0;
	}
	if (argc == 5 && !strcmp(argv[1], "time")) {
		t = traffic_find(argv[2]);
		acks = strtoul(argv[3], NULL, 10);
		if (t && acks)
			return time_all(t, acks, strtoul(argv[4], NULL, 10));
	}
	if (argc == 5 && !strcmp(argv[1], "run") && core && t) {
		acks = strtoul(argv[4], NULL, 10);
		if (acks) {
			run(core, t, acks, NULL, &state);
			printf("traffic %lu ACKs, mean RTT %.0f ns, %llu marked, %llu losses\n",
			       acks, state.rtt_sum_ns / acks, state.marked, state.losses);
			return 0;
		}
	}
	fprintf(stderr, "usage: perf list | run CORE TRAFFIC ACKS | time TRAFFIC ACKS ROUNDS\n");
	return 2;
}
