/* task/compose_docker.h and compose_tool.h: what Docker's tools get of this machine. The suite runtimes/compose.sh
 * tries them with an engine. */
#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "task/compose_docker.h"
#include "task/compose_tool.h"

static void the_environment_is_an_exact_list(void)
{
	static const struct {
		const char *path, *want;
	} rows[] = {
		{"/usr/bin:/bin", "PATH=/usr/bin:/bin"},
		{"/usr/bin::/bin:", "PATH=/usr/bin:/bin"},
		{".:relative:/bin:../x", "PATH=/bin"},
		{"", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		{"relative", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		{NULL, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
	};
	struct arena *a = arena_new();
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		char **env = compose_docker_environment(a, rows[i].path, "/private", "/run/docker.sock");

		CHECK(env != NULL);
		CHECK_STR(env[0], rows[i].want);
		CHECK_STR(env[1], "HOME=/private");
		CHECK_STR(env[2], "DOCKER_HOST=unix:///run/docker.sock");
		CHECK(env[3] == NULL);
	}
	arena_free(a);
}

/* Runs /bin/sh -c script in /. */
static int run(const char *script, int in, int out, unsigned ms, struct buf *tail)
{
	char sh[] = "sh", c[] = "-c", one[] = "ONLY=this", *text = strdup(script);
	char *argv[] = {sh, c, text, NULL}, *env[] = {one, NULL};
	const struct compose_tool tool = {
		.program = "/bin/sh", .argv = argv, .env = env, .folder = "/", .in = in, .out = out, .ms = ms};
	int status = compose_tool_run(&tool, tail);

	free(text);
	return status;
}

static void a_tool_has_what_it_is_given_and_no_more(void)
{
	AUTO_FD leaked = open("/etc/passwd", O_RDONLY); /* without O_CLOEXEC */
	AUTO_BUF tail = {0};

	buf_init(&tail, 4096);
	CHECK(setenv("SECRET", "canary", 1) == 0);
	CHECK(leaked > 2);
	CHECK(run("tr '\\0' ' ' </proc/$$/environ; pwd; ls -l /proc/$$/fd | grep -c passwd; readlink /proc/$$/fd/0; "
		  "exit 5",
		  -1, -1, 60000, &tail) == 5);
	CHECK_STR(tail.p, "ONLY=this /\n0\n/dev/null\n");
}

static void a_tool_is_ended_with_all_it_started(void)
{
	char path[] = "/tmp/cordon-compose-tool-XXXXXX";
	AUTO_FD fd = mkstemp(path);
	AUTO_BUF tail = {0};
	char script[256];
	struct stat st;

	buf_init(&tail, 4096);
	(void)snprintf(script, sizeof(script), "(sleep 2; echo still-here >%s) & sleep 100", path);
	CHECK(run(script, -1, -1, 200, &tail) == COMPOSE_TOOL_TIME);
	(void)snprintf(script, sizeof(script), "(sleep 2; echo still-here >%s) & exit 3", path);
	CHECK(run(script, -1, -1, 60000, &tail) == 3);
	CHECK(run("kill -9 $$", -1, -1, 60000, &tail) == 128 + 9);
	(void)sleep(3);
	CHECK(fstat(fd, &st) == 0 && st.st_size == 0);
	(void)unlink(path);
}

static void only_the_end_of_much_output_is_kept(void)
{
	AUTO_BUF tail = {0};

	buf_init(&tail, 4096);
	CHECK(run("i=0; while [ $i -lt 20000 ]; do echo line-$i; i=$((i+1)); done", -1, -1, 60000, &tail) == 0);
	CHECK(tail.n <= 4096 && strstr(tail.p, "line-19999\n") && !strstr(tail.p, "line-1\n"));
}

static void tools_are_found_by_absolute_parts_only(void)
{
	char path[4096];

	CHECK(compose_tool_find("relative:.:/usr/bin:/bin", "sh", path, sizeof(path)) && path[0] == '/');
	CHECK(!compose_tool_find("bin:.::", "sh", path, sizeof(path)));
	CHECK(!compose_tool_find(NULL, "sh", path, sizeof(path)));
}

static void projects_have_plain_names_and_private_folders(void)
{
	static const char *const bad[] = {"", "-x", "A", "a b", "a/b", "a\"b", "a%b"};
	char none[] = "PATH=/nowhere", *env[] = {none, NULL};
	struct compose_docker *d = NULL;
	struct error err = {0};
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(compose_docker_new("/tmp", bad[i], sv_of("{}"), env, &d, &err) < 0 &&
		      strstr(err.text, "not a name"));
	CHECK(compose_docker_new("/tmp", "fine", sv_of("{}"), env, &d, &err) < 0 && strstr(err.text, "others"));
	CHECK(compose_docker_new("tmp", "fine", sv_of("{}"), env, &d, &err) < 0);
	CHECK(d == NULL);
}

static const struct check_case cases[] = {
	CASE(the_environment_is_an_exact_list),       CASE(a_tool_has_what_it_is_given_and_no_more),
	CASE(a_tool_is_ended_with_all_it_started),    CASE(only_the_end_of_much_output_is_kept),
	CASE(tools_are_found_by_absolute_parts_only), CASE(projects_have_plain_names_and_private_folders),
};

int main(void)
{
	return check_main(cases, ARRAY_LEN(cases));
}
