#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tdc/swport.cases by the kernel's own tdc.py, of Debian's linux-source that the
# laboratory's kernel is built from.  For run-uml: it wants python3 and that source.
# shellcheck disable=SC2154 # quell_top comes from the kernel's command line

cases=/run/swport.json
"$(dirname "$0")/tdc/generate" >$cases || exit 1
source=$(dirname "$(readlink "$quell_top/build/lab/linux")")/source
cd "$source/tools/testing/selftests/tc-testing" || exit 1

# tdc.py runs tc with an empty environment.
tc=/run/tdc-tc
printf '#!/bin/sh\nTC_LIB_DIR="%s" exec tc "$@"\n' "$quell_top/build" >$tc
chmod +x $tc
modprobe sch_swport || exit 1

/usr/bin/python3 ./tdc.py -p $tc -f $cases --format tap --outfile /run/tdc.tap \
	>/run/tdc.log 2>&1
status=$?
echo "1..$(grep -c '^        "id": ' $cases)"
grep -E '^(not )?ok ' /run/tdc.tap
[ $status -eq 0 ] && exit
grep -A 12 -E '^not ok ' /run/tdc.tap | grep -vE '^(not )?ok ' | head -n 60 | sed 's/^/# /'
tail -n 20 /run/tdc.log | sed 's/^/# /'
exit $status
