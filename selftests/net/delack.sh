#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs that take turns: what a request and its answer cost in packets, beside cubic, and
# what an ACK that waits for an answer does to round-trip times and tail loss probes.
#
#	$client wire --- wire $server, 50 us each way
#	10.94.0.2        10.94.0.1

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

client="" server="" there=10.94.0.1
turns=1000
# Without the option an ACK in 64 is for a round-trip time.
most_packets=2050

make_network()
{
	local netns

	modprobe tcp_swift && new_netns client server &&
	cable "$client" wire "$server" wire 10.94.0.2/24 "$there/24" || return 1
	for netns in "$client" "$server"; do
		tc -n "$netns" qdisc add dev wire root netem delay 50us limit 10000 &&
		quell -n "$netns" cc set swift base-target 10ms adapt off &&
		quell -n "$netns" link set wire rate 100gbit || return 1
	done
	serve "$server" 7100 && serve "$server" 7101 think,20 && serve "$server" 7102 think,1000 &&
	serve "$server" 7104 think,200 &&
	talker talker "$client"
}

# become ALGORITHM [OPTION]
become()
{
	local netns

	for netns in "$client" "$server"; do
		choose_cc "$netns" "$1" &&
		{ [ -z "${2-}" ] || quell -n "$netns" cc set quell option "$2"; } || return 1
	done
}

packets()
{
	echo $(($(counter_of "$client" snmp Tcp OutSegs) + $(counter_of "$server" snmp Tcp OutSegs)))
}

# quell_counter NAME: of both hosts.
quell_counter()
{
	local netns

	for netns in "$client" "$server"; do
		quell -n "$netns" -j stat quell
	done | jq -s "map(.[].counters[\"$1\"]? // 0) | add"
}

# take_turns PORT COUNT: $cost is the packets, 200 turns of warming up not counted.
cost=0
take_turns()
{
	local before

	ordered talker "open 4" "connect $there $1" "turns 200 100" || return 1
	before=$(packets)
	ordered talker "turns $2 100" && cost=$(($(packets) - before)) &&
	note "port $1: $cost packets for $2 turns" >&3
}

turns_cost_little()
{
	become "${@:2}" && take_turns "$1" "$turns" && ((cost >= 2 * turns && cost <= most_packets))
}

# A server that thinks longer has its requests acknowledged at once, as its client its answers.
slow_answers_cost_no_probe()
{
	local before

	before=$(quell_counter tail-probes)
	become swift "$1" && take_turns 7102 100 && ((cost <= 410)) &&
	[ "$(quell_counter tail-probes)" = "$before" ]
}

# Of the newest connection, at the client.
flow_is()
{
	quell -n "$client" -j flow show >"$dir/flows" && json "$1" "$dir/flows"
}

# The 20 us that the server thinks are in no round-trip time: with the option they are told,
# and without it they are not taken.
thought_is_no_queue()
{
	become swift "$1" && take_turns 7101 "$turns" &&
	flow_is '.[-1] | .rtt_ns - (.remote_ns // 0) < 105000 and .min_rtt_ns > 99000'
}

# has_risen NAME FROM
has_risen()
{
	[ "$(quell_counter "$1")" -gt "$2" ]
}

# The last answer's ACK leaves by the timer, before the server takes its answer for lost.
last_ack_leaves()
{
	local before late

	before=$(quell_counter tail-probes) late=$(quell_counter ack-delay-expired)
	become swift "$1" && take_turns 7100 16 &&
	poll 10 has_risen ack-delay-expired "$late" &&
	ordered talker close && [ "$(quell_counter tail-probes)" = "$before" ]
}

# A sender whose window is less than the request asks within it, too; that is no end of a
# request, and its ACK waits for no answer.  A window of one packet, and a round trip of 10 us.
long_requests()
{
	in_netns "$client" python3 -c "
import socket
sock = socket.create_connection(('$there', 7103))
for turn in range(200):
    sock.sendall(bytes(2000))
    assert len(sock.recv(100, socket.MSG_WAITALL)) == 100"
}

requests_longer_than_the_window()
{
	local netns late

	for netns in "$client" "$server"; do
		tc -n "$netns" qdisc replace dev wire root netem delay 5us limit 10000 &&
		quell -n "$netns" link set wire rate 1300mbit &&
		quell -n "$netns" cc set swift ai 8kbit init-window 2000b || return 1
	done
	become swift "$1" && late=$(quell_counter ack-delay-expired) &&
	long_requests || return 1
	note "$(($(quell_counter ack-delay-expired) - late)) ACKs of 200 long requests waited in vain" >&3
	[ "$(quell_counter ack-delay-expired)" -le "$late" ]
}

# A server that answers once it has the whole of a request.
serve_whole_requests()
{
	start_in "$server" python3 -c "
import socket
listener = socket.create_server(('$there', 7103))
while True:
    sock, _ = listener.accept()
    while len(sock.recv(2000, socket.MSG_WAITALL)) == 2000:
        sock.sendall(bytes(100))"
	poll 10 listens "$server" 7103
}

as_before()
{
	local netns

	for netns in "$client" "$server"; do
		tc -n "$netns" qdisc replace dev wire root netem delay 50us limit 10000 &&
		quell -n "$netns" link set wire rate 100gbit &&
		quell -n "$netns" cc reset swift ai init-window || return 1
	done
}

# Turns with a server, which then stops, and messages to it, 30 us apart: the longest time in us
# that one was not acknowledged.
oldest_message_us()
{
	in_netns "$client" python3 -c "
import fcntl, os, socket, struct, time
open('/proc/self/timerslack_ns', 'w').write('1')
sock = socket.create_connection(('$there', 7100))
sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
sent, waiting, oldest_ns = 0, [], 0

def send():
    global sent
    sock.sendall(bytes((at * 131 + (at >> 8) * 7 + (at >> 16)) & 255
                       for at in range(sent, sent + 100)))
    sent += 100

for turn in range(16):
    send()
    sock.recv(100, socket.MSG_WAITALL)
os.system('pkill -STOP -x option_tcp')
for message in range(400):
    send()
    waiting.append((sent, time.monotonic_ns()))
    time.sleep(30e-6)
    queued = struct.unpack('i', fcntl.ioctl(sock, 0x5411, bytes(4)))[0]
    while waiting and waiting[0][0] <= sent - queued:
        oldest_ns = max(oldest_ns, time.monotonic_ns() - waiting.pop(0)[1])
oldest_ns = max([oldest_ns] + [time.monotonic_ns() - at for _, at in waiting[:1]])
print(oldest_ns // 1000)"
}

# When each timer of quell.ko for tails and waiting ACKs fires, from now, in ns; the next first.
timers_ns()
{
	awk '/probe_fired/ { ours = 1 }
		/expires at/ && ours { print $(NF - 3); ours = 0 }' /proc/timer_list
}

# The timers of both ends in units of 10 us, after so many turns with a server that replies at once.
timers_after()
{
	local times at

	ordered talker "open 4" "connect $there 7100" "turns $1 100" || return 1
	read -r -d '' -a times <<<"$(timers_ns)"
	note "timers fire in ${times[*]} ns after $1 turns" >&3
	for at in "${times[@]}"; do
		echo $(((at - 4000) / 10000)) >>"$dir/timers"
	done
	ordered talker close
}

# Of a server 10 us away.  An ACK may be delayed by 50 us.  A segment sets its end's timer to three
# quarters of those after the round trip: the next data received does not set it.  Nor does the
# segment sent then, as the one after it comes before the timer fires; that one sets it again.
answer_puts_timer_off()
{
	local netns

	for netns in "$client" "$server"; do
		tc -n "$netns" qdisc replace dev wire root netem delay 10us limit 10000 || return 1
	done
	rm -f "$dir/timers"
	become swift "$1" && timers_after 40 && timers_after 41 &&
	[ "$(sort "$dir/timers" | xargs)" = "0 1 2 3" ]
}

# Without the option replies within half of a round trip, here 500 us, carry their requests' ACKs.
replies_within_half_a_round_trip()
{
	local netns

	for netns in "$client" "$server"; do
		tc -n "$netns" qdisc replace dev wire root netem delay 500us limit 10000 || return 1
	done
	turns_cost_little 7104 swift "$1" && [ "$(quell_counter tail-probes)" = "$probes" ]
}

# However many messages come meanwhile: the path, the wait, and the sender's next look.
no_ack_waits_longer()
{
	local oldest_us

	become swift "$1" && oldest_us=$(oldest_message_us) || return 1
	pkill -CONT -x option_tcp
	note "a message waits $oldest_us us at most" >&3
	[ "$oldest_us" -ge 100 ] && [ "$oldest_us" -le 200 ]
}

# Round trips of swift_vaisf at both ends.
rounds()
{
	local netns

	for netns in "$client" "$server"; do
		quell -n "$netns" -j stat swift_vaisf
	done | jq -s 'map(.[].counters.rounds? // 0) | add'
}

# A request of 100 bytes is all that is in flight: its ACK ends a round trip, not only that of a
# full segment's worth.
turns_are_round_trips()
{
	local netns before

	for netns in "$client" "$server"; do
		quell -n "$netns" cc set swift_vaisf adapt off || return 1
	done
	become swift_vaisf 0 && before=$(rounds) && take_turns 7100 "$turns" || return 1
	note "$(($(rounds) - before)) round trips of $turns turns at both ends" >&3
	(($(rounds) - before >= 2 * turns))
}

exec 3>&1
plan 21
check "two hosts" make_network
check "a server of whole requests" serve_whole_requests
check "cubic" turns_cost_little 7100 cubic
check "each turn is a round trip" turns_are_round_trips
for option in 0 1; do
	check "swift, option $option" turns_cost_little 7100 swift $option
	check "option $option: a server that thinks 20 us" thought_is_no_queue $option
	check "option $option: a server that thinks 1 ms costs no probe" \
		slow_answers_cost_no_probe $option
	check "option $option: the last ACK leaves by the timer" last_ack_leaves $option
	check "option $option: no ACK waits longer, however many messages come" \
		no_ack_waits_longer $option
	check "option $option: requests longer than the window" \
		requests_longer_than_the_window $option
	check "option $option: an answer puts off the timer of its request" answer_puts_timer_off $option
	check "option $option: as before" as_before
done
probes=$(quell_counter tail-probes)
check "option 0: a server that thinks for less than half a round trip" \
	replies_within_half_a_round_trip 0
finish
