// SPDX-License-Identifier: GPL-2.0
/*
 * The active sender set, <quell/core/dart/set.h>, by short histories: activity, expiry and bounds.
 * Groups and weights are compared with the model (test_dart_set_long.c); together they take every
 * branch.
 */
#include <string.h>

#include <quell/core/dart/set.h>

#include "test.h"

#define HOSTS		4
#define CONNS_PER_HOST	2
#define USERS		2
#define GROUPS		3
#define IDLE_NS		8000
#define PLAIN_IDLE_NS	800
#define GROUP_NS	500
#define ONE		256

static struct world {
	struct quell_dasr_set set;
	struct quell_dasr_sender hosts[HOSTS];
	struct quell_dasr_user users[USERS];
	struct quell_dasr_peer peers[HOSTS][USERS];
	struct quell_dasr_conn conns[HOSTS * CONNS_PER_HOST];
	struct quell_dasr_member members[GROUPS][HOSTS];
	struct quell_dasr_group groups[GROUPS];
	u64 now_ns;
} w;

static const struct quell_dasr_params params = { IDLE_NS, PLAIN_IDLE_NS, GROUP_NS };

static u32 index_of(char conn)
{
	return conn >= 'a' ? 2 * (conn - 'a') : 2 * (conn - 'A') + 1;
}

/* Hosts a to d, each with connections in small and capital letters; users own c and d last. */
static void start(void)
{
	u32 i;

	memset(&w, 0, sizeof(w));
	w.now_ns = 100000;
	for (i = 0; i < HOSTS; i++)
		w.hosts[i].weight = QUELL_DASR_WEIGHT_DEFAULT;
	for (i = 0; i < HOSTS * CONNS_PER_HOST; i++)
		w.conns[i].peer = &w.peers[i / CONNS_PER_HOST][0];
	for (i = 0; i < HOSTS * USERS; i++) {
		w.peers[i / USERS][i % USERS].sender = &w.hosts[i / USERS];
		w.peers[i / USERS][i % USERS].user = &w.users[i % USERS];
	}
}

/* Group number @number of @user has the hosts named. */
static void group(u32 number, u32 user, const char *hosts)
{
	struct quell_dasr_group *g = &w.groups[number];

	*g = (struct quell_dasr_group) {
		.members = w.members[number], .members_nr = strlen(hosts),
		.time_ns = GROUP_NS,
	};
	memset(w.members[number], 0, sizeof(w.members[number]));
	for (; *hosts; hosts++) {
		struct quell_dasr_member *member = &w.members[number][*hosts - 'a'];

		member = &w.members[number][g->members_nr - strlen(hosts)];
		member->peer = &w.peers[*hosts - 'a'][user];
		member->group = g;
	}
	quell_dasr_group_add(g);
}

static u64 n_of(char conn)
{
	return quell_dasr_n_q8(&w.set, &w.conns[index_of(conn)]);
}

static void data(char conn, bool more)
{
	quell_dasr_data(&w.set, &params, &w.conns[index_of(conn)], more, w.now_ns);
}

static void wait_ns(u64 ns)
{
	w.now_ns += ns;
	quell_dasr_expire(&w.set, &params, w.now_ns);
}

/*
 * A history: "+a" data of connection a with more behind it, "-a" the last of its data, ".a"
 * that all of its message has come, "|" one lifetime, ">" the rest of it, "~" that of a plain
 * connection and its eighth, "_" the time of a group, "," a nanosecond less, ";" a nanosecond.
 */
static void play(const char *history)
{
	for (; *history; history++) {
		switch (*history) {
		case '+': data(*++history, true); break;
		case '-': data(*++history, false); break;
		case '.': quell_dasr_end(&w.set, &w.conns[index_of(*++history)]); break;
		case '|': wait_ns(IDLE_NS); break;
		case '>': wait_ns(IDLE_NS / QUELL_DASR_TOUCHES); break;
		case '~': wait_ns(PLAIN_IDLE_NS + PLAIN_IDLE_NS / QUELL_DASR_TOUCHES); break;
		case '_': wait_ns(GROUP_NS); break;
		case ',': wait_ns(GROUP_NS - 1); break;
		case ';': wait_ns(1); break;
		}
	}
}

TEST(activity)
{
	static const struct {
		const char *name, *history;
		u32 hosts, joins, leaves, expiries;
		u64 n_q8;	/* of connection a */
	} cases[] = {
		{ "nothing", "", 0, 0, 0, 0, ONE },
		{ "message", "+a", 1, 1, 0, 0, ONE },
		{ "message_of_one_packet", "-a", 0, 0, 0, 0, ONE },
		{ "message_ends", "+a-a.a", 0, 1, 1, 0, ONE },
		{ "last_packet_does_not_end_it", "+a-a", 1, 1, 0, 0, ONE },
		{ "end_twice", "+a.a.a", 0, 1, 1, 0, ONE },
		{ "end_of_nothing", ".a", 0, 0, 0, 0, ONE },
		{ "two_hosts", "+a+b", 2, 2, 0, 0, 2 * ONE },
		{ "not_active_counts_itself", "+b+c", 2, 2, 0, 0, 3 * ONE },
		{ "one_host_twice", "+a+A", 1, 1, 0, 0, 2 * ONE },
		{ "one_host_twice_the_other_asks", "+A", 1, 1, 0, 0, 2 * ONE },
		{ "one_connection_of_two_ends", "+a+A.A", 1, 1, 0, 0, ONE },
		{ "the_first_of_two_ends", "+a+A.a", 1, 1, 0, 0, 2 * ONE },
		{ "both_end", "+a+A.a.A", 0, 1, 1, 0, ONE },
		{ "again", "+a.a+a.a+a", 1, 3, 2, 0, ONE },
		{ "middle_of_the_ages", "+a+b+c.b", 2, 3, 1, 0, 2 * ONE },
		{ "newest_of_the_ages", "+a+b+c.c.b", 1, 3, 2, 0, ONE },
		{ "oldest_of_the_ages", "+a+b+c.a", 2, 3, 1, 0, 3 * ONE },
		{ "dead", "+a|>", 0, 1, 0, 1, ONE },
		{ "not_dead_yet", "+a|", 1, 1, 0, 0, ONE },
		{ "both_connections_dead", "+a+A|>", 0, 1, 0, 2, ONE },
		{ "data_keeps_alive", "+a>+a|", 1, 1, 0, 0, ONE },
		{ "last_data_keeps_alive", "+a>-a|", 1, 1, 0, 0, ONE },
		{ "data_keeps_alive_for_its_time", "+a>+a|>", 0, 1, 0, 1, ONE },
		/* Data within an eighth of the lifetime do not count. */
		{ "data_at_once", "+a+a|,_", 1, 1, 0, 0, ONE },
		{ "data_at_once_dies", "+a;+a|,_", 0, 1, 0, 1, ONE },
		{ "only_the_dead", "+a+b>+a|", 1, 2, 0, 1, ONE },
		{ "returns", "+a|>+a", 1, 2, 0, 1, ONE },
		{ "end_after_death", "+a|>.a", 0, 1, 0, 1, ONE },
	};

	for_each_row(row, cases) {
		start();
		play(row->history);
		expect(w.set.hosts == row->hosts && w.set.weight == row->hosts, "%s_hosts",
		       row->name);
		expect(w.set.joins == row->joins && w.set.leaves == row->leaves &&
			       w.set.expiries == row->expiries,
		       "%s_counters", row->name);
		expect_eq(row->n_q8, n_of('a'), "%s_n", row->name);
	}
}

/* Connections without the option expire earlier, independent of the others. */
TEST(plain)
{
	start();
	w.conns[index_of('b')].plain = true;
	play("+a+b");
	expect_eq(2, w.set.hosts, "plain_counts");
	wait_ns(PLAIN_IDLE_NS + PLAIN_IDLE_NS / QUELL_DASR_TOUCHES - 1);
	expect_eq(2, w.set.hosts, "plain_is_alive");
	wait_ns(1);
	expect(w.set.hosts == 1 && w.set.expiries == 1, "plain_is_dead");
	play("+b");
	w.now_ns += 100;
	play("+b");
	wait_ns(899);
	expect_eq(2, w.set.hosts, "plain_lives_on_by_its_data");
	wait_ns(1);
	expect_eq(1, w.set.hosts, "plain_is_dead_again");
	play("+b.b");
	expect(!quell_dasr_is_fresh(&w.conns[index_of('b')], &params, w.now_ns),
	       "ended_is_not_fresh");
}

/* A clock that other processors are ahead of does no harm. */
TEST(clock_behind)
{
	start();
	play("+a");
	w.now_ns -= 50000;
	play("+a;+b");
	expect_eq(2, w.set.hosts, "earlier_than_the_last");
	w.now_ns += 50000;
	play("|>");
	expect_eq(0, w.set.hosts, "both_die");
}

/* A group's time may be as long as it likes. */
TEST(deadline_saturates)
{
	const struct quell_dasr_params p = { IDLE_NS, PLAIN_IDLE_NS, QUELL_U64_MAX };

	start();
	group(0, 0, "ab");
	w.groups[0].time_ns = QUELL_U64_MAX;
	quell_dasr_data(&w.set, &p, &w.conns[0], true, w.now_ns);
	play(">");
	expect(w.groups[0].deadline_ns == QUELL_U64_MAX && w.users[0].waiting == 1,
	       "waits_for_ever");
}

/* The limit at the start of a group's wait bounds its requested time. */
TEST(allowed_time)
{
	struct quell_dasr_params p = params;

	start();
	group(0, 0, "ab");
	p.lookahead_ns = GROUP_NS / 2;
	quell_dasr_data(&w.set, &p, &w.conns[0], false, w.now_ns);
	expect(w.groups[0].waiting == 1 && w.groups[0].deadline_ns == w.now_ns + GROUP_NS / 2,
	       "waits_as_long_as_is_allowed");
	quell_dasr_data(&w.set, &params, &w.conns[2], false, w.now_ns);
	p.lookahead_ns = 2 * GROUP_NS;
	quell_dasr_data(&w.set, &p, &w.conns[0], false, w.now_ns);
	expect_eq(w.now_ns + GROUP_NS, w.groups[0].deadline_ns, "waits_as_long_as_it_asked");
	start();
	group(0, 0, "ab");
	p.lookahead_ns = 0;
	quell_dasr_data(&w.set, &p, &w.conns[0], true, w.now_ns);
	expect(!w.groups[0].waiting && !w.set.armed && n_of('a') == ONE,
	       "waits_not_if_not_allowed");
}

/* A run drops a part of the dead entries, the oldest first, and reports that there are more. */
TEST(expiry_is_bounded)
{
	static struct quell_dasr_conn conns[2 * QUELL_DASR_EXPIRE_MOST + 1];
	const u32 most = QUELL_DASR_EXPIRE_MOST;
	u32 i;

	start();
	memset(conns, 0, sizeof(conns));
	for (i = 0; i < ARRAY_SIZE(conns); i++) {
		conns[i].peer = &w.peers[i % HOSTS][0];
		conns[i].plain = i >= most + 1;
		quell_dasr_data(&w.set, &params, &conns[i], true, w.now_ns);
	}
	w.now_ns += 2 * IDLE_NS;
	expect(quell_dasr_expire(&w.set, &params, w.now_ns) && w.set.expiries == most &&
		       !conns[most - 1].active && conns[most].active && w.set.hosts == HOSTS,
	       "a_run");
	expect(quell_dasr_expire(&w.set, &params, w.now_ns) && w.set.expiries == 2 * most &&
		       conns[2 * most].active && w.set.hosts == 1,
	       "second_run");
	expect(!quell_dasr_expire(&w.set, &params, w.now_ns) && w.set.expiries == 2 * most + 1 &&
		       !w.set.hosts,
	       "last_run");
}

/* A group is disarmed in full, also at the end of a run. */
TEST(groups_share_the_bound)
{
	static struct quell_dasr_conn conns[QUELL_DASR_EXPIRE_MOST - 1];

	start();
	memset(conns, 0, sizeof(conns));
	group(0, 0, "bc");
	group(1, 0, "bd");
	play("+b");
	for_each_row(row, conns) {
		row->peer = &w.peers[0][0];
		row->plain = true;
		quell_dasr_data(&w.set, &params, row, true, w.now_ns);
	}
	w.now_ns += 2 * PLAIN_IDLE_NS;
	expect(quell_dasr_expire(&w.set, &params, w.now_ns) &&
		       w.set.expiries == ARRAY_SIZE(conns) && w.set.absences == 1 &&
		       w.users[0].waiting == 1 && w.set.armed && !w.set.armed->older,
	       "one_group");
	expect(!quell_dasr_expire(&w.set, &params, w.now_ns) && w.set.absences == 2 &&
		       !w.users[0].waiting && !w.set.armed,
	       "other_group");
}

/* The most hosts at one time; a message of one packet counts when it is received. */
TEST(most_hosts)
{
	static const struct {
		const char *name, *history;
		u32 most, then;
	} cases[] = {
		{ "no_host", "", 0, 0 },
		{ "one_host", "+a+A", 1, 1 },
		{ "two_hosts", "+a+b.b", 2, 1 },
		{ "one_after_the_other", "+a.a+b", 1, 1 },
		{ "one_packet", "-a", 1, 0 },
		{ "one_packet_beside", "+a-b", 2, 1 },
		{ "one_packet_of_the_same_host", "+a-A", 1, 1 },
		{ "expired", "+a+b|>", 2, 0 },
	};

	for_each_row(row, cases) {
		start();
		play(row->history);
		expect_eq(row->most, quell_dasr_take_most(&w.set), "%s", row->name);
		expect_eq(row->then, quell_dasr_take_most(&w.set), "%s", row->name);
	}
}

TEST_HARNESS_MAIN
