// SPDX-License-Identifier: GPL-2.0
/*
 * The laboratory kernel's queue of timers beside a list that is sorted by hand.
 *
 * usage: timer_queue SEED STEPS
 *
 * Adds and takes away timers at random, as a network does, and after each step asks for the
 * next one: the earliest, and of equal times the one that was added first.  The timers
 * read beforehand must follow, too.  Prints "STEPS N ties N far N past N"; or the first
 * step that differs, and exits with 1.
 *
 * lib/timerqueue.c and lib/rbtree.c are the patched kernel's own.  Their needs of other
 * headers are below; the check that builds this puts empty files in their place.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
typedef s64 ktime_t;

#define BITS_PER_LONG		64
#define EXPORT_SYMBOL(name)
#define EXPORT_SYMBOL_GPL(name)
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))
#define rcu_assign_pointer(p, value) ((p) = (value))
#define rcu_dereference_raw(p)	(p)
#define unlikely(x)		(x)
#define WARN_ON_ONCE(x)		((x) ? abort() : (void)0)
#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

static void __set_bit(unsigned long bit, unsigned long *words)
{
	words[bit / BITS_PER_LONG] |= 1UL << bit % BITS_PER_LONG;
}

static void __clear_bit(unsigned long bit, unsigned long *words)
{
	words[bit / BITS_PER_LONG] &= ~(1UL << bit % BITS_PER_LONG);
}

static unsigned long __ffs(unsigned long word)
{
	return __builtin_ctzl(word);
}

static unsigned long find_next_bit(const unsigned long *words, unsigned long size,
				   unsigned long bit)
{
	while (bit < size && !(words[bit / BITS_PER_LONG] >> bit % BITS_PER_LONG & 1))
		bit++;
	return bit < size ? bit : size;
}

static unsigned long find_first_bit(const unsigned long *words, unsigned long size)
{
	return find_next_bit(words, size, 0);
}

#include "lib/rbtree.c"
#include "lib/timerqueue.c"

#ifdef IS_LINKED	/* Linux 7.3 has its timers in queues of this kind */
#define timerqueue_node		timerqueue_linked_node
#define timerqueue_head		timerqueue_linked_head
#define timerqueue_init		timerqueue_linked_init
#define timerqueue_init_head	timerqueue_linked_init_head
#define timerqueue_node_queued	timerqueue_linked_node_queued
#define timerqueue_getnext	timerqueue_linked_first
#define timerqueue_add		timerqueue_linked_add
#define timerqueue_del		timerqueue_linked_del

static bool wheel_has(const struct timerqueue_linked_node *node)
{
	return node->node.node.__rb_parent_color == IN_WHEEL;
}
#endif

#define TIMERS		3000
#define REACH_NS	65536

static struct timer {
	struct timerqueue_node	node;
	unsigned long		added;
	bool			is_queued;
} timers[TIMERS];

static struct timerqueue_head queue;
static unsigned long random_state, added, ties, far, past;
static s64 now_ns = 1000000000, reached_ns;

static unsigned long draw(unsigned long below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

/* Mostly within some us, often at a time that others have, now and then far off or past. */
static s64 draw_ns(void)
{
	switch (draw(100)) {
	case 0 ... 9:	return now_ns;
	case 10 ... 59:	return now_ns + draw(50);
	case 60 ... 84:	return now_ns + draw(2000);
	case 85 ... 92:	return now_ns + REACH_NS - 20 + draw(40);
	case 93 ... 97:	far++; return now_ns + draw(1000000000);
	case 98:	past++; return now_ns - draw(1000);
	default:	far++; return now_ns + draw(200) * REACH_NS;
	}
}

/* The first one after @before, or NULL. */
static struct timer *find_next(const struct timer *before)
{
	struct timer *first = NULL;
	int i;

	for (i = 0; i < TIMERS; i++) {
		struct timer *timer = &timers[i];

		if (!timer->is_queued)
			continue;
		if (before && (timer->node.expires < before->node.expires ||
			       (timer->node.expires == before->node.expires &&
				timer->added <= before->added)))
			continue;
		if (!first || timer->node.expires < first->node.expires ||
		    (timer->node.expires == first->node.expires && timer->added < first->added))
			first = timer;
	}
	return first;
}

static void fail(unsigned long step, const char *what)
{
	printf("step %lu: %s\n", step, what);
	exit(1);
}

static void add(struct timer *timer, unsigned long step)
{
	bool is_first;
	s64 ahead_ns;

	timer->node.expires = draw_ns();
	timer->added = ++added;
	is_first = timerqueue_add(&queue, &timer->node);
	timer->is_queued = true;
	ahead_ns = timer->node.expires - reached_ns;
	if (wheel_has(&timer->node) != (ahead_ns > 0 && ahead_ns < REACH_NS))
		fail(step, "a near timer is in the tree, or another in the wheel");
	if (is_first != (find_next(NULL) == timer))
		fail(step, "timerqueue_add() is wrong of whether it is the first");
}

static void take(struct timer *timer, unsigned long step)
{
	bool has_more = timerqueue_del(&queue, &timer->node);

	timer->is_queued = false;
	if (timerqueue_node_queued(&timer->node))
		fail(step, "a timer that was taken away is queued");
	if (has_more != !!find_next(NULL))
		fail(step, "timerqueue_del() is wrong of whether there are more");
}

/* As the softirq of timers does once all that are due have fired. */
static void reach(void)
{
	const struct timer *next = find_next(NULL);

	if (next && next->node.expires <= now_ns)
		return;
	timerqueue_reach(&queue, now_ns);
	reached_ns = now_ns;
}

/* Timers that a driver may read follow each other in the wheel. */
static void check_upcoming(struct timer *next, unsigned long step)
{
	struct timerqueue_node *seen = timerqueue_upcoming(&queue, NULL);
	int i;

	if (!seen || seen != &next->node)
		return;		/* the next one is in the tree */
	for (i = 0; i < 3 && seen; i++) {
		const struct timer *timer = container_of(seen, struct timer, node);

		if (!timer->is_queued)
			fail(step, "an upcoming timer is not queued");
		seen = timerqueue_upcoming(&queue, seen);
		if (seen && seen->expires < timer->node.expires)
			fail(step, "upcoming timers are out of order");
		if (seen && seen->expires == timer->node.expires)
			ties++;
	}
}

int main(int argc, char **argv)
{
	unsigned long steps, step;

	if (argc != 3)
		return 2;
	random_state = strtoul(argv[1], NULL, 10) * 2654435761u + 1;
	steps = strtoul(argv[2], NULL, 10);
	timerqueue_init_head(&queue);
	timerqueue_use_wheel(&queue);
	for (step = 0; step < TIMERS; step++)
		timerqueue_init(&timers[step].node);
	for (step = 0; step < steps; step++) {
		struct timer *timer = &timers[draw(TIMERS)], *next = find_next(NULL);

		if (timerqueue_getnext(&queue) != (next ? &next->node : NULL))
			fail(step, "the next timer is another");
		if (next)
			check_upcoming(next, step);
		if (next && draw(5) < 2) {
			if (next->node.expires > now_ns)
				now_ns = next->node.expires;
			take(next, step);
			if (draw(3))
				add(next, step);
			reach();
		} else if (!timer->is_queued) {
			add(timer, step);
		} else if (!draw(3)) {
			take(timer, step);
		}
	}
	printf("steps %lu ties %lu far %lu past %lu\n", steps, ties, far, past);
	return 0;
}
