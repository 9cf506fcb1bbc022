#!/bin/bash
# What fails, fails closed, at once, and says which it was: upstreams that misbehave, roles that are killed, credentials that cannot be had, a log that cannot be written.
. "$(dirname "$0")/../gate_lib.sh"

names=(fine.test refused.test nowhere.test untrusted.test expired.test wrong.test before.test inhead.test inbody.test inchunks.test silent.test garbage.test longline.test fields.test smuggled.test
	lengths.test endless.test interim.test more.test notls.test stuck.test slow.test drips.test)
{
	printf 'version: 1\nextends: [default]\nnetwork:\n  mode: allowlist\n  allow:\n    - host: tunnel.test\n    - host: gone.test\n    - host: nowhere.test\n'
	for name in "${names[@]}"; do [ "$name" = nowhere.test ] || printf '    - {host: %s, methods: [GET, POST], ports: [443, 80]}\n' "$name"; done
} >"$tmp/net.yaml"
start_upstream tunnel.test "${names[@]/wrong.test/another.test}" || finish
sed -i '/test":/d' "$config/gateway.yaml"
lead 127.0.0.1 tunnel.test
lead 127.0.0.99 gone.test

# Certificates that must not do
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=x" -addext "subjectAltName=DNS:untrusted.test" -keyout "$up/untrusted.key" -out "$up/untrusted.pem" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=x" -keyout "$up/expired.key" -out "$up/expired.csr" 2>/dev/null
mkdir "$up/ca" && : >"$up/ca/index" && echo 10 >"$up/ca/serial"
printf '[ca]\ndefault_ca=a\n[a]\ndatabase=%s/ca/index\nserial=%s/ca/serial\nnew_certs_dir=%s/ca\ndefault_md=sha256\npolicy=p\nx509_extensions=e\n[p]\ncommonName=supplied\n[e]\nsubjectAltName=DNS:expired.test\n' "$up" "$up" "$up" >"$up/ca.conf"
openssl ca -batch -config "$up/ca.conf" -cert "$up/ca.pem" -keyfile "$up/ca.key" -startdate 20200101000000Z -enddate 20200201000000Z -in "$up/expired.csr" -out "$up/expired.pem" -notext 2>/dev/null

# Each case has an address of its own; they all listen on 443.
n=10
cases=(fine:fine untrusted:fine:untrusted expired:fine:expired wrong:fine before:cut_before inhead:cut_in_head inbody:cut_in_body inchunks:cut_in_chunks silent:silent garbage:garbage longline:long_line
	fields:many_fields smuggled:smuggled lengths:two_lengths endless:endless_head interim:endless_interim more:more_than_said notls:no_tls stuck:stuck slow:slow drips:drips)
for entry in "${cases[@]}"; do
	IFS=: read -r name case certificate <<<"$entry"
	n=$((n + 1))
	rm -f "$up/faulty-ready"
	helper "$up/faulty-ready" python3 "$tests_dir/gate/faulty.py" "$up" "127.0.0.$n" "$case:443:${certificate:-server}" || finish
	lead "127.0.0.$n" "$name.test"
done
lead 127.0.0.98 refused.test

net() { run "$tmp/net.yaml" "$@"; }

# answer HOST [CURL_OPTION...]: the status, curl's own code, the word for the error, and the whole seconds that it took.
answer()
{
	local host=$1 started=$SECONDS out
	shift
	out=$(net curl -sS -m 20 -w '\n%{http_code} %{exitcode}' "$@" "https://$host/" 2>/dev/null)
	printf '%s %s' "$(tail -1 <<<"$out")" "$(grep -ao '"error":"[a-z_]*"' <<<"$out" | cut -d'"' -f4)"
	[ $((SECONDS - started)) -lt 10 ] || printf ' after %d s' $((SECONDS - started))
}

is "a good upstream answers" "$(answer fine.test)" "200 0 "
versions="1.1 2"
[ "$runtime" = native ] || versions=2 # what happens outside is the same on all of them
for version in $versions; do
	v=--http$version
	is "connection refused: HTTP/$version" "$(answer refused.test "$v")" "502 0 connection_refused"
	is "a certificate that nobody trusts: HTTP/$version" "$(answer untrusted.test "$v")" "502 0 certificate_untrusted"
	is "an expired certificate: HTTP/$version" "$(answer expired.test "$v")" "502 0 certificate_expired"
	is "a certificate for another name: HTTP/$version" "$(answer wrong.test "$v")" "502 0 certificate_wrong_name"
	is "no TLS where TLS should be: HTTP/$version" "$(answer notls.test "$v")" "502 0 tls_failed"
	is "an upstream that closes before it answers: HTTP/$version" "$(answer before.test "$v")" "502 0 answer_cut"
	is "... amid the head: HTTP/$version" "$(answer inhead.test "$v")" "502 0 answer_cut"
	is "garbage: HTTP/$version" "$(answer garbage.test "$v")" "502 0 bad_answer"
	is "a header line of a megabyte: HTTP/$version" "$(answer longline.test "$v")" "502 0 bad_answer"
	is "twenty thousand headers: HTTP/$version" "$(answer fields.test "$v")" "502 0 bad_answer"
	is "a head without end: HTTP/$version" "$(answer endless.test "$v")" "502 0 bad_answer"
	is "interim answers without end: HTTP/$version" "$(answer interim.test "$v" | sed 's/^000 [0-9]* $/502 0 bad_answer/')" "502 0 bad_answer"
	is "a length beside chunks: HTTP/$version" "$(answer smuggled.test "$v")" "502 0 bad_answer"
	is "two lengths: HTTP/$version" "$(answer lengths.test "$v")" "502 0 bad_answer"
	like "an answer that ends amid its body is not taken for whole: HTTP/$version" "$(answer inbody.test "$v")" '^(200|000) (18|56|92) '
	like "... nor one amid its chunks: HTTP/$version" "$(answer inchunks.test "$v")" '^(200|000) (18|56|92) '
	is "what follows an answer is not the next one: HTTP/$version" "$(net curl -sS -m 10 "$v" https://more.test/1 https://more.test/2 2>&1)" $'ok\nok'
done
like "a refused tunnel says so" "$(net curl -sS -i -m 10 https://gone.test/ 2>&1)" '502'
like "a name that does not resolve" "$(net curl -sS -i -m 10 https://nowhere.test/ 2>&1)" '502'
is "... over plain HTTP, with a body that says so" "$(net curl -sS -m 15 http://nowhere.test/ 2>&1 | grep -o name_not_resolved)" "name_not_resolved"
like "curl that knows no proxy fails as well, and soon" "$(net sh -c 's=$(date +%s); curl -sS -m 15 --noproxy "*" https://gone.test/; echo "$? $(($(date +%s) - s))"' 2>&1 | tail -1)" '^(7|35|52|56) [0-3]$'

# Upstreams that never answer: the client's own patience ends it, others are not held up, and the gateway's ends it for clients that have more.
is "an upstream that never answers does not hold up others" "$(net sh -c 'curl -s -m 8 https://silent.test/ & sleep 0.3; curl -sS -m 5 https://fine.test/; kill $!' 2>&1)" "ok"
is "... nor does one that is stuck in the handshake" "$(net sh -c 'curl -s -m 8 https://stuck.test/ & sleep 0.3; curl -sS -m 5 https://fine.test/; kill $!' 2>&1)" "ok"
is "a handshake that does not end is given up: 504" "$(net curl -sS -m 40 -w ' %{http_code}' https://stuck.test/ 2>&1 | grep -o '"timeout".*504$' | sed 's/,.* / /')" '"timeout" 504'
like "a head that drips is given up after half a minute: 504" "$(s=$SECONDS; net curl -sS -m 60 -w ' %{http_code}' https://drips.test/ 2>&1 | tr -d '\n'; echo " $((SECONDS - s))")" '"timeout".*504 3[0-9]$'

# Roles that are killed. The run ends: SIGTERM, SIGKILL for who does not go, and nothing gets out meanwhile.
# children NAME: of the supervisor $run.
children() { ps -o pid=,comm= --ppid "$run" | awk -v n="$1" '$2 == n { print $1 }'; }
started() { grep -q ready "$tmp/told"; }
mkdir "$tmp/temporary"
mkfifo "$tmp/orders" # a line through it lets the command go on; the work folder may be a copy
stubborn='trap "echo asked" TERM
	curl -sS -m 5 -o /dev/null https://fine.test/ && echo ready
	curl -sS -m 30 https://slow.test/ >/dev/null 2>&1; echo "running $?"
	curl -sS -m 20 https://fine.test/ >/dev/null 2>&1; echo "new $?"
	curl -sS -m 20 --noproxy "*" https://tunnel.test/ >/dev/null 2>&1; echo "direct $?"
	while :; do sleep 0.1; done'
for role in relay egress vault; do
	rm -f "$up/asked" "$up/go"
	mounts=$(wc -l </proc/self/mountinfo)
	TMPDIR=$tmp/temporary "$CORDON" run -p "$tmp/net.yaml" --workdir "$work" -- sh -c "$stubborn" </dev/null >"$tmp/told" 2>"$tmp/err" &
	run=$!
	until_true started
	until_true test -e "$up/asked"
	roles=$(for r in relay egress vault; do children cordon-$r; done)
	is "three roles run beside it: $role" "$(wc -w <<<"$roles")" "3"
	forget
	killed=$SECONDS
	kill -9 "$(children cordon-$role)"
	wait "$run"
	is "cordon-$role killed: the run ends, and it is Cordon's failure" "$?" "125"
	is "... within its grace: $role" "$((SECONDS - killed < 12))" "1"
	is "... one line says which part, and how: $role" "$(cat "$tmp/err")" "cordon: the gateway's $role role ended (signal 9); the run was ended"
	like "... the command was asked to go before: $role" "$(cat "$tmp/told")" 'asked'
	like "... the request that ran has failed: $role" "$(cat "$tmp/told")" $'running [1-9][0-9]*'
	is "... nothing was answered any more: $role" "$(grep -cE '^(new|direct) 0' "$tmp/told")" "0"
	is "... and nothing reached an upstream: $role" "$(arrived)" "0"
	like "... the log says so: $role" "$(cat "$(audit)")" "the gateway's $role role ended \\(signal 9\\); the run was ended"
	ok "... and is whole: $role" "$CORDON" audit verify "$(audit)"
	# shellcheck disable=SC2086
	is "... no process is left: $role" "$(ps -o pid=,stat= -p "$(tr '\n' ',' <<<"$roles" | sed 's/,$//')" | wc -l)" "0"
	is "... no mount: $role" "$(wc -l </proc/self/mountinfo)" "$mounts"
	is "... and no temporary file: $role" "$(ls -A "$tmp/temporary")" ""
	touch "$up/go"
done

# What systemd and Slurm send to all processes of a job is for the command: it has its time, and its way out.
for signal in TERM USR1; do
	"$CORDON" run -p "$tmp/net.yaml" --workdir "$work" -- sh -c 'trap "got=1" '$signal'
		curl -sS -m 5 -o /dev/null https://fine.test/ && echo ready
		while [ -z "$got" ]; do sleep 0.1; done
		sleep 3; curl -sS -m 5 -o /dev/null https://fine.test/ && echo saved; exit 7' </dev/null >"$tmp/told" 2>"$tmp/err" &
	run=$!
	until_true started
	# shellcheck disable=SC2046
	kill -$signal "$run" $(for r in relay egress vault; do children cordon-$r; done)
	wait "$run"
	is "SIG$signal to all processes of a run is its command's" "$?:$(grep -c saved "$tmp/told"):$(grep cordon: "$tmp/err")" "7:1:"
done

# A command that ends of itself when its request fails is no less the gateway's: its status would be taken for an answer.
rm -f "$up/asked" "$up/go"
"$CORDON" run -p "$tmp/net.yaml" --workdir "$work" -- sh -c 'curl -sS -m 30 https://slow.test/ >/dev/null 2>&1; exit 0' >"$tmp/told" 2>"$tmp/err" &
run=$!
until_true test -e "$up/asked"
kill -9 "$(children cordon-relay)"
wait "$run"
is "a command that ended with its request: 125 as well" "$?" "125"
touch "$up/go"

# Kept: whoever waits for a command is told, and the sandbox is gone.
rm -f "$up/asked" "$up/go"
"$CORDON" run --keep -p "$tmp/net.yaml" --workdir "$work" -- true 2>"$tmp/err"
id=$("$CORDON" ps -q)
run=$("$CORDON" ps --json | grep -o '"pid":[0-9]*' | cut -d: -f2)
"$CORDON" exec "$id" -- sh -c 'curl -sS -m 30 https://slow.test/ >/dev/null 2>&1; sleep 30' >/dev/null 2>"$tmp/err" &
exec=$!
until_true test -e "$up/asked"
kill -9 "$(children cordon-egress)"
wait "$exec"
is "a kept sandbox whose gateway ended: its command is ended, 125" "$?" "125"
is "... one line says why" "$(cat "$tmp/err")" "cordon: the sandbox's gateway ended, and the sandbox was ended with it; \`cordon logs\` says which part"
nothing_runs() { [ -z "$("$CORDON" ps -q)" ]; }
ok "... and the sandbox is gone, with nobody in it" until_true nothing_runs
like "... the log says so" "$("$CORDON" logs "$id")" "the gateway's egress role ended"
"$CORDON" run --keep -p "$tmp/net.yaml" --workdir "$work" -- true 2>/dev/null
run=$("$CORDON" ps --json | grep -o '"pid":[0-9]*' | cut -d: -f2)
kill -9 "$(children cordon-vault)"
ok "... so is one that runs nothing" until_true nothing_runs
touch "$up/go"
# left: processes of ours that should be gone; other suites may run beside this one.
left() { ps -eo pgid=,comm= | awk -v g="$(ps -o pgid= $$ | tr -d ' ')" '$1 == g && $2 ~ /^cordon/' | wc -l; }
is "no process and no zombie is left" "$(left)" "0"

# The supervisor itself
rm -f "$up/go" "$up/asked"
"$CORDON" run -p "$tmp/net.yaml" --workdir "$work" -- curl -sS -m 30 https://slow.test/ >/dev/null 2>&1 &
run=$!
until_true test -e "$up/asked"
all=$(for r in relay egress vault init; do children cordon-$r; done)
kill -9 "$run"
wait "$run" 2>/dev/null
gone() { [ -z "$(ps -o pid= -p "$(tr '\n' ',' <<<"$all" | sed 's/,$//')" | tr -d ' \n')" ]; }
ok "the supervisor killed: every role ends with it" until_true gone
touch "$up/go"

# Many idle connections
cp "$tests_dir/gate/inside.py" "$work/"
like "10,000 idle connections do not stop another" "$(net sh -c 'ulimit -n "$(ulimit -Hn)"; timeout 60 python3 inside.py idle 10000 fine.test' 2>&1)" '^[0-9]{4,5} HTTP/1\.1 200$'

is "requests with large heads that never end are refused from some number on, and stop no other" "$(net sh -c 'ulimit -n "$(ulimit -Hn)"; timeout 60 python3 inside.py heads 2000 fine.test' 2>&1)" \
	"HTTP/1.1 503 then HTTP/1.1 200"

# Before the start: one line, 125, nothing left
# starts_not NAME REGEX: with the credentials on stdin.
starts_not()
{
	cat >"$config/credentials.yaml"
	chmod "${3:-600}" "$config/credentials.yaml"
	"$CORDON" run -p "$tmp/cred.yaml" --workdir "$work" -- touch started >"$tmp/out" 2>"$tmp/err" &
	run=$!
	wait "$run"
	is "$1: 125" "$?" "125"
	like "... one clear line" "$(cat "$tmp/err")" "^cordon: .*$2"
	is "... and only one" "$(wc -l <"$tmp/err")" "1"
	ok "... nothing was started" test ! -e "$work/started"
	is "... nothing is left" "$(left)" "0"
}
cat >"$tmp/cred.yaml" <<'Y'
version: 1
extends: [default]
network: {mode: allowlist, allow: [{host: fine.test, credential: key}]}
Y
unset NO_SUCH_VARIABLE
starts_not "a credential whose variable is unset" 'NO_SUCH_VARIABLE' <<'Y'
version: 1
credentials: {key: {from: {env: NO_SUCH_VARIABLE}, hosts: [fine.test], inject: {header: x-key, format: "{}"}}}
Y
starts_not "a credential whose file is missing" '/nonexistent/key' <<'Y'
version: 1
credentials: {key: {from: {file: /nonexistent/key}, hosts: [fine.test], inject: {header: x-key, format: "{}"}}}
Y
starts_not "a command that fails" 'key' <<'Y'
version: 1
credentials: {key: {from: {command: [sh, -c, "exit 3"]}, hosts: [fine.test], inject: {header: x-key, format: "{}"}}}
Y
starts_not "a command that is not there" 'key' <<'Y'
version: 1
credentials: {key: {from: {command: [/nonexistent/pass]}, hosts: [fine.test], inject: {header: x-key, format: "{}"}}}
Y
starts_not "a policy that names a credential that nobody has" 'key' <<'Y'
version: 1
credentials: {}
Y
starts_not "credentials that others can write" 'chmod 600' 666 <<'Y'
version: 1
credentials: {key: {from: {env: HOME}, hosts: [fine.test], inject: {header: x-key, format: "{}"}}}
Y
starts_not "credentials that are no YAML" 'credentials.yaml:' <<'Y'
version: 1
credentials: [[[
Y
echo "version: 1" >"$config/credentials.yaml"
chmod 000 "$config/credentials.yaml"
if [ "$(id -u)" != 0 ]; then
	# without what the suite's namespace gives
	setpriv --ambient-caps -all --inh-caps -all "$CORDON" run -p "$tmp/cred.yaml" --workdir "$work" -- touch started >"$tmp/out" 2>"$tmp/err"
	is "credentials that cannot be read: 125" "$?" "125"
	like "... one clear line" "$(cat "$tmp/err")" '^cordon: .*credentials\.yaml: Permission denied$'
else
	skip "credentials that cannot be read" "root reads everything"
fi
rm -f "$config/credentials.yaml"
printf 'version: 1\nresolve: {\n' >"$tmp/gateway.bad" && cp "$config/gateway.yaml" "$tmp/gateway.good" && cp "$tmp/gateway.bad" "$config/gateway.yaml"
"$CORDON" run -p "$tmp/net.yaml" --workdir "$work" -- true >"$tmp/out" 2>"$tmp/err"
is "a gateway.yaml that is no YAML: 125" "$?" "125"
like "... and it is named" "$(cat "$tmp/err")" '^cordon: .*gateway\.yaml'
cp "$tmp/gateway.good" "$config/gateway.yaml"
mkdir "$tmp/alone" && cp "$cordon_program" "$CORDON_BUILD/cordon-init" "$tmp/alone/"
for role in vault egress relay; do
	"$tmp/alone/cordon" run -p "$tmp/net.yaml" --workdir "$work" -- true >"$tmp/out" 2>"$tmp/err"
	is "without cordon-$role a run does not start" "$?" "125"
	like "... and says what is missing" "$(cat "$tmp/err")" "^cordon: .*cordon-$role is not beside"
	cp "$CORDON_BUILD/cordon-$role" "$tmp/alone/"
done

# A log that cannot be written
if [ "$(id -u)" = 0 ] && mkdir -p "$tmp/small" && mount -t tmpfs -o size=256k none "$tmp/small" 2>/dev/null; then
	{ cat "$tmp/net.yaml"; echo 'filesystem: {workdir: read-only}'; } >"$tmp/read-only.yaml" # on other runtimes a copy would have to fit there
	XDG_STATE_HOME=$tmp/small "$CORDON" run -p "$tmp/read-only.yaml" --workdir "$work" -- sh -c 'curl -sS -m 5 https://fine.test/; read -r go
		i=0; while [ $i -lt 50 ]; do i=$((i + 1)); curl -sS -m 5 -o /dev/null "http://evil$i.test/"; done
		curl -sS -m 5 https://fine.test/; echo reached' <"$tmp/orders" >"$tmp/told" 2>"$tmp/err" &
	run=$!
	exec 6>"$tmp/orders"
	until_true grep -q ok "$tmp/told"
	cat /dev/zero >"$tmp/small/full" 2>/dev/null
	echo go >&6
	exec 6>&-
	wait "$run"
	is "a full audit disk: 125" "$?" "125"
	is "... no new request passed" "$(grep -c reached "$tmp/told")" "0"
	like "... and it is said" "$(cat "$tmp/err")" 'cordon: .*(No space left|audit)'
	umount "$tmp/small"
else
	skip "a full audit disk" "needs root, for a small tmpfs"
fi

# --- a relay that was taken over ---

if [ "$runtime" = native ]; then
	mkdir "$tmp/deaf" && cp "$(dirname "$CORDON")"/cordon "$(dirname "$CORDON")"/cordon-{egress,init,unpack,vault} "$tmp/deaf" && cp "$CORDON_BUILD/tests/deaf-relay" "$tmp/deaf/cordon-relay"
	printf 'version: 1\nextends: [default]\nprocess: {timeout: 3s}\nnetwork: {mode: allowlist, allow: [{host: fine.test}]}\n' >"$tmp/deaf.yaml"
	started=$SECONDS
	timeout -s KILL 25 "$tmp/deaf/cordon" run -p "$tmp/deaf.yaml" -- sleep 60 >/dev/null 2>"$tmp/err" </dev/null
	like "one that asks without end and hears nothing holds up no clock" "$?:$((SECONDS - started < 15))" '^12[45]:1$' # 125: it was lost before the command was started
fi
finish
