/* Every key has a row, every refusal is one, and no policy runs where a key of it would be passed over. */
#include "check.h"
#include "policy/parity.h"
#include "policy/policy_fields.h"
#include "policy/policy_parse.h"
#include "policy_memory.h"

static void has_row(void *arg, const char *key)
{
	unsigned *n = arg;

	++*n;
	if (!parity_find(key)) {
		printf("# the key %s has no row in parity.c\n", key);
		check_failures++;
	}
}

static void every_key_of_the_schema_has_a_row(void)
{
	const struct policy_field *f;
	unsigned n = 0;

	policy_parse_keys(has_row, &n);
	CHECK(n > 25);
	for (f = policy_fields; f->name; f++)
		has_row(&n, f->name);
}

struct search {
	const char *key;
	bool found;
};

static void is_it(void *arg, const char *key)
{
	struct search *s = arg;

	s->found |= strcmp(s->key, key) == 0;
}

static void every_row_is_a_key_of_the_schema(void)
{
	const struct parity_row *r;

	for (r = parity_keys; r->key; r++) {
		struct search s = {r->key, false};

		policy_parse_keys(is_it, &s);
		if (!s.found)
			printf("# %s\n", r->key);
		CHECK(s.found);
	}
}

static void a_cell_that_is_not_plain_says_how(void)
{
	const struct parity_row *const tables[] = {parity_keys, parity_rest}, *r;
	unsigned i, k;

	for (i = 0; i < 2; i++)
		for (r = tables[i]; r->key; r++)
			for (k = RUNTIME_NATIVE; k < RUNTIMES; k++) {
				bool plain = r->on[k].state == PARITY_ENFORCED || r->on[k].state == PARITY_LOAD;

				CHECK(plain == (r->on[k].how == NULL));
			}
}

static void native_refuses_only_what_nobody_can_do(void)
{
	const struct parity_row *r;
	unsigned k;

	for (r = parity_keys; r->key; r++)
		for (k = RUNTIME_NATIVE; k < RUNTIMES; k++)
			CHECK(r->on[RUNTIME_NATIVE].state == PARITY_REFUSED
				      ? r->on[k].state == PARITY_REFUSED
				      : r->on[RUNTIME_NATIVE].state != PARITY_OTHERWISE);
}

static void no_key_below_another_is_mistaken_for_it(void)
{
	CHECK(parity_find("network.allow.host") == parity_find("network.allow"));
	CHECK(!parity_find("network.allowed") && !parity_find("network") && !parity_find(""));
}

/* What a policy must say for its key to be asked for, for each cell that refuses. */
static const struct {
	const char *key, *policy;
} asking[] = {
	{"process.allow_exec", "process: {allow_exec: [/usr/bin/git]}"},
	{"process.deny_exec", "process: {deny_exec: [/usr/bin/git]}"},
	{"network.loopback", "network: {loopback: false}"},
	{"process.user", "process: {user: 77}"},
	{"check", "check: {scope-reduction: deny}"},
};

static const char *asks_for(const char *key)
{
	size_t i;

	for (i = 0; i < sizeof(asking) / sizeof(asking[0]); i++)
		if (strcmp(asking[i].key, key) == 0)
			return asking[i].policy;
	return NULL;
}

static void what_a_cell_refuses_is_refused_with_its_place(void)
{
	const struct parity_row *r;
	unsigned k;

	for (r = parity_keys; r->key; r++)
		for (k = RUNTIME_NATIVE; k < RUNTIMES; k++) {
			const char *text = asks_for(r->key);
			struct error err = {0};
			struct policy *p;

			CHECK(text || r->on[k].state != PARITY_REFUSED);
			if (!text || !(p = memory_policy(text, NULL, &err)))
				continue;
			if (r->on[k].state == PARITY_REFUSED) {
				CHECK(parity_refused(p, k, true, &err) < 0 && parity_refused(p, k, false, &err) < 0);
				CHECK_HAS(err.text, "p.yaml:2: ");
				CHECK_HAS(err.text, r->key);
				CHECK_HAS(err.text, runtime_names[k]);
				CHECK(err.kind == ERROR_DENIED);
			} else {
				CHECK(parity_refused(p, k, true, &err) == 0);
			}
			policy_free(p);
		}
}

static void an_ordinary_users_gvisor_has_one_id_only(void)
{
	struct error err = {0};
	struct policy *p = memory_policy("process: {user: 77}", NULL, &err);

	CHECK(parity_refused(p, RUNTIME_GVISOR, false, &err) < 0);
	CHECK(parity_refused(p, RUNTIME_RUNC, false, &err) == 0);
	policy_free(p);
}

static void defaults_are_refused_nowhere(void)
{
	struct error err = {0};
	struct policy *p =
		memory_policy("process: {allow_exec: [\"**\"], deny_exec: []}\nnetwork: {loopback: true}", NULL, &err);
	unsigned k;

	for (k = RUNTIME_NATIVE; k < RUNTIMES; k++)
		CHECK(parity_refused(p, k, true, &err) == 0 && parity_refused(p, k, false, &err) == 0);
	policy_free(p);
}

/* A list that is narrow only in part is narrow. */
static void a_list_of_programs_is_not_hidden_by_another_key(void)
{
	struct error err = {0};
	struct policy *p = memory_policy("process: {allow_exec: [\"/usr/**\", \"/bin/**\"]}", NULL, &err);

	CHECK(parity_refused(p, RUNTIME_GVISOR, true, &err) < 0);
	policy_free(p);
	p = memory_policy("process: {allow_exec: [\"**\"]}", "process: {allow_exec: [\"/usr/**\"]}", &err);
	CHECK(p && parity_refused(p, RUNTIME_GVISOR, true, &err) < 0);
	policy_free(p);
}

static void count(void *arg, const char *what, const char *how)
{
	unsigned *n = arg;

	CHECK(what && how);
	++*n;
}

static void notes_are_about_what_the_policy_uses(void)
{
	struct error err = {0};
	struct policy *quiet = memory_policy("filesystem: {workdir: none}", NULL, &err);
	unsigned all = 0, few = 0, native = 0;

	parity_notes(NULL, RUNTIME_GVISOR, count, &all);
	parity_notes(quiet, RUNTIME_GVISOR, count, &few);
	parity_notes(NULL, RUNTIME_NATIVE, count, &native);
	CHECK(all > few && few > 0 && native == 0);
	policy_free(quiet);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(every_key_of_the_schema_has_a_row),
		CASE(every_row_is_a_key_of_the_schema),
		CASE(a_cell_that_is_not_plain_says_how),
		CASE(native_refuses_only_what_nobody_can_do),
		CASE(no_key_below_another_is_mistaken_for_it),
		CASE(what_a_cell_refuses_is_refused_with_its_place),
		CASE(an_ordinary_users_gvisor_has_one_id_only),
		CASE(defaults_are_refused_nowhere),
		CASE(a_list_of_programs_is_not_hidden_by_another_key),
		CASE(notes_are_about_what_the_policy_uses),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
