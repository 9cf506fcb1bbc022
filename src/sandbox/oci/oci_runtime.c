#include "sandbox/oci/oci_runtime.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Fixed places, since what PATH says may come from a project's own set-up files: a task must not choose what its
 * sandbox is made by. */
#define PATHS(name)                                                                                                    \
	{                                                                                                              \
		"/usr/local/sbin/" name, "/usr/local/bin/" name, "/usr/sbin/" name, "/usr/bin/" name, "/sbin/" name,   \
			"/bin/" name                                                                                   \
	}

static const struct oci_runtime runtimes[] = {
	{
		.name = "gvisor",
		.paths = PATHS("runsc"),
		/* The platform that works everywhere: kvm hangs where nested virtualisation is missing. */
		.flags = {"--platform=ptrace", "--network=none", "--host-uds=open", "--ignore-cgroups"},
		.rootless_flags = {"--rootless"},
		.cgroups = OCI_CGROUPS_LEFT,
		.own_kernel = true,
		.graces = true,
	},
	{
		.name = "runc",
		.paths = PATHS("runc"),
		/* It means cgroups only: those that cannot be made are done without. */
		.flags = {"--rootless=true"},
		.cgroups = OCI_CGROUPS_READ_ONLY,
		.recursive = true,
	},
	{
		.name = "crun",
		.paths = PATHS("crun"),
		.flags = {"--cgroup-manager=disabled"},
		.sealed = "_LIBCONTAINER_CLONED_BINARY=1",
		.cgroups = OCI_CGROUPS_V1_ONLY,
		.recursive = true,
	},
};

const struct oci_runtime *oci_runtime_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(runtimes); i++)
		if (strcmp(runtimes[i].name, name) == 0)
			return &runtimes[i];
	return NULL;
}

const char *oci_runtime_program(const struct oci_runtime *r)
{
	struct stat st;
	size_t i;

	for (i = 0; r->paths[i]; i++)
		if (stat(r->paths[i], &st) == 0 && S_ISREG(st.st_mode) && access(r->paths[i], X_OK) == 0)
			return r->paths[i];
	return NULL;
}
