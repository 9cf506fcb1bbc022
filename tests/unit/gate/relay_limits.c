/* What holds over time: policies that change, logs that are full, tables that are full, other roles that end. */
#include "gate/relay/pipes.h"
#include "relay_world.h"

static void a_new_policy_closes_what_it_forbids(void)
{
	struct world w = world_start(usual_policy);
	int client, up, stays, stays_up;
	uint64_t id, other;

	client = connect_to(&w, "db.test:5432");
	(void)asked(&w, &id);
	up = give_up(&w, id);
	CHECK(heard(client, established));
	open_tunnel(&w, "plain.test:443", &stays, &stays_up, &other);
	send_policy(&w, "network: {mode: allowlist, allow: [{host: plain.test}]}");
	CHECK(is_reset(client) && is_closed(up) && is_over(&w, id));
	(void)close(client);
	client = connect_to(&w, "db.test:5432");
	CHECK_HAS(hear_all(client), " 403 ");
	(void)close(client);
	/* One that was dialled before, and whose client has not spoken yet, is judged again when it does. */
	send_policy(&w, "network: {mode: allowlist, allow: [{host: plain.test, methods: [GET]}]}");
	{
		AUTO_BUF hello = {0};

		buf_init(&hello, 4096);
		client_hello("plain.test", &hello);
		say(stays, buf_view(&hello));
		CHECK(is_closed(stays_up) && is_closed(stays) && is_over(&w, other));
	}
	(void)close(stays);
	(void)close(stays_up);
	(void)close(up);
	world_stop(&w);
}

static void nothing_new_is_served_while_nothing_can_be_logged(void)
{
	struct world w = world_start(usual_policy);
	unsigned char a[1500];
	const char *answer;
	int client;
	uint64_t id;

	send_quiet(&w, 1);
	client = connect_to(&w, "plain.test:443");
	answer = hear_all(client);
	CHECK_HAS(answer, "HTTP/1.1 503 ");
	CHECK_HAS(answer, "{\"error\":");
	(void)close(client);
	CHECK(ask_udp(&w, "plain.test", 1, a) && (a[3] & 15) == 2);
	CHECK(is_silent(w.calls, 0));
	send_quiet(&w, 0);
	client = connect_to(&w, "plain.test:443");
	CHECK_STR(asked(&w, &id), "plain.test:443");
	(void)close(client);
	world_stop(&w);
}

static void what_is_allowed_is_told_once_and_then_counted(void)
{
	struct world w = world_start(usual_policy);
	struct wire_message m;
	struct gate_event e;
	unsigned count = 0;
	uint64_t id;
	int i, client, up;

	for (i = 0; i < 4; i++) {
		client = connect_to(&w, "db.test:5432");
		(void)asked(&w, &id);
		up = give_up(&w, id);
		CHECK(heard(client, established));
		(void)close(client);
		(void)close(up);
		CHECK(is_over(&w, id));
	}
	for (i = 0; count < 4 && i < 4; i++) {
		CHECK(next_event(&w, &m, &e) && e.verdict == 1 && sv_is(e.subject, "db.test:5432"));
		CHECK(sv_starts(e.rule, "network.allow db.test (p.yaml:"));
		count += e.count;
		wire_message_done(&m);
	}
	CHECK(count == 4);
	world_stop(&w);
}

static void denials_above_a_rate_are_counted(void)
{
	struct world w = world_start(usual_policy);
	struct wire_message m;
	struct gate_event e;
	unsigned told = 0, counted = 0, i;
	unsigned char a[1500];

	for (i = 0; i < 120; i++)
		CHECK(ask_udp(&w, "other.test", 1, a));
	while (counted < 120 && next_event(&w, &m, &e)) {
		told++;
		counted += e.count;
		wire_message_done(&m);
	}
	CHECK(counted == 120 && told < 120);
	world_stop(&w);
}

static void what_was_only_counted_is_told_at_the_end(void)
{
	struct world w = world_start(usual_policy);
	struct gate_usage u = {0};
	struct wire_message m;
	uint64_t id;
	int client, up, status = -1;

	client = connect_to(&w, "db.test:5432");
	(void)asked(&w, &id);
	up = give_up(&w, id);
	CHECK(heard(client, established));
	say(client, sv_of("12345"));
	CHECK(heard(up, "12345"));
	CHECK(shutdown(w.control, SHUT_WR) == 0);
	set_wait(w.control);
	while (wire_receive(w.control, &m) == 1) {
		if (m.type == GATE_USAGE)
			CHECK(gate_get_usage(buf_view(&m.body), &u) == 0);
		wire_message_done(&m);
	}
	CHECK(u.bytes_out == 5 && u.requests == 1 && u.denied == 0);
	CHECK(waitpid(w.pid, &status, 0) == w.pid && status == 0);
	(void)close(client);
	(void)close(up);
	(void)close(w.control);
	(void)close(w.link);
	(void)close(w.calls);
	(void)close(w.vault);
}

static void idle_connections_make_room_for_others(void)
{
	enum { IDLE = 900 };
	struct world w = world_start_with(usual_policy, 1600, 0); /* so that it has room for some 480 */
	static int idle[IDLE];
	uint64_t id, before;
	int i, client, closed = 0, first, up;

	/* One that waits for egress is not idle, however long that takes. */
	first = connect_to(&w, "db.test:5432");
	CHECK_STR(asked(&w, &before), "db.test:5432");
	for (i = 0; i < IDLE; i++)
		idle[i] = dial("127.0.0.1", i % 2 ? w.proxy : w.inference);
	client = connect_to(&w, "plain.test:443");
	CHECK_STR(asked(&w, &id), "plain.test:443");
	for (i = 0; i < IDLE; i++)
		closed += !is_silent(idle[i], 0);
	CHECK(closed > 100 && closed < IDLE);
	/* oldest first */
	CHECK(!is_silent(idle[0], 0) && is_silent(idle[IDLE - 1], 0));
	up = give_up(&w, before);
	CHECK(heard(first, established));
	(void)close(first);
	(void)close(up);
	for (i = 0; i < IDLE; i++)
		(void)close(idle[i]);
	(void)close(client);
	world_stop(&w);
}

static void much_passes_unchanged_through_slow_readers(void)
{
	enum { CHUNK = 1 << 16, TOTAL = 48 << 20 };
	static char out[CHUNK], in[CHUNK];
	struct world w = world_start(usual_policy);
	size_t sent = 0, got = 0, i;
	struct pollfd p[2];
	int client, up;
	bool same = true;
	uint64_t id;
	ssize_t n;

	client = connect_to(&w, "db.test:5432");
	(void)asked(&w, &id);
	up = give_up(&w, id);
	CHECK(heard(client, established));
	(void)fcntl(client, F_SETFL, O_NONBLOCK);
	(void)fcntl(up, F_SETFL, O_NONBLOCK);
	while (got < TOTAL) {
		p[0] = (struct pollfd){.fd = client, .events = sent < TOTAL ? POLLOUT : 0};
		p[1] = (struct pollfd){.fd = up, .events = POLLIN};
		if (poll(p, 2, WAIT_MS) <= 0)
			break;
		if (p[0].revents) {
			for (i = 0; i < CHUNK; i++)
				out[i] = (char)((sent + i) * 2654435761u >> 13);
			n = send(client, out, sent + CHUNK < TOTAL ? CHUNK : TOTAL - sent, MSG_NOSIGNAL);
			sent += n > 0 ? (size_t)n : 0;
		}
		if (p[1].revents && (n = recv(up, in, (got / CHUNK) % 3 ? CHUNK : 1000, 0)) > 0) {
			for (i = 0; i < (size_t)n; i++)
				same = same && in[i] == (char)((got + i) * 2654435761u >> 13);
			got += (size_t)n;
		}
	}
	CHECK(got == TOTAL && same);
	(void)close(client);
	(void)close(up);
	world_stop(&w);
}

static void clients_wait_where_tunnels_fill_the_table(void)
{
	enum { FDS = 1100, N = (FDS - RELAY_SPARE_FDS - RELAY_OWN_FDS) / 2 };
	struct world w = world_start_with(usual_policy, FDS, 0);
	static int client[N], up[N];
	uint64_t id, first = 0;
	int i, late;

	for (i = 0; i < N; i++) {
		client[i] = connect_to(&w, "db.test:5432");
		(void)asked(&w, &id);
		first = i ? first : id;
		up[i] = give_up(&w, id);
		CHECK(heard(client[i], established));
	}
	late = connect_to(&w, "plain.test:443");
	CHECK(is_silent(w.calls, 100));
	/* those who are inside are served */
	say(up[7], sv_of("still"));
	CHECK(heard(client[7], "still"));
	(void)close(client[0]);
	(void)close(up[0]);
	CHECK(is_over(&w, first));
	CHECK_STR(asked(&w, &id), "plain.test:443");
	(void)close(late);
	for (i = 1; i < N; i++) {
		(void)close(client[i]);
		(void)close(up[i]);
	}
	world_stop(&w);
}

/* More tunnels with bytes on their way than there are pipes. Their sockets have little room: with what the kernel gives
 * by itself, two such tests at a time use up the memory that a machine has for TCP, and neither ever ends. */
static void tunnels_go_on_where_no_pipe_is_left(void)
{
	enum { N = PIPES_MAX + 40, MUCH = 12 << 20, LITTLE = 128 << 10 };
	static char room[1 << 16];
	static int client[N], up[N];
	static size_t sent[N];
	struct world w = world_start_with(usual_policy, 0, LITTLE);
	size_t got, all = 0;
	uint64_t id;
	ssize_t n;
	int i;

	for (i = 0; i < N; i++) {
		client[i] = connect_to(&w, "db.test:5432");
		(void)asked(&w, &id);
		up[i] = give_up(&w, id);
		CHECK(heard(client[i], established));
		(void)fcntl(up[i], F_SETFL, O_NONBLOCK);
		while (sent[i] < MUCH && (n = send(up[i], room, sizeof(room), MSG_NOSIGNAL)) > 0)
			sent[i] += (size_t)n;
	}
	/* the last ones first: they are those without a pipe, and must not wait for the others */
	for (i = N - 1; i >= 0; i--) {
		(void)shutdown(up[i], SHUT_WR);
		for (got = 0; (n = recv(client[i], room, sizeof(room), 0)) > 0;)
			got += (size_t)n;
		all += got == sent[i] && n == 0;
	}
	CHECK(all == N);
	for (i = 0; i < N; i++) {
		(void)close(client[i]);
		(void)close(up[i]);
	}
	world_stop(&w);
}

static void it_can_do_nothing_but_its_work(void)
{
	struct world w = world_start(usual_policy);
	AUTO_BUF status = {0};
	char path[64];

	buf_init(&status, 8192);
	(void)snprintf(path, sizeof(path), "/proc/%d/status", w.pid);
	CHECK(buf_read_file(&status, path) == 0);
	CHECK_HAS(status.p, "NoNewPrivs:\t1");
	if (role_is_filtered())
		CHECK_HAS(status.p, "Seccomp:\t2");
	world_stop(&w);
}

static void it_ends_when_egress_does(void)
{
	struct world w = world_start(usual_policy);
	int status = -1;

	(void)close(w.calls);
	CHECK(waitpid(w.pid, &status, 0) == w.pid && WIFEXITED(status) && WEXITSTATUS(status) == 1);
	(void)close(w.control);
	(void)close(w.link);
	(void)close(w.vault);
}

static const struct check_case cases[] = {
	CASE(a_new_policy_closes_what_it_forbids),
	CASE(nothing_new_is_served_while_nothing_can_be_logged),
	CASE(what_is_allowed_is_told_once_and_then_counted),
	CASE(denials_above_a_rate_are_counted),
	CASE(what_was_only_counted_is_told_at_the_end),
	CASE(idle_connections_make_room_for_others),
	CASE(much_passes_unchanged_through_slow_readers),
	CASE(clients_wait_where_tunnels_fill_the_table),
	CASE(tunnels_go_on_where_no_pipe_is_left),
	CASE(it_can_do_nothing_but_its_work),
	CASE(it_ends_when_egress_does),
};

int main(int argc, char **argv)
{
	return world_main(argc, argv, cases, ARRAY_LEN(cases), 0);
}
