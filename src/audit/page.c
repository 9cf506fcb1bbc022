#include "audit/page.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/coding.h"
#include "base/sha256.h"
#include "base/text.h"

enum { SHOWN_MAX = 16384 };

static const char style[] =
	":root{color-scheme:light "
	"dark;--bg:#f6f7f9;--card:#fff;--ink:#1b1f24;--dim:#5c6570;--line:#dde1e6;--good:#18794e;"
	"--good-bg:#e3f5ea;--warn:#8a5300;--warn-bg:#fdf0d5;--bad:#b3261e;--bad-bg:#fce8e6;--code:#eef1f4}"
	"@media(prefers-color-scheme:dark){:root{--bg:#14171a;--card:#1c2024;--ink:#e6e9ec;--dim:#9aa4ae;--line:#"
	"31373d;"
	"--good:#6fd19c;--good-bg:#16311f;--warn:#f0bf6a;--warn-bg:#35280f;--bad:#ff9d94;--bad-bg:#3b1a18;--code:#"
	"23282d}}"
	"*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.55 "
	"system-ui,-apple-system,"
	"'Segoe UI',Roboto,'Noto Sans',sans-serif}main{max-width:60rem;margin:0 auto;padding:2rem 1.25rem 4rem}"
	"header{display:flex;flex-wrap:wrap;align-items:center;gap:.4rem 1rem;margin-bottom:1.25rem}"
	"h1{font-size:1.5rem;margin:0;letter-spacing:-.01em}h2{font-size:1.05rem;margin:0 0 .75rem}"
	"h3{font-size:.8rem;margin:1.1rem 0 .3rem;color:var(--dim);text-transform:uppercase;letter-spacing:.06em}"
	"h3:first-of-type{margin-top:0}section{background:var(--card);border:1px solid var(--line);border-radius:10px;"
	"padding:1.1rem 1.25rem;margin:1rem 0}.pill{padding:.15rem "
	".7rem;border-radius:99px;font-weight:600;font-size:.9rem}"
	".good{color:var(--good);background:var(--good-bg)}.warn{color:var(--warn);background:var(--warn-bg)}"
	".bad{color:var(--bad);background:var(--bad-bg)}.tiles{display:grid;gap:.75rem;"
	"grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr))}.tile{background:var(--card);border:1px solid "
	"var(--line);"
	"border-radius:10px;padding:.75rem 1rem}.tile b{display:block;font-size:1.3rem;font-weight:650;"
	"font-variant-numeric:tabular-nums}.tile span,.dim{color:var(--dim);font-size:.88rem}"
	"pre,code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:.86rem}"
	"pre{background:var(--code);padding:.7rem .9rem;border-radius:8px;margin:0 0 .9rem;white-space:pre-wrap;"
	"overflow-wrap:anywhere;max-height:24rem;overflow-y:auto}code{overflow-wrap:anywhere}"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:.35rem 1.25rem;margin:0}dt{color:var(--dim)}"
	"dd{margin:0;overflow-wrap:anywhere}table{border-collapse:collapse;width:100%}"
	"th{text-align:left;color:var(--dim);font-weight:500;font-size:.85rem}th,td{padding:.4rem .9rem .4rem 0;"
	"vertical-align:top;border-bottom:1px solid var(--line)}tr:last-child td{border-bottom:0}"
	".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}td code{display:block}"
	"a{color:inherit}ul{margin:0;padding-left:1.1rem}li{margin:.2rem 0}p{margin:.2rem 0 "
	".6rem}p:last-child{margin-bottom:0}"
	"@media(max-width:34rem){dl{grid-template-columns:1fr}dd{margin-bottom:.5rem}}"
	"@media print{body{background:#fff}section,.tile{break-inside:avoid}pre{max-height:none}}";

/* ---- text ---- */

static void put_html(struct buf *out, struct sv s)
{
	static const struct {
		char c;
		const char *entity;
	} entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
	size_t i, k;

	for (i = 0; i < s.n; i++) {
		for (k = 0; k < ARRAY_LEN(entities) && entities[k].c != s.p[i]; k++)
			;
		if (k < ARRAY_LEN(entities))
			(void)buf_str(out, entities[k].entity);
		else
			(void)buf_char(out, s.p[i]);
	}
}

/* Anything that a run, a policy or a person wrote. */
void page_line(struct buf *out, struct sv s)
{
	AUTO_BUF shown = {0};

	buf_init(&shown, 4 * SHOWN_MAX + 16);
	text_escape(&shown, s, SHOWN_MAX);
	put_html(out, buf_view(&shown));
}

void page_text(struct buf *out, const char *s)
{
	page_line(out, sv_of(s));
}

/* The same with its line ends, for <pre>. */
void page_lines(struct buf *out, struct sv s)
{
	const char *end;

	while ((end = s.n ? memchr(s.p, '\n', s.n) : NULL)) {
		page_line(out, sv_n(s.p, (size_t)(end - s.p)));
		(void)buf_char(out, '\n');
		s = sv_n(end + 1, s.n - (size_t)(end + 1 - s.p));
	}
	page_line(out, s);
}

void page_duration(struct buf *out, uint64_t ms)
{
	if (ms < 1000)
		(void)buf_printf(out, "%" PRIu64 " ms", ms);
	else if (ms < 60000)
		(void)buf_printf(out, "%" PRIu64 ".%" PRIu64 " s", ms / 1000, ms % 1000 / 100);
	else if (ms < 3600000)
		(void)buf_printf(out, "%" PRIu64 " min %" PRIu64 " s", ms / 60000, ms / 1000 % 60);
	else
		(void)buf_printf(out, "%" PRIu64 " h %" PRIu64 " min", ms / 3600000, ms / 60000 % 60);
}

void page_link(struct buf *out, const char *path)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._/";
	const char *p;

	/* "./": what is before a colon is no scheme then, and a second slash no host */
	(void)buf_str(out, "<a href=\"./");
	for (p = path; *p; p++)
		(void)(strchr(plain, *p) ? buf_char(out, *p) : buf_printf(out, "%%%02X", (unsigned)(unsigned char)*p));
	(void)buf_str(out, "\">");
	page_text(out, path);
	(void)buf_str(out, "</a>");
}

void page_row(struct buf *out, const char *name, const char *value)
{
	(void)buf_printf(out, "<dt>%s</dt><dd>", name);
	page_text(out, value[0] ? value : "none");
	(void)buf_str(out, "</dd>\n");
}

void page_head(struct buf *out, const char *title)
{
	unsigned char digest[SHA256_SIZE];
	char coded[BASE64_SIZE(SHA256_SIZE)];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, style, strlen(style));
	sha256_done(&s, digest);
	(void)buf_str(out,
		      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-");
	base64_put(sv_n((const char *)digest, sizeof(digest)), base64_standard, coded);
	(void)buf_add(out, coded, sizeof(coded));
	(void)buf_str(out,
		      "'; base-uri 'none'; form-action 'none'\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>Cordon ");
	page_text(out, title);
	(void)buf_printf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n", style);
}

void page_end(struct buf *out)
{
	(void)buf_str(out, "<p class=\"dim\">Written by Cordon " CORDON_VERSION ".</p>\n</main>\n</body>\n</html>\n");
}
