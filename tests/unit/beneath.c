/* Paths that stay in a folder: the same answers with openat2() and without. */
#include "changes_tree.h"
#include "sys/beneath.h"

struct want {
	const char *path;
	int flags;
	int code; /* 0: opens */
};

static const struct want wanted[] = {
	{"d/e/f", O_RDONLY, 0},
	{"d/e", O_PATH | O_DIRECTORY, 0},
	{"d//e/", O_RDONLY | O_DIRECTORY, 0},
	{".", O_RDONLY | O_DIRECTORY, 0},
	{"d/./e", O_PATH, 0},
	{"d/new", O_WRONLY | O_CREAT | O_EXCL, 0},
	{"d/new", O_WRONLY | O_CREAT | O_EXCL, -EEXIST},
	{"link", O_PATH | O_NOFOLLOW, 0},
	{"link", O_PATH, -ELOOP},
	{"link", O_RDONLY, -ELOOP},
	{"link", O_RDONLY | O_CREAT, -ELOOP},
	{"dangling", O_WRONLY | O_CREAT, -ELOOP},
	{"to-folder/f", O_RDONLY, -ELOOP},
	{"to-folder", O_PATH | O_DIRECTORY, -ELOOP},
	{"d/up/d", O_RDONLY, -ELOOP},
	{"..", O_PATH, -EXDEV},
	{"d/..", O_PATH, -EXDEV},
	{"d/../d", O_PATH, -EXDEV},
	{"/etc", O_PATH, -EXDEV},
	{"", O_PATH, -ENOENT},
	{"none", O_RDONLY, -ENOENT},
	{"d/e/f/g", O_RDONLY, -ENOTDIR},
	{"d/e/f", O_RDONLY | O_DIRECTORY, -ENOTDIR},
	{"d/e/f/", O_RDONLY, -ENOTDIR},
};

static void check_wanted(const struct world *w)
{
	size_t i;
	int fd;

	put(w->lower, "d/e/f", "x");
	put_link(w->lower, "link", "d/e/f");
	put_link(w->lower, "dangling", "d/nothing");
	put_link(w->lower, "to-folder", "d/e");
	put_link(w->lower, "d/up", "..");
	for (i = 0; i < ARRAY_LEN(wanted); i++) {
		fd = sys_open_beneath(w->lower, wanted[i].path, wanted[i].flags, 0600);
		if (fd >= 0)
			CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) && close(fd) == 0);
		if ((fd < 0 ? fd : 0) != wanted[i].code) {
			printf("# \"%s\", flags %o: got %d, want %d\n", wanted[i].path, (unsigned)wanted[i].flags, fd,
			       wanted[i].code);
			check_failures++;
		}
	}
	CHECK(!has(w->lower, "d/nothing"));
}

static void links_and_dots_never_lead_out(void)
{
	WORLD(w);

	check_wanted(&w);
}

static int without_openat2(void *ctx)
{
	if (!break_call(SYS_openat2, -1, ENOSYS))
		return SKIP;
	CHECK(syscall(SYS_openat2, -1, "", NULL, 0) < 0 && errno == ENOSYS);
	check_wanted(ctx);
	return 0;
}

static void the_answers_are_the_same_without_openat2(void)
{
	int r;
	WORLD(w);

	r = in_child(without_openat2, &w);
	if (r == SKIP)
		printf("# skipped: no seccomp here\n");
	else
		CHECK(r == 0);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(links_and_dots_never_lead_out),
		CASE(the_answers_are_the_same_without_openat2),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
