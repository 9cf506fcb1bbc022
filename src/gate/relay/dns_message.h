/*
 * dns_message: DNS queries as a stub sends them, and the few answers that the policy's server gives.
 *
 * Reading is strict: one question and nothing else but EDNS; a compression pointer, a byte too many or too few is a
 * format error. Names come out in lower case, without a trailing dot, and hold nothing but letters, digits, "-" and "_"
 * in their labels: a dot or a NUL inside of a label could pass for another name further on. An answer repeats the
 * question as it was sent, case included, which some clients check.
 *
 * No heap but the buffer that an answer is appended to; a question borrows the packet.
 */
#ifndef CORDON_GATE_RELAY_DNS_MESSAGE_H
#define CORDON_GATE_RELAY_DNS_MESSAGE_H

#include "base/buf.h"
#include "model/address.h"

enum dns_code {
	DNS_OK = 0,
	DNS_FORMERR = 1,
	DNS_SERVFAIL = 2,
	DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5,
	DNS_BADVERS = 16,
};

enum dns_type { DNS_A = 1, DNS_PTR = 12, DNS_TXT = 16, DNS_AAAA = 28, DNS_SVCB = 64, DNS_HTTPS = 65, DNS_ANY = 255 };

enum {
	DNS_QUERY_MAX = 1024, /* no stub needs more */
	DNS_UDP_MAX = 1232,   /* what passes everywhere; less where the client says so */
	DNS_TCP_MAX = 65535,
};

struct dns_question {
	uint16_t id;
	uint16_t type;
	bool recursion, checking_disabled; /* flags that an answer repeats */
	bool edns;
	uint16_t udp_max; /* the longest answer over UDP */
	struct sv wire;   /* name, type and class as sent; empty where they could not be read */
	size_t n;
	char name[256]; /* empty: the root, or no name that can be judged */
};

/*
 * DNS_OK, or the code to answer with at once (dns_answer() takes the question as far as it was read), or -1: no query
 * at all, to be dropped without an answer.
 */
int dns_parse(struct sv packet, struct dns_question *ret);

/*
 * Appends an answer of at most max bytes. With DNS_OK those of the n addresses that the question's type asks for; where
 * there are none, be it because the type is another one, it says that the name has no such data. What does not fit is
 * left out and the answer is marked as cut, so that the client asks again over TCP. Failure is the buffer's.
 */
void dns_answer(const struct dns_question *q, enum dns_code code, const struct address *v, size_t n, uint32_t ttl,
		size_t max, struct buf *out);

/*
 * The message at the front of a TCP stream: its two length bytes and it. Returns how many bytes it takes, 0 where there
 * are not enough of them yet, or -EMSGSIZE where it is too long or too short for a query.
 */
ssize_t dns_frame(struct sv stream, struct sv *ret);
void dns_frame_add(struct buf *out, struct sv message);

#endif
