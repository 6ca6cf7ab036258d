/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory charged to a socket's memory cgroup, and lists that usually need no heap memory.
 */
#ifndef _QUELL_MEMORY_H
#define _QUELL_MEMORY_H

#include <linux/types.h>

struct kmem_cache;
struct sock;

/**
 * struct quell_list - a short list of equal elements, in one piece
 * @at:		the elements: at @few, or on the heap while there are more
 * @few:	room for a few elements, in the flow
 * @nr:		number of elements
 * @room:	number of elements that fit at @at
 */
struct quell_list {
	void	*at;
	void	*few;
	u16	nr;
	u16	room;
};

/* memory.c */
void *quell_sock_alloc(const struct sock *sk, size_t bytes);
void *quell_sock_zalloc(const struct sock *sk, struct kmem_cache *cache);
void quell_list_init(struct quell_list *list, void *few, u32 room);
void quell_list_free(struct quell_list *list);
bool quell_list_grow(struct quell_list *list, const struct sock *sk, u32 element_bytes,
		     u32 most);
void quell_list_settle(struct quell_list *list, u32 room);

#endif /* _QUELL_MEMORY_H */
