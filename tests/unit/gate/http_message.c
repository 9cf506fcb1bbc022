#include "base/field_name.h"
#include "check.h"
#include "http/fields.h"
#include "http/message.h"

static void a_field_is_found_by_its_name(void)
{
	struct http_field v[] = {{sv_of("accept"), sv_of("a")}, {sv_of("accept"), sv_of("b")}};
	struct http_fields f = {v, 2};

	CHECK(http_field(&f, "accept") == &v[0].value);
	CHECK(http_field(&f, "host") == NULL);
}

/* Every byte at every place of values that are shorter, as long and longer than a machine's word. */
static void a_control_character_is_seen_wherever_it_stands(void)
{
	char text[20];
	size_t n, at;
	int c;

	for (n = 1; n <= sizeof(text); n++) {
		for (at = 0; at < n; at++) {
			for (c = 0; c < 256; c++) {
				bool blank = c == ' ' || c == '\t', edge = at == 0 || at == n - 1;

				memset(text, 0x80, n);
				text[at] = (char)c;
				CHECK(http_is_value(sv_n(text, n)) == (blank ? !edge : c >= 0x20 && c != 0x7f));
			}
		}
	}
	CHECK(http_is_value(sv_n("", 0)));
	/* a tab is fine, and hides no other */
	CHECK(http_is_value(sv_of("a\tb\tc\td\te")));
	CHECK(!http_is_value(sv_of("a\tb\tc\t\x7f\te")));
	CHECK(!http_is_value(sv_of("a\tb\tc\t\re")));
}

static void a_name_becomes_lower_case_or_is_refused(void)
{
	char name[] = "X-Forwarded_For~1", bad[] = "X Y";
	int c;

	CHECK(http_make_name(name, strlen(name)));
	CHECK_STR(name, "x-forwarded_for~1");
	CHECK(!http_make_name(bad, strlen(bad)));
	CHECK(!http_make_name(bad, 0));
	for (c = 0; c < 256; c++) {
		char one = (char)c;
		bool token = http_is_token(sv_n(&one, 1));

		CHECK(http_make_name(&one, 1) == token);
		CHECK(!token || http_is_lower_token(sv_n(&one, 1)));
	}
}

static void names_that_frame_are_known_with_any_sign_for_a_hyphen(void)
{
	static const struct {
		const char *name;
		enum http_field_class class;
	} cases[] = {
		{"host", FIELD_HOST},
		{"content-length", FIELD_LENGTH},
		{"content_length", FIELD_LENGTH},
		{"transfer_encoding", FIELD_CODING},
		{"te", FIELD_TE},
		{"expect", FIELD_EXPECT},
		{"proxy-anything", FIELD_HOP},
		{"proxy_anything", FIELD_HOP},
		{"trailer", FIELD_HOP},
		{"upgrade", FIELD_UPGRADE},
		{"trailers", FIELD_PLAIN},
		{"content-lengtg", FIELD_PLAIN},
		{"proxy", FIELD_PLAIN},
		{"x-content-length", FIELD_PLAIN},
		{"http2_settings", FIELD_SETTINGS},
		{"connection", FIELD_CONNECTION},
		{"keep-alive", FIELD_HOP},
		{"keep_alive", FIELD_HOP},
		{"content.length", FIELD_LENGTH},
		{"transfer~encoding", FIELD_CODING},
		{"proxy.anything", FIELD_HOP},
		{"contentxlength", FIELD_PLAIN},
		{"content-length.", FIELD_PLAIN},
		{"ho.t", FIELD_PLAIN},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK(http_field_class(sv_of(cases[i].name)) == cases[i].class);
	CHECK(http_field_class(sv_n("", 0)) == FIELD_PLAIN);
	CHECK(http_field_asks_part(sv_of("x-range")) && http_field_asks_part(sv_of("x_range")) &&
	      http_field_asks_part(sv_of("x.range")) && http_field_asks_part(sv_of("if'range")));
	CHECK(!http_field_may_trail(sv_of("content.type")) && http_field_may_trail(sv_of("x-amz-meta-a.b")));
	CHECK(field_name_is(sv_of("x-api-key"), "x_api_key") && !field_name_is(sv_of("x-api-key"), "xxapi-key"));
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_field_is_found_by_its_name),
		CASE(a_control_character_is_seen_wherever_it_stands),
		CASE(a_name_becomes_lower_case_or_is_refused),
		CASE(names_that_frame_are_known_with_any_sign_for_a_hyphen),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
