/*
 * swap A B AWAY_US HOME_US: exchanges two names, again and again, as somebody does who wants another to find B where it
 * looked at A. A is away for the first time, and home for the second. Until SIGTERM, or for two minutes; then each is
 * where it was.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t over;

static void end(int sig)
{
	(void)sig;
	over = 1;
}

int main(int argc, char **argv)
{
	time_t until = time(NULL) + 120;

	if (argc != 5)
		return 2;
	(void)signal(SIGTERM, end);
	while (!over && time(NULL) < until) {
		if (renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE) < 0) {
			perror("swap");
			return 1;
		}
		(void)usleep((useconds_t)atoi(argv[3]));
		(void)renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE);
		(void)usleep((useconds_t)atoi(argv[4]));
	}
	return 0;
}
