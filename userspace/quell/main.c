// SPDX-License-Identifier: GPL-2.0
/*
 * quell: look at and set up Quell congestion control.
 *
 * One table of commands drives dispatch, the usage text and, through the
 * hidden "help --commands", the shell completion and its test.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quell/version.h>

#include "batch.h"
#include "quell.h"
#include "util.h"

#define NETNS_DIR	"/run/netns"

/* The first verb of an object is its default. */
static const struct command commands[] = {
	{ "cc", "show", "[ALGO [PARAM]]", 0, 2,
	  "parameters of the algorithms", cc_show, false },
	{ "cc", "set", "ALGO PARAM VALUE [PARAM VALUE]...", 2, ARGS_UNBOUNDED,
	  "change parameters, all of them or none", cc_change, true },
	{ "cc", "reset", "ALGO [PARAM]...", 1, ARGS_UNBOUNDED,
	  "put parameters back to their defaults", cc_change, true },
	{ "cc", "preset", "[list] [ALGO] | ALGO PRESET", 0, 2,
	  "presets named after paper and table: list, set", cc_preset, true },
	{ "flow", "show", "[-d] [-s [prefix LEN]] [src PREFIX] [dst PREFIX] [sport PORT] "
	  "[dport PORT] [cc ALGO] [dev DEV] [state STATE] [by GOVERNOR] [sort KEY]", 0, ARGS_UNBOUNDED,
	  "flows of Quell's algorithms", flow_show, false },
	{ "flow", "watch", "[-d] [src PREFIX] [dst PREFIX] [sport PORT] [dport PORT] [cc ALGO] "
	  "[dev DEV] [state STATE] [by GOVERNOR] [sort KEY] [interval TIME] [--no-color]", 0, ARGS_UNBOUNDED,
	  "the same in a terminal, live, with their past", flow_watch, false },
	{ "stat", NULL, "[-a] [-z] [--metrics] [ALGO]", 0, ARGS_UNBOUNDED,
	  "counters since the last call", stat_show, false },
	{ "doctor", NULL, "[--if ALGO]", 0, ARGS_UNBOUNDED,
	  "problems and fixes, or the effects of a change", doctor, false },
	{ "save", NULL, "", 0, 0,
	  "print the settings as commands for a batch", save, false },
	{ "restore", NULL, "FILE", 1, 1,
	  "check all commands of a file, then carry them out", restore, true },
	{ "sync", NULL, "FILE", 1, 1,
	  "as restore, and reset what FILE does not have", restore, true },
	{ "link", "show", "[DEV]", 0, 1,
	  "rates of the interfaces", link_show, false },
	{ "link", "set", "DEV rate RATE", 3, 3,
	  "set the rate if the driver does not report it", link_set, true },
	{ "link", "reset", "DEV", 1, 1,
	  "go back to the rate that the driver reports", link_reset, true },
	{ "sender", "show", "[dev DEV]", 0, 2,
	  "hosts that send to this one, as dart counts them", sender_show, false },
	{ "sender", "weight", "ADDR WEIGHT [dev DEV]", 2, 4,
	  "set the weight of one in the shares, 1 .. 255", sender_weight, true },
	{ "lookahead", "show", "", 0, 0,
	  "groups of hosts that are expected to send together", lookahead_show, false },
	{ "lookahead", "add", "NAME [dev DEV] [time TIME] ADDR...", 2, ARGS_UNBOUNDED,
	  "register one, for the calling user", lookahead_add, true },
	{ "lookahead", "replace", "NAME [dev DEV] [time TIME] ADDR...", 2, ARGS_UNBOUNDED,
	  "the same, in place of one of that name", lookahead_add, true },
	{ "lookahead", "del", "NAME [uid UID]", 1, 3,
	  "delete one", lookahead_del, true },
	{ "hwtstamp", "show", "[DEV]", 0, 1,
	  "hardware timestamping of the NICs", hwstamp_show, false },
	{ "hwtstamp", "on", "DEV", 1, 1,
	  "enable RX hardware timestamps", hwstamp_switch, true },
	{ "hwtstamp", "off", "DEV", 1, 1,
	  "disable them", hwstamp_switch, true },
	{ "bpf", "show", "[ALGO]", 0, 1,
	  "algorithms loaded as BPF objects", bpf_show, false },
	{ "bpf", "load", "ALGO [preset NAME] [dir DIR] [PARAM VALUE]...", 1, ARGS_UNBOUNDED,
	  "load and register one, as bpf_ALGO", bpf_load, false },
	{ "bpf", "replace", "ALGO [preset NAME] [dir DIR] [PARAM VALUE]...", 1, ARGS_UNBOUNDED,
	  "put new code under one that is loaded", bpf_load, false },
	{ "bpf", "unload", "ALGO", 1, 1,
	  "unregister one", bpf_unload, false },
	{ "bpf", "set", "ALGO [preset NAME] [PARAM VALUE]...", 2, ARGS_UNBOUNDED,
	  "change parameters of one", bpf_change, false },
	{ "bpf", "reset", "ALGO [PARAM]...", 1, ARGS_UNBOUNDED,
	  "put parameters of one back to their defaults", bpf_change, false },
	{ "bpf", "option", "[show | on [cgroup PATH] [dir DIR] | off [cgroup PATH]]", 0, 5,
	  "the Quell option of a cgroup's sockets", bpf_option, false },
	{ "monitor", NULL, "[-ts] [settings] [flows] [rcvbuf SIZE]", 0, ARGS_UNBOUNDED,
	  "changes of settings and of flows as they happen", monitor, false },
	{ "trace", NULL, "[src PREFIX] [dst PREFIX] [sport PORT] [dport PORT] [cookie N] [cc NAME] "
	  "[netns any] [sample N] [count N] [for TIME] [buffer SIZE] [dir DIR] [-o FILE]", 0, ARGS_UNBOUNDED,
	  "each decision of any congestion control, as CSV", trace_decisions, false },
};

#define OPTION(name_, letter_, arg_, member_, of_batch_, summary_)		\
	{ { name_, (arg_) ? required_argument : no_argument, NULL, letter_ }, arg_, \
	  offsetof(struct app, member_), of_batch_, summary_ }

/* Each sets its member of struct app: its argument, or true. */
static const struct {
	struct option	opt;
	const char	*arg;
	size_t		offset;
	bool		of_batch;	/* for a whole batch, not for a line of one */
	const char	*summary;
} options[] = {
	OPTION("json", 'j', NULL, json, false, "JSON in base units (ns, bytes, bytes/s)"),
	OPTION("pretty", 'p', NULL, pretty, false, "indent the JSON"),
	OPTION("details", 'd', NULL, details, false, "all that is known of each entry"),
	OPTION("netns", 'n', "NETNS", netns, true, "act in this network namespace"),
	OPTION("batch", 'b', "FILE", batch, true, "commands from FILE, a line each"),
	OPTION("force", 'f', NULL, force, true, "go on after an error in a batch"),
	OPTION("check", 'c', NULL, check, true, "check settings, make no change"),
	OPTION("version", 'V', NULL, version, false, "print the version"),
	OPTION("help", 'h', NULL, help, false, "print this"),
};

/* A mistake of the command line, at a word. */
static int usage_error(const char *error, const char *word)
{
	return complain("%s '%s', try: quell help", error, word);
}

/* Columns of the usage text, and where the summaries begin. */
#define HELP_COLUMNS	79
#define HELP_SUMMARY	29
#define HELP_INDENT	12

/* The next piece of an argument list that stays on one line: a word, or a bracketed group. */
static size_t piece_len(const char *args)
{
	size_t len = 0;
	int depth = 0;

	for (; args[len] && (depth || args[len] != ' '); len++)
		depth += (args[len] == '[') - (args[len] == ']');
	return len;
}

/* A command with its arguments, wrapped; then the summary, on a line of its own if need be. */
static void print_command(const struct command *c)
{
	const char *args = c->args;
	const char *verb = c->verb ? c->verb : "";
	int used = printf("    quell %s%s%s", c->object, *verb ? " " : "", verb);

	while (*args) {
		int len = piece_len(args);

		if (used + 1 + len > HELP_COLUMNS)
			used = printf("\n%*s", HELP_INDENT - 1, "") - 1;
		used += printf(" %.*s", len, args);
		args += len + (args[len] == ' ');
	}
	if (used >= HELP_SUMMARY) {
		putchar('\n');
		used = 0;
	}
	printf("%*s%s\n", HELP_SUMMARY - used, "", c->summary);
}

/* Words of which one may be abbreviated. */
struct word_list {
	const char	*words[ARRAY_SIZE(commands)];
	size_t		n;
};

/* Add a word, unless it is there. */
static void add_word(struct word_list *list, const char *word)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (!strcmp(list->words[i], word))
			return;
	if (list->n < ARRAY_SIZE(list->words))
		list->words[list->n++] = word;
}

/*
 * The word of the list that @word is, or of which alone it is the beginning; NULL after a complaint
 * about a word of that @kind, with the help for @object, empty: for all.
 */
static const char *resolve(const struct word_list *list, const char *kind, const char *word,
			   const char *object)
{
	char candidates[128] = "", known[192] = "";
	const char *found = NULL;
	size_t i, n = 0;

	for (i = 0; i < list->n; i++) {
		if (!strcmp(word, list->words[i]))
			return list->words[i];
		append_name(known, sizeof(known), list->words[i]);
		if (*word && !strncmp(word, list->words[i], strlen(word))) {
			found = list->words[i];
			append_name(candidates, sizeof(candidates), found);
			n++;
		}
	}
	if (n == 1)
		return found;
	if (n)
		complain("%s '%s' may be any of: %s", kind, word, candidates);
	else
		complain("unknown %s '%s' (there are: %s), try: quell help%s%s", kind, word, known,
			 *object ? " " : "", object);
	return NULL;
}

/* The object that a word stands for, or NULL after a complaint. */
static const char *find_object(const char *word)
{
	struct word_list objects = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		add_word(&objects, commands[i].object);
	return resolve(&objects, "object", word, "");
}

/* Usage of all commands, or of those of one object. */
static int print_help(const char *word)
{
	const char *object = word ? find_object(word) : NULL;
	size_t i;

	if (word && !object)
		return STATUS_INPUT;

	puts("Usage: quell [OPTIONS] OBJECT [VERB] [ARGUMENTS]\n\nCommands:");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!object || !strcmp(object, commands[i].object))
			print_command(&commands[i]);
	puts("\nOptions:");
	for (i = 0; i < ARRAY_SIZE(options); i++)
		printf("    -%c, --%-7s %-6s %s\n", options[i].opt.val, options[i].opt.name,
		       options[i].arg ? options[i].arg : "", options[i].summary);
	puts("\nValues: 25us 1.5ms, 50mbit 10gbit, 1500b 225kb (1024), 0.8 80%, 50pkt, on off");
	puts("PARAM VALUE may be written PARAM=VALUE.");
	return STATUS_OK;
}

/* For completion and tests: object, verb or "-", arguments, separated by tabs. */
static int print_command_table(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		printf("%s\t%s\t%s\n", commands[i].object,
		       commands[i].verb ? commands[i].verb : "-", commands[i].args);
	for (i = 0; i < ARRAY_SIZE(options); i++)
		printf("-%c\t--%s\t%s\n", options[i].opt.val, options[i].opt.name,
		       options[i].arg ? options[i].arg : "");
	return STATUS_OK;
}

static int help(int argc, char **argv)
{
	if (argc && !strcmp(argv[0], "--bpf"))
		return bpf_list_args(argc > 1 ? argv[1] : NULL);
	if (argc > 2)
		return usage_error("unexpected argument", argv[2]);
	if (argc && !strcmp(argv[0], "--commands"))
		return print_command_table();
	return print_help(argc ? argv[0] : NULL);
}

/*
 * find_command() - look up the command of a command line
 * @argc: number of words, at least one; on success those behind the verb
 * @argv: the words; on success those behind the verb
 *
 * Return: the command, or NULL after a complaint.
 */
static const struct command *find_command(int *argc, char ***argv)
{
	const char *object = find_object((*argv)[0]);
	const char *verb = *argc > 1 ? (*argv)[1] : NULL;
	struct word_list verbs = {};
	size_t i;

	for (i = 0; object && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(object, commands[i].object) && commands[i].verb)
			add_word(&verbs, commands[i].verb);
	if (verbs.n && verb)
		verb = resolve(&verbs, "verb", verb, object);
	if (!object || (verbs.n && *argc > 1 && !verb))
		return NULL;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct command *c = &commands[i];
		int words = c->verb && verb ? 2 : 1;

		if (strcmp(object, c->object) || (c->verb && verb && strcmp(verb, c->verb)))
			continue;
		*argc -= words;
		*argv += words;
		return c;
	}
	return NULL;
}

/*
 * Move this process into a network namespace: a name of "ip netns add", or a path if it has a
 * slash.
 */
int netns_enter(const char *name)
{
	char path[PATH_MAX];
	int status = STATUS_OK;
	int fd;

	if (!*name || !strcmp(name, ".") || !strcmp(name, "..") ||
	    strlen(name) >= sizeof(path) - sizeof(NETNS_DIR)) {
		return complain("invalid network namespace name '%s'", name);
	}
	if (strchr(name, '/'))
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), NETNS_DIR "/%s", name);

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return complain("cannot open network namespace '%s': %s", name, strerror(errno));
	if (setns(fd, CLONE_NEWNET))
		status = complain_fault("cannot enter network namespace '%s': %s", name,
					strerror(errno));
	close(fd);
	return status;
}

static int check_arg_count(const struct command *c, int argc, char **argv)
{
	bool is_few = argc < c->min_args;

	if (!is_few && (c->max_args == ARGS_UNBOUNDED || argc <= c->max_args))
		return STATUS_OK;
	return complain("%s%s%s, usage: quell %s%s%s%s%s",
			is_few ? "too few arguments" : "unexpected argument '",
			is_few ? "" : argv[c->max_args], is_few ? "" : "'", c->object,
			c->verb ? " " : "", c->verb ? c->verb : "", *c->args ? " " : "", c->args);
}

static int run_command(struct app *app, int argc, char **argv)
{
	const struct command *c;
	int status;

	c = find_command(&argc, &argv);
	if (!c)
		return STATUS_INPUT;
	if (app->check && !c->is_setting)
		return complain("no setting of a namespace is made by '%s%s%s', try: quell help",
				c->object, c->verb ? " " : "", c->verb ? c->verb : "");
	app->verb = c->verb ? c->verb : c->object;
	status = check_arg_count(c, argc, argv);
	if (!status && app->netns)
		status = netns_enter(app->netns);
	if (!status)
		status = c->run(app, argc, argv);
	if (app->connected)
		nl_close(&app->nl);
	return status;
}

/* A full disk or a closed pipe must not look like success. */
static int finish(int status)
{
	if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE)
		complain("cannot write the output: %s", strerror(errno));
	else if (!ferror(stdout))
		return status;
	return status ? status : STATUS_KERNEL;
}

static void set_option(struct app *app, size_t i, const char *arg)
{
	void *place = (char *)app + options[i].offset;

	if (options[i].arg)
		*(const char **)place = arg;
	else
		*(bool *)place = true;
}

/* The options in front of the object; false after a complaint. */
static bool take_first_options(struct app *app, int argc, char **argv)
{
	struct option longopts[ARRAY_SIZE(options) + 1] = {};
	size_t i;
	int opt;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		longopts[i] = options[i].opt;
	/* "+": the others are looked for word by word, so that "-5us" stays a value. */
	while ((opt = getopt_long_only(argc, argv, "+jpdn:b:fcVh", longopts, NULL)) != -1) {
		for (i = 0; i < ARRAY_SIZE(options) && options[i].opt.val != opt; i++)
			;
		if (i == ARRAY_SIZE(options)) {
			fputs("try: quell help\n", stderr);
			return false;
		}
		set_option(app, i, optarg);
	}
	return true;
}

/* The index of the option that a word is, or ARRAY_SIZE(options). */
static size_t find_option(const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		const char letter[] = { '-', options[i].opt.val, '\0' };

		if (!strcmp(word, letter) ||
		    (*word == '-' && !strcmp(word + 1 + (word[1] == '-'), options[i].opt.name)))
			break;
	}
	return i;
}

/*
 * Parse the options behind the object, wherever they are, and leave the other words.  Only a word
 * that is exactly an option counts: a value is not one.
 */
static int take_late_options(struct app *app, int *argc, char **argv)
{
	int i, kept = 1;

	for (i = 1; i < *argc; i++) {
		size_t found = find_option(argv[i]);
		const char *arg = NULL;

		if (!strcmp(argv[i], "--")) {
			while (++i < *argc)
				argv[kept++] = argv[i];
			break;
		}
		if (found == ARRAY_SIZE(options)) {
			argv[kept++] = argv[i];
			continue;
		}
		if (options[found].of_batch && (app->in_batch || options[found].opt.val == 'b'))
			return usage_error("an option that a batch has in front of it, not a command:",
					   argv[i]);
		if (options[found].arg && i + 1 == *argc)
			return usage_error("an argument is missing to", argv[i]);
		if (options[found].arg)
			arg = argv[++i];
		set_option(app, found, arg);
	}
	*argc = kept;
	return STATUS_OK;
}

/* Options that need no command; @object is NULL if the options came first. */
static int print_about(const struct app *app, const char *object)
{
	if (!app->version)
		return print_help(object);
	puts("quell " QUELL_VERSION);
	return STATUS_OK;
}

/* "help", "link help", "link show help"; behind other verbs "help" may be a name. */
static bool has_help(int argc, char **argv)
{
	return !strcmp(argv[0], "help") || (argc > 1 && !strcmp(argv[1], "help")) ||
	       (argc == 3 && !strcmp(argv[1], "show") && !strcmp(argv[2], "help"));
}

/*
 * Carry out a command line without the name of the program. @common has the options before it, or
 * those of the batch that it is a line of; @argv is moved.
 */
int run_words(const struct app *common, int argc, char **argv)
{
	struct app app = *common;
	bool is_help;

	if (take_late_options(&app, &argc, argv))
		return STATUS_INPUT;
	is_help = app.version || app.help || has_help(argc, argv);
	if (is_help && app.in_batch && app.check)
		return usage_error("no setting of a namespace is made by", "help");
	if (!strcmp(argv[0], "help"))
		return help(argc - 1, argv + 1);
	if (is_help)
		return print_about(&app, argv[0]);
	out_init(&app.out, stdout, app.json, app.pretty);
	return run_command(&app, argc, argv);
}

/* A socket with the number of a closed standard stream would be sent its text. */
static void open_streams(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	struct app app = {};

	open_streams();
	argv[0] = "quell";	/* as the other messages have it, not a path */
	if (!take_first_options(&app, argc, argv))
		return STATUS_INPUT;
	if (app.version || app.help)
		return finish(print_about(&app, NULL));
	argc -= optind;
	argv += optind;
	if (app.batch && argc)
		return usage_error("unexpected argument", argv[0]);
	if (app.batch)
		return finish(batch_run(&app));
	if (!argc)
		return complain("no object given, try: quell help");
	return finish(run_words(&app, argc, argv));
}
