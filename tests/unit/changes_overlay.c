/* Real overlay mounts and random work: what comes back is what the sandbox saw, and what the diff says. */
#include "changes_tree.h"

/* Small and repeatable; the seed is the number of the round. */
struct dice {
	uint64_t x;
};

static unsigned roll(struct dice *d, unsigned n)
{
	d->x = d->x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(d->x >> 33) % n;
}

enum { TEXT_ONLY = 1 /* what git and patch can carry */ };

static const char *const names[] = {"a", "b", "c", "d e", "f.txt"};

static void pick_path(struct dice *d, char path[64])
{
	unsigned depth = 1 + roll(d, 3), i;

	path[0] = '\0';
	for (i = 0; i < depth; i++) {
		(void)strcat(path, i ? "/" : "");
		(void)strcat(path, names[roll(d, ARRAY_LEN(names))]);
	}
}

static void write_some(struct dice *d, int at, const char *path, bool append, int flags)
{
	AUTO_FD fd =
		openat(at, path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (append ? O_APPEND : O_TRUNC), 0644);
	unsigned i, n = roll(d, 30);

	for (i = 0; fd >= 0 && i < n; i++)
		(void)dprintf(fd, "line %u%s", roll(d, 5), i + 1 == n && roll(d, 3) == 0 ? "" : "\n");
	if (fd >= 0 && !(flags & TEXT_ONLY) && roll(d, 4) == 0)
		(void)!write(fd, "\0\1\2", 3);
}

/* One random piece of work. Many fail (a name that is not there, a folder in the way): that is fine. */
static void work(struct dice *d, int at, int flags)
{
	static const mode_t modes[] = {0644, 0755, 0600, 0444, 0700};
	char path[64], other[64];
	struct stat st;

	pick_path(d, path);
	pick_path(d, other);
	switch (roll(d, 12)) {
	case 0:
	case 1:
	case 2:
		write_some(d, at, path, false, flags);
		break;
	case 3:
		write_some(d, at, path, true, flags);
		break;
	case 4:
		(void)unlinkat(at, path, 0);
		break;
	case 5:
	case 6:
		(void)mkdirat(at, path, 0755);
		break;
	case 7:
		if (roll(d, 2))
			(void)names_remove_tree(at, path);
		break;
	case 8:
		if (strchr(path, '/') && roll(d, 2))
			(void)snprintf(other, sizeof(other), "../%s", names[roll(d, ARRAY_LEN(names))]);
		if (other[0] != '.' || strchr(path, '/'))
			(void)!symlinkat(other, at, path);
		break;
	case 9:
		if (fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISLNK(st.st_mode))
			(void)!fchmodat(at, path,
					S_ISDIR(st.st_mode) ? 0700 | (modes[roll(d, 5)] & 0077) : modes[roll(d, 5)], 0);
		break;
	case 10:
		(void)renameat(at, path, at, other);
		break;
	default:
		if (!(flags & TEXT_ONLY))
			(void)!linkat(at, path, at, other, 0);
		break;
	}
}

static void much_work(struct dice *d, int at, unsigned n, int flags)
{
	while (n-- > 0)
		work(d, at, flags);
}

static bool skipped(int r, const char *what)
{
	if (r == SKIP)
		printf("# skipped: no %s here\n", what);
	else
		CHECK(r == 0);
	return r == SKIP;
}

struct round {
	struct world *w;
	uint64_t seed;
	int (*then)(struct world *w, struct round *r, const char *merged);
	int flags;
};

/* Fills lower, mounts, works on the merged view, unmounts, and hands on what the view looked like. */
static int overlay_round(void *ctx)
{
	struct round *r = ctx;
	struct dice d = {r->seed};
	AUTO_FREE char *merged = NULL;
	int fd;

	if (!enter_namespaces())
		return SKIP;
	world_close(r->w);
	world_open(r->w);
	much_work(&d, r->w->lower, 60, r->flags);
	if (!mount_overlay(r->w))
		return SKIP;
	fd = open("merged", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	much_work(&d, fd, 60, r->flags);
	merged = snap(fd, r->flags & TEXT_ONLY ? SNAP_GIT : 0);
	(void)close(fd);
	CHECK(umount2("merged", 0) == 0);
	return r->then(r->w, r, merged);
}

static int apply_and_compare(struct world *w, struct round *r, const char *merged)
{
	(void)r;
	CHECK(apply(w, scan(w, CHANGES_OVERLAY)) == 0);
	CHECK_SNAP(w->lower, merged);
	CHECK(is_tidy(w));
	CHECK_LIST(scan(w, CHANGES_OVERLAY), "");
	return 0;
}

static void applying_gives_the_merged_view_of_an_overlay(void)
{
	uint64_t seed;

	for (seed = 1; seed <= 150 && !check_failures; seed++) {
		WORLD(w);
		struct round r = {.w = &w, .seed = seed, .then = apply_and_compare};

		if (skipped(in_child(overlay_round, &r), "overlay mounts in a user namespace"))
			return;
		if (check_failures)
			printf("# seed %llu\n", (unsigned long long)seed);
	}
}

static int run(const char *folder, const char *command)
{
	char line[512];

	(void)snprintf(line, sizeof(line), "cd '%s' && GIT_CEILING_DIRECTORIES='%s' %s", folder, folder, command);
	return system(line);
}

static void write_diff(const struct world *w, const char *name)
{
	struct changes_diff_options o = {.refused = true}; /* links that go round in circles may be */
	struct changes *c = scan(w, CHANGES_OVERLAY);
	struct error err = {0};
	AUTO_FD fd = openat(w->fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	FILE *f = fdopen(dup(fd), "w");

	CHECK(f && c && changes_print_diff(c, w->lower, w->upper, &o, f, &err) == 0);
	if (f)
		(void)fclose(f);
	changes_free(c);
}

static int git_apply_and_compare(struct world *w, struct round *r, const char *merged)
{
	struct stat st;
	AUTO_FREE char *got = NULL;
	AUTO_FD fd = -1;

	(void)r;
	write_diff(w, "diff");
	/* git knows no empty folders, and stumbles over them */
	CHECK(run(w->dir, "sh -c 'cp -a lower git && find git -mindepth 1 -type d -empty -delete'") == 0);
	if (fstatat(w->fd, "diff", &st, 0) == 0 && st.st_size > 0)
		CHECK(run(w->dir, "sh -c 'cd git && git apply ../diff'") == 0);
	fd = openat(w->fd, "git", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	got = snap(fd, SNAP_GIT);
	CHECK_STR(got, merged);
	return 0;
}

static void the_diff_is_what_git_apply_needs(void)
{
	uint64_t seed;

	if (system("git --version >/dev/null 2>&1") != 0) {
		printf("# skipped: no git here\n");
		return;
	}
	for (seed = 1000; seed < 1040 && !check_failures; seed++) {
		WORLD(w);
		struct round r = {.w = &w, .seed = seed, .then = git_apply_and_compare, .flags = TEXT_ONLY};

		if (skipped(in_child(overlay_round, &r), "overlay mounts in a user namespace"))
			return;
		if (check_failures)
			printf("# seed %llu\n", (unsigned long long)seed);
	}
}

static void the_diff_is_what_patch_needs(void)
{
	AUTO_FREE char *got = NULL;
	AUTO_FREE char *want = NULL;
	AUTO_FD fd = -1;
	WORLD(w);

	if (system("patch --version >/dev/null 2>&1") != 0) {
		printf("# skipped: no patch here\n");
		return;
	}
	put(w.lower, "d/modified", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14");
	put(w.upper, "d/modified", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n14\n");
	put(w.lower, "gone", "1\n2\n");
	put_whiteout(w.upper, "gone");
	put(w.upper, "new folder/new file", "1\n2");
	put(w.upper, "empty", "");
	put_mode(w.lower, "mode", "x\n", 0644);
	put_mode(w.upper, "mode", "x\ny\n", 0755);
	write_diff(&w, "diff");
	CHECK(run(w.dir, "cp -a lower patched") == 0 && run(w.dir, "patch -s -p1 -d patched -i ../diff") == 0);
	fd = openat(w.fd, "patched", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	got = snap(fd, SNAP_GIT);
	CHECK(apply(&w, scan(&w, CHANGES_OVERLAY)) == 0);
	want = snap(w.lower, SNAP_GIT);
	CHECK_STR(got, want);
}

static void applying_gives_the_copy(void)
{
	uint64_t seed;

	for (seed = 5000; seed < 5100 && !check_failures; seed++) {
		struct dice d = {seed};
		AUTO_FREE char *want = NULL;
		WORLD(w);

		much_work(&d, w.lower, 60, 0);
		CHECK(run(w.dir, "cp -a lower/. upper/") == 0);
		much_work(&d, w.upper, 60, 0);
		want = snap(w.upper, 0);
		CHECK(apply(&w, scan(&w, CHANGES_COPY)) == 0);
		CHECK_SNAP(w.lower, want);
		CHECK(is_tidy(&w));
		CHECK_LIST(scan(&w, CHANGES_COPY), "");
		if (check_failures)
			printf("# seed %llu\n", (unsigned long long)seed);
	}
}

static void forge(int fd, const char *path, const char *name, const char *value)
{
	AUTO_FD f = openat(fd, path, O_RDONLY | O_CLOEXEC);

	(void)fsetxattr(f, name, value, strlen(value), 0);
}

/* Everything that a workload can try from within the view: what it sees is what is judged, whatever it writes into
 * attributes and special names. */
static int forge_from_within(void *ctx)
{
	struct world *w = ctx;
	AUTO_FREE char *merged = NULL;
	int fd;

	if (!enter_namespaces())
		return SKIP;
	world_close(w);
	world_open(w);
	put(w->lower, "keep/secret", "x");
	put(w->lower, "file", "x");
	put(w->lower, "empty", "");
	if (!mount_overlay(w))
		return SKIP;
	fd = open("merged", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(mknodat(fd, "white", S_IFCHR, makedev(0, 0)) < 0);
	forge(fd, "keep", "user.overlay.opaque", "y");
	forge(fd, "keep", "user.overlay.redirect", "/etc");
	forge(fd, "keep", "user.overlay.opaque", "x");
	forge(fd, "keep/secret", "user.overlay.metacopy", "");
	forge(fd, "empty", "user.overlay.whiteout", "y");
	forge(fd, "file", "user.overlay.origin", "x");
	forge(fd, "file", "user.overlay.overlay.metacopy", "x");
	put(fd, ".wh.file", "other unions' whiteouts mean nothing here");
	merged = snap(fd, 0);
	(void)close(fd);
	CHECK(umount2("merged", 0) == 0);
	CHECK_LIST(scan(w, CHANGES_OVERLAY), "added        .wh.file\n");
	CHECK(apply(w, scan(w, CHANGES_OVERLAY)) == 0);
	CHECK_SNAP(w->lower, merged);
	return 0;
}

static void attributes_forged_from_within_the_view_hide_nothing(void)
{
	WORLD(w);

	(void)skipped(in_child(forge_from_within, &w), "overlay mounts in a user namespace");
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(applying_gives_the_merged_view_of_an_overlay),
		CASE(applying_gives_the_copy),
		CASE(the_diff_is_what_git_apply_needs),
		CASE(the_diff_is_what_patch_needs),
		CASE(attributes_forged_from_within_the_view_hide_nothing),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
