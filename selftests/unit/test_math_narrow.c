// SPDX-License-Identifier: GPL-2.0
/* The tests of <quell/core/lib/math.h> for the bodies that 32-bit processors and BPF use. */
#define QUELL_NARROW	1

#include "test_math.c"
