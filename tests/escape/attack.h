/*
 * attack: the harness of the escape suite.
 *
 * An attack is a row of a table in one small file under attacks/. It tries one thing that a sandbox must refuse, prints
 * one line with the reason, and returns WON when the boundary was crossed, REFUSED when it was not, UNTRIED when this
 * machine cannot show it. The same attack runs without the sandbox first (the control: it must win there, or it proves
 * nothing), then within.
 *
 * The runner describes the fake host in a file `facts` beside the executable: `key=value` lines, read once into struct
 * scene. No attack learns anything else from outside. Each runs in a child of its own, so that a kill by a filter
 * counts as a refusal.
 *
 * Safety: in the control an attack may run as root. It must leave the machine as it was: change nothing for good, touch
 * no process but the victim, and stop at a small bound.
 */
#ifndef CORDON_TESTS_ATTACK_H
#define CORDON_TESTS_ATTACK_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum outcome { WON = 0, REFUSED = 1, STUCK = 2, UNTRIED = 77 };

/* What every fake secret of the runner begins with. */
#define MARKER "CORDON-FAKE-SECRET"

/* Who runs the control. */
enum control {
	CONTROL_SELF,  /* the user who runs the suite */
	CONTROL_ROOT,  /* root, in the runner's own namespaces; untried without root */
	CONTROL_USERNS /* root of a fresh user, mount and pid namespace, with its own /proc */
};

/* What the runner prepares besides the fake host. run.sh knows each by its name. */
enum stage {
	STAGE_PLAIN,
	STAGE_DENY,    /* also within the default profile, where the work folder is not a copy */
	STAGE_FDS,     /* fds of host files, folders and a socket left open */
	STAGE_STDIN,   /* stdin is a host file, open for reading */
	STAGE_STDOUT,  /* stdout is a host file, open for writing */
	STAGE_CWD,     /* started from a folder outside the work folder */
	STAGE_TTY,     /* stdin, stdout and stderr are a terminal */
	STAGE_NOTTY,   /* a controlling terminal, but none of the three is it */
	STAGE_CAPS,    /* inheritable and ambient capabilities are set */
	STAGE_URGENT,  /* started with a real-time class, a negative nice value and real-time I/O */
	STAGE_LIMITS,  /* a policy with small limits; being killed counts as refused */
	STAGE_TIMEOUT, /* a policy with a timeout of one second */
	STAGE_DAEMON,  /* the runner looks for a process that outlives the run */
	STAGE_ORPHAN   /* the runner kills the supervisor and looks for what is left */
};

struct scene {
	bool control;      /* not in a sandbox */
	char folder[4096]; /* of the executable */
	char facts[8192];
};

struct attack {
	const char *name;
	const char *promise; /* "cannot ...": what holds inside */
	int (*run)(const struct scene *s, const struct attack *a);
	enum control control;
	enum stage stage;
	const char *text; /* what the row's function makes of these is its own affair */
	long num;
	long num2;
};

struct attack_rows {
	const char *domain;
	const struct attack *v;
	size_t n;
};

/* Puts a file's rows into the table of all attacks. */
#define ATTACKS(domain, rows)                                                                                          \
	static const struct attack_rows rows##_set = {domain, rows, sizeof(rows) / sizeof((rows)[0])};                 \
	static const struct attack_rows *const rows##_entry __attribute__((used, section("attacks"))) = &rows##_set

/* Each prints the reason and returns the outcome. */
int won(const char *format, ...) __attribute__((format(printf, 1, 2)));
int refused(const char *format, ...) __attribute__((format(printf, 1, 2)));
int untried(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Failed with errno err: REFUSED, or UNTRIED where it is the control and err says that the kernel lacks the thing. */
int lost(const struct scene *s, int err, const char *what);

/*
 * The attack could not be set up, with errno: STUCK, which passes nowhere. For what any work folder must allow: a
 * sandbox in which nothing works would refuse everything.
 */
int broken(const char *what);

/* WON where rc is not negative, else lost() with errno. */
int judge(const struct scene *s, long rc, const char *what);

/* As judge(), but any answer that is not a refusal wins too: the call reached the kernel's own code. */
int judge_reached(const struct scene *s, long rc, const char *what);

/* Opens path and wins if that works. A path that the machine does not have is UNTRIED in the control. */
int judge_open(const struct scene *s, const char *path, int flags);

/* Wins if the file has the marker in its first 64 KiB. Takes the fd; a negative one is lost() with errno. */
int judge_secret(const struct scene *s, int fd, const char *what);

/* UNTRIED in a control that lacks the capability, else REFUSED with err. */
int lost_without(const struct scene *s, int capability, int err, const char *what);

/* The value of a fact in storage of the caller's; "" where there is none. */
struct fact {
	char s[1024];
};
const char *fact(const struct scene *s, const char *key, struct fact *out);
long fact_num(const struct scene *s, const char *key);

/* Path of the stolen file: the fake private key in the fake home. */
static inline const char *fact_key(const struct scene *s, struct fact *out)
{
	return fact(s, "key", out);
}

bool has_marker(const void *p, size_t n);

/* Calls visit for each number in /proc until it returns true. Returns whether one did. */
bool each_pid(bool (*visit)(long pid, void *arg), void *arg);

/* A UNIX socket connected to the path or abstract name that the fact holds: fd, or -1 with errno. */
int connect_unix(const struct scene *s, const char *key, int type, bool abstract);

/* Creates path with some text in it: 0 or -1 with errno. */
int make_file(const char *path, int flags, mode_t mode);

#endif
