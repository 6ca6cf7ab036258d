// SPDX-License-Identifier: GPL-2.0
/*
 * quell doctor: findings by the facts, one table of condition, text and command.
 *
 * A % and a letter stand for a word of put_word().  Of flows with the same finding, one is named
 * and the others are counted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attr.h"
#include "doctor.h"
#include "flow.h"
#include "util.h"

/* A wait of the NIC that an algorithm steering by tens of microseconds sees as a queue. */
#define RX_DELAY_MAX_US	20

/* Room for a word, also for "ip netns exec " and a quoted name. */
#define WORD_LEN	(DOCTOR_QUOTED_LEN(FLOW_ADDRESS_LEN) + 32)

/* Letters of names that others have chosen: in commands they are quoted. */
#define NAMES		"APD"

enum scope { HOST, DEV, FLOW, HOLDER, OTHERS };

/* The subject of a rule: the host, and one of its interfaces, flows or holders. */
struct subject {
	const struct doctor_host	*host;
	const struct doctor_dev		*dev;
	const struct flow		*flow;
	const struct doctor_holder	*holder;
};

struct rule {
	enum doctor_level	level;
	const char		*check;		/* the check */
	enum scope		scope;		/* which subjects it is about */
	/*
	 * a condition: a configuration option that is missing, the state of the flow's option, or
	 * the reason for CUBIC; empty: no such condition
	 */
	const char		*why;
	/* a further condition, or NULL */
	bool			(*has)(const struct subject *s);
	const char		*text;		/* the finding; of flows behind their number */
	const char		*command;	/* its fix; empty if no command does it */
};

static bool is_text(const char *text, const char *want)
{
	return text && !strcmp(text, want);
}

/* Whether an algorithm is one of Quell's that are loaded. */
static bool is_quell(const struct doctor_host *host, const char *cc)
{
	return strcmp(cc, "quell") && cc_lookup(&host->ccs, cc);
}

/* Sources that are read in less than a microsecond. */
static bool is_fast_clock(const char *name)
{
	return !is_text(name, "hpet") && !is_text(name, "acpi_pm") && !is_text(name, "jiffies") &&
	       !is_text(name, "refined-jiffies");
}

/* The first source that is fast, if there is one. */
static bool find_fast_clock(const struct doctor_host *host, char *clock)
{
	const char *at = host->clocksources;

	while (*at) {
		snprintf(clock, DOCTOR_NAME_LEN, "%.*s", (int)strcspn(at, " "), at);
		if (*clock && is_fast_clock(clock))
			return true;
		at += strlen(clock);
		at += strspn(at, " ");
	}
	return false;
}

static uint64_t largest_window_bytes(const struct flow_list *flows)
{
	uint64_t largest = 0;
	size_t i;

	for (i = 0; i < flows->n; i++)
		if (flows->list[i].window_bytes > largest)
			largest = flows->list[i].window_bytes;
	return largest;
}

/* Whether a parameter of quell.ko has a value. */
static bool is_set(const struct doctor_host *host, const char *name, uint64_t value)
{
	const struct param *p = cc_param(cc_lookup(&host->ccs, "quell"), name);

	return p && p->value == value;
}

/* A condition: of the host @h, an interface @d or flow @f of it, or a holder. */
#define IF(name_, condition_)							\
static bool name_(const struct subject *s)					\
{										\
	const struct doctor_host *h __attribute__((unused)) = s->host;		\
	const struct doctor_dev *d __attribute__((unused)) = s->dev;		\
	const struct flow *f __attribute__((unused)) = s->flow;			\
										\
	return condition_;							\
}

IF(has_no_config, !h->has_config)
IF(has_no_module, !h->has_quell && !*h->bpf_cc)
/* Algorithms loaded as BPF objects do without modules. */
IF(has_bpf_alone, !h->has_quell && *h->bpf_cc)
IF(is_locked, has_no_module(s) && h->locked)
IF(has_no_algorithm, h->has_quell && h->ccs.n <= 1)
IF(is_unused, h->has_quell && h->ccs.n > 1 && !h->flows.n && !is_quell(h, h->default_cc))
IF(has_fast_clock, find_fast_clock(h, (char[DOCTOR_NAME_LEN]){}))
IF(has_slow_clock, !is_fast_clock(h->clocksource) && has_fast_clock(s))
IF(has_no_fast_clock, !is_fast_clock(h->clocksource) && !has_fast_clock(s))
IF(uses_ecn, is_quell(h, "smartt") || is_quell(h, "dcqcn") || is_quell(h, "dart"))
IF(refuses_ecn_in_use, !h->tcp_ecn && uses_ecn(s))
IF(refuses_ecn, !h->tcp_ecn && !uses_ecn(s))
IF(has_no_sack, !h->tcp_sack)
IF(is_short_of_memory, h->tcp_mem[1] && h->tcp_pages >= h->tcp_mem[1])
/* The stack counts more for a segment than its payload. */
IF(has_small_buffers, h->tcp_wmem[2] && h->tcp_wmem[2] < 2 * largest_window_bytes(&h->flows))

IF(has_lro, d->lro)
IF(has_idle_stamps, d && d->can_stamp && !d->stamps)
IF(has_no_idle_stamps, !has_idle_stamps(s))
IF(is_late_with_idle_stamps, d->rx_delay_us > RX_DELAY_MAX_US && has_idle_stamps(s))
IF(is_late, d->rx_delay_us > RX_DELAY_MAX_US && !d->stamps && !d->can_stamp)
IF(has_shaper, *d->qdisc)
IF(has_swport, !strcmp(d->root, "swport") && (d->drop_pkts || d->mark_pkts || d->trim_pkts))
IF(has_drops, strcmp(d->root, "swport") && d->drop_pkts)

IF(is_hpcc, f->cc && !strncmp(f->cc, "hpcc", 4))
IF(needs_option, is_text(f->cc, "dart") || is_hpcc(s))
/* Its records come by the public TCP-INT option, which MPTCP and signed connections do not use. */
IF(uses_tcp_int, is_hpcc(s) && !is_text(f->option, "no-room") && is_set(h, "tcp-int", 2))
IF(needs_quell_option, needs_option(s) && !uses_tcp_int(s))
IF(needs_option_on, needs_quell_option(s) && !is_set(h, "option", 0))
IF(needs_option_off, needs_quell_option(s) && is_set(h, "option", 0))
/* Switches are not the reason where there is no option to write to. */
IF(lacks_option, needs_option(s) && f->option && !is_text(f->option, "on"))
IF(has_empty_option, !uses_tcp_int(s) && !lacks_option(s))
/* With fixed values only: where adapt governs, it gives up by itself. */
IF(has_low_target, !f->adapt && f->target_ns && f->min_rtt_ns && f->target_ns < f->min_rtt_ns)
IF(is_slow, f->path_bytes_ps < f->least_bytes_ps)
/* The reason is of the time when it was last checked. */
IF(is_fast_now, !is_slow(s))
IF(has_small_receiver, is_text(f->limited_by, "receiver"))
IF(has_vain_stamps, d && d->stamps && f->clock == QUELL_CLOCK_SOFTWARE)
IF(has_unknown_link, f->ifindex && !f->link_bytes_ps)

IF(is_default, s->holder->is_default)
IF(has_sockets, s->holder->sockets)
IF(has_other_netns, h->other_netns)

static bool has_other_reason(const struct subject *s);

/* Commands that make Quell's modules available; modprobe does not find one not installed. */
static const char * const installs[] = {
	"modprobe tcp_swift", "dkms autoinstall -k %V",
	"apt install ./quell-dkms_*.deb  # from make deb, INSTALL.md",
};

static const struct rule rules[] = {
	{ DOCTOR_NOTE, "kernel", HOST, "", has_no_config,
	  "the configuration of this kernel is neither in /boot nor in /lib/modules", "" },
	{ DOCTOR_FAULT, "kernel", HOST, "CONFIG_NETFILTER", NULL,
	  "this kernel has no CONFIG_NETFILTER, in whose hooks quell.ko takes its time stamps", "" },
	{ DOCTOR_NOTE, "kernel", HOST, "CONFIG_NET_SCHED", NULL,
	  "this kernel has no CONFIG_NET_SCHED, without which it cannot be a switch (swport)", "" },
	{ DOCTOR_FAULT, "kernel", HOST, "CONFIG_HIGH_RES_TIMERS", NULL,
	  "this kernel has no CONFIG_HIGH_RES_TIMERS: pacing and tail probes are of milliseconds", "" },
	{ DOCTOR_NOTE, "kernel", HOST, "CONFIG_INET_TCP_DIAG", NULL,
	  "this kernel has no CONFIG_INET_TCP_DIAG: ss and quell flow do not show rates and losses", "" },
	{ DOCTOR_NOTE, "kernel", HOST, "CONFIG_DEBUG_INFO_BTF", NULL,
	  "this kernel has no CONFIG_DEBUG_INFO_BTF, which quell bpf and quell trace need", "" },
	{ DOCTOR_FAULT, "module", HOST, "", has_no_module, "the module quell is not %I%O", "%X" },
	{ DOCTOR_NOTE, "module", HOST, "", has_bpf_alone, "the module quell is not %I%O", "%X" },
	{ DOCTOR_FAULT, "module", HOST, "", is_locked,
	  "Secure Boot: this kernel loads only modules that are signed with a key it knows;"
	  " the BPF objects of quell-bpf do without",
	  "apt install ./quell-bpf_*.deb  # from make deb, INSTALL.md" },
	{ DOCTOR_FAULT, "module", HOST, "", has_no_algorithm,
	  "no module of an algorithm is loaded", "%X" },
	{ DOCTOR_NOTE, "module", HOST, "", is_unused,
	  "no connection uses Quell, and none will by default",
	  "sysctl -w net.ipv4.tcp_congestion_control=%E" },
	{ DOCTOR_FAULT, "clock", HOST, "", has_slow_clock,
	  "time is read from %C, which takes microseconds for each packet",
	  "echo %K >/sys/devices/system/clocksource/clocksource0/current_clocksource" },
	{ DOCTOR_FAULT, "clock", HOST, "", has_no_fast_clock,
	  "time is read from %C, which takes microseconds for each packet", "" },
	{ DOCTOR_FAULT, "ecn", HOST, "", refuses_ecn_in_use,
	  "this host refuses ECN: peers that send to it by smartt, dcqcn or dart get no marks",
	  "sysctl -w net.ipv4.tcp_ecn=2" },
	{ DOCTOR_NOTE, "ecn", HOST, "", refuses_ecn,
	  "this host refuses ECN: peers that send to it by smartt, dcqcn or dart get no marks",
	  "sysctl -w net.ipv4.tcp_ecn=2" },
	{ DOCTOR_FAULT, "sack", HOST, "", has_no_sack,
	  "selective acknowledgments are off: losses are repaired one a round trip, or by a timeout",
	  "sysctl -w net.ipv4.tcp_sack=1" },
	{ DOCTOR_FAULT, "memory", HOST, "", is_short_of_memory,
	  "TCP uses %U pages, and from %u on its buffers are kept small",
	  "sysctl -w net.ipv4.tcp_mem=\"%m\"" },
	{ DOCTOR_NOTE, "memory", HOST, "", has_small_buffers,
	  "a flow has a window of %W bytes, and its send buffer is limited to %H",
	  "sysctl -w net.ipv4.tcp_wmem=\"%w\"" },

	{ DOCTOR_FAULT, "offload", DEV, "", has_lro,
	  "%D merges packets before the host sees them (LRO): marks, options and arrival times of"
	  " all but one are lost", "ethtool -K %D lro off" },
	{ DOCTOR_NOTE, "stamps", DEV, "", has_idle_stamps,
	  "%D can stamp all packets that it receives, and does not: round trips contain the delays"
	  " of this host", "quell hwtstamp on %D" },
	{ DOCTOR_NOTE, "offload", DEV, "", is_late_with_idle_stamps,
	  "%D interrupts up to %J us late: an algorithm takes that for a queue of the network",
	  "quell hwtstamp on %D" },
	{ DOCTOR_NOTE, "offload", DEV, "", is_late,
	  "%D interrupts up to %J us late: an algorithm takes that for a queue of the network",
	  "ethtool -C %D adaptive-rx off rx-usecs 8" },
	{ DOCTOR_NOTE, "qdisc", DEV, "", has_shaper,
	  "packets wait or are dropped in this host, in the %Q of %D: an algorithm takes that for the"
	  " network", "tc qdisc del dev %D root" },

	{ DOCTOR_NOTE, "port", DEV, "", has_swport,
	  "the switch port of %D has dropped %x packets, marked %y and trimmed %z",
	  "tc -s qdisc show dev %D" },
	{ DOCTOR_NOTE, "port", DEV, "", has_drops,
	  "the %q of %D has dropped %x packets in this host", "tc -s qdisc show dev %D" },

	{ DOCTOR_FAULT, "peer", FLOW, "stripped", NULL,
	  "lost the Quell option: something on the path removes TCP options it does not know", "" },
	{ DOCTOR_FAULT, "peer", FLOW, "no-reply", needs_quell_option,
	  "get no answer to the Quell option, which %A needs: the peer uses no algorithm of Quell",
	  "on %P: sysctl -w net.ipv4.tcp_congestion_control=%A" },
	{ DOCTOR_FAULT, "peer", FLOW, "not-offered", needs_option_on,
	  "began without the Quell option, which %A needs: the host that opened them used no algorithm"
	  " of Quell then", "on %P: sysctl -w net.ipv4.tcp_congestion_control=%A" },
	{ DOCTOR_FAULT, "peer", FLOW, "not-offered", needs_option_off,
	  "began without the Quell option, which %A needs: this host does not use it",
	  "quell cc set quell option 2" },
	{ DOCTOR_NOTE, "peer", FLOW, "no-room", needs_option,
	  "have no room for the Quell option, which %A needs: they are MPTCP's, or signed (MD5, AO)",
	  "" },
	{ DOCTOR_FAULT, "target", FLOW, "", has_low_target,
	  "have a target below the round trip of their path, and the smallest window",
	  "quell cc reset %A" },
	{ DOCTOR_NOTE, "fallback", FLOW, "no-marks", NULL,
	  "are governed by CUBIC%G: no switch marks, or the peer refuses ECN",
	  "on each switch: tc qdisc replace dev DEV root swport ecn min 45kb max 180kb" },
	{ DOCTOR_NOTE, "fallback", FLOW, "no-records", has_empty_option,
	  "are governed by CUBIC%G: no switch writes telemetry",
	  "on each switch: tc qdisc replace dev DEV root swport telemetry 10us" },
	{ DOCTOR_NOTE, "fallback", FLOW, "no-records", uses_tcp_int,
	  "are governed by CUBIC%G: no switch writes to the TCP-INT option, or the peer does not"
	  " echo it",
	  "on each switch: tc qdisc replace dev DEV root swport tcp-int 10us" },
	{ DOCTOR_NOTE, "fallback", FLOW, "noise", has_idle_stamps,
	  "are governed by CUBIC%G: the delays of the hosts, %N, are larger than the target, %T",
	  "quell hwtstamp on %D" },
	{ DOCTOR_NOTE, "fallback", FLOW, "noise", has_no_idle_stamps,
	  "are governed by CUBIC%G: the delays of the hosts, %N, are larger than the target, %T", "" },
	{ DOCTOR_NOTE, "fallback", FLOW, "long-path", NULL,
	  "are governed by CUBIC%G: the round trip without a queue, %B, is longer than the %L that"
	  " %A is made for; a route can say so",
	  "ip route get %p dev %D    # that route again, with congctl cubic behind it" },
	{ DOCTOR_NOTE, "fallback", FLOW, "slow-path", is_slow,
	  "are governed by CUBIC%G: the share of the path, %R, is less than the %M that %A is made"
	  " for", "" },
	{ DOCTOR_NOTE, "fallback", FLOW, "slow-path", is_fast_now,
	  "are governed by CUBIC%G: the share of the path was less than the %M that %A is made for"
	  " when last checked, and is %R now", "" },
	{ DOCTOR_NOTE, "fallback", FLOW, "early-loss", NULL,
	  "are governed by CUBIC%G: packets were lost before a queue made the round trip as long as"
	  " the target, %T: a buffer of the path is too short for %A", "" },
	{ DOCTOR_NOTE, "fallback", FLOW, "delay-stays", NULL,
	  "are governed by CUBIC%G: smaller windows did not bring the round trip, now %S, down to the"
	  " target, %T: other flows fill the queue, or the path became longer", "" },
	{ DOCTOR_NOTE, "fallback", FLOW, "", has_other_reason,
	  "are governed by CUBIC%G, see quell flow show", "" },
	{ DOCTOR_NOTE, "receiver", FLOW, "", has_small_receiver,
	  "are held back by the receive window of the peer",
	  "on %P: sysctl -w net.ipv4.tcp_rmem=\"4096 131072 16777216\"" },
	{ DOCTOR_NOTE, "stamps", FLOW, "", has_vain_stamps,
	  "are timed by software, though %D is set to stamp all packets: it stamps no TCP packet,"
	  " or too few were received to map its clock",
	  "quell stat -a quell    # hardware-stamps, -warming, -refused: all 0 if it stamps no packet" },
	{ DOCTOR_NOTE, "link", FLOW, "", has_unknown_link,
	  "leave by %D, whose driver does not report its rate", "quell link set %D rate 10gbit" },

	{ DOCTOR_HELD, "holders", HOLDER, "", is_default, "%A is the default of %Y",
	  "%Fsysctl -w net.ipv4.tcp_congestion_control=cubic" },
	{ DOCTOR_HELD, "holders", HOLDER, "", has_sockets, "%A is used by %Z of %Y",
	  "%Fss -tanpiO | grep -w %A" },
	{ DOCTOR_HELD, "holders", OTHERS, "", has_other_netns,
	  "other namespaces were not examined, which needs CAP_SYS_ADMIN", "" },
};

/* A reason for CUBIC that no rule names. */
static bool has_other_reason(const struct subject *s)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (!strcmp(rules[i].check, "fallback") && is_text(s->flow->fallback, rules[i].why))
			return false;
	return s->flow->fallback;
}

static bool lacks_config(const struct doctor_host *host, const char *name)
{
	size_t i;

	for (i = 0; i < DOCTOR_OPTIONS; i++)
		if (!strcmp(doctor_options[i], name))
			return host->has_config && !host->option[i];
	return false;
}

static bool applies(const struct rule *r, const struct subject *s)
{
	if (*r->why && r->scope == HOST && !lacks_config(s->host, r->why))
		return false;
	if (*r->why && r->scope == FLOW && !is_text(s->flow->option, r->why) &&
	    !is_text(s->flow->fallback, r->why))
		return false;
	return !r->has || r->has(s);
}

static void put_rate(char *word, uint64_t bytes_ps)
{
	char text[FLOW_CELL_LEN];

	flow_format_rate(text, bytes_ps);
	snprintf(word, WORD_LEN, "%.*sbit/s", FLOW_NUMBER_LEN, text);
}

/* " for 5.98s (99.8% of its time)", of a kernel that has the times. */
static void put_governed(char *word, const struct flow *f)
{
	char time[FLOW_CELL_LEN];

	if (!f->cubic_ns)
		return;
	flow_format_time(time, f->cubic_ns);
	snprintf(word, WORD_LEN, " for %.*s (%.1f%% of its time)", FLOW_NUMBER_LEN, time,
		 flow_percent(f, f->cubic_ns));
}

/* "ip netns exec NAME " in front of a command, or nsenter for a namespace without a name. */
static void put_netns(char *word, const struct doctor_holder *h)
{
	char name[DOCTOR_QUOTED_LEN(DOCTOR_NAME_LEN)];

	if (!h->own)
		snprintf(word, WORD_LEN, strchr(h->netns, '/') ? "nsenter --net=%s " :
			 "ip netns exec %s ", doctor_quote(name, sizeof(name), h->netns));
}

static void put_three(char *word, const uint64_t *value, unsigned int factor)
{
	snprintf(word, WORD_LEN, "%" PRIu64 " %" PRIu64 " %" PRIu64, factor * value[0],
		 factor * value[1], factor * value[2]);
}

/* How a word is made of the fact at an offset in its subject. */
enum { TEXT, STRING, NUMBER, NUMBER32, TIME, RATE };

#define OF_HOST(letter_, as_, member_) \
	{ letter_, HOST, as_, offsetof(struct doctor_host, member_) }
#define OF_DEV(letter_, as_, member_)	{ letter_, DEV, as_, offsetof(struct doctor_dev, member_) }
#define OF_FLOW(letter_, as_, member_)	{ letter_, FLOW, as_, offsetof(struct flow, member_) }
#define OF_HOLDER(letter_, as_, member_) \
	{ letter_, HOLDER, as_, offsetof(struct doctor_holder, member_) }

static const struct {
	char		letter;
	enum scope	of;
	uint8_t		as;
	uint16_t	offset;
} words[] = {
	OF_HOST('C', TEXT, clocksource), OF_HOST('H', NUMBER, tcp_wmem[2]),
	OF_HOST('U', NUMBER, tcp_pages),
	OF_HOST('V', TEXT, release), OF_HOST('u', NUMBER, tcp_mem[1]),
	OF_DEV('D', TEXT, name), OF_DEV('J', NUMBER32, rx_delay_us), OF_DEV('Q', TEXT, qdisc),
	OF_DEV('q', TEXT, root), OF_DEV('x', NUMBER, drop_pkts), OF_DEV('y', NUMBER, mark_pkts),
	OF_DEV('z', NUMBER, trim_pkts),
	OF_FLOW('A', STRING, cc), OF_FLOW('B', TIME, base_ns), OF_FLOW('L', TIME, longest_ns),
	OF_FLOW('M', RATE, least_bytes_ps), OF_FLOW('N', TIME, noise_ns),
	OF_FLOW('R', RATE, path_bytes_ps), OF_FLOW('S', TIME, standing_ns),
	OF_FLOW('T', TIME, fit_target_ns), OF_HOLDER('A', TEXT, cc),
};

/* A word that is not a fact by itself. */
static void put_made_word(char *word, char letter, const struct subject *s)
{
	const struct doctor_host *h = s->host;
	uint64_t window_bytes = largest_window_bytes(&h->flows);
	const uint64_t wmem[] = { h->tcp_wmem[0], h->tcp_wmem[1], 4 * window_bytes };

	if (letter == 'D')
		strcpy(word, "DEV");
	else if (letter == 'E')
		snprintf(word, WORD_LEN, "%s", h->ccs.list[1].name);
	else if (letter == 'F')
		put_netns(word, s->holder);
	else if (letter == 'G')
		put_governed(word, s->flow);
	else if (letter == 'I')
		strcpy(word, h->has_modules ? "loaded" : "installed for this kernel");
	else if (letter == 'K')
		find_fast_clock(h, word);
	else if (letter == 'O')
		snprintf(word, WORD_LEN, *h->bpf_cc ? "; %s does without" : "%s", h->bpf_cc);
	else if (letter == 'P')
		flow_format_address(word, WORD_LEN, s->flow, s->flow->daddr);
	else if (letter == 'p')		/* without the scope, which ip(8) does not take */
		flow_format_address(word, WORD_LEN, &(struct flow){ .family = s->flow->family },
				    s->flow->daddr);
	else if (letter == 'W')
		snprintf(word, WORD_LEN, "%" PRIu64, window_bytes);
	else if (letter == 'Y')
		strcpy(word, s->holder->own ? "this namespace" : s->holder->netns);
	else if (letter == 'Z')
		snprintf(word, WORD_LEN, "%u socket%s", s->holder->sockets,
			 s->holder->sockets == 1 ? "" : "s");
	else
		put_three(word, letter == 'm' ? h->tcp_mem : wmem, letter == 'm' ? 2 : 1);
}

/* The word of a letter, WORD_LEN bytes. */
static void put_word(char *word, char letter, const struct subject *s)
{
	const void *subjects[] = { s->host, s->dev, s->flow, s->holder };
	const char *fact = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words) && !fact; i++)
		if (words[i].letter == letter && subjects[words[i].of])
			fact = (const char *)subjects[words[i].of] + words[i].offset;
	*word = '\0';
	if (!fact)
		put_made_word(word, letter, s);
	else if (words[--i].as == TEXT)
		strcpy(word, fact);
	else if (words[i].as == STRING)
		snprintf(word, WORD_LEN, "%s", *(char * const *)fact ? *(char * const *)fact : "?");
	else if (words[i].as == NUMBER32)
		snprintf(word, WORD_LEN, "%u", *(const uint32_t *)fact);
	else if (words[i].as == NUMBER)
		snprintf(word, WORD_LEN, "%" PRIu64, *(const uint64_t *)fact);
	else if (words[i].as == TIME)
		flow_format_time(word, *(const uint64_t *)fact);
	else
		put_rate(word, *(const uint64_t *)fact);
}

/* Put the words in their places; in a command so that a shell leaves names alone. */
static void fill_in(char *buf, const char *form, const struct subject *s, bool command)
{
	const struct doctor_host *h = s->host;
	char word[WORD_LEN], quoted[DOCTOR_QUOTED_LEN(WORD_LEN)];
	size_t used = strlen(buf);

	if (!strcmp(form, "%X"))
		form = installs[h->has_modules ? 0 : h->has_dkms ? 1 : 2];
	for (; *form && used < DOCTOR_TEXT_LEN - 1; form++) {
		if (*form != '%') {
			buf[used++] = *form;
			buf[used] = '\0';
			continue;
		}
		put_word(word, *++form, s);
		snprintf(buf + used, DOCTOR_TEXT_LEN - used, "%s", command && strchr(NAMES, *form) ?
			 doctor_quote(quoted, sizeof(quoted), word) : word);
		used += strlen(buf + used);
	}
}

/* A finding without text yet.  Without memory for it, it is missing. */
struct finding *doctor_add(struct findings *findings, enum doctor_level level, const char *check)
{
	static struct finding lost;
	struct finding *f = list_grow(&findings->list, &findings->n, sizeof(*f));

	if (!f)
		f = &lost;
	*f = (struct finding){ .level = level, .check = check };
	return f;
}

static void report(struct findings *findings, const struct rule *r, const struct subject *s)
{
	struct finding *f = doctor_add(findings, r->level, r->check);
	char peer[WORD_LEN];

	if (r->scope == FLOW) {
		flow_format_address(peer, sizeof(peer), s->flow, s->flow->daddr);
		snprintf(f->text, sizeof(f->text), "%zu of %zu flows, one to %.60s, ",
			 findings->flows, s->host->flows.n, peer);
	}
	fill_in(f->text, r->text, s, false);
	fill_in(f->command, r->command, s, true);
}

static void judge(const struct subject *s, enum scope scope, struct findings *findings)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].scope == scope && applies(&rules[i], s))
			report(findings, &rules[i], s);
}

/* The first flow to which a rule applies, and how many there are. */
static void judge_flows(const struct doctor_host *host, const struct rule *r,
			struct findings *findings)
{
	struct subject s = { .host = host }, first = {};
	size_t i, j;

	findings->flows = 0;
	for (i = 0; i < host->flows.n; i++) {
		s.flow = &host->flows.list[i];
		s.dev = NULL;
		for (j = 0; j < host->n_devs; j++)
			if (host->devs[j].ifindex == s.flow->ifindex)
				s.dev = &host->devs[j];
		if (applies(r, &s) && !findings->flows++)
			first = s;
	}
	if (findings->flows)
		report(findings, r, &first);
}

/* Findings by the facts. */
void doctor_check(const struct doctor_host *host, struct findings *findings)
{
	struct subject s = { .host = host };
	size_t i;

	judge(&s, HOST, findings);
	for (i = 0; i < host->n_devs; i++) {
		s.dev = &host->devs[i];
		judge(&s, DEV, findings);
	}
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].scope == FLOW)
			judge_flows(host, &rules[i], findings);
	for (i = 0; i < host->n_holders; i++) {
		s.holder = &host->holders[i];
		judge(&s, HOLDER, findings);
	}
	s.holder = NULL;
	judge(&s, OTHERS, findings);
}
