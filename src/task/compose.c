#include "task/compose.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "model/compose_shape.h"
#include "task/compose_plan.h"
#include "task/compose_read.h"
#include "task/compose_vars.h"

static void read_services(struct compose_reader *r, const struct ynode *n, void *to, const void *arg);

static const struct compose_row root_rows[] = {
	{"version", compose_read_pass, 0, NULL, NULL},
	{"name", compose_read_pass, 0, NULL, "not passed on: a project's name is the runner's"},
	{"services", read_services, 0, NULL, NULL},
	{"networks", compose_read_top_networks, 0, NULL, NULL},
	{"volumes", compose_read_top_volumes, 0, NULL, NULL},
	{"configs", NULL, 0, NULL, "names a file or a value of the host; COPY it in the Dockerfile"},
	{"include", NULL, 0, NULL, "takes in another file; write it out here"},
	{"models", NULL, 0, NULL, "starts models on the host"},
	{"secrets", NULL, 0, NULL, "names a file or a value of the host; a task has none there"},
	{0},
};

static void add_service(struct compose_reader *r, const struct ynode *key)
{
	struct compose *c = r->compose;
	const char *name = arena_str(r->arena, key->text);

	if (!name || !compose_is_name(name) || sv_starts(key->text, "cordon-")) {
		compose_refuse(
			r, key,
			"not a name for a service; use letters, digits, . _ and -, and not cordon- at its beginning");
		return;
	}
	if (c->n_services == COMPOSE_SERVICES_MAX) {
		compose_refuse(r, key, "more than %d services", COMPOSE_SERVICES_MAX);
		return;
	}
	c->services[c->n_services] = (struct compose_service){.name = name, .line = key->line};
	compose_fill(&compose_service_shape, &c->services[c->n_services++]);
}

static void default_network(struct compose_reader *r, const struct ynode *n, struct compose_service *s)
{
	struct compose_network_use *use;

	if (s->network_mode != COMPOSE_NET_PROJECT || s->networks.n)
		return;
	use = compose_add(r, n, &s->networks, sizeof(*use));
	if (use)
		use->network = "default";
	if (!compose_has_text(&r->compose->networks, "default"))
		compose_add_text(r, n, &r->compose->networks, "default");
}

static void read_service(struct compose_reader *r, const struct ynode *key)
{
	char *name = arena_str(r->arena, key->text);
	int at = name ? compose_find(r->compose, name) : -1;
	struct compose_service *s = at < 0 ? NULL : &r->compose->services[at];

	if (!s)
		return; /* refused by name */
	compose_keys(r, key->value, s, compose_service_rows);
	if (s->network_mode != COMPOSE_NET_PROJECT && s->networks.n)
		compose_refuse(r, key, "has network_mode and networks; keep one of them");
	default_network(r, key, s);
}

static void read_services(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct ynode *k;

	(void)to;
	(void)arg;
	if (!compose_want(r, n, YNODE_MAP))
		return;
	for (k = n->first; k; k = k->next)
		if (!sv_starts(k->text, "x-"))
			add_service(r, k);
	for (k = n->first; k; k = k->next) {
		if (sv_starts(k->text, "x-"))
			continue;
		compose_enter(r, k->text);
		read_service(r, k);
		compose_leave(r);
	}
}

/* Harbor's own files, which lie under the task's: `main` is built of the task's Dockerfile unless there is a ready
 * image, and waits. */
static void add_harbor_main(struct compose_reader *r, const struct ynode *root)
{
	static const char *const wait[] = {"sh", "-c", "sleep infinity"};
	struct ynode key = {.kind = YNODE_SCALAR, .text = sv_of("main"), .line = root->line, .column = root->column};
	struct compose_service *s;
	size_t i;

	if (compose_find(r->compose, "main") < 0) {
		add_service(r, &key);
		if (compose_find(r->compose, "main") < 0)
			return;
		default_network(r, root, &r->compose->services[compose_find(r->compose, "main")]);
	}
	r->compose->main = (uint64_t)compose_find(r->compose, "main");
	s = &r->compose->services[r->compose->main];
	if (!s->build.set && !s->image[0] && r->in->runner.prebuilt && r->in->runner.prebuilt[0])
		s->image = r->in->runner.prebuilt;
	else if (!s->build.set && !s->image[0])
		s->build =
			(struct compose_build){.set = true, .context = ".", .dockerfile = "Dockerfile", .target = ""};
	if (s->command.set || s->entrypoint.set)
		return;
	for (i = 0; i < ARRAY_LEN(wait); i++)
		compose_add_text(r, root, &s->command, wait[i]);
	s->command.set = true;
}

static int service_with_alias(const struct compose *c, const char *name)
{
	uint32_t i, k;

	for (i = 0; name && i < c->n_services; i++)
		for (k = 0; k < c->services[i].networks.n; k++)
			if (compose_has_text(&c->services[i].networks.v[k].aliases, name))
				return (int)i;
	return -1;
}

static void find_client(struct compose_reader *r, const struct ynode *root)
{
	const struct compose *c = r->compose;
	int at = compose_find(c, "client");

	if (at < 0)
		at = service_with_alias(
			c, compose_variable(r->in, r->arena, sv_of("T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME")));
	if (at < 0 && c->n_services == 1)
		at = 0;
	if (at < 0)
		compose_refuse(r, root, "there is no service \"client\" for the agent");
	else
		r->compose->main = (uint64_t)at;
}

/* Names that hold on all networks of a service become names on each. */
static void fold_aliases(struct compose_reader *r, const struct ynode *root, uint32_t at)
{
	struct compose_service *s = &r->compose->services[at];
	uint32_t i, k;

	for (i = 0; i < s->networks.n; i++) {
		struct compose_strings *to = &s->networks.v[i].aliases;

		for (k = 0; k < r->aliases[at].n; k++)
			if (!compose_has_text(to, r->aliases[at].v[k]))
				compose_add_text(r, root, to, r->aliases[at].v[k]);
		to->set = to->n > 0;
	}
}

/* What is on disk first, then what is in memory; each in its order. */
static void sort_mounts(struct compose_reader *r, const struct ynode *root, struct compose_service *s)
{
	struct compose_mounts sorted = {0};
	struct compose_mount *to;
	uint32_t pass, i;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < s->mounts.n; i++) {
			if ((s->mounts.v[i].kind == COMPOSE_MOUNT_TMPFS) != (pass == 1))
				continue;
			to = compose_add(r, root, &sorted, sizeof(*to));
			if (to)
				*to = s->mounts.v[i];
		}
	s->mounts = sorted;
}

static void make_canonical(struct compose_reader *r, const struct ynode *root)
{
	uint32_t i;

	for (i = 0; i < r->compose->n_services; i++) {
		fold_aliases(r, root, i);
		sort_mounts(r, root, &r->compose->services[i]);
	}
	compose_fill(&compose_shape, r->compose);
}

/* Keys of a service that do not go together. */
static void check_services(struct compose_reader *r)
{
	const struct compose *c = r->compose;
	uint32_t i;

	for (i = 0; i < c->n_services; i++) {
		const struct compose_service *s = &c->services[i];
		struct ynode at = {.line = (uint32_t)s->line, .column = 1};

		compose_enter(r, sv_of("services"));
		compose_enter(r, sv_of(s->name));
		if (!s->image[0] && !s->build.set)
			compose_refuse(r, &at, "has neither image nor build");
		if (s->build.set && strcmp(s->build.dockerfile, ".") == 0)
			compose_refuse(r, &at, "its Dockerfile is a folder");
		if (s->memory && s->memory_reserved > s->memory)
			compose_refuse(r, &at, "reserves more memory than its limit");
		compose_leave(r);
		compose_leave(r);
	}
}

/* What no single key shows. Only of a model in which each key is fine. */
static void check_whole(struct compose_reader *r, const struct ynode *root)
{
	struct error err = {0};
	const char *wrong = compose_wrong(r->compose);

	if (wrong)
		compose_refuse(r, root, "%s", wrong);
	else if (compose_order(r->compose, NULL, &err) < 0)
		compose_refuse(r, root, "%s", err.text);
}

static const struct ynode *top(const struct ynode *root, const char *name)
{
	const struct ynode *key = compose_key(root, name);

	return key ? key->value : NULL;
}

int compose_refused(const struct task_problems *problems, struct error *err)
{
	uint32_t i;

	for (i = 0; i < problems->n; i++) {
		const struct task_problem *p = &problems->v[i];

		if (p->warning)
			continue;
		if (p->line == 0)
			return error_set(err, ERROR_INPUT, "%s: %s%s%s", p->file, p->key, p->key[0] ? ": " : "",
					 p->what);
		return error_set(err, ERROR_INPUT, "%s:%" PRIu32 ": %s%s%s", p->file, p->line, p->key,
				 p->key[0] ? ": " : "", p->what);
	}
	return error_set(err, ERROR_INPUT, "the Compose file has too many problems");
}

/* libyaml's own refusal, which names file and place in its text. */
static int not_yaml(const struct compose_input *in, struct task_problems *problems, struct error *err)
{
	struct task_problem p = {.key = "", .what = err->text};
	struct text_shown file;
	unsigned line = 0, column = 0;
	size_t n;
	int used = 0;

	p.file = text_show(&file, sv_of(in->file));
	n = strlen(p.file);
	if (strncmp(err->text, p.file, n) == 0 && sscanf(err->text + n, ":%u:%u: %n", &line, &column, &used) == 2 &&
	    used) {
		p.line = line;
		p.column = column;
		p.what = err->text + n + used;
	}
	task_problem_add(problems, &p);
	return -1;
}

int compose_parse(const struct compose_input *in, struct arena *a, struct task_problems *problems,
		  const struct compose **ret, struct error *err)
{
	struct compose_reader r = {.in = in, .arena = a, .problems = problems};
	const struct ynode *root = NULL;
	uint32_t before = problems->refused;

	if (yaml_tree(a, in->file, in->text, &root, err) < 0)
		return err->kind == ERROR_INPUT ? not_yaml(in, problems, err) : -1;
	r.compose = arena_alloc(a, sizeof(*r.compose));
	if (r.compose)
		r.compose->services = arena_array(a, COMPOSE_SERVICES_MAX, sizeof(*r.compose->services));
	if (!r.compose || !r.compose->services)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	r.networks = top(root, "networks");
	r.volumes = top(root, "volumes");
	compose_keys(&r, root, r.compose, root_rows);
	compose_fill(&compose_shape, r.compose);
	if (in->harbor)
		add_harbor_main(&r, root);
	if (problems->refused == before)
		compose_internal(&r, root);
	make_canonical(&r, root);
	if (!in->harbor)
		find_client(&r, root);
	check_services(&r);
	if (problems->refused == before)
		check_whole(&r, root);
	if (problems->refused != before)
		return compose_refused(problems, err);
	*ret = r.compose;
	return 0;
}

const char **compose_arguments(struct arena *a, const struct compose_pairs *args)
{
	const char **v = arena_array(a, (size_t)args->n + 1, sizeof(*v));
	uint32_t i;

	for (i = 0; v && i < args->n; i++)
		v[i] = arena_printf(a, "%s=%s", args->v[i].name, args->v[i].value);
	return v;
}
