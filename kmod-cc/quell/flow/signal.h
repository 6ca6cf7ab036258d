/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Quell option on a connection and the signals that two hosts exchange in it.
 */
#ifndef _QUELL_SIGNAL_H
#define _QUELL_SIGNAL_H

#include <quell/option.h>
#include <quell/quell.h>

struct quell_arrival;
struct quell_echo;
struct quell_flow;
struct quell_net;
struct sk_buff;
struct sock;

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

/* signal.c */
int quell_signal_init(void);
void quell_signal_exit(void);
bool quell_signal_offers(const struct quell_net *qnet, const struct quell_algo *algo);
bool quell_signal_asks(const struct quell_net *qnet);
bool quell_signal_listens(const struct quell_net *qnet);
u32 quell_signal_tail(const struct quell_net *qnet, u64 *floor_ns);
u32 quell_signal_entropies(const struct quell_net *qnet);
u64 quell_signal_nack_rate(const struct quell_net *qnet);
u32 quell_signal_acks_per_rtt(const struct quell_net *qnet);
u64 quell_signal_burst_ns(const struct quell_net *qnet);
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
bool quell_telemetry_asks(void);
bool quell_telemetry_expected(const struct quell_flow *flow);
void quell_telemetry_send(const struct quell_flow *flow, struct quell_opt *opt);
void quell_telemetry_note(struct quell_flow *flow, const struct quell_opt *opt,
			  struct quell_echo *echo);
void quell_telemetry_echo(const struct quell_echo *echo, struct quell_opt *opt);
void quell_telemetry_arrive(struct quell_flow *flow, const struct quell_opt *opt,
			    struct quell_arrival *arrival);
void quell_telemetry_keep(u8 *newer, const u8 *older);
void quell_telemetry_take(struct quell_flow *flow, const struct quell_arrival *arrival,
			  struct quell_sample *sample);

/* option.c */
u32 quell_option_room(const struct sk_buff *skb);
bool quell_option_has_room(u32 room_bytes, const struct quell_opt *opt, u8 flags);
u32 quell_option_choose(u32 room_bytes, struct quell_opt *opt);
u8 *quell_option_open(struct sk_buff *skb, u32 bytes);
bool quell_option_remove(struct sk_buff *skb, u32 ip_bytes, u32 bytes);
bool quell_option_insert(struct sk_buff *skb, const struct quell_opt *opt);
bool quell_option_checksum_holds(struct sk_buff *skb, u32 ip_bytes);
const struct tcphdr *quell_option_header(struct sk_buff *skb, u32 ip_bytes);
enum quell_option_result quell_option_take(struct sk_buff *skb, u32 ip_bytes,
					   struct quell_opt *opt);

#endif /* _QUELL_SIGNAL_H */
