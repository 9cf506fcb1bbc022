#include "cli/why_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/launch_plan.h"
#include "cli/run_workdir.h"
#include "plan/scan.h"
#include "supervise/gate.h"
#include "sys/mounts.h"

#define BUILT_IN " (built in)"

enum { LINKS_MAX = 40, SCRIPT_LINE = 256 }; /* as the kernel has it */

static void refuse(struct why_sandbox *s, const struct error *why)
{
	(void)snprintf(s->refused, sizeof(s->refused), "%s", why->text);
}

static int build(struct why_sandbox *s, struct launch_plan *inputs, struct arena *arena,
		 const struct cli_policy *policy, struct error *err)
{
	char *argv[] = {(char[]){"true"}, NULL}, *env[] = {NULL};
	struct plan_request req = {.argv = argv, .env = env, .workdir = s->workdir, .state_dir = "(state)"};
	const struct plan_gate gate = {0};
	char root[PATH_MAX];

	if (snprintf(root, sizeof(root), "%s/runs", policy->folders.state) >= (int)sizeof(root))
		root[0] = '\0';
	if (gate_needed(policy->policy))
		req.gate = &gate;
	if (launch_plan_fill(inputs, arena, policy, root[0] ? root : NULL, NULL, &req, err) < 0)
		return -1;
	return plan_build(&req, &s->plan, err);
}

int why_sandbox_open(struct why_sandbox *s, const struct call *call, const struct cli_policy *policy, struct error *err)
{
	struct launch_plan *inputs = calloc(1, sizeof(*inputs));
	struct arena *arena = arena_new();
	struct error why = {0};

	*s = (struct why_sandbox){0};
	if (inputs && arena &&
	    (run_workdir(call, policy, &s->workdir, &s->unfit, &why) < 0 || build(s, inputs, arena, policy, &why) < 0))
		refuse(s, &why);
	if (s->plan) {
		s->guard.plan = s->plan;
		s->guard.index = guard_index_new(s->plan);
	}
	arena_free(arena);
	free(inputs);
	if (!inputs || !arena || (s->plan && !s->guard.index)) {
		why_sandbox_done(s);
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	return 0;
}

void why_sandbox_done(struct why_sandbox *s)
{
	free(s->guard.index);
	plan_free(s->plan);
	*s = (struct why_sandbox){0};
}

static bool shows(const struct plan_op *op)
{
	return op->kind != PLAN_MASK && op->kind != PLAN_PROTECT && op->kind != PLAN_EXEC;
}

/* What stands at the path, or holds it: of several the deepest, and of those at one place the last. NULL: nothing. */
static const struct plan_op *shown_by(const struct plan *p, const char *path)
{
	const struct plan_op *op, *in = NULL;

	for (op = p->ops; op < p->ops + p->n_ops; op++)
		if (shows(op) && path_is_in(path, op->target) && (!in || strlen(op->target) >= strlen(in->target)))
			in = op;
	return in;
}

/* A folder that is there because something is shown in it. */
static bool leads_on(const struct plan *p, const char *path)
{
	const struct plan_op *op;

	for (op = p->ops; op < p->ops + p->n_ops; op++)
		if (shows(op) && path_is_in(op->target, path))
			return true;
	return strcmp(path, "/") == 0;
}

static const struct plan_op *covered_by(const struct plan *p, enum plan_op_kind kind, const char *path)
{
	const struct plan_op *op;

	for (op = p->ops; op < p->ops + p->n_ops; op++)
		if (op->kind == kind && path_is_in(path, op->target))
			return op;
	return NULL;
}

static bool is_hosts(const struct plan_op *op)
{
	return op && (op->kind == PLAN_BIND || op->kind == PLAN_OVERLAY) && op->source;
}

/* What the host has at a place inside. False: nothing, or the place is not the host's. */
static bool look(const struct plan_op *op, const char *path, struct stat *ret, char host[PATH_MAX])
{
	const char *rest = is_hosts(op) ? path_rest(path, op->target) : NULL;

	if (!rest || snprintf(host, PATH_MAX, "%s%s", strcmp(op->source, "/") == 0 && rest[0] ? "" : op->source,
			      rest) >= PATH_MAX)
		return false;
	return lstat(host, ret) == 0;
}

/* The text of the link that stands at a path inside; false: it is none. */
static bool read_link(const struct plan *p, const char *path, char text[PATH_MAX])
{
	const struct plan_op *op = shown_by(p, path);
	char host[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (covered_by(p, PLAN_MASK, path))
		return false;
	if (op && op->kind == PLAN_LINK && strcmp(op->target, path) == 0)
		return snprintf(text, PATH_MAX, "%s", op->source) < PATH_MAX;
	if (!look(op, path, &st, host) || !S_ISLNK(st.st_mode))
		return false;
	n = readlink(host, text, PATH_MAX - 1);
	if (n > 0)
		text[n] = '\0';
	return n > 0;
}

/* Takes the first name off a path; false: there is none. */
static bool take_name(char rest[PATH_MAX], char name[PATH_MAX])
{
	size_t slashes = strspn(rest, "/"), n = strcspn(rest + slashes, "/");

	memcpy(name, rest + slashes, n);
	name[n] = '\0';
	memmove(rest, rest + slashes + n, strlen(rest + slashes + n) + 1);
	return n > 0;
}

static int put_before(char rest[PATH_MAX], const char *text)
{
	size_t n = strlen(text), m = strlen(rest);

	if (n + m + 1 > PATH_MAX)
		return -1;
	memmove(rest + n, rest, m + 1);
	memcpy(rest, text, n);
	return 0;
}

/* Leads a path through the links inside, one name after the other. What is not there is taken as it stands; /proc has
 * links of its own, which are not followed. -1: too many links, or too long. */
static int lead(const struct plan *p, const char *path, char out[PATH_MAX])
{
	char rest[PATH_MAX], name[PATH_MAX], next[PATH_MAX], text[PATH_MAX];
	unsigned links = 0;

	(void)snprintf(rest, sizeof(rest), "%s", path);
	(void)snprintf(out, PATH_MAX, "/");
	while (take_name(rest, name)) {
		if (cli_path_clean(out, name, next) < 0)
			return -1;
		if (path_is_in(next, "/proc") || !read_link(p, next, text)) {
			memcpy(out, next, PATH_MAX);
			continue;
		}
		if (++links > LINKS_MAX || put_before(rest, text) < 0)
			return -1;
		if (text[0] == '/')
			(void)snprintf(out, PATH_MAX, "/");
	}
	return 0;
}

bool why_sandbox_name(const struct why_sandbox *s, const char *path, char out[PATH_MAX])
{
	char before[PATH_MAX], led[PATH_MAX];
	const char *at = path, *up = NULL;

	while ((at = strstr(at, "/.."))) {
		at += 3;
		if (*at == '/' || !*at)
			up = at;
	}
	if (!up || (size_t)snprintf(before, sizeof(before), "%.*s", (int)(up - path), path) >= sizeof(before))
		return false;
	return lead(s->plan, before, led) == 0 && cli_path_clean(led, *up ? up + 1 : "", out) == 0;
}

bool why_sandbox_lead(const struct why_sandbox *s, const char *path, char out[PATH_MAX])
{
	return lead(s->plan, path, out) == 0 && strcmp(path, out) != 0;
}

static void say(struct why_answer *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct why_answer *a, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(a->text, sizeof(a->text), format, ap);
	va_end(ap);
}

/* The plan's rules are "key pattern (file:line)", with a few words behind that for what the pattern means by way of
 * others; or such words alone, for what no policy lists. */
static void set_rule(struct why_answer *a, const char *rule)
{
	const char *open = strrchr(rule, '('), *close = open ? strchr(open, ')') : NULL;
	bool listed = strncmp(rule, "filesystem.", 11) == 0 || strncmp(rule, "process.", 8) == 0;
	struct text_shown key, where;

	if (listed && close && open > rule && open[-1] == ' ') {
		(void)snprintf(a->from, sizeof(a->from), "%s",
			       text_show(&where, sv_n(open + 1, (size_t)(close - open) - 1)));
		(void)snprintf(a->rule, sizeof(a->rule), "%.120s%.70s",
			       text_show(&key, sv_n(rule, (size_t)(open - rule) - 1)),
			       text_show(&where, sv_of(close + 1)));
	} else {
		/* where it is from stands beside it */
		(void)snprintf(a->rule, sizeof(a->rule), "%s",
			       text_show(&key, sv_n(rule, strlen(rule) - (!listed && sv_ends(sv_of(rule), BUILT_IN)
										  ? strlen(BUILT_IN)
										  : 0))));
		(void)snprintf(a->from, sizeof(a->from), "%s", listed ? "the policy" : "built in");
	}
	if (listed && strcmp(a->from, "built in") != 0)
		(void)snprintf(a->hint, sizeof(a->hint), "change %.*s", (int)strcspn(rule, " "), rule);
}

static enum why_verdict deny_by(struct why_answer *a, const char *rule, const char *what)
{
	struct text_shown t;

	set_rule(a, rule ? rule : "built in");
	say(a, "%.150s %s: %.100s.", text_show(&t, sv_of(a->path)), what, a->rule);
	return WHY_NO;
}

static enum why_verdict deny_plainly(struct why_answer *a, const char *what, const char *hint)
{
	struct text_shown t;

	say(a, "%.150s %s.", text_show(&t, sv_of(a->path)), what);
	(void)snprintf(a->hint, sizeof(a->hint), "%s", hint);
	return WHY_NO;
}

/* In a folder of the sandbox's own, which is there because something in it is shown. */
static bool is_beside_shown(const struct plan *p, const char *path)
{
	char folder[PATH_MAX];
	char *slash;

	(void)snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	*slash = '\0';
	return slash > folder && leads_on(p, folder);
}

/* Nothing is shown there. What is named, but not on this machine, would be shown if it were. */
static enum why_verdict answer_absent(const struct why_sandbox *s, struct why_answer *a, enum why_access access)
{
	struct stat st;

	if (leads_on(s->plan, a->path))
		return access == WHY_READ ? WHY_POLICY
					  : deny_plainly(a,
							 "is a folder of the sandbox itself, which holds only what "
							 "leads to visible paths",
							 "");
	if (access == WHY_READ && lstat(a->path, &st) < 0 && errno == ENOENT)
		return WHY_POLICY;
	if (is_beside_shown(s->plan, a->path))
		return deny_plainly(a, "is not in the sandbox: of its folder there is only what is shown in it",
				    "name it in filesystem.read or filesystem.write");
	if (lstat(a->path, &st) < 0)
		return deny_plainly(a, "is in no folder that this machine has and the policy shows",
				    "make the folder that the policy names before the run");
	return deny_plainly(a, "is not in the sandbox", "name it in filesystem.read or filesystem.write");
}

/* Scratch space is empty at the start: what the host has under that name is not in it. */
static enum why_verdict answer_own(const struct why_sandbox *s, struct why_answer *a, const struct plan_op *op,
				   enum why_access access)
{
	const char *what = strcmp(op->target, s->plan->home) == 0 ? "the home folder of the sandbox's own"
								  : "the sandbox's own scratch space";
	bool there = leads_on(s->plan, a->path);
	struct text_shown t;
	struct stat st;

	(void)text_show(&t, sv_of(a->path));
	if (access != WHY_WRITE && !there && lstat(a->path, &st) == 0) {
		say(a, "%.150s is in %s, which is empty at the start: what this machine has there is not shown.", t.s,
		    what);
		(void)snprintf(a->hint, sizeof(a->hint), "name it in filesystem.read");
		return WHY_NO;
	}
	if (access == WHY_EXEC && op->flags & MOUNT_NO_EXEC)
		return deny_plainly(a, "is in a place from which nothing can be executed", "");
	if (access != WHY_WRITE && !there)
		return WHY_POLICY; /* what a workload makes there is its own affair */
	say(a, "%.150s is in %s, which is empty at the start and ends with it; nothing of it reaches this machine's.",
	    t.s, what);
	(void)snprintf(a->hint, sizeof(a->hint), "add it to filesystem.deny");
	return WHY_YES;
}

/* May be made or written, as far as the plan's covers and the guard say. */
static enum why_verdict judge_writing(const struct why_sandbox *s, struct why_answer *a, const struct plan_op *op)
{
	const struct plan_op *over = covered_by(s->plan, PLAN_PROTECT, a->path);
	enum guard_what what = GUARD_FILE;
	char host[PATH_MAX];
	struct stat st;
	const char *rule;

	/* what is shown in a protected folder is as it was shown */
	if (over && strlen(op->target) <= strlen(over->target))
		return deny_by(a, over->why, "may be read but never written");
	over = covered_by(s->plan, PLAN_EXEC, a->path);
	if (over && over->flags & MOUNT_READ_ONLY)
		return deny_by(a, over->why, "is a program that is listed, which nobody inside may change");
	if (look(op, a->path, &st, host)) {
		what = guard_what(st.st_mode);
		if (guard_is_setid(&st))
			return deny_by(a, guard_gives_rights, "may be read but never written");
	} else if (leads_on(s->plan, a->path)) {
		what = GUARD_FOLDER;
	}
	rule = guard_judge(&s->guard, a->path, what, true);
	if (!rule && is_hosts(op))
		rule = guard_judge_repository(&s->guard, a->path);
	if (!rule)
		return WHY_YES;
	if (what != GUARD_FOLDER && !guard_judge(&s->guard, a->path, GUARD_FOLDER, true) &&
	    !guard_judge_repository(&s->guard, a->path))
		return deny_by(a, rule,
			       "stands where a protected name needs a folder, and only a folder may be made there");
	return deny_by(a, rule, "may never be written or made");
}

static enum why_verdict judge_exec(const struct why_sandbox *s, struct why_answer *a, const struct plan_op *op)
{
	const char **listed = s->plan->executables;
	char host[PATH_MAX];
	struct text_shown t;
	struct stat st;

	if (look(op, a->path, &st, host) && S_ISREG(st.st_mode) && !(st.st_mode & 0111))
		return deny_plainly(a, "is no program: its mode lets nobody execute it",
				    "make it executable (chmod +x)");
	if (!s->plan->restrict_exec)
		return op->flags & MOUNT_NO_EXEC
			       ? deny_plainly(a, "is in a place from which nothing can be executed", "")
			       : WHY_YES;
	for (; listed && *listed; listed++)
		if (path_is_in(a->path, *listed)) {
			say(a, "%.150s may be executed: process.allow_exec names it, or a link that leads to it.",
			    text_show(&t, sv_of(a->path)));
			(void)snprintf(a->rule, sizeof(a->rule), "process.allow_exec");
			(void)snprintf(a->hint, sizeof(a->hint), "add it to process.deny_exec");
			return WHY_YES;
		}
	(void)snprintf(a->rule, sizeof(a->rule), "process.allow_exec");
	return deny_plainly(
		a,
		"may not be executed: process.allow_exec names neither it nor a link that you or the system made to it",
		"add it to process.allow_exec");
}

static enum why_verdict judge_shown(const struct why_sandbox *s, struct why_answer *a, const struct plan_op *op,
				    enum why_access access)
{
	if (access == WHY_READ)
		return WHY_YES;
	if (access == WHY_EXEC)
		return judge_exec(s, a, op);
	if (!op->writable)
		return deny_plainly(a, "is read-only in the sandbox",
				    "name it, or a folder that it is in, in filesystem.write");
	return judge_writing(s, a, op);
}

enum why_verdict why_sandbox_ask(const struct why_sandbox *s, const char *path, enum why_access access,
				 struct why_answer *a)
{
	const struct plan_op *op, *mask;
	const char *rule;
	enum why_verdict v;

	*a = (struct why_answer){0};
	(void)snprintf(a->path, sizeof(a->path), "%s", path);
	if (!s->plan) {
		say(a, "No run would start: %.280s", s->refused);
		(void)snprintf(a->hint, sizeof(a->hint), "see to that first");
		return WHY_NO;
	}
	if (lead(s->plan, path, a->path) < 0)
		return deny_plainly(a, "leads through too many links", "");
	mask = covered_by(s->plan, PLAN_MASK, a->path);
	if (mask && strcmp(mask->why, scan_foreign.rule) == 0)
		return deny_by(a, mask->why, "cannot be seen in the sandbox (one that comes during a run is covered "
					     "within about two seconds)");
	if (mask)
		return deny_by(a, mask->why, "cannot be seen in the sandbox");
	op = shown_by(s->plan, a->path);
	if (!op)
		return answer_absent(s, a, access);
	if (op->kind != PLAN_BIND && op->kind != PLAN_OVERLAY && op->kind != PLAN_TMPFS)
		return WHY_POLICY;
	rule = guard_judge(&s->guard, a->path, GUARD_FOLDER, false);
	if (rule)
		return deny_by(a, rule, "is denied");
	if (op->kind == PLAN_TMPFS) {
		v = access == WHY_WRITE                            ? judge_writing(s, a, op)
		    : access == WHY_EXEC && s->plan->restrict_exec ? judge_exec(s, a, op)
								   : WHY_YES;
		return v == WHY_NO ? v : answer_own(s, a, op, access);
	}
	return judge_shown(s, a, op, access);
}

/* As the kernel reads the first line (binfmt_script): 0 where it names none. */
static size_t find_interpreter(const char *line, size_t n, const char **ret)
{
	const char *end = memchr(line, '\n', n), *at = line + 2, *stop;

	if (n < 2 || memcmp(line, "#!", 2) != 0)
		return 0;
	if (!end)
		end = line + n;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	for (stop = at; stop < end && *stop && *stop != ' ' && *stop != '\t'; stop++)
		;
	*ret = at;
	return stop == line + SCRIPT_LINE ? 0 : (size_t)(stop - at); /* cut off: the kernel starts none */
}

bool why_sandbox_interpreter(const struct why_sandbox *s, const char *path, char out[PATH_MAX])
{
	char led[PATH_MAX], host[PATH_MAX], line[SCRIPT_LINE], name[SCRIPT_LINE];
	const char *at = NULL;
	AUTO_FD fd = -1;
	struct stat st;
	ssize_t got;
	size_t n;

	if (lead(s->plan, path, led) < 0 || covered_by(s->plan, PLAN_MASK, led) ||
	    !look(shown_by(s->plan, led), led, &st, host) || !S_ISREG(st.st_mode))
		return false;
	fd = open(host, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, line, sizeof(line));
	n = got < 0 ? 0 : find_interpreter(line, (size_t)got, &at);
	(void)snprintf(name, sizeof(name), "%.*s", (int)n, n ? at : "");
	return n && cli_path_clean(s->plan->cwd, name, out) == 0;
}
