#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's own tests of TCP-AO, MPTCP and TLS with each algorithm of Quell as the default: their
# results are those with cubic.
#
#	kernel-tests.sh TEST[:ALGORITHM,...]...	of all algorithms without; a TEST is a row of
#						tests() below, or a group such as tcp_ao
#
# Under run-uml the variable QUELL_CASES has the arguments, with "|" between.
# scripts/kernel-selftests has built the programs in build/kernel-selftests, which run-qemu takes
# along.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./suited.sh

limit_s=900
dir=$(mktemp -d)
defer rm -rf "$dir"
# They write into their directory.
programs=$dir/net
cp -r "${quell_top:+$quell_top/build}/kernel-selftests/net" "$programs"

# NAME PROGRAM ARGUMENTS: the last of a name is its program
tests()
{
	local name family

	for name in connect connect-deny icmps-accept icmps-discard key-management restore rst \
		    self-connect seq-ext setsockopt-closed unsigned-md5; do
		for family in ipv4 ipv6; do
			echo "tcp_ao/$name-$family tcp_ao/${name}_$family"
		done
	done
	# Of the 68 of a cipher some that an emulated processor ends.
	echo tls/chosen tls "$(printf -- '-r tls.12_aes_gcm.%s ' sendfile recv_max sendmsg_large \
		sendmsg_multiple splice_from_pipe2 splice_to_pipe recv_peek_large_buf_mult_recs bidir \
		poll_wait shutdown shutdown_unsent control_msg)"
	cat <<-'END'
	tls/aes-gcm tls -v 12_aes_gcm -v 13_aes_gcm
	mptcp/connect mptcp/mptcp_connect.sh -f 100000 -d 0 -l 0% -r 0 -4
	mptcp/loss mptcp/mptcp_connect.sh -f 100000 -d 5 -l 1% -r 0 -4
	END
}

# results PROGRAM ARGUMENT...: "ok NAME" and "not ok NAME" for each, without numbers and sorted, as
# those and the order of threads differ from run to run, and the status
results()
{
	local program=$programs/$1 status

	shift
	(cd "$(dirname "$program")" && TMPDIR=$dir timeout -s KILL "$limit_s" "$program" "$@") \
		>"$dir/output" 2>&1
	status=$?
	sed -nE 's/^((not )?ok) [0-9]+ -? ?(.*)/\1 \3/p' "$dir/output" | sed -E 's/[0-9]+/N/g' | sort
	echo "status $status"
}

# is_whole REFERENCE: all results of the plan are there, at least one of them good, and the program
# has ended by itself, with status 0.
is_whole()
{
	local plan

	plan=$(sed -nE 's/^1\.\.([0-9]+).*/\1/p' "$1.output" | tail -n 1)
	[ "$(grep -cE '^(not )?ok ' "$1")" -eq "${plan:-0}" ] && grep -q '^ok ' "$1" &&
	grep -qx 'status 0' "$1" && return 0
	echo "cubic: plan ${plan:-missing}, $(grep -c '^ok ' "$1") ok," \
		"$(grep -c '^not ok ' "$1") not, $(tail -n 1 "$1")"
	tail -n 20 "$1.output"
	return 1
}

# as_cubic ALGORITHM NAME PROGRAM ARGUMENT...
as_cubic()
{
	local reference=$dir/${2//\//-}

	[ -e "$reference" ] || {
		sysctl -q -w net.ipv4.tcp_congestion_control=cubic
		results "${@:3}" >"$reference"
		cp "$dir/output" "$reference.output"
	}
	# The tests make namespaces.
	sysctl -q -w net.ipv4.tcp_congestion_control="$1" &&
	[ "$(unshare -n sysctl -n net.ipv4.tcp_congestion_control)" = "$1" ] &&
	results "${@:3}" >"$dir/results" || return 1
	is_whole "$reference" || return 1
	diff "$reference" "$dir/results" || { tail -n 20 "$dir/output"; return 1; }
}

IFS="|" read -ra wanted <<<"${QUELL_CASES-}"
[ $# -eq 0 ] || wanted=("$@")
chosen=$(for word in "${wanted[@]}"; do
	tests | grep "^${word%%:*}[/ ]" | while read -r line; do
		list=${word#*:}
		[ "$list" != "$word" ] || list=
		echo "${list:--} $line"
	done
done)
load_all
every=$(algorithms | tr '\n' ' ')
plan "$(while read -r list _; do
	[ "$list" = - ] && echo "$every" || echo "${list//,/ }"
done <<<"$chosen" | wc -w)"
while read -ru 9 list name words; do
	[ "$list" = - ] && list=$every
	read -ra arguments <<<"$words"
	for algorithm in ${list//,/ }; do
		begin=$SECONDS
		check "$name: $algorithm as cubic" as_cubic "$algorithm" "$name" "${arguments[@]}"
		note "$((SECONDS - begin)) s, $(grep -c '^ok' "$dir/results") ok," \
			"$(grep -c '^not ok' "$dir/results") not"
	done
done 9<<<"$chosen"
sysctl -q -w net.ipv4.tcp_congestion_control=cubic
finish
