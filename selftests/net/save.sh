#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# quell -batch, save, restore and sync: settings as commands of a file.  A wrong file changes no
# setting, and if the kernel refuses one, those before it are undone.
#

cd "$(dirname "$0")" || exit 1
. ./lib.sh

netns="" other=""
modules="tcp_swift tcp_smartt tcp_timely tcp_dcqcn tcp_dart tcp_hpcc"

q()
{
	quell -n "$netns" "$@"
}

# All that the command shows of settings, as one text.
state()
{
	quell -n "$1" -j cc show | jq -c 'map({name, params: (.params | map([.name, .value]))})'
	quell -n "$1" -j link show | jq -c 'map([.dev, .rate_bytes_ps])'
	quell -n "$1" -j sender show | jq -c 'map(.dev as $dev | .senders[]? | select(.weight != 1) |
		[$dev, .address, .weight])'
	quell -n "$1" -j lookahead show | jq -c 'sort_by(.name)'
	quell -n "$1" -j hwtstamp show | jq -c 'map([.dev, .rx])'
}

without_module()
{
	# shellcheck disable=SC2086 # words
	unload $modules quell && status 2 q save && says "module quell is not loaded" &&
	[ ! -s "$dir/out" ] && echo "cc reset swift" >"$dir/file" && status 2 q restore "$dir/file" &&
	says "is not loaded"
}

make_hosts()
{
	# shellcheck disable=SC2086 # words
	modprobe -a $modules || return 1
	new_netns netns other && cable "$netns" n0 "$other" o0 10.73.0.1/24 10.73.0.2/24 &&
	ip -n "$netns" link add '#[a]\#' type dummy
}

fresh_is_empty()
{
	status 0 q save && state "$netns" >"$dir/fresh" && [ "$(wc -l <"$dir/out")" = 1 ] &&
	grep -q '^#' "$dir/out"
}

change_all()
{
	q cc set swift base-target 50us beta 0.5 && q cc set quell option 1 && q cc preset smartt nscc &&
	q cc set dart lookahead 2ms && q link set n0 rate 25gbit && q link set '#[a]\#' rate 1gbit &&
	q sender weight 10.73.0.2 4 && q sender weight fd00::1 255 dev n0 &&
	q lookahead add workers dev n0 time 500us 10.73.0.2 fd00::2 10.73.0.4 10.73.0.5 10.73.0.6 &&
	q lookahead add 'a]#b' dev n0 10.73.0.9 && state "$netns" >"$dir/changed" &&
	! cmp -s "$dir/fresh" "$dir/changed"
}

is_as_it_was()
{
	state "$netns" >"$dir/now" && diff "$dir/now" "$dir/changed"
}

save_prints_commands()
{
	cat >"$dir/expected" <<-'END'
		cc preset smartt nscc
		cc set dart lookahead 2ms
		cc set quell option 1
		cc set swift base-target 50us beta 0.5
		link set \x23[a]\x5c\x23 rate 1Gbit
		link set n0 rate 25Gbit
		lookahead replace a]\x23b dev n0 time 2ms 10.73.0.9
		lookahead replace workers dev n0 time 500us 10.73.0.2 fd00::2 10.73.0.4 10.73.0.5 10.73.0.6
		sender weight 10.73.0.2 4 dev n0
		sender weight fd00::1 255 dev n0
	END
	status 0 q save && cp "$dir/out" "$dir/saved" && cat "$dir/saved" &&
	grep -v '^#' "$dir/saved" | sort | diff "$dir/expected" - && status 1 q -j save && says "not JSON"
}

restore_changes_nothing()
{
	local verb

	for verb in restore sync; do
		status 0 q "$verb" "$dir/saved" && [ ! -s "$dir/out" ] && [ ! -s "$dir/err" ] &&
		is_as_it_was && q save | cmp - "$dir/saved" || return 1
	done
}

# A file without a command has the defaults of all.
sync_to_defaults()
{
	: >"$dir/none" && status 0 q -check sync "$dir/none" && is_as_it_was &&
	status 0 q sync "$dir/none" && state "$netns" >"$dir/now" && diff "$dir/fresh" "$dir/now"
}

restore_all()
{
	status 0 q restore -check "$dir/saved" && state "$netns" | diff - "$dir/fresh" &&
	status 0 q restore - <"$dir/saved" && is_as_it_was && q save | cmp - "$dir/saved"
}

# restore leaves what a file does not have; sync resets it, other parameters of an algorithm, too.
restore_part()
{
	printf 'cc set swift beta 0.6 # a comment\r\nlookahead replace "workers" dev n0 \\\n 10.73.0.2\n' \
		>"$dir/file" && status 0 q restore "$dir/file" &&
	[ "$(q -j cc show swift base-target | jq '.[].params[].value')" = 50000 ] &&
	q lookahead show | grep 'workers: .* time 2ms members 1 ' && q lookahead show | grep 'a]#b' &&
	status 0 q sync "$dir/file" && q save | grep -v '^#' >"$dir/now" && cat "$dir/now" &&
	printf '%s\n' 'cc set swift beta 0.6' 'lookahead replace workers dev n0 time 1ms 10.73.0.2' |
		cmp - "$dir/now" && status 0 q sync "$dir/saved" && is_as_it_was
}

# wrong LINE PATTERN TEXT [STATUS]: refused with that line and pattern on stderr.
wrong()
{
	local line=$1 pattern=$2 verb

	# Good commands around it, which must not be carried out.
	printf 'cc set swift ai 3mbit\nlink set n0 rate 3gbit\nsender weight 10.73.0.2 9\n%blink set lo rate 1gbit\n' \
		"$3" >"$dir/wrong"
	for verb in restore "-check -batch"; do
		# shellcheck disable=SC2086 # words
		q $verb "$dir/wrong" >"$dir/out" 2>"$dir/err"
		[ $? -eq "${4:-1}" ] || { echo "status of $verb: $3"; cat "$dir/err"; return 1; }
		cat "$dir/err"
		if ! grep -qE "^quell: $dir/wrong:$line: .*$pattern" "$dir/err" || [ -s "$dir/out" ]; then
			echo "$verb: no line $line: $pattern"
			return 1
		fi
	done
}

wrong_files()
{
	wrong 4 "unknown object 'frob'" 'frob\n' &&
	wrong 4 "section.*older form.*quell save" '[swift]\n' &&
	wrong 4 "no setting of a namespace is made by 'flow show'" 'flow show\n' &&
	wrong 4 "no setting of a namespace is made by 'bpf load'" 'bpf load swift\n' &&
	wrong 4 "not within a batch" "restore $dir/wrong\\n" &&
	wrong 4 "in front of it.*'-n'" 'cc set -n x swift beta 0.5\n' &&
	wrong 4 "too few arguments" 'cc set swift\n' &&
	wrong 4 "unknown algorithm 'frob'" 'cc reset frob\n' &&
	wrong 4 "eta: '2' is out of range" 'cc set hpcc eta 2\n' &&
	wrong 4 "has no preset 'frob'" 'cc preset hpcc frob\n' &&
	wrong 4 "nosuch: No such device" 'link set nosuch rate 1gbit\n' &&
	wrong 4 "no hardware stamps" 'hwtstamp on lo\n' 2 &&
	wrong 4 "addresses are missing" 'lookahead add x dev n0\n' &&
	wrong 4 "time: '2s' is out of range" 'lookahead replace x time 2s 10.73.0.2\n' &&
	wrong 4 "Network is unreachable" 'lookahead add x 10.99.0.1\n' 2 &&
	wrong 4 "no verb|unknown (verb|object) .\\\\x1b\[2J" '\033[2J\n' &&
	wrong 4 "a quote is not closed" 'cc reset "swift\n' &&
	wrong 4 "a byte of value 0" 'cc reset \0swift\n' && is_as_it_was
}

# Of all lines, not of the first alone.
all_mistakes_are_reported()
{
	printf 'cc set hpcc eta 2\ncc reset swift\nfrob\n' >"$dir/wrong" &&
	status 1 q sync "$dir/wrong" && says 'wrong:1: hpcc eta' && says 'wrong:3: unknown object' &&
	[ "$(wc -l <"$dir/err")" = 2 ] && is_as_it_was
}

# Every module takes its presets, and the command knows them again; test_preset.c has the rest.
presets_are_known()
{
	quell -j cc preset | jq -r '.[] | "\(.cc) \(.name)"' >"$dir/presets" &&
	[ "$(wc -l <"$dir/presets")" -gt 20 ] &&
	sed 's/\([^ ]*\) .*/cc preset &\ncc show \1 -j/' "$dir/presets" | q -batch - >"$dir/out" &&
	jq -r '.[] | "\(.name) \(.preset)"' "$dir/out" | diff "$dir/presets" - &&
	q sync "$dir/saved" && is_as_it_was
}

# As ip(8) and tc(8): up to the first error, or with -force all.
batch_is_carried_out()
{
	printf 'cc set swift beta 0.6\n\ncc show swift beta -j\ncc set swift beta 2\ncc reset swift\n' \
		>"$dir/file" && status 1 q -batch "$dir/file" &&
	json '.[].params[0].value == 39322' "$dir/out" &&
	grep "file:4: swift beta: '2' is out of range" "$dir/err" && q save | grep -q 'beta 0.6' &&
	status 1 q -force -batch - <"$dir/file" && grep "^quell: -:4: " "$dir/err" &&
	! q save | grep swift && status 0 q -j --batch - <<<'link show n0' && json '.[].dev == "n0"' "$dir/out" &&
	status 0 q -batch "$dir/saved" && is_as_it_was && status 1 q -batch "$dir/nosuch" &&
	says "No such file" && status 1 q -batch "$dir" && says "Is a directory" &&
	status 1 q -batch "$dir/saved" cc show && says "unexpected argument 'cc'"
}

# An algorithm that is not loaded: status 2, as everywhere.
module_is_missing()
{
	unload tcp_timely && state "$netns" >"$dir/changed" &&
	wrong 4 "timely is not loaded \(try: modprobe tcp_timely\)" 'cc reset timely\n' 2 && is_as_it_was &&
	modprobe tcp_timely && state "$netns" >"$dir/now" &&
	mv "$dir/now" "$dir/changed"
}

# Values that the kernel alone checks: the addresses of hosts and their number, and names.
kernel_refuses_values()
{
	local line

	while read -r line; do
		printf 'cc set swift ai 3mbit\nlink set n0 rate 3gbit\n%s\n' "$line" >"$dir/values" &&
		status 2 q restore "$dir/values" && says "values:3: .*the kernel says:" &&
		says "no setting is changed" && is_as_it_was && continue
		echo "$line"
		return 1
	done <<-END
		sender weight 224.0.0.1 2 dev n0
		sender weight ::ffff:0.0.0.0 2 dev n0
		lookahead add x dev n0 ::
		lookahead add x dev n0 10.0.0.1 10.0.0.1
		lookahead add x dev n0 $(echo 10.0.{0..4}.{1..250})
		lookahead add a:b dev n0 10.0.0.1
	END
}

# The 65th group of a user is one too many for the kernel, and known to it alone.
kernel_refuses()
{
	local i verb

	{
		echo 'cc set swift ai 3mbit'
		echo 'link set n0 rate 1gbit'
		echo 'lookahead del a]#b'
		for ((i = 0; i < 64; i++)); do
			echo "lookahead add g$i dev n0 10.73.0.2"
		done
	} >"$dir/many"
	for verb in restore sync; do
		echo "lookahead add g64 dev n0 10.73.0.2" >>"$dir/many"
		status 2 q "$verb" "$dir/many" && cat "$dir/err" && says "many:.*too many groups" &&
		says "no setting is changed" && is_as_it_was && q save | cmp - "$dir/saved" || return 1
		sed -i /lookahead.del/d "$dir/many"
	done
}

# comes_back: what is set goes to a file, to the defaults, and back from the file
comes_back()
{
	state "$netns" >"$dir/before" && q save >"$dir/file" && status 0 q sync "$dir/none" &&
	! state "$netns" | cmp -s - "$dir/before" && status 0 q restore "$dir/file" &&
	[ ! -s "$dir/err" ] && state "$netns" | diff "$dir/before" - && q save | cmp - "$dir/file"
}

# A group stays when its limit is lowered: saved with its time, which the limit is raised for.
groups_above_their_limit()
{
	local most

	q sync "$dir/none" && q lookahead add late dev n0 time 700us 10.73.0.3 &&
	for most in 500us 0ns; do
		q cc set dart lookahead "$most" && comes_back && grep -q 'late .* time 700us' "$dir/file" &&
		status 0 q restore "$dir/file" && q save | cmp - "$dir/file" || return 1
	done
}

# set_to_ends MIN|MAX: all parameters, but those that others limit.
set_to_ends()
{
	local algo

	for algo in $(q -j cc show | jq -r '.[].name'); do
		q cc show "$algo" | awk -v end="$1" -v algo="$algo" '{
			for (i = 3; i < NF; i++)
				if ($i == "..")
					print "cc set", algo, $(1 + ($1 == "*")),
						$(i + (end == "MAX" ? 1 : -1))
		}'
	done >"$dir/ends"
	q -force -batch "$dir/ends" 2>"$dir/refused"
	[ $? -le 2 ] && cat "$dir/refused" &&
	[ $(($(wc -l <"$dir/ends") - $(wc -l <"$dir/refused"))) -ge 100 ]
}

settings_at_their_ends()
{
	local end

	for end in MIN MAX; do
		q sync "$dir/none" && set_to_ends "$end" && comes_back || return 1
	done
	q sync "$dir/none" && q link set n0 rate 1tbit && q sender weight fd00::1 255 dev n0 &&
	q cc set dart lookahead 1s && q lookahead add "$(printf '~%.0s' {1..31})" dev n0 time 1ns \
		10.73.0.9 && comes_back && q restore "$dir/saved" &&
	q lookahead del "$(printf '~%.0s' {1..31})" && is_as_it_was
}

# Any user may save; a group of one's own is all that one may restore.
of_other_users()
{
	local nobody="setpriv --reuid 65534 --clear-groups --inh-caps=-all quell"

	# shellcheck disable=SC2086 # words
	chmod 755 "$dir" && chmod 644 "$dir/saved" && status 0 in_netns "$netns" $nobody save &&
	grep -q 'base-target 50us' "$dir/out" && ! grep -q workers "$dir/out" &&
	echo 'lookahead add mine dev n0 10.73.0.2' >"$dir/file" &&
	status 0 in_netns "$netns" $nobody restore "$dir/file" && q save | cmp - "$dir/saved" &&
	status 0 q sync "$dir/saved" && q -j lookahead show | jq -e 'any(.name == "mine")' &&
	q lookahead del mine uid 65534 && echo 'cc set swift beta 0.7' >>"$dir/file" &&
	status 2 in_netns "$netns" $nobody restore "$dir/file" && says "needs CAP_NET_ADMIN" &&
	says "no setting is changed" && is_as_it_was
}

# Routes are those of ip(8).  The kernel reports no name of an algorithm that is unloaded, and of
# "congctl lock" the lock alone, which crashes ip route show of iproute2 6.1.0 and 7.3.0.
routes_of_unloaded()
{
	local route="10.98.0.0/16 via 10.73.0.2 dev n0"

	# shellcheck disable=SC2086 # words
	ip -n "$netns" route add $route congctl lock timely && unload tcp_timely &&
	q save | diff - "$dir/saved" && status 0 q sync "$dir/saved" && [ ! -s "$dir/err" ] &&
	{ q -j doctor >"$dir/out"; json length "$dir/out"; } &&
	printf 'route replace %s\n' "10.97.0.0/16 via 10.73.0.2 dev n0 congctl absent" "$route congctl swift" |
		refuses "Command failed -:1" ip -n "$netns" -force -batch - &&
	ip -n "$netns" route show | grep -q '10.98.0.0/16 .*congctl swift' && modprobe tcp_timely
}

other_is_untouched()
{
	[ "$(quell -n "$other" save | wc -l)" = 1 ]
}

has_no_leak()
{
	local verb

	for verb in "restore $dir/wrong" "-check sync $dir/none" "-batch $dir/saved"; do
		# shellcheck disable=SC2086 # words
		q_clean $verb || { echo "$verb"; cat "$dir/err"; return 1; }
	done
}

q_clean()
{
	in_netns "$netns" valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=all \
		--errors-for-leak-kinds=all quell "$@" >"$dir/out" 2>"$dir/err"
	[ $? -le 1 ]
}

plan 22
new_netns netns
check "without the module" without_module
check "two hosts, all modules" make_hosts
check "a fresh namespace has no setting to save" fresh_is_empty
check "every kind of setting is changed" change_all
check "save: commands that make what differs" save_prints_commands
check "restore and sync of what is: no change" restore_changes_nothing
check "sync: back to the defaults; -check: no change" sync_to_defaults
check "restore: all of it comes back; -check: no change" restore_all
check "restore and sync of a part" restore_part
check "wrong files change no setting, and are refused with their line" wrong_files
check "each mistake of a file is reported" all_mistakes_are_reported
check "each preset of each algorithm is set and known" presets_are_known
check "-batch, -force: commands are carried out in turn" batch_is_carried_out
check "an algorithm that is not loaded" module_is_missing
check "values that the kernel refuses: no setting is changed" kernel_refuses_values
check "changes before one that the kernel refuses are undone" kernel_refuses
check "groups whose time is above their limit come back" groups_above_their_limit
check "whatever can be set comes back" settings_at_their_ends
check "users without privilege" of_other_users
check "routes: an algorithm that is unloaded" routes_of_unloaded
check "the other namespace is as it was" other_is_untouched
if command -v valgrind >/dev/null; then
	check "valgrind finds no fault" has_no_leak
else
	skip "valgrind finds no fault" "no valgrind"
fi
finish
