/* Scans where the host worked too: what it changed, made, moved or removed since the run started, and what a copy was
 * made of. */
#include "changes_tree.h"

static void what_changed_on_the_host_since_is_refused_unless_forced(void)
{
	struct changes_rules rules = {.root = "/w"};
	WORLD(w);

	put(w.lower, "quiet", "old");
	put(w.lower, "both", "old");
	put(w.lower, "folder/f", "old");
	put(w.upper, "quiet", "new");
	put(w.upper, "both", "new");
	put_whiteout(w.upper, "folder");
	CHECK(clock_gettime(CLOCK_REALTIME, &rules.started) == 0);
	(void)usleep(30000); /* the clock of the file system is coarse */
	put(w.lower, "both", "host");
	put(w.lower, "folder/since", "host");
	CHECK_LIST(scan_with(&w, CHANGES_OVERLAY, &rules),
		   "modified     both  REFUSED: changed on the host since the run started\n"
		   "deleted      folder/  REFUSED: holds something that must stay\n"
		   "deleted      folder/f\n"
		   "deleted      folder/since  REFUSED: changed on the host since the run started\n"
		   "modified     quiet\n");
	rules.force = true;
	CHECK_LIST(scan_with(&w, CHANGES_OVERLAY, &rules),
		   "modified     both\ndeleted      folder/\ndeleted      folder/f\n"
		   "deleted      folder/since\nmodified     quiet\n");
}

static void a_file_that_the_host_made_since_is_not_missing_from_a_copy(void)
{
	struct changes_rules rules = {.root = "/w"};
	struct statx x;
	WORLD(w);

	put(w.lower, "deleted", "old");
	CHECK(clock_gettime(CLOCK_REALTIME, &rules.started) == 0);
	(void)usleep(30000);
	put(w.lower, "since", "host");
	if (statx(w.lower, "since", 0, STATX_BTIME, &x) < 0 || !(x.stx_mask & STATX_BTIME)) {
		printf("# skipped: no birth times here\n");
		return;
	}
	CHECK_LIST(scan_with(&w, CHANGES_COPY, &rules), "deleted      deleted\n");
}

static void note(struct copied *c, int at, const char *path)
{
	struct sys_facts is;

	CHECK(copied_look(at, path, &is) == 0 && copied_add(c, path, &is, is.dev, 0) == 0);
}

/* What is in a folder keeps its times when that is moved. */
static void a_folder_that_the_host_moved_here_since_is_left_alone(void)
{
	struct copied copied = {0};
	struct changes_rules rules = {.root = "/w", .copied = &copied};
	WORLD(w);

	put(w.lower, "moved-in/f", "host");
	put(w.lower, "same/f", "old");
	put(w.upper, "same/f", "new");
	put(w.lower, "gone/f", "old");
	put(w.lower, "holds/moved-in/f", "host");
	put(w.lower, "replaced/f", "the host's other one");
	put(w.upper, "replaced/f", "stale");
	note(&copied, w.lower, "same");
	note(&copied, w.lower, "gone");
	note(&copied, w.lower, "holds");
	CHECK(copied_add(&copied, "replaced", &(struct sys_facts){.inode = 1}, 0, 0) == 0);
	CHECK_LIST(scan_with(&w, CHANGES_COPY, &rules),
		   "deleted      gone/\ndeleted      gone/f\n"
		   "deleted      holds/  REFUSED: holds something that must stay\n"
		   "deleted      holds/moved-in/  REFUSED: changed on the host since the run started\n"
		   "modified     replaced/  REFUSED: changed on the host since the run started\n"
		   "modified     same/f\n");
	copied_done(&copied);
}

static void nor_is_one_removed_where_nobody_knows_what_was_copied(void)
{
	struct changes_rules rules = {.root = "/w"};
	WORLD(w);

	put(w.fd, "elsewhere/f", "host");
	put(w.lower, "gone/f", "old");
	(void)usleep(30000);
	CHECK(clock_gettime(CLOCK_REALTIME, &rules.started) == 0);
	(void)usleep(30000);
	CHECK(renameat(w.fd, "elsewhere", w.lower, "moved-in") == 0);
	CHECK_LIST(scan_with(&w, CHANGES_COPY, &rules), "deleted      gone/\ndeleted      gone/f\n");
}

/* Copies lower, as a run's start does, and makes the copy the world's upper folder. */
static void copy_lower(struct world *w, struct copied *copied, struct changes_rules *rules)
{
	struct error err = {0};

	(void)usleep(30000);
	CHECK(clock_gettime(CLOCK_REALTIME, &rules->started) == 0);
	CHECK(copy_tree(w->lower, w->fd, "copy", copied, &err) == 0);
	copied_settle(copied);
	(void)close(w->upper);
	w->upper = openat(w->fd, "copy", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(w->upper >= 0);
	(void)usleep(30000);
	rules->copied = copied;
}

static void what_the_host_did_to_things_that_the_run_left_alone_is_no_change(void)
{
	struct copied copied = {0};
	struct changes_rules rules = {.root = "/w"};
	WORLD(w);

	put(w.lower, "edited", "old");
	put(w.lower, "deleted", "old");
	put(w.lower, "becomes-folder", "old");
	put(w.lower, "becomes-file/f", "old");
	put(w.lower, "gone/deep/f", "old");
	put(w.lower, "remade/f", "old");
	put(w.lower, "mode", "old");
	put_link(w.lower, "link", "edited");
	put(w.fd, "elsewhere", "the host's");
	put(w.lower, "work/f", "old");
	put(w.lower, ".cordon-apply-0123/f", "left");
	copy_lower(&w, &copied, &rules);
	CHECK(!has(w.upper, ".cordon-apply-0123"));
	put(w.lower, "edited", "host");
	CHECK(unlinkat(w.lower, "deleted", 0) == 0 && unlinkat(w.lower, "becomes-folder", 0) == 0);
	put(w.lower, "becomes-folder/f", "host");
	CHECK(names_remove_tree(w.lower, "becomes-file") == 0 && names_remove_tree(w.lower, "gone") == 0 &&
	      names_remove_tree(w.lower, "remade") == 0);
	put(w.lower, "becomes-file", "host");
	put(w.lower, "remade/f", "host");
	CHECK(fchmodat(w.lower, "mode", 0600, 0) == 0);
	CHECK(unlinkat(w.lower, "link", 0) == 0);
	put_link(w.lower, "link", "mode");
	CHECK(renameat(w.fd, "elsewhere", w.lower, "moved-in") == 0);
	put(w.upper, "work/f", "new");
	CHECK_LIST(scan_with(&w, CHANGES_COPY, &rules), "modified     work/f\n");
	rules.force = true;
	CHECK_LIST(scan_with(&w, CHANGES_COPY, &rules), "modified     work/f\n");
	copied_done(&copied);
}

static void a_folder_that_the_host_removed_while_the_run_worked_in_it_stays_away_unless_forced(void)
{
	struct copied copied = {0};
	struct changes_rules rules = {.root = "/w"};
	WORLD(w);

	put(w.lower, "gone/deep/f", "old");
	put(w.lower, "gone/deep/g", "old");
	put(w.lower, "gone/other/f", "old");
	copy_lower(&w, &copied, &rules);
	CHECK(names_remove_tree(w.lower, "gone") == 0);
	put(w.upper, "gone/deep/f", "new");
	CHECK_LIST(scan_with(&w, CHANGES_COPY, &rules),
		   "added        gone/  REFUSED: changed on the host since the run started\n");
	rules.force = true;
	CHECK_LIST(scan_with(&w, CHANGES_COPY, &rules),
		   "added        gone/\nadded        gone/deep/\nadded        gone/deep/f\n");
	copied_done(&copied);
}

/* What was moved keeps its times, and is the run's work all the same. */
static void what_the_run_moves_within_a_copy_comes_back(void)
{
	struct copied copied = {0};
	struct changes_rules rules = {.root = "/w"};
	WORLD(w);

	put(w.lower, "a/f", "1");
	put(w.lower, "b/f", "2");
	put(w.lower, "c/f", "3");
	copy_lower(&w, &copied, &rules);
	CHECK(renameat(w.upper, "a", w.upper, "new") == 0);
	CHECK(renameat(w.upper, "b", w.upper, "x") == 0 && renameat(w.upper, "c", w.upper, "b") == 0 &&
	      renameat(w.upper, "x", w.upper, "c") == 0);
	CHECK_LIST(scan_with(&w, CHANGES_COPY, &rules), "deleted      a/\ndeleted      a/f\nmodified     b/f\nmodified "
							"    c/f\nadded        new/\nadded        new/f\n");
	copied_done(&copied);
}

static void what_was_copied_is_known_in_later_commands(void)
{
	struct copied copied = {0}, again = {0};
	struct changes_rules rules = {.root = "/w"};
	WORLD(w);

	put(w.lower, "gone/deep/f", "old");
	put(w.lower, "edited", "old");
	copy_lower(&w, &copied, &rules);
	CHECK(copied_load(&again, w.state) == -ENOENT);
	CHECK(copied_store(&copied, w.state) == 0 && copied_load(&again, w.state) == 0);
	put(w.lower, "edited", "host");
	CHECK(names_remove_tree(w.lower, "gone") == 0);
	rules.copied = &again;
	CHECK_LIST(scan_with(&w, CHANGES_COPY, &rules), "");
	copied_done(&again);
	put(w.state, "copied", "damaged");
	CHECK(copied_load(&again, w.state) == -EBADMSG && again.n == 0);
	copied_done(&copied);
}

static void what_was_hidden_is_neither_missing_nor_removed(void)
{
	static const char *const hidden[] = {"/w/a", "/w/d/secret", "/w/s"};
	struct changes_rules rules = {.root = "/w", .hidden = hidden, .n_hidden = 3};
	WORLD(w);

	put(w.lower, "a", "x");
	put(w.lower, "ab", "x");
	put(w.lower, "d/secret", "x");
	put(w.lower, "s/deep/f", "x");
	put(w.upper, "s/deep/f", "made by the sandbox");
	CHECK_LIST(scan_with(&w, CHANGES_COPY, &rules),
		   "deleted      ab\n"
		   "deleted      d/  REFUSED: holds something that must stay\n"
		   "deleted      d/secret  REFUSED: was hidden from the sandbox\n"
		   "modified     s/deep/f  REFUSED: was hidden from the sandbox\n");
}

static void own(int at, const char *path, uid_t uid, gid_t gid, mode_t mode)
{
	CHECK(fchownat(at, path, uid, gid, AT_SYMLINK_NOFOLLOW) == 0 && fchmodat(at, path, mode, 0) == 0);
}

/* Root's, for a workload whose id is 7000: "group" is of another group, "shared" another's of root's group. */
static void fill_with_others(const struct world *w)
{
	put(w->lower, "mine", "x");
	put(w->lower, "private", "secret");
	put(w->lower, "public", "theirs");
	put(w->lower, "group", "mine to read");
	put(w->lower, "shared", "ours to read");
	put(w->lower, "dir/mine", "x");
	put(w->lower, "dir/theirs", "x");
	put(w->lower, "open/mine", "x");
	put(w->lower, "shut/deep", "secret");
	own(w->lower, "private", 4242, 4242, 0600);
	own(w->lower, "public", 4242, 4242, 0666);
	own(w->lower, "group", 0, 4242, 0660);
	own(w->lower, "shared", 4242, 0, 0640);
	own(w->lower, "dir/theirs", 4242, 4242, 0644);
	own(w->lower, "open", 4242, 4242, 0777);
	own(w->lower, "shut", 4242, 0, 0700);
}

static void check_given(int copy, const char *path, uid_t uid, mode_t mode, off_t size)
{
	struct stat st;

	CHECK(fstatat(copy, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == uid && st.st_gid == 7000 &&
	      (st.st_mode & 07777) == mode);
	CHECK(S_ISDIR(st.st_mode) || st.st_size == size);
}

static void what_is_somebody_elses_is_shown_to_root_as_an_id_mapped_mount_would(void)
{
	struct changes_rules rules = {.root = "/w"};
	struct copied copied = {0};
	struct error err = {0};
	WORLD(w);
	AUTO_FD copy = -1;

	if (geteuid() != 0) {
		printf("# skipped: needs root\n");
		return;
	}
	fill_with_others(&w);
	CHECK(clock_gettime(CLOCK_REALTIME, &rules.started) == 0);
	CHECK(copy_given(w.lower, w.fd, "copy", 7000, &copied, &err) == 0);
	copied_settle(&copied);
	copy = openat(w.fd, "copy", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	check_given(copy, "mine", 7000, 0644, 1);
	check_given(copy, "private", 65534, 0600, 0);
	check_given(copy, "public", 65534, 0644, 6);
	check_given(copy, "group", 65534, 0660 & ~0020, 12);
	check_given(copy, "shared", 65534, 0640, 12);
	check_given(copy, "open", 65534, 0755, 0);
	check_given(copy, "open/mine", 7000, 0644, 1);
	check_given(copy, "shut", 65534, 0700, 0);
	CHECK(!has(copy, "shut/deep"));
	rules.copied = &copied;
	(void)close(w.upper);
	w.upper = openat(w.fd, "copy", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK_LIST(scan_with(&w, CHANGES_COPY, &rules), "");
	copied_done(&copied);
}

/* All that the owner of a folder may do to names in it, whoever owns what has them. */
static void meddle(int copy)
{
	CHECK(renameat(copy, "private", copy, "moved") == 0);
	CHECK(unlinkat(copy, "public", 0) == 0);
	put(copy, "public", "mine now");
	own(copy, "public", 7000, 7000, 0644);
	CHECK(renameat(copy, "dir", copy, "dir2") == 0);
	CHECK(renameat(copy, "shut", copy, "aside") == 0);
	put(copy, "shut/new", "x");
	own(copy, "shut", 7000, 7000, 0755);
	CHECK(renameat(copy, "open", copy, "open2") == 0);
	CHECK(linkat(copy, "group", copy, "link", 0) == 0);
	put(copy, "mine", "changed");
}

static void what_is_somebody_elses_is_neither_changed_moved_nor_removed(void)
{
	struct changes_rules rules = {.root = "/w"};
	struct copied copied = {0};
	struct error err = {0};
	WORLD(w);

	if (geteuid() != 0) {
		printf("# skipped: needs root\n");
		return;
	}
	fill_with_others(&w);
	CHECK(clock_gettime(CLOCK_REALTIME, &rules.started) == 0);
	CHECK(copy_given(w.lower, w.fd, "copy", 7000, &copied, &err) == 0);
	copied_settle(&copied);
	(void)close(w.upper);
	w.upper = openat(w.fd, "copy", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	meddle(w.upper);
	rules.copied = &copied;
	rules.force = true;
	CHECK_LIST(scan_with(&w, CHANGES_COPY, &rules),
		   "added        aside/  REFUSED: belongs to somebody else\n"
		   "deleted      dir/  REFUSED: holds something that must stay\n"
		   "deleted      dir/mine\n"
		   "deleted      dir/theirs  REFUSED: belongs to somebody else\n"
		   "added        dir2/\n"
		   "added        dir2/mine\n"
		   "added        dir2/theirs  REFUSED: belongs to somebody else\n"
		   "added        link  REFUSED: belongs to somebody else\n"
		   "modified     mine\n"
		   "added        moved  REFUSED: belongs to somebody else\n"
		   "deleted      open/  REFUSED: belongs to somebody else\n"
		   "deleted      open/mine  REFUSED: is in a folder that belongs to somebody else\n"
		   "added        open2/  REFUSED: belongs to somebody else\n"
		   "added        open2/mine  REFUSED: is part of a change that is refused\n"
		   "deleted      private  REFUSED: belongs to somebody else\n"
		   "modified     public  (mode 0644, was 0666)  REFUSED: belongs to somebody else\n"
		   "deleted      shut/deep  REFUSED: is in a folder that belongs to somebody else\n"
		   "added        shut/new  REFUSED: is in a folder that belongs to somebody else\n");
	copied_done(&copied);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(what_changed_on_the_host_since_is_refused_unless_forced),
		CASE(a_file_that_the_host_made_since_is_not_missing_from_a_copy),
		CASE(a_folder_that_the_host_moved_here_since_is_left_alone),
		CASE(nor_is_one_removed_where_nobody_knows_what_was_copied),
		CASE(what_the_host_did_to_things_that_the_run_left_alone_is_no_change),
		CASE(a_folder_that_the_host_removed_while_the_run_worked_in_it_stays_away_unless_forced),
		CASE(what_the_run_moves_within_a_copy_comes_back),
		CASE(what_was_copied_is_known_in_later_commands),
		CASE(what_was_hidden_is_neither_missing_nor_removed),
		CASE(what_is_somebody_elses_is_shown_to_root_as_an_id_mapped_mount_would),
		CASE(what_is_somebody_elses_is_neither_changed_moved_nor_removed),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
