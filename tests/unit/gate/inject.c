#include "gate/egress/inject.h"

#include "base/cleanup.h"
#include "check.h"
#include "gate/egress/scrub_grants.h"

static const char value[] = "sk-real/+ value=1";
static const char *hosts[] = {"api.example.com", "*.example.org"};

static struct grant grant_of(enum inject_kind kind)
{
	struct grant g = {.name = "test",
			  .hosts = hosts,
			  .n_hosts = 2,
			  .inject = {kind, "authorization", "Bearer ", "", "me", "us-east-1", "sqs"},
			  .placeholders = {"PLACEHOLDER-0", "PLACEHOLDER-1", "PLACEHOLDER-2"}};

	CHECK(secret_new(sv_of(value), &g.parts[PART_VALUE]) == 0);
	if (kind == INJECT_SIGV4)
		CHECK(secret_new(sv_of("AKIAREAL"), &g.parts[PART_KEY_ID]) == 0);
	return g;
}

static void done(struct grant *g)
{
	unsigned i;

	for (i = 0; i < GRANT_PARTS; i++)
		secret_free(g->parts[i]);
}

static struct http_field sent[] = {
	{{"accept", 6}, {"*/*", 3}},
	{{"authorization", 13}, {"Bearer PLACEHOLDER-0", 20}},
	{{"authorization", 13}, {"second", 6}},
	{{"x-amz-date", 10}, {"forged", 6}},
};

static struct http_request request_to(const char *host, const char *target)
{
	return (struct http_request){.method = sv_of("GET"),
				     .tls = true,
				     .host = sv_of(host),
				     .port = 443,
				     .target = sv_of(target),
				     .fields = {sent, 4}};
}

static unsigned count(const struct http_request *req, const char *name)
{
	unsigned n = 0;
	uint32_t i;

	for (i = 0; i < req->fields.n; i++)
		n += sv_is(req->fields.v[i].name, name);
	return n;
}

static void what_the_client_sent_in_the_header_is_dropped(void)
{
	struct grant g = grant_of(INJECT_HEADER);
	struct http_request req = request_to("api.example.com", "/v1?x=1");
	const struct inject_context ctx = {0};
	struct injection *in = NULL;

	CHECK(inject_apply(&g, &req, &ctx, &in) == INJECT_DONE);
	CHECK(count(&req, "authorization") == 1);
	CHECK(sv_is(*http_field(&req.fields, "authorization"), "Bearer sk-real/+ value=1"));
	CHECK(sv_is(*http_field(&req.fields, "accept"), "*/*"));
	CHECK(sv_is(req.target, "/v1?x=1"));
	CHECK(sv_is(req.guarded, "authorization"));
	injection_free(in);
	done(&g);
}

static void no_sign_for_a_hyphen_disguises_the_header(void)
{
	static const char *const names[] = {"x-api-key", "x_api_key", "x.api~key", "x_api-key"};
	struct http_field fields[5] = {{{"x-api-keys", 10}, {"other", 5}}};
	const struct inject_context ctx = {0};
	struct injection *in = NULL;
	struct http_request req;
	struct grant g = grant_of(INJECT_HEADER);
	size_t i;

	g.inject.name = "x-api-key";
	for (i = 0; i < ARRAY_LEN(names); i++) {
		fields[i + 1] = (struct http_field){sv_of(names[i]), sv_of("mine")};
		CHECK(inject_replaces(&g, sv_of(names[i])));
	}
	CHECK(!inject_replaces(&g, sv_of("x-api-keys")) && !inject_replaces(&g, sv_of("authorization")));
	req = request_to("api.example.com", "/");
	req.fields = (struct http_fields){fields, 5};
	CHECK(inject_apply(&g, &req, &ctx, &in) == INJECT_DONE);
	CHECK(req.fields.n == 2 && count(&req, "x-api-keys") == 1 &&
	      sv_is(*http_field(&req.fields, "x-api-key"), "Bearer sk-real/+ value=1"));
	injection_free(in);
	done(&g);
	g = grant_of(INJECT_SIGV4);
	CHECK(inject_replaces(&g, sv_of("x_amz_security_token")) && inject_replaces(&g, sv_of("authorization")));
	done(&g);
}

static void another_host_gets_nothing(void)
{
	static const char *const others[] = {"example.com",          "xapi.example.com", "api.example.com.evil.test",
					     "api.example.comx",     "example.org",      ".example.org",
					     "evilexample.org",      "api.example",      "",
					     "example.org.evil.test"};
	static const char *const bound[] = {"api.example.com", "a.example.org", "a.b.example.org"};
	struct grant g = grant_of(INJECT_HEADER);
	const struct inject_context ctx = {0};
	struct injection *in = NULL;
	struct http_request req;
	size_t i;

	for (i = 0; i < ARRAY_LEN(others); i++) {
		req = request_to(others[i], "/");
		CHECK(inject_apply(&g, &req, &ctx, &in) == INJECT_OTHER_HOST);
		CHECK(in == NULL && req.fields.v == sent);
	}
	for (i = 0; i < ARRAY_LEN(bound); i++) {
		req = request_to(bound[i], "/");
		CHECK(inject_apply(&g, &req, &ctx, &in) == INJECT_DONE);
		injection_free(in);
		in = NULL;
	}
	done(&g);
}

static void basic_is_user_and_value_in_base64(void)
{
	struct grant g = grant_of(INJECT_BASIC);
	struct http_request req = request_to("api.example.com", "/");
	const struct inject_context ctx = {0};
	struct injection *in = NULL;

	CHECK(inject_apply(&g, &req, &ctx, &in) == INJECT_DONE);
	CHECK(count(&req, "authorization") == 1);
	CHECK(sv_is(*http_field(&req.fields, "authorization"), "Basic bWU6c2stcmVhbC8rIHZhbHVlPTE="));
	injection_free(in);
	done(&g);
}

static void a_parameter_is_replaced_in_any_spelling_and_the_rest_stays(void)
{
#define OURS "key=sk-real%2F%2B%20value%3D1"
	static const struct {
		const char *before, *after;
	} cases[] = {
		{"/", "/?" OURS},
		{"/?", "/?" OURS},
		{"/a?x=1", "/a?x=1&" OURS},
		{"/a?key=PLACEHOLDER-0&x=1", "/a?" OURS "&x=1"},
		{"/a?x=1&k%65y=2&key=3&%6bey&y=%2F", "/a?x=1&" OURS "&y=%2F"},
		{"/a?key", "/a?" OURS},
		{"/a?keys=1&monkey=2&=key", "/a?keys=1&monkey=2&=key&" OURS},
		{"/a?Key=1&x=1&[key]=2&+key=3&key[]=4&%5bkey=5", "/a?" OURS "&x=1"},
		{"/a?x=1;key=2;y=3", "/a?x=1&" OURS "&y=3"},
		{"/a?key=1;y=3&z", "/a?" OURS "&y=3&z"},
		{"/a?x;y=1&z;key", "/a?x;y=1&z&" OURS},
		{"/key=1?x", "/key=1?x&" OURS},
	};
	struct grant g = grant_of(INJECT_QUERY);
	const struct inject_context ctx = {0};
	struct injection *in = NULL;
	size_t i;

	g.inject.name = "key";
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct http_request req = request_to("api.example.com", cases[i].before);

		CHECK(inject_apply(&g, &req, &ctx, &in) == INJECT_DONE);
		if (!sv_is(req.target, cases[i].after))
			printf("# %s: got %.*s\n", cases[i].before, (int)req.target.n, req.target.p);
		CHECK(sv_is(req.target, cases[i].after));
		CHECK(req.fields.n == 4);
		CHECK(sv_is(req.guarded, ":path"));
		injection_free(in);
	}
	done(&g);
}

static void a_target_without_a_path_takes_no_parameter(void)
{
	struct grant g = grant_of(INJECT_QUERY);
	struct http_request star = request_to("api.example.com", "*"), none = request_to("api.example.com", "");
	const struct inject_context ctx = {0};
	struct injection *in = NULL;

	CHECK(inject_apply(&g, &star, &ctx, &in) == INJECT_NO_PLACE);
	CHECK(inject_apply(&g, &none, &ctx, &in) == INJECT_NO_PLACE);
	done(&g);
}

static void aws_requests_are_signed_anew(void)
{
	struct grant g = grant_of(INJECT_SIGV4);
	struct http_request req = request_to("api.example.com", "/q?Action=List");
	const struct inject_context ctx = {.now = 1440938160};
	struct injection *in = NULL;
	const struct sv *authorization;

	CHECK(secret_new(sv_of("session-token"), &g.parts[PART_TOKEN]) == 0);
	CHECK(inject_apply(&g, &req, &ctx, &in) == INJECT_DONE);
	authorization = http_field(&req.fields, "authorization");
	CHECK(count(&req, "authorization") == 1 && count(&req, "x-amz-date") == 1);
	CHECK(sv_starts(*authorization, "AWS4-HMAC-SHA256 Credential=AKIAREAL/20150830/us-east-1/sqs/aws4_request, "
					"SignedHeaders=accept;host;x-amz-date;x-amz-security-token, Signature="));
	CHECK(sv_is(*http_field(&req.fields, "x-amz-date"), "20150830T123600Z"));
	CHECK(sv_is(*http_field(&req.fields, "x-amz-security-token"), "session-token"));
	CHECK(!memmem(authorization->p, authorization->n, value, 8));
	injection_free(in);
	done(&g);
}

static enum inject_result sign_body(const char *service, const char *claimed, const char *hash)
{
	struct grant g = grant_of(INJECT_SIGV4);
	struct http_field field = {sv_of("x-amz-content-sha256"), sv_of(claimed)};
	struct http_request req = request_to("api.example.com", "/");
	const struct inject_context ctx = {.now = 1, .body_sha256 = sv_of(hash)};
	struct injection *in = NULL;
	enum inject_result r;

	g.inject.service = service;
	req.body = true;
	req.fields = (struct http_fields){&field, claimed[0] ? 1 : 0};
	r = inject_apply(&g, &req, &ctx, &in);
	injection_free(in);
	done(&g);
	return r;
}

static void a_body_is_signed_by_its_hash_or_not_at_all(void)
{
	static const char hash[] = "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e";

	CHECK(sign_body("sqs", "", "") == INJECT_NEEDS_HASH);
	CHECK(sign_body("sqs", "", hash) == INJECT_DONE);
	CHECK(sign_body("sqs", hash, "") == INJECT_DONE);
	CHECK(sign_body("sqs", "garbage", "") == INJECT_NEEDS_HASH);
	CHECK(sign_body("s3", "", "") == INJECT_DONE);
	CHECK(sign_body("s3", "UNSIGNED-PAYLOAD", "") == INJECT_DONE);
	CHECK(sign_body("s3express", "", "") == INJECT_DONE);
	CHECK(sign_body("s3", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "") == INJECT_NOT_SIGNABLE);
	CHECK(sign_body("s3", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", hash) == INJECT_NOT_SIGNABLE);
}

static void a_full_head_is_refused_and_left_alone(void)
{
	struct http_field many[HTTP_MAX_FIELDS];
	struct grant g = grant_of(INJECT_HEADER);
	struct http_request req = request_to("api.example.com", "/");
	const struct inject_context ctx = {0};
	struct injection *in = NULL;
	unsigned i;

	for (i = 0; i < HTTP_MAX_FIELDS; i++)
		many[i] = (struct http_field){sv_of("x"), sv_of("y")};
	req.fields = (struct http_fields){many, HTTP_MAX_FIELDS};
	CHECK(inject_apply(&g, &req, &ctx, &in) == INJECT_TOO_LARGE);
	CHECK(req.fields.v == many && in == NULL);
	CHECK(strstr(inject_what(INJECT_TOO_LARGE), "too large"));
	done(&g);
}

static void grants_survive_the_wire_and_nothing_else_does(void)
{
	struct grant g = grant_of(INJECT_SIGV4), *back = NULL, *wrong = NULL;
	AUTO_BUF out = {0};
	size_t i;

	buf_init(&out, 2 * GRANT_ENCODED_MAX);
	CHECK(grant_encode(&g, &out) < 0); /* it would grow, and leave copies behind */
	out.p = malloc(GRANT_ENCODED_MAX + 1);
	out.cap = GRANT_ENCODED_MAX + 1;
	CHECK(grant_encode(&g, &out) == 0);
	CHECK(grant_decode(buf_view(&out), &back) == 0);
	CHECK(secret_equal(back->parts[PART_VALUE], sv_of(value)));
	CHECK_STR(back->hosts[1], "*.example.org");
	CHECK_STR(back->placeholders[2], "PLACEHOLDER-2");
	CHECK(back->parts[PART_TOKEN] == NULL);
	grant_free(back);
	for (i = 0; i < out.n; i++)
		CHECK(grant_decode(sv_n(out.p, i), &wrong) < 0);
	CHECK(buf_char(&out, 'x') == 0 && grant_decode(buf_view(&out), &wrong) < 0);
	done(&g);
}

static void an_answer_is_scrubbed_of_all_parts_of_all_grants(void)
{
	struct grant a = grant_of(INJECT_SIGV4), b = grant_of(INJECT_HEADER);
	struct grant *const both[] = {&a, &b};
	char text[] = "id AKIAREAL key sk-real/+ value=1.";
	struct scrub *s = NULL;

	CHECK(scrub_from_grants(both, 2, &s) == 0);
	CHECK(scrub_text(s, text, strlen(text)) == 2);
	CHECK_STR(text, "id PLACEHOL key PLACEHOLDER-0PLAC.");
	scrub_unref(s);
	done(&a);
	done(&b);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(what_the_client_sent_in_the_header_is_dropped),
		CASE(no_sign_for_a_hyphen_disguises_the_header),
		CASE(another_host_gets_nothing),
		CASE(basic_is_user_and_value_in_base64),
		CASE(a_parameter_is_replaced_in_any_spelling_and_the_rest_stays),
		CASE(a_target_without_a_path_takes_no_parameter),
		CASE(aws_requests_are_signed_anew),
		CASE(a_body_is_signed_by_its_hash_or_not_at_all),
		CASE(a_full_head_is_refused_and_left_alone),
		CASE(grants_survive_the_wire_and_nothing_else_does),
		CASE(an_answer_is_scrubbed_of_all_parts_of_all_grants),
	};
	return check_main(cases, ARRAY_LEN(cases));
}
