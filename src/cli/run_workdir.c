#include "cli/run_workdir.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/real_path.h"
#include "base/text.h"
#include "cli/home.h"

static bool is_system_folder(const char *path)
{
	static const char *const folders[] = {"/usr", "/bin",  "/sbin", "/lib", "/lib64", "/etc",  "/proc", "/sys",
					      "/dev", "/boot", "/run",  "/var", "/tmp",   "/home", NULL};
	size_t i;

	for (i = 0; folders[i]; i++)
		if (strcmp(path, folders[i]) == 0)
			return true;
	return false;
}

/* Most work folders are projects below $HOME, and those are nobody else's home. */
static const char *others_home(const struct cli_policy *p)
{
	static const char *const what[] = {
		[HOME_NO] = NULL,
		[HOME_IS] = "is the home folder of a user of this machine, and holds their secrets",
		[HOME_HOLDS] = "holds the home folder of a user of this machine, and with it their secrets",
	};

	if (path_is_below(p->workdir, p->folders.home) && !is_system_folder(p->folders.home))
		return NULL;
	return what[home_of(p->workdir)];
}

/* The folder that was named, by the text of its name alone. False: none was. */
static bool named(const struct call *call, const char *here, char out[PATH_MAX])
{
	const char *dir = call_value(call, "workdir");

	return dir && cli_path_clean(here, dir, out) == 0;
}

/* A run may leave a link in the place of a folder. Who names that folder from where they stand means what is there. */
static int check_link(const struct call *call, const struct cli_policy *p, struct error *err)
{
	char here[PATH_MAX], clean[PATH_MAX];
	struct text_shown name, real;

	if (!real_path(".", here) || !named(call, here, clean))
		return 0;
	if (call_value(call, "workdir")[0] == '/' || !path_is_in(clean, here) || path_is_in(p->workdir, here))
		return 0;
	return error_set(err, ERROR_DENIED,
			 "--workdir %s: a link leads to %s, out of the current folder; name that folder if it is meant",
			 text_show(&name, sv_of(call_value(call, "workdir"))), text_show(&real, sv_of(p->workdir)));
}

void run_workdir_tell(const struct call *call, const struct cli_policy *p, bool person)
{
	const char *start = getenv("PWD");
	char clean[PATH_MAX], here[PATH_MAX];
	struct text_shown name, real;
	struct stat st, at;
	bool is_named = real_path(".", here) && named(call, here, clean);

	if (!is_named &&
	    (!person || !start || start[0] != '/' || snprintf(clean, sizeof(clean), "%s", start) >= PATH_MAX))
		return;
	/* only where the folder itself is a link: homes and disks are behind links of the system's for many */
	if (strcmp(clean, p->workdir) == 0 || lstat(clean, &st) < 0 || !S_ISLNK(st.st_mode))
		return;
	if (stat(clean, &st) < 0 || stat(p->workdir, &at) < 0 || st.st_ino != at.st_ino || st.st_dev != at.st_dev)
		return;
	call_note(call, "note: the work folder is %s, where the link %s leads", text_show(&real, sv_of(p->workdir)),
		  text_show(&name, sv_of(clean)));
}

int run_workdir(const struct call *call, const struct cli_policy *p, const char **ret, const char **ret_unfit,
		struct error *err)
{
	const char *what = NULL;
	struct text_shown t;
	struct stat st;

	*ret = p->workdir;
	*ret_unfit = NULL;
	if (strcmp(p->folders.home, "/") == 0)
		return error_set(err, ERROR_USAGE,
				 "HOME is /, which cannot be an empty folder in a sandbox as a home is; set HOME to a "
				 "folder of yours (it is / where the user id has no entry in /etc/passwd)");
	if (p->policy->fs.workdir.v == WORKDIR_NONE) {
		*ret = NULL;
		return 0;
	}
	if (stat(p->workdir, &st) == 0 && !S_ISDIR(st.st_mode))
		return error_set(err, ERROR_INPUT, "work folder %s: is not a folder; name one",
				 text_show(&t, sv_of(p->workdir)));
	if (access(p->workdir, X_OK) < 0 && errno == EACCES)
		return error_sys(err, EACCES, "work folder %s", text_show(&t, sv_of(p->workdir)));
	if (strcmp(p->workdir, p->folders.home) == 0)
		what = "is your home folder, and holds your secrets";
	else if (path_is_in(p->folders.home, p->workdir))
		what = "holds your home folder, and with it your secrets";
	else if (is_system_folder(p->workdir))
		what = "belongs to the system";
	else if (path_is_in(p->folders.state, p->workdir) || path_is_in(p->workdir, p->folders.state))
		what = "holds Cordon's own state";
	else
		what = others_home(p);
	if (!what)
		return check_link(call, p, err);
	if (call_has(call, "workdir"))
		return error_set(err, ERROR_DENIED, "--workdir %s %s; use a project folder",
				 text_show(&t, sv_of(p->workdir)), what);
	*ret_unfit = what;
	*ret = NULL;
	return 0;
}
