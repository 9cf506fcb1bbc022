#include "task/compose_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/beneath.h"

struct looker {
	int folder;
	const char *file;
	struct task_problems *problems;
	const struct compose_service *service;
};

static void refuse(struct looker *l, const char *key, uint64_t line, const char *path, const char *what)
{
	struct text_shown file, name, shown;
	char at[256], text[1200];
	const struct task_problem p = {
		.file = text_show(&file, sv_of(l->file)), .line = (uint32_t)line, .column = 1, .key = at, .what = text};

	(void)snprintf(at, sizeof(at), "services.%.100s.%s", text_show(&name, sv_of(l->service->name)), key);
	(void)snprintf(text, sizeof(text), "\"%.800s\" %s", text_show(&shown, sv_of(path)), what);
	task_problem_add(l->problems, &p);
}

static const char *why(int error)
{
	switch (error) {
	case ENOENT:
		return "is not there";
	case ELOOP:
		return "is or goes through a link; name what it leads to";
	case ENOTDIR:
		return "goes through a file";
	default:
		return "cannot be opened";
	}
}

/* Kinds of files that may be there. */
static void look(struct looker *l, const char *key, uint64_t line, const char *path, bool file, bool folder,
		 bool missing)
{
	AUTO_FD fd = sys_open_beneath(l->folder, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;

	if (fd == -ENOENT && missing)
		return;
	if (fd < 0) {
		refuse(l, key, line, path, why(-fd));
		return;
	}
	if (fstat(fd, &st) < 0)
		refuse(l, key, line, path, "cannot be looked at");
	else if (S_ISLNK(st.st_mode))
		refuse(l, key, line, path, why(ELOOP));
	else if (!(S_ISREG(st.st_mode) && file) && !(S_ISDIR(st.st_mode) && folder))
		refuse(l, key, line, path,
		       file && folder ? "is neither a file nor a folder"
		       : file         ? "is not a file"
				      : "is not a folder");
}

static void look_at_build(struct looker *l)
{
	const struct compose_build *b = &l->service->build;
	char path[8200];

	look(l, "build.context", l->service->line, b->context, false, true, false);
	if (strcmp(b->context, ".") == 0)
		(void)snprintf(path, sizeof(path), "%s", b->dockerfile);
	else
		(void)snprintf(path, sizeof(path), "%s/%s", b->context, b->dockerfile);
	look(l, "build.dockerfile", l->service->line, path, true, false, false);
}

int compose_paths_check(const struct compose *c, int folder, const char *file, struct task_problems *problems)
{
	uint32_t i, k, before = problems->refused;

	for (i = 0; i < c->n_services; i++) {
		struct looker l = {.folder = folder, .file = file, .problems = problems, .service = &c->services[i]};

		if (l.service->build.set)
			look_at_build(&l);
		for (k = 0; k < l.service->mounts.n; k++) {
			const struct compose_mount *m = &l.service->mounts.v[k];

			if (m->kind == COMPOSE_MOUNT_TASK)
				look(&l, "volumes", m->line, m->source, true, true, !m->read_only);
		}
	}
	return (int)(problems->refused - before);
}
