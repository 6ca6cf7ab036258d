/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table that "quell trace" writes.
 */
#ifndef QUELL_CLI_TRACE_CSV_H
#define QUELL_CLI_TRACE_CSV_H

#include <stdio.h>

#include <quell/trace.h>

void trace_csv_header(FILE *file);
void trace_csv_row(FILE *file, const struct quell_trace_record *record);

#endif /* QUELL_CLI_TRACE_CSV_H */
