#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iperf3 3.12 (Debian 12): --bytes and --blockcount are limits of all streams together, not of each
# one, and are rounded up to whole blocks.  "--parallel 4 --bytes 1000" sends 131072 bytes in one
# stream and no byte in the three others, with status 0.  (--bitrate is for each stream.)
# "--blockcount 3 --parallel 4" leaves a stream without a block.  So do the threads of 3.18 (Debian
# 13), where the share of each stream varies from run to run.
#
# Guess: four flows of the size given, as four flows of the rate given with --bitrate.
#
# Output seen, the bytes of each stream:
#
#	--bytes 1000 --parallel 4: 131072 0 0 0
#	--blockcount 3 --parallel 4: 131072 131072 131072 0
set -euo pipefail
version=3.12-1+deb12u2

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iperf3=$version" "libiperf0=$version" > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu:$dir/root/usr/lib
export PATH=$dir/root/usr/bin:$PATH

cat > try <<'TRY'
ip link set lo up
iperf3 --server > server.log 2>&1 &
server=$!
trap "kill $server" EXIT
for limit in "--bytes 1000" "--blockcount 3"; do
	until iperf3 --client 127.0.0.1 $limit --parallel 4 --json > client.json &&
	      jq -e '.error == null' client.json > /dev/null; do
		sleep 0.1
	done
	echo "$limit --parallel 4: $(jq -r '[.end.streams[].sender.bytes] | map(tostring) | join(" ")' \
		client.json)"
done
TRY
timeout 60 unshare --map-root-user --net bash try > out
cat out
[ "$(cat out)" = "--bytes 1000 --parallel 4: 131072 0 0 0
--blockcount 3 --parallel 4: 131072 131072 131072 0" ] || {
	echo "changed: iperf3 no longer shares --bytes or --blockcount between the streams"
	exit 1
}
