#include "task/carry_tests.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/glob.h"
#include "sys/tree.h"
#include "task/carry_view.h"
#include "task/carry_words.h"

enum { DEPTH_MAX = 8, WORD_MAX = CARRY_WORD_MAX, FOLDER_MAX = 500 };

static bool in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
	       c == '.' || c == '+';
}

static bool listed(const char *const *v, size_t n, struct sv name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (sv_is(name, v[i]))
			return true;
	return false;
}

/* The next word of *s, which moves behind it. */
static bool next_word(struct sv *s, struct sv *ret)
{
	size_t n = 0;

	while (s->n && !in_word(s->p[0]))
		*s = sv_n(s->p + 1, s->n - 1);
	while (n < s->n && in_word(s->p[n]))
		n++;
	*ret = sv_n(s->p, n);
	*s = sv_n(s->p + n, s->n - n);
	return n > 0;
}

/* Commands that are not called as the package that has them. */
static const struct {
	const char *package, *commands;
} called[] = {
	{"apache2_utils", "ab htpasswd"},
	{"bind9_dnsutils", "dig nslookup host"},
	{"bind9_host", "host"},
	{"binutils", "ar as ld nm objdump readelf strings strip"},
	{"build_essential", "as c++ cc g++ gcc ld make"},
	{"cargo", "rustc"},
	{"default_jdk", "java javac"},
	{"default_mysql_client", "mysql mysqladmin mysqldump"},
	{"dnsutils", "dig nslookup host"},
	{"fd_find", "fd fdfind"},
	{"ffmpeg", "ffprobe"},
	{"gcc", "cc"},
	{"golang", "go gofmt"},
	{"golang_go", "go gofmt"},
	{"httpie", "http"},
	{"imagemagick", "convert identify magick"},
	{"iproute2", "ip ss"},
	{"mariadb_client", "mariadb mysql mysqldump"},
	{"mysql_client", "mysql mysqladmin mysqldump"},
	{"net_tools", "ifconfig netstat"},
	{"netcat_openbsd", "nc netcat"},
	{"netcat_traditional", "nc netcat"},
	{"nmap", "ncat"},
	{"openssh_client", "scp ssh ssh-keygen"},
	{"p7zip_full", "7z"},
	{"poppler_utils", "pdfinfo pdftotext pdftoppm"},
	{"postgresql", "psql pg_dump pg_isready"},
	{"postgresql_client", "psql pg_dump pg_isready"},
	{"procps", "free pgrep pkill ps top"},
	{"redis", "redis-cli"},
	{"redis_server", "redis-cli"},
	{"redis_tools", "redis-cli"},
	{"ripgrep", "rg"},
	{"sqlite", "sqlite3"},
	{"tesseract_ocr", "tesseract"},
	{"vim_common", "xxd"},
	{"xz_utils", "xz"},
	{"beautifulsoup4", "bs4"},
	{"opencv_python", "cv2"},
	{"opencv_python_headless", "cv2"},
	{"pillow", "PIL"},
	{"pyyaml", "yaml"},
	{"scikit_image", "skimage"},
	{"scikit_learn", "sklearn"},
	{"python_dateutil", "dateutil"},
	{"python_dotenv", "dotenv"},
	{"psycopg2_binary", "psycopg2"},
	{"pyjwt", "jwt"},
	{"pycryptodome", "Crypto"},
	{"biopython", "Bio"},
	{"pymupdf", "fitz"},
	{"protobuf", "google"},
	{"python_docx", "docx"},
	{"gitpython", "git"},
	{"pyzmq", "zmq"},
	{"faiss_cpu", "faiss"},
	{"pysocks", "socks"},
	{"pandas", "tzdata"},
	{"attrs", "attr"},
	{"aiohttp", "attr"},
};

void carry_tests_packages(struct sv name, bool (*fn)(void *arg, const char *package), void *arg)
{
	struct sv words, w;
	bool go = true;
	size_t i;

	for (i = 0; go && i < ARRAY_LEN(called); i++)
		for (words = sv_of(called[i].commands); go && next_word(&words, &w);)
			if (sv_eq(w, name))
				go = fn(arg, called[i].package);
}

static int add_word(struct carry_tests *t, struct arena *a, struct sv name)
{
	char word[WORD_MAX + 1];

	if (!t->words && !(t->words = arena_array(a, CARRY_TESTS_WORDS + 1, sizeof(t->words[0]))))
		return -ENOMEM;
	if (name.n == 0 || name.n > WORD_MAX || name.p[0] == '-' || t->n == CARRY_TESTS_WORDS)
		return 0;
	(void)carry_word_plain(name, word);
	t->words[t->n] = arena_str(a, sv_of(word));
	return t->words[t->n++] ? 0 : -ENOMEM;
}

static int add(struct carry_tests *t, struct arena *a, struct sv name)
{
	char word[WORD_MAX + 1];
	struct sv words, w;
	int r = add_word(t, a, name);
	size_t i;

	(void)carry_word_plain(name, word);
	for (i = 0; r == 0 && i < ARRAY_LEN(called); i++)
		for (words = sv_of(strcmp(called[i].package, word) == 0 ? called[i].commands : "");
		     r == 0 && next_word(&words, &w);)
			r = add_word(t, a, w);
	return r;
}

/* "python3-numpy" is also numpy, "iputils-ping" ping. */
static int add_package(struct carry_tests *t, struct arena *a, struct sv name)
{
	size_t i;
	int r = add(t, a, name);

	for (i = 0; r == 0 && i + 1 < name.n; i++)
		if (name.p[i] == '-' && i > 0)
			r = add(t, a, sv_n(name.p + i + 1, name.n - i - 1));
	return r;
}

/* What a command is, by its words. */
struct line {
	bool installer, verb, venv, named, project;
};

static void look(struct sv words, struct line *l)
{
	static const char *const installers[] = {
		"apt",  "apt-get", "aptitude", "apk",   "yum", "dnf",    "microdnf", "zypper", "pacman",     "brew",
		"pip",  "pip3",    "pipx",     "uv",    "uvx", "poetry", "conda",    "mamba",  "micromamba", "npm",
		"pnpm", "yarn",    "bun",      "cargo", "go",  "gem",    "cpan",     "cpanm",  "luarocks"};
	static const char *const verbs[] = {"install", "add", "i", "get", "-S", "-Sy", "-Syu", "--with", "-w", "uvx"};
	static const char *const makers[] = {"init", "sync", "run"};
	bool uv = false, module = false;
	struct sv w;

	*l = (struct line){0};
	while (next_word(&words, &w)) {
		l->installer |= listed(installers, ARRAY_LEN(installers), w);
		l->verb |= listed(verbs, ARRAY_LEN(verbs), w);
		l->named |= sv_is(w, "virtualenv") || ((uv || module) && sv_is(w, "venv"));
		l->venv |= l->named || (uv && listed(makers, ARRAY_LEN(makers), w));
		l->project |= uv && sv_is(w, "init");
		uv |= sv_is(w, "uv");
		module = sv_is(w, "-m");
	}
}

static bool has_folder(const char *folders, struct sv one)
{
	const char *at, *end;

	for (at = folders; at; at = *end ? end + 1 : NULL) {
		end = strchrnul(at, ':');
		if (sv_eq(sv_n(at, (size_t)(end - at)), one))
			return true;
	}
	return false;
}

/* Adds it to "A:B:C". */
static int add_path(struct arena *a, const char **list, size_t *n, struct sv path)
{
	if (path.n == 0 || path.n > FOLDER_MAX || *n == CARRY_TESTS_FOLDERS || has_folder(*list, path))
		return 0;
	++*n;
	*list = *list ? arena_printf(a, "%s:%.*s", *list, (int)path.n, path.p) : arena_str(a, path);
	return *list ? 0 : -ENOMEM;
}

/* What is behind `cd` or PYTHONPATH=, without quotes, if it is a path and no variable. */
static int add_folders(struct carry_tests *t, struct arena *a, struct sv command)
{
	static const char *const before[] = {"cd ", "pushd ", "PYTHONPATH="};
	const char *at, *end = command.p + command.n;
	size_t i, n;
	int r = 0;

	for (i = 0; r == 0 && i < ARRAY_LEN(before); i++) {
		at = memmem(command.p, command.n, before[i], strlen(before[i]));
		if (!at || (at > command.p && in_word(at[-1])))
			continue;
		at += strlen(before[i]);
		while (at < end && memchr(" \t\"'", *at, 4))
			at++;
		for (n = 0; at + n < end && !memchr(" \t\"')", at[n], 5); n++)
			;
		r = add_path(a, &t->folders, &t->n_folders, sv_n(at, n));
		if (r == 0 && sv_ends(sv_of(before[i]), "="))
			r = add_path(a, &t->modules, &t->n_modules, sv_n(at, n));
		else if (r == 0)
			t->here = n && n <= FOLDER_MAX && at[0] == '/' ? arena_str(a, sv_n(at, n)) : NULL;
	}
	return r;
}

/* The next argument of *s, without quotes around it. */
static bool next_argument(struct sv *s, struct sv *ret)
{
	size_t n = 0;

	while (s->n && memchr(" \t\"'(),", s->p[0], 7))
		*s = sv_n(s->p + 1, s->n - 1);
	while (n < s->n && !memchr(" \t\"'(),", s->p[n], 7))
		n++;
	*ret = sv_n(s->p, n);
	*s = sv_n(s->p + n, s->n - n);
	return n > 0;
}

/* The last name of a path; of a folder's, too. */
static struct sv last_name(struct sv path)
{
	size_t n;

	while (path.n && path.p[path.n - 1] == '/')
		path.n--;
	for (n = path.n; n && path.p[n - 1] != '/'; n--)
		;
	return sv_n(path.p + n, path.n - n);
}

/* A test file, or what may well hold some. */
static bool may_be_tests(struct sv path)
{
	static const char *const names[] = {"*test*.py", "[*]", "[*].py", "tests", "test", ".", "*_tests"};
	struct sv name = last_name(path);
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (glob_component(sv_of(names[i]), name))
			return true;
	return false;
}

/* A folder, or a file, of which the folder counts. */
static int add_place(struct carry_tests *t, struct arena *a, struct sv to)
{
	struct sv name = last_name(to);
	int r = add_path(a, &t->copies, &t->n_copies, to);

	return r < 0 || name.n == to.n || !sv_ends(name, ".py")
		       ? r
		       : add_path(a, &t->copies, &t->n_copies, sv_n(to.p, (size_t)(name.p - to.p) - 1));
}

static int add_copy(struct carry_tests *t, struct arena *a, struct sv to)
{
	const char *path;

	if (to.n == 0 || to.p[0] == '/' || to.p[0] == '$')
		return add_place(t, a, to);
	t->copies_here = true;
	if (!t->here || to.n > FOLDER_MAX)
		return add_place(t, a, to);
	path = arena_printf(a, "%s/%.*s", t->here, (int)to.n, to.p);
	return !path ? -ENOMEM : add_place(t, a, to) < 0 ? -ENOMEM : add_place(t, a, sv_of(path));
}

/* `pytest /app/sub/test_x.py::test_y`: one of the tests' own files, elsewhere than they are. */
static int add_named(struct carry_tests *t, struct arena *a, const struct carry_test_files *files, struct sv arg)
{
	const char *more = memmem(arg.p, arg.n, "::", 2);
	struct sv path = more ? sv_n(arg.p, (size_t)(more - arg.p)) : arg, name = last_name(path);

	if (name.n == path.n || !sv_ends(name, ".py") || sv_starts(path, "/tests/") ||
	    !carry_tests_have(files, sv_n(name.p, name.n - 3), false))
		return 0;
	return add_copy(t, a, path);
}

/* `cp /tests/test_x.py /app/sub`, `cat >/app/sub/test_x.py`: where tests come to be, they are run. */
static int add_copies(struct carry_tests *t, struct arena *a, const struct carry_test_files *files, struct sv command)
{
	static const char *const copiers[] = {"cp",          "mv",           "install",         "rsync",          "ln",
					      "shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree"};
	bool copies = false, tests = false, into = false;
	struct sv arg, last = {"", 0};
	int r = 0;

	while (r == 0 && next_argument(&command, &arg)) {
		size_t n = 0;

		while (n < arg.n && arg.p[n] == '>')
			n++;
		into |= n > 0;
		arg = sv_n(arg.p + n, arg.n - n);
		if (into && arg.n) {
			r = may_be_tests(arg) ? add_copy(t, a, arg) : 0;
			into = false;
			continue;
		}
		if (copies && arg.n && arg.p[0] != '-') {
			tests |= may_be_tests(last);
			last = arg;
		}
		copies |= listed(copiers, ARRAY_LEN(copiers), arg);
		r = add_named(t, a, files, arg);
	}
	return r < 0 || !tests ? r : add_copy(t, a, last);
}

static int take_command(struct carry_tests *t, struct arena *a, const struct carry_test_files *files, struct sv words,
			bool list)
{
	struct line l;
	struct sv w;
	int r = add_folders(t, a, words);

	r = r < 0 ? r : add_copies(t, a, files, words);
	look(words, &l);
	t->makes_venv |= l.venv;
	t->makes_project |= l.project;
	if (!list && !l.named && (!l.installer || !l.verb))
		return 0;
	while (r == 0 && next_word(&words, &w))
		r = add_package(t, a, w);
	return r;
}

/* "a && b | c; d" */
static int take_line(struct carry_tests *t, struct arena *a, const struct carry_test_files *files, struct sv line,
		     bool list)
{
	size_t n;
	int r = 0;

	while (r == 0 && line.n) {
		for (n = 0; n < line.n && !memchr("&|;", line.p[n], 3); n++)
			;
		r = take_command(t, a, files, sv_n(line.p, n), list);
		n += n < line.n;
		line = sv_n(line.p + n, line.n - n);
	}
	return r;
}

/* A comment is not what tests do. */
static struct sv without_comment(struct sv line)
{
	size_t i;

	for (i = 0; i < line.n; i++)
		if (line.p[i] == '#' && (i == 0 || line.p[i - 1] == ' ' || line.p[i - 1] == '\t'))
			return sv_n(line.p, i);
	return line;
}

/* A line with those that a backslash at its end adds to it: spaces take the place of both. */
static bool whole_line(struct sv *text, struct buf *out)
{
	bool more = text->n > 0;

	buf_clear(out);
	while (more && text->n) {
		const char *end = memchr(text->p, '\n', text->n);
		size_t n = end ? (size_t)(end - text->p) : text->n;
		struct sv line = without_comment(sv_n(text->p, n));

		more = line.n && line.p[line.n - 1] == '\\';
		(void)buf_sv(out, sv_n(line.p, line.n - more));
		(void)buf_char(out, ' ');
		*text = sv_n(text->p + n + (end != NULL), text->n - n - (end != NULL));
	}
	return out->n > 0;
}

static int take_text(struct carry_tests *t, struct arena *a, const struct carry_test_files *files,
		     const struct carry_test_file *f)
{
	struct sv text = f->text;
	AUTO_BUF line = {0};
	int r = 0;

	buf_init(&line, 2 * CARRY_TESTS_FILE);
	t->here = NULL;
	while (r == 0 && text.n)
		if (whole_line(&text, &line))
			r = take_line(t, a, files, buf_view(&line), f->list);
	return r < 0 ? r : buf_failed(&line) ? -ENOMEM : 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int carry_tests_learn(struct carry_tests *t, struct arena *a, const struct carry_test_files *files)
{
	const struct carry_test_file *f;
	int r = 0;

	for (f = files ? files->first : NULL; f && r == 0; f = f->next)
		r = take_text(t, a, files, f);
	if (r == 0 && t->n)
		qsort(t->words, t->n, sizeof(t->words[0]), by_text);
	return r;
}

/* Is it run, or read by what is run? Data of tests can be large, and orders nothing. */
static bool is_script(const char *name)
{
	static const char *const endings[] = {".sh",  ".bash", ".bats", ".py",  ".js",  ".cjs", ".mjs",
					      ".ts",  ".rb",   ".pl",   ".php", ".lua", ".R",   ".toml",
					      ".cfg", ".ini",  ".txt",  ".yml", ".yaml"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(endings); i++)
		if (sv_ends(sv_of(name), endings[i]))
			return true;
	return !strchr(name, '.');
}

/* below: where that is, with a slash at its end; "" at the top. */
static int read_file(struct carry_test_files *files, struct arena *a, int folder, const char *below, const char *name)
{
	struct carry_test_file *f;
	AUTO_BUF text = {0};
	int r;

	buf_init(&text, CARRY_TESTS_FILE);
	r = files->bytes < CARRY_TESTS_BYTES ? carry_read(folder, name, &text) : -EFBIG;
	if (r < 0 && r != -EFBIG && r != -ELOOP)
		return r == -ENOMEM ? r : 0;
	if (r == -EFBIG) {
		buf_clear(&text);
		files->cut |= is_script(name);
	}
	f = arena_alloc(a, sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = (struct carry_test_file){.next = files->first,
				      .name = arena_str(a, sv_of(name)),
				      .path = arena_printf(a, "%s%s", below, name),
				      .list = glob_component(sv_of("*requirements*.txt"), sv_of(name))};
	f->text = sv_n(arena_str(a, buf_view(&text)), text.n);
	if (!f->text.p || !f->name || !f->path)
		return -ENOMEM;
	files->first = f;
	files->bytes += text.n;
	return 0;
}

int carry_tests_read_file(struct carry_test_files *files, struct arena *a, int folder, const char *name)
{
	return read_file(files, a, folder, "", name);
}

/* Scripts, or what is none. */
static int read_folder(struct carry_test_files *files, struct arena *a, int folder, const char *below, bool scripts,
		       unsigned depth) /* NOLINT(misc-no-recursion) */
{
	DIR *d = sys_list(folder);
	struct dirent *e;
	struct stat st;
	int r = 0;

	if (!d)
		return -errno;
	while (r == 0 && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    fstatat(folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		files->cut |= S_ISDIR(st.st_mode) && depth == DEPTH_MAX;
		if ((S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) && is_script(e->d_name) == scripts) {
			r = read_file(files, a, folder, below, e->d_name);
		} else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
			AUTO_FD in = openat(folder, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			const char *to = arena_printf(a, "%s%s/", below, e->d_name);

			r = in < 0 ? 0 : !to ? -ENOMEM : read_folder(files, a, in, to, scripts, depth + 1);
		}
	}
	(void)closedir(d);
	return r;
}

int carry_tests_read(struct carry_test_files *files, struct arena *a, int folder)
{
	int r = read_folder(files, a, folder, "", true, 0);

	return r < 0 ? r : read_folder(files, a, folder, "", false, 0);
}

bool carry_tests_install(const struct carry_tests *t, struct sv name)
{
	char word[WORD_MAX + 1];
	const char *key = word;

	if (name.n == 0 || name.n > WORD_MAX || !t->n)
		return false;
	(void)carry_word_plain(name, word);
	return bsearch(&key, t->words, t->n, sizeof(t->words[0]), by_text);
}

bool carry_tests_have(const struct carry_test_files *files, struct sv name, bool any)
{
	const struct carry_test_file *f;

	for (f = files && name.n ? files->first : NULL; f; f = f->next) {
		struct sv file = sv_of(f->name ? f->name : "");

		if (file.n == name.n + 3 && sv_ends(file, ".py") && sv_eq(sv_n(file.p, name.n), name) &&
		    (any || sv_starts(name, "test_") || sv_ends(name, "_test")))
			return true;
	}
	return false;
}

static bool in_identifier(char c)
{
	return (in_word(c) && c != '-' && c != '.' && c != '+') || (unsigned char)c >= 0x80;
}

/* Is the name at `at`, a whole word, one that is imported? */
static bool is_imported(struct sv text, const char *at, size_t n)
{
	static const char *const before[] = {"import", "from", "-m"};
	const char *s = at, *end = text.p + text.n;
	size_t i;

	if ((at > text.p && in_identifier(at[-1])) || (at + n < end && in_identifier(at[n])))
		return false;
	/* "name.part", "whole.name": but a path's "name/x" or "name.py" says nothing */
	if (at + n + 1 < end && at[n] == '.' && in_identifier(at[n + 1]) &&
	    !(end - at - (ptrdiff_t)n >= 3 && memcmp(at + n, ".py", 3) == 0 &&
	      (at + n + 3 == end || !in_identifier(at[n + 3]))))
		return true;
	if (at > text.p + 1 && at[-1] == '.' && in_identifier(at[-2]))
		return true;
	while (s > text.p && (s[-1] == ' ' || s[-1] == '\t'))
		s--;
	for (i = 0; s < at && i < ARRAY_LEN(before); i++)
		if (sv_ends(sv_n(text.p, (size_t)(s - text.p)), before[i]))
			return true;
	return false;
}

bool carry_tests_import(const struct carry_test_files *files, struct sv name)
{
	const struct carry_test_file *f;

	for (f = files && name.n ? files->first : NULL; f; f = f->next)
		if (memmem(f->text.p, f->text.n, "from .", 6))
			return true;
	return carry_tests_module(files, name);
}

bool carry_tests_module(const struct carry_test_files *files, struct sv name)
{
	const struct carry_test_file *f;
	const char *at, *end;

	for (f = files && name.n ? files->first : NULL; f; f = f->next) {
		end = f->text.p + f->text.n;
		for (at = f->text.p; (at = memmem(at, (size_t)(end - at), name.p, name.n)); at++)
			if (is_imported(f->text, at, name.n))
				return true;
	}
	return false;
}
