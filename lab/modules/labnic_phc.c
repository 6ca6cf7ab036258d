// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: the hardware clock of a NIC.
 *
 * The clock is a function of CLOCK_MONOTONIC, the laboratory's true time:
 *
 *	phc(t) = base_phc + d + d * drift / 10^9 + d * adj / (65536 * 10^6),
 *	d = t - base_host
 *
 * Offset and drift are the error given at creation; adj is the correction a servo
 * sets through clock_adjtime().  Each product is rounded towards zero, to the ns.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>

#include "labnic.h"
#include "labnic_part.h"

#define LABNIC_SCALED_PPM_ONE	(65536ULL * 1000000)

static s64 labnic_scale(u64 delta_ns, s64 numerator, u64 denominator)
{
	u64 part_ns = mul_u64_u64_div_u64(delta_ns, abs(numerator), denominator);

	return numerator < 0 ? -(s64)part_ns : (s64)part_ns;
}

static s64 labnic_phc_read(const struct labnic_phc *phc, u64 host_ns)
{
	u64 base_ns = max(phc->base_host_ns, labnic_part_base_ns());
	u64 delta_ns = max(host_ns, base_ns) - base_ns;

	return phc->base_phc_ns + (s64)delta_ns +
	       labnic_scale(delta_ns, phc->drift_ppb, NSEC_PER_SEC) +
	       labnic_scale(delta_ns, phc->adj_scaled_ppm,
			    LABNIC_SCALED_PPM_ONE);
}

/* Not before the last adjustment of the clock. */
u64 labnic_phc_ns(struct labnic_phc *phc, u64 host_ns)
{
	unsigned long flags;
	s64 phc_ns;

	spin_lock_irqsave(&phc->lock, flags);
	phc_ns = labnic_phc_read(phc, host_ns);
	spin_unlock_irqrestore(&phc->lock, flags);
	return phc_ns;
}

/* Restart the formula from now, so that a change of rate does not change past times. */
static void labnic_phc_rebase(struct labnic_phc *phc)
{
	u64 now_ns = ktime_get_ns();

	phc->base_phc_ns = labnic_phc_read(phc, now_ns);
	phc->base_host_ns = now_ns;
}

static int labnic_phc_adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	struct labnic_phc *phc = container_of(info, struct labnic_phc, info);
	unsigned long flags;

	spin_lock_irqsave(&phc->lock, flags);
	labnic_phc_rebase(phc);
	phc->adj_scaled_ppm = scaled_ppm;
	spin_unlock_irqrestore(&phc->lock, flags);
	return 0;
}

int labnic_phc_adjtime(struct ptp_clock_info *info, s64 delta_ns)
{
	struct labnic_phc *phc = container_of(info, struct labnic_phc, info);
	unsigned long flags;

	spin_lock_irqsave(&phc->lock, flags);
	labnic_phc_rebase(phc);
	phc->base_phc_ns += delta_ns;
	spin_unlock_irqrestore(&phc->lock, flags);
	return 0;
}

static int labnic_phc_settime(struct ptp_clock_info *info,
			      const struct timespec64 *ts)
{
	struct labnic_phc *phc = container_of(info, struct labnic_phc, info);
	unsigned long flags;

	spin_lock_irqsave(&phc->lock, flags);
	labnic_phc_rebase(phc);
	phc->base_phc_ns = timespec64_to_ns(ts);
	spin_unlock_irqrestore(&phc->lock, flags);
	return 0;
}

static int labnic_phc_gettimex(struct ptp_clock_info *info,
			       struct timespec64 *ts,
			       struct ptp_system_timestamp *sts)
{
	struct labnic_phc *phc = container_of(info, struct labnic_phc, info);
	unsigned long flags;

	spin_lock_irqsave(&phc->lock, flags);
	ptp_read_system_prets(sts);
	*ts = ns_to_timespec64(labnic_phc_read(phc, ktime_get_ns()));
	ptp_read_system_postts(sts);
	spin_unlock_irqrestore(&phc->lock, flags);
	return 0;
}

int labnic_phc_register(struct labnic_port *port, s64 offset_ns, s32 drift_ppb)
{
	struct labnic_phc *phc = &port->phc;
	struct ptp_clock *clock;

	spin_lock_init(&phc->lock);
	phc->base_host_ns = ktime_get_ns();
	/* Of a network in parts it runs from a time that does not depend on their number. */
	phc->base_phc_ns = (quell_part_is_on() ? 0 : (s64)phc->base_host_ns) + offset_ns;
	phc->drift_ppb = drift_ppb;
	phc->info = (struct ptp_clock_info) {
		.owner		= THIS_MODULE,
		.name		= "quellnic",
		.max_adj	= 100000000,	/* ppb */
		.adjfine	= labnic_phc_adjfine,
		.adjtime	= labnic_phc_adjtime,
		.gettimex64	= labnic_phc_gettimex,
		.settime64	= labnic_phc_settime,
	};
	clock = ptp_clock_register(&phc->info, NULL);
	if (IS_ERR(clock))
		return PTR_ERR(clock);
	phc->clock = clock;
	return 0;
}

void labnic_phc_unregister(struct labnic_port *port)
{
	if (port->phc.clock)
		ptp_clock_unregister(port->phc.clock);
	port->phc.clock = NULL;
}
