// SPDX-License-Identifier: GPL-2.0
/*
 * quell flow: the sockets Quell algorithms control, in the manner of ss(8).
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sock_diag.h"
#include "flow.h"
#include "quell.h"

static int flow_dump(struct app *app, const struct flow_args *words, struct flow_list *list)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = nl_prepare(&app->nl, buf, QUELL_CMD_FLOW_GET);

	if (words->cc)
		mnl_attr_put_strz(nlh, QUELL_A_FLOW_CC, words->cc);
	return app_dump(app, nlh, words->brief ? &brief_flow_kind : &flow_kind, list,
			"cannot list the flows");
}

static void join(struct flow *f, const struct diag *d)
{
	if (!d)
		return;
	f->state = d->state;
	f->delivery_bytes_ps = d->delivery_bytes_ps;
	f->acked_bytes = d->acked_bytes;
	f->retrans_segs = d->retrans_segs;
	f->sent_segs = d->sent_segs;
	f->lost_segs = d->lost_segs;
}

static void keep_wanted(struct flow_list *list, const struct flow_args *words)
{
	size_t i, kept = 0;

	for (i = 0; i < list->n; i++) {
		struct flow one = list->list[i];

		if (!flow_matches(words, &one))
			continue;
		list->list[i] = list->list[kept];
		list->list[kept++] = one;
	}
	for (i = kept; i < list->n; i++)
		flow_release(&list->list[i]);
	list->n = kept;
}

/*
 * The flows that are wanted, in the order wanted; the list must be freed even on failure. The
 * sockets are requested first: that assigns the cookies by which the two lists join.
 */
int flow_fetch(struct app *app, const struct flow_args *words, struct flow_list *list)
{
	struct diag_list sockets;
	int status, ret;
	size_t i;

	*list = (struct flow_list){};
	ret = diag_fetch(&sockets, false);
	status = flow_dump(app, words, list);
	for (i = 0; !status && i < list->n; i++)
		join(&list->list[i], diag_list_find(&sockets, list->list[i].cookie));
	diag_list_free(&sockets);
	if (!status && ret && words->state)
		status = complain_fault("flow: the kernel does not report states: %s",
					strerror(-ret));
	if (!status) {
		keep_wanted(list, words);
		flow_sort(words, list);
	}
	return status;
}

/* Without bound in a file or a pipe, where another program looks for an address. */
static size_t output_columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return SIZE_MAX;
	return size.ws_col > FLOW_COLUMNS ? size.ws_col : FLOW_COLUMNS;
}

static void print_details(struct out *o, const struct flow_list *list)
{
	size_t i;

	out_open_array(o, NULL);
	for (i = 0; i < list->n; i++)
		flow_print_detail(o, &list->list[i]);
	out_close_array(o);
}

/* Fetch the flows and print them; sets the brief of @words. */
int flow_show_once(struct app *app, struct flow_args *words)
{
	bool all = !words->summary && (app->out.json || app->details);
	struct flow_list list;
	int status;

	words->brief = !all;
	status = flow_fetch(app, words, &list);
	if (!status && words->summary)
		flow_print_summary(&app->out, words, &list);
	else if (!status && all)
		print_details(&app->out, &list);
	else if (!status)
		flow_print_lines(&app->out, &list, output_columns());
	flow_list_free(&list);
	return status;
}

/* Refuse an unknown algorithm, which is an error, not an empty list; @cc may be NULL. */
int flow_check_cc(struct app *app, const char *cc)
{
	const struct cc *found;
	struct cc_list list;
	int status;

	if (!cc)
		return STATUS_OK;
	status = cc_fetch(app, &list) ?: cc_find(&list, cc, &found);
	cc_list_free(&list);
	return status;
}

static int check_summary(bool details, const struct flow_args *words)
{
	if (!words->summary && words->prefix_bits)
		complain("flow: 'prefix' is an argument of '-s'");
	else if (words->summary && details)
		complain("flow: '-s' prints sums of flows, without '-d'");
	else if (words->summary && words->order.sort >= 0)
		complain("flow: '-s' prints sums of flows, without 'sort'");
	else
		return STATUS_OK;
	return STATUS_INPUT;
}

int flow_show(struct app *app, int argc, char **argv)
{
	struct flow_args words;

	return flow_args_parse(&words, false, argc, argv) ?:
	       check_summary(app->details, &words) ?:
	       app_connect(app, words.cc) ?:
	       flow_check_cc(app, words.cc) ?:
	       flow_show_once(app, &words);
}
