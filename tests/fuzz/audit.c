/*
 * The log's readers, over any bytes: one line, and a whole log. What verifies can be shown, and the report about it can
 * be written.
 */
#include "audit/audit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/audit_line.h"
#include "audit/report_log.h"
#include "audit/report_page.h"
#include "base/buf.h"
#include "fuzz.h"

static void read_line(struct sv text)
{
	const char *end = text.n ? memchr(text.p, '\n', text.n) : NULL;
	struct audit_members m;
	struct audit_line l;

	if (end)
		text.n = (size_t)(end - text.p);
	if (!audit_line_parse(text, &l) && (l.prev.n != AUDIT_HEX || l.hash.n != AUDIT_HEX))
		abort();
	(void)audit_line_members(text, &m);
	(void)audit_line_is_canonical(text);
}

static void show(const char *path, const struct audit_report *report)
{
	FILE *out = fopen("/dev/null", "we");
	struct error err;

	/* Both print the good lines, and say no only where a bad one follows. */
	if (out && audit_show(path, false, out, true, &err) < 0 && report->state != AUDIT_BROKEN)
		abort();
	if (out)
		(void)fclose(out);
}

static void make_page(const char *path)
{
	static struct report_log l; /* large */
	struct report_request req = {.log = path, .policy = sv_of("{\"network\":[\"<none>\"]}")};
	struct error err;
	AUTO_BUF page = {0};

	if (report_log_read(path, NULL, &l, &err) < 0)
		return;
	buf_init(&page, 16 << 20);
	report_page(&l, &req, &page);
	report_log_done(&l);
	if (buf_failed(&page) || memmem(page.p, page.n, "<script", 7) || memmem(page.p, page.n, "\033", 1))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct audit_report report;
	struct error err;
	char path[64];
	int fd = memfd_create("log", MFD_CLOEXEC);

	read_line(sv_n((const char *)bytes, n));
	if (fd < 0 || write_all(fd, bytes, n) < 0)
		abort();
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (audit_verify(path, NULL, &report, &err) < 0)
		abort();
	show(path, &report);
	make_page(path);
	(void)close(fd);
	return 0;
}
