#include "policy/policy_query.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/glob.h"
#include "base/text.h"
#include "model/base_system.h"
#include "policy/policy_mandatory.h"

void reason_set(struct reason *r, enum answer answer, const char *key, const char *value, struct origin at)
{
	struct text_shown shown;

	*r = (struct reason){.answer = answer, .at = at};
	if (!key)
		return;
	if (value)
		(void)snprintf(r->rule, sizeof(r->rule), "%s %s", key, text_show(&shown, sv_of(value)));
	else
		(void)snprintf(r->rule, sizeof(r->rule), "%s", key);
}

void reason_text(struct reason *r, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(r->text, sizeof(r->text), format, ap);
	va_end(ap);
}

void reason_hint(struct reason *r, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(r->hint, sizeof(r->hint), format, ap);
	va_end(ap);
}

/* How a path came to be visible. */
enum seen_by { SEEN_NOT, SEEN_WORKDIR, SEEN_READ, SEEN_WRITE, SEEN_BASE };

struct sight {
	enum seen_by by;
	int depth;
	const struct pol_str *pattern; /* SEEN_READ and SEEN_WRITE */
	const struct base_path *base;  /* SEEN_BASE */
};

static const struct pol_str *list_hit(const struct pol_list *l, struct sv path)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		if (base_pattern_depth(l->v[i].s, path) >= 0)
			return &l->v[i];
	return NULL;
}

static bool floats(const char *pattern)
{
	return pattern[0] != '/';
}

static int count_components(const char *path)
{
	int n = 0;

	for (; *path; path++)
		n += path[0] == '/' && path[1] != '\0';
	return n;
}

static bool is_inside(const char *folder, struct sv path)
{
	size_t n = strlen(folder);

	if (n == 1)
		return true;
	return path.n >= n && memcmp(path.p, folder, n) == 0 && (path.n == n || path.p[n] == '/');
}

/* `by` is the wider access at equal depth, so call with reading first. */
static void see_list(struct sight *s, const struct pol_list *l, enum seen_by by, bool floating, struct sv path)
{
	uint32_t i;
	int depth;

	for (i = 0; i < l->n; i++) {
		if (floats(l->v[i].s) != floating)
			continue;
		depth = base_pattern_depth(l->v[i].s, path);
		if (depth >= 0 && (depth > s->depth || (depth == s->depth && by == SEEN_WRITE && s->by == SEEN_READ)))
			*s = (struct sight){by, depth, &l->v[i], NULL};
	}
}

static struct sight look(const struct policy *p, const char *workdir, struct sv path)
{
	struct sight s = {SEEN_NOT, -1, NULL, NULL};
	const struct base_path *base;
	int depth;

	see_list(&s, &p->fs.read, SEEN_READ, false, path);
	see_list(&s, &p->fs.write, SEEN_WRITE, false, path);
	if (workdir && p->fs.workdir.v != WORKDIR_NONE && is_inside(workdir, path) &&
	    count_components(workdir) >= s.depth && !(s.by == SEEN_WRITE && count_components(workdir) == s.depth))
		s = (struct sight){SEEN_WORKDIR, count_components(workdir), NULL, NULL};
	if (s.by != SEEN_NOT) {
		see_list(&s, &p->fs.read, SEEN_READ, true, path);
		see_list(&s, &p->fs.write, SEEN_WRITE, true, path);
	}
	base = base_system_find(path, &depth);
	/* a home in /tmp is the sandbox's own as any other, and not a part of its scratch space that everybody may
	 * count on */
	if (base && base->kind == BASE_PRIVATE && p->home && is_inside(p->home, path) &&
	    count_components(p->home) > depth)
		base = NULL;
	/* nothing of /sys is shown, whoever names it */
	if (base && (s.by == SEEN_NOT || depth > s.depth || is_inside("/sys", path)))
		s = (struct sight){SEEN_BASE, depth, NULL, base};
	return s;
}

/* A folder that exists only because something visible lies below it. */
static bool leads_on(const struct policy *p, const char *workdir, const char *path)
{
	const struct pol_list *lists[] = {&p->fs.read, &p->fs.write};
	struct sv base, self = sv_of(path);
	struct glob g;
	uint32_t i, k;
	bool found = false;

	if (self.n == 1 || sv_is(self, "/dev") || sv_is(self, "/etc") || sv_is(self, "/var") || sv_is(self, "/run"))
		return true;
	if (workdir && p->fs.workdir.v != WORKDIR_NONE && is_inside(path, sv_of(workdir)))
		return true;
	for (k = 0; k < 2; k++)
		for (i = 0; i < lists[k]->n && !found; i++) {
			if (floats(lists[k]->v[i].s) || glob_init(&g, sv_of(lists[k]->v[i].s)) < 0)
				continue;
			base = glob_base(&g);
			found = is_inside(path, base);
			glob_done(&g);
		}
	return found;
}

static const char *verb_of(enum fs_access access)
{
	return access == FS_WRITE ? "written" : "read";
}

static void answer_absent(const struct policy *p, const char *workdir, const char *path, enum fs_access access,
			  struct reason *r)
{
	const char *key = access == FS_WRITE ? "filesystem.write" : "filesystem.read";
	struct text_shown shown;

	(void)text_show(&shown, sv_of(path));
	if (leads_on(p, workdir, path)) {
		reason_set(r, access == FS_READ ? ANSWER_ALLOW : ANSWER_DENY, NULL, NULL, (struct origin){0});
		reason_text(r, "%s is a folder of the sandbox itself; it holds only what leads to visible paths.",
			    shown.s);
		return;
	}
	/* an allowlist of its own, that somebody may want to know of */
	if (is_inside("/etc", sv_of(path))) {
		reason_set(r, ANSWER_DENY, "built in", "/etc", (struct origin){0});
		reason_text(r,
			    "%s is not in the sandbox: of /etc there is only what programs need and holds no secret.",
			    shown.s);
	} else {
		reason_set(r, ANSWER_DENY, NULL, NULL, (struct origin){0});
		reason_text(r, "%s is not in the sandbox: no rule shows it.", shown.s);
	}
	reason_hint(r, "add it to %s", key);
}

static void answer_base(const struct base_path *base, const char *path, enum fs_access access, struct reason *r)
{
	static const struct origin built_in;
	struct text_shown shown;
	bool own = sv_starts(sv_of(path), "/proc/self/") || sv_starts(sv_of(path), "/proc/thread-self/");
	bool ok = base->kind != BASE_HIDDEN && base->kind != BASE_CLOSED;

	if (access == FS_WRITE)
		ok = base->kind == BASE_PRIVATE || base->kind == BASE_DEVICE || (base->kind == BASE_PROC && own);
	reason_set(r, ok ? ANSWER_ALLOW : ANSWER_DENY, "built in", base->pattern, built_in);
	(void)text_show(&shown, sv_of(path));
	if (base->kind == BASE_HIDDEN || base->kind == BASE_CLOSED) {
		reason_text(r, "%s is hidden in every sandbox.", shown.s);
	} else if (ok) {
		reason_text(r, "%s is in %s, which every sandbox has%s.", shown.s, base->what,
			    base->kind == BASE_READ ? ", read-only" : "");
	} else {
		reason_text(r, "%s is in %s, which is read-only.", shown.s, base->what);
		reason_hint(r, "%s", base->kind == BASE_READ ? "add a folder of its own to filesystem.write" : "");
	}
}

static void answer_workdir(const struct policy *p, const char *path, enum fs_access access, struct reason *r)
{
	const char *mode = workdir_mode_names[p->fs.workdir.v];
	bool ok = access == FS_READ || p->fs.workdir.v >= WORKDIR_READ_WRITE;
	struct text_shown shown;

	reason_set(r, ok ? ANSWER_ALLOW : ANSWER_DENY, "filesystem.workdir", mode, p->fs.workdir.at);
	reason_text(r, "%s is in the work folder, which is %s.", text_show(&shown, sv_of(path)),
		    p->fs.workdir.v == WORKDIR_COPY ? "a copy-on-write copy" : mode);
	if (ok)
		reason_hint(r, "add it to filesystem.deny, or set filesystem.workdir to %s",
			    access == FS_READ ? "none" : "read-only");
	else
		reason_hint(r, "set filesystem.workdir to copy or read-write");
}

static void answer_pattern(const struct sight *s, const char *path, enum fs_access access, struct reason *r)
{
	const char *key = s->by == SEEN_WRITE ? "filesystem.write" : "filesystem.read";
	bool ok = access == FS_READ || s->by == SEEN_WRITE;
	struct text_shown a, b;

	reason_set(r, ok ? ANSWER_ALLOW : ANSWER_DENY, key, s->pattern->s, s->pattern->at);
	(void)text_show(&a, sv_of(path));
	(void)text_show(&b, sv_of(s->pattern->s));
	if (ok) {
		reason_text(r, "%s may be %s: %s names %s.", a.s, verb_of(access), key, b.s);
		reason_hint(r, "add it to filesystem.deny, or take %s out of %s", b.s, key);
	} else {
		reason_text(r, "%s is read-only: filesystem.read names %s.", a.s, b.s);
		reason_hint(r, "name it, or a folder in it, in filesystem.write");
	}
}

/* What policy's own files deny holds everywhere; the mandatory part is about folders of the host. */
static bool holds(const struct pol_str *deny, const struct sight *s)
{
	if (deny->at.file || s->by != SEEN_BASE)
		return true;
	/* Cordon's own folders are denied wherever they are */
	return s->base->kind == BASE_READ && !mandatory_reason(deny->s);
}

static const struct pol_str *deny_hit(const struct policy *p, const struct sight *s, struct sv path)
{
	uint32_t i;

	for (i = 0; i < p->fs.deny.n; i++)
		if (holds(&p->fs.deny.v[i], s) && base_pattern_depth(p->fs.deny.v[i].s, path) >= 0)
			return &p->fs.deny.v[i];
	return NULL;
}

static void answer_denied(const struct pol_str *hit, const char *path, struct reason *r)
{
	const char *why = hit->at.file ? NULL : mandatory_reason(hit->s);
	struct text_shown shown;

	reason_set(r, ANSWER_DENY, "filesystem.deny", hit->s, hit->at);
	if (!hit->at.file && !why)
		why = "Cordon keeps its own folders from every sandbox";
	reason_text(r, "%s is denied: %s.", text_show(&shown, sv_of(path)),
		    why ? why : "deny wins over every other rule");
	reason_hint(r, "%s", why ? "" : "take it out of filesystem.deny");
}

static void answer_protected(const struct pol_str *hit, const char *path, struct reason *r)
{
	const char *why = mandatory_reason(hit->s);
	struct text_shown shown;

	reason_set(r, ANSWER_DENY, "mandatory protection", hit->s, hit->at);
	reason_text(r, "%s may be read but never written: %s.", text_show(&shown, sv_of(path)),
		    why ? why : "something outside would take orders from it");
}

void policy_query_path(const struct policy *p, const char *workdir, const char *path, enum fs_access access,
		       struct reason *ret)
{
	struct sight s = look(p, workdir, sv_of(path));
	const struct pol_str *denied = deny_hit(p, &s, sv_of(path)), *protected = NULL;

	if (access == FS_WRITE && s.by != SEEN_NOT && s.by != SEEN_BASE)
	protected = list_hit(&p->fs.protect, sv_of(path));
	if (denied)
		answer_denied(denied, path, ret);
	else if (protected)
		answer_protected(protected, path, ret);
	else if (s.by == SEEN_NOT)
		answer_absent(p, workdir, path, access, ret);
	else if (s.by == SEEN_BASE)
		answer_base(s.base, path, access, ret);
	else if (s.by == SEEN_WORKDIR)
		answer_workdir(p, path, access, ret);
	else
		answer_pattern(&s, path, access, ret);
}

void policy_query_exec(const struct policy *p, const char *workdir, const char *path, struct reason *ret)
{
	const struct pol_process *proc = &p->process;
	const struct pol_str *hit = list_hit(&proc->deny_exec, sv_of(path));
	struct text_shown shown;
	struct origin at;

	(void)text_show(&shown, sv_of(path));
	if (hit) {
		reason_set(ret, ANSWER_DENY, "process.deny_exec", hit->s, hit->at);
		reason_text(ret, "%s may not be executed; deny_exec wins over allow_exec.", shown.s);
		reason_hint(ret, "take it out of process.deny_exec");
		return;
	}
	policy_query_path(p, workdir, path, FS_READ, ret);
	if (ret->answer == ANSWER_DENY)
		return;
	if (!proc->allow_exec.set && proc->allow_exec.n == 0) {
		reason_set(ret, ANSWER_ALLOW, "process.allow_exec", "**", (struct origin){0});
		reason_text(ret, "%s may be executed: whatever is visible may.", shown.s);
		reason_hint(ret, "add it to process.deny_exec");
		return;
	}
	hit = list_hit(&proc->allow_exec, sv_of(path));
	if (hit) {
		reason_set(ret, ANSWER_ALLOW, "process.allow_exec", hit->s, hit->at);
		reason_text(ret, "%s may be executed.", shown.s);
		reason_hint(ret, "add it to process.deny_exec");
		return;
	}
	at = proc->allow_exec.n ? proc->allow_exec.v[0].at : (struct origin){0};
	reason_set(ret, ANSWER_DENY, "process.allow_exec", NULL, at);
	reason_text(ret, "%s may not be executed: process.allow_exec does not name it.", shown.s);
	reason_hint(ret, "add it to process.allow_exec");
}

static const struct pol_str *model_hit(const struct pol_list *l, const char *model)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		if (glob_component(sv_of(l->v[i].s), sv_of(model)))
			return &l->v[i];
	return NULL;
}

/* True where the provider takes the model; fills ret either way. */
static bool provider_takes(const struct provider *pr, const char *model, struct reason *ret)
{
	const struct pol_str *hit = model_hit(&pr->models, model);
	struct text_shown a, b;
	char key[96];
	bool ok = hit || (!pr->models.set && pr->models.n == 0);

	(void)snprintf(key, sizeof(key), "inference.providers.%s.models", text_show(&a, sv_of(pr->name)));
	reason_set(ret, ok ? ANSWER_ALLOW : ANSWER_DENY, key, hit ? hit->s : NULL, hit ? hit->at : pr->at);
	(void)text_show(&b, sv_of(model));
	if (ok) {
		reason_text(ret, "Requests for model %s go to provider %s.", b.s, a.s);
	} else {
		reason_text(ret, "Provider %s does not take model %s.", a.s, b.s);
		reason_hint(ret, "add it to %s", key);
	}
	return ok;
}

void policy_query_model(const struct policy *p, const char *model, struct reason *ret)
{
	const struct pol_inference *inf = &p->inference;
	struct text_shown shown;
	uint32_t i, k;

	for (i = 0; i < inf->n_routes; i++) {
		if (!glob_component(sv_of(inf->routes[i].model), sv_of(model)))
			continue;
		for (k = 0; k < inf->n_providers; k++)
			if (strcmp(inf->providers[k].name, inf->routes[i].provider) == 0) {
				(void)provider_takes(&inf->providers[k], model, ret);
				return;
			}
		reason_set(ret, ANSWER_DENY, "inference.routes", inf->routes[i].model, inf->routes[i].at);
		reason_text(ret, "Model %s is routed to provider %s, which is not there.",
			    text_show(&shown, sv_of(model)), inf->routes[i].provider);
		reason_hint(ret, "add %s under inference.providers", inf->routes[i].provider);
		return;
	}
	for (i = 0; i < inf->n_providers; i++)
		if (provider_takes(&inf->providers[i], model, ret))
			return;
	(void)text_show(&shown, sv_of(model));
	reason_set(ret, ANSWER_DENY, inf->n_providers ? "inference.providers" : NULL, NULL,
		   inf->n_providers ? inf->providers[0].at : (struct origin){0});
	reason_text(ret, inf->n_providers ? "No provider takes model %s." : "There is no model access, so none to %s.",
		    shown.s);
	reason_hint(ret, "%s",
		    inf->n_providers ? "add it to a provider's models" : "add a provider to inference.providers");
}

bool policy_query_shows_all(const char *pattern, const char *folder)
{
	char any[PATH_MAX];
	struct glob g;
	bool hit;

	/* by a name that nobody has */
	if ((size_t)snprintf(any, sizeof(any), "%s/.any name", folder) >= sizeof(any) ||
	    glob_init(&g, sv_of(pattern)) < 0)
		return false;
	hit = glob_hit(&g, sv_of(any));
	glob_done(&g);
	return hit;
}
