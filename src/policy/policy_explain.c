#include "policy/policy_explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "policy/net_judge.h"
#include "policy/policy_mandatory.h"
#include "policy/parity.h"
#include "policy/policy_query.h"
#include "policy/policy_show.h"

enum { COLUMNS = 96, SENTENCE_MAX = 1 << 20 };

struct explain {
	struct buf *out;
	struct json *json; /* NULL: text */
	const char *home;  /* NULL: not known */
	struct buf line;   /* the sentence being made */
	enum runtime runtime; /* RUNTIME_AUTO: not known */
};

static void section(struct explain *e, const char *title, const char *key)
{
	if (!e->json) {
		(void)buf_printf(e->out, "%s%s\n", e->out->n ? "\n" : "", title);
		return;
	}
	json_key(e->json, key);
	json_list(e->json);
}

static void section_end(struct explain *e)
{
	if (e->json)
		json_end(e->json);
}

static void add(struct explain *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct explain *e, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	(void)buf_str(&e->line, text);
}

static void add_shown(struct explain *e, const char *s)
{
	text_escape(&e->line, sv_of(s), 200);
}

/* A pattern as a person would say it: "~" for the home, ".git/hooks" for "**" + "/.git/hooks/" + "**". */
static void add_pattern(struct explain *e, const char *pattern)
{
	struct sv s = sv_of(pattern);
	size_t n = e->home ? strlen(e->home) : 0;

	if (n > 1 && s.n >= n && memcmp(s.p, e->home, n) == 0 && (s.n == n || s.p[n] == '/')) {
		(void)buf_char(&e->line, '~');
		s = sv_n(s.p + n, s.n - n);
	}
	if (sv_starts(s, "**/"))
		s = sv_n(s.p + 3, s.n - 3);
	if (sv_ends(s, "/**"))
		s.n -= 3;
	text_escape(&e->line, s, 200);
}

/* "a, b and c" */
static void add_list(struct explain *e, const struct pol_list *l, const char *and)
{
	uint32_t i;

	for (i = 0; i < l->n; i++) {
		if (i)
			(void)buf_str(&e->line, i + 1 == l->n ? and : ", ");
		add_shown(e, l->v[i].s);
	}
}

static void wrap(struct buf *out, struct sv text)
{
	size_t col = 0, n;

	while (text.n) {
		const char *space = memchr(text.p, ' ', text.n);

		n = space ? (size_t)(space - text.p) : text.n;
		if (col == 0) {
			(void)buf_str(out, "  ");
			col = 2;
		} else if (col + 1 + n > COLUMNS) {
			(void)buf_str(out, "\n    ");
			col = 4;
		} else {
			(void)buf_char(out, ' ');
			col++;
		}
		(void)buf_add(out, text.p, n);
		col += n;
		n += space ? 1 : 0;
		text = sv_n(text.p + n, text.n - n);
	}
	(void)buf_char(out, '\n');
}

static void say(struct explain *e)
{
	if (e->json)
		json_sv(e->json, buf_view(&e->line));
	else
		wrap(e->out, buf_view(&e->line));
	buf_clear(&e->line);
}

/* Where a container runtime makes the sandbox, what may be written is a copy. */
static bool is_container(const struct explain *e)
{
	return e->runtime != RUNTIME_AUTO && e->runtime != RUNTIME_NATIVE;
}

static void say_workdir(struct explain *e, const struct policy *p, const char *workdir)
{
	static const char *const modes[] = {
		[WORKDIR_NONE] = "It cannot see the work folder",
		[WORKDIR_READ_ONLY] = "It can read the work folder, but change nothing in it",
		[WORKDIR_READ_WRITE] = "It can read and write the work folder; changes are real at once",
		[WORKDIR_COPY] = "It works on a copy of the work folder; nothing changes until you run `cordon apply`",
	};

	if (is_container(e) && p->fs.workdir.v == WORKDIR_READ_WRITE)
		add(e, "It reads and writes a copy of the work folder, made at the start; its changes are brought back "
		       "when the run ends");
	else
		add(e, "%s", modes[p->fs.workdir.v]);
	if (workdir) {
		(void)buf_str(&e->line, " (");
		add_shown(e, workdir);
		(void)buf_char(&e->line, ')');
	}
	(void)buf_char(&e->line, '.');
	say(e);
}

static void say_paths(struct explain *e, const char *before, const struct pol_list *l)
{
	uint32_t i;

	if (l->n == 0)
		return;
	add(e, "%s ", before);
	for (i = 0; i < l->n; i++) {
		(void)buf_str(&e->line, i == 0 ? "" : i + 1 == l->n ? " and " : ", ");
		add_pattern(e, l->v[i].s);
	}
	add(e, l->n > 1 ? ", as far as they exist." : ", if it exists.");
	say(e);
}

/* Cordon's own folders are denied by their places; their names would tell a person nothing. */
static bool is_cordons(const struct pol_str *s)
{
	return !s->at.file && !mandatory_reason(s->s);
}

static void say_denials(struct explain *e, const struct pol_list *l)
{
	bool own = false, built_in = false;
	uint32_t i;

	add(e, is_container(e) ? "It can never see what exists of these at the start, and what it makes under such a "
				 "name is never brought back: "
			       : "Wherever they are and whenever they appear, it can never see ");
	for (i = 0; i < l->n; i++) {
		own = own || is_cordons(&l->v[i]);
		built_in = built_in || (!l->v[i].at.file && !is_cordons(&l->v[i]));
		if (is_cordons(&l->v[i]))
			continue;
		add_pattern(e, l->v[i].s);
		(void)buf_str(&e->line, ", ");
	}
	add(e, own ? "or Cordon's own settings and credentials." : "or what the mandatory rules hide.");
	if (built_in && !is_container(e))
		add(e, " (What is built in of these is not looked for in the base system.)");
	say(e);
}

static bool is_first_of_its_reason(const struct pol_list *l, uint32_t i)
{
	const char *why = mandatory_reason(l->v[i].s);
	uint32_t k;

	for (k = 0; k < i; k++)
		if (mandatory_reason(l->v[k].s) == why)
			return false;
	return true;
}

/* All of them, those with one reason in one sentence. */
static void say_protections(struct explain *e, const struct pol_list *l)
{
	uint32_t i, k;

	if (l->n == 0)
		return;
	add(e, is_container(e) ? "It can read, but never write or replace what the host might run later, in any folder "
				 "of this machine; what it makes under such a name is never brought back:"
			       : "It can read, but never write, make or replace what the host might run later, in any "
				 "folder of this machine:");
	say(e);
	for (i = 0; i < l->n; i++) {
		const char *why = mandatory_reason(l->v[i].s);

		if (!is_first_of_its_reason(l, i))
			continue;
		for (k = i; k < l->n; k++) {
			if (mandatory_reason(l->v[k].s) != why)
				continue;
			(void)buf_str(&e->line, k == i ? "- " : ", ");
			add_pattern(e, l->v[k].s);
		}
		add(e, ": %s.", why ? why : "the policy says so");
		say(e);
	}
}

/* A rule shows all of it; then it is none of the sandbox's own. */
static bool shows_home(const struct explain *e, const struct pol_list *l)
{
	uint32_t i;

	for (i = 0; e->home && i < l->n; i++)
		if (policy_query_shows_all(l->v[i].s, e->home))
			return true;
	return false;
}

static void filesystem(struct explain *e, const struct policy *p, const char *workdir)
{
	const bool home = shows_home(e, &p->fs.read) || shows_home(e, &p->fs.write);
	struct policy_number n;

	section(e, "Files", "filesystem");
	say_workdir(e, p, workdir);
	say_paths(e,
		  is_container(e) ? "It can also read and write copies, brought back when the run ends, of"
				  : "It can also read and write",
		  &p->fs.write);
	say_paths(e, "It can also read, but not write,", &p->fs.read);
	add(e, "It can read the base system: /usr, /bin, /lib, and of /etc what programs need. It has %s/tmp, "
	       "/proc and "
	       "/dev of its own, empty at the start", home ? "" : "a home, ");
	if (p->fs.tmp_size.set)
		add(e, "; %s at most %s", home ? "/tmp holds" : "home and /tmp hold",
		    policy_show_number(&n, UNIT_SIZE, p->fs.tmp_size.v));
	(void)buf_char(&e->line, '.');
	say(e);
	if (home)
		add(e, "Your whole home is shown to it, with the keys and logins in it, but for what is denied.");
	else
		add(e, "It cannot see anything else of this machine: not the rest of your home, not other users, not "
		       "other "
		       "disks.");
	say(e);
	if (p->fs.deny.n)
		say_denials(e, &p->fs.deny);
	say_protections(e, &p->fs.protect);
	section_end(e);
}

static void add_calls(struct explain *e, const char *before, const struct pol_list *l)
{
	if (l->n == 0)
		return;
	(void)buf_str(&e->line, before);
	add_list(e, l, " or ");
}

static void add_rule(struct explain *e, const struct net_rule *r, bool allow)
{
	struct policy_number n;
	uint32_t i;

	if (r->host && r->host[0] == '*') {
		(void)buf_str(&e->line, "any name below ");
		add_shown(e, r->host + (r->host[1] == '.' ? 2 : 1));
	} else {
		add_shown(e, r->cidr ? r->cidr : r->host);
	}
	if (allow || r->n_ports)
		add(e, " on port ");
	if (allow && r->n_ports == 0)
		add(e, "443 or 80");
	for (i = 0; i < r->n_ports; i++)
		add(e, "%s%u", i ? " or " : "", r->ports[i]);
	if (r->methods.n) {
		add(e, ", with ");
		add_list(e, &r->methods, " or ");
		if (allow && net_method_in(&r->methods, sv_of("GET")) && !net_rule_has_body(r))
			add(e, " (by GET also websockets, which carry anything)");
	}
	if (r->paths.n) {
		add(e, ", for paths ");
		add_list(e, &r->paths, " or ");
	}
	add_calls(e, ", only GraphQL of the type ", &r->graphql.types);
	add_calls(e, r->graphql.types.n ? ", and of that " : ", only the GraphQL fields ", &r->graphql.operations);
	add_calls(e, ", only to use the MCP tools ", &r->mcp.tools);
	add_calls(e, ", only with the JSON-RPC methods ", &r->mcp.methods);
	if (r->rate.set)
		add(e, ", at most %s", policy_show_number(&n, UNIT_RATE, r->rate.v));
}

static void say_rules(struct explain *e, const struct policy *p)
{
	const struct net_rule *r;
	uint32_t i;

	for (i = 0; i < p->net.allow.n; i++) {
		r = &p->net.allow.v[i];
		add(e, "A request may go to ");
		add_rule(e, r, true);
		if (r->credential.s) {
			add(e, "; the gateway adds your credential ");
			add_shown(e, r->credential.s);
			add(e, ", which it never sees");
		}
		(void)buf_char(&e->line, '.');
		say(e);
	}
	for (i = 0; i < p->net.deny.n; i++) {
		add(e, "It cannot reach ");
		add_rule(e, &p->net.deny.v[i], false);
		/* whoever knows the address of a host needs no name, where all addresses are open */
		if (p->net.mode.v == NET_PUBLIC && !p->net.deny.v[i].cidr)
			add(e, " by that name (its addresses are open as others are, unless a cidr denies them)");
		add(e, ".");
		say(e);
	}
}

static void network(struct explain *e, const struct policy *p)
{
	static const char *const modes[] = {
		[NET_NONE] = "It has no network: it cannot reach any other machine.",
		[NET_ALLOWLIST] = "It can reach the hosts that follow, through a gateway, and no others.",
		[NET_PUBLIC] = "It can reach every public host, through a gateway, but no private or metadata address.",
	};
	struct policy_number n;

	section(e, "Network", "network");
	if (p->net.mode.v == NET_NONE && p->inference.n_providers)
		add(e, "It has no network: but for the models below, it cannot reach any other machine.");
	else
		add(e, "%s", modes[p->net.mode.v]);
	say(e);
	if (p->net.mode.v != NET_NONE) {
		say_rules(e, p);
		add(e, p->net.dns.v == DNS_NONE ? "It cannot look up names."
						: "Names that it may not reach do not resolve.");
		say(e);
		if (p->net.ask.v) {
			add(e, "Where it wants to reach another host, you are asked.");
			say(e);
		}
		if (p->net.max_bytes_out.set) {
			add(e, "It can send at most %s in all.",
			    policy_show_number(&n, UNIT_SIZE, p->net.max_bytes_out.v));
			say(e);
		}
	}
	if (p->net.loopback.set && !p->net.loopback.v) {
		add(e, "Its own processes cannot talk over loopback.");
		say(e);
	}
	section_end(e);
}

static void say_limits(struct explain *e, const struct pol_process *p)
{
	const struct {
		const struct pol_num *v;
		enum policy_unit unit;
		const char *what;
	} limits[] = {
		{&p->max_processes, UNIT_COUNT, "processes"},
		{&p->memory, UNIT_SIZE, "of memory"},
		{&p->cpus, UNIT_CPUS, "CPUs"},
		{&p->max_file_size, UNIT_SIZE, "in one file"},
	};
	struct policy_number n;
	bool any = false;
	size_t i;

	for (i = 0; i < ARRAY_LEN(limits); i++) {
		if (!limits[i].v->set || !limits[i].v->v)
			continue;
		add(e, "%s%s %s", any ? ", " : "It can use at most ",
		    policy_show_number(&n, limits[i].unit, limits[i].v->v), limits[i].what);
		any = true;
	}
	if (any) {
		(void)buf_char(&e->line, '.');
		say(e);
	}
	if (p->timeout.set && p->timeout.v)
		add(e, "After %s it is ended, with everything it started.",
		    policy_show_number(&n, UNIT_DURATION, p->timeout.v));
	else
		add(e, "It may run as long as it likes.");
	say(e);
}

static void add_categories(struct explain *e, const struct pol_pairs *c)
{
	uint32_t i;

	for (i = 0; i < c->n; i++) {
		(void)buf_str(&e->line, i ? ", " : " (");
		add_shown(e, c->v[i].key);
		(void)buf_str(&e->line, ": ");
		add_shown(e, runtime_names[runtime_of_category(c, c->v[i].key)]);
	}
	(void)buf_str(&e->line, c->n ? ")" : "");
}

static void say_difference(void *arg, const char *what, const char *how)
{
	struct explain *e = arg;

	add(e, "There, %s: ", what);
	add(e, "%s.", how);
	say(e);
}

/* Where it is known which one it will be: what the policy means there. */
static void say_differences(struct explain *e, const struct policy *p, enum runtime runtime)
{
	struct error err = {0};

	if (parity_refused(p, runtime, geteuid() == 0, &err) == 0) {
		parity_notes(p, runtime, say_difference, e);
		return;
	}
	add(e, "It would be refused there: ");
	(void)buf_str(&e->line, err.text);
	(void)buf_char(&e->line, '.');
	say(e);
}

static void say_runtime(struct explain *e, const struct policy *policy, const char *category)
{
	const struct pol_process *p = &policy->process;
	struct runtime_choice choice;
	bool open = e->runtime == RUNTIME_AUTO;

	runtime_choose(policy, NULL, category, &choice);
	if (open) {
		add(e, "It runs in Cordon's native sandbox, or in what its category asks for");
		add_categories(e, &p->categories);
	} else if (choice.v[0].runtime == RUNTIME_NATIVE) {
		add(e, "It runs in Cordon's native sandbox");
	} else {
		add(e, "It runs under %s", runtime_names[choice.v[0].runtime]);
	}
	if (choice.n > 1) {
		add(e, "; where that does not work, ");
		add_list(e, &p->fallback, ", then ");
		add(e, " may take its place");
	} else if (open || choice.v[0].runtime != RUNTIME_NATIVE) {
		add(e, "; where that does not work, it does not start");
	}
	(void)buf_char(&e->line, '.');
	say(e);
	say_differences(e, policy, open ? RUNTIME_NATIVE : choice.v[0].runtime);
}

static bool anything_goes(const struct pol_list *l)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->v[i].s, "**") == 0 || strcmp(l->v[i].s, "/**") == 0)
			return true;
	return l->n == 0 && !l->set;
}

static void say_user(struct explain *e, const struct pol_process *p)
{
	struct policy_number n;

	if (e->runtime == RUNTIME_GVISOR && geteuid() != 0)
		add(e, "Inside, its user id is 0, without privileges.");
	else if (e->runtime == RUNTIME_DOCKER)
		add(e, "Inside, its user id is one that Cordon chooses, without privileges.");
	else if (p->user.set)
		add(e, "Inside, its user id is %s.", policy_show_number(&n, UNIT_COUNT, p->user.v));
	else
		return;
	say(e);
}

static void processes(struct explain *e, const struct policy *p, const char *category)
{
	const struct pol_process *pr = &p->process;
	uint32_t i;

	section(e, "Processes", "process");
	if (anything_goes(&pr->allow_exec))
		add(e, "It can execute whatever it can see");
	else if (pr->allow_exec.n == 0)
		add(e, "It can execute nothing");
	else {
		add(e, "It can execute only ");
		add_list(e, &pr->allow_exec, " and ");
	}
	if (pr->deny_exec.n) {
		add(e, ", but never ");
		add_list(e, &pr->deny_exec, " or ");
	}
	(void)buf_char(&e->line, '.');
	say(e);
	add(e, "It cannot see or signal any process outside, and has no privilege on this machine.");
	say(e);
	say_user(e, pr);
	say_limits(e, pr);
	say_runtime(e, p, category);
	if (pr->env_pass.n == 0)
		add(e, "No variable of your environment goes in");
	else {
		add(e, "Of your environment only ");
		add_list(e, &pr->env_pass, " and ");
		add(e, " can go in");
	}
	for (i = 0; i < pr->env_set.n; i++) {
		(void)buf_str(&e->line, i ? ", " : "; set are ");
		add_shown(e, pr->env_set.v[i].key);
	}
	(void)buf_char(&e->line, '.');
	say(e);
	section_end(e);
}

static void say_provider(struct explain *e, const struct provider *pr)
{
	struct policy_number n;

	add(e, "It can use ");
	if (pr->models.n)
		add_list(e, &pr->models, " and ");
	else
		add(e, pr->models.set ? "no model" : "any model");
	add(e, " of ");
	add_shown(e, pr->name);
	if (pr->url.s) {
		add(e, " at ");
		add_shown(e, pr->url.s);
	}
	if (pr->credential.s) {
		add(e, ", with your credential ");
		add_shown(e, pr->credential.s);
		add(e, ", which stays outside");
	}
	if (pr->max_requests.set)
		add(e, "; at most %s requests", policy_show_number(&n, UNIT_COUNT, pr->max_requests.v));
	if (pr->max_output_tokens.set)
		add(e, "; at most %s output tokens", policy_show_number(&n, UNIT_COUNT, pr->max_output_tokens.v));
	add(e, pr->server_tools.v == SERVER_TOOLS_ALLOW
		       ? "; the provider may search the web and run tools for it, which is a way out"
		       : "; tools that the provider would run for it (web search, code, connectors) are refused");
	(void)buf_char(&e->line, '.');
	say(e);
}

static bool has_provider(const struct pol_inference *inf, const char *name)
{
	uint32_t i;

	for (i = 0; i < inf->n_providers; i++)
		if (strcmp(inf->providers[i].name, name) == 0)
			return true;
	return false;
}

static void inference(struct explain *e, const struct policy *p)
{
	const struct pol_inference *inf = &p->inference;
	uint32_t i;

	section(e, "Models", "inference");
	if (inf->n_providers == 0) {
		add(e, "It has no access to any model.");
		say(e);
	}
	for (i = 0; i < inf->n_providers; i++)
		say_provider(e, &inf->providers[i]);
	for (i = 0; i < inf->n_routes; i++) {
		add(e, "Requests for ");
		add_shown(e, inf->routes[i].model);
		add(e, " go to ");
		add_shown(e, inf->routes[i].provider);
		add(e, has_provider(inf, inf->routes[i].provider) ? "." : ", which is not there: they are refused.");
		say(e);
	}
	section_end(e);
}

static enum runtime known_runtime(const struct policy *p, const char *category)
{
	struct runtime_choice choice;

	runtime_choose(p, NULL, category, &choice);
	return p->process.runtime.v == RUNTIME_AUTO && !category ? RUNTIME_AUTO : choice.v[0].runtime;
}

void policy_explain(const struct policy *p, const char *workdir, const char *home, const char *category, bool as_json,
		    struct buf *out)
{
	struct json j;
	struct explain e = {.out = out, .json = as_json ? &j : NULL, .home = home};

	e.runtime = known_runtime(p, category);
	buf_init(&e.line, SENTENCE_MAX);
	json_init(&j, out);
	if (as_json)
		json_open(&j);
	filesystem(&e, p, workdir);
	network(&e, p);
	processes(&e, p, category);
	inference(&e, p);
	if (as_json) {
		json_close(&j);
		(void)buf_char(out, '\n');
	}
	if (buf_failed(&e.line) && !buf_failed(out))
		out->failed = buf_failed(&e.line);
	buf_done(&e.line);
}
