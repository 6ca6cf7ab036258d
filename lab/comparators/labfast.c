// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labfast: FAST*, with which the TIMELY paper compares itself, in place of tcp_timely.
 *
 * The algorithm is in timely_fast.h, which the unit tests include, too.  Its parameters are
 * TIMELY's and three more.
 */
#include <linux/module.h>
#include <quell/quell.h>

#include "timely_fast.h"

static void quell_timely_lab_core_on_ack(struct quell_event *ev)
{
	timely_fast_on_ack(ev);
}

static struct quell_param_desc labfast_params[TIMELY_FAST_PARAMS_NR];
static struct quell_core quell_timely_lab_core;

QUELL_ALGO(timely_lab);

static int __init labfast_register(void)
{
	quell_timely_lab_core = timely_fast_core(labfast_params);
	return quell_algo_register(&timely_lab_algo);
}

static void __exit labfast_unregister(void)
{
	quell_algo_unregister(&timely_lab_algo);
}

module_init(labfast_register);
module_exit(labfast_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("FAST*, with which the TIMELY paper compares itself, in the laboratory");
MODULE_LICENSE("GPL");
