// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a flow beyond its context: allocated and freed on demand, and charged to the
 * memory cgroup of its socket.  A flow embeds room for the few elements that it usually
 * keeps; a list that outgrows this is on the heap until it is empty.
 */
#include <linux/percpu.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <compat/local_lock.h>
#include <compat/memcg.h>
#include "flow/memory.h"

#define LIST_ROOM_MIN	8U

/*
 * In softirqs the cgroup to charge is per CPU.  On PREEMPT_RT these preempt each other, and
 * one that restored the other's would leave it there.
 */
static DEFINE_PER_CPU(local_lock_t, memory_lock) = INIT_LOCAL_LOCK(memory_lock);

static noinline void *memory_alloc(const struct sock *sk, struct kmem_cache *cache, size_t bytes,
				   gfp_t gfp)
{
	struct mem_cgroup *before;
	void *memory;

	local_bh_disable();
	local_lock_nested_bh(&memory_lock);
	before = set_active_memcg(quell_sock_memcg(sk));
	memory = cache ? kmem_cache_zalloc(cache, gfp | __GFP_NOWARN) :
			 kmalloc(bytes, gfp | __GFP_NOWARN | __GFP_ACCOUNT);
	set_active_memcg(before);
	local_unlock_nested_bh(&memory_lock);
	local_bh_enable();
	return memory;
}

/**
 * quell_sock_alloc() - allocate memory that is charged to a socket's cgroup, in softirq too
 * @sk:    the socket
 * @bytes: above PAGE_ALLOC_COSTLY_ORDER pages the atomic reserves are left alone
 * Context: any but hard interrupts.
 * Return: memory for kfree(), not cleared; NULL: memory is short.
 */
void *quell_sock_alloc(const struct sock *sk, size_t bytes)
{
	return memory_alloc(sk, NULL, bytes, bytes > PAGE_SIZE << PAGE_ALLOC_COSTLY_ORDER ?
					     GFP_NOWAIT : GFP_ATOMIC);
}
EXPORT_SYMBOL_GPL(quell_sock_alloc);

/*
 * All zero, for kmem_cache_free(); NULL: memory is short.  A passive connection has no cgroup
 * before accept().  Not in hard interrupts.
 */
void *quell_sock_zalloc(const struct sock *sk, struct kmem_cache *cache)
{
	return memory_alloc(sk, cache, 0, GFP_ATOMIC);
}

void quell_list_init(struct quell_list *list, void *few, u32 room)
{
	list->at = few;
	list->nr = 0;
	list->room = room;
	list->heap = false;
}

/* For a full list; false: it has room for @most already, or memory is short. */
static bool list_grow(struct quell_list *list, const struct sock *sk, u32 element_bytes, u32 most)
{
	u32 room = min(max(2U * list->room, LIST_ROOM_MIN), most);
	void *at;

	if (list->room >= most)
		return false;
	at = quell_sock_alloc(sk, (size_t)room * element_bytes);
	if (!at)
		return false;
	memcpy(at, list->at, (size_t)list->nr * element_bytes);
	if (list->heap)
		kfree(list->at);
	list->at = at;
	list->room = room;
	list->heap = true;
	return true;
}

/* For a full list; false: the oldest element was dropped.  Lock of the list. */
bool quell_list_make_room(struct quell_list *list, const struct sock *sk, u32 element_bytes,
			  u32 most)
{
	if (list_grow(list, sk, element_bytes, most))
		return true;
	WRITE_ONCE(list->nr, list->nr - 1);
	memmove(list->at, list->at + element_bytes, list->nr * element_bytes);
	return false;
}

/* For quell_list_settle(). */
void quell_list_shrink(struct quell_list *list, void *few, u32 room)
{
	kfree(list->at);
	quell_list_init(list, few, room);
}
