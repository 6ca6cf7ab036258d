// SPDX-License-Identifier: GPL-2.0
/*
 * The Quell option in packets.
 *
 *	out:	SYN, SYN-ACK	the offer
 *		data		departure, room for a telemetry record if requested, and
 *				the echo of received data if there is room (on a full
 *				segment there is not)
 *		pure ACK	the echo; if SACK blocks leave too little room, first
 *				the record is omitted, then the echo is shortened, then
 *				omitted.  SACK blocks are never cut
 *	in:	the option is removed: the fast path compares the header's length
 *
 * The option is the first one, where a switch finds it without a search.  It is not inserted
 * if the packet would exceed the path's MTU or the header 60 bytes, nor into a packet with a
 * computed checksum, a signature or an option of MPTCP.  A packet with a bad checksum is not
 * changed, so that TCP counts and drops it.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jiffies.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/once.h>
#include <linux/percpu.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include "netns/net.h"
#include "signal/signal.h"

#define TCP_HEADER_MAX_BYTES	60

/* Kind of TCP-AO, which 6.1 does not define, and the shortest signature in use. */
#define OPTION_KIND_AO		29
#define SIGNATURE_MIN_BYTES	16

/*
 * A signature covers the header's length, and may cover its options (RFC 2385, RFC 5925).
 * MPTCP (RFC 8684) needs its options in the SYN and in the data.
 */
static bool option_is_excluded(const struct sk_buff *skb)
{
	const u8 *options = (const u8 *)(tcp_hdr(skb) + 1);
	u32 bytes = tcp_hdrlen(skb) - sizeof(struct tcphdr);
	u32 at = 0;

	if (bytes < SIGNATURE_MIN_BYTES && !tcp_hdr(skb)->syn)
		return false;
	while (at + 1 < bytes && options[at] != QUELL_OPT_END) {
		if (options[at] == TCPOPT_MD5SIG || options[at] == OPTION_KIND_AO ||
		    options[at] == TCPOPT_MPTCP)
			return true;
		at += options[at] == QUELL_OPT_NOP ? 1 : max_t(u8, options[at + 1], 1);
	}
	return false;
}

static void option_fix_ip(struct sk_buff *skb, u32 ip_bytes)
{
	__be16 before;

	if (ip_hdr(skb)->version == 4) {
		before = ip_hdr(skb)->tot_len;
		ip_hdr(skb)->tot_len = htons(skb->len);
		csum_replace2(&ip_hdr(skb)->check, before, ip_hdr(skb)->tot_len);
	} else {
		ipv6_hdr(skb)->payload_len = htons(skb->len - ip_bytes);
	}
}

/*
 * Bytes; 0 also for a computed checksum, a signature or MPTCP.  In a VRF with a queue the packet's
 * route is that to the VRF, which takes 64 KB: the socket has the path's MTU.  LOCAL_OUT hook.
 */
u32 quell_option_room(const struct sk_buff *skb)
{
	u32 packet_bytes = skb->len, mtu_bytes = dst_mtu(skb_dst(skb));

	if (quell_is_full(skb->sk))
		mtu_bytes = min(mtu_bytes, READ_ONCE(inet_csk(skb->sk)->icsk_pmtu_cookie));
	if (skb_is_gso(skb))
		packet_bytes = skb_transport_offset(skb) + tcp_hdrlen(skb) +
			       skb_shinfo(skb)->gso_size;
	if (skb->ip_summed != CHECKSUM_PARTIAL || packet_bytes >= mtu_bytes ||
	    skb->len >= IP_MAX_MTU || option_is_excluded(skb))
		return 0;
	return min3(TCP_HEADER_MAX_BYTES - tcp_hdrlen(skb), mtu_bytes - packet_bytes,
		    (u32)IP_MAX_MTU - skb->len);
}

/* An IPv4 and a TCP header without options, in words: an array would be guarded as a buffer. */
struct option_headers {
	u64	a, b, c, d, e;
} __packed __aligned(2);

static_assert(sizeof(struct option_headers) == sizeof(struct iphdr) + sizeof(struct tcphdr));

/* Moves the IP and TCP header: mostly two without options.  The places overlap. */
static void option_move(void *to, const void *from, u32 bytes)
{
	const struct option_headers *old = from;
	struct option_headers *moved = to;
	u64 a, b, c, d, e;

	if (bytes != sizeof(*old)) {
		memmove(to, from, bytes);
		return;
	}
	a = old->a, b = old->b, c = old->c, d = old->d, e = old->e;
	*moved = (struct option_headers) { a, b, c, d, e };
}

/*
 * LOCAL_OUT hook.  @bytes is a multiple of 4, at most quell_option_room(); the caller must fill the
 * room.  Pointers into the headers are stale afterwards.  NULL: no memory, and the packet is
 * unchanged.
 */
u8 *quell_option_open(struct sk_buff *skb, u32 bytes)
{
	u32 moved_bytes = skb_transport_offset(skb) + sizeof(struct tcphdr);
	u32 ip_bytes = skb_transport_offset(skb);
	struct tcphdr *th;
	u8 *headers;

	if (skb_cow_head(skb, bytes))
		return NULL;
	headers = skb->data;
	skb_push(skb, bytes);
	option_move(skb->data, headers, moved_bytes);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, ip_bytes);
	skb->csum_start -= bytes;
	th = tcp_hdr(skb);
	th->doff += bytes / 4;
	option_fix_ip(skb, ip_bytes);
	/*
	 * The sum is that of the pseudo-header, quell_option_room().  With a source route
	 * (IP_OPTIONS) the IP header has not the address that is in it.
	 */
	th->check = csum16_add(th->check, htons(bytes));
	return skb->data + moved_bytes;
}

/*
 * LOCAL_OUT hook; @bytes by quell_option_choose().  Pointers into the headers are stale
 * afterwards; on false, when memory was short, the packet is unchanged.
 */
bool __flatten quell_option_insert(struct sk_buff *skb, const struct quell_opt *opt, u32 bytes)
{
	u8 *place = quell_option_open(skb, bytes);

	if (place)
		quell_opt_encode(opt, place);
	return place;
}

/* For a pure ACK; the length, or 0 when that does not fit either. */
static u32 option_shorten(u32 room_bytes, struct quell_opt *opt)
{
	if (opt->form != QUELL_OPT_FULL || opt->flags & QUELL_OPT_F_DATA)
		return 0;
	opt->form = QUELL_OPT_SHORT;
	opt->echo_ns += opt->hold_ns;
	return quell_opt_bytes(opt) <= room_bytes ? quell_opt_bytes(opt) : 0;
}

/*
 * Without room the echoed record goes first, then the others; then a pure ACK gets the short form,
 * with the hold time added to the echo.  As quell_option_choose(), for an option that does not fit.
 */
u32 quell_option_reduce(u32 room_bytes, struct quell_opt *opt)
{
	static const u8 records[] = { QUELL_OPT_F_RECORD, QUELL_OPT_F_TELEMETRY };
	u32 bytes, i;

	for (i = 0; (bytes = quell_opt_bytes(opt)) > room_bytes; i++) {
		if (i == ARRAY_SIZE(records))
			return option_shorten(room_bytes, opt);
		opt->flags &= ~records[i];
	}
	return bytes;
}

/* Out of line part of quell_option_checksum_ok(). */
bool quell_option_checksum_verify(struct sk_buff *skb, u32 ip_bytes)
{
	if (ip_hdr(skb)->version == 4)
		return !nf_ip_checksum(skb, NF_INET_LOCAL_IN, ip_bytes, IPPROTO_TCP);
	return !nf_ip6_checksum(skb, NF_INET_LOCAL_IN, ip_bytes, IPPROTO_TCP);
}

/* Placed and padded as by quell_option_insert(). */
static bool option_is_first(const u8 *options, u32 at, u32 stated_bytes, u32 options_bytes)
{
	u32 end = ALIGN(stated_bytes, 4);
	u32 i;

	if (at || end > options_bytes)
		return false;
	for (i = stated_bytes; i < end; i++)
		if (options[i] != QUELL_OPT_NOP)
			return false;
	return true;
}

/*
 * @bytes of options, a multiple of 4, are behind the fixed TCP header, which is in one piece; the
 * checksum was verified.  LOCAL_IN hook.  Pointers into the headers are stale; on false the packet
 * is unchanged.
 */
bool quell_option_remove(struct sk_buff *skb, u32 ip_bytes, u32 bytes)
{
	if (skb_cloned(skb) && skb_ensure_writable(skb, ip_bytes + sizeof(struct tcphdr) + bytes))
		return false;
	option_move(skb->data + bytes, skb->data, ip_bytes + sizeof(struct tcphdr));
	__skb_pull(skb, bytes);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, ip_bytes);
	tcp_hdr(skb)->doff -= bytes / 4;
	option_fix_ip(skb, ip_bytes);
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->csum_level = 0;
	return true;
}

/*
 * The option stays in the packet if it is not where Quell inserts it, if the packet is longer than
 * its length field can state, and in a SYN, for which the stack has no fast path.  LOCAL_IN hook.
 * Pointers into the headers may be stale afterwards.  @opt is untrusted but for QUELL_OPTION_TAKEN.
 */
enum quell_option_result __flatten quell_option_take(struct sk_buff *skb, u32 ip_bytes,
						     struct quell_opt *opt)
{
	const struct tcphdr *th = quell_option_header(skb, ip_bytes);
	u32 options_bytes, at, stated_bytes = 0;
	bool syn, first, decoded;
	const u8 *options;

	if (!th || th->doff * 4 <= sizeof(*th))
		return QUELL_OPTION_ABSENT;
	options = (const u8 *)(th + 1);
	options_bytes = th->doff * 4 - sizeof(*th);
	at = quell_opt_find(options, options_bytes, &stated_bytes);
	if (at == options_bytes)
		return QUELL_OPTION_ABSENT;
	syn = th->syn;
	first = option_is_first(options, at, stated_bytes, options_bytes);
	decoded = quell_opt_decode(options + at, stated_bytes, syn, opt);
	if (!quell_option_checksum_ok(skb, ip_bytes))
		return QUELL_OPTION_BAD_CHECKSUM;
	if (!decoded)
		return QUELL_OPTION_MALFORMED;
	if (first && !syn && skb->len <= IP_MAX_MTU)
		quell_option_remove(skb, ip_bytes, ALIGN(stated_bytes, 4));
	return QUELL_OPTION_TAKEN;
}

/*
 * Negotiation of the Quell option, Documentation/wire-format.md: the state between segments,
 * without a table that third parties can fill.
 *
 *	SYN to SYN-ACK		one word per CPU, the offer of the newest SYN, as TCP sends
 *				the SYN-ACK in the same softirq.  On PREEMPT_RT another softirq's
 *				SYN may replace it; the offer is then lost.
 *	SYN-ACK, ACK to ->init	the segment may be in a socket's backlog: offers are stored
 *				here under a keyed hash of the connection.
 * An offer is stored only for a connection that this host opened, or after the peer
 * completed the handshake with the right numbers: an off-path attacker cannot store one.
 */

/* Lifetime of an offer: longer than a process owns a socket. */
#define OFFER_LIFETIME	(10 * HZ)

/* Offers stored per namespace; the oldest is dropped for one more. */
#define OFFER_MAX	4096U

/* The peer of the connection with this hash offered the option. */
struct offer_entry {
	struct hlist_node	node;
	struct list_head	age;
	u64			hash;
	unsigned long		born;	/* jiffies */
	u32			stamp_secret;	/* of the flow before; 0: no flow */
};

/* offer_tag() of the newest SYN that a CPU received, if it had an offer; else 0. */
static DEFINE_PER_CPU(u64, offer_syn);

static siphash_key_t offer_secret __read_mostly;

/* Namespaces may have connections of the same name. */
static u64 offer_hash(const struct quell_net *qnet, const struct quell_offer_key *key)
{
	net_get_random_once(&offer_secret, sizeof(offer_secret));
	return siphash(key, sizeof(*key), &offer_secret) ^ (uintptr_t)qnet;
}

/* Never 0, which stands for no offer. */
static u64 offer_tag(const struct quell_net *qnet, const struct quell_offer_key *key)
{
	return offer_hash(qnet, key) | 1;
}

void quell_offer_key(struct quell_offer_key *key, const struct sk_buff *skb,
		     const struct tcphdr *th, bool out, int ifindex)
{
	struct in6_addr from = {}, to = {};

	if (ip_hdr(skb)->version == 4) {
		from.s6_addr32[0] = ip_hdr(skb)->saddr;
		to.s6_addr32[0] = ip_hdr(skb)->daddr;
	} else {
		from = ipv6_hdr(skb)->saddr;
		to = ipv6_hdr(skb)->daddr;
	}
	*key = (struct quell_offer_key) {
		.local = out ? from : to,
		.peer = out ? to : from,
		.sport = out ? th->source : th->dest,
		.dport = out ? th->dest : th->source,
		.ifindex = ifindex,
	};
}

/* @key is NULL without an offer.  Softirq; else the record may be lost. */
void quell_offer_store_syn(struct quell_net *qnet, const struct quell_offer_key *key)
{
	/* this_cpu_write() may evaluate its argument with interrupts off. */
	u64 tag = key ? offer_tag(qnet, key) : 0;

	this_cpu_write(offer_syn, tag);
}

/*
 * Whether the SYN that this CPU has just received is that of the connection and offered the option;
 * true once per SYN.  LOCAL_OUT hook.
 */
bool quell_offer_is_pending(struct quell_net *qnet, const struct quell_offer_key *key)
{
	u64 tag = offer_tag(qnet, key);

	return this_cpu_cmpxchg(offer_syn, tag, 0) == tag;
}

static void offer_drop(struct quell_offers *offers, struct offer_entry *offer)
{
	hash_del(&offer->node);
	list_del(&offer->age);
	WRITE_ONCE(offers->nr, offers->nr - 1);
	kfree(offer);
}

static struct offer_entry *offer_find(struct quell_offers *offers, u64 hash)
{
	struct offer_entry *offer;

	hash_for_each_possible(offers->table, offer, node, hash)
		if (offer->hash == hash)
			return offer;
	return NULL;
}

static bool offer_is_expired(const struct offer_entry *offer)
{
	return time_after(jiffies, offer->born + OFFER_LIFETIME);
}

/* Drops expired offers, and the oldest for room; true if that had not expired. */
static bool offer_make_room(struct quell_offers *offers)
{
	struct offer_entry *oldest;
	bool young;

	while (!list_empty(&offers->ages)) {
		oldest = list_first_entry(&offers->ages, struct offer_entry, age);
		young = !offer_is_expired(oldest);
		if (young && offers->nr < OFFER_MAX)
			break;
		offer_drop(offers, oldest);
		if (young)
			return true;
	}
	return false;
}

static struct offer_entry *offer_alloc(struct quell_offers *offers, u64 hash)
{
	struct offer_entry *offer;

	offer = kmalloc(sizeof(*offer), GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);
	if (!offer)
		return NULL;
	offer->hash = hash;
	hash_add(offers->table, &offer->node, hash);
	list_add_tail(&offer->age, &offers->ages);
	WRITE_ONCE(offers->nr, offers->nr + 1);
	return offer;
}

/*
 * The connection is about to be established, or its flow with @stamp_secret ends.  Hooks,
 * ->release; not in hard interrupts.
 */
void quell_offer_store(struct quell_net *qnet, const struct quell_offer_key *key,
		       u32 stamp_secret)
{
	struct quell_offers *offers = &qnet->offers;
	u64 hash = offer_hash(qnet, key);
	struct offer_entry *offer;
	bool lost = false;

	spin_lock_bh(&offers->lock);
	offer = offer_find(offers, hash);
	if (offer) {
		list_move_tail(&offer->age, &offers->ages);
	} else {
		lost = offer_make_room(offers);
		offer = offer_alloc(offers, hash);
	}
	if (offer) {
		offer->born = jiffies;
		offer->stamp_secret = stamp_secret;
	}
	spin_unlock_bh(&offers->lock);
	if (lost || !offer)
		quell_count_reported(qnet, QUELL_N_OPTION_FORGOTTEN);
}

/*
 * Whether an offer was stored and has not expired.  It is removed.  @stamp_secret becomes that of
 * the former flow, if any.  Not in hard interrupts.
 */
bool quell_offer_claim(struct quell_net *qnet, const struct quell_offer_key *key,
		       u32 *stamp_secret)
{
	struct quell_offers *offers = &qnet->offers;
	struct offer_entry *offer;
	bool found = false;

	if (!READ_ONCE(offers->nr))
		return false;
	spin_lock_bh(&offers->lock);
	offer = offer_find(offers, offer_hash(qnet, key));
	if (offer) {
		found = !offer_is_expired(offer);
		*stamp_secret = offer->stamp_secret ?: *stamp_secret;
		offer_drop(offers, offer);
	}
	spin_unlock_bh(&offers->lock);
	return found;
}

void quell_offer_net_init(struct quell_net *qnet)
{
	spin_lock_init(&qnet->offers.lock);
	INIT_LIST_HEAD(&qnet->offers.ages);
}

/* Called when the hooks and the sockets of the namespace are gone. */
void quell_offer_net_exit(struct quell_net *qnet)
{
	struct quell_offers *offers = &qnet->offers;
	struct offer_entry *offer, *next;

	list_for_each_entry_safe(offer, next, &offers->ages, age)
		offer_drop(offers, offer);
}
