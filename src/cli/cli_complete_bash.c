#include <string.h>

#include "cli/cli_complete.h"
#include "cli/cli_help.h"

/* What is the same for every table. */
static const char engine[] =
	"_cordon_reply()\n"
	"{\n"
	"\tmapfile -t COMPREPLY < <(\"$@\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"_cordon_complete_kind()\n"
	"{\n"
	"\tlocal own=${XDG_CONFIG_HOME:-$HOME/.config}/cordon/profiles words\n"
	"\t_cordon_words \"$1\"\n"
	"\tcase $1 in\n"
	"\tfile) compopt -o filenames 2>/dev/null; _cordon_reply compgen -f ;;\n"
	"\tdir) compopt -o filenames 2>/dev/null; _cordon_reply compgen -d ;;\n"
	"\tcommand) _cordon_reply compgen -c ;;\n"
	"\trunning) _cordon_reply compgen -W \"$(cordon ps --quiet 2>/dev/null)\" ;;\n"
	"\trun) _cordon_reply compgen -W \"$(cordon ps --quiet --all 2>/dev/null)\" ;;\n"
	"\tresult) _cordon_reply compgen -W \"$(cordon task ls --quiet 2>/dev/null)\" ;;\n"
	"\tup) _cordon_reply compgen -W \"$(cordon task down 2>/dev/null)\" ;;\n"
	"\tprofile) _cordon_reply compgen -W \"$words $(cd \"$own\" 2>/dev/null && printf '%s\\n' *.yaml | sed "
	"'s/\\.yaml$//;/^\\*$/d')\" ;;\n"
	"\t?*) _cordon_reply compgen -W \"$words\" ;;\n"
	"\tesac\n"
	"}\n"
	"\n"
	"_cordon_complete_command()\n"
	"{\n"
	"\tif [ \"$1\" -eq \"$COMP_CWORD\" ]; then\n"
	"\t\t_cordon_reply compgen -c\n"
	"\telif declare -F _command_offset >/dev/null; then\n"
	"\t\t_command_offset \"$1\"\n"
	"\telse\n"
	"\t\t_cordon_complete_kind file\n"
	"\tfi\n"
	"}\n"
	"\n"
	"_cordon()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} i=2 n=0 kind= word options kinds args max "
	"dashdash verbs\n"
	"\tCOMPREPLY=()\n"
	"\t[ \"$cur\" = = ] && cur=\n"
	"\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	"\t\t_cordon_group ''\n"
	"\t\t_cordon_reply compgen -W \"$verbs --help --version\"\n"
	"\t\treturn\n"
	"\tfi\n"
	"\t_cordon_group \"$verb\"\n"
	"\tif [ -n \"$verbs\" ]; then\n"
	"\t\tif [ \"$COMP_CWORD\" -eq 2 ]; then\n"
	"\t\t\t_cordon_reply compgen -W \"$verbs --help\"\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\tverb=\"$verb ${COMP_WORDS[2]}\" i=3\n"
	"\tfi\n"
	"\t_cordon_row \"$verb\" || return\n"
	"\tfor (( ; i < COMP_CWORD; i++)); do\n"
	"\t\tword=${COMP_WORDS[i]}\n"
	"\t\tcase $word in\n"
	"\t\t--)\n"
	"\t\t\t[ -n \"$dashdash\" ] && { _cordon_complete_command $((i + 1)); return; } ;;\n"
	"\t\t-?*)\n"
	"\t\t\tcase \" $kinds \" in\n"
	"\t\t\t*\" $word:\"*)\n"
	"\t\t\t\tkind=\" $kinds \" kind=${kind#*\" $word:\"} kind=${kind%% *}\n"
	"\t\t\t\t[ \"${COMP_WORDS[i + 1]}\" = = ] && i=$((i + 1))\n"
	"\t\t\t\ti=$((i + 1)) ;;\n"
	"\t\t\tesac ;;\n"
	"\t\t*)\n"
	"\t\t\t[ -n \"$dashdash\" ] && [ \"$n\" -eq \"$max\" ] && { _cordon_complete_command \"$i\"; return; }\n"
	"\t\t\tn=$((n + 1)) ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\tif [ \"$i\" -gt \"$COMP_CWORD\" ]; then\n"
	"\t\t_cordon_complete_kind \"$kind\"\n"
	"\telif [ \"${cur:0:1}\" = - ]; then\n"
	"\t\t_cordon_reply compgen -W \"$options\"\n"
	"\telif [ -n \"$dashdash\" ] && [ \"$n\" -eq \"$max\" ]; then\n"
	"\t\t_cordon_complete_command \"$COMP_CWORD\"\n"
	"\telse\n"
	"\t\t_cordon_complete_kind \"$args\"\n"
	"\tfi\n"
	"}\n"
	"\n"
	"complete -F _cordon cordon\n";

/* verbs = the words that may follow "" or "policy". */
static void write_groups(const struct verb *table, FILE *out)
{
	const struct verb *v, *g;
	int len, n;

	(void)fputs("_cordon_group()\n{\n\tcase $1 in\n\t'') verbs='", out);
	for (v = table; v->name; v++)
		if (!v->hidden && !strchr(v->name, ' '))
			(void)fprintf(out, "%s ", v->name);
	for (g = complete_next_group(table, NULL, &len); g; g = complete_next_group(table, g, &len))
		(void)fprintf(out, "%.*s ", len, g->name);
	(void)fputs("' ;;\n", out);
	for (g = complete_next_group(table, NULL, &len); g; g = complete_next_group(table, g, &len)) {
		(void)fprintf(out, "\t%.*s) verbs='", len, g->name);
		n = len + 1;
		for (v = g; v->name; v++)
			if (!v->hidden && strncmp(v->name, g->name, (size_t)n) == 0)
				(void)fprintf(out, "%s ", v->name + n);
		(void)fputs("' ;;\n", out);
	}
	(void)fputs("\t*) verbs= ;;\n\tesac\n}\n\n", out);
}

static void write_row(const struct verb *v, FILE *out)
{
	const struct option *o;

	(void)fprintf(out, "\t'%s')\n\t\toptions='", v->name);
	for (o = v->options; o && o->name; o++)
		if (!(o->flags & OPTION_HIDDEN))
			(void)fprintf(out, "--%s ", o->name);
	(void)fputs("--help'\n\t\tkinds='", out);
	for (o = v->options; o && o->name; o++) {
		if (!o->value)
			continue;
		(void)fprintf(out, "--%s:%s ", o->name, o->complete ? o->complete : "");
		if (o->letter)
			(void)fprintf(out, "-%c:%s ", o->letter, o->complete ? o->complete : "");
	}
	(void)fprintf(out, "'\n\t\targs='%s' max=%d dashdash=%s ;;\n", v->complete ? v->complete : "", v->max_args,
		      v->dashdash ? "1" : "");
}

/* A kind's fixed words; those of "a|b" are in its name. */
static void write_words(FILE *out)
{
	static const char *const kinds[] = {"profile", "runtime", "category"};
	char words[COMPLETE_WORDS_MAX];
	size_t i;

	(void)fputs("_cordon_words()\n{\n\tcase $1 in\n", out);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		(void)fprintf(out, "\t%s) words='%s' ;;\n", kinds[i], complete_words(kinds[i], words));
	(void)fputs(
		"\tverb) _cordon_group ''; words=$verbs ;;\n\t*'|'*) words=${1//|/ } ;;\n\t*) words= ;;\n\tesac\n}\n\n",
		out);
}

void complete_bash(const struct verb *table, FILE *out)
{
	const struct verb *v;

	(void)fputs("# bash completion for cordon. Made by: cordon completion bash\n\n", out);
	write_groups(table, out);
	(void)fputs("_cordon_row()\n{\n\tcase $1 in\n", out);
	for (v = table; v->name; v++)
		if (!v->hidden)
			write_row(v, out);
	(void)fputs("\t*) return 1 ;;\n\tesac\n}\n\n", out);
	write_words(out);
	(void)fputs(engine, out);
}
