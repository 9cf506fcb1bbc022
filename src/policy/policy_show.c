#include "policy/policy_show.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "policy/policy_where.h"

/* One writer for both forms: YAML when json is NULL. */
struct show {
	const struct policy *top; /* owns the names of files */
	struct buf *out;
	struct json *json;
	unsigned flags;
	int depth;
	bool dash; /* YAML: the next key stands behind "- " */
};

const char *policy_show_number(struct policy_number *out, enum policy_unit unit, uint64_t v)
{
	static const struct {
		enum policy_unit unit;
		uint64_t size;
		const char *name;
	} units[] = {
		{UNIT_SIZE, UINT64_C(1) << 40, "T"}, {UNIT_SIZE, 1 << 30, "G"},      {UNIT_SIZE, 1 << 20, "M"},
		{UNIT_SIZE, 1 << 10, "K"},           {UNIT_DURATION, 86400000, "d"}, {UNIT_DURATION, 3600000, "h"},
		{UNIT_DURATION, 60000, "m"},         {UNIT_DURATION, 1000, "s"},     {UNIT_DURATION, 1, "ms"},
		{UNIT_RATE, 3600, "/s"},             {UNIT_RATE, 60, "/m"},          {UNIT_RATE, 1, "/h"},
	};
	size_t i;

	(void)snprintf(out->s, sizeof(out->s), "%" PRIu64, v);
	if (unit == UNIT_BOOL)
		(void)snprintf(out->s, sizeof(out->s), "%s", v ? "true" : "false");
	if (unit == UNIT_CPUS && v % 1000)
		(void)snprintf(out->s, sizeof(out->s), "%g", (double)v / 1000);
	else if (unit == UNIT_CPUS)
		(void)snprintf(out->s, sizeof(out->s), "%" PRIu64, v / 1000);
	for (i = 0; i < ARRAY_LEN(units) && v; i++)
		if (units[i].unit == unit && v % units[i].size == 0) {
			(void)snprintf(out->s, sizeof(out->s), "%" PRIu64 "%s", v / units[i].size, units[i].name);
			break;
		}
	return out->s;
}

/* True where a bare scalar reads back as the same string under every YAML version. */
static bool is_bare(const char *s)
{
	static const char *const words[] = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-"), i;

	if (n == 0 || s[n] != '\0' || !strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/", s[0]))
		return false;
	for (i = 0; i < ARRAY_LEN(words); i++)
		if (strcasecmp(s, words[i]) == 0)
			return false;
	return true;
}

/* JSON's string escapes are YAML's too. */
static void scalar(struct buf *out, const char *s)
{
	struct json j;

	if (is_bare(s)) {
		(void)buf_str(out, s);
		return;
	}
	json_init(&j, out);
	json_str(&j, s);
}

static void line_start(struct show *s)
{
	int i;

	for (i = 0; i < s->depth; i++)
		(void)buf_str(s->out, i == s->depth - 1 && s->dash ? "- " : "  ");
	s->dash = false;
}

static void line_end(struct show *s, struct origin at)
{
	struct text_shown shown;

	if (s->flags & POLICY_SHOW_FROM)
		(void)buf_printf(s->out, "  # %s", text_show(&shown, sv_of(policy_where(s->top, at))));
	(void)buf_char(s->out, '\n');
}

static void open_map(struct show *s, const char *key)
{
	if (s->json) {
		json_key(s->json, key);
		json_open(s->json);
		return;
	}
	line_start(s);
	scalar(s->out, key);
	(void)buf_str(s->out, ":\n");
	s->depth++;
}

static void close_map(struct show *s)
{
	if (s->json)
		json_close(s->json);
	else
		s->depth--;
}

static void open_list(struct show *s, const char *key, uint32_t n)
{
	if (s->json) {
		json_key(s->json, key);
		json_list(s->json);
		return;
	}
	line_start(s);
	(void)buf_printf(s->out, "%s:%s\n", key, n ? "" : " []");
	s->depth++;
}

static void close_list(struct show *s)
{
	if (s->json)
		json_end(s->json);
	else
		s->depth--;
}

static void open_item(struct show *s)
{
	if (s->json) {
		json_open(s->json);
		return;
	}
	s->depth++;
	s->dash = true;
}

static void json_value(struct show *s, const char *text, bool raw, struct origin at)
{
	json_open(s->json);
	json_key(s->json, "value");
	if (raw)
		json_raw(s->json, sv_of(text));
	else
		json_str(s->json, text);
	json_kstr(s->json, "from", policy_where(s->top, at));
	json_close(s->json);
}

/* raw: a number or a boolean, to be written as it is. */
static void value(struct show *s, const char *key, const char *text, bool raw, struct origin at)
{
	if (s->json) {
		json_key(s->json, key);
		json_value(s, text, raw, at);
		return;
	}
	line_start(s);
	scalar(s->out, key);
	(void)buf_str(s->out, ": ");
	if (raw)
		(void)buf_str(s->out, text);
	else
		scalar(s->out, text);
	line_end(s, at);
}

static void string(struct show *s, const char *key, const struct pol_str *v)
{
	if (v->s)
		value(s, key, v->s, false, v->at);
}

static void list(struct show *s, const char *key, const struct pol_list *l)
{
	uint32_t i;

	if (!l->set && l->n == 0)
		return;
	open_list(s, key, l->n);
	for (i = 0; i < l->n; i++) {
		if (s->json) {
			json_value(s, l->v[i].s, false, l->v[i].at);
			continue;
		}
		s->depth++;
		s->dash = true;
		line_start(s);
		scalar(s->out, l->v[i].s);
		line_end(s, l->v[i].at);
		s->depth--;
	}
	close_list(s);
}

static void pairs(struct show *s, const char *key, const struct pol_pairs *l)
{
	uint32_t i;

	if (l->n == 0)
		return;
	open_map(s, key);
	for (i = 0; i < l->n; i++)
		value(s, l->v[i].key, l->v[i].value, false, l->v[i].at);
	close_map(s);
}

static void choice(struct show *s, const char *key, const char *const *names, const struct pol_num *v)
{
	if (v->set)
		value(s, key, names[v->v], false, v->at);
}

static void number(struct show *s, const char *key, enum policy_unit unit, const struct pol_num *v)
{
	struct policy_number text;
	bool raw;

	if (!v->set)
		return;
	(void)policy_show_number(&text, unit, v->v);
	raw = strspn(text.s, "0123456789.") == strlen(text.s) || unit == UNIT_BOOL;
	/* A size with its letter needs no quotes in YAML, but is a string in JSON. */
	value(s, key, text.s, s->json ? raw : true, v->at);
}

/* What is in every policy and in no file. */
static void comment(struct show *s, const char *head, const struct pol_list *l)
{
	struct text_shown shown;
	uint32_t i;

	if (l->n)
		(void)buf_printf(s->out, "  # %s:\n", head);
	for (i = 0; i < l->n; i++)
		(void)buf_printf(s->out, "  #   %s\n", text_show(&shown, sv_of(l->v[i].s)));
}

static void protections(struct show *s, const struct pol_list *l)
{
	if (!(s->flags & POLICY_SHOW_PROTECT) || l->n == 0)
		return;
	if (s->json)
		list(s, "protect", l);
	else
		comment(s, "Mandatory in every policy: may be read, never written", l);
}

/* Those that are built in come last, and would say more than they do if they were read back from a file: the base
 * system has no exception for those of a file. */
static void denials(struct show *s, const struct pol_list *l)
{
	struct pol_list own = *l, built_in = *l;

	if (s->json || !(s->flags & POLICY_SHOW_PROTECT)) {
		list(s, "deny", l);
		return;
	}
	while (own.n && !l->v[own.n - 1].at.file)
		own.n--;
	built_in.v += own.n;
	built_in.n -= own.n;
	list(s, "deny", &own);
	comment(s, "Mandatory in every policy: no access (of **/.env not in the base system)", &built_in);
}

static void filesystem(struct show *s, const struct pol_fs *fs)
{
	if (!fs->workdir.set && !fs->read.set && !fs->write.set && !fs->deny.set && !fs->tmp_size.set && !fs->read.n &&
	    !fs->write.n && !fs->deny.n)
		return;
	open_map(s, "filesystem");
	choice(s, "workdir", workdir_mode_names, &fs->workdir);
	list(s, "read", &fs->read);
	list(s, "write", &fs->write);
	denials(s, &fs->deny);
	protections(s, &fs->protect);
	number(s, "tmp_size", UNIT_SIZE, &fs->tmp_size);
	close_map(s);
}

static void ports(struct show *s, const struct net_rule *r)
{
	uint32_t i;

	if (r->n_ports == 0)
		return;
	if (s->json) {
		json_key(s->json, "ports");
		json_list(s->json);
		for (i = 0; i < r->n_ports; i++)
			json_uint(s->json, r->ports[i]);
		json_end(s->json);
		return;
	}
	line_start(s);
	(void)buf_str(s->out, "ports: [");
	for (i = 0; i < r->n_ports; i++)
		(void)buf_printf(s->out, "%s%u", i ? ", " : "", r->ports[i]);
	(void)buf_str(s->out, "]\n");
}

/* A map of two lists; nothing where neither is set. */
static void two_lists(struct show *s, const char *key, const char *name_a, const struct pol_list *a, const char *name_b,
		      const struct pol_list *b)
{
	if (!a->set && !b->set)
		return;
	open_map(s, key);
	list(s, name_a, a);
	list(s, name_b, b);
	close_map(s);
}

static void rules(struct show *s, const char *key, const struct net_rules *l)
{
	const struct net_rule *r;
	uint32_t i;

	if (!l->set && l->n == 0)
		return;
	open_list(s, key, l->n);
	for (i = 0; i < l->n; i++) {
		r = &l->v[i];
		open_item(s);
		value(s, r->cidr ? "cidr" : "host", r->cidr ? r->cidr : r->host, false, r->at);
		ports(s, r);
		list(s, "methods", &r->methods);
		list(s, "paths", &r->paths);
		string(s, "credential", &r->credential);
		number(s, "rate", UNIT_RATE, &r->rate);
		two_lists(s, "graphql", "types", &r->graphql.types, "operations", &r->graphql.operations);
		two_lists(s, "mcp", "tools", &r->mcp.tools, "methods", &r->mcp.methods);
		close_map(s);
	}
	close_list(s);
}

static void network(struct show *s, const struct pol_net *n)
{
	if (!n->mode.set && !n->allow.n && !n->deny.n && !n->dns.set && !n->loopback.set && !n->ask.set &&
	    !n->max_bytes_out.set)
		return;
	open_map(s, "network");
	choice(s, "mode", net_mode_names, &n->mode);
	rules(s, "allow", &n->allow);
	rules(s, "deny", &n->deny);
	choice(s, "dns", dns_mode_names, &n->dns);
	number(s, "loopback", UNIT_BOOL, &n->loopback);
	number(s, "ask", UNIT_BOOL, &n->ask);
	number(s, "max_bytes_out", UNIT_SIZE, &n->max_bytes_out);
	close_map(s);
}

static bool process_is_empty(const struct pol_process *p)
{
	return !p->runtime.set && !p->fallback.set && !p->categories.n && !p->allow_exec.set && !p->deny_exec.set &&
	       !p->user.set && !p->max_processes.set && !p->memory.set && !p->cpus.set && !p->timeout.set &&
	       !p->max_file_size.set && !p->env_set.n && !p->env_pass.n;
}

static void process(struct show *s, const struct pol_process *p)
{
	if (process_is_empty(p))
		return;
	open_map(s, "process");
	choice(s, "runtime", runtime_names, &p->runtime);
	list(s, "fallback", &p->fallback);
	pairs(s, "categories", &p->categories);
	list(s, "allow_exec", &p->allow_exec);
	list(s, "deny_exec", &p->deny_exec);
	number(s, "user", UNIT_COUNT, &p->user);
	number(s, "max_processes", UNIT_COUNT, &p->max_processes);
	number(s, "memory", UNIT_SIZE, &p->memory);
	number(s, "cpus", UNIT_CPUS, &p->cpus);
	number(s, "timeout", UNIT_DURATION, &p->timeout);
	number(s, "max_file_size", UNIT_SIZE, &p->max_file_size);
	if (p->env_set.n || p->env_pass.n) {
		open_map(s, "env");
		pairs(s, "set", &p->env_set);
		list(s, "pass", &p->env_pass);
		close_map(s);
	}
	close_map(s);
}

static void provider(struct show *s, const struct provider *pr)
{
	open_map(s, pr->name);
	choice(s, "kind", provider_kind_names, &pr->kind);
	string(s, "url", &pr->url);
	string(s, "credential", &pr->credential);
	string(s, "base_url_env", &pr->base_url_env);
	list(s, "models", &pr->models);
	number(s, "max_requests", UNIT_COUNT, &pr->max_requests);
	number(s, "max_output_tokens", UNIT_COUNT, &pr->max_output_tokens);
	choice(s, "server_tools", server_tools_names, &pr->server_tools);
	close_map(s);
}

static void inference(struct show *s, const struct pol_inference *inf)
{
	uint32_t i;

	if (inf->n_providers == 0 && inf->n_routes == 0)
		return;
	open_map(s, "inference");
	if (inf->n_providers) {
		open_map(s, "providers");
		for (i = 0; i < inf->n_providers; i++)
			provider(s, &inf->providers[i]);
		close_map(s);
	}
	if (inf->n_routes) {
		open_list(s, "routes", inf->n_routes);
		for (i = 0; i < inf->n_routes; i++) {
			open_item(s);
			value(s, "model", inf->routes[i].model, false, inf->routes[i].at);
			value(s, "provider", inf->routes[i].provider, false, inf->routes[i].at);
			close_map(s);
		}
		close_list(s);
	}
	close_map(s);
}

static void domains(struct show *s, const struct policy *p)
{
	filesystem(s, &p->fs);
	network(s, &p->net);
	process(s, &p->process);
	inference(s, &p->inference);
	pairs(s, "check", &p->check);
}

void policy_show_test(const struct pol_test *t, struct buf *out)
{
	static const char *const subjects[] = {[TEST_HOST] = "host",
					       [TEST_READ] = "read",
					       [TEST_WRITE] = "write",
					       [TEST_EXEC] = "exec",
					       [TEST_MODEL] = "model"};

	(void)buf_printf(out, "%s: {%s: ", t->allow ? "allow" : "deny", subjects[t->subject]);
	scalar(out, t->target);
	if (t->method)
		(void)buf_printf(out, ", method: %s", t->method);
	if (t->path) {
		(void)buf_str(out, ", path: ");
		scalar(out, t->path);
	}
	(void)buf_char(out, '}');
}

static void phases(struct show *s, const struct policy *p)
{
	uint32_t i;

	if (p->n_phases == 0)
		return;
	open_map(s, "phases");
	for (i = 0; i < p->n_phases; i++) {
		open_map(s, p->phases[i].name);
		domains(s, p->phases[i].policy);
		close_map(s);
	}
	close_map(s);
}

static void tests(struct show *s, const struct policy *p)
{
	uint32_t i;

	if (p->n_tests == 0 || s->json)
		return;
	open_list(s, "tests", p->n_tests);
	for (i = 0; i < p->n_tests; i++) {
		s->depth++;
		s->dash = true;
		line_start(s);
		policy_show_test(&p->tests[i], s->out);
		line_end(s, p->tests[i].at);
		s->depth--;
	}
	close_list(s);
}

void policy_show_yaml(const struct policy *p, unsigned flags, struct buf *out)
{
	struct show s = {.top = p, .out = out, .flags = flags};

	(void)buf_str(out, "version: 1\n");
	domains(&s, p);
	phases(&s, p);
	tests(&s, p);
}

void policy_show_json(const struct policy *p, struct buf *out)
{
	struct json j;
	struct show s = {.top = p, .out = out, .json = &j, .flags = POLICY_SHOW_FROM | POLICY_SHOW_PROTECT};

	json_init(&j, out);
	json_open(&j);
	json_key(&j, "version");
	json_int(&j, 1);
	domains(&s, p);
	phases(&s, p);
	json_close(&j);
	(void)buf_char(out, '\n');
}
