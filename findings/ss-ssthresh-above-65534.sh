#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12) on Linux 6.18.44: "ss -i" leaves out a slow start threshold of 65535
# packets or more, as if it were not set.  A path of 100 Gbit/s and 10 ms has 86000 packets of 1448
# bytes in flight.  TCP_INFO has 32 bits for it, and "not set" is 2147483647.
#
# Guess: it is missing only while no loss has set it.
#
# Output seen, with the threshold taken from the metrics of a route:
#
#	65534: TCP_INFO 65534, ss "ssthresh:65534"
#	65535: TCP_INFO 65535, ss ""
#	86000: TCP_INFO 86000, ss ""
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download iproute2=6.1.0-3 > /dev/null
dpkg-deb -x iproute2_*.deb root
export PATH=$dir/root/sbin:$dir/root/bin:$PATH

cat > connect.py <<'END'
import re
import socket
import struct
import subprocess
import sys

threshold, address = sys.argv[1:]


def connect():
    """Both ends of a new connection."""
    listener = socket.create_server((address, 0))
    client = socket.socket()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    client.connect(listener.getsockname())
    return client, listener.accept()[0]


client, server = connect()      # leaves the entry of the address in the cache of metrics
client.close()
server.recv(1)
server.close()
client, server = connect()
seen, = struct.unpack_from("76xI", client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 80))
text = subprocess.run(["ss", "-Htin", "sport", "=", str(client.getsockname()[1])],
                      capture_output=True, check=True, text=True).stdout
shown = "".join(re.findall(r"(?<!_)ssthresh:\d+", text))
print(f'{threshold}: TCP_INFO {seen}, ss "{shown}"')
END
cat > try <<'TRY'
ip link set lo up
echo 0 > /proc/sys/net/ipv4/tcp_no_ssthresh_metrics_save
address=1
for threshold in 65534 65535 86000; do
	ip route add local 10.9.$address.0/24 dev lo ssthresh lock $threshold
	python3 connect.py $threshold 10.9.$address.1
	address=$((address + 1))
done
TRY
unshare --map-root-user --net bash -e try > out || exit 2
cat out
[ "$(sed 's/, ss.*//' out)" = "65534: TCP_INFO 65534
65535: TCP_INFO 65535
86000: TCP_INFO 86000" ] || exit 2
[ "$(sed 's/.*, ss //' out)" = '"ssthresh:65534"
""
""' ] || {
	echo "changed: ss prints a slow start threshold of 65535 or more"
	exit 1
}
