#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/changes_rules.h"
#include "cli/launch_own.h"
#include "plan/plan_source.h"
#include "policy/policy_codec.h"
#include "supervise/copy.h"
#include "sys/tree.h"

/* For overlays on disk: a folder of their own, since the sandbox's user must be able to enter it and nothing else of
 * the state. */
int launch_make_layers(struct run *r)
{
	static const char *const names[] = {"layers", "layers/upper", "layers/work"};
	uint32_t uid = native_host_uid();
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		if (mkdirat(r->state.dir, names[i], 0700) < 0)
			return error_sys(r->err, errno, "%s/%s", r->state.path, names[i]);
		if (uid != geteuid() && fchownat(r->state.dir, names[i], uid, uid, AT_SYMLINK_NOFOLLOW) < 0)
			return error_sys(r->err, errno, "%s/%s", r->state.path, names[i]);
	}
	return 0;
}

int launch_save_policy(struct run *r)
{
	AUTO_BUF b = {0};
	struct stat st;

	/* Only `diff` and `apply` ask for it. */
	if (r->saved || (fstatat(r->state.dir, "layers", &st, AT_SYMLINK_NOFOLLOW) < 0 &&
			 fstatat(r->state.dir, "copy", &st, AT_SYMLINK_NOFOLLOW) < 0))
		return 0;
	buf_init(&b, POLICY_CODEC_MAX);
	if (changes_policy_encode(r->req->policy->policy, r->plan, &b, r->err) < 0)
		return -1;
	r->saved = state_write_file(&r->state, "policy", buf_view(&b), r->err) == 0;
	return r->saved ? 0 : -1;
}

struct plan_op *launch_find_overlay(struct run *r)
{
	size_t i;

	for (i = 0; i < r->plan->n_ops; i++)
		if (r->plan->ops[i].kind == PLAN_OVERLAY)
			return &r->plan->ops[i];
	return NULL;
}

static int bring_back(struct run *r)
{
	struct stage_end end = {.audit = r->audit,
				.call = r->req->call,
				.policy = r->req->policy->policy,
				.plan = r->plan,
				.state = r->state.dir,
				.state_path = r->state.path,
				.id = r->state.id};

	launch_box_end(&r->box);
	return stage_return(&r->box.stage, &end, r->err);
}

/* What was there when the run started, for what it leaves. (The copy that a container works on is made already.) */
void launch_note_names(struct run *r)
{
	const struct plan_op *op = launch_find_overlay(r);
	AUTO_FD host = op ? plan_source_open(op, O_RDONLY) : -1;

	if (host >= 0 && copied_note(&r->there, host) < 0) {
		call_note(r->req->call, "note: there is too much in the work folder to notice what the host deletes "
					"there meanwhile; `cordon apply` may bring it back");
		return;
	}
	if (!r->box.backend && r->there.other_group) {
		r->result.failed = (struct error){.kind = ERROR_MISSING, .code = ENODEV};
		r->must_copy = true;
	}
}

static int keep_names(struct run *r)
{
	AUTO_FD upper =
		r->there.n ? openat(r->state.dir, "layers/upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	int result;

	if (upper < 0)
		return 0;
	(void)copied_narrow(&r->there, upper); /* else there are just more of them */
	result = copied_store(&r->there, r->state.dir);
	return result < 0 ? error_sys(r->err, result, "%s/copied", r->state.path) : 0;
}

/* Changes that were kept in memory go to the state folder, for `diff` and `apply`; nobody is left inside by now. */
int launch_keep_changes(struct run *r)
{
	AUTO_FD upper = fd_take(&r->result.upper);
	AUTO_FD layers = -1;
	int result = r->box.backend ? bring_back(r) : 0;

	launch_copy_end(&r->copy, &r->state);
	if (upper >= 0 && !sys_is_empty(upper)) {
		native_done(&r->sandbox);
		if (mkdirat(r->state.dir, "layers", 0700) < 0)
			return error_sys(r->err, errno, "%s/layers", r->state.path);
		layers = openat(r->state.dir, "layers", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (copy_layer(upper, layers, "upper", r->err) < 0)
			return error_prefix(r->err, "the changes of this run could not be kept");
	} else if (r->on_disk) {
		native_done(&r->sandbox);
		layers = openat(r->state.dir, "layers", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		sys_remove_tree(layers, "work");
		/* an upper folder with nothing in it says that nothing changed */
		if (unlinkat(layers, "upper", AT_REMOVEDIR) == 0)
			(void)unlinkat(r->state.dir, "layers", AT_REMOVEDIR);
	}
	return keep_names(r) < 0 || launch_save_policy(r) < 0 ? -1 : result;
}
