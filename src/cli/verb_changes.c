#include "cli/verb_changes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/changes_rules.h"
#include "cli/changes_tell.h"
#include "cli/cli_policy.h"
#include "cli/runs_info.h"
#include "policy/policy_codec.h"
#include "supervise/changes.h"
#include "supervise/changes_apply.h"
#include "supervise/changes_judge.h"
#include "supervise/changes_show.h"
#include "supervise/state.h"
#include "sys/lookup.h"
#include "sys/tree.h"

const struct option verb_diff_options[] = {
	{"list", 'l', NULL, NULL, "Only the list of what changed, not the diff.", 0},
	{"all", 'a', NULL, NULL, "Also show the content of changes that apply would refuse.", 0},
	CLI_OPTION_JSON,
	{0},
};

const struct option verb_apply_options[] = {
	{"skip-refused", 0, NULL, NULL, "Apply what may be applied, and leave the rest.", 0},
	{"force", 'f', NULL, NULL, "Let the run's version win over what changed on the host since.", 0},
	CLI_OPTION_JSON,
	{0},
};

struct looked_at {
	struct state state;
	struct run_info info;
	struct policy *policy;
	struct changes_patterns patterns;
	int lower, upper;
	struct copied copied;
	struct changes *list;
	bool open;
};

static int read_policy(struct looked_at *l, struct error *err)
{
	AUTO_BUF b = {0};
	AUTO_FD fd = openat(l->state.dir, "policy", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	buf_init(&b, POLICY_CODEC_MAX);
	if (fd < 0)
		return error_set(err, ERROR_INPUT,
				 "%s: the run was killed before its policy was kept, so nothing can be judged; its "
				 "changes are in %s/%s",
				 l->state.id, l->state.path,
				 faccessat(l->state.dir, STATE_COPY, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? STATE_COPY
												     : "layers/upper");
	if (buf_read_fd(&b, fd) < 0 || policy_decode(buf_view(&b), &l->policy) < 0)
		return error_set(err, ERROR_INPUT, "%s/policy cannot be read", l->state.path);
	return changes_patterns_init(&l->patterns, l->policy, NULL, err);
}

static int scan(struct looked_at *l, enum changes_kind kind, bool force, struct error *err)
{
	struct changes_rules rules = {.root = l->info.workdir, .force = force};
	int r = copied_load(&l->copied, l->state.dir);

	if (r < 0 && r != -ENOENT)
		return error_sys(err, r, "%s/copied", l->state.path);
	if (r == 0)
		rules.copied = &l->copied;
	changes_rules_take(&rules, &l->patterns);
	rules.started.tv_sec = l->info.started_ms / 1000;
	rules.started.tv_nsec = l->info.started_ms % 1000 * 1000000;
	return changes_scan(l->lower, l->upper, kind, &rules, &l->list, err);
}

/* A copy by policy; or one that a container worked on, and that could not be brought back at its end. */
static bool is_kept(const struct looked_at *l)
{
	return strcmp(l->info.workdir_mode, "copy") == 0 ||
	       faccessat(l->state.dir, STATE_COPY, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Its policy is kept where there is something to judge, and stays when that was applied. */
static bool was_applied(const struct looked_at *l)
{
	return l->upper < 0 && faccessat(l->state.dir, "policy", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* -1: errno says why. The workload may have shut its work folder; it is ours as well. */
static int open_left(const struct looked_at *l, const char *name)
{
	AUTO_FD fd = openat(l->state.dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -1 : sys_open_again(fd);
}

static int look(struct looked_at *l, const struct call *call, bool force, struct error *err)
{
	AUTO_FREE char *root = NULL;
	enum changes_kind kind = CHANGES_OVERLAY;
	enum changes_recovered recovered;
	struct changes_others others;
	struct text_shown t;
	bool running;

	*l = (struct looked_at){.lower = -1, .upper = -1};
	if (state_root(&root, err) < 0 || state_open(root, call->args[0], &l->state, &running, err) < 0)
		return -1;
	l->open = true;
	if (run_info_read(&l->state, running, &l->info, err) < 0)
		return -1;
	if (!is_kept(l) && !was_applied(l))
		return error_set(err, ERROR_USAGE,
				 "%s: its work folder was not a copy (filesystem.workdir: %s), so there is nothing to "
				 "bring back",
				 l->state.id, l->info.workdir_mode);
	if (running)
		return error_set(err, ERROR_USAGE, "%s: the run is still going on; wait for its end or stop it",
				 l->state.id);
	l->upper = open_left(l, "layers/upper");
	if (l->upper < 0 && errno == ENOENT) {
		l->upper = open_left(l, STATE_COPY);
		kind = CHANGES_COPY;
	}
	if (l->upper < 0)
		return errno == ENOENT ? 0 /* nothing changed */
				       : error_sys(err, errno, "what the run left, in %s/%s", l->state.path,
						   kind == CHANGES_COPY ? STATE_COPY : "layers");
	if (read_policy(l, err) < 0 || changes_recover_any(l->state.dir, &recovered, err) < 0)
		return -1;
	changes_recovered_tell(call, recovered);
	/* the rules were about this name, without a link in it */
	l->lower = sys_open_no_links(l->info.workdir, O_RDONLY | O_DIRECTORY);
	if (l->lower == -ENOENT || l->lower == -ENOTDIR)
		return error_set(err, ERROR_INPUT,
				 "work folder %s: is not there any more; the changes are kept, in %s/%s: move the "
				 "folder back to this name and try again",
				 text_show(&t, sv_of(l->info.workdir)), l->state.path,
				 kind == CHANGES_COPY ? STATE_COPY : "layers/upper");
	if (l->lower < 0)
		return error_sys(err, l->lower, "work folder %s", text_show(&t, sv_of(l->info.workdir)));
	if (changes_recover_others(l->lower, root, &others, err) < 0)
		return -1;
	changes_others_tell(call, l->info.workdir, &others);
	return scan(l, kind, force, err);
}

static void look_done(struct looked_at *l)
{
	changes_free(l->list);
	copied_done(&l->copied);
	changes_patterns_done(&l->patterns);
	policy_free(l->policy);
	if (l->lower >= 0)
		(void)close(l->lower);
	if (l->upper >= 0)
		(void)close(l->upper);
	run_info_done(&l->info);
	if (l->open)
		state_done(&l->state);
}

static void put_changes(struct json *j, const struct changes *c)
{
	size_t i;

	json_list(j);
	for (i = 0; c && i < c->n; i++) {
		json_open(j);
		json_kstr(j, "path", c->v[i].path);
		json_kstr(j, "change", change_kind_names[c->v[i].kind]);
		json_kstr(j, "type", change_type_names[c->v[i].after.type ? c->v[i].after.type : c->v[i].before.type]);
		json_kstr(j, "refused", c->v[i].refused);
		json_close(j);
	}
	json_end(j);
}

static int print_json(struct call *call, const struct looked_at *l, int64_t applied, struct error *err)
{
	AUTO_BUF b = {0};
	struct json j;

	buf_init(&b, 256 << 20);
	json_init(&j, &b);
	json_open(&j);
	json_kstr(&j, "run", l->state.id);
	json_key(&j, "changes");
	put_changes(&j, l->list);
	if (applied >= 0)
		json_kint(&j, "applied", applied);
	json_close(&j);
	(void)buf_char(&b, '\n');
	return cli_print(call, &b, err);
}

static int show(struct call *call, const struct looked_at *l, struct error *err)
{
	struct changes_diff_options options = {.escape = isatty(fileno(call->out)), .refused = call_has(call, "all")};

	if (!call_has(call, "list") && (!l->list || l->list->n == 0))
		call_note(call, "%s: %s", l->state.id, was_applied(l) ? "all its changes were applied" : "no changes");
	if (!l->list)
		return 0;
	if (!call_has(call, "list") && changes_print_diff(l->list, l->lower, l->upper, &options, call->out, err) < 0)
		return -1;
	if (changes_print_list(l->list, call_has(call, "list") ? call->out : stderr, err) < 0)
		return -1;
	if (l->list->n_refused && !options.refused && !call_has(call, "list"))
		call_note(call, "what is refused is not shown: `cordon diff --all %s` does", l->state.id);
	return 0;
}

/* What is in the way, and how to go on. */
static void tell_refused(const struct call *call, const struct looked_at *l)
{
	bool meanwhile = false;
	size_t i;

	for (i = 0; i < l->list->n; i++)
		meanwhile |= l->list->v[i].refused == changes_meanwhile;
	(void)changes_print_refused(l->list, stderr, &(struct error){0});
	call_note(call, "--skip-refused applies the rest%s; `cordon diff --all %s` shows all",
		  meanwhile ? "; --force lets the run's version win over what changed on the host since" : "",
		  l->state.id);
}

int verb_diff(struct call *call, struct error *err)
{
	struct looked_at l;
	int r = look(&l, call, false, err);

	if (r == 0)
		r = call_has(call, "json") ? print_json(call, &l, -1, err) : show(call, &l, err);
	look_done(&l);
	return r;
}

/* What came back is no longer worth keeping twice. Its name goes first, and at once: half a copy would seem to be one
 * in which the run had removed the rest, and the next apply would do so on the host. */
static void remove_applied(int state)
{
	static const char *const names[] = {"layers", STATE_COPY};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		sys_remove_tree(state, STATE_APPLIED);
		if (renameat(state, names[i], state, STATE_APPLIED) == 0)
			sys_remove_tree(state, STATE_APPLIED);
	}
	(void)unlinkat(state, "copied", 0);
}

int verb_apply(struct call *call, struct error *err)
{
	struct changes_apply_options options = {.skip_refused = call_has(call, "skip-refused")};
	struct looked_at l;
	size_t applied = 0, left;
	int r = look(&l, call, call_has(call, "force"), err);

	if (r == 0 && l.list) {
		options.name = l.info.workdir;
		r = changes_apply(l.lower, l.upper, l.state.dir, l.list, &options, &applied, err);
		if (r < 0 && err->kind == ERROR_DENIED && l.list->n_refused)
			tell_refused(call, &l);
	}
	left = l.list ? l.list->n - applied : 0;
	if (r == 0 && left == 0 && l.upper >= 0)
		remove_applied(l.state.dir);
	else if (r == 0 && l.copied.stands.tv_sec && copied_follow(&l.copied, l.lower, l.list) == 0)
		(void)copied_store(&l.copied, l.state.dir);
	if (r == 0 && call_has(call, "json"))
		r = print_json(call, &l, (int64_t)applied, err);
	else if (r == 0)
		call_note(call, "%zu change%s applied to %s%s", applied, applied == 1 ? "" : "s", l.info.workdir,
			  left ? "; some were refused and left" : "");
	look_done(&l);
	return r;
}
