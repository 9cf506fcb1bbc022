/*
 * A DNS query, as a packet and as the front of a TCP stream. What is read says what the packet says: the name, written
 * anew, is the question's in lower case. Every answer fits, repeats the question and is well formed as far as its
 * counts go.
 */
#include "gate/relay/dns_message.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void check_name(const struct dns_question *q)
{
	char wire[300];
	size_t n = 0, start = 0, i;

	for (i = 0; i <= q->n; i++) {
		char c = i < q->n ? q->name[i] : '.';

		if (i < q->n && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && !strchr("-_.", c))
			abort();
		if (c != '.' || q->n == 0)
			continue;
		wire[n++] = (char)(i - start);
		memcpy(wire + n, q->name + start, i - start);
		n += i - start;
		start = i + 1;
	}
	wire[n++] = '\0';
	if (q->wire.n != n + 4)
		abort();
	for (i = 0; i < n; i++) {
		char c = q->wire.p[i];

		if (wire[i] != (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c))
			abort();
	}
}

static void check_answer(const struct dns_question *q, enum dns_code code, size_t max)
{
	static const uint8_t four[4] = {198, 18, 1, 0};
	static const uint8_t six[16] = {1};
	struct address v[80];
	AUTO_BUF out = {0};
	size_t i, records;

	buf_init(&out, DNS_TCP_MAX);
	for (i = 0; i < 80; i++)
		v[i] = i % 2 ? address_of4(four) : address_of6(six);
	dns_answer(q, code, v, 80, 60, max, &out);
	if (buf_failed(&out) || out.n > max || out.n < 12 + q->wire.n || !(out.p[2] & 0x80))
		abort();
	if (q->wire.n && memcmp(out.p + 12, q->wire.p, q->wire.n) != 0)
		abort();
	records = (unsigned char)out.p[7];
	if (out.n != 12 + q->wire.n + records * (q->type == DNS_A ? 16 : 28) + (q->edns ? 11 : 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sv packet = sv_n((const char *)bytes, n), framed = {0};
	struct dns_question q;
	int code = dns_parse(packet, &q);
	ssize_t frame = dns_frame(packet, &framed);

	if (frame > 0 && ((size_t)frame > n || framed.n != (size_t)frame - 2))
		abort();
	if (code < 0)
		return 0;
	if (code == DNS_OK)
		check_name(&q);
	/* A question that fits into what is allowed for queries fits into every answer. */
	if (n <= DNS_QUERY_MAX) {
		check_answer(&q, (enum dns_code)code, q.udp_max);
		check_answer(&q, (enum dns_code)code, DNS_TCP_MAX);
	}
	return 0;
}
