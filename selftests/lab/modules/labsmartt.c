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
 * The core is that of tcp_smartt.  Here samples are changed before it gets them, and the window
 * after it has answered; QuickAdapt and its ignore phase stay as they are.
 */
#include <linux/module.h>
#include <quell/core/smartt/core.h>
#include <quell/quell.h>

enum labsmartt_variant {
	LABSMARTT_MARKS = 1,
	LABSMARTT_DELAY,
	LABSMARTT_DECREASE,
};

static unsigned int variant;
module_param(variant, uint, 0444);
MODULE_PARM_DESC(variant, "1: marks alone, 2: delay alone, 3: decrease at marks with low delay");

/* Half of the marked bytes off the window, as far as one segment. */
static void labsmartt_cut(struct quell_event *ev)
{
	struct quell_smartt_vars *v = ev->vars;
	u32 marked_bytes = min(ev->sample.marked_bytes, ev->sample.acked_bytes);

	v->window_q16 = quell_sub_sat_u64(v->window_q16,
					  (u64)marked_bytes << (QUELL_Q16_SHIFT - 1));
	quell_smartt_decide(v, ev->decision.target_ns, ev->decision.change_path, &ev->decision);
}

/* The core is told that the delay is at its target: it then increases, and decreases nothing. */
static void labsmartt_by_marks(struct quell_event *ev)
{
	struct quell_smartt_vars *v = ev->vars;
	const struct quell_smartt_stats *stats = ev->stats;
	u64 ignored = stats->ignored;

	quell_smartt_observe_ack(v, ev->params, &ev->sample);
	if (ev->sample.rtt_ns)
		ev->sample.rtt_ns = quell_smartt_target_ns(v, ev->params);
	quell_smartt_core_on_ack(ev);
	if (stats->ignored == ignored)
		labsmartt_cut(ev);
}

static void labsmartt_by_delay(struct quell_event *ev)
{
	ev->sample.flags &= ~QUELL_S_ECN;
	ev->sample.marked_bytes = 0;
	quell_smartt_core_on_ack(ev);
}

static void labsmartt_decreasing(struct quell_event *ev)
{
	const struct quell_smartt_stats *stats = ev->stats;
	u64 before = stats->marked_low_delay;

	quell_smartt_core_on_ack(ev);
	if (stats->marked_low_delay != before)
		labsmartt_cut(ev);
}

static void quell_smartt_lab_core_on_ack(struct quell_event *ev)
{
	if (variant == LABSMARTT_MARKS)
		labsmartt_by_marks(ev);
	else if (variant == LABSMARTT_DELAY)
		labsmartt_by_delay(ev);
	else
		labsmartt_decreasing(ev);
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
