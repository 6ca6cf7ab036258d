// SPDX-License-Identifier: GPL-2.0
/*
 * trim size SIZE [ dscp N ] [ queue control | data ] [ eligible LIST | all ], and what
 * the kernel says of it.
 *
 * A clause says all about trimming: what it does not name takes its default.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "q_swport.h"

#define DSCP_MAX	63

static const char * const queues[] = {
	[SWPORT_TRIM_CONTROL] = "control",
	[SWPORT_TRIM_DATA] = "data",
};

/* A number of min to 63 at *word, which moves behind it. */
static bool read_dscp(const char **word, unsigned int min, unsigned int *dscp)
{
	unsigned long number;
	char *end;

	if (**word < '0' || **word > '9')
		return false;
	number = strtoul(*word, &end, 0);
	*word = end;
	*dscp = number;
	return number >= min && number <= DSCP_MAX;
}

static int parse_dscp(struct swport_args *args)
{
	const char *word = swport_next(args), *end = word;
	unsigned int dscp;

	if (!word || !read_dscp(&end, SWPORT_TRIM_DSCP_MIN, &dscp) || *end) {
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

/* DSCP[-DSCP][,...], as bits */
static bool read_set(const char *word, uint64_t *set)
{
	unsigned int from, to;

	for (*set = 0; ; word++) {
		if (!read_dscp(&word, 0, &from))
			return false;
		to = from;
		if (*word == '-') {
			word++;
			if (!read_dscp(&word, from, &to))
				return false;
		}
		for (unsigned int dscp = from; dscp <= to; dscp++)
			*set |= 1ULL << dscp;
		if (*word != ',')
			return !*word;
	}
}

static int parse_eligible(struct swport_args *args)
{
	uint64_t set = SWPORT_TRIM_ELIGIBLE_ALL;
	const char *word = swport_next(args);

	if (!word || (strcmp(word, "all") && !read_set(word, &set))) {
		fprintf(stderr,
			"swport: bad trim eligible \"%s\": must be all or a list as 0,10-18 of 0 to %d\n",
			word ? word : "", DSCP_MAX);
		return -1;
	}
	return swport_set(args, TCA_SWPORT_TRIM_ELIGIBLE, "trim eligible", set);
}

/* What was not named. */
static int finish_trim(struct swport_args *args)
{
	static const struct {
		int attr;
		uint64_t value;
	} defaults[] = {
		{ TCA_SWPORT_TRIM_DSCP, SWPORT_TRIM_DSCP_DEFAULT },
		{ TCA_SWPORT_TRIM_QUEUE, SWPORT_TRIM_CONTROL },
		{ TCA_SWPORT_TRIM_ELIGIBLE, SWPORT_TRIM_ELIGIBLE_ALL },
	};

	if (!swport_given(args, TCA_SWPORT_TRIM_SIZE)) {
		fprintf(stderr, "swport: trim needs \"size SIZE\", a size of %d to %d bytes\n",
			SWPORT_TRIM_SIZE_MIN, SWPORT_TRIM_SIZE_MAX);
		return -1;
	}
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
		else
			return finish_trim(args);
	}
	return err;
}

/* The list that read_set() reads, in as few words as possible. */
static void write_set(uint64_t set, char *text)
{
	const char *comma = "";

	for (int from = 0, to; from <= DSCP_MAX; from = to + 1) {
		to = from;
		if (!(set >> from & 1))
			continue;
		while (to < DSCP_MAX && set >> (to + 1) & 1)
			to++;
		text += sprintf(text, to > from ? "%s%d-%d" : "%s%d", comma, from, to);
		comma = ",";
	}
}

static void print_eligible(struct rtattr *attr)
{
	char text[4 * (DSCP_MAX + 1)] = "all";

	if (!swport_has(attr, sizeof(uint64_t)))
		return;
	if (swport_get_u64(attr) != SWPORT_TRIM_ELIGIBLE_ALL)
		write_set(swport_get_u64(attr), text);
	print_color_string(PRINT_ANY, COLOR_NONE, "trim_eligible", "eligible %s ", text);
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
}
