/*
 * policy: the four domains as plain data (version 1 of the schema).
 *
 * Everything a policy points to lives in its arena; policy_free() ends it all. Values remember where they came from
 * (struct origin), so that `policy show`, `why` and every refusal can name file and line.
 *
 * A struct policy is used in two states:
 *  - as read from one file: scalars may be unset, lists hold what that file says;
 *  - effective: `extends` resolved, the operator's ceiling applied, defaults filled in (origin file 0, "built in"),
 * mandatory protections added, paths absolute (~ and relative ones resolved) and canonical. Backends see only this
 * state.
 */
#ifndef CORDON_MODEL_POLICY_H
#define CORDON_MODEL_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct origin {
	uint32_t file; /* index into policy.files; 0 is "built in" */
	uint32_t line; /* from 1; 0: none */
	uint32_t column;
};

/* Numbers, sizes (bytes), durations (milliseconds), cpus (thousandths), booleans and enums alike. */
struct pol_num {
	uint64_t v;
	bool set;
	struct origin at;
};

struct pol_str {
	const char *s; /* NULL: unset */
	struct origin at;
};

struct pol_list {
	struct pol_str *v;
	uint32_t n;
	bool set; /* the key was given, be it as [] */
};

struct pol_pair {
	const char *key;
	const char *value;
	struct origin at;
};

struct pol_pairs {
	struct pol_pair *v;
	uint32_t n;
	bool set;
};

enum workdir_mode { WORKDIR_NONE, WORKDIR_READ_ONLY, WORKDIR_READ_WRITE, WORKDIR_COPY };
enum net_mode { NET_NONE, NET_ALLOWLIST, NET_PUBLIC };
enum dns_mode { DNS_NONE, DNS_POLICY };
enum runtime { RUNTIME_AUTO, RUNTIME_NATIVE, RUNTIME_GVISOR, RUNTIME_RUNC, RUNTIME_CRUN, RUNTIME_DOCKER };
enum provider_kind { PROVIDER_ANTHROPIC, PROVIDER_OPENAI, PROVIDER_GEMINI };
enum server_tools { SERVER_TOOLS_DENY, SERVER_TOOLS_ALLOW };
/* Which addresses the host of a provider may lead to: any that models are served from; but for those that network.deny
 * has; of these only public ones. */
enum provider_reach { REACH_ANY, REACH_UNDENIED, REACH_PUBLIC };

struct pol_fs {
	struct pol_num workdir; /* enum workdir_mode */
	struct pol_list read;	/* globs; inside a writable folder they mean: read-only there */
	struct pol_list write;
	struct pol_list deny;	 /* no access at all; wins */
	struct pol_list protect; /* mandatory, never in a file: readable, but never written, made or replaced, in
				    folders of the host */
	struct pol_num tmp_size;
	struct pol_num tmp_bound; /* a ceiling's tmp_size, lower than tmp_size or not */
	bool read_bounded, write_bounded; /* a ceiling lists folders: entries were held against it by name */
	bool workdir_read_bounded,
		workdir_write_bounded; /* a ceiling keeps the work folder from being read or written: the same */
};

/* Which GraphQL requests; at least one list is set. */
struct net_graphql {
	struct pol_list types;      /* query, mutation, subscription */
	struct pol_list operations; /* fields at the top of a request, with * and ?; never its operationName, which the
				       client chooses */
};

/* Which JSON-RPC requests of the Model Context Protocol; at least one list is set. */
struct net_mcp {
	struct pol_list tools;   /* names of tools/call, with * and ? */
	struct pol_list methods; /* of JSON-RPC, with * and ? */
};

struct net_rule {
	const char *host;     /* exact, "*.name", or NULL where cidr is given */
	const char *cidr;
	uint16_t *ports;      /* n_ports == 0: the default, 443 and 80 */
	uint32_t n_ports;
	struct pol_list methods; /* upper case; unset: the usual ones (base/method.h), in a denial any */
	struct pol_list paths;
	struct pol_str credential;
	struct pol_num rate; /* requests per hour; rules whose rates have one origin share a budget */
	struct net_graphql graphql;
	struct net_mcp mcp;
	struct origin at;
};

struct net_rules {
	struct net_rule *v;
	uint32_t n;
	bool set;
};

struct pol_net {
	struct pol_num mode; /* enum net_mode */
	struct net_rules allow;
	struct net_rules deny;
	struct pol_num dns; /* enum dns_mode */
	struct pol_num loopback;
	struct pol_num ask; /* a host that is not allowed asks the person at the terminal */
	struct pol_list doors; /* hosts that rules alone open, not mode public and nobody's yes (ceiling_door.h) */
	struct pol_num max_bytes_out;
};

struct pol_process {
	struct pol_num runtime;	     /* enum runtime */
	struct pol_list fallback;    /* names of runtimes */
	struct pol_pairs categories; /* category -> runtime name */
	struct pol_list allow_exec;  /* globs; unset or ["**"]: anything that is there */
	struct pol_list deny_exec;
	struct pol_num user; /* uid inside; default 1000 */
	struct pol_num max_processes;
	struct pol_num memory;
	struct pol_num cpus;	/* thousandths of a CPU */
	struct pol_num timeout; /* ms; 0: none */
	struct pol_num max_file_size;
	struct pol_pairs env_set;
	struct pol_list env_pass;
	struct pol_list env_bound; /* set: a ceiling lists what of the host's may be passed, by a command line too */
};

struct provider {
	const char *name;
	struct pol_num kind; /* enum provider_kind */
	struct pol_str url;
	struct pol_str credential;
	struct pol_str base_url_env;
	struct pol_list models; /* globs over the whole name */
	struct pol_num max_requests;
	struct pol_num max_output_tokens;
	struct pol_num server_tools; /* enum server_tools */
	enum provider_reach reach;   /* never in a file: what a ceiling that does not name it leaves of it */
	struct origin at;
};

struct route {
	const char *model;
	const char *provider;
	struct origin at;
};

struct pol_inference {
	struct provider *providers;
	uint32_t n_providers;
	struct route *routes;
	uint32_t n_routes;
};

/* One expectation of `tests:`: {allow|deny: {host|path|exec|model: ..., ...}}. */
enum test_subject { TEST_HOST, TEST_READ, TEST_WRITE, TEST_EXEC, TEST_MODEL };

struct pol_test {
	bool allow;
	enum test_subject subject;
	const char *target; /* host or host:port, path, executable, model */
	const char *method; /* with TEST_HOST; NULL: any */
	const char *path;   /* with TEST_HOST; NULL: any */
	struct origin at;
};

struct policy;

struct phase {
	const char *name; /* build, setup, agent, verify */
	struct policy *policy;
	struct origin at;
};

struct policy {
	struct arena *arena;
	const char **files; /* [0] = "built in" */
	uint32_t n_files;
	struct pol_list extends;
	struct pol_fs fs;
	struct pol_net net;
	struct pol_process process;
	struct pol_inference inference;
	struct pol_test *tests;
	uint32_t n_tests;
	struct phase *phases;
	uint32_t n_phases;
	struct pol_pairs check; /* category -> verdict */
	const char *home; /* of the user that it was loaded for; no part of its encoding. NULL: not known */
};

/* An empty policy with its own arena; NULL: no memory. */
struct policy *policy_new(void);
void policy_free(struct policy *p);

/* Names of the enums above, NULL-terminated, in the order of their values. */
extern const char *const workdir_mode_names[];
extern const char *const net_mode_names[];
extern const char *const dns_mode_names[];
extern const char *const runtime_names[];
extern const char *const provider_kind_names[];
extern const char *const server_tools_names[];
extern const char *const graphql_type_names[];
extern const char *const category_names[];
extern const char *const phase_names[];

/* Position of s in names, or -1. */
int name_index(const char *const *names, struct sv s);

#endif
