// SPDX-License-Identifier: GPL-2.0
/*
 * The file of quell save: its contents, and the line of each refusal.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"
#include "util.h"

#include "test.h"

static struct settings_error error;

static int parse(struct settings *s, const char *text)
{
	memset(&error, 0, sizeof(error));
	return settings_parse(s, text, strlen(text), &error);
}

TEST(sections_and_lines)
{
	static const char text[] =
		"# for all\n\n  [swift]\t# words\r\n base-target\t=  50us   # 2 hops\r\n"
		"note = a#b = [c]\n[dev \\x23e\\x5b\\\\x0]\n";
	struct settings s;

	/* The last has two backslashes: refused. */
	EXPECT_EQ(parse(&s, text), -EINVAL);
	EXPECT_EQ(error.line, 6);
	settings_free(&s);

	EXPECT_EQ(parse(&s, "# x\n\n [swift]\t# y\r\n ai\t=  5 \t 0 # z\r\nb = a#b = [c]\n"
			    "[dev \\x23e\\x5B#]"), 0)
		TH_LOG("%u: %s", error.line, error.text);
	ASSERT_EQ(s.n, 2);
	EXPECT_EQ(s.list[0].line, 3);
	EXPECT_EQ(s.list[0].n_words, 1);
	ASSERT_EQ(s.list[0].n, 2);
	EXPECT_STREQ(s.list[0].list[0].key, "ai");
	EXPECT_STREQ(s.list[0].list[0].value, "5 0");
	EXPECT_EQ(s.list[0].list[0].line, 4);
	EXPECT_STREQ(s.list[0].list[1].value, "a#b = [c]");
	EXPECT_EQ(s.list[1].n_words, 2);
	EXPECT_STREQ(s.list[1].words[1], "#e[#");
	EXPECT_EQ(s.list[1].n, 0);
	settings_free(&s);
	EXPECT_EQ(s.n, 0);
}

TEST(members_may_be_many_lines)
{
	struct settings s;

	EXPECT_EQ(parse(&s, "[lookahead a]\nmembers = 1\nmembers = 2\n"), 0);
	settings_free(&s);
}

TEST(refused)
{
	static const struct {
		const char	*text;
		unsigned int	line;
		const char	*why;
	} cases[] = {
		{ "\na = 1\n", 2, "before the first" },
		{ "[a]\nfrob\n", 2, "neither" },
		{ "[a]\n = 1\n", 2, "no name" },
		{ "[a]\nb = # c\n", 2, "no value" },
		{ "[a]\nb =#c\n", 2, "no value" },
		{ "[a\n", 1, "no ']'" },
		{ "[a] b\n", 1, "no ']'" },
		{ "[]\n", 1, "without a name" },
		{ "[a b c]\n", 1, "two words" },
		{ "[a]b]\n", 1, "\\x5d" },
		{ "[\\x0]\n", 1, "two digits" },
		{ "[\\x00]\n", 1, "\\x00" },
		{ "[a]\nb = 1\nc = 1\nb = 2\n", 4, "'b' is given twice, first in line 2" },
		{ "[a b]\n[a]\n[a  b]\n", 3, "the section is given twice, first in line 1" },
		{ "[a]\n# \x1b[2J\n", 2, "0x1b" },
		{ "[a]\n\r\n\rb = 1\n", 3, "0x0d" },
		{ "[a]\nb = \xc3\xa4\n", 2, "write it as \\xc3" },
		{ "[\xc3\xa4]\n", 1, "write it as \\xc3" },
	};
	struct settings s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		int ret = parse(&s, cases[i].text);

		EXPECT_TRUE(ret == -EINVAL && error.line == cases[i].line &&
			    strstr(error.text, cases[i].why))
			TH_LOG("case %zu: %u: %s", i, error.line, error.text);
		settings_free(&s);
	}
	/* A comment may be in any language. */
	EXPECT_EQ(parse(&s, "[a] # \xc3\xa4\n"), 0);
	settings_free(&s);
}

TEST(length)
{
	char *text = malloc(SETTINGS_BYTES_MAX + 1);
	struct settings s;

	ASSERT_TRUE(text);
	memset(text, '\n', SETTINGS_BYTES_MAX + 1);
	EXPECT_EQ(settings_parse(&s, text, SETTINGS_BYTES_MAX, &error), 0);
	settings_free(&s);
	EXPECT_EQ(settings_parse(&s, text, SETTINGS_BYTES_MAX + 1, &error), -EFBIG);
	EXPECT_EQ(error.line, 0);
	settings_free(&s);
	/* A NUL is a byte of the file, not its end. */
	memcpy(text, "[a]\n\0b = 1", 10);
	EXPECT_EQ(settings_parse(&s, text, 10, &error), -EINVAL);
	EXPECT_EQ(error.line, 2);
	settings_free(&s);
	free(text);
}

TEST(written_as_read)
{
	const char *const names[][2] = {
		{ "dev", "#a[]\\\x01\xff" }, { "dev", "e#" }, { "dev", "=#8" },
	};
	struct settings s;
	char *text = NULL;
	size_t len = 0, i;
	FILE *file;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		file = open_memstream(&text, &len);
		settings_write_name(file, names[i], 2);
		fclose(file);
		EXPECT_EQ(settings_parse(&s, text, len, &error), 0)
			TH_LOG("%s: %s", text, error.text);
		ASSERT_EQ(s.n, 1);
		EXPECT_STREQ(s.list[0].words[1], names[i][1]);
		settings_free(&s);
		free(text);
	}
}

TEST(values_written_as_read)
{
	const char *const values[] = { "#x", "a=#b", "a\\b", "a b", " a", "a  b ", "\x01\xff", "[a]" };
	struct settings s;
	char *text = NULL;
	size_t len = 0, i;
	FILE *file;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		file = open_memstream(&text, &len);
		fputs("[a]\nb = ", file);
		settings_write_value(file, values[i]);
		fclose(file);
		EXPECT_EQ(settings_parse(&s, text, len, &error), 0)
			TH_LOG("%s: %s", text, error.text);
		ASSERT_EQ(s.n, 1);
		ASSERT_EQ(s.list[0].n, 1);
		EXPECT_STREQ(s.list[0].list[0].value, values[i]);
		settings_free(&s);
		free(text);
	}
}

TEST_HARNESS_MAIN
