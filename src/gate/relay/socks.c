#include "gate/relay/socks.h"

#include "model/address.h"

enum {
	VERSION = 5,
	VERSION_4 = 4,
	PASSWORD_VERSION = 1,
	METHOD_NONE = 0,
	METHOD_PASSWORD = 2,
	METHOD_NO_MATCH = 0xff,
	COMMAND_CONNECT = 1,
	TYPE_4 = 1,
	TYPE_NAME = 3,
	TYPE_6 = 4,
	REQUEST_HEAD = 4, /* version, command, reserved, type of address */
};

void socks_init(struct socks *s)
{
	*s = (struct socks){.state = SOCKS_AT_METHODS};
}

void socks_reply(enum socks_code code, struct buf *out)
{
	/* Bound to 0.0.0.0:0: where from is nothing that the inside should know. */
	const unsigned char reply[10] = {VERSION, (unsigned char)code, 0, TYPE_4};

	(void)buf_add(out, reply, sizeof(reply));
}

static enum socks_step refuse(struct socks *s, const void *reply, size_t n, struct buf *out)
{
	s->state = SOCKS_AT_END;
	(void)buf_add(out, reply, n);
	return SOCKS_REFUSE;
}

static enum socks_step refuse_request(struct socks *s, enum socks_code code, struct buf *out)
{
	socks_reply(code, out);
	return refuse(s, NULL, 0, out);
}

/* The next message begins. */
static enum socks_step turn(struct socks *s, enum socks_state state, unsigned version, unsigned answer, struct buf *out)
{
	const unsigned char reply[2] = {(unsigned char)version, (unsigned char)answer};

	(void)buf_add(out, reply, sizeof(reply));
	s->state = state;
	s->n = 0;
	return SOCKS_MORE;
}

static enum socks_step at_methods(struct socks *s, struct buf *out)
{
	static const unsigned char refused_4[8] = {0, 0x5b};
	static const unsigned char no_match[2] = {VERSION, METHOD_NO_MATCH};

	if (s->bytes[0] != VERSION)
		return refuse(s, refused_4, s->bytes[0] == VERSION_4 ? sizeof(refused_4) : 0, out);
	if (s->n < 2 || s->n < 2U + s->bytes[1])
		return SOCKS_MORE;
	if (memchr(s->bytes + 2, METHOD_NONE, s->bytes[1]))
		return turn(s, SOCKS_AT_REQUEST, VERSION, METHOD_NONE, out);
	if (memchr(s->bytes + 2, METHOD_PASSWORD, s->bytes[1]))
		return turn(s, SOCKS_AT_PASSWORD, VERSION, METHOD_PASSWORD, out);
	return refuse(s, no_match, sizeof(no_match), out);
}

static enum socks_step at_password(struct socks *s, struct buf *out)
{
	static const unsigned char failure[2] = {PASSWORD_VERSION, 1};
	size_t name;

	if (s->bytes[0] != PASSWORD_VERSION)
		return refuse(s, failure, sizeof(failure), out);
	name = s->n < 2 ? 0 : s->bytes[1];
	if (s->n < 3 + name || s->n < 3 + name + s->bytes[2 + name])
		return SOCKS_MORE;
	return turn(s, SOCKS_AT_REQUEST, PASSWORD_VERSION, 0, out);
}

/* The length of the request's address, or 0 where more bytes are needed to know. */
static size_t address_length(const struct socks *s)
{
	switch (s->bytes[3]) {
	case TYPE_4:
		return 4;
	case TYPE_6:
		return 16;
	default:
		return s->n > REQUEST_HEAD ? 1U + s->bytes[REQUEST_HEAD] : 0;
	}
}

static void take_host(struct socks *s, const unsigned char *p, size_t n)
{
	struct address a;

	if (s->bytes[3] == TYPE_NAME) {
		s->host_n = n - 1;
		memcpy(s->host, p + 1, n - 1);
		return;
	}
	a = s->bytes[3] == TYPE_4 ? address_of4(p) : address_of6(p);
	s->host_n = strlen(address_text(&a, s->host));
}

static enum socks_step at_request(struct socks *s, struct buf *out)
{
	const unsigned char *address = s->bytes + REQUEST_HEAD;
	size_t length;

	if (s->bytes[0] != VERSION || (s->n > 2 && s->bytes[2] != 0))
		return refuse_request(s, SOCKS_FAILED, out);
	if (s->n > 1 && s->bytes[1] != COMMAND_CONNECT)
		return refuse_request(s, SOCKS_NO_COMMAND, out);
	if (s->n < REQUEST_HEAD)
		return SOCKS_MORE;
	if (s->bytes[3] != TYPE_4 && s->bytes[3] != TYPE_NAME && s->bytes[3] != TYPE_6)
		return refuse_request(s, SOCKS_NO_ADDRESS_TYPE, out);
	length = address_length(s);
	if (length == 0 || s->n < REQUEST_HEAD + length + 2)
		return SOCKS_MORE;
	s->port = (uint16_t)(address[length] << 8 | address[length + 1]);
	take_host(s, address, length);
	if (s->port == 0 || s->host_n == 0 || memchr(s->host, '\0', s->host_n))
		return refuse_request(s, SOCKS_FAILED, out);
	s->state = SOCKS_AT_END;
	return SOCKS_CONNECT;
}

enum socks_step socks_feed(struct socks *s, struct sv in, size_t *ret_used, struct buf *out)
{
	enum socks_step step = s->state == SOCKS_AT_END ? SOCKS_REFUSE : SOCKS_MORE;
	size_t used = 0;

	/* Byte by byte, so that none behind the end of a message is taken; there are few. */
	while (step == SOCKS_MORE && used < in.n) {
		s->bytes[s->n++] = (unsigned char)in.p[used++];
		step = s->state == SOCKS_AT_METHODS    ? at_methods(s, out)
		       : s->state == SOCKS_AT_PASSWORD ? at_password(s, out)
						       : at_request(s, out);
	}
	*ret_used = used;
	return step;
}
