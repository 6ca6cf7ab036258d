#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mandoc 1.14.6 (Debian 12): a reference by .MR, groff's macro for them since 1.23, is missing in the
# output, name and section, with status 0 and no message; -T lint alone reports it.
#
# Guess: an unknown macro is printed as text, or the status or a message shows the loss.
#
# Output seen, of ".MR ls 1" between "See" and "first.":
#
#	See first.
#	status 0, 0 messages
#	lint: 1 line about MR
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download mandoc=1.14.6-1+b1 > /dev/null
dpkg-deb -x mandoc_*.deb root
printf '%s\n' '.TH T 1 2026-01-01' '.SH NAME' 't \- test' '.SH NOTES' See '.MR ls 1' first. > t.1

status=0
root/usr/bin/mandoc -T ascii t.1 > out 2> messages || status=$?
root/usr/bin/mandoc -T lint t.1 > warnings 2>&1 || true
sed -n 's/^ *\(See.*\)/\1/p' out
echo "status $status, $(wc -l < messages) messages"
echo "lint: $(grep -c MR warnings || true) line about MR"
grep -q 'See' out || exit 2
if grep -q ls out || [ "$status $(wc -l < messages)" != "0 0" ]; then
	echo "changed: mandoc prints a reference by .MR, or reports it"
	exit 1
fi
