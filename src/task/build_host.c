#include "task/build_host.h"

#include <stdlib.h>
#include <unistd.h>

#include "sandbox/docker/where.h"

extern char **environ;

char *build_engine_path(void)
{
	struct error ignored = {0};
	char *engine = NULL;

	if (where_is_docker(environ, &engine, &ignored) == 0 && access(engine, R_OK | W_OK) == 0)
		return engine;
	free(engine);
	return NULL;
}

uint64_t build_storage(const struct task_environment *e)
{
	return e->storage.set ? e->storage.v : (uint64_t)TASK_DEFAULT_STORAGE_MB << 20;
}

const char *build_limits(const struct task_environment *e, struct arena *to)
{
	return arena_printf(to, "cpus %llu memory %llu storage %llu", (unsigned long long)(e->cpus.set ? e->cpus.v : 0),
			    (unsigned long long)(e->memory.set ? e->memory.v : 0),
			    (unsigned long long)build_storage(e));
}
