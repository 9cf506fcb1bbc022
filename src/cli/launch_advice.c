#include "cli/launch_advice.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/real_path.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "cli/doctor_check.h"
#include "model/base_system.h"
#include "plan/plan_exec.h"
#include "policy/policy_query.h"
#include "policy/policy_where.h"

struct advice {
	const struct advice_about *about;
	const struct policy *policy;
	struct error *err;
	struct text_shown name; /* as the user wrote it */
	char path[PATH_MAX];	/* of the host */
};

/* A name without a slash, where the user's own shell would find it. */
static bool find_on_host(struct advice *a, const char *name)
{
	const char *p = getenv("PATH");
	size_t n;

	for (; p && *p; p += n + (p[n] == ':')) {
		n = strcspn(p, ":");
		if (*p == '/' &&
		    (size_t)snprintf(a->path, sizeof(a->path), "%.*s/%s", (int)n, p, name) < sizeof(a->path) &&
		    access(a->path, X_OK) == 0)
			return true;
	}
	return false;
}

/* The place that it is in where every sandbox has that for itself, and empty: what the host has there is another
 * matter. NULL: it is in none. */
static const char *scratch_of(const struct advice *a, const struct reason *why)
{
	int depth;
	const struct base_path *row = base_system_find(sv_of(a->path), &depth);

	return why->answer == ANSWER_ALLOW && row && row->kind == BASE_PRIVATE &&
			       sv_starts(sv_of(why->rule), "built in ")
		       ? row->pattern
		       : NULL;
}

/* It is on the host: does the sandbox show it? Says why not, or returns false. */
static bool is_not_shown(const struct advice *a)
{
	struct text_shown shown;
	const char *scratch;
	struct reason why;

	policy_query_path(a->policy, a->about->workdir, a->path, FS_READ, &why);
	scratch = scratch_of(a, &why);
	if (why.answer == ANSWER_ALLOW && !scratch)
		return false;
	(void)text_show(&shown, sv_of(a->path));
	if (scratch)
		(void)error_set(a->err, a->err->kind,
				"%.80s: not found in the sandbox, which has a %s of its own: %.150s is this machine's; "
				"add its folder to filesystem.read",
				a->name.s, scratch, shown.s);
	else if (why.rule[0])
		(void)error_set(a->err, a->err->kind,
				"%.80s: not found in the sandbox: %.120s is denied by %.150s (%.80s)", a->name.s,
				shown.s, why.rule, policy_where(a->policy, why.at));
	else
		(void)error_set(a->err, a->err->kind,
				"%.80s: not found in the sandbox: %.150s is on this machine, but no rule shows it; add "
				"its folder to filesystem.read",
				a->name.s, shown.s);
	return true;
}

/* The kernel says "not found" of a program whose interpreter is missing, too. */
static void say_interpreter(const struct advice *a)
{
	AUTO_FD fd = open(a->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char line[128] = "";
	ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);
	struct text_shown shown;

	if (n > 2 && line[0] == '#' && line[1] == '!') {
		line[strcspn(line, "\n")] = '\0';
		(void)error_set(a->err, a->err->kind,
				"%.100s: its interpreter is not found in the sandbox; its first line is \"%.200s\"",
				a->name.s, text_show(&shown, sv_of(line)));
		return;
	}
	(void)error_set(a->err, a->err->kind,
			"%.100s: it is there, but something that it needs to start, such as its dynamic loader, is not "
			"found in the sandbox",
			a->name.s);
}

static void advise_path(struct advice *a, const char *name)
{
	struct text_shown shown;
	struct stat st;

	if (cli_path_clean(a->about->cwd, name, a->path) < 0)
		return;
	if (stat(a->path, &st) == 0) {
		if (!is_not_shown(a))
			say_interpreter(a);
		return;
	}
	if (name[0] == '/')
		(void)error_set(a->err, a->err->kind,
				"%.200s: not found in the sandbox, and not on this machine either; check the path",
				a->name.s);
	else
		(void)error_set(
			a->err, a->err->kind,
			"%.150s: not found: there is no such file in %.200s, where the run starts; check the path",
			a->name.s, text_show(&shown, sv_of(a->about->cwd)));
}

static void advise_word(struct advice *a, const char *name)
{
	struct text_shown shown;

	if (find_on_host(a, name)) {
		if (!is_not_shown(a))
			(void)error_set(a->err, a->err->kind,
					"%.100s: not found in the PATH of the sandbox; on this machine it is %.200s: "
					"name it by that path, or set PATH with --env",
					a->name.s, text_show(&shown, sv_of(a->path)));
		return;
	}
	if (cli_path_clean(a->about->cwd, name, a->path) == 0 && access(a->path, F_OK) == 0)
		(void)error_set(
			a->err, a->err->kind,
			"%.100s: not found in the PATH of the sandbox; for the file in the work folder write ./%.100s",
			a->name.s, a->name.s);
	else
		(void)error_set(a->err, a->err->kind,
				"%.200s: not found, neither in the PATH of the sandbox nor in yours; is it installed?",
				a->name.s);
}

/* A name of the policy leads to it. */
static const struct pol_str *denied_by_link(const struct advice *a)
{
	char real[PATH_MAX];

	return real_path(a->path, real) ? plan_exec_leads(a->policy, real) : NULL;
}

/* Why the kernel did not want to execute it: policy, or the file itself. */
static void advise_refused(struct advice *a, const char *name)
{
	const struct pol_str *hit;
	struct reason why;
	struct stat st;

	if (strchr(name, '/') ? cli_path_clean(a->about->cwd, name, a->path) < 0 : !find_on_host(a, name))
		return;
	policy_query_exec(a->policy, a->about->workdir, a->path, &why);
	if (why.answer == ANSWER_DENY && why.rule[0])
		(void)error_set(a->err, a->err->kind,
				"%.100s: cannot be executed in the sandbox: denied by %.150s (%.100s)", a->name.s,
				why.rule, policy_where(a->policy, why.at));
	else if ((hit = denied_by_link(a)))
		(void)error_set(a->err, a->err->kind,
				"%.100s: cannot be executed in the sandbox: denied by process.deny_exec %.150s "
				"(%.100s), which leads to it",
				a->name.s, hit->s, policy_where(a->policy, hit->at));
	else if (stat(a->path, &st) == 0 && S_ISDIR(st.st_mode))
		(void)error_set(a->err, a->err->kind, "%.200s: cannot be executed: it is a folder; name a program",
				a->name.s);
	else if (stat(a->path, &st) == 0 && !(st.st_mode & 0111))
		(void)error_set(a->err, a->err->kind,
				"%.150s: cannot be executed: it lacks the permission; `chmod +x` gives it, or name its "
				"interpreter before it",
				a->name.s);
}

static void advise_image(struct advice *a, const char *name)
{
	if (strchr(name, '/'))
		(void)error_set(a->err, a->err->kind,
				"%.200s: not found in the image, or something that it needs to start, such as its "
				"interpreter, is not; check the path",
				a->name.s);
	else
		(void)error_set(
			a->err, a->err->kind,
			"%.200s: not found in the PATH of the image; name it by its path there, or set PATH with --env",
			a->name.s);
}

void launch_advice(const struct advice_about *about, const struct policy *policy, struct error *err)
{
	struct advice a = {.about = about, .policy = policy, .err = err};
	const char *name = about->name;
	int code = err->code;

	(void)text_show(&a.name, sv_of(name));
	if (err->kind == ERROR_NOT_FOUND && !*name)
		(void)error_set(err, err->kind, "the name of the command is empty: nothing to be found");
	else if (about->image && err->kind == ERROR_NOT_FOUND)
		advise_image(&a, name);
	else if (err->kind == ERROR_NOT_EXEC && !about->image)
		advise_refused(&a, name);
	else if (err->kind == ERROR_NOT_FOUND && strchr(name, '/'))
		advise_path(&a, name);
	else if (err->kind == ERROR_NOT_FOUND)
		advise_word(&a, name);
	else
		launch_lack(err);
	err->code = code;
}

void launch_lack(struct error *err)
{
	const struct doctor_check *c;
	struct doctor_result result;

	if (err->code != ENOSYS)
		return;
	for (c = doctor_kernel_checks; c->id; c++) {
		if (!c->needed)
			continue;
		doctor_run(c, &result);
		if (result.status != DOCTOR_MISSING)
			continue;
		(void)error_set(err, ERROR_MISSING,
				"no sandbox can be made without %s, which this kernel lacks; `cordon doctor` says how "
				"to get it",
				c->name);
		err->code = ENOSYS;
		return;
	}
}
