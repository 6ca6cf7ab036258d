// SPDX-License-Identifier: GPL-2.0
/*
 * Direct apportioning of sending rates: a flow as a sender.  The option of the peer's packets has
 * n and, in packets without data, the peer's line rate, both for the next sample.
 *
 * Only packets that TCP would accept, of established connections, reach this file.
 */
#include <quell/core/dart/share.h>
#include <quell/option.h>
#include "flow/flow.h"
#include "signal/dasr.h"

quell_dasr_meter_t *quell_dasr_meter __read_mostly;
EXPORT_SYMBOL_GPL(quell_dasr_meter);

/* @flow has n.  LOCAL_IN hook, RCU read section; TCP would accept the packet. */
void quell_dasr_read_option(struct quell_flow *flow, const struct quell_opt *opt)
{
	struct quell_dasr *dasr = flow->dasr;

	if (opt->form != QUELL_OPT_FULL)
		return;
	if (!(opt->flags & QUELL_OPT_F_ACK)) {
		if (opt->flags & QUELL_OPT_F_DATA)
			WRITE_ONCE(dasr->peer_follows, opt->flags & QUELL_OPT_F_FOLLOWS);
		return;
	}
	WRITE_ONCE(dasr->senders_q8, quell_share_decode(opt->senders));
	if (!(opt->flags & QUELL_OPT_F_DATA)) {
		WRITE_ONCE(dasr->peer_link_bytes_ps, quell_line_decode(opt->entropy));
		WRITE_ONCE(dasr->peer_follows, opt->entropy);
	}
	if (opt->flags & QUELL_OPT_F_CE)
		WRITE_ONCE(dasr->path_marked, true);
}

/* The peer's option is no longer received.  Not in hard interrupts. */
void quell_dasr_forget_n(struct quell_flow *flow)
{
	if (!flow->dasr)
		return;
	WRITE_ONCE(flow->dasr->senders_q8, 0);
	WRITE_ONCE(flow->dasr->peer_link_bytes_ps, 0);
	WRITE_ONCE(flow->dasr->peer_follows, false);
}
