#include "cli/verb_doctor.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/doctor_check.h"
#include "cli/doctor_runtime.h"
#include "model/policy.h"

const struct option verb_doctor_options[] = {
	{.name = "runtime",
	 .letter = 'r',
	 .value = "RUNTIME",
	 .complete = "runtime",
	 .help = "Try this runtime with a container, step by step; native and auto are what doctor looks at anyway."},
	{.name = "json", .help = "Print the result as one JSON document."},
	{0},
};

static const struct {
	const char *title;
	const struct doctor_check *checks;
} tables[] = {
	{"Kernel", doctor_kernel_checks},
	{"Machine", doctor_host_checks},
	{"Tools", doctor_tool_checks},
};

static const char *const status_names[] = {[DOCTOR_OK] = "ok", [DOCTOR_WARN] = "warn", [DOCTOR_MISSING] = "missing"};

/* Gets each check with its result; the title is set for the first of a table. */
typedef void (*visit_fn)(const char *title, const struct doctor_check *c, const struct doctor_result *r, void *arg);

static void visit_all(visit_fn visit, void *arg)
{
	const struct doctor_check *c;
	struct doctor_result r;
	size_t i;

	for (i = 0; i < ARRAY_LEN(tables); i++)
		for (c = tables[i].checks; c->id; c++) {
			doctor_run(c, &r);
			visit(c == tables[i].checks ? tables[i].title : NULL, c, &r, arg);
		}
}

struct table {
	FILE *out;
	bool color;
	struct buf lacking; /* names of what is needed and not there */
};

static void print_row(const char *title, const struct doctor_check *c, const struct doctor_result *r, void *arg)
{
	static const char *const colors[] = {"\033[32m", "\033[33m", "\033[2m", "\033[31m"};
	static const char *const symbols[] = {"\xe2\x9c\x93", "!", "-", "\xe2\x9c\x97"};
	struct table *t = arg;
	unsigned look = r->status == DOCTOR_MISSING && c->needed ? 3 : r->status;

	if (title)
		fprintf(t->out, "%s%s\n", title[0] == 'K' ? "" : "\n", title);
	fprintf(t->out, "  %s%s%s %-26s %-34s %s\n", t->color ? colors[look] : "", symbols[look],
		t->color ? "\033[0m" : "", c->name, r->value, r->meaning);
	if (r->fix[0])
		fprintf(t->out, "      to fix: %s\n", r->fix);
	if (look == 3)
		(void)buf_printf(&t->lacking, "%s%s", t->lacking.n ? ", " : "", c->name);
}

static int doctor_table(struct call *call)
{
	struct table t = {.out = call->out, .color = call->color};
	bool ok;

	buf_init(&t.lacking, 4096);
	visit_all(print_row, &t);
	ok = t.lacking.n == 0;
	fprintf(call->out, "\n%s%s%s\n",
		ok ? "cordon run can work here" : "cordon run cannot work here; it needs: ", ok ? "" : t.lacking.p,
		ok ? "." : "");
	buf_done(&t.lacking);
	return ok ? 0 : 1;
}

struct document {
	struct json json;
	bool ok;
};

static void add_check(const char *title, const struct doctor_check *c, const struct doctor_result *r, void *arg)
{
	struct document *d = arg;

	(void)title;
	json_open(&d->json);
	json_kstr(&d->json, "id", c->id);
	json_kstr(&d->json, "name", c->name);
	json_kstr(&d->json, "status", status_names[r->status]);
	json_kbool(&d->json, "needed", c->needed);
	json_kstr(&d->json, "value", r->value);
	json_kstr(&d->json, "meaning", r->meaning);
	json_kstr(&d->json, "fix", r->fix);
	json_close(&d->json);
	if (c->needed && r->status == DOCTOR_MISSING)
		d->ok = false;
}

static int doctor_json(struct call *call, struct error *err)
{
	struct document d = {.ok = true};
	AUTO_BUF checks = {0};
	AUTO_BUF b = {0};

	buf_init(&checks, 1 << 20);
	json_init(&d.json, &checks);
	json_list(&d.json);
	visit_all(add_check, &d);
	json_end(&d.json);
	buf_init(&b, 1 << 20);
	json_init(&d.json, &b);
	json_open(&d.json);
	json_kint(&d.json, "version", 1);
	json_kbool(&d.json, "ok", d.ok);
	json_key(&d.json, "checks");
	json_raw(&d.json, buf_view(&checks));
	json_close(&d.json);
	if (buf_failed(&checks) || buf_failed(&b))
		return error_sys(err, buf_failed(&checks) ? buf_failed(&checks) : buf_failed(&b), "doctor");
	fprintf(call->out, "%s\n", b.p);
	return d.ok ? 0 : 1;
}

/* What those need is what doctor itself looks at: auto is native where no category is given. */
static bool is_native(const char *runtime)
{
	return strcmp(runtime, runtime_names[RUNTIME_NATIVE]) == 0 || strcmp(runtime, runtime_names[RUNTIME_AUTO]) == 0;
}

int verb_doctor(struct call *call, struct error *err)
{
	if (call_has(call, "runtime") && !is_native(call_value(call, "runtime")))
		return doctor_runtime(call, err);
	return call_has(call, "json") ? doctor_json(call, err) : doctor_table(call);
}
