// SPDX-License-Identifier: GPL-2.0
/*
 * trim size SIZE [ dscp N ] [ queue control | data ] [ eligible LIST | all | none ]
 * [ known LIST ] [ to-sender ], and the output of trimming's options and counters.
 *
 * A trim clause sets all trimming options: those it omits get their defaults.
 */
#include <inttypes.h>
#include <string.h>

#include "q_swport.h"

static const char * const queues[SWPORT_CHOICES] = {
	[SWPORT_TRIM_CONTROL] = "control",
	[SWPORT_TRIM_DATA] = "data",
};

static int parse_eligible(struct swport_args *args, const struct swport_word *w)
{
	const char *word = swport_next(args);
	uint64_t set = 0;

	if (word && !strcmp(word, "all"))
		set = SWPORT_TRIM_ELIGIBLE_ALL;
	else if (!word || (strcmp(word, "none") && !swport_read_dscps(word, &set)))
		return swport_refuse(w->name, word,
				     "none, all or DSCPs of 0 to 63, like 46 or 8-15,46");
	return swport_set(args, w->attr, w->name, set);
}

static int parse_known(struct swport_args *args, const struct swport_word *w)
{
	const char *word = swport_next(args);
	uint64_t set = 0;

	if (!word || !swport_read_dscps(word, &set) || set & 1)
		return swport_refuse(w->name, word, "DSCPs of 1 to 63, like 42 or 40-42,44");
	return swport_set(args, w->attr, w->name, set);
}

/* Set the options omitted to their defaults. */
static int finish_trim(struct swport_args *args)
{
	static const struct {
		int attr;
		uint64_t value;
	} defaults[] = {
		{ TCA_SWPORT_TRIM_DSCP, SWPORT_TRIM_DSCP_DEFAULT },
		{ TCA_SWPORT_TRIM_QUEUE, SWPORT_TRIM_CONTROL },
		{ TCA_SWPORT_TRIM_ELIGIBLE, 0 },
		{ TCA_SWPORT_TRIM_KNOWN, 0 },
		{ TCA_SWPORT_TRIM_TO_SENDER, 0 },
	};

	if (!swport_given(args, TCA_SWPORT_TRIM_SIZE))
		return swport_need_size(args, "trim", "size", SWPORT_TRIM_SIZE_MIN,
					SWPORT_TRIM_SIZE_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
		if (!swport_given(args, defaults[i].attr))
			swport_set(args, defaults[i].attr, "trim", defaults[i].value);
	return 0;
}

int swport_parse_trim(struct swport_args *args, const struct swport_word *w)
{
	static const struct swport_word words[] = {
		{ "size", swport_parse_size, TCA_SWPORT_TRIM_SIZE, "trim size",
		  SWPORT_TRIM_SIZE_MIN, SWPORT_TRIM_SIZE_MAX },
		{ "dscp", swport_parse_number, TCA_SWPORT_TRIM_DSCP, "trim dscp",
		  SWPORT_TRIM_DSCP_MIN, SWPORT_TRIM_DSCP_MAX },
		{ "queue", swport_parse_choice, TCA_SWPORT_TRIM_QUEUE, "trim queue",
		  .choices = queues },
		{ "eligible", parse_eligible, TCA_SWPORT_TRIM_ELIGIBLE, "trim eligible" },
		{ "known", parse_known, TCA_SWPORT_TRIM_KNOWN, "trim known" },
		{ "to-sender", swport_set_word, TCA_SWPORT_TRIM_TO_SENDER, "trim to-sender", 1 },
		{}
	};

	return swport_parse_words(args, words) ? -1 : finish_trim(args);
}

static void print_eligible(struct rtattr *attr)
{
	char text[SWPORT_DSCPS_TEXT] = "none";

	if (!swport_has(attr, sizeof(uint64_t)))
		return;
	if (swport_get_u64(attr) == SWPORT_TRIM_ELIGIBLE_ALL)
		strcpy(text, "all");
	else if (swport_get_u64(attr))
		swport_write_dscps(swport_get_u64(attr), text);
	print_color_string(PRINT_ANY, COLOR_NONE, "trim_eligible", "eligible %s ", text);
}

/* DSCPs of trimmed packets of other ports, if any. */
static void print_known(struct rtattr *attr)
{
	char text[SWPORT_DSCPS_TEXT];

	if (!swport_has(attr, sizeof(uint64_t)) || !swport_get_u64(attr))
		return;
	swport_write_dscps(swport_get_u64(attr), text);
	print_color_string(PRINT_ANY, COLOR_NONE, "trim_known", "known %s ", text);
}

void swport_print_trim(struct rtattr **tb)
{
	if (!swport_has(tb[TCA_SWPORT_TRIM_SIZE], sizeof(uint32_t)))
		return;
	if (!swport_get_u32(tb[TCA_SWPORT_TRIM_SIZE])) {
		print_color_u64(PRINT_JSON, COLOR_NONE, "trim_size", NULL, 0);
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", "notrim");
		return;
	}
	swport_print_size("trim_size", "trim size %s ", tb[TCA_SWPORT_TRIM_SIZE]);
	swport_print_number("trim_dscp", "dscp %" PRIu64 " ", tb[TCA_SWPORT_TRIM_DSCP]);
	swport_print_choice("trim_queue", "queue %s ", tb[TCA_SWPORT_TRIM_QUEUE], queues);
	print_eligible(tb[TCA_SWPORT_TRIM_ELIGIBLE]);
	print_known(tb[TCA_SWPORT_TRIM_KNOWN]);
	if (swport_is_on(tb[TCA_SWPORT_TRIM_TO_SENDER])) {
		print_color_u64(PRINT_JSON, COLOR_NONE, "trim_to_sender", NULL, 1);
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", "to-sender");
	}
}
