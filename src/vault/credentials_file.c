#include "vault/credentials_file.h"

#include "base/cleanup.h"
#include "conf/reader.h"
#include "conf/value_net.h"

struct inject_draft {
	struct pol_str header, format, query;
	struct pol_num bearer;
	bool basic, sigv4;
	struct pol_str user, region, service;
};

/* Members of a message, or of the hop, that no credential may overwrite; names that start with "proxy-" neither. */
static const char *const framing[] = {"host", "content-length", "transfer-encoding", "connection", "keep-alive",
				      "te",   "trailer",        "upgrade",           "expect",     "http2-settings",
				      NULL};

static bool is_token_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static const char *value_header(struct arena *a, struct sv s, const char **ret)
{
	char *name = arena_str(a, s);
	size_t i;

	if (!name)
		return "cannot be kept: out of memory";
	if (s.n == 0 || s.n > 128)
		return "is not a header's name; write one such as x-api-key";
	for (i = 0; i < s.n; i++) {
		name[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20 : name[i]);
		if (!is_token_char(name[i]))
			return "is not a header's name; write one such as x-api-key";
	}
	if (name_index(framing, sv_of(name)) >= 0 || sv_starts(sv_of(name), "proxy-"))
		return "frames or routes a message and cannot carry a credential; use another header";
	*ret = name;
	return NULL;
}

static bool is_printable(struct sv s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || (unsigned char)s.p[i] >= 0x7f)
			return false;
	return true;
}

static const char *value_format(struct arena *a, struct sv s, const char **ret)
{
	const char *hole = memmem(s.p, s.n, "{}", 2);
	size_t behind = hole ? s.n - (size_t)(hole - s.p) - 2 : 0;

	if (!hole || memmem(hole + 2, behind, "{}", 2))
		return "must hold {} exactly once; the value is put there";
	if (s.n > 256 || !is_printable(s) || s.p[0] == ' ' || s.p[s.n - 1] == ' ')
		return "is not a header's value; use at most 256 printable ASCII characters, no blank at the ends";
	return value_keep(a, s, ret);
}

static const char *value_user(struct arena *a, struct sv s, const char **ret)
{
	if (s.n > 256 || !is_printable(s) || memchr(s.p, ':', s.n))
		return "is not a user's name; use at most 256 printable ASCII characters without a colon";
	return value_keep(a, s, ret);
}

/* A part of a credential scope: it must not bring its own slashes or blanks. */
static const char *value_scope(struct arena *a, struct sv s, const char **ret)
{
	size_t i;
	bool ok = s.n > 0 && s.n <= 64;

	for (i = 0; ok && i < s.n; i++)
		ok = (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '-';
	return ok ? value_keep(a, s, ret)
		  : "is not an AWS name; use lower-case letters, digits and '-', such as eu-west-1";
}

static const char *value_parameter(struct arena *a, struct sv s, const char **ret)
{
	size_t i;
	bool ok = s.n > 0 && s.n <= 64;

	for (i = 0; ok && i < s.n; i++)
		ok = (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
		     (s.p[i] >= '0' && s.p[i] <= '9') || strchr("-._~", s.p[i]);
	return ok ? value_keep(a, s, ret) : "is not a parameter's name; use letters, digits, '-', '.', '_' and '~'";
}

static const struct reader_text text_header = {value_header, false};
static const struct reader_text text_format = {value_format, false};
static const struct reader_text text_user = {value_user, false};
static const struct reader_text text_scope = {value_scope, false};
static const struct reader_text text_parameter = {value_parameter, false};
static const struct reader_text text_env_name = {value_env_name, false};
static const struct reader_text text_path = {value_path, false};
static const struct reader_text text_host = {value_host, true};
static const struct reader_text text_word = {value_text, false};
static const struct reader_number number_bool = {value_bool, false};

#define DRAFT(member) offsetof(struct inject_draft, member)

static const struct reader_key basic_keys[] = {
	{"user", reader_str, DRAFT(user), &text_user},
	{NULL, NULL, 0, NULL},
};

static const struct reader_key sigv4_keys[] = {
	{"region", reader_str, DRAFT(region), &text_scope},
	{"service", reader_str, DRAFT(service), &text_scope},
	{NULL, NULL, 0, NULL},
};

static int read_basic(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct inject_draft *d = to;

	(void)arg;
	d->basic = true;
	if (reader_map(r, n, d, basic_keys) < 0)
		return -1;
	return d->user.s ? 0 : reader_fail(r, n, "has no user; write {basic: {user: NAME}}");
}

static int read_sigv4(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct inject_draft *d = to;

	(void)arg;
	d->sigv4 = true;
	if (reader_map(r, n, d, sigv4_keys) < 0)
		return -1;
	return d->region.s && d->service.s
		       ? 0
		       : reader_fail(r, n, "needs both; write {sigv4: {region: NAME, service: NAME}}");
}

static const struct reader_key inject_keys[] = {
	{"header", reader_str, DRAFT(header), &text_header},
	{"format", reader_str, DRAFT(format), &text_format},
	{"bearer", reader_num, DRAFT(bearer), &number_bool},
	{"basic", read_basic, 0, NULL},
	{"query", reader_str, DRAFT(query), &text_parameter},
	{"sigv4", read_sigv4, 0, NULL},
	{NULL, NULL, 0, NULL},
};

static int set_header(struct reader *r, struct inject_form *f, const char *name, const char *format)
{
	const char *hole = strstr(format, "{}");

	f->kind = INJECT_HEADER;
	f->name = name;
	f->before = arena_str(r->arena, sv_n(format, (size_t)(hole - format)));
	f->after = hole + 2;
	return f->before ? 0 : reader_no_memory(r);
}

static int read_inject(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct inject_form *f = to;
	struct inject_draft d = {0};
	unsigned forms;

	(void)arg;
	if (reader_map(r, n, &d, inject_keys) < 0)
		return -1;
	forms = (d.header.s != NULL) + d.bearer.set + d.basic + (d.query.s != NULL) + d.sigv4;
	if (forms != 1)
		return reader_fail(r, n, "names %s; write one of header, bearer, basic, query or sigv4",
				   forms ? "several forms" : "no form");
	if (d.format.s && !d.header.s)
		return reader_fail(r, n, "format goes with header; remove it");
	if (d.bearer.set && !d.bearer.v)
		return reader_fail(r, n, "bearer: false says nothing; write bearer: true or another form");
	*f = (struct inject_form){.name = "", .before = "", .after = "", .user = "", .region = "", .service = ""};
	if (d.header.s)
		return set_header(r, f, d.header.s, d.format.s ? d.format.s : "{}");
	if (d.bearer.set)
		return set_header(r, f, "authorization", "Bearer {}");
	f->kind = d.basic ? INJECT_BASIC : d.query.s ? INJECT_QUERY : INJECT_SIGV4;
	f->name = d.query.s ? d.query.s : "authorization";
	f->user = d.user.s ? d.user.s : "";
	f->region = d.region.s ? d.region.s : "";
	f->service = d.service.s ? d.service.s : "";
	return 0;
}

static int read_strings(struct reader *r, const struct ynode *n, const struct reader_text *type, const char ***ret,
			uint32_t *ret_n)
{
	struct pol_list list = {0};
	uint32_t i;

	if (reader_list(r, n, &list, type) < 0)
		return -1;
	*ret = arena_array(r->arena, (size_t)list.n + 1, sizeof(**ret));
	if (!*ret)
		return reader_no_memory(r);
	for (i = 0; i < list.n; i++)
		(*ret)[i] = list.v[i].s;
	*ret_n = list.n;
	return 0;
}

static int one_word(struct reader *r, const struct ynode *n, const struct reader_text *type,
		    struct credential_source *from)
{
	from->n = 1;
	from->words = arena_array(r->arena, 2, sizeof(*from->words));
	return from->words ? reader_string(r, n, type->check, &from->words[0]) : reader_no_memory(r);
}

static int read_from_env(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct credential_source *from = to;

	(void)arg;
	from->kind = SOURCE_ENV;
	if (n->kind != YNODE_LIST)
		return one_word(r, n, &text_env_name, from);
	return read_strings(r, n, &text_env_name, &from->words, &from->n);
}

static int read_from_file(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct credential_source *from = to;

	(void)arg;
	from->kind = SOURCE_FILE;
	if (one_word(r, n, &text_path, from) < 0)
		return -1;
	if (from->words[0][0] != '/' && !sv_starts(sv_of(from->words[0]), "~/"))
		return reader_fail_value(r, n, "is relative, and to what would be a guess; write it from / or from ~/");
	return 0;
}

static int read_from_command(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct credential_source *from = to;

	(void)arg;
	from->kind = SOURCE_COMMAND;
	if (n->kind == YNODE_SCALAR)
		return reader_fail(r, n,
				   "is a single value; write a list, since no shell reads it: [pass, show, NAME]");
	if (read_strings(r, n, &text_word, &from->words, &from->n) < 0)
		return -1;
	return from->n ? 0 : reader_fail(r, n, "is empty; write the program and its arguments");
}

static const struct reader_key from_keys[] = {
	{"env", read_from_env, 0, NULL},
	{"file", read_from_file, 0, NULL},
	{"command", read_from_command, 0, NULL},
	{NULL, NULL, 0, NULL},
};

static int read_from(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)arg;
	if (reader_want(r, n, YNODE_MAP) < 0)
		return -1;
	if (n->n != 1)
		return reader_fail(r, n, "has %u keys; write one of env, file or command", n->n);
	return reader_map(r, n, to, from_keys);
}

static int read_hosts(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct credential *c = to;

	(void)arg;
	if (read_strings(r, n, &text_host, &c->hosts, &c->n_hosts) < 0)
		return -1;
	if (c->n_hosts > CREDENTIAL_HOSTS_MAX)
		return reader_fail(r, n, "has more than %d hosts; write *.name for many, or make two credentials of it",
				   CREDENTIAL_HOSTS_MAX);
	return 0;
}

static int read_env_name(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)arg;
	return reader_string(r, n, value_env_name, to);
}

#define AT(member) offsetof(struct credential, member)

static const struct reader_key credential_keys[] = {
	{"from", read_from, AT(from), NULL},
	{"hosts", read_hosts, 0, NULL},
	{"inject", read_inject, AT(inject), NULL},
	{"env", read_env_name, AT(env), NULL},
	{"verifier_env", read_env_name, AT(verifier_env), NULL},
	{NULL, NULL, 0, NULL},
};

static int check_sigv4(struct reader *r, const struct ynode *n, const struct credential *c)
{
	bool list = c->from.kind == SOURCE_ENV && c->from.n != 1;

	if (c->inject.kind != INJECT_SIGV4)
		return list ? reader_fail(r, n, "several variables go with sigv4; name one under from.env") : 0;
	if (list && c->from.n != 2 && c->from.n != 3)
		return reader_fail(r, n, "sigv4 takes two or three variables: key id, secret key, session token");
	if (c->env)
		return reader_fail(r, n,
				   "sigv4 sets AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY by itself; remove env");
	return 0;
}

static int read_credential(struct reader *r, const struct ynode *key, struct credential *c)
{
	const struct ynode *n = key->value;

	c->at = reader_origin(r, key);
	if (reader_string(r, key, value_name, &c->name) < 0)
		return -1;
	reader_enter(r, key->text);
	if (reader_map(r, n, c, credential_keys) < 0)
		return -1;
	if (!c->from.words)
		return reader_fail(r, key, "says not where its value is; write from: {env: NAME}");
	if (!c->n_hosts)
		return reader_fail(r, key,
				   "has no hosts; list those that may see it, such as hosts: [api.example.com]");
	if (!c->inject.name)
		return reader_fail(r, key, "says not how it is sent; write inject: {bearer: true} or another form");
	if (check_sigv4(r, key, c) < 0)
		return -1;
	if (!c->env && c->from.kind == SOURCE_ENV && c->inject.kind != INJECT_SIGV4)
		c->env = c->from.words[0];
	reader_leave(r);
	return 0;
}

static int read_credentials(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct credentials *all = to;
	const struct ynode *k;

	(void)arg;
	if (reader_want(r, n, YNODE_MAP) < 0)
		return -1;
	if (n->n > CREDENTIALS_MAX)
		return reader_fail(r, n, "has more than %d entries; remove some", CREDENTIALS_MAX);
	all->v = arena_array(r->arena, (size_t)n->n + 1, sizeof(*all->v));
	if (!all->v)
		return reader_no_memory(r);
	for (k = n->first; k; k = k->next)
		if (read_credential(r, k, &all->v[all->n++]) < 0)
			return -1;
	return 0;
}

static const struct reader_key root_keys[] = {
	{"version", reader_version, 0, NULL},
	{"credentials", read_credentials, 0, NULL},
	{NULL, NULL, 0, NULL},
};

struct credentials *credentials_none(void)
{
	struct arena *a = arena_new();
	struct credentials *c = a ? arena_alloc(a, sizeof(*c)) : NULL;

	if (c)
		c->arena = a;
	else
		arena_free(a);
	return c;
}

int credentials_parse(const char *name, struct sv bytes, struct credentials **ret, struct error *err)
{
	struct credentials *c = credentials_none();
	struct reader r = {.arena = c ? c->arena : NULL, .name = name, .err = err};

	if (!c)
		return reader_no_memory(&r);
	if (reader_parse(&r, bytes, c, root_keys) < 0) {
		credentials_free(c);
		return -1;
	}
	*ret = c;
	return 0;
}
