// SPDX-License-Identifier: GPL-2.0
/*
 * quell_badalgo: incomplete or invalid algorithms must be refused.
 *
 * When loaded it registers an algorithm with each of its required parts missing or
 * invalid, in turn, one of another version, and a valid one.  An algorithm that is accepted is
 * unregistered at once.
 *
 *	parameters:	refused, accepted, foreign, whole
 */
#include <linux/module.h>
#include <net/tcp.h>
#include <compat/cong_ops.h>
#include <quell/quell.h>

static unsigned int refused;
module_param(refused, uint, 0444);
MODULE_PARM_DESC(refused, "Of those that lack something, with -EINVAL");

static unsigned int accepted;
module_param(accepted, uint, 0444);
MODULE_PARM_DESC(accepted, "Of those that lack something");

static int foreign;
module_param(foreign, int, 0444);
MODULE_PARM_DESC(foreign, "Result of registering one of another version");

static unsigned int whole;
module_param(whole, uint, 0444);
MODULE_PARM_DESC(whole, "1 when the one with all parts was accepted");

static void badalgo_event(struct quell_event *ev)
{
}

static void badalgo_cong_control(quell_cong_control_args)
{
}

static struct quell_core badcore;
static struct quell_algo badalgo;
static const struct quell_param_desc badalgo_params[] = {
	{ .name = "adapt", .doc = "first", .unit = QUELL_UNIT_BOOL, .max = 1 },
};

static const struct quell_param_desc badalgo_other[] = {
	{ .name = "other", .doc = "first", .unit = QUELL_UNIT_BOOL, .max = 1 },
};

static const struct quell_param_desc badalgo_later[] = {
	{ .name = "adapt", .doc = "not first", .unit = QUELL_UNIT_BOOL, .offset = 8, .max = 1 },
};

static const struct quell_param_desc badalgo_outside[] = {
	{ .name = "adapt", .doc = "first", .unit = QUELL_UNIT_BOOL, .max = 1 },
	{ .name = "far", .doc = "behind the block", .offset = 2 * sizeof(u64) },
};

static const struct quell_param_desc badalgo_nameless[] = {
	{ .doc = "first", .unit = QUELL_UNIT_BOOL, .max = 1 },
};

static const struct quell_counter_desc badalgo_counters[] = {
	{ .name = "far", .doc = "behind the block", .offset = sizeof(u64) },
};

static void badalgo_fill(void)
{
	badcore = (struct quell_core) {
		.name			= "quell_badalgo",
		.init			= badalgo_event,
		.on_loss		= badalgo_event,
		.on_rto			= badalgo_event,
		.on_idle_restart	= badalgo_event,
		.undo_note		= badalgo_event,
		.on_undo		= badalgo_event,
		.params			= badalgo_params,
		.params_nr		= ARRAY_SIZE(badalgo_params),
		.params_bytes		= 2 * sizeof(u64),
		.counters_bytes		= sizeof(u64),
		.vars_bytes		= QUELL_CC_VARS_BYTES,
	};
	badalgo = (struct quell_algo) {
		.core	= &badcore,
		.ops	= { .owner = THIS_MODULE, .cong_control = badalgo_cong_control },
	};
}

static void badalgo_without(int part)
{
	badalgo_fill();
	switch (part) {
	case 0:
		badcore.name = "";
		break;
	case 1:
		badalgo.ops.cong_control = NULL;
		break;
	case 2:
		badcore.init = NULL;
		break;
	case 3:
		badcore.on_loss = NULL;
		break;
	case 4:
		badcore.on_rto = NULL;
		break;
	case 5:
		badcore.on_idle_restart = NULL;
		break;
	case 6:
		badcore.undo_note = NULL;
		break;
	case 7:
		badcore.on_undo = NULL;
		break;
	case 8:
		badcore.params = NULL;
		break;
	case 9:
		badcore.params_nr = 0;
		break;
	case 10:
		badcore.params = badalgo_other;
		break;
	case 11:
		badcore.params = badalgo_later;
		break;
	case 12:
		badcore.counters_nr = 1;
		break;
	case 13:
		badcore.vars_bytes = QUELL_CC_VARS_BYTES + 1;
		break;
	case 14:
		badcore.name = "a_name_too_long_";
		break;
	case 15:
		badcore.name = NULL;
		break;
	case 16:
		badalgo.core = NULL;
		break;
	case 17:
		badcore.params = badalgo_nameless;
		break;
	case 18:
		badcore.params = badalgo_outside;
		badcore.params_nr = ARRAY_SIZE(badalgo_outside);
		break;
	case 19:
		badcore.params_bytes = 0;
		break;
	case 20:
		badcore.counters = badalgo_counters;
		badcore.counters_nr = ARRAY_SIZE(badalgo_counters);
		break;
	case 21:
		badcore.needs.hold_offset = 2 * sizeof(u64);
		break;
	}
}

#define BADALGO_PARTS	22

static int __init badalgo_load(void)
{
	int err, part;

	for (part = 0; part < BADALGO_PARTS; part++) {
		badalgo_without(part);
		err = quell_algo_register(&badalgo);
		if (err == -EINVAL)
			refused++;
		if (err)
			continue;
		accepted++;
		quell_algo_unregister(&badalgo);
	}
	badalgo_fill();
	foreign = quell_algo_register_version(&badalgo, QUELL_VERSION "0");
	if (!foreign)
		quell_algo_unregister(&badalgo);
	badalgo_fill();
	if (!quell_algo_register(&badalgo)) {
		whole = 1;
		quell_algo_unregister(&badalgo);
	}
	return 0;
}
module_init(badalgo_load);

static void __exit badalgo_unload(void)
{
}
module_exit(badalgo_unload);

MODULE_DESCRIPTION("Registers algorithms that lack something, for self-tests");
MODULE_AUTHOR("The Quell authors");
MODULE_LICENSE("GPL");
