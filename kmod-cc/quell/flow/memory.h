/* SPDX-License-Identifier: GPL-2.0 */
/* Memory charged to a socket's memory cgroup, and lists that rarely need heap memory. */
#ifndef _QUELL_MEMORY_H
#define _QUELL_MEMORY_H

#include <linux/types.h>

struct kmem_cache;
struct sock;

/* A short array of equal elements. */
struct quell_list {
	void	*at;	/* in the flow or on the heap */
	u16	nr;	/* elements */
	u16	room;	/* elements that fit at @at */
	bool	heap;	/* @at is on the heap */
};

void *quell_sock_alloc(const struct sock *sk, size_t bytes);
void *quell_sock_zalloc(const struct sock *sk, struct kmem_cache *cache);
void quell_list_init(struct quell_list *list, void *few, u32 room);
bool quell_list_make_room(struct quell_list *list, const struct sock *sk, u32 element_bytes,
			  u32 most);
void quell_list_shrink(struct quell_list *list, void *few, u32 room);

/* Free the heap memory of an empty list.  Lock of the list. */
static inline void quell_list_settle(struct quell_list *list, void *few, u32 room)
{
	if (list->heap && !list->nr)
		quell_list_shrink(list, few, room);
}

#endif /* _QUELL_MEMORY_H */
