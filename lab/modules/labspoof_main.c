// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labspoof: bad input for quell.ko, at full speed, in the laboratory.
 *
 * Before a genuine packet of a Quell flow reaches its host, a number of made-up
 * packets of the same connection do: options and numbers changed, checksums
 * wrong, cut, in pages, cloned (labspoof_cases.c, labspoof_build.c).  After each
 * of them this module checks:
 *
 *	- quell.ko counted it once, in the counter of its defect
 *	- if it must be refused: the flow's context, to the byte, its exported state
 *	  and TCP's state of the connection are as they were
 *	- an echo on an ACK that is sampled was refused, and counted, or believed,
 *	  as labspoof_echo.c requires
 *	- an echo that was believed is of a departure the flow had, not before its
 *	  oldest data outstanding nor after its newest
 *	- a clone, as a sniffer has it, was not written to
 *
 * The genuine packet follows, so the flow goes on, and must complete unharmed.
 *
 *	debugfs quell_labspoof:	"case NAME sent", "expected COUNTER sent", then
 *				"NAME number" for totals and errors
 *
 * Everything happens in softirq, of which the laboratory has one at a time.
 */
#include <linux/debugfs.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netfilter_ipv4.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/tcp.h>
#include <compat/inet_lookup.h>

#include "flow/flow.h"
#include "signal/signal.h"
#include "flow/segments.h"
#include "netns/counters.h"
#include "netns/net.h"
#include "labspoof.h"

/* Marks made-up packets, so that they do not cause more of them. */
#define LABSPOOF_MARK		0x73706f6f
#define LABSPOOF_COPIES_MAX	10000
/* Copies with a sampled echo come first: later copies acknowledge the data themselves. */
#define LABSPOOF_SAMPLED_FIRST	16
/* One in this many genuine packets without news is used: most answer made-up packets. */
#define LABSPOOF_IDLE_OF	16
/* Errors of a kind that are printed; all are counted. */
#define LABSPOOF_SHOWN_MAX	20

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "Decides what is made up");

static unsigned int copies = 16;
module_param(copies, uint, 0444);
MODULE_PARM_DESC(copies, "Packets made up before each genuine one, 1..10000");

static unsigned int packets = 100000;
module_param(packets, uint, 0444);
MODULE_PARM_DESC(packets, "Packets made up in all");

static const struct {
	const char *name;
	enum quell_counter counter;
} verdicts[LABSPOOF_VERDICTS] = {
	[LABSPOOF_RECEIVED] = { "option-received", QUELL_N_OPTION_RECEIVED },
	[LABSPOOF_MALFORMED] = { "option-malformed", QUELL_N_OPTION_MALFORMED },
	[LABSPOOF_BAD_CHECKSUM] = { "option-bad-checksum", QUELL_N_OPTION_BAD_CHECKSUM },
	[LABSPOOF_OUT_OF_WINDOW] = { "option-out-of-window", QUELL_N_OPTION_OUT_OF_WINDOW },
	[LABSPOOF_SEGMENT_MALFORMED] = { "segment-malformed", QUELL_N_SEGMENT_MALFORMED },
	[LABSPOOF_SEGMENT_BAD_CHECKSUM] = { "segment-bad-checksum",
					    QUELL_N_SEGMENT_BAD_CHECKSUM },
	[LABSPOOF_SEGMENT_OUT_OF_WINDOW] = { "segment-out-of-window",
					     QUELL_N_SEGMENT_OUT_OF_WINDOW },
	[LABSPOOF_NACK_MALFORMED] = { "nack-malformed", QUELL_N_NACK_MALFORMED },
	[LABSPOOF_NACK_OUTSIDE] = { "nack-outside", QUELL_N_NACK_OUTSIDE },
	[LABSPOOF_NACK_STALE] = { "nack-stale", QUELL_N_NACK_STALE },
	[LABSPOOF_NACK_CHECKED] = { "nack-recovered", QUELL_N_NACK_RECOVERED },
};

/* State that a refused packet must not change. */
struct labspoof_state {
	struct quell_flow	flow;	/* the flow's context */
	/* Departure of the oldest data outstanding; 0 if there is no such data. */
	u64			oldest_ns;
	/* Round trips taken from echoes, and echoes refused. */
	u64			echoes[LABSPOOF_ECHOES];
	/* Counters, by enum labspoof_verdict. */
	u64			counted[LABSPOOF_VERDICTS];
	/* From here on: state of the socket. */
	u32			snd_una, snd_nxt, rcv_nxt, snd_cwnd, snd_ssthresh;
	u32			srtt_us, min_rtt_us, mss_cache, sacked_out, lost_out, retrans_out;
	u16			ext_hdr_len;
	u8			quick_acks;
	u8			ca_state;
};

static struct labspoof_state was, now;
static u64 *sent_by_case;
static u64 sent_by_verdict[LABSPOOF_VERDICTS];
static u64 sent_by_echo[LABSPOOF_ECHOES];
static u64 sent, wrong, changed, impossible, misjudged, refused, overwritten;
static struct dentry *labspoof_file;

static u64 counter_value(const struct quell_net *qnet, enum quell_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(qnet->counters, cpu)->value[counter];
	return sum;
}

static void take_state(struct labspoof_state *state, const struct sock *sk,
		       const struct quell_flow *flow)
{
	const struct quell_segments *segments = &flow->segments;
	const struct tcp_sock *tp = tcp_sk(sk);
	int i;

	state->oldest_ns = segments->head == segments->tail ? 0 :
		segments->ring[segments->head & (segments->size - 1)].depart_ns;
	memcpy(&state->flow, flow, sizeof(*flow));
	for (i = LABSPOOF_RECEIVED; i < LABSPOOF_VERDICTS; i++)
		state->counted[i] = counter_value(flow->qnet, verdicts[i].counter);
	state->echoes[LABSPOOF_ECHO_REFUSED] = counter_value(flow->qnet,
							     QUELL_N_RTT_ECHO_REFUSED);
	state->echoes[LABSPOOF_ECHO_BELIEVED] = counter_value(flow->qnet, QUELL_N_RTT_ECHO);
	state->snd_una = tp->snd_una;
	state->snd_nxt = tp->snd_nxt;
	state->rcv_nxt = tp->rcv_nxt;
	state->snd_cwnd = tp->snd_cwnd;
	state->snd_ssthresh = tp->snd_ssthresh;
	state->srtt_us = tp->srtt_us;
	state->min_rtt_us = tcp_min_rtt(tp);
	state->mss_cache = tp->mss_cache;
	state->sacked_out = tp->sacked_out;
	state->lost_out = tp->lost_out;
	state->retrans_out = tp->retrans_out;
	state->ext_hdr_len = inet_csk(sk)->icsk_ext_hdr_len;
	state->quick_acks = inet_csk(sk)->icsk_ack.quick;
	state->ca_state = inet_csk(sk)->icsk_ca_state;
}

/*
 * A NACK of outstanding data may be counted as recovered, stale or outside: accept any of
 * them.  Do not count the option that carries its echo.
 */
static void merge_nacks(enum labspoof_verdict verdict)
{
	if (verdict != LABSPOOF_NACK_CHECKED)
		return;
	now.counted[LABSPOOF_RECEIVED] = was.counted[LABSPOOF_RECEIVED];
	now.counted[LABSPOOF_NACK_CHECKED] += now.counted[LABSPOOF_NACK_OUTSIDE] -
					      was.counted[LABSPOOF_NACK_OUTSIDE];
	now.counted[LABSPOOF_NACK_OUTSIDE] = was.counted[LABSPOOF_NACK_OUTSIDE];
	now.counted[LABSPOOF_NACK_CHECKED] += now.counted[LABSPOOF_NACK_STALE] -
					      was.counted[LABSPOOF_NACK_STALE];
	now.counted[LABSPOOF_NACK_STALE] = was.counted[LABSPOOF_NACK_STALE];
}

/* The packet must be counted once, in the counter of its verdict. */
static void check_counters(u32 number, enum labspoof_verdict verdict)
{
	int i;

	for (i = LABSPOOF_RECEIVED; i < LABSPOOF_VERDICTS; i++) {
		if (now.counted[i] - was.counted[i] == (u64)(i == verdict))
			continue;
		if (wrong++ < LABSPOOF_SHOWN_MAX)
			pr_err("quell_labspoof: packet %llu, case %s: %s counted %llu, not %d\n",
			       sent, labspoof_case_names[number], verdicts[i].name,
			       now.counted[i] - was.counted[i], i == verdict);
		return;
	}
}

/*
 * Ignore lockdep data in locks, set when they are first taken, and the timer's
 * neighbours in the timer tree.
 */
static void skip_plumbing(void)
{
	memcpy(&now.flow.lock, &was.flow.lock, sizeof(spinlock_t));
	memcpy(&now.flow.tail.timer.node.node, &was.flow.tail.timer.node.node,
	       sizeof(struct rb_node));
}

/*
 * TCP may answer with an ACK, which carries the pending echo: pending echoes may
 * become fewer but not more.  If data that was to be acknowledged at once is not, because TCP
 * has not taken it, the timer looks for its ACK.
 */
static void check_state(u32 number, bool is_answered)
{
	const u8 *a = (const u8 *)&was, *b = (const u8 *)&now;
	u32 at = 0;

	if (now.flow.echo.nr < was.flow.echo.nr) {
		now.flow.echo = was.flow.echo;
		memcpy(now.flow.echo_few, was.flow.echo_few, sizeof(now.flow.echo_few));
	}
	skip_plumbing();
	if (is_answered)
		now.quick_acks = was.quick_acks;
	if (is_answered && was.flow.delack.expedited && !now.flow.delack.expedited) {
		now.flow.delack.expedited = true;
		now.flow.tail = was.flow.tail;
	}
	/* Every NACK is counted, useful or not. */
	now.flow.recover.received = was.flow.recover.received;
	memcpy(now.counted, was.counted, sizeof(now.counted));
	if (!memcmp(&was, &now, sizeof(was)))
		return;
	while (a[at] == b[at])
		at++;
	if (changed++ < LABSPOOF_SHOWN_MAX)
		pr_err("quell_labspoof: packet %llu, case %s: the flow changed at byte %u of %zu\n",
		       sent, labspoof_case_names[number], at, sizeof(was.flow));
}

/*
 * Every packet is a sample of its own here: the sample's round-trip time is that of the
 * echo, or the flow's or the stack's minimum if the echo's is less.
 */
static void check_echo(u32 number)
{
	u64 floor_ns = max_t(u64, was.flow.now.min_rtt_ns, was.min_rtt_us * (u64)NSEC_PER_USEC);
	u64 most_ns = max(ktime_get_ns() - was.oldest_ns, floor_ns);
	u64 least_ns = max(ktime_get_ns(), was.flow.depart_ns) - was.flow.depart_ns;

	if (now.flow.echoes == was.flow.echoes ||
	    (now.flow.now.rtt_ns >= least_ns && now.flow.now.rtt_ns <= most_ns))
		return;
	if (impossible++ < LABSPOOF_SHOWN_MAX)
		pr_err("quell_labspoof: packet %llu, case %s: round trip of %llu ns, not %llu..%llu\n",
		       sent, labspoof_case_names[number], now.flow.now.rtt_ns, least_ns, most_ns);
}

/* The echo must be refused or believed as required. */
static void check_outcome(u32 number, enum labspoof_echo echo)
{
	u64 moved[LABSPOOF_ECHOES] = {
		[LABSPOOF_ECHO_REFUSED] = now.echoes[LABSPOOF_ECHO_REFUSED] -
					  was.echoes[LABSPOOF_ECHO_REFUSED],
		[LABSPOOF_ECHO_BELIEVED] = now.echoes[LABSPOOF_ECHO_BELIEVED] -
					   was.echoes[LABSPOOF_ECHO_BELIEVED],
	};
	u64 refuse = echo == LABSPOOF_ECHO_REFUSED, believe = echo == LABSPOOF_ECHO_BELIEVED;

	refused += moved[LABSPOOF_ECHO_REFUSED];
	if (echo == LABSPOOF_ECHO_ANY || (moved[LABSPOOF_ECHO_REFUSED] == refuse &&
					  moved[LABSPOOF_ECHO_BELIEVED] == believe))
		return;
	if (misjudged++ < LABSPOOF_SHOWN_MAX)
		pr_err("quell_labspoof: packet %llu, case %s: %llu echoes refused, %llu believed, not %llu and %llu\n",
		       sent, labspoof_case_names[number], moved[LABSPOOF_ECHO_REFUSED],
		       moved[LABSPOOF_ECHO_BELIEVED], refuse, believe);
}

static void check_clone(u32 number, struct sk_buff *clone, __wsum sum, u32 bytes)
{
	if (clone->len == bytes && skb_checksum(clone, 0, bytes, 0) == sum)
		return;
	if (overwritten++ < LABSPOOF_SHOWN_MAX)
		pr_err("quell_labspoof: packet %llu, case %s: its clone was written to\n",
		       sent, labspoof_case_names[number]);
}

static void send_one(struct sk_buff *skb, u32 number)
{
	struct sk_buff *clone = labspoof_dress(skb);
	u32 bytes = skb->len;
	__wsum sum = 0;

	if (clone)
		sum = skb_checksum(clone, 0, bytes, 0);
	skb->mark = LABSPOOF_MARK;
	netif_receive_skb(skb);
	if (!clone)
		return;
	check_clone(number, clone, sum, bytes);
	kfree_skb(clone);
}

/* Context of a flow that negotiated the option; NULL if a process owns the socket. */
static const struct quell_flow *flow_of(const struct sock *sk)
{
	if (!sk_fullsock(sk) || sk->sk_state != TCP_ESTABLISHED || sock_owned_by_user_nocheck(sk) ||
	    !quell_cc_ready(sk) || !quell_cc(sk)->flow || quell_cc(sk)->flow->sk != sk ||
	    quell_cc(sk)->flow->option != QUELL_OPTION_ON)
		return NULL;
	return quell_cc(sk)->flow;
}

static bool spoof_one(const struct sock *sk, const struct sk_buff *genuine, u32 number)
{
	const struct quell_flow *flow = flow_of(sk);
	struct labspoof_packet packet = { .skb = genuine, .sk = sk };
	struct sk_buff *skb;

	if (!flow)
		return false;
	take_state(&was, sk, flow);
	packet.left = (struct labspoof_departures) {
		.oldest_ns = was.oldest_ns,
		.newest_ns = was.flow.depart_ns,
		.has_resent = was.flow.retransmits &&
			      (s32)(was.flow.resent_depart_ns - (u32)was.oldest_ns) >= 0,
		.flight_pkts = tcp_packets_in_flight(tcp_sk(sk)),
		.stamp_secret = was.flow.stamp_secret,
	};
	labspoof_make(number, &packet);
	skb = labspoof_build(&packet);
	if (!skb)
		return false;
	send_one(skb, number);
	sent++;
	sent_by_case[number]++;
	sent_by_verdict[packet.verdict]++;
	sent_by_echo[packet.echo]++;
	if (flow_of(sk) != flow)
		return false;
	take_state(&now, sk, flow);
	merge_nacks(packet.verdict);
	check_counters(number, packet.verdict);
	check_echo(number);
	check_outcome(number, packet.echo);
	if (packet.rejected)
		check_state(number, !packet.flagless);
	return true;
}

/* Use packets with data or a new acknowledgment, and some of the others. */
static bool is_worth_it(const struct sock *sk, const struct sk_buff *skb,
			const struct tcphdr *th)
{
	return skb->len > skb_transport_offset(skb) + __tcp_hdrlen(th) ||
	       labspoof_echo_room(sk, ntohl(th->ack_seq)) ||
	       !labspoof_random(LABSPOOF_IDLE_OF);
}

static void spoof(struct net *net, struct sk_buff *skb, const struct tcphdr *th)
{
	struct sock *sk;
	u32 i, number;

	sk = quell_inet_lookup(net, skb, th);
	if (!sk)
		return;
	if (!sk_fullsock(sk) || !is_worth_it(sk, skb, th))
		goto out;
	for (i = 0; i < copies && sent < packets; i++) {
		number = labspoof_random(labspoof_cases_nr);
		if (i < LABSPOOF_SAMPLED_FIRST &&
		    labspoof_echo_room(sk, ntohl(th->ack_seq)) > 1)
			number = LABSPOOF_CASE_ECHO_SAMPLED;
		if (!spoof_one(sk, skb, number))
			break;
	}
out:
	sock_gen_put(sk);
}

static unsigned int labspoof_hook(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	const struct tcphdr *th;

	if (sent >= packets || skb->mark == LABSPOOF_MARK ||
	    ip_hdr(skb)->protocol != IPPROTO_TCP || ip_is_fragment(ip_hdr(skb)) ||
	    !pskb_may_pull(skb, ip_hdrlen(skb) + sizeof(*th)))
		return NF_ACCEPT;
	skb_set_transport_header(skb, ip_hdrlen(skb));
	th = tcp_hdr(skb);
	if (th->ack && !th->syn && !th->fin && !th->rst)
		spoof(state->net, skb, th);
	return NF_ACCEPT;
}

static const struct nf_hook_ops labspoof_hook_ops = {
	.hook		= labspoof_hook,
	.pf		= NFPROTO_IPV4,
	.hooknum	= NF_INET_PRE_ROUTING,
	.priority	= NF_IP_PRI_FIRST,
};

static int __net_init labspoof_net_init(struct net *net)
{
	return nf_register_net_hook(net, &labspoof_hook_ops);
}

static void __net_exit labspoof_net_exit(struct net *net)
{
	nf_unregister_net_hook(net, &labspoof_hook_ops);
}

static struct pernet_operations labspoof_net_ops = {
	.init	= labspoof_net_init,
	.exit	= labspoof_net_exit,
};

static int labspoof_show(struct seq_file *seq, void *unused)
{
	int i;

	for (i = 0; i < labspoof_cases_nr; i++)
		seq_printf(seq, "case %s %llu\n", labspoof_case_names[i], sent_by_case[i]);
	for (i = LABSPOOF_RECEIVED; i < LABSPOOF_VERDICTS; i++)
		seq_printf(seq, "expected %s %llu\n", verdicts[i].name, sent_by_verdict[i]);
	seq_printf(seq, "plain %llu\nsent %llu\n", sent_by_verdict[LABSPOOF_NO_OPTION], sent);
	seq_printf(seq, "miscounted %llu\nchanged %llu\nimpossible %llu\noverwritten %llu\n",
		   wrong, changed, impossible, overwritten);
	seq_printf(seq, "misjudged %llu\nrefused %llu\nmust-refuse %llu\nmust-believe %llu\n",
		   misjudged, refused, sent_by_echo[LABSPOOF_ECHO_REFUSED],
		   sent_by_echo[LABSPOOF_ECHO_BELIEVED]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(labspoof);

static int __init labspoof_init(void)
{
	int err;

	if (!copies || copies > LABSPOOF_COPIES_MAX) {
		pr_err("quell_labspoof: copies=%u must be 1..%u\n", copies,
		       LABSPOOF_COPIES_MAX);
		return -EINVAL;
	}
	labspoof_seed(seed);
	sent_by_case = kcalloc(labspoof_cases_nr, sizeof(*sent_by_case), GFP_KERNEL);
	if (!sent_by_case)
		return -ENOMEM;
	err = register_pernet_subsys(&labspoof_net_ops);
	if (err) {
		kfree(sent_by_case);
		return err;
	}
	labspoof_file = debugfs_create_file("quell_labspoof", 0400, NULL, NULL,
					    &labspoof_fops);
	return 0;
}
module_init(labspoof_init);

static void __exit labspoof_exit(void)
{
	debugfs_remove(labspoof_file);
	unregister_pernet_subsys(&labspoof_net_ops);
	kfree(sent_by_case);
}
module_exit(labspoof_exit);

MODULE_DESCRIPTION("Bad input for the Quell TCP option, for the laboratory");
MODULE_AUTHOR("The Quell authors");
MODULE_LICENSE("GPL");
