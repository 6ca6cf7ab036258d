#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the kernel refuses a BPF program, so that something of Quell has no counterpart in BPF:
#
#	refused_qdisc.bpf.c	a queueing discipline marks, trims, or has another program do it
#	refused_tcp.bpf.c	a congestion control sets RACK's reordering window
#
# Each comes with a program that does the same but for that, and is accepted.  Prints what the
# verifier says.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

objects=$(dirname "$(dirname "$(command -v quell)")")/lib/quell/test
said=$(mktemp)
defer rm -f "$said"
# What the verifier must have said, so that no other reason passes for this one.
declare -A reasons=(
	[not_slice]="the prog does not allow writes to packet data"
	[not_store]="cannot use helper bpf_skb_store_bytes"
	[not_set_ce]="cannot use helper bpf_skb_ecn_set_ce"
	[not_memory]="cannot write into rdonly"
	[not_mark]="cannot write into ptr_sk_buff"
	[not_trim]="cannot use helper bpf_skb_change_tail"
	[not_change]="-524"	# ENOTSUPP, and no program is at fault
	[not_reord_seen]="cannot write into ptr_|no write support to tcp_sock"
	[not_rack]="cannot write into ptr_|no write support to tcp_sock")

# loads_each FILE NUMBER
loads_each()
{
	bpf_each "$objects/$1.bpf.o" >"$said" && [ "$(wc -l <"$said")" -eq "$2" ]
}

accepted()
{
	grep "^$1 " "$said" && grep -qx "$1 accepted" "$said"
}

refused()
{
	grep "^$1 " "$said" && grep -qE "^$1 refused: .*(${reasons[$1]})" "$said"
}

# try FILE ACCEPTED REFUSED...
try()
{
	local file=$1 control=$2 name
	shift 2

	check "each of $file is tried" loads_each "$file" $((1 + $#))
	check "$control is accepted" accepted "$control"
	for name; do
		check "$name is refused for its reason" refused "$name"
	done
	sed 's/^/# /' "$said"
}

has_qdiscs()
{
	grep -q ' bpf_qdisc_skb_drop$' /proc/kallsyms
}

[ -e "$objects/refused_tcp.bpf.o" ] || {
	echo "1..0 # SKIP no objects in $objects"
	exit 4
}
if has_qdiscs; then
	plan 13
	try refused_qdisc may_read not_slice not_store not_set_ce not_memory not_mark not_trim \
		not_change
else
	plan 4
fi
try refused_tcp may_window not_reord_seen not_rack
finish
