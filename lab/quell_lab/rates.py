# SPDX-License-Identifier: GPL-2.0
"""What a flow was handed, as a rate over time."""


def rate_steps(rows, window_ns, end_ns, finished):
    """[(time, Gbit/s)] of bytes so far per window, to be drawn as steps; 0 where nothing came."""
    line = []
    before_ns, before = None, 0
    for time_ns, count in [row for row in rows if row[0] <= end_ns + window_ns]:
        if before_ns is not None and time_ns - before_ns > window_ns:
            line += [(before_ns, 0), (time_ns - window_ns, 0)]
        line.append((time_ns - window_ns, (count - before) * 8 / window_ns))
        before_ns, before = time_ns, count
    if before_ns is not None:
        line.append((before_ns, 0 if finished else line[-1][1]))
    return line
