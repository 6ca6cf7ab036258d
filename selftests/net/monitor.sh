#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# quell monitor: who listens hears each change of a setting, and what becomes of each
# connection, once, in order and of its own namespace; a flood by a user or by a peer costs
# it so many lines a second, and it is told how many it did not get; it goes on after losing
# some, and ends when nobody reads it, by a signal, and with the module.
#
#	$client wire --- wire $server	10.90.0.2, 10.90.0.1
#	$client far --- box0 $box (option_box) box1 --- far $server	10.91.0.2, 10.91.0.1
#	$apart		its own settings
# shellcheck disable=SC2086,SC2154 # inner shells; numbers; $started is lib.sh's

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

port=8080 plain_port=8081 many_port=8082
client="" server="" box="" apart="" many=()
# Lines of a kind that a second has at most, NTFS_PER_S of the module.
per_s=256
marks=0
declare -A listener seen

make_network()
{
	local netns

	modprobe -a tcp_swift tcp_dcqcn tcp_dart || return 1
	new_netns client server box apart
	cable "$client" wire "$server" wire 10.90.0.2/24 10.90.0.1/24 &&
	cable "$client" far "$box" box0 10.91.0.2/24 && cable "$server" far "$box" box1 10.91.0.1/24 ||
		return 1
	for netns in "$client" "$server"; do
		in_netns "$netns" ethtool -K far tso off gso off gro off tx off >/dev/null &&
		choose_cc "$netns" swift && quell -n "$netns" cc set swift base-target 100ms || return 1
	done
	quell -n "$client" cc set quell option 1 && allow_cc dcqcn
}

# --- listeners -----------------------------------------------------------------

# listen NAME NETNS [ARGUMENT]...: until the test ends, or it is stopped.
listen()
{
	start_in "$2" quell -j monitor "${@:3}" >"$dir/$1" 2>"$dir/$1.err"
	listener[$1]=$started
	seen[$1]=0
	poll 130 marked "$1" "$2" && seen[$1]=$(wc -l <"$dir/$1")
}

# A change that nothing else makes.  What listeners hear before it happened before it.
mark()
{
	marks=$((marks % 900 + 1))
	quell -n "$1" cc set quell burst "${marks}us"
}

heard()
{
	tail -n +$((seen[$1] + 1)) "$dir/$1" | grep -q "\"burst\",\"value\":${marks}000,"
}

marked()
{
	mark "$2" && poll 1 heard "$1" >/dev/null
}

# Names what is told without what differs from run to run.
brief='if .event == "cc" then "cc \(.name) \([.params[] | "\(.name)=\(.value)"] | join(" "))"
	elif .event == "link" then "link \(.dev) \(.rate_bytes_ps)"
	elif .event == "sender" then "sender \(.address) \(.dev) \(.weight)"
	elif .event == "lookahead" then
		"lookahead \(.name) \(if .deleted then "deleted" else "added" end) uid \(.uid) \(.dev) \(.members_nr)"
	elif .event == "option" then "option \(.cc) \(.option)"
	elif .event == "adapt" then "adapt \(.cc) \(.adapt) \(.fallback)"
	elif .event == "stat" then "stat \([.counters[] | "\(.name)+\(.new)"] | join(" "))"
	else .event end'

# news NAME NETNS: all that it was told since the last time, but marks, to $dir/news.
news()
{
	mark "$2" && poll 20 heard "$1" || return 1
	tail -n +$((seen[$1] + 1)) "$dir/$1" >"$dir/lines"
	seen[$1]=$((seen[$1] + $(wc -l <"$dir/lines")))
	jq -r "$brief" "$dir/lines" | grep -v '^cc quell burst=' >"$dir/news"
	true
}

# hears NAME NETNS [LINE]...: these lines and no other since the last time.
hears()
{
	news "$1" "$2" || return 1
	printf '%s\n' "${@:3}" | sed '/^$/d' | diff - "$dir/news"
}

# --- settings ------------------------------------------------------------------

quell_at()
{
	quell -n "$client" "$@"
}

parameters_once()
{
	quell_at cc set swift beta 0.5 ai 1gbit && quell_at cc set swift beta 0.5 &&
	! quell_at cc set swift beta 2 && quell_at cc reset swift ai beta && quell_at cc reset swift ai &&
	hears all "$client" "cc swift ai=125000000 beta=32768" "cc swift ai=6250000 beta=52429"
}

# All that a preset sets comes as one, and so does its end.
preset_once()
{
	quell_at cc preset swift vaisf-iii-d && quell_at cc reset swift && news all "$client" || return 1
	cat "$dir/news"
	[ "$(grep -c '^cc swift [^ ]* [^ ]*$' "$dir/news")" -eq 2 ] && [ "$(wc -l <"$dir/news")" -eq 2 ] &&
	grep '"name":"swift"' "$dir/lines" | sed -n 2p >"$dir/line" &&
	json '.params | all(.value == .default)' "$dir/line"
}

links_once()
{
	quell_at link set wire rate 1gbit && quell_at link set wire rate 1gbit && quell_at link reset wire &&
	hears all "$client" "link wire 125000000" "link wire null"
}

# One with a rate of its own, from its beginning to its end.
link_goes()
{
	ip -n "$client" link add gone type dummy && quell_at link set gone rate 1gbit &&
	quell_at sender weight 10.90.0.9 7 dev gone && quell_at lookahead add soon dev gone 10.90.0.9 &&
	ip -n "$client" link del gone && news all "$client" || return 1
	cat "$dir/news"
	sed -i 's/ if[0-9]* / if /; s/ if[0-9]*$/ if/' "$dir/news"
	printf '%s\n' "link gone 125000000" "sender 10.90.0.9 gone 7" \
		"lookahead soon added uid 0 gone 1" "link if null" "lookahead soon deleted uid 0 if 1" \
		"sender 10.90.0.9 if 1" | diff - "$dir/news"
}

weights_once()
{
	quell_at sender weight 10.90.0.1 4 dev wire && quell_at sender weight 10.90.0.1 4 dev wire &&
	quell_at sender weight 10.90.0.1 1 dev wire && quell_at sender weight 10.90.0.1 1 dev wire &&
	hears all "$client" "sender 10.90.0.1 wire 4" "sender 10.90.0.1 wire 1"
}

groups_once()
{
	quell_at lookahead add job dev wire 10.90.0.1 10.90.0.9 && ! quell_at lookahead add job dev wire 10.90.0.1 &&
	quell_at lookahead del job &&
	hears all "$client" "lookahead job added uid 0 wire 2" "lookahead job deleted uid 0 wire 2"
}

# What is so already is no change.
restore_once()
{
	quell_at cc set swift beta 0.5 && quell_at link set wire rate 1gbit && quell_at save >"$dir/saved" &&
	quell_at cc reset swift beta && quell_at link reset wire && news all "$client" &&
	quell_at restore "$dir/saved" && quell_at restore "$dir/saved" &&
	hears all "$client" "cc swift beta=32768" "link wire 125000000" &&
	quell_at cc reset swift beta && quell_at link reset wire && news all "$client"
}

others_hear_nothing()
{
	quell -n "$apart" cc set swift beta 0.5 && hears apart "$apart" "cc swift beta=32768" &&
	hears all "$client"
}

# --- flows ---------------------------------------------------------------------

connects()
{
	say reset "open 4" "connect $1 $2" "xfer 100000"
}

agreed_once()
{
	connects 10.90.0.1 $port && hears all "$client" "option swift on" &&
	hears peer "$server" "option swift on"
}

no_answer_once()
{
	connects 10.90.0.1 $plain_port && hears all "$client" "option swift no-reply" &&
	hears peer "$server"
}

stripped_once()
{
	local n

	boxed strip-data && say reset "open 4" "connect 10.91.0.1 $port" || return 1
	for ((n = 0; n < 40; n++)); do
		say "xfer 1" >/dev/null || return 1
	done
	hears all "$client" "option swift on" "option swift stripped" && hears peer "$server"
}

# At its first loss, without a mark before, CUBIC takes dcqcn's flow over.
fallback_once()
{
	tc -n "$client" qdisc add dev wire root netem rate 50mbit limit 30 &&
	say reset "open 4" "cc dcqcn" "connect 10.90.0.1 $port" "xfer 2000000" "xfer 1000000" &&
	news all "$client" && cat "$dir/news" &&
	[ "$(grep '^adapt' "$dir/news")" = "adapt dcqcn fallback no-marks" ] &&
	grep '"event":"adapt"' "$dir/lines" >"$dir/line" &&
	json ".src == \"10.90.0.2\" and .dst == \"10.90.0.1\" and .dport == $port" "$dir/line" &&
	tc -n "$client" qdisc del dev wire root
}

# risen NAME COUNTER: by how much its listener was told that a counter rose.
risen()
{
	jq -n --arg name "$2" '[inputs | select(.event == "stat") | .counters[] |
		select(.name == $name) | .new] | add // 0' "$dir/$1"
}

# both_rose COUNTER NUMBER: at both ends together, since they listen.
both_rose()
{
	[[ $(<"$dir/all")$(<"$dir/peer") = *'"'"$1"'"'* ]] &&
	[ $(($(risen all "$1") + $(risen peer "$1"))) -eq "$2" ]
}

# A box makes bits wrong in four segments: two have the option still.
refused_are_counted()
{
	boxed damage && connects 10.91.0.1 $port && poll 20 both_rose option-bad-checksum 2 &&
	poll 20 both_rose segment-bad-checksum 2 && news all "$client" && news peer "$server"
}

# --- floods --------------------------------------------------------------------

# bounded NAME NETNS KIND COUNTER TOTAL SECONDS: of so many events within those seconds, each
# was told or counted as not told, and no more were told than as many seconds have room for, which
# touch two more, and not all.
bounded()
{
	local told most=$((per_s * ($6 + 2)))

	poll 20 all_told_of "$1" "$3" "$4" "$5" && told=$(told_of "$1" "$3") && news "$1" "$2" ||
		return 1
	echo "told $told of $5, at most $most"
	[ "$told" -le "$most" ] && [ "$told" -lt "$5" ]
}

told_of()
{
	tail -n +$((seen[$1] + 1)) "$dir/$1" | grep -c "\"event\":\"$2\""
}

all_told_of()
{
	local counted=0

	[[ $(<"$dir/$1") != *'"'"$3"'"'* ]] || counted=$(risen "$1" "$3")
	[ $(($(told_of "$1" "$2") + counted)) -eq "$4" ]
}

# churn TIMES: a look-ahead group is registered and deleted.
churn()
{
	yes $'lookahead add churn dev wire 192.0.2.1\nlookahead del churn' |
		head -n $((2 * $1)) | quell -n "$client" -batch -
}

user_floods()
{
	local begin=$SECONDS

	news all "$client" && churn 600 &&
	bounded all "$client" lookahead ntf-suppressed-lookahead 1200 $((SECONDS - begin))
}

# The administrator's changes are told whatever users do, and the other way round.
flood_hides_nothing()
{
	churn 500 && quell_at cc set swift beta 0.5 &&
	quell_at cc reset swift beta && news all "$client" &&
	[ "$(grep '^cc' "$dir/news")" = "$(printf '%s\n' "cc swift beta=32768" "cc swift beta=52429")" ]
}

peer_floods()
{
	local begin=$SECONDS

	news peer "$server" || return 1
	start_in "$server" many_tcp listen $many_port 1 >"$dir/many"
	many[0]=$started
	poll 10 says_ready many || return 1
	start_in "$client" many_tcp connect 10.90.0.1 $many_port 1 600 10 >"$dir/done"
	many[1]=$started
	poll 60 grep -q "^done" "$dir/done" &&
	bounded peer "$server" option ntf-suppressed-option 600 $((SECONDS - begin)) && news all "$client" &&
	stop "${many[0]}" && stop "${many[1]}"
}

not_counted_unheard()
{
	local before

	before=$(quell_at -j stat quell | jq '.[0].counters["ntf-suppressed-lookahead"]')
	churn 600 &&
	same "untold" "$(quell_at -j stat quell | jq '.[0].counters["ntf-suppressed-lookahead"]')" "$before"
}

# --- the listener --------------------------------------------------------------

overrun()
{
	local n

	listen small "$client" rcvbuf 1b || return 1
	kill -STOP "${listener[small]}"
	for ((n = 0; n < 40; n++)); do
		mark "$client" || return 1
	done
	kill -CONT "${listener[small]}"
	poll 10 grep -q '"event":"overrun"' "$dir/small" && is_told_behind &&
	hears_after_overrun && stop "${listener[small]}"
}

# What was in the buffer before the loss comes first.
is_told_behind()
{
	local line

	line=$(grep -n -m 1 '"event":"overrun"' "$dir/small")
	[ "${line%%:*}" -gt $((seen[small] + 1)) ]
}

hears_after_overrun()
{
	quell_at cc set swift beta 0.5 && quell_at cc reset swift beta && news small "$client" &&
	[ "$(tail -n 2 "$dir/news")" = "$(printf '%s\n' "cc swift beta=32768" "cc swift beta=52429")" ]
}

# A user of the namespace hears what cc show, flow show and ss show.
anyone_listens()
{
	start_in "$client" sh -c "$as_nobody" sh quell -j monitor >"$dir/nobody"
	listener[nobody]=$started
	seen[nobody]=0
	poll 130 marked nobody "$client" && seen[nobody]=$(wc -l <"$dir/nobody") &&
	connects 10.90.0.1 $port && quell_at cc set swift beta 0.5 && quell_at cc reset swift beta &&
	hears nobody "$client" "option swift on" "cc swift beta=32768" "cc swift beta=52429" &&
	stop "${listener[nobody]}"
}

one_group_alone()
{
	listen settings "$client" settings || return 1
	start_in "$client" quell -j monitor flows >"$dir/flows"
	connects 10.90.0.1 $port && poll 20 flows_are_heard && connects 10.90.0.1 $port &&
	hears settings "$client" && ! grep -v '"event":"option"' "$dir/flows" &&
	stop "$started" && stop "${listener[settings]}"
}

flows_are_heard()
{
	connects 10.90.0.1 $port && grep -q '"event":"option"' "$dir/flows"
}

# A line of text each, with the time in front as ip(8) has it.
# The shell has what it starts so ignore SIGINT, and it stays so.
text_lines()
{
	start_in "$client" quell monitor -ts settings >"$dir/text"
	poll 20 text_is_there && kill -INT "$started" && mark "$client" && kill -TERM "$started" &&
	wait "$started" && cat "$dir/text" &&
	! grep -vE '^\[[0-9-]{10}T[0-9:]{8}\.[0-9]{6}\] cc quell: burst [0-9]+us$' "$dir/text"
}

text_is_there()
{
	mark "$client" && [ -s "$dir/text" ]
}

# Nobody reads any more: it ends without another event.
reader_goes()
{
	start_in "$client" sh -c 'quell -j monitor | head -n 1 >"$0"' "$dir/head"
	poll 20 head_is_there && wait "$started"
}

head_is_there()
{
	mark "$client" && [ -s "$dir/head" ]
}

module_goes()
{
	local netns

	stop "$server_pid" && stop "$plain_pid" && say reset || return 1
	for netns in "$client" "$server"; do
		in_netns "$netns" sysctl -q -w net.ipv4.tcp_congestion_control=reno || return 1
	done
	unload tcp_dart tcp_dcqcn tcp_swift quell && ! wait "${listener[apart]}" &&
	grep -q "module quell was unloaded" "$dir/apart.err"
}

as_nobody='exec setpriv --reuid 65534 --clear-groups --inh-caps=-all "$@"'
if ! setpriv --help 2>&1 | grep -q reuid; then
	echo nobody:x:65534:65534::/:/bin/sh >/etc/passwd
	as_nobody='exec su -s /bin/sh nobody -c "exec $*"'
fi

plan 26
check "network" make_network
serve "$server" $port && server_pid=$started
serve "$server" $plain_port cc,cubic && plain_pid=$started
talker talker "$client"
check "talker" say "open 4"
check "a listener, one at the other end, one elsewhere" eval \
	'listen all "$client" && listen peer "$server" && listen apart "$apart"'
check "parameters: what changed, once" parameters_once
check "a preset, and its end" preset_once
check "rates" links_once
check "weights" weights_once
check "look-ahead groups" groups_once
check "an interface goes, and what was set for it" link_goes
check "restore: what it changed" restore_once
check "nothing of this elsewhere, and the other way round" others_hear_nothing
check "a connection agrees on the option, at both ends" agreed_once
check "one whose peer does not answer" no_answer_once
check "one whose option is taken out on the way" stripped_once
check "one that CUBIC takes over" fallback_once
check "forged segments: counted, a second at a time" refused_are_counted
check "any user may listen" anyone_listens
check "one group alone" one_group_alone
check "a user's flood is bounded, and the rest is counted" user_floods
check "a peer's flood is bounded, and the rest is counted" peer_floods
check "a flood hides nothing else" flood_hides_nothing
check "a listener that lost events says so, and goes on" overrun
stop "${listener[all]}"
stop "${listener[peer]}"
stop "${listener[apart]}"
check "nobody listens: nothing is counted" not_counted_unheard
check "text, with the time, ended by SIGTERM" text_lines
check "it ends when nobody reads it" reader_goes
listen apart "$apart"
check "it ends with the module" module_goes
finish
