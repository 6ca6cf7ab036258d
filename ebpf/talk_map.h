/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The storage of sockets that speak the Quell option.  The program of option.bpf.c writes it and
 * the algorithms' programs read it: who loads the objects gives all of them one map.  Without that
 * (bpftool) an algorithm has a map in which no socket is, and the signals that TCP has.
 */
#ifndef _QUELL_EBPF_TALK_MAP_H
#define _QUELL_EBPF_TALK_MAP_H

#include "talk.h"

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct quell_talk);
} quell_options SEC(".maps");

#endif /* _QUELL_EBPF_TALK_MAP_H */
