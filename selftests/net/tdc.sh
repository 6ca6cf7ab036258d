#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tdc/swport.json by the kernel's own tdc.py, of Debian's linux-source that the
# laboratory's kernel is built from.  For run-uml: it wants python3 and that source.
# shellcheck disable=SC2154 # quell_top comes from the kernel's command line

cases=$(realpath "$(dirname "$0")")/tdc/swport.json
source=$(dirname "$(readlink "$quell_top/build/lab/linux")")/source
cd "$source/tools/testing/selftests/tc-testing" || exit 1

# tdc.py runs tc with an empty environment.
tc=/run/tdc-tc
printf '#!/bin/sh\nTC_LIB_DIR="%s" exec tc "$@"\n' "$quell_top/build" >$tc
chmod +x $tc
modprobe sch_swport || exit 1

/usr/bin/python3 ./tdc.py -p $tc -f "$cases" --format tap >/run/tdc.log 2>&1
status=$?
plan=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' /run/tdc.log)
# tdc.py's plan comes first or last; its comments are many.
echo "1..${plan:-0}"
grep -E '^(not )?ok ' /run/tdc.log
grep -qE '^not ok ' /run/tdc.log || [ "$plan" = "$(grep -c '^    {$' "$cases")" ] || {
	tail -n 30 /run/tdc.log | sed 's/^/# /'
	exit 1
}
grep -A 12 -E '^not ok ' /run/tdc.log | grep -vE '^(not )?ok ' | head -n 60 | sed 's/^/# /'
! grep -qE '^not ok ' /run/tdc.log && exit $status
