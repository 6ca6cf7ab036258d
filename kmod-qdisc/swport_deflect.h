/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of swport's deflection share.
 */
#ifndef _QUELL_SWPORT_DEFLECT_H
#define _QUELL_SWPORT_DEFLECT_H

#include <linux/interrupt.h>
#include <linux/netdevice.h>

#include "swport.h"

/* Words of a flow: struct quell_iofd_flow. */
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
 * struct swport_alternate - another way out of the switch
 * @dev:	device, held; NULL once it is gone
 * @tracker:	of that hold
 * @via:	what the administrator named
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
 * struct swport_deflect - deflected flows of a port, and their way out
 * @vars:	table; the qdisc's lock
 * @stats:	counters; the qdisc's lock
 * @tokens:	taken from packets; the qdisc's lock
 * @alternate_nr: how many
 * @alternate:	the other ways, room for all there may be; NULL at first
 * @fresh:	within a change, the new ones, then the old ones; RTNL
 * @stopped:	within a change that replaces them: the outlet stands; RTNL
 * @outlet:	sends what is in @fifo, outside of the qdisc's lock
 * @fifo:	deflected packets; its own lock
 * @fifo_bytes:	in @fifo; its lock
 * @drop_pkts:	packets that @outlet or a full @fifo dropped
 * @ask:	bit per alternate whose neighbour is to be asked for
 */
struct swport_deflect {
	struct quell_iofd_vars	vars;
	struct quell_iofd_stats	stats;
	u64			tokens;
	u32			alternate_nr;
	struct swport_alternate	*alternate;
	struct swport_alternate	*fresh;
	bool			stopped;
	struct tasklet_struct	outlet;
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
bool quell_swport_outlet_sends(void);

#endif /* _QUELL_SWPORT_DEFLECT_H */
