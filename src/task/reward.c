#include "task/reward.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "conf/parse_role.h"
#include "sys/beneath.h"

enum { ANSWER_MAX = REWARD_KEYS_MAX * (REWARD_KEY_MAX + 32) + 64 };

/* 1: read; 0: there is none. */
static int read_file(int folder, const char *name, struct buf *to, struct error *err)
{
	AUTO_FD fd = sys_open_beneath(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st;
	int r;

	if (fd == -ENOENT)
		return 0;
	if (fd == -ELOOP)
		return error_set(err, ERROR_INPUT, "%s: a symbolic link, not a file", name);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, ERROR_INPUT, "%s: cannot be opened", name);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_INPUT, "%s: not a regular file", name);
	if (st.st_nlink != 1)
		return error_set(err, ERROR_INPUT, "%s: has a further name (hard link)", name);
	r = st.st_size > REWARD_FILE_MAX ? -EFBIG : buf_read_fd(to, fd);
	if (r == -EFBIG)
		return error_set(err, ERROR_INPUT, "%s: more than %d bytes", name, REWARD_FILE_MAX);
	return r < 0 ? error_sys(err, r, "%s", name) : 1;
}

static int ask(struct buf *question, struct arena *a, struct reward *ret, struct error *err)
{
	static const struct parse_role role = {.what = "the reward", .parse = reward_parse};
	AUTO_BUF answer = {0};
	int r;

	buf_init(&answer, ANSWER_MAX);
	if (buf_failed(question))
		return error_sys(err, buf_failed(question), "reward");
	if (parse_role_run(&role, buf_view(question), &answer, err) < 0)
		return -1;
	r = reward_decode(buf_view(&answer), a, ret);
	if (r == -EBADMSG)
		return error_set(err, ERROR_INPUT, "the reward could not be parsed safely");
	return r < 0 ? error_sys(err, r, "reward") : 0;
}

int reward_read(int folder, double low, double high, struct arena *a, struct reward *ret, struct error *err)
{
	AUTO_BUF text = {0};
	AUTO_BUF json = {0};
	AUTO_BUF question = {0};
	struct reward_files files = {.low = low, .high = high};
	struct sv text_view, json_view;
	int has_text, has_json;

	buf_init(&text, REWARD_FILE_MAX);
	buf_init(&json, REWARD_FILE_MAX);
	buf_init(&question, 2 * REWARD_FILE_MAX + 64);
	has_text = read_file(folder, "reward.txt", &text, err);
	has_json = has_text < 0 ? -1 : read_file(folder, "reward.json", &json, err);
	if (has_text < 0 || has_json < 0)
		return -1;
	text_view = buf_view(&text);
	json_view = buf_view(&json);
	files.text = has_text ? &text_view : NULL;
	files.json = has_json ? &json_view : NULL;
	reward_ask(&files, &question);
	return ask(&question, a, ret, err);
}

/* ask_of puts the question that fits the output's form. */
static int read_output(int output, void (*ask_of)(struct sv output, struct buf *out), struct arena *a,
		       struct reward *ret, struct error *err)
{
	AUTO_BUF text = {0};
	AUTO_BUF question = {0};
	int r;

	buf_init(&text, REWARD_OUTPUT_MAX);
	buf_init(&question, REWARD_OUTPUT_MAX + 64);
	if (lseek(output, 0, SEEK_SET) < 0)
		return error_sys(err, errno, "the tests' output");
	r = buf_read_fd(&text, output);
	if (r == -EFBIG)
		return error_set(err, ERROR_INPUT, "the tests printed more than %d MiB", REWARD_OUTPUT_MAX >> 20);
	if (r < 0)
		return error_sys(err, r, "the tests' output");
	ask_of(buf_view(&text), &question);
	return ask(&question, a, ret, err);
}

int reward_read_pytest(int output, bool well, struct arena *a, struct reward *ret, struct error *err)
{
	return read_output(output, well ? reward_ask_pytest : reward_ask_pytest_last, a, ret, err);
}

int reward_read_swebench(int output, struct arena *a, struct reward *ret, struct error *err)
{
	return read_output(output, reward_ask_swebench, a, ret, err);
}
