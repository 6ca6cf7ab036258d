// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks of BPF maps against an algorithm's tables, by BTF made here.
 */
#include <stddef.h>

#include <bpf/btf.h>

#include "bpf_parts.h"
#include "test.h"

/*
 * The layout of this program: a struct in the block, and one field that no table has.  Rows name
 * a field of the inner struct by its path, or as the algorithm does that has no outer one.
 */
struct inner {
	u64	tokens_bytes;
	u64	gain_q16;
};

struct block {
	u64		base_ns;
	struct inner	vaisf;
	u64		derived;
};

static const struct quell_param_desc params[] = {
	{ .offset = offsetof(struct block, base_ns), .field = "base_ns" },
	{ .offset = offsetof(struct block, vaisf.gain_q16), .field = "vaisf.gain_q16" },
};

static const struct quell_counter_desc counters[] = {
	{ .offset = offsetof(struct block, vaisf.tokens_bytes), .field = "tokens_bytes" },
};

static const struct quell_core core = {
	.params = params,
	.params_nr = 2,
	.params_bytes = sizeof(struct block),
	.counters = counters,
	.counters_nr = 1,
	.counters_bytes = sizeof(struct block),
};

/* Differences of the other version. */
struct other {
	const char	*base;
	const char	*tokens;
	const char	*gain;
	int		base_bytes;
	int		more_bytes;
};

static const struct other same = {
	.base = "base_ns", .tokens = "tokens_bytes", .gain = "gain_q16", .base_bytes = 8,
};

/* A struct block as @o has it; the caller frees it. */
static struct btf *btf_of(const struct other *o, uint32_t *type_id)
{
	struct btf *btf = btf__new_empty();
	int u64_id = btf__add_int(btf, "unsigned long long", 8, 0);
	int u32_id = btf__add_int(btf, "unsigned int", 4, 0);
	int alias_id = btf__add_typedef(btf, "u64", u64_id);
	int inner_id = btf__add_struct(btf, "inner", sizeof(struct inner));

	btf__add_field(btf, o->tokens, alias_id, 0, 0);
	btf__add_field(btf, o->gain, alias_id, 64, 0);
	*type_id = btf__add_struct(btf, "block", sizeof(struct block) + o->more_bytes);
	btf__add_field(btf, o->base, o->base_bytes == 8 ? alias_id : u32_id, 0, 0);
	btf__add_field(btf, "vaisf", inner_id, 64, 0);
	btf__add_field(btf, "derived", alias_id, 192, 0);
	return btf;
}

static bool has_params(struct other o)
{
	uint32_t type_id;
	struct btf *btf = btf_of(&o, &type_id);
	bool has = bpf_has_params(btf, type_id, &core);

	btf__free(btf);
	return has;
}

static bool has_counters(struct other o)
{
	uint32_t type_id;
	struct btf *btf = btf_of(&o, &type_id);
	bool has = bpf_has_counters(btf, type_id, &core);

	btf__free(btf);
	return has;
}

TEST(same_version)
{
	EXPECT_TRUE(has_params(same));
	EXPECT_TRUE(has_counters(same));
}

/* The block is as large as before. */
TEST(another_name)
{
	struct other renamed = same, inside = same;

	renamed.base = "base_us";
	EXPECT_FALSE(has_params(renamed));
	EXPECT_TRUE(has_counters(renamed));
	inside.gain = "gain_q8";
	EXPECT_FALSE(has_params(inside));
	EXPECT_TRUE(has_counters(inside));
}

TEST(another_place)
{
	struct other swapped = same;

	swapped.tokens = same.gain;
	swapped.gain = same.tokens;
	EXPECT_FALSE(has_params(swapped));
	EXPECT_FALSE(has_counters(swapped));
}

/* A name is whole: "tokens_bytes" is no end of it. */
TEST(longer_name)
{
	struct other longer = same;

	longer.tokens = "all_tokens_bytes";
	EXPECT_FALSE(has_counters(longer));
}

TEST(another_size)
{
	struct other narrow = same, more = same;

	narrow.base_bytes = 4;
	EXPECT_FALSE(has_params(narrow));
	more.more_bytes = 8;
	EXPECT_FALSE(has_params(more));
	EXPECT_FALSE(has_counters(more));
}

/* A map without BTF, or of a plain number. */
TEST(no_struct)
{
	uint32_t type_id;
	struct btf *btf = btf_of(&same, &type_id);

	EXPECT_FALSE(bpf_has_params(btf, 0, &core));
	EXPECT_FALSE(bpf_has_params(btf, 1, &core));
	btf__free(btf);
}

TEST_HARNESS_MAIN
