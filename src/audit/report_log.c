#include "audit/report_log.h"

#include <errno.h>

#include "audit/audit_file.h"
#include "base/text.h"

const char *report_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

uint64_t report_number(const json_t *object, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(object, key));

	return v > 0 ? (uint64_t)v : 0;
}

static struct report_group *find_group(struct report_log *l, json_t *line)
{
	struct report_group *g;

	for (g = l->groups; g < l->groups + l->n_groups; g++)
		if (strcmp(report_text(g->first, "rule"), report_text(line, "rule")) == 0 &&
		    strcmp(report_text(g->first, "domain"), report_text(line, "domain")) == 0)
			return g;
	if (l->n_groups == REPORT_GROUPS)
		return NULL;
	l->n_groups++;
	g->first = json_incref(line);
	return g;
}

static void add_example(struct report_group *g, json_t *target)
{
	unsigned i;

	for (i = 0; i < g->n_examples; i++)
		if (json_equal(g->examples[i], target))
			return;
	if (g->n_examples == REPORT_EXAMPLES)
		g->more = true;
	else
		g->examples[g->n_examples++] = json_incref(target);
}

static void add_denial(struct report_log *l, json_t *line)
{
	bool model = strcmp(report_text(line, "domain"), "inference") == 0;
	json_t *target = json_object_get(line, model ? "message" : "target");
	struct report_group *g = find_group(l, line);
	uint64_t count = report_number(line, "count");

	count = count ? count : 1;
	l->denials += count;
	if (!g) {
		l->ungrouped += count;
		return;
	}
	g->count += count;
	if (json_is_string(target))
		add_example(g, target);
}

static void add_line(struct report_log *l, json_t *line)
{
	const char *event = report_text(line, "event");

	if (strcmp(event, "start") == 0 && !l->start)
		l->start = json_incref(line);
	else if (strcmp(event, "exit") == 0 && !l->end)
		l->end = json_incref(line);
	else if (strcmp(event, "denial") == 0)
		add_denial(l, line);
	else if (strcmp(event, "limit") == 0 && json_array_size(l->limits) < REPORT_ROWS)
		(void)json_array_append(l->limits, line);
	else if (json_array_size(l->others) < REPORT_ROWS)
		(void)json_array_append(l->others, line);
	else
		l->others_left++;
}

static int read_lines(struct report_log *l, struct audit_file *f)
{
	struct sv text;
	uint64_t i;
	json_t *line;
	int r;

	for (i = 0; i < l->chain.lines; i++) {
		r = audit_file_next(f, &text);
		if (r < 0)
			return r;
		if (r != AUDIT_FILE_LINE)
			return -ESTALE; /* it was longer a moment ago */
		line = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
		if (!line)
			return -EBADMSG;
		add_line(l, line);
		json_decref(line);
	}
	return 0;
}

int report_log_read(const char *path, const char *last_hash, struct report_log *ret, struct error *err)
{
	struct audit_file *f = NULL;
	struct text_shown shown;
	int r;

	*ret = (struct report_log){.limits = json_array(), .others = json_array()};
	if (audit_verify(path, last_hash, &ret->chain, err) < 0 || audit_file_open(path, &f, err) < 0) {
		report_log_done(ret);
		return -1;
	}
	r = ret->limits && ret->others ? read_lines(ret, f) : -ENOMEM;
	audit_file_free(f);
	if (r == 0)
		return 0;
	report_log_done(ret);
	return error_sys(err, r, "%s", text_show(&shown, sv_of(path)));
}

void report_log_done(struct report_log *l)
{
	struct report_group *g;
	unsigned i;

	for (g = l->groups; g < l->groups + l->n_groups; g++) {
		json_decref(g->first);
		for (i = 0; i < g->n_examples; i++)
			json_decref(g->examples[i]);
	}
	json_decref(l->start);
	json_decref(l->end);
	json_decref(l->limits);
	json_decref(l->others);
	*l = (struct report_log){0};
}
