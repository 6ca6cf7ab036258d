#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# util-linux 2.38.1 (Debian 12): setsid becomes its program, which a script waits for, only if it is
# no leader of a process group.  After "set -m" in a script, as in an interactive shell, it is one:
# it forks, and ends at once with status 0 while the program runs on.  "setsid --wait" waits.
#
# Guess: a script waits for "setsid PROGRAM" and has its status, with job control or without it.
#
# Output seen, of a program that ends with status 3:
#
#	setsid: status 3, ended
#	set -m; setsid: status 0, runs on
#	set -m; setsid --wait: status 3, ended
set -euo pipefail
version=2.38.1-5+deb12u3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "util-linux=$version" > /dev/null
dpkg-deb -x util-linux_*.deb root
export PATH=$dir/root/usr/bin:$PATH

cat > program <<'PROGRAM'
sleep 1
touch ended
exit 3
PROGRAM

for words in "setsid" "set -m; setsid" "set -m; setsid --wait"; do
	rm -f ended
	echo "$words: $(bash -c "$words sh program
		echo status \$?, \$([ -e ended ] && echo ended || echo runs on)")"
	until [ -e ended ]; do sleep 0.1; done
done > out
cat out
[ "$(cut -d : -f 2 out)" = ' status 3, ended
 status 0, runs on
 status 3, ended' ] || {
	echo "changed: setsid no longer leaves its program alone in a shell with job control"
	exit 1
}
