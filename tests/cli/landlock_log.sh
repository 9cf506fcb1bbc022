#!/bin/bash
# What Landlock denies is in the run's log where the kernel's audit can be read, and only that; elsewhere nothing changes.
#
# As root, with CI or CORDON_TEST_AUDIT set, audit is switched on for as long as this takes, where it was off. What stays behind is a rule that no process is to be followed; without it every process of this machine would be slower until the next boot.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

switch=$CORDON_BUILD/tests/audit-switch
try=$CORDON_BUILD/tests/landlock-try
on=

# log: that of the last run.
log()
{
	"$CORDON" logs --json "$(runs | head -n 1)"
}

# denials: what it has of Landlock's, "DOMAIN ACCESS TARGET" each.
denials()
{
	log | python3 -c '
import json, sys
for line in sys.stdin:
    e = json.loads(line)
    if e["event"] == "denial" and e.get("by") == "landlock":
        print(e["domain"], e["access"], e["target"].encode("unicode_escape").decode())'
}

field()
{
	log | grep -o "\"$1\":[a-z0-9]*" | head -n 1
}

doctor_value()
{
	"$CORDON" doctor --json | python3 -c 'import json,sys; print([c["value"] for c in json.load(sys.stdin)["checks"] if c["id"] == "audit"][0])' 2>/dev/null
}

end()
{
	[ -z "$on" ] || "$switch" off
	tap_cleanup
}
trap end EXIT

policy <<'END'
filesystem: {workdir: read-write}
END

if ! is_root; then
	inside /bin/sh -c 'kill -0 1'
	is "for an ordinary user nothing is recorded, and the log says so" "$(field landlock_logged) $(denials)" '"landlock_logged":false '
	like "doctor says why" "$(doctor_value)" "^(not for this user|this kernel's Landlock makes none)$"
	skip "what Landlock denies is in the log" "only root may read the kernel's audit"
	finish
fi

if ! has_landlock || ! state_now=$("$switch" get 2>"$tmp/why") || [ "$(doctor_value)" = "this kernel's Landlock makes none" ]; then
	skip "what Landlock denies is in the log" "this kernel has no audit, or Landlock makes no records here: $(cat "$tmp/why" 2>/dev/null)"
	finish
fi

read -r enabled failure daemon rate <<<"$state_now"
if [ "$enabled" = 0 ]; then
	inside /bin/sh -c 'kill -0 1'
	is "with audit switched off nothing is recorded, and the log says so" "$(field landlock_logged) $(denials)" '"landlock_logged":false '
	is "doctor says that it is off" "$(doctor_value)" "the kernel's audit is off"
	is "and it stays off: cordon does not switch it on" "$("$switch" get)" "$state_now"
	if [ -z "${CI:-}${CORDON_TEST_AUDIT:-}" ]; then
		skip "with audit on" "it is off, and switching it on leaves a rule behind on this machine: CORDON_TEST_AUDIT=1 lets this suite do it"
		finish
	fi
	on=1
	"$switch" on || { on=; skip "with audit on" "it cannot be switched on here"; finish; }
fi
if [ "$failure" = 2 ] || { [ "$daemon" != 0 ] && [ "$rate" = 0 ]; }; then
	inside /bin/sh -c 'kill -0 1'
	is "where records could do harm, none are asked for" "$(field landlock_logged)" '"landlock_logged":false'
	finish
fi

is "doctor says that they are read" "$(doctor_value)" "read by cordon"

inside /bin/sh -c 'kill -TERM 1; kill -0 1; exit 3'
is "the command ends as it would without" "$status" 3
like "a signal to who is outside of the domain is in the log" "$(denials)" '^process scope.signal process [0-9]+ [^
]*
process scope.signal process [0-9]+ [^
]*$'
is "the start says that it will be" "$(field landlock_logged)" '"landlock_logged":true'
is "the exit counts it" "$(field denials)" '"denials":2'
ok "the chain holds" "$CORDON" audit verify "$(runs | head -n 1)"
like "audit show names what was asked for" "$("$CORDON" audit show "$(runs | head -n 1)")" 'deny +process [0-9]+ .* \(scope\.signal\); rule: signals to others'

# Landlock alone keeps what the host's shell opened for writing from being read; its name is the host's, and hostile
out="$tmp/o\" domain=1 path=\"y"$'\n'"\\"
: >"$out"
chmod 666 "$out" && chmod 755 "$tmp"
"$CORDON" run --policy "$tmp/policy.yaml" -- /bin/sh -c 'cat /dev/stdout' >"$out" 2>/dev/null </dev/null
is "a path arrives as it is, whatever stands in it" "$(denials)" "filesystem fs.read_file $(printf %s "$out" | python3 -c 'import sys; sys.stdout.write(sys.stdin.read().encode("unicode_escape").decode())')"

lost=0
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	inside /bin/sh -c 'kill -0 1'
	[ "$(denials | grep -c .)" = 1 ] || lost=$((lost + 1))
done
is "what is denied last of all is there, in each of $i runs" "$lost" 0

before=$SECONDS
inside /bin/sh -c 'i=0; while [ $i -lt 30000 ]; do kill -0 1; i=$((i+1)); done 2>/dev/null'
# the kernel says how many there were when the domain ends; on a machine that is busy that may be dropped like any other record
like "of a flood all are counted, or the log says that records were lost" "$(log)" '"denials":30000|records of the kernel.s audit were lost'
ok "some are listed" [ "$(denials | grep -c .)" -ge 50 ]
ok "and no more than 50 of a second" [ "$(denials | grep -c .)" -le $((50 * (SECONDS - before + 2))) ]

# others: one before the run, that goes on, and one after its start
"$try" stranger 2000000 &
strangers=$!
in_background /bin/sh -c 'echo here; until [ -e go ]; do sleep 0.1; done; kill -0 1'
"$try" cordon-AAAAAAAA 3
touch go
ended "$pid"
kill "$strangers" 2>/dev/null
wait "$strangers" 2>/dev/null
like "what others are denied is not in it, even in a flood" "$(denials | grep -vc scope.signal):$(log | grep -c '"event":"exit"')" '^0:1$'
like "and its own is, or the log says that records were lost" "$(log)" 'scope\.signal|records of the kernel.s audit were lost'

rm -f go
cp "$try" "$work/try"
chmod 755 "$work/try"
inside ./try own 5
is "nor is what a workload's own Landlock denies it" "$status:$(denials)" "0:"

# two at once, each with its own number of denials
in_background /bin/sh -c 'until [ -e go ]; do sleep 0.05; done; kill -0 1; kill -0 1; sleep 0.2'
first=$id first_pid=$pid
in_background /bin/sh -c 'until [ -e go ]; do sleep 0.05; done; kill -0 1; kill -0 1; kill -0 1; sleep 0.2'
second=$id
touch go
wait "$first_pid" "$pid"
is "two runs at once have their own" "$(events "$first" denial | grep -c '"by":"landlock"'):$(events "$second" denial | grep -c '"by":"landlock"')" "2:3"

rm -f go
in_background /bin/sh -c 'until [ -e go ]; do sleep 0.05; done'
"$CORDON" exec "$id" -- /bin/sh -c 'kill -0 1; kill -0 1' 2>/dev/null
is "so has a further command" "$(until_true eval '[ "$(events "$id" denial | grep -c landlock)" = 2 ]' && echo yes)" yes
touch go
ended "$pid"

if command -v crun >/dev/null && ! ldd "${CORDON%/*}/cordon-init" 2>/dev/null | grep -q "=>"; then
	rm -f go
	policy <<<'process: {runtime: crun}'
	in_background /bin/sleep 60
	# it is listed before it runs
	until_true "$CORDON" exec "$id" -- /bin/sh -c 'for p in /proc/[0-9]*; do kill -0 "${p#/proc/}"; done; true'
	"$CORDON" stop "$id" 2>/dev/null
	ended "$pid"
	like "so it is in a container" "$(events "$id" denial)" '"target":"process [0-9]+ sleep","access":"scope.signal"'
	policy <<<'filesystem: {workdir: read-write}'
else
	skip "so it is in a container" "there is no crun here, or cordon-init is not static (sanitizers)"
fi

inside /bin/sh -c 'read -r name </proc/self/comm; echo "$name"'
is "the name that marked the command is gone when it runs" "$said" "sh"

outside "$CORDON" run --policy "$tmp/policy.yaml" --learn "$tmp/learned.yaml" -- /bin/sh -c 'kill -0 1'
like "--learn remarks on it" "$(cat "$tmp/learned.yaml")" '# .*process: process [0-9]+ .*signals to others'

runuser -u nobody -- true 2>/dev/null && chmod 755 "$tmp" && {
	# the stream is root's: from a user namespace it cannot be had, whatever capabilities there are
	outside unshare --user --map-root-user "$CORDON" doctor --json
	like "root of a user namespace does not get it" "$said" '"id":"audit"[^}]*"value":"not for this user"'
}
outside unshare --net "$CORDON" doctor --json
like "in another network namespace doctor says where the stream is" "$said" '"id":"audit"[^}]*"value":"not in this network namespace"'
finish
