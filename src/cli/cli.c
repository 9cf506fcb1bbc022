#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cli_help.h"
#include "sys/pen.h"

enum {
	GUESS_MAX = 64,
	EXIT_OWN = 125,
	EXIT_NOT_EXEC = 126,
	EXIT_NOT_FOUND = 127,
	NOTE_MS = 5000 /* for somebody to take a byte of it: who runs a sandbox must not stand still */
};

/* What parsing walks over. */
struct walk {
	const struct verb *verb;
	int argc;
	char **argv;
	int at; /* next word */
	struct option_value *values;
	struct call *call;
	struct error *err;
};

bool call_has(const struct call *call, const char *option)
{
	return call_value(call, option) != NULL;
}

const char *call_value(const struct call *call, const char *option)
{
	const char *found = NULL;
	size_t i;

	for (i = 0; i < call->n_values; i++)
		if (strcmp(call->values[i].option->name, option) == 0)
			found = call->values[i].value;
	return found;
}

const struct option_value *call_next(const struct call *call, const char *option, size_t *at)
{
	while (*at < call->n_values) {
		const struct option_value *v = &call->values[(*at)++];

		if (!option || strcmp(v->option->name, option) == 0)
			return v;
	}
	return NULL;
}

int call_choice(const char *option, const char *value, const char *const *choices, struct error *err)
{
	const char *near = text_nearest(sv_of(value), choices);
	struct text_shown shown;
	AUTO_BUF all = {0};
	int i;

	buf_init(&all, 300);
	for (i = 0; choices[i]; i++) {
		if (strcmp(choices[i], value) == 0)
			return i;
		(void)buf_printf(&all, "%s%s", i ? ", " : "", choices[i]);
	}
	(void)text_show(&shown, sv_of(value));
	if (near)
		return error_set(err, ERROR_USAGE, "%s: \"%.80s\" is none of %s; did you mean \"%s\"?", option, shown.s,
				 all.p, near);
	return error_set(err, ERROR_USAGE, "%s: \"%.80s\" is none of %s", option, shown.s, all.p);
}

void call_note(const struct call *call, const char *format, ...)
{
	AUTO_BUF line = {0};
	char text[1024];
	va_list ap;

	(void)call;
	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	buf_init(&line, sizeof(text) + 16);
	(void)buf_printf(&line, "cordon: %s\n", text);
	(void)sys_pen_write_all(STDERR_FILENO, line.p, line.n, NOTE_MS); /* nobody is left to tell */
}

/* How many words of the row's name the words begin with, when they are all of them; else 0. */
static int name_words(const char *name, int n, char *const *words)
{
	int used = 0;

	for (; used < n; used++) {
		size_t len = strcspn(name, " ");

		if (strlen(words[used]) != len || memcmp(words[used], name, len) != 0)
			return 0;
		if (name[len] == '\0')
			return used + 1;
		name += len + 1;
	}
	return 0;
}

const struct verb *verb_find(const struct verb *table, int n, char *const *words, int *ret_used)
{
	for (; table->name; table++) {
		int used = name_words(table->name, n, words);

		if (used) {
			*ret_used = used;
			return table;
		}
	}
	return NULL;
}

bool verb_is_group(const struct verb *table, const char *word)
{
	size_t n = strlen(word);

	for (; table->name; table++)
		if (strncmp(table->name, word, n) == 0 && table->name[n] == ' ')
			return true;
	return false;
}

static int no_such_group_verb(const struct verb *table, const char *group, const char *word, struct error *err)
{
	const char *names[GUESS_MAX + 1] = {0}, *guess;
	size_t len = strlen(group), n = 0;
	struct text_shown shown;
	AUTO_BUF all = {0};

	buf_init(&all, 400);
	for (; table->name && n < GUESS_MAX; table++) {
		if (strncmp(table->name, group, len) != 0 || table->name[len] != ' ' || table->hidden)
			continue;
		names[n++] = table->name + len + 1;
		(void)buf_printf(&all, "%s%s", n > 1 ? ", " : "", names[n - 1]);
	}
	if (!word)
		return error_set(err, ERROR_USAGE, "%s: which one? %s", group, all.p);
	guess = text_nearest(sv_of(word), names);
	if (guess)
		return error_set(err, ERROR_USAGE, "%s: unknown command \"%s\"; did you mean \"%s %s\"?", group,
				 text_show(&shown, sv_of(word)), group, guess);
	return error_set(err, ERROR_USAGE, "%s: unknown command \"%s\"; there are %s", group,
			 text_show(&shown, sv_of(word)), all.p);
}

int verb_unknown(const struct verb *table, int n, char *const *words, struct error *err)
{
	const char *names[GUESS_MAX + 1] = {0}, *guess;
	char first[GUESS_MAX][24]; /* "policy" of "policy check" */
	struct text_shown shown;
	size_t k = 0;

	if (n == 0)
		return error_set(err, ERROR_USAGE, "no command given; see cordon --help");
	if (words[0][0] == '-')
		return error_set(err, ERROR_USAGE,
				 "unknown option \"%s\"; options stand behind their command: see cordon --help",
				 text_show(&shown, sv_of(words[0])));
	if (verb_is_group(table, words[0]))
		return no_such_group_verb(table, words[0], n > 1 ? words[1] : NULL, err);
	for (; table->name && k < GUESS_MAX; table++)
		if (!table->hidden) {
			(void)snprintf(first[k], sizeof(first[k]), "%.*s", (int)strcspn(table->name, " "), table->name);
			names[k] = first[k];
			k++;
		}
	guess = text_nearest(sv_of(words[0]), names);
	if (guess)
		return error_set(err, ERROR_USAGE, "unknown command \"%s\"; did you mean \"%s\"?",
				 text_show(&shown, sv_of(words[0])), guess);
	return error_set(err, ERROR_USAGE, "unknown command \"%s\"; see cordon --help",
			 text_show(&shown, sv_of(words[0])));
}

static const struct option *option_find(const struct verb *verb, struct sv name, char letter)
{
	const struct option *o = verb->options;

	for (; o && o->name; o++)
		if (letter ? o->letter == letter : sv_is(name, o->name))
			return o;
	if (letter ? help_option.letter == letter : sv_is(name, help_option.name))
		return &help_option;
	return NULL;
}

static int no_such_option(const struct walk *w, struct sv shown_name, struct sv name)
{
	const char *names[GUESS_MAX + 1] = {0}, *guess;
	const struct option *o = w->verb->options;
	struct text_shown shown;
	size_t n = 0;

	for (; o && o->name && n < GUESS_MAX - 1; o++)
		if (!(o->flags & OPTION_HIDDEN))
			names[n++] = o->name;
	names[n] = help_option.name;
	guess = name.n ? text_nearest(name, names) : NULL;
	(void)text_show(&shown, shown_name);
	if (guess)
		return error_set(w->err, ERROR_USAGE, "%s: unknown option %s; did you mean --%s?", w->verb->name,
				 shown.s, guess);
	return error_set(w->err, ERROR_USAGE, "%s: unknown option %s; see cordon %s --help", w->verb->name, shown.s,
			 w->verb->name);
}

/* value: what stood behind "=", or NULL: the next word is it. */
static int add_option(struct walk *w, const struct option *o, const char *value)
{
	size_t i;

	if (o == &help_option) {
		w->call->help = true;
		return 0;
	}
	if (!o->value && value)
		return error_set(w->err, ERROR_USAGE, "%s: --%s takes no value", w->verb->name, o->name);
	if (o->value && !value) {
		if (w->at >= w->argc || strcmp(w->argv[w->at], "--") == 0)
			return error_set(w->err, ERROR_USAGE, "%s: --%s needs a value (%s)", w->verb->name, o->name,
					 o->value);
		value = w->argv[w->at++];
	}
	/* mostly a variable of a script that is not set */
	if (o->value && !*value)
		return error_set(w->err, ERROR_USAGE, "%s: the value of --%s is empty; give a value (%s)",
				 w->verb->name, o->name, o->value);
	for (i = 0; i < w->call->n_values && !(o->flags & OPTION_MANY) && o->value; i++)
		if (w->values[i].option == o)
			return error_set(w->err, ERROR_USAGE, "%s: --%s is given twice", w->verb->name, o->name);
	w->values[w->call->n_values++] = (struct option_value){o, value ? value : ""};
	return 0;
}

/* word: "--name" or "--name=value". */
static int parse_long(struct walk *w, const char *word)
{
	const char *eq = strchr(word, '=');
	struct sv name = sv_n(word + 2, eq ? (size_t)(eq - word - 2) : strlen(word + 2));
	const struct option *o = option_find(w->verb, name, 0);

	if (!o)
		return no_such_option(w, sv_n(word, name.n + 2), name);
	return add_option(w, o, eq ? eq + 1 : NULL);
}

/* word: "-a", "-abc" (flags), "-fVALUE". */
static int parse_short(struct walk *w, const char *word)
{
	const char *p;

	for (p = word + 1; *p; p++) {
		const struct option *o = option_find(w->verb, sv_of(""), *p);

		if (!o)
			return no_such_option(w, sv_of(word), sv_of(""));
		if (o->value)
			return add_option(w, o, p[1] ? p + 1 : NULL);
		if (add_option(w, o, NULL) < 0)
			return -1;
	}
	return 0;
}

static void take_rest(struct walk *w)
{
	struct call *call = w->call;

	if (w->verb->dashdash) {
		if (w->at < w->argc)
			call->command = w->argv + w->at;
		call->n_command = w->argc - w->at;
	} else {
		while (w->at < w->argc)
			call->args[call->n_args++] = w->argv[w->at++];
	}
	w->at = w->argc;
}

static int parse_words(struct walk *w)
{
	struct call *call = w->call;

	while (w->at < w->argc && !call->help) {
		const char *word = w->argv[w->at];
		bool is_option = word[0] == '-' && word[1] != '\0';

		if (!is_option && w->verb->dashdash && call->n_args == w->verb->max_args) {
			take_rest(w);
			break;
		}
		w->at++;
		if (!is_option)
			call->args[call->n_args++] = w->argv[w->at - 1];
		else if (strcmp(word, "--") == 0)
			take_rest(w);
		else if ((word[1] == '-' ? parse_long(w, word) : parse_short(w, word)) < 0)
			return -1;
	}
	return 0;
}

static int check_count(const struct call *call, struct error *err)
{
	const struct verb *v = call->verb;
	struct text_shown shown;
	char usage[256];

	help_usage(v, usage, sizeof(usage));
	if (v->max_args >= 0 && call->n_args > v->max_args)
		return error_set(err, ERROR_USAGE, "%s: unexpected argument \"%.150s\"; %s", v->name,
				 text_show(&shown, sv_of(call->args[v->max_args])), usage);
	if (call->n_args < v->min_args)
		return error_set(err, ERROR_USAGE, "%s: an argument is missing; %s", v->name, usage);
	if (v->needs_command && !call->n_command)
		return error_set(err, ERROR_USAGE, "%s: no command given; %s", v->name, usage);
	return 0;
}

int call_parse(const struct verb *table, int argc, char **argv, struct call *ret, struct error *err)
{
	struct call call = {.out = ret->out, .color = ret->color, .argv = argv};
	struct walk w = {.argc = argc, .argv = argv, .call = &call, .err = err};
	size_t n = (size_t)(argc > 0 ? argc : 0) + 1;
	int used = 0;

	w.verb = call.verb = verb_find(table, argc - 1, argv + 1, &used);
	if (!w.verb)
		return verb_unknown(table, argc - 1, argv + 1, err);
	w.at = 1 + used;
	/* A cluster of flags ("-abc") can hold more options than there are words. */
	for (int i = w.at; i < argc; i++)
		n += argv[i][0] == '-' && argv[i][1] != '-' ? strlen(argv[i]) : 0;
	call.storage = calloc(n, sizeof(*w.values) + sizeof(*call.args));
	if (!call.storage)
		return error_sys(err, ENOMEM, "command line");
	call.values = w.values = call.storage;
	call.args = (char **)(void *)(w.values + n);
	if (parse_words(&w) < 0 || (!call.help && check_count(&call, err) < 0)) {
		free(call.storage);
		return -1;
	}
	*ret = call;
	return 0;
}

void call_done(struct call *call)
{
	free(call->storage);
	*call = (struct call){0};
}

static bool wants_color(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no_color && *no_color) && term && strcmp(term, "dumb") != 0 && isatty(STDOUT_FILENO);
}

/* Who reads the other end of it went away, and we were not started with SIGPIPE ignored: somebody who does that wants
 * to be told. */
static bool is_unread(FILE *out)
{
	struct pollfd p = {.fd = fileno(out)};
	struct sigaction sa;

	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR) && sigaction(SIGPIPE, NULL, &sa) == 0 &&
	       sa.sa_handler != SIG_IGN;
}

/* stdio remembers that a write failed, but not always why. `quiet`: nothing else went wrong, so nobody needs to be told
 * that `| head` has seen enough. */
static int finish_output(FILE *out, bool quiet, struct error *err)
{
	bool failed = ferror(out) != 0;

	errno = 0;
	if (fflush(out) == 0 && !failed)
		return 0;
	if (quiet && (errno == EPIPE || errno == 0) && is_unread(out))
		cli_die_of(SIGPIPE);
	if (errno == EBADF)
		return error_set(err, ERROR_SYSTEM, "cannot write the output: standard output is closed");
	if (errno)
		return error_sys(err, errno, "cannot write the output to standard output");
	return error_set(err, ERROR_SYSTEM, "cannot write all of the output to standard output");
}

static int run_call(const struct verb *table, struct call *call, struct error *err)
{
	if (call->help)
		return help_verb(table, call->verb, call->out);
	return call->verb->run(call, err);
}

/* musl's own buffer is a kilobyte, and of what is written before the end the reason of a failure is lost. */
static void give_room(bool lines)
{
#ifndef __GLIBC__
	static char room[16384];

	(void)setvbuf(stdout, room, lines ? _IOLBF : _IOFBF, sizeof(room));
#else
	(void)lines;
#endif
}

int cli_main(const struct verb *table, int argc, char **argv, struct error *err)
{
	struct call call = {.out = stdout, .color = wants_color()};
	struct error lost = {0};
	int status;

	give_room(call.color);
	if (argc > 1 && help_wanted(table, argc - 1, argv + 1, call.out))
		return finish_output(call.out, true, err);
	if (call_parse(table, argc, argv, &call, err) < 0 || !call.verb)
		return -1;
	status = run_call(table, &call, err);
	if (finish_output(call.out, status >= 0 || err->code == EPIPE, status < 0 ? &lost : err) < 0)
		status = -1;
	call_done(&call);
	return status;
}

int cli_exit_status(const struct error *err)
{
	return err->kind == ERROR_NOT_EXEC ? EXIT_NOT_EXEC : err->kind == ERROR_NOT_FOUND ? EXIT_NOT_FOUND : EXIT_OWN;
}

void cli_die_of(int sig)
{
	sigset_t set;

	(void)signal(sig, SIG_DFL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, sig);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(sig);
	_exit(128 + sig); /* PID 1 of a container does not die of it */
}
