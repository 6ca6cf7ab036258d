// SPDX-License-Identifier: GPL-2.0
/*
 * quell doctor: findings about peers and paths, by the flows.  Of flows with the same finding, one
 * is named and the others are counted.
 */
#include <stdio.h>
#include <string.h>

#include "doctor.h"
#include "flow.h"
#include "util.h"

/**
 * struct ailment - a problem that flows may have
 * @level: how grave it is
 * @check: the check
 * @has: whether a flow has it
 * @text: said of it, behind the number of flows; with words, see word_for()
 * @command: its fix, with words, too
 * @on: further condition, by the settings of the host; NULL: on any
 */
struct ailment {
	enum doctor_level	level;
	const char		*check;
	bool			(*has)(const struct flow *f);
	const char		*text;
	const char		*command;
	bool			(*on)(const struct doctor_host *host, const struct flow *f);
};

static bool is_text(const char *text, const char *want)
{
	return text && !strcmp(text, want);
}

static bool is_hpcc(const struct flow *f)
{
	return f->cc && !strncmp(f->cc, "hpcc", 4);
}

/* The algorithm needs the Quell option, and the flow is without for that reason. */
static bool is_without(const struct flow *f, const char *reason)
{
	return is_text(f->option, reason) && (is_text(f->cc, "dart") || is_hpcc(f));
}

static bool has_peer_without_quell(const struct flow *f)
{
	return is_without(f, "no-reply");
}

static bool has_no_offer(const struct flow *f)
{
	return is_without(f, "not-offered");
}

static bool has_no_room(const struct flow *f)
{
	return is_without(f, "no-room");
}

static bool has_option_stripped(const struct flow *f)
{
	return is_text(f->option, "stripped");
}

/* With fixed values only: where adapt governs, it gives up by itself. */
static bool has_target_below_path(const struct flow *f)
{
	return !f->adapt && f->target_ns && f->min_rtt_ns && f->target_ns < f->min_rtt_ns;
}

static bool has_no_marks(const struct flow *f)
{
	return is_text(f->fallback, "no-marks");
}

static bool has_no_records(const struct flow *f)
{
	return is_text(f->fallback, "no-records");
}

/* Switches are not the reason where there is no option to write to. */
static bool has_empty_records(const struct flow *f)
{
	return has_no_records(f) && !has_peer_without_quell(f) && !has_no_offer(f) &&
	       !has_no_room(f) && !is_without(f, "stripped");
}

static bool has_noise(const struct flow *f)
{
	return is_text(f->fallback, "noise");
}

static bool has_long_path(const struct flow *f)
{
	return is_text(f->fallback, "long-path");
}

static bool has_slow_path(const struct flow *f)
{
	return is_text(f->fallback, "slow-path") && f->path_bytes_ps < f->least_bytes_ps;
}

/* The reason is of the time when it was last checked. */
static bool has_faster_path(const struct flow *f)
{
	return is_text(f->fallback, "slow-path") && f->path_bytes_ps >= f->least_bytes_ps;
}

static bool has_early_loss(const struct flow *f)
{
	return is_text(f->fallback, "early-loss");
}

static bool has_delay_that_stays(const struct flow *f)
{
	return is_text(f->fallback, "delay-stays");
}

static bool has_other_fallback(const struct flow *f)
{
	return f->fallback && !has_no_marks(f) && !has_no_records(f) &&
	       !has_noise(f) && !has_long_path(f) && !is_text(f->fallback, "slow-path") &&
	       !has_early_loss(f) && !has_delay_that_stays(f);
}

static bool has_small_receiver(const struct flow *f)
{
	return is_text(f->limited_by, "receiver");
}

static bool has_unknown_link(const struct flow *f)
{
	return f->ifindex && !f->link_bytes_ps;
}

/* Whether a parameter of quell.ko has a value. */
static bool is_set(const struct doctor_host *host, const char *name, uint64_t value)
{
	size_t i, j;

	for (i = 0; i < host->ccs.n; i++) {
		const struct cc *cc = &host->ccs.list[i];

		for (j = 0; is_text(cc->name, "quell") && j < cc->n_params; j++)
			if (is_text(cc->params[j].name, name))
				return cc->params[j].value == value;
	}
	return false;
}

/* Its records come by the public TCP-INT option, which MPTCP and signed connections do not use. */
static bool uses_tcp_int(const struct doctor_host *host, const struct flow *f)
{
	return is_hpcc(f) && !has_no_room(f) && is_set(host, "tcp-int", 2);
}

static bool uses_option(const struct doctor_host *host, const struct flow *f)
{
	return !uses_tcp_int(host, f);
}

static bool has_option_on(const struct doctor_host *host, const struct flow *f)
{
	return uses_option(host, f) && !is_set(host, "option", 0);
}

static bool has_option_off(const struct doctor_host *host, const struct flow *f)
{
	return uses_option(host, f) && is_set(host, "option", 0);
}

static const struct ailment ailments[] = {
	{ DOCTOR_FAULT, "peer", has_option_stripped,
	  "lost the Quell option: something on the path removes TCP options it does not know", "", NULL },
	{ DOCTOR_FAULT, "peer", has_peer_without_quell,
	  "get no answer to the Quell option, which %A needs: the peer uses no algorithm of Quell",
	  "on %P: sysctl -w net.ipv4.tcp_congestion_control=%A", uses_option },
	{ DOCTOR_FAULT, "peer", has_no_offer,
	  "began without the Quell option, which %A needs: the host that opened them used no algorithm"
	  " of Quell then", "on %P: sysctl -w net.ipv4.tcp_congestion_control=%A", has_option_on },
	{ DOCTOR_FAULT, "peer", has_no_offer,
	  "began without the Quell option, which %A needs: this host does not use it",
	  "quell cc set quell option 2", has_option_off },
	{ DOCTOR_NOTE, "peer", has_no_room,
	  "have no room for the Quell option, which %A needs: they are MPTCP's, or signed (MD5, AO)",
	  "", NULL },
	{ DOCTOR_FAULT, "target", has_target_below_path,
	  "have a target below the round trip of their path, and the smallest window",
	  "quell cc reset %A", NULL },
	{ DOCTOR_NOTE, "fallback", has_no_marks,
	  "are governed by CUBIC%G: no switch marks, or the peer refuses ECN",
	  "on each switch: tc qdisc replace dev DEV root swport ecn min 45kb max 180kb", NULL },
	{ DOCTOR_NOTE, "fallback", has_empty_records,
	  "are governed by CUBIC%G: no switch writes telemetry",
	  "on each switch: tc qdisc replace dev DEV root swport telemetry 10us", uses_option },
	{ DOCTOR_NOTE, "fallback", has_no_records,
	  "are governed by CUBIC%G: no switch writes to the TCP-INT option, or the peer does not"
	  " echo it",
	  "on each switch: tc qdisc replace dev DEV root swport tcp-int 10us", uses_tcp_int },
	{ DOCTOR_NOTE, "fallback", has_noise,
	  "are governed by CUBIC%G: the delays of the hosts, %N, are larger than the target, %T",
	  "quell hwtstamp on %D", NULL },
	{ DOCTOR_NOTE, "fallback", has_long_path,
	  "are governed by CUBIC%G: the round trip without a queue, %B, is longer than the %L that"
	  " %A is made for; a route can say so",
	  "ip route get %P    # that route again, with congctl cubic behind it", NULL },
	{ DOCTOR_NOTE, "fallback", has_slow_path,
	  "are governed by CUBIC%G: the share of the path, %R, is less than the %M that %A is made"
	  " for", "", NULL },
	{ DOCTOR_NOTE, "fallback", has_faster_path,
	  "are governed by CUBIC%G: the share of the path was less than the %M that %A is made for"
	  " when last checked, and is %R now", "", NULL },
	{ DOCTOR_NOTE, "fallback", has_early_loss,
	  "are governed by CUBIC%G: packets were lost before a queue made the round trip as long as"
	  " the target, %T: a buffer of the path is too short for %A", "", NULL },
	{ DOCTOR_NOTE, "fallback", has_delay_that_stays,
	  "are governed by CUBIC%G: smaller windows did not bring the round trip, now %S, down to the"
	  " target, %T: other flows fill the queue, or the path became longer", "", NULL },
	{ DOCTOR_NOTE, "fallback", has_other_fallback,
	  "are governed by CUBIC%G, see quell flow show", "", NULL },
	{ DOCTOR_NOTE, "receiver", has_small_receiver,
	  "are held back by the receive window of the peer",
	  "on %P: sysctl -w net.ipv4.tcp_rmem=\"4096 131072 16777216\"", NULL },
	{ DOCTOR_NOTE, "link", has_unknown_link,
	  "leave by %D, whose driver does not report its rate", "quell link set %D rate 10gbit", NULL },
};

/* Letters of numbers of a flow: see number_for(). */
#define NUMBERS		"BGLMNRST"

/* Replacements of %A, %P and %D, and of each of NUMBERS. */
struct words {
	const char	*cc;
	const char	*peer;
	const char	*dev;
	char		number[sizeof(NUMBERS) - 1][FLOW_CELL_LEN];
};

static const char *word_for(const struct words *words, char letter)
{
	const char *number = strchr(NUMBERS, letter);

	if (number)
		return words->number[number - NUMBERS];
	return letter == 'A' ? words->cc : letter == 'P' ? words->peer : words->dev;
}

static void rate_for(char *cell, uint64_t bytes_ps)
{
	char text[FLOW_CELL_LEN];

	flow_format_rate(text, bytes_ps);
	snprintf(cell, FLOW_CELL_LEN, "%.*sbit/s", FLOW_NUMBER_LEN, text);
}

/* " for 5.98s (99.8% of its time)", of a kernel that has the times. */
static void governed_for(char *cell, const struct flow *f)
{
	char time[FLOW_CELL_LEN];

	*cell = '\0';
	if (!f->cubic_ns)
		return;
	flow_format_time(time, f->cubic_ns);
	snprintf(cell, FLOW_CELL_LEN, " for %.*s (%.1f%% of its time)", FLOW_NUMBER_LEN, time,
		 flow_percent(f, f->cubic_ns));
}

static void number_for(char *cell, char letter, const struct flow *f)
{
	if (letter == 'G')
		governed_for(cell, f);
	else if (letter == 'M')
		rate_for(cell, f->least_bytes_ps);
	else if (letter == 'R')
		rate_for(cell, f->path_bytes_ps);
	else
		flow_format_time(cell, letter == 'B' ? f->base_ns :
				       letter == 'L' ? f->longest_ns :
				       letter == 'N' ? f->noise_ns :
				       letter == 'S' ? f->standing_ns : f->fit_target_ns);
}

/* Put the words in their places. */
static void fill_in(char *buf, size_t len, const char *form, const struct words *words)
{
	size_t used = 0;

	*buf = '\0';
	for (; *form && used < len - 1; form++) {
		const char *word = *form == '%' ? word_for(words, *++form) : NULL;

		if (word) {
			snprintf(buf + used, len - used, "%s", word);
			used += strlen(buf + used);
		} else {
			buf[used++] = *form;
			buf[used] = '\0';
		}
	}
}

/* In a command so that a shell leaves the words alone. */
static void fill_in_command(char *buf, size_t len, const char *form, const struct words *words)
{
	char peer[DOCTOR_QUOTED_LEN(FLOW_ADDRESS_LEN)];
	char dev[DOCTOR_QUOTED_LEN(IF_NAMESIZE)];
	char cc[DOCTOR_QUOTED_LEN(DOCTOR_CC_LEN)];
	struct words quoted = {
		.cc = doctor_quote(cc, sizeof(cc), words->cc),
		.peer = doctor_quote(peer, sizeof(peer), words->peer),
		.dev = doctor_quote(dev, sizeof(dev), words->dev),
	};

	fill_in(buf, len, form, &quoted);
}

/* Whether the interface of a flow has hardware stamps that are off. */
static bool has_idle_stamps(const struct doctor_host *host, const struct flow *f)
{
	size_t i;

	for (i = 0; i < host->n_devs; i++)
		if (host->devs[i].ifindex == f->ifindex)
			return host->devs[i].can_stamp && !host->devs[i].stamps;
	return false;
}

/* Whether a flow has it, on a host with these settings. */
static bool is_ill(const struct doctor_host *host, const struct ailment *a, const struct flow *f)
{
	return a->has(f) && (!a->on || a->on(host, f));
}

static void report(const struct doctor_host *host, const struct ailment *a, size_t first,
		   struct findings *findings)
{
	char text[DOCTOR_TEXT_LEN], command[DOCTOR_TEXT_LEN], finding[DOCTOR_TEXT_LEN];
	const struct flow *f = &host->flows.list[first];
	char peer[FLOW_ADDRESS_LEN];
	struct words words = {
		.cc = f->cc ? f->cc : "?",
		.peer = peer,
		.dev = doctor_dev_name(host, f->ifindex),
	};
	size_t i, n = 0;

	for (i = first; i < host->flows.n; i++)
		n += is_ill(host, a, &host->flows.list[i]);
	flow_format_address(peer, sizeof(peer), f, f->daddr);
	for (i = 0; i < sizeof(words.number) / sizeof(*words.number); i++)
		number_for(words.number[i], NUMBERS[i], f);
	fill_in(finding, sizeof(finding), a->text, &words);
	fill_in_command(command, sizeof(command), a->command, &words);
	if (a->has == has_noise && !has_idle_stamps(host, f))
		*command = '\0';
	snprintf(text, sizeof(text), "%zu of %zu flows, one to %.60s, %.360s", n, host->flows.n,
		 peer, finding);
	doctor_report(findings, a->level, a->check, text, command);
}

/**
 * doctor_check_flows() - findings by the flows
 * @host: the facts
 * @findings: the findings are added to it
 */
void doctor_check_flows(const struct doctor_host *host, struct findings *findings)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(ailments); i++) {
		for (j = 0; j < host->flows.n &&
			    !is_ill(host, &ailments[i], &host->flows.list[j]); j++)
			;
		if (j < host->flows.n)
			report(host, &ailments[i], j, findings);
	}
}
