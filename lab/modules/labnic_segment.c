// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: TCP segments as the cards of labnic_credit.c read, number and repeat them.
 *
 * A number travels in the urgent pointer, which TCP does not look at without URG.  It so takes no
 * room from options, and packets are as long as without credits.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>
#include <quell/option.h>

#include "labnic_credit.h"

#define SEGMENT_OPTIONS_MAX	40U

/* Addresses, and the length of the whole packet; 0 for other packets than TCP. */
static u32 segment_read_ip4(const struct sk_buff *skb, u32 at, struct labnic_segment *segment)
{
	const struct iphdr *iph;
	struct iphdr buffer;

	iph = skb_header_pointer(skb, at, sizeof(buffer), &buffer);
	if (!iph || iph->protocol != IPPROTO_TCP || iph->ihl * 4 != sizeof(*iph) ||
	    ip_is_fragment(iph))
		return 0;
	ipv6_addr_set_v4mapped(iph->saddr, &segment->key.from);
	ipv6_addr_set_v4mapped(iph->daddr, &segment->key.to);
	segment->tcp_at = at + sizeof(*iph);
	return ntohs(iph->tot_len);
}

static u32 segment_read_ip6(const struct sk_buff *skb, u32 at, struct labnic_segment *segment)
{
	const struct ipv6hdr *ip6h;
	struct ipv6hdr buffer;

	ip6h = skb_header_pointer(skb, at, sizeof(buffer), &buffer);
	if (!ip6h || ip6h->nexthdr != IPPROTO_TCP)
		return 0;
	segment->key.from = ip6h->saddr;
	segment->key.to = ip6h->daddr;
	segment->tcp_at = at + sizeof(*ip6h);
	return sizeof(*ip6h) + ntohs(ip6h->payload_len);
}

/* The length before any trimming by the sender's Quell option; 0 without. */
static u32 segment_stated_bytes(const struct sk_buff *skb, u32 at, u32 bytes)
{
	u8 buffer[SEGMENT_OPTIONS_MAX];
	struct quell_opt opt;
	const u8 *options;
	u32 found, stated;

	options = skb_header_pointer(skb, at, bytes, buffer);
	if (!options)
		return 0;
	found = quell_opt_find(options, bytes, &stated);
	if (found == bytes || !quell_opt_decode(options + found, stated, false, &opt) ||
	    opt.form != QUELL_OPT_FULL || !(opt.flags & QUELL_OPT_F_DATA))
		return 0;
	return opt.payload_bytes;
}

/* False for anything but a whole TCP header behind IPv4 without options, or IPv6. */
bool labnic_segment_read(const struct sk_buff *skb, u32 ip_at, struct labnic_segment *segment)
{
	bool is_ip4 = skb->protocol == htons(ETH_P_IP);
	const struct tcphdr *th;
	u32 bytes, header_bytes, stated_bytes = 0;
	struct tcphdr buffer;

	if (!is_ip4 && skb->protocol != htons(ETH_P_IPV6))
		return false;
	*segment = (struct labnic_segment) { .frame_bytes = skb->len - ip_at + ETH_HLEN };
	bytes = is_ip4 ? segment_read_ip4(skb, ip_at, segment) :
			 segment_read_ip6(skb, ip_at, segment);
	th = bytes ? skb_header_pointer(skb, segment->tcp_at, sizeof(buffer), &buffer) : NULL;
	if (!th)
		return false;
	header_bytes = segment->tcp_at - ip_at + th->doff * 4;
	if (th->doff * 4 < sizeof(*th) || bytes < header_bytes)
		return false;
	segment->key.sport = th->source;
	segment->key.dport = th->dest;
	segment->payload_bytes = bytes - header_bytes;
	segment->seq = ntohl(th->seq);
	segment->ack_seq = ntohl(th->ack_seq);
	segment->window = th->window;
	segment->number = ntohs(th->urg_ptr);
	segment->is_syn = th->syn;
	segment->is_rst = th->rst;
	segment->is_fin = th->fin;
	if (!th->syn && th->doff * 4 > sizeof(*th))
		stated_bytes = segment_stated_bytes(skb, segment->tcp_at + sizeof(*th),
						    th->doff * 4 - sizeof(*th));
	segment->is_trimmed = segment->payload_bytes < stated_bytes;
	if (segment->is_trimmed) {
		segment->frame_bytes += stated_bytes - segment->payload_bytes;
		segment->payload_bytes = stated_bytes;
	}
	segment->has_data = segment->payload_bytes;
	segment->is_bare = !segment->has_data && !th->syn && !th->rst && !th->fin && th->ack;
	segment->is_pull = segment->is_bare && th->psh;
	return true;
}

/*
 * Write a number into a frame that is about to leave.  A checksum that is left to the card is not
 * changed, for the card makes it.  Returns false without memory.
 */
bool labnic_segment_number(struct sk_buff *skb, const struct labnic_segment *segment, u16 number)
{
	__be16 changed = htons(number), previous;
	struct tcphdr *th;

	if (skb_ensure_writable(skb, segment->tcp_at + sizeof(*th)))
		return false;
	th = (struct tcphdr *)(skb->data + segment->tcp_at);
	previous = th->urg_ptr;
	th->urg_ptr = changed;
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		inet_proto_csum_replace2(&th->check, skb, previous, changed, false);
	return true;
}

/* Keep a copy of an acknowledgment, to repeat it. */
void labnic_credit_note_ack(const struct sk_buff *skb, const struct labnic_segment *segment,
			    struct labnic_credit_ack *ack)
{
	ack->head_bytes = 0;
	if (segment->tcp_at > sizeof(ack->head) ||
	    skb_copy_bits(skb, 0, ack->head, segment->tcp_at))
		return;
	ack->head_bytes = segment->tcp_at;
	ack->seq = segment->seq;
	ack->ack_seq = segment->ack_seq;
	ack->window = segment->window;
}

/* Lengths and checksums of a packet that ends with its TCP header. */
static void pull_finish(struct sk_buff *skb, struct tcphdr *th)
{
	u32 bytes = th->doff * 4;
	__wsum sum;

	th->check = 0;
	sum = csum_partial(th, bytes, 0);
	if (skb->protocol == htons(ETH_P_IP)) {
		ip_hdr(skb)->tot_len = htons(sizeof(struct iphdr) + bytes);
		ip_send_check(ip_hdr(skb));
		th->check = tcp_v4_check(bytes, ip_hdr(skb)->saddr, ip_hdr(skb)->daddr, sum);
	} else {
		ipv6_hdr(skb)->payload_len = htons(bytes);
		th->check = tcp_v6_check(bytes, &ipv6_hdr(skb)->saddr, &ipv6_hdr(skb)->daddr, sum);
	}
	skb->ip_summed = CHECKSUM_NONE;
}

/*
 * An acknowledgment with a number alone: repeats the newest, without its options, which are about
 * packets that came in.
 */
struct sk_buff *labnic_credit_pull(const struct labnic_credit_ack *ack,
				   const struct labnic_credit_key *key, u16 number,
				   u32 option_bytes)
{
	u32 bytes = ack->head_bytes + sizeof(struct tcphdr) + option_bytes;
	struct tcphdr *th;
	struct sk_buff *skb;

	skb = alloc_skb(LL_MAX_HEADER + bytes + QUELL_OPT_HEAD_BYTES, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, LL_MAX_HEADER);
	skb_put_data(skb, ack->head, ack->head_bytes);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb_set_transport_header(skb, ack->head_bytes);
	skb->protocol = eth_hdr(skb)->h_proto;
	th = skb_put_zero(skb, sizeof(*th));
	th->source = key->dport;
	th->dest = key->sport;
	th->seq = htonl(ack->seq);
	th->ack_seq = htonl(ack->ack_seq);
	th->doff = (sizeof(*th) + option_bytes) / 4;
	th->ack = 1;
	th->psh = 1;
	th->window = ack->window;
	th->urg_ptr = htons(number);
	memset(skb_put(skb, option_bytes), TCPOPT_NOP, option_bytes);
	pull_finish(skb, th);
	return skb;
}

/*
 * Put an empty Quell option into a pull that came in, and no other.  quell.ko takes many
 * acknowledgments in a row that have room for its option, but lack it, for those of a path that
 * strips it, and gives it up.  A card with credits would keep pulls to itself; on the wire they are
 * as long as without it.  Returns false without memory.
 */
bool labnic_credit_explain(struct sk_buff *skb, const struct labnic_segment *segment)
{
	const struct quell_opt empty = { .form = QUELL_OPT_FULL };
	u8 options[SEGMENT_OPTIONS_MAX] = { };
	u32 end = segment->tcp_at + sizeof(struct tcphdr), bytes;
	struct tcphdr *th;

	bytes = quell_opt_encode(&empty, options);
	if (skb->len < end || pskb_trim(skb, end) || skb_linearize(skb) ||
	    skb_ensure_writable(skb, end) ||
	    (skb_tailroom(skb) < bytes && pskb_expand_head(skb, 0, bytes, GFP_ATOMIC)))
		return false;
	skb_reset_network_header(skb);
	skb_put_data(skb, options, bytes);
	th = (struct tcphdr *)(skb->data + segment->tcp_at);
	th->seq = htonl(segment->seq);
	th->ack_seq = htonl(segment->ack_seq);
	th->window = segment->window;
	th->doff = (sizeof(*th) + bytes) / 4;
	pull_finish(skb, th);
	return true;
}
