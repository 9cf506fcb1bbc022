/* Whatever is changed, dropped, added or moved in a log is found, and where. */
#include "audit_rig.h"

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

/* Two runs in one file, as --json-events leaves it. */
static void load_two(struct log *log)
{
	struct log second;
	size_t i;

	random_log(12, "r-2");
	load(&second);
	random_log(12, "r-1");
	load(log);
	for (i = 0; i < second.n; i++)
		log->line[log->n++] = second.line[i];
}

static struct audit_report verify_all(const struct log *log)
{
	struct audit_report r = {0};
	struct error err = {0};

	store(log);
	CHECK(audit_verify_all(path, NULL, &r, &err) == 0);
	return r;
}

static void runs_that_follow_each_other_in_one_file_are_good_where_that_is_asked_for(void)
{
	struct audit_report r;
	struct log log;

	load_two(&log);
	r = verify_all(&log);
	CHECK(r.state == AUDIT_GOOD && r.lines == 24 && r.runs == 2);
	CHECK(strncmp(r.last_hash, hash_of(log.line[23]), 64) == 0);
	r = verify(NULL);
	CHECK(r.state == AUDIT_BROKEN && strncmp(r.what, "added", 5) == 0);
	/* killed: the next one goes on behind it */
	free(log.line[11]);
	memmove(log.line + 11, log.line + 12, 12 * sizeof(log.line[0]));
	log.n--;
	r = verify_all(&log);
	CHECK(r.state == AUDIT_UNFINISHED && r.lines == 23 && r.runs == 2 && strstr(r.what, "earlier run"));
	drop_log(&log);
}

static void each_of_several_runs_is_as_well_kept_as_one_alone(void)
{
	struct log log, bad;
	struct audit_report r;
	size_t i, k;

	load_two(&log);
	for (i = 0; i < log.n; i++) {
		bad = log;
		memmove(bad.line + i, bad.line + i + 1, (bad.n - i - 1) * sizeof(bad.line[0]));
		bad.n--;
		CHECK(verify_all(&bad).state == (i == 11 || i == 23 ? AUDIT_UNFINISHED : AUDIT_BROKEN));
		for (k = 0; k <= log.n; k++) {
			bad = log;
			insert(&bad, k, log.line[i]);
			CHECK(verify_all(&bad).state == AUDIT_BROKEN);
			if (k == log.n || k == i)
				continue;
			bad = log;
			bad.line[i] = log.line[k];
			bad.line[k] = log.line[i];
			CHECK(verify_all(&bad).state == AUDIT_BROKEN);
		}
	}
	/* lines are named by their place in the file */
	bad = log;
	bad.line[15] = log.line[16];
	bad.line[16] = log.line[15];
	r = verify_all(&bad);
	CHECK(r.bad_line == 16 && strcmp(r.what, "reordered: event 5 stands here, event 4 at line 17") == 0);
	/* one that stands there twice */
	bad = log;
	memcpy(bad.line + 24, log.line, 12 * sizeof(bad.line[0]));
	bad.n = 36;
	r = verify_all(&bad);
	CHECK(r.state == AUDIT_BROKEN && r.bad_line == 25 && strncmp(r.what, "duplicated", 10) == 0);
	drop_log(&log);
}

static void add_one_run(struct buf *all, size_t i)
{
	char run[16];
	AUTO_BUF one;

	(void)snprintf(run, sizeof(run), "r-%zu", i);
	random_log(2, run);
	buf_init(&one, 1 << 20);
	CHECK(buf_read_file(&one, path) == 0 && buf_sv(all, buf_view(&one)) == 0);
}

/* Over several blocks of the reader's, and several sizes of what it keeps of runs. */
static void a_run_of_many_that_stands_there_twice_is_found(void)
{
	enum { RUNS = 600 };
	static const size_t again[] = {0, 1, 31, 32, 300, RUNS - 2};
	struct audit_report r = {0};
	struct error err = {0};
	size_t i, whole;
	AUTO_BUF all;
	FILE *f;

	buf_init(&all, 1 << 22);
	for (i = 0; i < RUNS; i++)
		add_one_run(&all, i);
	whole = all.n;
	for (i = 0; i <= ARRAY_LEN(again); i++) {
		all.n = whole;
		if (i > 0)
			add_one_run(&all, again[i - 1]);
		f = fopen(path, "we");
		CHECK(f && fwrite(all.p, all.n, 1, f) == 1 && fclose(f) == 0);
		CHECK(audit_verify_all(path, NULL, &r, &err) == 0);
		if (i == 0)
			CHECK(r.state == AUDIT_GOOD && r.runs == RUNS && r.lines == 2 * RUNS);
		else
			CHECK(r.state == AUDIT_BROKEN && r.bad_line == 2 * RUNS + 1);
	}
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

int main(void)
{
	static const struct check_case cases[] = {
		CASE(every_flipped_bit_is_found_at_its_line),
		CASE(every_dropped_line_is_found),
		CASE(every_swap_of_two_lines_is_found),
		CASE(every_copy_of_a_line_is_found),
		CASE(every_inserted_line_is_found),
		CASE(runs_that_follow_each_other_in_one_file_are_good_where_that_is_asked_for),
		CASE(each_of_several_runs_is_as_well_kept_as_one_alone),
		CASE(a_run_of_many_that_stands_there_twice_is_found),
		CASE(a_line_that_was_changed_and_hashed_again_is_found),
		CASE(a_line_written_again_by_another_program_is_not_canonical),
		CASE(cut_long_and_binary_lines_are_found),
		CASE(what_is_expected_last_finds_a_shortened_or_lengthened_end),
	};

	return rig_main(cases, ARRAY_LEN(cases));
}
