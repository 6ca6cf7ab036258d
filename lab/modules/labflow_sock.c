// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labflow: the sockets of a flow.
 *
 * Both ends live in softirq, so that no process has to be woken and only TCP
 * and the wire take time.  The sender gives a whole message to TCP with
 * tcp_sendmsg_locked() and refills after sk_write_space; the receiver
 * consumes in sk_data_ready, which an accepted socket inherits from its
 * listener, so accept() itself can wait until the end.
 *
 * The payload is never copied: every byte refers to one shared block of
 * pseudo-random bytes, at an offset that depends on the flow and the position
 * in the stream.  The receiver compares the bytes it gets with that block.
 */
#include <linux/bitops.h>
#include <linux/bvec.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/inet_connection_sock.h>
#include <net/ip.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "labflow.h"

/*
 * Flows that wait for others.
 *
 * A flow may begin only when its host knows that the other is through.  The
 * host that sent the other one knows when all of it is acknowledged, the host
 * that received it when all of it is delivered; no other host knows.
 *
 * TCP calls sk_write_space on every ACK while SOCK_NOSPACE is set.  So a sender
 * that another flow waits for sets it once TCP has all of the message, when no flow
 * waits for space any more.
 */

static struct labflow_flow *labflow_find(u32 id)
{
	u32 i;

	/* As a rule flows are numbered from 1. */
	if (id <= lab.n_flows && lab.flows[id - 1]->id == id)
		return lab.flows[id - 1];
	for (i = 0; i < lab.n_flows; i++)
		if (lab.flows[i]->id == id)
			return lab.flows[i];
	return NULL;
}

/*
 * Find the flows that others wait for.  lab.mutex held.  Returns 0, or -EINVAL with the reason in
 * lab.error.
 */
int labflow_after_resolve(void)
{
	struct labflow_flow *flow, *other;
	u32 i;

	for (i = 0; i < lab.n_flows; i++) {
		flow = lab.flows[i];
		/* Of a network in parts, in that of its host. */
		if (!flow->after_id || !flow->is_sender)
			continue;
		other = labflow_find(flow->after_id);
		if (!other || other == flow) {
			labflow_fail("flow %u: no other flow %u to wait for", flow->id,
				     flow->after_id);
			return -EINVAL;
		}
		if (flow->src_net != other->src_net && flow->src_net != other->dst_net) {
			labflow_fail("flow %u: its host does not see the end of flow %u",
				     flow->id, other->id);
			return -EINVAL;
		}
		if (other->connection->is_shared && flow->src_net != other->dst_net) {
			labflow_fail("flow %u: flow %u is shared, only its receiver sees its end",
				     flow->id, other->id);
			return -EINVAL;
		}
		flow->next_dependent = other->dependents;
		other->dependents = flow;
	}
	return 0;
}

/* Start the flows of a host that wait for this one. */
static void labflow_after_start(const struct labflow_flow *flow, const struct net *net)
{
	u64 now_ns = ktime_get_ns() - lab.t0_ns;
	struct labflow_flow *next;

	for (next = flow->dependents; next; next = next->next_dependent) {
		if (next->src_net != net || next->is_due)
			continue;
		next->is_due = true;
		next->start_ns += now_ns;
		if (lab.is_part)
			labflow_part_flow_started(next);
		hrtimer_start(&next->timer, ns_to_ktime(lab.t0_ns + next->start_ns),
			      HRTIMER_MODE_ABS_SOFT);
	}
}

/* An ACK came; softirq, socket locked. */
static void labflow_after_write_space(struct sock *sk)
{
	struct labflow_flow *flow = sk->sk_user_data;

	if (!flow || !labflow_sock_all_acked(flow))
		return;
	clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	if (lab.state == LABFLOW_RUNNING)
		labflow_after_start(flow, flow->src_net);
}

/* TCP has all of a flow's message.  Sending socket locked. */
static void labflow_after_sent(struct labflow_flow *flow)
{
	struct sock *sk = flow->connection->sock->sk;

	if (!flow->dependents || flow->connection->is_shared)
		return;
	write_lock(&sk->sk_callback_lock);
	sk->sk_write_space = labflow_after_write_space;
	write_unlock(&sk->sk_callback_lock);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
}

/* The last byte of a flow was delivered.  Receiving socket locked. */
void labflow_after_delivered(const struct labflow_flow *flow)
{
	if (flow->dependents)
		labflow_after_start(flow, flow->dst_net);
}

/*
 * Messages of a connection, one behind the other.
 *
 * A flow is a message.  It has a connection of its own, or takes that of an
 * earlier flow between the same two ends: then its bytes follow those of the
 * messages that started before it, and it is through when its own last byte is
 * delivered.  The state of congestion control is kept from one message
 * to the next.
 *
 * The sending socket's lock guards the list and @unsent, the receiving one's
 * @undelivered; only one softirq runs at a time.
 */

static int labflow_message_take(struct labflow_flow *flow)
{
	struct labflow_flow *other = labflow_find(flow->on_id);

	if (!other || other == flow || other->on_id) {
		labflow_fail("flow %u: flow %u has no connection of its own to take", flow->id,
			     flow->on_id);
		return -EINVAL;
	}
	if (flow->src_net != other->src_net || flow->dst_net != other->dst_net) {
		labflow_fail("flow %u: the connection of flow %u is between others", flow->id,
			     other->id);
		return -EINVAL;
	}
	if (flow->stop_ns || other->stop_ns || flow->dscp != other->dscp) {
		labflow_fail("flow %u: on the connection of flow %u with a stop, or another DSCP",
			     flow->id, other->id);
		return -EINVAL;
	}
	flow->connection = other;
	other->is_shared = true;
	return 0;
}

/*
 * Find the connections of all flows.  lab.mutex held.  Returns 0, or -EINVAL with the reason in
 * lab.error.
 */
int labflow_message_resolve(void)
{
	int err;
	u32 i;

	for (i = 0; i < lab.n_flows; i++) {
		struct labflow_flow *flow = lab.flows[i];

		flow->connection = flow;
		if (!flow->on_id)
			continue;
		err = labflow_message_take(flow);
		if (err)
			return err;
	}
	return 0;
}

/* Put a flow's message behind the last one of its connection.  Sending socket locked. */
void labflow_message_enqueue(struct labflow_flow *flow)
{
	struct labflow_flow *connection = flow->connection;
	struct labflow_flow *before = connection->newest;

	flow->begin_bytes = before ? before->end_bytes : connection->warm_bytes;
	flow->end_bytes = flow->begin_bytes + flow->bytes;
	if (before)
		before->next_message = flow;
	connection->newest = flow;
	if (!connection->unsent)
		connection->unsent = flow;
	if (!connection->undelivered)
		connection->undelivered = flow;
	labflow_governed_begin(flow);
}

/*
 * Write started messages into the socket as far as it has room.  Each message is pushed as its
 * application's send() would, not joined with the next.  Sending socket locked.  Returns false
 * after an error, which is recorded.
 */
bool labflow_message_push(struct labflow_flow *connection)
{
	struct labflow_flow *flow;

	for (flow = connection->unsent; flow; flow = connection->unsent) {
		if (!labflow_sock_push(connection, flow->end_bytes))
			return false;
		if (connection->pushed_bytes < flow->end_bytes)
			return true;	/* the buffer is full */
		connection->unsent = flow->next_message;
		labflow_after_sent(flow);
	}
	return true;
}

/*
 * Finish the messages that the receiver has all of.  Softirq or BH disabled, receiving socket
 * locked.
 */
static void labflow_message_delivered(struct labflow_flow *connection)
{
	struct labflow_flow *flow;

	for (flow = connection->undelivered;
	     flow && connection->delivered_bytes >= flow->end_bytes;
	     flow = connection->undelivered) {
		connection->undelivered = flow->next_message;
		labflow_flow_done(flow);
	}
}

/* 0 to the bytes of the flow; 0 before it starts. */
u64 labflow_message_part(const struct labflow_flow *flow, u64 position_bytes)
{
	if (!flow->end_bytes || position_bytes <= flow->begin_bytes)
		return 0;
	return min(position_bytes, flow->end_bytes) - flow->begin_bytes;
}

/*
 * End of the first message that the receiver has not all of; of the last one if there is no such.
 */
static u64 labflow_message_due_bytes(const struct labflow_flow *connection)
{
	if (connection->undelivered)
		return connection->undelivered->end_bytes;
	return connection->newest ? connection->newest->end_bytes :
	       connection->warm_bytes + connection->bytes;
}

/* True before the first message of a connection and while all that started are delivered. */
bool labflow_is_quiet(const struct labflow_flow *connection)
{
	u64 end_ns = connection->started ? connection->newest->end_ns : 1;

	return end_ns && end_ns + lab.known_ns <= ktime_get_ns();
}

#define LABFLOW_PATTERN_ORDER	4
#define LABFLOW_PATTERN_BYTES	(PAGE_SIZE << LABFLOW_PATTERN_ORDER)
/* A prime, so that neighbouring flows differ at every position. */
#define LABFLOW_PATTERN_STRIDE	4099
#define LABFLOW_PUSH_VECS	16
/*
 * Unsent bytes kept in a socket.  Refilling takes no time, so this is not a
 * limit of the flow; it only keeps a long message from filling the memory,
 * and hence the caches, with packets that leave much later.
 */
#define LABFLOW_UNSENT_BYTES	(128 << 10)

static unsigned int sndbuf_bytes = 16 << 20;
module_param(sndbuf_bytes, uint, 0444);
MODULE_PARM_DESC(sndbuf_bytes, "Send buffer of every flow, 65536..1073741824 bytes");

static unsigned int rcvbuf_bytes = 64 << 20;
module_param(rcvbuf_bytes, uint, 0444);
MODULE_PARM_DESC(rcvbuf_bytes, "Receive buffer of every flow, 65536..1073741824 bytes");

static unsigned int drain_bytes = 1;
module_param(drain_bytes, uint, 0444);
MODULE_PARM_DESC(drain_bytes, "Bytes a receiver lets gather before it reads them, 1..1073741824");

static unsigned int hold_ns;
module_param(hold_ns, uint, 0444);
MODULE_PARM_DESC(hold_ns, "A process holds every receiving socket for so long in turn, 0..1000000000 ns");

#define LABFLOW_HOLD_MAX_NS	1000000000u
#define LABFLOW_BUF_MIN_BYTES	65536u
#define LABFLOW_BUF_MAX_BYTES	1073741824u

static struct page *pattern_pages;
static u8 *pattern;

static u32 labflow_pattern_offset(const struct labflow_flow *flow, u64 position)
{
	return (position + (u64)flow->index * LABFLOW_PATTERN_STRIDE) &
	       (LABFLOW_PATTERN_BYTES - 1);
}

/* The flow of a receiving socket, identified by both ports and the namespace. */
static struct labflow_flow *labflow_of_receiver(const struct sock *sk)
{
	u32 index = ntohs(inet_sk(sk)->inet_dport) - LABFLOW_SPORT_BASE;

	for (; index < lab.n_flows; index += LABFLOW_SPORTS)
		if (lab.flows[index]->dst_net == sock_net(sk) &&
		    lab.flows[index]->dport == inet_sk(sk)->inet_num)
			return lab.flows[index];
	return NULL;
}

/*
 * Whether the bytes are the block's own.  A packet that nobody had to copy refers to the
 * block itself, and memory equals itself; the kernel's memcmp() goes byte by byte here.
 */
static bool labflow_is_equal(const u8 *data, const u8 *block, u32 bytes)
{
	if (likely(data == block))
		return true;
	for (; bytes >= sizeof(u64); bytes -= sizeof(u64)) {
		u64 got, wanted;

		__builtin_memcpy(&got, data, sizeof(got));
		__builtin_memcpy(&wanted, block, sizeof(wanted));
		if (got != wanted)
			return false;
		data += sizeof(u64);
		block += sizeof(u64);
	}
	return !memcmp(data, block, bytes);
}

/* Compare len bytes of skb with the flow's pattern; true when equal. */
static bool labflow_verify(const struct labflow_flow *flow, struct sk_buff *skb,
			   unsigned int offset, size_t len)
{
	u64 position = flow->delivered_bytes;
	struct skb_seq_state seq;
	unsigned int seen = 0;
	bool equal = true;
	const u8 *data;
	u32 n;

	skb_prepare_seq_read(skb, offset, offset + len, &seq);
	while (equal && (n = skb_seq_read(seen, &data, &seq))) {
		u32 at = labflow_pattern_offset(flow, position + seen);

		n = min_t(u32, n, LABFLOW_PATTERN_BYTES - at);
		equal = labflow_is_equal(data, pattern + at, n);
		seen += n;
	}
	skb_abort_seq_read(&seq);
	return equal && seen == len;
}

static int labflow_rx_actor(read_descriptor_t *desc, struct sk_buff *skb,
			    unsigned int offset, size_t len)
{
	struct labflow_flow *flow = desc->arg.data;

	if (unlikely(!labflow_verify(flow, skb, offset, len)))
		labflow_fail("flow %u: wrong bytes delivered at %llu", flow->id,
			     flow->delivered_bytes);
	flow->delivered_bytes += len;
	return len;
}

/*
 * Reading sends an ACK after every packet that the sender pushed; a receiver
 * that waits leaves ACKs to TCP's own rules, by which they are delayed.
 */
static bool labflow_rx_waits(const struct labflow_flow *flow, const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 unread_bytes = tp->rcv_nxt - tp->copied_seq;

	return unread_bytes < drain_bytes &&
	       flow->delivered_bytes + unread_bytes < labflow_message_due_bytes(flow);
}

/* Runs in softirq with the socket locked, as tcp_read_sock() requires. */
static void labflow_rx_data_ready(struct sock *sk)
{
	struct labflow_flow *flow;
	read_descriptor_t desc = { .count = 1 };

	if (sk->sk_state == TCP_LISTEN)
		return;
	flow = labflow_of_receiver(sk);
	if (!flow || labflow_rx_waits(flow, sk))
		return;
	desc.arg.data = flow;
	/* The backlog of a socket that a process owned is handled in process context. */
	local_bh_disable();
	tcp_read_sock(sk, &desc, labflow_rx_actor);
	labflow_message_delivered(flow);
	local_bh_enable();
}

/*
 * A receiver that reads at once can offer its whole buffer from the first
 * ACK on (as with an initrwnd route); TCP alone opens the window only as data
 * arrives, which would throttle a line-rate start.
 */
static void labflow_rx_state_change(struct sock *sk)
{
	struct labflow_flow *flow = labflow_of_receiver(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (sk->sk_state != TCP_ESTABLISHED)
		return;
	tp->rcv_ssthresh = max(tp->rcv_ssthresh, tp->window_clamp);
	if (flow && !flow->receiver) {
		sock_hold(sk);
		flow->receiver = sk;
	}
}

/*
 * Packets that arrive while a process holds the socket wait in its backlog, and
 * TCP delays the ACKs until the whole backlog is processed.
 */
static int labflow_holder(void *unused)
{
	while (!kthread_should_stop()) {
		u32 i;

		for (i = 0; i < lab.n_flows; i++) {
			struct sock *sk = READ_ONCE(lab.flows[i]->receiver);

			if (!sk)
				continue;
			lock_sock(sk);
			labflow_sleep_ns(hold_ns);
			release_sock(sk);
		}
		labflow_sleep_ns(hold_ns);
	}
	return 0;
}

static struct task_struct *labflow_holder_task;

/*
 * Start the process that holds the receiving sockets in turn.  Only if the module was loaded with
 * hold_ns.  lab.mutex held.
 */
int labflow_hold_start(void)
{
	if (!hold_ns)
		return 0;
	labflow_holder_task = kthread_run(labflow_holder, NULL, "labflow-hold");
	if (!IS_ERR(labflow_holder_task))
		return 0;
	labflow_holder_task = NULL;
	return -ENOMEM;
}

/* Must run before the flows are freed. */
static void labflow_hold_stop(void)
{
	if (labflow_holder_task)
		kthread_stop(labflow_holder_task);
	labflow_holder_task = NULL;
}

/*
 * Send from a timer, even at once: TCP calls back in the middle of sending and
 * of connecting, where it must not be asked to send again.
 */
static void labflow_send_in(struct labflow_flow *flow, u64 delay_ns)
{
	hrtimer_start(&flow->timer, ktime_add_ns(ktime_get(), delay_ns), HRTIMER_MODE_ABS_SOFT);
}

static void labflow_tx_write_space(struct sock *sk)
{
	struct labflow_flow *flow = sk->sk_user_data;

	/* As sk_stream_write_space(), a writer is woken once half of its limit has left. */
	if (!flow || !__sk_stream_is_writeable(sk, !!flow->queued_bytes))
		return;
	clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	labflow_send_in(flow, flow->wake_ns);
}

static void labflow_tx_state_change(struct sock *sk)
{
	struct labflow_flow *flow = sk->sk_user_data;

	if (flow && flow->connecting && sk->sk_state == TCP_ESTABLISHED)
		labflow_send_in(flow, 0);
	wake_up_interruptible_all(sk_sleep(sk));
}

static void labflow_tx_error_report(struct sock *sk)
{
	struct labflow_flow *flow = sk->sk_user_data;

	if (flow && !(flow->newest && flow->newest->end_ns) && !flow->stopped)
		labflow_fail("flow %u: connection error %d", flow->id,
			     -sk->sk_err);
	wake_up_interruptible_all(sk_sleep(sk));
}

static void labflow_lock_buffers(struct sock *sk)
{
	lock_sock(sk);
	sk->sk_userlocks |= SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK;
	WRITE_ONCE(sk->sk_sndbuf, sndbuf_bytes);
	WRITE_ONCE(sk->sk_rcvbuf, rcvbuf_bytes);
	release_sock(sk);
}

/*
 * Callers pass such an address as void *: the kernel's functions take a struct sockaddr *, those of
 * Linux 7.3 a type of their own.
 */
static int labflow_addr_bytes(const union labflow_addr *addr)
{
	return addr->sa.sa_family == AF_INET6 ? sizeof(addr->in6) : sizeof(addr->in4);
}

/* Set the DSCP of all the sender's packets, from the SYN on; TCP keeps the ECN field. */
static void labflow_set_dscp(struct sock *sk, u8 dscp)
{
	if (sk->sk_family == AF_INET) {
		ip_sock_set_tos(sk, dscp << LABFLOW_DSCP_SHIFT);
		return;
	}
	lock_sock(sk);
	inet6_sk(sk)->tclass = dscp << LABFLOW_DSCP_SHIFT;
	release_sock(sk);
}

static int labflow_listen(struct net *net, const union labflow_addr *addr)
{
	struct labflow_listener *listener;
	struct sock *sk;
	int err;

	list_for_each_entry(listener, &lab.listeners, node)
		if (listener->net == net &&
		    !memcmp(&listener->addr, addr, sizeof(*addr)))
			return 0;
	listener = kzalloc(sizeof(*listener), GFP_KERNEL);
	if (!listener)
		return -ENOMEM;
	listener->net = net;
	listener->addr = *addr;
	/* As an application's: sockets of the kernel hold no reference to their namespace. */
	err = __sock_create(net, addr->sa.sa_family, SOCK_STREAM, IPPROTO_TCP, &listener->sock, 0);
	if (err)
		goto free_listener;
	sk = listener->sock->sk;
	labflow_lock_buffers(sk);
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_data_ready = labflow_rx_data_ready;
	sk->sk_state_change = labflow_rx_state_change;
	write_unlock_bh(&sk->sk_callback_lock);
	err = kernel_bind(listener->sock, (void *)&listener->addr, labflow_addr_bytes(addr));
	if (!err)
		err = kernel_listen(listener->sock, LABFLOW_SPORTS);
	if (err)
		goto release_sock;
	list_add_tail(&listener->node, &lab.listeners);
	return 0;

release_sock:
	sock_release(listener->sock);
free_listener:
	kfree(listener);
	return err;
}

int labflow_sock_prepare(struct labflow_flow *flow)
{
	/* Any source address; the port has the same offset in both families. */
	union labflow_addr from = {
		.in6.sin6_family = flow->daddr.sa.sa_family,
		.in6.sin6_port = htons(LABFLOW_SPORT_BASE + flow->index % LABFLOW_SPORTS),
	};
	struct sock *sk;
	int err;

	static_assert(offsetof(struct sockaddr_in, sin_port) ==
		      offsetof(struct sockaddr_in6, sin6_port));
	err = flow->is_receiver ? labflow_listen(flow->dst_net, &flow->daddr) : 0;
	if (err || !flow->is_sender)
		return err;
	err = __sock_create(flow->src_net, from.sa.sa_family, SOCK_STREAM, IPPROTO_TCP,
			    &flow->sock, 0);
	if (err)
		return err;
	sk = flow->sock->sk;
	labflow_lock_buffers(sk);
	labflow_set_dscp(sk, flow->dscp);
	sock_set_reuseaddr(sk);
	tcp_sock_set_nodelay(sk);
	WRITE_ONCE(tcp_sk(sk)->notsent_lowat, flow->queued_bytes ?: LABFLOW_UNSENT_BYTES);
	/* Sending happens in softirq, so allocations must not sleep. */
	sk->sk_allocation = GFP_ATOMIC;
	sk->sk_sndtimeo = 2 * HZ;
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = flow;
	sk->sk_write_space = labflow_tx_write_space;
	sk->sk_state_change = labflow_tx_state_change;
	sk->sk_error_report = labflow_tx_error_report;
	write_unlock_bh(&sk->sk_callback_lock);
	return kernel_bind(flow->sock, (void *)&from, labflow_addr_bytes(&from));
}

/* Connect a flow.  Returns 0, -EINPROGRESS with O_NONBLOCK, or another negative error. */
int labflow_sock_connect(struct labflow_flow *flow, int flags)
{
	return kernel_connect(flow->sock, (void *)&flow->daddr,
			      labflow_addr_bytes(&flow->daddr), flags);
}

/*
 * Reset a connection at once, as when its application is killed.  Data not yet sent is discarded,
 * and the receiver gets a reset.
 */
void labflow_sock_abort(struct labflow_flow *flow)
{
	tcp_abort(flow->sock->sk, ECONNABORTED);
}

/* Give TCP one write's worth of payload; return the bytes taken or an error. */
static int labflow_push_some(struct labflow_flow *flow)
{
	struct msghdr msg = {
		.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_SPLICE_PAGES,
	};
	struct bio_vec vecs[LABFLOW_PUSH_VECS];
	u64 position = flow->pushed_bytes, limit_bytes = flow->limit_bytes;
	size_t total = 0;
	int n = 0;

	if (flow->queued_bytes)
		limit_bytes = min(limit_bytes, position + flow->queued_bytes);
	while (n < LABFLOW_PUSH_VECS && position < limit_bytes) {
		u32 at = labflow_pattern_offset(flow, position);
		u32 len = min_t(u64, limit_bytes - position, LABFLOW_PATTERN_BYTES - at);

		bvec_set_page(&vecs[n++], pattern_pages, len, at);
		position += len;
		total += len;
	}
	if (position < limit_bytes)
		msg.msg_flags |= MSG_MORE;
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, vecs, n, total);
	return tcp_sendmsg_locked(flow->sock->sk, &msg, total);
}

/*
 * Send payload up to a point of the stream.  Softirq or BH disabled, socket locked with
 * bh_lock_sock().  Returns false after an error, which is recorded.
 */
bool labflow_sock_push(struct labflow_flow *flow, u64 limit_bytes)
{
	flow->limit_bytes = limit_bytes;
	while (flow->pushed_bytes < limit_bytes) {
		int n = labflow_push_some(flow);

		if (n == -EAGAIN)
			return true;
		if (n <= 0) {
			labflow_fail("flow %u: cannot send: error %d", flow->id, n);
			return false;
		}
		flow->pushed_bytes += n;
	}
	return true;
}

/* Without the socket's lock. */
bool labflow_sock_all_acked(const struct labflow_flow *flow)
{
	const struct tcp_sock *tp = tcp_sk(flow->sock->sk);

	return READ_ONCE(tp->snd_una) == READ_ONCE(tp->write_seq);
}

/* Restore a socket's default callbacks, so that it may outlive this module. */
static void labflow_restore_callbacks(struct sock *sk, const struct sock *like)
{
	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = like->sk_data_ready;
	sk->sk_state_change = like->sk_state_change;
	sk->sk_write_space = like->sk_write_space;
	sk->sk_error_report = like->sk_error_report;
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
}

/*
 * Close every socket of the run.  Senders close first, with a FIN when they are finished and a
 * reset when not; then accepted sockets, which are still in the accept queue; then the listeners.
 * Orphans finish without this module.  With timers stopped.
 */
void labflow_sock_close_all(void)
{
	struct labflow_listener *listener, *next;
	struct socket *fresh, *child;
	u32 i;

	labflow_hold_stop();
	/* A new socket has the default callbacks. */
	if (sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
			     &fresh)) {
		labflow_fail("no memory to close sockets");
		return;
	}
	for (i = 0; i < lab.n_flows; i++) {
		struct labflow_flow *flow = lab.flows[i];

		if (flow->receiver)
			sock_put(flow->receiver);
		flow->receiver = NULL;
		if (!flow->sock)
			continue;
		labflow_restore_callbacks(flow->sock->sk, fresh->sk);
		if (!flow->newest || !flow->newest->end_ns)
			sock_no_linger(flow->sock->sk);
		sock_release(flow->sock);
		flow->sock = NULL;
	}
	list_for_each_entry_safe(listener, next, &lab.listeners, node) {
		while (!kernel_accept(listener->sock, &child, O_NONBLOCK)) {
			labflow_restore_callbacks(child->sk, fresh->sk);
			sock_release(child);
		}
		labflow_restore_callbacks(listener->sock->sk, fresh->sk);
		sock_release(listener->sock);
		list_del(&listener->node);
		kfree(listener);
	}
	sock_release(fresh);
}

/* A private generator: the pattern must not depend on the run's seed. */
static void labflow_fill_pattern(void)
{
	u32 state = 2463534242u, i;

	for (i = 0; i < LABFLOW_PATTERN_BYTES; i++) {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		pattern[i] = state >> 24;
	}
}

/*
 * Check parameters and make the payload.  Returns 0, -EINVAL for a parameter out of range, -ENOMEM.
 */
int labflow_sock_init(void)
{
	if (sndbuf_bytes < LABFLOW_BUF_MIN_BYTES ||
	    sndbuf_bytes > LABFLOW_BUF_MAX_BYTES ||
	    rcvbuf_bytes < LABFLOW_BUF_MIN_BYTES ||
	    rcvbuf_bytes > LABFLOW_BUF_MAX_BYTES) {
		pr_err("quell_labflow: sndbuf_bytes=%u and rcvbuf_bytes=%u must be %u..%u\n",
		       sndbuf_bytes, rcvbuf_bytes, LABFLOW_BUF_MIN_BYTES,
		       LABFLOW_BUF_MAX_BYTES);
		return -EINVAL;
	}
	if (!drain_bytes || drain_bytes > LABFLOW_BUF_MAX_BYTES) {
		pr_err("quell_labflow: drain_bytes=%u must be 1..%u\n",
		       drain_bytes, LABFLOW_BUF_MAX_BYTES);
		return -EINVAL;
	}
	if (hold_ns > LABFLOW_HOLD_MAX_NS) {
		pr_err("quell_labflow: hold_ns=%u must be 0..%u\n", hold_ns,
		       LABFLOW_HOLD_MAX_NS);
		return -EINVAL;
	}
	pattern_pages = alloc_pages(GFP_KERNEL | __GFP_COMP,
				    LABFLOW_PATTERN_ORDER);
	if (!pattern_pages)
		return -ENOMEM;
	pattern = page_address(pattern_pages);
	labflow_fill_pattern();
	return 0;
}

/* The block of payload, and its size. */
struct page *labflow_sock_payload(u32 *bytes)
{
	*bytes = LABFLOW_PATTERN_BYTES;
	return pattern_pages;
}

/* Free the payload.  Packets still in flight hold their own reference to it. */
void labflow_sock_exit(void)
{
	__free_pages(pattern_pages, LABFLOW_PATTERN_ORDER);
}
