/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits, pacing and state rules of an HPCC flow, for the fuzzers of hpcc and
 * hpcc_vaisf, worked out independently of the core.
 */
#ifndef _QUELL_FUZZ_HPCC_FLOW_H
#define _QUELL_FUZZ_HPCC_FLOW_H

#include <quell/core/hpcc/react.h>

#include "../input.h"

static inline u64 base_rtt_ns(const struct quell_hpcc_vars *v,
			      const struct quell_hpcc_params *p)
{
	return p->base_rtt_ns ? p->base_rtt_ns : v->min_rtt_ns;
}

static inline bool steered(const struct quell_hpcc_vars *v, const struct quell_hpcc_params *p)
{
	return (v->flags & QUELL_HPCC_F_TELEMETRY) && base_rtt_ns(v, p);
}

/* @bytes_ps for a base round trip, bytes Q16, or a limit above any window. */
static inline u64 rate_window_q16(const struct quell_hpcc_vars *v,
				  const struct quell_hpcc_params *p, u64 bytes_ps)
{
	unsigned __int128 q16 = (unsigned __int128)bytes_ps * base_rtt_ns(v, p);

	q16 = q16 >> 100 ? ~0ULL : q16 * 65536 / 1000000000;
	return q16 > ~0ULL ? ~0ULL : q16;
}

/* As many segments as fill the link for one base round trip, plus one, bytes Q16. */
static inline u64 link_window_q16(const struct quell_hpcc_vars *v,
				  const struct quell_hpcc_params *p, u64 link_bytes_ps)
{
	unsigned __int128 wire = (unsigned __int128)(v->mss_bytes + 90ULL) * 1000000000;
	unsigned __int128 segments = (unsigned __int128)link_bytes_ps * base_rtt_ns(v, p);
	unsigned __int128 q16 = ((segments + wire - 1) / wire + 1) * v->mss_bytes * 65536;

	return q16 > ~0ULL ? ~0ULL : q16;
}

static inline u64 limited_q16(const struct quell_hpcc_vars *v,
			      const struct quell_hpcc_params *p, u64 link_bytes_ps,
			      u64 window_q16)
{
	u64 most_q16 = p->max_window_bytes << 16;
	u64 least_q16 = (u64)v->mss_bytes << 16;

	if (steered(v, p)) {
		u64 link_q16 = link_window_q16(v, p, link_bytes_ps);

		if (link_bytes_ps && link_q16 < most_q16)
			most_q16 = link_q16;
		least_q16 = rate_window_q16(v, p, p->min_rate_bytes_ps);
		least_q16 = least_q16 > most_q16 ? most_q16 : least_q16;
		least_q16 = least_q16 ? least_q16 : 1;
	}
	window_q16 = window_q16 > most_q16 ? most_q16 : window_q16;
	return window_q16 < least_q16 ? least_q16 : window_q16;
}

/*
 * Whether @bytes_ps is the window over the base round trip, to 2^-10 byte of it, at
 * most 2^54.
 */
static inline bool pacing_fits(const struct quell_hpcc_vars *v,
			       const struct quell_hpcc_params *p, u64 window_q16, u64 bytes_ps)
{
	unsigned __int128 exact;

	if (!steered(v, p))
		return bytes_ps == QUELL_RATE_UNLIMITED;
	exact = (unsigned __int128)(window_q16 / 64) * 1000000000 / base_rtt_ns(v, p) / 1024;
	exact = exact >> 54 ? (1ULL << 54) - 1 : exact;
	return bytes_ps == (exact ? exact : 1);
}

/* The rule that the state breaks, NULL if it breaks no rule. */
static inline const char *broken_state(const struct quell_hpcc_vars *v)
{
	if (!v->mss_bytes)
		return "segment size is positive";
	if (!v->hop && v->flags & (QUELL_HPCC_F_UTIL | QUELL_HPCC_F_MEASURED))
		return "what was measured has a record";
	if (v->hop && !(v->flags & QUELL_HPCC_F_TELEMETRY))
		return "a record steers";
	if (v->flags & QUELL_HPCC_F_MEASURED && !(v->flags & QUELL_HPCC_F_UTIL))
		return "what was measured in this round trip is known";
	if (v->flags & QUELL_HPCC_F_CONGESTED && !(v->flags & QUELL_HPCC_F_MEASURED))
		return "congestion is measured";
	return NULL;
}

/* The rule that the change of state by an ACK's record breaks, NULL if it breaks no rule. */
static inline const char *broken_record(const struct quell_hpcc_vars *before,
					const struct quell_hpcc_vars *v,
					const struct quell_hpcc_stats *then,
					const struct quell_hpcc_stats *now,
					const struct quell_sample *s)
{
	bool measured = now->measured != then->measured;
	bool stored = now->stored != then->stored;
	bool lost = now->lost != then->lost;
	u32 tau_ns = (s->telemetry.time_ns - before->time_ns) & 0xffffff;

	if (now->measured + now->stored + now->repeated + now->no_record !=
	    then->measured + then->stored + then->repeated + then->no_record + 1)
		return "an ACK counts once";
	if ((measured || stored) &&
	    (v->recorded_ns != s->now_ns || !v->hop || v->hop != s->telemetry.hop ||
	     v->time_ns != s->telemetry.time_ns || v->tx_units != s->telemetry.tx_units ||
	     v->queue_bytes != s->telemetry.queue_bytes))
		return "a record is stored whole";
	if (!measured && !stored && v->recorded_ns != before->recorded_ns)
		return "no record, nothing stored";
	if (measured && (before->hop != s->telemetry.hop || !tau_ns || tau_ns > 0x7fffff))
		return "only records of one hop, in order, are compared";
	if (measured && s->now_ns > before->recorded_ns &&
	    s->now_ns - before->recorded_ns > 8000000)
		return "records far apart are not compared";
	if (!measured && !lost && v->util_q24 != before->util_q24)
		return "utilisation moves by measurement";
	if (lost && (v->hop || v->flags & QUELL_HPCC_F_TELEMETRY))
		return "without records nothing steers";
	if (v->rtos)
		return "an ACK ends the row of timeouts";
	return NULL;
}

#endif /* _QUELL_FUZZ_HPCC_FLOW_H */
