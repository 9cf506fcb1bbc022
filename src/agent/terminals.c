#include "agent/terminals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/params.h"
#include "agent/spawn.h"
#include "base/cleanup.h"
#include "base/json.h"

enum { READ_SIZE = 64 * 1024, RESULT_MAX = 6 * TERMINAL_OUTPUT_MAX + 4096 };

static struct terminal *find(struct terminals *t, const struct json_scan *s, uint32_t params)
{
	uint32_t id = params_get(s, params, "terminalId");
	struct sv text = id && json_scan_kind(s, id) == SCAN_STRING ? json_scan_text(s, id) : sv_of("");
	char name[16];
	unsigned i;

	for (i = 0; i < TERMINALS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "t%u", t->v[i].number);
		if (t->v[i].used && sv_is(text, name))
			return &t->v[i];
	}
	return NULL;
}

static int not_found(struct rpc *r, struct sv id)
{
	return rpc_error(r, id, RPC_NOT_FOUND, "there is no such terminal");
}

static char **words(const struct json_scan *s, const char *command, uint32_t args, struct arena *a)
{
	static const char *const shell[] = {"/bin/sh", "-c"};
	bool list = args && json_scan_kind(s, args) == SCAN_ARRAY && json_scan_first(s, args);
	uint32_t i;
	size_t n = 0;
	char **v = arena_array(a, list ? s->v[args].next - args + 2 : 4, sizeof(*v));

	/* agents give a whole command line where there are no arguments */
	for (i = 0; v && !list && i < ARRAY_LEN(shell); i++)
		v[n++] = arena_str(a, sv_of(shell[i]));
	if (v)
		v[n++] = arena_str(a, sv_of(command));
	for (i = v && list ? json_scan_first(s, args) : 0; i; i = json_scan_after(s, args, i)) {
		const char *word = params_string(s, i, a);

		if (!word)
			return NULL;
		v[n++] = arena_str(a, sv_of(word));
	}
	return v && !arena_failed(a) ? v : NULL;
}

/* This program's variables and those of the request, of which the last of a name counts. NULL: they are malformed. */
static char **variables(const struct json_scan *s, uint32_t list, struct arena *a)
{
	size_t n = 0, k, count = list && json_scan_kind(s, list) == SCAN_ARRAY ? s->v[list].next - list : 0;
	uint32_t i;
	char **v;

	for (k = 0; environ[k]; k++)
		;
	v = arena_array(a, k + count + 1, sizeof(*v));
	for (k = 0; v && environ[k]; k++)
		v[n++] = environ[k];
	for (i = v && count ? json_scan_first(s, list) : 0; i; i = json_scan_after(s, list, i)) {
		const char *name = params_string(s, params_get(s, i, "name"), a),
			   *value = params_string(s, params_get(s, i, "value"), a);
		size_t length = name ? strlen(name) : 0;

		if (!name || !value || !length || strchr(name, '='))
			return NULL;
		for (k = 0; k < n && (strncmp(v[k], name, length) != 0 || v[k][length] != '='); k++)
			;
		v[k] = arena_printf(a, "%s=%s", name, value);
		if (!v[k])
			return NULL;
		n += k == n;
	}
	return v;
}

static int start(struct terminals *t, struct terminal *to, const struct json_scan *s, uint32_t params, struct arena *a)
{
	const char *command = params_string(s, params_get(s, params, "command"), a);
	uint64_t limit = params_count(s, params_get(s, params, "outputByteLimit"), TERMINAL_OUTPUT_MAX);
	struct spawn how = {
		.mask = t->mask, .cwd = params_string(s, params_get(s, params, "cwd"), a), .in = -1, .err = -1};
	int r;

	how.argv = command && command[0] ? words(s, command, params_get(s, params, "args"), a) : NULL;
	how.env = variables(s, params_get(s, params, "env"), a);
	if (!how.argv || !how.env)
		return -EINVAL;
	r = clip_init(&to->output, 0, limit < TERMINAL_OUTPUT_MAX ? (size_t)limit : TERMINAL_OUTPUT_MAX);
	if (r < 0)
		return r;
	to->pid = spawn(&how, &to->fd);
	if (to->pid < 0) {
		clip_done(&to->output);
		return (int)to->pid;
	}
	to->number = ++t->last;
	to->used = true;
	return 0;
}

int terminals_create(struct terminals *t, struct rpc *r, const struct json_scan *s, uint32_t params, struct sv id)
{
	struct terminal made = {.fd = -1};
	struct arena *a = arena_new();
	char text[64];
	unsigned i;
	int e = -ENOMEM;

	for (i = 0; i < TERMINALS_MAX && t->v[i].used; i++)
		;
	if (i == TERMINALS_MAX)
		e = -EMFILE;
	else if (a)
		e = start(t, &made, s, params, a);
	arena_free(a);
	if (e == -EINVAL)
		return rpc_error(r, id, RPC_BAD_PARAMS, "command, args, env or cwd cannot be used");
	if (e < 0) {
		(void)snprintf(text, sizeof(text), "it cannot be started: %s", strerror(-e));
		return rpc_error(r, id, RPC_FAILED, text);
	}
	t->v[i] = made;
	(void)snprintf(text, sizeof(text), "{\"terminalId\":\"t%u\"}", made.number);
	return rpc_result(r, id, sv_of(text));
}

static void put_status(struct json *j, const struct terminal *t)
{
	const char *name = WIFSIGNALED(t->status) ? sigabbrev_np(WTERMSIG(t->status)) : NULL;
	char text[32];

	json_key(j, "exitCode");
	if (WIFEXITED(t->status))
		json_int(j, WEXITSTATUS(t->status));
	else
		json_none(j);
	(void)snprintf(text, sizeof(text), "SIG%s", name ? name : "");
	json_kstr(j, "signal", WIFSIGNALED(t->status) ? text : NULL);
}

static int tell_end(const struct terminal *t, struct rpc *r, struct sv id)
{
	AUTO_BUF out = {0};
	struct json j;

	buf_init(&out, 256);
	json_init(&j, &out);
	json_open(&j);
	put_status(&j, t);
	json_close(&j);
	return rpc_result(r, id, buf_view(&out));
}

int terminals_output(struct terminals *t, struct rpc *r, const struct json_scan *s, uint32_t params, struct sv id)
{
	const struct terminal *of = find(t, s, params);
	AUTO_BUF out = {0}, text = {0};
	struct json j;

	if (!of)
		return not_found(r, id);
	buf_init(&out, RESULT_MAX);
	buf_init(&text, TERMINAL_OUTPUT_MAX + 64);
	clip_text(&of->output, &text);
	json_init(&j, &out);
	json_open(&j);
	json_key(&j, "output");
	json_sv(&j, buf_view(&text));
	json_kbool(&j, "truncated", clip_is_cut(&of->output));
	if (of->over) {
		json_key(&j, "exitStatus");
		json_open(&j);
		put_status(&j, of);
		json_close(&j);
	}
	json_close(&j);
	return buf_failed(&out) ? rpc_error(r, id, RPC_FAILED, "out of memory") : rpc_result(r, id, buf_view(&out));
}

int terminals_wait(struct terminals *t, struct rpc *r, const struct json_scan *s, uint32_t params, struct sv id)
{
	struct terminal *of = find(t, s, params);
	char *copy;

	if (!of)
		return not_found(r, id);
	if (of->over)
		return tell_end(of, r, id);
	copy = of->n_waits < TERMINAL_WAITS_MAX ? strndup(id.p, id.n) : NULL;
	if (!copy)
		return rpc_error(r, id, RPC_FAILED, "it is waited for too often");
	of->waits[of->n_waits++] = copy;
	return 0;
}

static void end_command(const struct terminal *t)
{
	if (!t->over)
		(void)kill(-t->pid, SIGKILL);
}

int terminals_kill(struct terminals *t, struct rpc *r, const struct json_scan *s, uint32_t params, struct sv id)
{
	const struct terminal *of = find(t, s, params);

	if (!of)
		return not_found(r, id);
	end_command(of);
	return rpc_result(r, id, sv_of("{}"));
}

static void drop(struct terminal *t)
{
	while (t->n_waits)
		free(t->waits[--t->n_waits]);
	clip_done(&t->output);
	if (t->fd >= 0)
		(void)close(t->fd);
	*t = (struct terminal){.fd = -1};
}

static int tell_waiting(struct terminal *t, struct rpc *r)
{
	int e = 0;

	while (t->n_waits) {
		AUTO_FREE char *id = t->waits[--t->n_waits];
		int told = tell_end(t, r, sv_of(id));

		e = e ? e : told;
	}
	return e;
}

/* Whoever waits for it must hear of its end, so that is waited for: it was killed. */
int terminals_release(struct terminals *t, struct rpc *r, const struct json_scan *s, uint32_t params, struct sv id)
{
	struct terminal *of = find(t, s, params);
	int e;

	if (!of)
		return not_found(r, id);
	end_command(of);
	if (!of->over)
		while (waitpid(of->pid, &of->status, 0) < 0 && errno == EINTR)
			;
	of->over = true;
	e = tell_waiting(of, r);
	drop(of);
	return e ? e : rpc_result(r, id, sv_of("{}"));
}

unsigned terminals_poll(const struct terminals *t, struct pollfd *p)
{
	unsigned i, n = 0;

	for (i = 0; i < TERMINALS_MAX; i++)
		if (t->v[i].used && t->v[i].fd >= 0)
			p[n++] = (struct pollfd){.fd = t->v[i].fd, .events = POLLIN};
	return n;
}

static void take_output(struct terminal *t)
{
	char bytes[READ_SIZE];
	unsigned i;
	ssize_t n;

	for (i = 0; i < 16 && t->fd >= 0; i++) {
		n = read(t->fd, bytes, sizeof(bytes));
		if (n > 0)
			clip_add(&t->output, sv_n(bytes, (size_t)n));
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			(void)close(fd_take(&t->fd));
		else
			return;
	}
}

int terminals_serve(struct terminals *t, struct rpc *r)
{
	struct terminal *of;
	unsigned i;
	int e = 0;

	for (i = 0; i < TERMINALS_MAX; i++) {
		of = &t->v[i];
		if (!of->used)
			continue;
		if (!of->over && waitpid(of->pid, &of->status, WNOHANG) == of->pid)
			of->over = true;
		take_output(of);
		if (of->over) {
			int told = tell_waiting(of, r);

			if (of->fd >= 0)
				(void)close(fd_take(&of->fd));
			e = e ? e : told;
		}
	}
	return e;
}

void terminals_done(struct terminals *t)
{
	unsigned i;

	for (i = 0; i < TERMINALS_MAX; i++)
		if (t->v[i].used) {
			end_command(&t->v[i]);
			drop(&t->v[i]);
		}
}
