#!/bin/bash
# network.ask: a person at the terminal may allow a host for the run; whoever says nothing says no.
. "$(dirname "$0")/../gate_lib.sh"

cat >"$tmp/ask.yaml" <<'Y'
version: 1
extends: [default]
network:
  mode: allowlist
  ask: true
  allow:
    - host: tunnel.test
  deny: [{host: never.test}]
Y
start_upstream tunnel.test other.test never.test || finish

# at_terminal KEYS CMD...: runs it in the sandbox on a terminal of its own and types KEYS when the question comes; prints what the terminal showed.
at_terminal()
{
	python3 - "$@" <<'PY'
import os, pty, select, sys, time
keys, argv = sys.argv[1], sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execv(argv[0], argv)
seen, asked, end = b"", 0, time.time() + 60
while time.time() < end:
    ready, _, _ = select.select([fd], [], [], 1)
    if not ready:
        continue
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    if not data:
        break
    seen += data
    if seen.count(b"[y/N") > asked and asked < len(keys):
        if keys[asked] == "R":  # what a terminal says by itself when it is asked for a mode: it ends in y
            time.sleep(0.6)
            os.write(fd, b"\x1b[?1;2$y")
        elif keys[asked] == "Q":  # too soon to be a person
            os.write(fd, b"y")
        else:
            time.sleep(0.6)
            os.write(fd, keys[asked].encode())
        asked += 1
os.waitpid(pid, 0)
sys.stdout.write(seen.decode(errors="replace"))
PY
}

asking() { at_terminal "$1" "$CORDON" run -p "$tmp/ask.yaml" --workdir "$work" -- "${@:2}"; }

out=$(asking y curl -sS -m 20 https://other.test/yes)
like "a person is asked about a host that no rule allows" "$out" 'asks for other\.test:443'
like "yes lets the connection go on that waited for it" "$out" 'hello from other\.test/yes'
at_terminal y "$CORDON" run -p "$tmp/ask.yaml" --workdir "$work" --learn "$tmp/kept.yaml" -- curl -sS -m 20 https://other.test/ >/dev/null
like "an answer can be kept, by --learn" "$(cat "$tmp/kept.yaml")" 'host: "other\.test"  # allowed by a person 1 time'
at_terminal n "$CORDON" run -p "$tmp/ask.yaml" --workdir "$work" --learn "$tmp/kept.yaml" -- curl -sS -m 20 https://other.test/ >/dev/null
like "and a no is told as one" "$(cat "$tmp/kept.yaml")" 'host: "other\.test"  # refused 1 time'
before=$(arrived)
out=$(asking n curl -sS -m 20 https://other.test/no)
like "no refuses it" "$out" '403|CONNECT tunnel failed'
is "no: nothing reached the upstream" "$(arrived)" "$before"
out=$(asking y sh -c 'curl -sS -m 20 https://other.test/one; curl -sS -m 20 https://other.test/two')
is "a yes holds for the run" "$(grep -o 'hello from other.test/[a-z]*' <<<"$out" | tr '\n' ' ')" "hello from other.test/one hello from other.test/two "
out=$(asking nn sh -c 'curl -sS -m 20 https://other.test/; curl -sS -m 20 https://other.test/')
is "a no is not asked again" "$(grep -c 'asks for' <<<"$out")" "1"
out=$(asking y curl -sS -m 20 https://never.test/)
is "what is denied is not asked about" "$(grep -c 'asks for' <<<"$out")" "0"
out=$(asking y curl -sS -m 20 --noproxy '*' https://other.test/direct)
like "a program that knows no proxy waits too" "$out" 'hello from other\.test/direct'
before=$(arrived)
asking R curl -sS -m 5 https://other.test/report >/dev/null
is "what the terminal types by itself is no answer" "$(arrived)" "$before"
asking Q curl -sS -m 5 https://other.test/quick >/dev/null
is "nor is a key that was typed before the question could be read" "$(arrived)" "$before"
"$CORDON" run -p "$tmp/ask.yaml" --workdir "$work" -- curl -sS -m 10 https://other.test/ </dev/null >"$tmp/out" 2>&1
is "without a terminal the answer is no" "$(arrived)" "$before"
out=$(setsid -w "$CORDON" run -p "$tmp/ask.yaml" --workdir "$work" -- curl -sS -m 10 http://other.test/ </dev/null 2>&1)
like "and the workload gets its denial" "$out" policy_denied
is "which promises nobody" "$(grep -c 'person is being asked' <<<"$out")" 0
out=$(asking n curl -sS -m 10 http://other.test/)
like "where there is one it says so" "$out" 'person is being asked'
like "the answer is in the log" "$(find "$tmp/state" -name audit.jsonl -exec cat {} +)" 'network\.ask'

# The operator's ceiling
printf 'version: 1\nnetwork: {mode: allowlist, allow: [{host: tunnel.test}]}\n' >"$config/policy.yaml"
before=$(arrived)
out=$(asking y curl -sS -m 10 https://other.test/)
is "below a ceiling's list nobody is asked about what is outside of it" "$(grep -c 'asks for' <<<"$out"),$(arrived)" "0,$before"
printf 'version: 1\nnetwork: {mode: allowlist, ask: true, allow: [{host: tunnel.test}]}\n' >"$config/policy.yaml"
out=$(asking y curl -sS -m 20 https://other.test/above)
like "unless the ceiling has them asked" "$out" 'hello from other\.test/above'
# what a person allowed is theirs to allow only as long as the ceiling has them asked
(
	log=
	in_force() { log=$(audit) && grep -q 'a new policy is in force' "$log"; }
	until_true grep -q /once "$up/log"
	printf 'version: 1\nnetwork: {mode: allowlist, allow: [{host: tunnel.test}]}\n' >"$config/policy.yaml.new"
	mv "$config/policy.yaml.new" "$config/policy.yaml"
	for _ in 1 2 3 4; do until_true in_force >/dev/null && break; done
	touch "$work/go"
) &
changer=$!
# in a copy of the work folder nobody sees the file: there it waits as long as the changer may
longest=600
[ "$runtime" = native ] || longest=200
out=$(asking y sh -c 'curl -sS -m 20 https://other.test/once; n=0; until [ -e go ] || [ $n = '$longest' ]; do sleep 0.1; n=$((n + 1)); done; curl -sS -m 5 https://other.test/again')
wait "$changer"
like "a ceiling that has them asked no more takes back what they allowed" "$(grep -c 'from other.test/once' <<<"$out"),$(grep -c 'from other.test/again' <<<"$out"),$(ls "$work")" '^1,0,go'
rm -f "$config/policy.yaml" "$work/go"
finish
