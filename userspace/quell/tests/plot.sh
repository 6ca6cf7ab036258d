#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What trace-plot draws of tables made here: an image that parses, with a line for each quantity
# that has values, in the right place; and what it says of tables that are none.  Prints TAP.
#
# usage: plot.sh TRACE-PLOT

plot=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
number=0
failed=0

report()
{
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number - $2"
	else
		failed=1
		echo "not ok $number - $2"
		sed 's/^/# /' "$scratch/out"
	fi
}

# table FLOWS: the columns that are drawn, 100 rows a millisecond apart, window 10 + row number.
table()
{
	awk -v flows="$1" 'BEGIN {
		print "time_ns,event,cc,cookie,dst,dport,cwnd_packets,ssthresh_packets," \
			"pacing_bytes_ps,srtt_ns,rtt_ns,min_rtt_ns,inflight_packets,acked_bytes," \
			"target_ns,dropped_records"
		for (row = 0; row < 100; row++)
			for (flow = 0; flow < flows; flow++)
				printf "%d,%s,cubic,%d,10.0.0.%d,443,%d,,%d,20000,%d,15000,5,%d,,3\n",
					1000 + row * 1000000,
					row == 50 ? "timeout" : row % 10 ? "ack" : "retransmit",
					flow, flow, 10 + row, 125000000, 20000 + row, row * 125000
	}'
}

# marks FILE: numbers of lines, retransmissions and timeouts.
marks()
{
	python3 -c '
import sys, xml.dom.minidom
groups = xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("g")
print(*(sum(len(group.getElementsByTagName("path")) for group in groups
            if group.getAttribute("id") == kind) for kind in ("line", "retransmit", "timeout")))' "$1"
}

table 1 > "$scratch/one.csv"
"$plot" "$scratch/one.csv" "$scratch/one.svg" > "$scratch/out" 2>&1
report $? "one flow is drawn"
# Window, in flight; newest, smoothed, smallest; acknowledged, pacing: no threshold, no target.
[ "$(marks "$scratch/one.svg" 2>&1)" = "7 9 1" ]
report $? "with a line for each quantity that has values, and a mark for each loss"
# 125 bytes a microsecond are 1 Gbit/s, of which the axis has its unit.
grep -qF ">1 Gbit/s<" "$scratch/one.svg" && grep -qF ">20 µs<" "$scratch/one.svg" &&
	grep -qF ">100 ms<" "$scratch/one.svg" &&
	grep -qF "100 records, 3 more dropped" "$scratch/one.svg"
report $? "with units and numbers"

table 8 > "$scratch/many.csv"
"$plot" "$scratch/many.csv" "$scratch/many.svg" > "$scratch/out" 2>&1 &&
	grep -qF "8 flows, 6 shown" "$scratch/many.svg" &&
	[ "$(marks "$scratch/many.svg")" = "18 54 6" ]
report $? "of many flows some, three quantities of each"

# A module path without matplotlib, as on a host without the package.
! /usr/bin/python3 -S -c 'import sys; exec(open(sys.argv.pop(1)).read())' "$plot" "$scratch/one.csv" \
	x.svg > "$scratch/out" 2>&1 && grep -qF "apt install python3-matplotlib" "$scratch/out"
report $? "a missing matplotlib is reported"

mkdir "$scratch/here"
printf '%s\n' 'lines.linestyle: :' 'axes.facecolor: red' > "$scratch/here/matplotlibrc"
(cd "$scratch/here" && "$plot" ../one.csv ../here.svg) > "$scratch/out" 2>&1 &&
	cmp "$scratch/one.svg" "$scratch/here.svg" >> "$scratch/out" 2>&1
report $? "a matplotlibrc in the current directory has no effect"

head -n 1 "$scratch/one.csv" > "$scratch/empty.csv"
! "$plot" "$scratch/empty.csv" "$scratch/no.svg" > "$scratch/out" 2>&1 &&
	grep -qF "the table has no rows" "$scratch/out" && [ ! -e "$scratch/no.svg" ]
report $? "no plot of an empty table"
head -c 3000 "$scratch/one.csv" > "$scratch/cut.csv"
! "$plot" "$scratch/cut.csv" "$scratch/no.svg" > "$scratch/out" 2>&1 &&
	grep -qF "a line has not the fields of the first" "$scratch/out"
report $? "nor of one that was cut"
# refused TABLE MESSAGE: in one line.
refused()
{
	! "$plot" "$scratch/$1" "$scratch/no.svg" > "$scratch/out" 2>&1 &&
		grep -qF "$2" "$scratch/out" && [ "$(wc -l < "$scratch/out")" -eq 1 ]
	report $? "$2"
}
{ head -n 1 "$scratch/one.csv"; head -c 200000 /dev/zero | tr '\0' a; } > "$scratch/long.csv"
refused long.csv "field larger than field limit"
sed "2s/^1000,/1$(printf '%0400d' 0),/" "$scratch/one.csv" > "$scratch/large.csv"
refused large.csv "too large"

echo "1..$number"
exit $failed
