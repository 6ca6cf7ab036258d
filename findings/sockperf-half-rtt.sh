#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sockperf 3.7 (Debian 12): "latency" of a ping-pong, its percentiles too, is half of the measured
# round trip, on one host as well.  Option --full-rtt, not the default, prints the round trip.
#
# Guess: a tool that sends a message and waits for the reply reports that time, as ping does.
#
# The round trips of one second divide the time of the run.  Output seen (it varies):
#
#	22018 round trips in 1.549 s: 70.4 us each; sockperf prints 35.1 us
set -euo pipefail
version=3.7-1

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "sockperf=$version" > /dev/null
dpkg-deb -x sockperf_*.deb root
export PATH=$dir/root/usr/bin:$PATH

cat > try <<'TRY'
ip link set lo up
sockperf server --tcp -i 127.0.0.1 -p 5001 > server 2>&1 &
trap "kill $!" EXIT
until ss -Htln sport = 5001 | grep -q 5001; do :; done
sockperf ping-pong --tcp -i 127.0.0.1 -p 5001 -t 2 > client 2>&1
TRY
unshare --map-root-user --net bash -e try
python3 - <<'END'
import re
import sys

with open("client") as file:
    text = file.read()
run = re.search(r"Valid Duration\] RunTime=([\d.]+) sec; SentMessages=(\d+)", text)
printed_us = float(re.search(r"Latency is ([\d.]+) usec", text)[1])
seconds, messages = float(run[1]), int(run[2])
each_us = 1e6 * seconds / messages
print(f"{messages} round trips in {seconds} s: {each_us:.1f} us each; "
      f"sockperf prints {printed_us:.1f} us")
if not 0.45 < printed_us / each_us < 0.55:
    sys.exit("changed: sockperf prints another share of the round trip")
END
