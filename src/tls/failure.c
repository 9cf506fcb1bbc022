#include "tls/failure.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/x509_vfy.h>
#include <string.h>

#include "base/cleanup.h"

static void from_errno(struct failure *f, int code)
{
	f->kind = code == ECONNRESET || code == EPIPE || code == ECONNABORTED ? STREAM_RESET : STREAM_SYSTEM;
	f->text = strerrordesc_np(code);
	if (!f->text)
		f->text = "system error";
}

static void from_verification(struct failure *f, long result)
{
	static const struct {
		long result;
		enum stream_failure kind;
	} kinds[] = {
		{X509_V_ERR_CERT_HAS_EXPIRED, STREAM_CERT_EXPIRED},
		{X509_V_ERR_CERT_NOT_YET_VALID, STREAM_CERT_EXPIRED},
		{X509_V_ERR_HOSTNAME_MISMATCH, STREAM_CERT_NAME},
		{X509_V_ERR_IP_ADDRESS_MISMATCH, STREAM_CERT_NAME},
		{X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, STREAM_CERT_UNTRUSTED},
		{X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, STREAM_CERT_UNTRUSTED},
		{X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, STREAM_CERT_UNTRUSTED},
		{X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, STREAM_CERT_UNTRUSTED},
		{X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, STREAM_CERT_UNTRUSTED},
		{X509_V_ERR_CERT_UNTRUSTED, STREAM_CERT_UNTRUSTED},
	};
	size_t i;

	f->kind = STREAM_CERT_BAD;
	f->text = X509_verify_cert_error_string(result);
	for (i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].result == result)
			f->kind = kinds[i].kind;
}

/* Alerts of the peer are reasons from SSL_AD_REASON_OFFSET on; OpenSSL's texts for them begin with what the reader need
 * not know. */
static void from_alert(struct failure *f, int alert)
{
	f->kind = alert == SSL_AD_NO_APPLICATION_PROTOCOL ? STREAM_NO_ALPN : STREAM_ALERT;
	f->text = SSL_alert_desc_string_long(alert);
}

static void from_library(struct failure *f, const SSL *ssl, unsigned long e, bool opening)
{
	int reason = ERR_GET_REASON(e);

	f->kind = STREAM_PROTOCOL;
	f->text = ERR_reason_error_string(e);
	if (!f->text)
		f->text = "TLS error";
	if (ERR_GET_LIB(e) != ERR_LIB_SSL)
		return;
	if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED)
		from_verification(f, SSL_get_verify_result(ssl));
	else if (reason == SSL_R_UNEXPECTED_EOF_WHILE_READING)
		*f = opening ? (struct failure){STREAM_RESET, "closed during the TLS handshake"}
			     : (struct failure){STREAM_CUT, "closed without a TLS close_notify"};
	else if (reason == SSL_R_NO_APPLICATION_PROTOCOL)
		f->kind = STREAM_NO_ALPN;
	else if (reason >= SSL_AD_REASON_OFFSET)
		from_alert(f, reason - SSL_AD_REASON_OFFSET);
}

void failure_set(struct failure *f, const SSL *ssl, int ssl_error, int code, bool opening)
{
	unsigned long e = ERR_peek_error();

	if (ssl && ssl_error == SSL_ERROR_SSL && e)
		from_library(f, ssl, e, opening);
	else
		from_errno(f, code ? code : ECONNRESET);
}
