#include "image/unpack_report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "wire/wire.h"

enum { CODE_MAX = 4096 };

void unpack_report_put(struct buf *out, const struct unpack_report *r)
{
	const struct unpack_counts *c = &r->counts;
	const uint64_t numbers[] = {c->entries, c->bytes, c->devices, c->xattrs, c->ids, c->setuid, c->skipped};
	size_t i;

	wire_put_u32(out, r->ok);
	wire_put_u32(out, r->whole);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		wire_put_u64(out, numbers[i]);
	wire_put_sv(out, sv_of(r->name));
	wire_put_sv(out, sv_of(r->wrong));
	wire_put_u32(out, (uint32_t)r->code);
}

static void get_text(struct wire_in *in, char *to, size_t size)
{
	struct sv s = wire_get_sv(in);

	if (s.n >= size || memchr(s.p, '\0', s.n)) {
		in->failed = true;
		return;
	}
	memcpy(to, s.p, s.n);
	to[s.n] = '\0';
}

int unpack_report_get(struct sv body, struct unpack_report *ret)
{
	struct unpack_report r = {0};
	struct unpack_counts *c = &r.counts;
	uint64_t *const numbers[] = {&c->entries, &c->bytes, &c->devices, &c->xattrs, &c->ids, &c->setuid, &c->skipped};
	struct wire_in in;
	size_t i;

	wire_in_init(&in, body);
	r.ok = wire_get_u32(&in) == 1;
	r.whole = wire_get_u32(&in) == 1;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		*numbers[i] = wire_get_u64(&in);
	get_text(&in, r.name, sizeof(r.name));
	get_text(&in, r.wrong, sizeof(r.wrong));
	r.code = (int)wire_get_u32(&in);
	if (!wire_ok(&in) || r.code < 0 || r.code > CODE_MAX)
		return -EBADMSG;
	*ret = r;
	return 0;
}
