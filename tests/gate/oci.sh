#!/bin/bash
# The door of containers: what a policy opens is reached through gVisor, runc and crun as it is from the native sandbox, and nothing else is.
. "$(dirname "$0")/../gate_lib.sh"
need_static_init

secret=cordon-test-secret-77aa0c9a7b3e
export TEST_API_KEY=$secret XDG_RUNTIME_DIR=$tmp/run
mkdir -m 700 "$tmp/run"
cat >"$config/credentials.yaml" <<'Y'
version: 1
credentials:
  key:
    from: {env: TEST_API_KEY}
    hosts: [api.test, model.test]
    inject: {header: x-api-key, format: "{}"}
    env: TEST_API_KEY
Y
cat >"$tmp/net.yaml" <<'Y'
version: 1
extends: [default]
network:
  mode: allowlist
  allow:
    - host: tunnel.test
    - host: api.test
      methods: [GET]
      paths: ["/ok/**"]
      credential: key
inference:
  providers:
    anthropic: {kind: anthropic, url: "https://model.test", credential: key, models: ["claude-*"]}
Y
start_upstream tunnel.test api.test evil.test model.test || finish

net()
{
	"$CORDON" run --runtime "$runtime" -p "$tmp/net.yaml" --workdir "$work" -- "$@" </dev/null
}

code()
{
	net curl -sS -o /dev/null -w '%{http_code} %{http_connect}' -m 20 "$@" 2>/dev/null
}

ask_model()
{
	net sh -c 'curl -sS -m 20 -o /dev/null -w "%{http_code}" -H "content-type: application/json" -d "{\"model\":\"$1\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}" "$ANTHROPIC_BASE_URL/v1/messages"' sh "$1" 2>/dev/null
}

door()
{
	net true 2>/dev/null # what differs from native is said once
	like "$runtime: an allowed host, through the proxy variables" "$(net curl -sS -m 20 https://tunnel.test/x 2>&1)" 'hello from tunnel\.test/x'
	like "$runtime: by SOCKS" "$(net curl -sS -m 20 --noproxy '' -x socks5h://127.0.0.1:3128 https://tunnel.test/s 2>&1)" 'hello from tunnel\.test/s'
	is "$runtime: another host is refused" "$(code https://evil.test/)" "000 403"
	forget
	is "$runtime: a path that is not allowed is refused" "$(code https://api.test/other)" "403 200"
	is "$runtime: nothing of either arrived" "$(arrived)" 0
	is "$runtime: an allowed path" "$(code https://api.test/ok/a)" "200 200"
	ok "$runtime: the credential arrived there" grep -qF "$secret" "$up/log"
	is "$runtime: and is not inside" "$(net sh -c 'env; cat /proc/*/environ 2>/dev/null | tr "\0" "\n"' 2>/dev/null | grep -cF "$secret")" 0
	is "$runtime: what is dialled without a proxy does not get out" "$(net curl -fsS -m 20 --noproxy '*' http://192.0.2.1/ >/dev/null 2>&1 && echo out)" ""
	if [ "$runtime" = gvisor ]; then
		skip "$runtime: a program that knows no proxy" "gVisor has no redirect"
	else
		like "$runtime: a program that knows no proxy" "$(net curl -sS -m 20 --noproxy '*' https://tunnel.test/y 2>&1)" 'hello from tunnel\.test/y'
	fi
	forget
	is "$runtime: a model that is allowed" "$(ask_model claude-x)" 200
	is "$runtime: one that is not" "$(ask_model gpt-x)" 403
	is "$runtime: only the first request arrived" "$(arrived)" 1
}

program()
{
	local name=$1
	[ "$1" != gvisor ] || name=runsc
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin command -v "$name"
}

for runtime in gvisor runc crun; do
	if [ -z "$(program "$runtime")" ]; then
		skip "$runtime: the door" "not installed"
	else
		door
	fi
done
finish
