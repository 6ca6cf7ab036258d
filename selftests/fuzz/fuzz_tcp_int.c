// SPDX-License-Identifier: GPL-2.0
/*
 * Looks for the TCP-INT option in any bytes, reads it, passes it through a switch
 * port and to a receiver, and stops where a promise is broken:
 *
 *	no byte outside the options is read (they are in a block of their own size,
 *	which AddressSanitizer watches)
 *	an option that was read is written again byte for byte
 *	a port does not lower value or latency, names itself if it raised the value
 *	and only then, and leaves the echo alone
 *	a receiver echoes the fields a switch wrote, and its echo can be read
 *	a record made of an echo is of its hop, and of no more than the link can send
 *
 * Input: the port's value, speed, time to live (1 byte each), latency (8), how to
 * begin (1, odd: with the option), options.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/core/port/stamp.h>
#include <quell/tcp_int.h>

#define OPTIONS_BYTES	40U
#define INPUT_BYTES	12U

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static void pass_port(struct quell_tcp_int *opt, const struct quell_tcp_int_hop *hop)
{
	struct quell_tcp_int before = *opt;
	u8 wire[QUELL_TCP_INT_BYTES];
	bool wrote, says;
	u64 first;

	quell_tcp_int_encode(opt, wire);
	first = quell_stamp_get_u64(wire);
	says = quell_tcp_int_stamp(&first, hop);
	quell_stamp_put_u64(wire, first, 0);
	quell_tcp_int_decode(wire, opt);
	wrote = opt->value > before.value;
	require(says == wrote, "a port knows what it wrote");
	require(opt->value >= before.value && opt->value >= hop->value, "value is the largest");
	require(opt->hop_ttl == (wrote ? hop->ttl : before.hop_ttl), "the hop is the value's");
	require(opt->speed == (wrote ? hop->speed : before.speed), "and so is the speed");
	require(opt->latency >= before.latency && opt->latency <= QUELL_TCP_INT_LATENCY_MAX,
		"latency does not fall, nor leave its bits");
	require(opt->echo_value == before.echo_value && opt->echo_hop == before.echo_hop &&
		opt->echo_speed == before.echo_speed &&
		opt->echo_latency == before.echo_latency && opt->tag_freq == before.tag_freq,
		"a port leaves the echo alone");
}

static void reach_receiver(const struct quell_tcp_int *in)
{
	struct quell_tcp_int out = { .tag_freq = QUELL_TCP_INT_FREQ_SWITCH }, back;
	u64 latency_ns = (u64)in->latency << QUELL_TCP_INT_LATENCY_SHIFT;
	u8 wire[QUELL_TCP_INT_BYTES];
	u64 echoed_ns;

	if (!quell_tcp_int_echo(in, &out)) {
		require(!in->hop_ttl, "only what no switch wrote is not echoed");
		return;
	}
	quell_tcp_int_encode(&out, wire);
	quell_tcp_int_decode(wire, &back);
	require(back.echo_value == in->value && back.echo_speed == in->speed,
		"value and speed come back");
	echoed_ns = quell_tcp_int_echo_latency_ns(back.echo_latency);
	require(echoed_ns <= latency_ns, "an echoed latency is rounded down");
	require(latency_ns - echoed_ns < 65536 || latency_ns >> 31, "to 65536 ns below 2.1 s");
}

/* The sender makes a record of the echo; the latency also serves as the time between two. */
static void reach_sender(const struct quell_tcp_int *in)
{
	struct quell_tcp_int_link link = { .bytes = in->latency, .time_ns = in->value };
	u64 speed_bytes_ps = quell_tcp_int_speed_bytes_ps(in->echo_speed);
	struct quell_tcp_int told = {};
	struct quell_telemetry record;
	u64 was_bytes = link.bytes;
	bool made;

	quell_tcp_int_unpack(quell_tcp_int_pack(in), &told);
	require(!in->echo_hop == !told.echo_hop, "an echo is packed, nothing is not");
	made = quell_tcp_int_record(&link, &told, in->latency + (u64)in->value, &record);
	require(made == (told.echo_hop && speed_bytes_ps), "a record of a hop with a speed");
	if (!made)
		return;
	require(record.hop == in->echo_hop && record.link_bytes_ps == speed_bytes_ps,
		"it is of that hop");
	require(link.bytes - was_bytes <= quell_div_u64(speed_bytes_ps * in->latency,
							QUELL_NS_PER_SEC),
		"no link sends more than it can");
	require(!record.queue_bytes || record.queue_bytes >= 8192, "queues are of 8 KiB");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 again[QUELL_TCP_INT_BYTES];
	struct quell_tcp_int_hop hop;
	struct quell_tcp_int opt;
	u32 at, bytes;
	u8 *options;

	if (size < INPUT_BYTES)
		return 0;
	hop = (struct quell_tcp_int_hop) { data[0], data[1] & 0xf, data[2], 0 };
	memcpy(&hop.latency_ns, data + 3, sizeof(hop.latency_ns));
	hop.latency_ns >>= hop.latency_ns & 63;
	bytes = quell_min_u64(size - INPUT_BYTES, OPTIONS_BYTES);
	options = malloc(bytes ? bytes : 1);
	if (!options)
		return 0;
	memcpy(options, data + INPUT_BYTES, bytes);
	if (bytes >= QUELL_TCP_INT_BYTES && data[11] & 1)
		memcpy(options, (u8[]) { QUELL_TCP_INT_KIND, QUELL_TCP_INT_BYTES }, 2);
	at = quell_tcp_int_find(options, bytes);
	if (at < bytes) {
		require(at + QUELL_TCP_INT_BYTES <= bytes, "found inside the options");
		quell_tcp_int_decode(options + at, &opt);
		quell_tcp_int_encode(&opt, again);
		require(!memcmp(options + at, again, sizeof(again)), "written again as it was");
		pass_port(&opt, &hop);
		reach_receiver(&opt);
		reach_sender(&opt);
	}
	free(options);
	return 0;
}
