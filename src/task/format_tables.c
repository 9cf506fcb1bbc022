#include "base/text.h"
#include "task/bounds.h"
#include "task/format_read.h"
#include "task/format_value.h"

/* The sections that Harbor's task.toml and BenchFlow's task.md have in common. */

enum { ITEMS_MAX = 256 };

static const char no_gpu[] = "asks for hardware that no sandbox of Cordon's has; remove it, or run the task elsewhere";
static const char no_judge[] = "is a verifier that Cordon does not have; it runs test scripts (type \"test-script\")";
static const char no_host[] = "reaches into the host that runs the task, which nothing in a task may; remove it";
static const char no_memory_score[] = "scores an agent's memory, which Cordon does not; remove it";
static const char no_reward[] =
	"is a reward that is computed outside the verifier, which Cordon does not; let the verifier write it";

#define TEXT(type) &format_type_##type
#define ROW(name, fn, type, member, arg)                                                                               \
	{                                                                                                              \
		name, fn, offsetof(struct type, member), arg                                                           \
	}

/* ---- networks ---- */

/* Names and public addresses only; what else there is is the operator's to open. */
static int read_hosts(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct pol_list *hosts = to;
	const struct ynode *item;
	uint32_t i = 0;

	(void)arg;
	if (format_list(r, n, to, TEXT(host)) < 0)
		return -1;
	for (item = n->first; item; item = item->next, i++) {
		if (bounds_host_is_fine(hosts->v[i].s))
			continue;
		reader_enter_item(r, i);
		(void)reader_fail_value(r, item,
					"is no public host; only the operator's policy can open such addresses");
		reader_leave(r);
	}
	return 0;
}

#define NETWORK_ROWS(type)                                                                                             \
	ROW("network_mode", reader_enum, type, network.mode, task_network_names),                                      \
		ROW("allowed_hosts", read_hosts, type, network.hosts, NULL)

/* ---- healthcheck, MCP servers, commands ---- */

static const struct reader_number retries = {.parse = task_value_retries};

static const struct reader_key healthcheck_rows[] = {
	ROW("command", format_str, task_healthcheck, command, TEXT(command)),
	ROW("interval_sec", format_num, task_healthcheck, interval, TEXT(seconds0)),
	ROW("timeout_sec", format_num, task_healthcheck, timeout, TEXT(seconds)),
	ROW("start_period_sec", format_num, task_healthcheck, start_period, TEXT(seconds0)),
	ROW("start_interval_sec", format_num, task_healthcheck, start_interval, TEXT(seconds0)),
	ROW("retries", format_num, task_healthcheck, retries, &retries),
	{.name = NULL},
};

/* A key that must be there. */
static int need(struct reader *r, const struct ynode *n, const void *there, const char *key)
{
	return there ? 0 : reader_fail(r, n, "%s is missing; write it", key);
}

int format_healthcheck(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct task_healthcheck *h = to;

	(void)arg;
	return reader_map(r, n, to, healthcheck_rows) < 0 ? -1 : need(r, n, h->command.s, "command");
}

static int read_transport(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct ynode http = *n;

	(void)arg;
	if (n->kind == YNODE_SCALAR && sv_is(n->text, "http"))
		http.text = sv_of("streamable-http");
	return reader_enum(r, &http, to, task_transport_names);
}

/* Whoever connects to a server sees what the server shows: nobody stands between them. */
static int read_choice(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	reader_warn(r, n, "chooses nothing here: agents are told of all that the server has");
	return format_list(r, n, to, arg);
}

static const struct reader_key mcp_rows[] = {
	ROW("name", format_str, task_mcp, name, TEXT(line)),
	ROW("transport", read_transport, task_mcp, transport, NULL),
	ROW("url", format_str, task_mcp, url, TEXT(line)),
	ROW("command", format_str, task_mcp, command, TEXT(command)),
	ROW("args", format_list, task_mcp, args, TEXT(text)),
	ROW("cwd", format_str, task_mcp, cwd, TEXT(inside)),
	ROW("env", format_pairs, task_mcp, env, NULL),
	ROW("headers", format_keep, task_mcp, headers, NULL),
	ROW("tools", read_choice, task_mcp, tools, TEXT(line)),
	ROW("include_tags", read_choice, task_mcp, include_tags, TEXT(line)),
	ROW("exclude_tags", read_choice, task_mcp, exclude_tags, TEXT(line)),
	{.name = NULL},
};

/* Names of headers are not those of variables. */
static int read_headers(struct reader *r, const struct ynode *mcp, struct pol_pairs *to)
{
	const struct ynode *n = reader_find(mcp, "headers"), *k;

	if (!n)
		return 0;
	to->v = reader_room(r, n, YNODE_MAP, sizeof(*to->v));
	if (!to->v)
		return -1;
	for (k = n->first; k; k = k->next, to->n++)
		if (reader_string(r, k, value_name, &to->v[to->n].key) < 0 ||
		    reader_string(r, k->value, task_value_text, &to->v[to->n].value) < 0)
			return -1;
	to->set = true;
	return 0;
}

static int read_mcp(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct task_mcp *m = to;

	(void)arg;
	if (reader_map(r, n, to, mcp_rows) < 0 || read_headers(r, n, &m->headers) < 0)
		return -1;
	if (!m->transport.set)
		m->transport = (struct pol_num){.v = TASK_MCP_SSE, .set = true};
	if (need(r, n, m->name.s, "name") < 0)
		return -1;
	if (m->transport.v == TASK_MCP_STDIO)
		return need(r, n, m->command.s, "command");
	return need(r, n, m->url.s, "url");
}

static const struct format_items mcp_items = {sizeof(struct task_mcp), ITEMS_MAX, read_mcp, NULL};

static const struct reader_key command_rows[] = {
	ROW("command", format_str, task_command, command, TEXT(command)),
	ROW("timeout_sec", format_num, task_command, timeout, TEXT(seconds)),
	ROW("cwd", format_str, task_command, cwd, TEXT(inside)),
	ROW("env", format_pairs, task_command, env, NULL),
	ROW("user", format_user, task_command, user, NULL),
	ROW("service", format_str, task_command, service, TEXT(service)),
	{"host_lock", format_never, 0, no_host},
	{"capture_dir", format_never, 0, no_host},
	{"capture_dir_b64_env", format_never, 0, no_host},
	{"capture_dir_b64_env_file_var", format_never, 0, no_host},
	{.name = NULL},
};

static int read_command(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct task_command *c = to;

	(void)arg;
	return reader_map(r, n, to, command_rows) < 0 ? -1 : need(r, n, c->command.s, "command");
}

static const struct format_items command_items = {sizeof(struct task_command), ITEMS_MAX, read_command, NULL};

/* ---- the environment ---- */

struct environment {
	struct task_environment e;
	struct pol_num allow, memory, storage; /* as older files say them */
};

static int read_gpus(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct pol_num gpus = {0};
	static const struct reader_number type = {.parse = value_count};

	(void)to;
	(void)arg;
	if (format_num(r, n, &gpus, &type) < 0)
		return -1;
	return gpus.v ? reader_fail(r, n, "%s", no_gpu) : 0;
}

static int read_os(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)to;
	(void)arg;
	if (reader_want(r, n, YNODE_SCALAR) < 0)
		return -1;
	if (n->text.n == 5 && strncasecmp(n->text.p, "linux", 5) == 0)
		return 0;
	return reader_fail_value(r, n, "is no system that Cordon runs; it runs linux");
}

static const struct reader_number cpus = {.parse = task_value_cpus}, megabytes = {.parse = task_value_megabytes};

/* "4G" is text; a TOML number has no unit. */
static int read_size(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const struct reader_number type = {.parse = task_value_size, .unit = true};

	(void)arg;
	return reader_num(r, n, to, &type);
}

static const struct reader_key environment_rows[] = {
	NETWORK_ROWS(task_environment),
	ROW("allow_internet", format_num, environment, allow, TEXT(bool)),
	ROW("build_timeout_sec", format_num, task_environment, build_timeout, TEXT(seconds)),
	ROW("docker_image", format_str, task_environment, docker_image, TEXT(image)),
	ROW("image", format_str, task_environment, docker_image, TEXT(image)),
	{"os", read_os, 0, NULL},
	ROW("cpus", format_num, task_environment, cpus, &cpus),
	ROW("memory_mb", format_num, task_environment, memory, &megabytes),
	ROW("storage_mb", format_num, task_environment, storage, &megabytes),
	ROW("memory", read_size, environment, memory, NULL),
	ROW("storage", read_size, environment, storage, NULL),
	{"gpus", read_gpus, 0, NULL},
	{"gpu_types", format_only_empty, 0, no_gpu},
	{"tpu", format_only_empty, 0, no_gpu},
	ROW("mcp_servers", format_items, task_environment, mcp, &mcp_items),
	ROW("env", format_pairs, task_environment, env, NULL),
	ROW("skills_dir", format_str, task_environment, skills_dir, TEXT(inside)),
	ROW("healthcheck", format_healthcheck, task_environment, healthcheck, NULL),
	ROW("workdir", format_str, task_environment, workdir, TEXT(inside)),
	ROW("setup_commands", format_items, task_environment, setup, &command_items),
	{"base_image", format_note, 0, "means nothing: the image is what the Dockerfile builds, or docker_image"},
	{"bugswarm_image_tag", format_only_empty, 0,
	 "names an image of a collection that Cordon does not know; write docker_image"},
	{.name = NULL},
};

static int check_size(struct reader *r, struct pol_num *now, const struct pol_num *older, const char *key)
{
	if (now->set && older->set && now->v != older->v)
		return format_fail_at(r, older->at, key, "is not what the newer key says; keep one of them");
	if (!now->set)
		*now = *older;
	return 0;
}

int format_environment(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct task_environment *e = to;
	struct environment env = {0};

	(void)arg;
	_Static_assert(offsetof(struct environment, e) == 0, "rows of both structs count from the same place");
	if (reader_map(r, n, &env, environment_rows) < 0 || format_check_names(r, n, "docker_image", "image") < 0)
		return -1;
	if (check_size(r, &env.e.memory, &env.memory, "memory") < 0 ||
	    check_size(r, &env.e.storage, &env.storage, "storage") < 0)
		return -1;
	if (format_check_network(r, &env.e.network, &env.allow) < 0)
		return -1;
	/* BenchFlow has a short name for it, at the top */
	if (!env.e.docker_image.s)
		env.e.docker_image = e->docker_image;
	*e = env.e;
	return 0;
}

/* ---- agent and verifier ---- */

static const struct reader_key agent_rows[] = {
	NETWORK_ROWS(task_agent),
	ROW("timeout_sec", format_num, task_agent, timeout, TEXT(seconds)),
	ROW("user", format_user, task_agent, user, NULL),
	ROW("prompt_prefix", format_str, task_agent, prompt_prefix, TEXT(some)),
	{.name = NULL},
};

int format_agent(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const struct pol_num no_word;
	struct task_agent *a = to;

	(void)arg;
	return reader_map(r, n, to, agent_rows) < 0 ? -1 : format_check_network(r, &a->network, &no_word);
}

static int read_type(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)to;
	(void)arg;
	if (reader_want(r, n, YNODE_SCALAR) < 0)
		return -1;
	return sv_is(n->text, "test-script") ? 0 : reader_fail_value(r, n, no_judge);
}

static int read_range(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct task_range *range = to;
	double low, high;

	(void)arg;
	if (reader_want(r, n, YNODE_LIST) < 0)
		return -1;
	if (n->n != 2 || n->first->kind != YNODE_SCALAR || n->first->next->kind != YNODE_SCALAR ||
	    !task_value_double(n->first->text, &low) || !task_value_double(n->first->next->text, &high) || low > 0 ||
	    high < 1 || low < -1e300 || high > 1e300)
		return reader_fail(r, n,
				   "is no range of rewards; write [LOW, HIGH] with LOW at most 0 and HIGH at least 1");
	*range = (struct task_range){.low = low, .high = high, .set = true, .at = reader_origin(r, n)};
	return 0;
}

static int read_mode(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const char *const names[] = {"shared", "separate", NULL};

	(void)arg;
	return reader_enum(r, n, to, names);
}

static int read_own_environment(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct task_environment **env = to;

	(void)arg;
	*env = arena_alloc(r->arena, sizeof(**env));
	return *env ? format_environment(r, n, *env, NULL) : reader_no_memory(r);
}

static int read_hardening(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const struct reader_key rows[] = {{"cleanup_conftests", format_num, 0, &format_type_bool},
						 {.name = NULL}};
	struct pol_num clean = {0}, *keep = to;

	(void)arg;
	if (reader_map(r, n, &clean, rows) < 0)
		return -1;
	if (clean.set)
		*keep = (struct pol_num){.v = !clean.v, .set = true, .at = clean.at};
	return 0;
}

static int read_memory_score(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const struct reader_key rows[] = {{"expected_skills", format_never, 0, no_memory_score}, {.name = NULL}};

	(void)arg;
	return reader_map(r, n, to, rows);
}

static int read_plugins(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	reader_warn(r, n, "loads nothing: pytest has the plugins that the image and the test script give it");
	return format_list(r, n, to, arg);
}

static const struct reader_key verifier_rows[] = {
	NETWORK_ROWS(task_verifier),
	{"type", read_type, 0, NULL},
	ROW("timeout_sec", format_num, task_verifier, timeout, TEXT(seconds)),
	ROW("user", format_user, task_verifier, user, NULL),
	ROW("env", format_pairs, task_verifier, env, NULL),
	ROW("reward_range", read_range, task_verifier, range, NULL),
	ROW("service", format_str, task_verifier, service, TEXT(service)),
	ROW("environment_mode", read_mode, task_verifier, separate, NULL),
	ROW("sandbox_mode", read_mode, task_verifier, separate, NULL),
	ROW("environment", read_own_environment, task_verifier, environment, NULL),
	ROW("sandbox", read_own_environment, task_verifier, environment, NULL),
	ROW("collect", format_items, task_verifier, collect, &command_items),
	ROW("hardening", read_hardening, task_verifier, keep_conftests, NULL),
	ROW("pytest_plugins", read_plugins, task_verifier, pytest_plugins, TEXT(line)),
	{"judge", format_keep, 0, NULL}, /* of another type, which is refused by its name */
	{"memory", read_memory_score, 0, NULL},
	{.name = NULL},
};

int format_verifier(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const struct pol_num no_word;
	struct task_verifier *v = to;

	(void)arg;
	if (reader_map(r, n, to, verifier_rows) < 0 || format_check_names(r, n, "environment", "sandbox") < 0 ||
	    format_check_names(r, n, "environment_mode", "sandbox_mode") < 0)
		return -1;
	if (v->separate.set && !v->separate.v && v->environment)
		return format_fail_at(
			r, v->separate.at, "environment_mode",
			"is \"shared\", and the verifier has an environment of its own; keep one of them");
	if (!v->separate.set && v->environment)
		v->separate = (struct pol_num){.v = 1, .set = true};
	return format_check_network(r, &v->network, &no_word);
}

/* ---- artifacts and steps ---- */

static const struct reader_key artifact_rows[] = {
	ROW("source", format_str, task_artifact, source, TEXT(source)),
	ROW("destination", format_str, task_artifact, destination, TEXT(below)),
	ROW("exclude", format_list, task_artifact, exclude, TEXT(pattern)),
	ROW("service", format_str, task_artifact, service, TEXT(service)),
	{.name = NULL},
};

static int read_artifact(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct task_artifact *a = to;

	(void)arg;
	if (n->kind == YNODE_SCALAR)
		return format_str(r, n, &a->source, TEXT(source));
	return reader_map(r, n, to, artifact_rows) < 0 ? -1 : need(r, n, a->source.s, "source");
}

const struct format_items format_artifact_items = {sizeof(struct task_artifact), ITEMS_MAX, read_artifact, NULL};

/* A number, or numbers by key. */
static int read_min_reward(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct ynode key = {.kind = YNODE_SCALAR, .text = sv_of("reward"), .value = NULL},
		     map = {.kind = YNODE_MAP, .n = 1, .first = &key};
	struct pol_pairs *pairs = to;
	struct ynode value = *n;
	const struct ynode *k;
	double number;

	(void)arg;
	if (n->kind == YNODE_SCALAR) {
		key.value = &value;
		n = &map;
	}
	pairs->v = reader_room(r, n, YNODE_MAP, sizeof(*pairs->v));
	if (!pairs->v)
		return -1;
	pairs->set = true;
	for (k = n->first; k; k = k->next, pairs->n++) {
		struct pol_pair *p = &pairs->v[pairs->n];

		if (k->value->kind != YNODE_SCALAR || !task_value_double(k->value->text, &number))
			return reader_fail(r, k->value, "is not a number");
		if (reader_string(r, k, task_value_line, &p->key) < 0 ||
		    reader_string(r, k->value, task_value_line, &p->value) < 0)
			return -1;
		p->at = reader_origin(r, k->value);
	}
	return 0;
}

static const struct reader_key step_rows[] = {
	ROW("name", format_str, task_step, name, TEXT(step)),
	ROW("agent", format_agent, task_step, agent, NULL),
	ROW("verifier", format_verifier, task_step, verifier, NULL),
	ROW("healthcheck", format_healthcheck, task_step, healthcheck, NULL),
	ROW("artifacts", format_items, task_step, artifacts, &format_artifact_items),
	ROW("min_reward", read_min_reward, task_step, min_reward, NULL),
	{.name = NULL},
};

static int read_step(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct task_step *s = to;

	(void)arg;
	return reader_map(r, n, to, step_rows) < 0 ? -1 : need(r, n, s->name.s, "name");
}

static const struct format_items step_items = {sizeof(struct task_step), TASK_STEPS_MAX, read_step, NULL};

/* ---- the root ---- */

/* Names become names of folders with some people. */
static const char *value_task_name(struct arena *a, struct sv s, const char **ret)
{
	if (memmem(s.p, s.n, "..", 2) || (s.n && s.p[0] == '/'))
		return "is not a task's name; write one such as org/name";
	return task_value_line(a, s, ret);
}

static int read_task(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const struct reader_text name = {.check = value_task_name};
	static const struct reader_key rows[] = {
		ROW("name", format_str, task, name, &name),
		{"version", format_keep, 0, NULL},
		{"description", format_keep, 0, NULL},
		{"authors", format_keep, 0, NULL},
		{"keywords", format_keep, 0, NULL},
		{.name = NULL},
	};

	(void)arg;
	return reader_map(r, n, to, rows);
}

static const struct reader_key solution_rows[] = {
	ROW("env", format_pairs, task_solution, env, NULL),
	ROW("timeout_sec", format_num, task_solution, timeout, TEXT(seconds)),
	{.name = NULL},
};

#define COMMON_ROWS                                                                                                    \
	ROW("schema_version", reader_str, task, schema, TEXT(schema)),                                                 \
		ROW("version", reader_str, task, schema, TEXT(schema)), {"task", read_task, 0, NULL},                  \
		{"metadata", format_keep, 0, NULL}, {"source", format_keep, 0, NULL},                                  \
		ROW("agent", format_agent, task, agent, NULL), ROW("verifier", format_verifier, task, verifier, NULL), \
		ROW("environment", format_environment, task, environment, NULL),                                       \
		ROW("sandbox", format_environment, task, environment, NULL),                                           \
		ROW("solution", reader_map, task, solution, solution_rows),                                            \
		ROW("oracle", reader_map, task, solution, solution_rows), {"reward", format_only_empty, 0, no_reward}, \
		ROW("multi_step_reward_strategy", reader_enum, task, steps_reward, task_steps_reward_names),           \
		ROW("steps", format_items, task, steps, &step_items),                                                  \
		ROW("artifacts", format_items, task, artifacts, &format_artifact_items)

const struct reader_key format_harbor_rows[] = {COMMON_ROWS, {.name = NULL}};

/* ---- what only documents have ---- */

static const char no_scenes[] = "asks for several agents, scenes or a simulated user, which Cordon does not play; it "
				"runs one agent on one prompt";
static const char no_profile[] = "names keys that are kept elsewhere; write them out";
static const char no_runtime[] =
	"is for BenchFlow's own runner, and changes what is run; remove it, or run the task there";

/* What says nothing that changes a run. */
static const struct reader_key benchflow_rows[] = {
	{"document_version", format_keep, 0, NULL},
	{"authoring", format_keep, 0, NULL},
	{"compat", format_keep, 0, NULL},
	{"compatibility", format_keep, 0, NULL},
	{"environment", format_never, 0, no_runtime},
	{"verifier", format_never, 0, no_runtime},
	{"oracle", format_never, 0, no_runtime},
	{"prompt", format_never, 0, no_scenes},
	{"nudges", format_never, 0, no_scenes},
	{.name = NULL},
};

/* A folder by its one name, or the section. */
static int read_oracle(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	if (n->kind == YNODE_SCALAR && (sv_is(n->text, "oracle") || sv_is(n->text, "oracle/")))
		return 0;
	return reader_map(r, n, to, arg);
}

static int read_document_verifier(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	if (n->kind == YNODE_SCALAR && (sv_is(n->text, "verifier") || sv_is(n->text, "verifier/")))
		return 0;
	return format_verifier(r, n, to, arg);
}

static const struct reader_text document_name = {.check = value_task_name};

const struct reader_key format_document_rows[] = {
	ROW("name", format_str, task, name, &document_name),
	ROW("image", format_str, task, environment.docker_image, TEXT(image)),
	ROW("verifier", read_document_verifier, task, verifier, NULL),
	ROW("oracle", read_oracle, task, solution, solution_rows),
	COMMON_ROWS,
	{"benchflow", reader_map, 0, benchflow_rows},
	{"agents", format_only_empty, 0, no_scenes},
	{"scenes", format_only_empty, 0, no_scenes},
	{"user", format_only_empty, 0, no_scenes},
	{"profile", format_only_empty, 0, no_profile},
	{"profiles", format_only_empty, 0, no_profile},
	{.name = NULL},
};
