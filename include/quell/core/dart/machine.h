/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DASR: which congestion a receiver is in (Dart, section III-C and Figure 5).
 *
 * Two symptoms decide: whether packets are received marked CE, and whether bytes are received at
 * the line rate of the interface, from several hosts.
 *
 *	no marks for `clear'		No Congestion			n real
 *	marks, at line rate		Receiver Congestion		n real, marks hidden
 *	marks, below it, or one host	Non-Receiver Congestion		n = 1, marks pass
 *
 * The paper's Figure 5 has the rate alone.  But receiver congestion is that of several senders
 * (section II-C), and n = 1 limits no sender.  With its marks hidden, one that sends at line rate
 * keeps each queue that others leave behind in its path.
 *
 * The symptoms are checked once per `period'.  A marked period at line rate leads from No
 * Congestion to Receiver Congestion at once.  Other changes need the same symptom in as many
 * marked periods in a row as `periods' states: the first period of an incast is part of a
 * period without traffic, so its rate is below line rate although it is the receiver's
 * congestion; and a single gap in the arrivals (a loss, a busy processor) must not release
 * all senders.  Until the second such period marks are hidden in No Congestion, too: they are
 * then most likely those of the receiver's own link, and would cut rates that n has cut.
 *
 * Both kinds of congestion at once: the first step is Receiver Congestion, where n makes all
 * senders share the line evenly.  One that is slower than its share because of the network
 * leaves a part of the line unused.  That is the second step: below line rate and marked,
 * hence Non-Receiver Congestion.
 *
 * If the line rate is not known all marks count as Non-Receiver Congestion.
 */
#ifndef _QUELL_CORE_DART_MACHINE_H
#define _QUELL_CORE_DART_MACHINE_H

#include <quell/core/core.h>
#include <quell/core/lib/math.h>

enum quell_dart_state {
	QUELL_DART_NO_CONGESTION,
	QUELL_DART_RECEIVER,
	QUELL_DART_NON_RECEIVER,
	QUELL_DART_STATES,
};

/* State of one interface; all zero at first but for @start_ns. */
struct quell_dart_machine {
	/* Of the period; at first when counting began, or it would be as long as the clock runs. */
	u64	start_ns;
	u64	marked_ns;	/* end of the last marked period */
	u64	bytes;	/* received when the period began, free-running */
	u64	marks;	/* packets received marked by then, free-running */
	u8	state;	/* enum quell_dart_state */
	u8	against;	/* marked periods in a row with the symptom of another state */
};

/* How symptoms are measured. */
struct quell_dart_machine_params {
	u64	period_ns;	/* > 0 */
	u64	clear_ns;	/* without marks that ends congestion */
	u64	full_q16;	/* part of the line rate that counts as line rate */
	u64	periods;	/* marked, in a row, that change the state, > 0 */
};

/* Arrivals at one interface. */
struct quell_dart_arrivals {
	u64	bytes;	/* so far, free-running */
	u64	marks;	/* packets received marked, the same */
	u32	hosts;	/* the most that were active at one time of the period */
};

/* Whether bytes were received at line rate. */
static inline bool quell_dart_is_full(u64 bytes, u64 elapsed_ns, u64 line_bytes_ps, u64 full_q16)
{
	u64 line_bytes = quell_mul_div_u64(line_bytes_ps, elapsed_ns, QUELL_NS_PER_SEC);

	return line_bytes_ps &&
	       bytes >= quell_mul_div_u64(line_bytes, full_q16, QUELL_Q16_ONE);
}

/* The state after a marked period. */
static inline void quell_dart_machine_classify(struct quell_dart_machine *m, bool is_full,
					       const struct quell_dart_machine_params *p)
{
	u8 state = is_full ? QUELL_DART_RECEIVER : QUELL_DART_NON_RECEIVER;

	if (state == m->state) {
		m->against = 0;
		return;
	}
	if (m->against < 0xff)
		m->against++;
	if (m->against < p->periods &&
	    !(is_full && m->state == QUELL_DART_NO_CONGESTION))
		return;
	m->state = state;
	m->against = 0;
}

/* Whether a period has ended; may race with quell_dart_machine_run(). */
static inline bool quell_dart_machine_is_due(const struct quell_dart_machine *m,
					     const struct quell_dart_machine_params *p,
					     u64 now_ns)
{
	return quell_sub_sat_u64(now_ns, m->start_ns) >= p->period_ns;
}

/*
 * Dart, section III-C: end a period.  A call before its end has no effect.  The caller serialises
 * per interface, and @now_ns does not decrease.  @line_bytes_ps on the wire; 0: not known.  Returns
 * whether the state changed.
 */
static __rare bool quell_dart_machine_run(struct quell_dart_machine *m,
					  const struct quell_dart_machine_params *p, u64 now_ns,
					  const struct quell_dart_arrivals *now,
					  u64 line_bytes_ps)
{
	u64 elapsed_ns = quell_sub_sat_u64(now_ns, m->start_ns);
	u8 before = m->state;

	if (elapsed_ns < p->period_ns)
		return false;
	if (now->marks != m->marks) {
		quell_dart_machine_classify(m, now->hosts > 1 &&
					    quell_dart_is_full(now->bytes - m->bytes, elapsed_ns,
							       line_bytes_ps, p->full_q16), p);
		m->marked_ns = now_ns;
	} else if (quell_sub_sat_u64(now_ns, m->marked_ns) >= p->clear_ns) {
		m->state = QUELL_DART_NO_CONGESTION;
		m->against = 0;
	}
	m->start_ns = now_ns;
	m->bytes = now->bytes;
	m->marks = now->marks;
	return m->state != before;
}

/* Whether a receiver passes marks on to its senders: Dart, Figure 5. */
static inline bool quell_dart_passes_marks(u8 state)
{
	return state == QUELL_DART_NON_RECEIVER;
}

/* Whether a receiver states the real n and not 1: Dart, Figure 5. */
static inline bool quell_dart_states_n(u8 state)
{
	return state != QUELL_DART_NON_RECEIVER;
}

#endif /* _QUELL_CORE_DART_MACHINE_H */
