// SPDX-License-Identifier: GPL-2.0
/* qdisc_qlen_inc(sch), qdisc_qlen_dec(sch) */
#include <net/sch_generic.h>

void quell_probe(struct Qdisc *sch);
void quell_probe(struct Qdisc *sch)
{
	qdisc_qlen_inc(sch);
	qdisc_qlen_dec(sch);
}
