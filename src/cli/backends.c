#include "cli/backends.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/docker/docker.h"
#include "sandbox/docker/where.h"
#include "sandbox/oci/oci.h"

extern char **environ;

const struct box_backend *const backends_all[] = {&oci_gvisor, &oci_runc, &oci_crun, &docker_backend, NULL};

const struct box_backend *backend_of(enum runtime r)
{
	size_t i;

	for (i = 0; backends_all[i]; i++)
		if (strcmp(backends_all[i]->name, runtime_names[r]) == 0)
			return backends_all[i];
	return NULL;
}

int backend_place(enum runtime r, char **ret, struct error *err)
{
	const char *program;

	if (r == RUNTIME_DOCKER)
		return where_is_docker(environ, ret, err);
	program = oci_program(backend_of(r));
	if (!program)
		return error_set(err, ERROR_MISSING, "%s is not installed",
				 r == RUNTIME_GVISOR ? "runsc" : runtime_names[r]);
	*ret = strdup(program);
	return *ret ? 0 : error_set(err, ERROR_SYSTEM, "out of memory");
}
