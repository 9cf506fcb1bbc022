#include "cli/runtime_pick.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/backends.h"
#include "cli/health.h"
#include "policy/parity.h"


static void miss(struct buf *b, enum runtime r, const char *why)
{
	if (b->n)
		(void)buf_printf(b, "; nor %s: ", runtime_names[r]);
	(void)buf_printf(b, "%.300s", why);
}

/* 1: it can be had, 0: not (the reason is in missed), -1: the run ends here. */
static int try_one(const struct cli_policy *policy, const struct runtime_candidate *c, bool first, bool dry,
		   struct buf *missed, struct error *err)
{
	struct health h;

	if (parity_refused(policy->policy, c->runtime, geteuid() == 0, err) < 0) {
		if (first)
			return -1;
		miss(missed, c->runtime, err->text);
		return 0;
	}
	if (c->runtime == RUNTIME_NATIVE)
		return 1;
	health_check(c->runtime, &policy->folders, dry ? HEALTH_LOOK : HEALTH_KEPT, &h);
	if (health_is_good(&h))
		return 1;
	miss(missed, c->runtime, h.what);
	return 0;
}

static int refuse(const struct policy *p, const struct runtime_choice *choice, const struct buf *missed,
		  struct error *err)
{
	AUTO_BUF advice = {0};

	buf_init(&advice, 1024);
	runtime_advise(p, choice, &advice);
	return error_set(err, ERROR_MISSING, "the runtime %s (%.100s) cannot be used here: %.240s; %.160s",
			 runtime_names[choice->v[0].runtime], choice->v[0].reason, missed->p ? missed->p : "",
			 advice.p ? advice.p : "");
}

int runtime_pick_quietly(const struct cli_policy *policy, const char *asked, const char *category, bool dry,
			 struct runtime_pick *ret, struct error *err)
{
	struct runtime_choice choice;
	AUTO_BUF missed = {0};
	unsigned i;
	int r = 0;

	buf_init(&missed, 4096);
	runtime_choose(policy->policy, asked, category, &choice);
	for (i = 0; i < choice.n; i++) {
		r = try_one(policy, &choice.v[i], i == 0, dry, &missed, err);
		if (r < 0)
			return -1;
		if (r > 0)
			break;
	}
	if (r == 0)
		return refuse(policy->policy, &choice, &missed, err);
	*ret = (struct runtime_pick){.runtime = choice.v[i].runtime,
				     .backend = backend_of(choice.v[i].runtime),
				     .category = choice.category,
				     .fallback_from = i ? choice.v[0].runtime : RUNTIME_AUTO};
	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", choice.v[i].reason);
	if (i)
		(void)snprintf(ret->fallback, sizeof(ret->fallback),
			       "FALLBACK: running on %s (%.200s) instead of %s: %.400s", runtime_names[ret->runtime],
			       ret->reason, runtime_names[ret->fallback_from], missed.p);
	return 0;
}

int runtime_pick(const struct call *call, const struct cli_policy *policy, bool dry, struct runtime_pick *ret,
		 struct error *err)
{
	if (runtime_pick_quietly(policy, call_value(call, "runtime"), call_value(call, "category"), dry, ret, err) < 0)
		return -1;
	if (ret->fallback[0])
		call_note(call, "%s", ret->fallback);
	return 0;
}

struct notes {
	const struct call *call;
	enum runtime runtime;
};

static void note(void *arg, const char *what, const char *how)
{
	const struct notes *n = arg;

	call_note(n->call, "note: on %s: %s: %s", runtime_names[n->runtime], what, how);
}

/* A file of the user's says that it was said. */
static bool is_first(const struct cli_policy *policy, enum runtime runtime)
{
	AUTO_FREE char *mark = NULL;
	AUTO_FD fd = -1;

	if (asprintf(&mark, "%s/.told-%s", policy->folders.state, runtime_names[runtime]) < 0)
		mark = NULL;
	fd = mark ? open(mark, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
	return fd >= 0;
}

void runtime_pick_note(const struct call *call, const struct cli_policy *policy, const struct runtime_pick *pick,
		       bool dry)
{
	struct notes n = {call, pick->runtime};

	if (pick->runtime == RUNTIME_NATIVE || (!dry && !is_first(policy, pick->runtime)))
		return;
	parity_notes(policy->policy, pick->runtime, note, &n);
	if (!dry)
		call_note(call,
			  "note: said once, and by --dry-run; `cordon policy parity --runtime %s` has all that differs "
			  "from native",
			  runtime_names[pick->runtime]);
}
