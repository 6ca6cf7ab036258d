// SPDX-License-Identifier: GPL-2.0
/*
 * Words of a plan line: counts, numbers, options, addresses.  Every error
 * message names the word and the form expected.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "init.h"

/* Fail unless the line has between @least and @most words after the command. */
void need_words(int least, int most)
{
	if (line.n - 1 < least || line.n - 1 > most)
		fail("%d words given, %d to %d expected", line.n - 1, least, most);
}

uint64_t number(const char *word, uint64_t min, uint64_t max)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(word, &end, 0);
	if (errno || *end || end == word || *word == '-' || value < min ||
	    value > max)
		fail("'%s' is not a number in %" PRIu64 "..%" PRIu64, word, min,
		     max);
	return value;
}

int64_t signed_number(const char *word, int64_t min, int64_t max)
{
	int64_t value;
	char *end;

	errno = 0;
	value = strtoll(word, &end, 0);
	if (errno || *end || end == word || value < min || value > max)
		fail("'%s' is not a number in %" PRId64 "..%" PRId64, word, min,
		     max);
	return value;
}

/* Value of KEY=VALUE among the words from @from on; NULL when absent. */
const char *option(int from, const char *key)
{
	size_t length = strlen(key);
	int i;

	for (i = from; i < line.n; i++)
		if (!strncmp(line.word[i], key, length) &&
		    line.word[i][length] == '=')
			return line.word[i] + length + 1;
	return NULL;
}

/* Fail on words that are not KEY=VALUE pairs with a known key. */
void only_options(int from, const char *const *keys)
{
	int i, k;

	for (i = from; i < line.n; i++) {
		const char *equals = strchr(line.word[i], '=');

		for (k = 0; equals && keys[k]; k++)
			if (strlen(keys[k]) == (size_t)(equals - line.word[i]) &&
			    !strncmp(keys[k], line.word[i],
				     equals - line.word[i]))
				break;
		if (!equals || !keys[k])
			fail("unknown option '%s'", line.word[i]);
	}
}

/* Address in network order. */
uint32_t ipv4(const char *word)
{
	struct in_addr addr;

	if (inet_pton(AF_INET, word, &addr) != 1)
		fail("'%s' is not an IPv4 address", word);
	return addr.s_addr;
}

/* An IPv4 or IPv6 address; a colon makes it IPv6. */
struct address address(const char *word)
{
	struct address addr = { .family = AF_INET, .size = 4 };

	if (strchr(word, ':')) {
		addr.family = AF_INET6;
		addr.size = 16;
	}
	if (inet_pton(addr.family, word, addr.bytes) != 1)
		fail("'%s' is not an address", word);
	return addr;
}

struct address prefix(const char *word, int *length)
{
	char text[INET6_ADDRSTRLEN];
	const char *slash = strchr(word, '/');
	struct address addr;

	if (!slash || (size_t)(slash - word) >= sizeof(text))
		fail("'%s' is not ADDRESS/LENGTH", word);
	memcpy(text, word, slash - word);
	text[slash - word] = '\0';
	addr = address(text);
	*length = number(slash + 1, 0, addr.size * 8);
	return addr;
}
