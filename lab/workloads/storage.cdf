# SPDX-License-Identifier: GPL-2.0
# Flow sizes: bytes, and percent of flows of at most so many; straight between two lines.
# Storage at Alibaba: Li et al., HPCC, SIGCOMM 2019.
# As published with HPCC: alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a,
# traffic_gen/AliStorage2019.txt.
0 0
4000 22.93
8000 69.21
16000 80.61
32000 90.47
64000 93.53
128000 96.77
256000 97.53
2000000 100
