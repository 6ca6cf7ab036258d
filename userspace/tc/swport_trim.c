// SPDX-License-Identifier: GPL-2.0
/*
 * trim size SIZE [ dscp N ] [ queue control | data ] [ eligible LIST | all | none ]
 * [ known LIST ] [ to-sender ], and the output of trimming's options and counters.
 *
 * A trim clause sets all trimming options: those it omits get their defaults.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "q_swport.h"

static const char * const queues[] = {
	[SWPORT_TRIM_CONTROL] = "control",
	[SWPORT_TRIM_DATA] = "data",
};

static int parse_dscp(struct swport_args *args)
{
	const char *word = swport_next(args);
	unsigned long dscp = 0;
	char *end = NULL;

	if (word && word[0] >= '0' && word[0] <= '9')
		dscp = strtoul(word, &end, 0);
	if (!end || *end || dscp < SWPORT_TRIM_DSCP_MIN || dscp > SWPORT_TRIM_DSCP_MAX) {
		fprintf(stderr, "swport: bad trim dscp \"%s\": must be a number of %d to %d\n",
			word ? word : "", SWPORT_TRIM_DSCP_MIN, SWPORT_TRIM_DSCP_MAX);
		return -1;
	}
	return swport_set(args, TCA_SWPORT_TRIM_DSCP, "trim dscp", dscp);
}

static int parse_queue(struct swport_args *args)
{
	const char *word = swport_next(args);

	for (size_t i = 0; word && i < ARRAY_SIZE(queues); i++)
		if (!strcmp(word, queues[i]))
			return swport_set(args, TCA_SWPORT_TRIM_QUEUE, "trim queue", i);
	fprintf(stderr, "swport: bad trim queue \"%s\": must be control or data\n",
		word ? word : "");
	return -1;
}

static int parse_eligible(struct swport_args *args)
{
	const char *word = swport_next(args);
	uint64_t set = 0;

	if (word && !strcmp(word, "all"))
		set = SWPORT_TRIM_ELIGIBLE_ALL;
	else if (!word || (strcmp(word, "none") && !swport_read_dscps(word, &set))) {
		fprintf(stderr,
			"swport: bad trim eligible \"%s\": must be none, all or DSCPs of 0 to 63, like 46 or 8-15,46\n",
			word ? word : "");
		return -1;
	}
	return swport_set(args, TCA_SWPORT_TRIM_ELIGIBLE, "trim eligible", set);
}

static int parse_known(struct swport_args *args)
{
	const char *word = swport_next(args);
	uint64_t set = 0;

	if (!word || !swport_read_dscps(word, &set) || set & 1) {
		fprintf(stderr,
			"swport: bad trim known \"%s\": must be DSCPs of 1 to 63, like 42 or 40-42,44\n",
			word ? word : "");
		return -1;
	}
	return swport_set(args, TCA_SWPORT_TRIM_KNOWN, "trim known", set);
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
		return swport_need_size("trim", "size", SWPORT_TRIM_SIZE_MIN, SWPORT_TRIM_SIZE_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
		if (!swport_given(args, defaults[i].attr))
			swport_set(args, defaults[i].attr, "trim", defaults[i].value);
	return 0;
}

int swport_parse_trim(struct swport_args *args)
{
	int err = 0;

	while (!err) {
		if (swport_accept(args, "size"))
			err = swport_parse_size(args, TCA_SWPORT_TRIM_SIZE, "trim size",
						SWPORT_TRIM_SIZE_MIN, SWPORT_TRIM_SIZE_MAX);
		else if (swport_accept(args, "dscp"))
			err = parse_dscp(args);
		else if (swport_accept(args, "queue"))
			err = parse_queue(args);
		else if (swport_accept(args, "eligible"))
			err = parse_eligible(args);
		else if (swport_accept(args, "known"))
			err = parse_known(args);
		else if (swport_accept(args, "to-sender"))
			err = swport_set(args, TCA_SWPORT_TRIM_TO_SENDER, "trim to-sender", 1);
		else
			return finish_trim(args);
	}
	return err;
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
	uint32_t queue;

	if (!swport_has(tb[TCA_SWPORT_TRIM_SIZE], sizeof(uint32_t)))
		return;
	if (!swport_get_u32(tb[TCA_SWPORT_TRIM_SIZE])) {
		print_color_u64(PRINT_JSON, COLOR_NONE, "trim_size", NULL, 0);
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", "notrim");
		return;
	}
	swport_print_size("trim_size", "trim size %s ", tb[TCA_SWPORT_TRIM_SIZE]);
	if (swport_has(tb[TCA_SWPORT_TRIM_DSCP], sizeof(uint32_t)))
		print_color_u64(PRINT_ANY, COLOR_NONE, "trim_dscp", "dscp %" PRIu64 " ",
				swport_get_u32(tb[TCA_SWPORT_TRIM_DSCP]));
	if (swport_has(tb[TCA_SWPORT_TRIM_QUEUE], sizeof(queue))) {
		queue = swport_get_u32(tb[TCA_SWPORT_TRIM_QUEUE]);
		if (queue < ARRAY_SIZE(queues))
			print_color_string(PRINT_ANY, COLOR_NONE, "trim_queue", "queue %s ",
					   queues[queue]);
	}
	print_eligible(tb[TCA_SWPORT_TRIM_ELIGIBLE]);
	print_known(tb[TCA_SWPORT_TRIM_KNOWN]);
	if (swport_has(tb[TCA_SWPORT_TRIM_TO_SENDER], sizeof(uint32_t)) &&
	    swport_get_u32(tb[TCA_SWPORT_TRIM_TO_SENDER])) {
		print_color_u64(PRINT_JSON, COLOR_NONE, "trim_to_sender", NULL, 1);
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", "to-sender");
	}
}
