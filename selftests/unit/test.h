/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's own harness for tests in C, as used here:
 *
 *	TEST(fls)
 *	{
 *		expect_eq(4, quell_fls_u64(8), "eight");
 *	}
 *
 *	TEST_HARNESS_MAIN
 *
 * Each TEST() is a process of its own and one line of KTAP.  expect() and
 * expect_eq() continue after a failure; the harness prints file, line and TEST() with their name.
 * Functions that expect something take the test's "_metadata", as the harness names it.
 */
#ifndef _QUELL_TEST_H
#define _QUELL_TEST_H

#include <stdio.h>

#include <kselftest_harness.h>

/* Long enough for a million steps with a model, under sanitizers, on a slow machine. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	900

/* A test ends by _exit(), which does not flush: use line buffering. */
__attribute__((constructor))
static void print_by_lines(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
}

/* expect(CONDITION, FORMAT...) and expect_eq(WANTED, GOT, FORMAT...), named by the format. */
#define expect(condition, ...)		EXPECT_TRUE(condition) TH_LOG(__VA_ARGS__)
#define expect_eq(wanted, got, ...)	EXPECT_EQ(wanted, got) TH_LOG(__VA_ARGS__)

/* Each row of a table. */
#define for_each_row(row, rows) \
	for (__typeof__(&(rows)[0]) row = (rows); row < (rows) + ARRAY_SIZE(rows); row++)

#endif /* _QUELL_TEST_H */
