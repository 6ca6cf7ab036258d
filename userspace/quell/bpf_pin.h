/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pins of a loaded object below /sys/fs/bpf/quell, which outlive this program.
 */
#ifndef QUELL_CLI_BPF_PIN_H
#define QUELL_CLI_BPF_PIN_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

/* Names in the directory of an algorithm. */
#define BPF_PIN_LINK	"link"	/* the registration, on kernels with links of struct_ops */
#define BPF_PIN_MAP	"map"	/* the struct_ops map, which is the registration on others */
#define BPF_PIN_NEXT	"next"	/* any, until it replaces another */

/* A loaded algorithm. */
struct bpf_pinned {
	int		fd;		/* of its link or struct_ops map */
	bool		is_link;	/* which of the two */
	uint32_t	link_id;	/* the kernel's number of the link */
	/* the kernel's number of the struct_ops map; 0: somebody has detached the link */
	uint32_t	map_id;
};

int bpf_check_privilege(const char *request);
int bpf_pins_check(void);
int bpf_pins_make(void);
int bpf_pins_lock(void);
int bpf_pinned_open(const char *algo, struct bpf_pinned *pinned);
int bpf_pin_dir_make(const char *algo);
int bpf_pin_dir_ensure(const char *algo);
DIR *bpf_pin_dir_open(const char *algo);
bool bpf_pin_remove(const char *algo, const char *name);
int bpf_pin_put(const char *algo, const char *name, int fd);
int bpf_pin_get(const char *algo, const char *name);
void bpf_pin_dir_remove(const char *algo);
int complain_bpf(const char *request, int code);

#endif /* QUELL_CLI_BPF_PIN_H */
