/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the parts of tc's plugin for swport: parsing the command line, and printing
 * values as text and JSON.
 */
#ifndef _QUELL_Q_SWPORT_H
#define _QUELL_Q_SWPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/pkt_sched_swport.h>

#include "tc_plugin.h"

/* Q16: 1, the same for probabilities, shares and alpha. */
#define SWPORT_ONE	65536

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* One ecn-class. */
struct swport_class {
	uint64_t dscps;				/* bit per DSCP */
	uint32_t red[TCA_SWPORT_CLASS_MAX + 1];	/* by TCA_SWPORT_CLASS_*: MIN, MAX_BYTES, PROB */
};

/* One alternate of deflection. */
struct swport_via {
	uint32_t ifindex;	/* device */
	int addr_bytes;		/* 4 of IPv4, 16 of IPv6 */
	uint8_t addr[16];	/* next hop, network order */
};

/* State of parsing the command line. */
struct swport_args {
	int argc;					/* number of words left */
	char **argv;					/* next word */
	uint64_t given;					/* bit per TCA_SWPORT_* that was set */
	uint64_t value[TCA_SWPORT_MAX + 1];		/* values by TCA_SWPORT_* */
	const char *word[TCA_SWPORT_MAX + 1];		/* sizes by TCA_SWPORT_*, as typed */
	/* number of entries in @class, if TCA_SWPORT_ECN_CLASSES is given */
	unsigned int classes;
	/* each ecn-class */
	struct swport_class class[SWPORT_ECN_CLASSES_MAX];
	/* the deflection threshold is in ns until swport_finish_threshold() */
	bool threshold_is_time;
	const char *dev;				/* device of the qdisc */
	int via_nr;					/* number of alternates */
	struct swport_via via[SWPORT_DEFLECT_VIA_MAX];	/* the alternates; sent if there are any */
};

#define SWPORT_CHOICES	2

/* A word of the command line. */
struct swport_word {
	const char *word;
	/* reader of its value */
	int (*parse)(struct swport_args *args, const struct swport_word *w);
	int attr;	/* TCA_SWPORT_* */
	/* in error messages; NULL: as @word */
	const char *name;
	uint32_t min;	/* smallest value; of a word that has no value behind it, the value */
	uint32_t max;	/* largest value */
	/* names of the values 0 and 1, for swport_parse_choice() */
	const char * const *choices;
};

/* A counter: its attribute, its key in JSON, its text. */
struct swport_counter {
	int attr;
	const char *key;
	const char *fmt;
};

/* Buffer size for a list of DSCPs. */
#define SWPORT_DSCPS_TEXT	256

/* Of a size, or a time. */
#define SWPORT_SIZE_TEXT	16

/* swport_parse.c */
int swport_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *swport_peek(const struct swport_args *args);
const char *swport_next(struct swport_args *args);
bool swport_accept(struct swport_args *args, const char *word);
bool swport_given(const struct swport_args *args, int attr);
int swport_set(struct swport_args *args, int attr, const char *name, uint64_t value);
int swport_set_word(struct swport_args *args, const struct swport_word *w);
int swport_parse_words(struct swport_args *args, const struct swport_word *words);
int swport_read_size_word(struct swport_args *args, const char *name,
			  uint32_t min, uint32_t max, uint32_t *bytes);
const char *swport_write_size(uint32_t bytes, char *text);
int swport_refuse_max(const char *name, const char *max, const char *min);
int swport_need_size(const struct swport_args *args, const char *name, const char *word,
		     uint32_t min, uint32_t max);
int swport_refuse(const char *name, const char *word, const char *expected);
int swport_parse_size(struct swport_args *args, const struct swport_word *w);
int swport_read_q16(struct swport_args *args, const struct swport_word *w, uint32_t *value_q16);
int swport_parse_q16(struct swport_args *args, const struct swport_word *w);
bool swport_read_time(const char *word, double *ns);
int swport_parse_time(struct swport_args *args, const struct swport_word *w);
bool swport_read_dscps(const char *text, uint64_t *dscps);
void swport_write_dscps(uint64_t dscps, char *text);
int swport_parse_number(struct swport_args *args, const struct swport_word *w);
int swport_parse_choice(struct swport_args *args, const struct swport_word *w);

uint32_t swport_get_u32(const struct rtattr *attr);
uint64_t swport_get_u64(const struct rtattr *attr);
uint64_t swport_get_counter(struct rtattr *attr);
bool swport_has(struct rtattr *attr, size_t bytes);
bool swport_is_on(struct rtattr *attr);
void swport_parse_nest(struct rtattr **tb, int max, struct rtattr *nest);
void swport_print_list(const char *key, struct rtattr *list, void (*print)(struct rtattr *attr));
void swport_print_counters(enum output_type type, const struct swport_counter *counters, size_t n,
			   struct rtattr **tb);
void swport_print_number(const char *key, const char *fmt, struct rtattr *attr);
void swport_print_q16(const char *key, const char *fmt, struct rtattr *attr);
void swport_print_flag(const char *key, const char *text, struct rtattr *attr);
void swport_print_choice(const char *key, const char *fmt, struct rtattr *attr,
			 const char * const *choices);
void swport_print_size(const char *key, const char *fmt, struct rtattr *attr);
void swport_print_time(const char *key, const char *name, struct rtattr *attr);

/* swport_classes.c */
int swport_parse_class(struct swport_args *args, const struct swport_word *w);
void swport_put_classes(struct nlmsghdr *n, int maxlen, const struct swport_args *args);
void swport_print_classes(struct rtattr *attr);
void swport_print_class_stats(struct rtattr *attr);

/* swport_percentiles.c */
void swport_print_percentiles(struct rtattr *attr);

/* swport_trim.c */
int swport_parse_trim(struct swport_args *args, const struct swport_word *w);
void swport_print_trim(struct rtattr **tb);

/* swport_deflect.c */
int swport_parse_deflect(struct swport_args *args, const struct swport_word *w);
int swport_finish_threshold(struct swport_args *args);
void swport_add_via(struct nlmsghdr *n, int max, const struct swport_args *args);
void swport_print_deflect(struct rtattr **tb);
void swport_print_via(struct rtattr *attr, const char *dev_key);

/* swport_flow.c */
int swport_print_flow(struct qdisc_util *qu, FILE *f, struct rtattr *options);

#endif /* _QUELL_Q_SWPORT_H */
