#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Miller 6.6.0 and jq 1.6 (Debian 12): "mlr --icsv --ojson" prints each field that Miller reads as a
# number without quotes and as it was written, also 0x48, .5 and 5., which JSON does not have.  A
# mark or a DSCP in hexadecimal, as of ip and tc, makes the output one that jq refuses.
#
# Guess: such a field is a text with quotes, or its decimal value.
#
# Output seen:
#
#	mark 0x48: {"mark": 0x48}
#	jq: parse error: Invalid numeric literal at line 1, column 14
#	mark 72: {"mark": 72}
#	jq: 72
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download miller=6.6.0-2+b3 jq=1.6-2.1+deb12u3 \
	libjq1=1.6-2.1+deb12u3 libonig5=6.9.8-1 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu PATH=$dir/root/usr/bin:$PATH

for mark in 0x48 72; do
	printf 'mark\n%s\n' $mark | mlr --icsv --ojsonl cat > json
	echo "mark $mark: $(cat json)"
	echo "jq: $(jq .mark json 2>&1)"
done > out
cat out
grep -q '^jq: 72$' out || exit 2
[ "$(head -n 2 out)" = 'mark 0x48: {"mark": 0x48}
jq: parse error: Invalid numeric literal at line 1, column 14' ] || {
	echo "changed: jq reads the output of Miller for a field in hexadecimal"
	exit 1
}
