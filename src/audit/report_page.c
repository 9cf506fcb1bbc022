#include "audit/report_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "audit/page.h"
#include "base/cleanup.h"

static void put_size(struct buf *out, uint64_t kib)
{
	if (kib < 1024)
		(void)buf_printf(out, "%" PRIu64 " KiB", kib);
	else if (kib < 1024 * 1024)
		(void)buf_printf(out, "%" PRIu64 ".%" PRIu64 " MiB", kib / 1024, kib % 1024 * 10 / 1024);
	else
		(void)buf_printf(out, "%" PRIu64 ".%" PRIu64 " GiB", kib / 1048576, kib % 1048576 * 10 / 1048576);
}

static void put_time(struct buf *out, uint64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char text[64] = "";
	struct tm tm;

	if (ms && localtime_r(&seconds, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &tm);
	page_text(out, text[0] ? text : "not known");
}

/* A word as a shell would need it. */
static void put_word(struct buf *out, struct sv s)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=,+@%";
	AUTO_BUF quoted = {0};
	size_t i;

	for (i = 0; i < s.n && s.p[i] && strchr(plain, s.p[i]); i++)
		;
	if (s.n && i == s.n) {
		page_line(out, s);
		return;
	}
	buf_init(&quoted, 4 * s.n + 8);
	(void)buf_char(&quoted, '\'');
	for (i = 0; i < s.n; i++)
		(void)(s.p[i] == '\'' ? buf_str(&quoted, "'\\''") : buf_char(&quoted, s.p[i]));
	(void)buf_char(&quoted, '\'');
	page_lines(out, buf_view(&quoted));
}

/* ---- parts of the page ---- */

static void put_command(struct buf *out, const json_t *command)
{
	const json_t *word;
	size_t i;

	(void)buf_str(out, "<pre>");
	json_array_foreach(command, i, word)
	{
		if (i)
			(void)buf_char(out, ' ');
		put_word(out, sv_n(json_string_value(word), json_string_length(word)));
	}
	(void)buf_str(out, "</pre>\n");
}

static void put_status(struct buf *out, const struct report_log *l)
{
	const char *limit = report_text(l->end, "limit");
	uint64_t status = report_number(l->end, "exit");

	if (!l->end) {
		(void)buf_str(out, "<span class=\"pill bad\">no end in the log</span>\n");
		return;
	}
	(void)buf_printf(out, "<span class=\"pill %s\">exit status %" PRIu64, status ? "bad" : "good", status);
	if (status > 128 && status < 193)
		(void)buf_printf(out, " (signal %" PRIu64 ")", status - 128);
	(void)buf_str(out, "</span>\n");
	if (limit[0]) {
		(void)buf_str(out, "<span class=\"pill warn\">ended by ");
		page_text(out, limit);
		(void)buf_str(out, "</span>\n");
	}
	if (l->chain.state == AUDIT_BROKEN)
		(void)buf_str(out, "<span class=\"pill bad\">the log was changed</span>\n");
}

static uint64_t denials(const struct report_log *l)
{
	uint64_t counted = report_number(json_object_get(l->end, "usage"), "denials");

	return counted > l->denials ? counted : l->denials;
}

static void put_tiles(struct buf *out, const struct report_log *l)
{
	const json_t *usage = json_object_get(l->end, "usage");
	uint64_t from = report_number(l->start, "time"), to = report_number(l->end, "time");
	uint64_t peak = report_number(usage, "memory_peak") / 1024, largest = report_number(usage, "max_rss_kib");

	(void)buf_str(out, "<div class=\"tiles\">\n<div class=\"tile\"><b>");
	page_duration(out, to > from ? to - from : 0);
	(void)buf_str(out, "</b><span>duration</span></div>\n<div class=\"tile\"><b>");
	page_duration(out, (report_number(usage, "user_us") + report_number(usage, "system_us")) / 1000);
	(void)buf_str(out, "</b><span>processor time</span></div>\n<div class=\"tile\"><b>");
	put_size(out, peak ? peak : largest);
	(void)buf_printf(out, "</b><span>%s</span></div>\n", peak ? "most memory in use" : "largest process");
	(void)buf_printf(out, "<div class=\"tile\"><b>%" PRIu64 "</b><span>denials</span></div>\n", denials(l));
	(void)buf_printf(out, "<div class=\"tile\"><b>%zu</b><span>limit hits</span></div>\n</div>\n",
			 json_array_size(l->limits));
}

static void put_what_ran(struct buf *out, const struct report_log *l)
{
	(void)buf_str(out, "<section>\n<h2>What ran</h2>\n");
	put_command(out, json_object_get(l->start, "command"));
	(void)buf_str(out, "<dl>\n");
	page_row(out, "Work folder", report_text(l->start, "workdir"));
	page_row(out, "used as", report_text(l->start, "workdir_mode"));
	page_row(out, "Policy", report_text(l->start, "policy"));
	(void)buf_str(out, "<dt>Started</dt><dd>");
	put_time(out, report_number(l->start, "time"));
	(void)buf_str(out, "</dd>\n<dt>Ended</dt><dd>");
	put_time(out, report_number(l->end, "time"));
	(void)buf_str(out, "</dd>\n</dl>\n</section>\n");
}

static void put_group(struct buf *out, const struct report_group *g)
{
	unsigned i;

	(void)buf_printf(out, "<tr><td class=\"n\">%" PRIu64 "</td><td>", g->count);
	page_text(out, report_text(g->first, "domain"));
	(void)buf_str(out, "</td><td>");
	page_text(out, report_text(g->first, "rule"));
	(void)buf_str(out, "</td><td>");
	for (i = 0; i < g->n_examples; i++) {
		(void)buf_str(out, "<code>");
		page_line(out, sv_n(json_string_value(g->examples[i]), json_string_length(g->examples[i])));
		(void)buf_str(out, "</code>");
	}
	(void)buf_printf(out, "%s</td></tr>\n", g->more ? "<span class=\"dim\">and more</span>" : "");
}

static void put_denials(struct buf *out, const struct report_log *l)
{
	uint64_t all = denials(l);
	unsigned i;

	(void)buf_str(out, "<section>\n<h2>Denials, by rule</h2>\n");
	if (!all)
		(void)buf_str(out, "<p>Nothing was denied that Cordon could see.</p>\n");
	if (l->n_groups)
		(void)buf_str(out, "<table>\n<tr><th class=\"n\">times</th><th>domain</th><th>rule</th><th>what was "
				   "tried</th></tr>\n");
	for (i = 0; i < l->n_groups; i++)
		put_group(out, &l->groups[i]);
	if (l->n_groups)
		(void)buf_str(out, "</table>\n");
	if (l->ungrouped)
		(void)buf_printf(out, "<p class=\"dim\">%" PRIu64 " more by other rules; the log has them all.</p>\n",
				 l->ungrouped);
	if (all > l->denials)
		(void)buf_printf(out,
				 "<p class=\"dim\">%" PRIu64 " more were counted, but not logged one by one.</p>\n",
				 all - l->denials);
	(void)buf_str(out, "</section>\n");
}

static void put_number(struct buf *out, const json_t *object, const char *key)
{
	(void)buf_printf(out, "<td class=\"n\">%" PRIu64 "</td>", report_number(object, key));
}

/* What went through the gateway, where there was one. */
static void put_gateway(struct buf *out, const struct report_log *l)
{
	const json_t *gateway = json_object_get(l->end, "gateway"), *models = json_object_get(gateway, "models"), *m;
	size_t i;

	if (!gateway)
		return;
	(void)buf_printf(out,
			 "<section>\n<h2>Through the gateway</h2>\n<p>%" PRIu64
			 " connections and requests were judged, %" PRIu64 " of them denied; ",
			 report_number(gateway, "requests"), report_number(gateway, "denied"));
	put_size(out, report_number(gateway, "bytes_out") / 1024);
	(void)buf_str(out, " went out, ");
	put_size(out, report_number(gateway, "bytes_in") / 1024);
	(void)buf_str(out, " came in.</p>\n");
	if (json_array_size(models))
		(void)buf_str(out, "<table>\n<tr><th>provider</th><th>model</th><th class=\"n\">requests</th><th "
				   "class=\"n\">tokens in</th><th class=\"n\">tokens out</th><th class=\"n\">charged "
				   "for cut answers</th></tr>\n");
	json_array_foreach ((json_t *)(uintptr_t)models, i, m) {
		(void)buf_str(out, "<tr><td>");
		page_text(out, report_text(m, "provider"));
		(void)buf_str(out, "</td><td>");
		page_text(out, report_text(m, "model"));
		(void)buf_str(out, "</td>");
		put_number(out, m, "requests");
		put_number(out, m, "input_tokens");
		put_number(out, m, "output_tokens");
		put_number(out, m, "cut_tokens");
		(void)buf_str(out, "</tr>\n");
	}
	(void)buf_str(out, json_array_size(models) ? "</table>\n</section>\n" : "</section>\n");
}

/* Lines of the log in a table: when, what, and what it says. */
static void put_events(struct buf *out, const char *title, const json_t *lines, uint64_t left, const char *what)
{
	const json_t *line;
	size_t i;

	if (json_array_size(lines) == 0)
		return;
	(void)buf_printf(out, "<section>\n<h2>%s</h2>\n<table>\n", title);
	json_array_foreach(lines, i, line)
	{
		(void)buf_str(out, "<tr><td class=\"dim\">");
		put_time(out, report_number(line, "time"));
		(void)buf_str(out, "</td><td>");
		page_text(out, report_text(line, what));
		(void)buf_str(out, "</td><td>");
		page_text(out, report_text(line, "message"));
		(void)buf_str(out, "</td></tr>\n");
	}
	(void)buf_str(out, "</table>\n");
	if (left)
		(void)buf_printf(out, "<p class=\"dim\">%" PRIu64 " more are in the log.</p>\n", left);
	(void)buf_str(out, "</section>\n");
}

static void put_isolation(struct buf *out, const struct report_log *l)
{
	const json_t *isolation = json_object_get(l->start, "isolation"),
		     *limits = json_object_get(isolation, "cgroup"), *name;
	uint64_t abi = report_number(isolation, "landlock");
	size_t i;

	(void)buf_str(out, "<section>\n<h2>Isolation reached</h2>\n<dl>\n");
	page_row(out, "Runtime", report_text(isolation, "runtime"));
	page_row(out, "Namespaces", report_text(isolation, "namespaces"));
	if (abi)
		(void)buf_printf(out, "<dt>Landlock</dt><dd>version %" PRIu64 "</dd>\n", abi);
	else
		page_row(out, "Landlock", "");
	page_row(out, "System calls", report_text(isolation, "seccomp"));
	(void)buf_printf(out, "<dt>User on the host</dt><dd>%" PRIu64 "</dd>\n<dt>Limits by cgroup</dt><dd>",
			 report_number(isolation, "host_uid"));
	json_array_foreach(limits, i, name)
	{
		(void)buf_str(out, i ? ", " : "");
		page_text(out, json_string_value(name) ? json_string_value(name) : "?");
	}
	(void)buf_printf(out, "%s</dd>\n</dl>\n</section>\n",
			 json_array_size(limits) ? "" : "none: Cordon watches over them itself");
}

static const char *domain_title(const char *key)
{
	static const struct {
		const char *key, *title;
	} titles[] = {
		{"filesystem", "Files"}, {"network", "Network"}, {"process", "Processes"}, {"inference", "Models"}};
	size_t i;

	for (i = 0; i < ARRAY_LEN(titles); i++)
		if (strcmp(titles[i].key, key) == 0)
			return titles[i].title;
	return key;
}

static void put_policy(struct buf *out, const struct report_log *l, struct sv policy)
{
	json_t *domains = json_loadb(policy.p, policy.n, 0, NULL), *sentences;
	const json_t *sentence;
	const char *key;
	size_t i;

	(void)buf_str(out, "<section>\n<h2>What the policy allowed</h2>\n");
	json_object_foreach(domains, key, sentences)
	{
		(void)buf_str(out, "<h3>");
		page_text(out, domain_title(key));
		(void)buf_str(out, "</h3>\n<ul>\n");
		json_array_foreach(sentences, i, sentence)
		{
			(void)buf_str(out, "<li>");
			page_text(out, json_string_value(sentence) ? json_string_value(sentence) : "?");
			(void)buf_str(out, "</li>\n");
		}
		(void)buf_str(out, "</ul>\n");
	}
	json_decref(domains);
	(void)buf_str(out, "<h3>Digests</h3>\n<dl>\n<dt>Policy</dt><dd><code>");
	page_text(out, report_text(l->start, "policy_digest"));
	(void)buf_str(out, "</code></dd>\n<dt>Plan</dt><dd><code>");
	page_text(out, report_text(l->start, "plan_digest"));
	(void)buf_str(out, "</code></dd>\n</dl>\n</section>\n");
}

static void put_chain(struct buf *out, const struct report_log *l, const struct report_request *req)
{
	static const struct {
		const char *class, *word;
	} states[] = {[AUDIT_GOOD] = {"good", "verifies"},
		      [AUDIT_UNFINISHED] = {"warn", "unfinished"},
		      [AUDIT_BROKEN] = {"bad", "broken"}};
	const struct audit_report *c = &l->chain;

	(void)buf_printf(out,
			 "<section>\n<h2>Audit log</h2>\n<dl>\n<dt>Chain</dt><dd><span class=\"pill %s\">%s</span> ",
			 states[c->state].class, states[c->state].word);
	if (c->state == AUDIT_BROKEN)
		(void)buf_printf(out, "line %" PRIu64 ": ", c->bad_line);
	page_text(out, c->what);
	(void)buf_printf(out,
			 "</dd>\n<dt>Lines</dt><dd>%" PRIu64
			 "</dd>\n<dt>Last hash</dt><dd><code>%s</code></dd>\n<dt>File</dt><dd><code>",
			 c->lines, c->last_hash);
	page_text(out, req->log);
	(void)buf_str(out, "</code></dd>\n<dt>Check again</dt><dd><code>cordon audit verify --last ");
	(void)buf_printf(out, "%s ", c->last_hash);
	put_word(out, sv_of(req->log));
	(void)buf_str(out, "</code></dd>\n</dl>\n</section>\n");
}

void report_page(const struct report_log *l, const struct report_request *req, struct buf *out)
{
	const char *run = report_text(l->start, "run");

	char title[96];

	(void)snprintf(title, sizeof(title), "run %s", run);
	page_head(out, title);
	(void)buf_str(out, "<header>\n<h1>Cordon run ");
	page_text(out, run);
	(void)buf_str(out, "</h1>\n");
	put_status(out, l);
	(void)buf_str(out, "</header>\n");
	put_tiles(out, l);
	put_what_ran(out, l);
	put_denials(out, l);
	put_gateway(out, l);
	put_events(out, "Limits that were hit", l->limits, 0, "rule");
	put_events(out, "Also noted", l->others, l->others_left, "event");
	put_isolation(out, l);
	put_policy(out, l, req->policy);
	put_chain(out, l, req);
	page_end(out);
}
