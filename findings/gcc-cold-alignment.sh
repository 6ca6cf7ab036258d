#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# gcc 12.2.0 (Debian 12): -falign-functions=16 does not align a function with the attribute "cold",
# nor one of a file compiled with -Os.
#
# Guess: the option aligns every function, as "-falign-functions=n" is described.
#
# Output seen:
#
#	-O2: warm is aligned, cold is not
#	-Os: warm is not, cold is not
#
# Linux from 6.3 on therefore defines __cold as empty where CONFIG_FUNCTION_ALIGNMENT is set and gcc
# is older than 14, as in Debian's 6.12: __cold has no effect there.  The attribute written out
# has one, and leaves a function where tracing on arm64 refuses its address.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download cpp-12=12.2.0-14+deb12u1 libisl23=0.25-1.1 \
	libmpc3=1.3.1-1 libmpfr6=4.2.0-1 libgmp10=2:6.2.1+dfsg1-1.1 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
cat > functions.c <<'C'
int warm(int a) { return a * 3; }
__attribute__((__cold__)) int cold(int a) { return a * 5; }
C
compiler=$(echo root/usr/lib/gcc/*/12/cc1)
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu

# is_aligned FUNCTION: the assembler's directive is the last one before its symbol's type.
is_aligned() {
	grep -B 3 "^[[:space:]]*\.type[[:space:]]*$1, @function" functions.s |
		grep -qE '\.p2align 4|\.align 16' && echo "is aligned" || echo "is not"
}

for level in -O2 -Os; do
	"$compiler" -quiet "$level" -falign-functions=16 functions.c -o functions.s
	echo "$level: warm $(is_aligned warm), cold $(is_aligned cold)"
done | tee out
if [ "$(cat out)" != "-O2: warm is aligned, cold is not
-Os: warm is not, cold is not" ]; then
	echo "changed: -falign-functions aligns other functions"
	exit 1
fi
