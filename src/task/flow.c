/* How a command of a task becomes a sandbox. */
#include "task/flow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "image/users.h"
#include "task/build_host.h"
#include "task/layer.h"
#include "task/services.h"

int flow_fail(struct flow *f, enum task_status status)
{
	/* whatever failed because of it, or when it came */
	if (!f->result->signal)
		f->result->signal = attend_signal(&f->attend);
	f->result->status = f->result->signal ? TASK_INFRASTRUCTURE_ERROR : status;
	flow_end(f, f->phase, f->result->phases[f->phase].exit);
	return -1;
}

bool flow_in_the_way(const struct flow *f)
{
	static const int codes[] = {ENOTDIR, EISDIR, ELOOP, EXDEV, EACCES, EPERM, EEXIST, ENOENT, ENOTEMPTY};
	size_t i;

	if (f->result->signal)
		return false;
	if (f->err->kind == ERROR_NOT_FOUND || f->err->kind == ERROR_NOT_EXEC)
		return true;
	for (i = 0; i < ARRAY_LEN(codes); i++)
		if (f->err->code == codes[i])
			return f->err->kind == ERROR_DENIED || f->err->kind == ERROR_SYSTEM;
	return false;
}

int flow_spoiled(struct flow *f)
{
	f->spoiled = f->steps.n > 0 && flow_in_the_way(f);
	return -1;
}

void flow_begin(struct flow *f, enum task_phase p)
{
	const struct task_progress *to = f->req->progress;

	f->since = now_us();
	f->phase = p;
	f->result->phases[p].ran = true;
	/* until it ended well */
	f->result->phases[p].exit = 125;
	if (to && to->phase)
		to->phase(to->arg, task_phase_names[p]);
}

void flow_end(struct flow *f, enum task_phase p, int exit)
{
	/* a phase of several steps is all of them */
	f->result->phases[p].seconds += (double)(now_us() - f->since) / 1000000;
	f->since = now_us();
	f->result->phases[p].exit = exit;
}

int flow_no_memory(struct flow *f)
{
	(void)error_set(f->err, ERROR_SYSTEM, "out of memory");
	return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
}

static int open_below(int dir, const char *folder, const char *name, int flags)
{
	AUTO_FD at = -1;

	if (mkdirat(dir, folder, 0755) < 0 && errno != EEXIST)
		return -errno;
	at = openat(dir, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (at < 0)
		return -errno;
	dir = openat(at, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0644);
	return dir < 0 ? -errno : dir;
}

/* What the task asks for in this phase, as a file beside the results: what was asked can be seen afterwards. */
static const char *write_bounds(struct flow *f, const char *name, const struct bounds *b)
{
	const char *file = arena_printf(f->arena, "%s.yaml", name);
	AUTO_BUF text = {0};
	AUTO_FD fd = -1;
	int r;

	buf_init(&text, 1 << 20);
	if (bounds_write(b, &text, f->err) < 0) {
		(void)flow_fail(f, TASK_REFUSED);
		return NULL;
	}
	fd = file ? open_below(f->out, "policy", file, O_TRUNC) : -ENOMEM;
	r = fd < 0 ? fd : write_all(fd, text.p, text.n);
	if (r < 0) {
		(void)error_sys(f->err, r, "%s/policy/%s", f->out_path, name);
		(void)flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
		return NULL;
	}
	return arena_printf(f->arena, "%s/policy/%s", f->out_path, file);
}

static const char **stack_layers(struct flow *f, const struct flow_command *c, const struct image *image)
{
	const char **v = arena_array(f->arena, FLOW_LAYERS + image->n_layers + 1, sizeof(*v));
	size_t n = 0, i;

	if (!v)
		return NULL;
	for (i = 0; c->layers[i]; i++)
		v[n++] = c->layers[i];
	for (i = 0; image->layers[i]; i++)
		v[n++] = image->layers[i];
	return v;
}

int flow_changes(const struct flow *f, const struct image_work *of)
{
	return layer_open(of->upper, &f->image.ids);
}

uint64_t flow_storage(const struct flow *f)
{
	return build_storage(&f->task->environment);
}

/* Whoever an agent gave its root to, the next sandbox starts in it as the first did. */
static int take_back(struct flow *f, const struct flow_command *c, const struct image *image)
{
	AUTO_FD upper = layer_open(c->work->upper, &image->ids);

	if (upper >= 0)
		return 0;
	(void)error_sys(f->err, upper, "what was changed before");
	return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
}

static int fill_root(struct flow *f, const struct flow_command *c, struct image_root *ret)
{
	const struct image *image = c->image ? c->image : &f->image;
	const struct image_config *config = &image->config;
	struct image_user user;

	ret->layers = stack_layers(f, c, image);
	if (!ret->layers)
		return flow_no_memory(f);
	/* what an agent made of the list of users does not take away those that the image has */
	if (image_user_find(ret->layers, c->user ? c->user : config->user, &user, f->err) < 0 &&
	    image_user_find((const char *const *)image->layers, c->user ? c->user : config->user, &user, f->err) < 0)
		return flow_fail(f, TASK_REFUSED);
	if (services_main(f, ret) < 0 || take_back(f, c, image) < 0)
		return -1;
	ret->upper = c->work->upper;
	ret->work = c->work->work;
	ret->ids = image->ids;
	ret->env = c->env->v;
	ret->cwd = c->cwd                                        ? c->cwd
		   : !c->image && f->task->environment.workdir.s ? f->task->environment.workdir.s
								 : config->workdir;
	image_user_become(&user, ret);
	ret->storage = c->own && c->own->storage.set ? c->own->storage.v : flow_storage(f);
	return 0;
}

/* A result speaks of the agent's sandbox: what held it, and what went through its gateway; of another only where there
 * is nothing else to say. */
static int keep_facts(struct flow *f, const struct task_sandbox *s, const struct task_ended *e)
{
	bool agents = strcmp(s->phase, "agent") == 0;
	struct task_result *r = f->result;

	r->denials += e->denials;
	if (e->runtime[0]) {
		r->phases[f->phase].runtime = arena_str(f->arena, sv_of(e->runtime));
		if (agents || !r->runtime)
			r->runtime = r->phases[f->phase].runtime;
	}
	if (e->isolation[0] && (agents || !r->isolation))
		r->isolation = arena_str(f->arena, sv_of(e->isolation));
	if (e->n_usage && (!r->usage || strcmp(s->name, "agent") == 0))
		r->usage = arena_str(f->arena, sv_n(e->usage, e->n_usage));
	return arena_failed(f->arena) ? flow_no_memory(f) : 0;
}

/* Root of an image may end its sandbox on some runtimes, and fill the kernel that it shares with services: whoever runs
 * in what an agent left ended as if it had been killed. */
static int end_lost(struct flow *f, const char *name, struct task_ended *e)
{
	const char *why = arena_printf(
		f->arena, "its sandbox ended as if it had been killed from within, or was; what is there is judged: %s",
		e->error.text);

	if (!why)
		return flow_no_memory(f);
	(void)task_result_find(f->result, "sandbox-lost", name, why);
	f->lost = true;
	services_lost(f);
	e->error = (struct error){0};
	e->status = 128 + SIGKILL;
	return 0;
}

/* Cordon's own failures are nobody's score; nor is what the operator's files lack a fault of the task, which was
 * checked before. */
static int judge_end(struct flow *f, const char *name, struct task_ended *e)
{
	if (e->lost && f->phase >= PHASE_AGENT)
		return end_lost(f, name, e);
	if (e->error.kind == ERROR_NONE || e->error.kind == ERROR_NOT_FOUND || e->error.kind == ERROR_NOT_EXEC)
		return 0;
	*f->err = e->error;
	(void)error_prefix(f->err, "%s", name);
	return flow_fail(f, e->error.kind == ERROR_DENIED ? TASK_REFUSED : TASK_INFRASTRUCTURE_ERROR);
}

int flow_allowed(struct flow *f, const char *phase)
{
	const struct task_launcher *l = f->req->launcher;

	if (l->check(l->arg, phase, f->err) == 0)
		return 0;
	(void)error_prefix(f->err, "%s", phase);
	return flow_fail(f, f->err->kind == ERROR_DENIED ? TASK_REFUSED : TASK_INFRASTRUCTURE_ERROR);
}

int flow_go_on(struct flow *f)
{
	if (!f->result->signal)
		f->result->signal = attend_signal(&f->attend);
	if (!f->result->signal)
		return 0;
	(void)error_set(f->err, ERROR_SYSTEM, "interrupted");
	return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
}

int flow_pause(struct flow *f, uint64_t ms)
{
	struct pollfd signals = {.fd = f->attend.signals, .events = POLLIN};

	(void)poll(&signals, 1, (int)ms);
	return flow_go_on(f);
}

int flow_output(struct flow *f, const char *name)
{
	return open_below(f->out, "output", name, O_APPEND);
}

int flow_write(struct flow *f, struct task_sandbox *s, const struct bounds *b)
{
	const char *events_name = arena_printf(f->arena, "%s.jsonl", s->name);
	AUTO_FD events = -1;

	s->bounds = write_bounds(f, s->name, b);
	if (!s->bounds)
		return -1;
	/* only so that its folder is there */
	events = events_name ? open_below(f->out, "audit", events_name, O_APPEND) : -ENOMEM;
	if (events >= 0)
		s->events = arena_printf(f->arena, "%s/audit/%s", f->out_path, events_name);
	if (s->events)
		return 0;
	(void)error_sys(f->err, events, "%s: events of %s", f->out_path, s->name);
	return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
}

int flow_sandbox(struct flow *f, struct task_sandbox *s, const struct bounds *b, struct task_ended *ret)
{
	const char *log_name = arena_printf(f->arena, "%s.txt", s->name);
	AUTO_FD nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	AUTO_FD log = log_name ? flow_output(f, log_name) : -ENOMEM;

	if (log < 0) {
		(void)error_sys(f->err, log, "%s: output of %s", f->out_path, s->name);
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	if (s->in < 0)
		s->in = nothing;
	if (flow_go_on(f) < 0 || flow_write(f, s, b) < 0)
		return -1;
	if (attend(&f->attend, s, log, ret, &f->result->signal, f->err) < 0)
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	if (keep_facts(f, s, ret) < 0 || flow_go_on(f) < 0)
		return -1;
	return judge_end(f, s->name, ret);
}

static void take_limit(struct pol_num *to, const struct pol_num *own)
{
	if (own->set)
		*to = *own;
}

int flow_run(struct flow *f, const struct flow_command *c, struct task_ended *ret)
{
	struct task_sandbox s = {.name = c->name,
				 .phase = c->phase,
				 .argv = c->argv,
				 .grants = c->grants,
				 .n_grants = c->n_grants,
				 .in = c->in,
				 .out = -1,
				 .join = services_leader(f),
				 .profiles = c->profiles,
				 .policy = c->policy,
				 .pass = c->pass,
				 .root = {.mounts = c->mounts, .n_mounts = c->n_mounts}};
	struct bounds b = {.network = c->network,
			   .offline = c->offline || services_offline(f),
			   .timeout_ms = c->timeout_ms,
			   .environment = &f->task->environment};
	struct task_environment room;

	/* a verifier that is a machine of its own is not the agent's service */
	if (!c->image) {
		services_limit(f, &b, &room);
	} else if (c->own) {
		room = f->task->environment;
		take_limit(&room.memory, &c->own->memory);
		take_limit(&room.cpus, &c->own->cpus);
		take_limit(&room.storage, &c->own->storage);
		b.environment = &room;
	}
	return fill_root(f, c, &s.root) < 0 ? -1 : flow_sandbox(f, &s, &b, ret);
}
