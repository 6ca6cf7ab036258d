// SPDX-License-Identifier: GPL-2.0
/*
 * A trace of the laboratory (labtrace.h) through the core in user space and in its BPF object:
 * after each event decision, variables and record of reductions must be those of the module, bit
 * by bit, and at the end the counters of both the same.
 *
 *	trace DIR ACKS FILE...		DIR/bpf/ALGORITHM_replay.bpf.o; each FILE has at least ACKS
 *
 * An algorithm without an object, and all of them where bpf() is refused, are compared with the
 * module in user space only, and the result says so.  Events go by the core's own functions: the
 * fit to the path, which comes before them, has had its effect on the samples.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "labtrace.h"
#include "object.h"

#define SOCKETS_MAX	4096
#define DIFFERENCES_MAX	10		/* enough to look at */

static const char * const kind_names[LABTRACE_KINDS] = {
	"starts", "ACKs", "losses", "timeouts", "restarts", "undone",
};

/* A trace in memory. */
struct trace {
	const struct labtrace_head	*head;
	const struct labtrace_event	*events;
	size_t				bytes;
	const char			*lacks;		/* reason why it is not one, or NULL */
};

/* Variables of a socket, in user space and in BPF. */
struct state {
	u64	socket;
	u8	user[LABTRACE_VARS_BYTES];
	u8	bpf[LABTRACE_VARS_BYTES];
};

/* The replayed trace. */
struct both {
	const struct quell_core	*core;
	struct replay		*bpf;		/* NULL: user space alone */
	u8			params[LABTRACE_PARAMS_BYTES];
	u8			*stats;
	struct state		states[SOCKETS_MAX];
	u32			sockets;
	u64			kinds[LABTRACE_KINDS];
};

static int number;
static int failed;

static const char *trace_lacks(const struct trace *t)
{
	const struct labtrace_head *head = t->head;

	if (t->bytes < sizeof(*head) || head->magic != LABTRACE_MAGIC)
		return "is not a trace";
	if (head->event_bytes != sizeof(*t->events) ||
	    head->params_bytes > sizeof(head->params) ||
	    t->bytes != sizeof(*head) + head->events * sizeof(*t->events))
		return "was written by another version, or is cut off";
	return head->odd ? "has events of several algorithms or parameters" : NULL;
}

static struct trace trace_open(const char *path)
{
	struct trace t = { .lacks = "cannot be read" };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) || status.st_size <= 0)
		return t;
	t.bytes = status.st_size;
	t.head = mmap(NULL, t.bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (t.head == MAP_FAILED)
		return t;
	t.events = (const struct labtrace_event *)(t.head + 1);
	t.lacks = trace_lacks(&t);
	return t;
}

static struct state *state_of(struct both *b, u64 socket)
{
	u32 i;

	for (i = 0; i < b->sockets; i++)
		if (b->states[i].socket == socket)
			return &b->states[i];
	if (b->sockets == SOCKETS_MAX)
		return NULL;
	b->states[b->sockets].socket = socket;
	return &b->states[b->sockets++];
}

static void user_tell(const struct quell_core *core, enum labtrace_kind kind,
		      struct quell_event *ev)
{
	u8 before[LABTRACE_VARS_BYTES];

	memcpy(before, ev->vars, core->vars_bytes);
	ev->before = before;
	switch (kind) {
	case LABTRACE_INIT:
		return core->init(ev);
	case LABTRACE_ACK:
		return core->on_ack(ev);
	case LABTRACE_LOSS:
		core->on_loss(ev);
		return core->undo_note(ev);
	case LABTRACE_RTO:
		core->on_rto(ev);
		return core->undo_note(ev);
	case LABTRACE_IDLE:
		return core->on_idle_restart(ev);
	default:
		return core->on_undo(ev);
	}
}

/* The first difference from the module, or NULL. */
static const char *differs(const struct both *b, const struct labtrace_event *e, const u8 *vars,
			   const struct quell_decision *d, const struct quell_undo *undo)
{
	const struct quell_decision *want = &e->decision;

	if (d->window_q16 != want->window_q16)
		return "window";
	if (d->pacing_bytes_ps != want->pacing_bytes_ps)
		return "pacing rate";
	if (d->target_ns != want->target_ns || d->change_path != want->change_path)
		return "target or path";
	if (memcmp(vars, e->vars, b->core->vars_bytes))
		return "variables";
	if (e->noted && memcmp(undo, &e->undo_after, sizeof(*undo)))
		return "record of reductions";
	return NULL;
}

static const char *user_event(struct both *b, struct state *state, const struct labtrace_event *e)
{
	struct quell_undo undo = e->undo;
	struct quell_event ev = {
		.vars = state->user, .params = b->params, .stats = b->stats,
		.sample = e->sample, .undo = &undo,
	};

	if (e->kind == LABTRACE_INIT)
		memcpy(state->user, e->before, sizeof(state->user));
	user_tell(b->core, e->kind, &ev);
	return differs(b, e, state->user, &ev.decision, &undo);
}

static const char *bpf_event(struct both *b, struct state *state, const struct labtrace_event *e)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct replay *r = b->bpf;

	if (e->kind == LABTRACE_INIT)
		memcpy(state->bpf, e->before, sizeof(state->bpf));
	memcpy(r->vars, state->bpf, b->core->vars_bytes);
	memcpy(r->undo, &e->undo, sizeof(e->undo));
	*r->sample = e->sample;
	*r->event = REPLAY_CORE + e->kind;
	if (bpf_prog_test_run_opts(r->program_fd, &run) || run.retval != 1)
		return "program, which did not run";
	memcpy(state->bpf, r->vars, b->core->vars_bytes);
	return differs(b, e, state->bpf, r->decision, r->undo);
}

/* One event in both; false, and a line that says so, when one is not as the module. */
static bool event_is_same(struct both *b, const struct labtrace_event *e, u64 nth)
{
	struct state *state = state_of(b, e->socket);
	const char *user, *bpf = NULL;

	if (!state || e->kind >= LABTRACE_KINDS) {
		printf("# event %llu: too many sockets, or no event at all\n",
		       (unsigned long long)nth);
		return false;
	}
	b->kinds[e->kind]++;
	user = user_event(b, state, e);
	if (b->bpf)
		bpf = bpf_event(b, state, e);
	if (user)
		printf("# event %llu: the %s in user space is not the module's\n",
		       (unsigned long long)nth, user);
	if (bpf)
		printf("# event %llu: the %s in BPF is not the module's\n",
		       (unsigned long long)nth, bpf);
	return !user && !bpf;
}

static bool replay_trace(struct both *b, const struct trace *t, u64 acks)
{
	u64 i, differences = 0;
	u32 kind;

	for (i = 0; i < t->head->events && differences < DIFFERENCES_MAX; i++)
		differences += !event_is_same(b, &t->events[i], i);
	if (b->bpf && memcmp(b->bpf->stats, b->stats, b->core->counters_bytes)) {
		printf("# the counters in BPF are not those in user space\n");
		differences++;
	}
	printf("# %s: %u sockets", b->core->name, b->sockets);
	for (kind = 0; kind < LABTRACE_KINDS; kind++)
		printf(", %llu %s", (unsigned long long)b->kinds[kind], kind_names[kind]);
	printf("\n");
	if (b->kinds[LABTRACE_ACK] < acks)
		printf("# that is less than %llu ACKs\n", (unsigned long long)acks);
	return !differences && b->kinds[LABTRACE_ACK] >= acks;
}

static void result(bool ok, const char *name, const char *what)
{
	failed |= !ok;
	printf("%sok %d - %s: %s\n", ok ? "" : "not ", ++number, name, what);
	fflush(stdout);
}

/* Open the object; false: the algorithm has one, but it does not load. */
static bool bpf_open(struct both *b, struct replay *r, const char *dir)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/bpf/%s_replay.bpf.o", dir, b->core->name);
	if (access(path, F_OK) || excuse())
		return true;
	r->core = b->core;
	if (!replay_open(r, path))
		return false;
	memcpy(r->params, b->params, b->core->params_bytes);
	memset(r->stats, 0, b->core->counters_bytes);
	b->bpf = r;
	return true;
}

static void test_trace(const struct trace *t, const char *dir, u64 acks)
{
	struct both *b = calloc(1, sizeof(*b));
	struct replay r = {};
	bool good;

	b->core = quell_core_find(t->head->name);
	if (!b->core || b->core->params_bytes != t->head->params_bytes ||
	    b->core->vars_bytes > LABTRACE_VARS_BYTES) {
		free(b);
		result(false, t->head->name, "the algorithm of a trace is known");
		return;
	}
	memcpy(b->params, t->head->params, sizeof(b->params));
	b->stats = calloc(1, b->core->counters_bytes);
	good = bpf_open(b, &r, dir) && replay_trace(b, t, acks);
	result(good, b->core->name,
	       b->bpf ? "module, BPF object and user space decide the same" :
			"module and user space decide the same");
	if (r.object)
		replay_close(&r);
	free(b->stats);
	free(b);
}

int main(int argc, char **argv)
{
	const char *reason = excuse();
	int i;

	if (argc < 4) {
		fprintf(stderr, "usage: trace DIR ACKS FILE...\n");
		return 2;
	}
	libbpf_set_print(print_nothing);
	printf("TAP version 13\n1..%d\n", argc - 3);
	if (reason)
		printf("# no BPF here: %s\n", reason);
	for (i = 3; i < argc; i++) {
		struct trace t = trace_open(argv[i]);

		if (t.lacks) {
			printf("# %s %s\n", argv[i], t.lacks);
			result(false, argv[i], "is a trace");
			continue;
		}
		test_trace(&t, argv[1], strtoull(argv[2], NULL, 10));
		munmap((void *)t.head, t.bytes);
	}
	return failed;
}
