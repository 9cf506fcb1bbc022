/* Scans and verdicts. The upper folders here are made by hand, as overlayfs would make them or as an attacker might
 * wish it did. */
#include "changes_tree.h"

static void only_real_changes_are_listed(void)
{
	WORLD(w);

	put(w.lower, "same", "text");
	put(w.upper, "same", "text");
	put(w.lower, "modified", "old");
	put(w.upper, "modified", "new");
	put_mode(w.lower, "mode", "x", 0644);
	put_mode(w.upper, "mode", "x", 0755);
	put(w.lower, "untouched", "x");
	put(w.lower, "gone", "x");
	put_whiteout(w.upper, "gone");
	put_whiteout(w.upper, "never-was");
	put(w.upper, "new/deep/file", "x");
	put(w.lower, "folder/kept", "x");
	put(w.upper, "folder/added", "x");
	put_link(w.lower, "link", "same");
	put_link(w.upper, "link", "modified");
	put_link(w.lower, "link-same", "same");
	put_link(w.upper, "link-same", "same");
	put_folder(w.lower, "mode-folder", 0755);
	put_folder(w.upper, "mode-folder", 0700);
	CHECK_LIST(scan(&w, CHANGES_OVERLAY), "added        folder/added\n"
					      "deleted      gone\n"
					      "modified     link -> modified\n"
					      "mode changed mode  (mode 0755, was 0644)\n"
					      "mode changed mode-folder/  (mode 0700, was 0755)\n"
					      "modified     modified\n"
					      "added        new/\n"
					      "added        new/deep/\n"
					      "added        new/deep/file\n");
}

static void a_deleted_folder_lists_all_it_held(void)
{
	WORLD(w);

	put(w.lower, "d/a", "x");
	put(w.lower, "d/e/f", "x");
	put(w.lower, "d-e", "x");
	put_whiteout(w.upper, "d");
	CHECK_LIST(scan(&w, CHANGES_OVERLAY),
		   "deleted      d/\ndeleted      d/a\ndeleted      d/e/\ndeleted      d/e/f\n");
}

static void changes_of_type_bring_and_remove_what_is_below(void)
{
	WORLD(w);

	put(w.lower, "was-folder/a", "x");
	put(w.upper, "was-folder", "x");
	put(w.lower, "was-file", "x");
	put(w.upper, "was-file/a", "x");
	put(w.lower, "was-link-target", "x");
	put_link(w.lower, "was-link", "was-link-target");
	put(w.upper, "was-link", "x");
	CHECK_LIST(scan(&w, CHANGES_OVERLAY), "type changed was-file/  (folder, was a file)\n"
					      "added        was-file/a\n"
					      "type changed was-folder  (file, was a folder)\n"
					      "deleted      was-folder/a\n"
					      "type changed was-link  (file, was a link)\n");
}

static void an_opaque_folder_hides_what_was_below(void)
{
	WORLD(w);

	put(w.lower, "d/old", "x");
	put(w.lower, "d/sub/old", "x");
	put(w.lower, "d/both", "x");
	put(w.upper, "d/both", "x");
	put(w.upper, "d/sub/new", "x");
	if (!put_attribute(w.upper, "d", "user.overlay.opaque", "y")) {
		printf("# skipped: no user attributes here\n");
		return;
	}
	CHECK_LIST(scan(&w, CHANGES_OVERLAY), "deleted      d/old\nadded        d/sub/new\ndeleted      d/sub/old\n");
}

static void a_whiteout_may_be_an_empty_file_in_a_marked_folder(void)
{
	WORLD(w);

	put(w.lower, "marked/gone", "x");
	put(w.upper, "marked/gone", "");
	put(w.lower, "plain/kept", "x");
	put(w.upper, "plain/kept", "");
	if (!put_attribute(w.upper, "marked", "user.overlay.opaque", "x") ||
	    !put_attribute(w.upper, "marked/gone", "user.overlay.whiteout", "y") ||
	    !put_attribute(w.upper, "plain/kept", "user.overlay.whiteout", "y")) {
		printf("# skipped: no user attributes here\n");
		return;
	}
	CHECK_LIST(scan(&w, CHANGES_OVERLAY), "deleted      marked/gone\nmodified     plain/kept\n");
}

static void forged_redirects_and_metacopies_are_refused(void)
{
	WORLD(w);

	put(w.lower, "d/secret", "x");
	put_folder(w.upper, "d", 0755);
	put_folder(w.upper, "stolen", 0755);
	put(w.lower, "f", "x");
	put(w.upper, "f", "y");
	if (!put_attribute(w.upper, "d", "user.overlay.redirect", "/etc") ||
	    !put_attribute(w.upper, "stolen", "user.overlay.redirect", "d") ||
	    !put_attribute(w.upper, "f", "user.overlay.metacopy", "")) {
		printf("# skipped: no user attributes here\n");
		return;
	}
	CHECK_LIST(scan(&w, CHANGES_OVERLAY), "modified     d/  REFUSED: carries a forged overlay attribute\n"
					      "modified     f  REFUSED: carries a forged overlay attribute\n"
					      "added        stolen/  REFUSED: carries a forged overlay attribute\n");
}

static void escaped_attributes_of_a_nested_overlay_mean_nothing(void)
{
	WORLD(w);

	put(w.lower, "d/old", "x");
	put(w.upper, "d/new", "x");
	if (!put_attribute(w.upper, "d", "user.overlay.overlay.opaque", "y") ||
	    !put_attribute(w.upper, "d", "user.overlay.overlay.redirect", "x")) {
		printf("# skipped: no user attributes here\n");
		return;
	}
	CHECK_LIST(scan(&w, CHANGES_OVERLAY), "added        d/new\n");
}

static void a_copy_is_compared_as_a_whole_and_its_attributes_mean_nothing(void)
{
	struct glob deny;
	struct changes_rules rules = {.root = "/w", .deny = &deny, .n_deny = 1};
	WORLD(w);

	CHECK(glob_init(&deny, sv_of("**/.env")) == 0);
	put(w.lower, ".env", "never copied");
	put(w.lower, "sub/.env", "never copied");
	put(w.lower, "gone", "x");
	put(w.lower, "kept", "x");
	CHECK(mkfifoat(w.lower, "fifo", 0600) == 0);
	put(w.upper, "kept", "x");
	put_folder(w.upper, "sub", 0755);
	put(w.upper, "forged", "");
	put_whiteout(w.upper, "white");
	(void)put_attribute(w.upper, "forged", "user.overlay.whiteout", "y");
	(void)put_attribute(w.upper, "forged", "user.overlay.metacopy", "y");
	(void)put_attribute(w.upper, "sub", "user.overlay.redirect", "y");
	CHECK_LIST(
		scan_with(&w, CHANGES_COPY, &rules),
		"added        forged\ndeleted      gone\nadded        white  REFUSED: is a device, FIFO or socket\n");
	/* The folder around it is gone: that would take the denied file with it. */
	CHECK(unlinkat(w.upper, "sub", AT_REMOVEDIR) == 0);
	CHECK_LIST(scan_with(&w, CHANGES_COPY, &rules), "added        forged\ndeleted      gone\n"
							"deleted      sub/  REFUSED: holds something that must stay\n"
							"deleted      sub/.env  REFUSED: is denied (**/.env)\n"
							"added        white  REFUSED: is a device, FIFO or socket\n");
	glob_done(&deny);
}

static void special_files_and_special_bits_are_refused(void)
{
	WORLD(w);

	CHECK(mkfifoat(w.upper, "fifo", 0600) == 0 && mknodat(w.upper, "socket", S_IFSOCK | 0600, 0) == 0);
	put_mode(w.upper, "setuid", "x", 04755);
	put_mode(w.upper, "setgid", "x", 02755);
	put_mode(w.upper, "sticky", "x", 01755);
	put_folder(w.upper, "folder", 03755);
	put(w.lower, "was-file", "x");
	CHECK(mkfifoat(w.upper, "was-file", 0600) == 0);
	CHECK_LIST(scan(&w, CHANGES_OVERLAY),
		   "added        fifo  REFUSED: is a device, FIFO or socket\n"
		   "added        folder/\n"
		   "added        setgid  REFUSED: has a setuid, setgid or sticky bit\n"
		   "added        setuid  REFUSED: has a setuid, setgid or sticky bit\n"
		   "added        socket  REFUSED: is a device, FIFO or socket\n"
		   "added        sticky  REFUSED: has a setuid, setgid or sticky bit\n"
		   "type changed was-file  (special file, was a file)  REFUSED: is a device, FIFO or socket\n");
}

static void device_nodes_are_refused(void)
{
	WORLD(w);

	if (mknodat(w.upper, "null", S_IFCHR | 0666, makedev(1, 3)) < 0) {
		printf("# skipped: no right to make device nodes\n");
		return;
	}
	CHECK_LIST(scan(&w, CHANGES_OVERLAY), "added        null  REFUSED: is a device, FIFO or socket\n");
}

static void names_that_cannot_be_shown_are_refused(void)
{
	WORLD(w);

	put(w.upper, "a\nb", "x");
	put(w.upper, "a\x1b[2J", "x");
	put(w.upper, "l\xe4tin", "x");
	put(w.upper, "bidi\xe2\x80\xae", "x");
	put(w.upper,
	    "gr\xc3\xbc\xc3\x9f"
	    "e",
	    "x");
	put(w.lower, "old\xff", "x"); /* what the host has already may change and go */
	put(w.upper, "old\xff", "y");
	put(w.upper, "bad\x07/below", "x");
	CHECK_LIST(scan(&w, CHANGES_OVERLAY),
		   "added        a\\x0ab  REFUSED: has a name with control, invisible or non-UTF-8 characters\n"
		   "added        a\\x1b[2J  REFUSED: has a name with control, invisible or non-UTF-8 characters\n"
		   "added        bad\\x07/  REFUSED: has a name with control, invisible or non-UTF-8 characters\n"
		   "added        bad\\x07/below  REFUSED: is part of a change that is refused\n"
		   "added        bidi\\xe2\\x80\\xae  REFUSED: has a name with control, invisible or non-UTF-8 "
		   "characters\n"
		   "added        gr\xc3\xbc\xc3\x9f"
		   "e\n"
		   "added        l\\xe4tin  REFUSED: has a name with control, invisible or non-UTF-8 characters\n"
		   "modified     old\\xff\n");
}

static void denied_and_protected_paths_are_refused(void)
{
	struct glob deny[2], protect[1];
	struct changes_rules rules = {
		.root = "/home/u/w", .deny = deny, .n_deny = 2, .protect = protect, .n_protect = 1};
	WORLD(w);

	CHECK(glob_init(&deny[0], sv_of("**/.env")) == 0 && glob_init(&deny[1], sv_of("/home/u/w/keys/**")) == 0 &&
	      glob_init(&protect[0], sv_of("**/.git/hooks/**")) == 0);
	put(w.upper, "a/.env", "x");
	put(w.upper, "keys", "x");
	put(w.upper, "sub/.git/hooks/pre-commit", "x");
	put(w.upper, "sub/.git/index", "x");
	put_link(w.upper, "b/.git", "../a");
	put(w.lower, "c/.git/hooks/pre-push", "x");
	put(w.lower, "c/.git/index", "x");
	put_whiteout(w.upper, "c");
	CHECK_LIST(scan_with(&w, CHANGES_OVERLAY, &rules),
		   "added        a/\n"
		   "added        a/.env  REFUSED: is denied (**/.env)\n"
		   "added        b/\n"
		   "added        b/.git -> ../a  REFUSED: stands in the way to what is protected (**/.git/hooks/**)\n"
		   "deleted      c/  REFUSED: holds something that must stay\n"
		   "deleted      c/.git/  REFUSED: holds something that must stay\n"
		   "deleted      c/.git/hooks/  REFUSED: is protected (**/.git/hooks/**)\n"
		   "deleted      c/.git/hooks/pre-push  REFUSED: is protected (**/.git/hooks/**)\n"
		   "deleted      c/.git/index\n"
		   "added        keys  REFUSED: is denied (/home/u/w/keys/**)\n"
		   "added        sub/\n"
		   "added        sub/.git/\n"
		   "added        sub/.git/hooks/  REFUSED: is protected (**/.git/hooks/**)\n"
		   "added        sub/.git/hooks/pre-commit  REFUSED: is protected (**/.git/hooks/**)\n"
		   "added        sub/.git/index\n");
	glob_done(&deny[0]);
	glob_done(&deny[1]);
	glob_done(&protect[0]);
}

static bool is_refused(const struct changes *c, const char *path)
{
	const struct change *x = c ? changes_find(c, path) : NULL;

	CHECK(x != NULL);
	return x && x->refused;
}

static void no_repository_comes_back(void)
{
	WORLD(w);

	put(w.upper, "bare/HEAD", "ref: refs/heads/m\n");
	put(w.upper, "bare/config", "[core]\n");
	put(w.upper, "bare/objects/x", "x");
	put(w.upper, "bare/readme", "x");
	put(w.upper, "bare/refs/x", "x");
	put(w.lower, "host.git/HEAD", "ref: refs/heads/m\n");
	put(w.lower, "host.git/config", "[core]\n");
	put_folder(w.lower, "host.git/objects", 0755);
	put_folder(w.lower, "host.git/refs", 0755);
	put(w.upper, "host.git/HEAD", "ref: refs/heads/n\n");
	put(w.upper, "host.git/config", "[core] x\n");
	put(w.upper, "host.git/hooks/update", "x");
	put(w.upper, "host.git/objects/x", "x");
	put(w.lower, "part/HEAD", "ref: refs/heads/m\n");
	put(w.upper, "part/commondir", "../lib\n");
	put(w.upper, "plain/config", "x");
	put(w.upper, "plain/hooks/x", "x");
	put(w.upper, "plain/refs", "x");
	CHECK_LIST(scan(&w, CHANGES_OVERLAY),
		   "added        bare/\n"
		   "added        bare/HEAD  REFUSED: is part of a repository that git would obey\n"
		   "added        bare/config  REFUSED: is part of a repository that git would obey\n"
		   "added        bare/objects/  REFUSED: is part of a repository that git would obey\n"
		   "added        bare/objects/x  REFUSED: is part of a change that is refused\n"
		   "added        bare/readme\n"
		   "added        bare/refs/  REFUSED: is part of a repository that git would obey\n"
		   "added        bare/refs/x  REFUSED: is part of a change that is refused\n"
		   "modified     host.git/HEAD\n"
		   "modified     host.git/config  REFUSED: is part of a repository that git would obey\n"
		   "added        host.git/hooks/  REFUSED: is part of a repository that git would obey\n"
		   "added        host.git/hooks/update  REFUSED: is part of a repository that git would obey\n"
		   "added        host.git/objects/x\n"
		   "added        part/commondir  REFUSED: is part of a repository that git would obey\n"
		   "added        plain/\n"
		   "added        plain/config\n"
		   "added        plain/hooks/\n"
		   "added        plain/hooks/x\n"
		   "added        plain/refs\n");
}

static void links_must_stay_inside_by_text_and_through_others(void)
{
	static const char *const good[] = {"in", "d/up", "d/self", "dangling", "loop", "chain", "d/e/far"};
	static const char *const bad[] = {"absolute",    "out",           "d/out", "d/e/back",
					  "through-old", "d/through-new", "fork",  "old-and-new", "later"};
	struct changes *c;
	size_t i;
	WORLD(w);

	put(w.lower, "d/e/f", "x");
	put_link(w.lower, "old-out", "/etc");
	put_link(w.lower, "old-up", "d/e");
	put_link(w.upper, "in", "d/e/f");
	put_link(w.upper, "d/up", "../in");
	put_link(w.upper, "d/self", ".");
	put_link(w.upper, "dangling", "no/such/thing");
	put_link(w.upper, "loop", "loop");
	put_link(w.upper, "chain", "in");
	put_link(w.upper, "d/e/far", "./../.././in");
	/* inside today; with d/e a link to .. it would not be */
	put_link(w.upper, "later", "d/e/../../in");
	put_link(w.upper, "absolute", "/etc/passwd");
	put_link(w.upper, "out", "..");
	put_link(w.upper, "d/out", "../../x");
	put_link(w.upper, "d/e/back", "./.././../../w/x");
	put_link(w.upper, "through-old", "old-out/passwd");
	/* d/self is d, so d/self/.. is the root, and one more is outside; by its text it looks inside. */
	put_link(w.upper, "d/through-new", "self/self/../../x");
	put_link(w.upper, "fork", "d/self/../../x");
	/* A link that the run replaced by a folder: where the replacement is left out, the old one counts. */
	put(w.upper, "old-out/x", "x");
	put_link(w.upper, "old-and-new", "old-out/x");
	c = scan(&w, CHANGES_OVERLAY);
	for (i = 0; i < ARRAY_LEN(good); i++)
		if (is_refused(c, good[i]))
			CHECK_STR(good[i], "accepted");
	for (i = 0; i < ARRAY_LEN(bad); i++)
		if (!is_refused(c, bad[i]))
			CHECK_STR(bad[i], "refused");
	changes_free(c);
}

static void a_chain_of_new_links_cannot_climb_out(void)
{
	struct changes *c;
	WORLD(w);

	put_link(w.upper, "a", "b/x");
	put_link(w.upper, "b", "..");
	put_link(w.upper, "s/c", "d/x");
	put_link(w.upper, "s/d", "../t");
	put_folder(w.upper, "t", 0755);
	c = scan(&w, CHANGES_OVERLAY);
	CHECK(is_refused(c, "a") && is_refused(c, "b"));
	CHECK(!is_refused(c, "s/c") && !is_refused(c, "s/d"));
	changes_free(c);
}

static void a_net_of_links_costs_bounded_time(void)
{
	char name[16], target[64];
	struct changes *c;
	int i;
	WORLD(w);

	/* Each name is a link before and behind the run: 2^60 ways. */
	for (i = 0; i < 60; i++) {
		(void)snprintf(name, sizeof(name), "l%d", i);
		(void)snprintf(target, sizeof(target), "l%d/l%d", i + 1, i + 2);
		put_link(w.lower, name, target);
		(void)snprintf(target, sizeof(target), "l%d/l%d", i + 2, i + 1);
		put_link(w.upper, name, target);
	}
	c = scan(&w, CHANGES_OVERLAY);
	CHECK(c && c->n == 60 && is_refused(c, "l0") && !is_refused(c, "l59"));
	changes_free(c);
}

/* Folders of one name within each other: deeper than any path can say. */
static void put_chain(int at, const char *name, unsigned n)
{
	int fd = dup(at), next;

	for (; n; n--) {
		CHECK(mkdirat(fd, name, 0755) == 0);
		next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		(void)close(fd);
		fd = next;
	}
	(void)close(fd);
}

static void too_many_entries_and_too_deep_folders_are_bounded(void)
{
	struct changes_rules rules = {.root = "/w", .max_entries = 20};
	struct changes *c = NULL;
	struct error err = {0};
	char name[16];
	int i;
	WORLD(w);

	put_chain(w.upper, "d", 300);
	c = scan(&w, CHANGES_OVERLAY);
	CHECK(c && c->n == CHANGES_DEPTH + 1 && c->n_refused == 1);
	if (c && c->n)
		CHECK_STR(c->v[c->n - 1].refused, "is nested too deep");
	changes_free(c);
	c = NULL;
	CHECK(names_remove_tree(w.upper, "d") == 0);
	for (i = 0; i < 21; i++) {
		(void)snprintf(name, sizeof(name), "f%d", i);
		put(w.upper, name, "x");
	}
	CHECK(changes_scan(w.lower, w.upper, CHANGES_OVERLAY, &rules, &c, &err) == -1 && c == NULL);
	CHECK(err.kind == ERROR_DENIED);
}

static void long_paths_are_refused(void)
{
	char name[NAME_MAX + 1];
	struct changes *c;
	WORLD(w);

	memset(name, 'n', NAME_MAX);
	name[NAME_MAX] = '\0';
	put_chain(w.upper, name, 20);
	c = scan(&w, CHANGES_OVERLAY);
	CHECK(c && c->n == 16 && c->n_refused == 1 && c->v[15].refused);
	changes_free(c);
}

static void so_are_those_of_what_is_gone(void)
{
	char name[NAME_MAX + 1];
	struct changes *c;
	WORLD(w);

	memset(name, 'n', NAME_MAX);
	name[NAME_MAX] = '\0';
	put_chain(w.lower, name, 60);
	put_whiteout(w.upper, name);
	c = scan(&w, CHANGES_OVERLAY);
	CHECK(c && c->n == 16 && c->n_refused == 16);
	if (c && c->n == 16)
		CHECK_STR(c->v[15].refused, "has too long a path");
	changes_free(c);
	CHECK(unlinkat(w.upper, name, 0) == 0);
	put(w.upper, name, "a file in its place");
	c = scan(&w, CHANGES_OVERLAY);
	CHECK(c && c->n == 16 && c->n_refused == 16);
	changes_free(c);
}

static void what_is_read_only_stays_so_and_yields_to_a_folder_below(void)
{
	struct glob read[3];
	struct changes_rules rules = {.root = "/home/u/w", .read = read, .n_read = 3};
	struct changes *c = NULL;
	struct error err = {0};
	WORLD(w);

	CHECK(glob_init(&read[0], sv_of("/home/u/w/d/ro.txt")) == 0 &&
	      glob_init(&read[1], sv_of("/home/u/w/locked")) == 0 && glob_init(&read[2], sv_of("/home/u")) == 0);
	put(w.lower, "d/ro.txt", "lock");
	put(w.lower, "locked/x", "lock");
	/* what a folder that moved away leaves, with another in its place */
	put_whiteout(w.upper, "locked");
	put(w.upper, "d2/ro.txt", "lock");
	put(w.upper, "d/ro.txt", "evil");
	put(w.upper, "free", "x");
	CHECK(changes_scan(w.lower, w.upper, CHANGES_OVERLAY, &rules, &c, &err) == 0);
	CHECK(is_refused(c, "d/ro.txt") && is_refused(c, "locked") && is_refused(c, "locked/x"));
	CHECK(!is_refused(c, "free") && !is_refused(c, "d2") && !is_refused(c, "d2/ro.txt"));
	changes_free(c);
	glob_done(&read[0]);
	glob_done(&read[1]);
	glob_done(&read[2]);
}

static void links_are_never_followed_by_a_scan(void)
{
	WORLD(w);

	put(w.lower, "d/f", "x");
	put_link(w.upper, "d", "/etc");
	put_link(w.lower, "l", "/etc");
	put(w.upper, "l/passwd", "x");
	CHECK_LIST(scan(&w, CHANGES_OVERLAY),
		   "type changed d -> /etc  (link, was a folder)  REFUSED: is a link to an absolute path\n"
		   "deleted      d/f  REFUSED: is part of a change that is refused\n"
		   "type changed l/  (folder, was a link)\n"
		   "added        l/passwd\n");
}

static int unreadable_parts(void *ctx)
{
	struct world *w = ctx;

	if (geteuid() == 0 && (fchown(w->lower, 65534, 65534) < 0 || fchown(w->upper, 65534, 65534) < 0 ||
			       setgid(65534) < 0 || setuid(65534) < 0))
		return SKIP;
	put_mode(w->upper, "closed-file", "x", 0000);
	put(w->upper, "closed/f", "x");
	put(w->upper, "unlistable/f", "x");
	put(w->upper, "fine", "x");
	CHECK(fchmodat(w->upper, "closed", 0000, 0) == 0 && fchmodat(w->upper, "unlistable", 0400, 0) == 0);
	CHECK_LIST(scan(w, CHANGES_OVERLAY), "added        closed/  REFUSED: cannot be read\n"
					     "added        closed-file  REFUSED: cannot be read\n"
					     "added        fine\n"
					     "added        unlistable/  REFUSED: cannot be read\n");
	return 0;
}

static void what_cannot_be_read_is_refused_and_the_rest_is_listed(void)
{
	int r;
	WORLD(w);

	CHECK(fchmod(w.fd, 0755) == 0);
	r = in_child(unreadable_parts, &w);
	CHECK(r == 0 || r == SKIP);
}

static int unreadable_originals(void *ctx)
{
	struct world *w = ctx;

	if (geteuid() == 0 && (fchown(w->lower, 65534, 65534) < 0 || fchown(w->upper, 65534, 65534) < 0 ||
			       setgid(65534) < 0 || setuid(65534) < 0))
		return SKIP;
	put_mode(w->lower, "closed-file", "x", 0000);
	put(w->lower, "closed/f", "x");
	put_folder(w->upper, "closed", 0000);
	CHECK(fchmodat(w->lower, "closed", 0000, 0) == 0 && fchmodat(w->upper, "closed", 0755, 0) == 0);
	put_mode(w->lower, "setuid", "x", 04755);
	put_mode(w->upper, "setuid", "x", 0755);
	CHECK_LIST(scan(w, CHANGES_COPY), "");
	put(w->upper, "closed/f", "y");
	CHECK_LIST(scan(w, CHANGES_COPY), "modified     closed/  (mode 0700, was 0000)  REFUSED: cannot be read\n");
	CHECK(fchmodat(w->lower, "closed", 0755, 0) == 0);
	return 0;
}

static void what_a_copy_could_not_hold_is_no_change(void)
{
	int r;
	WORLD(w);

	CHECK(fchmod(w.fd, 0755) == 0);
	r = in_child(unreadable_originals, &w);
	CHECK(r == 0 || r == SKIP);
}

static void folders_of_the_host_are_not_opened_to_others(void)
{
	WORLD(w);

	put_folder(w.lower, "shut", 0700);
	put_folder(w.upper, "shut", 0777);
	put_folder(w.lower, "half", 02750);
	put_folder(w.upper, "half", 0705);
	put_folder(w.lower, "open", 0755);
	put_folder(w.upper, "open", 0711);
	put_folder(w.upper, "new", 0777);
	CHECK_LIST(scan(&w, CHANGES_COPY), "mode changed half/  (mode 2700, was 2750)\nadded        new/\nmode changed "
					   "open/  (mode 0711, was 0755)\n");
}

static void the_name_of_the_staging_folder_is_reserved(void)
{
	WORLD(w);

	put(w.upper, CHANGES_STAGING "0000/journal", "x");
	put(w.upper, "sub/" CHANGES_STAGING "1", "x");
	CHECK_LIST(scan(&w, CHANGES_OVERLAY),
		   "added        .cordon-apply-0000/  REFUSED: has a name that only Cordon may use\n"
		   "added        sub/\n"
		   "added        sub/.cordon-apply-1\n");
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(only_real_changes_are_listed),
		CASE(a_deleted_folder_lists_all_it_held),
		CASE(changes_of_type_bring_and_remove_what_is_below),
		CASE(an_opaque_folder_hides_what_was_below),
		CASE(a_whiteout_may_be_an_empty_file_in_a_marked_folder),
		CASE(forged_redirects_and_metacopies_are_refused),
		CASE(escaped_attributes_of_a_nested_overlay_mean_nothing),
		CASE(a_copy_is_compared_as_a_whole_and_its_attributes_mean_nothing),
		CASE(special_files_and_special_bits_are_refused),
		CASE(device_nodes_are_refused),
		CASE(names_that_cannot_be_shown_are_refused),
		CASE(denied_and_protected_paths_are_refused),
		CASE(no_repository_comes_back),
		CASE(links_must_stay_inside_by_text_and_through_others),
		CASE(a_chain_of_new_links_cannot_climb_out),
		CASE(a_net_of_links_costs_bounded_time),
		CASE(too_many_entries_and_too_deep_folders_are_bounded),
		CASE(long_paths_are_refused),
		CASE(so_are_those_of_what_is_gone),
		CASE(what_is_read_only_stays_so_and_yields_to_a_folder_below),
		CASE(links_are_never_followed_by_a_scan),
		CASE(what_cannot_be_read_is_refused_and_the_rest_is_listed),
		CASE(what_a_copy_could_not_hold_is_no_change),
		CASE(folders_of_the_host_are_not_opened_to_others),
		CASE(the_name_of_the_staging_folder_is_reserved),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
