#include "gate/relay/refused.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "gate/relay/events.h"
#include "gate/relay/route.h"
#include "gate/relay/transparent.h"
#include "sys/refused.h"

/* TURN: before others get theirs. LAST: as many as the socket can hold by far; nobody dials any more. */
enum { TURN = 64, LAST = 4096 };

struct relay_refused {
	struct relay *relay;
	struct loop_watch watch;
	uint32_t next; /* number of the next one, if none is lost */
	int fd;
};

struct relay_refused *relay_refused_new(struct relay *r)
{
	struct relay_refused *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->relay = r;
	f->fd = -1;
	return f;
}

void relay_refused_free(struct relay_refused *f)
{
	if (!f)
		return;
	if (f->fd >= 0) {
		loop_watch_remove(&f->watch);
		(void)close(f->fd);
	}
	free(f);
}

static void tell_one(struct relay_refused *f, const struct refused *one)
{
	char text[ADDRESS_TEXT];
	struct address to;
	uint16_t port;

	if (one->number != f->next)
		relay_events_lost(f->relay->events, one->number - f->next);
	f->next = one->number + 1;
	if (transparent_place(&one->to, &to, &port))
		route_refused(f->relay, sv_of(address_text(&to, text)), port);
}

static void tell(struct relay_refused *f, unsigned max)
{
	struct refused one;
	unsigned i;
	int r = 1;

	/* what was lost for want of room is a gap in the numbers */
	for (i = 0; i < max && (r > 0 || r == -ENOBUFS); i++) {
		r = refused_read(f->fd, &one);
		if (r > 0)
			tell_one(f, &one);
	}
}

static void on_refused(void *arg, unsigned events)
{
	(void)events;
	tell(arg, TURN);
}

int relay_refused_listen(struct relay_refused *f, int fd)
{
	int r = f->fd >= 0 ? -EEXIST
			   : loop_watch_add(f->relay->loop, &f->watch, fd, LOOP_READ | LOOP_LEVEL, on_refused, f);

	if (r < 0)
		(void)close(fd);
	else
		f->fd = fd;
	return r;
}

void relay_refused_drain(struct relay_refused *f)
{
	if (f->fd >= 0)
		tell(f, LAST);
}
