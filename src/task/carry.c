#include "task/carry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/tree.h"
#include "task/carry_child.h"
#include "task/carry_copy.h"
#include "task/carry_link.h"
#include "task/carry_scratch.h"
#include "task/carry_store.h"
#include "task/carry_text.h"

enum { DEPTH_MAX = 256, SCRATCH_NAMED = 8, FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static void report(const struct carry *c, enum carry_rule rule)
{
	c->report(c->report_arg, rule, sv_n(c->at, c->len));
}

/* A git configuration is copied key by key. */
static int copy_git_config(struct carry *c, int from, const char *name, int out)
{
	AUTO_BUF text = {0};
	AUTO_BUF kept = {0};
	bool cut;
	int r;

	buf_init(&text, CARRY_TEXT_MAX);
	buf_init(&kept, 2 * CARRY_TEXT_MAX);
	r = carry_read(from, name, &text);
	if (r == -ENOMEM)
		return carry_fail(c, r);
	if (r == 0)
		carry_git_config(buf_view(&text), &kept, &cut);
	if (r < 0 || cut)
		report(c, CARRY_GIT_CUT);
	r = write_all(out, kept.p ? kept.p : "", kept.n);
	return r < 0 ? carry_fail(c, r) : 0;
}

/* An agent may have taken away its own right to read what it made; without root that is the caller's, too. */
static int open_readable(int from, const char *name, const struct stat *st, int flags)
{
	int fd = openat(from, name, flags);

	if (fd < 0 && errno == EACCES && st->st_uid == geteuid() &&
	    fchmodat(from, name, (st->st_mode & 0777) | 0700, 0) == 0)
		fd = openat(from, name, flags);
	return fd;
}

static int copy_file(struct carry *c, int from, int to, const char *name, const struct stat *st, bool git_config)
{
	AUTO_FD in = open_readable(from, name, st, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	AUTO_FD out = -1;
	if (in < 0)
		return carry_fail(c, errno);
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return carry_fail(c, errno);
	if (st->st_mode & (S_ISUID | S_ISGID))
		report(c, CARRY_SETUID);
	if (!git_config)
		return carry_bytes(c, in, out, st);
	return copy_git_config(c, from, name, out) < 0 ? -1 : carry_facts(c, out, st);
}

struct linked {
	struct linked *next;
	ino_t inode;
	const char *path; /* below the layer */
};

/* A file of several names is copied once: it would take more room than the agent had. Those of one upper folder are of
 * one file system. */
static int copy_once(struct carry *c, int from, int to, const struct entry *e)
{
	struct linked **at = &c->linked[e->st.st_ino % CARRY_LINKED], *l = *at;

	while (l && l->inode != e->st.st_ino)
		l = l->next;
	if (l && linkat(c->to, l->path, to, e->name, 0) == 0)
		return 0;
	if (copy_file(c, from, to, e->name, &e->st, false) < 0)
		return -1;
	if (!l) {
		l = arena_alloc(c->arena, sizeof(*l));
		if (!l)
			return carry_fail(c, ENOMEM);
		l->inode = e->st.st_ino;
		l->next = *at;
		*at = l;
	}
	/* where it had as many names as the file system gives, those that follow are of this copy */
	l->path = arena_str(c->arena, sv_n(c->at + 1, c->len - 1));
	return l->path ? 0 : carry_fail(c, ENOMEM);
}

static int copy_link(struct carry *c, const struct spot *s, int to, const struct entry *e)
{
	struct timespec times[2] = {e->st.st_mtim, e->st.st_mtim};
	char text[PATH_MAX];
	ssize_t n = readlinkat(s->in, e->name, text, sizeof(text) - 1);

	if (n < 0)
		return carry_fail(c, errno);
	text[n] = '\0';
	if (symlinkat(text, to, e->name) < 0 || utimensat(to, e->name, times, AT_SYMLINK_NOFOLLOW) < 0)
		return carry_fail(c, errno);
	if (fchownat(to, e->name, e->st.st_uid, e->st.st_gid, AT_SYMLINK_NOFOLLOW) < 0 &&
	    (errno != EPERM || c->caller == 0))
		return carry_fail(c, errno);
	return carry_link_keep(c, carry_link_same(s, e)) < 0 ? carry_fail(c, ENOMEM) : 0;
}

static int carry_folder(struct carry *c, struct spot *s, int out, unsigned depth);

static bool has_name(const struct spot *s, const char *name)
{
	struct stat st;
	int fd;

	if (fstatat(s->in, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return !is_whiteout(&st);
	layered_stat(&s->image, name, &st, &fd);
	return st.st_mode != 0;
}

/* A bare one needs no name. What worktrees and submodules have of their own has no more than a HEAD: the rest is where
 * commondir says. */
static bool is_repository(const struct spot *s)
{
	return has_name(s, "HEAD") || (has_name(s, "objects") && has_name(s, "refs"));
}

/* Enters a folder that is carried. */
static int copy_folder(struct carry *c, const struct spot *s, int to, const struct entry *e, unsigned depth)
{
	AUTO_FD in = open_readable(s->in, e->name, &e->st, FOLDER);
	AUTO_FD out = -1;
	struct spot child = {.in = in,
			     .zone = carry_zone(c, s, e),
			     .hidden = s->hidden,
			     .hooks = s->git && strcmp(e->name, "hooks") == 0};
	int r;

	if (in < 0 || mkdirat(to, e->name, 0700) < 0 || (out = openat(to, e->name, FOLDER)) < 0)
		return carry_fail(c, errno);
	r = layered_enter(&s->image, e->name, &child.image);
	if (r < 0)
		return carry_fail(c, r);
	carry_store_enter(c, s, e, &child);
	child.git = child.hooks || strcmp(e->name, ".git") == 0 || is_repository(&child);
	r = carry_folder(c, &child, out, depth + 1);
	layered_done(&child.image);
	if (r < 0)
		return -1;
	/* the system's folders and those of scratch files are as the image has them, and all those of a verifier that
	 * has its own */
	return carry_facts(c, out,
			   (child.zone == ZONE_SYSTEM || child.store || c->had.n || carry_scratch_place(c, c->at)) &&
					   S_ISDIR(e->image.st_mode)
				   ? &e->image
				   : &e->st);
}

/* Not carried. Where nothing of the image is seen, its version is put there. */
static int drop(struct carry *c, const struct spot *s, int to, const struct entry *e, enum carry_rule rule)
{
	if (rule != CARRY_SAME)
		report(c, rule);
	if (s->hidden && S_ISREG(e->image.st_mode))
		return copy_file(c, e->image_fd, to, e->name, &e->image, false);
	return 0;
}

static int carry_entry(struct carry *c, const struct spot *s, int to, const char *name, unsigned depth)
{
	struct entry e = {.name = name};
	enum carry_rule rule;

	if (fstatat(s->in, name, &e.st, AT_SYMLINK_NOFOLLOW) < 0)
		return carry_fail(c, errno);
	layered_stat(&s->image, name, &e.image, &e.image_fd);
	rule = depth >= DEPTH_MAX ? CARRY_DEEP : carry_judge(c, s, &e);
	if (rule != CARRY_KEEP && rule != CARRY_GIT_CUT)
		return drop(c, s, to, &e, rule);
	if (S_ISREG(e.st.st_mode) && e.st.st_nlink > 1 && rule == CARRY_KEEP)
		return copy_once(c, s->in, to, &e);
	if (S_ISREG(e.st.st_mode))
		return copy_file(c, s->in, to, name, &e.st, rule == CARRY_GIT_CUT);
	if (S_ISLNK(e.st.st_mode))
		return copy_link(c, s, to, &e);
	if (S_ISDIR(e.st.st_mode))
		return copy_folder(c, s, to, &e, depth);
	if (s->hidden || e.image.st_mode == 0)
		return 0; /* there is nothing to take away */
	return mknodat(to, name, S_IFCHR, 0) < 0 ? carry_fail(c, errno) : 0;
}

/* fn(c, s, to, name, depth) with the name's path as the one at hand. */
typedef int entry_fn(struct carry *c, const struct spot *s, int to, const char *name, unsigned depth);

static int at_path(entry_fn *fn, struct carry *c, const struct spot *s, int to, const char *name, unsigned depth)
{
	size_t len = c->len, n = strlen(name);
	int r;

	if (len + n + 2 > sizeof(c->at)) {
		report(c, CARRY_DEEP);
		return 0;
	}
	c->at[c->len++] = '/';
	memcpy(c->at + c->len, name, n + 1);
	c->len += n;
	r = fn(c, s, to, name, depth);
	c->at[c->len = len] = '\0';
	return r;
}

/* A name of the image's in a folder that the agent made anew: as if it had been deleted. */
static int restore_entry(struct carry *c, const struct spot *s, int to, const char *name, unsigned depth)
{
	struct entry e = {.name = name, .st.st_mode = S_IFCHR};
	struct stat st;

	(void)depth;
	layered_stat(&s->image, name, &e.image, &e.image_fd);
	if (!S_ISREG(e.image.st_mode) || fstatat(s->in, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return carry_judge(c, s, &e) == CARRY_KEEP ? 0 : drop(c, s, to, &e, CARRY_SAME);
}

struct restoring {
	struct carry *c;
	const struct spot *s;
	int to, r;
};

static bool restore_name(void *arg, const char *name)
{
	struct restoring *w = arg;

	w->r = at_path(restore_entry, w->c, w->s, w->to, name, 0);
	return w->r == 0;
}

/* Opaque: the agent made the folder anew. The system's are never taken away as a whole. */
static int make_opaque(struct carry *c, struct spot *s, int out)
{
	bool top = c->len == 0 || strchr(c->at + 1, '/') == NULL;

	if (s->zone == ZONE_SYSTEM || s->store || (top && s->zone != ZONE_WORK)) {
		report(c, CARRY_DELETES);
		return 0;
	}
	s->hidden = true;
	return fsetxattr(out, "user.overlay.opaque", "y", 1, 0) < 0 ? carry_fail(c, errno) : 0;
}

static int carry_entries(struct carry *c, const struct spot *s, int out, unsigned depth)
{
	DIR *d = sys_list(s->in);
	struct dirent *e;
	int r = 0;

	if (!d)
		return carry_fail(c, errno);
	while (r == 0 && (errno = 0, e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = at_path(carry_entry, c, s, out, e->d_name, depth);
	if (r == 0 && errno)
		r = carry_fail(c, errno);
	(void)closedir(d);
	return r;
}

static int carry_folder(struct carry *c, struct spot *s, int out, unsigned depth)
{
	struct restoring w = {.c = c, .s = s, .to = out};
	int r;

	if (s->image.n && is_opaque(s->in) && make_opaque(c, s, out) < 0)
		return -1;
	if (carry_entries(c, s, out, depth) < 0)
		return -1;
	if (!s->hidden)
		return 0;
	r = layered_names(&s->image, restore_name, &w);
	return r < 0 ? carry_fail(c, r) : w.r;
}

static int carry_root(struct carry *c, int to)
{
	struct spot top = {.in = c->req->upper, .image = c->root};
	struct stat st;
	int r = carry_judge_init(c);

	if (r < 0)
		return carry_fail(c, r);
	if (c->root.n == 0)
		return error_set(c->err, ERROR_SYSTEM, "an image without layers");
	if (fstat(c->root.fds[0], &st) < 0)
		return carry_fail(c, errno);
	if (c->req->tests && c->req->tests->cut)
		c->report(c->report_arg, CARRY_TESTS_CUT, sv_of("/tests"));
	top.git = is_repository(&top);
	c->to = to;
	if (carry_folder(c, &top, to, 0) < 0)
		return -1;
	return carry_links_again(c) < 0 ? -1 : carry_facts(c, to, &st);
}

/* Who hears of what is not carried. Of scratch files there can be thousands: they are told of together. */
struct teller {
	const struct carry_request *req;
	size_t n;	  /* of scratch files */
	char first[1024]; /* of them, by name */
};

static void tell(void *arg, enum carry_rule rule, struct sv path)
{
	struct teller *to = arg;
	struct text_shown t;
	const char *shown = text_show(&t, path);
	size_t used = strlen(to->first);

	if (rule != CARRY_SCRATCH) {
		to->req->report(to->req->arg, carry_texts[rule].rule, shown, carry_texts[rule].message);
		return;
	}
	to->n++;
	if (to->n <= SCRATCH_NAMED && used + strlen(shown) + 3 < sizeof(to->first))
		(void)snprintf(to->first + used, sizeof(to->first) - used, "%s%s", used ? ", " : "", shown);
}

static int tell_scratch(struct carry *c, struct teller *to)
{
	const struct carry_text *is = &carry_texts[CARRY_SCRATCH];
	const char *all = to->n ? arena_printf(c->arena, "%zu %s: %s%s", to->n, is->message, to->first,
					       to->n > SCRATCH_NAMED ? " ..." : "")
				: "";

	if (!all)
		return carry_fail(c, ENOMEM);
	if (to->n)
		to->req->report(to->req->arg, is->rule, "/tmp", all);
	return 0;
}

int carry_changes(const struct carry_request *req, int to, struct error *err)
{
	struct carry_request own = *req;
	struct teller teller = {.req = &own};
	AUTO_FREE struct carry *c = calloc(1, sizeof(*c));
	int r;

	if (!c || !(c->arena = arena_new()))
		return error_sys(err, ENOMEM, "carrying changes to the verifier");
	c->req = &own;
	c->err = err;
	c->report = tell;
	c->report_arg = &teller;
	c->caller = geteuid();
	r = layered_open(&c->root, req->layers);
	if (r == 0 && req->had)
		r = layered_open(&c->had, req->had);
	if (r < 0)
		(void)error_sys(err, r, "the image's layers");
	else
		r = req->ids ? carry_in_child(c, to, carry_root) : carry_root(c, to);
	r = r < 0 ? r : tell_scratch(c, &teller);
	layered_done(&c->had);
	layered_done(&c->root);
	arena_free(c->arena);
	return r;
}
