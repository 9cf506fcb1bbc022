#include "cli/launch_environ.h"

#include <unistd.h>

#include "plan/environ.h"

int launch_environ(struct arena *arena, const struct launch_request *req, const struct gate_inside *inside, bool tty,
		   char ***ret, struct error *err)
{
	const char *home = req->policy->folders.home;
	struct environ_request e = {.policy = req->policy->policy,
				    .host = environ,
				    .pwd = req->image ? req->image->cwd : req->workdir ? req->workdir : home,
				    .home = home,
				    .image = req->image,
				    .tty = tty,
				    .arguments = req->env_arguments,
				    .n_arguments = req->n_env_arguments};
	struct environ_placeholder placeholders[GATE_MAX_PLACEHOLDERS];
	struct environ_set set = {0};
	size_t i;

	for (i = 0; i < inside->n_placeholders; i++)
		if (inside->placeholders[i].variable[0])
			placeholders[e.n_placeholders++] = (struct environ_placeholder){
				inside->placeholders[i].variable, inside->placeholders[i].value};
	e.placeholders = placeholders;
	e.java_option = req->image || access("/etc/ssl/certs/java/cacerts", F_OK) < 0;
	if (environ_build(arena, &e, &set, err) < 0)
		return -1;
	*ret = environ_vector(arena, &set);
	return *ret ? 0 : error_set(err, ERROR_SYSTEM, "out of memory");
}
