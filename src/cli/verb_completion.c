#include "cli/verb_completion.h"

#include "base/text.h"
#include "cli/cli_complete.h"
#include "cli/cli_man.h"

const struct option verb_man_options[] = {
	{.name = "list", .help = "Print the names of all pages instead."},
	{0},
};

int verb_completion(struct call *call, struct error *err)
{
	return complete_write(verbs, call->args[0], call->out, err);
}

int verb_man(struct call *call, struct error *err)
{
	const struct verb *v;
	struct text_shown shown;
	int used = 0;

	if (call_has(call, "list")) {
		man_list(verbs, call->out);
		return 0;
	}
	if (call->n_args == 0) {
		man_overview(verbs, call->out);
		return 0;
	}
	v = verb_find(verbs, call->n_args, call->args, &used);
	if (!v || used != call->n_args)
		return error_set(err, ERROR_USAGE, "man: no page for \"%s\"", text_show(&shown, sv_of(call->args[0])));
	man_verb(verbs, v, call->out);
	return 0;
}
