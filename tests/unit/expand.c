/*
 * Words of a Dockerfile. The tables are ours; files of BuildKit's form (frontend/dockerfile/shell: envVarTest and
 * wordsTest) are compared too where CORDON_EXPAND_ENV and CORDON_EXPAND_WORDS name them.
 */
#include "check.h"
#include "conf/expand.h"

struct vars {
	const char *v[64]; /* name, value, ... */
};

static const char *get(void *arg, struct sv name)
{
	const struct vars *v = arg;
	const char *found = NULL;
	size_t i;

	for (i = 0; v->v[i]; i += 2)
		if (sv_is(name, v->v[i]))
			found = v->v[i + 1];
	return found;
}

static struct vars usual = {{"PWD", "/home", "SHELL", "bash", "NULL", "", "KOREAN", "\xed\x95\x9c", "VER",
			     "1.2.3.tar.gz", "UP", "a/b/c", "STAR", "a*b*c"}};

/* "error" where it is one. */
static const char *word(struct arena *a, struct vars *v, char escape, struct sv w)
{
	struct expand how = {.arena = a, .escape = escape, .get = get, .arg = v};
	struct error err = {0};
	const char *s;

	if (expand_word(&how, w, &s, &err) < 0) {
		CHECK(err.kind == ERROR_INPUT && err.text[0]);
		return "error";
	}
	return s;
}

static void words_are_expanded_as_buildkit_does(void)
{
	static const struct {
		const char *in, *out;
	} t[] = {
		{"plain", "plain"},
		{"a'b c'd", "ab cd"},
		{"a'b", "error"},
		{"\"a", "error"},
		{"\"a\\\"", "error"},
		{"a\\ b", "a b"},
		{"a\\", "a"},
		{"\"a\\tb\\\"\\$\\\\\"", "a\\tb\"$\\"},
		{"'$PWD'", "$PWD"},
		{"\"$PWD\"", "/home"},
		{"\\$PWD", "$PWD"},
		{"x$PWD.y", "x/home.y"},
		{"$.", "$."},
		{"$", "$"},
		{"$1x", "x"},
		{"$$", ""},
		{"${@:-b}", "b"},
		{"${}", "error"},
		{"${:-x}", "error"},
		{"${PWD", "error"},
		{"${PWD:=x}", "error"},
		{"${no}", ""},
		{"${no:-${no2:-deep}}", "deep"},
		{"${NULL:-x}", "x"},
		{"${NULL-x}", ""},
		{"${NULL:+x}", ""},
		{"${NULL+x}", "x"},
		{"${PWD:+${SHELL}}", "bash"},
		{"${no?}", "error"},
		{"${no:?say why}", "error"},
		{"${NULL?}", ""},
		{"${NULL:?}", "error"},
		{"${VER#*.}", "2.3.tar.gz"},
		{"${VER##*.}", "gz"},
		{"${VER%.*}", "1.2.3.tar"},
		{"${VER%%.*}", "1"},
		{"${VER%.tar.gz}", "1.2.3"},
		{"${VER#x}", "1.2.3.tar.gz"},
		{"${VER#?.}", "2.3.tar.gz"},
		{"${VER:#x}", "error"},
		{"${STAR#*\\*}", "b*c"},
		{"${STAR##*\\*}", "c"},
		{"${VER/./-}", "1-2.3.tar.gz"},
		{"${VER//./-}", "1-2-3-tar-gz"},
		{"${UP//\\//-}", "a-b-c"},
		{"${VER/.*/}", "1"},
		{"${VER/x", "error"},
		{"${VER/x/y", "error"},
		{"${VER^}", "error"},
		{"\xec\x95\x88$KOREAN", "\xec\x95\x88\xed\x95\x9c"},
		{"${KOREAN#?}", ""},
		{"$PWD\xec\x95\x88", "error"},
	};
	struct arena *a = arena_new();
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		CHECK_STR(word(a, &usual, '\\', sv_of(t[i].in)), t[i].out);
	CHECK_STR(word(a, &usual, '`', sv_of("C:\\$PWD`$x")), "C:\\/home$x");
	arena_free(a);
}

static void a_word_that_must_be_set_says_why(void)
{
	struct arena *a = arena_new();
	struct expand how = {.arena = a, .escape = '\\', .get = get, .arg = &usual};
	struct error err = {0};
	const char *s;

	CHECK(expand_word(&how, sv_of("${no:?give \x1b it}"), &s, &err) < 0);
	CHECK_STR(err.text, "no: give \\x1b it");
	arena_free(a);
}

/* Each line makes the value twice as long; so does each level of a nested one. */
static void growth_is_bounded(void)
{
	struct arena *a = arena_new();
	size_t budget = EXPAND_BUDGET, n = 0, i;
	struct vars v = {{"A", "0123456789abcdef"}};
	struct expand how = {.arena = a, .escape = '\\', .get = get, .arg = &v, .budget = &budget};
	struct error err = {0};
	const char *s;
	char deep[4096] = "";

	while (n < 100 && expand_word(&how, sv_of("$A$A"), &s, &err) == 0) {
		v.v[1] = s;
		n++;
	}
	CHECK(n > 10 && n < 20);
	for (n = 0; n < 1000; n++)
		if (expand_word(&how, sv_of("$A"), &s, &err) < 0)
			break;
	CHECK(n < 40);
	CHECK_STR(err.text, "variables expand to more than 16 MiB in all");
	for (i = 0; i < 500; i++)
		strcat(deep, "${x-");
	budget = EXPAND_BUDGET;
	CHECK(expand_word(&how, sv_of(deep), &s, &err) < 0 && strstr(err.text, "too deep"));
	arena_free(a);
}

static void a_pattern_takes_no_exponential_time(void)
{
	struct arena *a = arena_new();
	struct vars v = {{0}};
	char value[20001], pattern[600] = "${A##";
	size_t i;

	memset(value, 'a', 20000);
	value[20000] = '\0';
	v.v[0] = "A";
	v.v[1] = value;
	for (i = 0; i < 200; i++)
		strcat(pattern, "*a");
	strcat(pattern, "b}");
	CHECK_STR(word(a, &v, '\\', sv_of(pattern)), "error");
	arena_free(a);
}

static void joined(char *out, size_t size, const char **v)
{
	size_t i;

	out[0] = '\0';
	for (i = 0; v[i]; i++)
		(void)snprintf(out + strlen(out), size - strlen(out), "%s%s", i ? "," : "", v[i]);
}

static const char *split(struct arena *a, struct vars *v, const char *w, char *out, size_t size)
{
	struct expand how = {.arena = a, .escape = '\\', .get = get, .arg = v};
	struct error err = {0};
	const char **words;
	size_t n;

	if (expand_words(&how, sv_of(w), &words, &n, &err) < 0)
		return "error";
	joined(out, size, words);
	return out;
}

static void words_are_split_after_expansion(void)
{
	struct vars v = {{"S", "a  b", "L", " x"}};
	struct arena *a = arena_new();
	char out[512];

	CHECK_STR(split(a, &v, "p$S q", out, sizeof(out)), "pa,b,q");
	CHECK_STR(split(a, &v, "p\"$S\"q", out, sizeof(out)), "pa  bq");
	CHECK_STR(split(a, &v, "p$L", out, sizeof(out)), "p,x");
	CHECK_STR(split(a, &v, "a\\ b  c", out, sizeof(out)), "a b,c");
	CHECK_STR(split(a, &v, "<< EOF x", out, sizeof(out)), "<< EOF,x");
	CHECK_STR(split(a, &v, "  ", out, sizeof(out)), "");
	arena_free(a);
}

/* Without spaces at its ends. */
static char *trimmed(char *s)
{
	char *e;

	while (*s == ' ')
		s++;
	for (e = s + strlen(s); e > s && (e[-1] == ' ' || e[-1] == '\n'); e--)
		e[-1] = '\0';
	return s;
}

static void one_env_line(struct arena *a, char *l)
{
	char *in = strchr(l, '|'), *out;

	if (!in || l[0] == 'W' || l[0] == '#')
		return;
	*in++ = '\0';
	out = strchr(in, '|');
	if (!out)
		return;
	*out++ = '\0';
	CHECK_STR(word(a, &usual, '\\', sv_of(trimmed(in))), trimmed(out));
}

static void one_words_line(struct arena *a, struct vars *v, size_t *n, char *l)
{
	char out[512], *p;

	l[strcspn(l, "\n")] = '\0';
	if (strncmp(l, "ENV ", 4) == 0 && (p = strchr(l, '='))) {
		*p = '\0';
		v->v[*n] = arena_str(a, sv_of(l + 4));
		v->v[*n + 1] = arena_str(a, sv_of(p + 1));
		*n += 2;
	} else if (l[0] != '#' && (p = strchr(l, '|'))) {
		*p = '\0';
		CHECK_STR(split(a, v, trimmed(l), out, sizeof(out)), p[1] ? p + 2 : "");
	}
}

static void files_of_buildkit_agree(void)
{
	const char *path = getenv("CORDON_EXPAND_ENV");
	struct vars v = {{0}};
	struct arena *a = arena_new();
	size_t n = 0;
	char l[1024];
	FILE *f = path ? fopen(path, "re") : NULL;

	usual.v[7] = "\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4";
	while (f && fgets(l, sizeof(l), f))
		one_env_line(a, l);
	if (f)
		(void)fclose(f);
	path = getenv("CORDON_EXPAND_WORDS");
	f = path ? fopen(path, "re") : NULL;
	while (f && fgets(l, sizeof(l), f))
		one_words_line(a, &v, &n, l);
	if (f)
		(void)fclose(f);
	arena_free(a);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(words_are_expanded_as_buildkit_does),
		CASE(a_word_that_must_be_set_says_why),
		CASE(growth_is_bounded),
		CASE(a_pattern_takes_no_exponential_time),
		CASE(words_are_split_after_expansion),
		CASE(files_of_buildkit_agree),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
