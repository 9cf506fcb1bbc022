#include "model/compose.h"

#include "model/compose_shape.h"

const char *const compose_folder_names[COMPOSE_FOLDERS] = {"verifier", "agent", "artifacts", "task-logs", "agent-logs"};
const char *const compose_condition_names[] = {"service_started", "service_healthy", "service_completed_successfully",
					       NULL};

const struct compose_service *compose_network(const struct compose *c, const struct compose_service *s)
{
	return s->network_mode == COMPOSE_NET_SERVICE ? &c->services[compose_find(c, s->network_service)] : s;
}

int compose_find(const struct compose *c, const char *name)
{
	uint32_t i;

	for (i = 0; i < c->n_services; i++)
		if (strcmp(c->services[i].name, name) == 0)
			return (int)i;
	return -1;
}

static const char *wrong_in(const struct compose_shape *shape, const char *from);

static bool texts_are_fine(const struct compose_field *f, const struct compose_strings *s)
{
	uint32_t i;

	if (s->n > COMPOSE_LIST_MAX)
		return false;
	for (i = 0; i < s->n; i++)
		if (f->is ? !f->is(s->v[i]) : s->v[i][0] && !compose_is_text(s->v[i]))
			return false;
	return true;
}

static const char *wrong_in_list(const struct compose_field *f, const void *list)
{
	struct compose_items items = compose_items(list);
	const char *wrong = NULL;
	uint32_t i;

	if (items.n > (f->max ? f->max : COMPOSE_LIST_MAX))
		return f->name;
	for (i = 0; i < items.n && !wrong; i++)
		wrong = wrong_in(f->shape, items.v + i * f->shape->size);
	return wrong;
}

static const char *wrong_field(const struct compose_field *f, const char *from)
{
	const void *at = from + f->offset;
	const char *text;

	switch (f->kind) {
	case FIELD_TEXT:
		text = compose_text_at(at);
		return text[0] ? (f->is(text) ? NULL : f->name) : (f->needed ? f->name : NULL);
	case FIELD_NUM:
		return compose_num_at(at) <= f->max ? NULL : f->name;
	case FIELD_FLAG:
		return NULL;
	case FIELD_TEXTS:
		return texts_are_fine(f, at) ? NULL : f->name;
	case FIELD_LIST:
		return wrong_in_list(f, at);
	case FIELD_PART:
		return wrong_in(f->shape, at);
	}
	return f->name;
}

static const char *wrong_in(const struct compose_shape *shape, const char *from)
{
	const char *wrong = NULL;
	size_t i;

	for (i = 0; i < shape->n && !wrong; i++)
		wrong = wrong_field(&shape->fields[i], from);
	return wrong;
}

static bool has(const struct compose_strings *s, const char *text)
{
	uint32_t i;

	for (i = 0; i < s->n; i++)
		if (strcmp(s->v[i], text) == 0)
			return true;
	return false;
}

static const char *wrong_mount(const struct compose *c, const struct compose_mount *m)
{
	switch (m->kind) {
	case COMPOSE_MOUNT_TASK:
		return m->source[0] ? NULL : "a bind without a source";
	case COMPOSE_MOUNT_RUNNER:
		return strcmp(m->source, ".") == 0 ? NULL : "a part of the runner's folder";
	case COMPOSE_MOUNT_VOLUME:
		return !m->source[0] || has(&c->volumes, m->source) ? NULL : "a volume that is not the project's";
	default:
		return m->source[0] ? "a tmpfs with a source" : NULL;
	}
}

static const char *wrong_mounts(const struct compose *c, const struct compose_service *s)
{
	uint32_t i, j;

	for (i = 0; i < s->mounts.n; i++) {
		const char *wrong = wrong_mount(c, &s->mounts.v[i]);

		if (wrong)
			return wrong;
		for (j = 0; j < i; j++)
			if (strcmp(s->mounts.v[i].target, s->mounts.v[j].target) == 0)
				return "two mounts at one place";
	}
	return NULL;
}

static const char *wrong_network(const struct compose *c, const struct compose_service *s)
{
	int other = s->network_service[0] ? compose_find(c, s->network_service) : -1;
	uint32_t i, j;

	if (s->network_mode != COMPOSE_NET_PROJECT && s->networks.n)
		return "networks beside a network mode";
	if ((s->network_mode == COMPOSE_NET_SERVICE) != (s->network_service[0] != 0))
		return "a service's network without the service";
	if (s->network_mode == COMPOSE_NET_SERVICE &&
	    (other < 0 || c->services[other].network_mode == COMPOSE_NET_SERVICE))
		return "the network of a service that has none";
	if (s->network_mode == COMPOSE_NET_PROJECT && s->networks.n == 0)
		return "a service without a network";
	for (i = 0; i < s->networks.n; i++) {
		if (!has(&c->networks, s->networks.v[i].network))
			return "a network that is not the project's";
		for (j = 0; j < i; j++)
			if (strcmp(s->networks.v[i].network, s->networks.v[j].network) == 0)
				return "one network twice";
	}
	return NULL;
}

static bool has_twice(const struct compose_pairs *p)
{
	uint32_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < i; j++)
			if (strcmp(p->v[i].name, p->v[j].name) == 0)
				return true;
	return false;
}

static const char *wrong_names(const struct compose_service *s)
{
	uint32_t i, j;

	if (has_twice(&s->environment) || has_twice(&s->build.args) || has_twice(&s->hosts))
		return "one name twice";
	for (i = 0; i < s->limits.n; i++)
		for (j = 0; j < i; j++)
			if (strcmp(s->limits.v[i].name, s->limits.v[j].name) == 0)
				return "one limit twice";
	return NULL;
}

static const char *wrong_needs(const struct compose *c, const struct compose_service *s)
{
	uint32_t i, j;

	for (i = 0; i < s->needs.n; i++) {
		if (compose_find(c, s->needs.v[i].service) < 0)
			return "a need for a service that is not there";
		for (j = 0; j < i; j++)
			if (strcmp(s->needs.v[i].service, s->needs.v[j].service) == 0)
				return "one need twice";
	}
	return NULL;
}

static const char *wrong_service(const struct compose *c, uint32_t at)
{
	const struct compose_service *s = &c->services[at];
	const char *wrong = NULL;

	if (compose_find(c, s->name) != (int)at)
		return "two services of one name";
	if (strncmp(s->name, "cordon-", 7) == 0)
		return "a service whose name is Cordon's own";
	if (s->build.set != (s->build.context[0] != 0) ||
	    (s->build.set && (!s->build.dockerfile[0] || strcmp(s->build.dockerfile, ".") == 0)))
		return "a build without its files";
	if (!s->build.set && !s->image[0])
		return "a service without an image";
	if (s->health.set && !s->health.disabled &&
	    (s->health.test.n == 0 ? s->health.test.set : s->health.shell && s->health.test.n != 1))
		return "a health check without a command";
	if (s->memory && s->memory_reserved > s->memory)
		return "a reservation above its limit";
	if (s->restart_max && s->restart != COMPOSE_RESTART_FAILURE)
		return "a number of restarts without restarts";
	wrong = wrong_mounts(c, s);
	if (!wrong)
		wrong = wrong_network(c, s);
	if (!wrong)
		wrong = wrong_names(s);
	return wrong ? wrong : wrong_needs(c, s);
}

const char *compose_wrong(const struct compose *c)
{
	const char *wrong = wrong_in(&compose_shape, (const char *)c);
	uint32_t i;

	if (!wrong && (c->n_services == 0 || c->main >= c->n_services))
		wrong = "no service for the agent";
	for (i = 0; i < c->n_services && !wrong; i++)
		wrong = wrong_service(c, i);
	for (i = 0; i < c->internal.n && !wrong; i++)
		if (!has(&c->networks, c->internal.v[i]))
			wrong = "an internal network that is not the project's";
	return wrong;
}

static bool same(const struct compose_shape *shape, const char *a, const char *b);

static bool same_texts(const struct compose_strings *a, const struct compose_strings *b)
{
	uint32_t i;

	if (a->n != b->n || a->set != b->set)
		return false;
	for (i = 0; i < a->n; i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	return true;
}

static bool same_list(const struct compose_shape *shape, const void *a, const void *b)
{
	struct compose_items x = compose_items(a), y = compose_items(b);
	uint32_t i;

	if (x.n != y.n)
		return false;
	for (i = 0; i < x.n; i++)
		if (!same(shape, x.v + i * shape->size, y.v + i * shape->size))
			return false;
	return true;
}

static bool same_field(const struct compose_field *f, const void *a, const void *b)
{
	switch (f->kind) {
	case FIELD_TEXT:
		return strcmp(compose_text_at(a), compose_text_at(b)) == 0;
	case FIELD_NUM:
		return memcmp(a, b, sizeof(uint64_t)) == 0;
	case FIELD_FLAG:
		return *(const bool *)a == *(const bool *)b;
	case FIELD_TEXTS:
		return same_texts(a, b);
	case FIELD_LIST:
		return same_list(f->shape, a, b);
	case FIELD_PART:
		return same(f->shape, a, b);
	}
	return false;
}

static bool same(const struct compose_shape *shape, const char *a, const char *b)
{
	size_t i;

	for (i = 0; i < shape->n; i++)
		if (!shape->fields[i].apart &&
		    !same_field(&shape->fields[i], a + shape->fields[i].offset, b + shape->fields[i].offset))
			return false;
	return true;
}

bool compose_equal(const struct compose *a, const struct compose *b)
{
	return same(&compose_shape, (const char *)a, (const char *)b);
}
