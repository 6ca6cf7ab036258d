// SPDX-License-Identifier: GPL-2.0
/*
 * Work of this kernel's verifier for BPF objects, which are loaded and registered
 * nowhere.
 *
 *	bpf_verify FILE...
 *
 * A line for each program, and one that begins with "object" for each object, of the largest:
 *
 *	FILE PROGRAM insns limit states peak per_insn stack xlated jited
 *
 * insns and limit: instructions gone through, and allowed; states, peak, per_insn: states of the
 * verifier in all, at a time, and of one instruction; stack: bytes of the deepest function of
 * the program, of 512; xlated: instructions of the program; jited: its bytes of machine code, 0
 * without a JIT.  Exit status 1 if an object is refused; its log is on standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define LOG_BYTES	(1 << 20)
#define LOG_SHOWN	2000		/* its end has the reason */
#define LOG_STATISTICS	4		/* the kernel's BPF_LOG_STATS */

enum column { INSNS, LIMIT, STATES, PEAK, PER_INSN, STACK, XLATED, JITED, COLUMNS };

static int print_errors(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

/* The number behind a word of the log; 0 without one. */
static unsigned long number_after(const char *log, const char *word)
{
	const char *at = strstr(log, word);

	return at ? strtoul(at + strlen(word), NULL, 10) : 0;
}

/* The log has one number for each function of the program, with + between, or their maximum. */
static unsigned long deepest_stack(const char *log)
{
	const char *at = strstr(log, "stack depth ");
	unsigned long most = 0, depth;
	char *end;

	at = at ? at + strlen("stack depth ") : NULL;
	if (at && !strncmp(at, "max ", 4))
		at += 4;
	for (; at; at = *end == '+' ? end + 1 : NULL) {
		depth = strtoul(at, &end, 10);
		most = depth > most ? depth : most;
	}
	return most;
}

static void columns_of(const struct bpf_program *program, unsigned long *row)
{
	struct bpf_prog_info info = {};
	__u32 bytes = sizeof(info);
	size_t log_bytes;
	const char *log = bpf_program__log_buf(program, &log_bytes);

	row[INSNS] = number_after(log, "processed ");
	row[LIMIT] = number_after(log, "insns (limit ");
	row[STATES] = number_after(log, "total_states ");
	row[PEAK] = number_after(log, "peak_states ");
	row[PER_INSN] = number_after(log, "max_states_per_insn ");
	row[STACK] = deepest_stack(log);
	if (!bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes)) {
		row[XLATED] = info.xlated_prog_len / sizeof(struct bpf_insn);
		row[JITED] = info.jited_prog_len;
	}
}

static void print_row(const char *path, const char *name, const unsigned long *row)
{
	int i;

	printf("%s %s", path, name);
	for (i = 0; i < COLUMNS; i++)
		printf(" %lu", row[i]);
	printf("\n");
}

static void print_object(const char *path, const struct bpf_object *object)
{
	unsigned long most[COLUMNS] = {};
	struct bpf_program *program;
	int i;

	bpf_object__for_each_program(program, object) {
		unsigned long row[COLUMNS] = {};

		columns_of(program, row);
		print_row(path, bpf_program__name(program), row);
		for (i = 0; i < COLUMNS; i++)
			most[i] = row[i] > most[i] ? row[i] : most[i];
	}
	print_row("object", path, most);
}

static void print_logs(const struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object) {
		size_t bytes;
		const char *log = bpf_program__log_buf(program, &bytes);
		size_t length = log ? strlen(log) : 0;

		if (length)
			fprintf(stderr, "%s:\n%s\n", bpf_program__name(program),
				log + (length > LOG_SHOWN ? length - LOG_SHOWN : 0));
	}
}

static int verify(const char *path)
{
	struct bpf_object *object = bpf_object__open(path);
	struct bpf_program *program;
	int err;

	if (!object)
		return -1;
	bpf_object__for_each_program(program, object) {
		bpf_program__set_log_buf(program, calloc(1, LOG_BYTES), LOG_BYTES);
		bpf_program__set_log_level(program, LOG_STATISTICS);
	}
	err = bpf_object__load(object);
	if (!err)
		print_object(path, object);
	else
		print_logs(object);
	bpf_object__close(object);
	return err;
}

int main(int argc, char **argv)
{
	int i, failed = argc < 2;

	libbpf_set_print(print_errors);
	for (i = 1; i < argc; i++)
		failed |= !!verify(argv[i]);
	return failed;
}
