// SPDX-License-Identifier: GPL-2.0
/*
 * Every function of the cores, reachable from outside, for test_bodies to
 * compile as each of the bodies an algorithm has.  Never run.
 */
#include <quell/core/clockmap.h>
#include <quell/core/dcqcn.h>
#include <quell/core/hpcc.h>
#include <quell/core/hpcc_vaisf.h>
#include <quell/core/portload.h>
#include <quell/core/red.h>
#include <quell/core/reps.h>
#include <quell/core/shaper.h>
#include <quell/core/smartt.h>
#include <quell/core/swift.h>
#include <quell/core/swift_split.h>
#include <quell/core/swift_vaisf.h>
#include <quell/core/timely.h>
#include <quell/hops.h>

struct everything {
	struct quell_swift_params p;
	struct quell_swift_vars v;
	struct quell_swift_stats st;
	struct quell_swift_split_vars split;
	struct quell_swift_split_stats split_stats;
	struct quell_swift_vaisf_params vaisf_params;
	struct quell_swift_vaisf_vars vaisf;
	struct quell_swift_vaisf_stats vaisf_stats;
	struct quell_timely_params timely_params;
	struct quell_timely_vars timely;
	struct quell_timely_stats timely_stats;
	struct quell_sample s;
	struct quell_decision out;
	struct quell_undo undo;
	struct quell_dcqcn_params dcqcn_params;
	struct quell_dcqcn_vars dcqcn;
	struct quell_dcqcn_stats dcqcn_stats;
	struct quell_hpcc_params hpcc_params;
	struct quell_hpcc_vars hpcc;
	struct quell_hpcc_stats hpcc_stats;
	struct quell_hpcc_vaisf_params hpcc_vaisf_params;
	struct quell_hpcc_vaisf_vars hpcc_vaisf;
	struct quell_hpcc_vaisf_stats hpcc_vaisf_stats;
	struct quell_smartt_params smartt_params;
	struct quell_smartt_vars smartt;
	struct quell_smartt_stats smartt_stats;
	struct quell_red_params red_params;
	struct quell_red_vars red;
	struct quell_reps reps;
	enum quell_reps_source reps_source;
	struct quell_shaper wire;
	struct quell_portload_params load_params;
	struct quell_portload load;
	struct quell_clockmap clock;
	bool marked;
};

void quell_bodies(struct everything *e);

static void quell_bodies_swift_split(struct everything *e)
{
	quell_swift_split_init(&e->split, &e->p, e->s.link_bytes_ps, e->s.min_rtt_ns,
			       e->s.mss_bytes, e->s.now_ns, &e->out);
	quell_swift_split_on_ack(&e->split, &e->p, &e->split_stats, &e->s, &e->out);
	quell_swift_split_on_loss(&e->split, &e->p, &e->split_stats, &e->s, &e->out);
	quell_swift_split_on_rto(&e->split, &e->p, &e->split_stats, &e->s, &e->out);
	quell_swift_split_undo_note(&e->undo, &e->split, &e->split);
	quell_swift_split_on_undo(&e->split, &e->p, &e->s, &e->undo, &e->out);
	quell_swift_split_on_idle_restart(&e->split, &e->p, &e->split_stats, &e->s,
					  e->s.rtt_ns, &e->out);
}

static void quell_bodies_timely(struct everything *e)
{
	quell_timely_params_default(&e->timely_params);
	quell_timely_init(&e->timely, &e->timely_params, e->s.link_bytes_ps, e->s.min_rtt_ns,
			  e->s.mss_bytes, e->s.acked_pkts, e->s.now_ns, &e->out);
	quell_timely_on_ack(&e->timely, &e->timely_params, &e->timely_stats, &e->s, &e->out);
	quell_timely_on_loss(&e->timely, &e->timely_params, &e->timely_stats, &e->s, &e->out);
	quell_timely_on_rto(&e->timely, &e->timely_params, &e->timely_stats, &e->s, &e->out);
	quell_timely_undo_note(&e->undo, &e->timely, &e->timely);
	quell_timely_on_undo(&e->timely, &e->timely_params, &e->s, &e->undo, &e->out);
	quell_timely_on_idle_restart(&e->timely, &e->timely_params, &e->timely_stats, &e->s,
				     e->s.acked_pkts, e->s.rtt_ns, &e->out);
	e->s.acked_pkts = quell_timely_segment_pkts(&e->timely_params, e->s.mss_bytes);
}

static void quell_bodies_hpcc(struct everything *e)
{
	quell_hpcc_params_default(&e->hpcc_params);
	quell_hpcc_init(&e->hpcc, &e->hpcc_params, e->marked, e->s.link_bytes_ps,
			e->s.min_rtt_ns, e->s.mss_bytes, e->s.now_ns, &e->out);
	quell_hpcc_on_ack(&e->hpcc, &e->hpcc_params, &e->hpcc_stats, &e->s, &e->out);
	quell_hpcc_on_loss(&e->hpcc, &e->hpcc_params, &e->hpcc_stats, &e->s, &e->out);
	quell_hpcc_on_rto(&e->hpcc, &e->hpcc_params, &e->hpcc_stats, &e->s, &e->out);
	quell_hpcc_undo_note(&e->undo, &e->hpcc, &e->hpcc);
	quell_hpcc_on_undo(&e->hpcc, &e->hpcc_params, &e->s, &e->undo, &e->out);
	quell_hpcc_on_idle_restart(&e->hpcc, &e->hpcc_params, &e->hpcc_stats, &e->s,
				   e->s.rtt_ns, &e->out);
}

static void quell_bodies_hpcc_vaisf(struct everything *e)
{
	quell_hpcc_vaisf_params_default(&e->hpcc_vaisf_params);
	quell_hpcc_vaisf_init(&e->hpcc_vaisf, &e->hpcc_vaisf_params, e->marked,
			      e->s.link_bytes_ps, e->s.min_rtt_ns, e->s.mss_bytes,
			      e->s.now_ns, &e->out);
	quell_hpcc_vaisf_on_ack(&e->hpcc_vaisf, &e->hpcc_vaisf_params, &e->hpcc_vaisf_stats,
				&e->s, &e->out);
	quell_hpcc_vaisf_on_loss(&e->hpcc_vaisf, &e->hpcc_vaisf_params, &e->hpcc_vaisf_stats,
				 &e->s, &e->out);
	quell_hpcc_vaisf_on_rto(&e->hpcc_vaisf, &e->hpcc_vaisf_params, &e->hpcc_vaisf_stats,
				&e->s, &e->out);
	quell_hpcc_vaisf_undo_note(&e->undo, &e->hpcc_vaisf, &e->hpcc_vaisf);
	quell_hpcc_vaisf_on_undo(&e->hpcc_vaisf, &e->hpcc_vaisf_params, &e->s, &e->undo, &e->out);
	quell_hpcc_vaisf_on_idle_restart(&e->hpcc_vaisf, &e->hpcc_vaisf_params,
					 &e->hpcc_vaisf_stats, &e->s, e->s.rtt_ns, &e->out);
}

void quell_bodies(struct everything *e)
{
	quell_swift_params_default(&e->p);
	quell_swift_init(&e->v, &e->p, e->s.link_bytes_ps, e->s.min_rtt_ns,
			 e->s.mss_bytes, e->s.now_ns, &e->out);
	quell_swift_on_ack(&e->v, &e->p, &e->st, &e->s, &e->out);
	quell_swift_on_loss(&e->v, &e->p, &e->st, &e->s, &e->out);
	quell_swift_on_rto(&e->v, &e->p, &e->st, &e->s, &e->out);
	quell_swift_undo_note(&e->undo, &e->v, &e->v);
	quell_swift_on_undo(&e->v, &e->p, &e->s, &e->undo, &e->out);
	quell_swift_on_idle_restart(&e->v, &e->p, &e->st, &e->s, e->s.rtt_ns, &e->out);

	quell_dcqcn_params_default(&e->dcqcn_params);
	quell_dcqcn_init(&e->dcqcn, &e->dcqcn_params, e->marked, e->s.link_bytes_ps,
			 e->s.min_rtt_ns, e->s.mss_bytes, e->s.now_ns, &e->out);
	quell_dcqcn_on_ack(&e->dcqcn, &e->dcqcn_params, &e->dcqcn_stats, &e->s, &e->out);
	quell_dcqcn_on_loss(&e->dcqcn, &e->dcqcn_params, &e->dcqcn_stats, &e->s, &e->out);
	quell_dcqcn_on_rto(&e->dcqcn, &e->dcqcn_params, &e->dcqcn_stats, &e->s, &e->out);
	quell_dcqcn_undo_note(&e->undo, &e->dcqcn, &e->dcqcn);
	quell_dcqcn_on_undo(&e->dcqcn, &e->dcqcn_params, &e->s, &e->undo, &e->out);
	quell_dcqcn_on_idle_restart(&e->dcqcn, &e->dcqcn_params, &e->dcqcn_stats, &e->s,
				    e->s.rtt_ns, &e->out);

	quell_swift_vaisf_params_default(&e->vaisf_params);
	quell_swift_vaisf_init(&e->vaisf, &e->vaisf_params, e->s.link_bytes_ps,
			       e->s.min_rtt_ns, e->s.mss_bytes, e->s.now_ns, &e->out);
	quell_swift_vaisf_on_ack(&e->vaisf, &e->vaisf_params, &e->vaisf_stats, &e->s, &e->out);
	quell_swift_vaisf_on_loss(&e->vaisf, &e->vaisf_params, &e->vaisf_stats, &e->s, &e->out);
	quell_swift_vaisf_on_rto(&e->vaisf, &e->vaisf_params, &e->vaisf_stats, &e->s, &e->out);
	quell_swift_vaisf_undo_note(&e->undo, &e->vaisf, &e->vaisf);
	quell_swift_vaisf_on_undo(&e->vaisf, &e->vaisf_params, &e->s, &e->undo, &e->out);
	quell_swift_vaisf_on_idle_restart(&e->vaisf, &e->vaisf_params, &e->vaisf_stats, &e->s,
					  e->s.rtt_ns, &e->out);

	quell_bodies_swift_split(e);
	quell_bodies_timely(e);
	quell_bodies_hpcc(e);
	quell_bodies_hpcc_vaisf(e);

	quell_smartt_params_default(&e->smartt_params);
	quell_smartt_init(&e->smartt, &e->smartt_params, e->s.link_bytes_ps,
			  e->s.min_rtt_ns, e->s.mss_bytes, e->s.now_ns, &e->out);
	quell_smartt_on_ack(&e->smartt, &e->smartt_params, &e->smartt_stats, &e->s, &e->out);
	quell_smartt_on_loss(&e->smartt, &e->smartt_params, &e->smartt_stats, &e->s, &e->out);
	quell_smartt_on_rto(&e->smartt, &e->smartt_params, &e->smartt_stats, &e->s, &e->out);
	quell_smartt_undo_note(&e->undo, &e->smartt, &e->smartt);
	quell_smartt_on_undo(&e->smartt, &e->smartt_params, &e->s, &e->undo, &e->out);
	quell_smartt_on_idle_restart(&e->smartt, &e->smartt_params, &e->smartt_stats, &e->s,
				     e->s.rtt_ns, &e->out);

	quell_red_seed(&e->red, e->s.now_ns);
	e->marked = quell_red_marks(&e->red_params, &e->red, e->s.inflight_bytes);

	quell_reps_init(&e->reps, e->s.now_ns);
	quell_reps_on_rto(&e->reps, e->s.now_ns);
	e->marked = quell_reps_echo(&e->reps, e->s.acked_pkts, e->s.hops, e->marked);
	e->s.hops = quell_reps_next(&e->reps, e->s.acked_pkts, e->marked, e->s.now_ns,
				    &e->reps_source);

	quell_shaper_wake(&e->wire, e->s.now_ns);
	quell_shaper_charge(&e->wire, e->s.link_bytes_ps, e->s.acked_bytes);
	quell_shaper_rerate(&e->wire, e->s.now_ns, e->s.rtt_ns, e->s.link_bytes_ps);
	e->s.now_ns = quell_shaper_ready_ns(&e->wire);

	quell_portload_measure(&e->load_params, e->s.rtt_ns, e->s.link_bytes_ps);
	quell_portload_advance(&e->load, &e->load_params, e->s.now_ns);
	quell_portload_add(&e->load, e->s.acked_bytes);
	e->s.link_bytes_ps = quell_portload_q16(&e->load, &e->load_params, e->s.acked_bytes);
	e->s.acked_pkts = quell_portload_tx_units(&e->load);
	e->s.hops = quell_hops(e->s.hops);

	e->marked = quell_clockmap_add(&e->clock, e->s.now_ns, e->s.rtt_ns, &e->s.min_rtt_ns);
}
