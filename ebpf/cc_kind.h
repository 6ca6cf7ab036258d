/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sockets that may have the Quell option from option.bpf.c, by their congestion control and by the
 * other options of their headers.
 */
#ifndef _QUELL_EBPF_CC_KIND_H
#define _QUELL_EBPF_CC_KIND_H

#include "vmlinux_types.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

struct tcp_sock___keys {
	void	*md5sig_info;
	void	*ao_info;
	bool	is_mptcp;
} __attribute__((preserve_access_index));

struct tcp_congestion_ops___name {
	char	name[TCP_CA_NAME_MAX];
} __attribute__((preserve_access_index));

union cc_name {
	char	text[TCP_CA_NAME_MAX];
	u64	words[TCP_CA_NAME_MAX / sizeof(u64)];
};

/* Of ours, the first want telemetry records of the path. */
#define RECORD_USERS_NR	2U

static const union cc_name ours[] = {
	{ "bpf_hpcc" }, { "bpf_hpcc_vaisf" },
	{ "bpf_swift" }, { "bpf_swift_vaisf" }, { "bpf_timely" }, { "bpf_smartt" },
	{ "bpf_dcqcn" }, { "bpf_dart" },
};

/* quell.ko speaks on their connections. */
static const union cc_name modules[] = {
	{ "swift" }, { "swift_vaisf" }, { "timely" }, { "smartt" }, { "dcqcn" }, { "dart" },
	{ "hpcc" }, { "hpcc_vaisf" },
};

enum cc_kind { CC_KIND_OTHER, CC_KIND_BPF, CC_KIND_MODULE };

static __always_inline bool is_named(const union cc_name *name, const union cc_name *names, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (name->words[0] == names[i].words[0] && name->words[1] == names[i].words[1])
			return true;
	return false;
}

static __always_inline void read_name(const struct tcp_sock *tp, union cc_name *name)
{
	const struct tcp_congestion_ops___name *ops;
	const u64 *words;

	ops = (const void *)((const struct inet_connection_sock *)tp)->icsk_ca_ops;
	words = (const void *)__builtin_preserve_access_index(&ops->name);
	name->words[0] = words[0];
	name->words[1] = words[1];
}

/* Kind of the congestion control of a socket. */
static __always_inline enum cc_kind cc_kind_of(const struct tcp_sock *tp)
{
	union cc_name name = {};

	read_name(tp, &name);
	if (is_named(&name, ours, ARRAY_SIZE(ours)))
		return CC_KIND_BPF;
	if (is_named(&name, modules, ARRAY_SIZE(modules)))
		return CC_KIND_MODULE;
	return CC_KIND_OTHER;
}

static __always_inline bool wants_records(const struct tcp_sock *tp)
{
	union cc_name name = {};

	read_name(tp, &name);
	return is_named(&name, ours, RECORD_USERS_NR);
}

/*
 * A signature covers the header as it is before this program gets it.  MPTCP's options need the
 * room, and it counts on all that segments have.
 */
static __always_inline bool is_closed_to_options(const struct tcp_sock *tp)
{
	const struct tcp_sock___keys *keys = (const void *)tp;

	if (bpf_core_field_exists(keys->is_mptcp) && keys->is_mptcp)
		return true;
	if (bpf_core_field_exists(keys->md5sig_info) && keys->md5sig_info)
		return true;
	return bpf_core_field_exists(keys->ao_info) && keys->ao_info;
}

#endif /* _QUELL_EBPF_CC_KIND_H */
