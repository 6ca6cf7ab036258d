#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Python 3.11.2: random.seed() of a negative integer takes its absolute value: seeds 1 and -1 have
# the same numbers, as have 1.0 and True.  Runs whose seeds are symmetric about zero, or differences
# of other numbers, are so the same run twice.
#
# Guess: each integer is another seed.
#
# Output seen, of the first number by each seed:
#
#	1: 0.13436424411240122
#	-1: 0.13436424411240122
#	1.0: 0.13436424411240122
#	True: 0.13436424411240122
#	2: 0.9560342718892494
#
# Exits with 1 if that changes.  Needs python3.
exec python3 - <<'END'
import random
import sys

seeds = (1, -1, 1.0, True, 2)
numbers = [random.Random(seed).random() for seed in seeds]
for seed, number in zip(seeds, numbers):
    print(f"{seed}: {number}")
if numbers[0] == numbers[4]:
    sys.exit(2)
if set(numbers[:4]) != {numbers[0]}:
    sys.exit("changed: seeds 1, -1, 1.0 and True differ")
END
