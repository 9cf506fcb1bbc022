#include "model/reach.h"

#include <string.h>

#include "base/cleanup.h"
#include "model/address.h"

/* No more ports of one rule, or of all names together, are worth a row each: any port then. */
enum { PORTS_MAX = 16 };

struct ports {
	uint16_t v[PORTS_MAX];
	unsigned n;
	bool any;
};

void reach_all(struct redirect *ret)
{
	ret->n = 0;
	ret->refuse_rest = false;
}

static void add_port(struct ports *all, uint16_t port)
{
	unsigned i;

	for (i = 0; i < all->n; i++)
		if (all->v[i] == port)
			return;
	if (all->n < PORTS_MAX)
		all->v[all->n++] = port;
	else
		all->any = true;
}

static void add_ports(struct ports *all, const struct net_rule *r)
{
	uint32_t i;

	if (r->n_ports == 0) {
		add_port(all, 443);
		add_port(all, 80);
	}
	for (i = 0; i < r->n_ports && !all->any; i++)
		add_port(all, r->ports[i]);
}

/* False: there is no room. */
static bool add_row(struct redirect *to, const struct cidr *c, uint16_t port, bool refuse)
{
	struct redirect_row *row = &to->rows[to->n];
	bool v4 = c->net.is4;

	if (to->n == REDIRECT_ROWS || (v4 && c->bits < 96))
		return false;
	*row = (struct redirect_row){
		.v6 = !v4, .refuse = refuse, .port = port, .bits = (uint8_t)(v4 ? c->bits - 96 : c->bits)};
	memcpy(row->address, c->net.b + (v4 ? 12 : 0), v4 ? 4 : 16);
	to->n++;
	return true;
}

static bool add_range(struct redirect *to, const struct cidr *c, const struct ports *ports, bool refuse)
{
	unsigned i;

	if (ports->any)
		return add_row(to, c, 0, refuse);
	for (i = 0; i < ports->n; i++)
		if (!add_row(to, c, ports->v[i], refuse))
			return false;
	return true;
}

/* The range that a rule is for. False: it is for names. */
static bool range_of(const struct net_rule *r, struct cidr *ret)
{
	return cidr_parse(sv_of(r->cidr ? r->cidr : r->host ? r->host : ""), ret);
}

/* Those that refuse whatever is said there. More ports than rows: the judge has it. */
static bool add_denied(struct redirect *to, const struct net_rules *deny)
{
	const struct net_rule *r;
	struct ports ports;
	struct cidr c;

	for (r = deny->v; r < deny->v + deny->n; r++) {
		ports = (struct ports){.any = r->n_ports == 0};
		if (r->methods.n || r->paths.n || !range_of(r, &c))
			continue;
		if (!ports.any) {
			add_ports(&ports, r);
			if (ports.any)
				continue;
		}
		if (!add_range(to, &c, &ports, true))
			return false;
	}
	return true;
}

static bool add_allowed(struct redirect *to, const struct net_rules *allow)
{
	const struct net_rule *r;
	struct ports ports;
	struct cidr c;

	for (r = allow->v; r < allow->v + allow->n; r++) {
		ports = (struct ports){0};
		add_ports(&ports, r);
		if (range_of(r, &c) && !add_range(to, &c, &ports, false))
			return false;
	}
	return true;
}

/* Addresses that stand for names. */
static bool add_names(struct redirect *to, const struct net_rules *allow, bool any)
{
	static const char *const ranges[] = {REACH_NAMES4, REACH_NAMES6};
	struct ports ports = {.any = any};
	const struct net_rule *r;
	struct cidr c;
	size_t i;

	for (r = allow->v; r < allow->v + allow->n; r++)
		if (!range_of(r, &c))
			add_ports(&ports, r);
	for (i = 0; i < ARRAY_LEN(ranges); i++)
		if (cidr_parse(sv_of(ranges[i]), &c) && !add_range(to, &c, &ports, false))
			return false;
	return true;
}

/* Where all of the internet is open, or a person may open it: all that is none of it. */
static bool add_floor(struct redirect *to)
{
	struct cidr c;
	unsigned i;

	for (i = 0; address_floor_range(i, &c); i++)
		if (!add_row(to, &c, 0, true))
			return false;
	return true;
}

void reach_of(const struct policy *p, struct redirect *ret)
{
	const struct pol_net *net = &p->net;
	bool wide = net->mode.v == NET_PUBLIC || net->ask.v;

	ret->n = 0;
	ret->refuse_rest = !wide;
	/* names first: a range that is denied or opened means what a name leads to, never the address that stands for
	 * it */
	if (!add_names(ret, &net->allow, wide) || !add_denied(ret, &net->deny) || !add_allowed(ret, &net->allow) ||
	    (wide && !add_floor(ret)))
		reach_all(ret);
}
