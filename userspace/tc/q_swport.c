// SPDX-License-Identifier: GPL-2.0
/*
 * swport for tc: command line to netlink, netlink to text and JSON.
 *
 * The command line is parsed completely before any attribute is put into the
 * message, and every error message names the value and its range; tc then
 * exits with an error without sending the request.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "q_swport.h"

/* Space for the options in tc's message, as in its own qdiscs. */
#define SWPORT_MSG_MAX	2048

static void explain(void)
{
	fprintf(stderr,
		"Usage: ... swport [ rate RATE ] [ overhead BYTES ]\n"
		"                  [ limit SIZE ] [ control-limit SIZE ] [ control-share S ]\n"
		"                  [ ecn [ dequeue | enqueue ] min SIZE [ max SIZE ] [ prob P ] [ drop ] | noecn ]\n"
		"                  [ ecn-class { DSCP[-DSCP][,...] min SIZE [ max SIZE ] [ prob P ] | off } ]...\n"
		"                  [ seed NUMBER ] [ telemetry { TIME | off } ]\n"
		"                  [ tcp-int { TIME | off } ]\n"
		"                  [ trim size SIZE [ dscp N ] [ queue { control | data } ]\n"
		"                    [ eligible { LIST | all | none } ] [ known LIST ] [ to-sender ] | notrim ]\n"
		"                  [ buffer { SIZE | off } ] [ alpha A ]\n"
		"                  [ percentiles { on | off } ] [ split-gso [ auto ] | no-split-gso ]\n"
		"                  [ joint | nojoint ] [ bql | nobql ] [ timer_slack { TIME | off } ]\n"
		"                  [ memory_limit { SIZE | auto } ]\n"
		"                  [ deflect threshold { SIZE | TIME } [ entries N ] [ tokens BASE MAX ]\n"
		"                            [ idle TIME ] [ release { idle | end } ]\n"
		"                            [ choice { random | shorter } ]\n"
		"                            via ADDR dev DEV [ via ADDR dev DEV ]... | nodeflect ]\n"
		"\n"
		"Ranges and defaults: tc-swport(8)\n");
}

/* tc accepts a minus sign or "inf"; here a rate must begin with a digit. */
static int swport_parse_rate(struct swport_args *args, const struct swport_word *w)
{
	const char *word = swport_next(args);
	__u64 rate_bytes_ps;

	if (!word || word[0] < '0' || word[0] > '9' ||
	    get_rate64(&rate_bytes_ps, word) ||
	    rate_bytes_ps > SWPORT_RATE_MAX ||
	    (!rate_bytes_ps && strtod(word, NULL) > 0)) {
		return swport_error("bad rate \"%s\": must be 0 or a rate of 8bit to %llutbit",
				    word ? word : "", SWPORT_RATE_MAX * 8ULL / 1000000000000);
	}
	return swport_set(args, w->attr, w->word, rate_bytes_ps);
}

static int swport_check_ecn(struct swport_args *args)
{
	const uint64_t *value = args->value;

	if (!swport_given(args, TCA_SWPORT_ECN_MIN))
		return swport_need_size(args, "ecn", "min", 0, SWPORT_LIMIT_MAX);
	if (!swport_given(args, TCA_SWPORT_ECN_MAX))
		swport_set(args, TCA_SWPORT_ECN_MAX, "ecn max",
			   value[TCA_SWPORT_ECN_MIN]);
	if (!swport_given(args, TCA_SWPORT_ECN_DROP))
		swport_set(args, TCA_SWPORT_ECN_DROP, "ecn drop", 0);
	if (!swport_given(args, TCA_SWPORT_ECN_PROB))
		swport_set(args, TCA_SWPORT_ECN_PROB, "ecn prob",
			   SWPORT_ECN_PROB_MAX);
	if (value[TCA_SWPORT_ECN_MIN] > value[TCA_SWPORT_ECN_MAX])
		return swport_refuse_max("ecn", args->word[TCA_SWPORT_ECN_MAX],
					 args->word[TCA_SWPORT_ECN_MIN]);
	return 0;
}

/* ecn [ dequeue | enqueue ] min SIZE [ max SIZE ] [ prob P ] [ drop ], in any order */
static int swport_parse_ecn(struct swport_args *args, const struct swport_word *w)
{
	static const struct swport_word words[] = {
		{ "min", swport_parse_size, TCA_SWPORT_ECN_MIN, "ecn min", 0, SWPORT_LIMIT_MAX },
		{ "max", swport_parse_size, TCA_SWPORT_ECN_MAX, "ecn max", 0, SWPORT_LIMIT_MAX },
		{ "prob", swport_parse_q16, TCA_SWPORT_ECN_PROB, "ecn prob", 0, SWPORT_ECN_PROB_MAX },
		{ "drop", swport_set_word, TCA_SWPORT_ECN_DROP, "ecn drop", 1 },
		{}
	};
	uint32_t mode = SWPORT_ECN_DEQUEUE;

	if (swport_accept(args, "enqueue"))
		mode = SWPORT_ECN_ENQUEUE;
	else
		swport_accept(args, "dequeue");
	if (swport_set(args, w->attr, w->name, mode) || swport_parse_words(args, words))
		return -1;
	return swport_check_ecn(args);
}

/* SIZE, or off, which is sent as alpha 0. */
static int swport_parse_buffer(struct swport_args *args, const struct swport_word *w)
{
	bool is_off = swport_given(args, TCA_SWPORT_ALPHA) && !args->value[TCA_SWPORT_ALPHA];

	if (is_off || swport_given(args, w->attr))
		return swport_error("buffer given twice");
	if (swport_accept(args, "off"))
		return swport_set(args, TCA_SWPORT_ALPHA, "alpha or buffer off", 0);
	return swport_parse_size(args, w);
}

static int swport_parse_alpha(struct swport_args *args, const struct swport_word *w)
{
	uint32_t alpha_q16;

	if (swport_read_q16(args, w, &alpha_q16))
		return -1;
	return swport_set(args, w->attr, "alpha or buffer off", alpha_q16);
}

/* SIZE, or auto, which is sent as 0. */
static int swport_parse_memory(struct swport_args *args, const struct swport_word *w)
{
	if (swport_accept(args, "auto"))
		return swport_set(args, w->attr, w->word, 0);
	return swport_parse_size(args, w);
}

static int swport_parse_split(struct swport_args *args, const struct swport_word *w)
{
	return swport_set(args, w->attr, w->name,
			  swport_accept(args, "auto") ? SWPORT_GSO_AUTO : SWPORT_GSO_SPLIT);
}

static const char * const swport_switch[SWPORT_CHOICES] = { "off", "on" };

static const struct swport_word swport_words[] = {
	{ "rate", swport_parse_rate, TCA_SWPORT_RATE },
	{ "overhead", swport_parse_size, TCA_SWPORT_OVERHEAD, NULL, 0, SWPORT_OVERHEAD_MAX },
	{ "limit", swport_parse_size, TCA_SWPORT_LIMIT, NULL, SWPORT_LIMIT_MIN, SWPORT_LIMIT_MAX },
	{ "control-limit", swport_parse_size, TCA_SWPORT_CONTROL_LIMIT, NULL, SWPORT_LIMIT_MIN,
	  SWPORT_LIMIT_MAX },
	{ "control-share", swport_parse_q16, TCA_SWPORT_CONTROL_SHARE, NULL, 1,
	  SWPORT_CONTROL_SHARE_MAX },
	{ "ecn", swport_parse_ecn, TCA_SWPORT_ECN_MODE, "ecn or noecn" },
	{ "noecn", swport_set_word, TCA_SWPORT_ECN_MODE, "ecn or noecn", SWPORT_ECN_OFF },
	{ "ecn-class", swport_parse_class, TCA_SWPORT_ECN_CLASSES, "ecn-class or ecn-class off" },
	{ "buffer", swport_parse_buffer, TCA_SWPORT_BUFFER, NULL, SWPORT_LIMIT_MIN,
	  SWPORT_LIMIT_MAX },
	{ "alpha", swport_parse_alpha, TCA_SWPORT_ALPHA, NULL, 1, SWPORT_ALPHA_MAX },
	{ "percentiles", swport_parse_choice, TCA_SWPORT_PERCENTILES, .choices = swport_switch },
	{ "split-gso", swport_parse_split, TCA_SWPORT_SPLIT_GSO, "split-gso or no-split-gso" },
	{ "no-split-gso", swport_set_word, TCA_SWPORT_SPLIT_GSO, "split-gso or no-split-gso",
	  SWPORT_GSO_WHOLE },
	{ "joint", swport_set_word, TCA_SWPORT_JOINT, "joint or nojoint", 1 },
	{ "nojoint", swport_set_word, TCA_SWPORT_JOINT, "joint or nojoint", 0 },
	{ "bql", swport_set_word, TCA_SWPORT_BQL, "bql or nobql", 1 },
	{ "nobql", swport_set_word, TCA_SWPORT_BQL, "bql or nobql", 0 },
	{ "timer_slack", swport_parse_time, TCA_SWPORT_TIMER_SLACK, NULL, 0,
	  SWPORT_TIMER_SLACK_MAX },
	{ "memory_limit", swport_parse_memory, TCA_SWPORT_MEMORY_LIMIT, NULL, SWPORT_MEMORY_MIN,
	  UINT32_MAX },
	{ "seed", swport_parse_number, TCA_SWPORT_SEED, NULL, 0, UINT32_MAX },
	{ "telemetry", swport_parse_time, TCA_SWPORT_TELEMETRY, NULL, SWPORT_TELEMETRY_MIN,
	  SWPORT_TELEMETRY_MAX },
	{ "tcp-int", swport_parse_time, TCA_SWPORT_TCP_INT, NULL, SWPORT_TCP_INT_MIN,
	  SWPORT_TCP_INT_MAX },
	{ "trim", swport_parse_trim, TCA_SWPORT_TRIM_SIZE },
	{ "notrim", swport_set_word, TCA_SWPORT_TRIM_SIZE, "trim or notrim", 0 },
	{ "deflect", swport_parse_deflect, TCA_SWPORT_DEFLECT, "deflect or nodeflect", 1 },
	{ "nodeflect", swport_set_word, TCA_SWPORT_DEFLECT, "deflect or nodeflect", 0 },
	{}
};

/* All options; "help" and unknown words print the usage. */
static int swport_parse_all(struct swport_args *args)
{
	const char *word;

	if (swport_parse_words(args, swport_words))
		return -1;
	word = swport_peek(args);
	if (!word)
		return swport_finish_threshold(args);
	if (strcmp(word, "help"))
		swport_error("unknown option \"%s\"", word);
	explain();
	return -1;
}

static int swport_parse_qopt(struct qdisc_util *qu, int argc, char **argv,
			     struct nlmsghdr *n, const char *dev)
{
	struct swport_args args = { .argc = argc, .argv = argv, .dev = dev };
	struct rtattr *nest;

	if (swport_parse_all(&args))
		return -1;

	nest = addattr_nest(n, SWPORT_MSG_MAX, TCA_OPTIONS | NLA_F_NESTED);
	for (int attr = 0; attr <= TCA_SWPORT_MAX; attr++) {
		uint32_t small = args.value[attr];

		if (!(args.given & (1ULL << attr)))
			continue;
		if (attr == TCA_SWPORT_ECN_CLASSES)
			swport_put_classes(n, SWPORT_MSG_MAX, &args);
		else if (attr == TCA_SWPORT_RATE || attr == TCA_SWPORT_TRIM_ELIGIBLE ||
			 attr == TCA_SWPORT_TRIM_KNOWN)
			addattr_l(n, SWPORT_MSG_MAX, attr, &args.value[attr],
				  sizeof(args.value[attr]));
		else
			addattr_l(n, SWPORT_MSG_MAX, attr, &small,
				  sizeof(small));
	}
	swport_add_via(n, SWPORT_MSG_MAX, &args);
	addattr_nest_end(n, nest);
	return 0;
}

static void swport_print_ecn(struct rtattr **tb)
{
	static const char * const modes[] = {
		[SWPORT_ECN_OFF] = "off",
		[SWPORT_ECN_DEQUEUE] = "dequeue",
		[SWPORT_ECN_ENQUEUE] = "enqueue",
	};
	uint32_t mode;

	if (!swport_has(tb[TCA_SWPORT_ECN_MODE], sizeof(mode)))
		return;
	mode = swport_get_u32(tb[TCA_SWPORT_ECN_MODE]);
	if (mode >= ARRAY_SIZE(modes))
		return;
	print_color_string(PRINT_JSON, COLOR_NONE, "ecn", NULL, modes[mode]);
	if (mode == SWPORT_ECN_OFF) {
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", "noecn");
		return;
	}
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "ecn %s ", modes[mode]);
	swport_print_size("ecn_min", "min %s ", tb[TCA_SWPORT_ECN_MIN]);
	swport_print_size("ecn_max", "max %s ", tb[TCA_SWPORT_ECN_MAX]);
	swport_print_q16("ecn_prob", "prob %g ", tb[TCA_SWPORT_ECN_PROB]);
	swport_print_flag("ecn_drop", "drop", tb[TCA_SWPORT_ECN_DROP]);
}

/*
 * Bit per TCA_SWPORT_* of a feature that is on in the qdisc with the options printed last: tc
 * prints the statistics of a qdisc behind its options.
 */
static uint64_t swport_on;

static void swport_note_on(struct rtattr **tb)
{
	static const int switches[] = {
		TCA_SWPORT_ALPHA, TCA_SWPORT_ECN_MODE, TCA_SWPORT_TCP_INT, TCA_SWPORT_TRIM_SIZE,
		TCA_SWPORT_DEFLECT, TCA_SWPORT_TELEMETRY, TCA_SWPORT_JOINT, TCA_SWPORT_BQL,
		TCA_SWPORT_MEMORY_LIMIT,
	};

	swport_on = 0;
	for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
		if (swport_is_on(tb[switches[i]]))
			swport_on |= 1ULL << switches[i];
	if (tb[TCA_SWPORT_ECN_CLASSES])
		swport_on |= 1ULL << TCA_SWPORT_ECN_MODE;
}

/* No output for the default. */
static void swport_print_split(struct rtattr *attr)
{
	bool split;

	if (!swport_has(attr, sizeof(uint32_t)) || swport_get_u32(attr) == SWPORT_GSO_AUTO)
		return;
	split = swport_get_u32(attr) == SWPORT_GSO_SPLIT;
	print_color_bool(PRINT_JSON, COLOR_NONE, "split_gso", NULL, split);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", split ? "split-gso" : "no-split-gso");
}

static int swport_print_qopt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_SWPORT_MAX + 1];

	swport_on = 0;
	if (!opt)
		return 0;
	swport_parse_nest(tb, TCA_SWPORT_MAX, opt);
	swport_note_on(tb);

	if (swport_has(tb[TCA_SWPORT_RATE], sizeof(uint64_t)))
		tc_print_rate(PRINT_ANY, "rate", "rate %s ",
			      swport_get_u64(tb[TCA_SWPORT_RATE]));
	swport_print_size("overhead", "overhead %s ", tb[TCA_SWPORT_OVERHEAD]);
	swport_print_size("limit", "limit %s ", tb[TCA_SWPORT_LIMIT]);
	swport_print_size("control_limit", "control-limit %s ",
			  tb[TCA_SWPORT_CONTROL_LIMIT]);
	swport_print_q16("control_share", "control-share %g ", tb[TCA_SWPORT_CONTROL_SHARE]);
	swport_print_ecn(tb);
	swport_print_classes(tb[TCA_SWPORT_ECN_CLASSES]);
	swport_print_number("seed", "seed %" PRIu64 " ", tb[TCA_SWPORT_SEED]);
	swport_print_time("telemetry", "telemetry", tb[TCA_SWPORT_TELEMETRY]);
	swport_print_time("tcp_int", "tcp-int", tb[TCA_SWPORT_TCP_INT]);
	swport_print_trim(tb);
	if (swport_is_on(tb[TCA_SWPORT_ALPHA])) {
		swport_print_size("buffer", "buffer %s ", tb[TCA_SWPORT_BUFFER]);
		swport_print_q16("alpha", "alpha %.10g ", tb[TCA_SWPORT_ALPHA]);
	}
	swport_print_flag("percentiles", "percentiles on", tb[TCA_SWPORT_PERCENTILES]);
	swport_print_split(tb[TCA_SWPORT_SPLIT_GSO]);
	swport_print_flag("joint", "joint", tb[TCA_SWPORT_JOINT]);
	swport_print_flag("bql", "bql", tb[TCA_SWPORT_BQL]);
	swport_print_time("timer_slack", "timer_slack", tb[TCA_SWPORT_TIMER_SLACK]);
	swport_print_size("memory_limit", "memory_limit %s ", tb[TCA_SWPORT_MEMORY_LIMIT]);
	swport_print_deflect(tb);
	return 0;
}

/* Sections that are printed always, or only once they have counted. */
#define SWPORT_ALWAYS		(-1)
#define SWPORT_IF_COUNTED	(-2)

/*
 * Printers in output order.  One without a key starts a section, a line of text, which is printed
 * if the feature of its option is on, or has counted.
 */
static const struct swport_counter swport_counters[] = {
	{ SWPORT_ALWAYS, NULL, "  data" },
	{ TCA_SWPORT_STATS_DATA_BYTES, "data_bytes", " sent %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_DATA_PKTS, "data_pkts", " %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_DATA_DROP_BYTES, "data_drop_bytes", " dropped %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_DATA_DROP_PKTS, "data_drop_pkts", " %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_DATA_BACKLOG_BYTES, "data_backlog_bytes", " backlog %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_DATA_BACKLOG_MAX_BYTES, "data_backlog_max_bytes", " max %" PRIu64 " bytes" },
	{ TCA_SWPORT_JOINT, NULL, "  joint" },
	{ TCA_SWPORT_STATS_JOINT_QUEUES, "joint_queues", " queues %" PRIu64 },
	{ TCA_SWPORT_STATS_JOINT_BACKLOG_BYTES, "joint_backlog_bytes", " backlog %" PRIu64 " bytes" },
	{ TCA_SWPORT_BQL, NULL, "  device" },
	{ TCA_SWPORT_STATS_DEVICE_BYTES, "device_bytes", " backlog %" PRIu64 " bytes" },
	{ TCA_SWPORT_MEMORY_LIMIT, NULL, "  memory" },
	{ TCA_SWPORT_STATS_MEMORY_BYTES, "memory_used_bytes", " used %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_MEMORY_MAX_BYTES, "memory_max_bytes", " of %" PRIu64 },
	{ TCA_SWPORT_STATS_MEMORY_DROP_PKTS, "memory_drop_pkts", " dropped %" PRIu64 " pkts" },
	{ TCA_SWPORT_ALPHA, NULL, "  buffer" },
	{ TCA_SWPORT_STATS_BUFFER_DROP_BYTES, "buffer_drop_bytes", " dropped %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_BUFFER_DROP_PKTS, "buffer_drop_pkts", " %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_BUFFER_USED_BYTES, "buffer_used_bytes", " used %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_BUFFER_USED_MAX_BYTES, "buffer_used_max_bytes", " max %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_BUFFER_THRESHOLD_BYTES, "buffer_threshold_bytes", " threshold %" PRIu64 " bytes" },
	{ SWPORT_ALWAYS, NULL, "  control" },
	{ TCA_SWPORT_STATS_CONTROL_BYTES, "control_bytes", " sent %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_CONTROL_PKTS, "control_pkts", " %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_CONTROL_DROP_BYTES, "control_drop_bytes", " dropped %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_CONTROL_DROP_PKTS, "control_drop_pkts", " %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_CONTROL_BACKLOG_BYTES, "control_backlog_bytes", " backlog %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_CONTROL_BACKLOG_MAX_BYTES, "control_backlog_max_bytes", " max %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_CONTROL_DEFER_PKTS, "control_defer_pkts",
	 " deferred for %" PRIu64 " pkts" },
	{ TCA_SWPORT_ECN_MODE, NULL, "  ecn" },
	{ TCA_SWPORT_STATS_MARK_BYTES, "mark_bytes", " marked %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_MARK_PKTS, "mark_pkts", " %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_NOT_ECT_PKTS, "not_ect_pkts", " not-ect %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_NOT_ECT_DROP_PKTS, "not_ect_drop_pkts", " dropped %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_MARK_FAIL_PKTS, "mark_fail_pkts", " failed %" PRIu64 " pkts" },
	{ SWPORT_IF_COUNTED, NULL, "  gso" },
	{ TCA_SWPORT_STATS_GSO_SPLIT_PKTS, "gso_split_pkts", " split %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_GSO_WHOLE_PKTS, "gso_whole_pkts", " whole %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_ALLOC_FAIL_PKTS, "alloc_fail_pkts", " dropped %" PRIu64 " pkts" },
	{ TCA_SWPORT_TCP_INT, NULL, "  tcp-int" },
	{ TCA_SWPORT_STATS_INT_PKTS, "int_pkts", " written %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_INT_WORST_PKTS, "int_worst_pkts", " worst %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_INT_FAIL_PKTS, "int_fail_pkts", " failed %" PRIu64 " pkts" },
	{ TCA_SWPORT_TRIM_SIZE, NULL, "  trim" },
	{ TCA_SWPORT_STATS_TRIM_BYTES, "trim_bytes", " trimmed to %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_TRIM_PKTS, "trim_pkts", " %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_TRIM_SENT_BYTES, "trim_sent_bytes", " sent %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_TRIM_SENT_PKTS, "trim_sent_pkts", " %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_TRIM_DROP_BYTES, "trim_drop_bytes", " dropped %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_TRIM_DROP_PKTS, "trim_drop_pkts", " %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_TRIM_BACKLOG_BYTES, "trim_backlog_bytes", " backlog %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_TRIM_BACKLOG_PKTS, "trim_backlog_pkts", " %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_TRIM_FAIL_PKTS, "trim_fail_pkts", " failed %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_TO_SENDER_PKTS, "to_sender_pkts", " to sender %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_TO_SENDER_DROP_PKTS, "to_sender_drop_pkts", " lost %" PRIu64 " pkts" },
	{ TCA_SWPORT_DEFLECT, NULL, "  deflect" },
	{ TCA_SWPORT_STATS_DEFLECT_BYTES, "deflect_bytes", " sent %" PRIu64 " bytes" },
	{ TCA_SWPORT_STATS_DEFLECT_PKTS, "deflect_pkts", " %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_DEFLECT_FLOWS, "deflect_flows", " %" PRIu64 " flows" },
	{ TCA_SWPORT_STATS_DEFLECT_USED, "deflect_used", " entries %" PRIu64 },
	{ TCA_SWPORT_STATS_DEFLECT_USED_MAX, "deflect_used_max", " max %" PRIu64 },
	{ TCA_SWPORT_STATS_DEFLECT_TOKENS, "deflect_tokens", " tokens %" PRIu64 },
	{ TCA_SWPORT_STATS_DEFLECT_LOST_PKTS, "deflect_lost_pkts", " lost %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_DEFLECT_OUT_DROP_PKTS, "deflect_out_drop_pkts",
	  " dropped %" PRIu64 " pkts" },
	{ TCA_SWPORT_DEFLECT, NULL, "  not-deflected" },
	{ TCA_SWPORT_STATS_DEFLECT_NO_TOKEN_PKTS, "deflect_no_token_pkts",
	  " no-token %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_DEFLECT_RECENT_PKTS, "deflect_recent_pkts", " recent %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_DEFLECT_NO_ALTERNATE_PKTS, "deflect_no_alternate_pkts",
	 " no-alternate %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_DEFLECT_FULL_PKTS, "deflect_full_pkts", " full %" PRIu64 " pkts" },
	{ TCA_SWPORT_TELEMETRY, NULL, "  telemetry" },
	{ TCA_SWPORT_STATS_STAMP_PKTS, "stamp_pkts", " stamped %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_STAMP_KEPT_PKTS, "stamp_kept_pkts", " kept %" PRIu64 " pkts" },
	{ TCA_SWPORT_STATS_STAMP_FAIL_PKTS, "stamp_fail_pkts", " failed %" PRIu64 " pkts" },
};

/* Whether the section that starts at an entry is printed in text. */
static bool swport_has_section(size_t start, struct rtattr **tb)
{
	int option = swport_counters[start].attr;

	if (option == SWPORT_ALWAYS || (option >= 0 && swport_on & 1ULL << option))
		return true;
	/* The limit of memory always exists and is not a count. */
	for (size_t i = start + 1; i < ARRAY_SIZE(swport_counters) && swport_counters[i].key; i++)
		if (swport_counters[i].attr != TCA_SWPORT_STATS_MEMORY_MAX_BYTES &&
		    swport_get_counter(tb[swport_counters[i].attr]))
			return true;
	return false;
}

/* JSON has all sections. */
static void swport_print_sections(struct rtattr **tb)
{
	enum output_type type = PRINT_JSON;

	for (size_t i = 0; i < ARRAY_SIZE(swport_counters); i++) {
		if (!swport_counters[i].key) {
			type = swport_has_section(i, tb) ? PRINT_ANY : PRINT_JSON;
			if (i && type == PRINT_ANY)
				print_nl();
			if (type == PRINT_ANY)
				print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s",
						   swport_counters[i].fmt);
			continue;
		}
		swport_print_counters(type, &swport_counters[i], 1, tb);
	}
}

/*
 * In bytes per second like `rate`; if it is 0, telemetry cannot stamp packets.  In text, it is
 * the end of the section of telemetry, the last.
 */
static void swport_print_link(struct rtattr *attr, bool text)
{
	if (swport_get_counter(attr)) {
		tc_print_rate(text ? PRINT_ANY : PRINT_JSON, "link_rate", " link rate %s",
			      swport_get_counter(attr));
		return;
	}
	print_color_u64(PRINT_JSON, COLOR_NONE, "link_rate", NULL, 0);
	if (text)
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", " link rate unknown");
}

static size_t swport_last_section(void)
{
	size_t i = ARRAY_SIZE(swport_counters);

	while (swport_counters[--i].key)
		;
	return i;
}

static int swport_print_xstats(struct qdisc_util *qu, FILE *f,
			       struct rtattr *xstats)
{
	struct rtattr *tb[TCA_SWPORT_STATS_MAX + 1];

	if (!xstats)
		return 0;
	swport_parse_nest(tb, TCA_SWPORT_STATS_MAX, xstats);
	swport_print_sections(tb);
	swport_print_link(tb[TCA_SWPORT_STATS_LINK_BYTES_PS],
			  swport_has_section(swport_last_section(), tb));
	swport_print_class_stats(tb[TCA_SWPORT_STATS_CLASSES]);
	swport_print_percentiles(tb[TCA_SWPORT_STATS_PERCENTILES]);
	return 0;
}

__attribute__((visibility("default")))
struct qdisc_util swport_qdisc_util = {
	.id		= "swport",
	.parse_qopt	= swport_parse_qopt,
	.print_qopt	= swport_print_qopt,
	.print_xstats	= swport_print_xstats,
	.print_copt	= swport_print_flow,
};
