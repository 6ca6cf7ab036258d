// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labswift: Swift with a path for each segment, in place of tcp_swift.
 *
 * A comparison with SMaRTT that is about congestion control alone needs the same paths for both;
 * the SMaRTT paper does not say which load balancer its Swift has.  tcp_swift does not spray.
 */
#include <linux/module.h>
#include <quell/core/swift/core.h>
#include <quell/quell.h>

static void quell_swift_lab_core_on_ack(struct quell_event *ev)
{
	quell_swift_core_on_ack(ev);
}

static struct quell_core quell_swift_lab_core;

QUELL_ALGO(swift_lab);

static int __init labswift_register(void)
{
	quell_swift_lab_core = quell_swift_core;
	quell_swift_lab_core.flags |= QUELL_CORE_SPRAYS;
	return quell_algo_register(&swift_lab_algo);
}

static void __exit labswift_unregister(void)
{
	quell_algo_unregister(&swift_lab_algo);
}

module_init(labswift_register);
module_exit(labswift_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("Swift over the paths of path entropies, in the laboratory");
MODULE_LICENSE("GPL");
