# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Whether a quantity grows over the rounds of soak.sh, of which each leaves a line of samples.
# The suite unit/runners tests these.

# stays FILE COLUMN: at its first value, in every round.
stays()
{
	awk -v column="$2" '
		NR == 1 { first = $column + 0 }
		$column != first && !moved { moved = NR; value = $column }
		END {
			if (moved)
				printf "%s in round 1, %s in round %d\n", first, value, moved
			else
				printf "%s in %d rounds\n", first, NR
			exit moved || !NR
		}' "$1"
}

# median FILE COLUMN FIRST LAST: of these rounds.
median()
{
	awk -v column="$2" -v first="$3" -v last="$4" 'NR >= first && NR <= last { print $column }' \
		"$1" | sort -n |
		awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'
}

# keeps_to FILE COLUMN BOUND: the median of the last quarter of the rounds is at most the bound above
# that of the second.  The first quarter is warm-up.
keeps_to()
{
	local rounds quarter second last

	rounds=$(wc -l <"$1")
	quarter=$((rounds / 4))
	[ "$quarter" -gt 0 ] || { echo "too few rounds: $rounds"; return 1; }
	second=$(median "$1" "$2" $((quarter + 1)) $((2 * quarter)))
	last=$(median "$1" "$2" $((rounds - quarter + 1)) "$rounds")
	echo "median of the second quarter $second, of the last $last, at most $3 more"
	awk -v more="$3" "BEGIN { exit $last - $second > more }"
}
