#!/bin/bash
# cordon run: what goes in (stdin, environment, file descriptors, folders) and what comes out (stdout, stderr, exit status).
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

inside true
if [ "$status" != 0 ]; then
	printf '%s\n' "$told" | sed 's/^/# /'
	ok "a command runs at all" false
	finish
fi

# --- standard input, output and error ---

is "stdin: a pipe arrives" "$(printf 'a\nb' | "$CORDON" run -- cat)" "$(printf 'a\nb')"
printf 'from a file\n' >"$tmp/input"
is "stdin: a file arrives" "$("$CORDON" run -- cat <"$tmp/input")" "from a file"
is "stdin: /dev/null is empty" "$("$CORDON" run -- sh -c 'cat; echo end' </dev/null)" "end"
outside "$CORDON" run -- cat <&-
ok "stdin: a closed one cannot be read" failed_with 'Bad file descriptor'
is "stdin: a file's position is shared, as for any command" "$({ "$CORDON" run -- head -c 5 >/dev/null; cat; } <"$tmp/input")" "a file"
is "stdin: what the command does not read stays" "$(printf 'one\ntwo\n' | { "$CORDON" run -- true; cat; })" "$(printf 'one\ntwo')"
head -c 3000000 /dev/urandom >"$tmp/large"
# shellcheck disable=SC2094 # cmp only reads
is "stdin to stdout: 3 MB arrive whole" "$("$CORDON" run -- cat <"$tmp/large" | cmp - "$tmp/large" && echo same)" same
# shellcheck disable=SC2002,SC2094 # the pipe is the point
is "stdin to stdout: through pipes on both sides" "$(cat "$tmp/large" | "$CORDON" run -- cat | cmp - "$tmp/large" && echo same)" same
outside "$CORDON" run -- cat <"$tmp"
ok "stdin: a folder is refused: it would be a way out" refused 125 'stdin is a folder'

outside "$CORDON" run -- sh -c 'echo out; echo err >&2'
is "stdout and stderr are kept apart" "$said/$told" "out/err"
"$CORDON" run -- echo lost >&- 2>"$tmp/err"
status=$? told=$(cat "$tmp/err") said=
ok "stdout: closed, the command sees it closed" failed_with 'Bad file descriptor'
"$CORDON" run -- echo lost >/dev/full 2>"$tmp/err"
status=$? told=$(cat "$tmp/err")
ok "stdout: a full disk is passed through" failed_with 'No space left'
is "stderr: closed, the run goes on" "$("$CORDON" run -- sh -c 'echo x >&2; echo went on' 2>&-)" 'went on'
is "all three closed, the run goes on" "$("$CORDON" run -- sh -c 'echo made >made' <&- >&- 2>&-; cat made)" made
is "a reader that leaves early ends the writer by SIGPIPE" "$("$CORDON" run -- yes | head -n 1; echo "${PIPESTATUS[0]}")" "$(printf 'y\n141')"
printf 'old' >"$tmp/append"
"$CORDON" run -- echo new >>"$tmp/append"
is "stdout: a file is appended to where the shell says so" "$(cat "$tmp/append")" oldnew
is "stdout ends when the command closes it, not when the run ends" "$(
	"$CORDON" run -- sh -c 'echo early; exec >&- 2>&-; sleep 2' | { cat; date +%s%N >"$tmp/eof"; }
	echo $((($(date +%s%N) - $(cat "$tmp/eof")) / 1000000000 < 2))
)" "$(printf 'early\n1')"

# The names in /dev, with every kind of stdio.
echo in >"$tmp/in"
chmod 644 "$tmp/in"
names='echo out >>/dev/stdout; echo err >>/dev/stderr; echo fd >>/dev/fd/1; echo proc >>/proc/self/fd/1; cat /dev/stdin'
reopening()
{
	local w
	for w in out err fd proc in; do
		[[ " $1 " == *" $w "* ]] || { printf 'no "%s" in: %s\n' "$w" "$1"; return 1; }
	done
}
ok "/dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N: files" reopening \
	"$("$CORDON" run -- sh -c "$names" <"$tmp/in" >>"$tmp/o" 2>>"$tmp/e"; cat "$tmp/o" "$tmp/e" | tr '\n' ' ')"
pipes=$(echo in | { "$CORDON" run -- sh -c "$names" 2>&3 | cat; } 3>&1 | cat | tr '\n' ' ')
ok "/dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N: pipes" reopening "$pipes"
is "/dev/stdout, /dev/stderr: /dev/null" "$("$CORDON" run -- sh -c 'echo a >/dev/stdout && echo b >/dev/stderr && cat /dev/stdin && exit 3' </dev/null >/dev/null 2>&1; echo $?)" 3
is "tee /dev/stderr works" "$(echo x | "$CORDON" run -- tee /dev/stderr 2>&1 | tr -d '\n')" xx
inside_fails "/dev/tty cannot be opened where there is no terminal" '/dev/tty' sh -c 'cat </dev/tty'
inside_fails "nor be written" '/dev/tty' sh -c 'echo x >/dev/tty'

few_files()
{
	(ulimit -n 64; "$CORDON" run -- sh -c 'echo made >few && cat few') | grep -q made
}
ok "a low limit of open files is no hindrance" few_files

# --- exit status ---

all_statuses()
{
	local i bad=
	for ((i = 0; i < 256; i++)); do
		"$CORDON" run -- sh -c "exit $i" </dev/null 2>"$tmp/err"
		[ "$?" = "$i" ] || bad+=" $i"
	done
	echo "wrong:$bad"
	[ -z "$bad" ]
}
ok "exit status: 0 to 255 are passed on" all_statuses
for sig in HUP:1 INT:2 QUIT:3 ABRT:6 KILL:9 SEGV:11 PIPE:13 ALRM:14 TERM:15 USR1:10; do
	inside sh -c "kill -${sig%:*} \$\$"
	is "exit status: a command killed by SIG${sig%:*} gives 128 + ${sig#*:}" "$status" $((128 + ${sig#*:}))
done
cat >counts.py <<'END'
import signal, sys
kinds = set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}
signal.pthread_sigmask(signal.SIG_BLOCK, kinds)
print("ready", flush=True)
got = []
while not got or got[-1] != signal.SIGTERM:
    got.append(signal.sigwait(kinds))
print(*sorted(map(int, got)))
END
signals_pass()
{
	local sent="1 2 3 10 12 14 16 26 27 28 29 30 34 35 50 63 64 15" i
	setsid "$CORDON" run -- python3 counts.py </dev/null >"$tmp/got" 2>"$tmp/err" &
	until_true grep -q ready "$tmp/got"
	for i in $sent; do kill "-$i" $! && sleep 0.02; done
	wait $!
	cat "$tmp/got" "$tmp/err"
	[ "$(tail -n 1 "$tmp/got")" = "$(printf '%s\n' $sent | sort -n | xargs)" ]
}
ok "signals: what is sent to cordon is the command's, real-time signals too" signals_pass
inside /nonesuch/prog
ok "exit status: not found is 127" refused 127 '/nonesuch/prog: not found'
inside nonesuch-prog
ok "exit status: not in PATH is 127" refused 127 'nonesuch-prog: not found'
echo 'echo x' >noexec
inside ./noexec
ok "exit status: not executable is 126" refused 126 './noexec: cannot be executed'
inside /usr
ok "exit status: a folder is 126" refused 126 '/usr: cannot be executed'
printf '#!/nonesuch/interpreter\n' >script
chmod +x script
inside ./script
like "exit status: a script without its interpreter is 127, as in a shell" "$status:$told" '^(126|127):cordon: ./script: '
head -c 100 /dev/zero >garbage
chmod +x garbage
inside ./garbage
ok "exit status: a file of no known format is 126" refused 126 './garbage: cannot be executed'
printf 'echo "$0:$*:$#"; exit 4\n' >plain-text && chmod +x plain-text
inside ./plain-text a 'b c'
is "a text without an interpreter line is a script of /bin/sh, as for any other program that starts one" "$status:$said" "4:./plain-text:a b c:2"
inside env PATH="$work:$PATH" plain-text
is "also by its name" "$status:${said##*/}" "4:plain-text::0"
inside ./plain-text $(seq 2000)
ok "with too many words it is none" refused 126 './plain-text: cannot be executed'
: >empty && chmod +x empty
inside ./empty
is "an empty one does nothing, and does it well" "$status:$said$told" "0:"
chmod 111 plain-text
inside ./plain-text
[ "$(id -u)" = 0 ] || ok "one that cannot be read is none" refused 126 './plain-text: cannot be executed in the sandbox: Exec format error'
chmod 755 plain-text
policy <<END
filesystem: {workdir: read-write}
process: {deny_exec: ["$work/plain-text"]}
END
inside ./plain-text
ok "one that must not be executed is not read by a shell in its place" refused 126 'deny_exec'
policy <<'END'
filesystem: {workdir: read-write}
END
outside "$CORDON" run --policy "$tmp/none.yaml" -- true
ok "exit status: Cordon's own failures are 125" refused 125 'none.yaml'
policy <<'END'
filesystem: {workdir: read-write}
process: {timeout: 300ms}
END
inside sleep 5
is "exit status: the time limit gives 124" "$status" 124
policy <<'END'
filesystem: {workdir: read-write}
END
outside "$CORDON" run
is "exit status: no command is 125" "$status" 125
inside ''
like "exit status: an empty command name is not found" "$status:$told" '^127:cordon: '

# --- arguments ---

is "arguments arrive as they are" "$("$CORDON" run -- printf '<%s>' '' 'a b' '*' $'new\nline' '--' '-n' $'\xff')" "$(printf '<%s>' '' 'a b' '*' $'new\nline' '--' '-n' $'\xff')"
long=$(head -c 100000 /dev/zero | tr '\0' x)
is "a long argument arrives" "$("$CORDON" run -- printf '%s' "$long" | wc -c)" 100000
mapfile -t many < <(seq 20000)
is "20,000 arguments arrive" "$("$CORDON" run -- sh -c 'echo $#' - "${many[@]}")" 20000

# --- environment ---

want="HOME=$tmp/home
LANG=C.UTF-8
LOGNAME=cordon
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
PWD=$work
SHELL=/bin/sh
TMPDIR=/tmp
USER=cordon"
is "environment: built from nothing, to the letter" "$(AWS_SECRET_ACCESS_KEY=fake FOO=bar LD_BIND_NOW=1 TERM=xterm "$CORDON" run -- env </dev/null 2>&1 | sort)" "$want"
is "environment: what the kernel keeps of the command holds no more" "$(FOO=bar "$CORDON" run -- cat /proc/self/environ </dev/null | tr '\0' '\n' | sort)" "$want"
policy <<'END'
filesystem: {workdir: read-write}
process: {env: {set: {LANG: de_DE.UTF-8, GREETING: "hello world", EMPTY: ""}, pass: [FOO, ABSENT, LD_PRELOAD]}}
END
export FOO=bar BAR=no
inside env
has_line()
{
	grep -qxF -- "$2" <<<"$1" || { echo "$1"; return 1; }
}
ok "env.set sets" has_line "$said" "GREETING=hello world"
ok "env.set sets an empty value" has_line "$said" "EMPTY="
ok "env.set wins over the safe set" has_line "$said" "LANG=de_DE.UTF-8"
ok "env.pass passes" has_line "$said" "FOO=bar"
is "env.pass of an absent one passes nothing, and nothing else comes" "$(grep -c -e ABSENT -e BAR -e LD_PRELOAD <<<"$said")" 0
is "... of which nothing is said while the host has none" "$told" ""
export LD_AUDIT_NOTHING=1
sed -i 's/LD_PRELOAD/LD_AUDIT_NOTHING, &/' "$tmp/policy.yaml"
inside env
is "env.pass of what steers the loader: not passed" "$(grep -c LD_AUDIT <<<"$said")" 0
like "... which is said, once, with what to do" "$told" '^cordon: [^ ]*policy\.yaml:[0-9]+: process\.env\.pass: LD_AUDIT_NOTHING can never be passed: .*process\.env\.set.*$'
is "... in one line" "$(wc -l <<<"$told")" 1
like "... and by cordon env" "$("$CORDON" env -p "$tmp/policy.yaml")" 'LD_AUDIT_NOTHING +can never be passed: .*\(.*policy\.yaml:'
unset LD_AUDIT_NOTHING
is "--env NAME=VALUE sets, --env NAME passes" "$("$CORDON" run --env X=1 --env FOO --env 'Y=a b=c' -- env </dev/null | grep -e ^X -e ^FOO -e ^Y | sort | tr '\n' ';')" "FOO=bar;X=1;Y=a b=c;"
outside "$CORDON" run --env 1X=2 -- true
ok "--env with a name that is none is refused" refused 125 '1X'
outside "$CORDON" run --env LD_PRELOAD -- true
ok "--env never passes what steers the loader" refused 125 'LD_PRELOAD'
policy <<'END'
filesystem: {workdir: read-write}
END

# --- file descriptors, folder, identity ---

is "fds: 3 to 9 and 100 are gone" "$("$CORDON" run -- sh -c 'for f in /proc/self/fd/*; do [ -e "$f" ] && echo "${f##*/}"; done' 3</etc/passwd 4</ 5>"$tmp/x" 6<. 7</dev/null 8<&0 9>&1 100</etc </dev/null | tr '\n' ' ')" "0 1 2 "
is "fds: also for a command that looks by number" "$("$CORDON" run -- python3 -c 'import os
for n in range(3, 1024):
    try: os.fstat(n); print(n)
    except OSError: pass' 3</etc/passwd 9</ 200</ 2>&1)" ""
opens='import os
for f in (lambda: os.fchmod(1, 0o666), lambda: os.chmod("/proc/self/fd/1", 0o666)):
    try: f()
    except PermissionError: pass'
is "a program can open a file to others that came as its standard output" "$(umask 077; python3 -c "$opens" >>"$tmp/log"; stat -c %a "$tmp/log")" 666
is "... but not inside" "$(rm "$tmp/log"; umask 077; "$CORDON" run -- python3 -c "$opens" >>"$tmp/log"; stat -c %a "$tmp/log")" 600
# What may be written by everybody, the kernel would give attributes; and what is the user's own.
attributes='import os
for f in (lambda: os.setxattr(0, "user.cordon", b"x"), lambda: os.setxattr("/proc/self/fd/0", "user.cordon", b"x"), lambda: os.removexattr(0, "user.was")):
    try: f()
    except OSError: pass'
# with_input FILE CMD...: which attributes it has when CMD is over, which has it as its standard input
with_input()
{
	python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.was", b"1")' "$1"
	"${@:2}" <"$1"
	python3 -c 'import os, sys; print(*sorted(n for n in os.listxattr(sys.argv[1]) if n.startswith("user.")))' "$1"
}
echo text >"$tmp/given" && chmod 666 "$tmp/given"
if [ "$(with_input "$tmp/given" python3 -c "$attributes" 2>&1)" = user.cordon ]; then
	python3 -c 'import os, sys; os.removexattr(sys.argv[1], "user.cordon")' "$tmp/given"
	is "a run gives its standard input no attribute and takes none" \
		"$(with_input "$tmp/given" "$CORDON" run -- python3 -c "$attributes" 2>&1)" user.was
	inside_says "files of its own have attributes, removed ones too" "b'x' b'x'" python3 -c 'import os
f = os.open("mine", os.O_RDWR | os.O_CREAT, 0o600)
os.setxattr(f, "user.a", b"x")
a = os.getxattr("mine", "user.a")
os.unlink("mine")
os.setxattr(f, "user.b", b"x")
print(a, os.getxattr(f, "user.b"))'
else
	skip "a run gives its standard input no attribute and takes none" "this file system has none for users"
fi
inside_says "files of its own it opens to others, removed ones too" "666 666" python3 -c 'import os
f = os.open("own", os.O_RDWR | os.O_CREAT, 0o600)
os.fchmod(f, 0o666)
a = os.fstat(f).st_mode & 0o777
os.fchmod(f, 0o600)
os.unlink("own")
os.fchmod(f, 0o666)
print("%o %o" % (a, os.fstat(f).st_mode & 0o777))'
inside_says "the command starts in the work folder" "$work" pwd -P
mkdir sub
is "--workdir names it" "$("$CORDON" run --workdir sub -- pwd)" "$work/sub"
ln -s sub link
is "--workdir through a link is the folder itself" "$("$CORDON" run --workdir link -- pwd)" "$work/sub"
mkdir "$tmp/private" && echo FAKE-SECRET >"$tmp/private/key"
inside sh -c "mkdir pkg && mv pkg pkg.old && ln -s '$tmp/private' pkg"
is "a run can leave a link in the place of a folder" "$(cat pkg/key)" FAKE-SECRET
like "--workdir does not follow it out of the current folder" "$("$CORDON" run --workdir pkg -- cat key 2>&1)" "a link leads to $tmp/private, out of the current folder"
is "... which fails" "$("$CORDON" run -w ./pkg/ -- cat key >/dev/null 2>&1; echo $?)" 125
is "... and why says the same" "$("$CORDON" why -w pkg --path pkg/key >/dev/null 2>&1; echo $?)" 1
like "where the whole name is given, it is said where it leads" "$("$CORDON" run -w "$work/pkg" -- true 2>&1)" "note: the work folder is $tmp/private, where the link $work/pkg leads"
is "a folder outside may be named as one that lies beside" "$(cd sub && "$CORDON" run -w ../pkg.old -- pwd 2>&1)" "$work/pkg.old"
rm -r pkg pkg.old
for folder in //etc //usr ///etc //usr/; do
	like "--workdir $folder is no other than with one slash" "$("$CORDON" run -w "$folder" -- true 2>&1)" 'belongs to the system'
done
policy <<'END'
filesystem: {workdir: read-write}
process: {user: 1234}
END
inside_says "the user inside is process.user and nobody else" "1234 1234 1234" sh -c 'echo $(id -u) $(id -g) $(id -G)'
inside_says "no capability is left" "0000000000000000" sh -c "grep CapEff /proc/self/status | cut -f2"
inside_says "only its own processes are seen" "1" sh -c 'ls -d /proc/[0-9]* | grep -vc -e "/$$\$" -e "/1\$" | grep -c .'
inside_says "the host's name stays outside" cordon uname -n
inside_says "the network has no interface but lo" "lo:" sh -c "tail -n +3 /proc/net/dev | awk '{print \$1}'"
inside_says "... a name is not known, and nothing that is worth another try" "-2" python3 -c 'import socket
try: socket.getaddrinfo("example.test", 80)
except socket.gaierror as e: print(e.errno)'
inside_says "... but for its own" "127.0.0.1" python3 -c 'import socket; print(socket.gethostbyname("localhost"))'
inside touch owned
is "what it makes is the caller's" "$(stat -c %u owned)" "$(id -u)"
is "umask: the caller's goes in" "$(umask 027; "$CORDON" run -- sh -c umask </dev/null)" 0027

# --- the work folder's modes ---

echo old >file
for mode in none read-only read-write copy; do
	policy <<END
filesystem: {workdir: $mode}
END
	case $mode in
	none)
		inside_fails "workdir none: it is not there" 'No such file|cannot access|Permission denied' ls "$work/file"
		inside_says "workdir none: the command starts at home" "$tmp/home" pwd
		;;
	read-only)
		inside_says "workdir read-only: it is read" old cat file
		inside_fails "workdir read-only: a file cannot be made" 'Read-only|Permission denied' sh -c 'echo x >new'
		inside_fails "workdir read-only: nor changed" 'Read-only|Permission denied' sh -c 'echo x >file'
		inside_fails "workdir read-only: nor removed" 'Read-only|Permission denied' rm -f file
		;;
	read-write)
		inside_works "workdir read-write: a file is made and changed" sh -c 'echo new >new && echo more >>file'
		is "workdir read-write: and it is on the host at once" "$(cat new file | tr '\n' ' ')" "new old more "
		;;
	copy)
		inside_says "workdir copy: changes are seen inside" changed sh -c 'echo changed >file; rm new; mkdir made-inside; cat file'
		is "workdir copy: and not on the host" "$(tr '\n' ' ' <file; ls new)" "old more new"
		;;
	esac
done
rm -rf new file

# --- filesystem.read and filesystem.write ---

mkdir -p "$tmp/shown/sub" "$tmp/other" ro/below rw
echo shown >"$tmp/shown/file"
echo single >"$tmp/single"
echo sibling >"$tmp/sibling"
echo keep >ro/file
ln -s "$tmp/shown" "$tmp/alias"
ln -s nowhere "$tmp/dangling"
policy <<END
filesystem:
  workdir: read-write
  read: ["$tmp/shown", "$tmp/single", "$tmp/absent", "$tmp/absent/deep/er", "$tmp/dangling", "$work/ro"]
  write: ["$tmp/other", "$tmp/shown/sub"]
END
inside_says "filesystem.read: a folder" shown cat "$tmp/shown/file"
inside_says "filesystem.read: a file" single cat "$tmp/single"
inside_fails "filesystem.read: its sibling is not there" 'No such file' cat "$tmp/sibling"
inside_fails "filesystem.read: cannot be written" 'Read-only|Permission denied' sh -c "echo x >$tmp/shown/file"
inside_fails "filesystem.read: a shown file cannot be written" 'Read-only|Permission denied' sh -c "echo x >$tmp/single"
inside_fails "filesystem.read: one that is missing stays missing" 'No such file' ls "$tmp/absent"
is "filesystem.read: ... and is not made on the host" "$(ls -d "$tmp/absent" 2>/dev/null)" ""
inside_works "filesystem.write: a folder" sh -c "echo x >$tmp/other/made && mkdir $tmp/other/d && rm -r $tmp/other/d"
is "filesystem.write: it is on the host" "$(cat "$tmp/other/made")" x
inside sh -c "echo x >$tmp/shown/sub/made"
ok "filesystem.write below filesystem.read is writable" succeeded
inside_fails "filesystem.read below a writable work folder is read-only" 'Read-only|Permission denied' sh -c 'echo x >ro/new'
inside_fails "... at depth" 'Read-only|Permission denied' sh -c 'echo x >ro/below/new'
inside_fails "... and its files cannot be changed" 'Read-only|Permission denied' sh -c 'echo x >ro/file'
inside_fails "... nor removed" 'Read-only|Permission denied' rm -f ro/file
inside_fails "... nor can it be renamed away" 'busy|Permission denied|Read-only' mv ro gone
inside_says "... but read" keep cat ro/file
inside_works "... and all beside it is writable" sh -c 'echo x >rw/new && mv rw/new rw/newer'
policy <<END
filesystem: {workdir: read-only, write: ["$work/rw", "$work/ro/below"]}
END
inside_works "a writable folder below a read-only work folder" sh -c 'echo x >rw/made && echo y >ro/below/made'
inside_fails "... and nothing beside it" 'Read-only|Permission denied' sh -c 'echo x >ro/made'
policy <<END
filesystem: {workdir: read-write, read: ["$tmp/alias"]}
END
inside_says "filesystem.read: a folder behind a link is shown under the name given" shown cat "$tmp/alias/file"
policy <<END
filesystem: {workdir: read-write, write: ["$tmp/wfile"]}
END
echo a >"$tmp/wfile"
inside_works "filesystem.write: a file" sh -c "echo b >$tmp/wfile"
is "filesystem.write: the file is changed on the host" "$(cat "$tmp/wfile")" b

inside_works "the base system is read" sh -c 'ls /usr/bin /etc/passwd /bin/sh >/dev/null'
inside_fails "and not written" 'Read-only|Permission denied' sh -c 'echo x >/usr/x'
inside_fails "the user's home is empty" 'No such file' sh -c 'ls ~/.ssh'
inside_works "a home of its own can be written" sh -c 'echo x >~/x && mkdir -p ~/.cache/y && echo z >~/.cache/y/z'
is "and it stays inside" "$(ls -A "$tmp/home")" ""
inside_works "/tmp is its own" sh -c 'echo x >/tmp/only-inside && ls /tmp'
is "and stays inside too" "$(ls /tmp/only-inside 2>/dev/null)" ""

# --- work folders with odd names and places ---

policy <<'END'
filesystem: {workdir: read-write}
END
odd()
{
	local dir=$2 mode got
	mkdir -p "$dir" && cd "$dir" || return 1
	for mode in read-write copy read-only; do
		printf 'version: 1\nfilesystem: {workdir: %s, deny: ["**/hidden"]}\n' "$mode" >"$tmp/odd.yaml"
		echo secret >hidden
		case $mode in
		read-only) got=$("$CORDON" run --policy "$tmp/odd.yaml" -- sh -c 'test -s in && ! cat hidden 2>/dev/null && pwd' 2>&1) ;;
		*) got=$("$CORDON" run --policy "$tmp/odd.yaml" -- sh -c 'echo a >in && mkdir -p d && mv in d && mv d/in . && ! cat hidden 2>/dev/null && pwd' 2>&1) ;;
		esac
		if [ "$got" != "$dir" ]; then
			printf '%s: got %s\nwant %s\n' "$mode" "$got" "$dir"
			cd "$work" || exit
			return 1
		fi
	done
	[ -e in ] || { echo "nothing came out"; return 1; }
	cd "$work" || exit
}
o=$tmp/odd
# shellcheck disable=SC1003,SC2016 # nothing here is meant to be expanded
for name in "spaces in the name" "comma,comma" "colon:colon" "double\"quote" "single'quote" 'back\slash' 'trailing\' 'star*' 'question?' '[brackets]' '{braces,x}' '$dollar`tick`' '#hash' '%percent%s' '-dash' '~tilde' 'ünïcode' '.hidden-folder' "$(printf 'x%.0s' {1..255})"; do
	ok "work folder: ${name:0:40}" odd "$name" "$o/$name"
done
ok "work folder: a newline in the name" odd x "$o/new"$'\n'"line"
ok "work folder: a tab and an escape in the name" odd x "$o/tab"$'\t\e[31m'
ok "work folder: bytes that are not UTF-8" odd x "$o/"$'\xff\xfe\x80'
ok "work folder: 60 folders deep" odd x "$o/$(printf 'd%.0s/' {1..60})end"
ok "work folder: a path of 3,000 bytes" odd x "$o/$(printf "$(printf 'n%.0s' {1..199})/%.0s" {1..14})end"
for top in /tmp /var/tmp /home /srv /mnt /opt; do
	if [ -w "$top" ]; then
		there=$top/cordon-test-$$
		mkdir -m 755 "$there"
		ok "work folder: below $top" odd x "$there/work"
		rm -rf "$there"
	else
		skip "work folder: below $top" "it is not writable here"
	fi
done

# --- dry run ---

before=$(runs | wc -l)
outside "$CORDON" run --dry-run -- touch dry
is "--dry-run starts nothing" "$status:$(ls dry 2>/dev/null)" "0:"
is "and leaves no run" "$(runs | wc -l)" "$before"
like "and prints the plan" "$said" 'touch'
# Opens for writing are done for the workload: one that has to wait is interrupted as it is elsewhere.
cat >"$work/waits.py" <<'END'
import os, signal, sys, threading
os.mkfifo("/tmp/fifo")
def heard(*a):
    raise InterruptedError
signal.signal(signal.SIGALRM, heard)
if sys.argv[1] == "threads":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    os.open("/tmp/fifo", os.O_WRONLY)
except InterruptedError:
    print("interrupted", flush=True)
os._exit(0)
END
inside timeout -k 1 8 /usr/bin/python3 waits.py alone
is "a handler of the program's interrupts an open that waits" "$said" "interrupted"
inside timeout -k 1 8 /usr/bin/python3 waits.py threads
is "... in a program with threads too" "$said" "interrupted"
inside timeout -k 1 8 bash -c 'mkfifo /tmp/f; trap "echo heard; exit 3" TERM; (sleep 0.5; kill -TERM $$) & echo x >/tmp/f'
is "... and a trap of a shell's" "$status:$said" "3:heard"
inside timeout -k 1 8 /usr/bin/python3 -c '
import ctypes, os, threading
open("/proc/thread-self/comm", "w").write("first")
t = threading.Thread(target=threading.Event().wait, daemon=True)
t.start()
open("/proc/self/task/%d/comm" % t.native_id, "w").write("second")
print(open("/proc/self/comm").read().strip(), open("/proc/self/task/%d/comm" % t.native_id).read().strip(), os.open("/etc/passwd", os.O_PATH | os.O_RDWR) > 2, flush=True)
os._exit(0)'
is "threads can be named, by their own and by others; a mere path can be had with any mode" "$said" "first second True"
rm -f "$work/waits.py"

# Whose children are ordinary already, and who may not take that back.
if [ "$(id -u)" = 0 ] && chrt --reset-on-fork --fifo 1 true 2>/dev/null; then
	theirs=$(mktemp -d /tmp/cordon-test.XXXXXX) && chown 4242:4242 "$theirs"
	is "an ordinary user who is urgent runs as well" "$(cd / && chrt --reset-on-fork --fifo 1 setpriv --reuid 4242 --regid 4242 --clear-groups env -i PATH="$PATH" HOME="$theirs" "$CORDON" run --profile strict -- echo ran 2>&1 | tail -n 1)" ran
	rm -rf -- "$theirs"
else
	skip "an ordinary user who is urgent runs as well" "nobody here can be"
fi

finish
