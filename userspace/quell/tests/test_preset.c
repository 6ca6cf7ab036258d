// SPDX-License-Identifier: GPL-2.0
/*
 * Presets: the table's form, the preset in force, and the request that sets one, caught before it
 * would go to the kernel.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>

#include "preset.h"
#include "quell.h"
#include "util.h"

#include "complaint.h"
#include "test.h"

int __wrap_nl_do(struct nl *nl, struct nlmsghdr *req, const struct nl_reader *reader,
		 struct nl_error *err);

/* The last request; the linker redirects nl_do() here. */
static struct {
	unsigned int	requests;
	uint8_t		cmd;
	char		cc[32];
	unsigned int	n_params;
	uint64_t	values[8];
	char		names[8][32];
	int		fail;
} kernel;

static void catch_param(const struct nlattr *nest)
{
	const struct nlattr *attr;
	unsigned int i = kernel.n_params++;

	mnl_attr_for_each_nested(attr, nest) {
		if (mnl_attr_get_type(attr) == QUELL_A_PARAM_NAME)
			snprintf(kernel.names[i], sizeof(kernel.names[i]), "%s",
				 mnl_attr_get_str(attr));
		else if (mnl_attr_get_type(attr) == QUELL_A_PARAM_VALUE)
			kernel.values[i] = mnl_attr_get_u64(attr);
	}
}

int __wrap_nl_do(struct nl *nl, struct nlmsghdr *req, const struct nl_reader *reader,
		 struct nl_error *err)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(req);
	const struct nlattr *attr;

	(void)nl;
	(void)reader;
	kernel.requests++;
	kernel.cmd = genl->cmd;
	kernel.n_params = 0;
	mnl_attr_for_each(attr, req, sizeof(*genl)) {
		if (mnl_attr_get_type(attr) == QUELL_A_CC_NAME)
			snprintf(kernel.cc, sizeof(kernel.cc), "%s", mnl_attr_get_str(attr));
		else if (mnl_attr_get_type(attr) == QUELL_A_CC_PARAM)
			catch_param(attr);
	}
	*err = (struct nl_error){ .code = kernel.fail, .text = "no" };
	return kernel.fail ? -1 : 0;
}

#define BIT(attr)	(1U << (attr))
#define HAVE_ALL	(BIT(QUELL_A_PARAM_VALUE) | BIT(QUELL_A_PARAM_DEFAULT) | \
			 BIT(QUELL_A_PARAM_RANGE_MIN) | BIT(QUELL_A_PARAM_RANGE_MAX))

/* An algorithm far from its defaults. */
static struct param params[] = {
	{ .name = "delay", .unit = QUELL_UNIT_NS, .value = 1, .def = 5000,
	  .max = 1000000, .have = HAVE_ALL },
	{ .name = "rate", .unit = QUELL_UNIT_BYTES_PS, .value = 2, .def = 6250000,
	  .max = 125000000000, .have = HAVE_ALL },
	{ .name = "beta", .unit = QUELL_UNIT_Q16, .value = 3, .def = 52429,
	  .max = 65536, .have = HAVE_ALL },
};

static const struct cc cc = {
	.name = "swift", .params = params, .n_params = ARRAY_SIZE(params),
};

static int apply(const char *set)
{
	const struct preset preset = { "swift", "test", "test", set };
	struct app app = {};

	memset(&kernel, 0, sizeof(kernel));
	complaint[0] = '\0';
	return cc_apply_preset(&app, &cc, &preset);
}

static uint64_t sent(const char *name)
{
	unsigned int i;

	for (i = 0; i < kernel.n_params; i++)
		if (!strcmp(kernel.names[i], name))
			return kernel.values[i];
	return UINT64_MAX;
}

TEST(apply_cases)
{
	expect(apply("rate 1gbit") == STATUS_OK, "accepted");
	expect(kernel.requests == 1 && kernel.cmd == QUELL_CMD_CC_SET &&
		       !strcmp(kernel.cc, "swift"),
	       "one_set_request");
	expect(kernel.n_params == 3, "every_parameter_is_in_it");
	expect(sent("rate") == 125000000, "the_presets_value");
	expect(sent("delay") == 5000 && sent("beta") == 52429, "defaults_of_the_others");

	expect(apply("beta 0.5 delay 7us rate 8bit") == STATUS_OK && kernel.n_params == 3 &&
		       sent("beta") == 32768 && sent("delay") == 7000 && sent("rate") == 1,
	       "all_from_the_preset");
}

/* No request is sent when a word of the preset is wrong for this kernel. */
TEST(refused)
{
	static const struct {
		const char	*set;
		const char	*text;
	} cases[] = {
		{ "delay 7us gamma 1", "no parameter 'gamma'" },
		{ "rate 1gbit delay 2ms", "'2ms' is out of range" },
		{ "rate 1gbit delay 2parsec", "'2parsec' cannot be read" },
		{ "rate 1gbit rate 1gbit", "given twice" },
		{ "rate", "'' cannot be read" },
	};

	for_each_row(row, cases) {
		int status = apply(row->set);

		expect(status == STATUS_INPUT && !kernel.requests && strstr(complaint, row->text),
		       "%s (%s)", row->set, complaint);
	}

	params[1].have &= ~BIT(QUELL_A_PARAM_DEFAULT);
	expect(apply("delay 7us") == STATUS_KERNEL && !kernel.requests && strstr(complaint, "rate"),
	       "no_default_told");
	expect(apply("delay 7us rate 1gbit") == STATUS_OK, "default_not_needed");
	params[1].have = HAVE_ALL;
}

TEST(kernel_refuses)
{
	const struct preset preset = { "swift", "test", "test", "delay 7us" };
	struct app app = {};

	memset(&kernel, 0, sizeof(kernel));
	kernel.fail = EPERM;
	expect(cc_apply_preset(&app, &cc, &preset) == STATUS_KERNEL &&
		       !strcmp(complaint, "swift: no"),
	       "the_kernels_refusal (%s)", complaint);
}

/* An algorithm with the values of a preset and one parameter more, at its default. */
static struct cc cc_under(const struct preset *preset, struct param *room)
{
	struct cc made = { .name = (char *)preset->cc, .params = room };
	struct preset_word word;
	const char *at = preset->set;

	while (preset_next(&at, &word)) {
		room[made.n_params] = (struct param){
			.name = strdup(word.name), .unit = QUELL_UNIT_NONE,
			.value = strtoull(word.value, NULL, 10), .def = 77, .have = HAVE_ALL,
		};
		made.n_params++;
	}
	room[made.n_params++] = (struct param){ .name = strdup("other"), .value = 77,
						.def = 77, .have = HAVE_ALL };
	return made;
}

static void free_names(struct cc *made)
{
	size_t i;

	for (i = 0; i < made->n_params; i++)
		free(made->params[i].name);
}

TEST(in_force)
{
	static const struct preset table[] = {
		{ "a", "first", "", "x 1 y 2" },
		{ "a", "second", "", "x 3 y 2" },
		{ "b", "third", "", "x 1 y 2" },
		{}
	};
	struct param room[4];
	struct cc made = cc_under(&table[1], room);

	expect(preset_in_force(table, &made) == &table[1], "values_and_defaults");
	room[2].value = 78;
	expect(!preset_in_force(table, &made), "not_with_another_parameter_changed");
	room[2].value = 77;
	room[0].value = 1;
	expect(preset_in_force(table, &made) == &table[0], "another_preset");
	made.name = "b";
	expect(preset_in_force(table, &made) == &table[2], "of_its_own_algorithm");
	made.name = "c";
	expect(!preset_in_force(table, &made), "no_preset_of_that_algorithm");
	made.name = "b";
	made.n_params = 1;
	expect(!preset_in_force(table, &made), "not_without_its_parameters");
	made.n_params = 3;
	free_names(&made);
}

/* Invariants of the table: full entries, whole words, each name once. */
static bool is_well_formed(const struct preset *preset)
{
	struct preset_word word, again;
	const char *at = preset->set;
	const char *rest;

	if (!*preset->name || !*preset->source || !*preset->set || strstr(preset->set, "  "))
		return false;
	while (preset_next(&at, &word)) {
		if (!*word.value || strlen(word.name) == sizeof(word.name) - 1 ||
		    strlen(word.value) == sizeof(word.value) - 1)
			return false;
		for (rest = at; preset_next(&rest, &again);)
			if (!strcmp(again.name, word.name))
				return false;
	}
	return true;
}

TEST(table_cases)
{
	const struct preset *a, *b;

	for (a = presets; a->cc; a++) {
		bool unique = true, together = true;

		for (b = presets; b < a; b++) {
			unique = unique && (strcmp(a->cc, b->cc) || strcmp(a->name, b->name));
			if (!strcmp(a->cc, b->cc))
				together = !strcmp(a[-1].cc, a->cc);
		}
		expect(is_well_formed(a) && unique && together, "%s_%s", a->cc, a->name);
	}
}

TEST_HARNESS_MAIN
