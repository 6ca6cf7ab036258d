#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# CRIU: a process with an established connection is dumped, ended and restored, with each algorithm.
# The restored socket has the namespace's algorithm, as CRIU does not keep that of the socket, and
# all bytes are received.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./suited.sh

only_in_guest
port=7095
# Blocks that the process sends, one in 20 ms: it lasts eight seconds.
blocks=400
server="" pid="" every=()

make_network()
{
	new_netns server &&
	ip link add wire type veth peer name wire netns "$server" && defer ip link del wire &&
	ip addr add 10.95.0.1/24 dev wire && ip link set wire up &&
	ip -n "$server" addr add 10.95.0.2/24 dev wire && ip -n "$server" link set wire up &&
	mkfifo "$dir/silent" && exec 7<>"$dir/silent" &&
	for ((i = 0; i < blocks; i++)); do printf '%07500d' "$i"; done >"$dir/sent" &&
	criu check
}

# send_blocks: a process of its own, without children
send_blocks()
{
	# shellcheck disable=SC2016 # its own words
	exec setsid bash -c 'exec 3<>"/dev/tcp/10.95.0.2/$0"
		for ((i = 0; i < $1; i++)); do
			printf "%07500d" "$i" >&3
			read -rt 0.02 -u 3
		done' "$port" "$blocks" </dev/null >"$dir/client" 2>&1
}

sends()
{
	ss -Htni dport = "$port" | grep -qE 'bytes_acked:[0-9]{5}'
}

# has_connection ALGORITHM: this namespace's one, and a flow of ours has the same
has_connection()
{
	ss -Htni state established dport = "$port" | grep -qw "$1" || return 1
	[ "$1" = cubic ] || quell -j flow show | jq -e --argjson port "$port" --arg cc "$1" '
		[.[] | select(.dport == $port) | .cc] == [$cc]' >/dev/null
}

no_connection()
{
	! ss -Htn dport = "$port" | grep -q . && [ "$(quell -j flow show | jq length)" -eq 0 ]
}

has_ended()
{
	[ ! -e "/proc/$1" ]
}

# criu_logs COMMAND WORD...: of the process or its images
criu_logs()
{
	criu "$@" -D "$dir/images" -o log -v4 --tcp-established --network-lock nftables ||
		{ tail -n 20 "$dir/images/log"; return 1; }
}

# with ALGORITHM [RESTORED]: the default while it is restored.  At the end of its input nc would
# close its direction.
with()
{
	local receiver

	rm -rf "$dir/images" && mkdir "$dir/images" && choose_cc "$server" "$1" &&
	sysctl -q -w net.ipv4.tcp_congestion_control="$1" || return 1
	in_netns "$server" busybox nc -l -p "$port" >"$dir/received" 2>"$dir/server" <&7 &
	receiver=$!
	poll 20 listens "$server" "$port" || return 1
	send_blocks &
	pid=$!
	poll 20 sends && has_connection "$1" && criu_logs dump -t "$pid" && no_connection &&
	sysctl -q -w net.ipv4.tcp_congestion_control="${2-$1}" && criu_logs restore -d &&
	has_connection "${2-$1}" && poll 60 has_ended "$pid" && wait "$receiver" &&
	cmp "$dir/sent" "$dir/received" && poll 20 no_connection && return 0
	cat "$dir/client" "$dir/server"
	kill "$pid" "$receiver"
	return 1
}

if ! command -v criu >/dev/null; then
	echo "1..0 # SKIP this guest has no criu"
	exit 0
fi
modprobe -a unix_diag af_packet_diag netlink_diag tcp_diag udp_diag nf_tables
load_all
defer sysctl -q -w net.ipv4.tcp_congestion_control="$(sysctl -n net.ipv4.tcp_congestion_control)"
read -ra every -d '' <<<"cubic $(algorithms)"
plan $((${#every[@]} + 2))
check "a network, and a kernel with all that CRIU needs" make_network
for algorithm in "${every[@]}"; do
	check "$algorithm: a process restored with its connection" with "$algorithm"
done
check "a connection of swift is restored with the default, cubic" with swift cubic
finish
