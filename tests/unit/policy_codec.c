#include <errno.h>

#include "base/buf.h"
#include "check.h"
#include "policy/policy_codec.h"
#include "policy/policy_mandatory.h"
#include "policy_memory.h"

static const char rich[] =
	"filesystem: {workdir: copy, read: [/opt, ~/x], write: [out], deny: [\"**/secret\"], tmp_size: 1M}\n"
	"network:\n"
	"  mode: allowlist\n"
	"  allow:\n"
	"    - {host: pypi.org, ports: [443, 8443], methods: [GET], paths: [\"/simple/**\"], credential: pypi}\n"
	"    - {cidr: 10.0.0.0/8, rate: 10/s, mcp: {tools: [\"read_*\"], methods: [tools/call]}}\n"
	"    - {host: api.example, graphql: {types: [query], operations: [user]}}\n"
	"  deny: [{host: \"*.evil.example\"}]\n"
	"  ask: true\n"
	"  max_bytes_out: 1G\n"
	"process:\n"
	"  fallback: [runc]\n"
	"  categories: {terminal: gvisor}\n"
	"  env: {set: {A: \"\", B: \"x y\"}, pass: [TERM]}\n"
	"inference:\n"
	"  providers:\n"
	"    openai: {models: [\"gpt-*\"], max_requests: 3}\n"
	"    local: {kind: openai, url: \"http://127.0.0.1:1/v1\", server_tools: allow}\n"
	"  routes: [{model: \"l-*\", provider: local}]\n"
	"tests: [{allow: {host: \"pypi.org:443\", method: GET, path: /simple/a}}, {deny: {exec: /bin/sh}}]\n"
	"phases: {build: {network: {mode: public}}, verify: {process: {cpus: 0.5}}}\n"
	"check: {scope-reduction: escalate}\n";

static void what_is_encoded_decodes_to_the_same(void)
{
	struct error err;
	struct policy *p = memory_policy(rich, NULL, &err), *q = NULL;
	struct pol_str door = {.s = "models.test"};
	AUTO_BUF a = {0};
	AUTO_BUF b = {0};
	char x[65], y[65];

	buf_init(&a, POLICY_CODEC_MAX);
	buf_init(&b, POLICY_CODEC_MAX);
	CHECK_STR(err.text, "");
	if (!p)
		return;
	p->fs.write_bounded = true;
	p->fs.tmp_bound = (struct pol_num){.set = true, .v = 7};
	p->net.doors = (struct pol_list){.set = true, .v = &door, .n = 1};
	CHECK(policy_encode(p, &a) == 0 && policy_decode(buf_view(&a), &q) == 0);
	if (!q) {
		policy_free(p);
		return;
	}
	CHECK(policy_encode(q, &b) == 0 && sv_eq(buf_view(&a), buf_view(&b)));
	CHECK(policy_digest(p, x) == 0 && policy_digest(q, y) == 0);
	CHECK_STR(x, y);
	CHECK(q->net.allow.n == 3 && q->net.ask.v == 1 && q->net.allow.v[1].rate.v == 36000 &&
	      q->net.allow.v[0].ports[1] == 8443 && q->net.allow.v[0].at.line == 6);
	CHECK(q->fs.tmp_bound.set && q->fs.tmp_bound.v == 7);
	CHECK(q->fs.write_bounded && !q->fs.read_bounded);
	CHECK(q->net.doors.n == 1 && strcmp(q->net.doors.v[0].s, "models.test") == 0);
	CHECK_STR(q->net.allow.v[0].credential.s, "pypi");
	CHECK_STR(q->net.allow.v[1].mcp.tools.v[0].s, "read_*");
	CHECK_STR(q->net.allow.v[2].graphql.types.v[0].s, "query");
	CHECK_STR(q->inference.providers[1].url.s, "http://127.0.0.1:1/v1");
	CHECK_STR(q->phases[1].name, "verify");
	CHECK(q->phases[1].policy->process.cpus.v == 500);
	CHECK_STR(q->files[1], "p.yaml");
	CHECK(mandatory_is_protect(&q->fs.protect));
	policy_free(p);
	policy_free(q);
}

static void every_cut_and_every_flipped_byte_is_survived(void)
{
	struct error err;
	struct policy *p = memory_policy(rich, NULL, &err), *q;
	AUTO_BUF a = {0};
	AUTO_BUF again = {0};
	size_t i;
	int bit, r;

	buf_init(&a, POLICY_CODEC_MAX);
	buf_init(&again, POLICY_CODEC_MAX);
	CHECK(p && policy_encode(p, &a) == 0);
	policy_free(p);
	for (i = 0; i < a.n; i++)
		CHECK(policy_decode(sv_n(a.p, i), &q) == -EBADMSG);
	for (i = 0; i < a.n; i++)
		for (bit = 0; bit < 8; bit++) {
			a.p[i] = (char)(a.p[i] ^ 1 << bit);
			r = policy_decode(buf_view(&a), &q);
			CHECK(r == 0 || r == -EBADMSG);
			/* What decodes is the one encoding of what it says. */
			if (r == 0) {
				buf_clear(&again);
				CHECK(policy_encode(q, &again) == 0 && sv_eq(buf_view(&a), buf_view(&again)));
				policy_free(q);
			}
			a.p[i] = (char)(a.p[i] ^ 1 << bit);
		}
	(void)buf_char(&a, 'x');
	CHECK(policy_decode(buf_view(&a), &q) == -EBADMSG);
}

static void a_count_is_never_trusted(void)
{
	/* The magic, then four thousand million files. */
	static const char huge[] = {'C',        'P',        'O',        'L',        0,    0, 0,   2,
				    (char)0xff, (char)0xff, (char)0xff, (char)0xff, 0x0f, 1, 'a', 0};
	struct policy *q;

	CHECK(policy_decode(sv_n(huge, sizeof(huge)), &q) == -EBADMSG);
	CHECK(policy_decode(sv_n("", 0), &q) == -EBADMSG);
}

static void the_digest_tells_policies_apart(void)
{
	struct error err;
	struct policy *p = memory_policy("process: {user: 1}", NULL, &err),
		      *q = memory_policy("process: {user: 2}", NULL, &err);
	char x[65] = "", y[65] = "";

	CHECK(p && q && policy_digest(p, x) == 0 && policy_digest(q, y) == 0 && strcmp(x, y) != 0);
	policy_free(p);
	policy_free(q);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(what_is_encoded_decodes_to_the_same),
		CASE(every_cut_and_every_flipped_byte_is_survived),
		CASE(a_count_is_never_trusted),
		CASE(the_digest_tells_policies_apart),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
