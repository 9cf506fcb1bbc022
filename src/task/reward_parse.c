#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "task/reward.h"
#include "task/reward_pytest.h"
#include "task/reward_swebench.h"
#include "wire/wire.h"

enum { ASK_FILES = 1, ASK_PYTEST, ASK_SWEBENCH, ASK_PYTEST_LAST, NUMBER_MAX = 64, DECIMALS_MAX = 15 };

static void put_double(struct buf *b, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	wire_put_u64(b, bits);
}

static double get_double(struct wire_in *in)
{
	uint64_t bits = wire_get_u64(in);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void put_file(struct buf *out, const struct sv *file)
{
	wire_put_u32(out, file != NULL);
	wire_put_sv(out, file ? *file : sv_n("", 0));
}

void reward_ask(const struct reward_files *files, struct buf *out)
{
	wire_put_u32(out, ASK_FILES);
	put_double(out, files->low);
	put_double(out, files->high);
	put_file(out, files->text);
	put_file(out, files->json);
}

void reward_ask_pytest(struct sv output, struct buf *out)
{
	wire_put_u32(out, ASK_PYTEST);
	wire_put_sv(out, output);
}

void reward_ask_pytest_last(struct sv output, struct buf *out)
{
	wire_put_u32(out, ASK_PYTEST_LAST);
	wire_put_sv(out, output);
}

void reward_ask_swebench(struct sv output, struct buf *out)
{
	wire_put_u32(out, ASK_SWEBENCH);
	wire_put_sv(out, output);
}

/* There is a number, and it cannot be the score. */
static int no_score(struct error *err)
{
	err->code = ERANGE;
	return -1;
}

/* Between low and high; a minus before zero is dropped. */
static int in_range(const char *what, double *v, double low, double high, struct error *err)
{
	if (!isfinite(*v))
		return error_set(err, ERROR_INPUT, "%s: not a finite number", what);
	if (*v < low || *v > high) {
		(void)error_set(err, ERROR_INPUT, "%s: %.17g is not between %.17g and %.17g (the task's reward_range)",
				what, *v, low, high);
		return no_score(err);
	}
	*v = *v == 0 ? 0 : *v;
	return 0;
}

static size_t digits(struct sv s, size_t at)
{
	size_t n = 0;

	while (at + n < s.n && s.p[at + n] >= '0' && s.p[at + n] <= '9')
		n++;
	return n;
}

/* Sign, digits with a point somewhere, exponent. *ret_decimals: digits behind the point. */
static bool number_form(struct sv s, size_t *ret_decimals)
{
	size_t i = 0, whole, part = 0, n;

	i += i < s.n && (s.p[i] == '-' || s.p[i] == '+');
	i += whole = digits(s, i);
	if (i < s.n && s.p[i] == '.')
		i += 1 + (part = digits(s, i + 1));
	if (whole + part == 0)
		return false;
	*ret_decimals = part;
	if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
		i++;
		i += i < s.n && (s.p[i] == '-' || s.p[i] == '+');
		n = digits(s, i);
		if (n == 0)
			return false;
		i += n;
		*ret_decimals = 0;
	}
	return i == s.n;
}

static struct sv trim(struct sv s)
{
	while (s.n && strchr(" \t\r\n", s.p[0]) && s.p[0])
		s = sv_n(s.p + 1, s.n - 1);
	while (s.n && strchr(" \t\r\n", s.p[s.n - 1]) && s.p[s.n - 1])
		s.n--;
	return s;
}

static double number(struct sv s)
{
	char copy[NUMBER_MAX + 1];

	memcpy(copy, s.p, s.n);
	copy[s.n] = '\0';
	return strtod(copy, NULL);
}

static int read_text(struct sv text, double low, double high, double *ret, size_t *ret_decimals, struct error *err)
{
	struct sv s = trim(text);
	struct text_shown t;

	if (s.n == 0)
		return error_set(err, ERROR_INPUT, "reward.txt: empty");
	if (s.n > NUMBER_MAX || !number_form(s, ret_decimals))
		return error_set(err, ERROR_INPUT, "reward.txt: not one decimal number: %s", text_show(&t, s));
	*ret = number(s);
	return in_range("reward.txt", ret, low, high, err);
}

static int bad_value(const struct json_scan *s, uint32_t key, struct error *err)
{
	static const char *const kinds[] = {
		[SCAN_NULL] = "null",       [SCAN_BOOL] = "a boolean", [SCAN_NUMBER] = "a number",
		[SCAN_STRING] = "a string", [SCAN_ARRAY] = "a list",   [SCAN_OBJECT] = "an object"};
	struct text_shown t;

	return error_set(err, ERROR_INPUT, "reward.json: %s: must be a number, not %s",
			 text_show(&t, json_scan_text(s, key)), kinds[json_scan_kind(s, key + 1)]);
}

/* Appends a key and its value to keys. */
static int read_member(const struct json_scan *s, uint32_t key, struct buf *keys, double *ret, struct error *err)
{
	struct text_shown t;
	AUTO_BUF name = {0};

	buf_init(&name, REWARD_KEY_MAX);
	json_scan_decode(s, key, &name);
	if (buf_failed(&name))
		return error_set(err, ERROR_INPUT, "reward.json: a key of more than %d bytes", REWARD_KEY_MAX);
	if (json_scan_kind(s, key + 1) != SCAN_NUMBER)
		return bad_value(s, key, err);
	*ret = number(json_scan_text(s, key + 1));
	if (!isfinite(*ret))
		return error_set(err, ERROR_INPUT, "reward.json: %s: not a finite number",
				 text_show(&t, buf_view(&name)));
	*ret = *ret == 0 ? 0 : *ret;
	wire_put_sv(keys, buf_view(&name));
	put_double(keys, *ret);
	return 0;
}

/* All keys to `keys`; their number and the score. */
static int score_json(const struct json_scan *s, double low, double high, struct buf *keys, uint32_t *ret_n,
		      double *ret, struct error *err)
{
	uint32_t i, n = 0, reward = json_scan_get(s, 0, "reward");
	double v, sum = 0;

	if (json_scan_kind(s, 0) != SCAN_OBJECT)
		return error_set(err, ERROR_INPUT, "reward.json: not an object");
	for (i = json_scan_first(s, 0); i; i = json_scan_after(s, 0, i)) {
		if (++n > REWARD_KEYS_MAX)
			return error_set(err, ERROR_INPUT, "reward.json: more than %d keys", REWARD_KEYS_MAX);
		if (read_member(s, i, keys, &v, err) < 0)
			return -1;
		if (reward && i + 1 != reward)
			continue;
		if (in_range("reward.json", &v, low, high, err) < 0)
			return -1;
		sum += v;
	}
	if (n == 0)
		return error_set(err, ERROR_INPUT, "reward.json: no key");
	*ret = reward ? sum : sum / n;
	*ret_n = n;
	return in_range("reward.json", ret, low, high, err);
}

static int read_json(struct sv json, double low, double high, struct buf *keys, uint32_t *ret_n, double *ret,
		     struct error *err)
{
	AUTO_SCAN s = {0};
	AUTO_BUF text = {0};
	struct scan_error why = {0};
	int r;

	buf_init(&text, json.n + 1);
	r = buf_sv(&text, json);
	if (r == 0)
		r = json_scan_read(&s, &text, &why);
	if (r == -EINVAL || r == -EFBIG)
		return error_set(err, ERROR_INPUT, "reward.json: it %s (byte %zu)", why.why, why.at);
	if (r < 0)
		return error_sys(err, r, "reward.json");
	return score_json(&s, low, high, keys, ret_n, ret, err);
}

/* Exactly, or as far as reward.txt says it. */
static bool agree(double text, double json, size_t decimals)
{
	double unit = 1;
	size_t i;

	if (decimals < 2 || decimals > DECIMALS_MAX)
		return text == json;
	for (i = 0; i < decimals; i++)
		unit /= 10;
	return fabs(text - json) <= unit * 0.5000001;
}

static void answer_one(struct buf *out, double v)
{
	put_double(out, v);
	wire_put_u32(out, 1);
	wire_put_sv(out, sv_of("reward"));
	put_double(out, v);
}

static int parse_files(struct wire_in *in, struct buf *out, struct error *err)
{
	double low = get_double(in), high = get_double(in), from_text = 0, from_json = 0;
	bool has_text = wire_get_u32(in) != 0;
	struct sv text = wire_get_sv(in), json;
	bool has_json = wire_get_u32(in) != 0;
	uint32_t n = 0;
	size_t decimals = 0;
	AUTO_BUF keys = {0};

	json = wire_get_sv(in);
	buf_init(&keys, REWARD_KEYS_MAX * (REWARD_KEY_MAX + 16));
	if (!wire_ok(in) || !isfinite(low) || !isfinite(high))
		return error_set(err, ERROR_INPUT, "not a question about rewards");
	if (!has_text && !has_json)
		return error_set(err, ERROR_INPUT, "the verifier wrote neither reward.txt nor reward.json");
	if (has_text && read_text(text, low, high, &from_text, &decimals, err) < 0)
		return -1;
	if (has_json && read_json(json, low, high, &keys, &n, &from_json, err) < 0)
		return -1;
	if (has_text && has_json && !agree(from_text, from_json, decimals)) {
		(void)error_set(err, ERROR_INPUT, "reward.txt says %.17g, reward.json %.17g", from_text, from_json);
		return no_score(err);
	}
	if (!has_json) {
		answer_one(out, from_text);
	} else {
		put_double(out, from_json);
		wire_put_u32(out, n);
		(void)buf_sv(out, buf_view(&keys));
	}
	return buf_failed(&keys) || buf_failed(out) ? error_sys(err, ENOMEM, "reward") : 0;
}

static int parse_output(struct wire_in *in, int (*judge)(struct sv output, double *ret, struct error *err),
			struct buf *out, struct error *err)
{
	struct sv output = wire_get_sv(in);
	double v;

	if (!wire_ok(in))
		return error_set(err, ERROR_INPUT, "not a question about rewards");
	if (judge(output, &v, err) < 0)
		return -1;
	answer_one(out, v);
	return buf_failed(out) ? error_sys(err, ENOMEM, "reward") : 0;
}

int reward_parse(struct sv in, struct buf *out, struct error *err)
{
	struct wire_in w;

	wire_in_init(&w, in);
	switch (wire_get_u32(&w)) {
	case ASK_FILES:
		return parse_files(&w, out, err);
	case ASK_PYTEST:
		return parse_output(&w, reward_of_pytest, out, err);
	case ASK_PYTEST_LAST:
		return parse_output(&w, reward_of_pytest_last, out, err);
	case ASK_SWEBENCH:
		return parse_output(&w, reward_of_swebench, out, err);
	default:
		return error_set(err, ERROR_INPUT, "not a question about rewards");
	}
}

int reward_decode(struct sv bytes, struct arena *a, struct reward *ret)
{
	struct reward r = {0};
	struct wire_in in;
	struct sv key;
	size_t i;

	wire_in_init(&in, bytes);
	r.value = get_double(&in);
	r.n = wire_get_u32(&in);
	if (in.failed || r.n == 0 || r.n > REWARD_KEYS_MAX || !isfinite(r.value))
		return -EBADMSG;
	r.v = arena_array(a, r.n, sizeof(r.v[0]));
	for (i = 0; r.v && i < r.n; i++) {
		key = wire_get_sv(&in);
		if (key.n > REWARD_KEY_MAX || memchr(key.p, '\0', key.n))
			return -EBADMSG;
		r.v[i].key = arena_str(a, key);
		r.v[i].value = get_double(&in);
		if (!isfinite(r.v[i].value))
			return -EBADMSG;
	}
	if (arena_failed(a))
		return -ENOMEM;
	if (!wire_ok(&in))
		return -EBADMSG;
	*ret = r;
	return 0;
}
