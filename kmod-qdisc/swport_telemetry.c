// SPDX-License-Identifier: GPL-2.0
/*
 * Telemetry: the record of the most loaded hop, in data packets that have room.
 *
 * A sender that wants path telemetry leaves an empty record in the Quell
 * TCP option (Documentation/wire-format.md).  Each port writes its own record there if
 * its link is more loaded than that of the record it finds: compare and replace.
 *
 * Only packets with PSH get one, those that ask for an ACK: of a burst the last.  The
 * others of the burst stay equal, and a receiver's GRO merges them.  A super-packet that
 * would get one is cut, for its last segment only.
 *
 *	hop		routers from the sender, by the time to live: the first is 1; of a tunnel
 *			those before it and those under way in it
 *	load		quell/core/port/portload.h, as this packet leaves
 *	link rate	`rate`, or the device's speed
 *	queue		the data band without this packet
 *	bytes sent	by this port before this packet, with their overhead
 *	time		this packet leaves the port, CLOCK_MONOTONIC
 *
 * Bytes and time are of the same moment: the bytes between two records are exactly
 * those the wire carried between their times.
 *
 * Only the record and the checksum change, not the length or any other field.
 * Left alone: packets without PSH or the record, packets this host sends itself, SYNs,
 * IP fragments, IPv6 packets with extension headers before TCP, and malformed
 * packets.
 */
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/tcp.h>
#include <quell/option.h>

#include "swport.h"

/* Offset of the byte with the flags, CWR to FIN, in a TCP header. */
#define SWPORT_TCP_FLAGS_AT	13U

/**
 * quell_swport_options() - find the TCP options of a packet
 * @skb: packet, noted by quell_swport_note()
 * @buf: SWPORT_TCP_OPTIONS_MAX bytes, for options that are not linear
 * @bytes: set to their length, more than 0
 *
 * Context: any.
 * Return: the options; NULL for a SYN, a packet without options, and one that is not TCP.
 */
const u8 *quell_swport_options(const struct sk_buff *skb, u8 *buf, u32 *bytes)
{
	const struct swport_cb *cb = swport_cb(skb);

	if (!cb->option_bytes)
		return NULL;
	*bytes = cb->option_bytes;
	return skb_header_pointer(skb, cb->tcp_at + sizeof(struct tcphdr), *bytes, buf);
}

/* Whether the sender asks for an ACK of the packet. */
static bool swport_is_pushed(const struct sk_buff *skb)
{
	u32 flags_at = swport_cb(skb)->tcp_at + SWPORT_TCP_FLAGS_AT;
	const u8 *flags;
	u8 buf;

	flags = skb_header_pointer(skb, flags_at, sizeof(buf), &buf);
	return flags && *flags & TCPHDR_PSH;
}

/**
 * struct swport_found - the record of a packet that this port's may replace
 * @at:	    its offset
 * @hop:    number of this port's hop
 * @record: the record, valid until the packet is made writable
 * @buf:    for options that are not linear
 */
struct swport_found {
	u32		at;
	u8		hop;
	const u8	*record;
	u8		buf[SWPORT_TCP_OPTIONS_MAX];
};

static bool swport_find_record(const struct swport_sched *port, const struct sk_buff *skb,
			       struct swport_found *found)
{
	u32 at, in_option, bytes, stated = 0;
	const u8 *options;

	if (!port->link.bytes_ps || !swport_cb(skb)->option_bytes)
		return false;
	found->hop = quell_swport_hops(skb);
	if (!found->hop || !swport_is_pushed(skb))
		return false;
	options = quell_swport_options(skb, found->buf, &bytes);
	if (!options)
		return false;
	at = quell_opt_find(options, bytes, &stated);
	in_option = at < bytes ? quell_opt_telemetry_at(options + at, stated) : 0;
	if (!in_option)
		return false;
	found->record = options + at + in_option;
	found->at = swport_cb(skb)->tcp_at + sizeof(struct tcphdr) + at + in_option;
	return true;
}

/**
 * quell_swport_rewrite() - replace bytes of a TCP segment's options, and update its checksum
 * @skb: packet, writable up to the end of the bytes
 * @at: offset of the bytes
 * @from: their new values
 * @bytes: how many, a multiple of four
 *
 * At an odd offset, which our senders never use, the bytes enter the checksum
 * byte-swapped.  A checksum still to be computed, by a device or from
 * skb->csum, needs no update.
 *
 * Context: any; @skb must be writable.
 */
void quell_swport_rewrite(struct sk_buff *skb, u32 at, const u8 *from, u32 bytes)
{
	u32 tcp_at = swport_cb(skb)->tcp_at;
	struct tcphdr *th = (struct tcphdr *)(skb->data + tcp_at);
	u8 *to = skb->data + at;
	__wsum was, now, diff = 0;
	u32 i;

	/* Else a checksum that is left to the device is that of a header outside of the tunnel. */
	if (skb->ip_summed != CHECKSUM_PARTIAL || skb_checksum_start_offset(skb) != tcp_at) {
		for (i = 0; i < bytes; i += sizeof(u32)) {
			memcpy(&now, from + i, sizeof(now));
			memcpy(&was, to + i, sizeof(was));
			diff = csum_sub(csum_add(diff, now), was);
		}
		csum_replace_by_diff(&th->check, csum_shift(diff, at - tcp_at));
	}
	memcpy(to, from, bytes);
}

/* The record of a port; the number of the hop is the packet's. */
static struct quell_telemetry swport_record(const struct swport_sched *port, u8 hop, u64 now_ns)
{
	return (struct quell_telemetry) {
		.link_bytes_ps = port->link.bytes_ps,
		.queue_bytes = swport_queue_bytes(port),
		.tx_units = quell_portload_tx_units(&port->link.load),
		.time_ns = now_ns & QUELL_TELEMETRY_TIME_MASK,
		.hop = hop,
	};
}

/**
 * quell_swport_stamp_is_due() - must a super-packet be cut for its record?
 * @port: the switch port, with telemetry on and its load advanced to now
 * @skb: first packet of the data band, and a super-packet
 *
 * Context: softirq, qdisc lock held; does not write to @skb.
 * Return: true when its last segment, leaving now, would get this port's record.
 */
bool quell_swport_stamp_is_due(const struct swport_sched *port, const struct sk_buff *skb)
{
	u32 queue_bytes = swport_queue_bytes(port) - qdisc_pkt_len(skb);
	struct swport_found found;

	return swport_find_record(port, skb, &found) &&
	       quell_telemetry_replaces(quell_portload_q16(&port->link.load,
							   &port->link.load_params,
							   queue_bytes), found.record);
}

/**
 * quell_swport_stamp() - write the port's record into a packet of the data band
 * @port: the switch port, with telemetry on and its load advanced to @now_ns
 * @skb: packet that leaves; a super-packet only where it could not be cut, or need not be
 * @now_ns: time
 *
 * The record is made writable first, for it may be shared with TCP's
 * retransmission queue or a packet capture.  If there is no memory for that,
 * the packet goes on unchanged.
 *
 * Context: softirq, qdisc lock held.
 */
void quell_swport_stamp(struct swport_sched *port, struct sk_buff *skb, u64 now_ns)
{
	struct swport_link *link = &port->link;
	u8 wire[QUELL_TELEMETRY_BYTES];
	struct quell_telemetry record;
	struct swport_found found;
	u64 load_q16;

	if (!swport_find_record(port, skb, &found))
		return;
	load_q16 = quell_portload_q16(&link->load, &link->load_params, swport_queue_bytes(port));
	if (!quell_telemetry_replaces(load_q16, found.record)) {
		link->keep_pkts++;
		return;
	}
	if (swport_cb(skb)->segments > 1 || skb_ensure_writable(skb, found.at + sizeof(wire))) {
		link->stamp_fail_pkts++;
		return;
	}
	record = swport_record(port, found.hop, now_ns);
	quell_telemetry_encode(&record, load_q16, wire);
	quell_swport_rewrite(skb, found.at, wire, sizeof(wire));
	link->stamp_pkts++;
}
