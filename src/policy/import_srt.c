/*
 * Settings of Anthropic's sandbox-runtime. There everything may be read that is not denied, here nothing that is not
 * shown: a denied folder in which something is allowed, as the work folder may be, gives way, and loses nothing by it.
 */
#include "base/cleanup.h"
#include "base/glob.h"
#include "base/path.h"
#include "base/text.h"
#include "conf/value_net.h"
#include "policy/import_parts.h"
#include "policy/net_match.h"
#include "policy/policy_cover.h"

#define MAC_ONLY "about macOS only"
#define GATEWAY  "how the gateway reaches the outside is in gateway.yaml, not in a policy"

/* Entries without a port are allowed on any port there. */
static void take_allowed(struct import *im, const struct ynode *n)
{
	struct net_rule *r = import_host_port(im, n, &im->policy->net.allow);

	if (r && r->n_ports == 0)
		import_changed(im, n, "means ports 443 and 80 only");
}

static void take_allowed_domains(struct import *im, const struct ynode *n)
{
	import_list(im, n, take_allowed);
}

/* This machine itself, and the like: no policy opens it. */
static bool is_never_open(const struct ynode *n)
{
	struct sv host, port;

	return n->kind == YNODE_SCALAR && value_split_port(n->text, &host, &port) &&
	       net_host_class(host) == HOST_PRIVATE;
}

static void take_denied(struct import *im, const struct ynode *n)
{
	if (n->kind == YNODE_SCALAR && sv_is(n->text, "*"))
		import_set(&im->policy->net.mode, NET_NONE);
	else if (!import_host_port(im, n, &im->policy->net.deny) && !is_never_open(n))
		import_close(im, n, CLOSED_NETWORK);
}

static void take_denied_domains(struct import *im, const struct ynode *n)
{
	import_denials(im, n, take_denied, CLOSED_NETWORK);
}

static void take_local_binding(struct import *im, const struct ynode *n)
{
	import_set(&im->policy->net.loopback, import_is_true(n));
}

static const struct import_key network_keys[] = {
	{"allowedDomains", take_allowed_domains, NULL},
	{"deniedDomains", take_denied_domains, NULL},
	{"deniedDomainReasons", NULL, "Cordon gives its own reasons"},
	{"allowLocalBinding", take_local_binding, NULL},
	{"allowUnixSockets", NULL, "sockets of the host are never given to a sandbox"},
	{"allowAllUnixSockets", NULL, "sockets of the host are never given to a sandbox"},
	{"allowMachLookup", NULL, MAC_ONLY},
	{"httpProxyPort", NULL, GATEWAY},
	{"socksProxyPort", NULL, GATEWAY},
	{"mitmProxy", NULL, GATEWAY},
	{"parentProxy", NULL, GATEWAY},
	{"tlsTerminate", NULL, "the gateway looks inside TLS where a rule has methods, paths or a credential"},
	{NULL, NULL, NULL},
};

static void take_network(struct import *im, const struct ynode *n)
{
	import_block(im, n, network_keys, CLOSED_NETWORK);
}

static bool is_here(const char *path)
{
	return strcmp(path, ".") == 0;
}

static bool is_own(const char *path)
{
	return strcmp(path, "/tmp") == 0 || strcmp(path, "/dev/null") == 0;
}

static void take_write(struct import *im, const struct ynode *n)
{
	const char *path = import_path_text(im, n);

	if (!path)
		return;
	if (is_here(path))
		import_set(&im->policy->fs.workdir, WORKDIR_READ_WRITE);
	else if (!is_own(path))
		import_text(im, &im->policy->fs.write, path);
	else if (strcmp(path, "/dev/null") != 0)
		import_changed(im, n, "is the sandbox's own, not the host's");
}

static void take_allow_write(struct import *im, const struct ynode *n)
{
	import_list(im, n, take_write);
}

static void take_read(struct import *im, const struct ynode *n)
{
	const char *path = import_path_text(im, n);

	if (path && is_here(path))
		im->reads_workdir = true; /* it is readable at least */
	else if (path)
		import_text(im, &im->policy->fs.read, path);
}

static void take_allow_read(struct import *im, const struct ynode *n)
{
	import_list(im, n, take_read);
}

/* Folders that may hold the work folder, wherever that is. */
static bool is_wide(const char *path)
{
	static const char *const wide[] = {"/",    "/home", "/Users", "/root", "~",
					   "/mnt", "/srv",  "/data",  "/var",  "/opt"};
	size_t i;

	for (i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (strcmp(path, wide[i]) == 0)
			return true;
	return false;
}

/* '/': a path of the host, '~': of whatever home, '.': of whatever work folder. */
static char kind_of(const char *path)
{
	return path[0] == '/' || path[0] == '~' ? path[0] : '.';
}

/* As if its place, home or work folder, were the root. */
static const char *rooted(struct import *im, const char *path)
{
	const char *rest = path + (kind_of(path) == '~'), *r = arena_printf(im->arena, "/%s", rest + (rest[0] == '/'));

	return r ? r : "/";
}

static bool holds(struct import *im, const char *outer, const char *inner)
{
	if (kind_of(outer) != kind_of(inner))
		return cover_path.covers(outer, inner); /* of one that floats */
	return path_is_in(inner, outer) || cover_path.covers(rooted(im, outer), rooted(im, inner));
}

static bool one_holds(struct import *im, const struct pol_list *list, const char *path)
{
	uint32_t i;

	for (i = 0; i < list->n; i++)
		if (holds(im, list->v[i].s, path))
			return true;
	return false;
}

/* Nobody's home is there. */
static bool is_system(const char *path)
{
	static const char *const system[] = {"/etc",  "/usr",  "/bin", "/sbin", "/lib", "/lib64",
					     "/boot", "/proc", "/sys", "/dev",  "/run"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(system); i++)
		if (path_is_in(path, system[i]))
			return true;
	return false;
}

/* The first name of the one, behind a "~/", is a name in the other. */
static bool shares_name(const char *path, const char *in)
{
	const char *name = path + (path[0] == '~' ? 1 + (path[1] == '/') : 0), *at;
	struct sv first = sv_n(name, strcspn(name, "/"));

	if (first.n == 0 || sv_is(first, "**"))
		return true;
	for (at = strchr(in, '/'); at; at = strchr(at + 1, '/'))
		if (glob_component(first, sv_n(at + 1, strcspn(at + 1, "/"))))
			return true;
	return false;
}

/* False only where it is sure, whatever home and work folder are. */
static bool may_hold(struct import *im, const char *outer, const char *inner)
{
	bool wild = strpbrk(inner, "*?[");
	char o = kind_of(outer), i = kind_of(inner);

	if (holds(im, outer, inner))
		return true;
	if (strncmp(outer, "**/", 3) == 0 && !wild)
		return false;
	if (o == i)
		return (wild || strpbrk(outer, "*?[")) && !cover_path.apart(rooted(im, outer), rooted(im, inner));
	if (wild || i == '.')
		return true; /* the work folder may lie anywhere */
	if (o == '/')
		return !is_system(outer);
	return (o == '.' || !is_system(inner)) && shares_name(outer, inner);
}

static bool one_may_hold(struct import *im, const struct pol_list *list, const char *path)
{
	uint32_t i;

	for (i = 0; i < list->n; i++)
		if (may_hold(im, list->v[i].s, path))
			return true;
	return false;
}

/* There what is allowed wins over what is denied; here it is the other way round. */
static void take_out(struct import *im, const struct ynode *n, struct pol_list *from, const char *key,
		     const char *denied)
{
	struct text_shown shown;
	uint32_t i, kept = 0;

	for (i = 0; i < from->n; i++) {
		if (holds(im, denied, from->v[i].s))
			import_lost(im, n, "here a denial wins: %s, of %s, is in it and stays out",
				    text_show(&shown, sv_of(from->v[i].s)), key);
		else
			from->v[kept++] = from->v[i];
	}
	from->n = kept;
	from->set = kept > 0;
}

/* The same of what can be written and may be in it, whether or not that can be told; but not of what `shown` has, nor
 * then of the work folder where that is readable. */
static void take_out_writes(struct import *im, const struct ynode *n, const char *denied, const struct pol_list *shown)
{
	struct pol_list *from = &im->policy->fs.write;
	struct text_shown text;
	uint32_t i, kept = 0;

	for (i = 0; i < from->n; i++) {
		const char *path = from->v[i].s;

		if (!may_hold(im, denied, path) ||
		    (shown && ((im->reads_workdir && kind_of(path) == '.') || one_holds(im, shown, path))))
			from->v[kept++] = from->v[i];
		else
			import_lost(im, n, "%s, of allowWrite, may be in it and stays out",
				    text_show(&text, sv_of(path)));
	}
	from->n = kept;
	from->set = kept > 0;
}

static bool may_hold_one(struct import *im, const char *path, const struct pol_list *list)
{
	uint32_t i;

	for (i = 0; i < list->n; i++)
		if (may_hold(im, path, list->v[i].s))
			return true;
	return false;
}

/* What is allowed in a folder that is denied as a whole: the denial gives way to it, as nothing else is visible there
 * anyway. */
static void open_within(struct import *im, const struct ynode *n, const char *path)
{
	import_text(im, &im->unreadable, path);
	import_changed(im, n, "needs no rule: nothing is visible there but what the policy shows");
	if (!im->reads_workdir && !im->no_workdir) {
		import_lost(im, n, "the work folder may be in it, and \".\" is not in allowRead: it is not shown");
		im->no_workdir = true;
	}
	take_out_writes(im, n, path, &im->policy->fs.read);
}

static void take_no_read(struct import *im, const struct ynode *n)
{
	const char *path = import_denied_path(im, n);

	if (!path)
		return;
	if (is_wide(path) &&
	    (im->reads_workdir || strcmp(path, "/") == 0 || may_hold_one(im, path, &im->policy->fs.read))) {
		open_within(im, n, path);
		return;
	}
	if (is_wide(path))
		import_changed(im, n,
			       "a work folder in it is refused, which could not be read there, either; \".\" in "
			       "allowRead opens it");
	take_out(im, n, &im->policy->fs.read, "allowRead", path);
	take_out(im, n, &im->policy->fs.write, "allowWrite", path);
	import_text(im, &im->policy->fs.deny, path);
}

/* It may be the work folder, or hold it: that a rule in `read` would not keep from being written. */
static void keep_workdir(struct import *im, const struct ynode *n, const char *path)
{
	if (im->policy->fs.workdir.v == WORKDIR_READ_WRITE) {
		import_lost(im, n, "%s the work folder, which can only be read therefore",
			    is_here(path) ? "is" : "may hold");
		import_set(&im->policy->fs.workdir, WORKDIR_READ_ONLY);
	}
	take_out_writes(im, n, path, NULL);
}

/* Read-only in a folder that can be written, all of which is named from the root: what it is can be told here. */
static bool is_in_written(struct import *im, const char *path)
{
	const struct pol_list *write = &im->policy->fs.write;
	uint32_t i;

	for (i = 0; i < write->n; i++)
		if (kind_of(write->v[i].s) != '/' || may_hold(im, path, write->v[i].s))
			return false;
	return im->policy->fs.workdir.v != WORKDIR_READ_WRITE && kind_of(path) == '/' && one_holds(im, write, path) &&
	       !one_may_hold(im, &im->unreadable, path);
}

/*
 * In the work folder, or in another that can be written, not to be written means read-only. Elsewhere nothing is shown
 * that would have to be kept from being written; but the work folder may turn out to lie there, and then a run is to be
 * refused, as it is by a denial.
 */
static void take_no_write(struct import *im, const struct ynode *n)
{
	const struct policy *p = im->policy;
	const char *path = import_denied_path(im, n);

	if (!path || one_holds(im, &p->fs.deny, path))
		return;
	if (is_here(path) || is_wide(path) || (path[0] == '/' && !strchr(path + 1, '/'))) {
		keep_workdir(im, n, path);
	} else if (kind_of(path) == '.') {
		take_out_writes(im, n, path, NULL);
		import_text(im, &im->policy->fs.read, path);
	} else if (is_in_written(im, path)) {
		import_text(im, &im->policy->fs.read, path);
	} else if (p->fs.workdir.v == WORKDIR_READ_WRITE || p->fs.write.n) {
		import_changed(im, n, "cannot be read either");
		import_text(im, &im->policy->fs.deny, path);
	}
}

static const struct import_key filesystem_keys[] = {
	{"denyRead", NULL, NULL},  /* both are read when it is known what is shown */
	{"denyWrite", NULL, NULL},
	{"allowRead", take_allow_read, NULL},
	{"allowWrite", take_allow_write, NULL},
	{"allowGitConfig", NULL, ".git/config can never be written: git would run what it says"},
	{NULL, NULL, NULL},
};

static void take_denied_paths(struct import *im, const struct ynode *map, const char *key, import_fn *take)
{
	const struct ynode *n = import_find(map, key);
	size_t mark;

	if (!n)
		return;
	mark = import_down(im, sv_of(key));
	import_denials(im, n, take, CLOSED_FILES);
	import_up(im, mark);
}

static void take_filesystem(struct import *im, const struct ynode *n)
{
	import_block(im, n, filesystem_keys, CLOSED_FILES);
	take_denied_paths(im, n, "denyRead", take_no_read);
	take_denied_paths(im, n, "denyWrite", take_no_write);
}

static void take_depth(struct import *im, const struct ynode *n)
{
	import_changed(im, n, "protected names are found at any depth");
}

static const struct import_key settings_keys[] = {
	{"network", take_network, NULL},
	{"filesystem", take_filesystem, NULL},
	{"ignoreViolations", NULL, "violations are always reported"},
	{"enableWeakerNestedSandbox", NULL,
	 "isolation is never weakened silently; cordon doctor says what a machine lacks"},
	{"enableWeakerNetworkIsolation", NULL, MAC_ONLY},
	{"allowAppleEvents", NULL, MAC_ONLY},
	{"allowPty", NULL, "a command that starts on a terminal gets one of its own"},
	{"ripgrep", NULL, "no helper program is used"},
	{"seccomp", NULL, "the system call filter is built in"},
	{"mandatoryDenySearchDepth", take_depth, NULL},
	{"javaAgentJarPath", NULL, "no agent is put into programs"},
	{"windows", NULL, "about Windows only"},
	{"enabled", NULL, NULL},
	{"autoAllowBashIfSandboxed", NULL, "a setting of the agent, not of its sandbox"},
	{"excludedCommands", NULL, "no command runs outside the sandbox"},
	{"allowUnsandboxedCommands", NULL, "no command runs outside the sandbox"},
	{NULL, NULL, NULL},
};

static void take_settings(struct import *im, const struct ynode *n)
{
	struct pol_net *net = &im->policy->net;
	bool closed;

	import_set(&im->policy->fs.workdir, WORKDIR_READ_ONLY);
	import_map(im, n, settings_keys);
	closed = net->mode.set; /* a denied "*" */
	if (closed)
		net->allow = (struct net_rules){0};
	import_set(&net->mode, net->allow.n ? NET_ALLOWLIST : NET_NONE);
	import_changed(
		im, NULL,
		"there everything may be read that is not denied; here only the base system, the work folder and "
		"filesystem.read");
}

/* The agent's own rules, some of which its sandbox is held to as well, as those about reading. */
static void take_permissions(struct import *im, const struct ynode *n)
{
	static const struct {
		const char *tool;
		unsigned parts;
	} tools[] = {
		{"Read", CLOSED_FILES}, {"Edit", CLOSED_FILES}, {"Write", CLOSED_FILES}, {"WebFetch", CLOSED_NETWORK}};
	const struct ynode *list = import_find(n, "deny"), *item;
	unsigned parts = list && list->kind != YNODE_LIST && !import_is_empty(list) ? CLOSED_FILES | CLOSED_NETWORK : 0;
	size_t i;

	import_lost(
		im, n,
		"rules of the agent, not of its sandbox; write those that are about files and hosts into the policy");
	for (item = list && list->kind == YNODE_LIST ? list->first : NULL; item; item = item->next)
		for (i = 0; i < ARRAY_LEN(tools); i++)
			if (item->kind != YNODE_SCALAR || sv_starts(item->text, tools[i].tool))
				parts |= tools[i].parts;
	if (parts)
		import_close(im, list, parts);
}

static const struct import_key root_keys[] = {
	{"sandbox", take_settings, NULL},
	{"permissions", take_permissions, NULL},
	{NULL, NULL, NULL},
};

void import_from_srt(struct import *im, const struct ynode *root)
{
	if (import_find(root, "sandbox"))
		import_map(im, root, root_keys);
	else
		take_settings(im, root);
}
