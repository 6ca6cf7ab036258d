// SPDX-License-Identifier: GPL-2.0
/* __inet_lookup_established(net, hashinfo, ...) */
#include <net/inet_hashtables.h>

struct sock *quell_probe(struct net *net, struct inet_hashinfo *hashinfo);
struct sock *quell_probe(struct net *net, struct inet_hashinfo *hashinfo)
{
	return __inet_lookup_established(net, hashinfo, 0, 0, 0, 0, 0, 0);
}
