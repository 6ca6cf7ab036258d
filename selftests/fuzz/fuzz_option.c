// SPDX-License-Identifier: GPL-2.0
/*
 * Looks for the Quell option in any bytes, reads it, and stops where
 * a promise is broken:
 *
 *	no byte outside the options is read (they are in a block of their own size,
 *	which AddressSanitizer watches)
 *	an option that is found lies inside the options
 *	an option read, written and read again has the same contents, and is not
 *	longer than stated
 *	a switch finds the record where the reader does, and writing it changes no
 *	other field
 *	a record that was read is written again byte for byte
 *
 * Input: how to read it (1 byte, INPUT_*), options.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/option.h>

#define OPTIONS_BYTES	40U

/* The first byte of the input.  Random bytes rarely form an identifier and a length. */
#define INPUT_SYN	0x01	/* the segment is a SYN */
#define INPUT_OURS	0x02	/* make the first option a Quell option */
#define INPUT_LENGTH	0x04	/* with the length its flags imply */

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

static void record_again(const u8 *wire)
{
	u8 again[QUELL_TELEMETRY_BYTES];
	struct quell_telemetry record;

	if (!quell_telemetry_decode(wire, &record)) {
		require(!wire[QUELL_TELEMETRY_HOP_AT], "only a record without hop is empty");
		return;
	}
	quell_telemetry_encode(&record, quell_load_decode(wire[QUELL_TELEMETRY_LOAD_AT]), again);
	require(!memcmp(again, wire, sizeof(again)), "a record is written again as it was");
}

/* Overwrite the record, as a switch does, in an option of @stated bytes read as @opt. */
static void pass_switch(u8 *option, u32 stated, struct quell_opt *opt)
{
	u32 at = quell_opt_telemetry_at(option, stated);
	struct quell_opt back;

	require(!!at == (opt->form == QUELL_OPT_FULL && opt->flags & QUELL_OPT_F_TELEMETRY),
		"a switch finds a record where there is one");
	if (!at)
		return;
	require(!memcmp(option + at, opt->telemetry, sizeof(opt->telemetry)), "that one");
	memset(option + at, 0xa5, QUELL_TELEMETRY_BYTES);
	memset(opt->telemetry, 0xa5, QUELL_TELEMETRY_BYTES);
	require(quell_opt_decode(option, stated, false, &back) && same(opt, &back),
		"what it writes changes nothing else");
}

/* Make the option as valid as @how, the input's first byte, asks. */
static void help_chance(u8 *options, u32 bytes, u8 how)
{
	struct quell_opt opt = { .form = QUELL_OPT_FULL };

	if (bytes < QUELL_OPT_SYN_BYTES || !(how & INPUT_OURS))
		return;
	memcpy(options, (u8[]) { QUELL_OPT_KIND, options[1], 0x51, 0x55 }, 4);
	if (!(how & INPUT_LENGTH))
		return;
	opt.flags = options[4];
	options[1] = quell_opt_stated_bytes(&opt);
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
	syn = data[0] & INPUT_SYN;
	bytes = size - 1 < OPTIONS_BYTES ? size - 1 : OPTIONS_BYTES;
	options = malloc(bytes ? bytes : 1);
	if (!options)
		return 0;
	memcpy(options, data + 1, bytes);
	help_chance(options, bytes, data[0]);
	at = quell_opt_find(options, bytes, &stated);
	if (at < bytes) {
		require(at + stated <= bytes, "found inside the options");
		require(quell_opt_telemetry_at(options + at, stated) + QUELL_TELEMETRY_BYTES <=
			stated || !quell_opt_telemetry_at(options + at, stated),
			"a record inside the option");
		if (quell_opt_decode(options + at, stated, syn, &opt)) {
			write_again(&opt, stated, syn);
			record_again(opt.telemetry);
			record_again(opt.record);
			if (!syn)
				pass_switch(options + at, stated, &opt);
		}
	}
	free(options);
	return 0;
}
