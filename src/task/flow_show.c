/* Files of the task as layers of its sandboxes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "sys/beneath.h"
#include "task/flow.h"
#include "task/layer.h"

/* The words that start a script of the task, which is at `inside` in the sandbox: by its first line, or by the shell
 * where it has none. */
static const char **start_script(struct flow *f, const char *staged, const char *inside)
{
	AUTO_FD fd = sys_open_beneath(f->stage, staged, O_RDONLY | O_NOFOLLOW, 0);
	const char **argv = arena_array(f->arena, 3, sizeof(*argv));
	char start[2] = "";

	if (!argv)
		return NULL;
	if (fd >= 0 && read(fd, start, 2) == 2 && memcmp(start, "#!", 2) == 0)
		argv[0] = inside;
	else {
		argv[0] = "/bin/sh";
		argv[1] = inside;
	}
	return argv;
}

static int add_folder(struct flow *f, struct image_work *to, const char *staged, const char *target)
{
	AUTO_FD layer = open(to->upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD from = sys_open_beneath(f->stage, staged, O_RDONLY | O_DIRECTORY, 0);

	if (layer < 0 || from < 0) {
		(void)error_sys(f->err, layer < 0 ? errno : from, "the staged %s", staged);
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	return layer_add_folder(layer, &f->image.ids, target, from, f->err) < 0
		       ? flow_fail(f, TASK_INFRASTRUCTURE_ERROR)
		       : 0;
}

static int add_script(struct flow *f, struct image_work *to, const char *staged, const char *target)
{
	AUTO_FD layer = open(to->upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD from = sys_open_beneath(f->stage, staged, O_RDONLY | O_NOFOLLOW, 0);

	if (layer < 0 || from < 0) {
		(void)error_sys(f->err, layer < 0 ? errno : from, "the staged %s", staged);
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	return layer_add_file(layer, &f->image.ids, target, from, 0755, f->err) < 0
		       ? flow_fail(f, TASK_INFRASTRUCTURE_ERROR)
		       : 0;
}

int flow_add_text(struct flow *f, struct image_work *to, const char *target, const char *text)
{
	AUTO_FD layer = open(to->upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (layer < 0) {
		(void)error_sys(f->err, errno, "%s", to->upper);
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	return layer_add_text(layer, &f->image.ids, target, text, strlen(text), f->err) < 0
		       ? flow_fail(f, TASK_INFRASTRUCTURE_ERROR)
		       : 0;
}

static const char *script_inside(struct flow *f, const char *folder, const char *script, const char *target)
{
	/* "tests/test.sh" below "tests" */
	if (path_is_below(script, folder))
		return arena_printf(f->arena, "%s%s", target, path_rest(script, folder));
	return arena_printf(f->arena, "%s/%s", target, strrchr(script, '/') ? strrchr(script, '/') + 1 : script);
}

static int make_executable(struct flow *f, struct image_work *to, const char *inside)
{
	AUTO_FD layer = open(to->upper, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD fd = layer < 0 ? -1 : sys_open_beneath(layer, inside + 1, O_RDONLY | O_NOFOLLOW, 0);

	if (fd < 0 || fchmod(fd, 0755) < 0) {
		(void)error_sys(f->err, fd < 0 && layer >= 0 ? fd : errno, "%s", inside);
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	return 0;
}

/* A folder of the task, under the names by which its runners show it, and a script, which need not be in it. */
int flow_show(struct flow *f, struct image_work *to, const struct flow_shown *what, const char ***ret_argv)
{
	const char *inside;
	bool outside;
	size_t i;

	for (i = 0; what->folder && what->targets[i]; i++)
		if (add_folder(f, to, what->folder, what->targets[i]) < 0)
			return -1;
	inside = script_inside(f, what->folder ? what->folder : "", what->script, what->targets[0]);
	outside = !what->folder || !path_is_below(what->script, what->folder);
	*ret_argv = inside ? start_script(f, what->script, inside) : NULL;
	if (!*ret_argv)
		return flow_no_memory(f);
	/* a script in the folder has the mode that the stage gave it, which may lack the right to execute */
	if (!outside)
		return make_executable(f, to, inside);
	return add_script(f, to, what->script, inside);
}
