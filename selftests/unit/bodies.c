// SPDX-License-Identifier: GPL-2.0
/*
 * Every function of the cores, with external linkage, for test_bodies to
 * compile as each of the bodies an algorithm has.  Never run.
 */
#include <quell/core/cores.h>
#include <quell/core/dart/machine.h>
#include <quell/core/dart/set.h>
#include <quell/core/dart/share.h>
#include <quell/core/port/slots.h>
#include <quell/core/port/portload.h>
#include <quell/core/port/red.h>
#include <quell/core/port/shaper.h>
#include <quell/core/signal/clockmap.h>
#include <quell/core/signal/reps.h>
#include <quell/hops.h>

struct everything {
	struct quell_event ev;
	struct quell_sample s;
	struct quell_red_params red_params;
	struct quell_red_vars red;
	struct quell_reps reps;
	enum quell_reps_source reps_source;
	struct quell_shaper wire;
	struct quell_slots places;
	struct quell_slot place;
	struct quell_portload_params load_params;
	struct quell_portload load;
	struct quell_clockmap clock;
	struct quell_dart_params dart_params;
	struct quell_dart_arrivals arrivals;
	struct quell_dart_machine machine;
	struct quell_dasr_set set;
	struct quell_dasr_group group;
	struct quell_dasr_conn conn;
	bool marked;
};

void quell_bodies(struct everything *e);

/* A BPF program cannot call functions by pointer: it calls each event handler by name. */
#define BODY(core_)						\
static void quell_bodies_##core_(struct quell_event *ev)	\
{								\
	quell_##core_##_core_init(ev);				\
	quell_##core_##_core_on_ack(ev);			\
	quell_##core_##_core_on_loss(ev);			\
	quell_##core_##_core_on_rto(ev);			\
	quell_##core_##_core_undo_note(ev);			\
	quell_##core_##_core_on_undo(ev);			\
	quell_##core_##_core_on_idle_restart(ev);		\
}

BODY(swift)
BODY(swift_vaisf)
BODY(timely)
BODY(smartt)
BODY(dcqcn)
BODY(hpcc)
BODY(hpcc_vaisf)
BODY(dart)

/* The receiver of Dart. */
static void quell_bodies_dart_receiver(struct everything *e)
{
	struct quell_dart_machine_params machine = quell_dart_machine_params(&e->dart_params);
	struct quell_dasr_params set = quell_dart_set_params(&e->dart_params);

	e->arrivals.hosts = quell_dasr_take_most(&e->set);
	if (quell_dart_machine_is_due(&e->machine, &machine, e->s.now_ns))
		e->marked = quell_dart_machine_run(&e->machine, &machine, e->s.now_ns,
						   &e->arrivals, e->s.link_bytes_ps);
	quell_dasr_group_add(&e->group);
	quell_dasr_set_weight(&e->set, e->conn.peer->sender, e->s.hops);
	quell_dasr_data(&e->set, &set, &e->conn, e->marked, e->s.now_ns);
	quell_dasr_expire(&e->set, &set, e->s.now_ns);
	e->s.hops = quell_share_encode(quell_dasr_n_q8(&e->set, &e->conn));
	e->s.senders_q8 = quell_share_decode(e->s.hops);
	e->s.hops = quell_line_encode(e->s.link_bytes_ps);
	e->s.peer_link_bytes_ps = quell_line_decode(e->s.hops);
	quell_dasr_end(&e->set, &e->conn);
	quell_dasr_group_del(&e->set, &e->group);
}

void quell_bodies(struct everything *e)
{
	quell_bodies_swift(&e->ev);
	quell_bodies_swift_vaisf(&e->ev);
	quell_bodies_timely(&e->ev);
	quell_bodies_smartt(&e->ev);
	quell_bodies_dcqcn(&e->ev);
	quell_bodies_hpcc(&e->ev);
	quell_bodies_hpcc_vaisf(&e->ev);
	quell_bodies_dart(&e->ev);
	quell_bodies_dart_receiver(e);

	quell_red_seed(&e->red, e->s.now_ns);
	e->marked = quell_red_marks(&e->red_params, &e->red, e->s.inflight_bytes);

	quell_reps_init(&e->reps, e->s.now_ns);
	quell_reps_on_rto(&e->reps, e->s.now_ns);
	e->marked = quell_reps_echo(&e->reps, e->s.acked_pkts, e->s.hops, e->marked);
	e->s.hops = quell_reps_next(&e->reps, e->s.acked_pkts, e->marked, e->s.now_ns,
				    &e->reps_source);

	quell_shaper_restart(&e->wire, e->s.now_ns);
	quell_shaper_charge(&e->wire, e->s.link_bytes_ps, e->s.acked_bytes);
	quell_shaper_rerate(&e->wire, e->s.now_ns, e->s.rtt_ns, e->s.link_bytes_ps);
	quell_shaper_refund(&e->wire, e->s.link_bytes_ps, e->s.acked_bytes);
	e->s.now_ns = quell_shaper_ready_ns(&e->wire);
	quell_slots_reserve(&e->places, &e->place, e->s.now_ns, e->s.acked_bytes);
	quell_slots_release(&e->places, &e->place, e->s.acked_bytes);
	e->s.now_ns = quell_slots_moved_ns(&e->places, &e->place, e->s.now_ns);

	quell_portload_measure(&e->load_params, e->s.rtt_ns, e->s.link_bytes_ps);
	quell_portload_advance(&e->load, &e->load_params, e->s.now_ns);
	quell_portload_add(&e->load, e->s.acked_bytes);
	e->s.link_bytes_ps = quell_portload_q16(&e->load, &e->load_params, e->s.acked_bytes);
	e->s.acked_pkts = quell_portload_tx_units(&e->load);
	e->s.hops = quell_hops(e->s.hops);

	e->marked = quell_clockmap_add(&e->clock, e->s.now_ns, e->s.rtt_ns, &e->s.min_rtt_ns);
}
