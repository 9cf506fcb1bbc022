#include <string.h>

#include "cli/cli_complete.h"
#include "cli/cli_help.h"

static const char engine[] =
	"# The words before the cursor are exactly these.\n"
	"function __cordon_at\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -e words[1]\n"
	"\ttest \"$words\" = \"$argv\"\n"
	"end\n"
	"\n"
	"# The words before the cursor begin with these.\n"
	"function __cordon_in\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -e words[1]\n"
	"\ttest (count $words) -ge (count $argv); and test \"$words[1..\"(count $argv)\"]\" = \"$argv\"\n"
	"end\n"
	"\n"
	"function __cordon_ids\n"
	"\tcordon $argv --quiet 2>/dev/null\n"
	"end\n"
	"\n"
	"function __cordon_own_profiles\n"
	"\tset -l config $XDG_CONFIG_HOME\n"
	"\ttest -n \"$config\"; or set config ~/.config\n"
	"\tfor f in $config/cordon/profiles/*.yaml\n"
	"\t\tbasename $f .yaml\n"
	"\tend\n"
	"end\n"
	"\n"
	"complete -c cordon -f\n"
	"complete -c cordon -n '__cordon_at' -l help -s h -d 'Show help.'\n"
	"complete -c cordon -n '__cordon_at' -l version -s V -d 'Show the version.'\n";

/* Only a value that is a file is completed with files. */
static const char *value_flag(const char *complete)
{
	return complete && strcmp(complete, "file") == 0 ? " -r" : " -x";
}

/* -F, or -a 'words'. */
static void write_kind(const char *complete, FILE *out)
{
	char words[COMPLETE_WORDS_MAX];

	if (!complete)
		return;
	if (strcmp(complete, "file") == 0)
		(void)fputs(" -F", out);
	else if (strcmp(complete, "dir") == 0)
		(void)fputs(" -a '(__fish_complete_directories)'", out);
	else if (strcmp(complete, "running") == 0)
		(void)fputs(" -a '(__cordon_ids ps)'", out);
	else if (strcmp(complete, "run") == 0)
		(void)fputs(" -a '(__cordon_ids ps --all)'", out);
	else if (strcmp(complete, "result") == 0)
		(void)fputs(" -a '(__cordon_ids task ls)'", out);
	else if (strcmp(complete, "up") == 0)
		(void)fputs(" -a '(cordon task down 2>/dev/null)'", out);
	else if (strcmp(complete, "profile") == 0)
		(void)fprintf(out, " -a '%s (__cordon_own_profiles)'", complete_words(complete, words));
	else if (*complete_words(complete, words))
		(void)fprintf(out, " -a '%s'", words);
}

static void write_option(const struct verb *v, const struct option *o, FILE *out)
{
	(void)fprintf(out, "complete -c cordon -n '__cordon_in %s' -l %s", v->name, o->name);
	if (o->letter)
		(void)fprintf(out, " -s %c", o->letter);
	if (o->value) {
		(void)fputs(value_flag(o->complete), out);
		write_kind(o->complete, out);
	}
	(void)fputs(" -d '", out);
	complete_quote(out, o->help, "\\");
	(void)fputs("'\n", out);
}

static void write_row(const struct verb *v, FILE *out)
{
	const struct option *o;
	const char *space = strrchr(v->name, ' ');

	(void)fprintf(out, "complete -c cordon -n '__cordon_at%s%.*s' -a %s -d '", space ? " " : "",
		      space ? (int)(space - v->name) : 0, v->name, space ? space + 1 : v->name);
	complete_quote(out, v->summary, "\\");
	(void)fputs("'\n", out);
	for (o = v->options; o && o->name; o++)
		if (!(o->flags & OPTION_HIDDEN))
			write_option(v, o, out);
	write_option(v, &help_option, out);
	if (v->dashdash)
		(void)fprintf(
			out, "complete -c cordon -n '__cordon_in %s' -a '(__fish_complete_subcommand --fcs-skip=%d)'\n",
			v->name, 2 + v->max_args);
	if (v->complete && strcmp(v->complete, "command") != 0) {
		(void)fprintf(out, "complete -c cordon -n '__cordon_in %s'", v->name);
		write_kind(v->complete, out);
		(void)fputc('\n', out);
	}
}

void complete_fish(const struct verb *table, FILE *out)
{
	const struct verb *v;
	int len;

	(void)fputs("# fish completion for cordon. Made by: cordon completion fish\n\n", out);
	(void)fputs(engine, out);
	for (v = complete_next_group(table, NULL, &len); v; v = complete_next_group(table, v, &len))
		(void)fprintf(out, "complete -c cordon -n '__cordon_at' -a %.*s -d 'Commands on one subject.'\n", len,
			      v->name);
	for (v = table; v->name; v++)
		if (!v->hidden)
			write_row(v, out);
}
