#include "attack.h"

#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

/* Longer than any attack's own bound, shorter than the runner's patience. */
enum { ALARM_SECONDS = 8 };

extern const struct attack_rows *const __start_attacks[];
extern const struct attack_rows *const __stop_attacks[];

static const char *const control_names[] = {"self", "root", "userns"};
static const char *const stage_names[] = {"plain", "deny", "fds",    "stdin",   "stdout", "cwd",   "tty",
					  "notty", "caps", "urgent", "limits", "timeout", "daemon", "orphan"};

static __attribute__((format(printf, 2, 0))) int say(enum outcome outcome, const char *format, va_list args)
{
	char line[512];

	(void)vsnprintf(line, sizeof(line), format, args);
	for (char *p = line; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
	printf("%s\n", line);
	(void)fflush(stdout);
	return (int)outcome;
}

int won(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int rc = say(WON, format, args);
	va_end(args);
	return rc;
}

int refused(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int rc = say(REFUSED, format, args);
	va_end(args);
	return rc;
}

int untried(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int rc = say(UNTRIED, format, args);
	va_end(args);
	return rc;
}

static bool kernel_lacks(int err)
{
	static const int errors[] = {ENOSYS,       EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT,
				     EPFNOSUPPORT, ENODEV,       ENXIO,           EOPNOTSUPP};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (err == errors[i])
			return true;
	}
	return false;
}

int lost(const struct scene *s, int err, const char *what)
{
	if (s->control && kernel_lacks(err))
		return untried("%s: this kernel lacks it (%s)", what, strerror(err));
	return refused("%s: %s", what, strerror(err));
}

int broken(const char *what)
{
	(void)refused("%s: %s: the attack could not even be tried", what, strerror(errno));
	return STUCK;
}

int judge(const struct scene *s, long rc, const char *what)
{
	return rc >= 0 ? won("%s works", what) : lost(s, errno, what);
}

int judge_reached(const struct scene *s, long rc, const char *what)
{
	int err = errno;

	if (rc >= 0)
		return won("%s works", what);
	if (err == EPERM || err == EACCES || kernel_lacks(err))
		return lost(s, err, what);
	return won("%s reaches the kernel (%s)", what, strerror(err));
}

int judge_open(const struct scene *s, const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NOCTTY);

	if (fd >= 0) {
		close(fd);
		return won("%s can be opened", path);
	}
	if (s->control && errno == ENOENT)
		return untried("this machine has no %s", path);
	return lost(s, errno, path);
}

int judge_secret(const struct scene *s, int fd, const char *what)
{
	char text[65536];

	if (fd < 0)
		return lost(s, errno, what);
	size_t n = 0;
	ssize_t got = 1;
	while (n < sizeof(text) && (got = read(fd, text + n, sizeof(text) - n)) > 0)
		n += (size_t)got;
	int err = errno;
	close(fd);
	if (has_marker(text, n))
		return won("%s gives the secret", what);
	return got < 0 ? lost(s, err, what) : refused("%s has no secret", what);
}

int lost_without(const struct scene *s, int capability, int err, const char *what)
{
	unsigned long long effective = 0;
	char line[128];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	}
	if (f)
		(void)fclose(f);
	if (s->control && !(effective >> capability & 1))
		return untried("%s: needs capability %d, which root lacks here", what, capability);
	return lost(s, err, what);
}

const char *fact(const struct scene *s, const char *key, struct fact *out)
{
	size_t n = strlen(key);

	out->s[0] = 0;
	for (const char *line = s->facts; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0 && line[n] == '=') {
			(void)snprintf(out->s, sizeof(out->s), "%.*s", (int)strcspn(line + n + 1, "\n"), line + n + 1);
			break;
		}
	}
	return out->s;
}

long fact_num(const struct scene *s, const char *key)
{
	struct fact value;

	return strtol(fact(s, key, &value), NULL, 0);
}

bool has_marker(const void *p, size_t n)
{
	return memmem(p, n, MARKER, strlen(MARKER)) != NULL;
}

bool each_pid(bool (*visit)(long pid, void *arg), void *arg)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	bool hit = false;

	while (dir && !hit && (entry = readdir(dir))) {
		long pid = strtol(entry->d_name, NULL, 10);
		hit = pid > 0 && visit(pid, arg);
	}
	if (dir)
		closedir(dir);
	return hit;
}

int make_file(const char *path, int flags, mode_t mode)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | flags, mode);

	if (fd < 0)
		return -1;
	ssize_t n = write(fd, "#!/bin/sh\n", 10);
	close(fd);
	return n == 10 ? 0 : -1;
}

int connect_unix(const struct scene *s, const char *key, int type, bool abstract)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct fact name;
	size_t n = strnlen(fact(s, key, &name), sizeof(address.sun_path) - 2);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path + abstract, name.s, n);
	/* A path has its NUL counted, an abstract name starts with one and has none behind it. */
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, size) < 0) {
		int err = errno;
		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

static void list(void)
{
	for (const struct attack_rows *const *set = __start_attacks; set < __stop_attacks; set++) {
		for (const struct attack *a = (*set)->v; a < (*set)->v + (*set)->n; a++)
			printf("%s\t%s\t%s\t%s\t%s\n", a->name, (*set)->domain, control_names[a->control],
			       stage_names[a->stage], a->promise);
	}
}

static const struct attack *find(const char *name)
{
	for (const struct attack_rows *const *set = __start_attacks; set < __stop_attacks; set++) {
		for (const struct attack *a = (*set)->v; a < (*set)->v + (*set)->n; a++) {
			if (strcmp(a->name, name) == 0)
				return a;
		}
	}
	return NULL;
}

static void scene_load(struct scene *s, const char *self, bool control)
{
	char path[sizeof(s->folder) + 8];
	const char *slash = strrchr(self, '/');

	s->control = control;
	(void)snprintf(s->folder, sizeof(s->folder), "%.*s", slash ? (int)(slash - self) : 1, slash ? self : ".");
	(void)snprintf(path, sizeof(path), "%s/facts", s->folder);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, s->facts, sizeof(s->facts) - 1);
	s->facts[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
}

static int run_in_child(const struct scene *s, const struct attack *a)
{
	int status = 0;
	pid_t pid = fork();

	if (pid < 0) {
		printf("fork: %s\n", strerror(errno));
		return STUCK;
	}
	if (pid == 0) {
		alarm(ALARM_SECONDS);
		exit(a->run(s, a));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (WTERMSIG(status) == SIGALRM) {
		printf("still not done after %d seconds\n", ALARM_SECONDS);
		return STUCK;
	}
	return refused("killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
}

int main(int argc, char **argv)
{
	struct scene scene;
	int at = 1;
	bool control = argc > at && strcmp(argv[at], "-c") == 0;

	at += control;
	if (argc != at + 1) {
		(void)fprintf(stderr, "usage: %s -l | [-c] NAME\n", argv[0]);
		return STUCK;
	}
	if (strcmp(argv[at], "-l") == 0) {
		list();
		return 0;
	}
	/* Executed from a setuid copy of this file: did the bit work? */
	if (strcmp(argv[at], "-u") == 0)
		return geteuid() == getuid();
	const struct attack *a = find(argv[at]);
	if (!a) {
		(void)fprintf(stderr, "%s: no attack is called %s\n", argv[0], argv[at]);
		return STUCK;
	}
	scene_load(&scene, argv[0], control);
	return run_in_child(&scene, a);
}
