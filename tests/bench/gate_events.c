/*
 * gate_events IP PORT CERTIFICATE KEY: an HTTPS server of server-sent events.
 *
 * Each request gets the head at once; after HEAD_MS an event with the CLOCK_MONOTONIC of its sending (ns); after
 * SILENCE_MS the end. A proxy that holds an event back until there is more to send delays it by the silence. One
 * process per connection. Ends with its parent.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_MS = 5, SILENCE_MS = 20 };

static void pause_ms(int ms)
{
	(void)usleep((useconds_t)ms * 1000);
}

static bool say(SSL *tls, const char *text)
{
	return SSL_write(tls, text, (int)strlen(text)) > 0;
}

static bool serve_one(SSL *tls)
{
	char text[256], event[64];
	struct timespec now;

	if (!say(tls, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: "
		      "no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"))
		return false;
	pause_ms(HEAD_MS);
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	(void)snprintf(event, sizeof(event), "data: %lld\n\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
	(void)snprintf(text, sizeof(text), "%zx\r\n%s\r\n", strlen(event), event);
	if (!say(tls, text))
		return false;
	pause_ms(SILENCE_MS);
	return say(tls, "0\r\n\r\n");
}

static void serve(SSL *tls)
{
	char request[8192];
	size_t size = 0;
	int n;

	if (SSL_accept(tls) != 1)
		return;
	while ((n = SSL_read(tls, request + size, (int)(sizeof(request) - size - 1))) > 0) {
		size += (size_t)n;
		request[size] = '\0';
		if (!strstr(request, "\r\n\r\n")) {
			if (size + 1 == sizeof(request))
				return;
			continue;
		}
		size = 0;
		if (!serve_one(tls))
			return;
	}
}

static int listen_on(const char *ip, const char *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (inet_pton(AF_INET, ip, &address.sin_addr) != 1 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 64) < 0) {
		perror("gate_events: listen");
		exit(2);
	}
	return fd;
}

int main(int argc, char **argv)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());
	int listener, fd, on = 1;

	if (argc != 5 || !context || SSL_CTX_use_certificate_chain_file(context, argv[3]) != 1 ||
	    SSL_CTX_use_PrivateKey_file(context, argv[4], SSL_FILETYPE_PEM) != 1) {
		(void)fputs("usage: gate_events IP PORT CERTIFICATE KEY\n", stderr);
		return 2;
	}
	(void)signal(SIGCHLD, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	listener = listen_on(argv[1], argv[2]);
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		if (fork() == 0) {
			SSL *tls = SSL_new(context);

			(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
			(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
			if (tls && SSL_set_fd(tls, fd) == 1)
				serve(tls);
			_exit(0);
		}
		(void)close(fd);
	}
	return 1;
}
