/*
 * Talking to what may or may not be Docker Engine: each way in which it can fail is one line, and none takes longer
 * than its limit.
 */
#include "sandbox/docker/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"

static char folder[] = "/tmp/cordon-unit-engine.XXXXXX";
static char path[64];

/* A server of its own for each test: takes connections one after the other, reads the request up to its blank line, and
 * says one text each; then waits, or closes. */
struct server {
	pid_t pid;
};

static void serve(int listener, const char *const *texts, bool hold)
{
	char request[4096];
	size_t n;
	ssize_t r;
	int fd;

	for (; *texts; texts++) {
		fd = accept(listener, NULL, NULL);
		for (n = 0, request[0] = '\0'; !strstr(request, "\r\n\r\n") && n < sizeof(request) - 1;
		     request[n] = '\0') {
			r = read(fd, request + n, sizeof(request) - 1 - n);
			if (r <= 0)
				break;
			n += (size_t)r;
		}
		(void)!write(fd, *texts, strlen(*texts));
		if (hold)
			(void)pause();
		(void)close(fd);
	}
}

static struct server begin(const char *const *texts, bool hold)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct server s;
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)unlink(path);
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	CHECK(bind(listener, (const struct sockaddr *)&a, sizeof(a)) == 0 && listen(listener, 8) == 0);
	fflush(stdout);
	s.pid = fork();
	if (s.pid == 0) {
		(void)alarm(30);
		serve(listener, texts, hold);
		_exit(0);
	}
	(void)close(listener);
	return s;
}

static void end(struct server s)
{
	(void)kill(s.pid, SIGKILL);
	(void)waitpid(s.pid, NULL, 0);
}

#define PONG(version) "HTTP/1.1 200 OK\r\nApi-Version: " version "\r\nContent-Length: 2\r\n\r\nOK"

/* What engine_init() says where the engine says that; "": all is well. */
static const char *says(const char *text, bool hold)
{
	static struct error err;
	struct server s = begin((const char *const[]){text, NULL}, hold);
	struct engine e;
	int r;

	err = (struct error){0};
	r = engine_init(&e, path, 300, &err);
	engine_done(&e);
	end(s);
	CHECK((r < 0) == (err.text[0] != '\0'));
	return err.text;
}

static void an_engine_that_both_understand_is_taken(void)
{
	static const struct {
		const char *pong;
		unsigned want;
	} known[] = {{PONG("1.40"), 40},
		     {PONG("1.41"), 41},
		     {PONG("1.99"), ENGINE_API_MOST},
		     {PONG("1.100"), ENGINE_API_MOST}};
	struct error err = {0};
	struct engine e;
	size_t i;

	for (i = 0; i < ARRAY_LEN(known); i++) {
		struct server s = begin((const char *const[]){known[i].pong, NULL}, false);

		CHECK(engine_init(&e, path, 5000, &err) == 0);
		CHECK(e.api == known[i].want);
		engine_done(&e);
		end(s);
	}
}

static void one_that_is_too_old_or_no_engine_is_refused(void)
{
	CHECK(strstr(says(PONG("1.39"), false), "too old"));
	CHECK(strstr(says(PONG("1.4"), false), "too old"));
	CHECK(strstr(says(PONG("2.0"), false), "does not say which version"));
	CHECK(strstr(says(PONG("1."), false), "does not say which version"));
	CHECK(strstr(says(PONG("1.41x"), false), "does not say which version"));
	CHECK(strstr(says(PONG("1.99999"), false), "does not say which version"));
	CHECK(strstr(says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false), "does not say which version"));
	CHECK(strstr(says("HTTP/1.1 500 x\r\nContent-Length: 28\r\n\r\n{\"message\":\"\\u001b[31mno\\n\"}", false),
		     "\\x1b[31mno\\x0a"));
	CHECK(strstr(says("HTTP/1.1 503 x\r\nContent-Length: 4\r\n\r\noops", false), "status 503"));
}

static void garbage_silence_and_early_ends_are_one_line_each(void)
{
	CHECK(strstr(says("220 mail.example ESMTP\r\n\r\n", false), "does not speak its language"));
	CHECK(strstr(says("", false), "in the middle"));
	CHECK(strstr(says("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf", false), "in the middle"));
	CHECK(strstr(says("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", false), "too long"));
	CHECK(strstr(says("HTTP/1.1 200 OK\r\nContent-Le", true), "did not answer within"));
}

static void an_answer_that_is_whole_is_not_waited_behind(void)
{
	CHECK_STR(says(PONG("1.41"), true), "");
}

static void what_cannot_be_reached_is_said_with_what_to_do(void)
{
	struct error err = {0};
	struct engine e;
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	(void)unlink(path);
	CHECK(engine_init(&e, path, 1000, &err) < 0 && strstr(err.text, "there is no Docker Engine at"));
	engine_done(&e);
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	CHECK(bind(listener, (const struct sockaddr *)&a, sizeof(a)) == 0);
	(void)close(listener);
	CHECK(engine_init(&e, path, 1000, &err) < 0 && strstr(err.text, "nobody listens"));
	engine_done(&e);
	if (geteuid() == 0)
		return; /* root may */
	CHECK(chmod(path, 0) == 0);
	CHECK(engine_init(&e, path, 1000, &err) < 0 && strstr(err.text, "group"));
	engine_done(&e);
}

static void an_engine_that_takes_nothing_is_given_up(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	AUTO_FD listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct engine e = {.path = path, .api = 41};
	struct engine_request req = {
		.method = "POST", .path = "/images/create", .type = "application/x-tar", .timeout_ms = 300};
	struct error err = {0};
	AUTO_FREE char *large = calloc(1, 8 << 20);
	int i;

	(void)unlink(path);
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	CHECK(bind(listener, (const struct sockaddr *)&a, sizeof(a)) == 0 && listen(listener, 1) == 0);
	req.body = sv_n(large, 8 << 20);
	/* the first are in its queue, the last find it full */
	for (i = 0; i < 4; i++) {
		AUTO_ANSWER answer = {0};

		CHECK(engine_call(&e, &req, &answer, &err) < 0 && err.text[0]);
	}
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(an_engine_that_both_understand_is_taken),
		CASE(one_that_is_too_old_or_no_engine_is_refused),
		CASE(garbage_silence_and_early_ends_are_one_line_each),
		CASE(an_answer_that_is_whole_is_not_waited_behind),
		CASE(what_cannot_be_reached_is_said_with_what_to_do),
		CASE(an_engine_that_takes_nothing_is_given_up),
	};
	int failed;

	if (!mkdtemp(folder))
		return 99;
	(void)snprintf(path, sizeof(path), "%s/s", folder);
	failed = check_main(cases, ARRAY_LEN(cases));
	(void)unlink(path);
	(void)rmdir(folder);
	return failed;
}
