#include "cli/cli_complete.h"

#include <string.h>

#include "base/cleanup.h"
#include "model/policy.h"
#include "policy/policy_profile.h"

static const char *const shell_names[] = {"bash", "zsh", "fish", NULL};

static const struct {
	const char *kind;
	const char *const *words;
} fixed_kinds[] = {
	{"profile", policy_profile_names},
	{"runtime", runtime_names},
	{"category", category_names},
};

const char *complete_words(const char *complete, char out[COMPLETE_WORDS_MAX])
{
	size_t i, k, n = 0;
	char *p;

	out[0] = '\0';
	if (complete && strchr(complete, '|')) {
		(void)snprintf(out, COMPLETE_WORDS_MAX, "%s", complete);
		for (p = out; *p; p++)
			*p = *p == '|' ? ' ' : *p;
	}
	for (i = 0; complete && i < ARRAY_LEN(fixed_kinds); i++) {
		if (strcmp(complete, fixed_kinds[i].kind) != 0)
			continue;
		for (k = 0; fixed_kinds[i].words[k] && n < COMPLETE_WORDS_MAX; k++)
			n += (size_t)snprintf(out + n, COMPLETE_WORDS_MAX - n, "%s%s", k ? " " : "",
					      fixed_kinds[i].words[k]);
	}
	return out;
}

void complete_quote(FILE *out, const char *s, const char *special)
{
	for (; *s; s++) {
		if (*s == '\'') {
			(void)fputs("'\\''", out);
			continue;
		}
		if (strchr(special, *s))
			(void)fputc('\\', out);
		(void)fputc(*s, out);
	}
}

const struct verb *complete_next_group(const struct verb *table, const struct verb *at, int *len)
{
	const struct verb *v, *before;

	for (v = at ? at + 1 : table; v->name; v++) {
		*len = (int)strcspn(v->name, " ");
		if (!v->name[*len] || v->hidden)
			continue;
		for (before = table; before < v; before++)
			if (strncmp(before->name, v->name, (size_t)*len + 1) == 0)
				break;
		if (before == v)
			return v;
	}
	return NULL;
}

int complete_write(const struct verb *table, const char *shell, FILE *out, struct error *err)
{
	static void (*const write_script[])(const struct verb *, FILE *) = {complete_bash, complete_zsh, complete_fish};
	int i = call_choice("completion", shell, shell_names, err);

	if (i < 0)
		return -1;
	write_script[i](table, out);
	return 0;
}
