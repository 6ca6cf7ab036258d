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
#include <linux/types.h>

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
 * @is_pull: that, without options
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

/* labnic_segment.c */
bool labnic_segment_read(const struct sk_buff *skb, u32 ip_at, struct labnic_segment *segment);
bool labnic_segment_number(struct sk_buff *skb, const struct labnic_segment *segment, u16 number);
void labnic_credit_note_ack(const struct sk_buff *skb, const struct labnic_segment *segment,
			    struct labnic_credit_ack *ack);
struct sk_buff *labnic_credit_pull(const struct labnic_credit_ack *ack,
				   const struct labnic_credit_key *key, u16 number);
bool labnic_credit_explain(struct sk_buff *skb, const struct labnic_segment *segment);

/* labnic_credit_sock.c */
u32 labnic_credit_wanted_pkts(const struct sock *sk);
struct labnic_credit_key labnic_credit_key_of(const struct sock *sk);

#endif /* _QUELL_LABNIC_CREDIT_H */
