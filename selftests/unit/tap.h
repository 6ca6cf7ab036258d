/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test results in the Test Anything Protocol, one line per result:
 *
 *	tap_equal_u64(quell_fls_u64(8), 4, "quell_fls_u64__%s", "eight");
 *	return tap_done();
 *
 * A program that reported nothing has failed, as has one that did not reach
 * tap_done(): the plan is missing then and the exit status is not zero.
 */
#ifndef _QUELL_TAP_H
#define _QUELL_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned int tap_count;
static unsigned int tap_failures;

static inline void tap_line(bool pass, const char *format, va_list arguments)
{
	tap_count++;
	tap_failures += !pass;
	printf("%sok %u - ", pass ? "" : "not ", tap_count);
	vprintf(format, arguments);
	putchar('\n');
}

/* Reports @pass under the name made from @format; returns @pass. */
__attribute__((format(printf, 2, 3)))
static inline bool tap_ok(bool pass, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tap_line(pass, format, arguments);
	va_end(arguments);
	return pass;
}

/* Reports whether @got is @want, and both when not. */
__attribute__((format(printf, 3, 4)))
static inline bool tap_equal_u64(unsigned long long got, unsigned long long want,
				 const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tap_line(got == want, format, arguments);
	va_end(arguments);
	if (got != want)
		printf("# got %llu (0x%llx), want %llu (0x%llx)\n",
		       got, got, want, want);
	return got == want;
}

/* Prints the plan; returns the exit status of the program. */
static inline int tap_done(void)
{
	printf("1..%u\n", tap_count);
	return !tap_count || tap_failures;
}

#endif /* _QUELL_TAP_H */
