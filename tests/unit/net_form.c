#include "policy/net_form.h"

#include "check.h"

#define URL "application/x-www-form-urlencoded"
#define PARTS "multipart/form-data; boundary=x"
#define PART(line) "--x\r\n" line "\r\n\r\nDELETE\r\n--x--\r\n"

/* At once and byte by byte: the same. */
static bool asks(const char *type, const char *body)
{
	struct net_form whole, bytes;
	size_t i, n = strlen(body);
	bool found = false;

	net_form_init(&whole, net_form_kind(type ? sv_of(type) : sv_n(NULL, 0)));
	net_form_init(&bytes, whole.kind);
	(void)net_form_feed(&whole, sv_n(body, n));
	for (i = 0; i < n; i++)
		found = net_form_feed(&bytes, sv_n(body + i, 1));
	CHECK(found == whole.found);
	return whole.found;
}

static const struct {
	const char *type, *body;
	bool asks;
} cases[] = {
	{URL, "_method=DELETE", true},
	{URL, "a=b&_method=DELETE", true},
	{URL, "a=b;_method=DELETE", true},
	{"Application/X-WWW-Form-Urlencoded; charset=utf-8", "_METHOD=x", true},
	{NULL, "_method=DELETE", true},
	{URL, "%5f%6d%65%74%68%6f%64=x", true},
	{URL, "+%20+_method=x", true},
	{URL, ".method=x", true},
	{URL, "_method[]=x", true},
	{URL, "_method%00garbage=x", true},
	{URL, "X-HTTP-Method-Override=DELETE", true},
	{URL, "http_method_override=DELETE", true},
	{URL, "payment_method=card&method=x&a=_method&_methods=1", false},
	{URL, "a=_method=DELETE", false},
	{"text/plain", "_method=DELETE", false},
	{"application/octet-stream", "_method=DELETE", false},
	{PARTS, PART("Content-Disposition: form-data; name=\"_method\""), true},
	{PARTS, PART("content-disposition:form-data;name=_method"), true},
	{PARTS, PART("Content-Disposition : form-data; Name = \"_Method\" ; x=y"), true},
	{PARTS, PART("Content-Type: text/plain\r\nContent-Disposition: form-data;\r\n\tname=\"_method\""), true},
	{PARTS, PART("Content-Disposition: form-data; name=\"\\_method\""), true},
	{PARTS, PART("Content-Disposition: form-data; name*=utf-8''%5fmethod"), true},
	{PARTS, "--x\nContent-Disposition: form-data; name=_method\n\nDELETE\n--x--\n", true},
	{PARTS, PART("Content-Disposition: form-data; name=\"payment_method\""), false},
	{PARTS, PART("Content-Disposition: form-data; name=\"a\"; filename=\"_method\""), false},
	{PARTS, PART("Content-Disposition: form-data; name=\"a\"\r\n\r\n<input name=\"_method\">"), false},
	{"application/json", "{\"_method\":\"DELETE\"}", true},
	{"application/json", " {\"a\": [1, {\"b\": \"}\"}], \"_method\" \n: \"DELETE\"}", true},
	{"application/vnd.api+json; charset=utf-8", "{\"\\u005fm\\u0065thod\":1}", true},
	{"application/json", "{\"a\":\"\\\\\",\"_method\":1}", true},
	{"application/json", "{\"a\":\"\\\"_method\\\":1\"}", false},
	{"application/json", "{\"a\":{\"_method\":1},\"b\":\"_method\",\"c\":[\"_method\"]}", false},
};

static void a_body_that_asks_for_another_method_is_found_however_it_is_written_and_cut(void)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (asks(cases[i].type, cases[i].body) != cases[i].asks) {
			printf("# %s\n", cases[i].body);
			CHECK(false);
		}
}

static void a_disposition_that_is_too_long_to_be_read_asks(void)
{
	char text[NET_FORM_LINE + 200];

	memset(text, 'a', sizeof(text));
	memcpy(text, "--x\r\nContent-Disposition: form-data; x=\"", 40);
	memcpy(text + sizeof(text) - 40, "\"; name=\"_method\"\r\n\r\nDELETE\r\n--x--\r\n    ", 40);
	text[sizeof(text) - 1] = '\0';
	CHECK(asks(PARTS, text));
}

int main(void)
{
	static const struct check_case all[] = {
		CASE(a_body_that_asks_for_another_method_is_found_however_it_is_written_and_cut),
		CASE(a_disposition_that_is_too_long_to_be_read_asks),
	};

	return check_main(all, sizeof(all) / sizeof(all[0]));
}
