#include "supervise/landlock_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/coding.h"

/* Commands that were denied something and still run; records whose domain is not known yet. */
enum { MAX_DOMAINS = 256, MAX_WAITING = 64 };

struct domain {
	uint64_t id; /* 0: none */
	uint64_t seen;
};

struct landlock_log {
	int fd;
	char name[LANDLOCK_NAME_MAX];
	struct landlock_log_ids ids;
	struct domain domains[MAX_DOMAINS];
	size_t next_domain;
	struct landlock_access *waiting[MAX_WAITING]; /* oldest at next_waiting */
	size_t next_waiting;
	uint64_t window; /* reading: the beginning of this stretch, how many in it, and until when we rest */
	unsigned reads;
	uint64_t rest_until;
	uint64_t second; /* logging */
	unsigned told;
	uint64_t untold;
	uint32_t lost_before; /* by the kernel, of everybody's */
	bool lost;
	bool left_out; /* some were only counted, or not even that */
};

static int choose_name(char name[LANDLOCK_NAME_MAX])
{
	static const char prefix[] = "cordon-";
	enum { PREFIX = sizeof(prefix) - 1, BYTES = (LANDLOCK_NAME_MAX - 1 - PREFIX) / 4 * 3 };
	char bytes[BYTES];

	/* 48 bits; none of the digits makes the kernel write it in another way */
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	memcpy(name, prefix, PREFIX);
	base64_put(sv_n(bytes, sizeof(bytes)), base64_url, name + PREFIX);
	name[LANDLOCK_NAME_MAX - 1] = '\0';
	return 0;
}

struct landlock_log *landlock_log_of(int fd, uint32_t lost, struct landlock_log_ids ids)
{
	struct landlock_log *l = calloc(1, sizeof(*l));

	if (!l || choose_name(l->name) < 0) {
		free(l);
		(void)close(fd);
		return NULL;
	}
	l->fd = fd;
	l->ids = ids;
	l->lost_before = lost;
	return l;
}

struct landlock_log *landlock_log_new(int landlock_abi, struct landlock_log_ids ids)
{
	uint32_t lost;
	int fd;

	return kaudit_open(landlock_abi, &fd, &lost) == KAUDIT_READS ? landlock_log_of(fd, lost, ids) : NULL;
}

void landlock_log_free(struct landlock_log *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < MAX_WAITING; i++)
		free(l->waiting[i]);
	(void)close(l->fd);
	free(l);
}

const char *landlock_log_name(const struct landlock_log *l)
{
	return l->name;
}

struct pollfd landlock_log_poll(const struct landlock_log *l, uint64_t now)
{
	return (struct pollfd){.fd = l && now >= l->rest_until ? l->fd : -1, .events = POLLIN};
}

uint64_t landlock_log_until(const struct landlock_log *l)
{
	uint64_t at = UINT64_MAX;

	if (!l)
		return at;
	if (l->rest_until)
		at = l->rest_until;
	if (l->untold && (l->second + 1) * 1000 < at)
		at = (l->second + 1) * 1000;
	return at;
}

static struct domain *find_domain(struct landlock_log *l, uint64_t id)
{
	size_t i;

	for (i = 0; i < MAX_DOMAINS; i++)
		if (id && l->domains[i].id == id) /* 0: a free place */
			return &l->domains[i];
	return NULL;
}

static struct domain *add_domain(struct landlock_log *l, uint64_t id)
{
	struct domain *d = find_domain(l, id);

	if (!d) {
		d = &l->domains[l->next_domain++ % MAX_DOMAINS];
		*d = (struct domain){.id = id};
	}
	return d;
}

static void tell_untold(struct landlock_log *l, const struct landlock_log_sink *sink)
{
	if (l->untold)
		sink->untold(sink->arg, l->untold);
	l->untold = 0;
}

static void next_second(struct landlock_log *l, uint64_t now, const struct landlock_log_sink *sink)
{
	if (now / 1000 == l->second)
		return;
	tell_untold(l, sink);
	l->second = now / 1000;
	l->told = 0;
}

static void tell(struct landlock_log *l, struct domain *d, const struct landlock_access *a, uint64_t now,
		 const struct landlock_log_sink *sink)
{
	d->seen++;
	next_second(l, now, sink);
	if (++l->told <= LANDLOCK_LOG_PER_SECOND) {
		sink->denied(sink->arg, a);
		return;
	}
	l->untold++;
	l->left_out = true;
}

/* Until its domain is known: the kernel says so right behind it. Those of programs that were there before us are never
 * known, and make room for others. */
static void let_wait(struct landlock_log *l, const struct landlock_access *a)
{
	struct landlock_access **slot = &l->waiting[l->next_waiting++ % MAX_WAITING];
	char *blockers;

	free(*slot);
	/* its view moves along */
	*slot = malloc(sizeof(**slot) + a->blockers.n);
	if (!*slot)
		return;
	**slot = *a;
	blockers = (char *)(*slot + 1);
	memcpy(blockers, a->blockers.p, a->blockers.n);
	(*slot)->blockers.p = blockers;
}

static void take_access(struct landlock_log *l, struct sv text, uint64_t now, const struct landlock_log_sink *sink)
{
	struct landlock_access a;
	struct domain *d;

	if (landlock_access_parse(text, &a) < 0)
		return;
	d = find_domain(l, a.domain);
	if (d)
		tell(l, d, &a, now, sink);
	else
		let_wait(l, &a);
}

static bool is_ours(const struct landlock_log *l, const struct landlock_domain *d)
{
	return d->uid - l->ids.first < l->ids.count && strcmp(d->name, l->name) == 0;
}

/* Those that waited for it, in their order. */
static void made(struct landlock_log *l, const struct landlock_domain *made, uint64_t now,
		 const struct landlock_log_sink *sink)
{
	struct domain *d = is_ours(l, made) ? add_domain(l, made->domain) : NULL;
	size_t i;

	for (i = 0; i < MAX_WAITING; i++) {
		struct landlock_access **slot = &l->waiting[(l->next_waiting + i) % MAX_WAITING];

		if (!*slot || (*slot)->domain != made->domain)
			continue;
		if (d)
			tell(l, d, *slot, now, sink);
		free(*slot);
		*slot = NULL;
	}
}

static void ended(struct landlock_log *l, const struct landlock_domain *ended)
{
	struct domain *d = find_domain(l, ended->domain);

	if (!d)
		return;
	if (ended->denials > d->seen)
		l->untold += ended->denials - d->seen;
	*d = (struct domain){0};
}

void landlock_log_take(struct landlock_log *l, enum kaudit_record type, struct sv text, uint64_t now,
		       const struct landlock_log_sink *sink)
{
	struct landlock_domain d;

	if (type == KAUDIT_ACCESS)
		take_access(l, text, now, sink);
	else if (landlock_domain_parse(text, &d) == 0 && d.status == LANDLOCK_MADE)
		made(l, &d, now, sink);
	else if (landlock_domain_parse(text, &d) == 0)
		ended(l, &d);
}

static void say_lost(struct landlock_log *l, const struct landlock_log_sink *sink)
{
	if (!l->lost)
		sink->lost(sink->arg);
	l->lost = true;
	l->left_out = true;
}

/* At most max; how many there were. */
static unsigned read_some(struct landlock_log *l, unsigned max, uint64_t now, const struct landlock_log_sink *sink)
{
	char text[KAUDIT_TEXT_MAX + 1];
	enum kaudit_record type;
	unsigned n;
	int r;

	for (n = 0; n < max; n++) {
		r = kaudit_receive(l->fd, text, &type);
		if (r >= 0)
			landlock_log_take(l, type, sv_n(text, (size_t)r), now, sink);
		else if (r == -ENOBUFS)
			say_lost(l, sink);
		else if (r != -EBADMSG && r != -EINTR)
			break;
	}
	return n;
}

void landlock_log_serve(struct landlock_log *l, uint64_t now, const struct landlock_log_sink *sink)
{
	if (!l)
		return;
	if (now < l->rest_until)
		return;
	l->rest_until = 0;
	if (now - l->window >= LANDLOCK_LOG_REST_MS) {
		l->window = now;
		l->reads = 0;
	}
	l->reads += read_some(l, LANDLOCK_LOG_READS - l->reads, now, sink);
	if (l->reads == LANDLOCK_LOG_READS)
		l->rest_until = l->window + LANDLOCK_LOG_REST_MS;
	next_second(l, now, sink);
}

static bool has_domains(const struct landlock_log *l)
{
	size_t i;

	for (i = 0; i < MAX_DOMAINS; i++)
		if (l->domains[i].id)
			return true;
	return false;
}

/* Until the kernel has sent all that it made before: its thread for that may have to wait for a CPU. */
static void wait_for_sent(struct landlock_log *l, int64_t (*now)(void), const struct landlock_log_sink *sink)
{
	struct pollfd p = {.fd = l->fd, .events = POLLIN};
	int64_t begun = now();
	struct kaudit_queue q;

	while (kaudit_look(&q) == 0) {
		/* one of ours may be among them, and nothing else would ever tell */
		if (q.lost != l->lost_before)
			say_lost(l, sink);
		if (!q.waiting || now() - begun >= LANDLOCK_LOG_SENT_MS)
			break;
		(void)poll(&p, 1, 1);
		(void)read_some(l, LANDLOCK_LOG_READS, (uint64_t)now(), sink);
	}
}

/* Until none came for a while; or, where some were left out, until the kernel said how many there were. */
static void wait_for_last(struct landlock_log *l, int64_t (*now)(void), const struct landlock_log_sink *sink)
{
	struct pollfd p = {.fd = l->fd, .events = POLLIN};
	int64_t begun = now(), left;

	do {
		bool counts = l->left_out && has_domains(l);

		left = begun + (counts ? LANDLOCK_LOG_COUNT_MS : LANDLOCK_LOG_DRAIN_MAX_MS) - now();
		if (left > 0 && poll(&p, 1, counts ? (int)left : LANDLOCK_LOG_DRAIN_MS) <= 0)
			break;
		(void)read_some(l, LANDLOCK_LOG_READS, (uint64_t)now(), sink);
	} while (left > 0);
}

void landlock_log_finish(struct landlock_log *l, int64_t (*now)(void), const struct landlock_log_sink *sink)
{
	if (!l)
		return;
	wait_for_sent(l, now, sink);
	wait_for_last(l, now, sink);
	tell_untold(l, sink);
}
