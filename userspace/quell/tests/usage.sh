#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What can be seen of the command line without a kernel module: help, manual
# page and completion agree with the table of commands, mistakes end with the
# documented status and say what was wrong.  Prints TAP.
#
# usage: usage.sh QUELL-BINARY

quell=$1
top=$(dirname "$0")/../../..
man=$top/Documentation/man/quell.8
completion=$top/userspace/completion/quell
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
		sed 's/^/# /' "$scratch/out" "$scratch/err"
	fi
}

# expect STATUS TEXT ARGUMENT...: exit status, and TEXT in what is printed.
expect()
{
	want=$1
	text=$2
	shift 2
	"$quell" "$@" > "$scratch/out" 2> "$scratch/err"
	status=$?
	[ $status -eq "$want" ] && grep -qF -e "$text" "$scratch/out" "$scratch/err"
	report $? "quell $* exits $want (did $status) and says '$text'"
}

# What a mistake prints goes to stderr, so that pipes stay clean.
expect_silent_stdout()
{
	[ ! -s "$scratch/out" ]
	report $? "nothing of it on stdout"
}

expect 0 "Usage: quell" help
expect 0 "Usage: quell" -h
expect 0 "quell cc set" cc help
expect 0 "quell " --version
expect 0 "quell cc set" cc --help
expect 0 "quell flow watch" flow show -h
expect 0 "quell flow watch" -j flow show -h
expect 0 "quell " flow show --version
expect 1 "an argument is missing to '-n'" cc show -n
expect 1 "'no-such-ns'" cc show -n no-such-ns swift
expect 0 '"offers":"none"' hwtstamp show -j lo
expect 0 '"offers": "none"' hwtstamp show lo --json --pretty
expect 1 "metrics are of all modules, and not JSON" stat --metrics -j
expect 1 "stat: unknown argument '-jp'" stat -jp
expect 1 "no object given"
expect_silent_stdout
expect 1 "unknown object 'frob'" frob
expect 1 "unknown object 'frob'" help frob
expect 1 "unknown verb 'frob'" cc frob
expect 1 "unknown verb 'presets' (there are: show, set, reset, preset), try: quell help cc" cc presets
expect 1 "unknown object 'xx' (there are: cc, flow, stat," xx
expect 1 "unknown verb 'del' (there are: show, watch), try: quell help flow" flow del
expect 1 "unexpected argument 'b', usage: quell link show [DEV]" link show a b
expect 1 "sport: '1-2' cannot be read; expected a number of 1 .. 65535" flow show sport 1-2
expect 1 "sport: '70000' is out of range 1 .. 65535" flow show sport 70000
expect 1 "object 's' may be any of: stat, save, sync, sender" s
expect 1 "verb 's' may be any of: show, set" cc s
expect 1 "unknown object ''" ""
expect 0 "nscc" c pr smartt
expect 0 "lo: rx not supported" hw s lo
expect 0 "quell sender show" help sen
expect 0 "quell lookahead add" look help
for words in "link show help" "help link show" "flow show help" "-j cc show help"; do
	# shellcheck disable=SC2086 # words of a command line
	expect 0 "Usage: quell" $words
done
expect 1 "unexpected argument 'b'" sync a b
expect 1 "no setting of a namespace is made by 'stat'" -check stat
expect 1 "unexpected argument 'cc'" -batch "$scratch/nosuch" cc show
expect 1 "in front of it, not a command: '-batch'" cc show -batch "$scratch/nosuch"
expect 1 "No such file or directory" -force -batch "$scratch/nosuch"
expect 1 "No such file or directory" restore "$scratch/nosuch"
for option in restore sync -batch; do
	expect 1 "quell: $scratch: Is a directory" "$option" "$scratch"
done
expect_silent_stdout
expect 1 "link: unknown argument 'speed', try: quell help link" link set lo speed 1gbit
expect 1 "rate: '1' has no unit" link set lo rate 1
expect 1 "rate: '0bit' is no rate; the driver's: quell link reset DEV" link set lo rate 0bit
expect 1 "lookahead: 'time' is given twice" lookahead add x time 1us time 2us 10.0.0.1
expect 1 "flow: 'cc' is given twice" flow show cc swift cc dart
expect 1 "rate: '2tbit' is out of range 8bit .. 1Tbit" link set lo rate 2tbit
expect 1 "nosuch: No such device" link set nosuch rate 1gbit
expect 1 "nosuch: No such device" link show nosuch
expect_silent_stdout
expect 1 "sender: unknown argument 'lo', try: quell help sender" sender show lo
expect 1 "the value of 'dev' is missing" sender show dev
expect 1 "nosuch: No such device" sender show dev nosuch
expect 1 "'10.0.0' is no address; expected one such as 10.0.0.1 or fd00::1" sender weight 10.0.0 2
expect 1 "weight: '256' is out of range 1 .. 255" sender weight 10.0.0.1 256
expect 1 "lookahead: addresses are missing" lookahead add workers dev lo
expect 1 "the value of 'time' is missing" lookahead add workers dev lo time
expect 1 "time: '0us' is less than 1ns" \
	lookahead add workers time 0us 10.0.0.1
expect 1 "'frob' is no address" lookahead add workers 10.0.0.1 frob
expect 1 "name: '12345678901234567890123456789012' has not 1 to 31 bytes" \
	lookahead add 12345678901234567890123456789012 10.0.0.1
expect 1 "unknown word 'user', usage: quell lookahead del NAME [uid UID]" \
	lookahead del workers user 1
expect 1 "unknown word 'uid', usage" lookahead del workers uid
expect 1 "uid: '4294967295' is out of range 0 .. 4294967294" lookahead del workers uid 4294967295
expect_silent_stdout
expect 1 "nosuch: No such device" hwtstamp show nosuch
expect 0 "lo: rx not supported clock none offers none" hwtstamp show lo
expect 0 '[{"dev":"lo","rx":null,"tx":null,"phc":null,"offers":"none"}]' -j hwtstamp show lo
expect 2 "lo: cannot switch stamps on: " hwtstamp on lo
expect_silent_stdout
# The module to load is that of the algorithm named, if it is one of Quell's.
for words in "stat hpcc" "flow show cc hpcc" "cc show hpcc" "cc set hpcc eta 0.9" "cc preset hpcc vaisf-iii-d"; do
	# shellcheck disable=SC2086 # words of a command line
	expect 2 "try: modprobe tcp_hpcc)" $words
done
expect 2 "try: modprobe tcp_swift)" stat frob
# Without a descriptor for a list of the interfaces.
for object in "hwtstamp show" doctor; do
	sh -c "ulimit -n 4; exec '$quell' $object" > "$scratch/out" 2> "$scratch/err"
	[ $? -eq 2 ] && grep -q 'Too many open files' "$scratch/err"
	report $? "quell $object without a list of the interfaces is an error"
done
expect 1 "unexpected argument 'c'" cc show a b c
expect 1 "stat: unknown argument 'b'" stat a b
expect 1 "metrics are of all modules, and not JSON" stat --metrics swift
expect 1 "flow: unknown argument 'frob'" flow show frob
expect 1 "flow: unknown argument 'interval'" flow show interval 1s
expect 1 "interval: '5ms' is less than 10ms" flow watch interval 5ms
expect 1 "dst: the length of '10.0.0.0/8/8' is out of range 0 .. 32" flow show dst 10.0.0.0/8/8
expect 1 "by: 'swift' is no governor and no reason (there are: algorithm, search, cubic," flow show by swift
expect 1 "by: 'none' is no governor" flow show by none
expect 1 "prefix: '129' is out of range 1 .. 128" flow show -s prefix 129
expect 1 "the value of 'cc' is missing" flow show cc
expect 1 "src: the length of 'fd00::/129' is out of range 0 .. 128" flow show src fd00::/129
expect 1 "'10.0.0' is no address" flow show dst 10.0.0/8
expect 1 "'fe80::1%lo' is no address; expected it without %DEV" flow show dst fe80::1%lo
expect 1 "state: 'open' is no state" flow show state open
expect 1 "nosuch: No such device" flow show dev nosuch
expect 1 "sort: '--rtt' is no key (there are: rate, window, inflight, rtt, delay, retrans)" \
	flow show sort --rtt
expect 1 "flow: unknown argument '-s'" flow watch -s
expect 1 "flow: unknown argument 'prefix'" flow watch prefix 8
expect 1 "flow: 'prefix' is an argument of '-s'" flow show prefix 8
expect 1 "flow: '-s' prints sums of flows, without '-d'" flow show -s -d
expect 1 "flow: '-s' prints sums of flows, without '-d'" -d flow show -s
expect 1 "flow: '-s' prints sums of flows, without 'sort'" flow show sort rtt -s
expect 1 "doctor: '--if' is given twice" doctor --if swift --if dart
expect 1 "flow: unknown argument '--no-color'" flow show --no-color
expect 1 "flow watch: standard output is no terminal; try: quell -j flow watch" flow watch
expect 1 "the value of 'rcvbuf' is missing" monitor rcvbuf
expect 1 "rcvbuf: '0b' is out of range 1b .. 1gb; expected a size such as" monitor rcvbuf 0b
expect 1 "monitor: unknown argument 'frob', try: quell help monitor" monitor flows frob
expect_silent_stdout
expect 0 "nscc" cc preset
expect 0 "nscc" cc preset smartt
expect 0 "nscc" cc preset show smartt
expect 1 "no presets of 'frob' (there are some of: swift, swift_vaisf, hpcc, hpcc_vaisf, timely, smartt, dcqcn, dart)" \
	cc preset frob
expect 1 "no presets of 'frob'" cc preset frob nscc
expect 1 "smartt has no preset 'frob' (it has: iii, " cc preset smartt frob
expect_silent_stdout
expect 1 "unexpected argument 'c'" cc preset smartt nscc c
expect 1 "unexpected argument 'nscc'" cc preset list smartt nscc
expect 1 "'ai=1gbit': expected the name of a parameter, without a value" bpf reset swift ai=1gbit
expect 1 "unexpected argument 'b'" bpf unload swift b
expect 1 "unknown algorithm 'frob' (there are: swift, swift_vaisf, hpcc, hpcc_vaisf, timely, smartt, dcqcn, dart)" \
	bpf load frob
expect 1 "swift ai: '5' has no unit" bpf load swift ai 5
expect 1 "bpf set: a directory is for load and replace" bpf set swift dir /nowhere
expect 1 "swift has no parameter 'frob' (it has: adapt, base-target, " bpf reset swift frob
expect_silent_stdout
expect 1 "trace: unknown argument 'frob', try: quell help trace" trace frob
expect 1 "the value of 'dport' is missing" trace sample 7 dport
expect 1 "dport: '0' is out of range 1 .. 65535" trace dport 0
expect 1 "sport: '-1' is out of range" trace sport -1
expect 1 "sport: '0x10' cannot be read; expected a number of 1 .. 65535" trace sport 0x10
expect 1 "sport: '\x0b50' cannot be read" trace sport "$(printf '\v50')"
expect 1 "trace: 'sport' is given twice" trace sport 1 sport 2
expect 1 "dst: the length of '10.0.0.0/' is out of range" trace dst 10.0.0.0/
expect 1 "is no address" trace src 1234:1234:1234:1234:1234:1234:1234:1234:1234:1234/8
for cookie in 0 xyz 10000000000000000; do
	expect 1 "cookie: '$cookie' is no cookie" trace cookie $cookie
done
expect 1 "has not 1 to 15 bytes" trace cc sixteen_letters_
expect 1 "netns: 'blue' is not 'any'" trace netns blue
expect 1 "count: '0' is out of range" trace count 0
expect 1 "buffer: '4095b' is out of range 4kb .. 1gb" trace buffer 4095b
expect 1 "trace: prints comma-separated values only, not JSON" -j trace
expect 1 "bpf option: 'frob' is not show, on or off" bpf option frob
expect 1 "the value of 'cgroup' is missing" bpf option on cgroup
expect 1 "bpf: unknown argument 'frob'" bpf option on frob b
expect 1 "bpf: unknown argument 'dir'" bpf option off dir /nowhere
expect 1 "bpf: unknown argument 'cgroup'" bpf option show cgroup /a
expect_silent_stdout
expect 1 "try: quell help" -x
grep -qx "quell: unrecognized option '-x'" "$scratch/err"
report $? "as the other messages, without the path of the program"
expect 1 "try: quell help" --frob
expect 1 "try: quell help" -n
expect 1 "'no-such-ns'" -n no-such-ns cc show
expect 1 "'..'" -n .. cc show
expect 1 "invalid network namespace name ''" -n "" cc show
expect_silent_stdout

# The doctor, of trees that are no kernel's: what is found makes the status.
tree=$scratch/tree
mkdir -p "$tree/proc/sys/kernel" "$tree/proc/sys/net/ipv4" "$tree/sys/module/quell" "$tree/boot"
echo 6.12.1 > "$tree/proc/sys/kernel/osrelease"
echo 1 > "$tree/proc/sys/net/ipv4/tcp_sack"
printf 'CONFIG_%s=y\n' NETFILTER NET_SCHED HIGH_RES_TIMERS INET_TCP_DIAG DEBUG_INFO_BTF \
	> "$tree/boot/config-6.12.1"
export QUELL_DOCTOR_ROOT="$tree"
expect 1 "doctor: unknown argument 'a', try: quell help doctor" doctor a
expect 1 "the value of '--if' is missing" doctor --if
expect 1 "unknown algorithm 'frob' (there are: swift, swift_vaisf, hpcc," doctor --if frob
expect_silent_stdout
expect 3 "apt install ./quell-dkms_*.deb  # from make deb, INSTALL.md" doctor
mkdir -p "$tree/var/lib/dkms/quell"
expect 3 "       dkms autoinstall -k 6.12.1" doctor
mkdir -p "$tree/lib/modules/6.12.1"
echo kernel/net/ipv4/tcp_swift.ko > "$tree/lib/modules/6.12.1/modules.builtin"
expect 3 "FAULT  the module quell is not loaded" doctor
expect 3 '{"level":"fault","check":"module","text":"the module quell is not loaded","command":"modprobe tcp_swift"}' \
	-j doctor
expect 3 '{"level":"fault"' doctor -j
echo cubic > "$tree/proc/sys/net/ipv4/tcp_congestion_control"
expect 0 "effect new connections would use swift in place of cubic, except those of" \
	doctor --if swift
expect 0 '{"level":"note","check":"module","text":"the module tcp_swift of swift is not loaded","command":"modprobe tcp_swift"}' \
	-j doctor --if swift
[ "$("$quell" doctor --if dart | awk 'length > 79' | grep -vc 'tc qdisc')" -eq 0 ]
report $? "doctor --if keeps to 79 columns"
rm "$tree/proc/sys/net/ipv4/tcp_congestion_control"
echo "reno bpf_swift" > "$tree/proc/sys/net/ipv4/tcp_available_congestion_control"
expect 0 "note   the module quell is not loaded; bpf_swift does without" doctor
rm "$tree/proc/sys/net/ipv4/tcp_available_congestion_control"
echo 0 > "$tree/sys/module/quell/refcnt"
echo 0 > "$tree/proc/sys/net/ipv4/tcp_sack"
expect 3 "       sysctl -w net.ipv4.tcp_sack=1" doctor
expect 3 "2 faults, 0 notes" doctor
awk 'length > 79' "$scratch/out" > "$scratch/long"
[ ! -s "$scratch/long" ]
report $? "doctor keeps to 79 columns"
sed -i /BTF/d "$tree/boot/config-6.12.1"
expect 3 "2 faults, 1 note" doctor
unset QUELL_DOCTOR_ROOT

# What needs no kernel, under valgrind: no error, no leak.
# clean WANT ARGUMENT...: it ends with WANT, not with valgrind's 99.
clean()
{
	want=$1
	shift
	valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=all \
		--errors-for-leak-kinds=all "$quell" "$@" > "$scratch/out" 2> "$scratch/err"
	[ $? -eq "$want" ]
	report $? "valgrind has nothing to say about quell $*"
}
clean 0 help
clean 0 cc preset list
clean 1 flow show src 10.0.0.0/8 sort frob
clean 0 hwtstamp show lo
QUELL_DOCTOR_ROOT=$tree clean 3 -jp doctor

"$quell" help > /dev/full 2> "$scratch/err"
[ $? -eq 2 ] && grep -q 'cannot write the output' "$scratch/err"
report $? "a full disk is an error"

printf '# x\n[swift]\n' > "$scratch/settings"
clean 1 restore "$scratch/settings"
grep -qF "$scratch/settings:2: a section, which the older form" "$scratch/err"
report $? "a file of settings of the older form says so"
printf 'help link\nfrob\nhelp cc\n' > "$scratch/settings"
clean 1 -force --batch "$scratch/settings"
grep -qF "$scratch/settings:2: unknown object 'frob'" "$scratch/err" && grep -q 'cc set' "$scratch/out"
report $? "a batch goes on after an error with -force, which names its line"

expect 1 "/dev/zero:1: a byte of value 0" -force -batch /dev/zero
mkfifo "$scratch/endless"
yes a > "$scratch/endless" 2> /dev/null &
expect 1 ": takes more than 100000000 bytes of memory" restore "$scratch/endless"

echo "cc preset list swift" > "$scratch/settings"
expect 0 "vaisf-iii-d" -d -batch "$scratch/settings"

# lines_refused ERROR OPTION...: each line of standard input, in a batch with the options.
lines_refused()
{
	error=$1
	shift
	while read -r line; do
		echo "$line" >"$scratch/settings"
		expect 1 "$scratch/settings:1: $error" "$@" -batch "$scratch/settings"
	done
}

lines_refused "an option that a batch has in front of it, not a command: '-" <<'END'
cc preset list -check
cc preset list -force
cc preset list -netns one
END
lines_refused "no setting of a namespace is made by '" -check <<'END'
help
help cc
cc help
cc --help
cc -V
END

# Of a build with link-time optimization, too, applications see these functions only.
archive=$scratch/lto/libquell_lookahead.a
env -u MAKEFLAGS make -s -C "$top/userspace/quell" OUT="$scratch/lto" \
	CFLAGS="-O2 -flto=auto -ffat-lto-objects" "$archive" > "$scratch/out" 2> "$scratch/err"
nm -g --defined-only "$archive" 2>> "$scratch/err" | awk 'NF == 3 { print $3 }' > "$scratch/out"
grep -q '^quell_lookahead_' "$scratch/out" && ! grep -qv '^quell_lookahead_' "$scratch/out"
report $? "libquell_lookahead.a defines quell_lookahead_* only"

# The words of the command table: objects, verbs, keywords, options.
"$quell" help --commands > "$scratch/table"
: > "$scratch/out"
: > "$scratch/err"
awk -F '\t' '/^-/ { print $1; print $2; next }
	{ print $1; if ($2 != "-") print $2 }' "$scratch/table" | sort -u > "$scratch/words"
[ "$(wc -l < "$scratch/words")" -gt 10 ]
report $? "the command table lists its words"

"$quell" help > "$scratch/text"
awk 'length > 79' "$scratch/text" > "$scratch/out"
[ -s "$scratch/text" ] && [ ! -s "$scratch/out" ]
report $? "help keeps to 79 columns"

# Verbs whose usage begins with a name need one, and the fewest arguments that the table has.
awk -F '\t' '/^[a-z]/ && $3 ~ /^[A-Z]/' "$scratch/table" > "$scratch/named"
while IFS="$(printf '\t')" read -r object verb args; do
	[ "$verb" != - ] || verb=
	# shellcheck disable=SC2086 # no verb is no word
	expect 1 "too few arguments, usage: quell $object${verb:+ $verb} $args" $object $verb
done < "$scratch/named"
expect_silent_stdout
expect 1 "too few arguments, usage: quell bpf set" bpf set swift
expect 1 "too few arguments, usage: quell lookahead add" lookahead add workers

# Every usage line of the table stands in the manual page, once roff is gone.
while IFS="$(printf '\t')" read -r object verb args; do
	case $object in
	-*)	line="$object, $verb${args:+ $args}" ;;
	*)	line="quell $object"
		[ "$verb" = - ] || line="$line $verb"
		line="$line $args" ;;
	esac
	page=$man
	[ ! -e "${man%.8}-$object.8" ] || page=${man%.8}-$object.8
	text=$scratch/${page##*/}
	[ -s "$text" ] || MANWIDTH=200 MANPAGER=cat man -l "$page" 2> "$scratch/err" | col -b |
		tr -s ' \n' '  ' > "$text"
	grep -qF -e "$line" "$text"
	report $? "manual page has: $line"
done < "$scratch/table"

# The page of the table has each of its columns, in order.
sed -n 's/^	COLUMN("\([a-z_]*\)",.*/\1/p' "$top/userspace/quell/trace_csv.c" > "$scratch/out"
sed -n '/^\.SH COLUMNS/,/^\.TE/s/^\([a-z_, ]*\)|.*/\1/p' "$top/Documentation/man/quell-trace.8" |
	tr -s ', ' '\n' | grep . > "$scratch/err"
[ -s "$scratch/out" ] && cmp -s "$scratch/out" "$scratch/err"
report $? "quell-trace.8 has the columns of the table"

for page in "$top"/Documentation/man/*.[1-8]; do
	MANWIDTH=80 MANPAGER=cat man --warnings -l "$page" > /dev/null 2> "$scratch/err" &&
		[ ! -s "$scratch/err" ]
	report $? "groff has nothing to say about ${page##*/}"
	grep -q '^\.SH SYNOPSIS' "$page" || continue
	MANWIDTH=80 MANPAGER=cat man -l "$page" 2> "$scratch/err" | col -bx > "$scratch/page"
	awk '/^[A-Z]/ { inside = /^SYNOPSIS/; seen += inside } inside && length > 80
		END { if (!seen) print "no synopsis" }' "$scratch/page" > "$scratch/out"
	[ ! -s "$scratch/out" ]
	report $? "the synopsis of ${page##*/} has at most 80 columns"
done

# The presets as the command lists them: text and JSON are the same words, the
# laboratory reads the same from the source.
"$quell" -j cc preset > "$scratch/json"
"$quell" cc preset > "$scratch/text"
jq -r '.[] | .cc, .name, .source, (.set | to_entries[] | .key, .value)' "$scratch/json" |
	awk '!/ /' | sort -u > "$scratch/want"
tr -s ' \n' '\n' < "$scratch/text" | sort -u | comm -23 "$scratch/want" - > "$scratch/out"
[ "$(wc -l < "$scratch/want")" -gt 50 ] && [ ! -s "$scratch/out" ]
report $? "cc preset prints every word of cc preset -j"

awk 'length > 79' "$scratch/text" > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? "cc preset keeps to 79 columns"

make -s -C "$top/lab/init" OUT="$(realpath "$top")/build/lab" cores
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$top/lab python3 -c '
import json
from quell_lab.presets import all_presets
print(json.dumps([{"cc": cc, "name": one.name, "source": one.source, "set": one.texts}
                  for cc, known in all_presets().items() for one in known.values()],
                 separators=(",", ":")))' > "$scratch/err" 2>&1
cmp "$scratch/json" "$scratch/err" > "$scratch/out" 2>&1
report $? "the laboratory reads the presets that the command lists"

# roff_names FILE [SECTIONS]: the first word in bold behind each .TP of sections, a pattern
roff_names()
{
	awk -v sections="^.SH (${2-.*})\$" '/^\.SH/ { inside = $0 ~ sections }
		inside && after_tp && /^\.B / { print $2 } { after_tp = /^\.TP/ }' "$1"
}

# The sections of an algorithm in quell-cc(4) have every parameter of its table, and the last of
# them, its own, no other.
page=$top/Documentation/man/quell-cc.4
while read -r algorithm sections; do
	jq -r --arg name "$algorithm" '.cores[$name].parameters | keys[]' \
		"$top/build/lab/cores.json" | sort > "$scratch/want"
	roff_names "$page" "DESCRIPTION|$sections" | sort | comm -23 "$scratch/want" - > "$scratch/out"
	roff_names "$page" "${sections##*|}" | sort > "$scratch/own"
	comm -13 "$scratch/want" "$scratch/own" > "$scratch/err"
	[ -s "$scratch/want" ] && [ -s "$scratch/own" ] && [ ! -s "$scratch/out" ] &&
		[ ! -s "$scratch/err" ]
	report $? "quell-cc.4 has the parameters of $algorithm"
done <<'END'
swift SWIFT
hpcc HPCC
swift_vaisf SWIFT|SWIFT_VAISF AND HPCC_VAISF
hpcc_vaisf HPCC|SWIFT_VAISF AND HPCC_VAISF
timely TIMELY
smartt SMARTT
dcqcn DCQCN
dart DCQCN|DART
END

# The same of quell(4), and of the modules in quell(7).
sed -n '/signal_param_descs\[\]/,/^};/s/.*_PARAM("\([^"]*\)".*/\1/p' \
	"$top/kmod-cc/quell/signal/signal.c" > "$scratch/out"
roff_names "$top/Documentation/man/quell.4" > "$scratch/err"
[ -s "$scratch/out" ] && cmp -s "$scratch/out" "$scratch/err"
report $? "quell.4 has the parameters of the signal plane, in order"
sed -n 's/^BUILT_MODULE_NAME.*"\(.*\)"/\1.ko/p' "$top/dkms.conf" | sort > "$scratch/out"
roff_names "$top/Documentation/man/quell.7" | grep '\.ko$' | sort > "$scratch/err"
[ -s "$scratch/out" ] && cmp -s "$scratch/out" "$scratch/err"
report $? "quell.7 lists all modules"

# Completion asks the table itself; here it is asked in turn.
cat > "$scratch/complete.bash" << 'END'
complete_line()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_quell
	echo "${COMPREPLY[@]}"
}
END
# completes WANT WORD...: the completion of the last word is exactly WANT.
completes()
{
	want=$1
	shift
	PATH=$(dirname "$quell"):$PATH bash -c \
		". '$completion'; . '$scratch/complete.bash'; complete_line \"\$@\"" \
		- "$@" > "$scratch/out" 2> "$scratch/err"
	[ "$(cat "$scratch/out")" = "$want" ] && [ ! -s "$scratch/err" ]
	report $? "completion of '$*' is '$want'"
}
completes "cc flow stat doctor save restore sync link sender lookahead hwtstamp bpf monitor trace help" quell ""
completes "dev" quell sender show ""
completes "" quell sender weight 10.0.0.1 ""
completes "dev" quell sender weight 10.0.0.1 2 ""
completes "" quell lookahead add ""
completes "dev time" quell lookahead add workers ""
completes "" quell lookahead add workers time ""
completes "uid" quell lookahead del workers ""
# Any user names a group, and root's shell reads what a tab has put there.
mkdir "$scratch/groups"
cat > "$scratch/groups/quell" << END
#!/bin/sh
[ "\$1 \$2" != "lookahead show" ] || { echo '\$(id>&2); a b: uid 0, dev lo'; exit; }
exec $quell "\$@"
END
chmod +x "$scratch/groups/quell"
real=$quell
quell=$scratch/groups/quell
completes '\$\(id\>\&2\)\;\ a\ b' quell lookahead del ""
completes '\$\(id\>\&2\)\;\ a\ b' quell lookahead del '\$\(i'
quell=$real
completes "flow" quell fl
completes "show set reset preset" quell cc ""
completes "show set reset preset" quell -n somewhere cc ""
completes "list swift swift_vaisf hpcc hpcc_vaisf timely smartt dcqcn dart" quell cc preset ""
completes "smartt" quell cc preset sm
completes "nscc nscc-trim nscc-800g" quell cc preset smartt n
completes "vi-a lan-1g dc-10g dc-25g dc-100g dc-400g" quell -j cc preset swift_vaisf ""
completes "dcqcn" quell cc preset list dc
completes "" quell cc preset smartt nscc ""
completes "reset" quell -j cc re
completes "-d -s src dst sport dport cc dev state by sort" quell flow show ""
completes "-s prefix src dst sport dport cc dev state by" quell flow show -s ""
completes "-d src dst sport dport cc dev state by sort" quell flow show -d ""
completes "-d src dst sport dport cc dev state by sort interval --no-color" quell flow watch ""
completes "src sport state sort" quell flow show dst 10.0.0.0/8 s
completes "lo" quell flow show dev lo
completes "rate window inflight rtt delay retrans" quell flow show sort ""
completes "closed close-wait closing" quell flow show state clos
completes "--if" quell doctor ""
completes "swift swift_vaisf smartt" quell doctor --if s
completes "" quell doctor --if swift ""
completes "-a -z --metrics" quell stat ""
completes "--metrics" quell stat -a --
completes "-ts settings flows rcvbuf" quell monitor ""
completes "settings" quell monitor flows s
completes "show load replace unload set reset option" quell bpf ""
completes "swift swift_vaisf" quell bpf load sw
completes "swift swift_vaisf hpcc hpcc_vaisf timely smartt dcqcn dart" quell bpf show ""
completes "preset probabilistic" quell bpf load swift p
completes "probabilistic" quell bpf reset swift p
completes "adapt ai" quell bpf set swift preset vaisf-iii-d a
completes "" quell bpf load swift ai ""
completes "" quell bpf load swift ai =
completes "" quell bpf load swift ai = 1
completes "adapt ai" quell bpf load swift ai = 1gbit a
completes "vaisf-iii-d" quell bpf load swift preset = vaisf-i
completes "vaisf-iii-d vaisf-fig3-1gbit vaisf-fig3-prob vaisf-fig10 vaisf-no-fbs lan-1g dc-10g dc-25g dc-100g dc-400g" \
	quell bpf load swift preset =
completes "vaisf-iii-d" quell bpf load swift preset vaisf-i
completes "src dst sport dport cookie cc netns sample count for buffer dir -o" quell trace ""
completes "src sport sample" quell trace dst 10.0.0.0/8 s
completes "any" quell trace netns ""
completes "cubic" quell trace cc cubi
completes "show on off" quell bpf option ""
completes "cgroup dir" quell bpf option on ""
completes "cgroup" quell bpf option off ""
completes "" quell bpf option show ""
completes "dir" quell bpf option on cgroup / d
completes "/dev/null" quell restore /dev/nul
completes "" quell restore /dev/null /dev/nul
completes "/dev/null" quell trace -o /dev/nul
completes "dst dport dir" quell trace -o out.csv d
completes "/dev/null" quell --check sync /dev/nul
completes "" quell save /dev/nul
completes "/dev/null" quell -batch /dev/nul
completes "/sys/" quell bpf option on cgroup /sy
completes "--json --pretty --details --netns --batch --force --check --version --help" quell --

echo "1..$number"
exit $failed
