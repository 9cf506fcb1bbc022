#include "gate/egress/scrub_frames.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/secret_memory.h"

/* HEAD: of a frame that is not masked. CONTROL: its payload at most. STATUS: what a close begins with. */
enum { HEAD = 10, CONTROL = 125, CLOSE = 8, STATUS = 2, READY_MAX = 2 * (SCRUB_HOLD_MAX + SCRUB_FRAMES_WAIT) };

/* A header, with what of its frame is not in the stream, that waits behind payload. Its bytes follow it in `marks`. */
struct mark {
	uint64_t at; /* how much payload goes out before it */
	uint32_t n;
};

/* One way through the frames. */
struct layer {
	struct scrub *scrub;
	struct scrub_stream *data;
	bool controls;			     /* what control frames carry is in the stream, too */
	unsigned char frame[HEAD + CONTROL]; /* the header that is read; behind it what is not in the stream */
	size_t n;			     /* of it */
	uint64_t left;			     /* of the payload */
	uint64_t aside;			     /* of that, how much is still to go into `frame` */
	bool inside;			     /* the header is complete */
	bool open;			     /* a message has begun, and its last frame has not come */
	uint64_t fed, out;		     /* payload that the scrubber was given, and that it let go */
	struct buf marks;
	size_t marks_at;
	struct buf ready;
	uint64_t hits; /* in control frames by themselves */
};

/* What the first lets go, the second looks at. */
struct scrub_frames {
	struct layer all, messages;
};

static int layer_init(struct layer *t, struct scrub *s, bool controls)
{
	*t = (struct layer){.data = scrub_stream_new(s), .controls = controls};
	if (!t->data)
		return -ENOMEM;
	t->scrub = scrub_ref(s);
	buf_init(&t->marks, SCRUB_FRAMES_WAIT);
	buf_init(&t->ready, READY_MAX);
	return 0;
}

static void layer_done(struct layer *t)
{
	scrub_stream_free(t->data);
	scrub_unref(t->scrub);
	buf_done(&t->marks);
	buf_done(&t->ready);
}

struct scrub_frames *scrub_frames_new(struct scrub *s)
{
	struct scrub_frames *t = calloc(1, sizeof(*t));

	if (t && layer_init(&t->all, s, true) == 0 && layer_init(&t->messages, s, false) == 0)
		return t;
	scrub_frames_free(t);
	return NULL;
}

void scrub_frames_free(struct scrub_frames *t)
{
	if (!t)
		return;
	layer_done(&t->all);
	layer_done(&t->messages);
	secret_wipe(t, sizeof(*t));
	free(t);
}

/* The next one that waits; false: none. */
static bool next_mark(const struct layer *t, struct mark *ret)
{
	if (t->marks_at == t->marks.n)
		return false;
	memcpy(ret, t->marks.p + t->marks_at, sizeof(*ret));
	return true;
}

/* Headers whose turn it is. */
static void flush_marks(struct layer *t)
{
	struct mark m;

	while (next_mark(t, &m) && m.at == t->out) {
		(void)buf_add(&t->ready, t->marks.p + t->marks_at + sizeof(m), m.n);
		t->marks_at += sizeof(m) + m.n;
	}
	if (t->marks_at == t->marks.n) {
		buf_clear(&t->marks);
		t->marks_at = 0;
	}
}

/* Payload that the scrubber let go, with the headers that stand in it. */
static void let_go(struct layer *t, struct sv bytes)
{
	struct mark m;
	size_t n;

	while (bytes.n) {
		n = next_mark(t, &m) && m.at - t->out < bytes.n ? (size_t)(m.at - t->out) : bytes.n;
		(void)buf_add(&t->ready, bytes.p, n);
		bytes = sv_n(bytes.p + n, bytes.n - n);
		t->out += n;
		flush_marks(t);
	}
}

/* What was read of a frame, but for a data frame's payload. */
static int put_frame(struct layer *t)
{
	const struct mark m = {.at = t->fed, .n = (uint32_t)t->n};

	if (t->marks_at && t->marks_at >= t->marks.n / 2) {
		t->marks.n -= t->marks_at;
		memmove(t->marks.p, t->marks.p + t->marks_at, t->marks.n);
		t->marks_at = 0;
	}
	(void)buf_add(&t->marks, &m, sizeof(m));
	(void)buf_add(&t->marks, t->frame, t->n);
	t->n = 0;
	if (buf_failed(&t->marks))
		return buf_failed(&t->marks) == -EFBIG ? -EPROTO : -ENOMEM;
	flush_marks(t);
	return 0;
}

static size_t head_size(const struct layer *t)
{
	unsigned length = t->n < 2 ? 0 : t->frame[1] & 0x7f;

	return length == 127 ? 10 : length == 126 ? 4 : 2;
}

static bool is_control(const struct layer *t)
{
	return t->frame[0] & 8;
}

/* The header is complete: is it one that a server may send? */
static int begin(struct layer *t)
{
	unsigned opcode = t->frame[0] & 15;
	size_t i;

	t->left = t->frame[1] & 0x7f;
	if (t->left >= 126)
		for (t->left = 0, i = 2; i < t->n; i++)
			t->left = t->left << 8 | t->frame[i];
	if ((t->frame[0] & 0x70) || (t->frame[1] & 0x80) || (opcode > 2 && opcode < 8) || opcode > 10 || t->left >> 63)
		return -EPROTO;
	if (is_control(t) && (!(t->frame[0] & 0x80) || t->left > CONTROL || t->n != 2))
		return -EPROTO;
	t->inside = true;
	t->aside = !is_control(t)     ? 0
		   : !t->controls     ? t->left
		   : opcode != CLOSE  ? 0
		   : t->left < STATUS ? t->left
				      : STATUS;
	if (!is_control(t))
		t->open = !(t->frame[0] & 0x80);
	return t->aside ? 0 : put_frame(t);
}

/* All that goes beside the stream, complete or at the stream's end. */
static int end_aside(struct layer *t)
{
	int hits = !t->controls && t->n > 2 ? scrub_text(t->scrub, (char *)t->frame + 2, t->n - 2) : 0;

	if (hits < 0)
		return -ENOMEM;
	t->hits += (uint64_t)hits;
	return put_frame(t);
}

/* Takes a byte of a frame's header, or of what goes beside the stream. */
static int take_byte(struct layer *t, char c)
{
	t->frame[t->n++] = (unsigned char)c;
	if (!t->inside)
		return t->n == head_size(t) ? begin(t) : 0;
	t->left--;
	return --t->aside ? 0 : end_aside(t);
}

static int take_payload(struct layer *t, char *p, size_t n)
{
	struct sv out;

	t->left -= n;
	t->fed += n;
	if (scrub_stream_feed(t->data, p, n, &out) < 0)
		return -ENOMEM;
	let_go(t, out);
	return 0;
}

static int give(struct layer *t, struct sv *ret)
{
	*ret = buf_view(&t->ready);
	return buf_failed(&t->ready) ? -ENOMEM : 0;
}

static int feed(struct layer *t, char *p, size_t n)
{
	size_t at = 0, piece;
	int r = 0;

	buf_clear(&t->ready);
	while (r == 0 && at < n) {
		if (!t->inside || t->aside) {
			r = take_byte(t, p[at++]);
		} else {
			piece = n - at < t->left ? n - at : (size_t)t->left;
			r = take_payload(t, p + at, piece);
			at += piece;
		}
		t->inside = t->inside && t->left;
	}
	return r == 0 && buf_failed(&t->ready) ? -ENOMEM : r;
}

/* What the first layer let go: all that the second lets go of it. */
static int pass(struct scrub_frames *t, struct sv *ret)
{
	int r = buf_failed(&t->all.ready) ? -ENOMEM : feed(&t->messages, t->all.ready.p, t->all.ready.n);

	*ret = buf_view(&t->messages.ready);
	return r;
}

int scrub_frames_feed(struct scrub_frames *t, char *p, size_t n, struct sv *ret)
{
	int r = feed(&t->all, p, n);

	return r < 0 ? r : pass(t, ret);
}

static int renew(struct layer *t, struct scrub *s)
{
	(void)scrub_ref(s);
	scrub_unref(t->scrub);
	t->scrub = s;
	return scrub_stream_renew(t->data, s);
}

int scrub_frames_renew(struct scrub_frames *t, struct scrub *s)
{
	int r = renew(&t->all, s);

	return r < 0 ? r : renew(&t->messages, s);
}

bool scrub_frames_waits(const struct scrub_frames *t)
{
	return t->all.out < t->all.fed || t->messages.out < t->messages.fed;
}

bool scrub_frames_are_between(const struct scrub_frames *t)
{
	return !t->all.inside && t->all.n == 0 && !t->all.open;
}

static void release(struct layer *t)
{
	struct sv out;

	scrub_stream_release(t->data, &out);
	let_go(t, out);
}

int scrub_frames_release(struct scrub_frames *t, struct sv *ret)
{
	int r;

	buf_clear(&t->all.ready);
	release(&t->all);
	r = pass(t, ret);
	if (r < 0)
		return r;
	release(&t->messages);
	return give(&t->messages, ret);
}

/* The stream is over, be it amid a frame. */
static int end(struct layer *t)
{
	struct sv out;

	scrub_stream_end(t->data, &out);
	let_go(t, out);
	if (t->n == 0)
		return 0;
	return t->inside ? end_aside(t) : put_frame(t);
}

int scrub_frames_end(struct scrub_frames *t, struct sv *ret)
{
	int r;

	buf_clear(&t->all.ready);
	r = end(&t->all);
	if (r == 0)
		r = pass(t, ret);
	if (r == 0)
		r = end(&t->messages);
	return r < 0 ? r : give(&t->messages, ret);
}

uint64_t scrub_frames_hits(const struct scrub_frames *t)
{
	return t->messages.hits + scrub_stream_hits(t->all.data) + scrub_stream_hits(t->messages.data);
}
