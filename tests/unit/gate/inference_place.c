/* Which texts say where something is, however they are cleaned before somebody goes there. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "check.h"
#include "gate/inference/place.h"

/* In the canonical form of JSON: a backslash is an escape's, or one of two. */
static const char *const urls[] = {
	"https://e.test/x",
	"gs://e",
	"s3://e/x",
	"HTTP://e",
	"file:///etc/passwd",
	"x-a+b.c://e",
	/* blanks before it */
	" https://e",
	"                                        https://e",
	"\\thttps://e",
	"\\n\\r\\f\\b\\u0001\\u001fhttps://e",
	"\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\thttps://e",
	"\x7fhttps://e",
	"\xc2\xa0https://e",
	"\xe2\x80\x8bhttps://e",
	"\xe2\x80\xa8https://e",
	"\xe3\x80\x80https://e",
	"\xef\xbb\xbfhttps://e",
	/* and within */
	"ht\\ttps://e",
	"https\\n://e",
	"https:\\r/\\n/e",
	/* as the URL standard has it */
	"https:e.test",
	"https:/e.test",
	"https:\\\\e.test",
	"https:\\\\\\\\e.test",
	"http:/\\\\e.test",
	"gs:\\\\/e",
};

static void what_is_fetched_is_a_url_whatever_blanks_it_has(void)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(urls); i++) {
		if (!place_is_url(sv_of(urls[i])) || !place_has_scheme(sv_of(urls[i])))
			printf("# %s\n", urls[i]);
		CHECK(place_is_url(sv_of(urls[i])) && place_has_scheme(sv_of(urls[i])));
	}
}

static void what_people_write_is_none(void)
{
	static const char *const texts[] = {
		"",
		":",
		"a",
		"AA==",
		"iVBORw0KGgo=",
		"//uQxAAA",
		"C:\\\\a.pdf",
		"note: see https://e",
		"HTTP: a protocol",
		"https:",
		"https: \\n",
		"Note (https://e)",
		"\\\"https://e\\\"",
		"\xe8\xa9\xb3https://e",
		"mailto:a@e.test",
		"\\\\",
		"00:01:30",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(texts); i++) {
		if (place_is_url(sv_of(texts[i])))
			printf("# %s\n", texts[i]);
		CHECK(!place_is_url(sv_of(texts[i])));
	}
	CHECK(!place_has_scheme(sv_of("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ:")));
}

/* In a buffer of its own size, which the sanitizers watch. */
static void nothing_is_read_behind_the_end(void)
{
	size_t i, n;
	char *cut;

	for (i = 0; i < ARRAY_LEN(urls); i++)
		for (n = 1; n < strlen(urls[i]); n++) {
			cut = malloc(n);
			CHECK(cut);
			if (!cut)
				return;
			memcpy(cut, urls[i], n);
			CHECK(!place_is_url(sv_n(cut, n)) || place_has_scheme(sv_n(cut, n)));
			free(cut);
		}
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(what_is_fetched_is_a_url_whatever_blanks_it_has),
		CASE(what_people_write_is_none),
		CASE(nothing_is_read_behind_the_end),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
