// SPDX-License-Identifier: GPL-2.0
/*
 * The presets: parameter values that a paper or a public simulator used for an algorithm, or
 * that follow from a network's rate and round trip.
 *
 * This table is their only source.  The program applies it, the laboratory receives it
 * from selftests/unit/list_cores.c, and the tests compare Documentation/presets.md and
 * quell(7) with it.
 *
 * @set has the syntax of the arguments of "quell cc set ALGO".  It lists every parameter
 * that the source gives a number for, even if equal to the default; the others keep
 * their defaults.  A preset from an algorithm's own paper is named after the place
 * in it, one from another source after source and place.
 *
 * Presets named after a network are the results of tune_derive() for its rate and round trip;
 * test_tune compares the two.
 */
#include "preset.h"

const struct preset presets[] = {
	{
		.cc = "swift",
		.name = "vaisf-iii-d",
		.source = "VAI/SF III-D: default Swift",
		.set = "adapt off base-target 5us hop-scale 2us fs-max 50 ai 50mbit beta 0.8 max-mdf 0.5",
	},
	{
		.cc = "swift",
		.name = "vaisf-fig3-1gbit",
		.source = "VAI/SF Figures 1, 3, 6: additive increase of 1 Gbit/s",
		.set = "adapt off base-target 5us hop-scale 2us fs-max 50 ai 1gbit beta 0.8 max-mdf 0.5",
	},
	{
		.cc = "swift",
		.name = "vaisf-fig3-prob",
		.source = "VAI/SF III-D, Figures 1, 3, 6: probabilistic feedback",
		.set = "adapt off base-target 5us hop-scale 2us fs-max 50 ai 50mbit beta 0.8 max-mdf 0.5 "
		       "probabilistic on",
	},
	{
		.cc = "swift",
		.name = "vaisf-fig10",
		.source = "VAI/SF III-D, Figures 10, 11: scaling window of 100 packets",
		.set = "adapt off base-target 5us hop-scale 2us fs-max 100 ai 50mbit beta 0.8 max-mdf 0.5",
	},
	{
		.cc = "swift",
		.name = "vaisf-no-fbs",
		.source = "VAI/SF III-D without flow-based scaling (VI-B)",
		.set = "adapt off base-target 5us hop-scale 2us fs-range 0 ai 50mbit beta 0.8 max-mdf 0.5",
	},
	{
		.cc = "swift",
		.name = "lan-1g",
		.source = "1 Gbit/s over 100 us, by the papers' rules",
		.set = "adapt off base-target 400us hop-scale 0ns fs-range 200us ai 10mbit",
	},
	{
		.cc = "swift",
		.name = "dc-10g",
		.source = "10 Gbit/s over 30 us, by the papers' rules",
		.set = "adapt off base-target 60us hop-scale 0ns fs-range 60us ai 10mbit",
	},
	{
		.cc = "swift",
		.name = "dc-25g",
		.source = "25 Gbit/s over 20 us, by the papers' rules",
		.set = "adapt off base-target 32us hop-scale 0ns fs-range 40us ai 12.5mbit",
	},
	{
		.cc = "swift",
		.name = "dc-100g",
		.source = "100 Gbit/s over 10 us, by the papers' rules",
		.set = "adapt off base-target 13us hop-scale 0ns fs-range 20us ai 50mbit",
	},
	{
		.cc = "swift",
		.name = "dc-400g",
		.source = "400 Gbit/s over 8 us, by the papers' rules",
		.set = "adapt off base-target 10us hop-scale 0ns fs-range 16us ai 200mbit",
	},
	{
		.cc = "swift_vaisf",
		.name = "vi-a",
		.source = "VAI/SF VI-A and III-D",
		.set = "adapt off base-target 5us hop-scale 2us ai 50mbit beta 0.8 max-mdf 0.5 "
		       "token-thresh 4us token 30ns bank-cap 1000 ai-cap 100 dampener 8 "
		       "sampling 30",
	},
	{
		.cc = "swift_vaisf",
		.name = "lan-1g",
		.source = "1 Gbit/s over 100 us, by the papers' rules",
		.set = "adapt off base-target 400us hop-scale 0ns ai 10mbit "
		       "token-thresh 33.333us token 249ns",
	},
	{
		.cc = "swift_vaisf",
		.name = "dc-10g",
		.source = "10 Gbit/s over 30 us, by the papers' rules",
		.set = "adapt off base-target 60us hop-scale 0ns ai 10mbit token-thresh 10us "
		       "token 75ns",
	},
	{
		.cc = "swift_vaisf",
		.name = "dc-25g",
		.source = "25 Gbit/s over 20 us, by the papers' rules",
		.set = "adapt off base-target 32us hop-scale 0ns ai 12.5mbit "
		       "token-thresh 6.666us token 49ns",
	},
	{
		.cc = "swift_vaisf",
		.name = "dc-100g",
		.source = "100 Gbit/s over 10 us, by the papers' rules",
		.set = "adapt off base-target 13us hop-scale 0ns ai 50mbit token-thresh 3.333us "
		       "token 24ns",
	},
	{
		.cc = "swift_vaisf",
		.name = "dc-400g",
		.source = "400 Gbit/s over 8 us, by the papers' rules",
		.set = "adapt off base-target 10us hop-scale 0ns ai 200mbit token-thresh 2.666us "
		       "token 19ns",
	},
	{
		.cc = "hpcc",
		.name = "vaisf-iii-d",
		.source = "VAI/SF III-D: default HPCC",
		.set = "adapt off eta 0.95 max-stage 5 ai 50mbit",
	},
	{
		.cc = "hpcc",
		.name = "vaisf-fig1-1gbit",
		.source = "VAI/SF Figures 1, 5: additive increase of 1 Gbit/s",
		.set = "adapt off eta 0.95 max-stage 5 ai 1gbit",
	},
	{
		.cc = "hpcc",
		.name = "vaisf-fig1-prob",
		.source = "VAI/SF III-D, Figures 1, 2, 5: probabilistic feedback",
		.set = "adapt off eta 0.95 max-stage 5 ai 50mbit probabilistic on",
	},
	{
		.cc = "hpcc",
		.name = "artifact-100g",
		.source = "HPCC's ns-3 artifact, run.py, at 100 Gbit/s",
		.set = "adapt off eta 0.95 max-stage 0 ai 40mbit min-rate 1gbit",
	},
	{
		.cc = "hpcc",
		.name = "lan-1g",
		.source = "1 Gbit/s over 100 us, by the papers' rules",
		.set = "adapt off ai 500kbit base-rtt 100us min-rate 1mbit",
	},
	{
		.cc = "hpcc",
		.name = "dc-10g",
		.source = "10 Gbit/s over 30 us, by the papers' rules",
		.set = "adapt off ai 5mbit base-rtt 30us min-rate 10mbit",
	},
	{
		.cc = "hpcc",
		.name = "dc-25g",
		.source = "25 Gbit/s over 20 us, by the papers' rules",
		.set = "adapt off ai 12.5mbit base-rtt 20us min-rate 25mbit",
	},
	{
		.cc = "hpcc",
		.name = "dc-100g",
		.source = "100 Gbit/s over 10 us, by the papers' rules",
		.set = "adapt off ai 50mbit base-rtt 10us min-rate 100mbit",
	},
	{
		.cc = "hpcc",
		.name = "dc-400g",
		.source = "400 Gbit/s over 8 us, by the papers' rules",
		.set = "adapt off ai 200mbit base-rtt 8us min-rate 400mbit",
	},
	{
		.cc = "hpcc_vaisf",
		.name = "vi-a",
		.source = "VAI/SF VI-A and III-D",
		.set = "adapt off eta 0.95 max-stage 5 ai 50mbit token-thresh 50000b token 1000b "
		       "bank-cap 1000 ai-cap 100 dampener 8 sampling 30",
	},
	{
		.cc = "hpcc_vaisf",
		.name = "lan-1g",
		.source = "1 Gbit/s over 100 us, by the papers' rules",
		.set = "adapt off ai 500kbit base-rtt 100us min-rate 1mbit token-thresh 4166b "
		       "token 83b",
	},
	{
		.cc = "hpcc_vaisf",
		.name = "dc-10g",
		.source = "10 Gbit/s over 30 us, by the papers' rules",
		.set = "adapt off ai 5mbit base-rtt 30us min-rate 10mbit token-thresh 12500b "
		       "token 250b",
	},
	{
		.cc = "hpcc_vaisf",
		.name = "dc-25g",
		.source = "25 Gbit/s over 20 us, by the papers' rules",
		.set = "adapt off ai 12.5mbit base-rtt 20us min-rate 25mbit token-thresh 20831b "
		       "token 416b",
	},
	{
		.cc = "hpcc_vaisf",
		.name = "dc-100g",
		.source = "100 Gbit/s over 10 us, by the papers' rules",
		.set = "adapt off ai 50mbit base-rtt 10us min-rate 100mbit token-thresh 41662b "
		       "token 833b",
	},
	{
		.cc = "hpcc_vaisf",
		.name = "dc-400g",
		.source = "400 Gbit/s over 8 us, by the papers' rules",
		.set = "adapt off ai 200mbit base-rtt 8us min-rate 400mbit token-thresh 133300b "
		       "token 2666b",
	},
	{
		.cc = "timely",
		.name = "table1",
		.source = "TIMELY Table 1, sections 5 and 6, Algorithm 1: 10 Gbit/s",
		.set = "adapt off t-low 50us t-high 500us min-rtt 20us delta 10mbit beta 0.8 hai 5 "
		       "hai-after 5 segment 16kb",
	},
	{
		.cc = "timely",
		.name = "fig9-50us",
		.source = "TIMELY 4.4, Figures 9, 10: queue size, target 50 us",
		.set = "adapt off t-low 50us t-high 50us min-rtt 20us delta 10mbit beta 0.8 segment 16kb",
	},
	{
		.cc = "timely",
		.name = "fig9-500us",
		.source = "TIMELY 4.4, Figure 9: queue size, target 500 us",
		.set = "adapt off t-low 500us t-high 500us min-rtt 20us delta 10mbit beta 0.8 segment 16kb",
	},
	{
		.cc = "timely",
		.name = "fig15-32kb",
		.source = "TIMELY Figure 15: 32 KB segments, tips at 100 us",
		.set = "adapt off t-low 100us t-high 500us min-rtt 20us delta 10mbit beta 0.8 hai 5 "
		       "hai-after 5 segment 32kb",
	},
	{
		.cc = "timely",
		.name = "fig15-64kb",
		.source = "TIMELY Figure 15: 64 KB segments, tips at 200 to 300 us",
		.set = "adapt off t-low 300us t-high 500us min-rtt 20us delta 10mbit beta 0.8 hai 5 "
		       "hai-after 5 segment 64kb",
	},
	{
		.cc = "timely",
		.name = "dart-vi-a",
		.source = "Dart VI-A: 1460-byte segments, step of 1 Mbit/s",
		.set = "adapt off t-low 50us t-high 500us delta 1mbit beta 0.8 segment 1460b",
	},
	{
		.cc = "timely",
		.name = "zhu-patched",
		.source = "Zhu et al., ECN or Delay: patched TIMELY",
		.set = "adapt off t-low 50us t-high 500us min-rtt 20us delta 10mbit alpha 0.875 beta 0.8 "
		       "patched on patched-beta 0.008 patched-ref 50us",
	},
	{
		.cc = "timely",
		.name = "hpcc-100g",
		.source = "HPCC's ns-3 artifact, run.py, at 100 Gbit/s",
		.set = "adapt off t-low 50us t-high 500us min-rtt 20us delta 100mbit alpha 0.875 beta 0.8 "
		       "hai 5 hai-after 5 init-rate 100gbit min-rate 1gbit",
	},
	{
		.cc = "timely",
		.name = "lan-1g",
		.source = "1 Gbit/s over 100 us, by the papers' rules",
		.set = "adapt off t-low 400us t-high 4.9ms min-rtt 100us delta 1mbit",
	},
	{
		.cc = "timely",
		.name = "dc-10g",
		.source = "10 Gbit/s over 30 us, by the papers' rules",
		.set = "adapt off t-low 60us t-high 510us min-rtt 30us delta 10mbit",
	},
	{
		.cc = "timely",
		.name = "dc-25g",
		.source = "25 Gbit/s over 20 us, by the papers' rules",
		.set = "adapt off t-low 32us t-high 212us min-rtt 20us delta 25mbit",
	},
	{
		.cc = "timely",
		.name = "dc-100g",
		.source = "100 Gbit/s over 10 us, by the papers' rules",
		.set = "adapt off t-low 13us t-high 100us min-rtt 10us delta 100mbit",
	},
	{
		.cc = "timely",
		.name = "dc-400g",
		.source = "400 Gbit/s over 8 us, by the papers' rules",
		.set = "adapt off t-low 10us t-high 100us min-rtt 8us delta 400mbit",
	},
	{
		.cc = "smartt",
		.name = "iii",
		.source = "SMaRTT section III, with trimming or without",
		.set = "adapt off target-rtt 1.5 fi 1 pi 1 pi-fair on fast 2 md 0.8 max-mdf 0.5 "
		       "qa on ignore on ignore-trims on batch 1 max-window 1.5",
	},
	{
		.cc = "smartt",
		.name = "iii-g-8",
		.source = "SMaRTT III-G: window changed every 8 packets",
		.set = "adapt off target-rtt 1.5 fi 1 pi 1 pi-fair on fast 2 md 0.8 max-mdf 0.5 "
		       "qa on ignore on ignore-trims on batch 8 max-window 1.5",
	},
	{
		.cc = "smartt",
		.name = "iii-g-rtt",
		.source = "SMaRTT III-G: window changed every round trip",
		.set = "adapt off target-rtt 1.5 fi 1 pi 1 pi-fair on fast 2 md 0.8 max-mdf 0.5 "
		       "qa on ignore on ignore-trims on batch 65535 max-window 1.5",
	},
	{
		.cc = "smartt",
		.name = "fig6",
		.source = "SMaRTT Figure 6: one target for unequal round trips",
		.set = "adapt off target-delay 6us fi 1 pi 1 pi-fair on fast 2 md 0.8 max-mdf 0.5 "
		       "md-queueing on qa on ignore on ignore-trims on batch 1 max-window 1.5",
	},
	{
		.cc = "smartt",
		.name = "nscc",
		.source = "uet-htsim: NSCC, 100 Gbit/s over 12 us, no trimming",
		.set = "adapt off target-delay 12us scale-bdp 150000b fi 5 pi 4 pi-fair off eta 0.15 "
		       "fast 0.25 fast-slack 1us md 0.8 max-mdf 0.5 md-queueing on "
		       "avg-weight 0.0125 qa-delay 4 qa-low 0.125 ignore-marked on "
		       "ignore-trims on ignore-delay off batch 8 max-window 1.5",
	},
	{
		.cc = "smartt",
		.name = "nscc-trim",
		.source = "uet-htsim: NSCC, 100 Gbit/s over 12 us, trimming",
		.set = "adapt off target-delay 9us scale-bdp 150000b fi 5 pi 3 pi-fair off eta 0.15 "
		       "fast 0.25 fast-slack 1us md 0.8 max-mdf 0.5 md-queueing on "
		       "avg-weight 0.0125 qa-delay 4 qa-low 0.125 ignore-marked on "
		       "ignore-trims on ignore-delay off batch 8 max-window 1.5",
	},
	{
		.cc = "smartt",
		.name = "nscc-800g",
		.source = "uet-htsim: NSCC, 800 Gbit/s over 12 us, no trimming",
		.set = "adapt off target-delay 12us scale-bdp 150000b fi 5 pi 4 pi-fair off eta 0.15 "
		       "fast 2 fast-slack 1us md 0.8 max-mdf 0.5 md-queueing on "
		       "avg-weight 0.0125 qa-delay 4 qa-low 0.125 ignore-marked on ignore-trims on "
		       "ignore-delay off batch 8 max-window 1.5",
	},
	{
		.cc = "smartt",
		.name = "lan-1g",
		.source = "1 Gbit/s over 100 us, by the papers' rules",
		.set = "adapt off target-delay 50us md-queueing on",
	},
	{
		.cc = "smartt",
		.name = "dc-10g",
		.source = "10 Gbit/s over 30 us, by the papers' rules",
		.set = "adapt off target-delay 15us md-queueing on",
	},
	{
		.cc = "smartt",
		.name = "dc-25g",
		.source = "25 Gbit/s over 20 us, by the papers' rules",
		.set = "adapt off target-delay 10us md-queueing on",
	},
	{
		.cc = "smartt",
		.name = "dc-100g",
		.source = "100 Gbit/s over 10 us, by the papers' rules",
		.set = "adapt off target-delay 5us md-queueing on",
	},
	{
		.cc = "smartt",
		.name = "dc-400g",
		.source = "400 Gbit/s over 8 us, by the papers' rules",
		.set = "adapt off target-delay 4us md-queueing on",
	},
	{
		.cc = "dcqcn",
		.name = "dart-vi-a",
		.source = "Dart VI-A",
		.set = "adapt off g 0.00390625 notify-interval 50us timer 55us byte-counter 10000000b",
	},
	{
		.cc = "dcqcn",
		.name = "hpcc-100g",
		.source = "HPCC's ns-3 artifact, run.py, at 100 Gbit/s: cuts per 4 us",
		.set = "adapt off g 0.00390625 notify-interval 4us alpha-timer 1us timer 300us "
		       "byte-counter 1000000000b fast-recovery 1 ai 20mbit hai 200mbit "
		       "min-rate 1gbit",
	},
	{
		.cc = "dcqcn",
		.name = "hpcc-100g-55us",
		.source = "the same with its paper setting of timers: cuts per 50 us",
		.set = "adapt off g 0.00390625 notify-interval 50us alpha-timer 50us timer 55us "
		       "byte-counter 1000000000b fast-recovery 1 ai 20mbit hai 200mbit "
		       "min-rate 1gbit",
	},
	{
		.cc = "dcqcn",
		.name = "lan-1g",
		.source = "1 Gbit/s over 100 us, by the papers' rules",
		.set = "adapt off notify-interval 100us alpha-timer 110us timer 110us "
		       "byte-counter 250000b ai 1mbit hai 10mbit queue-bound 200us",
	},
	{
		.cc = "dcqcn",
		.name = "dc-10g",
		.source = "10 Gbit/s over 30 us, by the papers' rules",
		.set = "adapt off notify-interval 50us alpha-timer 55us timer 55us "
		       "byte-counter 2500000b ai 10mbit hai 100mbit queue-bound 100us",
	},
	{
		.cc = "dcqcn",
		.name = "dc-25g",
		.source = "25 Gbit/s over 20 us, by the papers' rules",
		.set = "adapt off notify-interval 50us alpha-timer 55us timer 55us "
		       "byte-counter 6250000b ai 25mbit hai 250mbit queue-bound 100us",
	},
	{
		.cc = "dcqcn",
		.name = "dc-100g",
		.source = "100 Gbit/s over 10 us, by the papers' rules",
		.set = "adapt off notify-interval 50us alpha-timer 55us timer 55us "
		       "byte-counter 25000000b ai 100mbit hai 1gbit queue-bound 100us",
	},
	{
		.cc = "dcqcn",
		.name = "dc-400g",
		.source = "400 Gbit/s over 8 us, by the papers' rules",
		.set = "adapt off notify-interval 50us alpha-timer 55us timer 55us "
		       "byte-counter 100000000b ai 400mbit hai 4gbit queue-bound 100us",
	},
	{
		.cc = "dart",
		.name = "vi-a",
		.source = "Dart VI-A and III-B: simulations",
		.set = "adapt off g 0.00390625 notify-interval 50us timer 55us "
		       "byte-counter 10000000b idle 2s",
	},
	{
		.cc = "dart",
		.name = "v",
		.source = "Dart V and III-B: testbed, without look-ahead",
		.set = "adapt off idle 2s lookahead 0us",
	},
	{
		.cc = "dart",
		.name = "lan-1g",
		.source = "1 Gbit/s over 100 us, by the papers' rules",
		.set = "adapt off notify-interval 100us alpha-timer 110us timer 110us "
		       "byte-counter 250000b ai 1mbit hai 10mbit queue-bound 200us",
	},
	{
		.cc = "dart",
		.name = "dc-10g",
		.source = "10 Gbit/s over 30 us, by the papers' rules",
		.set = "adapt off notify-interval 50us alpha-timer 55us timer 55us "
		       "byte-counter 2500000b ai 10mbit hai 100mbit queue-bound 100us",
	},
	{
		.cc = "dart",
		.name = "dc-25g",
		.source = "25 Gbit/s over 20 us, by the papers' rules",
		.set = "adapt off notify-interval 50us alpha-timer 55us timer 55us "
		       "byte-counter 6250000b ai 25mbit hai 250mbit queue-bound 100us",
	},
	{
		.cc = "dart",
		.name = "dc-100g",
		.source = "100 Gbit/s over 10 us, by the papers' rules",
		.set = "adapt off notify-interval 50us alpha-timer 55us timer 55us "
		       "byte-counter 25000000b ai 100mbit hai 1gbit queue-bound 100us",
	},
	{
		.cc = "dart",
		.name = "dc-400g",
		.source = "400 Gbit/s over 8 us, by the papers' rules",
		.set = "adapt off notify-interval 50us alpha-timer 55us timer 55us "
		       "byte-counter 100000000b ai 400mbit hai 4gbit queue-bound 100us",
	},
	{}
};
