#!/bin/bash
# Calls that the guard makes for a workload end as the kernel would have ended them: the same program is run without a sandbox and in one, each time in a fresh work folder and with an empty /tmp/<name> of its own, and has to print the same.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/run_lib.sh
. "$(dirname "$0")/../run_lib.sh"

py=/usr/bin/python3
own=$(mktemp -d /tmp/cordon-calls.XXXXXX) || exit 99
trap 'rm -rf "$own"; tap_cleanup' EXIT

fresh()
{
	rm -rf "${work:?}"/* "${own:?}"/*
}

# same NAME PROGRAM: of Python. It stands in the work folder, and has an empty one below /tmp as OWN. with_time: a command before that of the sandbox.
same()
{
	local program="import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
OWN = sys.argv[1]
os.makedirs(OWN, exist_ok=True)
def linkat(old, new, flags):
    if libc.linkat(-100, old.encode(), -100, new.encode(), flags) < 0: return os.strerror(ctypes.get_errno())
def tried(what, *more, **named):
    try: return what(*more, **named)
    except OSError as e: return os.strerror(e.errno)
$2"
	fresh
	"$py" -c "$program" "$own" >"$tmp/want" 2>&1
	fresh
	# shellcheck disable=SC2086 # words
	outside ${with_time:-} "$CORDON" run --policy "$tmp/policy.yaml" -- "$py" -c "$program" "$own" </dev/null
	is "$1" "$status:$said$told" "0:$(cat "$tmp/want")"
}

# --- what a socket is called

same "a socket has the address that it was bound to: absolute, relative, and written in odd ways" '
os.makedirs("sub/deep"); os.symlink("sub", "link")
for n, name in enumerate((OWN + "/a", "plain", "sub/b", "./sub//deep/../c", "link/d", os.getcwd() + "/e", "link/../f", OWN + "//g", "/tmp/../" + OWN + "/h", "/proc/self/cwd/i")):
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
        s = socket.socket(socket.AF_UNIX, kind)
        print(tried(s.bind, name + str(kind)), s.getsockname(), os.path.exists(name + str(kind)))'

same "the same below the file descriptors of its process, whatever numbers they have" '
os.mkdir("d")
import fcntl
for n in 3, 4, 5, 6, 7, 8, 9, 12, 40, 500:
    fd = fcntl.fcntl(os.open("d", os.O_PATH), fcntl.F_DUPFD, 600); os.closerange(3, 600); os.dup2(fd, n)
    for way in "/proc/self/fd/%d/s%d", "/dev/fd/%d/t%d", "/proc/thread-self/fd/%d/u%d":
        s = socket.socket(socket.AF_UNIX)
        print(tried(s.bind, way % (n, n)), s.getsockname())
        s.detach()
s = socket.socket(socket.AF_UNIX)
print(tried(s.bind, "/proc/self/fd/77/x"), s.getsockname(), sorted(os.listdir("d")))'

# One that opened it would wait for whoever opens its other end, and all calls of the sandbox behind it.
with_time="timeout -k 5 120" same "nobody opens what stands below a descriptor that a socket is bound through, whatever number it has" '
import fcntl
os.makedirs("d/%d" % os.getpid()); os.mkfifo("d/%d/status" % os.getpid()); os.umask(0o27)
for n in range(3, 65):
    fd = fcntl.fcntl(os.open("d", os.O_PATH), fcntl.F_DUPFD, 600); os.closerange(3, 600); os.dup2(fd, n)
    s = socket.socket(socket.AF_UNIX)
    print(n, tried(s.bind, "/proc/self/fd/%d/s%d" % (n, n)), oct(os.stat("d/s%d" % n).st_mode))
    s.detach()'

same "addresses are taken byte by byte: with a NUL and without, as long as they may be and longer" '
def bind(path, size=None, family=socket.AF_UNIX):
    s = socket.socket(socket.AF_UNIX)
    raw = int(family).to_bytes(2, sys.byteorder) + path
    if libc.bind(s.fileno(), raw, len(raw) if size is None else size) != 0: return os.strerror(ctypes.get_errno())
    out, n = ctypes.create_string_buffer(200), ctypes.c_int(200)
    libc.getsockname(s.fileno(), out, ctypes.byref(n))
    return n.value, raw[2:3] and size != 2 and out.raw[:n.value] # of two bytes the kernel makes a name of its own
long = (OWN + "/" + "l" * 200).encode()
for path in b"one", b"two\0", b"three\0rest", long[:106] + b"\0", long[:107] + b"\0", long[:108], long[:109], long[:126], b"r" * 108, b"n" * 107 + b"/x", b"\0abstract", b"\0abstract\0", b"/", b".", b"one/", b"new/", b"one/x", b"none/x":
    print(len(path), bind(path))
print([bind(b"name", n) for n in (0, 1, 2, 3, 7, 300, -1)], bind(b"other", None, socket.AF_INET), len(os.listdir(".")), len(os.listdir(OWN)))'

same "who gets a datagram can answer it, and what was bound in one folder is nothing of another" '
open("s", "w").write("precious")
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(OWN + "/s")
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); server.bind(OWN + "/server")
s.sendto(b"ping", OWN + "/server"); data, sender = server.recvfrom(9); server.sendto(b"pong", sender)
print(data, sender, s.recv(9))
os.unlink(s.getsockname()); print(open("s").read(), os.listdir(OWN))'

same "what stands there is not bound to: files, links that lead on or nowhere, folders, sockets" '
open("file", "w"); os.mkdir("folder"); os.symlink("file", "link"); os.symlink("nothing", "dangling")
a = socket.socket(socket.AF_UNIX); a.bind("bound")
print(tried(a.bind, "twice"), [tried(socket.socket(socket.AF_UNIX).bind, n) for n in ("file", "folder", "link", "dangling", "bound", "folder/", "file/x", "dangling/x")], sorted(os.listdir(".")))
os.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone")
print(tried(socket.socket(socket.AF_UNIX).bind, "x"))'

same "a socket has the mode that the umask and its own leave" '
for mask in 0, 0o22, 0o77, 0o777:
    os.umask(mask); s = socket.socket(socket.AF_UNIX); s.bind("m%o" % mask); print(oct(os.stat("m%o" % mask).st_mode))
os.umask(0); s = socket.socket(socket.AF_UNIX); os.fchmod(s.fileno(), 0o640); s.bind("own"); print(oct(os.stat("own").st_mode))'

same "programs that talk to themselves by a socket work" '
import multiprocessing
from multiprocessing.connection import Client, Listener
if __name__ == "__main__":
    with Listener(OWN + "/l", "AF_UNIX") as l: print(l.address, Client(l.address).closed)
    multiprocessing.set_start_method("fork")
    with multiprocessing.Manager() as m: print(m.list([1, 2]))'

same "files are made and changed below a file descriptor of any number" '
import fcntl
os.mkdir("d")
for n in 3, 9, 40, 500:
    fd = fcntl.fcntl(os.open("d", os.O_PATH), fcntl.F_DUPFD, 600); os.closerange(3, 600); os.dup2(fd, n)
    for way in "/proc/self/fd/%d/s%d", "/dev/fd/%d/t%d":
        name = way % (n, n); os.close(os.open(name, os.O_CREAT | os.O_WRONLY)); os.chmod(name, 0o604); os.mkdir(name + "d"); os.rename(name + "d", name + "e")
    print(tried(os.open, "/proc/self/fd/77/x", os.O_CREAT), tried(os.chmod, "/proc/self/fd/77/x", 0o600), sorted((n, oct(os.stat("d/" + n).st_mode)) for n in os.listdir("d")))'

# --- and where it may not be

policy <<'END'
filesystem: {workdir: read-write, deny: ["**/*.key"]}
END
fresh
mkdir -p "$work/n/.git/objects" "$work/n/.git/refs" "$work/n/.git/hooks" && ln -s n/.git/hooks "$work/h" && : >"$work/n/.git/HEAD"
inside "$py" -c '
import os, socket
fd = os.open("n/.git", os.O_PATH)
for name in "s.key", os.getcwd() + "/s.key", "n/../s.key", "h/pre-commit", "n/.git/hooks/pre-push", "/proc/self/cwd/s.key", "/proc/self/fd/%d/hooks/x" % fd, "n/.git/config", "/usr/x":
    s = socket.socket(socket.AF_UNIX)
    try: s.bind(name); print("bound", name)
    except OSError as e: print(s.getsockname() or "no", end=" ")
fd = os.open("n/.git/hooks", os.O_PATH)
for name in "/proc/self/fd/%d/x" % fd, "/dev/fd/%d/x" % fd, "/proc/%d/fd/%d/x" % (os.getpid(), fd), "/proc/1/fd/3/x", "/proc/1/cwd/s.key":
    try: socket.socket(socket.AF_UNIX).bind(name); print("bound", name)
    except OSError as e: print("no", end=" ")' </dev/null
is "denied and protected names are no sockets, by whatever way they are reached" "$status:$said$told:$(find "$work" -type s)" "0:no no no no no no no no no no no no no no :"

# The host leads a link to and fro between a folder where the name may be and one where it may not, which a check of the name alone could not stand.
policy <<'END'
filesystem: {workdir: read-write, deny: ["guarded/*.sock"]}
END
fresh
mkdir "$work/plain" "$work/guarded"
cat >"$tmp/flip.py" <<'END'
import os, sys, time
until, n = time.monotonic() + 20, 0
os.symlink("plain", "d")
print("on", flush=True)
while time.monotonic() < until and not os.path.exists("stop"):
    n += 1
    os.symlink("guarded" if n % 2 else "plain", "next"); os.rename("next", "d")
END
(cd "$work" && exec nice "$py" "$tmp/flip.py" >"$tmp/flip.out") &
flip=$!
until_true grep -q on "$tmp/flip.out"
inside timeout 15 "$py" -c '
import os, socket, time
bound = refused = wrong = 0
end = time.monotonic() + 4
while time.monotonic() < end:
    s = socket.socket(socket.AF_UNIX)
    try: s.bind("d/x.sock"); bound += 1
    except OSError: refused += 1
    if os.path.lexists("guarded/x.sock"): wrong += 1
    try: os.unlink("plain/x.sock")
    except OSError: pass
open("stop", "w")
print(wrong, bound > 0, refused > 0)' </dev/null
wait "$flip"
is "a socket is where its name was judged, or nowhere, however the host moves links" "$status:$said$told:$(find "$work/guarded" -type s)" "0:0 True True:"
policy <<'END'
filesystem: {workdir: read-write}
END

# --- other calls

same "a link to where a link leads is one to the file" '
open("file", "w").write("x"); os.symlink("file", "l"); os.symlink("l", "ll"); os.mkdir("folder"); os.symlink("folder", "lf"); os.symlink("nothing", "dangling")
for n, (name, follow) in enumerate((("file", True), ("l", True), ("ll", True), ("l", False), ("lf", True), ("lf", False), ("dangling", True), ("dangling", False))):
    print(name, follow, linkat(name, "made%d" % n, 0x400 if follow else 0), os.path.islink("made%d" % n), os.path.lexists("made%d" % n))
print(os.stat("file").st_nlink, linkat("file/", "slash", 0), linkat("lf/", "slash", 0))'

same "only a folder is renamed by a name with a slash behind it" '
for name in "file", "other": open(name, "w").write("x")
os.mkdir("folder"); os.symlink("folder", "link")
print([tried(os.rename, a, b) for a, b in (("file", "new/"), ("file/", "new"), ("file", "other/"), ("link/", "new"), ("link", "new/"), ("folder/", "renamed/"), ("renamed", "again/"), ("file", "new"))], sorted(os.listdir(".")))'

# with O_CREAT the kernel itself takes the fortieth on some tries only
same "as many links are followed as the kernel follows" '
os.mkdir("d"); open("d/end", "w").write("x")
for chain in 39, 40, 41:
    for n in range(chain): os.symlink("d/end" if n == 0 else "l%d.%d" % (chain, n - 1), "l%d.%d" % (chain, n))
    print(chain, [type(tried(os.open, "l%d.%d" % (chain, chain - 1), flags)).__name__ for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR | (os.O_CREAT if chain != 40 else 0))], tried(os.truncate, "l%d.%d" % (chain, chain - 1), 0))'

policy <<'END'
filesystem: {workdir: read-write, deny: ["**/*.key"]}
END
fresh
inside "$py" -c '
import os
open("made", "w")
os.symlink("late.key", "l")
print(os.path.lexists("l"))' </dev/null
in_background "$py" -c '
import ctypes, os, time
open("ready", "w")
for i in range(100):
    if os.path.exists("go"): break
    time.sleep(0.05)
print(ctypes.CDLL(None).linkat(-100, b"l", -100, b"copy", 0x400), os.path.lexists("copy"))'
until_true test -e "$work/ready"
echo secret >"$work/late.key"
: >"$work/go"
ended "$pid"
is "a denied file that the host makes has no second name by a link that leads to it" "$said:$(stat -c %h "$work/late.key")" "-1 False:1"

finish
