#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# npm csv-parse 7.0.3, and 5.5.6: with "cast: true" a hexadecimal field as 0x48 is the number 0.  It
# is found to be a number by JavaScript's conversion, which knows hexadecimal, and is read by
# parseFloat(), which ends at the x.  Marks, flags, handles and TOS values are so all equal.
#
# Guess: the field is 72, or remains the text "0x48".
#
# Output seen, of the fields 0x48, 0xff, 0b11, 1e3 and 12:
#
#	0 0 0 1000 12
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm pack --silent csv-parse@7.0.3 > /dev/null
mkdir node_modules
tar -xzf csv-parse-7.0.3.tgz
mv package node_modules/csv-parse

node > out <<'END'
const { parse } = require("csv-parse/sync");

const [fields] = parse("0x48,0xff,0b11,1e3,12\n", { cast: true });
console.log(fields.map(field => JSON.stringify(field)).join(" "));
END
cat out
grep -q ' 1000 12$' out || exit 2
[ "$(cat out)" = "0 0 0 1000 12" ] || {
	echo "changed: csv-parse reads hexadecimal fields, or leaves them as they are"
	exit 1
}
