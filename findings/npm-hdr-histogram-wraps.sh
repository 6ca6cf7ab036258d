#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# hdr-histogram-js 3.0.1 (npm): with bitBucketSize 8 or 16 the count of a bucket wraps, without an
# error, while the total goes on.  A percentile beyond the counts that are left is 0: after 65536
# times 5 the median is 0, which no value was.
#
# Guess: a count that does not fit throws, as a value above the range does, or remains at its limit.
#
# Output seen:
#
#	16 bits: 65536 values, 0 of 5, median 0
#	8 bits: 1000 values, 232 of 5, median 0
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts hdr-histogram-js@3.0.1 > /dev/null

node > out <<'END'
const hdr = require("hdr-histogram-js");

function show(bits, count)
{
	const histogram = hdr.build({ bitBucketSize: bits });

	for (let i = 0; i < count; i++)
		histogram.recordValue(5);
	console.log(`${bits} bits: ${histogram.totalCount} values, ` +
		    `${histogram.getCountAtValue(5)} of 5, ` +
		    `median ${histogram.getValueAtPercentile(50)}`);
}

show(16, 65536);
show(8, 1000);
END
cat out
[ "$(cat out)" = "16 bits: 65536 values, 0 of 5, median 0
8 bits: 1000 values, 232 of 5, median 0" ] || {
	echo "changed: a count of hdr-histogram-js does not wrap"
	exit 1
}
