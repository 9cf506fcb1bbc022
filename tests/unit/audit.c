/* How events are written and shown. */
#include "audit_rig.h"

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
	CHECK(audit_show(path, false, out, false, &err) == 0);
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
	CHECK(audit_show(path, false, out, false, &err) == 0);
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
	CHECK(audit_show_json(path, false, out, &err) == -1 && err.kind == ERROR_INPUT &&
	      strstr(err.text, ":4: changed"));
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
		CASE(what_cannot_be_read_is_an_error),
		CASE(showing_a_log_never_passes_its_escapes_on),
		CASE(a_denial_of_no_domain_is_shown_with_its_reason),
		CASE(showing_stops_at_the_first_bad_line),
		CASE(a_start_event_costs_microseconds),
	};

	return rig_main(cases, ARRAY_LEN(cases));
}
