#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's own tests of TCP-AO, MPTCP and TLS with each algorithm of Quell as the default: each
# passes that passes with cubic, with algorithms that need ECN that passes with dctcp: the kernel
# adds the bits of ECN to IP_TOS, which mptcp_sockopt reads back.  Tests that pass with the
# algorithm alone are listed.
#
#	kernel-tests.sh [--list] TEST[:ALGORITHM,...]...
#
# Of all algorithms without; a TEST is a row of tests() below, or a group such as tcp_ao.  --list
# prints the rows that the words select, and runs no test.
#
# Under run-uml the variable QUELL_CASES has the arguments, with "|" between.  make kernel-tests
# runs all in virtual time: an emulated processor is too slow for most of MPTCP and TLS.
# scripts/kernel-selftests has built the programs in build/kernel-selftests, which run-qemu takes
# along.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./suited.sh

# In virtual time, for the whole of mptcp_join.sh
limit_s=${quell_top:+7}900

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
	tls/all tls
	mptcp/connect mptcp/mptcp_connect.sh -f 1000000 -d 0 -l 0% -r 0
	mptcp/loss mptcp/mptcp_connect.sh -f 1000000 -d 5 -l 1% -r 25%
	mptcp/checksum mptcp/mptcp_connect.sh -f 1000000 -d 0 -l 0% -r 0 -C
	mptcp/sendfile mptcp/mptcp_connect.sh -f 1000000 -d 0 -l 0% -r 0 -m sendfile
	mptcp/mmap mptcp/mptcp_connect.sh -f 1000000 -d 0 -l 0% -r 0 -m mmap
	mptcp/diag mptcp/diag.sh
	mptcp/join mptcp/mptcp_join.sh
	mptcp/netlink mptcp/pm_netlink.sh
	mptcp/simultaneous mptcp/simult_flows.sh
	mptcp/sockopt mptcp/mptcp_sockopt.sh
	mptcp/userspace mptcp/userspace_pm.sh
	END
}

# results PROGRAM ARGUMENT...: "ok NAME" and "not ok NAME" for each, without numbers and sorted, as
# those and the order of threads differ from run to run, and the status.  Without TLS's nonblocking:
# it expects a full send buffer, as the ACK is delayed by 40 ms, where algorithms of Quell have it
# sent within half a round trip.  With the route's quickack CUBIC fails it, too.
results()
{
	local program=$programs/$1 status

	shift
	# The laboratory's root is read-only.  MPTCP's tests search global functions for features, and
	# all of user-mode Linux are local.
	# shellcheck disable=SC2016 # the shell's own words
	(cd "$(dirname "$program")" && TMPDIR=$dir timeout -s KILL "$limit_s" unshare -m \
		sh -c '{ [ -w /tmp ] || mount -t tmpfs none /tmp; } &&
			sed "s/ t / T /" /proc/kallsyms >"$TMPDIR/symbols" &&
			mount --bind "$TMPDIR/symbols" /proc/kallsyms && exec "$0" "$@"' "$program" "$@") \
		>"$dir/output" 2>&1
	status=$?
	sed -nE 's/^((not )?ok) [0-9]+ -? ?(.*)/\1 \3/p' "$dir/output" | sed -E 's/[0-9]+/N/g' |
		grep -v ' tls\..*\.nonblocking$' | sort
	echo "status $status"
}

# is_whole REFERENCE: all results of the plan are there, most of them good, and the program has ended
# by itself.
is_whole()
{
	local plan good bad

	plan=$(sed -nE 's/^1\.\.([0-9]+).*/\1/p' "$1.output" | tail -n 1)
	good=$(grep -cE '^ok [0-9]' "$1.output")
	bad=$(grep -cE '^not ok [0-9]' "$1.output")
	[ $((good + bad)) -eq "${plan:-0}" ] && [ "$good" -gt "$bad" ] &&
	grep -qxE 'status [01]' "$1" && return 0
	echo "${1##*/}: plan ${plan:-missing}, $good ok, $bad not, $(tail -n 1 "$1")"
	tail -n 20 "$1.output"
	return 1
}

# passes RESULTS: not of tests that were skipped, or that failed and may
passes()
{
	grep '^ok ' "$1" | grep -vE '# (SKIP|IGNORE)' | sort
}

reference_of()
{
	case $1 in
	dart | dcqcn | smartt) echo dctcp ;;
	hpcc | hpcc_vaisf | swift | swift_vaisf | timely) echo cubic ;;
	*) return 1 ;;
	esac
}

# as_reference ALGORITHM NAME PROGRAM ARGUMENT...
as_reference()
{
	local other reference

	rm -f "$dir/expected" "$dir/passed"
	touch "$dir/expected" "$dir/passed"
	other=$(reference_of "$1")
	reference=$dir/$other-${2//\//-}
	[ -e "$reference" ] || {
		sysctl -q -w net.ipv4.tcp_congestion_control="$other"
		results "${@:3}" >"$reference"
		cp "$dir/output" "$reference.output"
	}
	# The tests make namespaces.
	sysctl -q -w net.ipv4.tcp_congestion_control="$1" &&
	[ "$(unshare -n sysctl -n net.ipv4.tcp_congestion_control)" = "$1" ] &&
	results "${@:3}" >"$dir/results" || return 1
	is_whole "$reference" || return 1
	passes "$reference" >"$dir/expected"
	[ -s "$dir/expected" ] || { note "$other passes no test"; return 1; }
	passes "$dir/results" >"$dir/passed"
	! diff -U 0 "$dir/expected" "$dir/passed" | grep '^-ok' &&
	grep -qxE 'status [01]' "$dir/results" && return 0
	tail -n 20 "$dir/output"
	return 1
}

# select WORD...: "ALGORITHMS NAME PROGRAM ARGUMENTS" of each test, "-" for all algorithms
select_tests()
{
	local word list algorithm

	[ $# -gt 0 ] || set -- ""
	for word; do
		list=${word#*:}
		[ "$list" != "$word" ] && [ -n "$list" ] || list=-
		for algorithm in ${list//[,-]/ }; do
			reference_of "$algorithm" >/dev/null || {
				echo "kernel-tests.sh: '$algorithm' is no algorithm of Quell" >&2
				return 1
			}
		done
		tests | grep "^${word%%:*}[/ ]" | sed "s/^/$list /" | grep . || {
			echo "kernel-tests.sh: '$word' is no test: one of mptcp, tcp_ao, tls," \
				"$(tests | cut -d ' ' -f 1 | paste -sd ' ')" >&2
			return 1
		}
	done
}

is_list=
[ "${1-}" != --list ] || { is_list=yes; shift; }
IFS="|" read -ra wanted <<<"${QUELL_CASES-}"
[ $# -eq 0 ] || wanted=("$@")
chosen=$(select_tests "${wanted[@]}") || exit 2
[ -z "$is_list" ] || { echo "$chosen"; exit; }

# They write into their directory.
programs=$dir/net
cp -r "${quell_top:+$quell_top/build}/kernel-selftests/net" "$programs"
load_all
# Virtual time begins in 1970, of which the scripts' milliseconds have leading zeros.
[ -z "${quell_top-}" ] || date -s 2026-01-01 >/dev/null
every=$(algorithms | tr '\n' ' ')
plan "$(while read -r list _; do
	[ "$list" = - ] && echo "$every" || echo "${list//,/ }"
done <<<"$chosen" | wc -w)"
while read -ru 9 list name words; do
	[ "$list" = - ] && list=$every
	read -ra arguments <<<"$words"
	for algorithm in ${list//,/ }; do
		begin=$SECONDS
		check "$name: $algorithm as $(reference_of "$algorithm")" \
			as_reference "$algorithm" "$name" "${arguments[@]}"
		note "$((SECONDS - begin)) s, $(grep -c '^ok' "$dir/results") ok," \
			"$(grep -c '^not ok' "$dir/results") not," \
			"$(grep -c '# SKIP' "$dir/results") skipped"
		diff -U 0 "$dir/expected" "$dir/passed" | sed -n "s/^+ok/# only with $algorithm:/p"
	done
done 9<<<"$chosen"
sysctl -q -w net.ipv4.tcp_congestion_control=cubic
finish
