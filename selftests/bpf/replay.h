/* SPDX-License-Identifier: GPL-2.0 */
/* Events of a replay: what replay.c asks for, and replay.bpf.c performs. */
#ifndef _QUELL_BPF_REPLAY_H
#define _QUELL_BPF_REPLAY_H

enum replay_event {
	REPLAY_INIT,
	REPLAY_ACK,
	REPLAY_LOSS,
	REPLAY_RTO,
	REPLAY_IDLE,
	REPLAY_UNDO,
	REPLAY_EPISODE,			/* of losses or marks: what is recorded of the last is void */
	REPLAY_REDUCTION,		/* the stack's own, without a loss */
	REPLAY_EVENTS,
};

#endif /* _QUELL_BPF_REPLAY_H */
