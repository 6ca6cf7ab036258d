// SPDX-License-Identifier: GPL-2.0
/*
 * quell save, restore and sync: all settings of a namespace, to a file and back.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plan.h"
#include "preset.h"
#include "settings.h"

#define MEMBERS_PER_LINE	4

static bool is_same_section(const struct plan_item *a, const struct plan_item *b)
{
	const char *x[SETTINGS_WORDS_MAX], *y[SETTINGS_WORDS_MAX];
	size_t n = plan_section(a, x), i;

	if (plan_section(b, y) != n)
		return false;
	for (i = 0; i < n; i++)
		if (strcmp(x[i], y[i]))
			return false;
	return true;
}

static void write_section(FILE *file, const struct plan_item *item)
{
	const char *words[SETTINGS_WORDS_MAX];
	size_t n = plan_section(item, words);

	fputc('\n', file);
	settings_write_name(file, words, n);
}

static void write_group(FILE *file, const struct lookahead *group)
{
	char text[INET6_ADDRSTRLEN], dev[IF_NAMESIZE], time[QTY_TEXT_LEN];
	size_t i;

	if (if_indextoname(group->ifindex, dev)) {
		fputs("dev = ", file);
		settings_write_value(file, dev);
		fputc('\n', file);
	}
	fprintf(file, "time = %s", qty_format(time, sizeof(time), QUELL_UNIT_NS, group->time_ns));
	for (i = 0; i < group->n_members; i++) {
		struct sockaddr_storage address;
		const void *bytes = group->members[i].bytes;

		plan_socket(&group->members[i], &address);
		inet_ntop(address.ss_family, bytes, text, sizeof(text));
		fprintf(file, i % MEMBERS_PER_LINE ? " %s" : "\n" SETTINGS_MEMBERS " = %s", text);
	}
	fputc('\n', file);
}

/* With @all, settings that have their defaults too, as comments. */
static void write_item(FILE *file, struct plan *plan, const struct plan_item *item, bool all)
{
	const struct preset *preset = item->cc ? preset_in_force(presets, item->cc) : NULL;
	bool is_default = plan_is_default(item) || preset;
	char key[PLAN_KEY_LEN], value[QTY_TEXT_LEN];

	if (is_default && !all)
		return;
	if (item->kind == PLAN_GROUP) {
		write_group(file, item->group_now);
		return;
	}
	plan_key(item, key, sizeof(key));
	plan_value(plan, item, false, value, sizeof(value));
	fprintf(file, "%s%s = %s\n", is_default ? "# " : "", key, value);
}

/* Whether something of a section is to be written. */
static bool has_content(const struct plan *plan, size_t first, bool all)
{
	size_t i;

	for (i = first; i < plan->n && is_same_section(&plan->items[i], &plan->items[first]); i++)
		if (all || !plan_is_default(&plan->items[i]))
			return true;
	return false;
}

static void write_plan(FILE *file, struct plan *plan, bool all)
{
	bool begins, is_written = false;
	size_t i;

	fputs("# Settings of Quell congestion control: quell restore FILE, quell sync FILE; quell(8)\n",
	      file);
	for (i = 0; i < plan->n; i++) {
		const struct plan_item *item = &plan->items[i];
		const struct preset *preset;

		begins = !i || !is_same_section(item, item - 1);
		if (begins)
			is_written = has_content(plan, i, all);
		if (!is_written)
			continue;
		if (begins)
			write_section(file, item);
		preset = begins && item->cc ? preset_in_force(presets, item->cc) : NULL;
		if (preset)
			fprintf(file, "preset = %s\n", preset->name);
		write_item(file, plan, item, all);
	}
}

static int complain_file(const char *name)
{
	complain("%s: %s", name, strerror(errno));
	return STATUS_KERNEL;
}

/* Into a file that is no regular one, such as a pipe. */
static int write_through(struct plan *plan, const char *name, bool all)
{
	FILE *file = fopen(name, "we");

	if (!file)
		return complain_file(name);
	write_plan(file, plan, all);
	if (fflush(file) || ferror(file)) {
		complain_file(name);
		fclose(file);
		return STATUS_KERNEL;
	}
	fclose(file);
	return STATUS_OK;
}

/* The file stays as it was or becomes the new one, even after a crash. */
static int write_whole(struct plan *plan, const char *name, const struct stat *old, bool all)
{
	char path[PATH_MAX];
	mode_t mask = umask(0);
	FILE *file;
	int fd;

	umask(mask);
	if (snprintf(path, sizeof(path), "%s.XXXXXX", name) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return complain_file(name);
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return complain_file(path);
	file = fdopen(fd, "w");
	if (!file)
		goto failed;
	write_plan(file, plan, all);
	if (fflush(file) || ferror(file) || fsync(fd) ||
	    fchmod(fd, old ? old->st_mode & 07777 : 0666 & ~mask) ||
	    (old && fchown(fd, old->st_uid, old->st_gid)) || rename(path, name))
		goto failed;
	fclose(file);
	return STATUS_OK;

failed:
	complain_file(name);
	unlink(path);
	if (file)
		fclose(file);
	else
		close(fd);
	return STATUS_KERNEL;
}

/* A file of another user in a directory that all may write to, such as /tmp. */
static bool is_planted(const char *name, const struct stat *file)
{
	char path[PATH_MAX];
	struct stat dir;

	snprintf(path, sizeof(path), "%s", name);
	return S_ISREG(file->st_mode) && !stat(dirname(path), &dir) && (dir.st_mode & S_ISVTX) &&
	       (dir.st_mode & (S_IWGRP | S_IWOTH)) && file->st_uid != geteuid() &&
	       file->st_uid != dir.st_uid;
}

static int complain_planted(const char *name)
{
	complain("%s: is another user's, in a directory where all may put files", name);
	return STATUS_INPUT;
}

/*
 * The target of a link, so that the link stays.  The kernel follows it once, and thereby checks it,
 * as it does not follow links of others in /tmp; the name may be another's by now.  False with
 * errno.
 */
static bool follow_link(const char *name, char target[PATH_MAX], struct stat *file)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	struct stat named;
	char entry[32];
	ssize_t len;

	if (fd < 0)
		return false;
	snprintf(entry, sizeof(entry), "/proc/self/fd/%d", fd);
	len = readlink(entry, target, PATH_MAX - 1);
	if (len < 0 || fstat(fd, file)) {
		close(fd);
		return false;
	}
	close(fd);
	target[len] = '\0';
	/* A pipe may have no path, and is not replaced. */
	if (!S_ISREG(file->st_mode)) {
		snprintf(target, PATH_MAX, "%s", name);
		return true;
	}
	errno = ESTALE;
	return !stat(target, &named) && file->st_dev == named.st_dev &&
	       file->st_ino == named.st_ino;
}

static int save_to(struct plan *plan, const char *name, bool all)
{
	char target[PATH_MAX];
	struct stat old;

	if (lstat(name, &old)) {
		if (errno != ENOENT)
			return complain_file(name);
		return write_whole(plan, name, NULL, all);
	}
	if (!S_ISLNK(old.st_mode))
		snprintf(target, sizeof(target), "%s", name);
	else if (!follow_link(name, target, &old))
		return complain_file(name);
	if (is_planted(target, &old))
		return complain_planted(target);
	if (S_ISREG(old.st_mode))
		return write_whole(plan, target, &old, all);
	return write_through(plan, target, all);
}

/* quell save [FILE] */
int save(struct app *app, int argc, char **argv)
{
	struct plan plan;
	int status;

	if (app->out.json) {
		complain("save: the file is text that restore reads, not JSON");
		return STATUS_INPUT;
	}
	status = plan_load(&plan, app);
	if (!status && argc && strcmp(argv[0], "-"))
		status = save_to(&plan, argv[0], app->details);
	else if (!status)
		write_plan(stdout, &plan, app->details);
	plan_free(&plan);
	return status;
}

/* The whole of a file, of which SETTINGS_BYTES_MAX and a byte are enough to refuse it. */
static int read_file(const char *name, char **text, size_t *len)
{
	FILE *file = strcmp(name, "-") ? fopen(name, "re") : stdin;
	int status = STATUS_OK;
	struct stat about;

	*text = malloc(SETTINGS_BYTES_MAX + 1);
	if (!file || !*text) {
		status = complain_file(name);
		if (!file)
			status = STATUS_INPUT;
		goto close_file;
	}
	if (file != stdin && !fstat(fileno(file), &about) && is_planted(name, &about)) {
		status = complain_planted(name);
		goto close_file;
	}
	*len = fread(*text, 1, SETTINGS_BYTES_MAX + 1, file);
	if (ferror(file))
		status = complain_file(name);
close_file:
	if (file && file != stdin)
		fclose(file);
	return status;
}

/* Read and parse; @settings must be freed even on failure. */
static int read_settings(const char *name, struct settings *settings)
{
	struct settings_error error;
	char *text = NULL;
	size_t len = 0;
	int status, ret;

	*settings = (struct settings){};
	status = read_file(name, &text, &len);
	if (!status) {
		ret = settings_parse(settings, text, len, &error);
		if (ret) {
			complain_at(name);
			complain_line(error.line);
			complain("%s", error.text);
			complain_at(NULL);
			status = ret == -ENOMEM ? STATUS_KERNEL : STATUS_INPUT;
		}
	}
	free(text);
	return status;
}

static void print_words(struct out *o, const struct plan_item *item)
{
	const char *words[SETTINGS_WORDS_MAX];
	size_t n = plan_section(item, words);
	char section[64];

	snprintf(section, sizeof(section), "%s%s%s", words[0], n > 1 ? " " : "",
		 n > 1 ? words[1] : "");
	out_str(o, "section", "%s", section);
}

/* The changes, a line each. */
static void print_changes(struct out *o, const struct plan *plan)
{
	char key[PLAN_KEY_LEN], from[QTY_TEXT_LEN + 64], to[QTY_TEXT_LEN + 64];
	size_t i;

	out_open_array(o, NULL);
	for (i = 0; i < plan->n; i++) {
		const struct plan_item *item = &plan->items[i];

		if (!plan_is_changed(plan, item))
			continue;
		plan_key(item, key, sizeof(key));
		plan_value(plan, item, false, from, sizeof(from));
		plan_value(plan, item, true, to, sizeof(to));
		out_open_object(o, NULL);
		print_words(o, item);
		out_str(o, "setting", " %s:", key);
		out_str(o, "from", " %s", from);
		out_str(o, "to", " -> %s\n", to);
		out_close_object(o);
	}
	out_close_array(o);
	out_document_end(o);
}

/* Apply a file; with @defaults, reset all settings that it does not name. */
static int restore_from(struct app *app, const char *name, bool defaults, bool dry)
{
	struct settings settings;
	struct plan plan = {};
	int status;

	status = read_settings(name, &settings);
	if (!status)
		status = app_connect(app, "swift");
	if (!status)
		status = plan_load(&plan, app);
	if (!status && defaults)
		plan_want_defaults(&plan);
	if (!status)
		status = plan_read(&plan, &settings, name);
	if (!status && !dry)
		status = plan_apply(&plan, app);
	if (!status)
		print_changes(&app->out, &plan);
	plan_free(&plan);
	settings_free(&settings);
	return status;
}

static int take_words(struct app *app, int argc, char **argv, bool defaults)
{
	bool dry = !strcmp(argv[0], "--dry-run");

	if (argc != 1 + dry) {
		complain("%s, usage: quell %s [--dry-run] FILE",
			 argc > 1 ? "unexpected argument" : "the file is missing",
			 defaults ? "sync" : "restore");
		return STATUS_INPUT;
	}
	return restore_from(app, argv[dry], defaults, dry);
}

/* quell restore [--dry-run] FILE */
int restore(struct app *app, int argc, char **argv)
{
	return take_words(app, argc, argv, false);
}

/* quell sync [--dry-run] FILE */
int sync_settings(struct app *app, int argc, char **argv)
{
	return take_words(app, argc, argv, true);
}
