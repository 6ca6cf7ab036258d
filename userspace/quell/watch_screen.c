// SPDX-License-Identifier: GPL-2.0
/*
 * The screen of "quell flow watch", by ncurses: layout and keys.
 *
 * Only the flows that are seen are formatted.  While the screen is open, complaints go to a file
 * in memory, for they would be written over it, and follow on standard error when it is closed.
 */
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "quell.h"
#include "util.h"
#include "watch.h"

#define NS_PER_MS	1000000ULL
/* Time after which an escape is a key of its own, not the start of a sequence. */
#define ESCAPE_MS	25
/* A signal that comes just before the wait for a key is noticed so late. */
#define WAIT_MAX_MS	500ULL
#define KEY_CTRL_L	12

/* Lines above and below the flows: title, sum, heading; a sentence, keys. */
#define LINES_ABOVE	3
#define LINES_BELOW	4
/* Of those below, with details. */
#define LINES_DETAILS	9

enum { PAIR_GOOD = 1, PAIR_HIGH, PAIR_LOSS, PAIR_CUBIC };

static SCREEN *screen;
static int complaints = -1, stderr_kept = -1;

static const char * const help_lines[] = {
	"up down j k     choose a flow; below the first it stays chosen",
	"PgUp PgDn       a screen up or down",
	"Home End g G    the first, the last",
	"s               sort by rate, window, inflight, rtt, delay, retrans in turn",
	"r               reverse the order",
	"p space         pause, and go on",
	"d Enter         all that is known of the chosen flow",
	"Ctrl-L          draw the screen anew",
	"q               quit",
	"",
	"RATE    acknowledged since the last sample, bits per second, and its past",
	"RTT     newest round-trip time; DELAY: above the smallest one",
	"TARGET  the algorithm's target; cubic: CUBIC governs; search: it starts",
	"CUT     reason of the last window reduction; AGO: how long ago",
	"LIMIT   limit of the flow's rate; why CUBIC governs it",
	"",
	"The past is as high as its largest sample, or the target if that is larger.",
	"Wider terminals have more columns and more of the past.",
};

static void keep_complaints(void)
{
	fflush(stderr);
	stderr_kept = dup(STDERR_FILENO);
	complaints = memfd_create("complaints", MFD_CLOEXEC);
	if (complaints >= 0)
		dup2(complaints, STDERR_FILENO);
}

/* Print the complaints of the last sample. */
static void print_complaints(void)
{
	char text[4096];
	ssize_t len;

	fflush(stderr);
	if (stderr_kept < 0)
		return;
	dup2(stderr_kept, STDERR_FILENO);
	close(stderr_kept);
	stderr_kept = -1;
	if (complaints < 0)
		return;
	len = pread(complaints, text, sizeof(text), 0);
	if (len > 0)
		fwrite(text, 1, len, stderr);
	close(complaints);
	complaints = -1;
}

/**
 * watch_screen_restore() - drop the pending complaints
 *
 * For complaints that were of no consequence.
 */
void watch_screen_restore(void)
{
	fflush(stderr);
	if (complaints >= 0 && !ftruncate(complaints, 0))
		lseek(complaints, 0, SEEK_SET);
}

static void begin_colors(struct watch_view *view)
{
	view->color = view->color && has_colors() && start_color() == OK &&
		      use_default_colors() == OK;
	if (!view->color)
		return;
	init_pair(PAIR_GOOD, COLOR_GREEN, -1);
	init_pair(PAIR_HIGH, COLOR_YELLOW, -1);
	init_pair(PAIR_LOSS, COLOR_RED, -1);
	init_pair(PAIR_CUBIC, COLOR_CYAN, -1);
}

/**
 * watch_screen_check() - whether there is a terminal
 *
 * Return: an exit status, after a complaint.
 */
int watch_screen_check(void)
{
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return STATUS_OK;
	complain("flow watch: standard %s is no terminal; try: quell -j flow watch",
		 isatty(STDOUT_FILENO) ? "input" : "output");
	return STATUS_INPUT;
}

/**
 * watch_screen_open() - take the terminal
 * @view: its color is cleared if the terminal has no colours
 * @layout: its utf8 is filled in
 *
 * Return: an exit status, after a complaint.
 */
int watch_screen_open(struct watch_view *view, struct watch_layout *layout)
{
	const char *term = getenv("TERM");

	setlocale(LC_CTYPE, "");
	layout->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		complain("flow watch: TERM '%s' is no terminal that is known, or it has no cursor",
			 term ? term : "");
		return STATUS_INPUT;
	}
	keep_complaints();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	begin_colors(view);
	return STATUS_OK;
}

/* Restore the terminal, then print the complaints. */
void watch_screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
	print_complaints();
}

/* A text from a column on, up to a width. */
static void put(int y, int x, size_t width, const char *text)
{
	if (y >= 0 && y < LINES && x < COLS)
		mvaddnstr(y, x, text, width);
}

static void put_line(int y, const char *text, attr_t attr)
{
	attrset(attr);
	put(y, 0, COLS, text);
	attrset(A_NORMAL);
}

/* A whole line in reverse, as headings are. */
static void put_bar(int y, const char *text)
{
	attrset(A_REVERSE);
	if (y >= 0 && y < LINES)
		mvhline(y, 0, ' ', COLS);
	put(y, 0, COLS, text);
	attrset(A_NORMAL);
}

static void put_heading(int y, const struct watch *w, const struct watch_layout *layout)
{
	int c, x = 0;

	put_bar(y, "");
	for (c = 0; c < WATCH_COLS; c++) {
		int width = layout->width[c], len = strlen(watch_heading(c));
		bool sorted = is_watch_key(c, flow_sort_name(w->sort));

		if (!width)
			continue;
		attrset(A_REVERSE | (sorted ? A_BOLD | A_UNDERLINE : 0));
		put(y, is_watch_right(c) && len < width ? x + width - len : x, width,
		    watch_heading(c));
		x += width + 1;
	}
	attrset(A_NORMAL);
}

/* Cuts that lost something stand out; others are how it is meant to be. */
static bool is_loss(const struct flow *f)
{
	return f->reduction && (!strcmp(f->reduction, "loss") || !strcmp(f->reduction, "tail") ||
				!strcmp(f->reduction, "timeout"));
}

static int cell_color(int col, const struct flow *f)
{
	switch (col) {
	case WATCH_COL_RTT:
	case WATCH_COL_RTT_PAST:
	case WATCH_COL_DELAY:
	case WATCH_COL_DELAY_PAST:
		if (!f->target_ns || !f->rtt_ns)
			return 0;
		return f->rtt_ns > f->target_ns ? PAIR_HIGH : PAIR_GOOD;
	case WATCH_COL_REDUCTION:
	case WATCH_COL_AGO:
		return is_loss(f) ? PAIR_LOSS : 0;
	case WATCH_COL_TARGET:
	case WATCH_COL_LIMIT:
		return f->fallback ? PAIR_CUBIC : 0;
	}
	return 0;
}

/* Cut a cell in its middle; the end has the port. */
static void shorten(char *cell, size_t width)
{
	size_t len = strlen(cell), tail = width / 2;

	if (len <= width || width < 4)
		return;
	memcpy(cell + width - tail - 2, "..", 2);
	memmove(cell + width - tail, cell + len - tail, tail + 1);
}

static void put_flow(int y, const struct watch_row *row, const struct watch_layout *layout,
		     bool chosen, bool color)
{
	char cell[WATCH_CELL_LEN];
	int c, x = 0;

	if (chosen) {
		attrset(A_REVERSE);
		mvhline(y, 0, ' ', COLS);
	}
	for (c = 0; c < WATCH_COLS; c++) {
		int width = layout->width[c], len, pair = color ? cell_color(c, &row->flow) : 0;

		if (!width)
			continue;
		watch_cell(cell, c, row, layout);
		if (c == WATCH_COL_PEER)
			shorten(cell, width);
		len = strlen(cell);
		attrset((chosen ? A_REVERSE : 0) | COLOR_PAIR(pair));
		put(y, is_watch_right(c) && len < width ? x + width - len : x,
		    strchr(cell, '\xe2') ? (size_t)len : (size_t)width, cell);
		x += width + 1;
	}
	attrset(A_NORMAL);
}

/* Words on as many lines as they take; @text is cut into them. */
static void put_words(int y, int lines, char *text)
{
	int x = 0, len;
	char *word;

	for (word = strtok(text, " \t\n"); word; word = strtok(NULL, " \t\n")) {
		len = strlen(word);
		if (x && x + len > COLS) {
			x = 0;
			y++;
			lines--;
		}
		if (lines <= 0)
			break;
		put(y, x, COLS - x, word);
		x += len + 1;
	}
}

/* The lines of "flow show" in detail, without its separators. */
static void put_details(int y, int lines, const struct flow *f)
{
	char *text = NULL, *plain, *at;
	struct out o;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	if (!file)
		return;
	out_init(&o, file, false, false);
	flow_print_detail(&o, f);
	fclose(file);
	for (at = text; (at = strpbrk(at, "\t\n")); at++)
		*at = ' ';
	plain = malloc(OUT_ESCAPED * len + 1);
	if (plain)
		put_words(y, lines, watch_strip_control(plain, OUT_ESCAPED * len + 1, text));
	free(plain);
	free(text);
}

static void put_below(int y, const struct watch *w, const struct watch_view *view)
{
	const struct watch_row *row = watch_chosen(w);
	char text[WATCH_TEXT_LEN];

	if (row && view->details) {
		put_details(y, LINES - 1 - y, &row->flow);
	} else if (row) {
		watch_describe(text, row);
		put_words(y, LINES - 1 - y, text);
	}
	put_bar(LINES - 1, "q quit  p pause  s sort  r reverse  d details  ? help");
}

static void put_help(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(help_lines); i++)
		put_line(LINES_ABOVE - 1 + i, help_lines[i], A_NORMAL);
	put_bar(LINES - 1, "any key: back");
}

/**
 * watch_screen_draw() - draw the screen
 * @w: the flows; the chosen one comes into view
 * @layout: widths, which follow the terminal's
 * @view: the rest
 *
 * Return: the number of flows that there is room for.
 */
size_t watch_screen_draw(struct watch *w, struct watch_layout *layout,
			 const struct watch_view *view)
{
	int below = view->details ? LINES_DETAILS : LINES_BELOW;
	size_t i, lines = LINES > LINES_ABOVE + below ? LINES - LINES_ABOVE - below : 0;
	char text[WATCH_TEXT_LEN];

	erase();
	put_line(0, view->title, A_BOLD);
	watch_scroll(w, lines);
	watch_measure(layout, w, lines);
	watch_fit(layout, COLS);
	if (view->help) {
		put_help();
	} else {
		watch_describe_all(text, sizeof(text), w);
		put_line(1, text, A_NORMAL);
		put_heading(LINES_ABOVE - 1, w, layout);
		if (!w->n)
			put_line(LINES_ABOVE, "no flows", A_NORMAL);
		for (i = 0; i < lines && w->top + i < w->n; i++)
			put_flow(LINES_ABOVE + i, w->order[w->top + i], layout,
				 w->top + i == w->at, view->color);
		put_below(LINES_ABOVE + lines, w, view);
	}
	refresh();
	return lines;
}

static enum watch_action wish_of(int key)
{
	static const struct {
		int		key;
		enum watch_action	wish;
	} keys[] = {
		{ 'q', ACTION_QUIT }, { 'p', ACTION_PAUSE }, { ' ', ACTION_PAUSE },
		{ '?', ACTION_HELP }, { 'h', ACTION_HELP }, { KEY_F(1), ACTION_HELP },
		{ 'd', ACTION_DETAILS }, { '\r', ACTION_DETAILS }, { '\n', ACTION_DETAILS },
		{ KEY_ENTER, ACTION_DETAILS }, { 's', ACTION_SORT }, { 'r', ACTION_REVERSE },
		{ KEY_UP, ACTION_UP }, { 'k', ACTION_UP }, { KEY_DOWN, ACTION_DOWN },
		{ 'j', ACTION_DOWN }, { KEY_PPAGE, ACTION_PAGE_UP },
			{ KEY_NPAGE, ACTION_PAGE_DOWN },
		{ KEY_HOME, ACTION_FIRST }, { 'g', ACTION_FIRST }, { KEY_END, ACTION_LAST },
		{ 'G', ACTION_LAST }, { KEY_CTRL_L, ACTION_REDRAW }, { KEY_RESIZE, ACTION_REDRAW },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].key == key)
			return keys[i].wish;
	return ACTION_OTHER;
}

/**
 * watch_screen_key() - wait for a key
 * @wait_ns: how long
 *
 * Return: its action; ACTION_NONE at the timeout, or earlier, as after a signal.
 */
enum watch_action watch_screen_key(uint64_t wait_ns)
{
	uint64_t wait_ms = (wait_ns + NS_PER_MS - 1) / NS_PER_MS;
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int key = getch();

	if (key == ERR) {
		poll(&input, 1, wait_ms < WAIT_MAX_MS ? wait_ms : WAIT_MAX_MS);
		key = getch();
	}
	if (key == ERR)
		return input.revents ? ACTION_QUIT : ACTION_NONE; /* no terminal */
	/* Terminals differ in how they keep their contents when resized: redraw all. */
	if (key == KEY_CTRL_L || key == KEY_RESIZE)
		clearok(curscr, TRUE);
	return wish_of(key);
}
