#include "sys/netlink_batch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { ANSWERS = 4096 };

void batch_init(struct batch *b)
{
	b->n = b->message = 0;
	b->seq = b->wanted = 0;
	b->full = false;
}

static void *take(struct batch *b, size_t n)
{
	size_t room = NLMSG_ALIGN(n);
	void *p = b->bytes + b->n;

	if (sizeof(b->bytes) - b->n < room) {
		b->full = true;
		return NULL;
	}
	memset(p, 0, room);
	b->n += room;
	return p;
}

static void grow(struct batch *b)
{
	struct nlmsghdr *h = (struct nlmsghdr *)(void *)(b->bytes + b->message);

	h->nlmsg_len = (uint32_t)(b->n - b->message);
}

void batch_message(struct batch *b, uint16_t type, uint16_t flags, const void *head, size_t n)
{
	struct nlmsghdr *h;
	void *p;

	b->message = b->n;
	h = take(b, sizeof(*h));
	p = take(b, n);
	if (!h || !p)
		return;
	*h = (struct nlmsghdr){
		.nlmsg_type = type, .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags), .nlmsg_seq = ++b->seq};
	b->wanted += (flags & NLM_F_ACK) != 0;
	memcpy(p, head, n);
	grow(b);
}

void batch_attribute(struct batch *b, uint16_t type, const void *data, size_t n)
{
	struct nlattr *a = take(b, sizeof(*a) + n);

	if (!a)
		return;
	a->nla_len = (uint16_t)(sizeof(*a) + n);
	a->nla_type = type;
	memcpy((char *)a + sizeof(*a), data, n);
	grow(b);
}

void batch_text(struct batch *b, uint16_t type, const char *s)
{
	batch_attribute(b, type, s, strlen(s) + 1);
}

void batch_number(struct batch *b, uint16_t type, uint32_t v)
{
	v = htonl(v);
	batch_attribute(b, type, &v, sizeof(v));
}

size_t batch_open(struct batch *b, uint16_t type)
{
	size_t at = b->n;

	batch_attribute(b, type | NLA_F_NESTED, "", 0);
	return at;
}

void batch_close(struct batch *b, size_t at)
{
	struct nlattr *a = (struct nlattr *)(void *)(b->bytes + at);

	if (!b->full)
		a->nla_len = (uint16_t)(b->n - at);
}

static int answers(int fd, uint32_t wanted)
{
	_Alignas(NLMSG_ALIGNTO) char in[ANSWERS];
	const struct nlmsghdr *h;
	const struct nlmsgerr *e;
	size_t at, n;
	ssize_t got;

	while (wanted) {
		got = recv(fd, in, sizeof(in), 0);
		if (got < 0)
			return -errno;
		n = (size_t)got;
		for (at = 0; n - at >= NLMSG_HDRLEN + sizeof(*e); at += NLMSG_ALIGN(h->nlmsg_len)) {
			h = (const struct nlmsghdr *)(const void *)(in + at);
			e = (const struct nlmsgerr *)(const void *)(in + at + NLMSG_HDRLEN);
			if (h->nlmsg_len < NLMSG_HDRLEN || NLMSG_ALIGN(h->nlmsg_len) > n - at ||
			    h->nlmsg_type != NLMSG_ERROR)
				break;
			if (e->error)
				return e->error;
			wanted -= wanted > 0;
		}
	}
	return 0;
}

int batch_socket(int family)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, family);

	return fd < 0 ? -errno : fd;
}

int batch_send(int fd, const struct batch *b)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

	if (b->full)
		return -EMSGSIZE;
	if (sendto(fd, b->bytes, b->n, 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	return answers(fd, b->wanted);
}
