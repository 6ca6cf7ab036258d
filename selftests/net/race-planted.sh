#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# KCSAN sees a race: the module quell_planted has one.  run-qemu wants its report, and none of the
# module's other accesses.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

is_reported()
{
	dmesg | grep -q "KCSAN: data-race in planted_plain"
}

plan 3
check "the module with a race is loaded" modprobe quell_planted
check "KCSAN reports it" poll 60 is_reported
check "and goes" rmmod quell_planted
finish
