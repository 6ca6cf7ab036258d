#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Root of a user namespace configures its own network: it may choose the algorithms
# that the machine's administrator allows, and no others.  The last script of a boot:
# 6.1 never lets a module go that a namespace was refused (Documentation/compat.md).

cd "$(dirname "$0")" || exit 1
. ./lib.sh

# as_container ALGORITHM
as_container()
{
	unshare -U -r -n sysctl -w net.ipv4.tcp_congestion_control="$1"
}

# Its CAP_NET_ADMIN is over its own network, not over that of the machine.
sets_the_machine()
{
	unshare -U -r quell cc set timely adapt off
}

machine_is_default()
{
	quell -j cc show timely adapt | jq -e '.[0].params[0] | .value == .default'
}

# What scripts before this one allowed.
allow_none()
{
	sysctl -q -w net.ipv4.tcp_allowed_congestion_control=reno
}

plan 5
allow_none
check "tcp_timely loads" modprobe tcp_timely
check "it cannot be chosen where it is not allowed" refuses "not permitted" as_container timely
allow_cc timely
check "it can where it is" as_container timely
check "the machine's parameters cannot be set" refuses "needs CAP_NET_ADMIN" sets_the_machine
check "nor have they changed" machine_is_default
finish
