#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "audit/audit.h"
#include "audit/audit_chain.h"
#include "audit/audit_file.h"
#include "base/cleanup.h"
#include "base/text.h"

enum { SHOWN_MAX = 400 }; /* bytes of one value */

typedef int (*print_fn)(struct sv line, FILE *out, bool color);

static const struct {
	const char *verdict, *code;
} colors[] = {{"allow", "\033[32m"}, {"deny", "\033[31m"}, {"escalate", "\033[33m"}};

/* Of a string what is within its quotes: canonical JSON text is readable, and its escapes are as good as any. */
static struct sv unquoted(struct sv value)
{
	return value.n >= 2 && value.p[0] == '"' ? sv_n(value.p + 1, value.n - 2) : value;
}

static void put_time(struct buf *b, uint64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char text[32] = "?";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	(void)buf_printf(b, "%s.%03u", text, (unsigned)(ms % 1000));
}

static void put_word(struct buf *b, struct sv value, size_t width)
{
	struct sv s = unquoted(value);
	size_t n = b->n;

	(void)buf_char(b, ' ');
	text_escape(b, s.n ? s : sv_of("-"), SHOWN_MAX);
	while (b->n < n + width + 1 && !buf_failed(b))
		(void)buf_char(b, ' ');
}

static void put_verdict(struct buf *b, struct sv verdict, bool color)
{
	const char *code = NULL;
	size_t i;

	for (i = 0; color && i < ARRAY_LEN(colors); i++)
		if (sv_is(unquoted(verdict), colors[i].verdict))
			code = colors[i].code;
	if (code)
		(void)buf_str(b, code);
	put_word(b, verdict, 8);
	if (code)
		(void)buf_str(b, "\033[0m");
}

/* Members that have a column, or that say nothing to a person. */
static bool is_plain_member(struct sv key)
{
	static const char *const others[] = {"time",        "event",       "class_uid", "category_uid", "type_uid",
					     "activity_id", "severity_id", "run",       "seq",          "domain",
					     "verdict",     "message",     "prev",      "hash",         "disposition"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(others); i++)
		if (sv_is(key, others[i]))
			return false;
	return true;
}

static uint64_t number(const struct audit_members *m, const char *key)
{
	uint64_t v = 0;

	(void)audit_line_number(audit_line_member(m, key), &v);
	return v;
}

static void put_line(struct buf *b, const struct audit_members *m, bool color)
{
	size_t i;

	put_time(b, number(m, "time"));
	(void)buf_printf(b, " %4" PRIu64, number(m, "seq"));
	put_word(b, audit_line_member(m, "event"), 6);
	put_word(b, audit_line_member(m, "domain"), 10);
	put_verdict(b, audit_line_member(m, "verdict"), color);
	put_word(b, audit_line_member(m, "message"), 1);
	for (i = 0; i < m->n; i++) {
		if (!is_plain_member(m->v[i].key))
			continue;
		(void)buf_char(b, ' ');
		text_escape(b, m->v[i].key, SHOWN_MAX);
		(void)buf_char(b, '=');
		text_escape(b, m->v[i].value, SHOWN_MAX);
	}
	(void)buf_char(b, '\n');
}

static int print_person(struct sv line, FILE *out, bool color)
{
	struct audit_members m;
	AUTO_BUF b = {0};

	if (!audit_line_members(line, &m))
		return -EBADMSG;
	buf_init(&b, 8 * AUDIT_LINE_MAX);
	put_line(&b, &m, color);
	if (buf_failed(&b))
		return buf_failed(&b);
	return fwrite(b.p, 1, b.n, out) == b.n ? 0 : -errno;
}

static int print_json(struct sv line, FILE *out, bool color)
{
	(void)color;
	if (fwrite(line.p, 1, line.n, out) != line.n || fputc('\n', out) == EOF)
		return -errno;
	return 0;
}

/* The first n lines. They were good a moment ago; what has changed since is not shown. */
static int print_lines(struct audit_file *f, uint64_t n, print_fn print, FILE *out, bool color)
{
	struct audit_chain chain;
	struct audit_line l;
	struct sv text;
	int r;

	audit_chain_init(&chain);
	while (chain.n < n) {
		r = audit_file_next(f, &text);
		if (r < 0)
			return r;
		if (r != AUDIT_FILE_LINE || audit_line_parse(text, &l) || !audit_chain_follows(&chain, &l))
			return -ESTALE;
		audit_chain_add(&chain, &l);
		r = print(text, out, color);
		if (r < 0)
			return r;
	}
	return 0;
}

static int show(const char *path, print_fn print, FILE *out, bool color, struct error *err)
{
	struct audit_file *f = NULL;
	struct audit_report report;
	struct text_shown shown;
	int r;

	if (audit_verify(path, NULL, &report, err) < 0 || audit_file_open(path, &f, err) < 0)
		return -1;
	r = print_lines(f, report.lines, print, out, color);
	audit_file_free(f);
	if (r < 0)
		return error_sys(err, r, "%s", text_show(&shown, sv_of(path)));
	if (report.state == AUDIT_BROKEN)
		return error_set(err, ERROR_INPUT, "%s:%" PRIu64 ": %s", text_show(&shown, sv_of(path)),
				 report.bad_line, report.what);
	return 0;
}

int audit_show(const char *path, FILE *out, bool color, struct error *err)
{
	return show(path, print_person, out, color, err);
}

int audit_show_json(const char *path, FILE *out, struct error *err)
{
	return show(path, print_json, out, false, err);
}
