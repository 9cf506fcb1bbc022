#!/bin/bash
# An image as the root of a sandbox, on every runtime that can have one: the same command sees the same, and the upper folder has the same in it afterwards. On native, runc, crun, gVisor, and, for root, on a Docker Engine of the suite's own.
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/docker_lib.sh
. "$(dirname "$0")/../docker_lib.sh"
. "$(dirname "$0")/../run_lib.sh"
need_static_init
busybox=$(command -v busybox) || { skip "images on every runtime" "no busybox (package busybox-static)"; finish; }

# Its other programs are looked for beside it.
mkdir "$tmp/bin"
cp "$CORDON" "${CORDON%/*}"/cordon-* "$CORDON_BUILD/tests/image-run" "$tmp/bin/" 2>/dev/null
chmod 711 "$tmp"
if is_root; then
	zero=1700000000 ids=(--ids 65536:1700000000:1700000001)
else
	zero=$(id -u) ids=()
fi

# A layer over another; a folder for this run.
make_image()
{
	local a
	rm -rf "$tmp/low" "$tmp/high" "$tmp/box"
	mkdir -p "$tmp/low"/{bin,etc,tmp,opt/old,home/u} "$tmp/high/etc" "$tmp/box"/{upper,work}
	cp "$busybox" "$tmp/low/bin/busybox"
	for a in sh cat echo id ls rm mkdir chown chmod stat grep sleep hostname kill touch tr sort pwd true; do ln -s busybox "$tmp/low/bin/$a"; done
	echo low >"$tmp/low/etc/which"
	echo high >"$tmp/high/etc/which"
	echo gone >"$tmp/low/etc/gone"
	echo old >"$tmp/low/opt/old/file"
	chmod 1777 "$tmp/low/tmp"
	chmod 700 "$tmp/box"
	! is_root || chown -hR "$zero:$zero" "$tmp/low" "$tmp/high" "$tmp/box"
	! is_root || chown 1700001000:1700001000 "$tmp/low/home/u"
}

# image [OPTION...] -- CMD...
image()
{
	outside timeout 60 "$tmp/bin/image-run" run --policy "$tmp/policy.yaml" --runtime "$runtime" --layer "$tmp/high" --layer "$tmp/low" --folder "$tmp/box" "${ids[@]}" "$@" </dev/null
	told=$(grep -v '^cordon: note: ' "$tmp/err")
}

# says NAME WANT [OPTION...] -- CMD...
says()
{
	image "${@:3}"
	is "$runtime: $1" "$status:$said${told:+ ($told)}" "0:$2"
}

# What is in the upper folder: type, mode, owner as inside, name.
upper()
{
	(cd "$tmp/box/upper" && find . -mindepth 1 -printf '%y %m %U %p\n' | awk -v z="$zero" '{ $3 = $3 - z; print }' | sort -k4)
}

basics()
{
	make_image
	says "the upper layer wins" high -- cat /etc/which
	says "it is root of the image" "0 0" -- sh -c 'echo $(id -u) $(id -g)'
	says "with the capabilities that files, ids and processes of its own need, and no others" 00000000800400fb -- sh -c 'grep CapEff /proc/self/status | tr -d "\t" | cut -d: -f2 2>/dev/null || grep CapEff /proc/self/status | tr -cd "0-9a-f" | busybox tail -c 16'
	says "its own name and hosts" "cordon 127.0.0.1 localhost cordon" -- sh -c 'echo $(hostname) $(busybox head -1 /etc/hosts)'
	says "its folder to start in is made" /srv/app --cwd /srv/app -- pwd
	says "exit status and signals" "" -- true
	image -- sh -c 'exit 7'
	is "$runtime: the exit status" "$status" 7
	image -- nosuch
	is "$runtime: 127 for what is not in the image" "$status" 127
	says "no network but loopback" lo -- sh -c "busybox tail -n +3 /proc/net/dev | busybox cut -d: -f1 | tr -d ' '"
	says "low ports are its own" open -- sh -c 'busybox nc -l -p 80 >/dev/null 2>/tmp/e & sleep 0.3; kill $! 2>/dev/null && echo open'
	says "only its own processes" yes -- sh -c 'set -- /proc/[0-9]*; [ $# -lt 8 ] && echo yes'
	image -- sh -c 'busybox mount -t tmpfs x /tmp && echo mounted; busybox unshare -r true && echo unshared; echo 1 >/proc/sysrq-trigger && echo wrote; busybox mknod /n c 1 3 && echo made; cat /proc/kcore | busybox head -c 1'
	is "$runtime: no mounts, namespaces, devices, nothing of the kernel's" "$said" ""
}

changes()
{
	make_image
	image --cwd /srv/app -- sh -c 'echo new >/etc/new; rm /etc/gone; rm -r /opt/old; mkdir /opt/old; echo x >>/etc/which; echo f >file; mkdir -m 2750 /tmp/d'
	is "$runtime: changes succeed" "$status:$said$told" 0:
	is "$runtime: the upper folder has them and nothing else" "$(upper)" "d 755 0 ./etc
c 0 0 ./etc/gone
f 644 0 ./etc/new
f 644 0 ./etc/which
d 755 0 ./opt
d 755 0 ./opt/old
d 755 0 ./srv
d 755 0 ./srv/app
f 644 0 ./srv/app/file
d 1777 0 ./tmp
d 2750 0 ./tmp/d"
	is "$runtime: the layers are as they were" "$(cat "$tmp/low/etc/gone" "$tmp/high/etc/which" "$tmp/low/opt/old/file" | tr '\n' ' ')" "gone high old "
	says "a further run sees what the first left" "new high x absent absent" -- sh -c 'echo $(cat /etc/new /etc/which) $([ -e /etc/gone ] || echo absent) $([ -e /opt/old/file ] || echo absent)'
	runtime=native says "... on native too, after $runtime" "new high x absent absent" -- sh -c 'echo $(cat /etc/new /etc/which) $([ -e /etc/gone ] || echo absent) $([ -e /opt/old/file ] || echo absent)'
	if is_root; then
		says "other ids" "1000 5 7" -- sh -c 'touch /o && chown 5:7 /o && echo $(stat -c %u /home/u) $(stat -c "%u %g" /o)'
		is "$runtime: ... are those of the range on the host" "$(stat -c '%u %g' "$tmp/box/upper/o")" "1700000005 1700000007"
		says "another user has no capability" "1000 0000000000000000" --user 1000:1000 -- sh -c 'echo $(id -u) $(grep CapEff /proc/self/status | tr -cd "0-9a-f" | busybox tail -c 16)'
		[ $runtime = native ] || [ $runtime = docker ] || ranges
	else
		says "chown is said to have been made, where there is one id" done -- sh -c 'touch /o && chown 5:7 /o && echo done'
	fi
}

# The same for an ordinary user with ranges of ids, which only a mount namespace of ours knows of.
ranges()
{
	local as=(unshare -m --propagation private bash -c 'mount --bind "$0" /etc/subuid && mount --bind "$0" /etc/subgid && exec setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"' "$tmp/subid")
	if ! [ -f /etc/subuid ] || ! [ -f /etc/subgid ] || ! command -v newuidmap >/dev/null; then
		skip "$runtime: an ordinary user's ranges" "newuidmap (package uidmap), /etc/subuid or /etc/subgid is missing"
		return
	fi
	make_image
	rm -rf "$tmp/user"
	echo nobody:200000:65536 >"$tmp/subid"
	mkdir -p "$tmp/user"/{run,state,cache} && chmod 700 "$tmp/user"/* && mv "$tmp/low" "$tmp/high" "$tmp/box" "$tmp/user/"
	chown -hR 65534:65534 "$tmp/user" && chown 200999:200999 "$tmp/user/low/home/u"
	as=(env HOME="$tmp/user" XDG_RUNTIME_DIR="$tmp/user/run" XDG_STATE_HOME="$tmp/user/state" XDG_CACHE_HOME="$tmp/user/cache" XDG_CONFIG_HOME="$tmp/user/config" TMPDIR="$tmp/user" timeout 60 "${as[@]}" "$tmp/bin/image-run" run --profile strict
		--runtime "$runtime" --layer "$tmp/user/high" --layer "$tmp/user/low" --folder "$tmp/user/box" --ids 65536:65534:200000)
	outside "${as[@]}" -- sh -c 'touch /o && chown 5:7 /o && echo $(id -u) $(stat -c %u /home/u) $(stat -c "%u %g" /o)' </dev/null
	is "$runtime: an ordinary user's ranges" "$status:$said:$(stat -c '%u %g' "$tmp/user/box/upper/o")" "0:0 1000 5 7:200004 200006"
	outside "${as[@]}" --storage 4000000 -- sh -c "mkdir -m 700 /d /d/e; $grow; chown -R 5:7 /d; sleep 30 && echo all" </dev/null
	like "$runtime: ... whose folders are measured, whoever they are shut to" "$status:$said:$(cat "$tmp/err")" '^137::.*storage was reached'
}

grow='for i in 1 2 3 4 5 6 7 8 9; do busybox dd if=/dev/zero of=/d/e/$i bs=1M count=1 2>/dev/null; done'
storage()
{
	make_image
	image --storage 4000000 -- sh -c "mkdir -p /d/e; $grow; chmod 0 /d/e /d; sleep 30 && echo all"
	like "$runtime: what is in folders that are shut counts" "$status:$said:$told" '^137::.*storage was reached'
	says "... and no more than it is" all --storage 40000000 -- sh -c "sleep 2; echo all"
	chmod -R u+rwX "$tmp/box"
}

mounts()
{
	make_image
	rm -rf "$tmp/in" "$tmp/closed" && mkdir -p "$tmp/in/sub" "$tmp/closed/out.d" && chmod 700 "$tmp/closed" && echo mine >"$tmp/in/sub/file" && echo one >"$tmp/one"
	! is_root || chown "$zero:$zero" "$tmp/closed/out.d"
	says "folders and files of the host, where they were asked for" "mine one 0" --mount "$tmp/in:/tests" --mount "$tmp/one:/etc/one" --mount "$tmp/closed/out.d:/logs:rw" -- sh -c 'cat /tests/sub/file /etc/one | tr "\n" " "; stat -c %u /tests; echo result >/logs/r'
	is "$runtime: ... to be written where they may" "$(cat "$tmp/closed/out.d/r")" result
	image --mount "$tmp/in:/tests" -- sh -c 'echo x >/tests/x; echo x >/tests/sub/file; chmod 777 /tests; rm /tests/sub/file'
	is "$runtime: ... and nowhere else" "$(find "$tmp/in" -type f | wc -l):$(cat "$tmp/in/sub/file"):$(stat -c %a "$tmp/in")" "1:mine:$(stat -c %a "$tmp/in/sub")"
	is "$runtime: mount points are taken away again" "$(ls "$tmp/box/upper" | tr '\n' ' ')" "etc "
}

# Images in which what a runtime mounts on is something else.
hostile()
{
	local name
	for name in proc dev run sys; do
		make_image
		rm -rf "${tmp:?}/low/$name" && ln -s /etc "$tmp/low/$name"
		! is_root || chown -h "$zero:$zero" "$tmp/low/$name"
		image -- sh -c 'ls /etc; cat /etc/which'
		case $name:$status in
		run:0 | sys:0) is "$runtime: /$name that leads elsewhere leads nowhere else" "$(tail -n 1 <<<"$said")" high ;;
		*) is "$runtime: /$name that leads elsewhere is refused" "$status:$([ -n "$told" ] && echo told)" 125:told ;;
		esac
	done
	make_image
	mkdir -p "$tmp/low/run" "$tmp/outside" && ln -s "$tmp/outside" "$tmp/low/run/cordon"
	! is_root || chown -hR "$zero:$zero" "$tmp/low/run"
	image -- true
	is "$runtime: a link in the place of its own folder reaches nothing of the host" "$(ls "$tmp/outside")" ""
	make_image
	chmod 755 "$tmp/box"
	image -- true
	like "$runtime: an upper folder that others can enter is refused" "$status:$told" '^125:.*closed to others'
}

door()
{
	make_image
	policy <<<'network: {mode: allowlist, allow: [{host: allowed.test}]}'
	image -- sh -c 'p=${HTTPS_PROXY##*:}; (printf "CONNECT denied.test:443 HTTP/1.1\r\nHost: denied.test:443\r\n\r\n"; sleep 1) | busybox nc -w 5 127.0.0.1 "${p%/}"'
	like "$runtime: the door is open, and says no" "$said" '403.*blocked-by-allowlist'
	policy <<<'filesystem: {workdir: none}'
}

ends()
{
	make_image
	outside timeout 60 "$tmp/bin/image-run" run --profile default --runtime "$runtime" --layer "$tmp/high" --layer "$tmp/low" --folder "$tmp/box" "${ids[@]}" -- sh -c 'echo up; sleep 60' &
	run=$!
	until_true grep -q up "$tmp/out"
	id=$("$CORDON" ps -q | head -1)
	is "$runtime: exec is root of the image, too" "$("$CORDON" exec "$id" -- sh -c 'echo $(id -u) $(cat /etc/which)' 2>/dev/null)" "0 high"
	"$CORDON" stop -t 0 "$id"
	wait "$run"
	is "$runtime: nothing is mounted or left when it was stopped" "$("$CORDON" ps -q; ls -A "$tmp/box/work"; grep -F "$tmp/box" /proc/self/mountinfo)" ""
}

# start_held COMMAND: it stops PID 1, where it may, and goes on to the command; sets pid and id.
start_held()
{
	make_image
	policy <<<'network: {mode: allowlist, allow: [{host: allowed.test}]}'
	: >"$tmp/out"
	"$tmp/bin/image-run" run --policy "$tmp/policy.yaml" --runtime "$runtime" --layer "$tmp/high" --layer "$tmp/low" --folder "$tmp/box" "${ids[@]}" -- sh -c "kill -STOP 1; echo up; $1" >"$tmp/out" 2>"$tmp/err" </dev/null &
	pid=$!
	until_true grep -q up "$tmp/out"
	id=$("$CORDON" ps -q | head -1)
}

has_ended() { ! kill -0 "$1"; }
is_left() { pgrep -f -- "cordon-$id( |\$)"; }
none_is_left() { ! is_left; }

# In gVisor root of an image may stop PID 1. Nothing that ends a run may wait for it.
held_up()
{
	start_held 'sleep 60'
	[ $runtime != gvisor ] || ok "$runtime: what runs for a sandbox is found by its name" is_left
	kill -TERM "$pid"
	until_true has_ended "$pid" || until_true has_ended "$pid"
	ok "$runtime: a signal ends a run whose PID 1 was stopped from inside" has_ended "$pid"
	kill -9 "$pid" 2>/dev/null
	wait "$pid"
	start_held 'while :; do :; done'
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	ok "$runtime: ... and it ends with its supervisor" until_true none_is_left
	"$CORDON" ps >/dev/null
	policy <<<'filesystem: {workdir: none}'
}

# The engine's containers have no user namespace of their own.
nobody_is_root()
{
	make_image
	rm -f "$tmp/out"
	outside timeout 60 "$tmp/bin/image-run" run --profile default --runtime docker --layer "$tmp/high" --layer "$tmp/low" --folder "$tmp/box" "${ids[@]}" -- sh -c 'echo up; sleep 60' &
	run=$!
	until_true grep -q up "$tmp/out"
	id=$("$CORDON" ps -q | head -1)
	is "docker: nobody in the container is root of the host, or has a capability there" "$(ask GET "/containers/cordon-$id/top?ps_args=-eo%20pid,uid" | python3 -c '
import json, os, re, sys
all = json.load(sys.stdin)["Processes"]
for pid, uid in all:
    status = open(f"/proc/{pid}/status").read()
    capable = int(re.search("^CapPrm:(.*)$", status, re.M).group(1), 16) and os.readlink(f"/proc/{pid}/ns/user") == os.readlink("/proc/self/ns/user")
    if int(uid) < 1700000000 or capable: print(pid, uid)
print(len(all) > 1)' 2>&1)" True
	"$CORDON" stop -t 0 "$id"
	wait "$run"
	is "docker: no container is left" "$(containers)" ""
}

for runtime in ${CORDON_RUNTIME:-native runc crun gvisor docker}; do
	case $runtime in
	gvisor) program=runsc ;;
	docker) program=dockerd ;;
	*) program=$runtime ;;
	esac
	if [ $runtime = docker ] && ! is_root; then
		make_image
		image -- true
		like "docker: refused to who is not root, with the reason" "$status:$told" '^125:.*(for root only|there is no Docker Engine)'
		continue
	fi
	if [ $runtime != native ] && ! PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null; then
		skip "$runtime" "$program is not installed"
		continue
	fi
	[ $runtime != docker ] || start_engine "images on docker"
	policy <<<'filesystem: {workdir: none}'
	basics
	changes
	mounts
	storage
	hostile
	door
	ends
	held_up
	[ $runtime != docker ] || nobody_is_root
done
finish
