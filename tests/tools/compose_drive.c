/*
 * compose-drive FOLDER PROJECT FILE IMAGE COMMAND...: a Compose file as the task runner takes it to Docker: parsed in a
 * confined child, planned, written anew, started, the command executed in the agent's service, everything removed.
 * Services with `build` get IMAGE. FOLDER is private and empty; beside it, FOLDER.task is the staged folder,
 * FOLDER.copies has the copies of binds, FOLDER.logs the runner's folders. The exit status is the command's, or 125.
 *
 * With COMMAND "-": only what would be given to the tool is printed.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "task/compose.h"
#include "task/compose_docker.h"
#include "task/compose_write.h"

enum { UP_MS = 60000, EXEC_MS = 20000 };

static int fail(const struct error *err)
{
	fprintf(stderr, "compose-drive: %s\n", err->text);
	return 125;
}

static int drive(const char *folder, const char *project, struct sv file, const char *service, const char *const *argv)
{
	struct compose_docker *d = NULL;
	struct error err = {0}, down = {0};
	int status = 0;

	if (compose_docker_new(folder, project, file, environ, &d, &err) < 0)
		return fail(&err);
	if (compose_docker_up(d, UP_MS, &err) < 0 ||
	    compose_docker_exec(d, service, argv, 0, 1, EXEC_MS, &status, &err) < 0)
		status = fail(&err);
	if (compose_docker_down(d, UP_MS, &down) < 0)
		status = fail(&down);
	compose_docker_free(d);
	return status;
}

static int write_anew(const struct compose *c, const char *folder, const char *image, struct arena *a, struct buf *out,
		      struct error *err)
{
	static const char *const hidden[] = {"tests", NULL};
	const char *images[COMPOSE_SERVICES_MAX] = {NULL};
	struct compose_place place = {.task = arena_printf(a, "%s.task", folder),
				      .copies = arena_printf(a, "%s.copies", folder),
				      .hidden = hidden};
	struct compose_policy policy = {.memory = 256 << 20, .cpus = 1000, .pids = 64, .images = images};
	struct compose_plan plan;
	uint32_t i;

	for (i = 0; i < COMPOSE_FOLDERS; i++)
		place.folders[i] = arena_printf(a, "%s.logs", folder);
	for (i = 0; i < c->n_services; i++)
		images[i] = c->services[i].build.set ? image : NULL;
	if (compose_plan(c, "docker-compose.yaml", "amd64", a, &plan, err) < 0)
		return -1;
	policy.plan = &plan;
	return compose_write(c, &place, &policy, out) < 0 ? error_set(err, ERROR_SYSTEM, "cannot write the file") : 0;
}

int main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct task_problems problems = {.arena = a};
	struct compose_input in = {
		.file = "docker-compose.yaml",
		.runner = {.project = "t", .image = "t", .prebuilt = "", .cpus = 1000, .memory = 1 << 30}};
	const struct compose *c = NULL;
	struct error err = {0};
	AUTO_BUF text = {0};
	AUTO_BUF out = {0};
	int status;

	buf_init(&text, 1 << 20);
	buf_init(&out, 1 << 20);
	if (argc < 6 || buf_read_file(&text, argv[3]) < 0)
		return 125;
	in.text = buf_view(&text);
	if (compose_load(&in, a, &problems, &c, &err) < 0 || write_anew(c, argv[1], argv[4], a, &out, &err) < 0) {
		arena_free(a);
		return fail(&err);
	}
	if (strcmp(argv[5], "-") == 0)
		status = puts(out.p) < 0;
	else
		status = drive(argv[1], argv[2], buf_view(&out), c->services[c->main].name,
			       (const char *const *)(argv + 5));
	arena_free(a);
	return status;
}
