// SPDX-License-Identifier: GPL-2.0
/*
 * Direct apportioning of sending rates (Dart, section III): a flow as a receiver;
 * signal/signal.c has the sender.
 *
 *	data received		the connection is active if more of the message follows; once
 *				per period the kind of congestion of its interface is
 *				classified; in Receiver Congestion CE is cleared, so that TCP
 *				does not echo it, if the sender follows n
 *	a packet leaves		if all of a message has been received, the connection is no
 *				longer active; n is put into the option
 *	end of flow, reset	the connection is no longer active
 *
 *	active <=> the newest data, by sequence number, had MORE, or data before it is missing
 *
 * This is a level, so a lost packet's retransmission, or the next packet, restores it.
 * Missing data is known when TCP has processed the packet, hence when a packet leaves: the
 * ACK of a message's end, within 50 us if it is delayed for a reply (cc/probe.c).
 *
 * Only packets that TCP would accept, of established connections, reach this file.  A peer
 * counts as one host only, and no longer after it was silent for the time `idle'.
 */
#include <linux/slab.h>
#include <net/dsfield.h>
#include <net/tcp.h>
#include <quell/option.h>
#include "flow/flow.h"
#include "signal/signal.h"
#include "dart.h"

/* Socket lock; the flow is not published yet. */
bool dart_open(struct quell_flow *flow, const struct sock *sk)
{
	struct dart_flow *dart = quell_sock_alloc(sk, sizeof(*dart));

	if (!dart)
		return false;
	*dart = (struct dart_flow) { .top_seq = tcp_sk(sk)->rcv_nxt };
	flow->dasr = &dart->dasr;
	return true;
}

static void dart_unbind(struct dart_flow *dart)
{
	struct dart_port *port = dart->port;

	if (!port)
		return;
	spin_lock(&port->lock);
	quell_dasr_end(&port->set, &dart->conn);
	dart_count(port);
	dart_pair_put(port, dart->pair);
	spin_unlock(&port->lock);
	dart_port_put(port);
	dart->port = NULL;
}

/* Lock of @flow; a reader may still hold it. */
void dart_close(struct quell_flow *flow)
{
	lockdep_assert_held(&flow->lock);
	dart_unbind(dart_flow(flow));
}

static bool dart_get_pair(struct dart_flow *dart, struct dart_port *port,
			  const struct quell_flow *flow, const struct sock *sk)
{
	struct in6_addr peer = flow->daddr;

	/* IPv4 is mapped, so that it equals no IPv6 address. */
	if (flow->family == AF_INET)
		ipv6_addr_set_v4mapped(flow->daddr.s6_addr32[0], &peer);
	dart->pair = dart_pair_get(port, &peer, READ_ONCE(sk->sk_uid), sk);
	if (!dart->pair)
		return false;
	dart->conn = (struct quell_dasr_conn) { .peer = &dart->pair->peer };
	return true;
}

/* Under the lock: packets of others may expire the connection. */
static bool dart_is_active(const struct dart_flow *dart)
{
	bool active;

	spin_lock(&dart->port->lock);
	active = dart->conn.active;
	spin_unlock(&dart->port->lock);
	return active;
}

/* Binds a flow to the port on which data was received; NULL when memory is short. */
static noinline struct dart_port *dart_bind(struct quell_flow *flow, const struct sock *sk,
					    int ifindex)
{
	struct dart_flow *dart = dart_flow(flow);
	struct dart_port *port;
	bool done;

	/* Not within a message: packets may take turns between two interfaces. */
	if (dart->port && !READ_ONCE(dart->port->gone) && dart_is_active(dart))
		return dart->port;
	dart_unbind(dart);
	port = dart_port_get(flow->qnet, ifindex, sk);
	if (!port)
		goto no_memory;
	spin_lock(&port->lock);
	done = dart_get_pair(dart, port, flow, sk);
	spin_unlock(&port->lock);
	if (done) {
		dart->port = port;
		return port;
	}
	dart_port_put(port);
no_memory:
	quell_count_reported(flow->qnet, QUELL_N_DASR_NO_MEMORY);
	return NULL;
}

/*
 * Ends the port's period and drops expired connections, a bounded number per packet: a hundred
 * thousand are dropped within 2 ms at 10 Gbit/s.
 */
static noinline void dart_update_port(struct dart_port *port,
				      const struct quell_dart_params *params, u64 now_ns)
{
	struct quell_dart_machine_params machine = quell_dart_machine_params(params);
	struct quell_dasr_params soft = quell_dart_set_params(params);

	if (quell_dart_machine_is_due(&port->machine, &machine, now_ns)) {
		struct quell_dart_arrivals received = {
			.bytes = atomic64_read(&port->bytes),
			.marks = port->marks,
			.hosts = quell_dasr_take_most(&port->set),
		};

		if (quell_dart_machine_run(&port->machine, &machine, now_ns, &received,
					   quell_link_speed(port->qnet, port->ifindex)))
			quell_count(port->qnet, QUELL_N_DASR_STATE_CHANGES);
	}
	dart_port_expire(port, &soft, now_ns);
}

/*
 * Data that TCP does not have yet; returns whether the message continues.  The newest by sequence
 * number states that; it also does if data before or beyond this is missing.  Lock of the flow.
 */
static bool dart_note_data(struct dart_flow *dart, const struct quell_dasr_packet *packet,
			   bool plain, u32 rcv_nxt)
{
	if (after(packet->end_seq, dart->top_seq)) {
		dart->top_seq = packet->end_seq;
		dart->has_more = plain ? !packet->pushed :
					 !quell_opt_ends(packet->flags, packet->pushed);
	}
	return dart->has_more || after(packet->seq, rcv_nxt) ||
	       before(packet->end_seq, dart->top_seq);
}

/* Dart, figures 4(a) and 5.  LOCAL_IN hook, RCU.  Returns whether to hide the mark from TCP. */
bool dart_receive(struct quell_flow *flow, const struct sock *sk,
		  const struct quell_dasr_packet *packet)
{
	const struct quell_params_block *block;
	bool plain = READ_ONCE(flow->option) != QUELL_OPTION_ON, more = false, hides = false;
	u32 rcv_nxt = READ_ONCE(tcp_sk(sk)->rcv_nxt);
	struct quell_dart_machine_params machine;
	struct quell_dasr_params soft;
	bool is_new = after(packet->end_seq, rcv_nxt);
	struct dart_flow *dart = dart_flow(flow);
	const struct quell_dart_params *params;
	struct dart_port *port;
	u64 now_ns;

	block = rcu_dereference(flow->qnet->algos[flow->algo->slot].params);
	params = (const struct quell_dart_params *)block->data;
	machine = quell_dart_machine_params(params);
	soft = quell_dart_set_params(params);
	now_ns = ktime_get_ns();
	spin_lock_bh(&flow->lock);
	if (flow->closed)
		goto unlock;
	port = dart->port;
	if (!port || port->ifindex != packet->ifindex || READ_ONCE(port->gone)) {
		port = dart_bind(flow, sk, packet->ifindex);
		if (!port)
			goto unlock;
	}
	if (is_new)
		more = dart_note_data(dart, packet, plain, rcv_nxt);
	/*
	 * Most packets of a message change neither the port nor the set.  The port's lock alone
	 * protects the expiry of a connection, but a fresh one does not expire; the other values
	 * are checked again with the lock, or by the next packet.
	 */
	if (!packet->marked &&
	    /* See above. */
	    data_race(dart->conn.plain == plain && !port->is_behind &&
		      !quell_dart_machine_is_due(&port->machine, &machine, now_ns) &&
		      quell_dasr_is_fresh(&dart->conn, &soft, now_ns)))
		goto unlock;
	spin_lock(&port->lock);
	port->marks += packet->marked;
	if (port->is_behind || quell_dart_machine_is_due(&port->machine, &machine, now_ns))
		dart_update_port(port, params, now_ns);
	if (is_new) {
		if (dart->conn.plain != plain)
			quell_dasr_end(&port->set, &dart->conn);
		dart->conn.plain = plain;
		quell_dasr_data(&port->set, &soft, &dart->conn, more, now_ns);
	}
	dart_count(port);
	/* A sender that does not follow n is slowed down by marks only. */
	hides = packet->marked && !dart->conn.plain &&
		READ_ONCE(dart->dasr.peer_follows) &&
		!quell_dart_passes_marks(port->machine.state);
	spin_unlock(&port->lock);
unlock:
	spin_unlock_bh(&flow->lock);
	return hides;
}

/*
 * The sender must not count until the application closes its socket.  Only the exact sequence
 * number is accepted (RFC 5961).  LOCAL_IN hook, RCU read section.
 */
void dart_reset(struct quell_flow *flow, const struct sock *sk, u32 seq)
{
	struct dart_flow *dart = dart_flow(flow);
	struct dart_port *port;

	if (seq != READ_ONCE(tcp_sk(sk)->rcv_nxt))
		return;
	spin_lock_bh(&flow->lock);
	port = flow->closed ? NULL : dart->port;
	if (port) {
		spin_lock(&port->lock);
		quell_dasr_end(&port->set, &dart->conn);
		dart_count(port);
		spin_unlock(&port->lock);
	}
	spin_unlock_bh(&flow->lock);
}

/*
 * Dart, section III-A and figure 4(b).  The line rate fits only without a data section.  Lock of
 * @flow; the fields of @tp may be of different times.
 */
void dart_state(struct quell_flow *flow, const struct tcp_sock *tp, struct quell_opt *opt)
{
	struct dart_flow *dart = dart_flow(flow);
	struct dart_port *port;
	u64 n_q8;

	lockdep_assert_held(&flow->lock);
	if (!dart->port)
		return;
	port = dart->port;
	spin_lock(&port->lock);
	if (!dart->has_more && !dart->conn.plain &&
	    !before(READ_ONCE(tp->rcv_nxt), dart->top_seq)) {
		quell_dasr_end(&port->set, &dart->conn);
		dart_count(port);
	}
	n_q8 = quell_dart_states_n(port->machine.state) ?
	       quell_dasr_n_q8(&port->set, &dart->conn) : QUELL_SHARE_ONE_Q8;
	spin_unlock(&port->lock);
	opt->senders = quell_share_encode(n_q8);
	if (!(opt->flags & QUELL_OPT_F_DATA))
		opt->entropy = quell_line_encode(quell_link_speed(flow->qnet, port->ifindex));
}
