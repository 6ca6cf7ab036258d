// SPDX-License-Identifier: GPL-2.0
/*
 * swport: the egress port of a datacenter switch, as a classless qdisc.
 *
 * Two bands.  Control (pure ACKs, ARP and neighbour discovery, network control) has priority and
 * its own limit: feedback is neither lost nor delayed by the data that it reports on.  While data
 * is queued, control has at most `control-share' of the wire.
 *
 * Data is a FIFO with a limit in bytes and ECN by RED on its instantaneous length.  A packet that
 * does not fit is dropped, or trimmed and sent with control.  Decisions are about packets on the
 * wire: a GSO packet stays whole only while they are the same for all its segments (swport_trim.c).
 *
 *	            +---------+
 *	ACK, ND  -->| control |--+
 *	         +->+---------+  |  strict   +-------+
 *	                         +---------->| wire  |--> device
 *	    trim |  +---------+  | priority  | rate  |
 *	payload -+->|  data   |--+           +-------+
 *	            +---------+ mark, stamp
 *
 * Work conserving unless `rate` is set; then packets are sent exactly as fast as by a wire of that
 * rate (quell/core/port/shaper.h).
 *
 * Locking: enqueue, dequeue, reset run under the qdisc lock; change commits under sch_tree_lock,
 * so that each packet is subject to either the old or the new parameters.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/pkt_sched.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <quell/core/port/frame_control.h>
#include <quell/version.h>

#include "swport.h"

static const struct swport_params swport_defaults = {
	.limit_bytes = SWPORT_LIMIT_DEFAULT,
	.control_limit_bytes = SWPORT_CONTROL_LIMIT_DEFAULT,
	.control_share_q16 = SWPORT_CONTROL_SHARE_DEFAULT,
	.red.prob_q16 = SWPORT_ECN_PROB_MAX,
	.trim.dscp = SWPORT_TRIM_DSCP_DEFAULT,
	.deflect.iofd.entries = SWPORT_DEFLECT_ENTRIES_DEFAULT,
	.deflect.iofd.idle_ns = SWPORT_DEFLECT_IDLE_DEFAULT,
	.deflect.token_max = SWPORT_DEFLECT_TOKENS_DEFAULT,
};

static void swport_seed(struct swport_sched *port)
{
	u64 seed = port->params.seed;

	if (!seed)
		get_random_bytes(&seed, sizeof(seed));
	quell_red_seed(&port->lottery, seed);
	quell_swport_deflect_seed(port, seed);
}

/* Rate of a wire that is not shared with other queues of a joint port; 0: no rate. */
static u64 swport_unshared_rate(const struct swport_params *params)
{
	return params->joint ? 0 : params->rate_bytes_ps;
}

/* Truesize over length: of full-sized packets with a page of 4 KB each, and of pure ACKs. */
#define SWPORT_MEMORY_SCALE		4
#define SWPORT_MEMORY_CONTROL_SCALE	64

/* The default admits the packets that both limits admit, scaled to the size of pages. */
static u64 swport_memory_max(const struct swport_params *params)
{
	u64 scaled_bytes = ((u64)params->limit_bytes * SWPORT_MEMORY_SCALE +
			    (u64)params->control_limit_bytes * SWPORT_MEMORY_CONTROL_SCALE) *
			   (PAGE_SIZE / SZ_4K);

	if (params->memory_limit_bytes)
		return params->memory_limit_bytes;
	return max_t(u64, scaled_bytes, SWPORT_MEMORY_DEFAULT);
}

/* DSCPs for the control band: CS6 and above, and those of trimmed packets. */
static u64 swport_parsed_dscps(const struct swport_trim_params *trim)
{
	u64 dscps = U64_MAX << (QUELL_FRAME_CS6 >> SWPORT_DSCP_SHIFT);

	if (trim->size_bytes && trim->queue == SWPORT_TRIM_CONTROL)
		dscps |= trim->known | BIT_ULL(trim->dscp);
	return dscps;
}

/**
 * quell_swport_set_features() - update the enabled features, and parameters used for each packet
 * @port: the switch port, with new parameters or paused priorities
 * Context: qdisc lock held.
 */
void quell_swport_set_features(struct swport_sched *port)
{
	const struct swport_params *params = &port->params;

	port->features = (params->rate_bytes_ps ? SWPORT_F_RATE : 0) |
			 (params->telemetry_ns ? SWPORT_F_TELEMETRY : 0) |
			 (params->tcp_int_ns ? SWPORT_F_TCP_INT : 0) |
			 (port->percentiles ? SWPORT_F_PERCENTILES : 0) |
			 (port->part.joint ? SWPORT_F_JOINT : 0) |
			 (port->share.buffer ? SWPORT_F_BUFFER : 0) |
			 (params->bql ? SWPORT_F_BQL : 0) |
			 (params->ecn_mode == SWPORT_ECN_ENQUEUE ? SWPORT_F_MARK_IN : 0) |
			 (params->ecn_mode == SWPORT_ECN_DEQUEUE ? SWPORT_F_MARK_OUT : 0) |
			 (port->deflect ? SWPORT_F_DEFLECT : 0) |
			 (port->paused ? SWPORT_F_PAUSED : 0);
	port->limit_bytes = params->limit_bytes;
	port->parsed_dscps = swport_parsed_dscps(&params->trim);
}

/**
 * quell_swport_pause() - set the paused priorities of data in a device's port
 * @dev: the device, which may still send the packets that it has
 * @priorities: bit per priority; the driver sets it when it is opened, and 0 when it stops
 * Context: softirq, RCU read lock held, not the qdisc's lock.
 * Return: false if the device's root qdisc is no swport.
 */
bool quell_swport_pause(struct net_device *dev, u8 priorities)
{
	struct Qdisc *sch = rcu_dereference(dev->qdisc);
	struct swport_sched *port = qdisc_priv(sch);

	if (sch->dequeue != quell_swport_dequeue)
		return false;
	spin_lock(qdisc_lock(sch));
	port->paused = priorities;
	quell_swport_set_features(port);
	spin_unlock(qdisc_lock(sch));
	/* The transmit queue has another qdisc once the core replaces this one. */
	netif_schedule_queue(netdev_get_tx_queue(dev, 0));
	return true;
}
EXPORT_SYMBOL_GPL(quell_swport_pause);

/* Queued packets are kept even above a limit.  A faster wire is free sooner: reschedule. */
static int swport_commit(struct Qdisc *sch, const struct swport_params *params,
			 bool reseed)
{
	u64 device_bytes_ps = quell_swport_link_query(sch, params);
	struct swport_sched *port = qdisc_priv(sch);
	struct swport_percentiles *percentiles;
	struct swport_buffer *buffer;
	struct swport_joint *joint;
	int err;

	err = quell_swport_percentiles_get(port, params, &percentiles);
	if (err)
		return err;
	err = quell_swport_joint_get(sch, params, &joint);
	if (err)
		goto free_percentiles;
	err = quell_swport_buffer_get(sch, params, &buffer);
	if (err) {
		quell_swport_joint_put(joint);
		goto free_percentiles;
	}
	sch_tree_lock(sch);
	quell_shaper_rerate(&port->shaper, ktime_get_ns(), swport_unshared_rate(&port->params),
			    swport_unshared_rate(params));
	quell_swport_deflect_commit(port, params);
	quell_swport_commit_classes(port, &params->red_classes);
	port->params = *params;
	port->params.buffer_bytes = 0;
	port->memory_max_bytes = swport_memory_max(params);
	quell_swport_buffer_set(port, buffer);
	quell_swport_joint_set(port, joint);
	swap(port->percentiles, percentiles);
	quell_swport_set_features(port);
	port->link.of_one_queue = quell_swport_is_of_one_queue(sch);
	quell_swport_device_reset(port);
	quell_swport_link_set(port, device_bytes_ps);
	if (reseed)
		swport_seed(port);
	/* A timer with slack would otherwise not be moved. */
	qdisc_watchdog_cancel(&port->watchdog);
	if (qdisc_qlen(sch))
		qdisc_watchdog_schedule_ns(&port->watchdog,
					   quell_shaper_ready_ns(&port->shaper));
	sch_tree_unlock(sch);
	if (joint)
		quell_swport_joint_commit(port);
	err = 0;
free_percentiles:
	if (percentiles != port->percentiles)
		quell_swport_percentiles_free(percentiles);
	return err;
}

static int swport_change(struct Qdisc *sch, struct nlattr *opt,
			 struct netlink_ext_ack *extack)
{
	struct swport_params *params = kmalloc(sizeof(*params), GFP_KERNEL);
	bool reseed;
	int err;

	if (!params)
		return -ENOMEM;
	err = quell_swport_parse(sch, opt, params, &reseed, extack);
	if (!err)
		err = quell_swport_buffer_check(sch, params, extack);
	if (!err)
		err = quell_swport_deflect_prepare(sch, params);
	if (err)
		goto free;
	err = swport_commit(sch, params, reseed);
	quell_swport_deflect_done(qdisc_priv(sch));
free:
	kfree(params);
	return err;
}

/* On error the core calls swport_destroy(): first initialise all that it frees. */
static int swport_init(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct swport_sched *port = qdisc_priv(sch);

	qdisc_watchdog_init(&port->watchdog, sch);
	quell_swport_link_add(sch);
	__skb_queue_head_init(&port->control.queue);
	__skb_queue_head_init(&port->data.queue);
	port->params = swport_defaults;
	port->memory_max_bytes = swport_memory_max(&port->params);
	quell_swport_set_features(port);
	swport_seed(port);
	return opt ? swport_change(sch, opt, extack) : 0;
}

static void swport_reset(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);

	qdisc_watchdog_cancel(&port->watchdog);
	quell_swport_purge(port);
	quell_swport_deflect_reset(port);
	port->shaper = (struct quell_shaper) { };
}

static void swport_destroy(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);

	quell_swport_link_remove(sch);
	qdisc_watchdog_cancel(&port->watchdog);
	quell_swport_purge(port);
	quell_swport_buffer_set(port, NULL);
	quell_swport_joint_set(port, NULL);
	quell_swport_percentiles_free(port->percentiles);
	quell_swport_deflect_destroy(port);
}

static struct Qdisc_ops swport_qdisc_ops __read_mostly = {
	.id		= "swport",
	.cl_ops		= &quell_swport_flow_ops,
	.priv_size	= sizeof(struct swport_sched),
	.enqueue	= quell_swport_enqueue,
	.dequeue	= quell_swport_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= swport_init,
	.reset		= swport_reset,
	.destroy	= swport_destroy,
	.change		= swport_change,
	.dump		= quell_swport_dump,
	.dump_stats	= quell_swport_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init swport_module_init(void)
{
	int err;

	quell_swport_outlet_seed();
	err = quell_swport_link_init();
	if (err)
		return err;
	err = register_qdisc(&swport_qdisc_ops);
	if (err)
		quell_swport_link_exit();
	return err;
}

static void __exit swport_module_exit(void)
{
	unregister_qdisc(&swport_qdisc_ops);
	quell_swport_link_exit();
}

module_init(swport_module_init);
module_exit(swport_module_exit);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("Quell switch port: two bands, byte limits, ECN by RED, exact rate, trimming, telemetry, TCP-INT, deflection");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);
MODULE_ALIAS_NET_SCH("swport");
