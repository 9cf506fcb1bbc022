#include "policy/import_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "conf/value_net.h"
#include "policy/net_match.h"

size_t import_down(struct import *im, struct sv name)
{
	size_t mark = strlen(im->key);
	struct text_shown shown;
	const char *dot = mark && !(name.n && name.p[0] == '[') ? "." : "";

	(void)snprintf(im->key + mark, sizeof(im->key) - mark, "%s%s", dot, text_show(&shown, name));
	return mark;
}

void import_up(struct import *im, size_t mark)
{
	im->key[mark] = '\0';
}

__attribute__((format(printf, 4, 0))) static void note(struct import *im, enum import_loss loss, const struct ynode *n,
						       const char *format, va_list ap)
{
	struct import_note *x = arena_alloc(im->arena, sizeof(*x));
	char text[400];

	if (!x)
		return;
	(void)vsnprintf(text, sizeof(text), format, ap);
	x->loss = loss;
	x->key = arena_str(im->arena, sv_of(im->key[0] ? im->key : "(file)"));
	x->text = arena_str(im->arena, sv_of(text));
	x->line = n ? n->line : 0;
	if (!x->key || !x->text)
		return;
	*im->tail = x;
	im->tail = &x->next;
	if (loss == IMPORT_LOST)
		im->result->n_lost++;
	else
		im->result->n_changed++;
}

void import_lost(struct import *im, const struct ynode *n, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	note(im, IMPORT_LOST, n, format, ap);
	va_end(ap);
}

void import_changed(struct import *im, const struct ynode *n, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	note(im, IMPORT_CHANGED, n, format, ap);
	va_end(ap);
}

static bool is_null(const struct ynode *n)
{
	return n->kind == YNODE_SCALAR && n->plain &&
	       (n->text.n == 0 || sv_is(n->text, "null") || sv_is(n->text, "~") || sv_is(n->text, "Null"));
}

static bool is_word(const struct ynode *n, const char *a, const char *b)
{
	return n->kind == YNODE_SCALAR && (sv_is(n->text, a) || sv_is(n->text, b));
}

bool import_is_true(const struct ynode *n)
{
	return is_word(n, "true", "True") || is_word(n, "yes", "on");
}

bool import_is_empty(const struct ynode *n)
{
	if (n->kind != YNODE_SCALAR)
		return n->n == 0;
	return is_null(n) || n->text.n == 0 || is_word(n, "false", "False") || is_word(n, "no", "off");
}

const struct ynode *import_find(const struct ynode *map, const char *key)
{
	const struct ynode *k;

	if (!map || map->kind != YNODE_MAP)
		return NULL;
	for (k = map->first; k; k = k->next)
		if (sv_is(k->text, key))
			return k->value;
	return NULL;
}

bool import_is_denial(struct sv key)
{
	static const char *const words[] = {"deny",  "deni",   "block",  "forbid",   "disallow",
					    "exclu", "except", "reject", "prohibit", "restrict"};
	char lower[64];
	size_t i;

	for (i = 0; i < key.n && i < sizeof(lower) - 1; i++)
		lower[i] = (char)(key.p[i] >= 'A' && key.p[i] <= 'Z' ? key.p[i] | 0x20 : key.p[i]);
	lower[i] = '\0';
	for (i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(lower, words[i]))
			return true;
	return false;
}

/* What a key that we do not know could be about, by where it stands. */
static unsigned parts_here(const struct import *im)
{
	if (strstr(im->key, "filesystem"))
		return CLOSED_FILES;
	if (strstr(im->key, "network"))
		return CLOSED_NETWORK;
	if (strstr(im->key, "process"))
		return CLOSED_PROGRAMS;
	return CLOSED_FILES | CLOSED_NETWORK | CLOSED_PROGRAMS;
}

void import_close(struct import *im, const struct ynode *n, unsigned parts)
{
	import_lost(im, n, "what it closed cannot be told, so the policy opens%s%s%s",
		    parts & CLOSED_FILES ? " no folder" : "",
		    parts & CLOSED_NETWORK ? (parts & CLOSED_FILES ? ", no host" : " no host") : "",
		    parts & CLOSED_PROGRAMS ? (parts & (CLOSED_FILES | CLOSED_NETWORK) ? ", no program" : " no program")
					    : "");
	im->closed |= parts;
}

/* What was listed, and opens nothing where the network is closed. */
static void name_lost_hosts(struct import *im, const struct net_rules *rules)
{
	size_t mark = import_down(im, sv_of("network"));
	struct text_shown t;
	uint32_t i;

	for (i = 0; i < rules->n; i++)
		import_lost(im, NULL, "%s is left out: the policy opens no host",
			    text_show(&t, sv_of(rules->v[i].host ? rules->v[i].host : rules->v[i].cidr)));
	import_up(im, mark);
}

void import_settle(struct import *im)
{
	struct policy *p = im->policy;

	if (im->closed & CLOSED_FILES)
		p->fs.read = p->fs.write = (struct pol_list){0};
	if (im->closed & CLOSED_FILES || im->no_workdir)
		import_set(&p->fs.workdir, WORKDIR_NONE);
	if (im->closed & CLOSED_NETWORK) {
		name_lost_hosts(im, &p->net.allow);
		p->net.allow = (struct net_rules){0};
		import_set(&p->net.mode, NET_NONE);
	}
	if (im->closed & CLOSED_PROGRAMS) {
		/* an empty list would mean any */
		p->process.allow_exec = (struct pol_list){0};
		import_text(im, &p->process.allow_exec, "/dev/null");
	}
}

static void take_key(struct import *im, const struct ynode *k, const struct import_key *table)
{
	const struct import_key *row = table;

	while (row->name && !sv_is(k->text, row->name))
		row++;
	if (!row->name) {
		import_lost(im, k, "unknown key");
		if (import_is_denial(k->text) && !import_is_empty(k->value))
			import_close(im, k, parts_here(im));
	}
	else if (row->take && !is_null(k->value))
		row->take(im, k->value);
	else if (!row->take && row->lost && !import_is_empty(k->value))
		import_lost(im, k, "%s", row->lost);
}

void import_map(struct import *im, const struct ynode *n, const struct import_key *table)
{
	const struct ynode *k;
	size_t mark;

	if (n->kind != YNODE_MAP) {
		import_lost(im, n, "is %s where a mapping belongs", ynode_what(n));
		return;
	}
	for (k = n->first; k; k = k->next) {
		mark = import_down(im, k->text);
		take_key(im, k, table);
		import_up(im, mark);
	}
}

void import_block(struct import *im, const struct ynode *n, const struct import_key *table, unsigned parts)
{
	import_map(im, n, table);
	if (n->kind != YNODE_MAP && !import_is_empty(n))
		import_close(im, n, parts);
}

void import_denials(struct import *im, const struct ynode *n, import_fn *take, unsigned parts)
{
	if (!import_is_empty(n))
		import_list(im, n, take);
	if (n->kind != YNODE_LIST && !import_is_empty(n))
		import_close(im, n, parts);
}

void import_list(struct import *im, const struct ynode *n, import_fn *take)
{
	const struct ynode *item;
	unsigned i = 0;
	char index[16];
	size_t mark;

	if (n->kind != YNODE_LIST) {
		import_lost(im, n, "is %s where a list belongs", ynode_what(n));
		return;
	}
	for (item = n->first; item; item = item->next) {
		(void)snprintf(index, sizeof(index), "[%u]", i++);
		mark = import_down(im, sv_of(index));
		take(im, item);
		import_up(im, mark);
	}
}

void import_set(struct pol_num *to, uint64_t v)
{
	*to = (struct pol_num){.v = v, .set = true};
}

void import_num(struct import *im, const struct ynode *n, const char *(*parse)(struct sv, uint64_t *),
		struct pol_num *to)
{
	struct text_shown shown;
	const char *wrong;
	uint64_t v;

	if (n->kind != YNODE_SCALAR) {
		import_lost(im, n, "is %s where a single value belongs", ynode_what(n));
		return;
	}
	wrong = parse(n->text, &v);
	if (wrong)
		import_lost(im, n, "%s %s", text_show(&shown, n->text), wrong);
	else
		import_set(to, v);
}

void import_text(struct import *im, struct pol_list *to, const char *s)
{
	struct pol_str *v;
	uint32_t i;

	if (!s)
		return; /* the arena says so at the end */
	for (i = 0; i < to->n; i++)
		if (strcmp(to->v[i].s, s) == 0)
			return;
	v = arena_array(im->arena, to->n + 1, sizeof(*v));
	if (!v)
		return;
	if (to->n)
		memcpy(v, to->v, to->n * sizeof(*v));
	v[to->n] = (struct pol_str){.s = s};
	*to = (struct pol_list){v, to->n + 1, true};
}

void import_pair(struct import *im, struct pol_pairs *to, const char *key, const char *value)
{
	struct pol_pair *v = arena_array(im->arena, to->n + 1, sizeof(*v));

	if (!v)
		return;
	if (to->n)
		memcpy(v, to->v, to->n * sizeof(*v));
	v[to->n] = (struct pol_pair){.key = key, .value = value};
	*to = (struct pol_pairs){v, to->n + 1, true};
}

const char *import_plain_path(struct import *im, struct sv s)
{
	char *out = arena_alloc(im->arena, s.n + 2);
	size_t at, end, n = 0;

	if (!out)
		return NULL;
	if (s.n && s.p[0] == '/')
		out[n++] = '/';
	for (at = 0; at < s.n; at = end + 1) {
		for (end = at; end < s.n && s.p[end] != '/'; end++)
			;
		if (end == at || (end == at + 1 && s.p[at] == '.'))
			continue;
		if (n && out[n - 1] != '/')
			out[n++] = '/';
		memcpy(out + n, s.p + at, end - at);
		n += end - at;
	}
	if (n == 0 && s.n)
		out[n++] = '.';
	out[n] = '\0';
	return out;
}

static const char *path_of(struct import *im, const struct ynode *n, struct sv text)
{
	const char *wrong, *path, *plain = memchr(text.p, '\0', text.n) ? NULL : import_plain_path(im, text);
	struct text_shown shown;

	wrong = plain ? value_path_glob(im->arena, sv_of(plain), &path) : "is no path";
	if (wrong)
		import_lost(im, n, "%s %s", text_show(&shown, text), wrong);
	return wrong ? NULL : path;
}

const char *import_path_text(struct import *im, const struct ynode *n)
{
	if (n->kind == YNODE_SCALAR)
		return path_of(im, n, n->text);
	import_lost(im, n, "is %s where a path belongs", ynode_what(n));
	return NULL;
}

const char *import_denied_path(struct import *im, const struct ynode *n)
{
	static const char *const homes[] = {"$HOME", "${HOME}"};
	const char *path, *home;
	size_t i, k;

	if (n->kind == YNODE_SCALAR)
		for (i = 0; i < ARRAY_LEN(homes); i++) {
			k = strlen(homes[i]);
			home = sv_starts(n->text, homes[i]) && (n->text.n == k || n->text.p[k] == '/')
				       ? arena_printf(im->arena, "~%.*s", (int)(n->text.n - k), n->text.p + k)
				       : NULL;
			if (home && (path = path_of(im, n, sv_of(home))))
				return path;
		}
	path = import_path_text(im, n);
	if (!path)
		import_close(im, n, CLOSED_FILES);
	return path;
}

void import_path(struct import *im, const struct ynode *n, struct pol_list *to)
{
	const char *path = import_path_text(im, n);

	if (path)
		import_text(im, to, path);
}

struct net_rule *import_new_rule(struct import *im, struct net_rules *to)
{
	struct net_rule *v = arena_array(im->arena, to->n + 1, sizeof(*v));

	if (!v)
		return NULL;
	if (to->n)
		memcpy(v, to->v, to->n * sizeof(*v));
	*to = (struct net_rules){v, to->n + 1, true};
	return &v[to->n - 1];
}

void import_drop_rule(struct net_rules *from)
{
	from->n--;
	from->set = from->n > 0;
}

/* Loopback, and what is local to a link, as a cloud's metadata are. */
static const char *const never[] = {"127.0.0.0/8", "169.254.0.0/16", "0.0.0.0/8", "::1/128",
				    "::/128",      "fe80::/10",      NULL};

bool import_is_never(const char *cidr)
{
	size_t i;

	for (i = 0; never[i] && !net_cidr_covers(never[i], cidr); i++)
		;
	return never[i];
}

void import_keep_never(struct import *im, const struct ynode *item, const char *cidr)
{
	struct net_rules *deny = &im->policy->net.deny;
	struct net_rule *r;
	bool told = false;
	size_t i;
	uint32_t k;

	for (i = 0; never[i]; i++) {
		if (!net_cidr_covers(cidr, never[i]))
			continue;
		for (k = 0;
		     k < deny->n && !(deny->v[k].cidr && !deny->v[k].n_ports && strcmp(deny->v[k].cidr, never[i]) == 0);
		     k++)
			;
		if (k == deny->n && (r = import_new_rule(im, deny)))
			r->cidr = never[i];
		told = true;
	}
	if (told)
		import_changed(im, item,
			       "this machine and what is local to a link, which it holds, are denied, as there");
}

struct net_rule *import_rule(struct import *im, const struct ynode *n, struct sv host, struct net_rules *to)
{
	struct text_shown shown;
	const char *text, *cidr = NULL, *wrong = value_host(im->arena, host, &text);
	struct net_rule *r;

	if (wrong) {
		import_lost(im, n, "%s %s", text_show(&shown, host), wrong);
		return NULL;
	}
	if (net_host_class(sv_of(text)) == HOST_PRIVATE) {
		const char *net = arena_printf(im->arena, "%s/%d", text, strchr(text, ':') ? 128 : 32);

		if (!net || value_cidr(im->arena, sv_of(net), &cidr) ||
		    (to == &im->policy->net.allow && import_is_never(cidr))) {
			import_lost(
				im, n,
				"%s is this machine itself or a cloud's metadata; a sandbox has a loopback of its own",
				text_show(&shown, host));
			return NULL;
		}
	}
	r = import_new_rule(im, to);
	if (r && cidr)
		r->cidr = cidr;
	else if (r)
		r->host = text;
	return r;
}

void import_port(struct import *im, struct net_rule *r, uint16_t port)
{
	uint16_t *v = arena_array(im->arena, r->n_ports + 1, sizeof(*v));

	if (!v)
		return;
	if (r->n_ports)
		memcpy(v, r->ports, r->n_ports * sizeof(*v));
	v[r->n_ports] = port;
	r->ports = v;
	r->n_ports++;
}

struct net_rule *import_host_port(struct import *im, const struct ynode *n, struct net_rules *to)
{
	struct text_shown shown;
	struct sv host, port;
	struct net_rule *r;
	uint64_t number = 0;

	if (n->kind != YNODE_SCALAR || !value_split_port(n->text, &host, &port) ||
	    (port.n && value_port(port, &number))) {
		import_lost(im, n, "%s is no host or host:port",
			    n->kind == YNODE_SCALAR ? text_show(&shown, n->text) : "this");
		return NULL;
	}
	r = import_rule(im, n, host, to);
	if (r && number)
		import_port(im, r, (uint16_t)number);
	return r;
}
