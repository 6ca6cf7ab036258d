// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: NICs joined by a full-duplex cable, for the laboratory.
 *
 * "quellnic" is a link kind made in pairs, like veth, across namespaces.
 * Unlike veth it behaves as hardware does: a line rate kept to fractions of a
 * ns (labnic_wire.c), propagation delay, a transmit ring with byte queue
 * limits, hardware time stamps from a clock of its own, and a
 * link speed that ethtool reports.  Every skb is one frame, as the stack segments
 * larger packets; checksums are "done by the hardware" and cost no time.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/timekeeping.h>
#include <net/rtnetlink.h>
#include <compat/compat.h>

#include "labnic.h"
#include "labnic_part.h"
#include "quellnic_uapi.h"

/*
 * The hardware clock of a NIC.
 *
 * The clock is a function of CLOCK_MONOTONIC, the laboratory's true time:
 *
 *	phc(t) = base_phc + d + d * drift / 10^9 + d * adj / (65536 * 10^6),
 *	d = t - base_host
 *
 * Offset and drift are the error given at creation; adj is the correction a servo
 * sets through clock_adjtime().  Each product is rounded towards zero, to the ns.
 */

#define LABNIC_SCALED_PPM_ONE	(65536ULL * 1000000)

static s64 labnic_scale(u64 delta_ns, s64 numerator, u64 denominator)
{
	u64 part_ns = mul_u64_u64_div_u64(delta_ns, abs(numerator), denominator);

	return numerator < 0 ? -(s64)part_ns : (s64)part_ns;
}

static s64 labnic_phc_read(const struct labnic_phc *phc, u64 host_ns)
{
	u64 base_ns = max(phc->base_host_ns, labnic_part_base_ns());
	u64 delta_ns = max(host_ns, base_ns) - base_ns;

	return phc->base_phc_ns + (s64)delta_ns +
	       labnic_scale(delta_ns, phc->drift_ppb, NSEC_PER_SEC) +
	       labnic_scale(delta_ns, phc->adj_scaled_ppm,
			    LABNIC_SCALED_PPM_ONE);
}

/* Not before the last adjustment of the clock. */
u64 labnic_phc_ns(struct labnic_phc *phc, u64 host_ns)
{
	unsigned long flags;
	s64 phc_ns;

	spin_lock_irqsave(&phc->lock, flags);
	phc_ns = labnic_phc_read(phc, host_ns);
	spin_unlock_irqrestore(&phc->lock, flags);
	return phc_ns;
}

/* Restart the formula from now, so that a change of rate does not change past times. */
static void labnic_phc_rebase(struct labnic_phc *phc)
{
	u64 now_ns = ktime_get_ns();

	phc->base_phc_ns = labnic_phc_read(phc, now_ns);
	phc->base_host_ns = now_ns;
}

static int labnic_phc_adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	struct labnic_phc *phc = container_of(info, struct labnic_phc, info);
	unsigned long flags;

	spin_lock_irqsave(&phc->lock, flags);
	labnic_phc_rebase(phc);
	phc->adj_scaled_ppm = scaled_ppm;
	spin_unlock_irqrestore(&phc->lock, flags);
	return 0;
}

static int labnic_phc_adjtime(struct ptp_clock_info *info, s64 delta_ns)
{
	struct labnic_phc *phc = container_of(info, struct labnic_phc, info);
	unsigned long flags;

	spin_lock_irqsave(&phc->lock, flags);
	labnic_phc_rebase(phc);
	phc->base_phc_ns += delta_ns;
	spin_unlock_irqrestore(&phc->lock, flags);
	return 0;
}

static int labnic_phc_settime(struct ptp_clock_info *info,
			      const struct timespec64 *ts)
{
	struct labnic_phc *phc = container_of(info, struct labnic_phc, info);
	unsigned long flags;

	spin_lock_irqsave(&phc->lock, flags);
	labnic_phc_rebase(phc);
	phc->base_phc_ns = timespec64_to_ns(ts);
	spin_unlock_irqrestore(&phc->lock, flags);
	return 0;
}

static int labnic_phc_gettimex(struct ptp_clock_info *info,
			       struct timespec64 *ts,
			       struct ptp_system_timestamp *sts)
{
	struct labnic_phc *phc = container_of(info, struct labnic_phc, info);
	unsigned long flags;

	spin_lock_irqsave(&phc->lock, flags);
	ptp_read_system_prets(sts);
	*ts = ns_to_timespec64(labnic_phc_read(phc, ktime_get_ns()));
	ptp_read_system_postts(sts);
	spin_unlock_irqrestore(&phc->lock, flags);
	return 0;
}

static int labnic_phc_register(struct labnic_port *port, s64 offset_ns, s32 drift_ppb)
{
	struct labnic_phc *phc = &port->phc;
	struct ptp_clock *clock;

	spin_lock_init(&phc->lock);
	phc->base_host_ns = ktime_get_ns();
	/* Of a network in parts it runs from a time that does not depend on their number. */
	phc->base_phc_ns = (quell_part_is_on() ? 0 : (s64)phc->base_host_ns) + offset_ns;
	phc->drift_ppb = drift_ppb;
	phc->info = (struct ptp_clock_info) {
		.owner		= THIS_MODULE,
		.name		= "quellnic",
		.max_adj	= 100000000,	/* ppb */
		.adjfine	= labnic_phc_adjfine,
		.adjtime	= labnic_phc_adjtime,
		.gettimex64	= labnic_phc_gettimex,
		.settime64	= labnic_phc_settime,
	};
	clock = ptp_clock_register(&phc->info, NULL);
	if (IS_ERR(clock))
		return PTR_ERR(clock);
	phc->clock = clock;
	return 0;
}

static void labnic_phc_unregister(struct labnic_port *port)
{
	if (port->phc.clock)
		ptp_clock_unregister(port->phc.clock);
	port->phc.clock = NULL;
}

#define LABNIC_FEATURES	(NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA)

static struct rtnl_link_ops labnic_link_ops;

static int labnic_open(struct net_device *dev)
{
	netif_start_queue(dev);
	return 0;
}

static int labnic_stop(struct net_device *dev)
{
	struct labnic_port *port = netdev_priv(dev);

	netif_tx_disable(dev);
	labnic_wire_stop(port);
	labnic_noise_stop(&port->noise);
	labnic_pace_stop(port);
	labnic_credit_stop(port);
	return 0;
}

static void labnic_get_stats64(struct net_device *dev,
			       struct rtnl_link_stats64 *out)
{
	const struct labnic_port *port = netdev_priv(dev);

	out->tx_packets = READ_ONCE(port->stats.tx_pkts);
	out->tx_bytes = READ_ONCE(port->stats.tx_bytes);
	out->rx_packets = READ_ONCE(port->stats.rx_pkts);
	out->rx_bytes = READ_ONCE(port->stats.rx_bytes);
	out->tx_dropped = READ_ONCE(port->stats.ring_drop_pkts);
	out->rx_dropped = READ_ONCE(port->stats.rx_drop_pkts);
}

static int labnic_get_iflink(const struct net_device *dev)
{
	const struct labnic_port *port = netdev_priv(dev);
	const struct net_device *peer;
	int iflink;

	rcu_read_lock();
	peer = rcu_dereference(port->peer);
	iflink = peer ? READ_ONCE(peer->ifindex) : 0;
	rcu_read_unlock();
	return iflink;
}

static int labnic_hwtstamp_get(struct net_device *dev,
			       struct kernel_hwtstamp_config *config)
{
	const struct labnic_port *port = netdev_priv(dev);

	*config = port->hwtstamp;
	return 0;
}

static int labnic_hwtstamp_set(struct net_device *dev,
			       struct kernel_hwtstamp_config *config,
			       struct netlink_ext_ack *extack)
{
	struct labnic_port *port = netdev_priv(dev);

	if (config->tx_type != HWTSTAMP_TX_OFF &&
	    config->tx_type != HWTSTAMP_TX_ON) {
		NL_SET_ERR_MSG(extack, "only one-shot TX stamps, off or on");
		return -ERANGE;
	}
	if (config->rx_filter != HWTSTAMP_FILTER_NONE)
		config->rx_filter = HWTSTAMP_FILTER_ALL;
	port->hwtstamp.flags = config->flags;
	port->hwtstamp.tx_type = config->tx_type;
	port->hwtstamp.rx_filter = config->rx_filter;
	return 0;
}

static const struct net_device_ops labnic_netdev_ops = {
	.ndo_open		= labnic_open,
	.ndo_stop		= labnic_stop,
	.ndo_start_xmit		= labnic_wire_xmit,
	.ndo_get_stats64	= labnic_get_stats64,
	.ndo_get_iflink		= labnic_get_iflink,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_hwtstamp_get	= labnic_hwtstamp_get,
	.ndo_hwtstamp_set	= labnic_hwtstamp_set,
};

/**
 * quell_labnic_step() - step a NIC's clock
 * @dev: the NIC
 * @step_ns: size of the step
 *
 * Context: any.
 * Return: 0, -EINVAL for a device of another driver.
 */
int quell_labnic_step(struct net_device *dev, s64 step_ns)
{
	struct labnic_port *port = netdev_priv(dev);

	if (dev->netdev_ops->ndo_start_xmit != labnic_wire_xmit)
		return -EINVAL;
	return labnic_phc_adjtime(&port->phc.info, step_ns);
}
EXPORT_SYMBOL_GPL(quell_labnic_step);

static int labnic_get_ts_info(struct net_device *dev,
			      struct kernel_ethtool_ts_info *info)
{
	const struct labnic_port *port = netdev_priv(dev);

	info->so_timestamping = SOF_TIMESTAMPING_TX_SOFTWARE |
				SOF_TIMESTAMPING_RX_SOFTWARE |
				SOF_TIMESTAMPING_SOFTWARE |
				SOF_TIMESTAMPING_TX_HARDWARE |
				SOF_TIMESTAMPING_RX_HARDWARE |
				SOF_TIMESTAMPING_RAW_HARDWARE;
	info->phc_index = port->phc.clock ?
			  ptp_clock_index(port->phc.clock) : -1;
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
	return 0;
}

static int labnic_get_link_ksettings(struct net_device *dev,
				     struct ethtool_link_ksettings *settings)
{
	const struct labnic_port *port = netdev_priv(dev);

	settings->base.speed = div_u64(labnic_pace_bits_ps(port) ?: port->rate_bits_ps, 1000000);
	settings->base.duplex = DUPLEX_FULL;
	settings->base.port = PORT_OTHER;
	settings->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

static void labnic_get_ringparam(struct net_device *dev,
				 struct ethtool_ringparam *ring,
				 struct kernel_ethtool_ringparam *kernel_ring,
				 struct netlink_ext_ack *extack)
{
	const struct labnic_port *port = netdev_priv(dev);

	ring->tx_max_pending = port->ring_pkts;
	ring->tx_pending = port->ring_pkts;
}

static void labnic_get_drvinfo(struct net_device *dev,
			       struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "quell_labnic", sizeof(info->driver));
}

static const struct ethtool_ops labnic_ethtool_ops = {
	.get_drvinfo		= labnic_get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= labnic_get_link_ksettings,
	.get_ringparam		= labnic_get_ringparam,
	.get_ts_info		= labnic_get_ts_info,
};

static void labnic_destructor(struct net_device *dev)
{
	struct labnic_port *port = netdev_priv(dev);

	labnic_credit_free(port);
	labnic_pace_free(port);
	labnic_pfc_free(port);
	labnic_noise_free(&port->noise);
	labnic_wire_free(port);
	labnic_forward_free(port);
}

static void labnic_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->max_mtu = LABNIC_MTU_MAX_BYTES;
	dev->netdev_ops = &labnic_netdev_ops;
	dev->ethtool_ops = &labnic_ethtool_ops;
	dev->features |= LABNIC_FEATURES;
	dev->hw_features |= LABNIC_FEATURES;
	dev->vlan_features |= LABNIC_FEATURES;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	dev->needs_free_netdev = true;
	dev->priv_destructor = labnic_destructor;
}

/* Undo labnic_create_end() for a device that it registered. */
static void labnic_destroy_end(struct net_device *dev, struct list_head *head)
{
	struct labnic_port *port = netdev_priv(dev);

	RCU_INIT_POINTER(port->peer, NULL);
	labnic_phc_unregister(port);
	unregister_netdevice_queue(dev, head);
}

/* The attributes that differ between the two ends. */
struct labnic_end {
	int	offset;
	int	drift;
	int	noise;
	int	drop;
	int	trim;
	int	pfc;
	int	credit;
	int	pace;
	u64	seed_flip;	/* so that both ends draw different times */
};

static const struct labnic_end labnic_near = {
	QUELLNIC_PHC_OFFSET, QUELLNIC_PHC_DRIFT, QUELLNIC_NOISE, QUELLNIC_DROP,
	QUELLNIC_TRIM, QUELLNIC_PFC, QUELLNIC_CREDIT, QUELLNIC_PACE, 0
};

static const struct labnic_end labnic_far = {
	QUELLNIC_PEER_PHC_OFFSET, QUELLNIC_PEER_PHC_DRIFT, QUELLNIC_PEER_NOISE,
	QUELLNIC_PEER_DROP, QUELLNIC_PEER_TRIM, QUELLNIC_PEER_PFC, QUELLNIC_PEER_CREDIT,
	QUELLNIC_PEER_PACE, ~0ULL
};

static int labnic_create_noise(struct labnic_port *port, struct nlattr **data,
			       const struct labnic_end *end)
{
	u64 noise_ns = 0, seed = 0;

	if (data[end->noise])
		noise_ns = nla_get_u64(data[end->noise]);
	if (data[QUELLNIC_NOISE_SEED])
		seed = nla_get_u64(data[QUELLNIC_NOISE_SEED]);
	return labnic_noise_init(&port->noise, noise_ns, seed ^ end->seed_flip);
}

static u32 labnic_u32(const struct nlattr *attr, u32 missing)
{
	return attr ? nla_get_u32(attr) : missing;
}

static void labnic_create_loss(struct labnic_port *port, struct nlattr **data,
			       const struct labnic_end *end)
{
	if (data[end->drop])
		port->drop_first = nla_get_u64(data[end->drop]);
	port->drop_pkts = labnic_u32(data[QUELLNIC_DROP_COUNT], 1);
	if (data[end->trim])
		port->trim_first = nla_get_u64(data[end->trim]);
	port->trim_every = labnic_u32(data[QUELLNIC_TRIM_EVERY], 1);
	port->trim_pkts = labnic_u32(data[QUELLNIC_TRIM_COUNT], 1);
	if (end == &labnic_near && data[QUELLNIC_CORRUPT])
		port->corrupt_pkt = nla_get_u64(data[QUELLNIC_CORRUPT]);
	port->corrupt_at = labnic_u32(data[QUELLNIC_CORRUPT_AT], 0);
}

/*
 * Set up and register one end; on error @dev is not registered and the caller
 * must free it.
 */
static int labnic_create_end(struct net_device *dev, struct nlattr **data,
			     const struct labnic_end *end,
			     struct netlink_ext_ack *extack)
{
	struct labnic_port *port = netdev_priv(dev);
	s64 offset_ns = 0;
	s32 drift_ppb = 0;
	int err;

	port->dev = dev;
	port->rate_bits_ps = nla_get_u64(data[QUELLNIC_RATE]);
	port->ring_pkts = LABNIC_RING_DEFAULT_PKTS;
	if (data[QUELLNIC_DELAY])
		port->delay_ns = nla_get_u64(data[QUELLNIC_DELAY]);
	if (data[QUELLNIC_RING])
		port->ring_pkts = nla_get_u32(data[QUELLNIC_RING]);
	labnic_create_loss(port, data, end);
	if (data[end->offset])
		offset_ns = nla_get_s64(data[end->offset]);
	if (data[end->drift])
		drift_ppb = nla_get_s32(data[end->drift]);
	/*
	 * Every skb must be one frame.  TCP builds larger packets only if allowed;
	 * the stack segments those before it calls the driver.
	 */
	netif_set_tso_max_segs(dev, data[QUELLNIC_TSO] ?
			       nla_get_u32(data[QUELLNIC_TSO]) : 1);
	labnic_wire_init(port);
	if (data[QUELLNIC_PART])
		err = labnic_part_create(port, nla_data(data[QUELLNIC_PART]), end == &labnic_near);
	else
		err = quell_part_is_on() ? -EINVAL : 0;
	if (err)
		return err;
	err = labnic_create_noise(port, data, end);
	if (err)
		return err;
	if (data[end->pfc])
		err = labnic_pfc_create(port, nla_data(data[end->pfc]));
	if (err)
		goto free_noise;
	if (data[end->credit])
		err = labnic_credit_create(port, nla_data(data[end->credit]), extack);
	if (err)
		goto free_pfc;
	if (data[end->pace])
		err = labnic_pace_create(port, nla_get_u64(data[end->pace]));
	if (err)
		goto free_credit;

	err = labnic_phc_register(port, offset_ns, drift_ppb);
	if (err)
		goto free_pace;
	err = register_netdevice(dev);
	if (!err)
		return 0;
	labnic_phc_unregister(port);
free_pace:
	labnic_pace_free(port);
free_credit:
	labnic_credit_free(port);
free_pfc:
	labnic_pfc_free(port);
free_noise:
	labnic_noise_free(&port->noise);
	return err;
}

static int labnic_validate(struct nlattr *tb[], struct nlattr *data[],
			   struct netlink_ext_ack *extack)
{
	if (!data || !data[QUELLNIC_RATE]) {
		NL_SET_ERR_MSG(extack, "quellnic: a line rate is required");
		return -EINVAL;
	}
	if (!data[QUELLNIC_PEER]) {
		NL_SET_ERR_MSG(extack, "quellnic: a cable needs its far end");
		return -EINVAL;
	}
	if (data[QUELLNIC_PFC] && (data[QUELLNIC_CREDIT] || data[QUELLNIC_PEER_CREDIT])) {
		NL_SET_ERR_MSG(extack, "quellnic: credits are for networks that trim, not pause");
		return -EINVAL;
	}
	if (tb[IFLA_ADDRESS] &&
	    (nla_len(tb[IFLA_ADDRESS]) != ETH_ALEN ||
	     !is_valid_ether_addr(nla_data(tb[IFLA_ADDRESS])))) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS],
				    "quellnic: not a unicast Ethernet address");
		return -EADDRNOTAVAIL;
	}
	return 0;
}

/* Create the far end, not yet registered, in the namespace requested. */
static struct net_device *labnic_alloc_peer(struct net *src_net,
					    struct nlattr *peer_attr,
					    struct nlattr **peer_tb,
					    struct netlink_ext_ack *extack)
{
	struct net_device *peer;
	char name[IFNAMSIZ];
	struct net *net;

	if (peer_tb[IFLA_IFNAME])
		nla_strscpy(name, peer_tb[IFLA_IFNAME], IFNAMSIZ);
	else
		strscpy(name, "quellnic%d", IFNAMSIZ);
	net = rtnl_link_get_net(src_net, peer_tb);
	if (IS_ERR(net))
		return ERR_CAST(net);
	peer = rtnl_create_link(net, name,
				peer_tb[IFLA_IFNAME] ? NET_NAME_USER :
				NET_NAME_ENUM, &labnic_link_ops, peer_tb, extack);
	put_net(net);
	if (!IS_ERR(peer) && !peer_tb[IFLA_ADDRESS])
		eth_hw_addr_random(peer);
	return peer;
}

static int labnic_newlink(struct net *src_net, struct net_device *dev,
			  struct nlattr *tb[], struct nlattr *data[],
			  struct netlink_ext_ack *extack)
{
	struct nlattr *peer_tb[IFLA_MAX + 1];
	struct labnic_port *port, *peer_port;
	const struct ifinfomsg *ifm;
	struct net_device *peer;
	LIST_HEAD(dead);
	int err;

	err = rtnl_nla_parse_ifinfomsg(peer_tb, data[QUELLNIC_PEER], extack);
	if (err < 0)
		return err;
	err = labnic_validate(peer_tb, data, extack);
	if (err)
		return err;
	peer = labnic_alloc_peer(src_net, data[QUELLNIC_PEER], peer_tb, extack);
	if (IS_ERR(peer))
		return PTR_ERR(peer);

	ifm = nla_data(data[QUELLNIC_PEER]);
	if (ifm->ifi_index)
		peer->ifindex = ifm->ifi_index;
	err = labnic_create_end(peer, data, &labnic_far, extack);
	if (err) {
		free_netdev(peer);
		return err;
	}
	err = rtnl_configure_link(peer, ifm, 0, NULL);
	if (err < 0)
		goto destroy_peer;

	if (!tb[IFLA_ADDRESS])
		eth_hw_addr_random(dev);
	err = labnic_create_end(dev, data, &labnic_near, extack);
	if (err)
		goto destroy_peer;

	port = netdev_priv(dev);
	peer_port = netdev_priv(peer);
	rcu_assign_pointer(port->peer, peer);
	rcu_assign_pointer(peer_port->peer, dev);
	return 0;

destroy_peer:
	labnic_destroy_end(peer, &dead);
	unregister_netdevice_many(&dead);
	return err;
}

#ifdef QUELL_HAVE_RTNL_NEWLINK_PARAMS
static int labnic_newlink_params(struct net_device *dev, struct rtnl_newlink_params *params,
				 struct netlink_ext_ack *extack)
{
	return labnic_newlink(params->src_net, dev, params->tb, params->data, extack);
}
#else
#define labnic_newlink_params	labnic_newlink
#endif

static void labnic_dellink(struct net_device *dev, struct list_head *head)
{
	struct labnic_port *port = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(port->peer);

	/* Both ends go together; the second call finds no peer. */
	labnic_destroy_end(dev, head);
	if (peer)
		labnic_destroy_end(peer, head);
}

static struct net *labnic_get_link_net(const struct net_device *dev)
{
	const struct labnic_port *port = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(port->peer);

	return peer ? dev_net(peer) : dev_net(dev);
}

static const struct netlink_range_validation labnic_rate_range = {
	.min = LABNIC_RATE_MIN_BITS_PS,
	.max = LABNIC_RATE_MAX_BITS_PS,
};

static const struct netlink_range_validation labnic_delay_range = {
	.max = LABNIC_DELAY_MAX_NS,
};

static const struct netlink_range_validation labnic_noise_range = {
	.max = LABNIC_NOISE_MAX_NS,
};

static const struct netlink_range_validation labnic_ring_range = {
	.min = LABNIC_RING_MIN_PKTS,
	.max = LABNIC_RING_MAX_PKTS,
};

static const struct netlink_range_validation labnic_tso_range = {
	.min = 1,
	.max = LABNIC_TSO_MAX_PKTS,
};

static const struct netlink_range_validation_signed labnic_drift_range = {
	.min = -LABNIC_DRIFT_MAX_PPB,
	.max = LABNIC_DRIFT_MAX_PPB,
};

static const struct nla_policy labnic_policy[QUELLNIC_MAX + 1] = {
	[QUELLNIC_PEER]		= { .len = sizeof(struct ifinfomsg) },
	[QUELLNIC_RATE]		= NLA_POLICY_FULL_RANGE(NLA_U64, &labnic_rate_range),
	[QUELLNIC_DELAY]	= NLA_POLICY_FULL_RANGE(NLA_U64, &labnic_delay_range),
	[QUELLNIC_RING]		= NLA_POLICY_FULL_RANGE(NLA_U32, &labnic_ring_range),
	[QUELLNIC_PHC_OFFSET]	= { .type = NLA_S64 },
	[QUELLNIC_PHC_DRIFT]	= NLA_POLICY_FULL_RANGE_SIGNED(NLA_S32,
							&labnic_drift_range),
	[QUELLNIC_PEER_PHC_OFFSET] = { .type = NLA_S64 },
	[QUELLNIC_PEER_PHC_DRIFT] = NLA_POLICY_FULL_RANGE_SIGNED(NLA_S32,
							&labnic_drift_range),
	[QUELLNIC_NOISE]	= NLA_POLICY_FULL_RANGE(NLA_U64, &labnic_noise_range),
	[QUELLNIC_PEER_NOISE]	= NLA_POLICY_FULL_RANGE(NLA_U64, &labnic_noise_range),
	[QUELLNIC_NOISE_SEED]	= { .type = NLA_U64 },
	[QUELLNIC_TSO]		= NLA_POLICY_FULL_RANGE(NLA_U32, &labnic_tso_range),
	[QUELLNIC_DROP]		= NLA_POLICY_MIN(NLA_U64, 1),
	[QUELLNIC_PEER_DROP]	= NLA_POLICY_MIN(NLA_U64, 1),
	[QUELLNIC_DROP_COUNT]	= NLA_POLICY_MIN(NLA_U32, 1),
	[QUELLNIC_TRIM]		= NLA_POLICY_MIN(NLA_U64, 1),
	[QUELLNIC_PEER_TRIM]	= NLA_POLICY_MIN(NLA_U64, 1),
	[QUELLNIC_TRIM_EVERY]	= NLA_POLICY_MIN(NLA_U32, 1),
	[QUELLNIC_TRIM_COUNT]	= NLA_POLICY_MIN(NLA_U32, 1),
	[QUELLNIC_CORRUPT]	= NLA_POLICY_MIN(NLA_U64, 1),
	[QUELLNIC_CORRUPT_AT]	= { .type = NLA_U32 },
	[QUELLNIC_PFC]		= NLA_POLICY_EXACT_LEN(sizeof(struct quellnic_pfc)),
	[QUELLNIC_PEER_PFC]	= NLA_POLICY_EXACT_LEN(sizeof(struct quellnic_pfc)),
	[QUELLNIC_CREDIT]	= NLA_POLICY_EXACT_LEN(sizeof(struct quellnic_credit)),
	[QUELLNIC_PEER_CREDIT]	= NLA_POLICY_EXACT_LEN(sizeof(struct quellnic_credit)),
	[QUELLNIC_PACE]		= NLA_POLICY_FULL_RANGE(NLA_U64, &labnic_rate_range),
	[QUELLNIC_PEER_PACE]	= NLA_POLICY_FULL_RANGE(NLA_U64, &labnic_rate_range),
	[QUELLNIC_PART]		= NLA_POLICY_EXACT_LEN(sizeof(struct quellnic_part)),
};

static size_t labnic_get_xstats_size(const struct net_device *dev)
{
	const struct labnic_port *port = netdev_priv(dev);

	if (port->credit)
		return sizeof(struct quellnic_credit_stats);
	return port->pfc ? QUELLNIC_PFC_PRIORITIES * sizeof(struct quellnic_pfc_stats) : 0;
}

static int labnic_fill_xstats(struct sk_buff *skb, const struct net_device *dev)
{
	struct quellnic_pfc_stats stats[QUELLNIC_PFC_PRIORITIES];
	const struct labnic_port *port = netdev_priv(dev);
	struct quellnic_credit_stats credits;

	if (port->credit) {
		labnic_credit_stats(port, &credits);
		return nla_put(skb, IFLA_INFO_XSTATS, sizeof(credits), &credits);
	}
	if (!port->pfc)
		return 0;
	labnic_pfc_stats(port, stats);
	return nla_put(skb, IFLA_INFO_XSTATS, sizeof(stats), stats);
}

static struct rtnl_link_ops labnic_link_ops __read_mostly = {
	.kind		= QUELLNIC_KIND,
	.priv_size	= sizeof(struct labnic_port),
	.setup		= labnic_setup,
	.validate	= labnic_validate,
	.newlink	= labnic_newlink_params,
	.dellink	= labnic_dellink,
	.get_link_net	= labnic_get_link_net,
	.get_xstats_size = labnic_get_xstats_size,
	.fill_xstats	= labnic_fill_xstats,
	.policy		= labnic_policy,
	.maxtype	= QUELLNIC_MAX,
};

static int __init labnic_module_init(void)
{
	int err = labnic_part_init();

	if (err)
		return err;
	labnic_deadlock_init();
	return rtnl_link_register(&labnic_link_ops);
}
module_init(labnic_module_init);

static void __exit labnic_module_exit(void)
{
	rtnl_link_unregister(&labnic_link_ops);
}
module_exit(labnic_module_exit);

MODULE_ALIAS_RTNL_LINK(QUELLNIC_KIND);
MODULE_DESCRIPTION("Network cards and cables of the Quell laboratory");
MODULE_AUTHOR("The Quell authors");
MODULE_LICENSE("GPL");
