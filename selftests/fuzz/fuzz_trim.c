// SPDX-License-Identifier: GPL-2.0
/*
 * Trims any input that looks like a packet that may be trimmed, and stops where a
 * promise is broken:
 *
 *	no byte outside the packet is read or written (it is in a block of its own
 *	size, which AddressSanitizer watches), nor any the module must not read
 *	headers stay whole, and the rest is no longer than requested
 *	fields and payload match the model, and a wrong checksum stays wrong by the
 *	same amount (../unit/trim_model.h)
 *
 * Input: DSCP and whether the checksum is partial (1 byte), size (2), how to begin
 * (1: which header fields to write over the start of the packet, if any), packet.
 */
#include <stdio.h>

#include <quell/core/lib/math.h>
#include <quell/trim.h>

#include "../unit/trim_model.h"

#define INPUT_BYTES	4U

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

/* Make the start of the input a packet that may be trimmed, as far as @how asks. */
static void begin(u8 *ip, u32 bytes, u8 how)
{
	bool ipv6 = how & 1, tcp = how & 2;
	u32 at = ipv6 ? 40 : 20;

	if (!(how & 4) || bytes < at + 20)
		return;
	ip[0] = ipv6 ? 0x60 | (ip[0] & 0xf) : 0x45;
	quell_opt_put_u16(ip + (ipv6 ? 4 : 2), ipv6 ? bytes - 40 : bytes);
	ip[ipv6 ? 6 : 9] = tcp ? QUELL_FRAME_TCP : QUELL_FRAME_UDP;
	if (!ipv6)
		quell_opt_put_u16(ip + 6, 0);
	if (!tcp)
		quell_opt_put_u16(ip + at + 4, bytes - at);
	else
		ip[at + 13] &= ~6;
	if (tcp && how & 8 && bytes >= at + 32) {
		ip[at + 12] = 0x80;
		memcpy(ip + at + 20, (u8[]) { 0xfe, 12, 0x51, 0x55, 1 }, 5);
	}
}

static void trim_one(u8 *ip, u32 bytes, const struct quell_trim *trim, u32 size_bytes, u8 dscp,
		     bool partial)
{
	u32 to_bytes = quell_trim_to_bytes(trim, 14, size_bytes);
	const char *complaint;
	u8 *old;

	if (!to_bytes)
		return;
	require(to_bytes >= trim->header_bytes && to_bytes < trim->ip_bytes, "length in range");
	require(to_bytes == trim->header_bytes || to_bytes + 14 == size_bytes, "length asked for");
	old = malloc(bytes);
	if (!old)
		return;
	memcpy(old, ip, bytes);
	model_trim(ip, trim, to_bytes, dscp, partial);
	complaint = model_complaint(old, trim, ip, to_bytes, dscp, partial);
	require(!complaint, complaint);
	require(!memcmp(old + to_bytes, ip + to_bytes, bytes - to_bytes), "no byte behind");
	free(old);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct quell_trim trim;
	u32 bytes, readable;
	u8 *ip, *headers;

	if (size < INPUT_BYTES)
		return 0;
	bytes = size - INPUT_BYTES;
	readable = quell_min_u64(bytes, QUELL_FRAME_BYTES_MAX);
	ip = malloc(bytes ? bytes : 1);
	headers = malloc(readable ? readable : 1);
	if (ip && headers) {
		memcpy(ip, data + INPUT_BYTES, bytes);
		begin(ip, bytes, data[3]);
		memcpy(headers, ip, readable);
		if (model_parse(headers, readable, bytes, &trim)) {
			require(trim.header_bytes <= readable, "headers are in what was read");
			trim_one(ip, bytes, &trim, quell_opt_get_u16(data + 1) & 0x3ff,
				 data[0] & 0x3f, data[0] & 0x40);
		}
	}
	free(headers);
	free(ip);
	return 0;
}
