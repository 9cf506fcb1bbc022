#!/bin/bash
# The search for denied names that the host makes while a sandbox runs cannot be kept away: not by folders that move before it, nor by leaving no room for a process.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

# Reads, in a folder that the host will put .env into, until it has been refused for a second, or for 40 seconds. How: `still`, or `moving`: the folder has another name all the time; or `crowd`: there is no room for a further process.
cat >"$work/read.py" <<'END'
import os, sys, threading, time
how = sys.argv[1]
for i in range(200):
    os.makedirs("pad/%d" % i, exist_ok=True)
for i in range(400):
    open("pad/0/%d" % i, "w").close()
os.mkdir("sub")
at = os.open("sub", os.O_RDONLY)
if how == "crowd":
    try:
        while True:
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
    except OSError:
        pass
print("up", flush=True)
end, read, refused, name = time.monotonic() + 40, False, None, "sub"
while time.monotonic() < end:
    if how == "moving":
        for k in range(20):
            other = "sub%d" % k
            os.rename(name, other)
            name = other
        os.rename(name, "sub")
        name = "sub"
    try:
        with open(".env", opener=lambda path, flags: os.open(path, flags, dir_fd=at)) as f:
            read, refused = read or bool(f.read()), None
    except FileNotFoundError:
        continue
    except OSError:
        refused = refused or time.monotonic()
        if time.monotonic() - refused > 1:
            print("covered", flush=True)
            os._exit(0)
print("read" if read else "nothing", flush=True)
os._exit(0)
END

# is_covered HOW [WORD...]: in the end.
is_covered()
{
	rm -rf pad sub*
	: >"$tmp/got"
	"${@:2}" python3 read.py "$1" >"$tmp/got" 2>"$tmp/told" </dev/null &
	run=$!
	until_true grep -q up "$tmp/got"
	# it has another name every now and then
	until_true sh -c 'echo secret >sub/.env' 2>/dev/null
	wait "$run"
	cat "$tmp/got" "$tmp/told"
	[ "$(tail -n 1 "$tmp/got")" = covered ]
}
policy <<END
process: {max_processes: 20}
END
cd "$work" || exit 2
ok "a denied file that the host makes is covered" is_covered still "$CORDON" run --policy "$tmp/policy.yaml" --
ok "... in a folder that the workload moves all the time" is_covered moving "$CORDON" run --policy "$tmp/policy.yaml" --
ok "... and where the workload has left no room for a process" is_covered crowd "$CORDON" run --policy "$tmp/policy.yaml" --
finish
