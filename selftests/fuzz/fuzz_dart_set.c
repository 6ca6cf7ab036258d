// SPDX-License-Identifier: GPL-2.0
/*
 * Drives <quell/core/dart/set.h> with data and ends of connections, groups, weights and time,
 * and stops where it differs from the model, which counts everything anew after each step.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/dart_set_pair.h"
#include "input.h"

#define HOSTS		8
#define CONNS		16
#define USERS		3
#define GROUPS		4
#define IDLE_NS		8000
#define PLAIN_IDLE_NS	800
#define STEPS_MOST	200

static void add_group(struct input *in, struct set_pair *x, u32 group)
{
	u8 user = take_byte(in) % USERS, chosen = take_byte(in);
	u32 hosts[HOSTS], hosts_nr = 0, i;

	for (i = 0; i < HOSTS; i++)
		if (chosen >> i & 1)
			hosts[hosts_nr++] = i;
	if (hosts_nr)
		set_pair_group_add(x, group, user, take(in, 13), hosts, hosts_nr);
}

static void data(struct input *in, struct set_pair *x, u32 conn, bool more)
{
	if (!x->conns[conn]) {
		u8 whose = take_byte(in);

		set_pair_open(x, conn, whose % HOSTS, whose / HOSTS % USERS, whose & 0x80);
	}
	set_pair_data(x, conn, more);
}

static void step(struct input *in, struct set_pair *x)
{
	u8 what = take_byte(in), which = what & 0xf;

	switch (what >> 4) {
	case 0: case 1: case 2: case 3: case 4:
		data(in, x, which, true);
		break;
	case 5: case 6:
		data(in, x, which, false);
		break;
	case 7: case 8:
		set_pair_end(x, which);
		break;
	case 9:
		set_pair_close(x, which);
		break;
	case 10: case 11:
		add_group(in, x, which % GROUPS);
		break;
	case 12:
		set_pair_group_del(x, which % GROUPS);
		break;
	case 13:
		set_pair_weight(x, which % HOSTS, take_between(in, 1, QUELL_DASR_WEIGHT_MAX));
		break;
	case 14:
		x->now_ns += which & 0x8 ? take(in, 15) : which * PLAIN_IDLE_NS / 8;
		break;
	default:
		x->now_ns += which * IDLE_NS / 8;
		set_pair_expire(x);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	const char *differs = NULL;
	struct set_pair x;
	u32 steps;

	set_pair_init(&x, HOSTS, CONNS, USERS, GROUPS, IDLE_NS, PLAIN_IDLE_NS);
	for (steps = 0; steps < STEPS_MOST && in.size && !differs; steps++) {
		step(&in, &x);
		differs = set_pair_differs(&x);
	}
	if (differs) {
		fprintf(stderr, "broken: %s\n", differs);
		abort();
	}
	set_pair_free(&x);
	return 0;
}
