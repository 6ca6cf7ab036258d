// SPDX-License-Identifier: GPL-2.0
/*
 * quell_sockstate: fields of a TCP socket that congestion control may change, beyond those that
 * socket options show.
 *
 * getsockopt(fd, IPPROTO_IP or IPPROTO_IPV6, SOCKSTATE) returns "name=value" words, for
 * option_tcp's command "state".
 */
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/uaccess.h>
#include <net/inet_ecn.h>
#include <net/tcp.h>
#include <compat/tcp_ecn.h>

#define SOCKSTATE		0x5155
#define SOCKSTATE_BYTES		1024

static int sockstate_print(const struct sock *sk, char *to)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct {
		const char *name;
		u64 value;
	} fields[] = {
		{ "ca_flags",		icsk->icsk_ca_ops->flags & TCP_CONG_NEEDS_ECN },
		{ "gso_max_segs",	sk->sk_gso_max_segs },
		{ "gso_max_size",	sk->sk_gso_max_size },
		{ "pacing_status",	sk->sk_pacing_status },
		{ "max_pacing_rate",	sk->sk_max_pacing_rate },
		{ "pacing_shift",	sk->sk_pacing_shift },
		{ "ext_hdr_len",	icsk->icsk_ext_hdr_len },
		{ "mss",		tp->mss_cache },
		{ "header_len",		tp->tcp_header_len },
		{ "cwnd_clamp",		tp->snd_cwnd_clamp },
		{ "ecn_ok",		quell_ecn_is_negotiated(tp) },
		{ "delack_max",		icsk->icsk_delack_max },
		{ "rto_min",		icsk->icsk_rto_min },
		{ "ack_pending",	icsk->icsk_ack.pending },
		{ "reordering",		tp->reordering },
		{ "reord_seen",		tp->reord_seen },
		{ "reo_wnd_steps",	tp->rack.reo_wnd_steps },
		{ "reo_wnd_persist",	tp->rack.reo_wnd_persist },
		/* From here on they differ from connection to connection. */
		{ "cwnd",		tcp_snd_cwnd(tp) },
		{ "packets_out",	tp->packets_out },
		{ "srtt_us",		tp->srtt_us >> 3 },
		{ "pacing_rate",	sk->sk_pacing_rate },
		{ "tos",		inet_sk(sk)->tos & INET_ECN_MASK },
		{ "ahead_ns",		max_t(s64, tp->tcp_wstamp_ns - tp->tcp_clock_cache, 0) },
	};
	int bytes, i;

	bytes = scnprintf(to, SOCKSTATE_BYTES, "ca=%s", icsk->icsk_ca_ops->name);
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		bytes += scnprintf(to + bytes, SOCKSTATE_BYTES - bytes, " %s=%llu",
				   fields[i].name, fields[i].value);
	return bytes;
}

static int sockstate_get(struct sock *sk, int optval, void __user *user, int *len)
{
	char *text;
	int bytes;

	if (sk->sk_protocol != IPPROTO_TCP || sk->sk_state == TCP_LISTEN)
		return -EOPNOTSUPP;
	text = kmalloc(SOCKSTATE_BYTES, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	lock_sock(sk);
	bytes = sockstate_print(sk, text);
	release_sock(sk);
	if (bytes > *len)
		bytes = -ENOSPC;
	else if (copy_to_user(user, text, bytes))
		bytes = -EFAULT;
	kfree(text);
	if (bytes < 0)
		return bytes;
	*len = bytes;
	return 0;
}

static struct nf_sockopt_ops sockstate_ops[] = {
	{
		.pf		= PF_INET,
		.get_optmin	= SOCKSTATE,
		.get_optmax	= SOCKSTATE + 1,
		.get		= sockstate_get,
		.owner		= THIS_MODULE,
	},
	{
		.pf		= PF_INET6,
		.get_optmin	= SOCKSTATE,
		.get_optmax	= SOCKSTATE + 1,
		.get		= sockstate_get,
		.owner		= THIS_MODULE,
	},
};

static int __init sockstate_init(void)
{
	int err = nf_register_sockopt(&sockstate_ops[0]);

	if (err)
		return err;
	err = nf_register_sockopt(&sockstate_ops[1]);
	if (err)
		nf_unregister_sockopt(&sockstate_ops[0]);
	return err;
}

static void __exit sockstate_exit(void)
{
	nf_unregister_sockopt(&sockstate_ops[1]);
	nf_unregister_sockopt(&sockstate_ops[0]);
}

module_init(sockstate_init);
module_exit(sockstate_exit);

MODULE_DESCRIPTION("State of TCP sockets, for tests");
MODULE_LICENSE("GPL");
