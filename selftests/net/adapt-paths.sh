#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Out of the box on a path that is slower than the sender's interface, as every virtual machine,
# container and uplink has it: traffic unlike the bulk that follows it teaches a flow no base, noise
# or rate by which it keeps half of the line.  Goodput is at least 0.9 of cubic's, in the same run.
#
#	$client wire --- wire $server, veth: 10 Gbit/s by its driver; netem at both ends
#	10.86.0.1        10.86.0.2
#
# And the port of the quick start: flows that overfill its queue together are no slow path.  Where
# the kernel has nf_tables, a policer instead, which drops without a queue.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./suited.sh

port=8600 client="" server="" serving="" mbit=0
declare -A cubic

# Takes connections; of each, messages behind their lengths in eight bytes, and answers each.
cat >"$dir/server.py" <<'PY'
import socket
import sys
import threading

def take(sock, number):
    while number:
        data = sock.recv(min(number, 1 << 20))
        if not data:
            return False
        number -= len(data)
    return True

def serve(sock):
    while True:
        head = sock.recv(8, socket.MSG_WAITALL)
        if len(head) < 8 or not take(sock, int.from_bytes(head, "big")):
            return
        sock.sendall(b"x")

listener = socket.create_server(("10.86.0.2", int(sys.argv[1])))
if int(sys.argv[2]):
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(sys.argv[2]))
print("ready", flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
PY

# Words: messages=NUMBER:BYTES, 1 ms apart; rest=MS; lowat=BYTES:WRITE:US, from then on no more is
# written before less is unsent, and so late; bulk=BYTES, whose Mbit/s it prints.
cat >"$dir/client.py" <<'PY'
import select
import socket
import sys
import time

TCP_NOTSENT_LOWAT = 25
CHUNK = 1 << 18

def message(size):
    sock.sendall(size.to_bytes(8, "big") + bytes(size))
    sock.recv(1)

def bulk(size):
    start = time.monotonic()
    sock.sendall(size.to_bytes(8, "big"))
    left = size
    while left:
        if late is not None:
            select.select([], [sock], [])
            time.sleep(late)
        left -= sock.send(bytes(min(left, write)))
    sock.recv(1)
    return int(size * 8 / (time.monotonic() - start) / 1e6)

sock = socket.create_connection(("10.86.0.2", int(sys.argv[1])))
sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
write, late = CHUNK, None
for word in sys.argv[2:]:
    key, _, value = word.partition("=")
    numbers = [int(number) for number in value.split(":")]
    if key == "messages":
        for _ in range(numbers[0]):
            message(numbers[1])
            time.sleep(0.001)
    elif key == "rest":
        time.sleep(numbers[0] / 1000)
    elif key == "lowat":
        sock.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, numbers[0])
        write, late = numbers[1], numbers[2] / 1e6
    else:
        print(bulk(numbers[0]), flush=True)
PY

make_hosts()
{
	local netns

	load_all && modprobe sch_swport && new_netns client server &&
	cable "$client" wire "$server" wire 10.86.0.1/24 10.86.0.2/24 || return 1
	for netns in "$client" "$server"; do
		in_netns "$netns" sysctl -q -w net.ipv4.tcp_no_metrics_save=1 || return 1
	done
}

# path RATE DELAY: each way.
path()
{
	local netns

	for netns in "$client" "$server"; do
		tc -n "$netns" qdisc replace dev wire root netem rate "$1" delay "$2" \
			limit 1000 || return 1
	done
}

is_ready()
{
	grep -q ready "$dir/server"
}

# serve [BYTES]: with a receive buffer of so much.
serve()
{
	[ -z "$serving" ] || stop "$serving"
	port=$((port + 1))
	: >"$dir/server"
	start_in "$server" python3 "$dir/server.py" "$port" "${1:-0}" >"$dir/server"
	serving=$started
	poll 10 is_ready
}

# send ALGORITHM WORD...: into $mbit
send()
{
	choose_cc "$client" "$1" || return 1
	mbit=$(in_netns "$client" timeout 60 python3 "$dir/client.py" "$port" "${@:2}") &&
	[ -n "$mbit" ]
}

# as_cubic ALGORITHM WORD...: on the path as it is.
as_cubic()
{
	local words="${*:2}"

	if [ -z "${cubic[$words]-}" ]; then
		send cubic "${@:2}" || return 1
		cubic[$words]=$mbit
	fi
	send "$@" || return 1
	note "$1, $words: $mbit Mbit/s, cubic ${cubic[$words]}" >&3
	[ $((mbit * 10)) -ge $((cubic[$words] * 9)) ]
}

short_window_as_cubic()
{
	serve 60000 && as_cubic "$@" rest=1 && serve
}

# through_port ALGORITHM: three flows through a port as the quick start makes it; what they have in
# sum until the last ends, into $mbit.
through_port()
{
	local i slowest=1000 pids=()

	tc -n "$client" qdisc replace dev wire root swport rate 1gbit limit 225kb ecn min 45kb \
		max 180kb && choose_cc "$client" "$1" || return 1
	for i in 1 2 3; do
		in_netns "$client" timeout 60 python3 "$dir/client.py" "$port" bulk=6000000 \
			>"$dir/sent.$i" &
		pids+=($!)
	done
	poll 10 has_verdicts "$1"
	wait "${pids[@]}"
	for i in 1 2 3; do
		read -r mbit <"$dir/sent.$i" || return 1
		[ "$mbit" -ge "$slowest" ] || slowest=$mbit
	done
	mbit=$((3 * slowest))
}

has_verdicts()
{
	[ "$1" != cubic ] || return 0
	quell -n "$client" -j flow show >"$dir/flows" &&
	jq -e 'map(select(.adapt == "fit" or .adapt == "fallback")) | length >= 3' "$dir/flows"
}

port_is_no_slow_path()
{
	tc -n "$server" qdisc del dev wire root && through_port cubic || return 1
	cubic[port]=$mbit
	through_port swift || return 1
	note "three flows through a port, in sum: $mbit Mbit/s, cubic ${cubic[port]};" \
		"$(jq -c 'map([.adapt, .fallback])' "$dir/flows")" >&3
	[ "$mbit" -le 1000 ] && [ $((mbit * 10)) -ge $((cubic[port] * 9)) ] &&
	json 'all(.fallback != "slow-path")' "$dir/flows"
}

police()
{
	in_netns "$server" nft -f - <<-NFT
		table ip police {
			chain in {
				type filter hook prerouting priority 0;
				tcp dport > 8000 limit rate over 6250 kbytes/second drop
			}
		}
	NFT
}

# policed ALGORITHM: nine tenths of that rate.  The bucket of nft's byte limits holds a second of
# the rate in addition to its burst: a transfer before, which takes longer, empties it.
policed()
{
	send cubic bulk=14000000 && send "$1" bulk=5000000 &&
	note "$1, policed: $mbit Mbit/s" >&3 && [ "$mbit" -ge 45 ]
}

exec 3>&1
require "two hosts" eval 'make_hosts && path 1gbit 50us && serve'
all=()
read -ra all -d "" <<<"$(algorithms)"
if in_netns "$server" nft list ruleset 2>/dev/null; then
	# 50 Mbit/s are four segments a round trip: a window that stays small is not enough.
	path 1gbit 500us
	plan $((${#all[@]} + 1))
	check "a policer of 50 Mbit/s" police
	for algorithm in "${all[@]}"; do
		check "policed: $algorithm" policed "$algorithm"
	done
	finish
	exit
fi
plan $((${#all[@]} + 5 + 2 + 1))
for algorithm in "${all[@]}"; do
	check "small messages, then bulk: $algorithm" \
		as_cubic "$algorithm" messages=20:100 bulk=10000000
done
for words in "messages=8:1000 bulk=5000000" "messages=4:30000 rest=300 bulk=5000000" \
	     "lowat=1:65536:0 bulk=10000000" "lowat=4096:16384:20 bulk=5000000"; do
	# shellcheck disable=SC2086 # words
	check "$words" as_cubic swift $words
done
check "a short receive window" short_window_as_cubic swift bulk=3000000
for rate in 200mbit 2500mbit; do
	path "$rate" 50us
	check "small messages at $rate" as_cubic swift messages=20:100 "rest=${rate%mbit}" bulk=5000000
done
check "three flows through the quick start's port" port_is_no_slow_path
finish
