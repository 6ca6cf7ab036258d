// SPDX-License-Identifier: GPL-2.0
/*
 * quell doctor: names in commands that are meant to be copied.  A user with the right to create an
 * interface or a namespace chooses its name, which must not be run by the reader's shell.
 */
#include <stdio.h>
#include <string.h>

#include "doctor.h"
#include "out.h"

/* No shell has another meaning for these. */
#define PLAIN	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@:%/-"

/*
 * In single quotes all but a single quote is itself.  A text with control characters is shown with
 * \xHH in their place, which is right as the shells' $'...' has it.
 */
static size_t quote_char(char *buf, char c, bool escape)
{
	if (escape && ((unsigned char)c < 0x20 || (unsigned char)c >= 0x7f))
		return sprintf(buf, "\\x%02x", (unsigned char)c);
	if (escape && (c == '\'' || c == '\\'))
		return sprintf(buf, "\\%c", c);
	if (c == '\'')
		return sprintf(buf, "'\\''");
	*buf = c;
	return 1;
}

/* A name as a word of a shell; @len is DOCTOR_QUOTED_LEN() of that of @name. Returns @buf. */
char *doctor_quote(char *buf, size_t len, const char *name)
{
	bool escape = has_control(name);
	size_t used;

	if (*name && strspn(name, PLAIN) == strlen(name)) {
		snprintf(buf, len, "%s", name);
		return buf;
	}
	used = sprintf(buf, escape ? "$'" : "'");
	for (; *name && used + DOCTOR_QUOTED_LEN(1) <= len; name++)
		used += quote_char(buf + used, *name, escape);
	strcpy(buf + used, "'");
	return buf;
}
