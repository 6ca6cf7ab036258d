// SPDX-License-Identifier: GPL-2.0
/*
 * quell doctor without a kernel: files of a tree made for the purpose, and the findings of facts,
 * each with its fix.
 */
#include <limits.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_doctor.h"

static char root[] = "/tmp/quell-test-XXXXXX";

/* A file of the tree, with the directories above it. */
static void put_file(const char *path, const char *text)
{
	char full[PATH_MAX], *slash;
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (slash = full + strlen(root); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	file = fopen(full, "w");
	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

static void remove_tree(void)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		fprintf(stderr, "cannot remove %s\n", root);
}

#define CLOCK	"/sys/devices/system/clocksource/clocksource0/"

TEST(doctor_read_files__whole_tree)
{
	struct doctor_host h = {};

	ASSERT_NE(NULL, mkdtemp(root));
	put_file("/proc/sys/kernel/osrelease", "6.12.1-x\n");
	put_file("/boot/config-6.12.1-x", "# CONFIG_NET_SCHED is not set\nCONFIG_NETFILTER=y\n"
		 "CONFIG_NETFILTER_ADVANCED=y\nCONFIG_INET_TCP_DIAG=m\nCONFIG_DEBUG_INFO_BTF=\"y\"\n");
	put_file("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	put_file("/sys/module/quell/refcnt", "2\n");
	put_file("/proc/sys/net/ipv4/tcp_congestion_control", "a-name-that-is-too-long\n");
	put_file("/proc/sys/net/ipv4/tcp_available_congestion_control",
		 "reno cubic my_bpf_cc bpf_timely bpf_swift\n");
	put_file("/lib/modules/6.12.1-x/modules.dep", "kernel/net/a.ko:\nupdates/dkms/tcp_swift.ko.xz:"
		 " updates/dkms/quell.ko.xz\n");
	put_file("/var/lib/dkms/quell/0.1.0/source", "");
	put_file(CLOCK "current_clocksource", "hpet\n");
	put_file(CLOCK "available_clocksource", "hpet acpi_pm tsc \n");
	put_file("/proc/sys/net/ipv4/tcp_ecn", "0\n");
	put_file("/proc/sys/net/ipv4/tcp_mem", "1\t2\t3\n");
	put_file("/proc/sys/net/ipv4/tcp_wmem", "4096 16384\n");
	put_file("/proc/net/sockstat", "sockets: used 9\nTCP: inuse 5 orphan 0 tw 0 alloc 7 mem 31\n"
		 "UDP: inuse 3 mem 1\n");
	doctor_read_files(&h, root);
	remove_tree();

	EXPECT_EQ(0, strcmp("6.12.1-x", h.release));
	EXPECT_TRUE(h.has_config);
	EXPECT_TRUE(h.has_modules);
	EXPECT_TRUE(h.has_dkms);
	EXPECT_EQ(0, strcmp("bpf_timely", h.bpf_cc));
	EXPECT_TRUE(h.option[DOCTOR_NETFILTER]);
	EXPECT_FALSE(h.option[DOCTOR_NET_SCHED]);
	EXPECT_TRUE(h.option[DOCTOR_TCP_DIAG]);
	EXPECT_FALSE(h.option[DOCTOR_BTF]);
	EXPECT_TRUE(h.locked);
	EXPECT_TRUE(h.has_quell);
	EXPECT_EQ(0, strcmp("a-name-that-is-", h.default_cc));
	EXPECT_EQ(0, strcmp("hpet", h.clocksource));
	EXPECT_EQ(0, h.tcp_ecn);
	EXPECT_EQ(DOCTOR_UNKNOWN, h.tcp_sack);
	EXPECT_EQ(2, h.tcp_mem[1]);
	EXPECT_EQ(0, h.tcp_wmem[0])
		TH_LOG("two numbers are not three");
	EXPECT_EQ(31, h.tcp_pages);
}

TEST(doctor_read_files__no_tree)
{
	struct doctor_host h = {};

	doctor_read_files(&h, "/nowhere");
	EXPECT_FALSE(h.has_config);
	EXPECT_FALSE(h.has_quell);
	EXPECT_FALSE(h.locked);
	EXPECT_EQ(DOCTOR_UNKNOWN, h.tcp_ecn);
	EXPECT_EQ(0, h.tcp_pages);
}

static struct flow sound_flow(void)
{
	return (struct flow){ .cc = "swift", .family = AF_INET, .daddr = { 10, 0, 0, 2 },
			      .ifindex = 3, .link_bytes_ps = 1, .rtt_ns = 20000, .min_rtt_ns = 10000,
			      .target_ns = 30000, .limited_by = "window", .window_bytes = 1000,
			      .option = "no-reply" };
}

static void check(struct __test_metadata *_metadata, const struct doctor_host *h,
		  const char *want)
{
	struct findings findings = {};

	doctor_check(h, &findings);
	expect_findings(_metadata, &findings, want);
}

TEST(doctor_check__sound)
{
	struct flow flow = sound_flow();
	struct doctor_host h = sound_host();

	check(_metadata, &h, "");
	h.flows = (struct flow_list){ .list = &flow, .n = 1 };
	h.default_cc[0] = '\0';
	check(_metadata, &h, "");
}

TEST(doctor_check__host_cases)
{
	struct doctor_host h = sound_host();

	h.option[DOCTOR_HIGH_RES_TIMERS] = false;
	h.option[DOCTOR_BTF] = false;
	check(_metadata, &h, "0 kernel this kernel has no CONFIG_HIGH_RES_TIMERS: pacing and tail"
	      " probes are of milliseconds\n1 kernel this kernel has no CONFIG_DEBUG_INFO_BTF,"
	      " which quell bpf and quell trace need\n");
	h = sound_host();
	h.has_quell = false;
	h.locked = true;
	check(_metadata, &h, "0 module the module quell is not loaded\nmodprobe tcp_swift\n"
	      "0 module Secure Boot: this kernel loads only modules that are signed with a key it"
	      " knows; the BPF objects of quell-bpf do without\n"
	      "apt install ./quell-bpf_*.deb  # from make deb, INSTALL.md\n");
	h = sound_host();
	h.ccs.n = 1;
	check(_metadata, &h, "0 module no module of an algorithm is loaded\nmodprobe tcp_swift\n");
	h = sound_host();
	strcpy(h.default_cc, "cubic");
	check(_metadata, &h, "1 module no connection uses Quell, and none will by default\n"
	      "sysctl -w net.ipv4.tcp_congestion_control=swift\n");
	h = sound_host();
	strcpy(h.clocksource, "hpet");
	strcpy(h.clocksources, "hpet acpi_pm tsc ");
	check(_metadata, &h, "0 clock time is read from hpet, which takes microseconds for each"
	      " packet\necho tsc >" CLOCK "current_clocksource\n");
	strcpy(h.clocksources, "hpet ");
	check(_metadata, &h, "0 clock time is read from hpet, which takes microseconds for each"
	      " packet\n");
	h = sound_host();
	h.tcp_ecn = 0;
	h.tcp_sack = 0;
	check(_metadata, &h, "0 ecn this host refuses ECN: peers that send to it by smartt, dcqcn or"
	      " dart get no marks\nsysctl -w net.ipv4.tcp_ecn=2\n0 sack selective acknowledgments"
	      " are off: losses are repaired one a round trip, or by a timeout\n"
	      "sysctl -w net.ipv4.tcp_sack=1\n");
}

/* modprobe is for modules that are installed; a host with BPF algorithms needs no module. */
TEST(doctor_check__install_cases)
{
	struct doctor_host h = sound_host();

	h.has_modules = false;
	h.ccs.n = 1;
	check(_metadata, &h, "0 module no module of an algorithm is loaded\n"
	      "apt install ./quell-dkms_*.deb  # from make deb, INSTALL.md\n");
	h.has_quell = false;
	strcpy(h.release, "6.12.1-x");
	check(_metadata, &h, "0 module the module quell is not installed for this kernel\n"
	      "apt install ./quell-dkms_*.deb  # from make deb, INSTALL.md\n");
	h.has_dkms = true;
	check(_metadata, &h, "0 module the module quell is not installed for this kernel\n"
	      "dkms autoinstall -k 6.12.1-x\n");
	h.locked = true;
	strcpy(h.bpf_cc, "bpf_swift");
	check(_metadata, &h, "1 module the module quell is not installed for this kernel; bpf_swift"
	      " does without\ndkms autoinstall -k 6.12.1-x\n");
	h.has_modules = true;
	check(_metadata, &h, "1 module the module quell is not loaded; bpf_swift does without\n"
	      "modprobe tcp_swift\n");
}

TEST(doctor_check__memory_cases)
{
	struct flow flow = sound_flow();
	struct doctor_host h = sound_host();

	h.tcp_pages = 200;
	check(_metadata, &h, "0 memory TCP uses 200 pages, and from 200 on its buffers are kept"
	      " small\nsysctl -w net.ipv4.tcp_mem=\"200 400 600\"\n");
	h = sound_host();
	flow.window_bytes = 2097153;
	h.flows = (struct flow_list){ .list = &flow, .n = 1 };
	check(_metadata, &h, "1 memory a flow has a window of 2097153 bytes, and its send buffer is"
	      " limited to 4194304\nsysctl -w net.ipv4.tcp_wmem=\"4096 16384 8388612\"\n");
}

TEST(doctor_check__dev_cases)
{
	struct doctor_dev dev = { .name = "eth0", .ifindex = 3, .lro = true, .can_stamp = true,
				  .rx_delay_us = 21 };
	struct doctor_host h = sound_host();

	h.devs = &dev;
	h.n_devs = 1;
	check(_metadata, &h, "0 offload eth0 merges packets before the host sees them (LRO): marks,"
	      " options and arrival times of all but one are lost\nethtool -K eth0 lro off\n"
	      "1 stamps eth0 can stamp all packets that it receives, and does not: round trips"
	      " contain the delays of this host\nquell hwtstamp on eth0\n"
	      "1 offload eth0 interrupts up to 21 us late: an algorithm takes that for a queue of"
	      " the network\nquell hwtstamp on eth0\n");
	dev.lro = false;
	dev.can_stamp = false;
	check(_metadata, &h, "1 offload eth0 interrupts up to 21 us late: an algorithm takes that"
	      " for a queue of the network\nethtool -C eth0 adaptive-rx off rx-usecs 8\n");
	dev.stamps = true;
	strcpy(dev.root, "fq");
	check(_metadata, &h, "");
	dev.drop_pkts = 12;
	check(_metadata, &h, "1 port the fq of eth0 has dropped 12 packets in this host\n"
	      "tc -s qdisc show dev eth0\n");
	strcpy(dev.root, "swport");
	dev.mark_pkts = 3456;
	check(_metadata, &h, "1 port the switch port of eth0 has dropped 12 packets, marked 3456 and"
	      " trimmed 0\ntc -s qdisc show dev eth0\n");
	dev.drop_pkts = dev.mark_pkts = 0;
	check(_metadata, &h, "");
	strcpy(dev.qdisc, "tbf");
	check(_metadata, &h, "1 qdisc packets wait or are dropped in this host, in the tbf of eth0:"
	      " an algorithm takes that for the network\ntc qdisc del dev eth0 root\n");
}

/* ip(8) takes no scope in an address. */
TEST(doctor_check__link_local)
{
	struct doctor_dev dev = { .name = "eth0", .ifindex = 1 };
	struct flow flow = sound_flow();
	struct doctor_host h = sound_host();
	struct findings findings = {};

	flow.family = AF_INET6;
	memcpy(flow.daddr, (uint8_t[16]){ 0xfe, 0x80, [15] = 2 }, sizeof(flow.daddr));
	flow.ifindex = dev.ifindex;
	flow.fallback = "long-path";
	h.devs = &dev;
	h.n_devs = 1;
	h.flows = (struct flow_list){ .list = &flow, .n = 1 };
	doctor_check(&h, &findings);
	ASSERT_EQ(1, findings.n);
	EXPECT_STREQ("ip route get fe80::2 dev eth0    # that route again, with congctl cubic behind"
		     " it", findings.list[0].command);
	free(findings.list);
}

TEST(doctor_quote__names)
{
	char buf[DOCTOR_QUOTED_LEN(IF_NAMESIZE)], small[DOCTOR_QUOTED_LEN(3)];
	static const struct {
		const char	*name;
		const char	*word;
	} rows[] = {
		{ "eth0.5@x:y-z_", "eth0.5@x:y-z_" }, { "fe80::1%eth0", "fe80::1%eth0" },
		{ "", "''" }, { "a b", "'a b'" }, { "X$(id)", "'X$(id)'" }, { "~", "'~'" },
		{ "a'b", "'a'\\''b'" }, { "a\\b", "'a\\b'" }, { "\303\274", "'\303\274'" },
		{ "\033[1mX'\\$(id)", "$'\\x1b[1mX\\'\\\\$(id)'" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT_EQ(0, strcmp(rows[i].word, doctor_quote(buf, sizeof(buf), rows[i].name)))
			TH_LOG("row %zu: %s", i, buf);
	/* Cut off, it still ends. */
	doctor_quote(small, sizeof(small), "'' '' ' '");
	EXPECT_EQ('\'', small[strlen(small) - 1]);
}

/* The name of an interface or a namespace, chosen by another user, is not run by the shell. */
TEST(doctor_check__hostile_names)
{
	struct doctor_dev dev = { .name = "\033[31mX$(id)", .ifindex = 3, .lro = true,
				  .qdisc = "tbf" };
	struct doctor_holder holder = { "swift", "n;id", false, true, 0 };
	struct flow flow = sound_flow();
	struct doctor_host h = sound_host();

	h.devs = &dev;
	h.n_devs = 1;
	flow.link_bytes_ps = 0;
	h.flows = (struct flow_list){ .list = &flow, .n = 1 };
	h.holders = &holder;
	h.n_holders = 1;
	check(_metadata, &h, "0 offload \033[31mX$(id) merges packets before the host sees them (LRO):"
	      " marks, options and arrival times of all but one are lost\n"
	      "ethtool -K $'\\x1b[31mX$(id)' lro off\n"
	      "1 qdisc packets wait or are dropped in this host, in the tbf of \033[31mX$(id): an"
	      " algorithm takes that for the network\ntc qdisc del dev $'\\x1b[31mX$(id)' root\n"
	      "1 link 1 of 1 flows, one to 10.0.0.2, leave by \033[31mX$(id), whose driver does not"
	      " report its rate\nquell link set $'\\x1b[31mX$(id)' rate 10gbit\n"
	      "2 holders swift is the default of n;id\n"
	      "ip netns exec 'n;id' sysctl -w net.ipv4.tcp_congestion_control=cubic\n");
}

TEST(doctor_check__flow_cases)
{
	struct doctor_dev dev = { .name = "eth0", .ifindex = 3 };
	struct flow flows[] = { sound_flow(), sound_flow(), sound_flow() };
	struct doctor_host h = sound_host();

	h.devs = &dev;
	h.n_devs = 1;
	h.flows = (struct flow_list){ .list = flows, .n = ARRAY_SIZE(flows) };
	flows[1].cc = "hpcc_vaisf";
	flows[2].option = "stripped";
	check(_metadata, &h, "0 peer 1 of 3 flows, one to 10.0.0.2, lost the Quell option: something"
	      " on the path removes TCP options it does not know\n"
	      "0 peer 1 of 3 flows, one to 10.0.0.2, get no answer to the Quell option, which"
	      " hpcc_vaisf needs: the peer uses no algorithm of Quell\non 10.0.0.2:"
	      " sysctl -w net.ipv4.tcp_congestion_control=hpcc_vaisf\n");
	/* No switch can write where there is no option. */
	flows[1].fallback = "no-records";
	flows[2].fallback = "no-records";
	flows[1].option = "no-room";
	flows[2].cc = "hpcc";
	check(_metadata, &h, "0 peer 1 of 3 flows, one to 10.0.0.2, lost the Quell option: something"
	      " on the path removes TCP options it does not know\n"
	      "1 peer 1 of 3 flows, one to 10.0.0.2, have no room for the Quell option, which"
	      " hpcc_vaisf needs: they are MPTCP's, or signed (MD5, AO)\n");
	flows[1] = sound_flow();
	flows[2] = sound_flow();
	flows[2].option = "no-room";
	check(_metadata, &h, "");
	flows[2] = sound_flow();
	flows[1].target_ns = 9999;
	flows[2].target_ns = 9999;
	flows[2].adapt = "fallback";
	flows[2].fallback = "noise";
	flows[2].noise_ns = 90000;
	flows[2].fit_target_ns = 81000;
	check(_metadata, &h, "0 target 1 of 3 flows, one to 10.0.0.2, have a target below the round"
	      " trip of their path, and the smallest window\nquell cc reset swift\n"
	      "1 fallback 1 of 3 flows, one to 10.0.0.2, are governed by CUBIC: the delays of the"
	      " hosts, 90.0us, are larger than the target, 81.0us\n");
	flows[1] = sound_flow();
	dev.can_stamp = true;
	check(_metadata, &h, "1 stamps eth0 can stamp all packets that it receives, and does not:"
	      " round trips contain the delays of this host\nquell hwtstamp on eth0\n"
	      "1 fallback 1 of 3 flows, one to 10.0.0.2, are governed by CUBIC: the delays of the"
	      " hosts, 90.0us, are larger than the target, 81.0us\nquell hwtstamp on eth0\n");
	/* A card that accepts the filter and stamps no packet */
	dev.stamps = true;
	flows[2] = sound_flow();
	flows[2].clock = QUELL_CLOCK_SOFTWARE;
	check(_metadata, &h, "1 stamps 1 of 3 flows, one to 10.0.0.2, are timed by software, though"
	      " eth0 is set to stamp all packets: it stamps no TCP packet, or too few were received"
	      " to map its clock\nquell stat -a quell    # hardware-stamps, -warming, -refused: all 0 if"
	      " it stamps no packet\n");
	flows[2].clock = QUELL_CLOCK_HARDWARE;
	check(_metadata, &h, "");
	dev.stamps = false;
	dev.can_stamp = false;
	flows[1].limited_by = "receiver";
	flows[2] = sound_flow();
	flows[2].link_bytes_ps = 0;
	check(_metadata, &h, "1 receiver 1 of 3 flows, one to 10.0.0.2, are held back by the receive"
	      " window of the peer\non 10.0.0.2: sysctl -w net.ipv4.tcp_rmem=\"4096 131072"
	      " 16777216\"\n1 link 1 of 3 flows, one to 10.0.0.2, leave by eth0, whose driver does"
	      " not report its rate\nquell link set eth0 rate 10gbit\n");
}

/* Which option has the records, and why it does not come, is by the settings of quell.ko. */
TEST(doctor_check__option_cases)
{
	struct param params[] = { { .name = "option", .value = 2 },
				  { .name = "tcp-int", .value = 1 } };
	struct cc ccs[] = { { .name = "quell", .params = params, .n_params = 2 },
			    { .name = "hpcc" } };
	struct flow flow = sound_flow();
	struct doctor_host h = sound_host();

	flow.cc = "hpcc";
	flow.option = "not-offered";
	flow.fallback = "no-records";
	h.ccs = (struct cc_list){ ccs, ARRAY_SIZE(ccs) };
	h.flows = (struct flow_list){ .list = &flow, .n = 1 };
	check(_metadata, &h, "0 peer 1 of 1 flows, one to 10.0.0.2, began without the Quell option,"
	      " which hpcc needs: the host that opened them used no algorithm of Quell then\n"
	      "on 10.0.0.2: sysctl -w net.ipv4.tcp_congestion_control=hpcc\n");
	params[0].value = 0;
	check(_metadata, &h, "0 peer 1 of 1 flows, one to 10.0.0.2, began without the Quell option,"
	      " which hpcc needs: this host does not use it\nquell cc set quell option 2\n");
	params[1].value = 2;
	check(_metadata, &h, "1 fallback 1 of 1 flows, one to 10.0.0.2, are governed by CUBIC: no"
	      " switch writes to the TCP-INT option, or the peer does not echo it\non each switch:"
	      " tc qdisc replace dev DEV root swport tcp-int 10us\n");
	flow.option = "no-reply";
	flow.fallback = NULL;
	check(_metadata, &h, "");
	/* Dart's n comes by the Quell option alone. */
	flow.cc = "dart";
	check(_metadata, &h, "0 peer 1 of 1 flows, one to 10.0.0.2, get no answer to the Quell option,"
	      " which dart needs: the peer uses no algorithm of Quell\non 10.0.0.2: sysctl -w"
	      " net.ipv4.tcp_congestion_control=dart\n");
	/* Neither option has room. */
	flow.cc = "hpcc";
	flow.option = "no-room";
	flow.fallback = "no-records";
	check(_metadata, &h, "1 peer 1 of 1 flows, one to 10.0.0.2, have no room for the Quell option,"
	      " which hpcc needs: they are MPTCP's, or signed (MD5, AO)\n");
}

/* Each reason with the numbers that it is made of, and how long it has held. */
TEST(doctor_check__fallback_cases)
{
	static const struct {
		const char	*reason;
		uint64_t	path_bytes_ps;
		const char	*says;
	} rows[] = {
		{ "no-marks", 0, "no switch marks, or the peer refuses ECN" },
		{ "no-records", 0, "no switch writes telemetry" },
		{ "noise", 0, "the delays of the hosts, 90.0us, are larger than the target, 60.0us" },
		{ "long-path", 0, "the round trip without a queue, 35.0us, is longer than the 30.0us"
				  " that timely is made for; a route can say so" },
		{ "slow-path", 85000000, "the share of the path, 680Mbit/s, is less than the"
					  " 1.00Gbit/s that timely is made for" },
		{ "slow-path", 125000000, "the share of the path was less than the 1.00Gbit/s that"
					  " timely is made for when last checked, and is"
					  " 1.00Gbit/s now" },
		{ "early-loss", 0, "packets were lost before a queue made the round trip as long as"
				   " the target, 60.0us: a buffer of the path is too short for timely" },
		{ "delay-stays", 0, "smaller windows did not bring the round trip, now 1.70ms, down to"
				    " the target, 60.0us: other flows fill the queue, or the path"
				    " became longer" },
	};
	struct doctor_host h = sound_host();
	struct findings findings = {};
	struct flow flow = sound_flow();
	char says[DOCTOR_TEXT_LEN];

	flow.cc = "timely";
	flow.base_ns = 35000;
	flow.longest_ns = 30000;
	flow.standing_ns = 1700000;
	flow.fit_target_ns = 60000;
	flow.noise_ns = 90000;
	flow.least_bytes_ps = 125000000;
	flow.search_ns = 20000000;
	flow.cubic_ns = 5980000000;
	h.flows = (struct flow_list){ .list = &flow, .n = 1 };
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		flow.fallback = (char *)rows[i].reason;
		flow.path_bytes_ps = rows[i].path_bytes_ps;
		findings.n = 0;
		doctor_check(&h, &findings);
		ASSERT_EQ(1, findings.n);
		snprintf(says, sizeof(says), "1 of 1 flows, one to 10.0.0.2, are governed by CUBIC for"
			 " 5.98s (99.7%% of its time): %s", rows[i].says);
		EXPECT_EQ(0, strcmp(findings.list[0].text, says))
			TH_LOG("%s: %s", rows[i].reason, findings.list[0].text);
	}
	flow.fallback = "no-delay";
	findings.n = 0;
	doctor_check(&h, &findings);
	EXPECT_NE(NULL, strstr(findings.list[0].text, "(99.7% of its time), see quell flow show"))
		TH_LOG("%s", findings.list[0].text);
	free(findings.list);
}

TEST(doctor_check__holder_cases)
{
	struct doctor_holder holders[] = {
		{ "swift", "", true, true, 1 },
		{ "dcqcn", "h1", false, true, 0 },
		{ "swift", "/proc/7/ns/net", false, false, 2 },
	};
	struct doctor_host h = sound_host();

	h.holders = holders;
	h.n_holders = ARRAY_SIZE(holders);
	h.other_netns = true;
	check(_metadata, &h, "2 holders swift is the default of this namespace\n"
	      "sysctl -w net.ipv4.tcp_congestion_control=cubic\n"
	      "2 holders swift is used by 1 socket of this namespace\nss -tanpiO | grep -w swift\n"
	      "2 holders dcqcn is the default of h1\n"
	      "ip netns exec h1 sysctl -w net.ipv4.tcp_congestion_control=cubic\n"
	      "2 holders swift is used by 2 sockets of /proc/7/ns/net\n"
	      "nsenter --net=/proc/7/ns/net ss -tanpiO | grep -w swift\n"
	      "2 holders other namespaces were not examined, which needs CAP_SYS_ADMIN\n");
}

TEST_HARNESS_MAIN
