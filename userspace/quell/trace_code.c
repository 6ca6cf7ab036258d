// SPDX-License-Identifier: GPL-2.0
/*
 * The tracer's BPF object: kernel support, loading, attaching, lost records.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf_parts.h"
#include "quell.h"
#include "trace_parts.h"
#include "util.h"

#define OBJECT		"trace"
#define CONFIG_MAP	".rodata"
#define OUR_NETNS	"/proc/self/ns/net"

static const uint32_t the_entry;

/* Attachment points, as BTF names them. */
static const struct {
	uint32_t	kind;
	const char	*name;
	const char	*text;
} needed[] = {
	{ BTF_KIND_FUNC, "tcp_ack", "function tcp_ack" },
	{ BTF_KIND_FUNC, "tcp_set_ca_state", "function tcp_set_ca_state" },
	{ BTF_KIND_FUNC, "tcp_enter_loss", "function tcp_enter_loss" },
	{ BTF_KIND_TYPEDEF, "btf_trace_tcp_retransmit_skb", "tracepoint tcp_retransmit_skb" },
};

/* The kernel's BTF has its features, so no trial load is needed. */
static int check_kernel(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int status = STATUS_OK;
	size_t i;

	if (libbpf_get_error(btf))
		return complain_fault("trace: this kernel has no BTF, /sys/kernel/btf/vmlinux "
				      "(CONFIG_DEBUG_INFO_BTF)");
	for (i = 0; !status && i < ARRAY_SIZE(needed); i++) {
		if (btf__find_by_name_kind(btf, needed[i].name, needed[i].kind) > 0)
			continue;
		status = complain_fault("trace: this kernel's BTF has no %s", needed[i].text);
	}
	btf__free(btf);
	return status;
}

/* Socket storage of a BPF variant: its descriptor, or -1 if the map is another. */
static int open_view(uint32_t id)
{
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);
	int fd = bpf_map_get_fd_by_id(id);

	if (fd < 0)
		return -1;
	if (!bpf_obj_get_info_by_fd(fd, &info, &len) && info.type == BPF_MAP_TYPE_SK_STORAGE &&
	    !strcmp(info.name, QUELL_BPF_FLOWS_MAP) &&
	    info.value_size >= sizeof(struct quell_bpf_view))
		return fd;
	close(fd);
	return -1;
}

static int use_view(struct trace_code *code, uint32_t number, int fd)
{
	char name[sizeof(QUELL_TRACE_VIEW_MAP) + 8];
	struct bpf_map *map;

	snprintf(name, sizeof(name), QUELL_TRACE_VIEW_MAP "%u", number);
	map = bpf_object__find_map_by_name(code->object, name);
	return !map || bpf_map__reuse_fd(map, fd) ? -1 : 0;
}

/*
 * Give the tracer the views of the BPF variants loaded now.  Replaced code has a map of its own as
 * long as a connection uses it.
 */
static int use_views(struct trace_code *code, struct quell_trace_config *config)
{
	uint32_t id = 0;
	int err, fd;

	while (config->views < QUELL_TRACE_VIEWS && !bpf_map_get_next_id(id, &id)) {
		fd = open_view(id);
		if (fd < 0)
			continue;
		err = use_view(code, config->views, fd);
		close(fd);
		if (err)
			return complain_object("trace: cannot use the map of", "a BPF variant",
					       errno);
		config->views++;
	}
	return STATUS_OK;
}

/* The network namespace that this process is in, by the number that the kernel gives it. */
static int read_netns(struct quell_trace_config *config)
{
	struct stat file;

	if (stat(OUR_NETNS, &file))
		return complain_fault("trace: cannot look at " OUR_NETNS ": %s", strerror(errno));
	config->netns_inum = file.st_ino;
	return STATUS_OK;
}

static int prepare(struct trace_code *code, const struct trace_args *words, const char *path)
{
	struct bpf_map *config_map = bpf_object__find_map_by_name(code->object, CONFIG_MAP);
	struct bpf_map *ring = bpf_object__find_map_by_name(code->object, QUELL_TRACE_RING_MAP);
	struct quell_trace_config config = words->config;
	int status = STATUS_OK;

	if (!config_map || bpf_map__value_size(config_map) != sizeof(config) || !ring)
		return complain_fault("%s is of another version than this program", path);
	if (!words->any_netns)
		status = read_netns(&config);
	if (!status)
		status = use_views(code, &config);
	if (status)
		return status;
	if (bpf_map__set_initial_value(config_map, &config, sizeof(config)) ||
	    bpf_map__set_max_entries(ring, words->buffer_bytes))
		return complain_object("cannot prepare", path, errno);
	return STATUS_OK;
}

/* Load the tracer into the kernel, without attaching it. @code must be closed even on failure. */
int trace_code_open(struct trace_code *code, const struct trace_args *words)
{
	char path[PATH_MAX];

	*code = (struct trace_code){};
	return bpf_object_find(path, OBJECT, words->dir) ?:
	       check_kernel() ?:
	       bpf_object_read(&code->object, path) ?:
	       prepare(code, words, path) ?:
	       bpf_object_load(code->object, path);
}

/* The one program that hangs on quell.ko, where there is no quell.ko. */
static bool is_absent_module(const struct bpf_program *program, int err)
{
	return err == -ENOENT && strstr(bpf_program__section_name(program), QUELL_TRACE_POINT);
}

static int attach_programs(struct trace_code *code)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, code->object) {
		struct bpf_link *link = bpf_program__attach(program);
		int err = libbpf_get_error(link);

		if (is_absent_module(program, err))
			continue;
		if (err)
			return complain_object("cannot attach", bpf_program__name(program), -err);
		code->links[code->n_links++] = link;
	}
	return STATUS_OK;
}

/* Trace from here on; ring_buffer__poll() and ring_buffer__consume() call @take for each record. */
int trace_code_attach(struct trace_code *code, trace_take *take, void *data)
{
	int fd = bpf_object__find_map_fd_by_name(code->object, QUELL_TRACE_RING_MAP);

	code->ring = ring_buffer__new(fd, take, data, NULL);
	if (libbpf_get_error(code->ring)) {
		code->ring = NULL;
		return complain_object("cannot map", "the ring buffer", errno);
	}
	return attach_programs(code);
}

/* Stop tracing; queued records can still be read. */
void trace_code_detach(struct trace_code *code)
{
	while (code->n_links)
		bpf_link__destroy(code->links[--code->n_links]);
}

/* Records that found no room in the ring so far. */
uint64_t trace_code_drops(const struct trace_code *code)
{
	int fd = bpf_object__find_map_fd_by_name(code->object, QUELL_TRACE_DROPS_MAP);
	uint64_t drops = 0;

	bpf_map_lookup_elem(fd, &the_entry, &drops);
	return drops;
}

/*
 * Events of any flow during a run of the program for them. A program does not interrupt itself: if
 * a packet is received on a processor while it runs there on behalf of a system call, the kernel
 * leaves it out and counts that.
 */
uint64_t trace_code_misses(const struct trace_code *code)
{
	struct bpf_program *program;
	uint64_t misses = 0;

	bpf_object__for_each_program(program, code->object) {
		struct bpf_prog_info info = {};
		uint32_t len = sizeof(info);

		if (!bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len))
			misses += info.recursion_misses;
	}
	return misses;
}

/* Detach and unload; @code may be zeroed. */
void trace_code_close(struct trace_code *code)
{
	trace_code_detach(code);
	ring_buffer__free(code->ring);
	bpf_object__close(code->object);
	bpf_object_forget();
}
