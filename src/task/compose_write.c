#include "task/compose_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/path.h"

/*
 * What images need until their service runs as its own user: to own the files of a volume, to become that user, to
 * signal it and to listen on a low port. Of Docker's own set this leaves out what makes device files, raw packets, file
 * capabilities, other roots and records in the host's audit log.
 */
static const char *const kept_capabilities[] = {"CHOWN",  "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE",
						"SETGID", "SETUID"};

#define HOLDER "cordon-net"
enum { HOLDER_MEMORY = 32 << 20, HOLDER_PIDS = 16 };

struct writer {
	struct json j;
	const struct compose *c;
	const struct compose_place *place;
	const struct compose_policy *policy;
	uint32_t service; /* at hand */
	int failed;	  /* -errno */
};

/* A text, in which $ means itself: to Compose $$ is a dollar sign. */
static void put_text(struct writer *w, const char *s)
{
	AUTO_BUF doubled = {0};

	buf_init(&doubled, 2 * COMPOSE_TEXT_MAX + 8192);
	for (; *s; s++) {
		(void)buf_char(&doubled, *s);
		if (*s == '$')
			(void)buf_char(&doubled, '$');
	}
	if (buf_failed(&doubled))
		w->failed = buf_failed(&doubled);
	json_sv(&w->j, buf_view(&doubled));
}

static void put_key_text(struct writer *w, const char *key, const char *s)
{
	if (!s[0])
		return;
	json_key(&w->j, key);
	put_text(w, s);
}

static void put_texts(struct writer *w, const char *key, const struct compose_strings *s)
{
	uint32_t i;

	if (!s->set && s->n == 0)
		return;
	json_key(&w->j, key);
	json_list(&w->j);
	for (i = 0; i < s->n; i++)
		put_text(w, s->v[i]);
	json_end(&w->j);
}

static void put_flag(struct writer *w, const char *key, bool v)
{
	if (v)
		json_kbool(&w->j, key, true);
}

static void put_size(struct writer *w, const char *key, uint64_t bytes)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64 "b", bytes);
	if (bytes)
		json_kstr(&w->j, key, text);
}

static void put_time(struct writer *w, const char *key, uint64_t ms)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64 "ms", ms);
	if (ms)
		json_kstr(&w->j, key, text);
}

static void put_count(struct writer *w, const char *key, uint64_t n)
{
	if (n) {
		json_key(&w->j, key);
		json_uint(&w->j, n);
	}
}

static void put_pairs(struct writer *w, const char *key, const struct compose_pair *v, uint32_t n)
{
	uint32_t i;

	if (n == 0)
		return;
	json_key(&w->j, key);
	json_open(&w->j);
	for (i = 0; i < n; i++) {
		json_key(&w->j, v[i].name);
		put_text(w, v[i].value);
	}
	json_close(&w->j);
}

/* Of what the policy adds: nothing where there is none. */
static uint32_t n_environment(const struct writer *w)
{
	return w->policy ? w->policy->n_environment : 0;
}

static bool is_named(const struct compose_pair *v, uint32_t n, const char *name)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (strcmp(v[i].name, name) == 0)
			return true;
	return false;
}

/* The policy's come instead of the task's of the same name. */
static void put_environment(struct writer *w, const struct compose_service *s)
{
	uint32_t i;

	if (s->environment.n + n_environment(w) == 0)
		return;
	json_key(&w->j, "environment");
	json_open(&w->j);
	for (i = 0; i < s->environment.n; i++) {
		if (w->policy && is_named(w->policy->environment, w->policy->n_environment, s->environment.v[i].name))
			continue;
		json_key(&w->j, s->environment.v[i].name);
		put_text(w, s->environment.v[i].value);
	}
	for (i = 0; i < n_environment(w); i++) {
		json_key(&w->j, w->policy->environment[i].name);
		put_text(w, w->policy->environment[i].value);
	}
	json_close(&w->j);
}

/* "FOLDER/relative", or FOLDER alone for ".". */
static void put_path(struct writer *w, const char *key, const char *folder, const char *relative)
{
	AUTO_BUF path = {0};

	buf_init(&path, 16384);
	(void)buf_str(&path, folder);
	if (strcmp(relative, ".") != 0)
		(void)buf_printf(&path, "/%s", relative);
	if (buf_failed(&path))
		w->failed = buf_failed(&path);
	put_key_text(w, key, path.p ? path.p : "");
}

static void put_build(struct writer *w, const struct compose_build *b)
{
	if (!b->set)
		return;
	json_key(&w->j, "build");
	json_open(&w->j);
	put_path(w, "context", w->place->task, b->context);
	put_key_text(w, "dockerfile", b->dockerfile);
	put_key_text(w, "target", b->target);
	put_pairs(w, "args", b->args.v, b->args.n);
	json_close(&w->j);
}

static bool is_at_or_below(const char *path, const char *folder)
{
	return strcmp(folder, ".") == 0 || path_is_in(path, folder);
}

enum compose_bind compose_bind(const struct compose_mount *m, const char *const *hidden)
{
	enum compose_bind use = m->read_only ? COMPOSE_BIND_SHOW : COMPOSE_BIND_COPY;

	for (; hidden && *hidden; hidden++) {
		if (is_at_or_below(m->source, *hidden))
			return COMPOSE_BIND_LEAVE;
		if (is_at_or_below(*hidden, m->source))
			use = COMPOSE_BIND_COPY;
	}
	return use;
}

static void put_bind(struct writer *w, const char *folder, const char *relative, const char *target, bool writable)
{
	json_open(&w->j);
	json_kstr(&w->j, "type", "bind");
	put_path(w, "source", folder, relative);
	put_key_text(w, "target", target);
	put_flag(w, "read_only", !writable);
	json_close(&w->j);
}

static void put_task_bind(struct writer *w, const struct compose_mount *m, uint32_t index)
{
	char copy[64];

	switch (compose_bind(m, w->place->hidden)) {
	case COMPOSE_BIND_SHOW:
		put_bind(w, w->place->task, m->source, m->target, !m->read_only);
		break;
	case COMPOSE_BIND_COPY:
		(void)snprintf(copy, sizeof(copy), "%u.%u", (unsigned)w->service, (unsigned)index);
		if (w->place->copies)
			put_bind(w, w->place->copies, copy, m->target, !m->read_only);
		else
			put_bind(w, w->place->task, m->source, m->target, !m->read_only);
		break;
	case COMPOSE_BIND_LEAVE:
		break;
	}
}

static void put_volume(struct writer *w, const struct compose_mount *m)
{
	json_open(&w->j);
	json_kstr(&w->j, "type", "volume");
	put_key_text(w, "source", m->source);
	put_key_text(w, "target", m->target);
	put_flag(w, "read_only", m->read_only);
	json_close(&w->j);
}

static void put_mounts(struct writer *w, const struct compose_service *s)
{
	uint32_t i, n = w->policy ? w->policy->n_mounts : 0;

	if (s->mounts.n + n == 0)
		return;
	json_key(&w->j, "volumes");
	json_list(&w->j);
	for (i = 0; i < s->mounts.n; i++) {
		const struct compose_mount *m = &s->mounts.v[i];

		if (m->kind == COMPOSE_MOUNT_TASK)
			put_task_bind(w, m, i);
		else if (m->kind == COMPOSE_MOUNT_RUNNER)
			put_bind(w, w->place->folders[m->folder], m->source, m->target, !m->read_only);
		else if (m->kind == COMPOSE_MOUNT_VOLUME)
			put_volume(w, m);
	}
	for (i = 0; i < n; i++)
		put_bind(w, w->policy->mounts[i].source, ".", w->policy->mounts[i].target,
			 w->policy->mounts[i].writable);
	json_end(&w->j);
}

/* The short form is the one that all versions read alike. */
static void put_tmpfs(struct writer *w, const struct compose_mount *m)
{
	AUTO_BUF text = {0};
	char sep = ':';

	buf_init(&text, 8192);
	(void)buf_str(&text, m->target);
	if (m->size) {
		(void)buf_printf(&text, "%csize=%" PRIu64, sep, m->size);
		sep = ',';
	}
	if (m->mode) {
		(void)buf_printf(&text, "%cmode=%o", sep, (unsigned)m->mode);
		sep = ',';
	}
	if (m->read_only)
		(void)buf_printf(&text, "%cro", sep);
	if (buf_failed(&text))
		w->failed = buf_failed(&text);
	put_text(w, text.p ? text.p : "");
}

static void put_all_tmpfs(struct writer *w, const struct compose_service *s)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < s->mounts.n; i++) {
		if (s->mounts.v[i].kind != COMPOSE_MOUNT_TMPFS)
			continue;
		if (!any) {
			json_key(&w->j, "tmpfs");
			json_list(&w->j);
		}
		any = true;
		put_tmpfs(w, &s->mounts.v[i]);
	}
	if (any)
		json_end(&w->j);
}

static void put_needs(struct writer *w, const struct compose_needs *needs)
{
	uint32_t i;

	if (needs->n == 0)
		return;
	json_key(&w->j, "depends_on");
	json_open(&w->j);
	for (i = 0; i < needs->n; i++) {
		json_key(&w->j, needs->v[i].service);
		json_open(&w->j);
		json_kstr(&w->j, "condition", compose_condition_names[needs->v[i].condition]);
		json_close(&w->j);
	}
	json_close(&w->j);
}

static void put_health(struct writer *w, const struct compose_health *h)
{
	uint32_t i;

	if (!h->set)
		return;
	json_key(&w->j, "healthcheck");
	json_open(&w->j);
	put_flag(w, "disable", h->disabled);
	if (h->test.n) {
		json_key(&w->j, "test");
		json_list(&w->j);
		json_str(&w->j, h->shell ? "CMD-SHELL" : "CMD");
		for (i = 0; i < h->test.n; i++)
			put_text(w, h->test.v[i]);
		json_end(&w->j);
	}
	put_time(w, "interval", h->interval);
	put_time(w, "timeout", h->timeout);
	put_time(w, "start_period", h->start_period);
	if (!w->policy)
		put_time(w, "start_interval", h->start_interval);
	put_count(w, "retries", h->retries);
	json_close(&w->j);
}

static void put_service_network(struct writer *w, const char *service)
{
	char mode[128];

	(void)snprintf(mode, sizeof(mode), "service:%s", service);
	json_kstr(&w->j, "network_mode", mode);
}

static void put_network_uses(struct writer *w, const struct compose_service *s)
{
	uint32_t i;

	json_key(&w->j, "networks");
	json_open(&w->j);
	for (i = 0; i < s->networks.n; i++) {
		json_key(&w->j, s->networks.v[i].network);
		json_open(&w->j);
		put_texts(w, "aliases", &s->networks.v[i].aliases);
		json_close(&w->j);
	}
	json_close(&w->j);
}

static bool in_group(const struct writer *w, const struct compose_service *s)
{
	return w->policy && compose_network(w->c, s)->network_mode != COMPOSE_NET_NONE && w->c->n_services > 1;
}

static void put_network(struct writer *w, const struct compose_service *s)
{
	if (in_group(w, s))
		put_service_network(w, HOLDER);
	else if (s->network_mode == COMPOSE_NET_SERVICE)
		put_service_network(w, s->network_service);
	else if (w->policy || s->network_mode == COMPOSE_NET_NONE)
		json_kstr(&w->j, "network_mode", "none");
	else
		put_network_uses(w, s);
}

static bool drops(const struct compose_service *s, const char *capability)
{
	uint32_t i;

	for (i = 0; i < s->cap_drop.n; i++)
		if (strcmp(s->cap_drop.v[i], capability) == 0 || strcmp(s->cap_drop.v[i], "ALL") == 0)
			return true;
	return false;
}

static void put_confinement(struct writer *w, const struct compose_service *s)
{
	size_t i;

	json_key(&w->j, "cap_drop");
	json_list(&w->j);
	json_str(&w->j, "ALL");
	json_end(&w->j);
	json_key(&w->j, "cap_add");
	json_list(&w->j);
	for (i = 0; i < ARRAY_LEN(kept_capabilities); i++)
		if (s && !drops(s, kept_capabilities[i]))
			json_str(&w->j, kept_capabilities[i]);
	json_end(&w->j);
	json_key(&w->j, "security_opt");
	json_list(&w->j);
	json_str(&w->j, "no-new-privileges:true");
	json_end(&w->j);
}

/* The lower of the task's and the policy's; 0 is no bound. */
static uint64_t lower(uint64_t task, uint64_t policy)
{
	return task && (!policy || task < policy) ? task : policy;
}

static void put_bounds(struct writer *w, const struct compose_service *s)
{
	static const struct compose_policy none;
	const struct compose_policy *policy = w->policy ? w->policy : &none;
	uint64_t memory = lower(s->memory, policy->memory), cpus = lower(s->cpus, policy->cpus);
	char text[32];
	uint32_t i;

	put_size(w, "mem_limit", memory);
	if (s->memory_reserved && (!memory || s->memory_reserved <= memory))
		put_size(w, "mem_reservation", s->memory_reserved);
	(void)snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, cpus / 1000, cpus % 1000);
	if (cpus) {
		json_key(&w->j, "cpus");
		json_raw(&w->j, sv_of(text));
	}
	put_count(w, "pids_limit", lower(s->pids, policy->pids));
	put_size(w, "shm_size", s->shm_size);
	if (s->limits.n == 0)
		return;
	json_key(&w->j, "ulimits");
	json_open(&w->j);
	for (i = 0; i < s->limits.n; i++) {
		json_key(&w->j, s->limits.v[i].name);
		json_open(&w->j);
		json_kint(&w->j, "soft", (int64_t)s->limits.v[i].soft);
		json_kint(&w->j, "hard", (int64_t)s->limits.v[i].hard);
		json_close(&w->j);
	}
	json_close(&w->j);
}

static void put_end(struct writer *w, const struct compose_service *s)
{
	char restart[32];

	put_key_text(w, "stop_signal", s->stop_signal);
	put_time(w, "stop_grace_period", s->stop_grace);
	(void)snprintf(restart, sizeof(restart), s->restart_max ? "on-failure:%" PRIu64 : "on-failure", s->restart_max);
	if (s->restart != COMPOSE_RESTART_NO)
		json_kstr(&w->j, "restart", s->restart == COMPOSE_RESTART_FAILURE ? restart : "always");
}

/* What was built or imported for a service, or what the task says. */
static void put_image(struct writer *w, const struct compose_service *s)
{
	const char *image = w->policy && w->policy->images ? w->policy->images[s - w->c->services] : NULL;

	put_key_text(w, "image", image ? image : s->image);
	if (w->policy)
		json_kstr(&w->j, "pull_policy",
			  "never"); /* a pull is a request to a host of the task's choice, by the engine */
	else
		put_build(w, &s->build);
	put_key_text(w, "platform", s->platform);
}

static void put_what_it_says(struct writer *w, const struct compose_service *s)
{
	put_texts(w, "entrypoint", &s->entrypoint);
	put_texts(w, "command", &s->command);
	put_environment(w, s);
	put_key_text(w, "working_dir", s->working_dir);
	put_key_text(w, "user", s->user);
	put_flag(w, "init", s->init);
	put_flag(w, "read_only", s->read_only);
	put_flag(w, "stdin_open", s->stdin_open);
	put_flag(w, "tty", s->tty);
	put_mounts(w, s);
	put_all_tmpfs(w, s);
	put_needs(w, &s->needs);
	put_health(w, &s->health);
	put_bounds(w, s);
	put_end(w, s);
}

static void put_service(struct writer *w, const struct compose_service *s)
{
	json_key(&w->j, s->name);
	json_open(&w->j);
	put_image(w, s);
	put_what_it_says(w, s);
	put_network(w, s);
	/* Who is in the network of another has its names too, and the engine refuses further ones. */
	if (!in_group(w, s) && !(w->policy && s->network_mode == COMPOSE_NET_SERVICE)) {
		put_key_text(w, "hostname", s->hostname);
		put_pairs(w, "extra_hosts", s->hosts.v, s->hosts.n);
		put_texts(w, "expose", &s->ports);
	}
	if (w->policy)
		put_confinement(w, s);
	else
		put_texts(w, "cap_drop", &s->cap_drop);
	json_close(&w->j);
}

/* The agent's image is sure to have what waits: every runner of such tasks starts it so. */
static void put_holder(struct writer *w)
{
	static const char *wait[] = {"sh", "-c", "sleep infinity"};
	const struct compose_strings command = {.v = wait, .n = ARRAY_LEN(wait), .set = true};
	const struct compose_service *agent = &w->c->services[w->c->main];

	json_key(&w->j, HOLDER);
	json_open(&w->j);
	put_image(w, agent);
	put_texts(w, "entrypoint", &command);
	json_key(&w->j, "command");
	json_list(&w->j);
	json_end(&w->j);
	json_kstr(&w->j, "user", "65534:65534");
	json_kbool(&w->j, "read_only", true);
	json_kstr(&w->j, "network_mode", "none");
	json_key(&w->j, "healthcheck");
	json_open(&w->j);
	json_kbool(&w->j, "disable", true);
	json_close(&w->j);
	put_pairs(w, "extra_hosts", w->policy->plan->names.v, w->policy->plan->names.n);
	put_size(w, "mem_limit", HOLDER_MEMORY);
	put_count(w, "pids_limit", HOLDER_PIDS);
	put_confinement(w, NULL);
	json_close(&w->j);
}

static void put_names(struct writer *w, const char *key, const struct compose_strings *names,
		      const struct compose_strings *internal)
{
	uint32_t i, k;

	if (names->n == 0)
		return;
	json_key(&w->j, key);
	json_open(&w->j);
	for (i = 0; i < names->n; i++) {
		json_key(&w->j, names->v[i]);
		json_open(&w->j);
		for (k = 0; k < internal->n; k++)
			put_flag(w, "internal", strcmp(internal->v[k], names->v[i]) == 0);
		json_close(&w->j);
	}
	json_close(&w->j);
}

/* A policy goes with a plan, and with an image for whatever would have to be built. */
static bool fits(const struct compose *c, const struct compose_policy *policy)
{
	uint32_t i;

	if (!policy->plan || policy->plan->n != c->n_services)
		return false;
	for (i = 0; i < c->n_services; i++)
		if (c->services[i].build.set && !(policy->images && policy->images[i]))
			return false;
	return true;
}

int compose_write(const struct compose *c, const struct compose_place *place, const struct compose_policy *policy,
		  struct buf *out)
{
	static const struct compose_strings none;
	struct writer w = {.c = c, .place = place, .policy = policy};

	if (compose_wrong(c) || (policy && !fits(c, policy)))
		return -EINVAL;
	json_init(&w.j, out);
	json_open(&w.j);
	json_key(&w.j, "services");
	json_open(&w.j);
	for (w.service = 0; w.service < c->n_services; w.service++)
		put_service(&w, &c->services[w.service]);
	if (policy && c->n_services > 1)
		put_holder(&w);
	json_close(&w.j);
	if (!policy)
		put_names(&w, "networks", &c->networks, &c->internal);
	put_names(&w, "volumes", &c->volumes, &none);
	json_close(&w.j);
	return w.failed ? w.failed : buf_failed(out);
}
