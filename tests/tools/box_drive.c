/*
 * Plays the supervisor to a real cordon-init that is PID 1 of a container.
 *
 *     box-drive [OPTION...] SOCKET SCRIPT -- LAUNCHER ARG...
 *
 * Listens at SOCKET, starts LAUNCHER, which is to make cordon-init connect there, gives it orders and then does what
 * SCRIPT says, one step a line; an empty step ends it:
 *
 *     run ID TEXT         starts `sh -c TEXT` with our standard input, output and error; tty ID TEXT: with a terminal
 * whose output we print, carry ID TEXT: with one that cordon-init carries exec ID PATH        starts PATH without
 * arguments type ID TEXT        types TEXT and a return at that terminal; key ID N one key by its number; size ID ROWS
 * COLUMNS tells of another size signal ID N         ID all: every process wait ID             until it has ended, and
 * all of its terminal was printed second              connects to SOCKET as somebody inside could, and says what it
 * gets sleep MS, hangup
 *
 * Prints "= ID started", "= ID exited N", "= ID killed N", "= ID stopped N", "= ID failed KIND TEXT", "= denied TEXT",
 * "= gone" and, at the end, "= launcher N".
 *
 * Options: user=is|become|nested uid=N cwd=PATH write=PATH listen=PORT memory=N processes=N loopback transparent
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "model/box.h"
#include "model/gate.h"
#include "model/inside.h"
#include "wire/wire.h"

enum { IDS = 100, PATIENCE_MS = 20000, OPS = 8 };

struct drive {
	struct plan plan;
	struct plan_op ops[OPS];
	struct plan_listener listeners[OPS];
	struct box_orders orders;
	const char *path;
	int listener, socket;
	pid_t launcher;
	bool over[IDS];
	int terminal[IDS]; /* 0: none */
};

static void die(const char *what)
{
	printf("= broken: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(99);
}

static bool starts(const char *s, const char *with, const char **rest)
{
	size_t n = strlen(with);

	*rest = s + n;
	return strncmp(s, with, n) == 0;
}

static void take_option(struct drive *d, const char *o)
{
	static const char *const users[BOX_USERS] = {"is", "become", "nested"};
	const char *v;
	unsigned i;

	for (i = 0; starts(o, "user=", &v) && i < BOX_USERS; i++)
		if (strcmp(v, users[i]) == 0)
			d->orders.user = (enum box_user)i;
	if (starts(o, "uid=", &v))
		d->plan.uid = d->plan.gid = (uint32_t)strtoul(v, NULL, 10);
	else if (starts(o, "cwd=", &v))
		d->plan.cwd = v;
	else if (starts(o, "write=", &v))
		d->ops[d->plan.n_ops++] = (struct plan_op){.kind = PLAN_BIND, .target = v, .writable = true};
	else if (starts(o, "listen=", &v))
		d->listeners[d->plan.n_listeners++] =
			(struct plan_listener){.kind = GATE_LISTEN_PROXY, .port = (uint16_t)atoi(v)};
	else if (starts(o, "memory=", &v))
		d->plan.limits.memory = strtoull(v, NULL, 10);
	else if (starts(o, "processes=", &v))
		d->plan.limits.processes = strtoull(v, NULL, 10);
	else if (strcmp(o, "loopback") == 0)
		d->plan.loopback = true;
	else if (strcmp(o, "transparent") == 0)
		d->orders.transparent = true;
}

static struct sockaddr_un address(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return a;
}

static void launch(struct drive *d, char **argv)
{
	struct sockaddr_un a = address(d->path);
	struct pollfd p;

	(void)unlink(d->path);
	d->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (d->listener < 0 || bind(d->listener, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(d->listener, 8) < 0 ||
	    chmod(d->path, 0666) < 0)
		die("listen");
	d->launcher = fork();
	if (d->launcher == 0) {
		int nothing[2];

		/* runsc changes the owner of what it has there: never the host's /dev/null */
		if (pipe2(nothing, O_CLOEXEC) == 0)
			(void)dup2(nothing[0], 0);
		(void)dup2(2, 1);
		(void)execvp(argv[0], argv);
		_exit(127);
	}
	p = (struct pollfd){.fd = d->listener, .events = POLLIN};
	if (poll(&p, 1, PATIENCE_MS) != 1) {
		errno = ETIMEDOUT;
		die("nobody connected");
	}
	d->socket = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC);
}

static void say(struct drive *d, uint16_t type, const struct buf *b, const int *fds, size_t n)
{
	int r = wire_send(d->socket, type, buf_view(b), fds, n);

	if (r < 0)
		printf("= cannot say: %s\n", strerror(-r));
}

static void spawn(struct drive *d, uint64_t id, char *const *argv, bool tty, bool carry)
{
	char *const env[] = {(char[]){"PATH=/usr/bin:/bin:/usr/sbin:/sbin"}, (char[]){"TERM=dumb"}, NULL};
	struct inside_spawn s = {.id = id,
				 .tty_bits = tty ? 7 : 0,
				 .rows = 11,
				 .columns = 22,
				 .argv = argv,
				 .env = env,
				 .cwd = d->plan.cwd};
	int fds[4] = {0, 1, 2, -1}, pair[2];
	AUTO_BUF b = {0};

	if (carry) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
			die("socketpair");
		d->terminal[id] = pair[0];
		fds[3] = pair[1];
	}
	buf_init(&b, WIRE_MAX_BODY);
	inside_spawn_encode(&s, &b);
	say(d, INSIDE_SPAWN, &b, fds, carry ? 4 : 3);
	if (carry)
		(void)close(pair[1]);
}

static void print_terminal(struct drive *d, size_t id)
{
	char bytes[4096];
	ssize_t n;

	while (d->terminal[id] && (n = recv(d->terminal[id], bytes, sizeof(bytes), MSG_DONTWAIT)) != 0) {
		if (n < 0 && errno == ENOTSOCK) {
			struct pollfd p = {.fd = d->terminal[id], .events = POLLIN};

			n = poll(&p, 1, 0) == 1 ? read(d->terminal[id], bytes, sizeof(bytes)) : -1;
		}
		if (n <= 0)
			return;
		(void)fwrite(bytes, 1, (size_t)n, stdout);
	}
}

static void on_started(struct drive *d, uint64_t id, struct wire_message *m)
{
	printf("= %u started\n", (unsigned)id);
	if (m->n_fds == 1 && id < IDS)
		d->terminal[id] = fd_take(&m->fds[0]);
}

static void hear(struct drive *d)
{
	struct wire_message m;
	struct wire_in w;
	struct sv text;
	uint64_t id = 0;
	uint32_t v;

	if (wire_receive(d->socket, &m) <= 0) {
		printf("= gone\n");
		(void)close(d->socket);
		d->socket = -1;
		memset(d->over, 1, sizeof(d->over));
		return;
	}
	wire_in_init(&w, buf_view(&m.body));
	if (m.type != INSIDE_DENIED)
		id = wire_get_u64(&w);
	v = wire_get_u32(&w);
	if (m.type == INSIDE_STARTED) {
		on_started(d, id, &m);
	} else if (m.type == INSIDE_STOPPED) {
		printf("= %u stopped %u\n", (unsigned)id, v);
	} else if (m.type == INSIDE_EXITED) {
		print_terminal(d, id < IDS ? id : 0);
		printf("= %u %s %d\n", (unsigned)id, WIFSIGNALED(v) ? "killed" : "exited",
		       WIFSIGNALED(v) ? WTERMSIG(v) : WEXITSTATUS(v));
		d->over[id < IDS ? id : 0] = true;
	} else if (m.type == INSIDE_FAILED) {
		(void)wire_get_u32(&w);
		text = wire_get_sv(&w);
		printf("= %u failed %u %.*s\n", (unsigned)id, v, (int)text.n, text.p);
		d->over[id < IDS ? id : 0] = true;
	} else if (m.type == INSIDE_DENIED) {
		(void)wire_get_sv(&w);
		text = wire_get_sv(&w);
		printf("= denied %.*s\n", (int)text.n, text.p);
	}
	wire_message_done(&m);
}

/* Hears what comes until `until` is true, at most ms. */
static void attend(struct drive *d, const bool *until, int ms)
{
	struct pollfd p;
	size_t i;

	for (; ms > 0 && d->socket >= 0 && !(until && *until); ms -= 20) {
		p = (struct pollfd){.fd = d->socket, .events = POLLIN};
		while (poll(&p, 1, 20) > 0 && d->socket >= 0 && !(until && *until))
			hear(d);
		for (i = 0; i < IDS; i++)
			print_terminal(d, i);
		fflush(stdout);
	}
	if (until && !*until)
		printf("= waited in vain\n");
}

/* One step of the script, which is cut up. */
static void second(struct drive *d)
{
	struct sockaddr_un a = address(d->path);
	AUTO_FD fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		printf("= second refused\n");
	else
		printf("= second %s\n", poll(&p, 1, 200) ? "heard something" : "heard nothing");
}

static void put_words(struct buf *b, uint64_t id, uint32_t v)
{
	buf_init(b, 64);
	wire_put_u64(b, id);
	wire_put_u32(b, v);
}

static void step(struct drive *d, char *line)
{
	char *save = NULL, *verb = strtok_r(line, " ", &save), *who = strtok_r(NULL, " ", &save), *rest = save;
	unsigned id = who ? (unsigned)atoi(who) % IDS : 0;
	char *const shell[] = {(char[]){"sh"}, (char[]){"-c"}, rest, NULL}, *const alone[] = {rest, NULL};
	AUTO_BUF b = {0};

	if (!verb)
		return;
	if (strcmp(verb, "run") == 0)
		spawn(d, id, shell, false, false);
	else if (strcmp(verb, "tty") == 0)
		spawn(d, id, shell, true, false);
	else if (strcmp(verb, "carry") == 0)
		spawn(d, id, shell, true, true);
	else if (strcmp(verb, "exec") == 0)
		spawn(d, id, alone, false, false);
	else if (strcmp(verb, "type") == 0)
		(void)!(dprintf(d->terminal[id], "%s\r", rest) || 1);
	else if (strcmp(verb, "key") == 0)
		(void)!(dprintf(d->terminal[id], "%c", atoi(rest)) || 1);
	else if (strcmp(verb, "signal") == 0) {
		put_words(&b, strcmp(who, "all") == 0 ? INSIDE_ALL : id, (uint32_t)atoi(rest));
		say(d, INSIDE_SIGNAL, &b, NULL, 0);
	} else if (strcmp(verb, "size") == 0) {
		put_words(&b, id, (uint32_t)strtoul(rest, &rest, 10));
		wire_put_u32(&b, (uint32_t)strtoul(rest, NULL, 10));
		say(d, INSIDE_RESIZE, &b, NULL, 0);
	} else if (strcmp(verb, "wait") == 0)
		attend(d, &d->over[id], PATIENCE_MS);
	else if (strcmp(verb, "sleep") == 0)
		attend(d, NULL, atoi(who));
	else if (strcmp(verb, "second") == 0)
		second(d);
	else if (strcmp(verb, "hangup") == 0) {
		(void)close(d->socket);
		d->socket = -1;
	}
}

static int finish(struct drive *d)
{
	int status = 0, i;

	if (d->socket >= 0)
		(void)close(d->socket);
	for (i = 0; i < PATIENCE_MS / 20 && waitpid(d->launcher, &status, WNOHANG) == 0; i++)
		(void)usleep(20000);
	if (i == PATIENCE_MS / 20) {
		printf("= launcher hangs\n");
		(void)kill(d->launcher, SIGKILL);
	} else {
		printf("= launcher %d\n", WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	}
	(void)unlink(d->path);
	return 0;
}

int main(int argc, char **argv)
{
	struct drive d = {.plan = {.uid = 1000, .gid = 1000, .cwd = "/"}, .socket = -1};
	char *save = NULL, *line;
	AUTO_BUF b = {0};

	(void)signal(SIGPIPE, SIG_IGN);
	d.plan.ops = d.ops;
	d.plan.listeners = d.listeners;
	d.orders.plan = &d.plan;
	for (argv++, argc--; argc > 0 && argv[0][0] != '/'; argv++, argc--)
		take_option(&d, argv[0]);
	if (argc < 4 || strcmp(argv[2], "--") != 0)
		return 99;
	d.path = argv[0];
	launch(&d, argv + 3);
	buf_init(&b, WIRE_MAX_BODY);
	box_put_orders(&b, &d.orders);
	say(&d, INSIDE_ORDERS, &b, NULL, 0);
	for (line = strtok_r(argv[1], "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		step(&d, line);
	return finish(&d);
}
