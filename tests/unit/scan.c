/* The search for denied names, with its memory of earlier searches: nothing that the host does in between may stay
 * unseen. */
#include "plan/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "check.h"
#include "plan/scan_memory.h"

static char place[] = "/tmp/cordon-scan.XXXXXX";
static char tree[64], memory[64];

static void in_tree(char out[256], const char *name)
{
	(void)snprintf(out, 256, "%s/%.100s", tree, name);
}

static void make_file(const char *name)
{
	char path[256];
	int fd;

	in_tree(path, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && close(fd) == 0);
}

static void make_folder(const char *name)
{
	char path[256];

	in_tree(path, name);
	CHECK(mkdir(path, 0700) == 0);
}

static void move(const char *from, const char *to)
{
	char a[256], b[256];

	in_tree(a, from);
	in_tree(b, to);
	CHECK(rename(a, b) == 0);
}

/* Folders f0 to f11 with a hundred files each, and what the cases need. All of it long enough ago when the first case
 * runs. */
static void build(void)
{
	static const char *const folders[] = {"a", "a/b", "a/b/c", "with", "hidden", "twin", "loose", "locked"};
	char name[256];
	size_t i, k;

	CHECK(mkdtemp(place) != NULL);
	(void)snprintf(tree, sizeof(tree), "%s/tree", place);
	(void)snprintf(memory, sizeof(memory), "%s/memory", place);
	CHECK(mkdir(tree, 0700) == 0 && mkdir(memory, 0700) == 0);
	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		make_folder(folders[i]);
	for (i = 0; i < 12; i++) {
		(void)snprintf(name, sizeof(name), "f%zu", i);
		make_folder(name);
		for (k = 0; k < 100; k++) {
			(void)snprintf(name, sizeof(name), "f%zu/%zu", i, k);
			make_file(name);
		}
	}
	make_file("with/.env");
	make_file("loose/plain");
	(void)sleep(5);
}

static int note(void *arg, const char *path, const struct plan_guard *guard, bool on_way)
{
	struct buf *b = arg;

	(void)on_way;
	return buf_printf(b, "%s%s ", path + strlen(tree) + 1, guard->hidden ? "" : "?") < 0 ? -1 : 0;
}

/* What a search finds: names below the tree, each with a blank behind it. */
static const char *search(struct buf *found, const char *memory_dir)
{
	struct plan_guard guard = {.rule = "deny", .hidden = true};
	struct scan s = {.guards = &guard,
			 .n_guards = 1,
			 .max_entries = 100000,
			 .found = note,
			 .arg = found,
			 .memory_dir = memory_dir};
	struct error err = {0};
	uint64_t entries = 0;

	buf_clear(found);
	(void)buf_str(found, "");
	CHECK(glob_init(&guard.glob, sv_of("**/.env")) == 0);
	CHECK(scan_tree(&s, tree, tree, &entries, &err) == 0);
	CHECK(entries > 1200);
	glob_done(&guard.glob);
	return found->p;
}

/* With memory and without it the same is found. */
static bool finds(const char *name)
{
	AUTO_BUF with = {0};
	AUTO_BUF without = {0};

	buf_init(&with, 65536);
	buf_init(&without, 65536);
	(void)search(&with, memory);
	(void)search(&without, NULL);
	if (strlen(with.p) != strlen(without.p))
		printf("# with memory: %s; without: %s\n", with.p, without.p);
	return strstr(with.p, name) && strlen(with.p) == strlen(without.p);
}

static int memories(char path[256])
{
	DIR *d = opendir(memory);
	const struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d)))
		if (strncmp(e->d_name, "scan-", 5) == 0) {
			(void)snprintf(path, 256, "%s/%.100s", memory, e->d_name);
			n++;
		}
	if (d)
		(void)closedir(d);
	return n;
}

static void a_search_leaves_a_memory_that_finds_the_same(void)
{
	char path[256];

	CHECK(memories(path) == 0);
	CHECK(finds("with/.env "));
	CHECK(memories(path) == 1);
	CHECK(finds("with/.env "));
}

static void a_name_made_in_a_remembered_folder_is_found(void)
{
	make_file("f3/.env");
	CHECK(finds("f3/.env "));
}

static void a_name_made_deep_below_remembered_folders_is_found(void)
{
	make_file("a/b/c/.env");
	CHECK(finds("a/b/c/.env "));
}

static void a_name_moved_into_a_remembered_folder_is_found(void)
{
	move("loose/plain", "f4/.env");
	CHECK(finds("f4/.env "));
}

static void a_file_renamed_within_its_folder_is_found(void)
{
	move("f5/7", "f5/.env");
	CHECK(finds("f5/.env "));
}

static void a_folder_that_takes_the_place_of_a_remembered_one_is_searched(void)
{
	make_file("twin/.env");
	move("f6", "elsewhere");
	move("twin", "f6");
	CHECK(finds("f6/.env "));
	make_file("elsewhere/.env");
	CHECK(finds("elsewhere/.env "));
}

static void setting_back_the_times_of_a_folder_hides_nothing(void)
{
	struct timespec times[2];
	struct stat st;
	char path[256];

	in_tree(path, "f7");
	CHECK(stat(path, &st) == 0);
	make_file("f7/.env");
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
	CHECK(finds("f7/.env "));
}

static void a_folder_that_became_a_link_is_not_entered(void)
{
	char a[256], b[256];

	move("f8", "moved");
	in_tree(a, "moved");
	in_tree(b, "f8");
	CHECK(symlink(a, b) == 0);
	make_file("moved/.env");
	CHECK(finds("moved/.env "));
}

static void a_new_folder_is_searched_each_time(void)
{
	make_folder("young");
	CHECK(finds("with/.env "));
	make_file("young/.env");
	CHECK(finds("young/.env "));
}

static void a_folder_that_can_no_longer_be_read_is_found(void)
{
	char path[256];

	in_tree(path, "locked");
	CHECK(chmod(path, 0) == 0);
	CHECK(finds("locked "));
	CHECK(chmod(path, 0700) == 0);
}

static void a_damaged_memory_is_passed_over(void)
{
	char path[256], c = 0x55;
	struct stat st;
	int fd;

	CHECK(memories(path) == 1);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	CHECK(pwrite(fd, &c, 1, st.st_size / 2) == 1 && close(fd) == 0);
	CHECK(finds("with/.env "));
}

static void a_memory_that_others_could_have_written_is_passed_over(void)
{
	char path[256];

	CHECK(memories(path) == 1);
	CHECK(chmod(path, 0666) == 0);
	CHECK(finds("with/.env "));
}

/* The interface itself: a folder is known where it did not change, and only there. */
static bool known(const char *folder, bool clean)
{
	struct scan_seen root, f;
	struct scan_memory m;
	struct sha256 key;
	uint32_t entries = 2000;
	char path[256];
	bool r;
	int fd;

	in_tree(path, folder);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	sha256_init(&key);
	sha256_add(&key, folder, strlen(folder));
	scan_memory_init(&m, place, &key, tree);
	scan_memory_enter(&m, NULL, "", &root);
	scan_memory_enter(&m, &root, "folder", &f);
	r = scan_memory_knows(&m, &f, fd, "", &entries);
	CHECK(!r || scan_memory_was_leaf(&m, &f));
	CHECK(entries == 2000);
	scan_memory_leave(&m, &f, clean, r, entries);
	scan_memory_leave(&m, &root, true, false, 2000);
	scan_memory_done(&m, true);
	(void)close(fd);
	return r;
}

static void a_folder_is_known_where_nothing_in_it_was_found_or_changed(void)
{
	CHECK(!known("f9", true));
	CHECK(known("f9", true));
	make_file("f9/new");
	CHECK(!known("f9", true));
	CHECK(!known("f9", true)); /* still too young */
	CHECK(!known("f10", false));
	CHECK(!known("f10", true));
	CHECK(known("f10", true));
}

/* Searches for both guards, then for other names; 0 and the names in `found`, or -1. */
static int search_links(struct buf *found, uint64_t max_entries, struct error *err)
{
	struct plan_guard guards[] = {{.rule = "deny", .hidden = true}, {.rule = "protect"}};
	struct scan_links links;
	struct scan s = {
		.guards = guards, .n_guards = 2, .max_entries = 100000, .found = note, .arg = found, .links = &links};
	uint64_t entries = 0;
	int r;

	scan_links_init(&links, max_entries);
	CHECK(glob_init(&guards[0].glob, sv_of("**/vault/**")) == 0 &&
	      glob_init(&guards[1].glob, sv_of("**/hooks/**")) == 0);
	r = scan_tree(&s, tree, tree, &entries, err);
	buf_clear(found);
	(void)buf_str(found, "");
	if (r == 0)
		r = scan_other_names(&s, tree, tree, err);
	scan_links_done(&links);
	glob_done(&guards[0].glob);
	glob_done(&guards[1].glob);
	return r;
}

static void make_link(const char *from, const char *to)
{
	char a[256], b[256];

	in_tree(a, from);
	in_tree(b, to);
	CHECK(link(a, b) == 0);
}

static void other_names_of_files_below_what_is_found_are_found(void)
{
	AUTO_BUF found = {0};
	struct error err = {0};

	buf_init(&found, 65536);
	make_folder("vault");
	make_folder("vault/deep");
	make_folder("hooks");
	make_file("vault/deep/key");
	make_file("vault/alone");
	make_file("hooks/hook");
	make_file("loose/both");
	CHECK(search_links(&found, 1000, &err) == 0 && found.n == 0);
	make_link("vault/deep/key", "a/key");
	make_link("hooks/hook", "a/b/hook");
	make_link("loose/both", "loose/harmless");
	CHECK(search_links(&found, 1000, &err) == 0);
	CHECK(strstr(found.p, "a/key ") && strstr(found.p, "a/b/hook? "));
	CHECK(!strstr(found.p, "both") && !strstr(found.p, "harmless") && !strstr(found.p, "alone"));
	/* hidden under one name and protected under another: hidden */
	make_link("vault/deep/key", "hooks/key");
	CHECK(search_links(&found, 1000, &err) == 0 && strstr(found.p, "a/key "));
}

static void a_search_for_other_names_that_would_be_too_long_is_an_error(void)
{
	AUTO_BUF found = {0};
	struct error err = {0};

	buf_init(&found, 65536);
	CHECK(search_links(&found, 3, &err) < 0 && strstr(err.text, "too many files") && strstr(err.text, "deny"));
}

/* As a search that is repeated does it. */
static int search_again(struct buf *found, uint64_t max_entries, struct error *err)
{
	struct plan_guard guard = {.rule = "deny", .hidden = true};
	struct scan s = {.guards = &guard,
			 .n_guards = 1,
			 .max_entries = max_entries,
			 .found = note,
			 .arg = found,
			 .lenient = true};
	uint64_t entries = 0;
	int r;

	buf_clear(found);
	(void)buf_str(found, "");
	CHECK(glob_init(&guard.glob, sv_of("**/.env")) == 0);
	r = scan_tree(&s, tree, tree, &entries, err);
	glob_done(&guard.glob);
	return r;
}

static void a_repeated_search_that_comes_to_its_bound_says_so(void)
{
	AUTO_BUF found = {0};
	struct error err = {0};

	buf_init(&found, 65536);
	CHECK(search_again(&found, 100000, &err) == 0 && strstr(found.p, "with/.env "));
	CHECK(search_again(&found, 50, &err) < 0 && err.code == EOVERFLOW && strstr(err.text, "more than 50 entries"));
}

/* A workload makes such folders with ease. */
static void a_repeated_search_tells_of_folders_that_are_nested_too_deep(void)
{
	AUTO_BUF found = {0};
	struct error err = {0};
	char command[300];

	buf_init(&found, 65536);
	(void)snprintf(command, sizeof(command),
		       "mkdir -p '%s/nest/'$(printf 'n/%%.0s' $(seq 520)) '%s/zz' && touch '%s/zz/.env'", tree, tree,
		       tree);
	CHECK(system(command) == 0);
	CHECK(search_again(&found, 100000, &err) == 0 && strstr(found.p, "nest/n/n/") && strstr(found.p, "zz/.env "));
	(void)snprintf(command, sizeof(command), "rm -r '%s/nest' '%s/zz'", tree, tree);
	CHECK(system(command) == 0);
}

/* What lets nobody in is left alone until that changes; what may be entered, by who knows its names, is told. Root is
 * let in anywhere. */
static void a_repeated_search_tells_of_folders_that_may_be_entered_and_not_read(void)
{
	AUTO_BUF found = {0};
	struct error err = {0};
	char path[256];

	if (geteuid() == 0)
		return;
	buf_init(&found, 65536);
	make_folder("blind");
	make_file("blind/.env");
	in_tree(path, "blind");
	CHECK(chmod(path, 0300) == 0 && search_again(&found, 100000, &err) == 0 && strstr(found.p, "blind "));
	CHECK(chmod(path, 0) == 0 && search_again(&found, 100000, &err) == 0 && !strstr(found.p, "blind"));
	CHECK(chmod(path, 0700) == 0 && search_again(&found, 100000, &err) == 0 && strstr(found.p, "blind/.env "));
}

static void clean_up(void)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf -- %s", place);
	CHECK(system(command) == 0);
}

static void what_git_obeys_in_a_bare_repository_is_found(void)
{
	make_folder("bare");
	make_file("bare/HEAD");
	make_file("bare/config");
	make_folder("bare/refs");
	CHECK(!finds("bare/config? "));
	make_folder("bare/objects");
	make_folder("bare/hooks");
	CHECK(finds("bare/config? ") && finds("bare/hooks? ") && !finds("bare/HEAD"));
	make_folder("part");
	make_file("part/HEAD");
	make_file("part/commondir");
	CHECK(finds("part/commondir? "));
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_search_leaves_a_memory_that_finds_the_same),
		CASE(a_folder_is_known_where_nothing_in_it_was_found_or_changed),
		CASE(a_name_made_in_a_remembered_folder_is_found),
		CASE(a_name_made_deep_below_remembered_folders_is_found),
		CASE(a_name_moved_into_a_remembered_folder_is_found),
		CASE(a_file_renamed_within_its_folder_is_found),
		CASE(a_folder_that_takes_the_place_of_a_remembered_one_is_searched),
		CASE(setting_back_the_times_of_a_folder_hides_nothing),
		CASE(a_folder_that_became_a_link_is_not_entered),
		CASE(a_new_folder_is_searched_each_time),
		CASE(a_folder_that_can_no_longer_be_read_is_found),
		CASE(a_damaged_memory_is_passed_over),
		CASE(other_names_of_files_below_what_is_found_are_found),
		CASE(a_search_for_other_names_that_would_be_too_long_is_an_error),
		CASE(a_memory_that_others_could_have_written_is_passed_over),
		CASE(what_git_obeys_in_a_bare_repository_is_found),
		CASE(a_repeated_search_that_comes_to_its_bound_says_so),
		CASE(a_repeated_search_tells_of_folders_that_are_nested_too_deep),
		CASE(a_repeated_search_tells_of_folders_that_may_be_entered_and_not_read),
	};
	int r;

	build();
	r = check_main(cases, sizeof(cases) / sizeof(cases[0]));
	clean_up();
	return r;
}
