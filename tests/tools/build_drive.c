/*
 * build-drive: builds images without the command line.
 *
 *	build-drive import NAME PATH
 *	build-drive build|docker|check CONTEXT [DOCKERFILE [NAME=VALUE...]]
 *	build-drive cat NAME PATH		a file of an image, as its layers show it
 *	build-drive config NAME
 *	build-drive ids			how many there are
 *	build-drive forget		removes all images and layers
 *
 * BUILD_DRIVE_ENGINE is the path of Docker Engine's socket. BUILD_DRIVE_RUN is the path of image-run (image_run.c):
 * each RUN is then a run of it, sandboxed; else a RUN is only a chroot in the image's ids.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "image/ids.h"
#include "image/import.h"
#include "image/merged.h"
#include "task/build.h"

struct runner {
	const struct build_run *r;
};

static int run_in_child(void *arg, int root, int kept, struct error *err)
{
	const struct build_run *r = ((struct runner *)arg)->r;
	char **env;
	size_t n = 0;
	pid_t pid;
	int status = 0;

	(void)kept;
	while (r->root->env[n])
		n++;
	env = calloc(n + 1, sizeof(*env));
	for (n = 0; env && r->root->env[n]; n++)
		env[n] = strdup(r->root->env[n]);
	(void)umask(022);
	pid = fork();
	if (pid == 0) {
		if (fchdir(root) < 0 || chroot(".") < 0 || chdir(r->root->cwd) < 0 ||
		    (r->root->ids.count > 1 && setgid(r->root->gid) < 0) ||
		    (r->root->ids.count > 1 && setuid(r->root->uid) < 0))
			_exit(125);
		(void)execvpe(r->argv[0], r->argv, env);
		_exit(127);
	}
	(void)waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0
		       ? 0
		       : error_set(err, ERROR_INPUT, "the command ended with exit status %d", WEXITSTATUS(status));
}

enum { ARGUMENTS = 4096 };

struct arguments {
	char *v[ARGUMENTS];
	size_t n;
};

static void add(struct arguments *a, const char *option, const char *value)
{
	if (a->n + 3 > ARGUMENTS)
		abort();
	a->v[a->n++] = strdup(option);
	if (value)
		a->v[a->n++] = strdup(value);
}

/* As the task runner asks for it: an image's root with all that the builder put into it. */
static int run_sandboxed(const char *program, const struct build_run *r, const char *folder)
{
	const struct image_root *root = r->root;
	static struct arguments a;
	char text[8192];
	int status = 0;
	size_t k;
	pid_t pid;

	a.n = 0;
	add(&a, program, "run");
	for (k = 0; root->layers[k]; k++)
		add(&a, "--layer", root->layers[k]);
	add(&a, "--folder", folder);
	(void)snprintf(text, sizeof(text), "%u:%u:%u", root->ids.count, root->ids.zero_uid, root->ids.first_uid);
	add(&a, "--ids", text);
	(void)snprintf(text, sizeof(text), "%u:%u", root->uid, root->gid);
	add(&a, "--user", text);
	add(&a, "--cwd", root->cwd);
	for (k = 0; root->env[k]; k++)
		add(&a, "--var", root->env[k]);
	for (k = 0; k < root->n_mounts; k++) {
		(void)snprintf(text, sizeof(text), "%s:%s%s", root->mounts[k].source, root->mounts[k].target,
			       root->mounts[k].writable ? ":rw" : "");
		add(&a, "--mount", text);
	}
	add(&a, "--", NULL);
	for (k = 0; r->argv[k]; k++)
		add(&a, r->argv[k], NULL);
	a.v[a.n] = NULL;
	pid = fork();
	if (pid == 0) {
		(void)execv(program, a.v);
		_exit(125);
	}
	(void)waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}

static int run(void *arg, const struct build_run *r, struct error *err)
{
	const char *program = getenv("BUILD_DRIVE_RUN");
	struct runner it = {r};
	struct merged_tree tree = {r->root->layers, NULL};
	struct merged m;
	char folder[4096];

	(void)arg;
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(r->root->upper, '/') - r->root->upper),
		       r->root->upper);
	tree.folder = folder;
	if (program)
		return run_sandboxed(program, r, folder);
	if (merged_start(&r->root->ids, &tree, -1, run_in_child, &it, &m, err) < 0)
		return -1;
	return merged_end(&m, NULL, err);
}

static void step(void *arg, size_t at, size_t all, const char *text, bool cached)
{
	(void)arg;
	printf("%zu/%zu %s%s\n", at, all, text, cached ? " (cached)" : "");
}

static void note(void *arg, const char *text)
{
	(void)arg;
	printf("note: %s\n", text);
}

static int fail(const struct error *err)
{
	fprintf(stderr, "build-drive: %s\n", err->text);
	return 1;
}

static int import(struct image_store *s, char **argv)
{
	struct image_import im = {.name = argv[2], .path = argv[3], .input = -1};
	char digest[IMAGE_DIGEST];
	struct error err = {0};

	return image_import(s, &im, digest, &err) < 0 ? fail(&err) : puts(digest) < 0;
}

static int cat_in_child(void *arg, int root, int kept, struct error *err)
{
	char *const *argv = arg;
	char bytes[65536];
	struct stat st;
	AUTO_FD fd = -1;
	ssize_t n;

	(void)kept;
	if (fchdir(root) < 0 || chroot(".") < 0)
		return error_sys(err, errno, "chroot");
	if (lstat(argv[3], &st) < 0)
		return error_sys(err, errno, "%s", argv[3]);
	printf("%o %u:%u ", st.st_mode, st.st_uid, st.st_gid);
	fflush(stdout);
	fd = open(argv[3], O_RDONLY | O_CLOEXEC);
	while (S_ISREG(st.st_mode) && (n = read(fd, bytes, sizeof(bytes))) > 0)
		(void)!write(1, bytes, (size_t)n);
	n = S_ISLNK(st.st_mode) ? readlink(argv[3], bytes, sizeof(bytes)) : 0;
	(void)!write(1, bytes, n > 0 ? (size_t)n : 0);
	return 0;
}

static int cat(struct image_store *s, char **argv)
{
	struct merged_tree tree = {0};
	struct error err = {0};
	struct merged m;
	struct image i;
	int r;

	if (image_find(s, argv[2], &i, &err) < 0)
		return fail(&err);
	tree.layers = (const char *const *)i.layers;
	r = merged_start(&i.ids, &tree, -1, cat_in_child, argv, &m, &err);
	if (r == 0)
		r = merged_end(&m, NULL, &err);
	image_done(&i);
	return r < 0 ? fail(&err) : 0;
}

static void show(const char *what, const char *const *v)
{
	printf("%s:", what);
	for (; v && *v; v++)
		printf(" %s", *v);
	printf("\n");
}

static int config(struct image_store *s, char **argv)
{
	struct error err = {0};
	struct image i;

	if (image_find(s, argv[2], &i, &err) < 0)
		return fail(&err);
	show("env", (const char *const *)i.config.env);
	show("entrypoint", (const char *const *)i.config.entrypoint);
	show("command", (const char *const *)i.config.command);
	printf("workdir: %s\nuser: %s\nlayers: %zu\n", i.config.workdir, i.config.user, i.n_layers);
	image_done(&i);
	return 0;
}

static int forget_one(void *arg, struct image *i)
{
	struct error err = {0};

	return image_remove(arg, i->digest, NULL, &err) < 0;
}

static int forget(struct image_store *s)
{
	AUTO_FD dir = open(image_store_path(s), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct error err = {0};

	if (image_each(s, forget_one, s, &err) < 0)
		return fail(&err);
	/* what is only in the cache, too */
	return image_ids_remove(image_store_ids(s), dir, "layers", &err) < 0 ? fail(&err) : 0;
}

static int check(const struct build_request *req)
{
	AUTO_PROBLEMS problems = {0};
	struct error err = {0};
	size_t k;

	if (build_check(req, &problems, &err) < 0)
		return fail(&err);
	for (k = 0; k < problems.n; k++)
		printf("%s\n", problems.v[k]);
	return problems.n > 0;
}

static int64_t number(const char *name)
{
	const char *v = getenv(name);

	return v ? strtoll(v, NULL, 10) : 0;
}

static int build(struct image_store *s, int argc, char **argv)
{
	AUTO_FD context = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct build_request req = {.store = s,
				    .context = context,
				    .dockerfile = argc > 3 ? argv[3] : "Dockerfile",
				    .name = "built",
				    .run = run,
				    .step = step,
				    .note = note,
				    .engine = getenv("BUILD_DRIVE_ENGINE")};
	struct build_result result;
	struct error err = {0};

	req.limit.room = (uint64_t)number("BUILD_DRIVE_ROOM");
	req.limit.until_ms = number("BUILD_DRIVE_MS") ? now_ms() + number("BUILD_DRIVE_MS") : 0;
	req.args = argc > 4 ? (const char *const *)argv + 4 : NULL;
	if (context < 0) {
		(void)error_sys(&err, errno, "%s", argv[2]);
		return fail(&err);
	}
	if (strcmp(argv[1], "check") == 0)
		return check(&req);
	req.network = getenv("BUILD_DRIVE_NETWORK") != NULL;
	if ((strcmp(argv[1], "docker") == 0 ? build_docker(&req, &result, &err) : build_native(&req, &result, &err)) <
	    0)
		return fail(&err);
	printf("%s\nsteps %zu cached %zu\n", result.digest, result.steps, result.cached);
	return 0;
}

int main(int argc, char **argv)
{
	struct image_store *s = NULL;
	struct error err = {0};
	int r = 2;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (image_store_open(&s, &err) < 0)
		return fail(&err);
	if (argc == 4 && strcmp(argv[1], "import") == 0)
		r = import(s, argv);
	else if (argc == 4 && strcmp(argv[1], "cat") == 0)
		r = cat(s, argv);
	else if (argc == 3 && strcmp(argv[1], "config") == 0)
		r = config(s, argv);
	else if (argc == 2 && strcmp(argv[1], "ids") == 0)
		r = printf("%u\n", image_store_ids(s)->count) < 0;
	else if (argc == 2 && strcmp(argv[1], "forget") == 0)
		r = forget(s);
	else if (argc >= 3)
		r = build(s, argc, argv);
	image_store_close(s);
	return r;
}
