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
 * come from a file or another user: control characters are printed as \xHH.
 */
void complain(const char *fmt, ...)
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

/*
 * The path of a program that comes with this one, PATH_MAX bytes: PREFIX/lib/quell/NAME beside
 * PREFIX/sbin/quell, or NAME beside quell as built, or that of an environment variable.
 */
int find_helper(char *path, const char *name, const char *variable)
{
	const char *named = getenv(variable);
	bool is_named = named && *named;
	char program[PATH_MAX];
	int len = is_named ? 0 : find_program(program);

	if (!is_named && !len)
		return STATUS_KERNEL;
	if (is_named)
		snprintf(path, PATH_MAX, "%s", named);
	else
		snprintf(path, PATH_MAX, "%.*s%s", len, program, name);
	if (!is_named && access(path, X_OK))
		snprintf(path, PATH_MAX, "%.*s" LIB_FROM_PROGRAM "/%s", len, program, name);
	if (!access(path, X_OK))
		return STATUS_OK;
	complain("no program %s: %s (another: %s)", path, strerror(errno), variable);
	return STATUS_KERNEL;
}

/* Become a program that find_helper() found; returns after a complaint. */
void run_helper(char **argv)
{
	execv(*argv, argv);
	/* It exists, so that its interpreter does not. */
	if (errno == ENOENT)
		complain("cannot run %s: no interpreter (try: apt install python3)", *argv);
	else
		complain("cannot run %s: %s", *argv, strerror(errno));
}

/* Connect to the kernel; the error message suggests to load the module of @algo. */
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
