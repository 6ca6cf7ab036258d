// SPDX-License-Identifier: GPL-2.0
/*
 * A cable that drops, trims or falsifies data packets by number, so that a test knows
 * in advance which packets it hits.  Switches trim in kmod-qdisc; this is a minimal version: it
 * removes the payload and the FIN flag, corrects the lengths and the checksum, and
 * leaves all else alone, even the payload length stated in the packet's option.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>
#include "labnic.h"

/* Length of the network header of a TCP packet; 0 for other packets. */
static u32 trim_ip_bytes(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP) && ip_hdr(skb)->protocol == IPPROTO_TCP)
		return ip_hdrlen(skb);
	if (skb->protocol == htons(ETH_P_IPV6) && ipv6_hdr(skb)->nexthdr == IPPROTO_TCP)
		return sizeof(struct ipv6hdr);
	return 0;
}

/* Length of all headers of a TCP packet with payload; 0 for other packets. */
static u32 trim_header_bytes(const struct sk_buff *skb, u32 ip_bytes)
{
	u32 at = skb_network_offset(skb);
	struct tcphdr buffer;
	const struct tcphdr *th;
	u32 bytes;

	if (!ip_bytes)
		return 0;
	th = skb_header_pointer(skb, at + ip_bytes, sizeof(buffer), &buffer);
	bytes = th ? at + ip_bytes + th->doff * 4 : 0;
	return bytes < skb->len ? bytes : 0;
}

static void trim_fix(struct sk_buff *skb, u32 ip_bytes)
{
	struct tcphdr *th = (struct tcphdr *)(skb_network_header(skb) + ip_bytes);
	u32 tcp_bytes = th->doff * 4;
	__wsum sum;

	th->fin = 0;
	th->check = 0;
	sum = csum_partial(th, tcp_bytes, 0);
	if (skb->protocol == htons(ETH_P_IP)) {
		ip_hdr(skb)->tot_len = htons(ip_bytes + tcp_bytes);
		ip_send_check(ip_hdr(skb));
		th->check = tcp_v4_check(tcp_bytes, ip_hdr(skb)->saddr, ip_hdr(skb)->daddr, sum);
	} else {
		ipv6_hdr(skb)->payload_len = htons(tcp_bytes);
		th->check = tcp_v6_check(tcp_bytes, &ipv6_hdr(skb)->saddr,
					 &ipv6_hdr(skb)->daddr, sum);
	}
	skb->ip_summed = CHECKSUM_NONE;
}

static bool trim_hits(u64 number, u64 first, u64 every, u64 pkts)
{
	return first && number >= first && (number - first) % every == 0 &&
	       (number - first) / every < pkts;
}

/*
 * Change a byte of the payload, in memory of this packet alone; false without memory.
 * Nobody notices by the checksum, which is left to the card.
 */
static bool trim_corrupt(struct sk_buff *skb, u32 at)
{
	if (at >= skb->len)
		return true;
	if (skb_unclone(skb, GFP_ATOMIC) || skb_ensure_writable(skb, at + 1))
		return false;
	skb->data[at] ^= 1;
	return true;
}

/*
 * Drop, trim or falsify a frame as configured for the cable.  Returns false when the frame is lost;
 * it may be trimmed or false otherwise.
 */
bool labnic_trim(struct labnic_port *port, struct sk_buff *skb)
{
	u32 ip_bytes, header_bytes;

	if (likely(!port->drop_first && !port->trim_first && !port->corrupt_pkt))
		return true;
	ip_bytes = trim_ip_bytes(skb);
	header_bytes = trim_header_bytes(skb, ip_bytes);
	if (!header_bytes)
		return true;
	port->data_pkts++;
	if (trim_hits(port->data_pkts, port->drop_first, 1, port->drop_pkts))
		return false;
	if (port->data_pkts == port->corrupt_pkt)
		return trim_corrupt(skb, header_bytes + port->corrupt_at);
	if (!trim_hits(port->data_pkts, port->trim_first, port->trim_every, port->trim_pkts))
		return true;
	if (skb_unclone(skb, GFP_ATOMIC) || skb_ensure_writable(skb, header_bytes) ||
	    pskb_trim(skb, header_bytes))
		return false;
	trim_fix(skb, ip_bytes);
	return true;
}
