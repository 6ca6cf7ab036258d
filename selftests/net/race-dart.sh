#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dart-churn.sh for KCSAN: data comes in on both processors.
#
#	race-dart.sh [CHANGES [SEED]]

export PROCESSORS=3 CHANGES=${1:-400} SEED=${2:-1}
exec "$(dirname "$0")/dart-churn.sh"
