# shellcheck shell=bash
# Services of the host that make sockets and FIFOs in $work while a sandbox runs, and a workload that comes to them:
# source it behind run_lib.sh.
# shellcheck disable=SC2154 # tmp is lib.sh's, work run_lib.sh's

away=$tmp/away # never shown; on the same file system
mkdir -p "$away"

# The host's side: some services from the start, which are bound anew when a file `go` appears, with others beside them;
# `made` says that all is there. Prints which of them somebody came to.
cat >"$tmp/services.py" <<'END'
import os, select, socket, sys, time
away = sys.argv[1]
os.umask(0) # for root: a workload in a container is another user
kept, asked = [], set()
def bind(path, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind)
    s.bind(path)
    if kind == socket.SOCK_STREAM:
        s.listen(64)
    kept.append((s, path))
def fifo(path):
    os.mkfifo(path)
    kept.append((os.open(path, os.O_RDWR | os.O_NONBLOCK), path))
    if path.endswith("talks"):
        os.write(kept[-1][0], b"secret of the host")
def serve(until):
    while not until():
        for s in select.select([k[0] for k in kept if not k[1].endswith("talks")], [], [], 0.05)[0]:
            asked.add(next(path for k, path in kept if k is s))
            if isinstance(s, int):
                os.read(s, 1000)
            elif s.type == socket.SOCK_DGRAM:
                s.recv(1000)
            else:
                s.accept()[0].close()
for name in ("rebound.sock", "linked.sock", "renamed.sock", "sub/rebound.sock"):
    bind(name)
open("up", "w").close()
serve(lambda: os.path.exists("go"))
for name in ("rebound.sock", "sub/rebound.sock"):
    for i in range(3):
        os.unlink(name)
        bind(name)
        time.sleep(0.05)
os.link("linked.sock", "linked-too.sock")
os.rename("renamed.sock", "renamed-now.sock")
os.makedirs("new/deep")
for folder in "", "sub/", "new/deep/", away + "/moved/":
    bind(folder + "late.sock")
    bind(folder + "late.dgram", socket.SOCK_DGRAM)
    fifo(folder + "late.fifo")
    fifo(folder + "late.talks")
os.rename(away + "/moved", "moved")
open("made", "w").close()
serve(lambda: os.path.exists("done"))
print(*sorted(asked))
END

# The workload's side: what it reaches, so many seconds after all was made.
ask=$(
	cat <<'END'
import os, socket, sys, time
def ask(path):
    if path.endswith(".sock"):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(5)
        s.connect(path)
    elif path.endswith(".dgram"):
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"order", path)
    elif path.endswith(".talks"):
        if not os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 100):
            raise OSError("it says nothing")
    else:
        os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), b"order")
os.chdir(sys.argv[1])
print("up", flush=True)
for i in range(300): # a copy may not have it
    if os.path.exists("made"):
        break
    time.sleep(0.05)
time.sleep(float(sys.argv[2]))
print("reached", end="")
for path in sys.argv[3:]:
    try:
        ask(path)
        print("", path, end="")
    except OSError as e:
        print(path, e, file=sys.stderr)
print()
END
)

names=()
for f in '' sub/ new/deep/ moved/; do
	names+=("$f"late.{sock,dgram,fifo,talks})
done
names+=(rebound.sock sub/rebound.sock linked.sock linked-too.sock renamed-now.sock)
# beyond the next search but one
later=$((5 * ${CORDON_TEST_SLOW:-1}))

# What ask.py reaches when CMD runs it, so many seconds later; $tmp/asked has which services somebody came to.
asks() # SECONDS [CMD...]
{
	: >"$tmp/got"
	rm -rf "${work:?}"/* "${away:?}"/*
	mkdir -p sub "$away/moved"
	python3 "$tmp/services.py" "$away" >"$tmp/asked" &
	services=$!
	until_true [ -e up ]
	"${@:2}" python3 -c "$ask" "$work" "$1" "${names[@]}" >"$tmp/got" 2>"$tmp/told" </dev/null &
	run=$!
	until_true grep -q up "$tmp/got"
	touch go
	wait "$run"
	touch "done"
	wait "$services"
	rm -rf "${work:?}"/* "${away:?}"/*
	cat "$tmp/got" "$tmp/told" "$tmp/asked"
}

reaches_none()
{
	[ "$(cat "$tmp/got")" = $'up\nreached' ] && [ -z "$(cat "$tmp/asked")" ]
}
