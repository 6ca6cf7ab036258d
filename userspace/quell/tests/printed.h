/* SPDX-License-Identifier: GPL-2.0 */
/* The output of a printer, for the test to compare. */
#ifndef _QUELL_TEST_PRINTED_H
#define _QUELL_TEST_PRINTED_H

#include <stdio.h>

#include "out.h"

/*
 * The text, which the caller frees, that @print_ leaves; it prints to the struct out at @o_, or to
 * its file.
 */
#define PRINTED(o_, json_, pretty_, print_)					\
({										\
	char *text_ = NULL;							\
	size_t len_;								\
	FILE *file_ = open_memstream(&text_, &len_);				\
										\
	out_init(o_, file_, json_, pretty_);					\
	print_;									\
	fclose(file_);								\
	text_;									\
})

#endif /* _QUELL_TEST_PRINTED_H */
