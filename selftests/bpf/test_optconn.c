// SPDX-License-Identifier: GPL-2.0
/*
 * ebpf/optconn.h in user space: the option of a segment, the contents of a received one, and the
 * departures kept against a model that keeps all of them.
 */
#include <string.h>

#include "random.h"
#include "test.h"

#include "../../ebpf/optconn.h"

#define MSEC_NS		1000000ULL
#define RANDOM_STEPS	300000
#define PACKETS_MAX	4096

/* A connection that has used the option, without data in flight. */
static struct quell_optconn talk_new(void)
{
	return (struct quell_optconn) { .secret = 0xfffffff0, .option_seen = true };
}

static struct quell_optconn_tcp tcp_new(void)
{
	return (struct quell_optconn_tcp) {
		.now_ns = 100 * MSEC_NS, .rcv_nxt = 5000, .snd_una = 1000, .snd_nxt = 1000,
		.window_bytes = 100000, .segs_in = 10,
	};
}

TEST(choice)
{
	static const struct {
		const char *name;
		struct quell_optconn_room room;
		bool owes, option_seen;
		u32 bytes;
		u8 form, flags;
	} rows[] = {
		{ "ack", { 0, 40, 1448 }, true, true, 16, QUELL_OPT_FULL, QUELL_OPT_F_ACK },
		{ "ack_beside_one_block", { 0, 16, 1448 }, true, true, 16, QUELL_OPT_FULL,
		  QUELL_OPT_F_ACK },
		{ "ack_beside_two_blocks", { 0, 8, 1448 }, true, true, 8, QUELL_OPT_SHORT, 0 },
		{ "ack_beside_three", { 0, 4, 1448 }, true, true, 0, 0, 0 },
		{ "nothing_to_echo", { 0, 40, 1448 }, false, true, 0, 0, 0 },
		{ "peer_not_heard", { 0, 40, 1448 }, false, false, 8, QUELL_OPT_FULL, 0 },
		{ "full", { 1436, 28, 1448 }, false, true, 12, QUELL_OPT_FULL, QUELL_OPT_F_DATA },
		{ "full_leaves_the_echo", { 1436, 28, 1448 }, true, true, 12, QUELL_OPT_FULL,
		  QUELL_OPT_F_DATA },
		{ "not_full", { 1424, 28, 1448 }, true, true, 24, QUELL_OPT_FULL,
		  QUELL_OPT_F_DATA | QUELL_OPT_F_ACK },
		{ "cut_before_it_was_agreed", { 1448, 28, 1448 }, true, true, 0, 0, 0 },
		{ "data_beside_two_blocks", { 100, 8, 1448 }, true, true, 0, 0, 0 },
	};
	struct quell_optconn_tcp tcp = tcp_new();

	for_each_row(row, rows) {
		struct quell_optconn conn = talk_new();
		struct quell_opt opt = {};

		conn.option_seen = row->option_seen;
		conn.echo = (struct quell_optconn_echo){ .seq = 4000,
							 .end_seq = 5000,
							 .waits = row->owes };
		expect_eq(row->bytes, quell_optconn_choose(&conn, &tcp, &row->room, &opt), "%s",
			  row->name);
		if (!row->bytes)
			continue;
		expect_eq(row->form, opt.form, "%s", row->name);
		expect_eq(row->flags, opt.flags, "%s", row->name);
	}
}

/* Of a sender that requests records, or of an ACK that has one. */
TEST(choice_of_records)
{
	static const struct {
		const char *name;
		struct quell_optconn_room room;
		bool send_records, owes, has;
		u32 bytes;
		u8 form, flags;
	} rows[] = {
		{ "full", { 1424, 28, 1448 }, true, false, false, 24, QUELL_OPT_FULL,
		  QUELL_OPT_F_DATA | QUELL_OPT_F_TELEMETRY },
		{ "full_leaves_the_echo", { 1424, 28, 1448 }, true, true, true, 24, QUELL_OPT_FULL,
		  QUELL_OPT_F_DATA | QUELL_OPT_F_TELEMETRY },
		{ "not_full", { 100, 40, 1448 }, true, true, true, 36, QUELL_OPT_FULL,
		  QUELL_OPT_F_DATA | QUELL_OPT_F_TELEMETRY | QUELL_OPT_F_ACK },
		{ "no_room_for_a_record", { 1436, 28, 1448 }, true, false, false, 12,
		  QUELL_OPT_FULL, QUELL_OPT_F_DATA },
		{ "data_echoes_one", { 100, 40, 1448 }, false, true, true, 36, QUELL_OPT_FULL,
		  QUELL_OPT_F_DATA | QUELL_OPT_F_ACK | QUELL_OPT_F_RECORD },
		{ "ack_echoes_one", { 0, 28, 1448 }, true, true, true, 28, QUELL_OPT_FULL,
		  QUELL_OPT_F_ACK | QUELL_OPT_F_RECORD },
		{ "ack_of_none", { 0, 28, 1448 }, true, true, false, 16, QUELL_OPT_FULL,
		  QUELL_OPT_F_ACK },
		{ "ack_beside_a_block", { 0, 24, 1448 }, false, true, true, 16, QUELL_OPT_FULL,
		  QUELL_OPT_F_ACK },
		{ "ack_beside_two_blocks", { 0, 8, 1448 }, false, true, true, 8, QUELL_OPT_SHORT,
		  0 },
		{ "nothing_to_echo", { 0, 40, 1448 }, true, false, true, 0, 0, 0 },
	};
	struct quell_optconn_tcp tcp = tcp_new();

	for_each_row(row, rows) {
		struct quell_optconn conn = talk_new();
		struct quell_opt opt = {};

		conn.send_records = row->send_records;
		conn.echo = (struct quell_optconn_echo){
			.seq = 4000, .end_seq = 5000, .waits = row->owes, .record = { row->has }
		};
		expect_eq(row->bytes, quell_optconn_choose(&conn, &tcp, &row->room, &opt), "%s",
			  row->name);
		if (!row->bytes)
			continue;
		expect_eq(row->form, opt.form, "%s", row->name);
		expect_eq(row->flags, opt.flags, "%s", row->name);
	}
}

static struct quell_optconn_segment data_at(u32 seq)
{
	return (struct quell_optconn_segment) { .rx_ns = 100 * MSEC_NS, .seq = seq, .ack_seq = 1000,
						.payload_bytes = 1000 };
}

/* Of data with a record, then some without one, one echo has it; the next does not. */
TEST(record_is_echoed_once)
{
	struct quell_opt opt = { .form = QUELL_OPT_FULL,
				 .flags = QUELL_OPT_F_DATA | QUELL_OPT_F_TELEMETRY,
				 .telemetry = { 3, 1, 2 } };
	struct quell_optconn_room room = { 0, 40, 1448 };
	struct quell_optconn_segment segment;
	struct quell_optconn_tcp tcp = tcp_new();
	struct quell_optconn conn = talk_new();
	struct quell_opt answer = {};

	segment = data_at(4000);
	quell_optconn_receive(&conn, &opt, &tcp, &segment);
	opt.telemetry[0] = 0;
	segment = data_at(5000);
	quell_optconn_receive(&conn, &opt, &tcp, &segment);
	tcp.rcv_nxt = 6000;
	ASSERT_EQ(28, quell_optconn_choose(&conn, &tcp, &room, &answer));
	quell_optconn_fill(&conn, &answer, tcp.now_ns);
	EXPECT_EQ(3, answer.record[0]);
	EXPECT_EQ(2, answer.record[2]);
	opt.flags = QUELL_OPT_F_DATA;
	segment = data_at(6000);
	quell_optconn_receive(&conn, &opt, &tcp, &segment);
	tcp.rcv_nxt = 7000;
	EXPECT_EQ(16, quell_optconn_choose(&conn, &tcp, &room, &answer));
}

/* Data 1000 .. 3000 left 20 ms ago.  Only with an echo that is believed a record is. */
TEST(record_is_heard)
{
	static const struct {
		const char *name;
		u64 echo_ns;
		u8 flags, hop;
	} rows[] = {
		{ "believed", 80 * MSEC_NS, QUELL_OPT_F_ACK | QUELL_OPT_F_RECORD, 5 },
		{ "none", 80 * MSEC_NS, QUELL_OPT_F_ACK, 0 },
		{ "refused", 80 * MSEC_NS - 1, QUELL_OPT_F_ACK | QUELL_OPT_F_RECORD, 0 },
	};

	for_each_row(row, rows) {
		struct quell_optconn_tcp tcp = tcp_new();
		struct quell_optconn conn = talk_new();
		struct quell_optconn_segment segment = { .rx_ns = tcp.now_ns, .ack_seq = 3000 };
		struct quell_opt opt = { .form = QUELL_OPT_FULL,
					 .flags = row->flags,
					 .record = { 5 } };

		conn.record[0] = 9;	/* of an older ACK */
		quell_optconn_sent(&conn, &tcp, 3000, 80 * MSEC_NS);
		tcp.snd_nxt = 3000;
		opt.echo_ns = quell_echo_hide(row->echo_ns, conn.secret);
		quell_optconn_receive(&conn, &opt, &tcp, &segment);
		expect_eq(row->hop, conn.record[0], "%s", row->name);
	}
}

TEST(due)
{
	static const struct {
		const char *name;
		u32 seq, end_seq, block_seq, block_end;
		bool owes;
	} rows[] = {
		{ "in_order", 4000, 5000, 0, 0, true },
		{ "beyond_a_hole", 6000, 7000, 0, 0, false },
		{ "in_the_block", 6000, 7000, 6000, 7000, true },
		{ "not_all_of_it", 6000, 7000, 6000, 6999, false },
		{ "before_the_block", 5999, 7000, 6000, 7000, false },
	};
	struct quell_optconn_tcp tcp = tcp_new();

	for_each_row(row, rows) {
		struct quell_optconn conn = talk_new();

		tcp.block_seq = row->block_seq;
		tcp.block_end = row->block_end;
		conn.echo = (struct quell_optconn_echo){ .seq = row->seq,
							 .waits = true,
							 .end_seq = row->end_seq };
		expect_eq(row->owes, quell_optconn_has_echo(&conn, &tcp), "%s", row->name);
	}
}

TEST(option_seen)
{
	/* Of data 1000 .. 3000, which left 20 and 10 ms ago, and an ACK of all of it. */
	static const struct {
		const char *name;
		u64 echo_ns;
		u32 hold_ns, ack_seq, found;
		u64 rtt_ns, taken_hold_ns;
		u32 flight_pkts, sacked_pkts;
	} rows[] = {
		{ "oldest", 80 * MSEC_NS, 0, 3000, QUELL_OPTCONN_SAMPLED, 20 * MSEC_NS, 0, 0, 0 },
		{ "newest", 90 * MSEC_NS, 5, 3000, QUELL_OPTCONN_SAMPLED, 10 * MSEC_NS, 5, 0, 0 },
		{ "before_the_oldest", 80 * MSEC_NS - 1, 0, 3000, QUELL_OPTCONN_ECHO_REFUSED,
		  20 * MSEC_NS, 0, 0, 0 },
		{ "lone_waited", 91 * MSEC_NS, 0, 3000, QUELL_OPTCONN_DELAYED, 0, 0, 1, 0 },
		{ "lone_waited_till_receipt", 100 * MSEC_NS - 1, 0, 3000, QUELL_OPTCONN_DELAYED, 0,
		 0,
		  1, 0 },
		{ "lone_short_form", 90 * MSEC_NS + QUELL_ECHO_WAIT_NS, 0, 3000,
		  QUELL_OPTCONN_SAMPLED, 10 * MSEC_NS, QUELL_ECHO_WAIT_NS, 1, 0 },
		{ "added_to_one_of_two", 91 * MSEC_NS, 2 * MSEC_NS, 3000, QUELL_OPTCONN_SAMPLED,
		  10 * MSEC_NS, 3 * MSEC_NS, 2, 0 },
		{ "added_all", 100 * MSEC_NS - 1, 0, 3000,
		  QUELL_OPTCONN_SAMPLED | QUELL_OPTCONN_HOLD_REFUSED, 10 * MSEC_NS, 6 * MSEC_NS, 2,
			  0 },
		{ "of_one_not_acknowledged", 91 * MSEC_NS, 0, 2000, QUELL_OPTCONN_SAMPLED,
		  10 * MSEC_NS, MSEC_NS, 2, 0 },
		{ "one_acknowledged_out_of_order", 90 * MSEC_NS, 0, 2000, QUELL_OPTCONN_SAMPLED,
		  10 * MSEC_NS, 0, 1, 1 },
		{ "waited_beyond_receipt", 100 * MSEC_NS, 0, 3000, QUELL_OPTCONN_ECHO_REFUSED,
		  20 * MSEC_NS, 0, 1, 0 },
		{ "a_second_before", 90 * MSEC_NS - 1000 * MSEC_NS, 0, 3000,
		  QUELL_OPTCONN_ECHO_REFUSED, 20 * MSEC_NS, 0, 0, 0 },
		{ "late_of_nothing_new", 80 * MSEC_NS - 1, 0, 1000, 0, 0, 0, 0, 0 },
		{ "all_hold", 80 * MSEC_NS, 20 * MSEC_NS, 3000,
		  QUELL_OPTCONN_SAMPLED | QUELL_OPTCONN_HOLD_REFUSED, 20 * MSEC_NS, 16 * MSEC_NS, 0,
			  0 },
		{ "half_of_the_least_left", 80 * MSEC_NS, 16 * MSEC_NS, 3000, QUELL_OPTCONN_SAMPLED,
		  20 * MSEC_NS, 16 * MSEC_NS, 0, 0 },
		{ "of_data_never_sent", 80 * MSEC_NS, 0, 3001, QUELL_OPTCONN_OUTSIDE, 0, 0, 0, 0 },
		{ "long_acknowledged", 80 * MSEC_NS, 0, 1000 - 100001, QUELL_OPTCONN_OUTSIDE, 0, 0,
		  0, 0 },
		{ "acknowledged", 80 * MSEC_NS, 0, 1000 - 100000, QUELL_OPTCONN_SAMPLED,
		  20 * MSEC_NS, 0, 0, 0 },
	};

	for_each_row(row, rows) {
		struct quell_optconn_tcp tcp = tcp_new();
		struct quell_optconn conn = talk_new();
		struct quell_optconn_segment segment = { .rx_ns = tcp.now_ns,
							 .least_ns = 8 * MSEC_NS,
							 .ack_seq = row->ack_seq };
		struct quell_opt opt = { .form = QUELL_OPT_FULL,
					 .flags = QUELL_OPT_F_ACK,
					 .hold_ns = row->hold_ns,
					 .senders = 0x180 };

		tcp.flight_pkts = row->flight_pkts;
		tcp.sacked_pkts = row->sacked_pkts;
		quell_optconn_sent(&conn, &tcp, 2000, 80 * MSEC_NS);
		tcp.snd_nxt = 2000;
		quell_optconn_sent(&conn, &tcp, 3000, 90 * MSEC_NS);
		tcp.snd_nxt = 3000;
		opt.echo_ns = quell_echo_hide(row->echo_ns, conn.secret);
		expect_eq(row->found, quell_optconn_receive(&conn, &opt, &tcp, &segment), "%s",
			  row->name);
		expect_eq(row->rtt_ns, conn.rtt_ns, "%s", row->name);
		expect_eq(row->taken_hold_ns, conn.hold_ns, "%s", row->name);
		expect_eq(row->found & QUELL_OPTCONN_OUTSIDE ? 0 : 384, conn.senders_q8, "%s",
			  row->name);
	}
}

/*
 * For any echo a round trip is no shorter than that of the newest data that it
 * acknowledged, but for the marks: each is of a quarter at most of all that is outstanding, and the
 * next segment may leave later.
 */
TEST(no_echo_makes_a_round_trip_short)
{
	struct random_state random = { 11 };
	u32 i, k;

	for (i = 0; i < 20000; i++) {
		struct quell_optconn_tcp tcp = tcp_new();
		struct quell_optconn conn = talk_new();
		struct quell_optconn_segment segment = { .rx_ns = tcp.now_ns };
		struct quell_opt opt = { .form = QUELL_OPT_FULL, .flags = QUELL_OPT_F_ACK };
		u32 acked = 1 + random_u64(&random) % 20;
		u64 depart_ns = 50 * MSEC_NS, newest_ns = 0, true_ns, coarse_ns;

		tcp.flight_pkts = 20;
		conn.min_rtt_ns = 8 * MSEC_NS;
		for (k = 1; k <= 20; k++) {
			depart_ns += random_u64(&random) % (2 * MSEC_NS);
			quell_optconn_sent(&conn, &tcp, tcp.snd_nxt + 100, depart_ns);
			tcp.snd_nxt += 100;
			newest_ns = k == acked ? depart_ns : newest_ns;
		}
		segment.ack_seq = tcp.snd_una + 100 * acked;
		opt.echo_ns = quell_echo_hide(random_u64(&random) % 2 ?
					      random_u64(&random) : 50 * MSEC_NS +
					      random_u64(&random) % (50 * MSEC_NS), conn.secret);
		quell_optconn_receive(&conn, &opt, &tcp, &segment);
		true_ns = segment.rx_ns - newest_ns;
		coarse_ns = quell_max_u64(conn.min_rtt_ns / 8, (depart_ns - 50 * MSEC_NS) / 4);
		ASSERT_GE(conn.rtt_ns + coarse_ns + 2 * MSEC_NS, true_ns);
		/* The truth is believed to the ns. */
		conn.secret = 0;
		opt = (struct quell_opt) { .form = QUELL_OPT_FULL, .flags = QUELL_OPT_F_ACK,
					   .echo_ns = newest_ns };
		ASSERT_EQ(QUELL_OPTCONN_SAMPLED,
			  quell_optconn_receive(&conn, &opt, &tcp, &segment));
		ASSERT_EQ(true_ns, conn.rtt_ns);
	}
}

TEST(data_is_echoed_once)
{
	struct quell_optconn_segment segment = { .rx_ns = 90 * MSEC_NS, .seq = 5000,
						 .ack_seq = 1000, .payload_bytes = 100,
						 .marked = true };
	struct quell_opt data = { .form = QUELL_OPT_FULL, .flags = QUELL_OPT_F_DATA,
				  .depart_ns = 77, .entropy = 9, .payload_bytes = 100 };
	struct quell_optconn_room room = { 0, 40, 1448 };
	struct quell_optconn_tcp tcp = tcp_new();
	struct quell_optconn conn = talk_new();
	struct quell_opt opt = {};

	/* Bytes trimmed by a switch are no data. */
	segment.payload_bytes = 0;
	quell_optconn_receive(&conn, &data, &tcp, &segment);
	EXPECT_FALSE(conn.echo.waits);
	segment.payload_bytes = 100;
	quell_optconn_receive(&conn, &data, &tcp, &segment);
	EXPECT_EQ(0, quell_optconn_choose(&conn, &tcp, &room, &opt));
	tcp.rcv_nxt = 5100;
	EXPECT_EQ(16, quell_optconn_choose(&conn, &tcp, &room, &opt));
	quell_optconn_fill(&conn, &opt, segment.rx_ns + QUELL_ECHO_WAIT_NS);
	EXPECT_EQ(QUELL_OPT_F_ACK | QUELL_OPT_F_CE, opt.flags);
	EXPECT_EQ(77, opt.echo_ns);
	EXPECT_EQ(9, opt.echo_entropy);
	EXPECT_EQ(QUELL_ECHO_WAIT_NS, opt.hold_ns);
	EXPECT_EQ(0, quell_optconn_choose(&conn, &tcp, &room, &opt));
}

/* Where the stamp has the time in which the ACK waited. */
TEST(waits_are_added)
{
	static const struct {
		const char *name;
		u64 hold_ns;
		u8 form;
		u32 echo_ns, stated_ns;
	} rows[] = {
		{ "at_once", 0, QUELL_OPT_FULL, 77, 0 },
		{ "soon", QUELL_ECHO_WAIT_NS, QUELL_OPT_FULL, 77, QUELL_ECHO_WAIT_NS },
		{ "waited", QUELL_ECHO_WAIT_NS + 1, QUELL_OPT_FULL, 78 + QUELL_ECHO_WAIT_NS, 0 },
		{ "for_longer_than_the_field", 40 * MSEC_NS, QUELL_OPT_FULL, 77 + 40 * MSEC_NS, 0 },
		{ "for_longer_than_the_stamp", 1ULL << 32, QUELL_OPT_FULL, 77, 0 },
		{ "short_form_at_once", 0, QUELL_OPT_SHORT, 77, 0 },
		{ "short_form_soon", 5, QUELL_OPT_SHORT, 82, 0 },
		{ "short_form_waited", 40 * MSEC_NS, QUELL_OPT_SHORT, 77 + 40 * MSEC_NS, 0 },
	};

	for_each_row(row, rows) {
		struct quell_opt opt = { .form = row->form, .flags = QUELL_OPT_F_ACK };
		struct quell_optconn conn = talk_new();

		conn.echo = (struct quell_optconn_echo) { .rx_ns = 1000, .depart_ns = 77,
							  .waits = true };
		expect_eq(row->hold_ns > QUELL_ECHO_WAIT_NS,
			  quell_optconn_fill(&conn, &opt, 1000 + row->hold_ns), "%s", row->name);
		expect_eq(row->echo_ns, opt.echo_ns, "%s", row->name);
		expect_eq(row->stated_ns, opt.hold_ns, "%s", row->name);
		expect(!conn.echo.waits, "%s", row->name);
	}
}

TEST(sample_is_taken_once_and_in_time)
{
	struct quell_optconn conn = talk_new();
	u32 i;

	conn.rtt_ns = 500;
	conn.sample_ns = 1000;
	EXPECT_EQ(0, quell_optconn_take(&conn, 1001, 0));
	EXPECT_FALSE(quell_optconn_has_rtt(&conn));
	conn.sample_ns = 1000;
	EXPECT_EQ(500, quell_optconn_take(&conn, 1000, 0));
	EXPECT_EQ(0, quell_optconn_take(&conn, 1000, 0));
	EXPECT_EQ(500, conn.min_rtt_ns);
	/* Delayed ACKs do not count as ACKs without an echo. */
	conn.rtt_ns = 0;
	conn.waited = true;
	conn.sample_ns = 1000;
	i = conn.no_echo_acks;
	EXPECT_EQ(0, quell_optconn_take(&conn, 1000, 0));
	EXPECT_TRUE(conn.waited && conn.no_echo_acks == i);
	EXPECT_EQ(0, quell_optconn_take(&conn, 2000, 0));
	EXPECT_TRUE(!conn.waited && conn.no_echo_acks == i + 1);
	for (i = conn.no_echo_acks; i < QUELL_OPTCONN_NO_ECHO_MAX; i++) {
		EXPECT_TRUE(quell_optconn_has_rtt(&conn));
		quell_optconn_take(&conn, 2000, 0);
	}
	EXPECT_FALSE(quell_optconn_has_rtt(&conn));
	conn.rtt_ns = 600;
	conn.sample_ns = 1000;
	EXPECT_EQ(600, quell_optconn_take(&conn, 1000, 0));
	EXPECT_TRUE(quell_optconn_has_rtt(&conn));
	EXPECT_EQ(500, conn.min_rtt_ns);
}

/* The ACK of data out of order may echo any departure: TCP's own sample is exact. */
TEST(a_round_trip_is_no_shorter_than_tcp_says)
{
	struct quell_optconn conn = talk_new();

	conn.rtt_ns = 1000;
	conn.sample_ns = 5;
	EXPECT_EQ(999000, quell_optconn_take(&conn, 5, 999000));
	EXPECT_EQ(999000, conn.min_rtt_ns);
	conn.rtt_ns = 1000;
	conn.sample_ns = 5;
	EXPECT_EQ(1000, quell_optconn_take(&conn, 5, 999));
	/* Nor is TCP's a sample of its own. */
	EXPECT_EQ(0, quell_optconn_take(&conn, 5, 999000));
}

TEST(stripped)
{
	struct quell_optconn conn = { .option_segs = 0xfffffff0 };

	EXPECT_FALSE(quell_optconn_is_stripped(&conn, 15));
	EXPECT_TRUE(quell_optconn_is_stripped(&conn, 16));
	conn.option_seen = true;
	EXPECT_FALSE(quell_optconn_is_stripped(&conn, 1007));
	EXPECT_TRUE(quell_optconn_is_stripped(&conn, 1008));
}

/* Departures of all packets, by the sequence number behind them. */
struct model {
	u64	depart_ns[PACKETS_MAX];
	u32	end_seq[PACKETS_MAX];
	u32	first, nr;
};

static u64 model_oldest_ns(struct model *model, u32 una)
{
	while (model->nr && (int)(model->end_seq[model->first % PACKETS_MAX] - una) <= 0) {
		model->first++;
		model->nr--;
	}
	return model->nr ? model->depart_ns[model->first % PACKETS_MAX] : 0;
}

/*
 * For any segments and ACKs the oldest departure kept is never later than that of the
 * oldest packet, and earlier by no more than an eighth of a round trip, or a quarter of how long
 * there has been data in flight.
 */
TEST(marks)
{
	struct quell_optconn_tcp tcp = tcp_new();
	struct quell_optconn conn = talk_new();
	static struct model model;
	struct random_state random = { 42 };
	u64 now_ns = 1, kept_ns, exact_ns, longest_ns = 0;
	u32 i, at, merged = 0;

	conn.min_rtt_ns = 80000;
	tcp.snd_una = 0xffff0000;
	tcp.snd_nxt = 0xffff0000;
	for (i = 0; i < RANDOM_STEPS; i++) {
		now_ns += random_u64(&random) % (i / 10000 % 2 ? 40000 : 2000);
		if (model.nr < PACKETS_MAX && random_u64(&random) % 2) {
			quell_optconn_sent(&conn, &tcp, tcp.snd_nxt + 100, now_ns);
			at = (model.first + model.nr++) % PACKETS_MAX;
			model.depart_ns[at] = now_ns;
			model.end_seq[at] = tcp.snd_nxt + 100;
			tcp.snd_nxt += 100;
		} else if (model.nr && i / 3000 % 4) {
			/* A quarter of the time no data is acknowledged: marks are merged. */
			tcp.snd_una += 100 * (random_u64(&random) % 8 % (model.nr + 1));
		}
		exact_ns = model_oldest_ns(&model, tcp.snd_una);
		kept_ns = quell_optconn_oldest_ns(&conn, tcp.snd_una);
		longest_ns = exact_ns ? quell_max_u64(longest_ns, now_ns - exact_ns) : 0;
		merged += kept_ns != exact_ns;
		ASSERT_TRUE(kept_ns <= exact_ns && !kept_ns == !exact_ns)
			TH_LOG("step %u: %llu kept, %llu exact", i, kept_ns, exact_ns);
		ASSERT_LE(exact_ns - kept_ns, quell_max_u64(conn.min_rtt_ns / 8, longest_ns / 4))
			TH_LOG("step %u: %llu kept, %llu exact", i, kept_ns, exact_ns);
	}
	/* Both are met. */
	EXPECT_GT(merged, RANDOM_STEPS / 100);
	EXPECT_LT(merged, RANDOM_STEPS * 99 / 100);
}

/* Two ends and the codec between them: each measures the time of the clock. */
TEST(both_ends)
{
	struct quell_optconn_tcp a_tcp = tcp_new(), b_tcp = tcp_new();
	struct quell_optconn a = talk_new(), b = talk_new();
	struct random_state random = { 7 };
	u64 there_ns, hold_ns, back_ns, rtt_ns;
	bool waited;
	u32 i;

	a_tcp.rcv_nxt = b_tcp.snd_una;
	b_tcp.rcv_nxt = a_tcp.snd_una;
	for (i = 0; i < 10000; i++) {
		struct quell_opt data = { .form = QUELL_OPT_FULL, .flags = QUELL_OPT_F_DATA };
		struct quell_optconn_room room = { 0, i % 3 ? 40 : 8, 1448 };
		struct quell_optconn_segment segment = { .payload_bytes = 1000 };
		u8 wire[QUELL_OPT_MAX_BYTES];
		struct quell_opt opt = {};

		there_ns = 500000 + random_u64(&random) % 500000;
		hold_ns = random_u64(&random) % (i % 2 ? 1000 : 50 * MSEC_NS);
		a_tcp.flight_pkts = 1 + i / 2 % 2;
		back_ns = 500000 + random_u64(&random) % 500000;
		segment.seq = a_tcp.snd_nxt;
		segment.ack_seq = b_tcp.snd_nxt;
		data.depart_ns = quell_echo_hide(a_tcp.now_ns, a.secret);
		quell_optconn_sent(&a, &a_tcp, a_tcp.snd_nxt + 1000, a_tcp.now_ns);
		a_tcp.snd_nxt += 1000;
		quell_opt_encode(&data, wire);
		ASSERT_TRUE(quell_opt_decode(wire, wire[1], false, &data));
		segment.rx_ns = 77777 + a_tcp.now_ns + there_ns;	/* b's clock */
		ASSERT_EQ(0, quell_optconn_receive(&b, &data, &b_tcp, &segment));
		b_tcp.rcv_nxt += 1000;
		ASSERT_NE(0, quell_optconn_choose(&b, &b_tcp, &room, &opt));
		quell_optconn_fill(&b, &opt, segment.rx_ns + hold_ns);
		quell_opt_encode(&opt, wire);
		ASSERT_TRUE(quell_opt_decode(wire, wire[1], false, &opt));
		a_tcp.now_ns += there_ns + hold_ns + back_ns;
		segment = (struct quell_optconn_segment) { .rx_ns = a_tcp.now_ns,
							   .least_ns = 2,
							   .ack_seq = a_tcp.snd_nxt };
		/* Only a lone segment waits. */
		waited = hold_ns > QUELL_ECHO_WAIT_NS && a_tcp.flight_pkts == 1;
		ASSERT_EQ(waited ? QUELL_OPTCONN_DELAYED : QUELL_OPTCONN_SAMPLED,
			  quell_optconn_receive(&a, &opt, &a_tcp,
						&segment) & ~QUELL_OPTCONN_HOLD_REFUSED);
		a_tcp.snd_una = a_tcp.snd_nxt;
		rtt_ns = waited ? 0 : there_ns + back_ns + hold_ns;
		ASSERT_EQ(rtt_ns, quell_optconn_take(&a, a_tcp.now_ns, 0));
		ASSERT_EQ(waited, a.waited);
	}
}

TEST_HARNESS_MAIN
