// SPDX-License-Identifier: GPL-2.0
/*
 * ecn-class: DSCPs with marking thresholds of their own.
 */
#include <inttypes.h>
#include <string.h>

#include "q_swport.h"

static int swport_parse_dscps(struct swport_args *args, struct swport_class *class)
{
	const char *word = swport_next(args);

	if (!word || !swport_read_dscps(word, &class->dscps))
		return swport_refuse("ecn-class", word,
				     "off or DSCPs of 0 to 63, like 46 or 8-15,46");
	for (unsigned int i = 0; i < args->classes; i++)
		if (class->dscps & args->class[i].dscps)
			return swport_error("bad ecn-class \"%s\": a DSCP is in two classes", word);

	return 0;
}

/* @min, @max: as typed, or NULL */
static int swport_check_class(const struct swport_args *args, struct swport_class *class,
			      const char *min, const char *max)
{
	if (!min)
		return swport_need_size(args, "ecn-class", "min", 0, SWPORT_LIMIT_MAX);
	if (!max)
		class->red[TCA_SWPORT_CLASS_MAX_BYTES] = class->red[TCA_SWPORT_CLASS_MIN];
	if (class->red[TCA_SWPORT_CLASS_MIN] > class->red[TCA_SWPORT_CLASS_MAX_BYTES])
		return swport_refuse_max("ecn-class", max, min);
	return 0;
}

/* min SIZE [ max SIZE ] [ prob P ], in any order */
static int swport_parse_thresholds(struct swport_args *args, struct swport_class *class)
{
	static const struct swport_word prob = {
		.word = "ecn-class prob", .max = SWPORT_ECN_PROB_MAX,
	};
	const char *min = NULL, *max = NULL;
	int err = 0;

	class->red[TCA_SWPORT_CLASS_PROB] = SWPORT_ECN_PROB_MAX;
	while (!err) {
		if (swport_accept(args, "min")) {
			min = swport_peek(args);
			err = swport_read_size_word(args, "ecn-class min", 0, SWPORT_LIMIT_MAX,
						    &class->red[TCA_SWPORT_CLASS_MIN]);
		} else if (swport_accept(args, "max")) {
			max = swport_peek(args);
			err = swport_read_size_word(args, "ecn-class max", 0, SWPORT_LIMIT_MAX,
						    &class->red[TCA_SWPORT_CLASS_MAX_BYTES]);
		} else if (swport_accept(args, "prob")) {
			err = swport_read_q16(args, &prob, &class->red[TCA_SWPORT_CLASS_PROB]);
		} else {
			return swport_check_class(args, class, min, max);
		}
	}
	return err;
}

/* Parse one more class; "off" removes all classes. */
int swport_parse_class(struct swport_args *args, const struct swport_word *w)
{
	struct swport_class *class = &args->class[args->classes];

	if (swport_accept(args, "off"))
		return swport_set_word(args, w);
	/* After "ecn-class off". */
	if (!args->classes && swport_set_word(args, w))
		return -1;
	if (args->classes == SWPORT_ECN_CLASSES_MAX)
		return swport_error("ecn-class may be given %d times", SWPORT_ECN_CLASSES_MAX);
	if (swport_parse_dscps(args, class) || swport_parse_thresholds(args, class))
		return -1;
	args->classes++;
	return 0;
}

void swport_put_classes(struct nlmsghdr *n, int maxlen, const struct swport_args *args)
{
	struct rtattr *all = addattr_nest(n, maxlen, TCA_SWPORT_ECN_CLASSES | NLA_F_NESTED);

	for (unsigned int i = 0; i < args->classes; i++) {
		const struct swport_class *class = &args->class[i];
		struct rtattr *one = addattr_nest(n, maxlen, TCA_SWPORT_ECN_CLASS | NLA_F_NESTED);

		addattr_l(n, maxlen, TCA_SWPORT_CLASS_DSCPS, &class->dscps,
			  sizeof(class->dscps));
		for (int attr = TCA_SWPORT_CLASS_MIN; attr <= TCA_SWPORT_CLASS_MAX; attr++)
			addattr_l(n, maxlen, attr, &class->red[attr], sizeof(class->red[attr]));
		addattr_nest_end(n, one);
	}
	addattr_nest_end(n, all);
}

static void print_dscps(uint64_t dscps)
{
	char text[SWPORT_DSCPS_TEXT];

	swport_write_dscps(dscps, text);
	print_color_string(PRINT_ANY, COLOR_NONE, "dscp", "ecn-class %s ", text);
}

static void print_class(struct rtattr *attr)
{
	struct rtattr *tb[TCA_SWPORT_CLASS_MAX + 1];

	swport_parse_nest(tb, TCA_SWPORT_CLASS_MAX, attr);
	open_json_object(NULL);
	if (swport_has(tb[TCA_SWPORT_CLASS_DSCPS], sizeof(uint64_t)))
		print_dscps(swport_get_u64(tb[TCA_SWPORT_CLASS_DSCPS]));
	swport_print_size("min", "min %s ", tb[TCA_SWPORT_CLASS_MIN]);
	swport_print_size("max", "max %s ", tb[TCA_SWPORT_CLASS_MAX_BYTES]);
	swport_print_q16("prob", "prob %g ", tb[TCA_SWPORT_CLASS_PROB]);
	close_json_object();
}

void swport_print_classes(struct rtattr *attr)
{
	swport_print_list("ecn_classes", attr, print_class);
}

static const struct swport_counter class_counters[] = {
	{ TCA_SWPORT_CLASS_STATS_PKTS, "pkts", "of %" PRIu64 " pkts" },
	{ TCA_SWPORT_CLASS_STATS_MARK_BYTES, "mark_bytes", " marked %" PRIu64 " bytes" },
	{ TCA_SWPORT_CLASS_STATS_MARK_PKTS, "mark_pkts", " %" PRIu64 " pkts" },
	{ TCA_SWPORT_CLASS_STATS_NOT_ECT_PKTS, "not_ect_pkts", " not-ect %" PRIu64 " pkts" },
};

/* Print a line of text, or an element of an array in JSON. */
static void print_class_stats(struct rtattr *attr)
{
	struct rtattr *tb[TCA_SWPORT_CLASS_STATS_MAX + 1];

	swport_parse_nest(tb, TCA_SWPORT_CLASS_STATS_MAX, attr);
	print_nl();
	open_json_object(NULL);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", "  ");
	if (swport_has(tb[TCA_SWPORT_CLASS_STATS_DSCPS], sizeof(uint64_t)))
		print_dscps(swport_get_u64(tb[TCA_SWPORT_CLASS_STATS_DSCPS]));
	swport_print_counters(PRINT_ANY, class_counters, ARRAY_SIZE(class_counters), tb);
	close_json_object();
}

void swport_print_class_stats(struct rtattr *attr)
{
	swport_print_list("ecn_class_stats", attr, print_class_stats);
}
