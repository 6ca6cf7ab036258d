#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The Quell option spoken by a BPF host: quell bpf option.
#
#	wire	host (cgroup with the program, bpf_swift) --- peer (quell.ko, swift)
#	far	host --- box (option_box) --- peer
#	other	host --- plain (cubic, nothing of ours)
#
# Both ends agree, whoever connects; each believes the other's echoes; round-trip times are
# those of the cables, waits apart; n and marks are told; what a box forges or cuts is refused
# and counted; a plain peer, and one behind a box that strips the option, get plain TCP.
#
# Arguments: box, where the box does something; tell, n and marks; both without, and neither
# with another word.
# shellcheck disable=SC2154 # $flows is talk.sh's

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

port=8090 plain_port=8091 slow_port=8092 dart_port=8093 one_port=8095 delack_port=8096
hold_port=8097 mark_port=8098
host="" peer="" box="" plain=""
objects=${QUELL_BPF_DIR:-$(dirname "$(dirname "$(command -v quell)")")/lib/quell/bpf}
storage=/sys/fs/bpf/quell/option/quell_options
cable=(delay 10ms rate 1gbit)	# with the rate no whole microseconds, for exact clocks
cable_ns=20000000
least_ns=$((cable_ns - 1000))	# netem reads the clock later than TCP
slack_ns=200000000	# that an emulated host may take, on a busy machine
think_us=3500	# less than a tick, before which no delayed acknowledgment leaves
prompt_ns=20000000	# half of TCP_DELACK_MIN, the least that a delayed one waits
reply_us=30000	# below TCP_DELACK_MIN, above the delays that the program sets
hold_us=30	# below QUELL_ECHO_WAIT_NS: reported as hold time
cgroup=$dir/cgroup/host
box_pid="" server_pid="" changed=""

make_network()
{
	local netns

	new_netns host peer box plain
	cable "$host" wire "$peer" wire 10.84.0.2/24,fd84::2/64 10.84.0.1/24,fd84::1/64 &&
	cable "$host" far "$box" box0 10.85.0.2/24 &&
	cable "$peer" far "$box" box1 10.85.0.1/24 &&
	cable "$host" other "$plain" other 10.86.0.2/24 10.86.0.1/24 || return 1
	# The box wants whole packets with whole checksums.
	for netns in "$host" "$peer"; do
		in_netns "$netns" ethtool -K far tso off gso off gro off tx off >/dev/null || return 1
	done
	shape "${cable[@]}" &&
	mkdir "$dir/cgroup" && mount -t cgroup2 none "$dir/cgroup" && defer umount "$dir/cgroup" &&
	mkdir "$cgroup" && defer rmdir "$cgroup"
}

# shape WORD...: the wire, both ways.
shape()
{
	local netns

	for netns in "$host" "$peer"; do
		in_netns "$netns" tc qdisc replace dev wire root netem "$@" || return 1
	done
}

# What starts from here on is in the cgroup.
as_host()
{
	printf "echo \$\$ >'%s/cgroup.procs'; exec %s" "$cgroup" "$*"
}

# host_talker NAME: talk.sh's, in the cgroup; $host_pid is its process.
host_talker()
{
	local to from

	mkfifo "$dir/$1.in" "$dir/$1.out"
	start_in "$host" sh -c "$(as_host option_tcp talk) <'$dir/$1.in' >'$dir/$1.out'"
	host_pid=$started
	exec {to}>"$dir/$1.in" {from}<"$dir/$1.out"
	talker_to[$1]=$to
	talker_from[$1]=$from
}

# host_serve PORT [COMMAND]...: $server_pid is its process.
host_serve()
{
	start_in "$host" sh -c "$(as_host option_tcp serve "$*")" >"$dir/serve.host.$1"
	server_pid=$started
	poll 60 says_ready "serve.host.$1"
}

# An emulated host holds segments for longer than Swift's targets, and at its smallest window
# nothing would arrive in time.
sets_up()
{
	choose_cc "$peer" swift && quell bpf load swift adapt off base-target 1s host-target 1s &&
	allow_cc bpf_swift && choose_cc "$host" bpf_swift &&
	in_netns "$peer" quell cc set swift adapt off base-target 1s host-target 1s &&
	in_netns "$peer" quell cc set quell option 1 &&
	quell bpf option on cgroup "$cgroup" && [ -e "$storage" ]
}

words_are_checked()
{
	status 1 quell bpf option frob && says "'frob' is not show, on or off" &&
	status 1 quell bpf option on cgroup && says "the value of 'cgroup' is missing" &&
	status 1 quell bpf option on cgroup "$dir" && says "is no cgroup of version 2" &&
	status 2 quell bpf option on cgroup "$cgroup" && says "is on in $cgroup already" &&
	status 2 quell bpf option off cgroup "$dir/cgroup" && says "is not on in $dir/cgroup"
}

is_shown()
{
	quell -j bpf option >"$dir/shown" &&
	json "(.cgroups | length) == $1 and (.counters | length) == 12" "$dir/shown" &&
	[ "$(quell bpf option | grep -c '^cgroup [0-9]')" -eq "$1" ]
}

serves()
{
	serve "$peer" "$port" && serve "$plain" "$plain_port" && host_serve "$port" &&
	host_talker talker && talker module "$peer"
}

# What both ends count from here on.
mark()
{
	counters before
}

counters()
{
	quell -j bpf option | jq .counters >"$dir/host.$1" &&
	quell -n "$peer" -j stat quell | jq '.[0].counters' >"$dir/peer.$1"
}

# moved FILTER: by what both counted, .host and .peer.
moved()
{
	counters after &&
	jq -n '[inputs] | def less($a; $b): $b | with_entries(.value -= $a[.key]);
		{ host: less(.[0]; .[1]), peer: less(.[2]; .[3]) }' "$dir/host.before" \
		"$dir/host.after" "$dir/peer.before" "$dir/peer.after" >"$dir/moved" &&
	jq -e "$1" "$dir/moved" >/dev/null && return 0
	echo "not true: $1"
	jq -c 'map_values(with_entries(select(.value != 0)))' "$dir/moved"
	return 1
}

# What the host keeps of a process's connection.
optconn_of()
{
	bpf_optconn "$storage" "$1" | tee "$dir/talk"
}

# The server's process for its connection.
child_of()
{
	child=$(cat /proc/[0-9]*/stat 2>/dev/null | awk -v parent="$1" '$4 == parent { print $1 }')
	child=${child%%$'\n'*}
	[ -n "$child" ]
}

garbled='.["option-malformed"] + .["option-out-of-window"]'
refused="$garbled"' + .["rtt-echo-refused"]'
spoken='.host["option-negotiated"] == 1 and .peer["option-negotiated"] == 1 and
	.host["rtt-echo"] > 2 and .peer["rtt-echo"] > 0 and
	.peer["rtt-echo"] + .peer["rtt-echo-delayed"] > 2 and .host["option-stripped"] == 0 and
	.peer["option-malformed"] + .peer["rtt-echo-refused"] + .peer["option-bad-checksum"] == 0 and
	(.host | '"$refused"') == 0'

# peer_rtt: the peer's flow of the option has the round-trip time of the cable.
peer_rtt()
{
	quell -n "$peer" -j flow show >"$dir/flow" &&
	json "length == 1 and .[0].option == \"on\" and .[0].clock == \"software\" and
		.[0].min_rtt_ns >= $least_ns and .[0].min_rtt_ns <= $((cable_ns + slack_ns))" \
		"$dir/flow"
}

# host_rtt PROCESS: the same of the host's, in ns, for many an ACK.
host_rtt()
{
	optconn_of "$1" &&
	json ".heard == 1 and .echoes > 2 and .silent < 32 and .min_rtt_ns >= $least_ns and
		.min_rtt_ns <= $((cable_ns + slack_ns)) and .min_rtt_ns % 1000 != 0" "$dir/talk"
}

# host_connects ADDRESS: to the peer.
host_connects()
{
	mark && say "open $2" "connect $1 $port" "turns 20 100" "xfer 100000" &&
	moved "$spoken" && peer_rtt && host_rtt "$host_pid" && say close
}

peer_connects()
{
	mark && ordered module "open $2" "connect $1 $port" "turns 20 100" "xfer 100000" &&
	moved "$spoken" && peer_rtt && child_of "$server_pid" && host_rtt "$child" && ordered module close
}

# waits TALKER END: of a turn the request's acknowledgment waited for the answer, and END, which sent
# the request, takes it for no round trip; nothing is refused.
waits()
{
	mark && ordered "$1" "turns 1 100" && moved ".host[\"option-waited\"] >= 1 and
		.$2[\"rtt-echo-delayed\"] >= 1 and (.$2[\"rtt-echo\"] // 0) == 0 and
		(.host | $refused) == 0 and .peer[\"rtt-echo-refused\"] == 0"
}

# until_waits TALKER END: unless the emulator is slow; and none has closed the window.
until_waits()
{
	local try

	for try in {1..40}; do
		waits "$1" "$2" && break
		echo "try $try"
	done
	[ "$try" -lt 40 ] && ordered "$1" window && [ "${answer##* }" -ge 5 ] && ordered "$1" close
}

# A request waits for its answer, and is acknowledged by it: that is neither the network's time
# nor that of a busy host, for which Swift would close its window.
wait_is_no_delay()
{
	host_serve "$slow_port" "think,$think_us" &&
	ordered module "open 4" "connect 10.84.0.2 $slow_port" "turns 20 100" &&
	until_waits module peer
}

# The same by a BPF host of another BPF host: it is the host itself, over a loopback with a delay.
wait_is_heard()
{
	tc -n "$host" qdisc replace dev lo root netem delay 100us &&
	say "open 4" "connect 10.84.0.2 $slow_port" "turns 20 100" && until_waits talker host
}

# A BPF receiver acknowledges a request on its own, after its shorter delay: the stack's delay is
# longer than the reply takes, which would carry the ACK.
delay_is_short()
{
	local turns=10 before after

	host_serve "$delack_port" "think,$reply_us" &&
	ordered module "open 4" "connect 10.84.0.2 $delack_port" "turns 20 100" &&
	before=$(counter_of "$host" snmp Tcp OutSegs) && ordered module "turns $turns 100" &&
	after=$(counter_of "$host" snmp Tcp OutSegs) && ordered module close || return 1
	echo "$((after - before)) segments in $turns turns"
	[ $((after - before)) -ge $((2 * turns)) ]
}

# The sender accepts all of the time for which the receiver reports that it held the packet.
hold_is_exact()
{
	serve "$peer" "$hold_port" "think,$hold_us" &&
	say "open 4" "connect 10.84.0.1 $hold_port" "turns 20 100" && optconn_of "$host_pid" &&
	json ".hold_ns >= ${hold_us}000 and .hold_ns < ${hold_us}000 + 1000" "$dir/talk" && say close
}

echoed_after()
{
	optconn_of "$host_pid" && json ".echoes > $1" "$dir/talk"
}

# In a window of one packet no data follows that has the receiver acknowledge it, and no PSH.
window_of_one()
{
	local try prompt=0 seen=0

	serve "$peer" "$one_port" sink && quell bpf set swift base-target 1us fs-range 0 min-window 1 &&
	say "open 4" "connect 10.84.0.1 $one_port" && ask talker "send 200000" || return 1
	for try in {1..16}; do
		poll 5 echoed_after "$seen" && seen=$(jq .echoes "$dir/talk") &&
		json ".hold_ns < $prompt_ns" "$dir/talk" && ((++prompt))
	done
	echo "$prompt of $try acknowledgments at once"
	quell bpf set swift base-target 1s && told talker && say close &&
	quell bpf reset swift fs-range min-window && [ "$prompt" -ge 8 ]
}

# Some header without room for it is among them, and no byte is wrong.  After data that came
# without the option, for want of room, the echo is that of older data, which is refused.
survives_loss()
{
	local status

	shape delay 1ms loss 3% && mark && say "open 4" "connect 10.84.0.1 $port" "xfer 150000" close &&
	ordered module "open 4" "connect 10.84.0.2 $port" "xfer 150000" close &&
	moved ".host[\"option-negotiated\"] + .peer[\"option-negotiated\"] >= 2 and
		(.host | $garbled) == 0 and (.peer | $garbled) == 0"
	status=$?
	shape "${cable[@]}" && return "$status"
}

# boxed MODE: what the peer's segments meet.
boxed()
{
	start_in "$box" ./option_box "$1" box1 box0 >"$dir/box"
	box_pid=$started
	poll 60 says_ready box
}

# It ends; $changed is how many segments it changed.
unbox()
{
	stop "$box_pid"
	changed=$(sed -n 's/^seen [0-9]* changed \([0-9]*\)$/\1/p' "$dir/box")
	echo "the box changed $changed"
	[ "$changed" -gt 0 ]
}

through_box()
{
	mark && boxed "$1" && say "open 4" "connect 10.85.0.1 $port" "xfer 150000" close
}

# refuses_as MODE COUNTER: all that the box falsified, and nothing else.
refuses_as()
{
	through_box "$1" && unbox &&
	moved "$spoken_anyway and .host[\"$2\"] == $changed and (.host | $refused) == $changed"
}

spoken_anyway='.host["option-negotiated"] == 1 and .peer["option-negotiated"] == 1 and
	.host["rtt-echo"] > 2 and .peer["rtt-echo"] > 0 and
	.peer["rtt-echo"] + .peer["rtt-echo-delayed"] > 2'

# TCP drops these segments, after it has shown them; the data comes again.
is_outside()
{
	through_box unsent && unbox && moved "$spoken_anyway and .host[\"option-malformed\"] == 0 and
		.host[\"option-out-of-window\"] == $changed"
}

# is_silent_of MODE: TCP drops them, or they are no options of ours.
is_silent_of()
{
	through_box "$1" && unbox && moved "$spoken_anyway and (.host | $garbled) == 0"
}

stripped_from_all()
{
	through_box strip-all && unbox &&
	moved '.host["option-negotiated"] == 0 and .peer["option-negotiated"] == 0 and
		.host["option-sent"] == 1 and .host["option-stripped"] == 0'
}

# The room is given back: segments are as long as without the option.
stripped_from_data()
{
	mark && boxed strip-data && say "open 4" "connect 10.85.0.1 $port" "xfer 200000" &&
	optconn_of "$host_pid" && [ "$(cat "$dir/talk")" = null ] && say close && unbox &&
	moved '.host["option-negotiated"] == 1 and .host["option-stripped"] == 1 and
		.host["rtt-echo"] == 0'
}

plain_peer()
{
	mark && say "open 4" "connect 10.86.0.1 $plain_port" "xfer 150000" && optconn_of "$host_pid" &&
	[ "$(cat "$dir/talk")" = null ] && say close &&
	moved '.host["option-negotiated"] == 0 and .host["option-sent"] == 1 and
		.host["option-received"] == 0 and .host["option-no-room"] == 0' || return 1
	# It has the option in its SYN only if the algorithm is ours.
	mark && say "open 4" "cc cubic" "connect 10.84.0.1 $port" "xfer 10000" close &&
	moved '.host["option-sent"] == 0 and .host["option-negotiated"] == 0'
}

# The receiver counts its senders, one, and states the line of its interface, that of a veth.
n_is_told()
{
	choose_cc "$peer" dart && quell bpf load dart adapt off && choose_cc "$host" bpf_dart &&
	serve "$peer" "$dart_port" sink && say "open 4" "connect 10.84.0.1 $dart_port" \
		"send 100000" && poll 5 n_has_come && say close
}

n_has_come()
{
	optconn_of "$host_pid" && json '.senders_q8 == 256 and .peer_link_bytes_ps == 1250000000 and
		.follows == 1' "$dir/talk"
}

# marks_are_heard CC PORT: the receiver's algorithm; all data of the peer is marked.
marks_are_heard()
{
	local heard

	# Without an algorithm that needs ECN the receiver accepts it from a SYN that is not ECT.
	choose_cc "$host" "$1" && choose_cc "$peer" swift net.ipv4.tcp_ecn=1 && host_serve "$2" sink &&
	shape delay 1ms && ordered module "open 4" "connect 10.84.0.2 $2" &&
	in_netns "$peer" tc qdisc replace dev wire root netem delay 1ms loss 100% ecn &&
	ask module "send 40000" && poll 10 mark_was_heard
	heard=$?
	shape "${cable[@]}" && in_netns "$peer" sysctl -q -w net.ipv4.tcp_ecn=2
	told module && ordered module close && [ "$heard" -eq 0 ]
}

marks_are_heard_by_dart()
{
	marks_are_heard bpf_dart "$dart_port" && quell bpf unload dart
}

mark_was_heard()
{
	child_of "$server_pid" && optconn_of "$child" && json '.marked == 1' "$dir/talk"
}

# The open connection goes on without it, by the stack's own round-trip times.
off_under_flow()
{
	choose_cc "$host" bpf_swift && choose_cc "$peer" swift && serve "$peer" 8094 &&
	say "open 4" "connect 10.84.0.1 8094" "turns 10 100" && host_rtt "$host_pid" &&
	quell bpf option off cgroup "$cgroup" && is_shown 0 && say "turns 40 100" &&
	optconn_of "$host_pid" && json '.silent == 32' "$dir/talk" && say close &&
	status 2 quell bpf option off && says "on in no cgroup"
}

on_again()
{
	quell bpf option on cgroup "$cgroup" && is_shown 1 && host_connects 10.84.0.1 4 &&
	quell bpf option off && is_shown 0 && quell bpf unload swift
}

[ -e "$objects/option.bpf.o" ] || {
	echo "1..0 # SKIP no object in $objects"
	exit 4
}
wants()
{
	[[ " ${words[*]} " = *" $1 "* ]]
}

# 6.1 lacks it: there only algorithms with ECN store marks.
has_marks()
{
	grep -qw bpf_cast_to_kern_ctx /proc/kallsyms
}

words=("$@")
[ $# -gt 0 ] || words=(box tell)
checks=16
! is_virtual || checks=$((checks + 1))
! wants box || checks=$((checks + 8))
! wants tell || checks=$((checks + 2))
! wants tell || ! has_marks || checks=$((checks + 1))
plan $checks
check "hosts, a box between, and a cgroup" make_network
check "the program is attached" sets_up
check "words are checked" words_are_checked
check "it is shown" is_shown 1
check "servers and talkers" serves
check "a BPF host connects: agreement, echoes, round-trip times" host_connects 10.84.0.1 4
check "the same over IPv6" host_connects fd84::1 6
check "a module host connects: agreement, echoes, round-trip times" peer_connects 10.84.0.2 4
check "the same over IPv6" peer_connects fd84::2 6
check "an acknowledgment that waits is no delay" wait_is_no_delay
check "nor to another BPF host" wait_is_heard
check "a window of one packet does not wait for a module host" window_of_one
check "a BPF receiver acknowledges before a slow reply" delay_is_short
! is_virtual || check "hold times are accepted to the ns" hold_is_exact
check "a plain peer, a plain algorithm: plain TCP" plain_peer
if wants box; then
	check "data arrives unharmed despite loss" survives_loss
	check "forged echoes are refused" refuses_as forge rtt-echo-refused
	check "cut options are malformed" refuses_as cut option-malformed
	check "acknowledgments of what was never sent are out of the window" is_outside
	check "another experiment is not heard" is_silent_of other
	check "damaged segments are not heard" is_silent_of damage
	check "stripped from all segments: plain TCP" stripped_from_all
	check "stripped from data: given up" stripped_from_data
fi
if wants tell; then
	check "n and the line rate are told" n_is_told
	check "marks are heard" marks_are_heard_by_dart
	! has_marks || check "marks are heard without ECN" marks_are_heard bpf_swift "$mark_port"
fi
check "turned off under an open connection" off_under_flow
check "turned on again" on_again
finish
