#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# GNU units 2.22 (Debian 12): "b" is the bar and "Gb" the gilbert, so that "10 Gb/s" is a change of
# magnetomotive force, and "10 Mb/s" one of pressure.
# "B" is the byte, and "bit" the bit.
#
# Guess: b is the bit where B is the byte.
#
# Output seen:
#
#	Gb: gauss cm / mu0 = 0.79577472 A
#	Mb: mega b = 1e+11 kg / m s^2
#	10 GB/s: 80 Gbit/s
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download units=2.22-2 > /dev/null
dpkg-deb -x units_*.deb root

# Of the files that it includes, that of currencies is not where it is expected.
convert() {
	root/usr/bin/units --terse --file root/usr/share/units/definitions.units "$@" 2> log
}
{
	echo "Gb: $(convert Gb | sed 's/^gilbert = //')"
	echo "Mb: $(convert Mb)"
	echo "10 GB/s: $(convert '10 GB/s' 'Gbit/s') Gbit/s"
} > out
cat out
grep -q '^10 GB/s: 80 Gbit/s$' out || { cat log; exit 2; }
[ "$(sed 2q out)" = 'Gb: gauss cm / mu0 = 0.79577472 A
Mb: mega b = 1e+11 kg / m s^2' ] || {
	echo "changed: units has another Gb or Mb"
	exit 1
}
