#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tdigest 0.1.3 (npm): equal values are one centroid, and a percentile is interpolated between the
# centres.  Of 990 times 100 us and 10 times 10000 us the median is 199 us and p90 8119 us.  Times
# in whole microseconds, as of flows without a queue, have such values.  The digest has two
# centroids, so that each percentile could be exact.
#
# Guess: a t-digest is most exact for few distinct values; all percentiles below 99 are 100.
#
# Output seen:
#
#	p50 199, p90 8119, p98 9703, maximum 10000; 2 centroids
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir node_modules
for package in tdigest@0.1.3 bintrees@1.0.2; do
	npm pack --silent "$package" > /dev/null
	tar -xzf "${package%@*}-${package#*@}.tgz"
	mv package "node_modules/${package%@*}"
done

node > out <<'END'
const { TDigest } = require("tdigest");

const digest = new TDigest();
for (let i = 0; i < 1000; i++)
	digest.push(i % 100 ? 100 : 10000);
const [p50, p90, p98, high] = [0.5, 0.9, 0.98, 1].map(p => Math.round(digest.percentile(p)));
console.log(`p50 ${p50}, p90 ${p90}, p98 ${p98}, maximum ${high}; ${digest.size()} centroids`);
END
cat out
[ "$(cat out)" = "p50 199, p90 8119, p98 9703, maximum 10000; 2 centroids" ] || {
	echo "changed: tdigest no longer interpolates between two values"
	exit 1
}
