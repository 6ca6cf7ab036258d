/* SPDX-License-Identifier: GPL-2.0 */
/* Complaints of the code under test, kept instead of printed. */
#ifndef _QUELL_TEST_COMPLAINT_H
#define _QUELL_TEST_COMPLAINT_H

#include <stdarg.h>
#include <stdio.h>

static char complaint[512];

void complain(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(complaint, sizeof(complaint), fmt, args);
	va_end(args);
}

int complain_kernel(const char *request, const struct nl_error *err)
{
	snprintf(complaint, sizeof(complaint), "%s: %s", request, err->text);
	return STATUS_KERNEL;
}

/* No test has a kernel. */
int app_connect(struct app *app, const char *algo)
{
	(void)app;
	(void)algo;
	return STATUS_KERNEL;
}

#endif /* _QUELL_TEST_COMPLAINT_H */
