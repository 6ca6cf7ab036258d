// SPDX-License-Identifier: GPL-2.0
/*
 * quell restore and sync beside another user: the kernel refuses a command after both changed
 * settings, and only those of the batch are undone.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "quell.h"

#include "complaint.h"
#include "test.h"

/* Settings of the namespace: one parameter of each algorithm; 0: the default. */
static struct {
	const char	*name;
	int		value;
} host[] = { { "swift", 0 }, { "hpcc", 0 }, { "timely", 0 }, { "dart", 0 } };
static int resets;

static int *value_of(const char *name)
{
	size_t i;

	for (i = 0; strcmp(host[i].name, name); i++)
		;
	return &host[i].value;
}

int save_settings(const struct app *app, char **set, char **reset)
{
	size_t set_len, reset_len, i;
	FILE *to_set = open_memstream(set, &set_len);
	FILE *to_reset = open_memstream(reset, &reset_len);

	(void)app;
	for (i = 0; i < sizeof(host) / sizeof(host[0]); i++) {
		if (!host[i].value)
			continue;
		fprintf(to_set, "cc set %s beta %d\n", host[i].name, host[i].value);
		fprintf(to_reset, "cc reset %s\n", host[i].name);
	}
	fclose(to_set);
	fclose(to_reset);
	return STATUS_OK;
}

/* Before it refuses eta, the kernel carries out the requests of another process. */
int run_words(const struct app *app, int argc, char **argv)
{
	if (app->check)
		return STATUS_OK;
	if (argc == 3) {
		*value_of(argv[2]) = 0;
		resets++;
	} else if (!strcmp(argv[3], "eta")) {
		*value_of("timely") = 9;
		*value_of("hpcc") = 7;
		return STATUS_KERNEL;
	} else {
		*value_of(argv[2]) = atoi(argv[4]);
	}
	return STATUS_OK;
}

void complain_at(const char *file)
{
	(void)file;
}

void complain_line(unsigned int line)
{
	(void)line;
}

int netns_enter(const char *name)
{
	(void)name;
	return STATUS_OK;
}

static const char *after(const char *verb, const char *text)
{
	char *set = NULL, *reset = NULL, path[] = "/tmp/quell-restore-XXXXXX", *argv[] = { path };
	static char left[256];
	FILE *file = fdopen(mkstemp(path), "w");
	struct app app = { .verb = verb };

	*value_of("swift") = 1;
	*value_of("hpcc") = 0;
	*value_of("timely") = 0;
	*value_of("dart") = 2;
	fputs(text, file);
	fclose(file);
	snprintf(left, sizeof(left), "%d: ", restore(&app, 1, argv));
	unlink(path);
	save_settings(NULL, &set, &reset);
	strcat(left, set);
	free(set);
	free(reset);
	return left;
}

TEST(settings_of_another_user_stay)
{
	EXPECT_STREQ("0: cc set swift beta 5\ncc set dart beta 2\n",
		     after("restore", "cc set swift beta 5\n"));
	EXPECT_STREQ("0: cc set swift beta 5\n", after("sync", "cc set swift beta 5\n"));
	EXPECT_STREQ("2: cc set swift beta 1\ncc set hpcc beta 7\ncc set timely beta 9\n"
		     "cc set dart beta 2\n",
		     after("restore", "cc set swift beta 5\ncc set swift eta 1\n"));
	EXPECT_STREQ("2: cc set swift beta 1\ncc set hpcc beta 7\ncc set timely beta 9\n"
		     "cc set dart beta 2\n",
		     after("sync", "cc set swift beta 5\ncc set swift eta 1\n"));
}

TEST(a_setting_of_both_is_undone)
{
	EXPECT_STREQ("2: cc set swift beta 1\ncc set timely beta 9\ncc set dart beta 2\n",
		     after("restore", "cc set hpcc beta 6\ncc set swift eta 1\n"));
}

/* A parameter that the file sets has no moment with its default, however its value is written. */
TEST(sync_resets_what_the_file_does_not_set)
{
	resets = 0;
	EXPECT_STREQ("0: cc set swift beta 1\n", after("sync", "cc set swift beta 01\n"));
	expect_eq(1, resets, "dart's alone");
	EXPECT_STREQ("0: cc set hpcc beta 3\n", after("sync", "cc set hpcc beta 3\n"));
	expect_eq(3, resets, "swift's and dart's");
}

TEST_HARNESS_MAIN
