// SPDX-License-Identifier: GPL-2.0
/*
 * System V shared memory for programs in the laboratory, whose kernel is without it: a segment is
 * anonymous memory that a process shares with those that it forks, as PostgreSQL does.  To be
 * preloaded.  Programs that find each other's segments by key without a common parent fail.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>

#define SEGMENTS	64

static struct {
	void *at;
	size_t size;
	key_t key;
} segments[SEGMENTS];

static int is_segment(int id)
{
	return id >= 0 && id < SEGMENTS && segments[id].at;
}

int shmget(key_t key, size_t size, int flags)
{
	int free = -1;

	for (int id = SEGMENTS - 1; id >= 0; id--) {
		if (!segments[id].at) {
			free = id;
		} else if (key != IPC_PRIVATE && segments[id].key == key) {
			if (!(flags & IPC_CREAT && flags & IPC_EXCL))
				return id;
			errno = EEXIST;
			return -1;
		}
	}
	if (!(flags & IPC_CREAT) || free < 0) {
		errno = flags & IPC_CREAT ? ENOSPC : ENOENT;
		return -1;
	}
	segments[free].at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				 -1, 0);
	if (segments[free].at == MAP_FAILED) {
		segments[free].at = NULL;
		return -1;
	}
	segments[free].size = size;
	segments[free].key = key;
	return free;
}

void *shmat(int id, const void *at, int flags)
{
	(void)flags;
	if (!is_segment(id) || (at && at != segments[id].at)) {
		errno = EINVAL;
		return (void *)-1;
	}
	return segments[id].at;
}

int shmdt(const void *at)
{
	for (int id = 0; id < SEGMENTS; id++)
		if (segments[id].at && segments[id].at == at)
			return 0;
	errno = EINVAL;
	return -1;
}

int shmctl(int id, int command, struct shmid_ds *into)
{
	if (!is_segment(id)) {
		errno = EINVAL;
		return -1;
	}
	if (command == IPC_STAT) {
		memset(into, 0, sizeof(*into));
		into->shm_segsz = segments[id].size;
		into->shm_perm.__key = segments[id].key;
		into->shm_nattch = 1;
	} else if (command == IPC_RMID) {
		segments[id].key = IPC_PRIVATE;
	}
	return 0;
}
