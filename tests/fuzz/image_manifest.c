/*
 * The JSON of images: what the parsers answer is decoded, and what is decoded keeps its promises. The same bytes are
 * also taken for an answer, as a parser that was taken over could give it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "fuzz.h"
#include "image/config.h"
#include "image/manifest.h"

static void check_digest(const char *s)
{
	if (!image_is_digest(sv_of(s)))
		abort();
}

static void check_list(const char *const *v)
{
	for (; v && *v; v++)
		if (!image_text_ok(sv_of(*v)))
			abort();
}

static void decode(struct sv answer)
{
	struct arena *a = arena_new();
	struct manifest_config c;
	struct manifest_saved *saved;
	struct manifest m;
	size_t i, n;

	if (!a)
		return;
	if (manifest_decode(answer, a, &m) == 0) {
		for (i = 0; i < m.n; i++)
			check_digest(m.entries[i].digest);
		if (!m.is_index)
			check_digest(m.config.digest);
	}
	if (manifest_decode_saved(answer, a, &saved, &n) == 0)
		for (i = 0; i < n; i++)
			if (saved[i].config[0] == '/' || strstr(saved[i].config, ".."  "/") == saved[i].config)
				abort();
	if (manifest_decode_config(answer, a, &c) == 0) {
		for (i = 0; i < c.n_layers; i++)
			check_digest(c.layers[i]);
		check_list(c.config.env);
		check_list(c.config.command);
		check_list(c.config.entrypoint);
		for (i = 0; c.config.env[i]; i++)
			if (!strchr(c.config.env[i], '='))
				abort();
		if (c.config.workdir[0] != '/')
			abort();
	}
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static int (*const parsers[])(struct sv, struct buf *, struct error *) = {manifest_parse, manifest_parse_saved,
										  manifest_parse_config};
	struct sv in = sv_n((const char *)bytes, n);
	size_t i;

	decode(in);
	for (i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++) {
		struct error err = {0};
		AUTO_BUF out = {0};

		buf_init(&out, 2 * MANIFEST_MAX);
		if (parsers[i](in, &out, &err) == 0 && !buf_failed(&out))
			decode(buf_view(&out));
	}
	return 0;
}
