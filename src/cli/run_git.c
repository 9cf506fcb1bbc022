#include "cli/run_git.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/real_path.h"
#include "base/text.h"
#include "policy/policy_query.h"

static void say(const struct run_check_to *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(const struct run_check_to *to, const char *format, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	to->say(to->arg, text);
}

/* The sandbox's own /tmp is not this machine's. */
static bool is_shown(const struct cli_policy *p, const char *workdir, const char *path)
{
	struct reason why;

	policy_query_path(p->policy, workdir, path, FS_READ, &why);
	return why.answer == ANSWER_ALLOW && !sv_starts(sv_of(why.rule), "built in ");
}

/* Where a file .git leads, which has one line: "gitdir: PATH". */
static bool read_gitdir(const char *workdir, const char *file, char ret[PATH_MAX])
{
	static const char prefix[] = "gitdir: ";
	AUTO_FD fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char path[PATH_MAX], at[2 * PATH_MAX];
	AUTO_BUF b = {0};
	struct stat st;

	buf_init(&b, PATH_MAX);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || buf_read_fd(&b, fd) < 0 ||
	    !sv_starts(buf_view(&b), prefix))
		return false;
	(void)snprintf(path, sizeof(path), "%.*s", (int)strcspn(b.p + strlen(prefix), "\r\n"), b.p + strlen(prefix));
	(void)snprintf(at, sizeof(at), "%s%s%s", path[0] == '/' ? "" : workdir, path[0] == '/' ? "" : "/", path);
	return real_path(at, ret) != NULL;
}

/* The repository of a linked worktree is the folder that has all of them; that of a submodule is its own. */
static void cut_worktree(char *git)
{
	static const char all[] = "/worktrees";
	char *slash = strrchr(git, '/');
	struct sv folder = sv_n(git, slash ? (size_t)(slash - git) : 0);

	if (sv_ends(folder, all) && folder.n > strlen(all))
		git[folder.n - strlen(all)] = '\0';
}

static void tell_elsewhere(const struct cli_policy *p, const char *workdir, const char *file,
			   const struct run_check_to *to)
{
	struct text_shown a, b;
	char git[PATH_MAX];

	if (!read_gitdir(workdir, file, git) || is_shown(p, workdir, git))
		return;
	cut_worktree(git);
	say(to,
	    "note: git finds no repository inside: %s leads to %s, which the sandbox does not have; name it in "
	    "filesystem.write (or read)",
	    text_show(&a, sv_of(file)), text_show(&b, sv_of(git)));
}

/* A home that is kept in a repository is no project. */
static void tell_above(const struct cli_policy *p, const char *workdir, const struct run_check_to *to)
{
	char above[PATH_MAX], git[PATH_MAX + 8];
	struct text_shown t;
	char *slash;

	(void)snprintf(above, sizeof(above), "%s", workdir);
	while ((slash = strrchr(above, '/')) && slash > above) {
		*slash = '\0';
		if (strcmp(above, p->folders.home) == 0)
			return;
		(void)snprintf(git, sizeof(git), "%s/.git", above);
		if (access(git, F_OK) < 0)
			continue;
		if (!is_shown(p, workdir, git))
			say(to,
			    "note: git finds no repository inside: it is %s, above the work folder; run from there, or "
			    "name it with --workdir",
			    text_show(&t, sv_of(above)));
		return;
	}
}

void run_git_tell(const struct cli_policy *p, const char *workdir, const struct run_check_to *to)
{
	char git[PATH_MAX + 8];
	struct stat st;

	(void)snprintf(git, sizeof(git), "%s/.git", workdir);
	if (lstat(git, &st) < 0)
		tell_above(p, workdir, to);
	else if (S_ISREG(st.st_mode))
		tell_elsewhere(p, workdir, git, to);
}
