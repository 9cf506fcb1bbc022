#!/bin/bash
# Which rules a request goes by where several are for its host: the one that decides, and the one that its credential and rate come from.
. "$(dirname "$0")/../gate_lib.sh"

export TEST_API_KEY=cordon-test-secret-5f1d0c9a7b3e
cat >"$config/credentials.yaml" <<'Y'
version: 1
credentials:
  key: {from: {env: TEST_API_KEY}, hosts: [api.test], inject: {header: x-api-key, format: "{}"}}
Y
start_upstream api.test || finish

# policy RULE...: in $tmp/policy.yaml
policy()
{
	local rule
	{
		printf 'version: 1\nextends: [default]\nnetwork:\n  mode: allowlist\n  allow:\n'
		for rule; do printf '    - %s\n' "$rule"; done
	} >"$tmp/policy.yaml"
}
# ask COMMANDS: does them inside, with the calls in $safe and $danger, and says what they printed
call() { printf '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s"}}' "$1"; }
ask()
{
	local c='c() { curl -sS -m 10 -o /dev/null -w "%{http_code} " "$@"; }; json="content-type: application/json"; '
	forget
	run "$tmp/policy.yaml" sh -c "$c safe='$(call safe)'; danger='$(call danger)'; $1" 2>"$tmp/err" </dev/null || sed 's/^/# /' "$tmp/err"
}
# what arrived, and whether with the credential: "GET /x key" or "GET /x -"
keys()
{
	python3 -c '
import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line)
    sent = {k.lower(): v for k, v in e["headers"].items()}.get("x-api-key")
    print(e["method"], e["path"], "key" if sent == sys.argv[2] else sent or "-", end=", ")' "$up/log" "$TEST_API_KEY"
}

plain='{host: api.test, methods: [GET, POST]}'
mcp='{host: api.test, mcp: {tools: [safe]}, credential: key}'
for order in "$plain|$mcp" "$mcp|$plain"; do
	policy "${order%|*}" "${order#*|}"
	which=$([ "$order" = "$plain|$mcp" ] && echo "the plain rule first" || echo "the rule with it first")
	got=$(ask 'c https://api.test/private; c -H "$json" -d "$danger" https://api.test/danger; c -H "$json" -d "$safe" https://api.test/safe; c -d "$safe" https://api.test/form
		c -H "$json" -d "[$safe,$danger]" https://api.test/both; c -H "$json" -H "Transfer-Encoding: chunked" -d "$safe" https://api.test/chunks')
	is "a credential goes along with what its own rule allows, to the body ($which)" "$got| $(keys)" \
		"200 200 200 200 200 200 | GET /private -, POST /danger -, POST /safe key, POST /form -, POST /both -, POST /chunks key, "
done
policy "$plain" "$mcp"
got=$(ask 'head -c 3000000 /dev/zero >large; for type in application/octet-stream application/json; do c -T large -X POST -H "content-type: $type" https://api.test/large; done')
like "why says so" "$("$CORDON" why -p "$tmp/policy.yaml" --host api.test --method POST --url-path /)" 'with credential key where its body is one that the rule of the credential allows'
is "bodies that cannot be its own are not held up for it" "$got| $(keys)" "200 200 | POST /large -, POST /large -, "
policy "$plain" "{host: api.test, graphql: {types: [query]}, credential: key}"
got=$(ask 'for q in "{a}" "mutation{a}"; do c -H "$json" -d "{\"query\":\"$q\"}" https://api.test/gql; done; c "https://api.test/gql?query=%7Ba%7D"; c "https://api.test/gql?query=mutation%7Ba%7D"')
is "... be it in GraphQL" "$got| $(keys)" "200 200 200 200 | POST /gql key, POST /gql -, GET /gql?query=%7Ba%7D key, GET /gql?query=mutation%7Ba%7D -, "
policy "$plain" "$mcp" "{host: api.test, paths: [/second], credential: key}"
got=$(ask 'c -H "$json" -d "$danger" https://api.test/second; c -H "$json" -d "$danger" https://api.test/third')
is "a rule behind it may have it, too" "$got| $(keys)" "200 200 | POST /second key, POST /third -, "

# what stands for a method that the credential's rule does not have
policy "{host: api.test}" "{host: api.test, methods: [POST], credential: key}"
got=$(ask 'c -d a=b https://api.test/one; c -d _method=DELETE https://api.test/two; c -H "X-HTTP-Method-Override: DELETE" -d a=b https://api.test/three; c -d _method=DELETE -X PUT https://api.test/four')
# (its head may have gone out before its body came; then that is cut)
like "a body that asks for another method is refused where a credential would go along" "$got| $(keys)" '^200 403 200 200 \| POST /one key, (POST /two key, )?POST /three -, PUT /four -, $'

for order in "{host: api.test, methods: [GET]}|{host: api.test, paths: [\"/api/**\"], rate: 1/h, credential: key}" "{host: api.test, paths: [\"/api/**\"], rate: 1/h, credential: key}|{host: api.test, methods: [GET]}"; do
	policy "${order%|*}" "${order#*|}"
	got=$(ask 'c https://api.test/api/1; c https://api.test/api/2; c https://api.test/other')
	is "a credential costs its rule's rate" "$got| $(keys)" "200 429 200 | GET /api/1 key, GET /other -, "
done
policy "{host: api.test, rate: 1800/h}" "{host: api.test, paths: [\"/api/**\"], rate: 1/h, credential: key}"
got=$(ask 'c https://api.test/api/1; sleep 2.2; c https://api.test/api/2; c https://api.test/other')
is "what one of two rates refuses costs the other nothing" "$got| $(keys)" "200 429 200 | GET /api/1 key, GET /other -, "

# a port of the host's that no rule is about: what it says is looked into
cat >"$tmp/tells.py" <<'E'
import http.server, os
class Tells(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(("log: %s\n" % os.environ["TEST_API_KEY"]).encode())
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", 8444), Tells).serve_forever()
E
helper 127.0.0.1:8444 python3 "$tmp/tells.py"
printf 'version: 1\nextends: [default]\nnetwork: {mode: public, allow: [{host: api.test, credential: key}]}\n' >"$tmp/policy.yaml"
got=$(ask 'set -f; c https://api.test/one; for how in "" -p "--noproxy *"; do curl -sS -m 10 $how http://api.test:8444/; done')
if [ "$direct" = any ]; then want=3; else want=2; fi
is "a host that gets a credential is looked into on its other ports" "$(grep -c log: <<<"$got")/$(grep -c "$TEST_API_KEY" <<<"$got")" "$want/0"

finish
