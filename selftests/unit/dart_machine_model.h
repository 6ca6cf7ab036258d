/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dart's state machine, written from the words of section III-C and Figure 5 of the paper and
 * from the two additions in <quell/core/dart/machine.h>, not from its code:
 *
 *	no marks are received			No Congestion
 *	marks, throughput at line rate		Receiver Congestion
 *	marks, lower throughput			Non-Receiver Congestion
 *
 * Section I: receiver congestion is that of several senders.  Additions: No Congestion begins after a time without marks; a change to another state, but
 * for that from No Congestion to Receiver Congestion, takes as many marked periods in
 * succession that say so as `periods'.  The model keeps the symptoms of the last marked
 * periods as a list and looks through it.
 */
#ifndef _QUELL_TEST_DART_MACHINE_MODEL_H
#define _QUELL_TEST_DART_MACHINE_MODEL_H

#include <stdbool.h>

#define MACHINE_MODEL_SYMPTOMS	512

enum machine_model_state { MODEL_NONE, MODEL_RECEIVER, MODEL_NON_RECEIVER };

struct machine_model {
	enum machine_model_state state;
	bool at_line_rate[MACHINE_MODEL_SYMPTOMS];	/* of marked periods, oldest first */
	unsigned int symptoms;
	double marked_ns;
};

/* Whether all of the last @periods marked periods were, or all were not, at line rate. */
static inline bool machine_model_all(const struct machine_model *m, unsigned int periods,
				     bool at_line_rate)
{
	unsigned int i;

	if (m->symptoms < periods)
		return false;
	for (i = m->symptoms - periods; i < m->symptoms; i++)
		if (m->at_line_rate[i] != at_line_rate)
			return false;
	return true;
}

static inline void machine_model_note(struct machine_model *m, bool at_line_rate)
{
	unsigned int i;

	if (m->symptoms == MACHINE_MODEL_SYMPTOMS)
		for (m->symptoms--, i = 0; i < m->symptoms; i++)
			m->at_line_rate[i] = m->at_line_rate[i + 1];
	m->at_line_rate[m->symptoms++] = at_line_rate;
}

/* A period of @elapsed_ns ends at @now_ns; @line_rate in bytes/s, 0 if not known or one sender. */
static inline void machine_model_period(struct machine_model *m, double now_ns, double elapsed_ns,
					double bytes, bool marked, double line_rate, double full,
					unsigned int periods, double clear_ns)
{
	bool at_line_rate = line_rate > 0 && bytes * 1e9 / elapsed_ns >= full * line_rate;

	if (!marked) {
		if (now_ns - m->marked_ns >= clear_ns) {
			m->state = MODEL_NONE;
			m->symptoms = 0;
		}
		return;
	}
	m->marked_ns = now_ns;
	machine_model_note(m, at_line_rate);
	if (m->state == MODEL_NONE && at_line_rate)
		m->state = MODEL_RECEIVER;
	else if (machine_model_all(m, periods, at_line_rate))
		m->state = at_line_rate ? MODEL_RECEIVER : MODEL_NON_RECEIVER;
}

#endif /* _QUELL_TEST_DART_MACHINE_MODEL_H */
