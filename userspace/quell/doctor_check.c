// SPDX-License-Identifier: GPL-2.0
/*
 * quell doctor: findings by the facts about a host.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attr.h"
#include "doctor.h"
#include "util.h"

/* A wait of the NIC that an algorithm steering by tens of microseconds sees as a queue. */
#define RX_DELAY_MAX_US	20

/* "ip netns exec " and a name. */
#define DOCTOR_NETNS_LEN	(DOCTOR_QUOTED_LEN(DOCTOR_NAME_LEN) + 24)

/**
 * doctor_report() - add a finding
 * @findings: the list; without memory for one, it is missing
 * @level: how grave it is
 * @check: the check; a constant
 * @text: the finding
 * @command: its fix, or NULL
 */
void doctor_report(struct findings *findings, enum doctor_level level, const char *check,
		   const char *text, const char *command)
{
	struct finding *f = list_grow(&findings->list, &findings->n, sizeof(*f));

	if (!f)
		return;
	f->level = level;
	f->check = check;
	snprintf(f->text, sizeof(f->text), "%s", text);
	snprintf(f->command, sizeof(f->command), "%s", command ? command : "");
}

/**
 * doctor_is_quell() - whether an algorithm is one of Quell's that are loaded
 * @host: the facts
 * @cc: name of the algorithm
 */
bool doctor_is_quell(const struct doctor_host *host, const char *cc)
{
	size_t i;

	for (i = 0; i < host->ccs.n; i++)
		if (!strcmp(cc, host->ccs.list[i].name) && strcmp(cc, "quell"))
			return true;
	return false;
}

/**
 * doctor_dev_name() - the name of an interface
 * @host: the facts
 * @ifindex: its index
 *
 * Return: its name; "DEV" if it is not known.
 */
const char *doctor_dev_name(const struct doctor_host *host, uint32_t ifindex)
{
	size_t i;

	for (i = 0; i < host->n_devs; i++)
		if (host->devs[i].ifindex == ifindex)
			return host->devs[i].name;
	return "DEV";
}

static void check_kernel(const struct doctor_host *host, struct findings *f)
{
	static const struct {
		enum doctor_level	level;
		const char		*text;
	} missing[DOCTOR_OPTIONS] = {
		[DOCTOR_NETFILTER] = { DOCTOR_FAULT, "this kernel has no CONFIG_NETFILTER, in whose"
				       " hooks quell.ko takes its time stamps" },
		[DOCTOR_NET_SCHED] = { DOCTOR_NOTE, "this kernel has no CONFIG_NET_SCHED, without"
				       " which it cannot be a switch (swport)" },
		[DOCTOR_HIGH_RES_TIMERS] = { DOCTOR_FAULT, "this kernel has no"
					     " CONFIG_HIGH_RES_TIMERS: pacing and tail probes are"
					     " of milliseconds" },
		[DOCTOR_TCP_DIAG] = { DOCTOR_NOTE, "this kernel has no CONFIG_INET_TCP_DIAG: ss and"
				      " quell flow do not show rates and losses" },
		[DOCTOR_BTF] = { DOCTOR_NOTE, "this kernel has no CONFIG_DEBUG_INFO_BTF, which"
				 " quell bpf and quell trace need" },
	};
	int i;

	if (!host->has_config)
		doctor_report(f, DOCTOR_NOTE, "kernel",
			      "the configuration of this kernel is neither in"
			      " /boot nor in /lib/modules", NULL);
	for (i = 0; host->has_config && i < DOCTOR_OPTIONS; i++)
		if (!host->option[i])
			doctor_report(f, missing[i].level, "kernel", missing[i].text, NULL);
}

/* The command that makes Quell's modules available; modprobe does not find one not installed. */
static void put_modprobe(char *command, size_t len, const struct doctor_host *host)
{
	if (host->has_modules)
		snprintf(command, len, "modprobe tcp_swift");
	else if (host->has_dkms)
		snprintf(command, len, "dkms autoinstall -k %s", host->release);
	else
		snprintf(command, len, "apt install quell-dkms");
}

/* Algorithms loaded as BPF objects do without modules. */
static void check_missing(const struct doctor_host *host, struct findings *f)
{
	char text[DOCTOR_TEXT_LEN], command[DOCTOR_TEXT_LEN];

	put_modprobe(command, sizeof(command), host);
	snprintf(text, sizeof(text), "the module quell is not %s%s%s%s",
		 host->has_modules ? "loaded" : "installed for this kernel",
		 *host->bpf_cc ? "; " : "", host->bpf_cc, *host->bpf_cc ? " does without" : "");
	doctor_report(f, *host->bpf_cc ? DOCTOR_NOTE : DOCTOR_FAULT, "module", text, command);
	if (host->locked && !*host->bpf_cc)
		doctor_report(f, DOCTOR_FAULT, "module",
			      "Secure Boot: this kernel loads only modules that"
			    " are signed with a key it knows; the BPF objects of quell-bpf do"
			    " without", "apt install quell-bpf");
}

static void check_modules(const struct doctor_host *host, struct findings *f)
{
	char command[DOCTOR_TEXT_LEN];

	if (!host->has_quell) {
		check_missing(host, f);
	} else if (host->ccs.n <= 1) {
		put_modprobe(command, sizeof(command), host);
		doctor_report(f, DOCTOR_FAULT, "module", "no module of an algorithm is loaded",
			      command);
	} else if (!host->flows.n && !doctor_is_quell(host, host->default_cc)) {
		snprintf(command, sizeof(command), "sysctl -w net.ipv4.tcp_congestion_control=%s",
			 host->ccs.list[1].name);
		doctor_report(f, DOCTOR_NOTE, "module", "no connection uses Quell, and none will by"
			      " default", command);
	}
}

/* Sources that are read in less than a microsecond. */
static bool is_fast_clock(const char *name)
{
	static const char * const slow[] = { "hpet", "acpi_pm", "jiffies", "refined-jiffies" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(slow); i++)
		if (!strcmp(name, slow[i]))
			return false;
	return true;
}

static void check_clock(const struct doctor_host *host, struct findings *f)
{
	char text[DOCTOR_TEXT_LEN], command[DOCTOR_TEXT_LEN] = "";
	char names[DOCTOR_TEXT_LEN], *name, *rest = names;

	if (is_fast_clock(host->clocksource))
		return;
	snprintf(names, sizeof(names), "%s", host->clocksources);
	while ((name = strsep(&rest, " ")) && (!*name || is_fast_clock(name) == false))
		;
	if (name)
		snprintf(command, sizeof(command), "echo %.32s >/sys/devices/system/clocksource/"
			 "clocksource0/current_clocksource", name);
	snprintf(text, sizeof(text), "time is read from %s, which takes microseconds for each packet",
		 host->clocksource);
	doctor_report(f, DOCTOR_FAULT, "clock", text, command);
}

static bool has_ecn_algorithm(const struct doctor_host *host)
{
	return doctor_is_quell(host, "smartt") || doctor_is_quell(host, "dcqcn") ||
	       doctor_is_quell(host, "dart");
}

static void check_sysctls(const struct doctor_host *host, struct findings *f)
{
	if (host->tcp_ecn == 0)
		doctor_report(f, has_ecn_algorithm(host) ? DOCTOR_FAULT : DOCTOR_NOTE, "ecn",
			      "this host refuses ECN: peers that send to it by smartt, dcqcn or"
			      " dart get no marks", "sysctl -w net.ipv4.tcp_ecn=2");
	if (host->tcp_sack == 0)
		doctor_report(f, DOCTOR_FAULT, "sack",
			      "selective acknowledgments are off: losses are"
			      " repaired one a round trip, or by a timeout",
			      "sysctl -w net.ipv4.tcp_sack=1");
}

static uint64_t largest_window_bytes(const struct flow_list *flows)
{
	uint64_t largest = 0;
	size_t i;

	for (i = 0; i < flows->n; i++)
		if (flows->list[i].window_bytes > largest)
			largest = flows->list[i].window_bytes;
	return largest;
}

static void check_memory(const struct doctor_host *host, struct findings *f)
{
	uint64_t window_bytes = largest_window_bytes(&host->flows);
	char text[DOCTOR_TEXT_LEN], command[DOCTOR_TEXT_LEN];

	if (host->tcp_mem[1] && host->tcp_pages >= host->tcp_mem[1]) {
		snprintf(text, sizeof(text), "TCP uses %" PRIu64 " pages, and from %" PRIu64 " on its"
			 " buffers are kept small", host->tcp_pages, host->tcp_mem[1]);
		snprintf(command, sizeof(command), "sysctl -w net.ipv4.tcp_mem=\"%" PRIu64 " %"
			 PRIu64 " %" PRIu64 "\"", 2 * host->tcp_mem[0], 2 * host->tcp_mem[1],
			 2 * host->tcp_mem[2]);
		doctor_report(f, DOCTOR_FAULT, "memory", text, command);
	}
	/* The stack counts more for a segment than its payload. */
	if (host->tcp_wmem[2] && host->tcp_wmem[2] < 2 * window_bytes) {
		snprintf(text, sizeof(text), "a flow has a window of %" PRIu64 " bytes, and its send"
			 " buffer is limited to %" PRIu64, window_bytes, host->tcp_wmem[2]);
		snprintf(command, sizeof(command), "sysctl -w net.ipv4.tcp_wmem=\"%" PRIu64 " %"
			 PRIu64 " %" PRIu64 "\"", host->tcp_wmem[0], host->tcp_wmem[1],
			 4 * window_bytes);
		doctor_report(f, DOCTOR_NOTE, "memory", text, command);
	}
}

static void check_dev(const struct doctor_dev *dev, struct findings *f)
{
	char text[DOCTOR_TEXT_LEN], command[DOCTOR_TEXT_LEN], name[DOCTOR_QUOTED_LEN(IF_NAMESIZE)];

	doctor_quote(name, sizeof(name), dev->name);
	if (dev->lro) {
		snprintf(text, sizeof(text), "%s merges packets before the host sees them (LRO): marks,"
			 " options and arrival times of all but one are lost", dev->name);
		snprintf(command, sizeof(command), "ethtool -K %s lro off", name);
		doctor_report(f, DOCTOR_FAULT, "offload", text, command);
	}
	snprintf(command, sizeof(command), "quell hwtstamp on %s", name);
	if (dev->can_stamp && !dev->stamps) {
		snprintf(text, sizeof(text), "%s can stamp all packets that it receives, and does not:"
			 " round trips contain the delays of this host", dev->name);
		doctor_report(f, DOCTOR_NOTE, "stamps", text, command);
	}
	if (dev->rx_delay_us > RX_DELAY_MAX_US && !dev->stamps) {
		snprintf(text, sizeof(text), "%s interrupts up to %u us late: an algorithm takes that"
			 " for a queue of the network", dev->name, dev->rx_delay_us);
		if (!dev->can_stamp)
			snprintf(command, sizeof(command), "ethtool -C %s adaptive-rx off rx-usecs 8",
				 name);
		doctor_report(f, DOCTOR_NOTE, "offload", text, command);
	}
	if (*dev->qdisc) {
		snprintf(text, sizeof(text), "packets wait or are dropped in this host, in the %s of %s:"
			 " an algorithm takes that for the network", dev->qdisc, dev->name);
		snprintf(command, sizeof(command), "tc qdisc del dev %s root", name);
		doctor_report(f, DOCTOR_NOTE, "qdisc", text, command);
	}
}

/* "ip netns exec NAME " in front of a command, or nsenter for a namespace without a name. */
static void put_netns(char *command, size_t len, const struct doctor_holder *h)
{
	char name[DOCTOR_QUOTED_LEN(DOCTOR_NAME_LEN)];

	doctor_quote(name, sizeof(name), h->netns);
	if (h->own)
		*command = '\0';
	else if (strchr(h->netns, '/'))
		snprintf(command, len, "nsenter --net=%s ", name);
	else
		snprintf(command, len, "ip netns exec %s ", name);
}

static void check_holder(const struct doctor_holder *h, struct findings *f)
{
	char text[DOCTOR_TEXT_LEN], command[DOCTOR_TEXT_LEN], netns[DOCTOR_NETNS_LEN];
	const char *where = h->own ? "this namespace" : h->netns;

	put_netns(netns, sizeof(netns), h);
	if (h->is_default) {
		snprintf(text, sizeof(text), "%s is the default of %s", h->cc, where);
		snprintf(command, sizeof(command), "%ssysctl -w net.ipv4.tcp_congestion_control=cubic",
			 netns);
		doctor_report(f, DOCTOR_HELD, "holders", text, command);
	}
	if (h->sockets) {
		snprintf(text, sizeof(text), "%s is used by %u socket%s of %s", h->cc, h->sockets,
			 h->sockets == 1 ? "" : "s", where);
		snprintf(command, sizeof(command), "%sss -tanpiO | grep -w %s", netns, h->cc);
		doctor_report(f, DOCTOR_HELD, "holders", text, command);
	}
}

/**
 * doctor_check() - findings by the facts
 * @host: the facts
 * @findings: empty; filled in
 *
 * Return: number of faults.
 */
int doctor_check(const struct doctor_host *host, struct findings *findings)
{
	int faults = 0;
	size_t i;

	check_kernel(host, findings);
	check_modules(host, findings);
	check_clock(host, findings);
	check_sysctls(host, findings);
	check_memory(host, findings);
	for (i = 0; i < host->n_devs; i++)
		check_dev(&host->devs[i], findings);
	doctor_check_flows(host, findings);
	for (i = 0; i < host->n_holders; i++)
		check_holder(&host->holders[i], findings);
	if (host->other_netns)
		doctor_report(findings, DOCTOR_HELD, "holders",
			      "other namespaces were not examined, which needs CAP_SYS_ADMIN",
				      NULL);
	for (i = 0; i < findings->n; i++)
		faults += findings->list[i].level == DOCTOR_FAULT;
	return faults;
}
