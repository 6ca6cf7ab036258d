/* SPDX-License-Identifier: GPL-2.0 */
/* A sound host, and the findings of one that is not, for the tests of quell doctor. */
#ifndef _QUELL_TEST_DOCTOR_H
#define _QUELL_TEST_DOCTOR_H

#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "quell.h"
#include "util.h"

#include "complaint.h"
#include "test.h"

static struct cc loaded[] = { { .name = "quell" }, { .name = "swift" }, { .name = "dcqcn" } };

/* A host without findings. */
static struct doctor_host sound_host(void)
{
	struct doctor_host h = { .has_config = true, .has_quell = true, .has_modules = true,
				 .default_cc = "swift",
				 .clocksource = "tsc", .clocksources = "tsc hpet", .tcp_ecn = 2,
				 .tcp_sack = 1, .tcp_mem = { 100, 200, 300 }, .tcp_pages = 199,
				 .tcp_wmem = { 4096, 16384, 4194304 },
				 .ccs = { loaded, ARRAY_SIZE(loaded) } };

	for (int i = 0; i < DOCTOR_OPTIONS; i++)
		h.option[i] = true;
	return h;
}

/* Findings must be @want, a line each: level, check, text; then the command, if it has one. */
static void expect_findings(struct __test_metadata *_metadata, struct findings *findings,
			    const char *want)
{
	char got[4096] = "";
	size_t i, used = 0;

	for (i = 0; i < findings->n; i++) {
		const struct finding *f = &findings->list[i];

		used += snprintf(got + used, sizeof(got) - used, "%d %s %s\n%s%s", f->level,
				 f->check, f->text, f->command, *f->command ? "\n" : "");
	}
	EXPECT_EQ(0, strcmp(want, got))
		TH_LOG("got:\n%swant:\n%s", got, want);
	free(findings->list);
}

#endif /* _QUELL_TEST_DOCTOR_H */
