/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Quell option on a connection and the signals that two hosts exchange in it.
 */
#ifndef _QUELL_SIGNAL_H
#define _QUELL_SIGNAL_H

#include <linux/skbuff.h>
#include <quell/option.h>
#include <quell/quell.h>
#include "netns/net.h"

struct quell_arrival;
struct quell_echo;
struct quell_flow;
struct quell_net;
struct sk_buff;
struct sock;

/* Values of the parameter "option". */
#define QUELL_SIGNAL_OPTION_OFF		0ULL
#define QUELL_SIGNAL_OPTION_OFFER	1ULL
#define QUELL_SIGNAL_OPTION_ANSWER	2ULL

/* Whether a connection uses the option, and if not, why; quell_option_name(). */
enum quell_option_state {
	QUELL_OPTION_NOT_OFFERED,
	QUELL_OPTION_ON,
	QUELL_OPTION_NO_ANSWER,
	QUELL_OPTION_NO_ROOM,
	QUELL_OPTION_STRIPPED,
};

/* Result of quell_option_take(). */
enum quell_option_result {
	QUELL_OPTION_ABSENT,
	QUELL_OPTION_TAKEN,
	QUELL_OPTION_MALFORMED,
	QUELL_OPTION_BAD_CHECKSUM,
};

/**
 * struct quell_signal_params - parameters of the signal plane
 * @option:        QUELL_SIGNAL_OPTION_*
 * @tail_probes:   maximum probes in a row for a tail loss; 0: no probes
 * @tail_floor_ns: minimum time before a probe
 * @entropies:     path entropies of a flow, at most QUELL_REPS_ENTROPIES_MAX; 0: no spraying
 * @recycle:       entropies of unmarked packets are used again; 0: each segment draws one
 * @nack_rate:     maximum NACKs per second of a connection; 0: no NACKs
 * @acks_per_rtt:  ACKs that a flow asks for per round trip; 0: one for each burst
 * @burst_ns:      what a window opens by at least, as time on the link; 0: a packet
 * @tcp_int:       QUELL_TCPINT_*
 */
struct quell_signal_params {
	u64	option;
	u64	tail_probes;
	u64	tail_floor_ns;
	u64	entropies;
	u64	recycle;
	u64	nack_rate;
	u64	acks_per_rtt;
	u64	burst_ns;
	u64	tcp_int;
};

/* signal.c */
extern struct quell_algo quell_signal_algo;
int quell_signal_init(void);
void quell_signal_exit(void);
bool quell_signal_offers(const struct quell_net *qnet, const struct quell_algo *algo);
bool quell_signal_listens(const struct quell_net *qnet);
u32 quell_signal_entropies(const struct quell_net *qnet);
bool quell_signal_recycles(const struct quell_net *qnet);
u64 quell_signal_nack_rate(const struct quell_net *qnet);
void quell_signal_open(struct quell_flow *flow, struct sock *sk);
void quell_signal_close(struct quell_flow *flow, struct sock *sk,
			enum quell_option_state state);
bool quell_signal_is_signed(const struct sock *sk);
void quell_signal_heard(struct quell_flow *flow);
bool quell_signal_is_vain(const struct quell_flow *flow);
void quell_signal_release(struct quell_flow *flow, struct sock *sk);
void quell_signal_check(struct quell_flow *flow, struct sock *sk);

/* telemetry.c */
void quell_telemetry_register(struct quell_algo *algo);
void quell_telemetry_unregister(const struct quell_algo *algo);
bool quell_signal_needs_hooks(const struct quell_net *qnet);
bool quell_telemetry_expected(const struct quell_flow *flow);
void quell_telemetry_send(const struct quell_flow *flow, struct quell_opt *opt);
void quell_telemetry_note(struct quell_flow *flow, const struct quell_opt *opt,
			  struct quell_echo *echo);
void quell_telemetry_echo(const struct quell_echo *echo, struct quell_opt *opt);
void quell_telemetry_arrive(struct quell_flow *flow, const struct quell_opt *opt,
			    struct quell_arrival *arrival);
void quell_telemetry_take(struct quell_flow *flow, const struct quell_arrival *arrival,
			  struct quell_sample *sample);

/**
 * quell_signal_params_bh() - the parameters of the packet path, in place
 * @qnet: namespace
 *
 * Context: bottom halves off; the result is valid until they are on.
 * Return: parameters.
 */
static inline const struct quell_signal_params *
quell_signal_params_bh(const struct quell_net *qnet)
{
	const struct quell_params_block *block;

	block = rcu_dereference_bh(qnet->algos[quell_signal_algo.slot].params);
	return (const struct quell_signal_params *)block->data;
}

/* Whether a record was never written to. */
static inline bool quell_telemetry_is_empty(const u8 *record)
{
	return !record[QUELL_TELEMETRY_HOP_AT];
}

/**
 * quell_telemetry_keep() - keep the record of a packet that a newer one replaces
 * @newer: record; replaced by @older if it is empty
 * @older: record
 *
 * Context: lock of the flow that has the records.
 */
static inline void quell_telemetry_keep(u8 *newer, const u8 *older)
{
	if (quell_telemetry_is_empty(newer) && !quell_telemetry_is_empty(older))
		memcpy(newer, older, QUELL_TELEMETRY_BYTES);
}

/* option.c */
u32 quell_option_room(const struct sk_buff *skb);
bool quell_option_has_room(u32 room_bytes, const struct quell_opt *opt, u8 flags);
u32 quell_option_choose(u32 room_bytes, struct quell_opt *opt);
u8 *quell_option_open(struct sk_buff *skb, u32 bytes);
bool quell_option_remove(struct sk_buff *skb, u32 ip_bytes, u32 bytes);
bool quell_option_insert(struct sk_buff *skb, const struct quell_opt *opt);
bool quell_option_checksum_verify(struct sk_buff *skb, u32 ip_bytes);
const struct tcphdr *quell_option_header(struct sk_buff *skb, u32 ip_bytes);
enum quell_option_result quell_option_take(struct sk_buff *skb, u32 ip_bytes,
					   struct quell_opt *opt);

/**
 * quell_option_checksum_holds() - whether the TCP checksum is correct
 * @skb:      packet that came in, from the network header on
 * @ip_bytes: length of the network header
 *
 * TCP does not compute the checksum again afterwards.
 *
 * Context: LOCAL_IN hook.
 * Return: whether the checksum is correct.
 */
static inline bool quell_option_checksum_holds(struct sk_buff *skb, u32 ip_bytes)
{
	return skb->ip_summed == CHECKSUM_UNNECESSARY || skb->ip_summed == CHECKSUM_PARTIAL ||
	       quell_option_checksum_verify(skb, ip_bytes);
}

#endif /* _QUELL_SIGNAL_H */
