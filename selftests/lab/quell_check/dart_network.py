# SPDX-License-Identifier: GPL-2.0
"""
A simulator of the Dart paper's network, written from the papers and not from the laboratory:
packets, hosts and switches of a Clos network, DCQCN (Zhu et al., Algorithm 1) and direct
apportioning (Dart, sections III-A to III-C).  It has no TCP, no kernel and no qdisc, and no pauses:
it holds where no queue reaches their threshold.  Times are ns, rates bytes/ns of the wire.

A long message is a flow that never ends.  A packet is a list: flow, payload bytes, marked, time of
sending, path (the ports still ahead), ACK or not, n stated, bytes in the queue.
"""

import heapq
import random
from collections import deque

LINE = 1.25			# 10 Gbit/s
DELAY_NS = 5000
MSS, DATA_HEADER, ACK_BYTES, QUEUE_HEADER = 1436, 102, 114, 78
ECN_BYTES = 22500
NOTIFY_NS, TIMER_NS, ALPHA_NS, GAIN, FAST = 50000, 55000, 55000, 1 / 256, 5
AI, HAI, LEAST = 0.005, 0.05, 0.00125
QUEUE_BOUND_NS = 100000
PERIOD_NS, CLEAR_NS, FULL, PERIODS = 30000, 2000000, 0.9, 2
LONG_BYTES = 1000000
SIZES, JITTER_NS = (2048, 4096, 8192), 100000
FLOW, BYTES, MARKED, SENT_NS, PATH, IS_ACK, STATED, QUEUED = range(8)
NO_CONGESTION, RECEIVER, NON_RECEIVER = range(3)


class Port:
    """The sending end of a link: ACKs first; a switch's marks when data is dequeued."""

    def __init__(self, sim, node, marks=True):
        self.sim, self.node, self.marks = sim, node, marks
        self.control, self.data, self.backlog, self.busy = deque(), deque(), 0, False

    def put(self, packet):
        """Queue a packet."""
        if packet[IS_ACK]:
            self.control.append(packet)
        else:
            self.data.append(packet)
            self.backlog += packet[QUEUED]
        if not self.busy:
            self.send()

    def send(self):
        """Start to send the next packet."""
        if self.control:
            packet, wire = self.control.popleft(), ACK_BYTES
        elif self.data:
            packet = self.data.popleft()
            if self.marks and self.backlog >= ECN_BYTES:
                packet[MARKED] = True
            self.backlog -= packet[QUEUED]
            wire = packet[BYTES] + DATA_HEADER
        else:
            self.busy = False
            return
        self.busy = True
        done_ns = self.sim.now + wire / LINE
        self.sim.at(done_ns, self.send)
        self.sim.at(done_ns + DELAY_NS, self.node.receive, packet)


class Switch:
    """Packets carry their path."""

    def receive(self, packet):
        """On to the next port."""
        packet[PATH].pop().put(packet)


class Flow:
    """A message: DCQCN's state, and the receiver's bytes."""

    def __init__(self, src, dst, size, start_ns, out, back):
        self.src, self.dst, self.size, self.start_ns = src, dst, size, start_ns
        self.out, self.back = out, back
        self.left, self.inflight, self.got, self.end_ns = size, 0, 0, None
        self.rate = self.target = LINE
        self.alpha, self.notified, self.since, self.decays, self.steps = 1.0, False, start_ns, 0, 0
        self.n, self.next_ns, self.waits = None, start_ns, False
        self.base_ns = len(out) * (2 * DELAY_NS + (MSS + DATA_HEADER + ACK_BYTES) / LINE)
        self.pkts = self.marked = self.counted = 0
        self.listed = ()		# flows of its incast, which its messages list

    def share(self):
        """Wire rate by n; line without."""
        return LINE / max(self.n or 1, 1)

    def pace(self):
        """Payload per ns."""
        if self.n is None:
            return self.rate
        return min(self.rate, self.share() * MSS / (MSS + DATA_HEADER))

    def window(self, is_dart):
        """Payload bytes that may be in flight."""
        bound = max(self.rate * (self.base_ns + QUEUE_BOUND_NS), MSS)
        # At n = 1 DCQCN's; until n is known that of the line.
        if is_dart and self.n != 1:
            bound = min(bound, (self.share() * self.base_ns * 1.25 / (MSS + DATA_HEADER) + 2) * MSS)
        return bound

    def increase(self):
        """One step; the byte counter of 10 MB never expires here, so max(T, B) is T, min is 0."""
        if self.steps >= FAST:
            self.target = min(self.target + AI, LINE)
        self.rate = (self.rate + self.target) / 2

    def acked(self, now, is_marked):
        """The reaction point."""
        while now - self.since >= (self.decays + 1) * ALPHA_NS:
            self.decays += 1
            self.alpha *= 1 - GAIN
        while now - self.since >= (self.steps + 1) * TIMER_NS:
            self.steps += 1
            self.increase()
        if not is_marked or self.notified and now - self.since < NOTIFY_NS:
            return
        self.target = self.rate
        self.rate = max(self.rate * (1 - self.alpha / 2), LEAST)
        self.alpha = (1 - GAIN) * self.alpha + GAIN
        self.since, self.decays, self.steps, self.notified = now, 0, 0, True


class Host:
    """A sender, and a receiver that counts its senders."""

    def __init__(self, sim):
        self.sim, self.port = sim, None
        self.active = {}		# sender: its flows that are active
        self.state, self.against = NO_CONGESTION, 0
        self.bytes = self.marks = self.start_ns = self.marked_ns = self.most = 0

    def transmit(self, flow):
        """Send the next packet of a message, if window and pacing allow one."""
        flow.waits = False
        now, size = self.sim.now, min(MSS, flow.left)
        if now < flow.next_ns - 1e-6:
            self.sleep(flow)
        elif size and flow.inflight < flow.window(self.sim.is_dart):
            flow.left -= size
            flow.inflight += size
            self.port.put([flow, size, False, now, list(flow.out), False, None,
                           size + QUEUE_HEADER])
            flow.next_ns = now + size / flow.pace()
            if flow.left:
                self.sleep(flow)

    def sleep(self, flow):
        """Until pacing allows the next packet."""
        if not flow.waits:
            flow.waits = True
            self.sim.at(max(flow.next_ns, self.sim.now), self.transmit, flow)

    def receive(self, packet):
        """Data or an ACK."""
        flow = packet[FLOW]
        if packet[IS_ACK]:
            flow.inflight -= packet[BYTES]
            flow.n = packet[STATED]
            flow.acked(self.sim.now, packet[MARKED])
            if flow.left:
                self.sleep(flow)
            return
        flow.got += packet[BYTES]
        flow.pkts += 1
        if flow.got == flow.size:
            flow.end_ns = self.sim.now
        if self.sim.from_ns <= self.sim.now < self.sim.to_ns:
            flow.counted += packet[BYTES]
        is_marked, stated = packet[MARKED], None
        if self.sim.is_dart:
            is_marked, stated = self.apportion(flow, packet)
        flow.marked += is_marked
        self.port.put([flow, packet[BYTES], is_marked, self.sim.now, list(flow.back), True, stated,
                       0])

    def apportion(self, flow, packet):
        """Whether the mark passes, and n: Dart, Figures 4 and 5."""
        own = self.active.setdefault(flow.src, set())
        own.add(flow)
        # Look-ahead, section III-D: the first message of an incast lists all its senders.
        while flow.listed:
            one = flow.listed.pop()
            self.active.setdefault(one.src, set()).add(one)
        self.most = max(self.most, len(self.active))
        n = len(self.active) * len(own)
        if flow.got == flow.size:
            own.discard(flow)
            if not own:
                del self.active[flow.src]
        self.bytes += packet[BYTES] + DATA_HEADER
        self.marks += packet[MARKED]
        if self.sim.now - self.start_ns >= PERIOD_NS:
            self.period(self.sim.now - self.start_ns)
        passes = self.state == NON_RECEIVER
        return packet[MARKED] and passes, 1 if passes else n

    def period(self, elapsed_ns):
        """The end of a period."""
        now = self.sim.now
        if self.marks:
            # Receiver congestion is that of several senders (section II-C).
            is_full = self.most > 1 and self.bytes >= FULL * LINE * elapsed_ns
            state = RECEIVER if is_full else NON_RECEIVER
            self.against = self.against + 1 if state != self.state else 0
            if self.against >= PERIODS or self.against and is_full and not self.state:
                self.state, self.against = state, 0
            self.marked_ns = now
        elif now - self.marked_ns >= CLEAR_NS:
            self.state, self.against = NO_CONGESTION, 0
        self.bytes = self.marks = 0
        self.start_ns, self.most = now, len(self.active)


class Network:
    """The paper's Clos network, and its measurements."""

    def __init__(self, hosts=64, tor_hosts=8, pod_tors=4, over=4, seed=1, is_dart=False):
        self.now, self.events, self.count, self.is_dart = 0.0, [], 0, is_dart
        self.chance = random.Random(seed)
        self.tor_hosts, self.pod_hosts = tor_hosts, tor_hosts * pod_tors
        self.aggs, self.spines = tor_hosts // over, pod_tors
        self.hosts = [Host(self) for _ in range(hosts)]
        self.ports = {}
        self.from_ns = self.to_ns = 0
        for host in self.hosts:
            host.port = Port(self, Switch(), marks=False)

    def port(self, name, node=None):
        """The port of that name, made when first needed."""
        if name not in self.ports:
            self.ports[name] = Port(self, node or Switch())
        return self.ports[name]

    def at(self, when, call, *args):
        """Call at a time."""
        self.count += 1
        heapq.heappush(self.events, (when, self.count, call, args))

    def path(self, src, dst, agg, spine):
        """Ports from behind the sender's, last first."""
        tor, pod = src // self.tor_hosts, src // self.pod_hosts
        to_tor, to_pod = dst // self.tor_hosts, dst // self.pod_hosts
        ports = [self.port(("down", dst), self.hosts[dst])]
        if tor != to_tor:
            ports.append(self.port(("agg", to_pod, agg, to_tor)))
            if pod != to_pod:
                ports.append(self.port(("spine", agg, spine, to_pod)))
                ports.append(self.port(("up", pod, agg, spine)))
            ports.append(self.port(("tor", tor, agg)))
        return ports

    def message(self, src, dst, size, start_ns):
        """A message, on one of the equally short paths, its ACKs on the same."""
        agg, spine = self.chance.randrange(self.aggs), self.chance.randrange(self.spines)
        flow = Flow(src, dst, size, start_ns, self.path(src, dst, agg, spine),
                    self.path(dst, src, agg, spine))
        self.at(start_ns, self.hosts[src].transmit, flow)
        return flow

    def run(self, until_ns):
        """All events before a time."""
        while self.events and self.events[0][0] < until_ns:
            self.now, _, call, args = heapq.heappop(self.events)
            call(*args)


def incasts(load, share, window_ns, seed, hosts=64):
    """Messages of a mix, as dart-light.scenario has it, and lists of those of each incast."""
    chance, degree = random.Random(seed), 16
    messages, lists = [], []
    for src in chance.sample(range(hosts), round(load * (1 - share) * hosts)):
        dst = chance.choice([host for host in range(hosts) if host != src])
        messages.append((src, dst, 1 << 30, chance.uniform(0, 1e4)))
    per_ns = load * share * hosts * LINE / (degree * sum(SIZES) / len(SIZES))
    now = window_ns[0] + chance.expovariate(per_ns)
    while now < window_ns[1]:
        dst = chance.randrange(hosts)
        lists.append(range(len(messages), len(messages) + degree))
        for src in chance.sample([host for host in range(hosts) if host != dst], degree):
            messages.append((src, dst, chance.choice(SIZES), now + chance.uniform(0, JITTER_NS)))
        now += chance.expovariate(per_ns)
    return messages, lists


def simulate(messages, until_ns, window_ns, is_dart, seed=1, lists=()):
    """
    (percent of short messages' packets with marks that reach the sender, median and 99th
    percentile of 8 KB in us, long flows' payload in Gbit/s) of messages (src, dst, bytes, start).
    Messages of an incast in "lists" carry the list of its senders.
    """
    network = Network(seed=seed, is_dart=is_dart)
    network.from_ns, network.to_ns = window_ns
    flows = [network.message(*one) for one in messages]
    for numbers in lists:
        listed = [flows[number] for number in numbers]
        for flow in listed:
            flow.listed = listed
    network.run(until_ns)
    short = [flow for flow in flows if flow.size < LONG_BYTES]
    times = sorted(flow.end_ns - flow.start_ns for flow in short
                   if flow.size == 8192 and flow.end_ns)
    moved = sum(flow.counted for flow in flows if flow.size >= LONG_BYTES)
    return (100 * sum(flow.marked for flow in short) / sum(flow.pkts for flow in short),
            times[len(times) // 2] / 1000, times[len(times) * 99 // 100] / 1000,
            moved * 8 / (window_ns[1] - window_ns[0]))
