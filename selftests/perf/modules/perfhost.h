/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_perfhost: declarations shared by its source files.
 */
#ifndef _QUELL_PERFHOST_H
#define _QUELL_PERFHOST_H

#include <linux/netdevice.h>
#include <linux/types.h>

#define PERFHOST_DEVICES	4

/**
 * enum perfhost_account - owner of an instruction
 * @PERFHOST_IDLE: the idle task
 * @PERFHOST_OTHER: all other processes, the kernel's own housekeeping
 * @PERFHOST_SENDER: host with the first device
 * @PERFHOST_NETWORK: router between the hosts, with the second and third
 * @PERFHOST_RECEIVER: host with the fourth
 * @PERFHOST_WIRE: the hardware of a NIC, and the link
 * @PERFHOST_PROBE: the counting itself
 * @PERFHOST_SOFTIRQ: softirq under way, owner not yet known
 * @PERFHOST_IRQ: interrupt under way, owner not yet known
 * @PERFHOST_ACCOUNTS: number of accounts
 *
 * The last two are empty outside of softirqs and interrupts.
 */
enum perfhost_account {
	PERFHOST_IDLE,
	PERFHOST_OTHER,
	PERFHOST_SENDER,
	PERFHOST_NETWORK,
	PERFHOST_RECEIVER,
	PERFHOST_WIRE,
	PERFHOST_PROBE,
	PERFHOST_SOFTIRQ,
	PERFHOST_IRQ,
	PERFHOST_ACCOUNTS,
};

/* Free-running counters of one device. */
struct perfhost_stats {
	u64	tx_skbs;	/* skbs the stack handed over */
	u64	tx_pkts;	/* packets they were cut into */
	u64	tx_bytes;	/* bytes of those, Ethernet header included */
	u64	rx_pkts;	/* packets handed to the stack, before GRO */
	u64	interrupts;	/* interrupts for received and for sent packets */
	u64	busy_ns;	/* time the outgoing line was busy */
};

/* perfhost_account.c */
enum perfhost_account perfhost_enter(enum perfhost_account account);
void perfhost_own(enum perfhost_account account);
int perfhost_account_init(void);
void perfhost_account_exit(void);

/* perfhost_link.c */
struct net_device *perfhost_device(int i);
enum perfhost_account perfhost_timer_account(const struct hrtimer *timer);
const struct perfhost_stats *perfhost_device_stats(int i);

#endif /* _QUELL_PERFHOST_H */
