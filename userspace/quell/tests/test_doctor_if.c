// SPDX-License-Identifier: GPL-2.0
/*
 * quell doctor --if without a kernel: the effects of a change by the facts.
 */
#include <netinet/in.h>

#include <quell/core/cores.h>

#include "test_doctor.h"

static void check_change(struct __test_metadata *_metadata, const struct doctor_host *h,
			 const struct doctor_change *change, const char *want)
{
	struct findings findings = {};

	doctor_if(h, change, &findings);
	expect_findings(_metadata, &findings, want);
}

static struct diag open_connection(uint8_t last, uint32_t min_rtt_us)
{
	return (struct diag){ .cc = "cubic", .family = AF_INET, .daddr = { 10, 0, 0, last },
			      .min_rtt_us = min_rtt_us, .mss_bytes = 1448, .state = 1 };
}

#define SAME_SIZE	"does not offer the Quell option: segments keep their 1448 bytes\n"
#define NO_MARKS	"3 ecn swift uses no marks of switches, and does not request ECN" \
			" (net.ipv4.tcp_ecn=2)\n"
#define USE_SWIFT	"3 default new connections would use swift in place of cubic, except those" \
			" of routes and programs that name an algorithm\n" \
			"sysctl -w net.ipv4.tcp_congestion_control=swift\n"

/* Sockets: one that listens, one to this host, and those that @n has. */
TEST(doctor_if__paths)
{
	struct diag sockets[] = {
		{ .cc = "cubic", .state = 10 }, open_connection(1, 15), open_connection(2, 20),
		open_connection(3, 301), open_connection(4, 9),
		{ .cc = "reno", .family = AF_INET, .daddr = { 127, 0, 0, 1 }, .min_rtt_us = 9,
		  .state = 1 },
	};
	struct doctor_route routes[] = { { "10.1.0.0/16", "swift" }, { "default", "reno" },
					 { "10.2.0.0/16", "reno" } };
	struct doctor_change change = { .core = quell_core_find("swift"),
					.sockets = { sockets, ARRAY_SIZE(sockets) } };
	struct doctor_dev dev = { .name = "eth0", .ifindex = 3, .bytes_ps = 5000000000 };
	struct doctor_host h = sound_host();
	struct cc swift = { .name = "swift" };

	strcpy(h.default_cc, "cubic");
	h.devs = &dev;
	h.n_devs = 1;
	strcpy(sockets[2].cc, "bbr");
	sockets[2].delivery_bytes_ps = 12499999;
	change.sockets.n = 3;
	check_change(_metadata, &h, &change, "1 module the module tcp_swift of swift is not loaded\n"
		     "modprobe tcp_swift\n" USE_SWIFT
		     "3 open 2 open connections to other hosts would not change until closed: cubic 1,"
		     " bbr 1\n3 listen servers (1 listening socket) need no restart: a connection that"
		     " they accept uses the default of then, unless the program has set"
		     " TCP_CONGESTION\n"
		     "3 govern swift would govern 1 of 2 such connections, by their smallest round trip"
		     " and their rate\n1 slow-path CUBIC would govern 1 of 2, one to 10.0.0.2: its"
		     " rate, 100Mbit/s, is less than the 100Mbit/s that swift is made for\n"
		     "3 preset swift has adapt on: each flow is fitted to its path\n"
		     "3 preset preset dc-25g is for links of 25 Gbit/s and round trips up to 20 us"
		     " without queues: 2 of 2 open connections are within that\n"
		     "quell cc preset swift dc-25g\n" NO_MARKS "3 option swift " SAME_SIZE);
	change.cc = &swift;
	change.sockets = (struct diag_list){ &sockets[3], 3 };
	change.routes = routes;
	change.n_routes = ARRAY_SIZE(routes);
	dev.bytes_ps = 0;
	strcpy(h.default_cc, "swift");
	check_change(_metadata, &h, &change, "3 default swift is the default of this namespace already\n"
		     "3 route 1 route has congctl swift, one to 10.1.0.0/16: its new connections use it"
		     " already\n3 route 2 routes have congctl reno, one to default: connections by it"
		     " would not change\n"
		     "3 open 2 open connections to other hosts would not change until closed: cubic 2\n"
		     "3 govern swift would govern 1 of 2 such connections, by their smallest round trip"
		     " and their rate\n1 long-path CUBIC would govern 1 of 2, one to 10.0.0.3: its"
		     " round trip, 301us, is longer than the 300us that swift is made for\n"
		     "ip route get 10.0.0.3    # that route again, with congctl cubic behind it\n"
		     "3 preset swift has adapt on: each flow is fitted to its path\n" NO_MARKS
		     "3 option swift " SAME_SIZE);
}

/* ip(8) takes the scope of a link-local address as an argument of its own. */
TEST(doctor_if__link_local)
{
	struct diag socket = { .cc = "cubic", .family = AF_INET6, .daddr = { 0xfe, 0x80, [15] = 2 },
			       .ifindex = 1, .min_rtt_us = 301, .mss_bytes = 1448, .state = 1 };
	struct doctor_change change = { .core = quell_core_find("swift"),
					.sockets = { &socket, 1 } };
	struct doctor_host h = sound_host();
	struct findings findings = {};
	size_t i;

	doctor_if(&h, &change, &findings);
	for (i = 0; i < findings.n && strcmp(findings.list[i].check, "long-path"); i++)
		;
	ASSERT_LT(i, findings.n);
	EXPECT_NE(NULL, strstr(findings.list[i].text, "one to fe80::2%lo: "));
	EXPECT_STREQ("ip route get fe80::2 dev lo    # that route again, with congctl cubic behind"
		     " it", findings.list[i].command);
	free(findings.list);
}

/* A fixed target is a fault on a longer path. */
TEST(doctor_if__preset)
{
	struct param params[] = { { .name = "adapt" }, { .name = "base-target", .value = 32000 },
				  { .name = "fs-range", .value = 40000 } };
	struct cc swift = { .name = "swift", .params = params, .n_params = ARRAY_SIZE(params) };
	struct diag sockets[] = { open_connection(1, 72), open_connection(2, 73) };
	struct doctor_change change = { .core = quell_core_find("swift"), .cc = &swift,
					.sockets = { sockets, ARRAY_SIZE(sockets) } };
	struct doctor_host h = sound_host();

	strcpy(h.default_cc, "cubic");
	check_change(_metadata, &h, &change, USE_SWIFT
		     "3 open 2 open connections to other hosts would not change until closed: cubic 2\n"
		     "3 govern swift would govern 1 of 2 such connections, by their smallest round trip"
		     " and their rate\n0 target 1 of 2, one to 10.0.0.2, have a round trip of 73.0us,"
		     " above the target of 72.0us: with adapt off swift would almost stop them\n"
		     "quell cc reset swift\n3 preset swift has adapt off and values of no preset:"
		     " quell cc show swift\n" NO_MARKS "3 option swift " SAME_SIZE);
}

/* Algorithms that use marks, the option, telemetry. */
TEST(doctor_if__signals)
{
	struct param option = { .name = "option", .value = 0 };
	struct cc ccs[] = { { .name = "quell", .params = &option, .n_params = 1 },
			    { .name = "dart" }, { .name = "hpcc" } };
	struct diag socket = open_connection(1, 15);
	struct doctor_change change = { .core = quell_core_find("dart"), .cc = &ccs[1],
					.sockets = { &socket, 1 } };
	struct doctor_host h = sound_host();

	h.ccs = (struct cc_list){ ccs, ARRAY_SIZE(ccs) };
	strcpy(h.default_cc, "dart");
	socket.has_ecn = true;
	check_change(_metadata, &h, &change, "3 default dart is the default of this namespace already\n"
		     "3 open 1 open connection to other hosts would not change until closed: cubic 1\n"
		     "3 govern dart would govern 0 of 1 such connections, by their smallest round trip"
		     " and their rate\n3 preset dart has adapt on: each flow is fitted to its path\n"
		     "3 ecn dart requests ECN on each connection, with any net.ipv4.tcp_ecn (2 here)\n"
		     "1 no-marks 0 of 1 open connections with ECN had a mark: where switches do not"
		     " mark, CUBIC would govern\non each switch: tc qdisc replace dev DEV root swport ecn min 45kb max"
		     " 180kb\n0 option dart needs the Quell option, and this host does not use it\n"
		     "quell cc set quell option 2\n");
	socket.marked_pkts = 1;
	option.value = 2;
	check_change(_metadata, &h, &change, "3 default dart is the default of this namespace already\n"
		     "3 open 1 open connection to other hosts would not change until closed: cubic 1\n"
		     "3 govern dart would govern 1 of 1 such connections, by their smallest round trip"
		     " and their rate\n3 preset dart has adapt on: each flow is fitted to its path\n"
		     "3 ecn dart requests ECN on each connection, with any net.ipv4.tcp_ecn (2 here)\n"
		     "1 option dart offers the Quell option, which it needs: where the peer uses an"
		     " algorithm of Quell, segments have 1436 bytes in place of 1448\n");
	change.core = quell_core_find("hpcc");
	change.cc = NULL;
	change.sockets.n = 0;
	h.has_modules = false;
	strcpy(h.default_cc, "hpcc");
	check_change(_metadata, &h, &change, "0 module the module tcp_hpcc of hpcc is not installed for"
		     " this kernel\napt install ./quell-dkms_*.deb  # from make deb, INSTALL.md\n"
		     "3 default hpcc is the default of this namespace already\n"
		     "1 open no connection to another host is open, so the paths are not known\n"
		     "3 preset hpcc has adapt on: each flow is fitted to its path\n"
		     "1 no-records hpcc needs telemetry of the switches: without it CUBIC would govern\n"
		     "on each switch: tc qdisc replace dev DEV root swport telemetry 10us\n"
		     "3 ecn hpcc uses no marks of switches, and does not request ECN"
		     " (net.ipv4.tcp_ecn=2)\n"
		     "1 option hpcc offers the Quell option, which it needs: where the peer uses an"
		     " algorithm of Quell, segments have 1424 bytes in place of 1448\n");
}

TEST_HARNESS_MAIN
