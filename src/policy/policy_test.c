#include "policy/policy_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/text.h"
#include "policy/policy_show.h"
#include "policy/policy_where.h"

bool policy_split_host(const char *target, char host[256], uint16_t *ret_port)
{
	const char *close = target[0] == '[' ? strchr(target, ']') : NULL;
	const char *colon = strchr(close ? close : target, ':');
	size_t n = strlen(target);
	unsigned long port = 0;
	char *end;

	/* A bare IPv6 address has more than one colon and no port. */
	if (!close && colon && strchr(colon + 1, ':'))
		colon = NULL;
	if (colon) {
		n = (size_t)(colon - target);
		port = strtoul(colon + 1, &end, 10);
		if (colon[1] < '0' || colon[1] > '9' || *end || port == 0 || port > 65535)
			return false;
	}
	if (n == 0 || n > 255)
		return false;
	memcpy(host, target, n);
	host[n] = '\0';
	*ret_port = (uint16_t)port;
	return true;
}

bool policy_test_one(const struct policy *p, const char *workdir, const struct pol_test *t, struct reason *ret)
{
	char host[256];
	uint16_t port;

	switch (t->subject) {
	case TEST_HOST:
		if (!policy_split_host(t->target, host, &port)) {
			reason_set(ret, ANSWER_DENY, NULL, NULL, t->at);
			reason_text(ret, "The target is no HOST or HOST:PORT.");
			return false;
		}
		policy_query_host(p, host, port, t->method, t->path, ret);
		break;
	case TEST_READ:
		policy_query_path(p, workdir, t->target, FS_READ, ret);
		break;
	case TEST_WRITE:
		policy_query_path(p, workdir, t->target, FS_WRITE, ret);
		break;
	case TEST_EXEC:
		policy_query_exec(p, workdir, t->target, ret);
		break;
	case TEST_MODEL:
		policy_query_model(p, t->target, ret);
		break;
	}
	return (ret->answer == ANSWER_ALLOW) == t->allow;
}

static void print_one(const struct policy *p, const struct pol_test *t, bool ok, const struct reason *r,
		      struct buf *out)
{
	struct text_shown shown;
	struct buf what;

	buf_init(&what, 1 << 16);
	policy_show_test(t, &what);
	(void)buf_printf(out, "%s %s  ", ok ? "ok  " : "FAIL", text_show(&shown, sv_of(policy_where(p, t->at))));
	text_escape(out, buf_view(&what), 1024);
	(void)buf_char(out, '\n');
	buf_done(&what);
	if (!ok)
		(void)buf_printf(out, "       is %s: %s\n", r->answer == ANSWER_ALLOW ? "allowed" : "denied", r->text);
	if (r->rule[0])
		(void)buf_printf(out, "       by %s (%s)\n", r->rule, text_show(&shown, sv_of(policy_where(p, r->at))));
}

struct policy_test_result policy_test_text(const struct policy *p, const char *workdir, bool verbose, struct buf *out)
{
	struct policy_test_result sum = {0};
	struct reason r;
	uint32_t i;
	bool ok;

	for (i = 0; i < p->n_tests; i++) {
		ok = policy_test_one(p, workdir, &p->tests[i], &r);
		sum.passed += ok;
		sum.failed += !ok;
		if (!ok || verbose)
			print_one(p, &p->tests[i], ok, &r, out);
	}
	return sum;
}

static void json_one(struct json *j, const struct policy *p, const struct pol_test *t, bool ok, const struct reason *r)
{
	struct buf what;

	buf_init(&what, 1 << 16);
	policy_show_test(t, &what);
	json_open(j);
	json_key(j, "test");
	json_sv(j, buf_view(&what));
	json_kstr(j, "at", policy_where(p, t->at));
	json_kbool(j, "pass", ok);
	json_kstr(j, "answer", r->answer == ANSWER_ALLOW ? "allow" : "deny");
	json_kstr(j, "rule", r->rule[0] ? r->rule : NULL);
	json_kstr(j, "from", policy_where(p, r->at));
	json_kstr(j, "text", r->text);
	json_close(j);
	buf_done(&what);
}

struct policy_test_result policy_test_json(const struct policy *p, const char *workdir, struct buf *out)
{
	struct policy_test_result sum = {0};
	struct reason r;
	struct json j;
	uint32_t i;
	bool ok;

	json_init(&j, out);
	json_open(&j);
	json_key(&j, "tests");
	json_list(&j);
	for (i = 0; i < p->n_tests; i++) {
		ok = policy_test_one(p, workdir, &p->tests[i], &r);
		sum.passed += ok;
		sum.failed += !ok;
		json_one(&j, p, &p->tests[i], ok, &r);
	}
	json_end(&j);
	json_kint(&j, "passed", sum.passed);
	json_kint(&j, "failed", sum.failed);
	json_close(&j);
	return sum;
}
