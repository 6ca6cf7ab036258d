// SPDX-License-Identifier: GPL-2.0
/*
 * The same events through a core in user space and through its BPF object: after each, variables,
 * counters, decision and record of reductions must be equal, bit by bit.
 *
 *	replay DIR ALGORITHM...		DIR/ebpf/ALGORITHM.bpf.o, DIR/bpf/ALGORITHM_replay.bpf.o
 *
 * Parameters are the defaults in the first flow of an algorithm, then anything within the ranges.
 * Samples are anything: magnitudes from 0 to the largest value of each field.  A flow begins with
 * a start; the seed is fixed.  Then the product's own object is loaded, registered nowhere, and
 * what the verifier went through is printed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <quell/core/cores.h>

#include "random.h"
#include "replay.h"

#define EVENTS		40000
#define FLOW_EVENTS	200		/* before a new flow with other parameters starts */
#define SEED		0x7175656c6cULL
#define LOG_BYTES	(1 << 16)
#define LOG_STATISTICS	4		/* the kernel's BPF_LOG_STATS */

static const char * const event_names[] = {
	"start", "ACK", "loss", "timeout", "idle restart", "undo",
};

/* How often each kind comes, of 64. */
static const u8 event_weights[] = { 1, 45, 5, 4, 5, 4 };

/* An object of a program to run, and where its blocks are in the map's memory. */
struct replay {
	const struct quell_core	*core;
	struct bpf_object	*object;
	int			program_fd;
	size_t			map_bytes;
	u64			*event;
	void			*params, *stats, *vars, *undo;
	struct quell_sample	*sample;
	struct quell_decision	*decision;
};

/* The same flow in user space. */
struct model {
	struct quell_event	ev;
	struct quell_undo	undo;
	void			*vars, *before, *stats, *params;
};

static int number;
static int failed;

static void result(bool ok, const char *algo, const char *what)
{
	failed |= !ok;
	printf("%sok %d - %s: %s\n", ok ? "" : "not ", ++number, algo, what);
	fflush(stdout);
}

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

static const struct quell_core *find_core(const char *name)
{
	size_t i;

	for (i = 0; i < QUELL_CORES_NR; i++)
		if (!strcmp(quell_cores[i]->name, name))
			return quell_cores[i];
	return NULL;
}

/* Place of a member of a struct of the object, which must be @bytes long; -1: it is not. */
static long member_at(const struct btf *btf, const char *type, const char *member, size_t bytes)
{
	const struct btf_type *t;
	const struct btf_member *m;
	int id, i;

	id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	if (id < 0)
		return -1;
	t = btf__type_by_id(btf, id);
	for (i = 0, m = btf_members(t); i < btf_vlen(t); i++, m++)
		if (!strcmp(btf__name_by_offset(btf, m->name_off), member))
			return (size_t)btf__resolve_size(btf, m->type) == bytes ?
			       m->offset / 8 : -1;
	return -1;
}

/* The member itself; @base is where the struct begins. */
static void *block_at(const struct replay *r, void *base, const char *type, const char *member,
		      size_t bytes)
{
	long at = member_at(bpf_object__btf(r->object), type, member, bytes);

	if (at < 0) {
		fprintf(stderr, "%s: %s has no %s of %zu bytes\n",
			r->core->name, type, member, bytes);
		exit(1);
	}
	return (char *)base + at;
}

static void find_blocks(struct replay *r)
{
	const struct btf *btf = bpf_object__btf(r->object);
	void *map = r->event, *flow;

	flow = block_at(r, map, "quell_replay", "flow",
			btf__resolve_size(btf, btf__find_by_name_kind(btf, "quell_bpf_flow",
								      BTF_KIND_STRUCT)));
	r->params = block_at(r, map, "quell_replay", "params", r->core->params_bytes);
	r->stats = block_at(r, map, "quell_replay", "stats", r->core->counters_bytes);
	r->vars = block_at(r, flow, "quell_bpf_flow", "vars", r->core->vars_bytes);
	r->undo = block_at(r, flow, "quell_bpf_flow", "undo", sizeof(struct quell_undo));
	r->sample = block_at(r, flow, "quell_bpf_flow", "sample", sizeof(*r->sample));
	r->decision = block_at(r, flow, "quell_bpf_flow", "decision", sizeof(*r->decision));
}

/* Loads the object's program alone; what it reports to is shared memory. */
static bool replay_open(struct replay *r, const char *path)
{
	struct bpf_program *program;
	struct bpf_map *map;
	long page_bytes = sysconf(_SC_PAGESIZE);

	r->object = bpf_object__open(path);
	if (!r->object)
		return false;
	bpf_object__for_each_program(program, r->object)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), "replay"));
	bpf_object__for_each_map(map, r->object)
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
			bpf_map__set_autocreate(map, false);
	if (bpf_object__load(r->object))
		return false;
	r->program_fd = bpf_program__fd(bpf_object__find_program_by_name(r->object, "replay"));
	map = bpf_object__find_map_by_name(r->object, "quell_replay");
	r->map_bytes = (bpf_map__value_size(map) + page_bytes - 1) / page_bytes * page_bytes;
	r->event = mmap(NULL, r->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(map), 0);
	if (r->event == MAP_FAILED)
		return false;
	find_blocks(r);
	return true;
}

static void replay_close(struct replay *r)
{
	if (r->event && r->event != MAP_FAILED)
		munmap(r->event, r->map_bytes);
	bpf_object__close(r->object);
}

static void draw_params(struct random_state *random, const struct quell_core *core, void *params)
{
	u32 i;

	memset(params, 0, core->params_bytes);
	for (i = 0; i < core->params_nr; i++)
		*quell_core_param(params, &core->params[i]) =
			random_magnitude(random, core->params[i].min, core->params[i].max);
	if (core->params_derive)
		core->params_derive(params);
}

/* A value like a network's, or any at all. */
static u64 draw(struct random_state *random, u64 usual_low, u64 usual_high, u64 most)
{
	switch (random_between(random, 0, 15)) {
	case 0:
		return 0;
	case 1:
		return most;
	case 2:
	case 3:
		return random_magnitude(random, 0, most);
	default:
		return random_magnitude(random, usual_low, usual_high);
	}
}

static void draw_sample(struct random_state *random, u64 *now_ns, struct quell_sample *s)
{
	memset(s, 0, sizeof(*s));
	*now_ns += draw(random, 100, 1000000, 1ULL << 50);
	s->now_ns = random_between(random, 0, 99) ? *now_ns : random_u64(random);
	s->rtt_ns = draw(random, 1000, 10000000, QUELL_U64_MAX);
	s->min_rtt_ns = draw(random, 1000, 1000000, QUELL_U64_MAX);
	s->remote_ns = draw(random, 0, 1000000, QUELL_U64_MAX);
	s->link_bytes_ps = draw(random, 1000000, 50000000000ULL, QUELL_U64_MAX);
	s->peer_link_bytes_ps = draw(random, 1000000, 50000000000ULL, QUELL_U64_MAX);
	s->acked_bytes = draw(random, 1, 65536, QUELL_U32_MAX);
	s->acked_pkts = draw(random, 1, 45, QUELL_U32_MAX);
	s->marked_bytes = random_between(random, 0, 1) ? 0 :
			  draw(random, 1, s->acked_bytes | 1, QUELL_U32_MAX);
	s->trimmed_bytes = random_between(random, 0, 7) ? 0 : draw(random, 1, 65536, QUELL_U32_MAX);
	s->lost_bytes = draw(random, 0, 65536, QUELL_U32_MAX);
	s->inflight_bytes = draw(random, 1448, 10000000, QUELL_U32_MAX);
	s->mss_bytes = draw(random, 536, 9000, 65535);
	s->mss_bytes += !s->mss_bytes;
	s->senders_q8 = draw(random, 256, 65536, QUELL_U32_MAX);
	s->hops = draw(random, 0, 6, 255);
	s->flags = random_u64(random);
	s->header_bytes = draw(random, 78, 118, 65535);
	s->telemetry.link_bytes_ps = draw(random, 1000000, 50000000000ULL, QUELL_U64_MAX);
	s->telemetry.queue_bytes = draw(random, 0, 1000000, QUELL_U32_MAX);
	s->telemetry.tx_units = random_u64(random) & QUELL_TELEMETRY_TX_MASK;
	s->telemetry.time_ns = random_u64(random) & QUELL_TELEMETRY_TIME_MASK;
	s->telemetry.hop = random_between(random, 0, 2);
	s->idle_ns = draw(random, 1000, 100000000, QUELL_U64_MAX);
	s->other_flows = draw(random, 0, 100, QUELL_U32_MAX);
}

static enum replay_event draw_event(struct random_state *random)
{
	u32 at = random_between(random, 0, 63), event;

	for (event = 0; at >= event_weights[event]; event++)
		at -= event_weights[event];
	return event;
}

static void model_event(struct model *m, const struct quell_core *core, enum replay_event event)
{
	void (* const calls[])(struct quell_event *ev) = {
		core->init, core->on_ack, core->on_loss, core->on_rto, core->on_idle_restart,
		core->on_undo,
	};

	m->ev.vars = m->vars;
	m->ev.params = m->params;
	m->ev.stats = m->stats;
	m->ev.before = m->before;
	m->ev.undo = &m->undo;
	memcpy(m->before, m->vars, core->vars_bytes);
	calls[event](&m->ev);
	if (event == REPLAY_LOSS || event == REPLAY_RTO)
		core->undo_note(&m->ev);
}

/* What differs, or NULL. */
static const char *difference(const struct replay *r, const struct model *m)
{
	const struct quell_decision *d = &m->ev.decision;

	if (memcmp(r->vars, m->vars, r->core->vars_bytes))
		return "variables";
	if (r->decision->window_q16 != d->window_q16)
		return "window";
	if (r->decision->pacing_bytes_ps != d->pacing_bytes_ps)
		return "pacing rate";
	if (r->decision->target_ns != d->target_ns || r->decision->change_path != d->change_path)
		return "target or path";
	if (memcmp(r->stats, m->stats, r->core->counters_bytes))
		return "counters";
	return memcmp(r->undo, &m->undo, sizeof(m->undo)) ? "record of reductions" : NULL;
}

/* A new flow, with other parameters; what both have of it before its start is the same. */
static void begin_flow(struct replay *r, struct model *m, struct random_state *random, bool first)
{
	if (first)
		quell_core_params_default(r->core, m->params);
	else
		draw_params(random, r->core, m->params);
	memset(m->vars, 0, r->core->vars_bytes);
	m->undo = (struct quell_undo) {};
	memcpy(r->params, m->params, r->core->params_bytes);
	memset(r->vars, 0, r->core->vars_bytes);
	memset(r->undo, 0, sizeof(m->undo));
}

/* One event in both; false when they differ, or the program did not run. */
static bool step(struct replay *r, struct model *m, enum replay_event event, u32 nth)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	const char *what;

	if (event == REPLAY_UNDO && !m->undo.valid)
		return true;
	*r->event = event;
	*r->sample = m->ev.sample;
	if (bpf_prog_test_run_opts(r->program_fd, &run) || run.retval != 1) {
		printf("# event %u did not run: %s\n", nth, strerror(errno));
		return false;
	}
	model_event(m, r->core, event);
	what = difference(r, m);
	if (what)
		printf("# event %u, %s: %s differ; window %llu in user space, %llu in BPF, Q16\n",
		       nth, event_names[event], what, m->ev.decision.window_q16,
		       r->decision->window_q16);
	if (event == REPLAY_UNDO) {
		m->undo = (struct quell_undo) {};
		memset(r->undo, 0, sizeof(m->undo));
	}
	return !what;
}

static bool run_events(struct replay *r, struct model *m)
{
	struct random_state random = { .state = SEED };
	u32 i, counts[REPLAY_EVENTS] = {};
	u64 now_ns = 0;
	bool same = true;

	for (i = 0; i < EVENTS && same; i++) {
		enum replay_event event = draw_event(&random);

		if (i % FLOW_EVENTS == 0) {
			begin_flow(r, m, &random, !i);
			event = REPLAY_INIT;
		}
		draw_sample(&random, &now_ns, &m->ev.sample);
		counts[event] += event != REPLAY_UNDO || m->undo.valid;
		same = step(r, m, event, i);
	}
	printf("# %s: %u events: %u starts, %u ACKs, %u losses, %u timeouts,", r->core->name, i,
	       counts[0], counts[1], counts[2], counts[3]);
	printf(" %u restarts, %u undone\n", counts[4], counts[5]);
	for (i = 0; i < REPLAY_EVENTS; i++)
		same = same && counts[i];
	return same;
}

static void test_replay(const struct quell_core *core, const char *dir)
{
	struct replay r = { .core = core };
	struct model m = {
		.vars = calloc(1, core->vars_bytes), .before = calloc(1, core->vars_bytes),
		.stats = calloc(1, core->counters_bytes), .params = calloc(1, core->params_bytes),
	};
	char path[4096];
	bool opened;

	snprintf(path, sizeof(path), "%s/bpf/%s_replay.bpf.o", dir, core->name);
	opened = m.vars && m.before && m.stats && m.params && replay_open(&r, path);
	result(opened && run_events(&r, &m), core->name,
	       "random events leave the same in user space and in BPF");
	replay_close(&r);
	free(m.vars);
	free(m.before);
	free(m.stats);
	free(m.params);
}

/* Instructions that the verifier went through; 0 when the log has none. */
static unsigned long verified_insns(const struct bpf_program *program)
{
	size_t bytes;
	const char *log = bpf_program__log_buf(program, &bytes);
	const char *line = log ? strstr(log, "processed ") : NULL;

	return line ? strtoul(line + strlen("processed "), NULL, 10) : 0;
}

static void test_load(const struct quell_core *core, const char *dir)
{
	struct bpf_program *program;
	struct bpf_object *object;
	char path[4096];
	bool loaded;

	snprintf(path, sizeof(path), "%s/ebpf/%s.bpf.o", dir, core->name);
	object = bpf_object__open(path);
	if (object)
		bpf_object__for_each_program(program, object) {
			bpf_program__set_log_buf(program, calloc(1, LOG_BYTES), LOG_BYTES);
			bpf_program__set_log_level(program, LOG_STATISTICS);
		}
	loaded = object && !bpf_object__load(object);
	result(loaded, core->name, "the verifier accepts the object");
	if (object)
		bpf_object__for_each_program(program, object) {
			size_t bytes;

			printf("# %s: %s: %lu instructions verified\n", core->name,
			       bpf_program__name(program), verified_insns(program));
			free((void *)bpf_program__log_buf(program, &bytes));
		}
	bpf_object__close(object);
}

/* Why this machine cannot run BPF programs, or NULL. */
static const char *excuse(void)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_flags = BPF_F_SLEEPABLE);
	int fd;

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "the kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)";
	fd = bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "excuse", "GPL", insns, 2, &options);
	if (fd < 0)
		return errno == EPERM ? "this user may not load BPF programs" :
					"the kernel loads no BPF program of type syscall";
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *reason = excuse();
	const struct quell_core *core;
	int i;

	libbpf_set_print(print_nothing);
	printf("TAP version 13\n");
	if (reason) {
		printf("1..0 # SKIP %s\nok 1 - bpf # SKIP %s\n", reason, reason);
		return 0;
	}
	printf("1..%d\n", 2 * (argc - 2));
	for (i = 2; i < argc; i++) {
		core = find_core(argv[i]);
		if (!core) {
			fprintf(stderr, "replay: no algorithm %s\n", argv[i]);
			return 2;
		}
		test_replay(core, argv[1]);
		test_load(core, argv[1]);
	}
	return failed;
}
