// SPDX-License-Identifier: GPL-2.0
/* Work items of a BH workqueue, and disabling them */
#include <linux/workqueue.h>

void quell_probe(struct work_struct *work);
void quell_probe(struct work_struct *work)
{
	queue_work(system_bh_wq, work);
	disable_work_sync(work);
	enable_work(work);
}
