// SPDX-License-Identifier: GPL-2.0
/*
 * Long random histories of the active sender set, <quell/core/dart/set.h>, compared with the
 * model after every step: joins, ends, messages of one packet, senders that die, connections
 * without the option, several connections of a host, overlapping groups of several users that
 * are armed, time out and are deleted, weights that change.
 */
#include "dart_set_pair.h"
#include "random.h"
#include "test.h"

#define IDLE_NS		8000
#define PLAIN_IDLE_NS	800
#define MEMBERS_MOST	12

/* How often each step is taken, of a thousand. */
struct mix {
	const char *name;
	u32 data, end, close, group_add, group_del, weight;	/* the rest: time */
	u64 gap_ns;		/* longest step of time */
};

static void add_group(struct random_state *r, struct set_pair *x, u32 members_most)
{
	u32 hosts_nr = random_between(r, 1, quell_min_u64(members_most, x->model.hosts_nr));
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

static void step(struct random_state *r, struct set_pair *x, const struct mix *mix,
		 u32 members_most)
{
	u32 conn = random_between(r, 0, x->model.conns_nr - 1);
	u32 turn = random_between(r, 0, 999);

	if (turn < mix->data) {
		set_pair_open(x, conn, random_between(r, 0, x->model.hosts_nr - 1),
			      random_between(r, 0, x->model.users_nr - 1),
			      !random_between(r, 0, 3));
		set_pair_data(x, conn, random_between(r, 0, 2));
	} else if ((turn -= mix->data) < mix->end) {
		set_pair_end(x, conn);
	} else if ((turn -= mix->end) < mix->close) {
		set_pair_close(x, conn);
	} else if ((turn -= mix->close) < mix->group_add) {
		add_group(r, x, members_most);
	} else if ((turn -= mix->group_add) < mix->group_del) {
		set_pair_group_del(x, random_between(r, 0, x->model.groups_nr - 1));
	} else if ((turn -= mix->group_del) < mix->weight) {
		set_pair_weight(x, random_between(r, 0, x->model.hosts_nr - 1),
				random_magnitude(r, 1, QUELL_DASR_WEIGHT_MAX));
	} else {
		x->now_ns += random_magnitude(r, 0, mix->gap_ns);
		if (random_between(r, 0, 3))
			set_pair_expire(x);
	}
}

static void history(struct __test_metadata *_metadata, const struct mix *mix, u64 seed, u32 steps,
		    struct set_pair *x)
{
	u32 members_most = x->model.hosts_nr > 100 ? x->model.hosts_nr / 4 : MEMBERS_MOST;
	struct random_state r = { seed };
	const char *differs = NULL;
	u32 i;

	for (i = 0; i < steps && !differs; i++) {
		step(&r, x, mix, members_most);
		differs = set_pair_differs(x);
	}
	expect_eq(NULL, differs, "%s: %s, seed %llu, step %u", mix->name, differs, seed, i);
}

/* All ends: nothing is left, and the counters agree with each other. */
static void finish(struct __test_metadata *_metadata, const struct mix *mix, struct set_pair *x)
{
	u32 i;

	x->now_ns += 2 * IDLE_NS + 10000;
	set_pair_expire(x);
	expect_eq(NULL, set_pair_differs(x), "%s_after_all", mix->name);
	expect(!x->set.hosts && !x->set.weight && !x->set.armed && !x->set.ages[0].oldest &&
		       !x->set.ages[0].newest && !x->set.ages[1].oldest && !x->set.ages[1].newest &&
		       x->set.leaves + x->set.expiries >= x->set.joins,
	       "%s_empty_after_all", mix->name);
	for (i = 0; i < x->model.users_nr; i++) {
		expect_eq(0, x->users[i].waiting, "%s_user_waits_for_none", mix->name);
	}
	printf("# %s: joins %llu, leaves %llu, expiries %llu, armings %llu, absences %llu\n",
	       mix->name, x->set.joins, x->set.leaves, x->set.expiries, x->set.armings,
	       x->set.absences);
}

TEST(histories)
{
	static const struct mix mixes[] = {
		{ "all", 450, 150, 50, 30, 30, 40, 2000 },
		{ "churn", 550, 380, 20, 0, 0, 0, 100 },
		{ "groups", 350, 150, 20, 120, 120, 40, 500 },
		{ "weights", 400, 200, 20, 20, 10, 300, 500 },
		{ "deaths", 400, 10, 10, 10, 10, 10, 10000 },
	};
	struct { u32 hosts, conns, users, groups; } worlds[] = {
		{ 6, 20, 3, 6 }, { 1, 4, 1, 2 }, { 30, 30, 2, 8 }, { 3, 40, 4, 4 },
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(mixes); i++) {
		struct set_pair x;

		for (k = 0; k < ARRAY_SIZE(worlds); k++) {
			set_pair_init(&x, worlds[k].hosts, worlds[k].conns, worlds[k].users,
				      worlds[k].groups, IDLE_NS, PLAIN_IDLE_NS);
			history(_metadata, &mixes[i], 100 * i + k, 60000, &x);
			finish(_metadata, &mixes[i], &x);
			expect(x.set.joins && x.set.leaves && x.set.expiries, "%s_saw_all",
			       mixes[i].name);
			expect(!mixes[i].group_add || worlds[k].hosts < 30 ||
				       (x.set.armings > 1000 && x.set.absences > 1000),
			       "%s_saw_groups", mixes[i].name);
			set_pair_free(&x);
		}
	}
}

/* 10,000 senders, some with two connections, at once and in groups of up to 2,500. */
TEST(ten_thousand_senders)
{
	static const struct mix mix = { "ten_thousand", 600, 200, 20, 5, 5, 20, 20 };
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
	history(_metadata, &mix, 7, 8000, &x);
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
