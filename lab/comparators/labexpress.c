// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labexpress: ExpressPass, with which the Dart paper compares itself: congestion control
 * "expresspass", and the port, qdisc "labexpress" (labexpress_port.c).
 *
 * The credits are those of the cards (labnic_credit.c).  A sender's window is the data in flight,
 * and a packet for the credit that has just come in; so it sends one for each, new or lost, and
 * no other but its request and those of TCP's timers.  The rate is the receiver's, so there
 * is no window to compute, and quell.ko is not needed.
 */
#include <linux/module.h>
#include <net/tcp.h>
#include <quell/quell.h>

#include "labexpress.h"
#include "labnic_tap.h"

static void labexpress_bound(struct sock *sk)
{
	bool is_timeout = inet_csk(sk)->icsk_ca_state == TCP_CA_Loss;
	struct tcp_sock *tp = tcp_sk(sk);
	struct quell_labnic_credits left;
	u32 may_pkts;

	if (!quell_labnic_credits(sk, false, &left))
		return;
	may_pkts = tcp_packets_in_flight(tp) + left.granted_pkts + left.first_pkts;
	/* tcp_snd_cwnd_set() warns of 0. */
	tp->snd_cwnd = max_t(u32, may_pkts, is_timeout);
	if (left.stops)
		__tcp_send_ack(sk, tp->rcv_nxt, 0);
}

static void labexpress_cong_control(quell_cong_control_args)
{
	labexpress_bound(sk);
}

/* A credit without data in flight does not reach ->cong_control(). */
static void labexpress_in_ack_event(struct sock *sk, u32 flags)
{
	if (!tcp_sk(sk)->packets_out)
		labexpress_bound(sk);
}

/* Lost data is sent for credits, too. */
static u32 labexpress_keep(struct sock *sk)
{
	return max_t(u32, tcp_snd_cwnd(tcp_sk(sk)), 2);
}

static struct tcp_congestion_ops labexpress_ops __read_mostly = {
	.init		= labexpress_bound,
	.cong_control	= labexpress_cong_control,
	.in_ack_event	= labexpress_in_ack_event,
	.ssthresh	= labexpress_keep,
	.undo_cwnd	= labexpress_keep,
	.name		= "expresspass",
	.owner		= THIS_MODULE,
};

static int __init labexpress_register(void)
{
	int err = labexpress_port_register();

	if (err)
		return err;
	err = tcp_register_congestion_control(&labexpress_ops);
	if (err)
		labexpress_port_unregister();
	return err;
}

static void __exit labexpress_unregister(void)
{
	tcp_unregister_congestion_control(&labexpress_ops);
	labexpress_port_unregister();
}

module_init(labexpress_register);
module_exit(labexpress_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("ExpressPass, with which the Dart paper compares itself, in the laboratory");
MODULE_LICENSE("GPL");
