// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labsmartt: SMaRTT in the variants that its paper compares it with, in place of tcp_smartt.
 *
 *	variant=1	marks alone (Figure 5): per unmarked ACK the fair increase, per marked one
 *			half of its bytes off the window; no FastIncrease, which needs the delay
 *	variant=2	delay alone (Figure 5): the core without ECN
 *	variant=3	a mark with low delay takes half of its bytes off the window (Figure 11)
 *	variant=4	paths as PLB chooses them (Figure 3)
 *	variant=5	MP-RDMA's window in place of SMaRTT's (Figures 1, 12, 13, 17)
 *
 * They are in smartt_variants.h, which the unit tests include, too.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <quell/core/smartt/core.h>
#include <quell/quell.h>

#include "smartt_variants.h"

enum labsmartt_variant {
	LABSMARTT_MARKS = 1,
	LABSMARTT_DELAY,
	LABSMARTT_DECREASE,
	LABSMARTT_PLB,
	LABSMARTT_MPRDMA,
};

static unsigned int variant;
module_param(variant, uint, 0444);
MODULE_PARM_DESC(variant, "1: marks alone, 2: delay alone, 3: decrease at marks with low delay, 4: PLB, 5: MP-RDMA");

/* By the address of the core's variables: a socket has no room for more. */
static DEFINE_XARRAY(labsmartt_plb);

static struct smartt_plb *labsmartt_plb_of(const void *vars)
{
	struct smartt_plb *plb = xa_load(&labsmartt_plb, (unsigned long)vars);

	if (plb)
		return plb;
	plb = kzalloc(sizeof(*plb), GFP_ATOMIC);
	if (plb && xa_err(xa_store_bh(&labsmartt_plb, (unsigned long)vars, plb, GFP_ATOMIC))) {
		kfree(plb);
		plb = NULL;
	}
	return plb;
}

/* Without memory for it a flow keeps its path. */
static void labsmartt_by_plb(struct quell_event *ev)
{
	struct smartt_plb none = { 0 };

	smartt_variant_by_plb(ev, labsmartt_plb_of(ev->vars) ?: &none);
}

static void labsmartt_init(struct quell_event *ev)
{
	/* Another socket may have been there. */
	kfree(xa_erase_bh(&labsmartt_plb, (unsigned long)ev->vars));
	quell_smartt_core.init(ev);
}

static void quell_smartt_lab_core_on_ack(struct quell_event *ev)
{
	if (variant == LABSMARTT_MARKS)
		smartt_variant_by_marks(ev);
	else if (variant == LABSMARTT_DELAY)
		smartt_variant_by_delay(ev);
	else if (variant == LABSMARTT_DECREASE)
		smartt_variant_decreasing(ev);
	else if (variant == LABSMARTT_MPRDMA)
		smartt_variant_mprdma(ev);
	else
		labsmartt_by_plb(ev);
}

static struct quell_core quell_smartt_lab_core;

QUELL_ALGO(smartt_lab);

static int __init labsmartt_register(void)
{
	if (variant < LABSMARTT_MARKS || variant > LABSMARTT_MPRDMA) {
		pr_err("quell_labsmartt: variant=%u must be 1..5\n", variant);
		return -EINVAL;
	}
	quell_smartt_lab_core = quell_smartt_core;
	quell_smartt_lab_core.on_ack = quell_smartt_lab_core_on_ack;
	if (variant == LABSMARTT_PLB)
		quell_smartt_lab_core.init = labsmartt_init;
	return quell_algo_register(&smartt_lab_algo);
}

static void __exit labsmartt_unregister(void)
{
	struct smartt_plb *plb;
	unsigned long index;

	quell_algo_unregister(&smartt_lab_algo);
	xa_for_each(&labsmartt_plb, index, plb)
		kfree(plb);
	xa_destroy(&labsmartt_plb);
}

module_init(labsmartt_register);
module_exit(labsmartt_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("SMaRTT's variants that its paper compares it with, in the laboratory");
MODULE_LICENSE("GPL");
