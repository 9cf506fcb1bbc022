#include "policy/net_form.h"

#include <strings.h>

#include "base/coding.h"
#include "base/field_name.h"
#include "policy/net_match.h"
#include "policy/net_parameter.h"

const char net_form_illegible[] = "a form under a rule with methods must be in UTF-8 or alike, JSON by the book, and "
				  "packed with gzip, deflate or not at all";

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool net_form_matters(const struct ruleset *rules, const struct net_request *q, const struct net_verdict *v)
{
	struct net_request asking = *q;
	struct net_verdict other;

	if (q->asks.override)
		return false;
	asking.asks.override = true;
	net_rules_request(rules, &asking, &other);
	return !other.allow || other.next != v->next || (v->found.keyed && v->found.keyed != other.found.keyed);
}

/* Where to go on in the boundary when the byte behind `n` of its bytes does not fit. */
static void prepare_boundary(struct net_form_parts *p, struct sv boundary)
{
	uint8_t i, k = 0;

	p->n_boundary = (uint8_t)(boundary.n + 2);
	memcpy(p->boundary, "--", 2);
	memcpy(p->boundary + 2, boundary.p, boundary.n);
	p->back[0] = 0;
	for (i = 1; i < p->n_boundary; i++) {
		while (k && p->boundary[i] != p->boundary[k])
			k = p->back[k - 1];
		k = (uint8_t)(k + (p->boundary[i] == p->boundary[k]));
		p->back[i] = k;
	}
}

void net_form_init(struct net_form *f, const struct net_form_head *h)
{
	memset(f, 0, sizeof(*f));
	f->kinds = net_form_head_kinds(h);
	f->illegible = f->found = net_form_head_is_illegible(h);
	f->json.begun = h->mentioned & NET_FORM_JSON;
	f->json.strict = f->json.begun && !net_form_head_is_coded(h);
	f->json.parts = h->mentioned & NET_FORM_PARTS;
	f->json.messages = h->messages;
	/* without a boundary that all agree on any line may be one of a part's head */
	if (h->boundary.n)
		prepare_boundary(&f->parts, h->boundary);
	else
		f->parts.head = true;
}

static bool keep(struct net_form_word *w, char c)
{
	if (w->n == sizeof(w->text))
		return false;
	w->text[w->n++] = c;
	return true;
}

static struct sv view(const struct net_form_word *w)
{
	return sv_n(w->text, w->n);
}

/* As much as servers leave out before a name (Rack's brackets, blanks) takes no room from it. What is too long is known
 * by its start. */
static void keep_name(struct net_form_word *w, char c)
{
	size_t spare;

	if (!keep(w, c))
		return;
	spare = net_parameter_spare(view(w));
	if (spare == 0)
		return;
	w->n -= (uint32_t)spare;
	memmove(w->text, w->text + spare, w->n);
}

static void feed_url(struct net_form *f, char c)
{
	struct net_form_word *name = &f->url.name;

	if (c == '&' || c == ';') {
		f->url.passing = false;
		name->n = 0;
	} else if (f->url.passing) {
		return;
	} else if (c == '=') {
		f->found = net_parameter_overrides(view(name));
		f->url.passing = true;
	} else {
		keep_name(name, c);
	}
}

static bool is_word(struct sv s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

/*
 * A word of a part's head: whichever field it stands in, and whatever stands around it. Some servers take a name out of
 * Content-ID, or search for their field anywhere in a line. Only the name of a file is one that no server means.
 */
static bool word_overrides(const struct net_form_parts *p, struct sv word)
{
	if (word.n == 0 || p->last == NET_FORM_FILENAME)
		return false;
	/* in an encoding of its own: name*=, name="=?utf-8?q?..." */
	if ((word.n > 4 && strncasecmp(word.p, "name*", 5) == 0) || (p->last == NET_FORM_NAME && word.p[0] == '?'))
		return true;
	return net_parameter_overrides(word);
}

static void end_words(struct net_form *f)
{
	struct net_form_parts *p = &f->parts;
	struct sv word = view(&p->word);

	f->found = word_overrides(p, word) || word_overrides(p, view(&p->joined));
	if (word.n)
		p->last = is_word(word, "name")       ? NET_FORM_NAME
			  : is_word(word, "filename") ? NET_FORM_FILENAME
						      : NET_FORM_OTHER;
	p->word.n = 0;
}

static void feed_head(struct net_form *f, char c)
{
	struct net_form_parts *p = &f->parts;

	if (c == '\r' || c == '\n') {
		/* PHP goes on with what the line before ended in, where a line has no colon */
		end_words(f);
	} else if (strchr("\"';=:, \t<>", c)) {
		end_words(f);
		p->joined.n = 0;
	} else if (c != '\\') {
		keep_name(&p->word, c);
		keep_name(&p->joined, c);
	}
}

/* Has a part's head ended? Not with an empty line right behind the boundary, which one server passes over. */
static bool ends_head(struct net_form_parts *p, char c)
{
	if (c != '\r' && c != '\n') {
		p->filled = p->filled || p->breaks;
		p->breaks = 0;
		return false;
	}
	p->cr = p->cr || c == '\r';
	/* CR LF CR LF; LF LF only where nothing has ended in CR LF, since others read on there */
	p->breaks = c == (p->cr && p->breaks % 2 == 0 ? '\r' : '\n') ? p->breaks + 1 : 0;
	return p->filled && p->breaks == (p->cr ? 4 : 2);
}

static void feed_parts(struct net_form *f, char c)
{
	struct net_form_parts *p = &f->parts;

	if (p->head) {
		feed_head(f, c);
		if (p->n_boundary && ends_head(p, c))
			p->head = false;
	}
	if (p->n_boundary == 0)
		return;
	while (p->matched && c != p->boundary[p->matched])
		p->matched = p->back[p->matched - 1];
	p->matched = (uint8_t)(p->matched + (c == p->boundary[p->matched]));
	if (p->matched < p->n_boundary)
		return;
	p->matched = p->back[p->matched - 1];
	p->head = true;
	p->filled = p->cr = false;
	p->breaks = 0;
	p->word.n = p->joined.n = 0;
	p->last = NET_FORM_OTHER;
}

/* A string has ended: is it a name that asks, should a colon follow? */
static bool is_name(const struct net_form_json *j)
{
	struct sv text = view(&j->text);
	char name[32];
	size_t n = 0, i;

	for (i = 0; i < text.n && n < sizeof(name); i++) {
		name[n] = text.p[i];
		if (text.p[i] == '\\' && i + 5 < text.n && text.p[i + 1] == 'u') {
			/* characters above U+00FF are in no name that asks */
			name[n] = (char)(hex_byte(text.p[i + 2], text.p[i + 3]) == 0
						 ? hex_byte(text.p[i + 4], text.p[i + 5])
						 : '?');
			i += 5;
		}
		n++;
	}
	return i == text.n && j->depth == 1 && net_parameter_overrides(sv_n(name, n));
}

static void give_up(struct net_form *f)
{
	f->illegible = f->found = true;
}

static void feed_string(struct net_form *f, char c)
{
	struct net_form_json *j = &f->json;

	if (c == '"' && !j->escaped) {
		j->quoted = false;
		j->named = !j->too_long && is_name(j);
		return;
	}
	/* "\x5f" and "\_" are underscores to some */
	if (j->strict && j->escaped && !strchr("\"\\/bfnrtu", c))
		give_up(f);
	j->escaped = c == '\\' && !j->escaped;
	j->too_long = !keep(&j->text, c) || j->too_long;
}

/* Of numbers, of true, false and null, and of the NaN and Infinity that some write. */
static bool is_of_word(char c)
{
	return is_letter_or_digit(c) || c == '+' || c == '-' || c == '.';
}

/*
 * What stands between strings, where it is JSON: no comment, no name in other quotes or without any, in several pieces
 * or outside of braces. A mark of the byte order and one of a record's start may be before it, not within: to some they
 * are blanks, even before a colon.
 */
static bool is_by_the_book(struct net_form_json *j, char c)
{
	bool opened = j->opened, keyed = j->keyed;

	if (is_blank(c))
		return true;
	j->opened = c == '{' || c == ',';
	j->keyed = opened && c == '"';
	if (c == ':')
		return keyed && j->depth;
	return is_of_word(c) || strchr("{}[],\"", c) || (j->depth == 0 && strchr("\x1e\xef\xbb\xbf\xfe\xff", c));
}

/*
 * The parts of a form begin with a line of dashes, messages of gRPC and Connect with a zero: no reader of JSON, however
 * lenient, takes such a body. Only where the head says so, too, is it not held to the book.
 */
static void look_at_first(struct net_form_json *j, char c)
{
	if (is_blank(c))
		return;
	if ((j->parts && c == '-') || (j->messages && c == '\0'))
		j->strict = false;
	j->parts = j->messages = false;
}

static void feed_json(struct net_form *f, char c)
{
	struct net_form_json *j = &f->json;

	if (j->parts || j->messages)
		look_at_first(j, c);
	/* UTF-16 and UTF-32 are ASCII with zeros between; their marks and UTF-8's may come first */
	if (c == '\0' || (!j->begun && (is_blank(c) || strchr("\xef\xbb\xbf\xfe\xff", c))))
		return;
	if (!j->begun && c != '{') {
		f->kinds &= ~(unsigned)NET_FORM_JSON;
		return;
	}
	j->begun = true;
	if (j->quoted) {
		feed_string(f, c);
		return;
	}
	if (j->strict && !is_by_the_book(j, c)) {
		give_up(f);
	} else if (c == '"') {
		j->quoted = true;
		j->text.n = 0;
		j->too_long = j->escaped = false;
	} else if (c == ':') {
		f->found = j->named;
	} else if (c == '{' || c == '[') {
		j->depth += j->depth < UINT32_MAX;
	} else if ((c == '}' || c == ']') && j->depth) {
		j->depth--;
	}
	if (!is_blank(c))
		j->named = false;
}

bool net_form_feed(struct net_form *f, struct sv bytes)
{
	size_t i;

	for (i = 0; i < bytes.n && f->kinds && !f->found; i++) {
		if (f->kinds & NET_FORM_URL)
			feed_url(f, bytes.p[i]);
		if (!f->found && (f->kinds & NET_FORM_PARTS))
			feed_parts(f, bytes.p[i]);
		if (!f->found && (f->kinds & NET_FORM_JSON))
			feed_json(f, bytes.p[i]);
	}
	return f->found;
}
