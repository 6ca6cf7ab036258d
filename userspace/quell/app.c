// SPDX-License-Identifier: GPL-2.0
/*
 * What all verbs use: error messages, the connection to the kernel.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <linux/quell.h>

#include "quell.h"

/**
 * complain() - print an error message to stderr
 * @fmt: as for printf(), without program name and line end
 */
void complain(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fputs("quell: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
}

/**
 * complain_kernel() - print an error of the kernel to stderr
 * @what: description of the request
 * @err: the kernel's error
 *
 * Return: the exit status for it.
 */
int complain_kernel(const char *what, const struct nl_error *err)
{
	const char *hint = "";

	if (err->code == EPERM)
		hint = " (needs CAP_NET_ADMIN)";
	if (*err->text)
		complain("%s: %s%s; the kernel says: %s", what, strerror(err->code),
			 hint, err->text);
	else
		complain("%s: %s%s", what, strerror(err->code), hint);
	return STATUS_KERNEL;
}

/**
 * app_connect() - connect to the kernel, complain when that fails
 * @app: not connected yet
 * @algo: algorithm whose module the error message suggests to load
 *
 * Return: an exit status.
 */
int app_connect(struct app *app, const char *algo)
{
	struct nl_error err;

	if (!nl_open(&app->nl, QUELL_FAMILY_NAME, &err)) {
		app->connected = true;
		return STATUS_OK;
	}
	if (err.code != ENOENT)
		return complain_kernel("cannot reach the kernel", &err);
	complain("kernel module quell is not loaded (try: modprobe tcp_%s)", algo);
	return STATUS_KERNEL;
}
