#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Connections that open at once agree on the Quell option, all of them and at both
# ends, however many there are.
# shellcheck disable=SC2119 # arguments have defaults

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./crowd.sh

# agree COUNT: so many at once, each with a request and an answer.
agree()
{
	local status

	crowd_open "$1" 100 && crowd_agreed &&
	note "$1 at once: $(jq -c . "$dir/agreed")" >&3 &&
	crowd_is ".flows == $1 and .on == $1 and .server_on == $1 and .disagree == 0"
	status=$?
	crowd_close && return "$status"
}

exec 3>&1
require "two hosts" eval 'modprobe tcp_swift && crowd_network && crowd_hosts swift'
plan 5
for count in 10 100 1000 2000 10000; do
	check "$count connections at once agree on the option" agree $count
done
finish
