#include "cli/doctor_runtime.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/doctor_check.h"
#include "cli/health.h"

struct findings {
	struct health h;
	struct doctor_result version;
};

/* What is known of a step that went well; "" where there is nothing to say. */
static void describe(const struct findings *f, int step, struct buf *out)
{
	struct text_shown shown;

	if (step == HEALTH_FOUND && f->h.program[0])
		(void)buf_printf(out, "%s%s%s", text_show(&shown, sv_of(f->h.program)), f->version.value[0] ? ": " : "",
				 f->version.value);
	else if (step == HEALTH_STARTED)
		(void)buf_printf(out, "in %u ms", f->h.start_ms);
	else if (step == HEALTH_NETWORK)
		(void)buf_str(out, "no interface but loopback");
	else if (step == HEALTH_CLEAN)
		(void)buf_printf(out, "%u ms in all", f->h.total_ms);
}

static const char *status_of(const struct findings *f, int step)
{
	return step < f->h.failed ? "ok" : step == f->h.failed ? "failed" : "not tried";
}

static void print_text(const struct call *call, const struct findings *f, struct buf *out)
{
	static const char *const symbols[] = {"\xe2\x9c\x93", "\xe2\x9c\x97", "-"}, *const colors[] = {"\033[32m",
												       "\033[31m",
												       "\033[2m"};
	int i, look;

	(void)buf_printf(out, "%s\n", runtime_names[f->h.runtime]);
	for (i = 0; i < HEALTH_STEPS; i++) {
		look = i < f->h.failed ? 0 : i == f->h.failed ? 1 : 2;
		(void)buf_printf(out, "  %s%s%s %-18s ", call->color ? colors[look] : "", symbols[look],
				 call->color ? "\033[0m" : "", health_step_names[i]);
		if (look == 0)
			describe(f, i, out);
		else
			(void)buf_str(out, look == 1 ? f->h.what : "not tried");
		(void)buf_char(out, '\n');
		if (look == 1 && health_advice(&f->h)[0])
			(void)buf_printf(out, "      to fix: %s\n", health_advice(&f->h));
	}
	if (f->h.digest[0])
		(void)buf_printf(out, "  SHA-256 of the program: %s\n", f->h.digest);
	(void)buf_printf(out, "\n%s\n",
			 health_is_good(&f->h)
				 ? "It can be used."
				 : "It cannot be used here; process.fallback says what takes its place, if anything.");
}

static void print_json(const struct findings *f, struct buf *out)
{
	AUTO_BUF text = {0};
	struct json j;
	int i;

	buf_init(&text, 4096);
	json_init(&j, out);
	json_open(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "runtime", runtime_names[f->h.runtime]);
	json_kbool(&j, "ok", health_is_good(&f->h));
	json_kstr(&j, "program", f->h.program[0] ? f->h.program : NULL);
	json_kstr(&j, "program_version", f->version.value[0] ? f->version.value : NULL);
	json_kstr(&j, "program_digest", f->h.digest[0] ? f->h.digest : NULL);
	json_kint(&j, "start_ms", f->h.start_ms);
	json_kint(&j, "total_ms", f->h.total_ms);
	json_key(&j, "steps");
	json_list(&j);
	for (i = 0; i < HEALTH_STEPS; i++) {
		text.n = 0;
		describe(f, i, &text);
		json_open(&j);
		json_kstr(&j, "name", health_step_names[i]);
		json_kstr(&j, "status", status_of(f, i));
		json_key(&j, "value");
		json_sv(&j, i == f->h.failed ? sv_of(f->h.what) : i < f->h.failed ? buf_view(&text) : sv_of(""));
		json_kstr(&j, "fix", i == f->h.failed ? health_advice(&f->h) : "");
		json_close(&j);
	}
	json_end(&j);
	json_close(&j);
	(void)buf_char(out, '\n');
}

int doctor_runtime(struct call *call, struct error *err)
{
	int runtime = call_choice("--runtime", call_value(call, "runtime"), runtime_names, err);
	struct findings f = {0};
	struct cli_folders folders;
	AUTO_BUF out = {0};

	if (runtime < 0 || cli_folders(&folders, err) < 0)
		return -1;
	health_check((enum runtime)runtime, &folders, HEALTH_FRESH, &f.h);
	if (f.h.program[0] && runtime != RUNTIME_DOCKER)
		doctor_program_version(f.h.program, &f.version);
	buf_init(&out, 65536);
	if (call_has(call, "json"))
		print_json(&f, &out);
	else
		print_text(call, &f, &out);
	if (cli_print(call, &out, err) < 0)
		return -1;
	return health_is_good(&f.h) ? 0 : 1;
}
