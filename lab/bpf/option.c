// SPDX-License-Identifier: GPL-2.0
/*
 * The Quell option of BPF hosts: a program of type sock_ops on the root cgroup, in which all hosts
 * of the laboratory are, and the storage of sockets that it shares with an algorithm.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include <quell/bpf.h>

#include "object.h"
#include "option.h"

#define ALONE_SECTION	".rodata.only_sockops"

/* Where this process alone sees the cgroups, in place of the objects, which it has read. */
#define CGROUPS_DIR	"/bpf"

static int open_root_cgroup(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", CGROUPS_DIR, "cgroup2", 0, NULL))
		die("cannot mount the cgroups: %s", strerror(errno));
	return open(CGROUPS_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Says that no other program is attached. */
static void set_alone(struct bpf_object *option)
{
	const bool alone = true;
	struct bpf_map *map;

	bpf_object__for_each_map(map, option)
		if (strstr(bpf_map__name(map), ALONE_SECTION))
			break;
	if (!map || bpf_map__set_initial_value(map, &alone, sizeof(alone)))
		die("the option's program has no quell_option_only_sockops");
}

/* The algorithm, not yet loaded, reads the option's storage of sockets. */
static void share(struct bpf_object *option, struct bpf_object *algorithm)
{
	struct bpf_map *from = bpf_object__find_map_by_name(option, QUELL_BPF_OPTIONS_MAP);
	struct bpf_map *to = bpf_object__find_map_by_name(algorithm, QUELL_BPF_OPTIONS_MAP);

	if (!from || !to || bpf_map__reuse_fd(to, bpf_map__fd(from)))
		die("the algorithm and the option's program share no %s", QUELL_BPF_OPTIONS_MAP);
}

/**
 * option_enable() - have the sockets of all hosts speak the option
 * @path: the object file of option.bpf.c
 * @algorithm: the reader of the option; not yet loaded
 *
 * The program stays when this process ends.
 */
void option_enable(const char *path, struct bpf_object *algorithm)
{
	struct bpf_object *option = bpf_object__open(path);
	int err = libbpf_get_error(option), cgroup;

	if (err)
		die("cannot read %s: %s", path, strerror(-err));
	set_alone(option);
	err = bpf_object__load(option);
	if (err)
		die("the kernel does not load %s: %s", path, strerror(-err));
	cgroup = open_root_cgroup();
	if (cgroup < 0 ||
	    bpf_prog_attach(bpf_program__fd(bpf_object__next_program(option, NULL)), cgroup,
			    BPF_CGROUP_SOCK_OPS, 0))
		die("cannot attach %s: %s", path, strerror(errno));
	close(cgroup);
	share(option, algorithm);
}
