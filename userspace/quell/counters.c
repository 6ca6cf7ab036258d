// SPDX-License-Identifier: GPL-2.0
/*
 * Counters as several verbs print them.
 */
#include <inttypes.h>

#include "quell.h"

/* Print counters in JSON: an object of name and value. No output in text. */
void out_counters(struct out *o, const struct counters *counters)
{
	size_t i;

	out_open_object(o, "counters");
	for (i = 0; i < counters->n; i++)
		out_u64(o, counters->list[i].name, NULL, counters->list[i].value);
	out_close_object(o);
}

/* Print counters in text: one line per counter, with its explanation. No output in JSON. */
void out_counter_lines(struct out *o, const struct counters *counters)
{
	size_t i;

	for (i = 0; i < counters->n; i++) {
		const struct counter *c = &counters->list[i];
		char line[128];

		snprintf(line, sizeof(line), "  %-22s %12" PRIu64, c->name, c->value);
		out_text(o, line);
		out_str(o, NULL, "  %s\n", c->doc ? c->doc : "");
	}
}
