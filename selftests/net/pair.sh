# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A web server and its client on one cable, for the tests that source this after
# lib.sh and set $port; $dir/www is served.
#
#	$server wire0 --- wire0 $client
#	10.N.0.1, fdN::1  10.N.0.2, fdN::2

# shellcheck disable=SC2034 # for those who source this
server="" client="" web=""

# make_network N
make_network()
{
	new_netns server client
	cable "$server" wire0 "$client" wire0 "10.$1.0.1/24,fd$1::1/64" "10.$1.0.2/24,fd$1::2/64" &&
	poll 10 in_netns "$client" ping -c 1 -W 1 "10.$1.0.1" &&
	poll 10 in_netns "$client" ping -c 1 -W 1 "fd$1::1"
}

# serve: $web is its process.
serve()
{
	# shellcheck disable=SC2154 # of the test
	start_in "$server" httpd -f -p "$port" -h "$dir/www"
	web=$started
	poll 10 listens "$server" "$port"
}

# set_offloads on|off: of both.
set_offloads()
{
	local offload words=() netns

	for offload in tso gso gro tx rx; do
		words+=("$offload" "$1")
	done
	for netns in "$server" "$client"; do
		in_netns "$netns" ethtool -K wire0 "${words[@]}" >/dev/null || return 1
	done
}
