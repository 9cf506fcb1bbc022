#include "supervise/watch_sockets.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "supervise/watch_proc.h"
#include "sys/sockets.h"

enum { LOOK_US = 200000, LOOK_SHARE = 50 };

void watch_sockets_init(struct watch_sockets *s)
{
	*s = (struct watch_sockets){.fd = -1, .least = UINT64_MAX};
}

void watch_sockets_done(struct watch_sockets *s)
{
	cleanup_fd(&s->fd);
	s->fd = -1;
}

uint64_t watch_sockets_number(const char *sockstat)
{
	return watch_proc_number(sockstat, "sockets: used");
}

static uint64_t pages_of(const char *sockstat, const char *protocol)
{
	const char *line = strstr(sockstat, protocol);

	return line ? watch_proc_number(line, " mem ") : 0;
}

uint64_t watch_sockets_memory(const char *sockstat)
{
	return (pages_of(sockstat, "\nTCP:") + pages_of(sockstat, "\nUDP:")) * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool watch_sockets_take(struct watch_sockets *s, int fd)
{
	AUTO_FD proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD asks = fd;
	char text[1024];

	if (s->fd >= 0 || !sys_sockets_is(asks))
		return false;
	s->fd = fd_take(&asks);
	/* before anything runs inside: buffers fill in a few milliseconds */
	if (proc >= 0 && watch_proc_read(proc, "self", "net/sockstat", text, sizeof(text)) > 0)
		s->least = watch_sockets_memory(text);
	return true;
}

/* What a program may ask for is doubled by the kernel, and one packet more fits in. */
static uint64_t most_of_one(void)
{
	static const char *const limits[] = {"rmem_max", "wmem_max"};
	AUTO_FD folder = open("/proc/sys/net", O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t most = 212992, v;
	char text[64] = " ";
	size_t i;

	for (i = 0; folder >= 0 && i < ARRAY_LEN(limits); i++) {
		if (watch_proc_read(folder, "core", limits[i], text + 1, sizeof(text) - 1) <= 0)
			continue;
		v = watch_proc_number(text, " ");
		most = v > most ? v : most;
	}
	return 2 * most + 65536;
}

uint64_t watch_sockets_others(uint64_t listed, uint64_t all, uint64_t each)
{
	uint64_t n = all > listed && all - listed > WATCH_SOCKETS_FEW ? all - listed - WATCH_SOCKETS_FEW : 0;

	return n > UINT64_MAX / each ? UINT64_MAX : n * each;
}

void watch_sockets_look(struct watch_sockets *s, int proc, uint64_t most)
{
	uint64_t start = watch_proc_spent_us(), pause;
	struct sys_sockets sum = {0};
	char text[1024] = "";
	uint64_t held;

	if (s->fd < 0)
		return;
	/* what it cannot list is there all the same */
	(void)sys_sockets_sum(s->fd, most, &s->refused, &sum);
	s->bytes = sum.bytes;
	s->others = s->grown = 0;
	if (sum.bytes <= most && proc >= 0 && watch_proc_read(proc, "1", "net/sockstat", text, sizeof(text)) > 0) {
		s->others = watch_sockets_others(sum.n, watch_sockets_number(text), most_of_one());
		held = watch_sockets_memory(text);
		s->least = held < s->least ? held : s->least;
		s->grown = s->others && held - s->least > sum.bytes ? held - s->least - sum.bytes : 0;
		s->grown = s->grown < s->others ? s->grown : s->others;
	}
	pause = (watch_proc_spent_us() - start) * LOOK_SHARE;
	s->after_us = (uint64_t)now_us() + (pause > LOOK_US ? pause : LOOK_US);
}

void watch_sockets_look_again(struct watch_sockets *s, int proc, uint64_t most)
{
	if (s->fd >= 0 && (uint64_t)now_us() >= s->after_us)
		watch_sockets_look(s, proc, most);
}
