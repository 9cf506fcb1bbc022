/* Swaps a folder for a symlink to ~/.ssh while a second process opens through it: whoever checks first and opens later
 * loses. */
#include <linux/fs.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "attack.h"

static void swap_forever(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		(void)renameat2(AT_FDCWD, "race/folder", AT_FDCWD, "race/link", RENAME_EXCHANGE);
}

static int race(const struct scene *s, const struct attack *a)
{
	struct fact home;
	char target[1200], text[128];
	time_t end = time(NULL) + 2;
	ssize_t n = 0;

	(void)a;
	(void)snprintf(target, sizeof(target), "%s/.ssh", fact(s, "home", &home));
	if (mkdir("race", 0700) < 0 || mkdir("race/folder", 0700) < 0 || symlink(target, "race/link") < 0 ||
	    make_file("race/folder/id_fake", 0, 0600) < 0)
		return broken("setting up");
	pid_t pid = fork();
	if (pid == 0)
		swap_forever();
	while (time(NULL) < end && !(n > 0 && has_marker(text, (size_t)n))) {
		int fd = open("race/folder/id_fake", O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? 0 : read(fd, text, sizeof(text));
		if (fd >= 0)
			close(fd);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return n > 0 && has_marker(text, (size_t)n) ? won("the race gave the secret") : refused("the race never won");
}

static const struct attack rows[] = {
	{"home-rename-race", "cannot read ~/.ssh by swapping a folder for a symlink in a loop", race},
};
ATTACKS("filesystem", rows);
