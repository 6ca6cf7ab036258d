/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	netlink/specs/quell.yaml */
/* YNL-GEN uapi header */

#ifndef _UAPI_LINUX_QUELL_H
#define _UAPI_LINUX_QUELL_H

#define QUELL_FAMILY_NAME	"quell"
#define QUELL_FAMILY_VERSION	1

/**
 * enum quell_unit - What a parameter's 64-bit value counts.
 * @QUELL_UNIT_NONE: A plain number.
 * @QUELL_UNIT_NS: Nanoseconds.
 * @QUELL_UNIT_BYTES: Bytes.
 * @QUELL_UNIT_BYTES_PS: Bytes per second.
 * @QUELL_UNIT_Q16: A fraction in units of 1/65536.
 * @QUELL_UNIT_PKTS: Packets of one maximum segment size.
 * @QUELL_UNIT_PKTS_Q16: Packets in units of 1/65536.
 * @QUELL_UNIT_BOOL: 0 or 1.
 */
enum quell_unit {
	QUELL_UNIT_NONE,
	QUELL_UNIT_NS,
	QUELL_UNIT_BYTES,
	QUELL_UNIT_BYTES_PS,
	QUELL_UNIT_Q16,
	QUELL_UNIT_PKTS,
	QUELL_UNIT_PKTS_Q16,
	QUELL_UNIT_BOOL,
};

/**
 * enum quell_clock - What stamped the round-trip times of a flow.
 * @QUELL_CLOCK_NONE: No sample yet.
 * @QUELL_CLOCK_KERNEL: The TCP stack's own microsecond estimate.
 * @QUELL_CLOCK_SOFTWARE: Nanosecond stamps taken in the network hooks.
 * @QUELL_CLOCK_HARDWARE: Stamps of the network card, mapped to the host clock.
 */
enum quell_clock {
	QUELL_CLOCK_NONE,
	QUELL_CLOCK_KERNEL,
	QUELL_CLOCK_SOFTWARE,
	QUELL_CLOCK_HARDWARE,
};

enum {
	QUELL_A_PARAM_PAD = 1,
	QUELL_A_PARAM_NAME,
	QUELL_A_PARAM_VALUE,
	QUELL_A_PARAM_DEFAULT,
	QUELL_A_PARAM_MIN,
	QUELL_A_PARAM_MAX,
	QUELL_A_PARAM_UNIT,
	QUELL_A_PARAM_DOC,

	__QUELL_A_PARAM_MAX
};
#define QUELL_A_PARAM_MAX (__QUELL_A_PARAM_MAX - 1)

enum {
	QUELL_A_CC_NAME = 1,
	QUELL_A_CC_PARAM,
	QUELL_A_CC_FLOWS,

	__QUELL_A_CC_MAX
};
#define QUELL_A_CC_MAX (__QUELL_A_CC_MAX - 1)

enum {
	QUELL_A_COUNTER_PAD = 1,
	QUELL_A_COUNTER_NAME,
	QUELL_A_COUNTER_VALUE,
	QUELL_A_COUNTER_DOC,

	__QUELL_A_COUNTER_MAX
};
#define QUELL_A_COUNTER_MAX (__QUELL_A_COUNTER_MAX - 1)

enum {
	QUELL_A_STAT_NAME = 1,
	QUELL_A_STAT_COUNTER,

	__QUELL_A_STAT_MAX
};
#define QUELL_A_STAT_MAX (__QUELL_A_STAT_MAX - 1)

enum {
	QUELL_A_FLOW_PAD = 1,
	QUELL_A_FLOW_COOKIE,
	QUELL_A_FLOW_CC,
	QUELL_A_FLOW_FAMILY,
	QUELL_A_FLOW_SADDR,
	QUELL_A_FLOW_DADDR,
	QUELL_A_FLOW_SPORT,
	QUELL_A_FLOW_DPORT,
	QUELL_A_FLOW_IFINDEX,
	QUELL_A_FLOW_LINK_RATE,
	QUELL_A_FLOW_WINDOW,
	QUELL_A_FLOW_PACING_RATE,
	QUELL_A_FLOW_INFLIGHT,
	QUELL_A_FLOW_RTT,
	QUELL_A_FLOW_MIN_RTT,
	QUELL_A_FLOW_TARGET_DELAY,
	QUELL_A_FLOW_CLOCK,
	QUELL_A_FLOW_HOPS,
	QUELL_A_FLOW_MSS,
	QUELL_A_FLOW_LIMITED_BY,
	QUELL_A_FLOW_COUNTER,

	__QUELL_A_FLOW_MAX
};
#define QUELL_A_FLOW_MAX (__QUELL_A_FLOW_MAX - 1)

enum {
	QUELL_CMD_CC_GET = 1,
	QUELL_CMD_CC_SET,
	QUELL_CMD_CC_RESET,
	QUELL_CMD_FLOW_GET,
	QUELL_CMD_STAT_GET,

	__QUELL_CMD_MAX
};
#define QUELL_CMD_MAX (__QUELL_CMD_MAX - 1)

#endif /* _UAPI_LINUX_QUELL_H */
