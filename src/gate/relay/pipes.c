#include "gate/relay/pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int pipes_take(struct pipes *p, struct pipe_pair *ret)
{
	int fds[2];

	if (p->taken == PIPES_MAX)
		return -EMFILE;
	if (p->n) {
		p->taken++;
		*ret = p->free[--p->n];
		return 0;
	}
	if (pipe2(fds, O_NONBLOCK | O_CLOEXEC) < 0)
		return -errno;
	p->taken++;
	(void)fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES);
	*ret = (struct pipe_pair){fds[0], fds[1]};
	return 0;
}

static void shut(struct pipe_pair *pair)
{
	(void)close(pair->out);
	(void)close(pair->in);
}

void pipes_give(struct pipes *p, struct pipe_pair *pair, int empty)
{
	if (pair->out < 0)
		return;
	p->taken--;
	if (empty && p->n < PIPES_KEPT)
		p->free[p->n++] = *pair;
	else
		shut(pair);
	*pair = (struct pipe_pair){-1, -1};
}

void pipes_done(struct pipes *p)
{
	while (p->n)
		shut(&p->free[--p->n]);
}
