#include "gate/relay/generation.h"

#include <errno.h>

#include "base/cleanup.h"
#include "policy/net_rules.h"
#include "policy/policy_codec.h"

/* The supervisor gives one memfd to several roles: the offset that they share is not ours to move. */
static int read_all(int fd, struct buf *out)
{
	char chunk[16384];
	ssize_t n;

	while ((n = pread(fd, chunk, sizeof(chunk), (off_t)out->n)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (buf_add(out, chunk, (size_t)n) < 0)
			return buf_failed(out);
	}
	return 0;
}

int relay_generation_read(int fd, uint64_t number, struct generation **ret, struct error *err)
{
	struct generation *g;
	AUTO_BUF bytes = {0};
	int r;

	buf_init(&bytes, POLICY_CODEC_MAX);
	r = read_all(fd, &bytes);
	if (r < 0)
		return error_sys(err, r, "reading the policy");
	g = calloc(1, sizeof(*g));
	if (!g)
		return error_sys(err, ENOMEM, "policy");
	g->users = 1;
	g->number = number;
	r = policy_decode(buf_view(&bytes), &g->policy);
	if (r == 0)
		g->rules = net_rules_new(g->policy);
	if (!g->rules) {
		relay_generation_unref(g);
		return error_sys(err, r < 0 ? r : ENOMEM, "decoding the policy");
	}
	*ret = g;
	return 0;
}

struct generation *relay_generation_ref(struct generation *g)
{
	g->users++;
	return g;
}

void relay_generation_unref(struct generation *g)
{
	if (!g || --g->users > 0)
		return;
	net_rules_free(g->rules);
	if (g->policy)
		policy_free(g->policy);
	free(g);
}
