/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random early detection by class: selects the thresholds for a packet.
 *
 * A class is a set of DSCPs with thresholds of its own; packets in no class use
 * those of the port.  All classes compare the same queue, as they share it.
 */
#ifndef _QUELL_CORE_PORT_REDCLASS_H
#define _QUELL_CORE_PORT_REDCLASS_H

#include <quell/core/port/red.h>

#define QUELL_RED_CLASSES_MAX	8

/* DSCPs are 0 to 63; this value stands for a packet without one, that is, not IP. */
#define QUELL_DSCP_NONE		64

/* Packets with thresholds of their own. */
struct quell_red_class {
	u64			dscps;	/* bit per DSCP */
	struct quell_red_params	red;
};

struct quell_red_classes {
	u32			count;	/* 0 to QUELL_RED_CLASSES_MAX */
	struct quell_red_class	class[QUELL_RED_CLASSES_MAX];	/* no DSCP is in two of them */
};

/* QUELL_RED_CLASSES_MAX for a packet in no class; @dscp: 0 to 63, or QUELL_DSCP_NONE. */
static inline u32 quell_red_class_index(const struct quell_red_classes *classes, u32 dscp)
{
	u32 i;

	if (dscp >= QUELL_DSCP_NONE)
		return QUELL_RED_CLASSES_MAX;
	for (i = 0; i < classes->count; i++) {
		if (classes->class[i].dscps >> dscp & 1)
			return i;
	}
	return QUELL_RED_CLASSES_MAX;
}

/* Whether a DSCP is in two classes. */
static inline bool quell_red_class_overlap(const struct quell_red_classes *classes)
{
	u64 seen = 0;
	u32 i;

	for (i = 0; i < classes->count; i++) {
		if (classes->class[i].dscps & seen)
			return true;
		seen |= classes->class[i].dscps;
	}
	return false;
}

#endif /* _QUELL_CORE_PORT_REDCLASS_H */
