#include "sys/probe.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"
#include "sys/probe_child.h"
#include "sys/probe_fs.h"

static int give(const void *arg)
{
	return *(const int *)arg;
}

static int hang(const void *arg)
{
	(void)arg;
	for (;;)
		(void)pause();
	return 0;
}

static int die(const void *arg)
{
	(void)raise(*(const int *)arg);
	return 0;
}

static int is_mapped(const void *arg)
{
	(void)arg;
	return getuid() == 0 && getgid() == 0 ? 0 : -EPROTO;
}

static int entries(const char *folder)
{
	DIR *d = opendir(folder);
	int n = 0;

	if (!d)
		return -1;
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static const struct {
	const char *name;
	int (*run)(void);
} all[] = {
	{"userns", probe_userns},
	{"mount_ns", probe_mount_ns},
	{"pid_ns", probe_pid_ns},
	{"net_ns", probe_net_ns},
	{"ipc_ns", probe_ipc_ns},
	{"uts_ns", probe_uts_ns},
	{"cgroup_ns", probe_cgroup_ns},
	{"fresh_proc", probe_fresh_proc},
	{"redirect", probe_redirect},
	{"refusal", probe_refusal},
	{"clone3", probe_clone3},
	{"openat2", probe_openat2},
	{"open_tree", probe_open_tree},
	{"move_mount", probe_move_mount},
	{"mount_setattr", probe_mount_setattr},
	{"idmap", probe_idmapped_mount},
	{"pidfd_open", probe_pidfd_open},
	{"close_range", probe_close_range},
	{"memfd", probe_memfd},
	{"landlock", probe_landlock},
	{"seccomp", probe_seccomp},
	{"tsync", probe_seccomp_tsync},
	{"notify", probe_seccomp_notify},
	{"kvm", probe_kvm},
	{"vsock", probe_vsock},
	{"cgroups", probe_cgroups},
};

static void an_answer_comes_through_as_it_is(void)
{
	static const int values[] = {0, 7, -EPERM, -ENOSYS};
	size_t i;

	for (i = 0; i < ARRAY_LEN(values); i++)
		CHECK(probe_run(0, give, &values[i]) == values[i]);
}

static void a_child_that_hangs_is_ended_in_time(void)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	CHECK(probe_run(0, hang, NULL) == -ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &to);
	CHECK(to.tv_sec - from.tv_sec < 5);
}

static void a_child_that_is_killed_is_a_no(void)
{
	static const int kill_signal = SIGKILL, seccomp_signal = SIGSYS;

	CHECK(probe_run(0, die, &kill_signal) == -ECHILD);
	CHECK(probe_run(0, die, &seccomp_signal) == -ENOSYS);
}

static void ids_are_mapped_in_a_user_namespace(void)
{
	if (probe_userns() < 0)
		printf("# no user namespaces here\n");
	else
		CHECK(probe_run(CLONE_NEWUSER, is_mapped, NULL) == 0);
}

static void all_probes_leave_nothing_behind(void)
{
	int fds = entries("/proc/self/fd");
	AUTO_BUF before;
	AUTO_BUF after;
	size_t i;

	buf_init(&before, 1 << 20);
	buf_init(&after, 1 << 20);
	(void)buf_read_file(&before, "/proc/self/mountinfo");
	for (i = 0; i < ARRAY_LEN(all); i++)
		printf("# %s: %d\n", all[i].name, all[i].run());
	(void)buf_read_file(&after, "/proc/self/mountinfo");
	CHECK(sv_eq(buf_view(&before), buf_view(&after)));
	CHECK(entries("/proc/self/fd") == fds);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void probes_of_a_folder_leave_it_empty(void)
{
	char folder[] = "/tmp/cordon-test-probe-XXXXXX";

	CHECK(mkdtemp(folder) != NULL);
	printf("# overlay: %d\n", probe_overlay(folder));
	printf("# reflink: %d\n", probe_reflink(folder));
	CHECK(rmdir(folder) == 0);
	CHECK(probe_overlay(folder) == -ENOENT);
	CHECK(probe_reflink(folder) == -ENOENT);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(an_answer_comes_through_as_it_is), CASE(a_child_that_hangs_is_ended_in_time),
		CASE(a_child_that_is_killed_is_a_no),   CASE(ids_are_mapped_in_a_user_namespace),
		CASE(all_probes_leave_nothing_behind),  CASE(probes_of_a_folder_leave_it_empty),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
