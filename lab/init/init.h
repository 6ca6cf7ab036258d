/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The laboratory's init: declarations shared by its source files.
 *
 * Process 1 of a user-mode Linux reads a plan, builds the network it
 * describes, lets quell_labflow run the flows and writes results.  The format
 * is described in PLAN-FORMAT.md.
 */
#ifndef _QUELL_LAB_INIT_H
#define _QUELL_LAB_INIT_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define LINE_MAX_BYTES	49152
#define PLAN_WORDS_MAX	4100	/* enough for a route with 1024 equal next hops */
#define OUT_DIR		"/out/"

/* One network namespace. */
struct node {
	char	name[64];	/* as in the plan; "-" is the initial namespace */
	int	ns_fd;	/* the namespace */
	int	rt_fd;	/* rtnetlink socket in it */
	int	genl_fd;	/* generic netlink socket in it, -1 until needed */
	int	next;	/* the next node in its bucket of names, -1 at the end */
};

/* One network interface. */
struct port {
	int		node;	/* index of its namespace */
	int		ifindex;	/* unique in the whole laboratory */
	int		next;	/* the next port in its bucket of names, -1 at the end */
	char		name[16];	/* device name */
	char		*stats;	/* text for ports.out, filled in by stats_collect() */
};

/* IPv4 or IPv6. */
struct address {
	int		family;	/* AF_INET or AF_INET6 */
	int		size;	/* bytes used of @bytes */
	uint8_t		bytes[16];	/* in network order */
};

/* A plan line cut into words. */
struct line {
	int		number;	/* line of the file, from 1 */
	int		n;	/* words */
	char		*word[PLAN_WORDS_MAX];	/* the words, word[0] is the command */
	char		text[LINE_MAX_BYTES];	/* the line as it was, without a comment */
};

extern struct node *nodes;
extern int n_nodes;
extern struct port *ports;
extern int n_ports;
extern struct line line;
extern char (*modules)[64];
extern int n_modules;

/* util.c: an error ends the run and names the plan line being executed. */
__attribute__((noreturn, format(printf, 1, 2)))
void fail(const char *fmt, ...);
__attribute__((format(printf, 1, 2)))
void say(const char *fmt, ...);
__attribute__((noreturn))
void power_off(void);
void *grow(void *array, int count, size_t size);
void write_text(const char *path, const char *text);
char *read_text(const char *path, char *buffer, size_t size);

/* plan.c: reading words */
void need_words(int least, int most);
uint64_t number(const char *word, uint64_t min, uint64_t max);
int64_t signed_number(const char *word, int64_t min, int64_t max);
const char *option(int from, const char *key);
void only_options(int from, const char *const *keys);
uint32_t ipv4(const char *word);
struct address address(const char *word);
struct address prefix(const char *word, int *length);

/* nl.c: building and sending netlink requests */
struct request {
	union {
		struct nlmsghdr	nlh;
		char		buffer[1 << 16];	/* as much as a nested attribute holds */
	};
};

/* An option of a line, KEY=NUMBER, as an attribute. */
struct number_option {
	const char	*key;
	int		attr;
	bool		wide;	/* u64 instead of u32 */
	uint64_t	least;
	uint64_t	most;	/* 0: the type's */
};

#define NUMBER(key_, attr_, ...) { .key = (key_), .attr = (attr_), ##__VA_ARGS__ }

int nl_open(int protocol);
void nl_start(struct request *req, int type, int flags, const void *header,
	      size_t size);
void nl_put(struct request *req, int type, const void *data, size_t size);
void nl_put_u32(struct request *req, int type, uint32_t value);
void nl_put_u64(struct request *req, int type, uint64_t value);
void nl_put_string(struct request *req, int type, const char *text);
void nl_put_numbers(struct request *req, int from, const struct number_option *options, size_t n);
struct nlattr *nl_nest(struct request *req, int type);
void nl_nest_end(struct request *req, struct nlattr *nest);
void nl_append(struct request *req, const void *data, size_t size);
void nl_do(int fd, struct request *req);
void nl_dump(int fd, struct request *req,
	     void (*each)(const struct nlmsghdr *nlh, void *arg), void *arg);
void nl_parse(const struct nlattr **tb, int max, const void *attrs, int size);
const void *nl_data(const struct nlattr *attr);
int nl_len(const struct nlattr *attr);

/* module.c */
void cmd_module(void);

/* bpf.c */
void cmd_bpf(void);
void cmd_bpf_option(void);

/* node.c */
void net_enter(int node);
void net_close(void);
void node_add_current(const char *name);
int node_search(const char *name);
int node_index(const char *name);
struct port *port_add(const char *node, const char *dev);
struct port *port_find(const char *node, const char *dev);
struct port *port_by_ifindex(int ifindex);

/* net.c */
void net_defaults(void);
void cmd_node(void);
void cmd_link(void);
void cmd_addr(void);
void cmd_route(void);
void cmd_sysctl(void);

/* qdisc.c */
void qdisc_default(const struct port *port);
void cmd_qdisc(void);
const char *swport_stat_name(int attr);

/* genl.c */
void cmd_param(void);
void cmd_lookahead(void);
void counters_collect(void);

/* probe.c */
void cmd_stamps(void);
void cmd_probe(void);

/* run.c */
void cmd_flow(void);
void cmd_watch(void);
void cmd_sample(void);
void cmd_until(void);
void cmd_truth(void);
void cmd_step(void);
void cmd_symbols(void);
void cmd_run(void);

/* program.c, program_root.c, capture.c */
void cmd_program(void);
void cmd_directory(void);
void cmd_syscall(void);
void cmd_hostname(void);
void cmd_capture(void);

/* stats.c */
void stats_collect(void);

/* debug.c */
void debug_leak_check(void);

#endif /* _QUELL_LAB_INIT_H */
