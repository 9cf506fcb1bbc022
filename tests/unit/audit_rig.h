/*
 * audit_rig: logs of random events in a folder of the test's own, to be looked at and tampered with line by line.
 */
#ifndef CORDON_TESTS_AUDIT_RIG_H
#define CORDON_TESTS_AUDIT_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/audit.h"
#include "audit/audit_line.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "check.h"

/* Not every test uses all of it. */
#define MAYBE __attribute__((unused)) static

enum { LINES_MAX = 80 };

MAYBE char folder[] = "/tmp/cordon-test-audit-XXXXXX";
MAYBE char path[64], copy_path[64];

/* A log in memory, as its lines (without newlines), so that tests can tamper with it. */
struct log {
	char *line[LINES_MAX + 2];
	size_t n;
};

MAYBE uint32_t seed = 12345;

MAYBE uint32_t roll(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

MAYBE struct audit *fresh(void)
{
	struct audit *a = NULL;
	struct error err = {0};

	(void)unlink(path);
	CHECK(audit_new(path, "r-1", -1, &a, &err) == 0);
	return a;
}

MAYBE int put(struct audit *a, enum event_kind kind, const char *message)
{
	struct event e = {.kind = kind, .domain = DOMAIN_PROCESS, .message = message};
	struct error err = {0};

	return audit_write(a, &e, &err);
}

MAYBE void random_text(char *out, size_t max)
{
	static const char *const bits[] = {"a",    "\"",       "\\", "\n", "\t",         "\x1b[2J",
					   "\xff", "\xc3\xbc", " ",  "}",  ",\"hash\":", "{"};
	size_t n = 0, count = roll(12);

	out[0] = '\0';
	while (count--)
		n += (size_t)snprintf(out + n, max - n, "%s", bits[roll(ARRAY_LEN(bits))]);
}

MAYBE void put_random(struct audit *a, enum event_kind kind)
{
	static const char *const verdicts[] = {NULL, "allow", "deny", "escalate"};
	char text[3][128];
	struct event_field fields[] = {
		{"path", {text[1], 0}, 0},
		{"usage", {"{\"cpu\":[1,2.5e3,null],\"x\":true}", 31}, 1},
		{"other", {text[2], 0}, 0},
	};
	struct event e = {.kind = kind, .domain = (enum event_domain)roll(5), .verdict = verdicts[roll(4)]};
	struct error err = {0};
	size_t i;

	for (i = 0; i < 3; i++)
		random_text(text[i], sizeof(text[i]));
	fields[0].value.n = strlen(text[1]);
	fields[2].value.n = strlen(text[2]);
	e.message = roll(4) ? text[0] : NULL;
	e.rule = roll(2) ? "filesystem.deny ~/.ssh" : NULL;
	e.fields = fields;
	e.n_fields = roll(4);
	CHECK(audit_write(a, &e, &err) == 0);
}

MAYBE void random_log(size_t n, const char *run)
{
	struct error err = {0};
	struct audit *a = NULL;
	size_t i;

	(void)unlink(path);
	CHECK(audit_new(path, run, -1, &a, &err) == 0);
	if (!a)
		exit(1);
	put_random(a, EVENT_START);
	for (i = 2; i < n; i++)
		put_random(a, (enum event_kind[]){EVENT_DENIAL, EVENT_LIMIT, EVENT_EXEC, EVENT_SIGNAL,
						  EVENT_NOTE}[roll(5)]);
	put_random(a, EVENT_EXIT);
	audit_free(a);
}

MAYBE void load(struct log *log)
{
	char *at, *end;
	AUTO_BUF b;

	*log = (struct log){0};
	buf_init(&b, 1 << 20);
	CHECK(buf_read_file(&b, path) == 0);
	for (at = b.p; *at; at = end + 1) {
		end = strchr(at, '\n');
		log->line[log->n++] = strndup(at, (size_t)(end - at));
	}
}

MAYBE void drop_log(struct log *log)
{
	size_t i;

	for (i = 0; i < log->n; i++)
		free(log->line[i]);
}

MAYBE void store(const struct log *log)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	AUTO_BUF b;
	size_t i;

	buf_init(&b, 1 << 20);
	for (i = 0; i < log->n; i++)
		(void)buf_printf(&b, "%s\n", log->line[i]);
	CHECK(write_all(fd, b.p, b.n) == 0);
}

MAYBE void store_bytes(const char *p, size_t n)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(write_all(fd, p, n) == 0);
}

MAYBE struct audit_report verify(const char *last)
{
	struct audit_report r = {0};
	struct error err = {0};

	CHECK(audit_verify(path, last, &r, &err) == 0);
	return r;
}

/* Stores the tampered log and looks whether the first bad line is found. */
MAYBE void expect(const struct log *log, uint64_t line, const char *what, const char *test)
{
	struct audit_report r;

	store(log);
	r = verify(NULL);
	if (r.state == AUDIT_BROKEN && r.bad_line == line && strncmp(r.what, what, strlen(what)) == 0 &&
	    r.lines == line - 1)
		return;
	printf("# %s: want line %" PRIu64 " %s, got state %d line %" PRIu64 " (%s)\n", test, line, what, r.state,
	       r.bad_line, r.what);
	check_failures++;
}

/* The line with its number, predecessor and hash written anew, as a forger would. */
MAYBE char *forge(const char *line, uint64_t seq, const char *prev, const char *event)
{
	const char *at = strstr(line, "\"seq\":"), *rest = strchr(at, ','), *tail = strstr(line, ",\"prev\":\"");
	char hash[SHA256_HEX];
	AUTO_BUF b;

	buf_init(&b, AUDIT_LINE_MAX * 2);
	if (event) /* in front, where it is a further member: the forger changes content */
		(void)buf_printf(&b, "{\"%s\":1,%.*s", event, (int)(at - line) - 1, line + 1);
	else
		(void)buf_add(&b, line, (size_t)(at - line));
	(void)buf_printf(&b, "\"seq\":%" PRIu64 "%.*s,\"prev\":\"%.64s\"", seq, (int)(tail - rest), rest, prev);
	audit_line_hash(sv_n(prev, 64), buf_view(&b), hash);
	(void)buf_printf(&b, ",\"hash\":\"%s\"}", hash);
	return buf_take(&b);
}

MAYBE const char *hash_of(const char *line)
{
	return line + strlen(line) - 2 - 64;
}

MAYBE const char *prev_of(const char *line)
{
	return strstr(line, ",\"prev\":\"") + 9;
}

/* In the folder, which is gone afterwards. */
static int rig_main(const struct check_case *cases, size_t n)
{
	int r;

	if (!mkdtemp(folder))
		return 1;
	(void)snprintf(path, sizeof(path), "%s/log", folder);
	(void)snprintf(copy_path, sizeof(copy_path), "%s/copy", folder);
	r = check_main(cases, n);
	(void)unlink(path);
	(void)rmdir(folder);
	return r;
}

#endif
