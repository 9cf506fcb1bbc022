#include "sandbox/native/pid1_image.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "model/inside.h"
#include "sandbox/common/image_user.h"
#include "sandbox/native/native_image.h"
#include "sandbox/common/root_image.h"
#include "sys/beside.h"
#include "sys/process.h"
#include "sys/userns.h"
#include "wire/wire.h"

enum { PLACES_MAX = 128 * 1024 };

/* The word to go on; what comes before it is what the root is made of. */
static int receive_trees(int socket, struct root_image_trees *t, size_t room)
{
	struct wire_message m;
	size_t i;
	int r;

	for (;;) {
		r = wire_receive(socket, &m);
		if (r == 0)
			_exit(1);
		if (r < 0)
			return r;
		if (m.type != INSIDE_TREES || m.n_fds > room - t->n)
			break;
		for (i = 0; i < m.n_fds; i++)
			t->fds[t->n++] = m.fds[i];
		m.n_fds = 0;
		wire_message_done(&m);
	}
	r = m.type == INSIDE_GO ? 0 : -EPROTO;
	wire_message_done(&m);
	return r;
}

/* Groups that we had outside mean nothing to an image; where there is one id, the kernel lets nobody give them up. */
static int wear_ids(const struct image_ids *ids, struct error *err)
{
	int r;

	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || (ids->count > 1 && setgroups(0, NULL) < 0) ||
	    setresgid(NATIVE_IMAGE_SHIFT, NATIVE_IMAGE_SHIFT, NATIVE_IMAGE_SHIFT) < 0 ||
	    setresuid(NATIVE_IMAGE_SHIFT, NATIVE_IMAGE_SHIFT, NATIVE_IMAGE_SHIFT) < 0)
		return error_sys(err, errno, "user namespace: take on the image's ids");
	r = sys_drop_caps(~UINT64_C(0) >> 23);
	if (r < 0)
		return error_sys(err, r, "user namespace: capabilities");
	/* undone by the change of ids, and needed to write our children's maps; nobody is here yet who could look */
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	return 0;
}

static void tell_places(struct tell *t, const struct buf *made)
{
	AUTO_BUF b = {0};

	if (!made->n)
		return;
	buf_init(&b, PLACES_MAX + 16);
	wire_put_sv(&b, buf_view(made));
	tell_send(t, INSIDE_PLACES, &b, NULL, 0);
}

int pid1_image_root(const struct plan *p, struct tell *t, struct error *err)
{
	size_t n = root_image_trees(p);
	AUTO_FREE int *fds = calloc(n, sizeof(*fds));
	struct root_image_trees trees = {.fds = fds};
	AUTO_BUF made = {0};
	int r;

	if (!fds)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	r = receive_trees(t->socket, &trees, n);
	if (r < 0)
		return error_sys(err, r, "sandbox: the word to go on");
	if (wear_ids(&p->image->ids, err) < 0)
		return -1;
	if (!trees.n && root_image_open(p, &trees, err) < 0)
		return -1;
	if (trees.n != n)
		return error_sys(err, EPROTO, "sandbox: what its root is made of");
	buf_init(&made, PLACES_MAX);
	r = root_image_build(p, &trees, &made, err);
	tell_places(t, &made);
	return r;
}

int pid1_image_net(const struct plan *p, struct error *err)
{
	AUTO_FD net = sys_net_make(p->loopback);
	AUTO_FD ports = -1;

	if (net < 0)
		return error_sys(err, net, "sandbox: network namespace");
	ports = open("/proc/sys/net/ipv4/ip_unprivileged_port_start", O_WRONLY | O_CLOEXEC);
	(void)!write(ports, "0", 1);
	return 0;
}

/* Several may come at the same time, and each closes the door behind itself (confine_limit_objects()). */
int pid1_image_user_joined(const struct plan *p, struct error *err)
{
	const struct timespec pause = {0, 2000000};
	int tries, fd = -1;

	for (tries = 0; tries < 500 && fd < 0; tries++) {
		AUTO_FD limit = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);

		if (tries)
			(void)nanosleep(&pause, NULL);
		(void)!write(limit, "1024", 4);
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		*err = (struct error){0};
		fd = image_user_make(p, NATIVE_IMAGE_SHIFT, err);
		if (fd < 0 && err->code != ENOSPC)
			break;
	}
	return fd;
}
