#!/bin/bash
# The gateway from end to end: real clients inside, real upstreams outside, and what must not arrive does not.
. "$(dirname "$0")/../gate_lib.sh"

secret=cordon-test-secret-5f1d0c9a7b3e
export TEST_API_KEY=$secret
cat >"$config/credentials.yaml" <<'Y'
version: 1
credentials:
  key:
    from: {env: TEST_API_KEY}
    hosts: [api.test]
    inject: {header: x-api-key, format: "{}"}
    env: TEST_API_KEY
  model:
    from: {env: TEST_API_KEY}
    hosts: [model.test]
    inject: {header: x-api-key, format: "{}"}
    env: ANTHROPIC_API_KEY
Y
cat >"$tmp/net.yaml" <<'Y'
version: 1
extends: [default]
network:
  mode: allowlist
  allow:
    - host: tunnel.test
    - host: api.test
      methods: [GET, HEAD]
      paths: ["/ok/**", "/reflect"]
      credential: key
    - host: plain.test
      ports: [80]
      methods: [GET, POST]
    - host: "*.wild.test"
  deny:
    - {host: bad.wild.test}
    - {host: plain.test, paths: ["/@evil/**", "/**/*:setIamPolicy", "/a+b"]}
Y
cat >"$tmp/model.yaml" <<'Y'
version: 1
extends: [default]
inference:
  providers:
    anthropic:
      kind: anthropic
      url: https://model.test
      credential: model
      models: ["claude-*"]
      max_requests: 4
Y
start_upstream tunnel.test api.test plain.test a.wild.test bad.wild.test wild.test evil.test model.test || finish

net() { run "$tmp/net.yaml" "$@"; }

# status URL [CURL_OPTION...]: what curl inside got: the HTTP status, that of the proxy, and its own exit code.
status()
{
	local url=$1
	shift
	net curl -sS -o /dev/null -w '%{http_code} %{http_connect} %{exitcode}' -m 10 "$@" "$url" 2>/dev/null
}

nothing_arrives()
{
	local name=$1 before
	shift
	before=$(arrived)
	"$@" >"$tmp/out" 2>&1
	is "$name: nothing reached the upstream" "$(arrived)" "$before"
}

# An allowed host
like "curl reaches an allowed host through the proxy variables" "$(net curl -sS -m 10 https://tunnel.test/x 2>&1)" 'hello from tunnel\.test/x'
like "curl that knows no proxy reaches it too" "$(net curl -sS -m 10 --noproxy '*' https://tunnel.test/y 2>&1)" 'hello from tunnel\.test/y'
like "curl by SOCKS reaches it" "$(net curl -sS -m 10 --noproxy '' -x socks5h://127.0.0.1:3128 https://tunnel.test/s 2>&1)" 'hello from tunnel\.test/s'
like "Python's urllib reaches it" "$(net python3 -c 'import urllib.request; print(urllib.request.urlopen("https://tunnel.test/py", timeout=10).read().decode())' 2>&1)" 'hello from tunnel\.test/py'
if command -v node >/dev/null; then
	like "Node's fetch reaches it" "$(net node -e 'fetch("https://tunnel.test/node").then(r=>r.text()).then(console.log)' 2>&1)" 'hello from tunnel\.test/node'
else
	skip "Node's fetch reaches it" "no node here"
fi
like "a name below a wildcard is reached" "$(net curl -sS -m 10 https://a.wild.test/ 2>&1)" 'hello from a\.wild\.test'
like "plain HTTP passes where a rule allows it" "$(net curl -sS -m 10 http://plain.test/p 2>&1)" 'hello from plain\.test/p'
like "plain HTTP passes without a proxy" "$(net curl -sS -m 10 --noproxy '*' http://plain.test/q 2>&1)" 'hello from plain\.test/q'
is "a body goes up and comes back" "$(net curl -sS -m 10 -d 'ping pong' http://plain.test/echo 2>&1)" "ping pong"

# A host that no rule allows
is "an unlisted host is refused at the proxy with 403" "$(status https://evil.test/)" "000 403 56"
nothing_arrives "an unlisted host" status https://evil.test/
is "deny wins over a wildcard" "$(status https://bad.wild.test/)" "000 403 56"
is "a wildcard is not the name itself" "$(status https://wild.test/)" "000 403 56"
like "the refusal says what an agent can act on" "$(net curl -sS -m 10 -i http://evil.test/ 2>&1)" '"error":"policy_denied","domain":"network"'
like "the refusal names itself in a header" "$(net curl -sS -m 10 -i http://evil.test/ 2>&1)" 'X-Proxy-Error: blocked-by-allowlist'
nothing_arrives "plain HTTP to an unlisted host" net curl -sS -m 10 http://evil.test/
nothing_arrives "an unlisted host without a proxy" net curl -sS -m 10 --noproxy '*' https://evil.test/
nothing_arrives "an address dialled directly" net curl -sS -m 10 --noproxy '*' -k https://127.0.0.1.nip.test/ --resolve 127.0.0.1.nip.test:443:10.0.0.1
started=$(date +%s%N)
net curl -sS -m 10 --noproxy '*' http://10.1.2.3/ >/dev/null 2>&1
ok "a direct dial is refused at once" test $((($(date +%s%N) - started) / 1000000)) -lt 2000
is "SOCKS to an unlisted host gets reply 2" "$(net curl -sS -m 10 -x socks5h://127.0.0.1:3128 https://evil.test/ 2>&1 | grep -o '(2)')" "(2)"

# The name in TLS must be the name that was allowed
nothing_arrives "another name in the ClientHello" net bash -c 'printf "" | timeout 5 openssl s_client -proxy 127.0.0.1:3128 -connect tunnel.test:443 -servername evil.test'
nothing_arrives "no name in the ClientHello" net bash -c 'printf "GET / HTTP/1.1\r\nHost: tunnel.test\r\n\r\n" | timeout 5 openssl s_client -quiet -proxy 127.0.0.1:3128 -connect tunnel.test:443 -noservername'
nothing_arrives "no TLS in a tunnel to port 443" net bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; printf "CONNECT tunnel.test:443 HTTP/1.1\r\nHost: tunnel.test:443\r\n\r\nGET / HTTP/1.1\r\nHost: tunnel.test\r\n\r\n" >&3; timeout 3 cat <&3'

# Inspection and credentials
forget
like "a request that the rule allows passes" "$(net curl -sS -m 10 https://api.test/ok/list 2>&1)" 'hello from api\.test/ok/list'
like "its credential was put in outside" "$(cat "$up/log")" "\"x-api-key\": \"$secret\""
is "inside there is a placeholder" "$(net sh -c 'echo "$TEST_API_KEY"' | grep -c "$secret")" "0"
ok "the placeholder is set" test -n "$(net sh -c 'echo "$TEST_API_KEY"')"
is "a method that the rule does not list is refused" "$(status https://api.test/ok/list -X POST -d x)" "403 200 0"
is "a path that the rule does not list is refused" "$(status https://api.test/other)" "403 200 0"
nothing_arrives "another path" status https://api.test/other
for path in /ok/../other /ok/%2e%2e/other /ok/%252e%252e/other '/ok/..;/other' '/ok/..%5cother' /ok/%2fother '/ok/x%00' '/ok\other'; do
	nothing_arrives "the path $path" net curl -sS -m 10 --path-as-is "https://api.test$path"
done
forget
is "a denied path stays denied in every encoding, by HTTP/1.1 and HTTP/2" "$(net sh -c 'for path in /@evil/x /%40evil/x /%2540evil/x /v1/p%3asetIamPolicy /v1/p%253AsetIamPolicy /a%2Bb /a%2bb; do for how in --http1.1 "-p --http2-prior-knowledge"; do
	curl -sS -m 10 -o /dev/null -w "%{http_code} " $how "http://plain.test$path"; done; done' 2>&1)/$(arrived)" "403 403 403 403 403 403 403 403 403 403 403 403 403 403 /0"
like "another path goes out as it was encoded" "$(net curl -sS -m 10 http://plain.test/key%2Bone%40two%3d3 2>&1)" 'hello from plain\.test/key%2Bone%40two%3D3'
is "cordon why says so, too" "$(for path in /@evil/x /%40evil/x /v1/p%3AsetIamPolicy /a%2Bb /key%2Bone; do "$CORDON" why -p "$tmp/net.yaml" --host plain.test:80 --method GET --url-path "$path" >/dev/null 2>&1; printf '%s ' $?; done)" "1 1 1 1 0 "
nothing_arrives "a method override" net curl -sS -m 10 -H 'X-HTTP-Method-Override: DELETE' https://api.test/ok/list
forget
net curl -sS -m 10 -H "x-api-key: mine" https://api.test/ok/own >/dev/null 2>&1
is "what the client sent in the credential's header is dropped" "$(grep -c mine "$up/log")" "0"
nothing_arrives "a placeholder in a URL" net sh -c 'curl -sS -m 10 "http://plain.test/?k=$TEST_API_KEY"'
nothing_arrives "a placeholder in a header to another host" net sh -c 'curl -sS -m 10 -H "x: $TEST_API_KEY" http://plain.test/'
nothing_arrives "a placeholder in a body to another host" net sh -c 'curl -sS -m 10 -d "k=$TEST_API_KEY" http://plain.test/echo'
for form in raw base64 url json header split; do
	out=$(net curl -sS -m 10 -i "https://api.test/reflect?form=$form" 2>&1)
	like "a credential that comes back is taken out: $form" "$out" '200'
	is "... and is not in the answer: $form" "$(grep -c -e "$secret" -e "$(printf x%s "$secret" | base64 | cut -c5-30)" <<<"$out")" "0"
done
is "curl speaks HTTP/2 with the gateway" "$(net curl -sS -m 10 --http2 -o /dev/null -w '%{http_version} %{http_code}' https://api.test/ok/h2 2>&1)" "2 200"
head -c 20000000 /dev/zero >"$work/big"
is "a refusal by HTTP/2 arrives whole, however much is being sent" "$(net sh -c 'for how in "--data-binary @big -H Expect:" "-T big" "-T -"; do curl -sS -m 10 --http2 -o /dev/null -w "%{http_code} %{exitcode} " $how https://api.test/other <big; done' 2>&1)" "403 0 403 0 403 0 "
rm "$work/big"
is "a redirect is the client's to follow, and judged" "$(status "https://api.test/ok/../redirect")" "403 200 0"

# A provider's host that a rule opens as well
for rule in '{host: model.test}' '{host: "*.test"}'; do
	{ cat "$tmp/model.yaml"; printf 'network: {mode: allowlist, allow: [%s]}\n' "$rule"; } >"$tmp/both.yaml"
	forget
	out=$(run "$tmp/both.yaml" sh -c 'curl -sS -m 10 -o /dev/null -w "%{http_code}\n" -H "content-type: application/json" -d "{\"model\": \"claude-x\", \"max_tokens\": 9, \"messages\": []}" "$ANTHROPIC_BASE_URL/v1/messages"
		curl -sSk -m 10 https://model.test/last; curl -sS -m 10 http://model.test/last; curl -sSk -m 10 -x socks5h://127.0.0.1:3128 https://model.test/last' 2>&1)
	is "a provider got its credential, and its host is reached beside the door ($rule)" "$(grep -c '"path": "/last"' "$up/log")/$(grep -c "\"x-api-key\": \"$secret\"" "$up/log")/$(grep -o 'the last was' <<<"$out" | wc -l)" "3/1/3"
	is "... which is looked into: what it got does not come back by another way" "$(grep -c "$secret" <<<"$out")" "0"
done

# DNS
like "an allowed name resolves" "$(net getent ahostsv4 tunnel.test 2>&1)" '^198\.1[89]\.'
is "another name does not exist" "$(net getent hosts evil.test >/dev/null 2>&1; echo $?)" "2"

# Nothing but TCP through the gateway
is "UDP goes nowhere" "$(net python3 -c '
import errno, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2)
try: s.connect(("8.8.8.8", 443)); s.send(b"x"); s.recv(1); print("answer")
except OSError as e: print("refused" if e.errno in (errno.ECONNREFUSED, errno.ENETUNREACH, errno.EHOSTUNREACH) else e)' 2>&1)" "refused"

# Models, with network mode none
model() { run "$tmp/model.yaml" "$@"; }
forget
like "a model answers although the network mode is none" "$(model sh -c 'curl -sS -m 10 "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: $ANTHROPIC_API_KEY" -H "content-type: application/json" -d "{\"model\":\"claude-x\",\"max_tokens\":5,\"messages\":[]}"' 2>&1)" '"text": *"hi"'
like "the provider got the credential" "$(cat "$up/log")" "\"x-api-key\": \"$secret\""
forget
model sh -c 'curl -sS -m 10 "$ANTHROPIC_BASE_URL/v1/messages" -H "x-selected-worker: chosen-one" -H "x.gateway.model.name: chosen-one" -H "X-Stainless-Lang: kept" -H "content-type: application/json" -d "{\"model\":\"claude-x\",\"max_tokens\":5,\"messages\":[]}"' >/dev/null 2>&1
is "headers that may choose another model do not pass, those of libraries do" "$(arrived)/$(grep -c chosen-one "$up/log")/$(grep -c kept "$up/log")" "1/0/1"
like "server-sent events pass" "$(model sh -c 'curl -sSN -m 10 "$ANTHROPIC_BASE_URL/v1/messages" -H "content-type: application/json" -d "{\"model\":\"claude-x\",\"stream\":true,\"max_tokens\":5,\"messages\":[]}"' 2>&1)" 'message_delta'
forget
like "an agent that prints its environment can go on" "$(model sh -c 'printf "{\"model\":\"claude-x\",\"max_tokens\":5,\"messages\":[{\"role\":\"user\",\"content\":\"KEY=%s.\"}]}" "$ANTHROPIC_API_KEY" | curl -sS -m 10 "$ANTHROPIC_BASE_URL/v1/messages" -H "content-type: application/json" -d @-' 2>&1)" '"text": *"hi"'
like "... and the model does not get the placeholder" "$(cat "$up/log")" 'KEY=x{20,}\.'
log=$(find "$tmp/state" -name audit.jsonl -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2)
like "the log has what each model used" "$(tail -1 "$log")" '"provider":"anthropic","model":"claude-x","requests":1,"input_tokens":11,"output_tokens":7'
forget
is "whether anybody is there may be asked, and is no denial" "$(model sh -c 'for v in 1.1 2-prior-knowledge; do curl -sS -m 10 -I -o /dev/null -w "%{http_code} " --http$v "$ANTHROPIC_BASE_URL/"; done' 2>&1)$(arrived) $(grep -c '"denial"' "$(audit)") $(grep -o '"requests":2,"denied":0' "$(audit)")" \
	'200 200 0 0 "requests":2,"denied":0'
# What was asked for to be counted is not in the way of a program that has not asked for it
printf 'version: 1\nextends: [default]\ninference: {providers: {openai: {kind: openai, url: "https://model.test/v1", models: ["gpt-*"]}}}\n' >"$tmp/choices.yaml"
for body in '"router_settings_override":{"fallbacks":[{"gpt-x":["other"]}]}' '"model_group_alias":{"gpt-x":"other"}' '"adapters":"other"' '"deployment_name":"other"' '"tensorzero::provider_tools":[{"tool":{"type":"web_search"}}]' \
	'"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"url":"https://evil.test/a"}}]}]' '"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://evil.test/a"}}]}]'; do
	nothing_arrives "a request that leads elsewhere: ${body:0:40}" run "$tmp/choices.yaml" sh -c 'curl -sS -m 10 -w "%{http_code}" "$OPENAI_BASE_URL/chat/completions" -H "content-type: application/json" -d "$1"' - "{\"model\":\"gpt-x\",$body}"
	like "... and it was told so" "$(cat "$tmp/out")" '403$'
done
for asked in "--http1.1 gpt-x" "--http2-prior-knowledge gpt-x" "--http1.1 gpt-packed"; do
	is "a stream has the events that were asked for (${asked#--})" "$(run "$tmp/choices.yaml" sh -c 'for more in "" ",\"stream_options\":{\"include_usage\":true}"; do
		curl -sSN -m 10 $1 "$OPENAI_BASE_URL/chat/completions" -H "content-type: application/json" -d "{\"model\":\"$2\",\"stream\":true$more,\"messages\":[]}" | grep -o -e "^data: .DONE." -e "\"content\":\"hi\"" -e "\"usage\""; done' sh $asked 2>&1 | paste -sd' ')" \
		'"content":"hi" data: [DONE] "content":"hi" "usage" data: [DONE]'
	like "... and is counted in any case" "$(tail -1 "$(audit)")" "\"model\":\"${asked##* }\",\"requests\":2,\"input_tokens\":10,\"output_tokens\":6"
done
nothing_arrives "another model" model sh -c 'curl -sS -m 10 "$ANTHROPIC_BASE_URL/v1/messages" -H "content-type: application/json" -d "{\"model\":\"gpt-5\",\"max_tokens\":5,\"messages\":[]}"'
nothing_arrives "a tool that the provider would run" model sh -c 'curl -sS -m 10 "$ANTHROPIC_BASE_URL/v1/messages" -H "content-type: application/json" -d "{\"model\":\"claude-x\",\"max_tokens\":5,\"messages\":[],\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}]}"'
is "the fifth request is over the budget" "$(model sh -c 'for i in 1 2 3 4 5; do curl -sS -m 10 -o /dev/null -w "%{http_code} " "$ANTHROPIC_BASE_URL/v1/messages" -H "content-type: application/json" -d "{\"model\":\"claude-x\",\"max_tokens\":5,\"messages\":[]}"; done' 2>&1)" "200 200 200 200 429 "
is "... and counts as denied, not as allowed" "$(python3 -c '
import json, sys
lines = [e for e in map(json.loads, open(sys.argv[1])) if e["domain"] == "inference"]
print({v: sum(e.get("count", 1) for e in lines if e["verdict"] == v) for v in ("allow", "deny")})' "$(audit)")" "{'allow': 4, 'deny': 1}"
nothing_arrives "the network with mode none" model curl -sS -m 5 https://tunnel.test/

# What the log says
net curl -sS -m 10 http://evil.test/ >/dev/null 2>&1
log=$(find "$tmp/state" -name audit.jsonl -newer "$up/ready" -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2)
like "the log has the denial and its target" "$(cat "$log")" 'evil\.test'
ok "the log's chain holds" "$CORDON" audit verify "$log"
is "no log holds the credential" "$(grep -rl "$secret" "$tmp/state" | wc -l)" "0"
finish
