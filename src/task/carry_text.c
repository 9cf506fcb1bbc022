#include "task/carry_text.h"

#include <stdint.h>
#include <strings.h>

#include "base/cleanup.h"

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

/* A key `pytest`, quoted or not, that gets a value or a further part. "pytest==8" is none. */
static bool sets_pytest(struct sv s)
{
	const char *at = s.p, *end = s.p + s.n;

	while ((at = memmem(at, (size_t)(end - at), "pytest", 6))) {
		at += 6;
		while (at < end && (*at == '"' || *at == '\'' || *at == ' ' || *at == '\t'))
			at++;
		if (at < end && (*at == '.' || (*at == '=' && (at + 1 == end || at[1] != '='))))
			return true;
	}
	return false;
}

/* `pytest = "^8.0"`: a dependency; what configures pytest is never a string. */
static bool is_dependency(struct sv line)
{
	struct sv value;

	if (!sv_starts(line, "pytest"))
		return false;
	value = trim(sv_n(line.p + 6, line.n - 6));
	if (!sv_starts(value, "="))
		return false;
	value = trim(sv_n(value.p + 1, value.n - 1));
	return value.n >= 2 && value.p[0] == '"' && value.p[1] != '"' && memchr(value.p + 1, '"', value.n - 1) == value.p + value.n - 1;
}

/* *ours: the line is in a section for pytest. */
static bool line_counts(struct sv line, bool toml, bool *ours)
{
	if (line.n && line.p[0] == '[') {
		*ours = has(line, "pytest");
		return *ours;
	}
	if (*ours)
		return line.n && line.p[0] != '#';
	return toml && (has(line, "ini_options") || (sets_pytest(line) && !is_dependency(line)));
}

/* What pytest reads of a file; false: that cannot be told, since names may be spelled with escapes. */
static bool pytest_part(struct sv text, bool toml, struct buf *out)
{
	bool told = !toml || (!has(text, "\\u") && !has(text, "\\U") && !has(text, "\\x")), ours = false;
	struct sv line;

	while (next_line(&text, &line)) {
		line = trim(line);
		if (line_counts(line, toml, &ours)) {
			(void)buf_sv(out, line);
			(void)buf_char(out, '\n');
		}
	}
	return told && !buf_failed(out);
}

bool carry_same_for_pytest(struct sv ours, struct sv theirs, bool toml)
{
	AUTO_BUF a = {0};
	AUTO_BUF b = {0};

	if (sv_eq(ours, theirs))
		return true;
	buf_init(&a, ours.n + ours.n + 16);
	buf_init(&b, theirs.n + theirs.n + 16);
	return pytest_part(ours, toml, &a) && pytest_part(theirs, toml, &b) && sv_eq(buf_view(&a), buf_view(&b));
}

/* "section.key", with the section's name in quotes left out. */
static const char *const harmless[] = {
	"branch.merge", "branch.rebase", "branch.remote", "color.ui", "core.abbrev", "core.autocrlf", "core.bare", "core.eol", "core.filemode", "core.ignorecase", "core.logallrefupdates", "core.precomposeunicode",
	"core.quotepath", "core.repositoryformatversion", "core.safecrlf", "core.symlinks", "extensions.objectformat", "init.defaultbranch", "merge.conflictstyle", "merge.ff", "pull.ff", "pull.rebase", "push.autosetupremote",
	"push.default", "receive.denycurrentbranch", "receive.denydeletes", "receive.denynonfastforwards", "remote.fetch", "remote.push", "remote.pushurl", "remote.tagopt", "remote.url", "safe.directory", "submodule.active",
	"submodule.branch", "submodule.url", "user.email", "user.name",
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
	return rest.n >= 2 && rest.p[0] == '"' && rest.p[rest.n - 1] == '"' && !memchr(rest.p + 1, '"', rest.n - 2) && !memchr(rest.p, '\\', rest.n) && !memchr(rest.p, ']', rest.n);
}

static bool key_kept(struct sv section, struct sv line)
{
	size_t n = letters(line);
	struct sv rest = trim(sv_n(line.p + n, line.n - n));

	return n && section.n && is_harmless(section, sv_n(line.p, n)) && line.p[line.n - 1] != '\\' && (rest.n == 0 || rest.p[0] == '=');
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
	const char *a = memchr(line.p, ':', line.n), *b = a ? memchr(a + 1, ':', (size_t)(line.p + line.n - a - 1)) : NULL;
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

	if (text.n < image.n || memcmp(text.p, image.p, image.n) != 0 || (image.n && image.p[image.n - 1] != '\n') || memchr(text.p, '\0', text.n) || memchr(text.p, '\r', text.n))
		return false;
	text = sv_n(text.p + image.n, text.n - image.n);
	while (passwd && next_line(&text, &line))
		if (!account_ok(line))
			return false;
	return true;
}
