#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# regression 2.0.1 (npm): coefficients and predictions are rounded to two decimals.  The drift of a
# clock by 20 us per second, a slope of 0.00002, is 0, each prediction is 0, and r2 of a perfect
# line is negative.
#
# Guess: a fit has the precision of a double; rounding is for printing.
#
# Output seen, of the points (t, 0.00002 t) for t from 0 to 99:
#
#	slope 0, at 90: 0, r2 -2.94
#	with precision 10: slope 0.00002, at 90: 0.0018, r2 1
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir node_modules
npm pack --silent regression@2.0.1 > /dev/null
tar -xzf regression-2.0.1.tgz
mv package node_modules/regression

node > out <<'END'
const regression = require("regression");

const points = Array.from({ length: 100 }, (_, t) => [t, 20e-6 * t]);
for (const [label, options] of [["", {}], ["with precision 10: ", { precision: 10 }]]) {
	const fit = regression.linear(points, options);
	console.log(`${label}slope ${fit.equation[0]}, at 90: ${fit.predict(90)[1]}, r2 ${fit.r2}`);
}
END
cat out
grep -q '^with precision 10: slope 0.00002, at 90: 0.0018, r2 1$' out || exit 2
grep -q '^slope 0, at 90: 0, r2 -2.94$' out || {
	echo "changed: regression does not round the slope to two decimals"
	exit 1
}
