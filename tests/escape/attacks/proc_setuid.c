/* Gaining another user's rights: a setuid executable, and the calls that set ids. */
#include <grp.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "attack.h"

/* no_new_privs, or a mount with nosuid: there is nothing to show. */
static bool gains_nothing(const char *folder)
{
	struct statvfs fs;

	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 || (statvfs(folder, &fs) == 0 && fs.f_flag & ST_NOSUID);
}

static int run_setuid(const struct scene *s, const struct attack *a)
{
	char path[sizeof(s->folder) + 16];
	struct stat st;
	int status = -1;

	(void)snprintf(path, sizeof(path), "%s/attack-suid", s->folder);
	if (stat(path, &st) < 0 || !(st.st_mode & S_ISUID))
		return s->control ? untried("only root can make a setuid file") : refused("the setuid bit is gone");
	if (s->control && gains_nothing(s->folder))
		return untried("setuid files gain nothing outside either");
	pid_t pid = fork();
	if (pid == 0) {
		execl(path, path, a->text, (char *)NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	return status == 0 ? won("the setuid bit changed the user") : refused("the setuid bit had no effect");
}

static int base_setuid(const struct scene *s, const struct attack *a)
{
	if (!gains_nothing(a->text))
		return won("setuid programs in %s work", a->text);
	return s->control ? untried("setuid programs gain nothing outside either")
			  : refused("setuid programs gain nothing");
}

static int become_root(const struct scene *s, const struct attack *a)
{
	return judge(s, setresuid(0, 0, 0), a->name);
}

static int drop_groups(const struct scene *s, const struct attack *a)
{
	return judge(s, setgroups(0, NULL), a->name);
}

static const struct attack rows[] = {
	{"setuid-file", "cannot gain a user with a setuid file in the work folder", run_setuid, .text = "-u"},
	{"setuid-base", "cannot gain root with su, mount or another setuid program", base_setuid, .text = "/usr/bin"},
	{"setuid-root", "cannot become uid 0", become_root, CONTROL_ROOT},
	{"setgroups", "cannot drop its groups", drop_groups, CONTROL_ROOT},
};
ATTACKS("process", rows);
