#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# port-storm.sh for KCSAN: frames come in on both processors.
#
#	race-port.sh [CHANGES [SEED]]

export PROCESSORS=3 CHANGES=${1:-600} SEED=${2:-1}
exec "$(dirname "$0")/port-storm.sh"
