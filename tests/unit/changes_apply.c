/* Bringing changes back: completely, or not at all, whenever it is interrupted. */
#include "changes_tree.h"
#include "supervise/changes_journal.h"

/* One of every kind of change. */
static void fill(const struct world *w)
{
	put(w->lower, "same", "text");
	put(w->lower, "modified", "old\n");
	put(w->upper, "modified", "new\n");
	put_mode(w->lower, "mode", "x", 0644);
	put_mode(w->upper, "mode", "x", 0755);
	put(w->lower, "gone", "x");
	put_whiteout(w->upper, "gone");
	put(w->lower, "gone-folder/a/b", "x");
	put_mode(w->lower, "gone-folder/c", "x", 0400);
	put_whiteout(w->upper, "gone-folder");
	put(w->upper, "new/deep/file", "x");
	put_folder(w->upper, "new/closed", 0555);
	put_folder(w->upper, "new-closed", 0555);
	put_folder(w->upper, "new/sticky", 01777);
	put_link(w->upper, "new/link", "deep/file");
	put(w->lower, "folder/kept", "x");
	put(w->upper, "folder/added", "x");
	CHECK(fchmodat(w->upper, "folder", 0700, 0) == 0);
	put_link(w->lower, "link", "same");
	put_link(w->upper, "link", "modified");
	put(w->lower, "was-folder/a/b", "x");
	put(w->upper, "was-folder", "x");
	put(w->lower, "was-file", "x");
	put(w->upper, "was-file/a/b", "x");
	put_folder(w->lower, "closes", 0755);
	put(w->upper, "closes/f", "x");
	CHECK(fchmodat(w->upper, "closes", 0555, 0) == 0);
	put(w->upper, "one-name", "linked");
	CHECK(linkat(w->upper, "one-name", w->upper, "other-name", 0) == 0 &&
	      linkat(w->upper, "one-name", w->upper, "new/third-name", 0) == 0);
	put(w->lower, "shut/old", "x");
	put(w->lower, "shut/gone", "x");
	CHECK(fchmodat(w->lower, "shut", 0555, 0) == 0);
	put(w->upper, "shut/old", "new");
	put(w->upper, "shut/added", "x");
	put_whiteout(w->upper, "shut/gone");
	CHECK(fchmodat(w->upper, "shut", 0555, 0) == 0);
	put(w->lower, "shuts-more/old", "x");
	CHECK(fchmodat(w->lower, "shuts-more", 0555, 0) == 0);
	put(w->upper, "shuts-more/added", "x");
	CHECK(fchmodat(w->upper, "shuts-more", 0500, 0) == 0);
}

static char *expected(void)
{
	WORLD(w);

	put(w.lower, "same", "text");
	put(w.lower, "modified", "new\n");
	put_mode(w.lower, "mode", "x", 0755);
	put(w.lower, "new/deep/file", "x");
	put_folder(w.lower, "new/closed", 0555);
	put_folder(w.lower, "new-closed", 0555);
	put_folder(w.lower, "new/sticky", 01777);
	put_link(w.lower, "new/link", "deep/file");
	put(w.lower, "folder/kept", "x");
	put(w.lower, "folder/added", "x");
	CHECK(fchmodat(w.lower, "folder", 0700, 0) == 0);
	put_link(w.lower, "link", "modified");
	put(w.lower, "was-folder", "x");
	put(w.lower, "was-file/a/b", "x");
	put(w.lower, "closes/f", "x");
	CHECK(fchmodat(w.lower, "closes", 0555, 0) == 0);
	put(w.lower, "one-name", "linked");
	put(w.lower, "other-name", "linked");
	put(w.lower, "new/third-name", "linked");
	put(w.lower, "shut/old", "new");
	put(w.lower, "shut/added", "x");
	CHECK(fchmodat(w.lower, "shut", 0555, 0) == 0);
	put(w.lower, "shuts-more/old", "x");
	put(w.lower, "shuts-more/added", "x");
	CHECK(fchmodat(w.lower, "shuts-more", 0500, 0) == 0);
	return snap(w.lower, 0);
}

static void every_kind_of_change_comes_back(void)
{
	AUTO_FREE char *want = expected();
	WORLD(w);

	fill(&w);
	CHECK(apply(&w, scan(&w, CHANGES_OVERLAY)) == 0);
	CHECK_SNAP(w.lower, want);
	CHECK(is_tidy(&w));
	CHECK_LIST(scan(&w, CHANGES_OVERLAY), "");
}

static void an_ordinary_user_can_do_it_too_child(struct world *w)
{
	AUTO_FREE char *want = expected();

	fill(w);
	put_folder(w->lower, "gone-closed", 0755);
	put(w->lower, "gone-closed/f", "x");
	CHECK(fchmodat(w->lower, "gone-closed", 0555, 0) == 0);
	put_whiteout(w->upper, "gone-closed");
	CHECK(apply(w, scan(w, CHANGES_OVERLAY)) == 0);
	CHECK_SNAP(w->lower, want);
	CHECK(is_tidy(w));
}

static int as_nobody(void *ctx)
{
	struct world w;

	if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
		return SKIP;
	w = world_new();
	((void (*)(struct world *))ctx)(&w);
	world_done(&w);
	return 0;
}

static void run_as_nobody(void (*f)(struct world *))
{
	int r = in_child(as_nobody, (void *)f);

	CHECK(r == 0 || r == SKIP);
}

static void an_ordinary_user_can_do_it_too(void)
{
	run_as_nobody(an_ordinary_user_can_do_it_too_child);
}

static void one_refused_change_holds_back_all(void)
{
	struct error err = {0};
	AUTO_FREE char *before = NULL;
	WORLD(w);

	put(w.lower, "a", "old");
	put(w.upper, "a", "new");
	put_link(w.upper, "out", "/etc");
	before = snap(w.lower, 0);
	CHECK(apply_with(&w, scan(&w, CHANGES_OVERLAY), NULL, &err) == -1 && err.kind == ERROR_DENIED);
	CHECK_STR(err.text, "1 of 2 changes are refused, and nothing was applied; out is a link to an absolute path");
	CHECK_SNAP(w.lower, before);
	CHECK(is_tidy(&w));
}

static void the_good_ones_come_back_when_asked_for(void)
{
	struct changes_apply_options o = {.skip_refused = true};
	struct error err = {0};
	WORLD(w);

	put(w.lower, "a", "old");
	put(w.upper, "a", "new");
	put_link(w.upper, "out", "/etc");
	put(w.upper, "d/good", "x");
	put_mode(w.upper, "d/setuid", "x", 04755);
	put(w.upper, "bad\n/f", "x");
	put(w.lower, "t/keep", "x");
	CHECK(mkfifoat(w.upper, "t", 0600) == 0);
	CHECK(apply_with(&w, scan(&w, CHANGES_OVERLAY), &o, &err) == 0);
	CHECK(has(w.lower, "d/good") && !has(w.lower, "d/setuid") && !has(w.lower, "out") && !has(w.lower, "bad\n"));
	CHECK(has(w.lower, "t/keep") && is_tidy(&w));
}

static void nothing_but_bytes_modes_and_targets_is_taken_over(void)
{
	char name[64] = "";
	AUTO_FD fd = -1;
	WORLD(w);

	put(w.upper, "f", "x");
	(void)put_attribute(w.upper, "f", "user.overlay.origin", "x");
	(void)put_attribute(w.upper, "f", "user.mine", "x");
	(void)put_attribute(w.upper, "f", "security.capability", "\1\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
	CHECK(apply(&w, scan(&w, CHANGES_OVERLAY)) == 0);
	fd = openat(w.lower, "f", O_RDONLY | O_CLOEXEC);
	CHECK(flistxattr(fd, name, sizeof(name)) == 0);
}

static ino_t number_of(int at, const char *path)
{
	struct stat st = {0};

	CHECK(fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW) == 0);
	return st.st_ino;
}

static void names_of_one_file_stay_that_where_all_come_back(void)
{
	struct changes_apply_options o = {.skip_refused = true};
	struct error err = {0};
	WORLD(w);

	put(w.upper, "f", "x");
	put(w.lower, "old", "old");
	CHECK(mkdirat(w.upper, "d", 0755) == 0 && linkat(w.upper, "f", w.upper, "d/g", 0) == 0 &&
	      linkat(w.upper, "f", w.upper, "g", 0) == 0 && linkat(w.upper, "f", w.upper, "old", 0) == 0 &&
	      linkat(w.upper, "f", w.upper, "bad\n", 0) == 0);
	put(w.upper, "d/one", "z");
	CHECK(linkat(w.upper, "d/one", w.upper, "d/two", 0) == 0);
	put(w.lower, "unchanged", "y");
	put(w.upper, "unchanged", "y");
	CHECK(linkat(w.upper, "unchanged", w.upper, "added", 0) == 0);
	CHECK(apply_with(&w, scan(&w, CHANGES_OVERLAY), &o, &err) == 0 && is_tidy(&w));
	CHECK(number_of(w.lower, "d/one") == number_of(w.lower, "d/two") &&
	      number_of(w.lower, "g") == number_of(w.lower, "old"));
	/* what is moved would seem to change below a folder */
	CHECK(number_of(w.lower, "f") == number_of(w.lower, "g") &&
	      number_of(w.lower, "f") != number_of(w.lower, "d/g"));
	CHECK(!has(w.lower, "bad\n") && number_of(w.lower, "added") != number_of(w.lower, "unchanged"));
}

static void a_change_to_one_name_of_a_file_leaves_its_other_names_alone(void)
{
	struct stat st;
	AUTO_BUF b;
	WORLD(w);

	buf_init(&b, 100);
	put(w.lower, "a", "x");
	CHECK(linkat(w.lower, "a", w.lower, "b", 0) == 0 && linkat(w.lower, "a", w.lower, "c", 0) == 0 &&
	      linkat(w.lower, "a", w.lower, "d", 0) == 0);
	put_mode(w.upper, "a", "x", 0755);
	put(w.upper, "b", "y");
	put_whiteout(w.upper, "c");
	CHECK(apply(&w, scan(&w, CHANGES_OVERLAY)) == 0);
	CHECK(fstatat(w.lower, "a", &st, 0) == 0 && (st.st_mode & 0777) == 0755);
	CHECK(fstatat(w.lower, "d", &st, 0) == 0 && (st.st_mode & 0777) == 0644);
	read_text(w.lower, "d", &b);
	CHECK_STR(b.p, "x");
}

static void files_belong_to_the_owner_of_the_work_folder(void)
{
	static const char *const made[] = {"f", "d", "d/f", "d/l", "modified"};
	struct stat st;
	size_t i;
	WORLD(w);

	if (geteuid() != 0) {
		printf("# skipped: needs root\n");
		return;
	}
	put(w.lower, "modified", "old");
	CHECK(fchown(w.lower, 4242, 4343) == 0 && fchownat(w.lower, "modified", 4242, 4343, 0) == 0);
	put(w.upper, "f", "x");
	put(w.upper, "d/f", "x");
	put_link(w.upper, "d/l", "f");
	put(w.upper, "modified", "new");
	for (i = 0; i < ARRAY_LEN(made); i++)
		CHECK(fchownat(w.upper, made[i], 1000000, 1000000, AT_SYMLINK_NOFOLLOW) == 0);
	CHECK(apply(&w, scan(&w, CHANGES_OVERLAY)) == 0);
	for (i = 0; i < ARRAY_LEN(made); i++) {
		CHECK(fstatat(w.lower, made[i], &st, AT_SYMLINK_NOFOLLOW) == 0);
		CHECK(st.st_uid == 4242 && st.st_gid == 4343);
	}
}

/* What is the owner's, in a folder that is not, stays his: it does not become that of the folder's owner. */
static void what_is_changed_keeps_its_owner_wherever_it_is(void)
{
	struct stat st;
	WORLD(w);

	if (geteuid() != 0) {
		printf("# skipped: needs root\n");
		return;
	}
	put(w.lower, "theirs/mine", "old");
	CHECK(fchownat(w.lower, "theirs", 5252, 5353, 0) == 0);
	put(w.upper, "theirs/mine", "new");
	CHECK(apply(&w, scan(&w, CHANGES_OVERLAY)) == 0);
	CHECK(fstatat(w.lower, "theirs/mine", &st, 0) == 0 && st.st_uid == 0 && st.st_gid == 0 && st.st_size == 3);
}

static void set_time(int at, const char *path, time_t when)
{
	struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when, .tv_nsec = 123456789}};

	CHECK(utimensat(at, path, times, AT_SYMLINK_NOFOLLOW) == 0);
}

static struct timespec time_of(int at, const char *path)
{
	struct stat st = {0};

	CHECK(fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW) == 0);
	return st.st_mtim;
}

static void what_comes_back_has_the_times_that_it_had(void)
{
	static const char *const paths[] = {"changed", "new", "d/f", "d/l", "d", "closed/f", "closed"};
	struct timespec is;
	size_t i;
	WORLD(w);

	put(w.lower, "changed", "old");
	put(w.upper, "changed", "new");
	put(w.upper, "new", "x");
	put(w.upper, "d/f", "x");
	put_link(w.upper, "d/l", "f");
	put(w.upper, "closed/f", "x");
	for (i = 0; i < ARRAY_LEN(paths); i++)
		set_time(w.upper, paths[i], 1000000000 + (time_t)i);
	CHECK(fchmodat(w.upper, "closed", 0555, 0) == 0);
	CHECK(apply(&w, scan(&w, CHANGES_OVERLAY)) == 0);
	for (i = 0; i < ARRAY_LEN(paths); i++) {
		is = time_of(w.lower, paths[i]);
		CHECK(is.tv_sec == 1000000000 + (time_t)i && is.tv_nsec == 123456789);
	}
}

/* A time to come would make an apply that is undone take it for the host's work, and keep it. */
static void a_time_that_is_yet_to_come_is_now(void)
{
	enum changes_recovered way = RECOVERED_NOTHING;
	struct at_step s = {.at = -1, .kill_at = -1};
	struct error err = {0};
	int n, steps;
	WORLD(w);

	put(w.upper, "late", "x");
	set_time(w.upper, "late", 4000000000);
	CHECK(attempt(&(struct attempt){&w, &s}) == 0);
	CHECK(time_of(w.lower, "late").tv_sec <= time(NULL));
	for (n = 0, steps = s.seen; n < steps; n++) {
		struct at_step at = {.at = n, .kill_at = n};
		WORLD(v);

		put(v.lower, "changed", "old");
		put(v.upper, "changed", "new");
		put(v.upper, "late", "x");
		set_time(v.upper, "late", 4000000000);
		set_time(v.upper, "changed", 4000000000);
		(void)in_child(attempt, &(struct attempt){&v, &at});
		CHECK(changes_recover(v.lower, v.state, &way, &err) == 0 && way != RECOVERED_KEPT);
		CHECK(is_tidy(&v));
	}
}

static void a_folder_with_setgid_hands_it_down(void)
{
	struct stat st;
	WORLD(w);

	put_folder(w.lower, "shared", 02775);
	put_folder(w.upper, "shared", 02775);
	put(w.upper, "shared/d/f", "x");
	CHECK(apply(&w, scan(&w, CHANGES_OVERLAY)) == 0);
	CHECK(fstatat(w.lower, "shared/d", &st, 0) == 0 && (st.st_mode & 07777) == 02755);
	CHECK(fstatat(w.lower, "shared", &st, 0) == 0 && (st.st_mode & 07777) == 02775);
}

static void holes_stay_holes(void)
{
	AUTO_FD fd = -1;
	struct stat st;
	AUTO_BUF b;
	WORLD(w);

	buf_init(&b, 100);
	fd = openat(w.upper, "sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	CHECK(pwrite(fd, "end", 3, (off_t)1 << 36) == 3 && pwrite(fd, "mid", 3, 1 << 20) == 3);
	CHECK(ftruncate(fd, ((off_t)1 << 36) + (1 << 20)) == 0);
	CHECK(apply(&w, scan(&w, CHANGES_OVERLAY)) == 0);
	CHECK(fstatat(w.lower, "sparse", &st, 0) == 0 && st.st_size == ((off_t)1 << 36) + (1 << 20) &&
	      st.st_blocks < 1000);
}

static int count_steps(void)
{
	struct at_step s = {.at = -1, .kill_at = -1};
	WORLD(w);

	fill(&w);
	CHECK(attempt(&(struct attempt){&w, &s}) == 0);
	return s.seen;
}

static void a_failure_at_any_step_leaves_all_as_it_was(void)
{
	int n, steps = count_steps(), done = 0, r;
	AUTO_FREE char *want = expected();

	CHECK(steps > 20);
	for (n = 0; n < steps && !check_failures; n++) {
		struct at_step s = {.at = n, .code = -EIO, .kill_at = -1};
		AUTO_FREE char *before = NULL;
		WORLD(w);

		fill(&w);
		before = snap(w.lower, 0);
		r = attempt(&(struct attempt){&w, &s});
		CHECK(r == 0 || r == 10);
		CHECK_SNAP(w.lower, r ? before : want);
		CHECK(is_tidy(&w));
		done += r == 0;
	}
	CHECK(done == 2); /* what fails behind the commit fails no more */
}

/* The world of an apply that was killed: recovers, and then applies for good. */
static void recover_and_check(struct world *w, const char *before, const char *want, int n)
{
	enum changes_recovered way = RECOVERED_NOTHING;
	struct error err = {0};

	if (changes_recover(w->lower, w->state, &way, &err) < 0)
		printf("# step %d: recover: %s\n", n, err.text);
	CHECK(way != RECOVERED_NOTHING);
	CHECK_SNAP(w->lower, way == RECOVERED_FORWARD ? want : before);
	CHECK(is_tidy(w));
	CHECK(changes_recover(w->lower, w->state, &way, &err) == 0 && way == RECOVERED_NOTHING);
	CHECK(apply(w, scan(w, CHANGES_OVERLAY)) == 0);
	CHECK_SNAP(w->lower, want);
}

static void a_kill_at_any_step_is_recovered_from(void)
{
	AUTO_FREE char *want = expected();
	int n, steps = count_steps();

	for (n = 0; n < steps && !check_failures; n++) {
		struct at_step s = {.at = n, .kill_at = -1};
		AUTO_FREE char *before = NULL;
		WORLD(w);

		fill(&w);
		before = snap(w.lower, 0);
		CHECK(in_child(attempt, &(struct attempt){&w, &s}) == 128 + SIGKILL);
		recover_and_check(&w, before, want, n);
	}
}

static void a_kill_while_undoing_is_recovered_from(void)
{
	AUTO_FREE char *want = expected();
	int n, k, r, steps = count_steps();

	for (n = steps / 2; n < steps && !check_failures; n += 4) {
		for (k = n + 1, r = 128 + SIGKILL; r == 128 + SIGKILL && !check_failures; k += 3) {
			struct at_step s = {.at = n, .code = -EIO, .kill_at = k};
			AUTO_FREE char *before = NULL;
			WORLD(w);

			fill(&w);
			before = snap(w.lower, 0);
			r = in_child(attempt, &(struct attempt){&w, &s});
			if (r == 128 + SIGKILL)
				recover_and_check(&w, before, want, n);
		}
	}
}

static int without_flags(void *ctx)
{
	(void)ctx;
	if (!break_call(SYS_renameat2, 4, EINVAL))
		return SKIP;
	every_kind_of_change_comes_back();
	a_failure_at_any_step_leaves_all_as_it_was();
	a_kill_at_any_step_is_recovered_from();
	return 0;
}

static void file_systems_that_cannot_exchange_files_are_good_enough(void)
{
	int r = in_child(without_flags, NULL);

	if (r == SKIP)
		printf("# skipped: no seccomp here\n");
	else
		CHECK(r == 0);
}

static void an_interrupted_apply_must_be_ended_first(void)
{
	struct at_step s = {.at = 12, .kill_at = -1};
	enum changes_recovered way;
	struct error err = {0};
	AUTO_FD other = -1;
	WORLD(w);

	fill(&w);
	CHECK(in_child(attempt, &(struct attempt){&w, &s}) == 128 + SIGKILL);
	CHECK(apply_with(&w, scan(&w, CHANGES_OVERLAY), NULL, &err) == -1 && strstr(err.text, "interrupted"));
	/* Another run's journal says nothing of it. */
	other = open_folder(w.fd, "state2");
	CHECK(changes_recover(w.lower, other, &way, &err) == 0 && way == RECOVERED_NOTHING);
	/* Nor is a journal good for another folder. */
	CHECK(changes_recover(w.upper, w.state, &way, &err) == -1 && strstr(err.text, "another folder"));
	CHECK(changes_recover(w.lower, w.state, &way, &err) == 0 && way == RECOVERED_BACK && is_tidy(&w));
}

/* The world's state becomes that of a run of its own, as `cordon` keeps them. */
static void make_run(struct world *w, const char *id)
{
	char log[64];

	(void)close(w->state);
	(void)snprintf(log, sizeof(log), "runs/%s/audit.jsonl", id);
	put(w->fd, log, "{}");
	log[strlen("runs/") + strlen(id)] = '\0';
	w->state = openat(w->fd, log, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(w->state >= 0);
}

static void what_a_killed_apply_left_is_ended_by_whoever_comes_next(void)
{
	struct at_step s = {.at = 25, .kill_at = -1};
	struct changes_others others;
	enum changes_recovered way;
	AUTO_FREE char *before = NULL;
	struct error err = {0};
	char root[PATH_MAX];
	WORLD(w);

	fill(&w);
	make_run(&w, "0000000b");
	make_run(&w, "0000000a");
	(void)snprintf(root, sizeof(root), "%s/runs", w.dir);
	before = snap(w.lower, 0);
	CHECK(in_child(attempt, &(struct attempt){&w, &s}) == 128 + SIGKILL);
	CHECK(has(w.state, "apply.journal"));
	CHECK(changes_recover_others(w.lower, root, &others, &err) == 0);
	CHECK(others.back == 1 && others.failed == 0 && others.unknown == 0);
	CHECK_SNAP(w.lower, before);
	CHECK(!has(w.state, "apply.journal"));
	/* and by its own journal alone, wherever the caller stands */
	CHECK(in_child(attempt, &(struct attempt){&w, &s}) == 128 + SIGKILL);
	CHECK(changes_recover_any(w.state, &way, &err) == 0 && way == RECOVERED_BACK);
	CHECK_SNAP(w.lower, before);
	/* not in another folder that has come to stand there */
	CHECK(in_child(attempt, &(struct attempt){&w, &s}) == 128 + SIGKILL);
	CHECK(renameat(w.fd, "lower", w.fd, "moved") == 0 && mkdirat(w.fd, "lower", 0755) == 0);
	CHECK(changes_recover_any(w.state, &way, &err) == 0 && way == RECOVERED_LOST);
	CHECK(has(w.state, "apply.journal"));
	CHECK(unlinkat(w.fd, "lower", AT_REMOVEDIR) == 0 && renameat(w.fd, "moved", w.fd, "lower") == 0);
	CHECK(changes_recover_any(w.state, &way, &err) == 0 && way == RECOVERED_BACK);
	CHECK_SNAP(w.lower, before);
}

static int move_staging(int from, int to)
{
	AUTO_NAMES names = {0};
	size_t budget = CHANGES_ENTRIES, i;

	CHECK(names_read(&names, from, &budget) == 0);
	for (i = 0; i < names.n; i++)
		if (strncmp(names.v[i], CHANGES_STAGING, strlen(CHANGES_STAGING)) == 0)
			return renameat(from, names.v[i], to, "staging");
	return -1;
}

/* As a mount after a power failure does. */
static void device_has_another_number(int state)
{
	struct arena *arena = arena_new();
	struct journal j;

	CHECK(journal_load(state, arena, &j) == 1);
	j.dev ^= 0x100;
	CHECK(journal_store(state, &j) == 0);
	arena_free(arena);
}

static void an_interrupted_apply_is_undone_when_the_device_has_another_number(void)
{
	struct at_step s = {.at = 25, .kill_at = -1};
	enum changes_recovered way;
	AUTO_FREE char *before = NULL;
	struct error err = {0};
	WORLD(w);

	fill(&w);
	before = snap(w.lower, 0);
	CHECK(in_child(attempt, &(struct attempt){&w, &s}) == 128 + SIGKILL);
	device_has_another_number(w.state);
	CHECK(changes_recover_any(w.state, &way, &err) == 0 && way == RECOVERED_BACK);
	CHECK_SNAP(w.lower, before);
	/* but never in a folder that does not hold what was put aside, whatever its number is */
	CHECK(in_child(attempt, &(struct attempt){&w, &s}) == 128 + SIGKILL);
	device_has_another_number(w.state);
	CHECK(move_staging(w.lower, w.fd) == 0);
	CHECK(changes_recover_any(w.state, &way, &err) == 0 && way == RECOVERED_LOST);
}

static void names_that_only_look_like_left_overs_are_left_alone_and_in_nobodys_way(void)
{
	struct changes_others others;
	struct error err = {0};
	char root[PATH_MAX];
	WORLD(w);

	make_run(&w, "0000000a");
	(void)snprintf(root, sizeof(root), "%s/runs", w.dir);
	put(w.fd, "elsewhere/f", "outside");
	put(w.lower, CHANGES_STAGING "0123/0", "forged");
	put(w.lower, CHANGES_STAGING "0123/apply.journal", "forged");
	put(w.lower, CHANGES_STAGING "file", "forged");
	put_link(w.lower, CHANGES_STAGING "link", "../elsewhere");
	put(w.upper, "new", "x");
	CHECK(changes_recover_others(w.lower, root, &others, &err) == 0);
	CHECK(others.back + others.kept + others.forward + others.failed == 0 && others.unknown == 3);
	CHECK(apply(&w, scan(&w, CHANGES_OVERLAY)) == 0 && has(w.lower, "new"));
	CHECK(has(w.lower, CHANGES_STAGING "0123/0") && has(w.lower, CHANGES_STAGING "file") &&
	      has(w.fd, "elsewhere/f"));
}

static void a_damaged_journal_is_not_believed(void)
{
	struct at_step s = {.at = 25, .kill_at = -1};
	enum changes_recovered way;
	struct error err = {0};
	AUTO_BUF b;
	WORLD(w);

	buf_init(&b, 1 << 20);
	fill(&w);
	CHECK(in_child(attempt, &(struct attempt){&w, &s}) == 128 + SIGKILL);
	read_text(w.state, "apply.journal", &b);
	b.p[b.n / 2] ^= 1;
	put_bytes(w.state, "apply.journal", buf_view(&b), 0600);
	CHECK(changes_recover(w.lower, w.state, &way, &err) == -1 && err.code == EBADMSG);
	b.p[b.n / 2] ^= 1;
	put_bytes(w.state, "apply.journal", buf_view(&b), 0600);
	CHECK(changes_recover(w.lower, w.state, &way, &err) == 0 && way == RECOVERED_BACK);
}

static void a_journal_in_the_work_folder_means_nothing(void)
{
	enum changes_recovered way;
	struct error err = {0};
	WORLD(w);

	put(w.lower, CHANGES_STAGING "0123/apply.journal", "forged");
	CHECK(changes_recover(w.lower, w.state, &way, &err) == 0 && way == RECOVERED_NOTHING);
	CHECK(has(w.lower, CHANGES_STAGING "0123/apply.journal"));
}

static void folders_that_are_opened_for_a_moment_are_shut_again_child(struct world *w)
{
	(void)w;
	a_failure_at_any_step_leaves_all_as_it_was();
	a_kill_at_any_step_is_recovered_from();
	a_kill_while_undoing_is_recovered_from();
}

/* For root none needs to be opened. */
static void folders_that_are_opened_for_a_moment_are_shut_again(void)
{
	run_as_nobody(folders_that_are_opened_for_a_moment_are_shut_again_child);
}

static int full_disk(void *ctx)
{
	struct world *w = ctx, w2 = *w;
	static char block[1 << 20];
	struct error err = {0};
	AUTO_FREE char *before = NULL;

	if (!enter_namespaces() || chdir(w->dir) < 0 || mount("tmpfs", "merged", "tmpfs", 0, "size=512k") < 0)
		return SKIP;
	w2.lower = open("merged", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	memset(block, 'x', sizeof(block));
	put(w2.lower, "a", "old");
	put(w2.upper, "a", "new");
	put_bytes(w2.upper, "big", sv_n(block, sizeof(block)), 0644);
	before = snap(w2.lower, 0);
	CHECK(apply_with(&w2, scan(&w2, CHANGES_OVERLAY), NULL, &err) == -1 && err.code == ENOSPC);
	CHECK_SNAP(w2.lower, before);
	CHECK(is_tidy(&w2));
	return 0;
}

static void a_full_disk_undoes_all(void)
{
	int r;
	WORLD(w);

	r = in_child(full_disk, &w);
	if (r == SKIP)
		printf("# skipped: no user namespaces here\n");
	else
		CHECK(r == 0);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(every_kind_of_change_comes_back),
		CASE(an_ordinary_user_can_do_it_too),
		CASE(one_refused_change_holds_back_all),
		CASE(the_good_ones_come_back_when_asked_for),
		CASE(nothing_but_bytes_modes_and_targets_is_taken_over),
		CASE(names_of_one_file_stay_that_where_all_come_back),
		CASE(a_change_to_one_name_of_a_file_leaves_its_other_names_alone),
		CASE(files_belong_to_the_owner_of_the_work_folder),
		CASE(what_is_changed_keeps_its_owner_wherever_it_is),
		CASE(what_comes_back_has_the_times_that_it_had),
		CASE(a_time_that_is_yet_to_come_is_now),
		CASE(a_folder_with_setgid_hands_it_down),
		CASE(holes_stay_holes),
		CASE(a_failure_at_any_step_leaves_all_as_it_was),
		CASE(a_kill_at_any_step_is_recovered_from),
		CASE(a_kill_while_undoing_is_recovered_from),
		CASE(file_systems_that_cannot_exchange_files_are_good_enough),
		CASE(an_interrupted_apply_must_be_ended_first),
		CASE(what_a_killed_apply_left_is_ended_by_whoever_comes_next),
		CASE(names_that_only_look_like_left_overs_are_left_alone_and_in_nobodys_way),
		CASE(a_damaged_journal_is_not_believed),
		CASE(an_interrupted_apply_is_undone_when_the_device_has_another_number),
		CASE(a_journal_in_the_work_folder_means_nothing),
		CASE(folders_that_are_opened_for_a_moment_are_shut_again),
		CASE(a_full_disk_undoes_all),
	};

	/* Hundreds of applies that sync: memory is fast enough for that everywhere. */
	if (access("/dev/shm", W_OK | X_OK) == 0)
		(void)setenv("TMPDIR", "/dev/shm", 0);
	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
