#include "cli/health.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cachefile.h"
#include "base/cleanup.h"
#include "cli/backends.h"
#include "cli/health_try.h"
#include "cli/launch_box.h"
#include "policy/runtime_choice.h"
#include "sandbox/docker/docker.h"
#include "sys/process.h"

const char *const health_step_names[] = {"found",          "container started", "command ran", "network empty",
					 "door reachable", "cleaned up",        NULL};

struct kept {
	unsigned char key[SHA256_SIZE];
	struct health health;
};

int64_t health_now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void fail(struct health *h, enum health_step step, const char *what)
{
	h->failed = (int)step;
	(void)snprintf(h->what, sizeof(h->what), "%.390s", what);
}

/* Everything that a result depends on. 0 or -errno: it cannot be kept. */
static int make_key(const struct health *h, unsigned char key[SHA256_SIZE])
{
	AUTO_BUF boot = {0};
	struct sha256 s;
	struct stat st;
	uint64_t id[8];
	int r;

	if (stat(h->program, &st) < 0)
		return -errno;
	buf_init(&boot, 64);
	r = buf_read_file(&boot, "/proc/sys/kernel/random/boot_id");
	if (r < 0)
		return r;
	id[0] = st.st_dev;
	id[1] = st.st_ino;
	id[2] = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	id[3] = (uint64_t)st.st_mtim.tv_sec;
	id[4] = (uint64_t)st.st_mtim.tv_nsec;
	id[5] = (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec;
	id[6] = geteuid();
	id[7] = h->runtime;
	sha256_init(&s);
	sha256_add(&s, CORDON_VERSION, sizeof(CORDON_VERSION));
	r = cachefile_add_self(&s);
	if (r < 0)
		return r;
	sha256_add(&s, boot.p, boot.n);
	sha256_add(&s, id, sizeof(id));
	sha256_add(&s, h->program, strlen(h->program));
	sha256_done(&s, key);
	return 0;
}

static void file_name(const struct health *h, char out[32])
{
	(void)snprintf(out, 32, "health-%s", runtime_names[h->runtime]);
}

/* True: what is kept holds, and is in *h now. */
static bool recall(const char *dir, const unsigned char key[SHA256_SIZE], struct health *h)
{
	struct kept kept;
	AUTO_BUF b = {0};
	char name[32];

	file_name(h, name);
	buf_init(&b, sizeof(kept) + SHA256_SIZE);
	if (cachefile_read(dir, name, &b) < 0 || b.n != sizeof(kept))
		return false;
	memcpy(&kept, b.p, sizeof(kept));
	if (memcmp(kept.key, key, SHA256_SIZE) != 0)
		return false;
	if (!health_is_good(&kept.health) &&
	    (health_now() < kept.health.when_ms || health_now() - kept.health.when_ms >= HEALTH_RETRY_MS))
		return false;
	*h = kept.health;
	h->cached = true;
	return true;
}

static void remember(const char *dir, const unsigned char key[SHA256_SIZE], const struct health *h)
{
	struct kept kept;
	AUTO_BUF b = {0};
	char name[32];

	memset(&kept, 0, sizeof(kept));
	memcpy(kept.key, key, SHA256_SIZE);
	kept.health = *h;
	file_name(h, name);
	buf_init(&b, sizeof(kept) + SHA256_SIZE);
	if (buf_add(&b, &kept, sizeof(kept)) == 0)
		(void)cachefile_replace(dir, name, &b);
}

static void digest_program(struct health *h)
{
	AUTO_FD fd = open(h->program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char chunk[65536];
	struct sha256 s;
	struct stat st;
	ssize_t n;
	unsigned char digest[SHA256_SIZE];

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	sha256_init(&s);
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		sha256_add(&s, chunk, (size_t)n);
	sha256_done(&s, digest);
	sha256_hex(digest, h->digest);
}

static bool find(enum runtime runtime, struct health *h)
{
	AUTO_FREE char *place = NULL;
	struct error err = {0};
	int r;

	*h = (struct health){.runtime = runtime, .failed = HEALTH_FOUND};
	if (backend_place(runtime, &place, &err) < 0) {
		fail(h, HEALTH_FOUND, err.text);
		return false;
	}
	(void)snprintf(h->program, sizeof(h->program), "%s", place);
	r = runtime == RUNTIME_DOCKER ? docker_ping(place, &err) : 0;
	if (r < 0) {
		fail(h, HEALTH_FOUND, err.text);
	} else if (!backend_of(runtime)) {
		fail(h, HEALTH_FOUND, "this build of Cordon has no code for it");
		r = -1;
	}
	return r == 0;
}

static _Noreturn void be_child(const struct cli_folders *folders, const char *boxes, struct health *shared)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setpgid(0, 0);
	health_try(backend_of(shared->runtime), folders, boxes, shared);
	_exit(0);
}

/* Waits for the child, but not for ever. True: it ended by itself. */
static bool wait_for(pid_t pid)
{
	AUTO_FD pidfd = sys_pidfd_open(pid);
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	int64_t end = health_now() + HEALTH_MS, left;
	bool ended = false;

	while (!ended && (left = end - health_now()) > 0)
		if (pidfd >= 0)
			ended = poll(&p, 1, (int)left) > 0;
		else
			ended = waitpid(pid, NULL, WNOHANG | WNOWAIT) != 0 || (usleep(10000), false);
	(void)kill(-pid, SIGKILL);
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return ended;
}

static void try_container(const struct cli_folders *folders, struct health *h)
{
	AUTO_FREE char *boxes = NULL;
	AUTO_FREE char *runs = NULL;
	struct health *shared;
	struct error err = {0};
	int64_t begin = health_now();
	bool ended = true;
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || state_root(&runs, &err) < 0 || launch_box_folder(runs, true, &boxes, &err) < 0) {
		fail(h, HEALTH_STARTED, err.text[0] ? err.text : "out of memory");
		return;
	}
	h->failed = HEALTH_STARTED;
	*shared = *h;
	pid = fork();
	if (pid == 0)
		be_child(folders, boxes, shared);
	if (pid > 0)
		ended = wait_for(pid);
	*h = *shared;
	(void)munmap(shared, sizeof(*shared));
	h->total_ms = (uint32_t)(health_now() - begin);
	h->what[sizeof(h->what) - 1] = '\0';
	if (pid < 0)
		fail(h, HEALTH_STARTED, "no process can be made here");
	else if (!ended)
		fail(h, (enum health_step)h->failed, "it did not come to an end within 10 seconds");
	else if (!health_is_good(h) && !h->what[0])
		fail(h, (enum health_step)h->failed, "the check was ended from outside");
	if (!health_is_good(h))
		launch_box_sweep(runs);
}

void health_check(enum runtime runtime, const struct cli_folders *folders, enum health_how how, struct health *ret)
{
	unsigned char key[SHA256_SIZE];
	bool keep;

	if (!find(runtime, ret))
		return;
	keep = make_key(ret, key) == 0;
	if (keep && how != HEALTH_FRESH && recall(folders->cache, key, ret))
		return;
	if (how == HEALTH_LOOK) {
		ret->failed = HEALTH_STEPS;
		return;
	}
	digest_program(ret);
	try_container(folders, ret);
	ret->when_ms = health_now();
	if (keep)
		remember(folders->cache, key, ret);
}

void health_forget(enum runtime runtime, const struct cli_folders *folders)
{
	const struct health h = {.runtime = runtime};
	AUTO_FREE char *path = NULL;
	char name[32];

	file_name(&h, name);
	if (asprintf(&path, "%s/%s", folders->cache, name) < 0)
		path = NULL;
	if (path)
		(void)unlink(path);
}

const char *health_advice(const struct health *h)
{
	static const char *const install[RUNTIMES] = {
		[RUNTIME_GVISOR] = "install runsc (Debian: apt install runsc)",
		[RUNTIME_RUNC] = "install runc (Debian: apt install runc)",
		[RUNTIME_CRUN] = "install crun (Debian: apt install crun)",
		[RUNTIME_DOCKER] = "start dockerd (Debian: apt install docker.io), or name a rootless engine's socket "
				   "in DOCKER_HOST; your user must be allowed to use it",
	};

	switch ((enum health_step)h->failed) {
	case HEALTH_FOUND:
		return install[h->runtime] ? install[h->runtime] : "";
	case HEALTH_STARTED:
		return "see what the runtime says above; `cordon doctor` shows what this machine lacks";
	case HEALTH_RAN:
		return "cordon-init must be executable where it is installed, and be of the same build as cordon";
	case HEALTH_NETWORK:
	case HEALTH_DOOR:
		return "Cordon does not use a runtime that does this; use another one";
	default:
		return "";
	}
}
