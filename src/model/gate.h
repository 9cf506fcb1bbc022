/*
 * gate: what the gateway's processes say to each other, but for bodies of HTTP (http/link.h). Plain data and its
 * encoding; the table below is the whole language.
 *
 * Sockets are SOCK_SEQPACKET pairs made by the supervisor, messages those of wire/wire.h. A role is started with these
 * descriptors:
 *
 *	fd	relay				egress				vault
 *	3	control (supervisor)		control (supervisor)		control (supervisor)
 *	4	link (egress), a stream		link (relay), a stream		relay: mints
 *	5	calls (egress)			calls (relay)			egress: grants
 *	6	vault				vault
 *
 * A policy travels as a sealed memfd with the bytes of policy_codec.h, and a generation that counts up: relay and
 * egress judge by the one they have and name it.
 */
#ifndef CORDON_MODEL_GATE_H
#define CORDON_MODEL_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/sv.h"

/* Ports of the sandbox's loopback. Each provider has one of its own: some clients drop the path of a base URL. */
enum { GATE_REDIRECT_PORT = 3127, GATE_PROXY_PORT = 3128, GATE_INFERENCE_PORT = 3129, GATE_DNS_PORT = 53 };

enum {
	GATE_CONTROL_FD = 3,
	GATE_LINK_FD = 4,
	GATE_CALLS_FD = 5,
	GATE_VAULT_FD = 6,
	GATE_MAX_LISTENERS = 64,
	GATE_MAX_PLACEHOLDERS = 64,
	GATE_MAX_PINS = 256
};

enum gate_message {
	GATE_RELAY_SETUP = 1, /* supervisor -> relay: struct gate_relay_setup; fds: policy, then one per listener */
	GATE_EGRESS_SETUP, /* supervisor -> egress: struct gate_egress_setup; fds: policy, PEM of the roots to trust (a
			      memfd) */
	GATE_POLICY,  /* supervisor -> relay, egress: u64 generation; fd: policy. Swapped at once; what it forbids is
			 closed. */
	GATE_QUIET,   /* supervisor -> relay: u32 1: nothing can be logged, refuse everything new; 0: go on */
	GATE_ANSWER,  /* supervisor -> relay: u64 question, u32 allow; question 0: no, to all that will ever be asked */
	GATE_REFUSED, /* supervisor -> relay, at most once: fd: GATE_LISTEN_REFUSED, where the sandbox stands only after
			 the setup */
	GATE_READY,   /* role -> supervisor: set up and confined; nothing was served before */
	GATE_EVENT,   /* role -> supervisor: struct gate_event */
	GATE_USAGE, /* relay and egress -> supervisor: struct gate_usage; totals so far, models by egress alone; sent as
		       they change, at most once a second, and at the end */
	GATE_ASK,   /* relay -> supervisor: u64 question, host, u32 port: may this be allowed? (network.ask) */
	GATE_TUNNEL,        /* relay -> egress: struct gate_tunnel */
	GATE_TUNNEL_UP,     /* egress -> relay: u64 id; fd: connected, non-blocking; egress keeps a copy to cut it */
	GATE_TUNNEL_FAILED, /* egress -> relay: u64 id, u32 enum gate_failure, text */
	GATE_TUNNEL_OVER,   /* relay -> egress: u64 id: closed, or given up before it was up */
	GATE_TUNNEL_WANT,  /* relay -> egress: u64 id, u32 bytes that it has for the server; under network.max_bytes_out
			      nothing goes up unasked. One question at a time. */
	GATE_TUNNEL_GRANT, /* egress -> relay: u64 id, u32 bytes, at most those that were asked for: they count as sent.
			      None: the tunnel is cut. */
};

/* Why there is no answer from upstream. */
enum gate_failure {
	GATE_FAILURE_NONE = 0,
	GATE_FAILURE_POLICY,     /* egress judged again and says no */
	GATE_FAILURE_COMPRESSED, /* the same, for messages that are compressed, to a host that a credential is bound to
				  */
	GATE_FAILURE_ADDRESS,    /* the name leads to an address under the floor */
	GATE_FAILURE_RANGE,      /* ... or to one that network.deny has */
	GATE_FAILURE_NAME,       /* the name does not resolve */
	GATE_FAILURE_REFUSED,    /* nobody listens there */
	GATE_FAILURE_UNREACHABLE,
	GATE_FAILURE_TIMEOUT,
	GATE_FAILURE_TLS,        /* the handshake failed */
	GATE_FAILURE_UNTRUSTED,  /* no chain to a trusted root */
	GATE_FAILURE_EXPIRED,    /* the certificate is, or not valid yet */
	GATE_FAILURE_WRONG_NAME, /* the certificate is for another name */
	GATE_FAILURE_PROTOCOL,   /* the answer is malformed or cannot be passed on safely */
	GATE_FAILURE_CUT,        /* the connection ended amid the answer */
	GATE_FAILURE_QUOTA,      /* network.max_bytes_out, or a budget, is used up */
	GATE_FAILURE_CREDENTIAL, /* the credential could not be had */
	GATE_FAILURE_INTERNAL,   /* no memory, too many at once */
	GATE_FAILURE_CROWDED,    /* no more connections may be made, and none of those that are became free */
	GATE_FAILURES
};

/* HTTP status, the "error" of the JSON body, a phrase for its "detail", and of a denial its "hint"; else NULL. */
struct gate_failure_facts {
	uint16_t status;
	const char *code;
	const char *phrase;
	const char *hint;
};

const struct gate_failure_facts *
gate_failure_facts(enum gate_failure f); /* an unknown one: that of GATE_FAILURE_INTERNAL */

enum gate_listener_kind {
	GATE_LISTEN_PROXY,       /* HTTP proxy and SOCKS5, told apart by the first byte */
	GATE_LISTEN_TRANSPARENT, /* TCP meant for SO_ORIGINAL_DST, or, without a redirect, for the address it came to */
	GATE_LISTEN_DNS_UDP,
	GATE_LISTEN_DNS_TCP,
	GATE_LISTEN_INFERENCE, /* plain HTTP for one provider */
	GATE_LISTEN_DOOR, /* a UNIX socket; each stream opens with a header (base/door.h) that says which of the above
			     it is */
	GATE_LISTEN_REFUSED, /* tells of connections that were refused before they were made (sys/refused.h) */
	GATE_LISTEN_KINDS,
	GATE_REDIRECTS = GATE_LISTEN_KINDS, /* for the supervisor alone: by it (sys/redirect.h) is said which
					       connections come to GATE_LISTEN_TRANSPARENT */
};

struct gate_listener {
	uint32_t kind;	   /* enum gate_listener_kind */
	uint32_t provider; /* index in the policy, for GATE_LISTEN_INFERENCE */
};

struct gate_relay_setup {
	uint64_t generation;
	struct gate_listener listeners[GATE_MAX_LISTENERS];
	uint32_t n_listeners;
	struct sv placeholders[GATE_MAX_PLACEHOLDERS]; /* must not leave but where egress replaces them */
	struct sv owners[GATE_MAX_PLACEHOLDERS];       /* the names of their credentials */
	uint32_t n_placeholders;
};

/* A fixed answer of gateway.yaml. */
struct gate_pin {
	struct sv host;
	struct sv address; /* text; one pin per address */
};

struct gate_egress_setup {
	uint64_t generation;
	struct gate_pin pins[GATE_MAX_PINS];
	uint32_t n_pins;
	struct sv proxy; /* "http://host:port", or empty */
};

/* For the audit log. Allowed requests of one kind are told once and then counted. */
struct gate_event {
	uint32_t domain;  /* enum event_domain */
	uint32_t verdict; /* 0 deny, 1 allow */
	uint32_t count;	  /* how often since the last of its kind; 1 or more */
	struct sv subject; /* "GET https://pypi.org/simple/" or "pypi.org:443"; no query, no credential */
	struct sv rule;	   /* key, pattern and origin: "network.allow pypi.org (policy.yaml:7)"; may be empty */
	struct sv detail;  /* why; may be empty */
};

struct gate_usage {
	uint64_t bytes_out, bytes_in; /* out: to the relay, what it handed on; to egress, what it sent */
	uint64_t requests, denied;
	struct {
		struct sv provider, model;
		uint64_t requests, input_tokens, output_tokens;
		uint64_t cut_tokens; /* charged for answers that were cut before they said what they used */
	} models[64];
	uint32_t n_models;
};

struct gate_tunnel {
	uint64_t id;
	uint64_t generation;
	struct sv host; /* canonical name, or an address */
	uint32_t port;
};

/* Encoders append; a buf that is too small says so itself. Decoders: 0 or -EBADMSG; strings are views into body. */
void gate_put_relay_setup(struct buf *b, const struct gate_relay_setup *s);
int gate_get_relay_setup(struct sv body, struct gate_relay_setup *ret);
void gate_put_egress_setup(struct buf *b, const struct gate_egress_setup *s);
int gate_get_egress_setup(struct sv body, struct gate_egress_setup *ret);
void gate_put_event(struct buf *b, const struct gate_event *e);
int gate_get_event(struct sv body, struct gate_event *ret);
void gate_put_usage(struct buf *b, const struct gate_usage *u);
int gate_get_usage(struct sv body, struct gate_usage *ret);
void gate_put_tunnel(struct buf *b, const struct gate_tunnel *t);
int gate_get_tunnel(struct sv body, struct gate_tunnel *ret);

#endif
