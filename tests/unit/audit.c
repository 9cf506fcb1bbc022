#include "audit/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/audit_line.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "check.h"

enum { LINES_MAX = 80 };

static char folder[] = "/tmp/cordon-test-audit-XXXXXX";
static char path[64], copy_path[64];

/* A log in memory, as its lines (without newlines), so that tests can tamper with it. */
struct log {
	char *line[LINES_MAX + 2];
	size_t n;
};

static uint32_t seed = 12345;

static uint32_t roll(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static struct audit *fresh(void)
{
	struct audit *a = NULL;
	struct error err = {0};

	(void)unlink(path);
	CHECK(audit_new(path, "r-1", -1, &a, &err) == 0);
	return a;
}

static int put(struct audit *a, enum event_kind kind, const char *message)
{
	struct event e = {.kind = kind, .domain = DOMAIN_PROCESS, .message = message};
	struct error err = {0};

	return audit_write(a, &e, &err);
}

static void random_text(char *out, size_t max)
{
	static const char *const bits[] = {"a",    "\"",       "\\", "\n", "\t",         "\x1b[2J",
					   "\xff", "\xc3\xbc", " ",  "}",  ",\"hash\":", "{"};
	size_t n = 0, count = roll(12);

	out[0] = '\0';
	while (count--)
		n += (size_t)snprintf(out + n, max - n, "%s", bits[roll(ARRAY_LEN(bits))]);
}

static void put_random(struct audit *a, enum event_kind kind)
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

static void random_log(size_t n, const char *run)
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

static void load(struct log *log)
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

static void drop_log(struct log *log)
{
	size_t i;

	for (i = 0; i < log->n; i++)
		free(log->line[i]);
}

static void store(const struct log *log)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	AUTO_BUF b;
	size_t i;

	buf_init(&b, 1 << 20);
	for (i = 0; i < log->n; i++)
		(void)buf_printf(&b, "%s\n", log->line[i]);
	CHECK(write_all(fd, b.p, b.n) == 0);
}

static void store_bytes(const char *p, size_t n)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(write_all(fd, p, n) == 0);
}

static struct audit_report verify(const char *last)
{
	struct audit_report r = {0};
	struct error err = {0};

	CHECK(audit_verify(path, last, &r, &err) == 0);
	return r;
}

/* Stores the tampered log and looks whether the first bad line is found. */
static void expect(const struct log *log, uint64_t line, const char *what, const char *test)
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
static char *forge(const char *line, uint64_t seq, const char *prev, const char *event)
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

static const char *hash_of(const char *line)
{
	return line + strlen(line) - 2 - 64;
}

static const char *prev_of(const char *line)
{
	return strstr(line, ",\"prev\":\"") + 9;
}

static void every_written_line_is_canonical_json_with_the_agreed_members(void)
{
	static const char *const members[] = {"\"time\":",
					      "\"event\":\"denial\"",
					      "\"class_uid\":1001",
					      "\"activity_id\":",
					      "\"severity_id\":3",
					      "\"disposition\":\"Blocked\"",
					      "\"run\":\"r-1\"",
					      "\"seq\":1",
					      "\"domain\":\"filesystem\"",
					      "\"verdict\":\"deny\"",
					      "\"rule\":\"a\\\\b\\\"\"",
					      "\"x\":[1,{\"y\":null}]",
					      "\"z\":\"{ \\\"bad\\\":1}\"",
					      "\"prev\":\"0000",
					      "\"hash\":\""};
	struct event_field fields[] = {{"x", {"[1,{\"y\":null}]", 14}, 1}, {"z", {"{ \"bad\":1}", 10}, 1}};
	struct event e = {EVENT_DENIAL, DOMAIN_FILESYSTEM, "deny", "a\\b\"", "m\n", fields, 2};
	struct audit *a = fresh();
	struct error err = {0};
	struct audit_line l;
	struct log log;
	size_t i;

	CHECK(audit_write(a, &e, &err) == 0);
	CHECK(audit_count(a) == 1);
	load(&log);
	CHECK(log.n == 1 && audit_line_parse(sv_of(log.line[0]), &l) == NULL);
	for (i = 0; i < ARRAY_LEN(members); i++)
		if (!strstr(log.line[0], members[i])) {
			printf("# no %s in %s\n", members[i], log.line[0]);
			check_failures++;
		}
	CHECK(strncmp(hash_of(log.line[0]), audit_last_hash(a), 64) == 0);
	drop_log(&log);
	audit_free(a);
}

static void the_log_is_made_anew_and_only_its_owner_reads_it(void)
{
	struct audit *a = fresh(), *b = NULL;
	struct error err = {0};
	struct stat st;

	CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600);
	CHECK(audit_new(path, "r-2", -1, &b, &err) == -1 && err.code == EEXIST);
	audit_free(a);
	(void)unlink(path);
	CHECK(symlink("/tmp/elsewhere", path) == 0);
	CHECK(audit_new(path, "r-2", -1, &b, &err) == -1 && err.code == EEXIST);
	(void)unlink(path);
}

static void a_finished_log_is_good_and_one_without_an_exit_is_unfinished(void)
{
	struct audit *a = fresh();
	struct audit_report r;

	r = verify(NULL);
	CHECK(r.state == AUDIT_UNFINISHED && r.lines == 0);
	CHECK(put(a, EVENT_START, NULL) == 0);
	r = verify(NULL);
	CHECK(r.state == AUDIT_UNFINISHED && r.lines == 1 && r.bad_line == 0);
	CHECK(put(a, EVENT_EXIT, NULL) == 0);
	r = verify(audit_last_hash(a));
	CHECK(r.state == AUDIT_GOOD && r.lines == 2);
	CHECK_STR(r.last_hash, audit_last_hash(a));
	CHECK(put(a, EVENT_NOTE, NULL) == -1);
	CHECK(verify(NULL).state == AUDIT_GOOD);
	audit_free(a);
}

static void the_copy_gets_the_same_lines(void)
{
	AUTO_FD fd = open(copy_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct audit *a = NULL;
	struct error err = {0};
	AUTO_BUF one;
	AUTO_BUF two;

	(void)unlink(path);
	CHECK(audit_new(path, "r-1", fd, &a, &err) == 0);
	CHECK(put(a, EVENT_START, "x") == 0 && put(a, EVENT_EXIT, "y") == 0);
	audit_free(a);
	buf_init(&one, 1 << 20);
	buf_init(&two, 1 << 20);
	CHECK(buf_read_file(&one, path) == 0 && buf_read_file(&two, copy_path) == 0);
	CHECK(one.n > 0 && sv_eq(buf_view(&one), buf_view(&two)));
	(void)unlink(copy_path);
}

static void a_failed_write_is_an_error_for_good(void)
{
	AUTO_FD full = open("/dev/full", O_WRONLY);
	struct error err = {0};
	struct audit *a = NULL;

	(void)unlink(path);
	CHECK(audit_new(path, "r-1", full, &a, &err) == 0);
	CHECK(put(a, EVENT_START, NULL) == -1);
	CHECK(put(a, EVENT_START, NULL) == -1);
	CHECK(verify(audit_last_hash(a)).state == AUDIT_UNFINISHED);
	audit_free(a);
}

static void a_field_cannot_pose_as_a_member(void)
{
	static const char *const keys[] = {"hash", "prev", "seq", "time", "verdict", "cut"};
	struct event_field f[] = {{"hash", {"x", 1}, 0}, {"twice", {"x", 1}, 0}, {"twice", {"x", 1}, 0}};
	struct event e = {.kind = EVENT_NOTE, .fields = f, .n_fields = 1};
	struct audit *a = fresh();
	struct error err = {0};
	size_t i;

	for (i = 0; i < ARRAY_LEN(keys); i++) {
		f[0].key = keys[i];
		CHECK(audit_write(a, &e, &err) == -1);
	}
	e.fields = f + 1;
	e.n_fields = 2;
	CHECK(audit_write(a, &e, &err) == -1);
	CHECK(audit_count(a) == 0 && put(a, EVENT_START, NULL) == 0);
	audit_free(a);
}

static void a_huge_event_is_cut_marked_and_still_verifies(void)
{
	static char huge[100000], json[70000];
	struct event_field f[70];
	struct event e = {.kind = EVENT_EXIT, .fields = f};
	struct audit *a = fresh();
	struct error err = {0};
	char keys[70][8];
	struct stat st;
	struct log log;
	size_t i;

	memset(huge, '\x01', sizeof(huge) - 1); /* the worst case of escaping */
	memset(json, '1', sizeof(json));
	for (i = 0; i < 70; i++) {
		(void)snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
		f[i] = (struct event_field){keys[i], sv_n(huge, i == 3 ? 20 : sizeof(huge) - 1), 0};
	}
	f[1] = (struct event_field){"json", sv_n(json, sizeof(json)), 1};
	e.message = huge;
	e.rule = "\xc3\xbc";
	e.n_fields = 70;
	CHECK(audit_write(a, &e, &err) == 0);
	CHECK(stat(path, &st) == 0 && st.st_size <= AUDIT_LINE_MAX);
	CHECK(verify(audit_last_hash(a)).state == AUDIT_GOOD);
	load(&log);
	CHECK(strstr(log.line[0], "[cut]") && strstr(log.line[0], "\"cut\":"));
	drop_log(&log);
	audit_free(a);
}

static void every_flipped_bit_is_found_at_its_line(void)
{
	uint64_t line = 1;
	size_t i;
	int bit;
	char was;
	AUTO_BUF b;

	random_log(8, "r-1");
	buf_init(&b, 1 << 20);
	CHECK(buf_read_file(&b, path) == 0);
	for (i = 0; i < b.n; i++) {
		AUTO_FD fd = open(path, O_WRONLY);

		was = b.p[i];
		for (bit = 0; bit < 8; bit++) {
			char now = (char)(was ^ (1 << bit));
			struct audit_report r;

			CHECK(pwrite(fd, &now, 1, (off_t)i) == 1);
			r = verify(NULL);
			if (r.state != AUDIT_BROKEN || r.bad_line != line) {
				printf("# byte %zu bit %d: want line %" PRIu64 ", got %" PRIu64 " (%s)\n", i, bit, line,
				       r.bad_line, r.what);
				check_failures++;
			}
		}
		CHECK(pwrite(fd, &was, 1, (off_t)i) == 1);
		line += was == '\n';
	}
	CHECK(verify(NULL).state == AUDIT_GOOD);
}

static void every_dropped_line_is_found(void)
{
	struct log log, cut;
	size_t i;

	random_log(60, "r-1");
	load(&log);
	for (i = 0; i < log.n; i++) {
		cut = log;
		memmove(cut.line + i, cut.line + i + 1, (cut.n - i - 1) * sizeof(cut.line[0]));
		cut.n--;
		if (i + 1 < log.n) {
			expect(&cut, i + 1, "dropped", __func__);
			continue;
		}
		store(&cut);
		CHECK(verify(NULL).state == AUDIT_UNFINISHED);
	}
	drop_log(&log);
}

static void every_swap_of_two_lines_is_found(void)
{
	struct log log, swapped;
	size_t i, k;

	random_log(30, "r-1");
	load(&log);
	for (i = 0; i < log.n; i++)
		for (k = i + 1; k < log.n; k++) {
			swapped = log;
			swapped.line[i] = log.line[k];
			swapped.line[k] = log.line[i];
			expect(&swapped, i + 1, "reordered", __func__);
		}
	drop_log(&log);
}

static void insert(struct log *log, size_t at, char *line)
{
	memmove(log->line + at + 1, log->line + at, (log->n - at) * sizeof(log->line[0]));
	log->line[at] = line;
	log->n++;
}

static void every_copy_of_a_line_is_found(void)
{
	struct log log, more;
	size_t i, k;

	random_log(30, "r-1");
	load(&log);
	for (i = 0; i < log.n; i++)
		for (k = 0; k <= log.n; k++) {
			more = log;
			insert(&more, k, log.line[i]);
			/* a copy right before the line itself cannot be told from one right behind it */
			expect(&more, (k == i ? i + 1 : k) + 1, k < i ? "added" : "duplicated", __func__);
		}
	drop_log(&log);
}

static void every_inserted_line_is_found(void)
{
	static char garbage[] = "not json", spaced[] = "{\"a\": 1}", empty[] = "";
	struct log log, more, other;
	size_t k;
	char *forged;

	random_log(20, "r-2");
	load(&other);
	random_log(20, "r-1");
	load(&log);
	for (k = 0; k < log.n; k++) {
		more = log;
		insert(&more, k, garbage);
		expect(&more, k + 1, "added: it is not JSON", __func__);
		more.line[k] = spaced;
		expect(&more, k + 1, "added: it is not in canonical form", __func__);
		more.line[k] = empty;
		expect(&more, k + 1, "added", __func__);
		more.line[k] = other.line[k];
		expect(&more, k + 1, "added", __func__);
		/* one that follows, and is right in itself: the line behind it shows it */
		forged = forge(log.line[k], k + 1, k ? hash_of(log.line[k - 1]) : AUDIT_NO_HASH, "extra");
		more.line[k] = forged;
		expect(&more, k + 1, "added", __func__);
		free(forged);
	}
	more = log;
	forged = forge(log.line[3], log.n + 1, hash_of(log.line[log.n - 1]), NULL);
	insert(&more, log.n, forged);
	expect(&more, log.n + 1, "added: it stands behind the exit event", __func__);
	free(forged);
	drop_log(&log);
	drop_log(&other);
}

static void a_line_that_was_changed_and_hashed_again_is_found(void)
{
	struct audit_report r;
	struct log log, bad;
	char *forged;
	size_t i;

	random_log(40, "r-1");
	load(&log);
	for (i = 0; i < log.n; i++) {
		bad = log;
		forged = forge(log.line[i], i + 1, prev_of(log.line[i]), "extra");
		bad.line[i] = forged;
		if (i + 1 < log.n) {
			expect(&bad, i + 1, "changed", __func__);
		} else {
			store(&bad);
			CHECK(verify(NULL).state == AUDIT_GOOD); /* the chain alone cannot know */
			char last[SHA256_HEX] = "";

			memcpy(last, hash_of(log.line[i]), 64);
			r = verify(last);
			CHECK(r.state == AUDIT_BROKEN && r.bad_line == i + 1);
		}
		free(forged);
		forged = forge(log.line[i], i + 7, prev_of(log.line[i]), NULL);
		bad.line[i] = forged;
		store(&bad);
		r = verify(NULL);
		CHECK(r.state == AUDIT_BROKEN && r.bad_line == i + 1);
		free(forged);
		forged = forge(log.line[i], i + 1, "00000000000000000000000000000000000000000000000000000000000000ff",
			       NULL);
		bad.line[i] = forged;
		if (i + 1 < log.n)
			expect(&bad, i + 1, "changed", __func__);
		free(forged);
	}
	drop_log(&log);
}

static void a_line_written_again_by_another_program_is_not_canonical(void)
{
	static const char *const from[] = {"{\"time\":", "\"event\":", "\"seq\":", "\"run\":\"r-1\"", "\"rule\":\"f"};
	static const char *const to[] = {"{ \"time\":", "\"event\": ", "\"seq\" :", "\"run\":\"r\\u002d1\"",
					 "\"rule\":\"\\u0066"};
	struct log log, bad;
	size_t i, k;
	AUTO_BUF b;

	random_log(20, "r-1");
	load(&log);
	buf_init(&b, AUDIT_LINE_MAX);
	for (i = 0; i < log.n; i++)
		for (k = 0; k < ARRAY_LEN(from); k++) {
			const char *at = strstr(log.line[i], from[k]);

			if (!at)
				continue;
			bad = log;
			buf_clear(&b);
			(void)buf_add(&b, log.line[i], (size_t)(at - log.line[i]));
			(void)buf_printf(&b, "%s%s", to[k], at + strlen(from[k]));
			bad.line[i] = b.p;
			expect(&bad, i + 1, "changed: it is not in canonical form", __func__);
		}
	drop_log(&log);
}

static void cut_long_and_binary_lines_are_found(void)
{
	static char huge[3 * AUDIT_LINE_MAX];
	struct audit_report r;
	struct log log;
	AUTO_BUF b;
	size_t i;

	random_log(5, "r-1");
	load(&log);
	buf_init(&b, 1 << 20);
	CHECK(buf_read_file(&b, path) == 0);
	for (i = b.n - 1; i > b.n - strlen(log.line[4]) - 1; i--) {
		store_bytes(b.p, i);
		r = verify(NULL);
		CHECK(r.state == AUDIT_BROKEN && r.bad_line == 5 && strncmp(r.what, "cut off", 7) == 0);
	}
	memset(huge, 'x', sizeof(huge) - 1);
	for (i = 0; i < 3; i++) {
		char *was = log.line[2];

		log.line[2] = huge + i * AUDIT_LINE_MAX - (i == 2);
		expect(&log, 3, "changed: it is longer", __func__);
		log.line[2] = was;
	}
	b.p[40] = '\0';
	store_bytes(b.p, b.n);
	r = verify(NULL);
	CHECK(r.state == AUDIT_BROKEN && r.bad_line == 1 && strstr(r.what, "NUL"));
	drop_log(&log);
}

static void what_is_expected_last_finds_a_shortened_or_lengthened_end(void)
{
	char last[3][SHA256_HEX] = {"", "", ""};
	struct audit_report r;
	struct log log, cut;
	size_t i;

	random_log(9, "r-1");
	load(&log);
	for (i = 0; i < 3; i++)
		memcpy(last[i], hash_of(log.line[6 + i]), 64);
	CHECK(verify(last[2]).state == AUDIT_GOOD);
	r = verify(last[1]);
	CHECK(r.state == AUDIT_BROKEN && r.bad_line == 9);
	cut = log;
	cut.n = 7;
	store(&cut);
	CHECK(verify(last[0]).state == AUDIT_UNFINISHED);
	r = verify(last[2]);
	CHECK(r.state == AUDIT_BROKEN && r.bad_line == 8 && strncmp(r.what, "dropped", 7) == 0);
	drop_log(&log);
}

static void what_cannot_be_read_is_an_error(void)
{
	struct audit_report r;
	struct error err = {0};

	CHECK(audit_verify("/nonexistent/log", NULL, &r, &err) == -1 && err.code == ENOENT);
	CHECK(audit_verify("/tmp", NULL, &r, &err) == -1 && err.code == EISDIR);
	CHECK(audit_verify("/dev/null", NULL, &r, &err) == -1);
	CHECK(audit_verify(path, "xyz", &r, &err) == -1 && err.kind == ERROR_USAGE);
}

static void showing_a_log_never_passes_its_escapes_on(void)
{
	struct event_field f = {"path", sv_of("/tmp/\x1b]0;x\x07\xe2\x80\xae"), 0};
	struct event e = {EVENT_DENIAL, DOMAIN_FILESYSTEM, "deny", "r", "bad\x1b[2J\nname", &f, 1};
	struct audit *a = fresh();
	struct error err = {0};
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	CHECK(audit_write(a, &e, &err) == 0);
	audit_free(a);
	CHECK(audit_show(path, out, false, &err) == 0);
	fclose(out);
	CHECK(!strchr(text, '\x1b') && !strstr(text, "\xe2\x80\xae") && strstr(text, "denial") && strstr(text, "deny"));
	CHECK(strchr(text, '\n') == text + n - 1);
	free(text);
}

/* "credential" says not even that something is wrong; a policy's rule says all. */
static void a_denial_of_no_domain_is_shown_with_its_reason(void)
{
	struct event_field f = {"target", sv_of("anthropic"), 0};
	struct event none = {EVENT_DENIAL, DOMAIN_NONE, "deny", "credential", "the variable is not set", &f, 1};
	struct event of_domain = {EVENT_DENIAL, DOMAIN_NETWORK, "deny", "network.allow", "not shown", &f, 1};
	struct audit *a = fresh();
	struct error err = {0};
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	CHECK(audit_write(a, &none, &err) == 0 && audit_write(a, &of_domain, &err) == 0);
	audit_free(a);
	CHECK(audit_show(path, out, false, &err) == 0);
	fclose(out);
	CHECK(strstr(text, "anthropic: the variable is not set; rule: credential\n") != NULL);
	CHECK(strstr(text, "anthropic; rule: network.allow\n") != NULL);
	free(text);
}

static void showing_stops_at_the_first_bad_line(void)
{
	struct error err = {0};
	struct log log;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	random_log(6, "r-1");
	load(&log);
	log.line[3][30] ^= 1;
	store(&log);
	CHECK(audit_show_json(path, out, &err) == -1 && err.kind == ERROR_INPUT && strstr(err.text, ":4: changed"));
	fclose(out);
	CHECK(n == strlen(log.line[0]) + strlen(log.line[1]) + strlen(log.line[2]) + 3);
	free(text);
	drop_log(&log);
}

static void a_start_event_costs_microseconds(void)
{
	struct audit *a = fresh();
	struct timespec from, to;
	double us;
	int i;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < 1000; i++)
		CHECK(put(a, EVENT_START, "a run of the usual kind") == 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	us = ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / 1e6;
	printf("# %.1f us an event\n", us);
	CHECK(us < 500); /* generous: sanitizers, a loaded machine */
	audit_free(a);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(every_written_line_is_canonical_json_with_the_agreed_members),
		CASE(the_log_is_made_anew_and_only_its_owner_reads_it),
		CASE(a_finished_log_is_good_and_one_without_an_exit_is_unfinished),
		CASE(the_copy_gets_the_same_lines),
		CASE(a_failed_write_is_an_error_for_good),
		CASE(a_field_cannot_pose_as_a_member),
		CASE(a_huge_event_is_cut_marked_and_still_verifies),
		CASE(every_flipped_bit_is_found_at_its_line),
		CASE(every_dropped_line_is_found),
		CASE(every_swap_of_two_lines_is_found),
		CASE(every_copy_of_a_line_is_found),
		CASE(every_inserted_line_is_found),
		CASE(a_line_that_was_changed_and_hashed_again_is_found),
		CASE(a_line_written_again_by_another_program_is_not_canonical),
		CASE(cut_long_and_binary_lines_are_found),
		CASE(what_is_expected_last_finds_a_shortened_or_lengthened_end),
		CASE(what_cannot_be_read_is_an_error),
		CASE(showing_a_log_never_passes_its_escapes_on),
		CASE(a_denial_of_no_domain_is_shown_with_its_reason),
		CASE(showing_stops_at_the_first_bad_line),
		CASE(a_start_event_costs_microseconds),
	};
	int r;

	if (!mkdtemp(folder))
		return 1;
	(void)snprintf(path, sizeof(path), "%s/log", folder);
	(void)snprintf(copy_path, sizeof(copy_path), "%s/copy", folder);
	r = check_main(cases, sizeof(cases) / sizeof(cases[0]));
	(void)unlink(path);
	(void)rmdir(folder);
	return r;
}
