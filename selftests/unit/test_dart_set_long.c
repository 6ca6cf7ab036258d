// SPDX-License-Identifier: GPL-2.0
/*
 * The active sender set, <quell/core/dart/set.h>, compared with the model after every step: with
 * few senders, groups and users that overlap, and with ten thousand.
 */
#include "dart_set_pair.h"
#include "random.h"
#include "test.h"

static void add_group(struct random_state *r, struct set_pair *x)
{
	u32 hosts_nr = random_between(r, 1, x->model.hosts_nr / 4 + 3);
	u32 first = random_between(r, 0, x->model.hosts_nr - 1), i;
	u32 *hosts = calloc(hosts_nr, sizeof(*hosts));

	/* Neighbours, from anywhere: groups overlap, and no host is a member twice. */
	for (i = 0; i < hosts_nr; i++)
		hosts[i] = (first + i) % x->model.hosts_nr;
	set_pair_group_add(x, random_between(r, 0, x->model.groups_nr - 1),
			   random_between(r, 0, x->model.users_nr - 1),
			   random_magnitude(r, 0, 4000), hosts, hosts_nr);
	free(hosts);
}

static void step(struct random_state *r, struct set_pair *x, u64 most_ns)
{
	u32 conn = random_between(r, 0, x->model.conns_nr - 1);
	u32 turn = random_between(r, 0, 999);

	if (turn < 600) {
		set_pair_open(x, conn, random_between(r, 0, x->model.hosts_nr - 1),
			      random_between(r, 0, x->model.users_nr - 1),
			      !random_between(r, 0, 3));
		set_pair_data(x, conn, random_between(r, 0, 2));
	} else if (turn < 800) {
		set_pair_end(x, conn);
	} else if (turn < 820) {
		set_pair_close(x, conn);
	} else if (turn < 830) {
		add_group(r, x);
	} else if (turn < 835) {
		set_pair_group_del(x, random_between(r, 0, x->model.groups_nr - 1));
	} else if (turn < 850) {
		set_pair_weight(x, random_between(r, 0, x->model.hosts_nr - 1),
				random_magnitude(r, 1, QUELL_DASR_WEIGHT_MAX));
	} else {
		x->now_ns += random_magnitude(r, 0, most_ns);
		if (random_between(r, 0, 3))
			set_pair_expire(x);
	}
}

/* 8 senders, 3 users of them and 4 groups of up to 5. */
TEST(few_senders)
{
	struct random_state r = { 9 };
	const char *differs = NULL;
	u32 world, i = 0;

	for (world = 0; world < 400 && !differs; world++) {
		struct set_pair x;

		set_pair_init(&x, 8, 16, 3, 4, 8000, 800);
		for (i = 0; i < 500 && !differs; i++) {
			step(&r, &x, 3000);
			differs = set_pair_differs(&x);
		}
		set_pair_free(&x);
	}
	expect_eq(NULL, differs, "%s, world %u, step %u", differs, world, i);
}

/* 10,000 senders, some with two connections, at once and in groups of up to 2,500. */
TEST(ten_thousand_senders)
{
	struct random_state r = { 7 };
	const char *differs = NULL;
	struct set_pair x;
	u32 i;

	set_pair_init(&x, 10000, 12000, 2, 6, 1000000, 100000);
	for (i = 0; i < 12000; i++) {
		set_pair_open(&x, i, i % 10000, i % 2, !(i % 7));
		set_pair_data(&x, i, true);
	}
	expect(x.set.hosts == 10000 && x.set.weight == 10000, "ten_thousand_are_active");
	/* Of 10,000 hosts the first 2,000 have two connections. */
	expect(quell_dasr_n_q8(&x.set, x.conns[0]) == 2 * 10000 * 256 &&
		       quell_dasr_n_q8(&x.set, x.conns[5000]) == 10000 * 256,
	       "ten_thousand_share");
	for (i = 0; i < 8000 && !differs; i++) {
		step(&r, &x, 20);
		differs = set_pair_differs(&x);
	}
	expect_eq(NULL, differs, "%s, step %u", differs, i);
	x.now_ns += 112499;
	set_pair_expire(&x);
	expect_eq(NULL, set_pair_differs(&x), "ten_thousand_expiry");
	for (i = 0; i < 12000; i++)
		set_pair_close(&x, i);
	expect(!x.set.hosts && !x.set.weight, "ten_thousand_leave");
	expect_eq(NULL, set_pair_differs(&x), "ten_thousand_left");
	set_pair_free(&x);
}

TEST_HARNESS_MAIN
