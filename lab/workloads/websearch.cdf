# SPDX-License-Identifier: GPL-2.0
# Flow sizes: bytes, and percent of flows of at most so many; straight between two lines.
# Web search: Alizadeh et al., DCTCP, SIGCOMM 2010.
# As published with HPCC: alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a,
# traffic_gen/WebSearch_distribution.txt.
0 0
10000 15
20000 20
30000 30
50000 40
80000 53
200000 60
1000000 70
2000000 80
5000000 90
10000000 97
30000000 100
