#include "vault/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/process.h"
#include "vault/source.h"
#include "vault/vault.h"
#include "wire/wire.h"

enum { RUNNER_SOCKET = 3 };

static int answer(int sock, uint32_t index, const struct credential *c)
{
	AUTO_BUF value = {0};
	AUTO_BUF body = {0};
	struct error err = {0};
	int r;

	r = source_fetch(&c->from, &value, &err);
	buf_init(&body, WIRE_MAX_BODY);
	body.p = malloc(SOURCE_MAX + 1024); /* in full size: growing would leave copies behind */
	if (!body.p)
		return -ENOMEM;
	body.cap = SOURCE_MAX + 1024;
	wire_put_u32(&body, index);
	wire_put_u32(&body, r == 0);
	wire_put_sv(&body, r == 0 ? buf_view(&value) : sv_of(err.text));
	r = wire_send(sock, VAULT_FETCHED, buf_view(&body), NULL, 0);
	source_wipe(&value);
	source_wipe(&body);
	return r;
}

static int serve(int sock, const struct credentials *credentials)
{
	struct wire_message m;
	struct wire_in in;
	uint32_t index;
	int r;

	while ((r = wire_receive(sock, &m)) > 0) {
		wire_in_init(&in, buf_view(&m.body));
		index = wire_get_u32(&in);
		r = m.type == VAULT_FETCH && wire_ok(&in) && index < credentials->n
			    ? answer(sock, index, &credentials->v[index])
			    : -EPROTO;
		wire_message_done(&m);
		if (r < 0)
			break;
	}
	return r < 0;
}

pid_t runner_start(const struct credentials *credentials, int *ret_socket)
{
	pid_t pid, parent = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		if (getppid() != parent || (pair[1] != RUNNER_SOCKET && dup3(pair[1], RUNNER_SOCKET, O_CLOEXEC) < 0) ||
		    sys_close_from(RUNNER_SOCKET + 1) < 0)
			_exit(1);
		_exit(serve(RUNNER_SOCKET, credentials));
	}
	if (pid < 0)
		pid = -errno;
	(void)close(pair[1]);
	if (pid < 0)
		(void)close(pair[0]);
	else
		*ret_socket = pair[0];
	return pid;
}
