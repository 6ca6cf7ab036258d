// SPDX-License-Identifier: GPL-2.0
/*
 * Another program of type sock_ops on a cgroup that has Quell's, for bpf-shared.sh: it asks for
 * the calls on header options when a connection is open, as users of them do, writes an option of
 * its own on each segment, and counts.
 */
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define OWN_KIND	0xb9
#define OWN_BYTES	4

#define OWN_FLAGS	(BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG | \
			 BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG)

/* Events, of both ends together. */
struct counts {
	__u64	opened;	/* connections opened */
	__u64	asked;	/* times the stack asked for the length of a segment's options */
	__u64	written;	/* options written */
	__u64	stolen;	/* options for which room was kept, but was not there any more */
	__u64	heard;	/* options received */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counts);
} shared_counts SEC(".maps");

char _license[] SEC("license") = "GPL";

SEC("sockops")
int shared_option(struct bpf_sock_ops *skops)
{
	__u8 option[OWN_BYTES] = { OWN_KIND, OWN_BYTES };
	struct counts *counts;
	__u32 key = 0;

	counts = bpf_map_lookup_elem(&shared_counts, &key);
	if (!counts)
		return 1;
	switch (skops->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		bpf_sock_ops_cb_flags_set(skops, skops->bpf_sock_ops_cb_flags | OWN_FLAGS);
		__sync_fetch_and_add(&counts->opened, 1);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		if (!(skops->skb_tcp_flags & 0x2))
			bpf_reserve_hdr_opt(skops, sizeof(option), 0);
		__sync_fetch_and_add(&counts->asked, 1);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		if (skops->skb_tcp_flags & 0x2)
			break;
		if (!bpf_store_hdr_opt(skops, option, sizeof(option), 0))
			__sync_fetch_and_add(&counts->written, 1);
		else
			__sync_fetch_and_add(&counts->stolen, 1);
		break;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		option[1] = 0;	/* of any length */
		if (bpf_load_hdr_opt(skops, option, sizeof(option), 0) > 0)
			__sync_fetch_and_add(&counts->heard, 1);
		break;
	}
	return 1;
}
