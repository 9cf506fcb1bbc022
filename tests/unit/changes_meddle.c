/* Bringing changes back while somebody else works in the same folder: the host, the run itself, another apply. */
#include <sys/file.h>

#include "changes_tree.h"

/* Does something to the work folder or to upper when a certain step is reached. */
struct meddler {
	const struct world *w;
	int at, seen;
	void (*meddle)(const struct world *w);
};

static int meddle_at(void *ctx)
{
	struct meddler *m = ctx;

	if (m->seen++ == m->at)
		m->meddle(m->w);
	return 0;
}

static void host_writes_file(const struct world *w)
{
	put(w->lower, "z/modified", "by the host");
}

static void host_fills_folder(const struct world *w)
{
	put(w->lower, "z/gone/since", "by the host");
}

static void host_takes_name(const struct world *w)
{
	put(w->lower, "z/new", "by the host");
}

static void host_swaps_folder_for_link(const struct world *w)
{
	put(w->fd, "elsewhere/modified", "outside");
	put(w->fd, "elsewhere/gone/f", "outside");
	CHECK(names_remove_tree(w->lower, "z") == 0);
	put_link(w->lower, "z", "../elsewhere");
}

static void what_the_host_changes_meanwhile_is_kept(void)
{
	static void (*const meddlers[])(const struct world *) = {host_writes_file, host_fills_folder, host_takes_name,
								 host_swaps_folder_for_link};
	size_t i;
	int at, refused;

	for (i = 0; i < ARRAY_LEN(meddlers); i++) {
		for (at = 0, refused = 0; at < 8; at++) {
			struct error err = {0};
			WORLD(w);
			struct meddler m = {.w = &w, .at = at, .meddle = meddlers[i]};
			struct changes_apply_options o = {.step = meddle_at, .ctx = &m};

			put(w.lower, "z/modified", "old");
			put(w.lower, "z/gone/f", "old");
			put(w.upper, "z/modified", "new");
			put(w.upper, "z/new", "new");
			put_whiteout(w.upper, "z/gone");
			put(w.upper, "a", "new");
			if (apply_with(&w, scan(&w, CHANGES_OVERLAY), &o, &err) == 0)
				continue; /* it came too late to matter */
			refused++;
			CHECK(is_tidy(&w));
			CHECK(err.kind == ERROR_DENIED || err.kind == ERROR_SYSTEM);
			CHECK(has(w.lower, "z/modified") || meddlers[i] == host_swaps_folder_for_link);
			if (meddlers[i] == host_swaps_folder_for_link) {
				AUTO_BUF b;

				buf_init(&b, 100);
				read_text(w.fd, "elsewhere/modified", &b);
				CHECK_STR(b.p, "outside");
				CHECK(has(w.fd, "elsewhere/gone/f") && !has(w.fd, "elsewhere/new"));
			}
		}
		CHECK(refused > 0);
	}
}

/* The host works on what an apply has just brought, or is about to put back; then the apply fails. */
static void host_removes_new(const struct world *w)
{
	(void)unlinkat(w->lower, "a", 0);
}

static void host_saves_file(const struct world *w)
{
	put(w->lower, "z/.save", "by the host");
	CHECK(renameat(w->lower, "z/.save", w->lower, "z/modified") == 0);
}

static void host_removes_all(const struct world *w)
{
	CHECK(names_remove_tree(w->lower, "z") == 0);
}

static void host_works_in_new_folder(const struct world *w)
{
	put(w->lower, "y/more/f", "by the host");
}

static void host_makes_what_went(const struct world *w)
{
	put(w->lower, "z/gone/f", "by the host");
}

/* A file with this content is in the snapshot. */
static bool holds_text(const char *snap, const char *text)
{
	char hex[2 * SHA256_SIZE + 1];

	sha256_hex_of(sv_of(text), hex);
	return strstr(snap, hex);
}

struct failing {
	struct meddler m;
	int fail_at;
};

static int meddle_and_fail(void *ctx)
{
	struct failing *f = ctx;
	int now = f->m.seen;

	(void)meddle_at(&f->m);
	return now == f->fail_at ? -EIO : 0;
}

static void an_apply_that_fails_while_the_host_works_there_leaves_nothing_behind_and_loses_nothing(void)
{
	static const struct {
		void (*meddle)(const struct world *);
		const char *keeps;
	} hosts[] = {{host_removes_new, NULL},
		     {host_saves_file, "by the host"},
		     {host_writes_file, "by the host"},
		     {host_removes_all, NULL},
		     {host_works_in_new_folder, "by the host"},
		     {host_makes_what_went, "by the host"}};
	size_t i;
	int at, later, failed = 0;

	for (i = 0; i < ARRAY_LEN(hosts); i++) {
		for (at = 0; at < 16; at++) {
			for (later = 1; later < 6 && !check_failures; later++) {
				struct error err = {0};
				AUTO_FREE char *after = NULL;
				WORLD(w);
				struct failing f = {.m = {.w = &w, .at = at, .meddle = hosts[i].meddle},
						    .fail_at = at + later};
				struct changes_apply_options o = {.step = meddle_and_fail, .ctx = &f};

				put(w.lower, "z/modified", "precious");
				put(w.lower, "z/gone/f", "old");
				put(w.upper, "z/modified", "new");
				put(w.upper, "y/more/g", "new");
				put_whiteout(w.upper, "z/gone");
				put(w.upper, "a", "new");
				if (apply_with(&w, scan(&w, CHANGES_OVERLAY), &o, &err) == 0)
					continue;
				failed++;
				CHECK(is_tidy(&w));
				if (f.m.seen <= at)
					continue;
				after = snap(w.lower, 0);
				CHECK(!hosts[i].keeps || holds_text(after, hosts[i].keeps));
				if (check_failures)
					printf("# host %zu at %d, failed %d later: %s\n%s\n", i, at, later, err.text,
					       after);
			}
		}
	}
	CHECK(failed > 100);
}

/* The same, where the apply was killed in between. */
static void what_the_host_did_after_a_killed_apply_is_not_undone_with_it(void)
{
	struct at_step s = {.kill_at = -1};
	enum changes_recovered way;
	struct error err = {0};
	int kept = 0;

	for (s.at = 0; s.at < 14 && !check_failures; s.at++) {
		AUTO_FREE char *after = NULL;
		WORLD(w);

		s.seen = 0;
		put(w.lower, "z/modified", "precious");
		put(w.upper, "z/modified", "new");
		put(w.upper, "y/more/g", "new");
		if (in_child(attempt, &(struct attempt){&w, &s}) != 128 + SIGKILL)
			break;
		(void)usleep(30000);
		put(w.lower, "z/modified", "mine");
		put(w.lower, "y/more/f", "too");
		CHECK(changes_recover(w.lower, w.state, &way, &err) == 0);
		CHECK(is_tidy(&w));
		after = snap(w.lower, 0);
		CHECK(holds_text(after, "mine") && holds_text(after, "too"));
		kept += way == RECOVERED_KEPT;
	}
	CHECK(kept > 0);
}

static void upper_grows(const struct world *w)
{
	put(w->upper, "b", "grown");
}

static void upper_becomes_link(const struct world *w)
{
	CHECK(unlinkat(w->upper, "b", 0) == 0);
	put_link(w->upper, "b", "/etc/passwd");
}

static void upper_that_changes_after_the_verdict_is_not_applied(void)
{
	static void (*const meddlers[])(const struct world *) = {upper_grows, upper_becomes_link};
	size_t i;

	for (i = 0; i < ARRAY_LEN(meddlers); i++) {
		struct error err = {0};
		WORLD(w);
		struct meddler m = {.w = &w, .at = 1, .meddle = meddlers[i]};
		struct changes_apply_options o = {.step = meddle_at, .ctx = &m};

		put(w.upper, "a", "x");
		put(w.upper, "b", "x");
		CHECK(apply_with(&w, scan(&w, CHANGES_OVERLAY), &o, &err) == -1);
		CHECK(strstr(err.text, "b changed while it was copied"));
		CHECK(!has(w.lower, "a") && !has(w.lower, "b") && is_tidy(&w));
	}
}

static int fail_on_second_lock(void *ctx)
{
	const struct world *w = ctx;
	struct error err = {0};
	enum changes_recovered way;

	CHECK(changes_recover(w->lower, w->state, &way, &err) == -1 && strstr(err.text, "another apply"));
	return 0;
}

static void meddle_with_lock(const struct world *w)
{
	struct world copy = *w;

	CHECK(in_child(fail_on_second_lock, &copy) == 0);
}

static void two_applies_exclude_each_other(void)
{
	WORLD(w);
	struct meddler m = {.w = &w, .at = 2, .meddle = meddle_with_lock};
	struct changes_apply_options o = {.step = meddle_at, .ctx = &m};
	struct error err = {0};

	put(w.upper, "a", "x");
	CHECK(apply_with(&w, scan(&w, CHANGES_OVERLAY), &o, &err) == 0);
	CHECK(m.seen > 2);
}

static void nobody_in_the_folder_can_hold_the_lock(void)
{
	WORLD(w);
	AUTO_FD theirs = openat(w.lower, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct error err = {0};

	CHECK(theirs >= 0 && flock(theirs, LOCK_EX) == 0);
	put(w.upper, "a", "x");
	CHECK(apply_with(&w, scan(&w, CHANGES_OVERLAY), NULL, &err) == 0 && is_tidy(&w));
}

/* What the guard of another sandbox lets pass: it sees no refs in the folder yet. */
static void neighbour_makes_the_rest_of_a_repository(const struct world *w)
{
	if (has(w->lower, "x/refs"))
		return;
	put_folder(w->lower, "x/objects", 0755);
	put(w->lower, "x/HEAD", "ref: refs/heads/main\n");
}

static void no_repository_comes_about_together_with_a_neighbour(void)
{
	int at, refused = 0;

	for (at = 0; at < 8; at++) {
		struct error err = {0};
		WORLD(w);
		struct meddler m = {.w = &w, .at = at, .meddle = neighbour_makes_the_rest_of_a_repository};
		struct changes_apply_options o = {.step = meddle_at, .ctx = &m};

		put_folder(w.lower, "x", 0755);
		put_folder(w.upper, "x/refs", 0755);
		put(w.upper, "x/config", "[core]\n");
		if (apply_with(&w, scan(&w, CHANGES_OVERLAY), &o, &err) < 0)
			refused++;
		CHECK(is_tidy(&w));
		CHECK(!has(w.lower, "x/refs") || !has(w.lower, "x/HEAD"));
	}
	CHECK(refused > 0 && refused < 8);
}

/* As another sandbox may, which holds the folder and sees nothing in it yet that would make it a repository. */
static void neighbour_renames_the_work_folder(const struct world *w)
{
	(void)renameat(w->fd, "lower", w->fd, ".git");
}

static void nothing_comes_to_a_folder_that_is_renamed_meanwhile(void)
{
	int at, refused = 0;

	for (at = 0; at < 8; at++) {
		struct error err = {0};
		WORLD(w);
		struct meddler m = {.w = &w, .at = at, .meddle = neighbour_renames_the_work_folder};
		char name[PATH_MAX];
		struct changes_apply_options o = {.step = meddle_at, .ctx = &m, .name = name};

		(void)snprintf(name, sizeof(name), "%s/lower", w.dir);
		put(w.upper, "config", "[core]\n");
		put(w.upper, "hooks/pre-commit", "#!/bin/sh\n");
		if (apply_with(&w, scan(&w, CHANGES_OVERLAY), &o, &err) < 0) {
			refused++;
			CHECK(err.code == ESTALE && !has(w.lower, "config") && !has(w.lower, "hooks"));
		}
		CHECK(is_tidy(&w));
		(void)renameat(w.fd, ".git", w.fd, "lower");
	}
	CHECK(refused > 0 && refused < 8);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(what_the_host_changes_meanwhile_is_kept),
		CASE(an_apply_that_fails_while_the_host_works_there_leaves_nothing_behind_and_loses_nothing),
		CASE(what_the_host_did_after_a_killed_apply_is_not_undone_with_it),
		CASE(upper_that_changes_after_the_verdict_is_not_applied),
		CASE(two_applies_exclude_each_other),
		CASE(nobody_in_the_folder_can_hold_the_lock),
		CASE(no_repository_comes_about_together_with_a_neighbour),
		CASE(nothing_comes_to_a_folder_that_is_renamed_meanwhile),
	};

	/* Hundreds of applies that sync: memory is fast enough for that everywhere. */
	if (access("/dev/shm", W_OK | X_OK) == 0)
		(void)setenv("TMPDIR", "/dev/shm", 0);
	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
