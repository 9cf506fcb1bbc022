#include "policy/net_carry.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"

enum { KEY_MAX = 1 << 20 };

/* A rule, by all that it says but its rate. */
struct used {
	struct sv key;
	uint64_t ahead_to;
};

static int by_key(const void *a, const void *b)
{
	const struct sv *x = &((const struct used *)a)->key, *y = &((const struct used *)b)->key;
	int r = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);

	return r ? r : (x->n > y->n) - (x->n < y->n);
}

/* With a zero behind each, and one more behind the last: no two lists look alike. */
static void put_list(struct buf *out, const struct pol_list *l)
{
	uint32_t i;

	(void)buf_char(out, l->set ? 's' : '-');
	for (i = 0; i < l->n; i++)
		(void)buf_add(out, l->v[i].s, strlen(l->v[i].s) + 1);
	(void)buf_char(out, '\0');
}

static struct sv key_of(struct arena *a, const struct net_rule *r, struct buf *room)
{
	const char *name = r->cidr ? r->cidr : r->host;

	buf_clear(room);
	(void)buf_char(room, r->cidr ? 'c' : 'h');
	(void)buf_add(room, name, strlen(name) + 1);
	(void)buf_add(room, &r->n_ports, sizeof(r->n_ports));
	if (r->n_ports)
		(void)buf_add(room, r->ports, r->n_ports * sizeof(*r->ports));
	put_list(room, &r->methods);
	put_list(room, &r->paths);
	put_list(room, &r->graphql.types);
	put_list(room, &r->graphql.operations);
	put_list(room, &r->mcp.tools);
	put_list(room, &r->mcp.methods);
	return sv_n(arena_str(a, buf_view(room)), room->n);
}

/* Of rules that say the same, one: what is furthest ahead. How many are left. */
static uint32_t join(struct used *v, uint32_t n)
{
	uint32_t i, kept = 0;

	for (i = 0; i < n; i++) {
		if (kept == 0 || by_key(&v[kept - 1], &v[i]) != 0)
			v[kept++] = v[i];
		else if (v[kept - 1].ahead_to < v[i].ahead_to)
			v[kept - 1].ahead_to = v[i].ahead_to;
	}
	return kept;
}

static struct used *list(struct arena *a, const struct ruleset *rules, const struct net_budget *budgets,
			 struct buf *room, uint32_t *ret)
{
	const struct net_rules *allow = &net_rules_policy(rules)->net.allow;
	struct used *v = arena_array(a, (size_t)allow->n + 1, sizeof(*v));
	uint32_t i, n = 0;

	for (i = 0; v && i < allow->n; i++)
		if (allow->v[i].rate.set)
			v[n++] = (struct used){key_of(a, &allow->v[i], room),
					       budgets[net_rules_budget(rules, i)].ahead_to};
	if (!v || arena_failed(a) || buf_failed(room) < 0)
		return NULL;
	qsort(v, n, sizeof(*v), by_key);
	*ret = join(v, n);
	return v;
}

/* No longer than for what one request costs at its rate. */
static uint64_t at_most(uint64_t ahead_to, uint64_t per_hour, uint64_t now)
{
	const uint64_t second = UINT64_C(1000000000), cost = 3600 * second / per_hour,
		       limit = now + (cost > second ? cost : second);

	return ahead_to < limit ? ahead_to : limit;
}

static bool carry(struct arena *a, const struct used *v, uint32_t n, const struct ruleset *to, struct net_budget *ret,
		  uint64_t now, struct buf *room)
{
	const struct net_rules *allow = &net_rules_policy(to)->net.allow;
	const struct used *old;
	struct used one;
	uint32_t i;

	for (i = 0; i < allow->n; i++) {
		const struct net_rule *r = &allow->v[i];
		struct net_budget *b;

		if (!r->rate.set)
			continue;
		one.key = key_of(a, r, room);
		if (arena_failed(a) || buf_failed(room) < 0)
			return false;
		old = bsearch(&one, v, n, sizeof(*v), by_key);
		b = &ret[net_rules_budget(to, i)];
		if (old && at_most(old->ahead_to, r->rate.v, now) > b->ahead_to)
			b->ahead_to = at_most(old->ahead_to, r->rate.v, now);
	}
	return true;
}

bool net_carry(const struct ruleset *from, const struct net_budget *old, const struct ruleset *to,
	       struct net_budget *ret, uint64_t now)
{
	struct arena *a = arena_new();
	AUTO_BUF room = {0};
	struct used *v;
	bool done;
	uint32_t n;

	if (!a)
		return false;
	buf_init(&room, KEY_MAX);
	v = list(a, from, old, &room, &n);
	done = v && carry(a, v, n, to, ret, now, &room);
	arena_free(a);
	return done;
}
