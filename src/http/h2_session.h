/*
 * h2_session: what h2.c (what comes in, and the session's life) and h2_send.c (what goes out) share. For them alone.
 */
#ifndef CORDON_HTTP_H2_SESSION_H
#define CORDON_HTTP_H2_SESSION_H

#include "http/h2_head.h"

/* A budget that fills again with time. */
struct h2_bucket {
	uint32_t tokens, max;
	int64_t filled;	    /* when */
	int64_t interval;   /* milliseconds for a token */
};

struct h2 {
	nghttp2_session *session;
	struct h2_config config;
	const struct h2_events *events;
	void *user;
	struct h2_stream *streams; /* a list; H2_MAX_STREAMS, or as many as the peer allows */
	uint32_t n_streams;
	struct h2_bucket frames; /* of those that carry nothing */
	struct h2_bucket resets; /* of streams that ended before they were answered */
	size_t block;		 /* bytes of the fields that came of the one that is being decoded */
	bool started;		 /* the buckets know the time */
	bool cut;		 /* the peer went too far, or memory ran out: no more events */
	bool goaway;		 /* the peer said it */
	bool leaving;		 /* we said it */
	/* While in h2_output(): where the next bytes go. */
	char *out;
	size_t room;
	/* What nghttp2 gave to be sent and did not fit the last time. */
	struct sv rest;
};

struct h2_stream {
	struct h2 *h;
	struct h2_stream *next, *prev;
	void *user;
	int32_t id;
	bool told;	/* inwards: the final head was given to the caller */
	bool ended;	/* inwards: the peer's message is complete */
	bool deaf;	/* refused or reset: what the peer still sends is dropped */
	bool reset;	/* by the caller */
	bool lingers;	/* an early end is not followed by a reset of ours */
	bool websocket; /* a request for one */
	bool answered;	/* outwards: the final head was submitted */
	bool due;	/* outwards: a body is, until its last bytes were asked for */
	bool ending;	/* outwards: h2_end() was called */
	bool asleep;	/* outwards: nghttp2 waits for nghttp2_session_resume_data() */
	size_t unconsumed;
	struct sv offered;
	struct http_fields out_trailers; /* one block of memory */
	union {
		struct http_request request;
		struct http_response response;
	} message;
	struct http_fields trailers;
	struct h2_head *late; /* where trailers are read */
	struct h2_head head;
};

struct h2_stream *h2_stream_new(struct h2 *h);
void h2_stream_close(struct h2_stream *s, uint32_t code); /* tells, and drops */
void h2_stream_drop(struct h2_stream *s);

/* The peer went too far: GOAWAY with that code, no more events. */
void h2_cut(struct h2 *h, uint32_t code);
void h2_bucket_give(struct h2_bucket *b, uint32_t n);

/* Callbacks of nghttp2 for what goes out. */
int h2_on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *user);
int h2_on_frame_not_send(nghttp2_session *session, const nghttp2_frame *frame, int code, void *user);
int h2_on_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *header, size_t n,
		    nghttp2_data_source *source, void *user);
ssize_t h2_on_read_length(nghttp2_session *session, uint8_t type, int32_t id, int32_t session_window,
			  int32_t stream_window, uint32_t max_frame, void *user);

#endif
