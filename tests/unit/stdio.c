/* Standard input that is a file, and goes in by a pipe: who tries to start anew finds it as it was. */
#include "supervise/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"

/* More than a pipe holds. */
static int make_file(void)
{
	char name[] = "/tmp/cordon-stdio.XXXXXX";
	int fd = mkstemp(name), i;

	CHECK(fd >= 0 && unlink(name) == 0);
	for (i = 0; i < 100000; i++)
		CHECK(write(fd, "line\n", 5) == 5);
	CHECK(lseek(fd, 5, SEEK_SET) == 5);
	return fd;
}

static size_t read_all(int fd)
{
	AUTO_BUF b = {0};

	buf_init(&b, 1 << 20);
	CHECK(buf_read_fd(&b, fd) == 0);
	(void)close(fd);
	return b.n;
}

static void wait_for_children(void)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static void nothing_is_read_of_a_file_for_a_start_that_failed(void)
{
	int file = make_file(), begin = -1, fd = stdio_feed_later(file, &begin);

	CHECK(fd >= 0 && begin >= 0);
	(void)close(begin);
	CHECK(read_all(fd) == 0);
	wait_for_children();
	CHECK(lseek(file, 0, SEEK_CUR) == 5);
	fd = stdio_feed_later(file, &begin);
	stdio_feed_begin(&begin);
	CHECK(begin == -1 && read_all(fd) == 499995);
	wait_for_children();
	CHECK(lseek(file, 0, SEEK_CUR) == 500000);
	(void)close(file);
}

static void what_is_in_a_file_is_fed_from_where_it_stands(void)
{
	int file = make_file(), fd = stdio_feed(file);

	CHECK(fd >= 0 && read_all(fd) == 499995);
	wait_for_children();
	(void)close(file);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(nothing_is_read_of_a_file_for_a_start_that_failed),
		CASE(what_is_in_a_file_is_fed_from_where_it_stands),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
