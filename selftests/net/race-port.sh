#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# port-storm.sh for KCSAN: frames come in on both processors.
#
#	race-port.sh [SECONDS [SEED]]
#
# At a rate at which frames queue there.

export RATE=100kbit PROCESSORS=3 CHANGES=1000000 STORM_S=${1:-60} SEED=${2:-1}
exec "$(dirname "$0")/port-storm.sh"
