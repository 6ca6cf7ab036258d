#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A storm for KCSAN (race.sh): connections of every algorithm open, change their algorithm and end,
# through a port that drops, marks, trims and stamps, while parameters change and all is listed.
# shellcheck disable=SC2031,SC2154 # each worker draws for itself; of race.sh

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./race.sh

make_network()
{
	make_hosts && serve_all "$server"
}

plan 2
check "two hosts, every algorithm" make_network
check "connections come and go for $storm_s s" storm \
	"open_many $client 10.91.0.2 8080" "open_many $client 10.91.0.2 8080" \
	"ask $client 10.91.0.2 7100" "turn $client 4 10.91.0.2 7001" "turn $client 6 fd91::2 7001" \
	"dump $client" "dump $server" \
	"list $client; change_quell $client; has_flows $server 3; change_cc $server; \
change_port $client; change_default $server; list $server; change_quell $server; \
has_flows $client 3; change_cc $client; change_port $server"
say_storm
finish
