/*
 * policy_world: policies drawn at random, two of which are held against each other over every question of a small
 * world.
 */
#ifndef CORDON_TESTS_POLICY_WORLD_H
#define CORDON_TESTS_POLICY_WORLD_H

#include <stdarg.h>

#include "check.h"
#include "policy/net_rules.h"
#include "policy/policy_diff.h"
#include "policy_memory.h"

#define WORK "/home/u/w"

enum { TEXT = 4096 };

/* A small generator: the same cases on every machine. */
static uint32_t seed;

static inline uint32_t pick(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

#define ANY_OF(list) (list)[pick(sizeof(list) / sizeof((list)[0]))]

static inline void put(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static inline void put(char *out, size_t size, const char *format, ...)
{
	size_t n = strlen(out);
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(out + n, size - n, format, ap);
	va_end(ap);
}

#define DRAWN_METHODS "LIST", "GET", "LIST, GET", "GET, POST"
#define DRAWN_PATHS   "/x", "/x/**", "/x/y", "/**", "/*/y"

static inline void random_list(char *out, const char *key, const char *const *from, uint32_t n, uint32_t most)
{
	uint32_t i, count = pick(most + 1);

	put(out, TEXT, "  %s: [", key);
	for (i = 0; i < count; i++)
		put(out, TEXT, "%s\"%s\"", i ? ", " : "", from[pick(n)]);
	put(out, TEXT, "]\n");
}

#define RANDOM_LIST(out, key, from, most) random_list(out, key, from, sizeof(from) / sizeof((from)[0]), most)

struct side {
	struct policy *p;
	struct ruleset *rules;
};

static inline struct side side_of(struct policy *p)
{
	struct side s = {p, p ? net_rules_new(p) : NULL};

	return s;
}

static inline void side_done(struct side *s)
{
	net_rules_free(s->rules);
	policy_free(s->p);
}

static inline bool files_within(const struct policy *inner, const struct policy *outer, const char *workdir)
{
	static const char *const paths[] = {
		"/srv",         "/srv/a",        "/srv/a/b",        "/srv/a/b/c",  "/srv/k",
		"/srv/z/b",     "/opt",          "/opt/x",          "/opt/x/y",    "/opt/sub",
		"/home/u/w",    "/home/u/w/sub", "/home/u/w/sub/f", "/home/u/w/k", "/home/u/w/.env",
		"/home/u/.env", "/home/u",       "/home/u/z",       "/home/u/k",   "/usr/share/.env",
		"/usr/share/k", "/usr/bin/git",  "/tmp/k",          "/data",       "/nowhere"};
	struct reason in, out;
	unsigned i;

	for (i = 0; i < 2 * sizeof(paths) / sizeof(paths[0]); i++) {
		policy_query_path(inner, workdir, paths[i / 2], i % 2 ? FS_WRITE : FS_READ, &in);
		policy_query_path(outer, workdir, paths[i / 2], i % 2 ? FS_WRITE : FS_READ, &out);
		/* what only leads to something has nothing of the host's */
		if (in.answer == ANSWER_DENY || out.answer == ANSWER_ALLOW || strstr(in.text, "of the sandbox itself"))
			continue;
		printf("# in %s: %s %s: %s\n", workdir, i % 2 ? "write" : "read", paths[i / 2], out.text);
		return false;
	}
	return true;
}

static inline uint32_t more_at(const struct policy *a, const struct policy *b, bool any)
{
	struct policy_diff_result r;
	struct buf out;

	buf_init(&out, 1 << 20);
	r = policy_diff_text((struct policy_diff_side){a, "a"}, (struct policy_diff_side){b, "b"},
			     (struct policy_diff_place){WORK, any}, &out);
	CHECK(!buf_failed(&out));
	buf_done(&out);
	return r.more;
}

#endif
