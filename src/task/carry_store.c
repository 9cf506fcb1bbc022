#include "task/carry_store.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "base/path.h"
#include "task/carry_home.h"
#include "task/carry_link.h"
#include "task/carry_new.h"

enum { PATTERNS = 14, NAMED_MAX = 64 };

/*
 * Where new things may come, below the store; the first that fits decides.
 *	a, *	a name or any in a folder: packages; the image's own stay as they are
 *	**	anything, at whatever depth
 *	=a	no part of the store: data
 *	?a	only where the image has no such store
 *	!a	nothing
 *	+a	a package by its version, "rspec-3.12.0": the newest is taken, so none of another version of the image's
 *	@	modules of go
 */
struct carry_store {
	const char *name; /* of the folder in a home, or the end of its path; absolute: that one */
	const char *const *variables; /* that name it; "NAME/folder": below what they name */
	const char *patterns[PATTERNS];
};

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct carry_store stores[] = {
	{"pkg/mod", NAMES("GOMODCACHE", "GOPATH/pkg/mod"), {"cache/**", "@"}},
	{".cargo",
	 NAMES("CARGO_HOME"),
	 {"registry/index/**", "registry/cache/**", "registry/src/*/*", "registry/CACHEDIR.TAG", "git/db/**",
	  "git/checkouts/*/*", "git/CACHEDIR.TAG", "=bin", ".package-cache*", ".crates*", ".global-cache*"}},
	{".m2", NAMES("MAVEN_CONFIG"), {"repository/**", "wrapper/dists/*/*"}},
	{".gradle",
	 NAMES("GRADLE_USER_HOME"),
	 {"caches/modules-*/**", "wrapper/dists/*/*", "jdks/*", "=daemon", "=notifications", "=workers", "=.tmp"}},
	{".ivy2", NAMES("IVY_HOME"), {"cache/**", "local/**", "jars/**"}},
	{".cache/coursier", NAMES("COURSIER_CACHE"), {"**"}},
	{".cabal", NAMES("CABAL_DIR"), {"packages/**", "store/*/package.db/*", "store/*/*", "=bin", "=logs"}},
	{".cache/cabal", NULL, {"packages/**", "=logs"}},
	{".local/state/cabal", NULL, {"store/*/package.db/*", "store/*/*"}},
	{".stack", NAMES("STACK_ROOT"), {"snapshots/**", "pantry/**", "indices/**", "programs/*/*", "stack.sqlite3*"}},
	{".julia",
	 NAMES("JULIA_DEPOT_PATH"),
	 {"packages/*/*", "artifacts/*", "registries/*", "clones/*", "=environments", "=logs", "=scratchspaces", "=dev",
	  "=conda"}},
	{".nuget", NULL, {"packages/*/*"}},
	{".nuget/packages", NAMES("NUGET_PACKAGES"), {"*/*"}},
	{".opam", NAMES("OPAMROOT"), {"!opam-init", "!plugins", "?config*", "*/**"}},
	{".cache/deno", NAMES("DENO_DIR"), {"deps/**", "npm/**", "remote/**"}},
	{".local/share/pnpm", NULL, {"store/**", "global/**", "nodejs/*"}},
	{"quicklisp", NULL, {"dists/*/software/*", "dists/*/archives/*", "dists/*/installed/**", "=local-projects"}},
	{"/nix", NULL, {"store/*"}},
	{"/gnu", NULL, {"store/*"}},
	{NULL,
	 NAMES("GEM_HOME", "GEM_PATH", "BUNDLE_PATH"),
	 {"+gems/*", "+specifications/*", "extensions/*/*/*", "cache/*", "doc/**", "build_info/*", "=bin",
	  "bundler/gems/*", "+ruby/*/gems/*", "+ruby/*/specifications/*", "ruby/*/extensions/*/*/*",
	  "ruby/*/bundler/gems/*", "ruby/*/cache/*"}},
	{NULL, NAMES("PUB_CACHE"), {"hosted/*/*", "hosted-hashes/**", "git/*", "git/cache/*", "=bin"}},
	{NULL, NAMES("HEX_HOME", "MIX_HOME"), {"packages/**", "archives/*", "elixir/*/*", "cache.ets"}},
	{NULL, NAMES("COMPOSER_HOME"), {"vendor/*/*", "cache/**"}},
	/* nothing that is new */
	{NULL,
	 NAMES("PIP_CACHE_DIR", "UV_CACHE_DIR", "UV_TOOL_DIR", "UV_PYTHON_INSTALL_DIR", "POETRY_CACHE_DIR", "PIPX_HOME",
	       "PRE_COMMIT_HOME", "GOCACHE", "CCACHE_DIR", "SCCACHE_DIR", "YARN_CACHE_FOLDER", "npm_config_cache",
	       "NPM_CONFIG_CACHE", "COREPACK_HOME", "PLAYWRIGHT_BROWSERS_PATH", "CYPRESS_CACHE_FOLDER",
	       "ZIG_GLOBAL_CACHE_DIR", "NODE_COMPILE_CACHE"),
	 {NULL}},
};

/* A store that a variable names. */
struct carry_named_store {
	const char *folder;
	const struct carry_store *store;
};

const char *carry_variable(const struct carry *c, const char *name)
{
	const char *const *e = c->req->env;
	size_t n = strlen(name);

	for (; e && *e; e++)
		if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}

/* Folders that hold more than one thing, and homes, are no store, whatever a variable says; nor is the work folder. */
static bool can_be_store(const struct carry *c, const char *folder)
{
	static const char *const shared[] = {"/",    "/tmp", "/var",  "/var/tmp", "/opt",      "/srv",
					     "/mnt", "/etc", "/home", "/usr",     "/usr/local"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(shared); i++)
		if (strcmp(folder, shared[i]) == 0)
			return false;
	return !carry_home(c, sv_of(folder)) && !path_is_in(c->req->workdir, folder);
}

static void add_store(struct carry *c, const struct carry_store *store, const char *folder)
{
	size_t n = 0;

	while (c->stores[n].folder)
		n++;
	if (folder && n + 1 < NAMED_MAX && can_be_store(c, folder))
		c->stores[n] = (struct carry_named_store){folder, store};
}

/* below: "" or a path with a slash before it */
static void add_folder(struct carry *c, const struct carry_store *store, struct sv folder, const char *below)
{
	const char *real = carry_link_resolve(c, folder);

	add_store(c, store, arena_printf(c->arena, "%.*s%s", (int)folder.n, folder.p, below));
	if (real)
		add_store(c, store, arena_printf(c->arena, "%s%s", real, below));
}

static void add_variable(struct carry *c, const struct carry_store *store, const char *variable)
{
	const char *below = strchrnul(variable, '/'),
		   *name = arena_str(c->arena, sv_n(variable, (size_t)(below - variable))), *value, *end;
	size_t n;

	for (value = name ? carry_variable(c, name) : NULL; value && *value; value = *end ? end + 1 : end) {
		end = strchrnul(value, ':');
		n = (size_t)(end - value);
		while (n > 1 && value[n - 1] == '/')
			n--;
		if (n && value[0] == '/')
			add_folder(c, store, sv_n(value, n), below);
	}
}

void carry_stores_init(struct carry *c)
{
	const char *const *v;
	size_t i;

	c->stores = arena_array(c->arena, NAMED_MAX, sizeof(c->stores[0]));
	for (i = 0; c->stores && i < ARRAY_LEN(stores); i++)
		for (v = stores[i].variables; v && *v; v++)
			add_variable(c, &stores[i], *v);
}

static bool image_has(const struct carry *c, struct sv folder, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%.*s/%s", (int)folder.n, folder.p, name) >= (int)sizeof(path))
		return true;
	view_stat(&c->root, path + 1, &st);
	return st.st_mode != 0;
}

/* go's: with the image's modules or without, for go finds other versions of itself there; in the work folder only where
 * that is a home, or the image has modules in it. */
static bool is_gos(const struct carry *c, const struct spot *s, bool known)
{
	static const char name[] = "/go/pkg/mod";
	struct sv at = sv_n(c->at, c->len);

	if (s->zone == ZONE_DATA || (known && image_has(c, at, "cache/download")))
		return true;
	return sv_ends(at, name) && carry_home(c, sv_n(at.p, at.n - (sizeof(name) - 1)));
}

/* Is c->at the store of that name? Where it is in no home, only where the image has it, and not in the work folder. */
static bool is_named(const struct carry *c, const struct spot *s, const struct carry_store *store, bool known)
{
	struct sv at = sv_n(c->at, c->len), name = sv_of(store->name);

	if (name.p[0] == '/')
		return sv_is(at, store->name);
	if (!sv_ends(at, store->name) || at.p[at.n - name.n - 1] != '/')
		return false;
	if (sv_is(name, "pkg/mod"))
		return is_gos(c, s, known);
	/* projects have a folder of that name, too */
	if (carry_home(c, sv_n(at.p, at.n - name.n - 1)))
		return true;
	return known && s->zone == ZONE_DATA && !sv_is(name, ".gradle");
}

static const struct carry_store *find_store(const struct carry *c, const struct spot *s, bool known)
{
	const struct carry_named_store *n;
	size_t i;

	if (c->work && path_is_in(c->work, c->at))
		return NULL;
	for (n = c->stores; n->folder; n++)
		if (strcmp(n->folder, c->at) == 0)
			return n->store;
	for (i = 0; i < ARRAY_LEN(stores); i++)
		if (stores[i].name && is_named(c, s, &stores[i], known))
			return &stores[i];
	return NULL;
}

/* How a path below a store and a pattern go together. */
enum fit { FITS_NOT, FITS_ABOVE, FITS, FITS_BELOW };

static struct sv take(struct sv *path)
{
	const char *slash = path->n ? memchr(path->p, '/', path->n) : NULL;
	struct sv first = sv_n(path->p, slash ? (size_t)(slash - path->p) : path->n);

	*path = sv_n(path->p + first.n + (slash != NULL), path->n - first.n - (slash != NULL));
	return first;
}

static enum fit fit(struct sv pattern, struct sv path)
{
	struct sv want;

	while (pattern.n && path.n) {
		want = take(&pattern);
		if (sv_is(want, "**"))
			return FITS;
		if (!glob_component(want, take(&path)))
			return FITS_NOT;
	}
	if (path.n)
		return FITS_BELOW;
	return pattern.n && !sv_is(pattern, "**") ? FITS_ABOVE : FITS;
}

/* "example.com/a@v1.0.0/b.go" */
static enum fit fit_go(struct sv path)
{
	const char *at = memchr(path.p, '@', path.n);
	bool below = at && memchr(at, '/', (size_t)(path.p + path.n - at));

	return below ? FITS_BELOW : at ? FITS : FITS_ABOVE;
}

/* The pattern's mark, and how the path below the store fits; 0: no pattern does. */
static char find_pattern(const struct carry_store *store, struct sv path, enum fit *ret)
{
	const char *p;
	size_t i;

	for (i = 0; i < PATTERNS && store->patterns[i]; i++) {
		p = store->patterns[i];
		if (*p == '@')
			*ret = fit_go(path);
		else
			*ret = fit(sv_of(strchr("=?!+", *p) ? p + 1 : p), path);
		if (*ret != FITS_NOT)
			return strchr("=?!+@", *p) ? *p : '*';
	}
	return 0;
}

static struct sv below_store(const struct carry *c, const struct spot *s)
{
	return sv_n(c->at + s->store_len + 1, c->len - s->store_len - 1);
}

static bool is_go(const struct carry_store *store)
{
	return store->name && strcmp(store->name, "pkg/mod") == 0;
}

/* go, where go.mod says so, runs another version of itself that lies among the modules, or is unpacked there. */
static const char toolchain[] = "golang.org/toolchain@", packed_toolchain[] = "cache/download/golang.org/toolchain";

static bool is_toolchain(const struct carry_store *store, struct sv path)
{
	return is_go(store) && (sv_starts(path, toolchain) || sv_is(path, packed_toolchain));
}

static bool is_above_toolchain(const struct carry_store *store, struct sv path)
{
	return is_go(store) && path.n < sizeof(packed_toolchain) && memcmp(packed_toolchain, path.p, path.n) == 0;
}

void carry_store_enter(const struct carry *c, const struct spot *s, const struct entry *e, struct spot *child)
{
	enum fit how = FITS_NOT;
	char mark;

	child->store = s->store;
	child->store_len = s->store_len;
	if (child->zone == ZONE_SYSTEM || child->zone == ZONE_FREE) {
		child->store = NULL;
		return;
	}
	if (!s->store) {
		child->store = find_store(c, s, S_ISDIR(e->image.st_mode));
		child->store_len = c->len;
		return;
	}
	mark = find_pattern(s->store, below_store(c, s), &how);
	/* data, or a package that the image does not have */
	if (mark == '=' || (e->image.st_mode == 0 && how == FITS && !is_above_toolchain(s->store, below_store(c, s))))
		child->store = NULL;
}

/* Has the image the archive that a tool would unpack there? */
static bool has_archive(const struct carry *c, const struct spot *s, struct sv path)
{
	struct sv store = sv_n(c->at, s->store_len), base = carry_base(path);
	const char *at = memchr(path.p, '@', path.n);
	char archive[PATH_MAX];
	int n = 0;

	if (sv_starts(path, "registry/src/"))
		n = snprintf(archive, sizeof(archive), "registry/cache/%.*s/%.*s.crate", (int)(path.n - base.n - 14),
			     path.p + 13, (int)base.n, base.p);
	else if (at && is_go(s->store))
		n = snprintf(archive, sizeof(archive), "cache/download/%.*s/@v/%.*s.zip", (int)(at - path.p), path.p,
			     (int)(path.p + path.n - at - 1), at + 1);
	else
		return false;
	return n >= (int)sizeof(archive) || image_has(c, store, archive);
}


/* "rspec-core-3.12.0.gemspec" -> "rspec-core" */
static struct sv without_version(struct sv name)
{
	size_t i;

	for (i = 0; i + 1 < name.n; i++)
		if (name.p[i] == '-' && name.p[i + 1] >= '0' && name.p[i + 1] <= '9')
			return sv_n(name.p, i);
	return name;
}

struct versions {
	struct sv of;
	bool found;
};

static bool find_version(void *arg, const char *name)
{
	struct versions *v = arg;
	struct sv has = without_version(sv_of(name));

	v->found = has.n == v->of.n && memcmp(has.p, v->of.p, has.n) == 0;
	return !v->found;
}

/* Has the image another version of it? Who cannot look must not trust it. */
static bool has_version(const struct spot *s, const struct entry *e)
{
	struct versions v = {.of = without_version(sv_of(e->name))};

	return layered_names(&s->image, find_version, &v) < 0 || v.found;
}

static enum carry_rule judge_new(const struct carry *c, const struct spot *s, const struct entry *e)
{
	struct sv path = below_store(c, s);
	enum carry_rule no = s->store->patterns[0] ? CARRY_STARTUP : CARRY_INSTALLER;
	enum fit how = FITS_NOT;
	char kind = find_pattern(s->store, path, &how);

	switch (kind) {
	case '=':
		return CARRY_KEEP;
	case '?':
		return s->image.n ? no : CARRY_KEEP;
	case '+':
	case '*':
	case '@':
		/* what it leads to would be judged as what lies anywhere */
		if (S_ISLNK(e->st.st_mode) && (how == FITS_ABOVE || is_above_toolchain(s->store, path)))
			return CARRY_LINK;
		if (kind == '+' && how == FITS && has_version(s, e))
			return CARRY_SHADOWS;
		if (how == FITS_BELOW)
			return CARRY_SYSTEM;
		if (is_toolchain(s->store, path))
			return CARRY_INSTALLER;
		/* what says which version is the newest */
		if (s->image.n && strncmp(e->name, "maven-metadata", 14) == 0)
			return CARRY_SYSTEM;
		return how == FITS && has_archive(c, s, path) ? CARRY_SYSTEM : CARRY_KEEP;
	default:
		return no;
	}
}

enum carry_rule carry_store_judge(const struct carry *c, const struct spot *s, const struct entry *e)
{
	enum fit how = FITS_NOT;

	if (e->image.st_mode == 0)
		return is_whiteout(&e->st) ? CARRY_SAME : judge_new(c, s, e);
	if (S_ISDIR(e->image.st_mode) && S_ISDIR(e->st.st_mode))
		return CARRY_KEEP;
	if (find_pattern(s->store, below_store(c, s), &how) == '=')
		return CARRY_KEEP;
	return is_whiteout(&e->st) ? CARRY_DELETES : CARRY_REPLACES;
}

/* Is c->at, in somebody's home, the folder of that name or one above it? */
static bool on_home_way(const struct carry *c, struct sv name)
{
	struct sv at = sv_n(c->at, c->len);
	size_t n;

	for (n = 1; n <= name.n; n++)
		if ((n == name.n || name.p[n] == '/') && at.n > n && at.p[at.n - n - 1] == '/' &&
		    memcmp(at.p + at.n - n, name.p, n) == 0 && carry_home(c, sv_n(at.p, at.n - n - 1)))
			return true;
	return false;
}

bool carry_store_link(const struct carry *c, const struct spot *s)
{
	const struct carry_named_store *n;
	size_t i;

	/* homes of the system's users, /bin among them, have rules of their own */
	if (s->zone == ZONE_SYSTEM || s->zone == ZONE_FREE)
		return false;
	for (n = c->stores; n->folder; n++)
		if (path_is_in(n->folder, c->at))
			return true;
	for (i = 0; i < ARRAY_LEN(stores); i++)
		if (stores[i].name && on_home_way(c, sv_of(is_go(&stores[i]) ? "go/pkg/mod" : stores[i].name)))
			return true;
	return false;
}

bool carry_store_way(const struct carry *c, const struct spot *s)
{
	struct sv at = sv_n(c->at, c->len);
	const struct carry_named_store *n;

	for (n = c->stores; n->folder; n++)
		if (path_is_in(n->folder, c->at))
			return true;
	return image_has(c, at, "pkg/mod/cache") || (sv_is(carry_base(at), "pkg") && image_has(c, at, "mod/cache")) ||
	       find_store(c, s, true);
}
