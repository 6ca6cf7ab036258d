#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The verifier of this kernel accepts each BPF object, after at most half of the instructions that
# it would go through.  Prints the table of Documentation/notes/ebpf.md.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

objects=$(dirname "$(dirname "$(command -v quell)")")/lib/quell/bpf
stack_bytes=512

is_accepted()
{
	bpf_verify "$objects/$1.bpf.o" >"$dir/$1"
}

# The last line has the largest of all programs.
has_room()
{
	local object path insns limit states peak per_insn stack xlated jited

	read -r object path insns limit states peak per_insn stack xlated jited <<<"$(tail -n 1 "$dir/$1")"
	echo "$path $states $peak $per_insn $xlated $jited"
	[ "$object" = object ] && [ "$insns" -gt 0 ] && [ $((2 * insns)) -le "$limit" ] &&
	[ "$stack" -gt 0 ] && [ "$stack" -le "$stack_bytes" ]
}

# | object | program | instructions | of limit | states | at a time | of an instruction | stack | ...
print_table()
{
	awk -v name="$1" '$1 != "object" {
		sub(/^quell_/, "", $2)
		printf "# | %s | %s | %d | %.1f %% | %d | %d | %d | %d | %d | %d |\n", name, $2,
			$3, 100 * $3 / $4, $5, $6, $7, $8, $9, $10 }' "$dir/$1"
}

set -- "$objects"/*.bpf.o
[ -e "$1" ] || {
	echo "1..0 # SKIP no object in $objects"
	exit 4
}
plan $((2 * $#))
echo "# | object | program | instructions | of the limit | states | at a time | of one instruction | stack bytes | instructions of it | bytes of machine code |"
for object; do
	name=$(basename "$object" .bpf.o)
	check "$name: accepted" is_accepted "$name"
	check "$name: half of the limit is left" has_room "$name"
	print_table "$name"
done
finish
