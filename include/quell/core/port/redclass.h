/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random early detection by class: which thresholds a packet is judged by.
 *
 * A class is a set of DSCPs with thresholds of its own; what is in no class goes
 * by those of the port.  All look at the same queue, for the packets wait in one.
 */
#ifndef _QUELL_CORE_PORT_REDCLASS_H
#define _QUELL_CORE_PORT_REDCLASS_H

#include <quell/core/port/red.h>

#define QUELL_RED_CLASSES_MAX	8

/* There are 64, 0 to 63; this is none of them: not an IP packet. */
#define QUELL_DSCP_NONE		64

/**
 * struct quell_red_class - packets with thresholds of their own
 * @dscps:	bit per DSCP
 * @red:	how they are marked
 */
struct quell_red_class {
	u64			dscps;
	struct quell_red_params	red;
};

/**
 * struct quell_red_classes - all of a port
 * @count:	0 to QUELL_RED_CLASSES_MAX
 * @class:	no DSCP is in two
 */
struct quell_red_classes {
	u32			count;
	struct quell_red_class	class[QUELL_RED_CLASSES_MAX];
};

/**
 * quell_red_class_index() - the class of a packet
 * @classes: the port's
 * @dscp: of the packet, 0 to 63, or QUELL_DSCP_NONE
 *
 * Context: any.
 * Return: which; QUELL_RED_CLASSES_MAX for what is in none.
 */
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

/**
 * quell_red_class_overlap() - is a DSCP in two classes?
 * @classes: any
 *
 * Context: any.
 * Return: true when there is one.
 */
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
