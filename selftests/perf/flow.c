// SPDX-License-Identifier: GPL-2.0
/*
 * One algorithm, CORE, compiled as the kernel compiles its module: -O2, general registers
 * only, in a file of its own, for otherwise the compiler would share functions between two
 * algorithms.  Its ->on_ack is one function with the core inlined, as in the module; the
 * tools count from its first instruction to its return.
 */
#include "flow.h"

static const struct quell_core * const core
	__attribute__((used, section("perf_objects"))) = &CORE;
