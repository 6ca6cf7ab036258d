#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An algorithm that is chosen on an open connection, or before it is open; and what it
# leaves to the next.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./cc-flow.sh

port=9000

set_up()
{
	two_hosts 84 && modprobe -a tcp_dcqcn tcp_timely && allow_cc dcqcn && allow_cc timely &&
	in_netns "$client" quell cc set timely adapt off t-low 1s t-high 1s
}

plan 3
check "two hosts" set_up
check "dcqcn, chosen before the peer answers, asks for its consent to ECN" \
	late_choice_needs_consent 10.84.0.1 dcqcn
check "the next algorithm gets what timely's rate has in flight, not its bound" \
	leaves_what_rate_holds 10.84.0.1 timely
finish
