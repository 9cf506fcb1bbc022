#include "cli/cli_policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/real_path.h"
#include "base/text.h"
#include "vault/credentials_read.h"

enum { CLI_SOURCES_MAX = 64 };

bool cli_is_profile(const char *name)
{
	return !strpbrk(name, "/.");
}

static int too_long(const char *what, struct error *err)
{
	return error_set(err, ERROR_INPUT, "%s: the path is too long", what);
}

/* $variable/cordon, or home/rest/cordon where the variable is unset or relative. */
static int xdg(const char *variable, const char *home, const char *rest, char out[PATH_MAX], struct error *err)
{
	const char *base = getenv(variable);
	int n;

	if (base && base[0] == '/')
		n = snprintf(out, PATH_MAX, "%s/cordon", base);
	else
		n = snprintf(out, PATH_MAX, "%s/%s/cordon", home, rest);
	return n >= PATH_MAX ? too_long(variable, err) : 0;
}

int cli_folders(struct cli_folders *ret, struct error *err)
{
	const char *home = getenv("HOME");

	if (!home || home[0] != '/')
		return error_set(err, ERROR_USAGE,
				 "HOME is not set to an absolute path; set it, since a policy may name it as ~");
	/* Patterns and mounts need one name for it; a home that does not exist keeps the name it has. */
	if (!real_path(home, ret->home) && cli_path_clean("/", home, ret->home) < 0)
		return too_long("HOME", err);
	if (xdg("XDG_CONFIG_HOME", ret->home, ".config", ret->config, err) < 0 ||
	    xdg("XDG_CACHE_HOME", ret->home, ".cache", ret->cache, err) < 0 ||
	    xdg("XDG_DATA_HOME", ret->home, ".local/share", ret->data, err) < 0)
		return -1;
	return xdg("XDG_STATE_HOME", ret->home, ".local/state", ret->state, err);
}

static bool is_listed(const struct cli_own *o, size_t n, const char *path)
{
	while (n > 0)
		if (strcmp(o->v[--n], path) == 0)
			return true;
	return false;
}

/* Does the path lead to one of two folders? Most often neither is there. */
static bool is_one_of(const char *path, const struct stat two[2])
{
	struct stat st;

	if ((!two[0].st_ino && !two[1].st_ino) || stat(path, &st) < 0)
		return false;
	return (st.st_ino == two[0].st_ino && st.st_dev == two[0].st_dev) ||
	       (st.st_ino == two[1].st_ino && st.st_dev == two[1].st_dev);
}

const char *const *cli_own(struct cli_own *o, const struct cli_folders *f)
{
	const char *const all[][2] = {{f->cache, ""},
				      {f->cache, "/roots"},
				      {f->state, ""},
				      {f->data, ""},
				      {f->home, "/.cache/cordon"},
				      {f->home, "/.cache/cordon/roots"},
				      {f->home, "/.local/state/cordon"},
				      {f->home, "/.local/share/cordon"}};
	struct stat config[2] = {0};
	size_t i, n = 0;

	if (stat(f->config, &config[0]) < 0)
		config[0].st_ino = 0;
	if (snprintf(o->room[0], PATH_MAX, "%s/.config/cordon", f->home) >= PATH_MAX ||
	    stat(o->room[0], &config[1]) < 0)
		config[1].st_ino = 0;
	for (i = 0; i < ARRAY_LEN(all); i++) {
		if (snprintf(o->room[n], PATH_MAX, "%s%s", all[i][0], all[i][1]) >= PATH_MAX ||
		    is_listed(o, n, o->room[n]) || is_one_of(o->room[n], config))
			continue;
		o->v[n] = o->room[n];
		n++;
	}
	o->v[n] = NULL;
	return o->v;
}

int cli_path_clean(const char *base, const char *path, char out[PATH_MAX])
{
	size_t n = 0, len;

	if (path[0] != '/') {
		n = strlen(base);
		if (n >= PATH_MAX)
			return -1;
		memcpy(out, base, n);
		while (n && out[n - 1] == '/')
			n--;
	}
	while (*path) {
		len = strcspn(path, "/");
		if (len == 2 && memcmp(path, "..", 2) == 0) {
			while (n && out[--n] != '/')
				;
		} else if (len && !(len == 1 && path[0] == '.')) {
			if (n + len + 2 > PATH_MAX)
				return -1;
			out[n++] = '/';
			memcpy(out + n, path, len);
			n += len;
		}
		path += len;
		path += strspn(path, "/");
	}
	if (n == 0)
		out[n++] = '/';
	out[n] = '\0';
	return 0;
}

static int find_workdir(const struct call *call, unsigned flags, char out[PATH_MAX], struct error *err)
{
	const char *dir = call_value(call, "workdir");
	struct text_shown shown;

	if (!dir && (flags & CLI_POLICY_NOWHERE)) {
		(void)snprintf(out, PATH_MAX, "%s", CLI_NOWHERE);
		return 0;
	}
	if (!real_path(dir ? dir : ".", out)) {
		if (dir && errno == ENOENT)
			return error_set(err, ERROR_INPUT,
					 "work folder %s: there is none; make it, or name another with --workdir",
					 text_show(&shown, sv_of(dir)));
		if (!dir && errno == ENOENT)
			return error_set(err, ERROR_INPUT,
					 "work folder: the current folder is gone; change to one that is there, or "
					 "name one with --workdir");
		return error_sys(err, errno, "work folder %s",
				 text_show(&shown, sv_of(dir ? dir : "(the current one)")));
	}
	return 0;
}

static int collect(const struct call *call, const char *name, struct policy_source *sources, size_t *ret_n,
		   struct error *err)
{
	const struct option_value *v;
	size_t at = 0, n = 0;

	if (name)
		sources[n++] = (struct policy_source){name, cli_is_profile(name), false};
	while ((v = call_next(call, NULL, &at))) {
		bool is_profile = strcmp(v->option->name, "profile") == 0,
		     is_bound = strcmp(v->option->name, "bounds") == 0;

		if (!is_profile && !is_bound && strcmp(v->option->name, "policy") != 0)
			continue;
		if (n == CLI_SOURCES_MAX)
			return error_set(err, ERROR_USAGE, "more than %d policies and profiles", CLI_SOURCES_MAX);
		sources[n++] = (struct policy_source){v->value, is_profile, is_bound};
	}
	*ret_n = n;
	return 0;
}

/* As plan_build() has it: where no file sets an id, an ordinary user keeps their own. What is shown is what is done. */
static void own_user(struct pol_num *user)
{
	if (user->at.file == 0 && geteuid() != 0)
		user->v = geteuid();
}

static int load(const struct call *call, const struct policy_source *sources, size_t n, unsigned flags,
		struct cli_policy *ret, struct error *err)
{
	struct policy_request req = {.sources = sources, .n_sources = n};

	*ret = (struct cli_policy){0};
	if (cli_folders(&ret->folders, err) < 0 || find_workdir(call, flags, ret->workdir, err) < 0)
		return -1;
	req.home = ret->folders.home;
	req.config_dir = ret->folders.config;
	req.cache_dir = flags & CLI_POLICY_NO_CACHE ? NULL : ret->folders.cache;
	req.state_dir = ret->folders.state;
	req.data_dir = ret->folders.data;
	req.workdir = ret->workdir;
	req.no_ceiling = flags & CLI_POLICY_ALONE;
	req.again = flags & CLI_POLICY_AGAIN;
	req.runtime = call_value(call, "runtime");
	req.category = call_value(call, "category");
	req.phase = call_value(call, "phase");
	if (req.runtime && call_choice("--runtime", req.runtime, runtime_names, err) < 0)
		return -1;
	if (req.category && call_choice("--category", req.category, category_names, err) < 0)
		return -1;
	if (policy_load(&req, &ret->policy, ret->digest, err) < 0)
		return -1;
	own_user(&ret->policy->process.user);
	return 0;
}

int cli_policy_load(const struct call *call, const char *name, unsigned flags, struct cli_policy *ret,
		    struct error *err)
{
	struct policy_source sources[CLI_SOURCES_MAX];
	size_t n;

	*ret = (struct cli_policy){0};
	return collect(call, name, sources, &n, err) < 0 ? -1 : load(call, sources, n, flags, ret, err);
}

int cli_policy_load_file(const struct call *call, const char *path, unsigned flags, struct cli_policy *ret,
			 struct error *err)
{
	return load(call, &(struct policy_source){path, false, false}, 1, flags, ret, err);
}

int cli_policy_load_profile(const struct call *call, const char *name, unsigned flags, struct cli_policy *ret,
			    struct error *err)
{
	return load(call, &(struct policy_source){name, true, false}, 1, flags, ret, err);
}

void cli_policy_done(struct cli_policy *p)
{
	policy_free(p->policy);
	p->policy = NULL;
}

int cli_credentials(const struct cli_policy *p, struct credentials **ret, struct error *err)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/credentials.yaml", p->folders.config) >= (int)sizeof(path))
		return too_long("credentials.yaml", err);
	return credentials_read(path, ret, err);
}

int cli_print(const struct call *call, const struct buf *out, struct error *err)
{
	if (buf_failed(out))
		return error_sys(err, buf_failed(out), "the answer is too large to print");
	(void)fwrite(out->n ? out->p : "", 1, out->n, call->out); /* the caller of the verb looks at the stream */
	return 0;
}
