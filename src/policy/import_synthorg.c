/*
 * SynthOrg's DockerSandboxConfig. Its `policy` block, where there is one, overrides the flat keys, so it is read last.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "base/path.h"
#include "base/text.h"
#include "conf/value.h"
#include "policy/import_parts.h"

#define NO_IMAGE   "the native runtime shows the host's base system; container images are not used"
#define NO_SIDECAR "there is no sidecar: the gateway does its work"

enum synth_network { SYNTH_NONE, SYNTH_BRIDGE, SYNTH_HOST };
static const char *const network_names[] = {"none", "bridge", "host", NULL};

/* The workspace is mounted here in SynthOrg's containers. */
#define WORKSPACE "/workspace"

static bool scalar_in(struct import *im, const struct ynode *n, const char *const *names, int *ret)
{
	struct text_shown shown;

	*ret = n->kind == YNODE_SCALAR ? name_index(names, n->text) : -1;
	if (*ret < 0)
		import_lost(im, n, "%s is no value that SynthOrg takes",
			    n->kind == YNODE_SCALAR ? text_show(&shown, n->text) : "this");
	return *ret >= 0;
}

/* Docker's sizes: an integer and k, m or g; bare: bytes. */
static const char *docker_size(struct sv s, uint64_t *ret)
{
	char text[32];

	if (s.n == 0 || s.n >= sizeof(text) - 1)
		return "is no size";
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	if (text[s.n - 1] == 'b' || text[s.n - 1] == 'B')
		text[--s.n] = '\0';
	if (s.n && strchr("kmg", text[s.n - 1]))
		text[s.n - 1] = (char)(text[s.n - 1] - 'a' + 'A');
	return value_size_positive(sv_of(text), ret);
}

/* A number with decimals, in thousandths: CPUs, and seconds as milliseconds. */
static const char *thousandths(struct sv s, uint64_t *ret)
{
	char text[32], *end;
	double v;

	if (s.n == 0 || s.n >= sizeof(text))
		return "is no number";
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	v = strtod(text, &end);
	if (*end || !(v > 0) || v > 1e9)
		return "is no number above 0";
	*ret = (uint64_t)(v * 1000 + 0.5);
	return *ret ? NULL : "is too small";
}

static void take_network(struct import *im, const struct ynode *n)
{
	int mode;

	if (!scalar_in(im, n, network_names, &mode))
		mode = SYNTH_NONE;
	import_set(&im->policy->net.mode, mode == SYNTH_NONE ? NET_NONE : NET_PUBLIC);
	if (mode == SYNTH_HOST)
		import_lost(im, n, "the host's own network is never given; public hosts can be reached instead");
}

static void take_allow_all(struct import *im, const struct ynode *n)
{
	if (!import_is_true(n))
		return;
	if (im->policy->net.mode.v == NET_NONE) {
		import_changed(im, n, "network is none, so this opens nothing");
		return;
	}
	import_set(&im->policy->net.mode, NET_PUBLIC);
	im->all_hosts = true;
	import_changed(im, n, "every public host can be reached, but private and metadata addresses stay closed");
}

static void take_host(struct import *im, const struct ynode *n)
{
	struct net_rule *r = import_host_port(im, n, &im->policy->net.allow);

	if (!r || r->n_ports)
		return;
	import_lost(im, n, "names no port, which SynthOrg requires");
	import_drop_rule(&im->policy->net.allow);
}

static void take_hosts(struct import *im, const struct ynode *n)
{
	im->lists_hosts = im->lists_hosts || !import_is_empty(n);
	import_list(im, n, take_host);
}

static void take_preset(struct import *im, const struct ynode *n)
{
	static const struct {
		const char *preset, *host;
	} presets[] = {
		{"python-dev", "pypi.org"},
		{"python-dev", "files.pythonhosted.org"},
		{"node-dev", "registry.npmjs.org"},
		{"git", "github.com"},
		{"git", "gitlab.com"},
		{"git", "bitbucket.org"},
	};
	struct text_shown shown;
	struct net_rule *r;
	bool known = false;
	size_t i;

	for (i = 0; i < ARRAY_LEN(presets); i++) {
		if (n->kind != YNODE_SCALAR || !sv_is(n->text, presets[i].preset))
			continue;
		known = true;
		r = import_rule(im, n, sv_of(presets[i].host), &im->policy->net.allow);
		if (r)
			import_port(im, r, 443);
	}
	if (!known)
		import_lost(im, n, "%s is no preset that Cordon knows",
			    n->kind == YNODE_SCALAR ? text_show(&shown, n->text) : "this");
}

static void take_presets(struct import *im, const struct ynode *n)
{
	im->lists_hosts = im->lists_hosts || !import_is_empty(n);
	import_list(im, n, take_preset);
}

/* False: noted. */
static bool is_map(struct import *im, const struct ynode *n)
{
	if (n->kind != YNODE_MAP && !import_is_empty(n))
		import_lost(im, n, "is %s where a mapping belongs", ynode_what(n));
	return n->kind == YNODE_MAP;
}

static void take_network_overrides(struct import *im, const struct ynode *n)
{
	const struct ynode *k;
	struct text_shown a, b;
	size_t mark;
	int mode;

	for (k = is_map(im, n) ? n->first : NULL; k; k = k->next) {
		mark = import_down(im, k->text);
		import_lost(
			im, k,
			"the network is the same for all categories here; run %s with a policy of its own (network %s)",
			text_show(&a, k->text), text_show(&b, k->value->text));
		mode = k->value->kind == YNODE_SCALAR ? name_index(network_names, k->value->text) : -1;
		if (mode != SYNTH_BRIDGE && mode != SYNTH_HOST) {
			import_lost(im, k, "where one category has no network, none has one here");
			im->closed |= CLOSED_NETWORK;
		}
		import_up(im, mark);
	}
	if (n->kind != YNODE_MAP && !import_is_empty(n))
		import_close(im, n, CLOSED_NETWORK);
}

static void take_dns(struct import *im, const struct ynode *n)
{
	import_set(&im->policy->net.dns, import_is_true(n) ? DNS_POLICY : DNS_NONE);
}

static void take_loopback(struct import *im, const struct ynode *n)
{
	import_set(&im->policy->net.loopback, import_is_true(n));
}

static void take_memory(struct import *im, const struct ynode *n)
{
	import_num(im, n, docker_size, &im->policy->process.memory);
}

static void take_tmpfs(struct import *im, const struct ynode *n)
{
	import_num(im, n, docker_size, &im->policy->fs.tmp_size);
}

static void take_cpus(struct import *im, const struct ynode *n)
{
	import_num(im, n, thousandths, &im->policy->process.cpus);
}

static void take_timeout(struct import *im, const struct ynode *n)
{
	import_num(im, n, thousandths, &im->policy->process.timeout);
}

static void take_pids(struct import *im, const struct ynode *n)
{
	import_num(im, n, value_positive, &im->policy->process.max_processes);
}

static void take_mount_mode(struct import *im, const struct ynode *n)
{
	static const char *const modes[] = {"ro", "rw", NULL};
	int mode;

	if (scalar_in(im, n, modes, &mode))
		import_set(&im->policy->fs.workdir, mode ? WORKDIR_READ_WRITE : WORKDIR_READ_ONLY);
}

/* Docker's names of runtimes. Returns our name, or NULL (noted). */
static const char *runtime_of(struct import *im, const struct ynode *n)
{
	static const struct {
		const char *theirs, *ours;
	} names[] = {{"runsc", "gvisor"}, {"gvisor", "gvisor"}, {"runc", "runc"}, {"crun", "crun"}};
	struct text_shown shown;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (n->kind == YNODE_SCALAR && sv_is(n->text, names[i].theirs))
			return names[i].ours;
	import_lost(im, n, "%s is no runtime that Cordon has",
		    n->kind == YNODE_SCALAR ? text_show(&shown, n->text) : "this");
	return NULL;
}

static void note_fallback(struct import *im, const struct ynode *n, const char *name)
{
	if (strcmp(name, "gvisor") == 0)
		import_changed(im, n,
			       "without a working gVisor the run is refused, not started under Docker's default; "
			       "process.fallback can name another runtime");
}

static void take_runtime(struct import *im, const struct ynode *n)
{
	const char *name = runtime_of(im, n);

	if (!name)
		return;
	import_set(&im->policy->process.runtime, (uint64_t)name_index(runtime_names, sv_of(name)));
	note_fallback(im, n, name);
}

static void take_runtime_overrides(struct import *im, const struct ynode *n)
{
	const struct ynode *k;
	const char *name;
	size_t mark;
	int category;

	for (k = is_map(im, n) ? n->first : NULL; k; k = k->next) {
		mark = import_down(im, k->text);
		category = name_index(category_names, k->text);
		if (category < 0)
			import_lost(im, k, "no such category here");
		else if ((name = runtime_of(im, k->value))) {
			import_pair(im, &im->policy->process.categories, category_names[category], name);
			note_fallback(im, k, name);
		}
		import_up(im, mark);
	}
}

/* What was below the workspace is below the work folder, wherever that is; "." is the workspace itself. */
static const char *from_workspace(const char *path)
{
	const char *rest = path_rest(path, WORKSPACE);

	return !rest ? path : *rest ? rest + 1 : ".";
}

static void policy_path(struct import *im, const struct ynode *n, struct pol_list *to, enum workdir_mode mode)
{
	const char *path = import_path_text(im, n);

	if (!path)
		return;
	path = from_workspace(path);
	if (strcmp(path, ".") != 0)
		import_text(im, to, path);
	else if (mode > im->policy->fs.workdir.v || !im->policy->fs.workdir.set)
		import_set(&im->policy->fs.workdir, mode);
}

static void take_read_path(struct import *im, const struct ynode *n)
{
	policy_path(im, n, &im->policy->fs.read, WORKDIR_READ_ONLY);
}

static void take_write_path(struct import *im, const struct ynode *n)
{
	policy_path(im, n, &im->policy->fs.write, WORKDIR_READ_WRITE);
}

static void close_workdir(struct import *im, const struct ynode *n)
{
	import_lost(im, n, "is or holds the workspace: the work folder is not shown");
	im->no_workdir = true;
}

/* A pattern whose first part may be the workspace's name means what is in the work folder, too. */
static void deny_in_workspace(struct import *im, const struct ynode *n, const char *path)
{
	const char *rest = path[0] == '/' ? strchr(path + 1, '/') : NULL;
	struct sv first = sv_n(path + 1, rest ? (size_t)(rest - path - 1) : strlen(path + 1));

	if (path[0] != '/' || sv_is(first, "**") || !glob_component(first, sv_of(&WORKSPACE[1])))
		return;
	if (!rest || strcmp(rest, "/*") == 0 || strcmp(rest, "/**") == 0)
		close_workdir(im, n);
	else
		import_text(im, &im->policy->fs.deny, rest + 1);
}

static void take_deny_path(struct import *im, const struct ynode *n)
{
	const char *path = import_denied_path(im, n);

	if (!path)
		return;
	if (strcmp(path, "/") == 0 || strcmp(path, "/**") == 0 || strcmp(path, "**") == 0) {
		import_close(im, n, CLOSED_FILES);
		return;
	}
	if (!path_rest(path, WORKSPACE))
		deny_in_workspace(im, n, path);
	path = from_workspace(path);
	if (strcmp(path, ".") == 0 || strcmp(path, "*") == 0 || strcmp(path, "**") == 0)
		close_workdir(im, n);
	else
		import_text(im, &im->policy->fs.deny, path);
}

static void take_read_paths(struct import *im, const struct ynode *n)
{
	import_list(im, n, take_read_path);
}

static void take_write_paths(struct import *im, const struct ynode *n)
{
	import_list(im, n, take_write_path);
}

static void take_deny_paths(struct import *im, const struct ynode *n)
{
	import_denials(im, n, take_deny_path, CLOSED_FILES);
}

static const struct import_key filesystem_keys[] = {
	{"read_paths", take_read_paths, NULL},
	{"write_paths", take_write_paths, NULL},
	{"deny_paths", take_deny_paths, NULL},
	{NULL, NULL, NULL},
};

static bool names_workspace(struct import *im, const struct ynode *list)
{
	const struct ynode *item;
	const char *path;

	for (item = list && list->kind == YNODE_LIST ? list->first : NULL; item; item = item->next) {
		path = item->kind == YNODE_SCALAR ? import_plain_path(im, item->text) : NULL;
		if (path && strcmp(from_workspace(path), ".") == 0)
			return true;
	}
	return false;
}

static void take_filesystem(struct import *im, const struct ynode *n)
{
	struct pol_fs *fs = &im->policy->fs;

	import_block(im, n, filesystem_keys, CLOSED_FILES);
	if (fs->workdir.v == WORKDIR_READ_WRITE && names_workspace(im, import_find(n, "read_paths")) &&
	    !names_workspace(im, import_find(n, "write_paths"))) {
		import_changed(im, n,
			       "the workspace is among its read_paths only, which takes the place of mount_mode");
		import_set(&fs->workdir, WORKDIR_READ_ONLY);
	}
	if (fs->read.n || fs->write.n)
		import_lost(im, n, IMPORT_CONTAINER);
	else if (fs->deny.n)
		import_changed(im, n, "these were paths of a container; here they are the host's");
}

static const struct import_key policy_network_keys[] = {
	{"mode", take_network, NULL},
	{"allowed_hosts", take_hosts, NULL},
	{"dns_allowed", take_dns, NULL},
	{"loopback_allowed", take_loopback, NULL},
	{NULL, NULL, NULL},
};

static void take_policy_network(struct import *im, const struct ynode *n)
{
	/* The block's own list replaces the flat one. */
	if (import_find(n, "allowed_hosts") && im->policy->net.allow.n) {
		import_changed(im, n,
			       "its allowed_hosts take the place of those beside the policy, as there: %u are left out",
			       im->policy->net.allow.n);
		im->policy->net.allow = (struct net_rules){0};
	}
	if (import_find(n, "allowed_hosts") && !import_is_empty(import_find(n, "allowed_hosts")))
		im->all_hosts = false;
	import_block(im, n, policy_network_keys, CLOSED_NETWORK);
}

/* Where programs are that have a name only. */
static const char *const program_folders[] = {"/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"};

static void add_program(struct import *im, const char *path, struct pol_list *to)
{
	size_t i;

	if (strchr(path, '/')) {
		import_text(im, to, from_workspace(path));
		return;
	}
	for (i = 0; i < ARRAY_LEN(program_folders); i++)
		import_text(im, to, arena_printf(im->arena, "%s/%s", program_folders[i], path));
}

static void take_allowed_program(struct import *im, const struct ynode *n)
{
	const char *path = import_path_text(im, n);

	if (path && !strchr(path, '/'))
		import_changed(im, n, "is the program of that name in the system's folders");
	if (path)
		add_program(im, path, &im->policy->process.allow_exec);
}

/* A name alone means every program that is called so. */
static void take_denied_program(struct import *im, const struct ynode *n)
{
	const char *path = import_path_text(im, n);

	if (!path) {
		import_close(im, n, CLOSED_PROGRAMS);
		return;
	}
	if (!strchr(path, '/'))
		import_text(im, &im->policy->process.deny_exec, arena_printf(im->arena, "**/%s", path));
	add_program(im, path, &im->policy->process.deny_exec);
}

/* An empty list means any, here as there: one of which nothing can be carried over does not. */
static void take_allowed_programs(struct import *im, const struct ynode *n)
{
	import_denials(im, n, take_allowed_program, CLOSED_PROGRAMS);
	if (n->kind == YNODE_LIST && n->n && im->policy->process.allow_exec.n == 0)
		import_close(im, n, CLOSED_PROGRAMS);
}

static void take_denied_programs(struct import *im, const struct ynode *n)
{
	import_denials(im, n, take_denied_program, CLOSED_PROGRAMS);
}

static const struct import_key process_keys[] = {
	{"max_processes", take_pids, NULL},
	{"allowed_executables", take_allowed_programs, NULL},
	{"deny_executables", take_denied_programs, NULL},
	{NULL, NULL, NULL},
};

static void take_process(struct import *im, const struct ynode *n)
{
	if (import_find(n, "max_processes"))
		import_changed(im, n, "its max_processes takes the place of pids_limit, as there");
	import_block(im, n, process_keys, CLOSED_PROGRAMS);
}

static void take_proxy(struct import *im, const struct ynode *n)
{
	if (!import_is_true(n))
		import_changed(im, n, "models are always reached through the gateway, which holds the credentials");
}

static void take_provider(struct import *im, const struct ynode *n)
{
	struct pol_inference *inf = &im->policy->inference;
	int kind = n->kind == YNODE_SCALAR ? name_index(provider_kind_names, n->text) : -1;
	struct provider *v;

	if (kind < 0) {
		import_lost(im, n, "add it to inference.providers with its kind, url and credential");
		return;
	}
	v = arena_array(im->arena, inf->n_providers + 1, sizeof(*v));
	if (!v)
		return;
	if (inf->n_providers)
		memcpy(v, inf->providers, inf->n_providers * sizeof(*v));
	v[inf->n_providers] = (struct provider){.name = provider_kind_names[kind]};
	import_set(&v[inf->n_providers].kind, (uint64_t)kind);
	v[inf->n_providers].credential.s = provider_kind_names[kind];
	inf->providers = v;
	inf->n_providers++;
}

static void take_providers(struct import *im, const struct ynode *n)
{
	import_list(im, n, take_provider);
}

static const struct import_key inference_keys[] = {
	{"route_through_proxy", take_proxy, NULL},
	{"allowed_providers", take_providers, NULL},
	{NULL, NULL, NULL},
};

static void take_inference(struct import *im, const struct ynode *n)
{
	import_map(im, n, inference_keys);
}

static const struct import_key policy_keys[] = {
	{"filesystem", take_filesystem, NULL},
	{"network", take_policy_network, NULL},
	{"process", take_process, NULL},
	{"inference", take_inference, NULL},
	{NULL, NULL, NULL},
};

static const struct import_key docker_keys[] = {
	{"image", NULL, NO_IMAGE},
	{"network", take_network, NULL},
	{"network_overrides", take_network_overrides, NULL},
	{"network_presets", take_presets, NULL},
	{"allowed_hosts", take_hosts, NULL},
	{"dns_allowed", take_dns, NULL},
	{"loopback_allowed", take_loopback, NULL},
	{"network_allow_all", NULL, NULL}, /* read when it is known whether there is a network */
	{"memory_limit", take_memory, NULL},
	{"cpu_limit", take_cpus, NULL},
	{"pids_limit", take_pids, NULL},
	{"timeout_seconds", take_timeout, NULL},
	{"tmpfs_size", take_tmpfs, NULL},
	{"mount_mode", take_mount_mode, NULL},
	{"runtime", take_runtime, NULL},
	{"runtime_overrides", take_runtime_overrides, NULL},
	{"sidecar_image", NULL, NO_SIDECAR},
	{"sidecar_pids_limit", NULL, NO_SIDECAR},
	{"sidecar_tmpfs_size", NULL, NO_SIDECAR},
	{"lifecycle", NULL, "a sandbox lives as long as its command"},
	{"policy", NULL, NULL},
	{NULL, NULL, NULL},
};

static void set_defaults(struct policy *p)
{
	import_set(&p->fs.workdir, WORKDIR_READ_ONLY);
	import_set(&p->fs.tmp_size, UINT64_C(64) << 20);
	import_set(&p->net.mode, NET_NONE);
	import_set(&p->process.memory, UINT64_C(512) << 20);
	import_set(&p->process.cpus, 1000);
	import_set(&p->process.max_processes, 64);
	import_set(&p->process.timeout, 120000);
}

/* SynthOrg's mode says whether there is a network, its list where it leads; ours says both. */
static void settle_network(struct import *im, const struct ynode *docker)
{
	struct pol_net *net = &im->policy->net;
	size_t mark = import_down(im, sv_of("allowed_hosts"));

	if (net->allow.n && net->mode.v == NET_NONE) {
		import_lost(im, import_find(docker, "allowed_hosts"),
			    "network is none, so these open nothing; set network.mode to allowlist to use them");
		net->allow = (struct net_rules){0};
	} else if (net->mode.v != NET_NONE && im->lists_hosts && !im->all_hosts) {
		if (!net->allow.n)
			import_lost(im, import_find(docker, "allowed_hosts"),
				    "of what was listed nothing is left, so there is no network");
		import_set(&net->mode, net->allow.n ? NET_ALLOWLIST : NET_NONE);
	}
	import_up(im, mark);
}

static void take_docker(struct import *im, const struct ynode *n)
{
	const struct ynode *block = import_find(n, "policy"), *all;
	size_t mark;

	set_defaults(im->policy);
	import_map(im, n, docker_keys);
	all = import_find(n, "network_allow_all");
	if (all) {
		mark = import_down(im, sv_of("network_allow_all"));
		take_allow_all(im, all);
		import_up(im, mark);
	}
	if (block && !import_is_empty(block)) {
		mark = import_down(im, sv_of("policy"));
		import_block(im, block, policy_keys, CLOSED_FILES | CLOSED_NETWORK | CLOSED_PROGRAMS);
		import_up(im, mark);
	}
	settle_network(im, n);
}

static const struct import_key sandboxing_keys[] = {
	{"docker", take_docker, NULL},
	{"default_backend", NULL, "the runtime is process.runtime here"},
	{"overrides", NULL, "the runtime of a category is process.categories here"},
	{"subprocess", NULL, "settings of SynthOrg's subprocess backend have no counterpart"},
	{NULL, NULL, NULL},
};

static void take_sandboxing(struct import *im, const struct ynode *n)
{
	import_map(im, n, sandboxing_keys);
}

static const struct import_key root_keys[] = {
	{"sandboxing", take_sandboxing, NULL},
	{NULL, NULL, NULL},
};

void import_from_synthorg(struct import *im, const struct ynode *root)
{
	if (import_find(root, "sandboxing"))
		import_map(im, root, root_keys);
	else if (import_find(root, "docker"))
		import_map(im, root, sandboxing_keys);
	else
		take_docker(im, root);
}
