#include "task/format_parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "conf/parse_role.h"
#include "conf/toml.h"
#include "task/format_document.h"
#include "task/format_read.h"
#include "task/format_terminal.h"
#include "task/format_value.h"
#include "wire/wire.h"

/* What is no TOML or YAML has "file:line:column: what" in one text. */
static void tell_syntax(struct task_problems *problems, const char *file, const struct error *err)
{
	struct task_problem p = {.file = file, .key = "", .what = err->text};
	size_t n = strlen(file);
	unsigned line, column;
	int used = 0;

	if (strncmp(err->text, file, n) == 0 && sscanf(err->text + n, ":%9u:%9u: %n", &line, &column, &used) == 2 &&
	    used) {
		p.line = line;
		p.column = column;
		p.what = err->text + n + used;
	}
	task_problem_add(problems, &p);
}

static int parse_tree(const struct format_input *in, struct sv text, struct arena *a, const struct ynode **ret,
		      struct task_problems *problems, struct error *err)
{
	int r = in->format == TASK_HARBOR ? toml_tree(a, in->name, text, ret, err)
					  : yaml_tree(a, in->name, text, ret, err);

	if (r < 0 && err->kind == ERROR_INPUT)
		tell_syntax(problems, in->name, err);
	return r;
}

/* [metadata] and what else only describes. */
static const char *const described[] = {"metadata", "task", "source", NULL};
static const char *const described_terminal[] = {"descriptions",
						 "author",
						 "author_name",
						 "author_email",
						 "difficulty",
						 "category",
						 "tags",
						 "language",
						 "env_name",
						 "disable_asciinema",
						 "estimated_duration_sec",
						 "expert_time_estimate_min",
						 "junior_time_estimate_min",
						 NULL};

static int read_root(struct reader *r, const struct format_input *in, const struct ynode *root, struct task *t)
{
	static const struct reader_key *const rows[] = {[TASK_HARBOR] = format_harbor_rows,
							[TASK_DOCUMENT] = format_document_rows,
							[TASK_TERMINAL] = format_terminal_rows};
	const char *metadata;

	if (reader_map(r, root, t, rows[in->format]) < 0)
		return -1;
	(void)format_check_names(r, root, "environment", "sandbox");
	(void)format_check_names(r, root, "solution", "oracle");
	metadata = format_metadata(r, root, in->format == TASK_TERMINAL ? described_terminal : described);
	if (metadata)
		t->metadata = metadata;
	if (in->format == TASK_TERMINAL)
		return format_terminal_finish(r, root, t);
	return 0;
}

static int check_steps(struct reader *r, const struct task *t)
{
	uint32_t i, k;

	for (i = 0; i < t->n_steps; i++)
		for (k = 0; k < i; k++)
			if (t->steps[i].name.s && t->steps[k].name.s &&
			    strcmp(t->steps[i].name.s, t->steps[k].name.s) == 0)
				return format_fail_at(r, t->steps[i].name.at, "steps",
						      "has two steps of one name; rename one");
	return 0;
}

static int read_body(struct reader *r, const struct format_document *d, struct task *t)
{
	const char *wrong, *text;
	struct ynode place = {.column = 1};

	text = format_document_instruction(r->arena, d, &wrong, &place.line);
	if (!text)
		return reader_fail(r, &place, "%s", wrong);
	place.line = d->body_line;
	if (!*text && t->n_steps == 0)
		return reader_fail(r, &place, "the instruction is missing; write it below the front matter");
	wrong = task_value_long(r->arena, sv_of(text), &t->instruction);
	return wrong ? reader_fail(r, &place, "the instruction %s", wrong) : 0;
}

int format_parse(const struct format_input *in, struct task *t, struct task_problems *problems, struct error *err)
{
	struct format_telling telling = {problems, in->name};
	struct reader r = {.arena = t->arena,
			   .name = in->name,
			   .file = 1,
			   .err = err,
			   .problem = format_tell,
			   .problem_arg = &telling,
			   .lenient = in->lenient,
			   .null_is_absent = true};
	struct format_document d = {.front = in->text};
	struct arena *scratch = arena_new();
	const struct ynode *root;
	const char *wrong = NULL;
	int result;

	if (!scratch)
		return reader_no_memory(&r);
	t->format = in->format;
	if (in->format == TASK_DOCUMENT)
		wrong = format_document_split(in->text, &d);
	if (wrong)
		result = reader_fail(&r, &(struct ynode){.line = 1, .column = 1}, "%s", wrong);
	else
		result = parse_tree(in, d.front, scratch, &root, problems, err);
	if (result == 0)
		result = read_root(&r, in, root, t);
	if (result == 0)
		result = check_steps(&r, t);
	if (result == 0 && in->format == TASK_DOCUMENT)
		result = read_body(&r, &d, t);
	arena_free(scratch);
	return result < 0 && (err->kind == ERROR_SYSTEM || arena_failed(t->arena)) ? reader_no_memory(&r) : 0;
}

/* ---- in a confined child ---- */

static int work(struct sv in, struct buf *out, struct error *err)
{
	struct task_problems problems = {0};
	struct format_input input = {0};
	struct task *t = task_new();
	struct wire_in w;
	int r = -1;

	wire_in_init(&w, in);
	input.format = (enum task_format)wire_get_u32(&w);
	input.lenient = wire_get_u32(&w) != 0;
	input.name = t ? arena_str(t->arena, wire_get_sv(&w)) : NULL;
	input.text = wire_get_sv(&w);
	if (!t || !input.name)
		(void)error_set(err, ERROR_SYSTEM, "out of memory");
	else if (!wire_ok(&w) || input.format > TASK_TERMINAL)
		(void)error_set(err, ERROR_SYSTEM, "a malformed question");
	else {
		problems.arena = t->arena;
		r = format_parse(&input, t, &problems, err);
	}
	if (r == 0) {
		r = task_encode(t, &problems, out);
		if (r < 0)
			r = error_sys(err, r, "%s says more than can be taken in", input.name);
	}
	task_free(t);
	return r;
}

int format_parse_confined(const struct format_input *in, struct task **ret, struct task_problems *problems,
			  struct error *err)
{
	static const struct parse_role role = {.what = "the task", .parse = work};
	AUTO_BUF question = {0};
	AUTO_BUF answer = {0};
	int r;

	buf_init(&question, FORMAT_TEXT_MAX + 4096);
	buf_init(&answer, TASK_CODEC_MAX);
	wire_put_u32(&question, (uint32_t)in->format);
	wire_put_u32(&question, in->lenient);
	wire_put_sv(&question, sv_of(in->name));
	wire_put_sv(&question, in->text);
	if (buf_failed(&question))
		return error_sys(err, buf_failed(&question), "%s", in->name);
	if (parse_role_run(&role, buf_view(&question), &answer, err) < 0)
		return -1;
	r = task_decode(buf_view(&answer), ret, problems);
	if (r == -ENOMEM)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	return r < 0 ? error_set(err, ERROR_INPUT,
				 "the task could not be parsed safely: its parser said nothing that makes sense")
		     : 0;
}
