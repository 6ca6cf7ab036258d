#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bytes 3.1.2 (npm): a text with a unit or a form that it does not know is read as the integer at
# its begin, in bytes: "10GiB" is 10, "1.5 MiB" is 1, and "1e9" is 1.  "10GB" is 10 GiB.
#
# Guess: null, as for a text without a number, or the size in that unit.
#
# Output seen:
#
#	10GB: 10737418240, 10GiB: 10, 10G: 10, 1.5 MiB: 1, 1e9: 1, GiB: null
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm pack --silent bytes@3.1.2 > /dev/null
tar -xzf bytes-3.1.2.tgz

node > out <<'END'
const bytes = require("./package");

console.log(["10GB", "10GiB", "10G", "1.5 MiB", "1e9", "GiB"]
	.map(text => `${text}: ${bytes(text)}`).join(", "));
END
cat out
grep -q '^10GB: 10737418240, .*, GiB: null$' out || exit 2
grep -q ' 10GiB: 10, 10G: 10, 1.5 MiB: 1, 1e9: 1, ' out || {
	echo "changed: bytes does not read an unknown unit as bytes"
	exit 1
}
