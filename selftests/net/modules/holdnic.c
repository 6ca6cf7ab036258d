// SPDX-License-Identifier: GPL-2.0
/*
 * quell_holdnic: a NIC with two transmit queues, or queues=1, and byte queue limits, which sends
 * its packets on command.  No device that the tests' kernels have holds packets by
 * count.
 *
 *	echo N > /sys/module/quell_holdnic/parameters/send
 *
 * sends the N oldest packets of each queue.  Its cable leads back to itself.  ethtool -L changes
 * the number of queues; packets of a removed queue are lost, as with real ones.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/module.h>

#define HOLDNIC_QUEUES	2

static ushort queues = HOLDNIC_QUEUES;
module_param(queues, ushort, 0444);
MODULE_PARM_DESC(queues, "transmit queues, at most two");

static struct net_device *holdnic_dev;
/* Packets that each queue has taken; the queue's transmit lock. */
static struct sk_buff_head holdnic_held[HOLDNIC_QUEUES];

static netdev_tx_t holdnic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	u16 queue = skb_get_queue_mapping(skb);

	__skb_queue_tail(&holdnic_held[queue], skb);
	netdev_tx_sent_queue(netdev_get_tx_queue(dev, queue), skb->len);
	return NETDEV_TX_OK;
}

static void holdnic_send(u16 queue, unsigned int pkts)
{
	struct netdev_queue *txq = netdev_get_tx_queue(holdnic_dev, queue);
	unsigned int sent_pkts = 0, sent_bytes = 0;
	struct sk_buff *skb;

	__netif_tx_lock_bh(txq);
	while (sent_pkts < pkts && (skb = __skb_dequeue(&holdnic_held[queue]))) {
		sent_pkts++;
		sent_bytes += skb->len;
		dev_forward_skb(holdnic_dev, skb);
	}
	netdev_tx_completed_queue(txq, sent_pkts, sent_bytes);
	__netif_tx_unlock_bh(txq);
}

static int holdnic_set_send(const char *value, const struct kernel_param *kp)
{
	unsigned int pkts;
	u16 queue;
	int err;

	err = kstrtouint(value, 0, &pkts);
	if (err)
		return err;
	if (!holdnic_dev)
		return -ENODEV;
	for (queue = 0; queue < queues; queue++)
		holdnic_send(queue, pkts);
	return 0;
}

static const struct kernel_param_ops holdnic_send_ops = {
	.set = holdnic_set_send,
};

/* Queues from @first on are empty from here on. */
static void holdnic_forget(struct net_device *dev, u16 first)
{
	u16 queue;

	for (queue = first; queue < queues; queue++) {
		struct netdev_queue *txq = netdev_get_tx_queue(dev, queue);

		__netif_tx_lock_bh(txq);
		__skb_queue_purge(&holdnic_held[queue]);
		netdev_tx_reset_queue(txq);
		__netif_tx_unlock_bh(txq);
	}
}

/* Down it holds no packet. */
static int holdnic_stop(struct net_device *dev)
{
	holdnic_forget(dev, 0);
	return 0;
}

static const struct net_device_ops holdnic_ops = {
	.ndo_start_xmit		= holdnic_xmit,
	.ndo_stop		= holdnic_stop,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
};

static int holdnic_get_link_ksettings(struct net_device *dev,
				      struct ethtool_link_ksettings *settings)
{
	settings->base.speed = SPEED_10000;
	settings->base.duplex = DUPLEX_FULL;
	return 0;
}

static void holdnic_get_channels(struct net_device *dev, struct ethtool_channels *channels)
{
	channels->max_combined = queues;
	channels->combined_count = dev->real_num_tx_queues;
}

/* The core has checked the number; it resets the qdiscs of queues that go. */
static int holdnic_set_channels(struct net_device *dev, struct ethtool_channels *channels)
{
	int err = netif_set_real_num_tx_queues(dev, channels->combined_count);

	if (!err)
		holdnic_forget(dev, channels->combined_count);
	return err;
}

static const struct ethtool_ops holdnic_ethtool_ops = {
	.get_link_ksettings	= holdnic_get_link_ksettings,
	.get_channels		= holdnic_get_channels,
	.set_channels		= holdnic_set_channels,
};

static int __init holdnic_init(void)
{
	u16 queue;
	int err;

	queues = clamp(queues, 1, HOLDNIC_QUEUES);
	holdnic_dev = alloc_etherdev_mq(0, queues);
	if (!holdnic_dev)
		return -ENOMEM;
	for (queue = 0; queue < queues; queue++)
		__skb_queue_head_init(&holdnic_held[queue]);
	strscpy(holdnic_dev->name, "hold%d", IFNAMSIZ);
	holdnic_dev->netdev_ops = &holdnic_ops;
	/* Its packets are in a list. */
	holdnic_dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	holdnic_dev->ethtool_ops = &holdnic_ethtool_ops;
	eth_hw_addr_random(holdnic_dev);
	err = register_netdev(holdnic_dev);
	if (err) {
		free_netdev(holdnic_dev);
		holdnic_dev = NULL;
	}
	return err;
}

static void __exit holdnic_exit(void)
{
	struct net_device *dev = holdnic_dev;

	/* Writers of the parameter find no device from here on. */
	kernel_param_lock(THIS_MODULE);
	holdnic_dev = NULL;
	kernel_param_unlock(THIS_MODULE);
	unregister_netdev(dev);
	free_netdev(dev);
}

module_init(holdnic_init);
module_exit(holdnic_exit);
module_param_cb(send, &holdnic_send_ops, NULL, 0200);
MODULE_PARM_DESC(send, "N: send the N oldest packets of each queue");

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("A NIC that holds what it has taken, for tests");
MODULE_LICENSE("GPL");
