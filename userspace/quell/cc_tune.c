// SPDX-License-Identifier: GPL-2.0
/*
 * quell cc tune: parameters for the rate and the round trip that an interface has.
 *
 * The rules are in tune.c.  All parameters that they do not name get their defaults, so that no
 * value of an earlier preset stays.
 */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>

#include "flow.h"
#include "preset.h"
#include "quell.h"
#include "tune.h"
#include "util.h"

/* Room for a row but its reason. */
#define CELL_LEN	160

/**
 * struct tune_args - the arguments
 * @dev: interface
 * @rate_bytes_ps: rate, 0 if not given
 * @rtt_ns: round trip, 0 if not given
 * @dry_run: show the values instead of setting them
 */
struct tune_args {
	const char	*dev;
	uint64_t	rate_bytes_ps;
	uint64_t	rtt_ns;
	bool		dry_run;
};

/**
 * struct tune_found - the path, and where its rate and round trip are from
 * @dev: interface
 * @path: rate and round trip
 * @rate_from: source of the rate
 * @rtt_from: source of the round trip
 */
struct tune_found {
	const char		*dev;
	struct tune_path	path;
	const char		*rate_from;
	char			rtt_from[64];
};

/* A quantity of a range, as typed. */
static int read_range(const char *word, const char *text, uint32_t unit, const uint64_t range[2],
		      uint64_t *value)
{
	enum qty_status why = qty_parse(text, unit, value);
	char low[QTY_TEXT_LEN], high[QTY_TEXT_LEN];

	if (why)
		complain("--%s: '%s' %s; expected %s", word, text, qty_status_text(why),
			 qty_expected(unit));
	else if (*value < range[0] || *value > range[1])
		complain("--%s: '%s' is out of range %s .. %s", word, text,
			 qty_format(low, sizeof(low), unit, range[0]),
			 qty_format(high, sizeof(high), unit, range[1]));
	else
		return STATUS_OK;
	return STATUS_INPUT;
}

static int read_pair(struct tune_args *words, const struct pair *pair)
{
	static const uint64_t rates[] = { TUNE_RATE_LEAST, TUNE_RATE_MOST };
	static const uint64_t rtts[] = { TUNE_RTT_LEAST_NS, TUNE_RTT_MOST_NS };
	const char *name = pair->name + (strncmp(pair->name, "--", 2) ? 0 : 2);

	if (!strcmp(name, "dev")) {
		words->dev = pair->value;
		return STATUS_OK;
	}
	if (!strcmp(name, "rate"))
		return read_range(name, pair->value, QUELL_UNIT_BYTES_PS, rates,
				  &words->rate_bytes_ps);
	if (!strcmp(name, "rtt"))
		return read_range(name, pair->value, QUELL_UNIT_NS, rtts, &words->rtt_ns);
	complain("cc tune: unknown argument '%s', try: quell help cc", pair->name);
	return STATUS_INPUT;
}

static int read_words(struct tune_args *words, int argc, char **argv)
{
	struct pair pair;
	int i = 0;

	while (i < argc) {
		if (!strcmp(argv[i], "--dry-run")) {
			words->dry_run = true;
			i++;
		} else if (pair_next(argc, argv, &i, &pair) || read_pair(words, &pair)) {
			return STATUS_INPUT;
		}
	}
	if (words->dev)
		return STATUS_OK;
	complain("cc tune: the interface is missing, such as --dev eth0");
	return STATUS_INPUT;
}

/* Drivers of virtual interfaces report a line rate nevertheless, 10 Mbit/s or 10 Gbit/s. */
static bool has_line_rate(const char *dev)
{
	static const char * const made_up[] = {
		"veth", "tun", "dummy", "ifb", "macvlan", "ipvlan",
	};
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq ifr = { .ifr_data = (void *)&info };
	bool known = true;
	size_t i;

	if (fd < 0)
		return true;
	memcpy(ifr.ifr_name, dev, strnlen(dev, IFNAMSIZ - 1));
	if (!ioctl(fd, SIOCETHTOOL, &ifr))
		for (i = 0; i < ARRAY_SIZE(made_up); i++)
			known &= strncmp(info.driver, made_up[i], sizeof(info.driver)) != 0;
	close(fd);
	return known;
}

/* The rate: as typed, as set for the interface, or as its driver reports it. */
static int find_rate(struct app *app, const struct tune_args *words, uint32_t ifindex,
		     struct tune_found *found)
{
	struct tune_path *path = &found->path;
	struct link_rates rates;
	int status;

	path->rate_bytes_ps = words->rate_bytes_ps;
	found->rate_from = "given";
	if (path->rate_bytes_ps)
		return STATUS_OK;
	status = link_fetch_rates(app, ifindex, &rates);
	if (status)
		return status;
	path->rate_bytes_ps = rates.set_bytes_ps;
	found->rate_from = "quell link set";
	if (!path->rate_bytes_ps && has_line_rate(words->dev)) {
		path->rate_bytes_ps = rates.driver_bytes_ps;
		found->rate_from = "driver";
	}
	if (path->rate_bytes_ps >= TUNE_RATE_LEAST && path->rate_bytes_ps <= TUNE_RATE_MOST)
		return STATUS_OK;
	complain("%s: its driver does not report the rate of a link; give it, such as --rate 10gbit",
		 words->dev);
	return STATUS_KERNEL;
}

/* The least round trip that flows over the interface have measured; longer paths do not count. */
static int measure_rtt(struct app *app, uint32_t ifindex, uint64_t *rtt_ns, unsigned int *flows)
{
	const struct flow_args wanted = { .sort = -1, .ifindex = ifindex, .brief = true };
	struct flow_list list;
	int status = flow_fetch(app, &wanted, &list);
	size_t i;

	*rtt_ns = TUNE_RTT_MOST_NS + 1;
	*flows = 0;
	for (i = 0; !status && i < list.n; i++) {
		uint64_t ns = list.list[i].min_rtt_ns;

		if (ns < TUNE_RTT_LEAST_NS || ns > TUNE_RTT_MOST_NS)
			continue;
		++*flows;
		if (ns < *rtt_ns)
			*rtt_ns = ns;
	}
	flow_list_free(&list);
	return status;
}

/* The round trip: as measured, as typed, or that of the network with such a rate. */
static int find_rtt(struct app *app, const struct tune_args *words, uint32_t ifindex,
		    struct tune_found *found)
{
	const struct tune_network *network = tune_network_of(found->path.rate_bytes_ps);
	unsigned int flows;
	int status;

	if (words->rtt_ns) {
		found->path.rtt_ns = words->rtt_ns;
		snprintf(found->rtt_from, sizeof(found->rtt_from), "given");
		return STATUS_OK;
	}
	status = measure_rtt(app, ifindex, &found->path.rtt_ns, &flows);
	if (status)
		return status;
	if (flows) {
		snprintf(found->rtt_from, sizeof(found->rtt_from), "least of %u flow%s", flows,
			 flows == 1 ? "" : "s");
	} else {
		found->path.rtt_ns = network->rtt_ns;
		snprintf(found->rtt_from, sizeof(found->rtt_from), "assumed, as of %s",
			 network->name);
	}
	return STATUS_OK;
}

static const struct tune_value *find_value(const struct tune *tune, const char *name)
{
	size_t i;

	for (i = 0; i < tune->n; i++)
		if (!strcmp(tune->list[i].name, name))
			return &tune->list[i];
	return NULL;
}

static void print_row(struct out *o, const struct param *p, uint64_t value, const char *reason)
{
	char now[QTY_TEXT_LEN], new[QTY_TEXT_LEN], cell[CELL_LEN];
	char unit[32];

	qty_format(now, sizeof(now), p->unit, p->value);
	qty_format(new, sizeof(new), p->unit, value);
	snprintf(cell, sizeof(cell), "%c %-15s  %-10s  %-10s  ", p->value == value ? ' ' : '*',
		 p->name, now, new);
	out_open_object(o, NULL);
	out_text(o, cell);
	out_str(o, "name", NULL, p->name);
	out_str(o, "unit", NULL, qty_unit_name(p->unit, unit, sizeof(unit)));
	out_u64(o, "now", NULL, p->value);
	out_u64(o, "value", NULL, value);
	out_str(o, "reason", "%s\n", reason);
	out_close_object(o);
}

static void print_tune(struct out *o, const struct cc *cc, const struct tune_found *found,
		       const struct tune *tune)
{
	size_t i;

	out_open_object(o, NULL);
	out_str(o, "cc", "%s", cc->name);
	out_str(o, "dev", " on %s: ", found->dev);
	out_qty(o, "rate_bytes_ps", "%s", QUELL_UNIT_BYTES_PS, found->path.rate_bytes_ps);
	out_str(o, "rate_from", " (%s), ", found->rate_from);
	out_qty(o, "rtt_ns", "round trip %s", QUELL_UNIT_NS, found->path.rtt_ns);
	out_str(o, "rtt_from", " (%s)\n", found->rtt_from);
	out_text(o, "  PARAMETER        NOW         NEW         REASON\n");
	out_open_array(o, "params");
	for (i = 0; i < cc->n_params; i++) {
		const struct param *p = &cc->params[i];
		const struct tune_value *v = find_value(tune, p->name);

		if (v)
			print_row(o, p, v->value, v->reason);
		else if (param_is_changed(p))
			print_row(o, p, p->def, "the default: does not follow from the path");
	}
	out_close_array(o);
	out_close_object(o);
	out_document_end(o);
}

static int show_or_set(struct app *app, const struct cc *cc, const struct tune_found *found,
		       bool dry_run)
{
	char set[TUNE_SET_LEN];
	const struct preset preset = { .cc = cc->name, .set = set };
	struct tune tune;

	if (!tune_derive(cc->name, &found->path, &tune)) {
		complain("cc tune: no rules for '%s'", cc->name);
		return STATUS_INPUT;
	}
	if (dry_run) {
		print_tune(&app->out, cc, found, &tune);
		return STATUS_OK;
	}
	tune_write(&tune, set, sizeof(set));
	return cc_apply_preset(app, cc, &preset);
}

/* quell cc tune ALGO --dev DEV [--rate RATE] [--rtt TIME] [--dry-run] */
int cc_tune(struct app *app, int argc, char **argv)
{
	struct tune_args words = {};
	struct tune_found found = {};
	char dev[IF_NAMESIZE];
	const struct cc *cc;
	struct cc_list list;
	uint32_t ifindex;
	int status;

	if (read_words(&words, argc - 1, argv + 1) || find_dev(words.dev, &ifindex) ||
	    find_dev_name(words.dev, dev))
		return STATUS_INPUT;
	words.dev = dev;
	found.dev = dev;
	status = app_connect(app, argv[0]);
	if (status)
		return status;
	status = cc_fetch(app, &list);
	if (!status)
		status = cc_find(&list, argv[0], &cc);
	if (!status)
		status = find_rate(app, &words, ifindex, &found);
	if (!status)
		status = find_rtt(app, &words, ifindex, &found);
	if (!status)
		status = show_or_set(app, cc, &found, words.dry_run);
	cc_list_free(&list);
	return status;
}
