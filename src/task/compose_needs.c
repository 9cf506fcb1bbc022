/* What a service needs of others, and what it may not have of the host. */
#include <ctype.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "task/compose_read.h"

static struct compose_need *add_need(struct compose_reader *r, const struct ynode *n, struct compose_needs *to,
				     const char *name)
{
	struct compose_need *need;
	uint32_t i;

	for (i = 0; i < to->n; i++)
		if (strcmp(to->v[i].service, name) == 0)
			return &to->v[i];
	need = compose_add(r, n, to, sizeof(*need));
	if (need)
		*need = (struct compose_need){.service = name, .condition = COMPOSE_STARTED};
	return need;
}

static void read_condition(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const char *text = compose_scalar(r, n);
	size_t i;

	(void)arg;
	for (i = 0; text && compose_condition_names[i]; i++)
		if (strcmp(text, compose_condition_names[i]) == 0) {
			*(uint64_t *)to = i;
			return;
		}
	if (text)
		compose_refuse(
			r, n,
			"not a condition; service_started, service_healthy and service_completed_successfully are");
}

static const struct compose_row need_rows[] = {
	{"condition", read_condition, offsetof(struct compose_need, condition), NULL, NULL},
	{"required", compose_read_pass, 0, NULL, NULL}, /* all services start */
	{"restart", compose_read_never, 0, "cannot be honoured on every runtime", NULL},
	{0},
};

void compose_read_needs(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct ynode *i;

	(void)arg;
	if (!compose_has_items(r, n, YNODE_LIST))
		return;
	for (i = n->first; i; i = i->next) {
		const char *name = n->kind == YNODE_MAP ? arena_str(r->arena, i->text) : compose_scalar(r, i);
		struct compose_need *need;

		if (!name || !compose_other(r, i, name))
			continue;
		need = add_need(r, i, to, name);
		if (!need || n->kind == YNODE_LIST)
			continue;
		compose_enter(r, i->text);
		compose_read_keys(r, i->value, need, need_rows);
		compose_leave(r);
	}
}

static void add_alias(struct compose_reader *r, const struct ynode *n, const struct compose_service *s,
		      const char *name)
{
	struct compose_strings *to = &r->aliases[s - r->compose->services];
	struct text_shown shown;

	if (!compose_is_host(name))
		compose_refuse(r, n, "\"%.200s\" is not a host name", text_show(&shown, sv_of(name)));
	else if (!compose_has_text(to, name))
		compose_add_text(r, n, to, name);
}

void compose_read_container_name(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const char *name = compose_is_null(n) ? NULL : compose_scalar(r, n);

	(void)arg;
	if (name)
		add_alias(r, n, to, name);
}

/* "redis", or "redis:cache": a need, and a name for the other. */
static void read_link(struct compose_reader *r, const struct ynode *n, struct compose_service *s)
{
	const char *text = compose_scalar(r, n), *colon = text ? strchr(text, ':') : NULL;
	const char *name = text ? arena_str(r->arena, sv_n(text, colon ? (size_t)(colon - text) : strlen(text))) : NULL;
	struct compose_service *other = name ? compose_other(r, n, name) : NULL;

	if (!other)
		return;
	(void)add_need(r, n, &s->needs, name);
	if (colon)
		add_alias(r, n, other, colon + 1);
}

void compose_read_links(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct ynode *i;

	(void)arg;
	if (!compose_is_null(n) && compose_want(r, n, YNODE_LIST))
		for (i = n->first; i; i = i->next)
			read_link(r, i, to);
}

void compose_read_cap_drop(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct ynode *i;

	(void)arg;
	if (compose_is_null(n) || !compose_want(r, n, YNODE_LIST))
		return;
	for (i = n->first; i; i = i->next) {
		const char *text = compose_scalar(r, i);
		char *name = text ? arena_str(r->arena, sv_of(text)) : NULL, *p;

		if (!name)
			continue;
		for (p = name; *p; p++)
			*p = (char)toupper((unsigned char)*p);
		name += strncmp(name, "CAP_", 4) == 0 ? 4 : 0;
		if (!compose_is_capability(name))
			compose_refuse(r, i, "not a capability");
		else if (!compose_has_text(to, name))
			compose_add_text(r, i, to, name);
	}
}

void compose_read_security(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const char *const fine[] = {"no-new-privileges", "no-new-privileges:true", "no-new-privileges=true"};
	const struct ynode *i;
	size_t k;

	(void)to;
	(void)arg;
	if (compose_is_null(n) || !compose_want(r, n, YNODE_LIST))
		return;
	for (i = n->first; i; i = i->next) {
		const char *text = compose_scalar(r, i);

		for (k = 0; text && k < ARRAY_LEN(fine) && strcmp(text, fine[k]) != 0; k++)
			;
		if (text && k == ARRAY_LEN(fine))
			compose_refuse(r, i,
				       "loosens what confines the service; no-new-privileges holds anyway, nothing "
				       "else can be had");
	}
}

static const struct compose_want_number limit_range = {0, UINT64_C(1) << 40,
						       "between 0 and 2^40; a limit that is none cannot be had"};
static const struct compose_row limit_rows[] = {
	{"soft", compose_read_count, offsetof(struct compose_limit, soft), &limit_range, NULL},
	{"hard", compose_read_count, offsetof(struct compose_limit, hard), &limit_range, NULL},
	{0},
};

static void read_limit(struct compose_reader *r, const struct ynode *key, struct compose_limits *to)
{
	struct compose_limit limit = {.name = arena_str(r->arena, key->text)}, *at;

	if (!limit.name || !compose_is_limit(limit.name)) {
		compose_refuse(r, key, "not a limit that a service can have");
		return;
	}
	if (key->value->kind == YNODE_MAP) {
		compose_keys(r, key->value, &limit, limit_rows);
		if (limit.soft > limit.hard)
			compose_refuse(r, key, "soft is above hard");
	} else {
		compose_read_count(r, key->value, &limit.soft, &limit_range);
		limit.hard = limit.soft;
	}
	at = compose_add(r, key, to, sizeof(*at));
	if (at)
		*at = limit;
}

void compose_read_limits(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct ynode *k;

	(void)arg;
	if (compose_is_null(n) || !compose_want(r, n, YNODE_MAP))
		return;
	for (k = n->first; k; k = k->next) {
		compose_enter(r, k->text);
		read_limit(r, k, to);
		compose_leave(r);
	}
}

void compose_read_restart(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const struct {
		const char *name;
		enum compose_restart restart;
	} words[] = {{"no", COMPOSE_RESTART_NO},
		     {"on-failure", COMPOSE_RESTART_FAILURE},
		     {"always", COMPOSE_RESTART_ALWAYS},
		     {"unless-stopped", COMPOSE_RESTART_ALWAYS}};
	struct compose_service *s = to;
	const char *text = compose_is_null(n) ? NULL : compose_scalar(r, n);
	size_t i;

	(void)arg;
	if (!text)
		return;
	for (i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(text, words[i].name) == 0) {
			s->restart = words[i].restart;
			return;
		}
	s->restart = COMPOSE_RESTART_FAILURE;
	if (strncmp(text, "on-failure:", 11) != 0 || compose_value_count(text + 11, &s->restart_max) ||
	    s->restart_max < 1 || s->restart_max > 10000)
		compose_refuse(r, n, "not no, always, unless-stopped, on-failure or on-failure:5");
}
