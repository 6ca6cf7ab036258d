#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ip -batch of iproute2 6.1.0 (Debian 12) cuts a line at a "#" within quotes, too.  The quote is
# then not closed, and the whole batch ends there in spite of -force, without the number of the
# line.
#
# Guess: quotes protect a "#", as in a shell, and -force goes on after a line that is refused.
set -euo pipefail
version=6.1.0-3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iproute2=$version" > /dev/null
dpkg-deb -x iproute2_*.deb root

# alias_after LINE...: the alias of lo in a namespace of its own, after a batch of these lines
alias_after() {
	printf '%s\n' "$@" > lines
	unshare -rn sh -c 'root/bin/ip -force -batch lines 2> log || true
		root/bin/ip -o link show lo' | sed -n 's/.*alias //p'
}

plain=$(alias_after 'link set lo alias "1 uplink"')
hash=$(alias_after 'link set lo alias before' 'link set lo alias "#1 uplink"' \
	'link set lo alias after')
echo "iproute2 $version: alias \"1 uplink\" gives '$plain';" \
	"of before, \"#1 uplink\", after: '$hash'"
cat log
if [ "$plain,$hash,$(cat log)" != "1 uplink,before,Unterminated quoted string" ]; then
	echo "changed: ip -batch keeps a # within quotes, or goes on with -force after an open quote"
	exit 1
fi
