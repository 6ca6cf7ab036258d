/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows of DCQCN's table of parameters, included into the tables of algorithms with DCQCN's
 * block at the beginning of their own.
 */
	DCQCN_PARAM("adapt", BOOL, adapt_bool, ADAPT_BOOL,
		    "Fit new flows to their path: start, target, fall-back."),
	DCQCN_PARAM("g", Q16, g_q16, G_Q16, "Weight of the newest period in alpha."),
	DCQCN_PARAM("notify-interval", NS, notify_interval_ns, NOTIFY_INTERVAL_NS,
		    "Marks within this time after a notification are part of it."),
	DCQCN_PARAM("alpha-timer", NS, alpha_timer_ns, ALPHA_TIMER_NS,
		    "Alpha decays once per such time without a notification."),
	DCQCN_PARAM("timer", NS, timer_ns, TIMER_NS, "The rate increases once per such time."),
	DCQCN_PARAM("byte-counter", BYTES, byte_counter_bytes, BYTE_COUNTER_BYTES,
		    "The rate also increases once per so many bytes."),
	DCQCN_PARAM("fast-recovery", NONE, fast_recovery_steps, FAST_RECOVERY_STEPS,
		    "Increases of either kind at which the target begins to grow."),
	DCQCN_PARAM("ai", BYTES_PS, ai_bytes_ps, AI_BYTES_PS,
		    "Growth of the target in an additive increase."),
	DCQCN_PARAM("hai", BYTES_PS, hai_bytes_ps, HAI_BYTES_PS,
		    "Growth of the target in a hyper increase."),
	DCQCN_PARAM("min-rate", BYTES_PS, min_rate_bytes_ps, MIN_RATE_BYTES_PS, "Smallest rate."),
	DCQCN_PARAM("queue-bound", NS, queue_bound_ns, QUEUE_BOUND_NS,
		    "Queueing delay the window leaves room for."),
	DCQCN_PARAM("max-window", BYTES, max_window_bytes, MAX_WINDOW_BYTES, "Largest window."),
	DCQCN_PARAM("restart-idle", NS, restart_idle_ns, RESTART_IDLE_NS,
		    "Idle time after which a flow starts anew; 0 is never."),
