/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations of iproute2's tc for a plugin; tc installs no headers for plugins.
 *
 * tc looks for <kind>_qdisc_util in q_<kind>.so and is linked so that plugins
 * may call its helpers.  The layout of struct qdisc_util and the helpers below
 * are the same in tc 6.1 to 7.3; since 6.9 tc only adds const, which does not
 * change how they are called.
 */
#ifndef _QUELL_TC_PLUGIN_H
#define _QUELL_TC_PLUGIN_H

#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Callbacks of tc for one kind of qdisc. */
struct qdisc_util {
	struct qdisc_util *next;	/* used by tc */
	const char *id;			/* kind */
	/* command line to netlink; if non-zero, tc exits without sending */
	int (*parse_qopt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	/* TCA_OPTIONS to text or JSON */
	int (*print_qopt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	/* TCA_STATS_APP to text or JSON */
	int (*print_xstats)(struct qdisc_util *qu, FILE *f,
			    struct rtattr *xstats);
	/* for classes */
	int (*parse_copt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	/* for classes */
	int (*print_copt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	/* for qdiscs that filter blocks attach to */
	int (*has_block)(struct qdisc_util *qu, struct rtattr *opt,
			 uint32_t block_idx, bool *p_has);
};

/* Output a value is printed to: text, JSON, or the one selected. */
enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

/* The plugin does not use tc's colours; this value means no change. */
enum color_attr {
	COLOR_NONE = 6,
};

int print_color_u64(enum output_type type, enum color_attr color,
		    const char *key, const char *fmt, uint64_t value);
int print_color_string(enum output_type type, enum color_attr color,
		       const char *key, const char *fmt, const char *value);
int print_color_float(enum output_type type, enum color_attr color,
		      const char *key, const char *fmt, double value);
int print_color_bool(enum output_type type, enum color_attr color,
		     const char *key, const char *fmt, bool value);
void tc_print_rate(enum output_type type, const char *key, const char *fmt,
		   unsigned long long rate_bytes_ps);
void print_nl(void);
void open_json_object(const char *key);
void close_json_object(void);
void open_json_array(enum output_type type, const char *key);
void close_json_array(enum output_type type, const char *key);

unsigned int ll_name_to_index(const char *name);

int get_rate64(__u64 *rate_bytes_ps, const char *str);

int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data,
	      int alen);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);
int parse_rtattr_flags(struct rtattr *tb[], int max, struct rtattr *rta,
		       int len, unsigned short flags);

#endif /* _QUELL_TC_PLUGIN_H */
