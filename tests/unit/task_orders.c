/* task/orders: what a sandbox left gives no orders to whoever looks at it in the folder of results. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "task/fetch.h"
#include "task/orders.h"

static char base[] = "/tmp/cordon-orders-XXXXXX";

struct world {
	struct arena *arena;
	struct orders orders;
	struct fetch_limits limits;
	int to;
};

static int folder(const char *name)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", base, name);
	CHECK(mkdir(path, 0755) == 0);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void begin(struct world *w, const char *to)
{
	*w = (struct world){.arena = arena_new(), .limits = FETCH_LIMITS, .to = folder(to)};
	CHECK(orders_init(&w->orders, w->arena) == 0);
	w->limits.orders = &w->orders;
	(void)orders_enter(&w->orders, "agent");
}

static void end(struct world *w)
{
	orders_done(&w->orders);
	arena_free(w->arena);
	(void)close(w->to);
}

/* A file, with the folders that it is in. */
static void put(int dir, const char *path)
{
	char part[256];
	const char *slash;
	int fd;

	for (slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		(void)mkdirat(dir, part, 0755);
	}
	fd = openat(dir, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	CHECK(fd >= 0 && write(fd, "x", 1) == 1);
	(void)close(fd);
}

static void put_all(int dir, const char *const *paths)
{
	for (; *paths; paths++)
		put(dir, *paths);
}

static bool is_there(int dir, const char *path)
{
	return faccessat(dir, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void fetch(struct world *w, const char *name, const char *const *paths)
{
	int from = folder(name);
	struct error err;

	put_all(from, paths);
	CHECK(fetch_folder(from, w->to, &w->limits, &err) == 0);
	(void)close(from);
}

static bool is_refused(const struct world *w, const char *path)
{
	size_t i;

	for (i = 0; i < w->orders.n_refused && i < ORDERS_NAMED; i++)
		if (strcmp(w->orders.refused[i].path, path) == 0)
			return w->orders.refused[i].reason != NULL;
	return false;
}

static void what_tools_obey_does_not_come(void)
{
	static const char *const paths[] = {".envrc",
					    ".bashrc",
					    ".env",
					    "a/b/c/d/.vscode/tasks.json",
					    ".git/HEAD",
					    "sub/.git",
					    "x/.config/fish/config.fish",
					    "a/mise.local.toml",
					    "y.code-workspace",
					    ".claude/settings.json",
					    ".ssh/config",
					    NULL};
	static const char *const none[] = {".envrc",
					   ".bashrc",
					   ".env",
					   "a/b/c/d/.vscode",
					   ".git",
					   "sub/.git",
					   "x/.config/fish",
					   "a/mise.local.toml",
					   "y.code-workspace",
					   ".claude/settings.json",
					   ".ssh",
					   NULL};
	char path[256];
	struct world w;
	size_t i;

	begin(&w, "obeyed");
	fetch(&w, "obeyed-from", paths);
	for (i = 0; none[i]; i++) {
		(void)snprintf(path, sizeof(path), "agent/%s", none[i]);
		CHECK(!is_there(w.to, none[i]) && is_refused(&w, path));
	}
	CHECK(w.orders.n_refused == i && w.limits.left_out == 0 && is_there(w.to, "a/b/c/d"));
	end(&w);
}

static void logs_and_artifacts_come(void)
{
	static const char *const paths[] = {
		"log.txt",      "a/result.json",    "plot.png", "t.csv",        "src/main.c", "src/git.py",
		"config",       "hooks/x",          "head",     "objects/list", "HEAD.md",    ".gitignore",
		"x.git/readme", ".config/app.toml", "refs.bib", "with space",   "\xc3\xbc",   NULL};
	struct world w;
	size_t i;

	begin(&w, "ordinary");
	fetch(&w, "ordinary-from", paths);
	for (i = 0; paths[i]; i++)
		CHECK(is_there(w.to, paths[i]));
	CHECK(w.orders.n_refused == 0 && w.limits.left_out == 0);
	end(&w);
}

static void another_spelling_is_the_same_name(void)
{
	static const char *const paths[] = {".GIT/config",
					    "a/.Git",
					    "b/.git ",
					    "c/.git...",
					    "d/.Envrc",
					    "e/.BASHRC",
					    "f/.VSCode/tasks.json",
					    "g/.config./fish/x",
					    "h/.rprofile",
					    "i/.g\xe2\x80\x8cit/HEAD",
					    NULL};
	static const char *const none[] = {
		".GIT",      "a/.Git",          "b/.git ",     "c/.git...",          "d/.Envrc", "e/.BASHRC",
		"f/.VSCode", "g/.config./fish", "h/.rprofile", "i/.g\xe2\x80\x8cit", NULL};
	struct world w;
	size_t i;

	begin(&w, "spelled");
	fetch(&w, "spelled-from", paths);
	for (i = 0; none[i]; i++)
		CHECK(!is_there(w.to, none[i]));
	CHECK(w.orders.n_refused == i && is_refused(&w, "agent/i/.g\\xe2\\x80\\x8cit"));
	end(&w);
}

static void no_repository_comes_whatever_its_name(void)
{
	static const char *const paths[] = {"bare/HEAD",   "bare/objects/x",   "bare/refs/x", "bare/config",
					    "a/tree/HEAD", "a/tree/commondir", "a/log",       NULL};
	static const char *const top[] = {"HEAD", "objects/x", "refs/x", "config", "hooks/pre-commit", NULL};
	struct world w, all;

	begin(&w, "bare-to");
	fetch(&w, "bare-from", paths);
	CHECK(!is_there(w.to, "bare/HEAD") && !is_there(w.to, "bare/config") && !is_there(w.to, "a/tree/HEAD") &&
	      is_there(w.to, "a/log"));
	CHECK(is_refused(&w, "agent/bare") && is_refused(&w, "agent/a/tree") && w.orders.n_refused == 2);
	end(&w);
	begin(&all, "top-to");
	fetch(&all, "top-from", top);
	CHECK(!is_there(all.to, "HEAD") && !is_there(all.to, "config") && is_refused(&all, "agent"));
	end(&all);
}

static void no_repository_comes_in_pieces(void)
{
	static const char *const first[] = {"r/HEAD",   "r/objects/x", "s/head", "t/HEAD",
					    "u/refs/x", "u/objects/x", NULL};
	static const char *const second[] = {"r/refs/x",    "r/log",  "s/Objects/x", "s/REFS/x",
					     "t/commondir", "u/HEAD", "v/refs./x",   NULL};
	struct world w;

	begin(&w, "pieces-to");
	fetch(&w, "pieces-1", first);
	CHECK(is_there(w.to, "r/HEAD") && is_there(w.to, "s/head") && w.orders.n_refused == 0);
	fetch(&w, "pieces-2", second);
	CHECK(!is_there(w.to, "r/refs") && is_there(w.to, "r/log") && is_refused(&w, "agent/r/refs"));
	CHECK(is_there(w.to, "s/Objects") + is_there(w.to, "s/REFS") == 1);
	CHECK(is_refused(&w, "agent/t/commondir") && is_refused(&w, "agent/u/HEAD") && is_refused(&w, "agent/v/refs."));
	CHECK(w.orders.n_refused == 5);
	end(&w);
}

static void what_is_refused_is_counted_and_the_first_named(void)
{
	int from = folder("many-from"), i;
	char path[64];
	struct error err;
	struct world w;

	for (i = 0; i < ORDERS_NAMED + 10; i++) {
		(void)snprintf(path, sizeof(path), "%d.code-workspace", i);
		put(from, path);
	}
	begin(&w, "many-to");
	CHECK(fetch_folder(from, w.to, &w.limits, &err) == 0);
	CHECK(w.orders.n_refused == ORDERS_NAMED + 10 && w.orders.refused[ORDERS_NAMED - 1].path);
	end(&w);
	(void)close(from);
}

static void what_goes_into_a_sandbox_again_is_whole(void)
{
	static const char *const paths[] = {".git/HEAD", ".envrc", "bare/HEAD", "bare/objects/x", "bare/refs/x", NULL};
	struct world w;

	begin(&w, "whole-to");
	w.limits.orders = NULL;
	fetch(&w, "whole-from", paths);
	CHECK(is_there(w.to, ".git/HEAD") && is_there(w.to, ".envrc") && is_there(w.to, "bare/refs/x"));
	end(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(what_tools_obey_does_not_come),           CASE(logs_and_artifacts_come),
		CASE(another_spelling_is_the_same_name),       CASE(no_repository_comes_whatever_its_name),
		CASE(no_repository_comes_in_pieces),           CASE(what_is_refused_is_counted_and_the_first_named),
		CASE(what_goes_into_a_sandbox_again_is_whole),
	};
	char command[64];
	int r;

	if (!mkdtemp(base))
		return 1;
	r = check_main(cases, sizeof(cases) / sizeof(cases[0]));
	(void)snprintf(command, sizeof(command), "rm -rf %s", base);
	return system(command) == 0 ? r : 1;
}
