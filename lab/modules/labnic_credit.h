/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labnic: credits of receivers, shared declarations.
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

/*
 * The direction of a connection in which data flows.  Without padding, as it is hashed and compared
 * byte by byte.
 */
struct labnic_credit_key {
	struct in6_addr	from;	/* address of the sender, IPv4 mapped into IPv6 */
	struct in6_addr	to;	/* address of the receiver */
	__be16		sport;	/* port of the sender */
	__be16		dport;	/* port of the receiver */
};

/* A TCP segment as a card reads it. */
struct labnic_segment {
	struct labnic_credit_key	key;	/* from its sender to its receiver */
	/* Where its TCP header is, from the frame's first byte. */
	u32				tcp_at;
	u32				payload_bytes;	/* of it, before a switch trimmed it */
	/* Of the whole frame before that, Ethernet header counted. */
	u32				frame_bytes;
	u32				seq;	/* sequence number */
	u32				ack_seq;	/* acknowledgment number */
	__be16				window;	/* as in the header, scaled */
	/* The urgent pointer, which TCP ignores without URG. */
	u16				number;
	/* It has payload, or had it before a switch trimmed it. */
	bool				has_data;
	bool				is_trimmed;	/* of its payload something is missing */
	bool				is_bare;	/* an acknowledgment alone */
	/* That, sent for a number alone; TCP sends no data with it. */
	bool				is_pull;
	bool				is_syn;	/* of a handshake */
	bool				is_rst;	/* the connection ends at once */
	bool				is_fin;	/* the direction ends */
};

/* The receiver's newest acknowledgment, for repetition. */
struct labnic_credit_ack {
	u8	head[LABNIC_CREDIT_HEAD_BYTES];	/* its Ethernet and IP header */
	u32	head_bytes;	/* length of them; 0: not sent yet */
	u32	seq;	/* sequence number */
	u32	ack_seq;	/* acknowledgment number */
	__be16	window;	/* as in the header, scaled */
};

/* One direction of a connection, with ExpressPass. */
struct labnic_express {
	struct timerqueue_node	due;	/* in the receiver's due, while a credit is to be sent */
	bool			is_due;	/* it is there */
	u64			due_ns_q16;	/* for when, with a fraction */
	bool			is_served;	/* the receiver sends credits */
	struct express_rate	rate;	/* how fast */
	bool			has_acked;	/* the three below hold */
	u32			acked;	/* newest acknowledgment at the sender's card */
	u32			seq;	/* end of the newest segment of the receiver's there */
	__be16			window;	/* as that had it */
	u16			told;	/* number of the newest credit there */
	/* The sender wants no more credits, and has said so. */
	bool			is_stopped;
	bool			stops;	/* it is about to say so */
	u64			stopped_ns;	/* when it did */
};

/*
 * One direction of a connection, once at the card of its receiver and once at that of its sender,
 * which may be in another part of the network.
 */
struct labnic_credit_flow {
	struct hlist_node		node;	/* in the table */
	struct labnic_credit_key	key;	/* its addresses and ports */
	bool				is_sender;	/* at the sender's card */
	struct labnic_credit		*credit;	/* of that card */
	/* In the receiver's wanting or spare, while it has demand. */
	struct list_head		waits;
	/* In the receiver's untold, until its sender is notified of a grant. */
	struct list_head		untold;
	bool				is_wanting;	/* @waits is in the receiver's wanting */
	u32				frame_bytes;	/* largest frame so far */
	u32				payload_bytes;	/* largest payload so far */
	/* Packets that came in and for which no credit was granted yet. */
	u32				demand_pkts;
	u32				again_pkts;	/* of them, trimmed ones */
	u64				granted_pkts;	/* credits granted */
	/* As many credits would let the sender send all it has, its newest packet says. */
	s64				wanted_pkts;
	/* From here to @left_pkts at the sender.  Credits that it was notified of. */
	u64				reported_pkts;
	/* Of them, those that its algorithm has asked about. */
	u64				seen_pkts;
	u32				sent_pkts;	/* sent until then */
	u32				first_pkts;	/* left then of its first window */
	/* Credits left then; below 0: packets sent without. */
	s64				left_pkts;
	struct labnic_credit_ack	ack;	/* the receiver's newest acknowledgment */
	/* State with ExpressPass, which does not count credits as above. */
	struct labnic_express		express;
	bool				has_end;	/* a FIN was received, or sent */
	u32				end_seq;	/* the sequence number behind it */
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
struct labnic_credit_flow *labnic_credit_find(const struct labnic_credit_key *key,
					      bool is_sender);
struct labnic_credit_flow *labnic_credit_add(struct labnic_credit *credit,
					     const struct labnic_credit_key *key, bool is_sender);
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
