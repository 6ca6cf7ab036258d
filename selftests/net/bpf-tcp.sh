#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What algorithms as BPF objects do at the edges of TCP, which no transfer of a file shows:
#
#	no consent to ECN	Reno, by name or where another may not be chosen in effect
#	chosen early, and left	consent is asked for; the next gets what the rate has in flight
#	a lost tail		reduces, though only the stack's own probe notices
#	a spurious timeout	its cut is given back
#	marks			are told exactly by a receiver of these
#
#	bpf-tcp.sh

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./cc-flow.sh

port=9000
there=10.85.0.1
mss_fits=1200		# a full segment is longer

load_all()
{
	quell bpf load dcqcn && allow_cc bpf_dcqcn && quell bpf load timely && allow_cc bpf_timely &&
	defer quell bpf unload dcqcn && defer quell bpf unload timely
}

# What keeps segments whole.
no_offloads()
{
	local netns

	for netns in "$server" "$client"; do
		in_netns "$netns" ethtool -K wire0 tso off gso off gro off >/dev/null || return 1
	done
}

reno_without_consent()
{
	delay 2ms && choose_cc "$client" bpf_dcqcn && choose_cc "$server" cubic &&
	open_flow "$there" && flow_does send 300000 && [ "$cc" = reno ] && [ "$ecn" -eq 0 ]
	close_flow $?
	set -- $?
	choose_cc "$client" cubic && return "$1"
}

# on_arrival WORD...: a rule for data packets, until the next; none: no rule.
on_arrival()
{
	in_netns "$server" nft -f - <<-EOF
		table ip arrival
		delete table ip arrival
		table ip arrival {
			chain in {
				type filter hook prerouting priority raw;
				${*:+tcp dport $port ip length > 200 $*}
			}
		}
	EOF
}

# open_window_above SEGMENTS: sends until the window is, five times at most.  A probe that repaired
# the tail of what was sent before, and a timer that fires while the host holds this machine up, each
# halve it once.  A window that the receiver's does not fill would not grow: not more than 276
# segments at a time.
open_window_above()
{
	local i

	for ((i = 0; i < 5; i++)); do
		flow_does send 400000 || return 1
		[ "$cwnd" -gt "$1" ] && return
	done
	return 1
}

# The route's choice may not be left: the window opens, losses reduce it, and it opens again.
reno_under_lock()
{
	local open

	delay 2ms && in_netns "$client" ip route add "$there/32" dev wire0 congctl lock bpf_dcqcn &&
	open_flow "$there" && open_window_above 40 && [ "$cc" = bpf_dcqcn ] &&
	open=$cwnd && on_arrival "ip id & 31 == 7 drop" && flow_does send 600000 &&
	[ "$resent" -gt 0 ] && [ "$cwnd" -lt $((open * 3 / 4)) ] && on_arrival &&
	open_window_above $((cwnd + 3))
	close_flow $?
	set -- $?
	on_arrival && in_netns "$client" ip route del "$there/32" dev wire0 && return "$1"
}

leaves_rate()
{
	quell bpf set timely adapt off t-low 1s t-high 1s && leaves_what_rate_holds "$there" bpf_timely
}

repaired()
{
	counter_of "$client" netstat TcpExt TCPLossProbeRecovery
}

# Messages of two segments and a rest, which is lost once where its number is odd, as every second:
# its copy's is even.  The algorithm governs.
lost_tail_reduces()
{
	local before probes i

	probes=$(repaired)
	quell bpf set timely adapt off t-low 1s t-high 1s max-outstanding 200kb &&
	delay 5ms && open_flow "$there" && flow_does cc bpf_timely && flow_does send 300000 &&
	before=$cwnd && on_arrival "ip length < $mss_fits ip id & 1 == 1 drop" && for ((i = 0; i < 6; i++)); do
		flow_does send 3100 || break
	done && [ "$cwnd" -lt $((before * 3 / 4)) ]
	close_flow $?
	set -- $?
	on_arrival
	echo "$(($(repaired) - probes)) repaired by probes, window $before, then $cwnd"
	[ "$(repaired)" -gt "$probes" ] && return "$1"
}

undone()
{
	counter_of "$client" netstat TcpExt TCPLossUndo
}

# The path gets slower than the timer expects: it fires, and nothing was lost.
spurious_cut_is_given_back()
{
	local before times

	times=$(undone)
	quell bpf set timely adapt off t-low 1s t-high 1s max-outstanding 200kb &&
	delay 5ms && open_flow "$there" && flow_does cc bpf_timely && flow_does send 300000 &&
	before=$cwnd && delay 1s && flow_does send 3000 && [ "$cwnd" -ge "$before" ]
	close_flow $?
	set -- $?
	echo "$(($(undone) - times)) undone, window $before, then $cwnd"
	[ "$(undone)" -gt "$times" ] && return "$1"
}

marked()
{
	in_netns "$server" nft -j list chain ip arrival in |
		jq '[.. | objects | select(has("packets")).packets] | add'
}

told_exactly()
{
	local sent

	on_arrival "ip id & $1 == $1 counter ip ecn set ce" && open_flow "$there" && flow_does send 2000000
	close_flow $? || return 1
	sent=$(marked)
	echo "$sent marked, $marks told, $resent sent again"
	[ "$resent" -eq 0 ] && [ "$sent" -gt 100 ] && [ "$marks" -eq "$sent" ]
}

# The receiver does not count the mark of a segment that is sent again: no timer expires while an
# emulated host is away.
marks_are_told()
{
	delay 0 && choose_cc "$client" bpf_dcqcn && choose_cc "$server" bpf_dcqcn &&
	in_netns "$client" ip route add "$there/32" dev wire0 rto_min 5s &&
	in_netns "$client" sysctl -q -w net.ipv4.tcp_early_retrans=0 &&
	stop "$started" && serve "$server" "$port" sink && told_exactly 1 && told_exactly 3
}

[ -e "$(dirname "$(dirname "$(command -v quell)")")/lib/quell/bpf/swift.bpf.o" ] || {
	echo "1..0 # SKIP no objects"
	exit 4
}
plan 8
check "two hosts" eval "two_hosts 85 && no_offloads && load_all"
check "a peer without ECN: Reno" reno_without_consent
check "a peer without ECN, and the route locks the algorithm: as Reno" reno_under_lock
check "chosen before the peer answers: asks for its consent to ECN" \
	late_choice_needs_consent "$there" bpf_dcqcn
check "the next algorithm gets what timely's rate has in flight, not its bound" leaves_rate
check "a lost tail that a probe repairs reduces" lost_tail_reduces
check "a cut for a timeout that was none is given back" spurious_cut_is_given_back
check "marks are told exactly" marks_are_told
finish
