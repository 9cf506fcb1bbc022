/* Binds of the task's folder, without tests and solution. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/beneath.h"
#include "task/compose_bind.h"
#include "task/services_parts.h"

enum compose_bind services_bind(const struct flow *f, const struct compose_mount *m)
{
	struct compose_mount shown = *m;

	shown.read_only = true;
	return m->kind == COMPOSE_MOUNT_TASK ? compose_bind(&shown, f->services->hidden) : COMPOSE_BIND_SHOW;
}

const char *services_copy(struct flow *f, const char *folder, const struct compose_service *c,
			  const struct compose_mount *m)
{
	const char *name = arena_printf(f->arena, "%s.%zu", c->name, (size_t)(m - c->mounts.v));
	AUTO_FD from = sys_open_beneath(f->stage, folder, O_RDONLY | O_DIRECTORY, 0);
	AUTO_FD copies = -1;

	if (mkdirat(f->scratch.fd, "copies", 0711) < 0 && errno != EEXIST)
		return NULL;
	copies = openat(f->scratch.fd, "copies", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (from < 0 || copies < 0 || !name)
		return NULL;
	if (faccessat(copies, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
	    compose_bind_copy(from, m, f->services->hidden, copies, name, f->err) < 0)
		return NULL;
	return arena_printf(f->arena, "%s/copies/%s", f->scratch.path, name);
}

void services_tell_binds(struct flow *f)
{
	static const char *const said[] = {
		[COMPOSE_BIND_COPY] =
			"a bind of a folder that has tests or solution in it: services get a copy without them",
		[COMPOSE_BIND_LEAVE] = "a bind of tests or solution: no service gets it",
	};
	const struct compose *c = f->services->compose;
	uint32_t i, k;

	for (i = 0; i < c->n_services; i++)
		for (k = 0; k < c->services[i].mounts.n; k++) {
			const struct compose_mount *m = &c->services[i].mounts.v[k];
			enum compose_bind use = services_bind(f, m);

			if (use != COMPOSE_BIND_SHOW)
				(void)task_result_find(f->result, "services.bind", m->target, said[use]);
		}
}
