#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <time.h>

#include "audit/audit.h"
#include "audit/audit_chain.h"
#include "audit/audit_file.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"

enum { SHOWN_MAX = 200, WORDS_MAX = 120, LINE_MAX_SHOWN = 16 << 10 }; /* bytes of one value, of a command, of a line */

typedef int (*print_fn)(struct sv line, FILE *out, bool color);

static const struct {
	const char *verdict, *code;
} colors[] = {{"allow", "\033[32m"}, {"deny", "\033[31m"}, {"escalate", "\033[33m"}};

static void put_time(struct buf *b, uint64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char text[32] = "?";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	(void)buf_printf(b, "%s.%03u", text, (unsigned)(ms % 1000));
}

static struct sv text_of(const json_t *v)
{
	return json_is_string(v) ? sv_n(json_string_value(v), json_string_length(v)) : sv_of("");
}

static struct sv member(const json_t *line, const char *key)
{
	return text_of(json_object_get(line, key));
}

/* " word   ", "-" for nothing. */
static void put_column(struct buf *b, struct sv s, size_t width)
{
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
		if (sv_is(verdict, colors[i].verdict))
			code = colors[i].code;
	if (code)
		(void)buf_str(b, code);
	put_column(b, verdict, 8);
	if (code)
		(void)buf_str(b, "\033[0m");
}

/* A value as a person would write it: text without quotes, anything else as JSON. */
static void put_value(struct buf *b, const json_t *v)
{
	AUTO_FREE char *json = NULL;

	if (json_is_string(v)) {
		text_escape(b, text_of(v), SHOWN_MAX);
		return;
	}
	json = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
	text_escape(b, sv_of(json ? json : "?"), SHOWN_MAX);
}

/* A command as one would type it: words with something odd in them in quotes. */
static void put_command(struct buf *b, const json_t *words)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-=:,@%+";
	AUTO_BUF all = {0};
	size_t i;

	buf_init(&all, 1 << 20);
	for (i = 0; i < json_array_size(words); i++) {
		struct sv s = text_of(json_array_get(words, i));
		bool odd = s.n == 0 || strspn(s.p, plain) < s.n;

		(void)buf_printf(&all, "%s%s", i ? " " : "", odd ? "'" : "");
		(void)buf_sv(&all, s);
		(void)buf_str(&all, odd ? "'" : "");
	}
	text_escape(b, buf_view(&all), WORDS_MAX);
}

static void put_start(struct buf *b, json_t *line)
{
	(void)buf_str(b, "start: ");
	put_command(b, json_object_get(line, "command"));
	if (member(line, "policy").n) {
		(void)buf_str(b, "; policy ");
		text_escape(b, member(line, "policy"), SHOWN_MAX);
	}
	if (member(line, "workdir").n) {
		(void)buf_str(b, "; work folder ");
		text_escape(b, member(line, "workdir"), SHOWN_MAX);
		(void)buf_str(b, " (");
		text_escape(b, member(line, "workdir_mode"), SHOWN_MAX);
		(void)buf_char(b, ')');
	}
}

static void put_exec(struct buf *b, json_t *line)
{
	(void)buf_str(b, "exec: ");
	put_command(b, json_object_get(line, "command"));
}

static void put_denial(struct buf *b, json_t *line)
{
	const json_t *count = json_object_get(line, "count");

	if (count) {
		put_value(b, count);
		(void)buf_char(b, ' ');
	}
	text_escape(b, member(line, member(line, "target").n ? "target" : "message"), SHOWN_MAX);
	if (member(line, "access").n) {
		(void)buf_str(b, " (");
		text_escape(b, member(line, "access"), SHOWN_MAX);
		(void)buf_char(b, ')');
	}
	/* a rule of a domain says why by itself */
	if (member(line, "target").n && member(line, "message").n &&
	    (!member(line, "rule").n || !member(line, "domain").n)) {
		(void)buf_str(b, ": ");
		text_escape(b, member(line, "message"), SHOWN_MAX);
	}
}

static void put_exit(struct buf *b, json_t *line)
{
	const json_t *usage = json_object_get(line, "usage"), *peak = json_object_get(usage, "memory_peak");
	json_int_t us = json_integer_value(json_object_get(usage, "user_us")) +
			json_integer_value(json_object_get(usage, "system_us")),
		   bytes = peak ? json_integer_value(peak)
				: json_integer_value(json_object_get(usage, "max_rss_kib")) * 1024,
		   denials = json_integer_value(json_object_get(usage, "denials"));

	(void)buf_printf(b, "exit %" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(line, "exit")));
	if (usage)
		(void)buf_printf(b, "; %.3f s of CPU, %.1f MiB of memory, %" JSON_INTEGER_FORMAT " denial%s",
				 (double)us / 1e6, (double)bytes / (1 << 20), denials, denials == 1 ? "" : "s");
	if (member(line, "limit").n) {
		(void)buf_str(b, "; ended by ");
		text_escape(b, member(line, "limit"), SHOWN_MAX);
	}
}

/* Members that every line has, or that --json is for. */
static bool is_told(const char *key)
{
	static const char *const told[] = {"time", "event",   "class_uid", "category_uid", "type_uid", "activity_id",
					   "run",  "seq",     "severity_id", "domain",     "verdict",  "message",
					   "prev", "hash",    "disposition", "rule",       "target"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(told); i++)
		if (strcmp(key, told[i]) == 0)
			return true;
	return false;
}

/* Whatever has no row below: its kind, its message or target, and what else it says. */
static void put_other(struct buf *b, json_t *line)
{
	struct sv what = member(line, member(line, "message").n ? "message" : "target");
	const char *key;
	json_t *v;

	text_escape(b, member(line, "event"), SHOWN_MAX);
	if (what.n) {
		(void)buf_str(b, ": ");
		text_escape(b, what, SHOWN_MAX);
	}
	if (member(line, "message").n && member(line, "target").n) {
		(void)buf_str(b, ": ");
		text_escape(b, member(line, "target"), SHOWN_MAX);
	}
	json_object_foreach(line, key, v)
	{
		if (is_told(key))
			continue;
		(void)buf_char(b, ' ');
		text_escape(b, sv_of(key), SHOWN_MAX);
		(void)buf_char(b, '=');
		put_value(b, v);
	}
}

static const struct {
	const char *event;
	void (*put)(struct buf *b, json_t *line);
	const char *needs; /* the member without which a line of that kind is like any other */
} kinds[] = {
	{"start", put_start, "command"}, {"exec", put_exec, "command"},	  {"exit", put_exit, "exit"},
	{"denial", put_denial, "target"}, {"denial", put_denial, "count"},
};

/* time domain verdict what[; rule: rule] */
static void put_line(struct buf *b, json_t *line, bool color)
{
	void (*put)(struct buf *, json_t *) = put_other;
	struct sv rule = member(line, "rule");
	size_t i;

	for (i = 0; i < ARRAY_LEN(kinds); i++)
		if (sv_is(member(line, "event"), kinds[i].event) && json_object_get(line, kinds[i].needs))
			put = kinds[i].put;
	put_time(b, (uint64_t)json_integer_value(json_object_get(line, "time")));
	put_column(b, member(line, "domain"), 10);
	put_verdict(b, member(line, "verdict"), color);
	(void)buf_char(b, ' ');
	put(b, line);
	if (rule.n) {
		(void)buf_str(b, color ? "; \033[2mrule: " : "; rule: ");
		text_escape(b, rule, SHOWN_MAX);
		(void)buf_str(b, color ? "\033[0m" : "");
	}
	(void)buf_char(b, '\n');
}

static int print_person(struct sv text, FILE *out, bool color)
{
	json_t *line = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	AUTO_BUF b = {0};

	if (!line)
		return -EBADMSG;
	buf_init(&b, LINE_MAX_SHOWN + AUDIT_LINE_MAX);
	put_line(&b, line, color);
	json_decref(line);
	if (buf_failed(&b))
		return buf_failed(&b);
	return fwrite(b.p, 1, b.n, out) == b.n ? 0 : -errno;
}

static int print_json(struct sv line, FILE *out, bool color)
{
	AUTO_BUF b = {0};

	(void)color;
	buf_init(&b, 6 * AUDIT_LINE_MAX + 1);
	json_tame(&b, line);
	if (buf_char(&b, '\n') < 0)
		return buf_failed(&b);
	return fwrite(b.p, 1, b.n, out) == b.n ? 0 : -errno;
}

/* The first n lines. They were good a moment ago; what has changed since is not shown. */
static int print_lines(struct audit_file *f, uint64_t n, print_fn print, FILE *out, bool color)
{
	struct audit_chain chain;
	struct audit_line l;
	struct sv text;
	uint64_t i;
	int r;

	audit_chain_init(&chain);
	for (i = 0; i < n; i++) {
		r = audit_file_next(f, &text);
		if (r < 0)
			return r;
		if (r != AUDIT_FILE_LINE || audit_line_parse(text, &l))
			return -ESTALE;
		if (audit_chain_begins(&chain, &l))
			audit_chain_init(&chain);
		if (!audit_chain_follows(&chain, &l))
			return -ESTALE;
		audit_chain_add(&chain, &l);
		r = print(text, out, color);
		if (r < 0)
			return r;
	}
	return 0;
}

static int show(const char *path, bool all, print_fn print, FILE *out, bool color, struct error *err)
{
	struct audit_file *f = NULL;
	struct audit_report report;
	struct text_shown shown;
	int r;

	if ((all ? audit_verify_all : audit_verify)(path, NULL, &report, err) < 0 || audit_file_open(path, &f, err) < 0)
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

int audit_show(const char *path, bool all, FILE *out, bool color, struct error *err)
{
	return show(path, all, print_person, out, color, err);
}

int audit_show_json(const char *path, bool all, FILE *out, struct error *err)
{
	return show(path, all, print_json, out, false, err);
}
