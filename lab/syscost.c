// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into user-mode Linux: the cost of a system call, in virtual time.
 *
 * Inside, computing takes no time, and reading the clock takes a nanosecond.  A program that
 * polls would never end, as time stands still meanwhile.  So before a program resumes after a
 * system call (or a page fault), virtual time passes, as a delay within the kernel lets it pass:
 * packets and timers that are due by then are processed.
 *
 * The kernel holds timers back while it delays, so the delay goes from one event of its list to
 * the next: each is processed at its time.
 *
 * The kernel inside sets the cost by a line "quell-syscall NS".  The process that wrote the
 * line is the laboratory's own and is not charged.
 *
 * From then on the kernel's timer signals to its processes are dropped.  It relays each timer
 * interrupt by SIGALRM to the process that it interrupted, so that a process that computes
 * returns to the kernel.  In virtual time no process computes while a timer expires: the signal
 * stops it before its first instruction, and to resume would be charged as another system call.
 * Where timers expire more often than a system call takes, as beside flows, that never ends.
 * Later kernels do not send it in virtual time.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "syscost.h"

#define DELAY	"time_travel_ndelay"
#define EVENTS	"time_travel_events"
#define TIME	"time_travel_time"

typedef void (*delay_t)(unsigned long ns);

/* As in the kernel's linux/time-internal.h. */
struct list {
	struct list	*next, *prev;
};

struct event {
	unsigned long long	time_ns;
	void			*fn;
	struct list		list;
};

static const char command[] = "quell-syscall ";
static unsigned long cost_ns;
static delay_t delay;
static const struct list *events;
static const unsigned long long *now_ns;
static pid_t free_pid, last_pid;
static bool is_set;

/* Address of a symbol of the kernel, which is loaded where it was linked; NULL. */
static void *find_symbol(const char *file, size_t bytes, const char *name)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
	const Elf64_Shdr *section = (const Elf64_Shdr *)(file + header->e_shoff);
	size_t i, n;

	if (bytes < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_type != ET_EXEC)
		return NULL;
	for (i = 0; i < header->e_shnum; i++) {
		const Elf64_Sym *symbol = (const Elf64_Sym *)(file + section[i].sh_offset);
		const char *names;

		if (section[i].sh_type != SHT_SYMTAB)
			continue;
		names = file + section[section[i].sh_link].sh_offset;
		for (n = 0; n < section[i].sh_size / sizeof(*symbol); n++)
			if (!strcmp(names + symbol[n].st_name, name))
				return (void *)symbol[n].st_value;
	}
	return NULL;
}

/* Find the kernel's symbols that let time pass; whether all are there. */
static bool find_all(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat about;
	char *file;

	if (fd < 0 || fstat(fd, &about))
		return false;
	file = mmap(NULL, about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return false;
	delay = (delay_t)find_symbol(file, about.st_size, DELAY);
	events = find_symbol(file, about.st_size, EVENTS);
	now_ns = find_symbol(file, about.st_size, TIME);
	munmap(file, about.st_size);
	return delay && events && now_ns;
}

/**
 * syscost_see_line() - take note of a line that the kernel inside prints
 * @text: the line
 * @length: its bytes
 */
void syscost_see_line(const char *text, size_t length)
{
	static const char cannot[] = "WARNING: no " DELAY
				     " in the kernel: system calls of programs cost nothing\n";

	if (length < sizeof(command) || memcmp(text, command, sizeof(command) - 1))
		return;
	is_set = true;
	free_pid = last_pid;
	cost_ns = strtoul(text + sizeof(command) - 1, NULL, 10);
	if (find_all())
		return;
	cost_ns = 0;
	if (write(STDOUT_FILENO, cannot, sizeof(cannot) - 1) < 0)
		return;
}

/* To the next event, or as far as is left. */
static unsigned long next_step_ns(unsigned long left_ns)
{
	const struct event *event;

	if (events->next == events)
		return left_ns;
	event = (const struct event *)((const char *)events->next - offsetof(struct event, list));
	if (event->time_ns <= *now_ns || event->time_ns - *now_ns > left_ns)
		return left_ns;
	return event->time_ns - *now_ns;
}

/**
 * syscost_enter_user() - a process of the kernel inside is about to go on
 * @pid: the host's process that stands for it
 */
void syscost_enter_user(pid_t pid)
{
	unsigned long left_ns, step_ns;

	last_pid = pid;
	if (pid == free_pid)
		return;
	for (left_ns = cost_ns; left_ns; left_ns -= step_ns) {
		step_ns = next_step_ns(left_ns);
		delay(step_ns);
	}
}

int kill(pid_t pid, int sig)
{
	if (is_set && sig == SIGALRM)
		return 0;
	return syscall(SYS_kill, pid, sig);
}
