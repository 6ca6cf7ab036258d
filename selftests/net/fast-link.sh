#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An interface that is faster than its driver says, as virtual ones are: 25 Gbit/s, and what
# quell link says of it.  The departures that a flow computes must not run ahead of the clock:
# a lost tail is found nearly as soon as where the rate is right, and echoes are believed.
#
#	$client wire --- wire $server, 20 us each way
#	10.94.0.2        10.94.0.1

cd "$(dirname "$0")" || exit 1
. ./lib.sh

port=7300
client="" server=""

cat >"$dir/server.py" <<'PY'
import socket
import sys

listener = socket.create_server(("10.94.0.1", int(sys.argv[1])))
print("ready", flush=True)
while True:
    sock, _ = listener.accept()
    while sock.recv(1 << 20):
        pass
PY

# Sends for 0.2 s, waits until all is acknowledged, says so, sends one packet more when told, and
# says after how many us that was acknowledged.
cat >"$dir/client.py" <<'PY'
import array
import fcntl
import socket
import sys
import time

SIOCOUTQ = 0x5411

def wait_for_acks():
    queued = array.array("i", [1])
    while queued[0]:
        time.sleep(50e-6)
        fcntl.ioctl(sock, SIOCOUTQ, queued)

sock = socket.create_connection(("10.94.0.1", int(sys.argv[1])))
end = time.monotonic() + 0.2
while time.monotonic() < end:
    sock.send(b"x" * 65536)
wait_for_acks()
print("sent", flush=True)
sys.stdin.readline()
start = time.monotonic()
sock.send(b"y" * 1000)
wait_for_acks()
print(int((time.monotonic() - start) * 1e6), flush=True)
PY

says()
{
	grep -q "$1" "$dir/$2"
}

# set_path WORD...: of the client
set_path()
{
	tc -n "$client" qdisc replace dev wire root netem delay 20us rate 25gbit limit 500 "$@"
}

make_network()
{
	modprobe tcp_swift && new_netns client server &&
	cable "$client" wire "$server" wire 10.94.0.2/24 10.94.0.1/24 &&
	set_path &&
	tc -n "$server" qdisc add dev wire root netem delay 20us rate 25gbit limit 500 &&
	choose_cc "$client" swift && choose_cc "$server" swift || return 1
	start_in "$server" python3 "$dir/server.py" "$port" >"$dir/server"
	poll 10 says ready server
}

drops()
{
	tc -n "$client" -s -j qdisc show dev wire | jq '.[0].drops'
}

# Has the next packet lost and none after it; no time passes while this looks.
lose_one()
{
	local before i

	set_path loss 100% && before=$(drops) && echo go >&5 || return 1
	for ((i = 0; i < 1000; i++)); do
		[ "$(drops)" -eq "$before" ] || {
			set_path
			return
		}
	done
	return 1
}

# lost_tail OPTION RATE: after how many us a lost packet had arrived
lost_tail()
{
	local pid

	quell -n "$client" cc set quell option "$1" && quell -n "$server" cc set quell option "$1" &&
	quell -n "$client" link set wire rate "$2" && rm -f "$dir/go" && mkfifo "$dir/go" ||
		return 1
	start_in "$client" sh -c "exec timeout 60 python3 '$dir/client.py' $port <'$dir/go'" \
		>"$dir/client"
	pid=$started
	exec 5>"$dir/go"
	poll 20 says sent client && lose_one && wait "$pid"
	exec 5>&-
	tail -n 1 "$dir/client"
}

# repaired OPTION RATE MOST_US
repaired()
{
	local us

	us=$(lost_tail "$1" "$2")
	note "option $1, $2: lost tail after $us us" >&3
	[ "$us" -gt 0 ] && [ "$us" -le "$3" ]
}

# The right rate refuses none.
echoes_are_believed()
{
	local refused

	refused=$(quell_count "$client" rtt-echo-refused)
	note "$refused echoes refused of $(quell_count "$client" rtt-samples)" >&3
	[ "$refused" -eq 0 ]
}

exec 3>&1
plan 6
check "two hosts" make_network
check "no option, the right rate" repaired 0 25gbit 5000
check "no option, 10 Gbit/s, a virtual interface's own" repaired 0 10gbit 10000
check "option, the right rate" repaired 1 25gbit 5000
check "no echo was refused" echoes_are_believed
check "option, 10 Gbit/s" repaired 1 10gbit 10000
finish
