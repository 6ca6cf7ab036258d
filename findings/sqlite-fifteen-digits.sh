#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sqlite3 3.40.1 (Debian 12): a REAL is printed with 15 significant digits, in CSV and in text, so
# that seconds since 1970 are in steps of 10 us.  printf('%.9f') prints nine decimals, of a number
# that is cut after 16 digits: .123451 is .123450000.  The modes json and quote, and .dump, print
# the number in full.
#
# Guess: CSV has as many digits as it takes to read the same number again.
#
# Output seen, of two times 2 us apart:
#
#	csv: 1764526821.12345, 1764526821.12345
#	printf('%.9f'): 1764526821.123450000, 1764526821.123452000
#	json: 1764526821.1234509945, 1764526821.1234529018
set -euo pipefail
version=3.40.1-2+deb12u2

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "sqlite3=$version" \
	"libsqlite3-0=$version" > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu

cat > table <<'END'
CREATE TABLE packets (time REAL);
INSERT INTO packets VALUES (1764526821.123451), (1764526821.123453);
END
# show LABEL MODE QUERY: the values that the query has in this mode, in a line.
show() {
	echo "$1: $(root/usr/bin/sqlite3 -init table -cmd ".mode $2" :memory: "$3" 2> errors |
		tr -d '[]{}"a-z:\r' | sed 's/,$//' | paste -s -d , | sed 's/,/, /g')"
}
{
	show csv csv "SELECT time FROM packets"
	show "printf('%.9f')" list "SELECT printf('%.9f', time) FROM packets"
	show json json "SELECT time FROM packets"
} > out
cat out
[ "$(sed -n 3p out)" = "json: 1764526821.1234509945, 1764526821.1234529018" ] || exit 2
[ "$(sed -n 1,2p out)" = "csv: 1764526821.12345, 1764526821.12345
printf('%.9f'): 1764526821.123450000, 1764526821.123452000" ] || {
	echo "changed: sqlite3 prints a REAL with other digits"
	exit 1
}
