/* SPDX-License-Identifier: GPL-2.0 */
/* One flow of HPCC, for its table-driven tests. */
#ifndef _QUELL_TEST_HPCC_FLOW_FIXTURE_H
#define _QUELL_TEST_HPCC_FLOW_FIXTURE_H

#include <quell/core/hpcc/core.h>

#include "hpcc_fixture.h"

struct fixture {
	struct quell_hpcc_params p;
	struct quell_hpcc_vars v;
	struct quell_hpcc_stats st;
	struct quell_sample s;
	struct quell_decision out;
};

/* A new flow; eta is 0.75, so that fractions are exact. */
static inline void fixture_init(struct fixture *f, bool telemetry)
{
	memset(f, 0, sizeof(*f));
	quell_core_params_default(&quell_hpcc_core, &f->p);
	f->p.eta_q16 = 49152;
	sample_start(&f->s);
	f->s.flags = telemetry ? QUELL_S_TELEMETRY : 0;
	quell_hpcc_init(&f->v, &f->p, &f->s, &f->out);
}

/* A flow in the middle of a round trip with a reference of 20000 bytes and a record. */
static inline void fixture_start(struct fixture *f)
{
	fixture_init(f, true);
	quell_hpcc_on_ack(&f->v, &f->p, &f->st, &f->s, &f->out);
	f->v.window_q16 = q16(20000);
	f->v.round_bytes = 20000;
	memset(&f->st, 0, sizeof(f->st));
}

static inline void fixture_ack(struct fixture *f)
{
	quell_hpcc_on_ack(&f->v, &f->p, &f->st, &f->s, &f->out);
}

/* An ACK that makes U @percent / 100. */
static inline void fixture_util(struct fixture *f, u32 percent)
{
	sample_util(&f->s, percent);
	f->v.queue_bytes = f->s.telemetry.queue_bytes;
	fixture_ack(f);
}

#endif /* _QUELL_TEST_HPCC_FLOW_FIXTURE_H */
