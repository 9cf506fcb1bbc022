/* task/volume_copy: what of a volume is copied, and what is too much. The whole way is in tests/task/volumes.sh. */
#include "task/volume_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "image/ids.h"
#include "sys/tree.h"

struct place {
	char path[64], layer[96];
	int top, volume, upper, never;
	struct image_ids ids;
};

static int folder(const struct place *p, const char *name)
{
	int fd = mkdirat(p->top, name, 0755) == 0 ? openat(p->top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	CHECK(fd >= 0 && fchown(fd, p->ids.zero_uid, p->ids.zero_gid) == 0);
	return fd;
}

static void begin(struct place *p)
{
	struct error err = {0};
	int pipe_ends[2] = {-1, -1};

	*p = (struct place){.path = "/var/tmp/cordon-volume.XXXXXX"};
	CHECK(image_ids_of_user(&p->ids, &err) == 0 && mkdtemp(p->path) != NULL && pipe2(pipe_ends, O_CLOEXEC) == 0);
	p->top = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	p->volume = folder(p, "volume");
	p->upper = folder(p, "upper");
	(void)close(folder(p, "layer"));
	(void)snprintf(p->layer, sizeof(p->layer), "%s/layer", p->path);
	p->never = pipe_ends[0]; /* the other end stays open */
}

static void end(struct place *p)
{
	sys_empty_tree(p->top);
	CHECK(rmdir(p->path) == 0);
}

static int copy(const struct place *p, uint64_t limit)
{
	const char *const layers[] = {p->layer, NULL};
	const struct volume_copy v = {.volume = p->volume,
				      .upper = p->upper,
				      .target = "/data",
				      .layers = layers,
				      .ids = &p->ids,
				      .limit = limit,
				      .stop = &p->never};
	struct error err = {0};
	int r = volume_copy(&v, &err);

	if (r < 0)
		printf("# %s\n", err.text);
	return r;
}

static void names_without_bytes_are_too_much_as_well(void)
{
	struct place p;
	char name[32];
	unsigned i;

	begin(&p);
	for (i = 0; i < 500; i++) {
		(void)snprintf(name, sizeof(name), "f%u", i);
		AUTO_FD fd = openat(p.volume, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

		CHECK(fd >= 0 && fchown(fd, p.ids.zero_uid, p.ids.zero_gid) == 0);
	}
	CHECK(copy(&p, 64 << 10) == VOLUME_TOO_LARGE);
	CHECK(faccessat(p.upper, "data", F_OK, AT_SYMLINK_NOFOLLOW) < 0);
	CHECK(copy(&p, 4 << 20) == VOLUME_COPIED);
	CHECK(faccessat(p.upper, "data/f499", F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	end(&p);
}

int main(void)
{
	static const struct check_case cases[] = {CASE(names_without_bytes_are_too_much_as_well)};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
