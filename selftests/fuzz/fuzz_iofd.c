// SPDX-License-Identifier: GPL-2.0
/*
 * Drives <quell/core/port/iofd.h> with packets of a few flows, changes of its parameters
 * and alternates that come and go, and stops where a promise is broken:
 *
 *	no packet can overtake one of its flow: it takes the path of the previous one,
 *	or leaves idle_ns after it, or its sender had no data outstanding, or, where the end
 *	packet frees the entry, it belongs to another message: the one before ended, or it
 *	is a start without a stamp
 *	deflection of a flow begins with a start packet that has a token and finds
 *	more than the threshold queued, by an alternate that works and is not barred, and,
 *	where the shorter queue is chosen, has less queued than all bands of the port
 *	a deflected packet takes a working alternate, its flow's, or is lost
 *	the table holds no flow twice, and as many flows as it counts
 *	each packet is counted once
 *
 * The model is the network's: for each flow it knows the time and path of the last
 * packet, and whether its sender really had no data outstanding.
 */
#include <stdio.h>
#include <stdlib.h>

#include <quell/core/port/iofd.h>

#include "input.h"

#define FLOWS	12
#define DIRECT	(-1)

struct flow_model {
	u64 sent_ns;	/* departure of the last packet that was not dropped */
	int way;	/* path of that packet: alternate (as renumbered), GONE or DIRECT */
	bool sent;
	bool ended;	/* that packet was the end of a message */
	u32 stamp;	/* of the current burst */
	bool clean;	/* the sender had no data outstanding when the burst began */
	bool under_way;	/* a packet of the burst was not dropped */
};

struct network {
	struct quell_iofd_params params;
	struct quell_iofd_vars vars;
	struct quell_iofd_stats stats;
	struct flow_model flow[FLOWS];
	u64 now_ns;
	u64 packets, direct;
	u32 working;
};

static struct network net;

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static struct quell_iofd_flow flow_of(u32 id)
{
	/* Some flows differ in the last word alone. */
	return (struct quell_iofd_flow) { .word = { [0] = id % 5, [10] = id / 5 } };
}

/* Fill in a packet as a truthful sender does. */
static void make(struct quell_iofd_packet *packet, struct flow_model *flow, u8 what)
{
	packet->flags = what & (QUELL_IOFD_START | QUELL_IOFD_END);
	/* 0x20: a new burst, perhaps with no data outstanding; else a packet of the last one. */
	if (what & 0x20) {
		flow->stamp++;
		flow->clean = what & 0x10 && what & QUELL_IOFD_START;
		flow->under_way = false;
	}
	if (what & 0x10) {
		packet->flags |= QUELL_IOFD_STAMPED;
		if (flow->clean)
			packet->flags |= QUELL_IOFD_START | QUELL_IOFD_CLEAN;
	}
	packet->stamp = flow->stamp;
}

static void judge(const struct quell_iofd_packet *packet, struct flow_model *flow,
		  enum quell_iofd_verdict verdict, u8 alternate, u64 flows_before)
{
	bool begun = net.stats.flows != flows_before;
	int way = verdict == QUELL_IOFD_DEFLECT ? alternate : DIRECT;
	bool clean = flow->clean && !flow->under_way;
	bool another = flow->ended || (packet->flags & QUELL_IOFD_START &&
				       !(packet->flags & QUELL_IOFD_STAMPED));

	if (begun) {
		require(packet->flags & QUELL_IOFD_START && packet->tokens &&
			packet->queued_bytes > net.params.threshold_bytes &&
			net.params.entries, "begins with a start, a token, a queue");
		require(~packet->barred >> alternate & 1, "not by a barred one");
		require(!net.params.shorter ||
			packet->alternate_bytes[alternate] < packet->own_bytes,
			"not by a longer one");
	}
	if (verdict == QUELL_IOFD_LOST) {
		require(flow->sent && flow->way != DIRECT &&
			!quell_iofd_has(packet->working, flow->way), "lost as its way is");
		flow->ended |= packet->flags & QUELL_IOFD_END;
		return;
	}
	if (way != DIRECT)
		require(quell_iofd_has(packet->working, alternate), "a working alternate");
	require(!flow->sent || flow->way == way || clean ||
		(net.params.end_frees && another) ||
		net.now_ns - flow->sent_ns >= net.params.idle_ns, "order");
	require(way == DIRECT || begun || (flow->sent && flow->way == way),
		"deflected as before");
	flow->sent = true;
	flow->ended = packet->flags & QUELL_IOFD_END;
	flow->sent_ns = net.now_ns;
	flow->way = way;
	flow->under_way = true;
}

static void packet(struct input *in)
{
	static const u32 bytes[QUELL_IOFD_ALTERNATES_MAX] = { 0, 200000, 99999, 100000 };
	u32 id = take_byte(in) % FLOWS;
	u64 flows_before = net.stats.flows;
	struct quell_iofd_packet packet = {
		.flow = flow_of(id),
		.now_ns = net.now_ns,
		.bytes = 1,
		.working = net.working,
		.alternate_bytes = bytes,
	};
	enum quell_iofd_verdict verdict;
	u8 alternate = QUELL_IOFD_REMOVED;
	u8 what = take_byte(in);

	make(&packet, &net.flow[id], what);
	packet.tokens = what & 0x80 ? 0 : 3;
	packet.queued_bytes = what & 0x40 ? 0 : 100000;
	packet.own_bytes = packet.queued_bytes;
	packet.barred = what & 0x08 ? take_byte(in) : 0;
	verdict = quell_iofd_decide(&net.vars, &net.params, &net.stats, &packet, &alternate);
	net.packets++;
	net.direct += verdict == QUELL_IOFD_DIRECT;
	judge(&packet, &net.flow[id], verdict, alternate, flows_before);
}

/* Alternates exchange numbers, or one is taken away. */
static void remap(struct input *in)
{
	u8 to[QUELL_IOFD_ALTERNATES_MAX], turn = take_byte(in), i;

	for (i = 0; i < QUELL_IOFD_ALTERNATES_MAX; i++)
		to[i] = turn & 0x80 && i == (turn & 0xf) ? QUELL_IOFD_REMOVED :
			(i + turn) % QUELL_IOFD_ALTERNATES_MAX;
	quell_iofd_remap(&net.vars, to);
	for (i = 0; i < FLOWS; i++)
		if (net.flow[i].way != DIRECT && net.flow[i].way != QUELL_IOFD_REMOVED)
			net.flow[i].way = to[net.flow[i].way];
}

/* The port deflects no packets for a while, and the core does not see the packets sent. */
static void off_and_on(struct input *in)
{
	u32 id;

	if (quell_iofd_binds(&net.vars, &net.params, net.now_ns))
		return;
	for (id = 0; id < FLOWS; id++) {
		if (net.flow[id].sent && net.flow[id].way != DIRECT &&
		    !(net.params.end_frees && net.flow[id].ended))
			require(net.now_ns - net.flow[id].sent_ns >= net.params.idle_ns,
				"binds while order does");
		net.flow[id].sent = true;
		net.flow[id].way = DIRECT;
		net.flow[id].sent_ns = net.now_ns;
	}
	net.now_ns += take_byte(in);
	quell_iofd_begin(&net.vars, net.now_ns);
	for (id = 0; id < FLOWS; id++)
		net.flow[id].sent_ns = net.now_ns;
}

static void check_table(void)
{
	u32 i, k, used = 0;

	for (i = 0; i < QUELL_IOFD_ENTRIES_MAX; i++) {
		if (net.vars.entry[i].state == QUELL_IOFD_FREE)
			continue;
		used++;
		for (k = 0; k < i; k++)
			require(net.vars.entry[k].state == QUELL_IOFD_FREE ||
				!quell_iofd_same(&net.vars.entry[i].flow, &net.vars.entry[k].flow),
				"no flow twice");
	}
	require(used == net.vars.used, "used are counted");
	require(net.packets == net.direct + net.stats.pkts + net.stats.lost_pkts,
		"each packet once");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };

	net = (struct network) { .params = { 15000, 4, 100, false, false }, .working = 0x7 };
	net.params.end_frees = in.size & 1;
	net.params.shorter = in.size & 2;
	quell_iofd_seed(&net.vars, take(&in, 16));
	while (in.size) {
		u8 what = take_byte(&in);

		if (what < 0xa0) {
			net.now_ns += what & 0xf;
			packet(&in);
		} else if (what < 0xd0) {
			net.now_ns += what & 0x1 ? net.params.idle_ns - (what & 0x2 ? 1 : 0) :
						   take_byte(&in);
		} else if (what < 0xe0) {
			net.working = take_byte(&in) * 0x101;
		} else if (what < 0xe8) {
			net.params.entries = take_byte(&in) % (QUELL_IOFD_ENTRIES_MAX + 1);
		} else if (what < 0xf0) {
			remap(&in);
		} else {
			off_and_on(&in);
		}
		check_table();
	}
	return 0;
}
