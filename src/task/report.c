#include "task/report.h"

#include "audit/page.h"

enum { FINDINGS_SHOWN = 500 };

static void put_status(const struct task_result *r, struct buf *out)
{
	const char *class = r->status == TASK_SCORED ? r->reward > 0 ? "good" : "warn" : "bad";

	(void)buf_printf(out, "<header>\n<h1>");
	page_text(out, r->task);
	(void)buf_printf(out, "</h1>\n<span class=\"pill %s\">%s</span>\n</header>\n", class,
			 task_status_names[r->status]);
}

static void put_tile(struct buf *out, const char *name, const char *unit, double v)
{
	(void)buf_str(out, "<div class=\"tile\"><b>");
	(void)buf_printf(out, v == (double)(int64_t)v ? "%.0f" : "%.4g", v);
	(void)buf_printf(out, "%s</b><span>%s</span></div>\n", unit, name);
}

static void put_tiles(const struct task_result *r, struct buf *out)
{
	double seconds = 0;
	size_t i;

	for (i = 0; i < TASK_PHASES; i++)
		seconds += r->phases[i].seconds;
	(void)buf_str(out, "<div class=\"tiles\">\n");
	if (r->status == TASK_SCORED)
		put_tile(out, "reward", "", r->reward);
	put_tile(out, "in all", " s", seconds);
	put_tile(out, "things denied", "", (double)r->denials);
	put_tile(out, "findings", "", (double)(r->n_findings + r->more_findings));
	(void)buf_str(out, "</div>\n");
}

static void put_rewards(const struct task_result *r, struct buf *out)
{
	size_t i;

	if (r->status != TASK_SCORED || r->n_rewards < 2)
		return;
	(void)buf_str(out, "<section>\n<h2>Rewards</h2>\n<table>\n");
	for (i = 0; i < r->n_rewards; i++) {
		(void)buf_str(out, "<tr><td>");
		page_text(out, r->rewards[i].key);
		(void)buf_printf(out, "</td><td class=\"n\">%.6g</td></tr>\n", r->rewards[i].value);
	}
	(void)buf_str(out, "</table>\n</section>\n");
}

static void put_phases(const struct task_result *r, struct buf *out)
{
	size_t i;

	(void)buf_str(out, "<section>\n<h2>Phases</h2>\n<table>\n<tr><th>phase</th><th>time</th><th>exit</"
			   "th><th>runtime</th></tr>\n");
	for (i = 0; i < TASK_PHASES; i++) {
		if (!r->phases[i].ran)
			continue;
		(void)buf_printf(out, "<tr><td>%s</td><td>", task_phase_names[i]);
		page_duration(out, (uint64_t)(r->phases[i].seconds * 1000));
		(void)buf_printf(out, "</td><td class=\"n\">%d</td><td>", r->phases[i].exit);
		page_text(out, r->phases[i].runtime ? r->phases[i].runtime : "");
		(void)buf_str(out, "</td></tr>\n");
	}
	(void)buf_str(out, "</table>\n</section>\n");
}

static void put_findings(const struct task_result *r, struct buf *out)
{
	size_t i, n = r->n_findings < FINDINGS_SHOWN ? r->n_findings : FINDINGS_SHOWN,
		  left = r->n_findings + r->more_findings - n;

	if (n == 0)
		return;
	(void)buf_str(out, "<section>\n<h2>Findings</h2>\n<table>\n<tr><th>rule</th><th>path</th><th>what</th></tr>\n");
	for (i = 0; i < n; i++) {
		(void)buf_str(out, "<tr><td>");
		page_text(out, r->findings[i].rule);
		(void)buf_str(out, "</td><td><code>");
		page_text(out, r->findings[i].path);
		(void)buf_str(out, "</code></td><td>");
		page_text(out, r->findings[i].message);
		(void)buf_str(out, "</td></tr>\n");
	}
	(void)buf_str(out, "</table>\n");
	if (left)
		(void)buf_printf(out, "<p class=\"dim\">and %zu more</p>\n", left);
	(void)buf_str(out, "</section>\n");
}

static void put_facts(const struct task_result *r, struct buf *out)
{
	(void)buf_str(out, "<section>\n<h2>How it ran</h2>\n<dl>\n");
	page_row(out, "agent", r->agent ? r->agent : "");
	if (r->agent_timed_out)
		page_row(out, "agent's end", "its time was over");
	if (r->model)
		page_row(out, "model", r->model);
	page_row(out, "runtime", r->runtime ? r->runtime : "");
	page_row(out, "isolation", r->isolation ? r->isolation : "");
	page_row(out, "task", r->digest_task ? r->digest_task : "");
	page_row(out, "image", r->digest_image ? r->digest_image : "");
	page_row(out, "tests", r->digest_tests ? r->digest_tests : "");
	(void)buf_str(out, "</dl>\n");
	if (r->usage) {
		(void)buf_str(out, "<h3>through the gateway</h3>\n<pre>");
		page_text(out, r->usage);
		(void)buf_str(out, "</pre>\n");
	}
	(void)buf_str(out, "</section>\n");
}

static void put_files(const char *const *files, struct buf *out)
{
	if (!files || !*files)
		return;
	(void)buf_str(out, "<section>\n<h2>What was printed, and what was seen</h2>\n<ul>\n");
	for (; *files; files++) {
		(void)buf_str(out, "<li>");
		page_link(out, *files);
		(void)buf_str(out, "</li>\n");
	}
	(void)buf_str(out, "</ul>\n</section>\n");
}

void task_report_page(const struct task_result *r, const char *const *files, struct buf *out)
{
	page_head(out, r->task);
	put_status(r, out);
	if (r->reason) {
		(void)buf_str(out, "<section>\n<p>");
		page_text(out, r->reason);
		(void)buf_str(out, "</p>\n</section>\n");
	}
	put_tiles(r, out);
	put_rewards(r, out);
	put_phases(r, out);
	put_findings(r, out);
	put_files(files, out);
	put_facts(r, out);
	page_end(out);
}
