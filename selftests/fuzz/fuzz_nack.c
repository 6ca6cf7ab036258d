// SPDX-License-Identifier: GPL-2.0
/*
 * Looks for a NACK in any bytes, reads it, and stops where a promise is broken:
 *
 *	no byte outside the options is read (they are in a block of their own size,
 *	which AddressSanitizer watches)
 *	a NACK that is found lies inside the options, and is not a Quell option
 *	a NACK that is read covers at least one byte, and encodes to the bytes read
 *
 * Input: how to read it (1 byte, INPUT_*), options.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/nack.h>

#define OPTIONS_BYTES	40U

/* The first byte of the input.  Random bytes rarely form an identifier and a length. */
#define INPUT_AT	0x3f	/* offset of the NACK head */
#define INPUT_NACK	0x40	/* write a NACK head there */
#define INPUT_LENGTH	0x80	/* with the correct length */

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static void read_it(const u8 *options, u32 bytes, u32 at, u32 stated)
{
	u8 again[QUELL_NACK_BYTES];
	struct quell_nack nack;
	u32 ours = 0;

	require(at + stated <= bytes, "found inside the options");
	require(quell_opt_find(options, bytes, &ours) != at, "not taken for a Quell option");
	if (!quell_nack_decode(options + at, stated, &nack)) {
		require(stated < QUELL_NACK_STATED_BYTES || (!options[at + 8] && !options[at + 9]),
			"only one too short or without bytes is refused");
		return;
	}
	require(stated >= QUELL_NACK_STATED_BYTES, "what was read is there");
	require(nack.bytes, "it names a byte");
	require(quell_nack_encode(&nack, again) == sizeof(again), "its length as announced");
	require(!memcmp(again + 4, options + at + 4, QUELL_NACK_STATED_BYTES - 4),
		"written again as it was");
}

static void help_chance(u8 *options, u32 bytes, u8 how)
{
	u32 at = how & INPUT_AT;

	if (!(how & INPUT_NACK) || at + QUELL_OPT_EXID_BYTES > bytes)
		return;
	options[at] = QUELL_OPT_KIND;
	if (how & INPUT_LENGTH)
		options[at + 1] = QUELL_NACK_STATED_BYTES;
	quell_opt_put_u16(options + at + 2, QUELL_NACK_EXID);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u32 at, bytes, stated = 0;
	u8 *options;

	if (!size)
		return 0;
	bytes = size - 1 < OPTIONS_BYTES ? size - 1 : OPTIONS_BYTES;
	options = malloc(bytes ? bytes : 1);
	if (!options)
		return 0;
	memcpy(options, data + 1, bytes);
	help_chance(options, bytes, data[0]);
	at = quell_nack_find(options, bytes, &stated);
	if (at < bytes)
		read_it(options, bytes, at, stated);
	free(options);
	return 0;
}
