#include "sandbox/native/pid1.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "model/event.h"
#include "sandbox/common/commands.h"
#include "sandbox/common/confine.h"
#include "sandbox/common/filter.h"
#include "sandbox/common/image_user.h"
#include "sandbox/common/tell.h"
#include "sandbox/native/guard.h"
#include "sandbox/native/guard_judge.h"
#include "model/inside.h"
#include "sandbox/native/native_image.h"
#include "sandbox/native/net.h"
#include "sandbox/native/own_files.h"
#include "sandbox/native/pid1_image.h"
#include "sandbox/native/remask.h"
#include "sandbox/native/rescan.h"
#include "sandbox/native/root.h"
#include "sandbox/native/shield.h"
#include "sys/beside.h"
#include "sys/cgroup.h"
#include "sys/mounts.h"
#include "sys/process.h"
#include "sys/seccomp.h"
#include "wire/wire.h"

enum { REAP_AT_ONCE = 64 };

struct init {
	const struct pid1_start *start;
	const struct plan *plan;
	struct guard guard;
	struct own_files own;
	struct tell tell;
	int signals;
	bool reap_on; /* more children wait to be reaped */
	bool hold;    /* no command is started by ourselves */
	struct buf record; /* the name under which denials are recorded; empty: they are not */
	struct shield input;
	struct remask remask;
	bool unwatched; /* that it lacks something was told */
	struct rescan rescan;
	struct sys_linger linger;
	bool lingers;
	struct commands commands;
	struct wire_message went; /* the last word to go on, until the first command's process, which shares our memory
				     (sys/beside.h), has left it: to give back what is shared interrupts its CPU */
	pid_t ahead; /* that the supervisor knows of */
	bool ahead_due; /* the next command's process is to be made, in a moment */
	uint64_t spawns; /* so many commands were asked for */
};

static void path_denied(void *arg, const char *rule, struct sv path)
{
	struct init *in = arg;

	tell_denied(&in->tell, DOMAIN_FILESYSTEM, rule, path);
}

/* In PID 1, or in the child of it that searches: that one's end ends us too. */
static void name_stands_open(void *arg, struct sv path, const char *why)
{
	struct init *in = arg;
	struct error err = {0};
	struct text_shown t;

	(void)error_set(&err, ERROR_DENIED, "%.300s: %s; the sandbox was ended", text_show(&t, path), why);
	tell_give_up(&in->tell, &err);
}

/* An ordinary user may map one id: its own. */
static int map_ids(const struct pid1_start *s, const struct plan *p, struct error *err)
{
	char line[64];
	int r = sys_file_put("/proc/self/setgroups", "deny");

	(void)snprintf(line, sizeof(line), "%u %u 1", p->gid, s->map_gid);
	if (r == 0)
		r = sys_file_put("/proc/self/gid_map", line);
	(void)snprintf(line, sizeof(line), "%u %u 1", p->uid, s->map_uid);
	if (r == 0)
		r = sys_file_put("/proc/self/uid_map", line);
	if (r == -ENOENT)
		return error_set(err, ERROR_MISSING,
				 "/proc is not mounted here: a user namespace cannot be set up without it");
	return r < 0 ? error_sys(err, r, "user namespace: map the user id") : 0;
}

/* The ids were mapped from outside: put them on. */
static int wear_ids(uint32_t id, struct error *err)
{
	int r;

	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 ||
	    setresuid(id, id, id) < 0)
		return error_sys(err, errno, "user namespace: take on the user id");
	r = sys_drop_caps(~UINT64_C(0) >> 23);
	return r < 0 ? error_sys(err, r, "user namespace: capabilities") : 0;
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

/* The kernel shows a process's arguments to all who see the process, and ours hold what the user typed; the environment
 * lies right behind them. */
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

/* The word to go on, and maybe one before it. */
static int receive_go(struct init *in, struct wire_message *ret)
{
	struct wire_in w;
	int r = wire_receive(in->tell.socket, ret);

	if (r > 0 && ret->type == INSIDE_RECORD) {
		wire_in_init(&w, buf_view(&ret->body));
		buf_init(&in->record, 64);
		(void)buf_sv(&in->record, wire_get_sv(&w));
		wire_message_done(ret);
		r = wire_receive(in->tell.socket, ret);
	}
	return r;
}

static int wait_go(struct init *in, struct root_trees *trees, struct error *err)
{
	struct wire_message m;
	struct wire_in w;
	size_t i;
	int r;

	wire_message_done(&in->went);
	r = receive_go(in, &m);
	if (r == 0)
		_exit(1);
	if (r < 0 || m.type != INSIDE_GO)
		return error_sys(err, r < 0 ? r : EPROTO, "sandbox: the word to go on");
	wire_in_init(&w, buf_view(&m.body));
	in->hold = m.body.n && wire_get_u32(&w);
	trees->n = m.n_fds;
	for (i = 0; i < m.n_fds; i++)
		trees->fds[i] = m.fds[i];
	m.n_fds = 0;
	in->went = m;
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
		tell_give_up(&in->tell, &err);
	buf_init(&b, 4096);
	for (i = 0; i < l.n; i++) {
		wire_put_u32(&b, l.what[i].kind);
		wire_put_u32(&b, l.what[i].provider);
	}
	tell_send(&in->tell, INSIDE_LISTENERS, &b, l.fds, l.n);
	for (i = 0; i < l.n; i++)
		(void)close(l.fds[i]);
}

/* The first command's process starts at once, as who it will be. */
static struct confine *start_first(struct init *in)
{
	const struct pid1_start *s = in->start;
	struct confine *confine;
	struct error err = {0};

	if (s->mapped_by_parent && wear_ids(in->plan->uid, &err) < 0)
		tell_give_up(&in->tell, &err);
	commands_init(&in->commands, &in->tell);
	if (confine_new(in->plan, BOX_USER_IS, &s->req->features, &confine, &err) < 0)
		tell_give_up(&in->tell, &err);
	in->commands.confine = confine;
	in->commands.beside = true;
	if (commands_make_ahead(&in->commands, &err) < 0)
		tell_give_up(&in->tell, &err);
	if (!s->mapped_by_parent && map_ids(s, in->plan, &err) < 0)
		tell_give_up(&in->tell, &err);
	return confine;
}

static void shield(struct init *in)
{
	struct error err = {0};

	if (shield_input(&in->input, 4) == 0)
		return;
	(void)error_set(&err, ERROR_DENIED,
			"standard input is a file of yours that was moved or replaced since it was opened, and cannot "
			"be passed on read-only; use a pipe");
	tell_give_up(&in->tell, &err);
}

/* From the host's base system. */
static struct confine *make_host_world(struct init *in)
{
	struct error err = {0};
	struct root_trees trees = {.fds = (int[WIRE_MAX_FDS]){0}};
	struct root_result built;
	struct confine *confine = start_first(in);
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	shield(in);
	/* what the supervisor shows of the host to another user than its own is made meanwhile */
	if (in->start->mapped_by_parent && wait_go(in, &trees, &err) < 0)
		tell_give_up(&in->tell, &err);
	if (root_build(in->plan, &trees, &built, &err) < 0)
		tell_give_up(&in->tell, &err);
	if (built.upper >= 0) {
		struct buf none = {0};

		tell_send(&in->tell, INSIDE_UPPER, &none, &built.upper, 1);
		(void)close(built.upper);
	}
	r = eyes_init(&in->guard.eyes, built.outer_proc);
	if (r == 0)
		r = origins_init(&in->guard.eyes.origins, in->plan, in->guard.eyes.proc);
	if (r < 0) {
		(void)error_sys(&err, r, "sandbox: /proc");
		tell_give_up(&in->tell, &err);
	}
	return confine;
}

/* From an image: one thing after the other, since the workload's own user namespace needs the new /proc. */
static struct confine *make_image_world(struct init *in)
{
	bool joined = in->start->req->join[0] >= 0;
	struct confine *confine;
	struct error err = {0};
	int userns;

	in->input = (struct shield){-1, -1}; /* no file of the host comes in */
	if (pid1_image_root(in->plan, &in->tell, &err) < 0 || (!joined && pid1_image_net(in->plan, &err) < 0))
		tell_give_up(&in->tell, &err);
	commands_init(&in->commands, &in->tell);
	in->commands.owner = in->plan->uid + NATIVE_IMAGE_SHIFT;
	userns = joined ? pid1_image_user_joined(in->plan, &err) : image_user_make(in->plan, NATIVE_IMAGE_SHIFT, &err);
	if (userns < 0)
		tell_give_up(&in->tell, &err);
	confine_limit_objects(BOX_USER_IS);
	if (confine_new(in->plan, BOX_USER_IS, &in->start->req->features, &confine, &err) < 0)
		tell_give_up(&in->tell, &err);
	confine_enter_user(confine, userns);
	in->commands.confine = confine;
	return confine;
}

static void make_world(struct init *in)
{
	struct confine *confine = in->plan->image ? make_image_world(in) : make_host_world(in);
	struct root_trees none = {.fds = (int[WIRE_MAX_FDS]){0}};
	struct error err = {0};

	if (sethostname("cordon", 6) < 0 || setdomainname("", 0) < 0) {
		(void)error_sys(&err, errno, "sandbox: host name");
		tell_give_up(&in->tell, &err);
	}
	tell_proc(&in->tell);
	if (in->plan->n_listeners)
		open_door(in);
	/* whoever joins finds the gateway's ports taken */
	if (in->plan->image && tell_spaces(&in->tell, true, &err) < 0)
		tell_give_up(&in->tell, &err);
	if (wait_go(in, &none, &err) < 0 || confine_rules(confine, &err) < 0)
		tell_give_up(&in->tell, &err);
	confine_record(confine, buf_view(&in->record));
	confine_allow_again(confine, (const int[]){4, 5, 6});
}

/* Whoever reads what the workload writes must see its end when the workload closes it. */
static void forget_stdio(struct init *in)
{
	int i, null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (i = 0; i < 7; i++)
		if (i != in->tell.socket)
			(void)dup3(null, i, O_CLOEXEC);
	if (null > 6)
		(void)close(null);
}

static void spawn_first(struct init *in)
{
	const struct native_request *req = in->start->req;
	struct inside_spawn s = {.argv = in->plan->argv,
				 .env = in->plan->env,
				 .cwd = in->plan->cwd,
				 .rows = req->rows,
				 .columns = req->columns};
	const int stdio[3] = {4, 5, 6};
	struct error err = {0};
	int i;

	for (i = 0; i < 3; i++)
		s.tty_bits |= (uint32_t)req->tty[i] << i;
	if (in->hold)
		tell_started(&in->tell, 0, 0, false, -1);
	else if (commands_start(&in->commands, &s, stdio, -1, &err) < 0)
		tell_give_up(&in->tell, &err);
	forget_stdio(in);
	wire_message_done(&in->went);
}

static void reaped(struct init *in, const struct commands_reaped *r)
{
	bool over = r->command && r->command->id == 0 && !WIFSTOPPED(r->status);

	rescan_reaped(&in->rescan, r->pid, r->status);
	if (over) {
		shield_return(&in->input);
		tell_untold(&in->tell);
		/* before the supervisor hears of it, who ends us then */
		if (in->lingers)
			sys_linger(&in->linger, in->remask.fd);
	}
	if (r->command)
		commands_tell_reaped(&in->commands, r);
	if (r->command && in->hold && in->commands.beside && !in->commands.ahead && !WIFSTOPPED(r->status))
		in->ahead_due = true;
	if (over)
		_exit(0); /* the first command is the run: all the rest ends with us */
}

/* Some at a time: what makes orphans in a loop must not keep us from the rest. */
static void reap(struct init *in)
{
	struct signalfd_siginfo info;
	struct commands_reaped r;
	int n;

	while (read(in->signals, &info, sizeof(info)) == sizeof(info))
		;
	for (n = 0; n < REAP_AT_ONCE && commands_reap(&in->commands, &r); n++)
		reaped(in, &r);
	in->reap_on = n == REAP_AT_ONCE;
}

static void on_message(struct init *in)
{
	struct wire_message m;
	int r = wire_receive(in->tell.socket, &m);

	if (r <= 0)
		_exit(1); /* the supervisor is gone: so are we, and all inside */
	if (m.type == INSIDE_SPAWN) {
		(void)commands_on_spawn(&in->commands, &m);
		in->spawns++;
		in->ahead_due = false;
		in->ahead = 0; /* as the supervisor has it, who sent this */
	} else if (m.type == INSIDE_SIGNAL)
		commands_on_signal(&in->commands, &m);
	else if (m.type == INSIDE_EXPIRED)
		commands_on_expired(&in->commands, &m);
	wire_message_done(&m);
}

static bool guarded(void *arg, int listener, const struct seccomp_call *call)
{
	struct init *in = arg;

	if (!filter_is_guarded(call->nr))
		return false;
	guard_answer(&in->guard, listener, call);
	return true;
}

/* Of a sandbox with an image only what gives a terminal to a user: PID 1 owns the workload's namespace, which says all
 * else. */
static uint64_t caps_kept(const struct plan *p)
{
	if (p->image)
		return UINT64_C(1) << SYS_CAP_SETUID;
	return UINT64_C(1) << SYS_CAP_SYS_PTRACE | UINT64_C(1) << SYS_CAP_SYS_ADMIN |
	       UINT64_C(1) << SYS_CAP_SETPCAP /* to empty the bounding set of the workload */;
}

/*
 * In effect while we look for names, so that no chmod of the workload's keeps a folder from being searched; and never
 * while we do something for the workload, who must not come through a folder by us that it could not come through
 * itself.
 */
static uint64_t caps_looking(const struct plan *p)
{
	return caps_kept(p) | (p->image ? 0 : UINT64_C(1) << SYS_CAP_DAC_READ_SEARCH);
}

/* One more is at hand for the moment in which the guard asks where a socket's name was made (sys/unix_file.h). */
static uint64_t caps_at_hand(const struct plan *p)
{
	return caps_looking(p) | (p->image ? 0 : UINT64_C(1) << SYS_CAP_NET_ADMIN);
}

/* First: no call is answered while a name stands open that must not. */
static void look_after_names(struct init *in, bool told, bool mounts_changed)
{
	static const struct buf nothing;
	bool time_to_search = rescan_wait(&in->rescan) == 0;

	if (!told && !mounts_changed && !time_to_search)
		return;
	if (sys_wear_caps(caps_looking(in->plan)) < 0)
		_exit(1);
	if (told)
		remask_serve(&in->remask, &in->guard);
	if ((mounts_changed && remask_mounts_changed(&in->remask, &in->guard) < 0) ||
	    (time_to_search && remask_watch(&in->remask, in->plan) < 0))
		_exit(1);
	if (in->remask.lacks && !in->unwatched)
		tell_send(&in->tell, INSIDE_UNWATCHED, &nothing, NULL, 0);
	in->unwatched |= in->remask.lacks;
	rescan_start(&in->rescan, &in->guard);
	if (sys_wear_caps(caps_kept(in->plan)) < 0)
		_exit(1);
}

/* A sandbox that is kept has one for as long as nothing is started, and the supervisor, who may not look at it, must
 * not take it for a workload that hides. */
static void tell_if_ahead(struct init *in)
{
	pid_t now = in->commands.ahead ? confine_ahead_pid(in->commands.ahead) : 0;

	if (in->hold && now != in->ahead)
		tell_ahead(&in->tell, now, in->spawns);
	in->ahead = now;
}

/* The next command finds its process confined already. It is made when the last one's caller has its answer: those who
 * bring that may wait for our CPU, and so we sleep first. */
static int wait_for_some(struct init *in, struct pollfd *p, size_t n)
{
	static const struct timespec moment = {.tv_nsec = 1}; /* the kernel makes some fifty microseconds of it */
	int ms = in->reap_on ? 0 : rescan_wait(&in->rescan), r;
	struct error ignored = {0};

	if (!in->ahead_due)
		return poll(p, n, ms);
	r = ppoll(p, n, &moment, NULL);
	if (r == 0) {
		in->ahead_due = false;
		(void)commands_make_ahead(&in->commands, &ignored);
	}
	return r;
}

static void serve(struct init *in) __attribute__((noreturn));
static void serve(struct init *in)
{
	const struct commands_guard guard = {.answer = guarded, .arg = in};
	struct pollfd p[4 + COMMANDS_POLL];
	size_t n;

	for (;;) {
		tell_if_ahead(in);
		p[0] = (struct pollfd){.fd = in->signals, .events = POLLIN};
		p[1] = (struct pollfd){.fd = in->tell.socket, .events = POLLIN};
		p[2] = (struct pollfd){.fd = in->remask.fd, .events = POLLIN};
		p[3] = (struct pollfd){.fd = in->remask.mounts, .events = POLLPRI};
		n = commands_poll(&in->commands, p + 4);
		if (wait_for_some(in, p, 4 + n) < 0 && errno != EINTR)
			_exit(1);
		look_after_names(in, p[2].revents & POLLIN, p[3].revents & POLLPRI);
		commands_serve(&in->commands, p + 4, &guard);
		if (p[1].revents)
			on_message(in);
		if (p[0].revents & POLLIN || in->reap_on)
			reap(in);
		commands_close_unused(&in->commands);
	}
}

static bool has_disk_layer(const struct plan *p)
{
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].upper)
			return true;
	return p->image;
}

void pid1_main(const struct pid1_start *start)
{
	struct init in = {.start = start, .plan = start->req->plan, .tell = {.socket = 3}};
	struct error err = {0};
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)setsid(); /* what is sent to a shell's job comes by the supervisor; and in a job that has processes of two
			   PID namespaces the kernel forgets who sent it */
	r = start->req->cgroup ? cgroup_join_self(start->req->cgroup, start->in_v2_cgroup) : 0;
	close_others(start);
	if (r == 0)
		r = sys_unshare(CLONE_NEWCGROUP); /* now, so that ours is the root we see */
	if (r < 0) {
		(void)error_sys(&err, r, "sandbox: cgroup");
		tell_give_up(&in.tell, &err);
	}
	in.guard = (struct guard){.plan = in.plan,
				  .index = guard_index_new(in.plan),
				  .own = &in.own,
				  .denied = path_denied,
				  .give_up = name_stands_open,
				  .arg = &in};
	if (!in.guard.index) {
		(void)error_set(&err, ERROR_SYSTEM, "out of memory");
		tell_give_up(&in.tell, &err);
	}
	make_world(&in);
	forget_arguments(start->req->argv);
	in.signals = commands_signals();
	r = remask_init(&in.remask, in.plan);
	if (r < 0) {
		(void)error_sys(&err, r, "sandbox: watch the folders of denied names");
		tell_give_up(&in.tell, &err);
	}
	r = sys_drop_caps(caps_at_hand(in.plan));
	if (r == 0)
		r = sys_wear_caps(caps_kept(in.plan));
	if (r < 0) {
		(void)error_sys(&err, r, "sandbox: capabilities");
		tell_give_up(&in.tell, &err);
	}
	spawn_first(&in);
	/* what lies on the disk is put in order when we are gone, and nobody must have it mounted then */
	in.lingers = !has_disk_layer(in.plan) && sys_linger_open(&in.linger) == 0;
	rescan_init(&in.rescan, &in.guard);
	serve(&in);
}
