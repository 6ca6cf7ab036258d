// SPDX-License-Identifier: GPL-2.0
/*
 * Depth and sojourn percentiles, a line of text and an object in JSON for each.
 */
#include <inttypes.h>

#include "q_swport.h"

static const struct {
	const char *key;
	const char *text;
} histograms[TCA_SWPORT_PERCENTILES_MAX + 1] = {
	[TCA_SWPORT_PERCENTILES_DATA_DEPTH] = { "data_depth_bytes", "  data depth" },
	[TCA_SWPORT_PERCENTILES_DATA_SOJOURN] = { "data_sojourn_ns", "  data sojourn ns" },
	[TCA_SWPORT_PERCENTILES_CONTROL_DEPTH] = { "control_depth_bytes", "  control depth" },
	[TCA_SWPORT_PERCENTILES_CONTROL_SOJOURN] = {
		"control_sojourn_ns", "  control sojourn ns"
	},
};

static const struct swport_counter quantiles[] = {
	{ TCA_SWPORT_QUANTILE_P50, "p50", " p50 %" PRIu64 },
	{ TCA_SWPORT_QUANTILE_P90, "p90", " p90 %" PRIu64 },
	{ TCA_SWPORT_QUANTILE_P99, "p99", " p99 %" PRIu64 },
	{ TCA_SWPORT_QUANTILE_P999, "p999", " p99.9 %" PRIu64 },
	{ TCA_SWPORT_QUANTILE_MAX_VALUE, "max", " max %" PRIu64 },
	{ TCA_SWPORT_QUANTILE_COUNT, "count", " of %" PRIu64 " pkts" },
};

void swport_print_percentiles(struct rtattr *attr)
{
	struct rtattr *tb[TCA_SWPORT_PERCENTILES_MAX + 1], *values[TCA_SWPORT_QUANTILE_MAX + 1];

	if (!attr)
		return;
	swport_parse_nest(tb, TCA_SWPORT_PERCENTILES_MAX, attr);
	for (int i = 1; i <= TCA_SWPORT_PERCENTILES_MAX; i++) {
		if (!tb[i])
			continue;
		print_nl();
		open_json_object(histograms[i].key);
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", histograms[i].text);
		swport_parse_nest(values, TCA_SWPORT_QUANTILE_MAX, tb[i]);
		swport_print_counters(PRINT_ANY, quantiles, ARRAY_SIZE(quantiles), values);
		close_json_object();
	}
}
