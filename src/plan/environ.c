#include "plan/environ.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "base/text.h"
#include "plan/environ_gate.h"

struct builder {
	struct arena *arena;
	const struct environ_request *req;
	struct environ_entry *v;
	size_t n, cap;
	struct error *err;
};

/* They make the loader or a shell run or read what the host chose, or point at doors of the host. Cordon sets the
 * proxies itself. */
static const char *const forbidden[] = {
	"LD_*",      "GLIBC_TUNABLES", "GCONV_PATH",  "LOCPATH",        "NLSPATH",     "BASH_ENV",    "ENV",
	"IFS",       "SHELLOPTS",      "BASHOPTS",    "PROMPT_COMMAND", "PS4",         "BASH_FUNC_*", "ZDOTDIR",
	"MALLOC_*",  "TZDIR",          "RES_OPTIONS", "HOSTALIASES",    "LOCALDOMAIN", "HTTP_PROXY",  "HTTPS_PROXY",
	"ALL_PROXY", "NO_PROXY",       "http_proxy",  "https_proxy",    "all_proxy",   "no_proxy",    "CORDON_*",
};

static const char *const secret_like[] = {
	"*_API_KEY",
	"*APIKEY*",
	"*_KEY",
	"*_TOKEN",
	"*TOKEN",
	"*_TOKEN_*",
	"*SECRET*",
	"*PASSWORD*",
	"*PASSWD*",
	"*_PASS",
	"*PASSPHRASE*",
	"*CREDENTIAL*",
	"*PRIVATE_KEY*",
	"*_PAT",
	"*_AUTH",
	"*_DSN",
	"AWS_*",
	"AZURE_*",
	"GOOGLE_*",
	"GCP_*",
	"GH_*",
	"GITHUB_*",
	"GITLAB_*",
	"NPM_*",
	"DOCKER_*",
	"VAULT_*",
	"DATABASE_URL",
	"*_DATABASE_URL",
	"*_CONNECTION_STRING",
	"SSH_*",
	"GPG_*",
	"KUBECONFIG",
	"NETRC",
	"*_COOKIE",
	"*SESSION_ID*",
};

static const char *const why_texts[] = {
	[ENVIRON_SAFE] = "always set",
	[ENVIRON_IMAGE] = "set by the image",
	[ENVIRON_GATEWAY] = "how programs find the gateway",
	[ENVIRON_PASS] = "named in env.pass",
	[ENVIRON_SET] = "set by env.set",
	[ENVIRON_ARGUMENT] = "given with --env",
	[ENVIRON_PLACEHOLDER] = "a placeholder; the credential itself stays outside",
	[ENVIRON_NOT_NAMED] = "nothing names it",
	[ENVIRON_FORBIDDEN] = "can never be passed: it would steer the loader, a shell or the gateway",
	[ENVIRON_SECRET] = "looks like a credential, and nothing names it",
	[ENVIRON_UNSET] = "named in env.pass, but not set on the host",
	[ENVIRON_ODD] = "not a plain name or value",
};

const char *environ_why_text(enum environ_why why)
{
	return why_texts[why];
}

static bool any_matches(const char *const *patterns, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (glob_component(sv_of(patterns[i]), sv_of(name)))
			return true;
	return false;
}

bool environ_is_forbidden(const char *name)
{
	return any_matches(forbidden, ARRAY_LEN(forbidden), name);
}

bool environ_is_secret(const char *name)
{
	char upper[256];
	size_t i;

	for (i = 0; name[i] && i < sizeof(upper) - 1; i++)
		upper[i] = (char)toupper((unsigned char)name[i]);
	upper[i] = '\0';
	return any_matches(secret_like, ARRAY_LEN(secret_like), upper);
}

static bool is_plain_name(struct sv name)
{
	size_t i;

	if (name.n == 0 || name.n > 255 || isdigit((unsigned char)name.p[0]))
		return false;
	for (i = 0; i < name.n; i++)
		if (!isalnum((unsigned char)name.p[i]) && name.p[i] != '_')
			return false;
	return true;
}

/* What a terminal type looks like: nothing that a curses library would take for a path. */
static bool is_plain_term(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-");

	return n > 0 && n <= 64 && s[n] == '\0' && s[0] != '.';
}

static const char *host_value(const struct environ_request *req, const char *name)
{
	size_t i, n = strlen(name);

	for (i = 0; req->host && req->host[i]; i++)
		if (strncmp(req->host[i], name, n) == 0 && req->host[i][n] == '=')
			return req->host[i] + n + 1;
	return NULL;
}

static struct environ_entry *find(struct builder *b, const char *name)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		if (strcmp(b->v[i].name, name) == 0)
			return &b->v[i];
	return NULL;
}

/* What is in is never pushed out again by something that stays out. */
static int put(struct builder *b, struct environ_entry e)
{
	struct environ_entry *have = find(b, e.name), *grown;

	e.secret = b->req->report && e.why != ENVIRON_GATEWAY && environ_is_secret(e.name);
	if (have) {
		if (e.value || !have->value)
			*have = e;
		return 0;
	}
	if (b->n == b->cap) {
		grown = arena_array(b->arena, b->cap ? 2 * b->cap : 64, sizeof(*grown));
		if (!grown)
			return error_sys(b->err, ENOMEM, "environment");
		if (b->n)
			memcpy(grown, b->v, b->n * sizeof(*grown));
		b->v = grown;
		b->cap = b->cap ? 2 * b->cap : 64;
	}
	b->v[b->n++] = e;
	return 0;
}

static int put_in(struct builder *b, const char *name, const char *value, enum environ_why why, struct origin at)
{
	return put(b, (struct environ_entry){.name = name, .value = value, .why = why, .at = at});
}

static const char *home_of(const struct environ_request *req)
{
	if (req->image)
		return req->image->uid == 0 ? "/root" : "/";
	return req->home ? req->home : "/tmp";
}

static int put_safe_set(struct builder *b)
{
	const char *user = b->req->image && b->req->image->uid == 0 ? "root" : "cordon";
	const struct environ_placeholder safe[] = {
		{"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		{"HOME", home_of(b->req)},
		{"USER", user},
		{"LOGNAME", user},
		{"SHELL", "/bin/sh"},
		{"LANG", "C.UTF-8"},
		{"TMPDIR", "/tmp"},
	};
	const char *term = host_value(b->req, "TERM");
	size_t i;

	for (i = 0; i < ARRAY_LEN(safe); i++)
		if (put_in(b, safe[i].name, safe[i].value, ENVIRON_SAFE, (struct origin){0}) < 0)
			return -1;
	if (b->req->pwd && put_in(b, "PWD", b->req->pwd, ENVIRON_SAFE, (struct origin){0}) < 0)
		return -1;
	if (b->req->tty && term && is_plain_term(term))
		return put_in(b, "TERM", term, ENVIRON_SAFE, (struct origin){0});
	return 0;
}

/* Its own words, for its own programs: anything goes but what is no variable at all. */
static int put_image(struct builder *b)
{
	const char *const *v = b->req->image ? b->req->image->env : NULL;
	const char *eq;
	char *name;

	for (; v && *v; v++) {
		eq = strchr(*v, '=');
		if (!eq || eq == *v)
			return error_set(b->err, ERROR_INPUT, "image: a variable without a name");
		name = arena_str(b->arena, sv_n(*v, (size_t)(eq - *v)));
		if (!name)
			return error_sys(b->err, ENOMEM, "environment");
		if (put_in(b, name, eq + 1, ENVIRON_IMAGE, (struct origin){0}) < 0)
			return -1;
	}
	if (b->req->image && b->req->image->ids.count == 1)
		return put_in(b, "APT_CONFIG", ENVIRON_APT_CONFIG, ENVIRON_IMAGE, (struct origin){0});
	return 0;
}

static int put_gateway(struct builder *b)
{
	struct environ_placeholder v[ENVIRON_GATE_MAX];
	int n = environ_gate(b->arena, b->req, v), i;

	if (n < 0)
		return error_sys(b->err, ENOMEM, "environment");
	for (i = 0; i < n; i++)
		if (put_in(b, v[i].name, v[i].value, ENVIRON_GATEWAY, (struct origin){0}) < 0)
			return -1;
	return 0;
}

/* One variable of the host that a word of env.pass or --env asks for. */
static int pass(struct builder *b, const char *name, enum environ_why why, struct origin at)
{
	struct environ_entry e = {
		.name = name, .value = host_value(b->req, name), .why = why, .at = at, .from_host = true};

	if (!e.value)
		e.why = ENVIRON_UNSET;
	else if (environ_is_forbidden(name))
		e.why = ENVIRON_FORBIDDEN;
	else if (!is_plain_name(sv_of(name)) || (strcmp(name, "TERM") == 0 && !is_plain_term(e.value)))
		e.why = ENVIRON_ODD;
	if (e.why != why)
		e.value = NULL;
	return put(b, e);
}

static int put_policy(struct builder *b)
{
	const struct pol_process *p = &b->req->policy->process;
	uint32_t i;

	for (i = 0; i < p->env_pass.n; i++)
		if (pass(b, p->env_pass.v[i].s, ENVIRON_PASS, p->env_pass.v[i].at) < 0)
			return -1;
	for (i = 0; i < p->env_set.n; i++)
		if (put_in(b, p->env_set.v[i].key, p->env_set.v[i].value, ENVIRON_SET, p->env_set.v[i].at) < 0)
			return -1;
	return 0;
}

static bool may_pass(const struct pol_list *bound, const char *name)
{
	uint32_t i;

	for (i = 0; i < bound->n && strcmp(bound->v[i].s, name) != 0; i++)
		;
	return !bound->set || i < bound->n;
}

static int put_argument(struct builder *b, const char *arg)
{
	const char *eq = strchr(arg, '=');
	struct sv name = eq ? sv_n(arg, (size_t)(eq - arg)) : sv_of(arg);
	struct text_shown shown;
	char *copy;

	if (!is_plain_name(name))
		return error_set(b->err, ERROR_USAGE,
				 "--env %s: a name is letters, digits and _, and starts with no digit",
				 text_show(&shown, name));
	copy = arena_str(b->arena, name);
	if (!copy)
		return error_sys(b->err, ENOMEM, "environment");
	if (eq)
		return put_in(b, copy, eq + 1, ENVIRON_ARGUMENT, (struct origin){0});
	if (environ_is_forbidden(copy))
		return error_set(b->err, ERROR_USAGE, "--env %s: %s; give --env %s=VALUE if the sandbox needs one",
				 copy, environ_why_text(ENVIRON_FORBIDDEN), copy);
	if (!may_pass(&b->req->policy->process.env_bound, copy))
		return error_set(
			b->err, ERROR_DENIED,
			"--env %s: the ceiling's process.env.pass does not list it; leave it out, or ask the operator",
			copy);
	return pass(b, copy, ENVIRON_ARGUMENT, (struct origin){0});
}

static int put_rest_of_host(struct builder *b)
{
	char *const *host = b->req->host;
	struct environ_entry e;
	const char *eq;
	size_t i;

	for (i = 0; host && host[i]; i++) {
		eq = strchr(host[i], '=');
		e = (struct environ_entry){.from_host = true, .why = ENVIRON_NOT_NAMED};
		e.name = arena_str(b->arena, sv_n(host[i], eq ? (size_t)(eq - host[i]) : strlen(host[i])));
		if (!e.name)
			return error_sys(b->err, ENOMEM, "environment");
		if (environ_is_forbidden(e.name))
			e.why = ENVIRON_FORBIDDEN;
		else if (environ_is_secret(e.name))
			e.why = ENVIRON_SECRET;
		if (!find(b, e.name) && put(b, e) < 0)
			return -1;
	}
	return 0;
}

static int by_place_and_name(const void *x, const void *y)
{
	const struct environ_entry *a = x, *b = y;

	if (!a->value != !b->value)
		return a->value ? -1 : 1;
	return strcmp(a->name, b->name);
}

int environ_build(struct arena *arena, const struct environ_request *req, struct environ_set *ret, struct error *err)
{
	struct builder b = {.arena = arena, .req = req, .err = err};
	size_t i;

	if (put_safe_set(&b) < 0 || put_image(&b) < 0 || put_gateway(&b) < 0 || put_policy(&b) < 0)
		return -1;
	for (i = 0; i < req->n_arguments; i++)
		if (put_argument(&b, req->arguments[i]) < 0)
			return -1;
	for (i = 0; i < req->n_placeholders; i++)
		if (put_in(&b, req->placeholders[i].name, req->placeholders[i].value, ENVIRON_PLACEHOLDER,
			   (struct origin){0}) < 0)
			return -1;
	if (req->report && put_rest_of_host(&b) < 0)
		return -1;
	qsort(b.v, b.n, sizeof(*b.v), by_place_and_name);
	*ret = (struct environ_set){b.v, b.n, 0};
	while (ret->n_in < b.n && b.v[ret->n_in].value)
		ret->n_in++;
	return 0;
}

char **environ_vector(struct arena *arena, const struct environ_set *set)
{
	char **v = arena_array(arena, set->n_in + 1, sizeof(*v));
	size_t i;

	for (i = 0; v && i < set->n_in; i++) {
		v[i] = arena_printf(arena, "%s=%s", set->entries[i].name, set->entries[i].value);
		if (!v[i])
			return NULL;
	}
	return v;
}
