/* supervise/copied: a folder is known again, by what no move and no mount changes. */
#include "supervise/copied.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "supervise/changes_names.h"

static struct sys_facts folder(dev_t dev, uint64_t inode, time_t born)
{
	return (struct sys_facts){.dev = dev, .inode = inode, .born = {.tv_sec = born, .tv_nsec = 7}, .folder = true};
}

static bool has(struct copied *c, const char *path, struct sys_facts is, dev_t top)
{
	return copied_has(c, path, &is, top);
}

static void add(struct copied *c, const char *path, struct sys_facts is, dev_t top)
{
	CHECK(copied_add(c, path, &is, top, 40) == 0);
}

static void a_folder_is_the_same_after_a_mount_that_gave_its_device_another_number(void)
{
	struct copied c = {0};

	add(&c, "a", folder(1, 10, 100), 1);
	CHECK(has(&c, "a", folder(1, 10, 100), 1));
	CHECK(has(&c, "a", folder(2, 10, 100), 2));
	CHECK(copied_made(&c, "a", 40) && !copied_made(&c, "a", 41));
	copied_done(&c);
}

static void a_folder_that_came_to_its_place_since_is_another_one(void)
{
	struct copied c = {0};

	add(&c, "a", folder(1, 10, 100), 1);
	CHECK(!has(&c, "a", folder(1, 11, 100), 1)); /* moved there */
	CHECK(!has(&c, "a", folder(1, 10, 101), 1)); /* made there, with a number that was free again */
	CHECK(!has(&c, "a", folder(2, 11, 100), 2));
	CHECK(!has(&c, "a", folder(2, 10, 101), 2));
	CHECK(!has(&c, "a", folder(3, 10, 100), 1)); /* mounted there */
	CHECK(!has(&c, "a", folder(3, 10, 100), 2));
	CHECK(!has(&c, "b", folder(1, 10, 100), 1));
	copied_done(&c);
}

static void a_folder_of_another_device_than_the_top_keeps_its_number_or_is_a_stranger(void)
{
	struct copied c = {0};

	add(&c, "mount", folder(5, 10, 100), 1);
	CHECK(has(&c, "mount", folder(5, 10, 100), 1));
	CHECK(!has(&c, "mount", folder(6, 10, 100), 1));
	CHECK(!has(&c, "mount", folder(2, 10, 100), 2)); /* no mount any more: what was below it */
	copied_done(&c);
}

static void without_times_of_birth_the_device_must_be_the_very_one(void)
{
	struct sys_facts is = {.dev = 1, .inode = 10}, after = {.dev = 2, .inode = 10};
	struct copied c = {0};

	add(&c, "a", is, 1);
	CHECK(has(&c, "a", is, 1) && !has(&c, "a", after, 2));
	copied_done(&c);
}

static void put(int dir, const char *path)
{
	AUTO_FD fd = openat(dir, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
}

static void names_are_noted_and_only_those_are_kept_that_a_layer_has_too(void)
{
	char host[] = "/tmp/copied-XXXXXX", layer[] = "/tmp/copied-XXXXXX";
	struct copied c = {0}, again = {0};
	AUTO_FD top = -1;
	AUTO_FD upper = -1;

	CHECK(mkdtemp(host) && mkdtemp(layer));
	top = open(host, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	upper = open(layer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(mkdirat(top, "d", 0700) == 0 && mkdirat(upper, "d", 0700) == 0 && symlinkat("/", top, "link") == 0);
	put(top, "a");
	put(top, "d/b");
	put(top, "d/c");
	put(upper, "d/b");
	put(upper, "d/new");
	CHECK(copied_note(&c, top) == 0 && c.n == 5);
	CHECK(copied_knows(&c, "a") && copied_knows(&c, "d") && copied_knows(&c, "d/c") && copied_knows(&c, "link") &&
	      !copied_knows(&c, "b"));
	CHECK(copied_narrow(&c, upper) == 0 && c.n == 2);
	CHECK(copied_knows(&c, "d") && copied_knows(&c, "d/b") && !copied_knows(&c, "d/new") && !copied_knows(&c, "a"));
	CHECK(copied_store(&c, upper) == 0 && copied_load(&again, upper) == 0 && again.n == 2 &&
	      copied_knows(&again, "d/b"));
	CHECK(!has(&again, "d", folder(0, 0, 0), 0) && !copied_made(&again, "d", 0));
	copied_done(&c);
	copied_done(&again);
	CHECK(names_remove_tree(AT_FDCWD, host) == 0 && names_remove_tree(AT_FDCWD, layer) == 0);
}

static const struct check_case cases[] = {
	CASE(names_are_noted_and_only_those_are_kept_that_a_layer_has_too),
	CASE(a_folder_is_the_same_after_a_mount_that_gave_its_device_another_number),
	CASE(a_folder_that_came_to_its_place_since_is_another_one),
	CASE(a_folder_of_another_device_than_the_top_keeps_its_number_or_is_a_stranger),
	CASE(without_times_of_birth_the_device_must_be_the_very_one),
};

int main(void)
{
	return check_main(cases, ARRAY_LEN(cases));
}
