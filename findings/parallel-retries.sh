#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# GNU parallel 20221122 (Debian 12): --retries counts the runs of a job, not the runs after the
# first: --retries 3 is three runs, and --retries 1 is no retry.  In --joblog it is one line.
#
# Guess: as with --retry of curl(1), up to N further runs follow one that failed.
#
# Output seen, of a job that fails each time:
#
#	--retries 3: 3 runs, lines in the log: 1
#	--retries 1: 1 runs, lines in the log: 1
set -euo pipefail
version=20221122+ds-2

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "parallel=$version" > /dev/null
dpkg-deb -x parallel_*.deb root
export HOME=$dir PARALLEL_HOME=$dir/config
mkdir config
touch config/will-cite

for retries in 3 1; do
	rm -f runs log
	perl root/usr/bin/parallel --joblog log --retries $retries 'echo {} >> runs; false' ::: a || true
	echo "--retries $retries: $(wc -l < runs) runs, lines in the log: $(tail -n +2 log | wc -l)"
done > out
cat out
[ "$(cat out)" = "--retries 3: 3 runs, lines in the log: 1
--retries 1: 1 runs, lines in the log: 1" ] || {
	echo "changed: parallel --retries counts otherwise"
	exit 1
}
