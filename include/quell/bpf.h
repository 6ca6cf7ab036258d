/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between a BPF object of an algorithm (ebpf/) and its loaders and observers: the
 * names of its maps, and the part of a flow which an observer reads.
 *
 * An object is build/ebpf/NAME.bpf.o.  Its struct_ops map, and so its congestion control, is
 * QUELL_BPF_PREFIX and NAME.
 */
#ifndef _QUELL_BPF_H
#define _QUELL_BPF_H

#include <quell/core/lib/types.h>

#define QUELL_BPF_PREFIX	"bpf_"

/*
 * Array of one entry, the core's block of parameters; derived fields are part of it, so a writer
 * calls ->params_derive first.  All zero, as after plain bpftool: the defaults.
 */
#define QUELL_BPF_PARAMS_MAP	"quell_params"
/* Per-CPU array of one entry, the core's block of counters. */
#define QUELL_BPF_STATS_MAP	"quell_stats"
/* Socket storage, one entry a flow, which begins with struct quell_bpf_view. */
#define QUELL_BPF_FLOWS_MAP	"quell_flows"

/* A declaration tag of an algorithm's object: this, and QUELL_VERSION. */
#define QUELL_BPF_VERSION_TAG	"quell version "

/* The object that speaks the Quell option, its program, and its maps. */
#define QUELL_BPF_OPTION	"option"
#define QUELL_BPF_OPTION_PROG	"quell_option"
/* Socket storage, one entry a connection that speaks; the algorithms' objects have it, too. */
#define QUELL_BPF_OPTIONS_MAP	"quell_options"
/* Per-CPU array of one entry, struct quell_bpf_option_stats. */
#define QUELL_BPF_OPTION_STATS_MAP	"quell_option_stats"

/**
 * struct quell_bpf_option_stats - counters of the option, with the names of quell.ko's
 * @agreed:	      connections that use it
 * @sent:	      segments sent with it
 * @received:	      segments received with it, which TCP would accept
 * @no_room:	      segments without it for want of room
 * @malformed:	      options too short for the sections they announce
 * @out_of_window:    segments with it and an ACK that TCP would not accept
 * @stripped:	      connections that gave it up
 * @waited:	      echoes sent with a wait added
 * @rtt_echo:	      echoes believed
 * @rtt_echo_refused: echoes of a departure never sent
 * @rtt_echo_delayed: echoes that say that the ACK waited
 * @rtt_hold_refused: echoes with a hold time longer than can be
 */
struct quell_bpf_option_stats {
	u64	agreed;
	u64	sent;
	u64	received;
	u64	no_room;
	u64	malformed;
	u64	out_of_window;
	u64	stripped;
	u64	waited;
	u64	rtt_echo;
	u64	rtt_echo_refused;
	u64	rtt_echo_delayed;
	u64	rtt_hold_refused;
};

/**
 * struct quell_bpf_view - a flow for observers; of quell.ko's by its tracepoint
 * @window_bytes:    congestion window decided last, bytes
 * @pacing_bytes_ps: pacing rate decided last, bytes/s; QUELL_RATE_UNLIMITED if not paced
 * @rtt_ns:	     newest round-trip time, ns; 0 not yet known
 * @min_rtt_ns:	     smallest round-trip time, ns; 0 not yet known
 * @target_ns:	     target delay, ns; 0 the algorithm has no target
 * @acked_bytes:     payload acknowledged so far
 * @losses:	     losses reported to the algorithm so far: recoveries that began; quell.ko: 0
 * @timeouts:	     timeouts reported to the algorithm so far; quell.ko: 0
 * @phase:	     governor of the window, enum quell_adapt_phase of
 *		     <quell/core/adapt/vars.h>; 0 if the flow is not fitted to its path
 * @reason:	     why CUBIC governs, enum quell_adapt_reason there; 0 if it does not
 * @remote_ns:	     hold time at the receiver, part of @rtt_ns, ns; 0 without the option
 * @echoes:	     round-trip times by the Quell option's echoes so far
 *
 * The program writes the fields one by one, under the lock of the socket; readers do not hold it.
 */
struct quell_bpf_view {
	u64	window_bytes;
	u64	pacing_bytes_ps;
	u64	rtt_ns;
	u64	min_rtt_ns;
	u64	target_ns;
	u64	acked_bytes;
	u64	losses;
	u64	timeouts;
	u32	phase;
	u32	reason;
	u64	remote_ns;
	u64	echoes;
};

#endif /* _QUELL_BPF_H */
