#include "cli/verb_why.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/path.h"
#include "base/real_path.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "cli/why_sandbox.h"
#include "plan/plan_exec.h"
#include "policy/net_match.h"
#include "policy/policy_query.h"
#include "policy/policy_test.h"

#define AUTO_SANDBOX __attribute__((cleanup(why_sandbox_done))) struct why_sandbox
#define AUTO_POLICY __attribute__((cleanup(cli_policy_done))) struct cli_policy

enum { INTERPRETERS_MAX = 5 }; /* as the kernel has it */

const struct option verb_why_options[] = {
	{"host", 0, "HOST[:PORT]", NULL, "May this host be reached?", 0},
	{"path", 0, "PATH", "file", "May this path be read (with --write: written)?", 0},
	{"exec", 0, "PROGRAM", "command", "May this program be executed?", 0},
	{"model", 0, "NAME", NULL, "May this model be used?", 0},
	{"write", 0, NULL, NULL, "With --path: ask about writing.", 0},
	{"method", 0, "METHOD", NULL, "With --host: ask about this HTTP method.", 0},
	{"url-path", 0, "PATH", NULL,
	 "With --host: ask about this path of the URL. Where connections are not looked into (a rule with only a "
	 "host), "
	 "it is yes whatever the method and the path, and says so.",
	 0},
	CLI_OPTION_POLICY,
	CLI_OPTION_PROFILE,
	CLI_OPTION_WORKDIR("Take this as the work folder; else the current one."),
	CLI_OPTION_JSON,
	{0},
};

struct question {
	const char *kind; /* host, path, exec or model */
	const char *target;
	char path[PATH_MAX]; /* of path and exec: what was asked in the end */
	const char *verb;    /* "be read" */
	char where[PATH_MAX + 16]; /* of the rule that decided */
};

static int usage(struct error *err, const char *what)
{
	return error_set(err, ERROR_USAGE, "why: %s; see cordon why --help", what);
}

/* Exactly one question. */
static int find_question(const struct call *call, struct question *q, struct error *err)
{
	static const struct {
		const char *kind, *verb;
	} kinds[] = {{"host", "be reached"}, {"path", "be read"}, {"exec", "be executed"}, {"model", "be used"}};
	size_t i;

	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		if (!call_has(call, kinds[i].kind))
			continue;
		if (q->kind)
			return usage(err, "ask one thing at a time: --host, --path, --exec or --model");
		q->kind = kinds[i].kind;
		q->verb = kinds[i].verb;
		q->target = call_value(call, kinds[i].kind);
	}
	if (!q->kind)
		return usage(err, "say what to ask about: --host, --path, --exec or --model");
	if (call_has(call, "write") && strcmp(q->kind, "path") != 0)
		return usage(err, "--write goes with --path");
	if ((call_has(call, "method") || call_has(call, "url-path")) && strcmp(q->kind, "host") != 0)
		return usage(err, "--method and --url-path go with --host");
	if (call_has(call, "url-path") && !strchr("/*", call_value(call, "url-path")[0]))
		return usage(err, "--url-path is the path of a URL, which starts with /");
	if (call_has(call, "write"))
		q->verb = "be written";
	if (q->target[0] == '\0')
		return usage(err, "the name is empty");
	return 0;
}

/* A program without "/" is looked for as the sandbox would look. */
static int find_program(const char *name, char out[PATH_MAX], struct error *err)
{
	static const char *const folders[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
					      "/usr/bin",        "/sbin",          "/bin"};
	struct text_shown shown;
	size_t i;

	for (i = 0; i < ARRAY_LEN(folders); i++)
		if (snprintf(out, PATH_MAX, "%s/%s", folders[i], name) < PATH_MAX && access(out, X_OK) == 0)
			return 0;
	return error_set(err, ERROR_INPUT, "why: %s is in no folder of the sandbox's PATH; give its full path",
			 text_show(&shown, sv_of(name)));
}

/* Where the path leads on this machine: links resolved, as far as it exists. False: it leads nowhere else. */
static bool leads_elsewhere(const char *path, char out[PATH_MAX])
{
	char parent[PATH_MAX], *slash;
	size_t n;

	if (real_path(path, out))
		return strcmp(path, out) != 0;
	(void)snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	if (!slash || slash == parent)
		return false;
	*slash = '\0';
	if (!real_path(parent, out))
		return false;
	n = strlen(out);
	if (n + strlen(slash + 1) + 2 > PATH_MAX)
		return false;
	(void)snprintf(out + n, PATH_MAX - n, "%s%s", n > 1 ? "/" : "", slash + 1);
	return strcmp(path, out) != 0;
}

static bool is_exec(const struct question *q)
{
	return strcmp(q->kind, "exec") == 0;
}

static void ask_name(const struct call *call, const struct cli_policy *p, const struct why_sandbox *s,
		     const struct question *q, const char *path, struct reason *ret)
{
	const char *workdir = s->plan ? s->workdir : p->workdir;

	if (is_exec(q))
		policy_query_exec(p->policy, workdir, path, ret);
	else
		policy_query_path(p->policy, workdir, path, call_has(call, "write") ? FS_WRITE : FS_READ, ret);
}

/* A program that is denied under the name of a link to it is denied. */
static void ask_links(const struct cli_policy *p, const char *real, struct reason *ret)
{
	const struct pol_str *hit = plan_exec_leads(p->policy, real);
	struct text_shown a, b;

	if (!hit)
		return;
	reason_set(ret, ANSWER_DENY, "process.deny_exec", hit->s, hit->at);
	reason_text(ret, "%.120s may not be executed: %.120s leads to it.", text_show(&a, sv_of(real)),
		    text_show(&b, sv_of(hit->s)));
	reason_hint(ret, "take it out of process.deny_exec");
}

/* In words of the policy: both names must be allowed, and what is said is about the place that a link leads to. */
static void ask_policy(const struct call *call, const struct cli_policy *p, const struct why_sandbox *s,
		       struct question *q, struct reason *ret)
{
	char real[PATH_MAX];

	ask_name(call, p, s, q, q->path, ret);
	if (ret->answer == ANSWER_ALLOW &&
	    (s->plan ? why_sandbox_lead(s, q->path, real) : leads_elsewhere(q->path, real))) {
		ask_name(call, p, s, q, real, ret);
		if (ret->answer == ANSWER_DENY)
			(void)snprintf(q->path, sizeof(q->path), "%s", real);
	}
	if (ret->answer == ANSWER_ALLOW && is_exec(q) && real_path(q->path, real))
		ask_links(p, real, ret);
}

/* By its own name it is closed, and by the place that links lead to open, which is what counts inside: in the policy's
 * words about that place, or in few of our own. */
static void say_opened(const struct call *call, const struct cli_policy *p, const struct why_sandbox *s,
		       struct question *q, struct why_answer *a, struct reason *ret)
{
	struct text_shown asked, led;

	ask_name(call, p, s, q, a->path, ret);
	if (ret->answer == ANSWER_ALLOW)
		(void)snprintf(q->path, sizeof(q->path), "%s", a->path);
	else
		(void)snprintf(a->text, sizeof(a->text), "%.130s leads to %.130s, which is open.",
			       text_show(&asked, sv_of(q->path)), text_show(&led, sv_of(a->path)));
}

/* What a run would do decides. Where the policy says the same, it has the better words. */
static void ask_sandbox(const struct call *call, const struct cli_policy *p, const struct why_sandbox *s,
			struct question *q, const char *path, struct reason *ret)
{
	enum why_access access = is_exec(q) ? WHY_EXEC : call_has(call, "write") ? WHY_WRITE : WHY_READ;
	struct why_answer a;
	enum why_verdict v = why_sandbox_ask(s, path, access, &a);
	struct text_shown t;

	if (v == WHY_NO && s->plan && s->unfit && !a.rule[0] && path_is_in(path, p->workdir)) {
		(void)snprintf(a.hint, sizeof(a.hint), "change to a project folder, or use --workdir");
		(void)snprintf(a.text, sizeof(a.text),
			       "%.150s is not in the sandbox: the current folder %s, and is no work folder.",
			       text_show(&t, sv_of(path)), s->unfit);
		ret->answer = ANSWER_ALLOW; /* the policy does not know that */
	}
	if (v == WHY_YES && ret->answer == ANSWER_DENY && !a.text[0])
		say_opened(call, p, s, q, &a, ret);
	if (s->plan && (v == WHY_POLICY || (v == WHY_YES) == (ret->answer == ANSWER_ALLOW)))
		return;
	reason_set(ret, v == WHY_YES ? ANSWER_ALLOW : ANSWER_DENY, NULL, NULL, (struct origin){0});
	(void)snprintf(ret->rule, sizeof(ret->rule), "%s", a.rule);
	(void)snprintf(q->where, sizeof(q->where), "%s", a.from[0] ? a.from : "the policy");
	(void)snprintf(q->path, sizeof(q->path), "%s", a.path);
	reason_text(ret, "%s", a.text);
	reason_hint(ret, "%s", a.hint);
}

/* For a script the kernel starts its interpreter, and for that if need be another: all of them must be allowed. What
 * env or a shell then starts is their affair. */
static void ask_interpreters(const struct call *call, const struct cli_policy *p, const struct why_sandbox *s,
			     struct question *q, struct reason *ret)
{
	char name[PATH_MAX], script[PATH_MAX], said[sizeof(ret->text)];
	struct text_shown a, b;
	unsigned i;

	(void)snprintf(script, sizeof(script), "%s", q->path);
	for (i = 0; i < INTERPRETERS_MAX && ret->answer == ANSWER_ALLOW && why_sandbox_interpreter(s, script, name);
	     i++) {
		struct question own = {.kind = q->kind, .target = name, .verb = q->verb};
		struct reason why = {0};

		memcpy(own.path, name, sizeof(name));
		ask_policy(call, p, s, &own, &why);
		ask_sandbox(call, p, s, &own, name, &why);
		(void)text_show(&a, sv_of(script));
		(void)text_show(&b, sv_of(name));
		if (why.answer == ANSWER_DENY) {
			*ret = why;
			(void)snprintf(q->where, sizeof(q->where), "%s", own.where);
			(void)snprintf(said, sizeof(said), "%s", why.text);
			reason_text(ret, "%.120s is a script for %.100s. %s", a.s, b.s, said);
		} else {
			(void)snprintf(said, sizeof(said), "%s", ret->text);
			reason_text(ret, "%s %.120s is a script for %.100s, which may be executed, too.", said, a.s,
				    b.s);
		}
		memcpy(script, name, sizeof(script));
	}
}

/* As a policy has it: "~" and "~/..." are the home folder's. ret: the path as it was asked for, from the root. */
static int clean_path(const struct cli_policy *p, const char *target, char ret[PATH_MAX], char out[PATH_MAX])
{
	bool home = target[0] == '~' && (target[1] == '/' || !target[1]);
	const char *rest = !home ? target : target[1] ? target + 2 : "";
	char cwd[PATH_MAX];
	const char *from = home ? p->folders.home : getcwd(cwd, sizeof(cwd)) ? cwd : p->workdir;

	if (snprintf(ret, PATH_MAX, "%s%s%s", rest[0] == '/' ? "" : from, rest[0] == '/' ? "" : "/", rest) >= PATH_MAX)
		return -1;
	return cli_path_clean(from, rest, out);
}

/* sandboxed: what a run would do; else what the policy says. */
static int answer_path(const struct call *call, const struct cli_policy *p, bool sandboxed, struct question *q,
		       struct reason *ret, struct error *err)
{
	AUTO_SANDBOX s = {0};
	char asked[PATH_MAX] = "";

	if (is_exec(q) && !strchr(q->target, '/')) {
		if (find_program(q->target, q->path, err) < 0)
			return -1;
	} else if (clean_path(p, q->target, asked, q->path) < 0) {
		return usage(err, "the path is too long");
	}
	if (sandboxed && why_sandbox_open(&s, call, p, err) < 0)
		return -1;
	if (s.plan)
		(void)why_sandbox_name(&s, asked, q->path);
	memcpy(asked, q->path, sizeof(asked));
	ask_policy(call, p, &s, q, ret);
	if (sandboxed)
		ask_sandbox(call, p, &s, q, asked, ret);
	if (s.plan && is_exec(q))
		ask_interpreters(call, p, &s, q, ret);
	return 0;
}

/* What has a door of its own needs no network: whoever asks about the host means the models, most of the time. */
static void point_to_door(struct reason *r)
{
	char other[sizeof(r->hint)];

	(void)snprintf(other, sizeof(other), "%s", r->hint);
	reason_text(r, "It serves models, which are reached by its base URL, with or without a network; the network "
		       "does not lead there.");
	reason_hint(r,
		    "use the base URL of the environment (`cordon why --model NAME`); or, for what else is there, %s",
		    other);
}

/* A name is not looked up here: what it leads to may be denied. */
static void mention_ranges(const struct policy *p, const char *host, struct reason *r)
{
	char said[sizeof(r->text)];
	struct net_host h;
	uint32_t i;

	net_host_read(sv_of(host), &h);
	for (i = 0; i < p->net.deny.n && !p->net.deny.v[i].cidr; i++)
		;
	if (h.is_address || i == p->net.deny.n)
		return;
	(void)snprintf(said, sizeof(said), "%s", r->text);
	reason_text(r, "%s The address that it leads to is judged when it is known: network.deny has ranges.", said);
}

static int answer(const struct call *call, const struct cli_policy *p, bool sandboxed, struct question *q,
		  struct reason *ret, struct error *err)
{
	struct text_shown shown;
	char host[256];
	uint16_t port;

	if (strcmp(q->kind, "model") == 0) {
		policy_query_model(p->policy, q->target, ret);
		return 0;
	}
	if (strcmp(q->kind, "host") != 0)
		return answer_path(call, p, sandboxed, q, ret, err);
	if (strchr(q->target, '/'))
		return error_set(err, ERROR_USAGE,
				 "why: %s is no HOST or HOST:PORT; of a URL give --host HOST and --url-path PATH",
				 text_show(&shown, sv_of(q->target)));
	if (!policy_split_host(q->target, host, &port))
		return error_set(err, ERROR_USAGE, "why: %s is no HOST or HOST:PORT",
				 text_show(&shown, sv_of(q->target)));
	policy_query_host(p->policy, host, port, call_value(call, "method"), call_value(call, "url-path"), ret);
	if (ret->answer == ANSWER_DENY && (call_has(call, "method") || call_has(call, "url-path")))
		policy_query_unseen(p->policy, host, port, ret);
	if (ret->answer == ANSWER_DENY && sv_starts(sv_of(ret->rule), "network.mode") &&
	    p->policy->net.mode.v != NET_PUBLIC && policy_query_serves(p->policy, host))
		point_to_door(ret);
	if (ret->answer == ANSWER_ALLOW)
		mention_ranges(p->policy, host, ret);
	return 0;
}

static bool has_file(const struct policy *p, const char *name)
{
	uint32_t i;

	for (i = 1; i < p->n_files; i++)
		if (strcmp(p->files[i], name) == 0)
			return true;
	return false;
}

static void say_ceiling(struct reason *r, const struct reason *why)
{
	reason_text(r, "Your policy allows it, but the operator's ceiling does not: %s", why->text);
}

/* The ceiling by itself: why it says no, if it does in so many words. */
static int ask_ceiling(const struct call *call, const char *path, struct question *q, struct reason *r,
		       struct error *err)
{
	AUTO_POLICY ceiling = {0};
	struct question own = *q;
	struct reason why = {0};

	if (cli_policy_load_file(call, path, CLI_POLICY_ALONE, &ceiling, err) < 0 ||
	    answer(call, &ceiling, false, &own, &why, err) < 0)
		return -1;
	if (why.answer == ANSWER_ALLOW || why.at.file == 0 || !why.rule[0]) {
		reason_set(r, ANSWER_DENY, "the operator's ceiling", NULL, (struct origin){0});
		reason_text(r, "Your policy allows it, but not all of it is allowed by the operator's ceiling too.");
		(void)snprintf(q->where, sizeof(q->where), "%s", path);
	} else {
		*r = why;
		say_ceiling(r, &why);
		(void)snprintf(q->where, sizeof(q->where), "%s", policy_where(ceiling.policy, why.at));
	}
	return 0;
}

/* What the ceiling takes away is no longer in the policy: nothing there would say so. */
static int blame_ceiling(const struct call *call, const struct cli_policy *p, struct question *q, struct reason *r,
			 struct error *err)
{
	const char *file = r->at.file < p->policy->n_files ? p->policy->files[r->at.file] : "";
	struct question own = *q;
	struct reason alone = {0}, named = *r;
	struct error ignored = {0};
	AUTO_POLICY mine = {0};
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/policy.yaml", p->folders.config) >= (int)sizeof(path) ||
	    access(path, F_OK) < 0)
		return 0;
	/* a pipe has nothing more to say: it stays at the no */
	if (cli_policy_load(call, NULL, CLI_POLICY_ALONE, &mine, &ignored) < 0)
		return 0;
	if (answer(call, &mine, true, &own, &alone, err) < 0)
		return -1;
	if (alone.answer == ANSWER_DENY)
		return 0; /* it says no itself */
	if (r->at.file && !has_file(mine.policy, file))
		say_ceiling(r, &named); /* by a rule that is in the policy now */
	else if (ask_ceiling(call, path, q, r, err) < 0)
		return -1;
	reason_hint(r, "change the ceiling (%s), or ask the operator", path);
	return 0;
}

static void print_json(const struct call *call, const struct question *q, const struct reason *r, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_open(&j);
	json_kstr(&j, "ask", q->kind);
	json_kstr(&j, "target", q->path[0] ? q->path : q->target);
	if (strcmp(q->kind, "path") == 0)
		json_kstr(&j, "access", call_has(call, "write") ? "write" : "read");
	if (call_has(call, "method"))
		json_kstr(&j, "method", call_value(call, "method"));
	if (call_has(call, "url-path"))
		json_kstr(&j, "path", call_value(call, "url-path"));
	json_kstr(&j, "answer", r->answer == ANSWER_ALLOW ? "allow" : "deny");
	json_kstr(&j, "rule", r->rule[0] ? r->rule : NULL);
	json_kstr(&j, "from", r->rule[0] ? q->where : NULL);
	json_kstr(&j, "text", r->text);
	json_kstr(&j, "hint", r->hint[0] ? r->hint : NULL);
	json_close(&j);
	(void)buf_char(out, '\n');
}

static void print_text(const struct question *q, const struct reason *r, struct buf *out)
{
	bool yes = r->answer == ANSWER_ALLOW;

	(void)buf_printf(out, "%s: ", yes ? "yes" : "no");
	text_escape(out, sv_of(q->target), 400);
	(void)buf_printf(out, " %s %s.\n  %s\n", yes ? "may" : "may not", q->verb, r->text);
	if (r->rule[0])
		(void)buf_printf(out, "  rule: %s (%s)\n", r->rule, q->where);
	if (r->hint[0])
		(void)buf_printf(out, "  to %s it: %s\n", yes ? "forbid" : "allow", r->hint);
	else if (!yes)
		(void)buf_str(out, "  No policy can allow it.\n");
}

int verb_why(struct call *call, struct error *err)
{
	struct question q = {0};
	AUTO_POLICY p = {0};
	AUTO_BUF out = {0};
	struct reason r = {0};

	if (find_question(call, &q, err) < 0 || cli_policy_load(call, NULL, 0, &p, err) < 0 ||
	    answer(call, &p, true, &q, &r, err) < 0)
		return -1;
	if (!q.where[0])
		(void)snprintf(q.where, sizeof(q.where), "%s", policy_where(p.policy, r.at));
	if (r.answer == ANSWER_DENY && blame_ceiling(call, &p, &q, &r, err) < 0)
		return -1;
	buf_init(&out, 1 << 20);
	if (call_has(call, "json"))
		print_json(call, &q, &r, &out);
	else
		print_text(&q, &r, &out);
	return cli_print(call, &out, err) < 0 ? -1 : r.answer == ANSWER_DENY;
}
