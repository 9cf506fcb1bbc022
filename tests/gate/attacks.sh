#!/bin/bash
# What was tried against the gateway and worked once. Each way shown closed.
. "$(dirname "$0")/../gate_lib.sh"
start_upstream tunnel.test evil.test api.test far.test model.test || finish

# The policy lies in the work folder, which the run may write, and is loaded anew when it changes.
cat >"$work/policy.yaml" <<'Y'
version: 1
extends: [default, ./base.yaml]
network:
  mode: allowlist
  allow: [{host: tunnel.test}]
Y
printf 'version: 1\n' >"$work/base.yaml"
cat >"$work/rewrite.sh" <<'S'
wider='version: 1
extends: [default]
network: {mode: allowlist, allow: [{host: tunnel.test}, {host: evil.test}]}'
echo "$wider" >policy.yaml
echo "$wider" >other.yaml && mv -f other.yaml policy.yaml
rm -f policy.yaml && echo "$wider" >policy.yaml
ln -f policy.yaml link.yaml && echo "$wider" >link.yaml
mkdir -p d && mv policy.yaml d/
echo "$wider" >base.yaml
python3 -c 'import os; os.truncate("policy.yaml", 0)'
sleep 1
curl -sS -m 5 http://evil.test/
S
before=$(cat "$work/policy.yaml" "$work/base.yaml")
(cd "$work" && "$CORDON" run -p policy.yaml --workdir "$work" -- bash rewrite.sh) >"$tmp/out" 2>&1
is "a workload cannot change the policy that it runs under" "$(cat "$work/policy.yaml" "$work/base.yaml")" "$before"
is "and reaches nothing by trying" "$(arrived)" "0"
like "its own request was refused" "$(cat "$tmp/out")" 'policy_denied'

# The policy is named by a link
ln -s policy.yaml "$work/link.yaml"
(cd "$work" && "$CORDON" run -p link.yaml --workdir "$work" -- sh -c 'rm -f link.yaml; echo "version: 1" >link.yaml; ln -s other link.yaml; cp base.yaml b2; mv b2 link.yaml') >/dev/null 2>&1
like "a link that the policy was named by cannot be made to lead elsewhere" "$(readlink "$work/link.yaml" || ls -l "$work/link.yaml" 2>&1)" '^policy.yaml$|No such file'
rm -f "$work/link.yaml"

# A file that is called as a shipped profile is shown
cp "$work/policy.yaml" "$work/profile:strict"
(cd "$work" && "$CORDON" run -p profile:strict --workdir "$work" -- sh -c 'echo "version: 1" >profile:strict; rm -f profile:strict') >/dev/null 2>&1
is "nor can a policy that is called as a shipped profile is shown" "$(cat "$work/profile:strict")" "$(cat "$work/policy.yaml")"
rm -f "$work/profile:strict"

# Denied names below what is only protected
mkdir -p "$work/.vscode" "$work/.git/hooks"
echo deep-secret-5d >"$work/.vscode/.env"
echo deep-secret-5d >"$work/.git/hooks/.env"
out=$(run "$work/policy.yaml" cat .vscode/.env .git/hooks/.env 2>&1)
is "a denied name below a protected folder is hidden" "$(grep -c deep-secret <<<"$out")" "0"
rm -rf "$work/.vscode" "$work/.git"

# A value that the operator keeps in a file of the work folder
printf 'file-secret-41c7\n' >"$work/token"
chmod 600 "$work/token"
cat >"$config/credentials.yaml" <<Y
version: 1
credentials:
  kept:
    from: {file: $work/token}
    hosts: [tunnel.test]
    inject: {bearer: true}
Y
out=$(run "$work/policy.yaml" sh -c 'cat token; cp token other; cat other; mv token t2; cat t2; ln token t3; cat t3' 2>&1)
is "a file that holds a credential's value is hidden in the work folder" "$(grep -c file-secret <<<"$out")" "0"
rm -f "$config/credentials.yaml"

if [ "$(id -u)" = 0 ]; then
	run "$work/policy.yaml" sleep 5 &
	job=$!
	for _ in $(seq 50); do pgrep -x cordon-relay >/dev/null && break; sleep 0.1; done
	sleep 0.5
	for role in relay egress vault; do
		pid=$(pgrep -x -o "cordon-$role" --ns $$ --nslist net 2>/dev/null || pgrep -x -o "cordon-$role")
		is "cordon-$role keeps no capability of root's" "$(awk '/CapEff|CapPrm/ {print $2}' "/proc/$pid/status" | sort -u)" "0000000000000000"
	done
	kill "$job"
	wait "$job" 2>/dev/null
else
	skip "the roles keep no capability of root's" "only root has any"
fi

# Credentials. far.test is not on this machine's loopback, but for the test's sake on this machine.
secret=cordon-test-secret-5f1d0c9a7b3e
export TEST_API_KEY=$secret
cat >"$config/credentials.yaml" <<'Y'
version: 1
credentials:
  key:
    from: {env: TEST_API_KEY}
    hosts: [api.test, far.test, model.test]
    inject: {header: x-api-key, format: "{}"}
Y
cat >"$tmp/net.yaml" <<'Y'
version: 1
extends: [default]
network:
  mode: allowlist
  allow:
    - {host: tunnel.test, ports: [80, 443]}
    - {host: api.test, methods: [GET, HEAD, POST], paths: ["/ok/**"], credential: key}
    - {host: far.test, credential: key}
Y
net() { run "$tmp/net.yaml" "$@"; }
far=$tmp/far
mkdir "$far"
cp "$up/server.pem" "$up/server.key" "$far"
: >"$far/log"
ip addr add 10.9.9.9/32 dev lo
sed -i 's/"far.test": \["127.0.0.1"\]/"far.test": ["10.9.9.9"]/' "$config/gateway.yaml"
helper "$far/ready" python3 "$tests_dir/gate/origin.py" "$far" 10.9.9.9 80 443 || finish
cp "$tests_dir/gate/inside.py" "$work"
say() { net python3 inside.py say "$@" 2>&1; }

forget
like "in TLS the credential goes to its host" "$(net curl -sS -m 10 https://far.test/x 2>&1)$(cat "$far/log")" "hello from far.*$secret"
: >"$far/log"
like "in clear it is not sent over a network" "$(net curl -sS -m 10 -i http://far.test/x 2>&1)" '502.*not sent without TLS'
like "neither to port 443" "$(net curl -sS -m 10 -i http://far.test:443/x 2>&1)" '502.*not sent without TLS'
is "and nothing went out instead" "$(cat "$far/log")" ""
like "on loopback it is" "$(net curl -sS -m 10 http://api.test/ok/x 2>&1)$(cat "$up/log")" "hello from api.*$secret"

forget
net curl -sS -m 10 -o /dev/null https://api.test/ok/r -H "Range: bytes=0-15" -H 'If-Range: "x"' -H "Range: bytes=1-2" -H "Request-Range: bytes=0-9" -H "X_Range: bytes=0-9" -H "x-ms-range: bytes=0-9" -H "X-Request-Range: bytes=0-9"
is "a page that may hold a credential is not fetched in pieces" "$(arrived)/$(grep -ci range "$up/log")" "1/0"
out=$(net sh -c 'for q in "status=206&range=bytes+0-19/40" "status=206" "status=200&range=bytes+0-19/40" "status=206&range=0-19/40"; do for how in --http1.1 --http2; do curl -sS -m 10 -o /dev/null -w "%{http_code} " $how "https://api.test/ok/part?$q"; done; done' 2>&1)
is "one that comes in a piece nevertheless fails; rows of a table are no piece" "$out" "502 502 502 502 502 502 206 206 "
forget
net curl -sS -m 10 -o /dev/null https://tunnel.test/r -H "Range: bytes=0-15"
is "others are as the client likes" "$(grep -ci range "$up/log")" "1"

forget
upgrade='Host: api.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n'
like "a websocket to such a host opens" "$(say api.test "GET /ok/ws HTTP/1.1\r\n$upgrade")" '101'
is "without compression" "$(arrived)/$(grep -ci extensions "$up/log")" "1/0"
like "and not where the server compresses nevertheless" "$(say api.test "GET /ok/extension HTTP/1.1\r\n$upgrade")" '502'

# What a rule restricts cannot be asked for in a disguise
forget
for field in X-HTTP-Method-Override X_HTTP_METHOD_OVERRIDE X-Http_Method-Override X_Method_Override HTTP-Method-Override X-Original-Method X-Forwarded-Method X-Tunneled-Method X-Original-URL X_Original_URL X-Rewrite-URL X-Forwarded-Prefix X-Forwarded-Uri x-amz-copy-source X-Amz_Copy-Source x-ms-copy-source Destination; do
	is "$field is refused under methods and paths" "$(net curl -sS -m 10 -o /dev/null -w '%{http_code}' -H "$field: /admin" https://api.test/ok/a 2>&1)" "403"
	like "... in a trailer too" "$(say api.test "POST /ok/t HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n$field: DELETE\r\n\r\n")" '403'
done
for field in 'X-Forwarded-Host: other.test' 'X_Forwarded_Host: other.test' 'X-Forwarded-Server: other.test' 'X-Host: other.test' 'X-HTTP-Host-Override: other.test' 'Forwarded: for=1.2.3.4;Host=other.test' 'Forwarded: for=a, host = "other.test"'; do
	is "$field is refused under methods and paths: servers choose a host by it" "$(net curl -sS -m 10 -o /dev/null -w '%{http_code}' -H "$field" https://api.test/ok/a 2>&1)" "403"
	like "... in a trailer too" "$(say api.test "POST /ok/t HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n$field\r\n\r\n")" '403'
done
is "what says of the client only passes" "$(net curl -sS -m 10 -o /dev/null -w '%{http_code}' -H 'Forwarded: for=1.2.3.4;proto=https' -H 'X-Forwarded-For: 1.2.3.4' https://api.test/ok/a 2>&1)" "200"
form() { net curl -sS -m 10 -o /dev/null -w '%{http_code}' "$@" https://api.test/ok/f 2>&1; }
is "a _method in a form is refused under methods" "$(form -d 'a=b&_method=DELETE')" "403"
is "however it is written" "$(form -d 'a=b&%5Fm%65thod=DELETE')" "403"
is "in the spellings of Rack and PHP" "$(form -d 'a=b&[_method]=DELETE')$(form -d '_method]=DELETE')$(form -d '%5b_method=DELETE')$(form -F a=b -F '[_method]=DELETE')$(form -H 'X.HTTP.Method.Override: DELETE' -d a=b)" "403403403403403"
is "in a body without a type" "$(form -H 'Content-Type:' -d '_method=DELETE')" "403"
is "in parts" "$(form -F a=b -F _method=DELETE)" "403"
is "in JSON" "$(form -H 'Content-Type: application/json' -d '{"a":{"_method":1},"_m\u0065thod" :"DELETE"}')" "403"
is "and no upstream gets it: at most a head whose body ends before it begins" "$(grep -c '"body": "[^"]*[Mm][Ee][Tt][Hh]' "$up/log")" "0"
is "behind so much that the upstream has begun to read: it never gets the end" "$(form -d "$(printf 'x%.0s' {1..70000})=1&+.METHOD=PUT")$(form --http2 -F "big=@/usr/bin/env" -F _method=DELETE)" "403403"
form_type() { form -H "Content-Type: $1" --data-binary "${@:2}"; } # type, body, options of curl
for type in 'application/x-www-form-urlencoded, x' 'application/x-www-form-urlencoded x' 'x, application/x-www-form-urlencoded' nonsense; do
	is "in a form of the type $type" "$(form_type "$type" _method=DELETE)" "403"
done
for type in 'application/json, x' text/json 'text/plain; x=/json' text/plain; do
	is "in JSON of the type $type" "$(form_type "$type" '{"_method":"DELETE"}')" "403"
done
is "under two types, or in HTTP/2" "$(form -H 'Content-Type: text/plain' -H 'content-type: application/x-www-form-urlencoded' -d _method=DELETE)$(form --http2 -H 'Content-Type: application/x-www-form-urlencoded,x' -d _method=DELETE)" "403403"
is "in a character set unlike ASCII" "$(form_type 'application/x-www-form-urlencoded; charset=utf-16' '%00_%00m%00e%00t%00h%00o%00d=%00P%00U%00T')" "403"
for head in 'Content-ID: _method' 'X-Content-Disposition: form-data; name="_method"' ' Content-Disposition: form-data; name="_method"' 'Content-Disposition: form-data\r\n; name="_me\r\nthod"'; do
	printf -- "--X\r\n$head\r\n\r\nDELETE\r\n--X--\r\n" >"$work/part"
	is "in a part with $head" "$(form_type 'multipart/form-data; boundary=X' @part)" "403"
done
printf 'a=b&_method=DELETE' | gzip >"$work/packed"
printf '{"_method":"DELETE"}' | gzip >"$work/packed.json"
printf '{"b":"_method"}' | gzip >"$work/harmless.json"
is "in what is packed" "$(form -H 'Content-Encoding: gzip' --data-binary @packed)$(form_type text/plain @packed.json -H 'Content-Encoding: gzip')" "403403"
is "in what only says that it is packed, or nobody can unpack" "$(form -H 'Content-Encoding: gzip' -d _method=DELETE)$(form -H 'Content-Encoding: br' -d a=b)$(form -H 'Content-Encoding: gzip, gzip' --data-binary @packed)" "403403403"
is "what is packed and asks for nothing passes" "$(form -H 'Content-Encoding: gzip' -H 'Content-Type: application/json' --data-binary @harmless.json)$(form -H 'Content-Encoding: br' -H 'Content-Type: application/octet-stream' --data-binary @packed)" "200200"
is "and text that speaks of it" "$(form_type text/plain 'send _method=PUT&_method=PUT or {"_method":1}')$(form --form-string 'a=<input name="_method">')" "200200"
is "still no upstream got a whole body that asks" "$(grep -c '"body": "[^"]*_method[^"]*DELETE' "$up/log")" "0"
is "what is no such name passes" "$(form -d 'method=DELETE&payment_method=1')$(form -F payment_method=1 -F 'file=@/usr/bin/env')$(form -H 'Content-Type: application/json' -d '{"a":{"_method":1},"b":"_method"}')" "200200200"
forget
net curl -sS -m 10 -o /dev/null -H "X_Api_Key: mine" -H "X-Api_Key: mine" https://api.test/ok/a
is "the credential's header cannot be sent in a disguise" "$(arrived)/$(grep -c mine "$up/log")" "1/0"
forget
say api.test 'POST /ok/t HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Api-Key: mine\r\n\r\n' >/dev/null
is "nor in a trailer" "$(arrived)" "0"

# A body that its server leaves unread would be its next request
forget
hidden='DELETE /admin HTTP/1.1\r\nHost: api.test\r\n\r\n'
like "a body with GET is refused, and what to do instead is said" "$(net curl -sS -m 10 --http1.1 -i -X GET -d "$hidden" https://api.test/ok/h 2>&1)" '400.*send it by POST'
like "in chunks too" "$(say api.test 'GET /ok/h HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n')" ' 400 '
for method in GET OPTIONS; do
	is "$method with one by HTTP/2" "$(net curl -sS -m 10 --http2 -o /dev/null -w '%{http_version} %{http_code}' -X $method -d "$hidden" https://api.test/ok/h 2>&1)" "2 400"
done
is "and nothing of it arrived" "$(arrived)" "0"
net curl -sS -m 10 --http1.1 -o /dev/null -d "$hidden" https://api.test/ok/h
is "other bodies are the last of their connection" "$(arrived)/$(grep -ci 'connection": *"close' "$up/log")" "1/1"

# What an attack looks like is in the log
cat >"$work/malformed.sh" <<'S'
say() { python3 inside.py say "$@" >/dev/null 2>&1; }
say - 'GET http://tunnel.test/a HTTP/1.1\r\nHost: evil1.test\r\n\r\n'
say api.test 'GET /ok/b HTTP/1.1\r\nHost: evil2.test\r\n\r\n'
say api.test 'GET /ok/../evil3?query=4 HTTP/1.1\r\nHost: api.test\r\n\r\n'
say - 'CONNECT 0x7f.1:443 HTTP/1.1\r\nHost: 0x7f.1:443\r\n\r\n'
say - 'GET http://evil6.test/a HTTP/1.1\r\nHost: evil6.test\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n'
say - '\x05\x01\x00\x05\x02\x00\x03\x0aevil7.test\x01\xbb'
say - '\x04\x01\x00\x50\x0a\x09\x09\x09x\x00'
say - 'TRACE http://evil9.test/a HTTP/1.1\r\nHost: evil9.test\r\n\r\n'
printf '' | timeout 5 openssl s_client -proxy 127.0.0.1:3128 -connect tunnel.test:443 -servername evil8.test >/dev/null 2>&1
curl -sS -m 5 --http2 -o /dev/null -H 'Host: evil10.test' https://api.test/ok/c
say - 'GET http://x\x1b[2J\",\"verdict\":\"allow\"}\n{\"forged\":1}.test/ HTTP/1.1\r\nHost: a\r\n\r\n'
say api.test 'POST /ok/d HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'
S
forget
net bash malformed.sh
log=$(audit)
is "nothing malformed arrived" "$(arrived)" "0"
for what in 'differ; Host: evil1.*"GET http://tunnel\.test/a"' 'evil2\.test".*"GET https://api\.test/ok/b"' '"GET https://api\.test/ok/\.\./evil3"' 'CONNECT 0x7f\.1:443' \
	'Content-Length and Transfer.*http://evil6' 'no SOCKS request' 'SOCKS 4.*10\.9\.9\.9:80' 'TRACE http://evil9' 'another host: evil8.*tunnel\.test:443' 'authority is not.*"https://api\.test"' \
	'GET http://x..x1b\[2J' 'malformed chunk.*POST https://api\.test/ok/d'; do
	is "the log has $what" "$(grep '"denial"' "$log" | grep -c "$what")" "1"
done
ok "the log's chain holds" "$CORDON" audit verify "$log"
is "each line is one" "$(grep -c '^{"forged\|^{.*[[:cntrl:]]' "$log")" "0"

# One request among thousands to other hosts, at once: each that passes is named
cat >"$tmp/noise.yaml" <<'Y'
version: 1
extends: [default]
network: {mode: allowlist, allow: [{cidr: 127.9.0.0/16, ports: [80]}]}
Y
cat >"$work/noise.py" <<'S'
import os, socket, urllib.parse
proxy = urllib.parse.urlsplit(os.environ["http_proxy"])
passed = []
for i in range(4000):
    host = "127.9.%d.%d" % (i // 200, i % 200 + 1)
    with socket.create_connection((proxy.hostname, proxy.port)) as s, s.makefile("rb") as f:
        s.sendall(b"GET http://%s/ HTTP/1.1\r\nHost: %s\r\n\r\n" % (host.encode(), host.encode()))
        status = f.readline().split()[1]
    if status != b"503": # how many of these there are is a matter of speed
        passed.append(host)
open("passed", "w").write("\n".join(sorted(passed)) + "\n")
print(len(passed) > 1000)
S
is "a thousand new hosts at once pass, and more as the log catches up" "$(run "$tmp/noise.yaml" python3 noise.py 2>&1)" "True"
grep -o '"target":"GET http://127\.9\.[0-9.]*' "$(audit)" | sed 's,.*//,,' | sort -u >"$tmp/named"
is "each that passed is named in the log" "$(comm -23 <(sort -u "$work/passed") "$tmp/named" | wc -l)" 0

# What the log says was sent is what was sent, not what was refused on its way
cat >"$tmp/bound.yaml" <<'Y'
version: 1
extends: [default]
network: {mode: allowlist, max_bytes_out: 20K, allow: [{host: api.test, methods: [POST]}]}
Y
head -c 60000 /dev/zero | tr '\0' x >"$work/large"
echo x >"$work/small"
forget
is "what is over max_bytes_out is refused" "$(run "$tmp/bound.yaml" sh -c 'for i in 1 2 3 4; do curl -sS -m 10 -o /dev/null -w "%{http_code} " --data-binary @large https://api.test/; done' 2>/dev/null)" "429 429 429 429 "
is "... and the run is done sending then" "$(run "$tmp/bound.yaml" sh -c 'for f in small large small; do curl -sS -m 10 -o /dev/null -w "%{http_code} " --data-binary @$f https://api.test/; done' 2>/dev/null)" "200 429 429 "
run "$tmp/bound.yaml" sh -c 'for i in 1 2 3 4; do curl -sS -m 10 -o /dev/null -w "%{http_code} " --data-binary @large https://api.test/; done' >/dev/null 2>&1
sent=$(tail -1 "$(audit)" | grep -o '"bytes_out":[0-9]*' | cut -d: -f2)
ok "and not counted as sent: $sent" test "${sent:-99999}" -le 20480
run "$tmp/bound.yaml" sh -c 'curl -sS -m 10 -o /dev/null -d "$(head -c 5000 large)" https://api.test/' >/dev/null 2>&1
sent=$(tail -1 "$(audit)" | grep -o '"bytes_out":[0-9]*' | cut -d: -f2)
ok "what went out is: $sent" test "${sent:-0}" -ge 5000 -a "${sent:-0}" -lt 6000

# Requests to a model at once do not use more of a budget together than one after the other
cat >"$tmp/model.yaml" <<'Y'
version: 1
extends: [default]
inference: {providers: {anthropic: {url: "https://model.test", credential: key, models: ["claude-*"], max_output_tokens: 10}}}
Y
cat >"$work/many.sh" <<'S'
ask() { curl -sS -m 10 -o /dev/null -w '%{http_code} ' "$ANTHROPIC_BASE_URL/v1/messages" -H 'content-type: application/json' -d "{\"model\":\"claude-x\",\"max_tokens\":$1,\"messages\":[]}"; }
if [ "$1" = alone ]; then
	for i in 1 2 3; do ask 4000; done
else
	for i in $(seq 30); do ask 5 & done
	wait
fi
S
forget
run "$tmp/model.yaml" bash many.sh together >"$tmp/out" 2>&1
like "thirty at once: those that may be over the budget are refused" "$(arrived) $(tr ' ' '\n' <"$tmp/out" | sort | uniq -c | xargs)" '^[12] [12] 200 (28|29) 429$'
forget
cat >"$work/ask.sh" <<'S'
ask() { curl -sS -m "$2" -o /dev/null -w '%{http_code} ' "$ANTHROPIC_BASE_URL/v1/messages" -H 'content-type: application/json' -d "{\"model\":\"$1\",\"max_tokens\":4000,\"messages\":[]}"; }
S
is "hanging up before the usage comes saves nothing" "$(run "$tmp/model.yaml" bash -c '. ./ask.sh; ask claude-slow 1; ask claude-x 10' 2>/dev/null)" "200 429 "
like "and is reported as what it is, apart from what was used" "$(tail -1 "$(audit)")" '"model":"claude-slow","requests":1,"input_tokens":[0-9]+,"output_tokens":[0-9]{1,2},"cut_tokens":39[0-9][0-9]'
helper 127.0.0.1:444 python3 -c 'import socket, time; s = socket.create_server(("127.0.0.1", 444)); time.sleep(600)'
sed 's,model.test,&:444,' "$tmp/model.yaml" >"$tmp/silent.yaml"
is "hanging up while the server is dialled costs nothing" "$(run "$tmp/silent.yaml" bash -c '. ./ask.sh; ask claude-x 1' 2>/dev/null) $(tail -1 "$(audit)" | grep -o '"requests":1,"input_tokens":0,"output_tokens":0,"cut_tokens":0')" \
	'000  "requests":1,"input_tokens":0,"output_tokens":0,"cut_tokens":0'
forget
is "one alone may ask for more than is left, until nothing is" "$(run "$tmp/model.yaml" bash many.sh alone 2>/dev/null)" "200 200 429 "
finish
