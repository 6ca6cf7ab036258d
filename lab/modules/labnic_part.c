// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: a network in several parts, each in a kernel of its own.
 *
 * Conservative parallel simulation.  The parts meet at barriers; a packet that passes a cable
 * between two parts is sent by its departure and needs the cable's propagation delay.  Let L be the
 * smallest such delay.  At a barrier a part knows the earliest time O at which another part has an
 * event, or one part causes one in another.  Of that no packet reaches it before O + L.  Of its
 * own next event, at time N, there is no effect in another part before N + L, and no effect of that
 * here before N + 2 L.  So its next barrier is 1 ns before the earlier of both.  Until then each
 * part runs on its own; the timer of the barrier keeps its virtual clock from going further.
 * L and the times of the barriers do not show in any result.
 *
 * The parts share a file that all kernels map as "iomem": a record of each part, and for each
 * pair two buffers, of which one is written between two barriers while the other is read.
 * A part waits on the processor for some time, and then in futex(2) of the host.
 * Virtual time stands still meanwhile.
 *
 * A part that ends leaves the others alone: they do not wait for it any more.
 */
#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/jhash.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/xarray.h>

#include <net/secure_seq.h>

#include <asm/unistd.h>
#include <compat/hrtimer.h>
#include <compat/net_random.h>
#include <compat/um_iomem.h>

#include "labnic.h"
#include "labnic_part.h"

#define PART_IOMEM		"labparts"
#define PART_BASE_STEP_NS	NSEC_PER_SEC
/* From the set-up until packets move: by then IPv6 has sent its reports of multicast groups. */
#define PART_EARLY_NS		(2 * NSEC_PER_SEC)
/* The host wakes a part that waits; this bounds the delay if it does not. */
#define PART_WAIT_NS		(100 * NSEC_PER_MSEC)

/* Every so many barriers a part waits on the processor as long as it may. */
#define PART_TRIAL		256

#define HOST_FUTEX_WAIT		0
#define HOST_FUTEX_WAKE		1

static uint labnic_part;
module_param_named(part, labnic_part, uint, 0444);
MODULE_PARM_DESC(part, "Number of this part of the network, from 0");

static uint labnic_parts;
module_param_named(parts, labnic_parts, uint, 0444);
MODULE_PARM_DESC(parts, "Parts of the network, 1..16; default 0: it is not divided");

static ulong lookahead_ns = 1000;
module_param(lookahead_ns, ulong, 0444);
MODULE_PARM_DESC(lookahead_ns, "Smallest delay of a cable between two parts, at least 2");

static ulong known_ns = 1000;
module_param(known_ns, ulong, 0444);
MODULE_PARM_DESC(known_ns, "Largest delay of any cable: then the end of a flow is known to all");

static uint labnic_buffer_bytes;
module_param_named(buffer_bytes, labnic_buffer_bytes, uint, 0444);
MODULE_PARM_DESC(buffer_bytes, "Size of each buffer from one part to another");

static uint spins;
module_param(spins, uint, 0444);
MODULE_PARM_DESC(spins, "How often a part looks for the others before it sleeps");

static uint hang_s = 60;
module_param(hang_s, uint, 0444);
MODULE_PARM_DESC(hang_s, "Give up on another part after so many seconds of the machine");

static ulong barriers;
module_param(barriers, ulong, 0444);
MODULE_PARM_DESC(barriers, "Barriers so far");

static struct {
	u8				*memory;
	const struct quell_part_ops	*ops;
	/* Earliest event that this part causes in others. */
	u64				caused_ns;
	struct part_word		word;		/* for the next barrier */
	struct hrtimer			barrier;
	struct list_head		ties;		/* ports at which packets arrive now */
	struct hrtimer			tie;
	bool				is_frozen;
	bool				has_begun;
	bool				is_moving;	/* the time of @base_ns has come */
	u32				random;		/* the same in all parts */
	u64				base_ns;	/* of quell_part_begin() */
} my = { .ties = LIST_HEAD_INIT(my.ties) };

static long host_futex(u32 *word, int operation, u32 value, const struct timespec64 *limit)
{
	register const struct timespec64 *r10 asm("r10") = limit;
	long result;

	asm volatile("syscall" : "=a" (result)
		     : "0" (__NR_futex), "D" (word), "S" (operation), "d" (value), "r" (r10)
		     : "rcx", "r11", "memory");
	return result;
}

static struct part_slot *slot_of(u32 number)
{
	return (struct part_slot *)(my.memory + number * PART_SLOT_BYTES);
}

static struct part_mark *mark_of_all(void)
{
	return (struct part_mark *)(my.memory + PART_MARK_OFFSET);
}

/*
 * Packets from one part of a network to another.
 *
 * Of each pair of parts one buffer is filled between two barriers, while the other one, of the
 * barrier before, is emptied.  So a buffer has one user at any time.  The block of payload that
 * all parts have is not copied: packets refer to it by an offset.
 */

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
	u64 offset = part_buffer_offset(labnic_parts, from, to, barrier, labnic_buffer_bytes);

	return (struct part_buffer *)(my.memory + offset);
}

/* Room for a record; NULL if the buffer is full, which ends the run. */
static struct part_record *record_add(u32 to, u32 bytes)
{
	struct part_buffer *buffer = buffer_of(labnic_part, to, slot_of(labnic_part)->mark.met + 1);
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

	if (!my.is_moving || my.is_frozen) {
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
	my.caused_ns = min(my.caused_ns, arrive_ns);
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
		my.ops->noted((const struct quell_part_note *)(record + 1));
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
static void labnic_cross_receive(u32 barrier, u64 now_ns)
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

/* The first part that has not come to a barrier; @labnic_parts: all have. */
static u32 find_missing(u32 barrier)
{
	u32 i;

	for (i = 0; i < labnic_parts; i++) {
		struct part_slot *slot = slot_of(i);

		/* Pairs with the release of @met in meet(). */
		if ((s32)(smp_load_acquire(&slot->mark.met) - barrier) < 0 &&
		    !READ_ONCE(slot->is_gone))
			break;
	}
	return i;
}

/*
 * Wait on the processor for a while: less long when that was in vain, as where the other part has
 * no processor.  Now and then the whole time is tried.
 */
static bool spin_for(u32 barrier)
{
	static u32 patience;
	u32 limit = barrier % PART_TRIAL ? patience : spins, i;

	for (i = 0; i <= limit; i++) {
		if (find_missing(barrier) == labnic_parts) {
			patience += (spins - patience) / 8;
			return true;
		}
		asm volatile("pause");	/* cpu_relax() lets virtual time pass */
	}
	patience /= 2;
	return false;
}

/* Wait for all parts: on the processor, then in the host. */
static void wait_for_all(u32 barrier)
{
	static const struct timespec64 limit = { .tv_nsec = PART_WAIT_NS };
	struct part_mark *mark = mark_of_all();
	u32 slept = 0, missing, met;

	if (spin_for(barrier))
		return;
	for (;;) {
		met = READ_ONCE(mark->met);
		WRITE_ONCE(mark->awaited[barrier % 2], barrier);
		mb();	/* pairs with announce() */
		missing = find_missing(barrier);
		if (missing == labnic_parts)
			return;
		if (host_futex(&mark->met, HOST_FUTEX_WAIT, met, &limit) != -ETIMEDOUT)
			continue;
		/* Up to the first barrier parts set up their networks. */
		if (++slept == hang_s * (NSEC_PER_SEC / PART_WAIT_NS) && barrier > 1)
			panic("quell-part %u waits for part %u since %u s: that one hangs",
			      labnic_part, missing, hang_s);
	}
}

static void wake(struct part_mark *mark, u32 barrier)
{
	mb();	/* pairs with wait_for_all() */
	if (READ_ONCE(mark->awaited[barrier % 2]) == barrier)
		host_futex(&mark->met, HOST_FUTEX_WAKE, INT_MAX, NULL);
}

/* This part has come to a barrier, or is gone.  The last of all wakes those that wait. */
static void announce(u32 barrier)
{
	struct part_mark *mark = mark_of_all();

	wake(&slot_of(labnic_part)->mark, barrier);
	if (find_missing(barrier) < labnic_parts)
		return;
	WRITE_ONCE(mark->met, barrier);
	wake(mark, barrier);
}

static void sum_up(struct quell_part_state *all, const struct quell_part_state *one)
{
	all->done += one->done;
	all->done_ns = max(all->done_ns, one->done_ns);
	if (one->turn > all->turn) {
		all->turn = one->turn;
		all->turn_ns = one->turn_ns;
	}
}

/*
 * Wait for all other parts; the sum of all states, the earliest time of the others and the latest
 * of all.
 */
static u32 meet(struct quell_part_state *all, u64 *others_ns, u64 *last_ns)
{
	struct part_slot *mine = slot_of(labnic_part), *slot;
	u32 barrier = mine->mark.met + 1, i;

	mine->word[barrier % 2] = my.word;
	/* A part that reads @met reads the word and the buffers as they are now. */
	smp_store_release(&mine->mark.met, barrier);
	announce(barrier);
	wait_for_all(barrier);
	*all = (struct quell_part_state) { 0 };
	*others_ns = U64_MAX;
	*last_ns = 0;
	for (i = 0; i < labnic_parts; i++) {
		const struct part_word *word;

		slot = slot_of(i);
		word = &slot->word[barrier % 2];
		if (READ_ONCE(slot->is_gone) && (s32)(slot->mark.met - barrier) < 0)
			continue;
		sum_up(all, &word->state);
		if (i != labnic_part)
			*others_ns = min(*others_ns, word->next_ns);
		*last_ns = max(*last_ns, word->next_ns);
	}
	barriers++;
	return barrier;
}

/* The earliest time at which this part may have an event, not before @now_ns. */
static u64 next_event_ns(const struct hrtimer *timer, u64 now_ns)
{
	/* Timers of the wheel, which are not in sight here, are jiffies'. */
	u64 next_ns = roundup_u64(now_ns + 1, TICK_NSEC);
	struct hrtimer_cpu_base *cpu_base = timer->base->cpu_base;
	int i;

	if (!is_idle_task(current) || need_resched() || local_softirq_pending())
		return now_ns;
	for (i = 0; i < HRTIMER_MAX_CLOCK_BASES; i++) {
		struct hrtimer_clock_base *base = &cpu_base->clock_base[i];
		const struct hrtimer *first = quell_hrtimer_first(base);

		if (first)
			next_ns = min_t(u64, next_ns,
					ktime_sub(hrtimer_get_expires(first), base->offset));
	}
	return max(next_ns, now_ns);
}

static enum hrtimer_restart barrier_timer(struct hrtimer *timer)
{
	u64 now_ns = ktime_to_ns(hrtimer_get_expires(timer));
	u64 next_ns = next_event_ns(timer, now_ns), end_ns = my.caused_ns;
	struct quell_part_state all;
	u64 others_ns, last_ns;
	u32 barrier;

	my.is_moving = true;
	my.word.next_ns = min(next_ns, my.caused_ns);
	my.caused_ns = U64_MAX;
	barrier = meet(&all, &others_ns, &last_ns);
	labnic_cross_receive(barrier, now_ns);
	my.ops->met(&all);
	end_ns = min3(end_ns, others_ns, next_ns + lookahead_ns) + lookahead_ns - 1;
	hrtimer_set_expires(timer, ns_to_ktime(end_ns));
	return HRTIMER_RESTART;
}

/*
 * Packets that arrive in the same ns do so in the order of their cables, behind all other events
 * of that ns: the order in which timers were set is not the same in several parts.
 */
static void arrive_all(struct hrtimer_clock_base *base, ktime_t now)
{
	const struct hrtimer *next = quell_hrtimer_first(base);
	struct labnic_port *port;

	if (next && hrtimer_get_expires(next) <= now) {
		/* A timer of a cable's end calls this again when it has expired. */
		if (!labnic_wire_has_timer(next) && !hrtimer_is_queued(&my.tie))
			hrtimer_start(&my.tie, now, HRTIMER_MODE_ABS_SOFT);
		return;
	}
	while ((port = list_first_entry_or_null(&my.ties, struct labnic_port, tie))) {
		list_del_init(&port->tie);
		labnic_wire_arrive(port, ktime_to_ns(now));
	}
}

static enum hrtimer_restart tie_timer(struct hrtimer *timer)
{
	arrive_all(timer->base, hrtimer_get_expires(timer));
	return HRTIMER_NORESTART;
}

/* A packet arrives at the end of a port's cable in this ns. */
void labnic_part_arrival(struct labnic_port *port)
{
	struct list_head *before = &my.ties;
	struct labnic_port *other;

	list_for_each_entry_reverse(other, &my.ties, tie) {
		before = &other->tie;
		if (other->key < port->key)
			break;
		before = other->tie.prev;
	}
	list_add(&port->tie, before);
	arrive_all(port->arrival.base, hrtimer_get_expires(&port->arrival));
}

/* All departures of a port at @now have been dealt with. */
void labnic_part_departed(const struct labnic_port *port, ktime_t now)
{
	if (!list_empty(&my.ties))
		arrive_all(port->timer.base, now);
}

/* When packets began to move; 0: they have not, or the network is whole. */
u64 labnic_part_base_ns(void)
{
	return my.base_ns;
}

/* There are other parts. */
bool labnic_part_is_divided(void)
{
	return labnic_parts > 1;
}

/* Parts are set up: a packet would reach the nodes of this one alone. */
bool labnic_part_is_early(void)
{
	return labnic_parts && !my.is_moving && !my.is_frozen;
}

bool labnic_part_is_frozen(void)
{
	return my.is_frozen;
}

/*
 * One end of a cable with a number.  The end that is in another part has a device here, too, by
 * which its packets come.
 */
int labnic_part_create(struct labnic_port *port, const struct quellnic_part *config, bool is_near)
{
	u32 own = is_near ? QUELLNIC_NEAR_AWAY : QUELLNIC_FAR_AWAY;

	if (!labnic_parts || !config->cable || config->cable > U32_MAX / 2)
		return -EINVAL;
	port->key = 2 * config->cable + !is_near;
	/* Of a host, which has one port: its sockets' draws do not depend on other nodes here. */
	quell_net_random_seed(dev_net(port->dev), jhash_2words(port->key, my.random, 0));
	/*
	 * A timer within its slack expires with any other one of its kernel: of another node, or
	 * that of the barrier.  Of TCP's timers only this one has slack.
	 */
	WRITE_ONCE(dev_net(port->dev)->ipv4.sysctl_tcp_comp_sack_slack_ns, 0);
	port->is_cut = config->away && config->away != own;
	port->away_part = config->part;
	INIT_LIST_HEAD(&port->tie);
	if (config->away != own)
		return 0;
	return xa_err(xa_store(&cross_ports, port->key, port, GFP_KERNEL));
}

/**
 * quell_part_is_on() - whether the order of events is that of a network in parts
 *
 * Return: true also for a single part, if one was asked for.
 */
bool quell_part_is_on(void)
{
	return labnic_parts;
}
EXPORT_SYMBOL_GPL(quell_part_is_on);

/**
 * quell_part_known_ns() - time after which all parts know of an event
 *
 * Return: the same for any number of parts, in ns.
 */
u64 quell_part_known_ns(void)
{
	return labnic_parts ? known_ns : 0;
}
EXPORT_SYMBOL_GPL(quell_part_known_ns);

/**
 * quell_part_begin() - meet all parts, and then at each barrier
 * @ops: called at each; stay valid
 * @block: pages that all parts have with the same content
 * @block_bytes: their size
 *
 * Context: process; sleeps in the host until all parts have come.
 * Return: a time in the future, the same in all parts; before it no packet passes between parts.
 */
u64 quell_part_begin(const struct quell_part_ops *ops, struct page *block, u32 block_bytes)
{
	struct quell_part_state all;
	u64 others_ns, base_ns;

	my.ops = ops;
	payload = block;
	payload_bytes = block_bytes;
	my.word.next_ns = ktime_get_ns();
	my.caused_ns = U64_MAX;
	meet(&all, &others_ns, &base_ns);
	base_ns = roundup_u64(base_ns + PART_EARLY_NS, PART_BASE_STEP_NS);
	my.has_begun = true;
	my.base_ns = base_ns;
	hrtimer_start(&my.barrier, ns_to_ktime(base_ns), HRTIMER_MODE_ABS_SOFT);
	return base_ns;
}
EXPORT_SYMBOL_GPL(quell_part_begin);

/* All parts know of an event before @known_ns have passed since, this one, too. */
static void meet_sooner(u64 event_ns)
{
	ktime_t latest = ns_to_ktime(event_ns + lookahead_ns - 1);

	if (labnic_parts > 1 && hrtimer_get_expires(&my.barrier) > latest)
		hrtimer_start(&my.barrier, latest, HRTIMER_MODE_ABS_SOFT);
}

/**
 * quell_part_report() - set the state of this part from the next barrier on; of a single one, now
 * @state: the end of a turn has an effect at its @turn_ns, perhaps in another part
 *
 * Context: if @done changes, softirq, at @done_ns; not in a callback of struct quell_part_ops.
 */
void quell_part_report(const struct quell_part_state *state)
{
	if (state->turn != my.word.state.turn)
		my.caused_ns = min(my.caused_ns, state->turn_ns);
	if (state->done != my.word.state.done)
		meet_sooner(state->done_ns);
	my.word.state = *state;
	if (labnic_parts == 1)
		my.ops->met(state);
}
EXPORT_SYMBOL_GPL(quell_part_report);

/**
 * quell_part_freeze() - no packet moves any more, so that counters can be read
 */
void quell_part_freeze(void)
{
	my.is_frozen = true;
}
EXPORT_SYMBOL_GPL(quell_part_freeze);

/**
 * quell_part_end() - leave the other parts
 *
 * Context: process.
 */
void quell_part_end(void)
{
	struct part_slot *mine;

	if (!my.has_begun)
		return;
	my.has_begun = false;
	my.is_frozen = true;
	hrtimer_cancel(&my.barrier);
	mine = slot_of(labnic_part);
	WRITE_ONCE(mine->is_gone, 1);
	announce(mine->mark.met + 1);
	pr_alert("quell-parts %u: %lu barriers, %lu packets to other parts\n", labnic_part,
		 barriers, crossings);
}
EXPORT_SYMBOL_GPL(quell_part_end);

/* 0, or an error of the parameters. */
int labnic_part_init(void)
{
	unsigned long bytes = 0, needed = PART_HEAD_BYTES;

	if (!labnic_parts)
		return 0;
	if (labnic_parts > PARTS_MAX || labnic_part >= labnic_parts || lookahead_ns < 2 ||
	    (labnic_parts > 1 && known_ns < lookahead_ns)) {
		pr_err("quell_labnic: part %u of %u, lookahead %lu of %lu ns\n", labnic_part,
		       labnic_parts, lookahead_ns, known_ns);
		return -EINVAL;
	}
	BUILD_BUG_ON(sizeof(struct part_slot) > PART_SLOT_BYTES);
	BUILD_BUG_ON(PART_MARK_OFFSET + sizeof(struct part_mark) > PART_HEAD_BYTES);
	my.memory = quell_find_iomem(PART_IOMEM, &bytes);
	needed += 2ul * labnic_parts * labnic_parts * labnic_buffer_bytes;
	if (!my.memory || bytes < needed) {
		pr_err("quell_labnic: no iomem=%s,FILE of that size\n", PART_IOMEM);
		return -ENODEV;
	}
	/*
	 * The secret of initial sequence numbers, of which quell.ko's bursts are a function, is
	 * drawn at the first use: here, where no part has drawn for its own nodes yet.
	 */
	secure_ipv4_port_ephemeral(0, 0, 0);
	my.random = get_random_u32();
	quell_hrtimer_setup(&my.barrier, barrier_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	quell_hrtimer_setup(&my.tie, tie_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	return 0;
}
