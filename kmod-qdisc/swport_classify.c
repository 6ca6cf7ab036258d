// SPDX-License-Identifier: GPL-2.0
/*
 * Selects the packets for the control band: small ones that congestion control
 * or the network itself needs in time.
 *
 *	ARP and IPv6 neighbour discovery
 *	DSCP CS6 and CS7 (network control: routing protocols)
 *	TCP segments that are pure ACKs, without payload
 *
 * SYN, FIN and RST stay with the data: overtaking it they would open or close
 * a connection out of order.  The transport header is not parsed for IP fragments and
 * IPv6 packets with extension headers.
 */
#include <linux/icmpv6.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ndisc.h>

#include "swport.h"

#define SWPORT_DSCP_SHIFT	2
#define SWPORT_DSCP_CS6		48

/* Is the TCP segment of tcp_bytes at offset a pure ACK? */
static bool swport_is_pure_ack(const struct sk_buff *skb, int offset,
			       u32 tcp_bytes)
{
	const struct tcphdr *th;
	struct tcphdr buf;

	th = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	if (!th)
		return false;
	return th->ack && !th->syn && !th->fin && !th->rst &&
	       tcp_bytes == th->doff * 4;
}

static bool swport_ipv4_is_control(const struct sk_buff *skb)
{
	int offset = skb_network_offset(skb);
	const struct iphdr *iph;
	struct iphdr buf;

	iph = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	if (!iph)
		return false;
	if (iph->tos >> SWPORT_DSCP_SHIFT >= SWPORT_DSCP_CS6)
		return true;
	if (iph->protocol != IPPROTO_TCP || ip_is_fragment(iph))
		return false;
	return swport_is_pure_ack(skb, offset + iph->ihl * 4,
				  ntohs(iph->tot_len) - iph->ihl * 4);
}

static bool swport_is_neighbour_discovery(const struct sk_buff *skb, int offset)
{
	const struct icmp6hdr *icmp;
	struct icmp6hdr buf;

	icmp = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	return icmp && icmp->icmp6_type >= NDISC_ROUTER_SOLICITATION &&
	       icmp->icmp6_type <= NDISC_REDIRECT;
}

static bool swport_ipv6_is_control(const struct sk_buff *skb)
{
	int offset = skb_network_offset(skb);
	const struct ipv6hdr *ip6h;
	struct ipv6hdr buf;

	ip6h = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	if (!ip6h)
		return false;
	if (ipv6_get_dsfield(ip6h) >> SWPORT_DSCP_SHIFT >= SWPORT_DSCP_CS6)
		return true;
	offset += sizeof(*ip6h);
	if (ip6h->nexthdr == IPPROTO_ICMPV6)
		return swport_is_neighbour_discovery(skb, offset);
	return ip6h->nexthdr == IPPROTO_TCP &&
	       swport_is_pure_ack(skb, offset, ntohs(ip6h->payload_len));
}

/**
 * quell_swport_is_control() - does the packet belong in the control band?
 * @skb: a wire packet, network header set, VLAN tags allowed
 *
 * Context: softirq; does not write to @skb.
 * Return: true for the control band, false for the data band.
 */
bool quell_swport_is_control(const struct sk_buff *skb)
{
	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_ARP):
		return true;
	case htons(ETH_P_IP):
		return swport_ipv4_is_control(skb);
	case htons(ETH_P_IPV6):
		return swport_ipv6_is_control(skb);
	default:
		return false;
	}
}
