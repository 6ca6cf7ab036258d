/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The active sender set and its model side by side: both receive the same events, and all that
 * the set has is compared with the model's counts.  For random histories, test_dart_set_long.c.
 *
 * Connections and groups are allocated when they begin and freed when they end, so that the
 * sanitizer finds pointers that the set keeps.
 */
#ifndef _QUELL_TEST_DART_SET_PAIR_H
#define _QUELL_TEST_DART_SET_PAIR_H

#include <quell/core/dart/set.h>

#include "dart_set_model.h"

/* Longest time of a group; some ask for more. */
#define LOOKAHEAD_NS	1500

struct set_pair {
	struct quell_dasr_set set;
	struct quell_dasr_params p;
	struct quell_dasr_sender *senders;
	struct quell_dasr_user *users;
	struct quell_dasr_peer *peers;	/* [host * users_nr + user] */
	struct quell_dasr_conn **conns;
	struct quell_dasr_group **groups;
	struct set_model model;
	struct set_model_count count;
	u64 now_ns;
};

static inline void set_pair_init(struct set_pair *x, u32 hosts, u32 conns, u32 users, u32 groups,
				 u64 idle_ns, u64 plain_idle_ns)
{
	u32 i;

	*x = (struct set_pair) {
		.p = { idle_ns, plain_idle_ns, LOOKAHEAD_NS },
		.senders = calloc(hosts, sizeof(*x->senders)),
		.users = calloc(users, sizeof(*x->users)),
		.peers = calloc((size_t)hosts * users, sizeof(*x->peers)),
		.conns = calloc(conns, sizeof(*x->conns)),
		.groups = calloc(groups, sizeof(*x->groups)),
		.now_ns = 1000000,
	};
	for (i = 0; i < hosts; i++)
		x->senders[i].weight = QUELL_DASR_WEIGHT_DEFAULT;
	for (i = 0; i < hosts * users; i++) {
		x->peers[i].sender = &x->senders[i / users];
		x->peers[i].user = &x->users[i % users];
	}
	set_model_init(&x->model, hosts, conns, users, groups);
	set_model_count_init(&x->model, &x->count);
	x->model.idle_ns = idle_ns;
	x->model.plain_idle_ns = plain_idle_ns;
	x->model.lookahead_ns = LOOKAHEAD_NS;
}

/* A connection of @host to a socket of @user. */
static inline void set_pair_open(struct set_pair *x, u32 conn, u32 host, u32 user, bool plain)
{
	if (x->conns[conn])
		return;
	x->conns[conn] = calloc(1, sizeof(**x->conns));
	x->conns[conn]->peer = &x->peers[host * x->model.users_nr + user];
	x->conns[conn]->plain = plain;
	x->model.conns[conn] = (struct set_model_conn) {
		.host = host, .user = user, .open = true, .plain = plain,
	};
}

static inline void set_pair_data(struct set_pair *x, u32 conn, bool more)
{
	if (!x->conns[conn])
		return;
	quell_dasr_data(&x->set, &x->p, x->conns[conn], more, x->now_ns);
	set_model_data(&x->model, conn, more, x->now_ns);
}

static inline void set_pair_end(struct set_pair *x, u32 conn)
{
	if (!x->conns[conn])
		return;
	quell_dasr_end(&x->set, x->conns[conn]);
	set_model_end(&x->model, conn);
}

static inline void set_pair_close(struct set_pair *x, u32 conn)
{
	set_pair_end(x, conn);
	free(x->conns[conn]);
	x->conns[conn] = NULL;
	x->model.conns[conn].open = false;
}

static inline void set_pair_expire(struct set_pair *x)
{
	u32 i;

	while (quell_dasr_expire(&x->set, &x->p, x->now_ns))
		;
	set_model_expire(&x->model, x->now_ns);
	for (i = 0; i < x->model.conns_nr; i++)
		if (x->conns[i])
			set_model_follow(&x->model, i, x->conns[i]->active, x->now_ns);
}

/* @hosts: numbers of the members, no number twice. */
static inline void set_pair_group_add(struct set_pair *x, u32 group, u32 user, u64 time_ns,
				      const u32 *hosts, u32 hosts_nr)
{
	struct set_model_group *g = &x->model.groups[group];
	struct quell_dasr_group *new;
	u32 i;

	if (x->groups[group])
		return;
	new = calloc(1, sizeof(*new));
	*new = (struct quell_dasr_group) {
		.members = calloc(hosts_nr, sizeof(*new->members)),
		.members_nr = hosts_nr, .time_ns = time_ns,
	};
	free(g->members);
	*g = (struct set_model_group) {
		.there = true, .user = user, .members_nr = hosts_nr, .time_ns = time_ns,
		.members = calloc(hosts_nr, sizeof(*g->members)),
	};
	for (i = 0; i < hosts_nr; i++) {
		new->members[i].peer = &x->peers[hosts[i] * x->model.users_nr + user];
		new->members[i].group = new;
		g->members[i].host = hosts[i];
	}
	quell_dasr_group_add(new);
	x->groups[group] = new;
}

static inline void set_pair_group_del(struct set_pair *x, u32 group)
{
	if (!x->groups[group])
		return;
	quell_dasr_group_del(&x->set, x->groups[group]);
	free(x->groups[group]->members);
	free(x->groups[group]);
	x->groups[group] = NULL;
	x->model.groups[group].there = false;
}

static inline void set_pair_weight(struct set_pair *x, u32 host, u32 weight)
{
	quell_dasr_set_weight(&x->set, &x->senders[host], weight);
	x->model.weights[host] = weight;
}

static inline void set_pair_free(struct set_pair *x)
{
	u32 i;

	for (i = 0; i < x->model.groups_nr; i++)
		set_pair_group_del(x, i);
	for (i = 0; i < x->model.conns_nr; i++)
		set_pair_close(x, i);
	set_model_count_free(&x->count);
	set_model_free(&x->model);
	free(x->senders);
	free(x->users);
	free(x->peers);
	free(x->conns);
	free(x->groups);
}

/* The list of ages has all active connections of its kind, ordered, linked both ways. */
static inline bool set_pair_ages_agree(const struct set_pair *x, bool plain)
{
	const struct quell_dasr_ages *ages = &x->set.ages[plain];
	const struct quell_dasr_conn *conn, *older = NULL;
	u32 i, active = 0, listed = 0;

	for (conn = ages->oldest; conn; older = conn, conn = conn->newer, listed++)
		if (!conn->active || conn->plain != plain || conn->older != older ||
		    (older && older->touched_ns > conn->touched_ns))
			return false;
	for (i = 0; i < x->model.conns_nr; i++)
		active += x->model.conns[i].active && x->model.conns[i].plain == plain;
	return ages->newest == older && listed == active;
}

/* The list of armed groups has all that wait, linked both ways. */
static inline bool set_pair_armed_agree(const struct set_pair *x)
{
	const struct quell_dasr_group *group, *newer = NULL;
	u32 i, k, armed = 0, waiting;

	for (group = x->set.armed; group; newer = group, group = group->older, armed++)
		if (!group->waiting || group->newer != newer)
			return false;
	for (i = 0; i < x->model.groups_nr; i++) {
		const struct set_model_group *g = &x->model.groups[i];

		if (!g->there)
			continue;
		for (k = 0, waiting = 0; k < g->members_nr; k++) {
			waiting += g->members[k].waiting;
			if (g->members[k].waiting != x->groups[i]->members[k].waiting ||
			    g->members[k].absent != x->groups[i]->members[k].absent)
				return false;
		}
		if (waiting != x->groups[i]->waiting ||
		    (waiting && g->deadline_ns != x->groups[i]->deadline_ns))
			return false;
		armed -= waiting > 0;
	}
	return !armed;
}

static inline const char *set_pair_counts_differ(struct set_pair *x)
{
	const struct set_model_count *count = &x->count;
	u32 i;

	set_model_count(&x->model, &x->count);
	if (x->set.hosts != count->hosts)
		return "hosts";
	if (x->set.weight != count->weight)
		return "weight";
	for (i = 0; i < x->model.hosts_nr; i++)
		if (x->senders[i].active != count->conns[i])
			return "connections of a host";
	for (i = 0; i < x->model.users_nr; i++)
		if (x->users[i].waiting != count->waiting[i])
			return "weight a user waits for";
	for (i = 0; i < x->model.conns_nr; i++) {
		if (!x->conns[i])
			continue;
		if (x->conns[i]->active != x->model.conns[i].active)
			return "activity of a connection";
		if (quell_dasr_n_q8(&x->set, x->conns[i]) != set_model_n_q8(&x->model, count, i))
			return "n";
	}
	return NULL;
}

/* Name of the first difference between the set and the model; or NULL. */
static inline const char *set_pair_differs(struct set_pair *x)
{
	const char *differs = set_pair_counts_differ(x);

	if (differs)
		return differs;
	if (x->set.joins != x->model.joins || x->set.leaves != x->model.leaves)
		return "joins or leaves";
	if (x->set.expiries != x->model.expiries)
		return "expiries";
	if (x->set.armings != x->model.armings || x->set.absences != x->model.absences)
		return "armings or absences";
	if (!set_pair_ages_agree(x, false) || !set_pair_ages_agree(x, true))
		return "list of ages";
	return set_pair_armed_agree(x) ? NULL : "list of armed groups";
}

#endif /* _QUELL_TEST_DART_SET_PAIR_H */
