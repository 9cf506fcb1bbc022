#!/bin/bash
# Real clients inside, as people run them, and the services that they talk to outside: through a tunnel, and through a rule that looks inside TLS.
. "$(dirname "$0")/../gate_lib.sh"

cat >"$tmp/net.yaml" <<'Y'
version: 1
extends: [default]
network:
  mode: allowlist
  allow:
    - host: tunnel.test
    - host: look.test
      methods: [GET, HEAD, POST, PUT]
    - host: narrow.test
      methods: [GET, HEAD]
      paths: ["/ok/**", "/ws"]
    - host: plain.test
      ports: [80]
    - host: h2.test
      methods: [GET, POST]
    - host: h2tunnel.test
    - host: ssh.test
      ports: [22]
    - host: tcp.test
      ports: [5000]
process:
  env: {set: {GIT_TERMINAL_PROMPT: "0"}}
Y
start_upstream evil.test tunnel.test look.test narrow.test plain.test h2.test h2tunnel.test || finish
sed -i '/test":/d' "$config/gateway.yaml"
lead 127.0.0.1 evil.test
lead 127.0.0.2 tunnel.test look.test narrow.test plain.test tcp.test ssh.test
lead 127.0.0.3 h2.test h2tunnel.test

# What is served
git_quiet() { git -c safe.directory='*' -c init.defaultBranch=main -c user.name=t -c user.email=t@t.test -c gc.auto=0 "$@" >/dev/null 2>&1; }
mkdir -p "$up/git" "$up/npm/package" "$up/pip" "$tmp/src"
git_quiet init "$tmp/src" && echo content >"$tmp/src/file" && head -c 300000 /dev/urandom >"$tmp/src/large"
git_quiet -C "$tmp/src" add . && git_quiet -C "$tmp/src" commit -m first && git_quiet clone --bare "$tmp/src" "$up/git/repo.git" && git_quiet -C "$up/git/repo.git" config http.receivepack true
echo '{"name":"@s/p","version":"1.0.0","main":"index.js"}' >"$up/npm/package/package.json"
echo 'module.exports = "from the registry"' >"$up/npm/package/index.js"
tar -C "$up/npm" -czf "$up/npm/p.tgz" package
python3 - "$up/pip/hello-1.0-py3-none-any.whl" <<'P'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as z:
    z.writestr("hello.py", "text = 'from the index'\n")
    z.writestr("hello-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: hello\nVersion: 1.0\n")
    z.writestr("hello-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr("hello-1.0.dist-info/RECORD", "hello.py,,\nhello-1.0.dist-info/METADATA,,\nhello-1.0.dist-info/WHEEL,,\nhello-1.0.dist-info/RECORD,,\n")
P
helper "$up/services-ready" python3 "$tests_dir/gate/services.py" "$up" 127.0.0.2 || finish
cp "$tests_dir/gate/inside.py" "$work/"

net() { run "$tmp/net.yaml" "$@"; }
client() { net python3 inside.py "$@"; }
has() { net sh -c "$1" >/dev/null 2>&1; }

# git
for host in tunnel look; do
	is "git clones over https: $host" "$(net sh -c "git clone -q https://$host.test/git/repo.git /tmp/clone && sha256sum </tmp/clone/large" 2>&1)" "$(sha256sum <"$tmp/src/large")"
	is "git pushes over https: $host" "$(net sh -c "git clone -q https://$host.test/git/repo.git /tmp/clone && cd /tmp/clone && git -c user.name=t -c user.email=t@t.test commit -q --allow-empty -m more && git push -q && echo pushed" 2>&1)" "pushed"
done
is "... and it arrived" "$(git -c safe.directory='*' -C "$up/git/repo.git" rev-list --count main)" "3"
is "git without proxy variables" "$(net sh -c 'unset HTTPS_PROXY https_proxy ALL_PROXY all_proxy; git clone -q https://look.test/git/repo.git /tmp/clone && cat /tmp/clone/file' 2>&1)" "content"
like "git hears why another host is refused" "$(net git clone -q https://evil.test/git/repo.git /tmp/no 2>&1)" '403'

# curl and openssl
for host in tunnel look; do
	is "curl with HTTP/1.1: $host" "$(net curl -sS -m 10 --http1.1 -w '%{http_version}' https://$host.test/a 2>&1)" $'served /a\n1.1'
done
is "curl with HTTP/2, though the server has only 1.1" "$(net curl -sS -m 10 --http2 -w '%{http_version}' https://look.test/b 2>&1)" $'served /b\n2'
is "curl with HTTP/2 over the transparent path" "$(net curl -sS -m 10 --noproxy '*' --http2 -w '%{http_version}' https://look.test/c 2>&1)" $'served /c\n2'
is "... and one that bound itself to loopback first" "$(net curl -sS -m 10 --noproxy '*' --interface 127.0.0.1 https://look.test/c 2>&1)" "served /c"
like "openssl s_client verifies what a looked-into host shows" "$(net sh -c 'printf "GET /d HTTP/1.1\r\nHost: look.test\r\nConnection: close\r\n\r\n" | timeout 10 openssl s_client -quiet -verify_return_error -connect look.test:443 -servername look.test -CAfile "$SSL_CERT_FILE"' 2>&1)" 'served /d'
like "openssl s_client sees the server's own certificate through a tunnel" "$(net sh -c 'timeout 10 openssl s_client -proxy 127.0.0.1:3128 -connect tunnel.test:443 -servername tunnel.test </dev/null' 2>&1)" 'issuer=CN = test upstream CA'
is "curl with HTTP/1.0, which offers nothing else in its handshake" "$(net curl -sS -m 10 -0 -w '%{http_version}' https://look.test/old 2>&1)" $'served /old\n1.1'
is "what fetch() leaves as it is in a path arrives encoded" "$(net curl -sS -g -m 10 'https://look.test/a[1]|^.txt' 2>&1)" "served /a%5B1%5D%7C%5E.txt"
is "cookies in many fields of HTTP/2 are one" "$(net sh -c 'n=0; while [ $n -lt 180 ]; do set -- "$@" -H "Cookie: c$n=v"; n=$((n + 1)); done; curl -sS -m 10 --http2 "$@" https://look.test/crumbs' 2>&1)" "served /crumbs"
is "twenty requests at once over one HTTP/2 connection" "$(net curl -sS -m 20 --http2 -Z --parallel-max 20 'https://look.test/m[1-20]' 2>/dev/null | sort -u | grep -c '^served')" "20"
refused_posts() { net sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do head -c 200000 /dev/zero | curl -sS -m 10 --http2 -o /dev/null -w "%{http_code}:%{exitcode} " --data-binary @- -H Expect: https://narrow.test/ok/x 2>/dev/null; done'; }
is "a refused POST over HTTP/2 is a clean 403" "$(refused_posts)" "$(printf '403:0 %.0s' 1 2 3 4 5 6 7 8 9 10)"
is "a refused POST over HTTP/1.1 is a clean 403" "$(net sh -c 'head -c 200000 /dev/zero | curl -sS -m 10 --http1.1 -o /dev/null -w "%{http_code}:%{exitcode}" --data-binary @- https://narrow.test/ok/x' 2>/dev/null)" "403:0"
if has 'command -v wget'; then
	is "wget" "$(net wget -q -O - https://look.test/w 2>&1)" "served /w"
else
	skip "wget" "not here"
fi

# Languages and their package managers
is "CONNECT of HTTP/1.0 without Host, as old urllibs send it" "$(client connect10 look.test 2>&1)" $'HTTP/1.1 200 Connection established\nserved /old'
if has 'python3 -c "import requests"'; then
	is "Python requests" "$(net python3 -c 'import requests; print(requests.get("https://look.test/r", timeout=10).text.strip())' 2>&1)" "served /r"
else
	skip "Python requests" "not installed inside"
fi
if has 'python3 -m pip --version'; then
	ok "pip installs from an index" net python3 -m pip install -q --disable-pip-version-check --no-cache-dir --target site -i https://look.test/pip/simple hello
	is "... and it can be used" "$(net env PYTHONPATH=site python3 -c 'import hello; print(hello.text)' 2>&1)" "from the index"
else
	skip "pip installs from an index" "no pip inside"
fi
if has 'command -v node'; then
	is "Node's fetch over the transparent path" "$(net node -e 'fetch("https://look.test/n").then(r=>r.text()).then(t=>console.log(t.trim()))' 2>&1)" "served /n"
	is "Node's https" "$(net node -e 'require("https").get("https://look.test/n2",r=>r.pipe(process.stdout))' 2>&1)" "served /n2"
else
	skip "Node's fetch over the transparent path" "no node inside"
fi
if has 'npm --version'; then
	for host in tunnel look; do
		rm -rf "$work/app" && mkdir "$work/app" && echo '{"name":"app","version":"1.0.0"}' >"$work/app/package.json"
		forget
		ok "npm installs a scoped package: $host" net sh -c "cd app && npm install --no-audit --no-fund --cache /tmp/npm --registry https://$host.test/npm/ @s/p"
		is "... and it can be used: $host" "$(net sh -c 'cd app && node -p "require(\"@s/p\")"' 2>&1)" "from the registry"
		like "... asked for by its encoded name: $host" "$(cat "$up/log")" '/npm/@s%2[fF]p'
	done
else
	skip "npm installs a scoped package" "no npm inside"
fi
if has 'java --version'; then
	cat >"$work/Fetch.java" <<'J'
import java.net.URI;
import java.net.http.*;
public class Fetch {
	public static void main(String[] a) throws Exception {
		HttpResponse<String> r = HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(a[0])).build(), HttpResponse.BodyHandlers.ofString());
		System.out.println(r.version() + " " + r.body().trim());
		System.out.println(new String(new java.net.URL(a[0]).openStream().readAllBytes()).trim());
	}
}
J
	is "Java's HttpClient and URL trust the gateway" "$(net java Fetch.java https://look.test/j 2>"$tmp/err")" $'HTTP_2 served /j\nserved /j'
else
	skip "Java's HttpClient and URL trust the gateway" "no java inside"
fi
if command -v go >/dev/null; then
	cat >"$work/fetch.go" <<'G'
package main

import ("fmt"; "io"; "net/http")

func main() {
	r, err := http.Get("https://look.test/g")
	if err != nil { panic(err) }
	b, _ := io.ReadAll(r.Body)
	fmt.Print(string(b))
}
G
	# compiled outside: gVisor takes minutes for it
	(cd "$work" && GOCACHE=$tmp/go-cache GOFLAGS=-mod=mod CGO_ENABLED=0 go build -o fetch-go fetch.go) || echo "# go build failed"
	is "Go" "$(net ./fetch-go 2>&1)" "served /g"
else
	skip "Go" "there is no go here"
fi

# HTTP/2 alone, and what gRPC needs
if command -v nghttpd >/dev/null && has 'command -v nghttp'; then
	mkdir "$up/h2" && echo "over h2" >"$up/h2/file"
	helper 127.0.0.3:443 nghttpd -a 127.0.0.3 -d "$up/h2" --echo-upload --trailer "grpc-status: 0" 443 "$up/server.key" "$up/server.pem" >"$up/nghttpd" 2>&1 || finish
	is "nghttp through a tunnel to a server that has only HTTP/2" "$(net nghttp https://h2tunnel.test/file 2>&1)" "over h2"
	is "nghttp through a rule that looks inside" "$(net nghttp https://h2.test/file 2>&1)" "over h2"
	is "curl with HTTP/1.1 to a server that has only HTTP/2" "$(net curl -sS -m 10 --http1.1 https://h2.test/file 2>&1)" "over h2"
	is "a gRPC-like call: body and te up, body down" "$(net sh -c 'printf "\0\0\0\0\3abc" >in; nghttp -H "content-type: application/grpc" -H "te: trailers" -d in https://h2.test/pkg.Service/Call | od -An -tx1 | tr -d " \n"' 2>&1)" '0000000003616263'
	like "... its status comes as a trailer" "$(net nghttp -v -H 'content-type: application/grpc' -H 'te: trailers' -d in https://h2.test/pkg.Service/Call 2>&1 | tr -d '\0')" 'grpc-status: 0'
	like "a trailer of the client goes up" "$(net nghttp -v --trailer 'x-sum: 7' -d in https://h2.test/pkg.Service/Call 2>&1 | tr -d '\0')" ':status: 200'
	is "a hundred streams on one connection" "$(net nghttp -m 100 https://h2.test/file 2>&1 | grep -c 'over h2')" "100"
else
	skip "nghttp through a tunnel to a server that has only HTTP/2" "no nghttp here (nghttp2-client, nghttp2-server)"
fi

# WebSocket
is "WebSocket passes an inspected rule" "$(client websocket look.test one two three 2>&1)" $'HTTP/1.1 101 Switching Protocols\none\ntwo\nthree'
is "... where GET and its path are allowed" "$(client websocket narrow.test hello 2>&1)" $'HTTP/1.1 101 Switching Protocols\nhello'
is "... and over HTTP/2, by an extended CONNECT" "$(client websocket_h2 look.test one two three 2>&1; client websocket_h2 narrow.test hello 2>&1)" $'200\none\ntwo\nthree\n200\nhello'
is "... and through a tunnel" "$(client websocket tunnel.test hello 2>&1)" $'HTTP/1.1 101 Switching Protocols\nhello'

# Not HTTP
is "a service that speaks first, over the transparent path" "$(client speaks_first tcp.test 5000 2>&1)" $'220 ready\nHELLO'
ok "another port of it is refused" sh -c '! "$@"' sh "$CORDON" run -p "$tmp/net.yaml" --workdir "$work" -- python3 inside.py speaks_first tcp.test 5001
if command -v sshd >/dev/null || [ -x /usr/sbin/sshd ]; then
	[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
	ssh-keygen -q -t ed25519 -N '' -f "$up/host_key" && ssh-keygen -q -t ed25519 -N '' -f "$work/id" && cp "$work/id.pub" "$up/authorized_keys"
	printf '%s\n' "HostKey $up/host_key" "ListenAddress 127.0.0.2:22" "AuthorizedKeysFile $up/authorized_keys" "StrictModes no" "UsePAM no" "PidFile none" "PermitRootLogin yes" "PasswordAuthentication no" >"$up/sshd_config"
	helper 127.0.0.2:22 "$(PATH=$PATH:/usr/sbin command -v sshd)" -D -e -f "$up/sshd_config" 2>"$up/sshd.log" || cat "$up/sshd.log"
	ssh_options="-F none -i id -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectTimeout=10 -l $(id -un)"
	# shellcheck disable=SC2086 # options are words
	is "ssh over the transparent path" "$(net ssh $ssh_options ssh.test echo over ssh 2>&1)" "over ssh"
	# shellcheck disable=SC2086
	is "ssh through SOCKS" "$(net ssh $ssh_options -o 'ProxyCommand=python3 inside.py socks %h %p' ssh.test echo through socks 2>&1)" "through socks"
	# shellcheck disable=SC2086
	is "a file through ssh" "$(net sh -c "ssh $ssh_options ssh.test 'head -c 5000000 /dev/zero | tr \"\\0\" x' | sha256sum" 2>&1)" "$(head -c 5000000 /dev/zero | tr '\0' x | sha256sum)"
else
	skip "ssh over the transparent path" "no sshd here (openssh-server)"
fi

# Streams
block=$(python3 -c 'import hashlib; h = hashlib.sha256(); [h.update(bytes(range(256)) * 256) for _ in range(1600)]; print(h.hexdigest())')
for host in tunnel look; do
	for version in 1.1 2; do
		is "100 MiB come down whole: $host, HTTP/$version" "$(net sh -c "curl -sS -m 60 --http$version 'https://$host.test/download?n=1600' | sha256sum" 2>&1)" "$block  -"
		is "50 MiB go up whole, chunked: $host, HTTP/$version" "$(net sh -c "head -c 52428800 /dev/zero | curl -sS -m 60 --http$version -T - -X POST https://$host.test/upload" 2>&1 | cut -d' ' -f1,2)" "52428800 $(head -c 52428800 /dev/zero | sha256sum | cut -d' ' -f1)"
	done
	is "server-sent events come one by one: $host" "$(client events $host.test 2>&1)" "5 4"
	is "an answer starts before the request has ended: $host" "$(client talk $host.test 2>&1)" $'got one\ngot two\ngot three'
done
is "plain HTTP streams as well" "$(net sh -c "curl -sS -m 60 'http://plain.test/download?n=1600' | sha256sum" 2>&1)" "$block  -"

# Odd but legal
for version in 1.1 2; do
	is "HEAD has no body: HTTP/$version" "$(net curl -sS -m 10 --http$version -I -o /dev/null -w '%{http_code} %{size_download}' https://look.test/h 2>&1)" "200 0"
	is "204: HTTP/$version" "$(net curl -sS -m 10 --http$version -w '%{http_code}' https://look.test/status/204 2>&1)" "204"
	is "304: HTTP/$version" "$(net curl -sS -m 10 --http$version -w '%{http_code}' -H 'If-None-Match: "x"' https://look.test/status/304 2>&1)" "304"
	is "the connection goes on behind them: HTTP/$version" "$(net curl -sS -m 10 --http$version -w '%{num_connects} ' https://look.test/status/204 https://look.test/status/304 https://look.test/e 2>&1)" $'1 0 served /e\n0 '
	like "103 passes: HTTP/$version" "$(net curl -sS -m 10 --http$version -i https://look.test/hints 2>&1)" 'HTTP/.* 103.*after the hints'
	like "trailers pass: HTTP/$version" "$(net curl -sS -m 10 --http$version -D - https://look.test/trailers 2>&1)" 'x-checksum: abc'
done
like "Expect: 100-continue is answered, and the body goes" "$(net sh -c 'head -c 100000 /dev/zero | curl -sS -v -m 10 --http1.1 -H "Expect: 100-continue" --data-binary @- https://look.test/upload' 2>&1)" '100 Continue.*100000 '
is "... at once, not when curl has waited for a second" "$(net sh -c 'head -c 100000 /dev/zero | curl -sS -o /dev/null -m 10 --http1.1 --expect100-timeout 5 -w "%{time_total}" -H "Expect: 100-continue" --data-binary @- https://look.test/upload' 2>&1 | cut -d. -f1)" "0"
is "Expect: 100-continue to what is refused brings the refusal, not the body" "$(net curl -sS -m 10 --http1.1 -o /dev/null -w '%{http_code} %{size_upload}' -H 'Expect: 100-continue' --expect100-timeout 5 -d hello https://narrow.test/ok/x 2>&1)" "403 0"
finish
