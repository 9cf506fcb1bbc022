#include "vault/source_value.h"

#include <jansson.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"

static const char *const part_names[] = {
	[PART_VALUE] = "the value", [PART_KEY_ID] = "the key id", [PART_TOKEN] = "the session token"};

static int take_part(struct source_value *v, enum grant_part part, struct sv bytes, struct error *err)
{
	const char *name = part_names[part];
	size_t i;

	if (bytes.n == 0)
		return error_set(err, ERROR_INPUT, "%s is empty", name);
	for (i = 0; i < bytes.n; i++)
		if ((unsigned char)bytes.p[i] < 0x20 || (unsigned char)bytes.p[i] >= 0x7f)
			return error_set(err, ERROR_INPUT,
					 "%s holds a control character or one that is not ASCII (byte %zu)", name,
					 i + 1);
	if (bytes.p[0] == ' ' || bytes.p[bytes.n - 1] == ' ')
		return error_set(err, ERROR_INPUT, "%s has a blank at one of its ends", name);
	if (bytes.n < GRANT_VALUE_MIN)
		return error_set(err, ERROR_INPUT,
				 "%s is shorter than %d characters: it could not be told from ordinary text", name,
				 GRANT_VALUE_MIN);
	if (bytes.n > GRANT_VALUE_MAX)
		return error_set(err, ERROR_INPUT, "%s is longer than %d characters", name, GRANT_VALUE_MAX);
	return secret_new(bytes, &v->parts[part]) < 0 ? error_set(err, ERROR_SYSTEM, "out of memory") : 0;
}

static int take_lines(struct source_value *v, struct sv bytes, struct error *err)
{
	static const enum grant_part order[] = {PART_KEY_ID, PART_VALUE, PART_TOKEN};
	size_t at = 0, end, line;

	for (line = 0; at <= bytes.n && line < ARRAY_LEN(order); line++, at = end + 1) {
		for (end = at; end < bytes.n && bytes.p[end] != '\n'; end++)
			;
		if (take_part(v, order[line], sv_n(bytes.p + at, end - at), err) < 0)
			return -1;
	}
	if (line < 2 || at <= bytes.n)
		return error_set(err, ERROR_INPUT,
				 "sigv4 needs two or three lines (key id, secret key, session token), or JSON");
	return 0;
}

/* The first of these members that is there; NULL: none. */
static const json_t *member(const json_t *object, const char *const *names)
{
	const json_t *found = NULL;

	for (; *names && !found; names++)
		found = json_object_get(object, *names);
	return found;
}

static int take_member(struct source_value *v, enum grant_part part, const json_t *object, const char *const *names,
		       struct error *err)
{
	const json_t *m = member(object, names);

	if (!json_is_string(m))
		return error_set(err, ERROR_INPUT, "the JSON has no text \"%s\"", names[0]);
	return take_part(v, part, sv_n(json_string_value(m), json_string_length(m)), err);
}

/* RFC 3339, as AWS and OAuth tools write it. */
static bool parse_time(const char *s, int64_t *ret)
{
	struct tm tm = {0};
	const char *rest = strptime(s, "%Y-%m-%dT%H:%M:%S", &tm);
	int hours, minutes, used = 0;
	char sign;

	if (!rest)
		return false;
	if (*rest == '.')
		for (rest++; *rest >= '0' && *rest <= '9'; rest++)
			;
	*ret = (int64_t)timegm(&tm);
	if (strcmp(rest, "Z") == 0)
		return true;
	if (sscanf(rest, "%c%2d:%2d%n", &sign, &hours, &minutes, &used) != 3 || rest[used] ||
	    (sign != '+' && sign != '-'))
		return false;
	*ret += (sign == '+' ? -1 : 1) * (hours * 3600 + minutes * 60);
	return true;
}

static bool plausible(int64_t seconds)
{
	return seconds > 0 && seconds < INT64_C(1) << 40;
}

static int take_life(struct source_value *v, const json_t *object, int64_t now, struct error *err)
{
	static const char *const lengths[] = {"refresh_after", "ttl", "expires_in", NULL}, *const ends[] = {
												   "Expiration",
												   "expires_at",
												   "expiry", NULL};
	const json_t *length = member(object, lengths), *end = member(object, ends);
	int64_t at = 0;

	if (!length && (!end || json_is_null(end)))
		return 0;
	if (length && !json_is_integer(length))
		return error_set(err, ERROR_INPUT, "the JSON's lifetime is not a whole number of seconds");
	if (!length && json_is_string(end) && !parse_time(json_string_value(end), &at))
		return error_set(err, ERROR_INPUT, "the JSON's expiry is not a time such as 2030-01-31T12:00:00Z");
	if (!length && !json_is_string(end)) {
		if (!json_is_integer(end))
			return error_set(err, ERROR_INPUT, "the JSON's expiry is neither a time nor a number");
		at = json_integer_value(end);
	}
	v->good_for = length ? json_integer_value(length) : plausible(at) ? at - now : 0;
	return plausible(v->good_for) ? 0 : error_set(err, ERROR_INPUT, "what came has expired already");
}

static int take_json(struct source_value *v, const struct credential *c, struct sv bytes, int64_t now,
		     struct error *err)
{
	static const char *const tokens[] = {"access_token", "token", "value", NULL},
				 *const ids[] = {"AccessKeyId", NULL}, *const keys[] = {"SecretAccessKey", NULL},
				 *const sessions[] = {"SessionToken", NULL};
	json_error_t where;
	json_t *object = json_loadb(bytes.p, bytes.n, JSON_REJECT_DUPLICATES, &where);
	const json_t *session;
	int r;

	/* jansson's own text quotes what it read */
	if (!json_is_object(object)) {
		json_decref(object);
		return error_set(err, ERROR_INPUT, "starts as JSON but is none (line %d, column %d)", where.line,
				 where.column);
	}
	session = member(object, sessions);
	if (c->inject.kind != INJECT_SIGV4)
		r = take_member(v, PART_VALUE, object, tokens, err);
	else
		r = take_member(v, PART_KEY_ID, object, ids, err) < 0 ||
				    take_member(v, PART_VALUE, object, keys, err) < 0 ||
				    (session && !json_is_null(session) &&
				     take_member(v, PART_TOKEN, object, sessions, err) < 0)
			    ? -1
			    : 0;
	if (r == 0)
		r = take_life(v, object, now, err);
	json_decref(object);
	return r;
}

int source_value_parse(const struct credential *c, struct sv bytes, int64_t now, struct source_value *ret,
		       struct error *err)
{
	bool aws = c->inject.kind == INJECT_SIGV4;
	struct source_value v = {0};
	int r;

	if (bytes.n && bytes.p[0] == '{' && (aws || c->from.kind == SOURCE_COMMAND))
		r = take_json(&v, c, bytes, now, err);
	else
		r = aws ? take_lines(&v, bytes, err) : take_part(&v, PART_VALUE, bytes, err);
	if (r < 0) {
		source_value_done(&v);
		return -1;
	}
	*ret = v;
	return 0;
}

void source_value_done(struct source_value *v)
{
	unsigned i;

	for (i = 0; i < GRANT_PARTS; i++)
		secret_free(v->parts[i]);
	*v = (struct source_value){0};
}

int64_t source_value_refresh(int64_t good_for)
{
	int64_t early = good_for / 5 < 60 ? good_for / 5 : 60;

	return good_for - early > 0 ? good_for - early : 1;
}
