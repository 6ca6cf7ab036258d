/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames for the tests of their headers, built by letters.
 */
#ifndef _QUELL_FRAME_STACK_H
#define _QUELL_FRAME_STACK_H

#include <string.h>

#include <quell/core/lib/types.h>

#define FRAME_MAX	600

/* A frame that grows from the outside; lengths are written when it is whole. */
struct stack {
	u8 data[FRAME_MAX];
	u32 len;
	u32 length_at[6], from[6];
	int lengths;
};

static inline void put16(u8 *at, u32 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static inline u8 *grow(struct stack *s, u32 bytes)
{
	s->len += bytes;
	return s->data + s->len - bytes;
}

/* The 16 bits at @at count the bytes from @from to the end of the frame. */
static inline void counts(struct stack *s, u8 *at, u8 *from)
{
	s->length_at[s->lengths] = at - s->data;
	s->from[s->lengths++] = from - s->data;
}

static inline void put_ipv4(struct stack *s, u8 protocol)
{
	u8 *ip = grow(s, 20);

	ip[0] = 0x45;
	ip[1] = 0x12;
	ip[8] = 63;
	ip[9] = protocol;
	counts(s, ip + 2, ip);
}

static inline void put_ipv6(struct stack *s, u8 protocol)
{
	u8 *ip = grow(s, 40);

	ip[0] = 0x61;
	ip[1] = 0x20;
	ip[6] = protocol;
	ip[7] = 62;
	counts(s, ip + 4, ip + 40);
}

static inline void put_udp(struct stack *s, u32 port)
{
	u8 *udp = grow(s, 8);

	put16(udp + 2, port);
	counts(s, udp + 4, udp);
}

static inline u32 type_of(char next)
{
	switch (next) {
	case '4':
		return 0x0800;
	case '6':
		return 0x86dd;
	case 'e':
		return 0x6558;
	case 'q':
		return 0x8100;
	case 'a':
		return 0x88a8;
	case 'p':
		return 0x0806;
	default:
		return 0x88b5;
	}
}

static inline u8 protocol_of(char next)
{
	switch (next) {
	case '4':
		return 4;
	case '6':
		return 41;
	case 'g':
	case 'k':
		return 47;
	case 'v':
	case 'n':
	case 'u':
		return 17;
	case 'o':
		return 60;
	case 'm':
		return 0;
	case 'd':
		return 58;
	case 'i':
		return 2;
	default:
		return 6;
	}
}

static inline void put_letter(struct stack *s, char letter, char next)
{
	u8 *at;

	switch (letter) {
	case 'e':
		put16(grow(s, 14) + 12, type_of(next));
		break;
	case 'q':
	case 'a':
		put16(grow(s, 4) + 2, type_of(next));
		break;
	case '4':
		put_ipv4(s, protocol_of(next));
		break;
	case '6':
		put_ipv6(s, protocol_of(next));
		break;
	case 'o':
		memcpy(grow(s, 8), (u8[]) { protocol_of(next), 0, 4, 1, 4, 1, 1 }, 7);
		break;
	case 'g':
		put16(grow(s, 4) + 2, type_of(next));
		break;
	case 'k':
		at = grow(s, 16);
		at[0] = 0xb0;
		put16(at + 2, type_of(next));
		put16(at + 10, 0x1234);
		break;
	case 'v':
		put_udp(s, 4789);
		at = grow(s, 8);
		at[0] = 8;
		at[6] = 7;
		break;
	case 'n':
		put_udp(s, 6081);
		at = grow(s, 16);
		at[0] = 2;
		put16(at + 2, type_of(next));
		at[6] = 9;
		break;
	case 'u':
		put_udp(s, 5000);
		break;
	case 'm':
		memcpy(grow(s, 16), (u8[]) { 58, 0, 5, 2, 0, 0, 1, 0, 143 }, 9);
		break;
	case 'd':
		grow(s, 8)[0] = 135;
		break;
	case 'i':
	case 'p':
		grow(s, 8);
		break;
	default:
		at = grow(s, 20 + (letter == 'T' ? 12 : 0));
		at[12] = letter == 'T' ? 0x80 : 0x50;
		at[13] = letter == 's' ? 0x12 : 0x10;
	}
}

/*
 * A frame by letters: e Ethernet, q 802.1Q, a 802.1ad, 4 and 6 IP, o option of a tunnel,
 * g GRE, k with all fields, v VXLAN, n Geneve with options, u UDP, t TCP (ACK), T with
 * options, s SYN, m MLD, d neighbour discovery, i IGMP, p ARP, x something else; then payload.
 */
static inline void build(struct stack *s, const char *letters, u32 payload_bytes)
{
	int i;

	memset(s, 0, sizeof(*s));
	for (i = 0; letters[i]; i++)
		if (letters[i] != 'x')
			put_letter(s, letters[i], letters[i + 1]);
	grow(s, payload_bytes);
	for (i = 0; i < s->lengths; i++)
		put16(s->data + s->length_at[i], s->len - s->from[i]);
}

#endif /* _QUELL_FRAME_STACK_H */
