/*
 * What an agent of ACP prints: how the bytes are cut changes nothing, and a message that is taken for one has an id
 * that can be sent back.
 */
#include "agent/rpc.h"

#include <stdlib.h>

#include "fuzz.h"

static void check_line(struct buf *line)
{
	AUTO_SCAN s = {0}, again = {0};
	AUTO_BUF id = {0};
	struct scan_error e;
	struct rpc_message m;

	if (json_scan_read(&s, line, &e) < 0 || rpc_parse(&s, &m) < 0)
		return;
	if ((m.kind == RPC_REQUEST || m.kind == RPC_NOTIFICATION) == (m.method.p == NULL))
		abort();
	buf_init(&id, RPC_LINE_MAX);
	(void)buf_sv(&id, m.id);
	if (json_scan_read(&again, &id, &e) < 0 || json_scan_kind(&again, 0) >= SCAN_ARRAY)
		abort();
}

/* All lines, one after the other, with their newlines. */
static void lines(struct sv all, size_t piece, struct buf *out)
{
	AUTO_BUF line = {0};
	struct rpc r;
	size_t n;

	rpc_init(&r, -1, -1);
	buf_init(&line, RPC_LINE_MAX);
	for (; all.n; all = sv_n(all.p + n, all.n - n)) {
		n = all.n < piece ? all.n : piece;
		(void)buf_add(&r.received, all.p, n);
		while (rpc_line(&r, &line)) {
			(void)buf_sv(out, buf_view(&line));
			(void)buf_char(out, '\n');
			check_line(&line);
		}
	}
	rpc_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sv all = sv_n((const char *)bytes, n);
	AUTO_BUF whole = {0}, cut = {0};

	buf_init(&whole, 2 * n + 16);
	buf_init(&cut, 2 * n + 16);
	lines(all, n ? n : 1, &whole);
	lines(all, 3, &cut);
	if (!sv_eq(buf_view(&whole), buf_view(&cut)) || buf_failed(&whole))
		abort();
	return 0;
}
