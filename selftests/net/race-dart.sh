#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dart-churn.sh for KCSAN: data comes in on both processors.
#
#	race-dart.sh [SECONDS [SEED]]
#
# At a tenth of the rate: packets leave time for the changes there.

export RATE=2mbit PROCESSORS=3 CHANGES=1000000 STORM_S=${1:-60} SEED=${2:-1}
exec "$(dirname "$0")/dart-churn.sh"
