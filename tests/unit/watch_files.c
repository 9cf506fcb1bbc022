/* What watch_files.h counts of a process's open folders; the rest of it is tested with the watchdog (watch.c). */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "supervise/watch_files.h"
#include "supervise/watch_kernel.h"

/* Bytes that our own count as. */
static uint64_t folders(uint64_t most)
{
	struct watch_files f = {.most = most / WATCH_KERNEL_BYTES, .until_us = UINT64_MAX, .numbers_are_ours = true};
	AUTO_FD proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t bytes;
	char pid[16];

	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	watch_files_folders(proc, pid, &f);
	CHECK(!f.hidden && !f.cut);
	bytes = f.counted * WATCH_KERNEL_BYTES;
	watch_files_done(&f);
	return bytes;
}

/* A whole number of pieces is a little less. */
static bool is_about(uint64_t bytes, uint64_t want)
{
	return bytes <= want && bytes + want / 100 >= want;
}

static void each_open_folder_counts_and_no_file_does(void)
{
	enum { N = 100 };
	uint64_t before = folders(UINT64_MAX);
	int fd[N], i;

	for (i = 0; i < N; i++)
		fd[i] = open(i % 2 ? "/proc" : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	CHECK(is_about(folders(UINT64_MAX) - before, N / 2 * (uint64_t)WATCH_FOLDER_BYTES));
	CHECK(folders(1 << 20) < before + (2 << 20)); /* it stops where that is enough */
	for (i = 0; i < N; i++)
		(void)close(fd[i]);
	CHECK(folders(UINT64_MAX) == before);
}

static void descriptors_that_wait_in_a_socket_count_as_the_dearest_folders(void)
{
	enum { N = 20 };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(N * sizeof(int))];
	} control = {0};
	char nothing = 0;
	struct iovec byte = {.iov_base = &nothing, .iov_len = 1};
	struct msghdr m = {
		.msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	AUTO_FD folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int pair[2], all[N], i;
	uint64_t before;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	before = folders(UINT64_MAX);
	for (i = 0; i < N; i++)
		all[i] = folder;
	control.head =
		(struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(all))};
	memcpy(CMSG_DATA(&control.head), all, sizeof(all));
	CHECK(sendmsg(pair[0], &m, 0) == 1);
	CHECK(is_about(folders(UINT64_MAX) - before, N * (uint64_t)WATCH_MERGED_BYTES));
	(void)close(pair[0]);
	(void)close(pair[1]);
	CHECK(folders(UINT64_MAX) == before);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(each_open_folder_counts_and_no_file_does),
		CASE(descriptors_that_wait_in_a_socket_count_as_the_dearest_folders),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
