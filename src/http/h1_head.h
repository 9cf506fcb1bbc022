/*
 * h1_head: the lines of a head or of trailers, collected and cut into fields; for h1.c.
 *
 * h1_lines_take() copies lines up to the empty one, so that a head is in one piece however it arrived; h1_fields_cut()
 * cuts fields in place, names in lower case, values without blanks around them. llhttp's view of the same bytes is
 * asked for with h1_second_opinion().
 */
#ifndef CORDON_HTTP_H1_HEAD_H
#define CORDON_HTTP_H1_HEAD_H

#include "http/h1.h"

struct h1_lines {
	char *p; /* owned */
	size_t n, cap;
	size_t line;    /* where the last, unfinished one starts */
	uint32_t count; /* finished, the empty one apart */
};

void h1_lines_done(struct h1_lines *l);

/*
 * Takes lines off *in, up to and with the empty one. first_max: of the start line; 0 for trailers, which have none and
 * may be empty. H1_LINES_START comes once, so that nobody waits for the rest of what is no HTTP.
 */
enum h1_lines_event { H1_LINES_MORE, H1_LINES_START, H1_LINES_END, H1_LINES_ERROR };
enum h1_lines_event h1_lines_take(struct h1_lines *l, struct sv *in, const struct h1_limits *limits, size_t first_max,
				  struct h1_fault *fault);

/* Cuts lines (each with its CRLF, without the empty one) into fields. v has room for one per line. */
int h1_fields_cut(char *p, size_t n, struct http_fields *ret, struct h1_fault *fault);

struct h1_start {
	struct sv method, target; /* of a request */
	uint16_t status;          /* of a response */
	struct sv reason;
	bool http10;
};

/* line: the first one, without its CRLF. */
int h1_start_request(struct sv line, struct h1_start *ret, struct h1_fault *fault);
int h1_start_response(struct sv line, struct h1_start *ret, struct h1_fault *fault);

/* How llhttp reads a whole head. */
struct h1_opinion {
	bool chunked;
	bool has_length;
	uint64_t length;
};

/* 0: it found the start line and fields at the very same bytes. */
int h1_second_opinion(bool request, struct sv head, const struct h1_start *start, const struct http_fields *fields,
		      struct h1_opinion *ret, struct h1_fault *fault);

static inline int h1_refuse(struct h1_fault *fault, uint16_t status, const char *reason)
{
	*fault = (struct h1_fault){status, reason};
	return -1;
}

#endif
