/*
 * NVIDIA OpenShell's policy. Its rules bind programs to endpoints; ours hold for the whole sandbox, so that binding is
 * always named as lost. In its URL patterns `*` crosses "/", in ours it does not: an allow rule becomes narrower by it,
 * a deny rule is widened to make up for it. What a deny rule says beyond method and path is left out of it, so that it
 * denies more; what else may narrow an endpoint leaves that out.
 */
#include "base/cleanup.h"
#include "base/text.h"
#include "conf/value_net.h"
#include "model/base_system.h"
#include "policy/import_parts.h"
#include "policy/import_widen.h"
#include "policy/net_match.h"
#include "policy/policy_cover.h"

#define NO_BODY  "the gateway does not look into request bodies for this"
#define TEXT	 "WEBSOCKET_TEXT" /* their method of a message in a WebSocket */
#define OPERATOR "credentials are the operator's (credentials.yaml), and are always injected outside the sandbox"

/* What every sandbox has anyway; false where the path must be listed. */
static bool is_given(struct import *im, const struct ynode *n, bool write)
{
	const struct base_path *row;
	int depth;

	if (n->kind != YNODE_SCALAR || n->text.n == 0 || n->text.p[0] != '/')
		return false;
	if (sv_is(n->text, "/etc")) {
		import_changed(im, n, "only the part of /etc that programs need is there");
		return true;
	}
	if (sv_is(n->text, "/dev")) {
		import_changed(im, n, "only the usual harmless devices are there");
		return true;
	}
	row = base_system_find(n->text, &depth);
	if (!row || row->kind == BASE_HIDDEN || row->kind == BASE_CLOSED)
		return false;
	return row->kind != BASE_READ || !write;
}

static void take_read_only(struct import *im, const struct ynode *n)
{
	if (!is_given(im, n, false))
		import_path(im, n, &im->policy->fs.read);
}

static void take_read_write(struct import *im, const struct ynode *n)
{
	if (!is_given(im, n, true))
		import_path(im, n, &im->policy->fs.write);
	else if (sv_is(n->text, "/tmp"))
		import_changed(im, n, "is the sandbox's own");
}

static void take_read_only_list(struct import *im, const struct ynode *n)
{
	import_list(im, n, take_read_only);
}

static void take_read_write_list(struct import *im, const struct ynode *n)
{
	import_list(im, n, take_read_write);
}

static void take_workdir(struct import *im, const struct ynode *n)
{
	import_set(&im->policy->fs.workdir, import_is_true(n) ? WORKDIR_READ_WRITE : WORKDIR_NONE);
}

static const struct import_key filesystem_keys[] = {
	{"include_workdir", take_workdir, NULL},
	{"read_only", take_read_only_list, NULL},
	{"read_write", take_read_write_list, NULL},
	{NULL, NULL, NULL},
};

static void take_filesystem(struct import *im, const struct ynode *n)
{
	import_map(im, n, filesystem_keys);
	if (im->policy->fs.read.n || im->policy->fs.write.n)
		import_lost(im, n, IMPORT_CONTAINER);
}

static void take_compatibility(struct import *im, const struct ynode *n)
{
	if (n->kind != YNODE_SCALAR || !sv_is(n->text, "hard_requirement"))
		import_changed(im, n, "what cannot be enforced is refused, never skipped");
}

static const struct import_key landlock_keys[] = {
	{"compatibility", take_compatibility, NULL},
	{NULL, NULL, NULL},
};

static void take_landlock(struct import *im, const struct ynode *n)
{
	import_map(im, n, landlock_keys);
}

static void take_user(struct import *im, const struct ynode *n)
{
	if (n->kind == YNODE_SCALAR && sv_is(n->text, "sandbox"))
		import_changed(im, n, "is user 1000 inside");
	else
		import_num(im, n, value_uid, &im->policy->process.user);
}

static const struct import_key process_keys[] = {
	{"run_as_user", take_user, NULL},
	{"run_as_group", NULL, "the group inside is that of the user"},
	{NULL, NULL, NULL},
};

static void take_process(struct import *im, const struct ynode *n)
{
	import_map(im, n, process_keys);
}

static struct sv text_of(const struct ynode *map, const char *key)
{
	const struct ynode *n = import_find(map, key);

	return n && n->kind == YNODE_SCALAR ? n->text : sv_n("", 0);
}

static void add_ports(struct import *im, const struct ynode *endpoint, struct net_rule *r)
{
	const struct ynode *list = import_find(endpoint, "ports"), *item;
	uint64_t port;

	if (text_of(endpoint, "port").n && !value_port(text_of(endpoint, "port"), &port))
		import_port(im, r, (uint16_t)port);
	else if (text_of(endpoint, "port").n)
		import_lost(im, import_find(endpoint, "port"), "a port is a number from 1 to 65535");
	for (item = list && list->kind == YNODE_LIST ? list->first : NULL; item; item = item->next) {
		if (item->kind == YNODE_SCALAR && !value_port(item->text, &port))
			import_port(im, r, (uint16_t)port);
		else
			import_lost(im, item, "a port is a number from 1 to 65535");
	}
}

/* Their "*.x" is one label, "**.x" one or more; ours is one or more. Only that has a counterpart. */
static bool host_of(struct import *im, const struct ynode *endpoint, struct sv *ret)
{
	struct sv host = text_of(endpoint, "host");
	const struct ynode *n = import_find(endpoint, "host");
	struct text_shown shown;

	if (sv_starts(host, "**.")) {
		host = sv_n(host.p + 1, host.n - 1);
	} else if (sv_starts(host, "*.")) {
		import_lost(im, n,
			    "%s is one label below the name, here deeper names would match too; it is left out, name "
			    "the hosts or write **.",
			    text_show(&shown, host));
		return false;
	}
	if (memchr(host.p, '*', host.n) && !(sv_starts(host, "*.") && !memchr(host.p + 1, '*', host.n - 1))) {
		import_lost(im, n, "%s: a wildcard within a label has no counterpart; name the hosts",
			    text_show(&shown, host));
		return false;
	}
	*ret = host;
	return host.n > 0;
}

/* A new rule for the endpoint, or NULL (noted). */
static struct net_rule *new_rule(struct import *im, const struct ynode *endpoint, struct sv host, struct net_rules *to)
{
	struct net_rule *r = import_rule(im, import_find(endpoint, "host"), host, to);

	if (!r)
		return NULL;
	add_ports(im, endpoint, r);
	if (r->n_ports)
		return r;
	import_lost(im, endpoint, "names no port; the endpoint is left out");
	import_drop_rule(to);
	return NULL;
}

static bool add_path(struct import *im, const struct ynode *at, struct sv pattern, struct net_rule *r)
{
	struct text_shown shown;
	const char *path, *wrong;

	if (pattern.n == 0 || sv_is(pattern, "**") || sv_is(pattern, "/**"))
		return true;
	wrong = value_url_glob(im->arena, pattern, &path);
	if (wrong) {
		import_lost(im, at, "%s %s", text_show(&shown, pattern), wrong);
		return false;
	}
	import_text(im, &r->paths, path);
	return true;
}

static bool add_method(struct import *im, const struct ynode *at, struct sv method, struct net_rule *r)
{
	struct text_shown shown;
	const char *text, *wrong;

	if (method.n == 0 || sv_is(method, "*"))
		return true;
	wrong = sv_is(method, TEXT) ? "has no counterpart: messages in a WebSocket are not looked at"
						: value_method(im->arena, method, &text);
	if (wrong) {
		import_lost(im, at, "%s %s", text_show(&shown, method), wrong);
		return false;
	}
	import_text(im, &r->methods, text);
	return true;
}

/* Only method and path can be said here; a rule with more would be widened by leaving the rest out. */
static bool is_simple(struct import *im, const struct ynode *rule)
{
	const struct ynode *k;
	struct text_shown shown;

	if (!rule || rule->kind != YNODE_MAP) {
		import_lost(im, rule, "is no rule");
		return false;
	}
	for (k = rule->first; k; k = k->next) {
		bool known = sv_is(k->text, "method") || sv_is(k->text, "path");

		if (known ? k->value->kind == YNODE_SCALAR : import_is_empty(k->value))
			continue;
		if (known)
			import_lost(im, k, "its %s is %s where a single value belongs; it is left out",
				    text_show(&shown, k->text), ynode_what(k->value));
		else
			import_lost(im, k, "a rule with %s has no counterpart; it is left out",
				    text_show(&shown, k->text));
		return false;
	}
	return true;
}

struct endpoint {
	const struct ynode *n;
	struct sv host;
};

static bool is_any_path(struct sv path)
{
	return path.n == 0 || sv_is(path, "**") || sv_is(path, "/**");
}

/* What both the endpoint's path and the rule's allow. False: they have nothing in common that one of them says (noted).
 */
static bool common_path(struct import *im, const struct ynode *item, struct sv outer, struct sv inner, struct sv *ret)
{
	struct text_shown a, b;

	*ret = is_any_path(inner) ? outer : inner;
	if (is_any_path(inner) || is_any_path(outer) ||
	    cover_url.covers(arena_str(im->arena, outer), arena_str(im->arena, inner)))
		return true;
	*ret = outer;
	if (cover_url.covers(arena_str(im->arena, inner), arena_str(im->arena, outer)))
		return true;
	import_lost(im, item, "its path %s and the endpoint's %s have no common pattern; it is left out",
		    text_show(&a, inner), text_show(&b, outer));
	return false;
}

/* What stands beside `allow` may narrow it. */
static bool is_alone(struct import *im, const struct ynode *item)
{
	const struct ynode *k;
	struct text_shown shown;

	for (k = item->kind == YNODE_MAP ? item->first : NULL; k; k = k->next)
		if (!sv_is(k->text, "allow")) {
			import_lost(im, k, "a rule with %s has no counterpart; it is left out",
				    text_show(&shown, k->text));
			return false;
		}
	return true;
}

/* What denies there, in a way that cannot be told here: nothing of the endpoint is left. */
static void deny_endpoint(struct import *im, const struct endpoint *e, const struct ynode *n)
{
	if (new_rule(im, e->n, e->host, &im->policy->net.deny))
		import_lost(im, n, "what it denies cannot be told, so the whole endpoint is denied");
}

static bool is_websocket(const struct ynode *endpoint)
{
	return sv_is(text_of(endpoint, "protocol"), "websocket");
}

/* Here whoever may begin a WebSocket may send what they like in it. There that takes another rule, which lists no more
 * than a path. */
static bool may_send(const struct ynode *endpoint, struct sv path)
{
	const struct ynode *list = import_find(endpoint, "rules"), *item, *allow;
	struct sv method;

	for (item = list && list->kind == YNODE_LIST ? list->first : NULL; item; item = item->next) {
		allow = import_find(item, "allow");
		method = text_of(allow, "method");
		if ((sv_is(method, TEXT) || sv_is(method, "*")) && sv_eq(text_of(allow, "path"), path) && allow->n == 2)
			return true;
	}
	return false;
}

/* The method of a rule, as far as it can be said here. False: it is left out (noted). There an endpoint for a WebSocket
 * takes nothing but what begins one. */
static bool method_of(struct import *im, const struct endpoint *e, const struct ynode *item, const struct ynode *allow,
		      struct sv *ret)
{
	*ret = text_of(allow, "method");
	if (!is_websocket(e->n) || sv_is(*ret, TEXT))
		return true;
	if (!sv_is(*ret, "GET") && !sv_is(*ret, "*")) {
		import_lost(im, item, "begins no WebSocket; it is left out");
		return false;
	}
	if (!may_send(e->n, text_of(allow, "path"))) {
		import_lost(
			im, item,
			"lets a WebSocket begin, but no messages in it, which are not looked at here; it is left out");
		return false;
	}
	import_lost(im, item, "here other GET requests pass as well as those that begin a WebSocket");
	*ret = sv_of("GET");
	return true;
}

static void take_rule(struct import *im, const struct endpoint *e, const struct ynode *item)
{
	const struct ynode *allow = import_find(item, "allow"), *k;
	struct sv path, method;
	struct net_rule *r;

	for (k = item->kind == YNODE_MAP ? item->first : NULL; k; k = k->next)
		if (import_is_denial(k->text))
			deny_endpoint(im, e, k);
	if (!is_simple(im, allow) || !is_alone(im, item) || !method_of(im, e, item, allow, &method) ||
	    !common_path(im, item, text_of(e->n, "path"), text_of(allow, "path"), &path))
		return;
	r = new_rule(im, e->n, e->host, &im->policy->net.allow);
	if (!r)
		return;
	if (memchr(path.p, '*', path.n) && !sv_is(path, "**") && !sv_is(path, "/**"))
		import_changed(im, item, "in its path * stays within one part here");
	if (!add_method(im, item, method, r) || !add_path(im, item, path, r))
		import_drop_rule(&im->policy->net.allow);
}

/* Methods that a rule can name. With another, such as one for messages in a WebSocket, all of them are denied. */
static bool is_method(struct sv method)
{
	static const char *const names[] = {"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", NULL};

	return name_index(names, method) >= 0;
}

/* What of a denial has no counterpart is left out of it: it denies more by that. */
static void take_deny(struct import *im, const struct endpoint *e, const struct ynode *item)
{
	struct sv method = text_of(item, "method"), path = text_of(item, "path"), wide;
	struct net_rule *r = new_rule(im, e->n, e->host, &im->policy->net.deny);
	struct text_shown shown;
	const struct ynode *k;

	if (!r)
		return;
	if (item->kind != YNODE_MAP)
		import_lost(im, item, "is no rule; the whole endpoint is denied");
	for (k = item->kind == YNODE_MAP ? item->first : NULL; k; k = k->next)
		if (!import_is_empty(k->value) &&
		    (k->value->kind != YNODE_SCALAR || (!sv_is(k->text, "method") && !sv_is(k->text, "path"))))
			import_lost(im, k, "%s has no counterpart; what the rest of the rule says is denied without it",
				    text_show(&shown, k->text));
	if (is_method(method))
		(void)add_method(im, item, method, r);
	else if (method.n && !sv_is(method, "*"))
		import_lost(im, item, "%s has no counterpart; every method is denied", text_show(&shown, method));
	wide = import_widen_path(im->arena, path);
	if (!sv_eq(wide, path))
		import_changed(im, item, "here a wildcard does not cross \"/\"; the rule denies %s",
			       text_show(&shown, wide));
	if (!add_path(im, item, wide, r))
		import_lost(im, item, "every path is denied");
}

static void each(struct import *im, const struct endpoint *e, const char *key,
		 void (*take)(struct import *, const struct endpoint *, const struct ynode *))
{
	const struct ynode *list = import_find(e->n, key), *item;
	size_t mark = import_down(im, sv_of(key));

	for (item = list && list->kind == YNODE_LIST ? list->first : NULL; item; item = item->next)
		take(im, e, item);
	import_up(im, mark);
}

static void add_access(struct import *im, const struct endpoint *e)
{
	static const char *const methods[] = {"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH"};
	const struct ynode *n = import_find(e->n, "access");
	struct sv access = text_of(e->n, "access");
	size_t i, count = sv_is(access, "read-only") ? 3 : sv_is(access, "read-write") ? 6 : 0;
	struct net_rule *r;

	if (n && !count && !sv_is(access, "full")) {
		import_lost(im, n, "is no access that OpenShell takes; the endpoint is left out");
		return;
	}
	if (is_websocket(e->n)) {
		if (!n || count == 3) {
			import_lost(im, e->n,
				    "lets a WebSocket begin, but no messages in it, which are not looked at here; the "
				    "endpoint is left out");
			return;
		}
		import_lost(im, n, "here other GET requests pass as well as those that begin a WebSocket");
		count = 1;
	}
	r = new_rule(im, e->n, e->host, &im->policy->net.allow);
	if (!r)
		return;
	for (i = 0; i < count; i++)
		import_text(im, &r->methods, methods[i]);
	if (!add_path(im, e->n, text_of(e->n, "path"), r))
		import_drop_rule(&im->policy->net.allow);
}

/* Whatever narrows the endpoint would be lost: a range's rules are not looked into for it. */
static bool is_bare(const struct ynode *endpoint)
{
	static const char *const narrows[] = {"path", "rules", "deny_rules", NULL};
	const struct ynode *n;
	size_t i;

	for (i = 0; narrows[i]; i++) {
		n = import_find(endpoint, narrows[i]);
		if (n && (n->kind == YNODE_LIST ? n->n > 0 : n->kind == YNODE_SCALAR && !is_any_path(n->text)))
			return false;
	}
	n = import_find(endpoint, "access");
	return !n || sv_is(text_of(endpoint, "access"), "full");
}

/* Without a host the addresses are the endpoint. */
static void add_addresses(struct import *im, const struct ynode *endpoint)
{
	const struct ynode *list = import_find(endpoint, "allowed_ips"), *item;
	size_t mark = import_down(im, sv_of("allowed_ips"));
	struct net_rules *allow = &im->policy->net.allow;
	struct net_rule *r;
	const char *cidr;

	if (list && list->n && !is_bare(endpoint)) {
		import_lost(im, list,
			    "addresses with access, path or rules have no counterpart; the endpoint is left out");
		list = NULL;
	}
	for (item = list && list->kind == YNODE_LIST ? list->first : NULL; item; item = item->next) {
		if (item->kind != YNODE_SCALAR || value_cidr(im->arena, item->text, &cidr)) {
			import_lost(im, item, "is no network address");
		} else if (import_is_never(cidr)) {
			import_lost(im, item,
				    "is this machine itself or local to a link, which is never let through there");
		} else if ((r = import_new_rule(im, allow))) {
			r->cidr = cidr;
			add_ports(im, endpoint, r);
			if (r->n_ports == 0)
				import_drop_rule(allow);
			else
				import_keep_never(im, item, cidr);
		}
	}
	import_up(im, mark);
}

/* There the host has to lead to one of the addresses; here it may lead to any public one, and to no other. */
static bool is_for_any_address(struct import *im, const struct ynode *endpoint)
{
	const struct ynode *list = import_find(endpoint, "allowed_ips");
	size_t mark;

	if (!list || import_is_empty(list))
		return true;
	mark = import_down(im, sv_of("allowed_ips"));
	import_lost(im, list,
		    "a host that may lead to certain addresses only has no counterpart; the endpoint is left out, a "
		    "cidr rule in network.allow opens private ones");
	import_up(im, mark);
	return false;
}

/* What is not looked into beyond method and path. */
static bool is_plain(struct sv protocol)
{
	static const char *const plain[] = {"", "tcp", "rest", "websocket", NULL};

	return name_index(plain, protocol) >= 0;
}

static void take_protocol(struct import *im, const struct ynode *n)
{
	static const char *const looked_into[] = {"graphql", "mcp", "json-rpc", "sql", NULL};
	struct text_shown shown;

	if (n->kind == YNODE_SCALAR && name_index(looked_into, n->text) >= 0)
		import_lost(im, n, NO_BODY "; the endpoint is left out");
	else if (n->kind == YNODE_SCALAR && !is_plain(n->text))
		import_lost(im, n, "%s is no protocol that Cordon knows; the endpoint is left out",
			    text_show(&shown, n->text));
}

static void take_tls(struct import *im, const struct ynode *n)
{
	import_changed(im, n, "TLS is looked into where a rule has methods, paths or a credential, and only there");
}

static void take_enforcement(struct import *im, const struct ynode *n)
{
	if (n->kind != YNODE_SCALAR || !sv_is(n->text, "enforce"))
		import_changed(im, n, "rules are enforced, not only logged");
}

static const struct import_key endpoint_keys[] = {
	{"host", NULL, NULL},
	{"port", NULL, NULL},
	{"ports", NULL, NULL},
	{"path", NULL, NULL},
	{"access", NULL, NULL},
	{"rules", NULL, NULL},
	{"deny_rules", NULL, NULL},
	{"allowed_ips", NULL, NULL},
	{"protocol", take_protocol, NULL},
	{"tls", take_tls, NULL},
	{"enforcement", take_enforcement, NULL},
	{"allow_encoded_slash", NULL, "encoded slashes in paths are refused or made canonical"},
	{"websocket_credential_rewrite", NULL, OPERATOR},
	{"request_body_credential_rewrite", NULL, OPERATOR},
	{"allow_uninspected_credentials", NULL, OPERATOR},
	{"credential_signing", NULL, OPERATOR},
	{"signing_service", NULL, OPERATOR},
	{"signing_region", NULL, OPERATOR},
	{"credential_binding", NULL, OPERATOR},
	{"persisted_queries", NULL, NO_BODY},
	{"graphql_persisted_queries", NULL, NO_BODY},
	{"graphql_max_body_bytes", NULL, NO_BODY},
	{"json_rpc", NULL, NO_BODY},
	{"mcp", NULL, NO_BODY},
	{NULL, NULL, NULL},
};

/* Keys that narrow what is allowed, or that nobody here knows. */
static bool is_understood(struct import *im, const struct ynode *n)
{
	static const char *const narrow[] = {
		"persisted_queries", "graphql_persisted_queries", "graphql_max_body_bytes", "json_rpc", "mcp", NULL};
	const struct import_key *row;
	const struct ynode *k;
	struct text_shown shown;
	bool good = true;

	for (k = n->first; k; k = k->next) {
		for (row = endpoint_keys; row->name && !sv_is(k->text, row->name); row++)
			;
		if (import_is_empty(k->value) || (row->name && name_index(narrow, k->text) < 0))
			continue;
		import_lost(im, k, "%s may narrow it; the endpoint is left out", text_show(&shown, k->text));
		good = false;
	}
	return good;
}

/* What cannot be read could be what closes it. */
static bool is_well_formed(struct import *im, const struct ynode *n)
{
	static const struct {
		const char *key;
		bool list;
	} kinds[] = {{"host", false}, {"path", false},      {"protocol", false},  {"access", false},
		     {"rules", true}, {"deny_rules", true}, {"allowed_ips", true}};
	const struct ynode *value;
	bool good = true;
	size_t i, mark;

	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		value = import_find(n, kinds[i].key);
		if (!value || value->kind == (kinds[i].list ? YNODE_LIST : YNODE_SCALAR) || import_is_empty(value))
			continue;
		mark = import_down(im, sv_of(kinds[i].key));
		import_lost(im, value, "is %s where %s belongs; the endpoint is left out", ynode_what(value),
			    kinds[i].list ? "a list" : "a single value");
		import_up(im, mark);
		good = false;
	}
	if (good && import_find(n, "rules") && text_of(n, "access").n)
		import_lost(im, import_find(n, "access"), "access counts for nothing beside rules here");
	return good;
}

static void take_allowed(struct import *im, const struct ynode *n)
{
	const struct ynode *rules = import_find(n, "rules"), *ips = import_find(n, "allowed_ips");
	struct endpoint e = {.n = n};

	if (text_of(n, "host").n == 0 && (!ips || import_is_empty(ips)))
		import_lost(im, n, "names neither a host nor addresses; the endpoint is left out");
	else if (text_of(n, "host").n == 0)
		add_addresses(im, n);
	if (!host_of(im, n, &e.host) || !is_for_any_address(im, n))
		return;
	if (rules && import_is_empty(rules))
		import_lost(im, n, "lists no rule; the endpoint is left out");
	else if (rules)
		each(im, &e, "rules", take_rule);
	else
		add_access(im, &e);
}

/* There a denial holds whichever endpoint lets a request pass: so it does here, whether or not its own was left out. */
static void take_denials(struct import *im, const struct ynode *n)
{
	const struct ynode *list = import_find(n, "deny_rules");
	struct endpoint e = {.n = n, .host = import_widen_host(im->arena, text_of(n, "host"))};
	uint32_t before = im->policy->net.deny.n;

	if (!list || import_is_empty(list))
		return;
	if (list->kind == YNODE_LIST)
		each(im, &e, "deny_rules", take_deny);
	else
		deny_endpoint(im, &e, list);
	if (im->policy->net.deny.n == before && net_host_class(e.host) != HOST_PRIVATE)
		import_close(im, list, CLOSED_NETWORK);
}

static void take_endpoint(struct import *im, const struct ynode *n)
{
	import_map(im, n, endpoint_keys);
	if (n->kind == YNODE_MAP && is_well_formed(im, n) && is_understood(im, n) && is_plain(text_of(n, "protocol")))
		take_allowed(im, n);
	take_denials(im, n);
}

static void take_endpoints(struct import *im, const struct ynode *n)
{
	import_list(im, n, take_endpoint);
}

static void take_binaries(struct import *im, const struct ynode *n)
{
	AUTO_BUF names = {0};
	const struct ynode *b;

	buf_init(&names, 300);
	for (b = n->kind == YNODE_LIST ? n->first : NULL; b; b = b->next) {
		struct sv path = b->kind == YNODE_MAP ? text_of(b, "path") : b->text;

		if (sv_is(path, "/**") || sv_is(path, "**") || sv_is(path, "*"))
			return; /* for every program, as here */
		(void)buf_str(&names, names.n ? ", " : "");
		text_escape(&names, path, 80);
	}
	if (n->n)
		import_lost(im, n, "a rule holds for every program here, not only for %s", names.n ? names.p : "some");
}

static const struct import_key entry_keys[] = {
	{"name", NULL, NULL}, /* a name for logs */
	{"endpoints", take_endpoints, NULL},
	{"binaries", take_binaries, NULL},
	{NULL, NULL, NULL},
};

/* A key that we do not know may narrow all of the entry. */
static bool is_known_entry(struct import *im, const struct ynode *n)
{
	static const char *const keys[] = {"name", "endpoints", "binaries", NULL};
	const struct ynode *k;
	struct text_shown shown;

	for (k = n->kind == YNODE_MAP ? n->first : NULL; k; k = k->next)
		if (name_index(keys, k->text) < 0 && !import_is_empty(k->value)) {
			import_lost(im, k, "unknown key %s, which may narrow the others; they are left out",
				    text_show(&shown, k->text));
			return false;
		}
	return true;
}

/* An entry that is left out: but for its denials. */
static void leave_out(struct import *im, const struct ynode *entry)
{
	const struct ynode *n = import_find(entry, "endpoints");
	size_t mark = import_down(im, sv_of("endpoints"));

	if (n && n->kind == YNODE_LIST)
		import_list(im, n, take_denials);
	import_up(im, mark);
}

static void take_network(struct import *im, const struct ynode *n)
{
	const struct ynode *k;
	size_t mark;

	if (n->kind != YNODE_MAP) {
		import_lost(im, n, "is %s where a mapping belongs", ynode_what(n));
		return;
	}
	for (k = n->first; k; k = k->next) {
		mark = import_down(im, k->text);
		if (is_known_entry(im, k->value))
			import_map(im, k->value, entry_keys);
		else
			leave_out(im, k->value);
		import_up(im, mark);
	}
}

static void take_version(struct import *im, const struct ynode *n)
{
	if (n->kind != YNODE_SCALAR || !sv_is(n->text, "1"))
		import_lost(im, n, "only version 1 is known; the rest is read as if it were that");
}

/* They may refuse what the rules allow. */
static void take_middlewares(struct import *im, const struct ynode *n)
{
	if (import_is_empty(n))
		return;
	import_lost(im, n, "there is no middleware; look at what it did and whether a rule can say it");
	import_close(im, n, CLOSED_NETWORK);
}

static const struct import_key root_keys[] = {
	{"version", take_version, NULL},
	{"filesystem_policy", take_filesystem, NULL},
	{"landlock", take_landlock, NULL},
	{"process", take_process, NULL},
	{"network_policies", take_network, NULL},
	{"network_middlewares", take_middlewares, NULL},
	{"inference", NULL, "its routes are named in the cluster, not here; write inference.providers"},
	{NULL, NULL, NULL},
};

void import_from_openshell(struct import *im, const struct ynode *root)
{
	import_set(&im->policy->fs.workdir, WORKDIR_NONE);
	import_map(im, root, root_keys);
	import_set(&im->policy->net.mode, im->policy->net.allow.n ? NET_ALLOWLIST : NET_NONE);
}
