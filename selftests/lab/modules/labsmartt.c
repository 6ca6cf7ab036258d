// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labsmartt: SMaRTT in the variants that its paper compares it with, in place of tcp_smartt.
 *
 *	variant=1	marks alone (Figure 5): per unmarked ACK the fair increase, per marked one
 *			half of its bytes off the window, as MPRDMA does, which the paper names as
 *			what it starts from; no FastIncrease, which needs the delay
 *	variant=2	delay alone (Figure 5): what the core does without ECN
 *	variant=3	a mark with low delay takes half of its bytes off the window (Figure 11)
 *
 * What they do is in smartt_variants.h, which the unit tests include, too.
 */
#include <linux/module.h>
#include <quell/core/smartt/core.h>
#include <quell/quell.h>

#include "smartt_variants.h"

enum labsmartt_variant {
	LABSMARTT_MARKS = 1,
	LABSMARTT_DELAY,
	LABSMARTT_DECREASE,
};

static unsigned int variant;
module_param(variant, uint, 0444);
MODULE_PARM_DESC(variant, "1: marks alone, 2: delay alone, 3: decrease at marks with low delay");

static void quell_smartt_lab_core_on_ack(struct quell_event *ev)
{
	if (variant == LABSMARTT_MARKS)
		smartt_variant_by_marks(ev);
	else if (variant == LABSMARTT_DELAY)
		smartt_variant_by_delay(ev);
	else
		smartt_variant_decreasing(ev);
}

static struct quell_core quell_smartt_lab_core;

QUELL_ALGO(smartt_lab);

static int __init labsmartt_register(void)
{
	if (variant < LABSMARTT_MARKS || variant > LABSMARTT_DECREASE) {
		pr_err("quell_labsmartt: variant=%u must be 1..3\n", variant);
		return -EINVAL;
	}
	quell_smartt_lab_core = quell_smartt_core;
	quell_smartt_lab_core.on_ack = quell_smartt_lab_core_on_ack;
	return quell_algo_register(&smartt_lab_algo);
}

static void __exit labsmartt_unregister(void)
{
	quell_algo_unregister(&smartt_lab_algo);
}

module_init(labsmartt_register);
module_exit(labsmartt_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("SMaRTT by marks alone, by delay alone, or decreasing earlier, in the laboratory");
MODULE_LICENSE("GPL");
