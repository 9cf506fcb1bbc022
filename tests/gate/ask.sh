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

# at_terminal KEYS CMD...: runs it in the sandbox on a terminal of its own and answers one question after the other by KEYS; prints what the terminal showed. y: what Cordon's question says is typed; n: Enter; o: "y", as other
# programs ask for it; e: first something else, which is rubbed out; f: what a question says that the workload made up, where one was seen; R: what a terminal says by itself when it is asked for a mode; Q: too soon to be a person.
at_terminal()
{
	python3 - "$@" <<'PY'
import os, pty, re, select, sys, time
keys, argv = sys.argv[1], sys.argv[2:]
os.environ["TERM"] = "xterm"
pid, fd = pty.fork()
if pid == 0:
    os.execvp(argv[0], argv)
seen, asked, end = b"", 0, time.time() + 60
question = re.compile(rb"\r\n\x1b\[J\x1b#5cordon: the sandbox asks for .*?Type (.*?) and Enter .*? refuse it: (\S+) > ")
forged = re.compile(rb"forged.*Type (\w+) and Enter")
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
    asks = question.findall(seen)
    if len(asks) > asked and asked < len(keys):
        word, name = asks[asked]
        yes = word if word.isdigit() else name
        if keys[asked] != "Q":
            time.sleep(0.6)
        made_up = forged.findall(seen)
        os.write(fd, {"y": yes + b"\r", "n": b"\r", "o": b"y\r", "e": b"7\x7f" + yes + b"\r", "f": made_up[-1] + b"\r" if made_up else b"", "R": b"\x1b[?1;2$y", "Q": yes + b"\r"}[keys[asked]])
        asked += 1
os.waitpid(pid, 0)
sys.stdout.write(seen.decode(errors="replace"))
PY
}

asking() { at_terminal "$1" "$CORDON" run -p "$tmp/ask.yaml" --workdir "$work" -- "${@:2}"; }

out=$(asking y curl -sS -m 20 https://other.test/yes)
like "a person is asked about a host that no rule allows" "$out" 'asks for a host that no rule allows.*: other\.test:443 > '
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
asking o curl -sS -m 5 https://other.test/other >/dev/null
is "nor is a y" "$(arrived)" "$before"
like "what was typed wrongly can be rubbed out" "$(asking e curl -sS -m 20 https://other.test/rubbed)" 'hello from other\.test/rubbed'

# A workload that prints a question of its own, and does what it can to hide ours
before=$(arrived)
for hides in '\033[8m' '\033[30;40m' '\033(0' '\016\033)0' '\033[1;2r\033[?6h' '\033]0;swallowed' '\033P' '\033[38;5' '\033]10;#000\007\033]11;#000\007' '\033]4;7;#000\007' '\033[?2026h' '\033#3' '\033[?2l' '\033[4i\033[5i' '\033[?25l\033[?7l\033[4h'; do
	cat >"$work/forge.sh" <<-SH
		printf '\r\ncordon: forged: the sandbox asks for a host that no rule allows. Type 0000 and Enter to allow it for this run; Enter alone, or 30 seconds, refuse it: tunnel.test:443 > $hides'
		curl -sS -m 10 https://other.test/forged
	SH
	out=$(asking f sh forge.sh)
	is "who answers the workload's question opens nothing ($(printf %q "$hides"))" "$(arrived)" "$before"
	like "and the question of Cordon can be read" "$out" $'\030\033\\\\\033<.*\033\\(B\017\033\\[0m.*\033\\[\\?25h.*\033\\[r.*\r\n\033\\[J\033#5cordon: the sandbox asks for [^\033]*other\\.test:443 > '
done
is "two questions have two numbers" "$(asking nn sh -c 'curl -sS -m 20 https://other.test/; curl -sS -m 20 http://other.test/' | grep -o 'Type [0-9]* and' | sort | uniq -d)" ""
like "where others show what the workload prints, yes is the name" "$(at_terminal y bash -c '"$@" 2>&1 | cat' _ "$CORDON" run -p "$tmp/ask.yaml" --workdir "$work" -- curl -sS -m 20 https://other.test/named)" 'name and port as they stand here.*hello from other\.test/named'
before=$(arrived)
at_terminal o bash -c '"$@" 2>&1 | cat' _ "$CORDON" run -p "$tmp/ask.yaml" --workdir "$work" -- curl -sS -m 5 https://other.test/named >/dev/null
is "and nothing else" "$(arrived)" "$before"
out=$(asking y sh -c 'trap "echo drawn again" WINCH; printf "\033[?1049h"; curl -sS -m 20 https://other.test/; sleep 0.3; printf "\033[?1049l"')
like "a program that fills the screen is told to draw it again" "$out" 'allowed.*drawn again'
rm -f "$work/forge.sh"
before=$(arrived)

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
