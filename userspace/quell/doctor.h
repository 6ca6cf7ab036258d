/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell doctor: facts about a host, and the findings they lead to.
 *
 * The facts are collected first (doctor_files.c, doctor_net.c, doctor_refs.c), checked without
 * access to the host (doctor_rules.c), and then printed (doctor.c).
 */
#ifndef QUELL_CLI_DOCTOR_H
#define QUELL_CLI_DOCTOR_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "model.h"
#include "sock_diag.h"

#define DOCTOR_NAME_LEN		64
#define DOCTOR_TEXT_LEN		512
#define DOCTOR_CC_LEN		16
/* Longest result of doctor_quote() for a name of so many bytes, NUL included. */
#define DOCTOR_QUOTED_LEN(len)	(4 * (len) + 4)

/* Of a number that could not be read. */
#define DOCTOR_UNKNOWN		(-1)

/* Options of the kernel's configuration that Quell has a use for. */
enum doctor_option {
	DOCTOR_NETFILTER,
	DOCTOR_NET_SCHED,
	DOCTOR_HIGH_RES_TIMERS,
	DOCTOR_TCP_DIAG,
	DOCTOR_BTF,
	DOCTOR_OPTIONS,
};

extern const char * const doctor_options[DOCTOR_OPTIONS];

struct doctor_dev {
	char		name[IF_NAMESIZE];
	uint32_t	ifindex;
	bool		lro;		/* large receive offload is on */
	/* interrupts wait for more packets, us; 0 not, or not known */
	uint32_t	rx_delay_us;
	bool		can_stamp;	/* it offers hardware stamps for all packets received */
	bool		stamps;		/* they are on */
	/* a queueing discipline that delays or drops; empty without one */
	char		qdisc[IF_NAMESIZE];
	/* kind of its root queueing discipline, or swport wherever there is one */
	char		root[IF_NAMESIZE];
	uint64_t	bytes_ps;	/* rate of the link, bytes/s; 0 not known */
	uint64_t	drop_pkts;	/* packets that its queueing disciplines dropped */
	uint64_t	mark_pkts;	/* packets that its switch port marked */
	uint64_t	trim_pkts;	/* packets that its switch port trimmed */
};

/* A reference that keeps an algorithm's module from being unloaded. */
struct doctor_holder {
	char		cc[DOCTOR_CC_LEN];
	/* name of the network namespace, or a path under /proc */
	char		netns[DOCTOR_NAME_LEN];
	bool		own;		/* it is the namespace that is examined */
	bool		is_default;	/* the namespace's sockets get the algorithm */
	uint32_t	sockets;	/* sockets that use it, listening ones included */
};

struct doctor_host {
	char			release[DOCTOR_NAME_LEN];
	bool			has_config;	/* its configuration was found */
	/* by enum doctor_option: built in or as a module */
	bool			option[DOCTOR_OPTIONS];
	bool			locked;		/* the kernel loads signed modules only */
	bool			has_quell;	/* the module is loaded */
	/* those of algorithms are installed for this kernel, or built in */
	bool			has_modules;
	bool			has_dkms;	/* their source is, for dkms to build */
	/* an algorithm loaded as a BPF object; empty without one */
	char			bpf_cc[DOCTOR_CC_LEN];
	char			default_cc[DOCTOR_CC_LEN];
	char			clocksource[DOCTOR_NAME_LEN];
	char			clocksources[DOCTOR_TEXT_LEN];
	int			tcp_ecn;	/* sysctl; or DOCTOR_UNKNOWN, as of the next */
	int			tcp_sack;	/* sysctl */
	uint64_t		tcp_mem[3];	/* sysctl, pages; 0 not known, as of the next */
	uint64_t		tcp_pages;	/* pages that TCP uses */
	uint64_t		tcp_wmem[3];	/* sysctl, bytes */
	struct doctor_dev	*devs;		/* interfaces */
	size_t			n_devs;
	struct doctor_holder	*holders;	/* references to modules */
	size_t			n_holders;
	/* there are namespaces that may not be looked into */
	bool			other_netns;
	struct cc_list		ccs;		/* algorithms that are loaded */
	struct flow_list	flows;
};

/* A route that names an algorithm: its network, "default" or a prefix. */
struct doctor_route {
	char	network[DOCTOR_NAME_LEN];
	char	cc[DOCTOR_CC_LEN];
};

struct quell_core;

struct doctor_change {
	const struct quell_core	*core;
	const struct cc		*cc;		/* its parameters, or NULL: it is not loaded */
	/* TCP sockets of the namespace, listening ones included */
	struct diag_list	sockets;
	struct doctor_route	*routes;	/* routes that name an algorithm */
	size_t			n_routes;
};

/* How grave a finding is; only faults make the exit status 3. */
enum doctor_level {
	DOCTOR_FAULT,	/* it defeats an algorithm or the program */
	DOCTOR_NOTE,	/* it would be better otherwise, or may be meant */
	DOCTOR_HELD,	/* a module is in use */
	DOCTOR_EFFECT,	/* of a change that is considered */
};

struct finding {
	enum doctor_level	level;
	const char		*check;	/* the check, a word */
	char			text[DOCTOR_TEXT_LEN];
	/* its fix; empty if no command does it */
	char			command[DOCTOR_TEXT_LEN];
};

/* @flows: to how many the rule applies that is tried */
struct findings {
	struct finding	*list;
	size_t		n;
	size_t		flows;
};

/* doctor_files.c */
void doctor_read_files(struct doctor_host *host, const char *root);
bool doctor_read_line(const char *root, const char *path, char *line, size_t len);

/* doctor_net.c */
int doctor_read_devs(struct doctor_host *host);
int doctor_read_routes(struct doctor_change *change);

/* doctor_refs.c */
int doctor_read_holders(struct doctor_host *host);

/* doctor_if.c */
void doctor_if(const struct doctor_host *host, const struct doctor_change *change,
	       struct findings *findings);

/* doctor_rules.c, doctor_quote.c */
void doctor_check(const struct doctor_host *host, struct findings *findings);
struct finding *doctor_add(struct findings *findings, enum doctor_level level, const char *check);
char *doctor_quote(char *buf, size_t len, const char *name);

#endif /* QUELL_CLI_DOCTOR_H */
