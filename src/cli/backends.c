#include "cli/backends.h"

#include <stddef.h>
#include <string.h>

#include "sandbox/docker/docker.h"
#include "sandbox/oci/oci.h"

const struct box_backend *const backends_all[] = {&oci_gvisor, &oci_runc, &oci_crun, &docker_backend, NULL};

const struct box_backend *backend_of(enum runtime r)
{
	size_t i;

	for (i = 0; backends_all[i]; i++)
		if (strcmp(backends_all[i]->name, runtime_names[r]) == 0)
			return backends_all[i];
	return NULL;
}
