#include "policy/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "check.h"

/* The policy without its comments. */
static void without_comments(char *s)
{
	char *to = s, *line = s, *end;

	for (; *line; line = end) {
		end = line + strcspn(line, "\n");
		end += *end == '\n';
		if (*line == '#')
			continue;
		memmove(to, line, (size_t)(end - line));
		to += end - line;
	}
	*to = '\0';
}

struct sample {
	const char *text;
	const char *has, *has_not; /* in the policy; NULL: anything */
	int loses;		   /* 1: something is listed as not carried over; 0: nothing is; -1: either */
};

static void check_samples(enum import_source from, const struct sample *samples, size_t n)
{
	struct error err = {0};
	size_t i;

	for (i = 0; i < n; i++) {
		struct import_result r = {0};
		AUTO_BUF out = {0};
		char *text;

		CHECK(policy_import("test", sv_of(samples[i].text), from, &r, &err) == 0);
		buf_init(&out, 1 << 20);
		import_print(&r, "test", &out);
		text = strndup(out.p ? out.p : "", out.n);
		if (text && r.policy) {
			bool good;

			without_comments(text);
			good = (!samples[i].has || strstr(text, samples[i].has)) &&
			       (!samples[i].has_not || !strstr(text, samples[i].has_not)) &&
			       (samples[i].loses < 0 || (r.n_lost > 0) == samples[i].loses);
			if (!good)
				printf("# %s\n# lost %u; has %s, not %s; got:\n%s\n", samples[i].text, r.n_lost,
				       samples[i].has ? samples[i].has : "-",
				       samples[i].has_not ? samples[i].has_not : "-", text);
			CHECK(good);
		}
		free(text);
		import_done(&r);
	}
}

#define SAMPLES(from, samples) check_samples(from, samples, sizeof(samples) / sizeof((samples)[0]))

static void synthorgs_hosts_that_cannot_be_read_do_not_open_the_others(void)
{
	static const struct sample samples[] = {
		{"docker: {network: bridge}", "mode: public", NULL, 0},
		{"docker: {network: bridge, allowed_hosts: []}", "mode: public", NULL, 0},
		{"docker: {network: bridge, allowed_hosts: [example.com]}", "mode: none", "public", 1},
		{"docker: {network: bridge, allowed_hosts: \"example.com:443\"}", "mode: none", "public", 1},
		{"docker: {network: bridge, allowed_hosts: {a: b}}", "mode: none", "public", 1},
		{"docker: {network: bridge, allowed_hosts: [\"a b:443\", \"c.example:443\"]}", "mode: allowlist",
		 "public", 1},
		{"docker: {network: bridge, network_presets: [unheard-of]}", "mode: none", "public", 1},
		{"docker: {network: bridge, network_presets: git}", "mode: none", "public", 1},
		{"docker: {network: host, allowed_hosts: [x]}", "mode: none", "public", 1},
		{"docker: {network: bridge, policy: {network: {allowed_hosts: [x]}}}", "mode: none", "public", 1},
		{"docker: {network: bridge, allowed_hosts: [\"a.example:443\"], policy: {network: {allowed_hosts: "
		 "[]}}}",
		 "mode: none", "public", 1},
		{"docker: {network: bridge, network_allow_all: true, policy: {network: {allowed_hosts: "
		 "[\"a.example:443\"]}}}",
		 "mode: allowlist", "public", 0},
		{"docker: {network: bridge, policy: {network: {mode: sometimes}}}", "mode: none", "public", 1},
		{"docker: {network: bridge, policy: {network: [none]}}", "mode: none", "public", 1},
		{"docker: {network: bridge, policy: none}", "mode: none", "public", 1},
		{"docker: {network: bridge, policy: {network: {denied_hosts: [x.example]}}}", "mode: none", "public",
		 1},
		{"docker: {network: bridge, network_overrides: {terminal: none}}", "mode: none", "public", 1},
		{"docker: {network: bridge, network_overrides: {terminal: bridge}}", "mode: public", NULL, 1},
		{"docker: {network: bridge, network_overrides: [none]}", "mode: none", "public", 1},
	};

	SAMPLES(IMPORT_SYNTHORG, samples);
}

static void synthorgs_denials_hold_however_they_are_written(void)
{
#define FILES(deny) "docker: {mount_mode: rw, policy: {filesystem: {read_paths: [/data], deny_paths: " deny "}}}"
	static const struct sample samples[] = {
		{FILES("[/workspace/secrets]"), "deny:\n    - secrets\n", NULL, -1},
		{FILES("[/workspace//secrets/]"), "deny:\n    - secrets\n", NULL, -1},
		{FILES("[/./workspace/./secrets]"), "deny:\n    - secrets\n", NULL, -1},
		{FILES("[\"/work*/secrets\"]"), "    - secrets\n", NULL, -1},
		{FILES("[\"/*/secrets\"]"), "    - secrets\n", NULL, -1},
		{FILES("[/workspace]"), "workdir: none", NULL, 1},
		{FILES("[/workspace/]"), "workdir: none", NULL, 1},
		{FILES("[/workspace/.]"), "workdir: none", NULL, 1},
		{FILES("[\"/workspace/**\"]"), "workdir: none", "\"**\"", 1},
		{FILES("[\"/work*\"]"), "workdir: none", NULL, 1},
		{FILES("[\"/*/*\"]"), "workdir: none", NULL, 1},
		{FILES("[.]"), "workdir: none", NULL, 1},
		{FILES("[/]"), "workdir: none", "/data", 1},
		{FILES("[/workspace/../data]"), "workdir: none", "/data", 1},
		{FILES("[\"~bob/x\"]"), "workdir: none", "/data", 1},
		{FILES("[[/data]]"), "workdir: none", "/data", 1},
		{FILES("/data"), "workdir: none", "/data", 1},
		{FILES("[$HOME/.ssh]"), "\"~/.ssh\"", NULL, -1},
		{FILES("[\"${HOME}/.ssh/\"]"), "\"~/.ssh\"", NULL, -1},
		{"docker: {mount_mode: rw, policy: {filesystem: [x]}}", "workdir: none", NULL, 1},
		{"docker: {mount_mode: rw, policy: {filesystem: {blocked: [x]}}}", "workdir: none", NULL, 1},
		{"docker: {mount_mode: rw, policy: {filesystem: {deny_paths: []}}}", "workdir: read-write", NULL, 0},
		{"docker: {mount_mode: rw, policy: {filesystem: {read_paths: [/workspace/]}}}", "workdir: read-only",
		 NULL, 0},
		{"docker: {mount_mode: rw, policy: {filesystem: {read_paths: [/workspace], write_paths: "
		 "[/workspace/.]}}}",
		 "workdir: read-write", NULL, 0},
		{"docker: {mount_mode: ro, policy: {filesystem: {write_paths: [/workspace/out]}}}",
		 "write:\n    - out\n", NULL, -1},
	};

	SAMPLES(IMPORT_SYNTHORG, samples);
}

static void synthorgs_programs_are_not_all_allowed_because_none_can_be_read(void)
{
#define PROGRAMS(which) "docker: {policy: {process: {" which "}}}"
	static const struct sample samples[] = {
		{PROGRAMS("allowed_executables: []"), NULL, "allow_exec", 0},
		{PROGRAMS("allowed_executables: [/a/../b]"), "allow_exec:\n    - /dev/null\n", NULL, 1},
		{PROGRAMS("allowed_executables: /bin/ls"), "allow_exec:\n    - /dev/null\n", NULL, 1},
		{PROGRAMS("allowed_executables: [/bin/ls, /a/../b]"), "allow_exec:\n    - /bin/ls\n", "/dev/null", 1},
		{PROGRAMS("allowed_executables: [ls]"), "- /usr/bin/ls\n", "- ls\n", 0},
		{PROGRAMS("deny_executables: [curl]"), "\"**/curl\"", NULL, 0},
		{PROGRAMS("deny_executables: [curl]"), "- /usr/bin/curl\n", "- curl\n", 0},
		{PROGRAMS("deny_executables: [/workspace/tool]"), "deny_exec:\n    - tool\n", NULL, 0},
		{PROGRAMS("deny_executables: [/a/../b]"), "allow_exec:\n    - /dev/null\n", NULL, 1},
		{PROGRAMS("deny_executables: /usr/bin/curl"), "allow_exec:\n    - /dev/null\n", NULL, 1},
		{PROGRAMS("blocked_executables: [x]"), "allow_exec:\n    - /dev/null\n", NULL, 1},
		{"docker: {policy: {process: x}}", "allow_exec:\n    - /dev/null\n", NULL, 1},
	};

	SAMPLES(IMPORT_SYNTHORG, samples);
}

#define ENDPOINT(rest)                                                                                                 \
	"network_policies: {a: {endpoints: [{host: h.example, port: 443" rest "}], binaries: [{path: \"/**\"}]}}"
#define DENY(rule) ENDPOINT(", access: full, deny_rules: [" rule "]")
#define DENIED(port, rest) "  deny:\n    - host: h.example\n      ports: [" port "]\n" rest

static void openshells_denials_are_widened_and_never_left_out(void)
{
#define POST "      methods:\n        - POST\n"
#define PATHS "      paths:\n        - "
	static const struct sample samples[] = {
		{DENY("{method: POST, path: /admin}"), DENIED("443", POST PATHS "/admin\n"), NULL, 0},
		{DENY("{method: POST, path: \"/admin*\"}"), DENIED("443", POST PATHS "\"/admin*/**\"\n"), NULL, 0},
		{DENY("{method: POST, path: \"/a/x*y\"}"), DENIED("443", POST PATHS "\"/a/x*/**\"\n"), NULL, 0},
		{DENY("{method: POST, path: \"/a/*/x*y/z\"}"), DENIED("443", POST PATHS "\"/a/**/x*/**/z\"\n"), NULL,
		 0},
		{DENY("{method: POST, path: \"/a/*y\"}"), DENIED("443", POST PATHS "\"/a/**\"\n"), NULL, 0},
		{DENY("{method: POST, path: \"/a/**/*/b\"}"), DENIED("443", POST PATHS "\"/a/**/b\"\n"), NULL, 0},
		{DENY("{method: POST, path: \"/a?c\"}"), DENIED("443", POST PATHS "\"/a*/**\"\n"), NULL, 0},
		{DENY("{method: POST, path: \"/a[bc]/d\"}"), DENIED("443", POST PATHS "\"/a*/**/d\"\n"), NULL, 0},
		{DENY("{method: POST, path: \"/{a,b}/d\"}"), DENIED("443", POST PATHS "\"/**/d\"\n"), NULL, 0},
		{DENY("{method: POST, path: \"*admin\"}"), DENIED("443", POST), PATHS, 0},
		{DENY("{method: POST, path: admin}"), DENIED("443", POST), PATHS, 1},
		{DENY("{method: POST, path: \"/a/../b\"}"), DENIED("443", POST), PATHS, 1},
		{DENY("{method: POST, path: \"/a%2fb\"}"), DENIED("443", POST), PATHS, 1},
		{DENY("{method: POST, path: [/a]}"), DENIED("443", POST), PATHS, 1},
		{DENY("{method: POST, path: /q, query: {a: b}}"), DENIED("443", POST PATHS "/q\n"), NULL, 1},
		{DENY("{method: WEBSOCKET_TEXT, path: /ws}"), DENIED("443", PATHS "/ws\n"), "methods", 1},
		{DENY("{method: ANY, path: /x}"), DENIED("443", PATHS "/x\n"), "methods", 1},
		{DENY("{method: post, path: /x}"), DENIED("443", PATHS "/x\n"), "methods", 1},
		{DENY("{method: [POST], path: /x}"), DENIED("443", PATHS "/x\n"), "methods", 1},
		{DENY("{deny: {path: /x}}"), DENIED("443", ""), "methods", 1},
		{DENY("/x"), DENIED("443", ""), "methods", 1},
		{ENDPOINT(", rules: [{allow: {path: \"/**\"}}, {deny: {path: /admin}}]"), DENIED("443", ""), NULL, 1},
	};

	SAMPLES(IMPORT_OPENSHELL, samples);
}

static void what_narrows_an_openshell_endpoint_is_not_lost_while_it_stays(void)
{
	static const struct sample samples[] = {
		{ENDPOINT(""), "- host: h.example", NULL, 0},
		{ENDPOINT(", blocked_paths: [/x]"), "mode: none", "h.example", 1},
		{ENDPOINT(", new_key: x"), "mode: none", "h.example", 1},
		{ENDPOINT(", mcp: {tools: [x]}"), "mode: none", "h.example", 1},
		{ENDPOINT(", persisted_queries: [x]"), "mode: none", "h.example", 1},
		{ENDPOINT(", mcp: {}"), "- host: h.example", NULL, 0},
		{ENDPOINT(", protocol: [mcp]"), "mode: none", "h.example", 1},
		{ENDPOINT(", rules: [{allow: {method: [GET], path: /x}}]"), "mode: none", "h.example", 1},
		{ENDPOINT(", rules: [{allow: {method: GET, path: {a: b}}}]"), "mode: none", "h.example", 1},
		{ENDPOINT(", allowed_ips: [10.0.0.0/8]"), "mode: none", "h.example", 1},
		{"network_policies: {a: {endpoints: [{host: \"*.flat.example\", port: 443}]}}", "mode: none", "flat",
		 1},
		{"network_policies: {a: {endpoints: [{host: \"**.deep.example\", port: 443}]}}", "\"*.deep.example\"",
		 NULL, 0},
		{"network_policies: {a: {endpoints: [{port: 80, allowed_ips: [10.0.0.0/8]}]}}", "10.0.0.0/8", NULL, 0},
		{"network_policies: {a: {endpoints: [{port: 80, allowed_ips: [10.0.0.0/8], access: read-only}]}}",
		 "mode: none", "10.0", 1},
		{"network_policies: {a: {endpoints: [{port: 80, allowed_ips: [10.0.0.0/8], path: \"/v1/**\"}]}}",
		 "mode: none", "10.0", 1},
		{"network_policies: {a: {endpoints: [{port: 80, allowed_ips: [10.0.0.0/8], deny_rules: [{path: "
		 "/x}]}]}}",
		 "mode: none", "10.0", 1},
		{"network_policies: {a: {endpoints: [{port: 80, allowed_ips: [10.0.0.0/8], rules: [{allow: {path: "
		 "/x}}]}]}}",
		 "mode: none", "10.0", 1},
		{"network_policies: {a: {endpoints: [{port: 80, allowed_ips: [10.0.0.0/8], protocol: mcp}]}}",
		 "mode: none", "10.0", 1},
		{"network_policies: {a: {deny: [x], endpoints: [{host: h.example, port: 443}]}}", "mode: none",
		 "h.example", 1},
		{"network_policies: {a: {only_on: monday, endpoints: [{host: h.example, port: 443}]}}", "mode: none",
		 "h.example", 1},
		{"network_middlewares: {a: {x: 1}}\nnetwork_policies: {a: {endpoints: [{host: h.example, port: 443}]}}",
		 "mode: none", "h.example", 1},
	};

	SAMPLES(IMPORT_OPENSHELL, samples);
}

#define IPS(ranges) "network_policies: {a: {endpoints: [{port: 80, allowed_ips: [" ranges "]}]}}"
#define HOST(endpoint) "network_policies: {a: {endpoints: [{" endpoint "}]}}"

/* Loopback was the sandbox's own there, and no policy opens it or a cloud's metadata: here both would be this
 * machine's. */
static void no_import_opens_this_machine_or_its_metadata(void)
{
	static const struct sample openshell[] = {
		{HOST("host: 127.0.0.1, port: 80"), "mode: none", "127", 1},
		{HOST("host: \"::1\", port: 80"), "mode: none", "::1", 1},
		{HOST("host: 169.254.169.254, port: 80"), "mode: none", "169", 1},
		{HOST("host: 10.0.0.5, port: 80"), "10.0.0.5/32", "deny", 0},
		{IPS("127.0.0.1/32"), "mode: none", "127", 1},
		{IPS("169.254.0.0/16"), "mode: none", "169", 1},
		{IPS("\"fe80::/64\""), "mode: none", "fe80", 1},
		{IPS("0.0.0.0/0"),
		 "deny:\n    - cidr: \"127.0.0.0/8\"\n    - cidr: \"169.254.0.0/16\"\n    - cidr: \"0.0.0.0/8\"\n",
		 "::1", 0},
		{IPS("126.0.0.0/7, 0.0.0.0/0"),
		 "deny:\n    - cidr: \"127.0.0.0/8\"\n    - cidr: \"169.254.0.0/16\"\n    - cidr: \"0.0.0.0/8\"\n",
		 "::1", 0},
		{IPS("\"::/0\""), "deny:\n    - cidr: \"::1/128\"\n    - cidr: \"::/128\"\n    - cidr: \"fe80::/10\"\n",
		 "127", 0},
		{IPS("10.0.0.0/8"), "10.0.0.0/8", "deny", 0},
	};
	static const struct sample synthorg[] = {
		{"{\"network\": \"bridge\", \"allowed_hosts\": [\"127.0.0.1:80\", \"10.0.0.5:80\"]}", "10.0.0.5/32",
		 "127", 1},
	};
	static const struct sample srt[] = {
		{"{\"network\": {\"allowedDomains\": [\"127.0.0.1:80\", \"10.0.0.5:80\"]}}", "10.0.0.5/32", "127", 1},
		{"{\"network\": {\"allowedDomains\": [\"a.example\"], \"deniedDomains\": [\"127.0.0.1\"]}}",
		 "deny:\n    - cidr: \"127.0.0.1/32\"", NULL, 0},
	};

	SAMPLES(IMPORT_OPENSHELL, openshell);
	SAMPLES(IMPORT_SYNTHORG, synthorg);
	SAMPLES(IMPORT_SRT, srt);
}

#define SOCKET(rest) HOST("host: h.example, port: 443, protocol: websocket, " rest)
#define ONLY_GET "    - host: h.example\n      ports: [443]\n      methods:\n        - GET\n"

/* There an endpoint for a WebSocket takes what begins one, and messages where they are allowed, too. */
static void a_websocket_of_openshell_opens_no_other_methods_and_no_messages(void)
{
	static const struct sample samples[] = {
		{SOCKET("access: read-only"), "mode: none", "h.example", 1},
		{SOCKET("tls: skip"), "mode: none", "h.example", 1},
		{SOCKET("access: read-write"), ONLY_GET, "POST", 1},
		{SOCKET("access: full"), ONLY_GET, NULL, 1},
		{SOCKET("rules: [{allow: {method: GET, path: /ws}}]"), "mode: none", "h.example", 1},
		{SOCKET("rules: [{allow: {method: GET, path: /ws}}, {allow: {method: WEBSOCKET_TEXT, path: /other}}]"),
		 "mode: none", "h.example", 1},
		{SOCKET("rules: [{allow: {method: GET, path: /ws}}, {allow: {method: WEBSOCKET_TEXT, path: /ws, query: "
			"{a: b}}}]"),
		 "mode: none", "h.example", 1},
		{SOCKET("rules: [{allow: {method: GET, path: /ws}}, {allow: {method: WEBSOCKET_TEXT, path: /ws}}]"),
		 ONLY_GET PATHS "/ws\n", NULL, 1},
		{SOCKET("rules: [{allow: {method: \"*\", path: /ws}}]"), ONLY_GET PATHS "/ws\n", NULL, 1},
		{SOCKET("rules: [{allow: {method: POST, path: /ws}}, {allow: {method: WEBSOCKET_TEXT, path: /ws}}]"),
		 "mode: none", "h.example", 1},
		{HOST("host: h.example, port: 443, protocol: rest, access: read-write"), "POST", NULL, 0},
	};

	SAMPLES(IMPORT_OPENSHELL, samples);
}

static void the_paths_of_a_container_are_told(void)
{
	static const struct sample samples[] = {
		{"filesystem_policy: {read_only: [/usr, /var/log]}", "/var/log", NULL, 1},
		{"filesystem_policy: {read_only: [/usr, /etc], read_write: [/tmp]}", NULL, "read:", 0},
	};

	SAMPLES(IMPORT_OPENSHELL, samples);
}

static void no_endpoint_of_openshell_is_left_out_in_silence(void)
{
	static const struct sample samples[] = {
		{HOST("host: h.example, port: 443, protocol: grpc"), "mode: none", "h.example", 1},
		{HOST("host: h.example, port: 443, protocol: REST"), "mode: none", "h.example", 1},
		{HOST("host: h.example, port: 443, protocol: rest"), "- host: h.example", NULL, 0},
		{HOST("host: h.example, port: 443, rules: []"), "mode: none", "h.example", 1},
		{HOST("port: 443"), "mode: none", "443", 1},
		{HOST("port: 443, allowed_ips: []"), "mode: none", "443", 1},
	};

	SAMPLES(IMPORT_OPENSHELL, samples);
}

#define BESIDE(first)                                                                                                  \
	"network_policies: {a: {endpoints: [{" first                                                                   \
	", port: 443, deny_rules: [{method: POST, path: /admin}]}, {host: h.x.example, port: 443}]}}"
#define DENIED_HOST(host) "  deny:\n    - host: " host "\n      ports: [443]\n" POST PATHS "/admin\n"

static void a_denial_of_openshell_holds_where_its_endpoint_is_left_out(void)
{
	static const struct sample samples[] = {
		{BESIDE("host: \"*.x.example\""), DENIED_HOST("\"*.x.example\""), NULL, 1},
		{BESIDE("host: \"h*.x.example\""), DENIED_HOST("\"*.x.example\""), NULL, 1},
		{BESIDE("host: \"*.x*x.example\""), DENIED_HOST("\"*.example\""), NULL, 1},
		{BESIDE("host: h.x.example, allowed_ips: [10.0.0.0/8]"), DENIED_HOST("h.x.example"), NULL, 1},
		{BESIDE("host: h.x.example, protocol: mcp"), DENIED_HOST("h.x.example"), NULL, 1},
		{BESIDE("host: h.x.example, new_key: x"), DENIED_HOST("h.x.example"), NULL, 1},
		{BESIDE("host: \"*\""), "mode: none", "h.x.example", 1},
		{BESIDE("allowed_ips: [10.0.0.0/8]"), "mode: none", "h.x.example", 1},
		{BESIDE("host: localhost"), "- host: h.x.example", "deny", 1},
		{"network_policies: {a: {new_key: x, endpoints: [{host: h.x.example, port: 443, deny_rules: [{method: "
		 "POST, path: /admin}]}]}, b: {endpoints: [{host: h.x.example, port: 443}]}}",
		 DENIED_HOST("h.x.example"), NULL, 1},
		{"network_policies: {a: {endpoints: [{host: h.x.example, port: 443, deny_rules: {path: /admin}}, "
		 "{host: h.x.example, port: 443}]}}",
		 "  deny:\n    - host: h.x.example\n      ports: [443]\n", "methods", 1},
	};

	SAMPLES(IMPORT_OPENSHELL, samples);
}

#define SETTINGS(files) "{\"filesystem\": {" files "}}"
#define READS "\"allowRead\": [\".\"], "
#define HERE "\"allowWrite\": [\".\"], "

static void srt_shows_nothing_that_could_not_be_read_however_it_is_written(void)
{
	static const struct sample samples[] = {
		{SETTINGS(READS "\"denyRead\": [\"/home\"], " HERE "\"denyWrite\": [\"~/notes\"]"),
		 "deny:\n    - \"~/notes\"", "read:", 0},
		{SETTINGS(READS "\"denyRead\": [\"~\"], " HERE "\"denyWrite\": [\"/home/bob/notes\"]"),
		 "deny:\n    - /home/bob/notes", "read:", 0},
		{SETTINGS(READS "\"denyRead\": [\"/home/\"], " HERE "\"denyWrite\": [\"~//notes/.\"]"),
		 "deny:\n    - \"~/notes\"", "read:", 0},
		{SETTINGS(READS "\"denyRead\": [\"/./home/.\"], " HERE "\"denyWrite\": [\"$HOME/notes\"]"),
		 "deny:\n    - \"~/notes\"", "read:", 0},
		{SETTINGS(READS "\"denyRead\": [\"${HOME}\"], " HERE "\"denyWrite\": [\"/mnt/u/notes\"]"),
		 "deny:\n    - /mnt/u/notes", "read:", 0},
		{SETTINGS(READS
			  "\"denyRead\": [\"~/\"], \"allowWrite\": [\"/data/u\"], \"denyWrite\": [\"/data/u/notes\"]"),
		 NULL, "read:", 1},
		{SETTINGS(READS "\"denyRead\": [\"/home\"], \"allowWrite\": [\"~/out\"]"), NULL, "out", 1},
		{SETTINGS(READS "\"denyRead\": [\"~\"], \"allowWrite\": [\"/home/bob/out\"]"), NULL, "out", 1},
		{SETTINGS("\"denyRead\": [\"~\"], \"allowRead\": [\"~/out\", \".\"], \"allowWrite\": [\"~/out\", "
			  "\"src\"]"),
		 "write:\n    - \"~/out\"\n    - src", NULL, 0},
		{SETTINGS(HERE "\"denyWrite\": [\"~/notes\"]"), "deny:\n    - \"~/notes\"", "read:", 0},
		{SETTINGS("\"denyRead\": [\"/~x\"], " HERE "\"denyWrite\": [\"/x/y\"]"), "    - /x/y\n", "read:", 0},
		{SETTINGS("\"denyRead\": [\"~/.s*\"], \"allowRead\": [\"~/.ssh/pub\", \"~/.t\"]"),
		 "read:\n    - \"~/.t\"", "pub", 1},
		{SETTINGS("\"denyWrite\": [\"~/notes\"]"), NULL, "notes", 0},
		{SETTINGS("\"denyRead\": [\"$HOME/.ssh\"]"), "deny:\n    - \"~/.ssh\"", NULL, 0},
	};

	SAMPLES(IMPORT_SRT, samples);
}

static void a_work_folder_that_srt_could_not_read_is_not_shown(void)
{
	static const struct sample samples[] = {
		{SETTINGS("\"denyRead\": [\"~\"], \"allowWrite\": [\".\"]"), "deny:\n    - \"~\"", NULL, 0},
		{SETTINGS("\"denyRead\": [\"/home/.\"]"), "deny:\n    - /home\n", NULL, 0},
		{SETTINGS("\"denyRead\": [\"~\"], \"allowRead\": [\".\"], \"allowWrite\": [\".\"]"),
		 "workdir: read-write", "deny", 0},
		{SETTINGS("\"denyRead\": [\"~\"], \"allowRead\": [\"./\"]"), "workdir: read-only", "deny", 0},
		{SETTINGS("\"denyRead\": [\"~\"], \"allowRead\": [\"~/lib\"], \"allowWrite\": [\".\", \"src\"]"),
		 "workdir: none\n  read:\n    - \"~/lib\"\n", "src", 1},
		{SETTINGS("\"denyRead\": [\"/home\"], \"allowRead\": [\"~/lib\"], \"allowWrite\": [\".\"]"),
		 "workdir: none\n  read:\n    - \"~/lib\"\n", NULL, 1},
		{SETTINGS("\"denyRead\": [\"/\"], \"allowWrite\": [\".\"]"), "workdir: none", NULL, 1},
	};

	SAMPLES(IMPORT_SRT, samples);
}

static void what_srt_could_not_write_cannot_be_written(void)
{
	static const struct sample samples[] = {
		{SETTINGS(HERE "\"denyWrite\": [\".env\", \"config//x/\"]"), "read:\n    - \".env\"\n    - config/x\n",
		 "deny", 0},
		{SETTINGS(HERE "\"denyWrite\": [\".\"]"), "workdir: read-only", "read:", 1},
		{SETTINGS(HERE "\"denyWrite\": [\"./\"]"), "workdir: read-only", "read:", 1},
		{SETTINGS(HERE "\"denyWrite\": [\"~\"]"), "workdir: read-only", "read:", 1},
		{SETTINGS(HERE "\"denyWrite\": [\"/\"]"), "workdir: read-only", "read:", 1},
		{SETTINGS(HERE "\"denyWrite\": [\"/home/\"]"), "workdir: read-only", "read:", 1},
		{SETTINGS(HERE "\"denyWrite\": [\"/usr\"]"), "workdir: read-only", "read:", 1},
		{SETTINGS(HERE "\"denyWrite\": [\"/home/bob/proj\"]"), "deny:\n    - /home/bob/proj", "read:", 0},
		{SETTINGS("\"allowWrite\": [\"/d/a\", \"/d/b\"], \"denyWrite\": [\"/d/a/x\"]"),
		 "read:\n    - /d/a/x\n  write:\n    - /d/a\n    - /d/b", "deny", 0},
		{SETTINGS("\"allowWrite\": [\"/d/a\", \"/d/a/x/y\"], \"denyWrite\": [\"/d/a/x\"]"),
		 "deny:\n    - /d/a/x", "read:", 0},
		{SETTINGS("\"allowWrite\": [\"src\", \"src/gen\"], \"denyWrite\": [\"src/gen\"]"),
		 "read:\n    - src/gen\n  write:\n    - src\n", NULL, 1},
		{SETTINGS("\"allowWrite\": [\"/home/bob/p/x\"], \"denyWrite\": [\"x\"]"), NULL, "bob", 1},
		{SETTINGS("\"allowWrite\": [\"/home/bob/p\"], \"denyWrite\": [\"**/x\", \"*.env\"]"),
		 "write:\n    - /home/bob/p\n", NULL, 0},
		{SETTINGS("\"allowWrite\": [\"src/*\"], \"denyWrite\": [\".env\"]"), "write:\n    - \"src/*\"", NULL,
		 0},
		{SETTINGS("\"allowWrite\": [\"~/a\", \"src\"], \"denyWrite\": [\"~\"]"), NULL, "write:", 1},
	};

	SAMPLES(IMPORT_SRT, samples);
}

static void a_denial_of_srt_that_cannot_be_read_closes_what_it_may_be_about(void)
{
#define HOSTS(denied) "{\"network\": {\"allowedDomains\": [\"*.example.com\"], " denied "}}"
	static const struct sample samples[] = {
		{SETTINGS(HERE "\"denyRead\": [\"../x\"]"), "workdir: none", NULL, 1},
		{SETTINGS(HERE "\"denyRead\": [\"~bob/x\"], \"allowRead\": [\"/srv/a\"]"), "workdir: none", "/srv/a",
		 1},
		{SETTINGS(HERE "\"denyRead\": \"~/.ssh\""), "workdir: none", NULL, 1},
		{SETTINGS(HERE "\"denyRead\": {\"a\": 1}"), "workdir: none", NULL, 1},
		{SETTINGS(HERE "\"denyRead\": [[\"x\"]]"), "workdir: none", NULL, 1},
		{SETTINGS(HERE "\"denyWrite\": [\"a/../b\"]"), "workdir: none", NULL, 1},
		{SETTINGS(HERE "\"denyExec\": [\"x\"]"), "workdir: none", NULL, 1},
		{SETTINGS(HERE "\"denyRead\": []"), "workdir: read-write", NULL, 0},
		{"{\"filesystem\": [1]}", "workdir: none", NULL, 1},
		{HOSTS("\"deniedDomains\": [\"evil.example.com\"]"), "mode: allowlist", NULL, 0},
		{HOSTS("\"deniedDomains\": [\"evil.*\"]"), "mode: none", "example", 1},
		{HOSTS("\"deniedDomains\": [\"*:443\"]"), "mode: none", "example", 1},
		{HOSTS("\"deniedDomains\": [\"https://evil.example.com/x\"]"), "mode: none", "example", 1},
		{HOSTS("\"deniedDomains\": \"evil.example.com\""), "mode: none", "example", 1},
		{HOSTS("\"deniedDomains\": [[7]]"), "mode: none", "example", 1},
		{HOSTS("\"deniedDomains\": [\"localhost\", \"127.0.0.1\", \"169.254.169.254\"]"), "mode: allowlist",
		 NULL, -1},
		{HOSTS("\"blockedDomains\": [\"a.example.com\"]"), "mode: none", "example", 1},
		{"{\"sandbox\": {\"filesystem\": {\"allowWrite\": [\".\"]}}, \"permissions\": {\"deny\": "
		 "[\"Read(./.env)\"]}}",
		 "workdir: none", NULL, 1},
		{"{\"sandbox\": {\"filesystem\": {\"allowWrite\": [\".\"]}}, \"permissions\": {\"deny\": "
		 "[\"Bash(rm:*)\"]}}",
		 "workdir: read-write", NULL, 1},
	};

	SAMPLES(IMPORT_SRT, samples);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(synthorgs_hosts_that_cannot_be_read_do_not_open_the_others),
		CASE(synthorgs_denials_hold_however_they_are_written),
		CASE(synthorgs_programs_are_not_all_allowed_because_none_can_be_read),
		CASE(openshells_denials_are_widened_and_never_left_out),
		CASE(what_narrows_an_openshell_endpoint_is_not_lost_while_it_stays),
		CASE(no_import_opens_this_machine_or_its_metadata),
		CASE(a_websocket_of_openshell_opens_no_other_methods_and_no_messages),
		CASE(the_paths_of_a_container_are_told),
		CASE(no_endpoint_of_openshell_is_left_out_in_silence),
		CASE(a_denial_of_openshell_holds_where_its_endpoint_is_left_out),
		CASE(srt_shows_nothing_that_could_not_be_read_however_it_is_written),
		CASE(a_work_folder_that_srt_could_not_read_is_not_shown),
		CASE(what_srt_could_not_write_cannot_be_written),
		CASE(a_denial_of_srt_that_cannot_be_read_closes_what_it_may_be_about),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
