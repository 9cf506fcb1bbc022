#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "model/inside.h"
#include "supervise/control.h"

enum { LONG = 100 * 1024, FEW = 64 };

/* A supervisor with nobody but us on either side. */
struct world {
	char id[48];
	int near, far; /* to PID 1, and what it reads */
	struct plan plan;
	struct outbox out;
	struct control control;
	unsigned started;
};

static int64_t no_time(void)
{
	return 1;
}

static void count_started(void *arg, char *const *argv)
{
	struct world *w = arg;

	(void)argv;
	w->started++;
}

static void world_init(struct world *w, const char **env)
{
	int pair[2] = {-1, -1};

	*w = (struct world){.plan = {.env = (char **)(uintptr_t)env, .cwd = "/"}};
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	w->near = pair[0];
	w->far = pair[1];
	(void)snprintf(w->id, sizeof(w->id), "test-control-%d", (int)getpid());
	outbox_init(&w->out, w->near);
	control_init(&w->control, w->id, &w->plan, &w->out, no_time);
	w->control.open = w->control.timed = true;
	w->control.started = count_started;
	w->control.arg = w;
}

static void world_done(struct world *w)
{
	control_done(&w->control);
	(void)close(w->near);
	(void)close(w->far);
}

static void serve(struct world *w)
{
	struct pollfd p[CONTROL_CLIENTS + 1];
	size_t n = control_poll(&w->control, p);

	CHECK(poll(p, (nfds_t)n, 0) >= 0);
	control_serve(&w->control, p, n);
}

static int connect_to(struct world *w)
{
	int fd = control_connect(w->id);

	CHECK(fd >= 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	serve(w);
	return fd;
}

static void ask_for(struct world *w, int client, const char *word, uint32_t tty_bits)
{
	char *const argv[] = {(char *)(uintptr_t) "true", (char *)(uintptr_t)word, NULL};
	struct inside_spawn s = {.argv = argv, .cwd = "", .tty_bits = tty_bits};
	AUTO_BUF b = {0};

	buf_init(&b, WIRE_MAX_BODY);
	inside_spawn_encode(&s, &b);
	CHECK(wire_send(client, INSIDE_SPAWN, buf_view(&b), (int[]){0, 1, 2}, 3) == 0);
	serve(w);
}

/* What the client is told: a type; 0: it was dropped; -errno (-EAGAIN: nothing). The text, of a failure. */
static int told(int client, char *text, size_t n)
{
	struct wire_message m;
	struct wire_in in;
	struct sv said;
	int r = wire_receive(client, &m);

	if (r <= 0)
		return r;
	wire_in_init(&in, buf_view(&m.body));
	CHECK(wire_get_u64(&in) == 0);
	(void)wire_get_u32(&in);
	(void)wire_get_u32(&in);
	said = wire_get_sv(&in);
	(void)snprintf(text, n, "%.*s", (int)said.n, said.p);
	r = wire_ok(&in) ? m.type : -EBADMSG;
	wire_message_done(&m);
	return r;
}

static void ask_to_take_with(struct world *w, int client, uint32_t alone, const char *policy, const char *likeness,
			     size_t n)
{
	AUTO_BUF b = {0};

	buf_init(&b, 128);
	wire_put_u32(&b, alone);
	wire_put_sv(&b, sv_of(policy));
	wire_put_sv(&b, sv_n(likeness, n));
	wire_put_sv(&b, sv_n(likeness, n));
	CHECK(wire_send(client, INSIDE_TAKE, buf_view(&b), NULL, 0) == 0);
	serve(w);
}

static void ask_to_take(struct world *w, int client, uint32_t alone, const char *policy)
{
	ask_to_take_with(w, client, alone, policy, "", 0);
}

/* The first word of the answer: 1, 0, or CONTROL_... of a push; -1: there is none. */
static int answer(int client, uint32_t type)
{
	struct wire_message m;
	struct wire_in in;
	int r;

	if (wire_receive(client, &m) != 1)
		return -1;
	wire_in_init(&in, buf_view(&m.body));
	r = m.type == type ? (int)wire_get_u32(&in) : -1;
	wire_message_done(&m);
	return r;
}

static bool pid1_heard(const struct world *w)
{
	struct wire_message m;
	bool yes;

	(void)fcntl(w->far, F_SETFL, O_NONBLOCK);
	yes = wire_receive(w->far, &m) == 1;
	if (yes)
		wire_message_done(&m);
	return yes;
}

/* A client that was refused leaves nothing behind, and others are served. */
static void check_refused(struct world *w, int client, const char *why)
{
	char text[512] = "";
	size_t i;

	CHECK(told(client, text, sizeof(text)) == INSIDE_FAILED);
	CHECK(strstr(text, why));
	CHECK(w->started == 0 && w->control.last[0] == '\0' && !pid1_heard(w));
	(void)close(client);
	serve(w);
	for (i = 0; i < CONTROL_CLIENTS; i++)
		CHECK(w->control.clients[i].id == 0 && w->control.clients[i].fd < 0 &&
		      w->control.clients[i].terminal < 0);
}

static void a_command_that_is_too_long_is_refused_and_nothing_else_happens(void)
{
	static char word[LONG], variable[LONG];
	const char *env[] = {variable, NULL};
	struct world w;
	int i, client;

	memset(word, 'x', sizeof(word) - 1);
	memset(variable, 'V', sizeof(variable) - 1);
	world_init(&w, env);
	for (i = 0; i < CONTROL_CLIENTS + 1; i++) {
		client = connect_to(&w);
		ask_for(&w, client, word, 0);
		check_refused(&w, client, "too long");
	}
	client = connect_to(&w);
	ask_for(&w, client, "short", 0);
	CHECK(w.started == 1 && pid1_heard(&w));
	(void)close(client);
	world_done(&w);
}

static void a_command_that_cannot_be_passed_on_is_refused_and_nothing_else_happens(void)
{
	const char *env[] = {NULL};
	struct rlimit before, few;
	struct world w;
	int client, fill[FEW], n, i;

	world_init(&w, env);
	w.control.carries = true;
	client = connect_to(&w);
	CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
	few = before;
	few.rlim_cur = FEW;
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	/* room for what comes with the request, and not for a terminal's stream */
	for (n = 0; n < FEW && (fill[n] = dup(0)) >= 0; n++)
		;
	for (i = 0; i < 3; i++)
		(void)close(fill[--n]);
	ask_for(&w, client, "word", 1);
	while (n > 0)
		(void)close(fill[--n]);
	CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
	check_refused(&w, client, "cannot be passed on");
	world_done(&w);
}

static void what_is_taken_stays_taken_whoever_asks(void)
{
	const char *env[] = {NULL};
	int first, other, i;
	struct world w;
	char text[512];

	world_init(&w, env);
	first = connect_to(&w);
	ask_to_take(&w, first, 1, "");
	CHECK(answer(first, INSIDE_TAKEN) == 1);
	for (i = 0; i < 3; i++) {
		other = connect_to(&w);
		ask_to_take(&w, other, 1, "");
		CHECK(told(other, text, sizeof(text)) == 0);
		(void)close(other);
		CHECK(w.control.taken && !w.control.left);
	}
	other = connect_to(&w);
	ask_for(&w, other, "word", 0);
	CHECK(told(other, text, sizeof(text)) == 0 && w.started == 0);
	ask_for(&w, first, "word", 0);
	CHECK(w.started == 1 && pid1_heard(&w));
	(void)close(other);
	(void)close(first);
	serve(&w);
	CHECK(w.control.left);
	world_done(&w);
}

static void a_sandbox_with_another_policy_is_not_taken(void)
{
	const char *env[] = {NULL};
	struct world w;
	int client;

	world_init(&w, env);
	w.control.prepared = true;
	(void)snprintf(w.control.policy, sizeof(w.control.policy), "second");
	client = connect_to(&w);
	ask_to_take(&w, client, 1, "first");
	CHECK(answer(client, INSIDE_TAKEN) == 0 && !w.control.taken);
	ask_for(&w, client, "word", 0);
	CHECK(w.started == 0);
	(void)close(client);
	serve(&w);
	CHECK(!w.control.left);
	w.control.prepared = false;
	client = connect_to(&w);
	ask_to_take(&w, client, 0, "first");
	CHECK(answer(client, INSIDE_TAKEN) == 0);
	ask_to_take(&w, client, 0, "second");
	CHECK(answer(client, INSIDE_TAKEN) == 1 && !w.control.taken);
	CHECK(wire_send(client, INSIDE_TAKE, sv_n("", 0), NULL, 0) == 0);
	serve(&w);
	CHECK(answer(client, INSIDE_TAKEN) == -1);
	(void)close(client);
	world_done(&w);
}

static void compared_later(void *arg, uint64_t question, const struct gate_likeness *theirs)
{
	uint64_t *asked = arg;

	CHECK(theirs->nonce[0] == 'n');
	*asked = question;
}

static void a_sandbox_with_a_gateway_is_taken_only_where_that_says_that_its_credentials_are_the_takers(void)
{
	char likeness[GATE_LIKENESS_BYTES];
	const char *env[] = {NULL};
	uint64_t asked = 0;
	int client, gone;
	struct world w;

	memset(likeness, 'n', sizeof(likeness));
	world_init(&w, env);
	w.control.prepared = true;
	w.control.compare = compared_later;
	w.control.compare_arg = &asked;
	client = connect_to(&w);
	ask_to_take(&w, client, 1, ""); /* says nothing of them */
	CHECK(answer(client, INSIDE_TAKEN) == CONTROL_OTHER_CREDENTIALS && !asked);
	ask_to_take_with(&w, client, 1, "", likeness, sizeof(likeness));
	CHECK(asked == 1 && !w.control.taken);
	control_compared(&w.control, 1, false);
	CHECK(answer(client, INSIDE_TAKEN) == CONTROL_OTHER_CREDENTIALS && !w.control.taken);
	gone = connect_to(&w);
	ask_to_take_with(&w, gone, 1, "", likeness, sizeof(likeness));
	(void)close(gone);
	serve(&w);
	control_compared(&w.control, asked, true); /* whoever asked has left */
	CHECK(asked == 2 && !w.control.taken);
	ask_to_take_with(&w, client, 1, "", likeness, sizeof(likeness));
	(void)snprintf(w.control.policy, sizeof(w.control.policy), "pushed");
	control_compared(&w.control, asked, true);
	CHECK(answer(client, INSIDE_TAKEN) == CONTROL_OTHER_POLICY && !w.control.taken);
	ask_to_take_with(&w, client, 1, "pushed", likeness, sizeof(likeness));
	ask_for(&w, client, "word", 0); /* not before the answer */
	CHECK(w.started == 0);
	control_compared(&w.control, asked, true);
	CHECK(!w.control.taken); /* and whoever did is gone */
	(void)close(client);
	client = connect_to(&w);
	ask_to_take_with(&w, client, 1, "pushed", likeness, sizeof(likeness));
	control_compared(&w.control, asked, true);
	CHECK(answer(client, INSIDE_TAKEN) == CONTROL_TAKEN && w.control.taken);
	(void)close(client);
	world_done(&w);
}

static int pushed(void *arg, const char *path, struct error *err)
{
	struct world *w = arg;

	(void)path;
	(void)err;
	w->started++;
	return 0;
}

static void push_to(struct world *w, int client)
{
	AUTO_BUF b = {0};

	buf_init(&b, 128);
	wire_put_sv(&b, sv_of("/p.yaml"));
	CHECK(wire_send(client, INSIDE_PUSH, buf_view(&b), NULL, 0) == 0);
	serve(w);
}

static void a_prepared_sandbox_gets_no_other_policy_before_it_is_taken(void)
{
	const char *env[] = {NULL};
	int pusher, taker;
	struct world w;

	world_init(&w, env);
	w.control.prepared = true;
	w.control.push = pushed;
	pusher = connect_to(&w);
	taker = connect_to(&w);
	push_to(&w, pusher);
	CHECK(answer(pusher, INSIDE_PUSHED) == CONTROL_NOT_PUSHED && w.started == 0);
	ask_to_take(&w, taker, 1, "");
	push_to(&w, pusher);
	CHECK(answer(pusher, INSIDE_PUSHED) == CONTROL_PUSHED && w.started == 1);
	(void)close(pusher);
	(void)close(taker);
	world_done(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_command_that_is_too_long_is_refused_and_nothing_else_happens),
		CASE(a_command_that_cannot_be_passed_on_is_refused_and_nothing_else_happens),
		CASE(what_is_taken_stays_taken_whoever_asks),
		CASE(a_sandbox_with_another_policy_is_not_taken),
		CASE(a_sandbox_with_a_gateway_is_taken_only_where_that_says_that_its_credentials_are_the_takers),
		CASE(a_prepared_sandbox_gets_no_other_policy_before_it_is_taken),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
