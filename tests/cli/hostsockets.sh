#!/bin/bash
# Sockets and FIFOs that the host makes in a shown folder while a sandbox runs lead nowhere; those that the workload
# makes there itself go on to work.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
. "$tests_dir/hostsockets_lib.sh"
# shellcheck disable=SC2154 # names and later are hostsockets_lib.sh's

all_reached()
{
	asks 0 && [ "$(cat "$tmp/got")" = $'up\n'"reached ${names[*]}" ]
}

nothing_reached()
{
	asks "$later" "$CORDON" run --policy "$tmp/policy.yaml" "$@" -- && reaches_none
}

ok "without a sandbox all services are reached that the host makes or binds anew (control)" all_reached
ok "services of the host that come meanwhile are not: sockets, FIFOs, bound anew, moved in, linked" nothing_reached
logged()
{
	"$CORDON" logs "$(runs | head -n 1)" | grep -F "$work/new/deep/late.sock" | grep 'socket or FIFO of the host'
}
ok "... and the log says what was covered" logged
policy <<END
filesystem: {workdir: read-only}
END
ok "... in a work folder that is only read" nothing_reached
policy <<END
filesystem: {workdir: none, read: ["$work"]}
END
ok "... in a folder of filesystem.read" nothing_reached
policy <<END
filesystem: {workdir: copy}
END
ok "... in a copy of the work folder" nothing_reached
policy <<END
filesystem: {workdir: read-write}
END

# Where a service most likely makes one, it is watched. (A daemon that starts anew binds the same name.)
at_the_top()
{
	: >"$tmp/got"
	"$CORDON" run -- python3 -c '
import os, socket, sys, time
time.sleep(1)
print("up", flush=True)
for i in range(int(sys.argv[1])):
    while not os.path.exists("made%d" % i): time.sleep(0.01)
    time.sleep(0.3 * int(sys.argv[2]))
    try: socket.socket(socket.AF_UNIX).connect("top.sock"); print("reached")
    except PermissionError: print("no")
    open("next%d" % i, "w").close()' 4 "${CORDON_TEST_SLOW:-1}" >"$tmp/got" 2>"$tmp/told" </dev/null &
	run=$!
	until_true grep -q up "$tmp/got"
	python3 -c '
import os, socket, time
for i in range(4):
    if i: os.unlink("top.sock")
    s = socket.socket(socket.AF_UNIX); s.bind("top.sock"); s.listen()
    open("made%d" % i, "w").close()
    for t in range(1200):
        if os.path.exists("next%d" % i): break
        time.sleep(0.05)'
	wait "$run"
	rm -rf "${work:?}"/*
	cat "$tmp/got" "$tmp/told"
	[ "$(cat "$tmp/got")" = $'up\nno\nno\nno\nno' ]
}
ok "one at the top of a shown folder is covered at once, each time that it is bound" at_the_top

says_why()
{
	mkfifo f
	"$CORDON" why --path f
	rm f
}
like "why says so" "$(says_why)" "cannot be seen .*during a run is covered within about two seconds.*: a socket or FIFO"

# That its name could not be written would keep nobody from coming to it.
protected_name()
{
	python3 -c '
import os, socket
s = socket.socket(socket.AF_UNIX); s.bind(".envrc"); s.listen()
open("up", "w").close()
while not os.path.exists("done"): pass' &
	services=$!
	until_true [ -e up ]
	inside python3 -c '
import socket
try: socket.socket(socket.AF_UNIX).connect(".envrc"); print("reached")
except OSError as e: print(e.strerror)'
	touch "done"
	wait "$services"
	rm -rf .envrc "${work:?}"/*
	echo "$said$told"
	[ "$said" = "Permission denied" ]
}
ok "one that has a protected name is covered, not only read-only" protected_name

# --- what the workload makes itself

# For seconds, so that its folders are searched meanwhile: a server that stays, one that is bound anew all the time,
# datagrams, FIFOs, other names, what a server left behind.
own=$(
	cat <<'END'
import os, socket, stat, sys, threading, time
def listening(path):
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen()
    return s
def answers(s, path):
    c = socket.socket(socket.AF_UNIX)
    c.settimeout(20)
    c.connect(path)
    a = s.accept()[0]
    a.send(b"x")
    assert c.recv(1) == b"x"
os.makedirs("run/deep", exist_ok=True)
stays = listening("stays.sock")
names = ["stays.sock"]
listening("left.sock").close()
os.mkfifo("run/stays.fifo")
os.mknod("run/node.sock", stat.S_IFSOCK | 0o600)
os.mknod("run/sticky.fifo", stat.S_IFIFO | 0o1640)
modes = [stat.S_IMODE(os.lstat(path).st_mode) for path in ("run/stays.fifo", "run/node.sock", "run/sticky.fifo")]
assert modes == [0o644, 0o600, 0o1640], modes
end, i = time.monotonic() + float(sys.argv[1]), 0
while time.monotonic() < end:
    i += 1
    for path in "run/again.sock", "run/deep/again.sock", "again.sock":
        s = listening(path)
        answers(s, path)
        s.close()
        os.unlink(path)
    d = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    d.bind("run/d")
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"y", "run/d")
    assert d.recv(10) == b"y"
    os.unlink("run/d")
    os.mkfifo("run/fifo")
    for fifo in "run/fifo", "run/stays.fifo":
        t = threading.Thread(target=lambda: open(fifo, "w").write("z"))
        t.start()
        assert open(fifo).read() == "z"
        t.join()
    os.unlink("run/fifo")
    for path in names:
        answers(stays, path)
    if i == 20:
        os.link("stays.sock", "run/other.sock")
        os.rename("stays.sock", "run/renamed.sock")
        os.rename("run/deep", "run/moved")
        os.mkdir("run/deep")
        names = ["run/other.sock", "run/renamed.sock"]
    time.sleep(0.005)
assert i > 20, i
for path in "left.sock", "run/node.sock", "run/stays.fifo", "run/sticky.fifo", "run/other.sock", "run/renamed.sock":
    os.unlink(path)
print("all work")
END
)
rm -rf "${work:?}"/*
umask 022
ok "the workload's own sockets and FIFOs work without a sandbox (control)" python3 -c "$own" 2
rm -rf "${work:?}"/*
inside_says "... and in one, however often they are bound anew" "all work" python3 -c "$own" 8
rm -rf "${work:?}"/*
policy <<END
filesystem: {workdir: copy}
END
inside_says "... in a copy of the work folder" "all work" python3 -c "$own" 4
policy <<END
filesystem: {workdir: read-write}
END

# More of them than are remembered at a time.
inside_says "... also thousands, and the last of them" "work" python3 -c '
import os, socket, time
for i in range(6000):
    socket.socket(socket.AF_UNIX).bind("s"); os.unlink("s")
kept = []
for i in range(300):
    s = socket.socket(socket.AF_UNIX); s.bind("kept%d" % i); s.listen(); kept.append(s)
time.sleep(5)
for i in range(300):
    socket.socket(socket.AF_UNIX).connect("kept%d" % i); os.unlink("kept%d" % i)
print("work")'

# --- what could be taken for the workload's

# It makes and removes sockets and FIFOs of the same names all the time, so that numbers of files are used again, and
# the host binds just then.
mistaken()
{
	rm -rf "${work:?}"/*
	: >"$tmp/got"
	"$CORDON" run -- python3 -c '
import os, socket, stat, sys, time
later = float(sys.argv[1])
print("up", flush=True)
while not os.path.exists("made"):
    for make in socket.socket(socket.AF_UNIX).bind, lambda s: os.mknod(s, stat.S_IFSOCK | 0o600), os.mkfifo:
        try: make("s")
        except OSError: pass
        try: os.unlink("s")
        except OSError: pass
time.sleep(later)
for name in os.listdir("."):
    try:
        socket.socket(socket.AF_UNIX).connect(name); print("reached", name)
    except OSError as e: pass
print("on")' "$later" >"$tmp/got" 2>"$tmp/told" </dev/null &
	run=$!
	until_true grep -q up "$tmp/got"
	python3 -c '
import os, socket, time
kept, tries = [], 0
while len(kept) < 200 and tries < 100000:
    tries += 1
    s = socket.socket(socket.AF_UNIX)
    try:
        s.bind("s"); s.listen(); os.rename("s", "h%d" % len(kept)); kept.append(s)
    except OSError: pass
    if tries % 50 == 0: time.sleep(0.001)
open("made", "w").close()
while not os.path.exists("done"): time.sleep(0.05)' &
	services=$!
	wait "$run"
	touch "done"
	wait "$services"
	cat "$tmp/got" "$tmp/told"
	grep -q '^on$' "$tmp/got" && ! grep -q reached "$tmp/got"
}
ok "no socket of the host's is taken for the workload's, though it makes and removes others all the time" mistaken

# A socket that another sandbox made is none of this one's.
anothers()
{
	rm -rf "${work:?}"/*
	"$CORDON" run -- python3 -c '
import os, socket, time
while not os.path.exists("up"): time.sleep(0.05)
s = socket.socket(socket.AF_UNIX); s.bind("theirs.sock"); s.listen()
os.mkfifo("theirs.fifo"); f = os.open("theirs.fifo", os.O_RDWR)
open("made", "w").close()
for i in range(1200):
    if os.path.exists("done"): break
    time.sleep(0.05)' &
	services=$!
	asked=$("$CORDON" run -- python3 -c '
import os, socket, sys, time
time.sleep(1)
open("up", "w").close()
while not os.path.exists("made"): time.sleep(0.05)
time.sleep(float(sys.argv[1]))
asks = socket.socket(socket.AF_UNIX).connect, lambda path: os.open(path, os.O_WRONLY | os.O_NONBLOCK)
for ask, path in zip(asks, ("theirs.sock", "theirs.fifo")):
    try: ask(path); print("reached")
    except OSError: print("no")' "$later")
	touch "done"
	wait "$services"
	echo "$asked"
	[ "$asked" = $'no\nno' ]
}
ok "sockets and FIFOs of another sandbox in the same folder are not reached" anothers

# --- what PID 1 refuses at once

# In the moment before it is covered the workload can neither write to a FIFO of the host's, nor give it or a socket
# another name.
at_once()
{
	rm -rf "${work:?}"/*
	: >"$tmp/got"
	"$CORDON" run -- python3 -c '
import errno, os, time
print("up", flush=True)
while not os.path.exists("made"): pass
def tried(what):
    try: what(); return "done"
    except OSError as e: return errno.errorcode[e.errno]
try: os.mkfifo("own.fifo"); own = os.open("own.fifo", os.O_RDWR)
except OSError: pass
ways = os.O_WRONLY | os.O_NONBLOCK, os.O_WRONLY, os.O_RDWR | os.O_NONBLOCK, os.O_RDWR, os.O_RDWR | os.O_CREAT
print(*[tried(lambda: os.open("h.fifo", way)) for way in ways],
      *[tried(lambda: f(name, "x")) for name in ("h.sock", "h.fifo") for f in (os.rename, os.link)],
      tried(lambda: os.open("own.fifo", os.O_WRONLY)))' >"$tmp/got" 2>"$tmp/told" </dev/null &
	run=$!
	until_true grep -q up "$tmp/got"
	python3 -c '
import os, socket
os.mkfifo("h.new"); f = os.open("h.new", os.O_RDWR)
s = socket.socket(socket.AF_UNIX); s.bind("h.sock"); s.listen()
os.rename("h.new", "h.fifo")
open("made", "w").close()
while not os.path.exists("done"): pass' &
	services=$!
	wait "$run"
	touch "done"
	wait "$services"
	cat "$tmp/got" "$tmp/told"
	# EBUSY, EXDEV: it is covered already
	grep -Eq '^(EACCES ){5}((EACCES|EBUSY|EXDEV) ){4}done$' "$tmp/got"
}
ok "a FIFO of the host's is never opened for writing, and neither it nor a socket gets another name" at_once
finish
