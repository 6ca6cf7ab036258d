/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the verbs of the quell command.
 *
 * A function that returns int returns an exit status, unless its comment has another meaning: the
 * reason of a failure has been printed then.
 */
#ifndef QUELL_CLI_QUELL_H
#define QUELL_CLI_QUELL_H

#include <sys/socket.h>

#include "model.h"
#include "nl.h"
#include "out.h"
#include "qty.h"

/* Exit statuses, those of tc(8) and ip(8). */
#define STATUS_OK	0
#define STATUS_INPUT	1	/* the command line or a value in it */
#define STATUS_KERNEL	2	/* the kernel, or the output, failed */
#define STATUS_FINDINGS	3	/* quell doctor has found a fault */

#define ARGS_UNBOUNDED	(-1)

/* Where the programs and objects that come with this one are, from its directory. */
#define LIB_FROM_PROGRAM	"../lib/quell"

/* Buffer size for cc_format_range(). */
#define CC_RANGE_LEN	(2 * QTY_TEXT_LEN + 4)

/* Room for a name in a pair, more than for any name in the kernel. */
#define PAIR_NAME_LEN	64

/* A name and its value, as typed. */
struct pair {
	/* the name; a longer one is cut, and stays unknown */
	char		name[PAIR_NAME_LEN];
	const char	*value;	/* the value */
};

/* A quantity on the command line: its unit and range; most may be UINT64_MAX. */
struct quantity {
	uint32_t	unit;
	uint64_t	least;
	uint64_t	most;
};

/* A word of the command line and its value. */
struct word {
	const char	*word;
	/* reader of the value; NULL: the word has no value and sets a bool */
	int		(*read)(const struct word *w, const char *text, void *place);
	size_t		offset;	/* in the struct of the arguments */
	const void	*data;	/* for @read, such as a struct quantity */
};

/* The words of a verb, each with a value once at most; @name is for complaints. */
struct words {
	const char		*name;
	const struct word	*list;
	size_t			n;
};

struct preset;
struct quell_trace_prefix;

/* A command with its options. */
struct app {
	struct nl	nl;
	struct out	out;
	bool		connected;	/* @nl is open */
	bool		in_batch;	/* the command is a line of a batch */
	bool		json;
	bool		pretty;
	bool		details;	/* all of each entry is printed */
	bool		check;		/* settings are checked only, not made */
	bool		force;		/* a batch goes on after an error */
	bool		version;	/* print the version only */
	bool		help;		/* print the usage text only */
	/* the word of the command that distinguishes it from others of the same function */
	const char	*verb;
	const char	*netns;		/* namespace to enter, or NULL */
	const char	*batch;		/* file of commands, or NULL */
};

/* Carry out a verb; the arguments start behind it.  Returns an exit status. */
typedef int verb(struct app *app, int argc, char **argv);

/* One verb; the table of commands drives dispatch, help and completion. */
struct command {
	const char	*object;	/* first word */
	const char	*verb;		/* second word, or NULL when the object has no verbs */
	const char	*args;		/* arguments, in the notation of the usage text */
	int		min_args;
	int		max_args;	/* or ARGS_UNBOUNDED */
	const char	*summary;	/* one line */
	verb		*run;
	/* it makes settings, may be in a file of them, and heeds @check of struct app */
	bool		is_setting;
};

/* app.c */
int complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same where the kernel or the output failed. */
#define complain_fault(...)	(complain(__VA_ARGS__), STATUS_KERNEL)
void complain_at(const char *file);
void complain_line(unsigned int line);
int complain_kernel(const char *request, const struct nl_error *err);
int app_connect(struct app *app, const char *algo);
size_t find_program(char *path);

/* main.c */
int run_words(const struct app *common, int argc, char **argv);
int netns_enter(const char *name);

/* fetch.c */
int app_dump(struct app *app, struct nlmsghdr *nlh, const struct attr_kind *kind, void *list,
	     const char *request);
int app_fetch(struct app *app, uint8_t cmd, const struct attr_kind *kind, void *list,
	      const char *request);

verb cc_show, cc_change, cc_preset;
verb flow_show, flow_watch;
verb stat_show, doctor, save, restore, trace_decisions, monitor;
verb lookahead_show, lookahead_add, lookahead_del;
verb sender_show, sender_weight;
verb link_show, link_set, link_reset;
verb hwstamp_show, hwstamp_switch;
verb bpf_load, bpf_unload, bpf_change, bpf_show, bpf_option;
int bpf_list_args(const char *algo);

struct flow_args;
int flow_fetch(struct app *app, const struct flow_args *words, struct flow_list *list);
int flow_show_once(struct app *app, struct flow_args *words);
int flow_check_cc(struct app *app, const char *cc);
int cc_fetch(struct app *app, struct cc_list *list);
int cc_not_loaded(const char *name);
int cc_find(const struct cc_list *list, const char *name, const struct cc **cc);
const struct param *cc_find_param(const struct cc *cc, const char *name);
bool param_is_changed(const struct param *p);
unsigned int cc_print_params(struct out *o, const struct cc *cc, const char *only);
void cc_print_preset(struct out *o, const struct cc *cc);
void cc_format_range(char *buf, size_t len, const struct param *p);
int cc_apply_preset(struct app *app, const struct cc *cc, const struct preset *preset);
void link_print(struct out *o, const char *name, const char *fmt, const struct link *link);
int stat_fetch(struct app *app, struct stat_list *list);
int dart_check(struct app *app, uint64_t time_ns);
int find_dev(const char *name, uint32_t *ifindex);
int find_dev_name(const char *name, char *dev);
int pair_next(int argc, char **argv, int *i, struct pair *pair);
int read_address(const char *text, struct sockaddr_storage *address);
const char *address_text(const struct address *address, char *text);
bool is_number(const char *text, int base, uint64_t *value);
int read_number(const char *word, const char *text, uint64_t most, uint64_t *value);
int words_take(const struct words *words, void *to, int *argc, char ***argv);
int words_read(const struct words *words, void *to, int argc, char **argv);
int word_dev(const struct word *w, const char *text, void *place);
int word_text(const struct word *w, const char *text, void *place);
int word_port(const struct word *w, const char *text, void *place);
int word_prefix(const struct word *w, const char *text, void *place);
int word_quantity(const struct word *w, const char *text, void *place);
void out_address(struct out *o, const char *key, const char *fmt,
		 const struct address *address);
int complain_lookahead(const char *request, int code, const char *text);
void append_name(char *text, size_t len, const char *name);
void out_counters(struct out *o, const struct counters *counters);
void out_counter_lines(struct out *o, const struct counters *counters);

#endif /* QUELL_CLI_QUELL_H */
