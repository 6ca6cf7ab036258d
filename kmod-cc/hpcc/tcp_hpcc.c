// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "hpcc": registers the core in
 * quell/core/hpcc/react.h, where the algorithm is described.
 */
#include <linux/module.h>
#include <quell/core/hpcc/core.h>
#include <quell/quell.h>
#include <quell/version.h>
#include "tcp_hpcc.h"

QUELL_ALGO(hpcc);

static int __init hpcc_register(void)
{
	int err;

	err = quell_algo_register(&hpcc_algo);
	if (err)
		return err;
	err = hpcc_vaisf_register();
	if (err)
		quell_algo_unregister(&hpcc_algo);
	return err;
}

static void __exit hpcc_unregister(void)
{
	hpcc_vaisf_unregister();
	quell_algo_unregister(&hpcc_algo);
}

module_init(hpcc_register);
module_exit(hpcc_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP HPCC: congestion control by the load that switches report");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);
/* Name under which the kernel loads the module for hpcc_vaisf. */
MODULE_ALIAS("tcp_hpcc_vaisf");
