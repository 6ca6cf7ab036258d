/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Expected result of trimming, checked by full checksums over whole packets, for the
 * tests of <quell/trim.h>.
 *
 * A checksum is right when the sum of all it covers, itself included, is 0 modulo
 * 65535.  That remainder is the damage of a packet, which trimming must leave alone.
 */
#ifndef _QUELL_TRIM_MODEL_H
#define _QUELL_TRIM_MODEL_H

#include <stdlib.h>
#include <string.h>

#include <quell/trim.h>

/* Parse a packet of @len bytes from its IP header on, of which @readable may be read. */
static inline bool model_parse(const u8 *ip, u32 readable, u32 len, struct quell_trim *trim)
{
	u32 ethertype = readable && ip[0] >> 4 == 6 ? QUELL_FRAME_IS_IPV6 : QUELL_FRAME_IS_IPV4;
	struct quell_frame frame;

	quell_frame_begin(&frame, ip, readable, len);
	quell_frame_parse_ip(&frame, 0, ethertype);
	return !frame.tunnel && quell_trim_parse(&frame, trim);
}

/* Remainder of big-endian 16-bit words; a last single byte is the upper half of one. */
static inline u32 model_sum(const u8 *from, u32 bytes)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < bytes; i++)
		sum += i & 1 ? from[i] : from[i] << 8;
	return sum % 65535;
}

static inline u32 model_pseudo(const u8 *ip, bool ipv6, u8 protocol, u32 bytes)
{
	u64 sum = (u64)protocol + bytes;

	sum += ipv6 ? model_sum(ip + 8, 32) : model_sum(ip + 12, 8);
	return sum % 65535;
}

/* Error of the TCP or UDP checksum of a parsed packet. */
static inline u32 model_damage(const u8 *ip, const struct quell_trim *trim, u32 ip_bytes)
{
	u32 bytes = ip_bytes - trim->transport_at;

	return (model_pseudo(ip, trim->ipv6, trim->protocol, bytes) +
		model_sum(ip + trim->transport_at, bytes)) % 65535;
}

/* For a checksum still to be computed: its difference from the pseudo header's. */
static inline u32 model_partial_damage(const u8 *ip, const struct quell_trim *trim,
				       u32 ip_bytes)
{
	u32 at = trim->transport_at + (trim->protocol == QUELL_FRAME_TCP ? 16 : 6);
	u32 pseudo = model_pseudo(ip, trim->ipv6, trim->protocol, ip_bytes - trim->transport_at);

	return (65535 + model_sum(ip + at, 2) - pseudo) % 65535;
}

/* Trim a packet as the module does: @wire becomes the trimmed packet.  Returns its length. */
static inline u32 model_trim(u8 *wire, const struct quell_trim *trim, u32 to_bytes, u8 dscp,
			     bool partial)
{
	struct quell_trim_cut cut = { .to_bytes = to_bytes, .dscp = dscp, .partial = partial };

	if (!partial)
		cut.sum = model_sum(wire + to_bytes, trim->ip_bytes - to_bytes);
	/* The kernel's sum is 0 only if all bytes are 0. */
	if (!partial && !cut.sum)
		cut.sum = 0xffff;
	quell_trim_edit(wire, trim, &cut);
	return to_bytes;
}

/* Expected IP header; its checksum is verified separately. */
static inline void model_want_ip(u8 *want, const u8 *new, const struct quell_trim *trim,
				 u32 to_bytes, u8 dscp)
{
	if (trim->ipv6) {
		want[0] = 0x60 | dscp >> 2;
		want[1] = (dscp & 3) << 6 | (want[1] & 0x3f);
		quell_opt_put_u16(want + 4, to_bytes - 40);
		return;
	}
	want[1] = dscp << 2 | (want[1] & 3);
	quell_opt_put_u16(want + 2, to_bytes);
	memcpy(want + 10, new + 10, 2);
}

/* Expected transport header and payload. */
static inline void model_want_transport(u8 *want, const struct quell_trim *trim, u32 to_bytes)
{
	u32 at, payload_bytes = trim->ip_bytes - trim->header_bytes;

	if (trim->protocol == QUELL_FRAME_UDP) {
		quell_opt_put_u16(want + 4, to_bytes - trim->transport_at);
		return;
	}
	want[13] &= 0xfe;
	at = quell_trim_payload_at(want, trim->header_bytes - trim->transport_at);
	if (at && quell_opt_get_u16(want + at) < payload_bytes)
		quell_opt_put_u16(want + at, payload_bytes);
}

static inline const char *model_check_complaint(const u8 *old, const struct quell_trim *trim,
						const u8 *new, u32 to_bytes, bool partial)
{
	bool udp = trim->protocol == QUELL_FRAME_UDP;

	if (partial)
		return model_partial_damage(old, trim, trim->ip_bytes) ==
		       model_partial_damage(new, trim, to_bytes) ? NULL :
		       "damage of the checksum to be computed changed";
	if (udp && !quell_opt_get_u16(new + trim->transport_at + 6))
		return "a UDP checksum became none";
	return model_damage(old, trim, trim->ip_bytes) == model_damage(new, trim, to_bytes) ?
	       NULL : "damage of the checksum changed";
}

/**
 * model_complaint() - describe the first error of a trimmed packet
 * @old:     before
 * @trim:    its parsed headers
 * @new:     after, @to_bytes
 * @dscp:    expected DSCP
 * @partial: the checksum is still to be computed
 *
 * Return: a text, or NULL if the packet is correct.
 */
static inline const char *model_complaint(const u8 *old, const struct quell_trim *trim,
					  const u8 *new, u32 to_bytes, u8 dscp, bool partial)
{
	u32 check_at = trim->transport_at + (trim->protocol == QUELL_FRAME_TCP ? 16 : 6);
	bool no_check = trim->protocol == QUELL_FRAME_UDP && !partial &&
			!quell_opt_get_u16(old + check_at);
	u8 want[QUELL_FRAME_BYTES_MAX];

	memcpy(want, old, trim->header_bytes);
	model_want_ip(want, new, trim, to_bytes, dscp);
	model_want_transport(want + trim->transport_at, trim, to_bytes);
	if (!no_check)
		memcpy(want + check_at, new + check_at, 2);
	if (memcmp(new, want, trim->header_bytes))
		return "a header field is not what it should be";
	if (!trim->ipv6 && model_sum(old, trim->transport_at) != model_sum(new, trim->transport_at))
		return "damage of the IPv4 header changed";
	if (memcmp(old + trim->header_bytes, new + trim->header_bytes,
		   to_bytes - trim->header_bytes))
		return "payload changed";
	return no_check ? NULL : model_check_complaint(old, trim, new, to_bytes, partial);
}

#endif /* _QUELL_TRIM_MODEL_H */
