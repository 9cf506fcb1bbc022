#!/bin/bash
# Runs in containers of gVisor, runc and crun: the same command under the same policy, the same answers, and nothing left when it has ended, however it ended.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
need_static_init

is_root && boxes=/run/cordon || boxes=$XDG_RUNTIME_DIR/cordon

inside()
{
	outside "$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- "$@"
}

# in_container CMD...: as in_background of run_lib.sh.
in_container()
{
	rm -f "$tmp/bg.out"
	env --default-signal=INT,QUIT "$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- "$@" >"$tmp/bg.out" 2>"$tmp/bg.err" </dev/null &
	pid=$!
	until_true test -s "$tmp/bg.out"
	id=$("$CORDON" ps --quiet | head -n 1)
}

# What could be left of all runs: processes of their runtimes, boxes, mounts; cgroups.
left()
{
	pgrep -af -- "--root=$boxes/"
	ls -d "$boxes"/* 2>/dev/null
	grep -F "$boxes/" /proc/self/mountinfo
}

left_cgroups()
{
	find /sys/fs/cgroup -maxdepth 6 -type d -name 'cordon-*' 2>/dev/null
}

# nothing_left [ID]: of that run, or of all runs of this suite; others may be going on.
nothing_left()
{
	local ids
	ids=${1:-$(ls "$state")}
	! { left; [ -z "${1:-}" ] || left_cgroups; } | grep -F "$ids"
}

# A runtime that is being started when its supervisor dies needs a moment to notice.
nothing_left_after_ps()
{
	"$CORDON" ps && nothing_left "$@"
}

last_run()
{
	runs | head -n 1
}

exit_codes()
{
	local code
	for code in 0 1 2 77 255; do
		inside sh -c "exit $code" </dev/null
		is "$runtime: exit status $code" "$status:$said$told" "$code:"
	done
	inside /nonexistent </dev/null
	ok "$runtime: a command that is not there: 127" refused 127 'nonexistent'
	inside /etc/passwd </dev/null
	ok "$runtime: one that cannot be executed: 126" refused 126 'passwd'
	printf 'echo "$0:$*:$#"; exit 4\n' >plain-text && chmod +x plain-text
	inside ./plain-text a 'b c'
	is "$runtime: a text without an interpreter line is a script of /bin/sh" "$status:$said" "4:./plain-text:a b c:2"
	for code in TERM:143 KILL:137 SEGV:139; do
		inside sh -c "kill -${code%:*} \$\$" </dev/null
		is "$runtime: ended by SIG${code%:*}: ${code#*:}" "$status" "${code#*:}"
	done
}

stdio()
{
	is "$runtime: input and output through pipes" "$(printf 'a\nb\n' | "$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- sh -c 'read x; echo "1 $x"; cat; echo e >&2' 2>"$tmp/err"; cat "$tmp/err")" "1 a
b
e"
	printf 'from a file\n' >"$tmp/in"
	echo before >"$tmp/mixed"
	"$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- sh -c 'cat; echo error >&2' <"$tmp/in" >>"$tmp/mixed" 2>&1
	is "$runtime: files: what stood in the output stays" "$(sort "$tmp/mixed")" "before
error
from a file"
	{
		echo first
		"$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- echo second
		echo third
	} >"$tmp/mixed" 2>&1 </dev/null
	is "$runtime: a file that others write to as well" "$(cat "$tmp/mixed")" "first
second
third"
	is "$runtime: a megabyte through both ways" "$(head -c 1000000 /dev/zero | "$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- cat | wc -c)" 1000000
	inside_says "$runtime: nothing but 0, 1 and 2 is open" "0 1 2 3" sh -c 'cd /proc/self/fd && echo *' # 3: the folder that the shell reads
}

surroundings()
{
	rm -rf ./* && echo x >file && chmod 644 file
	FOO=secret inside env </dev/null
	is "$runtime: the environment is the plan's and nothing else" "$(sort "$tmp/out")" "$("$CORDON" run --policy "$tmp/policy.yaml" -- env </dev/null | sort)"
	inside_says "$runtime: starts in the work folder" "$work" pwd
	inside sh -c 'id -u; id -g; id -G' </dev/null
	if [ "$runtime" = gvisor ] && ! is_root; then
		is "$runtime: root of a kernel of its own, to whom nothing belongs but what is shown" "$(tr '\n' ' ' <"$tmp/out")" "0 0 0 "
	else
		is "$runtime: the plan's user" "$(tr '\n' ' ' <"$tmp/out")" "$("$CORDON" run --policy "$tmp/policy.yaml" -- sh -c 'id -u; id -g; id -G' </dev/null | tr '\n' ' ')"
	fi
	inside_says "$runtime: its own name" cordon hostname
	inside_says "$runtime: no capability is left" "0000000000000000 0000000000000000 0000000000000000 " sh -c 'grep -E "^Cap(Prm|Eff|Bnd)" /proc/self/status | cut -f2 | tr "\n" " "'
	inside_fails "$runtime: the root cannot be written to" 'Read-only|denied|not permitted' sh -c 'echo x >/x'
	inside_fails "$runtime: nor the base system" 'Read-only|denied|not permitted' sh -c 'echo x >/usr/x'
	inside_fails "$runtime: nor the folder of its own sockets" 'Read-only|denied|not permitted' sh -c 'echo x >/run/cordon/x'
	inside_works "$runtime: /tmp, its home and shared memory are its own" sh -c 'echo x >/tmp/x && echo x >~/x && echo x >/dev/shm/x'
	inside_works "$runtime: devices work" sh -c 'head -c 10 /dev/urandom >/dev/null && echo x >/dev/null && [ "$(head -c 3 /dev/zero | tr "\0" z)" = zzz ]'
	inside sh -c 'mount -t tmpfs x /tmp && echo mounted; unshare -r true && echo unshared; cat /proc/kallsyms /proc/kcore /proc/keys | head -c 100' </dev/null
	is "$runtime: no mounts, no namespaces, nothing of the kernel's" "$said" ""
	inside sh -c 'ps ax 2>/dev/null | grep -c .; ls -d /proc/[0-9]* | wc -l' </dev/null
	ok "$runtime: only its own processes" test "$(tail -n 1 "$tmp/out")" -lt 12
	# gVisor's kernel of 2022 refuses AT_NO_AUTOMOUNT, and so `ls -l` of today, whoever runs it
	inside_says "$runtime: files have their times, owners and modes" "0o644 True" python3 -c 'import os; s = os.stat("file"); print(oct(s.st_mode & 0o777), s.st_uid == os.getuid())'
}

folders()
{
	rm -rf ./* .env && mkdir sub && echo host >kept && echo secret >.env && echo old >sub/old
	policy <<<'filesystem: {workdir: read-write}'
	inside sh -c 'cat kept; echo new >made; echo more >>kept; rm sub/old' </dev/null
	is "$runtime: read-write: changes are on the host when it has ended" "$status:$(cat made kept | tr '\n' ' ')$([ -e sub/old ] || echo gone)" "0:new host more gone"
	is "$runtime: with the owner of their folder" "$(stat -c %u made)" "$(id -u)"
	inside cat .env </dev/null
	is "$runtime: a denied name cannot be read" "$((status != 0)):$said" "1:"
	inside sh -c 'mkdir -p x && echo SECRET=1 >x/.env' </dev/null
	is "$runtime: one that is made does not reach the host" "$(find . -name .env | tr '\n' ' ')" "./.env "
	is "$runtime: ... which is no failure of the command's" "$status" 0
	like "$runtime: ... and is said, by name and cause" "$told" "cordon: $work/x/.env: not brought back: it is denied"
	like "$runtime: ... and how to look at it" "$told" "not all was brought back; .cordon diff --all $(last_run)"
	like "$runtime: ... and is in the log" "$("$CORDON" logs "$(last_run)" --json)" "x/.env.*not brought back"
	like "$runtime: ... and in the diff" "$("$CORDON" diff --list "$(last_run)" 2>&1)" 'x/\.env'
	rm -rf x
	mkdir -p d/locked && echo lock >d/ro.txt && echo lock >d/locked/x
	policy <<<"filesystem: {workdir: read-write, read: [$work/d/ro.txt, $work/d/locked]}"
	inside sh -c 'mv d d2; mkdir -p d/locked; echo evil >d/ro.txt; echo evil >d/locked/x; echo evil >d/locked/y; echo free >d/free' </dev/null
	is "$runtime: what is read-only in a writable folder stays as it is, whatever folder takes the place of its own" "$(cat d/ro.txt d/locked/x | tr '\n' ' '):$(ls d/locked):$(cat d/free)" "lock lock :x:free"
	rm -rf d d2
	policy <<<'filesystem: {workdir: read-write}'
	in_container sh -c 'echo up; until [ -e /tmp/go ]; do sleep 0.1; done; echo theirs >kept; echo new >other'
	echo mine >kept
	"$CORDON" exec "$id" -- touch /tmp/go
	wait "$pid"
	is "$runtime: what the host changed meanwhile stays, and the run has failed" "$?:$(cat kept other | tr '\n' ' ')" "125:mine new "
	like "$runtime: ... with the file and the cause" "$(cat "$tmp/bg.err")" "cordon: $work/kept: not brought back: it changed on the host since"
	like "$runtime: ... and the command that it names shows the run's version" "$(bash -c "$(grep -o "cordon diff --all $id" "$tmp/bg.err" | sed "s|^cordon|'$CORDON'|")" 2>&1)" '-mine.\+theirs'
	like "$runtime: ... and the log has an end" "$("$CORDON" logs --json "$id" | tail -n 1)" '"event":"exit".*"exit":125'
	like "$runtime: ... and ps says that changes were kept" "$("$CORDON" ps -a)" "$id +exited 125 .* kept +sh"
	"$CORDON" apply --force "$id" >/dev/null 2>&1
	is "$runtime: ... and apply --force lets the run's version win" "$?:$(cat kept)" 0:theirs
	is "$runtime: ... which is what diff says then" "$("$CORDON" diff --all "$id" 2>&1)" "cordon: $id: all its changes were applied"
	printf 'host\nmore\n' >kept
	rm other
	policy <<<'filesystem: {workdir: read-only}'
	inside_fails "$runtime: read-only: nothing can be made" 'Read-only|denied|not permitted' sh -c 'echo x >made2'
	inside_says "$runtime: read-only: but read" "host
more" cat kept
	policy <<<'filesystem: {workdir: copy}'
	inside sh -c 'echo copied >copied; echo x >>kept' </dev/null
	is "$runtime: copy: nothing reaches the host" "$status:$([ -e copied ] || echo absent):$(tr '\n' ' ' <kept)" "0:absent:host more "
	like "$runtime: copy: diff shows it" "$("$CORDON" diff "$(last_run)")" 'copied'
	"$CORDON" apply "$(last_run)" >/dev/null 2>&1
	is "$runtime: copy: apply brings it" "$?:$(cat copied; tr '\n' ' ' <kept)" "0:copied
host more x "
	rm copied
	inside sh -c 'echo copied >copied; echo x >>kept' </dev/null
	rm kept
	like "$runtime: copy: diff knows what the host deleted since" "$("$CORDON" diff --list "$(last_run)")" 'kept  REFUSED: changed on the host since the run started'
	"$CORDON" apply --skip-refused "$(last_run)" >/dev/null 2>&1
	is "$runtime: copy: ... and apply leaves it deleted" "$?:$(cat copied):$(ls kept 2>/dev/null)" "0:copied:"
	printf 'host\nmore\n' >kept
	rm copied
	policy <<<'filesystem: {workdir: none}'
	inside_fails "$runtime: none: it is not there" 'kept' cat "$work/kept"
	mkdir -p "$tmp/extra/deep" && echo extra >"$tmp/extra/deep/file" && echo no >"$tmp/extra/deep/key.pem"
	policy <<-END
		filesystem: {workdir: read-write, read: ["$tmp/extra"], deny: ["**/key.pem"]}
	END
	inside_says "$runtime: a folder to read" extra cat "$tmp/extra/deep/file"
	inside_fails "$runtime: is not to be written" 'Read-only|denied|not permitted' sh -c "echo x >$tmp/extra/x"
	inside cat "$tmp/extra/deep/key.pem" </dev/null
	is "$runtime: what is denied in it is covered" "$((status != 0)):$said" "1:"
	mkdir -p "$tmp/extra/sockets" p/anchored && echo KEY >p/anchored/key && mkfifo "$tmp/extra/sockets/fifo"
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$tmp/extra/sockets/s"
	policy <<-END
		filesystem: {workdir: read-write, read: ["$tmp/extra"], deny: ["$work/p/anchored/**"]}
	END
	inside sh -c "echo started; cat $tmp/extra/sockets/s $tmp/extra/sockets/fifo p/anchored/key" </dev/null
	is "$runtime: a folder with sockets and FIFOs, and one whose content is denied, do not keep it from starting" "$said" started
	is "$runtime: ... and neither can be opened" "$(grep -c 'ermission denied' <<<"$told")" 3
	rm -rf "$tmp/extra/sockets" p
	policy <<<'filesystem: {workdir: read-write}'
	(until [ -e "$tmp/enough" ]; do mkdir -p late/d late/e && echo SECRET >late/d/.env && echo x >late/e/f && rm -rf late; done 2>"$tmp/maker.err") &
	maker=$!
	saw='' came=''
	for i in 1 2 3 4 5; do
		inside sh -c "cat late/d/.env; echo $i >made" </dev/null
		saw+=$said came+="$status:$(cat made) "
	done
	touch "$tmp/enough"
	wait "$maker"
	is "$runtime: a denied name that appears while the copy is made is not in it" "$saw" ""
	is "$runtime: a folder that the host makes and removes meanwhile is not taken for the run's, and what the run made comes back" "$came" "0:1 0:2 0:3 0:4 0:5 "
	is "$runtime: ... and nothing of the way back is left" "$(find . -name '.cordon-apply-*' -o -name 'cordon-kept-*')" ""
	rm -rf late "$tmp/enough"
	mkdir gone && echo old >gone/f && echo old >edited
	in_container sh -c 'echo up; until [ -e /tmp/go ]; do sleep 0.1; done; echo x >made'
	rm -rf gone && echo mine >edited
	"$CORDON" exec "$id" -- touch /tmp/go
	wait "$pid"
	is "$runtime: what the host changed and the run did not is no conflict, and stays as the host has it" "$?:$(cat made edited | tr '\n' ' ')$(ls -d gone 2>&1 | grep -c 'No such')" "0:x mine 1"
	mkdir gone && echo old >gone/f
	in_container sh -c 'echo up; until [ -e /tmp/go ]; do sleep 0.1; done; echo y >made; echo new >gone/f'
	rm -rf gone
	"$CORDON" exec "$id" -- touch /tmp/go
	wait "$pid"
	is "$runtime: a folder that the host removed while the run worked in it stays away, and that is said" "$?:$(cat made):$(ls -d gone 2>/dev/null):$(grep -c 'gone: not brought back: it changed on the host' "$tmp/bg.err")" "125:y::1"
	ok "$runtime: ... cordon apply --force brings it back" "$CORDON" apply --force "$id"
	is "$runtime: ... with what the run made of it" "$(cat gone/f)" new
	echo old >edited && echo old >replaced
	in_container sh -c 'echo up; until [ -e /tmp/go ]; do sleep 0.1; done; echo z >made; echo more >>edited; echo new >t; mv t replaced'
	rm edited replaced
	"$CORDON" exec "$id" -- touch /tmp/go
	wait "$pid"
	is "$runtime: files that the host deleted while the run changed them stay away" "$?:$(cat made):$(ls edited replaced 2>/dev/null)" "125:z:"
	is "$runtime: ... and that is said" "$(grep -cE '/(edited|replaced): not brought back: it changed on the host' "$tmp/bg.err")" 2
	mkdir .cordon-apply-0123 && echo theirs >.cordon-apply-0123/0
	inside sh -c 'mkdir .cordon-apply-4567; echo z >made; cat .cordon-apply-0123/0 2>/dev/null' </dev/null
	is "$runtime: a name as a killed apply leaves it is in nobody's way, is not shown, and is left alone" "$(cat made .cordon-apply-0123/0 | tr '\n' ' '):$said" "z theirs :"
	like "$runtime: ... and that is said" "$told" '.cordon-apply-0123 is of no run that is known here'
	is "$runtime: ... nor can a run make such a name" "$(ls -d .cordon-apply-4567 2>/dev/null):$(grep -c 'only Cordon may use' <<<"$told")" ":1"
	rm -rf .cordon-apply-0123 gone edited made
	odd="$tmp/o \"d'd	\\ é,:%"
	mkdir -p "$odd" && echo odd >"$odd/file"
	inside_folder="$odd" && outside env -C "$odd" "$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- sh -c 'cat file; pwd; echo x >made' </dev/null
	is "$runtime: a work folder with odd bytes in its name" "$status:$said:$(cat "$odd/made")" "0:odd
$inside_folder:x"
	policy <<<'filesystem: {workdir: read-write}'
}

# What the sandbox, or somebody outside, moves between the copy and its return.
moves()
{
	rm -rf ./* .env && mkdir -p conf p/anchored way/d "$tmp/outside/folder" && echo SECRET >.env && ln .env conf/notes && echo KEY >p/anchored/key && echo mine >"$tmp/outside/folder/f"
	policy <<-END
		filesystem: {workdir: read-write, deny: ["$work/p/anchored/key"]}
	END
	inside sh -c 'mv conf conf2; mv p p2' </dev/null
	inside sh -c 'cat conf/notes conf2/notes p/anchored/key p2/anchored/key' </dev/null
	is "$runtime: moving its folder does not show what is hidden, in no later run either" "$said" ""
	is "$runtime: and the host has it as before" "$(cat conf/notes p/anchored/key | tr '\n' ' ')" "SECRET KEY "
	policy <<<'filesystem: {workdir: read-write}'
	in_container sh -c 'echo up; until [ -e /tmp/go ]; do sleep 0.1; done; echo x >made'
	mv "$tmp/outside/folder" moved
	"$CORDON" exec "$id" -- touch /tmp/go
	wait "$pid"
	[ -e made ] || sed 's/^/# /' "$tmp/bg.out" "$tmp/bg.err"
	is "$runtime: a folder that the host moves in meanwhile stays" "$(cat moved/f made | tr '\n' ' ')" "mine x "
	mkdir -p "$tmp/target/d" && echo theirs >"$tmp/target/d/f"
	cd way/d && in_container sh -c 'echo up; until [ -e /tmp/go ]; do sleep 0.1; done; echo x >made'
	cd "$work" && mv way was && ln -s "$tmp/target" way
	"$CORDON" exec "$id" -- touch /tmp/go
	wait "$pid"
	is "$runtime: another folder in the place of the one that was copied: refused, and left alone" "$?:$(ls "$tmp/target/d"):$(grep -c 'a link was put in its way' "$tmp/bg.err")" "125:f:1"
	rm -rf "$tmp/target" ./*
}

network()
{
	inside_fails "$runtime: no network: nothing outside can be reached" '.' python3 -c 'import socket; socket.create_connection(("192.0.2.1", 80), 3)'
	inside_fails "$runtime: no names" '.' python3 -c 'import socket; socket.getaddrinfo("example.com", 80)'
	inside_says "$runtime: its own loopback works" ok python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname()); print("ok")'
	inside_says "$runtime: no interface but loopback" lo sh -c "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"
}

limits()
{
	policy <<<'process: {timeout: 1s}'
	inside sleep 20 </dev/null
	ok "$runtime: time: 124" test "$status" = 124
	policy <<<'process: {memory: 128M}'
	inside python3 -c 'x = bytearray(400 << 20); print(len(x))' </dev/null
	is "$runtime: memory: it does not get more" "$((status != 0)):$said" "1:"
	policy <<<'process: {max_processes: 20}'
	inside sh -c 'i=0; while [ $i -lt 60 ]; do sleep 3 & i=$((i + 1)); done; jobs | wc -l' </dev/null
	# gVisor's own kernel ends where the host lets it have no further thread
	like "$runtime: processes: there are no more" "$status:$told" '(fork|Resource|temporarily|Cannot)|^137|^125:.*ended without a word'
	policy <<<'process: {max_file_size: 64K}'
	inside sh -c 'head -c 200000 /dev/zero >/tmp/big; wc -c </tmp/big' </dev/null
	is "$runtime: file size: no more than that" "$(grep -oE '^[0-9]+$' "$tmp/out" | tail -n 1)" 65536
	policy <<<'filesystem: {tmp_size: 8M}'
	inside sh -c 'head -c 20000000 /dev/zero >/tmp/big' </dev/null
	like "$runtime: scratch space: it is bounded" "$status:$told" '[1-9].*(space|quota)'
	policy <<<'filesystem: {workdir: read-write}'
}

life()
{
	in_container sh -c 'echo up; exec sleep 60'
	like "$runtime: ps lists it" "$("$CORDON" ps)" "$id +running"
	outside "$CORDON" exec "$id" -- sh -c 'pwd; exit 9' </dev/null
	is "$runtime: exec: folder and exit status" "$status:$said" "9:$work"
	is "$runtime: exec: input and output" "$(echo in | "$CORDON" exec "$id" -- cat)" in
	outside "$CORDON" exec "$id" -- /nonexistent </dev/null
	is "$runtime: exec: 127" "$status" 127
	outside "$CORDON" stop "$id"
	ended "$pid"
	is "$runtime: stop ends it" "$status" 143
	ok "$runtime: and nothing is left" nothing_left "$id"
	in_container sh -c 'trap "" TERM INT HUP; echo up; (setsid sleep 61 &) ; while :; do sleep 0.1; done'
	outside "$CORDON" stop --time 1 "$id"
	ended "$pid"
	is "$runtime: stop does not ask twice" "$status" 137
	ok "$runtime: and nothing of it is left either" nothing_left "$id"
	in_container sh -c 'trap "echo got; exit 5" TERM; echo up; while :; do sleep 0.05; done'
	kill -TERM "$pid"
	ended "$pid"
	is "$runtime: a signal to cordon is one to the command" "$status:$said" "5:up
got"
}

# The supervisor dies without a word: what is inside goes with it, and the rest with the next look at runs.
kill_nine()
{
	local i marker
	marker=$((6100 + RANDOM % 800))
	in_container sh -c "echo up; (setsid sleep $marker &); exec sleep $marker"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	gone() { ! pgrep -f "^sleep $marker\$"; }
	ok "$runtime: kill -9: the command ends" until_true gone
	ok "$runtime: kill -9: nothing is left after the next ps" until_true nothing_left_after_ps "$id"
	for i in 0.005 0.02 0.05 0.1 0.2; do
		"$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- sleep "$marker" >/dev/null 2>&1 </dev/null &
		pid=$!
		sleep "$i"
		kill -9 "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	until_true gone
	# a cgroup that was made before there was a box goes with a later run: see sys/cgroup.h
	ok "$runtime: kill -9 at any time of a start: nothing is left" until_true nothing_left_after_ps
}

# --- runtimes that are broken: in a mount namespace with a program of ours in place of the runtime's ---

# with_program SCRIPT: sets status, said and told of a run in which the runtime's program is that one.
with_program()
{
	printf '%s\n' "$1" >"$tmp/program"
	chmod 755 "$tmp/program"
	outside timeout 50 unshare -m -- sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$tmp/program" "$(program)" "$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- true </dev/null
}

program()
{
	local name=$runtime
	[ "$runtime" != gvisor ] || name=runsc
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin command -v "$name"
}

broken()
{
	if ! is_root; then
		skip "$runtime: a runtime that is broken" "needs root, to put a broken one in its place"
		return
	fi
	with_program '#!/bin/sh
exit 1'
	ok "$runtime: one that exits: one line, 125" refused 125 'did not start'
	with_program '#!/bin/sh
printf "\033[31mgarbage\007\n" >&2
exit 3'
	ok "$runtime: what it prints is shown, and harmless" refused 125 'did not start.*x1b.*garbage'
	with_program '#!/bin/sh
for a; do case $a in --log=*) echo "{\"level\":\"error\",\"msg\":\"the reason\"}" >>"${a#--log=}" ;; esac; done
kill -9 $$'
	ok "$runtime: what it logs is shown" refused 125 'did not start.*the reason'
	with_program 'no program at all'
	ok "$runtime: one that cannot be executed" refused 125 'cannot be executed|did not start'
	with_program '#!/bin/sh
sleep 977 &
sleep 977'
	ok "$runtime: one that hangs is given up" refused 125 'in time|within'
	is "$runtime: with all that it started" "$(pgrep -f '^sleep 977$')" ""
	ok "$runtime: and nothing is left of any" nothing_left
}

missing()
{
	if ! is_root; then
		skip "$runtime: a runtime that is missing" "needs root, to hide the one that is there"
		return
	fi
	: >"$tmp/empty"
	chmod 644 "$tmp/empty"
	outside unshare -m -- sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$tmp/empty" "$(program)" "$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- true </dev/null
	ok "$runtime: missing: one line, 125" refused 125 'not installed|missing|not there'
}

full_disk()
{
	if ! is_root; then
		skip "$runtime: a full disk" "needs root, for a disk of its own"
		return
	fi
	mkdir -p "$boxes"
	outside unshare -m -- sh -c 'mount -t tmpfs -o size=16k,mode=711 x "$1" && shift && exec "$@"' sh "$boxes" "$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- true </dev/null
	ok "$runtime: no room for the box: one line, 125" refused 125 'space'
}

# ids as the host sees them: never root, never a user's
host_ids()
{
	if ! is_root || [ "$runtime" = gvisor ]; then
		return
	fi
	local marker=$((7100 + RANDOM % 800)) uids
	in_container sh -c "echo up; exec sleep $marker"
	uids=$(ps -o uid= -p "$(pgrep -d, -f "^sleep $marker\$")" | tr -d ' ')
	ok "$runtime: on the host its processes are nobody's ($uids)" test "$uids" -ge 1900000000
	"$CORDON" stop "$id"
	ended "$pid"
}

# a container that could write to its runtime's program through /proc would be the next one's master
sealed_program()
{
	[ "$runtime" = crun ] || return 0
	local process
	in_container sh -c 'echo up; exec sleep 60'
	read -r process _ <"$boxes/$id/process"
	ok "$runtime: its program is on a read-only mount, or sealed in memory" python3 -c '
import fcntl, os, sys
exe = os.open("/proc/%s/exe" % sys.argv[1], os.O_RDONLY)
try:
    sealed = fcntl.fcntl(exe, fcntl.F_GET_SEALS) == fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
except OSError:
    sealed = False
sys.exit(not (sealed or os.fstatvfs(exe).f_flag & os.ST_RDONLY))' "$process"
	"$CORDON" stop -t 0 "$id"
	ended "$pid"
}

null_was=$(stat -c '%u:%g %a' /dev/null)
for runtime in ${OCI_RUNTIMES:-gvisor runc crun}; do
	if [ -z "$(program)" ]; then
		skip "$runtime" "not installed"
		continue
	fi
	inside true </dev/null # what differs from native is said once
	for part in exit_codes stdio surroundings folders moves network limits life host_ids sealed_program kill_nine missing broken full_disk; do
		[ -z "${OCI_PARTS:-}" ] || [[ " $OCI_PARTS " == *" $part "* ]] || continue
		"$part"
	done
	ok "$runtime: nothing is left of all these runs" nothing_left
	is "$runtime: the host's /dev/null has the owner that it had" "$(stat -c '%u:%g %a' /dev/null)" "$null_was"
done
finish
