/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The laboratory's init: programs of the machine on nodes.
 */
#ifndef _QUELL_LAB_PROGRAM_H
#define _QUELL_LAB_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROGRAM_LISTENS_NOT	0
#define PROGRAM_LISTENS_ANY	(-1)

/* A program of the plan. */
struct program {
	uint32_t	number;	/* as in the plan */
	int		node;	/* index of the node it runs on */
	bool		is_foreground;	/* the run lasts until it ends */
	/* when it starts, relative to T0; of those in the foreground */
	uint64_t	start_ns;
	/* TCP port it is expected to listen on, or one of PROGRAM_LISTENS_* */
	int		listen;
	char		*path;	/* of its file, as the machine has it */
	char		**arguments;	/* its name and its arguments, NULL-terminated */
	char		**environment;	/* NAME=VALUE, NULL-terminated */
	pid_t		pid;	/* process, 0 until it is started */
	bool		has_ended;	/* it is no more */
	bool		is_stopped;	/* it got SIGTERM at the end of the run */
	uint64_t	started_ns;	/* CLOCK_MONOTONIC */
	uint64_t	ended_ns;	/* CLOCK_MONOTONIC */
	int		status;	/* exit status, or a signal's number below 0 */
};

/* program.c */
bool has_programs(void);
bool is_foreground_done(void);
void programs_start_background(void);
uint64_t programs_start_due(uint64_t t0_ns, uint64_t now_ns);
void programs_reap(uint64_t now_ns);
void programs_stop(void);
void programs_collect(uint64_t t0_ns);

/* program_root.c */
void root_show_directory(const char *path);
void root_make(int node);
int root_enter(int node);

/* capture.c */
bool is_part(void);
bool has_captures(void);
void captures_start(uint64_t t0_ns);
void captures_read(void);
void captures_end(void);

/* run.c */
uint64_t monotonic_ns(void);
void sleep_ns(uint64_t ns);

#endif /* _QUELL_LAB_PROGRAM_H */
