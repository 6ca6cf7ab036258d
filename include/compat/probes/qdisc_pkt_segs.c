// SPDX-License-Identifier: GPL-2.0
/* qdisc_skb_cb.pkt_segs */
#include <net/sch_generic.h>

void quell_probe(struct sk_buff *skb);
void quell_probe(struct sk_buff *skb)
{
	qdisc_skb_cb(skb)->pkt_segs = 1;
}
