// SPDX-License-Identifier: GPL-2.0
/*
 * Operations of a queueing discipline in BPF on a packet, for bpf_each.c: each struct Qdisc_ops is
 * one case: enqueue tries one operation and then drops the packet.  The kernel accepts may_read,
 * and must refuse those named not_...; see Documentation/ebpf.md, "Impossible in BPF".
 *
 * Types are declared here as far as they are used: the kernel that builds the objects may have no
 * such discipline.
 */
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define NET_XMIT_DROP	1
#define ECN_CE		3

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sk_buff {
	unsigned int	len;
	unsigned int	mark;
	__s64		tstamp;
	unsigned char	*head;
	__u16		network_header;
};

struct Qdisc {
	__u32		limit;
};

struct bpf_sk_buff_ptr {
	struct sk_buff	*skb;
};

struct nlattr {
	__u16		nla_len;
};

struct netlink_ext_ack {
	const char	*_msg;
};

struct Qdisc_ops {
	char		id[16];
	int		(*enqueue)(struct sk_buff *skb, struct Qdisc *sch,
				   struct sk_buff **to_free);
	struct sk_buff	*(*dequeue)(struct Qdisc *sch);
	int		(*init)(struct Qdisc *sch, struct nlattr *arg,
				struct netlink_ext_ack *ack);
	void		(*reset)(struct Qdisc *sch);
	void		(*destroy)(struct Qdisc *sch);
	int		(*change)(struct Qdisc *sch, struct nlattr *arg,
				  struct netlink_ext_ack *ack);
};

#pragma clang attribute pop

void bpf_qdisc_skb_drop(struct sk_buff *skb, struct bpf_sk_buff_ptr *to_free) __ksym;
int bpf_dynptr_from_skb(struct sk_buff *skb, __u64 flags, struct bpf_dynptr *ptr) __ksym;
void *bpf_dynptr_slice(const struct bpf_dynptr *ptr, __u64 offset, void *buffer,
			      __u64 buffer__szk) __ksym;
void *bpf_dynptr_slice_rdwr(const struct bpf_dynptr *ptr, __u64 offset, void *buffer,
				   __u64 buffer__szk) __ksym;

char _license[] SEC("license") = "GPL";

SEC("struct_ops/dequeue")
struct sk_buff *BPF_PROG(any_dequeue, struct Qdisc *sch)
{
	return NULL;
}

SEC("struct_ops/init")
int BPF_PROG(any_init, struct Qdisc *sch, struct nlattr *arg, struct netlink_ext_ack *ack)
{
	return 0;
}

SEC("struct_ops/reset")
void BPF_PROG(any_reset, struct Qdisc *sch)
{
}

SEC("struct_ops/destroy")
void BPF_PROG(any_destroy, struct Qdisc *sch)
{
}

/* ENQUEUE() - NAME's, which has @skb and @sch */
#define ENQUEUE(name_, ...)							\
SEC("struct_ops/enqueue")							\
int BPF_PROG(name_##_enqueue, struct sk_buff *skb, struct Qdisc *sch,		\
	     struct bpf_sk_buff_ptr *to_free)					\
{										\
	__VA_ARGS__								\
	bpf_qdisc_skb_drop(skb, to_free);					\
	return NET_XMIT_DROP;							\
}

/* CASE() - a discipline with that */
#define CASE(name_, ...)							\
ENQUEUE(name_, __VA_ARGS__)							\
										\
SEC(".struct_ops")								\
struct Qdisc_ops name_ = {							\
	.enqueue	= (void *)name_##_enqueue,				\
	.dequeue	= (void *)any_dequeue,					\
	.init		= (void *)any_init,					\
	.reset		= (void *)any_reset,					\
	.destroy	= (void *)any_destroy,					\
	.id		= #name_,						\
}

/* Operations of the other cases beside the one that is refused. */
CASE(may_read,
	struct bpf_dynptr packet;
	__u8 room[2];
	const __u8 *ip;

	bpf_dynptr_from_skb(skb, 0, &packet);
	ip = bpf_dynptr_slice(&packet, 14, room, sizeof(room));
	if (ip && (ip[1] & ECN_CE) == ECN_CE)
		skb->tstamp = 0;
);

/* A mark, by each way that there is to change a packet. */
CASE(not_slice,
	struct bpf_dynptr packet;
	__u8 room[2];
	__u8 *ip;

	bpf_dynptr_from_skb(skb, 0, &packet);
	ip = bpf_dynptr_slice_rdwr(&packet, 14, room, sizeof(room));
	if (ip)
		ip[1] |= ECN_CE;
);

CASE(not_store,
	__u8 ce = ECN_CE;

	bpf_skb_store_bytes((struct __sk_buff *)skb, 15, &ce, sizeof(ce), 0);
);

CASE(not_set_ce, bpf_skb_ecn_set_ce((struct __sk_buff *)skb););
CASE(not_memory, skb->head[skb->network_header + 1] |= ECN_CE;);

/* A value that another program could read. */
CASE(not_mark, skb->mark = ECN_CE;);

/* A trimmed packet */
CASE(not_trim, bpf_skb_change_tail((struct __sk_buff *)skb, 128, 0););

/* Parameters of tc(8) after the start */
ENQUEUE(not_change, )

SEC("struct_ops/change")
int BPF_PROG(not_change_change, struct Qdisc *sch, struct nlattr *arg, struct netlink_ext_ack *ack)
{
	return 0;
}

SEC(".struct_ops")
struct Qdisc_ops not_change = {
	.enqueue	= (void *)not_change_enqueue,
	.dequeue	= (void *)any_dequeue,
	.init		= (void *)any_init,
	.reset		= (void *)any_reset,
	.destroy	= (void *)any_destroy,
	.change		= (void *)not_change_change,
	.id		= "not_change",
};
