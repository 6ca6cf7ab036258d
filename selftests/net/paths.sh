#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each algorithm and its option over paths that Quell does not know: WireGuard, IPsec, bonds, XDP
# that redirects frames; and connections closed by "ss -K".  All bytes are compared, both ends have
# the option, and no counter reports a malformed segment.
#
#	client --- server	also two cables below a bond, and a cable through a box with XDP

# shellcheck disable=SC2034,SC2154 # netns variables; of talk.sh

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh
. ./suited.sh

port=8080 bytes=300000
client="" server="" box=""
late=0

# addressed NETNS DEVICE ADDRESS: up, with that.
addressed()
{
	ip -n "$1" addr add "$3/24" dev "$2" && ip -n "$1" link set "$2" up
}

make_network()
{
	new_netns client server box &&
	cable "$client" wire "$server" wire && addressed "$client" wire 10.78.0.2 &&
	addressed "$server" wire 10.78.0.1 && load_all || return 1
	for netns in "$client" "$server"; do
		quell -n "$netns" cc set quell option 1 || return 1
	done
	talker talker "$client" && serve "$server" "$port"
}

# two_flows: one at each end, both with the option.
two_flows()
{
	one_flow "$client" "$port" on && one_flow "$server" "$port" on
}

# A FIN is repeated where a path loses it, and a RST is not.
quiet()
{
	say close || say "open 4"
	poll 20 no_flow "$client" && poll 20 no_flow "$server"
}

# connected ALGORITHM ADDRESS: a connection that has transferred some bytes.
connected()
{
	for netns in "$client" "$server"; do
		choose_cc "$netns" "$1" && suit "$netns" "$1" || return 1
	done
	quiet && say "open 4" "connect $2 $port" "xfer $bytes" && poll 5 two_flows
}

# each ADDRESS [COMMAND]...: a connection of each algorithm, and the command while it is open.
each()
{
	local cc

	for cc in $(algorithms); do
		connected "$cc" "$1" || { echo "$cc"; return 1; }
		[ $# = 1 ] || "${@:2}" || { echo "$cc: ${*:2}"; return 1; }
	done
}

## paths

wireguard()
{
	local number

	for number in 1 2; do
		wg genkey >"$dir/key$number" && wg pubkey <"$dir/key$number" >"$dir/public$number" ||
			return 1
	done
	ip -n "$server" link add wg0 type wireguard && ip -n "$client" link add wg0 type wireguard &&
	in_netns "$server" wg set wg0 listen-port 5000 private-key "$dir/key1" \
		peer "$(cat "$dir/public2")" allowed-ips 10.78.1.2/32 &&
	in_netns "$client" wg set wg0 private-key "$dir/key2" peer "$(cat "$dir/public1")" \
		endpoint 10.78.0.1:5000 allowed-ips 10.78.1.1/32 &&
	addressed "$server" wg0 10.78.1.1 && addressed "$client" wg0 10.78.1.2
}

# state NETNS FROM TO MODE
state()
{
	ip -n "$1" xfrm state add src "10.78.0.$2" dst "10.78.0.$3" proto esp spi "0x10$2$3" \
		reqid 1 mode "$4" aead "rfc4106(gcm(aes))" \
		0x0102030405060708090a0b0c0d0e0f1011121314 128
}

# policy NETNS FROM TO out|in MODE
policy()
{
	local ends=()

	[ "$5" != tunnel ] || ends=(src "10.78.0.$2" dst "10.78.0.$3")
	ip -n "$1" xfrm policy add src "10.78.0.$2" dst "10.78.0.$3" dir "$4" \
		tmpl "${ends[@]}" proto esp reqid 1 mode "$5"
}

# ipsec MODE: all packets between both hosts.
ipsec()
{
	for netns in "$client" "$server"; do
		ip -n "$netns" xfrm state flush && ip -n "$netns" xfrm policy flush &&
		state "$netns" 1 2 "$1" && state "$netns" 2 1 "$1" || return 1
	done
	policy "$client" 2 1 out "$1" && policy "$client" 1 2 in "$1" &&
	policy "$server" 1 2 out "$1" && policy "$server" 2 1 in "$1"
}

esp_packets()
{
	ip -n "$server" -s xfrm state |
		sed -n 's/.*(bytes), \([0-9]*\)(packets).*/\1/p' | sort -n | tail -n 1
}

# over_ipsec MODE: and the connections were encrypted.
over_ipsec()
{
	local status

	ipsec "$1" && each 10.78.0.1 && [ "$(esp_packets)" -gt 100 ]
	status=$?
	for netns in "$client" "$server"; do
		ip -n "$netns" xfrm policy flush
		ip -n "$netns" xfrm state flush
	done
	return "$status"
}

# bond MODE: of two cables.
bond()
{
	local number

	for number in 0 1; do
		ip -n "$client" link del "slave$number" 2>/dev/null
		ip link add "slave$number" netns "$client" type veth peer "slave$number" \
			netns "$server" || return 1
	done
	for netns in "$client" "$server"; do
		ip -n "$netns" link del bond0 2>/dev/null
		ip -n "$netns" link add bond0 type bond mode "$1" miimon 50 || return 1
		for number in 0 1; do
			keep_order "$netns" "slave$number" &&
			ip -n "$netns" link set "slave$number" master bond0 || return 1
		done
	done
	addressed "$server" bond0 10.78.2.1 && addressed "$client" bond0 10.78.2.2 &&
	poll 20 in_netns "$client" ping -c 1 -W 1 10.78.2.1
}

# of_bond NETNS FILE VALUE: the value that sysfs has of the bond.
of_bond()
{
	[ "$(in_netns "$1" cat "/sys/class/net/bond0/bonding/$2")" = "$3" ]
}

# The cable in use is cut, and the other takes over while data is under way.
fail_over()
{
	local active

	active=$(in_netns "$client" cat /sys/class/net/bond0/bonding/active_slave)
	ask talker "xfer 3000000" && ip -n "$server" link set "$active" down && told talker &&
	poll 10 eval "! of_bond $client active_slave $active" &&
	ip -n "$server" link set "$active" up
}

over_backup()
{
	bond active-backup &&
	tc -n "$client" qdisc add dev bond0 root tbf rate 30mbit burst 20kb limit 300kb &&
	each 10.78.2.1 fail_over
}

late_frames()
{
	counter_of "$server" netstat TcpExt TCPOFOQueue
}

# Since the last connection.
reordered()
{
	local before=$late

	late=$(late_frames)
	[ "$late" -gt "$before" ]
}

# Both cables lead into one queue, where frames would keep their order.
in_turns()
{
	bond balance-rr && tc -n "$client" qdisc add dev slave1 root netem delay 5ms &&
	late=$(late_frames) && each 10.78.2.1 reordered
}

# Until both ends have agreed, which takes seconds, a port may change and lose frames.
by_lacp()
{
	bond 802.3ad && poll 60 of_bond "$client" ad_num_ports 2 &&
	poll 60 of_bond "$server" ad_num_ports 2 && each 10.78.2.1
}

# A box whose two devices have the indices that redirect.bpf.c redirects between.  Frames have their
# checksums, as XDP does not complete them.
redirecting()
{
	local number names=("$client" "$server") object=./redirect.bpf.o

	[ -e "$object" ] || object=$(dirname "$(dirname "$(command -v quell)")")/lib/quell/test/$object

	for number in 0 1; do
		ip link add xwire netns "${names[number]}" type veth peer "box$number" \
			netns "$box" index $((10 + number)) &&
		in_netns "${names[number]}" ethtool -K xwire tx off gro on &&
		addressed "${names[number]}" xwire "10.78.3.$((2 - number))" &&
		ip -n "$box" link set "box$number" up || return 1
	done
	for number in 0 1; do
		ip -n "$box" link set "box$number" xdp obj "$object" sec xdp || return 1
	done
	poll 20 in_netns "$client" ping -c 1 -W 1 10.78.3.1
}

# ss -K: the peer is reset; here the flow lasts until the program closes its socket.
killed()
{
	in_netns "$client" ss -K dst 10.78.0.1 dport = "$port" | grep -q ESTAB &&
	poll 20 no_flow "$server" && say "open 4" && poll 20 no_flow "$client"
}

# No counter of a malformed or forged segment, and no socket holds a module once the talker's, which
# has the default of its time, is another.
healthy()
{
	quiet || return 1
	for netns in "$client" "$server"; do
		quell -n "$netns" -j stat quell >"$dir/stat" &&
		json '.[0].counters | .["option-negotiated"] > 0 and .["rtt-echo"] > 0 and
			([.["option-malformed", "option-bad-checksum", "segment-malformed",
			"segment-bad-checksum", "nack-malformed"] // 0] | add == 0)' "$dir/stat" &&
		choose_cc "$netns" cubic || return 1
	done
	say "open 4" && poll 60 unload tcp_dart tcp_dcqcn tcp_hpcc tcp_smartt tcp_swift tcp_timely quell
}

modprobe -a -q wireguard esp4 xfrm_user bonding
plan 10
check "two hosts" make_network
if command -v wg >/dev/null; then
	check "WireGuard" eval "wireguard && each 10.78.1.1"
else
	skip "WireGuard" "no wg"
fi
check "IPsec, transport mode" over_ipsec transport
check "IPsec, tunnel mode" over_ipsec tunnel
check "a bond with a backup, and a cable that fails" over_backup
check "a bond in turns, which reorders" in_turns
check "a bond by LACP" by_lacp
check "XDP redirects" eval "redirecting && each 10.78.3.1"
check "ss -K" each 10.78.0.1 killed
check "no segment was malformed, and the modules are unloaded" healthy
finish
