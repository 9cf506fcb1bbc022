#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "sys/cgroup.h"
#include "sys/cgroup_place.h"

/* A tree of plain files that looks like a cgroup mount: enough for the placement, which only reads names and words. */
static char fake[64];
static char fake_self[80];

static const char *at(const char *format, ...) __attribute__((format(printf, 1, 2)));

static const char *at(const char *format, ...)
{
	static char paths[4][300];
	static unsigned turn;
	char *p = paths[turn++ % 4];
	int n = snprintf(p, 100, "%s/", fake);
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(p + n, 200, format, ap);
	va_end(ap);
	return p;
}

static void put(const char *path, const char *text)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static void fake_begin(const char *self)
{
	strcpy(fake, "/tmp/cordon-test-cgroup.XXXXXX");
	CHECK(mkdtemp(fake) != NULL);
	(void)snprintf(fake_self, sizeof(fake_self), "%s/self", fake);
	put(fake_self, self);
}

static void fake_end(void)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf %s", fake);
	CHECK(system(command) == 0);
}

/* A v2 folder; the true root is told by its lack of cgroup.type. */
static void v2_folder(const char *where, bool is_root, const char *available, const char *on, const char *procs)
{
	char path[300];

	(void)snprintf(path, sizeof(path), "%s", where);
	if (!is_root || strcmp(path + strlen(path) - 2, "/.") != 0)
		CHECK(mkdir(path, 0755) == 0);
	put(at("%s/cgroup.controllers", path + strlen(fake) + 1), available);
	put(at("%s/cgroup.subtree_control", path + strlen(fake) + 1), on);
	put(at("%s/cgroup.procs", path + strlen(fake) + 1), procs);
	if (!is_root)
		put(at("%s/cgroup.type", path + strlen(fake) + 1), "domain\n");
}

static unsigned places(unsigned want, bool track, struct cgroup_place *out)
{
	struct cgroup_env env = {.root = fake, .self = fake_self};

	return cgroup_places(&env, want, track, out);
}

static bool is_folder(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static const unsigned all = CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU;

static void no_cgroup_file_system_means_no_limit_and_no_error(void)
{
	struct cgroup_env env = {.root = "/nonexistent", .self = "/nonexistent/self"};
	struct cgroup_limits limits = {1 << 30, 10, 10, true};
	struct cgroup_stats stats;
	struct cgroup *cg = NULL;

	CHECK(cgroup_new(&env, "x", &limits, &cg) == 0);
	CHECK(cg != NULL && cgroup_fd_v2(cg) == -1);
	CHECK(cgroup_join_self(cg, false) == 0 && cgroup_kill(cg) == 0 && cgroup_remove(cg) == 0);
	cgroup_stats(cg, &stats);
	CHECK(stats.known == 0);
	cgroup_free(cg);
}

static void all_cpus_are_no_limit_and_need_no_cgroup(void)
{
	struct cgroup_env env = {.root = "/nonexistent", .self = "/nonexistent/self"};
	struct cgroup_limits limits = {.cpu = (uint64_t)sysconf(_SC_NPROCESSORS_CONF) * 1000};
	struct cgroup *cg = NULL;

	CHECK(cgroup_new(&env, "x", &limits, &cg) == CGROUP_CPU);
	cgroup_free(cg);
	limits.cpu--;
	CHECK(cgroup_new(&env, "x", &limits, &cg) == 0);
	cgroup_free(cg);
}

static unsigned set_in_fake(bool v2, const struct cgroup_limits *limits)
{
	AUTO_FD dir = open(fake, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return cgroup_set_limits(dir, v2, all, limits);
}

static void a_memory_limit_without_swap_is_told_from_one_with_it(void)
{
	const struct cgroup_limits limits = {.memory = 1 << 30, .processes = 10, .cpu = 10};

	fake_begin("");
	put(at("memory.swap.max"), "");
	CHECK(set_in_fake(true, &limits) == 0);
	put(at("memory.max"), "");
	CHECK(set_in_fake(true, &limits) == (CGROUP_MEMORY | CGROUP_SWAP));
	CHECK(unlink(at("memory.swap.max")) == 0);
	CHECK(set_in_fake(true, &limits) == CGROUP_MEMORY);
	put(at("memory.limit_in_bytes"), "");
	CHECK(set_in_fake(false, &limits) == CGROUP_MEMORY);
	put(at("memory.memsw.limit_in_bytes"), "");
	CHECK(set_in_fake(false, &limits) == (CGROUP_MEMORY | CGROUP_SWAP));
	fake_end();
}

static void swap_is_what_the_kernel_lists(void)
{
	char swaps[100];
	struct cgroup_env env = {.swaps = swaps};

	fake_begin("");
	(void)snprintf(swaps, sizeof(swaps), "%s", at("swaps"));
	put(swaps, "Filename\t\t\tType\t\tSize\n");
	CHECK(!cgroup_host_swaps(&env));
	put(swaps, "Filename\t\t\tType\t\tSize\n/dev/zram0 partition 1000\n");
	CHECK(cgroup_host_swaps(&env));
	fake_end();
}

static void an_id_is_a_plain_name(void)
{
	struct cgroup_limits limits = {0};
	struct cgroup *cg = NULL;
	char big[CGROUP_ID_MAX + 2];

	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	CHECK(cgroup_new(NULL, "", &limits, &cg) == -EINVAL);
	CHECK(cgroup_new(NULL, "a/b", &limits, &cg) == -EINVAL);
	CHECK(cgroup_new(NULL, "a b", &limits, &cg) == -EINVAL);
	CHECK(cgroup_new(NULL, big, &limits, &cg) == -EINVAL);
	CHECK(cgroup_new(NULL, big + 1, &limits, &cg) == 0);
	cgroup_free(cg);
}

static void v2_goes_to_the_nearest_ancestor_that_has_all_controllers(void)
{
	struct cgroup_place p[CGROUP_PLACES];

	fake_begin("0::/user/app/shell.scope\n");
	v2_folder(at("."), true, "cpu io memory pids\n", "cpu memory pids\n", "1\n");
	v2_folder(at("user"), false, "cpu memory pids\n", "cpu memory pids\n", "");
	v2_folder(at("user/app"), false, "cpu memory pids\n", "cpu memory pids\n", "");
	v2_folder(at("user/app/shell.scope"), false, "cpu memory pids\n", "", "4711\n");
	CHECK(places(all, false, p) == 1);
	CHECK(p[0].v2 && p[0].bits == all && is_folder(p[0].fd, at("user/app")));
	(void)close(p[0].fd);
	fake_end();
}

static void v2_turns_on_what_is_available_and_off(void)
{
	struct cgroup_place p[CGROUP_PLACES];
	char text[64];
	AUTO_FD dir = -1;

	fake_begin("0::/app/shell.scope\n");
	v2_folder(at("."), true, "cpu memory pids\n", "memory pids\n", "");
	v2_folder(at("app"), false, "memory pids\n", "pids\n", "");
	v2_folder(at("app/shell.scope"), false, "", "", "4711\n");
	CHECK(places(CGROUP_MEMORY | CGROUP_PIDS, false, p) == 1);
	CHECK(p[0].bits == (CGROUP_MEMORY | CGROUP_PIDS) && is_folder(p[0].fd, at("app")));
	(void)close(p[0].fd);
	dir = open(at("app"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(cgroup_read(dir, "cgroup.subtree_control", text, sizeof(text)) > 0);
	CHECK(strncmp(text, "+memory", 7) == 0);
	fake_end();
}

static void v2_passes_over_folders_with_processes_of_their_own(void)
{
	struct cgroup_place p[CGROUP_PLACES];

	fake_begin("0::/busy/shell.scope\n");
	v2_folder(at("."), true, "cpu memory pids\n", "cpu memory pids\n", "1\n2\n");
	v2_folder(at("busy"), false, "cpu memory pids\n", "", "99\n");
	v2_folder(at("busy/shell.scope"), false, "", "", "4711\n");
	CHECK(places(all, false, p) == 1);
	CHECK(p[0].bits == all && is_folder(p[0].fd, at(".")));
	(void)close(p[0].fd);
	/* The root of a container's view is no true root: the rule holds there too, and nothing is left. */
	put(at("cgroup.type"), "domain\n");
	put(at("cgroup.subtree_control"), "");
	CHECK(places(all, false, p) == 0);
	CHECK(places(all, true, p) == 1 && p[0].bits == 0);
	(void)close(p[0].fd);
	fake_end();
}

static void v2_takes_the_ancestor_with_most_where_none_has_all(void)
{
	struct cgroup_place p[CGROUP_PLACES];

	fake_begin("0::/user/app/shell.scope\n");
	v2_folder(at("."), true, "memory pids\n", "memory pids\n", "");
	v2_folder(at("user"), false, "memory pids\n", "memory pids\n", "");
	v2_folder(at("user/app"), false, "pids\n", "pids\n", "");
	v2_folder(at("user/app/shell.scope"), false, "", "", "4711\n");
	CHECK(places(all, false, p) == 1);
	CHECK(p[0].bits == (CGROUP_MEMORY | CGROUP_PIDS) && is_folder(p[0].fd, at("user")));
	(void)close(p[0].fd);
	fake_end();
}

static void v2_stops_where_the_folder_is_not_ours(void)
{
	struct cgroup_place p[CGROUP_PLACES];
	pid_t pid;
	int status = 0;

	fake_begin("0::/user/app/shell.scope\n");
	CHECK(chmod(fake, 0755) == 0);
	v2_folder(at("."), true, "cpu memory pids\n", "cpu memory pids\n", "");
	v2_folder(at("user"), false, "cpu memory pids\n", "cpu memory pids\n", "");
	v2_folder(at("user/app"), false, "pids\n", "pids\n", "");
	CHECK(chmod(at("user"), 0555) == 0 && chmod(at("user/app"), 0777) == 0);
	CHECK(chmod(at("user/app/cgroup.procs"), 0666) == 0);
	pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && setuid(65534) < 0)
			_exit(9);
		_exit(places(all, false, p) == 1 && p[0].bits == CGROUP_PIDS && is_folder(p[0].fd, at("user/app")) ? 0
														   : 1);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(chmod(at("user"), 0755) == 0);
	fake_end();
}

static void v1_goes_below_our_own_cgroup_in_each_hierarchy(void)
{
	struct cgroup_place p[CGROUP_PLACES];

	fake_begin("9:name=systemd:/x\n8:pids:/\n4:memory:/job/7\n2:cpu,cpuacct:/job\n1:cpuset:/\n0::/\n");
	CHECK(mkdir(at("memory"), 0755) == 0 && mkdir(at("memory/job"), 0755) == 0);
	CHECK(mkdir(at("memory/job/7"), 0755) == 0 && mkdir(at("pids"), 0755) == 0);
	CHECK(mkdir(at("cpu,cpuacct"), 0755) == 0 && mkdir(at("cpu,cpuacct/job"), 0755) == 0);
	CHECK(places(all, false, p) == 3);
	CHECK(!p[0].v2 && p[0].bits == CGROUP_PIDS && is_folder(p[0].fd, at("pids")));
	CHECK(p[1].bits == CGROUP_MEMORY && is_folder(p[1].fd, at("memory/job/7")));
	CHECK(p[2].bits == CGROUP_CPU && is_folder(p[2].fd, at("cpu,cpuacct/job")));
	(void)close(p[0].fd);
	(void)close(p[1].fd);
	(void)close(p[2].fd);
	fake_end();
}

static void hybrid_takes_each_controller_from_where_it_is(void)
{
	struct cgroup_place p[CGROUP_PLACES];

	fake_begin("4:memory:/\n0::/\n");
	CHECK(mkdir(at("memory"), 0755) == 0);
	v2_folder(at("unified"), true, "pids\n", "pids\n", "1\n");
	CHECK(places(all, false, p) == 2);
	CHECK(!p[0].v2 && p[0].bits == CGROUP_MEMORY);
	CHECK(p[1].v2 && p[1].bits == CGROUP_PIDS && is_folder(p[1].fd, at("unified")));
	(void)close(p[0].fd);
	(void)close(p[1].fd);
	fake_end();
}

static void odd_membership_files_are_read_as_none(void)
{
	static const char *const odd[] = {"",           "\n\n",          "0:",  "0::", "0::relative\n",
					  "4:memory\n", "0::/../../x\n", "::::"};
	struct cgroup_place p[CGROUP_PLACES];
	char *big;
	size_t i;

	fake_begin("");
	v2_folder(at("."), true, "memory\n", "memory\n", "");
	for (i = 0; i < ARRAY_LEN(odd); i++) {
		put(fake_self, odd[i]);
		CHECK(places(all, false, p) == 0);
	}
	big = calloc(1, 100001);
	CHECK(big != NULL);
	if (big)
		put(fake_self, memset(big, 'x', 100000));
	CHECK(places(all, false, p) == 0);
	free(big);
	fake_end();
}

/* ---- the machine's own cgroups ---- */

static const char *my_id(const char *what)
{
	static char id[64];

	(void)snprintf(id, sizeof(id), "test-%s-%d", what, (int)getpid());
	return id;
}

static void nap(long ms)
{
	struct timespec ts = {0, ms * 1000000};

	(void)nanosleep(&ts, NULL);
}

static pid_t spawn_in(const struct cgroup *cg, void (*work)(void))
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (cgroup_join_self(cg, false) < 0)
		_exit(99);
	work();
	_exit(0);
}

static int status_of(pid_t pid)
{
	int status = -1;

	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

static void hog(void)
{
	enum { STEP = 1 << 20 };
	int i;

	for (i = 0; i < 256; i++) {
		char *p = mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			_exit(1);
		memset(p, 1, STEP);
	}
}

static void a_memory_limit_ends_a_hog_and_is_counted(void)
{
	struct cgroup_limits limits = {.memory = 32 << 20};
	struct cgroup_stats stats;
	struct cgroup *cg = NULL;
	int mask = cgroup_new(NULL, my_id("mem"), &limits, &cg);
	int status;

	CHECK(mask >= 0);
	if (mask & CGROUP_MEMORY) {
		status = status_of(spawn_in(cg, hog));
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		cgroup_stats(cg, &stats);
		CHECK((stats.known & CGROUP_MEMORY) && stats.oom_kills >= 1);
		CHECK(stats.memory_peak > (16 << 20) && stats.memory_peak <= (33 << 20));
	} else {
		printf("# no memory controller for us here\n");
	}
	CHECK(cgroup_remove(cg) == 0 && cgroup_remove(cg) == 0);
	cgroup_free(cg);
	/* The control: the same program ends well without it. */
	CHECK(status_of(spawn_in(NULL, hog)) == 0);
}

static void breed(void)
{
	int i;

	for (i = 0; i < 30; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* where there is no cgroup to end them all */
			pause();
			_exit(0);
		}
	}
	pause();
}

static void a_process_limit_is_counted_and_kill_leaves_nothing(void)
{
	struct cgroup_limits limits = {.processes = 8, .track = true};
	struct cgroup_stats stats;
	struct cgroup *cg = NULL;
	int mask = cgroup_new(NULL, my_id("pids"), &limits, &cg);
	int status, i;
	pid_t pid;

	CHECK(mask >= 0);
	if (mask & CGROUP_PIDS) {
		pid = spawn_in(cg, breed);
		memset(&stats, 0, sizeof(stats));
		for (i = 0; i < 200 && stats.pids_refused == 0; i++) {
			nap(10);
			cgroup_stats(cg, &stats);
		}
		CHECK(stats.pids_refused >= 1);
		CHECK(cgroup_kill(cg) == 0);
		status = status_of(pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	} else {
		printf("# no pids controller for us here\n");
	}
	CHECK(cgroup_remove(cg) == 0);
	cgroup_free(cg);
}

/* Makes the process's folder in each hierarchy seem old. */
static void age(const char *self)
{
	char command[256];

	(void)snprintf(command, sizeof(command),
		       "find /sys/fs/cgroup -type d -name 'cordon-%s' -exec touch -d '1 minute ago' {} +", self);
	CHECK(system(command) == 0);
}

static int make_and_forget(const char *id, struct cgroup **ret)
{
	struct cgroup_limits limits = {.memory = 64 << 20, .processes = 64, .track = true};
	int mask = cgroup_new(NULL, id, &limits, ret);

	CHECK(mask >= 0);
	return mask;
}

static bool still_there(const struct cgroup *cg)
{
	return fcntl(cgroup_fd_v2(cg), F_GETFD) >= 0 && faccessat(cgroup_fd_v2(cg), "cgroup.procs", F_OK, 0) == 0;
}

static void what_a_killed_supervisor_left_goes_with_the_next_run(void)
{
	struct cgroup *dead = NULL, *busy = NULL, *young = NULL, *next = NULL;
	pid_t pid;

	(void)make_and_forget(my_id("dead"), &dead);
	(void)make_and_forget(my_id("busy"), &busy);
	(void)make_and_forget(my_id("next"), &next);
	if (cgroup_fd_v2(dead) >= 0) {
		pid = spawn_in(busy, breed);
		nap(50);
		age(my_id("dead"));
		age(my_id("busy"));
		(void)make_and_forget(my_id("young"), &young);
		CHECK(cgroup_remove(next) == 0);
		CHECK(!still_there(dead) && still_there(busy) && still_there(young));
		CHECK(cgroup_kill(busy) == 0 && WIFSIGNALED(status_of(pid)));
		CHECK(cgroup_remove(busy) == 0 && cgroup_remove(young) == 0 && cgroup_remove(dead) == 0);
	} else {
		printf("# no cgroup may be made here\n");
	}
	cgroup_free(dead);
	cgroup_free(busy);
	cgroup_free(young);
	cgroup_free(next);
}

static void a_running_process_s_cgroup_can_be_opened_by_id(void)
{
	struct cgroup_limits limits = {.processes = 64, .track = true};
	struct cgroup *cg = NULL, *same = NULL;
	char self[64];
	struct cgroup_env env = {.self = self};
	pid_t pid, other;

	CHECK(cgroup_new(NULL, my_id("open"), &limits, &cg) >= 0);
	pid = spawn_in(cg, breed);
	nap(50);
	(void)snprintf(self, sizeof(self), "/proc/%d/cgroup", (int)pid);
	if (cgroup_fd_v2(cg) >= 0) {
		CHECK(cgroup_open(&env, "another", &same) == -ENOENT);
		CHECK(cgroup_open(&env, my_id("open"), &same) == 0);
		other = fork();
		if (other == 0) {
			pause();
			_exit(0);
		}
		CHECK(cgroup_join(same, other) == 0);
		CHECK(cgroup_kill(same) == 0);
		CHECK(WIFSIGNALED(status_of(other)));
		cgroup_free(same);
	} else {
		(void)kill(pid, SIGKILL);
	}
	CHECK(WIFSIGNALED(status_of(pid)));
	CHECK(cgroup_remove(cg) == 0);
	cgroup_free(cg);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(no_cgroup_file_system_means_no_limit_and_no_error),
		CASE(all_cpus_are_no_limit_and_need_no_cgroup),
		CASE(a_memory_limit_without_swap_is_told_from_one_with_it),
		CASE(swap_is_what_the_kernel_lists),
		CASE(an_id_is_a_plain_name),
		CASE(v2_goes_to_the_nearest_ancestor_that_has_all_controllers),
		CASE(v2_turns_on_what_is_available_and_off),
		CASE(v2_passes_over_folders_with_processes_of_their_own),
		CASE(v2_takes_the_ancestor_with_most_where_none_has_all),
		CASE(v2_stops_where_the_folder_is_not_ours),
		CASE(v1_goes_below_our_own_cgroup_in_each_hierarchy),
		CASE(hybrid_takes_each_controller_from_where_it_is),
		CASE(odd_membership_files_are_read_as_none),
		CASE(a_memory_limit_ends_a_hog_and_is_counted),
		CASE(a_process_limit_is_counted_and_kill_leaves_nothing),
		CASE(what_a_killed_supervisor_left_goes_with_the_next_run),
		CASE(a_running_process_s_cgroup_can_be_opened_by_id),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
