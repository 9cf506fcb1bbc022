#include "cli/verb_env.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "model/gate.h"
#include "plan/environ.h"
#include "supervise/gate.h"
#include "vault/credential.h"

#define AUTO_POLICY __attribute__((cleanup(cli_policy_done))) struct cli_policy

const struct option verb_env_options[] = {
	CLI_OPTION_POLICY,
	CLI_OPTION_PROFILE,
	CLI_OPTION_WORKDIR("Take this as the work folder; else the current one."),
	{"env", 'e', "NAME[=VALUE]", NULL, "As for cordon run: set a variable inside, or pass the host's.",
	 OPTION_MANY},
	CLI_OPTION_JSON,
	{0},
};

/* The variables that stand for credentials, and the names of these. The placeholders themselves are made anew for each
 * run. */
struct stand_ins {
	struct environ_placeholder v[2 * GATE_MAX_PLACEHOLDERS];
	const char *credentials[2 * GATE_MAX_PLACEHOLDERS];
	size_t n;
};

struct answer {
	const struct cli_policy *policy;
	const struct environ_set *set;
	const struct stand_ins *stand_ins;
};

/* Values are shown where they come from policy or from Cordon itself; the host's own stay unsaid. */
static bool may_show(const struct environ_entry *e)
{
	return e->value && !e->from_host &&
	       (e->why == ENVIRON_SAFE || e->why == ENVIRON_SET || e->why == ENVIRON_GATEWAY);
}

static const char *from_of(const struct cli_policy *p, const struct environ_entry *e)
{
	return e->at.file ? policy_where(p->policy, e->at) : NULL;
}

/* The credential that the variable is a placeholder for; NULL: none. */
static const char *credential_of(const struct answer *a, const struct environ_entry *e)
{
	size_t i;

	for (i = 0; e->why == ENVIRON_PLACEHOLDER && i < a->stand_ins->n; i++)
		if (strcmp(a->stand_ins->v[i].name, e->name) == 0)
			return a->stand_ins->credentials[i];
	return NULL;
}

static void print_entry(const struct answer *a, const struct environ_entry *e, struct buf *out)
{
	const char *from = from_of(a->policy, e), *credential = credential_of(a, e);
	size_t start = out->n;

	(void)buf_str(out, "  ");
	text_escape(out, sv_of(e->name), 80);
	if (may_show(e)) {
		(void)buf_char(out, '=');
		text_escape(out, sv_of(e->value), 200);
	}
	while (out->n - start < 34 && buf_char(out, ' ') == 0)
		;
	if (credential) {
		(void)buf_str(out, " placeholder for credential ");
		text_escape(out, sv_of(credential), 80);
	} else {
		(void)buf_printf(out, " %s", environ_why_text(e->why));
	}
	if (from)
		(void)buf_printf(out, " (%s)", from);
	if (e->value && e->secret && e->why != ENVIRON_PLACEHOLDER)
		(void)buf_str(out, "; looks like a credential: the sandbox will see it");
	(void)buf_char(out, '\n');
}

static void print_text(const struct answer *a, struct buf *out)
{
	const struct environ_set *set = a->set;
	size_t i;

	(void)buf_str(out, "Goes in:\n");
	for (i = 0; i < set->n_in; i++)
		print_entry(a, &set->entries[i], out);
	if (set->n_in < set->n)
		(void)buf_str(out, "Stays out:\n");
	for (; i < set->n; i++)
		print_entry(a, &set->entries[i], out);
}

static void json_entry(struct json *j, const struct answer *a, const struct environ_entry *e)
{
	json_open(j);
	json_kstr(j, "name", e->name);
	if (may_show(e))
		json_kstr(j, "value", e->value);
	json_kstr(j, "why", environ_why_text(e->why));
	json_kstr(j, "from", from_of(a->policy, e));
	if (credential_of(a, e))
		json_kstr(j, "placeholder_for", credential_of(a, e));
	json_kbool(j, "credential", e->secret);
	json_close(j);
}

static void print_json(const struct answer *a, struct buf *out)
{
	const struct environ_set *set = a->set;
	struct json j;
	size_t i;

	json_init(&j, out);
	json_open(&j);
	json_key(&j, "in");
	json_list(&j);
	for (i = 0; i < set->n_in; i++)
		json_entry(&j, a, &set->entries[i]);
	json_end(&j);
	json_key(&j, "out");
	json_list(&j);
	for (; i < set->n; i++)
		json_entry(&j, a, &set->entries[i]);
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

/* As the vault will have it, where a gateway runs at all. */
static int find_stand_ins(const struct cli_policy *p, struct stand_ins *s, struct error *err)
{
	const struct pol_str *names[GATE_MAX_PLACEHOLDERS];
	size_t n = credentials_wanted(p->policy, names, ARRAY_LEN(names)), i;
	struct credentials *all = NULL;
	const struct credential *c;
	const char *variable;
	unsigned part;

	if (!gate_needed(p->policy))
		return 0;
	if (cli_credentials(p, &all, err) < 0)
		return -1;
	for (i = 0; i < n && i < ARRAY_LEN(names); i++) {
		c = credentials_find(all, sv_of(names[i]->s));
		for (part = 0; c && (variable = credential_variable(c, part)) && s->n < ARRAY_LEN(s->v); part++) {
			s->credentials[s->n] = names[i]->s;
			s->v[s->n++] = (struct environ_placeholder){arena_str(p->policy->arena, sv_of(variable)), ""};
		}
	}
	credentials_free(all);
	return arena_failed(p->policy->arena) ? error_sys(err, ENOMEM, "environment") : 0;
}

int verb_env(struct call *call, struct error *err)
{
	struct stand_ins stand_ins = {0};
	struct environ_request req = {.host = environ, .tty = isatty(STDIN_FILENO), .report = true};
	struct environ_set set = {0};
	AUTO_POLICY p = {0};
	const struct answer answer = {&p, &set, &stand_ins};
	AUTO_BUF out = {0};

	if (cli_policy_load(call, NULL, 0, &p, err) < 0)
		return -1;
	req.policy = p.policy;
	req.home = p.folders.home;
	req.pwd = p.policy->fs.workdir.v == WORKDIR_NONE ? p.folders.home : p.workdir;
	req.arguments = collect_arguments(call, p.policy->arena, &req.n_arguments);
	if (!req.arguments)
		return error_sys(err, ENOMEM, "environment");
	if (find_stand_ins(&p, &stand_ins, err) < 0)
		return -1;
	req.placeholders = stand_ins.v;
	req.n_placeholders = stand_ins.n;
	if (environ_build(p.policy->arena, &req, &set, err) < 0)
		return -1;
	buf_init(&out, 64 << 20);
	if (call_has(call, "json"))
		print_json(&answer, &out);
	else
		print_text(&answer, &out);
	return cli_print(call, &out, err);
}
