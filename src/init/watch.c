#include "init/watch.h"

#include <errno.h>
#include <stddef.h>

enum { BATCH = 64 };

int watch_set(int epoll, struct watch *w, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = w};

	if (w->on && w->events == events)
		return 0;
	if (epoll_ctl(epoll, w->on ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, w->fd, &e) < 0)
		return -errno;
	w->on = true;
	w->events = events;
	return 0;
}

void watch_drop(int epoll, struct watch *w)
{
	if (w->on)
		(void)epoll_ctl(epoll, EPOLL_CTL_DEL, w->fd, NULL);
	w->on = false;
}

int watch_run(int epoll, int timeout_ms)
{
	struct epoll_event v[BATCH];
	int i, n = epoll_wait(epoll, v, BATCH, timeout_ms);
	struct watch *w;

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (i = 0; i < n; i++) {
		w = v[i].data.ptr;
		if (w->on) /* not dropped by one before it */
			w->fn(w->arg, v[i].events);
	}
	return 0;
}
