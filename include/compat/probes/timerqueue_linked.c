// SPDX-License-Identifier: GPL-2.0
/* Timers of a base are in a queue of linked nodes */
#include <linux/timerqueue.h>

struct timerqueue_linked_node *quell_probe(struct timerqueue_linked_head *head);
struct timerqueue_linked_node *quell_probe(struct timerqueue_linked_head *head)
{
	return timerqueue_linked_first(head);
}
