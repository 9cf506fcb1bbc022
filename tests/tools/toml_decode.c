/*
 * toml-decode: conf/toml.h as toml-test's suite asks for it. Without arguments it is a decoder of its kind: TOML on
 * standard input, tagged JSON on standard output, exit 1 and the error on standard error where it is none. With files
 * it prints one line for each: the JSON, or "!" and the error.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "conf/toml.h"

enum { IN_MAX = 16 << 20, OUT_MAX = 64 << 20 };

static void put(struct json *j, const struct ynode *n)
{
	static const char *const types[] = {
		[YTYPE_STRING] = "string",         [YTYPE_INTEGER] = "integer",
		[YTYPE_FLOAT] = "float",           [YTYPE_BOOL] = "bool",
		[YTYPE_DATETIME] = "datetime",     [YTYPE_LOCAL_DATETIME] = "datetime-local",
		[YTYPE_LOCAL_DATE] = "date-local", [YTYPE_LOCAL_TIME] = "time-local",
	};
	const struct ynode *k;

	if (n->kind == YNODE_LIST) {
		json_list(j);
		for (k = n->first; k; k = k->next)
			put(j, k);
		json_end(j);
		return;
	}
	json_open(j);
	if (n->kind == YNODE_SCALAR) {
		json_kstr(j, "type", types[n->type]);
		json_key(j, "value");
		json_sv(j, n->text);
	}
	for (k = n->kind == YNODE_MAP ? n->first : NULL; k; k = k->next) {
		json_key_sv(j, k->text);
		put(j, k->value);
	}
	json_close(j);
}

static int decode(const char *name, struct sv text, struct buf *out, struct error *err)
{
	struct arena *a = arena_new();
	const struct ynode *root;
	struct json j;
	int r = toml_tree(a, name, text, &root, err);

	if (r == 0) {
		json_init(&j, out);
		put(&j, root);
	}
	arena_free(a);
	return r;
}

static int decode_file(const char *path)
{
	struct error err = {0};
	AUTO_BUF in = {0};
	AUTO_BUF out = {0};

	buf_init(&in, IN_MAX);
	buf_init(&out, OUT_MAX);
	if (buf_read_file(&in, path) < 0)
		return 1;
	if (decode(path, buf_view(&in), &out, &err) < 0)
		printf("!%s\n", err.text);
	else
		printf("%s\n", out.p);
	return buf_failed(&out) != 0;
}

int main(int argc, char **argv)
{
	struct error err = {0};
	AUTO_BUF in = {0};
	AUTO_BUF out = {0};
	int i, bad = 0;

	for (i = 1; i < argc; i++)
		bad |= decode_file(argv[i]);
	if (argc > 1)
		return bad;
	buf_init(&in, IN_MAX);
	buf_init(&out, OUT_MAX);
	if (buf_read_fd(&in, 0) < 0)
		return 2;
	if (decode("stdin", buf_view(&in), &out, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("%s\n", out.p);
	return buf_failed(&out) != 0;
}
