#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "plan/plan_build.h"
#include "sys/mounts.h"

static const char *const kinds[] = {
	[PLAN_DIR] = "folder",	 [PLAN_LINK] = "link",	     [PLAN_FILE] = "file",	 [PLAN_BIND] = "show",
	[PLAN_TMPFS] = "scratch", [PLAN_PROC] = "proc",	     [PLAN_DEVICE] = "device",	 [PLAN_PTS] = "terminals",
	[PLAN_OVERLAY] = "copy", [PLAN_PROTECT] = "protect", [PLAN_MASK] = "hide",
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

static void digest_str(struct sha256 *h, const char *s)
{
	/* with its NUL, so that no two lists of strings look alike */
	sha256_add(h, s ? s : "", (s ? strlen(s) : 0) + 1);
}

static void digest_num(struct sha256 *h, uint64_t v)
{
	sha256_add(h, &v, sizeof(v));
}

void plan_digest(const struct plan *p, char out[SHA256_HEX])
{
	const struct plan_limits *l = &p->limits;
	unsigned char digest[SHA256_SIZE];
	struct sha256 h;
	size_t i;

	sha256_init(&h);
	for (i = 0; i < p->n_ops; i++) {
		const struct plan_op *op = &p->ops[i];

		digest_num(&h, (uint64_t)op->kind | (uint64_t)op->flags << 8 | (uint64_t)op->writable << 16 | (uint64_t)op->host << 17 |
				       (uint64_t)op->mode << 32);
		digest_str(&h, op->target);
		digest_str(&h, op->source);
	}
	for (i = 0; i < p->n_guards; i++)
		digest_str(&h, p->guards[i].rule);
	for (i = 0; p->argv[i]; i++)
		digest_str(&h, p->argv[i]);
	for (i = 0; p->executables && p->executables[i]; i++)
		digest_str(&h, p->executables[i]);
	digest_str(&h, p->cwd);
	digest_num(&h, p->uid);
	digest_num(&h, p->tmp_size);
	digest_num(&h, l->memory);
	digest_num(&h, l->processes);
	digest_num(&h, l->cpu_thousandths);
	digest_num(&h, l->timeout_ms);
	digest_num(&h, l->file_size);
	digest_num(&h, (uint64_t)p->loopback | (uint64_t)p->restrict_exec << 1);
	sha256_done(&h, digest);
	sha256_hex(digest, out);
}
