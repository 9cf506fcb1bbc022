/*
 * Held to the vectors that AWS published as aws-sig-v4-test-suite ("Signature Version 4 test suite" of the AWS General
 * Reference): same key, date, region and service, the cases by their names there. The suite's requests hold raw
 * targets, which the gateway never has; they are signed as they are.
 */
#include "gate/egress/sigv4.h"

#include "base/cleanup.h"
#include "check.h"

static const char empty[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
static const char form_body[] =
	"9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e"; /* of "Param1=value1" */

#define FIELDS 6
#define TOKEN                                                                                                          \
	"AQoDYXdzEPT//////////"                                                                                        \
	"wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/"         \
	"qkPpKPi/"                                                                                                     \
	"kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+"     \
	"xo0rKwT38xVqr7"                                                                                               \
	"ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="

static const struct vector {
	const char *name, *method, *target;
	struct {
		const char *name, *value;
	} fields[FIELDS];
	const char *hash, *names, *signature;
} vectors[] = {
	{"get-vanilla",
	 "GET",
	 "/",
	 {{NULL, NULL}},
	 empty,
	 "host;x-amz-date",
	 "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
	{"get-vanilla-query-order-key-case",
	 "GET",
	 "/?Param2=value2&Param1=value1",
	 {{NULL, NULL}},
	 empty,
	 "host;x-amz-date",
	 "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
	{"get-vanilla-empty-query-key",
	 "GET",
	 "/?Param1=value1",
	 {{NULL, NULL}},
	 empty,
	 "host;x-amz-date",
	 "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
	{"get-unreserved",
	 "GET",
	 "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
	 {{NULL, NULL}},
	 empty,
	 "host;x-amz-date",
	 "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
	{"get-utf8",
	 "GET",
	 "/\xe1\x88\xb4",
	 {{NULL, NULL}},
	 empty,
	 "host;x-amz-date",
	 "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
	{"get-header-key-duplicate",
	 "GET",
	 "/",
	 {{"my-header1", "value2"}, {"my-header1", "value2"}, {"my-header1", "value1"}},
	 empty,
	 "host;my-header1;x-amz-date",
	 "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
	{"get-header-value-trim",
	 "GET",
	 "/",
	 {{"my-header1", "value1"}, {"my-header2", "\"a   b   c\""}},
	 empty,
	 "host;my-header1;my-header2;x-amz-date",
	 "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
	{"post-vanilla",
	 "POST",
	 "/",
	 {{NULL, NULL}},
	 empty,
	 "host;x-amz-date",
	 "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
	{"post-header-key-sort",
	 "POST",
	 "/",
	 {{"my-header1", "value1"}},
	 empty,
	 "host;my-header1;x-amz-date",
	 "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
	{"post-x-www-form-urlencoded",
	 "POST",
	 "/",
	 {{"content-type", "application/x-www-form-urlencoded"}},
	 form_body,
	 "content-type;host;x-amz-date",
	 "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
	{"post-sts-header-before",
	 "POST",
	 "/",
	 {{"x-amz-security-token", TOKEN}},
	 empty,
	 "host;x-amz-date;x-amz-security-token",
	 "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
};

static void sign(struct http_request *req, const char *service, const char *hash, struct buf *out)
{
	const struct sigv4_request r = {.http = req,
					.region = "us-east-1",
					.service = service,
					.date = "20150830T123600Z",
					.key_id = sv_of("AKIDEXAMPLE"),
					.secret_key = sv_of("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
					.payload_hash = sv_of(hash)};

	buf_init(out, 4096);
	CHECK(sigv4_sign(&r, out) == 0);
}

static void check_vector(const struct vector *v)
{
	struct http_field fields[FIELDS + 1] = {{sv_of("x-amz-date"), sv_of("20150830T123600Z")}};
	struct http_request req = {.method = sv_of(v->method),
				   .tls = true,
				   .host = sv_of("example.amazonaws.com"),
				   .port = 443,
				   .target = sv_of(v->target)};
	AUTO_BUF got = {0};
	char want[512];
	uint32_t n = 1;
	size_t i;

	for (i = 0; i < FIELDS && v->fields[i].name; i++)
		fields[n++] = (struct http_field){sv_of(v->fields[i].name), sv_of(v->fields[i].value)};
	req.fields = (struct http_fields){fields, n};
	sign(&req, "service", v->hash, &got);
	(void)snprintf(want, sizeof(want),
		       "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
		       "SignedHeaders=%s, Signature=%s",
		       v->names, v->signature);
	if (strcmp(got.p, want) != 0)
		printf("# %s\n", v->name);
	CHECK_STR(got.p, want);
}

static void the_published_vectors_hold(void)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(vectors); i++)
		check_vector(&vectors[i]);
}

static void signature_of(const char *target, uint16_t port, const char *service, struct buf *out)
{
	struct http_field date = {sv_of("x-amz-date"), sv_of("20150830T123600Z")};
	struct http_request req = {.method = sv_of("GET"),
				   .tls = true,
				   .host = sv_of("h.test"),
				   .port = port,
				   .target = sv_of(target),
				   .fields = {&date, 1}};

	sign(&req, service, empty, out);
}

static void what_means_the_same_is_signed_the_same_and_nothing_else(void)
{
	static const struct {
		const char *a, *b;
		bool same;
	} cases[] = {
		{"/?a=b%2fc", "/?a=b%2Fc", true},    {"/?a=%41", "/?a=A", true},
		{"/?b=1&a=2", "/?a=2&b=1", true},    {"/?a=x+y", "/?a=x%20y", true},
		{"/?a=1&b=2", "/?a=1%26b=2", false}, {"/?a", "/?a=", true},
		{"/a%2Fb", "/a/b", false},           {"/a?b", "/a%3Fb", false},
		{"/?a-=1&a=2", "/?a=2&a-=1", true},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF a = {0};
		AUTO_BUF b = {0};

		signature_of(cases[i].a, 443, "service", &a);
		signature_of(cases[i].b, 443, "service", &b);
		if ((strcmp(a.p, b.p) == 0) != cases[i].same)
			printf("# %s and %s\n", cases[i].a, cases[i].b);
		CHECK((strcmp(a.p, b.p) == 0) == cases[i].same);
	}
}

/* Others sign it as it is written. */
static void s3_signs_what_a_path_means(void)
{
	static const struct {
		const char *a, *b, *service;
		bool same;
	} cases[] = {
		{"/k=v/a:b", "/k%3Dv/a%3Ab", "s3", true}, {"/f(1)@+.txt", "/f%281%29%40%2B.txt", "s3", true},
		{"/a%2fb", "/a%2Fb", "s3", true},         {"/a%2Fb", "/a/b", "s3", false},
		{"/a%20b", "/a+b", "s3", false},          {"/k=v", "/k%3Dv", "service", false},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF a = {0};
		AUTO_BUF b = {0};

		signature_of(cases[i].a, 443, cases[i].service, &a);
		signature_of(cases[i].b, 443, cases[i].service, &b);
		CHECK((strcmp(a.p, b.p) == 0) == cases[i].same);
	}
}

static void port_and_service_are_part_of_what_is_signed(void)
{
	AUTO_BUF a = {0};
	AUTO_BUF b = {0};
	AUTO_BUF c = {0};
	AUTO_BUF host = {0};
	struct http_request v6 = {.tls = true, .host = sv_of("::1"), .port = 8443};

	signature_of("/a%20b", 443, "service", &a);
	signature_of("/a%20b", 8443, "service", &b);
	signature_of("/a%20b", 443, "s3", &c);
	CHECK(strcmp(strstr(a.p, "Signature"), strstr(b.p, "Signature")) != 0);
	CHECK(strcmp(strstr(a.p, "Signature"), strstr(c.p, "Signature")) != 0);
	buf_init(&host, 100);
	sigv4_host(&v6, &host);
	CHECK_STR(host.p, "[::1]:8443");
}

static void directory_buckets_are_signed_for_the_service_of_their_own(void)
{
	static const struct {
		const char *host, *service, *want;
	} hosts[] = {
		{"b--usw2-az1--x-s3.s3express-usw2-az1.us-west-2.amazonaws.com", "s3", "s3express"},
		{"b--usw2-az1--x-s3.s3express-usw2-az1.us-west-2.amazonaws.com", "s3express", "s3express"},
		{"b--usw2-az1--x-s3.s3express-fips-usw2-az1.dualstack.us-west-2.amazonaws.com", "s3", "s3express"},
		{"s3express-control.us-west-2.amazonaws.com", "s3", "s3express"},
		{"s3express-control.us-west-2.amazonaws.com", "sqs", "sqs"},
		{"b--x-s3.s3express-a.cn-north-1.amazonaws.com.cn", "s3", "s3express"},
		{"b.s3.us-west-2.amazonaws.com", "s3", "s3"},
		{"s3express-b.s3.us-west-2.amazonaws.com", "s3", "s3"},
		{"s3express-b.s3.dualstack.us-west-2.amazonaws.com", "s3", "s3"},
		{"s3express-b.s3-us-west-2.amazonaws.com", "s3", "s3"},
		{"s3express-b.s3.amazonaws.com", "s3", "s3"},
		{"b.s3express-usw2-az1.us-west-2.example.com", "s3", "s3"},
		{"amazonaws.com", "s3", "s3"},
		{"x.amazonaws.com", "s3", "s3"},
	};
	AUTO_BUF a = {0};
	AUTO_BUF b = {0};
	size_t i;

	for (i = 0; i < ARRAY_LEN(hosts); i++)
		CHECK_STR(sigv4_service(hosts[i].service, sv_of(hosts[i].host)), hosts[i].want);
	/* the path as it is meant, as with plain S3 */
	signature_of("/a%7eb", 443, "s3express", &a);
	signature_of("/a~b", 443, "s3express", &b);
	CHECK_STR(strstr(a.p, "Signature"), strstr(b.p, "Signature"));
	CHECK(strstr(a.p, "/s3express/aws4_request"));
}

static void dates_are_written_in_utc(void)
{
	char date[SIGV4_DATE];

	sigv4_date(1440938160, date);
	CHECK_STR(date, "20150830T123600Z");
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(the_published_vectors_hold),
		CASE(what_means_the_same_is_signed_the_same_and_nothing_else),
		CASE(s3_signs_what_a_path_means),
		CASE(port_and_service_are_part_of_what_is_signed),
		CASE(directory_buckets_are_signed_for_the_service_of_their_own),
		CASE(dates_are_written_in_utc),
	};
	return check_main(cases, ARRAY_LEN(cases));
}
