#include "cli/launch_reload.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "policy/policy_diff.h"

/* Does it mean something else where nothing can change? Both sides get one network and inference, so that only the rest is compared. */
static bool waits_for_restart(const struct launch_reload *l, const struct cli_policy *now)
{
	struct policy changed = *now->policy;
	struct policy_diff_result r;
	AUTO_BUF ignored = {0};

	changed.net = l->first->net;
	changed.inference = l->first->inference;
	buf_init(&ignored, 1 << 20);
	r = policy_diff_text((struct policy_diff_side){l->first, "a"}, (struct policy_diff_side){&changed, "b"}, now->workdir, &ignored);
	return r.more || r.less;
}

static int load(void *arg, const char *path, char digest[65], struct error *err)
{
	struct launch_reload *l = arg;
	struct cli_policy loaded;
	struct text_shown shown;
	int r = path ? cli_policy_load_file(l->call, path, &loaded, err) : cli_policy_load(l->call, NULL, 0, &loaded, err);

	if (r == 0) {
		r = gate_reload(l->gate, loaded.policy, err);
		if (r < 0)
			cli_policy_done(&loaded);
	}
	if (r < 0) {
		call_note(l->call, "the new policy is refused, the last one stays: %s", text_show(&shown, sv_of(err->text)));
		return -1;
	}
	if (waits_for_restart(l, &loaded))
		call_note(l->call, "note: what the new policy changes in filesystem and process waits for a restart");
	memcpy(digest, loaded.digest, sizeof(loaded.digest));
	cli_policy_done(&l->last);
	l->last = loaded;
	return 0;
}

void launch_reload_init(struct launch_reload *l, const struct call *call, const struct policy *first, struct gate *gate)
{
	uint32_t i;

	*l = (struct launch_reload){.call = call, .first = first, .gate = gate};
	l->policies = (struct supervise_policies){.files = l->files, .load = load, .arg = l};
	for (i = 1; i < first->n_files && l->policies.n_files < ARRAY_LEN(l->files); i++)
		if (access(first->files[i], F_OK) == 0)
			l->files[l->policies.n_files++] = first->files[i];
}

void launch_reload_done(struct launch_reload *l)
{
	cli_policy_done(&l->last);
}
