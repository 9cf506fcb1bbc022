#include "policy/import.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "policy/import_parts.h"
#include "policy/policy_show.h"

const char *const import_source_names[] = {"synthorg", "openshell", "srt", NULL};

static const char *const source_titles[] = {"SynthOrg DockerSandboxConfig", "NVIDIA OpenShell policy",
					    "Anthropic sandbox-runtime settings"};
static import_fn *const readers[] = {import_from_synthorg, import_from_openshell, import_from_srt};

/* Keys at the top that only one of the sources has. */
static const struct {
	const char *key;
	enum import_source source;
	enum ynode_kind kind;
} marks[] = {
	{"network_policies", IMPORT_OPENSHELL, YNODE_MAP},
	{"filesystem_policy", IMPORT_OPENSHELL, YNODE_MAP},
	{"landlock", IMPORT_OPENSHELL, YNODE_MAP},
	{"network_middlewares", IMPORT_OPENSHELL, YNODE_MAP},
	{"sandboxing", IMPORT_SYNTHORG, YNODE_MAP},
	{"docker", IMPORT_SYNTHORG, YNODE_MAP},
	{"network", IMPORT_SYNTHORG, YNODE_SCALAR},
	{"allowed_hosts", IMPORT_SYNTHORG, YNODE_LIST},
	{"network_overrides", IMPORT_SYNTHORG, YNODE_MAP},
	{"runtime_overrides", IMPORT_SYNTHORG, YNODE_MAP},
	{"memory_limit", IMPORT_SYNTHORG, YNODE_SCALAR},
	{"cpu_limit", IMPORT_SYNTHORG, YNODE_SCALAR},
	{"pids_limit", IMPORT_SYNTHORG, YNODE_SCALAR},
	{"mount_mode", IMPORT_SYNTHORG, YNODE_SCALAR},
	{"timeout_seconds", IMPORT_SYNTHORG, YNODE_SCALAR},
	{"network_allow_all", IMPORT_SYNTHORG, YNODE_SCALAR},
	{"sandbox", IMPORT_SRT, YNODE_MAP},
	{"ignoreViolations", IMPORT_SRT, YNODE_MAP},
	{"enableWeakerNestedSandbox", IMPORT_SRT, YNODE_SCALAR},
};

static bool has_any(const struct ynode *map, const char *const *keys)
{
	for (; map && *keys; keys++)
		if (import_find(map, *keys))
			return true;
	return false;
}

static int detect(const struct ynode *root, enum import_source *ret)
{
	static const char *const srt_network[] = {"allowedDomains", "deniedDomains", "allowLocalBinding", NULL};
	static const char *const srt_files[] = {"denyRead", "allowRead", "allowWrite", "denyWrite", NULL};
	static const char *const openshell_process[] = {"run_as_user", "run_as_group", NULL};
	const struct ynode *n;
	size_t i;

	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		n = import_find(root, marks[i].key);
		if (n && n->kind == marks[i].kind) {
			*ret = marks[i].source;
			return 0;
		}
	}
	if (has_any(import_find(root, "network"), srt_network) || has_any(import_find(root, "filesystem"), srt_files))
		*ret = IMPORT_SRT;
	else if (has_any(import_find(root, "process"), openshell_process))
		*ret = IMPORT_OPENSHELL;
	else
		return -1;
	return 0;
}

static int read_tree(struct arena *a, const char *name, struct sv bytes, const struct ynode **ret, struct error *err)
{
	struct error ignored = {0};
	size_t i = 0;

	while (i < bytes.n && strchr(" \t\r\n", bytes.p[i]) && bytes.p[i])
		i++;
	/* YAML in flow style begins with a brace too, so a failure here is not the last word. */
	if (i < bytes.n && bytes.p[i] == '{') {
		*ret = import_json_tree(a, name, bytes, &ignored);
		if (*ret)
			return 0;
	}
	if (yaml_tree(a, name, bytes, ret, err) == 0)
		return 0;
	if (ignored.kind)
		*err = ignored;
	return -1;
}

static int run(struct import *im, const char *name, struct sv bytes, enum import_source from, struct error *err)
{
	const struct ynode *root = NULL;
	struct text_shown shown;

	(void)text_show(&shown, sv_of(name));
	if (read_tree(im->arena, name, bytes, &root, err) < 0)
		return -1;
	if (root->kind != YNODE_MAP)
		return error_set(err, ERROR_INPUT, "%s: is %s, not a mapping of settings", shown.s, ynode_what(root));
	if (from == IMPORT_DETECT && detect(root, &from) < 0)
		return error_set(err, ERROR_INPUT,
				 "%s: is no SynthOrg, OpenShell or sandbox-runtime file that Cordon knows; say which "
				 "with --from",
				 shown.s);
	im->result->source = from;
	readers[from](im, root);
	import_settle(im);
	if (arena_failed(im->arena))
		return error_sys(err, ENOMEM, "%s", shown.s);
	return 0;
}

int policy_import(const char *name, struct sv bytes, enum import_source from, struct import_result *ret,
		  struct error *err)
{
	struct import_result result = {.policy = policy_new()};
	struct import im = {.result = &result, .policy = result.policy, .tail = &result.notes};

	if (!result.policy)
		return error_sys(err, ENOMEM, "import");
	im.arena = result.policy->arena;
	if (run(&im, name, bytes, from, err) < 0) {
		policy_free(result.policy);
		return -1;
	}
	*ret = result;
	return 0;
}

void import_done(struct import_result *r)
{
	policy_free(r->policy);
	*r = (struct import_result){0};
}

static void print_notes(const struct import_result *r, enum import_loss loss, const char *title, struct buf *out)
{
	const struct import_note *n;

	(void)buf_printf(out, "#\n# %s\n", title);
	for (n = r->notes; n; n = n->next) {
		if (n->loss != loss)
			continue;
		(void)buf_printf(out, "#   %s", n->key);
		if (n->line)
			(void)buf_printf(out, " (line %u)", n->line);
		(void)buf_printf(out, ": %s\n", n->text);
	}
}

void import_print(const struct import_result *r, const char *name, struct buf *out)
{
	struct text_shown shown;

	(void)buf_printf(out, "# Made by `cordon policy import` from %s (%s).\n", text_show(&shown, sv_of(name)),
			 source_titles[r->source]);
	if (r->n_lost)
		print_notes(r, IMPORT_LOST, "Could not be carried over:", out);
	if (r->n_changed)
		print_notes(r, IMPORT_CHANGED, "Means something else here, never more than it did:", out);
	policy_show_yaml(r->policy, 0, out);
}
