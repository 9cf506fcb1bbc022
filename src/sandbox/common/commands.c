#include "sandbox/common/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/common/descent.h"
#include "sandbox/common/filter.h"
#include "sys/signals.h"

/* The kernel gives it to root where others may not look into us; nobody is here yet who could. */
static int open_oom(void)
{
	bool hidden = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0;
	int fd;

	if (hidden)
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	if (hidden)
		(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return fd;
}

/* Whoever started Cordon may have made it go first already, and before what Cordon itself says. */
static bool goes_first(int oom)
{
	char text[16];
	ssize_t n = pread(oom, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return strtol(text, NULL, 10) >= 500;
}

void commands_init(struct commands *c, struct tell *tell)
{
	size_t i;

	*c = (struct commands){.tell = tell, .umask = umask(022), .owner = geteuid(), .oom = open_oom()};
	for (i = 0; i < COMMANDS_MAX; i++)
		c->v[i].listener = -1;
	c->goes_first = goes_first(c->oom);
}

int commands_signals(void)
{
	sigset_t set;
	int fd;

	(void)sys_signals_block(NULL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* Starting. */

struct pty {
	int master, slave;
};

/* It belongs to whoever opens it: the workload must be able to open it by its name. */
static int open_master(uid_t owner)
{
	int before = setfsuid(owner), fd = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), code = errno;

	(void)setfsuid((uid_t)before);
	errno = code;
	return fd;
}

static int open_slave(int master)
{
	int fd = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	unsigned n;
	char path[32];

	/* gVisor knows it by its name only */
	if (fd >= 0 || (errno != ENOTTY && errno != EINVAL) || ioctl(master, TIOCGPTN, &n) < 0)
		return fd;
	(void)snprintf(path, sizeof(path), "/dev/pts/%u", n);
	return open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static int open_pty(struct pty *t, uid_t owner, uint32_t rows, uint32_t columns, struct error *err)
{
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
	struct stat st;
	int unlock = 0;

	t->master = open_master(owner);
	if (t->master < 0 || ioctl(t->master, TIOCSPTLCK, &unlock) < 0)
		return error_sys(err, errno, "sandbox: terminal");
	t->slave = open_slave(t->master);
	if (t->slave < 0)
		return error_sys(err, errno, "sandbox: terminal");
	(void)ioctl(t->slave, TIOCSWINSZ, &size);
	/* who may not open it in the workload's name lets the workload open it: nobody else is here */
	if (fstat(t->slave, &st) == 0 && st.st_uid != owner)
		(void)fchmod(t->slave, 0666);
	return 0;
}

static struct command *free_slot(struct commands *c)
{
	size_t i;

	for (i = 0; i < COMMANDS_MAX; i++)
		if (!c->v[i].pid && c->v[i].listener < 0 && !c->v[i].carry)
			return &c->v[i];
	return NULL;
}

/* The sandbox's own device in place of the host's, which could not be opened again under the names in /dev. -1: it is
 * none of these. */
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

int commands_make_ahead(struct commands *c, struct error *err)
{
	int r;

	(void)umask(c->umask);
	r = confine_ahead_start(c->confine, &c->ahead, err);
	(void)umask(022);
	return r;
}

/* The process that was there ahead had our descriptors too: what it put in its places is in ours, and whoever reads
 * from it would wait for us. */
static void forget_stdio(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), i;

	for (i = 0; null >= 0 && i < 3; i++)
		(void)dup2(null, i);
	if (null > 2)
		(void)close(null);
}

/* One that others have ended is of no use; its end is told like that of an orphan. */
static bool have_ahead(struct commands *c)
{
	if (c->ahead && !confine_ahead_is_there(c->ahead)) {
		confine_ahead_forget(c->ahead);
		c->ahead = NULL;
	}
	return c->ahead;
}

static int go_ahead(struct commands *c, const struct confine_start *start, struct command *slot, struct error *err)
{
	int r;

	if (!have_ahead(c) && commands_make_ahead(c, err) < 0)
		return -1;
	slot->since = descent_now();
	r = confine_ahead_go(c->ahead, start, &slot->pid, &slot->listener, err);
	c->ahead = NULL;
	forget_stdio();
	return r;
}

static int start_anew(struct commands *c, const struct confine_start *start, struct command *slot, struct error *err)
{
	int r;

	(void)umask(c->umask);
	r = confine_start(c->confine, start, &slot->pid, &slot->listener, err);
	(void)umask(022);
	return r;
}

static int start_confined(struct commands *c, struct confine_start *start, struct command *slot, struct error *err)
{
	int own[3], tries, i, r = 1;

	for (i = 0; i < 3; i++) {
		own[i] = own_device(start->stdio[i]);
		if (own[i] >= 0)
			start->stdio[i] = own[i];
	}
	/*
	 * When memory runs out, the workload goes before us and before the host's processes. It inherits what we have
	 * now, and as long as it shares our memory the kernel keeps it the same for both.
	 */
	if (!c->goes_first)
		(void)!write(c->oom, "500", 3);
	/* Others may end the process before it begins: there is a next one then, and a second time it is told. */
	for (tries = 0; r == 1 && tries < 2; tries++)
		r = (c->beside ? go_ahead : start_anew)(c, start, slot, err);
	if (!c->goes_first)
		(void)!write(c->oom, "0", 1);
	for (i = 0; i < 3; i++)
		if (own[i] >= 0)
			(void)close(own[i]);
	return r == 1 ? error_set(err, ERROR_SYSTEM,
				  "start of the workload: its process was killed or stopped from within the sandbox")
		      : r;
}

/* Takes both. */
static int tell_carried(struct commands *c, struct command *slot, int master, int stream, struct error *err)
{
	slot->carry = carry_new(master, stream);
	if (!slot->carry) {
		(void)kill(-slot->pid, SIGKILL);
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	tell_started(c->tell, slot->id, slot->pid, true, -1);
	return 0;
}

int commands_start(struct commands *c, const struct inside_spawn *s, const int stdio[3], int stream, struct error *err)
{
	struct confine_start start = {.argv = s->argv, .env = s->env, .cwd = s->cwd};
	struct command *slot = free_slot(c);
	struct pty t = {-1, -1};
	AUTO_FD master = -1;
	AUTO_FD slave = -1;
	AUTO_FD out = stream;
	int i, r;

	if (!slot)
		return error_set(err, ERROR_DENIED, "the sandbox already runs %d commands", COMMANDS_MAX);
	r = s->tty_bits ? open_pty(&t, c->owner, s->rows, s->columns, err) : 0;
	master = t.master;
	slave = t.slave;
	if (r < 0)
		return -1;
	for (i = 0; i < 3; i++)
		start.stdio[i] = s->tty_bits >> i & 1 ? slave : stdio[i];
	start.terminal = slave;
	if (start_confined(c, &start, slot, err) < 0)
		return -1;
	slot->id = s->id;
	slot->expired = false;
	slot->listened = slot->listener >= 0;
	if (out >= 0 && master >= 0)
		return tell_carried(c, slot, fd_take(&master), fd_take(&out), err);
	if (!s->id || master >= 0) /* of others nobody asks, and who waits for their end would be woken twice */
		tell_started(c->tell, s->id, slot->pid, master >= 0, master);
	return 0;
}

bool commands_on_spawn(struct commands *c, struct wire_message *m)
{
	struct inside_spawn s;
	struct error err = {0};
	int r = inside_spawn_decode(buf_view(&m->body), &s);

	if (r < 0 || m->n_fds != (s.tty_bits && m->n_fds == 4 ? 4 : 3))
		r = error_set(&err, ERROR_SYSTEM, "a malformed request to start a command");
	else
		r = commands_start(c, &s, m->fds, m->n_fds == 4 ? fd_take(&m->fds[3]) : -1, &err);
	if (r < 0)
		tell_failed(c->tell, s.id, &err);
	inside_spawn_done(&s);
	return r == 0 || s.id != 0;
}

/* While they run. */

/* All that comes of a command whose process was this. */
static void end_descent(struct commands *c, const struct command *of, pid_t pid)
{
	struct descent d = {.root = pid, .since = of->since, .listener = of->listener};
	struct error err = {0};
	size_t i;

	if (of->listened && (of->listener < 0 || of->unused))
		return; /* nobody uses its filter any more */
	for (i = 0; i < COMMANDS_MAX; i++)
		if (c->v[i].pid && &c->v[i] != of)
			d.others[d.n_others++] = c->v[i].pid;
	if (c->ahead)
		d.others[d.n_others++] = confine_ahead_pid(c->ahead);
	if (descent_end(&d))
		return;
	(void)error_set(&err, ERROR_SYSTEM,
			"process.timeout: what the command left running could not be found, and so all in the sandbox "
			"was ended");
	tell_give_up(c->tell, &err);
}

void commands_on_expired(struct commands *c, const struct wire_message *m)
{
	struct wire_in w;
	uint64_t id;
	size_t i;

	wire_in_init(&w, buf_view(&m->body));
	id = wire_get_u64(&w);
	for (i = 0; wire_ok(&w) && i < COMMANDS_MAX; i++) {
		if (!c->v[i].pid || c->v[i].id != id)
			continue;
		if (!c->beside)
			c->v[i].since = descent_start(c->v[i].pid);
		c->v[i].expired = true;
	}
}

void commands_on_signal(struct commands *c, const struct wire_message *m)
{
	struct wire_in w;
	uint64_t id;
	size_t i;
	int sig;

	wire_in_init(&w, buf_view(&m->body));
	id = wire_get_u64(&w);
	sig = (int)wire_get_u32(&w);
	if (wire_ok(&w) && id == INSIDE_ALL)
		(void)kill(-1, sig);
	for (i = 0; wire_ok(&w) && i < COMMANDS_MAX; i++) {
		if (!c->v[i].pid || c->v[i].id != id)
			continue;
		if (kill(-c->v[i].pid, sig) < 0)
			(void)kill(c->v[i].pid, sig);
		if (sig == SIGKILL && c->v[i].expired)
			end_descent(c, &c->v[i], c->v[i].pid);
	}
	/* who sent it waits to hear that we are not held up */
	if (wire_ok(&w) && id == 0)
		tell_heard(c->tell);
}

void commands_on_resize(struct commands *c, const struct wire_message *m)
{
	uint32_t rows, columns;
	struct wire_in w;
	uint64_t id;
	size_t i;

	wire_in_init(&w, buf_view(&m->body));
	id = wire_get_u64(&w);
	rows = wire_get_u32(&w);
	columns = wire_get_u32(&w);
	if (!wire_ok(&w) || rows > INSIDE_TERMINAL_MAX || columns > INSIDE_TERMINAL_MAX)
		return;
	for (i = 0; i < COMMANDS_MAX; i++) {
		if (!c->v[i].carry || c->v[i].id != id)
			continue;
		carry_resize(c->v[i].carry, rows, columns);
		/* gVisor's kernel takes the size, and tells nobody. Nor does it say which job is in front: the
		 * command's own is. */
		if (c->v[i].pid)
			(void)kill(-c->v[i].pid, SIGWINCH);
	}
}

size_t commands_poll(const struct commands *c, struct pollfd *p)
{
	size_t i, n = 0;

	for (i = 0; i < COMMANDS_MAX; i++) {
		if (c->v[i].listener >= 0 && !c->v[i].unused)
			p[n++] = (struct pollfd){.fd = c->v[i].listener, .events = POLLIN};
		if (c->v[i].carry) {
			carry_poll(c->v[i].carry, p + n);
			n += CARRY_POLL;
		}
	}
	return n;
}

int commands_wait(const struct commands *c)
{
	size_t i;

	for (i = 0; i < COMMANDS_MAX; i++)
		if (c->v[i].carry && carry_is_hung(c->v[i].carry))
			return CARRY_LOOK_MS;
	return -1;
}

/* Ids that a sandbox with one has not. Each of the two is said once: it is how all of the sandbox is. */
static void answer_for_ids(struct commands *c, int listener, const struct seccomp_call *call)
{
	bool pretended = filter_is_pretended(call->nr), *told = pretended ? &c->pretended : &c->id_missed;
	AUTO_BUF b = {0};

	(void)seccomp_answer(listener, call->id, 0, pretended ? 0 : -EINVAL);
	if (*told)
		return;
	*told = true;
	buf_init(&b, 64);
	wire_put_sv(&b, sv_of(filter_name(call->nr)));
	wire_put_u32(&b, pretended);
	tell_send(c->tell, INSIDE_PRETENDED, &b, NULL, 0);
}

static void on_notification(struct commands *c, int listener, const struct commands_guard *guard)
{
	struct seccomp_call call;
	const char *name;
	char text[128];

	if (seccomp_receive(listener, &call) < 0 || (guard && guard->answer(guard->arg, listener, &call)))
		return;
	if (filter_is_pretended(call.nr) || filter_is_id(call.nr)) {
		answer_for_ids(c, listener, &call);
		return;
	}
	(void)seccomp_answer(listener, call.id, 0, -EPERM);
	name = filter_name(call.nr);
	(void)snprintf(text, sizeof(text), "%s by process %d", name ? name : "?", (int)call.pid);
	tell_denied(c->tell, DOMAIN_PROCESS, "system call", sv_of(text));
}

static void serve_listener(struct commands *c, struct command *v, const struct pollfd *p,
			   const struct commands_guard *guard)
{
	if (p->revents & POLLIN) {
		on_notification(c, v->listener, guard);
	} else if (p->revents & POLLHUP) { /* nobody uses that filter any more */
		v->unused = true;
	}
}

void commands_serve(struct commands *c, const struct pollfd *p, const struct commands_guard *guard)
{
	struct command *v;

	for (v = c->v; v < c->v + COMMANDS_MAX; v++) {
		if (v->listener >= 0 && !v->unused)
			serve_listener(c, v, p++, guard);
		if (!v->carry)
			continue;
		if (!carry_serve(v->carry, p, v->pid)) {
			carry_free(v->carry);
			v->carry = NULL;
		}
		p += CARRY_POLL;
	}
}

/* When they end. */

void commands_close_unused(struct commands *c)
{
	struct command *v;

	for (v = c->v; v < c->v + COMMANDS_MAX; v++) {
		/* not while its process ends: that one would wait for us, and who waits for it too */
		if (!v->unused || v->pid)
			continue;
		(void)close(v->listener);
		v->listener = -1;
		v->unused = false;
	}
}

bool commands_reap(struct commands *c, struct commands_reaped *ret)
{
	size_t i;

	ret->pid = wait4(-1, &ret->status, WNOHANG | WUNTRACED, &ret->usage);
	ret->command = NULL;
	if (c->ahead && ret->pid == confine_ahead_pid(c->ahead)) {
		if (WIFSTOPPED(ret->status))
			(void)kill(ret->pid, SIGKILL); /* we would wait for it */
		confine_ahead_forget(c->ahead);
		c->ahead = NULL;
	}
	for (i = 0; ret->pid > 0 && i < COMMANDS_MAX; i++)
		if (c->v[i].pid == ret->pid)
			ret->command = &c->v[i];
	return ret->pid > 0;
}

void commands_tell_reaped(struct commands *c, const struct commands_reaped *r)
{
	if (WIFSTOPPED(r->status)) {
		tell_stopped(c->tell, r->command->id, WSTOPSIG(r->status));
		return;
	}
	if (r->command->carry)
		carry_drain(r->command->carry);
	if (r->command->expired)
		end_descent(c, r->command, r->pid);
	tell_exited(c->tell, r->command->id, r->status, &r->usage);
	r->command->pid = 0; /* its children may live on and make names: the listener stays until it has no users */
}
