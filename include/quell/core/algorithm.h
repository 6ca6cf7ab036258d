/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An algorithm as one object: its name, its needs, its parameters and counters, and a function
 * for each event.
 *
 * <quell/core/NAME/core.h> builds this object from the functions of a core.  All generic code
 * uses these objects: a kernel module registers one, quell.ko keeps its parameters and calls its
 * events, tests, benchmarks and the laboratory list them (<quell/core/cores.h>).  A BPF program
 * calls the core's functions directly.
 */
#ifndef _QUELL_CORE_ALGORITHM_H
#define _QUELL_CORE_ALGORITHM_H

#include <quell/core/adapt/vars.h>
#include <quell/core/core.h>
#include <quell/core/lib/undo.h>
#include <uapi/linux/quell.h>

#define QUELL_ARRAY_NR(array)	(sizeof(array) / sizeof((array)[0]))

/**
 * struct quell_param_desc - one parameter of an algorithm
 * @name:	name that the administrator uses
 * @doc:	one line of explanation
 * @unit:	unit of the value
 * @offset:	place of the u64 in the parameter block
 * @min:	smallest value accepted
 * @max:	largest value accepted
 * @def:	value after a reset
 * @field:	the field's name, by which user space detects a block of another version
 */
struct quell_param_desc {
	const char	*name;
	const char	*doc;
	enum quell_unit	unit;
	u32		offset;
	u64		min;
	u64		max;
	u64		def;
	const char	*field;
};

/**
 * QUELL_PARAM() - an entry of a table of parameters
 * @type_:	the algorithm's struct of parameters
 * @name_:	name
 * @unit_:	enum quell_unit without its prefix
 * @field_:	field of @type_
 * @range_:	QUELL_@range_ is its QUELL_RANGE()
 * @doc_:	one line of explanation
 */
#define QUELL_PARAM(type_, name_, unit_, field_, range_, doc_) {	\
	.name = (name_), .doc = (doc_), .unit = QUELL_UNIT_##unit_,	\
	.offset = offsetof(type_, field_),				\
	.field = #field_, QUELL_##range_,				\
}

/**
 * struct quell_counter_desc - one counter
 * @name:	name that user space sees
 * @doc:	one line of explanation
 * @offset:	place of the u64 in the block of counters
 * @field:	the field's name, as in &struct quell_param_desc
 */
struct quell_counter_desc {
	const char	*name;
	const char	*doc;
	u32		offset;
	const char	*field;
};

/**
 * QUELL_COUNTER() - an entry of a table of counters
 * @type_:	the algorithm's struct of counters
 * @name_:	name
 * @field_:	field of @type_
 * @doc_:	one line of explanation
 */
#define QUELL_COUNTER(type_, name_, field_, doc_) {			\
	.name = (name_), .doc = (doc_), .offset = offsetof(type_, field_), \
	.field = #field_,						\
}

/**
 * struct quell_event - input and output of an event of a core
 * @vars:	  the algorithm's variables of the socket; zero before ->init
 * @params:	  its parameters in force, of size params_bytes
 * @stats:	  its counters on this CPU, of size counters_bytes
 * @sample:	  state of the flow; describes an acknowledgment only in ->on_ack
 * @decision:	  decision of the core, which sets all of it; unused in ->undo_note
 * @before:	  ->undo_note: copy of @vars from before ->on_loss or ->on_rto
 * @undo:	  ->undo_note: record of the reductions, extended; ->on_undo: that record
 */
struct quell_event {
	void			*vars;
	const void		*params;
	void			*stats;
	struct quell_sample	sample;
	struct quell_decision	decision;
	const void		*before;
	struct quell_undo	*undo;
};

/* quell_core.flags */
#define QUELL_CORE_ECN		0x1 /* connections request ECN; the peer may refuse */
#define QUELL_CORE_FRACTIONAL	0x2 /* a window that is no whole number of segments is kept on
				     * average; without this flag it is rounded down
				     */
#define QUELL_CORE_TELEMETRY	0x4 /* uses telemetry records, and leaves them room in its data */
#define QUELL_CORE_SPRAYS	0x8 /* segments of a flow may take different paths */
#define QUELL_CORE_TRIMS	0x10 /* it handles trimmed_bytes: it gets ACKs that report only
				      * trimming, and no ->on_loss for a recovery caused only by it
				      */
#define QUELL_CORE_SENDERS	0x20 /* receivers count their senders and state n, set.h of dart */
/* Algorithms that need the peer's Quell option, and so offer it. */
#define QUELL_CORE_OFFERS	(QUELL_CORE_TELEMETRY | QUELL_CORE_SENDERS)

/*
 * The kernel calls this event by its name, quell_NAME_core_on_ack(), which is compiled into
 * ->cong_control; a pointer to it would take a second copy of most of an algorithm.
 */
#ifdef __KERNEL__
#define QUELL_CORE_ON_ACK(function_)	(0 ? (function_) : NULL)
#else
#define QUELL_CORE_ON_ACK(function_)	(function_)
#endif

/**
 * struct quell_core - a congestion-control algorithm; constant
 * @name:	     as in net.ipv4.tcp_congestion_control
 * @module:	     kernel module that contains the algorithm
 * @flags:	     QUELL_CORE_*
 * @needs:	     path properties that the algorithm requires
 * @vars_bytes:	     size of the algorithm's variables of a socket
 * @params:	     table of parameters; the first is "adapt", at offset 0
 * @params_nr:	     number of parameters
 * @params_bytes:    size of the parameter block
 * @params_derive:   optional: recompute derived fields of a block about to be published
 * @counters:	     table of counters
 * @counters_nr:     number of counters; may be 0
 * @counters_bytes:  size of the block of counters
 * @segment_pkts:    optional: packets sent between two pacing delays, of an algorithm that is a
 *		     rate; at least 1
 * @init:	     a connection begins
 * @on_ack:	     new data was acknowledged, or reported trimmed; NULL in the kernel
 * @on_loss:	     fast retransmit begins, or a packet sent since was trimmed
 * @on_rto:	     the retransmission timer fired
 * @on_idle_restart: sending resumes after a time without outstanding data
 * @restart_offset:  in the parameter block, of the u64 in ns below which such a time changes no
 *		     decision, so that ->on_idle_restart need not be called; 0: it must be
 * @undo_note:	     record the reduction made by ->on_loss or ->on_rto
 * @on_undo:	     the loss was spurious: undo the recorded reductions
 */
struct quell_core {
	const char			*name;
	const char			*module;
	u32				flags;
	struct quell_adapt_needs	needs;
	u32				vars_bytes;
	const struct quell_param_desc	*params;
	u32				params_nr;
	u32				params_bytes;
	void				(*params_derive)(void *params);
	const struct quell_counter_desc	*counters;
	u32				counters_nr;
	u32				counters_bytes;
	u32				restart_offset;
	u32				(*segment_pkts)(const void *params, u32 mss_bytes);
	void				(*init)(struct quell_event *ev);
	void				(*on_ack)(struct quell_event *ev);
	void				(*on_loss)(struct quell_event *ev);
	void				(*on_rto)(struct quell_event *ev);
	void				(*on_idle_restart)(struct quell_event *ev);
	void				(*undo_note)(struct quell_event *ev);
	void				(*on_undo)(struct quell_event *ev);
};

/**
 * QUELL_CORE_EVENTS() - define the events by the typed functions of a core
 * @name_: of the algorithm
 * @core_: begins the names of its core's functions
 */
#define QUELL_CORE_EVENTS(name_, core_)						\
static inline void quell_##name_##_core_init(struct quell_event *ev)		\
{										\
	quell_##core_##_init(ev->vars, ev->params, &ev->sample, &ev->decision);	\
}										\
										\
static inline void quell_##name_##_core_on_ack(struct quell_event *ev)		\
{										\
	quell_##core_##_on_ack(ev->vars, ev->params, ev->stats, &ev->sample,	\
			       &ev->decision);					\
}										\
										\
static inline void quell_##name_##_core_on_loss(struct quell_event *ev)		\
{										\
	quell_##core_##_on_loss(ev->vars, ev->params, ev->stats, &ev->sample,	\
				&ev->decision);					\
}										\
										\
static inline void quell_##name_##_core_on_rto(struct quell_event *ev)		\
{										\
	quell_##core_##_on_rto(ev->vars, ev->params, ev->stats, &ev->sample,	\
			       &ev->decision);					\
}										\
										\
static inline void quell_##name_##_core_on_idle_restart(struct quell_event *ev)	\
{										\
	quell_##core_##_on_idle_restart(ev->vars, ev->params, ev->stats,	\
					&ev->sample, &ev->decision);		\
}										\
										\
static inline void quell_##name_##_core_undo_note(struct quell_event *ev)	\
{										\
	quell_##core_##_undo_note(ev->undo, ev->before, ev->vars);		\
}										\
										\
static inline void quell_##name_##_core_on_undo(struct quell_event *ev)		\
{										\
	quell_##core_##_on_undo(ev->vars, ev->params, &ev->sample, ev->undo,	\
				&ev->decision);					\
}

/**
 * QUELL_CORE_MEMBERS() - the members of &struct quell_core that follow from its name
 * @name_: of the algorithm; it begins the names of its parameters, tables and events
 * @core_: begins the names of its variables and counters
 */
#define QUELL_CORE_MEMBERS(name_, core_)					\
	.vars_bytes = sizeof(struct quell_##core_##_vars),			\
	.params = quell_##name_##_core_params,					\
	.params_nr = QUELL_ARRAY_NR(quell_##name_##_core_params),		\
	.params_bytes = sizeof(struct quell_##name_##_params),			\
	.counters = quell_##name_##_core_counters,				\
	.counters_nr = QUELL_ARRAY_NR(quell_##name_##_core_counters),		\
	.counters_bytes = sizeof(struct quell_##core_##_stats),			\
	.init = quell_##name_##_core_init,					\
	.on_ack = QUELL_CORE_ON_ACK(quell_##name_##_core_on_ack),		\
	.on_loss = quell_##name_##_core_on_loss,				\
	.on_rto = quell_##name_##_core_on_rto,					\
	.on_idle_restart = quell_##name_##_core_on_idle_restart,		\
	.undo_note = quell_##name_##_core_undo_note,				\
	.on_undo = quell_##name_##_core_on_undo

/* The value of a parameter in a block of them. */
static inline u64 *quell_core_param(void *params, const struct quell_param_desc *desc)
{
	return (u64 *)((char *)params + desc->offset);
}

/**
 * quell_core_params_default() - fill a block with an algorithm's defaults
 * @core:   algorithm
 * @params: block of params_bytes; all of it is set, derived fields too; a field without an entry
 *	    in the table of parameters becomes 0
 *
 * Context: any.
 */
static inline void quell_core_params_default(const struct quell_core *core, void *params)
{
	u32 i;

	__builtin_memset(params, 0, core->params_bytes);
	for (i = 0; i < core->params_nr; i++)
		*quell_core_param(params, &core->params[i]) = core->params[i].def;
	if (core->params_derive)
		core->params_derive(params);
}

#endif /* _QUELL_CORE_ALGORITHM_H */
