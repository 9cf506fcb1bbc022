#include "cli/verb_policy.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "cli/run_check.h"
#include "conf/yaml.h"
#include "policy/import.h"
#include "policy/parity.h"
#include "policy/policy_diff.h"
#include "policy/policy_explain.h"
#include "policy/policy_show.h"
#include "policy/policy_test.h"

enum { OUTPUT_MAX = 256 << 20, LABEL_MAX = 64 << 10, EXIT_FAILURE_OWN = 125 };

#define AUTO_POLICY __attribute__((cleanup(cli_policy_done))) struct cli_policy
const struct option verb_policy_own_options[] = {
	CLI_OPTION_POLICY,
	CLI_OPTION_PROFILE,
	CLI_OPTION_WORKDIR("Take this as the work folder; else " CLI_NOWHERE ", which need not exist."),
	CLI_OPTION_JSON,
	{0},
};

const struct option verb_policy_diff_options[] = {
	CLI_OPTION_WORKDIR("Compare for this work folder; else for any, with relative patterns below " CLI_NOWHERE "."),
	CLI_OPTION_JSON,
	{0},
};

const struct option verb_policy_effective_options[] = {
	CLI_OPTION_POLICY,
	CLI_OPTION_PROFILE,
	CLI_OPTION_RUNTIME,
	CLI_OPTION_CATEGORY,
	CLI_OPTION_WORKDIR("Take this as the work folder; else the current one."),
	CLI_OPTION_JSON,
	{0},
};

const struct option verb_policy_parity_options[] = {
	{"runtime", 'r', "RUNTIME", "runtime", "Only this runtime, in full words.", 0},
	CLI_OPTION_JSON,
	{0},
};

const struct option verb_policy_import_options[] = {
	{"from", 0, "SOURCE", "synthorg|openshell|srt",
	 "Read it as synthorg, openshell or srt; else that is found out.", 0},
	CLI_OPTION_JSON,
	{0},
};

/*
 * A shipped profile's tests are promises of that profile, not of a policy that extends it in order to change it; those
 * of the user's own files hold for all that build on them.
 */
static void keep_own_tests(struct policy *p, const char *named)
{
	uint32_t i, n = 0;

	for (i = 0; i < p->n_tests; i++) {
		const char *profile =
			p->tests[i].at.file < p->n_files ? policy_shipped(p->files[p->tests[i].at.file]) : NULL;

		if (profile && strcmp(profile, named) != 0)
			continue;
		p->tests[n++] = p->tests[i];
	}
	p->n_tests = n;
}

/* What is looked at, as the person named it: FILE and the values of --policy and --profile. Returns how many there are;
 * *only is the last. */
static unsigned name_sources(const struct call *call, struct buf *label, const char **only)
{
	const struct option_value *v;
	unsigned n = 0;
	size_t at = 0;

	*only = "";
	if (call->n_args) {
		*only = call->args[n++];
		text_escape(label, sv_of(*only), 200);
	}
	while ((v = call_next(call, NULL, &at))) {
		if (strcmp(v->option->name, "profile") != 0 && strcmp(v->option->name, "policy") != 0)
			continue;
		(void)buf_str(label, n++ ? ", " : "");
		text_escape(label, sv_of(v->value), 200);
		*only = v->value;
	}
	return n;
}

static int load_tested(struct call *call, struct buf *label, struct cli_policy *p, struct error *err)
{
	unsigned n, flags = CLI_POLICY_ALONE | CLI_POLICY_NOWHERE | CLI_POLICY_NO_CACHE;
	const char *only;

	buf_init(label, LABEL_MAX);
	n = name_sources(call, label, &only);
	if (n == 0)
		return error_set(err, ERROR_USAGE, "%s: name a FILE, or a profile with --profile", call->verb->name);
	if (cli_policy_load(call, call->n_args ? call->args[0] : NULL, flags, p, err) < 0)
		return -1;
	keep_own_tests(p->policy, n == 1 ? only : "");
	return 0;
}

static int check_failed_json(struct call *call, const char *label, const struct error *err, struct error *out_err)
{
	AUTO_BUF out = {0};
	struct json j;

	buf_init(&out, OUTPUT_MAX);
	json_init(&j, &out);
	json_open(&j);
	json_kstr(&j, "file", label);
	json_kbool(&j, "ok", false);
	json_kstr(&j, "error", err->text);
	json_close(&j);
	(void)buf_char(&out, '\n');
	return cli_print(call, &out, out_err) < 0 ? -1 : EXIT_FAILURE_OWN;
}

static void warn_json(void *arg, const char *text)
{
	json_str(arg, text);
}

static struct policy_test_result check_json(const struct cli_policy *p, const char *label, struct buf *out)
{
	struct policy_test_result sum;
	AUTO_BUF tests = {0};
	bool refused;
	struct json j;

	buf_init(&tests, OUTPUT_MAX);
	sum = policy_test_json(p->policy, p->workdir, &tests);
	json_init(&j, out);
	json_open(&j);
	json_kstr(&j, "file", label);
	json_kbool(&j, "ok", sum.failed == 0);
	json_kstr(&j, "digest", p->digest);
	json_key(&j, "warnings");
	json_list(&j);
	refused = run_check_all(p, &(struct run_check_to){warn_json, &j});
	json_end(&j);
	json_kbool(&j, "runs_here", !refused);
	json_key(&j, "tests");
	json_raw(&j, buf_view(&tests));
	json_close(&j);
	(void)buf_char(out, '\n');
	return sum;
}

struct warning {
	const struct call *call;
	const char *label;
};

static void warn_text(void *arg, const char *text)
{
	const struct warning *w = arg;

	call_note(w->call, "%s: warning: %s", w->label, text);
}

static struct policy_test_result check_text(const struct call *call, const struct cli_policy *p, const char *label,
					    struct buf *out)
{
	struct policy_test_result sum = policy_test_text(p->policy, p->workdir, false, out);
	struct warning w = {call, label};

	bool refused = run_check_all(p, &(struct run_check_to){warn_text, &w});

	if (sum.failed)
		(void)buf_printf(out, "%s: %u of its %u tests fail\n", label, sum.failed, sum.failed + sum.passed);
	else if (refused)
		(void)buf_printf(out, "%s: valid, but would be refused here; see the warnings\n", label);
	else
		(void)buf_printf(out, "%s: ok\n", label);
	return sum;
}

int verb_policy_check(struct call *call, struct error *err)
{
	AUTO_POLICY p = {0};
	AUTO_BUF out = {0};
	AUTO_BUF label = {0};
	struct policy_test_result sum;
	struct error wrong = {0};

	if (load_tested(call, &label, &p, &wrong) < 0) {
		if (call_has(call, "json") && wrong.kind != ERROR_USAGE)
			return check_failed_json(call, label.p, &wrong, err);
		*err = wrong;
		return -1;
	}
	buf_init(&out, OUTPUT_MAX);
	if (call_has(call, "json"))
		sum = check_json(&p, label.p, &out);
	else
		sum = check_text(call, &p, label.p, &out);
	return cli_print(call, &out, err) < 0 ? -1 : sum.failed != 0;
}

int verb_policy_test(struct call *call, struct error *err)
{
	AUTO_POLICY p = {0};
	AUTO_BUF out = {0};
	AUTO_BUF label = {0};
	struct policy_test_result sum;

	if (load_tested(call, &label, &p, err) < 0)
		return -1;
	buf_init(&out, OUTPUT_MAX);
	if (call_has(call, "json")) {
		sum = policy_test_json(p.policy, p.workdir, &out);
		(void)buf_char(&out, '\n');
	} else {
		sum = policy_test_text(p.policy, p.workdir, true, &out);
		if (sum.passed + sum.failed == 0)
			(void)buf_printf(&out, "%s has no tests; write some under `tests:`\n", label.p);
		else
			(void)buf_printf(&out, "%s: %u passed, %u failed\n", label.p, sum.passed, sum.failed);
	}
	return cli_print(call, &out, err) < 0 ? -1 : sum.failed != 0;
}

int verb_policy_show(struct call *call, struct error *err)
{
	AUTO_POLICY p = {0};
	AUTO_BUF out = {0};

	if (cli_policy_load(call, call->n_args ? call->args[0] : NULL, 0, &p, err) < 0)
		return -1;
	buf_init(&out, OUTPUT_MAX);
	if (call_has(call, "json"))
		policy_show_json(p.policy, &out);
	else
		policy_show_yaml(p.policy, POLICY_SHOW_FROM | POLICY_SHOW_PROTECT, &out);
	return cli_print(call, &out, err);
}

int verb_policy_explain(struct call *call, struct error *err)
{
	AUTO_POLICY p = {0};
	AUTO_BUF out = {0};

	if (cli_policy_load(call, call->n_args ? call->args[0] : NULL, 0, &p, err) < 0)
		return -1;
	buf_init(&out, OUTPUT_MAX);
	policy_explain(p.policy, p.workdir, p.folders.home, call_value(call, "category"), call_has(call, "json"), &out);
	return cli_print(call, &out, err);
}

int verb_policy_parity(struct call *call, struct error *err)
{
	const char *named = call_value(call, "runtime");
	int runtime = named ? call_choice("--runtime", named, runtime_names, err) : RUNTIME_AUTO;
	AUTO_BUF out = {0};

	if (runtime < 0)
		return -1;
	buf_init(&out, OUTPUT_MAX);
	if (call_has(call, "json"))
		parity_print_json(&out);
	else
		parity_print((enum runtime)runtime, &out);
	return cli_print(call, &out, err);
}

int verb_policy_diff(struct call *call, struct error *err)
{
	unsigned flags = CLI_POLICY_ALONE | CLI_POLICY_NOWHERE;
	struct policy_diff_result r;
	AUTO_POLICY a = {0};
	AUTO_POLICY b = {0};
	AUTO_BUF out = {0};

	if (cli_policy_load(call, call->args[0], flags, &a, err) < 0 ||
	    cli_policy_load(call, call->args[1], flags, &b, err) < 0)
		return -1;
	buf_init(&out, OUTPUT_MAX);
	r = (call_has(call, "json") ? policy_diff_json : policy_diff_text)(
		(struct policy_diff_side){a.policy, call->args[0]}, (struct policy_diff_side){b.policy, call->args[1]},
		(struct policy_diff_place){a.workdir, !call_has(call, "workdir")}, &out);
	return cli_print(call, &out, err) < 0 ? -1 : r.more != 0;
}

static void import_notes_json(struct json *j, const struct import_result *r, enum import_loss loss, const char *key)
{
	const struct import_note *n;

	json_key(j, key);
	json_list(j);
	for (n = r->notes; n; n = n->next) {
		if (n->loss != loss)
			continue;
		json_open(j);
		json_kstr(j, "key", n->key);
		json_kint(j, "line", n->line);
		json_kstr(j, "text", n->text);
		json_close(j);
	}
	json_end(j);
}

static void import_json(const struct import_result *r, const char *name, struct buf *out)
{
	AUTO_BUF yaml = {0};
	struct json j;

	buf_init(&yaml, OUTPUT_MAX);
	import_print(r, name, &yaml);
	json_init(&j, out);
	json_open(&j);
	json_kstr(&j, "source", import_source_names[r->source]);
	json_key(&j, "policy");
	json_sv(&j, buf_view(&yaml));
	import_notes_json(&j, r, IMPORT_LOST, "lost");
	import_notes_json(&j, r, IMPORT_CHANGED, "changed");
	json_close(&j);
	(void)buf_char(out, '\n');
}

static void tell_notes(const struct call *call, const char *name, const struct import_result *r)
{
	const struct import_note *n;
	struct text_shown shown;

	(void)text_show(&shown, sv_of(name));
	for (n = r->notes; n; n = n->next) {
		const char *what = n->loss == IMPORT_LOST ? "not carried over" : "changed";

		if (n->line)
			call_note(call, "%s:%u: %s: %s: %s", shown.s, n->line, what, n->key, n->text);
		else
			call_note(call, "%s: %s: %s: %s", shown.s, what, n->key, n->text);
	}
}

static int read_source(const char *path, struct buf *in, struct error *err)
{
	struct text_shown shown;
	int r = strcmp(path, "-") == 0 ? buf_read_fd(in, STDIN_FILENO) : buf_read_file(in, path);

	if (r < 0)
		return error_sys(err, r, "%s: cannot be read", text_show(&shown, sv_of(path)));
	return 0;
}

int verb_policy_import(struct call *call, struct error *err)
{
	const char *from = call_value(call, "from");
	int source = from ? call_choice("policy import: --from", from, import_source_names, err) : IMPORT_DETECT;
	struct import_result r = {0};
	AUTO_BUF in = {0};
	AUTO_BUF out = {0};
	int status;

	if (from && source < 0)
		return -1;
	buf_init(&in, YAML_TREE_BYTES);
	buf_init(&out, OUTPUT_MAX);
	if (read_source(call->args[0], &in, err) < 0 ||
	    policy_import(call->args[0], buf_view(&in), (enum import_source)source, &r, err) < 0)
		return -1;
	if (call_has(call, "json"))
		import_json(&r, call->args[0], &out);
	else
		import_print(&r, call->args[0], &out);
	tell_notes(call, call->args[0], &r);
	status = r.n_lost != 0;
	import_done(&r);
	return cli_print(call, &out, err) < 0 ? -1 : status;
}
