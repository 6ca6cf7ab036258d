// SPDX-License-Identifier: GPL-2.0
/*
 * quell stat without a kernel: its history, in files of others too, and the counters as metrics.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "printed.h"
#include "stat.h"
#include "test.h"

static struct counter swift_counters[] = {
	{ .name = "cuts", .value = 12, .doc = "Cuts \"of\" the\nwindow \\." },
	{ .name = "rtt-samples", .value = UINT64_MAX, .doc = "Round trips." },
};

static struct counter shared_counters[] = {
	{ .name = "rtt-samples", .value = 3, .doc = "Round trips." },
};

static struct stat_group groups[] = {
	{ .name = "quell", .counters = { shared_counters, 1 } },
	{ .name = "swift", .counters = { swift_counters, 2 } },
};

static void check_past(struct __test_metadata *_metadata, const struct history *h,
		       const char *name, uint64_t value)
{
	const struct past *p = history_find(h, "swift", name);

	ASSERT_NE(NULL, p);
	EXPECT_EQ(value, p->value);
}

static const struct stat_list stats = { groups, 2 };

TEST(history__round_trip)
{
	struct history got;
	char *text = NULL;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	EXPECT_EQ(0, history_write(&stats, 1000, file, "boot 1"));
	fclose(file);
	EXPECT_STREQ("quell-stat 2 boot 1\n1000\nquell rtt-samples 3\nswift cuts 12\n"
		     "swift rtt-samples 18446744073709551615\n", text);

	file = fmemopen(text, len, "r");
	EXPECT_EQ(0, history_read(&got, file, "boot 1"));
	rewind(file);
	EXPECT_EQ(3, got.n);
	EXPECT_EQ(1000, got.time_ns);
	check_past(_metadata, &got, "cuts", 12);
	check_past(_metadata, &got, "rtt-samples", UINT64_MAX);
	EXPECT_EQ(NULL, history_find(&got, "quell", "cuts"));
	history_free(&got);

	EXPECT_EQ(0, history_read(&got, file, "boot 2"));
	expect_eq(0, got.n, "that of another boot");
	fclose(file);
	free(text);
}

TEST(history_read__damaged_cases)
{
	static const struct {
		const char	*text;
		size_t		n;
	} rows[] = {
		{ "", 0 }, { "quell-stat 2 b", 0 }, { "quell-stat 2 b\n", 0 },
		{ "quell-stat 1 b\nswift cuts 1 1\n", 0 }, { "quell-stat 2 b\nswift cuts 1\n", 0 },
		{ "quell-stat 2 b\n1\nswift cuts 1\nswift", 1 },
		{ "quell-stat 2 b\n1\nswift cuts x\n", 0 },
		{ "quell-stat 2 b\n1\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa c 1\n", 0 },
	};
	struct history h;
	FILE *file;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		file = tmpfile();
		fputs(rows[i].text, file);
		rewind(file);
		EXPECT_EQ(0, history_read(&h, file, "b"));
		expect_eq(rows[i].n, h.n, "%s", rows[i].text);
		history_free(&h);
		fclose(file);
	}
}

TEST(history_count__cases)
{
	const struct past past = { .value = 10 };

	EXPECT_EQ(2, history_count(&past, 12));
	EXPECT_EQ(0, history_count(&past, 10));
	expect_eq(4, history_count(&past, 4), "the module was loaded again");
	EXPECT_EQ(7, history_count(NULL, 7));
}

/* The file is replaced as a whole. */
TEST(history_store__files)
{
	char dir[] = "/tmp/quell-test-XXXXXX", path[PATH_MAX];
	struct history got;
	struct stat st;

	ASSERT_NE(NULL, mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/history", dir);
	expect_eq(0, history_load(&got, path, "b"), "none yet");
	EXPECT_EQ(0, got.n);

	EXPECT_EQ(0, history_store(&stats, 4, path, "c"));
	EXPECT_EQ(0, history_store(&stats, 5, path, "b"));
	EXPECT_EQ(0, stat(path, &st));
	EXPECT_EQ(0600, st.st_mode & 07777);
	EXPECT_EQ(0, history_load(&got, path, "b"));
	EXPECT_EQ(3, got.n);
	history_free(&got);
	unlink(path);
	rmdir(dir);
	EXPECT_EQ(-ENOENT, history_store(&stats, 6, path, "b"));
}

/* One of another user is not used, nor one for all: files of others could be there. */
TEST(history_path__directories)
{
	char dir[] = "/tmp/quell-test-XXXXXX", path[PATH_MAX], id[128];

	ASSERT_NE(NULL, mkdtemp(dir));
	setenv("XDG_RUNTIME_DIR", dir, 1);
	EXPECT_EQ(0, history_path(path, sizeof(path), id, sizeof(id)));
	EXPECT_EQ(0, strncmp(path, dir, strlen(dir)));
	EXPECT_EQ(0, chmod(dir, 0770));
	EXPECT_EQ(0, history_path(path, sizeof(path), id, sizeof(id)));
	EXPECT_NE(0, strncmp(path, dir, strlen(dir)));
	if (!geteuid()) {
		EXPECT_EQ(0, chmod(dir, 0700));
		EXPECT_EQ(0, chown(dir, 65534, 65534));
		EXPECT_EQ(0, history_path(path, sizeof(path), id, sizeof(id)));
		EXPECT_EQ(0, strncmp(path, "/run/quell-stat.", 16));
		EXPECT_EQ(0, seteuid(65533));
		EXPECT_EQ(0, history_path(path, sizeof(path), id, sizeof(id)));
		EXPECT_STREQ("", path);
		EXPECT_EQ(0, seteuid(0));
	}
	rmdir(dir);
}

static uint64_t cookie;	/* 0: a kernel without cookies */

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	(void)fd;
	(void)name;
	if (!cookie || level != SOL_SOCKET || *len != sizeof(cookie)) {
		errno = ENOPROTOOPT;
		return -1;
	}
	memcpy(value, &cookie, sizeof(cookie));
	return 0;
}

/* A namespace may get the inode of one that is gone; its counters are not that one's. */
TEST(history_path__reused_inode)
{
	char path[PATH_MAX], first[128], second[128], none[128];

	cookie = 7;
	ASSERT_EQ(0, history_path(path, sizeof(path), first, sizeof(first)));
	cookie = 8;
	ASSERT_EQ(0, history_path(path, sizeof(path), second, sizeof(second)));
	EXPECT_NE(0, strcmp(first, second))
		TH_LOG("%s", first);
	cookie = 0;
	ASSERT_EQ(0, history_path(path, sizeof(path), none, sizeof(none)));
	EXPECT_NE(0, strcmp(first, none));
}

static void check_metrics(struct __test_metadata *_metadata, const char *netns,
			  const char *want)
{
	struct cc ccs[] = {
		{ .name = "quell", .flows = 9, .have = 1U << QUELL_A_CC_FLOWS },
		{ .name = "swift", .flows = 2, .have = 1U << QUELL_A_CC_FLOWS },
		{ .name = "dart" },
	};
	const struct cc_list list = { ccs, 3 };
	const struct metrics m = { &stats, &list, netns };
	struct out o;
	char *got = PRINTED(&o, false, false, metrics_print(o.file, &m));

	expect_eq(0, strcmp(want, got), "got:\n%swant:\n%s", got, want);
	free(got);
}

TEST(metrics_print__cases)
{
	check_metrics(_metadata, NULL,
		      "# HELP quell_flows Open sockets that use the algorithm.\n"
		      "# TYPE quell_flows gauge\n"
		      "quell_flows{module=\"swift\"} 2\n"
		      "# HELP quell_rtt_samples_total Round trips.\n"
		      "# TYPE quell_rtt_samples_total counter\n"
		      "quell_rtt_samples_total{module=\"quell\"} 3\n"
		      "quell_rtt_samples_total{module=\"swift\"} 18446744073709551615\n"
		      "# HELP quell_cuts_total Cuts \"of\" the\\nwindow \\\\.\n"
		      "# TYPE quell_cuts_total counter\n"
		      "quell_cuts_total{module=\"swift\"} 12\n");
	check_metrics(_metadata, "a\"\\b",
		      "# HELP quell_flows Open sockets that use the algorithm.\n"
		      "# TYPE quell_flows gauge\n"
		      "quell_flows{netns=\"a\\\"\\\\b\",module=\"swift\"} 2\n"
		      "# HELP quell_rtt_samples_total Round trips.\n"
		      "# TYPE quell_rtt_samples_total counter\n"
		      "quell_rtt_samples_total{netns=\"a\\\"\\\\b\",module=\"quell\"} 3\n"
		      "quell_rtt_samples_total{netns=\"a\\\"\\\\b\",module=\"swift\"} 18446744073709551615\n"
		      "# HELP quell_cuts_total Cuts \"of\" the\\nwindow \\\\.\n"
		      "# TYPE quell_cuts_total counter\n"
		      "quell_cuts_total{netns=\"a\\\"\\\\b\",module=\"swift\"} 12\n");
}

TEST_HARNESS_MAIN
