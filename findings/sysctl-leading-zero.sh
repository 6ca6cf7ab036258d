#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: a sysctl reads a number with a leading zero as octal and one with 0x as
# hexadecimal, and takes fewer or more numbers than it has.  Each of these writes succeeds, and
# "sysctl -w" prints the number as it was written, not the one in force.
#
# Guess: 0100 is 100 or refused, and so is a list of the wrong length.
#
# Output seen:
#
#	tcp_reordering 0100: 64
#	tcp_reordering 0x100: 256
#	tcp_rmem "4096 131072 6291456", then 8192: 8192 131072 6291456
#	tcp_rmem, then 1 2 3 4: 1 2 3
#
# Exits with 1 if that changes.  Needs unshare.
set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
cd /proc/sys/net/ipv4
out=$(
	for number in 0100 0x100; do
		echo 3 > tcp_reordering
		echo $number > tcp_reordering || true
		echo "tcp_reordering $number: $(cat tcp_reordering)"
	done
	echo 4096 131072 6291456 > tcp_rmem
	echo 8192 > tcp_rmem || true
	echo "tcp_rmem \"4096 131072 6291456\", then 8192: $(tr '\t' ' ' < tcp_rmem)"
	echo 1 2 3 4 > tcp_rmem || true
	echo "tcp_rmem, then 1 2 3 4: $(tr '\t' ' ' < tcp_rmem)"
)
echo "$out"
[ "$out" = 'tcp_reordering 0100: 64
tcp_reordering 0x100: 256
tcp_rmem "4096 131072 6291456", then 8192: 8192 131072 6291456
tcp_rmem, then 1 2 3 4: 1 2 3' ] || {
	echo "changed: sysctls read numbers as decimal, or refuse lists of another length"
	exit 1
}
