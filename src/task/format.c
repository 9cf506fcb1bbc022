#include "task/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/beneath.h"
#include "task/format_check.h"
#include "task/format_parse.h"
#include "task/format_strategy.h"

struct load {
	int folder;
	bool lenient;
	struct task_problems *problems;
	struct error *err;
};

static void tell(struct load *l, bool warning, const char *file, const char *what)
{
	task_problem_add(l->problems,
			 &(struct task_problem){.warning = warning, .file = file, .key = "", .what = what});
}

enum entry { ENTRY_NONE, ENTRY_FILE, ENTRY_FOLDER, ENTRY_OTHER };

static enum entry look(const struct load *l, const char *path)
{
	AUTO_FD fd = sys_open_beneath(l->folder, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;

	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR ? ENTRY_NONE : ENTRY_OTHER;
	if (fstat(fd, &st) < 0)
		return ENTRY_OTHER;
	return S_ISREG(st.st_mode) ? ENTRY_FILE : S_ISDIR(st.st_mode) ? ENTRY_FOLDER : ENTRY_OTHER;
}

/* The path where it is one of these, else NULL; what is neither that nor absent is a problem. */
static const char *find(struct load *l, const char *path, enum entry want)
{
	enum entry is = look(l, path);

	if (is == want)
		return path;
	if (is != ENTRY_NONE)
		tell(l, false, path,
		     want == ENTRY_FILE ? "is not a regular file; put the file itself there"
					: "is not a folder; put the folder itself there");
	return NULL;
}

static const char *find_of(struct load *l, const char *folder, const char *name, enum entry want, struct arena *a)
{
	const char *path = folder ? arena_printf(a, "%s/%s", folder, name) : NULL;

	return path ? find(l, path, want) : NULL;
}

/* The whole of a regular file. -1: told. */
static int read_text(struct load *l, const char *path, struct buf *out)
{
	AUTO_FD fd = sys_open_beneath(l->folder, path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
	struct stat st;
	int r = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? buf_read_fd(out, fd) : -EINVAL;

	if (r == 0)
		return 0;
	if (r == -EFBIG)
		tell(l, false, path, "is too large; shorten it");
	else if (r == -ENOMEM || r == -EIO)
		return error_sys(l->err, r, "%s", path);
	else
		tell(l, false, path, "cannot be read; it must be a regular file that you may read");
	return -1;
}

static bool is_text(struct sv s)
{
	size_t i, n;

	for (i = 0; i < s.n; i += n) {
		n = s.p[i] && !((unsigned char)s.p[i] & 0x80) ? 1 : text_utf8(sv_n(s.p + i, s.n - i));
		if (n == 0 || s.p[i] == '\0')
			return false;
	}
	return true;
}

/* NULL: told. */
static const char *read_instruction(struct load *l, const char *path, struct arena *a)
{
	AUTO_BUF text = {0};
	const char *copy;

	buf_init(&text, FORMAT_INSTRUCTION_MAX);
	if (read_text(l, path, &text) < 0)
		return NULL;
	if (text.n == 0 || !is_text(buf_view(&text))) {
		tell(l, false, path,
		     text.n ? "is not UTF-8 text; save it as that" : "is empty; write what the agent is to do");
		return NULL;
	}
	copy = arena_str(a, buf_view(&text));
	if (!copy)
		(void)error_set(l->err, ERROR_SYSTEM, "out of memory");
	return copy;
}

/* Which format, by the configuration file; NULL: none, told. */
static const char *find_config(struct load *l, enum task_format *ret)
{
	static const char *const names[] = {
		[TASK_HARBOR] = "task.toml", [TASK_DOCUMENT] = "task.md", [TASK_TERMINAL] = "task.yaml"};
	bool toml = look(l, names[TASK_HARBOR]) != ENTRY_NONE, md = look(l, names[TASK_DOCUMENT]) != ENTRY_NONE;
	enum task_format f = toml ? TASK_HARBOR : md ? TASK_DOCUMENT : TASK_TERMINAL;

	if (toml && md) {
		f = look(l, "instruction.md") != ENTRY_NONE ? TASK_HARBOR : TASK_DOCUMENT;
		tell(l, true, names[f == TASK_HARBOR ? TASK_DOCUMENT : TASK_HARBOR],
		     f == TASK_HARBOR ? "is not read, because task.toml and instruction.md are there"
				      : "is not read, because task.md is there");
	}
	*ret = f;
	if (look(l, names[f]) == ENTRY_NONE) {
		tell(l, false, "task.toml",
		     "is missing, and there is no task.md and no task.yaml either; is this a task's folder?");
		return NULL;
	}
	return find(l, names[f], ENTRY_FILE);
}

/* What a verifier that is a machine of its own is built from. */
static void find_separate(struct load *l, const struct task_verifier *v, struct task_files *f, struct arena *a)
{
	if (!v->separate.v)
		return;
	if (!v->environment || !v->environment->docker_image.s)
		f->test_dockerfile = find_of(l, f->tests, "Dockerfile", ENTRY_FILE, a);
	f->test_compose = find_of(l, f->tests, "docker-compose.yaml", ENTRY_FILE, a);
}

/* BenchFlow's verifiers may be others than test.sh. */
static void check_strategy(struct load *l, const char *tests, struct arena *a)
{
	const char *path = find_of(l, tests, "verifier.md", ENTRY_FILE, a);
	AUTO_BUF text = {0};

	buf_init(&text, FORMAT_TEXT_MAX);
	if (!path || read_text(l, path, &text) < 0)
		return;
	if (format_strategy_confined(path, buf_view(&text), l->problems, l->err) < 0 && l->err->kind == ERROR_INPUT)
		tell(l, false, path, l->err->text);
}

static void find_harbor(struct load *l, struct task *t)
{
	struct task_files *f = &t->files;
	bool document = t->format == TASK_DOCUMENT;

	f->context = find(l, "environment", ENTRY_FOLDER);
	if (f->context) {
		f->dockerfile = find(l, "environment/Dockerfile", ENTRY_FILE);
		f->compose = find(l, "environment/docker-compose.yaml", ENTRY_FILE);
	}
	f->tests = document && look(l, "verifier") != ENTRY_NONE ? find(l, "verifier", ENTRY_FOLDER)
								 : find(l, "tests", ENTRY_FOLDER);
	f->test_script = find_of(l, f->tests, "test.sh", ENTRY_FILE, t->arena);
	find_separate(l, &t->verifier, f, t->arena);
	if (document)
		check_strategy(l, f->tests, t->arena);
	f->solution = document && look(l, "oracle") != ENTRY_NONE ? find(l, "oracle", ENTRY_FOLDER)
								  : find(l, "solution", ENTRY_FOLDER);
	f->solve_script = find_of(l, f->solution, "solve.sh", ENTRY_FILE, t->arena);
	if (f->compose && look(l, "environment/.env") != ENTRY_NONE)
		tell(l, true, "environment/.env", "is not read; variables are those of [environment.env]");
}

static void find_terminal(struct load *l, struct task *t)
{
	struct task_files *f = &t->files;

	f->context = ".";
	f->dockerfile = find(l, "Dockerfile", ENTRY_FILE);
	f->compose = find(l, "docker-compose.yaml", ENTRY_FILE);
	f->tests = find(l, "tests", ENTRY_FOLDER);
	f->test_script = find(l, "run-tests.sh", ENTRY_FILE);
	f->solve_script = find(l, "solution.sh", ENTRY_FILE);
	if (!f->solve_script && look(l, "solution.yaml") != ENTRY_NONE)
		tell(l, true, "solution.yaml",
		     "is not run: it is keystrokes for a terminal; the oracle has nothing to do");
	if (f->compose && look(l, ".env") != ENTRY_NONE)
		tell(l, true, ".env", "is not read; a task sees no variable but those of the runner");
}

void format_check_hooks(int folder, struct task_problems *problems)
{
	static const char *const hooks[] = {"environment/benchflow-pre-compose.sh", "benchflow-pre-compose.sh"};
	struct load l = {.folder = folder, .problems = problems};
	size_t i;

	for (i = 0; i < ARRAY_LEN(hooks); i++)
		if (look(&l, hooks[i]) != ENTRY_NONE)
			tell(&l, false, hooks[i],
			     "is a hook that other runners execute on the host; move what it does into the Dockerfile, "
			     "or remove it");
}

static void check_complete(struct load *l, const struct task *t)
{
	const struct task_files *f = &t->files;
	bool terminal = t->format == TASK_TERMINAL;

	if (!f->dockerfile && !f->compose && !t->environment.docker_image.s)
		tell(l, false, terminal ? "Dockerfile" : "environment/Dockerfile",
		     terminal ? "is missing; there is nothing to build"
			      : "is missing, and there is no docker_image; there is nothing to build");
	if (!f->test_script && t->n_steps == 0)
		tell(l, false,
		     terminal                                        ? "run-tests.sh"
		     : f->tests && strcmp(f->tests, "verifier") == 0 ? "verifier/test.sh"
								     : "tests/test.sh",
		     "is missing; there is nothing to verify with");
	if (f->solution && !f->solve_script)
		tell(l, true, f->solution, "has no solve.sh; the oracle has nothing to do");
}

static void find_step(struct load *l, struct task *t, struct task_step *s)
{
	struct arena *a = t->arena;
	const char *folder = arena_printf(a, "steps/%s", s->name.s), *missing;

	if (!folder || !find(l, folder, ENTRY_FOLDER)) {
		tell(l, false, folder ? folder : "steps", "is missing; a step has a folder of its name");
		return;
	}
	s->files.instruction = find_of(l, folder, "instruction.md", ENTRY_FILE, a);
	if (s->files.instruction)
		s->instruction = read_instruction(l, s->files.instruction, a);
	else
		tell(l, false, folder, "has no instruction.md; write what the agent is to do");
	s->files.tests = find_of(l, folder, "tests", ENTRY_FOLDER, a);
	s->files.test_script = find_of(l, s->files.tests, "test.sh", ENTRY_FILE, a);
	find_separate(l, &s->verifier, &s->files, a);
	s->files.solution = find_of(l, folder, "solution", ENTRY_FOLDER, a);
	s->files.solve_script = find_of(l, s->files.solution, "solve.sh", ENTRY_FILE, a);
	s->files.workdir = find_of(l, folder, "workdir", ENTRY_FOLDER, a);
	missing = arena_printf(a, "%s/tests/test.sh", folder);
	if (!s->files.test_script && !t->files.test_script)
		tell(l, false, missing ? missing : "steps",
		     "is missing, and there is no tests/test.sh; there is nothing to verify with");
}

static void find_files(struct load *l, struct task *t, const char *config)
{
	uint32_t i;

	t->files.config = config;
	if (t->format == TASK_TERMINAL)
		find_terminal(l, t);
	else
		find_harbor(l, t);
	if (t->format == TASK_HARBOR && look(l, "instruction.md") != ENTRY_NONE)
		t->files.instruction = find(l, "instruction.md", ENTRY_FILE);
	if (t->files.instruction) {
		const char *text = read_instruction(l, t->files.instruction, t->arena);

		t->instruction = text ? text : "";
	} else if (t->format == TASK_HARBOR && t->n_steps == 0) {
		tell(l, false, "instruction.md", "is missing; write what the agent is to do");
	}
	for (i = 0; i < t->n_steps; i++)
		find_step(l, t, &t->steps[i]);
	check_complete(l, t);
}

int format_refused(const struct task_problems *problems, struct error *err)
{
	const struct task_problem *p;
	struct text_shown file, key, what;
	uint32_t i;

	for (i = 0; i < problems->n && problems->v[i].warning; i++)
		;
	if (i == problems->n)
		return error_set(err, ERROR_INPUT, "the task is refused");
	p = &problems->v[i];
	(void)text_show(&file, sv_of(p->file));
	(void)text_show(&key, sv_of(p->key));
	(void)text_show(&what, sv_of(p->what));
	if (p->line)
		return error_set(err, ERROR_INPUT, "%.150s:%u:%u: %.100s%s%.250s", file.s, p->line, p->column, key.s,
				 *key.s ? ": " : "", what.s);
	return error_set(err, ERROR_INPUT, "%.150s%s%.100s%s%.250s", file.s, *file.s ? ": " : "", key.s,
			 *key.s ? ": " : "", what.s);
}

/* Could the task not be looked at, whatever it says? */
static bool has_failed(const struct load *l)
{
	return l->err->kind != ERROR_NONE && l->err->kind != ERROR_INPUT;
}

static int refuse(const struct load *l)
{
	return has_failed(l) ? -1 : format_refused(l->problems, l->err);
}

static int parse(struct load *l, const struct format_input *in, struct task **ret)
{
	if (format_parse_confined(in, ret, l->problems, l->err) == 0) {
		/* What was refused is thrown away; it need not be whole. */
		if (l->problems->refused || format_check(*ret, l->err) == 0)
			return 0;
		task_free(*ret);
	}
	if (l->err->kind == ERROR_INPUT)
		tell(l, false, in->name, l->err->text);
	return -1;
}

int format_load(int folder, bool lenient, struct task **ret, struct task_problems *problems, struct error *err)
{
	struct load l = {.folder = folder, .lenient = lenient, .problems = problems, .err = err};
	struct format_input in = {.lenient = lenient};
	AUTO_BUF text = {0};
	struct task *t;

	*err = (struct error){0};
	buf_init(&text, FORMAT_TEXT_MAX);
	in.name = find_config(&l, &in.format);
	if (!in.name || read_text(&l, in.name, &text) < 0)
		return refuse(&l);
	in.text = buf_view(&text);
	if (parse(&l, &in, &t) < 0)
		return refuse(&l);
	if (problems->refused == 0 || t->n_steps == 0)
		find_files(&l, t, in.name);
	if (problems->refused == 0 && !has_failed(&l)) {
		*ret = t;
		return 0;
	}
	task_free(t);
	return refuse(&l);
}
