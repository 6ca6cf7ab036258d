#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A prompt on the guest's console for run-uml --shell and run-qemu --shell, with two hosts and a
# router whose port to the server is a swport.  QUELL_TTY is "ROWSxCOLUMNS" of the terminal.
#
#	client 10.1.0.1 --- router, swport --- server 10.2.0.1
# shellcheck disable=SC2012 # names of modules

cd "$(dirname "$0")" || exit 1
. ./lib.sh

port="rate 200mbit limit 225kb ecn min 45kb max 180kb telemetry 16us"

# join HOST NUMBER: a cable to the router.
join()
{
	ip link add eth0 netns "$1" type veth peer name "$1" netns router &&
	ip -n "$1" addr add "10.$2.0.1/24" dev eth0 && ip -n router addr add "10.$2.0.2/24" dev "$1" &&
	ip -n "$1" link set eth0 up && ip -n router link set "$1" up &&
	ip -n "$1" route add default via "10.$2.0.2" &&
	choose_cc "$1" swift
}

network()
{
	local name

	modprobe -a tcp_swift sch_swport || return 1
	for name in client router server; do
		ip netns add "$name" && ip -n "$name" link set lo up || return 1
	done
	join client 1 && join server 2 && in_netns router sysctl -q -w net.ipv4.ip_forward=1 ||
		return 1
	# shellcheck disable=SC2086 # words
	tc -n router qdisc add dev server root swport $port
}

prompt()
{
	local rows columns

	# Commands of the pages have it.  Its options are ignored, as the guest has no other user.
	mkdir "$dir/bin" && cat >"$dir/bin/sudo" <<-'SUDO' && chmod +x "$dir/bin/sudo"
		#!/bin/sh
		while getopts AbEeHiKklnPSsVvC:D:g:h:p:R:r:T:t:U:u:-: option; do :; done
		shift $((OPTIND - 1))
		[ $# -gt 0 ] || set -- bash
		exec env "$@"
	SUDO
	cat >"$dir/rc" <<-RC
		on() {
			[ \$# -gt 1 ] || set -- "\$1" env PS1="\$1# " bash --norc
			ip netns exec "\$@"
		}
		export -f on
		export PATH=$dir/bin:\$PATH
		PS1='quell# '
		cat <<END
		Linux $(uname -r), modules: $(ls -d /sys/module/quell /sys/module/sch_swport /sys/module/tcp_* |
			sed 's/.*.module.//' | xargs)
		client 10.1.0.1 --- router, swport $port --- server 10.2.0.1
		Both hosts use swift.  For example:
		  on server iperf3 -sD; on client iperf3 -c 10.2.0.1 -t 60 > /dev/null &
		  quell -n client flow show
		  tc -n router -s qdisc show dev server
		"on client" begins a shell of that host, "exit" ends it.
		END
	RC
	IFS=x read -r rows columns <<<"${QUELL_TTY:-24x80}"
	TERM=linux setsid -c bash -c "stty sane rows $rows cols $columns
		exec bash --rcfile $dir/rc -i" <>"/dev/$(awk '{ print $NF }' \
		/sys/class/tty/console/active)" >&0 2>&0
	return 0
}

plan 2
check "two hosts and a port" network
[ "$tap_failed" -eq 0 ] || cat "$tap_output" >/dev/console
prompt
pass "prompt"
finish
