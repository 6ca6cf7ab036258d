// SPDX-License-Identifier: GPL-2.0
/*
 * Root qdiscs.
 */
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../../include/uapi/linux/pkt_sched_swport.h"
#include "../comparators/labexpress.h"
#include "../comparators/labrcp.h"
#include "init.h"

/* High enough never to drop; every port has an explicit queue from the start. */
#define DEFAULT_LIMIT_PKTS	100000

/* Of an attribute as bytes; that of the longest, RED's table, is 256. */
#define QDISC_HEX_MAX_BYTES	256

/* netem attribute, since Linux 6.6. */
#define NETEM_PRNG_SEED		14

static void qdisc_start(struct request *req, const struct port *port,
			const char *kind)
{
	struct tcmsg tcm = {
		.tcm_family = AF_UNSPEC,
		.tcm_ifindex = port->ifindex,
		.tcm_parent = TC_H_ROOT,
		.tcm_handle = TC_H_MAKE(1U << 16, 0),
	};

	/* Another kind at the same handle is replaced by a new object. */
	nl_start(req, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, &tcm,
		 sizeof(tcm));
	nl_put_string(req, TCA_KIND, kind);
}

static void qdisc_fifo(const struct port *port, const char *kind,
		       uint32_t limit)
{
	struct tc_fifo_qopt opt = { .limit = limit };
	struct request req;

	qdisc_start(&req, port, kind);
	nl_put(&req, TCA_OPTIONS, &opt, sizeof(opt));
	nl_do(nodes[port->node].rt_fd, &req);
}

void qdisc_default(const struct port *port)
{
	qdisc_fifo(port, "pfifo", DEFAULT_LIMIT_PKTS);
}

static void qdisc_delete(const struct port *port)
{
	struct tcmsg tcm = {
		.tcm_family = AF_UNSPEC,
		.tcm_ifindex = port->ifindex,
		.tcm_parent = TC_H_ROOT,
	};
	struct request req;

	nl_start(&req, RTM_DELQDISC, 0, &tcm, sizeof(tcm));
	nl_do(nodes[port->node].rt_fd, &req);
}

static const struct number_option swport_options[] = {
	NUMBER("rate", TCA_SWPORT_RATE, .wide = true),
	NUMBER("overhead", TCA_SWPORT_OVERHEAD),
	NUMBER("limit", TCA_SWPORT_LIMIT),
	NUMBER("control-limit", TCA_SWPORT_CONTROL_LIMIT),
	NUMBER("ecn-mode", TCA_SWPORT_ECN_MODE),
	NUMBER("ecn-min", TCA_SWPORT_ECN_MIN),
	NUMBER("ecn-max", TCA_SWPORT_ECN_MAX),
	NUMBER("ecn-prob", TCA_SWPORT_ECN_PROB),
	NUMBER("seed", TCA_SWPORT_SEED),
	NUMBER("telemetry", TCA_SWPORT_TELEMETRY),
	NUMBER("trim", TCA_SWPORT_TRIM_SIZE),
	NUMBER("trim-eligible", TCA_SWPORT_TRIM_ELIGIBLE, .wide = true),
	NUMBER("tcp-int", TCA_SWPORT_TCP_INT),
	NUMBER("buffer", TCA_SWPORT_BUFFER),
	NUMBER("alpha", TCA_SWPORT_ALPHA),
	NUMBER("trim-to-sender", TCA_SWPORT_TRIM_TO_SENDER),
	NUMBER("deflect", TCA_SWPORT_DEFLECT_THRESHOLD),
	NUMBER("deflect-entries", TCA_SWPORT_DEFLECT_ENTRIES),
	NUMBER("deflect-base", TCA_SWPORT_DEFLECT_TOKEN_BASE),
	NUMBER("deflect-tokens", TCA_SWPORT_DEFLECT_TOKEN_MAX),
	NUMBER("deflect-idle", TCA_SWPORT_DEFLECT_IDLE),
	NUMBER("deflect-release", TCA_SWPORT_DEFLECT_RELEASE),
	NUMBER("deflect-choice", TCA_SWPORT_DEFLECT_CHOICE),
};

/* Alternates for deflected flows: ADDR@DEV[,ADDR@DEV]... */
static void put_alternates(struct request *req)
{
	char *list = (char *)option(4, "deflect-via"), *word;
	struct nlattr *nest, *one;
	int count = 0;

	if (!list)
		return;
	nl_put_u32(req, TCA_SWPORT_DEFLECT, 1);
	nest = nl_nest(req, TCA_SWPORT_DEFLECT_VIA);
	while ((word = strsep(&list, ","))) {
		char *dev = strchr(word, '@');
		struct address addr;

		if (!dev)
			fail("'%s' is not ADDR@DEV", word);
		*dev++ = '\0';
		addr = address(word);
		one = nl_nest(req, ++count);
		nl_put_u32(req, TCA_SWPORT_VIA_DEV, port_find(line.word[1], dev)->ifindex);
		nl_put(req, TCA_SWPORT_VIA_ADDR, addr.bytes, addr.size);
		nl_nest_end(req, one);
	}
	nl_nest_end(req, nest);
}

static void qdisc_swport(const struct port *port)
{
	const char *keys[ARRAY_SIZE(swport_options) + 2] = { NULL };
	struct nlattr *options;
	struct request req;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(swport_options); i++)
		keys[i] = swport_options[i].key;
	keys[i] = "deflect-via";
	only_options(4, keys);
	qdisc_start(&req, port, "swport");
	options = nl_nest(&req, TCA_OPTIONS);
	nl_put_numbers(&req, 4, swport_options, ARRAY_SIZE(swport_options));
	put_alternates(&req);
	nl_nest_end(&req, options);
	nl_do(nodes[port->node].rt_fd, &req);
}

/* netem that drops packets at random, the same ones for the same seed. */
static void qdisc_netem(const struct port *port)
{
	static const char *const keys[] = { "loss", "seed", NULL };
	/* Attributes follow the fixed part. */
	struct {
		struct tc_netem_qopt opt;
		struct nlattr attr;
		uint64_t seed;
	} __attribute__((packed)) netem = {
		.opt.limit = DEFAULT_LIMIT_PKTS,
		.attr = { NLA_HDRLEN + sizeof(netem.seed), NETEM_PRNG_SEED },
	};
	struct request req;

	only_options(4, keys);
	if (!option(4, "loss") || !option(4, "seed"))
		fail("netem needs loss= and seed=");
	netem.opt.loss = number(option(4, "loss"), 0, UINT32_MAX);
	netem.seed = number(option(4, "seed"), 0, UINT64_MAX);
	qdisc_start(&req, port, "netem");
	nl_put(&req, TCA_OPTIONS, &netem, sizeof(netem));
	nl_do(nodes[port->node].rt_fd, &req);
}

static uint32_t needed(const char *key, uint32_t least, uint32_t most)
{
	if (!option(4, key))
		fail("%s needs %s=", line.word[3], key);
	return number(option(4, key), least, most);
}

/* RCP's rate at a switch's port. */
static void qdisc_labrcp(const struct port *port)
{
	static const char *const keys[] = { "limit", "rtt", "interval", "least", "alpha", "beta",
					   NULL };
	struct labrcp_options options;
	struct request req;

	only_options(4, keys);
	options.limit_bytes = needed("limit", 1, UINT32_MAX);
	options.rtt_ns = needed("rtt", LABRCP_TIME_MIN_NS, LABRCP_TIME_MAX_NS);
	options.interval_ns = needed("interval", LABRCP_TIME_MIN_NS, LABRCP_TIME_MAX_NS);
	options.least_bytes = needed("least", 1, LABRCP_LEAST_MAX_BYTES);
	options.alpha_q16 = needed("alpha", 1, LABRCP_GAIN_MAX_Q16);
	options.beta_q16 = needed("beta", 0, LABRCP_GAIN_MAX_Q16);
	qdisc_start(&req, port, LABRCP_KIND);
	nl_put(&req, TCA_OPTIONS, &options, sizeof(options));
	nl_do(nodes[port->node].rt_fd, &req);
}

/* Credits of ExpressPass at a port. */
static void qdisc_labexpress(const struct port *port)
{
	static const char *const keys[] = { "limit", "credits", NULL };
	struct labexpress_options options;
	struct request req;

	only_options(4, keys);
	options.limit_bytes = needed("limit", 1, UINT32_MAX);
	options.credit_pkts = needed("credits", 1, LABEXPRESS_CREDIT_MAX_PKTS);
	qdisc_start(&req, port, LABEXPRESS_KIND);
	nl_put(&req, TCA_OPTIONS, &options, sizeof(options));
	nl_do(nodes[port->node].rt_fd, &req);
}

static void put_hex(struct request *req, int attr, const char *digits)
{
	uint8_t bytes[QDISC_HEX_MAX_BYTES];
	size_t size = strlen(digits) / 2, i;

	if (size > sizeof(bytes) || strlen(digits) % 2 ||
	    strspn(digits, "0123456789abcdef") != strlen(digits))
		fail("'%s' is not of bytes in hexadecimal, at most %zu", digits, sizeof(bytes));
	for (i = 0; i < size; i++) {
		char byte[] = { digits[2 * i], digits[2 * i + 1], '\0' };

		bytes[i] = strtoul(byte, NULL, 16);
	}
	nl_put(req, attr, bytes, size);
}

/* An attribute of a qdisc of the kernel: NUMBER:TYPE=VALUE */
static void put_attribute(struct request *req, char *word)
{
	char *type = strchr(word, ':'), *value = strchr(word, '=');
	int attr;

	if (!type || !value || type > value)
		fail("'%s' is not NUMBER:TYPE=VALUE", word);
	*type++ = '\0';
	*value++ = '\0';
	attr = number(word, 1, NLA_TYPE_MASK);
	if (!strcmp(type, "u8")) {
		uint8_t small = number(value, 0, UINT8_MAX);

		nl_put(req, attr, &small, sizeof(small));
	} else if (!strcmp(type, "u32")) {
		nl_put_u32(req, attr, number(value, 0, UINT32_MAX));
	} else if (!strcmp(type, "u64")) {
		nl_put_u64(req, attr, number(value, 0, UINT64_MAX));
	} else if (!strcmp(type, "hex")) {
		put_hex(req, attr, value);
	} else {
		fail("'%s' is not u8, u32, u64 or hex", type);
	}
}

/* A qdisc of the kernel, with the attributes in the words of the line. */
static void qdisc_of_kernel(const struct port *port, const char *kind)
{
	struct nlattr *options;
	struct request req;
	int i;

	qdisc_start(&req, port, kind);
	if (line.n > 4) {
		options = nl_nest(&req, TCA_OPTIONS);
		for (i = 4; i < line.n; i++)
			put_attribute(&req, line.word[i]);
		nl_nest_end(&req, options);
	}
	nl_do(nodes[port->node].rt_fd, &req);
}

/* qdisc NODE DEV KIND [key=value ...] */
void cmd_qdisc(void)
{
	static const char *const fifo_keys[] = { "limit", NULL };
	const struct port *port;
	const char *kind;

	need_words(3, PLAN_WORDS_MAX);
	port = port_find(line.word[1], line.word[2]);
	kind = line.word[3];
	qdisc_delete(port);
	if (!strcmp(kind, "swport")) {
		qdisc_swport(port);
	} else if (!strcmp(kind, "netem")) {
		qdisc_netem(port);
	} else if (!strcmp(kind, LABRCP_KIND)) {
		qdisc_labrcp(port);
	} else if (!strcmp(kind, LABEXPRESS_KIND)) {
		qdisc_labexpress(port);
	} else if (!strcmp(kind, "bfifo") || !strcmp(kind, "pfifo")) {
		only_options(4, fifo_keys);
		if (!option(4, "limit"))
			fail("%s needs limit=", kind);
		qdisc_fifo(port, kind, number(option(4, "limit"), 1, UINT32_MAX));
	} else {
		qdisc_of_kernel(port, kind);
	}
}

/* Name of a statistic in ports.out; NULL if @attr is not a statistic. */
const char *swport_stat_name(int attr)
{
	static const char *const names[TCA_SWPORT_STATS_MAX + 1] = {
		[TCA_SWPORT_STATS_DATA_PKTS]		= "data_pkts",
		[TCA_SWPORT_STATS_DATA_BYTES]		= "data_bytes",
		[TCA_SWPORT_STATS_CONTROL_PKTS]		= "control_pkts",
		[TCA_SWPORT_STATS_CONTROL_BYTES]	= "control_bytes",
		[TCA_SWPORT_STATS_DATA_DROP_PKTS]	= "data_drop_pkts",
		[TCA_SWPORT_STATS_DATA_DROP_BYTES]	= "data_drop_bytes",
		[TCA_SWPORT_STATS_CONTROL_DROP_PKTS]	= "control_drop_pkts",
		[TCA_SWPORT_STATS_CONTROL_DROP_BYTES]	= "control_drop_bytes",
		[TCA_SWPORT_STATS_MARK_PKTS]		= "mark_pkts",
		[TCA_SWPORT_STATS_MARK_BYTES]		= "mark_bytes",
		[TCA_SWPORT_STATS_NOT_ECT_PKTS]		= "not_ect_pkts",
		[TCA_SWPORT_STATS_GSO_SPLIT_PKTS]	= "gso_split_pkts",
		[TCA_SWPORT_STATS_ALLOC_FAIL_PKTS]	= "alloc_fail_pkts",
		[TCA_SWPORT_STATS_DATA_BACKLOG_BYTES]	= "data_backlog_bytes",
		[TCA_SWPORT_STATS_DATA_BACKLOG_MAX_BYTES] =
			"data_backlog_max_bytes",
		[TCA_SWPORT_STATS_CONTROL_BACKLOG_BYTES] =
			"control_backlog_bytes",
		[TCA_SWPORT_STATS_CONTROL_BACKLOG_MAX_BYTES] =
			"control_backlog_max_bytes",
		[TCA_SWPORT_STATS_MARK_FAIL_PKTS]	= "mark_fail_pkts",
		[TCA_SWPORT_STATS_STAMP_PKTS]		= "stamp_pkts",
		[TCA_SWPORT_STATS_STAMP_KEPT_PKTS]	= "stamp_kept_pkts",
		[TCA_SWPORT_STATS_STAMP_FAIL_PKTS]	= "stamp_fail_pkts",
		[TCA_SWPORT_STATS_LINK_BYTES_PS]	= "link_bytes_ps",
		[TCA_SWPORT_STATS_BUFFER_DROP_PKTS]	= "buffer_drop_pkts",
		[TCA_SWPORT_STATS_BUFFER_DROP_BYTES]	= "buffer_drop_bytes",
		[TCA_SWPORT_STATS_BUFFER_USED_BYTES]	= "buffer_used_bytes",
		[TCA_SWPORT_STATS_BUFFER_USED_MAX_BYTES] = "buffer_used_max_bytes",
		[TCA_SWPORT_STATS_TRIM_PKTS]		= "trim_pkts",
		[TCA_SWPORT_STATS_TRIM_BYTES]		= "trim_bytes",
		[TCA_SWPORT_STATS_TRIM_SENT_PKTS]	= "trim_sent_pkts",
		[TCA_SWPORT_STATS_TRIM_SENT_BYTES]	= "trim_sent_bytes",
		[TCA_SWPORT_STATS_TRIM_DROP_PKTS]	= "trim_drop_pkts",
		[TCA_SWPORT_STATS_TRIM_DROP_BYTES]	= "trim_drop_bytes",
		[TCA_SWPORT_STATS_TRIM_BACKLOG_PKTS]	= "trim_backlog_pkts",
		[TCA_SWPORT_STATS_TRIM_BACKLOG_BYTES]	= "trim_backlog_bytes",
		[TCA_SWPORT_STATS_TRIM_FAIL_PKTS]	= "trim_fail_pkts",
		[TCA_SWPORT_STATS_DEFLECT_FLOWS]	= "deflect_flows",
		[TCA_SWPORT_STATS_DEFLECT_PKTS]		= "deflect_pkts",
		[TCA_SWPORT_STATS_DEFLECT_BYTES]	= "deflect_bytes",
		[TCA_SWPORT_STATS_DEFLECT_TOKENS]	= "deflect_tokens",
		[TCA_SWPORT_STATS_DEFLECT_USED]		= "deflect_used",
		[TCA_SWPORT_STATS_DEFLECT_USED_MAX]	= "deflect_used_max",
		[TCA_SWPORT_STATS_DEFLECT_NO_TOKEN_PKTS] = "deflect_no_token_pkts",
		[TCA_SWPORT_STATS_DEFLECT_RECENT_PKTS]	= "deflect_recent_pkts",
		[TCA_SWPORT_STATS_DEFLECT_NO_ALTERNATE_PKTS]	= "deflect_no_alternate_pkts",
		[TCA_SWPORT_STATS_DEFLECT_FULL_PKTS]	= "deflect_full_pkts",
		[TCA_SWPORT_STATS_DEFLECT_LOST_PKTS]	= "deflect_lost_pkts",
		[TCA_SWPORT_STATS_DEFLECT_OUT_DROP_PKTS] = "deflect_out_drop_pkts",
		[TCA_SWPORT_STATS_TO_SENDER_PKTS]	= "to_sender_pkts",
		[TCA_SWPORT_STATS_TO_SENDER_DROP_PKTS]	= "to_sender_drop_pkts",
	};

	return attr <= TCA_SWPORT_STATS_MAX ? names[attr] : NULL;
}
