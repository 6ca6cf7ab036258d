# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Results as TAP, and checks of directories with packages.
number=0
failed=0
subject=packages

# check WHAT COMMAND...: a result, and what the command says if it fails
check() {
	local what=$1 said status
	shift
	said=$("$@" 2>&1)
	status=$?
	number=$((number + 1))
	if [ $status = 0 ]; then
		echo "ok $number - $subject: $what"
	else
		failed=1
		echo "not ok $number - $subject: $what"
		tail -n 20 <<< "$said" | sed 's/^/# /'
	fi
	return "$status"
}

# are_identical DIR DIR2: the same packages, byte by byte
are_identical() {
	local package count=0

	for package in "$1"/*.deb; do
		cmp "$package" "$2/${package##*/}" || return
		count=$((count + 1))
	done
	[ "$count" -gt 0 ] && [ "$(find "$2" -name '*.deb' | wc -l)" = "$count" ]
}

# has_no_lintian_error DIR
has_no_lintian_error() {
	local option=()

	[ "$(id -u)" != 0 ] || option=(--allow-root)
	lintian "${option[@]}" --fail-on error --tag-display-limit 0 "$1"/*.changes
}
