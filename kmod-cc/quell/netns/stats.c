// SPDX-License-Identifier: GPL-2.0
/*
 * Counters: free-running, per namespace, one share per CPU.  Each share has one writer at a
 * time (bottom halves off, or this_cpu_inc()); a reader adds them up.
 */
#include "netns/counters.h"
#include "netns/net.h"

#define COUNTER(counter_, name_, doc_) \
	QUELL_COUNTER(struct quell_counters, name_, value[QUELL_N_##counter_], doc_)

const struct quell_counter_desc quell_counter_descs[QUELL_N_MAX] = {
	[QUELL_N_FLOWS_OPENED] =
		COUNTER(FLOWS_OPENED, "flows-opened",
			"Flow contexts made."),
	[QUELL_N_FLOWS_CLOSED] =
		COUNTER(FLOWS_CLOSED, "flows-closed",
			"Flow contexts released."),
	[QUELL_N_FLOW_ALLOC_FAILED] =
		COUNTER(FLOW_ALLOC_FAILED, "flow-alloc-failed",
			"Sockets without a flow context because memory was short."),
	[QUELL_N_HOOK_REGISTER_FAILED] =
		COUNTER(HOOK_REGISTER_FAILED, "hook-register-failed",
			"Attempts to register the network hooks that failed."),
	[QUELL_N_RTT_SAMPLES] =
		COUNTER(RTT_SAMPLES, "rtt-samples",
			"Round-trip times taken with nanosecond stamps."),
	[QUELL_N_RTT_KERNEL] =
		COUNTER(RTT_KERNEL, "rtt-kernel",
			"Round-trip times taken from the stack's microsecond clock."),
	[QUELL_N_RTT_KARN] =
		COUNTER(RTT_KARN, "rtt-karn",
			"Samples given up because the segment was retransmitted."),
	[QUELL_N_RTT_NO_ARRIVAL] =
		COUNTER(RTT_NO_ARRIVAL, "rtt-no-arrival",
			"Samples given up because the ACK's receipt was not recorded."),
	[QUELL_N_RTT_NO_DEPARTURE] =
		COUNTER(RTT_NO_DEPARTURE, "rtt-no-departure",
			"Samples given up because the segment's departure was not recorded."),
	[QUELL_N_RTT_NOT_POSITIVE] =
		COUNTER(RTT_NOT_POSITIVE, "rtt-not-positive",
			"Samples given up because the ACK seemed to come before the departure."),
	[QUELL_N_RTT_FLOORED] =
		COUNTER(RTT_FLOORED, "rtt-floored",
			"Samples raised to the minimum: the interface sends faster than it says."),
	[QUELL_N_SEGMENT_RING_OVERRUN] =
		COUNTER(SEGMENT_RING_OVERRUN, "segment-ring-overrun",
			"Segments whose departure found no room to be recorded."),
	[QUELL_N_ARRIVAL_RING_OVERRUN] =
		COUNTER(ARRIVAL_RING_OVERRUN, "arrival-ring-overrun",
			"Receipts overwritten before TCP processed the ACK."),
	[QUELL_N_PATH_CHANGES] =
		COUNTER(PATH_CHANGES, "path-changes",
			"Flow hashes drawn anew because an algorithm asked for another path."),
	[QUELL_N_RTT_ECHO] =
		COUNTER(RTT_ECHO, "rtt-echo",
			"Round-trip times taken from the departure the other host echoed."),
	[QUELL_N_RTT_ECHO_REFUSED] =
		COUNTER(RTT_ECHO_REFUSED, "rtt-echo-refused",
			"Echoes of a departure that cannot have been."),
	[QUELL_N_RTT_ECHO_WAITED] =
		COUNTER(RTT_ECHO_WAITED, "rtt-echo-waited",
			"Echoes that say that the ACK waited, and are no round-trip time."),
	[QUELL_N_RTT_HOLD_REFUSED] =
		COUNTER(RTT_HOLD_REFUSED, "rtt-hold-refused",
			"Hold times that would leave the network less than half its minimum."),
	[QUELL_N_OPTION_AGREED] =
		COUNTER(OPTION_AGREED, "option-agreed",
			"Connections that agreed on the Quell option."),
	[QUELL_N_OPTION_SENT] =
		COUNTER(OPTION_SENT, "option-sent",
			"Packets sent with the Quell option."),
	[QUELL_N_OPTION_RECEIVED] =
		COUNTER(OPTION_RECEIVED, "option-received",
			"Packets received with the Quell option."),
	[QUELL_N_OPTION_NO_ROOM] =
		COUNTER(OPTION_NO_ROOM, "option-no-room",
			"Packets sent without the option because header or packet was full."),
	[QUELL_N_OPTION_MALFORMED] =
		COUNTER(OPTION_MALFORMED, "option-malformed",
			"Options refused because their length does not hold what they claim."),
	[QUELL_N_OPTION_BAD_CHECKSUM] =
		COUNTER(OPTION_BAD_CHECKSUM, "option-bad-checksum",
			"Options refused because the packet's checksum does not hold."),
	[QUELL_N_OPTION_OUT_OF_WINDOW] =
		COUNTER(OPTION_OUT_OF_WINDOW, "option-out-of-window",
			"Options refused because the packet's numbers are outside the window."),
	[QUELL_N_OPTION_STRIPPED] =
		COUNTER(OPTION_STRIPPED, "option-stripped",
			"Connections that gave the option up because it never came through."),
	[QUELL_N_OPTION_FORGOTTEN] =
		COUNTER(OPTION_FORGOTTEN, "option-forgotten",
			"Offers of the option lost because too many waited, or memory was short."),
	[QUELL_N_RECORD_STAMPED] =
		COUNTER(RECORD_STAMPED, "record-stamped",
			"Data packets received with a switch's telemetry record."),
	[QUELL_N_RECORD_EMPTY] =
		COUNTER(RECORD_EMPTY, "record-empty",
			"Data packets received with room for a record no switch filled."),
	[QUELL_N_RECORD_ECHOED] =
		COUNTER(RECORD_ECHOED, "record-echoed",
			"Packets sent with the telemetry record of the data they answer."),
	[QUELL_N_RECORD_RECEIVED] =
		COUNTER(RECORD_RECEIVED, "record-received",
			"Packets received with an echoed telemetry record."),
	[QUELL_N_RECORD_NO_ROOM] =
		COUNTER(RECORD_NO_ROOM, "record-no-room",
			"Packets sent without the record, or room for one: they were full."),
	[QUELL_N_SEGMENT_MALFORMED] =
		COUNTER(SEGMENT_MALFORMED, "segment-malformed",
			"Segments ignored because the packet does not hold its TCP header."),
	[QUELL_N_SEGMENT_BAD_CHECKSUM] =
		COUNTER(SEGMENT_BAD_CHECKSUM, "segment-bad-checksum",
			"Segments without the option ignored because the checksum does not hold."),
	[QUELL_N_SEGMENT_OUT_OF_WINDOW] =
		COUNTER(SEGMENT_OUT_OF_WINDOW, "segment-out-of-window",
			"Segments without the option ignored: numbers outside the window."),
	[QUELL_N_HARDWARE_STAMPS] =
		COUNTER(HARDWARE_STAMPS, "hardware-stamps",
			"Receipts timed by the card's clock."),
	[QUELL_N_HARDWARE_WARMING] =
		COUNTER(HARDWARE_WARMING, "hardware-warming",
			"Receipts timed in software until the map of the card's clock is usable."),
	[QUELL_N_HARDWARE_REFUSED] =
		COUNTER(HARDWARE_REFUSED, "hardware-refused",
			"Card's stamps refused: after the receipt, or far too early."),
	[QUELL_N_CLOCK_STEPS] =
		COUNTER(CLOCK_STEPS, "clock-steps",
			"Steps of a card's clock: its map began anew."),
	[QUELL_N_TAIL_PROBES] =
		COUNTER(TAIL_PROBES, "tail-probes",
			"Segments sent again because nothing was acknowledged in time."),
	[QUELL_N_TAIL_PROBES_SPURIOUS] =
		COUNTER(TAIL_PROBES_SPURIOUS, "tail-probes-spurious",
			"Times such a segment turned out to have arrived."),
	[QUELL_N_TAIL_RECOVERED] =
		COUNTER(TAIL_RECOVERED, "tail-recovered",
			"Times such a segment turned out to have been lost, and repaired it."),
	[QUELL_N_ENTROPY_FRESH] =
		COUNTER(ENTROPY_FRESH, "entropy-fresh",
			"Segments with a path entropy drawn at random."),
	[QUELL_N_ENTROPY_RECYCLED] =
		COUNTER(ENTROPY_RECYCLED, "entropy-recycled",
			"Segments with the path entropy of one that came through unmarked."),
	[QUELL_N_ENTROPY_FROZEN] =
		COUNTER(ENTROPY_FROZEN, "entropy-frozen",
			"Segments with one of the path entropies known good before a timeout."),
	[QUELL_N_ENTROPY_KEPT] =
		COUNTER(ENTROPY_KEPT, "entropy-kept",
			"Path entropies echoed unmarked, to be used again."),
	[QUELL_N_ENTROPY_MARKED] =
		COUNTER(ENTROPY_MARKED, "entropy-marked",
			"Path entropies echoed marked, and given up."),
	[QUELL_N_TRIM_RECEIVED] =
		COUNTER(TRIM_RECEIVED, "trim-received",
			"Trimmed packets received."),
	[QUELL_N_TRIM_DUPLICATE] =
		COUNTER(TRIM_DUPLICATE, "trim-duplicate",
			"Trimmed packets of data that was there already."),
	[QUELL_N_TRIM_OUTSIDE] =
		COUNTER(TRIM_OUTSIDE, "trim-outside",
			"Trimmed packets of data beyond the receive window."),
	[QUELL_N_NACK_SENT] =
		COUNTER(NACK_SENT, "nack-sent",
			"Trimmed packets answered with a NACK."),
	[QUELL_N_NACK_LIMITED] =
		COUNTER(NACK_LIMITED, "nack-limited",
			"Trimmed packets not answered because there were too many."),
	[QUELL_N_NACK_UNSENT] =
		COUNTER(NACK_UNSENT, "nack-unsent",
			"Trimmed packets not answered for want of memory or a route."),
	[QUELL_N_NACK_RECEIVED] =
		COUNTER(NACK_RECEIVED, "nack-received",
			"NACKs received."),
	[QUELL_N_NACK_RECOVERED] =
		COUNTER(NACK_RECOVERED, "nack-recovered",
			"NACKs whose data was marked lost, to be sent again."),
	[QUELL_N_NACK_MALFORMED] =
		COUNTER(NACK_MALFORMED, "nack-malformed",
			"NACKs ignored because they are too short or name no data."),
	[QUELL_N_NACK_OUTSIDE] =
		COUNTER(NACK_OUTSIDE, "nack-outside",
			"NACKs ignored because their data was never sent or is long gone."),
	[QUELL_N_NACK_STALE] =
		COUNTER(NACK_STALE, "nack-stale",
			"NACKs ignored: the data has arrived, is marked lost, or left again."),
	[QUELL_N_NACK_OVERFLOW] =
		COUNTER(NACK_OVERFLOW, "nack-overflow",
			"NACKs ignored because too many waited for TCP to look at an ACK."),
	[QUELL_N_NACK_UNABLE] =
		COUNTER(NACK_UNABLE, "nack-unable",
			"NACKs ignored because the connection has no SACK."),
	[QUELL_N_TCP_INT_SENT] =
		COUNTER(TCP_INT_SENT, "tcp-int-sent",
			"Segments sent with the TCP-INT option."),
	[QUELL_N_TCP_INT_NO_ROOM] =
		COUNTER(TCP_INT_NO_ROOM, "tcp-int-no-room",
			"Segments sent without the TCP-INT option: header or packet full."),
	[QUELL_N_TCP_INT_RECEIVED] =
		COUNTER(TCP_INT_RECEIVED, "tcp-int-received",
			"Segments that came with the TCP-INT option."),
	[QUELL_N_TCP_INT_ECHOED] =
		COUNTER(TCP_INT_ECHOED, "tcp-int-echoed",
			"TCP-INT options that echoed what a switch had written."),
	[QUELL_N_UNDONE] =
		COUNTER(UNDONE, "undone",
			"Recoveries and timeouts that proved needless, and were taken back."),
	[QUELL_N_DASR_JOINED] =
		COUNTER(DASR_JOINED, "senders-joined",
			"Hosts that began to send to this one, as Dart counts them."),
	[QUELL_N_DASR_LEFT] =
		COUNTER(DASR_LEFT, "senders-left",
			"Hosts whose last message ended."),
	[QUELL_N_DASR_EXPIRED] =
		COUNTER(DASR_EXPIRED, "senders-expired",
			"Connections that fell silent within a message."),
	[QUELL_N_DASR_STATE_CHANGES] =
		COUNTER(DASR_STATE_CHANGES, "dart-states",
			"Changes between no, receiver and non-receiver congestion."),
	[QUELL_N_DASR_MARKS_HIDDEN] =
		COUNTER(DASR_MARKS_HIDDEN, "marks-hidden",
			"CE marks hidden from TCP, because n answers them."),
	[QUELL_N_DASR_NO_MEMORY] =
		COUNTER(DASR_NO_MEMORY, "senders-no-memory",
			"Data packets whose sender was not counted for want of memory."),
	[QUELL_N_LOOKAHEAD_ARMED] =
		COUNTER(LOOKAHEAD_ARMED, "lookahead-armed",
			"Times the members of a look-ahead group were counted ahead."),
	[QUELL_N_LOOKAHEAD_ABSENT] =
		COUNTER(LOOKAHEAD_ABSENT, "lookahead-absent",
			"Members of a look-ahead group that sent nothing in time."),
	[QUELL_N_ACK_WAITED] =
		COUNTER(ACK_WAITED, "ack-waited",
			"Requests whose ACK was left to wait for the program's answer."),
	[QUELL_N_ACK_LATE] =
		COUNTER(ACK_LATE, "ack-late",
			"ACKs that left without it, because it did not come in time."),
	[QUELL_N_RTT_ANSWER] =
		COUNTER(RTT_ANSWER, "rtt-answer",
			"Samples given up because the peer's program may have delayed the ACK."),
	[QUELL_N_UNTOLD_OPTION] =
		COUNTER(UNTOLD_OPTION, "untold-option",
			"Events of the option that listeners were not told of: too many a second."),
	[QUELL_N_UNTOLD_ADAPT] =
		COUNTER(UNTOLD_ADAPT, "untold-adapt",
			"The same of flows that CUBIC took over, or their algorithm again."),
	[QUELL_N_UNTOLD_LOOKAHEAD] =
		COUNTER(UNTOLD_LOOKAHEAD, "untold-lookahead",
			"The same of look-ahead groups, registered and deleted."),
};

/**
 * quell_percpu_sum() - value of a counter, summed over all CPUs
 * @block:  per-cpu block of counters
 * @offset: place of the u64 in it
 */
u64 quell_percpu_sum(const void __percpu *block, u32 offset)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		/* Cores add without marks; the shares are not read at one moment. */
		sum += data_race(READ_ONCE(*(const u64 *)(per_cpu_ptr(block, cpu) + offset)));
	return sum;
}
