/*
 * wire: messages between Cordon's processes, one per packet of a SOCK_SEQPACKET socket.
 *
 * A message is a 16-bit type, a body of fields in a fixed order, and up to WIRE_MAX_FDS descriptors. Numbers are
 * little-endian; a string is a 32-bit length and its bytes. A reader never trusts a count: a field that does not fit
 * marks the reader failed and reads as zero or empty, so a decoder checks wire_ok() once, at the end, which also
 * insists that nothing is left over.
 */
#ifndef CORDON_WIRE_H
#define CORDON_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum { WIRE_MAX_BODY = 160 * 1024, WIRE_MAX_FDS = 128 };

/* Inline: a request is some thirty fields, each way. The loops are one store or load each where the machine is
 * little-endian. */
static inline void wire_put_u32(struct buf *b, uint32_t v)
{
	unsigned char le[4];
	unsigned i;

	for (i = 0; i < sizeof(le); i++)
		le[i] = (unsigned char)(v >> 8 * i);
	(void)buf_add(b, le, sizeof(le));
}

static inline void wire_put_u64(struct buf *b, uint64_t v)
{
	unsigned char le[8];
	unsigned i;

	for (i = 0; i < sizeof(le); i++)
		le[i] = (unsigned char)(v >> 8 * i);
	(void)buf_add(b, le, sizeof(le));
}

static inline void wire_put_sv(struct buf *b, struct sv s)
{
	wire_put_u32(b, (uint32_t)s.n);
	(void)buf_sv(b, s);
}

/* A NULL-terminated array of strings: its count, then each. */
void wire_put_strings(struct buf *b, char *const *v);

struct wire_in {
	struct sv rest;
	bool failed;
};

static inline void wire_in_init(struct wire_in *in, struct sv body)
{
	*in = (struct wire_in){.rest = body};
}

/* The next n bytes; NULL: there are not as many. */
static inline const unsigned char *wire_take(struct wire_in *in, size_t n)
{
	const char *p = in->rest.p;

	if (in->failed || in->rest.n < n) {
		in->failed = true;
		return NULL;
	}
	in->rest = sv_n(p + n, in->rest.n - n);
	return (const unsigned char *)p;
}

static inline uint32_t wire_get_u32(struct wire_in *in)
{
	const unsigned char *p = wire_take(in, 4);

	return p ? p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24 : 0;
}

static inline uint64_t wire_get_u64(struct wire_in *in)
{
	uint64_t low = wire_get_u32(in), high = wire_get_u32(in);

	return in->failed ? 0 : high << 32 | low;
}

static inline struct sv wire_get_sv(struct wire_in *in)
{
	size_t n = wire_get_u32(in);
	const unsigned char *p = wire_take(in, n);

	return p ? sv_n((const char *)p, n) : sv_n("", 0);
}

/* A NULL-terminated array (one allocation: free()), no more than max strings, none with a NUL inside. NULL on failure.
 */
char **wire_get_strings(struct wire_in *in, size_t max);
bool wire_ok(const struct wire_in *in);

/* A body that is an error (of a kind up to ERROR_SYSTEM) and nothing else. Reading: 0, or -EBADMSG where it is none. */
struct wire_error {
	enum error_kind kind;
	int code;
	struct sv text; /* of the body; any bytes */
};
void wire_put_error(struct buf *b, const struct error *err);
int wire_get_error(struct sv body, struct wire_error *ret);
/* Makes it ours, with its text escaped: an honest sender has escaped what it quotes; of another one nothing may reach
 * the terminal either. Returns -1. */
int wire_error_set(const struct wire_error *said, struct error *err);

struct wire_message {
	uint16_t type;
	struct buf body;
	int fds[WIRE_MAX_FDS];
	size_t n_fds;
};

/* Sends one message. fds stay the caller's. 0 or -errno. */
int wire_send(int sock, uint16_t type, struct sv body, const int *fds, size_t n_fds);
/* The same, never waiting: -EAGAIN where the other side has not read enough. */
int wire_send_now(int sock, uint16_t type, struct sv body, const int *fds, size_t n_fds);

/* Receives one message into m, whose fds (O_CLOEXEC) are then the caller's. 1; 0: the other side is gone; -errno
 * (-EPROTO: malformed). */
int wire_receive(int sock, struct wire_message *m);
void wire_message_done(struct wire_message *m); /* closes what fds are left */

#endif
