// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the headers of any input as a frame, and stops where a promise is broken:
 *
 *	no byte beyond those given is read (they are in a block of their own size, which
 *	AddressSanitizer watches)
 *	headers lie within the frame, an inner packet within the outer
 *	headers agree with the model (../unit/frame_model.h)
 *	a frame that is read as a plain one is one, with the same headers
 *	into its TCP header a port writes the bytes of the slow path's model (../unit/stamp_model.h)
 *	where only the first bytes can be read, all is found, or that more are needed
 *
 * Input: how many of the bytes can be read (1), how to begin (1: which headers to write over
 * the start of the frame, if any), bytes behind the frame's (1), frame.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/frame_model.h"
#include "../unit/stamp_model.h"

#define INPUT_BYTES	3U

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

/* Make the start of the input a tunnel, or TCP with options, as far as @how asks. */
static void begin(u8 *f, u32 bytes, u8 how)
{
	u32 at = 14 + (how & 1 ? 4 : 0), transport_at = at + (how & 2 ? 40 : 20);

	if (!(how & 0x80) || bytes < transport_at + 16)
		return;
	memcpy(f + at - 2, how & 2 ? (u8[]) { 0x86, 0xdd } : (u8[]) { 8, 0 }, 2);
	if (how & 1)
		memcpy(f + 12, (u8[]) { 0x81, 0 }, 2);
	f[at] = how & 2 ? 0x60 : 0x45;
	f[at + (how & 2 ? 4 : 2)] = (bytes - (how & 2 ? transport_at : at)) >> 8;
	f[at + (how & 2 ? 5 : 3)] = bytes - (how & 2 ? transport_at : at);
	if (!(how & 2))
		memset(f + at + 6, 0, 2);
	f[at + (how & 2 ? 6 : 9)] = (u8[]) { 17, 17, 47, 4, 41, 60, 6, 58 }[how >> 2 & 7];
	if ((how >> 2 & 7) == 6 && how & 0x20 && bytes > transport_at + 60) {
		f[transport_at + 12] = 0xf0;
		f[transport_at + 13] = 0x18;
		memcpy(f + transport_at + 20, (u8[]) { 254, 24, 0x51, 0x55, 5 }, 5);
		memcpy(f + transport_at + 44, (u8[]) { 0x72, 12 }, 2);
	}
	if ((how >> 2 & 7) > 1)
		return;
	memcpy(f + transport_at + 2, how & 4 ? (u8[]) { 0x12, 0xb5 } : (u8[]) { 0x17, 0xc1 }, 2);
	f[transport_at + 4] = (bytes - transport_at) >> 8;
	f[transport_at + 5] = bytes - transport_at;
	if (how & 0x20)
		memcpy(f + transport_at + 8, how & 4 ? (u8[]) { 8, 0, 0, 0 } :
						       (u8[]) { 0, 0, 0x65, 0x58 }, 4);
}

static void check_places(const struct quell_frame *frame)
{
	const struct quell_frame_ip *flow = quell_frame_flow(frame);

	if (!flow->transport_at)
		return;
	require(flow->transport_at <= QUELL_FRAME_BYTES_MAX, "headers are near the start");
	require(flow->transport_at <= flow->end, "a header is within its packet");
	require(flow->end <= frame->len, "a packet is within the frame");
	require(!frame->inner || flow->end <= frame->ip[0].end,
		"an inner packet is within the outer");
	require(!frame->tcp_bytes || flow->transport_at + frame->tcp_bytes <= frame->bytes,
		"TCP's options can be read");
}

/* Of a port with the frame's numbers. */
static void check_stamp(const struct quell_frame *frame, const u8 *data)
{
	struct stamp_port port = { .record.hop = 1 + data[0] % 255 };
	const char *complaint;
	u32 written;

	memcpy(&port.record.link_bytes_ps, data, sizeof(u64));
	memcpy(&port.record.queue_bytes, data + 4, sizeof(u32));
	memcpy(&port.load_q16, data + 3, sizeof(u64));
	port.load_q16 >>= data[1] & 63;
	port.record.tx_units = port.record.queue_bytes;
	port.record.time_ns = port.record.link_bytes_ps;
	port.hop = (struct quell_tcp_int_hop) { data[2], data[3] & 0xf, data[4],
						port.load_q16 };
	complaint = stamp_complaint(data + frame->ip[0].transport_at, frame->tcp_bytes, &port,
				    &written);
	require(!complaint, complaint ? complaint : "");
}

static void parse(struct quell_frame *frame, const u8 *data, u32 bytes, u32 len)
{
	u8 *copy = malloc(bytes ? bytes : 1);
	const char *complaint;
	bool is_plain;

	if (!copy)
		abort();
	memcpy(copy, data, bytes);
	quell_frame_begin(frame, copy, bytes, len);
	quell_frame_parse(frame);
	complaint = plain_complaint(frame, &is_plain);
	require(!complaint, complaint ? complaint : "");
	if (is_plain)
		check_stamp(frame, copy);
	quell_frame_is_control(frame);
	check_places(frame);
	free(copy);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct frame_model model;
	struct quell_frame frame;
	const char *complaint;
	u32 bytes;
	u8 *f;

	if (size < INPUT_BYTES || size > 2000)
		return 0;
	bytes = size - INPUT_BYTES;
	f = malloc(bytes ? bytes : 1);
	if (!f)
		return 0;
	memcpy(f, data + INPUT_BYTES, bytes);
	begin(f, bytes, data[1]);
	model = model_frame(f, bytes);
	parse(&frame, f, bytes, bytes);
	complaint = model_complaint(&model, &frame);
	require(!complaint, complaint ? complaint : "");
	require(!frame.is_short, "all that there is suffices");
	parse(&frame, f, bytes < data[0] ? bytes : data[0], bytes);
	complaint = frame.is_short ? NULL : model_complaint(&model, &frame);
	require(!complaint, complaint ? complaint : "");
	free(f);
	return 0;
}
