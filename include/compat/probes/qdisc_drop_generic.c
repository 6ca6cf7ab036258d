// SPDX-License-Identifier: GPL-2.0
/* tcf_set_qdisc_drop_reason(), QDISC_DROP_GENERIC */
#include <net/sch_generic.h>

void quell_probe(struct sk_buff *skb);
void quell_probe(struct sk_buff *skb)
{
	tcf_set_qdisc_drop_reason(skb, QDISC_DROP_GENERIC);
}
