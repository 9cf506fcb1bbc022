#include "cli/launch_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

static int refuse_link(const char *option, const char *path, struct error *err)
{
	struct text_shown shown;

	return error_set(err, ERROR_USAGE,
			 "--%s %s: a folder on the way is a link, which an earlier run could have left there; name the "
			 "folder that it leads to",
			 option, text_show(&shown, sv_of(path)));
}

static int open_place(const char *option, const char *path, struct place *ret, struct error *err)
{
	int r = path ? place_open(path, ret) : 0;
	struct text_shown shown;

	if (r == -EISDIR)
		return error_set(err, ERROR_USAGE, "--%s %s: is a folder; name a file", option,
				 text_show(&shown, sv_of(path)));
	if (r == -EINVAL)
		return error_set(err, ERROR_USAGE, "--%s %s: is no regular file; name another", option,
				 text_show(&shown, sv_of(path)));
	if (r == -ELOOP)
		return refuse_link(option, path, err);
	return r < 0 ? error_sys(err, r, "--%s %s: cannot be written there", option, text_show(&shown, sv_of(path)))
		     : 0;
}

/* Their lines would come between each other. Of this process alone, so that no child keeps it; a file system that has
 * no locks is taken at its word. */
static bool is_taken(int fd)
{
	struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(fd, F_SETLK, &all) < 0 && (errno == EAGAIN || errno == EACCES);
}

static int refuse_taken(const char *path, struct error *err)
{
	struct text_shown shown;

	return error_set(err, ERROR_USAGE,
			 "--json-events %s: another run is writing its events there; give each run a file of its own",
			 text_show(&shown, sv_of(path)));
}

static int open_events(const char *path, struct error *err)
{
	/* O_NONBLOCK: an earlier run may have left a FIFO there that nobody reads. One that somebody reads is a way to
	 * look on. */
	const char *name = NULL;
	AUTO_FD dir = place_folder(path, &name);
	AUTO_FD fd =
		dir < 0 ? -1
			: openat(dir, name,
				 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	struct text_shown shown;
	struct stat st;

	if (dir < 0)
		return dir == -ELOOP ? refuse_link("json-events", path, err)
				     : error_sys(err, dir, "--json-events %s", text_show(&shown, sv_of(path)));
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && is_taken(fd))
		return refuse_taken(path, err);
	if (fd >= 0 && fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) &&
	    fcntl(fd, F_SETFL, O_APPEND) == 0)
		return fd_take(&fd);
	if (fd >= 0 || errno == ENXIO)
		return error_set(err, ERROR_USAGE, "--json-events %s: is no file, and no FIFO that somebody reads",
				 text_show(&shown, sv_of(path)));
	return error_sys(err, errno, "--json-events %s", text_show(&shown, sv_of(path)));
}

int launch_outputs_open(struct launch_outputs *o, const char *report, const char *learn, const char *events,
			struct error *err)
{
	const char *const paths[] = {events, report, learn};
	size_t i, n = 0;

	for (i = 0; i < ARRAY_LEN(paths); i++)
		if (paths[i])
			o->paths[n++] = paths[i];
	if (open_place("report", report, &o->report, err) < 0 || open_place("learn", learn, &o->learned, err) < 0)
		return -1;
	return events && (o->events = open_events(events, err)) < 0 ? -1 : 0;
}

int launch_outputs_hold(const struct launch_outputs *o, struct error *err)
{
	struct stat st;

	return o->events >= 0 && fstat(o->events, &st) == 0 && S_ISREG(st.st_mode) && is_taken(o->events)
		       ? refuse_taken(o->paths[0], err)
		       : 0;
}

void launch_outputs_done(struct launch_outputs *o)
{
	place_done(&o->report);
	place_done(&o->learned);
	if (o->events >= 0)
		(void)close(o->events);
	o->events = -1;
}
