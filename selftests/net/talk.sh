# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154,SC2317
#
# Connections of option_tcp.c, for tests of the Quell option: servers that send
# back what they get, and talkers, which take commands and answer them.  $dir is
# the directory of the test that sources this, and lib.sh before.

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

# talker NAME NETNS: it takes commands and answers them.
talker()
{
	mkfifo "$dir/$1.in"
	touch "$dir/$1.out"
	# Open for both, so that it does not end between two commands.
	start_in "$2" sh -c "exec option_tcp talk <>'$dir/$1.in'" >"$dir/$1.out"
}

answers()
{
	wc -l <"$dir/$1.out"
}

answered()
{
	[ "$(answers "$1")" -gt "$2" ]
}

# ask NAME COMMAND: without waiting for it.
ask()
{
	asked=$(answers "$1")
	echo "$2" >"$dir/$1.in"
}

# told NAME: the answer to what was asked is good.
told()
{
	poll 40 answered "$1" "$asked" || {
		echo "$1: no answer"
		return 1
	}
	tail -n 1 "$dir/$1.out"
	tail -n 1 "$dir/$1.out" | grep -q ^ok
}

# say COMMAND [COMMAND]...: the talker called "talker" does them, one after the other.
say()
{
	local command

	for command; do
		ask talker "$command"
		told talker || return 1
	done
}

# Result of the last of them.
result()
{
	tail -n 1 "$dir/talker.out" | sed 's/.* //'
}
