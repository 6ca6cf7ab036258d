/* SPDX-License-Identifier: GPL-2.0 */
/* Events of a replay, requested by replay.c and trace.c, performed by replay.bpf.c. */
#ifndef _QUELL_BPF_REPLAY_H
#define _QUELL_BPF_REPLAY_H

enum replay_event {
	REPLAY_INIT,
	REPLAY_ACK,
	REPLAY_LOSS,
	REPLAY_RTO,
	REPLAY_IDLE,
	REPLAY_UNDO,
	REPLAY_EPISODE,			/* of losses or marks: the record of the last is void */
	REPLAY_REDUCTION,		/* the stack's own, without a loss */
	REPLAY_EVENTS,
};

/* Events of the core alone, without the fit to the path, for trace.c. */
enum replay_core_event {
	REPLAY_CORE = 100,
	REPLAY_CORE_INIT = REPLAY_CORE,
	REPLAY_CORE_ACK,
	REPLAY_CORE_LOSS,
	REPLAY_CORE_RTO,
	REPLAY_CORE_IDLE,
	REPLAY_CORE_UNDO,
};

#endif /* _QUELL_BPF_REPLAY_H */
