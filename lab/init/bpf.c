// SPDX-License-Identifier: GPL-2.0
/*
 * Algorithms as BPF objects, loaded by lab-bpf (../bpf/main.c) in a process of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"

#define LOADER		"/lab-bpf"
#define OBJECTS_DIR	"/bpf/"

/* Read all there is, and keep the last of it. */
static void read_end(int fd, char *text, size_t size)
{
	size_t used = 0;
	ssize_t length;

	for (;;) {
		if (used == size - 1) {
			used = size / 2;
			memmove(text, text + size - 1 - used, used);
		}
		length = read(fd, text + used, size - 1 - used);
		if (length <= 0)
			break;
		used += length;
	}
	while (used && text[used - 1] == '\n')
		used--;
	text[used] = '\0';
}

/* Its exit status and its standard error. */
static int run_loader(char **argv, char *said, size_t size)
{
	char *environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], error, status;
	pid_t child;

	if (pipe(ends))
		fail("a pipe: %s", strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	error = posix_spawn(&child, LOADER, &actions, NULL, argv, environment);
	if (error)
		fail("starting " LOADER ": %s", strerror(error));
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	read_end(ends[0], said, size);
	close(ends[0]);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			fail("waiting for " LOADER ": %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void find_object(const char *name, char *path, size_t size)
{
	if (strchr(name, '/') || strlen(name) >= size - strlen(OBJECTS_DIR))
		fail("'%s' is not a file name", name);
	snprintf(path, size, OBJECTS_DIR "%s", name);
}

/* The loader's VERB, with @files words of the line that name files. */
static void load_objects(char *verb, int files)
{
	char *argv[PLAN_WORDS_MAX + 3] = { LOADER, verb };
	char paths[2][128], said[4096];
	int status, i;

	need_words(files + 1, PLAN_WORDS_MAX);
	for (i = 1; i < line.n; i++)
		argv[i + 1] = line.word[i];
	for (i = 0; i < files; i++) {
		find_object(line.word[i + 1], paths[i], sizeof(paths[i]));
		argv[i + 2] = paths[i];
	}
	net_enter(0);
	status = run_loader(argv, said, sizeof(said));
	if (status)
		fail("%s", *said ? said : "the loader died");
}

/* bpf FILE MAP [NAME=VALUE]... */
void cmd_bpf(void)
{
	load_objects("load", 1);
}

/* bpf-option OPTION FILE MAP [NAME=VALUE]... */
void cmd_bpf_option(void)
{
	load_objects("speak", 2);
}
