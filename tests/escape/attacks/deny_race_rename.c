/* One process renames a folder to .git and back, another makes hooks/x below whatever the folder is called at that
 * moment. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "attack.h"

static void rename_forever(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		(void)rename("d", ".git");
		(void)rename(".git", "d");
	}
}

static bool fill(int dir)
{
	(void)mkdirat(dir, "hooks", 0755);
	int fd = openat(dir, "hooks/x", O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
	if (fd >= 0)
		close(fd);
	bool hit = access(".git/hooks/x", F_OK) == 0;
	(void)unlinkat(dir, "hooks/x", 0);
	(void)unlinkat(dir, "hooks", AT_REMOVEDIR);
	return hit;
}

static int race_rename(const struct scene *s, const struct attack *a)
{
	time_t end = time(NULL) + 2;
	bool hit = false;

	(void)s;
	(void)a;
	if (mkdir("d", 0755) < 0)
		return broken("setting up");
	int dir = open("d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid_t pid = fork();
	if (pid == 0)
		rename_forever();
	while (!hit && time(NULL) < end)
		hit = fill(dir);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(dir);
	return hit ? won("the race made .git/hooks/x") : refused("the race never won");
}

static const struct attack rows[] = {
	{"deny-race-rename", "cannot make .git/hooks/x by renaming the folder above it in a loop", race_rename,
	 .stage = STAGE_DENY},
};
ATTACKS("filesystem", rows);
