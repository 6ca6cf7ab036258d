#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# BusyBox 1.35.0 (Debian 12): `grep -x -F -f FILE` with an empty FILE matches each line, and with -v
# no line.  Without -x, or without -F, an empty list matches no line.  A script that removes known
# lines by `grep -v -x -F -f KNOWN` loses all lines as long as the list is empty.
#
# Guess: a list without a pattern matches no line, with any options, as in GNU grep.
#
# Output seen, of two lines:
#
#	-f 0, -F -f 0, -x -f 0, -x -F -f 2
set -euo pipefail
version=1:1.35.0-4+deb12u1+b1

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "busybox-static=$version" > /dev/null
dpkg-deb -x busybox-static_*.deb root

touch list
count()
{
	printf 'sda\nsdb\n' | root/bin/busybox grep "$@" list | wc -l
}
out="-f $(count -f), -F -f $(count -F -f), -x -f $(count -x -f), -x -F -f $(count -x -F -f)"
echo "$out"
[ "$out" = "-f 0, -F -f 0, -x -f 0, -x -F -f 2" ] || {
	echo "changed: an empty list of patterns matches the same lines with other options"
	exit 1
}
