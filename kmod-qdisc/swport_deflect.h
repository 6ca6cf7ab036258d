/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of swport's deflection.
 */
#ifndef _QUELL_SWPORT_DEFLECT_H
#define _QUELL_SWPORT_DEFLECT_H

#include <linux/netdevice.h>
#include <compat/bh_work.h>

#include "swport.h"

/* Words of struct quell_iofd_flow; addresses as on the wire, @KIND version, protocol and TTL. */
enum {
	SWPORT_FLOW_SADDR = 0,
	SWPORT_FLOW_DADDR = 4,
	SWPORT_FLOW_PORTS = 8,
	SWPORT_FLOW_QP,
	SWPORT_FLOW_KIND,
};

#define SWPORT_FLOW_VERSION_SHIFT	16
#define SWPORT_FLOW_PROTOCOL_SHIFT	8

/*
 * An alternate next hop; @dev is NULL once it is unregistered.  Written with RTNL and the qdisc's
 * lock held and the outlet disabled; read with the qdisc's lock or by the outlet.
 */
struct swport_alternate {
	struct net_device	*dev;
	netdevice_tracker	tracker;
	struct swport_via	via;
};

/*
 * Deflected flows of a port (@vars) and their outlet, under the qdisc's lock except:
 * @fresh:	during a change the new alternates, after its commit the old ones; RTNL
 * @stopped:	a change of @alternate is in progress and @outlet is disabled; RTNL
 * @outlet:	sends the packets in @fifo from softirq context, without the qdisc's lock
 * @fifo:	deflected packets; its lock also protects @fifo_bytes
 * @drop_pkts:	packets dropped by @outlet or because @fifo was full
 * @resolve:	bit per alternate with a neighbour to be resolved; atomic
 */
struct swport_deflect {
	struct quell_iofd_vars	vars;
	struct quell_iofd_stats	stats;
	u64			tokens;
	u32			alternate_nr;
	struct swport_alternate	*alternate;
	struct swport_alternate	*fresh;
	bool			stopped;
	struct quell_bh_work	outlet;
	struct sk_buff_head	fifo;
	u32			fifo_bytes;
	atomic64_t		drop_pkts;
	unsigned long		resolve;
};

bool quell_swport_outlet_counts(const struct Qdisc *root);

#endif /* _QUELL_SWPORT_DEFLECT_H */
