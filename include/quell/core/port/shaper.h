/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of a wire: when it is free again after each packet, kept exactly.
 *
 * A packet of n bytes occupies a wire of R bytes/s for n / R seconds, which is
 * rarely a whole number of nanoseconds (1538 bytes at 10 Gbit/s: 1230.4).  The
 * fraction is carried as a numerator over R, so that over any busy period the
 * wire carries exactly R bytes per second, not one byte more or less.
 *
 * It does not model bursts.  There is no token bucket; a packet leaves when the
 * previous one has left the wire.
 */
#ifndef _QUELL_CORE_PORT_SHAPER_H
#define _QUELL_CORE_PORT_SHAPER_H

#include <quell/core/core.h>
#include <quell/core/lib/math.h>

/*
 * Maximum delay in serving the wire that is still made up for, ns.  A delay within it
 * comes from a late timer, and the rate stays exact; a longer gap means that the
 * device below was stopped, and its idle time must not become a burst.
 */
#define QUELL_SHAPER_LATE_NS	1000000ULL

/* One wire. */
struct quell_shaper {
	u64	free_ns;	/* when it is free again, rounded down */
	u64	free_rem;	/* the rest: @free_rem / rate nanoseconds, less than one */
};

/* First whole nanosecond at which the next packet may start. */
static inline u64 quell_shaper_ready_ns(const struct quell_shaper *shaper)
{
	return shaper->free_ns + (shaper->free_rem ? 1 : 0);
}

/*
 * Start a busy period: idle time of the wire earns no credit.  Must also be called before
 * quell_shaper_charge(), with now_ns - QUELL_SHAPER_LATE_NS.
 */
static inline void quell_shaper_restart(struct quell_shaper *shaper, u64 now_ns)
{
	if (now_ns > shaper->free_ns) {
		shaper->free_ns = now_ns;
		shaper->free_rem = 0;
	}
}

/*
 * @rate_bytes_ps: > 0, at most 2^44; constant while @free_rem is kept.  @bytes: on the wire, at
 * most 2^30.  bytes * 10^9 + rem < 2^61, no overflow.
 */
static inline void quell_shaper_charge(struct quell_shaper *shaper,
				       u64 rate_bytes_ps, u32 bytes)
{
	u64 work = bytes * QUELL_NS_PER_SEC + shaper->free_rem;
	u64 whole_ns = quell_div_u64(work, rate_bytes_ps);

	shaper->free_ns += whole_ns;
	shaper->free_rem = work - whole_ns * rate_bytes_ps;
}

/*
 * Of bytes charged since the last quell_shaper_restart(): charging them again gives the same time;
 * of more, or at another rate, the wire is free earlier.
 */
static inline void quell_shaper_refund(struct quell_shaper *shaper, u64 rate_bytes_ps, u32 bytes)
{
	u64 work = bytes * QUELL_NS_PER_SEC;
	u64 whole_ns;

	if (work <= shaper->free_rem) {
		shaper->free_rem -= work;
		return;
	}
	work -= shaper->free_rem;
	whole_ns = quell_div_u64(work - 1, rate_bytes_ps) + 1;
	shaper->free_ns = quell_sub_sat_u64(shaper->free_ns, whole_ns);
	shaper->free_rem = whole_ns * rate_bytes_ps - work;
}

/*
 * The rest of the packet on the wire is sent at the new rate, so that a wire that was slow does not
 * stay blocked for the time computed at the old rate.  A rate of 0: the wire is not shaped.
 */
static inline void quell_shaper_rerate(struct quell_shaper *shaper, u64 now_ns,
				       u64 old_bytes_ps, u64 new_bytes_ps)
{
	u64 work = 0;
	u64 whole_ns;

	if (old_bytes_ps == new_bytes_ps)
		return;
	/* The product is at most the work charged; that of many places may not fit. */
	if (old_bytes_ps && shaper->free_ns > now_ns)
		work = quell_add_sat_u64(quell_mul_sat_u64(shaper->free_ns - now_ns, old_bytes_ps),
					 shaper->free_rem);
	shaper->free_ns = now_ns;
	shaper->free_rem = 0;
	if (!new_bytes_ps)
		return;
	whole_ns = quell_div_u64(work, new_bytes_ps);
	shaper->free_ns += whole_ns;
	shaper->free_rem = work - whole_ns * new_bytes_ps;
}

#endif /* _QUELL_CORE_PORT_SHAPER_H */
