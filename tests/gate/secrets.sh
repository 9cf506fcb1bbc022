#!/bin/bash
# Where a credential is while it is used (egress and vault) and where it is not: in the relay, in the supervisor, inside, in any argument, environment, log or core. And what the workload can
# do about the gateway's processes and sockets: nothing.
. "$(dirname "$0")/../gate_lib.sh"

secret=cordon-test-secret-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
(umask 077 && printf '%s\n' "$secret" >"$tmp/key")
cat >"$config/credentials.yaml" <<Y
version: 1
credentials:
  key:
    from: {file: $tmp/key}
    hosts: [api.test, slow.test]
    inject: {header: x-api-key, format: "{}"}
    env: API_KEY
  variable:
    from: {env: TEST_VARIABLE_KEY}
    hosts: [slow.test]
    inject: {header: x-api-key, format: "{}"}
Y
cat >"$tmp/net.yaml" <<'Y'
version: 1
extends: [default]
network:
  mode: allowlist
  allow:
    - {host: api.test, credential: key}
    - {host: slow.test, credential: key}
    - host: tunnel.test
Y
start_upstream api.test slow.test tunnel.test evil.test || finish
sed -i '/slow.test":/d' "$config/gateway.yaml"
lead 127.0.0.2 slow.test
helper "$up/faulty-ready" python3 "$tests_dir/gate/faulty.py" "$up" 127.0.0.2 slow:443 || finish
cp "$tests_dir/gate/inside.py" "$work/"
net() { run "$tmp/net.yaml" "$@"; }

# below PID: it and all its descendants.
below()
{
	local pid
	echo "$1"
	for pid in $(ps -o pid= --ppid "$1"); do below "$pid"; done
}
role() { ps -o pid=,comm= --ppid "$run" | awk -v n="$1" '$2 == n { print $1 }'; }

# begin POLICY: a run that has had the credential reflected to it, over HTTP/1.1 and 2, and now waits for an answer in the middle of an injected call.
begin()
{
	rm -f "$up/asked" "$up/go"
	"$CORDON" run -p "$1" --workdir "$work" -- sh -c 'for f in raw base64 header split; do curl -s -m 5 "https://api.test/reflect?form=$f"; curl -s -m 5 --http1.1 "https://api.test/reflect?form=$f"; done >reflected
		curl -sS -m 60 -H "x-api-key: ${TEST_VARIABLE_KEY:-$API_KEY}" https://slow.test/ >answer' >"$tmp/out" 2>"$tmp/err" &
	run=$!
	until_true test -e "$up/asked"
	relay=$(role cordon-relay) egress=$(role cordon-egress) vault=$(role cordon-vault)
	init=$(ps -o pid=,comm= --ppid "$run" | awk '$2 !~ /^cordon-(relay|egress|vault)/ { print $1 }')
	# beside a runtime there are children of the supervisor's own, which carry output
	[ "$runtime" = native ] || init=$(for pid in $init; do [ "$(readlink "/proc/$pid/exe")" = "$(realpath "$cordon_program")" ] || echo "$pid"; done)
	# an engine's containers are no children of ours; they have a user of their own
	[ "$runtime" != docker ] || init=$(pgrep -u $((1900000000 + run)))
	# shellcheck disable=SC2086 # a list
	inside=$(for pid in $init; do below $pid; done)
}
end()
{
	touch "$up/go"
	wait "$run"
}
find_in() { python3 "$tests_dir/tools/find_in_memory.py" "$@"; }

begin "$tmp/net.yaml"
is "a call is under way, with all its processes" "$(wc -w <<<"$run $relay $egress $vault")" "4"
ok "... and some inside" test "$(wc -w <<<"$inside")" -ge 2
if is_sanitized; then
	skip "the credential is in egress, where this search finds it" "with sanitizers memory is too large to be searched"
elif [ "$(id -u)" = 0 ]; then
	is "the credential is in egress, where this search finds it" "$(find_in "$tmp/key" "$egress" 2>&1)" "$egress"
	is "it is not in the relay's memory" "$(find_in "$tmp/key" "$relay" 2>&1)" ""
	is "nor in the supervisor's" "$(find_in "$tmp/key" "$run" 2>&1)" ""
	# shellcheck disable=SC2086
	is "nor in that of any process inside" "$(find_in "$tmp/key" $inside 2>&1)" ""
else
	for pid in relay egress vault; do
		is "the user cannot read the memory of cordon-$pid" "$(cat "/proc/${!pid}/mem" 2>&1 >/dev/null | grep -o 'Permission denied')" "Permission denied"
		is "... nor its environment" "$(cat "/proc/${!pid}/environ" 2>&1 >/dev/null | grep -o 'Permission denied')" "Permission denied"
		ok "... nor its descriptors" sh -c "! ls /proc/${!pid}/fd"
	done
fi
is "no process has it among its arguments" "$(cat /proc/[0-9]*/cmdline 2>/dev/null | grep -acFf "$tmp/key")" "0"
is "none has it in its environment" "$(for p in $run $relay $egress $vault $inside; do cat "/proc/$p/environ" 2>/dev/null; done | grep -acFf "$tmp/key")" "0"
for pid in relay egress vault; do
	[ "$(id -u)" != 0 ] || [ "$pid" = vault ] || is "cordon-$pid has no environment at all" "$(wc -c <"/proc/${!pid}/environ")" "0"
	like "cordon-$pid leaves no core" "$(grep 'core file' "/proc/${!pid}/limits")" 'size +0 +0 '
	like "cordon-$pid can gain no privilege" "$(cat "/proc/${!pid}/status")" 'NoNewPrivs:[[:space:]]1'
	is_sanitized || like "cordon-$pid is under a filter" "$(cat "/proc/${!pid}/status")" 'Seccomp:[[:space:]]2'
	is "cordon-$pid has no capability" "$(grep -E '^Cap(Eff|Prm|Inh|Amb)' "/proc/${!pid}/status" | grep -cv '0000000000000000$')" "0"
done
end
is "the call went well" "$(cat "$work/answer")" "ok"
is "what was reflected came without it" "$(grep -ac -e "$secret" -e "$(printf x%s "$secret" | base64 | cut -c5-30)" "$work/reflected")" "0"
ok "... but came" test "$(wc -c <"$work/reflected")" -gt 100
is "nothing that the run left has it" "$(grep -rla "$secret" "$tmp/state" "$tmp/cache" "$work" "$tmp/out" "$tmp/err" | wc -l)" "0"
is "the upstream had it" "$(grep -c "$secret" "$up/log" | sed 's/[1-9][0-9]*/some/')" "some"

# From a variable of the operator's
export TEST_VARIABLE_KEY=$secret
sed 's/slow.test, credential: key/slow.test, credential: variable/' "$tmp/net.yaml" >"$tmp/variable.yaml"
begin "$tmp/variable.yaml"
if is_sanitized; then
	skip "from a variable: in egress" "with sanitizers memory is too large to be searched"
elif [ "$(id -u)" = 0 ]; then
	is "from a variable: in egress" "$(find_in "$tmp/key" "$egress" 2>&1)" "$egress"
	# shellcheck disable=SC2086
	is "... and neither in the relay nor inside" "$(find_in "$tmp/key" "$relay" $inside 2>&1)" ""
	is "... nor in the environment of relay, egress or anything inside" "$(for p in $relay $egress $inside; do cat "/proc/$p/environ"; done | grep -ac "$secret")" "0"
else
	skip "from a variable: in egress" "needs root"
fi
end
unset TEST_VARIABLE_KEY

# What the programs are made of
functions() { nm --defined-only "$1" 2>/dev/null | awk '$2 ~ /[tT]/ { print $3 }' | grep -E "$2"; }
theirs='^(vault|credentials?|source|runner|grants?|mint|inject|sigv4|scrub)_'
if [ -n "$(functions "$CORDON_BUILD/cordon-relay" '^main$')" ]; then
	ok "the vault has the vault's code" test -n "$(functions "$CORDON_BUILD/cordon-vault" '^vault_serve$')"
	ok "egress has the code that injects" test -n "$(functions "$CORDON_BUILD/cordon-egress" '^inject_')"
	is "the relay has none of either" "$(functions "$CORDON_BUILD/cordon-relay" "$theirs")" ""
	is "egress has nothing of the vault's sources and CA" "$(functions "$CORDON_BUILD/cordon-egress" '^(vault|source|runner|mint)_')" ""
	is "the program that runs inside has nothing of any of them" "$(functions "$CORDON_BUILD/cordon-init" "$theirs")" ""
else
	skip "the relay has none of either" "these programs are stripped"
fi

# As the workload
is "the roles cannot be seen from inside" "$(net sh -c 'cat /proc/[0-9]*/comm /proc/[0-9]*/cmdline' 2>/dev/null | grep -ac -e relay -e egress -e vault)" "0"
for file in environ mem maps; do
	is "PID 1's $file is closed" "$(net sh -c "head -c 1 /proc/1/$file >/dev/null 2>&1 && echo open" 2>&1)" ""
done
for file in fd cwd root; do
	is "PID 1's $file is closed" "$(net sh -c "ls /proc/1/$file/ 2>/dev/null" 2>&1)" ""
done
is "no UNIX socket that could be connected to is listed inside" "$(net awk 'NR > 1 && NF > 7 && $4 != "00000000"' /proc/net/unix 2>&1)" ""
helper "$up/abstract" python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX); s.bind("\0cordon-test-abstract"); s.listen(); open(sys.argv[1], "w").close()
while True: s.accept()[0].close()' "$up/abstract"
is "an abstract socket of outside cannot be reached" "$(net python3 -c '
import socket
try: socket.socket(socket.AF_UNIX).connect("\0cordon-test-abstract"); print("reached")
except OSError: print("refused")' 2>&1)" "refused"
cat >"$work/take.py" <<'P'
import socket, sys
def tries(family, kind, address, port, *options):
    s = socket.socket(family, kind)
    for o in options: s.setsockopt(socket.SOL_SOCKET, o, 1)
    try:
        s.bind((address, port))
        if kind == socket.SOCK_STREAM: s.listen()
        return "%s:%d %s" % (address, port, options)
    except OSError:
        return None
S, D, R, A = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SO_REUSEPORT, socket.SO_REUSEADDR
direct = ((S, 3127),) if sys.argv[1:] != ["none"] else () # where all that is dialled arrives
taken = [tries(socket.AF_INET, k, a, p, *o) for k, p in direct + ((S, 3128), (S, 53), (D, 53)) for a in ("127.0.0.1", "0.0.0.0") for o in ((), (R,), (A,), (A, R))]
taken += [tries(socket.AF_INET6, k, a, p, *o) for k, p in direct for a in ("::1", "::") for o in ((), (R,), (A,), (A, R))]
print([t for t in taken if t])
P
is "the gateway's ports cannot be taken over" "$(net python3 take.py "$direct" 2>&1)" "[]"
is "... and serve afterwards" "$(net sh -c 'python3 take.py '"$direct"' >/dev/null; curl -sS -m 5 https://tunnel.test/' 2>&1)" "hello from tunnel.test/"
is "a port that is not the gateway's can be used" "$(net python3 -c '
import socket
a = socket.create_server(("127.0.0.1", 8000)); b = socket.create_connection(("127.0.0.1", 8000)); c = a.accept()[0]; b.send(b"own"); print(c.recv(3).decode())' 2>&1)" "own"

# This machine's own loopback, where the upstream listens on 80
forget
for address in 127.0.0.1 localhost 127.1 2130706433 0x7f000001 0177.0.0.1 0.0.0.0 '[::1]' '[::ffff:127.0.0.1]' '[::]' 127.0.0.1. 198.18.0.1 169.254.169.254; do
	net sh -c "curl -s -m 3 -x http://127.0.0.1:3128 --noproxy '' 'http://$address/'; curl -s -m 3 --noproxy '*' 'http://$address/'; curl -s -m 3 --noproxy '' -x socks5://127.0.0.1:3128 'http://$address/'; curl -s -m 3 --noproxy '' -x socks5h://127.0.0.1:3128 'http://$address/'" >/dev/null 2>&1
	is "this machine's services cannot be reached as $address" "$(arrived)" "0"
	forget
done
net curl -s -m 3 -H 'Host: evil.test' https://api.test/ >/dev/null 2>&1
is "another name in Host does not carry the credential there" "$(grep -c evil "$up/log")" "0"
finish
