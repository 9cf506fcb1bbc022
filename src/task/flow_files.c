/* Files that go in and come out beside the agent's own: its servers and skills, a step's files, artifacts. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "image/ids.h"
#include "supervise/copy.h"
#include "sys/beneath.h"
#include "sys/tree.h"
#include "task/fetch.h"
#include "task/flow.h"
#include "task/layer.h"
#include "task/orders.h"

#define MCP_FILE AGENT_PLACE "/mcp.json"

static void put_pairs(struct json *j, const char *key, const struct pol_pairs *p)
{
	uint32_t i;

	if (!p->n)
		return;
	json_key(j, key);
	json_open(j);
	for (i = 0; i < p->n; i++)
		json_kstr(j, p->v[i].key, p->v[i].value);
	json_close(j);
}

/* In the form that most agents read: {"mcpServers": {NAME: {...}}}. */
static void put_server(struct json *j, const struct task_mcp *m)
{
	static const char *const types[] = {
		[TASK_MCP_STDIO] = "stdio", [TASK_MCP_SSE] = "sse", [TASK_MCP_HTTP] = "http"};
	uint32_t i;

	json_key(j, m->name.s);
	json_open(j);
	json_kstr(j, "type", types[m->transport.v]);
	if (m->url.s)
		json_kstr(j, "url", m->url.s);
	if (m->command.s)
		json_kstr(j, "command", m->command.s);
	if (m->args.n) {
		json_key(j, "args");
		json_list(j);
		for (i = 0; i < m->args.n; i++)
			json_str(j, m->args.v[i].s);
		json_end(j);
	}
	if (m->cwd.s)
		json_kstr(j, "cwd", m->cwd.s);
	put_pairs(j, "env", &m->env);
	put_pairs(j, "headers", &m->headers);
	json_close(j);
}

int flow_mcp(struct flow *f, struct image_work *to, struct flow_env *env)
{
	const struct task_environment *e = &f->task->environment;
	AUTO_BUF text = {0};
	struct json j;
	uint32_t i;

	if (e->skills_dir.s && flow_env_add(f, env, "CORDON_SKILLS", e->skills_dir.s) < 0)
		return -1;
	if (!e->n_mcp)
		return 0;
	buf_init(&text, 4 << 20);
	json_init(&j, &text);
	json_open(&j);
	json_key(&j, "mcpServers");
	json_open(&j);
	for (i = 0; i < e->n_mcp; i++)
		put_server(&j, &e->mcp[i]);
	json_close(&j);
	json_close(&j);
	if (buf_failed(&text)) {
		(void)error_sys(f->err, buf_failed(&text), "the task's MCP servers");
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	return flow_add_text(f, to, MCP_FILE, text.p) < 0 ? -1 : flow_env_add(f, env, "CORDON_MCP", MCP_FILE);
}

/* Into the agent's own files: it may change them, and they are judged with the rest. */
static int put_into(struct flow *f, int from, int to)
{
	DIR *d = sys_list(from);
	struct dirent *e;
	int r = 0;

	while (d && r == 0 && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		/* of the step before, or of its agent */
		r = image_ids_remove(&f->image.ids, to, e->d_name, f->err);
		if (r < 0)
			f->err->code = EACCES;
		if (r == 0)
			r = copy_name(from, to, e->d_name, f->err);
		if (r == 0)
			r = layer_own_name(to, e->d_name, &f->image.ids, f->err);
	}
	if (d)
		(void)closedir(d);
	return r;
}

/* The work folder in the agent's files, where it may have left anything else in that place. An fd, or -errno. */
static int open_workdir(struct flow *f, int upper)
{
	const char *workdir = f->task->environment.workdir.s ? f->task->environment.workdir.s : f->image.config.workdir;
	const char *path = workdir[1] ? workdir + 1 : ".";
	int to = sys_open_beneath(upper, path, O_RDONLY | O_DIRECTORY, 0);

	if (to == -ENOTDIR || to == -ELOOP) {
		to = layer_clear_way(upper, &f->image.ids, workdir);
		if (to == 0)
			to = sys_open_beneath(upper, path, O_RDONLY | O_DIRECTORY, 0);
	}
	if (to == -ENOENT && layer_add_open(upper, &f->image.ids, workdir, f->err) == 0)
		to = sys_open_beneath(upper, path, O_RDONLY | O_DIRECTORY, 0);
	return to;
}

int flow_step_files(struct flow *f)
{
	AUTO_FD upper = -1;
	AUTO_FD from = -1;
	AUTO_FD to = -1;

	if (!f->step || !f->step->files.workdir)
		return 0;
	upper = flow_changes(f, &f->agent);
	from = sys_open_beneath(f->stage, f->step->files.workdir, O_RDONLY | O_DIRECTORY, 0);
	to = upper < 0 ? upper : open_workdir(f, upper);
	if (upper < 0 || from < 0 || to < 0) {
		(void)error_sys(f->err, from < 0 ? from : to, "the files of the step %s", f->step->name.s);
		(void)flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
		return upper < 0 || from < 0 ? -1 : flow_spoiled(f);
	}
	if (put_into(f, from, to) == 0)
		return 0;
	(void)flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	return flow_spoiled(f);
}

/* A path of the agent's as one below its upper folder. */
static const char *inside(struct flow *f, const struct task_artifact *a)
{
	const char *workdir = f->task->environment.workdir.s ? f->task->environment.workdir.s : f->image.config.workdir;

	if (a->source.s[0] == '/')
		return a->source.s + 1;
	return arena_printf(f->arena, "%s%s%s", workdir + 1, workdir[1] ? "/" : "", a->source.s);
}

/* The folder of that name, which is made where there is none. An fd, or -errno. */
static int make_folder(int parent, const char *name)
{
	int fd;

	if (mkdirat(parent, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Makes the folders of a relative path below dir, but for its last part, and is in them (orders.h; NULL: they are not
 * the results'). The folder's fd, or -errno; -ECANCELED: one of the names is refused, be it the last. */
static int make_parents(int dir, const char *path, struct orders *orders, const char **ret_name)
{
	AUTO_FD at = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[256];
	size_t n;
	int next;

	for (;; path += n + 1) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (at < 0)
			return -errno;
		if (n == 0 || n >= sizeof(name))
			return -EINVAL;
		memcpy(name, path, n);
		name[n] = '\0';
		if (strcmp(name, "..") == 0 || strcmp(name, ".") == 0)
			return -EINVAL;
		if (orders && orders_refuse(orders, at, name))
			return -ECANCELED;
		if (!path[n]) {
			*ret_name = path;
			return fd_take(&at);
		}
		next = make_folder(at, name);
		if (next < 0)
			return next;
		if (orders)
			(void)orders_enter(orders, name);
		(void)close(at);
		at = next;
	}
}

/* Something that is a folder, or lies in one, where there is a file. */
static bool in_the_way(int code)
{
	return code == -ENOTDIR || code == -ELOOP || code == -EEXIST;
}

/* What an agent put where an artifact is to be does not end a run that it would have failed: it is left out. */
static int left_out(struct flow *f, const char *path)
{
	struct text_shown shown;

	(void)task_result_find(f->result, "not-collected", text_show(&shown, sv_of(path)),
			       "links, special files, odd names, too much of it, or what was in the place of something "
			       "else were left out");
	return 0;
}

/* The file or folder of the agent's at path, which is `folder` where it is one, as `as` below `to`. */
static int fetch_one(struct flow *f, int upper, const char *path, int folder, int to, const char *as)
{
	const char *name = NULL;
	AUTO_FD parent = make_parents(to, as, f->room->orders, &name);
	AUTO_FD into = parent >= 0 && folder >= 0 ? make_folder(parent, name) : -1;
	int r = parent < 0 ? parent : folder >= 0 && into < 0 ? into : 0;

	if (r == -ECANCELED)
		return 0;
	if (r < 0)
		return in_the_way(r) ? left_out(f, path) : error_sys(f->err, r, "artifacts");
	if (folder < 0)
		return fetch_file(upper, path, parent, name, f->room, f->err) < 0 ? -1 : 0;
	if (f->room->orders)
		(void)orders_enter(f->room->orders, name);
	return fetch_folder(folder, into, f->room, f->err);
}

/* A file or folder of the agent's below `to`, under a relative path. What it did not make or change is the image's, and
 * is not kept. */
static int keep_one(struct flow *f, int upper, const char *path, int to, const char *as, const struct pol_list *exclude)
{
	uint64_t before = f->room->left_out;
	AUTO_FD folder = sys_open_beneath(upper, path, O_RDONLY | O_DIRECTORY, 0);
	struct orders *orders = f->room->orders;
	unsigned depth = orders ? orders->depth : 0;
	int r;

	if (folder == -ENOENT)
		return 0;
	f->room->exclude = exclude; /* of this one alone */
	r = fetch_one(f, upper, path, folder, to, as);
	f->room->exclude = NULL;
	if (orders)
		orders_leave(orders, depth);
	if (r < 0)
		return -1;
	return f->room->left_out > before ? left_out(f, path) : 0;
}

void flow_room(const struct flow *f, struct fetch_limits *ret)
{
	*ret = (struct fetch_limits)FETCH_LIMITS;
	if (flow_storage(f) < ret->bytes)
		ret->bytes = flow_storage(f);
}

typedef int each_fn(struct flow *f, const struct task_artifact *a, int upper, int to);

static int each_artifact(struct flow *f, int to, each_fn *fn)
{
	const struct task_artifacts *lists[] = {&f->task->artifacts, f->step ? &f->step->artifacts : NULL};
	AUTO_FD upper = flow_changes(f, &f->agent);
	uint32_t i, k;

	if (upper < 0)
		return error_sys(f->err, upper, "%s", f->agent.upper);
	for (k = 0; k < ARRAY_LEN(lists); k++)
		for (i = 0; lists[k] && i < lists[k]->n; i++)
			if (fn(f, &lists[k]->v[i], upper, to) < 0)
				return -1;
	return 0;
}

static int keep_in_results(struct flow *f, const struct task_artifact *a, int upper, int to)
{
	const char *path = inside(f, a);

	return path ? keep_one(f, upper, path, to, a->destination.s ? a->destination.s : path, &a->exclude)
		    : error_set(f->err, ERROR_SYSTEM, "out of memory");
}

int flow_keep_artifacts(struct flow *f)
{
	AUTO_FD to = -1;
	unsigned depth;
	int r;

	if (!f->task->artifacts.n && !(f->step && f->step->artifacts.n))
		return 0;
	if (mkdirat(f->out, "artifacts", 0755) < 0 && errno != EEXIST)
		return error_sys(f->err, errno, "%s/artifacts", f->out_path);
	to = openat(f->out, "artifacts", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (to < 0)
		return error_sys(f->err, errno, "%s/artifacts", f->out_path);
	depth = orders_enter(f->room->orders, "artifacts");
	r = each_artifact(f, to, keep_in_results);
	orders_leave(f->room->orders, depth);
	return r;
}

static int keep_in_layer(struct flow *f, const struct task_artifact *a, int upper, int to)
{
	const char *path = inside(f, a);

	return path ? keep_one(f, upper, path, to, path, &a->exclude)
		    : error_set(f->err, ERROR_SYSTEM, "out of memory");
}

int flow_show_artifacts(struct flow *f, struct image_work *to)
{
	AUTO_FD layer = open(to->upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD upper = flow_changes(f, &f->agent);
	struct fetch_limits room;

	if (layer < 0 || upper < 0) {
		(void)error_sys(f->err, upper < 0 ? upper : errno, "artifacts");
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	flow_room(f, &room);
	/* it is judged by them: all that an agent could store of files that are named once */
	room.bytes = flow_storage(f);
	room.entries *= 10;
	f->room = &room;
	if (keep_one(f, upper, "logs/artifacts", layer, "logs/artifacts", NULL) < 0 ||
	    each_artifact(f, layer, keep_in_layer) < 0 || layer_own(layer, &f->judge.ids, f->err) < 0)
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	return 0;
}
