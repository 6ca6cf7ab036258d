#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12) on Linux 6.18.44 and 6.1.176: a size table of tc ("stab overhead 100")
# counts its overhead once for each GSO packet of some 40 segments, and takes away the headers of
# the segments, which a qdisc counts without a table.  A queue that is to account for more bytes on
# the wire so accounts for fewer: the same transfer is smaller with the table than without one.
#
# Guess: overhead is added for each packet on the wire, as packets are counted, and never subtracts.
#
# Output seen, for 10 MB of TCP over veth with TSO (the bytes vary by a few kB):
#
#	without a table: 10456692 bytes, 6918 packets
#	stab overhead 100: 10029202 bytes, 6912 packets
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
for table in "" "stab overhead 100"; do
	tc qdisc del dev va root 2> /dev/null || true
	tc qdisc add dev va root handle 1: $table htb default 10
	tc class add dev va parent 1: classid 1:10 htb rate 10gbit quantum 100000
	python3 send.py
	tc -s qdisc show dev va | sed -n 's/ *Sent \([0-9]*\) bytes \([0-9]*\) pkt.*/\1 \2/p'
done
TRY
unshare --map-root-user --net bash -e try > out || exit 2
read -r -d '' without packets with more < out || true
echo "without a table: $without bytes, $packets packets"
echo "stab overhead 100: $with bytes, $more packets"
[[ "$packets" -gt 6000 && "$with" -lt "$without" ]] || {
	echo "changed: a size table counts its overhead for each segment"
	exit 1
}
