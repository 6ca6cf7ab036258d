#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a kernel with PREEMPT_RT and debugging options reports of the faults of quell_badcontext.
# After other scripts it shows that these options were still on: lockdep goes off with its first
# report.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

reported()
{
	poll 10 sh -c 'dmesg | awk "/quell-test-start badcontext/ { begun = 1 } begun" | grep -q "$1"' sh "$1" ||
		{ dmesg | tail -n 20; return 1; }
}

plan 5
check "the kernel has PREEMPT_RT" sh -c "uname -v | grep PREEMPT_RT"
check "faults are made" modprobe quell_badcontext
check "a sleep in atomic context is reported" reported "BUG: sleeping function called from invalid"
check "a pointer of RCU outside of a read section is" reported "WARNING: suspicious RCU usage"
check "a lock that sleeps within one that does not is" reported "BUG: Invalid wait context"
finish
