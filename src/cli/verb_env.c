#include "cli/verb_env.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "plan/environ.h"

#define AUTO_POLICY __attribute__((cleanup(cli_policy_done))) struct cli_policy

const struct option verb_env_options[] = {
	CLI_OPTION_POLICY,
	CLI_OPTION_PROFILE,
	CLI_OPTION_WORKDIR("Take this as the work folder; else the current one."),
	{"env", 'e', "NAME[=VALUE]", NULL, "As for cordon run: set a variable inside, or pass the host's.", OPTION_MANY},
	CLI_OPTION_JSON,
	{0},
};

/* Values are shown where they come from policy or from Cordon itself; the host's own stay unsaid. */
static bool may_show(const struct environ_entry *e)
{
	return e->value && !e->from_host && (e->why == ENVIRON_SAFE || e->why == ENVIRON_SET || e->why == ENVIRON_GATEWAY);
}

static const char *from_of(const struct cli_policy *p, const struct environ_entry *e)
{
	return e->at.file ? policy_where(p->policy, e->at) : NULL;
}

static void print_entry(const struct cli_policy *p, const struct environ_entry *e, struct buf *out)
{
	const char *from = from_of(p, e);
	size_t start = out->n;

	(void)buf_str(out, "  ");
	text_escape(out, sv_of(e->name), 80);
	if (may_show(e)) {
		(void)buf_char(out, '=');
		text_escape(out, sv_of(e->value), 200);
	}
	while (out->n - start < 34 && buf_char(out, ' ') == 0)
		;
	(void)buf_printf(out, " %s", environ_why_text(e->why));
	if (from)
		(void)buf_printf(out, " (%s)", from);
	if (e->value && e->secret && e->why != ENVIRON_PLACEHOLDER)
		(void)buf_str(out, "; looks like a credential: the sandbox will see it");
	(void)buf_char(out, '\n');
}

static void print_text(const struct cli_policy *p, const struct environ_set *set, struct buf *out)
{
	size_t i;

	(void)buf_str(out, "Goes in:\n");
	for (i = 0; i < set->n_in; i++)
		print_entry(p, &set->entries[i], out);
	if (set->n_in < set->n)
		(void)buf_str(out, "Stays out:\n");
	for (; i < set->n; i++)
		print_entry(p, &set->entries[i], out);
}

static void json_entry(struct json *j, const struct cli_policy *p, const struct environ_entry *e)
{
	json_open(j);
	json_kstr(j, "name", e->name);
	if (may_show(e))
		json_kstr(j, "value", e->value);
	json_kstr(j, "why", environ_why_text(e->why));
	json_kstr(j, "from", from_of(p, e));
	json_kbool(j, "credential", e->secret);
	json_close(j);
}

static void print_json(const struct cli_policy *p, const struct environ_set *set, struct buf *out)
{
	struct json j;
	size_t i;

	json_init(&j, out);
	json_open(&j);
	json_key(&j, "in");
	json_list(&j);
	for (i = 0; i < set->n_in; i++)
		json_entry(&j, p, &set->entries[i]);
	json_end(&j);
	json_key(&j, "out");
	json_list(&j);
	for (; i < set->n; i++)
		json_entry(&j, p, &set->entries[i]);
	json_end(&j);
	json_close(&j);
	(void)buf_char(out, '\n');
}

static const char **collect_arguments(const struct call *call, struct arena *a, size_t *ret_n)
{
	const char **v = arena_array(a, call->n_values + 1, sizeof(*v));
	const struct option_value *value;
	size_t at = 0, n = 0;

	while (v && (value = call_next(call, "env", &at)))
		v[n++] = value->value;
	*ret_n = n;
	return v;
}

int verb_env(struct call *call, struct error *err)
{
	struct environ_request req = {.host = environ, .tty = isatty(STDIN_FILENO), .report = true};
	struct environ_set set = {0};
	AUTO_POLICY p = {0};
	AUTO_BUF out = {0};

	if (cli_policy_load(call, NULL, 0, &p, err) < 0)
		return -1;
	req.policy = p.policy;
	req.home = p.folders.home;
	req.pwd = p.policy->fs.workdir.v == WORKDIR_NONE ? p.folders.home : p.workdir;
	req.arguments = collect_arguments(call, p.policy->arena, &req.n_arguments);
	if (!req.arguments)
		return error_sys(err, ENOMEM, "environment");
	if (environ_build(p.policy->arena, &req, &set, err) < 0)
		return -1;
	buf_init(&out, 64 << 20);
	if (call_has(call, "json"))
		print_json(&p, &set, &out);
	else
		print_text(&p, &set, &out);
	return cli_print(call, &out, err);
}
