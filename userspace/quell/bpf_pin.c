// SPDX-License-Identifier: GPL-2.0
/*
 * Pins of loaded objects: /sys/fs/bpf/quell/ALGO/{link or map,quell_params,quell_stats}.
 *
 * The pins are the only state.  An algorithm counts as loaded when its link or struct_ops map is
 * pinned, which is the last step; a directory without it is left by an interrupted run, and is
 * removed by the next.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/capability.h>
#include <linux/magic.h>

#include <quell/bpf.h>

#include "bpf_parts.h"
#include "quell.h"
#include "util.h"

#define BPFFS		"/sys/fs/bpf"
#define PIN_TOP		BPFFS "/quell"
/* The kernel's errno where an architecture lacks a feature; ENOSYS: it has no bpf(). */
#define ENOTSUPP	524

/* Print an error of the bpf() system call, an errno value; returns the exit status for it. */
int complain_bpf(const char *request, int code)
{
	if (code == EPERM)
		complain("%s: %s (needs CAP_BPF and CAP_PERFMON)", request,
			 strerror(code));
	else if (code == EACCES)
		complain("%s: %s (needs root, or access to " PIN_TOP ")", request, strerror(code));
	else if (code == ENOTSUPP || code == ENOSYS)
		complain("%s: this kernel does not support it", request);
	else
		complain("%s: %s", request, strerror(code));
	return STATUS_KERNEL;
}

/* As the kernel asks: CAP_SYS_ADMIN includes the others. */
static bool has_capability(const struct __user_cap_data_struct *data, unsigned int cap)
{
	return data[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap) ||
	       data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN);
}

/* Complain where the kernel would not load programs. */
int bpf_check_privilege(const char *request)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &header, data))
		return complain_bpf(request, errno);
	if (!has_capability(data, CAP_BPF) || !has_capability(data, CAP_PERFMON))
		return complain_bpf(request, EPERM);
	return STATUS_OK;
}

static bool is_mounted(void)
{
	struct statfs fs;

	return !statfs(BPFFS, &fs) && (unsigned int)fs.f_type == BPF_FS_MAGIC;
}

/*
 * "ip netns exec" has a mount namespace of its own with a new /sys: a mount there goes when its
 * command ends, and all pins and registrations with it.
 */
static bool is_mount_lasting(void)
{
	char ours[64], first[64];
	ssize_t len = readlink("/proc/self/ns/mnt", ours, sizeof(ours));

	return len < 0 || readlink("/proc/1/ns/mnt", first, sizeof(first)) != len ||
	       !memcmp(ours, first, len);
}

static int mount_bpffs(void)
{
	if (!is_mount_lasting())
		return complain_fault("no bpf file system on " BPFFS " in this mount namespace, and"
				      " one mounted here would go with it; run quell outside, not"
				      " by ip netns exec");
	if (mount("bpf", BPFFS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700"))
		return complain_bpf("cannot mount the bpf file system on " BPFFS, errno);
	return STATUS_OK;
}

/*
 * Many systems let every user write to the bpf file system: the owner of an older directory could
 * exchange the pins in it.
 */
static bool is_ours(int fd)
{
	struct stat stat;

	return !fstat(fd, &stat) && (!stat.st_uid || stat.st_uid == geteuid()) &&
	       !(stat.st_mode & (S_IWGRP | S_IWOTH));
}

/* -1 in *@fd without the directory: no algorithm is loaded. */
static int open_top(int *fd)
{
	*fd = open(PIN_TOP, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0 && errno == ENOENT)
		return STATUS_OK;
	if (*fd < 0 && errno != ENOTDIR && errno != ELOOP)
		return complain_bpf("cannot open " PIN_TOP, errno);
	if (*fd >= 0 && is_ours(*fd))
		return STATUS_OK;
	complain("others can change what is in " PIN_TOP ": it must be a directory of root's, which "
		 "no one else may write to (unload with bpftool what is registered, and remove it)");
	if (*fd >= 0)
		close(*fd);
	return STATUS_KERNEL;
}

/*
 * Complain where others may have changed the pins. Without the directory, when no algorithm is
 * loaded, it succeeds.
 */
int bpf_pins_check(void)
{
	int fd, status = open_top(&fd);

	if (!status && fd >= 0)
		close(fd);
	return status;
}

int bpf_pins_make(void)
{
	if (!is_mounted() && mount_bpffs())
		return STATUS_KERNEL;
	if (mkdir(PIN_TOP, 0700) && errno != EEXIST)
		return complain_bpf("cannot make " PIN_TOP, errno);
	return STATUS_OK;
}

/*
 * Block others that change pins or parameters until this program ends. Without the directory, when
 * no algorithm is loaded, it succeeds.
 */
int bpf_pins_lock(void)
{
	int fd, status = open_top(&fd);

	if (!status && fd >= 0 && flock(fd, LOCK_EX))
		return complain_bpf("cannot lock " PIN_TOP, errno);
	return status;
}

static void pin_path(char *path, const char *algo, const char *name)
{
	snprintf(path, PATH_MAX, PIN_TOP "/%s/%s", algo, name);
}

/* Open a pin; -1 with errno. */
int bpf_pin_get(const char *algo, const char *name)
{
	char path[PATH_MAX];

	pin_path(path, algo, name);
	return bpf_obj_get(path);
}

/* The union of struct bpf_link_info has this since Linux 6.4, later than some headers. */
union link_info {
	struct bpf_link_info	info;
	struct {
		uint32_t	type;
		uint32_t	id;
		uint32_t	prog_id;
		uint32_t	pad;
		uint32_t	map_id;
	} struct_ops;
};

/* Keeps the errno of the call that failed. */
static int close_failed(int fd)
{
	int code = errno;

	if (fd >= 0)
		close(fd);
	errno = code;
	return -1;
}

/*
 * Open the registration of an algorithm. Returns 0, or -1 with errno: ENOENT if it is not loaded.
 */
int bpf_pinned_open(const char *algo, struct bpf_pinned *pinned)
{
	union link_info link = {};
	struct bpf_map_info map = {};
	uint32_t len = sizeof(link);

	*pinned = (struct bpf_pinned){ .is_link = true };
	pinned->fd = bpf_pin_get(algo, BPF_PIN_LINK);
	if (pinned->fd >= 0) {
		if (bpf_obj_get_info_by_fd(pinned->fd, &link, &len))
			return close_failed(pinned->fd);
		pinned->link_id = link.struct_ops.id;
		pinned->map_id = link.struct_ops.map_id;
		return 0;
	}
	if (errno != ENOENT)
		return -1;
	pinned->is_link = false;
	pinned->fd = bpf_pin_get(algo, BPF_PIN_MAP);
	len = sizeof(map);
	if (pinned->fd < 0 || bpf_obj_get_info_by_fd(pinned->fd, &map, &len))
		return close_failed(pinned->fd);
	pinned->map_id = map.id;
	return 0;
}

/* Make the directory of an algorithm that is not loaded, empty. Returns 0, or -1 with errno. */
int bpf_pin_dir_make(const char *algo)
{
	char path[PATH_MAX];

	bpf_pin_dir_remove(algo);
	pin_path(path, algo, "");
	return mkdir(path, 0700);
}

/*
 * Make the directory of an algorithm, or QUELL_BPF_OPTION, if there is no such directory. Returns
 * 0, or -1 with errno.
 */
int bpf_pin_dir_ensure(const char *algo)
{
	char path[PATH_MAX];

	pin_path(path, algo, "");
	return mkdir(path, 0700) && errno != EEXIST ? -1 : 0;
}

DIR *bpf_pin_dir_open(const char *algo)
{
	char path[PATH_MAX];

	pin_path(path, algo, "");
	return opendir(path);
}

/* Remove a pin, if there is one; returns whether there was. */
bool bpf_pin_remove(const char *algo, const char *name)
{
	char path[PATH_MAX];

	pin_path(path, algo, name);
	return !unlink(path);
}

/*
 * Pin a map or link. A pin of that name is replaced atomically, and kept after a failure. Returns
 * 0, or -1 with errno.
 */
int bpf_pin_put(const char *algo, const char *name, int fd)
{
	char path[PATH_MAX], next[PATH_MAX];

	pin_path(path, algo, name);
	pin_path(next, algo, BPF_PIN_NEXT);
	if (unlink(next) && errno != ENOENT)
		return -1;
	if (bpf_obj_pin(fd, next))
		return -1;
	return rename(next, path);
}

void bpf_pin_dir_remove(const char *algo)
{
	static const char * const names[] = {
		BPF_PIN_LINK, BPF_PIN_MAP, QUELL_BPF_PARAMS_MAP, QUELL_BPF_STATS_MAP, BPF_PIN_NEXT,
	};
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		pin_path(path, algo, names[i]);
		unlink(path);
	}
	pin_path(path, algo, "");
	rmdir(path);
}
