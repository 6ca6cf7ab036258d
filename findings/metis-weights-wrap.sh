#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# METIS 5.1.0 (Debian 12): the sum of all vertex weights is kept in 32 bits.  Eight vertices of
# weight 300000000 each, as of bytes per host, are all put into one of two parts, with status 0, and
# the other part has no vertex.  With a weight of 200000000, of which the sum fits, they are halved.
#
# Guess: a weight that fits in 32 bits is valid, and a sum that does not is refused.
#
# Output seen, the vertices of a chain of eight in each part of two, and the edges between them:
#
#	weight 200000000: 4 4, Edgecut: 1
#	weight 300000000: 8 0, Edgecut: 0
#	weight 600000000: 0 8, Edgecut: 0
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download metis=5.1.0.dfsg-7 libmetis5=5.1.0.dfsg-7 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu

for weight in 200000000 300000000 600000000; do
	{
		echo "8 7 010"
		echo "$weight 2"
		for vertex in {2..7}; do
			echo "$weight $((vertex - 1)) $((vertex + 1))"
		done
		echo "$weight 7"
	} > chain
	root/usr/bin/gpmetis chain 2 > log
	echo "weight $weight: $(grep -c 0 chain.part.2) $(grep -c 1 chain.part.2)," \
		"$(grep -o 'Edgecut: [0-9]*' log)"
done > out || true
cat out
sed -n 1p out | grep -q ': 4 4,' || exit 2
if [ "$(sed 1d out | grep -cE ': (8 0|0 8),')" != 2 ]; then
	echo "changed: gpmetis divides vertices of which the weights exceed 32 bits together"
	exit 1
fi
