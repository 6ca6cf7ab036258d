#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nping 7.93 (Debian 12): --rate is a delay of whole milliseconds, rounded down.  From 1001 on the
# delay is 0: nping sends as quickly as it can, with no message.
#
# Guess: --rate 1001 sends about 1001 packets per second, or it is refused.
#
# Output seen (the second and third vary with the machine):
#
#	--rate 1000: 3000 packets in 5.02 s
#	--rate 1001: 3000 packets in 0.15 s
#	--delay 0: 3000 packets in 0.15 s
#
# Where --delay 0 takes 2 s or more, the machine is too slow to show the limit.
#
# The libraries that nping needs are those of the machine, except libpcap.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download nmap=7.93+dfsg1-1 libpcap0.8=1.10.3-1 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu PATH=$dir/root/usr/bin:$PATH

cat > try <<'TRY'
ip link set lo up
for pace in "--rate 1000" "--rate 1001" "--delay 0"; do
	# shellcheck disable=SC2086 # two words
	nping --icmp -q --no-capture --count 3000 $pace 127.0.0.1 |
		sed -n 's/^Nping done:.* in \([0-9.]*\) seconds/\1/p'
done
TRY
unshare --map-root-user --net bash -e try > out 2> log || exit 2
read -r -d '' slow fast free < out || true
echo "--rate 1000: 3000 packets in $slow s"
echo "--rate 1001: 3000 packets in $fast s"
echo "--delay 0: 3000 packets in $free s"
[ "${slow%.*}" -ge 3 ] && [ "${free%.*}" -lt 2 ] || exit 2
[ "${fast%.*}" -lt 3 ] || {
	echo "changed: nping --rate 1001 has a limit of about 1001 packets per second"
	exit 1
}
