// SPDX-License-Identifier: GPL-2.0
/*
 * quell flow watch: the flows in a terminal, updated at intervals, or as JSON.
 *
 * A sample costs the kernel and this program as much as one "flow show", even if few of the flows
 * are displayed; counters are read of the flow with details only, by a second request.  The next
 * sample begins an interval after the previous one has ended, so that long samples leave time for
 * the rest of the machine.  The screen is repainted as a whole, by the sequences that all ANSI
 * terminals have.
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "flow.h"
#include "quell.h"
#include "util.h"
#include "watch.h"

#define NS_PER_SEC		1000000000ULL
#define NS_PER_MS		1000000ULL

/* The first rates need a second sample soon. */
#define SECOND_SAMPLE_NS	250000000ULL
/* A signal that comes just before the wait for a key is noticed so late. */
#define WAIT_MAX_MS		500ULL
#define KEY_SUSPEND		0x1a

/* Lines above and below the flows: title, sum, heading; the selected flow, which has half of the
 * screen with its details, and keys.
 */
#define LINES_ABOVE		3
#define LINES_BELOW		4
#define TITLE_LEN		1024

/* Sequences of the terminal: another screen without a cursor, and back; an empty line. */
#define SCREEN_OPEN		"\033[?1049h\033[?25l"
#define SCREEN_CLOSE		"\033[?25h\033[?1049l"
#define HOME			"\033[H"
#define LINE			"\033[K"
#define BOLD			"\033[1m"
#define BAR			"\033[7m"
#define NORMAL			"\033[0m"

static const char help_text[] =
	"up down j k     choose a flow; below the first it stays chosen\n"
	"PgUp PgDn       a screen up or down\n"
	"Home End g G    the first, the last\n"
	"s               sort by rate, window, inflight, rtt, delay, retrans in turn\n"
	"r               reverse the order\n"
	"p space         pause, and go on\n"
	"d Enter         all that is known of the chosen flow\n"
	"Ctrl-L          draw the screen anew\n"
	"q               quit\n"
	"\n"
	"RATE    acknowledged since the last sample, bits per second, and its past\n"
	"RTT     newest round-trip time; DELAY: above the smallest one\n"
	"TARGET  the algorithm's target; cubic: CUBIC governs; search: it starts\n"
	"CUT     reason of the last window reduction; AGO: how long ago\n"
	"LIMIT   limit of the flow's rate; why CUBIC governs it\n"
	"\n"
	"The past is as high as its largest sample, or the target if that is larger.\n"
	"Wider terminals have more columns and more of the past.\n";

static volatile sig_atomic_t interrupted, resized;

static void interrupt(int number)
{
	if (number == SIGWINCH)
		resized = 1;
	else
		interrupted = 1;
}

/* However many come, the terminal is restored first: at the latest when a sample has ended. */
static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH };
	struct sigaction action = { .sa_handler = interrupt };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, NULL);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

/* State of "quell flow watch". */
struct session {
	struct app		*app;			/* connected */
	struct flow_args	*words;			/* which flows, and how often */
	char			given[TITLE_LEN];	/* its arguments as given, for the title */
	struct watch		watch;
	struct flow_layout	layout;			/* of the columns */
	struct termios		terminal;		/* its settings before */
	FILE			*screen;		/* lines painted so far */
	size_t			rows;			/* lines of the terminal */
	size_t			row;			/* those that are painted */
	size_t			lines;			/* flows that there is room for */
	uint64_t		next_ns;		/* time of the next sample */
	bool			paused;			/* no sample is taken */
	bool			help;			/* the keys are explained */
	bool			details;		/* all that is known of the chosen flow */
};

static struct watch_row *chosen(const struct session *s)
{
	return s->watch.n ? &s->watch.rows[s->watch.at] : NULL;
}

/* The title's part behind the state: the namespace and the filters. */
static void keep_words(struct session *s, int argc, char **argv)
{
	char raw[TITLE_LEN / OUT_ESCAPED] = "";
	size_t used = 0;
	int i;

	if (s->app->netns)
		used = snprintf(raw, sizeof(raw), "  netns %s", s->app->netns);
	for (i = 0; i < argc && used < sizeof(raw); i++) {
		if (*argv[i] == '-')
			continue;
		if (strcmp(argv[i], "sort") && strcmp(argv[i], "interval") && i + 1 < argc)
			used += snprintf(raw + used, sizeof(raw) - used, "  %s %s", argv[i],
					 argv[i + 1]);
		i++;
	}
	out_escape(s->given, sizeof(s->given), raw);
}

/*
 * Counters of the chosen flow where details are shown and the last sample lacked them.  While
 * paused they are current, not of the pause.
 */
static int fetch_counters(struct session *s)
{
	struct watch_row *row = s->details ? chosen(s) : NULL;
	struct flow_list list;
	int status;
	size_t i;

	if (!row || row->flow.counters.n)
		return STATUS_OK;
	s->words->brief = false;
	status = flow_fetch(s->app, s->words, &list);
	for (i = 0; i < list.n; i++) {
		if (watch_key(&list.list[i]) != row->key || row->flow.counters.n)
			continue;
		row->flow.counters = list.list[i].counters;
		list.list[i].counters = (struct counters){};
	}
	flow_list_free(&list);
	return status;
}

/* Dump the flows, and join them with those known before. */
static int take_sample(struct session *s)
{
	bool is_first = !s->watch.sampled_ns;
	uint64_t interval_ns = s->words->interval_ns;
	struct flow_list list;
	int status;

	s->words->brief = true;
	status = flow_fetch(s->app, s->words, &list);
	if (!status && watch_take(&s->watch, &list, now_ns())) {
		complain("flow watch: %s", strerror(ENOMEM));
		status = STATUS_KERNEL;
	}
	flow_list_free(&list);
	if (is_first && interval_ns > SECOND_SAMPLE_NS)
		interval_ns = SECOND_SAMPLE_NS;
	s->next_ns = now_ns() + interval_ns;
	return status;
}

/* The next line, if the terminal has one; a line of all columns must not be followed by a blank. */
static void put_line(struct session *s, const char *attributes, const char *text)
{
	if (s->row == s->rows)
		return;
	fprintf(s->screen, "%s" LINE "%s%s" NORMAL, s->row++ ? "\r\n" : HOME, attributes, text);
}

/* As many characters of a text as there are columns; with attributes all of them. */
static void put_text(struct session *s, const char *attributes, const char *text)
{
	char line[FLOW_LINE_LEN];
	int columns = s->layout.columns;

	snprintf(line, sizeof(line), "%-*.*s", *attributes ? columns : 0, columns, text);
	put_line(s, attributes, line);
}

static void put_title(struct session *s)
{
	char every[QTY_TEXT_LEN], text[2 * TITLE_LEN];
	size_t n = s->watch.n;

	snprintf(text, sizeof(text), "%zu flow%s by %s%s, every %s%s%s", n, n == 1 ? "" : "s",
		 flow_sort_name(s->watch.sort), s->watch.ascending ? ", smallest first" : "",
		 qty_format(every, sizeof(every), QUELL_UNIT_NS, s->words->interval_ns),
		 s->paused ? ", PAUSED" : "", s->given);
	put_text(s, BOLD, text);
}

/* Words on as many lines as they take; @text is cut into them. */
static void put_words(struct session *s, size_t lines, char *text)
{
	char *word, *line = text;
	size_t used = 0;

	for (word = strtok(text, " \t\n"); word && lines; word = strtok(NULL, " \t\n")) {
		size_t len = strlen(word);

		if (used && used + 1 + len > s->layout.columns) {
			put_text(s, "", line);
			used = 0;
			lines--;
		}
		line = used ? line : word;
		if (used)
			line[used++] = ' ';
		memmove(line + used, word, len + 1);
		used += len;
	}
	for (; lines; lines--, used = 0)
		put_text(s, "", used ? line : "");
}

/* The lines of "flow show -d"; without details as many of them as fit. */
static void put_chosen(struct session *s, size_t lines)
{
	const struct watch_row *row = chosen(s);
	char *text = NULL;
	struct out o;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	if (!file)
		return;
	out_init(&o, file, false, false);
	if (row)
		flow_print_detail(&o, &row->flow);
	fclose(file);
	put_words(s, lines, text);
	free(text);
}

static void put_flows(struct session *s)
{
	struct watch *w = &s->watch;
	char line[FLOW_LINE_LEN];
	size_t i;

	watch_sum(w, line, sizeof(line));
	put_text(s, "", line);
	watch_scroll(w, s->lines);
	for (i = w->top; i < w->n && i - w->top < s->lines; i++)
		flow_measure(&s->layout, &w->rows[i].flow, &w->rows[i].past);
	flow_fit(&s->layout, s->layout.columns);
	flow_heading(line, &s->layout, w->sort);
	put_line(s, "", line);
	for (i = w->top; i - w->top < s->lines; i++) {
		strcpy(line, i || w->n ? "" : "no flows");
		if (i < w->n)
			flow_line(line, &s->layout, &w->rows[i].flow, &w->rows[i].past, i == w->at);
		put_line(s, "", line);
	}
}

static void put_help(struct session *s)
{
	char line[FLOW_COLUMNS];
	const char *at;

	for (at = help_text; *at; at += strcspn(at, "\n") + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		put_text(s, "", line);
	}
	while (s->row + 1 < s->rows)
		put_line(s, "", "");
	s->row = s->rows - 1;
}

/* Paint the screen by one write. */
static void paint(struct session *s)
{
	size_t below, len;
	struct winsize size = {};
	char *text = NULL;

	s->screen = open_memstream(&text, &len);
	if (!s->screen)
		return;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	s->row = 0;
	s->rows = size.ws_row ? size.ws_row : 24;
	s->layout.columns = size.ws_col ? size.ws_col : FLOW_COLUMNS;
	below = s->details && s->rows / 2 > LINES_BELOW ? s->rows / 2 : LINES_BELOW;
	s->lines = s->rows > LINES_ABOVE + below ? s->rows - LINES_ABOVE - below : 0;
	put_title(s);
	if (s->help) {
		put_help(s);
		put_text(s, BAR, "any key: back");
	} else {
		put_flows(s);
		put_chosen(s, below - 1);
		put_text(s, BAR, "q quit  p pause  s sort  r reverse  d details  ? help");
	}
	fclose(s->screen);
	fwrite(text, 1, len, stdout);
	fflush(stdout);
	free(text);
}

/* Take the terminal: keys are read one by one and not printed. */
static void open_screen(struct session *s)
{
	struct termios raw;

	tcgetattr(STDIN_FILENO, &s->terminal);
	raw = s->terminal;
	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_iflag &= ~ICRNL;
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	fputs(SCREEN_OPEN, stdout);
}

static void close_screen(const struct session *s)
{
	fputs(SCREEN_CLOSE, stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &s->terminal);
}

static void suspend(struct session *s)
{
	close_screen(s);
	raise(SIGTSTP);
	open_screen(s);
}

/* The text that a terminal sends for a key, and the letter with the same action. */
static const struct {
	const char	*sent;
	char		letter;
} keys[] = {
	{ "\033[A", 'k' }, { "\033OA", 'k' }, { "\033[B", 'j' }, { "\033OB", 'j' },
	{ "\033[5~", '-' }, { "\033[6~", '+' }, { "\033[H", 'g' }, { "\033OH", 'g' },
	{ "\033[1~", 'g' }, { "\033[F", 'G' }, { "\033OF", 'G' }, { "\033[4~", 'G' },
	{ "\033OP", '?' }, { "\033[11~", '?' }, { "h", '?' }, { " ", 'p' }, { "\r", 'd' },
	{ "\n", 'd' },
};

/* The letter of a key, and the text behind it; a sequence that is not known is left out. */
static char next_key(const char **text)
{
	char letter = **text;
	size_t i, len = 1;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strncmp(*text, keys[i].sent, strlen(keys[i].sent)))
			continue;
		*text += strlen(keys[i].sent);
		return keys[i].letter;
	}
	if (letter == '\033')
		len += strcspn(*text + 1, "~ABCDEFGHIJKLMNOPQRSTUVWXYZ") + 1;
	*text += len < strlen(*text) ? len : strlen(*text);
	return letter;
}

/* Run the action of a key; false: quit. */
static bool act(struct session *s, char key)
{
	long page = s->lines > 1 ? s->lines - 1 : 1, all = s->watch.n;
	const struct {
		char	letter;
		long	lines;
	} moves[] = {
		{ 'k', -1 }, { 'j', 1 }, { '-', -page }, { '+', page }, { 'g', -all }, { 'G', all },
	};
	struct watch *w = &s->watch;
	size_t i;

	if (s->help) {
		s->help = false;
		return true;
	}
	for (i = 0; i < ARRAY_SIZE(moves); i++)
		if (moves[i].letter == key)
			watch_move(w, moves[i].lines);
	if (key == 's')
		w->sort = flow_sort_name(w->sort + 1) ? w->sort + 1 : 0;
	w->ascending ^= key == 'r';
	s->paused ^= key == 'p';
	s->details ^= key == 'd';
	s->help = key == '?';
	if (key == 's' || key == 'r')
		watch_sort(w);
	if (key == KEY_SUSPEND)
		suspend(s);
	return key != 'q';
}

/* Wait for a key or the next sample, and act; false: quit, or there is no terminal any more. */
static bool wait_for_keys(struct session *s, bool *is_new)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t now = now_ns(), wait_ms = WAIT_MAX_MS;
	const char *at;
	char text[64];
	ssize_t len;

	if (!s->paused && s->next_ns < now + WAIT_MAX_MS * NS_PER_MS)
		wait_ms = s->next_ns > now ? (s->next_ns - now + NS_PER_MS - 1) / NS_PER_MS : 0;
	*is_new = false;
	if (poll(&input, 1, wait_ms) > 0) {
		len = read(STDIN_FILENO, text, sizeof(text) - 1);
		if (len <= 0)
			return len && errno == EINTR;
		*is_new = true;
		text[len] = '\0';
		for (at = text; *at;)
			if (!act(s, next_key(&at)))
				return false;
	}
	*is_new |= resized;
	resized = 0;
	return true;
}

/* Complaints are written into @said, for the screen would hide them. */
static int watch_on_screen(struct session *s)
{
	bool is_new = true, more = true;
	char *text = NULL;
	int status;
	FILE *said;
	size_t len;

	/* Errors of the first sample are printed before the terminal is taken. */
	status = take_sample(s);
	said = status ? NULL : open_memstream(&text, &len);
	if (!said)
		return status ? status : STATUS_KERNEL;
	complain_to(said);
	catch_signals();
	open_screen(s);
	while (!status && more && !interrupted) {
		/* Earlier complaints were of no consequence. */
		rewind(said);
		if (!s->paused && now_ns() >= s->next_ns) {
			status = take_sample(s);
			is_new = true;
		}
		if (!status && is_new)
			status = fetch_counters(s);
		if (status || interrupted)
			break;
		if (is_new)
			paint(s);
		more = wait_for_keys(s, &is_new);
	}
	close_screen(s);
	complain_to(NULL);
	fclose(said);
	fputs(status ? text : "", stderr);
	free(text);
	return status;
}

/* Each sample a document on a line of its own, until interrupted or a write fails. */
static int watch_as_json(struct app *app, struct flow_args *words)
{
	const struct timespec pause = {
		.tv_sec = words->interval_ns / NS_PER_SEC,
		.tv_nsec = words->interval_ns % NS_PER_SEC,
	};
	int status;

	do {
		status = flow_show_once(app, words);
		if (fflush(app->out.file))
			break;
	} while (!status && !nanosleep(&pause, NULL));
	return status;
}

static int watch_flows(struct app *app, struct flow_args *words, int argc, char **argv)
{
	const char *no_color = getenv("NO_COLOR");
	struct session s = {
		.app = app,
		.words = words,
		.watch = { .sort = words->order.sort >= 0 ? words->order.sort : 0,
			   .ascending = words->order.ascending },
		.layout = { .table = FLOW_TABLE_WATCH,
			    .color = !words->no_color && !(no_color && *no_color) },
		.details = app->details || words->details,
	};
	int status;

	setlocale(LC_CTYPE, "");
	s.layout.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	keep_words(&s, argc, argv);
	words->order.sort = -1;	/* done here */
	status = watch_on_screen(&s);
	watch_free(&s.watch);
	return status;
}

static int check_terminal(void)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		complain("flow watch: standard %s is no terminal; try: quell -j flow watch",
			 isatty(STDOUT_FILENO) ? "input" : "output");
	else if (!term || !*term || !strcmp(term, "dumb"))
		complain("flow watch: TERM '%s' has no cursor; try: quell -j flow watch",
			 term ? term : "");
	else
		return STATUS_OK;
	return STATUS_INPUT;
}

/* quell flow watch: runs until q or a signal. */
int flow_watch(struct app *app, int argc, char **argv)
{
	struct flow_args words;
	int status;

	status = flow_args_parse(&words, true, argc, argv);
	if (!status && !app->out.json)
		status = check_terminal();
	if (!status)
		status = app_connect(app, "swift");
	if (!status)
		status = flow_check_cc(app, words.cc);
	if (status)
		return status;
	return app->out.json ? watch_as_json(app, &words) :
			       watch_flows(app, &words, argc, argv);
}
