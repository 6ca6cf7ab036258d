#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# prometheus-node-exporter 1.5.0 (Debian 12): an interface without a known speed, as a VXLAN device
# or the NIC of many virtual machines, has node_network_speed_bytes -125000.  That is the kernel's
# -1 Mbit/s in bytes.  A utilisation computed with it is negative, and the sum of speeds is too low.
# Interfaces of which the kernel refuses to read the speed, as lo, have no value, and with
# --collector.netclass.ignore-invalid-speed all without one.
#
# Guess: the metric is absent where no speed is known, as for lo.
#
# Output seen:
#
#	vx0: speed -1, node_network_speed_bytes -125000
#	lo: no speed, node_network_speed_bytes absent
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download prometheus-node-exporter=1.5.0-1+b6 > /dev/null
dpkg-deb -x prometheus-node-exporter_*.deb root
mkdir sys

cat > try <<'TRY'
mount -t sysfs none sys
ip link set lo up
ip link add vx0 type vxlan id 1 dstport 4789
ip link set vx0 up
root/usr/bin/prometheus-node-exporter --web.listen-address=127.0.0.1:9100 --path.sysfs=sys \
	> log 2>&1 &
exporter=$!
trap "kill $exporter" EXIT
for _ in {1..100}; do
	python3 > metrics 2> error - <<'END' && break
import urllib.request

print(urllib.request.urlopen("http://127.0.0.1:9100/metrics").read().decode())
END
	sleep 0.1
done
for name in vx0 lo; do
	speed=$(cat "sys/class/net/$name/speed" 2> error || echo no speed)
	value=$(sed -n "s/^node_network_speed_bytes{device=\"$name\"} //p" metrics)
	echo "$name: speed $speed, node_network_speed_bytes ${value:-absent}" |
		sed 's/speed no speed/no speed/'
done
TRY
unshare --map-root-user --net --mount bash try > out || {
	cat log
	exit 2
}
cat out
grep -q '^vx0: speed -1, ' out && grep -q '^lo: no speed, .* absent$' out || exit 2
grep -q '^vx0: .* -125000$' out || {
	echo "changed: the exporter has no negative speed"
	exit 1
}
