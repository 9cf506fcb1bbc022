#!/bin/bash
# cordon run --runtime docker, with a real Docker Engine of the suite's own: what a run is promised, that the engine shows nothing of it, and that nothing is left whatever is killed.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../docker_lib.sh"
. "$(dirname "$0")/../run_lib.sh"
need_static_init
start_engine "the runtime docker"

cordon=$CORDON
cat >"$tmp/cordon" <<END
#!/bin/bash
# every run is Docker's
if [ "\$1" = run ]; then shift; exec "$cordon" run --runtime docker "\$@"; fi
exec "$cordon" "\$@"
END
chmod 755 "$tmp/cordon"
CORDON=$tmp/cordon

inside true
if [ "$status" != 0 ]; then
	printf '%s\n' "$told" | sed 's/^/# /'
	ok "a command runs at all" false
	finish
fi
like "the first run says what differs from native" "$told" 'said once'
inside true
is "the next says nothing of its own" "$said$told" ""

# --- standard input, output and error; exit status ---

is "stdin: a pipe arrives" "$(printf 'a\nb' | "$CORDON" run -- cat)" "$(printf 'a\nb')"
echo "from a file" >"$tmp/input"
is "stdin: a file arrives" "$("$CORDON" run -- cat <"$tmp/input")" "from a file"
outside "$CORDON" run -- sh -c 'echo out; echo err >&2'
is "stdout and stderr are kept apart" "$said/$told" "out/err"
head -c 3000000 /dev/urandom >"$tmp/large"
# shellcheck disable=SC2002 # the pipe is the point
is "stdin to stdout: 3 MB arrive whole" "$(cat "$tmp/large" | "$CORDON" run -- cat | cmp - "$tmp/large" && echo same)" same
is "/dev/stdout and /dev/stderr can be opened" "$("$CORDON" run -- sh -c 'echo a >/dev/stdout; echo b >/dev/stderr' 2>&1 | sort | tr -d '\n')" ab
statuses=
for s in 0 1 42 255; do
	"$CORDON" run -- sh -c "exit $s"
	statuses+="$? "
done
is "the exit status is the command's" "$statuses" "0 1 42 255 "
inside sh -c 'kill -KILL $$'
is "a command that a signal ends: 128 + its number" "$status" 137
inside no-such-command
ok "a command that is not there: 127, and one line" refused 127 'no-such-command'
inside /etc/passwd
ok "one that cannot be executed: 126" refused 126 'passwd'
printf 'echo "$0:$*:$#"; exit 4\n' >plain-text && chmod +x plain-text
inside ./plain-text a 'b c'
is "a text without an interpreter line is a script of /bin/sh" "$status:$said" "4:./plain-text:a b c:2"

# --- what the command sees ---

policy <<'END'
filesystem: {workdir: read-write}
process: {env: {set: {FLAVOUR: "two words"}}}
END
"$cordon" run --policy "$tmp/policy.yaml" --env "TOKEN=hunter2" -- env | sort >"$tmp/native.env"
"$CORDON" run --policy "$tmp/policy.yaml" --env "TOKEN=hunter2" -- env | sort >"$tmp/docker.env"
ok "the environment is that of a native run, to the letter" diff "$tmp/native.env" "$tmp/docker.env"
inside_says "the host's name is not seen" cordon cat /proc/sys/kernel/hostname
inside_says "nor its name servers" "$("$cordon" run -- cat /etc/resolv.conf)" cat /etc/resolv.conf
inside_says "hosts is Cordon's" "$("$cordon" run -- cat /etc/hosts)" cat /etc/hosts
inside_says "/sys is empty" "" ls -A /sys
inside_says "no capability, no way to get one" "0000000000000000 0000000000000000 1 2" sh -c \
	'awk "/^CapEff|^CapBnd|^NoNewPrivs|^Seccomp:/ { printf \"%s%s\", n++ ? \" \" : \"\", \$2 }" /proc/self/status'
inside_fails "the root cannot be written" 'Read-only|Permission' touch /x /usr/x
inside_works "/tmp, the home and /dev/shm can" sh -c 'touch /tmp/x ~/x /dev/shm/x'
is "cordon-init is PID 1, and cannot be read" "$("$CORDON" run -- sh -c 'cat /proc/1/environ 2>/dev/null; cat /proc/1/comm')" init
# shellcheck disable=SC2016
inside_says "the control socket answers nobody inside" "gone" python3 -c '
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    s.connect("/run/cordon/control"); print("connected")
except OSError: print("gone")'

# --- what the engine shows ---

policy <<'END'
filesystem: {workdir: read-write}
END
env TOKEN=hunter2 "$CORDON" run --policy "$tmp/policy.yaml" --env TOKEN -- sh -c ': hunter2-argument; sleep 30' >"$tmp/bg.out" 2>"$tmp/bg.err" </dev/null &
pid=$!
until_true eval 'id=$("$cordon" ps --quiet) && test -n "$id"'
until_true "$cordon" exec "$id" -- true
ask GET "/containers/cordon-$id/json" >"$tmp/inspect"
ask GET "/containers/cordon-$id/top" >"$tmp/top" # this is of the host: whoever asks may read /proc
ok "neither the command nor its environment is in what the engine shows" bash -c "! grep -q hunter2 '$tmp/inspect'"
shown()
{
	python3 - "$tmp/inspect" <<'END'
import json, sys
c = json.load(open(sys.argv[1])); h = c["HostConfig"]
assert h["NetworkMode"] == "none", "network"
assert h["CapDrop"] == ["ALL"] and not h["CapAdd"], "capabilities"
assert h["ReadonlyRootfs"] and not h["Privileged"], "root"
assert "no-new-privileges" in h["SecurityOpt"], "no_new_privs"
assert h["Memory"] > 0 and h["MemorySwap"] == h["Memory"] and h["PidsLimit"] > 0, "limits"
assert h["AutoRemove"] and h["LogConfig"]["Type"] == "none", "traces"
assert not c["Config"]["Env"] or all(e.startswith("PATH=") for e in c["Config"]["Env"]), c["Config"]["Env"]
assert list(c["Config"]["Labels"]) == ["cordon.run"], "labels"
assert c["Config"]["User"].split(":")[0] not in ("", "0"), "user"
for m in c["Mounts"]:
    assert m["Propagation"] in ("rprivate", ""), m
END
}
ok "the container is as tight as the engine can make it" shown

# --- exec, ps, stop ---

like "ps lists it" "$("$cordon" ps)" "$id"
is "exec runs in the same sandbox" "$("$cordon" exec "$id" -- sh -c 'echo "$TOKEN"; cat /proc/sys/kernel/hostname' | tr '\n' ' ')" "hunter2 cordon "
"$cordon" exec "$id" -- sh -c 'exit 7'
is "and has its own exit status" "$?" 7
outside "$cordon" stop "$id"
is "stop ends it" "$status" 0
wait "$pid"
ok "nothing is left of it" no_containers
is "no box either" "$(boxes)" ""

# --- the work folder ---

echo old >file
inside_works "read-write: what is written comes back" sh -c 'echo new >file; mkdir d; echo x >d/y; rm -f gone'
is "... all of it" "$(cat file d/y | tr '\n' ' ')" "new x "
inside sh -c 'mkdir -p .git/hooks && echo evil >.git/hooks/pre-commit; echo SECRET=1 >.env; exit 0'
ok "a protected name that did not exist does not come back" test ! -e .git/hooks/pre-commit
rm -rf .git d
policy <<'END'
filesystem: {workdir: read-only}
END
inside_fails "read-only: it cannot be written" 'Read-only|Permission' sh -c 'echo x >file'
inside_says "... but read" new cat file
policy <<'END'
filesystem: {workdir: copy}
END
inside_works "copy: it can be written" sh -c 'echo copied >file'
is "... and the folder stays as it was" "$(cat file)" new
last=$(runs | head -1)
like "diff shows it" "$("$cordon" diff "$last")" 'copied'
"$cordon" apply --yes "$last" >/dev/null 2>&1 || "$cordon" apply "$last" >/dev/null 2>&1 </dev/null
is "apply brings it" "$(cat file)" copied
policy <<'END'
filesystem: {workdir: none}
END
inside_fails "none: it is not there" 'No such file|cannot access' ls "$work/file"
policy <<'END'
filesystem: {workdir: read-write, deny: ["**/secret"]}
END
echo hunter2 >secret
inside_fails "what is denied cannot be read" 'denied|No such' cat secret
is "... and comes back untouched" "$(cat secret)" hunter2

mkdir -p "$tmp/shown/below"
echo top >"$tmp/shown/file"
mount -t tmpfs tmpfs "$tmp/shown/below" && chmod 777 "$tmp/shown/below" && echo deep >"$tmp/shown/below/file"
policy <<END
filesystem: {workdir: read-write, read: [$tmp/shown]}
END
inside_says "a file system below a folder is shown" "top deep" sh -c "echo \$(cat $tmp/shown/file $tmp/shown/below/file)"
inside_fails "... and is as read-only" 'Read-only|Permission' touch "$tmp/shown/below/x"
ok "... for the kernel too" bash -c "'$CORDON' run --policy '$tmp/policy.yaml' -- grep -q ' $tmp/shown/below tmpfs ro' /proc/mounts"
umount "$tmp/shown/below"

# --- the network ---

policy <<'END'
filesystem: {workdir: read-write}
END
inside_says "there is no interface but loopback" lo awk -F: '/:/ && $1 !~ /tunl|sit|ip6|gre|erspan|vti/ { sub(/ */, "", $1); print $1 }' /proc/net/dev
inside_fails "no address can be dialled" 'unreachable|refused|denied' python3 -c 'import socket; socket.create_connection(("192.0.2.1", 80), 5)'
inside_fails "no raw socket can be made" 'Errno' python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'

mkdir -p "$tmp/config/cordon" "$tmp/www"
echo "from outside" >"$tmp/www/page"
python3 -c '
import functools, http.server, sys
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1]))
open(sys.argv[2], "w").write(str(s.server_port))
s.serve_forever()' "$tmp/www" "$tmp/port" 2>/dev/null &
web=$!
until_true test -s "$tmp/port"
port=$(cat "$tmp/port")
printf 'version: 1\nresolve: {"up.example.test": ["127.0.0.1"], "other.example.test": ["127.0.0.1"]}\n' >"$tmp/config/cordon/gateway.yaml"
policy <<END
filesystem: {workdir: read-write}
network:
  mode: allowlist
  allow: [{host: up.example.test, ports: [$port], methods: [GET]}]
END
inside_says "the door: a host that is allowed answers" "from outside" curl -sS "http://up.example.test:$port/page"
inside_says "... and another does not" 403 curl -s -o /dev/null -w '%{http_code}' "http://other.example.test:$port/page"
inside_fails "... nor the host's loopback by its address" 'refused|Failed|[Cc]ould' curl -sS --noproxy '*' "http://127.0.0.1:$port/page"
inside_says "names are answered by the policy" "yes no" python3 -c '
import socket
def known(n):
    try: socket.getaddrinfo(n, 80); return "yes"
    except OSError: return "no"
print(known("up.example.test"), known("other.example.test"))'
kill "$web"

# --- limits ---

policy <<'END'
filesystem: {workdir: read-write}
process: {memory: 64M}
END
inside python3 -c 'x = bytearray(200 << 20)'
is "memory: the command is killed" "$status" 137
like "... and the limit is named" "$told" 'process\.memory was reached'
policy <<'END'
filesystem: {workdir: read-write}
process: {max_processes: 20}
END
inside sh -c 'for i in $(seq 40); do sleep 3 & done; wait'
like "processes: no more than that many" "$told" 'fork|[Rr]esource'
policy <<'END'
filesystem: {workdir: read-write}
process: {timeout: 1s}
END
inside sleep 30
is "timeout: 124" "$status" 124
policy <<'END'
filesystem: {workdir: read-write}
process: {max_file_size: 1M}
END
inside_fails "max_file_size holds" 'File too large|File size limit|exceeded' sh -c 'head -c 2000000 /dev/zero >big || exit 1'
policy <<'END'
filesystem: {workdir: read-write, tmp_size: 16M}
END
inside_fails "tmp_size holds" 'No space' sh -c 'head -c 32000000 /dev/zero >/tmp/big'
policy <<'END'
filesystem: {workdir: read-write}
process: {cpus: 64}
END
inside_works "more processors than there are are no mistake" true
rm -f big
policy <<'END'
filesystem: {workdir: read-write}
END

# --- the image ---

is "one image for runs that show the same places" "$(for _ in 1 2; do "$CORDON" run -- true; done
	ask GET '/images/json?filters=%7B%22reference%22%3A%5B%22cordon-root%22%5D%7D' | python3 -c 'import json,sys; print(max(len(i["RepoTags"]) for i in json.load(sys.stdin)))')" 1
before=$(ask GET '/images/json' | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))')
inside true
is "a run like another makes no further one" "$(ask GET '/images/json' | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))')" "$before"
ask POST '/images/prune?filters=%7B%22dangling%22%3A%5B%22false%22%5D%7D' >/dev/null
inside_says "removing them only costs time" again echo again
ask POST '/images/prune?filters=%7B%22dangling%22%3A%5B%22false%22%5D%7D' >/dev/null
together()
{
	local i n=0 jobs=()
	for i in 1 2 3 4; do "$CORDON" run -- true & jobs+=($!); done
	for i in "${jobs[@]}"; do wait "$i" && n=$((n + 1)); done
	[ "$n" = 4 ] && [ "$(ask GET '/images/json?all=1' | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))')" = 1 ]
}
ok "first runs at the same time make one image" together

# --- what is killed ---

all_gone()
{
	no_containers && [ -z "$(boxes)" ]
}
in_background sleep 60
kill -9 "$pid"
wait "$pid" 2>/dev/null
ok "kill -9 of cordon ends what runs inside" until_true no_containers
"$cordon" ps >/dev/null
ok "... and the next ps removes the rest" all_gone

# A container that was made and never started, as where cordon is killed in between.
image=$(ask GET '/images/json' | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["RepoTags"][0])')
curl -s --unix-socket "$engine/s" -H 'Content-Type: application/json' -d "{\"Image\":\"$image\",\"Cmd\":[\"x\"],\"Labels\":{\"cordon.run\":\"0badc0de\"}}" 'http://docker/v1.41/containers/create?name=cordon-0badc0de' >/dev/null
is "a container that was never started ..." "$(containers)" /cordon-0badc0de
# its box comes whole: others may be looking for boxes to remove
half=$(mktemp -d /run/cordon/.half.XXXXXX)
printf docker >"$half/lock"
printf %s "$engine/s" >"$half/docker"
mv -T "$half" /run/cordon/0badc0de
"$cordon" ps >/dev/null
ok "... is removed by the next ps" all_gone

killed_at_every_step()
{
	local delay p bad=0
	for delay in 0.02 0.05 0.1 0.15 0.2 0.25 0.3 0.4 0.5; do
		"$cordon" run --runtime docker --policy "$tmp/policy.yaml" -- sleep 60 </dev/null >/dev/null 2>&1 &
		p=$!
		sleep "$delay"
		kill -9 "$p"
		wait "$p" 2>/dev/null
		# what the engine had begun it may still finish: the box stays for as long as that is possible
		until_true eval '"$cordon" ps >/dev/null; no_containers && { sleep 0.5; "$cordon" ps >/dev/null; no_containers; }' || { echo "after $delay s:"; containers; boxes; bad=1; }
	done
	return "$bad"
}
ok "kill -9 of cordon at any moment leaves no container" killed_at_every_step
for b in $(boxes); do touch -d '5 minutes ago' "$b"; done
"$cordon" ps >/dev/null
is "... and no box, when the engine can have nothing left to do" "$(boxes)" ""

in_background sh -c 'echo begun; sleep 3; echo went on'
until_true grep -q begun "$tmp/bg.out"
kill -9 "$engine_pid"
wait "$engine_pid" 2>/dev/null
ended "$pid"
is "the engine is killed: the command goes on to its end" "$status:$(tail -1 "$tmp/bg.out")" "0:went on"
rm -f "$engine/s"
inside true
ok "without an engine: one line, 125" refused 125 'no Docker Engine at'
is "... and no box" "$(boxes)" ""
for p in $(engine_processes); do kill -9 "$p" 2>/dev/null; done
rm -f "$engine/pid" "$engine/exec/containerd/containerd.pid"
ok "the engine starts again" run_engine
ok "... and nothing is left" until_true no_containers
inside_says "... and runs run" again echo again

# --- engines that are none ---

outside env DOCKER_HOST=tcp://127.0.0.1:2375 "$CORDON" run -- true
ok "an engine elsewhere is refused" refused 125 'needs an engine on this machine'
outside env DOCKER_HOST=ssh://somewhere "$CORDON" run -- true
ok "... by ssh too" refused 125 'needs an engine on this machine'
policy <<'END'
process: {env: {set: {DOCKER_HOST: "unix:///nowhere"}}}
END
inside_says "a policy does not say where the engine is" unix:///nowhere sh -c 'echo "$DOCKER_HOST"'
policy <<'END'
filesystem: {workdir: read-write}
END
fake()
{
	python3 -c '
import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1] + "~"); s.listen(8); os.rename(sys.argv[1] + "~", sys.argv[1])
while True:
    c, _ = s.accept()
    try: c.recv(65536); c.sendall(sys.argv[2].encode().decode("unicode_escape").encode())
    except OSError: pass
    c.close()' "$tmp/fake" "$1" &
	faker=$!
	until_true test -S "$tmp/fake"
	outside env DOCKER_HOST="unix://$tmp/fake" "$CORDON" run -- true
	kill "$faker"
	wait "$faker" 2>/dev/null
	rm -f "$tmp/fake"
}
fake 'SSH-2.0-OpenSSH\r\n\r\n'
ok "what speaks another language: one line" refused 125 'does not speak its language'
fake 'HTTP/1.1 200 OK\r\nApi-Version: 1.24\r\nContent-Length: 2\r\n\r\nOK'
ok "an engine that is too old: one line" refused 125 'too old'
fake 'HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\nOK'
ok "an engine that makes nothing: one line" refused 125 'could not be made|Docker Engine'
is "none of them leaves a box" "$(boxes)" ""

# --- an ordinary user ---

user=$((RANDOM + 200000))
theirs=$tmp/theirs
mkdir -p "$theirs/home" "$theirs/work" "$theirs/run"
chmod 700 "$theirs/run"
chown -R "$user:$user" "$theirs"
as_user()
{
	(cd "$theirs/work" && env -i PATH="$PATH" HOME="$theirs/home" XDG_RUNTIME_DIR="$theirs/run" DOCKER_HOST="$DOCKER_HOST" \
		setpriv --reuid "$user" --regid "$user" "${groups[@]}" -- "$cordon" "$@")
}
groups=(--clear-groups)
chmod 755 "$tmp"
outside as_user run --runtime docker -- true
ok "a user whom the socket is closed to is told of the group" refused 125 'group'
groups=(--groups "$engine_group")
as_user run --runtime docker -- true 2>/dev/null
outside as_user run --runtime docker -- sh -c 'id -u; echo mine >made; cat /proc/1/comm'
is "a user of its group runs as themselves" "$status:$(tr '\n' ' ' <<<"$said")$told" "0:$user init "
is "... and owns what is made" "$(stat -c %u "$theirs/work/made")" "$user"
outside as_user run --runtime docker -- sh -c 'exit 3'
is "... with the exit status of the command" "$status" 3
ok "nothing is left" no_containers
finish
