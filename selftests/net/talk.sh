# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Connections of option_tcp.c, for tests of the Quell option: servers that send
# back what they get, and talkers, which take commands and answer them.  Sourced after lib.sh.

says_ready()
{
	grep -q ready "$dir/$1"
}

# serve NETNS PORT [COMMAND]...
serve()
{
	start_in "$1" option_tcp serve "${@:2}" >"$dir/serve.$1.$2"
	poll 10 says_ready "serve.$1.$2"
}

declare -A talker_to talker_from asked
answer=""

# talker NAME NETNS: it takes commands and answers them.
talker()
{
	local to from

	mkfifo "$dir/$1.in" "$dir/$1.out"
	start_in "$2" sh -c "exec option_tcp talk <'$dir/$1.in' >'$dir/$1.out'"
	exec {to}>"$dir/$1.in" {from}<"$dir/$1.out"
	talker_to[$1]=$to
	talker_from[$1]=$from
}

# ask NAME COMMAND: without waiting for the answer.
ask()
{
	asked[$1]=$2
	echo "$2" >&"${talker_to[$1]}"
}

# told NAME: the answer to that, which is then in $answer, is good.  What was asked
# before, and not waited for, is passed over.
told()
{
	while read -r -t 40 -u "${talker_from[$1]}" answer; do
		echo "$1: $answer"
		[[ $answer = "failed ${asked[$1]}:"* ]] && return 1
		[[ $answer = "ok ${asked[$1]}"* ]] && return 0
	done
	answer=""
	echo "$1: no answer"
	return 1
}

# ordered NAME COMMAND [COMMAND]...: it does them, one after the other.
ordered()
{
	local name=$1 command
	shift

	for command; do
		ask "$name" "$command"
		told "$name" || return 1
	done
}

# say COMMAND [COMMAND]...: the same of the talker called "talker".
say()
{
	ordered talker "$@"
}

# boxed MODE: from now on option_box does that in $box, between its ends of two cables.
box_pid=""
boxed()
{
	[ -z "$box_pid" ] || stop "$box_pid"
	start_in "$box" ./option_box "$1" box0 box1 >"$dir/box"
	box_pid=$started
	poll 10 says_ready box
}

# watch NETNS: option_box reports in $dir/watch.NETNS what is sent by wire0; $started ends it.
watch()
{
	start_in "$1" ./option_box watch wire0 >"$dir/watch.$1"
	poll 10 says_ready "watch.$1"
}

# Flows of a namespace, without white space.
flows_of()
{
	flows=$(quell -n "$1" -j flow show) || return 1
	flows=${flows//[[:space:]]/}
}

no_flow()
{
	flows_of "$1" && [[ $flows != *'"cc":'* ]]
}

# one_flow NETNS PORT OPTION: there is one, to or from that port, in that state.
one_flow()
{
	flows_of "$1" && [[ $flows != *'"cc":'*'"cc":'* ]] &&
	[[ $flows = *'port":'"$2",* ]] && [[ $flows = *'"option":"'"$3"'"'* ]]
}
