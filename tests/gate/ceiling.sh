#!/bin/bash
# The operator's ceiling, seen from inside: what it keeps shut is reached by no way that a request's own file opens.
. "$(dirname "$0")/../gate_lib.sh"
start_upstream model.test a.test b.test || finish

# ceiling TEXT: what stands behind version: 1; none without it.
ceiling()
{
	rm -f "$config/policy.yaml"
	[ -z "${1:-}" ] || printf 'version: 1\n%s\n' "$1" >"$config/policy.yaml"
}

# request TEXT
request() { printf 'version: 1\nextends: [default]\n%s\n' "$1" >"$tmp/request.yaml"; }

# Servers that a request calls providers
provider() { request "network: {mode: none}
inference: {providers: {x: {kind: openai, url: \"$1\", models: [\"*\"], base_url_env: X_URL}}}"; }
# shellcheck disable=SC2016 # it is expanded inside
ask_model() { run "$tmp/request.yaml" sh -c 'curl -sS -m 10 "$X_URL/chat/completions" -H "content-type: application/json" -d "{\"model\": \"m\", \"messages\": []}"' >"$tmp/out" 2>&1; }
# reaches NAME WANT
reaches()
{
	forget
	ask_model
	is "$1" "$(arrived)" "$2"
}

provider http://127.0.0.1:80
ceiling
reaches "without a ceiling a local model is reached by its url" 1
ceiling 'network: {mode: public}'
reaches "a ceiling of mode public opens no private address to a provider" 0
like "which is said when the policy is read" "$(cat "$tmp/out")" 'the ceiling .* does not open it'
ceiling 'network: {deny: [{cidr: 127.0.0.0/8}]}'
reaches "a ceiling's denial holds for a provider's url" 0
ceiling 'network: {mode: allowlist, allow: [{cidr: 127.0.0.1/32, ports: [5432]}]}'
reaches "so do the ports of what it allows" 0
ceiling 'network: {mode: allowlist, allow: [{cidr: 127.0.0.1/32, ports: [80]}]}'
reaches "where it opens address and port, the model is reached" 1
provider http://model.test
ceiling 'network: {mode: public}'
reaches "a name that the operator leads to a private address is theirs to lead" 1
ceiling 'network: {mode: public, deny: [{cidr: 127.0.0.0/8}]}'
reaches "but it leads to no address that the ceiling denies" 0
like "which is said as it is" "$(cat "$tmp/out")" 'leads to an address that network.deny has'
ceiling 'network: {deny: [{cidr: 127.0.0.0/8}]}'
reaches "be there a mode or not" 0
ceiling 'network: {mode: none, deny: [{cidr: 127.0.0.0/8}]}
inference: {providers: {x: {kind: openai, url: "http://model.test"}}}'
reaches "a ceiling that names the provider has said yes" 1

# Rates
ceiling 'network: {mode: public, allow: [{host: b.test, rate: 1/h}]}'
for rules in '' ', allow: [{host: "*.test"}]' ', allow: [{host: b.test, methods: [GET]}, {host: b.test}]'; do
	request "network: {mode: public$rules}"
	forget
	run "$tmp/request.yaml" sh -c 'for i in 1 2 3; do curl -sS -m 10 https://b.test/; done; curl -sS -m 10 -d x https://b.test/' >"$tmp/out" 2>&1
	is "a ceiling's rate holds below mode public (${rules:-no rules})" "$(arrived)" 1
done
finish
