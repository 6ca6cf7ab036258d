/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Input decoding for the fuzzers of the cores: a number is one byte of
 * magnitude and as many bytes of value as that needs; missing bytes are zero.
 */
#ifndef _QUELL_FUZZ_INPUT_H
#define _QUELL_FUZZ_INPUT_H

#include <quell/core/algorithm.h>

struct input {
	const u8 *data;
	size_t size;
};

static inline u8 take_byte(struct input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

/* A number of any magnitude up to @bits. */
static inline u64 take(struct input *in, unsigned int bits)
{
	unsigned int width = take_byte(in) % (bits + 1);
	unsigned int taken;
	u64 value = 0;

	if (!width)
		return 0;
	for (taken = 0; taken < width; taken += 8)
		value = value << 8 | take_byte(in);
	return value >> (taken - width);
}

static inline u64 take_between(struct input *in, u64 low, u64 high)
{
	u64 value = take(in, 64);

	return value >= low && value <= high ? value : low + value % (high - low + 1);
}

/* Set the parameters selected by a bit mask from the input, within their ranges. */
static inline void take_some(struct input *in, void *params, const struct quell_core *core)
{
	u64 chosen = take(in, core->params_nr);
	u32 i;

	for (i = 0; i < core->params_nr; i++)
		if (chosen >> i & 1)
			*quell_core_param(params, &core->params[i]) =
				take_between(in, core->params[i].min, core->params[i].max);
}

#endif /* _QUELL_FUZZ_INPUT_H */
