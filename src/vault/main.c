/*
 * cordon-vault CREDENTIALS_FILE CA_FILE inside|outside|witness: the vault role (vault/vault.h), or its witness
 * (vault/witness.h); CA_FILE may be empty, `inside` asks for certificates for programs inside. Started by cordon, which
 * has the other end of fd 3. A file that does not exist holds no credentials.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/secret.h"
#include "sys/role_confine.h"
#include "vault/credentials_read.h"
#include "vault/runner.h"
#include "vault/trust.h"
#include "vault/vault.h"
#include "vault/witness.h"
#include "wire/wire.h"

enum { SUPERVISOR = 3, FDS_MAX = 16, MEMORY_MAX = 512 << 20 };

/* For jansson, which copies what it reads. */
static void free_wiped(void *p)
{
	secret_wipe(p, malloc_usable_size(p));
	free(p);
}

static int run(const char *path, const char *ca_file, bool inside, struct error *err)
{
	struct credentials *credentials = NULL;
	struct likeness_base base = {0};
	struct mint *mint = NULL;
	struct vault *v = NULL;
	int socket = -1, r;
	pid_t runner;

	if (credentials_read(path, &credentials, err) < 0)
		return -1;
	runner = runner_start(credentials, &socket);
	if (runner < 0)
		return error_sys(err, runner, "source runner");
	likeness_here(&base);
	if (mint_new(&mint, err) < 0 || trust_send(SUPERVISOR, mint, ca_file, inside, base.ca, err) < 0)
		return -1;
	(void)malloc_trim(0); /* what reading the files took */
	r = role_confine(&(struct role_needs){
		.may = ROLE_POLL, .first_closed = FDS_MAX, .descriptors = FDS_MAX, .memory = MEMORY_MAX});
	if (r < 0)
		return error_sys(err, r, "the vault cannot be confined");
	v = vault_new(credentials, mint, &base, SUPERVISOR, socket);
	if (!v)
		return error_sys(err, ENOMEM, "vault");
	r = vault_serve(v, err);
	vault_free(v);
	mint_free(mint);
	credentials_free(credentials);
	return r;
}

int main(int argc, char **argv)
{
	struct error err = {0};
	AUTO_BUF body = {0};
	const char *ca_file;
	int r;

	if (argc != 4 || fcntl(SUPERVISOR, F_SETFD, FD_CLOEXEC) < 0) {
		fprintf(stderr, "cordon-vault: is started by cordon\n");
		return 125;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	/* jansson draws its seed from a file on first use. */
	json_set_alloc_funcs(malloc, free_wiped);
	json_object_seed(0);
	ca_file = argv[2][0] ? argv[2] : NULL;
	r = strcmp(argv[3], "witness") == 0 ? witness_serve(SUPERVISOR, argv[1], ca_file, &err)
					    : run(argv[1], ca_file, strcmp(argv[3], "inside") == 0, &err);
	if (r == 0)
		return 0;
	buf_init(&body, 4096);
	wire_put_sv(&body, sv_of(err.text));
	(void)wire_send(SUPERVISOR, VAULT_FAILED, buf_view(&body), NULL, 0);
	return 125;
}
