#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Rounds of random connections, settings, ports, namespaces and modules ("make soak"): 118 are a day
# of virtual time.  Some connections last through all rounds.  Each round ends with all others closed,
# and a sample of memory, files and sockets that remain in use.
#
#	soak.sh [ROUNDS [SECONDS [SEED]]]
#
# Exact counts must be the same after every round.  Of memory, files and processes the median of the
# last quarter of the rounds is compared with that of the second; the first quarter is warm-up.
# shellcheck disable=SC2031,SC2154 # each worker draws for itself; of race.sh

cd "$(dirname "$0")" || exit 1
. ./lib.sh
rounds=${1:-${QUELL_ROUNDS:-118}}
. ./race.sh "${2:-600}" "${3:-1}"
. ./growth.sh

pause_s=$((storm_s / 3))
# A round shall take seconds of a processor: packets are what costs.
many_bytes=(100 1000 30000) live_bytes=10000
# Longer than TIME_WAIT and the retransmissions of a closed connection, with few tests meanwhile.
quiet_s=400
quiet_step_s=10
# Not those whose modules are unloaded after each round.
kept_ccs=(swift swift_vaisf hpcc hpcc_vaisf smartt dart)
programs=()
quantities=(objects_kb slab_kb vmalloc_kb percpu_kb pages_kb files descriptors processes namespaces
	flows sockets)
# In kB; of files, 21 in a slab that a processor may have; of processes, as the kernel may start a
# thread; 0: equal in all rounds.
bounds=(64 512 512 512 512 42 0 2 0 0 0)

## connections that last

# serves_kept: at port 7002, a process of its own for each connection.
serves_kept()
{
	start_in "$server" option_tcp serve 7002 >"$dir/kept-server"
	poll 60 listens "$server" 7002
}

has_lines()
{
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# kept_do NUMBER COMMAND: the connection executes it.
kept_do()
{
	local lines

	lines=$(wc -l <"$dir/kept-$1")
	echo "$2" >"$dir/kept-$1.in"
	poll 120 has_lines "$dir/kept-$1" $((lines + 1)) && tail -n 1 "$dir/kept-$1" | grep '^ok'
}

# keep NUMBER: over IPv4 or IPv6.
keep()
{
	mkfifo "$dir/kept-$1.in" && touch "$dir/kept-$1" || return 1
	# shellcheck disable=SC2016 # of that shell
	start_in "$client" sh -c 'exec option_tcp talk <>"$0.in" >"$0"' "$dir/kept-$1"
	if [ $(($1 % 2)) = 0 ]; then
		kept_do "$1" "open 4" && kept_do "$1" "cc ${kept_ccs[$1]}" &&
		kept_do "$1" "connect 10.91.0.2 7002"
	else
		kept_do "$1" "open 6" && kept_do "$1" "cc ${kept_ccs[$1]}" &&
		kept_do "$1" "connect fd91::2 7002"
	fi && kept_do "$1" "xfer 10000"
}

# use_kept NUMBER...: one of them transfers, and at times changes its algorithm.
use_kept()
{
	local number

	pick "$@"; number=$picked
	pick 1 1000 30000 300000
	kept_do "$number" "xfer $picked" && echo "$picked" >>"$dir/kept-bytes" || return 1
	[ $((RANDOM % 4)) -ne 0 ] || { pick "${kept_ccs[@]}"; kept_do "$number" "cc $picked"; }
}

# Both ends of option_tcp compare each byte, whatever the round did to the path.
none_lost()
{
	grep failed "$dir"/kept-[0-9]
	! grep -q failed "$dir"/kept-[0-9] && has_lines "$dir/kept-bytes" "$rounds"
}

## rounds

make_network()
{
	local i

	make_hosts || return 1
	watched=$client
	serves_kept || return 1
	for i in "${!kept_ccs[@]}"; do
		keep "$i" || return 1
	done
	{ ip netns pids "$client" && ip netns pids "$server"; } >"$dir/programs"
	mapfile -t programs <"$dir/programs"
	[ ${#programs[@]} -eq $((2 * ${#kept_ccs[@]} + 3)) ] && count_sockets &&
	cp "$dir/sockets" "$dir/sockets-kept"
}

# live_any NUMBER
live_any()
{
	pick "${quell_ccs[@]}"; live "$1" "$picked"
}

# Of both hosts: their number and Quell's flows.
count_sockets()
{
	for netns in "$client" "$server"; do
		in_netns "$netns" ss -Htan | wc -l
		quell -n "$netns" -j flow show | jq length
	done >"$dir/sockets"
}

# is_quiet: only the connections that last, and no other namespace.
is_quiet()
{
	count_sockets && cmp "$dir/sockets" "$dir/sockets-kept" &&
	grep '^TCP: inuse [0-9]* orphan 0 ' /proc/net/sockstat && [ "$(ip netns | wc -l)" = 2 ]
}

# becomes_quiet: poll() would test five times a second, with a dozen programs each time.
becomes_quiet()
{
	local end=$((SECONDS + quiet_s))

	until is_quiet; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep "$quiet_step_s"
	done
}

# end_round: all programs but the first are stopped, and a part of the modules unloaded.
end_round()
{
	local pid

	for pid in $(ip netns pids "$server") $(ip netns pids "$client"); do
		[[ " ${programs[*]} " = *" $pid "* ]] || kill -KILL "$pid"
	done
	for netns in "$client" "$server"; do
		tc -n "$netns" qdisc del dev wire root
		choose_cc "$netns" swift || return 1
	done
	rm -f "$dir"/worker.* "$dir"/flows-* "$dir"/life-*
	becomes_quiet || {
		in_netns "$client" ss -tanoi
		in_netns "$server" ss -tanoi
		return 1
	}
	unload tcp_dcqcn tcp_timely sch_swport
}

# A worker has time for a part of its calls: all_made() tests the sum of all rounds.
round()
{
	SEED=$((SEED + 1))
	modprobe -a tcp_timely tcp_dcqcn sch_swport && serve_all "$server" ||
		return 1
	storm "open_many $client 10.91.0.2 8080" "ask $client 10.91.0.2 7100" \
		"turn $client 4 10.91.0.2 7001; turn $client 6 fd91::2 7001" \
		"use_kept 0 2 4" "use_kept 1 3 5" "live_any 1" \
		"list $client; change_quell $client; change_cc $server; change_port $client; \
change_default $server; list $server; change_quell $server; change_cc $client; \
change_port $server"
	cat "$dir/calls" >>"$dir/all-calls"
}

# Calls of each kind that were made, and refused.
sums()
{
	awk '{ n[$1] += $2 == "made"; m[$1] += $2 != "made" }
		END { for (name in n) printf "%s %d %d\n", name, n[name], m[name] }' "$dir/all-calls" |
		sort
}

all_made()
{
	sums | awk '{ print $1 ": " $2 " made, " $3 " refused"; bad += !$2 } END { exit bad || NR < 10 }'
}

# The sum of all rounds.  Connections within deleted namespaces are not in it.
volume()
{
	local bytes=0 netns opened=0

	for netns in "$client" "$server"; do
		opened=$((opened + $(counter_of "$netns" snmp Tcp ActiveOpens)))
		bytes=$((bytes + $(ip -n "$netns" -s -j link show wire | jq '.[0].stats64.tx.bytes')))
	done
	echo "$SECONDS s: $opened connections, $bytes bytes sent, $((3 * rounds)) modules unloaded," \
		"$(grep -c '^live_any made' "$dir/all-calls") namespaces deleted"
}

## samples

# value FILE NAME: in kB.
value()
{
	awk -v name="$2:" '$1 == name { print $2 }' "$1"
}

# objects CACHE...: in use; a kernel that merges caches may not have these names.
objects()
{
	awk -v names=" $* " 'index(names, " " $1 " ") { n += $2; found = 1 }
		END { print found ? n : "absent" }' "$dir/slabinfo"
}

# changed_caches: those with objects of 4 kB more or less than after the round before.
changed_caches()
{
	awk 'FNR == 1 { file++ }
		FNR <= 2 { next }
		file == 1 { objects[$1] = $2; next }
		{ kb = ($2 - objects[$1]) * $4 / 1024 }
		kb >= 4 || kb <= -4 { printf "%s%s %+d", separator, $1, $2 - objects[$1]; separator = ", " }
	' "$dir/slabinfo-before" "$dir/slabinfo"
}

# objects_kb: of all caches that memory pressure cannot shrink.  Their slabs grow at first: an object
# that lasts keeps a slab, and the others in it are freed.
objects_kb()
{
	awk 'FNR > 2 {
			file = "/sys/kernel/slab/" $1 "/reclaim_account"
			if ((getline reclaimable <file) > 0 && !reclaimable)
				bytes += $2 * $4
			close(file)
		}
		END { printf "%.0f\n", bytes / 1024 }' "$dir/slabinfo"
}

sample()
{
	local cache info=$dir/meminfo pid row=() free_kb name slabs

	sync
	echo 3 >/proc/sys/vm/drop_caches || return 1
	# Deleting a device waits for RCU callbacks, which free inodes.
	ip link add name soak0 type veth peer name soak1 && ip link del soak0 || return 1
	[ ! -e "$dir/slabinfo" ] || mv "$dir/slabinfo" "$dir/slabinfo-before"
	# No new process before it is read: of a slab that a processor allocates from all objects count.
	for cache in /sys/kernel/slab/*/shrink; do
		[ ! -w "$cache" ] || echo 1 >"$cache"
	done
	mapfile -t slabs </proc/slabinfo
	printf '%s\n' "${slabs[@]}" >"$dir/slabinfo"
	cat /proc/meminfo >"$info"
	free_kb=$(value "$info" MemTotal)
	for name in MemFree Buffers Cached AnonPages Slab; do
		free_kb=$((free_kb - $(value "$info" "$name")))
	done
	row+=("$(objects_kb)" "$(value "$info" SUnreclaim)" "$(value "$info" VmallocUsed)"
		"$(value "$info" Percpu)" "$free_kb" "$(objects filp)")
	for pid in "${programs[@]}"; do
		ls "/proc/$pid/fd"
	done >"$dir/fds"
	row+=("$(wc -l <"$dir/fds")" "$(find /proc -maxdepth 1 -name '[0-9]*' | wc -l)"
		"$(objects net_namespace)" "$(objects quell_flow)" "$(objects TCP TCPv6)")
	echo "${row[*]}" >>"$dir/samples"
}

# is_flat NUMBER: of the quantities.
is_flat()
{
	local bound=${bounds[$1]}

	if [ "$bound" = 0 ]; then
		stays "$dir/samples" $(($1 + 1))
	else
		keeps_to "$dir/samples" $(($1 + 1)) "$bound"
	fi
}

# Each host accepted what the other sent, and the option was in use.
counters_are_sane()
{
	for netns in "$client" "$server"; do
		quell -n "$netns" -j stat quell >"$dir/stat" &&
		json '.[0].counters | .["option-negotiated"] > 0 and
			([.["option-malformed", "option-bad-checksum", "segment-malformed",
			"segment-bad-checksum", "nack-malformed"] // 0] | add == 0)' "$dir/stat" ||
			return 1
	done
}

all_rounds()
{
	local i

	note "virtual or real seconds, round: ${quantities[*]}" >&3
	for ((i = 1; i <= rounds; i++)); do
		round || { echo "round $i"; return 1; }
		end_round || { echo "end of round $i"; return 1; }
		sample || return 1
		note "$SECONDS s, $i: $(tail -n 1 "$dir/samples")" >&3
		[ "$i" = 1 ] || note "objects: $(changed_caches)" >&3
	done
}

exec 3>&1
[ "$rounds" -ge 12 ] || note "$rounds rounds are few: growth may be chance"
plan $((${#quantities[@]} + 6))
check "two hosts, ${#kept_ccs[@]} connections that last" make_network || exit 1
check "$rounds rounds of $storm_s s" all_rounds
for i in "${!quantities[@]}"; do
	check "${quantities[i]}" is_flat "$i"
	note "${quantities[i]}: $(is_flat "$i")"
done
check "each kind of call was made" all_made
note "calls made, refused: $(sums | paste -sd ,)"
note "$(volume)"
check "no byte of a connection that lasts is lost" none_lost
note "they carried $(awk '{ n += $1 } END { print n }' "$dir/kept-bytes") bytes each way," \
	"in $(wc -l <"$dir/kept-bytes") transfers"
check "counters" counters_are_sane
for i in "${!kept_ccs[@]}"; do
	kept_do "$i" close
done >/dev/null
end_all()
{
	local pid

	for pid in "${programs[@]}"; do
		kill "$pid"
	done
	ip netns del "$client" && ip netns del "$server" &&
	poll 60 unload tcp_swift tcp_hpcc tcp_smartt tcp_dart quell
}
check "all modules are unloaded" end_all
finish
