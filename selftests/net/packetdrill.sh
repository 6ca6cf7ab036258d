#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# packetdrill's scripts, and ours, with each of some algorithms as the default.
#
# packetdrill/run has put program, scripts and the lists of both into build/packetdrill,
# and starts this in user-mode Linux.  Each script has a network namespace of its own.
# What it comes to is what packetdrill/expected says, or the check fails:
#
#	pass	to its end
#	N	not as written at line N of the script, and no line before
#	other	neither
# shellcheck disable=SC2154 # quell_top is guest-uml's

# A /tmp to write to, as scripts do, is nobody else's.
[ -n "${packetdrill_private-}" ] || packetdrill_private=1 exec unshare -m "$0"

cd "$(dirname "$0")" || exit 1
. ./lib.sh

declare -A expected reason
# The list is of the papers' algorithms, not fitted to the path (adapt).
declare -A paper=([swift]=vaisf-iii-d [swift_vaisf]=vi-a [hpcc]=vaisf-iii-d [hpcc_vaisf]=vi-a
	[timely]=table1 [smartt]=iii [dcqcn]=dart-vi-a)

# read_expected FILE: lines SCRIPT ALGORITHM,... OUTCOME REASON.
read_expected()
{
	local script names name outcome why

	while read -r script names outcome why; do
		case $script in
		""|"#"*)
			continue ;;
		esac
		[ -n "$why" ] || { echo "expected: $script has no reason"; return 1; }
		grep -qxF "$script" all || { echo "expected: no script $script"; return 1; }
		for name in ${names//,/ }; do
			[ -z "${expected[$name $script]-}" ] ||
				{ echo "expected: $name $script twice"; return 1; }
			expected[$name $script]=$outcome
			reason[$name $script]=$why
		done
	done <"$1"
}

# A program for each of thirty words would take most of the time.
use_algorithm()
{
	cat - defaults.sh >tcp/common/defaults.sh <<-'END' &&
		#!/bin/bash
		sysctl()
		{
			local word name
			for word in "${@:2}"; do
				name=${word%%=*}
				echo "${word#*=}" >"/proc/sys/${name//.//}"
			done 2>/dev/null
		}
	END
	chmod +x tcp/common/defaults.sh && allow_cc "$1" &&
	sed -i "s/\(tcp_congestion_control=\).*/\1$1/" tcp/common/defaults.sh
}

# Says what became of it.
outcome_of()
{
	local script=$1 said status

	ip netns add drill
	# packetdrill reads one packet from its device for each IPv4 packet that it observes.  After
	# one of IPv6 the newest segment remains there, and TCP joins no segment that is shared.
	in_netns drill sysctl -q -w net.ipv6.conf.all.disable_ipv6=1 \
		net.ipv6.conf.default.disable_ipv6=1
	ip -n drill link set lo up
	[ -z "${paper[$algorithm]-}" ] ||
		quell -n drill cc preset "$algorithm" "${paper[$algorithm]}" >&2
	said=$(cd "tcp/$(dirname "$script")" &&
		timeout -s KILL 300 ip netns exec drill "$dir/packetdrill" --send_omit_free \
		--ip_version=ipv4 --local_ip=192.168.0.1 --gateway_ip=192.168.0.1 \
		--netmask_ip=255.255.0.0 --remote_ip=192.0.2.1 -D TFO_COOKIE=3021b9d889017eeb \
		-D CODE=host_unreachable -D CMSG_LEVEL_IP=SOL_IP -D CMSG_TYPE_RECVERR=IP_RECVERR \
		"$(basename "$script")" 2>&1)
	status=$?
	ip netns del drill
	echo "$said" >&2
	if [ "$status" -eq 0 ]; then
		echo pass
	elif [[ $said =~ $(basename "$script"):([0-9]+): ]]; then
		echo "${BASH_REMATCH[1]}"
	else
		echo other
	fi
}

# as_expected ALGORITHM SCRIPT
as_expected()
{
	local want=${expected[$1 $2]-pass} got

	got=$(outcome_of "$2")
	[ "$got" = "$want" ] && return 0
	echo "came to $got, not to $want ${reason[$1 $2]-}"
	return 1
}

# The modules and the list first: they may be in what is hidden.
prepare()
{
	[ -e /dev/net/tun ] || modprobe tun || return 1
	modprobe -a tcp_swift tcp_smartt tcp_dcqcn tcp_timely tcp_hpcc || return 1
	cp -r "$quell_top/build/packetdrill/." "$dir/" && cp packetdrill/expected "$dir/" &&
	cd "$dir" && cp common/defaults.sh defaults.sh && rm tcp/common/defaults.sh &&
	mount -t tmpfs tmp /tmp &&
	# Sleeps end when they should.
	echo 1 >/proc/self/timerslack_ns &&
	read_expected expected
}

prepare || exit 1
mapfile -t algorithms <algorithms
mapfile -t scripts <scripts
plan $((${#algorithms[@]} * ${#scripts[@]}))
for algorithm in "${algorithms[@]}"; do
	use_algorithm "$algorithm" || exit 1
	for script in "${scripts[@]}"; do
		check "$algorithm ${script%.pkt}${reason[$algorithm $script]+ ends at ${expected[$algorithm $script]}}" \
			as_expected "$algorithm" "$script"
	done
done
finish
