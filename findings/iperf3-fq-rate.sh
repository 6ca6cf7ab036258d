#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iperf3 3.12 (Debian 12): --fq-rate keeps the rate in bytes/s in 32 bits.  At 34.36 Gbit/s it
# starts from zero again without a warning: --fq-rate 40G sets a pacing rate of 5.6 Gbit/s, 36G one
# of 1.6 Gbit/s.  The kernel takes 64 bits, and iperf3 3.18 (Debian 13) passes them.
#
# Guess: a rate that the option's parser takes is the rate that the socket gets.
#
# Output seen, from "ss -ti" (pacing rate in force/limit of the socket):
#
#	--fq-rate 34G: pacing_rate 34000000000bps/34000000000bps
#	--fq-rate 36G: pacing_rate 1640261632bps/1640261632bps
#	--fq-rate 40G: pacing_rate 5640261632bps/5640261632bps
set -euo pipefail
version=3.12-1+deb12u2

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download \
	"iperf3=$version" "libiperf0=$version" iproute2=6.1.0-3 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu:$dir/root/usr/lib
export PATH=$dir/root/usr/bin:$dir/root/bin:$PATH

cat > try <<'TRY'
ip link set lo up
iperf3 --server > server.log 2>&1 &
server=$!
trap "kill $server" EXIT
until ss -Hltn "sport = 5201" | grep -q .; do sleep 0.1; done
for rate in 34G 36G 40G; do
	iperf3 --client 127.0.0.1 --connect-timeout 5000 --time 20 --fq-rate $rate > client.log 2>&1 &
	client=$!
	limit=""
	for _ in {1..100}; do	# until the data connection has one, after the slash
		limit=$(ss -tinHO "dport = 5201" | grep -o 'pacing_rate [0-9]*bps/[0-9]*bps') && break
		sleep 0.1
	done
	echo "--fq-rate $rate: $limit"
	kill $client
	wait $client || true
	while ss -tnH state established "sport = 5201" | grep -q .; do sleep 0.1; done
done
TRY
unshare --map-root-user --net bash try > out || exit 2
cat out
[ "$(sed 's|.*/||' out | tr '\n' ' ')" = "34000000000bps 1640261632bps 5640261632bps " ] || {
	echo "changed: iperf3 no longer cuts --fq-rate to 32 bits of bytes/s"
	exit 1
}
