# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2030,SC2031,SC2034 # each worker draws for itself; used by others
#
# What the storms under KCSAN (run-qemu 6.12-kcsan) share: workers that change or list things, each
# again and again, at the same time, for a number of seconds.  The kernel log has the verdict.
#
#	race-NAME.sh [SECONDS [SEED]]
#
# Sourced after lib.sh.  What the workers draw is repeated by the same seed; how their changes meet
# is the machine's.

storm_s=${1:-60}
SEED=${2:-1}
workers=()
quell_ccs=(swift swift_vaisf timely hpcc hpcc_vaisf dcqcn smartt dart)
client="" server="" watched="" picked=""
# Bytes of a connection of open_many, and of live.
many_bytes=(1000 30000 1000000) live_bytes=1000000
# Each worker pauses for a random time below this after a call: in virtual time calls take none.
pause_s=0

# two_hosts NETNS NETNS QUEUES: wire at both ends, 10.91.0.1 and 2, fd91::1 and 2.
two_hosts()
{
	ip link add name wire netns "$1" numtxqueues "$3" numrxqueues "$3" type veth \
		peer name wire netns "$2" numtxqueues "$3" numrxqueues "$3" || return 1
	for i in 1 2; do
		PROCESSORS=3 keep_order "${!i}" wire && ip -n "${!i}" link set wire up &&
		ip -n "${!i}" addr add "10.91.0.$i/24" dev wire &&
		ip -n "${!i}" addr add "fd91::$i/64" dev wire nodad || return 1
	done
	poll 60 in_netns "$1" busybox ping -c 1 -W 1 10.91.0.2
}

# make_hosts: $client and $server with every algorithm, the option and a monitor each.
make_hosts()
{
	modprobe -a tcp_swift tcp_timely tcp_hpcc tcp_dcqcn tcp_smartt tcp_dart sch_swport || return 1
	new_netns client server && two_hosts "$client" "$server" 2 || return 1
	for netns in "$client" "$server"; do
		choose_cc "$netns" swift && quell -n "$netns" cc set quell option 1 &&
		start_in "$netns" quell monitor >/dev/null || return 1
	done
}

# worker CALL[; CALL]...: in turn until the storm is over; a line for each.
worker()
{
	local seed=$((SEED * 1000 + ${#workers[@]})) i calls

	IFS=';' read -ra calls <<<"$1"
	(
		trap - EXIT
		RANDOM=$seed
		for ((i = 0; SECONDS < storm_begin + storm_s; i++)); do
			# shellcheck disable=SC2086 # words
			set -- ${calls[i % ${#calls[@]}]}
			if "$@" >/dev/null 2>&1; then
				echo "$1 made"
			else
				echo "$1 refused"
			fi
			[ "$pause_s" = 0 ] || sleep "$((RANDOM % pause_s)).$((RANDOM % 900 + 100))"
		done
	) >"$dir/worker.$seed" 2>/dev/null &
	workers+=($!)
}

# storm WORKER...: each a function and its words, or several in turn, with a semicolon after each
# but the last: programs start slowly there, and many at once leave no time for packets.  Fails if a
# function did nothing.
storm()
{
	local call name status=0

	storm_begin=$SECONDS
	workers=()
	for call; do
		worker "$call"
	done
	wait "${workers[@]}"
	cat "$dir"/worker.* >"$dir/calls"
	for name in $(printf '%s\n' "${@//; /$'\n'}" | cut -d ' ' -f 1 | sort -u); do
		note "$name: $(grep -c "^$name made" "$dir/calls"), refused" \
			"$(grep -c "^$name refused" "$dir/calls")"
		grep -q "^$name made" "$dir/calls" || status=1
	done >"$dir/sum"
	return "$status"
}

# The sum of what storm printed, and what KCSAN has done so far.
say_storm()
{
	cat "$dir/sum"
	note "KCSAN: $(grep -E '^(data_races|setup_watchpoints|used_watchpoints):' \
		/sys/kernel/debug/kcsan | xargs)"
}

## workers

# list NETNS: all that Quell and the stack list of it.
list()
{
	local words

	for words in "flow show" "cc show" "stat" "link show" "sender show" "lookahead show"; do
		# shellcheck disable=SC2086
		quell -n "$1" -j $words || return 1
	done
	in_netns "$1" ss -tino && tc -n "$1" -s -j qdisc show
}

# dump NETNS: flows and counters, as fast as they come.
dump()
{
	in_netns "$1" quell_nl dumps 100
}

# has_flows NETNS COUNT: at least so many; all are in $dir/flows-NETNS.
has_flows()
{
	quell -n "$1" -j flow show >"$dir/flows-$1" && jq -e "length >= $2" "$dir/flows-$1"
}

# change_quell NETNS: a parameter of what all algorithms share.
change_quell()
{
	local words

	case $((RANDOM % 9)) in
	0|1) pick 0 1 2; words="option $picked" ;;
	2) pick 0 1 3 8; words="tail-probes $picked" ;;
	3) pick 20us 100us 1ms 10ms; words="tail-floor $picked" ;;
	4) pick 0 1 16 256; words="entropies $picked" ;;
	5) pick 0 1; words="recycle $picked" ;;
	6) pick 0 1000; words="nack-rate $picked" ;;
	7) pick 0 1 4 64; words="acks-per-rtt $picked" ;;
	8) pick 0 1 2; words="tcp-int $picked" ;;
	esac
	# shellcheck disable=SC2086
	quell -n "$1" cc set quell $words
	pick 1 1 1 0
	[ "$picked" = 1 ] || quell -n "$1" cc reset quell
}

# change_cc NETNS: whether an algorithm fits flows to their path, or all its parameters.
change_cc()
{
	local cc

	pick "${quell_ccs[@]}"; cc=$picked
	pick 0 1
	quell -n "$1" cc set "$cc" adapt "$picked"
	[ "$picked" = 1 ] || quell -n "$1" cc reset "$cc"
}

# open_many NETNS ADDRESS PORT: connections at once, killed with data on its way, or done.
open_many()
{
	pick "${quell_ccs[@]}" cubic; choose_cc "$1" "$picked" || return 1
	pick 0.5 1 3; set -- "$@" "$picked"
	pick "${many_bytes[@]}"
	in_netns "$1" timeout -s KILL "$4" many_tcp connect "$2" "$3" 4 $((RANDOM % 30 + 1)) "$picked"
	[ $? -ne 1 ]
}

# ask NETNS ADDRESS PORT: requests and answers of a few connections.
ask()
{
	pick "${quell_ccs[@]}"; choose_cc "$1" "$picked" || return 1
	pick "20 100 100" "50 8 2000" "5 20000 100"
	echo "$picked" | in_netns "$1" timeout 20 many_tcp connect "$2" "$3" 1 $((RANDOM % 6 + 1)) 0 reply
}

# turn NETNS 4|6 ADDRESS PORT: one connection that changes its algorithm again and again.
turn()
{
	local lines=("open $2")

	pick "${quell_ccs[@]}"; lines+=("cc $picked" "connect $3 $4")
	for _ in 1 2 3; do
		lines+=("xfer $((RANDOM * 3))")
		pick "${quell_ccs[@]}" cubic; lines+=("cc $picked")
	done
	pick reset close; lines+=("xfer 5000" "$picked")
	printf '%s\n' "${lines[@]}" | in_netns "$1" timeout 20 option_tcp talk
}

# serve_all NETNS: what open_many, ask and turn want, at ports 8080, 7100 and 7001.
serve_all()
{
	start_in "$1" many_tcp listen 8080 4 >"$dir/listener"
	start_in "$1" many_tcp listen 7100 1 reply >/dev/null 2>&1
	start_in "$1" option_tcp serve 7001 >"$dir/server" 2>/dev/null
	poll 60 listens "$1" 8080 && poll 60 listens "$1" 7100 && poll 60 listens "$1" 7001
}

# change_port NETNS: of wire, so slow that queues grow.
change_port()
{
	local words=(rate 200mbit limit 60kb telemetry 8us)

	case $((RANDOM % 6)) in
	0) words=(rate 50mbit limit 20kb noecn) ;;
	1) words+=(ecn min 10kb max 40kb prob 0.1) ;;
	2) words+=(trim size 128) ;;
	3) words+=(trim size 128 to-sender percentiles on) ;;
	4) words+=(tcp-int 8us ecn min 10kb ecn-class 8 min 5kb) ;;
	5) words+=(bql split-gso buffer 100kb) ;;
	esac
	tc -n "$1" qdisc replace dev wire root handle 1: swport "${words[@]}"
}

# change_default NETNS: the algorithm of what the server accepts.
change_default()
{
	pick "${quell_ccs[@]}" cubic; choose_cc "$1" "$picked"
}

# live NUMBER CC: a namespace with flows to itself and from the watched one, deleted while they run.
# Frames of either come in on one processor: where a request is found on two the kernel loses a
# reference to the module (Documentation/compat.md).
live()
{
	local process netns="life-$$-$1" near="near$1" to="10.92.$1" clients=() PROCESSORS=$1 status=0

	ip netns add "$netns" && ip -n "$netns" link set lo up && keep_order "$netns" lo &&
	cable "$watched" "$near" "$netns" wire "$to.1/24" "$to.2/24" || return 1
	# A connection whose process and peer are gone holds the module until it gives up.
	in_netns "$netns" sysctl -q -w net.ipv4.tcp_orphan_retries=1
	choose_cc "$netns" "$2" && choose_cc "$watched" "$2" || status=1
	quell -n "$netns" cc set quell option 1
	tc -n "$netns" qdisc add dev lo root swport limit 100kb
	tc -n "$netns" qdisc add dev wire root swport limit 100kb
	ip netns exec "$netns" many_tcp listen 5300 4 >"$dir/life-$1" &
	clients+=($!)
	poll 60 listens "$netns" 5300
	ip netns exec "$netns" many_tcp connect 127.0.0.1 5300 4 20 "$live_bytes" &
	clients+=($!)
	ip netns exec "$watched" many_tcp connect "$to.2" 5300 4 20 "$live_bytes" &
	clients+=($!)
	ip -n "$netns" link add gone type dummy
	in_netns "$netns" quell lookahead add g dev gone 10.0.0.1 10.0.0.2
	poll 60 has_flows "$netns" 20 || status=1
	ip netns del "$netns"
	jq length "$dir/flows-$netns" >>"$dir/deleted"
	# The listener first: with it the namespace ends, while frames still come in.
	for process in "${clients[@]}"; do
		kill -KILL "$process"
		wait "$process"
	done
	return "$status"
}
