/*
 * The parser of Dockerfiles, held to files with the result that BuildKit's parser prints for them
 * (tests/data/dockerfile: NAME/Dockerfile, NAME/result). A folder of the same form in CORDON_DOCKERFILES, such as
 * BuildKit's own frontend/dockerfile/parser/testfiles, is compared too.
 */
#include <ctype.h>
#include <dirent.h>

#include "base/buf.h"
#include "base/text.h"
#include "check.h"
#include "conf/dockerfile.h"

enum { FILE_MAX_BYTES = 4 << 20 };

/* As Go's strconv.Quote() prints it. */
static void quote(struct buf *out, const char *s)
{
	static const char from[] = "\a\b\f\n\r\t\v\\\"", to[] = "abfnrtv\\\"";
	const char *f;

	buf_char(out, '"');
	for (; *s; s++) {
		f = strchr(from, *s);
		if (f)
			buf_printf(out, "\\%c", to[f - from]);
		else if ((unsigned char)*s < ' ' || *s == 0x7f)
			buf_printf(out, "\\x%02x", (unsigned char)*s);
		else
			buf_char(out, *s);
	}
	buf_char(out, '"');
}

static void dump(struct buf *out, const struct dockerfile_instruction *i)
{
	const char *c;
	size_t k;

	for (c = i->word; *c; c++)
		buf_char(out, (char)tolower((unsigned char)*c));
	for (k = 0; i->flags[k]; k++) {
		buf_str(out, k ? " " : " [");
		quote(out, i->flags[k]);
	}
	if (k)
		buf_char(out, ']');
	if (i->trigger) {
		buf_str(out, " (");
		dump(out, i->trigger);
		buf_char(out, ')');
	}
	for (k = 0; i->args[k]; k++) {
		buf_char(out, ' ');
		quote(out, i->args[k]);
	}
}

static void dump_all(struct buf *out, const struct dockerfile *f)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		buf_char(out, '(');
		dump(out, &f->v[i]);
		buf_str(out, ")\n");
	}
}

static void compare(const char *folder, const char *name)
{
	AUTO_BUF bytes = {0};
	AUTO_BUF want = {0};
	AUTO_BUF got = {0};
	struct arena *a = arena_new();
	const struct dockerfile *f;
	struct error err = {0};
	char path[4096];

	buf_init(&bytes, FILE_MAX_BYTES);
	buf_init(&want, FILE_MAX_BYTES);
	buf_init(&got, FILE_MAX_BYTES);
	(void)snprintf(path, sizeof(path), "%s/%s/Dockerfile", folder, name);
	CHECK(buf_read_file(&bytes, path) == 0);
	(void)snprintf(path, sizeof(path), "%s/%s/result", folder, name);
	CHECK(buf_read_file(&want, path) == 0);
	if (strstr(buf_view(&want).p, "\\x00")) { /* no argument can have a NUL: ours refuses it */
		CHECK(dockerfile_parse(a, name, buf_view(&bytes), &f, &err) < 0 && strstr(err.text, "without NUL"));
		arena_free(a);
		return;
	}
	if (dockerfile_parse(a, name, buf_view(&bytes), &f, &err) < 0)
		CHECK_STR(err.text, "");
	else
		dump_all(&got, f);
	if (!sv_eq(buf_view(&got), buf_view(&want)))
		printf("# %s\n", name);
	CHECK_STR(buf_view(&got).p, buf_view(&want).p);
	arena_free(a);
}

static void compare_folder(const char *folder, unsigned least)
{
	DIR *d = opendir(folder);
	unsigned n = 0;
	struct dirent *e;

	CHECK(d != NULL);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.') {
			compare(folder, e->d_name);
			n++;
		}
	if (d)
		closedir(d);
	CHECK(n >= least);
}

static void files_are_read_as_buildkit_reads_them(void)
{
	const char *more = getenv("CORDON_DOCKERFILES");

	compare_folder(TESTS_DIR "/data/dockerfile", 8);
	if (more)
		compare_folder(more, 1);
}

/* "" where it was accepted. */
static const char *refusal(const char *text, size_t n)
{
	static struct error err;
	struct arena *a = arena_new();
	const struct dockerfile *f;
	size_t i;

	err = (struct error){0};
	if (dockerfile_parse(a, "Dockerfile", sv_n(text, n), &f, &err) == 0)
		for (i = 0; i < f->n; i++)
			if (dockerfile_check("Dockerfile", &f->v[i], &err) < 0)
				break;
	arena_free(a);
	return err.text;
}

static void what_is_wrong_is_refused_with_its_line(void)
{
	static const struct {
		const char *text, *says;
	} t[] = {
		{"", "Dockerfile:1: the file has no instructions"},
		{"# only\n#comments\n", "Dockerfile:2: the file has no instructions"},
		{"FROM a\nENV PATH\n", "Dockerfile:2: ENV must have two arguments"},
		{"FROM a\n\nCMD [ \"echo\", [ \"nested json\" ] ]\n",
		 "Dockerfile:3: CMD: a JSON array must hold strings only, without NUL"},
		{"FROM a\nCMD [\"a\\u0000b\"]\n",
		 "Dockerfile:2: CMD: a JSON array must hold strings only, without NUL"},
		{"FROM a\nRUN x \xff\n", "Dockerfile:2: a byte that is not UTF-8 (\\xff)"},
		{"FROM a\nRUN x \xc0\xaf\n", "Dockerfile:2: a byte that is not UTF-8 (\\xc0)"},
		{"FROM a\nRUN \x1b[2J\n", "Dockerfile:2: a control character (\\x1b)"},
		{"FROM a\nRUN <<EOF\nfoo\n", "Dockerfile:2: a heredoc has no end"},
		{"FROM a\nRUN <<EOF\nfoo\n EOF\n", "Dockerfile:2: a heredoc has no end"},
		{"# escape=x\nFROM a\n", "Dockerfile:1: # escape= must be \\ or `"},
		{"# escape=\\\n# escape=`\nFROM a\n", "Dockerfile:2: # escape= stands here twice"},
		{"FROM a\nFORM b\n", "Dockerfile:2: ?: unknown instruction FORM"},
		{"FROM a\nONBUILD ONBUILD RUN x\n", "Dockerfile:2: ONBUILD: another ONBUILD cannot be its trigger"},
		{"FROM a\nONBUILD FROM b\n", "Dockerfile:2: ONBUILD: not allowed as a trigger: FROM"},
		{"FROM a\nCOPY --form=x a b\n", "Dockerfile:2: COPY: unknown flag --form=x"},
		{"FROM a\nCOPY --from=x --from=y a b\n", "Dockerfile:2: COPY: a flag stands here twice: --from=x"},
		{"FROM a\nCOPY --link=perhaps a b\n",
		 "Dockerfile:2: COPY: a flag must be true or false: --link=perhaps"},
		{"FROM a\nCOPY --chown a b\n", "Dockerfile:2: COPY: a flag needs a value: --chown"},
		{"FROM a\nCOPY a\n", "Dockerfile:2: COPY: needs a source and a destination"},
		{"FROM a b\n", "Dockerfile:1: FROM: write FROM IMAGE, or FROM IMAGE AS NAME"},
		{"FROM a as 1b\n",
		 "Dockerfile:1: FROM: a stage's name is letters, digits, - _ and . behind a letter: 1b"},
		{"FROM a\nSHELL bash -c\n",
		 "Dockerfile:2: SHELL: must be a JSON array, such as [\"/bin/bash\", \"-c\"]"},
		{"FROM a\nHEALTHCHECK NONE x\n", "Dockerfile:2: HEALTHCHECK: NONE takes no arguments"},
		{"FROM a\nUSER\n", "Dockerfile:2: USER: has no argument"},
		{"FROM a\nARG =x\n", "Dockerfile:2: ARG: a name is empty"},
		{"FROM a\nRUN --mount=type=\xc3\xa9 x\n", "Dockerfile:2: RUN: a flag has a character beyond ASCII"},
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		CHECK_STR(refusal(t[i].text, strlen(t[i].text)), t[i].says);
	CHECK_STR(refusal("FROM a\nRUN a\0b\n", 14), "Dockerfile:2: a control character (\\x00)");
}

static void what_is_too_much_is_refused(void)
{
	size_t n = DOCKERFILE_BYTES + 1, i;
	char *big = malloc(n);

	memset(big, '#', n);
	CHECK(strstr(refusal(big, n), "larger than") != NULL);
	for (i = 0; i + 6 <= n; i += 6)
		memcpy(big + i, "RUN x\n", 6);
	CHECK(strstr(refusal(big, i - 6), ":4097: more than 4096 instructions") != NULL);
	for (i = 0; i + 8 <= n; i += 8)
		memcpy(big + i, "ONBUILD ", 8);
	CHECK(strstr(refusal(big, i - 8), "another ONBUILD") != NULL);
	memcpy(big, "CMD ", 4);
	memset(big + 4, '[', n - 5);
	CHECK(strstr(refusal(big, n - 1), "strings only") != NULL);
	memcpy(big, "RUN <<E ", 8);
	for (i = 8; i + 3 <= n; i += 3)
		memcpy(big + i, "${a", 3);
	CHECK(strstr(refusal(big, i - 3), "no name") == NULL && refusal(big, i - 3)[0]);
	free(big);
}

static const struct dockerfile *parsed(struct arena *a, const char *text)
{
	const struct dockerfile *f = NULL;
	struct error err = {0};

	if (dockerfile_parse(a, "Dockerfile", sv_of(text), &f, &err) < 0)
		CHECK_STR(err.text, "");
	return f;
}

static void heredocs_keep_their_content(void)
{
	struct arena *a = arena_new();
	const struct dockerfile *f =
		parsed(a, "FROM a\nRUN <<A cat <<-'B' > x\none\nA\n\ttwo $X\n\tB\nCOPY <<\"q\" <<-r /d/\n# no comment "
			  "\\\nq\n\t\tr1\n\tr\nRUN echo \"<<X\" '<<Y'\nCMD x\n");

	CHECK(f && f->n == 5);
	if (!f || f->n != 5)
		return;
	CHECK(f->v[1].n_heredocs == 2 && f->v[1].line == 2 && f->v[1].last_line == 6);
	CHECK_STR(f->v[1].heredocs[0].content, "one\n");
	CHECK(f->v[1].heredocs[0].expand && !f->v[1].heredocs[0].chomp);
	CHECK_STR(f->v[1].heredocs[1].name, "B");
	CHECK_STR(f->v[1].heredocs[1].content, "\ttwo $X\n");
	CHECK_STR(dockerfile_content(a, &f->v[1].heredocs[1]), "two $X\n");
	CHECK(!f->v[1].heredocs[1].expand && f->v[1].heredocs[1].chomp);
	CHECK_STR(f->v[2].heredocs[0].content, "# no comment \\\n");
	CHECK(dockerfile_heredoc_of(a, &f->v[2], f->v[2].args[0]) == &f->v[2].heredocs[0]);
	CHECK(dockerfile_heredoc_of(a, &f->v[2], f->v[2].args[1]) == &f->v[2].heredocs[1]);
	CHECK(dockerfile_heredoc_of(a, &f->v[2], f->v[2].args[2]) == NULL);
	CHECK(f->v[3].n_heredocs == 0);
	arena_free(a);
}

static void a_frontend_is_seen_wherever_buildkit_sees_it(void)
{
	static const struct {
		const char *text, *syntax;
		unsigned line;
	} t[] = {
		{"# syntax=docker/dockerfile:1\nFROM a\n", "docker/dockerfile:1", 1},
		{"#syntax=x\nFROM a\n", "x", 1},
		{"\xef\xbb\xbf# SynTax =\tx y \r\nFROM a\n", "x y", 1},
		{"# escape=`\n# syntax=x\nFROM a\n", "x", 2},
		{"  # syntax=x\nFROM a\n", "x", 1},
		{"#!/usr/bin/env x\n# syntax=x\nFROM a\n", "x", 2},
		{"#!x\n// syntax=x\nFROM a\n", "x", 2},
		{"# a comment\n# syntax=x\nFROM a\n", NULL, 0},
		{"\n# syntax=x\nFROM a\n", NULL, 0},
	};
	struct arena *a = arena_new();
	const struct dockerfile *f;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		f = parsed(a, t[i].text);
		CHECK(f && !t[i].syntax == !f->syntax);
		if (f && t[i].syntax && f->syntax) {
			CHECK_STR(f->syntax, t[i].syntax);
			CHECK(f->syntax_line == t[i].line);
		}
	}
	arena_free(a);
}

static void lines_are_those_of_the_file(void)
{
	struct arena *a = arena_new();
	const struct dockerfile *f =
		parsed(a, "# c\n\n\n\nFROM a\n\n# c\n\n\n\nRUN a \\\n  b\n\n\n\n\nRUN a \\\n# c\n\n  b \\\n c\n");

	CHECK(f && f->n == 3);
	if (f && f->n == 3) {
		CHECK(f->v[0].line == 5 && f->v[0].last_line == 5);
		CHECK(f->v[1].line == 11 && f->v[1].last_line == 12);
		CHECK(f->v[2].line == 17 && f->v[2].last_line == 21);
		CHECK_STR(f->v[2].args[0], "a   b  c");
	}
	arena_free(a);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(files_are_read_as_buildkit_reads_them),
		CASE(what_is_wrong_is_refused_with_its_line),
		CASE(what_is_too_much_is_refused),
		CASE(heredocs_keep_their_content),
		CASE(a_frontend_is_seen_wherever_buildkit_sees_it),
		CASE(lines_are_those_of_the_file),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
