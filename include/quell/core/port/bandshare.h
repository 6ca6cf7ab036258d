/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Strict priority of a band, limited to a share of the wire.
 *
 * Control goes before data, and may fill at most share_q16 of the wire while data waits,
 * burst_bytes ahead of that.  The state is how far it is ahead: bytes of control sent while data is
 * queued add data's part of the share, bytes of data subtract control's,
 *
 *	ahead += control * (1 - share)		ahead -= data * share,	not below 0
 *
 * and data has its turn where ahead is above burst_bytes.  While data waits without a break,
 *
 *	control * (1 - share) <= data * share + burst_bytes + one packet
 *
 * so the share of a control band that never runs empty converges to share_q16, from below
 * if burst_bytes is less than a packet of data.  An empty band earns no credit:
 * with no data waiting control is not ahead.
 *
 * Deficits like these are the usual way to bound a band served first (Shreedhar and
 * Varghese, "Efficient Fair Queueing using Deficit Round Robin", 1995); here one is enough,
 * and it needs neither time nor a division.
 */
#ifndef _QUELL_CORE_PORT_BANDSHARE_H
#define _QUELL_CORE_PORT_BANDSHARE_H

#include <quell/core/core.h>

/* Limits of the first band. */
struct quell_bandshare_params {
	u32	share_q16;	/* of the wire while data waits, 1 to QUELL_Q16_ONE: all */
	u32	burst_bytes;	/* ahead of the share */
};

struct quell_bandshare {
	u64	ahead_q16;	/* bytes by which control is ahead */
};

/* Whether control has used its share and its burst up.  Only of use with packets of both bands. */
static inline bool quell_bandshare_is_data_next(const struct quell_bandshare_params *params,
						const struct quell_bandshare *bandshare)
{
	return params->share_q16 < QUELL_Q16_ONE &&
	       bandshare->ahead_q16 > (u64)params->burst_bytes * QUELL_Q16_ONE;
}

/* Cannot overflow: while data waits control is sent only up to burst_bytes and a packet. */
static inline void quell_bandshare_sent_control(const struct quell_bandshare_params *params,
						struct quell_bandshare *bandshare, u32 bytes,
							bool has_data)
{
	if (has_data)
		bandshare->ahead_q16 += (u64)bytes * (QUELL_Q16_ONE - params->share_q16);
	else
		bandshare->ahead_q16 = 0;
}

static inline void quell_bandshare_sent_data(const struct quell_bandshare_params *params,
					     struct quell_bandshare *bandshare, u32 bytes,
						     bool has_data)
{
	u64 less_q16 = (u64)bytes * params->share_q16;

	if (has_data && less_q16 < bandshare->ahead_q16)
		bandshare->ahead_q16 -= less_q16;
	else
		bandshare->ahead_q16 = 0;
}

#endif /* _QUELL_CORE_PORT_BANDSHARE_H */
