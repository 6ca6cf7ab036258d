// SPDX-License-Identifier: GPL-2.0
/*
 * quell flow watch: the flows in a terminal, updated at intervals, or as JSON.
 *
 * A sample costs the kernel and this program as much as one "flow show", even if few of the flows
 * are displayed; counters are kept only of the flow with details.  The next sample begins an
 * interval after the previous one has ended, so that long samples leave time for the rest of the
 * machine.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flow.h"
#include "quell.h"
#include "util.h"
#include "watch.h"

#define NS_PER_SEC		1000000000ULL

/* The first rates need a second look, for which nobody should have to wait. */
#define SECOND_LOOK_NS		250000000ULL

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* However many come, the terminal is given back first: at the latest when a look has ended. */
static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
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

/**
 * struct session - state of "quell flow watch"
 * @app: connected
 * @words: which flows, and how often
 * @given: its arguments as given, for the title
 * @watch: the flows
 * @layout: of the columns
 * @view: the rest of the screen
 * @lines: flows that there is room for
 * @next_ns: time of the next look
 * @paused: there is none
 */
struct session {
	struct app		*app;
	struct flow_args	*words;
	char			given[WATCH_TEXT_LEN / 2];
	struct watch		watch;
	struct watch_layout	layout;
	struct watch_view	view;
	size_t			lines;
	uint64_t		next_ns;
	bool			paused;
};

/* The title's part behind the state: the namespace and the filters. */
static void keep_words(struct session *s, int argc, char **argv)
{
	char raw[WATCH_TEXT_LEN] = "";
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
	watch_strip_control(s->given, sizeof(s->given), raw);
}

static void make_title(struct session *s)
{
	char every[QTY_TEXT_LEN];
	size_t n = s->watch.n;

	snprintf(s->view.title, sizeof(s->view.title), "%zu flow%s by %s%s, every %s%s%s", n,
		 n == 1 ? "" : "s", flow_sort_name(s->watch.sort),
		 s->watch.ascending ? ", smallest first" : "",
		 qty_format(every, sizeof(every), QUELL_UNIT_NS, s->words->interval_ns),
		 s->paused ? ", PAUSED" : "", s->given);
}

/*
 * Counters of the chosen flow where details are shown and the last sample lacked them: details were
 * hidden then, or another flow was chosen.  While paused they are current, not of the pause.
 */
static int fetch_counters(struct session *s)
{
	struct watch_row *row = watch_chosen(&s->watch);

	if (!s->view.details || !row || row->flow.counters.n)
		return STATUS_OK;
	watch_screen_restore();
	return flow_fetch_counters(s->app, s->words->cc, row->key, &row->flow.counters);
}

/* Dump the flows, and join them with those known before. */
static int take_sample(struct session *s)
{
	const struct watch_row *chosen = watch_chosen(&s->watch);
	uint64_t interval_ns = s->words->interval_ns;
	struct flow_list list;
	int status;

	watch_screen_restore();
	s->words->brief = true;
	s->words->detailed = s->view.details && chosen ? chosen->key : 0;
	status = flow_fetch(s->app, s->words, &list);
	if (!status && watch_take(&s->watch, &list, now_ns())) {
		complain("flow watch: %s", strerror(ENOMEM));
		status = STATUS_KERNEL;
	}
	flow_list_free(&list);
	if (s->watch.looks == 1 && interval_ns > SECOND_LOOK_NS)
		interval_ns = SECOND_LOOK_NS;
	s->next_ns = now_ns() + interval_ns;
	return status;
}

static void change_order(struct watch *w, enum watch_action wish)
{
	if (wish == ACTION_SORT)
		w->sort = flow_sort_name(w->sort + 1) ? w->sort + 1 : 0;
	else
		w->ascending = !w->ascending;
	watch_sort(w);
}

/* How many flows further down a key leads. */
static long lines_of(const struct session *s, enum watch_action wish)
{
	long page = s->lines > 1 ? s->lines - 1 : 1;

	switch (wish) {
	case ACTION_UP:
		return -1;
	case ACTION_DOWN:
		return 1;
	case ACTION_PAGE_UP:
		return -page;
	case ACTION_PAGE_DOWN:
		return page;
	case ACTION_FIRST:
		return -(long)s->watch.n;
	case ACTION_LAST:
		return s->watch.n;
	default:
		return 0;
	}
}

/* Run the action of a key; false: quit. */
static bool do_wish(struct session *s, enum watch_action wish)
{
	long lines = lines_of(s, wish);

	if (s->view.help && wish != ACTION_REDRAW) {
		s->view.help = false;
		return true;
	}
	if (lines)
		watch_move(&s->watch, lines);
	else if (wish == ACTION_PAUSE)
		s->paused = !s->paused;
	else if (wish == ACTION_HELP)
		s->view.help = true;
	else if (wish == ACTION_DETAILS)
		s->view.details = !s->view.details;
	else if (wish == ACTION_SORT || wish == ACTION_REVERSE)
		change_order(&s->watch, wish);
	return wish != ACTION_QUIT;
}

/* Draw, if there is anything new, and wait for a key or the next look. */
static bool go_on(struct session *s, bool *is_new)
{
	enum watch_action wish;
	uint64_t now;

	if (*is_new) {
		make_title(s);
		s->lines = watch_screen_draw(&s->watch, &s->layout, &s->view);
	}
	now = now_ns();
	wish = watch_screen_key(s->paused ? UINT64_MAX / 2 :
				s->next_ns > now ? s->next_ns - now : 0);
	*is_new = wish != ACTION_NONE;
	return wish == ACTION_NONE || do_wish(s, wish);
}

static int watch_on_screen(struct session *s)
{
	bool is_new = true, more = true;
	int status;

	/* Errors are printed before the terminal is taken. */
	status = take_sample(s);
	if (!status)
		status = watch_screen_open(&s->view, &s->layout);
	if (status)
		return status;
	catch_signals();
	while (!status && more && !interrupted) {
		if (!s->paused && now_ns() >= s->next_ns) {
			status = take_sample(s);
			is_new = true;
		}
		if (!status && is_new)
			status = fetch_counters(s);
		if (!status && !interrupted)
			more = go_on(s, &is_new);
	}
	watch_screen_close();
	return status;
}

/* Each look a document on a line of its own, until interrupted or a write fails. */
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
		.watch = { .sort = words->sort >= 0 ? words->sort : 0,
			   .ascending = words->ascending },
		.view = { .color = !words->no_color && !(no_color && *no_color),
			  .details = app->details || words->details },
	};
	int status;

	keep_words(&s, argc, argv);
	words->sort = -1;	/* done here */
	status = watch_on_screen(&s);
	watch_free(&s.watch);
	return status;
}

/* quell flow watch: runs until q or a signal. */
int flow_watch(struct app *app, int argc, char **argv)
{
	struct flow_args words;
	int status;

	status = flow_args_parse(&words, true, argc, argv);
	if (!status && !app->out.json)
		status = watch_screen_check();
	if (!status)
		status = app_connect(app, "swift");
	if (!status)
		status = flow_check_cc(app, words.cc);
	if (status)
		return status;
	return app->out.json ? watch_as_json(app, &words) :
			       watch_flows(app, &words, argc, argv);
}
