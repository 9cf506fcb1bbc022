#include "init/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "init/gateway.h"
#include "init/watch.h"
#include "model/box.h"
#include "model/gate.h"
#include "sandbox/common/commands.h"
#include "sandbox/common/confine.h"
#include "sandbox/common/image_user.h"
#include "sandbox/common/tell.h"
#include "sys/landlock.h"
#include "sys/mounts.h"
#include "sys/process.h"
#include "sys/seccomp.h"
#include "wire/wire.h"

enum { CONTROL_FD = 3, REAP_AT_ONCE = 64 };

struct init {
	struct box_orders orders;
	struct confine *confine;
	struct tell tell;
	struct commands commands;
	struct gateway gateway;
	int signals;
	int userns; /* of an image's workload; -1: it has none */
	bool reap_on; /* more children wait to be reaped */
	bool started; /* the first command */
	bool lingers; /* the mounts, behind us */
	struct sys_linger linger;
};

static int connect_to(const char *path, struct error *err)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	AUTO_FD fd = -1;

	if (strlen(path) >= sizeof(at.sun_path))
		return error_sys(err, ENAMETOOLONG, "the supervisor's socket");
	memcpy(at.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		return error_sys(err, errno, "cannot reach the supervisor");
	return fd_take(&fd);
}

/* What the runtime left open ends here. */
static int keep_only(int fd, struct error *err)
{
	int r;

	if (fd != CONTROL_FD && dup3(fd, CONTROL_FD, O_CLOEXEC) < 0)
		return error_sys(err, errno, "file descriptors");
	r = sys_close_from(CONTROL_FD + 1);
	return r < 0 ? error_sys(err, r, "file descriptors") : 0;
}

static int take_orders(struct init *in, struct error *err)
{
	struct arena *arena = arena_new(); /* as long as we live */
	struct wire_message m;
	int r = arena ? wire_receive(in->tell.socket, &m) : -ENOMEM;

	if (r == 0)
		r = -ECONNRESET;
	if (r > 0) {
		r = m.type == INSIDE_ORDERS ? box_get_orders(buf_view(&m.body), arena, &in->orders) : -EPROTO;
		if (r == 0 && in->orders.image_nested && m.n_fds == 1) {
			in->userns = m.fds[0];
			m.n_fds = 0;
		}
		wire_message_done(&m);
	}
	if (r == 0)
		return 0;
	arena_free(arena);
	return error_sys(err, r, "no orders from the supervisor");
}

/* How the plan's sockets are called by what connects them to the door. A name server's two are one there, and a
 * redirect has both families. */
static bool port_of(const struct box_orders *o, const struct plan_listener *l, struct listen_port *ret)
{
	static const enum door_kind kinds[GATE_LISTEN_KINDS] = {
		[GATE_LISTEN_PROXY] = DOOR_PROXY,
		[GATE_LISTEN_TRANSPARENT] = DOOR_TRANSPARENT,
		[GATE_LISTEN_DNS_TCP] = DOOR_DNS,
		[GATE_LISTEN_INFERENCE] = DOOR_INFERENCE,
	};

	*ret = (struct listen_port){.kind = kinds[l->kind],
				    .port = l->port,
				    .provider = l->kind == GATE_LISTEN_INFERENCE ? l->provider : 0};
	return ret->kind && !l->v6 && (ret->kind != DOOR_TRANSPARENT || o->transparent);
}

/* Those outside hear of what is refused, and change it when the policy changes; before any command runs, and nothing in
 * here keeps the sockets. None: the kernel cannot refuse, and all that is dialled comes to the port. */
static void tell_redirects(struct init *in)
{
	struct redirects *r = &in->gateway.redirects;
	const int fds[] = {r->refused, r->changes};
	AUTO_BUF b = {0};

	buf_init(&b, 64);
	if (r->refused >= 0) {
		wire_put_u32(&b, GATE_LISTEN_REFUSED);
		wire_put_u32(&b, 0);
		wire_put_u32(&b, GATE_REDIRECTS);
		wire_put_u32(&b, 0);
	}
	tell_send(&in->tell, INSIDE_LISTENERS, &b, fds, r->refused >= 0 ? 2 : 0);
	if (r->refused >= 0) {
		(void)close(fd_take(&r->refused));
		(void)close(fd_take(&r->changes));
	}
}

static void open_gateway(struct init *in)
{
	const struct plan *p = in->orders.plan;
	struct gateway *g = &in->gateway;
	struct error err = {0};
	struct rlimit now;
	unsigned port;
	size_t i;
	int r;

	if (p->loopback)
		(void)sys_loopback_up(); /* where we may not, it is up, or nothing connects */
	for (i = 0; i < p->n_listeners && g->n_ports < BRIDGE_PORTS; i++)
		if (port_of(&in->orders, &p->listeners[i], &g->ports[g->n_ports]))
			g->n_ports++;
	if (!g->n_ports)
		return;
	g->door = BOX_DOOR;
	g->reach = &p->reach;
	r = gateway_open(g, getrlimit(RLIMIT_NOFILE, &now) == 0 ? gateway_raise_limit(&now) : 0, &port);
	if (r < 0) {
		(void)error_sys(&err, r, "gateway: listen on port %u of the sandbox", port);
		tell_give_up(&in->tell, &err);
	}
	if (g->redirected)
		tell_redirects(in);
}

/* After the ports are open: whoever joins our network finds them taken. */
static void tell_network(struct init *in)
{
	struct error err = {0};

	if (in->orders.plan->image && tell_spaces(&in->tell, in->orders.sends_fds, &err) < 0)
		tell_give_up(&in->tell, &err);
}

/* After the ports are open and the namespace's limits set: of what the runtime gave us the workload's start needs
 * these. */
static void drop_caps(struct init *in)
{
	static const uint64_t for_user[BOX_USERS] = {
		[BOX_USER_BECOME] = UINT64_C(1) << SYS_CAP_SETUID | UINT64_C(1) << SYS_CAP_SETGID,
		[BOX_USER_NESTED] = UINT64_C(1) << SYS_CAP_SETFCAP, /* without it nobody may map a root */
	};
	struct error err = {0};
	uint64_t image = in->orders.plan->image && !in->orders.image_nested
				 ? confine_image_caps()
				 : 0; /* else the namespace is made already */
	int r = sys_keep_caps(UINT64_C(1) << SYS_CAP_KILL | UINT64_C(1) << SYS_CAP_SETPCAP | for_user[in->orders.user] |
			      image);

	if (r < 0) {
		(void)error_sys(&err, r, "sandbox: capabilities");
		tell_give_up(&in->tell, &err);
	}
}

static void confine(struct init *in)
{
	const struct confine_features features = {.landlock_abi = landlock_abi(),
						  .notify = seccomp_notify_works(),
						  .memory_cgroup = in->orders.memory_cgroup,
						  .cpu_cgroup = in->orders.cpu_cgroup,
						  .shared_ipc = in->orders.shared_ipc,
						  .caps_gone = sys_caps_gone()};
	const struct plan *p = in->orders.plan;
	struct error err = {0};

	if (confine_new(p, p->image ? BOX_USER_IS : in->orders.user, &features, &in->confine, &err) < 0)
		tell_give_up(&in->tell, &err);
	if (in->userns >= 0)
		confine_enter_user(in->confine, in->userns);
	if (confine_rules(in->confine, &err) < 0)
		tell_give_up(&in->tell, &err);
	in->commands.confine = in->confine;
	if (p->image)
		in->commands.owner = p->uid + in->orders.image_shift;
	else if (in->orders.user == BOX_USER_BECOME)
		in->commands.owner = p->uid;
}

/* The workload's own, where it is root of an image, and nobody has made it for us. */
static void make_userns(struct init *in)
{
	struct error err = {0};

	if (!in->orders.image_nested || in->userns >= 0)
		return;
	/* needed to look at the namespace; nobody else is here yet, and it is undone */
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	in->userns = image_user_make(in->orders.plan, in->orders.image_shift, &err);
	if (in->userns < 0)
		tell_give_up(&in->tell, &err);
}

/* Nobody inside or outside is to wait for us to close what the runtime gave us. */
static void forget_stdio(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), i;

	for (i = 0; null >= 0 && i < 3; i++)
		(void)dup2(null, i);
	if (null > 2)
		(void)close(null);
}

static void on_spawn(struct init *in, struct wire_message *m)
{
	if (!in->started && m->n_fds >= 3)
		confine_allow_again(in->confine, m->fds);
	if (!commands_on_spawn(&in->commands, m))
		_exit(1); /* there is nothing to wait for */
	if (!in->started)
		in->lingers = in->orders.lingers && sys_linger_open(&in->linger) == 0;
	in->started = true;
}

static void on_record(struct init *in, struct wire_message *m)
{
	struct wire_in w;

	wire_in_init(&w, buf_view(&m->body));
	confine_record(in->confine, wire_get_sv(&w));
}

static void on_message(struct init *in)
{
	struct wire_message m;

	if (wire_receive(in->tell.socket, &m) <= 0)
		_exit(1); /* the supervisor is gone: so are we, and all inside */
	if (m.type == INSIDE_SPAWN)
		on_spawn(in, &m);
	else if (m.type == INSIDE_GO)
		tell_started(&in->tell, 0, 0, false, -1); /* commands will come */
	else if (m.type == INSIDE_RECORD)
		on_record(in, &m);
	else if (m.type == INSIDE_SIGNAL)
		commands_on_signal(&in->commands, &m);
	else if (m.type == INSIDE_EXPIRED)
		commands_on_expired(&in->commands, &m);
	else if (m.type == INSIDE_RESIZE)
		commands_on_resize(&in->commands, &m);
	wire_message_done(&m);
}

static void reaped(struct init *in, const struct commands_reaped *r)
{
	bool over = r->command && r->command->id == 0 && !WIFSTOPPED(r->status);

	if (over)
		tell_untold(&in->tell);
	if (over && in->lingers)
		sys_linger(&in->linger, -1);
	if (r->command)
		commands_tell_reaped(&in->commands, r);
	if (over)
		_exit(0);
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

/* Of two time limits, -1 for none. */
static int sooner(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void attend(struct init *in) __attribute__((noreturn));
static void attend(struct init *in)
{
	struct pollfd p[3 + COMMANDS_POLL];
	int wait;
	size_t n;

	for (;;) {
		wait = gateway_tick(&in->gateway);
		p[0] = (struct pollfd){.fd = in->signals, .events = POLLIN};
		p[1] = (struct pollfd){.fd = in->tell.socket, .events = POLLIN};
		p[2] = (struct pollfd){.fd = in->gateway.epoll, .events = POLLIN};
		n = commands_poll(&in->commands, p + 3);
		if (poll(p, 3 + n, in->reap_on ? 0 : sooner(wait, commands_wait(&in->commands))) < 0 && errno != EINTR)
			_exit(1);
		if (p[2].revents && watch_run(in->gateway.epoll, 0) < 0)
			_exit(1);
		commands_serve(&in->commands, p + 3, NULL);
		if (p[1].revents)
			on_message(in);
		if (p[0].revents || in->reap_on)
			reap(in);
		commands_close_unused(&in->commands);
	}
}

static int prepare(struct init *in, const char *control, struct error *err)
{
	AUTO_FD fd = -1;

	if (getpid() != 1)
		return error_set(err, ERROR_USAGE, "--control is for PID 1 of a container");
	fd = connect_to(control, err);
	if (fd < 0 || keep_only(fd, err) < 0)
		return -1;
	fd = in->tell.socket = CONTROL_FD;
	in->signals = commands_signals();
	in->gateway.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (in->signals < 0 || in->gateway.epoll < 0)
		return error_sys(err, in->signals < 0 ? in->signals : errno, "file descriptors");
	/* until it gives orders, the supervisor may look at our files: those of an ordinary user in an engine's
	 * container only so */
	if (take_orders(in, err) < 0)
		return -1;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return error_sys(err, errno, "prctl");
	(void)fd_take(&fd);
	return 0;
}

int serve(const char *control, struct error *err)
{
	struct init in = {.userns = -1};

	if (prepare(&in, control, err) < 0)
		return -1;
	commands_init(&in.commands, &in.tell);
	if (in.orders.sends_fds)
		tell_proc(&in.tell);
	open_gateway(&in);
	tell_network(&in);
	make_userns(&in);
	confine_limit_objects(in.orders.plan->image ? BOX_USER_IS : in.orders.user);
	drop_caps(&in);
	confine(&in);
	forget_stdio();
	attend(&in);
}
