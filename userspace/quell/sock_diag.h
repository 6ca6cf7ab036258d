/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TCP sockets as the kernel's sock_diag describes them to any user: fields of ss(8) which Quell's
 * own family lacks.
 */
#ifndef QUELL_CLI_SOCK_DIAG_H
#define QUELL_CLI_SOCK_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/netlink.h>

struct diag {
	uint64_t	cookie;		/* its cookie */
	char		cc[16];		/* congestion control; empty if the kernel did not say */
	uint64_t	delivery_bytes_ps;
	uint64_t	acked_bytes;	/* payload acknowledged so far */
	uint32_t	retrans_segs;	/* segments retransmitted so far */
	/* segments with data sent so far, retransmissions included */
	uint32_t	sent_segs;
	uint32_t	lost_segs;	/* segments counted as lost now */
	uint32_t	min_rtt_us;	/* smallest round-trip time; 0 not measured */
	uint32_t	mss_bytes;	/* payload of a segment */
	uint32_t	marked_pkts;	/* packets delivered with a mark */
	uint16_t	family;		/* address family */
	uint32_t	ifindex;	/* interface that it is bound to, or 0 */
	uint8_t		daddr[16];	/* remote address; IPv4, also of an IPv6 socket */
	uint8_t		state;		/* state of the connection, a number of the kernel */
	bool		has_ecn;	/* both ends agreed on ECN */
	bool		app_limited;	/* the delivery rate is that of the program */
	bool		has_info;	/* the kernel sent the measurements */
};

struct diag_list {
	struct diag	*list;
	size_t		n;
};

int diag_list_add(struct diag_list *l, const struct nlmsghdr *nlh);
void diag_list_sort(struct diag_list *l);
const struct diag *diag_list_find(const struct diag_list *l, uint64_t cookie);
void diag_list_free(struct diag_list *l);
int diag_fetch(struct diag_list *l, bool listening);
const char *diag_state_name(uint8_t state);
int diag_state_number(const char *name, uint8_t *state);

#endif /* QUELL_CLI_SOCK_DIAG_H */
