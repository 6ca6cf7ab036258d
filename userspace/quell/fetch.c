// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps of the kernel's family as lists.
 */
#include "quell.h"

struct dump {
	const struct attr_kind	*kind;
	void			*list;
};

static int take_entry(const struct nlmsghdr *nlh, void *data)
{
	const struct dump *dump = data;

	return list_add(dump->kind, dump->list, nlh);
}

static void restart_dump(void *data)
{
	const struct dump *dump = data;

	list_free(dump->kind, dump->list);
}

/*
 * Make a request that all entries of a kind reply to; @request is for the complaint, such as
 * "cannot list the senders". The list must be freed even on failure.
 */
int app_dump(struct app *app, struct nlmsghdr *nlh, const struct attr_kind *kind, void *list,
	     const char *request)
{
	struct dump dump = { kind, list };
	struct nl_reader reader = {
		.message = take_entry, .restart = restart_dump, .data = &dump,
	};
	struct nl_error err;

	return nl_dump(&app->nl, nlh, &reader, &err) ? complain_kernel(request, &err) : STATUS_OK;
}

/* The same for a request without attributes, by its number. */
int app_fetch(struct app *app, uint8_t cmd, const struct attr_kind *kind, void *list,
	      const char *request)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));

	return app_dump(app, nl_prepare(&app->nl, buf, cmd), kind, list, request);
}
