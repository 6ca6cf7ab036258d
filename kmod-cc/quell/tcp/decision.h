/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoint quell:quell_decision: a decision of an algorithm, for "quell trace", which reads
 * the view as a whole by a BPF program, and for the tracers of the kernel.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM quell

#if !defined(_QUELL_TCP_DECISION_H) || defined(TRACE_HEADER_MULTI_READ)
#define _QUELL_TCP_DECISION_H

#include <linux/tracepoint.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <quell/bpf.h>

/* @bytes is the size of *@view, by which a program knows that it has the same struct. */
TRACE_EVENT(quell_decision,
	    TP_PROTO(const struct sock *sk, const struct quell_bpf_view *view, size_t bytes),
	    TP_ARGS(sk, view, bytes),
	    TP_STRUCT__entry(__field(u64, cookie)
			     __field(u64, window_bytes)
			     __field(u64, pacing_bytes_ps)
			     __field(u64, rtt_ns)
			     __field(u64, min_rtt_ns)
			     __field(u64, target_ns)
			     __field(u32, phase)
			     __field(u32, reason)
			     __field(u16, sport)
			     __field(u16, dport)
	    ),
	    TP_fast_assign(__entry->cookie = atomic64_read(&sk->sk_cookie);
			   __entry->window_bytes = view->window_bytes;
			   __entry->pacing_bytes_ps = view->pacing_bytes_ps;
			   __entry->rtt_ns = view->rtt_ns;
			   __entry->min_rtt_ns = view->min_rtt_ns;
			   __entry->target_ns = view->target_ns;
			   __entry->phase = view->phase;
			   __entry->reason = view->reason;
			   __entry->sport = sk->sk_num;
			   __entry->dport = ntohs(sk->sk_dport);
	    ),
	    TP_printk("cookie=%llx sport=%u dport=%u window_bytes=%llu pacing_bytes_ps=%llu rtt_ns=%llu min_rtt_ns=%llu target_ns=%llu phase=%u reason=%u",
		      __entry->cookie, __entry->sport, __entry->dport, __entry->window_bytes,
		      __entry->pacing_bytes_ps, __entry->rtt_ns, __entry->min_rtt_ns,
		      __entry->target_ns, __entry->phase, __entry->reason)
);

#endif /* _QUELL_TCP_DECISION_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH tcp
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE decision
#include <trace/define_trace.h>
