/*
 * door-drive: a real cordon-relay with nothing but a door, and a real cordon-egress behind it; plays supervisor and
 * vault to both until stdin ends.
 *
 *	door-drive RELAY EGRESS POLICY ROOTS DOOR [HOST=ADDRESS...]
 *
 * Output: "ready", then the relay's events, "! deny SUBJECT".
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "model/gate.h"
#include "policy/policy_codec.h"
#include "policy_memory.h"
#include "vault/vault.h"
#include "wire/wire.h"

enum { CONTROL, LINK, CALLS, VAULT, SOCKETS };

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(99);
}

static int memfd_of(struct sv bytes)
{
	int fd = memfd_create("drive", MFD_CLOEXEC);

	must(fd >= 0 && write_all(fd, bytes.p, bytes.n) == 0 && lseek(fd, 0, SEEK_SET) == 0, "memfd");
	return fd;
}

static int policy_fd(const char *file)
{
	AUTO_BUF text = {0}, bytes = {0};
	struct policy *p = NULL;
	struct error err = {0};
	int fd;

	buf_init(&text, 1 << 20);
	buf_init(&bytes, POLICY_CODEC_MAX);
	must(buf_read_file(&text, file) == 0 && (p = memory_policy(text.p, NULL, &err)), file);
	must(policy_encode(p, &bytes) == 0, "policy");
	policy_free(p);
	fd = memfd_of(buf_view(&bytes));
	return fd;
}

static int roots_fd(const char *file)
{
	AUTO_BUF text = {0};

	buf_init(&text, 1 << 20);
	must(buf_read_file(&text, file) == 0, file);
	return memfd_of(buf_view(&text));
}

static int door(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(strlen(path) < sizeof(at.sun_path), "path");
	memcpy(at.sun_path, path, strlen(path) + 1);
	must(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 1024) == 0, path);
	return fd;
}

static pid_t start(const char *program, const int fds[SOCKETS])
{
	pid_t pid = fork();
	int i;

	if (pid)
		return pid;
	for (i = 0; i < SOCKETS; i++)
		(void)dup2(fds[i], 100 + i);
	for (i = 0; i < SOCKETS; i++)
		(void)dup2(100 + i, GATE_CONTROL_FD + i);
	(void)execl(program, program, (char *)NULL);
	_exit(97);
}

static void pair(int type, int *a, int *b)
{
	int fds[2];

	must(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) == 0, "socketpair");
	*a = fds[0];
	*b = fds[1];
}

static void set_up_relay(int control, const char *policy, const char *path)
{
	const struct gate_relay_setup s = {
		.generation = 1, .listeners = {{.kind = GATE_LISTEN_DOOR}}, .n_listeners = 1};
	int files[2] = {policy_fd(policy), door(path)};
	AUTO_BUF body = {0};

	buf_init(&body, WIRE_MAX_BODY);
	gate_put_relay_setup(&body, &s);
	must(wire_send(control, GATE_RELAY_SETUP, buf_view(&body), files, 2) == 0, "relay");
	(void)close(files[0]);
	(void)close(files[1]);
}

static void set_up_egress(int control, int vault, char **argv)
{
	struct gate_egress_setup s = {.generation = 1, .proxy = {"", 0}};
	int files[2] = {policy_fd(argv[3]), roots_fd(argv[4])};
	AUTO_BUF body = {0}, none = {0};
	char **p, *eq;

	for (p = argv + 6; *p && (eq = strchr(*p, '=')); p++)
		s.pins[s.n_pins++] = (struct gate_pin){sv_n(*p, (size_t)(eq - *p)), sv_of(eq + 1)};
	buf_init(&body, WIRE_MAX_BODY);
	buf_init(&none, 64);
	wire_put_u32(&none, 0);
	must(wire_send(vault, VAULT_GRANTS, buf_view(&none), NULL, 0) == 0, "grants");
	gate_put_egress_setup(&body, &s);
	must(wire_send(control, GATE_EGRESS_SETUP, buf_view(&body), files, 2) == 0, "egress");
}

/* False: it is gone. */
static bool take(int control, int *n_ready)
{
	struct wire_message m;
	struct gate_event e;

	if (wire_receive(control, &m) != 1)
		return false;
	if (m.type == GATE_READY && ++*n_ready == 2)
		printf("ready\n");
	else if (m.type == GATE_EVENT && gate_get_event(buf_view(&m.body), &e) == 0)
		printf("! %s %.*s\n", e.verdict ? "allow" : "deny", (int)e.subject.n, e.subject.p);
	(void)fflush(stdout);
	wire_message_done(&m);
	return true;
}

int main(int argc, char **argv)
{
	int relay[SOCKETS], egress[SOCKETS], relay_control, egress_control, mints, grants, n_ready = 0;
	struct pollfd p[3];
	pid_t pids[2];

	must(argc >= 6, "usage");
	(void)signal(SIGPIPE, SIG_IGN);
	pair(SOCK_SEQPACKET, &relay_control, &relay[CONTROL]);
	pair(SOCK_SEQPACKET, &egress_control, &egress[CONTROL]);
	pair(SOCK_STREAM, &relay[LINK], &egress[LINK]);
	pair(SOCK_SEQPACKET, &relay[CALLS], &egress[CALLS]);
	pair(SOCK_SEQPACKET, &mints, &relay[VAULT]);
	pair(SOCK_SEQPACKET, &grants, &egress[VAULT]);
	pids[0] = start(argv[1], relay);
	pids[1] = start(argv[2], egress);
	for (int i = 0; i < SOCKETS; i++) {
		(void)close(relay[i]);
		(void)close(egress[i]);
	}
	set_up_relay(relay_control, argv[3], argv[5]);
	set_up_egress(egress_control, grants, argv);
	p[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
	p[1] = (struct pollfd){.fd = relay_control, .events = POLLIN};
	p[2] = (struct pollfd){.fd = egress_control, .events = POLLIN};
	for (;;) {
		if (poll(p, 3, -1) < 0 || p[0].revents)
			break;
		if ((p[1].revents && !take(relay_control, &n_ready)) ||
		    (p[2].revents && !take(egress_control, &n_ready)))
			break;
	}
	(void)close(relay_control);
	(void)close(egress_control);
	(void)waitpid(pids[0], NULL, 0);
	(void)waitpid(pids[1], NULL, 0);
	return 0;
}
