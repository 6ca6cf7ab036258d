// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labflow: TCP flows between namespaces, timed to the ns, for the
 * laboratory.
 *
 * Directory quell_labflow in debugfs:
 *
 *	control		write one command a line:
 *	  flow ID SRC_FD DST_FD DADDR DPORT BYTES START_NS warm|cold STOP_NS DSCP AFTER_ID ON_ID
 *	       QUEUED_BYTES WAKE_NS
 *	  watch FD NODE DEV		sample the root qdisc of that device
 *	  sample QUEUE_NS FLOW_NS DELIVERED_NS	intervals, 0: off
 *	  truth				compare quell.ko's round trips with the wire's
 *	  step FD DEV AT_NS STEP_NS	step the clock of that device
 *	  until NS			time limit, counted from T0; 0: none
 *	  run [open]			connect, warm up, choose T0; returns before T0
 *	  finish			end it; an open one does not end with its flows
 *	  stop				close all sockets
 *	  wait				sleep until the network of a part has stopped
 *	  clear				delete flows, watches and results
 *	state		"STATE T0_NS NOW_NS END_NS DONE TOTAL", times absolute,
 *			then the error on a line of its own
 *	flows marks queues cwnd delivered dart pauses truth	results, one row a line; times
 *			from T0
 *
 * *_FD are descriptors of namespaces, of the process that writes.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/inet_dscp.h>
#include <net/tcp.h>

#include "labflow.h"

#define LABFLOW_LINE_MAX	256
#define LABFLOW_WATCHES_MAX	65536

static struct dentry *labflow_dir;

static const char * const labflow_state_names[] = {
	[LABFLOW_IDLE]		= "idle",
	[LABFLOW_RUNNING]	= "running",
	[LABFLOW_DONE]		= "done",
	[LABFLOW_TIMEOUT]	= "timeout",
	[LABFLOW_FAILED]	= "failed",
};

/* Make room for one more pointer; arrays grow by doubling. */
static int labflow_grow(void ***array, u32 count)
{
	void **bigger;

	if (count & (count - 1))
		return 0;
	bigger = kvcalloc(count ? 2 * count : 1, sizeof(*bigger), GFP_KERNEL);
	if (!bigger)
		return -ENOMEM;
	if (count)
		memcpy(bigger, *array, count * sizeof(*bigger));
	kvfree(*array);
	*array = bigger;
	return 0;
}

static void labflow_flow_free(struct labflow_flow *flow)
{
	if (flow->src_net)
		put_net(flow->src_net);
	if (flow->dst_net)
		put_net(flow->dst_net);
	kvfree(flow->sent);
	kfree(flow);
}

static int labflow_flow_nets(struct labflow_flow *flow, int src_fd, int dst_fd)
{
	struct net *net = get_net_ns_by_fd(src_fd);

	if (IS_ERR(net))
		return PTR_ERR(net);
	flow->src_net = net;
	net = get_net_ns_by_fd(dst_fd);
	if (IS_ERR(net))
		return PTR_ERR(net);
	flow->dst_net = net;
	/* Of a network in parts, - stands for a host in another one. */
	flow->is_sender = !lab.is_part || flow->src_net != &init_net;
	flow->is_receiver = !lab.is_part || flow->dst_net != &init_net;
	return 0;
}

static bool labflow_set_daddr(struct labflow_flow *flow, const char *addr, u16 port)
{
	union labflow_addr *to = &flow->daddr;

	if (in4_pton(addr, -1, (u8 *)&to->in4.sin_addr, -1, NULL)) {
		to->in4.sin_family = AF_INET;
		to->in4.sin_port = htons(port);
		return true;
	}
	to->in6.sin6_family = AF_INET6;
	to->in6.sin6_port = htons(port);
	return in6_pton(addr, -1, to->in6.sin6_addr.s6_addr, -1, NULL);
}

static int labflow_cmd_flow(const char *args)
{
	struct labflow_flow *flow;
	int src_fd, dst_fd, err;
	char addr[46], temp[5];
	unsigned int dport, dscp;

	if (lab.n_flows >= LABFLOW_FLOWS_MAX)
		return -E2BIG;
	flow = kzalloc(sizeof(*flow), GFP_KERNEL);
	if (!flow)
		return -ENOMEM;
	err = -EINVAL;
	if (sscanf(args, "%u %d %d %45s %u %llu %llu %4s %llu %u %u %u %u %u", &flow->id, &src_fd,
		   &dst_fd, addr, &dport, &flow->bytes, &flow->start_ns,
		   temp, &flow->stop_ns, &dscp, &flow->after_id, &flow->on_id,
		   &flow->queued_bytes, &flow->wake_ns) != 14)
		goto free_flow;
	if (!labflow_set_daddr(flow, addr, dport) || !dport ||
	    dport >= LABFLOW_SPORT_BASE || !flow->bytes)
		goto free_flow;
	if (strcmp(temp, "warm") && strcmp(temp, "cold"))
		goto free_flow;
	if (flow->stop_ns && (flow->after_id || flow->stop_ns <= flow->start_ns))
		goto free_flow;
	if (dscp > INET_DSCP_MASK >> LABFLOW_DSCP_SHIFT)
		goto free_flow;
	flow->dscp = dscp;
	flow->warm = temp[0] == 'w';
	flow->dport = dport;
	flow->index = lab.n_flows;
	err = labflow_flow_nets(flow, src_fd, dst_fd);
	if (err)
		goto free_flow;
	err = labflow_grow((void ***)&lab.flows, lab.n_flows);
	if (err)
		goto free_flow;
	lab.flows[lab.n_flows++] = flow;
	return 0;

free_flow:
	labflow_flow_free(flow);
	return err;
}

static int labflow_cmd_watch(const char *args)
{
	char node[64], name[IFNAMSIZ];
	struct labflow_watch *watch;
	struct net *net;
	int fd, err;

	if (sscanf(args, "%d %63s %15s", &fd, node, name) != 3)
		return -EINVAL;
	if (lab.n_watches >= LABFLOW_WATCHES_MAX)
		return -E2BIG;
	net = get_net_ns_by_fd(fd);
	if (IS_ERR(net))
		return PTR_ERR(net);
	watch = kzalloc(sizeof(*watch), GFP_KERNEL);
	err = watch ? labflow_grow((void ***)&lab.watches, lab.n_watches) : -ENOMEM;
	if (err)
		goto free_watch;
	err = -ENODEV;
	watch->dev = netdev_get_by_name(net, name, &watch->tracker, GFP_KERNEL);
	if (!watch->dev)
		goto free_watch;
	snprintf(watch->label, sizeof(watch->label), "%s %s", node, name);
	lab.watches[lab.n_watches++] = watch;
	put_net(net);
	return 0;

free_watch:
	kfree(watch);
	put_net(net);
	return err;
}

static int labflow_cmd_sample(const char *args)
{
	u64 queue_ns, flow_ns, delivered_ns;

	if (sscanf(args, "%llu %llu %llu", &queue_ns, &flow_ns,
		   &delivered_ns) != 3)
		return -EINVAL;
	lab.queue.interval_ns = queue_ns;
	lab.cwnd.interval_ns = flow_ns;
	lab.delivered.interval_ns = delivered_ns;
	return 0;
}

static int labflow_cmd_truth(const char *args)
{
	lab.want_truth = true;
	return 0;
}

/* step NETNS-FD DEV AT STEP */
static int labflow_cmd_step(const char *args)
{
	char name[IFNAMSIZ];
	struct net *net;
	int fd;

	if (lab.step.dev)
		return -EEXIST;
	if (sscanf(args, "%d %15s %llu %lld", &fd, name, &lab.step.at_ns,
		   &lab.step.step_ns) != 4)
		return -EINVAL;
	net = get_net_ns_by_fd(fd);
	if (IS_ERR(net))
		return PTR_ERR(net);
	lab.step.dev = netdev_get_by_name(net, name, &lab.step.tracker, GFP_KERNEL);
	put_net(net);
	return lab.step.dev ? 0 : -ENODEV;
}

static int labflow_cmd_finish(const char *args)
{
	labflow_finish(LABFLOW_DONE);
	return 0;
}

static int labflow_cmd_run(const char *args)
{
	return labflow_run_start(!strcmp(args, "open"));
}

static int labflow_cmd_until(const char *args)
{
	return kstrtou64(args, 0, &lab.until_ns);
}

static void labflow_clear(void)
{
	u32 i;

	labflow_run_stop();
	for (i = 0; i < lab.n_flows; i++)
		labflow_flow_free(lab.flows[i]);
	kvfree(lab.flows);
	for (i = 0; i < lab.n_watches; i++) {
		netdev_put(lab.watches[i]->dev, &lab.watches[i]->tracker);
		kfree(lab.watches[i]);
	}
	kvfree(lab.watches);
	labflow_sample_reset();
	labflow_truth_reset();
	lab.flows = NULL;
	lab.n_flows = 0;
	lab.watches = NULL;
	lab.n_watches = 0;
	lab.until_ns = 0;
	lab.error[0] = '\0';
	lab.state = LABFLOW_IDLE;
}

static int labflow_cmd_stop(const char *args)
{
	labflow_run_stop();
	return 0;
}

/* Returns when the network of a part has stopped. */
static int labflow_cmd_wait(const char *args)
{
	return labflow_part_wait();
}

static int labflow_cmd_clear(const char *args)
{
	labflow_clear();
	return 0;
}

static const struct {
	const char *name;
	bool idle_only;
	int (*handler)(const char *args);
} labflow_commands[] = {
	{ "flow",	true,	labflow_cmd_flow },
	{ "watch",	true,	labflow_cmd_watch },
	{ "sample",	true,	labflow_cmd_sample },
	{ "truth",	true,	labflow_cmd_truth },
	{ "step",	true,	labflow_cmd_step },
	{ "until",	true,	labflow_cmd_until },
	{ "run",	true,	labflow_cmd_run },
	{ "finish",	false,	labflow_cmd_finish },
	{ "stop",	false,	labflow_cmd_stop },
	{ "wait",	false,	labflow_cmd_wait },
	{ "clear",	false,	labflow_cmd_clear },
};

static int labflow_command(char *line)
{
	char *name = strsep(&line, " ");
	int i;

	for (i = 0; i < ARRAY_SIZE(labflow_commands); i++) {
		if (strcmp(name, labflow_commands[i].name))
			continue;
		if (labflow_commands[i].idle_only && lab.state != LABFLOW_IDLE)
			return -EBUSY;
		return labflow_commands[i].handler(line ?: "");
	}
	return -EINVAL;
}

static ssize_t labflow_control_write(struct file *file, const char __user *from,
				     size_t count, loff_t *pos)
{
	char line[LABFLOW_LINE_MAX];
	int err;

	if (!count || count >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, count))
		return -EFAULT;
	line[count] = '\0';
	mutex_lock(&lab.mutex);
	err = labflow_command(strim(line));
	mutex_unlock(&lab.mutex);
	return err ?: count;
}

static const struct file_operations labflow_control_fops = {
	.owner	= THIS_MODULE,
	.write	= labflow_control_write,
};

static int labflow_state_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "%s %llu %llu %llu %u %u\n%s\n",
		   labflow_state_names[lab.state], lab.t0_ns, ktime_get_ns(),
		   lab.end_ns, lab.n_done, lab.n_flows, lab.error);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(labflow_state);

static int labflow_queue_show(struct seq_file *seq, void *v)
{
	const struct labflow_queue_row *row = v;

	seq_printf(seq, "%s %llu %u\n", lab.watches[row->watch]->label,
		   row->time_ns, row->backlog_bytes);
	return 0;
}

static int labflow_cwnd_show(struct seq_file *seq, void *v)
{
	const struct labflow_cwnd_row *row = v;

	seq_printf(seq, "%u %llu %llu %llu %llu %u\n", lab.flows[row->flow]->id,
		   row->time_ns, row->cwnd_bytes, row->pacing_bytes_ps,
		   row->rtt_ns, row->hop);
	return 0;
}

static int labflow_dart_show(struct seq_file *seq, void *v)
{
	const struct labflow_dart_row *row = v;

	seq_printf(seq, "%u %llu ", lab.flows[row->flow]->id, row->time_ns);
	if (row->end != LABFLOW_DART_SENDER)
		seq_printf(seq, "%u %u ", row->value.state, row->value.counted_q8);
	else
		seq_puts(seq, "- - ");
	if (row->end != LABFLOW_DART_RECEIVER && row->value.is_sending)
		seq_printf(seq, "%u %u\n", row->value.reported_q8, row->value.limiter);
	else
		seq_puts(seq, "- -\n");
	return 0;
}

static int labflow_pause_show(struct seq_file *seq, void *v)
{
	const struct labflow_pause_row *row = v;

	seq_printf(seq, "%s %llu %u %u\n", row->port, row->time_ns, row->priority, row->paused);
	return 0;
}

static int labflow_truth_show(struct seq_file *seq, void *v)
{
	const struct labflow_truth_row *row = v;

	seq_printf(seq, "%u %llu %u %llu %llu %llu %llu\n", lab.flows[row->flow]->id,
		   row->time_ns, row->clock, row->rtt_ns, row->hold_ns,
		   row->true_rtt_ns, row->true_hold_ns);
	return 0;
}

static int labflow_delivered_show(struct seq_file *seq, void *v)
{
	const struct labflow_delivered_row *row = v;

	seq_printf(seq, "%u %llu %llu\n", lab.flows[row->flow]->id, row->time_ns,
		   row->bytes);
	return 0;
}

static int labflow_flows_show(struct seq_file *seq, void *v)
{
	const struct labflow_flow *flow = v;
	const struct labflow_flow *connection = flow->connection ?: flow;
	u32 retrans_segs = 0, segs_out = 0;

	if (flow->sock && flow->started) {
		const struct tcp_sock *tp = tcp_sk(flow->sock->sk);

		retrans_segs = tp->total_retrans - flow->base_retrans_segs;
		segs_out = tp->segs_out - flow->base_segs_out;
	}
	seq_printf(seq, "%u %lld %lld %llu %llu %u %u\n", flow->id,
		   flow->after_id && !flow->is_due ? -1LL : (s64)flow->start_ns,
		   flow->end_ns ? (s64)(flow->end_ns - lab.t0_ns) : -1LL,
		   labflow_message_part(flow, connection->pushed_bytes),
		   labflow_message_part(flow, connection->delivered_bytes),
		   retrans_segs, segs_out);
	return 0;
}

/* A results file. */
static const struct labflow_table {
	const char		*name;	/* its name in debugfs */
	int			(*show)(struct seq_file *seq, void *row);
	struct labflow_rows	*rows;	/* its samples; NULL: a row per flow */
} labflow_tables[] = {
	{ "flows",	labflow_flows_show,	NULL },
	{ "marks",	labflow_marks_show,	NULL },
	{ "governed",	labflow_governed_show,	NULL },
	{ "queues",	labflow_queue_show,	&lab.queue.rows },
	{ "cwnd",	labflow_cwnd_show,	&lab.cwnd.rows },
	{ "delivered",	labflow_delivered_show,	&lab.delivered.rows },
	{ "dart",	labflow_dart_show,	&lab.dart },
	{ "pauses",	labflow_pause_show,	&lab.pauses },
	{ "truth",	labflow_truth_show,	&lab.truth },
};

static void *labflow_seq_row(const struct seq_file *seq, loff_t pos)
{
	const struct labflow_table *table = seq->private;

	if (table->rows)
		return (void *)labflow_rows_get(table->rows, pos);
	return pos < lab.n_flows ? lab.flows[pos] : NULL;
}

/* The row number *pos is the only state a seq_file keeps. */
static void *labflow_seq_start(struct seq_file *seq, loff_t *pos)
{
	mutex_lock(&lab.mutex);
	return labflow_seq_row(seq, *pos);
}

static void *labflow_seq_next(struct seq_file *seq, void *row, loff_t *pos)
{
	return labflow_seq_row(seq, ++*pos);
}

static void labflow_seq_stop(struct seq_file *seq, void *row)
{
	mutex_unlock(&lab.mutex);
}

static int labflow_seq_show(struct seq_file *seq, void *row)
{
	const struct labflow_table *table = seq->private;

	return table->show(seq, row);
}

static const struct seq_operations labflow_seq = {
	.start	= labflow_seq_start,
	.next	= labflow_seq_next,
	.stop	= labflow_seq_stop,
	.show	= labflow_seq_show,
};

static int labflow_table_open(struct inode *inode, struct file *file)
{
	int err = seq_open(file, &labflow_seq);

	if (!err)
		((struct seq_file *)file->private_data)->private = inode->i_private;
	return err;
}

static const struct file_operations labflow_table_fops = {
	.owner		= THIS_MODULE,
	.open		= labflow_table_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release,
};

static int __init labflow_module_init(void)
{
	int err, i;

	err = labflow_sock_init();
	if (err)
		return err;
	err = labflow_sample_init();
	if (err) {
		labflow_sock_exit();
		return err;
	}
	err = labflow_truth_init();
	if (err) {
		labflow_sample_exit();
		labflow_sock_exit();
		return err;
	}
	labflow_run_init();
	labflow_part_init();
	labflow_dir = debugfs_create_dir("quell_labflow", NULL);
	debugfs_create_file("control", 0200, labflow_dir, NULL,
			    &labflow_control_fops);
	debugfs_create_file("state", 0400, labflow_dir, NULL,
			    &labflow_state_fops);
	for (i = 0; i < ARRAY_SIZE(labflow_tables); i++)
		debugfs_create_file(labflow_tables[i].name, 0400, labflow_dir,
				    (void *)&labflow_tables[i],
				    &labflow_table_fops);
	return 0;
}
module_init(labflow_module_init);

static void __exit labflow_module_exit(void)
{
	debugfs_remove(labflow_dir);
	labflow_clear();
	labflow_truth_exit();
	labflow_sample_exit();
	labflow_sock_exit();
}
module_exit(labflow_module_exit);

MODULE_DESCRIPTION("Flow generator of the Quell laboratory");
MODULE_AUTHOR("The Quell authors");
MODULE_LICENSE("GPL");
