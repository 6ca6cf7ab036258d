#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Algorithms as BPF objects, which need no module of ours.
#
#	bpf.sh [ALGORITHM]...
#
#	server --- client, which sends; both by bpf_ALGORITHM
#
# For each algorithm: quell bpf load registers it, a namespace chooses it, files arrive
# unharmed without and with 1 % loss, counters and parameters act, and a flow outlives
# the replacement of its code, and the unloading.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./pair.sh

port=9000
file_bytes=1000000
half_bytes=800000
low_bytes=900000	# where the parameters are low, behind the half
objects=$(dirname "$(dirname "$(command -v quell)")")/lib/quell/bpf
pins=/sys/fs/bpf/quell
available=/proc/sys/net/ipv4/tcp_available_congestion_control
allowed=/proc/sys/net/ipv4/tcp_allowed_congestion_control
listener="" sender="" sent=0

# Parameters that make an algorithm reduce, and those that keep it from that, with the counter
# that tells: it grows more under the low ones, of an eighth of the data (a busy machine may
# delay a packet by more than the largest target); - where the window tells.  The algorithm
# governs, whatever the path.
declare -A low=(
	[swift]="adapt off base-target 1us hop-scale 0 fs-range 0 host-target 0 min-window 1"
	[swift_vaisf]="adapt off base-target 1us hop-scale 0 min-window 1 sampling 1"
	[timely]="adapt off t-low 0 t-high 1us"
	[smartt]="adapt off target-delay 1us"
	[dcqcn]="adapt off max-window 64kb" [dart]="adapt off max-window 64kb")
declare -A high=(
	[swift]="adapt off base-target 1s" [swift_vaisf]="adapt off base-target 1s"
	[timely]="adapt off t-low 1s t-high 1s"
	[smartt]="adapt off target-delay 100ms"
	[dcqcn]="adapt off max-window 1gb" [dart]="adapt off max-window 1gb")
declare -A told=([swift]=decreases [swift_vaisf]=decreases [timely]=above-high
	[smartt]=fair-increases [dcqcn]=- [dart]=-)

# Links of struct_ops came with 6.4.
has_links()
{
	[ "$(printf '6.4\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.4 ]
}

is_available()
{
	grep -qw "bpf_$1" "$available"
}

is_gone()
{
	! is_available "$1" && [ ! -e "$pins/$1" ]
}

# show ALGORITHM FILTER: what jq says of it.
show()
{
	quell -j bpf show "$1" | jq -e ".[0] | $2"
}

counter()
{
	show "$1" ".counters[\"$2\"]"
}

counters_sum()
{
	show "$1" '[.counters[]] | add'
}

param()
{
	show "$1" ".params[] | select(.name == \"$2\").value"
}

loads()
{
	quell bpf load "$@" && is_available "$1"
}

# By a link where the kernel has them, and with the algorithm's parameters, all at their
# defaults; nothing counted.
shows_what_is_loaded()
{
	local kind='(has("link_id") | not)'

	has_links && kind='.link_id > 0'
	show "$1" ".name == \"$1\" and .cc == \"bpf_$1\" and .map_id > 0 and $kind and
		(.params | length) > 5 and all(.params[]; .value == .default) and
		([.counters[]] | add) == 0 and .state == \"registered\" and
		.version == \"$(quell -V | cut -d' ' -f2)\" and .users == 0 and .old_users == 0" &&
	[ "$(quell bpf show | grep -c "^$1: bpf_$1, ")" -eq 1 ]
}

pins_are_there()
{
	if has_links; then
		[ -e "$pins/$1/link" ]
	else
		[ -e "$pins/$1/map" ]
	fi && [ -e "$pins/$1/quell_params" ] && [ -e "$pins/$1/quell_stats" ]
}

values_are_checked()
{
	status 1 quell bpf load frob && says "unknown algorithm 'frob' \(there are: swift, " &&
	status 1 quell bpf load swift ai 5 && says "swift ai: '5' has no unit" &&
	status 1 quell bpf load swift ai 1kbit && says "out of range 8Kbit" &&
	status 1 quell bpf load swift preset frob && says "swift has no preset 'frob'" &&
	status 2 quell bpf set swift ai 1gbit && says "swift is not loaded as BPF" &&
	status 2 quell bpf unload swift && says "swift is not loaded as BPF" &&
	status 2 quell bpf show swift && grep -q "not loaded as BPF" "$dir/err"
}

objects_are_checked()
{
	status 2 quell bpf load swift dir "$dir" && says "no object $dir/swift.bpf.o" &&
	status 2 env QUELL_BPF_DIR="$dir" quell bpf load swift && says "no object $dir/" || return 1
	head -c 1000 "$objects"/swift.bpf.o >"$dir/swift.bpf.o"
	status 2 quell bpf load swift dir "$dir" && says "cannot read $dir/swift.bpf.o" || return 1
	cp "$objects/timely.bpf.o" "$dir/swift.bpf.o"
	status 2 quell bpf load swift dir "$dir" && says "has no congestion control bpf_swift"
}

as_nobody()
{
	su -s /bin/sh nobody -c "$*"
}

# A user without privilege, and root of a user namespace, who passes for root.
users_are_refused()
{
	[ -e /etc/passwd ] || {
		echo nobody:x:65534:65534::/:/bin/sh >/etc/passwd
		defer rm /etc/passwd
	}
	status 2 as_nobody quell bpf load "$1" && says "needs CAP_BPF" &&
	status 2 as_nobody quell bpf set "$1" adapt off && says "needs root" &&
	status 2 as_nobody quell bpf unload "$1" && says "needs root" &&
	status 2 as_nobody quell bpf show && says "needs root" &&
	quell bpf unload "$1" &&
	status 2 unshare -U -r quell bpf load "$1" && says "needs CAP_BPF" && is_gone "$1" &&
	quell bpf load "$1"
}

# Many systems let every user write to the bpf file system, and so make the directory first.
pins_of_others_are_refused()
{
	grep -q " /sys/fs/bpf bpf " /proc/mounts || mount -t bpf bpf /sys/fs/bpf || return 1
	rmdir "$pins" 2>/dev/null
	mkdir "$pins" && chown 65534 "$pins" &&
	status 2 quell bpf load "$1" && says "others can change what is in $pins" &&
	status 2 quell bpf show && says "others can change" && chown 0 "$pins" &&
	chmod 777 "$pins" && status 2 quell bpf load "$1" && says "others can change" &&
	rmdir "$pins" && mkdir /sys/fs/bpf/other && ln -s /sys/fs/bpf/other "$pins" &&
	status 2 quell bpf unload "$1" && says "others can change" &&
	rm "$pins" && rmdir /sys/fs/bpf/other && ! is_available "$1"
}

# Another file is in their place.
types_are_looked_at()
{
	mount --bind "$dir/file" /sys/kernel/btf/vmlinux || return 1
	status 2 quell bpf load "$1" && says "cannot make sense of /sys/kernel/btf/vmlinux"
	set -- $?
	umount /sys/kernel/btf/vmlinux && return "$1"
}

not_where_mounts_go()
{
	status 2 in_netns "$client" quell bpf load "$1" && says "mount namespace"
}

loaded_once()
{
	status 2 quell bpf load "$1" && says "$1 is loaded already" && is_available "$1"
}

# send_to BYTES: the open flow sends the file up to there, and it arrives.
send_to()
{
	head -c "$1" "$dir/file" | timeout 20 tail -c +$((sent + 1)) >&3
	sent=$1
	poll 20 has_arrived "$1" || {
		stat -c '%s bytes arrived' "$dir/copy"
		in_netns "$client" ss -Htino "dport = :$port"
		return 1
	}
}

has_arrived()
{
	[ "$(stat -c %s "$dir/copy")" -eq "$1" ]
}

# begin_flow ADDRESS: from the client, fed by descriptor 3.
begin_flow()
{
	rm -f "$dir/copy" "$dir/fifo" "$dir/quiet"
	mkfifo "$dir/fifo" "$dir/quiet"
	# It ends with its input, which therefore never does.
	start_in "$server" sh -c "exec timeout 60 nc -l -p $port <>'$dir/quiet'" >"$dir/copy"
	listener=$started
	poll 10 listens "$server" "$port" || return 1
	# Open for reading, too, so as not to wait for the reader, who must not hold it himself.
	exec 3<>"$dir/fifo"
	start_in "$client" sh -c "exec timeout 60 nc $1 $port <'$dir/fifo' 3<&-"
	sender=$started
	sent=0
}

# end_flow STATUS: of what was done with it.  The sender's end of data ends it.
end_flow()
{
	exec 3>&-
	wait "$sender" "$listener"
	cmp "$dir/file" "$dir/copy" && [ "$1" -eq 0 ]
}

# transfer ADDRESS ALGORITHM: which is the namespace's.
transfer()
{
	begin_flow "$1" && send_to "$half_bytes" && flow_is_of "$2" && send_to "$file_bytes"
	end_flow $?
}

# The flow's algorithm is the first word of its state.
flow_is_of()
{
	in_netns "$client" ss -Htin "dport = :$port" >"$dir/state"
	grep -w "bpf_$1" "$dir/state" || {
		echo "not bpf_$1: $(cat "$dir/state")"
		return 1
	}
}

# The cable is cut under an open flow, until the timer that every algorithm counts has fired.
# shellcheck disable=SC2086 # words
counts()
{
	local before

	quell bpf set "$1" ${high[$1]} && before=$(counter "$1" rtos) &&
	begin_flow 10.81.0.1 && send_to "$half_bytes" && set_loss 100 || return 1
	head -c "$low_bytes" "$dir/file" | tail -c +$((sent + 1)) >&3
	sent=$low_bytes
	poll 20 counts_on "$1" rtos "$before"
	set_loss 0 && send_to "$file_bytes" && counts_on "$1" rtos "$before" && flow_is_of "$1"
	end_flow $?
}

counts_on()
{
	[ "$(counter "$1" "$2")" -gt "$3" ]
}

# Both ends: a listener without it refuses the ECN of those that need it, whose SYN is
# ECN-capable.
chooses()
{
	choose_cc "$client" "bpf_$1" && choose_cc "$server" "bpf_$1" &&
	[ "$(cc_of "$client")" = "bpf_$1" ]
}

is_only_default_there()
{
	[ "$(cat /proc/sys/net/ipv4/tcp_congestion_control)" != "bpf_$1" ]
}

# set_loss PERCENT: both ways; 0 is none.
set_loss()
{
	local netns

	for netns in "$server" "$client"; do
		in_netns "$netns" tc qdisc replace dev wire0 root netem loss "$1%" || return 1
	done
}

arrives_despite_loss()
{
	# shellcheck disable=SC2086 # words
	quell bpf set "$1" ${high[$1]} &&
	set_loss 1 && transfer 10.81.0.1 "$1" && transfer 'fd81::1' "$1"
	set -- $?
	set_loss 0 && return "$1"
}

window_pkts()
{
	in_netns "$client" ss -Htin "dport = :$port" | grep -oE '\bcwnd:[0-9]+' | cut -d : -f 2
}

# What an open flow does under the parameters: the counter, or the window.
effect()
{
	if [ "${told[$1]}" = - ]; then
		window_pkts
	else
		counter "$1" "${told[$1]}"
	fi
}

# acts ALGORITHM BEFORE BETWEEN AFTER: the effect before the high parameters, under them, and
# under the low ones.
acts()
{
	case ${told[$1]} in
	-)	[ "$4" -lt "$3" ] ;;
	*)	[ $(($4 - $3)) -gt $(($3 - $2)) ] ;;
	esac
}

# Parameters act on an open flow, at once: some segments show it.
# shellcheck disable=SC2086 # words
parameters_act()
{
	local before between after

	quell bpf set "$1" ${high[$1]} && begin_flow 10.81.0.1 || return 1
	before=$(effect "$1")
	# The last ACK may be received after the low parameters are set: it counts for the high ones,
	# but reduces a window.
	send_to "$half_bytes" && between=$(effect "$1") && quell bpf set "$1" ${low[$1]} &&
	{ [ "${told[$1]}" = - ] || between=$(effect "$1"); } &&
	send_to "$low_bytes" && after=$(effect "$1") && quell bpf set "$1" ${high[$1]} &&
	send_to "$file_bytes"
	end_flow $? || return 1
	echo "$before, $between with ${high[$1]}, $after with ${low[$1]}"
	acts "$1" "$before" "$between" "$after"
}

# shellcheck disable=SC2086 # words
values_are_kept()
{
	local name=${low[$1]%% *} value

	quell bpf set "$1" ${low[$1]} || return 1
	value=$(param "$1" "$name")
	quell bpf show "$1" | grep -q "^\* $name " &&
	status 1 quell bpf set "$1" "$name" -1 && says "negative" &&
	status 1 quell bpf set "$1" ${high[$1]} frob 1 && says "no parameter 'frob'" &&
	[ "$(param "$1" "$name")" = "$value" ] &&
	quell bpf reset "$1" "$name" && [ "$(param "$1" "$name")" != "$value" ] &&
	quell bpf reset "$1" && show "$1" 'all(.params[]; .value == .default)'
}

presets_apply()
{
	local preset

	preset=$(quell -j cc preset "$1" | jq -r '.[0].name')
	quell bpf set "$1" preset "$preset" && show "$1" ".preset == \"$preset\"" &&
	quell bpf reset "$1"
}

# The flow that is open keeps its code, the link its number, the namespace its choice, and
# parameters and counters count on.
replaces_under_flow()
{
	local name=${low[$1]%% *} link map value sum users

	link=$(show "$1" .link_id) && map=$(show "$1" .map_id) || return 1
	# shellcheck disable=SC2086 # words
	quell bpf set "$1" ${high[$1]} && value=$(param "$1" "$name") &&
	begin_flow 10.81.0.1 && send_to "$half_bytes" && sum=$(counters_sum "$1") &&
	users=$(show "$1" .users) && quell bpf replace "$1" &&
	show "$1" ".users == 0 and .old_users == $users" && [ "$users" -ge 2 ] && send_to "$file_bytes" && flow_is_of "$1"
	end_flow $? || return 1
	show "$1" ".link_id == $link and .map_id != $map" && is_available "$1" &&
	[ "$(param "$1" "$name")" = "$value" ] && [ "$sum" -gt 0 ] &&
	[ "$(counters_sum "$1")" -ge "$sum" ] &&
	grep -qw "bpf_$1" "$allowed" && chooses "$1" && counts "$1" && quell bpf reset "$1"
}

# New parameters come with new code.
replaces_with_values()
{
	local name=${low[$1]%% *}

	# shellcheck disable=SC2086 # words
	quell bpf replace "$1" ${low[$1]} && quell bpf show "$1" | grep "^\* $name " &&
	quell bpf reset "$1"
}

# The list of those allowed can be written in the machine's own namespace only.
not_replaced_where_permission_ends()
{
	local map

	map=$(show "$1" .map_id) &&
	status 2 nsenter "--net=/run/netns/$client" quell bpf replace "$1" &&
	says "try outside of network namespaces" && show "$1" ".map_id == $map" &&
	grep -qw "bpf_$1" "$allowed"
}

# Counters of another algorithm stand for those of another version.  The old code, which open
# connections keep, keeps its parameters.
# shellcheck disable=SC2086 # words
replaces_what_does_not_fit()
{
	local name=${low[$1]%% *} other=timely value

	[ "$1" != timely ] || other=swift
	quell bpf load "$other" && quell bpf set "$1" ${low[$1]} && value=$(param "$1" "$name") &&
	ln "$pins/$1/quell_params" "$pins/kept" && rm "$pins/$1/quell_stats" &&
	ln "$pins/$other/quell_stats" "$pins/$1/quell_stats" &&
	status 0 quell bpf replace "$1" && says "do not fit, those of the new begin anew" &&
	show "$1" '(all(.params[]; .value == .default)) and ([.counters[]] | add) == 0' &&
	mv "$pins/kept" "$pins/$1/quell_params" && [ "$(param "$1" "$name")" = "$value" ] &&
	quell bpf unload "$other" && quell bpf unload "$1" && quell bpf load "$1" && chooses "$1"
}

refuses_to_replace()
{
	status 2 quell bpf replace "$1" && says "cannot replace bpf_$1 in place" && is_available "$1"
}

# The name goes at once; the flow ends with the code it began with.
unloads_under_flow()
{
	# shellcheck disable=SC2086 # words
	quell bpf set "$1" ${high[$1]} &&
	begin_flow 10.81.0.1 && send_to "$half_bytes" && quell bpf unload "$1" && is_gone "$1" &&
	status 2 quell bpf show "$1" && grep -q "not loaded as BPF; its code has" "$dir/err" &&
	send_to "$file_bytes" && flow_is_of "$1"
	end_flow $? && is_gone "$1" || return 1
	status 2 quell bpf unload "$1" && says "not loaded"
}

# What has it as its default goes on with it; who chooses anew is refused.
choice_outlives_unloading()
{
	[ "$(cc_of "$client")" = "bpf_$1" ] && transfer 10.81.0.1 "$1" &&
	in_netns "$client" sysctl -q -w net.ipv4.tcp_congestion_control=cubic &&
	in_netns "$server" sysctl -q -w net.ipv4.tcp_congestion_control=cubic &&
	refuses "No such file" in_netns "$client" sysctl -w "net.ipv4.tcp_congestion_control=bpf_$1"
}

# The default of the namespace that quell runs in is kept by replace, and unload tells of it.
own_default()
{
	local before

	before=$(cat /proc/sys/net/ipv4/tcp_congestion_control)
	sysctl -q -w "net.ipv4.tcp_congestion_control=bpf_$1" &&
	{ ! has_links || quell bpf replace "$1"; } &&
	grep -qx "bpf_$1" /proc/sys/net/ipv4/tcp_congestion_control &&
	status 0 quell bpf unload "$1" && says "new connections of this network namespace"
	set -- $?
	sysctl -q -w "net.ipv4.tcp_congestion_control=$before" && return "$1"
}

loads_again()
{
	local name=${high[$1]%% *}

	# shellcheck disable=SC2086 # words
	loads "$1" ${high[$1]} && quell bpf show | grep "^\* $name " && own_default "$1" && is_gone "$1"
}

checks_of_algorithm()
{
	check "$1: loaded and registered" loads "$1"
	check "$1: shown as it is" shows_what_is_loaded "$1"
	check "$1: pinned" pins_are_there "$1"
	check "$1: not loaded twice" loaded_once "$1"
	check "$1: users are refused" users_are_refused "$1"
	check "$1: another namespace chooses it" chooses "$1"
	check "$1: no other has it" is_only_default_there "$1"
	check "$1: an open flow outlives a cut cable, and its timeout is counted" counts "$1"
	check "$1: a file arrives unharmed" transfer 10.81.0.1 "$1"
	check "$1: files arrive with 1 % loss" arrives_despite_loss "$1"
	check "$1: parameters act on an open flow" parameters_act "$1"
	check "$1: wrong values change nothing, reset does" values_are_kept "$1"
	check "$1: a preset applies" presets_apply "$1"
	if has_links; then
		check "$1: code is replaced under an open flow" replaces_under_flow "$1"
		check "$1: code is replaced with values" replaces_with_values "$1"
		check "$1: no replacement where its permission would end" \
			not_replaced_where_permission_ends "$1"
		check "$1: code is replaced that counts otherwise" replaces_what_does_not_fit "$1"
	else
		check "$1: no replacement without links" refuses_to_replace "$1"
	fi
	check "$1: unloaded under an open flow, which ends well" unloads_under_flow "$1"
	check "$1: its choice outlives it" choice_outlives_unloading "$1"
	check "$1: loaded again, with values, and unloaded" loads_again "$1"
}

[ -e "$objects/swift.bpf.o" ] || {
	echo "1..0 # SKIP no object in $objects"
	exit 4
}
[ $# -gt 0 ] || set -- swift
if has_links; then
	plan $((6 + 20 * $#))
else
	plan $((6 + 17 * $#))
fi
head -c "$file_bytes" /dev/urandom >"$dir/file"
check "two hosts" make_network 81
check "no namespace of mounts that go" not_where_mounts_go "$1"
check "words are checked" values_are_checked
check "objects are checked" objects_are_checked
check "the kernel's types are looked at" types_are_looked_at "$1"
check "pins that others could change are refused" pins_of_others_are_refused "$1"
for algorithm; do
	checks_of_algorithm "$algorithm"
done
finish
