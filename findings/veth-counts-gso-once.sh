#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12) on Linux 6.18.44 and 6.1.176: for one transfer over one veth device,
# "ip -s link" counts each GSO packet as one packet with one header, and "tc -s qdisc" of the same
# device counts its segments, with a header each: forty times as many packets and 4 % more bytes.
# Drop rates and mean packet sizes from one of the two with a divisor of the other are wrong.
#
# Guess: a packet that the qdisc has sent is one that the device has sent, and so are its bytes.
#
# Output seen (the numbers vary by some packets):
#
#	ip -s link: 10011654 bytes, 175 packets
#	tc -s qdisc: 10456758 bytes, 6919 packets
set -euo pipefail
version=6.1.0-3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iproute2=$version" > /dev/null
dpkg-deb -x iproute2_*.deb root
export PATH=$dir/root/sbin:$dir/root/bin:$PATH

cat > receive.py <<'END'
import socket

with socket.create_server(("", 5000)) as listener:
    print("ready", flush=True)
    while True:
        with listener.accept()[0] as sock:
            while sock.recv(1 << 20):
                pass
END
cat > send.py <<'END'
import socket

sock = socket.create_connection(("10.0.0.2", 5000))
sock.sendall(bytes(10000000))
sock.shutdown(socket.SHUT_WR)
sock.recv(1)
END
cat > try <<'TRY'
coproc unshare --net python3 receive.py
peer=$COPROC_PID
trap "kill $peer" EXIT
read -r _ <&"${COPROC[0]}"
ip link add va type veth peer name vb netns $peer
ip addr add 10.0.0.1/24 dev va
ip link set va up
nsenter --net --target $peer sh -c 'ip addr add 10.0.0.2/24 dev vb; ip link set vb up'
tc qdisc add dev va root pfifo
python3 send.py
ip -j -s link show dev va | jq -r '.[].stats64.tx | "\(.bytes) \(.packets)"'
tc -j -s qdisc show dev va | jq -r '.[] | "\(.bytes) \(.packets)"'
TRY
unshare --map-root-user --net bash -e try > out || exit 2
read -r -d '' device_bytes device qdisc_bytes qdisc < out || true
echo "ip -s link: $device_bytes bytes, $device packets"
echo "tc -s qdisc: $qdisc_bytes bytes, $qdisc packets"
[[ "$qdisc" -gt $((10 * device)) && "$qdisc_bytes" -gt $((device_bytes + 200000)) ]] || {
	echo "changed: the device counts segments, or the qdisc does not"
	exit 1
}
