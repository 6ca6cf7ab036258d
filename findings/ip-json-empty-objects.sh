#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12), and 6.15 (Debian 13): "ip -j link show" with a condition (type, up,
# master) prints an empty object for each interface that does not meet it, where the text has no
# line for it.  The length of the array is the number of all interfaces, and .[0] may be empty.
#
# Guess: the JSON has the interfaces that the text has.
#
# Output seen, with lo and two ends of a veth pair, each down:
#
#	ip link show type dummy: 0 lines
#	ip -j link show type dummy: [{},{},{}]
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
ip link show type dummy > text
ip -j link show type dummy > json
TRY
unshare --map-root-user --net sh -e try
echo "ip link show type dummy: $(wc -l < text) lines"
echo "ip -j link show type dummy: $(cat json)"
[ "$(wc -l < text) $(python3 -m json.tool --compact json)" = "0 [{},{},{}]" ] || {
	echo "changed: ip -j leaves out an interface that does not meet the condition"
	exit 1
}
