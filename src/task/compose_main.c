#include "task/compose_main.h"

#include <string.h>

const struct compose_service compose_main_none = {.name = "main",
						  .image = "",
						  .platform = "",
						  .build = {.context = "", .dockerfile = "", .target = ""},
						  .working_dir = "",
						  .user = "",
						  .hostname = "",
						  .network_service = "",
						  .stop_signal = ""};

static bool is_built(const struct task *t, const char *runner, const struct compose_service *s)
{
	if (s->build.set || !t->files.dockerfile)
		return s->build.set;
	return t->format != TASK_TERMINAL || !s->image[0] || strcmp(s->image, runner) == 0;
}

void compose_main_choose(const struct task *t, const char *runner, struct compose_service *s)
{
	if (t->environment.docker_image.s) {
		s->image = t->environment.docker_image.s;
		s->build = compose_main_none.build;
	} else if (is_built(t, runner, s) && !s->build.set) {
		s->build =
			(struct compose_build){.set = true, .context = ".", .dockerfile = "Dockerfile", .target = ""};
	}
}
