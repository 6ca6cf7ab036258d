// SPDX-License-Identifier: GPL-2.0
/*
 * quell_stampnic: two NICs joined by a cable, with receive time stamps.  No NIC that
 * QEMU emulates has these, so the tests of hardware stamps on stock kernels use
 * this one.
 *
 * The devices are stamp0 and stamp1.  They take packets across as veth does, and
 * stamp them on arrival by a clock OFFSET_S ahead of CLOCK_MONOTONIC, if that is
 * switched on.  The parameters, read when the module is loaded, select the
 * properties of NIC and driver.
 */
#include <compat/hwtstamp.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/rtnetlink.h>

static unsigned int filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
module_param(filters, uint, 0444);
MODULE_PARM_DESC(filters, "receive filters the card says it has, a bit for each");

static bool narrow;
module_param(narrow, bool, 0444);
MODULE_PARM_DESC(narrow, "whatever it is asked for, the driver chooses ptpv2-event");

static bool old;
module_param(old, bool, 0444);
MODULE_PARM_DESC(old, "the driver has stamps by ioctl only, not by ndo_hwtstamp_get and _set");

static bool tx;
module_param(tx, bool, 0444);
MODULE_PARM_DESC(tx, "transmitted packets are stamped, as another program has requested");

static bool clock = true;
module_param(clock, bool, 0444);
MODULE_PARM_DESC(clock, "the cards have a clock that PTP knows");

static unsigned int offset_s = 1700000000;
module_param(offset_s, uint, 0444);
MODULE_PARM_DESC(offset_s, "how far the cards' clocks are ahead of CLOCK_MONOTONIC, s");

static int index;
module_param(index, int, 0444);
MODULE_PARM_DESC(index, "interface index of stamp0, stamp1 has the next; 0: the kernel's choice");

/* One NIC. */
struct stampnic_port {
	struct net_device	*peer;	/* the other NIC; both live as long as the module */
	int			tx_type;	/* transmit stamp type, as configured (RTNL) */
	/* receive filter, as configured; written under RTNL */
	int			rx_filter;
};

static struct net_device *stampnic_dev[2];
static struct ptp_clock *stampnic_clock;

/* The time that both cards' clocks show. */
static ktime_t stampnic_now(void)
{
	return ktime_add_ns(ktime_get(), (u64)offset_s * NSEC_PER_SEC);
}

static netdev_tx_t stampnic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct stampnic_port *port = netdev_priv(dev);
	struct stampnic_port *peer = netdev_priv(port->peer);
	bool stamp = READ_ONCE(peer->rx_filter) == HWTSTAMP_FILTER_ALL;

	skb_tx_timestamp(skb);
	/* The stamps are in the part of the skb that clones share. */
	if (!netif_running(port->peer) || skb_unclone(skb, GFP_ATOMIC)) {
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	if (__dev_forward_skb(port->peer, skb))
		return NETDEV_TX_OK;
	skb_hwtstamps(skb)->hwtstamp = stamp ? stampnic_now() : 0;
	netif_rx(skb);
	return NETDEV_TX_OK;
}

/* Apply a configuration as the driver does; @rx_filter becomes the filter it chose. */
static int stampnic_choose(struct stampnic_port *port, int tx_type, int *rx_filter)
{
	if (tx_type != HWTSTAMP_TX_OFF && tx_type != HWTSTAMP_TX_ON)
		return -ERANGE;
	if (!(filters & BIT(*rx_filter)))
		return -ERANGE;
	if (narrow && *rx_filter != HWTSTAMP_FILTER_NONE)
		*rx_filter = HWTSTAMP_FILTER_PTP_V2_EVENT;
	port->tx_type = tx_type;
	WRITE_ONCE(port->rx_filter, *rx_filter);
	return 0;
}

static int __maybe_unused
stampnic_hwtstamp_get(struct net_device *dev, struct kernel_hwtstamp_config *config)
{
	const struct stampnic_port *port = netdev_priv(dev);

	config->tx_type = port->tx_type;
	config->rx_filter = port->rx_filter;
	return 0;
}

static int __maybe_unused
stampnic_hwtstamp_set(struct net_device *dev, struct kernel_hwtstamp_config *config,
		      struct netlink_ext_ack *extack)
{
	return stampnic_choose(netdev_priv(dev), config->tx_type, &config->rx_filter);
}

static int stampnic_ioctl(struct net_device *dev, struct ifreq *ifr, int cmd)
{
	struct stampnic_port *port = netdev_priv(dev);
	struct hwtstamp_config config = {
		.tx_type = port->tx_type,
		.rx_filter = port->rx_filter,
	};
	int err;

	if (cmd == SIOCSHWTSTAMP) {
		if (copy_from_user(&config, ifr->ifr_data, sizeof(config)))
			return -EFAULT;
		err = stampnic_choose(port, config.tx_type, &config.rx_filter);
		if (err)
			return err;
	} else if (cmd != SIOCGHWTSTAMP) {
		return -EOPNOTSUPP;
	}
	return copy_to_user(ifr->ifr_data, &config, sizeof(config)) ? -EFAULT : 0;
}

static const struct net_device_ops stampnic_old_ops = {
	.ndo_start_xmit		= stampnic_xmit,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_eth_ioctl		= stampnic_ioctl,
};

static const struct net_device_ops stampnic_ops = {
	.ndo_start_xmit		= stampnic_xmit,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
#ifdef QUELL_HAVE_NDO_HWTSTAMP
	.ndo_hwtstamp_get	= stampnic_hwtstamp_get,
	.ndo_hwtstamp_set	= stampnic_hwtstamp_set,
#else
	.ndo_eth_ioctl		= stampnic_ioctl,
#endif
};

static int stampnic_get_ts_info(struct net_device *dev, struct kernel_ethtool_ts_info *info)
{
	info->so_timestamping = SOF_TIMESTAMPING_TX_SOFTWARE |
				SOF_TIMESTAMPING_RX_SOFTWARE |
				SOF_TIMESTAMPING_SOFTWARE |
				SOF_TIMESTAMPING_RX_HARDWARE |
				SOF_TIMESTAMPING_RAW_HARDWARE;
	info->phc_index = stampnic_clock ? ptp_clock_index(stampnic_clock) : -1;
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = filters;
	return 0;
}

static const struct ethtool_ops stampnic_ethtool_ops = {
	.get_link	= ethtool_op_get_link,
	.get_ts_info	= stampnic_get_ts_info,
};

static int stampnic_gettime(struct ptp_clock_info *info, struct timespec64 *ts)
{
	*ts = ktime_to_timespec64(stampnic_now());
	return 0;
}

static int stampnic_settime(struct ptp_clock_info *info, const struct timespec64 *ts)
{
	return -EOPNOTSUPP;
}

static int stampnic_adjtime(struct ptp_clock_info *info, s64 delta_ns)
{
	return -EOPNOTSUPP;
}

static int stampnic_adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	return -EOPNOTSUPP;
}

static struct ptp_clock_info stampnic_clock_info = {
	.owner		= THIS_MODULE,
	.name		= "quellstamp",
	.adjfine	= stampnic_adjfine,
	.adjtime	= stampnic_adjtime,
	.gettime64	= stampnic_gettime,
	.settime64	= stampnic_settime,
};

static void stampnic_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = old ? &stampnic_old_ops : &stampnic_ops;
	dev->ethtool_ops = &stampnic_ethtool_ops;
	dev->features |= NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA;
	dev->hw_features = dev->features;
	eth_hw_addr_random(dev);
}

static int __init stampnic_alloc(void)
{
	struct stampnic_port *port;
	int i;

	for (i = 0; i < 2; i++) {
		stampnic_dev[i] = alloc_netdev(sizeof(*port), "stamp%d", NET_NAME_ENUM,
					       stampnic_setup);
		if (!stampnic_dev[i])
			return -ENOMEM;
		if (index)
			stampnic_dev[i]->ifindex = index + i;
	}
	for (i = 0; i < 2; i++) {
		port = netdev_priv(stampnic_dev[i]);
		port->peer = stampnic_dev[!i];
		port->tx_type = tx ? HWTSTAMP_TX_ON : HWTSTAMP_TX_OFF;
	}
	return 0;
}

static void stampnic_free(void)
{
	int i;

	for (i = 0; i < 2; i++)
		if (stampnic_dev[i])
			free_netdev(stampnic_dev[i]);
	if (stampnic_clock)
		ptp_clock_unregister(stampnic_clock);
}

static int __init stampnic_init(void)
{
	struct ptp_clock *ptp = clock ? ptp_clock_register(&stampnic_clock_info, NULL) : NULL;
	int err;

	if (IS_ERR(ptp))
		return PTR_ERR(ptp);
	stampnic_clock = ptp;
	err = stampnic_alloc();
	if (!err)
		err = register_netdev(stampnic_dev[0]);
	if (err)
		goto free;
	err = register_netdev(stampnic_dev[1]);
	if (!err)
		return 0;
	unregister_netdev(stampnic_dev[0]);
free:
	stampnic_free();
	return err;
}
module_init(stampnic_init);

/* Both are freed only after both are unregistered, when no packet is in flight. */
static void __exit stampnic_exit(void)
{
	unregister_netdev(stampnic_dev[0]);
	unregister_netdev(stampnic_dev[1]);
	stampnic_free();
}
module_exit(stampnic_exit);

MODULE_DESCRIPTION("Two network cards with hardware stamps, for Quell's self-tests");
MODULE_AUTHOR("The Quell authors");
MODULE_LICENSE("GPL");
