/* Streams through the door: they are what their header says, and judged as if they had come by a listener of that kind.
 */
#include <arpa/inet.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/netlink.h>

#include "base/door.h"
#include "relay_world.h"

static int knock(const struct world *w)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(fd >= 0, "socket");
	set_wait(fd);
	must(connect(fd, (const struct sockaddr *)&w->door, w->n_door) == 0, "connect");
	return fd;
}

/* The header, and with it what is said behind it. */
static int enter(const struct world *w, const struct door_header *h, struct sv behind)
{
	unsigned char header[DOOR_HEADER];
	int fd = knock(w);
	AUTO_BUF all = {0};

	buf_init(&all, 65536);
	door_put(h, header);
	(void)buf_add(&all, header, sizeof(header));
	(void)buf_sv(&all, behind);
	say(fd, buf_view(&all));
	return fd;
}

static const struct door_header proxy = {.kind = DOOR_PROXY};

static void the_proxy_is_behind_the_door(void)
{
	struct world w = world_start(usual_policy);
	uint64_t id;
	int client, up;

	client = enter(&w, &proxy, sv_of("CONNECT plain.test:443 HTTP/1.1\r\nHost: plain.test:443\r\n\r\n"));
	CHECK_STR(asked(&w, &id), "plain.test:443");
	up = give_up(&w, id);
	CHECK(heard(client, established));
	tunnel_carries(&w, "plain.test", client, up, id);
	world_stop(&w);
}

/* More than sockets and pipes hold, both ways in turn. */
static void a_tunnel_between_unlike_sockets_loses_nothing(void)
{
	enum { PIECE = 40000, PIECES = 200 };
	struct world w = world_start(usual_policy);
	static char out[PIECE], in[PIECE];
	struct door_header to = {.kind = DOOR_PROXY};
	uint64_t id;
	int client, up, i, wrong = 0, k;
	pid_t writer;

	client = enter(&w, &to, sv_of("CONNECT db.test:5432 HTTP/1.1\r\nHost: db.test:5432\r\n\r\n"));
	CHECK_STR(asked(&w, &id), "db.test:5432");
	up = give_up(&w, id);
	CHECK(heard(client, established));
	for (k = 0; k < 2; k++) {
		(void)fflush(stdout);
		writer = fork();
		for (i = 0; i < PIECES; i++) {
			memset(out, 'a' + (i + k) % 26, sizeof(out));
			if (writer == 0)
				say(k ? up : client, sv_n(out, sizeof(out)));
			else
				wrong += hear(k ? client : up, in, sizeof(in)) != sizeof(in) ||
					 memcmp(in, out, sizeof(in)) != 0;
		}
		if (writer == 0)
			_exit(0);
		CHECK(wrong == 0 && waitpid(writer, NULL, 0) == writer);
	}
	(void)close(client);
	CHECK(is_closed(up));
	(void)close(up);
	CHECK(is_over(&w, id));
	world_stop(&w);
}

static void what_the_policy_denies_is_denied_at_the_door(void)
{
	static const char *const heads[] = {"CONNECT other.test:443 HTTP/1.1\r\nHost: other.test:443\r\n\r\n",
					    "CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: 127.0.0.1:443\r\n\r\n",
					    "CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: 169.254.169.254:80\r\n\r\n"};
	static const struct door_header places[] = {
		{.kind = DOOR_TRANSPARENT, .family = 4, .port = 443, .address = {127, 0, 0, 1}},
		{.kind = DOOR_TRANSPARENT, .family = 4, .port = 80, .address = {169, 254, 169, 254}},
		{.kind = DOOR_TRANSPARENT, .family = 4, .port = 80, .address = {127, 0, 0, 88}},
		{.kind = DOOR_TRANSPARENT, .family = 4, .port = 443, .address = {198, 18, 200, 200}},
		{.kind = DOOR_TRANSPARENT, .family = 6, .port = 443, .address = {[15] = 1}},
		{.kind = DOOR_TRANSPARENT,
		 .family = 6,
		 .port = 443,
		 .address = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}},
	};
	struct world w = world_start(usual_policy);
	size_t i;

	for (i = 0; i < ARRAY_LEN(heads); i++) {
		AUTO_FD client = enter(&w, &proxy, sv_of(heads[i]));

		CHECK_HAS(hear_all(client), "HTTP/1.1 403 ");
	}
	for (i = 0; i < ARRAY_LEN(places); i++) {
		AUTO_FD client = enter(&w, &places[i], sv_of("\x16\x03\x01"));

		CHECK(is_closed(client));
	}
	CHECK(is_silent(w.calls, 50));
	world_stop(&w);
}

static void a_direct_stream_goes_where_its_header_says(void)
{
	static const struct door_header to = {
		.kind = DOOR_TRANSPARENT, .family = 4, .port = 5432, .address = {127, 0, 0, 88}};
	struct world w = world_start("network: {mode: allowlist, allow: [{cidr: 127.0.0.88/32, ports: [5432]}]}");
	uint64_t id;
	int client = enter(&w, &to, sv_of(""));

	/* An address that is allowed, port and all. */
	CHECK_STR(asked(&w, &id), "127.0.0.88:5432");
	give_failure(&w, id, GATE_FAILURE_REFUSED);
	CHECK(is_closed(client));
	(void)close(client);
	world_stop(&w);
}

/* One query, and its answer's length. */
static size_t ask_door(struct world *w, enum door_kind kind, const char *name, unsigned char answer[1500])
{
	const struct door_header dns = {.kind = kind};
	unsigned char bytes[600] = {0};
	size_t n = query(name, 1, bytes + 2);
	AUTO_FD fd = -1;

	bytes[1] = (unsigned char)n;
	fd = enter(w, &dns, sv_n((char *)bytes, n + 2));
	if (hear(fd, (char *)answer, 2) != 2)
		return 0;
	n = (size_t)answer[0] << 8 | answer[1];
	return n <= 1500 ? hear(fd, (char *)answer, n) : 0;
}

static void names_are_asked_at_the_door_and_lead_back_to_it(void)
{
	static const enum door_kind kinds[] = {DOOR_DNS, DOOR_DNS_DATAGRAMS};
	struct door_header to = {.kind = DOOR_TRANSPARENT, .family = 4, .port = 5432};
	struct world w = world_start(usual_policy);
	unsigned char a[1500];
	uint64_t id;
	size_t i, n;
	int client, up;

	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		n = ask_door(&w, kinds[i], "db.test", a);
		CHECK(n > 16 && (a[3] & 15) == 0 && a[n - 4] == 198 && a[n - 3] == 18);
		memcpy(to.address, a + n - 4, 4);
		CHECK(ask_door(&w, kinds[i], "other.test", a) && (a[3] & 15) == 3);
	}
	client = enter(&w, &to, sv_of("hello"));
	CHECK_STR(asked(&w, &id), "db.test:5432");
	up = give_up(&w, id);
	CHECK(heard(up, "hello"));
	(void)close(client);
	CHECK(is_closed(up));
	(void)close(up);
	world_stop(&w);
}

static void what_is_no_header_is_closed_without_a_word(void)
{
	unsigned char header[DOOR_HEADER];
	struct world w = world_start(usual_policy);
	size_t i;

	for (i = 0; i < 3; i++) {
		AUTO_FD client = knock(&w);

		door_put(&proxy, header);
		header[i == 0 ? 0 : i == 1 ? 4 : 31] ^= 1;
		say(client, sv_n((char *)header, sizeof(header)));
		CHECK(is_closed(client));
	}
	{
		AUTO_FD client = knock(&w);

		say(client, sv_of("CONNECT plain.test:443 HTTP/1.1\r\nHost: plain.test:443\r\n\r\n"));
		CHECK(is_closed(client));
	}
	{
		AUTO_FD client = knock(&w);

		say(client, sv_n((char *)header, 31));
		CHECK(shutdown(client, SHUT_WR) == 0 && is_closed(client));
	}
	CHECK(is_silent(w.calls, 50));
	world_stop(&w);
}

static void a_header_may_come_byte_by_byte(void)
{
	unsigned char header[DOOR_HEADER];
	struct world w = world_start(usual_policy);
	AUTO_FD client = knock(&w);
	uint64_t id;
	size_t i;

	door_put(&proxy, header);
	for (i = 0; i < sizeof(header); i++) {
		say(client, sv_n((char *)header + i, 1));
		(void)usleep(1000);
	}
	say(client, sv_of("CONNECT plain.test:443 HTTP/1.1\r\nHost: plain.test:443\r\n\r\n"));
	CHECK_STR(asked(&w, &id), "plain.test:443");
	world_stop(&w);
}

/* Says text, and hands over a copy of fd with it. */
static void say_with(int to, struct sv text, int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec v = {.iov_base = strdup(text.p), .iov_len = text.n};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	must(sendmsg(to, &m, 0) == (ssize_t)text.n, "sendmsg");
	free(v.iov_base);
}

/* The door is a UNIX socket, on which a workload can pass descriptors: in the head as it is read, and in what is
 * spliced. */
static void descriptors_that_are_passed_are_let_go(void)
{
	static const char head[] = "CONNECT db.test:5432 HTTP/1.1\r\nHost: db.test:5432\r\n\r\n";
	struct world w = world_start(usual_policy);
	AUTO_FD client = enter(&w, &proxy, sv_of(""));
	int ends[2], up = -1, i;
	uint64_t id = 0;

	for (i = 0; i < 2; i++) {
		must(pipe2(ends, O_CLOEXEC) == 0, "pipe");
		say_with(client, sv_of(i == 0 ? head : "spliced"), ends[1]);
		(void)close(ends[1]);
		if (i == 0) {
			CHECK_STR(asked(&w, &id), "db.test:5432");
			up = give_up(&w, id);
			CHECK(heard(client, established));
		} else {
			CHECK(heard(up, "spliced"));
		}
		CHECK(!is_silent(ends[0], WAIT_MS)); /* hung up: nobody else has the other end */
		(void)close(ends[0]);
	}
	(void)close(up);
	world_stop(&w);
}

static void inference_has_its_provider(void)
{
	static const struct door_header h = {.kind = DOOR_INFERENCE, .provider = 0xffffffff};
	struct world w = world_start(usual_policy);
	AUTO_FD client = enter(&w, &h, sv_of("POST /v1/messages HTTP/1.1\r\n"));

	CHECK_STR(hear_all(client), "STUB proxy=0 tls=0 inference=1 :0 POST /v1/messages HTTP/1.1");
	world_stop(&w);
}

/* As the kernel tells of a dial to 192.0.2.1:443 that it refused, the first of all. */
struct refusal {
	struct nlmsghdr head;
	struct nfgenmsg fixed;
	struct nlattr packet_is;
	uint8_t packet[24];
	struct nlattr number_is;
	uint32_t number;
};

static void refuse_one(int kernel)
{
	const struct refusal r = {
		.head = {.nlmsg_len = sizeof(r), .nlmsg_type = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET},
		.packet_is = {.nla_len = sizeof(r.packet_is) + sizeof(r.packet), .nla_type = NFULA_PAYLOAD},
		.packet = {0x45, [9] = IPPROTO_TCP, [16] = 192, 0, 2, 1, [22] = 443 >> 8, 443 & 0xff},
		.number_is = {.nla_len = sizeof(r.number_is) + sizeof(r.number), .nla_type = NFULA_SEQ},
	};

	must(send(kernel, &r, sizeof(r), 0) == (ssize_t)sizeof(r), "send");
}

/* A container stands only after the relay serves, and a dial may be refused before the relay has the socket that tells
 * of it. */
static void what_the_kernel_refuses_is_told_by_a_socket_that_comes_later(void)
{
	struct world w = world_start(usual_policy);
	struct wire_message m;
	struct gate_event e;
	int ends[2];

	must(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
	refuse_one(ends[0]);
	must(wire_send(w.control, GATE_REFUSED, sv_of(""), &ends[1], 1) == 0, "GATE_REFUSED");
	(void)close(ends[1]);
	CHECK(next_event(&w, &m, &e) && e.verdict == 0 && sv_is(e.subject, "192.0.2.1:443"));
	wire_message_done(&m);
	(void)close(ends[0]);
	world_stop(&w);
}

static const struct check_case cases[] = {
	CASE(the_proxy_is_behind_the_door),
	CASE(a_tunnel_between_unlike_sockets_loses_nothing),
	CASE(what_the_policy_denies_is_denied_at_the_door),
	CASE(a_direct_stream_goes_where_its_header_says),
	CASE(names_are_asked_at_the_door_and_lead_back_to_it),
	CASE(what_is_no_header_is_closed_without_a_word),
	CASE(a_header_may_come_byte_by_byte),
	CASE(descriptors_that_are_passed_are_let_go),
	CASE(what_the_kernel_refuses_is_told_by_a_socket_that_comes_later),
	/* with the stub only */
	CASE(inference_has_its_provider),
};

int main(int argc, char **argv)
{
	return world_main(argc, argv, cases, ARRAY_LEN(cases), 1);
}
