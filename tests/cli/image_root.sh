#!/bin/bash
# Sandboxes whose root is an image: what holds when the workload is root of it, and when its layers are hostile. As root with a range of ids; as an ordinary user with one id and, where newuidmap is installed, with ranges that only this suite's
# own mount namespace knows. tests/escape/run.sh with CORDON_RUNTIME=image tries the whole escape suite in one.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

image_run=$CORDON_BUILD/tests/image-run
busybox=$(command -v busybox)
if ! [ -x "$image_run" ] || ! file -L "$busybox" 2>/dev/null | grep -q 'static'; then
	skip "sandboxes with an image for their root" "needs a static busybox and build/tests/image-run"
	finish
fi
me=$(id -u)
user=nobody
range=100000
chmod 755 "$tmp"

# ---- Who tries: as whom, and with which ids. Sets owner (of files, on the host), ids (options) and as (words before a command).

who()
{
	mode=$1 ids=() as=()
	export XDG_STATE_HOME=$tmp/state-${1// /-} XDG_CACHE_HOME=$tmp/cache-${1// /-}
	mkdir -p "$XDG_STATE_HOME" "$XDG_CACHE_HOME"
	case $mode in
	"root") owner=1700000000 ids=(--ids 65536:1700000000:1700000001) ;;
	"one id") owner=$me ;;
	"ranges") owner=$me ids=(--ids "65536:$me:$range") ;;
	esac
	if [ "$me" = 0 ] && [ "$mode" != root ]; then
		owner=$(id -u $user)
		as=(unshare -m --propagation private bash -c 'mount --bind "$0/subuid" /etc/subuid && mount --bind "$0/subgid" /etc/subgid && exec setpriv --reuid="$1" --regid="$1" --clear-groups -- "${@:2}"' "$tmp" "$owner")
		[ "$mode" != ranges ] || ids=(--ids "65536:$owner:$range")
		chown "$owner" "$XDG_STATE_HOME" "$XDG_CACHE_HOME"
	fi
}

modes=("one id")
if [ "$me" = 0 ]; then
	modes=(root "one id")
	echo "$user:$range:65536" >"$tmp/subuid"
	cp "$tmp/subuid" "$tmp/subgid"
	[ -f /etc/subuid ] && [ -f /etc/subgid ] && command -v newuidmap >/dev/null && modes+=(ranges)
	chmod -R a+rwX "$tmp/home" "$tmp/t"
fi

# ---- An image, its folders, and a run of it

layer=$tmp/image/layer
# fresh: a layer with busybox and what root's images have, an empty upper folder.
fresh()
{
	rm -rf "$tmp/image"
	mkdir -p "$layer"/{bin,etc,tmp,root,opt,usr,var/run,sys} "$tmp"/image/box/{upper,work}
	cp "$busybox" "$layer/bin/busybox"
	for c in sh ls cat id env echo true sleep mount umount mknod mkfifo kill chmod chown touch mkdir rm ln su stat find readlink chroot pwd hostname dd head wc grep seq tr; do ln -s busybox "$layer/bin/$c"; done
	printf 'root:x:0:0:root:/root:/bin/sh\nu:x:1000:1000::/tmp:/bin/sh\nv:x:1001:1001::/tmp:/bin/sh\n' >"$layer/etc/passwd"
	printf 'root:x:0:\nu:x:1000:\nv:x:1001:\n' >"$layer/etc/group"
	echo layer >"$layer/etc/mark"
	cp "$busybox" "$layer/bin/busybox-suid" && chmod 4755 "$layer/bin/busybox-suid"
	chmod 1777 "$layer/tmp"
	chmod 700 "$tmp/image/box"
	options=()
	[ "$me" != 0 ] || chown -hR "$owner:$owner" "$tmp/image"
	[ "$me" != 0 ] || chmod 4755 "$layer/bin/busybox-suid"
}

# own PATH...: of the image's root.
own()
{
	[ "$me" != 0 ] || chown -h "$owner:$owner" "$@"
}

# in_image CMD...: runs it; sets status, said and told.
in_image()
{
	outside "${as[@]}" env -C / "$image_run" run --layer "$layer" --folder "$tmp/image/box" "${ids[@]}" "${options[@]}" -- "$@" </dev/null
}

says() # NAME WANT CMD...
{
	in_image "${@:3}"
	is "$1 ($mode)" "$status:$said${told:+ (stderr: $told)}" "0:$2"
}

fails() # NAME REGEX: the run did not begin, for this reason
{
	in_image true
	ok "$1 ($mode)" tap_matches "$status:$told" "^125:.*$2"
}

# host_python: python3 with all of the host's /usr, for attacks that need system calls.
host_python()
{
	options=(--mount /usr:/usr)
	for l in /lib /lib64 /lib32; do [ -L $l ] && ln -s "usr$l" "$layer$l" && own "$layer$l"; done
}

changed() # what is in the upper folder: names only
{
	(cd "$tmp/image/box/upper" && find . -mindepth 1 ! -path ./etc | sort | tr '\n' ' ')
}

digest() # of the layer, with all that a stat shows but times of access
{
	(cd "$layer" && find . -printf '%p %y %m %U %G %s %T@ %C@ %l\n' | sort && find . -type f -exec cksum {} + | sort) | cksum
}

# ---- What is promised

workload_is_root_of_its_own_ids()
{
	fresh
	says "the workload is root" "0 0" sh -c 'echo $(id -u) $(id -g)'
	in_image sh -c 'cat /proc/self/status'
	like "it has capabilities over files, ids and processes only ($mode)" "$said" 'CapPrm:.00000000800400fb.*CapEff:.00000000800400fb.*CapBnd:.00000000800400fb.*CapAmb:.0000000000000000.*NoNewPrivs:.1'
	in_image sh -c 'touch /tmp/x; stat -c %u:%a /tmp/x'
	is "what it makes belongs to the image's root on this machine ($mode)" "$said $(stat -c %u "$tmp/image/box/upper/tmp/x")" "0:644 $owner"
	options=(--user 1000:1000)
	if [ "$mode" = "one id" ]; then
		fails "another user of the image is refused where there is one id, and the way out is named" 'subuid'
		return
	fi
	says "another user of the image has no capability" "1000 0000000000000000 0000000000000000" sh -c 'echo $(id -u) $(grep CapPrm: /proc/self/status | tr -d "CaPprm:\t") $(grep CapBnd: /proc/self/status | tr -d "CaBpnd:\t")'
	options=()
	says "ids can be changed, and files given away" "1000 1000:1001" sh -c 'touch /x; chown 1000:1001 /x; echo $(su u -c "id -u") $(stat -c %u:%g /x)'
}

pid_1_is_out_of_reach()
{
	fresh
	says "PID 1 survives every signal of root" "" sh -c 'for s in $(seq 1 31); do kill -$s 1; done 2>/dev/null; kill -0 1 2>/dev/null || true; sleep 0.1; ls -d /proc/1 >/dev/null'
	says "nobody slows PID 1 down, and a process may slow down itself" "same 19" sh -c 'exec 2>/dev/null; of() { set -- $(busybox cut -d")" -f2 <"/proc/$1/stat"); shift 16; echo "$1"; }
		was=$(of 1); busybox renice 19 -p 1; busybox renice 19 -g 1; busybox renice 19 -u 0; busybox taskset -p 1 1 >/dev/null; [ "$(of 1)" = "$was" ] && printf "same "; busybox renice 19 -p $$; of $$'
	says "nothing of PID 1 can be read" "" sh -c 'for f in environ mem maps auxv stack syscall io smaps pagemap personality; do head -c 1 /proc/1/$f; done 2>/dev/null; for l in root cwd exe ns/mnt ns/user ns/net; do readlink /proc/1/$l; done; echo /proc/1/fd/* /proc/1/map_files/* | grep -v "[*].*[*]"; true'
	host_python
	says "PID 1 can be neither traced nor read, nor can its descriptors be taken" "refused refused refused refused" python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def refused(r): return "refused" if r < 0 else "DONE"
buf = ctypes.create_string_buffer(8)
class iovec(ctypes.Structure): _fields_ = [("p", ctypes.c_void_p), ("n", ctypes.c_size_t)]
a, b = iovec(ctypes.addressof(buf), 8), iovec(0x400000, 8)
print(refused(libc.ptrace(16, 1, 0, 0)), refused(libc.ptrace(0x4206, 1, 0, 0)), refused(libc.process_vm_readv(1, ctypes.byref(a), 1, ctypes.byref(b), 1, 0)), refused(libc.syscall(438, os.pidfd_open(1), 0, 0)))'
	says "no namespace can be made or entered" "refused refused refused refused" python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def refused(r): return "refused" if r < 0 else "DONE"
print(*[refused(libc.unshare(f)) for f in (0x10000000, 0x20000, 0x40000000)], refused(libc.setns(os.pidfd_open(1), 0x10000000)))'
}

mounts_and_devices_stay()
{
	fresh
	says "nothing can be mounted, unmounted or mounted anew" "" sh -c 'exec 2>/dev/null; mount -t tmpfs none /tmp; umount /etc/hosts; umount /proc; mount -o remount,rw /etc/hosts; mount -o remount,rw /dev; mount --bind /etc /tmp; echo x >/etc/hosts; true'
	in_image sh -c 'mknod /tmp/null c 1 3; mknod /tmp/sda b 8 0; mknod /tmp/white c 0 0; ls /tmp'
	is "no device can be made, nor a whiteout ($mode)" "$said" ""
	says "pipes with names can" "p" sh -c 'mkfifo /tmp/p && ls /tmp'
	in_image sh -c 'for f in $(find /proc/sys /proc/1 -type f 2>/dev/null); do v=$(cat "$f" 2>/dev/null); (echo "${v:-1}" >"$f") 2>/dev/null && echo "$f"; done'
	is "nothing below /proc/sys and /proc/1 can be written to ($mode)" "$said" ""
	in_image sh -c 'for f in kcore keys kallsyms config.gz cmdline interrupts partitions sysrq-trigger; do head -c 1 /proc/$f 2>/dev/null | wc -c | grep -v "^0"; done; ls /proc/bus /proc/irq /proc/fs /sys 2>/dev/null | grep -v :'
	is "what tells of the machine is hidden ($mode)" "$said" ""
	says "its own devices work" "0 x" sh -c 'head -c 3 /dev/zero | wc -c >/dev/null; echo gone >/dev/null; echo x >/dev/shm/x; echo $(cat /dev/null | wc -c) $(cat /dev/shm/x)'
	in_image sh -c 'cp /bin/busybox /dev/shm/b 2>/dev/null || cat /bin/busybox >/dev/shm/b; chmod 755 /dev/shm/b; /dev/shm/b true && echo ran; touch /dev/new && echo made'
	is "shared memory holds no program, /dev no further name ($mode)" "$said" ""
}

layers_stay_as_they_are()
{
	local before
	fresh
	before=$(digest)
	in_image sh -c 'rm -rf /etc/mark /opt; echo changed >>/etc/passwd; chmod 777 /bin/busybox; chown 0:0 /etc/group; ln /bin/busybox-suid /bin/again; mkdir /new; for f in /bin/ls /root; do touch $f; done; true'
	is "no layer is changed by root inside ($mode)" "$(digest)" "$before"
	ok "its changes are in the upper folder ($mode)" test -f "$tmp/image/box/upper/etc/passwd" -a -d "$tmp/image/box/upper/new" -a -c "$tmp/image/box/upper/etc/mark"
	is "the work folder is empty afterwards ($mode)" "$(find "$tmp/image/box/work" -mindepth 1)" ""
	says "the next run on the folder goes on where it ended" "changed" sh -c 'tail -n 1 /etc/passwd 2>/dev/null || busybox tail -n 1 /etc/passwd'
	fresh
	in_image true
	is "mount points are taken away again ($mode)" "$(changed)" ""
	options=(--mount "$tmp/empty:/some/where/deep")
	mkdir -p "$tmp/empty"
	in_image sh -c 'touch /some/mine'
	is "... but not what the workload made beside them ($mode)" "$(changed)" "./some ./some/mine "
}

made_files_are_shown()
{
	fresh
	options=(--host "127.0.0.1 db" --host "127.0.0.1 cache")
	says "names that were asked for are in /etc/hosts" "127.0.0.1 localhost cordon::1 localhost127.0.0.1 db127.0.0.1 cache" sh -c 'cat /etc/hosts | tr -d "\n"'
	options=()
	in_image sh -c 'rm -f /etc/resolv.conf; echo x >/etc/resolv.conf; cat /etc/resolv.conf; hostname'
	like "made files cannot be replaced ($mode)" "$said" '^options.*cordon$'
	ln -s ../run/systemd/resolve/stub.conf "$layer/etc/resolv.conf"
	own "$layer/etc/resolv.conf"
	in_image cat /etc/resolv.conf
	like "a link that leads nowhere is followed inside ($mode)" "$status:$said" '^0:options'
	is "... and what was made for it is gone ($mode)" "$(changed)" ""
	options=(--var PATH=/opt/bin --var HOME=/elsewhere --var GREETING=hello --cwd /opt/made/here)
	mkdir -p "$layer/opt/bin" && ln -s ../../bin/busybox "$layer/opt/bin/env" && own "$layer/opt/bin" "$layer/opt/bin/env"
	in_image env
	like "the command is looked up in the image's PATH ($mode)" "$status" 0
	like "its variables hold ($mode)" "$said" 'GREETING=hello'
	like "... for HOME too ($mode)" "$said" 'HOME=/elsewhere'
	ok "it starts in a folder that was made for it ($mode)" test -d "$tmp/image/box/upper/opt/made/here"
	in_image sh
	is "what is in no folder of it is not found ($mode)" "$status" 127
}

mounts_are_what_was_asked_for()
{
	fresh
	mkdir -p "$tmp/ro" "$tmp/closed/rw" && chmod 700 "$tmp/closed" && own "$tmp/closed" && echo shown >"$tmp/ro/file" && chmod -R a+rX "$tmp/ro" && own "$tmp/closed/rw"
	[ "$mode" = root ] || own "$tmp/ro" "$tmp/ro/file"
	options=(--mount "$tmp/ro:/tests" --mount "$tmp/closed/rw:/logs/out:rw" --mount "$tmp/ro/file:/etc/one")
	in_image sh -c 'cat /tests/file /etc/one; stat -c %u /tests/file; echo x >/tests/new; rm -f /tests/file; chmod 777 /tests; echo mine >/logs/out/log; rm -rf /tests' 2>/dev/null
	is "what is shown read-only stays, and seems to be root's ($mode)" "$said $(ls "$tmp/ro") $(cat "$tmp/ro/file")" "$(printf 'shown\nshown\n0') file shown"
	is "what is writable is written to ($mode)" "$(cat "$tmp/closed/rw/log")" mine
	mkdir -p "$tmp/open" && own "$tmp/open"
	options=(--mount "$tmp/open:/logs:rw")
	fails "a folder that others could reach is not made writable" 'others of this machine'
	rm -rf "$tmp/closed/rw" "$tmp/open"
	local target
	for target in /proc/x /dev/x /sys/fs /../etc /a/../b relative /; do
		options=(--mount "$tmp/ro:$target")
		fails "nothing is mounted at $target" 'image:'
	done
	if [ "$mode" = root ]; then
		mkdir "$tmp/closed/rw"
		options=(--mount "$tmp/closed/rw:/logs:rw")
		fails "a folder of the host's root is not made writable" 'belongs to none of the image'
		rmdir "$tmp/closed/rw"
	fi
}

hostile_layers_reach_nothing()
{
	local before
	mkdir -p "$tmp/ro" "$tmp/beside" && echo shown >"$tmp/ro/file" && echo host >"$tmp/beside/hosts" && chmod -R a+rwX "$tmp/beside" "$tmp/ro"
	for text in /etc "$tmp/beside" /proc/self/cwd /proc/self/root ../../../../../../../../etc nowhere; do
		fresh
		ln -s "$text" "$layer/tests" && own "$layer/tests"
		options=(--mount "$tmp/ro:/tests")
		fails "a mount's target that is a link to $text is refused" 'link'
	done
	fresh
	ln -s "../../../../../../..$tmp/beside" "$layer/in" && own "$layer/in"
	options=(--mount "$tmp/ro:/in/side")
	in_image sh -c 'cat /in/side/file; pwd -P'
	is "a link on the way is followed inside only ($mode)" "$(ls "$tmp/beside")" hosts
	fresh
	ln -s /proc/self "$layer/in" && own "$layer/in"
	options=(--mount "$tmp/ro:/in/cwd")
	fails "nor into /proc" 'sandbox.s own|link'
	for name in dev proc; do
		fresh
		ln -s "$tmp/beside" "$layer/$name" && own "$layer/$name"
		fails "/$name that is a link is refused" "/$name"
		rm "$layer/$name" && touch "$layer/$name" && own "$layer/$name"
		fails "/$name that is a file is refused" "/$name"
	done
	fresh
	rmdir "$layer/sys" && ln -s "$tmp/beside" "$layer/sys" && rm -rf "${layer:?}/etc" && ln -s "$tmp/beside" "$layer/etc" && own "$layer/sys" "$layer/etc"
	fails "/etc that is a link out of the image is refused" 'link'
	mkdir -p "$layer$tmp/beside" && own -R "$layer/tmp"
	in_image sh -c 'cat /etc/hosts; ls /sys/'
	like "... and leads to a place of the image that has its name ($mode)" "$status:$said" '^0:127.0.0.1 localhost'
	is "... and nothing beside is touched ($mode)" "$(ls "$tmp/beside") $(cat "$tmp/beside/hosts")" "hosts host"
	fresh
	rm "$layer/etc/passwd" && mkfifo "$layer/etc/passwd" && own "$layer/etc/passwd"
	says "the image's tables of users are not read by PID 1" x echo x
	rm -rf "$tmp/beside"
}

hostile_overlays_reach_nothing()
{
	fresh
	host_python
	mkdir "$layer/trap" "$layer/hidden" && echo secret >"$layer/hidden/file" && echo >"$layer/meta" && own "$layer/trap" "$layer/hidden" "$layer/hidden/file" "$layer/meta"
	if ! python3 -c 'import os,sys; os.setxattr(sys.argv[1] + "/trap", "user.overlay.redirect", b"/hidden"); os.setxattr(sys.argv[1] + "/meta", "user.overlay.metacopy", b""); os.setxattr(sys.argv[1] + "/meta", "user.overlay.redirect", b"/hidden/file")' "$layer" 2>/dev/null; then
		skip "attributes of overlayfs in a layer ($mode)" "this file system has no user attributes"
		return
	fi
	says "a layer cannot redirect to another folder, nor take another file's content" "" sh -c 'ls /trap; cat /meta 2>/dev/null | grep secret; true'
	in_image cat /proc/self/mountinfo
	ok "overlayfs follows no redirection and makes none ($mode)" tap_matches "$(grep ' / / .*overlay' <<<"$said")" 'redirect_dir=nofollow'
	ok "... nor copies of metadata only ($mode)" eval '! [[ $said =~ metacopy=on|index=on|redirect_dir=on ]]'
	ok "no name of this machine is in its mounts but those that were asked for ($mode)" eval '! grep -v " /usr " <<<"$said" | grep -q "$tmp"'
	in_image python3 -c '
import os
os.mkdir("/d"); os.mkdir("/d/e")
for key in ("user.overlay.opaque", "user.overlay.whiteout", "user.overlay.redirect", "user.overlay.metacopy", "trusted.overlay.opaque"):
    try: os.setxattr("/d", key, b"y")
    except OSError: pass
print(sorted(os.listdir("/d")))'
	is "root inside goes on seeing what it made ($mode)" "$said" "['e']"
	ok "... and leaves no attribute of overlayfs' own that it chose ($mode)" python3 -c '
import os, sys
bad = [k for k in os.listxattr(sys.argv[1]) if k in ("user.overlay.redirect", "user.overlay.metacopy", "user.overlay.whiteout") or k.startswith("trusted.")]
sys.exit(str(bad) if bad else 0)' "$tmp/image/box/upper/d"
}

setuid_programs_gain_nothing()
{
	fresh
	if [ "$mode" != "one id" ]; then
		says "a setuid program of the image gives no other id" "1000" su u -c '/bin/busybox-suid id -u'
		says "... nor one that root made" "1000" sh -c 'cat /bin/busybox >/tmp/busybox; chmod 4755 /tmp/busybox; su u -c "/tmp/busybox id -u"'
	fi
	says "modes are kept" "4755" sh -c 'touch /tmp/s; chmod 4755 /tmp/s; stat -c %a /tmp/s'
	"${as[@]}" bash -c 'umask 022; : >"$0"' "$tmp/t/given-$owner" 2>/dev/null
	[ "$mode" != root ] || chown "$owner" "$tmp/t/given-$owner"
	"${as[@]}" env -C / "$image_run" run --layer "$layer" --folder "$tmp/image/box" "${ids[@]}" -- sh -c 'echo out; chmod 4777 /dev/stdout /proc/self/fd/1; chmod 4777 /dev/stdin' <"$tmp/t/given-$owner" >>"$tmp/t/given-$owner" 2>/dev/null
	is "a file that output goes to cannot be made setuid ($mode)" "$(stat -c %a "$tmp/t/given-$owner") $(cat "$tmp/t/given-$owner")" "644 out"
	rm -f "$tmp/t/given-$owner"
}

one_id_pretends_and_says_so()
{
	[ "$mode" = "one id" ] || return
	fresh
	rm -f "$tmp/t/events"
	options=(--json-events "$tmp/t/events")
	says "files can be given to anybody, as it seems" "0:0" sh -c 'touch /a /b; chown 1000:1000 /a && chown -R 33:33 /b && stat -c %u:%g /a'
	is "which is in the log, once ($mode)" "$(grep -c '"image.ids"' "$tmp/t/events")" 1
	rm -f "$tmp/t/events"
	options=(--json-events "$tmp/t/events")
	says "what belongs to the one id is really given to it" "0:0" sh -c 'touch /a; chown 0:0 /a && stat -c %u:%g /a'
	is "which is not ($mode)" "$(grep -c '"image.ids"' "$tmp/t/events")" 0
	rm -f "$tmp/t/events"
	options=(--json-events "$tmp/t/events")
	in_image sh -c 'su u -c id; su u -c id'
	is "becoming somebody else fails, and the log says why, once ($mode)" "$([ "$status" = 0 ] || echo failed) $(grep -c '/etc/subuid' "$tmp/t/events")" "failed 1"
	rm -f "$tmp/t/events"
	says "apt does not ask for a user that there is not" 'APT::Sandbox::User "root";' sh -c 'cat $APT_CONFIG'
}

limits_hold()
{
	fresh
	options=(--storage 4000000)
	in_image sh -c 'mkdir -m 700 /d; for i in $(seq 1 20); do dd if=/dev/zero of=/d/$i bs=1M count=1 2>/dev/null; sleep 0.2; done; echo all'
	ok "an image that grows too large ends the run ($mode)" tap_matches "$status:$said:$told" '^137::.*storage was reached'
	fresh
	options=(--storage 4000000)
	in_image sh -c 'exec 5>/f; rm /f; for i in $(seq 1 20); do dd if=/dev/zero bs=1M count=1 >&5 2>/dev/null; sleep 0.2; done; echo all'
	ok "... also when nothing has a name any more ($mode)" tap_matches "$status:$said:$told" '^137::.*storage was reached'
	fresh
	options=(--storage 4000000)
	in_image sh -c 'exec 5>/memfd:f; rm /memfd:f; for i in $(seq 1 20); do dd if=/dev/zero bs=1M count=1 >&5 2>/dev/null; sleep 0.2; done; echo all'
	ok "... or had one as files in memory have ($mode)" tap_matches "$status:$said:$told" '^137::.*storage was reached'
	fresh
	options=(--storage 4000000)
	in_image sh -c 'n=$(printf %0250d 0); for i in $(seq 1 20); do mkdir $n && cd $n || break; done; exec 5>f; rm f; for i in $(seq 1 20); do dd if=/dev/zero bs=1M count=1 >&5 2>/dev/null; sleep 0.2; done; echo all'
	ok "... or one that is too long to be told ($mode)" tap_matches "$status:$said:$told" '^137::.*storage was reached'
	fresh
	options=(--storage 4000000)
	in_image sh -c 'mkdir /d; chmod 0 /d; for i in $(seq 1 20); do dd if=/dev/zero of=/d/$i bs=1M count=1 2>/dev/null; sleep 0.2; done; echo all'
	ok "... or is in a folder that is shut ($mode)" tap_matches "$status:$said:$told" '^137::.*storage was reached'
	fresh
	options=(--storage 4000000)
	in_image sh -c 'd=/; for i in $(seq 1 1100); do mkdir x 2>/dev/null && cd x || break; done; sleep 20 && echo all'
	ok "... or is too deep to be measured ($mode)" tap_matches "$status:$said:$told" '^137::.*storage was reached'
	fresh
	mkdir -p "$tmp/closed/rw" && chmod 700 "$tmp/closed" && own "$tmp/closed" && own "$tmp/closed/rw"
	options=(--storage 4000000 --mount "$tmp/closed/rw:/v:rw")
	in_image sh -c 'for i in $(seq 1 20); do dd if=/dev/zero of=/v/$i bs=1M count=1 2>/dev/null; sleep 0.2; done; echo all'
	ok "... or is in a folder that was mounted ($mode)" tap_matches "$status:$said:$told" '^137::.*storage was reached'
	rm -rf "$tmp/closed"
	fresh
	options=(--storage 8000000)
	says "less is fine" all sh -c 'dd if=/dev/zero of=/f bs=1M count=2 2>/dev/null; for i in 1 2 3 4 5 6; do ln /f /f$i; done; sleep 1.5; echo all'
	printf 'version: 1\nprocess: {max_processes: 12, timeout: 5s}\n' >"$tmp/limits.yaml"
	chmod 644 "$tmp/limits.yaml"
	options=(--policy "$tmp/limits.yaml")
	if [ "$mode" = "one id" ]; then
		in_image sh -c 'for i in $(seq 1 30); do sleep 2 & done 2>/dev/null; ls /proc | grep -c "^[0-9]"'
	else
		in_image sh -c 'for u in u v root; do su $u -c "for i in \$(seq 1 10); do sleep 2 & done 2>/dev/null; sleep 1" 2>/dev/null & done; sleep 0.7; echo /proc/[0-9]* | wc -w' 2>/dev/null
	fi
	ok "all its users together have as many processes as it may ($mode)" eval '[ "${said:-0}" -le 14 ]'
	options=(--policy "$tmp/limits.yaml")
	in_image sleep 20
	is "the clock ends it ($mode)" "$status" 124
}

folders_that_others_reach_are_refused()
{
	fresh
	chmod 755 "$tmp/image/box"
	fails "an upper folder that others could enter is refused" 'closed to others'
	chmod 700 "$tmp/image/box"
	if [ "$me" = 0 ]; then
		chown 12345 "$tmp/image/box/upper"
		fails "one of somebody else's too" 'no folder of the image'
		own "$tmp/image/box/upper"
	fi
	rmdir "$tmp/image/box/work" && ln -s /tmp "$tmp/image/box/work"
	fails "and a work folder that is a link" 'image'
	ok "... which is not followed ($mode)" test -d /tmp
}

nothing_is_left_when_it_is_killed()
{
	local supervisor i
	fresh
	"${as[@]}" env -C / "$image_run" run --layer "$layer" --folder "$tmp/image/box" "${ids[@]}" -- sh -c 'sleep 7654 & exec sleep 7653' </dev/null >/dev/null 2>&1 &
	supervisor=$!
	for i in $(seq 1 100); do pgrep -f '^sleep 7654' >/dev/null && break; sleep 0.05; done
	ok "the workload runs as somebody who is not root here ($mode)" eval '[ "$(ps -o uid= -p "$(pgrep -f "^sleep 7654" | head -n 1)" | tr -d " ")" = "$owner" ]'
	kill -9 "$supervisor"
	wait "$supervisor" 2>/dev/null
	for i in $(seq 1 40); do pgrep -f '^sleep 765[34]' >/dev/null || break; sleep 0.05; done
	ok "no process outlives its supervisor ($mode)" eval '! pgrep -f "^sleep 765[34]"'
	ok "nor a mount ($mode)" eval '! grep -F "$tmp" /proc/self/mountinfo'
	in_image true
	ok "its folders can be used again ($mode)" test "$status" = 0
	[ "$me" != 0 ] || "$CORDON" ps >/dev/null 2>&1
	ok "nor a group of processes with anybody in it ($mode)" eval '! find /sys/fs/cgroup -type d -name "cordon-*" -exec cat {}/cgroup.procs \; 2>/dev/null | grep -q "^$supervisor$"'
}

network_is_its_own()
{
	fresh
	host_python
	says "low ports are root's, on a loopback of its own" "80 ok" python3 -c '
import socket, threading
s = socket.socket(); s.bind(("127.0.0.1", 80)); s.listen()
c = socket.create_connection(("127.0.0.1", 80)); print(s.getsockname()[1], "ok")'
	says "there is no other interface, nor a way to make one" "['lo'] refused refused" python3 -c '
import socket
def tried(f):
    try: f(); return "DONE"
    except OSError: return "refused"
print([l.split(":")[0].strip() for l in open("/proc/net/dev").readlines()[2:]], tried(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)), tried(lambda: socket.create_connection(("192.0.2.1", 80), 1)))'
}

members_share_the_network_and_nothing_else()
{
	local id i leader
	fresh
	mkdir -p "$tmp"/image/second/{upper,work} && chmod 700 "$tmp/image/second" && own "$tmp/image/second" "$tmp/image/second/upper" "$tmp/image/second/work"
	rm -rf "${XDG_STATE_HOME:?}/cordon"
	"${as[@]}" env -C / "$image_run" run --layer "$layer" --folder "$tmp/image/box" "${ids[@]}" -- sh -c 'echo of-the-leader >/f; busybox nc -ll -p 8080 -e cat /f & exec sleep 8765' </dev/null >/dev/null 2>&1 &
	leader=$!
	for i in $(seq 1 100); do id=$(find "$XDG_STATE_HOME/cordon/runs" -mindepth 1 -maxdepth 1 -printf '%f\n' 2>/dev/null | grep '^[0-9a-f]*$') && pgrep -f '^sleep 8765' >/dev/null && break; sleep 0.05; done
	sleep 0.3
	outside "${as[@]}" env -C / "$image_run" run --layer "$layer" --folder "$tmp/image/second" "${ids[@]}" --join "$id" --host "127.0.0.1 web" -- \
		sh -c 'busybox nc web 8080 </dev/null; ls /f 2>/dev/null; for p in /proc/[0-9]*; do tr "\0" " " <$p/cmdline; done | grep -c "sleep 876[5]"; busybox hostname; kill -9 1 2>/dev/null; mount -t tmpfs x /tmp 2>/dev/null; grep CapEff /proc/self/status' </dev/null
	is "a member reaches the leader by its name, and has files and processes of its own ($mode)" "$status:$said" "$(printf '0:of-the-leader\n0\ncordon\nCapEff:\t00000000800400fb')"
	for i in 1 2 3; do
		mkdir -p "$tmp"/image/m$i/{upper,work} && chmod 700 "$tmp/image/m$i" && own "$tmp/image/m$i" "$tmp/image/m$i/upper" "$tmp/image/m$i/work"
		"${as[@]}" env -C / "$image_run" run --layer "$layer" --folder "$tmp/image/m$i" "${ids[@]}" --join "$id" -- sleep 8764 </dev/null >/dev/null 2>&1 &
	done
	for i in $(seq 1 100); do [ "$(pgrep -fc '^sleep 8764')" = 3 ] && break; sleep 0.05; done
	is "several can come at once ($mode)" "$(pgrep -fc '^sleep 8764')" 3
	kill -9 "$leader"
	for i in $(seq 1 60); do pgrep -f '^sleep 876[45]' >/dev/null || break; sleep 0.05; done
	ok "all end with the leader, however that ends ($mode)" eval '! pgrep -f "^sleep 876[45]"'
	wait
	outside "${as[@]}" env -C / timeout 20 "$image_run" run --layer "$layer" --folder "$tmp/image/second" "${ids[@]}" --join "$id" -- true </dev/null
	like "one that has ended has no members ($mode)" "$status:$told" '^125:.*whose network'
}

# with_policy TEXT [CEILING] -- CMD...: in an image of the store.
with_policy()
{
	mkdir -p "$tmp/image/asked/cordon"
	printf 'version: 1\n%s\n' "$1" >"$tmp/image/asked.yaml"
	rm -f "$tmp/image/asked/cordon/policy.yaml"
	[ "$2" = -- ] || { printf 'version: 1\n%s\n' "$2" >"$tmp/image/asked/cordon/policy.yaml"; shift; }
	[ "$me" != 0 ] || chown -R "${owner:-0:0}" "$tmp/image/asked"
	outside "${as[@]}" env -C / XDG_CONFIG_HOME="$tmp/image/asked" timeout 30 "$CORDON" run --policy "$tmp/image/asked.yaml" --image tiny -- "${@:3}" </dev/null
}

# Every key is enforced or refused by name; what is built in or a shipped profile's asks for nothing.
keys_about_files_are_enforced_or_refused()
{
	local key
	for key in 'filesystem: {deny: [/etc/passwd]}' 'filesystem: {read: [/opt]}' 'filesystem: {write: [/opt]}' 'process: {user: 1234}'; do
		with_policy "$key" -- true
		name=${key%%:*}.${key#*\{} name=${name%%:*}
		ok "$name with an image is refused by name ($mode)" refused 125 "asked.yaml:2: $name: .*leave it out"
	done
	with_policy '' 'filesystem: {deny: [/etc/passwd]}' -- true
	ok "... and where a ceiling has it ($mode)" refused 125 'policy.yaml:2: filesystem.deny: .*leave it out'
	with_policy 'extends: [claude]' -- echo in
	is "... a profile's are for the host ($mode)" "$status:$said" 0:in
	with_policy 'filesystem: {tmp_size: 8M}' -- sh -c 'busybox dd if=/dev/zero of=/tmp/big bs=1M count=64; sleep 5 && echo all'
	like "tmp_size bounds what an image's sandbox changes ($mode)" "$status:$said:$told" '^[1-9][0-9]*::.*storage'
	with_policy 'extends: [strict]' 'filesystem: {tmp_size: 8G}' -- true
	is "... a ceiling's that is not reached is no matter ($mode)" "$status" 0
	with_policy 'extends: [strict]' 'filesystem: {tmp_size: 8M}' -- sh -c 'busybox dd if=/dev/zero of=/tmp/big bs=1M count=64; sleep 5 && echo all'
	like "... and a ceiling's is ($mode)" "$status:$said:$told" '^[1-9][0-9]*::.*storage'
}

# With an image of the store; the user's own ids, whatever they are here.
run_takes_an_image_of_the_store()
{
	local run i
	export XDG_DATA_HOME=$tmp/data-${mode// /-}
	mkdir -p "$XDG_DATA_HOME" && [ "$me" != 0 ] || [ "$mode" = root ] || chown "$owner" "$XDG_DATA_HOME"
	fresh
	[ "$mode" != root ] || chown -hR 0:0 "$layer"
	run=("${as[@]}" env -C / "$CORDON" run --image tiny --)
	outside "${as[@]}" env -C / "$CORDON" image import tiny "$layer" </dev/null
	ok "an image is imported ($mode)" eval '[ $status = 0 ]'
	outside "${run[@]}" sh -c 'id -u; pwd; echo $HOME; rm -rf /etc/mark; touch /made; mkdir -m 700 /d; chown 0 /d; ls /' </dev/null
	like "run --image runs in it ($mode)" "$status:$said:$told" $'^0:0\n/\n/root\n.*made.*:$'
	outside "${run[@]}" sh -c 'cat /etc/mark; ls /made' </dev/null
	is "each run begins with the image as it is ($mode)" "$said" layer
	is "what it changed is gone with it ($mode)" "$(ls "$XDG_STATE_HOME/cordon/uppers")" ""
	"${run[@]}" sh -c 'touch /made; exec sleep 7655' </dev/null >/dev/null 2>&1 &
	for i in $(seq 1 100); do pgrep -f '^sleep 7655' >/dev/null && break; sleep 0.05; done
	kill -9 $!
	wait $! 2>/dev/null
	outside "${run[@]}" true </dev/null
	is "... also that of one that was killed, with the next ($mode)" "$status:$(ls "$XDG_STATE_HOME/cordon/uppers")" 0:
	outside "${as[@]}" env -C / "$CORDON" run --image none-such -- true </dev/null
	like "an image that is not there is named ($mode)" "$status:$told" '^12[57]:.*none-such'
	outside "${as[@]}" env -C / "$CORDON" run --image tiny --workdir /tmp -- true </dev/null
	like "a work folder does not go with an image ($mode)" "$status:$told" '^125:.*--image does not go with --workdir'
	outside "${as[@]}" env -C / "$CORDON" run --image tiny --dry-run -- true </dev/null
	like "a dry run shows the layers ($mode)" "$status:$said" '^0:.*The root is an image.*layers/sha256'
}

for m in "${modes[@]}"; do
	who "$m"
	[ "$m" = ranges ] || run_takes_an_image_of_the_store
	[ "$m" = ranges ] || keys_about_files_are_enforced_or_refused
	members_share_the_network_and_nothing_else
	workload_is_root_of_its_own_ids
	pid_1_is_out_of_reach
	mounts_and_devices_stay
	layers_stay_as_they_are
	made_files_are_shown
	mounts_are_what_was_asked_for
	hostile_layers_reach_nothing
	hostile_overlays_reach_nothing
	setuid_programs_gain_nothing
	one_id_pretends_and_says_so
	limits_hold
	folders_that_others_reach_are_refused
	nothing_is_left_when_it_is_killed
	network_is_its_own
done
finish
