// SPDX-License-Identifier: GPL-2.0
/*
 * System V shared memory for programs in the laboratory, where the kernel lacks it: a segment is
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
	unsigned int attaches;	/* of this process */
	int removed;		/* is unmapped with the last of them */
} segments[SEGMENTS];

static int is_segment(int id)
{
	return id >= 0 && id < SEGMENTS && segments[id].at;
}

static int fails(int error)
{
	errno = error;
	return -1;
}

static void unmap_removed(int id)
{
	if (!segments[id].removed || segments[id].attaches)
		return;
	munmap(segments[id].at, segments[id].size);
	memset(&segments[id], 0, sizeof(segments[id]));
}

int shmget(key_t key, size_t size, int flags)
{
	int free = -1;

	for (int id = SEGMENTS - 1; id >= 0; id--) {
		if (!segments[id].at) {
			free = id;
		} else if (key != IPC_PRIVATE && segments[id].key == key) {
			if (flags & IPC_CREAT && flags & IPC_EXCL)
				return fails(EEXIST);
			return size > segments[id].size ? fails(EINVAL) : id;
		}
	}
	if (!(flags & IPC_CREAT) || free < 0)
		return fails(flags & IPC_CREAT ? ENOSPC : ENOENT);
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
	segments[id].attaches++;
	return segments[id].at;
}

int shmdt(const void *at)
{
	for (int id = 0; id < SEGMENTS; id++) {
		if (segments[id].attaches && segments[id].at == at) {
			segments[id].attaches--;
			unmap_removed(id);
			return 0;
		}
	}
	return fails(EINVAL);
}

int shmctl(int id, int command, struct shmid_ds *into)
{
	if (!is_segment(id))
		return fails(EINVAL);
	if (command == IPC_STAT) {
		memset(into, 0, sizeof(*into));
		into->shm_segsz = segments[id].size;
		into->shm_perm.__key = segments[id].key;
		into->shm_nattch = segments[id].attaches;
	} else if (command == IPC_RMID) {
		segments[id].key = IPC_PRIVATE;
		segments[id].removed = 1;
		unmap_removed(id);
	}
	return 0;
}
