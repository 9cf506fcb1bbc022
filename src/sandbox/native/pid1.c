#include "sandbox/native/pid1.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "model/event.h"
#include "sandbox/common/confine.h"
#include "sandbox/common/filter.h"
#include "sandbox/native/guard.h"
#include "sandbox/native/net.h"
#include "model/inside.h"
#include "sandbox/native/remask.h"
#include "sandbox/native/rescan.h"
#include "sandbox/native/root.h"
#include "sandbox/native/shield.h"
#include "sys/cgroup.h"
#include "sys/process.h"
#include "sys/seccomp.h"
#include "wire/wire.h"

enum { MAX_COMMANDS = 64, MAX_EVENTS_PER_SECOND = 50 };

struct command {
	uint64_t id;
	pid_t pid; /* 0: free */
	int listener;
};

struct init {
	const struct pid1_start *start;
	const struct plan *plan;
	struct confine *confine;
	struct guard guard;
	int socket;
	int signals;
	int oom; /* our own oom_score_adj */
	struct shield input;
	struct remask remask;
	struct rescan rescan;
	mode_t umask; /* the user's, for commands; ours changes with each name that the guard makes */
	struct command commands[MAX_COMMANDS];
	time_t second;
	unsigned events; /* told in this second */
	uint64_t untold; /* denials that were only counted */
};

static void tell(struct init *in, enum inside_message type, const struct buf *body, const int *fds, size_t n)
{
	if (wire_send(in->socket, (uint16_t)type, buf_view(body), fds, n) < 0)
		_exit(1); /* nobody supervises us any more */
}

static void tell_failed(struct init *in, uint64_t id, const struct error *err)
{
	AUTO_BUF b = {0};

	buf_init(&b, WIRE_MAX_BODY);
	wire_put_u64(&b, id);
	wire_put_u32(&b, (uint32_t)err->kind);
	wire_put_u32(&b, (uint32_t)err->code);
	wire_put_sv(&b, sv_of(err->text));
	tell(in, INSIDE_FAILED, &b, NULL, 0);
}

static void give_up(struct init *in, const struct error *err) __attribute__((noreturn));
static void give_up(struct init *in, const struct error *err)
{
	tell_failed(in, 0, err);
	_exit(1);
}

static void tell_untold(struct init *in)
{
	AUTO_BUF b = {0};

	if (!in->untold)
		return;
	buf_init(&b, 64);
	wire_put_u64(&b, in->untold);
	in->untold = 0;
	tell(in, INSIDE_UNTOLD, &b, NULL, 0);
}

static void tell_denied(struct init *in, enum event_domain domain, const char *rule, struct sv text)
{
	struct timespec now;
	AUTO_BUF b = {0};

	/* A workload that makes denials in a loop must not fill the log with them. */
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec != in->second) {
		tell_untold(in);
		in->second = now.tv_sec;
		in->events = 0;
	}
	if (++in->events > MAX_EVENTS_PER_SECOND) {
		in->untold++;
		return;
	}
	buf_init(&b, WIRE_MAX_BODY);
	wire_put_u32(&b, (uint32_t)domain);
	wire_put_sv(&b, sv_of(rule));
	wire_put_sv(&b, text);
	tell(in, INSIDE_DENIED, &b, NULL, 0);
}

static void path_denied(void *arg, const char *rule, struct sv path)
{
	tell_denied(arg, DOMAIN_FILESYSTEM, rule, path);
}

static int write_text(const char *path, const char *text)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : write_all(fd, text, strlen(text));
}

/* An ordinary user may map one id: its own. */
static int map_ids(const struct pid1_start *s, const struct plan *p, struct error *err)
{
	char line[64];
	int r = write_text("/proc/self/setgroups", "deny");

	(void)snprintf(line, sizeof(line), "%u %u 1", p->gid, s->map_gid);
	if (r == 0)
		r = write_text("/proc/self/gid_map", line);
	(void)snprintf(line, sizeof(line), "%u %u 1", p->uid, s->map_uid);
	if (r == 0)
		r = write_text("/proc/self/uid_map", line);
	if (r == -ENOENT)
		return error_set(err, ERROR_MISSING, "/proc is not mounted here: a user namespace cannot be set up without it");
	return r < 0 ? error_sys(err, r, "user namespace: map the user id") : 0;
}

/* Limits of our own user namespace, for what no rlimit bounds. Best effort: seccomp refuses namespaces too. */
static void limit_kernel_objects(void)
{
	(void)write_text("/proc/sys/user/max_user_namespaces", "0");
	(void)write_text("/proc/sys/user/max_inotify_instances", "64");
}

/* The ids were mapped from outside: put them on. */
static int wear_ids(uint32_t id, struct error *err)
{
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 ||
	    setresuid(id, id, id) < 0)
		return error_sys(err, errno, "user namespace: take on the user id");
	return sys_drop_caps(~UINT64_C(0) >> 23, false) < 0 ? error_sys(err, errno, "user namespace: capabilities") : 0;
}

/* Everything that came with us and is not listed goes. */
static void close_others(const struct pid1_start *s)
{
	int keep[4] = {s->socket, s->req->stdio[0], s->req->stdio[1], s->req->stdio[2]}, fd, i;

	/* to 3..6, in order, out of each other's way first */
	for (i = 0; i < 4; i++)
		keep[i] = fcntl(keep[i], F_DUPFD, 7);
	for (fd = 3; fd < 7; fd++)
		(void)dup3(keep[fd - 3], fd, O_CLOEXEC);
	(void)sys_close_from(7);
}

/* The kernel shows a process's arguments to all who see the process, and ours hold what the user typed; the environment lies right behind them. */
static void forget_arguments(char **argv)
{
	static const char name[] = "cordon-init";
	char *start = argv[0], *end = start;
	char **v;

	for (v = argv; *v; v++)
		if (*v == end)
			end += strlen(*v) + 1;
	for (v = environ; v && *v; v++)
		if (*v == end)
			end += strlen(*v) + 1;
	explicit_bzero(start, (size_t)(end - start));
	if ((size_t)(end - start) > sizeof(name))
		memcpy(start, name, sizeof(name));
	environ = NULL;
}

static int wait_go(struct init *in, struct root_trees *trees, struct error *err)
{
	struct wire_message m;
	size_t i;
	int r = wire_receive(in->socket, &m);

	if (r == 0)
		_exit(1);
	if (r < 0 || m.type != INSIDE_GO)
		return error_sys(err, r < 0 ? r : EPROTO, "sandbox: the word to go on");
	trees->n = m.n_fds;
	for (i = 0; i < m.n_fds; i++)
		trees->fds[i] = m.fds[i];
	m.n_fds = 0;
	wire_message_done(&m);
	return 0;
}

/* The relay gets the sockets before anything runs here that could connect. */
static void open_door(struct init *in)
{
	struct net_listeners l;
	struct error err = {0};
	AUTO_BUF b = {0};
	size_t i;

	if (net_listen(in->plan, &l, &err) < 0)
		give_up(in, &err);
	buf_init(&b, 4096);
	for (i = 0; i < l.n; i++) {
		wire_put_u32(&b, l.what[i].kind);
		wire_put_u32(&b, l.what[i].provider);
	}
	tell(in, INSIDE_LISTENERS, &b, l.fds, l.n);
	for (i = 0; i < l.n; i++)
		(void)close(l.fds[i]);
}

static void make_world(struct init *in, struct sys_net_maker *net)
{
	const struct pid1_start *s = in->start;
	struct error err = {0};
	struct root_trees trees = {.fds = (int[WIRE_MAX_FDS]){0}};
	struct root_result built;
	int r;

	if (s->mapped_by_parent) {
		if (wait_go(in, &trees, &err) < 0 || wear_ids(in->plan->uid, &err) < 0)
			give_up(in, &err);
	} else if (map_ids(s, in->plan, &err) < 0) {
		give_up(in, &err);
	}
	limit_kernel_objects();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	in->umask = umask(022);
	if (shield_input(&in->input, 4) < 0) {
		(void)error_set(&err, ERROR_DENIED,
				"standard input is a file of yours that was moved or replaced since it was opened, and cannot be passed on read-only; use a pipe");
		give_up(in, &err);
	}
	if (root_build(in->plan, &trees, &built, &err) < 0)
		give_up(in, &err);
	if (built.upper >= 0) {
		struct buf none = {0};

		tell(in, INSIDE_UPPER, &none, &built.upper, 1);
		(void)close(built.upper);
	}
	r = eyes_init(&in->guard.eyes, built.outer_proc);
	if (r < 0) {
		(void)error_sys(&err, r, "sandbox: /proc");
		give_up(in, &err);
	}
	if (sethostname("cordon", 6) < 0 || setdomainname("", 0) < 0) {
		(void)error_sys(&err, errno, "sandbox: host name");
		give_up(in, &err);
	}
	r = sys_net_join(net);
	if (r < 0) {
		(void)error_sys(&err, r, "sandbox: network namespace");
		give_up(in, &err);
	}
	if (in->plan->n_listeners)
		open_door(in);
	if (wait_go(in, &trees, &err) < 0)
		give_up(in, &err);
}

struct terminal {
	int master, slave;
};

static int open_terminal(struct terminal *t, uint32_t rows, uint32_t columns, struct error *err)
{
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
	int unlock = 0;

	t->master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (t->master < 0 || ioctl(t->master, TIOCSPTLCK, &unlock) < 0)
		return error_sys(err, errno, "sandbox: terminal");
	t->slave = ioctl(t->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (t->slave < 0)
		return error_sys(err, errno, "sandbox: terminal");
	(void)ioctl(t->slave, TIOCSWINSZ, &size);
	return 0;
}

struct spawn {
	uint64_t id;
	char *const *argv;
	char *const *env;
	const char *cwd;
	int stdio[3];
	uint32_t tty_bits, rows, columns;
};

static struct command *free_slot(struct init *in)
{
	size_t i;

	for (i = 0; i < MAX_COMMANDS; i++)
		if (!in->commands[i].pid && in->commands[i].listener < 0)
			return &in->commands[i];
	return NULL;
}

/* The sandbox's own device in place of the host's, which could not be opened again under the names in /dev. -1: it is none of these. */
static int own_device(int fd)
{
	static const struct {
		unsigned minor;
		const char *path;
	} devices[] = {{3, "/dev/null"}, {5, "/dev/zero"}, {7, "/dev/full"}, {8, "/dev/random"}, {9, "/dev/urandom"}};
	int flags = fcntl(fd, F_GETFL);
	struct stat st;
	size_t i;

	if (flags < 0 || fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode))
		return -1;
	for (i = 0; i < ARRAY_LEN(devices); i++)
		if (st.st_rdev == makedev(1, devices[i].minor))
			return open(devices[i].path, (flags & O_ACCMODE) | O_NOCTTY | O_CLOEXEC);
	return -1;
}

static int start_command(struct init *in, struct confine_start *start, struct command *c, struct error *err)
{
	int own[3], i, r;

	for (i = 0; i < 3; i++) {
		own[i] = own_device(start->stdio[i]);
		if (own[i] >= 0)
			start->stdio[i] = own[i];
	}
	(void)umask(in->umask);
	/* When memory runs out, the workload goes before us and before the host's processes. It inherits what we have now. */
	(void)!write(in->oom, "500", 3);
	r = confine_start(in->confine, start, &c->pid, &c->listener, err);
	(void)!write(in->oom, "0", 1);
	for (i = 0; i < 3; i++)
		if (own[i] >= 0)
			(void)close(own[i]);
	return r;
}

static int spawn(struct init *in, const struct spawn *s, struct error *err)
{
	struct terminal t = {-1, -1};
	struct confine_start start = {.argv = s->argv, .env = s->env, .cwd = s->cwd, .terminal = -1};
	struct command *c = free_slot(in);
	AUTO_BUF b = {0};
	int i, r;

	buf_init(&b, 64);
	if (!c)
		return error_set(err, ERROR_DENIED, "the sandbox already runs %d commands", MAX_COMMANDS);
	if (s->tty_bits && open_terminal(&t, s->rows, s->columns, err) < 0)
		return -1;
	for (i = 0; i < 3; i++)
		start.stdio[i] = s->tty_bits >> i & 1 ? t.slave : s->stdio[i];
	start.terminal = t.slave;
	r = start_command(in, &start, c, err);
	if (r == 0) {
		c->id = s->id;
		wire_put_u64(&b, s->id);
		wire_put_u32(&b, (uint32_t)c->pid);
		wire_put_u32(&b, t.master >= 0);
		tell(in, INSIDE_STARTED, &b, &t.master, t.master >= 0);
	}
	if (t.master >= 0)
		(void)close(t.master);
	if (t.slave >= 0)
		(void)close(t.slave);
	return r;
}

static void spawn_first(struct init *in)
{
	const struct native_request *req = in->start->req;
	struct spawn s = {.argv = in->plan->argv, .env = in->plan->env, .cwd = in->plan->cwd, .rows = req->rows,
			  .columns = req->columns};
	struct error err = {0};
	int i, null;

	for (i = 0; i < 3; i++) {
		s.stdio[i] = 4 + i;
		s.tty_bits |= (uint32_t)req->tty[i] << i;
	}
	if (spawn(in, &s, &err) < 0)
		give_up(in, &err);
	/* Whoever reads what the workload writes must see its end when the workload closes it. */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (i = 0; i < 7; i++)
		if (i != in->socket)
			(void)dup3(null, i, O_CLOEXEC);
	if (null > 6)
		(void)close(null);
}

static void tell_exited(struct init *in, const struct command *c, int status, const struct rusage *u)
{
	AUTO_BUF b = {0};

	buf_init(&b, 64);
	wire_put_u64(&b, c->id);
	wire_put_u32(&b, (uint32_t)status);
	wire_put_u64(&b, (uint64_t)u->ru_utime.tv_sec * 1000000 + (uint64_t)u->ru_utime.tv_usec);
	wire_put_u64(&b, (uint64_t)u->ru_stime.tv_sec * 1000000 + (uint64_t)u->ru_stime.tv_usec);
	wire_put_u64(&b, (uint64_t)u->ru_maxrss);
	tell(in, INSIDE_EXITED, &b, NULL, 0);
}

static void tell_stopped(struct init *in, const struct command *c, int sig)
{
	AUTO_BUF b = {0};

	buf_init(&b, 64);
	wire_put_u64(&b, c->id);
	wire_put_u32(&b, (uint32_t)sig);
	tell(in, INSIDE_STOPPED, &b, NULL, 0);
}

static void reaped(struct init *in, pid_t pid, int status, const struct rusage *u)
{
	struct command *c;

	rescan_reaped(&in->rescan, pid);
	for (c = in->commands; c < in->commands + MAX_COMMANDS; c++) {
		if (c->pid != pid)
			continue;
		if (WIFSTOPPED(status)) {
			tell_stopped(in, c, WSTOPSIG(status));
			return;
		}
		if (c->id == 0) {
			shield_return(&in->input);
			tell_untold(in);
		}
		tell_exited(in, c, status, u);
		if (c->id == 0)
			_exit(0); /* the first command is the run: all the rest ends with us */
		c->pid = 0; /* its children may live on and make names: the listener stays until it has no users */
		return;
	}
}

static void reap(struct init *in)
{
	struct signalfd_siginfo info;
	struct rusage usage;
	int status;
	pid_t pid;

	while (read(in->signals, &info, sizeof(info)) == sizeof(info))
		;
	while ((pid = wait4(-1, &status, WNOHANG | WUNTRACED, &usage)) > 0)
		reaped(in, pid, status, &usage);
}

static void on_spawn(struct init *in, struct wire_message *m)
{
	struct inside_spawn told;
	struct spawn s = {0};
	struct error err = {0};
	int i, r = inside_spawn_decode(buf_view(&m->body), &told);

	if (r < 0 || m->n_fds != 3) {
		(void)error_set(&err, ERROR_SYSTEM, "a malformed request to start a command");
		tell_failed(in, told.id, &err);
		inside_spawn_done(&told);
		return;
	}
	s = (struct spawn){.id = told.id, .argv = told.argv, .env = told.env, .cwd = told.cwd, .tty_bits = told.tty_bits, .rows = told.rows,
			   .columns = told.columns};
	for (i = 0; i < 3; i++)
		s.stdio[i] = m->fds[i];
	if (spawn(in, &s, &err) < 0)
		tell_failed(in, s.id, &err);
	inside_spawn_done(&told);
}

static void on_signal(struct init *in, const struct wire_message *m)
{
	struct wire_in w;
	uint64_t id;
	int sig;
	size_t i;

	wire_in_init(&w, buf_view(&m->body));
	id = wire_get_u64(&w);
	sig = (int)wire_get_u32(&w);
	if (wire_ok(&w) && id == INSIDE_ALL)
		(void)kill(-1, sig);
	for (i = 0; wire_ok(&w) && i < MAX_COMMANDS; i++)
		if (in->commands[i].pid && in->commands[i].id == id && kill(-in->commands[i].pid, sig) < 0)
			(void)kill(in->commands[i].pid, sig);
}

static void on_message(struct init *in)
{
	struct wire_message m;
	int r = wire_receive(in->socket, &m);

	if (r <= 0)
		_exit(1); /* the supervisor is gone: so are we, and all inside */
	if (m.type == INSIDE_SPAWN)
		on_spawn(in, &m);
	else if (m.type == INSIDE_SIGNAL)
		on_signal(in, &m);
	wire_message_done(&m);
}

static void on_notification(struct init *in, struct command *c)
{
	struct seccomp_call call;
	const char *name;
	char text[128];

	if (seccomp_receive(c->listener, &call) < 0)
		return;
	if (filter_is_guarded(call.nr)) {
		guard_answer(&in->guard, c->listener, &call);
		return;
	}
	(void)seccomp_answer(c->listener, call.id, 0, -EPERM);
	name = filter_name(call.nr);
	(void)snprintf(text, sizeof(text), "%s by process %d", name ? name : "?", (int)call.pid);
	tell_denied(in, DOMAIN_PROCESS, "system call", sv_of(text));
}

static void serve(struct init *in) __attribute__((noreturn));
static void serve(struct init *in)
{
	struct pollfd p[MAX_COMMANDS + 4];
	struct command *who[MAX_COMMANDS + 4];
	size_t n, i;

	for (;;) {
		p[0] = (struct pollfd){.fd = in->signals, .events = POLLIN};
		p[1] = (struct pollfd){.fd = in->socket, .events = POLLIN};
		p[2] = (struct pollfd){.fd = in->remask.fd, .events = POLLIN};
		p[3] = (struct pollfd){.fd = in->remask.mounts, .events = POLLPRI};
		for (n = 4, i = 0; i < MAX_COMMANDS; i++) {
			if (in->commands[i].listener < 0)
				continue;
			who[n] = &in->commands[i];
			p[n++] = (struct pollfd){.fd = in->commands[i].listener, .events = POLLIN};
		}
		if (poll(p, n, rescan_wait(&in->rescan)) < 0 && errno != EINTR)
			_exit(1);
		/* first: no call is answered while a name stands open that must not */
		if ((p[2].revents & POLLIN && remask_serve(&in->remask, &in->guard) < 0) ||
		    (p[3].revents & POLLPRI && remask_mounts_changed(&in->remask, &in->guard) < 0))
			_exit(1);
		if (rescan_wait(&in->rescan) == 0 && remask_watch(&in->remask, in->plan) < 0)
			_exit(1);
		rescan_start(&in->rescan, &in->guard);
		for (i = 4; i < n; i++) {
			if (p[i].revents & POLLIN) {
				on_notification(in, who[i]);
			} else if (p[i].revents & POLLHUP) { /* nobody uses that filter any more */
				(void)close(who[i]->listener);
				who[i]->listener = -1;
			}
		}
		if (p[1].revents)
			on_message(in);
		if (p[0].revents & POLLIN)
			reap(in);
	}
}

static int watch_signals(void)
{
	sigset_t set;

	(void)sigfillset(&set);
	(void)sigprocmask(SIG_SETMASK, &set, NULL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void pid1_main(const struct pid1_start *start)
{
	struct init in = {.start = start, .plan = start->req->plan, .socket = 3};
	uint64_t keep = UINT64_C(1) << SYS_CAP_SYS_PTRACE | UINT64_C(1) << SYS_CAP_SYS_ADMIN;
	struct sys_net_maker *net;
	struct error err = {0};
	size_t i;
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	r = start->req->cgroup ? cgroup_join_self(start->req->cgroup, start->in_v2_cgroup) : 0;
	close_others(start);
	if (r == 0)
		r = sys_unshare(CLONE_NEWCGROUP); /* now, so that ours is the root we see */
	if (r < 0) {
		(void)error_sys(&err, r, "sandbox: cgroup");
		give_up(&in, &err);
	}
	r = sys_net_start(start->req->plan->loopback, &net);
	for (i = 0; i < MAX_COMMANDS; i++)
		in.commands[i].listener = -1;
	in.guard = (struct guard){.plan = in.plan, .denied = path_denied, .arg = &in};
	if (r < 0) {
		(void)error_sys(&err, r, "sandbox: network namespace");
		give_up(&in, &err);
	}
	in.oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	make_world(&in, net);
	forget_arguments(start->req->argv);
	in.signals = watch_signals();
	if (confine_new(in.plan, &start->req->features, (const int[]){4, 5, 6}, &in.confine, &err) < 0)
		give_up(&in, &err);
	r = remask_init(&in.remask, in.plan);
	if (r < 0) {
		(void)error_sys(&err, r, "sandbox: watch the folders of denied names");
		give_up(&in, &err);
	}
	r = sys_drop_caps(keep | UINT64_C(1) << 8 /* SETPCAP: to empty the bounding set of the workload */, false);
	if (r < 0) {
		(void)error_sys(&err, r, "sandbox: capabilities");
		give_up(&in, &err);
	}
	spawn_first(&in);
	rescan_init(&in.rescan, &in.guard);
	serve(&in);
}
