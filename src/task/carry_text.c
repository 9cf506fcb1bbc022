#include "task/carry_text.h"

#include <stdint.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/glob.h"

static struct sv trim(struct sv s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = sv_n(s.p + 1, s.n - 1);
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r'))
		s.n--;
	return s;
}

/* How many bytes at the beginning of s end a line for some reader: Python's splitlines() knows many. */
static size_t line_end(struct sv s)
{
	static const char *const wide[] = {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
	size_t i;

	if (memchr("\n\r\v\f\x1c\x1d\x1e", s.p[0], 7))
		return 1;
	for (i = 0; i < ARRAY_LEN(wide); i++)
		if (sv_starts(s, wide[i]))
			return strlen(wide[i]);
	return 0;
}

/* The first line of *s, which moves behind it. */
static bool next_line(struct sv *s, struct sv *ret)
{
	size_t n = 0, end = 0;

	if (s->n == 0)
		return false;
	while (n < s->n && (end = line_end(sv_n(s->p + n, s->n - n))) == 0)
		n++;
	*ret = sv_n(s->p, n);
	n += end;
	*s = sv_n(s->p + n, s->n - n);
	return true;
}

static bool has(struct sv s, const char *text)
{
	return memmem(s.p, s.n, text, strlen(text)) != NULL;
}

/* `[name]` from the beginning of a line to its end, as all readers see lines: only this ends a section for certain.
 * What is indented belongs to the value above it. */
static bool ends_section(struct sv text, struct sv line)
{
	const char *end = line.p + line.n;

	if (line.n < 3 || line.p[0] != '[' || line.p[line.n - 1] != ']' || memchr(line.p + 1, '[', line.n - 1) ||
	    memchr(line.p, ']', line.n - 1) || memchr(line.p, '#', line.n) || memchr(line.p, ';', line.n))
		return false;
	if (line.p != text.p && line.p[-1] != '\n')
		return false;
	return end == text.p + text.n || *end == '\n' || (*end == '\r' && end + 1 < text.p + text.n && end[1] == '\n');
}

static bool among(const char *const *v, size_t n, struct sv name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (glob_component(sv_of(v[i]), name))
			return true;
	return false;
}

/* Sections that run nothing: what a project is, how it is packed and written. */
static bool is_inert(struct sv section)
{
	static const char *const names[] = {"metadata",   "options",  "options.*",  "bdist*",      "sdist",
					    "wheel",      "egg_info", "aliases",    "upload*",     "bumpversion*",
					    "versioneer", "isort",    "tool:isort", "pycodestyle", "pep8",
					    "pydocstyle", "yapf",     "style",      "codespell",   "doc8",
					    "build",      "build_*",  "develop",    "*_catalog",   "extract_messages"};

	return among(names, ARRAY_LEN(names), section);
}

/* Those of tools that judge, or are told what to run: the image's where it has one. */
static bool is_kept(struct sv section)
{
	static const char *const names[] = {"tox",    "tox:*", "testenv", "testenv:*", "gh-actions*",
					    "flake8", "mypy",  "mypy-*",  "coverage:*"};

	return among(names, ARRAY_LEN(names), section);
}

bool carry_orders_code(struct sv text)
{
	static const char *const words[] = {"plugin", "hook", "exec", "eval", "\\u", "\\x"};
	size_t i, k, n;

	for (k = 0; k < ARRAY_LEN(words); k++)
		for (n = strlen(words[k]), i = 0; i + n <= text.n; i++)
			if (strncasecmp(text.p + i, words[k], n) == 0)
				return true;
	return false;
}

static bool has_section(struct sv text, struct sv header)
{
	struct sv rest = text, line;

	while (next_line(&rest, &line))
		if (sv_eq(line, header))
			return true;
	return false;
}

/* What of setup.cfg or tox.ini must be as the image has it: all but sections that are known to run nothing. */
static void binding_lines(struct sv text, struct sv image, struct buf *out)
{
	struct sv rest = text, line, inner;
	bool binding = true, kept = false;

	while (next_line(&rest, &line)) {
		inner = trim(line);
		if (ends_section(text, line)) {
			struct sv name = sv_n(line.p + 1, line.n - 2);

			kept = is_kept(name) && !has_section(image, line);
			binding = !kept && !is_inert(name);
		} else if (inner.n && inner.p[0] == '[') {
			binding = true; /* for some reader it may be one */
		}
		if ((binding || (kept && carry_orders_code(line))) && inner.n && inner.p[0] != '#' &&
		    inner.p[0] != ';') {
			(void)buf_sv(out, line);
			(void)buf_char(out, '\n');
		}
	}
}

bool carry_same_sections(struct sv ours, struct sv image)
{
	AUTO_BUF a = {0};
	AUTO_BUF b = {0};

	if (sv_eq(ours, image))
		return true;
	buf_init(&a, ours.n + ours.n + 16);
	buf_init(&b, image.n + image.n + 16);
	binding_lines(ours, image, &a);
	binding_lines(image, image, &b);
	return !buf_failed(&a) && !buf_failed(&b) && sv_eq(buf_view(&a), buf_view(&b));
}

bool carry_names_no_path(struct sv text)
{
	return text.n && !memchr(text.p, '/', text.n) && !memchr(text.p, '\\', text.n) && !has(text, "path");
}

bool carry_is_version(struct sv text)
{
	size_t i;

	while (text.n && text.p[text.n - 1] == '\n')
		text.n--;
	for (i = 0; i < text.n; i++)
		if ((text.p[i] < '0' || text.p[i] > '9') && text.p[i] != '.')
			return false;
	return text.n > 0 && text.p[0] != '.';
}

/* How long is the string at the beginning? 0: it does not end. */
static size_t python_string(struct sv s)
{
	char quotes[4] = {s.p[0], s.p[0], s.p[0], '\0'};
	bool three = sv_starts(s, quotes);
	size_t i = three ? 3 : 1;

	for (; i < s.n; i += s.p[i] == '\\' ? 2 : 1) {
		if (three ? sv_starts(sv_n(s.p + i, s.n - i), quotes) : s.p[i] == s.p[0])
			return i + (three ? 3 : 1);
		if (!three && (s.p[i] == '\n' || s.p[i] == '\r'))
			return 0;
	}
	return 0;
}

/* Comments end at \r, too. A comment that names a coding can make other letters of all that follows, ends of lines too.
 */
bool carry_python_blank(struct sv text)
{
	bool told = false;
	size_t i, n;

	for (i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < 0x20 && !memchr("\t\n\r", text.p[i], 3))
			return false;
	if (has(text, "coding"))
		return false;
	for (i = 0; i < text.n; i += n) {
		n = 1;
		if (text.p[i] == '#') {
			while (i + n < text.n && text.p[i + n] != '\n' && text.p[i + n] != '\r')
				n++;
		} else if (!told && (text.p[i] == '"' || text.p[i] == '\'')) {
			told = true;
			n = python_string(sv_n(text.p + i, text.n - i));
			if (n == 0)
				return false;
		} else if (!memchr(" \t\n\r", text.p[i], 4)) {
			return false;
		}
	}
	return true;
}

/* "section.key", with the section's name in quotes left out. */
static const char *const harmless[] = {
	"branch.merge",
	"branch.rebase",
	"branch.remote",
	"color.ui",
	"core.abbrev",
	"core.autocrlf",
	"core.bare",
	"core.eol",
	"core.filemode",
	"core.ignorecase",
	"core.logallrefupdates",
	"core.precomposeunicode",
	"core.quotepath",
	"core.repositoryformatversion",
	"core.safecrlf",
	"core.symlinks",
	"extensions.objectformat",
	"init.defaultbranch",
	"merge.conflictstyle",
	"merge.ff",
	"pull.ff",
	"pull.rebase",
	"push.autosetupremote",
	"push.default",
	"receive.denycurrentbranch",
	"receive.denydeletes",
	"receive.denynonfastforwards",
	"remote.fetch",
	"remote.push",
	"remote.pushurl",
	"remote.tagopt",
	"remote.url",
	"safe.directory",
	"submodule.active",
	"submodule.branch",
	"submodule.url",
	"user.email",
	"user.name",
};

static bool is_harmless(struct sv section, struct sv key)
{
	char name[64];
	size_t i;

	if (section.n + key.n + 2 > sizeof(name))
		return false;
	memcpy(name, section.p, section.n);
	name[section.n] = '.';
	memcpy(name + section.n + 1, key.p, key.n);
	name[section.n + 1 + key.n] = '\0';
	for (i = 0; i < ARRAY_LEN(harmless); i++)
		if (strcasecmp(harmless[i], name) == 0)
			return true;
	return false;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

static size_t letters(struct sv s)
{
	size_t n = 0;

	while (n < s.n && is_letter(s.p[n]))
		n++;
	return n;
}

/* `[name]` or `[name "other"]` and nothing behind it. */
static bool section_of(struct sv line, struct sv *ret)
{
	size_t n = letters(sv_n(line.p + 1, line.n - 1));
	struct sv rest = sv_n(line.p + 1 + n, line.n - 1 - n);

	*ret = sv_n(line.p + 1, n);
	if (n == 0 || rest.n == 0 || rest.p[rest.n - 1] != ']')
		return false;
	rest = trim(sv_n(rest.p, rest.n - 1));
	if (rest.n == 0)
		return true;
	return rest.n >= 2 && rest.p[0] == '"' && rest.p[rest.n - 1] == '"' && !memchr(rest.p + 1, '"', rest.n - 2) &&
	       !memchr(rest.p, '\\', rest.n) && !memchr(rest.p, ']', rest.n);
}

static bool key_kept(struct sv section, struct sv line)
{
	size_t n = letters(line);
	struct sv rest = trim(sv_n(line.p + n, line.n - n));

	return n && section.n && is_harmless(section, sv_n(line.p, n)) && line.p[line.n - 1] != '\\' &&
	       (rest.n == 0 || rest.p[0] == '=');
}

static void put_line(struct buf *out, const char *before, struct sv line)
{
	(void)buf_str(out, before);
	(void)buf_sv(out, line);
	(void)buf_char(out, '\n');
}

void carry_git_config(struct sv text, struct buf *out, bool *ret_cut)
{
	struct sv line, section = {"", 0}, header = {"", 0}; /* which is written with its first key */

	*ret_cut = false;
	while (next_line(&text, &line)) {
		line = trim(line);
		if (line.n == 0 || line.p[0] == '#' || line.p[0] == ';')
			continue;
		if (line.p[0] == '[') {
			header = line;
			if (!section_of(line, &section))
				section.n = 0;
			*ret_cut |= section.n == 0;
			continue;
		}
		if (!key_kept(section, line)) {
			*ret_cut = true;
			continue;
		}
		if (header.n)
			put_line(out, "", header);
		header.n = 0;
		put_line(out, "\t", line);
	}
}

bool carry_entry_points(struct sv text)
{
	return !has(text, "pytest11");
}

/* "name:x:uid:...": somebody else than root? */
static bool account_ok(struct sv line)
{
	const char *a = memchr(line.p, ':', line.n),
		   *b = a ? memchr(a + 1, ':', (size_t)(line.p + line.n - a - 1)) : NULL;
	struct sv id;
	size_t n = 0;
	bool zero = true;

	if (!b)
		return line.n == 0;
	id = sv_n(b + 1, (size_t)(line.p + line.n - b - 1));
	while (n < id.n && id.p[n] >= '0' && id.p[n] <= '9')
		zero &= id.p[n++] == '0';
	return n && n < 10 && !zero && n < id.n && id.p[n] == ':';
}

bool carry_accounts(struct sv text, struct sv image, bool passwd)
{
	struct sv line;

	if (text.n < image.n || memcmp(text.p, image.p, image.n) != 0 || (image.n && image.p[image.n - 1] != '\n') ||
	    memchr(text.p, '\0', text.n) || memchr(text.p, '\r', text.n))
		return false;
	text = sv_n(text.p + image.n, text.n - image.n);
	while (passwd && next_line(&text, &line))
		if (!account_ok(line))
			return false;
	return true;
}
