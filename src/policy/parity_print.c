#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "policy/parity.h"

/* Below the table, each once: what its cells could not hold. */
struct footnotes {
	const char *v[32];
	unsigned n;
};

static unsigned footnote(struct footnotes *f, const char *how)
{
	unsigned i;

	for (i = 0; i < f->n && strcmp(f->v[i], how) != 0; i++)
		;
	if (i == f->n && f->n < sizeof(f->v) / sizeof(f->v[0]))
		f->v[f->n++] = how;
	return i + 1;
}

static void print_table(const struct parity_row *r, struct footnotes *f, struct buf *out)
{
	static const char *const short_names[] = {"yes", "other", "refused", "at load"};
	char cell[32];
	int i;

	for (; r->key; r++) {
		(void)buf_printf(out, "%-40s", r->key);
		for (i = RUNTIME_NATIVE; i < RUNTIMES; i++) {
			const struct parity_cell *c = &r->on[i];

			if (c->how)
				(void)snprintf(cell, sizeof(cell), "%s (%u)", short_names[c->state],
					       footnote(f, c->how));
			else
				(void)snprintf(cell, sizeof(cell), "%s", short_names[c->state]);
			(void)buf_printf(out, i + 1 < RUNTIMES ? " %-12s" : " %s", cell);
		}
		(void)buf_char(out, '\n');
	}
}

static void print_all(struct buf *out)
{
	struct footnotes f = {0};
	unsigned i;
	int k;

	(void)buf_printf(out, "%-40s", "");
	for (k = RUNTIME_NATIVE; k < RUNTIMES; k++)
		(void)buf_printf(out, k + 1 < RUNTIMES ? " %-12s" : " %s", runtime_names[k]);
	(void)buf_char(out, '\n');
	print_table(parity_keys, &f, out);
	(void)buf_char(out, '\n');
	print_table(parity_rest, &f, out);
	(void)buf_str(out,
		      "\nother: enforced by other means. refused: a policy that asks for it does not run there.\n");
	for (i = 0; i < f.n; i++)
		(void)buf_printf(out, "(%u) %s\n", i + 1, f.v[i]);
}

static void print_one(const struct parity_row *r, enum runtime runtime, struct buf *out)
{
	for (; r->key; r++)
		(void)buf_printf(out, "%-40s %s%s%s\n", r->key, parity_state_names[r->on[runtime].state],
				 r->on[runtime].how ? ": " : "", r->on[runtime].how ? r->on[runtime].how : "");
}

void parity_print(enum runtime runtime, struct buf *out)
{
	if (runtime == RUNTIME_AUTO) {
		print_all(out);
		return;
	}
	print_one(parity_keys, runtime, out);
	(void)buf_char(out, '\n');
	print_one(parity_rest, runtime, out);
}

static void put_rows(struct json *j, const char *name, const struct parity_row *r)
{
	int i;

	json_key(j, name);
	json_list(j);
	for (; r->key; r++) {
		json_open(j);
		json_kstr(j, "key", r->key);
		for (i = RUNTIME_NATIVE; i < RUNTIMES; i++) {
			json_key(j, runtime_names[i]);
			json_open(j);
			json_kstr(j, "state", parity_state_names[r->on[i].state]);
			json_kstr(j, "how", r->on[i].how);
			json_close(j);
		}
		json_close(j);
	}
	json_end(j);
}

void parity_print_json(struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_open(&j);
	json_kint(&j, "version", 1);
	put_rows(&j, "keys", parity_keys);
	put_rows(&j, "rest", parity_rest);
	json_close(&j);
	(void)buf_char(out, '\n');
}
