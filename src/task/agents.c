#include "task/agents.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "conf/reader.h"

/* Beside the struct, which has no place for it. */
struct draft {
	struct agent *a;
	struct pol_num protocol, stdin_is, timeout;
	struct pol_str policy, model, trajectory;
};

static const char *const protocols[] = {"command", "acp", NULL};
static const char *const inputs[] = {"none", "instruction", NULL};

static const char *value_absolute(struct arena *a, struct sv s, const char **ret)
{
	if (!sv_starts(s, "/") && !sv_starts(s, "~/"))
		return "is relative, and to what would be a guess; write it from / or from ~/";
	return value_path(a, s, ret);
}

static bool is_below(struct sv path, const char *folder)
{
	return sv_starts(path, folder) && (path.n == strlen(folder) || path.p[strlen(folder)] == '/');
}

/* A path inside has one spelling: what is shown there must not be somewhere else. */
static bool is_canonical(struct sv s)
{
	return sv_starts(s, "/") && s.n > 1 && s.p[s.n - 1] != '/' && !memmem(s.p, s.n, "//", 2) &&
	       !memmem(s.p, s.n, "/./", 3) && !memmem(s.p, s.n, "/../", 4) && !sv_ends(s, "/.") && !sv_ends(s, "/..");
}

static const char *value_inside(struct arena *a, struct sv s, const char **ret)
{
	static const char *const taken[] = {"/proc",     "/sys",   "/dev",      "/run/cordon",
					    AGENT_PLACE, "/tests", "/solution", "/logs/verifier"};
	size_t i;

	if (!is_canonical(s))
		return "is not a path inside; write it from /, without . and .. and doubled slashes, and not / itself";
	for (i = 0; i < ARRAY_LEN(taken); i++)
		if (is_below(s, taken[i]))
			return "is a place that the sandbox or the task has for itself; choose another";
	return value_text(a, s, ret);
}

static const struct reader_text text_word = {value_env_value, true};
static const struct reader_text text_env_name = {value_env_name, false};
static const struct reader_text text_name = {value_name, true};
static const struct reader_text text_absolute = {value_absolute, false};
static const struct reader_text text_inside = {value_inside, false};
static const struct reader_text text_any = {value_text, false};
static const struct reader_number number_duration = {value_duration, true};

struct tool_draft {
	struct pol_str source, target;
};

static const struct reader_key tool_keys[] = {
	{"source", reader_str, offsetof(struct tool_draft, source), &text_absolute},
	{"target", reader_str, offsetof(struct tool_draft, target), &text_inside},
	{NULL, NULL, 0, NULL},
};

static int read_tool(struct reader *r, const struct ynode *n, struct agent *a, struct image_mount *v)
{
	struct tool_draft d = {0};
	size_t i;

	if (reader_map(r, n, &d, tool_keys) < 0)
		return -1;
	if (!d.source.s || !d.target.s)
		return reader_fail(r, n, "needs both: {source: /opt/NAME, target: /opt/agent}");
	for (i = 0; i < a->n_tools; i++)
		if (is_below(sv_of(v[i].target), d.target.s) || is_below(sv_of(d.target.s), v[i].target))
			return reader_fail(r, n, "has a target in that of another; give each a place of its own");
	v[a->n_tools++] = (struct image_mount){.source = d.source.s, .target = d.target.s};
	return 0;
}

static int read_tools(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct agent *a = ((struct draft *)to)->a;
	struct image_mount *v = arena_array(r->arena, AGENT_TOOLS_MAX, sizeof(*v));
	const struct ynode *item;
	uint32_t i = 0;

	(void)arg;
	if (!v)
		return reader_no_memory(r);
	a->tools = v;
	if (n->kind == YNODE_MAP)
		return read_tool(r, n, a, v);
	if (reader_want(r, n, YNODE_LIST) < 0)
		return -1;
	if (n->n > AGENT_TOOLS_MAX)
		return reader_fail(r, n, "has more than %d entries; put several into one folder", AGENT_TOOLS_MAX);
	for (item = n->first; item; item = item->next) {
		reader_enter_item(r, i++);
		if (read_tool(r, item, a, v) < 0)
			return -1;
		reader_leave(r);
	}
	return 0;
}

static int read_command(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct agent *a = ((struct draft *)to)->a;

	(void)arg;
	if (n->kind == YNODE_SCALAR)
		return reader_fail(
			r, n,
			"is a single value; write a list, since no shell reads it: [/opt/agent/bin/NAME, ARGUMENT]");
	if (reader_list(r, n, &a->command, &text_word) < 0)
		return -1;
	if (a->command.n > AGENT_WORDS_MAX)
		return reader_fail(r, n, "has more than %d words; put them into a script", AGENT_WORDS_MAX);
	return a->command.v[0].s[0] ? 0 : reader_fail(r, n, "begins with an empty word; write the program first");
}

static int read_set(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct pol_pairs *pairs = &((struct draft *)to)->a->env_set;
	const struct ynode *k;

	(void)arg;
	if (reader_want(r, n, YNODE_MAP) < 0)
		return -1;
	pairs->v = arena_array(r->arena, (size_t)n->n + 1, sizeof(*pairs->v));
	if (!pairs->v)
		return reader_no_memory(r);
	pairs->set = true;
	for (k = n->first; k; k = k->next) {
		struct pol_pair *pair = &pairs->v[pairs->n++];

		if (reader_string(r, k, value_env_name, &pair->key) < 0)
			return -1;
		reader_enter(r, k->text);
		if (reader_string(r, k->value, value_env_value, &pair->value) < 0)
			return -1;
		pair->at = reader_origin(r, k);
		reader_leave(r);
	}
	return 0;
}

static int read_pass(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	return reader_list(r, n, &((struct draft *)to)->a->env_pass, arg);
}

static const struct reader_key env_keys[] = {
	{"set", read_set, 0, NULL},
	{"pass", read_pass, 0, &text_env_name},
	{NULL, NULL, 0, NULL},
};

/* One name, or a list of them. */
static int read_profile(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct pol_list *list = &((struct draft *)to)->a->profiles;

	if (n->kind != YNODE_SCALAR)
		return reader_list(r, n, list, arg);
	list->v = arena_array(r->arena, 1, sizeof(*list->v));
	if (!list->v)
		return reader_no_memory(r);
	list->n = 1;
	list->set = true;
	return reader_str(r, n, &list->v[0], arg);
}

#define AT(member) offsetof(struct draft, member)

static const struct reader_key root_keys[] = {
	{"version", reader_version, 0, NULL},
	{"tools", read_tools, 0, NULL},
	{"command", read_command, 0, NULL},
	{"stdin", reader_enum, AT(stdin_is), inputs},
	{"env", reader_map, 0, env_keys},
	{"profile", read_profile, 0, &text_name},
	{"policy", reader_str, AT(policy), &text_absolute},
	{"protocol", reader_enum, AT(protocol), protocols},
	{"model", reader_str, AT(model), &text_any},
	{"trajectory", reader_str, AT(trajectory), &text_inside},
	{"timeout", reader_num, AT(timeout), &number_duration},
	{NULL, NULL, 0, NULL},
};

static bool mentions(const struct agent *a, const char *placeholder)
{
	uint32_t i;

	for (i = 0; i < a->command.n; i++)
		if (strstr(a->command.v[i].s, placeholder))
			return true;
	for (i = 0; i < a->env_set.n; i++)
		if (strstr(a->env_set.v[i].value, placeholder))
			return true;
	return false;
}

static int settle(const struct draft *d, const char *name, struct error *err)
{
	struct agent *a = d->a;
	struct text_shown shown;
	const char *file = text_show(&shown, sv_of(name));

	a->kind = d->protocol.v ? AGENT_ACP : AGENT_COMMAND;
	a->stdin_instruction = d->stdin_is.v;
	a->policy = d->policy.s;
	a->model = d->model.s;
	a->trajectory = d->trajectory.s;
	a->timeout_ms = d->timeout.v;
	if (!a->command.n)
		return error_set(err, ERROR_INPUT,
				 "%s: command: is missing; write what starts the agent inside: command: "
				 "[/opt/agent/bin/NAME, ...]",
				 file);
	if (a->kind == AGENT_ACP && (d->stdin_is.set || mentions(a, "{instruction}")))
		return error_set(err, ERROR_INPUT,
				 "%s:%u: protocol: with acp the instruction comes by the protocol; remove stdin and "
				 "{instruction}",
				 file, d->protocol.at.line);
	if (a->kind == AGENT_COMMAND && !a->stdin_instruction && !mentions(a, "{instruction}"))
		return error_set(err, ERROR_INPUT,
				 "%s: command: never gets the instruction; write {instruction} for the path of its "
				 "file, or stdin: instruction",
				 file);
	if (d->timeout.set && !a->timeout_ms)
		return error_set(err, ERROR_INPUT,
				 "%s:%u: timeout: 0 leaves no time; write a duration such as 30m, or remove it", file,
				 d->timeout.at.line);
	return 0;
}

int agent_parse(const char *file, const char *name, struct sv bytes, struct agent **ret, struct error *err)
{
	struct arena *arena = arena_new();
	struct agent *a = arena ? arena_alloc(arena, sizeof(*a)) : NULL;
	struct reader r = {.arena = arena, .name = file, .err = err};
	struct draft d = {.a = a};

	if (!a || !(a->name = arena_str(arena, sv_of(name)))) {
		arena_free(arena);
		return reader_no_memory(&r);
	}
	a->arena = arena;
	if (reader_parse(&r, bytes, &d, root_keys) < 0 || settle(&d, file, err) < 0) {
		arena_free(arena);
		return -1;
	}
	*ret = a;
	return 0;
}

void agent_free(struct agent *a)
{
	if (a)
		arena_free(a->arena);
}
