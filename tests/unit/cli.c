#include "cli/cli.h"

#include "cli/cli_complete.h"
#include "cli/cli_help.h"
#include "check.h"

static const struct option options[] = {
	{.name = "policy",
	 .letter = 'p',
	 .value = "FILE",
	 .complete = "file",
	 .help = "A policy.",
	 .flags = OPTION_MANY},
	{.name = "workdir", .value = "DIR", .complete = "dir", .help = "A folder."},
	{.name = "json", .letter = 'j', .help = "JSON."},
	{.name = "all", .letter = 'a', .help = "All."},
	{.name = "secret", .help = "Not shown.", .flags = OPTION_HIDDEN},
	{0},
};

static int run_nothing(struct call *call, struct error *err)
{
	(void)call;
	return error_set(err, ERROR_NOT_FOUND, "nothing");
}

static const struct verb table[] = {
	{.name = "run",
	 .args = "-- CMD",
	 .summary = "Run.",
	 .options = options,
	 .dashdash = true,
	 .needs_command = true,
	 .run = run_nothing},
	{.name = "exec",
	 .args = "ID -- CMD",
	 .summary = "Exec.",
	 .options = options,
	 .min_args = 1,
	 .max_args = 1,
	 .dashdash = true,
	 .needs_command = true,
	 .run = run_nothing},
	{.name = "policy check",
	 .args = "FILE...",
	 .summary = "Check.",
	 .options = options,
	 .min_args = 1,
	 .max_args = -1,
	 .run = run_nothing},
	{.name = "policy show", .summary = "Show.", .run = run_nothing},
	{.name = "quiet", .summary = "Hidden.", .hidden = true, .run = run_nothing},
	{0},
};

/* words: parted by spaces; "_" is an empty word. They stay valid until the next call. */
static int parse(const char *words, struct call *call, struct error *err)
{
	static char text[512];
	static char *argv[65];
	int argc = 1;
	char *p;

	(void)snprintf(text, sizeof(text), "%s", words);
	argv[0] = text + sizeof(text) - 1;
	for (p = strtok(text, " "); p && argc < 64; p = strtok(NULL, " "))
		argv[argc++] = strcmp(p, "_") == 0 ? text + sizeof(text) - 1 : p;
	argv[argc] = NULL;
	*call = (struct call){0};
	return call_parse(table, argc, argv, call, err);
}

static const char *refusal(const char *words)
{
	static struct error err;
	struct call call;

	err = (struct error){0};
	if (parse(words, &call, &err) == 0) {
		call_done(&call);
		return "accepted";
	}
	CHECK(err.kind == ERROR_USAGE);
	return err.text;
}

static void options_stand_anywhere_before_the_dashes(void)
{
	struct error err = {0};
	struct call call;

	CHECK(parse("policy check --json a -p x b --policy=y -- --json c", &call, &err) == 0);
	CHECK_STR(call.verb->name, "policy check");
	CHECK(call.n_args == 4);
	CHECK_STR(call.args[0], "a");
	CHECK_STR(call.args[1], "b");
	CHECK_STR(call.args[2], "--json");
	CHECK_STR(call.args[3], "c");
	CHECK(call.args[4] == NULL);
	CHECK(call.n_values == 3);
	CHECK(call_has(&call, "json") && !call_has(&call, "all"));
	CHECK_STR(call_value(&call, "policy"), "y");
	CHECK(call.command == NULL);
	call_done(&call);
}

static void repeated_options_keep_their_order(void)
{
	const struct option_value *v;
	struct error err = {0};
	struct call call;
	size_t at = 0;

	CHECK(parse("policy check --policy=a -j -pb --policy c f", &call, &err) == 0);
	CHECK_STR(call_next(&call, "policy", &at)->value, "a");
	CHECK_STR(call_next(&call, "policy", &at)->value, "b");
	CHECK_STR(call_next(&call, "policy", &at)->value, "c");
	CHECK(call_next(&call, "policy", &at) == NULL);
	at = 1;
	v = call_next(&call, NULL, &at);
	CHECK_STR(v->option->name, "json");
	CHECK_STR(v->value, "");
	call_done(&call);
}

static void the_words_of_a_command_are_never_looked_at(void)
{
	struct error err = {0};
	struct call call;

	CHECK(parse("run --json -- --policy -h --", &call, &err) == 0);
	CHECK(call.n_command == 3 && call.n_values == 1 && !call.help);
	CHECK_STR(call.command[0], "--policy");
	CHECK_STR(call.command[2], "--");
	CHECK(call.command[3] == NULL);
	call_done(&call);
	CHECK(parse("run --workdir d ls --json -- x", &call, &err) == 0);
	CHECK(call.n_command == 4 && call.n_values == 1 && call.n_args == 0);
	CHECK_STR(call.command[0], "ls");
	CHECK_STR(call.command[2], "--");
	call_done(&call);
	CHECK(parse("exec 1234 --json ls -h", &call, &err) == 0);
	CHECK(call.n_args == 1 && call.n_command == 2 && call_has(&call, "json"));
	call_done(&call);
	CHECK(parse("run -- _", &call, &err) == 0);
	CHECK_STR(call.command[0], "");
	call_done(&call);
	CHECK(parse("run - x", &call, &err) == 0);
	CHECK_STR(call.command[0], "-");
	call_done(&call);
}

static void a_cluster_of_flags_is_taken_apart(void)
{
	struct error err = {0};
	struct call call;

	CHECK(parse("policy check -jaja f -jajajajajajajajajajajajajapx", &call, &err) == 0);
	CHECK(call_has(&call, "json") && call_has(&call, "all"));
	CHECK_STR(call_value(&call, "policy"), "x");
	CHECK(call.n_args == 1);
	call_done(&call);
}

static void help_needs_nothing_else_to_be_right(void)
{
	struct error err = {0};
	struct call call;

	CHECK(parse("run --help", &call, &err) == 0 && call.help);
	call_done(&call);
	CHECK(parse("policy check -h --nonsense", &call, &err) == 0 && call.help);
	call_done(&call);
	CHECK(parse("run ls --help", &call, &err) == 0 && !call.help);
	call_done(&call);
}

static void a_slip_is_answered_with_what_was_meant(void)
{
	CHECK_STR(refusal(""), "no command given; see cordon --help");
	CHECK_STR(refusal("rnu"), "unknown command \"rnu\"; did you mean \"run\"?");
	CHECK_STR(refusal("zzzzzz"), "unknown command \"zzzzzz\"; see cordon --help");
	CHECK_STR(refusal("quite"), "unknown command \"quite\"; see cordon --help");
	CHECK_STR(refusal("policy"), "policy: which one? check, show");
	CHECK_STR(refusal("polcy"), "unknown command \"polcy\"; did you mean \"policy\"?");
	CHECK_STR(refusal("policy chekc x"), "policy: unknown command \"chekc\"; did you mean \"policy check\"?");
	CHECK_STR(refusal("policy zzzzzz"), "policy: unknown command \"zzzzzz\"; there are check, show");
	CHECK_STR(refusal("run --polcy x -- y"), "run: unknown option --polcy; did you mean --policy?");
	CHECK_STR(refusal("run --polcy=x -- y"), "run: unknown option --polcy; did you mean --policy?");
	CHECK_STR(refusal("run --zzzzzz -- y"), "run: unknown option --zzzzzz; see cordon run --help");
	CHECK_STR(refusal("run --secrt -- y"), "run: unknown option --secrt; see cordon run --help");
	CHECK_STR(refusal("run -z -- y"), "run: unknown option -z; see cordon run --help");
	CHECK_STR(refusal("run --\x1b[2J -- y"), "run: unknown option --\\x1b[2J; see cordon run --help");
}

static void a_wrong_count_is_refused(void)
{
	CHECK_STR(refusal("run"), "run: no command given; usage: cordon run [OPTION...] -- CMD");
	CHECK_STR(refusal("run --"), "run: no command given; usage: cordon run [OPTION...] -- CMD");
	CHECK_STR(refusal("exec"), "exec: an argument is missing; usage: cordon exec [OPTION...] ID -- CMD");
	CHECK_STR(refusal("exec 1"), "exec: no command given; usage: cordon exec [OPTION...] ID -- CMD");
	CHECK_STR(refusal("policy show x"), "policy show: unexpected argument \"x\"; usage: cordon policy show");
	CHECK_STR(refusal("run --policy"), "run: --policy needs a value (FILE)");
	CHECK_STR(refusal("run --policy -- x"), "run: --policy needs a value (FILE)");
	CHECK_STR(refusal("run --json=1 -- x"), "run: --json takes no value");
	CHECK_STR(refusal("run --workdir a --workdir=b -- x"), "run: --workdir is given twice");
	CHECK_STR(refusal("run --json --json -- x"), "accepted");
}

static void every_row_can_be_explained_and_completed(void)
{
	const struct verb *v;
	const struct option *o;
	char words[COMPLETE_WORDS_MAX];

	for (v = verbs; v->name; v++) {
		CHECK(v->run != NULL);
		CHECK(v->summary && v->summary[strlen(v->summary) - 1] == '.');
		CHECK(v->max_args < 0 || v->min_args <= v->max_args);
		CHECK(!v->needs_command || v->dashdash);
		CHECK(!v->dashdash || v->max_args >= 0);
		for (o = v->options; o && o->name; o++) {
			CHECK(o->help && strchr(".?", o->help[strlen(o->help) - 1]));
			CHECK(strcmp(o->name, "help") != 0 && o->letter != 'h');
			CHECK(o->value || !o->complete);
			(void)complete_words(o->complete, words);
		}
	}
}

static void failures_have_their_documented_status(void)
{
	struct error err = {.kind = ERROR_NOT_EXEC};

	CHECK(cli_exit_status(&err) == 126);
	err.kind = ERROR_NOT_FOUND;
	CHECK(cli_exit_status(&err) == 127);
	err.kind = ERROR_DENIED;
	CHECK(cli_exit_status(&err) == 125);
	err.kind = ERROR_SYSTEM;
	CHECK(cli_exit_status(&err) == 125);
}

static void help_text_stays_within_eighty_columns(void)
{
	char *text = NULL, *line;
	const struct verb *v;
	size_t size = 0;

	for (v = verbs; v->name; v++) {
		FILE *out = open_memstream(&text, &size);

		if (!out)
			abort();
		(void)help_verb(verbs, v, out);
		(void)fclose(out);
		for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			if (line[0] != ' ' || strncmp(line, "  -", 3) == 0)
				CHECK(strlen(line) <= 80 || strncmp(line, "usage:", 6) == 0);
		free(text);
	}
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(options_stand_anywhere_before_the_dashes),
		CASE(repeated_options_keep_their_order),
		CASE(the_words_of_a_command_are_never_looked_at),
		CASE(a_cluster_of_flags_is_taken_apart),
		CASE(help_needs_nothing_else_to_be_right),
		CASE(a_slip_is_answered_with_what_was_meant),
		CASE(a_wrong_count_is_refused),
		CASE(every_row_can_be_explained_and_completed),
		CASE(failures_have_their_documented_status),
		CASE(help_text_stays_within_eighty_columns),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
