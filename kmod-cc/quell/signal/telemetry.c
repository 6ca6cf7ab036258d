// SPDX-License-Identifier: GPL-2.0
/*
 * Telemetry records: from the switches by way of the receiver to the core.
 *
 *	data out	an empty record, if the flow's algorithm requests them
 *	switches	write their record, or leave that of a more loaded hop
 *	data in		the record is stored with the departure to be echoed
 *	ACK out		the record, byte for byte; an empty one is not echoed
 *	ACK in		the record is stored with the receipt until TCP processes the ACK
 *	sample		the newest record of the ACKs processed, decoded
 *
 * A receiver echoes records with any algorithm of its own.  The option is offered in the SYN,
 * so all namespaces but those with `option' 0 need the hooks before a flow exists.
 */
#include "signal/signal.h"

/* Before the first Quell socket: any connection may offer the option, or Quell is the default. */
bool quell_signal_needs_hooks(const struct quell_net *qnet)
{
	bool needs;
	u64 option;
	int i;

	rcu_read_lock_bh();
	option = quell_signal_params_bh(qnet)->option;
	needs = option == QUELL_SIGNAL_OPTION_OFFER ||
		quell_algo_of(rcu_access_pointer(qnet->net->ipv4.tcp_congestion_control));
	for (i = 0; option == QUELL_SIGNAL_OPTION_REPLY && i < QUELL_ALGOS_MAX; i++) {
		const struct quell_algo *algo = READ_ONCE(quell_algos[i]);

		needs = needs || (algo && quell_algo_has(algo, QUELL_CORE_OFFERS));
	}
	rcu_read_unlock_bh();
	return needs;
}

/* After quell_algo_join_nets(), before the algorithm's first socket.  May sleep. */
void quell_telemetry_register(const struct quell_algo *algo)
{
	struct quell_net *qnet;

	if (!quell_algo_has(algo, QUELL_CORE_OFFERS))
		return;
	mutex_lock(&quell_mutex);
	list_for_each_entry(qnet, &quell_nets, node)
		if (quell_signal_needs_hooks(qnet))
			quell_hooks_settle(qnet);
	mutex_unlock(&quell_mutex);
}

/* Socket lock. */
void quell_telemetry_take(struct quell_flow *flow, const struct quell_ack_rx *ack_rx,
			  struct quell_sample *sample)
{
	const struct quell_telemetry *record = &sample->telemetry;

	if (!quell_telemetry_decode(ack_rx->record, &sample->telemetry))
		return;
	WRITE_ONCE(flow->records, flow->records + 1);
	WRITE_ONCE(flow->telemetry.hop, record->hop);
	WRITE_ONCE(flow->telemetry.link_bytes_ps, record->link_bytes_ps);
	WRITE_ONCE(flow->telemetry.queue_bytes, record->queue_bytes);
}
