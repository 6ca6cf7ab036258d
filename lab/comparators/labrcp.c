// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labrcp: RCP, with which the Dart paper compares itself: congestion control "rcp", and the
 * switch's port, qdisc "labrcp" (labrcp_port.c).
 *
 * The rate travels in Quell's telemetry record, in the place of the link's.  Of all that reaches a
 * receiver and comes back with its ACKs this is the one that a switch may write, and quell.ko does
 * both ways of it already: senders leave room in data, receivers echo, and the core's sample has
 * it.  Neither quell.ko nor sch_swport knows of RCP.  In the same record, in the place of the
 * queue, switches hear of the flow's round-trip time, which RCP's packets carry, too; hosts' own
 * ports have the qdisc for that.
 */
#include <linux/module.h>
#include <quell/quell.h>

#include "labrcp.h"
#include "rcp_sender.h"

static void quell_rcp_core_on_ack(struct quell_event *ev)
{
	rcp_sender_on_ack(ev);
}

QUELL_ALGO(rcp);

static int __init labrcp_init(void)
{
	int err = labrcp_port_register();

	if (err)
		return err;
	err = quell_algo_register(&rcp_algo);
	if (err)
		labrcp_port_unregister();
	return err;
}

static void __exit labrcp_exit(void)
{
	quell_algo_unregister(&rcp_algo);
	labrcp_port_unregister();
}

module_init(labrcp_init);
module_exit(labrcp_exit);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("RCP, with which the Dart paper compares itself, in the laboratory");
MODULE_LICENSE("GPL");
