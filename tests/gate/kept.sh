#!/bin/bash
# Kept and prepared sandboxes have a gateway with credentials, which were those of whoever started them: nobody else gets in, whatever it is that changed.
. "$(dirname "$0")/../gate_lib.sh"

export TEST_TOKEN=cordon-test-first-61c0
start_upstream api.test other.test || finish
cp "$config/gateway.yaml" "$tmp/gateway.yaml"
stop_all() { timeout 60 "$CORDON" stop -t 0 --all; }
trap 'stop_all; gate_done' EXIT
kept() { "$CORDON" ps -q | wc -l; }
ready() { [ "$(find "$tmp/state/cordon/warm" -type f ! -name lock 2>/dev/null | wc -l)" = "$1" ]; }

# credentials FROM [HOST] [HEADER]
credentials()
{
	local new
	new=$(mktemp "$config/XXXXXX")
	printf 'version: 1\ncredentials:\n  key: {from: {%s}, hosts: [%s], inject: {header: %s, format: "{}"}, env: KEY}\n  unused: {from: {env: TEST_UNUSED}, hosts: [other.test], inject: {bearer: true}}\n' "$1" "${2:-api.test}" "${3:-x-api-key}" >"$new"
	mv "$new" "$config/credentials.yaml"
}
printf 'version: 1\nextends: [default]\nfilesystem: {workdir: read-only}\nnetwork: {mode: allowlist, allow: [{host: api.test, credential: key}]}\n' >"$tmp/net.yaml"
cat >"$work/call" <<'C'
#!/bin/sh
cat /tmp/mark 2>/dev/null
echo "${1:-mark}" >/tmp/mark
curl -sS -m 5 -o /dev/null https://api.test/ 2>&1
true
C
chmod 755 "$work/call"
# What a call finds of those before it, and which credential arrived.
last_key() { python3 -c 'import json,sys
for line in open(sys.argv[1]): last = json.loads(line)
print(dict((k.lower(), v) for k, v in last["headers"].items()).get("x-api-key"))' "$up/log" 2>/dev/null; }
owned() { "$CORDON" run -p "$tmp/net.yaml" --workdir "$work" --owner ann -- ./call "$1" 2>"$tmp/err"; }
said() { grep -o 'beside [0-9a-f]*, which has another.*' "$tmp/err" | sed 's/beside [0-9a-f]*,/beside ID,/'; }
other="beside ID, which has another set of credentials or gateway.yaml"

# --- --owner ---

credentials 'env: TEST_TOKEN'
owned a >/dev/null
is "an owner's commands with the same credentials share a sandbox" "$(owned b):$(said)" a:
is "and the credential arrives" "$(last_key)" "$TEST_TOKEN"
# changes NAME COMMAND...: what comes after COMMAND has a sandbox of its own; and what comes before it is used again
changes()
{
	local name=$1
	shift
	forget
	"$@"
	is "$name: a sandbox of its own" "$(owned "$name"):$(said)" ":$other"
	is "... which is used from then on" "$(owned "$name"):$(said)" "$name:"
}
TEST_TOKEN=cordon-test-second-77aa changes "another value of the variable" true
TEST_TOKEN=cordon-test-second-77aa owned x >/dev/null
is "... and its value arrives" "$(last_key)" cordon-test-second-77aa
is "whoever has the first value is in the first" "$(owned b):$(said)" b:
is "... with that value" "$(last_key)" cordon-test-first-61c0
(unset TEST_TOKEN; owned x >"$tmp/out")
like "without the variable there is no sandbox, as without --owner" "$(cat "$tmp/out" "$tmp/err")" '^cordon: .*TEST_TOKEN is not set'
TEST_TOKEN='' owned x >"$tmp/out"
like "... nor with an empty one" "$(cat "$tmp/out" "$tmp/err")" '^cordon: .*TEST_TOKEN is not set'
TEST_UNUSED=cordon-test-unused-3b owned b >/dev/null
is "what the policy uses no credential of may change" "$(said)" ""
stop_all
printf 'cordon-test-file-one\n' >"$tmp/key" && chmod 600 "$tmp/key"
credentials "file: $tmp/key"
owned a >/dev/null
new_file() { printf '%s\n' "$1" >"$tmp/key.new" && chmod 600 "$tmp/key.new" && mv "$tmp/key.new" "$tmp/key"; }
changes "another value in the file, by rename" new_file cordon-test-file-two
is "... and its value arrives" "$(last_key)" cordon-test-file-two
new_file cordon-test-file-two
is "the same value in another file is the same" "$(owned x):$(said)" "another value in the file, by rename:"
changes "another header" credentials "file: $tmp/key" api.test x-other-key
changes "another host" credentials "file: $tmp/key" other.test
changes "a command in place of the file" credentials "command: [cat, $tmp/key]"
changes "another command" credentials "command: [sh, -c, 'cat $tmp/key']"
stop_all
credentials "command: [cat, $tmp/key]"
owned a >/dev/null
PASSWORD_STORE_DIR=$tmp changes "a command that another password store is given to" true
DBUS_SESSION_BUS_ADDRESS=unix:path=$tmp/bus changes "a command that another session's keyring is given to" true
SSH_AUTH_SOCK=$tmp/agent GPG_TTY=/dev/pts/9 DBUS_SESSION_BUS_ADDRESS=unix:path=$tmp/bus owned x >/dev/null
is "another terminal and ssh agent are the same user's" "$(said)" ""
stop_all
credentials 'env: TEST_TOKEN'
owned a >/dev/null
changes "gateway.yaml without resolve" sed -i '/other.test/d' "$config/gateway.yaml"
changes "gateway.yaml with a proxy" sed -i '1a upstream_proxy: http://127.0.0.1:9' "$config/gateway.yaml"
cp "$tmp/gateway.yaml" "$config/gateway.yaml"
cp "$up/ca.pem" "$tmp/ca.pem"
sed -i "s#^ca_file: .*#ca_file: $tmp/ca.pem#" "$config/gateway.yaml"
is "ca_file under another name, with the same bytes, is the same" "$(owned b):$(said)" a:
changes "other certificates in ca_file" cp "$up/server.pem" "$tmp/ca.pem"
cp "$tmp/gateway.yaml" "$config/gateway.yaml"
mkdir -p "$tmp/config2/cordon" && cp "$config"/*.yaml "$tmp/config2/cordon/"
XDG_CONFIG_HOME=$tmp/config2 owned x >/dev/null
like "another folder of the operator's is another sandbox" "$(said)" "another (policy|set of credentials)"
sed -i 's/bearer: true/header: x, format: "{}"/; s/hosts: \[api.test\]/hosts: ["*.test"]/' "$tmp/config2/cordon/credentials.yaml"
XDG_CONFIG_HOME=$tmp/config2 owned x >/dev/null
is "... and one for other files in it" "$(said)" "$other"
stop_all
for i in 1 2 3; do TEST_TOKEN=cordon-test-many-$((i % 2)) owned "$i" >/dev/null & done
TEST_TOKEN=cordon-test-many-0 owned 4 >/dev/null
wait $(jobs -p | grep -v -e "^$upstream_pid\$")
is "calls with two values at the same time make two sandboxes" "$(kept)" 2
for i in $(seq 9); do TEST_TOKEN=cordon-test-slot-$i owned "$i" >/dev/null; done
is "with more values than an owner has places each has its own" "$(TEST_TOKEN=cordon-test-slot-9 owned x):$(last_key)" "9:cordon-test-slot-9"
stop_all

# nothing that could be tried guesses on
owned a >/dev/null
is "no digest of the value is on disk" "$(grep -rlF -e "$(printf %s "$TEST_TOKEN" | sha256sum | cut -c1-64)" -e "$TEST_TOKEN" "$tmp/state" "$tmp/cache" 2>/dev/null)" ""
digests() { { ls "$tmp/state/cordon/owned"; cat "$tmp/state/cordon/owned"/*; } | grep -oE '[0-9a-f]{64}' | sort -u; }
one=$(digests)
stop_all
TEST_TOKEN=cordon-test-second-77aa owned a >/dev/null
is "... nor anything that changes with it" "$(digests)" "$one"
stop_all

# --- --warm ---

warm() { "$CORDON" run -p "$tmp/net.yaml" --workdir "$work" --warm 1 -- sh -c 'ls /tmp/.. >/dev/null; ./call x; cat /proc/sys/kernel/random/boot_id >/dev/null' 2>"$tmp/err"; }
is_new() { local ids; ids=$(ls "$tmp/state/cordon/runs"); forget; warm >/dev/null; until_true ready 1; }
warm >/dev/null
until_true ready 1
id=$("$CORDON" ps -q)
is_new
like "a run with the same credentials takes a prepared sandbox" "$("$CORDON" ps -aq | tr '\n' ' ')" "$id"
is "... and its credential arrives" "$(last_key)" "$TEST_TOKEN"
id=$("$CORDON" ps -q)
export TEST_TOKEN=cordon-test-third-90ff
is_new
is "with another value it takes none" "$(last_key)" cordon-test-third-90ff
ended() { ! "$CORDON" ps -q | grep -q "$id"; }
ok "... and what was prepared with the old one ends" until_true ended
is "... and is prepared anew" "$(is_new; last_key)" cordon-test-third-90ff
id=$("$CORDON" ps -q)
credentials 'env: TEST_TOKEN' other.test
is_new
is "with a credential bound to another host it takes none" "$(arrived)" 0
ok "... and what was prepared ends" until_true ended
credentials 'env: TEST_TOKEN'
is_new
id=$("$CORDON" ps -q)
sed -i '/api.test/d' "$config/gateway.yaml"
is_new
is "without the name in gateway.yaml nothing arrives" "$(arrived)" 0
ok "... and what was prepared ends" until_true ended
cp "$tmp/gateway.yaml" "$config/gateway.yaml"
stop_all

# --- without a gateway ---

printf '#!/bin/sh\necho asked >>%s\nexit 1\n' "$tmp/asked" >"$tmp/source" && chmod 755 "$tmp/source"
credentials 'env: TEST_TOKEN'
printf 'version: 1\nextends: [default]\n' >"$tmp/none.yaml"
plain() { "$CORDON" run -p "$tmp/none.yaml" --workdir "$work" --owner bob -- sh -c 'cat /tmp/mark 2>/dev/null; echo here >/tmp/mark' 2>"$tmp/err"; }
plain
export TEST_TOKEN=cordon-test-fourth-12ab
is "a policy that needs no gateway asks for no credential" "$(plain):$(said)" here:
is "... and starts nothing for it" "$(strace -f -qq -e trace=execve,execveat -o "$tmp/trace" timeout 20 "$CORDON" run -p "$tmp/none.yaml" --workdir "$work" --owner bob -- true 2>/dev/null; grep -c vault "$tmp/trace")" 0
stop_all
finish
