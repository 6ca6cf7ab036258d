// SPDX-License-Identifier: GPL-2.0
/*
 * Parameters of a network, by the rules that Documentation/presets.md has with their sources.
 *
 * A closed network gets the values of its paper: absolute targets, and increases in proportion to
 * the rate of its links.  Elsewhere that rate bounds the rate of a path from above only, as the
 * round trip bounds the others from below.  So there no increase is larger and no threshold smaller
 * than the default, and targets are those of each path: a flow to a slower or more distant host is
 * no worse off than with the defaults.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <linux/quell.h>

#include "qty.h"
#include "tune.h"
#include "util.h"

#define NS_PER_SEC		1000000000ULL
#define MBIT			125000ULL	/* bytes per second */
#define GBIT			(1000 * MBIT)
#define Q16_ONE			65536ULL

/* TIMELY, section 6: 50 us and 500 us at 10 Gbit/s over 20 us leave room for these bytes. */
#define LOW_BYTES		37500ULL
#define HIGH_BYTES		600000ULL
#define T_LOW_NS		50000ULL
#define T_HIGH_NS		500000ULL
/* TIMELY, 6.1, Figure 17: with less throughput falls. */
#define T_HIGH_LEAST_NS		100000ULL
#define T_MIN_RTT_NS		20000ULL

/* That of adapt; Documentation/adapt.md. */
#define ADAPT_ROOM_NS		25000ULL

/* Zhu: 10 MB at 40 Gbit/s. */
#define BYTE_COUNTER_NS		2000000ULL
#define BYTES_LEAST		10000ULL
#define BYTES_MOST		1000000000ULL
#define NOTIFY_NS		50000ULL
/* Zhu: 55 us of 50 us. */
#define TIMER_PCT		110

/* VAI/SF, VI-A: 4 us are the shortest of round trips of up to 12 us, and 30 ns a token. */
#define SHORTEST_SHARE		3
#define VAI_THRESH_NS		4000ULL
#define VAI_TOKEN_NS		30ULL
#define VAI_THRESH_BYTES	50000ULL
#define VAI_TOKENS		50	/* 1 KB each */

const struct tune_network tune_networks[] = {
	{ "lan-1g", GBIT, 100000 },
	{ "dc-10g", 10 * GBIT, 30000 },
	{ "dc-25g", 25 * GBIT, 20000 },
	{ "dc-100g", 100 * GBIT, 10000 },
	{ "dc-400g", 400 * GBIT, 8000 },
	{}
};

/**
 * tune_network_of() - the network of a link rate, for its typical round trip
 * @rate_bytes_ps: rate of a link
 *
 * Return: the fastest of those not faster than the link, or the slowest.
 */
const struct tune_network *tune_network_of(uint64_t rate_bytes_ps)
{
	const struct tune_network *network = tune_networks;

	while (network[1].name && network[1].rate_bytes_ps <= rate_bytes_ps)
		network++;
	return network;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t line_ns(const struct tune_path *path, uint64_t bytes)
{
	return bytes * NS_PER_SEC / path->rate_bytes_ps;
}

/* Room for a queue: a fourth of the round trip, as adapt has it, or TIMELY's. */
static uint64_t room_ns(const struct tune_path *path)
{
	return most(path->rtt_ns / 4, line_ns(path, LOW_BYTES));
}

/* The shortest round trip of the network. */
static uint64_t shortest_ns(const struct tune_path *path)
{
	return path->closed ? path->rtt_ns / SHORTEST_SHARE : path->rtt_ns;
}

static struct tune_value of_unit(const char *name, uint32_t unit, uint64_t value)
{
	return (struct tune_value){ .name = name, .unit = unit, .value = value };
}

static struct tune_value ns(const char *name, uint64_t value_ns)
{
	return of_unit(name, QUELL_UNIT_NS, value_ns);
}

static struct tune_value bytes(const char *name, uint64_t value_bytes)
{
	return of_unit(name, QUELL_UNIT_BYTES, value_bytes);
}

static struct tune_value rate(const char *name, uint64_t bytes_ps)
{
	return of_unit(name, QUELL_UNIT_BYTES_PS, bytes_ps);
}

/* Add a value, and why. */
static void add(struct tune *tune, struct tune_value value, const char *reason, ...)
	__attribute__((format(printf, 3, 4)));

static void add(struct tune *tune, struct tune_value value, const char *reason, ...)
{
	struct tune_value *v = &tune->list[tune->n++];
	va_list args;

	*v = value;
	va_start(args, reason);
	vsnprintf(v->reason, sizeof(v->reason), reason, args);
	va_end(args);
}

static void add_adapt(struct tune *tune, const struct tune_path *path)
{
	add(tune, of_unit("adapt", QUELL_UNIT_BOOL, !path->closed), "%s",
	    path->closed ? "as in the paper: all paths are of this network" :
			   "on paths unlike this one CUBIC governs");
}

/**
 * struct share - a rate in proportion to the link's
 * @name: of the parameter
 * @of: share of the line rate
 * @def_bytes_ps: default
 * @source: of the share
 */
struct share {
	const char	*name;
	unsigned int	of;
	uint64_t	def_bytes_ps;
	const char	*source;
};

/* A share of the line rate; outside a closed network no more than the default. */
static uint64_t share_bytes_ps(const struct tune_path *path, const struct share *share)
{
	uint64_t bytes_ps = most(path->rate_bytes_ps / share->of, MBIT / 100);

	return path->closed ? bytes_ps : least(bytes_ps, share->def_bytes_ps);
}

static void add_share(struct tune *tune, const struct tune_path *path, const struct share *share)
{
	uint64_t bytes_ps = share_bytes_ps(path, share);

	if (bytes_ps < path->rate_bytes_ps / share->of)
		add(tune, rate(share->name, bytes_ps),
		    "the default (%s): slower links may follow", share->source);
	else
		add(tune, rate(share->name, bytes_ps), "1/%u of the line rate (%s)", share->of,
		    share->source);
}

/* The target of Swift: absolute in a closed network, else of each path. */
static void add_target(struct tune *tune, const struct tune_path *path)
{
	uint64_t queue_ns = path->closed ? room_ns(path) : most(path->rtt_ns / 4, ADAPT_ROOM_NS);
	char rtt[QTY_TEXT_LEN], room[QTY_TEXT_LEN];

	qty_format(rtt, sizeof(rtt), QUELL_UNIT_NS, path->rtt_ns);
	qty_format(room, sizeof(room), QUELL_UNIT_NS, queue_ns);
	if (!path->closed) {
		add(tune, ns("base-target", 0),
		    "of each path: its round trip and a fourth, at least 25us; here %s + %s", rtt,
		    room);
		return;
	}
	add(tune, ns("base-target", path->rtt_ns + queue_ns),
	    "round trip %s + %s: a fourth, at least 37500 bytes (TIMELY 6)", rtt, room);
	add(tune, ns("hop-scale", 0), "the round trip is that of the longest path");
}

static void add_swift_ai(struct tune *tune, const struct tune_path *path)
{
	static const struct share share = { "ai", 2000, 50 * MBIT, "VAI/SF III-D" };
	uint64_t floor_bytes_ps = path->closed ? 10 * MBIT :
				  least(50 * MBIT, path->rate_bytes_ps / 20);

	if (share_bytes_ps(path, &share) < floor_bytes_ps)
		add(tune, rate("ai", floor_bytes_ps), "%s",
		    path->closed ? "1/2000 of the line rate (VAI/SF III-D), 10Mbit at least" :
				   "50Mbit (VAI/SF III-D), a 20th of the line rate at most");
	else
		add_share(tune, path, &share);
}

static void derive_swift(struct tune *tune, const struct tune_path *path)
{
	add_target(tune, path);
	if (path->closed)
		add(tune, ns("fs-range", 2 * path->rtt_ns),
		    "two round trips: 25us of VAI/SF's 12us");
	add_swift_ai(tune, path);
}

static void derive_swift_vaisf(struct tune *tune, const struct tune_path *path)
{
	uint64_t thresh_ns = shortest_ns(path);

	if (!path->closed)
		thresh_ns = most(thresh_ns, VAI_THRESH_NS);
	add_target(tune, path);
	add_swift_ai(tune, path);
	add(tune, ns("token-thresh", thresh_ns),
	    "least bandwidth-delay product: the shortest round trip%s (VAI/SF VI-A)",
	    path->closed ? "" : ", 4us at least");
	add(tune, ns("token", most(thresh_ns * VAI_TOKEN_NS / VAI_THRESH_NS, 1)),
	    "30ns per 4us of token-thresh (VAI/SF VI-A)");
}

static void derive_hpcc(struct tune *tune, const struct tune_path *path)
{
	static const struct share ai = {
		"ai", 2000, 50 * MBIT, "1 - eta for 100 flows, VAI/SF III-D",
	};
	static const struct share min_rate = {
		"min-rate", 1000, 100 * MBIT, "room for 1000 flows",
	};

	add_share(tune, path, &ai);
	if (path->closed)
		add(tune, ns("base-rtt", path->rtt_ns), "the network's, as in HPCC's simulator");
	else
		add(tune, ns("base-rtt", 0), "of each path: its least round trip");
	add_share(tune, path, &min_rate);
}

static void derive_hpcc_vaisf(struct tune *tune, const struct tune_path *path)
{
	uint64_t bdp_bytes = most(path->rate_bytes_ps * shortest_ns(path) / NS_PER_SEC, VAI_TOKENS);

	if (!path->closed)
		bdp_bytes = most(bdp_bytes, VAI_THRESH_BYTES);
	derive_hpcc(tune, path);
	add(tune, bytes("token-thresh", bdp_bytes),
	    "least bandwidth-delay product%s (VAI/SF VI-A)",
	    path->closed ? "" : ", 50000b at least");
	add(tune, bytes("token", bdp_bytes / VAI_TOKENS),
	    "1000b per 50000b of token-thresh (VAI/SF VI-A)");
}

static void derive_timely(struct tune *tune, const struct tune_path *path)
{
	static const struct share delta = { "delta", 1000, 10 * MBIT, "section 6" };
	uint64_t low_ns = path->rtt_ns + room_ns(path);
	uint64_t high_ns = most(path->rtt_ns + line_ns(path, HIGH_BYTES), T_HIGH_LEAST_NS);
	uint64_t min_rtt_ns = path->rtt_ns;

	if (!path->closed) {
		low_ns = most(low_ns, T_LOW_NS);
		high_ns = most(high_ns, T_HIGH_NS);
		min_rtt_ns = most(min_rtt_ns, T_MIN_RTT_NS);
	}
	add(tune, ns("t-low", low_ns), "round trip + 37500 bytes or a fourth (section 6)%s",
	    path->closed ? "" : ", 50us at least");
	add(tune, ns("t-high", high_ns), "round trip + 600000 bytes (section 6)%s",
	    path->closed ? ", 100us at least (6.1)" : ", 500us at least");
	add(tune, ns("min-rtt", min_rtt_ns), "round trip (4.3)%s",
	    path->closed ? "" : ", 20us at least");
	add_share(tune, path, &delta);
}

static void derive_smartt(struct tune *tune, const struct tune_path *path)
{
	if (path->closed) {
		add(tune, ns("target-delay", path->rtt_ns / 2),
		    "half of the longest round trip (III-J, Figure 6)");
		add(tune, of_unit("md-queueing", QUELL_UNIT_BOOL, 1),
		    "even shares of unequal paths");
		return;
	}
	add(tune, of_unit("target-rtt", QUELL_UNIT_Q16, Q16_ONE * 3 / 2),
	    "of each path: half a bandwidth-delay product of queue (III-J)");
	add(tune, bytes("scale-bdp", 150000),
	    "increases scale with each path by themselves (III-J)");
}

static void derive_dcqcn(struct tune *tune, const struct tune_path *path)
{
	static const struct share ai = { "ai", 1000, 40 * MBIT, "Zhu" };
	static const struct share hai = { "hai", 100, 400 * MBIT, "ten times ai" };
	uint64_t notify_ns = most(NOTIFY_NS, path->rtt_ns);
	uint64_t timer_ns = notify_ns * TIMER_PCT / 100;
	uint64_t count_bytes = path->rate_bytes_ps / (NS_PER_SEC / BYTE_COUNTER_NS);

	add(tune, ns("notify-interval", notify_ns), "50us (Zhu), a round trip at least");
	add(tune, ns("alpha-timer", timer_ns), "1.1 of notify-interval (Zhu)");
	add(tune, ns("timer", timer_ns), "1.1 of notify-interval (Zhu)");
	add(tune, bytes("byte-counter", least(most(count_bytes, BYTES_LEAST), BYTES_MOST)),
	    "2ms at line rate: 10 MB at 40 Gbit/s (Zhu)");
	add_share(tune, path, &ai);
	add_share(tune, path, &hai);
	add(tune, ns("queue-bound", 2 * notify_ns), "two of notify-interval");
}

static const struct {
	const char	*algo;
	void		(*derive)(struct tune *tune, const struct tune_path *path);
} rules[] = {
	{ "swift", derive_swift },
	{ "swift_vaisf", derive_swift_vaisf },
	{ "hpcc", derive_hpcc },
	{ "hpcc_vaisf", derive_hpcc_vaisf },
	{ "timely", derive_timely },
	{ "smartt", derive_smartt },
	{ "dcqcn", derive_dcqcn },
	{ "dart", derive_dcqcn },
};

/**
 * tune_derive() - the parameters of an algorithm on a network
 * @algo: algorithm
 * @path: the network; its rate is not 0
 * @tune: filled in
 *
 * Return: false if there are no rules for the algorithm.
 */
bool tune_derive(const char *algo, const struct tune_path *path, struct tune *tune)
{
	size_t i;

	tune->n = 0;
	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		if (strcmp(rules[i].algo, algo))
			continue;
		add_adapt(tune, path);
		rules[i].derive(tune, path);
		return true;
	}
	return false;
}

/**
 * tune_write() - write the parameters as the arguments of "quell cc set ALGO", as a preset has them
 * @tune: the parameters
 * @set: destination
 * @len: size of @set, TUNE_SET_LEN is always enough
 */
void tune_write(const struct tune *tune, char *set, size_t len)
{
	char value[QTY_TEXT_LEN];
	size_t used = 0, i;

	for (i = 0; i < tune->n; i++) {
		const struct tune_value *v = &tune->list[i];

		used += snprintf(set + used, len - used, "%s%s %s", i ? " " : "", v->name,
				 qty_format(value, sizeof(value), v->unit, v->value));
	}
}
