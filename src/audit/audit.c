#include "audit/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "audit/audit_line.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "sys/pen.h"

enum {
	RUN_MAX = 128,      /* bytes of a run's id */
	VALUE_MAX = 16384,  /* bytes of one string, before it is escaped */
	FIELDS_MAX = 64,    /* further members */
	TAIL_MAX = 256,     /* room kept for cut, prev, hash and the newline */
	ESCAPE_MAX = 6,     /* what one byte can grow to: \u001b */
	WORTH_SHOWING = 32, /* a string with less room than this is left out */
	LINE_ROOM = AUDIT_LINE_MAX - TAIL_MAX
};

struct audit {
	int fd;
	int copy_fd;
	int failed; /* errno of the write that failed */
	bool ended;
	uint64_t seq; /* of the last line */
	off_t size;
	char last[SHA256_HEX];
	char run[RUN_MAX + 1];
	struct buf line;
	struct json json;
	uint64_t cut; /* values of this line that were cut */
};

/* OCSF 1.x: class, activity, severity, and the disposition where the event has no verdict. */
struct class
{
	unsigned uid, activity, severity;
	const char *disposition;
};

enum {
	CLASS_BASE = 0,
	CLASS_FILE = 1001,
	CLASS_PROCESS = 1007,
	CLASS_DETECTION = 2004,
	CLASS_NETWORK = 4001,
	CLASS_API = 6003,
};
enum { COPY_MS = 5000 }; /* for whoever reads the copy to take something: nothing is supervised meanwhile */
enum { ACTIVITY_UNKNOWN = 0, ACTIVITY_OTHER = 99 };
enum { PROCESS_LAUNCH = 1, PROCESS_TERMINATE = 2, DETECTION_CREATE = 1, NETWORK_REFUSE = 5 };
enum { SEVERITY_INFO = 1, SEVERITY_LOW = 2, SEVERITY_MEDIUM = 3 };

static const char *const event_names[] = {
	[EVENT_START] = "start",   [EVENT_DENIAL] = "denial", [EVENT_LIMIT] = "limit", [EVENT_EXEC] = "exec",
	[EVENT_SIGNAL] = "signal", [EVENT_EXIT] = "exit",     [EVENT_NOTE] = "note",
};

static const char *const domain_names[] = {
	[DOMAIN_NONE] = NULL,         [DOMAIN_FILESYSTEM] = "filesystem", [DOMAIN_NETWORK] = "network",
	[DOMAIN_PROCESS] = "process", [DOMAIN_INFERENCE] = "inference",
};

static const struct class classes[] = {
	[EVENT_START] = {CLASS_PROCESS, PROCESS_LAUNCH, SEVERITY_INFO, "Allowed"},
	[EVENT_DENIAL] = {CLASS_DETECTION, DETECTION_CREATE, SEVERITY_MEDIUM, "Blocked"},
	[EVENT_LIMIT] = {CLASS_PROCESS, ACTIVITY_OTHER, SEVERITY_MEDIUM, "Blocked"},
	[EVENT_EXEC] = {CLASS_PROCESS, PROCESS_LAUNCH, SEVERITY_INFO, "Allowed"},
	[EVENT_SIGNAL] = {CLASS_PROCESS, PROCESS_TERMINATE, SEVERITY_LOW, "Logged"},
	[EVENT_EXIT] = {CLASS_PROCESS, PROCESS_TERMINATE, SEVERITY_INFO, "Logged"},
	[EVENT_NOTE] = {CLASS_BASE, ACTIVITY_OTHER, SEVERITY_INFO, "Logged"},
};

/* A denial is told by what was tried. */
static const struct class denials[] = {
	[DOMAIN_NONE] = {CLASS_DETECTION, DETECTION_CREATE, SEVERITY_MEDIUM, "Blocked"},
	[DOMAIN_FILESYSTEM] = {CLASS_FILE, ACTIVITY_UNKNOWN, SEVERITY_MEDIUM, "Blocked"},
	[DOMAIN_NETWORK] = {CLASS_NETWORK, NETWORK_REFUSE, SEVERITY_MEDIUM, "Blocked"},
	[DOMAIN_PROCESS] = {CLASS_PROCESS, ACTIVITY_UNKNOWN, SEVERITY_MEDIUM, "Blocked"},
	[DOMAIN_INFERENCE] = {CLASS_API, ACTIVITY_OTHER, SEVERITY_MEDIUM, "Blocked"},
};

static const struct {
	const char *verdict, *disposition;
} dispositions[] = {{"allow", "Allowed"}, {"deny", "Blocked"}, {"escalate", "Alert"}};

static const char *const own_members[] = {
	"time", "event",  "class_uid", "category_uid", "type_uid", "activity_id", "severity_id", "disposition", "run",
	"seq",  "domain", "verdict",   "rule",         "message",  "cut",         "prev",        "hash",
};

int audit_new(const char *path, const char *run_id, int copy_fd, struct audit **ret, struct error *err)
{
	struct text_shown shown;
	size_t n = strlen(run_id);
	struct audit *a;
	int fd;

	if (n == 0 || n > RUN_MAX)
		return error_sys(err, EINVAL, "audit log: the run's id has %zu bytes", n);
	/* O_EXCL and O_NOFOLLOW: never a file or a link that somebody laid out for us. */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, errno, "audit log: create %s", text_show(&shown, sv_of(path)));
	a = calloc(1, sizeof(*a));
	if (!a) {
		(void)close(fd);
		return error_sys(err, ENOMEM, "audit log");
	}
	a->fd = fd;
	a->copy_fd = copy_fd;
	memcpy(a->run, run_id, n);
	memcpy(a->last, AUDIT_NO_HASH, SHA256_HEX);
	buf_init(&a->line, AUDIT_LINE_MAX);
	*ret = a;
	return 0;
}

void audit_free(struct audit *a)
{
	if (!a)
		return;
	(void)close(a->fd);
	buf_done(&a->line);
	free(a);
}

const char *audit_last_hash(const struct audit *a)
{
	return a->last;
}

uint64_t audit_count(const struct audit *a)
{
	return a->seq;
}

/* As much of s as max bytes hold, never half a character. */
static struct sv prefix(struct sv s, size_t max)
{
	if (s.n <= max)
		return s;
	while (max > 0 && ((unsigned char)s.p[max] & 0xc0) == 0x80)
		max--;
	return sv_n(s.p, max);
}

/* Takes back what was written since the line looked like this. */
static void rewind_line(struct audit *a, struct json json, size_t n)
{
	a->json = json;
	a->line.n = n;
	if (a->line.failed == -EFBIG)
		a->line.failed = 0;
}

static bool too_long(const struct audit *a)
{
	return a->line.n > LINE_ROOM || a->line.failed == -EFBIG;
}

/* Writes the member, its value cut to max bytes; leaves no trace and says false where the line has no room for it. */
static bool try_string(struct audit *a, const char *key, struct sv s, size_t max)
{
	struct json json = a->json;
	size_t n = a->line.n;
	AUTO_BUF b = {0};

	buf_init(&b, VALUE_MAX + 16);
	json_key(&a->json, key);
	if (s.n > max) {
		(void)buf_sv(&b, prefix(s, max));
		(void)buf_str(&b, "[cut]");
		s = buf_view(&b);
	}
	json_sv(&a->json, s);
	if (!too_long(a))
		return true;
	rewind_line(a, json, n);
	return false;
}

static void put_sv(struct audit *a, const char *key, struct sv s)
{
	size_t room, need = strlen(key) + WORTH_SHOWING;

	a->cut += s.n > VALUE_MAX;
	if (try_string(a, key, s, VALUE_MAX))
		return;
	a->cut += s.n <= VALUE_MAX;
	room = LINE_ROOM - a->line.n;
	if (room > need * ESCAPE_MAX)
		(void)try_string(a, key, s, room / ESCAPE_MAX - need);
}

static void put_str(struct audit *a, const char *key, const char *s)
{
	if (s)
		put_sv(a, key, sv_of(s));
}

static void put_field(struct audit *a, const struct event_field *f)
{
	struct json json = a->json;
	size_t n = a->line.n;

	/* What is not canonical could break the line, or its verification. */
	if (!f->is_json || !audit_line_is_canonical(f->value)) {
		put_sv(a, f->key, f->value);
		return;
	}
	json_key(&a->json, f->key);
	json_raw(&a->json, f->value);
	if (!too_long(a))
		return;
	rewind_line(a, json, n);
	a->cut++;
	(void)try_string(a, f->key, sv_of("[cut]"), VALUE_MAX);
}

/* A member twice would let two readers see two different events. */
static bool fields_ok(const struct event *e)
{
	size_t i, k;

	for (i = 0; i < e->n_fields; i++) {
		for (k = 0; k < ARRAY_LEN(own_members); k++)
			if (strcmp(e->fields[i].key, own_members[k]) == 0)
				return false;
		for (k = 0; k < i; k++)
			if (strcmp(e->fields[i].key, e->fields[k].key) == 0)
				return false;
	}
	return true;
}

static void put_class(struct audit *a, const struct event *e)
{
	const struct class *c = e->kind == EVENT_DENIAL ? &denials[e->domain] : &classes[e->kind];
	const char *disposition = c->disposition;
	size_t i;

	for (i = 0; e->verdict && i < ARRAY_LEN(dispositions); i++)
		if (strcmp(e->verdict, dispositions[i].verdict) == 0)
			disposition = dispositions[i].disposition;
	json_kint(&a->json, "class_uid", c->uid);
	json_kint(&a->json, "category_uid", c->uid / 1000);
	json_kint(&a->json, "type_uid", c->uid * 100 + c->activity);
	json_kint(&a->json, "activity_id", c->activity);
	json_kint(&a->json, "severity_id", c->severity);
	json_kstr(&a->json, "disposition", disposition);
}

/* All of the line up to prev. */
static void put_event(struct audit *a, const struct event *e)
{
	struct timespec now;
	size_t i;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	buf_clear(&a->line);
	json_init(&a->json, &a->line);
	a->cut = 0;
	json_open(&a->json);
	json_kint(&a->json, "time", (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
	json_kstr(&a->json, "event", event_names[e->kind]);
	put_class(a, e);
	json_kstr(&a->json, "run", a->run);
	json_kint(&a->json, "seq", (int64_t)a->seq + 1);
	/* every line has these, so that readers need not ask */
	put_str(a, "domain", domain_names[e->domain] ? domain_names[e->domain] : "");
	put_str(a, "verdict", e->verdict ? e->verdict : "");
	put_str(a, "rule", e->rule ? e->rule : "");
	put_str(a, "message", e->message);
	for (i = 0; i < e->n_fields && i < FIELDS_MAX; i++)
		put_field(a, &e->fields[i]);
	a->cut += e->n_fields - i;
	if (a->cut)
		json_kint(&a->json, "cut", (int64_t)a->cut);
	json_kstr(&a->json, "prev", a->last);
}

/* One write: a reader of the log, or a crash, finds whole lines. */
static int put_line(struct audit *a)
{
	ssize_t w = write(a->fd, a->line.p, a->line.n);
	int code = w < 0 ? errno : ENOSPC;

	if (w == (ssize_t)a->line.n) {
		a->size += w;
		return 0;
	}
	/* Half a line would make the log look tampered with. */
	if (w > 0)
		(void)!ftruncate(a->fd, a->size);
	return -code;
}

static int fail(struct audit *a, int code, const char *what, struct error *err)
{
	a->failed = -code;
	if (code != -ENOSPC && code != -EDQUOT)
		return error_sys(err, code, "audit log: %s", what);
	(void)error_set(err, ERROR_SYSTEM, "audit log: %s: %s; make room for it, since no run goes on without its log",
			what, strerror(-code));
	err->code = -code;
	return -1;
}

int audit_write(struct audit *a, const struct event *e, struct error *err)
{
	char hash[SHA256_HEX];
	int r;

	if (a->failed)
		return error_sys(err, a->failed, "audit log: an earlier write failed");
	if (a->ended || !fields_ok(e))
		return error_sys(err, EINVAL, "audit log: %s",
				 a->ended ? "nothing may follow the exit event" : "a field has the name of a member");
	put_event(a, e);
	audit_line_hash(sv_of(a->last), buf_view(&a->line), hash);
	json_kstr(&a->json, "hash", hash);
	json_close(&a->json);
	(void)buf_char(&a->line, '\n');
	r = buf_failed(&a->line) ? buf_failed(&a->line) : put_line(a);
	if (r < 0)
		return fail(a, r, "write", err);
	memcpy(a->last, hash, sizeof(hash));
	a->seq++;
	a->ended = e->kind == EVENT_EXIT;
	r = a->copy_fd < 0 ? 0 : sys_pen_write_all(a->copy_fd, a->line.p, a->line.n, COPY_MS);
	return r < 0 ? fail(a, r, "write the copy", err) : 0;
}
