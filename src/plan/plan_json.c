#include <string.h>

#include "base/json.h"
#include "model/policy.h"
#include "plan/plan_build.h"
#include "sys/mounts.h"

static const char *const kinds[] = {
	[PLAN_DIR] = "folder",	 [PLAN_LINK] = "link",	     [PLAN_FILE] = "file",	 [PLAN_BIND] = "show",
	[PLAN_TMPFS] = "scratch", [PLAN_PROC] = "proc",	     [PLAN_DEVICE] = "device",	 [PLAN_PTS] = "terminals",
	[PLAN_OVERLAY] = "copy", [PLAN_PROTECT] = "protect", [PLAN_MASK] = "hide",
	[PLAN_EXEC] = "exec",	 [PLAN_SHOW] = "show inside",
};

static void put_op(struct json *j, const struct plan *p, const struct plan_op *op)
{
	json_open(j);
	json_kstr(j, "step", kinds[op->kind]);
	json_kstr(j, "target", op->target);
	/* a made file's source is its content, a scratch place's a name of its own */
	if (op->source && op->kind != PLAN_FILE && op->kind != PLAN_TMPFS)
		json_kstr(j, "source", op->source);
	json_kbool(j, "writable", op->writable);
	json_kbool(j, "copied_and_brought_back", plan_copies(p, op));
	json_kbool(j, "executable", !(op->flags & MOUNT_NO_EXEC));
	json_kstr(j, "why", op->why);
	json_close(j);
}

static void put_limits(struct json *j, const struct plan *p)
{
	json_key(j, "limits");
	json_open(j);
	json_kint(j, "memory_bytes", (int64_t)p->limits.memory);
	json_kint(j, "processes", (int64_t)p->limits.processes);
	json_kint(j, "cpu_thousandths", (int64_t)p->limits.cpu_thousandths);
	json_kint(j, "timeout_ms", (int64_t)p->limits.timeout_ms);
	json_kint(j, "file_size_bytes", (int64_t)p->limits.file_size);
	json_kint(j, "scratch_bytes", (int64_t)p->tmp_size);
	if (p->image)
		json_kint(j, "storage_bytes", (int64_t)p->limits.storage);
	json_close(j);
}

static void put_image(struct json *j, const struct image_root *r)
{
	size_t i;

	json_key(j, "image");
	json_open(j);
	json_key(j, "layers");
	json_list(j);
	for (i = 0; r->layers[i]; i++)
		json_str(j, r->layers[i]);
	json_end(j);
	json_kint(j, "ids", r->ids.count);
	json_close(j);
}

static void put_command(struct json *j, const struct plan *p)
{
	size_t i;

	json_key(j, "command");
	json_list(j);
	for (i = 0; p->argv[i]; i++)
		json_str(j, p->argv[i]);
	json_end(j);
	json_kstr(j, "cwd", p->cwd);
	json_kint(j, "user", p->uid);
	json_kstr(j, "runtime", p->runtime);
	json_kstr(j, "runtime_reason", p->runtime_why);
	json_kstr(j, "network", net_mode_names[p->network]);
	json_kint(j, "providers", p->providers);
	json_kbool(j, "loopback", p->loopback);
	json_key(j, "variables");
	json_list(j);
	for (i = 0; p->env[i]; i++)
		json_sv(j, sv_n(p->env[i], strcspn(p->env[i], "=")));
	json_end(j);
}

void plan_print_json(const struct plan *p, struct buf *out)
{
	struct json j;
	size_t i;

	json_init(&j, out);
	json_open(&j);
	json_kint(&j, "version", 1);
	put_command(&j, p);
	put_limits(&j, p);
	if (p->image)
		put_image(&j, p->image);
	json_key(&j, "steps");
	json_list(&j);
	for (i = 0; i < p->n_ops; i++)
		put_op(&j, p, &p->ops[i]);
	json_end(&j);
	json_key(&j, "guards");
	json_list(&j);
	for (i = 0; i < p->n_guards; i++) {
		json_open(&j);
		json_kstr(&j, "rule", p->guards[i].rule);
		json_kstr(&j, "access", p->guards[i].hidden ? "none" : "read");
		json_close(&j);
	}
	json_end(&j);
	json_close(&j);
	(void)buf_char(out, '\n');
}
