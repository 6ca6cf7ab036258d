// SPDX-License-Identifier: GPL-2.0
/*
 * Common to all verbs: error messages, the connection to the kernel.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/quell.h>

#include "preset.h"
#include "quell.h"

/* The line of a file that complaints are about, while there is one. */
static struct {
	const char	*file;
	unsigned int	line;
} place;

/* Set the file, no line of it yet, that later complaints refer to; NULL: no file. */
void complain_at(const char *file)
{
	place.file = file;
	place.line = 0;
}

void complain_line(unsigned int line)
{
	place.line = line;
}

/*
 * Print an error message to stderr; @fmt is without program name and line end. Quoted names may
 * come from a file or another user: control characters are printed as \xHH. Returns STATUS_INPUT.
 */
int complain(const char *fmt, ...)
{
	char text[2048], plain[OUT_ESCAPED * sizeof(text)];
	va_list args;

	va_start(args, fmt);
	fputs("quell: ", stderr);
	if (place.file && place.line)
		fprintf(stderr, "%s:%u: ", place.file, place.line);
	else if (place.file)
		fprintf(stderr, "%s: ", place.file);
	vsnprintf(text, sizeof(text), fmt, args);
	fprintf(stderr, "%s\n", out_escape(plain, sizeof(plain), text));
	va_end(args);
	return STATUS_INPUT;
}

/* Print an error of the kernel; returns the exit status for it. */
int complain_kernel(const char *request, const struct nl_error *err)
{
	const char *hint = "";

	if (err->code == EPERM)
		hint = " (needs CAP_NET_ADMIN)";
	if (*err->text)
		complain("%s: %s%s; the kernel says: %s", request, strerror(err->code),
			 hint, err->text);
	else
		complain("%s: %s%s", request, strerror(err->code), hint);
	return STATUS_KERNEL;
}

/* The path of this program, PATH_MAX bytes; the length of its directory, or 0 after a complaint. */
size_t find_program(char *path)
{
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (len < 0) {
		complain("cannot find where this program is: %s", strerror(errno));
		return 0;
	}
	path[len] = '\0';
	return strrchr(path, '/') + 1 - path;
}

/* Connect to the kernel; the error message suggests a module, that of @algo if it has one. */
int app_connect(struct app *app, const char *algo)
{
	struct nl_error err;

	if (!nl_open(&app->nl, &err)) {
		app->connected = true;
		return STATUS_OK;
	}
	if (err.code != ENOENT)
		return complain_kernel("cannot reach the kernel", &err);
	return complain_fault("kernel module quell is not loaded (try: modprobe tcp_%s)",
			      algo && is_quell_cc(algo) ? algo : "swift");
}
