/* The sockets that environment variables usually point at, tried at the paths themselves: the variable is not the
 * protection. */
#include <sys/socket.h>

#include "attack.h"

static int reach(const struct scene *s, const struct attack *a)
{
	int fd = connect_unix(s, a->text, SOCK_STREAM, false);

	return judge_secret(s, fd, a->name);
}

static int list(const struct scene *s, const struct attack *a)
{
	struct fact folder;

	(void)a;
	return judge_open(s, fact(s, "runtime_dir", &folder), O_RDONLY | O_DIRECTORY);
}

static const struct attack rows[] = {
	{"socket-ssh-agent", "cannot reach the user's ssh agent", reach, .text = "agent"},
	{"socket-dbus", "cannot reach the user's D-Bus", reach, .text = "bus"},
	{"runtime-dir", "cannot list the user's runtime folder", list},
};
ATTACKS("env", rows);
