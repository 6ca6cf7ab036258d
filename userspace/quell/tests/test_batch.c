// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of a batch: their words, and the reason of each refusal.
 */
#include <errno.h>
#include <string.h>

#include "batch.h"

#include "test.h"

static struct batch_line line;

/* The words of the first line that has some, joined by "|", or the reason why it is refused. */
static const char *words(const char *text, size_t len)
{
	static char joined[256];
	FILE *file = fmemopen((void *)text, len, "r");
	int ret = 1;
	size_t i;

	*joined = '\0';
	line.number = 0;
	while (!*joined && ret > 0) {
		ret = batch_next(file, &line);
		for (i = 0; i < line.argc; i++)
			sprintf(joined + strlen(joined), "%s%s", i ? "|" : "", line.argv[i]);
		batch_line_free(&line);
	}
	fclose(file);
	return ret < 0 ? line.error : joined;
}

#define EXPECT_WORDS(text, expected) EXPECT_STREQ(words(text, sizeof(text) - 1), expected)

TEST(words_of_a_line)
{
	EXPECT_WORDS("", "");
	EXPECT_WORDS("\n# x\n \t\r\n a\tb  c # d\ne", "a|b|c");
	EXPECT_EQ(line.number, 4);
	EXPECT_WORDS("a#b '#c' \"d e\"'f\"' '' \\x23\\x5b\\y\\x0\\x00",
		     "a#b|#c|d ef\"||#[\\y\\x0\\x00");
	EXPECT_WORDS("a \\\n  b\\\nc\nd", "a|b|c");
	EXPECT_EQ(line.number, 3);
	EXPECT_WORDS("a # b \\\nc", "a");
	EXPECT_WORDS("'a # b' c#d \\\n e", "a # b|c#d|e");
	EXPECT_WORDS("a \\", "a|\\");
}

TEST(refused)
{
	EXPECT_WORDS("'b\n'", "a quote is not closed");
	EXPECT_WORDS("a \0b\n", "a byte of value 0");
	EXPECT_WORDS("# x\n [swift]\nbeta = 1\n",
		     "a section, which the older form of this file has; now a line is a command such "
		     "as 'cc set swift beta 0.5', and quell save prints those of the present settings");
	EXPECT_EQ(line.number, 2);
}

/* A file without end, such as /dev/zero, does not fill the memory. */
static ssize_t read_endless(void *cookie, char *buf, size_t size)
{
	memset(buf, *(char *)cookie, size);
	return size;
}

TEST(endless)
{
	static const struct {
		char		byte;
		const char	*error;
	} files[] = { { '\0', "a byte of value 0" }, { 'a', "longer than 1000000 bytes" } };
	FILE *file;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		file = fopencookie((void *)&files[i].byte, "r",
				   (cookie_io_functions_t){ .read = read_endless });
		EXPECT_EQ(-EBADMSG, batch_next(file, &line));
		EXPECT_STREQ(line.error, files[i].error);
		batch_line_free(&line);
		fclose(file);
	}
}

/* A file of one line, the rest of which cannot be read. */
static ssize_t read_line_then_fail(void *cookie, char *buf, size_t size)
{
	const char **text = cookie;
	size_t len = strlen(*text);

	if (!len || len > size) {
		errno = EIO;
		return -1;
	}
	memcpy(buf, *text, len);
	*text += len;
	return len;
}

TEST(read_errors)
{
	static const char * const texts[] = { "", "a \\\n", "a \\\n b \\\n" };
	const char *text;
	FILE *file;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		text = texts[i];
		file = fopencookie(&text, "r", (cookie_io_functions_t){ .read = read_line_then_fail });
		EXPECT_EQ(-EIO, batch_next(file, &line))
			TH_LOG("text %zu", i);
		EXPECT_STREQ(line.error, strerror(EIO));
		batch_line_free(&line);
		fclose(file);
	}
}

TEST(names)
{
	char buf[BATCH_WORD_LEN], text[BATCH_WORD_LEN + 2], name[32];

	EXPECT_STREQ(batch_word(buf, "eth0.1@[a]"), "eth0.1@[a]");
	EXPECT_STREQ(batch_word(buf, "#'\"\\\x1b\xc3"), "\\x23\\x27\\x22\\x5c\\x1b\\xc3");
	EXPECT_STREQ(batch_word(buf, "-n"), "-- -n");
	memset(name, '#', sizeof(name));
	name[31] = '\0';
	snprintf(text, sizeof(text), "%s\n", batch_word(buf, name));
	EXPECT_STREQ(words(text, strlen(text)), name);
}

TEST_HARNESS_MAIN
