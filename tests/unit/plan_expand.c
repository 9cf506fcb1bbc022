/* What a pattern finds on the host, on file systems that say which entries are folders and on those that do not:
 * readdir(), which is readdir64() to the linker, is wrapped (meson.build). */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "check.h"
#include "plan/plan_draft.h"

static bool silent;
static unsigned silenced;
static char top[] = "/tmp/cordon-expand.XXXXXX";

struct dirent *__real_readdir64(DIR *dir);
struct dirent *__wrap_readdir64(DIR *dir);
struct dirent *__wrap_readdir64(DIR *dir)
{
	struct dirent *e = __real_readdir64(dir);

	if (e && silent) {
		e->d_type = DT_UNKNOWN;
		silenced++;
	}
	return e;
}

static const char *in_top(const char *name)
{
	static char paths[8][256];
	static unsigned next;
	char *path = paths[next++ % 8];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static int count(void *arg, const char *path)
{
	(void)path;
	++*(int *)arg;
	return 0;
}

static int found_by(const char *pattern)
{
	struct glob g = {0};
	int n = 0;

	CHECK(glob_init(&g, sv_of(in_top(pattern))) == 0);
	CHECK(draft_expand(&g, count, &n) == 0);
	glob_done(&g);
	return n;
}

static void a_pattern_goes_down_where_folders_are_not_called_so(void)
{
	CHECK(mkdir(in_top("a"), 0700) == 0 && mkdir(in_top("a/b"), 0700) == 0 && mkdir(in_top("a/b/key"), 0700) == 0 &&
	      mkdir(in_top("key"), 0700) == 0);
	CHECK(symlink("a", in_top("link")) == 0);
	for (silent = false;; silent = true) {
		CHECK(found_by("**/key") == 2); /* none through the link */
		CHECK(found_by("*/b/key") == 2);
		CHECK(found_by("a/**/key") == 1);
		if (silent)
			break;
	}
	CHECK(silenced > 0);
	CHECK(rmdir(in_top("a/b/key")) == 0 && rmdir(in_top("a/b")) == 0 && rmdir(in_top("a")) == 0 &&
	      rmdir(in_top("key")) == 0 && unlink(in_top("link")) == 0);
}

static void the_kernels_own_file_systems_are_not_searched(void)
{
	struct glob deep = {0}, named = {0};
	int n = 0, by_name = 0;

	CHECK(glob_init(&deep, sv_of("/proc/**/status")) == 0 && glob_init(&named, sv_of("/proc/self/status")) == 0);
	CHECK(draft_expand(&deep, count, &n) == 0 && n == 0);
	CHECK(draft_expand(&named, count, &by_name) == 0 && by_name == 1);
	glob_done(&deep);
	glob_done(&named);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_pattern_goes_down_where_folders_are_not_called_so),
		CASE(the_kernels_own_file_systems_are_not_searched),
	};
	int r;

	if (!mkdtemp(top))
		return 1;
	r = check_main(cases, sizeof(cases) / sizeof(cases[0]));
	(void)rmdir(top);
	return r;
}
