#include "vault/witness.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "vault/credentials_read.h"
#include "vault/likeness.h"
#include "vault/source.h"
#include "vault/source_value.h"
#include "vault/trust.h"
#include "vault/vault.h"
#include "wire/wire.h"

enum { NAMES_MAX = 1024 };

static bool is_named(char *const *names, const char *name)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

/* One without a value is what a run has that could not fetch it: it may start all the same (vault/known.h), or may not.
 */
static void add(struct likeness *l, const struct credential *c)
{
	struct source_value value = {0};
	struct error ignored = {0};
	AUTO_BUF bytes = {0};

	if (c->from.kind != SOURCE_COMMAND && source_fetch(&c->from, &bytes, &ignored) == 0)
		(void)source_value_parse(c, buf_view(&bytes), (int64_t)time(NULL), &value, &ignored);
	source_wipe(&bytes);
	likeness_add(l, c, value.parts);
	source_value_done(&value);
}

static int tell(int socket, const struct credentials *credentials, const struct likeness_base *base, struct sv body,
		struct error *err)
{
	unsigned char mac[LIKENESS_SIZE];
	struct likeness *l;
	struct wire_in in;
	struct sv nonce, about;
	AUTO_BUF b = {0};
	char **names;
	uint32_t i;

	wire_in_init(&in, body);
	nonce = wire_get_sv(&in);
	about = wire_get_sv(&in);
	names = wire_get_strings(&in, NAMES_MAX);
	l = names && wire_ok(&in) ? likeness_new(base, nonce, about) : NULL;
	for (i = 0; l && i < credentials->n; i++)
		if (is_named(names, credentials->v[i].name))
			add(l, &credentials->v[i]);
	free(names);
	if (likeness_end(l, mac) < 0)
		return error_set(err, ERROR_SYSTEM, "credentials: a malformed question, or no memory");
	buf_init(&b, 64);
	wire_put_sv(&b, sv_n((const char *)mac, sizeof(mac)));
	i = (uint32_t)-wire_send(socket, VAULT_WITNESSED, buf_view(&b), NULL, 0);
	return i ? error_sys(err, -(int)i, "credentials") : 0;
}

int witness_serve(int socket, const char *path, const char *ca_file, struct error *err)
{
	struct credentials *credentials = NULL;
	struct likeness_base base = {0};
	struct wire_message m;
	int r;

	if (credentials_read(path, &credentials, err) < 0)
		return -1;
	likeness_here(&base);
	r = trust_digest(ca_file, base.ca, err);
	if (r == 0 && wire_receive(socket, &m) <= 0)
		r = error_set(err, ERROR_SYSTEM, "credentials: nobody asks");
	else if (r == 0) {
		r = m.type == VAULT_WITNESS ? tell(socket, credentials, &base, buf_view(&m.body), err)
					    : error_set(err, ERROR_SYSTEM, "credentials: a malformed question");
		wire_message_done(&m);
	}
	credentials_free(credentials);
	return r;
}
