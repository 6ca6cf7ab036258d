// SPDX-License-Identifier: GPL-2.0
/*
 * The cells of tables of flows, three digits that count in each.
 */
#include <inttypes.h>
#include <string.h>

#include "flow.h"

struct step {
	const char	*suffix;
	double		scale;
};

static const struct step time_steps[] = {
	{ "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 },
};

static const struct step rate_steps[] = {
	{ "T", 1e12 }, { "G", 1e9 }, { "M", 1e6 }, { "K", 1e3 }, { "", 1 },
};

/* Three digits that count, in the largest unit of which there is one. */
static void format_short(char *cell, double value, const struct step *step)
{
	while (step->scale > 1 && value < step->scale * 0.9995)
		step++;
	value /= step->scale;
	snprintf(cell, FLOW_CELL_LEN, "%.*f%s",
		 value >= 99.95 || !value ? 0 : value >= 9.995 ? 1 : 2, value, step->suffix);
}

/* Cells have FLOW_CELL_LEN bytes; a time of 0 is not known. */
void flow_format_time(char *cell, uint64_t ns)
{
	if (ns)
		format_short(cell, ns, time_steps);
	else
		strcpy(cell, "-");
}

void flow_format_rate(char *cell, uint64_t bytes_ps)
{
	format_short(cell, 8.0 * bytes_ps, rate_steps);
}

void flow_format_count(char *cell, uint64_t count)
{
	if (count < 10000)
		snprintf(cell, FLOW_CELL_LEN, "%" PRIu64, count);
	else
		format_short(cell, count, rate_steps);
}

/* A window in packets of full size; those below one matter. */
void flow_format_window(char *cell, const struct flow *f)
{
	double pkts = f->mss_bytes ? (double)f->window_bytes / f->mss_bytes : 0;

	if (!f->mss_bytes)
		strcpy(cell, "-");
	else if (pkts < 99.95)
		snprintf(cell, FLOW_CELL_LEN, "%.*f", pkts < 9.995 ? 2 : 1, pkts);
	else
		flow_format_count(cell, pkts);
}

void flow_format_peer(char *cell, const struct flow *f)
{
	char address[FLOW_ADDRESS_LEN], plain[OUT_ESCAPED * FLOW_ADDRESS_LEN];

	flow_format_address(address, sizeof(address), f, f->daddr);
	out_escape(plain, sizeof(plain), address);
	snprintf(cell, FLOW_CELL_LEN, f->family == AF_INET6 ? "[%s]:%u" : "%s:%u", plain, f->dport);
}

/* The governor of the window: the algorithm, "search" or "cubic". */
const char *flow_governor(const struct flow *f)
{
	if (f->adapt && !strcmp(f->adapt, "fallback"))
		return "cubic";
	if (f->adapt && !strcmp(f->adapt, "start"))
		return "search";
	return f->cc ? f->cc : "-";
}

void flow_format_governor(char *cell, const struct flow *f)
{
	snprintf(cell, FLOW_CELL_LEN, "%s%s%s%s", flow_governor(f), f->fallback ? "(" : "",
		 f->fallback ? f->fallback : "", f->fallback ? ")" : "");
}

/* The share that a part of a flow's time has of all of it. */
double flow_percent(const struct flow *f, uint64_t ns)
{
	uint64_t all_ns = f->algorithm_ns + f->search_ns + f->cubic_ns;

	return all_ns ? 100.0 * ns / all_ns : 0;
}

void flow_format_governed(char *cell, const struct flow *f, uint64_t ns)
{
	char time[FLOW_CELL_LEN] = "0";

	if (ns)
		flow_format_time(time, ns);
	snprintf(cell, FLOW_CELL_LEN, "%.*s(%.1f%%)", FLOW_NUMBER_LEN, time, flow_percent(f, ns));
}
