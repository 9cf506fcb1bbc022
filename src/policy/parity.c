#include "policy/parity.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/policy_where.h"

/* What no cell says is enforced. */
#define SAME                                                                                                           \
	{                                                                                                              \
		[RUNTIME_NATIVE] = { PARITY_ENFORCED, NULL }                                                           \
	}
#define SETTLED                                                                                                        \
	{                                                                                                              \
		[RUNTIME_NATIVE... RUNTIME_DOCKER] = { PARITY_LOAD, NULL }                                             \
	}
#define NOWHERE(how)                                                                                                   \
	{                                                                                                              \
		[RUNTIME_NATIVE... RUNTIME_DOCKER] = { PARITY_REFUSED, how }                                           \
	}
#define CONTAINERS(state, how)                                                                                         \
	{                                                                                                              \
		[RUNTIME_GVISOR... RUNTIME_DOCKER] = { state, how }                                                    \
	}

const char *const parity_state_names[] = {"enforced", "by other means", "refused", "settled at load", NULL};

#define READ_AS_EVERYBODY                                                                                              \
	"as root: in folders that are only read a workload has the rights of everybody, not those of the folder's "    \
	"owner"

const struct parity_row parity_keys[] = {
	{"version", SETTLED},
	{"extends", SETTLED},
	{"filesystem.workdir",
	 CONTAINERS(PARITY_OTHERWISE, "read-write and copy show a copy; read-write is brought back when the run ends")},
	{"filesystem.read",
	 {[RUNTIME_GVISOR] = {PARITY_OTHERWISE,
			      READ_AS_EVERYBODY ", or of the host's user with the number that it has inside"},
	  [RUNTIME_RUNC] = {PARITY_OTHERWISE, READ_AS_EVERYBODY},
	  [RUNTIME_CRUN] = {PARITY_OTHERWISE, READ_AS_EVERYBODY},
	  [RUNTIME_DOCKER] = {PARITY_OTHERWISE, READ_AS_EVERYBODY}}},
	{"filesystem.write",
	 CONTAINERS(PARITY_OTHERWISE,
		    "a copy of the folder, brought back when the run ends; a single file is refused")},
	{"filesystem.deny",
	 CONTAINERS(PARITY_OTHERWISE, "what the host has or makes is hidden; what the workload makes in its copy of a "
				      "folder exists inside, and is never brought back")},
	{"filesystem.tmp_size",
	 CONTAINERS(PARITY_OTHERWISE, "divided between /tmp, the home folder and shared memory, not shared by them; "
				      "the copy of a work folder is on disk, and not bounded by it")},
	{"network.mode", SAME},
	{"network.allow", SAME},
	{"network.deny", SAME},
	{"network.dns", SAME},
	{"network.loopback", CONTAINERS(PARITY_REFUSED, "false is refused: the runtime brings loopback up")},
	{"network.ask", SAME},
	{"network.max_bytes_out", SAME},
	{"process.runtime", SETTLED},
	{"process.fallback", SETTLED},
	{"process.categories", SETTLED},
	{"process.allow_exec",
	 CONTAINERS(PARITY_REFUSED, "a list of programs is refused: only \"**\" can be kept there")},
	{"process.deny_exec", CONTAINERS(PARITY_REFUSED, "refused: nothing judges each program there")},
	{"process.user",
	 {[RUNTIME_GVISOR] =
		  {PARITY_OTHERWISE,
		   "as root; an ordinary user's run has 0 in gVisor, without privileges, and another id is refused"},
	  [RUNTIME_DOCKER] = {PARITY_REFUSED, "the id is chosen by Cordon; one in a policy is refused"}}},
	{"process.max_processes",
	 {[RUNTIME_GVISOR] =
		  {PARITY_OTHERWISE,
		   "counted by gVisor's own kernel, which sometimes ends as a whole where the limit is reached"}}},
	{"process.memory", {[RUNTIME_GVISOR] = {PARITY_OTHERWISE, "gVisor's own memory counts, too"}}},
	{"process.cpus", SAME},
	{"process.timeout", SAME},
	{"process.max_file_size", SAME},
	{"process.env.set", SAME},
	{"process.env.pass", SAME},
	{"inference.providers", SAME},
	{"inference.routes", SAME},
	{"tests", SETTLED},
	{"phases", SETTLED},
	{"check", NOWHERE("what an agent did is judged by `cordon check`, which this version does not have")},
	{NULL, SAME},
};

#define PROXY_ONLY "programs must use the proxy variables; what they dial themselves is refused at once"

const struct parity_row parity_rest[] = {
	{"dialling without a proxy",
	 {[RUNTIME_GVISOR] = {PARITY_OTHERWISE, PROXY_ONLY}, [RUNTIME_DOCKER] = {PARITY_OTHERWISE, PROXY_ONLY}}},
	{"^Z in the terminal outside",
	 CONTAINERS(PARITY_OTHERWISE, "does nothing: a container cannot be suspended from its terminal")},
	{"^D at a terminal",
	 {[RUNTIME_GVISOR] = {PARITY_OTHERWISE, "ends no program's input: its kernel's terminals do not know it; end "
						"with ^C, or pipe the input in"}}},
	{"Landlock",
	 {[RUNTIME_GVISOR] = {PARITY_OTHERWISE, "none: the host's kernel does not run the workload's calls"}}},
	{"services of a task",
	 {[RUNTIME_GVISOR] = {PARITY_OTHERWISE, "their sandboxes share one kernel of gVisor's, and the task's memory "
						"and processors; System V IPC is the first service's alone"}}},
	{"what the host sees",
	 CONTAINERS(PARITY_OTHERWISE,
		    "files that the workload writes get to the host when the run has ended, not before")},
	{"other users' files",
	 CONTAINERS(PARITY_OTHERWISE,
		    "as root: in a copy they can be moved, replaced and removed, and their modes have no right to "
		    "write; none of that comes back, and what was tried is said when the run ends")},
	{"what comes back",
	 CONTAINERS(PARITY_OTHERWISE, "bytes, permissions, links and times, not times alone; names of one file stay "
				      "that where all are new or changed and in one new folder, or in none; no "
				      "extended attribute: what is changed loses those that it had")},
	{NULL, SAME},
};

const struct parity_row *parity_find(const char *key)
{
	const struct parity_row *r;
	size_t n;

	for (r = parity_keys; r->key; r++) {
		n = strlen(r->key);
		if (strncmp(r->key, key, n) == 0 && (key[n] == '\0' || key[n] == '.'))
			return r;
	}
	return NULL;
}

/* Those that ask for something which a cell may refuse, with the place where they do. */
static bool asks_allow_exec(const struct policy *p, struct origin *at)
{
	const struct pol_list *l = &p->process.allow_exec;
	uint32_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->v[i].s, "**") == 0 || strcmp(l->v[i].s, "/**") == 0)
			return false;
	*at = l->n ? l->v[0].at : (struct origin){0};
	return l->set;
}

static bool asks_deny_exec(const struct policy *p, struct origin *at)
{
	const struct pol_list *l = &p->process.deny_exec;

	*at = l->n ? l->v[0].at : (struct origin){0};
	return l->n > 0;
}

static bool asks_no_loopback(const struct policy *p, struct origin *at)
{
	*at = p->net.loopback.at;
	return p->net.loopback.set && !p->net.loopback.v;
}

/* Defaults ask for nothing: only an id that a file gives must be had. */
static bool asks_user(const struct policy *p, struct origin *at)
{
	*at = p->process.user.at;
	return p->process.user.set && p->process.user.at.file != 0;
}

/* Of a phase too. */
static bool asks_check(const struct policy *p, struct origin *at)
{
	const struct pol_pairs *c = &p->check;
	size_t i;

	for (i = 0; !c->n && i < p->n_phases; i++)
		c = &p->phases[i].policy->check;
	*at = c->n ? c->v[0].at : (struct origin){0};
	return c->n > 0;
}

static const struct {
	const char *key;
	bool (*asks)(const struct policy *p, struct origin *at);
	bool unless_root; /* a cell that is BY(...) refuses ordinary users all the same */
	const char *instead;
} refusals[] = {
	{"process.allow_exec", asks_allow_exec, false, "leave it out, or run native"},
	{"process.deny_exec", asks_deny_exec, false, "leave it out, or run native"},
	{"network.loopback", asks_no_loopback, false, "leave it out, or run native"},
	{"process.user", asks_user, true, "leave it out, or run native, runc or crun"},
	{"check", asks_check, false, "leave it out"},
};

int parity_refused(const struct policy *p, enum runtime runtime, bool root, struct error *err)
{
	const struct parity_cell *cell;
	struct origin at;
	size_t i;

	for (i = 0; i < ARRAY_LEN(refusals); i++) {
		cell = &parity_find(refusals[i].key)->on[runtime];
		if (cell->state != PARITY_REFUSED &&
		    !(cell->state == PARITY_OTHERWISE && refusals[i].unless_root && !root))
			continue;
		if (refusals[i].asks(p, &at))
			return error_set(err, ERROR_DENIED, "%.200s: %s: %s cannot enforce it (%s); %s",
					 policy_where(p, at), refusals[i].key, runtime_names[runtime], cell->how,
					 refusals[i].instead);
	}
	return 0;
}

/* Whether a policy has anything to do with a key whose cell is not plain. */
static bool uses(const struct policy *p, const char *key)
{
	struct origin at;

	if (strcmp(key, "filesystem.write") == 0)
		return p->fs.write.n > 0;
	if (strcmp(key, "filesystem.workdir") == 0)
		return p->fs.workdir.v == WORKDIR_READ_WRITE || p->fs.workdir.v == WORKDIR_COPY;
	if (strcmp(key, "process.user") == 0)
		return asks_user(p, &at);
	if (strcmp(key, "dialling without a proxy") == 0)
		return p->net.mode.v != NET_NONE;
	return true;
}

void parity_notes(const struct policy *p, enum runtime runtime,
		  void (*say)(void *arg, const char *what, const char *how), void *arg)
{
	const struct parity_row *const tables[] = {parity_keys, parity_rest}, *r;
	size_t i;

	for (i = 0; i < ARRAY_LEN(tables); i++)
		for (r = tables[i]; r->key; r++)
			if (r->on[runtime].state == PARITY_OTHERWISE && (!p || uses(p, r->key)))
				say(arg, r->key, r->on[runtime].how);
}
