#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# quell trace against what the kernel says of the same connections.
#
#	trace.sh [CC]...	bpf_ALGORITHM is loaded first; cubic, reno, swift, bpf_swift without
#
#	server --- client, which sends and is traced
#
# For each congestion control a file is sent through loss and traced: the last row has what ss
# prints of the connection, and the rows before it lead there.  Then filters, samples, records
# without room, ends of the tracer in each way, and who may not trace.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./pair.sh

port=9000
other_port=9001
file_bytes=400000
small_bytes=2000
crowd=52
hooked=/sys/kernel/tracing/enabled_functions
objects=$(dirname "$(dirname "$(command -v quell)")")/lib/quell/bpf
tracer="" listener="" sender=""
declare -A before

# begin_trace ROWS WORDS...: of the client's flows; at its first line it is at work.
begin_trace()
{
	local rows=$1
	shift

	rm -f "$rows"
	quell -n "$client" trace -o "$rows" "$@" 2>"$rows.err" &
	tracer=$!
	defer kill "$tracer"
	poll 60 grep -q '^time_ns,' "$rows" || {
		cat "$rows.err"
		return 1
	}
}

# end_trace SIGNAL PROCESS ROWS: it writes what is left, and says how many there were.
end_trace()
{
	kill "-$1" "$2"
	wait "$2" || {
		echo "quell trace ended with status $?"
		cat "$3.err"
		return 1
	}
	same "rows of $3" "$(rows "$3")" "$(told "$3" records)"
}

# end_both STATUS ROWS PROCESS ROWS: the newest tracer and one before it; STATUS of what they saw.
end_both()
{
	end_trace TERM "$tracer" "$2" && end_trace TERM "$3" "$4" && return "$1"
}

rows()
{
	echo $(($(wc -l <"$1") - 1))
}

# told ROWS WORD: the number before it, of what the tracer said.
told()
{
	grep -oE "[0-9]+ $2" "$1.err" | cut -d ' ' -f 1
}

# column ROWS NAME [FILTER]: its values, of the rows for which awk's FILTER is true, where c is
# the numbers of the columns by name.
column()
{
	awk -F , "NR == 1 { for (i = 1; i <= NF; i++) c[\$i] = i; next }
		${3:-1} { print \$c[\"$2\"] }" "$1"
}

last()
{
	column "$@" | tail -n 1
}

set_loss()
{
	local netns

	for netns in "$server" "$client"; do
		in_netns "$netns" tc qdisc replace dev wire0 root netem delay 2ms loss "$1%" ||
			return 1
	done
}

# begin_flow PORT ADDRESS: from the client, fed by descriptor 3; it stays open until end_flow.
begin_flow()
{
	rm -f "$dir/fifo" "$dir/quiet" "$dir/copy"
	mkfifo "$dir/fifo" "$dir/quiet"
	start_in "$server" sh -c "exec timeout 60 nc -l -p $1 <>'$dir/quiet'" >"$dir/copy"
	listener=$started
	poll 10 listens "$server" "$1" || return 1
	exec 3<>"$dir/fifo"
	start_in "$client" sh -c "exec timeout 60 nc $2 $1 <'$dir/fifo' 3<&-"
	sender=$started
}

# send_file BYTES: all of it is acknowledged, and the connection at rest.
send_file()
{
	timeout 20 head -c "$1" "$dir/file" >&3
	poll 30 is_acknowledged "$1"
}

# More of it, without loss: its acknowledgments tell of what a timer of Quell's decided before.
send_rest()
{
	set_loss 0 && head -c "$small_bytes" "$dir/file" >&3 &&
	poll 30 is_acknowledged "$((file_bytes + small_bytes))"
}

is_acknowledged()
{
	[ "$(stat -c %s "$dir/copy")" -eq "$1" ] && ss_of "$port" >"$dir/ss" &&
	! grep -q 'unacked:' "$dir/ss" && ! grep -qE 'timer:\(on' "$dir/ss"
}

# end_flow STATUS: of what was done with it.
end_flow()
{
	exec 3>&-
	wait "$sender" "$listener"
	return "$1"
}

ss_of()
{
	in_netns "$client" ss -Htineo "dport = :$1"
}

# ss_value NAME: a number of $dir/ss, 0 if it is not there; ss leaves out zeros.
ss_value()
{
	local value

	value=$(grep -oE "[ 	]$1:[0-9a-f/]+" "$dir/ss" | head -n 1 | cut -d : -f 2)
	echo "${value:-0}"
}

# What ss prints of the connection at rest, after it the last row.
last_row_agrees()
{
	local rows=$1 retrans

	retrans=$(ss_value retrans)
	same "cwnd" "$(last "$rows" cwnd_packets)" "$(ss_value cwnd)" &&
	same "mss" "$(last "$rows" mss_bytes)" "$(ss_value mss)" &&
	same "delivered" "$(last "$rows" delivered_packets)" "$(ss_value delivered)" &&
	same "bytes_acked" "$(last "$rows" acked_bytes)" "$(ss_value bytes_acked)" &&
	same "retransmits" "$(last "$rows" retransmits_packets)" "${retrans#*/}" &&
	same "in flight" "$(last "$rows" inflight_packets)" 0 &&
	[ "$(last "$rows" cookie)" = "$(ss_value sk)" ] && return 0
	cat "$dir/ss"
	tail -n 3 "$rows"
	return 1
}

# Time and totals never go back; each retransmission, state and timeout has a row.
rows_lead_there()
{
	local rows=$1 name names="time_ns delivered_packets acked_bytes retransmits_packets"
	local retransmits

	# Quell's modules take a mark back that a probe of theirs set.
	case $2 in
	cubic | reno | bpf_*)	names+=" lost_packets" ;;
	esac
	for name in $names; do
		column "$rows" "$name" | sort -n -c || {
			echo "$name goes back"
			return 1
		}
	done
	retransmits=$(how_many "$rows" '$c["event"] == "retransmit"')
	echo "$retransmits retransmissions of $(last "$rows" retransmits_packets) segments"
	[ "$retransmits" -gt 0 ] &&
	[ "$retransmits" -le "$(last "$rows" retransmits_packets)" ] &&
	has_rows_of "$rows" 1 '$c["ca_state"] == "recovery" || $c["ca_state"] == "loss"' &&
	has_rows_of "$rows" 20 '$c["event"] == "ack"' &&
	has_rows_of "$rows" 20 '$c["srtt_ns"] >= 4000000 && $c["rtt_ns"] >= 4000000 &&
		$c["min_rtt_ns"] >= 4000000'
}

how_many()
{
	column "$1" event "$2" | wc -l
}

# has_rows_of ROWS LEAST FILTER
has_rows_of()
{
	local n

	n=$(how_many "$1" "$3")
	[ "$n" -ge "$2" ] || echo "$n rows of $3"
	[ "$n" -ge "$2" ]
}

all_of_one_flow()
{
	[ "$(column "$1" dport | sort -u)" = "$port" ] &&
	[ "$(column "$1" dst | sort -u)" = 10.82.0.1 ] &&
	[ "$(column "$1" src | sort -u)" = 10.82.0.2 ] &&
	[ "$(column "$1" cc | sort -u)" = "$2" ] &&
	[ "$(column "$1" cookie | sort -u | wc -l)" -eq 1 ]
}

# A connection beside the one that is asked for.
other_flow()
{
	start_in "$server" nc -l -p "$other_port" -e cat
	poll 10 listens "$server" "$other_port" &&
	head -c "$small_bytes" "$dir/file" |
		in_netns "$client" timeout 20 nc 10.82.0.1 "$other_port" >"$dir/null"
}

# traced CC: a file through loss, enough of it that a file of 80 large packets meets some.
traced()
{
	local rows=$dir/$1.csv

	choose_cc "$client" "$1" && set_loss 0 &&
	begin_trace "$rows" dst 10.82.0.0/24 dport "$port" cc "$1" &&
	begin_flow "$port" 10.82.0.1 || return 1
	poll 10 is_connected && set_loss 10 && send_file "$file_bytes" && send_rest && other_flow &&
	end_trace INT "$tracer" "$rows" && keep_flow
	end_flow $? && last_row_agrees "$rows" && rows_lead_there "$rows" "$1" &&
	all_of_one_flow "$rows" "$1"
}

# What the module says of the flow that is still open.
keep_flow()
{
	loaded quell || return 0
	quell -n "$client" -j flow show | jq ".[] | select(.dport == $port)" >"$dir/flow"
}

# Targets and windows of algorithms of Quell; none of the kernel's.
tells_of_quell()
{
	local rows=$dir/$1.csv

	has_rows_of "$rows" 20 1 || return 1
	case $1 in
	cubic | reno)
		[ -z "$(column "$rows" window_bytes | tr -d '\n')" ] &&
		[ -z "$(column "$rows" target_ns | tr -d '\n')" ] &&
		[ -z "$(column "$rows" phase | tr -d '\n')" ]
		return ;;
	bpf_*)	;;
	*)	same window "$(last "$rows" window_bytes)" "$(jq .window_bytes "$dir/flow")" &&
		same rtt "$(last "$rows" rtt_ns)" "$(jq .rtt_ns "$dir/flow")" || return 1 ;;
	esac
	[ "$(last "$rows" window_bytes)" -gt 0 ] &&
	# The first round trip is over before there is a decision.
	[ "$(how_many "$rows" '$c["event"] == "ack" && $c["phase"] == ""')" -le 2 ] &&
	[ -n "$(last "$rows" phase)" ]
}

# echo_crowd: short connections to an address of IPv6, one after another.
echo_crowd()
{
	local i

	start_in "$server" nc -ll -p "$other_port" -e cat
	listener=$started
	poll 10 listens "$server" "$other_port" || return 1
	for ((i = 0; i < crowd; i++)); do
		head -c "$small_bytes" "$dir/file" |
			in_netns "$client" timeout 20 nc fd82::1 "$other_port" >"$dir/null" || return 1
	done
	stop "$listener"
}

# One flow in four, by a hash of its cookie, and all its records: that none of 52 is, once in three
# million runs; that more than 30 are, less often.
samples_whole_flows()
{
	local all=$dir/all.csv some=$dir/some.csv all_tracer flows traced

	choose_cc "$client" cubic && begin_trace "$all" dst fd82::/16 || return 1
	all_tracer=$tracer
	begin_trace "$some" dport "$other_port" sample 4 && echo_crowd
	end_both $? "$some" "$all_tracer" "$all" || return 1
	flows=$(column "$all" cookie | sort -u | wc -l)
	traced=$(column "$some" cookie | sort -u | wc -l)
	echo "$traced of $flows"
	same "flows" "$flows" "$crowd" && [ "$traced" -gt 0 ] && [ "$traced" -le 30 ] || return 1
	column "$some" cookie | sort >"$dir/some"
	column "$all" cookie | grep -xF -f "$dir/some" | sort >"$dir/of-all"
	cmp "$dir/some" "$dir/of-all"
}

# fill_buffer TRACER: it does not read before all is sent, however slow the flow is.
fill_buffer()
{
	local status

	kill -STOP "$1" && send_file "$file_bytes"
	status=$?
	kill -CONT "$1"
	return "$status"
}

has_rows()
{
	[ "$(rows "$1")" -gt 0 ]
}

# A tracer with little room beside one with enough: together with what was dropped, the same.
counts_what_it_drops()
{
	local all=$dir/all.csv few=$dir/few.csv all_tracer sum missed

	choose_cc "$client" cubic && begin_trace "$all" dport "$port" || return 1
	all_tracer=$tracer
	begin_trace "$few" dport "$port" buffer 4kb && begin_flow "$port" 10.82.0.1 &&
	fill_buffer "$tracer" && poll 20 has_rows "$few"
	end_flow $?
	end_both $? "$few" "$all_tracer" "$all" || return 1
	sum=$(($(rows "$few") + $(told "$few" dropped)))
	missed=$(($(told "$few" events) + $(told "$all" events) + 0))
	echo "$(rows "$all") rows, $(rows "$few") and $(told "$few" dropped) dropped, $missed missed"
	[ "$(told "$few" dropped)" -gt 0 ] && [ "$(told "$all" dropped)" -eq 0 ] &&
	[ "$(last "$few" dropped_records)" -gt 0 ] &&
	[ $((sum - $(rows "$all"))) -le "$missed" ] && [ $(($(rows "$all") - sum)) -le "$missed" ]
}

one_cookie()
{
	local rows=$dir/one.csv

	begin_flow "$port" 10.82.0.1 && poll 10 is_connected || return 1
	begin_trace "$rows" cookie "sk:$(ss_value sk)" count 5 && send_file "$file_bytes" &&
	wait "$tracer" && same rows "$(rows "$rows")" 5 &&
	[ "$(column "$rows" cookie | sort -u)" = "$(ss_value sk)" ]
}

is_connected()
{
	ss_of "$port" >"$dir/ss" && grep -q ESTAB "$dir/ss"
}

# The flow of before goes on; the server's namespace has the other end of it.
of_its_namespace()
{
	local rows=$dir/own.csv

	quell -n "$server" trace sport "$port" for 100ms >"$rows" 2>"$rows.err" &&
	grep -q '^time_ns,' "$rows" && same rows "$(rows "$rows")" "$(told "$rows" records)" &&
	begin_trace "$rows" dport "$port" netns any && head -c 1000 "$dir/file" >&3 &&
	poll 10 has_rows "$rows" && end_trace INT "$tracer" "$rows"
}

is_hooked()
{
	grep -q '^tcp_ack ' "$hooked"
}

is_not_hooked()
{
	! grep -qE '^tcp_(ack|set_ca_state|enter_loss) ' "$hooked"
}

# leaves_nothing SIGNAL
leaves_nothing()
{
	is_not_hooked && begin_trace "$dir/gone.csv" && is_hooked && kill "-$1" "$tracer" || return 1
	wait "$tracer"
	poll 10 is_not_hooked
}

# As nohup starts it: rows after the signal, of a flow that begins then.
outlives_hangup()
{
	local begun

	trap '' HUP
	begin_trace "$dir/hup.csv" dport "$other_port"
	begun=$?
	trap - HUP
	[ "$begun" -eq 0 ] && kill -HUP "$tracer" && other_flow &&
	end_trace INT "$tracer" "$dir/hup.csv" && [ "$(rows "$dir/hup.csv")" -gt 0 ]
}

as_nobody()
{
	su -s /bin/sh nobody -c "$*"
}

users_are_refused()
{
	[ -e /etc/passwd ] || {
		echo nobody:x:65534:65534::/:/bin/sh >/etc/passwd
		defer rm /etc/passwd
	}
	status 2 as_nobody quell trace && says "needs CAP_BPF" &&
	status 2 unshare -U -r quell trace && says "needs CAP_BPF" && is_not_hooked
}

mistakes_are_told()
{
	status 2 quell trace dir "$dir" && says "no object $dir/trace.bpf.o" &&
	echo earlier >"$dir/old.csv" && status 2 quell trace -o "$dir/old.csv" dir "$dir" &&
	[ "$(cat "$dir/old.csv")" = earlier ] &&
	status 2 quell trace -o /nowhere/x && says "cannot write /nowhere/x" &&
	status 2 quell trace -o /dev/full for 1ms && grep -q "cannot write /dev/full" "$dir/err" &&
	is_not_hooked
}

# Each segment is a packet, which can be lost by itself.
two_hosts()
{
	make_network 82 && set_offloads off
}

# references_of ALGORITHM: to its module; none if it is not there.
references_of()
{
	local count=/sys/module/tcp_$1/refcnt

	[ ! -e "$count" ] || cat "$count"
}

references_are()
{
	[ "$(references_of "$1")" = "${before[$1]}" ]
}

# Objects and modules first: the tracer sees those that are there when it begins.  Scripts
# before this one may have left a namespace that holds an algorithm.
prepare()
{
	local cc

	for cc; do
		modprobe -q "tcp_$cc"
		before[$cc]=$(references_of "$cc")
		case $cc in
		bpf_*)	quell bpf load "${cc#bpf_}" || return 1 ;;
		esac
		choose_cc "$client" "$cc" || return 1
	done
}

# quell.ko, where it is loaded: other scripts in this guest may have left algorithms.
held_by_modules_alone()
{
	local held=/sys/module/quell holder n=0

	[ -e "$held" ] || return 0
	for holder in "$held"/holders/*; do
		[ ! -e "$holder" ] || n=$((n + 1))
	done
	[ "$(cat "$held/refcnt")" -eq "$n" ]
}

unprepare()
{
	local cc

	choose_cc "$client" cubic
	for cc; do
		case $cc in
		cubic | reno)	;;
		bpf_*)		quell bpf unload "${cc#bpf_}" || return 1 ;;
		*)		poll 10 references_are "$cc" || return 1 ;;
		esac
	done
	poll 10 held_by_modules_alone
}

[ -e "$objects/trace.bpf.o" ] || {
	echo "1..0 # SKIP no object in $objects"
	exit 4
}
[ $# -gt 0 ] || set -- cubic reno swift bpf_swift
plan $((12 + 2 * $#))
head -c "$file_bytes" /dev/urandom >"$dir/file"
check "two hosts" two_hosts
check "users are refused" users_are_refused
check "mistakes are told, and leave nothing" mistakes_are_told
check "algorithms are there" prepare "$@"
for cc; do
	check "$cc: rows agree with ss" traced "$cc"
	check "$cc: what Quell tells" tells_of_quell "$cc"
done
check "a sample has whole flows" samples_whole_flows
check "records without room are counted" counts_what_it_drops
check "one flow by its cookie, and so many records" one_cookie
check "flows of the namespace, or of any" of_its_namespace
end_flow 0
check "SIGHUP is ignored where it was before" outlives_hangup
check "SIGINT leaves nothing" leaves_nothing INT
check "SIGKILL leaves nothing" leaves_nothing KILL
check "objects can go, and the tracer holds no module" unprepare "$@"
finish
