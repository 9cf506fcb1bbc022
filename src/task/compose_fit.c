#include "task/compose_fit.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "task/compose_main.h"
#include "task/compose_plan.h"

/* ---- a command that waits ---- */

/* "infinity", "3600", "1d". */
static bool is_duration(struct sv word)
{
	size_t i = 0;

	while (i < word.n && ((word.p[i] >= '0' && word.p[i] <= '9') || word.p[i] == '.'))
		i++;
	return i > 0 && (i == word.n || (i + 1 == word.n && memchr("smhd", word.p[i], 4)));
}

/* The words that shells are told to wait with. */
static bool is_of_waiting(struct sv word)
{
	static const char *const words[] = {"sleep",
					    "infinity",
					    "inf",
					    "tail",
					    "-f",
					    "-F",
					    "-n",
					    "/dev/null",
					    "while",
					    "until",
					    "true",
					    "false",
					    ":",
					    "do",
					    "done",
					    "exec",
					    "wait",
					    "cat",
					    "trap",
					    "exit",
					    "TERM",
					    "INT",
					    "SIGTERM",
					    "SIGINT",
					    "sh",
					    "bash",
					    "/bin/sh",
					    "/bin/bash",
					    "/usr/bin/sh",
					    "/usr/bin/bash",
					    "/bin/sleep",
					    "/usr/bin/sleep",
					    "/usr/bin/tail",
					    "/bin/cat",
					    "env",
					    "/usr/bin/env",
					    "-c",
					    "-lc",
					    "-l",
					    "-i",
					    "--login",
					    "tini",
					    "/sbin/tini",
					    "/usr/bin/tini",
					    "dumb-init",
					    "/usr/bin/dumb-init",
					    "--"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (sv_is(word, words[i]))
			return true;
	return is_duration(word);
}

static bool text_waits(const char *s)
{
	static const char between[] = " \t\n;&|'\"()";

	for (s += strspn(s, between); *s; s += strspn(s, between)) {
		size_t n = strcspn(s, between);

		if (!is_of_waiting(sv_n(s, n)))
			return false;
		s += n;
	}
	return true;
}

static bool all_wait(const struct compose_strings *v)
{
	uint32_t i;

	for (i = 0; i < v->n; i++)
		if (!text_waits(v->v[i]))
			return false;
	return true;
}

bool compose_only_waits(const struct compose_strings *entrypoint, const struct compose_strings *command)
{
	return all_wait(entrypoint) && all_wait(command);
}

/* ---- the table ---- */

static bool has_work(const struct compose_service *s)
{
	return !compose_only_waits(&s->entrypoint, &s->command);
}

static bool has_read_only(const struct compose_service *s)
{
	return s->read_only;
}

static bool has_hostname(const struct compose_service *s)
{
	return s->hostname[0] != '\0';
}

static bool has_tty(const struct compose_service *s)
{
	return s->tty;
}

static bool has_tmpfs(const struct compose_service *s)
{
	uint32_t i;

	for (i = 0; i < s->mounts.n; i++)
		if (s->mounts.v[i].kind == COMPOSE_MOUNT_TMPFS)
			return true;
	return false;
}

static bool has_tmpfs_size(const struct compose_service *s)
{
	uint32_t i;

	for (i = 0; i < s->mounts.n; i++)
		if (s->mounts.v[i].kind == COMPOSE_MOUNT_TMPFS && s->mounts.v[i].size)
			return true;
	return false;
}

static bool has_writable_bind(const struct compose_service *s)
{
	uint32_t i;

	for (i = 0; i < s->mounts.n; i++)
		if (s->mounts.v[i].kind == COMPOSE_MOUNT_TASK && !s->mounts.v[i].read_only)
			return true;
	return false;
}

/* /dev is the sandbox's own; a tmpfs at /dev/shm is there anyway. */
static bool has_device_mount(const struct compose_service *s)
{
	uint32_t i;

	for (i = 0; i < s->mounts.n; i++)
		if (path_is_in(s->mounts.v[i].target, "/dev") &&
		    !(s->mounts.v[i].kind == COMPOSE_MOUNT_TMPFS && strcmp(s->mounts.v[i].target, "/dev/shm") == 0))
			return true;
	return false;
}

static bool has_cap_drop(const struct compose_service *s)
{
	return s->cap_drop.n > 0;
}

static bool has_reservation(const struct compose_service *s)
{
	return s->memory_reserved != 0;
}

static bool has_shm_size(const struct compose_service *s)
{
	return s->shm_size != 0;
}

static bool has_limits(const struct compose_service *s)
{
	return s->limits.n > 0;
}

static bool has_stop_signal(const struct compose_service *s)
{
	return s->stop_signal[0] != '\0';
}

static bool has_stop_grace(const struct compose_service *s)
{
	return s->stop_grace != 0;
}

static bool has_restart(const struct compose_service *s)
{
	return s->restart != COMPOSE_RESTART_NO;
}

#define EITHER(text) {text, text}

/* What is not here is honoured, or means nothing for a service that only waits. [0]: the agent's own service, [1]: the
 * others; NULL: the same. */
static const struct fit {
	const char *key;
	bool (*has)(const struct compose_service *s);
	const char *refused[2];
	const char *warned[2];
} fits[] = {
	{.key = "command",
	 .has = has_work,
	 .refused = {"does more than wait, and is not run: the agent's sandboxes run the task's commands, the agent "
		     "and the tests; do it in the Dockerfile, or in a service of its own"}},
	{.key = "read_only",
	 .has = has_read_only,
	 .refused = {"a sandbox of the agent's cannot have a read-only root; leave it out, and let the image's user "
		     "own what the agent may change"},
	 .warned = {NULL, "is not done: the service can write to its own copy of its image, which nobody else sees"}},
	{.key = "volumes",
	 .has = has_device_mount,
	 .refused = EITHER("nothing can be mounted in /dev, which is the sandbox's own; a tmpfs at /dev/shm is there")},
	{.key = "volumes",
	 .has = has_writable_bind,
	 .warned = EITHER("files of the task are shown read-only, whether or not :ro is written; use a volume for what "
			  "is to be changed")},
	{.key = "tmpfs",
	 .has = has_tmpfs,
	 .warned = {"is not a file system of its own: what the image has there can be seen, and what the agent leaves "
		    "there is judged like its other files",
		    NULL}},
	{.key = "tmpfs",
	 .has = has_tmpfs_size,
	 .warned = {NULL, "its size is not held: it is an empty folder, and counts for what the service may store"}},
	{.key = "hostname",
	 .has = has_hostname,
	 .warned = EITHER("others find the service by this name; inside, the machine is called cordon")},
	{.key = "tty",
	 .has = has_tty,
	 .warned = {NULL, "has no terminal: its input stays open, and its output is kept in a file"}},
	{.key = "cap_drop",
	 .has = has_cap_drop,
	 .warned = EITHER("is not done one by one: a sandbox's capabilities hold for its own files and processes, and "
			  "none for the host")},
	{.key = "mem_reservation",
	 .has = has_reservation,
	 .warned = EITHER("a reservation is not enforced; limits are")},
	{.key = "shm_size",
	 .has = has_shm_size,
	 .warned = EITHER("the size of /dev/shm is the policy's filesystem.tmp_size")},
	{.key = "ulimits",
	 .has = has_limits,
	 .warned = EITHER("are not set: a sandbox has limits of Cordon's own, 4096 open files among them, and those of "
			  "the policy")},
	{.key = "stop_signal",
	 .has = has_stop_signal,
	 .warned =
		 {NULL,
		  "is not sent: services are ended by SIGTERM and then SIGKILL, when all that counts has been judged"}},
	{.key = "stop_grace_period",
	 .has = has_stop_grace,
	 .warned = {NULL, "is not held: services are ended within seconds, when all that counts has been judged"}},
	{.key = "restart", .has = has_restart, .warned = {NULL, "a service that ends is not started again"}},
};

/* ---- what one service alone does not show ---- */

struct fitting {
	const struct compose *c;
	const struct task *t;
	struct task_problems *problems;
};

static void tell(const struct fitting *f, const struct compose_service *s, bool warning, const char *key,
		 const char *what)
{
	struct text_shown file, name;
	char at[256];

	(void)snprintf(at, sizeof(at), "services.%.100s.%s", text_show(&name, sv_of(s->name)), key);
	task_problem_add(f->problems, &(struct task_problem){.warning = warning,
							     .file = text_show(&file, sv_of(f->t->files.compose)),
							     .line = (uint32_t)s->line,
							     .column = 1,
							     .key = at,
							     .what = what});
}

static void fit_service(const struct fitting *f, const struct compose_service *s)
{
	size_t which = s == &f->c->services[f->c->main] ? 0 : 1, i;

	for (i = 0; i < ARRAY_LEN(fits); i++) {
		if (!fits[i].has(s))
			continue;
		if (fits[i].refused[which])
			tell(f, s, false, fits[i].key, fits[i].refused[which]);
		else if (fits[i].warned[which])
			tell(f, s, true, fits[i].key, fits[i].warned[which]);
	}
}

static bool has_network(const struct compose *c, const struct compose_service *s)
{
	return compose_network(c, s)->network_mode != COMPOSE_NET_NONE;
}

/* Does anybody of the group get out, by the task's word? */
static bool is_open(const struct task *t)
{
	const struct task_network *n = t->agent.network.mode.set ? &t->agent.network : &t->environment.network;

	return t->n_steps || !n->mode.set || n->mode.v != NET_NONE;
}

/* A group has one way out, or none. */
static void fit_networks(const struct fitting *f)
{
	const struct compose_service *own = &f->c->services[f->c->main];
	uint32_t i;

	if (!is_open(f->t) || !has_network(f->c, own))
		return;
	for (i = 0; i < f->c->n_services; i++) {
		const struct compose_service *s = &f->c->services[i];

		if (!has_network(f->c, s) || compose_is_internal(f->c, s) == compose_is_internal(f->c, own))
			continue;
		if (compose_is_internal(f->c, own))
			tell(f, s, false, "networks",
			     "has a way out, and the agent's own service, which is on internal networks alone, would "
			     "have it too; make its networks internal, or forbid the task its network");
		else
			tell(f, s, true, "networks",
			     "an internal network keeps no service from what the agent itself can reach");
	}
}

/* The runner's name for what it builds, and nothing to build it of. */
static void fit_image(const struct fitting *f, const char *runner)
{
	struct compose_service own = f->c->services[f->c->main];

	compose_main_choose(f->t, runner, &own);
	if (!own.build.set && strcmp(own.image, runner) == 0)
		tell(f, &own, false, "image",
		     "is the runner's name for what it builds, and there is no Dockerfile to build it of");
}

void compose_fit(const struct compose *c, const struct task *t, const char *runner, struct task_problems *problems)
{
	const struct fitting f = {.c = c, .t = t, .problems = problems};
	uint32_t i;

	fit_image(&f, runner);
	fit_networks(&f);
	for (i = 0; i < c->n_services; i++)
		fit_service(&f, &c->services[i]);
}
