#include "sys/tree.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"

struct place {
	char path[64];
	int fd;
};

static void begin(struct place *p)
{
	(void)snprintf(p->path, sizeof(p->path), "/tmp/cordon-tree.XXXXXX");
	CHECK(mkdtemp(p->path) != NULL);
	p->fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(p->fd >= 0);
}

static void end(struct place *p)
{
	(void)close(p->fd);
	sys_remove_tree(AT_FDCWD, p->path);
	CHECK(access(p->path, F_OK) < 0);
}

static void make_file(int dir, const char *name, mode_t mode)
{
	AUTO_FD fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

	CHECK(fd >= 0 && fchmod(fd, mode) == 0);
}

static bool there(int dir, const char *name)
{
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static mode_t mode_of(int dir, const char *name)
{
	struct stat st = {0};

	CHECK(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0);
	return st.st_mode & 07777;
}

static void a_tree_goes_with_folders_that_are_shut(void)
{
	struct place p;

	begin(&p);
	CHECK(mkdirat(p.fd, "t", 0700) == 0 && mkdirat(p.fd, "t/a", 0700) == 0 && mkdirat(p.fd, "t/a/b", 0700) == 0);
	make_file(p.fd, "t/a/b/f", 0000);
	CHECK(fchmodat(p.fd, "t/a/b", 0000, 0) == 0 && fchmodat(p.fd, "t/a", 0500, 0) == 0 &&
	      fchmodat(p.fd, "t", 0000, 0) == 0);
	sys_remove_tree(p.fd, "t");
	CHECK(!there(p.fd, "t"));
	end(&p);
}

static void links_are_removed_and_never_followed(void)
{
	struct place p;

	begin(&p);
	CHECK(mkdirat(p.fd, "outside", 0755) == 0 && mkdirat(p.fd, "t", 0700) == 0 && mkdirat(p.fd, "t/a", 0700) == 0);
	make_file(p.fd, "outside/f", 0640);
	CHECK(symlinkat("../outside", p.fd, "t/folder") == 0 && symlinkat("../../outside/f", p.fd, "t/a/file") == 0 &&
	      symlinkat("outside", p.fd, "link") == 0);
	/* where nothing can be unlinked at first, the way of a link must not be taken instead */
	CHECK(fchmodat(p.fd, "t/a", 0500, 0) == 0 && fchmodat(p.fd, "t", 0500, 0) == 0);
	sys_remove_tree(p.fd, "t");
	sys_remove_tree(p.fd, "link");
	CHECK(!there(p.fd, "t") && !there(p.fd, "link"));
	CHECK(there(p.fd, "outside/f") && mode_of(p.fd, "outside") == 0755 && mode_of(p.fd, "outside/f") == 0640);
	end(&p);
}

static void a_file_is_removed_by_its_name(void)
{
	struct place p;

	begin(&p);
	make_file(p.fd, "f", 0600);
	sys_remove_tree(p.fd, "f");
	sys_remove_tree(p.fd, "no-such-name");
	CHECK(!there(p.fd, "f"));
	end(&p);
}

/* Two branches that a path could not name, one of them shut at the bottom, with fewer descriptors than there are
 * folders. */
static void a_tree_goes_however_deep_it_is(void)
{
	enum { DEEP = 3000 };
	const struct rlimit few = {200, 200};
	struct place p;
	unsigned i, k;

	begin(&p);
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	CHECK(mkdirat(p.fd, "t", 0700) == 0 && fchdir(p.fd) == 0);
	for (k = 0; k < 2; k++) {
		CHECK(fchdir(p.fd) == 0 && chdir("t") == 0);
		for (i = 0; i < DEEP; i++)
			CHECK(mkdir(k || i ? "d" : "c", 0700) == 0 && chdir(k || i ? "d" : "c") == 0);
		make_file(AT_FDCWD, "f", 0600);
		CHECK(chmod(".", k ? 0700 : 0) == 0);
	}
	CHECK(chdir("/") == 0);
	sys_remove_tree(p.fd, "t");
	CHECK(!there(p.fd, "t"));
	end(&p);
}

static void each_name_is_listed_once(void)
{
	enum { MANY = 300 };
	struct sys_names names;
	bool seen[MANY] = {false};
	const char *name;
	char text[64];
	struct place p;
	int i, n = 0;

	begin(&p);
	CHECK(sys_is_empty(p.fd));
	for (i = 0; i < MANY; i++) {
		(void)snprintf(text, sizeof(text), "a-name-of-some-length-%d", i);
		make_file(p.fd, text, 0600);
	}
	CHECK(!sys_is_empty(p.fd) && sys_names_open(&names, p.fd) == 0);
	for (; (name = sys_names_next(&names)); n++) {
		CHECK(sscanf(name, "a-name-of-some-length-%d", &i) == 1 && i >= 0 && i < MANY && !seen[i]);
		CHECK(names.type == DT_REG || names.type == DT_UNKNOWN);
		seen[i] = true;
	}
	CHECK(n == MANY);
	sys_names_close(&names);
	CHECK(sys_names_open(&names, -1) < 0);
	end(&p);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_tree_goes_with_folders_that_are_shut),
		CASE(links_are_removed_and_never_followed),
		CASE(a_file_is_removed_by_its_name),
		CASE(a_tree_goes_however_deep_it_is),
		CASE(each_name_is_listed_once),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
