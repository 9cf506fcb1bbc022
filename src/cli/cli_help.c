#include "cli/cli_help.h"

#include <stdio.h>
#include <string.h>


enum { WIDTH = 80, NAME_COLUMN = 20, OPTION_COLUMN = 28 };

const struct option help_option = {.name = "help", .letter = 'h', .help = "Show this help."};

static void wrap_line(FILE *out, const char *p, size_t n, int indent, int at)
{
	const char *end = p + n;
	bool first = true;

	while (p < end) {
		size_t word = strcspn(p, " \n");

		word = p + word > end ? (size_t)(end - p) : word;
		if (word == 0) {
			p++;
			continue;
		}
		if (!first && at + 1 + (int)word > WIDTH) {
			(void)fprintf(out, "\n%*s", indent, "");
			at = indent;
			first = true;
		}
		(void)fprintf(out, "%s%.*s", first ? "" : " ", (int)word, p);
		at += (int)word + !first;
		first = false;
		p += word;
	}
	(void)fputc('\n', out);
}

void help_wrap(FILE *out, const char *text, int indent, int at)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (at < indent && n > 0)
			(void)fprintf(out, "%*s", indent - at, "");
		if (*text == ' ' || n == 0)
			(void)fprintf(out, "%.*s\n", (int)n, text);
		else
			wrap_line(out, text, n, indent, at > indent ? at : indent);
		at = 0;
		text += n + (text[n] == '\n');
	}
}

/* Pads to the column, on a new line where the name is too long for it. */
static int pad(FILE *out, int at, int column)
{
	if (at + 2 > column) {
		(void)fputc('\n', out);
		at = 0;
	}
	(void)fprintf(out, "%*s", column - at, "");
	return column;
}

void help_option_name(const struct option *o, char *out, size_t size)
{
	char letter[8] = "";

	if (o->letter)
		(void)snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	(void)snprintf(out, size, "%s--%s%s%s", letter, o->name, o->value ? "=" : "", o->value ? o->value : "");
}

static void print_option(FILE *out, const struct option *o)
{
	char name[128], text[512];
	int at;

	help_option_name(o, name, sizeof(name));
	at = fprintf(out, "  %s%s", o->letter ? "" : "    ", name);
	(void)pad(out, at > 0 ? at : 0, OPTION_COLUMN);
	(void)snprintf(text, sizeof(text), "%s%s", o->help, o->flags & OPTION_MANY ? " " HELP_MANY : "");
	help_wrap(out, text, OPTION_COLUMN, OPTION_COLUMN);
}

static void print_verb_line(FILE *out, const struct verb *v)
{
	int at = fprintf(out, "  %s", v->name);

	(void)pad(out, at > 0 ? at : 0, NAME_COLUMN);
	help_wrap(out, v->summary, NAME_COLUMN, NAME_COLUMN);
}

/* group: only its verbs; NULL: all of them. */
static void print_verbs(const struct verb *table, const char *group, FILE *out)
{
	size_t n = group ? strlen(group) : 0;

	for (; table->name; table++)
		if (!table->hidden && (!group || (strncmp(table->name, group, n) == 0 && table->name[n] == ' ')))
			print_verb_line(out, table);
}

static void help_all(const struct verb *table, FILE *out)
{
	(void)fputs("usage: cordon COMMAND [OPTION...] [ARG...]\n\n"
		    "Cordon runs untrusted agents with nothing to steal and nowhere to go.\n\n",
		    out);
	print_verbs(table, NULL, out);
	(void)fputs("\nSee cordon COMMAND --help for one of them; cordon --version prints the version.\n"
		    "Cordon's own failures exit 125; a command that cannot be executed 126, one that\n"
		    "is not found 127, one that ran into its policy's timeout 124.\n",
		    out);
}

static void help_group(const struct verb *table, const char *group, FILE *out)
{
	(void)fprintf(out, "usage: cordon %s COMMAND [OPTION...] [ARG...]\n\n", group);
	print_verbs(table, group, out);
	(void)fprintf(out, "\nSee cordon %s COMMAND --help for one of them.\n", group);
}

void help_usage(const struct verb *v, char *out, size_t size)
{
	(void)snprintf(out, size, "usage: cordon %s%s%s%s", v->name,
		       v->options && v->options->name ? " [OPTION...]" : "", v->args && *v->args ? " " : "",
		       v->args ? v->args : "");
}

int help_verb(const struct verb *table, const struct verb *verb, FILE *out)
{
	const struct option *o = verb->options;
	char usage[256];

	(void)table;
	help_usage(verb, usage, sizeof(usage));
	help_wrap(out, usage, 8, 8);
	(void)fputc('\n', out);
	help_wrap(out, verb->summary, 0, 0);
	if (verb->details) {
		(void)fputc('\n', out);
		help_wrap(out, verb->details, 0, 0);
	}
	(void)fputs("\noptions:\n", out);
	for (; o && o->name; o++)
		if (!(o->flags & OPTION_HIDDEN))
			print_option(out, o);
	print_option(out, &help_option);
	return 0;
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

bool help_wanted(const struct verb *table, int n, char *const *words, FILE *out)
{
	if (strcmp(words[0], "--version") == 0 || strcmp(words[0], "-V") == 0)
		(void)fputs("cordon " CORDON_VERSION "\n", out);
	else if (is_help(words[0]))
		help_all(table, out);
	else if (n > 1 && is_help(words[1]) && verb_is_group(table, words[0]))
		help_group(table, words[0], out);
	else
		return false;
	return true;
}

int verb_help(struct call *call, struct error *err)
{
	const struct verb *v;
	int used = 0;

	if (call->n_args == 0) {
		help_all(verbs, call->out);
		return 0;
	}
	v = verb_find(verbs, call->n_args, call->args, &used);
	if (v && used == call->n_args)
		return help_verb(verbs, v, call->out);
	if (call->n_args == 1 && verb_is_group(verbs, call->args[0])) {
		help_group(verbs, call->args[0], call->out);
		return 0;
	}
	if (v)
		return error_set(err, ERROR_USAGE, "help: \"%s\" has no further commands; see cordon help %s", v->name,
				 v->name);
	return verb_unknown(verbs, call->n_args, call->args, err);
}
