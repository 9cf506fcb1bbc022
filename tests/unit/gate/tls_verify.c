/* Whom TLS accepts: names, authorities, times, versions, and what resuming a session may skip. */
#include "tls_rig.h"

static void a_minted_leaf_is_accepted_for_its_name_and_alpn_is_agreed_on(void)
{
	struct world w;

	world_init(&w);
	join(&w, unix_pair);
	secure(&w, "api.example.test", "api.example.test");
	bytes_pass_both_ways(&w);
	CHECK(stream_alpn(w.a.stream) == ALPN_H2 && stream_alpn(w.b.stream) == ALPN_H2);
	CHECK(stream_is_tls(w.a.stream) && !stream_resumed(w.a.stream));
	world_done(&w);
}

static void an_address_is_verified_as_one(void)
{
	struct world w;

	world_init(&w);
	join(&w, tcp_pair);
	secure(&w, "127.0.0.1", "127.0.0.1");
	bytes_pass_both_ways(&w);
	side_done(&w.a);
	side_done(&w.b);
	join(&w, tcp_pair);
	secure(&w, "127.0.0.1", "127.0.0.2");
	settle(&w);
	CHECK(stream_failure(w.a.stream) == STREAM_CERT_NAME);
	world_done(&w);
}

static void a_certificate_for_another_name_is_refused(void)
{
	struct world w;

	world_init(&w);
	join(&w, unix_pair);
	secure(&w, "other.example.test", "api.example.test");
	w.a.out = sv_of("request");
	settle(&w);
	CHECK(w.a.failed == 1 && !w.a.open && w.b.in.n == 0);
	CHECK(stream_failure(w.a.stream) == STREAM_CERT_NAME);
	CHECK(stream_failure(w.b.stream) == STREAM_ALERT);
	CHECK(stream_write(w.a.stream, "x", 1) == -EIO);
	world_done(&w);
}

static void a_certificate_of_an_unknown_authority_is_refused(void)
{
	struct tls_ca *other = NULL;
	struct world w;

	world_init(&w);
	must(tls_ca_new(&other, &err) == 0, "CA");
	join(&w, unix_pair);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_of("a.test"), ALPN_H1) == 0);
	serve(&w, new_leaf(other, "a.test"), ALPN_H1);
	settle(&w);
	CHECK(w.a.failed == 1 && stream_failure(w.a.stream) == STREAM_CERT_UNTRUSTED);
	CHECK(strlen(stream_failure_text(w.a.stream)) > 0);
	tls_ca_free(other);
	world_done(&w);
}

/* A leaf of ca whose time is moved by so many days. */
static struct tls_leaf *shifted_leaf(const struct tls_ca *ca, int days)
{
	AUTO_BUF cert = {0}, key = {0}, ca_cert = {0}, ca_key = {0};
	const unsigned char *p, *k;
	struct tls_leaf *leaf = NULL;
	unsigned char *der = NULL;
	EVP_PKEY *signer;
	time_t now = time(NULL);
	X509 *x;
	int n = 0;

	buf_init(&cert, 10000);
	buf_init(&key, 10000);
	buf_init(&ca_cert, 10000);
	buf_init(&ca_key, 10000);
	must(tls_ca_mint(ca, sv_of("a.test"), &cert, &key, &err) == 0 &&
		     tls_ca_export(ca, &ca_cert, &ca_key, &err) == 0,
	     "mint");
	p = (const unsigned char *)cert.p;
	k = (const unsigned char *)ca_key.p;
	x = d2i_X509(NULL, &p, (long)cert.n);
	signer = d2i_AutoPrivateKey(NULL, &k, (long)ca_key.n);
	X509_time_adj_ex(X509_getm_notBefore(x), days, 0, &now);
	X509_time_adj_ex(X509_getm_notAfter(x), days + 1, 0, &now);
	must(X509_sign(x, signer, EVP_sha256()) > 0 && (n = i2d_X509(x, &der)) > 0, "sign");
	must(tls_leaf_new(sv_n((char *)der, (size_t)n), buf_view(&key), &leaf, &err) == 0, "leaf");
	OPENSSL_free(der);
	X509_free(x);
	EVP_PKEY_free(signer);
	return leaf;
}

static void a_certificate_past_or_before_its_time_is_refused(void)
{
	static const int days[] = {-5, 5};
	struct world w;
	size_t i;

	world_init(&w);
	for (i = 0; i < 2; i++) {
		join(&w, unix_pair);
		CHECK(stream_tls_client(w.a.stream, w.client, sv_of("a.test"), ALPN_H1) == 0);
		serve(&w, shifted_leaf(w.ca, days[i]), ALPN_H1);
		settle(&w);
		CHECK(w.a.failed == 1 && stream_failure(w.a.stream) == STREAM_CERT_EXPIRED);
		CHECK_STR(stream_failure_text(w.a.stream),
			  i == 0 ? "certificate has expired" : "certificate is not yet valid");
		side_done(&w.a);
		side_done(&w.b);
	}
	world_done(&w);
}

/* A client of OpenSSL's own, over the other end of b's socket, in steps with the loop. */
static int old_client(struct world *w, int fd, int version)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl;
	int r, i;

	SSL_CTX_set_security_level(ctx, 0);
	SSL_CTX_set_min_proto_version(ctx, version);
	SSL_CTX_set_max_proto_version(ctx, version);
	ssl = SSL_new(ctx);
	SSL_set_fd(ssl, fd);
	for (i = 0; i < 50; i++) {
		r = SSL_connect(ssl);
		if (r == 1)
			break;
		loop_step(w->loop, 1);
	}
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	return r;
}

static void tls_1_0_and_1_1_are_refused(void)
{
	static const int versions[] = {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION};
	struct world w;
	int fds[2];
	size_t i;

	world_init(&w);
	for (i = 0; i < 3; i++) {
		unix_pair(fds);
		must(stream_new(w.loop, fds[1], on_stream, &w.b, &w.b.stream) == 0, "stream");
		serve(&w, new_leaf(w.ca, "a.test"), 0);
		CHECK((old_client(&w, fds[0], versions[i]) == 1) == (i == 2));
		CHECK(stream_failure(w.b.stream) == (i == 2 ? STREAM_FINE : STREAM_PROTOCOL));
		close(fds[0]);
		side_done(&w.b);
	}
	world_done(&w);
}

static void a_peer_without_tls_is_a_failure_of_protocol(void)
{
	struct world w;

	world_init(&w);
	join(&w, unix_pair);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_of("a.test"), ALPN_H1) == 0);
	CHECK(stream_write(w.b.stream, "HTTP/1.1 400 Bad Request\r\n\r\n", 28) == 28);
	settle(&w);
	CHECK(w.a.failed == 1 && stream_failure(w.a.stream) == STREAM_PROTOCOL);
	world_done(&w);
}

static void peers_with_nothing_in_common_to_speak_part(void)
{
	struct world w;

	world_init(&w);
	join(&w, unix_pair);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_of("a.test"), ALPN_H2) == 0);
	serve(&w, new_leaf(w.ca, "a.test"), ALPN_H1);
	settle(&w);
	CHECK(stream_failure(w.b.stream) == STREAM_NO_ALPN && stream_failure(w.a.stream) == STREAM_NO_ALPN);
	world_done(&w);
}

static void a_client_of_http_1_0_is_served_where_that_is_spoken(void)
{
	static const unsigned offers[] = {ALPN_H10, ALPN_H1 | ALPN_H10, ALPN_H1 | ALPN_H2 | ALPN_H10};
	static const unsigned chosen[] = {ALPN_H10, ALPN_H1, ALPN_H2};
	struct world w;
	size_t i;

	for (i = 0; i < ARRAY_LEN(offers); i++) {
		world_init(&w);
		join(&w, unix_pair);
		CHECK(stream_tls_client(w.a.stream, w.client, sv_of("a.test"), offers[i]) == 0);
		serve(&w, new_leaf(w.ca, "a.test"), ALPN_H1 | ALPN_H2 | ALPN_H10);
		settle(&w);
		CHECK(stream_alpn(w.a.stream) == chosen[i] && stream_alpn(w.b.stream) == chosen[i]);
		world_done(&w);
	}
}

static void the_second_connection_to_a_host_resumes_and_to_another_does_not(void)
{
	static const char *const hosts[] = {"a.test", "a.test", "b.test"};
	struct tls_leaf *leaf;
	struct world w;
	size_t i;

	world_init(&w);
	leaf = new_leaf(w.ca, "a.test");
	for (i = 0; i < 3; i++) {
		join(&w, unix_pair);
		CHECK(stream_tls_client(w.a.stream, w.client, sv_of(hosts[i]), ALPN_H1) == 0);
		if (i < 2)
			CHECK(stream_tls_server(w.b.stream, w.server, leaf, ALPN_H1) == 0);
		else
			serve(&w, new_leaf(w.ca, "b.test"), ALPN_H1);
		bytes_pass_both_ways(&w);
		CHECK(stream_resumed(w.a.stream) == (i == 1) && stream_resumed(w.b.stream) == (i == 1));
		side_done(&w.a);
		side_done(&w.b);
	}
	tls_leaf_free(leaf);
	world_done(&w);
}

/* The session of a leaf is no password for another: the same name with another certificate is verified anew. */
static void a_session_is_bound_to_its_leaf(void)
{
	struct world w;
	size_t i;

	world_init(&w);
	for (i = 0; i < 2; i++) {
		join(&w, unix_pair);
		secure(&w, "a.test", "a.test");
		bytes_pass_both_ways(&w);
		CHECK(!stream_resumed(w.a.stream));
		side_done(&w.a);
		side_done(&w.b);
	}
	world_done(&w);
}

static void hosts_that_are_none_are_refused_before_a_byte_is_sent(void)
{
	struct world w;

	world_init(&w);
	join(&w, unix_pair);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_of(""), ALPN_H1) == -EINVAL);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_of("*.test"), ALPN_H1) == -EINVAL);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_n("a.test\0b", 8), ALPN_H1) == -EINVAL);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_of("A.test"), ALPN_H1) == -EINVAL);
	settle(&w);
	CHECK(w.b.in.n == 0);
	world_done(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_minted_leaf_is_accepted_for_its_name_and_alpn_is_agreed_on),
		CASE(an_address_is_verified_as_one),
		CASE(a_certificate_for_another_name_is_refused),
		CASE(a_certificate_of_an_unknown_authority_is_refused),
		CASE(a_certificate_past_or_before_its_time_is_refused),
		CASE(tls_1_0_and_1_1_are_refused),
		CASE(a_peer_without_tls_is_a_failure_of_protocol),
		CASE(peers_with_nothing_in_common_to_speak_part),
		CASE(a_client_of_http_1_0_is_served_where_that_is_spoken),
		CASE(the_second_connection_to_a_host_resumes_and_to_another_does_not),
		CASE(a_session_is_bound_to_its_leaf),
		CASE(hosts_that_are_none_are_refused_before_a_byte_is_sent),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
