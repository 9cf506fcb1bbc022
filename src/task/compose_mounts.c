/* volumes and tmpfs of a service. */
#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "task/compose_read.h"

static const struct compose_want_number tmpfs_size = {4096, UINT64_C(64) << 30, "between 4k and 64g"};

/* "/app/" is "/app". NULL: refused. */
static const char *read_target(struct compose_reader *r, const struct ynode *n, const char *text)
{
	struct text_shown shown;
	AUTO_BUF out = {0};
	const char *p = text;

	buf_init(&out, 4096);
	while (*p) {
		size_t part = strcspn(p, "/");

		if (part && !(part == 1 && *p == '.')) {
			(void)buf_char(&out, '/');
			(void)buf_add(&out, p, part);
		}
		p += part + (p[part] == '/');
	}
	if (text[0] == '/' && out.n && !buf_failed(&out) && compose_is_target(out.p))
		return arena_str(r->arena, buf_view(&out));
	compose_refuse(r, n,
		       "\"%.200s\" is no place for a folder inside; write an absolute path that is not the system's",
		       text_show(&shown, sv_of(text)));
	return NULL;
}

/*
 * A folder of the runner's: true, and the mount has it, or NULL for its source. Only as a whole: services write there,
 * and what they write could be a link by the time the engine follows the path of a part of it.
 */
static bool is_runner(struct compose_reader *r, const struct ynode *n, const char *source, struct compose_mount *m)
{
	size_t i;

	if (strncmp(source, COMPOSE_STAND_IN, strlen(COMPOSE_STAND_IN)) != 0)
		return false;
	source += strlen(COMPOSE_STAND_IN);
	for (i = 0; i < COMPOSE_FOLDERS; i++) {
		const char *rest = path_rest(source, compose_folder_names[i]);

		if (!rest)
			continue;
		m->kind = COMPOSE_MOUNT_RUNNER;
		m->folder = i;
		m->source = rest[strspn(rest, "/")] ? NULL : ".";
		if (!m->source)
			compose_refuse(r, n, "a part of a folder that services write to; mount the whole of it");
		return true;
	}
	return false;
}

static bool read_bind(struct compose_reader *r, const struct ynode *n, const char *source, struct compose_mount *m)
{
	const char *why = NULL;

	if (is_runner(r, n, source, m))
		return m->source != NULL;
	m->kind = COMPOSE_MOUNT_TASK;
	m->source = compose_inside(r->arena, source, &why);
	if (m->source)
		return true;
	if (strstr(source, "docker.sock") || strstr(source, "containerd.sock") || strstr(source, "podman.sock"))
		why = "the engine's socket, which is power over the host";
	compose_refuse(r, n, "%s", why);
	return false;
}

static bool read_volume(struct compose_reader *r, const struct ynode *n, const char *source, struct compose_mount *m)
{
	struct text_shown shown;

	m->kind = COMPOSE_MOUNT_VOLUME;
	m->source = source;
	if (!source[0] || (compose_is_name(source) && r->volumes && compose_key(r->volumes, source)))
		return true;
	compose_refuse(r, n, "there is no volume \"%.200s\" under volumes; name it there, or write ./ before a path",
		       text_show(&shown, sv_of(source)));
	return false;
}

static bool read_source(struct compose_reader *r, const struct ynode *n, const char *source, struct compose_mount *m)
{
	if (source[0] == '.' || source[0] == '/' || source[0] == '~' || strchr(source, '\\') ||
	    (source[0] && source[1] == ':'))
		return read_bind(r, n, source, m);
	return read_volume(r, n, source, m);
}

static void add_mount(struct compose_reader *r, const struct ynode *n, struct compose_mounts *to,
		      const struct compose_mount *m)
{
	struct compose_mount *at;
	uint32_t i;

	for (i = 0; i < to->n; i++)
		if (strcmp(to->v[i].target, m->target) == 0) {
			struct text_shown shown;

			compose_refuse(r, n, "%.200s is mounted twice", text_show(&shown, sv_of(m->target)));
			return;
		}
	at = compose_add(r, n, to, sizeof(*at));
	if (at) {
		*at = *m;
		at->line = n->line;
	}
}

/* "ro", "rw", and marks that only SELinux and Macs heed. */
static bool read_modes(struct compose_reader *r, const struct ynode *n, const char *modes, struct compose_mount *m)
{
	static const char *const idle[] = {"rw", "z", "Z", "cached", "delegated", "consistent"};
	struct text_shown shown;
	size_t i;

	while (*modes) {
		struct sv mode = sv_n(modes, strcspn(modes, ","));

		for (i = 0; i < ARRAY_LEN(idle) && !sv_is(mode, idle[i]); i++)
			;
		if (sv_is(mode, "ro")) {
			m->read_only = true;
		} else if (i == ARRAY_LEN(idle)) {
			compose_refuse(r, n, "mode \"%.100s\" cannot be had here; ro and rw can",
				       text_show(&shown, mode));
			return false;
		}
		modes += mode.n + (modes[mode.n] == ',');
	}
	return true;
}

enum { MOUNT_PARTS = 3 };

/* Splits at colons. The number of parts; 0: too many, or a path of Windows. */
static unsigned split(struct compose_reader *r, const char *text, const char *parts[MOUNT_PARTS])
{
	unsigned n = 0;

	for (;;) {
		size_t len = strcspn(text, ":");

		if (n == MOUNT_PARTS)
			return 0;
		parts[n++] = arena_str(r->arena, sv_n(text, len));
		if (!parts[n - 1])
			return 0;
		if (!text[len])
			return n;
		text += len + 1;
	}
}

static void read_short(struct compose_reader *r, const struct ynode *n, struct compose_mounts *to)
{
	const char *text = compose_scalar(r, n), *parts[MOUNT_PARTS];
	struct compose_mount m = {.source = ""};
	unsigned count;

	if (!text)
		return;
	count = split(r, text, parts);
	if (count == 0 || (count > 1 && !parts[0][0])) {
		compose_refuse(r, n, "not SOURCE:TARGET or SOURCE:TARGET:ro");
		return;
	}
	if (!read_source(r, n, count == 1 ? "" : parts[0], &m))
		return;
	m.target = read_target(r, n, parts[count == 1 ? 0 : 1]);
	if (m.target && (count < 3 || read_modes(r, n, parts[2], &m)))
		add_mount(r, n, to, &m);
}

struct long_mount {
	const char *type, *source, *target;
	bool read_only;
	uint64_t size, mode;
};

static void read_octal(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const char *text = compose_scalar(r, n), *digits;

	(void)arg;
	if (!text)
		return;
	digits = strncmp(text, "0o", 2) == 0 ? text + 2 : text;
	if (text[0] == '0' && digits[0] && strlen(digits) <= 5 && !digits[strspn(digits, "01234567")] &&
	    strtoul(digits, NULL, 8) <= 01777)
		*(uint64_t *)to = strtoul(digits, NULL, 8);
	else
		compose_refuse(r, n, "not a mode; write 0755");
}

static const char *const propagations[] = {"rprivate", "private", NULL};
static const struct compose_row bind_rows[] = {
	{"create_host_path", compose_read_pass, 0, NULL, NULL},
	{"selinux", compose_read_pass, 0, NULL, NULL},
	{"propagation", compose_read_word, 0, propagations, NULL},
	{"recursive", NULL, 0, NULL, "cannot be honoured on every runtime"},
	{0},
};
static const struct compose_row volume_rows[] = {
	{"labels", compose_read_pass, 0, NULL, "not passed on: nothing inside can see it"},
	{"nocopy", compose_read_never, 0, "cannot be honoured on every runtime", NULL},
	{"subpath", NULL, 0, NULL, "cannot be honoured on every runtime"},
	{0},
};
static const struct compose_row tmpfs_rows[] = {
	{"size", compose_read_size, offsetof(struct long_mount, size), &tmpfs_size, NULL},
	{"mode", read_octal, offsetof(struct long_mount, mode), NULL, NULL},
	{0},
};
static const struct compose_want_text any_text = {compose_is_line, "text of one line"};
static const struct compose_row long_rows[] = {
	{"type", compose_read_text, offsetof(struct long_mount, type), &any_text, NULL},
	{"source", compose_read_text, offsetof(struct long_mount, source), &any_text, NULL},
	{"target", compose_read_text, offsetof(struct long_mount, target), &any_text, NULL},
	{"read_only", compose_read_flag, offsetof(struct long_mount, read_only), NULL, NULL},
	{"consistency", compose_read_pass, 0, NULL, NULL},
	{"bind", compose_read_keys, 0, bind_rows, NULL},
	{"volume", compose_read_keys, 0, volume_rows, NULL},
	{"tmpfs", compose_read_keys, 0, tmpfs_rows, NULL},
	{"image", NULL, 0, NULL, "cannot be honoured on every runtime"},
	{0},
};

static void read_long(struct compose_reader *r, const struct ynode *n, struct compose_mounts *to)
{
	struct long_mount l = {.type = "", .source = "", .target = ""};
	struct compose_mount m = {.source = ""};
	struct text_shown shown;
	bool fine;

	compose_keys(r, n, &l, long_rows);
	if (strcmp(l.type, "bind") == 0) {
		fine = read_bind(r, n, l.source, &m);
	} else if (strcmp(l.type, "volume") == 0) {
		fine = read_volume(r, n, l.source, &m);
	} else if (strcmp(l.type, "tmpfs") == 0) {
		m = (struct compose_mount){.kind = COMPOSE_MOUNT_TMPFS, .source = "", .size = l.size, .mode = l.mode};
		fine = !l.source[0];
		if (!fine)
			compose_refuse(r, n, "a tmpfs has no source");
	} else {
		compose_refuse(r, n, "type \"%.100s\" cannot be had here; bind, volume and tmpfs can",
			       text_show(&shown, sv_of(l.type)));
		return;
	}
	m.read_only = l.read_only;
	m.target = fine ? read_target(r, n, l.target) : NULL;
	if (m.target)
		add_mount(r, n, to, &m);
}

static void each(struct compose_reader *r, const struct ynode *n,
		 void (*read)(struct compose_reader *, const struct ynode *, struct compose_mounts *),
		 struct compose_mounts *to)
{
	const struct ynode *item;
	uint32_t i = 0;

	for (item = n->first; item; item = item->next) {
		compose_enter_item(r, i++);
		read(r, item, to);
		compose_leave(r);
	}
}

static void read_either(struct compose_reader *r, const struct ynode *n, struct compose_mounts *to)
{
	if (n->kind == YNODE_MAP)
		read_long(r, n, to);
	else
		read_short(r, n, to);
}

void compose_read_mounts(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)arg;
	if (!compose_is_null(n) && compose_want(r, n, YNODE_LIST))
		each(r, n, read_either, to);
}

/* One of "size=100M", "mode=755", and marks that hold anyway or change nothing; noexec is told elsewhere. */
static const char *tmpfs_option(struct arena *a, struct sv option, struct compose_mount *m)
{
	static const char *const idle[] = {"rw", "nosuid", "nodev", "noexec", "exec", "noatime", "relatime"};
	const char *text = arena_str(a, option), *wrong;
	char *end;
	size_t i;

	if (!text)
		return "out of memory";
	for (i = 0; i < ARRAY_LEN(idle); i++)
		if (strcmp(text, idle[i]) == 0)
			return NULL;
	if (strcmp(text, "ro") == 0) {
		m->read_only = true;
		return NULL;
	}
	if (strncmp(text, "size=", 5) == 0) {
		wrong = compose_value_size(text + 5, &m->size);
		return wrong                                                  ? wrong
		       : m->size > tmpfs_size.max || m->size < tmpfs_size.min ? "its size is not between 4k and 64g"
									      : NULL;
	}
	if (strncmp(text, "mode=", 5) == 0 && text[5] >= '0' && text[5] <= '7') {
		m->mode = strtoul(text + 5, &end, 8);
		return *end || m->mode > 01777 ? "its mode is not octal" : NULL;
	}
	return "has an option that cannot be had here; size and mode can";
}

static void read_tmpfs(struct compose_reader *r, const struct ynode *n, struct compose_mounts *to)
{
	struct compose_mount m = {.kind = COMPOSE_MOUNT_TMPFS, .source = ""};
	const char *text = compose_scalar(r, n), *wrong = NULL, *path;
	size_t len = text ? strcspn(text, ":") : 0;

	if (!text)
		return;
	path = arena_str(r->arena, sv_n(text, len));
	m.target = path ? read_target(r, n, path) : NULL;
	for (text += len; *text && !wrong; text += len) {
		text++; /* a colon or a comma */
		len = strcspn(text, ",");
		wrong = tmpfs_option(r->arena, sv_n(text, len), &m);
		if (!wrong && sv_is(sv_n(text, len), "noexec"))
			compose_warn(r, n, "noexec is not held by `cordon task run`");
	}
	if (wrong)
		compose_refuse(r, n, "%s", wrong);
	else if (m.target)
		add_mount(r, n, to, &m);
}

void compose_read_tmpfs(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)arg;
	if (compose_is_null(n))
		return;
	if (n->kind == YNODE_SCALAR)
		read_tmpfs(r, n, to);
	else if (compose_want(r, n, YNODE_LIST))
		each(r, n, read_tmpfs, to);
}

static const char *const local_driver[] = {"local", NULL};
static const struct compose_row top_rows[] = {
	{"driver", compose_read_word, 0, local_driver, NULL},
	{"external", compose_read_never, 0, "a volume of the host that is not this task's", NULL},
	{"name", compose_read_pass, 0, NULL, "not passed on: a volume is this run's alone"},
	{"labels", compose_read_pass, 0, NULL, "not passed on: nothing inside can see it"},
	{"driver_opts", NULL, 0, NULL, "tells the engine to mount something of the host"},
	{0},
};

void compose_read_top_volumes(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)to;
	(void)arg;
	compose_named(r, n, "volume", &r->compose->volumes, top_rows);
}
