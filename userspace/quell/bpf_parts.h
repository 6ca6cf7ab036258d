/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of "quell bpf": blocks of parameters and counters, objects, pins, state, sysctls.
 */
#ifndef QUELL_CLI_BPF_PARTS_H
#define QUELL_CLI_BPF_PARTS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

#include <quell/core/algorithm.h>

#include "change.h"
#include "model.h"

struct bpf_map;
struct bpf_object;
struct btf;

/* Length of the longest name of a congestion control, with its terminator: TCP_CA_NAME_MAX. */
#define BPF_CC_NAME_LEN	16

struct bpf_model {
	const struct quell_core	*core;
	/* of its congestion control */
	char			name[BPF_CC_NAME_LEN];
	struct cc		cc;		/* its parameters; their texts belong to @core */
	struct counters		counters;	/* its counters; their texts belong to @core */
	void			*block;		/* value of the map of parameters, params_bytes */
};

struct bpf_args {
	const struct preset	*preset;	/* applied before @changes, or NULL */
	/* directory of the objects, NULL for the usual one */
	const char		*dir;
	struct changes		changes;	/* parameters and values */
};

/* bpf_model.c: no call of the kernel, so that all of it is under unit test */
const struct quell_core *bpf_core_at(size_t index);
int bpf_core_find(const char *name, const struct quell_core **core);
int bpf_model_init(struct bpf_model *model, const struct quell_core *core);
void bpf_model_free(struct bpf_model *model);
void bpf_model_take(struct bpf_model *model, const void *block);
void bpf_model_apply(struct bpf_model *model, const struct changes *changes);
void bpf_model_sum(struct bpf_model *model, const void *values, unsigned int cpus);
int bpf_args_parse(struct bpf_args *words, const struct bpf_model *model, int argc,
		   char **argv);
void bpf_args_free(struct bpf_args *words);

/* bpf.c */
int bpf_not_loaded(const char *algo);
int bpf_read_params(struct bpf_model *model, int fd);

/* bpf_show.c */
int bpf_read_counters(struct bpf_model *model, int fd);

/* bpf_object.c */
int bpf_object_find(char *path, const char *name, const char *dir);
int bpf_object_read(struct bpf_object **object, const char *path);
int bpf_object_load(struct bpf_object *object, const char *name);
int complain_object(const char *request, const char *name, int code);
void bpf_object_forget(void);

/* An object, opened or loaded. */
struct bpf_code {
	struct bpf_object	*object;	/* libbpf's handle */
	struct bpf_map		*ops;		/* its struct_ops map */
	struct bpf_map		*params;	/* its map of parameters */
	struct bpf_map		*stats;		/* its map of counters */
	struct bpf_map		*options;	/* its map of sockets that speak the Quell option */
	const char		*name;		/* of the congestion control, for messages */
	bool			has_links;	/* this kernel registers struct_ops by links */
};

/* bpf_code.c */
int bpf_code_open(struct bpf_code *code, const struct bpf_model *model, const char *dir);
bool bpf_code_fits_params(int fd, const struct quell_core *core);
bool bpf_code_fits_counters(int fd, const struct quell_core *core);
int bpf_code_share(struct bpf_code *code, const struct quell_core *core, int params_fd,
		   int stats_fd);
int bpf_code_load(struct bpf_code *code);
int bpf_code_register(struct bpf_code *code, int *fd);
int bpf_code_update(struct bpf_code *code, int link_fd);
void bpf_code_close(struct bpf_code *code);

/*
 * bpf_layout.c: whether the blocks in the maps of an object are laid out as this program's. A block of
 * which parameters have changed places, or meaning and name, has the same size; its BTF differs.
 */
bool bpf_has_params(const struct btf *btf, uint32_t type_id, const struct quell_core *core);
bool bpf_has_counters(const struct btf *btf, uint32_t type_id, const struct quell_core *core);

/* bpf_option.c */
bool bpf_options_share(struct bpf_map *map);
int bpf_options_keep(const struct bpf_map *map);

/* Names in the directory of an algorithm. */
#define BPF_PIN_LINK	"link"	/* the registration, on kernels with links of struct_ops */
#define BPF_PIN_MAP	"map"	/* the struct_ops map, which is the registration on others */
#define BPF_PIN_NEXT	"next"	/* any, until it replaces another */

struct bpf_pinned {
	int		fd;		/* of its link or struct_ops map */
	bool		is_link;	/* which of the two */
	uint32_t	link_id;	/* the kernel's number of the link */
	/* the kernel's number of the struct_ops map; 0: somebody has detached the link */
	uint32_t	map_id;
};

/* bpf_pin.c */
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

/* Room for a version, with its terminator; a longer one is cut. */
#define BPF_VERSION_LEN	32

struct bpf_state {
	/* sockets that use the code in force, and network namespaces with it as the default */
	uint64_t	users;
	uint64_t	old_users;	/* the same for code that was replaced or unloaded */
	/* of the code in force; empty if not recorded */
	char		version[BPF_VERSION_LEN];
};

/* bpf_state.c */
int bpf_state_read(struct bpf_state *state, const char *name, uint32_t map_id);

/* bpf_sysctl.c */
bool bpf_list_has(const char *list, const char *name);
bool bpf_is_default(const char *name);
bool bpf_is_allowed(const char *name);
int bpf_check_renewal(const char *name);
int bpf_wait_until_gone(const char *name);
int bpf_allow(const char *name);
int bpf_make_default(const char *name);

#endif /* QUELL_CLI_BPF_PARTS_H */
