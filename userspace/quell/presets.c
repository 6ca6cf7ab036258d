// SPDX-License-Identifier: GPL-2.0
/*
 * The presets: parameter values that a paper or a public simulator used for an algorithm.
 *
 * This table is their only source.  The program applies it, the laboratory receives it
 * from selftests/unit/list_cores.c, and the tests compare Documentation/presets.md and
 * quell(7) with it.
 *
 * @set has the syntax of the arguments of "quell cc set ALGO".  It lists every parameter
 * that the source gives a number for, even if equal to the default; the others keep
 * their defaults.  A preset from an algorithm's own paper is named after the place
 * in it, one from another source after source and place.
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
		.cc = "swift_vaisf",
		.name = "vi-a",
		.source = "VAI/SF VI-A and III-D",
		.set = "adapt off base-target 5us hop-scale 2us ai 50mbit beta 0.8 max-mdf 0.5 "
		       "token-thresh 4us token 30ns bank-cap 1000 ai-cap 100 dampener 8 "
		       "sampling 30",
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
		.cc = "hpcc_vaisf",
		.name = "vi-a",
		.source = "VAI/SF VI-A and III-D",
		.set = "adapt off eta 0.95 max-stage 5 ai 50mbit token-thresh 50000b token 1000b "
		       "bank-cap 1000 ai-cap 100 dampener 8 sampling 30",
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
	{}
};
