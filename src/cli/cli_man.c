#include "cli/cli_man.h"

#include <string.h>

#include "cli/cli_help.h"

static const struct {
	const char *status;
	const char *meaning;
} exits[] = {
	{"0", "Success."},
	{"1", "The answer is no, or something was found wrong; the commands that use it say when."},
	{"124", "The command ran into the timeout of its policy."},
	{"125", "Cordon itself failed, or a part of the run's gateway ended and the run with it; one line on standard "
		"error says why."},
	{"126", "The command was found but cannot be executed."},
	{"127", "The command was not found."},
};

static const struct {
	const char *path;
	const char *meaning;
} places[] = {
	{"$XDG_CONFIG_HOME/cordon/policy.yaml", "The operator's ceiling: no run is allowed more than this."},
	{"$XDG_CONFIG_HOME/cordon/profiles/", "The operator's own profiles, one file each."},
	{"$XDG_CONFIG_HOME/cordon/credentials.yaml",
	 "Where credentials come from that the gateway adds, and who may use them."},
	{"$XDG_CONFIG_HOME/cordon/gateway.yaml", "How the gateway of this host reaches the outside."},
	{"$XDG_CONFIG_HOME/cordon/agents/", "Agents for tasks, one file each."},
	{"$XDG_STATE_HOME/cordon/", "Runs, their audit logs and results of tasks, readable by their owner only."},
	{"$XDG_DATA_HOME/cordon/images/", "The store of images."},
	{"$XDG_CACHE_HOME/cordon/", "Compiled policies; may be removed at any time."},
};

/* n bytes of text, safe in the middle of a line; a line's first character is kept from being a request by \&. */
static void roff_n(FILE *out, const char *s, size_t n)
{
	if (n && (*s == '.' || *s == '\''))
		(void)fputs("\\&", out);
	for (; n > 0; n--, s++) {
		switch (*s) {
		case '\\':
			(void)fputs("\\e", out);
			break;
		case '-':
			(void)fputs("\\-", out);
			break;
		case '\'':
			(void)fputs("\\(aq", out);
			break;
		case '`':
			(void)fputs("\\(ga", out);
			break;
		case '^':
			(void)fputs("\\(ha", out);
			break;
		case '~':
			(void)fputs("\\(ti", out);
			break;
		default:
			(void)fputc(*s, out);
		}
	}
}

static void roff(FILE *out, const char *s)
{
	roff_n(out, s, strlen(s));
}

static void roff_line(FILE *out, const char *s)
{
	roff(out, s);
	(void)fputc('\n', out);
}

/* "policy check" as "policy-check". */
static void page_name(FILE *out, const struct verb *v)
{
	const char *p;

	(void)fputs("cordon\\-", out);
	for (p = v->name; *p; p++)
		(void)fputs(*p == ' ' ? "\\-" : (char[]){*p, '\0'}, out);
}

static void head(FILE *out, const struct verb *v)
{
	const char *p;

	(void)fputs(".\\\" Made by: cordon man\n.TH CORDON", out);
	for (p = v ? v->name : ""; *p; p++) {
		if (p == v->name)
			(void)fputs("\\-", out);
		(void)fputs(*p == ' ' ? "\\-" : (char[]){(char)(*p >= 'a' && *p <= 'z' ? *p - 32 : *p), '\0'}, out);
	}
	(void)fputs(" 1 \"\" \"cordon " CORDON_VERSION "\" \"Cordon\"\n.SH NAME\n", out);
}

static void details(FILE *out, const char *text)
{
	bool pre = false;

	(void)fputs(".PP\n", out);
	while (*text) {
		size_t n = strcspn(text, "\n");
		bool indented = *text == ' ';

		if (indented != pre && n > 0) {
			(void)fputs(indented ? ".PP\n.RS 4\n.nf\n" : ".fi\n.RE\n.PP\n", out);
			pre = indented;
		}
		if (n == 0 && text[1] && text[1] != ' ' && !pre) {
			(void)fputs(".PP\n", out);
		} else if (n > 0) {
			roff_n(out, text + strspn(text, " "), n - strspn(text, " "));
			(void)fputc('\n', out);
		}
		text += n + (text[n] == '\n');
	}
	if (pre)
		(void)fputs(".fi\n.RE\n", out);
}

static void option_entry(FILE *out, const struct option *o)
{
	(void)fputs(".TP\n", out);
	if (o->letter)
		(void)fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
	(void)fputs("\\fB\\-\\-", out);
	roff(out, o->name);
	(void)fputs("\\fR", out);
	if (o->value) {
		(void)fputs("=\\fI", out);
		roff(out, o->value);
		(void)fputs("\\fR", out);
	}
	(void)fputc('\n', out);
	roff(out, o->help);
	(void)fputs(o->flags & OPTION_MANY ? "\n" HELP_MANY "\n" : "\n", out);
}

static void exit_table(FILE *out)
{
	size_t i;

	(void)fputs(".SH EXIT STATUS\n"
		    ".BR cordon\\-run \"(1) and \" cordon\\-exec (1)\n"
		    "exit as their command does, 128+N after signal N. Else:\n",
		    out);
	for (i = 0; i < sizeof(exits) / sizeof(exits[0]); i++) {
		(void)fprintf(out, ".TP\n.B %s\n", exits[i].status);
		roff_line(out, exits[i].meaning);
	}
}

void man_overview(const struct verb *table, FILE *out)
{
	const struct verb *v;
	size_t i;

	head(out, NULL);
	(void)fputs("cordon \\- run untrusted agents with nothing to steal and nowhere to go\n"
		    ".SH SYNOPSIS\n.B cordon\n.I COMMAND\n[\\fIOPTION\\fR...] [\\fIARG\\fR...]\n"
		    ".SH DESCRIPTION\n"
		    "Cordon runs a command in a sandbox that a policy describes in four domains: filesystem, network, "
		    "process and\n"
		    "inference. What the policy does not name is not there. No daemon and no root are needed.\n"
		    ".SH COMMANDS\n",
		    out);
	for (v = table; v->name; v++) {
		if (v->hidden)
			continue;
		(void)fputs(".TP\n.BR ", out);
		page_name(out, v);
		(void)fputs(" (1)\n", out);
		roff_line(out, v->summary);
	}
	exit_table(out);
	(void)fputs(".SH FILES\n", out);
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		(void)fputs(".TP\n.I ", out);
		roff_line(out, places[i].path);
		roff_line(out, places[i].meaning);
	}
	(void)fputs(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nWhere it is set and not empty, no colours are used.\n"
		    ".SH SEE ALSO\n.BR cordon\\-policy (5),\n.BR cordon\\-credentials (5),\n.BR cordon\\-agents "
		    "(5),\n.BR cordon\\-compose (5)\n",
		    out);
}

void man_verb(const struct verb *table, const struct verb *verb, FILE *out)
{
	const struct option *o = verb->options;

	(void)table;
	head(out, verb);
	page_name(out, verb);
	(void)fputs(" \\- ", out);
	/* A summary is a sentence; a NAME line is not. */
	roff_n(out, verb->summary, strcspn(verb->summary, "."));
	(void)fputs("\n.SH SYNOPSIS\n.B cordon ", out);
	roff_line(out, verb->name);
	if (o && o->name)
		(void)fputs("[\\fIOPTION\\fR...]\n", out);
	if (verb->args && *verb->args)
		roff_line(out, verb->args);
	(void)fputs(".SH DESCRIPTION\n", out);
	roff_line(out, verb->summary);
	if (verb->details)
		details(out, verb->details);
	(void)fputs(".SH OPTIONS\n", out);
	for (; o && o->name; o++)
		if (!(o->flags & OPTION_HIDDEN))
			option_entry(out, o);
	option_entry(out, &help_option);
	exit_table(out);
	(void)fputs(".SH SEE ALSO\n.BR cordon (1),\n.BR cordon\\-policy (5)\n", out);
}

void man_list(const struct verb *table, FILE *out)
{
	(void)fputc('\n', out);
	for (; table->name; table++)
		if (!table->hidden)
			(void)fprintf(out, "%s\n", table->name);
}
