// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: credits of receivers, as EQDS and NDP have them, for comparison; those of
 * ExpressPass, which come otherwise, are described below.
 *
 * A sender may send its first window, "first_bytes", unasked, of new data.  Each further packet,
 * and each retransmission, takes a credit of the receiver's card, which hands out one for each data
 * packet that came in, whole or trimmed, and no faster than its line carries packets of that
 * size:
 *
 *	data packet in	    demand of its flow + 1, then serve
 *	timer		    serve
 *	serve, when due	    the next flow in turn: demand - 1, granted + 1, next due a packet later
 *	acknowledgment out  says how many the flow has been granted; so the pull of a packet
 *			    that need not wait travels with its acknowledgment
 *	otherwise	    a pull: the last acknowledgment once more, without options
 *
 * So data in flight, credits not used and credits held here add up to the first window,
 * always.  Data packets say how many credits their sender would need for all that it has to send;
 * flows that need more are served before others, for which pulls would be wasted.  A trimmed
 * packet has to be sent again, so its flow needs one more, regardless of its sender's number.
 *
 * Both numbers are those of packets modulo 2^16, in the urgent pointer.
 *
 * In the sender's host the algorithm asks how many are left, quell_labnic_credits(), and opens its
 * window by no more (labeqds.c).
 *
 * EQDS, "EQDS: An edge-queued datagram service for all datacenter traffic" (NSDI 2022), takes the
 * place of a transport's own credits with queues in the sender's edge.  Here TCP's send queue is
 * that edge.  A packet that is dropped, not trimmed, takes its credit with it until it is sent
 * again; the next credit pays for a packet that TCP's timers send without one.
 */
#include <linux/etherdevice.h>
#include <linux/hashtable.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include <compat/hrtimer.h>
#include <quell/option.h>

#include "express_rate.h"
#include "labnic.h"

/* Ethernet and IP header of a packet that is repeated: IPv4 without options, or IPv6. */
#define LABNIC_CREDIT_HEAD_BYTES	(ETH_HLEN + sizeof(struct ipv6hdr))

/* The receiver's newest acknowledgment, for repetition. */
struct labnic_credit_ack {
	u8	head[LABNIC_CREDIT_HEAD_BYTES];	/* its Ethernet and IP header */
	u32	head_bytes;	/* length of them; 0: not sent yet */
	u32	seq;	/* sequence number */
	u32	ack_seq;	/* acknowledgment number */
	__be16	window;	/* as in the header, scaled */
};

/* One direction of a connection, with ExpressPass. */
struct labnic_express {
	struct timerqueue_node	due;	/* in the receiver's due, while a credit is to be sent */
	bool			is_due;	/* it is there */
	u64			due_ns_q16;	/* for when, with a fraction */
	bool			is_served;	/* the receiver sends credits */
	struct express_rate	rate;	/* how fast */
	bool			has_acked;	/* the three below hold */
	u32			acked;	/* newest acknowledgment at the sender's card */
	u32			seq;	/* end of the newest segment of the receiver's there */
	__be16			window;	/* as that had it */
	u16			told;	/* number of the newest credit there */
	/* The sender wants no more credits, and has said so. */
	bool			is_stopped;
	bool			stops;	/* it is about to say so */
	u64			stopped_ns;	/* when it did */
};

/*
 * One direction of a connection, once at the card of its receiver and once at that of its sender,
 * which may be in another part of the network.
 */
struct labnic_credit_flow {
	struct hlist_node		node;	/* in the table */
	struct labnic_credit_key	key;	/* its addresses and ports */
	bool				is_sender;	/* at the sender's card */
	struct labnic_credit		*credit;	/* of that card */
	/* In the receiver's wanting or spare, while it has demand. */
	struct list_head		waits;
	/* In the receiver's untold, until its sender is notified of a grant. */
	struct list_head		untold;
	bool				is_wanting;	/* @waits is in the receiver's wanting */
	u32				frame_bytes;	/* largest frame so far */
	u32				payload_bytes;	/* largest payload so far */
	/* Packets that came in and for which no credit was granted yet. */
	u32				demand_pkts;
	u32				again_pkts;	/* of them, trimmed ones */
	u64				granted_pkts;	/* credits granted */
	/* As many credits would let the sender send all it has, its newest packet says. */
	s64				wanted_pkts;
	/* From here to @left_pkts at the sender.  Credits that it was notified of. */
	u64				reported_pkts;
	/* Of them, those that its algorithm has asked about. */
	u64				seen_pkts;
	u32				sent_pkts;	/* sent until then */
	u32				first_pkts;	/* left then of its first window */
	/* Credits left then; below 0: packets sent without. */
	s64				left_pkts;
	struct labnic_credit_ack	ack;	/* the receiver's newest acknowledgment */
	/* State with ExpressPass, which does not count credits as above. */
	struct labnic_express		express;
	bool				has_end;	/* a FIN was received, or sent */
	u32				end_seq;	/* the sequence number behind it */
};

/*
 * Values of a sender's socket.
 */

/* Packets that a sender can say to wait for, so that the number is not taken for a smaller one. */
#define CREDIT_WANT_MAX		0x4000

/* Whether an application has more to send than its socket has room for. */
static bool credit_has_writer(const struct sock *sk)
{
	const struct socket *sock = READ_ONCE(sk->sk_socket);

	return sock && test_bit(SOCK_NOSPACE, &sock->flags);
}

/*
 * Packets that a socket would send now, up to CREDIT_WANT_MAX.  Packets lost are included, those
 * that the receiver's window has no room for are not.  A socket may lack the data that
 * waits to be written, so that counts as much as possible.
 */
static u32 labnic_credit_pending_pkts(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 again_pkts = tp->lost_out > tp->retrans_out ? tp->lost_out - tp->retrans_out : 0;
	u32 end_seq = before(tp->write_seq, tcp_wnd_end(tp)) ? tp->write_seq : tcp_wnd_end(tp);
	s32 new_bytes = end_seq - tp->snd_nxt;

	if (tp->snd_nxt != tcp_wnd_end(tp) && credit_has_writer(sk))
		return CREDIT_WANT_MAX;
	if (new_bytes > 0)
		again_pkts += DIV_ROUND_UP(new_bytes, max_t(u32, tp->mss_cache, 1));
	return min_t(u32, again_pkts, CREDIT_WANT_MAX);
}

/*
 * How many credits would let a socket send all that it has.  Returns packets since the connection
 * was made.
 */
static u32 labnic_credit_wanted_pkts(const struct sock *sk)
{
	return tcp_sk(sk)->data_segs_out + labnic_credit_pending_pkts(sk);
}

static struct labnic_credit_key labnic_credit_key_of(const struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);
	struct labnic_credit_key key = {
		.sport = inet->inet_sport, .dport = inet->inet_dport,
	};

	if (sk->sk_family == AF_INET) {
		ipv6_addr_set_v4mapped(inet->inet_saddr, &key.from);
		ipv6_addr_set_v4mapped(inet->inet_daddr, &key.to);
#if IS_ENABLED(CONFIG_IPV6)
	} else {
		key.from = inet6_sk(sk)->saddr;
		key.to = sk->sk_v6_daddr;
#endif
	}
	return key;
}

/*
 * TCP segments as the cards read, number and repeat them.
 *
 * A number travels in the urgent pointer, which TCP does not look at without URG.  It so takes no
 * room from options, and packets are as long as without credits.
 */

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
static bool labnic_segment_number(struct sk_buff *skb, const struct labnic_segment *segment,
				  u16 number)
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
static void labnic_credit_note_ack(const struct sk_buff *skb, const struct labnic_segment *segment,
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
static struct sk_buff *labnic_credit_pull(const struct labnic_credit_ack *ack,
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
static bool labnic_credit_explain(struct sk_buff *skb, const struct labnic_segment *segment)
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

/*
 * The flows to which receivers' cards hand out credits, at both ends.
 *
 * One lock and one table for all cards: the laboratory has one processor.
 */

#define CREDIT_FLOWS_SHIFT	12
/* The laboratory has no more ports at which flows could end. */
#define CREDIT_FLOWS_MAX	(1U << 20)

/* All flows, and all of struct labnic_credit but @port, @config and @timer. */
static DEFINE_SPINLOCK(labnic_credit_lock);
static DEFINE_HASHTABLE(credit_flows, CREDIT_FLOWS_SHIFT);
static u32 credit_flows_nr;

/* The same in each run. */
static u32 labnic_credit_hash(const struct labnic_credit_key *key)
{
	return jhash(key, sizeof(*key), 0);
}

static struct labnic_credit_key labnic_credit_reverse(const struct labnic_credit_key *key)
{
	return (struct labnic_credit_key) {
		.from = key->to, .to = key->from, .sport = key->dport, .dport = key->sport,
	};
}

/* labnic_credit_lock held. */
static struct labnic_credit_flow *labnic_credit_find(const struct labnic_credit_key *key,
						     bool is_sender)
{
	struct labnic_credit_flow *flow;

	lockdep_assert_held(&labnic_credit_lock);
	hash_for_each_possible(credit_flows, flow, node, labnic_credit_hash(key))
		if (flow->is_sender == is_sender && !memcmp(&flow->key, key, sizeof(*key)))
			return flow;
	return NULL;
}

/* Find a flow, or create it; labnic_credit_lock held. */
static struct labnic_credit_flow *labnic_credit_add(struct labnic_credit *credit,
						    const struct labnic_credit_key *key,
						    bool is_sender)
{
	struct labnic_credit_flow *flow = labnic_credit_find(key, is_sender);

	if (flow)
		return flow;
	flow = credit_flows_nr < CREDIT_FLOWS_MAX ? kzalloc(sizeof(*flow), GFP_ATOMIC) : NULL;
	if (WARN_ON_ONCE(!flow))
		return NULL;
	flow->key = *key;
	flow->is_sender = is_sender;
	flow->credit = credit;
	INIT_LIST_HEAD(&flow->waits);
	INIT_LIST_HEAD(&flow->untold);
	timerqueue_init(&flow->express.due);
	hash_add(credit_flows, &flow->node, labnic_credit_hash(key));
	credit_flows_nr++;
	return flow;
}

/* labnic_credit_lock. */
static void labnic_express_forget(struct labnic_credit_flow *flow)
{
	struct labnic_express *express = &flow->express;

	if (express->is_due)
		timerqueue_del(&flow->credit->due, &express->due);
	express->is_due = false;
	express->is_served = false;
}

/* @flow may be NULL; labnic_credit_lock held. */
static void labnic_credit_remove(struct labnic_credit_flow *flow)
{
	if (!flow)
		return;
	labnic_express_forget(flow);
	hash_del(&flow->node);
	list_del(&flow->waits);
	list_del(&flow->untold);
	credit_flows_nr--;
	kfree(flow);
}

static void labnic_credit_remove_all(struct labnic_credit *credit)
{
	struct labnic_credit_flow *flow;
	struct hlist_node *next;
	int bucket;

	hash_for_each_safe(credit_flows, bucket, next, flow, node)
		if (flow->credit == credit)
			labnic_credit_remove(flow);
}

/*
 * Credits of ExpressPass, for comparison (express_rate.h names the source).
 *
 * A sender sends one packet for each credit received, at once; a credit without data to send is
 * lost.  A receiver sends each of its flows credits at a rate of its own, whichever data it
 * receives; ports let only as many pass as data has room for on the way back (labexpress_port.c),
 * and drop the others.  Credits have numbers, which come back in data, so receivers know how many
 * were lost, and change their rates once in a round trip:
 *
 *	data without credit	    a request: credits begin
 *	data for a credit		says for which
 *	timer, when a flow is due	set its rate, send a credit, due again
 *	a credit without data to send	the sender's next acknowledgment says stop, credits end
 *
 * A request of ExpressPass carries no data; here it is the first packet, as a TCP that may send
 * no data does not signal that it has some.
 *
 * A credit is a pull: the last acknowledgment once more, without its options.
 * As in the paper, its length is random: 86, 90 or 94 bytes on the wire, 20 more over IPv6; there
 * it is 84 to 92.  Else the credits of a flow that has filled its own port leave that in step with
 * the next port, and take all room there.  The numbers travel as those above do.
 */

/* In an acknowledgment of the sender's: no more credits; those of receivers have 0. */
#define EXPRESS_STOP		1
/* Options of a credit, so that no frame is padded. */
#define EXPRESS_OPTION_MIN_BYTES	8
#define EXPRESS_OPTION_STEP_BYTES	4
#define EXPRESS_LENGTHS			3
/* A sender that has said so says it again if credits still come after so many round trips. */
#define EXPRESS_AGAIN_RTTS	4

/* Credits of ExpressPass, or of EQDS. */
static bool labnic_is_express(const struct labnic_credit *credit)
{
	return credit->config.first_q16;
}

/* A full packet, a credit and an acknowledgment take so long on a line that they fill. */
static u64 express_interval_ns_q16(const struct labnic_port *port, bool is_ip6)
{
	u32 more_bytes = is_ip6 ? sizeof(struct ipv6hdr) - sizeof(struct iphdr) : 0;
	u64 bits = 8ULL * (LABNIC_EXPRESS_MEAN_BYTES + LABNIC_EXPRESS_ACK_BYTES + 2 * more_bytes +
			   port->dev->mtu + ETH_HLEN + 2 * LABNIC_WIRE_OVERHEAD_BYTES);

	return quell_mul_div_u64(bits * NSEC_PER_SEC, 1ULL << 16, port->rate_bits_ps);
}

static struct express_params express_params(const struct labnic_credit_flow *flow)
{
	const struct labnic_credit *credit = flow->credit;

	return (struct express_params) {
		.interval_ns_q16 = express_interval_ns_q16(credit->port,
							   !ipv6_addr_v4mapped(&flow->key.to)),
		.first_q16 = credit->config.first_q16, .w_q16 = credit->config.w_q16,
	};
}

static void express_queue(struct labnic_credit_flow *flow, u64 due_ns_q16)
{
	struct labnic_express *express = &flow->express;

	express->due_ns_q16 = due_ns_q16;
	express->due.expires = ns_to_ktime((due_ns_q16 + 0xffff) >> 16);
	timerqueue_add(&flow->credit->due, &express->due);
	express->is_due = true;
}

/* labnic_credit_lock. */
static void labnic_express_data(struct labnic_credit_flow *flow,
				const struct labnic_segment *segment, u64 now_ns)
{
	struct labnic_express *express = &flow->express;
	struct express_params params = express_params(flow);

	if (express->is_served) {
		express_used(&express->rate, segment->number, now_ns);
		return;
	}
	express->is_served = true;
	express_start(&express->rate, &params, now_ns);
	/* No ACK can be repeated before its first acknowledgment. */
	if (flow->ack.head_bytes)
		express_queue(flow, now_ns << 16);
}

/* labnic_credit_lock. */
static void labnic_express_acked(struct labnic_credit_flow *flow, u64 now_ns)
{
	if (flow->express.is_served && !flow->express.is_due && flow->ack.head_bytes)
		express_queue(flow, now_ns << 16);
}

/*
 * The next credit that is due.  labnic_credit_lock held.  Returns the packet, to be sent without
 * the lock; NULL: no credit is due.
 */
static struct sk_buff *labnic_express_next(struct labnic_credit *credit, u64 now_ns)
{
	struct timerqueue_node *node = timerqueue_getnext(&credit->due);
	struct labnic_credit_flow *flow;
	struct express_params params;
	struct express_rate *rate;
	struct sk_buff *skb;
	u32 random;

	if (!node || ktime_to_ns(node->expires) > now_ns)
		return NULL;
	flow = container_of(node, struct labnic_credit_flow, express.due);
	rate = &flow->express.rate;
	params = express_params(flow);
	timerqueue_del(&credit->due, node);
	express_update(rate, &params, now_ns);
	random = jhash_1word(express_credit(rate, now_ns), labnic_credit_hash(&flow->key));
	skb = labnic_credit_pull(&flow->ack, &flow->key, rate->number,
				 EXPRESS_OPTION_MIN_BYTES +
				 random % EXPRESS_LENGTHS * EXPRESS_OPTION_STEP_BYTES);
	express_queue(flow, flow->express.due_ns_q16 +
			    express_distance_ns_q16(rate, &params, random));
	if (WARN_ON_ONCE(!skb))
		return NULL;
	skb->dev = credit->port->dev;
	credit->stats.granted_pkts++;
	credit->stats.pull_pkts++;
	return skb;
}

/* Have the card's timer fire for the next credit.  labnic_credit_lock held. */
static void labnic_express_arm(struct labnic_credit *credit)
{
	struct timerqueue_node *node = timerqueue_getnext(&credit->due);

	if (node)
		hrtimer_start(&credit->timer, node->expires, HRTIMER_MODE_ABS_SOFT);
}

/* The newest segment of a receiver's among those received at the sender. */
static void express_note(struct labnic_express *express, const struct labnic_segment *segment)
{
	u32 end_seq = segment->seq + segment->payload_bytes + segment->is_fin;

	if (express->has_acked && (before(segment->ack_seq, express->acked) ||
				   before(end_seq, express->seq)))
		return;
	express->acked = segment->ack_seq;
	express->seq = end_seq;
	express->window = segment->window;
	express->has_acked = true;
}

/*
 * A segment of the receiver's came in at a sender, a credit or not.  Ports have credits wait, so
 * other segments overtake them, and TCP does not parse older ones.  labnic_credit_lock held.
 */
static void labnic_express_receive(struct labnic_credit_flow *flow, struct labnic_segment *segment)
{
	struct labnic_express *express = &flow->express;

	express_note(express, segment);
	if (!segment->is_pull)
		return;
	segment->ack_seq = express->acked;
	segment->seq = express->seq;
	segment->window = express->window;
	express->told = segment->number;
	flow->reported_pkts++;
}

/* A sender's acknowledgment came in at a receiver.  labnic_credit_lock held. */
static void labnic_express_stopped(struct labnic_credit_flow *flow, u16 number)
{
	if (number == EXPRESS_STOP)
		labnic_express_forget(flow);
}

static void labnic_express_sends(struct labnic_credit_flow *flow)
{
	flow->express.is_stopped = false;
	flow->express.stops = false;
}

/*
 * Whether an acknowledgment that is about to be sent says stop: its number, or 0.
 * labnic_credit_lock held.
 */
static u16 labnic_express_stops(struct labnic_credit_flow *flow, u64 now_ns)
{
	if (!flow->express.stops)
		return 0;
	flow->express.stops = false;
	flow->express.is_stopped = true;
	flow->express.stopped_ns = now_ns;
	return EXPRESS_STOP;
}

/* Whether a received credit had no data to send, and its receiver is to be notified. */
static bool express_wants_stop(const struct labnic_express *express, const struct sock *sk,
			       u64 now_ns)
{
	u64 rtt_ns = (tcp_sk(sk)->srtt_us >> 3) * NSEC_PER_USEC;

	if (labnic_credit_pending_pkts(sk))
		return false;
	return !express->is_stopped ||
	       now_ns >= express->stopped_ns + EXPRESS_AGAIN_RTTS * rtt_ns;
}

/*
 * A credit counts once: for data that was not there it does not pay later.  A sender that has
 * stopped may send a request.  labnic_credit_lock held; @flow is NULL if it has sent no data.
 */
static void labnic_express_transmit(struct labnic_credit_flow *flow, const struct sock *sk,
				    struct quell_labnic_credits *left)
{
	struct labnic_express *express;
	u64 new_pkts;

	*left = (struct quell_labnic_credits) { };
	if (!flow) {
		left->first_pkts = !tcp_sk(sk)->data_segs_out;
		return;
	}
	express = &flow->express;
	new_pkts = flow->reported_pkts - flow->seen_pkts;
	flow->seen_pkts = flow->reported_pkts;
	if (new_pkts && express_wants_stop(express, sk, ktime_get_ns())) {
		express->stops = true;
		left->stops = true;
	}
	if (express->is_stopped || express->stops)
		left->first_pkts = 1;
	else
		left->granted_pkts = new_pkts;
}

/* 0 or -EINVAL, with the reason in @extack. */
static int labnic_express_check(const struct labnic_port *port,
				const struct quellnic_credit *config,
				struct netlink_ext_ack *extack)
{
	if (config->first_q16 <= 1U << 16 && config->w_q16 && config->w_q16 <= 1U << 15 &&
	    express_interval_ns_q16(port, true) <= EXPRESS_INTERVAL_MAX_NS << 16)
		return 0;
	NL_SET_ERR_MSG(extack, "quellnic: first rate above 1, w not up to 0.5, or too slow a line");
	return -EINVAL;
}

/* With labnic_credit_lock. */
static u32 credit_first_bytes;		/* the same at all cards */
static bool credit_is_express;		/* as well */
static u32 credit_cards_nr;

/* A first window in packets of this payload. */
static u32 credit_first_pkts(u32 payload_bytes)
{
	return DIV_ROUND_UP(credit_first_bytes, max_t(u32, payload_bytes, 1));
}

/* A reset ends both directions, and a SYN begins anew, for the card that sends or receives it. */
static void credit_reset(const struct labnic_credit *credit, const struct labnic_credit_key *key)
{
	struct labnic_credit_key keys[] = { *key, labnic_credit_reverse(key) };
	struct labnic_credit_flow *flow;
	int i;

	for (i = 0; i < 4; i++) {
		flow = labnic_credit_find(&keys[i / 2], i % 2);
		if (flow && flow->credit == credit)
			labnic_credit_remove(flow);
	}
}

/* A FIN is received or sent: the acknowledgment of it ends the flow; @flow may be NULL. */
static void credit_note_end(struct labnic_credit_flow *flow, const struct labnic_segment *segment)
{
	if (!flow || !segment->is_fin)
		return;
	flow->has_end = true;
	flow->end_seq = segment->seq + segment->payload_bytes + 1;
}

/* Put a flow that has demand where its turn comes; a flow that is there already keeps its turn. */
static void credit_queue(struct labnic_credit_flow *flow)
{
	bool wants = flow->again_pkts ||
		     (s64)(flow->granted_pkts + credit_first_pkts(flow->payload_bytes)) <
		     flow->wanted_pkts;
	struct labnic_credit *credit = flow->credit;

	if (!flow->demand_pkts || (!list_empty(&flow->waits) && flow->is_wanting == wants))
		return;
	flow->is_wanting = wants;
	list_move_tail(&flow->waits, wants ? &credit->wanting : &credit->spare);
}

static struct labnic_credit_flow *credit_next(struct labnic_credit *credit)
{
	return list_first_entry_or_null(&credit->wanting, struct labnic_credit_flow, waits) ?:
	       list_first_entry_or_null(&credit->spare, struct labnic_credit_flow, waits);
}

static void credit_grant(struct labnic_credit_flow *flow)
{
	struct labnic_credit *credit = flow->credit;

	flow->demand_pkts--;
	flow->again_pkts -= !!flow->again_pkts;
	flow->granted_pkts++;
	credit->stats.granted_pkts++;
	list_del_init(&flow->waits);
	credit_queue(flow);
	if (list_empty(&flow->untold))
		list_add_tail(&flow->untold, &credit->untold);
}

/*
 * Book the time of a packet, of which the pacer lets "percent" into the line.  The product is
 * below 2^17 bits * 2^37 plus a remainder below 2^49.
 */
static void credit_book(struct labnic_credit *credit, u32 frame_bytes, u64 now_ns)
{
	u64 bits = 8ULL * (max_t(u32, frame_bytes, LABNIC_FRAME_MIN_BYTES) +
			   LABNIC_WIRE_OVERHEAD_BYTES);

	if (credit->next_ns + !!credit->next_frac < now_ns) {
		credit->next_ns = now_ns;
		credit->next_frac = 0;
	}
	credit->next_ns += div64_u64_rem(bits * NSEC_PER_SEC * 100 + credit->next_frac,
					 credit->port->rate_bits_ps * credit->config.percent,
					 &credit->next_frac);
}

static void credit_serve(struct labnic_credit *credit, u64 now_ns)
{
	struct labnic_credit_flow *flow;

	lockdep_assert_held(&labnic_credit_lock);
	while ((flow = credit_next(credit))) {
		if (credit->next_ns + !!credit->next_frac > now_ns)
			break;
		credit_book(credit, flow->frame_bytes, now_ns);
		credit_grant(flow);
	}
	if (!flow || credit->is_armed)
		return;
	credit->is_armed = true;
	hrtimer_start(&credit->timer, ns_to_ktime(credit->next_ns + !!credit->next_frac),
		      HRTIMER_MODE_ABS_SOFT);
}

/*
 * Send a pull to each sender not yet notified of its credit.  To be called when the host had the
 * chance to acknowledge received packets.
 */
void labnic_credit_send_pulls(struct labnic_port *port)
{
	struct labnic_credit *credit = port->credit;
	struct labnic_credit_flow *flow;
	struct sk_buff *skb;

	spin_lock_bh(&labnic_credit_lock);
	while ((flow = list_first_entry_or_null(&credit->untold, struct labnic_credit_flow,
						untold))) {
		list_del_init(&flow->untold);
		/* Before its first ACK no ACK can be repeated; that will have the number. */
		if (!flow->ack.head_bytes)
			continue;
		skb = labnic_credit_pull(&flow->ack, &flow->key, flow->granted_pkts, 0);
		if (WARN_ON_ONCE(!skb))
			continue;
		skb->dev = port->dev;
		credit->stats.pull_pkts++;
		/* Comes back here by labnic_credit_transmit(). */
		spin_unlock_bh(&labnic_credit_lock);
		dev_queue_xmit(skb);
		spin_lock_bh(&labnic_credit_lock);
	}
	spin_unlock_bh(&labnic_credit_lock);
}

/* Send the credits of ExpressPass that are due. */
static void credit_express(struct labnic_credit *credit)
{
	struct sk_buff *skb;

	spin_lock_bh(&labnic_credit_lock);
	while ((skb = labnic_express_next(credit, ktime_get_ns()))) {
		/* Comes back here by labnic_credit_transmit(). */
		spin_unlock_bh(&labnic_credit_lock);
		dev_queue_xmit(skb);
		spin_lock_bh(&labnic_credit_lock);
	}
	labnic_express_arm(credit);
	spin_unlock_bh(&labnic_credit_lock);
}

static enum hrtimer_restart credit_timer(struct hrtimer *timer)
{
	struct labnic_credit *credit = container_of(timer, struct labnic_credit, timer);

	if (labnic_is_express(credit)) {
		credit_express(credit);
		return HRTIMER_NORESTART;
	}
	spin_lock_bh(&labnic_credit_lock);
	credit->is_armed = false;
	credit_serve(credit, ktime_get_ns());
	spin_unlock_bh(&labnic_credit_lock);
	labnic_credit_send_pulls(credit->port);
	return HRTIMER_NORESTART;
}

/* Data came in. */
static void credit_data(struct labnic_credit *credit, const struct labnic_segment *segment,
			u64 now_ns)
{
	struct labnic_credit_flow *flow = labnic_credit_add(credit, &segment->key, false);
	u32 first_pkts;

	if (!flow)
		return;
	flow->frame_bytes = max(flow->frame_bytes, segment->frame_bytes);
	flow->payload_bytes = max(flow->payload_bytes, segment->payload_bytes);
	if (segment->is_trimmed) {
		flow->again_pkts++;
		credit->stats.trimmed_pkts++;
	} else {
		credit->stats.whole_pkts++;
	}
	if (labnic_is_express(credit)) {
		labnic_express_data(flow, segment, now_ns);
		labnic_express_arm(credit);
		return;
	}
	first_pkts = credit_first_pkts(flow->payload_bytes);
	flow->wanted_pkts = flow->granted_pkts + first_pkts +
		(s16)(segment->number - (u16)(flow->granted_pkts + first_pkts));
	flow->demand_pkts++;
	credit_queue(flow);
	credit_serve(credit, now_ns);
}

/* With ExpressPass: any acknowledgment, a credit among them, or one by which a sender stops. */
static void credit_express_received(struct labnic_segment *segment)
{
	struct labnic_credit_key key = labnic_credit_reverse(&segment->key);
	struct labnic_credit_flow *flow = labnic_credit_find(&key, true);

	if (flow)
		labnic_express_receive(flow, segment);
	flow = segment->is_bare && !segment->is_pull ? labnic_credit_find(&segment->key, false) :
						       NULL;
	if (flow)
		labnic_express_stopped(flow, segment->number);
}

/* An acknowledgment came in: how many credits this host was granted.  An older one says less. */
static void credit_received(const struct labnic_segment *segment)
{
	struct labnic_credit_key key = labnic_credit_reverse(&segment->key);
	struct labnic_credit_flow *flow = labnic_credit_find(&key, true);
	s16 more_pkts;

	if (!flow)
		return;
	more_pkts = segment->number - (u16)flow->reported_pkts;
	flow->reported_pkts += max_t(s16, more_pkts, 0);
}

void labnic_credit_receive(struct labnic_port *port, struct sk_buff *skb, u64 now_ns)
{
	struct labnic_credit_flow *flow;
	struct labnic_credit_key reverse;
	struct labnic_segment segment;

	if (!labnic_segment_read(skb, 0, &segment))
		return;
	spin_lock_bh(&labnic_credit_lock);
	if (segment.is_rst || segment.is_syn)
		credit_reset(port->credit, &segment.key);
	else if (segment.has_data)
		credit_data(port->credit, &segment, now_ns);
	if (labnic_is_express(port->credit))
		credit_express_received(&segment);
	else if (segment.is_bare)
		credit_received(&segment);
	credit_note_end(labnic_credit_find(&segment.key, false), &segment);
	reverse = labnic_credit_reverse(&segment.key);
	flow = labnic_credit_find(&reverse, true);
	if (flow && flow->has_end && segment.ack_seq == flow->end_seq)
		labnic_credit_remove(flow);
	spin_unlock_bh(&labnic_credit_lock);
	if (segment.is_pull)
		WARN_ON_ONCE(!labnic_credit_explain(skb, &segment));
}

/*
 * Number an acknowledgment that is about to leave, and forget its flow if it acknowledges the end.
 * False where no flow of this card is acknowledged.
 */
static bool credit_number_ack(const struct labnic_port *port, const struct sk_buff *skb,
			      const struct labnic_segment *segment, u16 *number)
{
	struct labnic_credit_key key = labnic_credit_reverse(&segment->key);
	struct labnic_credit_flow *flow;

	spin_lock_bh(&labnic_credit_lock);
	flow = labnic_credit_find(&key, false);
	if (!flow || flow->credit != port->credit) {
		spin_unlock_bh(&labnic_credit_lock);
		return false;
	}
	*number = flow->granted_pkts;
	list_del_init(&flow->untold);
	labnic_credit_note_ack(skb, segment, &flow->ack);
	labnic_express_acked(flow, ktime_get_ns());
	if (flow->has_end && segment->ack_seq == flow->end_seq)
		labnic_credit_remove(flow);
	spin_unlock_bh(&labnic_credit_lock);
	return true;
}

/*
 * With ExpressPass, number an acknowledgment that is about to leave; false: the frame keeps its
 * number.  Data acknowledges, too, and has its number from quell_labnic_express_number().
 */
static bool credit_express_number(struct labnic_port *port, const struct sk_buff *skb,
				  const struct labnic_segment *segment, u16 *number)
{
	struct labnic_credit_flow *flow;

	if (segment->is_pull || (!segment->is_bare && !segment->has_data))
		return false;
	credit_number_ack(port, skb, segment, number);
	spin_lock_bh(&labnic_credit_lock);
	labnic_express_arm(port->credit);
	flow = segment->is_bare ? labnic_credit_find(&segment->key, true) : NULL;
	*number = flow ? labnic_express_stops(flow, ktime_get_ns()) : 0;
	spin_unlock_bh(&labnic_credit_lock);
	return segment->is_bare;
}

/* Number a frame that is about to leave.  Softirq, or bottom halves off. */
void labnic_credit_transmit(struct labnic_port *port, struct sk_buff *skb)
{
	struct labnic_segment segment;
	u16 number;

	if (!labnic_segment_read(skb, skb_network_offset(skb), &segment))
		return;
	if (segment.is_rst || segment.is_syn) {
		spin_lock_bh(&labnic_credit_lock);
		credit_reset(port->credit, &segment.key);
		spin_unlock_bh(&labnic_credit_lock);
		return;
	}
	spin_lock_bh(&labnic_credit_lock);
	credit_note_end(segment.has_data ? labnic_credit_add(port->credit, &segment.key, true) :
					   labnic_credit_find(&segment.key, true), &segment);
	spin_unlock_bh(&labnic_credit_lock);
	if (labnic_is_express(port->credit)) {
		if (!credit_express_number(port, skb, &segment, &number))
			return;
	} else if (segment.has_data) {
		if (!skb->sk || !sk_fullsock(skb->sk))
			return;
		number = labnic_credit_wanted_pkts(skb->sk);
	} else if (!segment.is_bare || !credit_number_ack(port, skb, &segment, &number)) {
		return;
	}
	WARN_ON_ONCE(!labnic_segment_number(skb, &segment, number));
}

/*
 * Account data sent since the last request, to credits that the socket had then, or to its
 * first window, and grants since.  At a start only its first window is left.
 */
static void credit_spend(struct labnic_credit_flow *flow, const struct tcp_sock *tp, bool is_start)
{
	u32 sent_pkts = tp->data_segs_out - flow->sent_pkts;
	s64 unasked_pkts = sent_pkts - clamp_t(s64, flow->left_pkts, 0, sent_pkts);

	if (!flow->sent_pkts)
		flow->first_pkts = credit_first_pkts(tp->mss_cache);
	unasked_pkts = min_t(s64, unasked_pkts, flow->first_pkts);
	flow->sent_pkts = tp->data_segs_out;
	flow->first_pkts -= unasked_pkts;
	flow->left_pkts += flow->reported_pkts - flow->seen_pkts - (sent_pkts - unasked_pkts);
	flow->seen_pkts = flow->reported_pkts;
	if (is_start && flow->left_pkts > 0) {
		flow->first_pkts += flow->left_pkts;
		flow->left_pkts = 0;
	}
}

/**
 * quell_labnic_credits() - how many packets a socket may still send
 * @sk: TCP socket, connected; all that it has sent since the last call was allowed by that
 * @is_start: it has no data in flight and begins again
 * @left: set when the result is true
 *
 * Context: any but a hard interrupt.
 * Return: false where no card has credits.
 */
bool quell_labnic_credits(const struct sock *sk, bool is_start, struct quell_labnic_credits *left)
{
	struct labnic_credit_key key = labnic_credit_key_of(sk);
	struct labnic_credit_flow *flow;
	bool has_cards;

	spin_lock_bh(&labnic_credit_lock);
	has_cards = credit_cards_nr;
	flow = has_cards ? labnic_credit_find(&key, true) : NULL;
	if (has_cards && credit_is_express) {
		labnic_express_transmit(flow, sk, left);
	} else if (flow) {
		credit_spend(flow, tcp_sk(sk), is_start);
		left->first_pkts = flow->first_pkts;
		left->granted_pkts = max_t(s64, flow->left_pkts, 0);
	} else if (has_cards) {
		/* It has sent no data. */
		u32 first_pkts = credit_first_pkts(tcp_sk(sk)->mss_cache);

		left->first_pkts = first_pkts - min(first_pkts, tcp_sk(sk)->data_segs_out);
		left->granted_pkts = 0;
	}
	spin_unlock_bh(&labnic_credit_lock);
	return has_cards;
}
EXPORT_SYMBOL_GPL(quell_labnic_credits);

/**
 * quell_labnic_express_number() - number data that TCP hands over
 * @skb: a frame at its host's port, before it waits there
 *
 * TCP sends at once for a credit, so the newest is its own; a request may have any number.  A frame
 * without data does not change.
 *
 * Context: softirq, or bottom halves off.
 */
void quell_labnic_express_number(struct sk_buff *skb)
{
	struct labnic_credit_flow *flow;
	struct labnic_segment segment;
	u16 number = 0;

	if (!skb->sk || !labnic_segment_read(skb, skb_network_offset(skb), &segment) ||
	    !segment.has_data)
		return;
	spin_lock_bh(&labnic_credit_lock);
	flow = labnic_credit_find(&segment.key, true);
	if (flow) {
		labnic_express_sends(flow);
		number = flow->express.told;
	}
	spin_unlock_bh(&labnic_credit_lock);
	WARN_ON_ONCE(!labnic_segment_number(skb, &segment, number));
}
EXPORT_SYMBOL_GPL(quell_labnic_express_number);

/**
 * quell_labnic_is_credit() - whether a packet is a credit of ExpressPass
 * @skb: any
 *
 * Context: any.
 */
bool quell_labnic_is_credit(const struct sk_buff *skb)
{
	struct labnic_segment segment;

	return labnic_segment_read(skb, skb_network_offset(skb), &segment) && segment.is_pull;
}
EXPORT_SYMBOL_GPL(quell_labnic_is_credit);

/* Whether a card has the kind and first window of the others; it then counts as one of them. */
static bool credit_join(const struct quellnic_credit *config)
{
	bool is_same;

	spin_lock_bh(&labnic_credit_lock);
	is_same = !credit_cards_nr || (credit_first_bytes == config->first_bytes &&
				       credit_is_express == !!config->first_q16);
	if (is_same) {
		credit_first_bytes = config->first_bytes;
		credit_is_express = config->first_q16;
		credit_cards_nr++;
	}
	spin_unlock_bh(&labnic_credit_lock);
	return is_same;
}

/*
 * Have a port hand out credits.  Before the device is registered.  Returns 0, -EINVAL for values
 * out of range or another first window than that of other ports, -ENOMEM.
 */
int labnic_credit_create(struct labnic_port *port, const struct quellnic_credit *config,
			 struct netlink_ext_ack *extack)
{
	struct labnic_credit *credit;

	if (!config->percent || config->percent > 100 || !config->first_bytes) {
		NL_SET_ERR_MSG(extack, "quellnic: credits are for 1 to 100 % and a first window");
		return -EINVAL;
	}
	if (config->first_q16 && labnic_express_check(port, config, extack))
		return -EINVAL;
	credit = kzalloc(sizeof(*credit), GFP_KERNEL);
	if (!credit)
		return -ENOMEM;
	credit->port = port;
	credit->config = *config;
	INIT_LIST_HEAD(&credit->wanting);
	INIT_LIST_HEAD(&credit->spare);
	INIT_LIST_HEAD(&credit->untold);
	timerqueue_init_head(&credit->due);
	quell_hrtimer_setup(&credit->timer, credit_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	if (!credit_join(config)) {
		NL_SET_ERR_MSG(extack, "quellnic: kind and first window are the same at all cards");
		kfree(credit);
		return -EINVAL;
	}
	port->credit = credit;
	return 0;
}

/* Forget the flows of a port.  A frame that still arrives begins anew. */
void labnic_credit_stop(struct labnic_port *port)
{
	if (!port->credit)
		return;
	spin_lock_bh(&labnic_credit_lock);
	labnic_credit_remove_all(port->credit);
	spin_unlock_bh(&labnic_credit_lock);
	hrtimer_cancel(&port->credit->timer);
	spin_lock_bh(&labnic_credit_lock);
	port->credit->is_armed = false;
	spin_unlock_bh(&labnic_credit_lock);
}

void labnic_credit_stats(const struct labnic_port *port, struct quellnic_credit_stats *stats)
{
	spin_lock_bh(&labnic_credit_lock);
	*stats = port->credit->stats;
	spin_unlock_bh(&labnic_credit_lock);
}

/* With RTNL or, from the destructor, without; frames are no longer received. */
void labnic_credit_free(struct labnic_port *port)
{
	if (!port->credit)
		return;
	labnic_credit_stop(port);
	kfree(port->credit);
	port->credit = NULL;
	spin_lock_bh(&labnic_credit_lock);
	credit_cards_nr--;
	spin_unlock_bh(&labnic_credit_lock);
}
