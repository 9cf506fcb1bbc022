/* Creating what policy denies, by every spelling of the name. */
#include <sys/socket.h>
#include <sys/un.h>

#include "attack.h"

static int create(const struct scene *s, const struct attack *a)
{
	(void)mkdir(".git", 0755);
	(void)mkdir(".git/hooks", 0755);
	(void)mkdir(".claude", 0755);
	return judge(s, make_file(a->text, 0, 0755), a->text);
}

static int create_folder(const struct scene *s, const struct attack *a)
{
	return judge(s, mkdir(a->text, 0755), a->text);
}

static int create_fifo(const struct scene *s, const struct attack *a)
{
	return judge(s, mkfifo(a->text, 0600), a->text);
}

static int create_socket(const struct scene *s, const struct attack *a)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", a->text);
	return judge(s, bind(fd, (struct sockaddr *)&address, sizeof(address)), a->text);
}

#define ROW(name, what, function, path)                                                                                \
	{                                                                                                              \
		name, "cannot " what, function, .stage = STAGE_DENY, .text = path                                      \
	}

static const struct attack rows[] = {
	ROW("deny-hook-new", "create .git/hooks/x where no .git was", create, ".git/hooks/x"),
	ROW("deny-hook-old", "create a hook in a repository that is there", create, "repo/.git/hooks/pre-commit"),
	ROW("deny-hook-dots", "create a hook by a path with ./ and //", create, "./repo//.git/./hooks//pre-commit"),
	ROW("deny-hook-dotdot", "create a hook by a path with ..", create,
	    "sub/../repo/.git/objects/../hooks/pre-commit"),
	ROW("deny-hook-proc", "create a hook through /proc/self/cwd", create,
	    "/proc/self/cwd/repo/.git/hooks/pre-commit"),
	ROW("deny-hook-link", "create a hook behind a symlink to .git", create, "sub/git-link/hooks/pre-commit"),
	ROW("deny-config", "write .git/config", create, "repo/.git/config"),
	ROW("deny-env-new", "create .env", create, "sub/.env"),
	ROW("deny-bashrc", "create .bashrc", create, ".bashrc"),
	ROW("deny-agent-settings", "create .claude/settings.json", create, ".claude/settings.json"),
	ROW("deny-env-folder", "make a folder called .env", create_folder, "sub/.env"),
	ROW("deny-env-fifo", "make a fifo called .env", create_fifo, "sub/.env"),
	ROW("deny-env-socket", "bind a socket to the name .env", create_socket, "sub/.env"),
};
ATTACKS("filesystem", rows);
