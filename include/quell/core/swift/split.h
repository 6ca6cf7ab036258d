/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Swift with separate delays for the fabric and for the remote host.
 *
 * A receiver with busy processors acknowledges late.  <quell/core/swift/react.h> has
 * only one delay and mistakes this for a queue in the network, so the flow yields to
 * traffic that does not exist.  Where the receiver reports how long it held a packet,
 * each delay has a target and a window of its own, and both windows follow the
 * same rules:
 *
 *	on an ACK with round-trip time `rtt' of which `remote' was spent in the
 *	remote host:
 *		fabric window: Swift with delay = rtt - remote and Swift's target
 *		host window:   Swift with delay = remote and host_target
 *	on fast retransmit, on a timeout, after idle time:
 *		both windows, each as Swift
 *	always:
 *		window = min(fabric window, host window)
 *
 * The probabilistic parameter skips decreases of the fabric's window only.
 *
 * "Once per round trip" means the whole round-trip time for both windows, counted from
 * each window's own last decrease.  A window that is at least twice the other does not
 * limit the flow; the ACKs do not show whether the path could carry it, so it does not
 * grow (as for an application-limited flow, RFC 7661).
 *
 * The host's window starts as a copy of the fabric's window when the receiver first reports a
 * delay.  Before that, and with host_target = 0, the algorithm is identical to Swift.
 *
 * The algorithm ignores the same signals and expects the same of the network as Swift; in addition
 * it needs a receiver that echoes how long it held the acknowledged packet (the Quell option).
 *
 * Papers: Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
 * Datacenter", SIGCOMM 2020.  Documentation/swift.md lists the deviations from that paper.
 */
#ifndef _QUELL_CORE_SWIFT_SPLIT_H
#define _QUELL_CORE_SWIFT_SPLIT_H

#include <quell/core/swift/undo.h>

/* A window at least this many times the other window does not grow. */
#define QUELL_SWIFT_SPLIT_UNUSED	2
/* Further flags in quell_swift_split_vars.fabric.flags, beside QUELL_SWIFT_F_* */
#define QUELL_SWIFT_SPLIT_F_HOST	0x4 /* the host has a window */
#define QUELL_SWIFT_SPLIT_F_DECREASED	0x8 /* host_decrease_ns is valid */

/* The host's fields are valid only with QUELL_SWIFT_SPLIT_F_HOST. */
struct quell_swift_split_vars {
	struct quell_swift_vars	fabric;	/* its window is that of the fabric */
	u64			host_window_q16;	/* of the remote host, bytes */
	u64			host_decrease_ns;	/* of the host's window */
};

/* The module's glue shares the 104 bytes of a socket's private area with this state. */
static_assert(sizeof(struct quell_swift_split_vars) <= 64);

/* core.h explains the counters. */
struct quell_swift_split_stats {
	struct quell_swift_stats	swift;
	u64				unused;
	u64				host_decreases;
	u64				host_held;
	u64				host_limited;
};

static inline bool quell_swift_split_has_host(const struct quell_swift_split_vars *v)
{
	return v->fabric.flags & QUELL_SWIFT_SPLIT_F_HOST;
}

/* The state of the host's window in the form that the functions of Swift take. */
static inline struct quell_swift_vars
quell_swift_split_host(const struct quell_swift_split_vars *v)
{
	struct quell_swift_vars host = v->fabric;

	host.window_q16 = v->host_window_q16;
	host.last_decrease_ns = v->host_decrease_ns;
	host.flags &= ~(QUELL_SWIFT_F_DECREASED | QUELL_SWIFT_F_DISREGARDED);
	if (v->fabric.flags & QUELL_SWIFT_SPLIT_F_DECREASED)
		host.flags |= QUELL_SWIFT_F_DECREASED;
	return host;
}

/* Store the host's window and decrease time that the functions of Swift computed. */
static inline void quell_swift_split_keep(struct quell_swift_split_vars *v,
					  const struct quell_swift_vars *host)
{
	v->host_window_q16 = host->window_q16;
	v->host_decrease_ns = host->last_decrease_ns;
	if (host->flags & QUELL_SWIFT_F_DECREASED)
		v->fabric.flags |= QUELL_SWIFT_SPLIT_F_DECREASED;
}

/*
 * Create the host's window when the receiver first reports a delay; remove it when the
 * administrator sets the host's target to 0.
 */
static inline void quell_swift_split_observe(struct quell_swift_split_vars *v,
					     const struct quell_swift_params *p,
					     const struct quell_sample *s)
{
	if (quell_swift_split_has_host(v)) {
		if (!p->host_target_ns)
			v->fabric.flags &= ~QUELL_SWIFT_SPLIT_F_HOST;
	} else if (s->remote_ns && s->rtt_ns && p->host_target_ns) {
		v->host_window_q16 = v->fabric.window_q16;
		v->fabric.flags &= ~QUELL_SWIFT_SPLIT_F_DECREASED;
		v->fabric.flags |= QUELL_SWIFT_SPLIT_F_HOST;
	}
}

/* Whether @window_q16 limits the flow, or may do so soon. */
static inline bool quell_swift_split_is_used(u64 window_q16, u64 other_q16)
{
	return window_q16 < other_q16 * QUELL_SWIFT_SPLIT_UNUSED;
}

/* The fabric's delay is below its target: grow the fabric's window if it is in use. */
static inline void quell_swift_split_fabric_grows(struct quell_swift_split_vars *v,
						  struct quell_swift_split_stats *st,
						  const struct quell_sample *s, u64 step_q16)
{
	if (quell_swift_split_is_used(v->fabric.window_q16, v->host_window_q16)) {
		quell_swift_uncongested(&v->fabric, &st->swift, s, step_q16);
	} else {
		quell_swift_recovered(&v->fabric, s);
		st->unused++;
	}
}

/* The host's delay is below its target, and the host's window is in use: grow it. */
static inline void quell_swift_split_host_grows(struct quell_swift_split_vars *v,
						const struct quell_sample *s, u64 step_q16)
{
	if (s->flags & QUELL_S_APP_LIMITED)
		return;
	v->host_window_q16 = quell_grow_window_q16(v->host_window_q16, step_q16, s->acked_bytes,
						   v->fabric.mss_bytes);
}

/* The host's delay is at or above its target: decrease the host's window. */
static inline void quell_swift_split_host_shrinks(struct quell_swift_split_vars *v,
						  const struct quell_swift_params *p,
						  struct quell_swift_split_stats *st,
						  const struct quell_sample *s, u64 host_ns)
{
	struct quell_swift_vars host = quell_swift_split_host(v);

	if (!quell_swift_congested(&host, p, s, host_ns, p->host_target_ns)) {
		st->host_held++;
		return;
	}
	quell_swift_split_keep(v, &host);
	st->host_decreases++;
}

/*
 * Apply each delay to its window.  The remote host may have caused a loss, too, so the
 * loss state persists while the host's delay is at or above its target.
 */
static inline void quell_swift_split_react(struct quell_swift_split_vars *v,
					   const struct quell_swift_params *p,
					   struct quell_swift_split_stats *st,
					   const struct quell_sample *s, u64 target_ns)
{
	bool used = quell_swift_split_is_used(v->host_window_q16, v->fabric.window_q16);
	u64 host_ns = quell_min_u64(s->remote_ns, s->rtt_ns);
	u64 fabric_ns = s->rtt_ns - host_ns;
	u64 step_q16 = quell_swift_fit_step_q16(&v->fabric, p, s);
	u16 lost = v->fabric.flags & QUELL_SWIFT_F_LOSS;

	if (fabric_ns < target_ns)
		quell_swift_split_fabric_grows(v, st, s, step_q16);
	else if (quell_swift_disregards(&v->fabric, p, s))
		st->swift.disregarded++;
	else if (quell_swift_congested(&v->fabric, p, s, fabric_ns, target_ns))
		st->swift.decreases++;
	else
		st->swift.held++;
	if (host_ns >= p->host_target_ns) {
		v->fabric.flags |= lost;
		quell_swift_split_host_shrinks(v, p, st, s, host_ns);
	} else if (used) {
		quell_swift_split_host_grows(v, s, step_q16);
	}
}

/* Clamp both windows; the flow uses the smaller one. */
static inline void quell_swift_split_decide(struct quell_swift_split_vars *v,
					    const struct quell_swift_params *p,
					    u64 target_ns, struct quell_decision *out)
{
	u64 fabric_q16 = quell_swift_limited_q16(&v->fabric, p, v->fabric.window_q16);
	u64 host_q16 = quell_swift_limited_q16(&v->fabric, p, v->host_window_q16);

	v->fabric.window_q16 = fabric_q16;
	if (quell_swift_split_has_host(v)) {
		v->host_window_q16 = host_q16;
		fabric_q16 = quell_min_u64(fabric_q16, host_q16);
	}
	quell_swift_output(&v->fabric, fabric_q16, target_ns, out);
}

static inline void quell_swift_split_init(struct quell_swift_split_vars *v,
					  const struct quell_swift_params *p,
					  const struct quell_sample *s,
					  struct quell_decision *out)
{
	v->host_window_q16 = 0;
	v->host_decrease_ns = 0;
	quell_swift_init(&v->fabric, p, s, out);
}

/*
 * remote_ns 0: the remote host reported no delay, or a delay of 0.  The target is that of the
 * fabric.
 */
static inline __flatten void quell_swift_split_on_ack(struct quell_swift_split_vars *v,
						      const struct quell_swift_params *p,
						      struct quell_swift_split_stats *st,
						      const struct quell_sample *s,
						      struct quell_decision *out)
{
	u64 target_ns;

	quell_swift_split_observe(v, p, s);
	if (!quell_swift_split_has_host(v)) {
		quell_swift_on_ack(&v->fabric, p, &st->swift, s, out);
		return;
	}
	quell_swift_observe(&v->fabric, s);
	v->fabric.rtos = 0;
	if (!s->rtt_ns)
		st->swift.no_rtt++;
	target_ns = quell_swift_target_ns(&v->fabric, p, s->hops);
	quell_swift_split_react(v, p, st, s, target_ns);
	quell_swift_split_decide(v, p, target_ns, out);
	if (out->window_q16 < v->fabric.window_q16)
		st->host_limited++;
}

static inline void quell_swift_split_on_loss(struct quell_swift_split_vars *v,
					     const struct quell_swift_params *p,
					     struct quell_swift_split_stats *st,
					     const struct quell_sample *s,
					     struct quell_decision *out)
{
	quell_swift_on_loss(&v->fabric, p, &st->swift, s, out);
	if (quell_swift_split_has_host(v)) {
		struct quell_swift_vars host = quell_swift_split_host(v);

		if (quell_swift_may_decrease(&host, s->now_ns))
			quell_swift_decrease(&host, quell_swift_loss_decrease_q24(&host, p),
					     s->now_ns);
		quell_swift_split_keep(v, &host);
	}
	quell_swift_split_decide(v, p, out->target_ns, out);
}

static inline void quell_swift_split_on_rto(struct quell_swift_split_vars *v,
					    const struct quell_swift_params *p,
					    struct quell_swift_split_stats *st,
					    const struct quell_sample *s,
					    struct quell_decision *out)
{
	quell_swift_on_rto(&v->fabric, p, &st->swift, s, out);
	if (quell_swift_split_has_host(v)) {
		struct quell_swift_vars host = quell_swift_split_host(v);

		quell_swift_rto_decrease(&host, p, s->now_ns);
		quell_swift_split_keep(v, &host);
	}
	quell_swift_split_decide(v, p, out->target_ns, out);
}

static inline void quell_swift_split_undo_note(struct quell_undo *u,
					       const struct quell_swift_split_vars *before,
					       const struct quell_swift_split_vars *after)
{
	quell_swift_undo_note(u, &before->fabric, &after->fabric);
	quell_undo_note(&u->part[1], before->host_window_q16, after->host_window_q16);
}

static inline void quell_swift_split_on_undo(struct quell_swift_split_vars *v,
					     const struct quell_swift_params *p,
					     const struct quell_sample *s,
					     const struct quell_undo *u,
					     struct quell_decision *out)
{
	quell_swift_on_undo(&v->fabric, p, s, u, out);
	if (quell_swift_split_has_host(v)) {
		struct quell_swift_vars host = quell_swift_split_host(v);

		host.window_q16 = quell_undo_given_back(&u->part[1], host.window_q16);
		quell_swift_clamp(&host, p);
		quell_swift_split_keep(v, &host);
	}
	quell_swift_split_decide(v, p, out->target_ns, out);
}

static inline void quell_swift_split_on_idle_restart(struct quell_swift_split_vars *v,
						     const struct quell_swift_params *p,
						     struct quell_swift_split_stats *st,
						     const struct quell_sample *s,
						     struct quell_decision *out)
{
	quell_swift_on_idle_restart(&v->fabric, p, &st->swift, s, out);
	if (quell_swift_split_has_host(v) && quell_is_restart(p->restart_idle_ns, s->idle_ns)) {
		struct quell_swift_vars host = quell_swift_split_host(v);
		u64 refused = 0;

		host.window_q16 = quell_swift_restart_q16(&host, p, &refused);
		quell_swift_split_keep(v, &host);
	}
	quell_swift_split_decide(v, p, out->target_ns, out);
}

#endif /* _QUELL_CORE_SWIFT_SPLIT_H */
