#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12) on Linux 6.1.176: "tc -j qdisc show" prints times without a unit, and
# the unit depends on the qdisc: seconds as a fraction for netem, microseconds for tbf, fq, codel
# and cake, nanoseconds for a single field of fq.  Rates are in bytes per second, where the text and
# the command line have bits.
#
# Guess: one unit for all times, and a rate of 1gbit is 1000000000.
#
# Output seen:
#
#	netem delay 1ms rate 1gbit: delay 0.001, rate 125000000
#	tbf rate 1gbit burst 1m latency 1ms: rate 125000000, lat 1000
#	fq maxrate 1gbit refill_delay 1s timer_slack 1ms: maxrate 125000000, refill_delay 1000000, timer_slack 1000000
#
# The kernel is Debian's user-mode-linux, which has the qdiscs as modules.
set -euo pipefail
version=6.1.0-3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iproute2=$version" \
	user-mode-linux=6.1um4+b13 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
mkdir root/lib
ln -s ../usr/lib/uml/modules root/lib/modules

cat > qdiscs <<'QDISCS'
netem delay 1ms rate 1gbit
tbf rate 1gbit burst 1m latency 1ms
fq maxrate 1gbit refill_delay 1s timer_slack 1ms
QDISCS
cat > init <<INIT
#!/bin/bash
export PATH=$dir/root/sbin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
modprobe -a -d $dir/root sch_netem sch_tbf sch_fq
while read -r qdisc; do
	tc qdisc replace dev lo root \$qdisc
	echo "JSON: \$(tc -j qdisc show dev lo)"
done < $dir/qdiscs
echo o > /proc/sysrq-trigger
sleep 60
INIT
chmod +x init
timeout 300 root/usr/bin/linux.uml mem=128M root=none rootfstype=hostfs rootflags=/ ro quiet \
	con=null con0=null,fd:1 init="$dir/init" < /dev/null > log 2>&1 || true
tr -d '\r' < log | sed -n 's/^JSON: //p' > json
[ "$(wc -l < json)" = 3 ] || {
	cat log
	exit 2
}
python3 - <<'END'
import json
import sys

with open("qdiscs") as file:
    commands = [line.strip() for line in file]
with open("json") as file:
    netem, tbf, fq = (json.loads(line)[0]["options"] for line in file)
seen = [{"delay": netem["delay"]["delay"], "rate": netem["rate"]["rate"]},
        {name: tbf[name] for name in ("rate", "lat")},
        {name: fq[name] for name in ("maxrate", "refill_delay", "timer_slack")}]
for command, fields in zip(commands, seen):
    print(command + ": " + ", ".join(f"{name} {value}" for name, value in fields.items()))
if [list(fields.values()) for fields in seen] != [
        [0.001, 125000000], [125000000, 1000], [125000000, 1000000, 1000000]]:
    sys.exit("changed: other units in the JSON of a qdisc")
END
