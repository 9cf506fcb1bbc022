#include "policy/net_index.h"

#include "base/cleanup.h"

enum key_kind { KEY_NONE, KEY_HOST, KEY_BELOW, KEY_NETWORK };

/* An address and how many of its bits count. */
enum { NETWORK_KEY = 17 };

struct entry {
	uint64_t hash;
	const char *key;
	uint32_t key_n;
	uint32_t first, n; /* in chains */
	uint8_t kind;      /* KEY_NONE: the slot is free */
};

struct net_index {
	struct arena *arena;
	struct entry *slots;
	uint64_t mask; /* slots - 1 */
	uint32_t n;    /* slots in use */
	uint32_t *chains;
	uint8_t widths[2][129]; /* prefix lengths that occur, of IPv6 and of IPv4 */
	unsigned n_widths[2];
};

/* FNV-1a over bytes from the last to the first, so that a name's endings come by on the way. */
static const uint64_t hash_start = UINT64_C(0xcbf29ce484222325);

static inline uint64_t hash_byte(uint64_t hash, char c)
{
	return (hash ^ (unsigned char)c) * UINT64_C(0x100000001b3);
}

static uint64_t hash_of(struct sv s)
{
	uint64_t hash = hash_start;

	while (s.n)
		hash = hash_byte(hash, s.p[--s.n]);
	return hash;
}

/* The entry, or the free slot where it would be. At most half of the slots are taken. */
static struct entry *slot_for(const struct net_index *x, enum key_kind kind, struct sv key, uint64_t hash)
{
	uint64_t i = (hash ^ hash >> 32) + kind;
	struct entry *e;

	for (;; i++) {
		e = &x->slots[i & x->mask];
		if (e->kind == KEY_NONE || (e->hash == hash && e->kind == kind && sv_eq(sv_n(e->key, e->key_n), key)))
			return e;
	}
}

static void network_key(const struct address *a, unsigned bits, char key[NETWORK_KEY])
{
	struct address net = address_prefix(a, bits);

	memcpy(key, net.b, sizeof(net.b));
	key[16] = (char)bits;
}

static void add_width(struct net_index *x, bool is4, unsigned bits)
{
	unsigned i;

	for (i = 0; i < x->n_widths[is4]; i++)
		if (x->widths[is4][i] == bits)
			return;
	x->widths[is4][x->n_widths[is4]++] = (uint8_t)bits;
}

/* What a rule is found by; the key is in *buf. KEY_NONE: by nothing. */
static enum key_kind key_of(struct net_index *x, const struct net_rule *r, struct net_host *buf, struct sv *ret)
{
	bool below = !r->cidr && r->host[0] == '*' && r->host[1] == '.';
	struct cidr c;

	if (r->cidr) {
		if (!cidr_parse(sv_of(r->cidr), &c))
			return KEY_NONE;
		network_key(&c.net, c.bits, buf->text);
		add_width(x, c.net.is4, c.bits);
		*ret = sv_n(buf->text, NETWORK_KEY);
		return KEY_NETWORK;
	}
	net_host_read(sv_of(r->host + (below ? 2 : 0)), buf);
	*ret = sv_n(buf->text, buf->n);
	if (buf->class == HOST_BAD)
		return KEY_NONE;
	return below ? KEY_BELOW : KEY_HOST;
}

static struct entry *add_key(struct net_index *x, const struct net_rule *r)
{
	struct net_host buf;
	struct sv key;
	enum key_kind kind = key_of(x, r, &buf, &key);
	uint64_t hash = hash_of(key);
	struct entry *e;

	if (kind == KEY_NONE)
		return NULL;
	e = slot_for(x, kind, key, hash);
	if (e->kind == KEY_NONE) {
		*e = (struct entry){hash, arena_str(x->arena, key), (uint32_t)key.n, 0, 0, (uint8_t)kind};
		x->n++;
	}
	e->n++;
	return e;
}

/* Counts the rules of each key, lays the chains out one behind the other, then fills them in the rules' order. */
static void fill(struct net_index *x, const struct net_rules *rules, struct entry **of)
{
	uint32_t i, next = 0;

	for (i = 0; i < rules->n && !arena_failed(x->arena); i++)
		of[i] = add_key(x, &rules->v[i]);
	for (i = 0; i < rules->n; i++) {
		if (!of[i])
			continue;
		/* The first time that this entry is met. */
		if (of[i]->n) {
			of[i]->first = next;
			next += of[i]->n;
			of[i]->n = 0;
		}
	}
	for (i = 0; i < rules->n; i++)
		if (of[i])
			x->chains[of[i]->first + of[i]->n++] = i;
}

struct net_index *net_index_new(const struct net_rules *rules)
{
	struct arena *a = arena_new();
	struct net_index *x = a ? arena_alloc(a, sizeof(*x)) : NULL;
	AUTO_FREE struct entry **of = calloc((size_t)rules->n + 1, sizeof(struct entry *));
	uint64_t slots = 16;

	while (slots < 2 * (uint64_t)rules->n)
		slots *= 2;
	if (x && of) {
		x->arena = a;
		x->mask = slots - 1;
		x->slots = arena_array(a, slots, sizeof(*x->slots));
		x->chains = arena_array(a, (size_t)rules->n + 1, sizeof(*x->chains));
	}
	if (!x || !of || !x->slots || !x->chains) {
		arena_free(a);
		return NULL;
	}
	fill(x, rules, of);
	if (arena_failed(a)) {
		arena_free(a);
		return NULL;
	}
	return x;
}

void net_index_free(struct net_index *x)
{
	if (x)
		arena_free(x->arena);
}

void net_index_find(const struct net_index *x, const struct net_host *host, struct net_cursor *ret)
{
	/* without keys there is nothing to find: most policies deny nothing by name */
	*ret = (struct net_cursor){.index = x, .host = host, .at = x->n ? host->n : 0, .hash = hash_start};
}

static bool chain_of(const struct net_index *x, enum key_kind kind, struct sv key, uint64_t hash, struct net_chain *ret)
{
	const struct entry *e = slot_for(x, kind, key, hash);

	if (e->kind == KEY_NONE)
		return false;
	*ret = (struct net_chain){x->chains + e->first, e->n};
	return true;
}

/* By each name that the host stands below, the widest first, and at last by its own. */
static bool next_name(struct net_cursor *c, struct net_chain *ret)
{
	const struct net_host *h = c->host;
	uint64_t hash;
	bool found;

	while (c->at > 0) {
		char before = h->text[c->at - 1];

		hash = c->hash;
		c->hash = hash_byte(hash, before);
		c->at--;
		found = before == '.' && !h->is_address &&
			chain_of(c->index, KEY_BELOW, sv_n(h->text + c->at + 1, h->n - c->at - 1), hash, ret);
		if (found)
			return true;
		if (c->at == 0 && chain_of(c->index, KEY_HOST, sv_n(h->text, h->n), c->hash, ret))
			return true;
	}
	return false;
}

static bool next_network(struct net_cursor *c, struct net_chain *ret)
{
	const struct net_index *x = c->index;
	const struct address *a = &c->host->address;
	char key[NETWORK_KEY];

	while (c->host->is_address && c->width < x->n_widths[a->is4]) {
		network_key(a, x->widths[a->is4][c->width++], key);
		if (chain_of(x, KEY_NETWORK, sv_n(key, sizeof(key)), hash_of(sv_n(key, sizeof(key))), ret))
			return true;
	}
	return false;
}

bool net_index_next(struct net_cursor *c, struct net_chain *ret)
{
	return next_name(c, ret) || next_network(c, ret);
}
