#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# convert-units 2.3.4 (npm): the prefixes of bits, as of bytes, are powers of 1024, though those of
# rates of links are powers of 1000: 10 Gb are 10240 Mb, or 1280 MB.
#
# Guess: 10 Gb are 10000 Mb or 1250 MB.
#
# Output seen:
#
#	10 Gb: 10240 Mb, 1280 MB, 10737418240 b
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts convert-units@2.3.4 > /dev/null

node > out <<'END'
const convert = require("convert-units");

console.log("10 Gb: " + ["Mb", "MB", "b"].map(unit =>
	`${convert(10).from("Gb").to(unit)} ${unit}`).join(", "));
END
cat out
grep -q '^10 Gb: 1' out || exit 2
grep -q '^10 Gb: 10240 Mb, 1280 MB, 10737418240 b$' out || {
	echo "changed: the prefixes of bits are powers of 1000"
	exit 1
}
