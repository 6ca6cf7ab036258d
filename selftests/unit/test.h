/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's own harness for tests in C, as used here:
 *
 *	TEST(fls)
 *	{
 *		EXPECT_EQ(4, quell_fls_u64(8))
 *			TH_LOG("eight");
 *	}
 *
 *	TEST_HARNESS_MAIN
 *
 * Each TEST() is a process of its own and one line of KTAP.  A table goes through its
 * rows with EXPECT_*(), which go on after a failure, and names the row in TH_LOG().
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

#endif /* _QUELL_TEST_H */
