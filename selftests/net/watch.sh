#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# quell flow watch in a terminal (watch_pty): what is seen of flows that fill a cable, what the
# keys do, terminals of any size and without colours, and how the terminal is left.
#
#	left (swift) --- veth, 100 Mbit/s --- right
#

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./quell-hosts.sh

# Some name that a container's user may give.
dev=$'l\033[31m0'
quick="interval 200ms"
listener="" sender="" crowd="" first=""
only="dport 8080"
export LC_ALL=C.UTF-8
# That of this tree, not one that is installed.
QUELL_FLOW_WATCH=$(realpath ../../userspace/quell/flow-watch)
export QUELL_FLOW_WATCH

# watch TERM SIZE STEP... -- [WORD]...: of the left host.
watch()
{
	local steps=()

	while [ "$1" != -- ]; do
		steps+=("$1")
		shift
	done
	shift
	# shellcheck disable=SC2086 # words
	./watch_pty "${steps[@]}" -- quell -n "$left" flow watch $quick $only "$@"
}

rename_dev()
{
	ip -n "$left" link set l0 down && ip -n "$left" link set l0 name "$dev" &&
	ip -n "$left" link set "$dev" up
}

# open_flows COUNT BYTES PORT: as many connections, each of which sends so much.
open_flows()
{
	start_in "$left" many_tcp connect 10.72.0.2 "$3" 1 "$1" "$2" </dev/zero >"$dir/flows.$3" 2>&1
	sender=$started
}

# Two hundred that have nothing to send, and three that have no end.
flows_open()
{
	start_in "$right" many_tcp listen 8080 2 >"$dir/listener"
	listener=$started
	poll 10 grep -q ready "$dir/listener" && open_flows 200 100 8081 || return 1
	crowd=$sender
	poll 60 grep -q "^done" "$dir/flows.8081" && open_flows 3 100000000000 8080
}

flow_lines_seen()
{
	local rate='swift 10\.72\.0\.2:8080 +[0-9.]+[KM] [ ▁-█]+' time=' [0-9.]+[mun]s [ ▁-█]+'

	watch xterm 80x24 see '^3 flows by rate, every 200ms  netns ns-.*  dport 8080$' \
		see '^CC +PEER +RATE +RTT +DELAY +TARGET CUT +LIMIT' \
		see "^($rate$time$time +(cubic|search|[0-9.]+[mu]s) [a-z-]+ +[a-z-]+\n?){3}" \
		see '^[0-9.]+Mbit/s in all; limited by window [123]' \
		see '^10\.72\.0\.1:[0-9]+ -> 10\.72\.0\.2:8080 dev .* swift[ \n]window:[0-9]+b/' \
		see ' limited-by:window' show key q end 0 --
}

keys_work()
{
	watch xterm 80x24 see '^3 flows by rate' key s see 'by window, every' key r \
		see 'by window, smallest first, every' key s key r see 'by inflight, every' \
		key p see ', PAUSED' calm 1 key ' ' gone PAUSED \
		key '?' see 'choose a flow; .* stays chosen$' never '^CC +PEER' calm 0.1 \
		key x gone 'choose a flow' \
		see ' min-rtt:' key d see '\brtt-samples:' key d gone 'rtt-samples:' \
		key '\x0c' colors yes key q end 0 --
}

# Whatever happens first: the pause, the details, or another flow.
details_while_paused()
{
	watch xterm 80x30 see '^3 flows by rate' key p see PAUSED key d see '\brtt-samples:[1-9]' \
		key j calm 0.1 still '\brtt-samples:[1-9]' key d gone 'rtt-samples:' \
		key d see '\brtt-samples:[1-9]' key p gone PAUSED see '\brtt-samples:[1-9]' \
		key j see '\brtt-samples:[1-9]' key q end 0 --
}

# Formatted for 80 columns; more where there is room, less where there is none, and no overlap.
any_size()
{
	watch xterm 140x40 see '^CC +PORT PEER +PKTS +RATE +RTT +DELAY +TARGET RETX CUT +AGO LIMIT' \
		size 80x24 gone PKTS see 'LIMIT' size 40x10 gone TARGET see '^CC +PEER +RATE +DELAY LIMIT' \
		size 20x5 gone 'DELAY' size 9x3 gone 'RATE +' size 1x1 calm 0 \
		size 200x60 see 'AGO +LIMIT' see '^10\.72\.0\.1:' key q end 0 --
}

no_escape_gets_through()
{
	watch xterm 80x24 see "^3 flows .*  dev l\\\\x1b\\[31m0" key d see 'dev l\\x1b\[31m0 ' \
		key q end 0 -- dev "$dev"
}

no_flows()
{
	only="" watch xterm 80x24 see '^0 flows' see '^no flows' key j key d key q end 0 -- dport 9
}

# They are there in keys_work.
no_colors()
{
	watch xterm 80x24 see '^swift' key q colors no end 0 -- --no-color &&
	NO_COLOR=1 watch xterm 80x24 see '^swift' key q colors no end 0 --
}

ascii_only()
{
	LC_ALL=C watch xterm 80x24 see '^swift 10.72.0.2:8080 +[0-9.]+[KM] [_.:=+*# -]+ [0-9]' \
		never '[^ -~\n]' key q end 0 --
}

signals_restore()
{
	local name

	for name in TERM HUP QUIT; do
		watch xterm 80x24 see '^swift' signal "$name" end 0 -- || return 1
	done
	watch xterm 80x24 see '^swift' key '\x03\x03' end 0 --
}

no_terminal()
{
	status 1 left_quell flow watch </dev/null && says 'standard output is no terminal' &&
	./watch_pty xterm 80x24 see 'standard input is no terminal; try: quell -j flow watch' end 1 -- \
		sh -c "exec quell -n $left flow watch </dev/null" &&
	./watch_pty dumb 80x24 see "TERM 'dumb' has no cursor" end 1 -- \
		quell -n "$left" flow watch
}

# Those that send come first, in a sample in which all do; a page is a screen but one line.
hundreds()
{
	only="" watch xterm 80x24 see '^203 flows by rate' see '^(swift .*:8080 .*[0-9][KM] .*\n){3}' \
		key p see PAUSED see :8080 key 'G' gone :8080 key '\x1b[5~' \
		calm 0 never :8080 key g see :8080 key '\x1b[6~' see :8080 key '\x1b[6~' gone :8080 \
		key q end 0 --
}

# What the kernel said is on the screen that is left.
kernel_goes()
{
	stop "$crowd"
	stop "$first"
	stop "$listener"
	poll 10 no_flow_left && choose_cc "$left" reno && export -f unload not_loaded poll loaded &&
	watch xterm 80x24 see '^0 flows' see '^no flows' run "unload tcp_swift quell" \
		see 'quell: kernel module quell is not loaded' end 2 --
}

plan 13
check "a slow cable, and flows" eval 'make_network 100mbit && rename_dev && flows_open'
first=$sender
check "a line each: rate, round trip, delay, their past, and why" flow_lines_seen
check "keys: order, pause, help, details" keys_work
check "details while paused, of any flow" details_while_paused
check "terminals of any size" any_size
check "names of interfaces are escaped" no_escape_gets_through
check "no flow that the filters let through" no_flows
check "no colours where the user wants none" no_colors
check "ASCII where the locale has no more" ascii_only
check "signals leave the terminal as it was" signals_restore
check "refused: without a terminal, or with one that has no cursor" no_terminal
check "hundreds of flows, of which a screen is seen" hundreds
check "a module that goes ends it, and the terminal is as it was" kernel_goes
finish
