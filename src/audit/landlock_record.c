#include "audit/landlock_record.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/coding.h"

static bool skip_digits(struct sv *s)
{
	size_t i = 0;

	while (i < s->n && s->p[i] >= '0' && s->p[i] <= '9')
		i++;
	*s = sv_n(s->p + i, s->n - i);
	return i > 0;
}

static bool skip(struct sv *s, const char *what)
{
	if (!sv_starts(*s, what))
		return false;
	*s = sv_n(s->p + strlen(what), s->n - strlen(what));
	return true;
}

/* The members behind "audit(SECONDS.MILLISECONDS:SERIAL): ". */
static int members(struct sv text, struct sv *ret)
{
	if (!skip(&text, "audit(") || !skip_digits(&text) || !skip(&text, ".") || !skip_digits(&text) ||
	    !skip(&text, ":") || !skip_digits(&text) || !skip(&text, "): "))
		return -EBADMSG;
	*ret = text;
	return 0;
}

/* The first of that name, as it stands there. Empty: there is none. */
static struct sv member(struct sv text, const char *name)
{
	size_t n = strlen(name);

	while (text.n) {
		const char *end = memchr(text.p, ' ', text.n);
		struct sv word = sv_n(text.p, end ? (size_t)(end - text.p) : text.n);

		if (word.n > n && word.p[n] == '=' && memcmp(word.p, name, n) == 0)
			return sv_n(word.p + n + 1, word.n - n - 1);
		text = end ? sv_n(end + 1, text.n - word.n - 1) : sv_n("", 0);
	}
	return sv_n("", 0);
}

static int number(struct sv s, unsigned base, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < s.n; i++) {
		int d = hex_value(s.p[i]);

		if (d < 0 || (unsigned)d >= base || v > (max - (unsigned)d) / base)
			return -EBADMSG;
		v = v * base + (unsigned)d;
	}
	*ret = v;
	return s.n ? 0 : -EBADMSG;
}

static bool are_digits(struct sv s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (hex_value(s.p[i]) < 0 || (s.p[i] >= 'a' && s.p[i] <= 'f'))
			return false;
	return s.n && s.n % 2 == 0;
}

/* What somebody named: in quotes, in digits, or one of the kernel's own words, such as (null). The number of bytes;
 * those that there is no room for are left out. */
static size_t decode(struct sv s, char *to, size_t room)
{
	size_t i, n = 0;

	if (are_digits(s)) {
		for (i = 0; i < s.n && n < room; i += 2)
			to[n++] = (char)hex_byte(s.p[i], s.p[i + 1]);
		return n;
	}
	if (s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"')
		s = sv_n(s.p + 1, s.n - 2);
	n = s.n < room ? s.n : room;
	memcpy(to, s.p, n);
	return n;
}

static int parse_domain_id(struct sv text, uint64_t *ret)
{
	return number(member(text, "domain"), 16, UINT64_MAX, ret) < 0 || *ret == 0 ? -EBADMSG : 0;
}

/* Of a member that holds a name; with the words that are to stand before it. */
static void add(struct landlock_access *a, const char *before, struct sv value)
{
	size_t n = strlen(before);

	if (!value.n || n > sizeof(a->target) - a->n_target)
		return;
	memcpy(a->target + a->n_target, before, n);
	a->n_target += n;
	a->n_target += decode(value, a->target + a->n_target, sizeof(a->target) - a->n_target);
}

static void find_path(struct sv text, struct landlock_access *ret)
{
	struct sv path = member(text, "path");

	add(ret, "", path.n ? path : member(text, "name"));
	/* the kernel's way to write the name of an abstract socket */
	if (ret->n_target && ret->target[0] == '\0')
		ret->target[0] = '@';
}

static void find_process(struct sv text, struct landlock_access *ret)
{
	uint64_t pid;

	/* digits that are a number, not bytes */
	if (number(member(text, "opid"), 10, INT32_MAX, &pid) == 0)
		ret->n_target = (size_t)snprintf(ret->target, sizeof(ret->target), "process %u", (unsigned)pid);
	add(ret, ret->n_target ? " " : "", member(text, "ocomm"));
}

static void find_port(struct sv text, struct landlock_access *ret)
{
	bool out = member(text, "dest").n;
	struct sv host = member(text, out ? "daddr" : "saddr");
	uint64_t port = 0;

	(void)number(member(text, out ? "dest" : "src"), 10, UINT16_MAX, &port);
	ret->n_target = (size_t)snprintf(ret->target, sizeof(ret->target), "%.*s:%u", host.n > 64 ? 64 : (int)host.n,
					 host.p, (unsigned)port);
}

static const struct kind {
	const char *blocker; /* its beginning */
	enum event_domain of;
	const char *rule;
	void (*find)(struct sv text, struct landlock_access *ret);
} kinds[] = {
	{"fs.execute", DOMAIN_PROCESS, "process.allow_exec", find_path},
	{"fs.read_", DOMAIN_FILESYSTEM, "filesystem.read", find_path},
	{"fs.ioctl_dev", DOMAIN_FILESYSTEM, "devices", find_path},
	{"fs.change_topology", DOMAIN_FILESYSTEM, "mounts", find_path},
	{"fs.", DOMAIN_FILESYSTEM, "filesystem.write", find_path},
	{"net.", DOMAIN_NETWORK, "network.mode", find_port},
	{"scope.abstract_unix_socket", DOMAIN_PROCESS, "sockets of others", find_path},
	{"scope.signal", DOMAIN_PROCESS, "signals to others", find_process},
	{"ptrace", DOMAIN_PROCESS, "memory of others", find_process},
	{"", DOMAIN_NONE, "landlock", find_path}, /* what later kernels add */
};

/* Names of the kernel's, and commas. */
static bool are_blockers(struct sv s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '.' ||
		      s.p[i] == '_' || s.p[i] == ','))
			return false;
	return s.n > 0 && s.n <= 512;
}

int landlock_access_parse(struct sv text, struct landlock_access *ret)
{
	const struct kind *k = kinds;

	if (members(text, &text) < 0 || parse_domain_id(text, &ret->domain) < 0)
		return -EBADMSG;
	ret->blockers = member(text, "blockers");
	if (!are_blockers(ret->blockers))
		return -EBADMSG;
	while (!sv_starts(ret->blockers, k->blocker))
		k++;
	ret->of = k->of;
	ret->rule = k->rule;
	ret->n_target = 0;
	k->find(text, ret);
	return 0;
}

int landlock_domain_parse(struct sv text, struct landlock_domain *ret)
{
	struct sv status;
	uint64_t uid;
	size_t n;

	if (members(text, &text) < 0 || parse_domain_id(text, &ret->domain) < 0)
		return -EBADMSG;
	status = member(text, "status");
	if (sv_is(status, "deallocated")) {
		ret->status = LANDLOCK_ENDED;
		return number(member(text, "denials"), 10, UINT64_MAX, &ret->denials);
	}
	if (!sv_is(status, "allocated") || number(member(text, "uid"), 10, UINT32_MAX, &uid) < 0)
		return -EBADMSG;
	n = decode(member(text, "comm"), ret->name, sizeof(ret->name) - 1);
	memset(ret->name + n, 0, sizeof(ret->name) - n);
	ret->status = LANDLOCK_MADE;
	ret->uid = (uint32_t)uid;
	return 0;
}
