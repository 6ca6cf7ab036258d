/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows of DCQCN's table of counters, included into the tables of algorithms with DCQCN's block
 * at the beginning of their own.
 */
	DCQCN_COUNTER("marked-bytes", marked_bytes, "Bytes acknowledged as marked CE."),
	DCQCN_COUNTER("notifications", notifications, "Rate cuts because of marks."),
	DCQCN_COUNTER("held", held, "ACKs with marks that were part of the last notification."),
	DCQCN_COUNTER("fast-recoveries", fast_recoveries, "Increases toward the target."),
	DCQCN_COUNTER("additive-increases", additive_increases,
		      "Increases beyond the target by ai."),
	DCQCN_COUNTER("hyper-increases", hyper_increases, "Increases beyond the target by hai."),
	DCQCN_COUNTER("forgone", forgone, "Periods of the timer not made up for after a silence."),
	DCQCN_COUNTER("losses", losses, "Cuts because of a fast retransmit."),
	DCQCN_COUNTER("rtos", rtos, "Retransmission timeouts."),
	DCQCN_COUNTER("restarts", restarts, "Starts at the link's rate after an idle time."),
