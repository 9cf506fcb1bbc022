#include "check.h"
#include "plan/environ.h"

static char *const host[] = {
	(char[]){"HOME=/home/ann"},
	(char[]){"TERM=xterm-256color"},
	(char[]){"LC_TIME=de_DE"},
	(char[]){"LC_API_KEY=x"},
	(char[]){"ANTHROPIC_API_KEY=sk-fake"},
	(char[]){"AWS_PROFILE=prod"},
	(char[]){"LD_PRELOAD=/tmp/x.so"},
	(char[]){"BASH_FUNC_x%%=() { :; }"},
	(char[]){"EDITOR=vi"},
	NULL,
};

static struct environ_set built(struct arena *a, const struct policy *p, const char *const *args, size_t n, bool tty)
{
	struct environ_request req = {.policy = p,
				      .host = host,
				      .pwd = "/w",
				      .home = "/home/ann",
				      .tty = tty,
				      .arguments = args,
				      .n_arguments = n,
				      .report = true};
	struct environ_set set = {0};
	struct error err = {0};

	CHECK(environ_build(a, &req, &set, &err) == 0);
	return set;
}

static const struct environ_entry *get(const struct environ_set *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (strcmp(s->entries[i].name, name) == 0)
			return &s->entries[i];
	return NULL;
}

static const char *value(const struct environ_set *s, const char *name)
{
	const struct environ_entry *e = get(s, name);

	return e ? e->value : NULL;
}

static void add_pass(struct policy *p, const char *name)
{
	struct pol_list *l = &p->process.env_pass;
	struct pol_str *v = arena_array(p->arena, l->n + 1, sizeof(*v));

	if (l->n)
		memcpy(v, l->v, l->n * sizeof(*v));
	v[l->n] = (struct pol_str){name, {0}};
	*l = (struct pol_list){v, l->n + 1, true};
}

static void nothing_of_the_host_goes_in_unasked(void)
{
	struct policy *p = policy_new();
	struct arena *a = arena_new();
	struct environ_set s = built(a, p, NULL, 0, false);
	char **vector = environ_vector(a, &s);
	size_t n = 0;

	CHECK(s.n_in == 8);
	CHECK_STR(value(&s, "HOME"), "/home/ann");
	CHECK_STR(value(&s, "PWD"), "/w");
	CHECK_STR(value(&s, "PATH"), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	CHECK(!value(&s, "TERM") && !value(&s, "EDITOR") && !value(&s, "ANTHROPIC_API_KEY"));
	CHECK(get(&s, "EDITOR")->why == ENVIRON_NOT_NAMED && get(&s, "LD_PRELOAD")->why == ENVIRON_FORBIDDEN);
	while (vector && vector[n])
		n++;
	CHECK(n == s.n_in);
	CHECK_STR(vector[0], "HOME=/home/ann");
	arena_free(a);
	policy_free(p);
}

static void term_goes_in_with_a_terminal_only(void)
{
	struct policy *p = policy_new();
	struct arena *a = arena_new();
	struct environ_set s = built(a, p, NULL, 0, true);

	CHECK_STR(value(&s, "TERM"), "xterm-256color");
	arena_free(a);
	policy_free(p);
}

static void a_credential_goes_in_only_by_its_name_and_is_marked(void)
{
	struct policy *p = policy_new();
	struct arena *a = arena_new();
	struct environ_set s;

	add_pass(p, "LC_TIME");
	add_pass(p, "ANTHROPIC_API_KEY");
	add_pass(p, "NOT_THERE");
	s = built(a, p, NULL, 0, false);
	CHECK_STR(value(&s, "LC_TIME"), "de_DE");
	CHECK(!value(&s, "LC_API_KEY") && get(&s, "LC_API_KEY")->why == ENVIRON_SECRET);
	CHECK_STR(value(&s, "ANTHROPIC_API_KEY"), "sk-fake");
	CHECK(get(&s, "ANTHROPIC_API_KEY")->secret && get(&s, "ANTHROPIC_API_KEY")->from_host);
	CHECK(get(&s, "NOT_THERE")->why == ENVIRON_UNSET);
	arena_free(a);
	policy_free(p);
}

static void loader_variables_never_take_the_hosts_value(void)
{
	struct policy *p = policy_new();
	struct arena *a = arena_new();
	const char *const args[] = {"LD_PRELOAD"};
	struct environ_request req = {.policy = p, .host = host, .arguments = args, .n_arguments = 1};
	struct environ_set s;
	struct error err = {0};

	add_pass(p, "LD_PRELOAD");
	add_pass(p, "EDITOR");
	s = built(a, p, NULL, 0, false);
	CHECK(!value(&s, "LD_PRELOAD") && !value(&s, "BASH_FUNC_x%%"));
	CHECK_STR(value(&s, "EDITOR"), "vi");
	CHECK(environ_build(a, &req, &s, &err) < 0 && err.kind == ERROR_USAGE);
	arena_free(a);
	policy_free(p);
}

static void the_command_line_comes_after_the_policy_and_placeholders_last(void)
{
	struct policy *p = policy_new();
	struct arena *a = arena_new();
	const char *const args[] = {"LANG=x", "EDITOR", "ANTHROPIC_API_KEY"};
	const struct environ_placeholder ph[] = {{"ANTHROPIC_API_KEY", "sk-placeholder"}};
	struct pol_pair set = {"LANG", "y", {0}};
	struct environ_request req = {.policy = p,
				      .host = host,
				      .arguments = args,
				      .n_arguments = 3,
				      .placeholders = ph,
				      .n_placeholders = 1};
	struct environ_set s = {0};
	struct error err = {0};

	p->process.env_set = (struct pol_pairs){&set, 1, true};
	CHECK(environ_build(a, &req, &s, &err) == 0);
	CHECK_STR(value(&s, "LANG"), "x");
	CHECK_STR(value(&s, "EDITOR"), "vi");
	CHECK_STR(value(&s, "ANTHROPIC_API_KEY"), "sk-placeholder");
	CHECK(!get(&s, "AWS_PROFILE"));
	arena_free(a);
	policy_free(p);
}

static const struct check_case cases[] = {
	CASE(nothing_of_the_host_goes_in_unasked),
	CASE(term_goes_in_with_a_terminal_only),
	CASE(a_credential_goes_in_only_by_its_name_and_is_marked),
	CASE(loader_variables_never_take_the_hosts_value),
	CASE(the_command_line_comes_after_the_policy_and_placeholders_last),
};

int main(void)
{
	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
