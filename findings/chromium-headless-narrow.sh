#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# chromium 156 (Debian 12): --headless --window-size=390,800 lays the page out 500 pixels wide and
# writes a screenshot of 390, so that the right part of each line is missing and no media query for
# phones applies.  600 is kept.
#
# Guess: without a window there is no least width, and picture and layout have the same.
#
# Output seen:
#
#	--window-size=390,800: the page is 500 wide, the picture 390
#	--window-size=600,800: the page is 600 wide, the picture 600
#
# The libraries that chromium needs beside its own are those of the machine.
set -euo pipefail
version=156.0.8078.108-1~deb12u1

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download \
	"chromium=$version" "chromium-common=$version" > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
echo '<body><script>document.write("width=" + innerWidth)</script>' > page.html

# headless WIDTH OPTION: chromium with a window of that width
headless() {
	timeout 120 root/usr/lib/chromium/chromium --headless --no-sandbox --disable-gpu \
		--user-data-dir="$dir/user" --window-size="$1,800" "$2" \
		"file://$dir/page.html" 2> log
}
seen=
for width in 390 600; do
	page=$(headless "$width" --dump-dom | sed -n 's/.*>width=\([0-9]*\).*/\1/p')
	headless "$width" "--screenshot=$dir/page.png" > log2
	# The width in the head of a PNG
	picture=$(od -An -tu1 -j16 -N4 page.png |
		awk '{ print (($1 * 256 + $2) * 256 + $3) * 256 + $4 }')
	echo "--window-size=$width,800: the page is $page wide, the picture $picture"
	seen+="$page $picture "
done
case $seen in
"500 390 600 600 ") ;;
*"600 600 ")
	echo "changed: the layout has the width of the window"
	exit 1 ;;
*)	exit 2 ;;
esac
