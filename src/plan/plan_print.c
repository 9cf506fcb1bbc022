#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "model/policy.h"
#include "plan/plan_build.h"
#include "sys/mounts.h"

enum { COLUMNS = 96, INDENT = 4, PATH_SHOWN = 4096 };

/* What is printed under one title: steps of these kinds, each kind and reason once, with all its paths behind it. */
static const struct {
	const char *title; /* NULL: the one before goes on */
	enum plan_op_kind kind;
	const char *what;
} sections[] = {
	{"Shown from this machine", PLAN_OVERLAY, "as a copy (changes stay in the sandbox)"},
	{NULL, PLAN_BIND, NULL},
	{"The sandbox's own", PLAN_TMPFS, "scratch space, empty at the start"},
	{NULL, PLAN_PROC, "processes"},
	{NULL, PLAN_PTS, "terminals"},
	{NULL, PLAN_DEVICE, "devices"},
	{NULL, PLAN_DIR, "empty folders"},
	{NULL, PLAN_FILE, "files made for it"},
	{NULL, PLAN_LINK, "links"},
	{NULL, PLAN_SHOW, "its own file in the place of the host's"},
	{"Covered, because they exist now", PLAN_MASK, "hidden"},
	{NULL, PLAN_PROTECT, "read-only"},
	{"May be executed", PLAN_EXEC, "files, or all below a folder"},
};

/* A list of words within the columns. */
struct listing {
	struct buf *out;
	size_t column; /* 0: nothing was listed yet */
};

static void list_word(struct listing *l, struct sv word)
{
	if (l->column && l->column + 2 + word.n <= COLUMNS) {
		(void)buf_str(l->out, ", ");
		l->column += 2;
	} else {
		(void)buf_printf(l->out, "%s%*s", l->column ? ",\n" : "", INDENT, "");
		l->column = INDENT;
	}
	(void)buf_sv(l->out, word);
	l->column += word.n;
}

static void list_end(struct listing *l)
{
	if (l->column)
		(void)buf_char(l->out, '\n');
	l->column = 0;
}

static bool plan_is_container(const struct plan *p)
{
	return p->runtime && strcmp(p->runtime, runtime_names[RUNTIME_NATIVE]) != 0;
}

static const char *op_what(const struct plan *p, const struct plan_op *op, const char *what)
{
	if (plan_copies(p, op))
		return "as a copy, brought back when the run ends";
	return what ? what : op->writable ? "read-write" : "read-only";
}

static bool is_alike(const struct plan_op *a, const struct plan_op *b)
{
	return a->kind == b->kind && a->writable == b->writable &&
	       strcmp(a->why ? a->why : "", b->why ? b->why : "") == 0;
}

static void list_op(struct listing *l, const struct plan_op *op)
{
	AUTO_BUF word = {0};

	buf_init(&word, 8 * PATH_SHOWN);
	text_escape(&word, sv_of(op->target), PATH_SHOWN);
	if (op->source && op->kind == PLAN_LINK) {
		(void)buf_str(&word, " -> ");
		text_escape(&word, sv_of(op->source), PATH_SHOWN);
	} else if (op->source && (op->kind == PLAN_BIND || op->kind == PLAN_OVERLAY) &&
		   strcmp(op->source, op->target) != 0) {
		(void)buf_str(&word, " from ");
		text_escape(&word, sv_of(op->source), PATH_SHOWN);
	}
	if (op->kind == PLAN_TMPFS && (op->flags & MOUNT_NO_EXEC))
		(void)buf_str(&word, " (nothing in it can be executed)");
	list_word(l, buf_view(&word));
}

/* Steps of one kind; those with one reason together, in the order of their first. */
static bool print_kind(const struct plan *p, enum plan_op_kind kind, const char *what, const char *title,
		       struct buf *out)
{
	struct listing l = {.out = out};
	bool any = false;
	size_t i, k;

	for (i = 0; i < p->n_ops; i++) {
		if (p->ops[i].kind != kind)
			continue;
		for (k = 0; k < i && !is_alike(&p->ops[k], &p->ops[i]); k++)
			;
		if (k < i)
			continue;
		if (title)
			(void)buf_printf(out, "\n%s\n", title);
		title = NULL;
		any = true;
		(void)buf_printf(out, "  %s: ", op_what(p, &p->ops[i], what));
		text_escape(out, sv_of(p->ops[i].why ? p->ops[i].why : "built in"), 512);
		(void)buf_char(out, '\n');
		for (k = i; k < p->n_ops; k++)
			if (is_alike(&p->ops[k], &p->ops[i]))
				list_op(&l, &p->ops[k]);
		list_end(&l);
	}
	return any;
}

static void print_ops(const struct plan *p, struct buf *out)
{
	const char *title = NULL;
	size_t i;

	for (i = 0; i < ARRAY_LEN(sections); i++) {
		title = sections[i].title ? sections[i].title : title;
		if (print_kind(p, sections[i].kind, sections[i].what, title, out))
			title = NULL;
	}
}

/* "filesystem.deny **" + "/.env (built in)" without its key and, for what is built in, without its place. Rules that
 * are no pattern are said in words, and have no key. */
static struct sv guard_pattern(const char *rule)
{
	static const char built_in[] = " (built in)";
	bool has_key = sv_starts(sv_of(rule), "filesystem.") || sv_starts(sv_of(rule), "process.");
	const char *space = has_key ? strchr(rule, ' ') : NULL;
	struct sv s = sv_of(space ? space + 1 : rule);

	if (sv_ends(s, built_in))
		s.n -= sizeof(built_in) - 1;
	return s;
}

static bool is_repeated(const struct plan *p, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (p->guards[k].hidden == p->guards[i].hidden && strcmp(p->guards[k].rule, p->guards[i].rule) == 0)
			return true;
	return false;
}

static void print_guards(const struct plan *p, bool hidden, const char *title, struct buf *out)
{
	struct listing l = {.out = out};
	bool any = false;
	size_t i;

	for (i = 0; i < p->n_guards; i++) {
		AUTO_BUF word = {0};

		if (p->guards[i].hidden != hidden || is_repeated(p, i))
			continue;
		if (!any)
			(void)buf_printf(out, "\n%s\n", title);
		any = true;
		buf_init(&word, 4096);
		text_escape(&word, guard_pattern(p->guards[i].rule), 512);
		list_word(&l, buf_view(&word));
	}
	list_end(&l);
}

struct amount {
	char s[32];
};

/* In the largest unit that leaves no rest; 0 is `none`. */
static const char *show_amount(struct amount *a, uint64_t v, const uint64_t *units, const char *const *names,
			       const char *none)
{
	size_t i = 0;

	while (units[i] > 1 && v % units[i])
		i++;
	(void)snprintf(a->s, sizeof(a->s), "%" PRIu64 "%s", v / units[i], names[i]);
	return v ? a->s : none;
}

static void print_limits(const struct plan *p, struct buf *out)
{
	static const uint64_t bytes[] = {UINT64_C(1) << 40, 1 << 30, 1 << 20, 1 << 10, 1},
			      ms[] = {86400000, 3600000, 60000, 1000, 1};
	static const char *const byte_names[] = {"T", "G", "M", "K", ""}, *const ms_names[] = {"d", "h", "m", "s",
											       "ms"};
	const struct plan_limits *l = &p->limits;
	struct amount memory, file, scratch, storage, time;
	char cpus[32] = "all";

	if (l->cpu_thousandths)
		(void)snprintf(cpus, sizeof(cpus), "%g", (double)l->cpu_thousandths / 1000);
	(void)buf_printf(out,
			 "\nLimits\n  memory         %s\n  processes      %" PRIu64
			 "\n  cpus           %s\n  time           %s\n",
			 show_amount(&memory, l->memory, bytes, byte_names, "no limit"), l->processes, cpus,
			 show_amount(&time, l->timeout_ms, ms, ms_names, "no limit"));
	(void)buf_printf(out, "  file size      %s\n  scratch space  %s\n",
			 show_amount(&file, l->file_size, bytes, byte_names, "no limit"),
			 show_amount(&scratch, p->tmp_size, bytes, byte_names, "none"));
	if (p->image)
		(void)buf_printf(out, "  storage        %s\n",
				 show_amount(&storage, l->storage, bytes, byte_names, "no limit"));
}

static void print_command(const struct plan *p, struct buf *out)
{
	size_t i;

	(void)buf_str(out, "Command\n  run           ");
	for (i = 0; p->argv[i]; i++) {
		(void)buf_char(out, ' ');
		text_escape(out, sv_of(p->argv[i]), 256);
	}
	(void)buf_str(out, "\n  start in       ");
	text_escape(out, sv_of(p->cwd), PATH_SHOWN);
	if (p->runtime)
		(void)buf_printf(out, "\n  runtime        %s: %s", p->runtime, p->runtime_why ? p->runtime_why : "");
	(void)buf_printf(out, "\n  user id        %u\n  network        %s%s%s\n  variables     ", p->uid,
			 p->network == NET_NONE        ? "none"
			 : p->network == NET_ALLOWLIST ? "the hosts that the policy allows, through the gateway"
						       : "public addresses, through the gateway",
			 p->loopback ? "; a loopback of its own" : ", not even loopback",
			 p->providers ? "; models, through the gateway" : "");
	for (i = 0; p->env[i]; i++) {
		(void)buf_char(out, ' ');
		text_escape(out, sv_n(p->env[i], strcspn(p->env[i], "=")), 256);
	}
	(void)buf_char(out, '\n');
}

bool plan_copies(const struct plan *p, const struct plan_op *op)
{
	return plan_is_container(p) && op->kind == PLAN_BIND && op->host && op->writable;
}

static void print_image(const struct image_root *r, struct buf *out)
{
	struct listing l = {.out = out};
	size_t i;

	(void)buf_str(out, "\nThe root is an image\n  layers, topmost first\n");
	for (i = 0; r->layers[i]; i++) {
		AUTO_BUF word = {0};

		buf_init(&word, 8 * PATH_SHOWN);
		text_escape(&word, sv_of(r->layers[i]), PATH_SHOWN);
		list_word(&l, buf_view(&word));
	}
	list_end(&l);
	(void)buf_printf(out, "  ids            %u\n", r->ids.count);
}

void plan_print(const struct plan *p, struct buf *out)
{
	bool container = plan_is_container(p);

	print_command(p, out);
	print_limits(p, out);
	if (p->image)
		print_image(p->image, out);
	print_ops(p, out);
	print_guards(p, true,
		     container ? "Denied: hidden where they exist, and never brought back where they are made"
			       : "Denied, wherever and whenever they appear",
		     out);
	print_guards(p, false,
		     container ? "May be read, but never written or replaced; never brought back where they are made"
			       : "May be read, but never written, made or replaced, wherever and whenever they appear",
		     out);
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

		digest_num(&h, (uint64_t)op->kind | (uint64_t)op->flags << 8 | (uint64_t)op->writable << 16 |
				       (uint64_t)op->host << 17 | (uint64_t)op->mode << 32);
		digest_str(&h, op->target);
		/* certificates are new in each run */
		digest_str(&h, op->kind == PLAN_FILE && op->size ? NULL : op->source);
	}
	for (i = 0; i < p->n_guards; i++)
		digest_str(&h, p->guards[i].rule);
	for (i = 0; p->argv[i]; i++)
		digest_str(&h, p->argv[i]);
	for (i = 0; p->executables && p->executables[i]; i++)
		digest_str(&h, p->executables[i]);
	digest_str(&h, p->cwd);
	digest_str(&h, p->runtime);
	digest_num(&h, p->uid);
	digest_num(&h, p->image ? p->image->n_groups : 0);
	for (i = 0; p->image && i < p->image->n_groups; i++)
		digest_num(&h, p->image->groups[i]);
	digest_num(&h, p->tmp_size);
	digest_num(&h, l->memory);
	digest_num(&h, l->processes);
	digest_num(&h, l->cpu_thousandths);
	digest_num(&h, l->timeout_ms);
	digest_num(&h, l->file_size);
	digest_num(&h, l->storage);
	for (i = 0; p->image && p->image->layers[i]; i++)
		digest_str(&h, p->image->layers[i]);
	digest_num(&h, (uint64_t)p->loopback | (uint64_t)p->restrict_exec << 1);
	sha256_done(&h, digest);
	sha256_hex(digest, out);
}
