/* Places for mounts in a root that strangers filled: nothing is found or made outside of it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "sandbox/common/root_place.h"
#include "supervise/usage.h"

struct world {
	char base[PATH_MAX]; /* world/root; world/outside is beside it */
	int dir;	     /* world */
	struct buf made;
	struct root_places places;
};

static void world_make(struct world *w)
{
	char temporary[] = "/tmp/root_place.XXXXXX", real[PATH_MAX];

	if (!mkdtemp(temporary) || !realpath(temporary, real))
		exit(99);
	w->dir = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->dir < 0 || mkdirat(w->dir, "root", 0755) < 0 || mkdirat(w->dir, "outside", 0755) < 0)
		exit(99);
	(void)snprintf(w->base, sizeof(w->base), "%.200s/root", real);
	buf_init(&w->made, 65536);
	w->places = (struct root_places){
		.root = open(w->base, O_PATH | O_DIRECTORY | O_CLOEXEC), .base = w->base, .made = &w->made};
}

static void world_end(struct world *w)
{
	char command[PATH_MAX + 16];

	(void)close(w->places.root);
	(void)close(w->dir);
	buf_done(&w->made);
	*strrchr(w->base, '/') = '\0';
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", w->base);
	CHECK(system(command) == 0);
}

static void link_at(const struct world *w, const char *name, const char *text)
{
	CHECK(symlinkat(text, w->places.root, name) == 0);
}

static bool outside_is_empty(const struct world *w)
{
	struct stat st;

	return fstatat(w->dir, "outside", &st, 0) == 0 && st.st_nlink == 2 &&
	       faccessat(w->dir, "outside/x", F_OK, 0) < 0 && faccessat(w->dir, "x", F_OK, 0) < 0;
}

/* The place's name from the root, or -errno in want. */
static void check_place(struct world *w, const char *path, unsigned kind, int want, const char *name)
{
	int fd = root_place(&w->places, path, kind);
	char link[64], got[PATH_MAX] = "";
	ssize_t n;

	if (fd < 0) {
		if (fd != want)
			printf("# %s: %s, want %s\n", path, strerror(-fd), name ? name : strerror(-want));
		CHECK(fd == want);
		return;
	}
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, got, sizeof(got) - 1);
	got[n > 0 ? n : 0] = '\0';
	CHECK(want == 0 && strncmp(got, w->base, strlen(w->base)) == 0);
	CHECK_STR(got + strlen(w->base), name ? name : "(a refusal)");
	(void)close(fd);
}

static void places_are_made_where_they_are_missing_and_noted(void)
{
	static const char want[] = "/a\0/a/b\0/a/b/c\0/a/f";
	struct world w;

	world_make(&w);
	check_place(&w, "/a/b/c", ROOT_PLACE_FOLDER, 0, "/a/b/c");
	check_place(&w, "/a/f", ROOT_PLACE_FILE, 0, "/a/f");
	check_place(&w, "/a//b", ROOT_PLACE_FOLDER, 0, "/a/b");
	CHECK(w.made.n == sizeof(want) && memcmp(w.made.p, want, sizeof(want)) == 0);
	check_place(&w, "/a/f", ROOT_PLACE_FOLDER, -ENOTDIR, NULL);
	check_place(&w, "/a/b", ROOT_PLACE_FILE, -EISDIR, NULL);
	check_place(&w, "/a/f/g", ROOT_PLACE_FILE, -ENOTDIR, NULL);
	world_end(&w);
}

static void links_lead_nowhere_else(void)
{
	struct world w;

	world_make(&w);
	link_at(&w, "up", "../outside");
	link_at(&w, "far", "/../../../../../../../../../../tmp");
	link_at(&w, "self", "/proc/self/cwd");
	link_at(&w, "loop", "loop");
	link_at(&w, "chain", "up/x");
	check_place(&w, "/up", ROOT_PLACE_FOLDER, -ELOOP, NULL);
	check_place(&w, "/up/x", ROOT_PLACE_FOLDER, -ELOOP, NULL); /* a link on the way that leads to nothing here */
	check_place(&w, "/far/x", ROOT_PLACE_FILE, -ELOOP, NULL);
	check_place(&w, "/up", ROOT_PLACE_FOLDER | ROOT_PLACE_FOLLOW, 0, "/outside");
	check_place(&w, "/up/x", ROOT_PLACE_FILE, 0, "/outside/x"); /* the root's own, by now */
	check_place(&w, "/chain", ROOT_PLACE_FILE | ROOT_PLACE_FOLLOW, 0, "/outside/x");
	check_place(&w, "/loop", ROOT_PLACE_FILE | ROOT_PLACE_FOLLOW, -ELOOP, NULL);
	check_place(&w, "/loop/x", ROOT_PLACE_FILE | ROOT_PLACE_FOLLOW, -ELOOP, NULL);
	check_place(&w, "/self", ROOT_PLACE_FOLDER | ROOT_PLACE_FOLLOW, -EXDEV, NULL);
	CHECK(outside_is_empty(&w));
	world_end(&w);
}

static void what_is_the_sandboxes_own_is_no_place(void)
{
	struct world w;

	world_make(&w);
	link_at(&w, "d", "dev");
	check_place(&w, "/proc/x", ROOT_PLACE_FOLDER, -EXDEV, NULL);
	check_place(&w, "/d/x", ROOT_PLACE_FOLDER, -ELOOP, NULL);
	CHECK(mkdirat(w.places.root, "dev", 0755) == 0);
	check_place(&w, "/d/x", ROOT_PLACE_FOLDER, -EXDEV, NULL);
	check_place(&w, "/device", ROOT_PLACE_FOLDER, 0, "/device");
	world_end(&w);
}

static void odd_files_are_no_place_for_files(void)
{
	struct world w;

	world_make(&w);
	CHECK(mkfifoat(w.places.root, "fifo", 0644) == 0);
	check_place(&w, "/fifo", ROOT_PLACE_FILE, -EPERM, NULL);
	check_place(&w, "/fifo/x", ROOT_PLACE_FILE, -ENOTDIR, NULL);
	world_end(&w);
}

static void top_folders_are_folders(void)
{
	struct world w;
	int fd;

	world_make(&w);
	link_at(&w, "dev", "../outside");
	CHECK(mknodat(w.places.root, "proc", S_IFREG | 0644, 0) == 0);
	CHECK(root_place_top(&w.places, "dev") == -ENOTDIR);
	CHECK(root_place_top(&w.places, "proc") == -ENOTDIR);
	fd = root_place_top(&w.places, "sys");
	CHECK(fd >= 0);
	(void)close(fd);
	CHECK(outside_is_empty(&w));
	world_end(&w);
}

static void usage_counts_a_file_with_two_names_once(void)
{
	char block[4096] = "x";
	struct world w;
	uint64_t one;
	int fd;

	world_make(&w);
	fd = openat(w.dir, "root/f", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, block, sizeof(block)) == (ssize_t)sizeof(block) && fsync(fd) == 0);
	(void)close(fd);
	one = usage_walk(w.dir);
	CHECK(one >= sizeof(block) && one < UINT64_MAX);
	CHECK(linkat(w.dir, "root/f", w.dir, "root/g", 0) == 0 && usage_walk(w.dir) == one);
	CHECK(usage_walk(-1) == UINT64_MAX);
	world_end(&w);
}

/* They have no bytes, and end a file system all the same. */
static void usage_counts_empty_files(void)
{
	uint64_t before;
	struct world w;
	char name[32];
	int i, fd;

	world_make(&w);
	before = usage_walk(w.dir);
	for (i = 0; i < 200; i++) {
		(void)snprintf(name, sizeof(name), "root/e%d", i);
		fd = openat(w.dir, name, O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0600);
		CHECK(fd >= 0 && close(fd) == 0);
	}
	CHECK(usage_walk(w.dir) >= before + 200 * 1024 && usage_walk(w.dir) < UINT64_MAX);
	world_end(&w);
}

static void usage_takes_a_tree_that_is_too_deep_for_too_large(void)
{
	struct world w;
	int dir, next, i;

	world_make(&w);
	dir = openat(w.dir, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (i = 0; i < USAGE_MAX_DEPTH + 2; i++) {
		CHECK(mkdirat(dir, "d", 0700) == 0);
		next = openat(dir, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		(void)close(dir);
		dir = next;
	}
	(void)close(dir);
	CHECK(usage_walk(w.dir) == UINT64_MAX);
	world_end(&w);
}

static const struct check_case cases[] = {
	{"places are made where they are missing, and noted in their order",
	 places_are_made_where_they_are_missing_and_noted},
	{"links lead nowhere else", links_lead_nowhere_else},
	{"what is the sandbox's own is no place", what_is_the_sandboxes_own_is_no_place},
	{"odd files are no place for files", odd_files_are_no_place_for_files},
	{"/dev and /proc are folders or absent", top_folders_are_folders},
	{"a file with two names is counted once", usage_counts_a_file_with_two_names_once},
	{"empty files count", usage_counts_empty_files},
	{"a tree that is too deep counts as too large", usage_takes_a_tree_that_is_too_deep_for_too_large},
};

int main(void)
{
	return check_main(cases, ARRAY_LEN(cases));
}
