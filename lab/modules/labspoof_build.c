// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labspoof: bytes of a made-up packet, and the shapes drivers and GRO give
 * packets in memory.
 */
#include <linux/ip.h>
#include <linux/mm.h>
#include <net/ip.h>
#include <net/tcp.h>

#include "labspoof.h"

#define HEADROOM_BYTES	128

static u32 payload_bytes(const struct sk_buff *skb)
{
	return skb->len - skb_transport_offset(skb) - tcp_hdrlen(skb);
}

/* Length of the genuine payload that the packet keeps. */
static u32 kept_bytes(const struct labspoof_packet *packet)
{
	return packet->alone ? 0 : payload_bytes(packet->skb);
}

/* The headers of the genuine packet with other options and numbers. */
static void put_headers(struct sk_buff *skb, const struct labspoof_packet *packet)
{
	u32 tcp_bytes = sizeof(struct tcphdr) + packet->options_bytes;
	struct tcphdr *th;
	struct iphdr *iph;

	iph = skb_put_data(skb, ip_hdr(packet->skb), sizeof(*iph));
	iph->ihl = sizeof(*iph) / 4;
	iph->tot_len = htons(sizeof(*iph) + tcp_bytes + kept_bytes(packet));
	ip_send_check(iph);
	th = skb_put_data(skb, tcp_hdr(packet->skb), sizeof(*th));
	th->seq = htonl(packet->seq);
	th->ack_seq = htonl(packet->ack_seq);
	th->doff = packet->doff ?: tcp_bytes / 4;
	th->check = 0;
	if (packet->alone) {
		tcp_flag_word(th) &= ~(TCP_FLAG_PSH | TCP_FLAG_URG | TCP_FLAG_ECE | TCP_FLAG_CWR);
		th->ack = !packet->bare;
	}
	if (packet->flagless)
		((u8 *)th)[13] = 0;
	skb_put_data(skb, packet->options, packet->options_bytes);
}

static void put_checksum(struct sk_buff *skb, enum labspoof_sum sum)
{
	u32 tcp_bytes = skb->len - sizeof(struct iphdr);
	struct tcphdr *th = tcp_hdr(skb);
	__wsum whole;

	th->check = tcp_v4_check(tcp_bytes, ip_hdr(skb)->saddr, ip_hdr(skb)->daddr,
				 csum_partial(th, tcp_bytes, 0));
	/* XOR with 1..0xfffe: 0xffff could turn one zero of the sum into the other. */
	if (sum != LABSPOOF_SUM_RIGHT)
		th->check = (__force __sum16)((__force u16)th->check ^
					      (1 + labspoof_random(0xfffe)));
	skb->ip_summed = CHECKSUM_NONE;
	if (sum == LABSPOOF_SUM_WRONG_TRUSTED)
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	if (sum == LABSPOOF_SUM_WRONG_COMPLETE) {
		whole = csum_partial(skb->data, skb->len, 0);
		skb->csum = whole;
		skb->ip_summed = CHECKSUM_COMPLETE;
	}
}

/* Linear, from the network header on; NULL if out of memory. */
struct sk_buff *labspoof_build(const struct labspoof_packet *packet)
{
	u32 offset = skb_transport_offset(packet->skb) + tcp_hdrlen(packet->skb);
	u32 payload = kept_bytes(packet);
	struct sk_buff *skb;

	skb = alloc_skb(HEADROOM_BYTES + sizeof(struct iphdr) + sizeof(struct tcphdr) +
			packet->options_bytes + payload, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, HEADROOM_BYTES);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, sizeof(struct iphdr));
	put_headers(skb, packet);
	if (skb_copy_bits(packet->skb, offset, skb_put(skb, payload), payload)) {
		kfree_skb(skb);
		return NULL;
	}
	put_checksum(skb, packet->sum);
	skb->dev = packet->skb->dev;
	skb->skb_iif = packet->skb->skb_iif;
	skb->protocol = htons(ETH_P_IP);
	skb->pkt_type = PACKET_HOST;
	skb->mac_len = 0;
	return skb;
}

/* Move all but the first @linear bytes into a page, options or not. */
static bool into_page(struct sk_buff *skb, u32 linear)
{
	u32 bytes = skb->len - linear;
	struct page *page;

	page = alloc_page(GFP_ATOMIC);
	if (!page)
		return false;
	skb_copy_bits(skb, linear, page_address(page), bytes);
	__skb_trim(skb, linear);
	skb_add_rx_frag(skb, 0, page, 0, bytes, PAGE_SIZE);
	return true;
}

static void mark_gso(struct sk_buff *skb)
{
	u32 payload = payload_bytes(skb);

	skb_shinfo(skb)->gso_size = payload / 2;
	skb_shinfo(skb)->gso_segs = 2;
	skb_shinfo(skb)->gso_type = SKB_GSO_TCPV4;
}

/*
 * Give a packet one of the layouts that drivers and GRO produce.  Any part of it, headers included,
 * may lie in a page; it may share its data with a clone, as under tcpdump; it may be marked as
 * merged by GRO.  Returns the clone, to be freed by the caller, or NULL.
 */
struct sk_buff *labspoof_dress(struct sk_buff *skb)
{
	u32 tcp_at = sizeof(struct iphdr);
	u32 header = tcp_at + tcp_hdrlen(skb);
	bool right = tcp_hdrlen(skb) >= sizeof(struct tcphdr) && header <= skb->len;

	if (right && payload_bytes(skb) > 1 && !labspoof_random(4))
		mark_gso(skb);
	switch (labspoof_random(4)) {
	case 0:		/* from somewhere in the headers on */
		if (right)
			into_page(skb, tcp_at + labspoof_random(header - tcp_at));
		break;
	case 1:		/* from the payload on, as most drivers do */
		if (right && skb->len > header)
			into_page(skb, header);
		break;
	}
	return labspoof_random(3) ? NULL : skb_clone(skb, GFP_ATOMIC);
}
