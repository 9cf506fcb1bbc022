#include <string.h>

#include "base/cleanup.h"
#include "cli/cli_complete.h"
#include "cli/cli_help.h"

static const struct {
	const char *kind;
	const char *action;
} actions[] = {
	{"file", "_files"},
	{"dir", "_files -/"},
	{"command", "_command_names -e"},
	{"running", "_cordon_ids ps"},
	{"run", "_cordon_ids ps --all"},
	{"result", "_cordon_ids task ls"},
	{"up", "_cordon_up"},
	{"profile", "_cordon_profiles"},
	{"verb", "_cordon_verbs"},
};

static const char *action_of(const char *complete, char words[COMPLETE_WORDS_MAX + 4])
{
	char list[COMPLETE_WORDS_MAX];
	size_t i;

	for (i = 0; complete && i < ARRAY_LEN(actions); i++)
		if (strcmp(actions[i].kind, complete) == 0)
			return actions[i].action;
	(void)snprintf(words, COMPLETE_WORDS_MAX + 4, "(%s)", complete_words(complete, list));
	return words[1] == ')' ? "" : words;
}

/* 'name:summary' lines for _describe; group "" is the first words. */
static void write_list(const struct verb *table, const char *group, int len, FILE *out)
{
	const struct verb *v, *g;
	int n;

	for (v = table; v->name; v++) {
		const char *word = len ? v->name + len + 1 : v->name;

		if (v->hidden || (len ? strncmp(v->name, group, (size_t)len + 1) != 0 : strchr(v->name, ' ') != NULL))
			continue;
		(void)fprintf(out, "\t\t\t'%s:", word);
		complete_quote(out, v->summary, ":\\");
		(void)fputs("'\n", out);
	}
	for (g = len ? NULL : complete_next_group(table, NULL, &n); g; g = complete_next_group(table, g, &n))
		(void)fprintf(out, "\t\t\t'%.*s:commands on one subject'\n", n, g->name);
}

static void write_option(const struct option *o, FILE *out)
{
	char words[COMPLETE_WORDS_MAX + 4];

	(void)fputs(" \\\n\t\t\t", out);
	if (o->flags & OPTION_MANY)
		(void)fputs("'*'", out);
	else if (o->letter)
		(void)fprintf(out, "'(-%c --%s)'", o->letter, o->name);
	if (o->letter)
		(void)fprintf(out, "{-%c%s,--%s%s}", o->letter, o->value ? "+" : "", o->name, o->value ? "=" : "");
	else
		(void)fprintf(out, "--%s%s", o->name, o->value ? "=" : "");
	(void)fputs("'[", out);
	complete_quote(out, o->help, "[]\\");
	(void)fputs("]", out);
	if (o->value) {
		(void)fputc(':', out);
		complete_quote(out, o->value, ":\\");
		(void)fprintf(out, ":%s", action_of(o->complete, words));
	}
	(void)fputs("'", out);
}

static void write_row(const struct verb *v, FILE *out)
{
	char words[COMPLETE_WORDS_MAX + 4];
	const struct option *o;

	(void)fprintf(out, "\t('%s')\n\t\t_arguments -s -S", v->name);
	for (o = v->options; o && o->name; o++)
		if (!(o->flags & OPTION_HIDDEN))
			write_option(o, out);
	write_option(&help_option, out);
	if (v->dashdash) {
		if (v->max_args > 0)
			(void)fprintf(out, " \\\n\t\t\t'1:argument:%s'", action_of(v->complete, words));
		(void)fprintf(out, " \\\n\t\t\t'(-)%d:command:_command_names -e' '*::arguments:_normal'",
			      v->max_args + 1);
	} else if (v->max_args != 0) {
		(void)fprintf(out, " \\\n\t\t\t'*:argument:%s'", action_of(v->complete, words));
	}
	(void)fputs(" ;;\n", out);
}

static void write_helpers(const struct verb *table, FILE *out)
{
	char words[COMPLETE_WORDS_MAX];

	(void)fputs("_cordon_ids()\n{\n\tlocal -a ids\n\tids=(${(f)\"$(cordon $@ --quiet 2>/dev/null)\"})\n\tcompadd "
		    "-a ids\n}\n\n",
		    out);
	/* without a name, `task down` lists */
	(void)fputs("_cordon_up()\n{\n\tlocal -a names\n\tnames=(${(f)\"$(cordon task down 2>/dev/null)\"})\n\tcompadd "
		    "-a names\n}\n\n",
		    out);
	(void)fprintf(out,
		      "_cordon_profiles()\n{\n\tlocal -a "
		      "own\n\town=(${XDG_CONFIG_HOME:-$HOME/.config}/cordon/profiles/*.yaml(N:t:r))\n"
		      "\tcompadd %s $own\n}\n\n",
		      complete_words("profile", words));
	(void)fputs("_cordon_verbs()\n{\n\tlocal -a list\n\tlist=(\n", out);
	write_list(table, "", 0, out);
	(void)fputs("\t)\n\t_describe command list\n}\n\n", out);
}

void complete_zsh(const struct verb *table, FILE *out)
{
	const struct verb *v;
	int len;

	(void)fputs("#compdef cordon\n# zsh completion for cordon. Made by: cordon completion zsh\n\n", out);
	write_helpers(table, out);
	(void)fputs("_cordon()\n{\n\tlocal curcontext=\"$curcontext\" verb=$words[2]\n\tlocal -a list\n"
		    "\tif (( CURRENT == 2 )); then\n\t\t_cordon_verbs\n\t\treturn\n\tfi\n\tcase $verb in\n",
		    out);
	for (v = complete_next_group(table, NULL, &len); v; v = complete_next_group(table, v, &len)) {
		(void)fprintf(out, "\t(%.*s)\n\t\tlist=(\n", len, v->name);
		write_list(table, v->name, len, out);
		(void)fputs(
			"\t\t)\n\t\tif (( CURRENT == 3 )); then\n\t\t\t_describe command list\n\t\t\treturn\n\t\tfi\n"
			"\t\tverb=\"$verb $words[3]\"\n\t\tshift words\n\t\t(( CURRENT-- )) ;;\n",
			out);
	}
	(void)fputs("\tesac\n\tshift words\n\t(( CURRENT-- ))\n\tcase $verb in\n", out);
	for (v = table; v->name; v++)
		if (!v->hidden)
			write_row(v, out);
	(void)fputs("\tesac\n}\n\nif [[ $funcstack[1] = _cordon ]]; then\n\t_cordon \"$@\"\nelse\n\tcompdef _cordon "
		    "cordon\nfi\n",
		    out);
}
