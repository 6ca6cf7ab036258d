// SPDX-License-Identifier: GPL-2.0
/*
 * Direct apportioning of sending rates: a flow as a sender.  The option of the peer's packets has
 * n and, in packets without data, the peer's line rate, both for the next sample.
 *
 * Only packets that TCP would accept, of established connections, reach this file.
 */
#include <quell/core/dart/share.h>
#include <quell/core/lib/math.h>
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

/* The flow's share counts in the sum of those of its interface; 0: no longer.  Socket lock. */
void quell_dasr_claim(struct quell_flow *flow, u64 bytes_ps)
{
	u32 slot = READ_ONCE(flow->link.ifindex) % QUELL_CLAIMS;
	atomic64_t *claims = flow->qnet->claims;
	struct quell_dasr *dasr = flow->dasr;

	if (dasr->claim_bytes_ps == bytes_ps && (dasr->claim_slot == slot || !bytes_ps))
		return;
	atomic64_sub(dasr->claim_bytes_ps, &claims[dasr->claim_slot]);
	atomic64_add(bytes_ps, &claims[slot]);
	dasr->claim_bytes_ps = bytes_ps;
	dasr->claim_slot = slot;
}

/*
 * The peer's line and n.  Where the own line is slower, and the flows that have data to send would
 * together exceed it by their shares, it is divided in proportion to these: n is larger then.
 * Flows that no n limits do not count, as less than their share may be enough.  Socket lock.
 */
void quell_dasr_sample(struct quell_flow *flow, const struct tcp_sock *tp,
		       struct quell_sample *sample)
{
	u64 peer_bytes_ps = READ_ONCE(flow->dasr->peer_link_bytes_ps), share_bytes_ps = 0, all;
	u64 own_bytes_ps = sample->link_bytes_ps, n_q8 = READ_ONCE(flow->dasr->senders_q8);

	if (n_q8 > QUELL_SHARE_ONE_Q8 && own_bytes_ps && own_bytes_ps < peer_bytes_ps &&
	    (tp->packets_out ||
	     (tp->write_seq != tp->snd_nxt && before(tp->snd_nxt, tcp_wnd_end(tp)))))
		share_bytes_ps = quell_share_of_sender_bytes_ps(own_bytes_ps, peer_bytes_ps, n_q8);
	quell_dasr_claim(flow, share_bytes_ps);
	all = share_bytes_ps ? atomic64_read(&flow->qnet->claims[flow->dasr->claim_slot]) : 0;
	if (all > own_bytes_ps) {
		share_bytes_ps = quell_mul_div_u64(share_bytes_ps, own_bytes_ps, all);
		n_q8 = quell_mul_div_ceil_u64(peer_bytes_ps, QUELL_SHARE_ONE_Q8, share_bytes_ps);
	}
	sample->peer_link_bytes_ps = peer_bytes_ps;
	sample->senders_q8 = min(n_q8, QUELL_SHARE_MAX_Q8);
	WRITE_ONCE(flow->dasr->used_q8, sample->senders_q8);
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
