// SPDX-License-Identifier: GPL-2.0
/*
 * Used by all files of the laboratory's init: messages, the end of a run, text files.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "init.h"

struct line line;

/*
 * Print a line on the host's terminal; priority <1> passes any console log level.
 * The kernel keeps text without a newline until more is printed.
 */
void say(const char *fmt, ...)
{
	static int fd = -1;
	char text[512];
	va_list args;
	int length;

	if (fd < 0)
		fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	length = snprintf(text, sizeof(text), "<1>");
	va_start(args, fmt);
	vsnprintf(text + length, sizeof(text) - length - 1, fmt, args);
	va_end(args);
	strcat(text, "\n");
	if (write(fd, text, strlen(text)) < 0)
		return;
}

__attribute__((noreturn))
void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

void fail(const char *fmt, ...)
{
	char reason[4096];
	va_list args;
	FILE *out;

	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	out = fopen(OUT_DIR "errors.out", "w");
	if (out) {
		fprintf(out, "plan line %d: %s: %s\n", line.number, line.text,
			reason);
		fclose(out);
	}
	say("quell-error plan line %d: %s: %s", line.number, line.text, reason);
	power_off();
}

/* Make room for one more element than @count; capacity doubles. */
void *grow(void *array, int count, size_t size)
{
	if (count & (count - 1))
		return array;
	array = realloc(array, (count ? 2 * count : 1) * size);
	if (!array)
		fail("out of memory");
	return array;
}

void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		fail("opening %s: %s", path, strerror(errno));
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fail("writing '%s' to %s: %s", text, path, strerror(errno));
	close(fd);
}

char *read_text(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		fail("opening %s: %s", path, strerror(errno));
	length = read(fd, buffer, size - 1);
	if (length < 0)
		fail("reading %s: %s", path, strerror(errno));
	buffer[length] = '\0';
	close(fd);
	return buffer;
}
