#include "task/compose_sweep.h"

#include <ctype.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

enum { ASK_MS = 10000, ROUNDS = 3 };

/* {"label":["com.docker.compose.project=NAME"]}, encoded for an address. */
#define LABELLED "filters=%7B%22label%22%3A%5B%22com.docker.compose.project%3D"
#define LABELLED_END "%22%5D%7D"

/* {"reference":["NAME"]} */
#define REFERENCE "filters=%7B%22reference%22%3A%5B%22"

static const struct kind {
	const char *what;
	const char *list;   /* up to the project's name */
	const char *field;  /* of the answer that holds the list; NULL: the answer is it */
	const char *id;	    /* of an item */
	const char *remove; /* up to the item's id, and behind it */
	const char *remove_end;
} kinds[] = {
	{"containers", "/containers/json?all=1&" LABELLED, NULL, "Id", "/containers/", "?force=1&v=1"},
	{"networks", "/networks?" LABELLED, NULL, "Id", "/networks/", ""},
	{"volumes", "/volumes?" LABELLED, "Volumes", "Name", "/volumes/", "?force=1"},
};

/* The repository takes the project's place. */
static const struct kind images = {"images", "/images/json?" REFERENCE, NULL, NULL, "/images/", "?noprune=1"};

/* What the engine lists. NULL: err is set. */
static json_t *list(const struct engine *e, const struct kind *k, const char *project, struct error *err)
{
	struct engine_request req = {.method = "GET", .timeout_ms = ASK_MS};
	AUTO_ANSWER a = {0};
	char path[512];
	json_t *all, *items;
	bool there;

	(void)snprintf(path, sizeof(path), "%s%s%s", k->list, project, LABELLED_END);
	req.path = path;
	if (engine_call(e, &req, &a, err) < 0)
		return NULL;
	if (a.status != 200) {
		(void)engine_refused(&a, "listing what a project has", err);
		return NULL;
	}
	all = json_loadb(buf_view(&a.body).p, a.body.n, 0, NULL);
	there = json_is_object(all);
	items = json_incref(k->field ? json_object_get(all, k->field) : all);
	json_decref(all);
	if (json_is_array(items))
		return items;
	json_decref(items);
	if (k->field && there)
		return json_array(); /* null, where there is none */
	(void)error_set(err, ERROR_SYSTEM, "Docker Engine's list of %s is malformed", k->what);
	return NULL;
}

/* Ids are hexadecimal, names of volumes are Compose's: nothing that would need encoding. */
static bool is_plain(const char *id)
{
	size_t i;

	for (i = 0; id[i]; i++)
		if (!isalnum((unsigned char)id[i]) && !strchr("_.-", id[i]))
			return false;
	return i > 0 && i <= 255;
}

static void remove_by_id(const struct engine *e, const struct kind *k, const char *id, int timeout_ms)
{
	struct engine_request req = {.method = "DELETE", .timeout_ms = timeout_ms};
	struct error ignored = {0};
	AUTO_ANSWER a = {0};
	char path[512];

	(void)snprintf(path, sizeof(path), "%s%s%s", k->remove, id, k->remove_end);
	req.path = path;
	(void)engine_call(e, &req, &a, &ignored); /* whether it is gone is seen afterwards */
}

static void remove_item(const struct engine *e, const struct kind *k, const char *id, int timeout_ms)
{
	if (id && is_plain(id))
		remove_by_id(e, k, id, timeout_ms);
}

/* How many there are, after trying to remove them; or -1. */
static int sweep_kind(const struct engine *e, const struct kind *k, const char *project, int timeout_ms,
		      struct error *err)
{
	size_t i, n = 1;
	unsigned round;

	for (round = 0; round < ROUNDS && n; round++) {
		json_t *items = list(e, k, project, err), *item;

		if (!items)
			return -1;
		n = json_array_size(items);
		json_array_foreach(items, i, item)
			remove_item(e, k, json_string_value(json_object_get(item, k->id)), timeout_ms);
		json_decref(items);
	}
	return n == 0 ? 0
		      : error_set(err, ERROR_SYSTEM,
				  "Docker Engine still has %s of the project %s; remove them by hand", k->what,
				  project);
}

int compose_sweep(const struct engine *e, const char *project, int timeout_ms, struct error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_LEN(kinds); i++)
		if (sweep_kind(e, &kinds[i], project, timeout_ms, err) < 0)
			r = -1;
	return r;
}

static void name_service(const json_t *item, char ret[64])
{
	const char *name =
		json_string_value(json_object_get(json_object_get(item, "Labels"), "com.docker.compose.service"));
	struct text_shown t;

	(void)snprintf(ret, 64, "%.63s", text_show(&t, sv_of(name ? name : "a service")));
}

int compose_sweep_health(const struct engine *e, const char *project, struct compose_health_count *ret,
			 struct error *err)
{
	json_t *items = list(e, &kinds[0], project, err), *item;
	struct compose_health_count count = {0};
	size_t i;

	if (!items)
		return -1;
	json_array_foreach(items, i, item) {
		const char *status = json_string_value(json_object_get(item, "Status"));

		count.containers++;
		if (status && strstr(status, "(health: starting)"))
			count.starting++;
		else if (status && strstr(status, "(unhealthy)"))
			count.unhealthy++;
		else
			continue;
		if (!count.unhealthy || strstr(status, "(unhealthy)"))
			name_service(item, count.name);
	}
	json_decref(items);
	*ret = count;
	return 0;
}

int compose_sweep_count(const struct engine *e, const char *project, struct error *err)
{
	size_t i, n = 0;

	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		json_t *items = list(e, &kinds[i], project, err);

		if (!items)
			return -1;
		n += json_array_size(items);
		json_decref(items);
	}
	return n > INT_MAX ? INT_MAX : (int)n;
}

int compose_sweep_container(const struct engine *e, const char *project, const char *service, char *ret, size_t size,
			    struct error *err)
{
	json_t *items = list(e, &kinds[0], project, err), *item;
	const char *name, *of;
	bool found = false;
	size_t i;

	if (!items)
		return -1;
	json_array_foreach(items, i, item) {
		of = json_string_value(json_object_get(json_object_get(item, "Labels"), "com.docker.compose.service"));
		name = json_string_value(json_array_get(json_object_get(item, "Names"), 0));
		if (!of || !name || strcmp(of, service) != 0 || name[0] != '/' || !is_plain(name + 1) ||
		    strlen(name) > size)
			continue;
		memcpy(ret, name + 1, strlen(name));
		found = true;
	}
	json_decref(items);
	return found ? 0
		     : error_set(err, ERROR_MISSING,
				 "Docker Engine has no container for the service %.100s of the project %s", service,
				 project);
}

/* Its names of that repository. The number of them. */
static size_t remove_names(const struct engine *e, const json_t *image, const char *repository, int timeout_ms)
{
	const json_t *names = json_object_get(image, "RepoTags"), *name;
	size_t i, n = 0, head = strlen(repository);

	json_array_foreach(names, i, name) {
		const char *s = json_string_value(name);

		if (!s || strncmp(s, repository, head) != 0 || s[head] != ':')
			continue;
		n++;
		if (is_plain(s + head + 1))
			remove_by_id(e, &images, s, timeout_ms);
	}
	return n;
}

int compose_sweep_images(const struct engine *e, const char *repository, int timeout_ms, struct error *err)
{
	size_t i, n = 1;
	unsigned round;

	for (round = 0; round < ROUNDS && n; round++) {
		json_t *items = list(e, &images, repository, err), *item;

		if (!items)
			return -1;
		n = 0;
		json_array_foreach(items, i, item)
			n += remove_names(e, item, repository, timeout_ms);
		json_decref(items);
	}
	return n == 0 ? 0
		      : error_set(err, ERROR_SYSTEM, "Docker Engine still has images of %s; remove them by hand",
				  repository);
}
