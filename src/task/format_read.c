#include "task/format_read.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "task/format_value.h"

enum { METADATA_MAX = 4 << 20 };

const struct reader_text format_type_text = {.check = task_value_text};
const struct reader_text format_type_some = {.check = task_value_some};
const struct reader_text format_type_long = {.check = task_value_long};
const struct reader_text format_type_command = {.check = task_value_command};
const struct reader_text format_type_line = {.check = task_value_line};
const struct reader_text format_type_pattern = {.check = task_value_pattern};
const struct reader_text format_type_service = {.check = task_value_service};
const struct reader_text format_type_inside = {.check = task_value_inside};
const struct reader_text format_type_source = {.check = task_value_source};
const struct reader_text format_type_below = {.check = task_value_below};
const struct reader_text format_type_step = {.check = task_value_step};
const struct reader_text format_type_host = {.check = task_value_host};
const struct reader_text format_type_schema = {.check = task_value_schema};
const struct reader_text format_type_image = {.check = task_value_image};
const struct reader_number format_type_seconds = {.parse = task_value_seconds};
const struct reader_number format_type_seconds0 = {.parse = task_value_seconds0};
const struct reader_number format_type_bool = {.parse = task_value_bool};

static int want_string(struct reader *r, const struct ynode *n)
{
	if (n->kind == YNODE_SCALAR && n->type != YTYPE_UNTYPED && n->type != YTYPE_STRING)
		return reader_fail_value(r, n, "is not text; put quotes around it");
	return 0;
}

int format_str(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	return want_string(r, n) < 0 ? -1 : reader_str(r, n, to, arg);
}

int format_list(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct ynode *item;

	for (item = n->kind == YNODE_LIST ? n->first : NULL; item; item = item->next)
		if (want_string(r, item) < 0)
			return -1;
	return reader_list(r, n, to, arg);
}

int format_user(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const struct reader_text type = {.check = task_value_user};

	(void)arg;
	if (n->type == YTYPE_INTEGER)
		return reader_str(r, n, to, &type);
	return format_str(r, n, to, &type);
}

int format_num(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	return reader_num(r, n, to, arg);
}

void format_tell(struct reader *r, const struct reader_problem *p)
{
	const struct format_telling *t = r->problem_arg;

	task_problem_add(t->problems, &(struct task_problem){.warning = p->warning,
							     .file = t->file,
							     .line = p->line,
							     .column = p->column,
							     .key = p->path,
							     .what = p->what});
}

/* Does a failure end the reading? Else it was told, and what is behind it is read. */
static bool ends(const struct reader *r)
{
	return !r->problem || r->err->kind == ERROR_SYSTEM;
}

static int read_pair(struct reader *r, const struct ynode *key, struct pol_pair *to)
{
	struct ynode name = *key;

	name.plain = false;
	if (reader_string(r, &name, value_env_name, &to->key) < 0 || want_string(r, key->value) < 0 ||
	    reader_string(r, key->value, task_value_text, &to->value) < 0)
		return -1;
	to->at = reader_origin(r, key->value);
	return 0;
}

int format_pairs(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct pol_pairs *pairs = to;
	unsigned depth = r->depth;
	const struct ynode *k;

	(void)arg;
	pairs->v = reader_room(r, n, YNODE_MAP, sizeof(*pairs->v));
	if (!pairs->v)
		return -1;
	pairs->set = true;
	for (k = n->first; k; k = k->next) {
		reader_enter(r, k->text);
		if (read_pair(r, k, &pairs->v[pairs->n]) == 0)
			pairs->n++;
		else if (ends(r))
			return -1;
		r->depth = depth;
	}
	return 0;
}

int format_keep(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)r;
	(void)n;
	(void)to;
	(void)arg;
	return 0;
}

int format_only_empty(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)to;
	if (n->kind == YNODE_SCALAR ? n->text.n == 0 : n->n == 0)
		return 0;
	return reader_fail(r, n, "%s", (const char *)arg);
}

int format_never(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)to;
	return reader_fail(r, n, "%s", (const char *)arg);
}

int format_note(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)to;
	reader_warn(r, n, arg);
	return 0;
}

/* The list's pointer is of a type that is not known here: bytes are copied. */
static void set_items(void *to, char *v, uint32_t n)
{
	memcpy(to, &v, sizeof(v));
	memcpy((char *)to + sizeof(v), &n, sizeof(n));
}

int format_items(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct format_items *type = arg;
	const struct ynode *item;
	unsigned depth = r->depth;
	uint32_t i = 0;
	char *v;

	if (reader_want(r, n, YNODE_LIST) < 0)
		return -1;
	if (n->n > type->max)
		return reader_fail(r, n, "has more than %u entries", type->max);
	v = arena_array(r->arena, n->n, type->size);
	if (!v)
		return reader_no_memory(r);
	for (item = n->first; item; item = item->next, i++) {
		reader_enter_item(r, i);
		if (type->read(r, item, v + i * type->size, type->arg) < 0 && ends(r))
			return -1;
		r->depth = depth;
	}
	set_items(to, v, n->n);
	return 0;
}

int format_fail_at(struct reader *r, struct origin at, const char *key, const char *what)
{
	struct ynode place = {.line = at.line, .column = at.column};

	reader_enter(r, sv_of(key));
	(void)reader_fail(r, &place, "%s", what);
	reader_leave(r);
	return -1;
}

int format_check_network(struct reader *r, struct task_network *net, const struct pol_num *allow)
{
	bool no_internet = allow->set && !allow->v;

	if (net->mode.set && net->mode.v != NET_NONE && no_internet)
		return format_fail_at(r, allow->at, "allow_internet",
				      "is false, and network_mode says otherwise; keep one of them");
	if (net->mode.set && net->mode.v != NET_ALLOWLIST && net->hosts.n)
		return format_fail_at(
			r, net->hosts.v[0].at, "allowed_hosts",
			"means nothing with this network_mode; write network_mode \"allowlist\", or remove the hosts");
	if (net->hosts.n && no_internet)
		return format_fail_at(r, allow->at, "allow_internet",
				      "is false, and allowed_hosts has hosts; keep one of them");
	if (net->mode.set && net->mode.v == NET_ALLOWLIST && net->hosts.n == 0)
		return format_fail_at(
			r, net->mode.at, "network_mode",
			"is \"allowlist\", and allowed_hosts names no host; name some, or write \"no-network\"");
	if (!net->mode.set && net->hosts.n)
		net->mode = (struct pol_num){.v = NET_ALLOWLIST, .set = true, .at = net->hosts.v[0].at};
	if (!net->mode.set && allow->set)
		net->mode = (struct pol_num){.v = allow->v ? NET_PUBLIC : NET_NONE, .set = true, .at = allow->at};
	return 0;
}

int format_check_names(struct reader *r, const struct ynode *map, const char *one, const char *other)
{
	const struct ynode *twice = map->kind == YNODE_MAP && reader_find(map, one) ? reader_find(map, other) : NULL;

	if (!twice)
		return 0;
	reader_enter(r, sv_of(other));
	(void)reader_fail(r, twice, "is the same as \"%s\", which is there as well; keep one of them", one);
	reader_leave(r);
	return -1;
}

static void put(struct json *j, const struct ynode *n)
{
	static const char *const unsafe[] = {"inf", "-inf", "nan", NULL};
	const struct ynode *k;

	if (n->kind == YNODE_LIST) {
		json_list(j);
		for (k = n->first; k; k = k->next)
			put(j, k);
		json_end(j);
	} else if (n->kind == YNODE_MAP) {
		json_open(j);
		for (k = n->first; k; k = k->next) {
			json_key_sv(j, k->text);
			put(j, k->value);
		}
		json_close(j);
	} else if (n->type == YTYPE_INTEGER || n->type == YTYPE_BOOL ||
		   (n->type == YTYPE_FLOAT && name_index(unsafe, n->text) < 0)) {
		json_raw(j, n->text);
	} else {
		json_sv(j, n->text);
	}
}

const char *format_metadata(struct reader *r, const struct ynode *map, const char *const *keys)
{
	AUTO_BUF b = {0};
	struct json j;
	const struct ynode *k;
	const char *made;

	buf_init(&b, METADATA_MAX);
	json_init(&j, &b);
	json_open(&j);
	for (k = map->first; k; k = k->next)
		if (name_index(keys, k->text) >= 0) {
			json_key_sv(&j, k->text);
			put(&j, k->value);
		}
	json_close(&j);
	if (buf_failed(&b)) {
		(void)reader_fail(r, map, "what only describes the task is too large, or nested too deep; shorten it");
		return NULL;
	}
	made = arena_str(r->arena, buf_view(&b));
	if (!made)
		(void)reader_no_memory(r);
	return made;
}
