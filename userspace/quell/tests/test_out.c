// SPDX-License-Identifier: GPL-2.0
/*
 * The printer: one sequence of calls, compared byte for byte as text, JSON and
 * indented JSON.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/quell.h>

#include "printed.h"
#include "test.h"

static void print_sample(struct out *o)
{
	out_open_array(o, NULL);
	out_open_object(o, NULL);
	out_str(o, "name", "%s:", "swift");
	out_qty(o, "base_ns", " base %s", QUELL_UNIT_NS, 5000);
	out_str(o, NULL, " %s", "text-alone");
	out_str(o, "json_alone", NULL, "quote\" back\\ tab\t");
	out_bool(o, "flag", true);
	out_null(o, "absent", " none");
	out_u64(o, "n", " n %s", UINT64_MAX);
	out_text(o, "\n");
	out_open_array(o, "empty");
	out_close_array(o);
	out_close_object(o);
	out_open_object(o, NULL);
	out_close_object(o);
	out_close_array(o);
}

static void check(struct __test_metadata *_metadata, const char *name, bool json, bool pretty,
		  int times, const char *want)
{
	struct out o;
	char *got = PRINTED(&o, json, pretty, while (times--) print_sample(&o));

	expect(!strcmp(got, want), "%s: got: %s, want: %s", name, got, want);
	free(got);
}

#define JSON "[{\"name\":\"swift\",\"base_ns\":5000,"			\
	"\"json_alone\":\"quote\\\" back\\\\ tab\\u0009\",\"flag\":true,"	\
	"\"absent\":null,\"n\":18446744073709551615,\"empty\":[]},{}]\n"

TEST(forms)
{
	check(_metadata, "text", false, false, 1,
	      "swift: base 5us text-alone none n 18446744073709551615\n");
	check(_metadata, "json", true, false, 1, JSON);
	check(_metadata, "json_twice", true, false, 2, JSON JSON);
	check(_metadata, "pretty", true, true, 1,
	      "[\n"
	      "    {\n"
	      "        \"name\": \"swift\",\n"
	      "        \"base_ns\": 5000,\n"
	      "        \"json_alone\": \"quote\\\" back\\\\ tab\\u0009\",\n"
	      "        \"flag\": true,\n"
	      "        \"absent\": null,\n"
	      "        \"n\": 18446744073709551615,\n"
	      "        \"empty\": []\n"
	      "    },\n"
	      "    {}\n"
	      "]\n");
}

/* Names chosen by others: control characters are escaped, the rest is as it was. */
TEST(out_str__control)
{
	static const char name[] = "a\033[31m\n\177 \303\274\302\233b";
	struct out o;
	char *got = PRINTED(&o, false, false, out_str(&o, "name", "<%s>\n", name)), cut[8];

	expect_eq(0, strcmp("<a\\x1b[31m\\x0a\\x7f \303\274\\xc2\\x9bb>\n", got), "got: %s", got);
	free(got);
	EXPECT_EQ(0, strcmp("ab\\x1b", out_escape(cut, sizeof(cut), "ab\033\033")));
}

/* The kernel lets names of interfaces have any byte. */
TEST(out_str__utf8_cases)
{
	static const struct {
		const char	*name;
		const char	*text;
		const char	*json;
	} cases[] = {
		{ "\303\274\342\202\254\360\237\230\200", "\303\274\342\202\254\360\237\230\200",
		  "\"\303\274\342\202\254\360\237\230\200\"" },
		{ "d\377\2332J", "d\\xff\\x9b2J", "\"d\\ufffd\\ufffd2J\"" },
		{ "\302\2332J\177", "\\xc2\\x9b2J\\x7f", "\"\\u009b2J\\u007f\"" },
		{ "\303", "\\xc3", "\"\\ufffd\"" },
		{ "\342\202x", "\\xe2\\x82x", "\"\\ufffd\\ufffdx\"" },
		{ "\300\257", "\\xc0\\xaf", "\"\\ufffd\\ufffd\"" },
		{ "\355\240\200", "\\xed\\xa0\\x80", "\"\\ufffd\\ufffd\\ufffd\"" },
		{ "\364\220\200\200", "\\xf4\\x90\\x80\\x80",
		  "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
	};
	struct out o;
	size_t i;

	for (i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		const char *want = i % 2 ? cases[i / 2].json : cases[i / 2].text;
		char *got = PRINTED(&o, i % 2, false,
				    out_str(&o, "name", "%s", cases[i / 2].name));

		expect(strstr(got, want), "%zu: got: %s, want: %s", i, got, want);
		free(got);
	}
}

TEST_HARNESS_MAIN
