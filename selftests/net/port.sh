# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A switch port between two hosts, for the tests that source this after lib.sh.
#
#	$near: va, swport  ----  vb :$far
#
# Most checks hold the port still: at 10 bytes/s the first frame leaves at
# once and the next one in minutes, so what is queued is known exactly.  Then
# the rate is raised and the far end lists what arrives.  swport_pkt makes and
# lists the frames.

near="" far="" port_dev=va reader="" heard_by=.
# shellcheck disable=SC2034 # the options of a port held still
held=(rate 80bit)

make_network()
{
	local namespace

	new_netns near far
	# No frames but ours.
	for namespace in "$near" "$far"; do
		in_netns "$namespace" sysctl -q -w \
			net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1
	done
	cable "$near" va "$far" vb
}

near_tc()
{
	tc -n "$near" "$@"
}

# A new port: counters at zero.  Words are options of swport.
port()
{
	near_tc qdisc del dev "$port_dev" root 2>/dev/null
	# shellcheck disable=SC2048,SC2086 # words on purpose
	near_tc qdisc add dev "$port_dev" root handle 1: swport $*
}

change()
{
	# shellcheck disable=SC2048,SC2086
	near_tc qdisc change dev va root swport $*
}

transmit()
{
	in_netns "$near" swport_pkt send va "$@"
}

# Expect that many frames at the far end.
listen()
{
	: >"$dir/listen"
	in_netns "$far" swport_pkt recv vb "$1" 120000 >"$dir/listen" &
	reader=$!
	poll 10 grep -q ready "$dir/listen"
}

# They are in $dir/frames: time_ns kind number ecn dscp bytes.
collect()
{
	local status

	wait "$reader"
	status=$?
	grep -v ready "$dir/listen" >"$dir/frames"
	[ "$status" -eq 0 ] || {
		echo "frames missing, came $(wc -l <"$dir/frames")"
		near_tc -s qdisc show dev va
	}
	return "$status"
}

# hear TOOL COUNT [NETNS DEV]: expect that many packets there, at the far end if it is not said.
hear()
{
	[ -z "$reader" ] || kill "$reader" 2>/dev/null
	: >"$dir/hear"
	in_netns "${3:-$far}" "$1" recv "${4:-vb}" "$2" 120000 >"$dir/hear" &
	reader=$!
	poll 10 grep -q ready "$dir/hear"
}

# They are in $dir/packets, an array in the order of $heard_by.
heard()
{
	local status

	wait "$reader"
	status=$?
	reader=""
	grep -v ready "$dir/hear" | jq -s "$heard_by" >"$dir/packets"
	[ "$status" -eq 0 ] || {
		echo "packets missing, came $(jq length "$dir/packets")"
		near_tc -s qdisc show dev "$port_dev"
	}
	return "$status"
}

packets_are()
{
	json "$1" "$dir/packets"
}

# Let go of what is held.
release()
{
	change rate 100gbit && collect
}

# port_is FILTER: true of the port now.  One run of jq: an emulated processor takes a tenth of
# a second to start it.
port_is()
{
	local status shown

	near_tc -s -j qdisc show dev "$port_dev" |
		jq -ce ".[] | select(.kind == \"swport\") | ., ($1)" >"$dir/shown"
	status=$?
	read -r shown <"$dir/shown"
	echo "$shown" >"$dir/port"
	[ "$status" -eq 0 ] || echo "not true: $1 of $shown"
	return "$status"
}

# tree_is FILTER: true of all the qdiscs of va, as an array.
tree_is()
{
	near_tc -s -j qdisc show dev va >"$dir/all" && json "$1" "$dir/all"
}

# The options as text make the same port.
text_is_valid_syntax()
{
	local text before

	before=$(jq -c .options "$dir/port")
	text=$(near_tc qdisc show dev va | sed 's/.*refcnt [0-9]* //')
	port "$text" && port_is ".options == $before"
}

# unchanged_by TABLE OPTION...: a port of these options is the same after a table of refusals.
unchanged_by()
{
	local table=$1 before after
	shift

	port "$@" && before=$(near_tc qdisc show dev va) && $table &&
		after=$(near_tc qdisc show dev va) || return 1
	[ "$before" = "$after" ] || {
		echo "was: $before"
		echo "is:  $after"
		return 1
	}
}

# fails_with TEXT COMMAND...: with that text in its output.
fails_with()
{
	local text=$1 output
	shift

	if output=$("$@" 2>&1); then
		echo "accepted: $*"
		return 1
	fi
	[[ $output = *"$text"* ]] || {
		echo "$*: no '$text' in: $output"
		return 1
	}
}

# refused OPTIONS TEXT...: a change, with each text in the message.
refused()
{
	local text

	for text in "${@:2}"; do
		fails_with "$text" change "$1" || return 1
	done
}

# Attributes of include/uapi/linux/pkt_sched_swport.h that tests name; others are numbers.
declare -A attribute=([buffer]=18 [alpha]=19 [percentiles]=20 [control-share]=29 [trim-known]=30
	[ecn-drop]=31 [split-gso]=32 [timer-slack]=35 [memory-limit]=36)

# port_set ATTRIBUTE=VALUE...: a change without tc's checks.  Each "class" is one of ecn-class,
# DSCPS,MIN,MAX,PROB, of which the last may be missing; "classes=none" is an empty list.
port_set()
{
	local word type value i sent=() sent_classes=()

	for word; do
		type=${attribute[${word%%=*}]:-${word%%=*}}
		IFS=, read -ra value <<<"${word#*=}"
		case $type in
		classes)	sent+=("13:{" "}") ;;
		class)
			sent_classes+=("1:{" "2:u64:${value[0]}")
			for ((i = 1; i < ${#value[@]}; i++)); do
				sent_classes+=("$((i + 2)):u32:${value[i]}")
			done
			sent_classes+=("}") ;;
		2 | 17 | 30)	sent+=("$type:u64:${value[0]}") ;;
		*)	sent+=("$type:u32:${value[0]}") ;;
		esac
	done
	[ ${#sent_classes[@]} -eq 0 ] || sent+=("13:{" "${sent_classes[@]}" "}")
	in_netns "$near" quell_nl qdisc va 1:s:swport "2:{" "${sent[@]}" "}"
}

kernel_refuses()
{
	fails_with "$1" port_set "${@:2}"
}

# frames_are COMMAND-OF-AWK EXPECTED
frames_are()
{
	local got

	got=$(awk "$1" "$dir/frames" | tr '\n' ' ')
	[ "$got" = "$2" ] || {
		echo "got '$got', want '$2'"
		cat "$dir/frames"
		return 1
	}
}

# wire_time RATE OVERHEAD: the frames took as long as a wire takes.  In virtual
# time that is to the nanosecond, but for clocks being read twice.  An emulated
# machine is late by all the time it was away; early it may only be by
# the millisecond for which swport makes good.
wire_time()
{
	local late_ns=20 early_ns=20

	is_virtual || {
		late_ns=3600000000000
		early_ns=1100000
	}
	awk -v rate="$1" -v overhead="$2" -v late_max="$late_ns" \
		-v early_max="$early_ns" '
	NR == 1 { first = $1 }
	NR > 1 { wire += (last_bytes + overhead) * 1000000000 / rate }
	{ last = $1; last_bytes = $6 }
	END {
		late = last - first - wire
		printf "%d frames in %.0f ns, the wire %.1f ns, late %.1f ns\n",
			NR, last - first, wire, late
		exit NR < 2 || late > late_max || late < -early_max
	}' "$dir/frames"
}

# Nothing is queued, and every frame is accounted for.
books_balance()
{
	port_is '.backlog == 0 and .qlen == 0 and
		.data_backlog_bytes == 0 and .control_backlog_bytes == 0 and
		.memory_used_bytes == 0 and .packets == .data_pkts + .control_pkts and
		.bytes == .data_bytes + .control_bytes and
		.drops == .data_drop_pkts + .control_drop_pkts + .alloc_fail_pkts'
}
