// SPDX-License-Identifier: GPL-2.0
/*
 * Looks for the Quell option in any bytes, reads what it finds, and stops where
 * a promise is broken:
 *
 *	nothing outside the options is read (they are given in a block of their
 *	own size, which AddressSanitizer watches)
 *	what was found lies inside the options
 *	what was read, written again and read again, says the same, and is not
 *	longer than stated
 *
 * Input: whether the segment is a SYN (1 byte), options.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/option.h>

#define OPTIONS_BYTES	40U

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static bool same(const struct quell_opt *a, const struct quell_opt *b)
{
	return a->form == b->form && a->version == b->version && a->flags == b->flags &&
	       a->entropy == b->entropy && a->payload_bytes == b->payload_bytes &&
	       a->depart_ns == b->depart_ns && a->echo_ns == b->echo_ns &&
	       a->hold_ns == b->hold_ns && a->senders == b->senders &&
	       a->echo_entropy == b->echo_entropy &&
	       !memcmp(a->telemetry, b->telemetry, sizeof(a->telemetry)) &&
	       !memcmp(a->record, b->record, sizeof(a->record));
}

static void write_again(const struct quell_opt *opt, u32 stated, bool syn)
{
	u8 wire[QUELL_OPT_MAX_BYTES];
	struct quell_opt back;
	u32 bytes = quell_opt_encode(opt, wire);

	require(bytes == quell_opt_bytes(opt) && bytes % 4 == 0, "its length as announced");
	require(wire[1] <= stated, "what is known is not longer than what was stated");
	require(quell_opt_decode(wire, wire[1], syn, &back), "what was written can be read");
	require(same(opt, &back), "and says the same");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct quell_opt opt;
	u32 at, stated = 0;
	u32 bytes;
	u8 *options;
	bool syn;

	if (!size)
		return 0;
	syn = data[0] & 1;
	bytes = size - 1 < OPTIONS_BYTES ? size - 1 : OPTIONS_BYTES;
	options = malloc(bytes ? bytes : 1);
	if (!options)
		return 0;
	memcpy(options, data + 1, bytes);
	/* Chance does not find the identifier. */
	if (bytes >= 8 && data[0] & 2)
		memcpy(options, (u8[]) { QUELL_OPT_KIND, options[1], 0x51, 0x55 }, 4);
	at = quell_opt_find(options, bytes, &stated);
	if (at < bytes) {
		require(at + stated <= bytes, "found inside the options");
		if (quell_opt_decode(options + at, stated, syn, &opt))
			write_again(&opt, stated, syn);
	}
	free(options);
	return 0;
}
