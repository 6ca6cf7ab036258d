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

#include <linux/types.h>

#define QUELLNIC_KIND		"quellnic"

#define QUELLNIC_PFC_PRIORITIES	8
#define QUELLNIC_PFC_NAME_BYTES	80

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
	QUELLNIC_PFC,			/* struct quellnic_pfc of the near end */
	QUELLNIC_PEER_PFC,		/* the same of the far end: both or neither */
	QUELLNIC_CREDIT,		/* struct quellnic_credit of the near end, a host's */
	QUELLNIC_PEER_CREDIT,		/* the same of the far end */
	QUELLNIC_PACE,			/* u64, bits per second of each flow of the near end */
	QUELLNIC_PEER_PACE,		/* u64, the same for the far end */
	QUELLNIC_PART,			/* struct quellnic_part; of a network in parts */
	__QUELLNIC_MAX
};

#define QUELLNIC_MAX		(__QUELLNIC_MAX - 1)

/* Priority flow control of one end. */
struct quellnic_pfc {
	/* With @alpha_q16 the bytes that the ports of a switch share, without headrooms. */
	__u64	buffer_bytes;
	__u32	xoff_bytes;	/* threshold without @alpha_q16 */
	/* Threshold as a part of the free @buffer_bytes, in 1/65536; 0: fixed. */
	__u32	alpha_q16;
	__u32	resume_bytes;	/* so far below the threshold the other end goes on */
	/* For each priority; 0: a host's end, which obeys and does not pause. */
	__u32	headroom_bytes;
	char	name[QUELLNIC_PFC_NAME_BYTES];	/* of the port, for people */
};

/* Counters of a priority; IFLA_INFO_XSTATS has one per priority. */
struct quellnic_pfc_stats {
	__u64	xoff_sent;	/* pause frames sent that pause the other end */
	__u64	xon_sent;	/* pause frames sent that let it go on */
	__u64	xoff_received;	/* those received that pause this end */
	__u64	xon_received;	/* those received that let it go on */
	__u64	paused_ns;	/* how long this end was paused */
	__u64	held_bytes;	/* bytes held by the switch that were received on this port */
	__u64	held_max_bytes;	/* the most it ever held */
	__u64	headroom_max_bytes;	/* the most of it in the headroom */
	__u64	drop_pkts;	/* frames that found no headroom */
};

/* Credits that a host's card hands out, labnic_credit.c. */
struct quellnic_credit {
	__u32	percent;	/* of its line that they let in, 1..100 */
	__u32	first_bytes;	/* bytes that a sender may send unrequested; the same at all */
	/*
	 * Of ExpressPass (labnic_credit.c): first rate, as a part of the most, up to 1; 0 at all
	 * NICs, or 0: EQDS.
	 */
	__u32	first_q16;
	__u32	w_q16;	/* of ExpressPass: first w, up to 0.5 */
};

/* Which end of a cable is in another part of the network, labnic_part.c. */
enum {
	QUELLNIC_BOTH_HERE,
	QUELLNIC_NEAR_AWAY,
	QUELLNIC_FAR_AWAY,
};

struct quellnic_part {
	__u32	cable;	/* its number in the whole network, from 1 */
	__u32	away;	/* QUELLNIC_BOTH_HERE, ... */
	__u32	part;	/* number of the part of the other end */
};

/* Counters of credits; IFLA_INFO_XSTATS of a card that has them. */
struct quellnic_credit_stats {
	__u64	whole_pkts;	/* data packets that came in whole */
	__u64	trimmed_pkts;	/* those that came in trimmed */
	__u64	granted_pkts;	/* credits granted */
	/* Packets sent for them alone, which no acknowledgment could carry, or should. */
	__u64	pull_pkts;
};

#endif /* _QUELLNIC_UAPI_H */
