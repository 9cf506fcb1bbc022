/*
 * Settings of Anthropic's sandbox-runtime. There everything may be read that is not denied, here nothing that is not
 * shown: a denied folder that may hold the work folder must therefore give way, and loses nothing by it.
 */
#include "base/path.h"
#include "base/text.h"
#include "policy/import_parts.h"
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

static void take_denied(struct import *im, const struct ynode *n)
{
	if (n->kind == YNODE_SCALAR && sv_is(n->text, "*"))
		import_set(&im->policy->net.mode, NET_NONE);
	else
		(void)import_host_port(im, n, &im->policy->net.deny);
}

static void take_denied_domains(struct import *im, const struct ynode *n)
{
	import_list(im, n, take_denied);
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
	import_map(im, n, network_keys);
}

static bool is_here(const struct ynode *n)
{
	return n->kind == YNODE_SCALAR && (sv_is(n->text, ".") || sv_is(n->text, "./"));
}

static bool is_own(const struct ynode *n)
{
	return n->kind == YNODE_SCALAR &&
	       (sv_is(n->text, "/tmp") || sv_is(n->text, "/tmp/") || sv_is(n->text, "/dev/null"));
}

static void take_write(struct import *im, const struct ynode *n)
{
	if (is_here(n)) {
		import_set(&im->policy->fs.workdir, WORKDIR_READ_WRITE);
		return;
	}
	if (is_own(n)) {
		if (!sv_is(n->text, "/dev/null"))
			import_changed(im, n, "is the sandbox's own, not the host's");
		return;
	}
	import_path(im, n, &im->policy->fs.write);
}

static void take_allow_write(struct import *im, const struct ynode *n)
{
	import_list(im, n, take_write);
}

static void take_read(struct import *im, const struct ynode *n)
{
	if (is_here(n))
		return; /* the work folder is readable at least */
	import_path(im, n, &im->policy->fs.read);
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

static bool holds(const char *outer, const char *inner)
{
	return cover_path.covers(outer, inner) || path_is_below(inner, outer);
}

static bool one_holds(const struct pol_list *list, const char *path)
{
	uint32_t i;

	for (i = 0; i < list->n; i++)
		if (holds(list->v[i].s, path))
			return true;
	return false;
}

/* There what is allowed wins over what is denied; here it is the other way round. */
static void take_out(struct import *im, const struct ynode *n, struct pol_list *from, const char *key, const char *denied)
{
	struct text_shown shown;
	uint32_t i, kept = 0;

	for (i = 0; i < from->n; i++) {
		if (holds(denied, from->v[i].s))
			import_lost(im, n, "here a denial wins: %s, of %s, is in it and stays out", text_show(&shown, sv_of(from->v[i].s)), key);
		else
			from->v[kept++] = from->v[i];
	}
	from->n = kept;
}

static void take_no_read(struct import *im, const struct ynode *n)
{
	const char *path = import_path_text(im, n);

	if (!path)
		return;
	import_text(im, &im->unreadable, path);
	if (is_wide(path)) {
		import_changed(im, n, "needs no rule: nothing is visible there but what the policy shows");
		return;
	}
	take_out(im, n, &im->policy->fs.read, "allowRead", path);
	take_out(im, n, &im->policy->fs.write, "allowWrite", path);
	import_text(im, &im->policy->fs.deny, path);
}

/* Not to be written means read-only here, and with that shown. What could not be read there either is denied. */
static void take_no_write(struct import *im, const struct ynode *n)
{
	const char *path = import_path_text(im, n);

	if (!path || one_holds(&im->policy->fs.deny, path))
		return;
	if (one_holds(&im->unreadable, path) && !one_holds(&im->policy->fs.read, path))
		import_text(im, &im->policy->fs.deny, path);
	else
		import_text(im, &im->policy->fs.read, path);
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
	import_list(im, n, take);
	import_up(im, mark);
}

static void take_filesystem(struct import *im, const struct ynode *n)
{
	import_map(im, n, filesystem_keys);
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

static const struct import_key root_keys[] = {
	{"sandbox", take_settings, NULL},
	{NULL, NULL, NULL},
};

void import_from_srt(struct import *im, const struct ynode *root)
{
	if (import_find(root, "sandbox"))
		import_map(im, root, root_keys);
	else
		take_settings(im, root);
}
