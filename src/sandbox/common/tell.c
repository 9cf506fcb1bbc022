#include "sandbox/common/tell.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/sockets.h"
#include "wire/wire.h"

enum { MAX_EVENTS_PER_SECOND = 50 };

void tell_send(struct tell *t, enum inside_message type, const struct buf *body, const int *fds, size_t n)
{
	if (wire_send(t->socket, (uint16_t)type, buf_view(body), fds, n) < 0)
		_exit(1); /* nobody supervises us any more */
}

void tell_failed(struct tell *t, uint64_t id, const struct error *err)
{
	AUTO_BUF b = {0};

	buf_init(&b, WIRE_MAX_BODY);
	wire_put_u64(&b, id);
	wire_put_u32(&b, (uint32_t)err->kind);
	wire_put_u32(&b, (uint32_t)err->code);
	wire_put_sv(&b, sv_of(err->text));
	tell_send(t, INSIDE_FAILED, &b, NULL, 0);
}

void tell_give_up(struct tell *t, const struct error *err)
{
	tell_failed(t, 0, err);
	_exit(1);
}

void tell_started(struct tell *t, uint64_t id, pid_t pid, bool terminal, int master)
{
	AUTO_BUF b = {0};

	buf_init(&b, 64);
	wire_put_u64(&b, id);
	wire_put_u32(&b, (uint32_t)pid);
	wire_put_u32(&b, terminal);
	tell_send(t, INSIDE_STARTED, &b, &master, master >= 0);
}

int tell_spaces(struct tell *t, bool sends_fds, struct error *err)
{
	AUTO_FD user = sends_fds ? open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC) : -1;
	AUTO_FD net = sends_fds ? open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC) : -1;
	const int fds[2] = {user, net};
	struct buf none = {0};

	if (sends_fds && (user < 0 || net < 0))
		return error_sys(err, errno, "sandbox: its namespaces");
	tell_send(t, INSIDE_SPACES, &none, fds, sends_fds ? 2 : 0);
	return 0;
}

void tell_proc(struct tell *t)
{
	AUTO_FD proc = open("/proc", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FD sockets = sys_sockets_open();
	const int fds[2] = {proc, sockets};
	const struct buf none = {0};

	if (proc >= 0)
		tell_send(t, INSIDE_PROC, &none, fds, sockets >= 0 ? 2 : 1);
}

void tell_ahead(struct tell *t, pid_t pid, uint64_t spawns)
{
	AUTO_BUF b = {0};

	buf_init(&b, 64);
	wire_put_u32(&b, (uint32_t)pid);
	wire_put_u64(&b, spawns);
	tell_send(t, INSIDE_AHEAD, &b, NULL, 0);
}

void tell_stopped(struct tell *t, uint64_t id, int sig)
{
	AUTO_BUF b = {0};

	buf_init(&b, 64);
	wire_put_u64(&b, id);
	wire_put_u32(&b, (uint32_t)sig);
	tell_send(t, INSIDE_STOPPED, &b, NULL, 0);
}

void tell_heard(struct tell *t)
{
	const struct buf none = {0};

	tell_send(t, INSIDE_HEARD, &none, NULL, 0);
}

static uint64_t microseconds(struct timeval v)
{
	return (uint64_t)v.tv_sec * 1000000 + (uint64_t)v.tv_usec;
}

void tell_exited(struct tell *t, uint64_t id, int status, const struct rusage *usage)
{
	AUTO_BUF b = {0};

	buf_init(&b, 64);
	wire_put_u64(&b, id);
	wire_put_u32(&b, (uint32_t)status);
	wire_put_u64(&b, microseconds(usage->ru_utime));
	wire_put_u64(&b, microseconds(usage->ru_stime));
	wire_put_u64(&b, (uint64_t)usage->ru_maxrss);
	tell_send(t, INSIDE_EXITED, &b, NULL, 0);
}

void tell_untold(struct tell *t)
{
	AUTO_BUF b = {0};

	if (!t->untold)
		return;
	buf_init(&b, 64);
	wire_put_u64(&b, t->untold);
	t->untold = 0;
	tell_send(t, INSIDE_UNTOLD, &b, NULL, 0);
}

void tell_denied(struct tell *t, enum event_domain domain, const char *rule, struct sv text)
{
	struct timespec now;
	AUTO_BUF b = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec != t->second) {
		tell_untold(t);
		t->second = now.tv_sec;
		t->events = 0;
	}
	if (++t->events > MAX_EVENTS_PER_SECOND) {
		t->untold++;
		return;
	}
	buf_init(&b, WIRE_MAX_BODY);
	wire_put_u32(&b, (uint32_t)domain);
	wire_put_sv(&b, sv_of(rule));
	wire_put_sv(&b, text);
	tell_send(t, INSIDE_DENIED, &b, NULL, 0);
}
