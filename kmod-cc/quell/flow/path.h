/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The paths of a flow's segments: interface of path.c.
 */
#ifndef _QUELL_PATH_H
#define _QUELL_PATH_H

#include <linux/types.h>
#include <quell/core/signal/reps.h>

struct quell_flow;
struct rate_sample;
struct sk_buff;
struct sock;
struct tcp_sock;

/**
 * struct quell_path - path entropies of a flow; path.c
 * @reps:      REPS state; NULL until the first segment is sprayed
 * @label:     the flow's own flow label, host order; 0 before the first sprayed segment
 * @entropies: number of path entropies; 0: this flow is not sprayed
 * @used:      segments sent, by enum quell_reps_source of their entropy
 * @kept:      echoes of unmarked packets; their entropy may be used again
 * @marked:    echoes of marked packets
 *
 * The lock of the flow protects all fields.  Those that dumps read without it are written
 * with WRITE_ONCE().
 */
struct quell_path {
	struct quell_reps	*reps;
	u32			label;
	u32			entropies;
	u64			used[QUELL_REPS_FROZEN + 1];
	u64			kept;
	u64			marked;
};

void quell_path_free(struct quell_path *path);
void quell_path_expect_reordering(const struct quell_flow *flow, struct tcp_sock *tp);
u8 quell_path_next(struct quell_flow *flow, const struct sock *sk, const struct sk_buff *skb);
void quell_path_label(struct quell_flow *flow, struct sk_buff *skb, u8 entropy);
void quell_path_echo(struct quell_flow *flow, u8 entropy, bool marked);
void quell_path_acked(struct quell_flow *flow, const struct tcp_sock *tp,
		      const struct rate_sample *rs);
void quell_path_on_rto(struct quell_flow *flow);

#endif /* _QUELL_PATH_H */
