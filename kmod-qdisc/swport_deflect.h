/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of swport's deflection.
 */
#ifndef _QUELL_SWPORT_DEFLECT_H
#define _QUELL_SWPORT_DEFLECT_H

#include <linux/netdevice.h>
#include <compat/bh_work.h>

#include "swport.h"

/* Indices into the words of struct quell_iofd_flow. */
enum {
	SWPORT_FLOW_SADDR = 0,	/* four of them, as on the wire */
	SWPORT_FLOW_DADDR = 4,
	SWPORT_FLOW_PORTS = 8,
	SWPORT_FLOW_QP,
	SWPORT_FLOW_KIND,	/* version, protocol, time to live */
};

#define SWPORT_FLOW_VERSION_SHIFT	16
#define SWPORT_FLOW_PROTOCOL_SHIFT	8

/**
 * struct swport_alternate - an alternate next hop
 * @dev:	device, with a reference; NULL once it is unregistered
 * @tracker:	tracker of that reference
 * @via:	the administrator's configuration
 *
 * Written with RTNL and the qdisc's lock held and the outlet stopped; read with the
 * qdisc's lock or by the outlet.
 */
struct swport_alternate {
	struct net_device	*dev;
	netdevice_tracker	tracker;
	struct swport_via	via;
};

/**
 * struct swport_deflect - deflected flows of a port, and their outlet
 * @vars:	flow table; the qdisc's lock
 * @stats:	counters; the qdisc's lock
 * @tokens:	number of tokens taken from packets; the qdisc's lock
 * @alternate_nr: number of alternates
 * @alternate:	array of alternates, SWPORT_DEFLECT_VIA_MAX long; NULL at first
 * @fresh:	during a change the new alternates, after its commit the old ones; RTNL
 * @stopped:	a change of @alternate is under way and @outlet is disabled; RTNL
 * @outlet:	work in softirq context that sends the packets in @fifo, outside of the qdisc's lock
 * @fifo:	deflected packets; its own lock
 * @fifo_bytes:	bytes in @fifo; under its lock
 * @drop_pkts:	packets dropped by @outlet or because @fifo was full
 * @ask:	bit per alternate whose neighbour must be resolved
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
	unsigned long		ask;
};

/* swport_deflect_out.c */
void quell_swport_outlet_init(struct swport_deflect *deflect);
void quell_swport_outlet_purge(struct swport_deflect *deflect);
bool quell_swport_outlet_push(struct swport_deflect *deflect, struct sk_buff *skb,
			      u8 alternate, u32 limit_bytes);
u32 quell_swport_outlet_working(struct swport_deflect *deflect, unsigned int mtu_bytes);
void quell_swport_outlet_seed(void);
bool quell_swport_outlet_sent(const struct sk_buff *skb);

#endif /* _QUELL_SWPORT_DEFLECT_H */
