/* Environment variables of the caller. */
#include "attack.h"

static int any_secret(const struct scene *s, const struct attack *a)
{
	(void)s;
	(void)a;
	for (char **p = environ; *p; p++) {
		if (has_marker(*p, strlen(*p)))
			return won("%.40s has a secret", *p);
	}
	return refused("no variable has a secret");
}

/* The runner sets each to a value that holds the row's text. */
static int one(const struct scene *s, const struct attack *a)
{
	static const char *const names[] = {
		"PATH",       "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS",
		"LD_PRELOAD", "LD_LIBRARY_PATH", "DOCKER_HOST",   "BASH_ENV"};
	const char *value = getenv(names[a->num]);

	(void)s;
	if (value && strstr(value, a->text))
		return won("%s came in", names[a->num]);
	return refused("%s is %s", names[a->num], value ? "another" : "not set");
}

static int from_proc(const struct scene *s, const struct attack *a)
{
	return judge_secret(s, open(a->text, O_RDONLY | O_CLOEXEC), a->text);
}

static const struct attack rows[] = {
	{"env-secret", "does not see the caller's secrets in its environment", any_secret},
	{"env-self", "does not see them in /proc/self/environ", from_proc, .text = "/proc/self/environ"},
	{"env-parent", "does not see them in /proc/1/environ", from_proc, CONTROL_ROOT, .text = "/proc/1/environ"},
	{"env-path", "does not get the user's PATH", one, .text = "userbin", .num = 0},
	{"env-runtime-dir", "does not get XDG_RUNTIME_DIR", one, .text = "/run", .num = 1},
	{"env-ssh-agent", "does not get SSH_AUTH_SOCK", one, .text = "sock", .num = 2},
	{"env-dbus", "does not get DBUS_SESSION_BUS_ADDRESS", one, .text = "unix:", .num = 3},
	{"env-preload", "does not get LD_PRELOAD", one, .text = "/", .num = 4},
	{"env-library-path", "does not get LD_LIBRARY_PATH", one, .text = "/", .num = 5},
	{"env-docker", "does not get DOCKER_HOST", one, .text = "unix:", .num = 6},
	{"env-bash", "does not get BASH_ENV", one, .text = "/", .num = 7},
};
ATTACKS("env", rows);
