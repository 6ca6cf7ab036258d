// SPDX-License-Identifier: GPL-2.0
/*
 * The presets: parameter values that a paper or a public simulator used for an algorithm, or
 * that follow from a network's rate and round trip.
 *
 * This table is their only source.  The program applies it, the laboratory receives it
 * from selftests/unit/list_cores.c, and the tests compare Documentation/presets.md with it.
 *
 * @set has the syntax of the arguments of "quell cc set ALGO".  It lists every parameter
 * that the source gives a number for, even if equal to the default; the others keep
 * their defaults.  A preset from an algorithm's own paper is named after the place
 * in it, one from another source after source and place.
 *
 * Documentation/presets.md has the rules for those named after a network.
 */
#include <string.h>

#include "preset.h"

/* Networks, by their rate and the longest round trip without queues */
#define LAN_1G	.name = "lan-1g", .source = "1 Gbit/s over 100 us, by the papers' rules"
#define DC_10G	.name = "dc-10g", .source = "10 Gbit/s over 30 us, by the papers' rules"
#define DC_25G	.name = "dc-25g", .source = "25 Gbit/s over 20 us, by the papers' rules"
#define DC_100G	.name = "dc-100g", .source = "100 Gbit/s over 10 us, by the papers' rules"
#define DC_400G	.name = "dc-400g", .source = "400 Gbit/s over 8 us, by the papers' rules"

const struct preset presets[] = {
	{ "swift", "vaisf-iii-d", "VAI/SF III-D: default Swift",
	  "adapt off base-target 5us hop-scale 2us fs-max 50 ai 50mbit beta 0.8 max-mdf 0.5" },
	{ "swift", "vaisf-fig3-1gbit", "VAI/SF Figures 1, 3, 6: additive increase of 1 Gbit/s",
	  "adapt off base-target 5us hop-scale 2us fs-max 50 ai 1gbit beta 0.8 max-mdf 0.5" },
	{ "swift", "vaisf-fig3-prob", "VAI/SF III-D, Figures 1, 3, 6: probabilistic feedback",
	  "adapt off base-target 5us hop-scale 2us fs-max 50 ai 50mbit beta 0.8 max-mdf 0.5 "
	  "probabilistic on" },
	{ "swift", "vaisf-fig10", "VAI/SF III-D, Figures 10, 11: scaling window of 100 packets",
	  "adapt off base-target 5us hop-scale 2us fs-max 100 ai 50mbit beta 0.8 max-mdf 0.5" },
	{ "swift", "vaisf-no-fbs", "VAI/SF III-D without flow-based scaling (VI-B)",
	  "adapt off base-target 5us hop-scale 2us fs-range 0 ai 50mbit beta 0.8 max-mdf 0.5" },
	{ "swift", LAN_1G, "adapt off base-target 400us hop-scale 0ns fs-range 200us ai 10mbit" },
	{ "swift", DC_10G, "adapt off base-target 60us hop-scale 0ns fs-range 60us ai 10mbit" },
	{ "swift", DC_25G, "adapt off base-target 32us hop-scale 0ns fs-range 40us ai 12.5mbit" },
	{ "swift", DC_100G, "adapt off base-target 13us hop-scale 0ns fs-range 20us ai 50mbit" },
	{ "swift", DC_400G, "adapt off base-target 10us hop-scale 0ns fs-range 16us ai 200mbit" },
	{ "swift_vaisf", "vi-a", "VAI/SF VI-A and III-D",
	  "adapt off base-target 5us hop-scale 2us ai 50mbit beta 0.8 max-mdf 0.5 "
	  "token-thresh 4us token 30ns bank-cap 1000 ai-cap 100 dampener 8 sampling 30" },
	{ "swift_vaisf", LAN_1G,
	  "adapt off base-target 400us hop-scale 0ns ai 10mbit token-thresh 33.333us token 249ns" },
	{ "swift_vaisf", DC_10G,
	  "adapt off base-target 60us hop-scale 0ns ai 10mbit token-thresh 10us token 75ns" },
	{ "swift_vaisf", DC_25G,
	  "adapt off base-target 32us hop-scale 0ns ai 12.5mbit token-thresh 6.666us token 49ns" },
	{ "swift_vaisf", DC_100G,
	  "adapt off base-target 13us hop-scale 0ns ai 50mbit token-thresh 3.333us token 24ns" },
	{ "swift_vaisf", DC_400G,
	  "adapt off base-target 10us hop-scale 0ns ai 200mbit token-thresh 2.666us token 19ns" },
	{ "hpcc", "vaisf-iii-d", "VAI/SF III-D: default HPCC",
	  "adapt off eta 0.95 max-stage 5 ai 50mbit" },
	{ "hpcc", "vaisf-fig1-1gbit", "VAI/SF Figures 1, 5: additive increase of 1 Gbit/s",
	  "adapt off eta 0.95 max-stage 5 ai 1gbit" },
	{ "hpcc", "vaisf-fig1-prob", "VAI/SF III-D, Figures 1, 2, 5: probabilistic feedback",
	  "adapt off eta 0.95 max-stage 5 ai 50mbit probabilistic on" },
	{ "hpcc", "artifact-100g", "HPCC's ns-3 artifact, run.py, at 100 Gbit/s",
	  "adapt off eta 0.95 max-stage 0 ai 40mbit min-rate 1gbit" },
	{ "hpcc", LAN_1G, "adapt off ai 500kbit base-rtt 100us min-rate 1mbit" },
	{ "hpcc", DC_10G, "adapt off ai 5mbit base-rtt 30us min-rate 10mbit" },
	{ "hpcc", DC_25G, "adapt off ai 12.5mbit base-rtt 20us min-rate 25mbit" },
	{ "hpcc", DC_100G, "adapt off ai 50mbit base-rtt 10us min-rate 100mbit" },
	{ "hpcc", DC_400G, "adapt off ai 200mbit base-rtt 8us min-rate 400mbit" },
	{ "hpcc_vaisf", "vi-a", "VAI/SF VI-A and III-D",
	  "adapt off eta 0.95 max-stage 5 ai 50mbit token-thresh 50000b token 1000b "
	  "bank-cap 1000 ai-cap 100 dampener 8 sampling 30" },
	{ "hpcc_vaisf", LAN_1G,
	  "adapt off ai 500kbit base-rtt 100us min-rate 1mbit token-thresh 4166b token 83b" },
	{ "hpcc_vaisf", DC_10G,
	  "adapt off ai 5mbit base-rtt 30us min-rate 10mbit token-thresh 12500b token 250b" },
	{ "hpcc_vaisf", DC_25G,
	  "adapt off ai 12.5mbit base-rtt 20us min-rate 25mbit token-thresh 20831b token 416b" },
	{ "hpcc_vaisf", DC_100G,
	  "adapt off ai 50mbit base-rtt 10us min-rate 100mbit token-thresh 41662b token 833b" },
	{ "hpcc_vaisf", DC_400G,
	  "adapt off ai 200mbit base-rtt 8us min-rate 400mbit token-thresh 133300b token 2666b" },
	{ "timely", "table1", "TIMELY Table 1, sections 5 and 6, Algorithm 1: 10 Gbit/s",
	  "adapt off t-low 50us t-high 500us min-rtt 20us delta 10mbit beta 0.8 hai 5 "
	  "hai-after 5 segment 16kb" },
	{ "timely", "fig9-50us", "TIMELY 4.4, Figures 9, 10: queue size, target 50 us",
	  "adapt off t-low 50us t-high 50us min-rtt 20us delta 10mbit beta 0.8 segment 16kb" },
	{ "timely", "fig9-500us", "TIMELY 4.4, Figure 9: queue size, target 500 us",
	  "adapt off t-low 500us t-high 500us min-rtt 20us delta 10mbit beta 0.8 segment 16kb" },
	{ "timely", "fig15-32kb", "TIMELY Figure 15: 32 KB segments, tips at 100 us",
	  "adapt off t-low 100us t-high 500us min-rtt 20us delta 10mbit beta 0.8 hai 5 "
	  "hai-after 5 segment 32kb" },
	{ "timely", "fig15-64kb", "TIMELY Figure 15: 64 KB segments, tips at 200 to 300 us",
	  "adapt off t-low 300us t-high 500us min-rtt 20us delta 10mbit beta 0.8 hai 5 "
	  "hai-after 5 segment 64kb" },
	{ "timely", "dart-vi-a", "Dart VI-A: 1460-byte segments, step of 1 Mbit/s",
	  "adapt off t-low 50us t-high 500us delta 1mbit beta 0.8 segment 1460b" },
	{ "timely", "zhu-patched", "Zhu et al., ECN or Delay: patched TIMELY",
	  "adapt off t-low 50us t-high 500us min-rtt 20us delta 10mbit alpha 0.875 beta 0.8 "
	  "patched on patched-beta 0.008 patched-ref 50us" },
	{ "timely", "hpcc-100g", "HPCC's ns-3 artifact, run.py, at 100 Gbit/s",
	  "adapt off t-low 50us t-high 500us min-rtt 20us delta 100mbit alpha 0.875 beta 0.8 "
	  "hai 5 hai-after 5 init-rate 100gbit min-rate 1gbit" },
	{ "timely", LAN_1G, "adapt off t-low 400us t-high 4.9ms min-rtt 100us delta 1mbit" },
	{ "timely", DC_10G, "adapt off t-low 60us t-high 510us min-rtt 30us delta 10mbit" },
	{ "timely", DC_25G, "adapt off t-low 32us t-high 212us min-rtt 20us delta 25mbit" },
	{ "timely", DC_100G, "adapt off t-low 13us t-high 100us min-rtt 10us delta 100mbit" },
	{ "timely", DC_400G, "adapt off t-low 10us t-high 100us min-rtt 8us delta 400mbit" },
	{ "smartt", "iii", "SMaRTT section III, with trimming or without",
	  "adapt off target-rtt 1.5 fi 1 pi 1 pi-fair on fast 2 md 0.8 max-mdf 0.5 qa on "
	  "ignore on ignore-trims on batch 1 max-window 1.5" },
	{ "smartt", "iii-g-8", "SMaRTT III-G: window changed every 8 packets",
	  "adapt off target-rtt 1.5 fi 1 pi 1 pi-fair on fast 2 md 0.8 max-mdf 0.5 qa on "
	  "ignore on ignore-trims on batch 8 max-window 1.5" },
	{ "smartt", "iii-g-rtt", "SMaRTT III-G: window changed every round trip",
	  "adapt off target-rtt 1.5 fi 1 pi 1 pi-fair on fast 2 md 0.8 max-mdf 0.5 qa on "
	  "ignore on ignore-trims on batch 65535 max-window 1.5" },
	{ "smartt", "fig6", "SMaRTT Figure 6: one target for unequal round trips",
	  "adapt off target-delay 6us fi 1 pi 1 pi-fair on fast 2 md 0.8 max-mdf 0.5 "
	  "md-queueing on qa on ignore on ignore-trims on batch 1 max-window 1.5" },
	{ "smartt", "nscc", "uet-htsim: NSCC, 100 Gbit/s over 12 us, no trimming",
	  "adapt off target-delay 12us scale-bdp 150000b fi 5 pi 4 pi-fair off eta 0.15 "
	  "fast 0.25 fast-slack 1us md 0.8 max-mdf 0.5 md-queueing on avg-weight 0.0125 "
	  "qa-delay 4 qa-low 0.125 ignore-marked on ignore-trims on ignore-delay off batch 8 "
	  "max-window 1.5" },
	{ "smartt", "nscc-trim", "uet-htsim: NSCC, 100 Gbit/s over 12 us, trimming",
	  "adapt off target-delay 9us scale-bdp 150000b fi 5 pi 3 pi-fair off eta 0.15 "
	  "fast 0.25 fast-slack 1us md 0.8 max-mdf 0.5 md-queueing on avg-weight 0.0125 "
	  "qa-delay 4 qa-low 0.125 ignore-marked on ignore-trims on ignore-delay off batch 8 "
	  "max-window 1.5" },
	{ "smartt", "nscc-800g", "uet-htsim: NSCC, 800 Gbit/s over 12 us, no trimming",
	  "adapt off target-delay 12us scale-bdp 150000b fi 5 pi 4 pi-fair off eta 0.15 fast 2 "
	  "fast-slack 1us md 0.8 max-mdf 0.5 md-queueing on avg-weight 0.0125 qa-delay 4 "
	  "qa-low 0.125 ignore-marked on ignore-trims on ignore-delay off batch 8 max-window 1.5" },
	{ "smartt", LAN_1G, "adapt off target-delay 50us md-queueing on" },
	{ "smartt", DC_10G, "adapt off target-delay 15us md-queueing on" },
	{ "smartt", DC_25G, "adapt off target-delay 10us md-queueing on" },
	{ "smartt", DC_100G, "adapt off target-delay 5us md-queueing on" },
	{ "smartt", DC_400G, "adapt off target-delay 4us md-queueing on" },
	{ "dcqcn", "dart-vi-a", "Dart VI-A",
	  "adapt off g 0.00390625 notify-interval 50us timer 55us byte-counter 10000000b" },
	{ "dcqcn", "hpcc-100g", "HPCC's ns-3 artifact, run.py, at 100 Gbit/s: cuts per 4 us",
	  "adapt off g 0.00390625 notify-interval 4us alpha-timer 1us timer 300us "
	  "byte-counter 1000000000b fast-recovery 1 ai 20mbit hai 200mbit min-rate 1gbit" },
	{ "dcqcn", "hpcc-100g-55us", "the same with its paper setting of timers: cuts per 50 us",
	  "adapt off g 0.00390625 notify-interval 50us alpha-timer 50us timer 55us "
	  "byte-counter 1000000000b fast-recovery 1 ai 20mbit hai 200mbit min-rate 1gbit" },
	{ "dcqcn", LAN_1G,
	  "adapt off notify-interval 100us alpha-timer 110us timer 110us byte-counter 250000b "
	  "ai 1mbit hai 10mbit queue-bound 200us" },
	{ "dcqcn", DC_10G,
	  "adapt off notify-interval 50us alpha-timer 55us timer 55us byte-counter 2500000b "
	  "ai 10mbit hai 100mbit queue-bound 100us" },
	{ "dcqcn", DC_25G,
	  "adapt off notify-interval 50us alpha-timer 55us timer 55us byte-counter 6250000b "
	  "ai 25mbit hai 250mbit queue-bound 100us" },
	{ "dcqcn", DC_100G,
	  "adapt off notify-interval 50us alpha-timer 55us timer 55us byte-counter 25000000b "
	  "ai 100mbit hai 1gbit queue-bound 100us" },
	{ "dcqcn", DC_400G,
	  "adapt off notify-interval 50us alpha-timer 55us timer 55us byte-counter 100000000b "
	  "ai 400mbit hai 4gbit queue-bound 100us" },
	{ "dart", "vi-a", "Dart VI-A and III-B: simulations",
	  "adapt off g 0.00390625 notify-interval 50us timer 55us byte-counter 10000000b "
	  "period 30us idle 2s" },
	{ "dart", "v", "Dart V and III-B: testbed, without look-ahead",
	  "adapt off idle 2s lookahead 0us" },
	{ "dart", LAN_1G,
	  "adapt off notify-interval 100us alpha-timer 110us timer 110us byte-counter 250000b "
	  "ai 1mbit hai 10mbit queue-bound 200us" },
	{ "dart", DC_10G,
	  "adapt off notify-interval 50us alpha-timer 55us timer 55us byte-counter 2500000b "
	  "ai 10mbit hai 100mbit queue-bound 100us" },
	{ "dart", DC_25G,
	  "adapt off notify-interval 50us alpha-timer 55us timer 55us byte-counter 6250000b "
	  "ai 25mbit hai 250mbit queue-bound 100us" },
	{ "dart", DC_100G,
	  "adapt off notify-interval 50us alpha-timer 55us timer 55us byte-counter 25000000b "
	  "ai 100mbit hai 1gbit queue-bound 100us" },
	{ "dart", DC_400G,
	  "adapt off notify-interval 50us alpha-timer 55us timer 55us byte-counter 100000000b "
	  "ai 400mbit hai 4gbit queue-bound 100us" },
	{}
};

/* Whether a name is of one of Quell's algorithms, loaded or not: each has presets. */
bool is_quell_cc(const char *name)
{
	const struct preset *preset = presets;

	while (preset->cc && strcmp(preset->cc, name))
		preset++;
	return preset->cc;
}
