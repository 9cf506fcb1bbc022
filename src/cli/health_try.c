#include "cli/health_try.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/door.h"
#include "base/text.h"
#include "cli/launch_box.h"
#include "model/gate.h"
#include "model/inside.h"
#include "plan/plan_build.h"
#include "policy/policy_fields.h"
#include "supervise/state.h"
#include "wire/wire.h"

enum { SAID_MAX = 4096 };

struct trial {
	struct health *h;
	struct policy *policy;
	struct plan *plan;
	struct box *box;
	char init[PATH_MAX];
	char option[8], port[16];
	char *argv[4];
	int out;	    /* what the command says */
	char word[17];	    /* that the door gives to whoever comes through it */
	struct buf said;
	bool exited; /* the command, as its PID 1 says */
	struct error err;
};

/* With what the runtime has to say about it, where it says something. */
static void fail(struct trial *t, const char *what)
{
	char said[200] = "";

	if (t->box && t->box->backend->said && !t->exited)
		(void)t->box->backend->said(t->box, said, sizeof(said));
	(void)snprintf(t->h->what, sizeof(t->h->what), "%.190s%s%s", what, said[0] && !strstr(what, said) ? ": " : "",
		       said[0] && !strstr(what, said) ? said : "");
}

/* The least that a run could be: no folder, one way out. cordon-init itself is the command, since every machine has
 * that. */
static int make_plan(struct trial *t, const struct cli_folders *folders)
{
	static char path[] = "PATH=/usr/bin:/bin";
	char *env[] = {path, NULL};
	static const struct plan_gate gate = {0};
	struct plan_request req = {
		.argv = t->argv, .env = env, .home = folders->home, .state_dir = folders->state, .gate = &gate};
	struct pol_str *read;
	size_t i;

	t->policy = policy_new();
	if (!t->policy || policy_fields_preset(t->policy) < 0 || !(read = arena_alloc(t->policy->arena, sizeof(*read))))
		return error_set(&t->err, ERROR_SYSTEM, "out of memory");
	read->s = t->init;
	t->policy->fs.read = (struct pol_list){.v = read, .n = 1, .set = true};
	t->policy->fs.workdir.v = WORKDIR_NONE;
	t->policy->net.mode.v = NET_ALLOWLIST;
	req.policy = t->policy;
	t->argv[0] = t->init;
	t->argv[1] = t->option;
	t->argv[2] = t->port;
	if (plan_build(&req, &t->plan, &t->err) < 0)
		return -1;
	for (i = 0; i < t->plan->n_listeners; i++)
		if (t->plan->listeners[i].kind == GATE_LISTEN_PROXY)
			(void)snprintf(t->port, sizeof(t->port), "%u", t->plan->listeners[i].port);
	t->plan->argv = t->argv;
	return 0;
}

static int start(struct trial *t, const struct box_backend *backend, const char *boxes)
{
	int64_t begin = health_now();
	struct box_ids ids;
	struct box_request req = {.backend = backend, .plan = t->plan, .root = boxes, .ids = &ids, .init = t->init};
	char id[STATE_ID];

	state_id(id);
	req.id = id;
	backend->ids(t->plan, &ids);
	if (box_new(&req, &t->box, &t->err) < 0 || backend->start(t->box, &t->err) < 0 ||
	    box_connect(t->box, HEALTH_MS, &t->err) < 0)
		return -1;
	t->h->start_ms = (uint32_t)(health_now() - begin);
	return 0;
}

static int go(struct trial *t)
{
	AUTO_FD null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct box_stdio stdio = {.fds = {null, -1, null}};
	int ends[2], r;

	if (null < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(&t->err, errno, "pipe");
	t->out = ends[0];
	stdio.fds[1] = ends[1];
	r = box_go(t->box, &stdio, &t->err);
	(void)close(ends[1]);
	return r;
}

/* Whoever comes gets the word, if it came as a stream to the proxy comes. */
static void answer_door(struct trial *t)
{
	AUTO_FD fd = accept4(t->box->door, NULL, NULL, SOCK_CLOEXEC);
	unsigned char header[DOOR_HEADER];
	struct timeval limit = {.tv_sec = 2};
	struct door_header h;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0)
		return;
	if (recv(fd, header, sizeof(header), MSG_WAITALL) == (ssize_t)sizeof(header) && door_get(header, &h) == 0 &&
	    h.kind == DOOR_PROXY)
		(void)!write(fd, t->word, sizeof(t->word) - 1);
}

/* 1: there may be more; 0: nothing more will come; -1: the command was not started. */
static int hear_init(struct trial *t)
{
	struct wire_message m = {0};
	struct text_shown shown;
	struct wire_in in;
	int r = wire_receive(t->box->socket, &m);

	if (r > 0 && m.type == INSIDE_FAILED) {
		wire_in_init(&in, buf_view(&m.body));
		(void)wire_get_u64(&in);
		(void)wire_get_u32(&in);
		(void)wire_get_u32(&in);
		r = error_set(&t->err, ERROR_SYSTEM, "%s", text_show(&shown, wire_get_sv(&in)));
	} else {
		t->exited = t->exited || (r > 0 && m.type == INSIDE_EXITED);
		r = r > 0;
	}
	wire_message_done(&m);
	return r;
}

/* Until the command has said all that it has to say: what it said may come after the news of its end. The time limit is
 * our parent's. */
static int listen_to(struct trial *t)
{
	struct pollfd p[] = {{.fd = t->out, .events = POLLIN},
			     {.fd = t->box->door, .events = POLLIN},
			     {.fd = t->box->socket, .events = POLLIN}};
	char chunk[512];
	ssize_t n;
	int r;

	for (;;) {
		if (poll(p, ARRAY_LEN(p), -1) < 0 && errno != EINTR)
			return error_sys(&t->err, errno, "poll");
		if (p[1].revents)
			answer_door(t);
		if (p[2].revents) {
			r = hear_init(t);
			if (r < 0)
				return -1;
			p[2].fd = r ? p[2].fd : -1;
		}
		if (p[0].revents) {
			n = read(t->out, chunk, sizeof(chunk));
			if (n <= 0)
				return 0;
			if (buf_add(&t->said, chunk, (size_t)n) < 0)
				return error_set(&t->err, ERROR_SYSTEM, "the command said more than it should");
		}
	}
}

/* The command's words: "probe", "interface NAME" for each but loopback, "looked", "door WORD". */
static void judge(struct trial *t)
{
	const char *said = t->said.p ? t->said.p : "", *other = strstr(said, "\ninterface ");
	struct text_shown shown;
	char want[32];

	if (strncmp(said, "probe\n", 6) != 0) {
		fail(t, t->exited ? "the container started, but its command did not run"
				  : "the container ended before its command did");
		return;
	}
	t->h->failed = HEALTH_NETWORK;
	if (other) {
		other += strlen("\ninterface ");
		(void)snprintf(t->h->what, sizeof(t->h->what),
			       "the container has a network interface %s, which must not be",
			       text_show(&shown, sv_n(other, strcspn(other, "\n"))));
		return;
	}
	if (!strstr(said, "\nlooked\n")) {
		fail(t, "the container's network interfaces cannot be seen");
		return;
	}
	t->h->failed = HEALTH_DOOR;
	(void)snprintf(want, sizeof(want), "\ndoor %s\n", t->word);
	if (!strstr(said, want)) {
		fail(t, "the gateway's door cannot be reached from inside");
		return;
	}
	t->h->failed = HEALTH_CLEAN;
}

static void tidy(struct trial *t)
{
	AUTO_FREE char *dir = t->box ? strdup(t->box->dir) : NULL;

	box_free(t->box);
	if (t->h->failed == HEALTH_CLEAN) {
		if (dir && access(dir, F_OK) < 0)
			t->h->failed = HEALTH_STEPS;
		else
			fail(t, "the container's folder could not be removed");
	}
	if (t->out >= 0)
		(void)close(t->out);
	buf_done(&t->said);
	plan_free(t->plan);
	policy_free(t->policy);
}

void health_try(const struct box_backend *backend, const struct cli_folders *folders, const char *boxes,
		struct health *h)
{
	struct trial t = {.h = h, .out = -1, .option = "--probe"};
	char id[STATE_ID];

	buf_init(&t.said, SAID_MAX);
	state_id(id);
	(void)snprintf(t.word, sizeof(t.word), "%s%s", id, id);
	h->failed = HEALTH_STARTED;
	if (launch_box_init(t.init, &t.err) < 0 || make_plan(&t, folders) < 0 || start(&t, backend, boxes) < 0) {
		fail(&t, t.err.text);
	} else {
		h->failed = HEALTH_RAN;
		if (go(&t) < 0 || listen_to(&t) < 0)
			fail(&t, t.err.text);
		else
			judge(&t);
	}
	tidy(&t);
}
