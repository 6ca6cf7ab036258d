#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iperf3 3.12 (Debian 12): a client that cannot connect ends with status 1, but with --json it ends
# with status 0.  The failure is only in the member "error" of the JSON object.
#
# Guess: the output format does not change the exit status, as with ip(8) or curl(1).  A script that
# checks the status of "iperf3 -J" alone takes a run without a server for a good one.
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

# In a network namespace without a server; its loopback device is down.
run() {
	unshare --map-root-user --net "$dir/root/usr/bin/iperf3" -c 127.0.0.1 "$@" > out 2> err
}

plain=0
run || plain=$?
json=0
run --json || json=$?
error=$(python3 -c 'import json; print(json.load(open("out"))["error"])')
echo "iperf3 $version without a server: status $plain; with --json status $json and error '$error'"
[ "$plain $json ${error:+named}" = "1 0 named" ] || {
	echo "changed: iperf3 --json no longer ends with status 0 and the failure in its member error"
	exit 1
}
