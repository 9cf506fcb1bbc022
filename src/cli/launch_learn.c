#include "cli/launch_learn.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/real_path.h"
#include "base/text.h"
#include "conf/value.h"
#include "conf/value_net.h"
#include "model/address.h"
#include "policy/net_judge.h"

struct learned {
	const char *host; /* NULL: no rule can allow it */
	unsigned port;	  /* 0: nobody said; only the name was asked for */
	const char *method, *path; /* NULL: the host itself was refused */
	const char *provider, *model; /* NULL: it is no model that was refused */
	const char *remark;	   /* where host is NULL: what and why */
	unsigned refused, approved; /* how often; approved: by a person at the terminal */
};

struct learn {
	struct arena *arena;
	struct learned v[LEARN_MAX];
	size_t n;
};

struct learn *learn_new(void)
{
	struct learn *l = calloc(1, sizeof(*l));

	if (l && !(l->arena = arena_new())) {
		free(l);
		return NULL;
	}
	return l;
}

void learn_free(struct learn *l)
{
	if (!l)
		return;
	arena_free(l->arena);
	free(l);
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void remember(struct learn *l, const struct learned *e)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		if (same(l->v[i].host, e->host) && l->v[i].port == e->port && same(l->v[i].method, e->method) &&
		    same(l->v[i].path, e->path) && same(l->v[i].remark, e->remark)) {
			l->v[i].refused += e->refused;
			l->v[i].approved += e->approved;
			return;
		}
	}
	if (l->n == LEARN_MAX)
		return;
	l->v[l->n++] = *e;
}

/* Digits up to the end; what is no port is 0. */
static unsigned port_of(struct sv s)
{
	unsigned port = 0;
	size_t i;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || port > UINT16_MAX)
			return 0;
		port = port * 10 + (unsigned)(s.p[i] - '0');
	}
	return port <= UINT16_MAX ? port : 0;
}

/* "host", "host:port", "[v6]:port". */
static void split_port(struct arena *a, struct sv s, unsigned otherwise, struct learned *e)
{
	const char *colon = s.n ? memrchr(s.p, ':', s.n) : NULL;
	const char *bracket = s.n ? memchr(s.p, ']', s.n) : NULL;
	struct sv host = s;

	e->port = otherwise;
	if (colon && (!bracket || colon > bracket)) {
		host.n = (size_t)(colon - s.p);
		e->port = port_of(sv_n(colon + 1, s.n - host.n - 1));
	}
	if (bracket && host.n > 2)
		host = sv_n(host.p + 1, (size_t)(bracket - host.p - 1));
	e->host = arena_str(a, host);
}

/* NULL, or why no rule can say just this. The words are the workload's: a wildcard among them would open more than was
 * refused. */
static const char *cannot_be_rule(struct learn *l, struct learned *e)
{
	const char *why = value_host_exact(l->arena, sv_of(e->host), &e->host);

	if (!why && e->method)
		why = value_method(l->arena, sv_of(e->method), &e->method);
	return !why && e->path ? value_url_path(l->arena, sv_of(e->path), &e->path) : why;
}

static void remember_rule(struct learn *l, struct sv subject, struct learned *e)
{
	const char *why = arena_failed(l->arena) ? NULL : cannot_be_rule(l, e);

	if (why)
		*e = (struct learned){
			.refused = e->refused,
			.approved = e->approved,
			.remark = arena_printf(l->arena, "network: %.*s: %s", (int)subject.n, subject.p, why)};
	remember(l, e);
}

/* "pypi.org:443" or "GET https://pypi.org/simple/", as model/gate.h has it. */
static void take_network(struct learn *l, struct sv subject, bool approved)
{
	const char *space = subject.n ? memchr(subject.p, ' ', subject.n) : NULL;
	struct learned e = {.refused = !approved, .approved = approved};
	struct sv url, host;
	const char *slash;

	if (!space) {
		split_port(l->arena, subject, 0, &e);
		remember_rule(l, subject, &e);
		return;
	}
	url = sv_n(space + 1, subject.n - (size_t)(space + 1 - subject.p));
	slash = memmem(url.p, url.n, "://", 3);
	if (!slash)
		return;
	host = sv_n(slash + 3, url.n - (size_t)(slash + 3 - url.p));
	slash = host.n ? memchr(host.p, '/', host.n) : NULL;
	e.method = arena_str(l->arena, sv_n(subject.p, (size_t)(space - subject.p)));
	e.path = slash ? arena_str(l->arena, sv_n(slash, host.n - (size_t)(slash - host.p))) : "/";
	if (slash)
		host.n = (size_t)(slash - host.p);
	split_port(l->arena, host, sv_starts(url, "https:") ? 443 : 80, &e);
	remember_rule(l, subject, &e);
}

/* "inference.providers NAME model MODEL", as the relay has it for a model that is not in the provider's list. False: it
 * is another rule. */
static bool take_model(struct learn *l, const char *rule)
{
	static const char key[] = "inference.providers ", of[] = " model ";
	const char *name = rule && strncmp(rule, key, strlen(key)) == 0 ? rule + strlen(key) : NULL;
	const char *model = name ? strstr(name, of) : NULL;
	struct learned e = {.refused = 1};

	if (!model)
		return false;
	e.provider = arena_str(l->arena, sv_n(name, (size_t)(model - name)));
	e.model = arena_str(l->arena, sv_of(model + strlen(of)));
	e.remark = arena_printf(l->arena, "inference: model %s of provider %s", e.model, e.provider);
	/* the word is the workload's: a pattern would open more than was refused */
	if (arena_failed(l->arena) || strpbrk(e.model, "*?[]{}\\\""))
		return false;
	remember(l, &e);
	return true;
}

void learn_denied(void *learn, const struct event *e)
{
	static const char *const domains[] = {"run", "filesystem", "network", "process", "inference"};
	struct learn *l = learn;
	struct sv target = {"", 0};
	/* it would have been denied: so an answer can be kept */
	bool approved = e->kind == EVENT_NOTE && e->rule && strcmp(e->rule, "network.ask") == 0 && e->verdict &&
			strcmp(e->verdict, "allow") == 0;
	size_t i;

	if (e->kind != EVENT_DENIAL && !approved)
		return;
	for (i = 0; i < e->n_fields; i++)
		if (strcmp(e->fields[i].key, "target") == 0)
			target = e->fields[i].value;
	if (e->domain == DOMAIN_NETWORK && !(e->rule && strncmp(e->rule, "network.deny", 12) == 0)) {
		take_network(l, target, approved);
		return;
	}
	if (e->domain == DOMAIN_INFERENCE && take_model(l, e->rule))
		return;
	remember(l, &(struct learned){.refused = 1,
				      .remark = arena_printf(l->arena, "%s: %.*s%s%s%s%s",
							     domains[e->domain <= DOMAIN_INFERENCE ? e->domain : 0],
							     (int)target.n, target.p, e->rule ? ", by " : "",
							     e->rule ? e->rule : "", e->message ? ": " : "",
							     e->message ? e->message : "")});
}

/* As a YAML string in double quotes. */
static void quoted(struct buf *out, const char *s)
{
	(void)buf_char(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			(void)buf_char(out, '\\');
		if ((unsigned char)*s >= ' ' && *s != 0x7f)
			(void)buf_char(out, *s);
	}
	(void)buf_char(out, '"');
}

/* A file by its full path: what is written here may lie in another folder. */
static void put_base(struct buf *out, const struct option_value *v)
{
	AUTO_FREE char *path = strcmp(v->option->name, "policy") == 0 ? real_path(v->value, NULL) : NULL;

	quoted(out, path ? path : v->value);
}

static void put_extends(struct buf *out, const struct call *call)
{
	const struct option_value *v;
	size_t at = 0, n = 0;

	(void)buf_str(out, "extends: [");
	while ((v = call_next(call, NULL, &at))) {
		if (strcmp(v->option->name, "profile") != 0 && strcmp(v->option->name, "policy") != 0)
			continue;
		(void)buf_str(out, n++ ? ", " : "");
		put_base(out, v);
	}
	(void)buf_str(out, n ? "]\n" : "default]\n");
}

static bool is_for(const struct net_rule *r, const char *host)
{
	return r->host ? net_host_matches(r->host, sv_of(host)) : net_cidr_has(r->cidr, sv_of(host));
}

/* Does a rule look into bodies that go to this host? A further one, by method and path, would pass by what it says
 * about them. */
static bool is_looked_into(const struct policy *p, const struct learned *e)
{
	uint32_t i;

	for (i = 0; e->host && i < p->net.allow.n; i++)
		if (net_rule_has_body(&p->net.allow.v[i]) && is_for(&p->net.allow.v[i], e->host))
			return true;
	return false;
}

/* What the policy's own rules send to the host: without it, what was refused would now arrive, and be refused there.
 * NULL: nothing. */
static const char *credential_for(const struct policy *p, const char *host)
{
	const struct net_rule *r;
	uint32_t i;

	for (i = 0; i < p->net.allow.n; i++) {
		r = &p->net.allow.v[i];
		if (r->credential.s && is_for(r, host))
			return r->credential.s;
	}
	return NULL;
}

static void put_count(struct buf *out, const char *what, unsigned n)
{
	if (n)
		(void)buf_printf(out, "%s %u time%s", what, n, n == 1 ? "" : "s");
}

static void put_rule(struct buf *out, const struct learned *e, const char *credential)
{
	struct address address;

	/* a private address is opened by nothing else, so write it as a network of one */
	if (address_parse(sv_of(e->host), &address))
		(void)buf_printf(out, "    - cidr: \"%s/%d\"", e->host, address.is4 ? 32 : 128);
	else
		(void)buf_printf(out, "    - host: \"%s\"", e->host);
	(void)buf_str(out, "  # ");
	put_count(out, "allowed by a person", e->approved);
	put_count(out, e->approved ? ", refused" : "refused", e->refused);
	(void)buf_char(out, '\n');
	if (e->port)
		(void)buf_printf(out, "      ports: [%u]\n", e->port);
	if (credential) {
		(void)buf_str(out, "      credential: ");
		quoted(out, credential);
		(void)buf_char(out, '\n');
	}
	if (!e->method)
		return;
	(void)buf_printf(out, "      methods: [%s]\n      paths: [", e->method);
	quoted(out, e->path);
	(void)buf_str(out, "]\n");
}

static bool is_of(const struct learned *e, const struct provider *p)
{
	return e->model && strcmp(e->provider, p->name) == 0;
}

static bool is_taught_model(const struct policy *policy, const struct learned *e)
{
	uint32_t i;

	for (i = 0; i < policy->inference.n_providers; i++)
		if (is_of(e, &policy->inference.providers[i]))
			return true;
	return false;
}

/* Lists add up: what the provider takes already need not stand here. */
static void put_models(struct buf *out, const struct learn *l, const struct policy *policy)
{
	const struct pol_inference *inf = &policy->inference;
	const char *heading = "inference:\n  providers:\n";
	bool named;
	uint32_t k;
	size_t i;

	for (k = 0; k < inf->n_providers; k++) {
		for (i = 0, named = false; i < l->n; i++) {
			if (!is_of(&l->v[i], &inf->providers[k]))
				continue;
			if (!named) {
				(void)buf_printf(out, "%s    ", heading);
				quoted(out, inf->providers[k].name);
				(void)buf_str(out, ":\n      models:\n");
				heading = "";
				named = true;
			}
			(void)buf_str(out, "        - ");
			quoted(out, l->v[i].model);
			put_count(out, "  # refused", l->v[i].refused);
			(void)buf_char(out, '\n');
		}
	}
}

/* What no rule was written for. */
static void put_remark(struct buf *out, const struct learned *e)
{
	AUTO_BUF text = {0};

	buf_init(&text, 4096);
	if (e->host)
		(void)buf_printf(&text,
				 "network: %s%s%s, port %u%s%s: a rule for this host looks into bodies (graphql, mcp): "
				 "list there what was refused",
				 e->method ? e->method : "", e->method ? " " : "", e->host, e->port,
				 e->path ? ", " : "", e->path ? e->path : "");
	else
		(void)buf_str(&text, e->remark);
	(void)buf_str(out, "#   ");
	text_escape(out, buf_view(&text), 512);
	(void)buf_printf(out, " (%u)\n", e->refused);
}

static void put_policy(struct buf *out, const struct learn *l, const struct call *call, const struct policy *policy)
{
	bool any = false;
	size_t i;

	(void)buf_str(out, "# What the run was refused, or a person had to allow, as the smallest policy that allows "
			   "it. Look at every line before you use it: this is what the program wanted, not\n"
			   "# what it should have.\nversion: 1\n");
	put_extends(out, call);
	for (i = 0; i < l->n; i++) {
		if (!l->v[i].host || is_looked_into(policy, &l->v[i]))
			continue;
		(void)buf_str(out, any ? "" : "network:\n  mode: allowlist\n  allow:\n");
		any = true;
		put_rule(out, &l->v[i], credential_for(policy, l->v[i].host));
	}
	put_models(out, l, policy);
	any = false;
	for (i = 0; i < l->n; i++) {
		if (is_taught_model(policy, &l->v[i]))
			continue;
		if (!is_looked_into(policy, &l->v[i]) && (l->v[i].host || !l->v[i].remark))
			continue;
		(void)buf_str(out,
			      any ? "" : "\n# Also refused, and not opened by a rule that could be written here:\n");
		any = true;
		put_remark(out, &l->v[i]);
	}
	if (l->n == 0)
		(void)buf_str(out, "# Nothing was refused.\n");
}

int learn_write(const struct learn *l, const struct call *call, const struct policy *policy, const struct place *place,
		struct error *err)
{
	struct text_shown shown;
	AUTO_BUF b = {0};
	int r;

	buf_init(&b, 4 << 20);
	put_policy(&b, l, call, policy);
	r = buf_failed(&b) ? buf_failed(&b) : place_write(place, buf_view(&b));
	return r < 0 ? error_sys(err, r, "--learn: write %s", text_show(&shown, sv_of(place->name))) : 0;
}
