/* Archives: what the reader makes of them, in pieces of any size; which names it lets pass; what the writer writes. The
 * attacks on the whole are in tests/cli/image.sh. */
#include "check.h"
#include "image/tar.h"
#include "image/tar_header.h"
#include "image/unpack_path.h"

struct source {
	struct sv left;
	size_t piece;
};

static ssize_t give(void *arg, void *to, size_t n)
{
	struct source *s = arg;

	n = n < s->piece ? n : s->piece;
	n = n < s->left.n ? n : s->left.n;
	memcpy(to, s->left.p, n);
	s->left = sv_n(s->left.p + n, s->left.n - n);
	return (ssize_t)n;
}

static void put_data(struct buf *b, struct sv data)
{
	static const char zeros[TAR_END];

	(void)buf_sv(b, data);
	(void)buf_add(b, zeros, tar_pad(data.n));
}

static void put_end(struct buf *b)
{
	static const char zeros[TAR_END];

	(void)buf_add(b, zeros, TAR_END);
}

static void what_is_written_is_read(void)
{
	char longer[600], deep[300];
	const struct tar_entry entries[] = {
		{.type = TAR_FOLDER, .path = sv_of("."), .mode = 01777, .mtime = 5},
		{.type = TAR_FILE,
		 .path = sv_of("a/b"),
		 .mode = 04755,
		 .uid = 7,
		 .gid = 8,
		 .mtime = 1700000000,
		 .size = 700},
		{.type = TAR_FILE,
		 .path = sv_n(longer, sizeof(longer)),
		 .mode = 0644,
		 .uid = (uint64_t)1 << 40,
		 .gid = 3000000000,
		 .mtime = (int64_t)1 << 40},
		{.type = TAR_LINK, .path = sv_of("l"), .link = sv_n(deep, sizeof(deep)), .mode = 0777},
		{.type = TAR_HARD_LINK, .path = sv_of("h"), .link = sv_of("a/b"), .mode = 0644},
		{.type = TAR_FILE,
		 .path = sv_of("\xff\n"),
		 .n_xattrs = 2,
		 .xattrs = {{sv_of("user.a"), sv_n("x\0=\n", 4)}, {sv_of("user.b"), sv_of("")}}},
		{.type = TAR_FIFO, .path = sv_of("p"), .mode = 0600},
	};
	static const size_t pieces[] = {1, 7, 512, 513, 1 << 20};
	const size_t n = sizeof(entries) / sizeof(entries[0]);
	const struct tar_entry *e = NULL;
	AUTO_BUF b = {0};
	char data[700];
	size_t i, k;

	memset(longer, 'n', sizeof(longer));
	memset(deep, 't', sizeof(deep));
	memset(data, 'd', sizeof(data));
	buf_init(&b, 1 << 20);
	for (i = 0; i < n; i++) {
		tar_put(&b, &entries[i]);
		put_data(&b, sv_n(data, entries[i].size));
	}
	put_end(&b);
	for (k = 0; k < sizeof(pieces) / sizeof(pieces[0]); k++) {
		struct source s = {buf_view(&b), pieces[k]};
		struct tar *t = tar_new(give, &s);
		uint64_t at, got;
		struct sv part;

		for (i = 0; i < n; i++) {
			const struct tar_entry *w = &entries[i];

			CHECK(tar_next(t, &e) == 1);
			CHECK(e->type == w->type && sv_eq(e->path, w->path) && e->mode == w->mode && e->uid == w->uid &&
			      e->gid == w->gid && e->mtime == w->mtime && e->size == w->size);
			CHECK(e->link.n == w->link.n && sv_eq(e->link, w->link));
			CHECK(e->n_xattrs == w->n_xattrs &&
			      (!w->n_xattrs || (sv_eq(e->xattrs[0].value, w->xattrs[0].value) &&
						sv_eq(e->xattrs[1].name, w->xattrs[1].name))));
			/* every second one is passed over */
			for (got = 0; i % 2 && tar_data(t, &part, &at) == 1; got += part.n)
				CHECK(at == got && part.p[0] == 'd');
			CHECK(i % 2 == 0 || got == w->size);
		}
		CHECK(tar_next(t, &e) == 0 && tar_is_whole(t));
		CHECK(tar_drain(t) == 0);
		tar_free(t);
	}
}

static void numbers_are_octal_or_base_256_and_fit(void)
{
	static const struct {
		const char *bytes;
		bool ok;
		uint64_t value;
	} cases[] = {
		{"0000644\0\0\0\0\0", true, 0644},
		{"     644 \0\0\0", true, 0644},
		{"777777777777", true, 0777777777777},
		{"\0\0\0\0\0\0\0\0\0\0\0\0", true, 0},
		{"            ", true, 0},
		{"\x80\0\0\0\0\0\0\0\0\0\x01\x00", true, 256},
		{"\x80\0\0\0\x00\xff\xff\xff\xff\xff\xff\xff", true, 0xffffffffffffff},
		{"\x80\x01\0\0\0\0\0\0\0\0\0\0", false, 0},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", false, 0},
		{"00008000000\0", false, 0},
		{"-0000000001\0", false, 0},
		{"0644x\0\0\0\0\0\0\0", false, 0},
		{"06 44\0\0\0\0\0\0\0", false, 0},
	};
	const struct tar_field f = {0, 12};
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK(tar_number((const unsigned char *)cases[i].bytes, f, &v) == cases[i].ok);
		CHECK(!cases[i].ok || v == cases[i].value);
	}
}

static void names_that_lead_nowhere_else(void)
{
	static const struct {
		const char *name, *path, *last;
		enum unpack_special special;
	} good[] = {
		{"a", "a", "a", UNPACK_PLAIN},
		{"./a/b", "a/b", "b", UNPACK_PLAIN},
		{"a/b/", "a/b", "b", UNPACK_PLAIN},
		{".", "", "", UNPACK_PLAIN},
		{"./", "", "", UNPACK_PLAIN},
		{"/", "", "", UNPACK_PLAIN},
		{"...", "...", "...", UNPACK_PLAIN},
		{"a..", "a..", "a..", UNPACK_PLAIN},
		{"..a", "..a", "..a", UNPACK_PLAIN},
		{"a\\..\\b", "a\\..\\b", "a\\..\\b", UNPACK_PLAIN},
		{"\x01\xff", "\x01\xff", "\x01\xff", UNPACK_PLAIN},
		{"d/.wh.x", "d/.wh.x", "x", UNPACK_WHITEOUT},
		{".wh.x", ".wh.x", "x", UNPACK_WHITEOUT},
		{"d/.wh..wh..opq", "d/.wh..wh..opq", ".wh..wh..opq", UNPACK_OPAQUE},
		{".wh..wh.plnk", ".wh..wh.plnk", ".wh..wh.plnk", UNPACK_SKIP},
		{".wh....", ".wh....", "...", UNPACK_WHITEOUT},
	};
	static const char *const bad[] = {"",        "..",
					  "../a",    "a/..",
					  "a/../b",  "/a",
					  "//",      "/..",
					  "./..",    "./../a",
					  "a//b",    "a/./b",
					  "././a",   "a/.",
					  ".//a",    "a//",
					  ".wh.",    ".wh..",
					  ".wh...",  "d/.wh...",
					  ".wh.d/x", "d/.wh..wh..opq/x"};
	struct unpack_path p;
	char longer[UNPACK_PATH_MAX + 2], deep[2 * UNPACK_DEPTH_MAX + 2];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const char *wrong = unpack_path_read(sv_of(good[i].name), &p);

		if (wrong)
			printf("# \"%s\" %s\n", good[i].name, wrong);
		CHECK(!wrong && p.special == good[i].special);
		CHECK_STR(p.path, good[i].path);
		CHECK_STR(p.last, good[i].last);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!unpack_path_read(sv_of(bad[i]), &p))
			printf("# accepted: \"%s\"\n", bad[i]);
		CHECK(unpack_path_read(sv_of(bad[i]), &p) != NULL);
	}
	CHECK(unpack_path_read(sv_n("a\0b", 3), &p) != NULL);
	for (i = 0; i < sizeof(longer); i++)
		longer[i] = i % 200 == 199 ? '/' : 'x';
	CHECK(unpack_path_read(sv_n(longer, sizeof(longer)), &p) != NULL);
	CHECK(unpack_path_read(sv_n(longer, 256), &p) == NULL);
	memset(longer, 'x', sizeof(longer));
	CHECK(unpack_path_read(sv_n(longer, 255), &p) == NULL);
	CHECK(unpack_path_read(sv_n(longer, 256), &p) != NULL);
	for (i = 0; i < sizeof(deep); i++)
		deep[i] = i % 2 ? '/' : 'd';
	CHECK(unpack_path_read(sv_n(deep, 2 * UNPACK_DEPTH_MAX), &p) == NULL);
	CHECK(unpack_path_read(sv_n(deep, 2 * UNPACK_DEPTH_MAX + 1), &p) != NULL);
}

/* One sparse file in each of the four forms; the data is "AABB" at 0 and 1000 of 2000. */
static void put_sparse(struct buf *b, unsigned form)
{
	unsigned char block[TAR_BLOCK] = {0};
	char text[512];
	size_t n = 0;

	if (form < 3) {
		static const char *const pax[] = {
			"24 GNU.sparse.size=2000\n23 GNU.sparse.offset=0\n25 GNU.sparse.numbytes=2\n26 "
			"GNU.sparse.offset=1000\n25 GNU.sparse.numbytes=2\n",
			"24 GNU.sparse.size=2000\n29 GNU.sparse.map=0,2,1000,2\n",
			"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n28 GNU.sparse.realsize=2000\n21 "
			"GNU.sparse.name=s\n",
		};

		n = strlen(pax[form]);
		memcpy(block, "pax", 3);
		(void)snprintf((char *)block + 124, 12, "%011o", (unsigned)n & 07777);
		block[TAR_TYPE_AT] = 'x';
		memcpy(block + TAR_MAGIC_AT, "ustar\00000", 8);
		(void)snprintf(text, sizeof(text), "%06o", tar_checksum(block));
		memcpy(block + 148, text, 7);
		(void)buf_add(b, block, TAR_BLOCK);
		put_data(b, sv_n(pax[form], n));
		memset(block, 0, sizeof(block));
	}
	memcpy(block, form == 2 ? "made/up" : "s", form == 2 ? 7 : 1);
	block[TAR_TYPE_AT] = form == 3 ? 'S' : '0';
	memcpy(block + TAR_MAGIC_AT, form == 3 ? "ustar  " : "ustar\00000", 8);
	(void)snprintf((char *)block + 124, 12, "%011o", form == 2 ? 516 : 4);
	if (form == 3)
		(void)snprintf((char *)block + TAR_GNU_PARTS_AT, 97, "%011o%c%011o%c%011o%c%011o", 0, ' ', 2, ' ', 1000,
			       ' ', 2);
	if (form == 3)
		(void)snprintf((char *)block + TAR_GNU_SIZE_AT, 12, "%011o", 2000);
	memset(block + 148, 0, 8);
	(void)snprintf(text, sizeof(text), "%06o", tar_checksum(block));
	memcpy(block + 148, text, 7);
	(void)buf_add(b, block, TAR_BLOCK);
	if (form == 2)
		put_data(b, sv_of("2\n0\n2\n1000\n2\n"));
	put_data(b, sv_of("AABB"));
	put_end(b);
}

static void sparse_files_of_all_forms(void)
{
	unsigned form;

	for (form = 0; form < 4; form++) {
		const struct tar_entry *e = NULL;
		AUTO_BUF b = {0};
		struct source s;
		struct sv part;
		struct tar *t;
		uint64_t at = 0;

		buf_init(&b, 1 << 16);
		put_sparse(&b, form);
		s = (struct source){buf_view(&b), 1 << 16};
		t = tar_new(give, &s);
		CHECK(tar_next(t, &e) == 1);
		if (tar_wrong(t)[0])
			printf("# form %u: %s\n", form, tar_wrong(t));
		CHECK(e && e->size == 2000 && sv_is(e->path, "s"));
		CHECK(tar_data(t, &part, &at) == 1 && at == 0 && sv_is(part, "AA"));
		CHECK(tar_data(t, &part, &at) == 1 && at == 1000 && sv_is(part, "BB"));
		CHECK(tar_data(t, &part, &at) == 0);
		CHECK(tar_next(t, &e) == 0);
		tar_free(t);
	}
}

/* A header in front of an entry. */
static void put_front(struct buf *b, char type, struct sv data)
{
	unsigned char block[TAR_BLOCK] = {0};
	char text[8];

	memcpy(block, "front", 5);
	(void)snprintf((char *)block + 124, 12, "%011o", (unsigned)data.n);
	block[TAR_TYPE_AT] = (unsigned char)type;
	memcpy(block + TAR_MAGIC_AT, "ustar\00000", 8);
	(void)snprintf(text, sizeof(text), "%06o", tar_checksum(block) & 0777777);
	memcpy(block + 148, text, 7);
	(void)buf_add(b, block, TAR_BLOCK);
	put_data(b, data);
}

/* A length belongs to the offset before it, in the same header. */
static void a_map_of_holes_is_not_put_together_from_pieces(void)
{
	static const char *const fronts[][2] = {
		{"23 GNU.sparse.offset=0\n", "26 GNU.sparse.numbytes=99\n"},
		{"22 GNU.sparse.map=1,2\n", "20 GNU.sparse.map=1\n26 GNU.sparse.numbytes=99\n"},
		{"20 GNU.sparse.map=1\n26 GNU.sparse.numbytes=99\n", ""},
		{"26 GNU.sparse.numbytes=99\n", ""},
		{"23 GNU.sparse.offset=0\n23 GNU.sparse.offset=0\n", ""},
	};
	const struct tar_entry file = {.type = TAR_FILE, .path = sv_of("s"), .mode = 0644, .size = 99};
	const struct tar_entry *e = NULL;
	size_t i, k;

	for (i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++) {
		AUTO_BUF b = {0};
		struct source s;
		struct tar *t;
		char data[99];

		memset(data, 'd', sizeof(data));
		buf_init(&b, 1 << 16);
		for (k = 0; k < 2; k++)
			put_front(&b, 'x', sv_of(fronts[i][k]));
		tar_put(&b, &file);
		put_data(&b, sv_n(data, sizeof(data)));
		put_end(&b);
		s = (struct source){buf_view(&b), 1 << 16};
		t = tar_new(give, &s);
		CHECK(tar_next(t, &e) < 0 && strstr(tar_wrong(t), "a map of holes"));
		tar_free(t);
	}
}

/* A long name in GNU's form behind a pax header leaves that one's attributes as they are, be it shorter or longer than
 * that. */
static void attributes_outlast_a_long_name(void)
{
	static const size_t lengths[] = {301, 200000};
	const struct tar_entry file = {.type = TAR_FILE, .path = sv_of("short"), .mode = 0644};
	const struct tar_entry *e = NULL;
	char pax[32 + 600], *name = calloc(1, lengths[1]);
	size_t i;

	CHECK(name != NULL);
	memset(name, 'n', 300);
	memset(name + 301, 'x', lengths[1] - 301);
	(void)snprintf(pax, sizeof(pax), "30 SCHILY.xattr.user.a=value1\n600 comment=%0587d\n", 0);
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		AUTO_BUF b = {0};
		struct source s;
		struct tar *t;

		buf_init(&b, 1 << 20);
		put_front(&b, 'x', sv_of(pax));
		put_front(&b, 'L', sv_n(name, lengths[i]));
		tar_put(&b, &file);
		put_end(&b);
		s = (struct source){buf_view(&b), 1 << 16};
		t = tar_new(give, &s);
		CHECK(tar_next(t, &e) == 1 && e->path.n == 300 && e->n_xattrs == 1);
		CHECK(e && sv_is(e->xattrs[0].name, "user.a") && sv_is(e->xattrs[0].value, "value1"));
		tar_free(t);
	}
	free(name);
}

int main(void)
{
	static const struct check_case cases[] = {CASE(what_is_written_is_read),
						  CASE(numbers_are_octal_or_base_256_and_fit),
						  CASE(names_that_lead_nowhere_else),
						  CASE(sparse_files_of_all_forms),
						  CASE(a_map_of_holes_is_not_put_together_from_pieces),
						  CASE(attributes_outlast_a_long_name)};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
