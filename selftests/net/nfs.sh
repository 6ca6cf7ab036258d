#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NFS 4.2 between the kernel's server and client, with each algorithm as the default.  A client in a
# namespace of its own mounts, writes and reads back; both ends of its connections have the
# algorithm, and end with the mount.  Without daemons: the server's caches are filled in advance.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./suited.sh

only_in_guest
nfsd=/proc/fs/nfsd rpc=/proc/net/rpc
forever=2147483647
# fsid, nosubtreecheck, async, insecure
flags=$((0x2000 + 0x400 + 0x10 + 0x2))
client="" every=()

serve()
{
	new_netns client && mkdir "$dir/export" "$dir/mount" &&
	dd if=/dev/urandom of="$dir/data" bs=64k count=32 &&
	ip link add wire type veth peer name wire netns "$client" && defer ip link del wire &&
	ip addr add 10.94.0.1/24 dev wire && ip link set wire up &&
	ip -n "$client" addr add 10.94.0.2/24 dev wire && ip -n "$client" link set wire up &&
	mount -t nfsd none "$nfsd" && defer umount "$nfsd" || return 1
	echo "nfsd 10.94.0.2 $forever quell" >"$rpc/auth.unix.ip/channel" &&
	echo "quell $dir/export $forever $flags 65534 65534 0" >"$rpc/nfsd.export/channel" &&
	printf 'quell 1 \\x00000000 %s %s\n' "$forever" "$dir/export" >"$rpc/nfsd.fh/channel" &&
	echo "-2 -3 +4" >"$nfsd/versions" && echo 10 >"$nfsd/nfsv4gracetime" &&
	echo "tcp 2049" >"$nfsd/portlist" &&
	echo 2 >"$nfsd/threads" && defer sh -c "echo 0 >$nfsd/threads"
}

# of_client ALGORITHM: in the client's namespace, and in a mount namespace that ends with it
of_client()
{
	mount -t nfs4 -o vers=4.2,addr=10.94.0.1,clientaddr=10.94.0.2,nconnect=2 10.94.0.1:/ \
		"$dir/mount" || return 1
	cp "$dir/data" "$dir/mount/data" && sync "$dir/mount/data" &&
	echo 3 >/proc/sys/vm/drop_caches && cmp "$dir/data" "$dir/mount/data" &&
	quell -j flow show >"$dir/client" && nsenter -t 1 -n quell -j flow show >"$dir/server" &&
	rm "$dir/mount/data"
}

no_flows()
{
	[ "$(quell -n "$client" -j flow show | jq length)" -eq 0 ] &&
	[ "$(quell -j flow show | jq length)" -eq 0 ]
}

# with ALGORITHM: a listener's children have the default, which is that of now
with()
{
	choose_cc "$client" "$1" && sysctl -q -w net.ipv4.tcp_congestion_control="$1" || return 1
	export -f of_client
	export dir
	in_netns "$client" bash -c of_client || return 1
	jq -es --arg cc "$1" '
		([.[0][] | select(.dport == 2049 and .cc == $cc)] | length == 2) and
		([.[1][] | select(.sport == 2049 and .cc == $cc)] | length == 2)' \
		"$dir/client" "$dir/server" || { cat "$dir/client" "$dir/server"; return 1; }
	poll 30 no_flows
}

if ! modprobe -a nfsd nfsv4; then
	echo "1..0 # SKIP this kernel has no nfsd and nfsv4"
	exit 0
fi
load_all
defer sysctl -q -w net.ipv4.tcp_congestion_control="$(sysctl -n net.ipv4.tcp_congestion_control)"
read -ra every -d '' <<<"$(algorithms)"
plan $((${#every[@]} + 2))
check "a server of NFS" serve
for algorithm in "${every[@]}"; do
	check "$algorithm: files over NFS" with "$algorithm"
done
check "the client's namespace ends" ip netns del "$client"
finish
