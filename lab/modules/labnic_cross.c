// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: packets from one part of a network to another (labnic_part.c).
 *
 * Of each pair of parts one buffer is filled between two barriers, while the other one, of the
 * barrier before, is emptied.  So a buffer has one user at any time.  The block of payload that
 * all parts have is not copied: packets refer to it by an offset.
 */
#include <linux/etherdevice.h>
#include <linux/skbuff.h>
#include <linux/xarray.h>

#include "labnic.h"
#include "labnic_cross.h"
#include "labnic_part.h"

/* A packet; with @key 0 a head alone, before a struct quell_part_note. */
struct part_record {
	u32	bytes;		/* of the record, a multiple of 8 */
	u32	key;		/* number of a direction of a cable */
	u64	arrive_ns;	/* when its last bit arrives */
	u32	truesize;
	u32	head_bytes;	/* size of the memory of the linear part */
	u32	hash;
	u16	headroom;
	u16	linear_bytes;	/* in the record, behind it */
	u16	copied_bytes;	/* payload behind those; else it refers to the block */
	u16	csum_start;
	u16	csum_offset;
	u8	ip_summed;
	u8	hash_bits;	/* 1 l4_hash, 2 sw_hash */
	u8	n_refs;		/* struct part_ref behind it, before the linear bytes */
	u8	shared_flags;	/* of skb_shinfo */
	u8	pause;		/* enum labnic_pause, of no packet of the stack's */
	u8	priority;	/* of that pause */
};

/* A piece of the block of payload that each part has. */
struct part_ref {
	u32	offset;
	u32	bytes;
};

/* Ports of which the other end is in another part, by key. */
static DEFINE_XARRAY(cross_ports);

static struct page *payload;
static u32 payload_bytes;

static ulong crossings;
module_param(crossings, ulong, 0444);
MODULE_PARM_DESC(crossings, "Packets sent to other parts so far");

static struct part_buffer *buffer_of(u32 from, u32 to, u32 barrier)
{
	return labnic_part_memory() +
	       part_buffer_offset(labnic_parts, from, to, barrier, labnic_buffer_bytes);
}

/* Room for a record; NULL if the buffer is full, which ends the run. */
static struct part_record *record_add(u32 to, u32 bytes)
{
	struct part_buffer *buffer = buffer_of(labnic_part, to, labnic_part_barrier() + 1);
	struct part_record *record = (void *)(buffer + 1) + buffer->used_bytes;

	bytes = ALIGN(bytes, 8);
	if (sizeof(*buffer) + buffer->used_bytes + bytes > labnic_buffer_bytes)
		panic("quell-part %u: more than %u bytes to part %u between two barriers",
		      labnic_part, labnic_buffer_bytes, to);
	buffer->used_bytes += bytes;
	memset(record, 0, sizeof(*record));
	record->bytes = bytes;
	return record;
}

/* Offset of a fragment in the block of payload, or -1. */
static s64 payload_offset(const skb_frag_t *frag)
{
	s64 offset;

	if (!payload)
		return -1;
	offset = ((s64)page_to_pfn(skb_frag_page(frag)) - (s64)page_to_pfn(payload)) *
		 (s64)PAGE_SIZE + skb_frag_off(frag);
	return offset >= 0 && offset + skb_frag_size(frag) <= payload_bytes ? offset : -1;
}

static bool is_payload_block(const struct sk_buff *skb)
{
	int i;

	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++)
		if (payload_offset(&skb_shinfo(skb)->frags[i]) < 0)
			return false;
	return !skb_has_frag_list(skb);
}

static void record_state(struct part_record *record, const struct sk_buff *skb)
{
	record->truesize = skb->truesize;
	record->head_bytes = skb_end_offset(skb);
	record->headroom = skb_headroom(skb);
	record->hash = skb->hash;
	record->hash_bits = skb->l4_hash | skb->sw_hash << 1;
	record->ip_summed = skb->ip_summed;
	if (skb->ip_summed == CHECKSUM_PARTIAL) {
		record->csum_start = skb_checksum_start_offset(skb);
		record->csum_offset = skb->csum_offset;
	}
	record->shared_flags = skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
}

/* A frame has left for another part; consumes its packet. */
void labnic_cross_send(struct labnic_port *port, const struct labnic_frame *frame)
{
	u64 arrive_ns = frame->leave_ns + port->delay_ns;
	struct sk_buff *skb = frame->skb;
	bool by_reference = is_payload_block(skb);
	u32 linear_bytes = skb_headlen(skb);
	u32 copied_bytes = by_reference ? 0 : skb->len - linear_bytes;
	u32 n_refs = by_reference ? skb_shinfo(skb)->nr_frags : 0, i;
	struct part_record *record;
	struct part_ref *refs;

	if (!labnic_part_is_moving()) {
		consume_skb(skb);
		return;
	}
	record = record_add(port->away_part, sizeof(*record) + n_refs * sizeof(*refs) +
			    linear_bytes + copied_bytes);
	record->key = port->key;
	record->arrive_ns = arrive_ns;
	record->pause = frame->pause;
	record->priority = frame->priority;
	record_state(record, skb);
	record->linear_bytes = linear_bytes;
	record->copied_bytes = copied_bytes;
	record->n_refs = n_refs;
	refs = (struct part_ref *)(record + 1);
	for (i = 0; i < n_refs; i++) {
		refs[i].offset = payload_offset(&skb_shinfo(skb)->frags[i]);
		refs[i].bytes = skb_frag_size(&skb_shinfo(skb)->frags[i]);
	}
	WARN_ON_ONCE(skb_copy_bits(skb, 0, refs + n_refs, linear_bytes + copied_bytes));
	labnic_part_causes(arrive_ns);
	crossings++;
	consume_skb(skb);
}

/* The packet of a record, as it would have passed the cable within one kernel. */
static struct sk_buff *record_skb(const struct part_record *record)
{
	const struct part_ref *refs = (const struct part_ref *)(record + 1);
	u32 bytes = record->linear_bytes + record->copied_bytes, i;
	struct sk_buff *skb = alloc_skb(max_t(u32, record->head_bytes, record->headroom + bytes),
					GFP_ATOMIC);

	if (!skb)
		return NULL;
	skb_reserve(skb, record->headroom);
	skb_put_data(skb, refs + record->n_refs, bytes);
	for (i = 0; i < record->n_refs; i++) {
		struct page *page = payload + refs[i].offset / PAGE_SIZE;

		get_page(page);
		skb_add_rx_frag(skb, i, page, refs[i].offset % PAGE_SIZE, refs[i].bytes, 0);
	}
	skb->truesize = record->truesize;
	skb->hash = record->hash;
	skb->l4_hash = record->hash_bits & 1;
	skb->sw_hash = record->hash_bits >> 1;
	skb->ip_summed = record->ip_summed;
	if (skb->ip_summed == CHECKSUM_PARTIAL) {
		skb->csum_start = skb_headroom(skb) + record->csum_start;
		skb->csum_offset = record->csum_offset;
	}
	skb_shinfo(skb)->flags = record->shared_flags;
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = eth_hdr(skb)->h_proto;
	return skb;
}

static void receive_record(const struct part_record *record, u64 now_ns)
{
	struct labnic_port *port;
	struct sk_buff *skb;

	if (!record->key) {
		labnic_part_noted((const struct quell_part_note *)(record + 1));
		return;
	}
	if (record->arrive_ns <= now_ns)
		panic("quell-part %u: a packet for %llu came at %llu, too late", labnic_part,
		      record->arrive_ns, now_ns);
	port = xa_load(&cross_ports, record->key);
	skb = port ? record_skb(record) : NULL;
	if (!skb)
		panic("quell-part %u: no memory, or no cable %u, for a packet", labnic_part,
		      record->key);
	skb->dev = port->dev;
	labnic_wire_arrives(port, (struct labnic_frame) {
		.skb = skb, .bytes = skb->len, .leave_ns = record->arrive_ns - port->delay_ns,
		.pause = record->pause, .priority = record->priority,
	});
}

/* Take all that other parts have sent up to a barrier, at @now_ns.  Softirq. */
void labnic_cross_receive(u32 barrier, u64 now_ns)
{
	u32 from, at;

	for (from = 0; from < labnic_parts; from++) {
		struct part_buffer *buffer = buffer_of(from, labnic_part, barrier);
		const struct part_record *record;

		for (at = 0; at < buffer->used_bytes; at += record->bytes) {
			record = (void *)(buffer + 1) + at;
			receive_record(record, now_ns);
		}
		buffer->used_bytes = 0;
	}
}

/**
 * quell_part_notify() - send a note to all other parts, which have it before L has passed
 * @note: the note
 *
 * Context: softirq.
 */
void quell_part_notify(const struct quell_part_note *note)
{
	struct part_record *record;
	u32 to;

	for (to = 0; to < labnic_parts; to++) {
		if (to == labnic_part)
			continue;
		record = record_add(to, sizeof(*record) + sizeof(*note));
		*(struct quell_part_note *)(record + 1) = *note;
	}
}
EXPORT_SYMBOL_GPL(quell_part_notify);

/* The end of a cable that is in another part. */
int labnic_cross_add(struct labnic_port *port)
{
	return xa_err(xa_store(&cross_ports, port->key, port, GFP_KERNEL));
}

/* @block: pages that all parts have with the same content. */
void labnic_cross_begin(struct page *block, u32 block_bytes)
{
	payload = block;
	payload_bytes = block_bytes;
}

ulong labnic_crossings(void)
{
	return crossings;
}
