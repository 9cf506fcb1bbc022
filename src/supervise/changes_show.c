#include "supervise/changes_show.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "supervise/textdiff.h"
#include "sys/beneath.h"

static void add_escaped(struct buf *b, const char *s)
{
	text_escape(b, sv_of(s), SIZE_MAX);
}

static void add_line(struct buf *b, const struct change *c)
{
	bool folder =
		c->after.type == CHANGE_FOLDER || (c->after.type == CHANGE_NONE && c->before.type == CHANGE_FOLDER);

	(void)buf_printf(b, "%-13s", change_kind_names[c->kind]);
	add_escaped(b, c->path);
	if (folder)
		(void)buf_char(b, '/');
	if (c->after.type == CHANGE_LINK) {
		(void)buf_str(b, " -> ");
		add_escaped(b, c->after.target);
	}
	if (c->kind == CHANGE_TYPE)
		(void)buf_printf(b, "  (%s, was a %s)", change_type_names[c->after.type],
				 change_type_names[c->before.type]);
	else if (c->before.type != CHANGE_NONE && c->after.type != CHANGE_NONE && c->after.type != CHANGE_LINK &&
		 c->before.mode != c->after.mode)
		(void)buf_printf(b, "  (mode %04o, was %04o)", c->after.mode, c->before.mode);
	if (c->refused)
		(void)buf_printf(b, "  REFUSED: %s", c->refused);
	(void)buf_char(b, '\n');
}

static int print_line(const struct change *c, FILE *out, struct error *err)
{
	AUTO_BUF b = {0};

	buf_init(&b, 1 << 20); /* a line has two paths at most, four bytes for each of theirs */
	add_line(&b, c);
	if (buf_failed(&b))
		return error_sys(err, buf_failed(&b), "list of changes");
	(void)fwrite(b.p, 1, b.n, out);
	return 0;
}

int changes_print_list(const struct changes *c, FILE *out, struct error *err)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (print_line(&c->v[i], out, err) < 0)
			return -1;
	return 0;
}

int changes_print_refused(const struct changes *c, FILE *out, struct error *err)
{
	size_t i, n = 0;

	for (i = 0; i < c->n; i++) {
		if (!c->v[i].refused || !c->v[i].own)
			continue;
		if (n++ < CHANGES_REFUSED_SAID && print_line(&c->v[i], out, err) < 0)
			return -1;
	}
	if (n > CHANGES_REFUSED_SAID)
		(void)fprintf(out, "... and %zu more that are refused\n", n - CHANGES_REFUSED_SAID);
	return 0;
}

struct diff {
	const struct changes_diff_options *options;
	uint64_t left; /* bytes that may still be read */
	uint64_t work; /* steps that may still be taken to compare; then what differs is shown whole */
};

static bool is_seen(int fd, const struct change_side *seen)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == seen->dev && st.st_ino == seen->ino &&
	       (uint64_t)st.st_size == seen->size;
}

static int read_file(int root, const char *path, const struct change_side *side, struct buf *into)
{
	AUTO_FD fd = sys_open_beneath(root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);

	if (fd < 0)
		return fd;
	return is_seen(fd, side) ? buf_read_fd(into, fd) : -ESTALE;
}

/* One side of a change as textdiff wants it. What is no file or link is nothing. */
static int fill_side(struct diff *d, int root, const struct change *c, const struct change_side *side, struct buf *into,
		     struct textdiff_side *ret)
{
	uint64_t max = d->options->max_file ? d->options->max_file : CHANGES_DIFF_FILE;
	int r;

	*ret = (struct textdiff_side){.text = sv_of(""), .size = side->size};
	if (side->type == CHANGE_LINK) {
		ret->mode = S_IFLNK;
		ret->text = sv_of(side->target);
	}
	if (side->type != CHANGE_FILE)
		return 0;
	ret->mode = S_IFREG | (side->mode & S_IXUSR ? 0755 : 0644); /* git knows no others */
	if (c->kind == CHANGE_MODE)
		return 0;
	if (side->size > max || side->size > d->left) {
		ret->text = (struct sv){0};
		return 0;
	}
	buf_init(into, max);
	r = read_file(root, c->path, side, into);
	d->left -= side->size;
	ret->text = buf_view(into);
	return r;
}

static int print_change(struct diff *d, const struct change *c, int lower_fd, int upper_fd, FILE *out)
{
	struct textdiff_style style = {.escape = d->options->escape, .left = &d->work};
	struct textdiff_side before, after;
	AUTO_BUF old = {0};
	AUTO_BUF new = {0};
	int r = fill_side(d, lower_fd, c, &c->before, &old, &before);

	if (r == 0)
		r = fill_side(d, upper_fd, c, &c->after, &new, &after);
	if (r == 0 && (before.mode || after.mode))
		r = textdiff_print(out, c->path, &before, &after, &style);
	return r;
}

int changes_print_diff(const struct changes *c, int lower_fd, int upper_fd, const struct changes_diff_options *options,
		       FILE *out, struct error *err)
{
	struct diff d = {.options = options,
			 .left = options->max_total ? options->max_total : CHANGES_DIFF_TOTAL,
			 .work = UINT64_C(10) * TEXTDIFF_WORK};
	struct text_shown shown;
	size_t i;
	int r;

	for (i = 0; i < c->n; i++) {
		if (c->v[i].refused && !options->refused)
			continue;
		r = print_change(&d, &c->v[i], lower_fd, upper_fd, out);
		/* What cannot be read was refused for that; the list says so. */
		if (r < 0 && !(r == -EACCES && c->v[i].refused))
			return r == -ESTALE ? error_set(err, ERROR_DENIED,
							"%s changed while it was looked at; is the run still going?",
							text_show(&shown, sv_of(c->v[i].path)))
					    : error_sys(err, r, "read %s", text_show(&shown, sv_of(c->v[i].path)));
	}
	return 0;
}
