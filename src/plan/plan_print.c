#include <inttypes.h>

#include "base/text.h"
#include "plan/plan_build.h"
#include "sys/mounts.h"

static const char *const kinds[] = {
	[PLAN_DIR] = "folder",	 [PLAN_LINK] = "link",	     [PLAN_FILE] = "file",	 [PLAN_BIND] = "show",
	[PLAN_TMPFS] = "scratch", [PLAN_PROC] = "proc",	     [PLAN_DEVICE] = "device",	 [PLAN_PTS] = "terminals",
	[PLAN_OVERLAY] = "copy", [PLAN_PROTECT] = "protect", [PLAN_MASK] = "hide",	 [PLAN_NO_EXEC] = "no-exec",
	[PLAN_EXEC] = "exec",
};

static void print_op(const struct plan_op *op, struct buf *out)
{
	(void)buf_printf(out, "%-9s ", kinds[op->kind]);
	text_escape(out, sv_of(op->target), 4096);
	if (op->source && op->kind != PLAN_FILE && op->kind != PLAN_TMPFS && !sv_is(sv_of(op->source), op->target)) {
		(void)buf_str(out, op->kind == PLAN_LINK ? " -> " : " from ");
		text_escape(out, sv_of(op->source), 4096);
	}
	if (op->kind == PLAN_BIND || op->kind == PLAN_OVERLAY)
		(void)buf_str(out, op->writable ? " (read-write" : " (read-only");
	else
		(void)buf_str(out, " (");
	if (op->flags & MOUNT_NO_EXEC)
		(void)buf_str(out, ", no-exec");
	(void)buf_str(out, ") # ");
	text_escape(out, sv_of(op->why ? op->why : ""), 512);
	(void)buf_char(out, '\n');
}

void plan_print(const struct plan *p, struct buf *out)
{
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		print_op(&p->ops[i], out);
	for (i = 0; i < p->n_guards; i++) {
		(void)buf_printf(out, "%-9s ", p->guards[i].hidden ? "deny" : "protect+");
		text_escape(out, sv_of(p->guards[i].rule), 512);
		(void)buf_char(out, '\n');
	}
	(void)buf_printf(out, "user      %u\nmemory    %" PRIu64 "\nprocesses %" PRIu64 "\ncpus      %" PRIu64 "/1000\n", p->uid,
			 p->limits.memory, p->limits.processes, p->limits.cpu_thousandths);
	(void)buf_printf(out, "timeout   %" PRIu64 " ms\nfile-size %" PRIu64 "\nscratch   %" PRIu64 "\nnetwork   none%s\n",
			 p->limits.timeout_ms, p->limits.file_size, p->tmp_size, p->loopback ? ", loopback up" : "");
	(void)buf_str(out, "start in  ");
	text_escape(out, sv_of(p->cwd), 4096);
	(void)buf_str(out, "\nrun      ");
	for (i = 0; p->argv[i]; i++) {
		(void)buf_char(out, ' ');
		text_escape(out, sv_of(p->argv[i]), 256);
	}
	(void)buf_char(out, '\n');
}
