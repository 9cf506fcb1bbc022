#include "cli/runs_info.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/cleanup.h"
#include "base/text.h"

/* Up to a line's length of the log, from its beginning or before its end; *ret_n bytes and a zero. */
static char *read_part(int fd, size_t want, bool last, size_t *ret_n)
{
	char *text = malloc(want + 1);
	struct stat st;
	ssize_t got = -1;

	if (text && fstat(fd, &st) == 0)
		got = pread(fd, text, want, last && (size_t)st.st_size > want ? st.st_size - (off_t)want : 0);
	if (got <= 0) {
		free(text);
		return NULL;
	}
	text[got] = '\0';
	*ret_n = (size_t)got;
	return text;
}

/* As a string; NULL where there is none. free() it. Most are short, and a large buffer takes longer than all else that
 * `cordon exec` does. */
static char *first_line(int fd)
{
	static const size_t sizes[] = {4000, AUDIT_LINE_MAX + 1};
	char *text, *end;
	size_t i, n;

	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		text = read_part(fd, sizes[i], false, &n);
		end = text ? strchr(text, '\n') : NULL;
		if (end) {
			*end = '\0';
			return text;
		}
		free(text);
	}
	return NULL;
}

static char *last_line(int fd)
{
	size_t n = 0;
	AUTO_FREE char *text = read_part(fd, AUDIT_LINE_MAX + 1, true, &n);
	char *start;

	if (!text || text[n - 1] != '\n')
		return NULL;
	text[n - 1] = '\0';
	start = strrchr(text, '\n');
	return strdup(start ? start + 1 : text);
}

static void copy_string(const json_t *o, const char *key, char *to, size_t room)
{
	const char *s = json_string_value(json_object_get(o, key));

	(void)snprintf(to, room, "%s", s ? s : "");
}

static void read_command(const json_t *list, struct buf *out)
{
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		const json_t *word = json_array_get(list, i);

		if (i)
			(void)buf_char(out, ' ');
		if (json_is_string(word))
			text_escape(out, sv_n(json_string_value(word), json_string_length(word)), 512);
	}
}

static void read_start(struct run_info *info, const json_t *o)
{
	info->started_ms = json_integer_value(json_object_get(o, "time"));
	info->pid = (int)json_integer_value(json_object_get(o, "pid"));
	copy_string(o, "policy", info->policy, sizeof(info->policy));
	copy_string(o, "workdir", info->workdir, sizeof(info->workdir));
	copy_string(o, "workdir_mode", info->workdir_mode, sizeof(info->workdir_mode));
	copy_string(o, "image", info->image, sizeof(info->image));
	copy_string(o, "runtime", info->runtime, sizeof(info->runtime));
	copy_string(o, "kind", info->kind, sizeof(info->kind));
	copy_string(o, "owner", info->owner, sizeof(info->owner));
	read_command(json_object_get(o, "command"), &info->command);
}

static void read_exit(struct run_info *info, const json_t *o)
{
	const char *event = json_string_value(json_object_get(o, "event"));

	if (!event || strcmp(event, "exit") != 0)
		return;
	info->ended = true;
	info->ended_ms = json_integer_value(json_object_get(o, "time"));
	info->exit = (int)json_integer_value(json_object_get(o, "exit"));
}

int run_info_read(const struct state *s, bool running, struct run_info *ret, struct error *err)
{
	AUTO_FREE char *first = first_line(s->lock);
	AUTO_FREE char *last = running ? NULL : last_line(s->lock);
	json_t *start = first ? json_loads(first, JSON_REJECT_DUPLICATES, NULL) : NULL;
	json_t *end = last ? json_loads(last, JSON_REJECT_DUPLICATES, NULL) : NULL;

	if (!start)
		return error_set(err, ERROR_INPUT, "%s: its log has no first line; it never started", s->id);
	*ret = (struct run_info){.running = running};
	buf_init(&ret->command, 8192);
	read_start(ret, start);
	if (end)
		read_exit(ret, end);
	json_decref(start);
	json_decref(end);
	return 0;
}

void run_info_done(struct run_info *info)
{
	buf_done(&info->command);
}

bool run_info_failed(const char *root, const char *id)
{
	struct error ignored = {0};
	struct run_info info = {0};
	struct state s;
	bool running, failed;

	if (state_open(root, id, &s, &running, &ignored) < 0)
		return false;
	failed = !running && run_info_read(&s, running, &info, &ignored) == 0 && info.kind[0] && info.ended &&
		 info.exit == 125;
	run_info_done(&info);
	state_done(&s);
	return failed;
}

const char *run_info_status(const struct run_info *info, char room[32])
{
	if (info->running)
		return "running";
	if (!info->ended)
		return "killed";
	(void)snprintf(room, 32, "exited %d", info->exit);
	return room;
}

const char *run_age(char room[32], int64_t ms)
{
	static const struct {
		int64_t below, unit;
		char letter;
	} units[] = {{120, 1, 's'}, {7200, 60, 'm'}, {172800, 3600, 'h'}, {INT64_MAX, 86400, 'd'}};
	int64_t s = ms / 1000;
	size_t i = 0;

	while (s >= units[i].below)
		i++;
	(void)snprintf(room, 32, "%lld%c", (long long)(s / units[i].unit), units[i].letter);
	return room;
}
