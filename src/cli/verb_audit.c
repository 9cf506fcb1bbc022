#include "cli/verb_audit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "supervise/state.h"

const struct option verb_audit_verify_options[] = {
	{.name = "last", .value = "HASH", .help = "The hash that the log must end with, if you noted it elsewhere."},
	{.name = "json", .help = "Print the result as one JSON document."},
	{0},
};

const struct option verb_audit_show_options[] = {
	{.name = "json", .help = "Print the log as it is: one JSON object a line."},
	{0},
};

static const char *const state_names[] = {
	[AUDIT_GOOD] = "good",
	[AUDIT_UNFINISHED] = "unfinished",
	[AUDIT_BROKEN] = "broken",
};

static int print_json(struct call *call, const struct audit_report *r, struct error *err)
{
	struct json j;
	AUTO_BUF b = {0};

	buf_init(&b, 1 << 20);
	json_init(&j, &b);
	json_open(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "file", call->args[0]);
	json_kstr(&j, "state", state_names[r->state]);
	json_kint(&j, "lines", (int64_t)r->lines);
	json_kint(&j, "runs", (int64_t)r->runs);
	json_key(&j, "bad_line");
	if (r->bad_line)
		json_uint(&j, r->bad_line);
	else
		json_str(&j, NULL);
	json_kstr(&j, "what", r->what);
	json_kstr(&j, "last_hash", r->last_hash);
	json_close(&j);
	if (buf_failed(&b))
		return error_sys(err, buf_failed(&b), "audit verify");
	fprintf(call->out, "%s\n", b.p);
	return 0;
}

/* A log is named by its path, or by the id of its run where there is no such file: then it has that run's events alone.
 * The result is the caller's (free()). */
static char *log_path(const char *name, bool *ret_all)
{
	AUTO_FREE char *root = NULL;
	struct error ignored = {0};
	char *path = NULL;

	*ret_all = true;
	if (strlen(name) != STATE_ID - 1 || access(name, F_OK) == 0 || state_root(&root, &ignored) < 0 ||
	    asprintf(&path, "%s/%s/audit.jsonl", root, name) < 0)
		return strdup(name);
	if (access(path, F_OK) == 0) {
		*ret_all = false;
		return path;
	}
	free(path);
	return strdup(name);
}

int verb_audit_verify(struct call *call, struct error *err)
{
	bool all;
	AUTO_FREE char *path = log_path(call->args[0], &all);
	struct audit_report report;
	struct text_shown file;

	if (!path || (all ? audit_verify_all : audit_verify)(path, call_value(call, "last"), &report, err) < 0)
		return path ? -1 : error_set(err, ERROR_SYSTEM, "out of memory");
	text_show(&file, sv_of(call->args[0]));
	if (call_has(call, "json")) {
		if (print_json(call, &report, err) < 0)
			return -1;
	} else if (report.bad_line) {
		fprintf(call->out, "%s:%" PRIu64 ": %s\n", file.s, report.bad_line, report.what);
	} else if (report.runs > 1) {
		fprintf(call->out, "%s: %" PRIu64 " lines of %" PRIu64 " runs, %s\n", file.s, report.lines, report.runs,
			report.what);
	} else {
		fprintf(call->out, "%s: %" PRIu64 " line%s, %s\n", file.s, report.lines, report.lines == 1 ? "" : "s",
			report.what);
	}
	return report.state == AUDIT_GOOD ? 0 : 1;
}

int verb_audit_show(struct call *call, struct error *err)
{
	bool all;
	AUTO_FREE char *path = log_path(call->args[0], &all);
	int r;

	if (!path)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (call_has(call, "json"))
		r = audit_show_json(path, all, call->out, err);
	else
		r = audit_show(path, all, call->out, call->color, err);
	if (r == 0 || err->kind != ERROR_INPUT)
		return r;
	(void)fflush(call->out);
	call_note(call, "%s", err->text);
	return 1;
}
