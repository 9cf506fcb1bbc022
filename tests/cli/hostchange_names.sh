#!/bin/bash
# What the host makes with a denied or protected name while a sandbox runs gets no other name, and is not written to, before it is covered.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

# Waits for a name that the host makes, gives what has it another one at once, and tells whether it can be read or written by that.
cat >"$work/take.py" <<'END'
import ctypes, os, sys, time
name, way = sys.argv[1:]
libc, here, both = ctypes.CDLL(None), -100, 2
end = time.monotonic() + 20
while not os.path.lexists(name) and time.monotonic() < end:
    pass
folder, last = os.path.split(name)
other = folder + "/mine"
try:
    if way == "rename":
        os.rename(name, other)
    elif way == "folder":
        os.rename(folder, "taken")
        other = "taken/" + last
    elif way == "up":
        os.rename(folder.split("/")[0], "taken")
        other = "taken/" + name.split("/", 1)[1]
    else:
        open(other, "w").close()
        one, two = (name, other) if way == "exchange" else (other, name)
        if libc.renameat2(here, one.encode(), here, two.encode(), both):
            raise OSError
    open(other, "a").write("planted")
    print("taken")
except OSError:
    print("kept")
END

# takes NAME WAY WANT [WORD...]: what becomes of a file that the host makes while the command tries to take it.
takes()
{
	rm -rf app taken && mkdir -p app/deep
	"${@:4}" python3 take.py "$1" "$2" >"$tmp/got" 2>"$tmp/told" &
	run=$!
	sleep 0.7
	echo mine >"$1"
	wait "$run"
	cat "$tmp/got" "$tmp/told"
	[ "$(cat "$tmp/got")" = "$3" ]
}
policy <<END
filesystem: {workdir: read-write, deny: ["$work/app/deep/key"]}
END
for way in rename exchange exchange-back; do
	for name in app/.env app/.envrc app/deep/key; do
		ok "$name, which the host has made just now, cannot be given another name: $way" takes $name $way kept "$CORDON" run --policy "$tmp/policy.yaml" --
	done
	ok "without a sandbox it can (control): $way" takes app/.env $way taken
done
ok "... nor be moved out of a pattern's reach with its folder" takes app/deep/key folder kept "$CORDON" run --policy "$tmp/policy.yaml" --
ok "... or with the one above" takes app/deep/key up kept "$CORDON" run --policy "$tmp/policy.yaml" --
ok "another file can be moved with its folder" takes app/deep/other folder taken "$CORDON" run --policy "$tmp/policy.yaml" --
rm -rf app taken take.py

# A FIFO that may be waited for is judged as any other file, and by who made it.
cat >"$work/fifo.py" <<'END'
import os, sys, time
end = time.monotonic() + 20
while not os.path.lexists("app/go") and time.monotonic() < end:
    pass
try:
    os.write(os.open(sys.argv[1], os.O_WRONLY), b"planted\n")
    print("written")
except PermissionError:
    print("kept")
END
fifo_is() # NAME WANT WORD...
{
	rm -rf app && mkdir app
	"${@:3}" python3 fifo.py "$1" >"$tmp/got" 2>&1 &
	run=$!
	sleep 0.7
	mkfifo "$1" && touch app/go
	timeout 20 cat "$1" >"$tmp/host" &
	wait "$run"
	kill $! 2>/dev/null
	wait $!
	cat "$tmp/got"
	[ "$(cat "$tmp/got")" = "$2" ]
}
ok "a FIFO with a denied name is not opened for writing" fifo_is app/.env kept "$CORDON" run --
ok "... nor one with a protected name" fifo_is app/.envrc kept "$CORDON" run --
ok "... nor any other of the host's" fifo_is app/other kept "$CORDON" run --
ok "without a sandbox it is (control)" fifo_is app/other written
own_fifo()
{
	rm -rf app && mkdir app
	"$CORDON" run -- sh -c 'mkfifo app/own && echo mine >app/own' &
	run=$!
	until_true [ -p app/own ]
	[ "$(timeout 20 cat app/own)" = mine ] && wait "$run"
}
ok "... but the workload's own, to which it waits for the host to read" own_fifo
rm -rf app fifo.py

# Where the path of an open file is too long to be told, the file gets no other name, unless it has none yet.
cat >"$work/far.py" <<'END'
import os, sys, time
step, flags = "n" * 250, os.O_RDONLY | os.O_DIRECTORY
work = os.open(".", flags)
if sys.argv[1] == "make":
    os.mkdir("far")
os.chdir("far")
for i in range(17):
    if sys.argv[1] == "make":
        os.mkdir(step)
    os.chdir(step)
if sys.argv[1] == "make":
    sys.exit(0)
if sys.argv[1] == "host":
    open(".envrc", "w").close()
    sys.exit(0)
print("up", flush=True)
end = time.monotonic() + 20
while not os.path.lexists(".envrc") and time.monotonic() < end:
    pass
def link(fd, name):
    try:
        os.link("/proc/self/fd/%d" % fd, name, dst_dir_fd=work, follow_symlinks=True)
        return "linked"
    except OSError:
        return "kept"
print(link(os.open(".envrc", os.O_RDONLY), "got"), link(os.open(".", os.O_TMPFILE | os.O_RDWR), "new"))
END
far_is() # WANT WORD...
{
	rm -f got new && rm -rf far && python3 far.py make
	"${@:2}" python3 far.py try >"$tmp/got" 2>"$tmp/told" &
	run=$!
	until_true grep -q up "$tmp/got" || return 1
	python3 far.py host
	wait "$run"
	cat "$tmp/got" "$tmp/told"
	[ "$(tail -n 1 "$tmp/got")" = "$1" ]
}
ok "an open file whose path is too long to be told gets no other name, unless it has none" far_is "kept linked" "$CORDON" run --
ok "without a sandbox both do (control)" far_is "linked linked"
rm -rf far got new far.py

# A file that the host has removed, and has under a name that is not shown, is no other by that.
cat >"$work/gone.py" <<'END'
import os, time
end = time.monotonic() + 20
while not os.path.lexists("app/.env") and time.monotonic() < end:
    pass
fd = os.open("app/.env", os.O_RDONLY)
print("up", flush=True)
while os.path.lexists("app/.env") and time.monotonic() < end:
    pass
try:
    os.link("/proc/self/fd/%d" % fd, "got", dst_dir_fd=os.open(".", os.O_RDONLY), follow_symlinks=True)
    print("linked")
except OSError as e:
    print("kept")
END
gone_is() # WANT WORD...
{
	rm -rf app got "$tmp/kept" && mkdir app
	"${@:2}" python3 gone.py >"$tmp/got" 2>"$tmp/told" &
	run=$!
	sleep 0.7
	echo mine >"$tmp/kept" && ln "$tmp/kept" app/.env
	until_true grep -q up "$tmp/got"
	rm app/.env
	wait "$run"
	cat "$tmp/got" "$tmp/told"
	[ "$(tail -n 1 "$tmp/got")" = "$1" ]
}
ok "a denied file that was opened in time, and removed, gets no other name" gone_is kept "$CORDON" run --
ok "without a sandbox it does (control)" gone_is linked
rm -rf app got gone.py
finish
