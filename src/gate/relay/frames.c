#include "gate/relay/frames.h"

#include <stdlib.h>

/* Of a frame: two bytes, the length in up to eight more, the mask. */
enum { MASK = 4, HEAD_MAX = 2 + 8 + MASK, CHUNK = 4096 };
enum { PACKED = 0x40, OPCODE = 0x0f, CONTROL = 0x08, MASKED = 0x80, LENGTH = 0x7f, LENGTH_16 = 126, LENGTH_64 = 127 };

struct frames {
	struct placeholder_scan *scan;	  /* of messages */
	struct placeholder_scan *between; /* of control frames, which stand between the parts of one */
	unsigned char head[HEAD_MAX];
	size_t n;      /* of the head */
	uint64_t left; /* of the payload */
	unsigned turn; /* which byte of the mask is next */
	bool inside;   /* the head is complete */
	bool packed;   /* the message that is open is compressed: only its first frame says so */
};

struct frames *frames_new(struct placeholder_set *set)
{
	struct frames *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->scan = placeholder_scan_new(set);
	f->between = placeholder_scan_new(set);
	if (f->scan && f->between)
		return f;
	frames_free(f);
	return NULL;
}

void frames_free(struct frames *f)
{
	if (!f)
		return;
	placeholder_scan_free(f->scan);
	placeholder_scan_free(f->between);
	free(f);
}

static size_t length_size(const struct frames *f)
{
	unsigned n = f->head[1] & LENGTH;

	return n == LENGTH_64 ? 8 : n == LENGTH_16 ? 2 : 0;
}

/* A client has to mask; one that does not is read all the same. */
static size_t mask_size(const struct frames *f)
{
	return f->head[1] & MASKED ? MASK : 0;
}

static void begin(struct frames *f)
{
	static const unsigned char none[MASK];
	size_t size = length_size(f), i;

	f->left = size ? 0 : f->head[1] & LENGTH;
	for (i = 0; i < size; i++)
		f->left = f->left << 8 | f->head[2 + i];
	memmove(f->head + 2, mask_size(f) ? f->head + 2 + size : none, MASK);
	f->turn = 0;
	f->inside = true;
	/* a frame that goes on with a message is of its kind; control frames stand between */
	if (!(f->head[0] & CONTROL) && (f->head[0] & OPCODE))
		f->packed = f->head[0] & PACKED;
}

/* One byte of a head. */
static void take_head(struct frames *f, unsigned char c)
{
	f->head[f->n++] = c;
	if (f->n >= 2 && f->n == 2 + length_size(f) + mask_size(f))
		begin(f);
}

/* Of the payload, at most a chunk. */
static int take_payload(struct frames *f, struct sv *bytes)
{
	char plain[CHUNK];
	size_t n = bytes->n < sizeof(plain) ? bytes->n : sizeof(plain), i;
	int found;

	n = n < f->left ? n : (size_t)f->left;
	for (i = 0; i < n; i++)
		plain[i] = (char)(bytes->p[i] ^ (char)f->head[2 + (f->turn + i) % MASK]);
	f->turn = (unsigned)((f->turn + n) % MASK);
	f->left -= n;
	if (f->head[0] & CONTROL)
		found = placeholder_scan_feed(f->between, sv_n(plain, n));
	else
		found = f->packed ? PLACEHOLDER_NONE : placeholder_scan_feed(f->scan, sv_n(plain, n));
	*bytes = sv_n(bytes->p + n, bytes->n - n);
	return found;
}

int frames_feed(struct frames *f, struct sv bytes)
{
	int found = PLACEHOLDER_NONE;

	while (bytes.n && found == PLACEHOLDER_NONE) {
		if (f->inside) {
			found = take_payload(f, &bytes);
		} else {
			take_head(f, (unsigned char)bytes.p[0]);
			bytes = sv_n(bytes.p + 1, bytes.n - 1);
		}
		if (f->inside && f->left == 0) {
			f->inside = false;
			f->n = 0;
		}
	}
	return found;
}
