/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replies of the kernel, as plain structs.
 *
 * A "have" word has bit QUELL_A_* set for each attribute present: an older
 * kernel omits attributes this program knows, a newer one adds attributes
 * it does not know, and neither is an error.
 */
#ifndef QUELL_CLI_MODEL_H
#define QUELL_CLI_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/netlink.h>
#include <linux/quell.h>

#include "attr.h"

#define HAVE(entry, attr)	((entry)->have & ATTR_BIT(attr))

struct param {
	char		*name;
	char		*doc;
	uint64_t	value;
	uint64_t	def;
	uint64_t	min;
	uint64_t	max;
	uint32_t	unit;
	uint32_t	have;
};

struct counter {
	char		*name;
	char		*doc;
	uint64_t	value;
	uint64_t	rise;			/* of an event: since the value that is known */
	uint32_t	have;
};

struct counters {
	struct counter	*list;
	size_t		n;
};

struct cc {
	char		*name;
	struct param	*params;
	size_t		n_params;
	uint32_t	flows;
	uint32_t	have;
};

/* The counters of one algorithm or of quell.ko. */
struct stat_group {
	char		*name;
	struct counters	counters;
	uint32_t	have;
};

struct flow {
	char		*cc;
	char		*limited_by;
	char		*option;
	char		*adapt;
	char		*fallback;
	char		*reduction;	/* NULL: never */
	struct counters	counters;
	uint64_t	cookie;
	uint64_t	link_bytes_ps;
	uint64_t	window_bytes;
	uint64_t	pacing_bytes_ps;
	uint64_t	inflight_bytes;
	uint64_t	rtt_ns;
	uint64_t	min_rtt_ns;
	uint64_t	target_ns;
	uint64_t	remote_ns;
	uint64_t	reduction_age_ns;
	uint64_t	reduction_rtt_ns;
	uint64_t	governor_age_ns;
	uint64_t	algorithm_ns;	/* this to @cubic_ns: for how long each governed */
	uint64_t	search_ns;
	uint64_t	cubic_ns;
	uint64_t	base_ns;	/* this to @least_bytes_ps: 0 unless CUBIC governs */
	uint64_t	longest_ns;
	uint64_t	standing_ns;
	uint64_t	fit_target_ns;
	uint64_t	noise_ns;
	uint64_t	path_bytes_ps;
	uint64_t	least_bytes_ps;
	uint64_t	record_bytes_ps;
	uint64_t	record_queue_bytes;
	uint32_t	record_hop;
	uint64_t	tcp_int_bytes_ps;
	uint64_t	tcp_int_available_bytes_ps;
	uint64_t	tcp_int_queue_bytes;
	uint64_t	tcp_int_latency_ns;
	uint32_t	tcp_int_hop;
	uint32_t	ifindex;
	uint32_t	clock;
	uint32_t	hops;
	uint32_t	mss_bytes;
	uint32_t	entropies;
	char		*receiver_state;
	uint64_t	share_bytes_ps;
	uint32_t	n_q8;
	uint32_t	receiver_senders;
	/* this to @state: of sock_diag */
	uint64_t	delivery_bytes_ps;
	uint64_t	acked_bytes;
	uint64_t	retrans_segs;
	uint32_t	sent_segs;
	uint32_t	lost_segs;
	uint8_t		state;		/* 0: not known */
	uint16_t	family;
	uint16_t	sport;
	uint16_t	dport;
	uint8_t		saddr[16];
	uint8_t		daddr[16];
	uint32_t	have;
};

#define ADDRESS_BYTES	16

/* IPv4 or IPv6 by @len, 4 or 16 bytes; 0: no address. */
struct address {
	uint8_t	bytes[ADDRESS_BYTES];
	uint8_t	len;
};

struct lookahead {
	char		*name;
	struct address	*members;
	size_t		n_members;
	uint64_t	time_ns;
	uint32_t	ifindex;
	uint32_t	uid;
	uint32_t	waiting;
	uint32_t	members_nr;		/* of an event, which does not list them */
	uint32_t	have;
};

struct sender {
	struct address	address;
	uint32_t	ifindex;
	uint32_t	weight;
	uint32_t	connections;
	uint32_t	waiting;
	uint32_t	have;
};

/* An interface by which senders reach this host. */
struct receiver {
	char		*state;
	uint64_t	weight;
	uint64_t	bytes_ps;
	uint32_t	ifindex;
	uint32_t	senders;
	uint32_t	have;
};

/* The rates of an interface; 0 where not known. */
struct link {
	uint64_t	bytes_ps;
	uint64_t	driver_bytes_ps;
	uint32_t	ifindex;
	uint32_t	have;
};

/*
 * struct NAME_list, which grows while a dump is read; NAME_list_add() and NAME_list_free() are
 * list_add() and list_free() of that kind.
 */
#define MODEL_LIST(name_, type_)						\
struct name_##_list {								\
	struct type_	*list;							\
	size_t		n;							\
};										\
extern const struct attr_kind name_##_kind;					\
static inline int name_##_list_add(struct name_##_list *l, const struct nlmsghdr *nlh)	\
{										\
	return list_add(&name_##_kind, l, nlh);					\
}										\
static inline void name_##_list_free(struct name_##_list *l)			\
{										\
	list_free(&name_##_kind, l);						\
}

MODEL_LIST(cc, cc)
MODEL_LIST(stat, stat_group)
MODEL_LIST(sender, sender)
MODEL_LIST(receiver, receiver)
MODEL_LIST(link, link)
MODEL_LIST(lookahead, lookahead)
MODEL_LIST(flow, flow)

/* Counters without their meanings. */
extern const struct attr_kind flow_counter_kind;

/* Flows without their counters, which are most of a flow. */
extern const struct attr_kind brief_flow_kind;

void flow_release(struct flow *f);
const struct cc *cc_lookup(const struct cc_list *list, const char *name);
const struct param *cc_param(const struct cc *cc, const char *name);

#endif /* QUELL_CLI_MODEL_H */
