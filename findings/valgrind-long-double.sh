#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# valgrind 3.19.0 (Debian 12, amd64): it computes long double with the 53 bits of a double, not with
# the 64 bits of the processor.  printf of coreutils 9.1, which parses numbers as long double, has
# other digits under valgrind than without it, and no message says so.
#
# Guess: memcheck watches the memory of a program and leaves its results as they are.
#
# Output seen:
#
#	printf %.25f 0.1: 0.1000000000000000000013553
#	under valgrind: 0.1000000000000000055511151
#	printf %.1f 9007199254740993: 9007199254740993.0
#	under valgrind: 9007199254740992.0
set -euo pipefail
version=1:3.19.0-1

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "valgrind=$version" coreutils=9.1-1 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export VALGRIND_LIB=$dir/root/usr/libexec/valgrind

for number in "%.25f 0.1" "%.1f 9007199254740993"; do
	read -r format value <<< "$number"
	echo "printf $number: $(root/usr/bin/printf "$format" "$value")"
	echo "under valgrind: $(root/usr/bin/valgrind -q root/usr/bin/printf "$format" "$value")"
done > out
cat out
[ "$(cut -d : -f 2 out)" = ' 0.1000000000000000000013553
 0.1000000000000000055511151
 9007199254740993.0
 9007199254740992.0' ] || {
	echo "changed: valgrind computes long double as the processor does"
	exit 1
}
