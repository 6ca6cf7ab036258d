// SPDX-License-Identifier: GPL-2.0
/*
 * The receive side of connections with the active sender set, <quell/core/dart/set.h>: packets
 * arrive in any order, are lost and retransmitted, and a connection is active while
 *
 *	the newest data by sequence number had more of its message behind it, or
 *	data before that is missing.
 *
 * From the first packet of a message until all of it has come its sender must be in the set,
 * and then no longer.
 */
#include <stdlib.h>
#include <string.h>

#include <quell/core/dart/set.h>

#include "random.h"
#include "test.h"

#define PKTS_MOST	64
#define CONNS_MOST	32
#define MESSAGES_MOST	8
#define RTT_NS		10000

static const struct quell_dasr_params params = { 2000000000, 1000000, 0 };

/* State of TCP and of the hook for one connection; sequence numbers count packets. */
struct receiver {
	struct quell_dasr_conn conn;
	struct quell_dasr_peer peer;
	bool got[PKTS_MOST];
	bool ends[PKTS_MOST];	/* the last packet of a message: without MORE */
	u32 pkts;
	u32 rcv_nxt;		/* all packets below came */
	u32 top;		/* the packet after the newest */
	bool top_has_more;
};

static void receiver_init(struct receiver *r, struct quell_dasr_sender *sender,
			  struct quell_dasr_user *user)
{
	memset(r, 0, sizeof(*r));
	r->peer = (struct quell_dasr_peer) { .sender = sender, .user = user };
	r->conn.peer = &r->peer;
}

static void receiver_message(struct receiver *r, u32 pkts)
{
	r->pkts += pkts;
	r->ends[r->pkts - 1] = true;
}

/*
 * A packet is received.  The receive hook is before TCP, with the gaps until now.  An
 * acknowledgment leaves when TCP has the packet.
 */
static void receive(struct quell_dasr_set *set, struct receiver *r, u32 pkt, u64 now_ns)
{
	if (pkt >= r->top) {
		r->top = pkt + 1;
		r->top_has_more = !r->ends[pkt];
	}
	/* The last packet of a message comes before others, or one that was missing comes. */
	if (pkt >= r->rcv_nxt)
		quell_dasr_data(set, &params, &r->conn, r->top_has_more || pkt > r->rcv_nxt ||
				pkt + 1 < r->top, now_ns);
	r->got[pkt] = true;
	while (r->rcv_nxt < r->pkts && r->got[r->rcv_nxt])
		r->rcv_nxt++;
	if (!r->top_has_more && r->rcv_nxt >= r->top)
		quell_dasr_end(set, &r->conn);
}

/* Whether a message has begun to arrive and has not arrived in full. */
static bool is_arriving(const struct receiver *r)
{
	u32 first = 0, i, k, came;

	for (i = 0; i < r->pkts; i++) {
		if (!r->ends[i])
			continue;
		for (k = first, came = 0; k <= i; k++)
			came += r->got[k];
		if (came && came < i + 1 - first)
			return true;
		first = i + 1;
	}
	return false;
}

static bool is_complete(const struct receiver *r)
{
	return r->rcv_nxt == r->pkts;
}

/* Active while a message arrives; not once everything has come. */
static bool is_right(const struct receiver *r)
{
	if (is_arriving(r))
		return r->conn.active;
	return !is_complete(r) || !r->conn.active;
}

struct one {
	struct quell_dasr_set set;
	struct quell_dasr_sender sender;
	struct quell_dasr_user user;
	struct receiver r;
};

static void one_init(struct one *x, u32 pkts)
{
	memset(x, 0, sizeof(*x));
	x->sender.weight = 1;
	receiver_init(&x->r, &x->sender, &x->user);
	receiver_message(&x->r, pkts);
}

/* Packets of one message arrive in the order given. */
static bool arrives_right(struct one *x, const u32 *order)
{
	bool right = true;
	u32 i;

	for (i = 0; i < x->r.pkts; i++) {
		receive(&x->set, &x->r, order[i], 1000 * i);
		right = right && is_right(&x->r) &&
			x->set.hosts == (i + 1 < x->r.pkts);
	}
	return right && !x->set.hosts && !x->set.weight && x->set.joins == (x->r.pkts > 1) &&
	       x->set.leaves == x->set.joins && !x->set.ages[0].oldest;
}

/* Every packet in turn is lost, and comes as any later one, or after all. */
TEST(every_packet_lost)
{
	u32 order[PKTS_MOST], pkts, lost, after, i, k, histories = 0;
	bool right = true;
	struct one x;

	for (pkts = 1; pkts <= 32; pkts++) {
		for (lost = 0; lost < pkts; lost++) {
			for (after = lost; after < pkts; after++) {
				for (i = 0, k = 0; i < pkts; i++)
					order[i] = i == after ? lost : (k += k == lost, k++);
				one_init(&x, pkts);
				right = right && arrives_right(&x, order);
				histories++;
			}
		}
	}
	expect(right, "every_packet_lost_and_retransmitted");
	printf("# %u messages with one loss\n", histories);
}

/* Several losses and reordering together: all orders of six packets. */
static bool permute(u32 *order, u32 from, u32 *histories)
{
	bool right = true;
	struct one x;
	u32 i;

	if (from == 6) {
		(*histories)++;
		one_init(&x, 6);
		return arrives_right(&x, order);
	}
	for (i = from; i < 6; i++) {
		u32 first = order[i];

		order[i] = order[from];
		order[from] = first;
		right = permute(order, from + 1, histories) && right;
		order[from] = order[i];
		order[i] = first;
	}
	return right;
}

TEST(every_order)
{
	u32 order[6] = { 0, 1, 2, 3, 4, 5 }, histories = 0;

	expect(permute(order, 0, &histories), "every_order_of_six_packets");
	expect_eq(720, histories, "orders");
}

/* Duplicates, and packets after the last one, have no effect. */
TEST(duplicates)
{
	struct one x;
	u32 i;

	one_init(&x, 4);
	for (i = 0; i < 8; i++)
		receive(&x.set, &x.r, i / 2, i);
	expect(!x.set.hosts && x.set.joins == 1 && x.set.leaves == 1, "each_twice");
	for (i = 0; i < 4; i++)
		receive(&x.set, &x.r, i, 10 + i);
	expect(!x.set.hosts && x.set.joins == 1, "all_again");
}

/* Hosts, several connections each, some messages on each: sprayed, with losses. */
struct incast {
	struct quell_dasr_set set;
	struct quell_dasr_sender senders[CONNS_MOST];
	struct quell_dasr_user user;
	struct receiver r[CONNS_MOST];
	u32 hosts, conns;
	struct arrival {
		u64 at_ns;
		u32 conn, pkt;
	} arrivals[CONNS_MOST * PKTS_MOST];
	u32 arrivals_nr;
};

static int earlier(const void *left, const void *right)
{
	const struct arrival *a = left, *b = right;

	return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

/* Paths of different lengths, and a round trip or several more for lost packets. */
static u64 arrival_ns(struct random_state *r, u64 sent_ns, u32 loss_pct)
{
	while (random_between(r, 1, 100) <= loss_pct)
		sent_ns += RTT_NS;
	return sent_ns + random_between(r, 0, RTT_NS / 2);
}

static void incast_init(struct random_state *r, struct incast *x)
{
	u32 loss_pct = random_between(r, 0, 1) ? random_between(r, 0, 30) : 0;
	u32 i, k;

	memset(x, 0, sizeof(*x));
	x->conns = random_between(r, 1, CONNS_MOST);
	x->hosts = random_between(r, 1, x->conns);
	for (i = 0; i < x->hosts; i++)
		x->senders[i].weight = random_between(r, 1, QUELL_DASR_WEIGHT_MAX);
	for (i = 0; i < x->conns; i++) {
		u64 sent_ns = random_between(r, 0, 5 * RTT_NS);

		receiver_init(&x->r[i], &x->senders[i % x->hosts], &x->user);
		for (k = random_between(r, 1, MESSAGES_MOST); k; k--)
			receiver_message(&x->r[i], random_between(r, 1, PKTS_MOST /
								  MESSAGES_MOST));
		for (k = 0; k < x->r[i].pkts; k++) {
			sent_ns += random_between(r, 0, 200);
			if (k && x->r[i].ends[k - 1])
				sent_ns += random_magnitude(r, 0, 20 * RTT_NS);
			x->arrivals[x->arrivals_nr++] = (struct arrival) {
				arrival_ns(r, sent_ns, loss_pct), i, k,
			};
		}
	}
	qsort(x->arrivals, x->arrivals_nr, sizeof(x->arrivals[0]), earlier);
}

/* The set counted from received packets. */
static bool incast_is_right(const struct incast *x)
{
	u32 i, k, hosts = 0, weight = 0;

	for (i = 0; i < x->conns; i++)
		if (!is_right(&x->r[i]))
			return false;
	for (k = 0; k < x->hosts; k++) {
		bool active = false;

		for (i = k; i < x->conns; i += x->hosts)
			active = active || (x->r[i].rcv_nxt < x->r[i].top ||
					    (x->r[i].top && x->r[i].top_has_more));
		hosts += active;
		weight += active ? x->senders[k].weight : 0;
	}
	return x->set.hosts == hosts && x->set.weight == weight;
}

TEST(sprayed_incasts)
{
	static struct incast x;
	struct random_state r = { 3 };
	bool right = true, empty = true;
	u64 packets = 0, joins = 0;
	u32 i, k;

	for (i = 0; i < 1000; i++) {
		incast_init(&r, &x);
		for (k = 0; k < x.arrivals_nr; k++) {
			const struct arrival *a = &x.arrivals[k];

			receive(&x.set, &x.r[a->conn], a->pkt, a->at_ns);
			quell_dasr_expire(&x.set, &params, a->at_ns);
			right = right && incast_is_right(&x);
		}
		empty = empty && !x.set.hosts && !x.set.weight && !x.set.expiries &&
			!x.set.ages[0].oldest && x.set.joins == x.set.leaves;
		packets += x.arrivals_nr;
		joins += x.set.joins;
	}
	expect(right, "in_the_set_while_a_message_arrives");
	expect(empty, "empty_when_all_has_come");
	expect(joins > 10000, "incasts_come_and_go");
	printf("# %llu packets, %llu joins\n", packets, joins);
}

/* n of each sender of two incasts, the second of which begins within the first. */
TEST(overlapping_incasts)
{
	static struct receiver r[16];
	struct quell_dasr_sender senders[16];
	struct quell_dasr_user user = { 0 };
	struct quell_dasr_set set;
	bool right = true;
	u32 i, k;

	memset(&set, 0, sizeof(set));
	for (i = 0; i < 16; i++) {
		senders[i] = (struct quell_dasr_sender) { .weight = 1 };
		receiver_init(&r[i], &senders[i], &user);
		receiver_message(&r[i], 4);
	}
	/* Senders 0 to 7 send a packet each, then all, then the first ones end. */
	for (i = 0; i < 8; i++) {
		receive(&set, &r[i], 0, i);
		right = right && quell_dasr_n_q8(&set, &r[i].conn) == (i + 1) * 256;
	}
	for (i = 0; i < 16; i++)
		receive(&set, &r[i], i < 8, 100 + i);
	right = right && quell_dasr_n_q8(&set, &r[0].conn) == 16 * 256;
	expect(right, "both_incasts_count");
	for (i = 0; i < 8; i++) {
		for (k = 2; k < 4; k++)
			receive(&set, &r[i], k, 200 + i);
		right = right && set.hosts == 15 - i &&
			quell_dasr_n_q8(&set, &r[15].conn) == (15 - i) * 256;
	}
	expect(right, "the_first_incast_leaves");
	for (i = 8; i < 16; i++)
		for (k = 1; k < 4; k++)
			receive(&set, &r[i], k, 300 + i);
	expect(!set.hosts && set.joins == 16 && set.leaves == 16, "both_have_left");
}

/* Senders that die in the middle of a message stay for a lifetime; the others are not hurt. */
TEST(killed)
{
	struct quell_dasr_sender senders[8];
	struct quell_dasr_user user = { 0 };
	struct quell_dasr_set set;
	static struct receiver r[8];
	u64 now_ns = 0;
	u32 i, k;

	memset(&set, 0, sizeof(set));
	for (i = 0; i < 8; i++) {
		senders[i] = (struct quell_dasr_sender) { .weight = 1 };
		receiver_init(&r[i], &senders[i], &user);
		receiver_message(&r[i], 40);
	}
	/* The odd ones die after a packet, the others send one each 100 ms. */
	for (k = 0; k < 40; k++, now_ns += 100000000) {
		for (i = 0; i < 8; i++)
			if (!k || !(i % 2))
				receive(&set, &r[i], k, now_ns);
		quell_dasr_expire(&set, &params, now_ns);
		/* Within 1/8 of a lifetime after 2 s either is right. */
		if (k < 20 || (k > 22 && k < 39)) {
			expect_eq(k < 20 ? 8 : 4, set.hosts, "killed_for_a_lifetime, %u", k);
		}
	}
	expect(!set.hosts && set.expiries == 4 && set.leaves == 4, "killed_and_ended");
	/* One that was not dead goes on. */
	receive(&set, &r[1], 2, now_ns);
	expect(set.hosts == 1 && r[1].conn.active, "risen");
	/* It dies again; a retransmission of missing data raises it, too. */
	now_ns += 3000000000;
	quell_dasr_expire(&set, &params, now_ns);
	expect_eq(0, set.hosts, "dead_again");
	receive(&set, &r[1], 1, now_ns);
	expect_eq(1, set.hosts, "risen_by_a_retransmission");
}

TEST_HARNESS_MAIN
