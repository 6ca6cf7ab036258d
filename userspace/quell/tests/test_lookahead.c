// SPDX-License-Identifier: GPL-2.0
/*
 * The library of look-ahead without quell.ko: interfaces by the routes of this host.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <quell_lookahead.h>

#include "util.h"
#include "test.h"

static int ifindex_of(int family, const char *text, uint32_t scope)
{
	struct sockaddr_storage member = { .ss_family = family };
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&member;

	if (family == AF_INET) {
		inet_pton(family, text, &((struct sockaddr_in *)&member)->sin_addr);
	} else {
		inet_pton(family, text, &in6->sin6_addr);
		in6->sin6_scope_id = scope;
	}
	return quell_lookahead_ifindex(&member, NULL, 0);
}

/* Addresses as getpeername() returns them, on IPv6 sockets, too. */
TEST(quell_lookahead_ifindex__families)
{
	static const struct {
		int		family;
		const char	*text;
	} rows[] = { { AF_INET, "127.0.0.1" }, { AF_INET6, "::ffff:127.0.0.1" },
		     { AF_INET6, "fe80::1" } };
	int lo = if_nametoindex("lo");

	for_each_row(row, rows) {
		expect_eq(lo, ifindex_of(row->family, row->text, lo), "%s", row->text);
	}
}

TEST_HARNESS_MAIN
