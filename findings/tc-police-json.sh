#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12), and 6.15 (Debian 13), on Linux 6.1.176: "tc -j filter show" lacks the
# rate and the burst of a police action, which the text has.  With two actions, one for packets
# above the rate and one for those within it, the object has two members "control_action": parsers
# keep the last, so that a policer that drops reads as one that continues.
#
# Guess: the JSON has the fields of the text, under names of their own.
#
# Output seen, of "police rate 10mbit burst 20k conform-exceed drop/continue":
#
#	text: police 0x1 rate 10Mbit burst 20Kb mtu 2Kb action drop/continue overhead 0b
#	JSON: "kind":"police","index":1,"control_action":{"type":"drop"},
#		"control_action":{"type":"continue"},"overhead":0,"ref":1,"bind":1
#	a parser: {'type': 'continue'}
#
# The kernel is Debian's user-mode-linux, which has the action as a module.
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

cat > init <<INIT
#!/bin/sh
export PATH=$dir/root/sbin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
modprobe -a -d $dir/root sch_ingress cls_u32 act_police
tc qdisc add dev lo ingress
tc filter add dev lo parent ffff: protocol ip u32 match u32 0 0 \
	police rate 10mbit burst 20k conform-exceed drop/continue
echo "text:\$(tc filter show dev lo parent ffff: | grep police)"
echo "JSON: \$(tc -j filter show dev lo parent ffff:)"
echo o > /proc/sysrq-trigger
sleep 60
INIT
chmod +x init
timeout 300 root/usr/bin/linux.uml mem=128M root=none rootfstype=hostfs rootflags=/ ro quiet \
	con=null con0=null,fd:1 init="$dir/init" < /dev/null > log 2>&1 || true
grep -aE '^(text|JSON):' log | tr -d '\r' > out || {
	cat log
	exit 2
}
cat out
sed -n 's/^JSON: //p' out > json
action=$(python3 -c '
import json
print(json.load(open("json"))[-1]["options"]["control_action"])')
echo "a parser: $action"
grep -q '^text:.* rate 10Mbit burst 20Kb .*drop/continue' out || exit 2
if grep -q 'rate\|burst' json || [ "$action" != "{'type': 'continue'}" ]; then
	echo "changed: tc -j has the rate, the burst or each action of police"
	exit 1
fi
