#!/bin/bash
# A policy that changes while a run goes on: by saving, by renaming, by SIGHUP, by `policy push`; and the policy that a run teaches.
. "$(dirname "$0")/../gate_lib.sh"

export TEST_API_KEY=cordon-test-secret-5f1d0c9a7b3e TEST_MODEL_KEY=cordon-test-model-80d2b6e94c17
cat >"$config/credentials.yaml" <<'Y'
version: 1
credentials:
  key: {from: {env: TEST_API_KEY}, hosts: [late.test], inject: {header: x-api-key, format: "{}"}}
  model: {from: {env: TEST_MODEL_KEY}, hosts: [model.test], inject: {header: x-api-key, format: "{}"}}
  slow: {from: {command: [sh, -c, "sleep 1; echo slow-test-secret-77aa01"]}, hosts: [second.test], inject: {header: x-api-key, format: "{}"}}
  failing: {from: {command: [sh, -c, "sleep 0.2; echo no >&2; exit 3"]}, hosts: [bad.test], inject: {header: x-api-key, format: "{}"}}
Y
start_upstream first.test second.test third.test late.test bad.test model.test "a.many.test" || finish
helper 127.0.0.1:8080 python3 "$tests_dir/gate/origin.py" "$up" 127.0.0.1 8080 8443
cp "$tests_dir/gate/inside.py" "$work/"

# write_policy HOST...: with a rule for each.
write_policy()
{
	local host
	printf 'version: 1\nextends: [default]\nnetwork:\n  mode: allowlist\n  allow:\n'
	for host; do printf '    - %s\n' "$host"; done
}

# A run that does what it is told: lines to fd 5, what they print in $tmp/told.
mkfifo "$tmp/orders"
begin()
{
	"$CORDON" run "$@" --workdir "$work" -- sh -c 'while read -r line; do eval "$line"; done' <"$tmp/orders" >>"$tmp/told" 2>>"$tmp/err" &
	run=$!
	exec 5>"$tmp/orders"
	ask true >/dev/null
	id=$("$CORDON" ps --quiet | head -1)
}
# ask COMMAND: what it prints inside.
ask()
{
	local asked=$RANDOM$RANDOM
	echo "echo begin $asked; $1; echo end $asked" >&5
	until_true grep -qx "end $asked" "$tmp/told" || echo "# no answer inside"
	sed -n "/^begin $asked\$/,/^end $asked\$/p" "$tmp/told" | sed '1d;$d'
}
end()
{
	exec 5>&-
	wait "$run"
}
# has WORD FILE: of those that are written inside, which the host may see only when the run has ended.
has() { [ "$(ask "grep -q -e ${1//,/ -e } $2 && echo yes")" = yes ]; }
get() { ask "curl -sS -m 5 -o /dev/null -w '%{http_code} %{http_connect}' https://$1/ 2>/dev/null; echo"; }
reloads() { grep -c 'a new policy is in force' "$(audit)"; }
# changes COMMAND...: does it, and waits until a new policy is in force.
changes()
{
	local before
	before=$(reloads)
	"$@"
	for _ in $(seq 100); do [ "$(reloads)" -gt "$before" ] && return; sleep 0.02; done
	echo "# no new policy came into force"
}
save() { write_policy "$@" >"$tmp/net.yaml"; }
rename_over() { write_policy "$@" >"$tmp/new.yaml" && mv "$tmp/new.yaml" "$tmp/net.yaml"; }

save "{host: first.test}"
begin -p "$tmp/net.yaml"
is "before: an allowed host" "$(get first.test)" "200 200"
is "before: a host that is not allowed" "$(get second.test)" "000 403"

# Saving
changes save "{host: first.test}" "{host: second.test}"
is "saving the file: a newly allowed host works" "$(get second.test)" "200 200"
is "... also without a proxy" "$(ask "curl -sS -m 5 --noproxy '*' https://second.test/direct")" "hello from second.test/direct"
is "... others as before" "$(get first.test)" "200 200"
changes save "{host: second.test}"
is "saving the file: a newly forbidden host is refused" "$(get first.test)" "000 403"
is "... and does not resolve" "$(ask "getent hosts first.test; echo \$?")" "2"

# Renaming over it
changes rename_over "{host: first.test}" "{host: third.test}"
is "renaming another file over it" "$(get third.test) $(get second.test)" "200 200 000 403"
changes rename_over "{host: first.test}"
is "... and again: it is the new file that is watched" "$(get third.test)" "000 403"

# SIGHUP
touch -d '2001-01-01' "$tmp/net.yaml"
changes kill -HUP "$run"
is "SIGHUP reads it again" "$(get first.test)" "200 200"

# policy push
write_policy "{host: second.test}" >"$tmp/pushed.yaml"
changes "$CORDON" policy push "$id" "$tmp/pushed.yaml"
is "policy push: another file" "$(get second.test) $(get first.test)" "200 200 000 403"
changes "$CORDON" policy push "$id" <(sleep 0.3; write_policy "{host: third.test}")
is "policy push: what comes through a pipe" "$(get third.test) $(get second.test)" "200 200 000 403"
changes "$CORDON" policy push "$id" /dev/stdin < <(write_policy "{host: second.test}")
is "... by the name of the one that is read" "$(get second.test) $(get third.test)" "200 200 000 403"
mkfifo "$tmp/fifo"
timeout 20 "$CORDON" policy push "$id" "$tmp/fifo" >/dev/null 2>&1
is "a FIFO in the place of a file is not waited for" "$?" "125"
write_policy "{hots: second.test}" >"$tmp/wrong.yaml"
"$CORDON" policy push "$id" "$tmp/wrong.yaml" >"$tmp/push.out" 2>"$tmp/push.err"
is "policy push of an invalid file fails" "$?" "125"
like "... names file and line" "$(cat "$tmp/push.err")" 'wrong\.yaml:6'
is "... and changes nothing" "$(get second.test) $(get first.test)" "200 200 000 403"
write_policy "{host: first.test}" "{host: late.test, credential: none-such}" >"$tmp/unknown.yaml"
"$CORDON" policy push "$id" "$tmp/unknown.yaml" >"$tmp/push.out" 2>"$tmp/push.err"
is "policy push of a policy with an unknown credential fails" "$?" "125"
like "... names it" "$(cat "$tmp/push.err")" 'credential none-such: is not in credentials\.yaml'
is "... and changes nothing" "$(get second.test) $(get first.test)" "200 200 000 403"
printf 'version: 1\nextends: [default]\n' >"$tmp/offline.yaml"
"$CORDON" run --keep -p "$tmp/offline.yaml" --workdir "$work" -- true 2>/dev/null
offline=$("$CORDON" ps -q | grep -v "$id")
"$CORDON" policy push "$offline" "$tmp/pushed.yaml" >"$tmp/push.out" 2>"$tmp/push.err"
is "policy push to a run without a gateway fails" "$?" "125"
like "... says why, and what to do" "$(cat "$tmp/push.err")" '^cordon: this run was started without network and models, and cannot be given them: start it anew with the other policy'
like "... and the log has it" "$("$CORDON" logs "$offline")" 'a new policy was refused, the last one stays: this run was started without network and models, .*: start it anew with the other policy'
is "... nothing is open by it" "$("$CORDON" exec "$offline" -- sh -c 'env | grep -ci _proxy=; ls /sys/class/net 2>/dev/null | grep -v ^lo$')" "0"
"$CORDON" stop -t 0 "$offline"
"$CORDON" policy push 00000000 "$tmp/pushed.yaml" >"$tmp/push.out" 2>"$tmp/push.err"
is "policy push to no run fails" "$?" "125"

# An open tunnel, and a request in an inspected one
changes save "{host: first.test}" "{host: third.test, methods: [GET]}" "{host: second.test}"
ask "python3 inside.py tunnel second.test >tunnel.out 2>&1 & true" >/dev/null
ask "python3 inside.py twice third.test go >twice.out 2>&1 & true" >/dev/null
until_true has open tunnel.out
until_true has open twice.out
is "a tunnel is open, and a connection that is looked into" "$(ask 'cat tunnel.out twice.out')" $'open HTTP/1.1 200\nopen 200'
changes save "{host: first.test}"
until_true has closed tunnel.out
like "the tunnel is closed when its host is forbidden" "$(ask 'cat tunnel.out')" 'closed$'
ask "touch go" >/dev/null
until_true has again,Error twice.out
like "the next request on the other is refused" "$(ask 'cat twice.out')" 'again 403|Error'
is "what is still allowed goes on" "$(get first.test)" "200 200"
changes save "{host: first.test}" "{host: second.test}"
ask "python3 inside.py tunnel second.test >kept.out 2>&1 & true" >/dev/null
until_true has open kept.out
changes save "{host: second.test}" "{host: third.test}"
sleep 0.3
is "a tunnel that the new policy allows too stays" "$(ask 'cat kept.out')" "open HTTP/1.1 200"

# An invalid file
for text in 'version: 1
network: {mode: allowlist, allow: [{hots: x}]}' 'version: 1
network: [' 'version: 2' ''; do
	: >"$tmp/err"
	printf '%s\n' "$text" >"$tmp/net.yaml"
	until_true test -s "$tmp/err"
	like "an invalid file is said on stderr: ${text:11:20}" "$(cat "$tmp/err")" '^cordon: the new policy is refused, the last one stays: .*net\.yaml'
	is "... in one line" "$(wc -l <"$tmp/err")" "1"
	is "... and changes nothing" "$(get second.test) $(get first.test)" "200 200 000 403"
done
like "... and it is in the log" "$(cat "$(audit)")" 'a new policy was refused, the last one stays'
rm "$tmp/net.yaml"
kill -HUP "$run"
is "a file that is gone changes nothing" "$(get second.test) $(get first.test)" "200 200 000 403"
changes save "{host: first.test}"
is "a valid one is taken after all of that" "$(get second.test) $(get first.test)" "000 403 200 200"

# What waits for a restart
: >"$tmp/err"
changes eval 'save "{host: first.test}" "{host: third.test}"; printf "filesystem:\n  read: [/opt]\nprocess:\n  memory: 1G\n" >>"$tmp/net.yaml"'
until_true grep -q waits "$tmp/err"
like "changes of filesystem and process are told as waiting for a restart" "$(cat "$tmp/err")" 'filesystem and process waits for a restart of the run'
is "... while those of the network are in force" "$(get third.test)" "200 200"

# A credential that was not there at the start
changes save "{host: first.test}" "{host: late.test, credential: key}"
forget
is "a rule with a credential that the first policy did not name" "$(get late.test)" "200 200"
is "... gets it" "$(grep -c "$TEST_API_KEY" "$up/log")" "1"
changes save "{host: first.test}"

# What was sent, and is being answered: by what the new policy says of its body and of its credential
open_rules()
{
	printf '%s\n' "{host: first.test, mcp: {tools: [$1]}}" "{host: late.test, methods: [GET]$2}"
}
# stream NAME URL...: begins to read it, into NAME.out
stream()
{
	local name=$1
	shift
	ask "(curl -sS -N -m 60 $*; e=\$?; echo; echo ended \$e) >$name.out 2>&1 & true" >/dev/null
	until_true has begun "$name.out"
}
say() { echo "/ok/say/626567756e0a/$1/77656e74206f6e0a"; } # "begun", and after so many milliseconds "went on"
danger='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger"}}'
mapfile -t rules < <(open_rules "safe, danger" ", credential: key")
changes save "${rules[@]}"
stream mcp "-H 'content-type: application/json' -d '$danger' https://first.test$(say 3000)"
stream get "https://late.test$(say 3000)"
ask "python3 inside.py hold late.test >ws.out 2>&1 & true" >/dev/null
until_true has open ws.out
mapfile -t rules < <(open_rules "safe, danger, more" ", credential: key")
changes save "${rules[@]}"
until_true has ended mcp.out
until_true has ended get.out
is "what a new policy allows as it was asked goes on" "$(ask 'grep -h -e "went on" mcp.out get.out; cat ws.out' | paste -sd,)" "went on,went on,open 101"
stream mcp "-H 'content-type: application/json' -d '$danger' https://first.test$(say 60000)"
stream get "https://late.test$(say 60000)"
mapfile -t rules < <(open_rules "safe, more" "")
changes save "${rules[@]}"
until_true has ended mcp.out
until_true has ended get.out
until_true has closed ws.out
is "a call that it does not allow any more ends, and what was sent with a credential that it does not add any more" "$(ask 'grep -c -h -e "went on" -e "ended 0" mcp.out get.out; grep -c -h ended mcp.out get.out; tail -n 1 ws.out' | paste -sd,)" "0,0,1,1,closed"

# A provider that comes later: what goes through a tunnel to its host cannot be looked into
changes save "{host: first.test}" "{host: model.test}"
stream get "https://model.test$(say 60000)"
stream other "https://first.test$(say 60000)"
changes eval 'save "{host: first.test}" "{host: model.test}"; printf "inference: {providers: {model: {kind: openai, url: \"https://model.test/v1\", credential: model}}}\n" >>"$tmp/net.yaml"'
until_true has ended get.out
is "a provider that a new policy gives a credential ends the tunnels to its host, and no others" "$(ask 'cat get.out other.out' | grep -c ended)" "1"
until_true grep -q 'base URLs' "$tmp/err"
like "... and that it has no base URL inside before a restart is told" "$(cat "$tmp/err")" 'the base URLs of providers that it was not started with wait for a restart of the run'
like "... in the log, too" "$("$CORDON" logs "$id")" 'in force for network and inference; the base URLs of providers .* restart'
like "... and to who pushes such a policy" "$("$CORDON" policy push "$id" "$tmp/net.yaml" 2>&1)" '^cordon: note: the base URLs of providers that it was not started with wait for a restart'
like "... and its host is looked into from then on" "$(ask "curl -sSv -m 5 -o /dev/null https://model.test/ 2>&1")" 'issuer:.*[Cc]ordon'

# One that goes: what its host still says of it is looked for, wherever the new policy opens the host
# echoes HOST VALUE: how many answers have it, on four ports, and how many came.
echoes()
{
	local path
	path=/ok/say/$(printf 'it was %s.' "$2" | od -An -v -tx1 | tr -d ' \n')
	ask "for u in https://$1 http://$1 https://$1:8443 http://$1:8080; do curl -sS -m 5 -p \$u$path; echo; done" >"$tmp/echoes"
	echo "$(grep -c "$2" "$tmp/echoes") $(grep -c '^it was ' "$tmp/echoes")"
}
open_all() { printf '%s\n' "{host: first.test}" "{host: $1}" "{host: $1, ports: [8080, 8443]}"; }
mapfile -t rules < <(open_all model.test)
changes save "${rules[@]}"
is "a provider that goes: what its host says of its credential is replaced still, on every port" "$(echoes model.test "$TEST_MODEL_KEY")" "0 4"
mapfile -t rules < <(open_all late.test)
changes save "${rules[@]}"
is "a credential that a saved policy withdraws: the same" "$(echoes late.test "$TEST_API_KEY")" "0 4"
like "... by connections that are looked into" "$(ask "curl -sSv -m 5 -o /dev/null https://late.test/ 2>&1")" 'issuer:.*[Cc]ordon'
is "... what is neither TLS nor HTTP does not pass to its host, for nobody could look into it" "$(ask "printf 'x y z\r\n\r\n' | curl -sS -m 5 -p -x http://127.0.0.1:3128 telnet://late.test:8080 2>&1 | grep -c HTTP")" "0"
changes save "{host: first.test}"
write_policy "${rules[@]}" >"$tmp/pushed.yaml"
changes "$CORDON" policy push "$id" "$tmp/pushed.yaml"
is "... by a policy that is pushed, when another was in force between the two" "$(echoes late.test "$TEST_API_KEY")" "0 4"
changes save "{host: first.test}" "{host: late.test, credential: key}" "{host: late.test, ports: [8080]}"
is "... while a rule that stands beside the credential's opens another port for any protocol" "$(echoes late.test "$TEST_API_KEY")" "1 3"
changes save "{host: first.test}" "{host: second.test}"
is "... and hosts that got none are reached by tunnels" "$(ask "curl -sSv -m 5 -o /dev/null https://second.test/ 2>&1 | grep -ci 'issuer:.*cordon'")" "0"

# One that a command takes its time to give
start=$(date +%s%N)
changes save "{host: second.test, credential: slow}"
ok "a policy is in force at once, though a command that gives a credential takes a second" test $((($(date +%s%N) - start) / 1000000)) -lt 700
forget
is "... what needs the credential waits for it" "$(get second.test)" "200 200"
is "... and gets it" "$(grep -c slow-test-secret-77aa01 "$up/log")" "1"
is "... and what is no longer allowed is not" "$(get first.test)" "000 403"
changes save "{host: first.test}" "{host: bad.test, credential: failing}"
forget
is "where it fails, what needs it is refused, and nothing else" "$(get bad.test) $(get first.test) $(arrived)" "502 200 200 200 1"
like "... and the log says so" "$(grep failing "$(audit)")" '"target":"failing"'

# In effect soon
start=$(date +%s%N)
changes save "{host: third.test}"
# the watching above looks every 20 ms
ok "a change is in force within 200 ms" test $((($(date +%s%N) - start) / 1000000)) -lt 200
end
ok "the log's chain holds" "$CORDON" audit verify "$(audit)"

# To and from none
printf 'version: 1\nextends: [default]\n' >"$tmp/none.yaml"
save "{host: first.test}"
begin -p "$tmp/net.yaml"
changes cp "$tmp/none.yaml" "$tmp/net.yaml"
is "mode none closes everything" "$(get first.test)" "000 403"
changes save "{host: first.test}"
is "... and back" "$(get first.test)" "200 200"
end
save "{host: first.test}"
printf 'version: 1\nextends: [net.yaml]\n' >"$tmp/outer.yaml"
begin -p "$tmp/outer.yaml"
changes save "{host: second.test}"
is "a policy that is extended is watched too" "$(get second.test) $(get first.test)" "200 200 000 403"
end

# An owner's sandbox
save "{host: first.test}"
write_policy "{host: second.test}" >"$tmp/pushed.yaml"
owned() { "$CORDON" run --owner me -p "$tmp/net.yaml" --workdir "$work" -- curl -sS -m 5 -o /dev/null -w '%{http_code}' "https://$1/" 2>/dev/null; }
is "an owner's sandbox" "$(owned first.test):$(owned second.test)" "200:000"
kept=$("$CORDON" ps --quiet | head -n 1)
"$CORDON" policy push "$kept" "$tmp/pushed.yaml"
is "one that was given another policy is not handed out under its first one" "$(owned second.test):$(owned first.test)" "000:200"
# whoever has read whose it is, just before that
owned_record=$(grep -l . "$XDG_STATE_HOME"/cordon/owned/* | head -n 1)
cp "$owned_record" "$tmp/record"
kept=$(head -c 8 "$tmp/record")
"$CORDON" policy push "$kept" "$tmp/pushed.yaml"
cp "$tmp/record" "$owned_record"
is "... nor to one who had its name by then" "$(owned second.test):$(owned first.test)" "000:200"
# push does not go between the two
(flock 9; sleep 1; touch "$tmp/handed") 9<"$owned_record" &
until_true sh -c '! flock -n "$1" true' - "$owned_record"
"$CORDON" policy push "$(head -c 8 "$owned_record")" "$tmp/pushed.yaml"
ok "... and while it is being handed out nothing is pushed" test -e "$tmp/handed"
wait $!
for k in $("$CORDON" ps --quiet); do "$CORDON" stop "$k"; done

# A prepared sandbox
if [ "$runtime" = native ]; then
	warm() { "$CORDON" run --warm 1 -p "$tmp/net.yaml" --workdir "$work" -- curl -sS -m 5 -o /dev/null -w '%{http_code}' "https://$1/" 2>/dev/null; }
	prepared() { ready=$(cd "$XDG_STATE_HOME/cordon/warm" && find . -type f ! -name lock | head -n 1) && [ -n "$ready" ]; }
	is "a run that prepares the next" "$(warm first.test)" 200
	until_true prepared || until_true prepared
	"$CORDON" policy push "${ready##*/}" "$tmp/pushed.yaml" 2>"$tmp/push.err"
	is "a sandbox that is nobody's yet takes no policy" "$?" 125
	like "... which is said" "$(cat "$tmp/push.err")" 'prepared for runs under the policy that it has'
	is "... and is handed out as it was" "$(warm second.test)" 000
	like "... that one" "$("$CORDON" logs "${ready##*/}")" 'second\.test'
	# what is being prepared meanwhile, too
	"$CORDON" stop -t 0 --all
else
	skip "a prepared sandbox and another policy" "prepared ones have no folder there that may be written, and this suite's has"
fi

# A link
mkdir -p "$tmp/linked"
rm "$tmp/net.yaml"
save_linked() { write_policy "$@" >"$tmp/linked/real.yaml"; }
save_linked "{host: first.test}"
ln -s linked/real.yaml "$tmp/net.yaml"
begin -p "$tmp/net.yaml"
changes save_linked "{host: second.test}"
is "saving the file that a link leads to" "$(get first.test):$(get second.test)" "000 403:200 200"
end
rm "$tmp/net.yaml"

# Links on the way: "current" folders, and configuration that Kubernetes mounts
mkdir -p "$tmp/v1" "$tmp/v2"
write_policy "{host: first.test}" >"$tmp/v1/net.yaml"
write_policy "{host: second.test}" >"$tmp/v2/net.yaml"
ln -s v1 "$tmp/current"
ln -s current/net.yaml "$tmp/net.yaml"
begin -p "$tmp/net.yaml"
lead() { ln -s "$1" "$tmp/other" && mv -T "$tmp/other" "$tmp/current"; }
changes lead v2
is "having a link on the way lead elsewhere" "$(get first.test):$(get second.test)" "000 403:200 200"
save_there() { write_policy "$1" >"$tmp/v2/net.yaml"; }
changes save_there "{host: first.test}"
is "... and saving the file there" "$(get first.test):$(get second.test)" "200 200:000 403"
lead_anew() { rm "$tmp/current" && ln -s v1 "$tmp/current"; }
changes save_there "{host: second.test}"
changes lead_anew
is "... and making the link anew" "$(get first.test):$(get second.test)" "200 200:000 403"
end
rm -r "$tmp/net.yaml" "$tmp/current" "$tmp/v1" "$tmp/v2"

# Learning. learned NAME COMMAND...: the command is refused, teaches a policy, and succeeds under it.
learned()
{
	local name=$1
	shift
	rm -f "$tmp/learned.yaml"
	"$CORDON" run "${base[@]}" --learn "$tmp/learned.yaml" --workdir "$work" -- "$@" >"$tmp/out" 2>&1
	ok "$name: refused at first" test $? -ne 0
	ok "... what it teaches passes policy check" "$CORDON" policy check "$tmp/learned.yaml"
	ok "... and lets it succeed ($name)" "$CORDON" run -p "$tmp/learned.yaml" --workdir "$work" -- "$@"
	[ "$tap_failed" = "${last_failed:-0}" ] || sed 's/^/# /' "$tmp/learned.yaml"
	last_failed=$tap_failed
}
last_failed=$tap_failed
base=()
learned "--learn: https through the proxy" curl -sS -f -m 5 https://first.test/x
is "... with the one port that was tried" "$(grep -A1 first.test "$tmp/learned.yaml" | grep -c 'ports: \[443\]')" "1"
learned "--learn: https without a proxy" curl -sS -f -m 5 --noproxy '*' https://first.test/x
learned "--learn: plain HTTP" curl -sS -f -m 5 http://first.test/x
learned "--learn: plain HTTP without a proxy" curl -sS -f -m 5 --noproxy '*' http://first.test/x
learned "--learn: SOCKS" curl -sS -f -m 5 --noproxy '' -x socks5h://127.0.0.1:3128 https://first.test/x
learned "--learn: several hosts" sh -c 'curl -sS -f -m 5 https://first.test/; a=$?; curl -sS -f -m 5 http://second.test/; b=$?; curl -sS -f -m 5 https://a.many.test/ && exit $((a + b))'
ip addr add 10.1.2.3/32 dev lo && helper 10.1.2.3:80 python3 "$tests_dir/gate/origin.py" "$up" 10.1.2.3 80 443
learned "--learn: a private address" curl -sS -f -m 5 http://10.1.2.3/
learned "--learn: a private address without a proxy" curl -sS -f -m 5 --noproxy '*' http://10.1.2.3/
write_policy "{host: first.test}" >"$tmp/open.yaml"
printf 'version: 1\nextends: [./open.yaml]\nnetwork: {mode: none}\n' >"$tmp/base.yaml"
base=(-p "$tmp/base.yaml")
learned "--learn: rules of a policy whose network is none open nothing" curl -sS -f -m 5 https://first.test/x
write_policy "{host: first.test, methods: [GET], paths: [/ok/**]}" >"$tmp/base.yaml"
base=(-p "$tmp/base.yaml")
learned "--learn: a method that the rule does not list" curl -sS -f -m 5 -d x https://first.test/ok/x
learned "--learn: a path that the rule does not list" curl -sS -f -m 5 https://first.test/other/path?query=1
is "... without its query" "$(grep -c query "$tmp/learned.yaml")" "0"
learned "--learn: a path with a quote" curl -sS -f -m 5 "https://first.test/it's/a%22b"
write_policy "{host: late.test, methods: [GET], credential: key}" >"$tmp/base.yaml"
learned "--learn: a method of a host that gets a credential" curl -sS -f -m 5 -d x https://late.test/post
is "... keeps the credential" "$(grep -A4 'late.test' "$tmp/learned.yaml" | grep -c 'credential: "key"')" "1"
printf 'version: 1\nextends: [default]\ninference: {providers: {near: {kind: anthropic, url: "https://first.test", models: [claude-a], base_url_env: NEAR_URL}}}\n' >"$tmp/base.yaml"
learned "--learn: a model that the provider does not take" sh -c 'curl -sS -f -m 5 "$NEAR_URL/v1/messages" -H "content-type: application/json" -d "{\"model\":\"claude-b\",\"max_tokens\":5,\"messages\":[]}"'
is "... and takes the others still" "$("$CORDON" policy show "$tmp/learned.yaml" | grep -c 'claude-[ab]')" "2"
write_policy "{host: late.test, methods: [GET], credential: key}" >"$tmp/base.yaml"
cd "$tmp" || exit
base=(-p base.yaml)
learned "--learn: a policy given by a relative path" curl -sS -f -m 5 https://second.test/
mkdir "$tmp/elsewhere" && cd "$tmp/elsewhere" || exit
base=(-p ../base.yaml)
learned "--learn: ... from another folder" curl -sS -f -m 5 https://second.test/
cd "$tmp" || exit
printf 'version: 1\nextends: [default]\nnetwork: {mode: allowlist, allow: [{host: looked.test, methods: [GET], paths: [/ok/**]}], deny: [{host: bad.test}]}\n' >"$tmp/base.yaml"
"$CORDON" run -p "$tmp/base.yaml" --learn "$tmp/learned.yaml" --workdir "$work" -- sh -c 'curl -s -m 5 https://bad.test/; curl -s -m 2 --noproxy "*" http://10.1.2.3/; curl -s -m 2 http://10.1.2.4/
	curl -s -m 2 "http://[fd00::1]:8080/"; curl -s -m 2 http://127.0.0.1:3128/; curl -s -m 2 "https://looked.test/**"; curl -s -m 2 "https://looked.test/a*"; curl -s -m 2 "https://looked.test/a%2Fb"
	curl -s -m 2 -X "!X" https://looked.test/ok/; curl -s -m 2 -X "*" https://looked.test/ok/; curl -s -m 2 https://looked.test/q\"\\; curl -s -m 2 "https://looked.test/caf%c3%a9"' >/dev/null 2>&1
ok "whatever a workload asks for, what is taught passes policy check" "$CORDON" policy check "$tmp/learned.yaml"
is "... and its wildcards are no rules" "$(grep -v '^#' "$tmp/learned.yaml" | grep -c '\*')" "0"
is "... a private address is a network of one" "$(grep -c -e 'cidr: "10.1.2.3/32"' -e 'cidr: "10.1.2.4/32"' -e 'cidr: "fd00::1/128"' "$tmp/learned.yaml")" "3"
is "a name under deny is no rule" "$(grep -c '^ *- host: "bad.test"' "$tmp/learned.yaml")" "0"
like "... but told" "$(grep '^#' "$tmp/learned.yaml")" 'bad\.test'
"$CORDON" run -p "$tmp/base.yaml" --learn "$tmp/learned.yaml" --workdir "$work" -- true
like "a run that was refused nothing teaches nothing" "$(cat "$tmp/learned.yaml")" 'Nothing was refused'
finish
