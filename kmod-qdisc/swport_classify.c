// SPDX-License-Identifier: GPL-2.0
/*
 * Selects the packets for the control band: small ones that congestion control
 * or the network itself needs in time.
 *
 *	ARP, IGMP, IPv6 neighbour discovery, MLD
 *	what this host sends with TC_PRIO_CONTROL, as the kernel does LACP, STP, IGMP and
 *	MLD; programs need CAP_NET_ADMIN for that
 *	frames to a group address that no bridge forwards (IEEE 802.1Q, table 8-1: STP,
 *	LACP, EAPOL, LLDP, PTP's peer delay), other PTP and EAPOL
 *	DSCP CS6 and CS7 (network control: routing protocols, BFD)
 *	TCP segments that are pure ACKs, without payload
 *
 * SYN, FIN and RST stay with the data: overtaking it they would open or close
 * a connection out of order.  The transport header is not parsed for IP fragments and
 * IPv6 packets with extension headers.
 */
#include <linux/etherdevice.h>
#include <linux/icmpv6.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_sched.h>
#include <linux/tcp.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ipv6.h>
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
	if (iph->tos >> SWPORT_DSCP_SHIFT >= SWPORT_DSCP_CS6 ||
	    iph->protocol == IPPROTO_IGMP)
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

/*
 * MLD comes behind a hop-by-hop header of eight bytes, with the router alert (RFC 3810,
 * section 5).
 */
static bool swport_is_mld(const struct sk_buff *skb, int offset)
{
	struct {
		struct ipv6_hopopt_hdr hop;
		u8 options[6];
		struct icmp6hdr icmp;
	} buf, *header;

	header = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	if (!header || header->hop.nexthdr != IPPROTO_ICMPV6 || header->hop.hdrlen)
		return false;
	switch (header->icmp.icmp6_type) {
	case ICMPV6_MGM_QUERY:
	case ICMPV6_MGM_REPORT:
	case ICMPV6_MGM_REDUCTION:
	case ICMPV6_MLD2_REPORT:
		return true;
	default:
		return false;
	}
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
	if (ip6h->nexthdr == NEXTHDR_HOP)
		return swport_is_mld(skb, offset);
	if (ip6h->nexthdr == IPPROTO_ICMPV6)
		return swport_is_neighbour_discovery(skb, offset);
	return ip6h->nexthdr == IPPROTO_TCP &&
	       swport_is_pure_ack(skb, offset, ntohs(ip6h->payload_len));
}

/* Is the frame for the neighbours on this cable alone? */
static bool swport_is_link_local(const struct sk_buff *skb)
{
	return skb->dev->type == ARPHRD_ETHER && skb_mac_header_was_set(skb) &&
	       is_link_local_ether_addr(eth_hdr(skb)->h_dest);
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
	if (skb->priority == TC_PRIO_CONTROL)
		return true;
	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_ARP):
	case htons(ETH_P_1588):
	case htons(ETH_P_PAE):
		return true;
	case htons(ETH_P_IP):
		return swport_ipv4_is_control(skb);
	case htons(ETH_P_IPV6):
		return swport_ipv6_is_control(skb);
	default:
		return swport_is_link_local(skb);
	}
}
