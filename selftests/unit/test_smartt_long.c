// SPDX-License-Identifier: GPL-2.0
/*
 * The integer core against the floating-point model over a million consecutive
 * ACKs of one flow: neither is ever set to the other's state, so errors could
 * add up, and do not.  If a comparison falls between the two, most often that
 * of the average round trip (exact to some 2 ns) with its target, one decreases
 * and the other does not; the next increases, decreases and limits bring them
 * together again.  Checked: both are apart, by 1/1000 of the window or in any
 * other state, in less than 2 % of the steps and never for long, and the mean
 * distance stays below 1/200 in every tenth of the run.
 *
 * The flow shares a link of 100 Gbit/s, 12 us away, with others that come and
 * go: its share of the link changes every few hundred ACKs.  The core's window
 * and the share determine queue, delay, marks (20 % to 80 % of one bandwidth-delay
 * product), losses and trimmed packets; both get the same samples.
 */
#include <stdio.h>
#include <stdlib.h>

#include "random.h"
#include "smartt_pair.h"
#include "test.h"

#define LONG_STEPS		1000000
#define CLOSE		0.001		/* of the window: one packet in a thousand */
#define LINK_BYTES_PS	12500000000ULL
#define BASE_NS		12000ULL
#define MSS		4096ULL
#define BDP_BYTES	150000ULL
#define BUFFER_BYTES	(5 * BDP_BYTES)

/* The other flows, and the time. */
struct network {
	struct random_state r;
	u64 now_ns, share_q16;
	unsigned int change;
};

struct result {
	double worst;			/* largest relative distance of the windows */
	double tenths[10];		/* its mean over each tenth of the steps */
	unsigned int apart;		/* steps in a row, up to now, at most, in all */
	unsigned int most_apart, steps_apart;
	unsigned int losses, timeouts, restarts;
};

static void others(struct network *n)
{
	if (n->change--)
		return;
	n->change = random_between(&n->r, 50, 800);
	n->share_q16 = random_between(&n->r, 0, 3) ?
		       random_magnitude(&n->r, 4096, 65536) : 65536;
}

/* The sample of the next ACK of a window of @window_bytes. */
static void sample(struct network *n, const struct pair *x, struct quell_sample *s)
{
	u64 window_bytes = x->v.window_q16 >> 16;
	u64 rate_bytes_ps = (LINK_BYTES_PS * n->share_q16) >> 16;
	u64 pipe_bytes = (BDP_BYTES * n->share_q16) >> 16;
	u64 own_bytes = quell_sub_sat_u64(window_bytes, pipe_bytes);
	u64 queue_bytes = quell_min_u64((own_bytes << 16) / n->share_q16, BUFFER_BYTES);
	u64 marked_pct = quell_sub_sat_u64(queue_bytes * 10, 2 * BDP_BYTES) * 100 /
			 (6 * BDP_BYTES);
	u64 noise_ns = random_between(&n->r, 0, 600);

	s->acked_pkts = random_between(&n->r, 1, 3);
	s->acked_bytes = s->acked_pkts * MSS;
	n->now_ns += s->acked_bytes * QUELL_NS_PER_SEC / rate_bytes_ps;
	s->now_ns = n->now_ns;
	s->rtt_ns = BASE_NS + queue_bytes * QUELL_NS_PER_SEC / LINK_BYTES_PS + noise_ns;
	s->min_rtt_ns = BASE_NS;
	s->link_bytes_ps = LINK_BYTES_PS;
	s->mss_bytes = MSS;
	s->inflight_bytes = window_bytes;
	s->flags = QUELL_S_ECN;
	if (random_between(&n->r, 0, 99) < marked_pct)
		s->marked_bytes = random_between(&n->r, 1, s->acked_pkts) * MSS;
	if (queue_bytes == BUFFER_BYTES && !random_between(&n->r, 0, 15))
		s->trimmed_bytes = MSS;
}

/* Usually an ACK; losses when the buffer is full, rarely a timeout or a pause. */
static enum event next(struct network *n, const struct quell_sample *s)
{
	if (s->rtt_ns > 5 * BASE_NS && !random_between(&n->r, 0, 63))
		return EVENT_LOSS;
	if (!random_between(&n->r, 0, 9999))
		return EVENT_RTO;
	return random_between(&n->r, 0, 19999) ? EVENT_ACK : EVENT_IDLE;
}

static void judge(const struct pair *x, struct result *result, int step)
{
	double window = x->v.window_q16 / 65536.0;
	double error = fabs(window - x->m.cwnd) / x->m.cwnd;

	result->worst = fmax(result->worst, error);
	result->tenths[step / (LONG_STEPS / 10)] += error / (LONG_STEPS / 10);
	if (same_memory_but_average(x) && error < CLOSE)
		result->apart = 0;
	else
		result->apart++;
	result->steps_apart += result->apart > 0;
	if (result->apart > result->most_apart)
		result->most_apart = result->apart;
}

static void step(struct network *n, struct pair *x, struct result *result)
{
	struct quell_sample s = { 0 };
	enum event event;

	others(n);
	sample(n, x, &s);
	event = next(n, &s);
	if (event == EVENT_IDLE) {
		s.idle_ns = random_between(&n->r, 0, 4000000);
		n->now_ns += s.idle_ns;
		s.now_ns = n->now_ns;
	}
	apply(x, event, &s);
	result->losses += event == EVENT_LOSS;
	result->timeouts += event == EVENT_RTO;
	result->restarts += event == EVENT_IDLE;
}

static void report(const char *name, const struct pair *x, const struct result *result)
{
	const struct quell_smartt_stats *st = &x->st;

	printf("# %s: windows apart by %.1e at most, by tenths of the run on average",
	       name, result->worst);
	for (int i = 0; i < 10; i++)
		printf(" %.1e", result->tenths[i]);
	printf("\n# %s: windows or other state apart in %u steps, %u in a row at most\n",
	       name, result->steps_apart, result->most_apart);
	printf("# %s: %llu fair, %llu proportional, %llu fast increases, %llu decreases, ",
	       name, st->fair_increases, st->proportional_increases, st->fast_increases,
	       st->decreases);
	printf("%llu QuickAdapts, %llu new paths, %u losses, %u timeouts, %u restarts\n",
	       st->quick_adapts, st->path_changes, result->losses, result->timeouts,
	       result->restarts);
}

static void run(struct __test_metadata *_metadata, const char *name,
		const struct quell_smartt_params *p)
{
	struct network n = { .r = { 11 }, .share_q16 = 65536, .now_ns = 1000000 };
	struct quell_sample first = {
		.link_bytes_ps = LINK_BYTES_PS, .min_rtt_ns = BASE_NS, .mss_bytes = MSS,
		.now_ns = n.now_ns,
	};
	struct result result = { 0 };
	struct pair x = { .p = *p };
	double most = 0;
	int i;

	start_pair(&x, &first);
	for (i = 0; i < LONG_STEPS; i++) {
		step(&n, &x, &result);
		judge(&x, &result, i);
	}
	for (i = 0; i < 10; i++)
		most = fmax(most, result.tenths[i]);
	report(name, &x, &result);
	expect(most < 5 * CLOSE, "%s_windows_do_not_drift", name);
	expect(result.steps_apart < LONG_STEPS / 50 && result.most_apart < 3000, "%s_meet_again",
	       name);
	expect(x.st.fair_increases > 10000 && x.st.proportional_increases > 10000 &&
		       x.st.fast_increases > 1000 && x.st.decreases > 10000 &&
		       x.st.quick_adapts > 100 && x.st.path_changes > 1000 && result.losses > 50 &&
		       result.timeouts > 50 && result.restarts > 20,
	       "%s_every_case_met", name);
}

/* The preset nscc. */
static void params_nscc(struct quell_smartt_params *p)
{
	p->target_delay_ns = 12000;
	p->fi_pkts_q16 = 5 * 65536;
	p->pi_pkts_q16 = 4 * 65536;
	p->pi_fair = 0;
	p->eta_pkts_q16 = 9830;
	p->fast_q16 = 16384;
	p->md_queueing = 1;
	p->qa_low_q16 = 8192;
	p->ignore_marked = 1;
	p->ignore_delay = 0;
	p->batch_pkts = 8;
}

TEST(long_runs)
{
	struct quell_smartt_params p;

	quell_core_params_default(&quell_smartt_core, &p);
	run(_metadata, "defaults", &p);
	p.batch_pkts = 65535;
	run(_metadata, "batch", &p);
	quell_core_params_default(&quell_smartt_core, &p);
	params_nscc(&p);
	run(_metadata, "nscc", &p);
}

TEST_HARNESS_MAIN
