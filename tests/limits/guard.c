/*
 * guard: runs a command and tells what it left behind.
 *
 *	guard REPORT SECONDS CMD ARG...
 *
 * Every process that the command started, however deep and however orphaned, comes back to us as its child (subreaper).
 * Two seconds after the command's end nothing may be left; what is, is named and killed. A command that runs for longer
 * than SECONDS is killed, too.
 *
 * Writes one line to REPORT: "STATUS MILLISECONDS LEFT NAMES...", STATUS as a shell would have it, "late" when it was
 * killed here. Exit 0.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GRACE_MS = 2000 };

static long now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void nap(void)
{
	struct timespec ts = {0, 5000000};

	(void)nanosleep(&ts, NULL);
}

/* Name and parent of a process; false when it is gone or a zombie. */
static bool look(const char *pid, char name[64], int *ret_parent)
{
	char path[300], text[512], state, *open_at, *close_at;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	open_at = strchr(text, '(');
	close_at = strrchr(text, ')');
	if (!open_at || !close_at || sscanf(close_at + 1, " %c %d", &state, ret_parent) != 2 || state == 'Z')
		return false;
	*close_at = '\0';
	(void)snprintf(name, 64, "%.63s", open_at + 1);
	return true;
}

/* Our children that are alive: as a list of names, or killed. */
static int survivors(FILE *out, int except)
{
	DIR *d = opendir("/proc");
	int n = 0, parent = 0;
	struct dirent *e;
	char name[64];

	while (d && (e = readdir(d))) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9' || atoi(e->d_name) == except)
			continue;
		if (!look(e->d_name, name, &parent) || parent != getpid())
			continue;
		n++;
		if (out) {
			fprintf(out, " %s", name);
			(void)kill(atoi(e->d_name), SIGKILL);
		}
	}
	if (d)
		(void)closedir(d);
	return n;
}

int main(int argc, char **argv)
{
	long start = now_ms(), end, deadline;
	int status = 0, left;
	bool late = false;
	pid_t pid, got;
	FILE *report;

	if (argc < 4 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return 2;
	pid = fork();
	if (pid == 0) {
		(void)execvp(argv[3], argv + 3);
		_exit(127);
	}
	deadline = start + atol(argv[2]) * 1000;
	while ((got = waitpid(-1, &status, WNOHANG)) != pid) {
		if (got < 0)
			return 2;
		if (!late && now_ms() > deadline) {
			late = true;
			(void)kill(pid, SIGKILL);
		}
		if (got == 0)
			nap();
	}
	end = now_ms();
	while ((left = survivors(NULL, 0)) > 0 && now_ms() < end + GRACE_MS) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		nap();
	}
	report = fopen(argv[1], "we");
	if (!report)
		return 2;
	if (late)
		fprintf(report, "late");
	else
		fprintf(report, "%d", WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	fprintf(report, " %ld %d", end - start, left);
	(void)survivors(report, 0);
	fprintf(report, "\n");
	return fclose(report) == 0 ? 0 : 2;
}
