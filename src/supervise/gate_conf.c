#include "supervise/gate_conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "conf/misnamed.h"
#include "vault/credential.h"
#include "wire/wire.h"

enum { CONF_MAX = 1 << 20 };

static int no_memory(struct error *err)
{
	return error_set(err, ERROR_SYSTEM, "out of memory");
}

static int read_file(const char *folder, struct gateway_conf **ret, struct error *err)
{
	AUTO_FREE char *path = NULL;
	AUTO_BUF b = {0};
	int r;

	if (asprintf(&path, "%s/gateway.yaml", folder) < 0) {
		path = NULL;
		return no_memory(err);
	}
	buf_init(&b, CONF_MAX);
	r = buf_read_file(&b, path);
	if (r == -ENOENT || r == -ENOTDIR)
		return misnamed_refuse(path, err);
	return r < 0 ? error_sys(err, r, "%s", path) : gateway_parse(path, buf_view(&b), ret, err);
}

int gate_conf_read(const struct gate_request *req, struct gate_conf *ret, struct error *err)
{
	struct gate_conf c = {0};
	const char *ca;
	bool home;

	if (read_file(req->config, &c.file, err) < 0)
		return -1;
	ca = c.file && c.file->ca_file ? c.file->ca_file : "";
	home = ca[0] == '~' && ca[1] == '/' && req->home;
	if (asprintf(&c.credentials, "%s/credentials.yaml", req->config) < 0)
		c.credentials = NULL;
	if (asprintf(&c.ca_file, "%s%s", home ? req->home : "", home ? ca + 1 : ca) < 0)
		c.ca_file = NULL;
	if (!c.credentials || !c.ca_file) {
		gate_conf_done(&c);
		return no_memory(err);
	}
	*ret = c;
	return 0;
}

void gate_conf_done(struct gate_conf *c)
{
	gateway_conf_free(c->file);
	free(c->credentials);
	free(c->ca_file);
	*c = (struct gate_conf){0};
}

static void add(struct sha256 *h, const char *s)
{
	/* the NUL too: no two files read the same */
	sha256_add(h, s ? s : "", strlen(s ? s : "") + 1);
}

void gate_conf_digest(const struct gate_conf *c, unsigned char ret[SHA256_SIZE])
{
	const struct gateway_conf *f = c->file;
	struct sha256 h;
	uint32_t i, k;

	sha256_init(&h);
	for (i = 0; f && i < f->n_resolve; i++) {
		add(&h, f->resolve[i].host);
		for (k = 0; k < f->resolve[i].n; k++)
			add(&h, f->resolve[i].addresses[k]);
		add(&h, "");
	}
	add(&h, "");
	add(&h, f ? f->upstream_proxy : NULL);
	sha256_done(&h, ret);
}

int gate_conf_put_names(const struct policy *p, struct buf *out, struct error *err)
{
	const struct pol_str *names[GATE_MAX_PLACEHOLDERS];
	size_t n = credentials_wanted(p, names, ARRAY_LEN(names)), i;

	if (n > ARRAY_LEN(names))
		return error_set(err, ERROR_INPUT, "the policy names more than %zu credentials", ARRAY_LEN(names));
	wire_put_u32(out, (uint32_t)n);
	for (i = 0; i < n; i++)
		wire_put_sv(out, sv_of(names[i]->s));
	return 0;
}
