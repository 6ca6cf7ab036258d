/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Look-ahead for applications: registers the hosts that an application expects to send to this
 * one at the same time, for instance the workers that answer its requests.  See
 * Documentation/lookahead.md.
 *
 * Link with -lquell_lookahead -lmnl.  Each call opens and closes a socket of its own, in the
 * network namespace of the calling thread; calls of several threads do not disturb each other.
 */
#ifndef QUELL_LOOKAHEAD_H
#define QUELL_LOOKAHEAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enough for every error text. */
#define QUELL_LOOKAHEAD_ERROR_BYTES	256

/**
 * struct quell_lookahead_group - hosts that are expected to send at one time
 * @name: name, 1 to 31 bytes, unique among the groups of the user
 * @ifindex: interface by which their data comes in; 0: that of the route to the first
 * @time_ns: how long those that have not begun to send count, ns; 0: the most allowed
 * @members: their addresses; ports do not matter
 * @members_nr: number of @members, 1 to 1024
 */
struct quell_lookahead_group {
	const char			*name;
	unsigned int			ifindex;
	uint64_t			time_ns;
	const struct sockaddr_storage	*members;
	size_t				members_nr;
};

int quell_lookahead_add(const struct quell_lookahead_group *group, char *error,
			size_t error_bytes);
int quell_lookahead_del(const char *name, const uid_t *uid, char *error, size_t error_bytes);
int quell_lookahead_ifindex(const struct sockaddr_storage *member, char *error,
			    size_t error_bytes);

#ifdef __cplusplus
}
#endif

#endif /* QUELL_LOOKAHEAD_H */
