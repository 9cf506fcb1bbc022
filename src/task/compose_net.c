/* Networks, names and ports of a service. */
#include <stdio.h>

#include "base/text.h"
#include "task/compose_read.h"

static const struct compose_want_text alias = {compose_is_host, "a host name"};
static const struct compose_row use_rows[] = {
	{"aliases", compose_read_texts, offsetof(struct compose_network_use, aliases), &alias, NULL},
	{"priority", compose_read_pass, 0, NULL, NULL},
	{"driver_opts", NULL, 0, NULL, "is for drivers of the host"},
	{"gw_priority", NULL, 0, NULL, "there is no gateway"},
	{"interface_name", NULL, 0, NULL, "cannot be honoured on every runtime"},
	{"ipv4_address", NULL, 0, NULL, "addresses are Cordon's to give; use the service's name"},
	{"ipv6_address", NULL, 0, NULL, "addresses are Cordon's to give; use the service's name"},
	{"link_local_ips", NULL, 0, NULL, "addresses are Cordon's to give; use the service's name"},
	{"mac_address", NULL, 0, NULL, "cannot be honoured on every runtime"},
	{0},
};

/* A network by its name, which must be one of the file's, or `default`. NULL: refused. */
static struct compose_network_use *use(struct compose_reader *r, const struct ynode *n, struct compose_network_uses *to,
				       const char *name)
{
	struct compose_network_use *u;
	struct text_shown shown;
	uint32_t i;

	if (!compose_is_name(name) ||
	    !((r->networks && compose_key(r->networks, name)) || strcmp(name, "default") == 0)) {
		compose_refuse(r, n, "there is no network \"%.200s\" under networks", text_show(&shown, sv_of(name)));
		return NULL;
	}
	for (i = 0; i < to->n; i++)
		if (strcmp(to->v[i].network, name) == 0)
			return &to->v[i];
	if (!compose_has_text(&r->compose->networks, name))
		compose_add_text(r, n, &r->compose->networks, name);
	u = compose_add(r, n, to, sizeof(*u));
	if (u)
		u->network = name;
	return u;
}

void compose_read_networks(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct ynode *i;
	uint32_t index = 0;

	(void)arg;
	if (!compose_has_items(r, n, YNODE_LIST))
		return;
	for (i = n->first; i; i = i->next) {
		struct compose_network_use *u;
		const char *name;

		if (n->kind == YNODE_MAP)
			compose_enter(r, i->text);
		else
			compose_enter_item(r, index++);
		name = n->kind == YNODE_MAP ? arena_str(r->arena, i->text) : compose_scalar(r, i);
		u = name ? use(r, i, to, name) : NULL;
		if (u && n->kind == YNODE_MAP)
			compose_read_keys(r, i->value, u, use_rows);
		compose_leave(r);
	}
}

void compose_read_network_mode(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct compose_service *s = to, *other;
	const char *text = compose_scalar(r, n);

	(void)arg;
	if (!text || strcmp(text, "bridge") == 0 || strcmp(text, "default") == 0)
		return;
	if (strcmp(text, "none") == 0) {
		s->network_mode = COMPOSE_NET_NONE;
	} else if (strncmp(text, "service:", 8) == 0) {
		other = compose_other(r, n, text + 8);
		if (other == s)
			compose_refuse(r, n, "the service's own name");
		else if (other) {
			s->network_mode = COMPOSE_NET_SERVICE;
			s->network_service = text + 8;
		}
	} else {
		compose_refuse(r, n,
			       "shares a network of the host or of other containers; none, bridge and service:NAME can "
			       "be had");
	}
}

static void add_host(struct compose_reader *r, const struct ynode *n, struct compose_pairs *to, const char *name,
		     const char *address)
{
	struct compose_pair *pair;
	struct text_shown shown;
	size_t len = strlen(address);
	uint32_t i;

	if (len > 2 && address[0] == '[' && address[len - 1] == ']')
		address = arena_str(r->arena, sv_n(address + 1, len - 2));
	if (!address) {
		compose_no_memory(r, n);
	} else if (!compose_is_host(name)) {
		compose_refuse(r, n, "\"%.200s\" is not a host name", text_show(&shown, sv_of(name)));
	} else if (!compose_is_loopback(address)) {
		compose_refuse(r, n, "\"%.100s\" leads out of the sandbox; only loopback addresses can be given names",
			       text_show(&shown, sv_of(address)));
	} else {
		for (i = 0; i < to->n && strcmp(to->v[i].name, name) != 0; i++)
			;
		pair = i < to->n ? &to->v[i] : compose_add(r, n, to, sizeof(*pair));
		if (pair)
			*pair = (struct compose_pair){name, address};
	}
}

/* "name:address" or "name=address". */
static void host_of_item(struct compose_reader *r, const struct ynode *n, struct compose_pairs *to)
{
	const char *text = compose_scalar(r, n), *name;
	size_t len = text ? strcspn(text, "=:") : 0;

	if (!text)
		return;
	name = arena_str(r->arena, sv_n(text, len));
	if (!text[len] || !name)
		compose_refuse(r, n, "not NAME:ADDRESS");
	else
		add_host(r, n, to, name, text + len + 1);
}

void compose_read_hosts(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct ynode *i;
	const char *name, *address;

	(void)arg;
	if (!compose_has_items(r, n, YNODE_LIST))
		return;
	for (i = n->first; i; i = i->next) {
		if (n->kind == YNODE_LIST) {
			host_of_item(r, i, to);
			continue;
		}
		compose_enter(r, i->text);
		name = arena_str(r->arena, i->text);
		address = compose_scalar(r, i->value);
		if (name && address)
			add_host(r, i, to, name, address);
		compose_leave(r);
	}
}

enum { PORT_RANGE_MAX = 64 };

/* "80" or "8000-8010". 0, or -1. */
static int port_range(const char *s, unsigned *first, unsigned *last)
{
	const char *dash = strchr(s, '-');
	char number[2][8];
	uint64_t v[2];
	size_t n = dash ? (size_t)(dash - s) : strlen(s);

	if (n == 0 || n > 5 || (dash && strlen(dash + 1) > 5))
		return -1;
	(void)snprintf(number[0], sizeof(number[0]), "%.*s", (int)n, s);
	(void)snprintf(number[1], sizeof(number[1]), "%s", dash ? dash + 1 : number[0]);
	if (compose_value_count(number[0], &v[0]) || compose_value_count(number[1], &v[1]) || v[0] == 0 ||
	    v[1] > 65535 || v[0] > v[1])
		return -1;
	*first = (unsigned)v[0];
	*last = (unsigned)v[1];
	return *last - *first < PORT_RANGE_MAX ? 0 : -1;
}

/* "8000-8010/udp" of the service. */
static void add_ports(struct compose_reader *r, const struct ynode *n, struct compose_strings *to, const char *text)
{
	const char *slash = strchr(text, '/'), *protocol = slash ? slash + 1 : "tcp";
	const char *range = arena_str(r->arena, sv_n(text, slash ? (size_t)(slash - text) : strlen(text)));
	unsigned port, last;
	struct text_shown shown;

	if (!range || port_range(range, &port, &last) < 0 ||
	    (strcmp(protocol, "tcp") != 0 && strcmp(protocol, "udp") != 0)) {
		compose_refuse(r, n, "\"%.100s\" is not a port, or too many; write 8080 or 8080/udp",
			       text_show(&shown, sv_of(text)));
		return;
	}
	for (; port <= last; port++) {
		const char *one = arena_printf(r->arena, "%u/%s", port, protocol);

		if (!one)
			compose_no_memory(r, n);
		else if (!compose_has_text(to, one))
			compose_add_text(r, n, to, one);
	}
}

static void refuse_address(struct compose_reader *r, const struct ynode *n, const char *address)
{
	struct text_shown shown;

	compose_refuse(r, n, "publishes a port of the host on %.100s; leave the address out",
		       text_show(&shown, sv_of(address)));
}

/* What stands before the service's own port: "", "8080", "127.0.0.1:8080", "[::1]:", ... False: refused. */
static bool host_side_is_fine(struct compose_reader *r, const struct ynode *n, struct sv host)
{
	const char *text = arena_str(r->arena, host), *colon = text ? strrchr(text, ':') : NULL,
		   *port = colon ? colon + 1 : text;
	const char *address = colon ? arena_str(r->arena, sv_n(text, (size_t)(colon - text))) : "";
	unsigned first, last;

	if (!text || !address)
		return false;
	if (address[0] == '[' && sv_ends(sv_of(address), "]"))
		address = arena_str(r->arena, sv_n(address + 1, strlen(address) - 2));
	if (!address || (port[0] && port_range(port, &first, &last) < 0) || (!port[0] && !colon)) {
		compose_refuse(r, n, "not a port; write 8080 or 8080:80");
		return false;
	}
	if (colon && !compose_is_loopback(address)) {
		refuse_address(r, n, address);
		return false;
	}
	return true;
}

static void note_published(struct compose_reader *r, const struct ynode *n)
{
	compose_warn(r, n, "not published on the host; other services reach the port by the service's name");
}

static void port_of_item(struct compose_reader *r, const struct ynode *n, struct compose_strings *to)
{
	const char *text = compose_scalar(r, n), *colon = text ? strrchr(text, ':') : NULL;

	if (!text)
		return;
	if (colon) {
		if (!host_side_is_fine(r, n, sv_n(text, (size_t)(colon - text))))
			return;
		note_published(r, n);
	}
	add_ports(r, n, to, colon ? colon + 1 : text);
}

struct long_port {
	const char *target, *published, *host_ip, *protocol;
};

static const struct compose_want_text line = {compose_is_line, "text of one line"};
static const struct compose_row port_rows[] = {
	{"target", compose_read_text, offsetof(struct long_port, target), &line, NULL},
	{"published", compose_read_text, offsetof(struct long_port, published), &line, NULL},
	{"host_ip", compose_read_text, offsetof(struct long_port, host_ip), &line, NULL},
	{"protocol", compose_read_text, offsetof(struct long_port, protocol), &line, NULL},
	{"mode", compose_read_pass, 0, NULL, NULL},
	{"name", compose_read_pass, 0, NULL, NULL},
	{"app_protocol", compose_read_pass, 0, NULL, NULL},
	{0},
};

static void port_of_keys(struct compose_reader *r, const struct ynode *n, struct compose_strings *to)
{
	struct long_port p = {.target = "", .published = "", .host_ip = "", .protocol = "tcp"};
	const char *text;

	compose_keys(r, n, &p, port_rows);
	if (p.host_ip[0] && !compose_is_loopback(p.host_ip)) {
		refuse_address(r, n, p.host_ip);
		return;
	}
	if (p.published[0])
		note_published(r, n);
	text = arena_printf(r->arena, "%s/%s", p.target, p.protocol);
	if (text)
		add_ports(r, n, to, text);
}

static void each_port(struct compose_reader *r, const struct ynode *n, struct compose_strings *to, bool published)
{
	const struct ynode *item;
	const char *text;
	uint32_t i = 0;

	if (compose_is_null(n) || !compose_want(r, n, YNODE_LIST))
		return;
	for (item = n->first; item; item = item->next) {
		compose_enter_item(r, i++);
		if (published && item->kind == YNODE_MAP) {
			port_of_keys(r, item, to);
		} else if (published) {
			port_of_item(r, item, to);
		} else {
			text = compose_scalar(r, item);
			if (text)
				add_ports(r, item, to, text);
		}
		compose_leave(r);
	}
}

void compose_read_ports(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)arg;
	each_port(r, n, to, true);
}

void compose_read_expose(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)arg;
	each_port(r, n, to, false);
}

static const char *const bridge[] = {"bridge", NULL};
static const struct compose_row top_rows[] = {
	{"driver", compose_read_word, 0, bridge, NULL},
	{"internal", compose_read_flag, 0, NULL, NULL}, /* compose_internal() */
	{"external", compose_read_never, 0, "a network of the host that is not this task's", NULL},
	{"attachable", compose_read_never, 0, "lets containers that are not this task's in", NULL},
	{"name", compose_read_pass, 0, NULL, "not passed on: a network is this run's alone"},
	{"labels", compose_read_pass, 0, NULL, "not passed on: nothing inside can see it"},
	{"driver_opts", NULL, 0, NULL, "is for drivers of the host"},
	{"enable_ipv4", NULL, 0, NULL, "cannot be honoured on every runtime"},
	{"enable_ipv6", NULL, 0, NULL, "cannot be honoured on every runtime"},
	{"ipam", NULL, 0, NULL, "addresses are Cordon's to give; use the services' names"},
	{0},
};

void compose_read_top_networks(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)to;
	(void)arg;
	compose_named(r, n, "network", NULL, top_rows);
}

void compose_internal(struct compose_reader *r, const struct ynode *root)
{
	const struct compose_strings *all = &r->compose->networks;
	const struct ynode *network, *key;
	bool internal;
	uint32_t i;

	for (i = 0; r->networks && i < all->n; i++) {
		network = compose_key(r->networks, all->v[i]);
		key = network ? compose_key(network->value, "internal") : NULL;
		internal = false;
		if (key)
			compose_read_flag(r, key->value, &internal, NULL);
		if (internal)
			compose_add_text(r, root, &r->compose->internal, all->v[i]);
	}
	r->compose->internal.set = r->compose->internal.n > 0;
}
