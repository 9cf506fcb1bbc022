#include "vault/grant.h"

#include <errno.h>

#include "base/cleanup.h"
#include "wire/wire.h"

bool grant_covers(const struct grant *g, struct sv host)
{
	uint32_t i;

	for (i = 0; i < g->n_hosts; i++)
		if (credential_host_covers(g->hosts[i], host))
			return true;
	return false;
}

static int put_part(struct sv plain, void *arg)
{
	wire_put_sv(arg, plain);
	return 0;
}

int grant_encode(const struct grant *g, struct buf *out)
{
	const struct inject_form *f = &g->inject;
	const char *const texts[] = {f->name, f->before, f->after, f->user, f->region, f->service};
	size_t i;

	if (out->cap - out->n < GRANT_ENCODED_MAX)
		return -ENOSPC;
	wire_put_sv(out, sv_of(g->name));
	wire_put_u32(out, g->n_hosts);
	for (i = 0; i < g->n_hosts; i++)
		wire_put_sv(out, sv_of(g->hosts[i]));
	wire_put_u32(out, f->kind);
	for (i = 0; i < ARRAY_LEN(texts); i++)
		wire_put_sv(out, sv_of(texts[i]));
	for (i = 0; i < GRANT_PARTS; i++) {
		wire_put_sv(out, sv_of(g->placeholders[i]));
		if (!g->parts[i])
			wire_put_sv(out, sv_n("", 0));
		else if (secret_use(g->parts[i], put_part, out) < 0)
			return -ENODATA;
	}
	return buf_failed(out);
}

/* A text without NUL, in the arena. NULL marks the arena, or the reader. */
static const char *get_text(struct wire_in *in, struct arena *a)
{
	struct sv s = wire_get_sv(in);

	if (memchr(s.p, '\0', s.n))
		in->failed = true;
	return arena_str(a, s);
}

static int get_part(struct wire_in *in, struct grant *g, unsigned part)
{
	struct sv value;

	g->placeholders[part] = get_text(in, g->arena);
	value = wire_get_sv(in);
	if (value.n == 0)
		return 0;
	if (value.n > GRANT_VALUE_MAX || value.n < GRANT_VALUE_MIN || in->failed || !g->placeholders[part] ||
	    !g->placeholders[part][0])
		return -EPROTO;
	return secret_new(value, &g->parts[part]);
}

static int decode(struct wire_in *in, struct grant *g)
{
	const char **texts[] = {&g->inject.name, &g->inject.before, &g->inject.after,
				&g->inject.user, &g->inject.region, &g->inject.service};
	size_t i;
	int r;

	g->name = get_text(in, g->arena);
	g->n_hosts = wire_get_u32(in);
	if (g->n_hosts == 0 || g->n_hosts > CREDENTIAL_HOSTS_MAX)
		return -EPROTO;
	g->hosts = arena_array(g->arena, g->n_hosts, sizeof(*g->hosts));
	for (i = 0; g->hosts && i < g->n_hosts; i++)
		g->hosts[i] = get_text(in, g->arena);
	g->inject.kind = (enum inject_kind)wire_get_u32(in);
	for (i = 0; i < ARRAY_LEN(texts); i++)
		*texts[i] = get_text(in, g->arena);
	for (i = 0; i < GRANT_PARTS; i++) {
		r = get_part(in, g, (unsigned)i);
		if (r < 0)
			return r;
	}
	if (arena_failed(g->arena))
		return -ENOMEM;
	if (!wire_ok(in) || g->inject.kind > INJECT_SIGV4 || !g->parts[PART_VALUE] ||
	    (g->inject.kind == INJECT_SIGV4 && !g->parts[PART_KEY_ID]))
		return -EPROTO;
	return 0;
}

int grant_decode(struct sv bytes, struct grant **ret)
{
	struct arena *a = arena_new();
	struct grant *g = a ? arena_alloc(a, sizeof(*g)) : NULL;
	struct wire_in in;
	int r;

	if (!g) {
		arena_free(a);
		return -ENOMEM;
	}
	g->arena = a;
	wire_in_init(&in, bytes);
	r = decode(&in, g);
	if (r < 0)
		grant_free(g);
	else
		*ret = g;
	return r;
}

void grant_free(struct grant *g)
{
	unsigned i;

	if (!g)
		return;
	for (i = 0; i < GRANT_PARTS; i++)
		secret_free(g->parts[i]);
	arena_free(g->arena);
}
