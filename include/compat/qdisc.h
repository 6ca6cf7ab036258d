/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes in the qdisc API between the supported kernels.
 */
#ifndef _QUELL_COMPAT_QDISC_H
#define _QUELL_COMPAT_QDISC_H

#include <compat/compat.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

/* Before the net-sch- alias existed, a qdisc was requested as "sch_<id>". */
#ifndef MODULE_ALIAS_NET_SCH
#define MODULE_ALIAS_NET_SCH(id)	MODULE_ALIAS("sch_" id)
#endif

/* Later kernels read the queue length without the lock. */
#ifndef QUELL_HAVE_QDISC_QLEN_INC
static inline void qdisc_qlen_inc(struct Qdisc *sch)
{
	sch->q.qlen++;
}

static inline void qdisc_qlen_dec(struct Qdisc *sch)
{
	sch->q.qlen--;
}
#endif

/**
 * quell_qdisc_set_pkt_len() - account one wire packet cut from a larger one
 * @skb: the packet, complete with its link-layer header
 *
 * Later kernels keep the number of segments beside the length and count
 * packets by it.  A size table (tc's stab) is not applied again: the function
 * that does it is not exported to modules.
 *
 * Context: any; the caller owns @skb.
 */
static inline void quell_qdisc_set_pkt_len(struct sk_buff *skb)
{
	qdisc_skb_cb(skb)->pkt_len = skb->len;
#ifdef QUELL_HAVE_QDISC_PKT_SEGS
	qdisc_skb_cb(skb)->pkt_segs = 1;
#endif
}

/**
 * quell_qdisc_reset_reason() - set the reason of a drop to the default again
 * @skb: packet that was segmented, or one of its segments
 *
 * Later kernels set it before enqueue, where segmentation has its own state in skb->cb.
 *
 * Context: any; the caller owns @skb.
 */
static inline void quell_qdisc_reset_reason(struct sk_buff *skb)
{
#ifdef QUELL_HAVE_QDISC_DROP_GENERIC
	tcf_set_qdisc_drop_reason(skb, QDISC_DROP_GENERIC);
#endif
}

#endif /* _QUELL_COMPAT_QDISC_H */
