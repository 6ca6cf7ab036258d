/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The signals of hosts and switches, and the Quell option that carries them.
 */
#ifndef _QUELL_SIGNAL_H
#define _QUELL_SIGNAL_H

#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <net/inet_connection_sock.h>
#include <quell/option.h>
#include <quell/quell.h>
#include "flow/flow.h"

/* Values of the parameter "option". */
#define QUELL_SIGNAL_OPTION_OFF		0ULL
#define QUELL_SIGNAL_OPTION_OFFER	1ULL
#define QUELL_SIGNAL_OPTION_REPLY	2ULL

/* Retransmissions of a SYN that still carry the offer. */
#define QUELL_SYN_OFFERS_MAX	1

/* The connection of a segment or a socket, as this host sees it. */
struct quell_offer_key {
	struct in6_addr	local;	/* IPv4 in the first word, the rest zero */
	struct in6_addr	peer;	/* in the same form */
	__be16		sport;	/* of this host */
	__be16		dport;
	int		ifindex;	/* the socket is bound to; 0: unbound */
};

/* Result of quell_option_take(). */
enum quell_option_result {
	QUELL_OPTION_ABSENT,
	QUELL_OPTION_TAKEN,
	QUELL_OPTION_MALFORMED,
	QUELL_OPTION_BAD_CHECKSUM,
};

/* Parameters of the signal plane. */
struct quell_signal_params {
	u64	option;	/* QUELL_SIGNAL_OPTION_* */
	u64	tail_probes;	/* maximum in a row for a tail loss; 0: no probes */
	u64	tail_floor_ns;	/* minimum time before a probe */
	u64	entropies;	/* at most QUELL_REPS_ENTROPIES_MAX; 0: no spraying */
	u64	recycle;	/* entropies of unmarked packets; 0: each segment draws one */
	u64	nack_rate;	/* per second and connection; 0: no NACKs */
	u64	acks_per_rtt;	/* ACKs requested per round trip; 0: one for each burst */
	u64	burst_ns;	/* minimum opening of a window, on the link; 0: a packet */
	u64	tcp_int;	/* QUELL_TCPINT_* */
};

/* signal.c */
extern struct quell_algo quell_signal_algo;
bool quell_signal_offers(const struct quell_net *qnet, const struct quell_algo *algo);
bool quell_signal_listens(const struct quell_net *qnet);
void quell_signal_open(struct quell_flow *flow, struct sock *sk);
void quell_signal_confirm(struct quell_flow *flow);
bool quell_signal_is_vain(const struct quell_flow *flow);
void quell_signal_release(struct quell_flow *flow, struct sock *sk);
void quell_signal_check(struct quell_flow *flow, struct sock *sk);

/*
 * Options cannot be inserted into segments signed by MD5 or TCP-AO, and must not be trusted in
 * received ones.  RCU read section or socket lock.
 */
static inline bool quell_signal_is_signed(const struct sock *sk)
{
#ifdef CONFIG_TCP_MD5SIG
	if (rcu_access_pointer(tcp_sk(sk)->md5sig_info))
		return true;
#endif
#ifdef CONFIG_TCP_AO
	if (rcu_access_pointer(tcp_sk(sk)->ao_info))
		return true;
#endif
	return false;
}

/*
 * Whether quell_signal_check() has no work: the room for options is that of the last call, and the
 * newest packet received with room for the option had it.  Socket lock.
 */
static inline bool quell_signal_is_settled(const struct quell_flow *flow, const struct sock *sk)
{
	bool on = READ_ONCE(flow->option) == QUELL_OPTION_ON;

	if (on != !!flow->option_room_bytes || quell_tcpint_is_on(flow))
		return false;
	return !on || (!READ_ONCE(flow->option_missed) && !quell_signal_is_signed(sk) &&
		       inet_csk(sk)->icsk_ext_hdr_len == flow->ext_hdr_bytes &&
		       (flow->family == AF_INET || !rcu_access_pointer(inet6_sk(sk)->opt)));
}

void quell_telemetry_register(const struct quell_algo *algo);
bool quell_signal_needs_hooks(const struct quell_net *qnet);
void quell_telemetry_take(struct quell_flow *flow, const struct quell_ack_rx *ack_rx,
			  struct quell_sample *sample);

/* Bottom halves off; the result is valid until they are on. */
static inline const struct quell_signal_params *
quell_signal_params_bh(const struct quell_net *qnet)
{
	const struct quell_params_block *block;

	block = rcu_dereference_bh(qnet->algos[quell_signal_algo.slot].params);
	return (const struct quell_signal_params *)block->data;
}

/* A copy, of one moment. */
static inline struct quell_signal_params quell_signal_params(const struct quell_net *qnet)
{
	struct quell_signal_params params;

	rcu_read_lock();
	params = *(const struct quell_signal_params *)
		 rcu_dereference(qnet->algos[quell_signal_algo.slot].params)->data;
	rcu_read_unlock();
	return params;
}

/* option.c */
void quell_offer_net_init(struct quell_net *qnet);
void quell_offer_net_exit(struct quell_net *qnet);
void quell_offer_key(struct quell_offer_key *key, const struct sk_buff *skb,
		     const struct tcphdr *th, bool out, int ifindex);
void quell_offer_store_syn(struct quell_net *qnet, const struct quell_offer_key *key);
bool quell_offer_is_pending(struct quell_net *qnet, const struct quell_offer_key *key);
void quell_offer_store(struct quell_net *qnet, const struct quell_offer_key *key,
		       u32 stamp_secret);
bool quell_offer_claim(struct quell_net *qnet, const struct quell_offer_key *key,
		       u32 *stamp_secret);
u32 quell_option_room(const struct sk_buff *skb);
u32 quell_option_reduce(u32 room_bytes, struct quell_opt *opt);
u8 *quell_option_open(struct sk_buff *skb, u32 bytes);
bool quell_option_remove(struct sk_buff *skb, u32 ip_bytes, u32 bytes);
bool quell_option_insert(struct sk_buff *skb, const struct quell_opt *opt, u32 bytes);
bool quell_option_checksum_verify(struct sk_buff *skb, u32 ip_bytes);
enum quell_option_result quell_option_take(struct sk_buff *skb, u32 ip_bytes,
					   struct quell_opt *opt);

/* The option's length, with sections left out that do not fit; 0: no form fits. */
static inline u32 quell_option_choose(u32 room_bytes, struct quell_opt *opt)
{
	u32 bytes = quell_opt_bytes(opt);

	return bytes <= room_bytes ? bytes : quell_option_reduce(room_bytes, opt);
}

/* With its options; NULL: the packet is shorter.  LOCAL_IN hook, which has pulled the header. */
static inline const struct tcphdr *quell_option_header(const struct sk_buff *skb, u32 ip_bytes)
{
	const struct tcphdr *th = (const struct tcphdr *)(skb->data + ip_bytes);

	return ip_bytes + __tcp_hdrlen(th) <= skb_headlen(skb) ? th : NULL;
}

/* TCP does not compute the checksum again afterwards.  LOCAL_IN hook. */
static inline bool quell_option_checksum_ok(struct sk_buff *skb, u32 ip_bytes)
{
	return skb->ip_summed == CHECKSUM_UNNECESSARY || skb->ip_summed == CHECKSUM_PARTIAL ||
	       quell_option_checksum_verify(skb, ip_bytes);
}

/* The interface that received a packet, in a VRF the one below the VRF's device.  LOCAL_IN hook. */
static inline int quell_rx_ifindex(const struct sk_buff *skb)
{
	int below = ip_hdr(skb)->version == 4 ? inet_sdif(skb) : inet6_sdif(skb);

	return below ?: skb->dev->ifindex;
}

bool quell_ack_request_is_due(const struct quell_flow *flow, const struct sock *sk, u32 end_seq);

void quell_path_expect_reordering(const struct quell_flow *flow, struct tcp_sock *tp);
u8 quell_path_next(struct quell_flow *flow, const struct sock *sk, const struct sk_buff *skb);
void quell_path_label(struct quell_flow *flow, struct sk_buff *skb, u8 entropy);
void quell_path_echo(struct quell_flow *flow, u8 entropy, bool marked);
void quell_path_acked(struct quell_flow *flow, const struct tcp_sock *tp,
		      const struct rate_sample *rs);
void quell_path_on_rto(struct quell_flow *flow);

u32 quell_tcpint_room(struct quell_flow *flow, const struct sk_buff *skb, u32 other_bytes);
void quell_tcpint_send(struct quell_flow *flow, struct sk_buff *skb);
void quell_tcpint_receive(struct quell_flow *flow, struct sk_buff *skb, u32 ip_bytes);
bool quell_tcpint_used(const struct quell_flow *flow);
void quell_tcpint_take(struct quell_flow *flow, struct quell_sample *sample);

/* link.c */
int quell_links_init(void);
void quell_links_exit(void);
void quell_links_net_init(struct quell_net *qnet);
void quell_links_net_exit(struct quell_net *qnet);
void quell_link_update(struct quell_flow *flow, const struct net_device *dev);
u64 quell_link_speed(struct quell_net *qnet, int ifindex);
u64 quell_link_bytes_ps(const struct sock *sk);
int quell_link_next(struct quell_net *qnet, int ifindex);
int quell_link_name_speed(struct quell_net *qnet, int ifindex, u64 bytes_ps);
int quell_put_link(struct sk_buff *skb, struct quell_net *qnet, int ifindex);

void quell_clocks_net_exit(struct quell_net *qnet);
void quell_clock_stamp(struct quell_net *qnet, const struct sk_buff *skb,
		       struct quell_ack_rx *ack_rx);

#endif /* _QUELL_SIGNAL_H */
