#include "gate/relay/denial.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "http/h1_write.h"

static const struct {
	uint16_t status;
	const char *code;
} codes[] = {
	{400, "bad_request"},     {403, "policy_denied"},   {405, "method_not_allowed"},    {408, "timeout"},
	{413, "body_too_large"},  {414, "target_too_long"}, {415, "unsupported_type"},      {417, "expectation_failed"},
	{421, "misdirected"},     {429, "budget_used_up"},  {431, "head_too_large"},        {500, "gateway_failed"},
	{501, "not_implemented"}, {503, "gateway_busy"},    {505, "version_not_supported"},
};

const char *denial_code(uint16_t status)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(codes); i++)
		if (codes[i].status == status)
			return codes[i].code;
	return "refused";
}

void denial_set(struct denial *d, uint16_t status, const char *code, const char *hint, const char *format, ...)
{
	va_list ap;

	*d = (struct denial){.status = status, .code = code};
	va_start(ap, format);
	(void)vsnprintf(d->detail, sizeof(d->detail), format, ap);
	va_end(ap);
	(void)snprintf(d->hint, sizeof(d->hint), "%s", hint ? hint : "");
}

void denial_from_failure(struct denial *d, enum gate_failure why, struct sv text)
{
	const struct gate_failure_facts *facts = gate_failure_facts(why);
	struct text_shown shown;

	/* egress may have nothing to add */
	if (text.n == 0 || sv_is(text, facts->phrase))
		denial_set(d, facts->status, facts->code, facts->hint, "%s", facts->phrase);
	else
		denial_set(d, facts->status, facts->code, facts->hint, "%s: %s", facts->phrase,
			   text_show(&shown, text));
}

void denial_from_ruling(struct denial *d, const struct ruling *no, bool inference, enum provider_kind kind)
{
	denial_set(d, no->status, denial_code(no->status), no->hint, "%s", no->detail);
	d->domain = inference ? "inference" : "network";
	/* A policy's denial has one form everywhere; what an SDK's user did wrong is said as the SDK expects it. */
	d->as_provider = inference && no->status != 403 && no->status < 500;
	d->kind = kind;
}

static void own_body(const struct denial *d, struct json *j)
{
	json_kstr(j, "error", d->code);
	if (d->domain)
		json_kstr(j, "domain", d->domain);
	json_kstr(j, "detail", d->detail);
	if (d->hint[0] || d->status == 403)
		json_kstr(j, "hint", d->hint);
}

static void message(const struct denial *d, struct json *j)
{
	char text[sizeof(d->detail) + sizeof(d->hint) + 32];

	(void)snprintf(text, sizeof(text), "cordon: %s%s%s%s", d->detail, d->hint[0] ? " (" : "", d->hint,
		       d->hint[0] ? ")" : "");
	json_kstr(j, "message", text);
}

static void anthropic_body(const struct denial *d, struct json *j)
{
	json_kstr(j, "type", "error");
	json_key(j, "error");
	json_open(j);
	json_kstr(j, "type",
		  d->status == 429   ? "rate_limit_error"
		  : d->status == 413 ? "request_too_large"
				     : "invalid_request_error");
	message(d, j);
	json_close(j);
}

static void openai_body(const struct denial *d, struct json *j)
{
	json_key(j, "error");
	json_open(j);
	message(d, j);
	json_kstr(j, "type", d->status == 429 ? "insufficient_quota" : "invalid_request_error");
	json_kstr(j, "param", NULL);
	json_kstr(j, "code", d->status == 429 ? "insufficient_quota" : NULL);
	json_close(j);
}

static void gemini_body(const struct denial *d, struct json *j)
{
	json_key(j, "error");
	json_open(j);
	json_kint(j, "code", d->status);
	message(d, j);
	json_kstr(j, "status", d->status == 429 ? "RESOURCE_EXHAUSTED" : "INVALID_ARGUMENT");
	json_close(j);
}

static void write_body(const struct denial *d, struct buf *out)
{
	static void (*const forms[])(const struct denial *, struct json *) = {
		[PROVIDER_ANTHROPIC] = anthropic_body,
		[PROVIDER_OPENAI] = openai_body,
		[PROVIDER_GEMINI] = gemini_body,
	};
	struct json j;

	json_init(&j, out);
	json_open(&j);
	(d->as_provider ? forms[d->kind] : own_body)(d, &j);
	json_close(&j);
}

int denial_message(const struct denial *d, struct http_field *fields, struct buf *body, struct http_response *ret)
{
	uint32_t n = 0;
	size_t before = body->n;

	write_body(d, body);
	fields[n++] = (struct http_field){sv_of("content-type"), sv_of("application/json")};
	if (d->status == 403)
		fields[n++] = (struct http_field){sv_of("x-proxy-error"), sv_of("blocked-by-allowlist")};
	/* What SDKs ask before they try again: a budget does not come back. */
	if (d->as_provider)
		fields[n++] = (struct http_field){sv_of("x-should-retry"), sv_of("false")};
	*ret = (struct http_response){
		.status = d->status,
		.reason = sv_of(h1_reason(d->status)),
		.fields = {fields, n},
		.body = true,
		.length = (int64_t)(body->n - before),
	};
	return buf_failed(body);
}

static int write_as_provider(const struct denial *d, bool head, struct buf *out)
{
	struct http_field fields[DENIAL_FIELDS];
	struct http_response r;
	struct h1_reply to = {.close = true, .asked.head = head};
	AUTO_BUF body = {0};
	enum h1_body framing;

	buf_init(&body, DENIAL_BODY);
	if (denial_message(d, fields, &body, &r) < 0)
		return buf_failed(&body);
	r.body = !head;
	if (h1_write_response(out, &r, &to, &framing) < 0)
		return -1;
	return head ? 0 : buf_sv(out, buf_view(&body));
}

int denial_write(const struct denial *d, bool head, struct buf *out)
{
	const char *hint = d->hint[0] || d->status == 403 ? d->hint : NULL, *end;
	size_t before = out->n;
	int r;

	if (d->as_provider)
		return write_as_provider(d, head, out);
	r = h1_write_error(out, d->status, d->code, d->domain, d->detail, hint);
	if (r == 0 && head) {
		end = memmem(out->p + before, out->n - before, "\r\n\r\n", 4);
		out->n = end ? (size_t)(end - out->p) + 4 : out->n;
	}
	return r;
}
