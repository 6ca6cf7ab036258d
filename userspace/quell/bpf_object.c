// SPDX-License-Identifier: GPL-2.0
/*
 * Object files of BPF programs: their directory, and libbpf's messages.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bpf_parts.h"
#include "quell.h"

#define MESSAGE_LINES		20
#define DIR_VARIABLE		"QUELL_BPF_DIR"

/* libbpf's messages, the verifier's log included. */
static FILE *log_file;
static char *messages;
static size_t messages_len;

static int collect(enum libbpf_print_level level, const char *fmt, va_list args)
{
	if (!log_file)
		log_file = open_memstream(&messages, &messages_len);
	return log_file && level == LIBBPF_WARN ? vfprintf(log_file, fmt, args) : 0;
}

/* The reason is in the last lines; a verifier's log begins with thousands of others. */
static void print_messages(void)
{
	const char *at;
	int lines = 0;

	fflush(log_file);
	at = messages + messages_len;
	while (at > messages && lines <= MESSAGE_LINES)
		if (*--at == '\n' && ++lines > MESSAGE_LINES)
			at++;
	for (; at < messages + messages_len; at += strcspn(at, "\n") + 1)
		fprintf(stderr, "  %.*s\n", (int)strcspn(at, "\n"), at);
	rewind(log_file);
}

/*
 * Print why an object or its programs could not be used, with libbpf's messages; @code is an errno
 * value. Returns the exit status for it.
 */
int complain_object(const char *request, const char *name, int code)
{
	char text[PATH_MAX + 64];
	int status = STATUS_KERNEL;

	snprintf(text, sizeof(text), "%s %s", request, name);
	/* The verifier refuses with this. */
	if (code == EACCES)
		complain("%s: the program is refused", text);
	else
		status = complain_bpf(text, code);
	if (log_file)
		print_messages();
	return status;
}

/*
 * The path, PATH_MAX bytes, of the object NAME.bpf.o in @dir; NULL: ../lib/quell/bpf beside this
 * program. libbpf's messages are kept from here on.
 */
int bpf_object_find(char *path, const char *name, const char *dir)
{
	char program[PATH_MAX];
	int len;

	libbpf_set_print(collect);
	if (!dir)
		dir = getenv(DIR_VARIABLE);
	if (dir && *dir) {
		len = snprintf(path, PATH_MAX, "%s/%s.bpf.o", dir, name);
	} else {
		len = find_program(program);
		if (!len)
			return STATUS_KERNEL;
		len = snprintf(path, PATH_MAX, "%.*s" LIB_FROM_PROGRAM "/bpf/%s.bpf.o", len,
			       program, name);
	}
	if (len < PATH_MAX && !access(path, R_OK))
		return STATUS_OK;
	complain("no object %s: %s (another directory: dir DIR, or " DIR_VARIABLE ")", path,
		 strerror(len < PATH_MAX ? errno : ENAMETOOLONG));
	return STATUS_KERNEL;
}

/* Read an object file; the caller must close *@object, which is NULL on failure. */
int bpf_object_read(struct bpf_object **object, const char *path)
{
	*object = bpf_object__open_file(path, NULL);
	if (!libbpf_get_error(*object))
		return STATUS_OK;
	*object = NULL;
	return complain_object("cannot read", path, errno);
}

int bpf_object_load(struct bpf_object *object, const char *name)
{
	int err = bpf_object__load(object);

	return err ? complain_object("the kernel does not load", name, -err) : STATUS_OK;
}

void bpf_object_forget(void)
{
	if (log_file)
		fclose(log_file);
	free(messages);
	log_file = NULL;
	messages = NULL;
}
