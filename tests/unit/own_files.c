#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "sandbox/native/own_files.h"

enum { MORE_THAN_ARE_KEPT = 5000, THAT_STAY = 70 };

struct world {
	struct own_files own;
	char folder[64];
	int dir;
	struct rlimit files;
};

static void world_init(struct world *w)
{
	*w = (struct world){0};
	(void)snprintf(w->folder, sizeof(w->folder), "/tmp/own-files.XXXXXX");
	CHECK(mkdtemp(w->folder) != NULL);
	w->dir = open(w->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK(w->dir >= 0 && getrlimit(RLIMIT_NOFILE, &w->files) == 0);
}

/* Where a child asks no more, it ends as PID 1 would. */
static void world_done(struct world *w)
{
	struct rlimit now;

	own_files_sweep(&w->own);
	CHECK(getrlimit(RLIMIT_NOFILE, &now) == 0);
	CHECK(now.rlim_cur == w->files.rlim_cur && now.rlim_max == w->files.rlim_max);
	free(w->own.pins);
	(void)close(w->dir);
	CHECK(rmdir(w->folder) == 0);
}

static int make(struct world *w, const char *name)
{
	int fd = -1;

	CHECK(mkfifoat(w->dir, name, 0600) == 0);
	fd = openat(w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

static void make_own(struct world *w, const char *name)
{
	AUTO_FD fd = -1;

	own_files_begin(&w->own);
	fd = make(w, name);
	own_files_add(&w->own, fd);
	own_files_end(&w->own);
}

static bool has(const struct world *w, const char *name)
{
	struct stat st;

	return fstatat(w->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && own_files_has(&w->own, &st);
}

static void remove_name(struct world *w, const char *name)
{
	CHECK(unlinkat(w->dir, name, 0) == 0);
}

static void a_file_is_known_by_each_of_its_names(void)
{
	struct world w;

	world_init(&w);
	(void)close(make(&w, "hosts"));
	CHECK(!has(&w, "hosts"));
	make_own(&w, "own");
	CHECK(has(&w, "own") && !has(&w, "hosts"));
	CHECK(linkat(w.dir, "own", w.dir, "other", 0) == 0 && renameat(w.dir, "own", w.dir, "moved") == 0);
	own_files_sweep(&w.own);
	CHECK(has(&w, "other") && has(&w, "moved"));
	remove_name(&w, "other");
	remove_name(&w, "moved");
	remove_name(&w, "hosts");
	world_done(&w);
}

/* As long as it is remembered no other file gets its number. */
static void another_file_is_never_taken_for_one_that_is_gone(void)
{
	struct world w;
	int i;

	world_init(&w);
	for (i = 0; i < MORE_THAN_ARE_KEPT; i++) {
		make_own(&w, "own");
		remove_name(&w, "own");
		if (i % 100 == 0)
			own_files_sweep(&w.own);
		(void)close(make(&w, "hosts"));
		CHECK(!has(&w, "hosts"));
		remove_name(&w, "hosts");
	}
	world_done(&w);
}

/* As a server's, which are made once. */
static void those_that_stay_are_known_however_many_come_and_go(void)
{
	struct world w;
	char name[32];
	int i;

	world_init(&w);
	for (i = 0; i < THAT_STAY; i++) {
		(void)snprintf(name, sizeof(name), "%d", i);
		make_own(&w, name);
	}
	for (i = 0; i < MORE_THAN_ARE_KEPT; i++) {
		make_own(&w, "own");
		CHECK(has(&w, "own"));
		remove_name(&w, "own");
	}
	for (i = 0; i < THAT_STAY; i++) {
		(void)snprintf(name, sizeof(name), "%d", i);
		CHECK(has(&w, name));
		remove_name(&w, name);
	}
	world_done(&w);
}

static void the_oldest_of_too_many_give_way(void)
{
	struct world w;
	char name[32];
	bool before = false, now;
	int i, known = 0;

	world_init(&w);
	for (i = 0; i < MORE_THAN_ARE_KEPT; i++) {
		(void)snprintf(name, sizeof(name), "%d", i);
		make_own(&w, name);
	}
	for (i = 0; i < MORE_THAN_ARE_KEPT; i++) {
		(void)snprintf(name, sizeof(name), "%d", i);
		now = has(&w, name);
		known += now;
		CHECK(now || (!before && i < MORE_THAN_ARE_KEPT - 100));
		before = now;
		remove_name(&w, name);
	}
	CHECK(known < MORE_THAN_ARE_KEPT);
	world_done(&w);
}

static void whoever_searches_waits_for_what_is_being_made(void)
{
	struct world w;
	AUTO_FD fd = -1;
	int status = 0;
	pid_t child;

	world_init(&w);
	own_files_begin(&w.own);
	fd = make(&w, "own");
	child = fork();
	if (child == 0)
		_exit(has(&w, "own") ? 0 : 1);
	(void)usleep(50000);
	own_files_add(&w.own, fd);
	own_files_end(&w.own);
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	remove_name(&w, "own");
	world_done(&w);
}

int main(void)
{
	const struct check_case cases[] = {
		CASE(a_file_is_known_by_each_of_its_names),
		CASE(another_file_is_never_taken_for_one_that_is_gone),
		CASE(those_that_stay_are_known_however_many_come_and_go),
		CASE(the_oldest_of_too_many_give_way),
		CASE(whoever_searches_waits_for_what_is_being_made),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
