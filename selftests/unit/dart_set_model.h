/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The active sender set of Dart, written from the paper (sections III-A, III-B, III-D) and
 * from the description in <quell/core/dart/set.h>, not from its code: a list of connections
 * and a list of groups, and everything is counted anew from them whenever it is asked for.
 *
 * A connection dies between one and 1 + 1/8 lifetimes after its last data.  In between the
 * model does as the set does, set_model_follow().
 */
#ifndef _QUELL_TEST_DART_SET_MODEL_H
#define _QUELL_TEST_DART_SET_MODEL_H

#include <stdlib.h>
#include <string.h>

#include <quell/core/lib/types.h>

struct set_model_conn {
	u32 host, user;
	bool open, active, plain;
	u64 newest_ns;		/* arrival of the newest data */
};

struct set_model_member {
	u32 host;
	bool waiting, absent;
};

struct set_model_group {
	bool there;
	u32 user, members_nr;
	u64 time_ns, deadline_ns;
	struct set_model_member *members;
};

struct set_model {
	u32 hosts_nr, conns_nr, users_nr, groups_nr;
	u32 *weights;		/* of hosts */
	struct set_model_conn *conns;
	struct set_model_group *groups;
	u64 idle_ns, plain_idle_ns, lookahead_ns;
	u64 joins, leaves, expiries, armings, absences;
};

/* Active connections of each host, and for each user the expected hosts. */
struct set_model_count {
	u32 *conns;		/* [host] */
	bool *awaited;		/* [user * hosts_nr + host] */
	u64 *waiting;		/* [user] weight */
	u64 weight;
	u32 hosts;
};

static inline void set_model_init(struct set_model *m, u32 hosts, u32 conns, u32 users,
				  u32 groups)
{
	u32 i;

	*m = (struct set_model) {
		.hosts_nr = hosts, .conns_nr = conns, .users_nr = users, .groups_nr = groups,
		.weights = calloc(hosts, sizeof(*m->weights)),
		.conns = calloc(conns, sizeof(*m->conns)),
		.groups = calloc(groups, sizeof(*m->groups)),
	};
	for (i = 0; i < hosts; i++)
		m->weights[i] = 1;
}

static inline void set_model_free(struct set_model *m)
{
	u32 i;

	for (i = 0; i < m->groups_nr; i++)
		free(m->groups[i].members);
	free(m->weights);
	free(m->conns);
	free(m->groups);
}

/* Active connections of a host to sockets of one user. */
static inline u32 set_model_active_to(const struct set_model *m, u32 host, u32 user)
{
	u32 i, active = 0;

	for (i = 0; i < m->conns_nr; i++)
		active += m->conns[i].active && m->conns[i].host == host &&
			  m->conns[i].user == user;
	return active;
}

static inline u32 set_model_active_conns(const struct set_model *m, u32 host)
{
	u32 i, active = 0;

	for (i = 0; i < m->conns_nr; i++)
		active += m->conns[i].active && m->conns[i].host == host;
	return active;
}

static inline bool set_model_waits(const struct set_model_group *g)
{
	u32 i;

	for (i = 0; i < g->members_nr; i++)
		if (g->members[i].waiting)
			return true;
	return false;
}

/* Counts the other members ahead, unless they send to the user already, or were absent. */
static inline void set_model_arm(struct set_model *m, struct set_model_group *g, u32 host,
				 u64 now_ns)
{
	u32 i;

	for (i = 0; i < g->members_nr; i++) {
		struct set_model_member *member = &g->members[i];

		if (member->host != host && !member->absent &&
		    !set_model_active_to(m, member->host, g->user))
			member->waiting = true;
	}
	if (!set_model_waits(g))
		return;
	g->deadline_ns = now_ns +
			 (g->time_ns < m->lookahead_ns ? g->time_ns : m->lookahead_ns);
	m->armings++;
}

static inline void set_model_begin(struct set_model *m, u32 host, u32 user, u64 now_ns)
{
	u32 i, k;

	for (i = 0; i < m->groups_nr; i++) {
		struct set_model_group *g = &m->groups[i];

		for (k = 0; g->there && k < g->members_nr; k++) {
			if (g->members[k].host != host || g->user != user)
				continue;
			if (!set_model_waits(g))
				set_model_arm(m, g, host, now_ns);
			g->members[k].waiting = false;
			g->members[k].absent = false;
		}
	}
}

static inline void set_model_data(struct set_model *m, u32 conn, bool more, u64 now_ns)
{
	struct set_model_conn *c = &m->conns[conn];

	if (!c->active) {
		set_model_begin(m, c->host, c->user, now_ns);
		if (!more)
			return;
		m->joins += !set_model_active_conns(m, c->host);
		c->active = true;
	}
	c->newest_ns = now_ns;
}

static inline void set_model_end(struct set_model *m, u32 conn)
{
	struct set_model_conn *c = &m->conns[conn];

	if (!c->active)
		return;
	c->active = false;
	m->leaves += !set_model_active_conns(m, c->host);
}

static inline u64 set_model_life_ns(const struct set_model *m, const struct set_model_conn *c)
{
	return c->plain ? m->plain_idle_ns : m->idle_ns;
}

static inline void set_model_die(struct set_model *m, struct set_model_conn *c)
{
	c->active = false;
	m->expiries++;
}

/* A connection older than one lifetime: the set says whether it is dead. */
static inline void set_model_follow(struct set_model *m, u32 conn, bool active, u64 now_ns)
{
	struct set_model_conn *c = &m->conns[conn];

	if (c->active && !active && now_ns - c->newest_ns >= set_model_life_ns(m, c))
		set_model_die(m, c);
}

static inline void set_model_expire(struct set_model *m, u64 now_ns)
{
	u32 i, k;

	for (i = 0; i < m->conns_nr; i++) {
		struct set_model_conn *c = &m->conns[i];

		if (c->active && now_ns - c->newest_ns >= set_model_life_ns(m, c) * 9 / 8)
			set_model_die(m, c);
	}
	for (i = 0; i < m->groups_nr; i++) {
		struct set_model_group *g = &m->groups[i];

		for (k = 0; g->there && k < g->members_nr; k++) {
			if (!g->members[k].waiting || now_ns < g->deadline_ns)
				continue;
			g->members[k].waiting = false;
			g->members[k].absent = true;
			m->absences++;
		}
	}
}

static inline void set_model_count_init(const struct set_model *m, struct set_model_count *count)
{
	*count = (struct set_model_count) {
		.conns = calloc(m->hosts_nr, sizeof(*count->conns)),
		.awaited = calloc((size_t)m->users_nr * m->hosts_nr, sizeof(*count->awaited)),
		.waiting = calloc(m->users_nr, sizeof(*count->waiting)),
	};
}

/* Counts all anew. */
static inline void set_model_count(const struct set_model *m, struct set_model_count *count)
{
	u32 i, k;

	memset(count->conns, 0, m->hosts_nr * sizeof(*count->conns));
	memset(count->awaited, 0, (size_t)m->users_nr * m->hosts_nr * sizeof(*count->awaited));
	memset(count->waiting, 0, m->users_nr * sizeof(*count->waiting));
	count->weight = 0;
	count->hosts = 0;
	for (i = 0; i < m->conns_nr; i++)
		count->conns[m->conns[i].host] += m->conns[i].active;
	for (i = 0; i < m->hosts_nr; i++) {
		count->hosts += count->conns[i] > 0;
		count->weight += count->conns[i] ? m->weights[i] : 0;
	}
	for (i = 0; i < m->groups_nr; i++)
		for (k = 0; m->groups[i].there && k < m->groups[i].members_nr; k++)
			if (m->groups[i].members[k].waiting)
				count->awaited[(size_t)m->groups[i].user * m->hosts_nr +
					       m->groups[i].members[k].host] = true;
	for (i = 0; i < m->users_nr; i++)
		for (k = 0; k < m->hosts_nr; k++)
			if (count->awaited[(size_t)i * m->hosts_nr + k] && !count->conns[k])
				count->waiting[i] += m->weights[k];
}

static inline void set_model_count_free(struct set_model_count *count)
{
	free(count->conns);
	free(count->awaited);
	free(count->waiting);
}

/* n of a connection as if it were active: a host counts if it is active or awaited. */
static inline u64 set_model_n_q8(const struct set_model *m, const struct set_model_count *count,
				 u32 conn)
{
	const struct set_model_conn *c = &m->conns[conn];
	bool counts = count->conns[c->host] ||
		      count->awaited[(size_t)c->user * m->hosts_nr + c->host];
	u64 own = m->weights[c->host];
	/* Active hosts that are waited for, too, count once. */
	u64 weight = count->weight + count->waiting[c->user] + (counts ? 0 : own);
	u64 conns = count->conns[c->host] + !c->active;

	return (256 * weight * conns + own - 1) / own;
}

#endif /* _QUELL_TEST_DART_SET_MODEL_H */
