#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "check.h"
#include "supervise/watch.h"
#include "sys/sockets.h"

enum { MB = 1 << 20 };

static void fill(char *p, size_t n)
{
	if (p == MAP_FAILED)
		_exit(1);
	memset(p, 1, n);
}

static void anonymous_hog(void)
{
	fill(mmap(NULL, 96 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 96 * MB);
}

/* Ten processes that all have the same 32 MiB: 32 MiB in truth, 320 by the sum of resident sizes. */
static void shared_by_ten(void)
{
	char *p = mmap(NULL, 32 * MB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int i;

	fill(p, 32 * MB);
	for (i = 0; i < 9; i++) {
		if (fork() != 0)
			continue;
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		fill(p, 32 * MB);
		return;
	}
}

/* Each within the limit, all together over it. */
static void four_of_24(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (fork() == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			break;
		}
	}
	fill(mmap(NULL, 24 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 24 * MB);
}

static void unmapped_memfd(void)
{
	static char chunk[MB];
	int fd = memfd_create("hog", MFD_CLOEXEC), i;

	for (i = 0; i < 96; i++)
		if (write(fd, chunk, sizeof(chunk)) != (ssize_t)sizeof(chunk))
			_exit(1);
	if (dup(fd) < 0) /* must count once */
		_exit(1);
}

static void file_pages(void)
{
	char name[] = "/tmp/cordon-test-watch.XXXXXX";
	int fd = mkstemp(name);
	char *p;

	(void)unlink(name);
	if (fd < 0 || ftruncate(fd, 96 * MB) < 0)
		_exit(1);
	p = mmap(NULL, 96 * MB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	fill(p, 96 * MB);
}

static int ready_fd; /* of the process that start() made: it has done its work */

static _Noreturn void say_ready(void)
{
	(void)!write(ready_fd, "x", 1);
	for (;;)
		pause();
}

/* When the process shows no memory any more, its first thread has ended. */
static void *hog_without_leader(void *none)
{
	char text[8] = "";
	int fd;

	fill(mmap(NULL, 96 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 96 * MB);
	while (strncmp(text, "0 ", 2) != 0) {
		fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
		(void)!read(fd, text, sizeof(text) - 1);
		(void)close(fd);
		(void)usleep(1000);
	}
	say_ready();
	return none;
}

static void *memfd_without_leader(void *none)
{
	unmapped_memfd();
	return hog_without_leader(none);
}

static void leave_to(void *(*thread)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, thread, NULL) != 0)
		_exit(1);
	(void)syscall(SYS_exit, 0);
}

static void leaderless_hog(void)
{
	leave_to(hog_without_leader);
}

static void leaderless_memfd(void)
{
	leave_to(memfd_without_leader);
}

static char *shared;
static int shared_fd = -1;

static void trim(int sig)
{
	(void)sig;
	(void)close(shared_fd);
	(void)munmap(shared + 4096, 192 * (size_t)MB - 4096);
	(void)!write(ready_fd, "t", 1);
}

/* Shared memory that all but a page of is unmapped at SIGUSR1. */
static void trimmed_later(void)
{
	shared = mmap(NULL, 192 * (size_t)MB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fill(shared, 192 * (size_t)MB);
	(void)signal(SIGUSR1, trim);
}

/* The same of a memfd, which is closed then. */
static void closed_later(void)
{
	shared_fd = memfd_create("hog", MFD_CLOEXEC);
	if (ftruncate(shared_fd, 192 * (off_t)MB) < 0)
		_exit(1);
	shared = mmap(NULL, 192 * (size_t)MB, PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd, 0);
	fill(shared, 192 * (size_t)MB);
	(void)signal(SIGUSR1, trim);
}

static void keep_deleted_file(void)
{
	char name[] = "/var/tmp/cordon-test-watch.XXXXXX";
	static char chunk[MB];
	int fd = mkstemp(name), i;

	(void)unlink(name);
	for (i = 0; fd >= 0 && i < 16; i++)
		if (write(fd, chunk, sizeof(chunk)) != (ssize_t)sizeof(chunk))
			_exit(1);
	if (fd < 0)
		_exit(1);
}

static void *with_own_table(void *none)
{
	if (unshare(CLONE_FILES) < 0)
		_exit(1);
	keep_deleted_file();
	say_ready();
	return none;
}

static void *just_stay(void *none)
{
	for (;;)
		pause();
	return none;
}

/* Open in one of 200 threads, the only one that has a table of its own. */
static void deleted_in_a_thread(void)
{
	pthread_t t;
	int i;

	for (i = 0; i < 199; i++)
		if (pthread_create(&t, NULL, just_stay, NULL) != 0)
			_exit(1);
	if (pthread_create(&t, NULL, with_own_table, NULL) != 0)
		_exit(1);
	for (;;)
		pause();
}

static void nine_children(void)
{
	int i;

	for (i = 0; i < 9; i++) {
		if (fork() == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			return;
		}
	}
}

/* Their numbers are longer than what is read in one go. */
static void two_thousand_children(void)
{
	int i;

	for (i = 0; i < 2000; i++) {
		pid_t pid = fork();

		if (pid < 0)
			_exit(1);
		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
}

static void map_own_user(void)
{
	char text[64];
	AUTO_FD map = -1;
	int n = snprintf(text, sizeof(text), "0 %u 1", (unsigned)geteuid());

	if (unshare(CLONE_NEWUSER) < 0)
		_exit(77);
	map = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	if (write(map, text, (size_t)n) != n)
		_exit(77);
}

/* As a workload has one. */
static void filter_calls(void)
{
	struct sock_filter allow = {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW};
	struct sock_fprog all = {.len = 1, .filter = &allow};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) < 0)
		_exit(77);
}

static char unreadable[] = "/tmp/cordon-test-watch.XXXXXX";

/* A program that holds 96 MiB and waits, which may be executed, and not be read: its group has no number in the user
 * namespace, so that only root may look at who executes it. */
static void hidden_hog(void)
{
	int never_read[2];

	map_own_user();
	filter_calls();
	if (pipe(never_read) < 0 || dup2(never_read[1], 1) < 0)
		_exit(1);
	(void)!write(ready_fd, "x", 1);
	(void)execl(unreadable, "dd", "if=/dev/zero", "bs=96M", (char *)NULL);
	_exit(77);
}

static bool copy_dd(void)
{
	AUTO_FD from = open("/usr/bin/dd", O_RDONLY | O_CLOEXEC), to = mkstemp(unreadable);
	char room[65536];
	ssize_t n = -1;

	while (from >= 0 && to >= 0 && (n = read(from, room, sizeof(room))) > 0)
		if (write(to, room, (size_t)n) != n)
			return false;
	return n == 0 && fchmod(to, 0111) == 0;
}

enum { HOPPERS = 16, HOPPER_MB = 8, BYSTANDERS = 100, HOP_US = 2000, HOPS_MS = 20000 };

static int64_t hops_until;

/* Its memory goes on in a child, again and again, for as long as the first of all lives. */
static void hop(pid_t first)
{
	fill(mmap(NULL, HOPPER_MB * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), HOPPER_MB * MB);
	while (kill(first, 0) == 0 && now_ms() < hops_until) {
		(void)usleep(HOP_US);
		if (fork() > 0)
			_exit(0);
	}
	_exit(0);
}

static void hoppers(void)
{
	pid_t first = getpid();
	int i;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)signal(SIGCHLD, SIG_IGN);
	hops_until = now_ms() + HOPS_MS;
	for (i = 0; i < BYSTANDERS + HOPPERS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			_exit(1);
		if (pid == 0 && i >= BYSTANDERS)
			hop(first);
		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
}

static int from_it = -1; /* what else it says */

/* A process that has done its work and waits. With inside, it is PID 1 of a PID namespace with a /proc of its own. */
static pid_t start(void (*work)(void), bool inside)
{
	int ready[2];
	pid_t pid;
	char c;

	CHECK(pipe(ready) == 0);
	if (inside && unshare(CLONE_NEWPID) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (inside && (unshare(CLONE_NEWNS) < 0 || mount("proc", "/proc", "proc", 0, NULL) < 0))
			_exit(1);
		ready_fd = ready[1];
		work();
		say_ready();
	}
	(void)close(ready[1]);
	CHECK(read(ready[0], &c, 1) == 1);
	from_it = ready[0];
	return pid;
}

static void stop(pid_t pid)
{
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
	(void)close(from_it);
}

/* Polls until there is a verdict, for half a second: long enough for all to have started. */
static enum watch_verdict poll_verdict(struct watch *w)
{
	enum watch_verdict v = WATCH_FINE;
	int i;

	for (i = 0; i < 10 && v == WATCH_FINE; i++) {
		struct timespec ts = {0, 50000000};

		(void)nanosleep(&ts, NULL);
		v = watch_poll(w);
	}
	return v;
}

static enum watch_verdict verdict_on(void (*work)(void), const struct watch_limits *limits, struct watch *ret)
{
	enum watch_verdict v;
	struct watch w;

	watch_init(&w, 1, limits); /* what the host shares before it starts */
	w.members.init = start(work, false);
	v = poll_verdict(&w);
	stop(w.members.init);
	watch_done(&w);
	if (ret)
		*ret = w;
	return v;
}

static void anonymous_memory_over_the_limit_is_seen(void)
{
	struct watch_limits limits = {.memory = 64 * MB};

	CHECK(verdict_on(anonymous_hog, &limits, NULL) == WATCH_MEMORY);
	limits.memory = 256 * MB;
	CHECK(verdict_on(anonymous_hog, &limits, NULL) == WATCH_FINE);
}

static void all_processes_count_together(void)
{
	struct watch_limits limits = {.memory = 64 * MB};

	CHECK(verdict_on(four_of_24, &limits, NULL) == WATCH_MEMORY);
}

static void shared_memory_counts_once(void)
{
	struct watch_limits limits = {.memory = 64 * MB};
	struct watch w;

	CHECK(verdict_on(shared_by_ten, &limits, &w) == WATCH_FINE);
	CHECK(w.processes == 10);
	limits.memory = 24 * MB;
	CHECK(verdict_on(shared_by_ten, &limits, NULL) == WATCH_MEMORY);
}

static void memfds_that_nobody_maps_count(void)
{
	struct watch_limits limits = {.memory = 64 * MB};
	struct watch w;

	CHECK(verdict_on(unmapped_memfd, &limits, NULL) == WATCH_MEMORY);
	limits.memory = 160 * MB;
	CHECK(verdict_on(unmapped_memfd, &limits, &w) == WATCH_FINE);
}

static void memory_counts_when_the_first_thread_has_ended(void)
{
	struct watch_limits limits = {.memory = 64 * MB};
	struct watch w;

	CHECK(verdict_on(leaderless_hog, &limits, NULL) == WATCH_MEMORY);
	limits.memory = 144 * MB; /* 96 of its own, and a memfd of 96 */
	CHECK(verdict_on(leaderless_hog, &limits, NULL) == WATCH_FINE);
	CHECK(verdict_on(leaderless_memfd, &limits, NULL) == WATCH_MEMORY);
	limits.memory = 512 * MB;
	CHECK(verdict_on(leaderless_memfd, &limits, &w) == WATCH_FINE);
}

static enum watch_verdict wait_for_verdict(struct watch *w)
{
	enum watch_verdict v = WATCH_FINE;
	int i;

	for (i = 0; i < 30 && v == WATCH_FINE; i++)
		v = poll_verdict(w);
	return v;
}

static void memory_counts_of_who_cannot_be_looked_at(void)
{
	struct watch_limits limits = {.memory = 64 * MB};
	AUTO_FD proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct watch_files f = {0};
	struct watch w;
	char pid[16];
	int status;

	if (access("/usr/bin/dd", X_OK) < 0) {
		printf("# no dd here\n");
		return;
	}
	CHECK(copy_dd());
	watch_init(&w, 1, &limits);
	w.members.init = start(hidden_hog, false);
	if (waitpid(w.members.init, &status, WNOHANG) == w.members.init) {
		printf("# no user namespaces for us here\n");
	} else {
		CHECK(wait_for_verdict(&w) == WATCH_MEMORY);
		(void)snprintf(pid, sizeof(pid), "%d", (int)w.members.init);
		f.numbers_are_ours = true;
		watch_files_memory(proc, pid, &f);
		CHECK(f.hidden == (geteuid() != 0));
		watch_files_done(&f);
		stop(w.members.init);
	}
	watch_done(&w);
	CHECK(unlink(unreadable) == 0);
}

static void memory_counts_of_who_forks_and_ends_meanwhile(void)
{
	struct watch_limits limits = {.memory = 64 * MB};
	struct watch w;

	watch_init(&w, 1, &limits);
	w.members.init = start(hoppers, false);
	CHECK(wait_for_verdict(&w) == WATCH_MEMORY);
	stop(w.members.init);
	watch_done(&w);
}

static void shared_memory_is_known_whatever_it_is_called(void)
{
	static const struct {
		const char *line;
		bool is;
	} lines[] = {
		{"7f0000000000-7f0000200000 rw-s 00100000 00:01 1037 /dev/zero (deleted)\n", true},
		{"7f0000000000-7f0000200000 rw-s 00100000 00:01 1037 [anon_shmem:heap]\n", true},
		{"7f0000000000-7f0000200000 rw-s 00100000 00:01 1037 whatever\n", true},
		{"7f0000000000-7f0000200000 rw-s 00100000 00:07 1037 [anon_shmem:heap]\n", true},
		{"7f0000000000-7f0000200000 rw-s 00100000 00:07 1037 /memfd:huge (deleted)\n", true},
		{"7f0000000000-7f0000200000 rw-s 00100000 00:01 1037 /SYSV00000000 (deleted)\n", false},
		{"7f0000000000-7f0000200000 rw-p 00000000 00:00 0 \n", false},
		{"7f0000000000-7f0000200000 rw-p 00000000 00:00 0 [anon:heap]\n", false},
		{"7f0000000000-7f0000200000 r-xp 00100000 fd:01 1037 /usr/lib/libc.so.6\n", false},
	};
	struct watch_file file;
	size_t i;

	for (i = 0; i < ARRAY_LEN(lines); i++) {
		CHECK(watch_files_line(lines[i].line, makedev(0, 1), &file) == lines[i].is);
		CHECK(!lines[i].is || (file.ino == 1037 && file.bytes == 3 * MB));
	}
	CHECK(watch_files_device() != 0);
}

/* A look at files, whatever others on the host do with its shared memory meanwhile. */
static void look_now(struct watch *w)
{
	w->file_bytes = 1;
	w->tick = 19;
	w->shared_after_us = 0;
	CHECK(watch_poll(w) == WATCH_FINE);
}

static void check_trimmed(void (*work)(void))
{
	struct watch_limits limits = {.memory = UINT64_C(1) << 40};
	struct watch w;
	char c;

	watch_init(&w, 1, &limits);
	w.members.init = start(work, false);
	look_now(&w);
	CHECK(w.shared.n == 1 && !w.hides);
	CHECK(kill(w.members.init, SIGUSR1) == 0 && read(from_it, &c, 1) == 1 && c == 't');
	look_now(&w);
	CHECK(w.shared.n == 1 && w.unseen == 1 && w.hides);
	w.limits.memory = 64 * MB;
	w.shared_before = 0; /* others may give back what they share meanwhile */
	CHECK(poll_verdict(&w) == WATCH_MEMORY);
	stop(w.members.init);
	watch_done(&w);
}

static void shared_memory_counts_when_it_was_unmapped_in_part(void)
{
	check_trimmed(trimmed_later);
}

static void a_memfd_counts_when_it_was_closed_and_unmapped_in_part(void)
{
	check_trimmed(closed_later);
}

static void deleted_files_count_whichever_thread_has_them(void)
{
	char folder[] = "/var/tmp/cordon-test-watch.XXXXXX";
	const char *const folders[] = {folder, NULL};
	struct watch_limits limits = {.storage = 8 * MB, .storage_folders = folders};
	enum watch_verdict v = WATCH_FINE;
	struct watch w;
	int i;

	CHECK(mkdtemp(folder) != NULL);
	watch_init(&w, start(deleted_in_a_thread, false), &limits);
	for (i = 0; i < 20 && v == WATCH_FINE; i++)
		v = poll_verdict(&w);
	CHECK(v == WATCH_STORAGE);
	stop(w.members.init);
	watch_done(&w);
	CHECK(rmdir(folder) == 0);
}

static void a_folder_that_its_owner_shut_counts_as_too_much(void)
{
	char folder[] = "/var/tmp/cordon-test-watch.XXXXXX", shut[64];
	AUTO_FD fd = -1;
	uint64_t bytes;

	CHECK(mkdtemp(folder) != NULL);
	(void)snprintf(shut, sizeof(shut), "%s/shut", folder);
	CHECK(mkdir(shut, 0) == 0);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bytes = usage_walk(fd);
	CHECK(bytes == UINT64_MAX || (geteuid() == 0 && bytes < MB));
	CHECK(rmdir(shut) == 0 && rmdir(folder) == 0);
}

static void a_file_counts_once_and_nobody_hides_behind_a_number(void)
{
	struct watch_files f = {0};
	unsigned i;

	for (i = 0; i < 2 * WATCH_FILES_MAX; i++)
		watch_files_add(&f, (struct watch_file){.dev = 1, .ino = 1 + i % 2, .bytes = 100 + i % 2});
	watch_files_add(&f, (struct watch_file){.dev = 2, .ino = 1, .bytes = 1000});
	CHECK(f.n == 3 && watch_files_bytes(&f) == 1201);
	CHECK(watch_files_find(&f, 2, 1)->bytes == 1000 && !watch_files_find(&f, 2, 2));
	for (i = 0; i < WATCH_FILES_MAX - 3; i++)
		watch_files_add(&f, (struct watch_file){.dev = 3, .ino = 1 + i, .bytes = 1});
	CHECK(watch_files_bytes(&f) == 1201 + WATCH_FILES_MAX - 3);
	for (i = 0; i < 2 * WATCH_FILES_MAX; i++)
		watch_files_add(&f, (struct watch_file){.dev = 4, .ino = 1 + i, .bytes = 1});
	CHECK(watch_files_bytes(&f) == UINT64_MAX);
	watch_files_done(&f);
}

static void pages_of_a_file_on_disk_do_not_count(void)
{
	struct watch_limits limits = {.memory = 64 * MB};

	CHECK(verdict_on(file_pages, &limits, NULL) == WATCH_FINE);
}

static void processes_are_counted(void)
{
	struct watch_limits limits = {.processes = 12};
	struct watch w;

	CHECK(verdict_on(nine_children, &limits, &w) == WATCH_FINE);
	CHECK(w.processes == 10);
	limits.processes = 9;
	CHECK(verdict_on(nine_children, &limits, NULL) == WATCH_PROCESSES);
}

static void no_number_of_processes_hides_others(void)
{
	struct watch_limits limits = {.processes = 1900};
	struct rlimit r;

	if (getrlimit(RLIMIT_NPROC, &r) < 0 || r.rlim_cur < 4000) {
		printf("# not so many processes for us here\n");
		return;
	}
	CHECK(verdict_on(two_thousand_children, &limits, NULL) == WATCH_PROCESSES);
}

static void an_ended_sandbox_is_gone(void)
{
	struct watch_limits limits = {.memory = MB};
	struct watch w;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	CHECK(waitpid(pid, NULL, 0) == pid);
	watch_init(&w, pid, &limits);
	CHECK(watch_poll(&w) == WATCH_GONE);
	watch_done(&w);
}

/* In a child, because entering namespaces cannot be undone. */
static void the_sandbox_s_own_proc_is_used_when_it_is_there(void)
{
	struct watch_limits limits = {.memory = 64 * MB, .processes = 100};
	struct watch w;
	int status = -1;
	pid_t child = fork(), pid;

	if (child == 0) {
		uid_t uid = geteuid();
		AUTO_FD map = -1;
		char text[64];
		int n = snprintf(text, sizeof(text), "0 %u 1", (unsigned)uid);

		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
			_exit(77);
		map = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
		if (write(map, text, (size_t)n) != n)
			_exit(77);
		pid = start(four_of_24, true);
		if (pid < 0)
			_exit(77);
		watch_init(&w, pid, &limits);
		n = poll_verdict(&w) == WATCH_MEMORY && w.processes == 4 && w.members.proc_fd >= 0;
		watch_done(&w);
		_exit(n ? 0 : 1);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		printf("# no user namespaces for us here\n");
	else
		CHECK(status == 0);
}

static void the_disk_floor_is_256_mib_or_2_percent(void)
{
	const uint64_t gib = 1 << 30;

	CHECK(watch_is_low(255 * (uint64_t)MB, gib));
	CHECK(!watch_is_low(257 * (uint64_t)MB, gib));
	CHECK(watch_is_low(19 * gib, 1000 * gib));
	CHECK(!watch_is_low(21 * gib, 1000 * gib));
	CHECK(!watch_disk_low("/nonexistent"));
	CHECK(!watch_disk_low("/proc"));
}

static void the_kernel_s_memory_counts_by_what_was_found_and_no_more_than_it_grew_by(void)
{
	const uint64_t limit = 64 * MB, n = 32 * MB / WATCH_KERNEL_BYTES;
	struct watch_kernel k = {.before = {100 * MB, 0}, .now = {200 * MB, 0}};
	struct watch_kernel_count c = {.n = 1000};
	struct watch_memory m;

	m = watch_kernel_memory(
		"MemTotal: 10 kB\nMemFree:    3 kB\nMemAvailable: 4 kB\nCached: 1 kB\nSUnreclaim:     2 kB\n");
	CHECK(m.slab == 2048 && m.pages == 4096);
	m = watch_kernel_memory("");
	CHECK(m.slab == 0 && m.pages == 0);
	watch_kernel_counted(&k, &c, limit, 0, 1000);
	CHECK(watch_kernel_bytes(&k, limit) == 0); /* any program's */
	c.n = n;
	watch_kernel_counted(&k, &c, limit, 0, 1000);
	CHECK(watch_kernel_bytes(&k, limit) == n * WATCH_KERNEL_BYTES);
	k.now.slab = 110 * MB;
	CHECK(watch_kernel_bytes(&k, limit) == 10 * MB);
}

static void what_of_it_cannot_be_counted_is_all_that_it_grew_by(void)
{
	struct watch_kernel k = {.before = {100 * MB, 0}, .now = {200 * MB, 0}};
	struct watch_kernel_count cut = {.cut = true}, hidden = {.hidden = true}, none = {0};

	watch_kernel_counted(&k, &cut, 64 * MB, 0, 1000);
	CHECK(watch_kernel_bytes(&k, 64 * MB) == 100 * MB);
	watch_kernel_counted(&k, &none, 64 * MB, 0, 1000);
	CHECK(watch_kernel_bytes(&k, 64 * MB) == 0);
	/* a command that is about to be executed is hidden for a moment */
	watch_kernel_counted(&k, &hidden, 64 * MB, 0, 1000);
	CHECK(watch_kernel_bytes(&k, 64 * MB) == 0);
	CHECK(watch_kernel_due(&k, 64 * MB, 0, 1000000));
	k.before = (struct watch_memory){100 * MB, 0};
	k.now = (struct watch_memory){200 * MB, 0};
	watch_kernel_counted(&k, &hidden, 64 * MB, 0, 1000);
	CHECK(watch_kernel_bytes(&k, 64 * MB) == 100 * MB);
}

static void what_sockets_and_pipes_may_hold_counts_as_far_as_the_kernel_s_memory_grew(void)
{
	struct watch_kernel k = {.before = {60 * MB, 40 * MB}, .now = {80 * MB, 120 * MB}, .last = {81 * MB, 119 * MB}};
	struct watch_kernel_count c = {.n = 1000, .bytes = 50 * (uint64_t)MB};

	watch_kernel_counted(&k, &c, 64 * MB, 0, 1000);
	CHECK(watch_kernel_bytes(&k, 64 * MB) == 50 * MB + 1000 * WATCH_KERNEL_BYTES);
	c.bytes = UINT64_MAX;
	watch_kernel_counted(&k, &c, 64 * MB, 0, 1000);
	CHECK(watch_kernel_bytes(&k, 64 * MB) == 100 * MB);
	CHECK(watch_kernel_is_over(&k, c.bytes, 64 * MB));
	CHECK(!watch_kernel_is_over(&k, 64 * MB, 64 * MB) && !watch_kernel_is_over(&k, c.bytes, 100 * MB));
	CHECK(!watch_kernel_grows(&k, 64 * MB) && watch_kernel_grows(&k, 16 * MB) && !watch_kernel_grows(&k, 0));
}

static void sockets_without_an_address_count_where_they_are_many(void)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	CHECK(watch_sockets_number("sockets: used 12345\nTCP: inuse 2 orphan 0 tw 0 alloc 7 mem 3\n") == 12345);
	CHECK(watch_sockets_memory("sockets: used 1\nTCP: inuse 2 alloc 7 mem 3\nUDP: inuse 4 mem 5\n") == 8 * page);
	CHECK(watch_sockets_number("") == 0 && watch_sockets_memory("") == 0);
	CHECK(watch_sockets_others(50, 50 + WATCH_SOCKETS_FEW, 7) == 0);
	CHECK(watch_sockets_others(50, 53 + WATCH_SOCKETS_FEW, 7) == 21);
	CHECK(watch_sockets_others(50, 3, 7) == 0);
	CHECK(watch_sockets_others(0, UINT64_MAX, 1 << 20) == UINT64_MAX);
}

/* In our own network there may be others': only what is added is known. */
static void what_sockets_hold_is_asked_of_the_kernel(void)
{
	struct watch_sockets w = {.fd = -1};
	uint64_t before;
	char text[60000] = {0};
	int pair[2], none = open("/dev/null", O_RDONLY | O_CLOEXEC), fd = sys_sockets_open();
	struct sys_sockets sum;
	uint32_t refused = 0;

	CHECK(none >= 0 && !watch_sockets_take(&w, none));
	watch_sockets_look(&w, -1, UINT64_MAX);
	CHECK(w.bytes == 0);
	CHECK(fd >= 0 && watch_sockets_take(&w, fd));
	if (sys_sockets_sum(w.fd, UINT64_MAX, &refused, &sum) < 0 || sum.n == 0)
		printf("# this kernel tells nothing of sockets\n");
	CHECK(sys_sockets_sum(w.fd, 0, &refused, &sum) == 0); /* stops at once, and is no worse for it */
	watch_sockets_look(&w, -1, UINT64_MAX);
	before = w.bytes;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	CHECK(send(pair[0], text, sizeof(text), MSG_DONTWAIT) == sizeof(text));
	watch_sockets_look_again(&w, -1, UINT64_MAX);
	CHECK(w.bytes == before); /* it was a moment ago */
	watch_sockets_look(&w, -1, UINT64_MAX);
	CHECK(sum.n == 0 || (w.bytes > before + sizeof(text) / 2 && w.others == 0));
	CHECK(close(pair[0]) == 0 && close(pair[1]) == 0);
	watch_sockets_done(&w);
}

static void pipes_count_once(void)
{
	struct watch_files f = {
		.until_us = UINT64_MAX, .most = UINT64_MAX, .most_pipes = 1000, .numbers_are_ours = true};
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), pair[2];
	uint64_t before;
	char pid[16];

	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	watch_files_pipes(proc, pid, &f);
	before = watch_files_bytes(&f);
	CHECK(pipe2(pair, O_CLOEXEC) == 0);
	watch_files_pipes(proc, pid, &f);
	CHECK(watch_files_bytes(&f) == before + WATCH_PIPE_BYTES);
	CHECK(close(pair[0]) == 0 && close(pair[1]) == 0 && close(proc) == 0);
	watch_files_done(&f);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(anonymous_memory_over_the_limit_is_seen),
		CASE(all_processes_count_together),
		CASE(shared_memory_counts_once),
		CASE(memfds_that_nobody_maps_count),
		CASE(memory_counts_when_the_first_thread_has_ended),
		CASE(memory_counts_of_who_cannot_be_looked_at),
		CASE(memory_counts_of_who_forks_and_ends_meanwhile),
		CASE(shared_memory_is_known_whatever_it_is_called),
		CASE(shared_memory_counts_when_it_was_unmapped_in_part),
		CASE(a_memfd_counts_when_it_was_closed_and_unmapped_in_part),
		CASE(deleted_files_count_whichever_thread_has_them),
		CASE(a_folder_that_its_owner_shut_counts_as_too_much),
		CASE(a_file_counts_once_and_nobody_hides_behind_a_number),
		CASE(pages_of_a_file_on_disk_do_not_count),
		CASE(processes_are_counted),
		CASE(no_number_of_processes_hides_others),
		CASE(an_ended_sandbox_is_gone),
		CASE(the_sandbox_s_own_proc_is_used_when_it_is_there),
		CASE(the_kernel_s_memory_counts_by_what_was_found_and_no_more_than_it_grew_by),
		CASE(what_of_it_cannot_be_counted_is_all_that_it_grew_by),
		CASE(what_sockets_and_pipes_may_hold_counts_as_far_as_the_kernel_s_memory_grew),
		CASE(sockets_without_an_address_count_where_they_are_many),
		CASE(what_sockets_hold_is_asked_of_the_kernel),
		CASE(pipes_count_once),
		CASE(the_disk_floor_is_256_mib_or_2_percent),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
