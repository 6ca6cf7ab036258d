#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# DKMS 3.0.10 (Debian 12) does not know BUILD_EXCLUSIVE_KERNEL_MIN of dkms.conf, which later
# releases do: it builds for an older kernel all the same, without a warning.  The directive
# BUILD_EXCLUSIVE_KERNEL, a regular expression, is obeyed.
#
# Guess: a directive that a release does not know is an error, or is at least named in a warning.
set -euo pipefail
version=3.0.10-8+deb12u1

answer=""
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "dkms=$version" > /dev/null
dpkg-deb -x dkms_*.deb root

# built DIRECTIVE: whether DKMS runs the module's MAKE for kernel 5.10.0.
built() {
	rm -rf source tree kernel made
	mkdir -p source/one-1 tree kernel/include
	touch kernel/Makefile source/one-1/one.c
	printf '%s\n' PACKAGE_NAME=one PACKAGE_VERSION=1 'BUILT_MODULE_NAME[0]=one' \
		'DEST_MODULE_LOCATION[0]=/updates' "MAKE[0]='touch $dir/made'" CLEAN=true "$1" \
		> source/one-1/dkms.conf
	root/usr/sbin/dkms build one/1 -k 5.10.0 --kernelsourcedir "$dir/kernel" \
		--sourcetree "$dir/source" --dkmstree "$dir/tree" --no-depmod > log 2>&1 || true
	[ -e made ]
}

for directive in 'BUILD_EXCLUSIVE_KERNEL_MIN="6.1"' 'BUILD_EXCLUSIVE_KERNEL="^6\."'; do
	if built "$directive"; then
		answer+=built
		echo "dkms $version, kernel 5.10.0, $directive: builds"
	else
		answer+=left
		echo "dkms $version, kernel 5.10.0, $directive: does not build"
	fi
	! grep -i MIN log || answer+=named
done
[ "$answer" = builtleft ] || {
	echo "changed: dkms no longer builds where it ignored BUILD_EXCLUSIVE_KERNEL_MIN, or names it"
	exit 1
}
