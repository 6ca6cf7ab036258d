// SPDX-License-Identifier: GPL-2.0
/*
 * quell bpf option: the Quell option of a cgroup's sockets, by a BPF object.
 *
 *	/sys/fs/bpf/quell/option/	quell_options	storage of sockets, shared with the algorithms
 *					quell_option_stats, prog
 *					cgroup-ID	a link per cgroup
 *
 * The storage stays when the last cgroup goes, because loaded algorithms look into it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/magic.h>

#include <quell/bpf.h>
#include <quell/core/algorithm.h>

#include "bpf_parts.h"
#include "quell.h"
#include "util.h"

#define CGROUP_TOP	"/sys/fs/cgroup"
#define PIN_PROG	"prog"
#define PIN_LINK	"cgroup-"
#define PIN_LINK_LEN	32
/* Programs of a cgroup and those above it: the kernel allows 64 of each. */
#define PROGS_MAX	1024

/* FILEID_KERNFS of the kernel: the handle of a cgroup is its number. */
#define HANDLE_KERNFS	0xfe

#define OPTION_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_bpf_option_stats, name_, field_, doc_)

static const struct quell_counter_desc descs[] = {
	OPTION_COUNTER("option-negotiated", agreed, "Connections that use the option."),
	OPTION_COUNTER("option-sent", sent, "Segments sent with it."),
	OPTION_COUNTER("option-received", received,
		       "Segments received with it that TCP accepts."),
	OPTION_COUNTER("option-no-room", no_room, "Segments without it for want of room."),
	OPTION_COUNTER("option-malformed", malformed,
		       "Options too short for the sections they announce."),
	OPTION_COUNTER("option-out-of-window", out_of_window,
		       "Segments with it whose acknowledgment TCP refuses."),
	OPTION_COUNTER("option-stripped", stripped,
		       "Connections that gave it up, because it did not arrive any more."),
	OPTION_COUNTER("option-waited", waited,
		       "Echoes sent with a wait for a timer or an answer added."),
	OPTION_COUNTER("rtt-echo", rtt_echo, "Departures echoed and believed."),
	OPTION_COUNTER("rtt-echo-refused", rtt_echo_refused,
		       "Departures echoed that never were."),
	OPTION_COUNTER("rtt-echo-delayed", rtt_echo_delayed,
		       "Echoes that say that the ACK waited, and are no round-trip time."),
	OPTION_COUNTER("rtt-hold-refused", rtt_hold_refused,
		       "Echoes that stated more hold time than can be."),
};

/* No algorithm, but counters as those of one. */
static const struct quell_core option_core = {
	.name = QUELL_BPF_OPTION, .counters = descs, .counters_nr = ARRAY_SIZE(descs),
	.counters_bytes = sizeof(struct quell_bpf_option_stats),
};

struct option_args {
	const char	*verb;		/* "on", "off" or "show" */
	const char	*cgroup;	/* directory of a cgroup, NULL if not given */
	const char	*dir;		/* directory of the objects, NULL for the usual one */
};

struct attached {
	int	cgroup_fd;
	int	prog_fd;
	int	status;
	bool	is_pinned;
};

static bool is_fit(const struct bpf_map *map, int fd)
{
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &len) && info.type == bpf_map__type(map) &&
	       info.value_size == bpf_map__value_size(map);
}

/*
 * Let an object, not loaded yet, use the pinned storage of sockets for its @map, which may be NULL.
 * Returns false if there is no pin: bpf_options_keep() is due when the object is loaded.
 */
bool bpf_options_share(struct bpf_map *map)
{
	int fd = map ? bpf_pin_get(QUELL_BPF_OPTION, QUELL_BPF_OPTIONS_MAP) : -1;
	bool shared = fd >= 0 && is_fit(map, fd) && !bpf_map__reuse_fd(map, fd);

	if (fd >= 0)
		close(fd);
	return shared;
}

/* Pin the storage of the first object that has it, for the others; @map may be NULL. */
int bpf_options_keep(const struct bpf_map *map)
{
	if (map && (bpf_pin_dir_ensure(QUELL_BPF_OPTION) ||
		    bpf_pin_put(QUELL_BPF_OPTION, QUELL_BPF_OPTIONS_MAP, bpf_map__fd(map))))
		return complain_bpf("cannot pin the option's storage", errno);
	return STATUS_OK;
}

/* The directory of a cgroup, opened, and its number. */
static int open_cgroup(const char *path, uint64_t *id)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;
	struct stat st;

	if (fd < 0 || fstatfs(fd, &fs) || fstat(fd, &st)) {
		complain("%s: %s", path, strerror(errno));
	} else if ((unsigned int)fs.f_type != CGROUP2_SUPER_MAGIC) {
		complain("%s is no cgroup of version 2", path);
	} else {
		*id = st.st_ino;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static int pin_object(struct bpf_object *object, bool shared, int *prog_fd)
{
	struct bpf_program *prog =
		bpf_object__find_program_by_name(object, QUELL_BPF_OPTION_PROG);
	struct bpf_map *stats =
		bpf_object__find_map_by_name(object, QUELL_BPF_OPTION_STATS_MAP);
	int status = STATUS_OK;

	if (!prog || !stats ||
	    bpf_map__value_size(stats) != sizeof(struct quell_bpf_option_stats)) {
		return complain_fault("the object is of another version than this program");
	}
	if (!shared)
		status = bpf_options_keep(bpf_object__find_map_by_name(object,
								       QUELL_BPF_OPTIONS_MAP));
	if (status)
		return status;
	*prog_fd = dup(bpf_program__fd(prog));
	if (bpf_pin_dir_ensure(QUELL_BPF_OPTION) ||
	    bpf_pin_put(QUELL_BPF_OPTION, QUELL_BPF_OPTION_STATS_MAP, bpf_map__fd(stats)) ||
	    bpf_pin_put(QUELL_BPF_OPTION, PIN_PROG, *prog_fd))
		return complain_bpf("cannot pin the option's program", errno);
	return STATUS_OK;
}

/* The program, loaded if no cgroup has it yet. */
static int get_program(const char *dir, int *prog_fd)
{
	struct bpf_object *object = NULL;
	char path[PATH_MAX];
	bool shared;
	int status;

	*prog_fd = bpf_pin_get(QUELL_BPF_OPTION, PIN_PROG);
	if (*prog_fd >= 0)
		return dir ? complain("bpf option: the program is loaded already, from elsewhere "
				      "perhaps: 'dir' is for the first cgroup") : STATUS_OK;
	status = bpf_object_find(path, QUELL_BPF_OPTION, dir) ?: bpf_object_read(&object, path);
	if (status)
		return status;
	shared = bpf_options_share(bpf_object__find_map_by_name(object, QUELL_BPF_OPTIONS_MAP));
	status = bpf_object_load(object, QUELL_BPF_OPTION) ?: pin_object(object, shared, prog_fd);
	bpf_object__close(object);
	return status;
}

/*
 * Call a function for the pin of each link until it returns other than 0. Returns the number of
 * links, or -1 with errno.
 */
static int for_links(int (*visit)(const char *name, void *data), void *data)
{
	DIR *dir = bpf_pin_dir_open(QUELL_BPF_OPTION);
	struct dirent *entry;
	int nr = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -1;
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, PIN_LINK, strlen(PIN_LINK)))
			continue;
		nr++;
		if (visit && visit(entry->d_name, data))
			break;
	}
	closedir(dir);
	return nr;
}

/* The program goes with the last link, so that the next has it from where it is asked for. */
static void drop_unused_program(void)
{
	if (for_links(NULL, NULL))
		return;
	bpf_pin_remove(QUELL_BPF_OPTION, PIN_PROG);
	bpf_pin_remove(QUELL_BPF_OPTION, QUELL_BPF_OPTION_STATS_MAP);
}

/* A cgroup that was removed has left its link without a cgroup. */
static int drop_if_gone(const char *name, void *data)
{
	struct bpf_link_info info = {};
	uint32_t len = sizeof(info);
	int fd = bpf_pin_get(QUELL_BPF_OPTION, name);

	if (fd < 0)
		return 0;
	if (!bpf_obj_get_info_by_fd(fd, &info, &len) && !info.cgroup.cgroup_id)
		bpf_pin_remove(QUELL_BPF_OPTION, name);
	close(fd);
	return 0;
}

/*
 * Lock the pins and undo the beginning of a run that was killed: a link without a name of its own
 * yet is in force as long as it has a pin.
 */
static int lock_and_undo(bool *undone)
{
	int status = bpf_pins_lock();

	if (status)
		return status;
	*undone = bpf_pin_remove(QUELL_BPF_OPTION, BPF_PIN_NEXT);
	for_links(drop_if_gone, NULL);
	drop_unused_program();
	return STATUS_OK;
}

/* Loading needs the other capabilities, and has been done. */
static int complain_attach(int code)
{
	if (code != EPERM)
		return complain_bpf("cannot attach to the cgroup", code);
	complain("cannot attach to the cgroup: %s (needs CAP_NET_ADMIN, and no program on a cgroup "
		 "above that allows no others)", strerror(code));
	return STATUS_KERNEL;
}

/* A link that its cgroup took along when it was removed cannot be detached, and needs not be. */
static int detach(const char *name, void *data)
{
	int fd = bpf_pin_get(QUELL_BPF_OPTION, name);

	if (fd < 0 || (bpf_link_detach(fd) && errno != ENOLINK && errno != ENOENT))
		return complain_bpf("cannot detach", errno);
	close(fd);
	bpf_pin_remove(QUELL_BPF_OPTION, name);
	return STATUS_OK;
}

/* @mount_fd: any directory of the hierarchy. Returns a file descriptor or -1. */
static int open_cgroup_of_id(int mount_fd, uint64_t id)
{
	struct {
		struct file_handle	handle;
		uint64_t		id;
	} cgroup = { .handle = { .handle_bytes = sizeof(id), .handle_type = HANDLE_KERNFS } };

	memcpy(cgroup.handle.f_handle, &id, sizeof(id));
	return open_by_handle_at(mount_fd, &cgroup.handle, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/*
 * How often the program runs for each event of a socket in a cgroup, for it and those above it; -1
 * with errno.
 */
static int runs_in(int cgroup_fd, int prog_fd)
{
	uint32_t ids[PROGS_MAX], nr = PROGS_MAX, flags, i, len = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = {};
	int runs = 0;

	if (bpf_obj_get_info_by_fd(prog_fd, &info, &len) ||
	    bpf_prog_query(cgroup_fd, BPF_CGROUP_SOCK_OPS, BPF_F_QUERY_EFFECTIVE, &flags, ids, &nr))
		return -1;
	for (i = 0; i < nr; i++)
		runs += ids[i] == info.id;
	return runs;
}

/*
 * Below a cgroup that has just got the program it would run twice for each event. A removed cgroup,
 * of which it is not known where it was, keeps its link until the last of its sockets is closed.
 * Stops at an error, in @data.
 */
static int detach_below(const char *name, void *data)
{
	struct attached *new = data;
	int fd = open_cgroup_of_id(new->cgroup_fd, strtoull(name + strlen(PIN_LINK), NULL, 10));
	int runs = fd >= 0 ? runs_in(fd, new->prog_fd) : -1;

	if (runs < 0 && errno == EPERM)
		new->status = complain_fault("cannot open the other cgroups that have the option "
					     "(needs CAP_DAC_READ_SEARCH)");
	else if (runs < 0 && errno != ESTALE && errno != ENOENT)
		new->status = complain_bpf("cannot query another cgroup's programs", errno);
	else if (runs > 1 && new->is_pinned)
		new->status = detach(name, NULL);
	if (fd >= 0)
		close(fd);
	return new->status;
}

/* Other cgroups lose the option once this one has it for good: they are examined before. */
static int attach(const char *path, int cgroup_fd, uint64_t id, int prog_fd)
{
	struct attached new = { .cgroup_fd = cgroup_fd, .prog_fd = prog_fd };
	int fd, runs = runs_in(cgroup_fd, prog_fd);
	char name[PIN_LINK_LEN];

	if (runs < 0)
		return complain_bpf("cannot query the cgroup's programs", errno);
	if (runs)
		return complain_fault("the option is on in %s already, or in a cgroup above", path);
	fd = bpf_link_create(prog_fd, cgroup_fd, BPF_CGROUP_SOCK_OPS, NULL);
	if (fd < 0)
		return complain_attach(errno);
	if (for_links(detach_below, &new) < 0)
		new.status = complain_bpf("cannot open the pins", errno);
	snprintf(name, sizeof(name), PIN_LINK "%llu", (unsigned long long)id);
	/* Without a pin the link goes with its descriptor. */
	if (!new.status && bpf_pin_put(QUELL_BPF_OPTION, name, fd))
		new.status = complain_bpf("cannot pin the link", errno);
	close(fd);
	new.is_pinned = true;
	if (!new.status && for_links(detach_below, &new) < 0)
		new.status = complain_bpf("cannot open the pins", errno);
	return new.status;
}

static int turn_on(const struct option_args *words)
{
	const char *path = words->cgroup ? words->cgroup : CGROUP_TOP;
	int cgroup_fd, prog_fd = -1, status;
	uint64_t id;
	bool undone;

	status = bpf_check_privilege("bpf option on");
	if (status)
		return status;
	cgroup_fd = open_cgroup(path, &id);
	if (cgroup_fd < 0)
		return STATUS_INPUT;
	status = bpf_pins_make() ?:
		 lock_and_undo(&undone) ?:
		 get_program(words->dir, &prog_fd) ?:
		 attach(path, cgroup_fd, id, prog_fd);
	if (status)
		drop_unused_program();
	if (prog_fd >= 0)
		close(prog_fd);
	close(cgroup_fd);
	return status;
}

static int detach_one(const char *path)
{
	char name[PIN_LINK_LEN];
	uint64_t id;
	int fd = open_cgroup(path, &id);

	if (fd < 0)
		return STATUS_INPUT;
	close(fd);
	snprintf(name, sizeof(name), PIN_LINK "%llu", (unsigned long long)id);
	fd = bpf_pin_get(QUELL_BPF_OPTION, name);
	if (fd < 0) {
		if (errno != ENOENT)
			return complain_bpf("cannot open the pins", errno);
		return complain_fault("the option is not on in %s", path);
	}
	close(fd);
	return detach(name, NULL);
}

static int turn_off(const struct option_args *words)
{
	int status, nr = 0;
	bool undone;

	status = lock_and_undo(&undone);
	if (status)
		return status;
	if (words->cgroup)
		status = detach_one(words->cgroup);
	else
		nr = for_links(detach, NULL);
	if (nr < 0)
		return complain_bpf("cannot open the pins", errno);
	drop_unused_program();
	if (words->cgroup)
		return status;
	if (!nr && !undone)
		return complain_fault("the option is on in no cgroup");
	return for_links(NULL, NULL) ? STATUS_KERNEL : STATUS_OK;
}

/* Where the cgroup of that number is; false if the hierarchy is mounted elsewhere. */
static bool find_cgroup(uint64_t id, char *path, size_t len)
{
	int top_fd = open(CGROUP_TOP, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	char link[64];
	ssize_t bytes = -1;

	if (top_fd < 0)
		return false;
	fd = open_cgroup_of_id(top_fd, id);
	close(top_fd);
	if (fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		bytes = readlink(link, path, len - 1);
		close(fd);
	}
	if (bytes < 0)
		return false;
	path[bytes] = '\0';
	return true;
}

static int show_link(const char *name, void *data)
{
	uint64_t id = strtoull(name + strlen(PIN_LINK), NULL, 10);
	struct out *o = data;
	char path[PATH_MAX];

	out_open_object(o, NULL);
	out_u64(o, "id", "cgroup %s", id);
	if (find_cgroup(id, path, sizeof(path)))
		out_str(o, "path", " %s", path);
	else
		out_null(o, "path", "");
	out_text(o, "\n");
	out_close_object(o);
	return 0;
}

static void print_links(struct out *o, const struct bpf_model *model)
{
	int nr;

	out_open_object(o, NULL);
	out_open_array(o, "cgroups");
	nr = for_links(show_link, o);
	out_close_array(o);
	if (nr)
		out_counter_lines(o, &model->counters);
	else
		out_text(o, "no cgroup\n");
	out_counters(o, &model->counters);
	out_close_object(o);
}

static int show(struct out *o)
{
	struct bpf_model model = {};
	int status, fd;
	bool undone;

	status = lock_and_undo(&undone) ?: bpf_model_init(&model, &option_core);
	if (status)
		goto free_model;
	fd = bpf_pin_get(QUELL_BPF_OPTION, QUELL_BPF_OPTION_STATS_MAP);
	if (fd < 0 && errno != ENOENT)
		status = complain_bpf("cannot read the counters", errno);
	if (fd >= 0) {
		status = bpf_read_counters(&model, fd);
		close(fd);
	}
	if (!status && for_links(NULL, NULL) < 0)
		status = complain_bpf("cannot open the pins", errno);
	if (!status)
		print_links(o, &model);
free_model:
	bpf_model_free(&model);
	return status;
}

static int read_words(struct option_args *words, int argc, char **argv)
{
	static const struct word known[] = {
		{ "cgroup", word_text, offsetof(struct option_args, cgroup), NULL },
		{ "dir", word_text, offsetof(struct option_args, dir), NULL },
	};
	struct words all = { .name = "bpf", .list = known };

	*words = (struct option_args){ .verb = argc ? argv[0] : "show" };
	if (!strcmp(words->verb, "on"))
		all.n = 2;
	else if (!strcmp(words->verb, "off"))
		all.n = 1;
	else if (strcmp(words->verb, "show"))
		return complain("bpf option: '%s' is not show, on or off", words->verb);
	return argc ? words_read(&all, words, argc - 1, argv + 1) : STATUS_OK;
}

int bpf_option(struct app *app, int argc, char **argv)
{
	struct option_args words;

	if (read_words(&words, argc, argv))
		return STATUS_INPUT;
	if (!strcmp(words.verb, "on"))
		return turn_on(&words);
	if (!strcmp(words.verb, "off"))
		return turn_off(&words);
	return show(&app->out);
}
