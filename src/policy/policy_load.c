#include "policy/policy_load.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/real_path.h"
#include "base/text.h"
#include "conf/misnamed.h"
#include "policy/policy_cache.h"
#include "policy/policy_codec.h"
#include "policy/policy_mandatory.h"
#include "policy/policy_profile.h"
#include "policy/policy_role.h"

enum { NAMES_MAX = 64 };

/* What shipped profiles are called where a path would stand. */
static const char shipped_prefix[] = "profile:";

const char *policy_shipped(const char *file)
{
	return strncmp(file, shipped_prefix, strlen(shipped_prefix)) == 0 ? file + strlen(shipped_prefix) : NULL;
}

struct load {
	const struct policy_request *req;
	const char *cwd; /* NULL: no source is a relative path */
	struct cache_files files;
};

static int fail_read(const char *path, int code, struct error *err)
{
	struct text_shown name;

	(void)text_show(&name, sv_of(path));
	if (code == -EFBIG)
		return error_set(err, ERROR_INPUT, "%s: larger than %d MiB; split the file", name.s,
				 POLICY_MAX_BYTES >> 20);
	if (code == -EISDIR)
		return error_set(err, ERROR_INPUT, "%s: is a folder; name a policy file", name.s);
	if (code == -EINVAL)
		return error_set(err, ERROR_INPUT, "%s: is not a regular file; name a policy file", name.s);
	if (code == -ENOLINK)
		return error_set(err, ERROR_INPUT, "%s: a symbolic link leads nowhere; mend or remove it", name.s);
	if (code == -ENOENT)
		return error_set(err, ERROR_INPUT, "%s: there is no such file; check the path", name.s);
	if (code == -EACCES)
		return error_set(err, ERROR_INPUT,
				 "%s: cannot be read: Permission denied; look at its mode and owner, and at those of "
				 "its folders",
				 name.s);
	return error_sys(err, code, "%s: cannot be read", name.s);
}

/* A file's text. 1: there is none. name: as shown. */
static int read_text(struct load *l, const char *path, const char *name, struct arena *a, struct policy_text *ret,
		     struct error *err)
{
	int r;

	if (!path || !name)
		return policy_no_memory(err);
	r = policy_cache_read(&l->files, a, path, &ret->bytes, &ret->id);
	if (r == -ENOENT)
		return 1;
	if (r == -ENOMEM)
		return policy_no_memory(err);
	if (r < 0)
		return fail_read(name, r, err);
	ret->name = name;
	return 0;
}

static int shipped_text(const char *profile, struct arena *a, struct policy_text *ret, struct error *err)
{
	const struct policy_profile *p;

	for (p = policy_profiles; p->name && strcmp(p->name, profile) != 0; p++)
		;
	if (!p->name)
		return 1;
	ret->name = ret->id = arena_printf(a, "%s%s", shipped_prefix, p->name);
	return ret->name && buf_sv(&ret->bytes, p->text) == 0 ? 0 : policy_no_memory(err);
}

/* Behind the shipped ones: those of the operator's own that could be meant. Returns how many names there are. */
static size_t own_profiles(const struct load *l, struct arena *a, const char **names, size_t n)
{
	const char *path = l->req->config_dir ? arena_printf(a, "%s/profiles", l->req->config_dir) : NULL;
	DIR *d = path ? opendir(path) : NULL;
	struct dirent *e;

	while (d && n < NAMES_MAX && (e = readdir(d))) {
		struct sv s = sv_of(e->d_name);

		if (!sv_ends(s, ".yaml") || s.n <= 5 || memchr(s.p, '.', s.n - 5))
			continue;
		names[n] = arena_str(a, sv_n(s.p, s.n - 5));
		n += names[n] != NULL;
	}
	if (d)
		(void)closedir(d);
	return n;
}

/* Shipped ones and the operator's, NULL-terminated. Returns how many there are. */
static size_t all_profiles(const struct load *l, struct arena *a, const char *names[NAMES_MAX + 1])
{
	size_t n = 0;

	while (n < NAMES_MAX && policy_profile_names[n]) {
		names[n] = policy_profile_names[n];
		n++;
	}
	n = own_profiles(l, a, names, n);
	names[n] = NULL;
	return n;
}

static int fail_profile(const struct load *l, const char *profile, struct arena *a, struct error *err)
{
	const char *names[NAMES_MAX + 1], *near,
		*path = l->req->config_dir ? arena_printf(a, "%s/profiles/%s.yaml", l->req->config_dir, profile) : NULL;
	struct text_shown name;
	AUTO_BUF all = {0};
	size_t n = all_profiles(l, a, names), i;

	(void)text_show(&name, sv_of(profile));
	if (strpbrk(profile, "/."))
		return error_set(err, ERROR_INPUT,
				 "\"%.100s\" is no profile's name; a file is named with --policy %.100s", name.s,
				 name.s);
	if (path && misnamed_refuse(path, err) < 0)
		return -1;
	buf_init(&all, 4096);
	for (i = 0; i < n; i++) {
		(void)buf_str(&all, i ? ", " : "");
		text_escape(&all, sv_of(names[i]), 64);
	}
	if (strcmp(profile, "-") == 0)
		return error_set(err, ERROR_INPUT, "- is no policy; write /dev/stdin for standard input");
	near = text_nearest(sv_of(profile), names);
	if (near)
		return error_set(err, ERROR_INPUT,
				 "there is no profile \"%.80s\"; did you mean \"%.64s\"? There are %.250s", name.s,
				 text_show(&(struct text_shown){0}, sv_of(near)), all.p);
	return error_set(
		err, ERROR_INPUT,
		"there is no profile \"%.80s\"; there are %.250s; a file is named by its path, such as ./%.40s.yaml",
		name.s, all.p, name.s);
}

static int get_profile(struct load *l, const struct policy_want *want, struct arena *a, struct policy_text *ret,
		       struct error *err)
{
	const char *path;
	char real[PATH_MAX];
	int r = 1;

	if (want->name[0] == '\0' || strpbrk(want->name, "/."))
		return fail_profile(l, want->name, a, err);
	if (l->req->config_dir) {
		path = arena_printf(a, "%s/profiles/%s.yaml", l->req->config_dir, want->name);
		/* A profile that extends its own name means the one it hides. */
		if (!path || !want->from || !real_path(path, real) || strcmp(real, want->from) != 0)
			r = read_text(l, path, path, a, ret, err);
	}
	if (r == 1)
		r = shipped_text(want->name, a, ret, err);
	return r == 1 ? fail_profile(l, want->name, a, err) : r;
}

/* Where a file is, seen from the text that names it. */
static const char *file_path(const struct load *l, const struct policy_want *want, struct arena *a)
{
	const char *slash, *name;

	if (want->name[0] == '/')
		return want->name;
	if (!want->from)
		return arena_printf(a, "%s/%s", l->cwd ? l->cwd : ".", want->name);
	if (want->name[0] == '~' && want->name[1] == '/')
		return arena_printf(a, "%s%s", l->req->home, want->name + 1);
	slash = strrchr(want->from, '/');
	for (name = want->name; name[0] == '.' && name[1] == '/';)
		name += 1 + strspn(name + 1, "/");
	return arena_printf(a, "%.*s/%s", slash ? (int)(slash - want->from) : 0, want->from, name);
}

/* Where a profile is called so, that was meant. */
static int fail_file(const struct load *l, const char *file, struct arena *a, struct error *err)
{
	const char *names[NAMES_MAX + 1];
	size_t i, n = all_profiles(l, a, names);
	struct text_shown name;

	for (i = 0; i < n; i++)
		if (strcmp(names[i], file) == 0)
			return error_set(err, ERROR_INPUT, "%s: there is no such file; did you mean --profile %s?",
					 text_show(&name, sv_of(file)), name.s);
	return fail_read(file, -ENOENT, err);
}

/* What a person names may be a pipe; what a file names is a file. */
static bool is_special(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int get_file(struct load *l, const struct policy_want *want, struct arena *a, struct policy_text *ret,
		    struct error *err)
{
	const char *path;
	int r;

	if (want->from && policy_shipped(want->from))
		return error_set(err, ERROR_INPUT, "a shipped profile extends profiles only");
	path = file_path(l, want, a);
	if (want->from && is_special(path))
		return fail_read(path, -EINVAL, err);
	/* a file whose name looks like a shipped profile's is called by all of its path */
	r = read_text(l, path, want->from || policy_shipped(want->name) ? path : want->name, a, ret, err);
	return r == 1 ? fail_file(l, want->name, a, err) : r;
}

/* 1: there is none. Under the other name it is looked for as it is under its own, so that what is cached knows of it.
 */
static int get_ceiling(struct load *l, struct arena *a, struct policy_text *ret, struct error *err)
{
	const char *path = arena_printf(a, "%s/policy.yaml", l->req->config_dir);
	const char *other = arena_printf(a, "%s/policy.yml", l->req->config_dir);
	int r = read_text(l, path, path, a, ret, err);

	if (r == 1)
		r = read_text(l, other, other, a, ret, err) == 1 ? 1 : misnamed_fail(path, err);
	return r;
}

static int get_text(void *ctx, const struct policy_want *want, struct arena *a, struct policy_text *ret,
		    struct error *err)
{
	struct load *l = ctx;

	switch (want->kind) {
	case POLICY_WANT_PROFILE:
		return get_profile(l, want, a, ret, err);
	case POLICY_WANT_FILE:
		return get_file(l, want, a, ret, err);
	case POLICY_WANT_CEILING:
		break;
	}
	return l->req->config_dir ? get_ceiling(l, a, ret, err) : 1;
}

static bool has_relative(const struct policy_request *req)
{
	size_t i;

	for (i = 0; i < req->n_sources; i++)
		if (!req->sources[i].is_profile && req->sources[i].name[0] != '/')
			return true;
	return false;
}

static bool is_denied(const struct policy *p, const char *pattern)
{
	uint32_t i;

	for (i = 0; i < p->fs.deny.n; i++)
		if (strcmp(p->fs.deny.v[i].s, pattern) == 0)
			return true;
	return false;
}

/* Even a parser that was taken over cannot leave out what no policy can lift. */
static bool keeps_mandatory(const struct policy *p)
{
	const struct mandatory *m;

	for (m = mandatory_deny; m->pattern; m++)
		if (!is_denied(p, m->pattern))
			return false;
	return mandatory_is_protect(&p->fs.protect);
}

/* Not here: whoever reads a policy's text holds nothing. What it answers is decoded, never parsed. */
static int compile_and_keep(struct load *l, const struct cache_key *key, struct arena *a, struct policy **ret,
			    char digest[65], struct error *err)
{
	struct policy_fetch fetch = {get_text, l};
	AUTO_BUF encoding = {0};
	int r;

	buf_init(&encoding, POLICY_CODEC_MAX);
	if (policy_role_compile(l->req, &fetch, a, &encoding, err) < 0)
		return -1;
	r = policy_decode(buf_view(&encoding), ret);
	if (r < 0)
		return error_sys(err, r, "the compiled policy cannot be read");
	if (!keeps_mandatory(*ret)) {
		policy_free(*ret);
		*ret = NULL;
		return error_set(err, ERROR_INPUT,
				 "the policy could not be compiled safely: protections are missing from it");
	}
	sha256_hex_of(buf_view(&encoding), digest);
	if (key)
		(void)policy_cache_put(l->req->cache_dir, key, &l->files, digest, buf_view(&encoding));
	return 0;
}

static int load(const struct policy_request *req, struct policy **ret, char digest[65], struct error *err)
{
	struct load *l;
	char cwd[PATH_MAX];
	struct cache_key key;
	const char *from = NULL;
	struct arena *a;
	bool keep;
	int r;

	if (has_relative(req)) {
		from = getcwd(cwd, sizeof(cwd));
		if (!from)
			return error_sys(err, errno, "the current folder is not known");
	}
	keep = req->cache_dir && policy_cache_key(req, from, &key) == 0;
	if (keep && policy_cache_get(req->cache_dir, &key, ret, digest) == 0)
		return 0;
	a = arena_new();
	l = a ? arena_alloc(a, sizeof(*l)) : NULL;
	if (!l) {
		arena_free(a);
		return policy_no_memory(err);
	}
	l->req = req;
	l->cwd = from;
	l->files.skip = !keep;
	l->files.wait = !req->again;
	r = compile_and_keep(l, keep ? &key : NULL, a, ret, digest, err);
	arena_free(a);
	return r;
}

int policy_load(const struct policy_request *req, struct policy **ret, char digest[65], struct error *err)
{
	if (load(req, ret, digest, err) < 0)
		return -1;
	(*ret)->home = arena_str((*ret)->arena, sv_of(req->home));
	if ((*ret)->home)
		return 0;
	policy_free(*ret);
	*ret = NULL;
	return policy_no_memory(err);
}
