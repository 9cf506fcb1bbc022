/*
 * answer: one HTTP/1.1 answer of a container engine, read strictly.
 *
 * The bytes may come in pieces of any size. Taken is what an engine sends and nothing else: HTTP/1.1, a final status,
 * lines that end in CRLF, and a body that says how long it is, by one Content-Length or by `chunked` and nothing else,
 * never both. Folded fields, bytes behind the body, and answers that end early are refused. So are bodies of more than
 * the maximum, before any of them is kept.
 *
 * The gateway has a reader for requests and answers of strangers (http/), which needs llhttp and the streams around it;
 * `cordon` itself stays small without them. This one knows no requests, no trailers that mean anything, no keep-alive:
 * one answer, then the end.
 */
#ifndef CORDON_DOCKER_ANSWER_H
#define CORDON_DOCKER_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { ANSWER_HEAD_MAX = 16 * 1024, ANSWER_LINE_MAX = 256, ANSWER_TRAILERS_MAX = 1024 };

enum answer_state {
	ANSWER_HEAD,
	ANSWER_LENGTH,	   /* a body of `left` bytes more */
	ANSWER_CHUNK_SIZE,
	ANSWER_CHUNK,	   /* `left` bytes more of this chunk */
	ANSWER_CHUNK_END,  /* its CRLF */
	ANSWER_TRAILERS,
	ANSWER_DONE,
	ANSWER_BAD,
};

struct answer {
	int status;	      /* 200 to 599 once the head has been read */
	char api_version[16]; /* the field Api-Version, where there is one that fits; else "" */
	struct buf body;
	enum answer_state state;
	struct buf line;      /* the head, or a line of the chunks' */
	size_t left;
	size_t trailers;      /* bytes of them */
};

void answer_init(struct answer *a, size_t max_body);
void answer_done(struct answer *a);

/* 1: the answer is complete; 0: there must be more; -EBADMSG, -EFBIG, -ENOMEM: it is of no use, now and later. */
int answer_add(struct answer *a, struct sv bytes);

static inline void cleanup_answer(struct answer *a)
{
	answer_done(a);
}

#define AUTO_ANSWER __attribute__((cleanup(cleanup_answer))) struct answer

#endif
