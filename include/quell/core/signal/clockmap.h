/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Maps the clock of a NIC to the host's clock, from received packets alone.
 *
 * The NIC stamps each packet (hardware stamp, NIC clock), and the stack stamps it
 * again on receipt (software stamp, host clock).  The host can only be late, so in
 *
 *	software = host time of the hardware stamp + delay of the host
 *
 * the delay is never negative and occasionally close to zero: the line below all points, which
 * touches the lowest of them, is the host time of the hardware stamps.  This is the calibration of
 * TIMELY (section 5), with a slope for the drift between the two oscillators.
 *
 *	for each packet:
 *		height = software - line(hardware)
 *		below the line by little:	lower the line to it
 *		below by much, or very high:	refuse; often: the clock was stepped
 *		keep the lowest point of the current bin
 *	at the end of a bin:
 *		line = edge of the lower convex hull of the bins' lowest points
 *		       that spans the bin in the middle of the window
 *
 * Of all lines below the points this edge is the one highest in the middle bin.  The window has up
 * to 16 bins.  Bins begin with 0.5 ms and double, by merging two, up to 8 ms, so that the map is
 * soon usable and later precise; where packets are few a bin waits for 256 of them, up to 64 ms.
 *
 *	WARMING --8 bins, 4 of which agree, or 64 ms of them--> USABLE
 *	USABLE  --clock stepped, or no packet for 1 s--> WARMING, slope kept
 *
 * The line itself does not show how much lower it may still become, because it
 * touches two bins in any case.  The other bins show it: if delays are far from
 * zero the bins differ, and two more bins come within 64 ns of a line through two
 * only by rare chance; if the delays have a floor, the bins lie on it.  So a
 * host that receives packets in few bursts waits longer for its map, until it has
 * received enough of them, rather than use a map wrong by microseconds.  At 64 ms
 * the window is near its full length and waiting improves little: the map is then
 * used as it is.  Later, for 64 ms, a line on which fewer than four bins agree does
 * not replace one on which four did: the newest bins may all be high, and would
 * tilt the line.
 *
 * Error.  Let s be the smallest delay in a bin (of n packets with delays that are
 * even over D: D / n on average, above 5 D / n in one bin of 150).  On the
 * window's middle the line is not below the truth, nor above it by more than s
 * of the bins around; at its newest end it is between -s of the oldest bins and
 * +s of the newest, until the next bin ends another eighth of that.  A drift
 * that changes by a per second adds a W^2 / 8 for a window of W: 2 ns for 1 ppm
 * per second and 128 ms.  A minimum delay of the host cannot be distinguished
 * from an offset and stays in the mapped times.
 *
 * A step of the NIC's clock: a forward step puts stamps after their receipt, and 4 such stamps
 * count as a step.  A backward step makes packets seem delayed.  Packets later than twice the
 * delays of the window are refused; refusals for longer than the delay itself, or of 4096 packets,
 * count as a step.  After a smaller step no packet comes near the line any more, and 4096 packets
 * in a row away from the line (or four times the longest such row in the window) count as a step.
 * Refused packets keep their software stamp, so between a step and its discovery no time is wrong
 * by more than twice the host's delays plus 0.1 ms.
 *
 * Not considered: the cause of the delay, and the epoch of the clock.
 */
#ifndef _QUELL_CORE_SIGNAL_CLOCKMAP_H
#define _QUELL_CORE_SIGNAL_CLOCKMAP_H

#include <quell/core/lib/math.h>

#define QUELL_CLOCKMAP_BINS		16U
/* Bins before the map is usable. */
#define QUELL_CLOCKMAP_WARM_BINS	8U
#define QUELL_CLOCKMAP_BIN_MIN_NS	500000ULL
#define QUELL_CLOCKMAP_BIN_MAX_NS	8000000ULL
/* A bin waits for this many packets, but at most for BIN_SPARSE_NS. */
#define QUELL_CLOCKMAP_BIN_PKTS		256U
#define QUELL_CLOCKMAP_BIN_SPARSE_NS	64000000ULL
/* After this time without a packet the line is discarded. */
#define QUELL_CLOCKMAP_STALE_NS		1000000000ULL
/* Maximum length of the window, so that products of two differences fit. */
#define QUELL_CLOCKMAP_SPAN_MAX_NS	3000000000ULL

/* Host nanoseconds per nanosecond of the NIC, Q32; IEEE 802.3 allows 100 ppm. */
#define QUELL_CLOCKMAP_RATE_ONE		(1ULL << 32)
#define QUELL_CLOCKMAP_DRIFT_MAX	(QUELL_CLOCKMAP_RATE_ONE / 1000)

/* Number of stamps after their receipt that is a step, and tolerance while warming. */
#define QUELL_CLOCKMAP_EARLY_PKTS	4U
#define QUELL_CLOCKMAP_EARLY_NS		1000000U
/* Packets in a row far too late that may be a step, and number that certainly is one. */
#define QUELL_CLOCKMAP_LATE_PKTS	32U
#define QUELL_CLOCKMAP_STEP_PKTS	4096U
/* Accepted delay beyond twice the longest delay of the window. */
#define QUELL_CLOCKMAP_LATE_NS		100000ULL
/* "Near the line" is this plus four times the median height of the bins' lowest points. */
#define QUELL_CLOCKMAP_TOLERANCE_NS	1000U
/* A median is small up to the longest delay divided by this, plus NEAR_NS. */
#define QUELL_CLOCKMAP_TRUST		16U
/* Usable if AGREE_BINS bins lie within AGREE_NS of a line, or half the bins span AGREE_HALF_NS. */
#define QUELL_CLOCKMAP_AGREE_BINS	4U
#define QUELL_CLOCKMAP_AGREE_NS		64U
#define QUELL_CLOCKMAP_AGREE_HALF_NS	32000000ULL
/* A line with such agreement is kept this long: 2 ns error at 1 ppm per second. */
#define QUELL_CLOCKMAP_AGREE_KEEP_NS	64000000ULL

/* Result of mapping a packet's hardware stamp. */
enum quell_clockmap_result {
	QUELL_CLOCKMAP_MAPPED,	/* the stamp was mapped to host time */
	QUELL_CLOCKMAP_WARMING,	/* the map is not usable yet */
	QUELL_CLOCKMAP_REFUSED,	/* the stamp is after the receipt, or far too early */
	QUELL_CLOCKMAP_STEPPED,	/* the clock was stepped: it starts anew */
};

/* Summary of a bin of packets. */
struct quell_clockmap_bin {
	u64	hw_ns;	/* of the lowest point */
	u64	sw_ns;	/* of the lowest point */
	u64	low_ns;	/* its height above the line of that time */
	u32	high_ns;	/* of the highest point, at most 2^32 - 1 */
	u32	run_pkts;	/* most packets in a row that were not near the line */
};

/* The map of one NIC's clock; all zero: no packet yet. */
struct quell_clockmap {
	struct quell_clockmap_bin	bins[QUELL_CLOCKMAP_BINS];	/* complete, oldest first */
	struct quell_clockmap_bin	now;
	u64				base_hw_ns;	/* a point of the line */
	u64				base_sw_ns;	/* the same point */
	u64				rate_q32;	/* slope; 0 before the first packet */
	u64				begin_ns;	/* of the current bin, host clock */
	u64				last_ns;	/* newest software stamp */
	u64				width_ns;	/* minimum length of a bin */
	/* Of the first packet in a row far too late. */
	u64				late_hw_ns;
	u64				late_ns;	/* height of that first packet */
	/* Enough bins agreed on the line, host clock; 0 never. */
	u64				agreed_ns;
	u32				late_pkts;	/* packets in a row far too late */
	/* Stamps after their receipt, halved with each bin. */
	u32				early_pkts;
	/* Packets since the last one near the line. */
	u32				run_pkts;
	u32				pkts;	/* in the current bin */
	u32				high_ns;	/* largest in @bins */
	/* Most packets between two near the line, in @bins. */
	u32				longest_pkts;
	/* Median height of the bins' lowest points. */
	u32				error_ns;
	u32				bins_nr;	/* valid entries in @bins */
	bool				usable;	/* the line may be used */
};

static inline u32 quell_clockmap_u32(u64 value)
{
	return quell_min_u64(value, 0xffffffffU);
}

/*
 * Host time of a hardware stamp by the line, CLOCK_MONOTONIC, modulo 2^64; after the first packet.
 */
static inline u64 quell_clockmap_ns(const struct quell_clockmap *map, u64 hw_ns)
{
	bool is_before = (hw_ns - map->base_hw_ns) >> 63;
	u64 by_ns = is_before ? map->base_hw_ns - hw_ns : hw_ns - map->base_hw_ns;

	/* At most 2^63 times a rate near 1. */
	by_ns = quell_mul_shr_fits_u64(by_ns, map->rate_q32, 32);
	return is_before ? map->base_sw_ns - by_ns : map->base_sw_ns + by_ns;
}

static inline void quell_clockmap_bin_open(struct quell_clockmap *map, u64 sw_ns)
{
	map->now = (struct quell_clockmap_bin) { .low_ns = QUELL_U64_MAX };
	map->begin_ns = sw_ns;
	map->pkts = 0;
}

/* Resets everything except the slope: the oscillator is still the same. */
static __rare void quell_clockmap_start(struct quell_clockmap *map, u64 hw_ns, u64 sw_ns)
{
	if (!map->rate_q32)
		map->rate_q32 = QUELL_CLOCKMAP_RATE_ONE;
	map->base_hw_ns = hw_ns;
	map->base_sw_ns = sw_ns;
	map->last_ns = sw_ns;
	map->width_ns = QUELL_CLOCKMAP_BIN_MIN_NS;
	map->late_pkts = 0;
	map->early_pkts = 0;
	map->run_pkts = 0;
	map->high_ns = 0;
	map->longest_pkts = 0;
	map->error_ns = 0;
	map->bins_nr = 0;
	map->agreed_ns = 0;
	map->usable = false;
	quell_clockmap_bin_open(map, sw_ns);
}

/* Height of a bin's lowest point above the line as it is now; 0 if below. */
static inline u64 quell_clockmap_height_ns(const struct quell_clockmap *map,
					   const struct quell_clockmap_bin *bin)
{
	u64 height_ns = bin->sw_ns - quell_clockmap_ns(map, bin->hw_ns);

	return height_ns >> 63 ? 0 : height_ns;
}

static inline void quell_clockmap_drop(struct quell_clockmap *map, u32 drop)
{
	u32 i;

	for (i = 0; i + drop < map->bins_nr; i++)
		map->bins[i] = map->bins[i + drop];
	map->bins_nr -= drop;
}

/* Merges pairs of bins: keeps the lower of the lowest points and the larger maxima. */
static inline void quell_clockmap_merge(struct quell_clockmap *map)
{
	u32 i;

	for (i = 0; i < QUELL_CLOCKMAP_BINS / 2; i++) {
		const struct quell_clockmap_bin *older = &map->bins[2 * i];
		const struct quell_clockmap_bin *newer = &map->bins[2 * i + 1];
		struct quell_clockmap_bin both = *older;

		if (quell_clockmap_height_ns(map, newer) < quell_clockmap_height_ns(map, older))
			both = *newer;
		both.high_ns = quell_max_u64(older->high_ns, newer->high_ns);
		both.run_pkts = quell_max_u64(older->run_pkts, newer->run_pkts);
		map->bins[i] = both;
	}
	map->bins_nr = QUELL_CLOCKMAP_BINS / 2;
	map->width_ns *= 2;
}

/* Makes room for one more bin and drops bins that are too old. */
static inline void quell_clockmap_make_room(struct quell_clockmap *map, u64 sw_ns)
{
	u32 old = 0;

	if (map->bins_nr == QUELL_CLOCKMAP_BINS) {
		if (map->width_ns < QUELL_CLOCKMAP_BIN_MAX_NS)
			quell_clockmap_merge(map);
		else
			old = 1;
	}
	while (old < map->bins_nr &&
	       sw_ns - map->bins[old].sw_ns > QUELL_CLOCKMAP_SPAN_MAX_NS)
		old++;
	if (old)
		quell_clockmap_drop(map, old);
}

/*
 * Whether the corner between two bins is on or above the straight line between
 * them.  Differences are below 2^32: the products fit.
 */
static inline bool quell_clockmap_above(const struct quell_clockmap_bin *from,
					const struct quell_clockmap_bin *corner,
					const struct quell_clockmap_bin *to)
{
	return (corner->sw_ns - from->sw_ns) * (to->hw_ns - from->hw_ns) >=
	       (to->sw_ns - from->sw_ns) * (corner->hw_ns - from->hw_ns);
}

/* Whether a point can follow another in the hull: it is later by both clocks. */
static inline bool quell_clockmap_follows(const struct quell_clockmap_bin *bin,
					  const struct quell_clockmap_bin *before)
{
	u64 hw_ns = bin->hw_ns - before->hw_ns;
	u64 sw_ns = bin->sw_ns - before->sw_ns;

	return hw_ns && !(hw_ns >> 32) && sw_ns && !(sw_ns >> 32);
}

/* Corners of the lower convex hull, as numbers of bins; returns how many. */
static inline u32 quell_clockmap_hull(const struct quell_clockmap *map, u8 *corners)
{
	const struct quell_clockmap_bin *bins = map->bins;
	u32 nr = 0, i;

	for (i = 0; i < map->bins_nr; i++) {
		if (nr && (!quell_clockmap_follows(&bins[i], &bins[corners[nr - 1]]) ||
			   !quell_clockmap_follows(&bins[i], &bins[corners[0]])))
			continue;
		while (nr > 1 && quell_clockmap_above(&bins[corners[nr - 2]],
						      &bins[corners[nr - 1]], &bins[i]))
			nr--;
		corners[nr++] = i;
	}
	return nr;
}

/*
 * Sets the line to the edge of the hull over the middle bin, by number and not by
 * time, because a bin from a quieter time has few packets and should count little.
 * Returns false if there is no valid edge.
 */
static inline bool quell_clockmap_fit(struct quell_clockmap *map)
{
	const struct quell_clockmap_bin *from, *to;
	u8 corners[QUELL_CLOCKMAP_BINS];
	u32 nr = quell_clockmap_hull(map, corners);
	u64 rate_q32;
	u32 i = 1;

	if (nr < 2)
		return false;
	while (i + 1 < nr && corners[i] < map->bins_nr / 2)
		i++;
	from = &map->bins[corners[i - 1]];
	to = &map->bins[corners[i]];
	rate_q32 = quell_div_u64((to->sw_ns - from->sw_ns) << 32, to->hw_ns - from->hw_ns);
	if (rate_q32 < QUELL_CLOCKMAP_RATE_ONE - QUELL_CLOCKMAP_DRIFT_MAX ||
	    rate_q32 > QUELL_CLOCKMAP_RATE_ONE + QUELL_CLOCKMAP_DRIFT_MAX)
		return false;
	map->rate_q32 = rate_q32;
	map->base_hw_ns = to->hw_ns;
	map->base_sw_ns = to->sw_ns;
	return true;
}

/*
 * Sorts the bins by the height of their lowest point above the line, and returns
 * the height at index @rank; 0 if there are not that many bins.
 */
static inline u64 quell_clockmap_rank_ns(const struct quell_clockmap *map, u32 rank)
{
	u64 heights_ns[QUELL_CLOCKMAP_BINS];
	u32 nr = map->bins_nr;
	u64 rank_ns = 0;
	u32 i, j;

	for (i = 0; i < nr; i++)
		heights_ns[i] = quell_clockmap_height_ns(map, &map->bins[i]);
	for (i = 0; i < nr; i++) {
		u32 lower = 0;

		for (j = 0; j < nr; j++)
			lower += heights_ns[j] < heights_ns[i] ||
				 (heights_ns[j] == heights_ns[i] && j < i);
		if (lower == rank)
			rank_ns = heights_ns[i];
	}
	return rank_ns;
}

static inline bool quell_clockmap_agreed(const struct quell_clockmap *map, u64 sw_ns)
{
	return map->agreed_ns && sw_ns - map->agreed_ns <= QUELL_CLOCKMAP_AGREE_KEEP_NS;
}

/*
 * Fits a line.  If too few bins agree on the new line but enough agreed on the last,
 * the new line is rejected, because the newest bins may all be high.  The last line
 * then stays for AGREE_KEEP_NS, while the oscillator drifts little.
 */
static inline bool quell_clockmap_refit(struct quell_clockmap *map, u64 sw_ns)
{
	u64 rate_q32 = map->rate_q32, base_hw_ns = map->base_hw_ns;
	u64 base_sw_ns = map->base_sw_ns;
	bool fitted = quell_clockmap_fit(map);

	if (fitted && map->bins_nr >= QUELL_CLOCKMAP_WARM_BINS &&
	    quell_clockmap_rank_ns(map, QUELL_CLOCKMAP_AGREE_BINS - 1) <=
	    QUELL_CLOCKMAP_AGREE_NS) {
		map->agreed_ns = sw_ns;
		return true;
	}
	if (!quell_clockmap_agreed(map, sw_ns))
		return fitted;
	map->rate_q32 = rate_q32;
	map->base_hw_ns = base_hw_ns;
	map->base_sw_ns = base_sw_ns;
	return true;
}

/*
 * Whether enough bins agree on the line, or the window is near its full length and
 * half of its bins agree within a margin that is small for such delays.
 */
static inline bool quell_clockmap_is_warm(const struct quell_clockmap *map, u64 sw_ns)
{
	u64 half_ns;

	if (quell_clockmap_agreed(map, sw_ns))
		return true;
	if (map->bins_nr < QUELL_CLOCKMAP_WARM_BINS)
		return false;
	/* Only the newer half counts: there may have been a silence before it. */
	half_ns = map->bins[map->bins_nr - 1].sw_ns - map->bins[map->bins_nr / 2].sw_ns;
	return half_ns >= QUELL_CLOCKMAP_AGREE_HALF_NS &&
	       map->error_ns <= map->high_ns / QUELL_CLOCKMAP_TRUST + QUELL_CLOCKMAP_TOLERANCE_NS;
}

/*
 * Computes from the bins the error of the line and the longest delays, and whether
 * to use the line.  The error is the median, within which half of the bins agree.
 */
static inline void quell_clockmap_evaluate(struct quell_clockmap *map, bool fitted, u64 sw_ns)
{
	u32 i;

	map->high_ns = 0;
	map->longest_pkts = 0;
	map->error_ns = quell_clockmap_u32(quell_clockmap_rank_ns(map, map->bins_nr / 2));
	for (i = 0; i < map->bins_nr; i++) {
		const struct quell_clockmap_bin *bin = &map->bins[i];

		map->high_ns = quell_max_u64(map->high_ns, bin->high_ns);
		map->longest_pkts = quell_max_u64(map->longest_pkts, bin->run_pkts);
	}
	map->usable = fitted && quell_clockmap_is_warm(map, sw_ns);
}

static __rare void quell_clockmap_bin_close(struct quell_clockmap *map, u64 sw_ns)
{
	quell_clockmap_make_room(map, sw_ns);
	map->bins[map->bins_nr++] = map->now;
	quell_clockmap_evaluate(map, quell_clockmap_refit(map, sw_ns), sw_ns);
	map->early_pkts /= 2;
	quell_clockmap_bin_open(map, sw_ns);
}

static inline u64 quell_clockmap_tolerance_ns(const struct quell_clockmap *map)
{
	return 4ULL * map->error_ns + QUELL_CLOCKMAP_TOLERANCE_NS;
}

/* Adds a point to the current bin; true if too many points in a row were not near the line. */
static inline bool quell_clockmap_keep(struct quell_clockmap *map, u64 hw_ns, u64 sw_ns,
				       u64 height_ns)
{
	struct quell_clockmap_bin *now = &map->now;

	if (height_ns < now->low_ns) {
		now->hw_ns = hw_ns;
		now->sw_ns = sw_ns;
		now->low_ns = height_ns;
	}
	now->high_ns = quell_clockmap_u32(quell_max_u64(now->high_ns, height_ns));
	map->pkts++;
	if (height_ns <= quell_clockmap_tolerance_ns(map))
		map->run_pkts = 0;
	else
		map->run_pkts++;
	now->run_pkts = quell_max_u64(now->run_pkts, map->run_pkts);
	return map->usable && map->run_pkts >= quell_max_u64(QUELL_CLOCKMAP_STEP_PKTS,
							     4ULL * map->longest_pkts);
}

/* Whether a stamp is too far after its receipt, by @by_ns, for the line to be lowered. */
static inline bool quell_clockmap_too_early(const struct quell_clockmap *map, u64 by_ns)
{
	return by_ns > (map->usable ? quell_clockmap_tolerance_ns(map) : QUELL_CLOCKMAP_EARLY_NS);
}

/* Whether a height far exceeds those of the window; the first bin has no reference. */
static inline bool quell_clockmap_too_late(const struct quell_clockmap *map, u64 height_ns)
{
	return map->bins_nr && height_ns > 2ULL * map->high_ns + QUELL_CLOCKMAP_LATE_NS;
}

/* Counts a packet far too late; true if the host's delay cannot explain it. */
static inline bool quell_clockmap_late(struct quell_clockmap *map, u64 hw_ns, u64 height_ns)
{
	if (!map->late_pkts++) {
		map->late_hw_ns = hw_ns;
		map->late_ns = height_ns;
	}
	if (map->late_pkts >= QUELL_CLOCKMAP_STEP_PKTS)
		return true;
	/* Packets delayed by a stall of the host were received by the NIC within the stall. */
	return map->late_pkts >= QUELL_CLOCKMAP_LATE_PKTS &&
	       hw_ns - map->late_hw_ns > map->late_ns && !((hw_ns - map->late_hw_ns) >> 63);
}

static inline bool quell_clockmap_bin_is_over(const struct quell_clockmap *map, u64 sw_ns)
{
	u64 length_ns = quell_sub_sat_u64(sw_ns, map->begin_ns);

	if (!map->pkts)
		return false;
	return length_ns >= QUELL_CLOCKMAP_BIN_SPARSE_NS ||
	       (length_ns >= map->width_ns && map->pkts >= QUELL_CLOCKMAP_BIN_PKTS);
}

static inline enum quell_clockmap_result
quell_clockmap_refuse(struct quell_clockmap *map, u64 hw_ns, u64 sw_ns, bool stepped)
{
	if (!stepped)
		return QUELL_CLOCKMAP_REFUSED;
	quell_clockmap_start(map, hw_ns, sw_ns);
	return QUELL_CLOCKMAP_STEPPED;
}

/*
 * The NIC stamped a packet at @hw_ns, the stack received it at @sw_ns, CLOCK_MONOTONIC.  @host_ns:
 * the stamp in host time, at most @sw_ns, with QUELL_CLOCKMAP_MAPPED; else @sw_ns.
 */
static inline enum quell_clockmap_result
quell_clockmap_add(struct quell_clockmap *map, u64 hw_ns, u64 sw_ns, u64 *host_ns)
{
	bool stepped = false;
	u64 height_ns;

	*host_ns = sw_ns;
	if (!map->rate_q32 ||
	    quell_sub_sat_u64(sw_ns, map->last_ns) > QUELL_CLOCKMAP_STALE_NS)
		quell_clockmap_start(map, hw_ns, sw_ns);
	map->last_ns = quell_max_u64(map->last_ns, sw_ns);
	if (quell_clockmap_bin_is_over(map, sw_ns))
		quell_clockmap_bin_close(map, sw_ns);
	height_ns = sw_ns - quell_clockmap_ns(map, hw_ns);
	if (height_ns >> 63) {
		if (quell_clockmap_too_early(map, -height_ns)) {
			stepped = ++map->early_pkts >= QUELL_CLOCKMAP_EARLY_PKTS;
			return quell_clockmap_refuse(map, hw_ns, sw_ns, stepped);
		}
		/* Lowering the line puts all earlier points that much higher above it. */
		map->base_sw_ns += height_ns;
		map->now.low_ns = quell_add_sat_u64(map->now.low_ns, -height_ns);
		height_ns = 0;
	} else if (quell_clockmap_too_late(map, height_ns)) {
		stepped = quell_clockmap_late(map, hw_ns, height_ns);
		return quell_clockmap_refuse(map, hw_ns, sw_ns, stepped);
	}
	map->late_pkts = 0;
	if (quell_clockmap_keep(map, hw_ns, sw_ns, height_ns))
		return quell_clockmap_refuse(map, hw_ns, sw_ns, true);
	if (!map->usable)
		return QUELL_CLOCKMAP_WARMING;
	*host_ns = sw_ns - height_ns;
	return QUELL_CLOCKMAP_MAPPED;
}

#endif /* _QUELL_CORE_SIGNAL_CLOCKMAP_H */
