#!/bin/bash
# With a terminal the sandbox has one of its own: size, keys, job control and bytes are passed on, and the user's is as it was afterwards.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

if ! [ -x /usr/bin/python3 ] || ! /usr/bin/python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
	skip "terminals" "no python3, or no pseudo-terminals here"
	finish
fi
export TERM=xterm-256color PS1='prompt> '

# at_tty STEP... -- CMD...: sets status, said (without carriage returns) and told.
at_tty()
{
	outside timeout 30 "$tests_dir/tools/at_terminal.py" "$@"
	said=$(tr -d '\r\0' <"$tmp/out")
}
run=("$CORDON" run --)

outer=$("$tests_dir/tools/at_terminal.py" -- tty | tr -d '\r')
at_tty -- "${run[@]}" sh -c 'tty; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all three'
like "the sandbox has a terminal of its own" "$said" '^/dev/pts/[0-9]+.all three'
at_tty -- "${run[@]}" sh -c 'ls /dev/pts; readlink /proc/self/fd/0'
like "which is the only one it sees" "$(tr '\n' ' ' <<<"$said")" '^0 +ptmx /dev/pts/0 $'
like "outside it is another (control)" "$outer" '^/dev/pts/'
at_tty --size 33x111 -- "${run[@]}" stty size
is "its size is the user's" "$said" "33 111"
at_tty -- "${run[@]}" sh -c 'echo $TERM'
is "TERM goes in with a terminal" "$said" "xterm-256color"
at_tty --size 24x80 wait:ready resize:50x132 wait:changed -- "${run[@]}" sh -c 'trap "echo changed; stty size; exit 0" WINCH; echo ready; while :; do sleep 0.05; done'
like "a new size arrives, with SIGWINCH" "$said" '50 132$'
at_tty -- "${run[@]}" sh -c 'echo x >/dev/tty; exit 6'
is "/dev/tty can be written" "$status:$said" "6:x"
at_tty wait:ask 'send:answer\n' -- "${run[@]}" sh -c 'printf "ask " >/dev/tty; read x </dev/tty; echo "got $x"'
like "/dev/tty can be read" "$said" 'got answer'
at_tty -- "${run[@]}" sh -c 'echo a >/dev/stdout; echo b >/dev/stderr; echo c >/dev/fd/1; echo d >/proc/self/fd/2'
is "/dev/stdout and its kin with a terminal" "$(tr '\n' ' ' <<<"$said")" "a b c d "
at_tty 'send:line\n' -- "${run[@]}" sh -c 'read x </dev/stdin; echo "got $x"'
like "/dev/stdin with a terminal" "$said" 'got line'
at_tty -- "${run[@]}" printf '\033[31mred\033[0m\n'
is "colours pass" "$(head -n 1 <<<"$said")" $'\e[31mred\e[0m'
at_tty -- "${run[@]}" sh -c 'ps -o tty= -p $$ 2>/dev/null || cut -d" " -f7 /proc/self/stat'
like "it is the controlling terminal" "$said" 'pts/0|[1-9]'

# --- what Cordon says after a workload wrote ---

printf 'version: 1\nextends: [default]\nprocess: {timeout: 1s}\n' >"$tmp/short.yaml"
known=$'\030\033\\\\\033<.*\033\\(B\017\033\\[0m.*\033\\[\\?25h'
for left in '\033[8m' '\033(0' '\033]0;no end' '\302\233' '\016'; do
	at_tty -- "$CORDON" run -p "$tmp/short.yaml" -- sh -c "printf '$left'; exec sleep 20"
	like "what it left behind is undone before Cordon's words ($(printf %q "$left"))" "$(tr '\n' ' ' <<<"$said")" "$known.*cordon: process\.timeout was reached"
done
at_tty -- "${run[@]}" printf '\033]11;#000\007'
like "its colours too" "$said" $'\033\\]104\033.*\033\\]111\033'
at_tty -- "${run[@]}" printf '\033]0;title\007'
is "a person's own colours stay where it left them alone" "$(grep -c "]104" <<<"$said")" 0
at_tty -- "${run[@]}" printf 'plain text\n'
is "after plain text nothing has to be undone" "$said" "plain text"
TERM=dumb at_tty -- "${run[@]}" printf '\033[1mx'
is "a terminal that knows no escapes gets none" "$said" $'\033[1mx'
at_tty -- sh -c '"$@" | cat' _ "${run[@]}" printf '\033[1mx'
is "nor does a pipe" "$said" $'\033[1mx'

# --- keys ---

at_tty wait:ready 'send:\x03' -- "${run[@]}" sh -c 'trap "echo interrupted; exit 3" INT; echo ready; while :; do sleep 0.05; done'
is "^C interrupts" "$status:$(tail -n 1 <<<"$said" | sed 's/.*interrupted/interrupted/')" "3:interrupted"
at_tty wait:ready 'send:\x03' -- "${run[@]}" sh -c 'echo ready; exec sleep 20'
is "^C ends what does not catch it" "$status" 130
at_tty wait:ready 'send:\x1c' -- "${run[@]}" sh -c 'trap "echo quit; exit 4" QUIT; echo ready; while :; do sleep 0.05; done'
is '^\ quits' "$status" 4
at_tty wait:ready 'send:some\n' wait:some wait:some 'send:\x04' -- "${run[@]}" sh -c 'echo ready; exec cat'
is "^D ends input" "$status:$(tr '\n' ' ' <<<"$said")" "0:ready some some "
at_tty wait:ready 'send:abc\x7f\x7fX\n' wait:aX 'send:\x04' -- "${run[@]}" sh -c 'echo ready; exec cat'
like "line editing is the inner terminal's" "$said" 'aX$'
at_tty wait:ready send:q wait:got -- "${run[@]}" sh -c 'stty raw -echo; echo ready; x=$(dd bs=1 count=1 2>/dev/null); stty sane; echo "got $x"'
like "raw mode inside: a key arrives at once" "$said" 'got q'
at_tty wait:Password 'send:hidden\n' wait:done -- "${run[@]}" sh -c 'stty -echo; printf "Password: "; read x; stty echo; echo "done ${#x}"'
is "echo off inside hides what is typed" "$(grep -c hidden <<<"$said"):$(grep -c 'done 6' <<<"$said")" "0:1"

printf 'version: 1\nextends: [default]\nfilesystem: {deny: ["/**/zz-no-such-name"]}\n' >"$tmp/all.yaml"
at_tty -- "$CORDON" run -p "$tmp/all.yaml" -- true
is "a search through all of the machine is said on a terminal" "$status:$(grep -c 'for filesystem.deny /\*\*/zz-no-such-name all of this machine is searched' <<<"$said")" "0:1"

# --- the user's terminal afterwards ---

at_tty wait:ready mode 'send:\n' --end mode -- "${run[@]}" sh -c 'echo ready; read x'
is "raw while it runs, as it was after exit" "$told" "$(printf 'raw\ncooked')"
at_tty wait:ready 'send:\x03' --end mode -- "${run[@]}" sh -c 'echo ready; exec sleep 20'
is "as it was after ^C" "$told" cooked
at_tty wait:ready kill:TERM --end mode -- "${run[@]}" sh -c 'echo ready; exec sleep 20'
is "as it was after SIGTERM" "$status:$told" "143:cooked"
at_tty --end mode -- "${run[@]}" sh -c 'stty raw -echo; kill -9 $$'
is "as it was after a command in raw mode was killed" "$status:$told" "137:cooked"
at_tty --end mode -- "${run[@]}" /nonesuch
is "as it was after a command that is not found" "$status:$(tail -n 1 <<<"$told")" "127:cooked"
at_tty 'send:\n' wait:1 wait:2 --end mode -- bash -c '"$0" run -- sh -c "read x; echo 1" ; "$0" run -- sh -c "echo 2"' "$CORDON"
is "two runs one after the other" "$status:$told" "0:cooked"

# --- job control ---

shell=(bash --norc --noprofile -i)
job_control()
{
	at_tty 'wait:prompt> ' "send:$CORDON run -- sh -c 'echo ready; while :; do sleep 0.05; done'\n" wait:ready sleep:200 'send:\x1a' wait:Stopped 'wait:prompt> ' mode \
		'send:echo back-in-$((40 + 2))\n' wait:back-in-42 'send:fg\n' wait:run sleep:500 'send:\x03' 'wait:prompt> ' 'send:echo rc=$?\n' wait:rc=130 'send:exit\n' -- "${shell[@]}"
	printf 'status %s\n%s\n%s\n' "$status" "$said" "$told"
	[ "$status" = 0 ]
}
ok "^Z stops it, the shell is back, fg goes on, ^C ends it" job_control
job_input()
{
	at_tty 'wait:prompt> ' "send:$CORDON run -- cat\n" sleep:400 'send:one\n' wait:one wait:one 'send:\x1a' wait:Stopped 'wait:prompt> ' 'send:fg\n' wait:run sleep:500 'send:two\n' wait:two wait:two 'send:\x04' 'wait:prompt> ' 'send:exit\n' -- "${shell[@]}"
	printf 'status %s\n%s\n%s\n' "$status" "$said" "$told"
	[ "$status" = 0 ]
}
ok "a reader goes on reading after ^Z and fg" job_input
# What a shell does with a job that never stopped tells that job nothing.
from_behind() # COMMAND...: brings a `cat` to the background
{
	at_tty 'wait:prompt> ' "$@" 'wait:prompt> ' sleep:300 'send:fg\n' wait:cat sleep:700 'send:two\n' wait:two wait:two 'send:\x04' 'wait:prompt> ' 'send:echo rc=$?\n' wait:rc=0 'send:exit\n' -- "${shell[@]}"
	printf 'status %s\n%s\n%s\n' "$status" "$said" "$told"
	[ "$status" = 0 ]
}
ok "a reader that was started in the background reads after fg" from_behind "send:$CORDON run -- cat &\n"
ok "a reader that went on in the background reads after fg" from_behind "send:$CORDON run -- cat\n" sleep:400 'send:\x1a' wait:Stopped 'wait:prompt> ' 'send:bg\n'
stops_as_a_whole() # COMMAND: ends with "after" and 0
{
	at_tty 'wait:prompt> ' "send:$1\n" sleep:500 'send:one\n' wait:one wait:one 'send:\x1a' wait:Stopped 'wait:prompt> ' 'send:fg\n' sleep:500 'send:two\n' wait:two wait:two 'send:\x04' 'wait:prompt> ' 'send:echo rc=$?\n' wait:rc=0 'send:exit\n' -- "${shell[@]}"
	printf 'status %s\n%s\n%s\n' "$status" "$said" "$told"
	[ "$status" = 0 ]
}
ok "^Z stops all of a pipeline, and fg continues it" stops_as_a_whole "$CORDON run -- cat | cat"
ok "^Z stops the script that called it too" stops_as_a_whole "sh -c '$CORDON run -- cat; echo after'"
stops_alone()
{
	at_tty 'wait:prompt> ' "send:$CORDON run -- sh -c 'kill -STOP \$\$' | sh -c 'sleep 1; echo still-\$((40 + 2))'\n" wait:still-42 'wait:prompt> ' 'send:kill -9 %1\n' 'send:exit\n' -- "${shell[@]}"
	printf 'status %s\n%s\n%s\n' "$status" "$said" "$told"
	[ "$status" != 255 ]
}
ok "what stops by itself inside stops none of the others in the job" stops_alone
inner_shell()
{
	at_tty wait:inner 'send:sleep 30\n' sleep:300 'send:\x1a' wait:Stopped wait:inner 'send:jobs\n' wait:sleep wait:inner 'send:kill %1; exit 5\n' sleep:300 'send:exit 5\n' -- "$CORDON" run --env PS1='inner> ' -- "${shell[@]}"
	printf 'status %s\n%s\n%s\n' "$status" "$said" "$told"
	[ "$status" = 5 ]
}
ok "a shell inside has job control of its own" inner_shell
at_tty wait:inner 'send:\x1a' sleep:300 'send:echo still-$((40 + 2))\n' wait:still-42 'send:exit 6\n' -- "$CORDON" run --env PS1='inner> ' -- "${shell[@]}"
is "and ^Z at its prompt is nothing, as at any shell's" "$status" 6

# Whoever is stopped can have asked for a SIGCONT before. The supervisor must not be what stood still.
cat >"$work/goes-on.py" <<'END'
import ctypes, os, signal, time
class event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_longlong), ("signo", ctypes.c_int), ("notify", ctypes.c_int), ("pad", ctypes.c_char * 48)]
libc = ctypes.CDLL("libc.so.6", use_errno=True)
timer = ctypes.c_void_p()
assert libc.timer_create(time.CLOCK_MONOTONIC, ctypes.byref(event(0, signal.SIGCONT, 0)), ctypes.byref(timer)) == 0
assert libc.timer_settime(timer, 0, (ctypes.c_long * 4)(0, 200000000, 0, 200000000), None) == 0
os.kill(os.getpid(), signal.SIGSTOP)
while True:
    print("noise", flush=True)
    open("beat", "a").write("x")
    try:
        os.mkdir(".vscode")
    except OSError:
        pass
    time.sleep(0.1)
END
printf 'version: 1\nextends: [default]\nprocess: {timeout: 3s}\n' >"$tmp/three.yaml"
stopped_is_watched()
{
	local run
	rm -f "$work/beat"
	at_tty 'wait:prompt> ' "send:$CORDON run -p $tmp/three.yaml -- python3 goes-on.py\n" wait:Stopped 'wait:prompt> ' 'send:echo back-in-$((40 + 2))\n' wait:back-in-42 \
		sleep:4500 'send:echo\n' 'wait:Exit 124' 'send:exit\n' -- "${shell[@]}"
	printf 'status %s\n%s\n%s\n' "$status" "$said" "$told"
	run=$("$CORDON" ps -a -q | head -n 1)
	"$CORDON" logs --json "$run" | grep -q '"rule":"process.timeout"' && "$CORDON" logs --json "$run" | grep '"event":"exit"' && [ "$status" = 0 ] && [ -s "$work/beat" ] || return 1
	# denied while the shell had the terminal, and logged
	"$CORDON" logs --json "$run" | grep -q '"event":"denial".*vscode' && [ -z "$("$CORDON" ps -q)" ]
}
ok "a command that continues itself while the job is stopped is watched, logged, and ended by its timeout" stopped_is_watched
stopped_is_quiet()
{
	at_tty 'wait:prompt> ' "send:$CORDON run -p $tmp/three.yaml -- python3 goes-on.py\n" wait:Stopped 'wait:prompt> ' sleep:1500 'send:echo end-of-$((40 + 2))\n' wait:end-of-42 'send:kill -9 %1\n' 'send:exit\n' -- "${shell[@]}"
	printf '%s\n' "$said"
	! sed '/end-of-42/q' <<<"$said" | grep noise
}
ok "and its output waits for fg" stopped_is_quiet
nothing_runs()
{
	[ -z "$("$CORDON" ps -q)" ]
}
ok "a job that is killed while it is stopped leaves nothing behind" until_true nothing_runs

# --- signals to a job: cordon and who stands before it ---

cat >"$work/counts.py" <<'END'
import signal
kinds = {signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGWINCH, signal.SIGRTMIN, signal.SIGRTMAX}
signal.pthread_sigmask(signal.SIG_BLOCK, kinds)
open("ready", "w")
while True:
    got = signal.sigwait(kinds)
    if got == signal.SIGTERM:
        break
    open("got", "a").write(got.name + " ")
END
# as_job: the lines of standard input in a shell with job control, beside a job that counts signals; $! is its number.
as_job()
{
	rm -f "$work/got" "$work/ready"
	{
		printf 'set -m\n%q run -- python3 counts.py </dev/null & job=$!\nwhile ! [ -e ready ]; do sleep 0.05; done\n' "$CORDON"
		cat
	} >"$work/job.sh"
	at_tty -- bash --norc job.sh
}
as_job <<'END'
for i in 1 2 3 4 5; do kill -USR1 -$job; sleep 0.2; kill -USR2 $job; sleep 0.2; done
kill $job; wait $job
END
is "a signal to all of the job arrives once, as one to its process does" "$status:$(cat "$work/got")" "0:$(printf 'SIGUSR1 SIGUSR2 %.0s' 1 2 3 4 5)"
as_job <<'END'
for i in 1 2 3 4 5 6; do kill -USR1 $job; sleep 0.1; done
kill -TERM -$job; wait $job
END
is "as often as it was sent" "$status:$(cat "$work/got")" "0:$(printf 'SIGUSR1 %.0s' 1 2 3 4 5 6)"
as_job <<'END'
for s in USR1 RTMIN WINCH RTMAX; do kill -$s $job; sleep 0.2; done
for s in USR1 RTMIN WINCH RTMAX; do kill -$s -$job; sleep 0.2; done
kill -TERM -$job; wait $job
END
is "those that programs give a meaning to are passed on too" "$status:$(cat "$work/got")" "0:$(printf 'SIGUSR1 SIGRTMIN SIGWINCH SIGRTMAX %.0s' 1 2)"
as_job <<'END'
kill -STOP $job; for i in 1 2 3 4 5; do kill -RTMAX -$job; done; kill -CONT $job; sleep 0.3
kill -TERM -$job; wait $job
END
is "those that queue arrive as often as they were sent" "$status:$(cat "$work/got")" "0:$(printf 'SIGRTMAX %.0s' 1 2 3 4 5)"
cat >"$work/races.py" <<'END'
# races.py PID [all]: stopped and continued at once, with 0 to 1 ms in between; says how often it stands still.
import os, signal, sys, time
job, still = int(sys.argv[1]), 0
for i in range(50):
    for sig in signal.SIGTSTP, signal.SIGCONT:
        os.kill(-job if len(sys.argv) > 2 else job, sig)
        until = time.monotonic_ns() + i * 20000
        while sig == signal.SIGTSTP and time.monotonic_ns() < until:
            pass
    time.sleep(0.03)
    if open("/proc/%d/stat" % job).read().split(") ")[1][0] == "T":
        still += 1
        os.kill(-job, signal.SIGCONT)
print("still", still)
END
# goes_on [all]
goes_on()
{
	as_job <<-END
	python3 races.py \$job $1
	kill -USR1 \$job
	for ((i = 0; i < 40; i++)); do [ -e got ] && break; sleep 0.05; done
	kill \$job; kill -CONT -\$job; wait \$job
	END
	printf 'status %s\n%s\n%s\n' "$status" "$said" "$(cat "$work/got")"
	[ "$status" = 0 ] && [[ $said == *"still 0"* ]] && [ "$(cat "$work/got")" = "SIGUSR1 " ]
}
ok "SIGTSTP and SIGCONT right behind it: the job goes on" goes_on
ok "to all of the job too" goes_on all
as_job <<'END'
kill -TSTP -$job; for ((i = 0; i < 60; i++)); do sleep 0.05; [ -n "$(jobs -s)" ] && break; done; jobs
kill -USR1 $job; sleep 0.3; cat got 2>/dev/null
kill -CONT -$job; for ((i = 0; i < 60; i++)); do sleep 0.05; [ -e got ] && break; done; jobs
kill $job; wait $job
END
like "SIGTSTP stops it, and what is sent meanwhile waits for SIGCONT" "$status:$(tr '\n' ' ' <<<"$said"):$(cat "$work/got")" '^0:.*Stopped.*Running.*:SIGUSR1 $'

# --- only some of the three ---

at_tty --redirect i -- "${run[@]}" sh -c '[ -t 0 ] || echo "0 no"; [ -t 1 ] && echo "1 yes"; cat'
is "stdin is no terminal, stdout is" "$(tr '\n' ' ' <<<"$said")" "0 no 1 yes "
at_tty --redirect oe wait:xx -- bash -c '(sleep 0.5; echo xx >/dev/tty) & "$0" run -- sh -c "[ -t 0 ] && ! [ -t 1 ]"; s=$?; wait; exit $s' "$CORDON"
is "stdin is a terminal, stdout is none" "$status" 0
is "stdout to a pipe while stdin is a terminal" "$(at_tty 'send:hello\n' 'wait:hello' sleep:300 -- bash -c '"$0" run -- head -n 1 | sed s/^/piped:/' "$CORDON"; grep -c piped:hello <<<"$said")" 1
at_tty --redirect e -- "${run[@]}" sh -c '[ -t 2 ] || echo "2 no"'
is "stderr is no terminal" "$said" "2 no"

# --- bytes ---

at_tty -- "${run[@]}" sh -c 'yes 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde | head -c 1048576 | sha256sum >sum; yes 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde | head -c 1048576'
is "1 MiB of output arrives whole" "$(tr -d '\r' <"$tmp/out" | sha256sum)" "$(cat sum)"
at_tty wait:ready paste:65536 wait:DONE -- "${run[@]}" sh -c 'stty raw -echo; echo ready; head -c 65536 | sha256sum >pasted; stty sane; echo DONE'
is "64 KiB pasted arrive whole" "$(cat pasted)" "$(python3 -c 'import sys; sys.stdout.buffer.write((bytes(97+i%26 for i in range(63))+b"\n")*1024)' | sha256sum)"
at_tty wait:ready paste:65536 'send:\x04' wait:DONE -- "${run[@]}" sh -c 'stty -echo; echo ready; cat >lines; echo DONE'
is "64 KiB pasted line by line to a slow reader" "$(sha256sum <lines)" "$(cat pasted)"
is "the last output before the end is not lost (20 runs)" "$(for i in {1..20}; do "$tests_dir/tools/at_terminal.py" -- "${run[@]}" sh -c 'head -c 5000 /dev/zero | tr "\0" x; printf END' | grep -c 'xEND$'; done | sort | uniq -c | tr -s ' ')" " 20 1"

hangs='import os,time
for i in 0,1,2: os.close(i)
time.sleep(0.02); os._exit(7)'
is "a program that closes its files before it ends is not hung up on (10 runs)" "$(for i in {1..10}; do "$tests_dir/tools/at_terminal.py" -- "${run[@]}" python3 -c "$hangs"; echo $?; done | sort -u)" 7
at_tty wait:again -- "${run[@]}" sh -c 'exec <&- >&- 2>&-; sleep 0.3; echo again >/dev/tty; sleep 0.1; exit 3'
is "and the terminal can be opened again by its name" "$status:$said" "3:again"

at_tty 'wait:prompt> ' "send:for i in 1 2 3; do $CORDON run -- sh -c 'echo g\"\"o; sleep 7'; done; echo ended-\"\"loop\n" wait:go 'send:\x03' 'wait:prompt> ' 'send:exit\n' -- "${shell[@]}"
is "^C ends a loop of the shell's around it, as it does for any command" "$(grep -c 'go$' <<<"$said"):$(grep -c ended-loop <<<"$said")" "1:0"

# --- a terminal, or a pipe, that nobody reads ---

cat >"$tmp/unread.py" <<'END'
# unread.py KIND COMMAND...: runs it at a terminal, or with pipes, from which nothing is read until it has ended or 20 seconds are over; says its status.
import os, pty, subprocess, sys
if sys.argv[1] == "terminal":
    master, slave = pty.openpty()
    child = subprocess.Popen(sys.argv[2:], stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
else:
    master, slave = os.pipe()
    child = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
try:
    print(child.wait(20))
except subprocess.TimeoutExpired:
    print("still there")
    child.kill()
END
printf 'version: 1\nextends: [default]\nprocess: {timeout: 2s}\n' >"$tmp/two.yaml"
noisy='yes & while :; do echo x >>beat; sleep 0.1; done'
for kind in terminal pipe; do
	rm -f beat
	is "a $kind that nobody reads: the timeout holds" "$(python3 "$tmp/unread.py" "$kind" "$CORDON" run -p "$tmp/two.yaml" -- sh -c "$noisy"):$("$CORDON" ps -q)" "124:"
	ok "a $kind that nobody reads: and what ran meanwhile ran no longer" test "$(wc -l <beat)" -lt 60
done
mkfifo "$tmp/events"
sleep 60 <>"$tmp/events" &
holder=$!
is "events that nobody reads: the run ends" "$(python3 "$tmp/unread.py" pipe "$CORDON" run --json-events "$tmp/events" -- sh -c 'i=0; while [ $i -lt 3000 ]; do mkdir .vscode; mkdir .idea; i=$((i+1)); done 2>/dev/null; sleep 60'):$("$CORDON" ps -q)" "125:"
kill "$holder"
wait "$holder" 2>/dev/null

# --- hang-up and exec ---

hears='trap "echo hup >hup; exit 1" HUP; echo ready; while :; do sleep 0.05; done'
hung_up()
{
	until_true nothing_runs && until_true test -e hup && rm hup
}
at_tty wait:ready hangup -- "${run[@]}" sh -c "$hears"
ok "a terminal that hangs up ends the run, which is told" hung_up
printf 'version: 1\nextends: [default]\nnetwork: {mode: allowlist, allow: [{host: a.test}]}\n' >"$tmp/net.yaml"
at_tty wait:ready hangup -- "$CORDON" run -p "$tmp/net.yaml" -- sh -c "$hears"
ok "so is one whose policy a SIGHUP would load again" hung_up
is "and it is not" "$("$CORDON" logs --json "$("$CORDON" ps -a -q | head -n 1)" | grep -c 'new policy')" 0
# The shell tells its job, and the kernel does when the shell has ended: at once, or one after the other.
hang_up_on_shells()
{
	local i
	for i in 1 2 3 4 5; do
		at_tty 'wait:prompt> ' "send:$CORDON run -p $tmp/net.yaml -- sh -c '${hears/echo ready/echo rea\"\"dy}'\n" wait:ready hangup -- "${shell[@]}"
		hung_up || return 1
	done
}
ok "a terminal that hangs up on a shell ends its job, which is told (5 runs)" hang_up_on_shells
at_tty 'wait:prompt> ' "send:$CORDON run -p $tmp/net.yaml -- sh -c '${hears/echo ready/echo rea\"\"dy}' &\n" wait:ready hangup -- "${shell[@]}"
ok "... be it in the background" hung_up
at_tty 'wait:prompt> ' "send:$CORDON run -p $tmp/net.yaml -- sh -c '${hears/echo ready/echo rea\"\"dy}' &\n" wait:ready kill:HUP -- "${shell[@]}"
ok "a shell that is told to end by SIGHUP takes its job along, which is told" hung_up
# A shell in a shell, which does not have the terminal for itself: that stays. Also where the job is a script's, to which a shell tells it as well.
printf '"$@"\nexit 0\n' >"$tmp/script.sh"
in_a_shell() # SCRIPT STEP...
{
	at_tty 'wait:prompt> ' "send:PS1=in''ner: ${shell[*]}\n" wait:inner: "send:$1$CORDON run -p $tmp/net.yaml -- sh -c '${hears/echo ready/echo rea\"\"dy}' &\n" wait:ready "${@:2}" -- "${shell[@]}"
}
for by in '' "sh $tmp/script.sh "; do
	in_a_shell "$by" 'send:kill -HUP $$\n' 'wait:prompt> ' sleep:1200 'send:exit\n'
	ok "so does a shell in a shell${by:+, be the job a script}" hung_up
done
in_a_shell '' 'send:kill -HUP %1\n' wait:inner: sleep:1500 'send:echo hu""p >told; kill %1\n' sleep:300 'send:exit\n' 'wait:prompt> ' 'send:exit\n'
is "... and a person who types kill there only has the policy loaded again" "$(ls hup told 2>/dev/null):$("$CORDON" logs --json "$("$CORDON" ps -a -q | head -n 1)" | grep -c 'new policy is in force')" "told:1"
rm -f told hup
at_tty wait:ready kill:HUP sleep:500 'send:\n' wait:end -- "$CORDON" run -p "$tmp/net.yaml" -- sh -c 'trap "echo hup >hup" HUP; echo ready; read x; echo end'
is "SIGHUP that somebody sends loads the policy again, once, and is not passed on" "$status:$(ls hup 2>/dev/null):$("$CORDON" logs --json "$("$CORDON" ps -a -q | head -n 1)" | grep -c 'new policy is in force')" "0::1"
at_tty 'wait:prompt> ' "send:$CORDON run -p $tmp/net.yaml -- sh -c 'trap \"echo hup >hup\" HUP; echo rea\"\"dy; sleep 2; curl -sS http://b.test/ 2>&1; echo end' &\n" wait:ready 'send:kill -HUP %1\n' wait:end 'send:exit\n' -- "${shell[@]}"
is "to the whole job as well, and its gateway goes on" "$(ls hup 2>/dev/null):$(grep -c 'b.test is not on the allowlist' <<<"$said"):$("$CORDON" logs --json "$("$CORDON" ps -a -q | head -n 1)" | grep -c 'new policy is in force')" ":1:1"
in_background sleep 90
at_tty --size 30x90 -- "$CORDON" exec "$id" -- sh -c 'tty; stty size'
like "exec with a terminal: its own, of the user's size" "$(tr '\n' ' ' <<<"$said")" '^/dev/pts/[0-9]+ 30 90 $'
ok "exec: ^Z stops all of a pipeline, and fg continues it" stops_as_a_whole "$CORDON exec $id -- cat | cat"
ok "exec: a reader that was started in the background reads after fg" from_behind "send:$CORDON exec $id -- cat &\n"
at_tty wait:ready 'send:\x03' --end mode -- "$CORDON" exec "$id" -- sh -c 'echo ready; exec sleep 20'
is "exec with a terminal: ^C, and the terminal afterwards" "$status:$told" "130:cooked"
at_tty --size 24x80 wait:ready resize:40x100 wait:changed -- "$CORDON" exec "$id" -- sh -c 'trap "echo changed; stty size; exit 0" WINCH; echo ready; while :; do sleep 0.05; done'
like "exec with a terminal: a new size" "$said" '40 100$'
cat >"$work/stops.py" <<'END'
import os, signal, sys
sys.path.insert(0, ".")
exec(open("goes-on.py").read().split("os.kill")[0].replace("200000000", "2000000"))
for s in signal.SIGCONT, signal.SIGTERM, signal.SIGHUP:
    signal.signal(s, lambda *a: None)
while True:
    os.kill(os.getpid(), signal.SIGSTOP)
END
exec_stops()
{
	at_tty 'wait:prompt> ' "send:$CORDON exec $id -- python3 stops.py\n" wait:Stopped 'wait:prompt> ' sleep:1000 "send:timeout 10 $CORDON exec $id -- true; echo rc=\$?\n" wait:rc=0 \
		'send:fg\n' sleep:300 wait:Stopped 'wait:prompt> ' sleep:1000 "send:timeout 10 $CORDON stop --time 0 $id; echo rc=\$?\n" wait:rc=0 'send:kill -9 %1; while kill -0 %1 2>/dev/null; do sleep 0.1; done\n' wait:Killed 'send:exit\n' -- "${shell[@]}"
	printf 'status %s\n%s\n%s\n' "$status" "$said" "$told"
	[ "$status" = 0 ]
}
ok "exec with a terminal: a command that stops and continues itself all the time holds nobody up" exec_stops
ok "and ends with the sandbox" ended "$pid"
finish
