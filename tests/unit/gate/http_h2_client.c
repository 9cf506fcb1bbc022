/* Our client and a raw server: what is malformed becomes no response. */
#include "http_h2_rig.h"

/* A client of ours with one request under way, and a raw server. */
static void client_init(struct end *e)
{
	static const struct h2_config client_config = {.tls = true};
	struct http_request r = request("GET", false);
	struct h2_stream *s;

	end_init(e, &client_config);
	frame(&e->raw, SETTINGS, 0, 0, NULL, 0);
	CHECK(feed(e) == 0);
	CHECK(h2_request(e->h, &r, NULL, &s) == 0);
	free(sent(e));
}

static const struct bad_head bad_responses[] = {
	{"no status", 0, {"a", "b"}},
	{"status twice", 0, {":status", "200", ":status", "200"}},
	{"status after a field", 0, {"a", "b", ":status", "200"}},
	{"status of four digits", 0, {":status", "2000"}},
	{"status of letters", 0, {":status", "2x0"}},
	{"status 999", 502, {":status", "999"}},
	{"status 101", 0, {":status", "101"}},
	{"path in a response", 0, {":status", "200", ":path", "/"}},
	{"connection", 0, {":status", "200", "connection", "close"}},
	{"transfer-encoding", 0, {":status", "200", "transfer-encoding", "chunked"}},
	{"upper case", 0, {":status", "200", "Set-Cookie", "x"}},
	{"line feed", 502, {":status", "200", "a", "b\nc"}},
	{"length that is no number", 0, {":status", "200", "content-length", "x"}},
	{"interim with a length", 0, {":status", "100", "content-length", "5"}},
};

static void no_malformed_head_becomes_a_response(void)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad_responses); i++) {
		int before = check_failures;
		struct end e;

		client_init(&e);
		raw_headers(&e, 1, 0, bad_responses[i].fields);
		CHECK(feed(&e) == 0);
		CHECK(!saw(&e, "response") && saw(&e, "refused"));
		CHECK(e.refused_status == bad_responses[i].status);
		CHECK(sends(&e, "RST_STREAM 1 code 1\n") && saw(&e, "closed 1\n"));
		if (check_failures != before)
			printf("# %s: %s", bad_responses[i].promise, e.log.p ? e.log.p : "nothing\n");
		end_done(&e);
	}
}

static void blanks_around_a_servers_values_are_cut_off(void)
{
	struct end e;

	client_init(&e);
	raw_headers(&e, 1, END_STREAM, (const char *const[]){":status", "200", "a", " b c\t", NULL});
	CHECK(feed(&e) == 0);
	CHECK_STR(e.log.p, "response 200 -1 a=b c\nend\nclosed 0\n");
	end_done(&e);
}

static void a_push_reaches_nobody(void)
{
	AUTO_BUF block = {0};
	struct end e;
	size_t i;

	client_init(&e);
	buf_init(&block, 4096);
	buf_add(&block, "\0\0\0\2", 4);
	for (i = 0; get[i]; i += 2)
		hpack(&block, sv_of(get[i]), sv_of(get[i + 1]));
	frame(&e.raw, PUSH_PROMISE, END_HEADERS, 1, block.p, block.n);
	raw_headers(&e, 2, END_STREAM, (const char *const[]){":status", "200", NULL});
	(void)feed(&e);
	CHECK(sends(&e, "RST_STREAM 2 code 8\n") && !saw(&e, "re"));
	end_done(&e);
}

static void interim_heads_without_end_are_a_flood(void)
{
	struct end e;

	client_init(&e);
	raw_headers(&e, 1, 0, (const char *const[]){":status", "103", NULL});
	CHECK(ends_after(&e, 1100));
	CHECK(sends(&e, "code 11\n"));
	end_done(&e);
}

static void a_response_shorter_than_its_length_never_ends(void)
{
	struct end e;

	client_init(&e);
	raw_headers(&e, 1, 0, (const char *const[]){":status", "200", "content-length", "5", NULL});
	frame(&e.raw, DATA, END_STREAM, 1, "123", 3);
	CHECK(feed(&e) == 0);
	CHECK(!saw(&e, "end") && sends(&e, "RST_STREAM 1 code 1\n") && saw(&e, "closed 1\n"));
	end_done(&e);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(no_malformed_head_becomes_a_response),
		CASE(blanks_around_a_servers_values_are_cut_off),
		CASE(a_push_reaches_nobody),
		CASE(interim_heads_without_end_are_a_flood),
		CASE(a_response_shorter_than_its_length_never_ends),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
