#include "supervise/gate_likeness.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "supervise/gate_conf.h"
#include "supervise/gate_roles.h"
#include "vault/vault.h"
#include "wire/wire.h"

_Static_assert((int)GATE_LIKENESS_BYTES == LIKENESS_NONCE && (int)GATE_LIKENESS_BYTES == LIKENESS_SIZE,
	       "vault/likeness.h");

static int ask(int socket, const struct gate_request *req, const struct gate_conf *conf, const struct gate_likeness *l,
	       struct error *err)
{
	unsigned char about[SHA256_SIZE];
	AUTO_BUF b = {0};
	int r;

	gate_conf_digest(conf, about);
	buf_init(&b, WIRE_MAX_BODY);
	wire_put_sv(&b, sv_n((const char *)l->nonce, sizeof(l->nonce)));
	wire_put_sv(&b, sv_n((const char *)about, sizeof(about)));
	if (gate_conf_put_names(req->policy, &b, err) < 0)
		return -1;
	r = wire_send(socket, VAULT_WITNESS, buf_view(&b), NULL, 0);
	return r < 0 && r != -EPIPE && r != -ECONNRESET ? error_sys(err, r, "cordon-vault") : 0;
}

static int hear(int socket, struct gate_likeness *l, struct error *err)
{
	struct pollfd p = {.fd = socket, .events = POLLIN};
	struct wire_message m;
	struct wire_in in;
	struct sv said;
	int r;

	do
		r = poll(&p, 1, GATE_LIKENESS_MS);
	while (r < 0 && errno == EINTR);
	if (r <= 0 || wire_receive(socket, &m) <= 0)
		return error_set(err, ERROR_SYSTEM, "cordon-vault does not say what the credentials are");
	wire_in_init(&in, buf_view(&m.body));
	said = wire_get_sv(&in);
	if (m.type == VAULT_WITNESSED && wire_ok(&in) && said.n == sizeof(l->mac)) {
		memcpy(l->mac, said.p, sizeof(l->mac));
		r = 0;
	} else {
		r = error_set(err, ERROR_INPUT, "%.*s", (int)said.n, said.p);
	}
	wire_message_done(&m);
	return r;
}

int gate_likeness(const struct gate_request *req, struct gate_likeness *ret, struct error *err)
{
	struct gate_role witness = {.name = "vault", .control = -1};
	struct gate_likeness l = {0};
	struct gate_conf conf = {0};
	char *argv[] = {(char[]){"cordon-vault"}, NULL, NULL, (char[]){"witness"}, NULL};
	int r;

	if (getrandom(l.nonce, sizeof(l.nonce), 0) != (ssize_t)sizeof(l.nonce))
		return error_sys(err, errno, "getrandom");
	if (gate_conf_read(req, &conf, err) < 0)
		return -1;
	argv[1] = conf.credentials;
	argv[2] = conf.ca_file;
	r = gate_role_start(&witness, argv, req->environment, NULL, 0, err);
	if (r == 0)
		r = ask(witness.control, req, &conf, &l, err);
	if (r == 0)
		r = hear(witness.control, &l, err);
	gate_role_end(&witness);
	gate_conf_done(&conf);
	if (r == 0)
		*ret = l;
	return r;
}
