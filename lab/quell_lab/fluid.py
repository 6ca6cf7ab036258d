# SPDX-License-Identifier: GPL-2.0
"""
The fluid model of VAI/SF, section IV-B: two flows that decrease, by round trips or by packets.

	R' = -beta R / r		once per round trip r
	S' = -beta S^2 / (s MTU)	once per s packets of MTU bytes

Rates are in bytes per nanosecond, times in nanoseconds.
"""

import math

FIGURE = "VAI/SF Figure 4"

GBIT_BYTES_PNS = 1 / 8
# Those of Figure 4.
BETA = 0.5
RTT_NS = 30000
PACKETS = 30
MTU_BYTES = 1000
FIRST = (100 * GBIT_BYTES_PNS, 50 * GBIT_BYTES_PNS)
END_NS = 200000
POINTS = 500


def by_rtt(first, time_ns, rtt_ns=RTT_NS, beta=BETA):
    """R(time) of a flow that begins with R(0) = first."""
    return first * math.exp(-beta * time_ns / rtt_ns)


def by_packets(first, time_ns, packets=PACKETS, mtu_bytes=MTU_BYTES, beta=BETA):
    """S(time) of a flow that begins with S(0) = first."""
    return 1 / (1 / first + beta * time_ns / (packets * mtu_bytes))


def lead(time_ns):
    """How much nearer to each other the flows are that decrease by packets: (2)."""
    high, low = FIRST
    return ((by_rtt(high, time_ns) - by_rtt(low, time_ns))
            - (by_packets(high, time_ns) - by_packets(low, time_ns)))


def make():
    """The Chart of Figure 4, in Gbit/s where the paper has bytes per nanosecond."""
    from . import chart
    times = [END_NS * point / POINTS for point in range(POINTS + 1)]
    line = chart.Line([time / 1000 for time in times],
                      [lead(time) / GBIT_BYTES_PNS for time in times], "line",
                      look={"color": chart.COLOURS[0]})
    return chart.Chart(FIGURE, [chart.Facet([line], chart.time_axis(END_NS / 1000),
                                            chart.Axis("Fairness difference (Gbit/s)"))])
