// SPDX-License-Identifier: GPL-2.0
/*
 * Objects of algorithms: loading and registering them.
 *
 * libbpf 1.1 knows struct_ops maps without links only, and no libbpf can put a new map under a
 * link that another process made.  So a link is made and updated by the plain system calls,
 * which is all that those need: the map's flag, and a value that bpf_map__attach_struct_ops()
 * writes with any libbpf.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <quell/bpf.h>

#include "bpf_parts.h"
#include "quell.h"

/* Names of Linux 6.4, later than some headers. */
#define MAP_FLAG_LINK		(1U << 13)			/* BPF_F_LINK */
#define ATTACH_STRUCT_OPS	((enum bpf_attach_type)44)	/* BPF_STRUCT_OPS */

#define KERNEL_BTF		"/sys/kernel/btf/vmlinux"

static bool has_type(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT) > 0;
}

/* libbpf says the same of every failure, for it looks in several places. */
static int complain_btf(const struct bpf_code *code)
{
	if (!access(KERNEL_BTF, R_OK))
		complain("cannot make sense of " KERNEL_BTF);
	else if (errno != ENOENT)
		complain("cannot read " KERNEL_BTF ": %s", strerror(errno));
	else
		complain("this kernel has no BTF, " KERNEL_BTF " (CONFIG_DEBUG_INFO_BTF); "
			 "where modules can be loaded, try: modprobe tcp_%s",
			 code->name + strlen(QUELL_BPF_PREFIX));
	return STATUS_KERNEL;
}

/* The kernel's BTF has its features, so no trial load is needed. */
static int check_kernel(struct bpf_code *code)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int status = STATUS_OK;

	if (libbpf_get_error(btf))
		return complain_btf(code);
	if (!has_type(btf, "bpf_struct_ops_tcp_congestion_ops"))
		status = complain_fault("this kernel has no struct_ops of TCP "
					"(CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT)");
	code->has_links = has_type(btf, "bpf_struct_ops_link");
	btf__free(btf);
	return status;
}

/* Tables and object come from the same source; the blocks of another version differ. */
static int find_maps(struct bpf_code *code, const struct bpf_model *model, const char *path)
{
	const struct btf *btf = bpf_object__btf(code->object);

	code->ops = bpf_object__find_map_by_name(code->object, model->name);
	code->params = bpf_object__find_map_by_name(code->object, QUELL_BPF_PARAMS_MAP);
	code->stats = bpf_object__find_map_by_name(code->object, QUELL_BPF_STATS_MAP);
	code->options = bpf_object__find_map_by_name(code->object, QUELL_BPF_OPTIONS_MAP);
	if (!code->ops || bpf_map__type(code->ops) != BPF_MAP_TYPE_STRUCT_OPS)
		return complain_fault("%s has no congestion control %s", path, model->name);
	if (!code->params || !code->stats ||
	    !bpf_has_params(btf, bpf_map__btf_value_type_id(code->params), model->core) ||
	    !bpf_has_counters(btf, bpf_map__btf_value_type_id(code->stats), model->core)) {
		return complain_fault("%s is of another version than this program: "
				      "its parameters or counters differ",
				      path);
	}
	return STATUS_OK;
}

/*
 * Read the object of an algorithm from @dir, NULL for the usual one, and check that this kernel can
 * run it. @code must be closed even on failure.
 */
int bpf_code_open(struct bpf_code *code, const struct bpf_model *model, const char *dir)
{
	uint32_t flags;
	char path[PATH_MAX];
	int status;

	*code = (struct bpf_code){ .name = model->name };
	status = bpf_object_find(path, model->core->name, dir) ?:
		 check_kernel(code) ?:
		 bpf_object_read(&code->object, path) ?:
		 find_maps(code, model, path);
	if (status)
		return status;
	flags = bpf_map__map_flags(code->ops) & ~MAP_FLAG_LINK;
	if (bpf_map__set_map_flags(code->ops, flags | (code->has_links ? MAP_FLAG_LINK : 0)))
		return complain_object("cannot prepare", model->name, errno);
	return STATUS_OK;
}

/* Whether an existing map has the blocks of this program, by its type and its BTF. */
static bool is_fit(int fd, enum bpf_map_type type, const struct quell_core *core,
		   bool (*has_layout)(const struct btf *btf, uint32_t type_id,
				      const struct quell_core *core))
{
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);
	struct btf *btf;
	bool is;

	if (bpf_obj_get_info_by_fd(fd, &info, &len) || info.type != type || !info.btf_id)
		return false;
	btf = btf__load_from_kernel_by_id(info.btf_id);
	if (libbpf_get_error(btf))
		return false;
	is = has_layout(btf, info.btf_value_type_id, core);
	btf__free(btf);
	return is;
}

bool bpf_code_fits_params(int fd, const struct quell_core *core)
{
	return is_fit(fd, BPF_MAP_TYPE_ARRAY, core, bpf_has_params);
}

bool bpf_code_fits_counters(int fd, const struct quell_core *core)
{
	return is_fit(fd, BPF_MAP_TYPE_PERCPU_ARRAY, core, bpf_has_counters);
}

/*
 * Use both maps that exist already instead of new ones, in an object not loaded yet. Returns 0, or
 * -1 if they do not fit.
 */
int bpf_code_share(struct bpf_code *code, const struct quell_core *core, int params_fd,
		   int stats_fd)
{
	if (!bpf_code_fits_params(params_fd, core) ||
	    !bpf_code_fits_counters(stats_fd, core))
		return -1;
	return bpf_map__reuse_fd(code->params, params_fd) ||
	       bpf_map__reuse_fd(code->stats, stats_fd) ? -1 : 0;
}

/* Load programs and maps into the kernel, without a registration. */
int bpf_code_load(struct bpf_code *code)
{
	bool shared = bpf_options_share(code->options);
	int status = bpf_object_load(code->object, code->name);

	return status || shared ? status : bpf_options_keep(code->options);
}

/*
 * Write the value of the struct_ops map, which registers it on a kernel without links; on others
 * libbpf 1.2 and newer make a link, too, which is in *@fd then.
 */
static int write_ops(struct bpf_code *code, int *fd)
{
	struct bpf_link *link = bpf_map__attach_struct_ops(code->ops);
	int err = libbpf_get_error(link);

	*fd = -1;
	if (err)
		return err;
	if (bpf_link__fd(link) != bpf_map__fd(code->ops))
		*fd = dup(bpf_link__fd(link));
	/* The registration stays: this frees libbpf's handle only. */
	bpf_link__disconnect(link);
	bpf_link__destroy(link);
	return 0;
}

/*
 * Let connections choose the algorithm; *@fd is a link, or on kernels without them the struct_ops
 * map.
 */
int bpf_code_register(struct bpf_code *code, int *fd)
{
	int err = write_ops(code, fd);

	if (!err && *fd < 0)
		*fd = code->has_links ?
			bpf_link_create(bpf_map__fd(code->ops), 0, ATTACH_STRUCT_OPS, NULL) :
			dup(bpf_map__fd(code->ops));
	if (!err && *fd < 0)
		err = -errno;
	if (err == -EEXIST)
		return complain_fault("%s is registered already, and quell did not load it "
				      "(see: bpftool struct_ops, bpftool link)",
				      code->name);
	return err ? complain_object("cannot register", code->name, -err) : STATUS_OK;
}

/* Put new code, loaded, under a link; open connections keep theirs. */
int bpf_code_update(struct bpf_code *code, int link_fd)
{
	int fd, err;

	/* The link that libbpf 1.2 and newer try to make has a name that is taken. */
	err = write_ops(code, &fd);
	if (!err || err == -EEXIST)
		err = bpf_link_update(link_fd, bpf_map__fd(code->ops), NULL) ? -errno : 0;
	if (err == -ENOLINK) {
		complain("%s was detached by somebody else (try: quell bpf unload, then load)",
			 code->name);
		return STATUS_KERNEL;
	}
	return err ? complain_object("cannot replace", code->name, -err) : STATUS_OK;
}

void bpf_code_close(struct bpf_code *code)
{
	bpf_object__close(code->object);
	bpf_object_forget();
}
