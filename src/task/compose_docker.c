#include "task/compose_docker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "image/name.h"
#include "sandbox/docker/where.h"
#include "task/compose_sweep.h"
#include "task/compose_tool.h"

#define FILE_NAME "compose.json"
#define NO_VARIABLES "none.env" /* docker-compose takes no device for such a file */
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

enum { PROBE_MS = 20000, ENGINE_MS = 10000, POLL_MS = 100, ARGS_MAX = 512, REMOVE_MS = 30000 };

struct compose_docker {
	struct arena *arena;
	struct engine engine;
	char *folder, *project, *file, *no_variables;
	char **env;
	char program[PATH_MAX];
	bool plugin; /* `docker compose`; else `docker-compose` */
};

/* Parts that are not absolute would be looked for where the tool runs. */
static char *clean_path(struct arena *a, const char *path)
{
	AUTO_BUF out = {0};

	buf_init(&out, 1 << 16);
	while (path && *path) {
		size_t n = strcspn(path, ":");

		if (*path == '/') {
			if (out.n)
				(void)buf_char(&out, ':');
			(void)buf_add(&out, path, n);
		}
		path += n + (path[n] == ':');
	}
	return arena_str(a, out.n && !buf_failed(&out) ? buf_view(&out) : sv_of(DEFAULT_PATH));
}

char **compose_docker_environment(struct arena *a, const char *path, const char *home, const char *socket)
{
	char **env = arena_array(a, 4, sizeof(*env));
	const char *clean = clean_path(a, path);

	if (!env || !clean)
		return NULL;
	env[0] = arena_printf(a, "PATH=%s", clean);
	env[1] = arena_printf(a, "HOME=%s", home);
	env[2] = arena_printf(a, "DOCKER_HOST=unix://%s", socket);
	return env[0] && env[1] && env[2] ? env : NULL;
}

static const char *variable(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

static bool is_project(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_-");

	return n > 0 && n <= 60 && !s[n] && s[0] != '_' && s[0] != '-';
}

static int check_folder(const char *folder, struct error *err)
{
	AUTO_FD fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (folder[0] != '/' || fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, fd < 0 ? errno : EINVAL, "the folder of the Compose project");
	if (st.st_uid != geteuid() || (st.st_mode & 077))
		return error_set(err, ERROR_SYSTEM, "the folder of the Compose project can be entered by others");
	return 0;
}

static int write_file(const char *path, struct sv bytes, struct error *err)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : write_all(fd, bytes.p, bytes.n);

	return r < 0 ? error_sys(err, r, "writing the Compose file") : 0;
}

/* Runs the tool with these arguments. Its status, or -1. What it said last is in tail. */
static int run(const struct compose_docker *d, char *const *argv, int in, int out, unsigned ms, struct buf *tail,
	       struct error *err)
{
	const struct compose_tool tool = {.program = d->program,
					  .argv = argv,
					  .env = d->env,
					  .folder = d->folder,
					  .in = in,
					  .out = out,
					  .ms = ms};
	int status = compose_tool_run(&tool, tail);

	return status < 0 ? error_sys(err, status, "starting %s", d->plugin ? "docker compose" : "docker-compose")
			  : status;
}

static bool has_plugin(const struct compose_docker *d)
{
	char docker[] = "docker", compose[] = "compose", version[] = "version";
	char *argv[] = {docker, compose, version, NULL};
	struct error ignored = {0};
	AUTO_BUF tail = {0};

	buf_init(&tail, COMPOSE_OUTPUT_MAX);
	return run(d, argv, -1, -1, PROBE_MS, &tail, &ignored) == 0;
}

static int find_tool(struct compose_docker *d, struct error *err)
{
	const char *path = variable(d->env, "PATH");

	d->plugin = true;
	if (compose_tool_find(path, "docker", d->program, sizeof(d->program)) && has_plugin(d))
		return 0;
	d->plugin = false;
	if (compose_tool_find(path, "docker-compose", d->program, sizeof(d->program)))
		return 0;
	return error_set(
		err, ERROR_MISSING,
		"there is neither `docker compose` nor `docker-compose` here; install one, or use another runtime");
}

/* All but the tool and the files. */
static int set_up(struct compose_docker *d, const char *folder, const char *project, const char *socket,
		  const char *path, struct error *err)
{
	d->env = compose_docker_environment(d->arena, path, folder, socket);
	d->folder = arena_str(d->arena, sv_of(folder));
	d->project = arena_str(d->arena, sv_of(project));
	d->file = arena_printf(d->arena, "%s/" FILE_NAME, folder);
	d->no_variables = arena_printf(d->arena, "%s/" NO_VARIABLES, folder);
	if (!d->env || !d->folder || !d->project || !d->file || !d->no_variables)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	return engine_init(&d->engine, socket, ENGINE_MS, err);
}

static int make(const char *folder, const char *project, const char *socket, const char *path,
		struct compose_docker **ret, struct error *err)
{
	struct compose_docker *d;

	if (!is_project(project))
		return error_set(err, ERROR_SYSTEM, "not a name for a Compose project");
	if (check_folder(folder, err) < 0)
		return -1;
	d = calloc(1, sizeof(*d));
	if (d)
		d->arena = arena_new();
	if (!d || !d->arena) {
		free(d);
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	if (set_up(d, folder, project, socket, path, err) < 0) {
		compose_docker_free(d);
		return -1;
	}
	*ret = d;
	return 0;
}

int compose_docker_new(const char *folder, const char *project, struct sv file, char *const *operator_env,
		       struct compose_docker **ret, struct error *err)
{
	AUTO_FREE char *socket = NULL;
	struct compose_docker *d = NULL;

	if (where_is_docker(operator_env, &socket, err) < 0 ||
	    make(folder, project, socket, variable(operator_env, "PATH"), &d, err) < 0)
		return -1;
	if (find_tool(d, err) < 0 || write_file(d->no_variables, sv_of(""), err) < 0 ||
	    write_file(d->file, file, err) < 0) {
		compose_docker_free(d);
		return -1;
	}
	*ret = d;
	return 0;
}

int compose_docker_again(const char *folder, const char *project, const char *socket, char *const *operator_env,
			 struct compose_docker **ret, struct error *err)
{
	struct error ignored = {0};

	if (make(folder, project, socket, variable(operator_env, "PATH"), ret, err) < 0)
		return -1;
	if (find_tool(*ret, &ignored) < 0)
		(*ret)->program[0] = '\0';
	return 0;
}

void compose_docker_free(struct compose_docker *d)
{
	if (!d)
		return;
	engine_done(&d->engine);
	arena_free(d->arena);
	free(d);
}

/* TOOL [compose] --project-name P ... and the rest, which ends with NULL. argv has room for ARGS_MAX. -1: too many. */
static int arguments(const struct compose_docker *d, const char *const *rest, const char **argv)
{
	const char *const common[] = {"--ansi",  "never",      "--project-name", d->project, "--project-directory",
				      d->folder, "--env-file", d->no_variables,  "--file",   d->file};
	size_t n = 0, i;

	argv[n++] = d->plugin ? "docker" : "docker-compose";
	if (d->plugin)
		argv[n++] = "compose";
	for (i = 0; i < ARRAY_LEN(common); i++)
		argv[n++] = common[i];
	for (i = 0; rest[i]; i++) {
		if (n == ARGS_MAX - 1)
			return -1;
		argv[n++] = rest[i];
	}
	argv[n] = NULL;
	return 0;
}

static int compose(const struct compose_docker *d, const char *const *rest, int in, int out, unsigned ms,
		   struct buf *tail, struct error *err)
{
	const char *argv[ARGS_MAX];
	char *const *plain;

	if (arguments(d, rest, argv) < 0)
		return error_set(err, ERROR_INPUT, "too many arguments for a command in a service");
	/* execve() does not write to them. */
	memcpy(&plain, &(const char *const *){argv}, sizeof(plain));
	return run(d, plain, in, out, ms, tail, err);
}

/* The last line that says something. */
static int failed(const char *what, int status, const struct buf *tail, struct error *err)
{
	struct text_shown shown;
	size_t to = tail->n, from;

	while (to && (tail->p[to - 1] == '\n' || tail->p[to - 1] == '\r' || tail->p[to - 1] == ' '))
		to--;
	for (from = to; from && tail->p[from - 1] != '\n'; from--)
		;
	if (status == COMPOSE_TOOL_TIME)
		return error_set(err, ERROR_SYSTEM, "%s took too long", what);
	return error_set(err, ERROR_SYSTEM, "%s failed (%d): %.300s", what, status,
			 text_show(&shown, sv_n(tail->p ? tail->p + from : "", to - from)));
}

static int wait_until_healthy(struct compose_docker *d, int64_t until, struct error *err)
{
	struct compose_health_count count;

	for (;;) {
		if (compose_sweep_health(&d->engine, d->project, &count, err) < 0)
			return -1;
		if (count.unhealthy)
			return error_set(err, ERROR_SYSTEM, "service %s is not healthy: its health check fails",
					 count.name);
		if (!count.starting)
			return 0;
		if (now_ms() >= until)
			return error_set(err, ERROR_SYSTEM,
					 "starting the services took too long: %s is not healthy yet", count.name);
		(void)usleep(POLL_MS * 1000);
	}
}

int compose_docker_up(struct compose_docker *d, unsigned ms, struct error *err)
{
	static const char *const rest[] = {"up", "--detach", "--no-build", "--no-color", NULL};
	int64_t until = now_ms() + ms;
	AUTO_BUF tail = {0};
	int status;

	buf_init(&tail, 2 * COMPOSE_OUTPUT_MAX);
	status = compose(d, rest, -1, -1, ms, &tail, err);
	if (status < 0)
		return -1;
	return status ? failed("starting the services", status, &tail, err) : wait_until_healthy(d, until, err);
}

int compose_docker_exec(struct compose_docker *d, const char *service, const char *const *argv, int in, int out,
			unsigned ms, int *ret_status, struct error *err)
{
	const char *rest[ARGS_MAX] = {"exec", "-T", service};
	AUTO_FD null = out < 0 ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
	AUTO_BUF tail = {0};
	size_t n = 3;
	int status;

	buf_init(&tail, 2 * COMPOSE_OUTPUT_MAX);
	for (; *argv; argv++) {
		if (n == ARGS_MAX - 1)
			return error_set(err, ERROR_INPUT, "too many arguments for a command in a service");
		rest[n++] = *argv;
	}
	status = compose(d, rest, in, out < 0 ? null : out, ms, &tail, err);
	if (status < 0)
		return -1;
	*ret_status = status;
	return 0;
}

int compose_docker_down(struct compose_docker *d, unsigned ms, struct error *err)
{
	static const char *const rest[] = {"down", "--volumes", "--remove-orphans", "--timeout", "0", NULL};
	struct error ignored = {0};
	AUTO_BUF tail = {0};

	buf_init(&tail, 2 * COMPOSE_OUTPUT_MAX);
	if (d->program[0])
		(void)compose(d, rest, -1, -1, ms, &tail,
			      &ignored); /* whatever it left is seen to by the engine itself */
	return compose_sweep(&d->engine, d->project, REMOVE_MS, err);
}

const char *compose_docker_socket(const struct compose_docker *d)
{
	return d->engine.path;
}

int compose_docker_unused(const struct compose_docker *d, struct error *err)
{
	int n = compose_sweep_count(&d->engine, d->project, err);

	if (n > 0)
		return error_set(err, ERROR_INPUT,
				 "Docker Engine has containers, networks or volumes of a project %s already; --name "
				 "gives another name",
				 d->project);
	return n;
}

int compose_docker_has_image(const struct compose_docker *d, const char *image, struct error *err)
{
	char path[IMAGE_NAME_MAX + 32];
	struct engine_request ask = {.method = "GET", .path = path, .timeout_ms = ENGINE_MS};
	char name[IMAGE_NAME_MAX + 1];
	AUTO_ANSWER a = {0};

	if (image_name_canonical(sv_of(image), name, err) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "/images/%s/json", name);
	if (engine_call(&d->engine, &ask, &a, err) < 0)
		return -1;
	if (a.status == 404)
		return 0;
	return a.status == 200 ? 1 : engine_refused(&a, "Docker Engine does not say what it knows of an image", err);
}

int compose_docker_container(const struct compose_docker *d, const char *service, char *ret, size_t size,
			     struct error *err)
{
	return compose_sweep_container(&d->engine, d->project, service, ret, size, err);
}

int compose_docker_forget_images(struct compose_docker *d, struct error *err)
{
	return compose_sweep_images(&d->engine, d->project, REMOVE_MS, err);
}
