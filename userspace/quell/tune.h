/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parameters that follow from the rate and the round trip of a network, by the papers' rules.
 */
#ifndef QUELL_CLI_TUNE_H
#define QUELL_CLI_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TUNE_VALUES_MAX		12
#define TUNE_REASON_LEN		96
#define TUNE_SET_LEN		256

/* Longest round trip of a network; on longer paths CUBIC governs (Documentation/adapt.md). */
#define TUNE_RTT_MOST_NS	300000ULL
#define TUNE_RTT_LEAST_NS	1000ULL

/* 10 Mbit/s to 10 Tbit/s: within them each derived value is in the range of its parameter. */
#define TUNE_RATE_LEAST		1250000ULL
#define TUNE_RATE_MOST		1250000000000ULL

/**
 * struct tune_path - input of the rules
 * @rate_bytes_ps: rate of the hosts' links, 10 Mbit/s to 10 Tbit/s
 * @rtt_ns: round trip without queues, 1 us to 300 us: the longest of a closed network, else the
 *	    shortest
 * @closed: all paths are of this network, as in the papers; else flows of all paths have the
 *	    values, and stay fitted to their own (the parameter adapt)
 */
struct tune_path {
	uint64_t	rate_bytes_ps;
	uint64_t	rtt_ns;
	bool		closed;
};

/**
 * struct tune_value - one parameter
 * @name: of the parameter
 * @unit: enum quell_unit
 * @value: in base units
 * @reason: one line
 */
struct tune_value {
	const char	*name;
	uint32_t	unit;
	uint64_t	value;
	char		reason[TUNE_REASON_LEN];
};

/**
 * struct tune - the parameters of one algorithm; all others have their defaults
 * @list: the parameters
 * @n: their number
 */
struct tune {
	struct tune_value	list[TUNE_VALUES_MAX];
	size_t			n;
};

/**
 * struct tune_network - a network that presets are named after
 * @name: of the presets
 * @rate_bytes_ps: of its hosts' links
 * @rtt_ns: its longest round trip without queues
 */
struct tune_network {
	const char	*name;
	uint64_t	rate_bytes_ps;
	uint64_t	rtt_ns;
};

/* By rate, slowest first; the last has no name. */
extern const struct tune_network tune_networks[];

const struct tune_network *tune_network_of(uint64_t rate_bytes_ps);
bool tune_derive(const char *algo, const struct tune_path *path, struct tune *tune);
void tune_write(const struct tune *tune, char *set, size_t len);

#endif /* QUELL_CLI_TUNE_H */
