#!/bin/bash
# A real cordon-egress between a played relay, supervisor and vault (tools/egress_drive.c) and real upstreams: servers that misbehave on demand (upstream.py), nginx for HTTP/2, a
# resolver (dns.py) and a proxy. Everything happens in a network namespace of its own.
. "$(dirname "$0")/../egress_lib.sh"

printf 'nameserver 127.0.0.1\nsearch evil.example\n' >resolv.conf
printf '127.0.0.7 hosts.dns.test\n' >hosts
mount --bind resolv.conf /etc/resolv.conf && mount --bind hosts /etc/hosts || exit 99

# authority NAME CN; leaf NAME CA HOSTS DAYS
authority()
{
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.pem" -days 30 -subj "/CN=$2" 2>/dev/null
}
leaf()
{
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" 2>/dev/null
	printf 'subjectAltName=%s\n' "$3" >"$1.ext"
	openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -days "$4" -extfile "$1.ext" -out "$1.pem" 2>/dev/null
}
authority ca "Test CA"
authority other "Another CA"
leaf server ca DNS:up.test,DNS:echo.test 10
leaf expired ca DNS:up.test 0
python3 "$here/upstream.py" 8443 tls.log server.pem server.key >ready.tls & pids+=($!)
python3 "$here/upstream.py" 8444 expired.log expired.pem expired.key >ready.expired & pids+=($!)
python3 "$here/upstream.py" 8080 plain.log >ready.plain & pids+=($!)
python3 "$here/upstream.py" 8455 refused.log server.pem server.key h2 >ready.h2 & pids+=($!)
python3 "$here/upstream.py" 8456 silent.log server.pem server.key silent >ready.silent & pids+=($!)
python3 "$here/dns.py" dns.log good.dns.test=127.0.0.7 own.dns.test=93.184.216.34 tcp.dns.test=127.0.0.7 priv.dns.test=127.0.0.1,10.0.0.1 mixed.dns.test=127.0.0.1,127.0.0.7,fd00::1 \
	meta.dns.test=169.254.169.254 map.dns.test=::ffff:127.0.0.1 nat64.dns.test=64:ff9b::7f00:1 world64.dns.test=64:ff9b::101:101,1.1.1.1 >ready.dns & pids+=($!)
python3 "$here/echo.py" 8022 echo.log >ready.echo & pids+=($!)
python3 "$here/proxy.py" 3128 proxy.log >ready.proxy & pids+=($!)
for _ in $(seq 100); do
	[ "$(cat ready.* | grep -c ready)" = 8 ] && break
	sleep 0.05
done

key=sk-realsecret-0123456789
place=sk-placeholder-AAAAAAAAA
grant="k|up.test|x-api-key|-|$key|$place"
pins=(pin up.test=127.0.0.1 pin echo.test=127.0.0.1 pin name.test=127.0.0.1)

cat >plain.yaml <<'END'
network:
  mode: allowlist
  allow:
    - {host: up.test, ports: [8443, 8444, 8446, 8080, 9999]}
    - {host: name.test, ports: [8443]}
    - {host: echo.test, ports: [8022, 9998]}
    - {host: "*.dns.test", ports: [8022]}
    - {host: 127.0.0.1, ports: [8022]}
    - {host: localhost, ports: [8022]}
    - {cidr: 127.0.0.7/32, ports: [8022]}
END
cat >key.yaml <<'END'
network:
  mode: allowlist
  allow:
    - {host: up.test, ports: [8443, 8445], credential: k, paths: ["/**"]}
    - {host: echo.test, ports: [8443]}
END
printf 'network: {mode: none}\n' >none.yaml

run plain.yaml "${pins[@]}" <<'END'
req GET https://up.test:8443/one
req GET https://up.test:8443/two?secret=query
req GET http://up.test:8080/three
req POST https://up.test:8443/echo d:abc t:x-sum=1
req POST https://up.test:8443/echo n:300000 len:300000
req HEAD https://up.test:8443/head
req GET https://up.test:8443/none
req GET https://up.test:8443/not-modified
req GET https://up.test:8443/close-body
req GET https://up.test:8443/ws ws h:sec-websocket-key=dGhlIHNhbXBsZSBub25jZQ==
END
is "a connection is used again" "$(grep -c 'x-conn: 1' <<<"$out")" 3
like "bodies of declared length arrive" "$out" "body 3000[0-9]+ POST /echo"
like "bodies in chunks arrive, with trailers" "$(cat tls.log)" "body 3 abc x-sum: 1"
like "HEAD, 204 and 304 have no body" "$out" "= 200 OK length 12345"$'\n'"= 204 No Content length -1"$'\n'"= 304 Not Modified length 5"
like "a body may end with its connection" "$out" "body 11 until close"
like "websockets carry bytes both ways" "$out" "= 101 .*body 6 HELLO!"
run plain.yaml "${pins[@]}" <<<'req GET https://up.test:8443/ws ws'
like "... also those that came without a key" "$out" "= 101 .*body 6 HELLO!"
like "egress ends well when its supervisor goes" "$out" "exit 0"
run plain.yaml "${pins[@]}" <<'END'
req GET https://up.test:8443/ws-unmeant ws h:sec-websocket-key=dGhlIHNhbXBsZSBub25jZQ==
req GET https://up.test:8443/ws-unsaid ws h:sec-websocket-key=dGhlIHNhbXBsZSBub25jZQ==
req GET https://up.test:8443/ws-unmeant ws
req GET https://up.test:8443/ws ws h:sec-websocket-key=dGhlIHNhbXBsZSBub25jZQ== h:sec-websocket-key=AAAAAAAAAAAAAAAAAAAAAA==
END
is "a switch that the server cannot have meant is not believed" "$(count 'failed bad_answer')/$(count '= 101')/$(grep -c unjudged tls.log)" 4/0/0

run plain.yaml "${pins[@]}" <<'END'
req GET https://name.test:8443/
req GET https://up.test:9999/
req GET https://up.test:8444/
req GET https://elsewhere.test:8443/path?q=private-query
req GET https://up.test:8443/x target:/a/../b
req GET https://up.test:8443/x target:/a%2e%2e/b
req GET https://up.test:8443/x host:UP.test
req GET https://up.test:8443/x host:up.test.
req CONNECT https://up.test:8443/x
req TRACE https://up.test:8443/x
req POST https://up.test:8443/echo d:abcdef len:3
req POST https://up.test:8443/echo d:abc len:9
END
like "a certificate for another name is refused" "$out" "failed certificate_wrong_name"
like "a closed port is told as such" "$out" "failed connection_refused"
like "an expired certificate is refused" "$out" "failed certificate_expired"
like "egress judges again: the rule and where it is written are told" "$out" "! network deny 1 GET https://elsewhere.test:8443/path \| network.mode allowlist \(p.yaml:3\)"
is "no query is ever told" "$(count private-query)" 0
is "requests that no reader would make are refused" "$(count 'failed policy_denied: the request is not in its canonical form')" 6
is "bodies that are not as long as they said are refused" "$(count "failed bad_answer: the request's body")" 2
is "nothing of the refused arrived" "$(grep -c 'GET /a\|TRACE\|CONNECT' tls.log)" 0
out=$(echo "req GET https://up.test:8443/" | "$drive" "$egress" plain.yaml other.pem "${pins[@]}" 2>&1)
like "a certificate of an unknown authority is refused" "$out" "failed certificate_untrusted"

: >tls.log
run key.yaml "${pins[@]}" grant "$grant" <<'END'
req GET https://up.test:8443/reflect h:x-api-key=sk-placeholder-AAAAAAAAA h:accept-encoding=gzip,br
req GET https://up.test:8443/reflect-split
req GET https://up.test:8443/reflect-gzip
req GET https://up.test:8443/reflect-deflate
req GET https://up.test:8443/reflect-br
req GET https://up.test:8443/gzip-cut
req GET https://up.test:8443/bomb slow
req GET https://up.test:8443/big slow
req GET https://echo.test:8443/echo h:x-api-key=mine
par 60 GET https://up.test:8443/slow
END
is "the credential arrives at its host, once" "$(head -1 tls.log | cut -d' ' -f3-)" "GET /reflect HTTP/1.1 ~ Host: up.test:8443 ~ accept-encoding: identity ~ x-api-key: $key"
is "no answer holds the credential" "$(count "$key")" 0
is "nor a coded form of it" "$(count "$(printf %s "$key" | base64 | cut -c1-28)")" 0
like "it is scrubbed in reason, fields and body" "$out" "= 200 $place length 69"$'\n'"  x-echo: $place"$'\n'"  body 69 key $place b64"
like "in interim answers, pieces and trailers" "$out" "x-early: $place.*trailer x-trail: $place"$'\n'"  body 24 $place"
is "in gzip and deflate" "$(count "body 76 key $place$place$place")" 2
like "what cannot be looked into is refused" "$out" "failed bad_answer: the answer is compressed"
like "compression that ends too early is an error" "$out" "failed answer_cut"
is "a slow reader slows the server down, a bomb too" "$(count '= held 131072')" 2
like "a bomb goes by in small pieces" "$out" "body 50000000 "
is "the credential goes nowhere else" "$(grep '/echo' tls.log | grep -c "$key")" 0
like "many at once" "$out" "= 60 of 60 ok"

: >tls.log
run key.yaml "${pins[@]}" grant "$grant" <<'END'
req POST https://up.test:8443/grpc d:x
req POST https://up.test:8443/grpc d:x h:grpc-encoding=identity
req POST https://up.test:8443/grpc d:x h:grpc-encoding=gzip
req POST https://up.test:8443/grpc d:x h:grpc_encoding=snappy
req POST https://up.test:8443/grpc d:x h:connect-content-encoding=gzip
req POST https://up.test:8443/grpc-told d:x
req POST https://up.test:8443/connect-told d:x
req POST https://up.test:8443/grpc-flag d:x
req POST https://up.test:8443/grpc-text-flag d:x
req POST https://up.test:8443/grpc-text d:x
END
is "messages of gRPC arrive, scrubbed" "$(count "body 29 .*$place")" 2
is "and those in base64" "$(count 'body 40 AAAAABh')/$(count "$(printf %s "$key" | base64 | cut -c1-20)")" 1/0
is "a request that would have the answer's messages compressed is refused" "$(count 'failed policy_denied: its messages are compressed')/$(grep -c '/grpc ' tls.log)" 3/2
is "messages that are compressed do not pass, whether the head says so or not" "$(count "failed bad_answer: the answer's messages are compressed")/$(count 'body [1-9]')" 4/3
run key.yaml "${pins[@]}" grant "k|up.test|x-api-key|-|Sk-RealSecret-0123456789|$place" <<<'req GET https://up.test:8443/name'
is "no name of a field holds it, in lower case either" "$(count 'body 5 named')/$(grep -ci realsecret <<<"$out")" 1/0
run key.yaml "${pins[@]}" grant "$grant" <<'END'
req GET https://up.test:8443/charset h:accept=text/plain;q=0.5,application/json;charset=utf-16
req GET https://up.test:8443/charset h:accept=application/json;Charset="UTF-16";q=1
req GET https://up.test:8443/charset h:accept-charset=utf-16
req GET https://up.test:8443/charset-forced
END
is "the workload does not choose a character set that hides a credential" "$(count "body 24 $place")" 3
like "the rest of what it accepts stays" "$(cat tls.log)" 'accept: text/plain;q=0.5,application/json ~.*accept: application/json;q=1 ~'
like "an answer in one that cannot be looked into fails" "$out" "failed bad_answer: the answer is in a character set"
run key.yaml "${pins[@]}" grant "$grant" <<'END'
req GET https://up.test:8443/charset-hidden
req GET https://up.test:8443/numbers
END
plain=$(tr -d '\0' <<<"$out" | sed 's/\\x00//g')
is "in UTF-16 that no head tells of, and in rows of numbers, it is found" "$(count 'body [1-9]')/$(grep -c "${key:3:6}" <<<"$plain")/$(grep -c "$(printf %s "${key:3:6}" | od -An -tx1 | cut -c2-)" <<<"$out")" "2/0/0"
run key.yaml "${pins[@]}" grant "$grant" <<'END'
req GET https://up.test:8443/cut
req GET https://up.test:8443/cut-head
req GET https://up.test:8443/smuggle
req GET https://up.test:8443/extra
req GET https://up.test:8443/one
req GET https://up.test:8443/trap
req GET https://up.test:8443/two
req GET https://up.test:8443/trap
req POST https://up.test:8443/three
req GET https://up.test:8443/interims
END
ok "interim answers without end are cut" test "$(count "103 Early")" -lt 50
is "answers that are cut are told as such" "$(count '= failed answer_cut')" 3
like "an answer that two readers could read differently is refused" "$out" "failed bad_answer: the server's answer is malformed"
is "bytes behind an answer poison nobody" "$(count 'body 10 hello /one')/$(count poisoned)" 1/0
like "a stale connection costs an idempotent request nothing" "$out" "body 10 hello /two"
is "and a request that may have done something is not sent twice" "$(grep -c 'POST /three' tls.log)" 0

: >tls.log
run key.yaml "${pins[@]}" grant "$grant" <<'END'
req GET https://up.test:8443/unread d:abc
req HEAD https://up.test:8443/unread d:abc len:3
req OPTIONS https://up.test:8443/unread d:abc len:3
req get https://up.test:8443/unread d:abc len:3
req POST https://up.test:8443/unread d:abc len:3
req DELETE https://up.test:8443/unread d:abc len:3
req REPORT https://up.test:8443/unread d:abc
END
is "a body is not sent where it has no meaning" "$(count 'failed policy_denied: the request is not in its canonical form')/$(grep -ci '\(GET\|HEAD\|OPTIONS\) /unread' tls.log)" 4/0
is "a body that its server leaves unread is no next request" "$(count 'body 6 unread')/$(grep -c 'Connection: close' tls.log)/$(grep -c smuggled tls.log)" 3/3/0
cat >two.yaml <<'END'
network:
  mode: allowlist
  allow:
    - {host: up.test, ports: [8443], credential: k, paths: ["/with/**"]}
    - {host: up.test, ports: [8443], paths: ["/without/**"]}
END
run two.yaml "${pins[@]}" grant "$grant" <<'END'
req GET https://up.test:8443/with/1
req GET https://up.test:8443/without/1
req GET https://up.test:8443/with/2
req GET https://up.test:8443/without/2
END
conns=$(grep -o 'x-conn: [0-9]*' <<<"$out" | cut -d' ' -f2 | xargs)
read -r a b c d <<<"$conns"
is "requests with a credential and without share no connection" "$([ "$a" != "$b" ] && echo "$((c - a)) $((d - b))")" "0 0"

run plain.yaml "${pins[@]}" <<END
$(for _ in 1 2 3 4 5 6 7 8; do
	for url in https://up.test:8443 http://up.test:8080; do
		echo "req POST $url/early n:20000000 len:20000000"
		echo "req POST $url/early n:20000000"
	done
done)
END
is "an answer that comes amid a large upload arrives, also where the server resets then" "$(count '= 413 Too Large')/$(count 'body 7 no need')" 32/32

# A server that stops amid the key: what came of it waits for the rest, however long that takes.
half=${key:0:8}
ws="ws h:sec-websocket-key=dGhlIHNhbXBsZSBub25jZQ=="
for way in "GET halves 2300" "POST halves 2300 d:x unended" "GET halves-grpc 300" "GET halves-ws 300 $ws" "GET halves-ws-cut 300 $ws"; do
	read -r method path while more <<<"$way"
	run key.yaml "${pins[@]}" grant "$grant" <<END
open $method https://up.test:8443/$path $more
wait $while
opened 0
req GET https://up.test:8443/go
opened 45
END
	is "a server that stops amid a credential gives nothing of it away ($method $path)" "$(count "$half")/$(count 'body 4 went')/$(grep -o "${place:0:4}" <<<"$out" | wc -l)" 0/1/2
done
# A host that is an address, however it is written.
printf 'network: {mode: allowlist, allow: [{cidr: 127.0.0.1/32, ports: [8080], paths: ["/**"]}]}\n' >number.yaml
run number.yaml grant "k|127.0.0.1|x-api-key|-|$key|$place" <<END
req POST http://127.0.0.1:8080/echo d:$key
req POST http://[::ffff:127.0.0.1]:8080/echo d:$key
req POST http://127.0.0.1:8080/echo host:::ffff:127.0.0.1 d:$key
req POST http://127.0.0.1:8080/echo host:::ffff:7f00:1 d:$key
END
is "a credential of an address is replaced in the answers of all its spellings" "$(count "$key")/$(count "$place")" 0/4

# One that says, in an answer from before, the key that a later request brought.
other=sk-renewed-secret-4711007
for way in halves halves-grpc "halves-ws $ws"; do
	run key.yaml "${pins[@]}" grant "$grant" <<END
open GET https://up.test:8443/$way
regrant k|up.test|x-api-key|-|$other|$place
req GET https://up.test:8443/go
opened 45
END
	is "a value that is refreshed is replaced in answers that began before, and so is the one before (${way%% *})" "$(count "$other")/$(count "$key")/$(count 'body 4 went')/$(grep -o "${place:0:4}" <<<"$out" | wc -l)" 0/0/1/2
done
run plain.yaml "${pins[@]}" <<END
open GET https://up.test:8443/halves
regrant k|up.test|x-api-key|-|$other|$place
req GET https://up.test:8443/one
END
like "an answer that was not looked into ends when a credential is bound to its host" "$out" "= failed policy_denied: a credential is bound to its host now.*body 10 hello /one"
run key.yaml "${pins[@]}" grant "$grant" <<END
req GET https://up.test:8443/reflect
regrant k|up.test|x-api-key|-|sk-another-secret-9876543|$place
req GET https://up.test:8443/reflect
req POST https://up.test:8443/echo d:$key
novault
req GET https://up.test:8443/reflect
req GET https://up.test:8443/big slow policy:none.yaml
END
is "a value that is refreshed is the one that is sent, and scrubbed" "$(count "= 200 $place")/$(grep -c sk-another-secret tls.log)/$(count sk-another)" 3/4/0
is "and the one before is still scrubbed" "$(count "$key")" 0
like "a reload ends an answer under way" "$out" "= held 131072"$'\n'".*There is no network.*= failed policy_denied"
run key.yaml "${pins[@]}" grant "$grant" <<'END'
par 80 GET https://up.test:8443/big drop
par 80 GET https://up.test:8443/slow drop
par 40 POST https://up.test:8443/echo n:500000 drop
par 40 GET https://up.test:8443/cut drop
par 10 GET https://up.test:8443/bomb drop
req GET https://up.test:8443/one
END
is "exchanges that are given up at any point leave nothing behind" "$(count ' done$')/$(count 'hello /one')/$(count '^exit 0')" 5/1/1

cat >model.yaml <<'END'
network: {mode: none}
inference:
  providers:
    local: {kind: openai, url: "http://127.0.0.1:8080/v1", models: ["m-*"], max_requests: 9, max_output_tokens: 40}
END
: >plain.log
run model.yaml <<'END'
req POST http://127.0.0.1:8080/v1/chat/completions i:0 h:content-type=application/json d:{"model":"m-1","messages":[]}
req POST http://127.0.0.1:8080/v1/chat/completions i:0 h:content-type=application/json d:{"model":"x-1","messages":[]}
req POST http://127.0.0.1:8080/v1/files i:0 h:content-type=application/json d:{}
req POST http://127.0.0.1:8022/v1/chat/completions i:0 h:content-type=application/json d:{"model":"m-1","messages":[]}
req POST http://127.0.0.1:8080/v1/chat/completions i:7 h:content-type=application/json d:{"model":"m-1","messages":[]}
req GET http://127.0.0.1:8080/one
req POST http://127.0.0.1:8080/v1/chat/completions i:0 h:content-type=application/json d:{"model":"m-1","messages":[]}
req POST http://127.0.0.1:8080/v1/chat/completions i:0 h:content-type=application/json d:{"model":"m-1","messages":[]}
END
is "a model is reached without a network" "$(count '= 200 OK')" 2
is "other models, endpoints, hosts, providers and the network are not" "$(count 'failed policy_denied')" 5
is "nothing of the refused arrived" "$(grep -c '^conn' plain.log)" 2
is "a body that was judged leaves its connection to the next" "$(grep -o '^conn [0-9]*' plain.log | sort -u | wc -l)/$(grep -c 'Connection: close' plain.log)" 1/0
like "tokens are counted, and the next request over the budget refused" "$out" "failed budget_used_up.* m-1 2/22/44\\+0"

# one provider for each way in which usage does not come
{
	printf 'network: {mode: none}\ninference:\n  providers:\n'
	for how in cut dumb error gone late done open; do echo "    $how: {kind: openai, url: \"http://127.0.0.1:8080/$how/v1\", models: [\"*\"], max_output_tokens: 40}"; done
	echo '    shut: {kind: openai, url: "http://127.0.0.1:8099/v1", models: ["*"], max_output_tokens: 40}'
	echo '    refused: {kind: openai, url: "https://up.test:8455/v1", models: ["*"], max_output_tokens: 40}'
	echo '    silent: {kind: openai, url: "https://up.test:8456/v1", models: ["*"], max_output_tokens: 40}'
} >cut.yaml
# twice HOW NUMBER URL WORD...: two requests to one of them
twice()
{
	for _ in 1 2; do echo "req POST $3/v1/chat/completions i:$2 ${*:4} h:content-type=application/json d:{\"model\":\"m-$1\",\"max_tokens\":50,\"messages\":[]}"; done
}
{
	for how in cut:0 dumb:1 error:2 gone:3; do twice "${how%:*}" "${how#*:}" "http://127.0.0.1:8080/${how%:*}"; done
	for how in late:4 done:5 open:6; do twice "${how%:*}" "${how#*:}" "http://127.0.0.1:8080/${how%:*}" quit:300; done
	twice shut 7 http://127.0.0.1:8099
	twice refused 8 https://up.test:8455
	twice silent 9 https://up.test:8456 quit:300
} >cut.txt
run cut.yaml "${pins[@]}" <cut.txt
used=$(tail -n 3 <<<"$out" | grep '^~')
like "an answer that is cut before its usage is charged all that it might have had, apart from what it is known to have used" "$used" " m-cut 1/0/12\\+38 "
like "and so is one that its client did not wait for" "$used" " m-late 1/0/0\\+50 "
like "and a stream that its client leaves before its last event" "$used" " m-open 1/0/3\\+47 "
like "a stream that has said that it is over counts as what is known, though it was left early" "$used" " m-done 2/0/8\\+0 "
like "a complete answer without usage counts by its size" "$used" " m-dumb 1/0/103\\+0 "
like "errors are free" "$used" " m-error 2/0/0\\+0 "
is "one that was answered by an error does not" "$(grep 'POST /error/' plain.log | grep -o '^conn [0-9]*' | sort -u | wc -l)" 2
like "and so are requests whose server hangs up without a word" "$used" " m-gone 2/0/0\\+0 "
like "and those that it refuses by HTTP/2" "$used $(sort refused.log | uniq -c | xargs)" " m-refused 2/0/0\\+0 .* 2 refused"
like "and those that nobody got" "$used" " m-shut 2/0/0\\+0 "
like "and those that are given up while their server is dialled" "$used" " m-silent 2/0/0\\+0"
is "what is used up so is refused" "$(count 'failed budget_used_up')" 4

run plain.yaml "${pins[@]}" <<'END'
tunnel echo.test 8022 abc
tunnel echo.test 9998 abc
tunnel localhost 8022 abc
tunnel 127.0.0.1 8022 abc
tunnel good.dns.test 8022 abc
tunnel tcp.dns.test 8022 abc
tunnel hosts.dns.test 8022 abc
tunnel mixed.dns.test 8022 abc
tunnel priv.dns.test 8022 abc
tunnel meta.dns.test 8022 abc
tunnel map.dns.test 8022 abc
tunnel nat64.dns.test 8022 abc
tunnel none.dns.test 8022 abc
tunnel denied.test 8022 abc
tunnel up.test 8443 abc
hold echo.test 8022
held
policy none.yaml
held
tunnel echo.test 8022 abc
END
is "tunnels carry bytes, to addresses that passed alone" "$(count '= up, got hi ABC')" 5
is "names do not lead below the floor, however it is written" "$(count 'failed policy_denied: the name leads to')" 4
is "nor do addresses" "$(count 'only a cidr rule opens one\.$')" 4
is "a name that does not exist is told as such" "$(count 'failed name_not_resolved')" 1
is "no name is looked up that was not allowed" "$(grep -c 'denied.test\|evil.example' dns.log)" 0
like "a reload cuts what it forbids" "$out" "= open"$'\n'".*cut: the policy no longer allows it"$'\n'"= cut"

# the machine's own addresses, the second of a network, whole networks and those of IPv6 among them; where anybody may bind to anything
ip link add own0 type veth peer name own1 && ip link set own0 up && ip link set own1 up
ip addr add 93.184.216.34/24 dev own0 && ip addr add 93.184.216.35/24 dev own0
ip addr add 93.184.217.1/32 dev lo
ip route add local 93.184.218.0/24 dev lo
ip -6 addr add 2a00:1450:4001::5/64 dev own0 nodad && ip -6 addr add 2a00:1450:4001::6/64 dev own0 nodad
echo 1 >/proc/sys/net/ipv4/ip_nonlocal_bind
cat >public.yaml <<'END'
network: {mode: public}
END
cat >own.yaml <<'END'
network:
  mode: allowlist
  allow:
    - {host: 93.184.216.34, ports: [8022]}
    - {host: up.test, ports: [8080]}
    - {cidr: 93.184.216.35/32, ports: [8022, 8080]}
END
cat >own.txt <<'END'
tunnel 93.184.216.34 8022 abc
tunnel 93.184.216.35 8022 abc
tunnel 2a00:1450:4001::5 8022 abc
tunnel 2a00:1450:4001::6 8022 abc
tunnel 93.184.217.1 8022 abc
tunnel 93.184.218.77 8022 abc
tunnel own.dns.test 8022 abc
tunnel 64:ff9b::93.184.216.34 8022 abc
tunnel 2002:5db8:d823::1 8022 abc
tunnel 2a00:1450:4002::5efe:93.184.217.1 8022 abc
req GET http://93.184.216.34:8080/one
req GET http://93.184.216.35:8080/one
req GET http://[2a00:1450:4001::5]:8080/one
req GET http://own.dns.test:8080/one
END
: >plain.log
: >echo.log
run public.yaml <own.txt
is "a machine's own addresses are as closed as its loopback, whatever they look like" "$(count 'failed policy_denied') $(cat plain.log echo.log | wc -l)" "14 0"
run own.yaml pin up.test=93.184.216.34 <<'END'
tunnel 93.184.216.34 8022 abc
tunnel 93.184.216.35 8022 abc
req GET http://93.184.216.35:8080/one
req GET http://up.test:8080/one
END
is "a cidr rule opens one, and so does the operator's own answer for a name" "$(count 'failed policy_denied') $(count 'got hi ABC') $(count 'hello /one')" "1 1 2"
cat >own_model.yaml <<'END'
network: {mode: none}
inference: {providers: {local: {kind: openai, url: "http://93.184.216.34:8080/v1", models: ["*"]}}}
END
run own_model.yaml <<'END'
req POST http://93.184.216.34:8080/v1/chat/completions i:0 h:content-type=application/json d:{"model":"m-1","messages":[]}
END
is "and so does a provider's url" "$(count '= 200 OK')" 1

# a name that leads into a range
range()
{
	printf 'network: {mode: public, allow: [{cidr: 127.0.0.7/32, ports: [8080, 8022], %s}]}\n' "$1" >range.yaml
	: >plain.log
	run range.yaml
}
range 'methods: [GET], paths: ["/ok/**"]' <<'END'
req GET http://good.dns.test:8080/ok/one
req POST http://good.dns.test:8080/ok/two d:abc
req GET http://hosts.dns.test:8080/admin
tunnel good.dns.test 8022 abc
tunnel hosts.dns.test 8080 abc
END
is "methods and paths of a range hold for names that lead there, and nothing else gets in" "$(count '= 200 OK')/$(count 'failed policy_denied')/$(grep -c '/ok/\|/admin' plain.log)" 1/4/1
range 'mcp: {tools: [safe]}' <<'END'
req POST http://good.dns.test:8080/mcp h:content-type=application/json d:{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe"}}
req POST http://127.0.0.7:8080/mcp h:content-type=application/json d:{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe"}}
req POST http://127.0.0.7:8080/mcp h:content-type=application/json d:{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger"}}
tunnel good.dns.test 8022 abc
END
is "one with mcp opens nothing to a name" "$(count '= 200 OK')/$(count 'failed policy_denied')" 1/3
range 'rate: 1/h' <<'END'
req GET http://good.dns.test:8080/one
req GET http://hosts.dns.test:8080/two
req GET http://127.0.0.7:8080/three
tunnel good.dns.test 8022 abc
END
is "its rate is one for all names" "$(count '= 200 OK')/$(count 'failed budget_used_up')/$(count 'failed policy_denied')" 1/2/1
range 'methods: [POST]' <<'END'
req POST http://good.dns.test:8080/one h:content-type=application/x-www-form-urlencoded d:a=b
req POST http://good.dns.test:8080/two h:content-type=application/x-www-form-urlencoded d:_method=DELETE
req POST http://good.dns.test:8080/three h:content-type=application/x-www-form-urlencoded d:a=b t:x-http-method-override=DELETE
END
is "and a body that asks for another method does not get in" "$(count '= 200 OK')/$(count 'failed policy_denied')" 1/2

run key.yaml "${pins[@]}" grant "$grant" <<'END'
req GET https://up.test:8443/ws-split ws h:sec-websocket-key=dGhlIHNhbXBsZSBub25jZQ==
END
half=${key:0:$((${#key} / 2))} rest=${key:$((${#key} / 2))}
like "a websocket carries its frames" "$out" "ping.*end"
is "a credential split over its frames and messages is replaced" "$(grep -c -- "$half\|$rest" <<<"$out")" 0
run key.yaml "${pins[@]}" grant "$grant" <<'END'
req GET https://up.test:8443/ws-masked ws h:sec-websocket-key=dGhlIHNhbXBsZSBub25jZQ==
END
is "nothing comes of frames that cannot be looked into" "$(grep -c '  body' <<<"$out")" 0

sed '$a\  max_bytes_out: 3M' plain.yaml >quota.yaml
: >echo.log
run quota.yaml "${pins[@]}" <<'END'
flood echo.test 8022 200000000
wait 200
tunnel echo.test 8022 abc
req GET https://up.test:8443/one
END
like "a tunnel is cut at the quota" "$out" "cut: the run has sent all that it may"
ok "and no more than the quota arrived" test "$(sort -n echo.log | tail -1)" -le 3145728
is "nothing new begins after that" "$(count 'failed budget_used_up')" 2
run quota.yaml "${pins[@]}" <<'END'
req POST https://up.test:8443/echo n:9000000 len:9000000
req GET https://up.test:8443/one
END
like "requests are cut at the quota too" "$out" "failed budget_used_up"

# names are words, too
sed 's/max_bytes_out: 3M/max_bytes_out: 1K/' quota.yaml >names.yaml
: >dns.log
for n in $(seq 40); do
	printf 'tunnel %s.dns.test 8022 abc\n' "$(printf "$n-%.0s" {1..30} | head -c 60)"
	printf 'req GET http://%s.dns.test:8022/\n' "$(printf "r$n-%.0s" {1..30} | head -c 60)"
done >names.txt
run names.yaml "${pins[@]}" <names.txt
asked=$(grep -o '[0-9r-]*\.dns\.test' dns.log | sort -u | awk '{ n += length($1) } END { print n + 0 }')
ok "names that DNS is asked for count towards the quota" test "$asked" -gt 0 -a "$asked" -le 1024
like "... and what is beyond it is refused for that" "$out" "failed budget_used_up"
run names.yaml "${pins[@]}" <<'END'
tunnel echo.test 8022 abc
tunnel hosts.dns.test 8022 abc
END
is "those that are known here cost nothing" "$(count 'got hi ABC')" 2

# everything at once: what has arrived is added up by who got it
arrived()
{
	awk '{ n += $1 } END { print n + 0 }' "$1"
}
: >echo.log
run quota.yaml "${pins[@]}" <<'END'
fleet 40 echo.test 8022
wait 300
END
ok "many tunnels at once do not pass the quota" test "$(arrived echo.log)" -le 3145728
ok "and get all of it" test "$(arrived echo.log)" -ge 3100000
cat >sink.py <<'END'
import socket, sys, threading
def serve(s):
    n = 0
    s.settimeout(1)
    try:
        while piece := s.recv(65536):
            n += len(piece)
    except OSError:
        pass
    with open("sink.log", "a") as f:
        f.write("%d\n" % n)
    s.close()
l = socket.socket()
l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
l.bind(("0.0.0.0", 8030))
l.listen(64)
print("ready", flush=True)
while True:
    threading.Thread(target=serve, args=(l.accept()[0],), daemon=True).start()
END
python3 sink.py >ready.sink & pids+=($!)
until grep -q ready ready.sink; do sleep 0.05; done
sed 's/max_bytes_out: 3M/max_bytes_out: 1M/; s/8022/8022, 8030/g; s/8080/8080, 8030/g' quota.yaml >small.yaml
for form in len:150000 ''; do
	: >sink.log
	run small.yaml "${pins[@]}" <<END
par 30 POST http://echo.test:8030/x n:150000 $form
wait 1200
END
	ok "many requests at once do not pass the quota (${form:-chunks})" test "$(arrived sink.log)" -le 1048576
	ok "and use it (${form:-chunks})" test "$(arrived sink.log)" -ge 300000
done

cat >rules.yaml <<'END'
network:
  mode: allowlist
  allow:
    - {host: up.test, ports: [8443], paths: ["/gql"], graphql: {types: [query]}}
    - {host: up.test, ports: [8443], paths: ["/ws"], graphql: {types: [query]}}
    - {host: up.test, ports: [8443], paths: ["/ws"], mcp: {tools: [look]}}
    - {host: up.test, ports: [8443], paths: ["/rate"], rate: 2/m}
    - {host: up.test, ports: [8443], paths: ["/aws"], methods: [POST], credential: aws}
    - {host: up.test, ports: [8443], paths: ["/missing"], credential: missing}
    - {host: up.test, ports: [8443], paths: ["/big"]}
END
: >tls.log
run rules.yaml "${pins[@]}" grant 'aws|up.test|sigv4:execute-api|-|AKIDEXAMPLE/wJalrXUtnFEMI_K7MDENG|aws-placeholder-000000' <<'END'
req POST https://up.test:8443/gql h:content-type=application/json d:{"query":"{a}"}
req POST https://up.test:8443/gql h:content-type=application/json d:{"query":"mutation{a}"}
req GET https://up.test:8443/rate
req GET https://up.test:8443/rate
req POST https://up.test:8443/aws d:hello
req GET https://up.test:8443/missing
req GET https://up.test:8443/other
tunnel up.test 8443 abc
END
all=$out
is "bodies are held to the rule again" "$(grep -c '/gql' tls.log)" 1
is "a rate holds" "$(grep -c '/rate' tls.log)" 1
like "a signature covers the body, which has a length then" "$(grep /aws tls.log)" "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/.*Content-Length: 5"
# clients of S3 write each part that they asked for where it belongs, and the whole object too, where that comes instead
printf 'network: {mode: allowlist, allow: [{host: up.test, ports: [8443], credential: aws}]}\n' >s3.yaml
: >tls.log
run s3.yaml "${pins[@]}" grant 'aws|up.test|sigv4:s3|-|AKIDEXAMPLE/wJalrXUtnFEMI_K7MDENG|aws-placeholder-000000' <<'END'
req GET https://up.test:8443/whole
req GET https://up.test:8443/part h:range=bytes=0-9
req HEAD https://up.test:8443/head h:range=bytes=0-9
req GET https://up.test:8443/ranges
END
is "a part of an object of S3 is refused, and not answered with all of it" "$(grep -o '/whole\|/part\|/head' tls.log | xargs)/$(count 'failed policy_denied')" "/whole /head/1"
like "... which is said" "$out" 'multipart_threshold'
printf 'network: {mode: allowlist, allow: [{host: up.test, ports: [8443], paths: [/own/**], credential: aws}, {host: up.test, ports: [8443]}]}\n' >public.yaml
: >tls.log
run public.yaml "${pins[@]}" grant 'aws|up.test|sigv4:s3|-|AKIDEXAMPLE/wJalrXUtnFEMI_K7MDENG|aws-placeholder-000000' <<'END'
req GET https://up.test:8443/whole
req GET https://up.test:8443/part h:range=bytes=0-9
END
is "... nor where its rule adds no signature (--no-sign-request)" "$(grep -o '/whole\|/part' tls.log | xargs)/$(count 'failed policy_denied')" "/whole/1"
ranges=$(count accept-ranges)
run s3.yaml "${pins[@]}" grant 'aws|up.test|x-api-key|-|test-secret-0123456789|aws-placeholder-000000' <<<'req GET https://up.test:8443/ranges'
ranges=$ranges/$(count accept-ranges)
run plain.yaml "${pins[@]}" <<<'req GET https://up.test:8443/ranges'
is "a host that answers no part of a page does not say that it does; others may" "$ranges/$(count accept-ranges)" 0/0/1
: >tls.log
run s3.yaml "${pins[@]}" grant 'aws|up.test|x-api-key|-|test-secret-0123456789|aws-placeholder-000000' <<'END'
req GET https://up.test:8443/page h:range=bytes=0-9 h:if-range="a"
req GET https://up.test:8443/page h:range=items=0-9
END
is "a host with a credential is asked for no bytes of a page, but for some of its items" "$(grep -aio 'range: [a-z]*=[0-9-]*' tls.log | xargs)" "range: items=0-9"
sed 's|paths: \["/aws"\], |&graphql: {types: [query]}, |' rules.yaml >stricter.yaml
: >tls.log
run rules.yaml "${pins[@]}" grant 'aws|up.test|sigv4:execute-api|-|AKIDEXAMPLE/wJalrXUtnFEMI_K7MDENG|aws-placeholder-000000' <<'END'
req POST https://up.test:8443/aws h:content-type=application/json d:{"query":"mutation{a}"} unended policy:stricter.yaml
END
is "a body that waits to be signed is held to the rule that came meanwhile" "$(grep -c /aws tls.log)/$(count 'failed policy_denied')" 0/1
# a server that lets its clients wait for their connection: meanwhile another policy comes
cat >late.py <<'END'
import socket, threading, time
def pump(a, b):
    try:
        while piece := a.recv(65536):
            b.sendall(piece)
        b.shutdown(socket.SHUT_WR)
    except OSError:
        pass
def serve(s):
    time.sleep(1)
    u = socket.create_connection(("127.0.0.1", 8443))
    threading.Thread(target=pump, args=(u, s), daemon=True).start()
    pump(s, u)
l = socket.socket()
l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
l.bind(("127.0.0.1", 8447))
l.listen(64)
print("ready", flush=True)
while True:
    threading.Thread(target=serve, args=(l.accept()[0],), daemon=True).start()
END
python3 late.py >ready.late & pids+=($!)
until grep -q ready ready.late; do sleep 0.05; done
for form in 'd:abc' 'h:content-type=application/json d:{"query":"{a}"}'; do
	rule='{host: up.test, ports: [8447], methods: [POST]'
	[[ $form == *query* ]] && rule+=', graphql: {types: [query]}'
	printf 'network: {mode: allowlist, allow: [%s, credential: k}]}\n' "$rule" >late.yaml
	printf 'network: {mode: allowlist, allow: [%s}]}\n' "$rule" >later.yaml
	for way in 'late later 0 unended' 'later late 1 unended' 'late later 0 slow' 'later late 1 slow'; do
		read -r first second keys when <<<"$way"
		: >tls.log
		run "$first.yaml" "${pins[@]}" grant "$grant" <<<"req POST https://up.test:8447/late $form policy:$second.yaml $when"
		is "what is not sent yet goes with the credential of the new policy, or without ($first, $when, ${form:0:6})" "$(count '= 200')/$(grep -c "POST /late.*$key" tls.log)" "1/$keys"
	done
done
printf 'network: {mode: allowlist, allow: [{host: echo.test, ports: [8030], credential: aws}]}\n' >sink.yaml
: >sink.log
run sink.yaml "${pins[@]}" grant 'aws|echo.test|sigv4:execute-api|-|AKIDEXAMPLE/wJalrXUtnFEMI_K7MDENG|aws-placeholder-000000' <<'END'
par 12 POST http://echo.test:8030/aws n:30000000 len:30000000
req POST http://echo.test:8030/aws d:hello
END
like "bodies that wait to be signed share one budget" "$out" "too many requests whose bodies must be read as a whole at once"
like "which is free again after them" "$out" "= 0 of 12 ok, 12 done"$'\n'".*= failed answer_cut"
run rules.yaml "${pins[@]}" <<'END'
req GET https://up.test:8443/ws ws h:sec-websocket-key=dGhlIHNhbXBsZSBub25jZQ==
END
is "a websocket does not pass by a rule about bodies, whatever the relay says" "$(grep -c '/ws' tls.log)/$(count 'failed policy_denied: what goes through a websocket')" 0/1
out=$all
like "without its credential a request is not sent" "$out" "failed credential_missing"
is "other paths are refused, and tunnels past the rules" "$(count 'failed policy_denied')" 3

: >proxy.log
run plain.yaml proxy http://127.0.0.1:3128 <<'END'
tunnel echo.test 8022 abc
tunnel 127.0.0.1 8022 abc
tunnel echo.test 9998 abc
req GET https://up.test:8443/one
req GET http://up.test:8080/two
tunnel denied.test 8022 abc
END
like "through a proxy nothing is lost of a server that speaks first" "$out" "= up, got hi ABC"
is "the proxy is asked by name, for what is allowed" "$(paste -sd, proxy.log)" \
	"CONNECT echo.test:8022 HTTP/1.1,CONNECT echo.test:9998 HTTP/1.1,CONNECT up.test:8443 HTTP/1.1,GET http://up.test:8080/two HTTP/1.1"
is "and certificates are checked behind it" "$(count '= 200 OK')" 2

# Names that lead where they must not, as far as this machine can tell; a name with an address of the operator's.
printf 'network: {mode: public, deny: [{cidr: 93.184.216.0/24}], allow: [{cidr: 127.0.0.7/32, ports: [8022]}]}\n' >screen.yaml
: >proxy.log
run screen.yaml proxy http://127.0.0.1:3128 pin pinned.test=127.0.0.1 <<'END'
tunnel priv.dns.test 443 abc
tunnel mixed.dns.test 8022 abc
tunnel meta.dns.test 80 abc
tunnel map.dns.test 443 abc
tunnel nat64.dns.test 443 abc
tunnel own.dns.test 443 abc
req GET http://priv.dns.test:8080/one
tunnel good.dns.test 8022 abc
tunnel world64.dns.test 8022 abc
tunnel unknown.dns.test 8022 abc
END
is "through a proxy no name leads under the floor, nor to what is denied" "$(count '= failed policy_denied')/$(paste -sd, proxy.log)" \
	"7/CONNECT good.dns.test:8022 HTTP/1.1,CONNECT world64.dns.test:8022 HTTP/1.1,CONNECT unknown.dns.test:8022 HTTP/1.1"
: >proxy.log
run plain.yaml "${pins[@]}" proxy http://127.0.0.1:3128 <<<'req GET https://up.test:8443/one'
is "a name with a fixed address goes there, not to the proxy" "$(count '= 200 OK')/$(cat proxy.log)" 1/

printf 'network: {mode: allowlist, allow: [{host: up.test, ports: [8080]}, {host: echo.test, ports: [8022]}], deny: [{cidr: 127.0.0.0/8}]}\n' >ranged.yaml
run ranged.yaml "${pins[@]}" <<'END'
req GET http://up.test:8080/one
tunnel echo.test 8022 abc
END
is "a name that leads to what network.deny has is told so" "$(count '= failed policy_denied: the name leads to an address that network.deny has')" 2

printf 'network: {mode: allowlist, allow: [{host: up.test, ports: [8080], credential: k}]}\n' >clear.yaml
: >proxy.log
run clear.yaml proxy http://127.0.0.1:3128 grant "$grant" <<<'req GET http://up.test:8080/two'
like "a credential does not go through it in clear" "$out" "failed credential_missing.*not sent without TLS"
is "nor does the request" "$(cat proxy.log)" ""
run clear.yaml "${pins[@]}" grant "$grant" <<<'req GET http://up.test:8080/two'
like "to this machine itself it goes" "$out" "= 200 OK"

for said in "rawlink 00112233445566778899aabbccddeeff0011" "rawcalls 10" "rawcalls 77" "rawcalls 13"; do
	run plain.yaml <<<"$said"
	ok "a relay that says \"${said:0:12}\" ends egress" grep -qE '^exit [01]$' <<<"$out"
done

if command -v nginx >/dev/null; then
	mkdir -p www ngx
	head -c 3000000 /dev/zero | tr '\0' z >www/big
	cat >nginx.conf <<END
daemon off; worker_processes 1; user root; pid $tmp/ngx/pid; error_log $tmp/ngx/err;
events { worker_connections 512; }
http {
	access_log off; client_body_temp_path $tmp/ngx; proxy_temp_path $tmp/ngx; fastcgi_temp_path $tmp/ngx; uwsgi_temp_path $tmp/ngx; scgi_temp_path $tmp/ngx;
	client_max_body_size 100m;
	server {
		listen 127.0.0.1:8445 ssl http2; ssl_certificate $tmp/server.pem; ssl_certificate_key $tmp/server.key; root $tmp/www;
		location /count { default_type text/plain; return 200 "connections \$connection"; }
		location /hi { default_type text/plain; return 200 "\$server_protocol \$connection key \$http_x_api_key"; }
		location /up { proxy_pass http://127.0.0.1:8080/echo; proxy_request_buffering off; }
		location /slow { proxy_pass http://127.0.0.1:8080/slow; }
	}
	server {
		listen 127.0.0.1:8446 ssl; ssl_certificate $tmp/server.pem; ssl_certificate_key $tmp/server.key; root $tmp/www;
		location /count { default_type text/plain; return 200 "connections \$connection"; }
		location /late { limit_rate 2k; }
	}
}
END
	head -c 3000 www/big >www/late
	nginx -c "$tmp/nginx.conf" -p "$tmp" 2>/dev/null & pids+=($!)
	sleep 0.5
	run key.yaml "${pins[@]}" grant "$grant" <<'END'
req GET https://up.test:8445/hi
par 250 GET https://up.test:8445/hi
par 150 GET https://up.test:8445/slow
req GET https://up.test:8445/big slow
req POST https://up.test:8445/up n:1000000 len:1000000
req HEAD https://up.test:8445/big
par 150 GET https://up.test:8445/big drop
par 150 GET https://up.test:8445/slow drop
par 50 POST https://up.test:8445/up n:500000 drop
req GET https://up.test:8445/hi
END
	all=$out
	run key.yaml "${pins[@]}" grant "$grant" <<'END'
req GET https://up.test:8445/count
END
	before=${out##*connections }
	before=${before%%[^0-9]*}
	run key.yaml "${pins[@]}" grant "$grant" <<'END'
par 400 GET https://up.test:8445/hi
END
	crowd=$out
	run key.yaml "${pins[@]}" grant "$grant" <<'END'
req GET https://up.test:8445/count
END
	after=${out##*connections }
	after=${after%%[^0-9]*}
	ok "a crowd at a server that nobody knows yet opens few connections" test $((after - before)) -le 9
	like "and is served" "$crowd" "= 400 of 400 ok"
	run plain.yaml "${pins[@]}" <<<'req GET https://up.test:8446/count'
	before=${out##*connections }
	before=${before%%[^0-9]*}
	run plain.yaml "${pins[@]}" < <(for _ in $(seq 6); do echo "par 100 GET https://up.test:8446/late"; done)
	crowd=$out
	run plain.yaml "${pins[@]}" <<<'req GET https://up.test:8446/count'
	after=${out##*connections }
	after=${after%%[^0-9]*}
	is "a hundred at once over HTTP/1.1 are served, time after time" "$(grep -c '= 100 of 100 ok' <<<"$crowd")" 6
	ok "by the same connections, and few more" test $((after - before)) -le 200
	run key.yaml "${pins[@]}" grant "$grant" <<END
$(for _ in $(seq 24); do echo "open GET https://up.test:8445/big slow"; done)
req GET https://up.test:8445/hi
END
	like "answers that nobody reads stop no other one of the same connection" "$out" "body [0-9]+ HTTP/2.0 [0-9]+ key $place"
	out=$all
	is "streams that are given up at any point leave nothing behind" "$(count ' done$')/$(count 'key sk-place')/$(count '^exit 0')" 5/2/1
	like "HTTP/2 is spoken where the server offers it, and scrubbed" "$out" "body 39 HTTP/2.0 1 key $place"
	like "hundreds at once go over few connections" "$out" "= 250 of 250 ok.*= 150 of 150 ok"
	like "a slow reader has its own window" "$out" "= held 131072.*body 3000000 z"
	like "uploads go over HTTP/2" "$out" "body 10001[0-9]+ POST /echo"
else
	skip "HTTP/2 against nginx" "nginx is missing"
fi
is "no sanitizer complained" "$(cat complaints)" ""
finish
