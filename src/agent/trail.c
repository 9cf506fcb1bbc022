#include "agent/trail.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "agent/files.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"

enum { LINE_MAX_BYTES = 6 * REPLY_MAX + 64 * 1024 }; /* a control character is six */

int trail_open(struct trail *t, const char *path, struct error *err)
{
	struct text_shown shown;

	*t = (struct trail){.fd = -1, .start = now_ms()};
	if (!path)
		return 0;
	files_make_folders(path);
	t->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
	return t->fd < 0 ? error_sys(err, errno, "--trajectory %s", text_show(&shown, sv_of(path))) : 0;
}

void trail_close(struct trail *t)
{
	if (t->fd >= 0)
		(void)close(t->fd);
	t->fd = -1;
}

static void begin(const struct trail *t, const char *role, struct buf *line, struct json *j)
{
	buf_init(line, LINE_MAX_BYTES);
	json_init(j, line);
	json_open(j);
	json_kint(j, "ms", now_ms() - t->start);
	json_kstr(j, "role", role);
}

static void end(const struct trail *t, struct json *j)
{
	json_close(j);
	(void)buf_char(j->out, '\n');
	if (t->fd >= 0 && buf_failed(j->out) == 0)
		(void)write_all(t->fd, j->out->p, j->out->n);
}

void trail_words(const struct trail *t, const char *role, struct sv content)
{
	AUTO_BUF line = {0};
	struct json j;

	begin(t, role, &line, &j);
	json_key(&j, "content");
	json_sv(&j, content);
	end(t, &j);
}

static void put_call(struct json *j, const struct reply_call *c)
{
	json_open(j);
	json_kstr(j, "id", c->id);
	json_kstr(j, "command", c->command);
	if (c->timeout) {
		json_key(j, "timeout");
		json_uint(j, c->timeout);
	}
	if (c->fault)
		json_kstr(j, "fault", c->fault);
	json_close(j);
}

void trail_reply(const struct trail *t, const struct reply *r)
{
	AUTO_BUF line = {0};
	struct json j;
	size_t i;

	begin(t, "assistant", &line, &j);
	json_key(&j, "content");
	json_sv(&j, r->text);
	json_key(&j, "tool_calls");
	json_list(&j);
	for (i = 0; i < r->n_calls; i++)
		put_call(&j, &r->calls[i]);
	json_end(&j);
	json_kstr(&j, "stop", r->stop);
	json_key(&j, "usage");
	json_open(&j);
	json_key(&j, "input_tokens");
	json_uint(&j, r->input);
	json_key(&j, "output_tokens");
	json_uint(&j, r->output);
	json_close(&j);
	end(t, &j);
}

void trail_result(const struct trail *t, const struct trail_result *r)
{
	AUTO_BUF line = {0}, seconds = {0};
	struct json j;

	buf_init(&seconds, 64);
	(void)buf_printf(&seconds, "%" PRId64 ".%03d", r->ms / 1000, (int)(r->ms % 1000));
	begin(t, "tool", &line, &j);
	json_kstr(&j, "id", r->id);
	json_kint(&j, "exit", r->status);
	json_kbool(&j, "timed_out", r->timed_out);
	json_key(&j, "seconds");
	json_raw(&j, buf_view(&seconds));
	json_key(&j, "output");
	json_sv(&j, r->output);
	end(t, &j);
}

void trail_update(const struct trail *t, struct sv json)
{
	AUTO_BUF line = {0};
	struct json j;

	begin(t, "update", &line, &j);
	json_key(&j, "update");
	json_raw(&j, json);
	end(t, &j);
}

void trail_end(const struct trail *t, const char *reason, const char *content, int exit_status)
{
	AUTO_BUF line = {0};
	struct json j;

	begin(t, "end", &line, &j);
	json_kstr(&j, "reason", reason);
	json_kstr(&j, "content", content);
	json_kint(&j, "exit", exit_status);
	end(t, &j);
}
