#include "vault/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "tls/bundle.h"
#include "vault/vault.h"
#include "wire/wire.h"

/* The operator's file, where there is one. */
static int read_own(const char *ca_file, struct buf *out, unsigned char ret_ca[SHA256_SIZE], struct error *err)
{
	struct text_shown shown;
	struct sha256 h;
	int r;

	memset(ret_ca, 0, SHA256_SIZE);
	if (!ca_file)
		return 0;
	r = buf_read_file(out, ca_file);
	if (r < 0)
		return error_sys(err, r, "gateway.yaml: ca_file: %s", text_show(&shown, sv_of(ca_file)));
	sha256_init(&h);
	sha256_add(&h, out->p, out->n);
	sha256_done(&h, ret_ca);
	return 0;
}

static int read_roots(const char *ca_file, struct buf *out, unsigned char ret_ca[SHA256_SIZE], struct error *err)
{
	struct error missing = {0};
	struct text_shown shown;
	AUTO_BUF own = {0};
	int n;

	/* An operator's file alone may do, on a machine that has no certificates. */
	if (bundle_read_system(out, &missing) < 0 && !ca_file) {
		*err = missing;
		return -1;
	}
	buf_init(&own, BUNDLE_MAX);
	if (read_own(ca_file, &own, ret_ca, err) < 0)
		return -1;
	if (!ca_file)
		return 0;
	n = bundle_add(out, buf_view(&own), ca_file, err);
	if (n == 0)
		return error_set(err, ERROR_INPUT, "gateway.yaml: ca_file: %s: no certificate in it; it must be PEM",
				 text_show(&shown, sv_of(ca_file)));
	return n < 0 ? -1 : 0;
}

/* Making Java's store takes longer than all the rest together. */
static bool has_java(void)
{
	static const char *const signs[] = {"/etc/ssl/certs/java/cacerts", "/etc/pki/ca-trust/extracted/java/cacerts",
					    "/usr/bin/java", "/usr/lib/jvm", NULL};
	size_t i;

	for (i = 0; signs[i]; i++)
		if (access(signs[i], F_OK) == 0)
			return true;
	return false;
}

static int make_inside(const struct mint *mint, const struct buf *roots, struct buf *bundle, struct buf *java,
		       struct error *err)
{
	AUTO_BUF ca = {0};

	buf_init(&ca, 16 * 1024);
	if (mint_certificate(mint, &ca, err) < 0)
		return -1;
	if (buf_sv(bundle, buf_view(roots)) < 0 || buf_sv(bundle, buf_view(&ca)) < 0)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	return has_java() ? bundle_java(buf_view(bundle), java, err) : 0;
}

static int memory_file(const struct buf *b)
{
	int fd = memfd_create("cordon-trust", MFD_CLOEXEC | MFD_ALLOW_SEALING), r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, b->p, b->n);
	if (r == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		r = -errno;
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	return fd;
}

int trust_digest(const char *ca_file, unsigned char ret_ca[SHA256_SIZE], struct error *err)
{
	AUTO_BUF own = {0};

	buf_init(&own, BUNDLE_MAX);
	return read_own(ca_file, &own, ret_ca, err);
}

int trust_send(int socket, const struct mint *mint, const char *ca_file, bool inside, unsigned char ret_ca[SHA256_SIZE],
	       struct error *err)
{
	AUTO_BUF roots = {0};
	AUTO_BUF bundle = {0};
	AUTO_BUF java = {0};
	const struct buf *all[] = {&roots, &bundle, &java};
	int fds[ARRAY_LEN(all)] = {-1, -1, -1}, r = 0;
	size_t i;

	buf_init(&roots, BUNDLE_MAX);
	buf_init(&bundle, 2 * BUNDLE_MAX);
	buf_init(&java, 2 * BUNDLE_MAX);
	if (read_roots(ca_file, &roots, ret_ca, err) < 0 ||
	    (inside && make_inside(mint, &roots, &bundle, &java, err) < 0))
		return -1;
	for (i = 0; r >= 0 && i < ARRAY_LEN(all); i++)
		r = fds[i] = memory_file(all[i]);
	if (r >= 0)
		r = wire_send(socket, VAULT_TRUST, sv_of(""), fds, ARRAY_LEN(fds));
	for (i = 0; i < ARRAY_LEN(fds); i++)
		cleanup_fd(&fds[i]);
	return r < 0 ? error_sys(err, r, "certificates") : 0;
}
