# SPDX-License-Identifier: GPL-2.0
"""Writes the plan the lab's init executes: one algorithm's run of a scenario.

The format is described in lab/PLAN-FORMAT.md.
"""

from . import credit, deflection, express, processes, routes, topology
from .physics import WIRE_OVERHEAD_BYTES
from .programs import OPTION_FILE

# Next hop of every route: cables need no ARP and no neighbour discovery.
GATEWAYS = {4: "169.254.0.1", 6: "fe80::1"}
DEFAULTS = {4: "0.0.0.0/0", 6: "::/0"}
HOST_BITS = {4: 32, 6: 128}
DEST_PORT = 5001
SENDERS_PORTS = 49000		# LABFLOW_SPORTS: so many flows send from ports of their own
HOST_QUEUE_PKTS = 100000	# a host never drops its own packets
HOST_QUEUE_BYTES = 1 << 28
LAB_MODULES = ("quell_labnic.ko", "quell_labflow.ko", "sch_swport.ko")
TRIM_ELIGIBLE_ALL = (1 << 64) - 1	# papers' switches trim whatever comes
ECN_MODES = {"dequeue": 1, "enqueue": 2}	# enum swport_ecn_mode
EXPEDITED_DSCP = 48		# class selector 6, the least that is control to swport
CLOCK_NS = 1700000000 * 10**9	# what a card that keeps the time of day says, about
DEFLECT_VIA_MAX = 16		# SWPORT_DEFLECT_VIA_MAX
OPTION_OFFER = 1		# parameter "option" of "quell"

# Hosts are Debian's TCP but for what a measurement at these rates needs.
HOST_SYSCTLS = (
    # Buffers start large: a window of one bandwidth-delay product must fit
    # from the first byte, and must not be what limits a flow later.
    ("net.ipv4.tcp_rmem", "4096 16777216 67108864"),
    ("net.ipv4.tcp_wmem", "4096 16777216 67108864"),
    # What one connection learned must not steer the next one to that host.
    ("net.ipv4.tcp_no_metrics_save", "1"),
)
SWITCH_SYSCTLS = {4: (("net.ipv4.ip_forward", "1"),),
                  6: (("net.ipv6.conf.all.forwarding", "1"),)}
# Switches hash addresses, protocol, ports, and with IPv6 the flow label.
HASH_FIELDS = {4: 0x37, 6: 0x3f}
HASH_BY_FIELDS = 3


def modules(scenario, variant):
    """Modules to load for one variant, in order."""
    ports = (variant.qdisc.module,) if variant.qdisc and variant.qdisc.module else ()
    return LAB_MODULES + ports + variant.modules


def write(scenario, variant):
    """Text of the plan for one variant."""
    lines = ["quell-plan 1"]
    lines += [f"module {name}" for name in modules(scenario, variant)]
    lines += _program(scenario, variant)
    own = {flow.src: flow.cc for flow in scenario.flows if flow.cc}
    lines.append(" ".join(["cc-allowed", *dict.fromkeys(["reno", variant.name,
                                                         *own.values()])]))
    lines += [f"node {node}" for node in scenario.graph.nodes]
    lines += _cables(scenario, variant)
    lines += _addresses(scenario)
    lines += _routes(scenario)
    lines += _sysctls(scenario, variant, own)
    lines += _qdiscs(scenario, variant)
    lines += _option(scenario, variant)
    if variant.hwstamp:
        lines += [f"stamps {host} {scenario.graph.ports[host][0].dev}"
                  for host in scenario.graph.hosts]
    for host in () if variant.program or variant.is_express else scenario.graph.hosts:
        lines += [f"param {host} {variant.name} {key} {value}"
                  for key, value in variant.values.items()]
    if variant.lookahead:
        lines += _groups(scenario)
    lines += [_flow(scenario, variant, flow) for flow in scenario.flows]
    lines += [f"watch {port.node} {port.dev}" for port in scenario.watched_ports()]
    lines.append(f"sample queue={scenario.record.queue_ns} flow={scenario.record.cwnd_ns} "
                 f"delivered={scenario.record.window_ns}")
    if scenario.record.truth:
        lines.append("truth")
    lines += [f"capture {port.node} {port.dev}" for port in scenario.record.pcap]
    lines += processes.plan_lines(scenario)
    lines.append(f"until {scenario.until_ns}")
    lines.append("run")
    return "\n".join(lines) + "\n"


def is_spoken(scenario, variant):
    """Whether the hosts of a BPF object speak the Quell option: as a module's would."""
    program = variant.program and variant.program.program
    return bool(program and program.core and (scenario.option or program.offers))


def _program(scenario, variant):
    """Its BPF object, loaded once for all hosts, with its parameters."""
    if not variant.program:
        return []
    program = variant.program.program
    command = ["bpf"]
    if is_spoken(scenario, variant):
        command = ["bpf-option", OPTION_FILE]
    return [" ".join([*command, program.file, program.ops,
                      *(f"{key}={value}" for key, value in variant.values.items())])]


def write_program(scenario, variant):
    """A plan that loads a variant's BPF object and ends."""
    return "\n".join(["quell-plan 1", *_program(scenario, variant), "end", ""])


def _cables(scenario, variant):
    """Both ends of a cable; every port appears once as the first end or the second."""
    graph = scenario.graph
    noisy = scenario.noisy_hosts()
    lines = []
    for node in graph.nodes:
        for port in graph.ports[node]:
            if port.cable.a == node:
                lines.append(f"link {node} {port.dev} {port.peer} {port.peer_dev} "
                             f"rate={port.cable.rate_bits_ps} delay={port.cable.delay_ns} "
                             f"mtu={port.cable.mtu_bytes}"
                             + (f" tso={scenario.tso_pkts}" if scenario.tso_pkts > 1 else "")
                             + (scenario.pfc.words(graph, port.cable) if scenario.pfc else "")
                             + _noise(scenario, port, noisy, len(lines) + 1)
                             + (express if variant.is_express else credit).words(
                                 graph, port, variant)
                             + _paces(scenario, port, variant)
                             + (_clocks(scenario, port, len(lines)) if variant.hwstamp else ""))
    return lines


def _noise(scenario, port, noisy, number):
    """Delay of the hosts at a cable's ends, drawn from the seed and the cable's number."""
    words = [f" {key}={scenario.noise.max_ns}"
             for key, node in (("noise", port.node), ("peer-noise", port.peer)) if node in noisy]
    return "".join(words + [f" noise-seed={port_seed(scenario, number)}"] if words else [])


def _paces(scenario, port, variant):
    """Rate at which hosts' cards at a cable's ends pace each flow."""
    if not variant.nic_pace_bits_ps:
        return ""
    return "".join(f" {end}pace={variant.nic_pace_bits_ps}"
                   for end, node in (("", port.node), ("peer-", port.peer))
                   if scenario.graph.is_host(node))


def _clocks(scenario, port, number):
    """Clocks of the hosts' cards at a cable: offsets and drifts all different."""
    return "".join(f" {end}phc-offset={CLOCK_NS + 12345 * number} "
                   f"{end}phc-drift={(-1) ** number * (20000 + 3000 * (number % 11))}"
                   for end, node in (("", port.node), ("peer-", port.peer))
                   if scenario.graph.is_host(node))


def _addresses(scenario):
    """One address a node, on its first port: a switch needs one to forward."""
    graph = scenario.graph
    return [f"addr {node} {graph.ports[node][0].dev} {_prefix(scenario, node)}"
            for node in graph.nodes]


def _prefix(scenario, node):
    return f"{scenario.graph.address(node, scenario.family)}/{HOST_BITS[scenario.family]}"


def _routes(scenario):
    """Hosts send all to their cable; switches know where hosts that send or receive are."""
    graph = scenario.graph
    gateway = GATEWAYS[scenario.family]
    lines = [f"route {host} {DEFAULTS[scenario.family]} via {gateway} "
             f"dev {graph.ports[host][0].dev}" for host in graph.hosts]
    ends = {end for flow in scenario.flows for end in (flow.src, flow.dst)}
    hosts = [host for host in graph.hosts if host in ends or scenario.processes]
    for switch in graph.switches:
        for base, bits, way in routes.cover(list(_ways(scenario, switch, hosts))):
            lines.append(f"route {switch} {topology.host_address(base, scenario.family)}"
                         f"/{HOST_BITS[scenario.family] - bits} "
                         + " ".join(f"via {gateway} dev {dev}" for dev in way))
    return lines


def _ways(scenario, switch, hosts):
    """(number, devices towards it) of every host that the switch reaches."""
    for host in hosts:
        hops = scenario.graph.next_hops(switch, host)
        if hops:
            yield (scenario.graph.number(host),
                   tuple(hop.dev for hop in (hops if scenario.multipath else hops[:1])))


def _sysctls(scenario, variant, own):
    graph = scenario.graph
    lines = []
    for host in graph.hosts:
        lines.append(f"sysctl {host} net.ipv4.tcp_congestion_control "
                     f"{own.get(host, variant.name)}")
        lines += [f"sysctl {host} {key} {value}"
                  for key, value in (*HOST_SYSCTLS, *scenario.sysctls)]
        if variant.tcp_ecn is not None:
            lines.append(f"sysctl {host} net.ipv4.tcp_ecn {variant.tcp_ecn}")
        # A probe for a lost tail is new data, which no credit pays for.
        if variant.is_express:
            lines.append(f"sysctl {host} net.ipv4.tcp_early_retrans 0")
        if not variant.rehash:
            lines.append(f"sysctl {host} net.core.txrehash 0")
    levels = graph.levels()
    for number, switch in enumerate(graph.switches, 1):
        lines += [f"sysctl {switch} {key} {value}"
                  for key, value in SWITCH_SYSCTLS[scenario.family]]
        if scenario.multipath:
            # By tier, and by what both ways of a flow have in common, both take the same path.
            lines += (_hashing(scenario, switch, levels.get(switch, 0), HASH_FIELDS[4])
                      if variant.is_express else
                      _hashing(scenario, switch, number, HASH_FIELDS[scenario.family]))
        # A deflected packet may leave by the port it came by: no news for its sender.
        if scenario.queue.deflection:
            lines += [f"sysctl {switch} net.ipv4.conf.{dev}.send_redirects 0"
                      for dev in ("all", *(port.dev for port in graph.ports[switch]))]
    return lines


def _hashing(scenario, switch, number, fields):
    """How a switch chooses among equal paths, with a seed of that number."""
    where = f"sysctl {switch} net.ipv{scenario.family}.fib_multipath_hash_"
    return [f"{where}policy {HASH_BY_FIELDS}",
            f"{where}fields {fields}",
            f"sysctl {switch} net.ipv4.fib_multipath_hash_seed {port_seed(scenario, number)}"]


def _option(scenario, variant):
    if "quell.ko" not in variant.modules:
        return []
    lines = []
    if variant.tcp_int:
        lines += [f"param {host} quell tcp-int {variant.tcp_int}"
                  for host in scenario.graph.hosts]
    if variant.tail_floor_ns:
        lines += [f"param {host} quell tail-floor {variant.tail_floor_ns}"
                  for host in scenario.graph.hosts]
    lines += [f"param {host} quell acks-per-rtt {variant.acks_per_rtt}"
              for host in scenario.graph.hosts]
    # As in the papers, a packet leaves as soon as the window has room for it.
    if not variant.acks_per_rtt:
        lines += [f"param {host} quell burst 0" for host in scenario.graph.hosts]
    lines += credit.lines(scenario.graph, variant)
    if not scenario.option:
        return lines
    lines += [f"param {host} quell option {OPTION_OFFER}" for host in scenario.graph.hosts]
    if scenario.family == 6:
        lines += [f"param {host} quell entropies {variant.entropies}"
                  for host in scenario.graph.hosts]
        if not variant.recycle:
            lines += [f"param {host} quell recycle 0" for host in scenario.graph.hosts]
    return lines


def _groups(scenario):
    """Look-ahead groups, named by their number."""
    graph = scenario.graph
    return [f"lookahead {group.receiver} {graph.ports[group.receiver][0].dev} g{number} "
            f"{group.time_ns} "
            + " ".join(graph.address(name, scenario.family) for name in group.members)
            for number, group in enumerate(scenario.groups, 1)]


def _qdiscs(scenario, variant):
    queue = scenario.queue
    swport = f"swport limit={queue.limit_bytes} control-limit={queue.control_limit_bytes}"
    if queue.ecn_max_bytes:
        swport += (f" ecn-mode={ECN_MODES[queue.ecn_mode]} ecn-min={queue.ecn_min_bytes} "
                   f"ecn-max={queue.ecn_max_bytes} ecn-prob={queue.ecn_prob_q16}")
    if queue.telemetry_ns:
        swport += f" telemetry={queue.telemetry_ns} overhead={WIRE_OVERHEAD_BYTES}"
    if queue.trim_bytes:
        eligible = TRIM_ELIGIBLE_ALL if queue.trim_all else 0
        swport += (f" trim={queue.trim_bytes} trim-eligible={eligible}"
                   f" trim-to-sender={int(queue.trim_to_sender)}")
    if queue.tcp_int_ns:
        swport += f" tcp-int={queue.tcp_int_ns}"
    if queue.buffer_bytes:
        swport += f" buffer={queue.buffer_bytes} alpha={queue.alpha_q16}"
    lines = []
    own = _own_qdisc(queue, variant)
    for host in scenario.graph.hosts:
        dev = scenario.graph.ports[host][0].dev
        lines.append(f"qdisc {host} {dev} "
                     + (own(HOST_QUEUE_BYTES) if own else _host_qdisc(scenario)))
    number = 0
    for switch in scenario.graph.switches:
        for port in scenario.graph.ports[switch]:
            number += 1
            if own or variant.qdisc:
                lines.append(f"qdisc {switch} {port.dev} "
                             + (own(queue.limit_bytes) if own else
                                variant.qdisc.plan(port.cable.rate_bits_ps)))
                continue
            lines.append(f"qdisc {switch} {port.dev} bfifo limit={queue.limit_bytes}"
                         if switch in queue.fifo else
                         f"qdisc {switch} {port.dev} {swport} seed={port_seed(scenario, number)}"
                         + (_deflection(scenario, port) if variant.deflect else ""))
    return lines


def _own_qdisc(queue, variant):
    """What makes the ports of an algorithm that has its own, for a limit; None: swport."""
    if variant.is_express:
        return express.qdisc
    return queue.rcp.qdisc if variant.is_rcp else None


def _host_qdisc(scenario):
    """
    What a host sends through: it never drops, and marks only if told to.  Only
    swport lets control by what is paused.
    """
    queue = scenario.queue
    if not queue.host_ecn_max_bytes and not scenario.pfc:
        return f"pfifo limit={HOST_QUEUE_PKTS}"
    swport = f"swport limit={HOST_QUEUE_BYTES} control-limit={HOST_QUEUE_BYTES}"
    if not queue.host_ecn_max_bytes:
        return f"{swport} seed=1"
    return (f"{swport} ecn-mode={ECN_MODES[queue.ecn_mode]} ecn-min={queue.host_ecn_min_bytes} "
            f"ecn-max={queue.host_ecn_max_bytes} ecn-prob={queue.ecn_prob_q16} seed=1")


def _deflection(scenario, port):
    """Other ways of a port, as many as it takes; never to a host."""
    values = scenario.queue.deflection
    ways = (deflection.alternates(scenario.graph, port, values.ways)[:DEFLECT_VIA_MAX]
            if values else [])
    if not ways:
        return ""
    gateway = GATEWAYS[scenario.family]
    return (f" deflect={deflection.threshold_bytes(values, port, ways)} "
            f"deflect-entries={values.entries} "
            f"deflect-base={values.base} deflect-tokens={values.tokens} "
            f"deflect-idle={values.idle_ns} "
            f"deflect-release={deflection.RELEASES.index(values.release)} "
            f"deflect-choice={deflection.CHOICES.index(values.choice)} "
            f"deflect-via={','.join(f'{gateway}@{way.dev}' for way in ways)}")


def port_seed(scenario, number):
    """Seed of one port's lottery: 1..2^32-1, never 0, which means random."""
    return (scenario.seed * 65537 + number - 1) % (2**32 - 1) + 1


def _flow(scenario, variant, flow):
    dscp = EXPEDITED_DSCP if flow.dscp and variant.expedite else flow.dscp
    address = scenario.graph.address(flow.dst, scenario.family)
    port = DEST_PORT + ((flow.on or flow.number) - 1) // SENDERS_PORTS
    return (f"flow {flow.number} {flow.src} {flow.dst} {address} {port} {flow.size_bytes} {flow.start_ns} "
            f"{'cold' if flow.cold else 'warm'}"
            + (f" stop={flow.stop_ns}" if flow.stop_ns else "")
            + (f" dscp={dscp}" if dscp else "")
            + (f" after={flow.after}" if flow.after else "")
            + (f" on={flow.on}" if flow.on else "")
            + (f" queued={flow.queued_bytes}" if flow.queued_bytes else "")
            + (f" wake={flow.wake_ns}" if flow.wake_ns else ""))
