#include "sandbox/docker/image.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sandbox/docker/tar.h"

enum { TAR_MAX = 32 << 20, IMPORT_MS = 60000, LIST_MS = 10000 };

int docker_image_init(struct docker_image *i, int root, struct error *err)
{
	int r;

	*i = (struct docker_image){0};
	buf_init(&i->tar, TAR_MAX);
	r = tar_places(root, &i->tar);
	if (r < 0)
		return error_sys(err, r, "the image of the sandbox's root");
	sha256_hex_of(buf_view(&i->tar), i->digest);
	(void)snprintf(i->name, sizeof(i->name), IMAGE_REPOSITORY ":%s", i->digest);
	return 0;
}

void docker_image_done(struct docker_image *i)
{
	buf_done(&i->tar);
}

/* An import answers 200 and then, line by line, how it goes; the last may say that it failed. */
static int import_failed(const struct answer *a, struct error *err)
{
	struct sv rest = buf_view(&a->body);
	struct text_shown shown;
	json_error_t at;
	json_t *line;
	int r = 0;

	while (r == 0 && rest.n && (line = json_loadb(rest.p, rest.n, JSON_DISABLE_EOF_CHECK, &at))) {
		const char *message = json_string_value(json_object_get(line, "error"));

		if (message)
			r = error_set(err, ERROR_SYSTEM, "the image of the sandbox's root: Docker Engine says: %s",
				      text_show(&shown, sv_of(message)));
		json_decref(line);
		rest = at.position > 0 && (size_t)at.position <= rest.n
			       ? sv_n(rest.p + at.position, rest.n - (size_t)at.position)
			       : sv_n(rest.p, 0);
	}
	return r;
}

struct old {
	json_int_t created;
	const char *id;
};

static int by_age(const void *a, const void *b)
{
	const struct old *x = a, *y = b;

	return (x->created > y->created) - (x->created < y->created);
}

/* The engine keeps those that a container uses. */
static void remove_image(const struct engine *e, const char *id)
{
	AUTO_FREE char *path = NULL;
	struct engine_request req = {.method = "DELETE", .timeout_ms = LIST_MS};
	AUTO_ANSWER a = {0};
	struct error ignored;

	if (strspn(id, "abcdef0123456789sh:") != strlen(id) || asprintf(&path, "/images/%s", id) < 0) {
		path = NULL;
		return;
	}
	req.path = path;
	(void)engine_call(e, &req, &a, &ignored);
}

static void tidy(const struct engine *e)
{
	const struct engine_request req = {.method = "GET",
					   .path = "/images/json?filters=%7B%22reference%22%3A%5B%22" IMAGE_REPOSITORY
						   "%22%5D%7D",
					   .timeout_ms = LIST_MS};
	AUTO_ANSWER a = {0};
	struct error ignored;
	AUTO_FREE struct old *all = NULL;
	size_t i, n = 0, total;
	json_t *list;

	if (engine_call(e, &req, &a, &ignored) < 0 || a.status != 200)
		return;
	list = json_loadb(a.body.p ? a.body.p : "", a.body.n, 0, NULL);
	total = json_array_size(list);
	if (total > IMAGE_KEPT && (all = calloc(total, sizeof(*all)))) {
		for (i = 0; i < total; i++) {
			json_t *one = json_array_get(list, i);
			const char *id = json_string_value(json_object_get(one, "Id"));

			if (id)
				all[n++] = (struct old){json_integer_value(json_object_get(one, "Created")), id};
		}
		qsort(all, n, sizeof(*all), by_age);
		for (i = 0; i + IMAGE_KEPT < n; i++)
			remove_image(e, all[i].id);
	}
	json_decref(list);
}

int docker_image_make(const struct docker_image *i, const struct engine *e, struct error *err)
{
	char path[160];
	const struct engine_request req = {.method = "POST",
					   .path = path,
					   .type = "application/x-tar",
					   .body = buf_view(&i->tar),
					   .timeout_ms = IMPORT_MS};
	AUTO_ANSWER a = {0};

	(void)snprintf(path, sizeof(path), "/images/create?fromSrc=-&repo=" IMAGE_REPOSITORY "&tag=%s", i->digest);
	if (engine_call(e, &req, &a, err) < 0)
		return -1;
	if (a.status != 200)
		return engine_refused(&a, "the image of the sandbox's root", err);
	if (import_failed(&a, err) < 0)
		return -1;
	tidy(e);
	return 0;
}
