// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labib: InfiniBand's congestion control, with which the Dart paper compares itself, in
 * place of tcp_dcqcn.
 *
 * The algorithm is in dcqcn_ib.h, which the unit tests include, too.  Its parameters are DCQCN's
 * and four more.
 */
#include <linux/module.h>
#include <quell/quell.h>

#include "dcqcn_ib.h"

static void quell_dcqcn_lab_core_on_ack(struct quell_event *ev)
{
	dcqcn_ib_on_ack(ev);
}

static struct quell_param_desc labib_params[DCQCN_IB_PARAMS_NR];
static struct quell_core quell_dcqcn_lab_core;

QUELL_ALGO(dcqcn_lab);

static int __init labib_register(void)
{
	quell_dcqcn_lab_core = dcqcn_ib_core(labib_params);
	return quell_algo_register(&dcqcn_lab_algo);
}

static void __exit labib_unregister(void)
{
	quell_algo_unregister(&dcqcn_lab_algo);
}

module_init(labib_register);
module_exit(labib_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("InfiniBand's congestion control, in the laboratory");
MODULE_LICENSE("GPL");
