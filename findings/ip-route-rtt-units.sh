#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12): a number without unit after "ip route ... rto_min" is in milliseconds,
# after "rtt" in eighths and after "rttvar" in quarters of one.  With a unit each is rounded up to a
# millisecond, "us" is refused, and rto_min locks itself.  So the RTT of a datacenter can be set as
# a raw number alone, and is then displayed as 0ms.
#
# Guess: the three take the same units, and "rtt 0.2ms" is 200 us.
#
# Output seen:
#
#	rtt 0.2ms rttvar 0.2ms rto_min 0.2ms -> rtt 1ms rttvar 1ms rto_min lock 1ms
#	rtt 2 rttvar 2 rto_min 2 -> rtt 0ms rttvar 0ms rto_min lock 2ms
#	rtt 80 rttvar 80 rto_min 80 -> rtt 10ms rttvar 20ms rto_min lock 80ms
#	rtt 200us: refused
set -euo pipefail
version=6.1.0-3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iproute2=$version" > /dev/null
dpkg-deb -x iproute2_*.deb root
export PATH=$dir/root/bin:$PATH

cat > try <<'TRY'
ip link add va type veth peer name vb
ip link set vb up
ip link set va up
for time in 0.2ms 2 80; do
	set -- rtt $time rttvar $time rto_min $time
	ip route replace 192.0.2.0/24 dev va "$@"
	echo "$* -> $(ip route show 192.0.2.0/24 | grep -o 'rtt .*[^ ]')"
done
ip route replace 192.0.2.0/24 dev va rtt 200us 2> /dev/null || echo "rtt 200us: refused"
TRY
unshare --map-root-user --net sh -e try | tee out || exit 2
diff - out <<'OUT' || { echo "changed: the units of a route's times"; exit 1; }
rtt 0.2ms rttvar 0.2ms rto_min 0.2ms -> rtt 1ms rttvar 1ms rto_min lock 1ms
rtt 2 rttvar 2 rto_min 2 -> rtt 0ms rttvar 0ms rto_min lock 2ms
rtt 80 rttvar 80 rto_min 80 -> rtt 10ms rttvar 20ms rto_min lock 80ms
rtt 200us: refused
OUT
