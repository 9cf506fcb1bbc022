#include "policy/policy_parse.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "conf/reader.h"
#include "conf/value_net.h"

const char *const check_category_names[] = {"proposition-tampering", "early-termination",
					    "unproven-assumptions",  "context-pollution",
					    "command-injection",     "tautological-proof",
					    "circular-reasoning",    "scope-reduction",
					    "format-exploitation",   NULL};
const char *const check_verdict_names[] = {"allow", "escalate", "deny", NULL};

/* A mapping whose keys and values are one kind each; names where they are words, checks where they are text. */
struct pairs_type {
	const char *const *keys;
	value_str_fn *key;
	const char *const *values;
	value_str_fn *value;
};

static int word_or_text(struct reader *r, const struct ynode *n, const char *const *names, value_str_fn *check,
			const char **ret)
{
	uint64_t word;

	if (!names)
		return reader_string(r, n, check, ret);
	if (reader_word(r, n, names, &word) < 0)
		return -1;
	*ret = names[word];
	return 0;
}

static int read_pairs(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct pairs_type *type = arg;
	struct pol_pairs *pairs = to;
	const struct ynode *k;

	pairs->v = reader_room(r, n, YNODE_MAP, sizeof(*pairs->v));
	if (!pairs->v)
		return -1;
	pairs->set = true;
	for (k = n->first; k; k = k->next) {
		struct pol_pair *pair = &pairs->v[pairs->n++];

		if (word_or_text(r, k, type->keys, type->key, &pair->key) < 0)
			return -1;
		reader_enter(r, k->text);
		if (word_or_text(r, k->value, type->values, type->value, &pair->value) < 0)
			return -1;
		pair->at = reader_origin(r, k);
		reader_leave(r);
	}
	return 0;
}

/* As reader_str(), where the struct has a bare string. */
static int read_cstr(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct reader_text *type = arg;

	return reader_string(r, n, type->check, to);
}

static int read_ports(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const struct reader_number port = {value_port, false};
	struct net_rule *rule = to;
	const struct ynode *item;
	struct pol_num num;

	(void)arg;
	if (reader_want(r, n, YNODE_LIST) < 0)
		return -1;
	if (n->n == 0)
		return reader_fail(r, n,
				   "is empty, which would allow nothing; list ports, or remove the key for 443 and 80");
	rule->ports = arena_array(r->arena, n->n, sizeof(*rule->ports));
	if (!rule->ports)
		return reader_no_memory(r);
	for (item = n->first; item; item = item->next) {
		reader_enter_item(r, rule->n_ports);
		if (reader_num(r, item, &num, &port) < 0)
			return -1;
		rule->ports[rule->n_ports++] = (uint16_t)num.v;
		reader_leave(r);
	}
	return 0;
}

/* As reader_map(), where an empty one would say nothing. */
static int read_some(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	if (n->kind == YNODE_MAP && n->n == 0)
		return reader_fail(r, n,
				   "is empty, which would allow nothing; list what is allowed, or remove the key");
	return reader_map(r, n, to, arg);
}

/* As reader_words(), where [] would allow nothing. */
static int read_some_words(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	if (n->kind == YNODE_LIST && n->n == 0)
		return reader_fail(r, n,
				   "is empty, which would allow nothing; list what is allowed, or remove the key");
	return reader_words(r, n, to, arg);
}

static const struct reader_text text_host = {value_host, false};
static const struct reader_text text_cidr = {value_cidr, false};
static const struct reader_text text_methods = {value_method, true};
static const struct reader_text text_url_globs = {value_url_glob, true};
static const struct reader_text text_name = {value_name, false};
static const struct reader_text text_env_name = {value_env_name, false};
static const struct reader_text text_paths = {value_path_glob, false};
static const struct reader_text text_models = {value_model, true};
static const struct reader_text text_url = {value_url, false};
static const struct reader_text text_any = {value_text, false};
static const struct reader_text text_calls = {value_call, true};
static const struct reader_number number_rate = {value_rate, true};
static const struct reader_number number_size = {value_size, true};
static const struct reader_number number_size_positive = {value_size_positive, true};
static const struct reader_number number_count = {value_count, false};
static const struct reader_number number_processes = {value_processes, false};
static const struct reader_number number_memory = {value_memory, true};
static const struct reader_number number_uid = {value_uid, false};
static const struct reader_number number_bool = {value_bool, false};
static const struct reader_number number_cpus = {value_cpus, false};
static const struct reader_number number_duration = {value_duration, true};

#define RULE(member) offsetof(struct net_rule, member)

static const struct reader_key graphql_keys[] = {
	{"types", read_some_words, offsetof(struct net_graphql, types), graphql_type_names},
	{"operations", reader_list, offsetof(struct net_graphql, operations), &text_calls},
	{NULL, NULL, 0, NULL},
};

static const struct reader_key mcp_keys[] = {
	{"tools", reader_list, offsetof(struct net_mcp, tools), &text_calls},
	{"methods", reader_list, offsetof(struct net_mcp, methods), &text_calls},
	{NULL, NULL, 0, NULL},
};

static const struct reader_key allow_keys[] = {
	{"host", read_cstr, RULE(host), &text_host},
	{"cidr", read_cstr, RULE(cidr), &text_cidr},
	{"ports", read_ports, 0, NULL},
	{"methods", reader_list, RULE(methods), &text_methods},
	{"paths", reader_list, RULE(paths), &text_url_globs},
	{"credential", reader_str, RULE(credential), &text_name},
	{"rate", reader_num, RULE(rate), &number_rate},
	{"graphql", read_some, RULE(graphql), graphql_keys},
	{"mcp", read_some, RULE(mcp), mcp_keys},
	{NULL, NULL, 0, NULL},
};

static const struct reader_key deny_keys[] = {
	{"host", read_cstr, RULE(host), &text_host},
	{"cidr", read_cstr, RULE(cidr), &text_cidr},
	{"ports", read_ports, 0, NULL},
	{"methods", reader_list, RULE(methods), &text_methods},
	{"paths", reader_list, RULE(paths), &text_url_globs},
	{NULL, NULL, 0, NULL},
};

static int read_rule(struct reader *r, const struct ynode *n, struct net_rule *rule, const void *keys)
{
	rule->at = reader_origin(r, n);
	if (reader_map(r, n, rule, keys) < 0)
		return -1;
	if (!rule->host == !rule->cidr)
		return reader_fail(r, n, "a rule names %s; write one host or one cidr",
				   rule->host ? "a host and a cidr" : "neither host nor cidr");
	if (rule->cidr && rule->credential.s)
		return reader_fail(r, n, "a credential goes to a host, not to a range; write a rule with host");
	if ((rule->graphql.types.set || rule->graphql.operations.set) && (rule->mcp.tools.set || rule->mcp.methods.set))
		return reader_fail(r, n, "no request is GraphQL and MCP at once; write a rule for each");
	return 0;
}

static int read_rules(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct net_rules *rules = to;
	const struct ynode *item;

	rules->v = reader_room(r, n, YNODE_LIST, sizeof(*rules->v));
	if (!rules->v)
		return -1;
	rules->set = true;
	for (item = n->first; item; item = item->next) {
		reader_enter_item(r, rules->n);
		if (read_rule(r, item, &rules->v[rules->n], arg) < 0)
			return -1;
		rules->n++;
		reader_leave(r);
	}
	return 0;
}

#define PROVIDER(member) offsetof(struct provider, member)

static const struct reader_key provider_keys[] = {
	{"kind", reader_enum, PROVIDER(kind), provider_kind_names},
	{"url", reader_str, PROVIDER(url), &text_url},
	{"credential", reader_str, PROVIDER(credential), &text_name},
	{"base_url_env", reader_str, PROVIDER(base_url_env), &text_env_name},
	{"models", reader_list, PROVIDER(models), &text_models},
	{"max_requests", reader_num, PROVIDER(max_requests), &number_count},
	{"max_output_tokens", reader_num, PROVIDER(max_output_tokens), &number_count},
	{"server_tools", reader_enum, PROVIDER(server_tools), server_tools_names},
	{NULL, NULL, 0, NULL},
};

static int read_providers(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct pol_inference *inference = to;
	const struct ynode *k;

	(void)arg;
	inference->providers = reader_room(r, n, YNODE_MAP, sizeof(*inference->providers));
	if (!inference->providers)
		return -1;
	for (k = n->first; k; k = k->next) {
		struct provider *p = &inference->providers[inference->n_providers++];

		p->at = reader_origin(r, k);
		if (reader_string(r, k, value_name, &p->name) < 0)
			return -1;
		reader_enter(r, k->text);
		if (reader_map(r, k->value, p, provider_keys) < 0)
			return -1;
		reader_leave(r);
	}
	return 0;
}

static const struct reader_key route_keys[] = {
	{"model", read_cstr, offsetof(struct route, model), &text_models},
	{"provider", read_cstr, offsetof(struct route, provider), &text_name},
	{NULL, NULL, 0, NULL},
};

static int read_routes(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct pol_inference *inference = to;
	const struct ynode *item;

	(void)arg;
	inference->routes = reader_room(r, n, YNODE_LIST, sizeof(*inference->routes));
	if (!inference->routes)
		return -1;
	for (item = n->first; item; item = item->next) {
		struct route *route = &inference->routes[inference->n_routes];

		reader_enter_item(r, inference->n_routes++);
		route->at = reader_origin(r, item);
		if (reader_map(r, item, route, route_keys) < 0)
			return -1;
		if (!route->model || !route->provider)
			return reader_fail(r, item, "a route needs both; write {model: NAME, provider: NAME}");
		reader_leave(r);
	}
	return 0;
}

/* host or host:port; the host in its canonical form, IPv6 in brackets where a port follows. */
static const char *value_target(struct arena *a, struct sv s, const char **ret)
{
	struct sv name, port;
	const char *host, *wrong, *whole = NULL;
	uint64_t number;

	if (!value_host_exact(a, s, ret))
		return NULL;
	if (!value_split_port(s, &name, &port))
		return "has a colon and no port; write host or host:port";
	wrong = value_host_exact(a, name, &host);
	if (!wrong && port.n)
		wrong = value_port(port, &number);
	if (wrong)
		return wrong;
	whole = arena_printf(a, strchr(host, ':') ? "[%s]:%.*s" : "%s:%.*s", host, (int)port.n, port.p);
	return whole ? value_keep(a, sv_of(whole), ret) : "cannot be kept: out of memory";
}

/* What one expectation may say, as far as it has been read; target[subject]. */
struct test_draft {
	const char *target[TEST_MODEL + 1];
	const char *method, *path;
};

static const struct reader_text text_target = {value_target, false};
static const struct reader_text text_path = {value_path, false};
static const struct reader_text text_method = {value_method, false};
static const struct reader_text text_url_path = {value_url_path, false};

#define DRAFT(member) offsetof(struct test_draft, member)

static const struct reader_key test_keys[] = {
	{"host", read_cstr, DRAFT(target[TEST_HOST]), &text_target},
	{"read", read_cstr, DRAFT(target[TEST_READ]), &text_path},
	{"write", read_cstr, DRAFT(target[TEST_WRITE]), &text_path},
	{"exec", read_cstr, DRAFT(target[TEST_EXEC]), &text_path},
	{"model", read_cstr, DRAFT(target[TEST_MODEL]), &text_models},
	{"method", read_cstr, DRAFT(method), &text_method},
	{"path", read_cstr, DRAFT(path), &text_url_path},
	{NULL, NULL, 0, NULL},
};

static int read_expectation(struct reader *r, const struct ynode *n, struct pol_test *test)
{
	struct test_draft draft = {0};
	unsigned i, found = 0;

	if (reader_map(r, n, &draft, test_keys) < 0)
		return -1;
	for (i = 0; i < ARRAY_LEN(draft.target); i++) {
		if (!draft.target[i])
			continue;
		found++;
		test->subject = (enum test_subject)i;
		test->target = draft.target[i];
	}
	if (found != 1)
		return reader_fail(r, n, "asks about %s; write one of host, read, write, exec or model",
				   found ? "several things" : "nothing");
	if (test->subject != TEST_HOST && (draft.method || draft.path))
		return reader_fail(r, n, "method and path go with host; remove them");
	if (test->subject == TEST_EXEC && !strchr(test->target, '/'))
		return reader_fail(r, n, "exec takes a path; write it in full, such as /usr/bin/git");
	test->method = draft.method;
	test->path = draft.path;
	return 0;
}

static int read_tests(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const char *const verdicts[] = {"deny", "allow", NULL};
	struct policy *p = to;
	const struct ynode *item;
	uint64_t allow;

	(void)arg;
	p->tests = reader_room(r, n, YNODE_LIST, sizeof(*p->tests));
	if (!p->tests)
		return -1;
	for (item = n->first; item; item = item->next) {
		struct pol_test *test = &p->tests[p->n_tests];

		reader_enter_item(r, p->n_tests++);
		if (reader_want(r, item, YNODE_MAP) < 0)
			return -1;
		if (item->n != 1)
			return reader_fail(r, item, "has %u keys; write {allow: {...}} or {deny: {...}}", item->n);
		if (reader_word(r, item->first, verdicts, &allow) < 0)
			return -1;
		test->allow = allow;
		test->at = reader_origin(r, item->first);
		reader_enter(r, item->first->text);
		if (read_expectation(r, item->first->value, test) < 0)
			return -1;
		reader_leave(r);
		reader_leave(r);
	}
	return 0;
}

#define AT(member) offsetof(struct policy, member)

static const struct reader_key fs_keys[] = {
	{"workdir", reader_enum, AT(fs.workdir), workdir_mode_names},
	{"read", reader_list, AT(fs.read), &text_paths},
	{"write", reader_list, AT(fs.write), &text_paths},
	{"deny", reader_list, AT(fs.deny), &text_paths},
	{"tmp_size", reader_num, AT(fs.tmp_size), &number_size_positive},
	{NULL, NULL, 0, NULL},
};

static const struct reader_key net_keys[] = {
	{"mode", reader_enum, AT(net.mode), net_mode_names},
	{"allow", read_rules, AT(net.allow), allow_keys},
	{"deny", read_rules, AT(net.deny), deny_keys},
	{"dns", reader_enum, AT(net.dns), dns_mode_names},
	{"loopback", reader_num, AT(net.loopback), &number_bool},
	{"ask", reader_num, AT(net.ask), &number_bool},
	{"max_bytes_out", reader_num, AT(net.max_bytes_out), &number_size},
	{NULL, NULL, 0, NULL},
};

static const struct pairs_type category_pairs = {category_names, NULL, runtime_names, NULL};
static const struct pairs_type env_pairs = {NULL, value_env_name, NULL, value_env_value};
static const struct pairs_type check_pairs = {check_category_names, NULL, check_verdict_names, NULL};

static const struct reader_key env_keys[] = {
	{"set", read_pairs, AT(process.env_set), &env_pairs},
	{"pass", reader_list, AT(process.env_pass), &text_env_name},
	{NULL, NULL, 0, NULL},
};

static const struct reader_key process_keys[] = {
	{"runtime", reader_enum, AT(process.runtime), runtime_names},
	/* "auto" is no fallback: it is the first name, so the list starts behind it. */
	{"fallback", reader_words, AT(process.fallback), runtime_names + 1},
	{"categories", read_pairs, AT(process.categories), &category_pairs},
	{"allow_exec", reader_list, AT(process.allow_exec), &text_paths},
	{"deny_exec", reader_list, AT(process.deny_exec), &text_paths},
	{"user", reader_num, AT(process.user), &number_uid},
	{"max_processes", reader_num, AT(process.max_processes), &number_processes},
	{"memory", reader_num, AT(process.memory), &number_memory},
	{"cpus", reader_num, AT(process.cpus), &number_cpus},
	{"timeout", reader_num, AT(process.timeout), &number_duration},
	{"max_file_size", reader_num, AT(process.max_file_size), &number_size_positive},
	{"env", reader_map, 0, env_keys},
	{NULL, NULL, 0, NULL},
};

static const struct reader_key inference_keys[] = {
	{"providers", read_providers, AT(inference), NULL},
	{"routes", read_routes, AT(inference), NULL},
	{NULL, NULL, 0, NULL},
};

static const struct reader_key phase_keys[] = {
	{"filesystem", reader_map, 0, fs_keys},         {"network", reader_map, 0, net_keys},
	{"process", reader_map, 0, process_keys},       {"inference", reader_map, 0, inference_keys},
	{"check", read_pairs, AT(check), &check_pairs}, {NULL, NULL, 0, NULL},
};

static int read_phases(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct policy *p = to;
	const struct ynode *k;
	uint64_t word;

	(void)arg;
	p->phases = reader_room(r, n, YNODE_MAP, sizeof(*p->phases));
	if (!p->phases)
		return -1;
	for (k = n->first; k; k = k->next) {
		struct phase *phase = &p->phases[p->n_phases++];

		if (reader_word(r, k, phase_names, &word) < 0)
			return -1;
		phase->name = phase_names[word];
		phase->at = reader_origin(r, k);
		phase->policy = arena_alloc(r->arena, sizeof(*phase->policy));
		if (!phase->policy)
			return reader_no_memory(r);
		phase->policy->arena = r->arena;
		reader_enter(r, k->text);
		if (reader_map(r, k->value, phase->policy, phase_keys) < 0)
			return -1;
		reader_leave(r);
	}
	return 0;
}

static const struct reader_key root_keys[] = {
	{"version", reader_version, 0, NULL},
	{"extends", reader_list, AT(extends), &text_any},
	{"filesystem", reader_map, 0, fs_keys},
	{"network", reader_map, 0, net_keys},
	{"process", reader_map, 0, process_keys},
	{"inference", reader_map, 0, inference_keys},
	{"tests", read_tests, 0, NULL},
	{"phases", read_phases, 0, NULL},
	{"check", read_pairs, AT(check), &check_pairs},
	{NULL, NULL, 0, NULL},
};

static void visit_keys(const struct reader_key *k, const char *prefix, void (*visit)(void *arg, const char *key),
		       void *arg)
{
	char name[128];

	for (; k->name; k++) {
		(void)snprintf(name, sizeof(name), "%.80s%s%.40s", prefix, *prefix ? "." : "", k->name);
		if (k->read == reader_map)
			visit_keys(k->arg, name, visit, arg);
		else
			visit(arg, name);
	}
}

void policy_parse_keys(void (*visit)(void *arg, const char *key), void *arg)
{
	visit_keys(root_keys, "", visit, arg);
}

int policy_parse(struct policy *p, const char *name, uint32_t file, struct sv bytes, struct error *err)
{
	struct reader r = {.arena = p->arena, .name = name, .file = file, .err = err};

	return reader_parse(&r, bytes, p, root_keys);
}
