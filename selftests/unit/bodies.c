// SPDX-License-Identifier: GPL-2.0
/*
 * Every function of the Swift core, reachable from outside, for test_bodies to
 * compile as each of the bodies an algorithm has.  Never run.
 */
#include <quell/core/swift.h>

struct everything {
	struct quell_swift_params p;
	struct quell_swift_vars v;
	struct quell_swift_stats st;
	struct quell_sample s;
	struct quell_decision out;
};

void quell_bodies(struct everything *e);

void quell_bodies(struct everything *e)
{
	quell_swift_params_default(&e->p);
	quell_swift_init(&e->v, &e->p, e->s.link_bytes_ps, e->s.min_rtt_ns,
			 e->s.mss_bytes, e->s.now_ns, &e->out);
	quell_swift_on_ack(&e->v, &e->p, &e->st, &e->s, &e->out);
	quell_swift_on_loss(&e->v, &e->p, &e->st, &e->s, &e->out);
	quell_swift_on_rto(&e->v, &e->p, &e->st, &e->s, &e->out);
	quell_swift_on_idle_restart(&e->v, &e->p, &e->st, &e->s, e->s.rtt_ns, &e->out);
}
