#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A host with Quell's tcp-int and an agent that writes the TCP-INT option, too: what
# leaves has one option, the agent's.
# shellcheck disable=SC2154

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

port=8080
server="" client=""

# Until it is told to end, then says of how many segments that ask for an ACK, and of how many
# others, how many options of kind 0x72 came by the device.
cat >"$dir/count.py" <<'END'
import collections, signal, socket, struct, sys
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
wire.bind((sys.argv[1], 0))
wire.settimeout(0.1)
print("ready", flush=True)
seen = collections.Counter()
while True:
    try:
        ip, where = wire.recvfrom(1 << 17)
    except TimeoutError:
        if ended:
            break
        continue
    ip = ip[14:]
    tcp = ip[(ip[0] & 15) * 4:struct.unpack(">H", ip[2:4])[0]]
    if where[2] == socket.PACKET_OUTGOING or ip[9] != 6 or tcp[:2] != b"\x1f\x90" or tcp[13] & 2:
        continue
    options, at, found = tcp[20:(tcp[12] >> 4) * 4], 0, 0
    while at < len(options) and options[at]:
        found += options[at] == 0x72
        at += 1 if options[at] == 1 else options[at + 1]
    seen["asks" if tcp[13] & 8 else "else", found] += 1
print(*(f"{kind}:{found}:{count}" for (kind, found), count in sorted(seen.items())), flush=True)
END

set_host()
{
	choose_cc "$1" swift &&
	in_netns "$1" quell cc set swift base-target 100ms &&
	in_netns "$1" quell cc set quell tcp-int 1
}

# Segments are short: the agent of this test has TCP leave no room for its option.
set_up()
{
	modprobe tcp_swift || return 1
	cable "$server" wire0 "$client" wire0 10.92.1.1/24 10.92.1.2/24 &&
	ip -n "$client" route change 10.92.1.0/24 dev wire0 advmss 1300 &&
	set_host "$server" && set_host "$client" &&
	serve "$server" "$port" && talker talker "$client"
}

# options_seen: in what comes back from the server.
options_seen()
{
	local watcher

	start_in "$client" python3 "$dir/count.py" wire0 >"$dir/seen"
	watcher=$started
	poll 10 grep -q ready "$dir/seen" &&
	ordered talker "open 4" "cc swift" "connect 10.92.1.1 $port" "xfer 300000" close
	kill "$watcher"
	wait "$watcher"
	tail -n 1 "$dir/seen"
}

# The host writes the option into what asks for an ACK, since agents at switches write there.
one_of_hosts()
{
	options_seen || return 1
	grep -qE '^asks:1:[0-9]+( else:[01]:[0-9]+)*$' "$dir/seen"
}

# This agent writes it into each segment: in none is it missing, and in none twice.
one_of_agents()
{
	options_seen || return 1
	grep -qE '^asks:1:[0-9]+( else:1:[0-9]+)?$' "$dir/seen"
}

new_netns server client
plan 3
check hosts set_up
check "one option in each segment that asks" one_of_hosts
modprobe quell_intagent
defer rmmod quell_intagent
check "one in every segment with an agent, too" one_of_agents
finish
