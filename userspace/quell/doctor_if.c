// SPDX-License-Identifier: GPL-2.0
/*
 * quell doctor --if ALGO: the effects that a change of this namespace's algorithm would have, by
 * the routes, the parameters and the open connections.
 */
#include <inttypes.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <quell/core/adapt/names.h>
#include <quell/core/algorithm.h>

#include "doctor.h"
#include "flow.h"
#include "preset.h"
#include "util.h"

/* Bytes by which segments are shorter with the Quell option, and with room for telemetry, too. */
#define OPTION_BYTES	12
#define TELEMETRY_BYTES	24

#define GBIT		125000000

/* State of a socket that listens, a number of the kernel. */
#define STATE_LISTEN	10

struct group {
	size_t			n;
	const struct diag	*first;	/* one of them */
};

/* The connections to other hosts. */
struct view {
	const struct doctor_change	*change;
	/* new flows would be fitted to their path */
	bool				adapt;
	uint64_t			target_ns;	/* fixed target in force, 0 without one */
	size_t				listeners;	/* sockets that listen */
	struct group			all;		/* connections with a measured round trip */
	struct group			ecn;		/* those that agreed on ECN */
	struct group			marked;		/* those that had a mark */
	/* by enum quell_adapt_reason; QUELL_ADAPT_FITS: the algorithm would govern */
	struct group			reasons[QUELL_ADAPT_REASONS];
};

static struct finding *__attribute__((format(printf, 4, 5)))
add(struct findings *findings, enum doctor_level level, const char *check, const char *fmt, ...)
{
	struct finding *f = doctor_add(findings, level, check);
	va_list args;

	va_start(args, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, args);
	va_end(args);
	return f;
}

#define COMMAND(finding_, ...) \
	snprintf((finding_)->command, sizeof((finding_)->command), __VA_ARGS__)

static void put_in(struct group *g, const struct diag *d)
{
	if (!g->n++)
		g->first = d;
}

static void format_peer(char *text, const struct diag *d)
{
	struct flow f = { .family = d->family, .ifindex = d->ifindex };

	flow_format_address(text, FLOW_ADDRESS_LEN, &f, d->daddr);
}

/* The peer as ip(8) takes it: without the scope, which is an argument of its own. */
static void add_route_command(struct finding *f, const struct diag *d)
{
	struct flow unscoped = { .family = d->family };
	char peer[FLOW_ADDRESS_LEN], dev[IF_NAMESIZE] = "", quoted[DOCTOR_QUOTED_LEN(IF_NAMESIZE)];

	flow_format_address(peer, sizeof(peer), &unscoped, d->daddr);
	if (d->ifindex)
		if_indextoname(d->ifindex, dev);
	COMMAND(f, "ip route get %s%s%s    # that route again, with congctl cubic behind it",
		peer, *dev ? " dev " : "", *dev ? doctor_quote(quoted, sizeof(quoted), dev) : "");
}

static bool is_local(const struct diag *d)
{
	return d->family == AF_INET ? d->daddr[0] == IN_LOOPBACKNET :
				      IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)d->daddr);
}

/* An open connection to another host, with a measured round trip. */
static bool is_counted(const struct diag *d)
{
	return d->state != STATE_LISTEN && d->min_rtt_us && !is_local(d);
}

static uint64_t param_value(const struct cc *cc, const char *name)
{
	const struct param *p = cc_param(cc, name);

	return p ? p->value : 0;
}

/* The longest target that the parameters allow: Swift's with flow scaling, or TIMELY's; or 0. */
static uint64_t fixed_target_ns(const struct cc *cc)
{
	uint64_t base_ns = param_value(cc, "base-target");

	return base_ns ? base_ns + param_value(cc, "fs-range") : param_value(cc, "t-high");
}

/* As the core decides, of the facts that another algorithm's connection has. */
static int reason_of(const struct view *v, const struct diag *d)
{
	const struct quell_adapt_needs *needs = &v->change->core->needs;
	uint64_t rtt_ns = 1000ULL * d->min_rtt_us;

	if (!v->adapt)
		return v->target_ns && rtt_ns > v->target_ns ? QUELL_ADAPT_LONG_PATH :
							       QUELL_ADAPT_FITS;
	if (needs->signal == QUELL_ADAPT_RECORDS)
		return QUELL_ADAPT_NO_RECORDS;
	if (needs->signal == QUELL_ADAPT_MARKS && d->has_ecn && !d->marked_pkts)
		return QUELL_ADAPT_NO_MARKS;
	if (rtt_ns > needs->longest_ns)
		return QUELL_ADAPT_LONG_PATH;
	if (!d->app_limited && d->delivery_bytes_ps &&
	    d->delivery_bytes_ps < needs->slowest_bytes_ps)
		return QUELL_ADAPT_SLOW_PATH;
	return QUELL_ADAPT_FITS;
}

static void sort_sockets(struct view *v)
{
	size_t i;

	for (i = 0; i < v->change->sockets.n; i++) {
		const struct diag *d = &v->change->sockets.list[i];

		v->listeners += d->state == STATE_LISTEN;
		if (!is_counted(d))
			continue;
		put_in(&v->all, d);
		if (d->has_ecn)
			put_in(&v->ecn, d);
		if (d->marked_pkts)
			put_in(&v->marked, d);
		put_in(&v->reasons[reason_of(v, d)], d);
	}
}

static void add_module(const struct doctor_host *h, const struct view *v, struct findings *findings)
{
	const struct quell_core *core = v->change->core;

	if (v->change->cc)
		return;
	if (h->has_modules)
		COMMAND(add(findings, DOCTOR_NOTE, "module", "the module %s of %s is not loaded",
			    core->module, core->name),
			"modprobe %s", core->module);
	else
		COMMAND(add(findings, DOCTOR_FAULT, "module",
			    "the module %s of %s is not installed for this kernel", core->module,
			    core->name),
			h->has_dkms ? "dkms autoinstall -k %s" :
			"apt install ./quell-dkms_*.deb  # from make deb, INSTALL.md",
			h->release);
}

static void add_default(const struct doctor_host *h, const char *cc, struct findings *findings)
{
	if (!strcmp(h->default_cc, cc))
		add(findings, DOCTOR_EFFECT, "default",
		    "%s is the default of this namespace already", cc);
	else
		COMMAND(add(findings, DOCTOR_EFFECT, "default",
			    "new connections would use %s in place of %s, except those of routes and"
			    " programs that name an algorithm",
			    cc, h->default_cc),
			"sysctl -w net.ipv4.tcp_congestion_control=%s", cc);
}

/* A finding for the routes of each algorithm. */
static void add_routes(const struct doctor_change *change, struct findings *findings)
{
	size_t i, j, n;

	for (i = 0; i < change->n_routes; i++) {
		const struct doctor_route *route = &change->routes[i];
		bool same = !strcmp(route->cc, change->core->name), first = true;

		for (j = 0; j < i; j++)
			first &= strcmp(route->cc, change->routes[j].cc) != 0;
		for (n = 0; first && j < change->n_routes; j++)
			n += !strcmp(route->cc, change->routes[j].cc);
		if (first)
			add(findings, DOCTOR_EFFECT, "route",
			    "%zu route%s congctl %s, one to %s: %s", n, n == 1 ? " has" : "s have",
			    route->cc, route->network,
			    same ? "its new connections use it already" :
				   "connections by it would not change");
	}
}

/* "cubic 12, reno 1" */
static void list_algorithms(char *text, size_t len, const struct diag_list *sockets)
{
	size_t i, j, n;

	for (i = 0; i < sockets->n; i++) {
		const struct diag *d = &sockets->list[i];
		bool first = is_counted(d);
		size_t used = strlen(text);

		for (j = 0, n = 0; first && j < sockets->n; j++) {
			const struct diag *other = &sockets->list[j];
			bool counts = is_counted(other) && !strcmp(d->cc, other->cc);

			first = !counts || j >= i;
			n += counts;
		}
		if (first)
			snprintf(text + used, len - used, "%s%s %zu", used ? ", " : "", d->cc, n);
	}
}

static void add_open(const struct view *v, struct findings *findings)
{
	char list[128] = "";

	list_algorithms(list, sizeof(list), &v->change->sockets);
	if (v->all.n)
		add(findings, DOCTOR_EFFECT, "open",
		    "%zu open connection%s to other hosts would not change until closed: %s",
		    v->all.n, v->all.n == 1 ? "" : "s", list);
	else
		add(findings, DOCTOR_NOTE, "open",
		    "no connection to another host is open, so the paths are not known");
	if (v->listeners)
		add(findings, DOCTOR_EFFECT, "listen",
		    "servers (%zu listening socket%s) need no restart: a connection that they"
		    " accept uses the default of then, unless the program has set TCP_CONGESTION",
		    v->listeners, v->listeners == 1 ? "" : "s");
}

static void add_governor(const struct view *v, struct findings *findings)
{
	const struct quell_adapt_needs *needs = &v->change->core->needs;
	const struct group *longer = &v->reasons[QUELL_ADAPT_LONG_PATH];
	const struct group *slower = &v->reasons[QUELL_ADAPT_SLOW_PATH];
	char peer[FLOW_ADDRESS_LEN], have[FLOW_CELL_LEN], want[FLOW_CELL_LEN];
	const char *cc = v->change->core->name;
	struct finding *f;

	if (v->all.n && needs->signal != QUELL_ADAPT_RECORDS)
		add(findings, DOCTOR_EFFECT, "govern",
		    "%s would govern %zu of %zu such connections, by their smallest round trip and"
		    " their rate",
		    cc, v->reasons[QUELL_ADAPT_FITS].n, v->all.n);
	if (longer->n) {
		format_peer(peer, longer->first);
		flow_format_time(have, 1000ULL * longer->first->min_rtt_us);
		flow_format_time(want, v->adapt ? needs->longest_ns : v->target_ns);
		f = add(findings, v->adapt ? DOCTOR_NOTE : DOCTOR_FAULT,
			v->adapt ? "long-path" : "target",
			v->adapt ?
				"CUBIC would govern %zu of %zu, one to %.60s: its round trip, %.24s, is longer"
				" than the %.24s that %s is made for" :
				"%zu of %zu, one to %.60s, have a round trip of %.24s, above the target of"
				" %.24s: with adapt off %s would almost stop them",
			longer->n, v->all.n, peer, have, want, cc);
		if (v->adapt)
			add_route_command(f, longer->first);
		else
			COMMAND(f, "quell cc reset %s", cc);
	}
	if (slower->n) {
		format_peer(peer, slower->first);
		flow_format_rate(have, slower->first->delivery_bytes_ps);
		flow_format_rate(want, needs->slowest_bytes_ps);
		add(findings, DOCTOR_NOTE, "slow-path",
		    "CUBIC would govern %zu of %zu, one to %.60s: its rate, %.24sbit/s, is less than"
		    " the %.24sbit/s that %s is made for",
		    slower->n, v->all.n, peer, have, want, cc);
	}
}

/* Connections with a round trip of at most @us. */
static size_t count_within(const struct view *v, unsigned int us)
{
	size_t i, n = 0;

	for (i = 0; i < v->change->sockets.n; i++) {
		const struct diag *d = &v->change->sockets.list[i];

		n += is_counted(d) && d->min_rtt_us <= us;
	}
	return n;
}

/* The preset that is named after the rate of the fastest interface, or the next slower one. */
static const struct preset *find_preset(const struct doctor_host *h, const char *cc,
					unsigned int *gbit, unsigned int *us)
{
	const struct preset *preset, *found = NULL;
	unsigned int rate, rtt, fastest = 0;
	size_t i;

	*gbit = 0;
	for (i = 0; i < h->n_devs; i++)
		if (h->devs[i].bytes_ps / GBIT > fastest)
			fastest = h->devs[i].bytes_ps / GBIT;
	for (preset = presets; preset->cc; preset++) {
		if (strcmp(preset->cc, cc) ||
		    sscanf(preset->source, "%u Gbit/s over %u us", &rate, &rtt) != 2 ||
		    rate > fastest || rate < *gbit)
			continue;
		found = preset;
		*gbit = rate;
		*us = rtt;
	}
	return found;
}

static void add_preset(const struct doctor_host *h, const struct view *v, struct findings *findings)
{
	const struct cc *cc = v->change->cc;
	const struct preset *now = cc ? preset_in_force(presets, cc) : NULL, *fit;
	const char *name = v->change->core->name;
	unsigned int gbit, us;
	struct finding *f;
	size_t within;

	if (now)
		add(findings, DOCTOR_EFFECT, "preset",
		    "preset %s of %s is in force (%s): its values are fixed", now->name, name,
		    now->source);
	else if (!v->adapt)
		add(findings, DOCTOR_EFFECT, "preset",
		    "%s has adapt off and values of no preset: quell cc show %s", name, name);
	else
		add(findings, DOCTOR_EFFECT, "preset",
		    "%s has adapt on: each flow is fitted to its path", name);
	fit = now ? NULL : find_preset(h, name, &gbit, &us);
	if (!fit)
		return;
	within = count_within(v, us);
	f = add(findings, DOCTOR_EFFECT, "preset",
		"preset %s is for links of %u Gbit/s and round trips up to %u us without queues:"
		" %zu of %zu open connections are within that%s",
		fit->name, gbit, us, within, v->all.n,
		v->all.n && within == v->all.n ? "" : "; others would almost stop");
	if (v->all.n && within == v->all.n)
		COMMAND(f, "quell cc preset %s %s", name, fit->name);
}

static void add_ecn(const struct doctor_host *h, const struct view *v, struct findings *findings)
{
	const struct quell_core *core = v->change->core;

	if (core->needs.signal == QUELL_ADAPT_RECORDS)
		COMMAND(add(findings, DOCTOR_NOTE, "no-records",
			    "%s needs telemetry of the switches: without it CUBIC would govern",
			    core->name),
			"on each switch: tc qdisc replace dev DEV root swport telemetry 10us");
	if (!(core->flags & QUELL_CORE_ECN)) {
		add(findings, DOCTOR_EFFECT, "ecn",
		    "%s uses no marks of switches, and does not request ECN (net.ipv4.tcp_ecn=%d)",
		    core->name, h->tcp_ecn);
		return;
	}
	add(findings, DOCTOR_EFFECT, "ecn",
	    "%s requests ECN on each connection, with any net.ipv4.tcp_ecn (%d here)", core->name,
	    h->tcp_ecn);
	if (v->marked.n)
		return;
	COMMAND(add(findings, DOCTOR_NOTE, "no-marks",
		    "0 of %zu open connections with ECN had a mark: where switches do not mark,"
		    " CUBIC would govern", v->ecn.n),
		"on each switch: tc qdisc replace dev DEV root swport ecn min 45kb max 180kb");
}

static void add_option(const struct doctor_host *h, const struct view *v, struct findings *findings)
{
	const struct param *option = cc_param(cc_lookup(&h->ccs, "quell"), "option");
	const struct quell_core *core = v->change->core;
	bool needs = core->flags & QUELL_CORE_OFFERS;
	unsigned int bytes = core->flags & QUELL_CORE_TELEMETRY ? TELEMETRY_BYTES : OPTION_BYTES;
	uint32_t mss_bytes = v->all.n ? v->all.first->mss_bytes : 1448;
	uint64_t value = option ? option->value : 2;

	if (needs && !value)
		COMMAND(add(findings, DOCTOR_FAULT, "option",
			    "%s needs the Quell option, and this host does not use it", core->name),
			"quell cc set quell option 2");
	else if (needs || value == 1)
		add(findings, needs ? DOCTOR_NOTE : DOCTOR_EFFECT, "option",
		    "%s offers the Quell option%s: where the peer uses an algorithm of Quell, segments"
		    " have %u bytes in place of %u",
		    core->name, needs ? ", which it needs" : "", mss_bytes - bytes, mss_bytes);
	else
		add(findings, DOCTOR_EFFECT, "option",
		    "%s does not offer the Quell option: segments keep their %u bytes", core->name,
		    mss_bytes);
}

/* The effects of a change to another algorithm. */
void doctor_if(const struct doctor_host *host, const struct doctor_change *change,
	       struct findings *findings)
{
	struct view v = { .change = change };
	const struct param *adapt = cc_param(change->cc, "adapt");

	v.adapt = !adapt || adapt->value;
	v.target_ns = fixed_target_ns(change->cc);
	sort_sockets(&v);
	add_module(host, &v, findings);
	add_default(host, change->core->name, findings);
	add_routes(change, findings);
	add_open(&v, findings);
	add_governor(&v, findings);
	add_preset(host, &v, findings);
	add_ecn(host, &v, findings);
	add_option(host, &v, findings);
}
