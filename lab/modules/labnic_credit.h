/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labnic: credits of receivers, what their source files share.
 */
#ifndef _QUELL_LABNIC_CREDIT_H
#define _QUELL_LABNIC_CREDIT_H

#include <linux/etherdevice.h>
#include <linux/in6.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/timerqueue.h>
#include <linux/types.h>

#include "express_rate.h"
#include "labnic.h"

/* Ethernet and IP header of a packet that is repeated: IPv4 without options, or IPv6. */
#define LABNIC_CREDIT_HEAD_BYTES	(ETH_HLEN + sizeof(struct ipv6hdr))

/**
 * struct labnic_credit_key - the direction of a connection in which data flows
 * @from: address of the sender, IPv4 mapped into IPv6
 * @to: address of the receiver
 * @sport: port of the sender
 * @dport: port of the receiver
 *
 * Without padding, as it is hashed and compared byte by byte.
 */
struct labnic_credit_key {
	struct in6_addr	from;
	struct in6_addr	to;
	__be16		sport;
	__be16		dport;
};

/**
 * struct labnic_segment - a TCP segment as a card reads it
 * @key: from its sender to its receiver
 * @tcp_at: where its TCP header is, from the frame's first byte
 * @payload_bytes: of it, before a switch trimmed it
 * @frame_bytes: of the whole frame before that, Ethernet header counted
 * @seq: sequence number
 * @ack_seq: acknowledgment number
 * @window: as in the header, scaled
 * @number: the urgent pointer, which says nothing to TCP without URG
 * @has_data: it has payload, or had it before a switch trimmed it
 * @is_trimmed: of its payload something is missing
 * @is_bare: nothing but an acknowledgment
 * @is_pull: that, sent for a number alone; TCP pushes nothing with it
 * @is_syn: of a handshake
 * @is_rst: the connection ends at once
 * @is_fin: the direction ends
 */
struct labnic_segment {
	struct labnic_credit_key	key;
	u32				tcp_at;
	u32				payload_bytes;
	u32				frame_bytes;
	u32				seq;
	u32				ack_seq;
	__be16				window;
	u16				number;
	bool				has_data;
	bool				is_trimmed;
	bool				is_bare;
	bool				is_pull;
	bool				is_syn;
	bool				is_rst;
	bool				is_fin;
};

/**
 * struct labnic_credit_ack - the receiver's newest acknowledgment, for repetition
 * @head: its Ethernet and IP header
 * @head_bytes: length of them; 0: none was sent yet
 * @seq: sequence number
 * @ack_seq: acknowledgment number
 * @window: as in the header, scaled
 */
struct labnic_credit_ack {
	u8	head[LABNIC_CREDIT_HEAD_BYTES];
	u32	head_bytes;
	u32	seq;
	u32	ack_seq;
	__be16	window;
};

/**
 * struct labnic_express - one direction of a connection, with ExpressPass
 * @due: in the receiver's due, while a credit is to be sent
 * @is_due: it is there
 * @due_ns_q16: for when, with a fraction
 * @is_served: the receiver sends credits
 * @rate: how fast
 * @has_acked: the three below hold
 * @acked: newest acknowledgment at the sender's card
 * @seq: end of the newest segment of the receiver's there
 * @window: as that had it
 * @told: number of the newest credit there
 * @is_stopped: the sender wants no more credits, and has said so
 * @stops: it is about to say so
 * @stopped_ns: when it did
 */
struct labnic_express {
	struct timerqueue_node	due;
	bool			is_due;
	u64			due_ns_q16;
	bool			is_served;
	struct express_rate	rate;
	bool			has_acked;
	u32			acked;
	u32			seq;
	__be16			window;
	u16			told;
	bool			is_stopped;
	bool			stops;
	u64			stopped_ns;
};

/**
 * struct labnic_credit_flow - one direction of a connection
 * @node: in the table
 * @key: its addresses and ports
 * @credit: of the receiver's card
 * @waits: in the receiver's wanting or spare, while it has demand
 * @untold: in the receiver's untold, while its sender has not been told of a grant
 * @is_wanting: @waits is in the receiver's wanting
 * @frame_bytes: largest frame so far
 * @payload_bytes: largest payload so far
 * @demand_pkts: packets that came in and for which no credit was granted yet
 * @again_pkts: of them, trimmed ones
 * @granted_pkts: credits granted
 * @wanted_pkts: as many credits would let the sender send all it has, its newest packet says
 * @reported_pkts: credits that the sender's card knows of
 * @seen_pkts: of them, those that its algorithm has asked about
 * @sent_pkts: sent until then
 * @first_pkts: left then of its first window
 * @left_pkts: credits left then; below 0: packets sent without
 * @ack: the receiver's newest acknowledgment
 * @express: state with ExpressPass, whose credits are not counted as above
 * @has_end: a FIN came in
 * @end_seq: the sequence number behind it
 */
struct labnic_credit_flow {
	struct hlist_node		node;
	struct labnic_credit_key	key;
	struct labnic_credit		*credit;
	struct list_head		waits;
	struct list_head		untold;
	bool				is_wanting;
	u32				frame_bytes;
	u32				payload_bytes;
	u32				demand_pkts;
	u32				again_pkts;
	u64				granted_pkts;
	s64				wanted_pkts;
	u64				reported_pkts;
	u64				seen_pkts;
	u32				sent_pkts;
	u32				first_pkts;
	s64				left_pkts;
	struct labnic_credit_ack	ack;
	struct labnic_express		express;
	bool				has_end;
	u32				end_seq;
};

/* labnic_segment.c */
bool labnic_segment_read(const struct sk_buff *skb, u32 ip_at, struct labnic_segment *segment);
bool labnic_segment_number(struct sk_buff *skb, const struct labnic_segment *segment, u16 number);
void labnic_credit_note_ack(const struct sk_buff *skb, const struct labnic_segment *segment,
			    struct labnic_credit_ack *ack);
struct sk_buff *labnic_credit_pull(const struct labnic_credit_ack *ack,
				   const struct labnic_credit_key *key, u16 number,
				   u32 option_bytes);
bool labnic_credit_explain(struct sk_buff *skb, const struct labnic_segment *segment);

/* labnic_credit_table.c */
extern spinlock_t labnic_credit_lock;
u32 labnic_credit_hash(const struct labnic_credit_key *key);
struct labnic_credit_key labnic_credit_reverse(const struct labnic_credit_key *key);
struct labnic_credit_flow *labnic_credit_find(const struct labnic_credit_key *key);
struct labnic_credit_flow *labnic_credit_add(struct labnic_credit *credit,
					     const struct labnic_credit_key *key);
void labnic_credit_remove(struct labnic_credit_flow *flow);
void labnic_credit_remove_all(struct labnic_credit *credit);

/* labnic_express.c: all with labnic_credit_lock, but for the first and the last */
bool labnic_is_express(const struct labnic_credit *credit);
void labnic_express_data(struct labnic_credit_flow *flow, const struct labnic_segment *segment,
			 u64 now_ns);
void labnic_express_acked(struct labnic_credit_flow *flow, u64 now_ns);
void labnic_express_receive(struct labnic_credit_flow *flow, struct labnic_segment *segment);
void labnic_express_stopped(struct labnic_credit_flow *flow, u16 number);
void labnic_express_forget(struct labnic_credit_flow *flow);
void labnic_express_sends(struct labnic_credit_flow *flow);
u16 labnic_express_stops(struct labnic_credit_flow *flow, u64 now_ns);
void labnic_express_transmit(struct labnic_credit_flow *flow, const struct sock *sk,
			     struct quell_labnic_credits *left);
struct sk_buff *labnic_express_next(struct labnic_credit *credit, u64 now_ns);
void labnic_express_arm(struct labnic_credit *credit);
int labnic_express_check(const struct labnic_port *port, const struct quellnic_credit *config,
			 struct netlink_ext_ack *extack);

/* labnic_credit_sock.c */
u32 labnic_credit_pending_pkts(const struct sock *sk);
u32 labnic_credit_wanted_pkts(const struct sock *sk);
struct labnic_credit_key labnic_credit_key_of(const struct sock *sk);

#endif /* _QUELL_LABNIC_CREDIT_H */
