/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DASR: the active unique sender set of a receiver (Dart, sections III-A, III-B, III-D).
 *
 * The set counts the hosts that send to this one now, by weight.  A host counts once however
 * many of its connections send.  Dart counts messages from their start to their end; TCP has
 * lost and reordered packets, so here a connection is active by level instead of by edge:
 *
 *	active		its newest data packet had more behind it (the option's MORE), or
 *			a packet before it is missing
 *	expired		no data for `idle' (2 s in the paper): the sender has died, or does not
 *			use its part; it counts again with its next data
 *
 * A connection to a peer without the option is active from a data packet with more
 * behind it (without PSH) until it has sent no data for `plain_idle'.
 *
 * n of a connection = weight of all active hosts / weight of its own host
 *		       * connections of its host that are active
 *
 * The last factor is not in the paper, where a host's NIC serialises its messages: the
 * connections of one host share that host's part of the line.
 *
 * Look-ahead (section III-D): an application registers a group of hosts.  When a message of
 * any member begins, all members count as active at once, until each begins a message of its
 * own (from then on it counts as any other) or until the group's time has passed.  A member
 * that let the time pass is not waited for again before it has sent a message: a group of
 * hosts that never send costs that time once.  All of this is about messages to sockets of the user
 * that registered the group, and members count only in n of such connections: one user's groups
 * have no cost for packets of others.
 *
 * Work of a packet: the memberships of its host in groups of its user, the members of those of
 * them that begin to wait, and, when the host turns active or inactive, one step per user that
 * waits for it.  The caller bounds all three.
 *
 * Objects belong to the caller, which allocates them, finds the sender of an address, and
 * serialises all calls for a set.
 */
#ifndef _QUELL_CORE_DART_SET_H
#define _QUELL_CORE_DART_SET_H

#include <quell/core/dart/share.h>
#include <quell/core/lib/math.h>

#define QUELL_DASR_WEIGHT_DEFAULT	1U
#define QUELL_DASR_WEIGHT_MAX		255U
/* A connection is moved in the list of its age once per this part of its lifetime. */
#define QUELL_DASR_TOUCHES		8
/*
 * Connections and members that one run of quell_dasr_expire() drops, a group in full: the
 * caller holds up an interface meanwhile.  A run takes microseconds.
 */
#define QUELL_DASR_EXPIRE_MOST		64

struct quell_dasr_member;
struct quell_dasr_peer;

/* A host; zero at first, but for @weight. */
struct quell_dasr_sender {
	/* The users' entries of it with groups that wait for it. */
	struct quell_dasr_peer	*awaited;
	u32			active;	/* its active connections */
	u32			weight;	/* 1 .. QUELL_DASR_WEIGHT_MAX */
};

/* A user with sockets or groups; zero at first. */
struct quell_dasr_user {
	u64	waiting;	/* weight of inactive hosts that the user's groups wait for */
};

/* A host as one user knows it; zero at first, but for @sender and @user. */
struct quell_dasr_peer {
	struct quell_dasr_sender	*sender;
	struct quell_dasr_user		*user;
	/* Memberships of the host in groups of the user. */
	struct quell_dasr_member	*members;
	u32				active;	/* connections of the host to sockets of the user */
	/* Groups of the user that wait for the host. */
	u32				waiting;
	/* In quell_dasr_sender.awaited, waited for earlier. */
	struct quell_dasr_peer		*older;
	struct quell_dasr_peer		*newer;	/* waited for later */
};

/* A connection; zero at first, but for @peer. */
struct quell_dasr_conn {
	struct quell_dasr_peer	*peer;	/* as the owner of the receiving socket knows it */
	struct quell_dasr_conn	*older;	/* in quell_dasr_set.ages */
	struct quell_dasr_conn	*newer;
	/* Newest data, rounded down to a part of its lifetime. */
	u64			touched_ns;
	bool			active;
	/* Its peer does not use the option; constant while @active. */
	bool			plain;
};

struct quell_dasr_group;

/* A host in a group. */
struct quell_dasr_member {
	struct quell_dasr_peer		*peer;	/* of the user that registered the group */
	struct quell_dasr_group		*group;
	/* Membership of the same host in groups of the same user. */
	struct quell_dasr_member	*next;
	bool				waiting;	/* for a message of the host */
	bool				absent;	/* it let the group's time pass without a message */
};

/* Hosts of which an application expects messages at one time. */
struct quell_dasr_group {
	struct quell_dasr_member	*members;
	u32				members_nr;
	u32				waiting;	/* members that are waited for */
	/* Members to wait for: neither sending to the user nor absent. */
	u32				idle;
	/* How long members are waited for if it is allowed. */
	u64				time_ns;
	u64				deadline_ns;	/* while @waiting */
	struct quell_dasr_group		*older;	/* in quell_dasr_set.armed, armed earlier */
	struct quell_dasr_group		*newer;	/* armed later */
};

/* Connections by age, least recently active first. */
struct quell_dasr_ages {
	struct quell_dasr_conn	*oldest;
	struct quell_dasr_conn	*newest;
};

/* The active senders of an interface; zero at first. */
struct quell_dasr_set {
	u64			weight;	/* of all active hosts */
	u32			hosts;	/* active */
	u32			hosts_most;	/* at one time, since quell_dasr_take_most() */
	/* Active connections; those without the option apart. */
	struct quell_dasr_ages	ages[2];
	struct quell_dasr_group	*armed;	/* groups that wait for members */
	/* From here on free-running: hosts that became active. */
	u64			joins;
	u64			leaves;	/* hosts inactive after a message or a close */
	u64			expiries;	/* connections that died in a message */
	u64			armings;	/* times a group's members were counted ahead */
	u64			absences;	/* members for which a group waited in vain */
};

/* Soft state. */
struct quell_dasr_params {
	u64	idle_ns;	/* without data after which a connection is dead, > 0 */
	u64	plain_idle_ns;	/* the same for one without the option, > 0 */
	u64	lookahead_ns;	/* longest time that a group waits; 0: no group does */
};

static inline u64 quell_dasr_life_ns(const struct quell_dasr_params *p, bool plain)
{
	return plain ? p->plain_idle_ns : p->idle_ns;
}

static inline void quell_dasr_age_add(struct quell_dasr_set *set, struct quell_dasr_conn *conn)
{
	struct quell_dasr_ages *ages = &set->ages[conn->plain];

	conn->newer = NULL;
	conn->older = ages->newest;
	if (ages->newest)
		ages->newest->newer = conn;
	else
		ages->oldest = conn;
	ages->newest = conn;
}

static inline void quell_dasr_age_del(struct quell_dasr_set *set, struct quell_dasr_conn *conn)
{
	struct quell_dasr_ages *ages = &set->ages[conn->plain];

	if (conn->older)
		conn->older->newer = conn->newer;
	else
		ages->oldest = conn->newer;
	if (conn->newer)
		conn->newer->older = conn->older;
	else
		ages->newest = conn->older;
	conn->older = NULL;
	conn->newer = NULL;
}

static inline void quell_dasr_armed_add(struct quell_dasr_set *set,
					struct quell_dasr_group *group)
{
	group->newer = NULL;
	group->older = set->armed;
	if (set->armed)
		set->armed->newer = group;
	set->armed = group;
}

static inline void quell_dasr_armed_del(struct quell_dasr_set *set,
					struct quell_dasr_group *group)
{
	if (group->newer)
		group->newer->older = group->older;
	else
		set->armed = group->older;
	if (group->older)
		group->older->newer = group->newer;
	group->older = NULL;
	group->newer = NULL;
}

/* The first of a user's groups waits for a host: unless it is active, it counts for the user. */
static inline void quell_dasr_awaited_add(struct quell_dasr_peer *peer)
{
	struct quell_dasr_sender *sender = peer->sender;

	peer->newer = NULL;
	peer->older = sender->awaited;
	if (sender->awaited)
		sender->awaited->newer = peer;
	sender->awaited = peer;
	if (!sender->active)
		peer->user->waiting += sender->weight;
}

static inline void quell_dasr_awaited_del(struct quell_dasr_peer *peer)
{
	struct quell_dasr_sender *sender = peer->sender;

	if (peer->newer)
		peer->newer->older = peer->older;
	else
		sender->awaited = peer->older;
	if (peer->older)
		peer->older->newer = peer->newer;
	peer->older = NULL;
	peer->newer = NULL;
	if (!sender->active)
		peer->user->waiting -= sender->weight;
}

/* Waits for a member.  Callers put the group into @armed. */
static inline void quell_dasr_await(struct quell_dasr_member *member)
{
	if (!member->peer->waiting++)
		quell_dasr_awaited_add(member->peer);
	member->waiting = true;
	member->group->waiting++;
}

/* Waits no longer; the group is disarmed with its last member. */
static inline void quell_dasr_await_no_more(struct quell_dasr_set *set,
					    struct quell_dasr_member *member)
{
	struct quell_dasr_group *group = member->group;

	if (!member->waiting)
		return;
	member->waiting = false;
	if (!--member->peer->waiting)
		quell_dasr_awaited_del(member->peer);
	if (!--group->waiting)
		quell_dasr_armed_del(set, group);
}

/*
 * A message of @first begins while a group of it does not wait: the others are expected, of whom
 * one at least neither sends to the user nor is absent.
 */
static __rare void quell_dasr_arm(struct quell_dasr_set *set, struct quell_dasr_group *group,
				  const struct quell_dasr_peer *first, u64 deadline_ns)
{
	u32 i;

	for (i = 0; i < group->members_nr; i++) {
		struct quell_dasr_member *member = &group->members[i];

		if (member->peer != first && !member->peer->active && !member->absent)
			quell_dasr_await(member);
	}
	group->deadline_ns = deadline_ns;
	quell_dasr_armed_add(set, group);
	set->armings++;
}

/*
 * A message of a host to a user begins, of one packet or more.  The user waits for it no longer;
 * groups of that user that were not waiting now wait for their other members, no longer than is
 * allowed now, even if more was allowed when they were registered.
 */
static __rare void quell_dasr_begin(struct quell_dasr_set *set,
				    const struct quell_dasr_params *p,
				    struct quell_dasr_peer *peer, u64 now_ns)
{
	struct quell_dasr_member *member;
	struct quell_dasr_group *group;
	u64 time_ns;

	for (member = peer->members; member; member = member->next) {
		group = member->group;
		/* Messages are frequent: members are visited only if one may be awaited. */
		time_ns = quell_min_u64(group->time_ns, p->lookahead_ns);
		if (p->lookahead_ns && !group->waiting &&
		    group->idle > (!peer->active && !member->absent))
			quell_dasr_arm(set, group, peer, quell_add_sat_u64(now_ns, time_ns));
		if (!peer->active && member->absent)
			group->idle++;
		member->absent = false;
		quell_dasr_await_no_more(set, member);
	}
}

/* A host sends to a user now, or no longer: his groups may wait for it no longer, or again. */
static inline void quell_dasr_update_peer(struct quell_dasr_peer *peer)
{
	struct quell_dasr_member *member;

	for (member = peer->members; member; member = member->next)
		member->group->idle += peer->active ? -1 : 1;
}

static inline void quell_dasr_note_hosts(struct quell_dasr_set *set, u32 hosts)
{
	if (set->hosts_most < hosts)
		set->hosts_most = hosts;
}

/* The most hosts that were active at one time since the last call. */
static inline u32 quell_dasr_take_most(struct quell_dasr_set *set)
{
	u32 most = set->hosts_most;

	set->hosts_most = set->hosts;
	return most;
}

/*
 * A host became active, or ceased to be: it counts by itself, or again in groups that wait for it.
 */
static inline void quell_dasr_update_host(struct quell_dasr_set *set,
					  struct quell_dasr_sender *sender)
{
	u64 change = sender->active ? sender->weight : -(u64)sender->weight;
	struct quell_dasr_peer *peer;

	set->weight += change;
	set->hosts += sender->active ? 1 : -1;
	quell_dasr_note_hosts(set, set->hosts);
	for (peer = sender->awaited; peer; peer = peer->older)
		peer->user->waiting -= change;
}

/* A connection is active from now on. */
static __rare void quell_dasr_join(struct quell_dasr_set *set, struct quell_dasr_conn *conn,
				   u64 now_ns)
{
	conn->active = true;
	conn->touched_ns = now_ns;
	quell_dasr_age_add(set, conn);
	if (!conn->peer->active++)
		quell_dasr_update_peer(conn->peer);
	if (conn->peer->sender->active++)
		return;
	quell_dasr_update_host(set, conn->peer->sender);
	set->joins++;
}

/* Once per message, not per packet. */
static __rare void quell_dasr_drop(struct quell_dasr_set *set, struct quell_dasr_conn *conn)
{
	conn->active = false;
	quell_dasr_age_del(set, conn);
	if (!--conn->peer->active)
		quell_dasr_update_peer(conn->peer);
	if (!--conn->peer->sender->active)
		quell_dasr_update_host(set, conn->peer->sender);
}

/* Active, with data so recently that more needs no note; such a connection does not expire. */
static inline bool quell_dasr_is_fresh(const struct quell_dasr_conn *conn,
				       const struct quell_dasr_params *p, u64 now_ns)
{
	return conn->active && quell_sub_sat_u64(now_ns, conn->touched_ns) <
			       quell_dasr_life_ns(p, conn->plain) / QUELL_DASR_TOUCHES;
}

/*
 * Dart, figure 4(a).  Data of an inactive connection begins a message; the connection becomes
 * active if more follows.  It never becomes inactive here, because a packet before this one may be
 * missing: see quell_dasr_end().  The caller serialises per set, here and below.
 */
static inline void quell_dasr_data(struct quell_dasr_set *set,
				   const struct quell_dasr_params *p,
				   struct quell_dasr_conn *conn, bool more, u64 now_ns)
{
	if (!conn->active) {
		if (conn->peer->members)
			quell_dasr_begin(set, p, conn->peer, now_ns);
		if (more)
			quell_dasr_join(set, conn, now_ns);
		else if (!conn->peer->sender->active)
			quell_dasr_note_hosts(set, set->hosts + 1);
		return;
	}
	if (quell_dasr_is_fresh(conn, p, now_ns))
		return;
	quell_dasr_age_del(set, conn);
	conn->touched_ns = now_ns;
	quell_dasr_age_add(set, conn);
}

/* Dart, figure 4(b).  The message has ended, all of it, or the connection has. */
static inline void quell_dasr_end(struct quell_dasr_set *set, struct quell_dasr_conn *conn)
{
	if (!conn->active)
		return;
	quell_dasr_drop(set, conn);
	if (!conn->peer->sender->active)
		set->leaves++;
}

static inline bool quell_dasr_is_dead(const struct quell_dasr_conn *conn,
				      const struct quell_dasr_params *p, u64 now_ns)
{
	u64 life_ns = quell_dasr_life_ns(p, conn->plain);

	/* @touched_ns may be older than the newest data by a part of the lifetime. */
	life_ns = quell_add_sat_u64(life_ns, life_ns / QUELL_DASR_TOUCHES);
	return quell_sub_sat_u64(now_ns, conn->touched_ns) >= life_ns;
}

/* Drops dead connections, at most @room.  Return: how many more could be dropped. */
static inline u32 quell_dasr_expire_conns(struct quell_dasr_set *set,
					  const struct quell_dasr_params *p, bool plain,
					  u64 now_ns, u32 room)
{
	struct quell_dasr_conn *oldest;

	for (; room; room--) {
		oldest = set->ages[plain].oldest;
		if (!oldest || !quell_dasr_is_dead(oldest, p, now_ns))
			break;
		quell_dasr_drop(set, oldest);
		set->expiries++;
	}
	return room;
}

/* The group's time has passed: members that sent no message do not count any longer. */
static __rare void quell_dasr_disarm(struct quell_dasr_set *set, struct quell_dasr_group *group,
				     bool absent)
{
	u32 i;

	for (i = 0; i < group->members_nr && group->waiting; i++) {
		if (!group->members[i].waiting)
			continue;
		group->members[i].absent = absent;
		group->idle -= absent;
		set->absences += absent;
		quell_dasr_await_no_more(set, &group->members[i]);
	}
}

/*
 * Dart, sections III-B and III-E: soft state.  A connection ends between one and 1 + 1/8 lifetimes
 * after its last data.  The work is proportional to the expired connections, of which a run takes
 * QUELL_DASR_EXPIRE_MOST and the rest of the last group, and to the groups that wait.  Returns
 * whether more may have expired; the caller calls again when others had their turn.
 */
static __rare bool quell_dasr_expire(struct quell_dasr_set *set,
				     const struct quell_dasr_params *p, u64 now_ns)
{
	struct quell_dasr_group *group, *older;
	u32 room = QUELL_DASR_EXPIRE_MOST;

	room = quell_dasr_expire_conns(set, p, false, now_ns, room);
	room = quell_dasr_expire_conns(set, p, true, now_ns, room);
	for (group = set->armed; group && room; group = older) {
		older = group->older;
		if (now_ns < group->deadline_ns)
			continue;
		room -= quell_min_u64(room, group->members_nr);
		quell_dasr_disarm(set, group, true);
	}
	return !room;
}

/*
 * Dart, section III-A, with weights: at least QUELL_SHARE_ONE_Q8, rounded up.  An inactive
 * connection counts as if it were active.
 */
static inline u64 quell_dasr_n_q8(const struct quell_dasr_set *set,
				  const struct quell_dasr_conn *conn)
{
	const struct quell_dasr_sender *sender = conn->peer->sender;
	u64 weight = set->weight + conn->peer->user->waiting;
	u32 conns = sender->active + !conn->active;

	if (!sender->active && !conn->peer->waiting)
		weight += sender->weight;
	return quell_mul_div_ceil_u64(weight * QUELL_SHARE_ONE_Q8, conns, sender->weight);
}

/* Members are all of one user, no host twice; @time_ns is set. */
static inline void quell_dasr_group_add(struct quell_dasr_group *group)
{
	u32 i;

	for (i = 0; i < group->members_nr; i++) {
		struct quell_dasr_member *member = &group->members[i];

		group->idle += !member->peer->active;
		member->next = member->peer->members;
		member->peer->members = member;
	}
}

/* @group is in use no more when this returns. */
static inline void quell_dasr_group_del(struct quell_dasr_set *set,
					struct quell_dasr_group *group)
{
	struct quell_dasr_member **at;
	u32 i;

	quell_dasr_disarm(set, group, false);
	for (i = 0; i < group->members_nr; i++) {
		at = &group->members[i].peer->members;
		while (*at != &group->members[i])
			at = &(*at)->next;
		*at = group->members[i].next;
	}
}

/* @weight is 1 .. QUELL_DASR_WEIGHT_MAX. */
static inline void quell_dasr_set_weight(struct quell_dasr_set *set,
					 struct quell_dasr_sender *sender, u32 weight)
{
	u64 change = (u64)weight - sender->weight;
	struct quell_dasr_peer *peer;

	if (sender->active)
		set->weight += change;
	else
		for (peer = sender->awaited; peer; peer = peer->older)
			peer->user->waiting += change;
	sender->weight = weight;
}

#endif /* _QUELL_CORE_DART_SET_H */
