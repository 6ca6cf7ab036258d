#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux with autogroups (CONFIG_SCHED_AUTOGROUP, on by default at Debian): "nice -n 19" counts within
# a session alone.  Two programs on one processor, the second with nice 19, have equal shares if
# setsid, ssh or a terminal gave each a session, and only in a common session a 68th.
#
# Guess: beside a program of nice 0, one of nice 19 has 1.5 % of the processor.
#
# Seen on Linux 6.18.44.  Output seen; the numbers vary:
#
#	one session: nice 19 has 0.01 of the other's time
#	two sessions: nice 19 has 1.00 of the other's time
#
# Exits with 1 if that changes, with 2 if autogroups are off.  Needs python3.
[ "$(cat /proc/sys/kernel/sched_autogroup_enabled 2>/dev/null)" = 1 ] || {
	echo "autogroups are off"
	exit 2
}
exec python3 - <<'END'
import os
import sys
import time


def spin(nice, own_session):
    """A child that spins on the first processor of this process."""
    pid = os.fork()
    if pid == 0:
        if own_session:
            os.setsid()
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        os.nice(nice)
        while True:
            pass
    return pid


def used_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[11])


def share(own_session):
    """Processor time of nice 19 in that of nice 0, of at least two seconds together."""
    pids = [spin(0, own_session), spin(19, own_session)]
    while sum(map(used_ticks, pids)) < 200:
        time.sleep(0.1)
    ticks = [used_ticks(pid) for pid in pids]
    for pid in pids:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return ticks[1] / ticks[0]


together = share(False)
apart = share(True)
print(f"one session: nice 19 has {together:.2f} of the other's time")
print(f"two sessions: nice 19 has {apart:.2f} of the other's time")
if together > 0.2 or apart < 0.5:
    sys.exit("changed: nice does not count within a session alone")
END
