/* From a Dockerfile to steps. Each text is made into a recipe twice, here and in the confined child, and must come out
 * the same. */
#include "base/buf.h"
#include "check.h"
#include "conf/dockerfile.h"
#include "image/mode.h"
#include "image/pattern.h"
#include "image/recipe.h"
#include "image/recipe_write.h"

static const char *const no_args[] = {NULL};

struct made {
	struct arena *arena;
	const struct recipe *r;
};

static struct made make_with(const char *text, const char *const *args, const char *target,
			     const struct recipe_image *images, size_t n)
{
	struct made m = {arena_new(), NULL};
	struct recipe_request req = {.name = "Dockerfile",
				     .dockerfile = sv_of(text),
				     .ignore_name = ".dockerignore",
				     .ignore = sv_n("", 0),
				     .target = target,
				     .platform = "linux/amd64",
				     .args = args,
				     .images = images,
				     .n_images = n};
	const struct recipe *confined = NULL;
	struct error err = {0};
	AUTO_BUF a = {0};
	AUTO_BUF b = {0};

	buf_init(&a, RECIPE_BYTES);
	buf_init(&b, RECIPE_BYTES);
	CHECK(recipe_make(m.arena, &req, &m.r, &err) == 0);
	if (recipe_parse(m.arena, &req, &confined, &err) < 0)
		CHECK_STR(err.text, "");
	if (m.r && confined) {
		CHECK(recipe_encode(m.r, &a) == 0 && recipe_encode(confined, &b) == 0);
		CHECK(sv_eq(buf_view(&a), buf_view(&b)));
	}
	return m;
}

static struct made make(const char *text)
{
	return make_with(text, no_args, NULL, NULL, 0);
}

static const char *joined(struct arena *a, const char *const *v)
{
	const char *s = "";
	size_t k;

	for (k = 0; v && v[k]; k++)
		s = arena_printf(a, "%s%s%s", s, k ? "|" : "", v[k]);
	return v ? s : "(none)";
}

static const struct recipe_stage *last(const struct made *m)
{
	static const struct recipe_stage nothing;

	CHECK_STR(joined(m->arena, m->r->problems), "");
	return m->r->n_stages && !m->r->problems[0] ? &m->r->stages[m->r->n_stages - 1] : &nothing;
}

static void variables_reach_where_they_should(void)
{
	static const char *const args[] = {"GIVEN=from outside", "TAG=9", NULL};
	struct made m = make_with("ARG TAG=1\nARG UNUSED\nFROM x:$TAG AS b\nARG TAG\nARG GIVEN=default\nARG "
				  "PLAIN=p$TAG\nENV A=1 B=$A\nENV C=$A\"${GIVEN}\" A=2\nRUN echo $A\nFROM b\nRUN x\n",
				  args, NULL, NULL, 0);
	const struct recipe_stage *st = last(&m);

	CHECK_STR(m.r->images[0], "docker.io/library/x:9");
	CHECK_STR(m.r->unknown[0], "docker.io/library/x:9");
	if (m.r->n_stages == 2 && st->n_steps == 1) {
		st = &m.r->stages[0];
		CHECK_STR(joined(m.arena, st->steps[0].argv), "/bin/sh|-c|echo $A");
		CHECK_STR(joined(m.arena, st->steps[0].env),
			  "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin|TAG=9|GIVEN=from "
			  "outside|PLAIN=p9|A=2|B=|C=1from outside");
		CHECK_STR(joined(m.arena, st->steps[0].args), "TAG=9|GIVEN=from outside|PLAIN=p9");
		CHECK_STR(joined(m.arena, st->config.env),
			  "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin|A=2|B=|C=1from outside");
		CHECK_STR(joined(m.arena, m.r->stages[1].steps[0].args), "TAG=9|GIVEN=from outside|PLAIN=p9");
	}
	arena_free(m.arena);
}

/* A global ARG is not seen in a stage that does not ask for it; nor is anything of the machine. */
static void what_was_not_asked_for_is_not_seen(void)
{
	struct made m =
		make("ARG G=1\nFROM x\nENV V=[$G][$HOME][$PATH][$TARGETARCH]\nARG TARGETARCH\nENV W=$TARGETARCH\n");
	const struct recipe_stage *st = last(&m);

	(void)setenv("G", "host", 1);
	CHECK_STR(joined(m.arena, st->config.env + 1),
		  "V=[][][/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin][]|W=amd64");
	arena_free(m.arena);
}

static void a_base_image_gives_what_its_configuration_says(void)
{
	static const char *env[] = {"PATH=/b", "X=1", NULL}, *entry[] = {"/e", NULL}, *cmd[] = {"c", NULL},
			  *shell[] = {"/bin/bash", "-c", NULL};
	static const char *triggers[] = {"COPY a /b", "RUN echo \\\n two", "ENV T=$X", NULL};
	const struct recipe_image image = {"docker.io/library/base:latest",
					   {env, entry, cmd, "/w", "me", shell, triggers}};
	struct made m = make_with("FROM base\nRUN x\nWORKDIR sub\nCMD y\n", no_args, NULL, &image, 1);
	const struct recipe_stage *st = last(&m);

	CHECK(!m.r->unknown[0] && m.r->images[0]);
	CHECK(st->n_steps == 4);
	if (st->n_steps == 4) {
		CHECK(st->steps[0].kind == RECIPE_COPY);
		CHECK_STR(joined(m.arena, st->steps[1].argv), "/bin/bash|-c|echo  two");
		CHECK_STR(joined(m.arena, st->steps[2].env), "PATH=/b|X=1|T=1");
		CHECK_STR(st->steps[2].user, "me");
		CHECK_STR(st->steps[2].workdir, "/w");
		CHECK_STR(st->steps[3].workdir, "/w/sub");
		CHECK_STR(joined(m.arena, st->config.entrypoint), "/e");
		CHECK_STR(joined(m.arena, st->config.command), "/bin/bash|-c|y");
		CHECK(!st->config.on_build);
	}
	arena_free(m.arena);
}

static void only_needed_stages_are_there(void)
{
	static const char text[] =
		"FROM a AS one\nRUN 1\nFROM b AS Two\nADD http://refused /x\nFROM c AS three\nCOPY --from=one /x "
		"/y\nFROM three\nRUN --mount=type=bind,from=0,target=/m ls\nCOPY --from=other:1 /p /q/\n";
	struct made m = make(text);
	const struct recipe_stage *st = last(&m);

	CHECK(m.r->n_stages == 3);
	CHECK_STR(joined(m.arena, m.r->images),
		  "docker.io/library/a:latest|docker.io/library/c:latest|docker.io/library/other:1");
	CHECK_STR(joined(m.arena, m.r->unknown), "docker.io/library/a:latest|docker.io/library/c:latest");
	if (m.r->n_stages == 3) {
		CHECK(st->from.origin == RECIPE_STAGE && st->from.stage == 1);
		CHECK(st->steps[0].mounts[0].from.origin == RECIPE_STAGE && st->steps[0].mounts[0].from.stage == 0);
		CHECK(st->steps[1].from.origin == RECIPE_IMAGE);
	}
	arena_free(m.arena);
	m = make_with(text, no_args, "two", NULL, 0);
	CHECK(m.r->problems[0] && strstr(m.r->problems[0], "Dockerfile:4: ADD: nothing is fetched"));
	arena_free(m.arena);
	m = make_with(text, no_args, "one", NULL, 0);
	CHECK(last(&m)->n_steps == 1);
	arena_free(m.arena);
}

static void parents_keep_their_pivot_and_modes_their_words(void)
{
	struct made m = make("FROM scratch\nCOPY --parents ./a/../b/./c//d /x/./*.c e/. ./f/./ /d/\nCOPY "
			     "--chmod=u=rwX,go+rX a b\nCOPY a/./b c\n");
	static const char *const wrong[] = {
		"--chmod=u+q a b",      "--chmod=u a b",        "--chmod=, a b",
		"--chmod=u+x, a b",     "--chmod=777777 a b",   "--chmod=+rw-z a b",
		"--parents a/./../b c", "--parents ../a/./b c", "--parents a/./b/../../c d"};
	const struct recipe_stage *st = last(&m);
	size_t k;

	CHECK(!m.r->problems[0] && st->n_steps == 3);
	if (st->n_steps == 3) {
		CHECK(st->steps[0].parents && !st->steps[2].parents);
		CHECK_STR(joined(m.arena, st->steps[0].sources), "b/./c/d|x/./*.c|e|f/./.");
		CHECK_STR(st->steps[1].chmod, "u=rwX,go+rX");
		CHECK_STR(joined(m.arena, st->steps[2].sources), "a/b");
	}
	arena_free(m.arena);
	for (k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
		char text[256];

		(void)snprintf(text, sizeof(text), "FROM scratch\nCOPY %s\n", wrong[k]);
		m = make(text);
		CHECK(m.r->problems[0] && !m.r->problems[1]);
		arena_free(m.arena);
	}
}

static void modes_are_those_of_chmod(void)
{
	static const struct {
		const char *text;
		mode_t old;
		bool folder;
		mode_t want;
	} cases[] = {
		{"0755", 0600, false, 0755},        {"04755", 0, false, 04755},
		{"u=rwX,go=rX", 0600, false, 0644}, {"u=rwX,go=rX", 0700, false, 0755},
		{"u=rwX,go=rX", 0600, true, 0755},  {"a+x", 0640, false, 0751},
		{"+x", 0644, false, 0755},          {"+w", 0444, false, 0644},
		{"=r", 0777, false, 0444},          {"=rw", 0, false, 0644},
		{"a=rw", 0, false, 0666},           {"g=u", 0640, false, 0660},
		{"go-rwx", 0777, false, 0700},      {"u+s", 0755, false, 04755},
		{"g+s", 0755, true, 02755},         {"+t", 0777, true, 01777},
		{"o+t", 0777, true, 01777},         {"u-x+r", 0300, false, 0600},
		{"u=", 0777, false, 0077},          {"o=g", 0750, false, 0755},
		{"ug+w,o-r", 0444, false, 0660},
	};
	size_t k;

	for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		CHECK(mode_is_valid(cases[k].text));
		CHECK(mode_change(cases[k].text, cases[k].old, cases[k].folder) == cases[k].want);
		if (mode_change(cases[k].text, cases[k].old, cases[k].folder) != cases[k].want)
			printf("# %s of %o: %o\n", cases[k].text, cases[k].old,
			       mode_change(cases[k].text, cases[k].old, cases[k].folder));
	}
	CHECK(!mode_is_valid("") && !mode_is_valid("u+x,,g+x") && !mode_is_valid("u+ugx") && !mode_is_valid("888") &&
	      !mode_is_valid("b+x"));
}

static void copies_are_clean(void)
{
	struct made m = make("FROM scratch AS s\nWORKDIR /w/./x/../y\nARG D=sub\nCOPY ./a/../b /c$D *.[ch] \"q\"r "
			     "$D/\nCOPY one two\nCOPY . .\nADD --chown=u:g --chmod=0755 --exclude=*.o x.tar.gz /\n"
			     "COPY --from=s /../../etc/x /\nCOPY <<one <<\"two\" /f/\na $D \\$D\none\n$D 'x'\ntwo\n");
	const struct recipe_stage *st = last(&m);

	CHECK(st->n_steps == 7);
	if (st->n_steps == 7) {
		CHECK_STR(st->config.workdir, "/w/y");
		CHECK_STR(joined(m.arena, st->steps[1].sources), "b|csub|*.[ch]|qr");
		CHECK_STR(st->steps[1].dest, "/w/y/sub/");
		CHECK_STR(st->steps[2].dest, "/w/y/two");
		CHECK_STR(joined(m.arena, st->steps[3].sources), ".");
		CHECK_STR(st->steps[3].dest, "/w/y/");
		CHECK(st->steps[4].unpack && !st->steps[3].unpack);
		CHECK_STR(st->steps[4].chown, "u:g");
		CHECK_STR(joined(m.arena, st->steps[4].excludes), "*.o");
		CHECK(st->steps[6].n_files == 2 && !st->steps[6].sources[0]);
		CHECK_STR(st->steps[6].files[0].content, "a sub $D\n");
		CHECK_STR(st->steps[6].files[1].content, "$D 'x'\n");
	}
	arena_free(m.arena);
}

static void heredocs_become_commands(void)
{
	struct made m = make("FROM x\nSHELL [\"/bin/bash\", \"-ec\"]\nRUN <<E\na\n\tb\nE\nRUN <<-E\n\ta\nE\nRUN cat "
			     "<<E >x\nhi\nE\nRUN <<E\n#!/usr/bin/env python3\nprint(1)\nE\nRUN [\"x\", \"<<E\"]\n");
	const struct recipe_stage *st = last(&m);

	CHECK(st->n_steps == 5);
	if (st->n_steps == 5) {
		CHECK_STR(joined(m.arena, st->steps[0].argv), "/bin/bash|-ec|a\n\tb\n");
		CHECK_STR(joined(m.arena, st->steps[1].argv), "/bin/bash|-ec|a\n");
		CHECK_STR(joined(m.arena, st->steps[2].argv), "/bin/bash|-ec|cat <<E >x\nhi\nE");
		CHECK_STR(st->steps[3].argv[0], "/bin/sh");
		CHECK_STR(st->steps[3].argv[4], "#!/usr/bin/env python3\nprint(1)\n");
		CHECK_STR(joined(m.arena, st->steps[4].argv), "x|<<E");
	}
	arena_free(m.arena);
}

static void what_reaches_outside_is_refused_with_its_line(void)
{
	static const struct {
		const char *text, *says;
	} t[] = {
		{"# syntax=evil/frontend:1\nFROM x\n", "Dockerfile:1: # syntax=evil/frontend:1: a frontend"},
		{"#!x\n#syntax = docker/dockerfilex\nFROM x\n",
		 "Dockerfile:2: # syntax=docker/dockerfilex: a frontend"},
		{"FROM x\nCOPY ../secret /\n", "Dockerfile:2: COPY: the source leaves the build context: ../secret"},
		{"FROM x\nCOPY a/../../secret /\n",
		 "Dockerfile:2: COPY: the source leaves the build context: a/../../secret"},
		{"FROM x\nARG P=..\nCOPY ${P}/secret /\n",
		 "Dockerfile:3: COPY: the source leaves the build context: ../secret"},
		{"FROM x\nARG P=x.x\nCOPY ${P//x/}./s /\n",
		 "Dockerfile:3: COPY: the source leaves the build context: ../s"},
		{"FROM x\nADD [\"..\", \"/\"]\n", "Dockerfile:2: ADD: the source leaves the build context: .."},
		{"FROM x\nADD https://h/x /\n", "Dockerfile:2: ADD: nothing is fetched"},
		{"FROM x\nARG U=HTTP\nADD $U://h/x /\n", "Dockerfile:3: ADD: nothing is fetched"},
		{"FROM x\nADD git@github.com:a/b.git /\n", "Dockerfile:2: ADD: nothing is fetched"},
		{"FROM x\nADD --checksum=sha256:0 a /\n", "Dockerfile:2: ADD: --checksum and --keep-git-dir are for"},
		{"FROM x\nRUN --mount=type=secret,id=k cat /run/secrets/k\n",
		 "Dockerfile:2: RUN: nothing secret enters a build; remove --mount=type=secret"},
		{"FROM x\nRUN --mount=type=\"ssh\" x\n",
		 "Dockerfile:2: RUN: nothing secret enters a build; remove --mount=type=ssh"},
		{"FROM x\nRUN --mount=type=SECRET,id=k x\n",
		 "Dockerfile:2: RUN: nothing secret enters a build; remove --mount=type=SECRET"},
		{"FROM x\nRUN --mount=target=/x,source=../.. x\n",
		 "Dockerfile:2: RUN: the source of a mount leaves its root: ../.."},
		{"FROM x\nRUN --mount=type=bind,target=/ x\n",
		 "Dockerfile:2: RUN: a mount cannot cover the whole root"},
		{"FROM x\nRUN --mount=type=bind,rw,target=/y x\n",
		 "Dockerfile:2: RUN: a bind mount that can be written to"},
		{"FROM x\nRUN --security=insecure x\n",
		 "Dockerfile:2: RUN: a build gets no privileges; remove --security=insecure"},
		{"FROM x\nRUN --network=host x\n",
		 "Dockerfile:2: RUN: a build has no network but its own; remove --network=host"},
		{"FROM x\nRUN --device=all x\n", "Dockerfile:2: RUN: a build gets no devices; remove --device"},
		{"FROM --platform=windows/amd64 x\n",
		 "Dockerfile:1: FROM: only images of this machine's platform can be used, not windows/amd64"},
		{"FROM $NO\n", "Dockerfile:1: FROM: the image's name is empty"},
		{"FROM ../x\n", "Dockerfile:1: FROM: "},
		{"FROM x\nCOPY --from=2 a b\n",
		 "Dockerfile:2: COPY: there is no stage before this one with the number 2"},
		{"FROM x\nCOPY --from=$S a b\n", "Dockerfile:2: COPY: variables are not expanded in from="},
		{"FROM x\nCOPY [\"a\\nb\", \"/c\"]\n",
		 "Dockerfile:2: COPY: the source is not a path or a pattern: a\\x0ab"},
		{"FROM x\nCOPY a[ /c\n", "Dockerfile:2: COPY: the source is not a path or a pattern: a["},
		{"FROM x\nENV A=\"${B:?must be}\"\n", "Dockerfile:2: ENV: B: must be"},
		{"RUN x\nFROM y\n", "Dockerfile:1: RUN: stands before the first FROM"},
		{"ARG X=1\n", "Dockerfile:1: there is no FROM"},
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct made m = make(t[i].text);
		const char *got = m.r->problems[0] ? m.r->problems[0] : "";

		if (strncmp(got, t[i].says, strlen(t[i].says)) != 0)
			CHECK_STR(got, t[i].says);
		arena_free(m.arena);
	}
}

static void all_problems_are_listed(void)
{
	struct made m = make("FROM x\nCOPY ../a /\nRUN --network=host x\nADD http://x /\n");

	CHECK(m.r->problems[0] && m.r->problems[1] && m.r->problems[2] && !m.r->problems[3]);
	arena_free(m.arena);
}

static void dockers_own_frontend_is_this_one(void)
{
	static const char *const texts[] = {"# syntax=docker/dockerfile:1\nFROM x\n",
					    "#syntax = docker.io/docker/dockerfile:1.7-labs\nFROM x\n",
					    "# syntax=docker/dockerfile\nFROM x\n"};
	size_t i;

	for (i = 0; i < 3; i++) {
		struct made m = make(texts[i]);

		CHECK_STR(joined(m.arena, m.r->problems), "");
		arena_free(m.arena);
	}
}

/* Values that double, in memory that is bounded. */
static void growth_is_refused(void)
{
	AUTO_BUF b = {0};
	struct made m;
	int i;

	buf_init(&b, 1 << 20);
	buf_str(&b, "FROM x\nENV A=0123456789abcdef\n");
	for (i = 0; i < 40; i++)
		buf_str(&b, "ENV A=$A$A\n");
	m = make(b.p);
	CHECK(m.r->problems[0] && strstr(m.r->problems[0], "grows beyond"));
	arena_free(m.arena);
	buf_clear(&b);
	buf_str(&b, "FROM x\nENV A=0123456789abcdef\n");
	for (i = 0; i < 14; i++)
		buf_str(&b, "ENV A=$A$A\n");
	for (i = 0; i < 1000; i++)
		buf_str(&b, "ENV B=1\nRUN x\n");
	m = make(b.p);
	CHECK(m.r->problems[0] && strstr(m.r->problems[0], "too much memory"));
	arena_free(m.arena);
	buf_clear(&b);
	buf_str(&b, "FROM x\nENV");
	for (i = 0; i < 60000; i++)
		buf_printf(&b, " V%d=1", i);
	m = make(b.p);
	CHECK(m.r->problems[0] && strstr(m.r->problems[0], "too many variables"));
	arena_free(m.arena);
}

static void ignore_patterns_hit_what_docker_ignores(void)
{
	static const struct {
		const char *patterns[5], *path;
		bool ignored;
	} t[] = {
		{{"a"}, "a", true},
		{{"a"}, "a/b/c", true},
		{{"a"}, "b/a", false},
		{{"/a/"}, "a/b", true},
		{{"*/a"}, "x/a", true},
		{{"*/a"}, "x/y/a", false},
		{{"**/a"}, "a", true},
		{{"**/a"}, "x/y/a/z", true},
		{{"**/*.o"}, "x/y.o", true},
		{{"**.o"}, "x/y.o", true},
		{{"*.md", "!README.md"}, "README.md", false},
		{{"*.md", "!README*.md", "README-secret.md"}, "README-secret.md", true},
		{{"*", "!a/b"}, "a/b/c", false},
		{{"*", "!a/b"}, "a/c", true},
		{{"a/**"}, "a/b", true},
		{{"a/**"}, "a", false},
		{{"a/**/z"}, "a/z", true},
		{{"[a-c]x"}, "bx", true},
		{{"[^a-c]x"}, "bx", false},
		{{"\\!x"}, "!x", true},
		{{"# x"}, "# x", false},
		{{"../a"}, "a", false},
		{{"x/../a"}, "a", true},
		{{".git"}, ".gitignore", false},
	};
	struct arena *a = arena_new();
	uint64_t work = 0;
	size_t i, k, n;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const char *list[6] = {NULL};
		bool valid;

		for (k = n = 0; t[i].patterns[k]; k++) {
			list[n] = pattern_ignore_line(a, sv_of(t[i].patterns[k]), &valid);
			CHECK(valid);
			n += list[n] != NULL;
		}
		if (pattern_ignored(list, sv_of(t[i].path), &work) != t[i].ignored)
			CHECK_STR(t[i].patterns[0], t[i].path);
	}
	CHECK(pattern_match(sv_of("a*b*c"), sv_of("axxbyyc"), &work));
	CHECK(!pattern_match(sv_of("a*c"), sv_of("a/c"), &work) && !pattern_match(sv_of("a?c"), sv_of("a/c"), &work) &&
	      !pattern_match(sv_of("a[/]c"), sv_of("a/c"), &work));
	CHECK(pattern_match(sv_of("\\*"), sv_of("*"), &work) && !pattern_match(sv_of("\\*"), sv_of("x"), &work));
	CHECK(!pattern_is_valid(sv_of("[a")) && !pattern_is_valid(sv_of("[]a]")) && !pattern_is_valid(sv_of("a\\")) &&
	      pattern_is_valid(sv_of("[\\]a]")));
	arena_free(a);
}

/* Whoever bounds the work must hear of all of it. */
static void what_a_pattern_takes_is_counted(void)
{
	enum { CLASS = 2000, NAME = 200 };
	char pattern[CLASS + 8] = "!*[", name[NAME];
	const char *const list[] = {"*", pattern, NULL};
	uint64_t work = 0;

	memset(pattern + 3, 'z', CLASS);
	memcpy(pattern + 3 + CLASS, "]b", 3);
	memset(name, 'a', sizeof(name));
	CHECK(!pattern_match(sv_of(pattern + 1), sv_n(name, sizeof(name)), &work) && work >= (uint64_t)CLASS * NAME);
	work = 0;
	CHECK(!pattern_may_return(list, sv_n(name, sizeof(name)), &work) && work >= (uint64_t)CLASS * NAME);
}

static void an_answer_that_was_tampered_with_is_refused(void)
{
	struct made m = make("FROM scratch AS a\nFROM x\nCOPY --from=a /f /g/\nRUN --mount=type=tmpfs,target=/t y\n");
	struct recipe_stage *st = &m.r->stages[1];
	const struct recipe *again;
	AUTO_BUF b = {0};
	const char *bad[] = {"../x", NULL}, *pivot[] = {"x/./y", NULL};
	size_t n;

	buf_init(&b, RECIPE_BYTES);
	CHECK(recipe_encode(m.r, &b) == 0 && recipe_decode(m.arena, buf_view(&b), &again) == 0);
	for (n = 0; n < b.n; n++)
		CHECK(recipe_decode(m.arena, sv_n(b.p, n), &again) < 0);
#define TAMPER(field, value)                                                                                           \
	do {                                                                                                           \
		__typeof__(field) kept_ = field;                                                                       \
		field = value;                                                                                         \
		buf_clear(&b);                                                                                         \
		CHECK(recipe_encode(m.r, &b) == 0 && recipe_decode(m.arena, buf_view(&b), &again) < 0);                \
		field = kept_;                                                                                         \
	} while (0)
	TAMPER(st->steps[0].from.stage, 1);
	TAMPER(st->steps[0].from.stage, 99);
	TAMPER(st->steps[0].sources, bad);
	TAMPER(st->steps[0].dest, "g");
	TAMPER(st->steps[0].dest, "/a/../../g");
	TAMPER(st->steps[0].chmod, "u+q");
	TAMPER(st->steps[0].chmod, "7777777");
	TAMPER(st->steps[0].sources, pivot);
	TAMPER(st->steps[1].mounts[0].target, "/");
	TAMPER(st->steps[1].mounts[0].target, "/../x");
	TAMPER(st->steps[1].workdir, "x");
	TAMPER(st->from.image, "../../etc");
	TAMPER(st->name, "a\x1b[2J");
	TAMPER(st->steps[0].kind, (enum recipe_kind)7);
#undef TAMPER
	arena_free(m.arena);
}

static bool same_list(const char *const *a, const char *const *b)
{
	for (; a && b && *a && *b; a++, b++)
		if (strcmp(*a, *b) != 0)
			return false;
	return (!a || !*a) && (!b || !*b);
}

static bool same_set(const char *const *a, const char *const *b)
{
	size_t i, j, n = 0, m = 0;

	while (a[n])
		n++;
	while (b[m])
		m++;
	for (i = 0; i < n; i++) {
		for (j = 0; j < m && strcmp(a[i], b[j]) != 0; j++)
			;
		if (j == m)
			return false;
	}
	return n == m;
}

static void same_step(const struct recipe_step *a, const struct recipe_step *b)
{
	CHECK(a->kind == b->kind && a->from.origin == b->from.origin && a->from.stage == b->from.stage &&
	      a->unpack == b->unpack);
	CHECK(same_list((const char *const *)a->argv, (const char *const *)b->argv));
	CHECK(a->kind != RECIPE_RUN || same_set((const char *const *)a->env, (const char *const *)b->env));
	CHECK(a->kind != RECIPE_RUN || same_set((const char *const *)a->args, (const char *const *)b->args));
	CHECK(same_list((const char *const *)a->sources, (const char *const *)b->sources));
	CHECK_STR(a->dest, b->dest);
	CHECK_STR(a->chown, b->chown);
	CHECK_STR(a->workdir, b->workdir);
	CHECK(a->kind != RECIPE_RUN || strcmp(a->user, b->user) == 0);
}

/* The text that Docker gets means what the original meant. */
static void a_canonical_file_means_the_same(void)
{
	static const char text[] =
		"# syntax=docker/dockerfile:1\nARG V=1\nFROM x:$V AS one\nARG A=a\\\"\\$b A2=\"q r\"\nENV E=\"$A \\\\ "
		"\\$HOME `x`\" F='$E'\nWORKDIR \"/w $A\"\nCOPY --chown=u:g a* ./b/\n"
		"USER me\nRUN echo \"$E\" \\\n# c\n && x\nRUN <<EOF\nline 1\n\tline \"2\" $E\nEOF\nRUN [\"a b\", "
		"\"\\u00e9\\n$X\"]\nADD [\"sp ace\", \"/d$E/\"]\nFROM one\nENV E=2\nUSER root\n"
		"RUN y\nCOPY --from=one /p[1-3] /q\nLABEL a=\"$E\" b='x\"y'\nEXPOSE 80\nHEALTHCHECK --interval=3s CMD "
		"curl x\nSTOPSIGNAL 9\nCMD z\n";
	struct recipe_writer w = {.name = "Dockerfile"};
	struct made m = make(text), n;
	struct error err = {0};
	AUTO_BUF out = {0};
	size_t k, j;

	buf_init(&out, RECIPE_BYTES);
	CHECK_STR(joined(m.arena, m.r->problems), "");
	if (recipe_write(m.arena, m.r, &w, &out, &err) < 0)
		CHECK_STR(err.text, "");
	CHECK(out.p && !strstr(out.p, "<<") && !strstr(out.p, "syntax") && !strstr(out.p, "$V"));
	n = make(out.p);
	CHECK_STR(joined(n.arena, n.r->problems), "");
	CHECK(n.r->n_stages == m.r->n_stages);
	for (k = 0; k < m.r->n_stages && k < n.r->n_stages; k++) {
		const struct recipe_stage *a = &m.r->stages[k], *b = &n.r->stages[k];

		CHECK(a->n_steps == b->n_steps);
		for (j = 0; j < a->n_steps && j < b->n_steps; j++)
			same_step(&a->steps[j], &b->steps[j]);
		CHECK(same_set((const char *const *)a->config.env, (const char *const *)b->config.env));
		CHECK(same_list((const char *const *)a->config.entrypoint, (const char *const *)b->config.entrypoint));
		CHECK(same_list((const char *const *)a->config.command, (const char *const *)b->config.command));
		CHECK(same_list((const char *const *)a->further, (const char *const *)b->further));
		CHECK_STR(a->config.workdir, b->config.workdir);
	}
	if (check_failures)
		printf("# %s\n", out.p);
	arena_free(m.arena);
	arena_free(n.arena);
}

static void what_dockers_builder_cannot_do_is_refused(void)
{
	static const char *const texts[] = {
		"FROM x\nRUN --mount=target=/x y\n",
		"FROM x\nENV A=1\nRUN y\nARG A=2\nRUN z\n",
		"FROM x AS a\nFROM y\nCOPY --from=a --chmod=0755 /b /c\n",
		"FROM x\nRUN --network=none y\n",
	};
	struct recipe_writer w = {.name = "Dockerfile"};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct made m = make(texts[i]);
		struct error err = {0};
		AUTO_BUF out = {0};

		buf_init(&out, RECIPE_BYTES);
		CHECK(recipe_write(m.arena, m.r, &w, &out, &err) < 0 && strstr(err.text, "the native one can"));
		arena_free(m.arena);
	}
}

/* An image's variables may have line breaks, of which a Dockerfile would make instructions. */
static void no_variable_of_a_base_becomes_an_instruction(void)
{
	static const char *const texts[] = {"FROM base\nRUN y\n", "FROM base\nCMD [\"y\"]\n"};
	static const char *env[] = {"PATH=/b", "X=a\nADD http://elsewhere/x /\nRUN \\", NULL}, *cmd[] = {"c", NULL};
	const struct recipe_image image = {"docker.io/library/base:latest", {env, NULL, cmd, "/w", "me", NULL, NULL}};
	struct recipe_writer w = {.name = "Dockerfile"};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct made m = make_with(texts[i], no_args, NULL, &image, 1);
		struct error err = {0};
		AUTO_BUF out = {0};

		buf_init(&out, RECIPE_BYTES);
		CHECK(recipe_write(m.arena, m.r, &w, &out, &err) < 0 && strstr(err.text, "Dockerfile:") &&
		      strstr(err.text, "line break"));
		CHECK(!strstr(buf_view(&out).n ? out.p : "", "\nADD"));
		arena_free(m.arena);
	}
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(variables_reach_where_they_should),
		CASE(what_was_not_asked_for_is_not_seen),
		CASE(a_base_image_gives_what_its_configuration_says),
		CASE(only_needed_stages_are_there),
		CASE(copies_are_clean),
		CASE(parents_keep_their_pivot_and_modes_their_words),
		CASE(modes_are_those_of_chmod),
		CASE(heredocs_become_commands),
		CASE(what_reaches_outside_is_refused_with_its_line),
		CASE(all_problems_are_listed),
		CASE(dockers_own_frontend_is_this_one),
		CASE(growth_is_refused),
		CASE(ignore_patterns_hit_what_docker_ignores),
		CASE(what_a_pattern_takes_is_counted),
		CASE(an_answer_that_was_tampered_with_is_refused),
		CASE(a_canonical_file_means_the_same),
		CASE(what_dockers_builder_cannot_do_is_refused),
		CASE(no_variable_of_a_base_becomes_an_instruction),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
