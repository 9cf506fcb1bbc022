#include "cli/verb_image.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "image/import.h"

enum { OUTPUT_MAX = 64 << 20, PROGRESS_MS = 100, SHORT_ID = 12 };

const struct option verb_image_import_options[] = {
	{"quiet", 'q', NULL, NULL, "Say nothing of how far it is, nor of what was left out.", 0},
	{0},
};
const struct option verb_image_ls_options[] = {CLI_OPTION_JSON, {0}};
const struct option verb_image_inspect_options[] = {CLI_OPTION_JSON, {0}};
const struct option verb_image_prune_options[] = {
	{"dry-run", 'n', NULL, NULL, "Only say what would be removed.", 0},
	CLI_OPTION_JSON,
	{0},
};

static void put_size(struct buf *out, uint64_t bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	double v = (double)bytes;
	size_t u = 0;

	while (v >= 1000 && u < 4) {
		v /= 1000;
		u++;
	}
	(void)buf_printf(out, u && v < 10 ? "%.1f %s" : "%.0f %s", v, units[u]);
}

static void put_names(struct json *j, const char *key, char *const *v)
{
	json_key(j, key);
	json_list(j);
	for (; *v; v++)
		json_str(j, *v);
	json_end(j);
}

/* ---- import ---- */

struct display {
	struct call *call;
	bool live; /* somebody looks at a terminal */
	bool shown, quiet;
	struct timespec last;
};

static void clear_line(struct display *d)
{
	if (d->shown)
		(void)!write(STDERR_FILENO, "\r\033[K", 4);
	d->shown = false;
}

static void show_progress(void *arg, const char *what, uint64_t done, uint64_t all)
{
	struct display *d = arg;
	struct timespec now;
	AUTO_BUF line = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (!d->live || (now.tv_sec - d->last.tv_sec) * 1000 + (now.tv_nsec - d->last.tv_nsec) / 1000000 < PROGRESS_MS)
		return;
	d->last = now;
	buf_init(&line, 256);
	(void)buf_printf(&line, "\r\033[Kcordon: unpacking %s: ", what);
	put_size(&line, done);
	if (all) {
		(void)buf_str(&line, " of ");
		put_size(&line, all);
		(void)buf_printf(&line, " (%u %%)", (unsigned)(done >= all ? 100 : done * 100 / all));
	}
	d->shown = true;
	(void)!write(STDERR_FILENO, line.p, line.n);
}

static void show_note(void *arg, const char *text)
{
	struct display *d = arg;

	clear_line(d);
	if (!d->quiet)
		call_note(d->call, "%s", text);
}

int verb_image_import(struct call *call, struct error *err)
{
	struct display d = {.call = call, .quiet = call_has(call, "quiet")};
	struct image_import im = {.name = call->args[0],
				  .path = call->args[1],
				  .input = STDIN_FILENO,
				  .progress = show_progress,
				  .note = show_note,
				  .arg = &d};
	char digest[IMAGE_DIGEST];
	struct text_shown shown;
	struct image_store *s;
	int r;

	d.live = !d.quiet && isatty(STDERR_FILENO);
	(void)clock_gettime(CLOCK_MONOTONIC, &d.last);
	if (image_store_open(&s, err) < 0)
		return -1;
	r = image_import(s, &im, digest, err);
	clear_line(&d);
	image_store_close(s);
	if (r < 0)
		return error_prefix(err, "import: %.200s",
				    strcmp(im.path, "-") == 0 ? "standard input" : text_show(&shown, sv_of(im.path)));
	(void)fprintf(call->out, "%s\n", digest);
	return 0;
}

/* ---- ls ---- */

/* A line or, with --json, an object, and what it is sorted by. */
struct row {
	char *key, *text;
};

struct listing {
	struct row *rows;
	size_t n, cap;
	bool as_json;
};

/* By name; those without one last. */
static int by_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (!*x->key != !*y->key)
		return *x->key ? -1 : 1;
	return *x->key ? strcmp(x->key, y->key) : strcmp(x->text, y->text);
}

static int add_row(struct listing *l, const char *key, const struct buf *text)
{
	struct row *more;

	if (l->n == l->cap) {
		more = reallocarray(l->rows, l->cap ? 2 * l->cap : 64, sizeof(*more));
		if (!more)
			return -1;
		l->rows = more;
		l->cap = l->cap ? 2 * l->cap : 64;
	}
	l->rows[l->n] = (struct row){strdup(key), buf_failed(text) ? NULL : strndup(text->p, text->n)};
	if (!l->rows[l->n].key || !l->rows[l->n].text) {
		free(l->rows[l->n].key);
		free(l->rows[l->n].text);
		return -1;
	}
	l->n++;
	return 0;
}

static void put_date(struct buf *out, int64_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;
	char text[32] = "?";

	if (localtime_r(&t, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm);
	(void)buf_str(out, text);
}

static int list_text(struct listing *l, const struct image *i)
{
	char shorter[IMAGE_NAME_MAX + 1] = "";
	char *const *name = i->names;
	AUTO_BUF line = {0};

	buf_init(&line, 4096);
	do {
		if (*name)
			image_name_short(*name, shorter);
		/* the name by digest that an import adds is for FROM, not for the eye */
		if (*name && strchr(shorter, '@') && (name > i->names || name[1]))
			continue;
		buf_clear(&line);
		(void)buf_printf(&line, "%-40s %.*s %6zu ", *shorter ? shorter : "-", SHORT_ID, i->digest + 7,
				 i->n_layers);
		put_date(&line, i->created);
		(void)buf_str(&line, "  ");
		put_size(&line, i->bytes);
		(void)buf_char(&line, '\n');
		if (add_row(l, shorter, &line) < 0)
			return -1;
	} while (*name && *++name);
	return 0;
}

static void put_image(struct json *j, const struct image *i)
{
	json_open(j);
	json_kstr(j, "digest", i->digest);
	put_names(j, "names", i->names);
	put_names(j, "layers", i->layer_digests);
	json_key(j, "bytes");
	json_uint(j, i->bytes);
	json_kint(j, "created", i->created);
}

static int list_json(struct listing *l, const struct image *i)
{
	AUTO_BUF text = {0};
	struct json j;

	buf_init(&text, OUTPUT_MAX);
	json_init(&j, &text);
	put_image(&j, i);
	json_close(&j);
	return add_row(l, i->names[0] ? i->names[0] : "", &text);
}

static int list_one(void *arg, struct image *i)
{
	struct listing *l = arg;

	return l->as_json ? list_json(l, i) : list_text(l, i);
}

static void put_rows(const struct listing *l, struct buf *out)
{
	struct json j;
	size_t i;

	json_init(&j, out);
	if (l->as_json)
		json_list(&j);
	else
		(void)buf_printf(out, "%-40s %-*s LAYERS %-16s  SIZE\n", "NAME", SHORT_ID, "IMAGE", "ADDED");
	for (i = 0; i < l->n; i++)
		if (l->as_json)
			json_raw(&j, sv_of(l->rows[i].text));
		else
			(void)buf_str(out, l->rows[i].text);
	if (l->as_json) {
		json_end(&j);
		(void)buf_char(out, '\n');
	}
}

int verb_image_ls(struct call *call, struct error *err)
{
	struct listing l = {.as_json = call_has(call, "json")};
	struct image_store *s;
	AUTO_BUF out = {0};
	size_t i;
	int r;

	if (image_store_open(&s, err) < 0)
		return -1;
	r = image_each(s, list_one, &l, err);
	if (r < 0 && !err->kind)
		(void)error_set(err, ERROR_SYSTEM, "out of memory");
	image_store_close(s);
	if (l.n)
		qsort(l.rows, l.n, sizeof(*l.rows), by_name);
	buf_init(&out, OUTPUT_MAX);
	put_rows(&l, &out);
	for (i = 0; i < l.n; i++) {
		free(l.rows[i].key);
		free(l.rows[i].text);
	}
	free(l.rows);
	return r < 0 ? -1 : cli_print(call, &out, err);
}

/* ---- rm ---- */

int verb_image_rm(struct call *call, struct error *err)
{
	struct error first = {0};
	struct image_store *s;
	uint64_t freed, all = 0;
	AUTO_BUF size = {0};
	int i, r = 0;

	if (image_store_open(&s, err) < 0)
		return -1;
	/* one that cannot be removed does not keep the others */
	for (i = 0; i < call->n_args; i++) {
		freed = 0;
		if (image_remove(s, call->args[i], &freed, err) < 0) {
			if (r < 0)
				call_note(call, "%s", first.text);
			first = *err;
			r = -1;
		}
		all += freed;
	}
	image_store_close(s);
	buf_init(&size, 64);
	put_size(&size, all);
	if (all)
		call_note(call, "%s freed", size.p);
	*err = first;
	return r;
}

/* ---- prune ---- */

struct pruning {
	bool as_json;
	struct buf out;
	struct json json;
	uint64_t bytes;
	size_t n;
};

static void tell_layer(void *arg, const char *digest, uint64_t bytes)
{
	struct pruning *p = arg;

	p->bytes += bytes;
	p->n++;
	if (p->as_json) {
		json_open(&p->json);
		json_kstr(&p->json, "digest", digest);
		json_key(&p->json, "bytes");
		json_uint(&p->json, bytes);
		json_close(&p->json);
		return;
	}
	(void)buf_printf(&p->out, "%.*s  ", SHORT_ID, digest + 7);
	put_size(&p->out, bytes);
	(void)buf_char(&p->out, '\n');
}

int verb_image_prune(struct call *call, struct error *err)
{
	struct pruning p = {.as_json = call_has(call, "json")};
	struct image_prune how = {.look = call_has(call, "dry-run"), .tell = tell_layer, .arg = &p};
	struct image_store *s;
	AUTO_BUF size = {0};
	int r;

	if (image_store_open(&s, err) < 0)
		return -1;
	buf_init(&p.out, OUTPUT_MAX);
	json_init(&p.json, &p.out);
	if (p.as_json) {
		json_open(&p.json);
		json_kbool(&p.json, "dry_run", how.look);
		json_key(&p.json, "layers");
		json_list(&p.json);
	}
	r = image_prune(s, &how, err);
	image_store_close(s);
	if (p.as_json) {
		json_end(&p.json);
		json_key(&p.json, "bytes");
		json_uint(&p.json, p.bytes);
		json_close(&p.json);
		(void)buf_char(&p.out, '\n');
	}
	if (r == 0)
		r = cli_print(call, &p.out, err);
	buf_done(&p.out);
	buf_init(&size, 64);
	put_size(&size, p.bytes);
	if (r == 0)
		call_note(call, "%zu layer%s, %s %s", p.n, p.n == 1 ? "" : "s", size.p,
			  how.look ? "would be freed" : "freed");
	return r;
}

/* ---- inspect ---- */

static void put_strings(struct json *j, const char *key, const char *const *v)
{
	json_key(j, key);
	if (!v) {
		json_none(j);
		return;
	}
	json_list(j);
	for (; *v; v++)
		json_str(j, *v);
	json_end(j);
}

static void inspect_json(struct buf *out, const struct image *i)
{
	const struct image_config *c = &i->config;
	struct json j;

	json_init(&j, out);
	put_image(&j, i);
	put_names(&j, "paths", i->layers);
	json_key(&j, "config");
	json_open(&j);
	put_strings(&j, "env", c->env);
	put_strings(&j, "entrypoint", c->entrypoint);
	put_strings(&j, "command", c->command);
	put_strings(&j, "shell", c->shell);
	put_strings(&j, "on_build", c->on_build);
	json_kstr(&j, "workdir", c->workdir);
	json_kstr(&j, "user", c->user);
	json_close(&j);
	json_key(&j, "ids");
	json_open(&j);
	json_kint(&j, "count", i->ids.count);
	json_kint(&j, "zero_uid", i->ids.zero_uid);
	json_kint(&j, "first_uid", i->ids.first_uid);
	json_kint(&j, "zero_gid", i->ids.zero_gid);
	json_kint(&j, "first_gid", i->ids.first_gid);
	json_close(&j);
	json_close(&j);
	(void)buf_char(out, '\n');
}

static void put_words(struct buf *out, const char *label, const char *const *v)
{
	if (!v || !*v)
		return;
	(void)buf_printf(out, "%-12s", label);
	for (; *v; v++) {
		(void)buf_char(out, ' ');
		text_escape(out, sv_of(*v), 400);
	}
	(void)buf_char(out, '\n');
}

static void inspect_text(struct buf *out, const struct image *i)
{
	const struct image_config *c = &i->config;
	const char *user[] = {c->user, NULL}, *workdir[] = {c->workdir, NULL};
	char *const *v;
	size_t k;

	(void)buf_printf(out, "%-12s %s\n", "image", i->digest);
	for (v = i->names; *v; v++)
		(void)buf_printf(out, "%-12s %s\n", "name", *v);
	(void)buf_printf(out, "%-12s ", "size");
	put_size(out, i->bytes);
	(void)buf_printf(out, "\n%-12s ", "added");
	put_date(out, i->created);
	(void)buf_char(out, '\n');
	put_words(out, "user", c->user[0] ? user : NULL);
	put_words(out, "workdir", workdir);
	put_words(out, "entrypoint", c->entrypoint);
	put_words(out, "command", c->command);
	put_words(out, "shell", c->shell);
	put_words(out, "onbuild", c->on_build);
	for (k = 0; c->env[k]; k++) {
		const char *one[] = {c->env[k], NULL};

		put_words(out, "env", one);
	}
	for (v = i->layers; *v; v++)
		(void)buf_printf(out, "%-12s %s\n", "layer", *v);
}

int verb_image_inspect(struct call *call, struct error *err)
{
	struct image_store *s;
	struct image i;
	AUTO_BUF out = {0};

	if (image_store_open(&s, err) < 0)
		return -1;
	if (image_find(s, call->args[0], &i, err) < 0) {
		image_store_close(s);
		return -1;
	}
	buf_init(&out, OUTPUT_MAX);
	if (call_has(call, "json"))
		inspect_json(&out, &i);
	else
		inspect_text(&out, &i);
	image_done(&i);
	image_store_close(s);
	return cli_print(call, &out, err);
}
