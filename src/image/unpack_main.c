/*
 * cordon-unpack: the one program that reads archives.
 *
 *	cordon-unpack decompress HOW	from descriptor 3 to 4; says on 5 how it went
 *	cordon-unpack tar IDS BYTES ENTRIES	the archive on 3 below the folder 4, as id 0 of a user namespace with
 *						IDS ids; says on 5 how it went
 *
 * It has these three descriptors and /dev/null, and confines itself before it reads the first byte: no other file, no
 * network, no new process. What a decompressor or the reader of archives could be made to do by a hostile archive is to
 * make other files in a folder that is the archive's anyhow. Digests are not its business: whoever started it takes
 * them of the bytes that pass.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/decompress.h"
#include "image/unpack_report.h"
#include "image/unpack_tree.h"
#include "sys/role.h"
#include "sys/role_confine.h"

enum { IN = 3, OUT = 4, FOLDER = 4, REPORT = 5, FIRST_CLOSED = 6, DESCRIPTORS = 16, MEMORY = 512 << 20 };

static int say(const struct unpack_report *r)
{
	AUTO_BUF b = {0};

	buf_init(&b, UNPACK_REPORT_MAX);
	unpack_report_put(&b, r);
	if (buf_failed(&b) || write_all(REPORT, b.p, b.n) < 0)
		return 1;
	return r->ok ? 0 : 1;
}

static int say_wrong(const char *wrong, int code)
{
	struct unpack_report r = {.code = code};

	(void)snprintf(r.wrong, sizeof(r.wrong), "%s", wrong);
	return say(&r);
}

static int run_decompress(const char *how)
{
	const struct role_needs needs = {.first_closed = FIRST_CLOSED, .descriptors = DESCRIPTORS, .memory = MEMORY};
	const char *wrong;
	int r = role_confine(&needs);

	if (r < 0)
		return say_wrong("cordon-unpack cannot confine itself", -r);
	wrong = decompress((enum compression)strtoul(how, NULL, 10), IN, OUT);
	return wrong ? say_wrong(wrong, 0) : say(&(struct unpack_report){.ok = true});
}

static ssize_t read_in(void *arg, void *to, size_t n)
{
	ssize_t got;

	(void)arg;
	do
		got = read(IN, to, n);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* The archive's fault, or that of what cannot be made of it. */
static int say_entry(const struct tar *t, const struct unpack_tree *u)
{
	struct unpack_report r = {.counts = *unpack_tree_counts(u)};
	struct sv name = tar_wrong_at(t);

	(void)snprintf(r.name, sizeof(r.name), "%.*s", (int)name.n, name.p);
	(void)snprintf(r.wrong, sizeof(r.wrong), "%s", tar_wrong(t)[0] ? tar_wrong(t) : unpack_tree_wrong(u, &r.code));
	return say(&r);
}

static int unpack(struct tar *t, struct unpack_tree *u)
{
	const struct tar_entry *e;
	int r;

	while ((r = tar_next(t, &e)) > 0)
		if (unpack_tree_add(u, e, t) < 0)
			return say_entry(t, u);
	/* what stands behind the archive's end counts for its digest, and for nothing else */
	if (r < 0 || tar_drain(t) < 0)
		return say_entry(t, u);
	(void)unpack_tree_finish(u);
	return say(&(struct unpack_report){.ok = true, .whole = tar_is_whole(t), .counts = *unpack_tree_counts(u)});
}

static int run_tar(char **args)
{
	const uint32_t ids = (uint32_t)strtoul(args[0], NULL, 10);
	const struct unpack_limits limits = {.bytes = strtoull(args[1], NULL, 10),
					     .entries = strtoull(args[2], NULL, 10)};
	const struct role_needs needs = {.may = ROLE_TREE,
					 .first_closed = FIRST_CLOSED,
					 .descriptors = DESCRIPTORS,
					 .memory = MEMORY,
					 .folder = FOLDER,
					 .file_size = limits.bytes};
	struct unpack_tree *u = NULL;
	struct tar *t = NULL;
	int r;

	(void)umask(022);
	r = role_confine(&needs);
	if (r < 0)
		return say_wrong("cordon-unpack cannot confine itself", -r);
	t = tar_new(read_in, NULL);
	u = unpack_tree_new(FOLDER, ids, &limits);
	r = t && u ? unpack(t, u) : say_wrong("there is no memory", ENOMEM);
	unpack_tree_free(u);
	tar_free(t);
	return r;
}

int main(int argc, char **argv)
{
	bool decompresses = argc == 3 && strcmp(argv[1], "decompress") == 0,
	     unpacks = argc == 5 && strcmp(argv[1], "tar") == 0;

	if (!decompresses && !unpacks) {
		(void)fprintf(stderr, "cordon-unpack: for Cordon's own use\n");
		return 125;
	}
	/* standard error may be a terminal, which takes orders from whoever writes to it; sanitizers report there */
	if (role_is_filtered() && dup2(STDIN_FILENO, STDERR_FILENO) < 0)
		return 125;
	/* at once: what a sanitizer would do at the end needs files, and there are none */
	_exit(decompresses ? run_decompress(argv[2]) : run_tar(argv + 2));
}
