/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink attributes of the laboratory's NIC, link kind "quellnic".
 *
 * They travel in IFLA_INFO_DATA of RTM_NEWLINK.  A cable has two ends, so one
 * request makes two devices, as veth does; rate, delay, ring size, TSO, seed and
 * counts hold for both directions, the other attributes for the end they name.
 */
#ifndef _QUELLNIC_UAPI_H
#define _QUELLNIC_UAPI_H

#define QUELLNIC_KIND		"quellnic"

enum {
	QUELLNIC_UNSPEC,
	QUELLNIC_PEER,			/* struct ifinfomsg, then IFLA_*: the far end */
	QUELLNIC_RATE,			/* u64, bits per second; required */
	QUELLNIC_DELAY,			/* u64, ns of propagation; default 0 */
	QUELLNIC_RING,			/* u32, packets in the TX ring; default 64 */
	QUELLNIC_PHC_OFFSET,		/* s64, ns the near clock is ahead at creation */
	QUELLNIC_PHC_DRIFT,		/* s32, ppb the near clock runs fast */
	QUELLNIC_PEER_PHC_OFFSET,	/* s64, ns, the same for the far clock */
	QUELLNIC_PEER_PHC_DRIFT,	/* s32, ppb */
	QUELLNIC_NOISE,			/* u64, longest delay of arrivals in the near host, ns */
	QUELLNIC_PEER_NOISE,		/* u64, ns, the same for the far host */
	QUELLNIC_NOISE_SEED,		/* u64, of both; default 0 */
	QUELLNIC_TSO,			/* u32, packets TCP may hand over as one; default 1 */
	QUELLNIC_DROP,			/* u64, number of the first data packet dropped */
	QUELLNIC_PEER_DROP,		/* u64, the same for packets from the far end */
	QUELLNIC_DROP_COUNT,		/* u32, consecutive packets dropped; default 1 */
	QUELLNIC_TRIM,			/* u64, number of the first data packet trimmed */
	QUELLNIC_PEER_TRIM,		/* u64, the same for packets from the far end */
	QUELLNIC_TRIM_EVERY,		/* u32, distance between trimmed packets; default 1 */
	QUELLNIC_TRIM_COUNT,		/* u32, packets trimmed; default 1 */
	QUELLNIC_CORRUPT,		/* u64, number of the near end's data packet falsified */
	QUELLNIC_CORRUPT_AT,		/* u32, the byte of its payload, from 0; default 0 */
	__QUELLNIC_MAX
};

#define QUELLNIC_MAX		(__QUELLNIC_MAX - 1)

#endif /* _QUELLNIC_UAPI_H */
