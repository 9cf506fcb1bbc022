#include "policy/net_form.h"

#include "check.h"

#define URL "application/x-www-form-urlencoded"
#define PARTS "multipart/form-data; boundary=x"
#define PART(line) "--x\r\n" line "\r\n\r\nDELETE\r\n--x--\r\n"

/* At once and byte by byte: the same. */
static bool asks_in(const char *type, const char *body, size_t n)
{
	struct net_form_head head = {0};
	struct net_form whole, bytes;
	size_t i;
	bool found = false;

	net_form_head_field(&head, sv_of("accept"), sv_of("application/json"));
	if (type)
		net_form_head_field(&head, sv_of("content-type"), sv_of(type));
	net_form_init(&whole, &head);
	net_form_init(&bytes, &head);
	(void)net_form_feed(&whole, sv_n(body, n));
	for (i = 0; i < n; i++)
		found = net_form_feed(&bytes, sv_n(body + i, 1));
	CHECK(found == whole.found);
	return whole.found;
}

static bool asks(const char *type, const char *body)
{
	return asks_in(type, body, strlen(body));
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
	{URL, "_HttpMethod=DELETE", true},
	{URL, "a=b&%24httpMethod=DELETE", true},
	{URL, "X-REST-Method=DELETE", true},
	{URL, "%78%2d%72%65%71%75%65%73%74%65%64%2d%68%74%74%70%2d%6d%65%74%68%6f%64=DELETE", true},
	{PARTS, PART("Content-Disposition: form-data; name=\"_HttpMethod\""), true},
	{PARTS, PART("Content-Disposition: form-data; name=\"$httpMethod\""), true},
	{PARTS, PART("Content-Disposition: form-data; name=\"x-requested-http-method\""), true},
	{"application/json", "{\"_HttpMethod\":\"DELETE\"}", true},
	{"application/json", "{\"$httpMethod\":\"DELETE\"}", true},
	/* as Rack, PHP, qs and ASP.NET read names */
	{URL, "[_method]=DELETE", true},
	{URL, "_method]=DELETE", true},
	{URL, "%5b_method=DELETE", true},
	{URL, "a=b&][%5D[_method]]=DELETE", true},
	{URL, "%5B%5b_method%5d[x]=DELETE", true},
	{URL, "%09%0a_method=DELETE", true},
	{URL, "+%20.method=x", true},
	{URL, "_http[method=DELETE", true},
	{URL, "_http.method=DELETE", true},
	{URL, "_method.x=DELETE", true},
	{URL, "_method:string=DELETE", true},
	{URL, "%u005fmethod=DELETE", true},
	{URL, "%u005B_metho%u0064=DELETE", true},
	{URL, "[X.HTTP~Method[Override]=DELETE", true},
	{PARTS, PART("Content-Disposition: form-data; name=\"[_method]\""), true},
	{PARTS, PART("Content-Disposition: form-data; name=_method]"), true},
	{PARTS, PART("Content-Disposition: form-data; name=\"[[%5b_method\""), true},
	{URL, "[_methods]=1&filter[_method]=1&a_method]=1&[method_name]=1&__method=1&_method_id=1&%=1&%5=1&%u00=1",
	 false},
	{PARTS, PART("Content-Disposition: form-data; name=\"a[_method]\""), false},
	{URL, "payment_method=card&method=x&a=_method&_methods=1", false},
	{URL, "a=_method=DELETE", false},
	/* read by a server that cuts the type at a comma or a blank, or has no idea of it */
	{URL ", x", "_method=DELETE", true},
	{URL ",x/y", "_method=DELETE", true},
	{URL " x", "_method=DELETE", true},
	{"x/y, " URL, "_method=DELETE", true},
	{"x", "_method=DELETE", true},
	{"", "_method=DELETE", true},
	{",", "_method=DELETE", true},
	{"text/plain x", "_method=DELETE", true},
	{"application/x-url-encoded", "_method=DELETE", true},
	/* names in another character set are not what they look like */
	{URL "; charset=utf-16", "%00_%00m%00e%00t%00h%00o%00d=x", true},
	{URL "; charset=\"IBM037\"", "%6d%94=x", true},
	{URL "; Charset = utf-7", "+AF8-method=x", true},
	{URL "; charset=ISO-8859-1; charset=utf-16", "a=b", true},
	{URL "; charset=ISO-8859-1", "a=b", false},
	{URL "; charset=", "a=b", false},
	{"text/csv; charset=utf-16", "a=b", false},
	{"text/plain", "_method=DELETE", false},
	{"application/octet-stream", "_method=DELETE", false},
	{PARTS, PART("Content-Disposition: form-data; name=\"_method\""), true},
	{PARTS, PART("content-disposition:form-data;name=_method"), true},
	{PARTS, PART("Content-Disposition : form-data; Name = \"_Method\" ; x=y"), true},
	{PARTS, PART("Content-Type: text/plain\r\nContent-Disposition: form-data;\r\n\tname=\"_method\""), true},
	{PARTS, PART("Content-Disposition: form-data; name=\"\\_method\""), true},
	{PARTS, PART("Content-Disposition: form-data; name*=utf-8''%5fmethod"), true},
	{PARTS, "--x\nContent-Disposition: form-data; name=_method\n\nDELETE\n--x--\n", true},
	{PARTS, PART("Content-ID: _method"), true},
	{PARTS, PART("content-id:\t_method\r\nContent-Type: text/plain"), true},
	{PARTS, PART("X-Content-Disposition: form-data; name=\"_method\""), true},
	{PARTS, PART(" Content-Disposition: form-data; name=\"_method\""), true},
	{PARTS, PART("Content-Disposition: name=_method"), true},
	{PARTS, PART("Content-Type: a/b; name=\"\r\nContent-Disposition: form-data; name=\"_method\""), true},
	{PARTS, PART("Content-Disposition: form-data\r\n; name=\"_method\""),
	 true}, /* goes on without a blank, for PHP */
	{PARTS, PART("Content-Disposition: form-data; name=\"_me\r\nthod\""), true},
	{PARTS, PART("Content-Disposition: form-data; name=\"=?utf-8?q?=5Fmethod?=\""), true},
	{PARTS, PART("Content-Disposition: form-data; name*0=_me; name*1=thod"), true},
	{PARTS, PART("Content-Disposition: form-data; name='_method'"), true},
	{PARTS, PART("Content-Disposition: form-data; filename=\"; name=_method; x=\""), true},
	{PARTS, PART("Content-Disposition: form-data; name=_method[]"), true},
	{PARTS, PART("\r\nContent-Disposition: form-data; name=\"_method\""), true}, /* an empty line first */
	{PARTS, PART("Content-Type: a/b\n\nContent-Disposition: form-data; name=\"_method\""), true},
	{PARTS, PART("A: b\r\n\r\nx\r\n--x\r\nContent-Disposition: form-data; name=\"_method\""), true},
	{PARTS, PART("A: b\r\n\r\nx--x\r\nContent-Disposition: form-data; name=\"_method\""), true},
	{PARTS, "--x\rContent-Disposition: form-data; name=_method\r\rDELETE\r--x--\r", true},
	{"multipart/form-data; boundary=\"=a=\"", "--=a=\r\nContent-ID: _method\r\n\r\nDELETE\r\n--=a=--\r\n", true},
	{"multipart/form-data; boundary=a-a-b", "x\r\n--a-a-a-b\r\n--a-a-b\r\nContent-ID: _method\r\n\r\nDELETE\r\n",
	 true},
	{"multipart/form-data; boundary=y; boundary=x", PART("Content-ID: _method"), true},
	{"multipart/form-data; boundary=y, boundary=x", PART("Content-ID: _method"), true},
	{"multipart/form-data; boundary*=utf-8''%78", PART("Content-ID: _method"), true},
	{"multipart/form-data; boundary=x y", PART("Content-ID: _method"), true},
	{"multipart/form-data; boundary=x=y", PART("Content-ID: _method"), true},
	{"multipart/form-data; boundary=x(y", PART("Content-ID: _method"), true},
	{"multipart/form-data", PART("Content-ID: _method"), true},
	{"multipart/related; boundary=x", PART("Content-ID: _method"), true},
	{"x, multipart/form-data; boundary=x", PART("Content-ID: _method"), true},
	{PARTS, PART("Content-Disposition: form-data; name=\"a\"\r\n\r\nname=\"_method\"\r\n\r\nContent-ID: _method"),
	 false},
	{PARTS, "--x\nContent-Disposition: form-data; name=a\n\nname=_method\n--x--\n", false},
	{PARTS, PART("Content-Disposition: form-data; name=\"a\"\r\n\r\na=1&_method=DELETE"), false},
	{PARTS, PART("Content-ID: <a@b>\r\nContent-Description: some method"), false},
	{PARTS, PART("Content-Disposition: form-data; name=\"payment_method\""), false},
	{PARTS, PART("Content-Disposition: form-data; name=\"a\"; filename=\"_method\""), false},
	{PARTS, PART("Content-Disposition: form-data; name=\"a\"\r\n\r\n<input name=\"_method\">"), false},
	{"application/json", "{\"_method\":\"DELETE\"}", true},
	{"application/json", " {\"a\": [1, {\"b\": \"}\"}], \"_method\" \n: \"DELETE\"}", true},
	{"application/vnd.api+json; charset=utf-8", "{\"\\u005fm\\u0065thod\":1}", true},
	{"application/json", "{\"a\":\"\\\\\",\"_method\":1}", true},
	{"application/json, x", "{\"_method\":\"DELETE\"}", true},
	{"text/json", "{\"_method\":\"DELETE\"}", true},
	{"text/plain; x=/json", "{\"_method\":\"DELETE\"}", true},
	{"application/jsonrequest", "{\"_method\":\"DELETE\"}", true},
	{"text/plain", "{\"_method\":\"DELETE\"}", true}, /* some servers never look at the type */
	{NULL, "\r\n{\"_method\":\"DELETE\"}", true},
	{URL, "{\"_method\":\"DELETE\"}", true},
	{"text/plain", "\xef\xbb\xbf{\"_method\":\"DELETE\"}", true},
	{"text/plain", "a {\"_method\":\"DELETE\"}", false},
	{"text/plain", "{\"a\":{\"_method\":1},\"b\":\"_method\",\"c\":\"_method: x\"}", false},
	{"text/plain", "Send {\"_method\":\"PUT\"} or _method=PUT&_method=PUT", false},
	{"application/octet-stream", "\x1f\x8b&_method=PUT", false},
	{"application/json", "{\"a\":\"\\\"_method\\\":1\"}", false},
	/* what only some read is not passed on where it says to be JSON */
	{"application/json", "{'_method':'DELETE'}", true},
	{"application/json", "{_method:\"DELETE\"}", true},
	{"application/json", "{\"a\":1, _method : \"DELETE\"}", true},
	{"application/json", "{/*\"*/\"_method\":\"DELETE\"}", true},
	{"application/json", "/*\"*/{\"_method\":\"DELETE\"}", true},
	{"application/json", "{\"a\":1,//\"\n\"_method\":\"DELETE\"}", true},
	{"application/json", "{\"a\":1,#\"\n\"_method\":\"DELETE\"}", true},
	{"application/json", "{\"\\x5fmethod\":\"DELETE\"}", true},
	{"application/json", "{\"\\137method\":\"DELETE\"}", true},
	{"application/json", "{\"\\_method\":\"DELETE\"}", true},
	{"application/json", "{\"_method\"=\"DELETE\"}", true},
	{"application/json", "{\"_method\"=>\"DELETE\"}", true},
	{"application/json", "{\\u005fmethod:\"DELETE\"}", true},
	{"application/json", "{`_method`:1}", true},
	{"application/json; boundary=x", "{'_method':'DELETE'}", true},
	{"application/json; boundary=x", "{/*\"*/\"_method\"/*\"*/:\"DELETE\"}", true},
	{"application/json;multipart", "\r\n{_method:1}", true},
	{"application/connect+json", "{'_method':'DELETE'}", true},
	/* to readers of YAML, HJSON and Python: without braces, in two pieces, computed */
	{"application/json", "\"_method\": \"DELETE\"\n", true},
	{"application/json", "\"a\": 1\n\"_method\": \"DELETE\"\n", true},
	{"application/json", "1,\"_method\": \"DELETE\"\n", true},
	{"application/json", "{\"_met\" \"hod\":\"DELETE\"}", true},
	{"application/json", "{\"a\":1,\n\"_met\"\n\"hod\":\"DELETE\"}", true},
	{"application/json", "{[\"_met\"+\"hod\"]:\"DELETE\"}", true},
	{"application/json", "{\"_met\"+\"hod\":\"DELETE\"}", true},
	/* blanks to JSON5, and to readers that pass over all below a blank */
	{"application/json", "{\"_method\"\xef\xbb\xbf:\"DELETE\"}", true},
	{"application/json", "{\"_method\"\x1e:\"DELETE\"}", true},
	{"application/json", "{\"a\":1,\xfe\"_method\"\xff:\"DELETE\"}", true},
	{"application/json",
	 "{\"a\":[1.5e+3,-2,true,false,null,NaN,-Infinity],\"b\":\"it's /* # a: \\\\ \\/ \\b\\f\\n\\r\\t \\u00e9 "
	 "\xc3\xa9\"}\n{\"c\":[]}\n",
	 false},
	{"application/json-seq", "\x1e{\"a\":1}\n\x1e{\"b\":2}\n", false},
	{"application/json", "\xef\xbb\xbf[{\"_method\":1}, \"x\"]", false},
	{"application/x-ndjson", "{\"index\":{}}\n{\"a\":\"b\"}\n", false},
	{"application/graphql", "{ viewer(first: 1) { login } } # it's", false},
	{"text/plain", "{\\rtf1\\ansi it's {x:y}}", false},
	{"application/json-seq", "\xef\xbb\xbf\x1e{\"a\":1}\n\x1e[2]\n", false},
	{"multipart/form-data; boundary=----json'",
	 "------json'\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n/* it's: */\r\n------json'--\r\n", false},
	{"multipart/related; boundary=x; type=\"application/json\"",
	 "--x\r\nContent-Type: image/png\r\n\r\n\x89PNG'#/\r\n--x--\r\n", false},
	{"application/json", "{\"a\":{\"_method\":1},\"b\":\"_method\",\"c\":[\"_method\"]}", false},
};

/* However much of what a server leaves out stands around a name, before it or behind. */
static bool asks_behind(const char *type, const char *before, const char *noise, const char *name, const char *after)
{
	char body[4096];
	size_t n = 0;
	int i;

	n += (size_t)snprintf(body + n, sizeof(body) - n, "%s", before);
	for (i = 0; i < 300; i++)
		n += (size_t)snprintf(body + n, sizeof(body) - n, "%s", noise);
	n += (size_t)snprintf(body + n, sizeof(body) - n, "%s", name);
	for (i = 0; i < 300; i++)
		n += (size_t)snprintf(body + n, sizeof(body) - n, "]");
	n += (size_t)snprintf(body + n, sizeof(body) - n, "%s", after);
	return asks_in(type, body, n);
}

static void brackets_and_blanks_without_end_hide_no_name(void)
{
	static const char *const noises[] = {"[", "]", "%5B", "%5d", "+", "%20", "%09", "%u005b"};
	size_t i;

	for (i = 0; i < sizeof(noises) / sizeof(noises[0]); i++) {
		CHECK(asks_behind(URL, "", noises[i], "_method", "=DELETE"));
		CHECK(asks_behind(URL, "a=b&", noises[i], "%5fmethod", "=DELETE"));
		CHECK(asks_behind(URL, "", noises[i], ".method", "=DELETE"));
		CHECK(!asks_behind(URL, "", noises[i], "_methods", "=DELETE"));
		CHECK(asks_behind(PARTS, "--x\r\nContent-Disposition: form-data; name=\"", noises[i], "_method",
				  "\"\r\n\r\nDELETE\r\n--x--\r\n"));
	}
}

static void a_body_that_asks_for_another_method_is_found_however_it_is_written_and_cut(void)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (asks(cases[i].type, cases[i].body) != cases[i].asks) {
			printf("# %s\n", cases[i].body);
			CHECK(false);
		}
}

static void a_name_is_found_behind_any_length(void)
{
	char text[2000];

	memset(text, 'a', sizeof(text));
	memcpy(text, "--x\r\nContent-Disposition: form-data; x=\"", 40);
	memcpy(text + sizeof(text) - 40, "\"; name=\"_method\"\r\n\r\nDELETE\r\n--x--\r\n    ", 40);
	text[sizeof(text) - 1] = '\0';
	CHECK(asks(PARTS, text));
}

/* Each message stands behind a byte of flags and four of its length, which are no JSON. */
static void messages_of_grpc_and_connect_pass_whatever_their_length(void)
{
	char body[256] = {0};
	size_t n;

	for (n = 8; n < 128; n++) {
		memset(body + 5, 'x', n);
		memcpy(body + 5, "{\"a\":\"", 6);
		memcpy(body + 5 + n - 2, "\"}", 2);
		body[4] = (char)n;
		CHECK(!asks_in("application/connect+json", body, n + 5));
		CHECK(!asks_in("application/grpc+json", body, n + 5));
	}
	CHECK(asks_in("application/json", body, n + 4));
}

static void json_in_wider_characters_is_read(void)
{
	static const char text[] = "{\"_method\" : 1}";
	char wide[4 * sizeof(text) + 4];
	size_t step, i;

	for (step = 2; step <= 4; step += 2) {
		memset(wide, 0, sizeof(wide));
		memcpy(wide, "\xff\xfe", 2);
		for (i = 0; i < sizeof(text) - 1; i++)
			wide[step + i * step] = text[i];
		CHECK(asks_in("application/json", wide, step * sizeof(text)));
		CHECK(asks_in("application/json", wide + step, step * (sizeof(text) - 1)));
		CHECK(asks_in("text/plain", wide, step * sizeof(text)));
	}
}

static bool asks_under(const char *name, const char *first, const char *second, const char *body)
{
	struct net_form_head head = {0};
	struct net_form form;

	net_form_head_field(&head, sv_of("content-type"), sv_of(first));
	net_form_head_field(&head, sv_of(name), sv_of(second));
	net_form_init(&form, &head);
	return net_form_feed(&form, sv_of(body));
}

static void several_types_are_any(void)
{
	CHECK(asks_under("content-type", "text/plain", URL, "_method=x"));
	CHECK(asks_under("content_type", URL, "text/plain", "_method=x"));
	CHECK(asks_under("content-type", "a/b", "c/d", "_method=x"));
	CHECK(asks_under("content-type", "a/b", PARTS, PART("Content-ID: _method")));
	CHECK(asks_under("content-type", "multipart/form-data; boundary=y", PARTS, PART("Content-ID: _method")));
	CHECK(!asks_under("content-type", "a/b", "c/d", "a=_method"));
}

int main(void)
{
	static const struct check_case all[] = {
		CASE(a_body_that_asks_for_another_method_is_found_however_it_is_written_and_cut),
		CASE(brackets_and_blanks_without_end_hide_no_name),
		CASE(a_name_is_found_behind_any_length),
		CASE(messages_of_grpc_and_connect_pass_whatever_their_length),
		CASE(json_in_wider_characters_is_read),
		CASE(several_types_are_any),
	};

	return check_main(all, sizeof(all) / sizeof(all[0]));
}
